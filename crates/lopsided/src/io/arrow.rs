//! Arrow IPC, as a file or as a stream.

use super::batches::{self, broken};
use super::source::Source;
use super::{Input, ReadOptions, source::Seekable};
use crate::error::{Error, Result};
use crate::scalar::Scalar;
use ::arrow::ipc::reader::{FileReader, StreamReader};
use std::io::{BufReader, Cursor, Read, Seek};

const FILE_MAGIC: &[u8] = b"ARROW1";

/// The table or graph of the file.
pub(super) fn read<T: Scalar>(source: Source, options: &ReadOptions) -> Result<Input<T>> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => read_either(&name, BufReader::new(file), options),
        Seekable::Memory(bytes) => read_either(&name, Cursor::new(bytes), options),
    }
}

fn read_either<T: Scalar>(name: &str, mut reader: impl Read + Seek, options: &ReadOptions) -> Result<Input<T>> {
    let mut start = Vec::new();
    let read = (&mut reader).take(FILE_MAGIC.len() as u64).read_to_end(&mut start).and_then(|_| reader.rewind());
    read.map_err(|e| Error::io(name, e))?;
    if start == FILE_MAGIC {
        let batches = FileReader::try_new(reader, None).map_err(|e| broken(name, &e))?;
        let schema = batches.schema();
        batches::read(name, &schema, batches, options)
    } else {
        let batches = StreamReader::try_new(reader, None).map_err(|e| broken(name, &e))?;
        let schema = batches.schema();
        batches::read(name, &schema, batches, options)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{columns, dense_rows, gzip, ipc_file, ipc_stream, parquet_file, scratch};
    use super::super::{Table, TargetColumn, parquet};
    use super::*;
    use crate::dataset::Target;
    use ::arrow::array::RecordBatch;

    /// The batch through Parquet, Arrow file and Arrow stream, plain and gzipped.
    fn each(batch: &RecordBatch, options: &ReadOptions, check: impl Fn(Result<Input<f64>>)) {
        let (packed, file, stream) = (parquet_file(batch), ipc_file(batch), ipc_stream(batch));
        for bytes in [packed.clone(), gzip(&packed)] {
            let (_dir, path) = scratch("x.parquet", bytes);
            check(parquet::read(Source::open(&path).unwrap(), options));
        }
        for bytes in [file.clone(), stream, gzip(&file)] {
            let (_dir, path) = scratch("x.arrow", bytes);
            check(read(Source::open(&path).unwrap(), options));
        }
    }

    fn table(input: Result<Input<f64>>) -> Table<f64> {
        let Ok(Input::Table(table)) = input else { panic!("no table") };
        table
    }

    #[test]
    fn numeric_columns_are_data_and_the_last_is_the_label() {
        let batch = columns(&[("a", "1 2"), ("b", "0.5 null"), ("kind", "x y")]);
        each(&batch, &ReadOptions::default(), |input| {
            let table = table(input);
            let rows = dense_rows(&table.samples);
            assert_eq!(rows[0], [1.0, 0.5]);
            assert_eq!(rows[1][..1], [2.0]);
            assert!(rows[1][1].is_nan());
            assert_eq!(table.columns.unwrap(), ["a", "b"]);
            let codes = vec![Some(0), Some(1)];
            assert_eq!(table.target.unwrap().1, Target::Classes { names: vec!["x".into(), "y".into()], codes });
        });
    }

    #[test]
    fn text_is_only_allowed_as_label() {
        let batch = columns(&[("who", "x y"), ("b", "1 2")]);
        each(&batch, &ReadOptions::default(), |input| {
            let error = input.unwrap_err().to_string();
            assert!(error.ends_with("column `who` holds text; data columns must be numbers"), "{error}");
        });
        let named = ReadOptions { target: TargetColumn::Named("who".into()), ..ReadOptions::default() };
        each(&batch, &named, |input| assert_eq!(dense_rows(&table(input).samples), [[1.0], [2.0]]));
    }

    #[test]
    fn source_and_target_make_a_graph() {
        for (text, weight) in [("1 2", 0.5), ("a b", 0.5)] {
            let batch = columns(&[("source", text), ("target", "3 3"), ("weight", "0.5 2")]);
            each(&batch, &ReadOptions::default(), |input| {
                let Ok(Input::Graph(graph, _)) = input else { panic!("no graph") };
                assert_eq!((graph.nodes(), graph.adjacency().row(0).1), (3, &[weight][..]));
            });
        }
        let batch = columns(&[("source", "1 2"), ("target", "3 3"), ("weight", "0.5 null")]);
        each(&batch, &ReadOptions::default(), |input| {
            let error = input.unwrap_err().to_string();
            assert!(error.ends_with("row 2: weight `NaN` is not a finite number"), "{error}");
        });
    }
}

//! Arrow IPC, as a file or as a stream.
//!
//! A file is a stream between a magic word and a footer, and is read as such: the reader for files allocates whatever
//! a damaged footer asks for.

use super::batches::{self, broken};
use super::checked::Checked;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::io::source::Source;
use crate::data::io::{Input, ReadOptions};
use arrow_ipc::reader::StreamReader;
use std::io::{self, BufRead, Cursor, Read};

const MAGIC: &[u8] = b"ARROW1";

/// The table or graph of the file.
pub(in crate::data::io) fn read_arrow<T: Scalar>(source: Source, options: &ReadOptions) -> Result<Input<T>> {
    let name = source.name().to_owned();
    let mut reader = source.reader();
    let (is_file, block) = skip_magic(&mut reader).map_err(|e| Error::io(&name, e))?;
    let stream = Checked::new(Cursor::new(block).chain(reader));
    let mut batches = StreamReader::try_new(stream, None).map_err(|e| broken(&name, &e))?;
    let schema = batches.schema();
    let read = batches.by_ref().map(|batch| batch.map_err(|e| broken(&name, &e)));
    let input = batches::read(&name, &schema, read, options)?;
    if is_file && !ends_with_magic(batches.get_mut()).map_err(|e| Error::io(&name, e))? {
        return Err(Error::parse(name, "ends before its footer"));
    }
    Ok(input)
}

/// Whether the input is a file, and its first eight bytes after the magic word and its padding.
fn skip_magic(reader: &mut dyn BufRead) -> io::Result<(bool, Vec<u8>)> {
    let mut block = Vec::new();
    reader.take(8).read_to_end(&mut block)?;
    let is_file = block.starts_with(MAGIC);
    while block.starts_with(MAGIC) || block == [0; 8] {
        block.clear();
        reader.take(8).read_to_end(&mut block)?;
    }
    Ok((is_file, block))
}

/// A file that was cut off between two batches looks like a stream that is over.
fn ends_with_magic(reader: &mut dyn Read) -> io::Result<bool> {
    let mut footer = Vec::new();
    reader.read_to_end(&mut footer)?;
    Ok(footer.ends_with(MAGIC))
}

#[cfg(test)]
mod tests {
    use super::super::batches_for_tests::{columns, ipc_file, ipc_stream, parquet_file};
    use super::super::parquet_files;
    use super::*;
    use crate::data::dataset::Target;
    use crate::data::io::tests::{dense_rows, gzip, scratch};
    use crate::data::io::{Table, TargetColumn};
    use arrow_array::RecordBatch;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    /// The batch through Parquet, Arrow file and Arrow stream, plain and gzipped.
    fn each(batch: &RecordBatch, options: &ReadOptions, check: impl Fn(Result<Input<f64>>)) {
        let (packed, file, stream) = (parquet_file(batch), ipc_file(batch), ipc_stream(batch));
        for bytes in [packed.clone(), gzip(&packed)] {
            let (_dir, path) = scratch("x.parquet", bytes);
            check(parquet_files::read_parquet(Source::open(&path).unwrap(), options));
        }
        for bytes in [file.clone(), stream, gzip(&file)] {
            let (_dir, path) = scratch("x.arrow", bytes);
            check(read_arrow(Source::open(&path).unwrap(), options));
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
            assert_eq!(table.names().unwrap(), ["a", "b"]);
            let codes = vec![Some(0), Some(1)];
            assert_eq!(table.target.unwrap().1, Target::Classes { names: vec!["x".into(), "y".into()], codes });
        });
    }

    #[test]
    fn a_file_without_its_end_is_refused() {
        let file = ipc_file(&columns(&[("a", "1 2"), ("b", "3 4")]));
        for length in [file.len() - 1, file.len() / 2, 20] {
            let (_dir, path) = scratch("x.arrow", &file[..length]);
            assert!(read_arrow::<f64>(Source::open(&path).unwrap(), &ReadOptions::default()).is_err());
        }
    }

    #[test]
    fn packed_columns_are_read_and_false_lengths_refused() {
        let batch = columns(
            &[("a", &"1.5 2.5 ".repeat(999)[..]), ("b", &"3.5 4.5 ".repeat(999)[..])].map(|(n, t)| (n, t.trim())),
        );
        for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
            let options = IpcWriteOptions::default().try_with_compression(Some(kind)).unwrap();
            let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            let bytes = writer.into_inner().unwrap();
            let read = |bytes: &[u8]| {
                let (_dir, path) = scratch("x.arrow", bytes);
                read_arrow::<f64>(Source::open(&path).unwrap(), &ReadOptions::default())
            };
            assert_eq!(table(read(&bytes)).samples.count(), 1998);
            let length = (1998u64 * 8).to_le_bytes();
            let at = bytes.windows(8).position(|w| w == length).unwrap();
            for false_length in [1u64 << 35, 1 << 45, 1 << 62] {
                let mut bytes = bytes.clone();
                bytes[at..at + 8].copy_from_slice(&false_length.to_le_bytes());
                let error = read(&bytes).unwrap_err().to_string();
                assert!(error.contains("cannot become the") || error.contains("are allowed"), "{error}");
            }
        }
    }

    #[test]
    fn text_is_words_or_the_label() {
        let batch = columns(&[("who", "x y"), ("b", "1 2")]);
        each(&batch, &ReadOptions::default(), |input| {
            let columns = table(input).columns.unwrap();
            assert_eq!((columns.len(), columns[0].name.as_str(), columns[0].words.is_some()), (1, "who", true));
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

//! Parquet files.

use super::batches::{self, broken};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::io::source::{Seekable, Source};
use crate::data::io::{Input, ReadOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

const ROWS_AT_ONCE: usize = 8192;

/// The table or graph of the file.
pub(in crate::data::io) fn read_parquet<T: Scalar>(source: Source, options: &ReadOptions) -> Result<Input<T>> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => read_chunks(&name, file, options),
        Seekable::Memory(bytes) => read_chunks(&name, bytes::Bytes::from(bytes), options),
    }
}

/// Ids and labels.
pub(in crate::data::io) fn read_parquet_labels(source: Source) -> Result<Vec<(String, String)>> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => label_chunks(&name, file),
        Seekable::Memory(bytes) => label_chunks(&name, bytes::Bytes::from(bytes)),
    }
}

/// Number of columns.
pub(in crate::data::io) fn parquet_width(source: Source) -> Result<usize> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => width(&name, file),
        Seekable::Memory(bytes) => width(&name, bytes::Bytes::from(bytes)),
    }
}

fn width(name: &str, chunks: impl ChunkReader + 'static) -> Result<usize> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(chunks).map_err(|e| broken(name, &e))?;
    Ok(builder.schema().fields().len())
}

fn label_chunks(name: &str, chunks: impl ChunkReader + 'static) -> Result<Vec<(String, String)>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(chunks).map_err(|e| broken(name, &e))?;
    let reader = builder.with_batch_size(ROWS_AT_ONCE).build().map_err(|e| broken(name, &e))?;
    batches::labels(name, reader)
}

fn read_chunks<T: Scalar>(name: &str, chunks: impl ChunkReader + 'static, options: &ReadOptions) -> Result<Input<T>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(chunks).map_err(|e| broken(name, &e))?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(ROWS_AT_ONCE).build().map_err(|e| broken(name, &e))?;
    batches::read(name, &schema, reader, options)
}

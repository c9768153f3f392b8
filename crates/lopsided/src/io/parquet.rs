//! Parquet files.

use super::batches::{self, broken};
use super::source::{Seekable, Source};
use super::{Input, ReadOptions};
use crate::error::Result;
use crate::scalar::Scalar;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::file::reader::ChunkReader;

const ROWS_AT_ONCE: usize = 8192;

/// The table or graph of the file.
pub(super) fn read<T: Scalar>(source: Source, options: &ReadOptions) -> Result<Input<T>> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => read_chunks(&name, file, options),
        Seekable::Memory(bytes) => read_chunks(&name, bytes::Bytes::from(bytes), options),
    }
}

fn read_chunks<T: Scalar>(name: &str, chunks: impl ChunkReader + 'static, options: &ReadOptions) -> Result<Input<T>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(chunks).map_err(|e| broken(name, &e))?;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(ROWS_AT_ONCE).build().map_err(|e| broken(name, &e))?;
    batches::read(name, &schema, reader, options)
}

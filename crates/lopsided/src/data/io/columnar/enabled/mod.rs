mod arrow;
mod batches;
#[cfg(test)]
mod batches_for_tests;
mod cells;
mod checked;
mod pages;
#[path = "parquet.rs"]
mod parquet_files;
mod rows;
mod write;

pub(in crate::data::io) use arrow::read_arrow;
pub(in crate::data::io) use parquet_files::{parquet_width, read_parquet, read_parquet_labels};
pub(in crate::data::io) use rows::ParquetRows;
pub(in crate::data::io) use write::parquet_bytes;

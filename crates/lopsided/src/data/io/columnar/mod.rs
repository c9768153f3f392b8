//! Parquet and Arrow files, with the feature `arrow`; without it they are refused with a sentence.

#[cfg(not(feature = "arrow"))]
mod disabled;
#[cfg(feature = "arrow")]
mod enabled;

#[cfg(not(feature = "arrow"))]
pub(super) use disabled::{ParquetRows, parquet_bytes, parquet_width, read_arrow, read_parquet, read_parquet_labels};
#[cfg(feature = "arrow")]
pub(super) use enabled::{ParquetRows, parquet_bytes, parquet_width, read_arrow, read_parquet, read_parquet_labels};

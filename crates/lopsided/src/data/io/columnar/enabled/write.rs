use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use faer::MatRef;
use parquet::arrow::ArrowWriter;
use std::path::Path;
use std::sync::Arc;

const ROWS_AT_ONCE: usize = 1 << 16;

/// A Parquet file with a text column of ids and a column of numbers for each column of the matrix.
pub(in crate::data::io) fn parquet_bytes<T: Scalar>(
    path: &Path,
    ids: &[String],
    values: MatRef<'_, T>,
) -> Result<Vec<u8>> {
    encode(ids, values).map_err(|e| Error::io(path, std::io::Error::other(e)))
}

fn encode<T: Scalar>(ids: &[String], values: MatRef<'_, T>) -> parquet::errors::Result<Vec<u8>> {
    let number = if T::BYTES == 4 { DataType::Float32 } else { DataType::Float64 };
    let mut fields = vec![Field::new("id", DataType::Utf8, false)];
    fields.extend((0..values.ncols()).map(|j| Field::new(format!("c{j}"), number.clone(), false)));
    let schema = Arc::new(Schema::new(fields));
    let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), None)?;
    for start in (0..ids.len()).step_by(ROWS_AT_ONCE) {
        let end = ids.len().min(start + ROWS_AT_ONCE);
        let mut arrays: Vec<ArrayRef> = vec![Arc::new(StringArray::from_iter_values(&ids[start..end]))];
        arrays.extend((0..values.ncols()).map(|j| column(values, j, start..end)));
        writer.write(&RecordBatch::try_new(schema.clone(), arrays)?)?;
    }
    writer.into_inner()
}

fn column<T: Scalar>(values: MatRef<'_, T>, j: usize, rows: std::ops::Range<usize>) -> ArrayRef {
    let numbers = rows.map(|i| values[(i, j)].as_f64());
    if T::BYTES == 4 {
        Arc::new(Float32Array::from_iter_values(numbers.map(|v| v as f32)))
    } else {
        Arc::new(Float64Array::from_iter_values(numbers))
    }
}

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use faer::MatRef;
use parquet::basic::{LogicalType, Repetition, Type as Stored};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows of a group, of which readers take one after the other.
const GROUP: usize = 1 << 20;
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
    let number = if T::BYTES == 4 { Stored::FLOAT } else { Stored::DOUBLE };
    let mut fields = vec![field("id", Stored::BYTE_ARRAY, Some(LogicalType::String))?];
    for j in 0..values.ncols() {
        fields.push(field(&format!("c{j}"), number, None)?);
    }
    let schema = Type::group_type_builder("arrow_schema").with_fields(fields).build()?;
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Default::default())?;
    for start in (0..ids.len()).step_by(GROUP) {
        let rows = start..ids.len().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            for piece in rows.clone().step_by(ROWS_AT_ONCE) {
                let piece = piece..rows.end.min(piece + ROWS_AT_ONCE);
                if at == 0 {
                    let texts: Vec<ByteArray> = ids[piece].iter().map(|id| ByteArray::from(id.as_str())).collect();
                    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
                } else {
                    numbers(&mut column, values, at - 1, piece)?;
                }
            }
            column.close()?;
            at += 1;
        }
        group.close()?;
    }
    writer.into_inner()
}

fn field(name: &str, stored: Stored, logical: Option<LogicalType>) -> parquet::errors::Result<TypePtr> {
    let builder = Type::primitive_type_builder(name, stored).with_logical_type(logical);
    Ok(Arc::new(builder.with_repetition(Repetition::REQUIRED).build()?))
}

fn numbers<T: Scalar>(
    column: &mut SerializedColumnWriter<'_>,
    values: MatRef<'_, T>,
    j: usize,
    rows: Range<usize>,
) -> parquet::errors::Result<usize> {
    let numbers = rows.map(|i| values[(i, j)].as_f64());
    if T::BYTES == 4 {
        column.typed::<FloatType>().write_batch(&numbers.map(|v| v as f32).collect::<Vec<_>>(), None, None)
    } else {
        column.typed::<DoubleType>().write_batch(&numbers.collect::<Vec<_>>(), None, None)
    }
}

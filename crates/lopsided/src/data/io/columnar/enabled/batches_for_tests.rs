//! Files of the columnar formats for tests.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use std::sync::Arc;

/// A batch of columns written as words: whole numbers, numbers with `null`, or text.
pub(crate) fn columns(columns: &[(&str, &str)]) -> RecordBatch {
    let array = |text: &str| -> ArrayRef {
        let words: Vec<&str> = text.split(' ').collect();
        if let Ok(whole) = words.iter().map(|w| w.parse()).collect::<std::result::Result<Vec<i64>, _>>() {
            return Arc::new(Int64Array::from(whole));
        }
        let number = |word: &&str| if *word == "null" { Ok(None) } else { word.parse::<f64>().map(Some) };
        match words.iter().map(number).collect::<std::result::Result<Vec<_>, _>>() {
            Ok(numbers) => Arc::new(Float64Array::from(numbers)),
            Err(_) => Arc::new(StringArray::from(words)),
        }
    };
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, text)| (*name, array(text), true))).unwrap()
}

/// A Parquet file of whole numbers, numbers and text, any of which may be missing.
pub(crate) fn parquet_file(batch: &RecordBatch) -> Vec<u8> {
    let line = |field: &std::sync::Arc<Field>| {
        let stored = match field.data_type() {
            DataType::Int64 => "int64",
            DataType::Float64 => "double",
            _ => "binary",
        };
        let text = if stored == "binary" { " (STRING)" } else { "" };
        format!("optional {stored} {}{text};", field.name())
    };
    let lines: String = batch.schema().fields().iter().map(line).collect();
    let schema = parquet::schema::parser::parse_message_type(&format!("message m {{ {lines} }}")).unwrap();
    let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for array in batch.columns() {
        let levels: Vec<i16> = (0..array.len()).map(|i| i16::from(array.is_valid(i))).collect();
        let mut column = group.next_column().unwrap().unwrap();
        let written = match array.data_type() {
            DataType::Int64 => {
                let values: Vec<i64> = array.as_primitive::<arrow_array::types::Int64Type>().iter().flatten().collect();
                column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)
            }
            DataType::Float64 => {
                let values: Vec<f64> =
                    array.as_primitive::<arrow_array::types::Float64Type>().iter().flatten().collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
            }
            _ => {
                let values: Vec<ByteArray> = array.as_string::<i32>().iter().flatten().map(ByteArray::from).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
            }
        };
        assert!(written.is_ok());
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// An Arrow IPC file.
pub(crate) fn ipc_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// An Arrow IPC stream.
pub(crate) fn ipc_stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

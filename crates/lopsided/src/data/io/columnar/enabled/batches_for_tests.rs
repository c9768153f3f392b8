//! Files of the columnar formats for tests.

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
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

/// A Parquet file.
pub(crate) fn parquet_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
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

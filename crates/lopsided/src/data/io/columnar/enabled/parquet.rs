//! Parquet files, read by their columns: the arrays of Arrow hold them, but Parquet's own bridge to Arrow, which knows
//! all types of both and is larger than the rest of the reader, is not needed for numbers and text.

use super::batches::{self, broken};
use super::cells::refused;
use super::pages;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::io::source::{Seekable, Source};
use crate::data::io::{Input, ReadOptions};
use arrow_array::types::Float16Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array, NullArray,
    PrimitiveArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit as Unit, Type as Stored};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::AsBytes;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::sync::Arc;

const ROWS_AT_ONCE: usize = 8192;
/// Digits that 128 bits hold.
const DIGITS: u8 = 38;

/// The table or graph of the file.
pub(in crate::data::io) fn read_parquet<T: Scalar>(source: Source, options: &ReadOptions) -> Result<Input<T>> {
    let batches = Batches::open(source)?;
    let (name, schema) = (batches.name.clone(), batches.schema.clone());
    batches::read(&name, &schema, batches, options)
}

/// Ids and labels.
pub(in crate::data::io) fn read_parquet_labels(source: Source) -> Result<Vec<(String, String)>> {
    let batches = Batches::open(source)?;
    let name = batches.name.clone();
    batches::labels(&name, batches)
}

/// The rows of a file, some at a time.
pub(super) struct Batches {
    pub(super) name: String,
    file: Box<dyn FileReader>,
    pub(super) schema: Arc<Schema>,
    /// Row group that comes next.
    group: usize,
    /// Rows of the present one that are still to be read.
    left: usize,
    columns: Vec<ColumnReader>,
}

impl Batches {
    pub(super) fn open(source: Source) -> Result<Self> {
        let name = source.name().to_owned();
        let file = match source.seekable()? {
            Seekable::File(file) => {
                let again = file.try_clone().map_err(|e| Error::io(&name, e))?;
                opened(&name, again, file)?
            }
            Seekable::Memory(bytes) => {
                let bytes = bytes::Bytes::from(bytes);
                opened(&name, bytes.clone(), bytes)?
            }
        };
        let described = file.metadata().file_metadata().schema_descr();
        let mut fields = Vec::new();
        for column in described.columns() {
            if column.path().parts().len() > 1 || column.max_rep_level() > 0 {
                let reason = format!("column `{}` holds several values in one row", column.path().parts()[0]);
                return Err(Error::parse(name, reason));
            }
            fields.push(Field::new(column.name(), kind(column), true));
        }
        Ok(Batches { name, file, schema: Arc::new(Schema::new(fields)), group: 0, left: 0, columns: Vec::new() })
    }

    /// Goes on to the next row group that has rows; whether there is one.
    fn advance(&mut self) -> Result<bool> {
        while self.left == 0 && self.group < self.file.num_row_groups() {
            let group = self.file.get_row_group(self.group).map_err(|e| broken(&self.name, &e))?;
            self.left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            let columns = (0..self.schema.fields().len()).map(|c| group.get_column_reader(c)).collect();
            let columns: parquet::errors::Result<Vec<_>> = columns;
            self.columns = columns.map_err(|e| broken(&self.name, &e))?;
            self.group += 1;
        }
        Ok(self.left > 0)
    }

    /// Rows of the whole file.
    pub(super) fn rows(&self) -> usize {
        usize::try_from(self.file.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Passes over the next rows, over whole groups of them without reading; how many are left to pass over within a group.
    pub(super) fn skip_groups(&mut self, mut rows: usize) -> usize {
        while self.left == 0 && self.group < self.file.num_row_groups() {
            let here = usize::try_from(self.file.metadata().row_group(self.group).num_rows()).unwrap_or(0);
            if here > rows {
                break;
            }
            (rows, self.group) = (rows - here, self.group + 1);
        }
        rows
    }

    /// At most so many of the next rows; `None` at the end.
    pub(super) fn next_rows(&mut self, most: usize) -> Result<Option<RecordBatch>> {
        if self.advance()? { self.batch(most).map(Some) } else { Ok(None) }
    }

    fn batch(&mut self, most: usize) -> Result<RecordBatch> {
        let rows = self.left.min(most);
        let (name, schema) = (&self.name, &self.schema);
        let kinds = schema.fields().iter().map(|field| field.data_type());
        let arrays = self.columns.iter_mut().zip(kinds).map(|(column, kind)| array(name, column, kind, rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        self.left -= rows;
        RecordBatch::try_new(schema.clone(), arrays).map_err(|e| broken(name, &e))
    }
}

/// Number of columns.
pub(in crate::data::io) fn parquet_width(source: Source) -> Result<usize> {
    Batches::open(source).map(|batches| batches.schema.fields().len())
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(true) => Some(self.batch(ROWS_AT_ONCE)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The reader of a file whose pages have been looked at.
fn opened<C: ChunkReader + 'static>(name: &str, again: C, chunks: C) -> Result<Box<dyn FileReader>> {
    let reader = SerializedFileReader::new(chunks).map_err(|e| broken(name, &e))?;
    pages::check(name, &again, reader.metadata())?;
    Ok(Box::new(reader))
}

/// What a column holds, in Arrow's words.
fn kind(column: &ColumnDescriptor) -> DataType {
    use ConvertedType as C;
    use LogicalType as L;
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (_, Some(L::Unknown), _) => DataType::Null,
        (Stored::BOOLEAN, ..) => DataType::Boolean,
        (Stored::FLOAT, ..) => DataType::Float32,
        (Stored::DOUBLE, ..) => DataType::Float64,
        (Stored::INT96, ..) => DataType::Timestamp(TimeUnit::Nanosecond, None),
        (_, Some(L::Decimal(of)), _) => decimal(of.precision, of.scale),
        (_, None, C::DECIMAL) => decimal(column.type_precision(), column.type_scale()),
        (Stored::BYTE_ARRAY, Some(L::String | L::Json), _) | (Stored::BYTE_ARRAY, None, C::UTF8 | C::JSON) => {
            DataType::Utf8
        }
        (Stored::BYTE_ARRAY, ..) => DataType::Binary,
        (Stored::FIXED_LEN_BYTE_ARRAY, Some(L::Float16), _) => DataType::Float16,
        (Stored::FIXED_LEN_BYTE_ARRAY, ..) => DataType::FixedSizeBinary(column.type_length()),
        (_, Some(L::Date), _) | (_, None, C::DATE) => DataType::Date32,
        (Stored::INT32, Some(L::Time(_)), _) | (Stored::INT32, None, C::TIME_MILLIS) => {
            DataType::Time32(TimeUnit::Millisecond)
        }
        (_, Some(L::Time(of)), _) => DataType::Time64(unit(of.unit)),
        (_, None, C::TIME_MICROS) => DataType::Time64(TimeUnit::Microsecond),
        (_, Some(L::Timestamp(of)), _) => {
            DataType::Timestamp(unit(of.unit), of.is_adjusted_to_u_t_c.then(|| "UTC".into()))
        }
        (_, None, C::TIMESTAMP_MILLIS) => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        (_, None, C::TIMESTAMP_MICROS) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        (stored, logical, converted) => {
            let unsigned = match logical {
                Some(L::Integer(of)) => !of.is_signed,
                _ => matches!(converted, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64),
            };
            match (stored == Stored::INT32, unsigned) {
                (true, false) => DataType::Int32,
                (true, true) => DataType::UInt32,
                (false, false) => DataType::Int64,
                (false, true) => DataType::UInt64,
            }
        }
    }
}

fn unit(of: Unit) -> TimeUnit {
    match of {
        Unit::MILLIS => TimeUnit::Millisecond,
        Unit::MICROS => TimeUnit::Microsecond,
        Unit::NANOS => TimeUnit::Nanosecond,
    }
}

fn decimal(precision: i32, scale: i32) -> DataType {
    let (digits, scale) = (u8::try_from(precision).unwrap_or(u8::MAX), i8::try_from(scale).unwrap_or(i8::MAX));
    if digits > DIGITS { DataType::Decimal256(digits, scale) } else { DataType::Decimal128(digits, scale) }
}

/// The next rows of a column.
fn array(name: &str, column: &mut ColumnReader, kind: &DataType, rows: usize) -> Result<ArrayRef> {
    use ColumnReader as R;
    Ok(match (column, kind) {
        (_, DataType::Null) => Arc::new(NullArray::new(rows)),
        (R::BoolColumnReader(column), DataType::Boolean) => Arc::new(BooleanArray::from(values(name, column, rows)?)),
        (R::Int32ColumnReader(column), DataType::Int32) => Arc::new(Int32Array::from(values(name, column, rows)?)),
        (R::Int64ColumnReader(column), DataType::Int64) => Arc::new(Int64Array::from(values(name, column, rows)?)),
        (R::FloatColumnReader(column), _) => Arc::new(Float32Array::from(values(name, column, rows)?)),
        (R::DoubleColumnReader(column), _) => Arc::new(Float64Array::from(values(name, column, rows)?)),
        (R::Int32ColumnReader(column), DataType::UInt32) => {
            let unsigned = mapped(values(name, column, rows)?, |v| Ok(v.cast_unsigned()));
            Arc::new(UInt32Array::from(unsigned?))
        }
        (R::Int64ColumnReader(column), DataType::UInt64) => {
            let unsigned = mapped(values(name, column, rows)?, |v| Ok(v.cast_unsigned()));
            Arc::new(UInt64Array::from(unsigned?))
        }
        (R::ByteArrayColumnReader(column), DataType::Utf8) => {
            let text =
                |bytes: parquet::data_type::ByteArray| bytes.as_utf8().map(str::to_owned).map_err(|e| broken(name, &e));
            Arc::new(StringArray::from(mapped(values(name, column, rows)?, text)?))
        }
        (R::FixedLenByteArrayColumnReader(column), DataType::Float16) => {
            let half = |bytes: parquet::data_type::FixedLenByteArray| match bytes.as_bytes() {
                [low, high] => {
                    Ok(<Float16Type as arrow_array::ArrowPrimitiveType>::Native::from_le_bytes([*low, *high]))
                }
                _ => Err(Error::parse(name, "holds a number of half precision that has not two bytes")),
            };
            Arc::new(mapped(values(name, column, rows)?, half)?.into_iter().collect::<PrimitiveArray<Float16Type>>())
        }
        (column, DataType::Decimal128(digits, scale)) => {
            let units = Decimal128Array::from(decimals(name, column, rows)?);
            Arc::new(units.with_precision_and_scale(*digits, *scale).map_err(|e| broken(name, &e))?)
        }
        (_, other) => return Err(refused(name, other, "text or a number")),
    })
}

/// Whole numbers of the last digit.
fn decimals(name: &str, column: &mut ColumnReader, rows: usize) -> Result<Vec<Option<i128>>> {
    match column {
        ColumnReader::Int32ColumnReader(column) => mapped(values(name, column, rows)?, |v| Ok(i128::from(v))),
        ColumnReader::Int64ColumnReader(column) => mapped(values(name, column, rows)?, |v| Ok(i128::from(v))),
        ColumnReader::ByteArrayColumnReader(column) => {
            mapped(values(name, column, rows)?, |bytes| whole(name, bytes.as_bytes()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(column) => {
            mapped(values(name, column, rows)?, |bytes| whole(name, bytes.as_bytes()))
        }
        _ => Err(Error::parse(name, "holds decimals in a form that is not known")),
    }
}

/// A whole number in two's complement, the highest byte first.
fn whole(name: &str, bytes: &[u8]) -> Result<i128> {
    if bytes.is_empty() || bytes.len() > 16 {
        return Err(Error::parse(name, format!("holds a decimal of {} bytes; 1 to 16 are expected", bytes.len())));
    }
    let negative = bytes[0] & 0x80 != 0;
    let mut wide = [if negative { 0xff } else { 0 }; 16];
    wide[16 - bytes.len()..].copy_from_slice(bytes);
    Ok(i128::from_be_bytes(wide))
}

fn mapped<V, W>(values: Vec<Option<V>>, change: impl Fn(V) -> Result<W>) -> Result<Vec<Option<W>>> {
    values.into_iter().map(|value| value.map(&change).transpose()).collect()
}

/// The next rows as they are stored; what is missing is `None`.
fn values<D>(name: &str, column: &mut ColumnReaderImpl<D>, rows: usize) -> Result<Vec<Option<D::T>>>
where
    D: parquet::data_type::DataType,
{
    let (mut present, mut found) = (Vec::new(), Vec::with_capacity(rows));
    let read = column.read_records(rows, Some(&mut present), None, &mut found).map_err(|e| broken(name, &e))?;
    let mut found = found.into_iter();
    // Columns that must have a value in every row have no levels.
    let out: Vec<Option<D::T>> = if present.is_empty() {
        found.map(Some).collect()
    } else {
        present.iter().map(|level| if *level > 0 { found.next() } else { None }).collect()
    };
    if read.0 < rows || out.len() != rows {
        return Err(Error::parse(name, format!("has {} rows in a column where {rows} are expected", read.0)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::cells::{numbers, texts};
    use super::*;
    use crate::data::io::tests::scratch;
    use parquet::data_type::{BoolType, Int32Type, Int64Type};
    use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType};
    use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

    /// Two row groups of three rows, the middle one missing, of one column.
    fn column(described: &str, write: impl Fn(&mut SerializedColumnWriter<'_>)) -> Batches {
        let schema = parquet::schema::parser::parse_message_type(&format!("message m {{ optional {described}; }}"));
        let mut writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema.unwrap()), Default::default()).unwrap();
        for _ in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            write(&mut column);
            column.close().unwrap();
            group.close().unwrap();
        }
        let (_dir, path) = scratch("x.parquet", writer.into_inner().unwrap());
        Batches::open(Source::open(&path).unwrap()).unwrap()
    }

    fn of<D: parquet::data_type::DataType>(described: &str, values: [D::T; 2]) -> Batches {
        let levels = Some(&[1, 0, 1][..]);
        column(described, |column| assert!(column.typed::<D>().write_batch(&values, levels, None).is_ok()))
    }

    fn bytes(values: [&[u8]; 2]) -> [ByteArray; 2] {
        values.map(|v| ByteArray::from(v.to_vec()))
    }

    fn fixed(values: [&[u8]; 2]) -> [FixedLenByteArray; 2] {
        bytes(values).map(FixedLenByteArray::from)
    }

    #[test]
    fn all_kinds_of_numbers_are_read_with_what_is_missing() {
        let cases: Vec<(Batches, [f64; 2])> = vec![
            (of::<BoolType>("boolean a", [true, false]), [1.0, 0.0]),
            (of::<Int32Type>("int32 a", [-3, 7]), [-3.0, 7.0]),
            (of::<Int32Type>("int32 a (INTEGER(8,true))", [-3, 7]), [-3.0, 7.0]),
            (of::<Int32Type>("int32 a (UINT_32)", [-1, 7]), [f64::from(u32::MAX), 7.0]),
            (of::<Int64Type>("int64 a (INTEGER(64,false))", [-1, 7]), [u64::MAX as f64, 7.0]),
            (of::<Int32Type>("int32 a (DECIMAL(9,2))", [12345, -5]), [123.45, -0.05]),
            (of::<Int64Type>("int64 a (DECIMAL(18,2))", [12345, -5]), [123.45, -0.05]),
            (of::<ByteArrayType>("binary a (DECIMAL(9,1))", bytes([&[1, 0], &[0xff]])), [25.6, -0.1]),
            (
                of::<FixedLenByteArrayType>(
                    "fixed_len_byte_array(2) a (DECIMAL(4,1))",
                    fixed([&[1, 0], &[0xff, 0xff]]),
                ),
                [25.6, -0.1],
            ),
            (
                of::<FixedLenByteArrayType>("fixed_len_byte_array(2) a (FLOAT16)", fixed([&[0, 0x38], &[0, 0xc0]])),
                [0.5, -2.0],
            ),
        ];
        for (batches, [first, last]) in cases {
            let schema = batches.schema.clone();
            let read: Vec<f64> = batches.flat_map(|batch| numbers("x", batch.unwrap().column(0)).unwrap()).collect();
            assert_eq!(read.len(), 6, "{schema}");
            for part in read.chunks(3) {
                assert_eq!((part[0], part[2]), (first, last), "{schema}");
                assert!(part[1].is_nan(), "{schema}");
            }
        }
    }

    #[test]
    fn text_is_read_and_other_kinds_are_named() {
        let words = of::<ByteArrayType>("binary a (STRING)", bytes([b"x", "\u{e4}".as_bytes()]));
        let read: Vec<Option<String>> = words.flat_map(|b| texts("x", b.unwrap().column(0)).unwrap()).collect();
        let expected = [Some("x"), None, Some("\u{e4}")].map(|t| t.map(String::from));
        assert_eq!(read, [expected.clone(), expected].concat());
        let refused: Vec<(Batches, &str)> = vec![
            (of::<Int32Type>("int32 a (DATE)", [1, 2]), "Date32"),
            (of::<Int64Type>("int64 a (TIMESTAMP(MICROS,true))", [1, 2]), "Timestamp(\u{b5}s, \"UTC\")"),
            (of::<Int32Type>("int32 a (TIME_MILLIS)", [1, 2]), "Time32(ms)"),
            (of::<ByteArrayType>("binary a", bytes([b"x", b"y"])), "Binary"),
        ];
        for (mut batches, name) in refused {
            let error = batches.next().unwrap().unwrap_err().to_string();
            assert!(error.ends_with(&format!("holds {name} where text or a number is needed")), "{error}");
        }
        let mut damaged = of::<ByteArrayType>("binary a (STRING)", bytes([b"\xff", b"y"]));
        assert!(damaged.next().unwrap().is_err());
    }
}

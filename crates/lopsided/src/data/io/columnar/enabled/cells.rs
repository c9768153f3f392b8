//! Columns of Arrow's many types as numbers or as text.

use crate::base::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, DecimalType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;
use num_traits::ToPrimitive;

/// Whether a column holds text.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Whether [`numbers`] can be had of a column.
pub(super) fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Boolean | DataType::Null => true,
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Decimal256(..) => false,
        _ => kind.is_numeric(),
    }
}

/// The values of a column of numbers; what is missing is NaN.
pub(super) fn numbers(name: &str, column: &dyn Array) -> Result<Vec<f64>> {
    let values = match column.data_type() {
        DataType::Null => vec![None; column.len()],
        DataType::Boolean => column.as_boolean().iter().map(|v| v.map(|v| f64::from(u8::from(v)))).collect(),
        DataType::Int8 => primitives::<Int8Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::Int16 => primitives::<Int16Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::Int32 => primitives::<Int32Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::Int64 => primitives::<Int64Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::UInt8 => primitives::<UInt8Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::UInt16 => primitives::<UInt16Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::UInt32 => primitives::<UInt32Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::UInt64 => primitives::<UInt64Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::Float16 => primitives::<Float16Type, _>(column, |v| Some(f64::from(v))),
        DataType::Float32 => primitives::<Float32Type, _>(column, |v| ToPrimitive::to_f64(&v)),
        DataType::Float64 => primitives::<Float64Type, _>(column, Some),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(column, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(column, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(column, *scale),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            texts(name, column)?.into_iter().map(|text| text.and_then(|t| t.trim().parse().ok())).collect()
        }
        DataType::Dictionary(..) => {
            let (dictionary, words) = (column.as_any_dictionary(), numbers(name, column.as_any_dictionary().values())?);
            by_keys(column, &dictionary.normalized_keys(), |key| words.get(key).copied())
        }
        other => return Err(refused(name, other, "a number")),
    };
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

/// The values of a column as text.
pub(super) fn texts(name: &str, column: &dyn Array) -> Result<Vec<Option<String>>> {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Ok(match column.data_type() {
        DataType::Null => vec![None; column.len()],
        DataType::Utf8 => column.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(owned).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(owned).collect(),
        DataType::Boolean => column.as_boolean().iter().map(|v| v.map(|v| v.to_string())).collect(),
        DataType::Int8 => primitives::<Int8Type, _>(column, |v| Some(v.to_string())),
        DataType::Int16 => primitives::<Int16Type, _>(column, |v| Some(v.to_string())),
        DataType::Int32 => primitives::<Int32Type, _>(column, |v| Some(v.to_string())),
        DataType::Int64 => primitives::<Int64Type, _>(column, |v| Some(v.to_string())),
        DataType::UInt8 => primitives::<UInt8Type, _>(column, |v| Some(v.to_string())),
        DataType::UInt16 => primitives::<UInt16Type, _>(column, |v| Some(v.to_string())),
        DataType::UInt32 => primitives::<UInt32Type, _>(column, |v| Some(v.to_string())),
        DataType::UInt64 => primitives::<UInt64Type, _>(column, |v| Some(v.to_string())),
        DataType::Float32 => primitives::<Float32Type, _>(column, |v| Some(format!("{v:?}"))),
        DataType::Dictionary(..) => {
            let (dictionary, words) = (column.as_any_dictionary(), texts(name, column.as_any_dictionary().values())?);
            by_keys(column, &dictionary.normalized_keys(), |key| words.get(key).cloned().flatten())
        }
        kind if is_number(kind) => {
            let values = numbers(name, column)?.into_iter().enumerate();
            values.map(|(i, value)| column.is_valid(i).then(|| format!("{value:?}"))).collect()
        }
        other => return Err(refused(name, other, "text or a number")),
    })
}

fn primitives<A: ArrowPrimitiveType, V>(column: &dyn Array, value: impl Fn(A::Native) -> Option<V>) -> Vec<Option<V>> {
    column.as_primitive::<A>().iter().map(|v| v.and_then(&value)).collect()
}

/// Decimals are whole numbers of units of 10^(−scale).
fn decimals<A: DecimalType>(column: &dyn Array, scale: i8) -> Vec<Option<f64>>
where
    A::Native: ToPrimitive,
{
    let unit = 10f64.powi(i32::from(scale));
    primitives::<A, _>(column, |v| v.to_f64().map(|v| v / unit))
}

/// The values of a dictionary column: each key stands for a word of the dictionary.
fn by_keys<V>(column: &dyn Array, keys: &[usize], value: impl Fn(usize) -> Option<V>) -> Vec<Option<V>> {
    keys.iter().enumerate().map(|(i, &key)| if column.is_valid(i) { value(key) } else { None }).collect()
}

pub(super) fn refused(name: &str, kind: &DataType, wanted: &str) -> Error {
    Error::parse(name, format!("a column holds {kind} where {wanted} is needed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Decimal128Array, DictionaryArray, Float16Array, Int8Array, LargeStringArray, NullArray, StringViewArray,
        TimestampSecondArray, UInt64Array,
    };

    fn both(column: &dyn Array) -> (Vec<f64>, Vec<Option<String>>) {
        (numbers("x", column).unwrap(), texts("x", column).unwrap())
    }

    fn words(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|t| Some((*t).into())).collect()
    }

    #[test]
    fn all_kinds_of_numbers_are_read() {
        assert_eq!(both(&Int8Array::from(vec![-3, 7])), (vec![-3.0, 7.0], words(&["-3", "7"])));
        assert_eq!(both(&UInt64Array::from(vec![u64::MAX])).1, words(&["18446744073709551615"]));
        let half = Float16Array::from_iter_values([0.5_f32, -2.0].map(|v| num_traits::cast(v).unwrap()));
        assert_eq!(both(&half), (vec![0.5, -2.0], words(&["0.5", "-2.0"])));
        let decimal = Decimal128Array::from(vec![12345, -5]).with_precision_and_scale(10, 2).unwrap();
        assert_eq!(both(&decimal).0, [123.45, -0.05]);
        assert!(numbers("x", &NullArray::new(2)).unwrap().iter().all(|v| v.is_nan()));
    }

    #[test]
    fn text_comes_from_every_kind_of_string_and_from_dictionaries() {
        let (large, view) = (LargeStringArray::from(vec!["a", "b"]), StringViewArray::from(vec!["a", "b"]));
        assert_eq!(texts("x", &large).unwrap(), words(&["a", "b"]));
        assert_eq!(texts("x", &view).unwrap(), words(&["a", "b"]));
        let dictionary: DictionaryArray<Int8Type> = [Some("b"), None, Some("a"), Some("b")].into_iter().collect();
        let expected = [Some("b"), None, Some("a"), Some("b")].map(|t| t.map(String::from));
        assert_eq!(texts("x", &dictionary).unwrap(), expected);
        let error = texts("x", &TimestampSecondArray::from(vec![1])).unwrap_err().to_string();
        assert!(error.contains("where text or a number is needed"), "{error}");
    }
}

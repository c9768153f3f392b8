//! Numbers that are none: found before they leave.
//!
//! JSON has no word for NaN and infinity, so writers of it put `null`, which reads as "not there". [`not_finite`] finds such
//! numbers in anything that can be serialized, with their places; [`check_matrix`] finds them in results.

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use faer::MatRef;
use num_traits::Float;
use serde::Serialize;
use serde::ser::{self, SerializeMap};
use std::fmt;

const ADVICE: &str =
    "bring columns to a common size (scale), or take another kernel, a smaller penalty or smaller steps";

/// The error about a number that is none.
pub fn refused<T: Scalar>(what: &str, value: f64, place: &str) -> Error {
    Error::OutOfRange { what: what.into(), kind: T::NAME, reason: format!("{value}{place}"), advice: ADVICE.into() }
}

/// Refuses a matrix with numbers that are not finite.
///
/// # Errors
/// [`Error::OutOfRange`] with the first of them and its place.
pub fn check_matrix<T: Scalar>(what: &str, values: MatRef<'_, T>) -> Result<()> {
    for (j, column) in values.col_iter().enumerate() {
        if let Some(i) = column.iter().position(|v| !Float::is_finite(*v)) {
            return Err(refused::<T>(what, values[(i, j)].as_f64(), &format!(" at row {i}, column {j}")));
        }
    }
    Ok(())
}

/// Places and values of all numbers that are not finite.
///
/// ```
/// use lopsided::base::finite::not_finite;
///
/// let value = std::collections::BTreeMap::from([("gamma", vec![1.0, f64::NAN]), ("rank", vec![2.0])]);
/// assert_eq!(not_finite(&value), [("gamma.1".to_string(), "NaN".to_string())]);
/// ```
pub fn not_finite(value: &impl Serialize) -> Vec<(String, String)> {
    let mut finder = Finder::default();
    // What cannot be serialized is told by whoever does it in earnest.
    _ = value.serialize(&mut finder);
    finder.found
}

/// Walks through a value and notes its place.
#[derive(Default)]
struct Finder {
    place: Vec<String>,
    found: Vec<(String, String)>,
}

/// The walk cannot fail but by what it walks through.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be serialized")
    }
}

impl std::error::Error for Stopped {}

impl ser::Error for Stopped {
    fn custom<M: fmt::Display>(_: M) -> Self {
        Stopped
    }
}

type Walk = std::result::Result<(), Stopped>;

impl Finder {
    fn within<V: Serialize + ?Sized>(&mut self, name: String, value: &V) -> Walk {
        self.place.push(name);
        let walked = value.serialize(&mut *self);
        self.place.pop();
        walked
    }
}

/// Things inside a thing, by name or by number.
struct Inside<'a> {
    finder: &'a mut Finder,
    next: usize,
    key: String,
}

impl Inside<'_> {
    fn element<V: Serialize + ?Sized>(&mut self, value: &V) -> Walk {
        self.next += 1;
        self.finder.within((self.next - 1).to_string(), value)
    }
}

/// Kinds of values without numbers of their own that could be none.
macro_rules! harmless {
    ($($name:ident: $kind:ty),*) => { $(fn $name(self, _: $kind) -> Walk { Ok(()) })* };
}

/// Values that hold others, whatever they are called.
macro_rules! opened {
    ($($name:ident($($kind:ty),*)),*) => { $(
        fn $name(self, $(_: $kind),*) -> std::result::Result<Inside<'a>, Stopped> {
            Ok(Inside { finder: self, next: 0, key: String::new() })
        }
    )* };
}

impl<'a> ser::Serializer for &'a mut Finder {
    type Ok = ();
    type Error = Stopped;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    harmless!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str);

    fn serialize_f32(self, v: f32) -> Walk {
        self.serialize_f64(v.into())
    }

    fn serialize_f64(self, v: f64) -> Walk {
        if !v.is_finite() {
            self.found.push((self.place.join("."), v.to_string()));
        }
        Ok(())
    }

    fn serialize_none(self) -> Walk {
        Ok(())
    }

    fn serialize_unit(self) -> Walk {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Walk {
        Ok(())
    }

    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Walk {
        value.serialize(self)
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(self, _: &'static str, value: &V) -> Walk {
        value.serialize(self)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &V,
    ) -> Walk {
        self.within(name.into(), value)
    }

    opened!(
        serialize_seq(Option<usize>),
        serialize_tuple(usize),
        serialize_tuple_struct(&'static str, usize),
        serialize_tuple_variant(&'static str, u32, &'static str, usize),
        serialize_map(Option<usize>),
        serialize_struct(&'static str, usize),
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    );
}

/// Lists of values, which differ in the names of their methods alone.
macro_rules! listed {
    ($($part:ident: $method:ident),*) => { $(
        impl ser::$part for Inside<'_> {
            type Ok = ();
            type Error = Stopped;

            fn $method<V: Serialize + ?Sized>(&mut self, value: &V) -> Walk {
                self.element(value)
            }

            fn end(self) -> Walk {
                Ok(())
            }
        }
    )* };
}
listed!(SerializeSeq: serialize_element, SerializeTuple: serialize_element, SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field);

/// Fields with names, likewise.
macro_rules! named {
    ($($part:ident),*) => { $(
        impl ser::$part for Inside<'_> {
            type Ok = ();
            type Error = Stopped;

            fn serialize_field<V: Serialize + ?Sized>(&mut self, name: &'static str, value: &V) -> Walk {
                self.finder.within(name.into(), value)
            }

            fn end(self) -> Walk {
                Ok(())
            }
        }
    )* };
}
named!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Stopped;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Walk {
        let named = serde_json::to_value(key).ok().and_then(|key| key.as_str().map(String::from));
        self.key = named.unwrap_or_default();
        Ok(())
    }

    fn serialize_value<V: Serialize + ?Sized>(&mut self, value: &V) -> Walk {
        let key = std::mem::take(&mut self.key);
        self.finder.within(key, value)
    }

    fn end(self) -> Walk {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    enum Kind {
        One(f64),
        Two { b: f32 },
    }

    #[derive(Serialize)]
    struct All {
        plain: f64,
        absent: Option<f64>,
        there: Option<f64>,
        pair: (u8, f64),
        kinds: Vec<Kind>,
    }

    #[test]
    fn every_kind_of_value_is_looked_into() {
        let inf = f64::INFINITY;
        let kinds = vec![Kind::One(inf), Kind::Two { b: f32::NAN }, Kind::One(1.0)];
        let all = All { plain: 1.0, absent: None, there: Some(-inf), pair: (1, f64::NAN), kinds };
        let found: Vec<String> =
            not_finite(&all).into_iter().map(|(place, value)| format!("{place}={value}")).collect();
        assert_eq!(found, ["there=-inf", "pair.1=NaN", "kinds.0.One=inf", "kinds.1.b=NaN"]);
    }

    #[test]
    fn matrices_name_the_place() {
        let mut m = faer::Mat::<f32>::zeros(3, 2);
        assert!(check_matrix("scores", m.as_ref()).is_ok());
        m[(2, 1)] = f32::INFINITY;
        let error = check_matrix("scores", m.as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("scores are beyond the range of f32: inf at row 2, column 1; "), "{error}");
    }
}

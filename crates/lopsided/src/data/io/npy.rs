//! NumPy arrays: versions 1 to 3, numbers and booleans, one or two dimensions.
//!
//! A file is the word `\x93NUMPY`, a version, the length of a header, the header (a Python dictionary with type, order
//! and shape) and the numbers. Types: `f4`, `f8`, `i1` to `i8`, `u1` to `u8` and `b1`, in either byte order; all become
//! the precision asked for.

use super::matrix::{Order, TRUSTED, dense};
use crate::base::error::{Error, Result};
use crate::base::memory;
use crate::base::scalar::Scalar;
use crate::data::samples::Samples;
use std::io::Read;

const LONGEST_HEADER: usize = 1 << 20;
const CHUNK: usize = 1 << 12;

/// How one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Dtype {
    kind: Kind,
    size: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

/// An array as its header describes it.
pub(super) struct Header {
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

/// The array as samples: a matrix, or one column.
pub(super) fn read<T: Scalar>(reader: &mut dyn Read, name: &str) -> Result<Samples<T>> {
    let header = Header::read(reader, name)?;
    let size = match header.shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            let shape = header.shape.len();
            return Err(Error::parse(name, format!("has {shape} dimensions; one or two are allowed")));
        }
    };
    let values = header.numbers(reader, name)?;
    dense(name, size, values, if header.fortran { Order::Columns } else { Order::Rows })
}

/// The entries of a vector as text: numbers, flags (`true`, `false`) or texts.
pub(super) fn labels(reader: &mut dyn Read, name: &str) -> Result<Vec<String>> {
    let header = Header::read(reader, name)?;
    let (count, width) = match header.shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => (0, 0),
    };
    if width != 1 {
        let size = header.shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x ");
        return Err(Error::parse(name, format!("is an array of {size}; labels are a vector")));
    }
    if let Some(letters) = Letters::parse(&header.descr) {
        return letters.texts(reader, name, count);
    }
    let flags = header.descr.ends_with("b1");
    let text = |v: f64| if flags { (v != 0.0).to_string() } else { v.to_string() };
    Ok(header.numbers::<f64>(reader, name)?.into_iter().map(text).collect())
}

/// How texts of a fixed length are stored: so many letters of 4 bytes (`U`) or 1 (`S`), filled up with zeros.
struct Letters {
    wide: bool,
    big_endian: bool,
    length: usize,
}

impl Letters {
    fn parse(descr: &str) -> Option<Self> {
        let (order, rest) = descr.split_at_checked(1)?;
        let wide = rest.strip_prefix('U');
        let length = wide.or_else(|| rest.strip_prefix('S'))?.parse().ok()?;
        Some(Letters { wide: wide.is_some(), big_endian: order == ">", length })
    }

    fn texts(&self, reader: &mut dyn Read, name: &str, count: usize) -> Result<Vec<String>> {
        let (mut out, mut bytes) = (Vec::with_capacity(count.min(TRUSTED)), Vec::new());
        let size = self.length.saturating_mul(if self.wide { 4 } else { 1 });
        for found in 0..count {
            bytes.clear();
            fill(&mut bytes, reader, size, name)?;
            if bytes.len() < size {
                return Err(Error::parse(name, format!("ends after {found} of the {count} promised texts")));
            }
            let text = if self.wide { self.decode(&bytes) } else { String::from_utf8(bytes.clone()).ok() };
            let text = text.ok_or_else(|| Error::parse(name, format!("text {found} is not Unicode")))?;
            out.push(text.trim_end_matches('\0').to_owned());
        }
        Ok(out)
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        let word = |b: &[u8; 4]| if self.big_endian { u32::from_be_bytes(*b) } else { u32::from_le_bytes(*b) };
        bytes.as_chunks::<4>().0.iter().map(|letter| char::from_u32(word(letter))).collect()
    }
}

impl Header {
    /// Reads everything before the data.
    pub(super) fn read(reader: &mut dyn Read, name: &str) -> Result<Self> {
        let start = take(reader, 8, name)?;
        if !start.starts_with(b"\x93NUMPY") || start.len() < 8 {
            return Err(Error::parse(name, "is not a NumPy array"));
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(Error::parse(name, format!("version {version} of the npy format is unknown"))),
        };
        let length = take(reader, width, name)?.iter().rev().fold(0, |sum, &byte| sum * 256 + usize::from(byte));
        if length > LONGEST_HEADER {
            return Err(Error::parse(name, format!("the array header of {length} bytes is too long")));
        }
        let text = String::from_utf8_lossy(&take(reader, length, name)?).into_owned();
        Header::parse(&text).ok_or_else(|| Error::parse(name, format!("the array header `{}` is damaged", text.trim())))
    }

    /// Type, order and shape out of the dictionary.
    fn parse(text: &str) -> Option<Self> {
        let descr = entry(text, "descr")?;
        let descr = match descr.chars().next()? {
            quote @ ('\'' | '"') => descr[1..].split_once(quote)?.0.to_owned(),
            _ => "structured".to_owned(),
        };
        let fortran = entry(text, "fortran_order")?.starts_with("True");
        let (inner, _) = entry(text, "shape")?.strip_prefix('(')?.split_once(')')?;
        let sizes = inner.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?;
        Some(Header { descr, fortran, shape })
    }

    /// Number of rows and columns, or length, as the file has them.
    pub(super) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether columns, not rows, follow each other in the file.
    pub(super) fn is_fortran(&self) -> bool {
        self.fortran
    }

    /// Bytes of one number; `None` for what is no number, and for flags, which are classes by name.
    pub(super) fn number_bytes(&self) -> Option<usize> {
        Dtype::parse(&self.descr).filter(|_| !self.descr.ends_with("b1")).map(|dtype| dtype.size)
    }

    /// The flat data in file order.
    pub(super) fn numbers<T: Scalar>(&self, reader: &mut dyn Read, name: &str) -> Result<Vec<T>> {
        let count = self.shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let count = count.ok_or_else(|| Error::parse(name, format!("the shape {:?} is too large", self.shape)))?;
        let advice = "read fewer rows (krr and embed can --stream), or allow more memory (memory)";
        memory::check(&format!("{name}, an array of {:?},", self.shape), memory::product(&[count, T::BYTES]), advice)?;
        let values = self.next_numbers(reader, name, count)?;
        if values.len() < count {
            let found = values.len();
            return Err(Error::parse(name, format!("ends after {found} of the {count} promised numbers")));
        }
        Ok(values)
    }

    /// The next so many numbers in file order; fewer at the end of the data.
    pub(super) fn next_numbers<T: Scalar>(&self, reader: &mut dyn Read, name: &str, count: usize) -> Result<Vec<T>> {
        let dtype = Dtype::parse(&self.descr).ok_or_else(|| {
            let allowed = "f4, f8, i1 to i8, u1 to u8 and b1";
            Error::parse(name, format!("numbers of type `{}` are not supported; allowed: {allowed}", self.descr))
        })?;
        let (mut values, mut bytes) = (Vec::with_capacity(count.min(TRUSTED)), Vec::new());
        while values.len() < count {
            let wanted = CHUNK.min(count - values.len());
            bytes.clear();
            fill(&mut bytes, reader, wanted * dtype.size, name)?;
            if dtype == Dtype::of::<T>() {
                T::append_bytes(&bytes, &mut values);
            } else {
                values.extend(bytes.chunks_exact(dtype.size).map(|word| T::of(dtype.decode(word))));
            }
            if bytes.len() < wanted * dtype.size {
                break;
            }
        }
        Ok(values)
    }
}

/// What follows a key of the header, which is a Python dictionary.
fn entry<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let quoted = text.split_once(&format!("'{key}'")).or_else(|| text.split_once(&format!("\"{key}\"")));
    Some(quoted?.1.trim_start().strip_prefix(':')?.trim_start())
}

impl Dtype {
    fn parse(descr: &str) -> Option<Self> {
        let order = descr.chars().next()?;
        let rest = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
        let (kind, size) = (rest.get(..1)?, rest.get(1..)?.parse().ok()?);
        let kind = match (kind, size) {
            ("f", 4 | 8) => Kind::Float,
            ("i", 1 | 2 | 4 | 8) => Kind::Signed,
            ("u", 1 | 2 | 4 | 8) | ("b", 1) => Kind::Unsigned,
            _ => return None,
        };
        Some(Dtype { kind, size, big_endian: order == '>' })
    }

    /// How this program stores numbers itself.
    fn of<T: Scalar>() -> Self {
        Dtype { kind: Kind::Float, size: T::BYTES, big_endian: false }
    }

    /// One number. Whole numbers are widened to 64 bits with their sign; beyond 2^53 they are rounded.
    #[inline]
    fn decode(self, bytes: &[u8]) -> f64 {
        let mut word = [0u8; 8];
        let used = &mut word[..self.size];
        used.copy_from_slice(bytes);
        if self.big_endian {
            used.reverse();
        }
        let bits = u64::from_le_bytes(word);
        let spare = 64 - 8 * self.size;
        match self.kind {
            Kind::Float if self.size == 4 => f64::from(f32::from_bits(bits as u32)),
            Kind::Float => f64::from_bits(bits),
            Kind::Signed => ((bits << spare).cast_signed() >> spare) as f64,
            Kind::Unsigned => bits as f64,
        }
    }
}

/// Adds up to `length` bytes; fewer at the end of the data.
fn fill(bytes: &mut Vec<u8>, reader: &mut dyn Read, length: usize, name: &str) -> Result<()> {
    bytes.reserve(length.min(TRUSTED));
    reader.take(length as u64).read_to_end(bytes).map_err(|e| Error::io(name, e))?;
    Ok(())
}

/// Exactly `length` bytes of the header.
fn take(reader: &mut dyn Read, length: usize, name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fill(&mut bytes, reader, length, name)?;
    if bytes.len() == length { Ok(bytes) } else { Err(Error::parse(name, "ends within the array header")) }
}

#[cfg(test)]
pub(in crate::data::io) mod tests {
    use super::super::tests::dense_rows;
    use super::*;

    /// The bytes of an array with this header entry and data.
    pub(in crate::data::io) fn array(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), data].concat()
    }

    fn load(bytes: &[u8]) -> Result<Samples<f64>> {
        read(&mut &bytes[..], "a.npy")
    }

    fn rows(descr: &str, shape: &str, data: &[u8]) -> Vec<Vec<f64>> {
        dense_rows(&load(&array(descr, "False", shape, data)).unwrap())
    }

    fn message(bytes: &[u8]) -> String {
        load(bytes).unwrap_err().to_string()
    }

    #[test]
    fn all_number_types_are_read() {
        let expected = [[1.0], [200.0]];
        assert_eq!(rows("'|u1'", "(2,)", &[1, 200]), expected);
        assert_eq!(rows("'<i2'", "(2,)", &[1, 0, 200, 0]), expected);
        assert_eq!(rows("'>i4'", "(2, 1)", &[0, 0, 0, 1, 0, 0, 0, 200]), expected);
        assert_eq!(rows("'<u8'", "(2L,)", &[1u64.to_le_bytes(), 200u64.to_le_bytes()].concat()), expected);
        assert_eq!(rows("'>f4'", "(2,)", &[1f32.to_be_bytes(), 200f32.to_be_bytes()].concat()), expected);
        assert_eq!(rows("'<f8'", "(2,)", &[1f64.to_le_bytes(), 200f64.to_le_bytes()].concat()), expected);
        assert_eq!(rows("'|b1'", "(1, 2)", &[0, 1]), [[0.0, 1.0]]);
        assert_eq!(rows("'|i1'", "(1, 2)", &[0xff, 0x80]), [[-1.0, -128.0]]);
        assert_eq!(rows("'>i8'", "(1,)", &(-5i64).to_be_bytes()), [[-5.0]]);
    }

    #[test]
    fn both_orders_and_later_versions_are_read() {
        let data = [1u8, 2, 3, 4, 5, 6];
        let fortran = array("'|u1'", "True", "(2, 3)", &data);
        assert_eq!(dense_rows(&load(&fortran).unwrap()), [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]);
        let mut second = array("'|u1'", "False", "(2, 3)", &data);
        second[6] = 2;
        second.splice(10..10, [0, 0]);
        assert_eq!(dense_rows(&load(&second).unwrap()), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    }

    #[test]
    fn errors_say_what_is_allowed() {
        assert_eq!(message(b"hello wo"), "a.npy: is not a NumPy array");
        assert!(
            message(&array("'|O'", "False", "(1,)", &[])).contains("numbers of type `|O` are not supported; allowed")
        );
        assert!(message(&array("[('a', '<f8')]", "False", "(1,)", &[])).contains("type `structured`"));
        let truncated = array("'<f8'", "False", "(3, 1)", &[0; 20]);
        assert_eq!(message(&truncated), "a.npy: ends after 2 of the 3 promised numbers");
        assert_eq!(message(&truncated[..30]), "a.npy: ends within the array header");
        assert_eq!(
            message(&array("'<f8'", "False", "(1, 1, 1)", &[0; 8])),
            "a.npy: has 3 dimensions; one or two are allowed"
        );
        assert_eq!(message(&array("'<f8'", "False", "(0, 99)", &[])), "a.npy: has no rows");
        let huge = array("'<f8'", "False", "(99999999999, 9999)", &[0; 8]);
        assert!(message(&huge).contains("an array of [99999999999, 9999], needs 7999.2 TB but "));
        assert!(message(&array("'<f8'", "False", "(99999999999999, 99999999999)", &[])).contains("is too large"));
        assert!(message(&array("'<f8'", "False", "1, 2", &[])).contains("is damaged"));
    }
}

//! Saved models: named arrays and versioned JSON metadata in one safetensors file.
//!
//! The file runs no code when it is read, can be memory mapped, and is read back by every later release. What the
//! arrays mean is the model's business; this module knows no model.
//!
//! ```
//! use lopsided::data::archive::Archive;
//!
//! let path = std::env::temp_dir().join(format!("lopsided-doc-{}.safetensors", std::process::id()));
//! let mut archive = Archive::default();
//! archive.set_field("estimator", "example");
//! archive.set_vector("sigma", &[2.0, 1.0]);
//! archive.save(&path)?;
//! assert_eq!(Archive::load(&path)?.vector::<f64>("sigma")?, [2.0, 1.0]);
//! # std::fs::remove_file(path).ok();
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! The file: eight bytes with the length of the header, the header (JSON: type, shape and place of every array, and our
//! metadata as one text), then the arrays, little-endian and aligned. Compound things take several arrays under a
//! common name:
//!
//! | stored by | arrays | read by |
//! | --- | --- | --- |
//! | [`Archive::set_vector`], [`Archive::set_matrix`] | `NAME` | [`Archive::vector`], [`Archive::matrix`] |
//! | [`Archive::set_samples`], dense | `NAME` | [`Archive::samples`] |
//! | [`Archive::set_samples`], sparse | `NAME.indptr`, `NAME.indices`, `NAME.values`, field `NAME.width` | the same |
//! | [`Archive::set_texts`] | `NAME.ends`, `NAME.bytes` | [`Archive::texts`] |

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::{file, finite};
use crate::data::samples::{Csr, Order, Samples, SamplesRef, SharedRows};
use faer::{Mat, MatRef};
use num_traits::Float;
use rayon::prelude::*;
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Version of the file format. A reader accepts its own and all earlier ones.
///
/// 2: samples are prepared by arrays `prepare.*`, without which the model would be wrong.
pub const FORMAT: u64 = 2;
/// Format of files that every reader understands.
const OLDEST: u64 = 1;

/// Rows, or columns, of a matrix without entries: no bytes say whether they are meant.
const MOST_OF_NOTHING: usize = 1 << 27;

/// Field with what happened in a fit, whose numbers may be infinite: the condition of a singular system is.
const REPORT: &str = "report";

/// Key of our JSON in the safetensors metadata.
const KEY: &str = "lopsided";

/// Arrays and metadata of one model.
///
/// ```
/// use lopsided::data::archive::Archive;
/// use lopsided::{Csr, Samples};
///
/// let mut archive = Archive::default();
/// archive.set_field("rank", 2);
/// archive.set_texts("ids", &["a".to_string(), "größer".to_string()]);
/// archive.set_samples("x", Samples::Sparse(Csr::from_triplets(2, 3, &[(1, 2, 0.5)])).as_ref());
/// let read = Archive::from_bytes(&archive.to_bytes()?, "model")?;
/// assert_eq!((read.field::<usize>("rank")?, read.texts("ids")?.unwrap()[1].as_str()), (2, "größer"));
/// assert_eq!(read.samples::<f64>("x")?.into_dense()[(1, 2)], 0.5);
/// assert_eq!(read.vector::<f64>("sigma").unwrap_err().to_string(), "model: array `sigma` is missing");
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    /// Everything that is not an array.
    pub meta: Map<String, Value>,
    arrays: BTreeMap<String, Array>,
    /// Where it was read from, for messages.
    path: String,
    /// Why it cannot be written, where something in it cannot.
    fault: Option<String>,
    /// Arrays in which NaN stands for nothing.
    gaps: BTreeSet<String>,
    /// A state on the way to a result: its numbers are whatever they are.
    state: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Bytes,
}

/// The bytes of an array: here, or made from values that somebody else holds when they are written.
#[derive(Clone)]
enum Bytes {
    Own(Vec<u8>),
    Rows { count: usize, length: usize, write: RowWriter },
}

/// Writes the bytes of one row.
type RowWriter = Arc<dyn Fn(usize, &mut [u8]) + Send + Sync>;

impl Bytes {
    fn len(&self) -> usize {
        match self {
            Bytes::Own(bytes) => bytes.len(),
            Bytes::Rows { count, length, .. } => count * length,
        }
    }

    /// Hands out all bytes in pieces, in order.
    fn each<E>(&self, mut take: impl FnMut(&[u8]) -> std::result::Result<(), E>) -> std::result::Result<(), E> {
        match self {
            Bytes::Own(bytes) => take(bytes),
            Bytes::Rows { count, length, write } => {
                let mut row = vec![0; *length];
                (0..*count).try_for_each(|i| {
                    write(i, &mut row);
                    take(&row)
                })
            }
        }
    }

    fn all(&self) -> Cow<'_, [u8]> {
        match self {
            Bytes::Own(bytes) => Cow::Borrowed(bytes),
            Bytes::Rows { count, length, write } => {
                let mut bytes = vec![0; count * length];
                bytes.par_chunks_mut((*length).max(1)).enumerate().for_each(|(i, row)| write(i, row));
                Cow::Owned(bytes)
            }
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl Archive {
    /// Writes the file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.check()?;
        let (header, arrays) = self.header();
        file::write_atomically(path, |out| {
            let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(|e| Error::io(path, e));
            write(&(header.len() as u64).to_le_bytes())?;
            write(header.as_bytes())?;
            arrays.iter().try_for_each(|array| array.bytes.each(&mut write))
        })
    }

    /// Refuses what cannot be written, and numbers that are none.
    fn check(&self) -> Result<()> {
        let fault = |reason: &String| Error::Archive { path: "the model".into(), reason: reason.clone() };
        self.fault.as_ref().map_or(Ok(()), |reason| Err(fault(reason)))?;
        if self.state {
            return Ok(());
        }
        self.arrays.iter().try_for_each(|(name, array)| match array.dtype {
            Dtype::F64 => check_finite::<f64>(name, &array.bytes, self.gaps.contains(name)),
            Dtype::F32 => check_finite::<f32>(name, &array.bytes, self.gaps.contains(name)),
            _ => Ok(()),
        })
    }

    /// The bytes that [`Archive::save`] writes.
    ///
    /// # Errors
    /// [`Error::Archive`] for a model with something that no file can hold, such as a kernel given by value.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check()?;
        let (header, arrays) = self.header();
        let mut out = Vec::with_capacity(8 + header.len() + self.bytes() as usize);
        out.extend((header.len() as u64).to_le_bytes());
        out.extend(header.as_bytes());
        arrays.iter().for_each(|array| out.extend(array.bytes.all().iter()));
        Ok(out)
    }

    /// The safetensors header and the arrays in the order of the file, widest numbers first so that all are aligned.
    ///
    /// Written here and not by the safetensors crate, which copies all arrays or makes a temporary file of its own.
    fn header(&self) -> (String, Vec<&Array>) {
        let mut meta = self.meta.clone();
        let needed = meta.get("format").and_then(Value::as_u64).unwrap_or(OLDEST);
        meta.insert("format".into(), needed.into());
        meta.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        let meta = Value::Object(meta).to_string();
        let mut arrays: Vec<(&String, &Array)> = self.arrays.iter().collect();
        arrays.sort_by_key(|(_, array)| std::cmp::Reverse(array.dtype));
        let mut header = Map::from_iter([("__metadata__".to_string(), json!({ KEY: meta }))]);
        let mut end = 0;
        for (name, array) in &arrays {
            let start = end;
            end += array.bytes.len();
            let entry = json!({ "dtype": array.dtype, "shape": array.shape, "data_offsets": [start, end] });
            header.insert((*name).clone(), entry);
        }
        let mut text = Value::Object(header).to_string();
        text.push_str(&" ".repeat(text.len().wrapping_neg() % 8));
        (text, arrays.into_iter().map(|(_, array)| array).collect())
    }

    /// Reads a file written by this or an earlier release.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is damaged, not ours, or of a newer format.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Archive::from_bytes(&bytes, &path.display().to_string())
    }

    /// Reads the bytes of a file; `path` names it in messages.
    ///
    /// # Errors
    /// Those of [`Archive::load`].
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<Self> {
        let path = path.to_string();
        let fail = |reason: String| Error::Archive { path: path.clone(), reason };
        let damaged = |e| fail(format!("is not a complete model file ({e})"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let json = header.metadata().as_ref().and_then(|m| m.get(KEY));
        let json = json.ok_or_else(|| fail("is a safetensors file but not a lopsided model".into()))?;
        let meta: Map<String, Value> =
            serde_json::from_str(json).map_err(|e| fail(format!("has unreadable metadata ({e})")))?;
        match meta.get("format").and_then(Value::as_u64) {
            Some(format) if format <= FORMAT => {}
            Some(format) => {
                return Err(fail(format!(
                    "has format {format}, newer than {FORMAT}, the newest this version reads; update lopsided"
                )));
            }
            None => return Err(fail("has no format number".into())),
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let arrays = tensors
            .iter()
            .map(|(name, t)| {
                (
                    name.to_string(),
                    Array { dtype: t.dtype(), shape: t.shape().to_vec(), bytes: Bytes::Own(t.data().to_vec()) },
                )
            })
            .collect();
        Ok(Archive { meta, arrays, path, ..Archive::default() })
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.arrays.values().map(|a| a.bytes.len() as u64).sum()
    }

    /// An [`Error::Archive`] about this file.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        Error::Archive { path: self.path.clone(), reason: reason.into() }
    }

    /// Metadata of any shape; a field that is missing reads as null, so that an `Option` may be left out.
    ///
    /// # Errors
    /// [`Error::Archive`] for a field of another shape.
    pub fn field<V: serde::de::DeserializeOwned>(&self, name: &str) -> Result<V> {
        let value = self.meta.get(name).cloned().unwrap_or(Value::Null);
        serde_json::from_value(value).map_err(|e| self.error(format!("metadata `{name}`: {e}")))
    }

    /// The state of a computation, whose numbers need not be finite.
    pub(crate) fn of_state() -> Self {
        Archive { state: true, ..Archive::default() }
    }

    /// The beginning of every model: who made it, and its precision.
    pub(crate) fn of_model<T: Scalar>(estimator: &str) -> Self {
        let mut archive = Archive::default();
        archive.set_field("estimator", estimator);
        archive.set_field("precision", T::NAME);
        archive
    }

    /// Sets metadata of any shape that JSON can hold. Numbers that are not finite, which JSON does not have, are a reason not to
    /// write the archive, but for those of a report of what happened.
    pub fn set_field(&mut self, name: &str, value: impl serde::Serialize) {
        if let Some((place, found)) = finite::not_finite(&value).first().filter(|_| name != REPORT) {
            let place = if place.is_empty() { name.to_string() } else { format!("{name}.{place}") };
            self.fault = Some(format!("`{place}` is {found}, which is no number to go on with"));
        }
        match serde_json::to_value(value) {
            Ok(value) => _ = self.meta.insert(name.into(), value),
            Err(reason) => self.fault = Some(reason.to_string()),
        }
    }

    /// Says that readers of earlier formats would misunderstand the file.
    pub fn require(&mut self, format: u64) {
        let needed = self.meta.get("format").and_then(Value::as_u64).unwrap_or(OLDEST);
        self.meta.insert("format".into(), needed.max(format).into());
    }

    /// True when there is an array of this name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Stores a vector.
    pub fn set_vector<T: Scalar>(&mut self, name: &str, values: &[T]) {
        self.set(name, float::<T>(), vec![values.len()], T::to_bytes(values));
    }

    /// Stores a vector in which NaN stands for nothing; in others it is a reason not to write the archive.
    pub fn set_vector_with_gaps<T: Scalar>(&mut self, name: &str, values: &[T]) {
        self.gaps.insert(name.into());
        self.set_vector(name, values);
    }

    /// Reads a vector in any precision: a model saved in `f32` can be used in `f64` and the other way round.
    ///
    /// # Errors
    /// [`Error::Archive`] for an array that is missing, has another number of dimensions or holds no floating-point
    /// numbers.
    pub fn vector<T: Scalar>(&self, name: &str) -> Result<Vec<T>> {
        Ok(self.floats(name, 1)?.1)
    }

    /// Stores a matrix, row by row.
    pub fn set_matrix<T: Scalar>(&mut self, name: &str, matrix: MatRef<'_, T>) {
        let (rows, cols) = matrix.shape();
        let mut bytes = vec![0; rows * cols * T::BYTES];
        let rows_of_bytes = bytes.par_chunks_mut((cols * T::BYTES).max(1)).enumerate();
        rows_of_bytes.for_each(|(i, out)| write_row(matrix, i, out));
        self.set(name, float::<T>(), vec![rows, cols], bytes);
    }

    /// Reads a matrix in any precision.
    ///
    /// # Errors
    /// Those of [`Archive::vector`].
    pub fn matrix<T: Scalar>(&self, name: &str) -> Result<Mat<T>> {
        let (shape, values) = self.floats(name, 2)?;
        Ok(Mat::from_fn(shape[0], shape[1], |i, j| values[i * shape[1] + j]))
    }

    /// Stores samples under a common name.
    pub fn set_samples<T: Scalar>(&mut self, name: &str, samples: SamplesRef<'_, T>) {
        match samples {
            SamplesRef::Dense(m) => self.set_matrix(name, m),
            SamplesRef::Sparse(s) => {
                let s = s.to_owned();
                let (indptr, indices, values) = s.parts();
                let wide = indptr.iter().flat_map(|p| (*p as u64).to_le_bytes()).collect();
                self.set(&format!("{name}.indptr"), Dtype::U64, vec![indptr.len()], wide);
                let narrow = indices.iter().flat_map(|c| c.to_le_bytes()).collect();
                self.set(&format!("{name}.indices"), Dtype::U32, vec![indices.len()], narrow);
                self.set_vector(&format!("{name}.values"), values);
                self.set_field(&format!("{name}.width"), s.ncols());
            }
        }
    }

    /// The same without a copy of samples that can be shared: rows are turned into bytes one by one when the file is
    /// written.
    pub fn share_samples<T: Scalar>(&mut self, name: &str, samples: &Samples<T>) {
        let Samples::Shared(shared) = samples else { return self.set_samples(name, samples.as_ref()) };
        let (rows, cols) = shared.as_ref().shape();
        let shared = shared.clone();
        let write = Arc::new(move |i: usize, out: &mut [u8]| write_row(shared.as_ref(), i, out));
        let bytes = Bytes::Rows { count: rows, length: cols * T::BYTES, write };
        self.arrays.insert(name.into(), Array { dtype: float::<T>(), shape: vec![rows, cols], bytes });
    }

    /// Reads samples stored by [`Archive::set_samples`].
    ///
    /// # Errors
    /// [`Error::Archive`] for arrays that are missing or do not fit together.
    pub fn samples<T: Scalar>(&self, name: &str) -> Result<Samples<T>> {
        if self.has(name) {
            let (shape, values) = self.floats(name, 2)?;
            return SharedRows::new(Arc::new(values), (shape[0], shape[1]), Order::Rows).map(Samples::Shared);
        }
        let indptr = self.numbers::<8>(&format!("{name}.indptr"), Dtype::U64)?;
        let indptr = indptr.iter().map(|b| u64::from_le_bytes(*b) as usize).collect();
        let indices = self.numbers::<4>(&format!("{name}.indices"), Dtype::U32)?;
        let indices = indices.iter().map(|b| u32::from_le_bytes(*b)).collect();
        let indptr: Vec<usize> = indptr;
        let indices: Vec<u32> = indices;
        let (values, width) = (self.vector(&format!("{name}.values"))?, self.field(&format!("{name}.width"))?);
        if let Some(reason) = Csr::<T>::implausible(indptr.len(), width, indices.len()) {
            return Err(self.error(format!("`{name}`: {reason}")));
        }
        Csr::new(width, indptr, indices, values).map(Samples::Sparse).map_err(|e| self.error(e.to_string()))
    }

    /// Stores texts, whatever characters they have.
    pub fn set_texts(&mut self, name: &str, texts: &[String]) {
        let ends = texts.iter().scan(0u64, |end, t| {
            *end += t.len() as u64;
            Some(*end)
        });
        let ends: Vec<u8> = ends.flat_map(u64::to_le_bytes).collect();
        self.set(&format!("{name}.ends"), Dtype::U64, vec![texts.len()], ends);
        let bytes = texts.concat().into_bytes();
        self.set(&format!("{name}.bytes"), Dtype::U8, vec![bytes.len()], bytes);
    }

    /// Reads texts; `None` where none were stored.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        if !self.has(&format!("{name}.ends")) {
            return Ok(None);
        }
        let bytes = self.get(&format!("{name}.bytes"), &[Dtype::U8])?.bytes.all();
        let mut start = 0;
        let ends = self.numbers::<8>(&format!("{name}.ends"), Dtype::U64)?;
        let texts = ends.iter().map(|end| {
            let end = u64::from_le_bytes(*end) as usize;
            let text = bytes.get(start..end).and_then(|b| std::str::from_utf8(b).ok());
            start = end;
            text.map(String::from).ok_or_else(|| self.error(format!("texts `{name}` are damaged")))
        });
        texts.collect::<Result<_>>().map(Some)
    }

    fn set(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) {
        self.arrays.insert(name.into(), Array { dtype, shape, bytes: Bytes::Own(bytes) });
    }

    fn get(&self, name: &str, dtypes: &[Dtype]) -> Result<&Array> {
        let array = self.arrays.get(name).ok_or_else(|| self.error(format!("array `{name}` is missing")))?;
        if dtypes.contains(&array.dtype) {
            return Ok(array);
        }
        Err(self.error(format!("array `{name}` holds {:?} instead of {:?}", array.dtype, dtypes[0])))
    }

    /// Shape and values of an array of either precision, converted where it is not that of T.
    fn floats<T: Scalar>(&self, name: &str, dimensions: usize) -> Result<(&[usize], Vec<T>)> {
        let array = self.get(name, &[Dtype::F64, Dtype::F32])?;
        if array.shape.len() != dimensions {
            return Err(
                self.error(format!("array `{name}` has {} dimensions instead of {dimensions}", array.shape.len()))
            );
        }
        if array.bytes.len() == 0 && array.shape.iter().any(|&size| size > MOST_OF_NOTHING) {
            return Err(self.error(format!("array `{name}` has {:?} entries of nothing", array.shape)));
        }
        let bytes = array.bytes.all();
        let values = if array.dtype == float::<T>() {
            T::from_bytes(&bytes)
        } else if array.dtype == Dtype::F64 {
            f64::from_bytes(&bytes).into_iter().map(T::of).collect()
        } else {
            f32::from_bytes(&bytes).into_iter().map(|v| T::of(v.into())).collect()
        };
        Ok((&array.shape, values))
    }

    /// The raw words of an array of whole numbers.
    fn numbers<const N: usize>(&self, name: &str, dtype: Dtype) -> Result<Vec<[u8; N]>> {
        Ok(self.get(name, &[dtype])?.bytes.all().as_chunks::<N>().0.to_vec())
    }
}

/// Refuses numbers that are not finite.
fn check_finite<T: Scalar>(name: &str, bytes: &Bytes, gaps: bool) -> Result<()> {
    let mut seen = 0;
    bytes.each(|piece| {
        let values = T::from_bytes(piece);
        let none = |v: &T| !(Float::is_finite(*v) || gaps && Float::is_nan(*v));
        if let Some(at) = values.iter().position(none) {
            let what = format!("the numbers `{name}` of the model");
            return Err(finite::refused::<T>(&what, values[at].as_f64(), &format!(" at place {}", seen + at)));
        }
        seen += values.len();
        Ok(())
    })
}

fn write_row<T: Scalar>(matrix: MatRef<'_, T>, i: usize, out: &mut [u8]) {
    match matrix.row(i).try_as_row_major() {
        Some(row) => T::write_bytes(row.as_slice().iter().copied(), out),
        None => T::write_bytes(matrix.row(i).iter().copied(), out),
    }
}

fn float<T: Scalar>() -> Dtype {
    if T::BYTES == 8 { Dtype::F64 } else { Dtype::F32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Archive {
        let mut archive = Archive::default();
        archive.set_field("estimator", "test");
        archive.set_matrix("m", Mat::from_fn(2, 3, |i, j| (i * 3 + j) as f64).as_ref());
        let sparse = Samples::Sparse(Csr::from_triplets(2, 9, &[(1, 8, 2.5), (0, 3, -1.0)]));
        archive.set_samples("s", sparse.as_ref());
        archive.set_texts("ids", &["a,\"b\"".into(), String::new(), "ü\n".into()]);
        archive
    }

    /// Found by mutation: no bytes contradict the number of rows.
    #[test]
    fn sizes_of_nothing_are_not_believed() {
        let mut archive = Archive::default();
        archive.set("m", Dtype::F64, vec![1 << 63, 0], Vec::new());
        assert!(archive.matrix::<f64>("m").unwrap_err().to_string().contains("`m` has"));
        archive.set("m", Dtype::F64, vec![7, 0], Vec::new());
        assert_eq!(archive.matrix::<f64>("m").unwrap().shape(), (7, 0));
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        sample().save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), sample().to_bytes().unwrap());
        let back = Archive::load(&path).unwrap();
        assert_eq!(back.arrays, sample().arrays);
        assert_eq!(back.matrix::<f32>("m").unwrap()[(1, 2)], 5.0);
        let Samples::Sparse(csr) = back.samples::<f64>("s").unwrap() else { panic!() };
        assert_eq!(csr.row(1), (&[8u32][..], &[2.5][..]));
        assert_eq!(back.texts("ids").unwrap().unwrap(), ["a,\"b\"", "", "ü\n"]);
        assert!(back.texts("other").unwrap().is_none());
    }

    #[test]
    fn shared_samples_are_saved_like_copied_ones() {
        let rows = SharedRows::new(Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), (2, 3), Order::Rows).unwrap();
        for samples in [Samples::Shared(rows.clone()), Samples::Shared(rows.transpose())] {
            let (mut shared, mut copied) = (Archive::default(), Archive::default());
            shared.share_samples("x", &samples);
            copied.set_samples("x", samples.as_ref());
            assert_eq!(shared, copied);
            assert_eq!(shared.to_bytes().unwrap(), copied.to_bytes().unwrap());
            assert_eq!(shared.matrix::<f64>("x").unwrap(), samples.into_dense());
        }
    }

    #[test]
    fn numbers_that_are_none_are_not_written() {
        let message = |archive: &Archive| archive.to_bytes().unwrap_err().to_string();
        let mut archive = sample();
        archive.set_matrix("m", Mat::from_fn(2, 2, |i, j| if i + j == 2 { f32::INFINITY } else { 1.0 }).as_ref());
        assert!(
            message(&archive).starts_with("the numbers `m` of the model are beyond the range of f32: inf at place 3")
        );
        let mut archive = sample();
        archive.set_field("kernel", json!({ "name": "rbf" }));
        assert!(archive.to_bytes().is_ok());
        archive.set_field("kernel", BTreeMap::from([("gamma", f64::NAN)]));
        assert!(message(&archive).contains("`kernel.gamma` is NaN"), "{}", message(&archive));
        let mut archive = sample();
        archive.set_vector_with_gaps("fill", &[1.0, f64::NAN]);
        archive.set_field("report", BTreeMap::from([("condition", f64::INFINITY)]));
        assert!(archive.to_bytes().is_ok());
        archive.set_vector_with_gaps("fill", &[f64::INFINITY]);
        assert!(archive.to_bytes().is_err());
    }

    #[test]
    fn damaged_newer_and_foreign_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        sample().save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 5, 40, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert!(Archive::load(&path).unwrap_err().to_string().contains("not a complete model file"), "{cut}");
        }
        let digit = bytes.windows(12).position(|w| w == br#"\"format\":1"#).unwrap() + 11;
        let mut newer = bytes;
        newer[digit] = b'9';
        std::fs::write(&path, newer).unwrap();
        assert!(Archive::load(&path).unwrap_err().to_string().contains("format 9, newer than 2"));
        std::fs::write(&path, b"\x02\0\0\0\0\0\0\0{}").unwrap();
        assert!(Archive::load(&path).unwrap_err().to_string().contains("not a lopsided model"));
    }
}

//! NumPy archives: one array of several, or a sparse matrix saved by SciPy.
//!
//! Without a name the archive must hold one array, or the four arrays `indptr`, `indices`, `data` and `shape` of a
//! SciPy matrix in CSR or CSC form; several arrays are refused with their names.

use super::Reasoned;
use super::matrix::check_sparse;
use super::npy::{self, Header};
use super::source::{Seekable, Source};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, Samples};
use std::io::{BufReader, Cursor, Read, Seek};
use zip::ZipArchive;
use zip::read::ZipFile;

const SCIPY: [&str; 4] = ["indptr", "indices", "data", "shape"];

/// The array of that name, the only array, or the sparse matrix.
pub(super) fn read<T: Scalar>(source: Source, array: Option<&str>) -> Result<Samples<T>> {
    let name = source.name().to_owned();
    match source.seekable()? {
        Seekable::File(file) => Archive::open(&name, BufReader::new(file))?.read(array),
        Seekable::Memory(bytes) => Archive::open(&name, Cursor::new(bytes))?.read(array),
    }
}

struct Archive<'a, R> {
    name: &'a str,
    zip: ZipArchive<R>,
    arrays: Vec<String>,
}

impl<'a, R: Read + Seek> Archive<'a, R> {
    fn open(name: &'a str, reader: R) -> Result<Self> {
        let zip = ZipArchive::new(reader).map_err(|e| Error::parse(name, format!("is not a NumPy archive ({e})")))?;
        let files = zip.file_names().flatten();
        let arrays = files.filter_map(|file| file.strip_suffix(".npy").map(str::to_owned)).collect();
        Ok(Archive { name, zip, arrays })
    }

    fn read<T: Scalar>(mut self, wanted: Option<&str>) -> Result<Samples<T>> {
        let name = self.name;
        if wanted.is_none() && SCIPY.iter().all(|part| self.has(part)) {
            return self.sparse();
        }
        let chosen = match (wanted, &self.arrays[..]) {
            (Some(wanted), _) if self.has(wanted) => wanted.to_owned(),
            (Some(wanted), known) => {
                return Err(Error::Unknown { kind: "array", name: wanted.into(), known: known.to_vec() });
            }
            (None, [only]) => only.clone(),
            (None, []) => return Err(Error::parse(name, "has no arrays")),
            (None, several) => {
                let list = several.join(", ");
                return Err(Error::parse(name, format!("has several arrays; choose one of {list}")));
            }
        };
        npy::read(&mut self.file(&chosen)?, &format!("{name}: {chosen}"))
    }

    fn has(&self, array: &str) -> bool {
        self.arrays.iter().any(|known| known == array)
    }

    fn file(&mut self, array: &str) -> Result<ZipFile<'_, R>> {
        let place = format!("{}: {array}", self.name);
        self.zip.by_name(&format!("{array}.npy")).map_err(|e| Error::parse(place, e.to_string()))
    }

    fn flat<T: Scalar>(&mut self, array: &str) -> Result<Vec<T>> {
        let place = format!("{}: {array}", self.name);
        let mut file = self.file(array)?;
        let header = Header::read(&mut file, &place)?;
        if header.shape().len() != 1 {
            return Err(Error::parse(place, format!("has {} dimensions instead of one", header.shape().len())));
        }
        header.numbers(&mut file, &place)
    }

    /// Whole numbers; `f64` holds all that can occur in a matrix that fits in memory.
    fn sizes(&mut self, array: &str) -> Result<Vec<usize>> {
        let values: Vec<f64> = self.flat(array)?;
        let bad = |v: &&f64| !(**v >= 0.0 && **v <= 9e15 && v.fract() == 0.0);
        if let Some(value) = values.iter().find(bad) {
            return Err(Error::parse(format!("{}: {array}", self.name), format!("{value} is not a size")));
        }
        Ok(values.iter().map(|&v| v as usize).collect())
    }

    /// The letters of the array `format`, which is a string of one-byte or four-byte characters.
    fn format(&mut self) -> Result<String> {
        if !self.has("format") {
            return Ok("csr".into());
        }
        let place = format!("{}: format", self.name);
        let mut file = self.file("format")?;
        Header::read(&mut file, &place)?;
        let mut bytes = Vec::new();
        file.take(64).read_to_end(&mut bytes).map_err(|e| Error::io(&place, e))?;
        Ok(bytes.iter().filter(|b| b.is_ascii_alphanumeric()).map(|&b| char::from(b)).collect())
    }

    /// A SciPy matrix; CSC is read as the CSR form of its transpose.
    fn sparse<T: Scalar>(mut self) -> Result<Samples<T>> {
        let format = self.format()?;
        let shape = self.sizes("shape")?;
        let (rows, cols) = match (format.as_str(), &shape[..]) {
            ("csr", &[rows, cols]) => (rows, cols),
            ("csc", &[rows, cols]) => (cols, rows),
            ("csr" | "csc", _) => return Err(Error::parse(self.name, "the shape of a matrix has two numbers")),
            _ => {
                return Err(Error::parse(
                    self.name,
                    format!("sparse format `{format}` is not supported; allowed: csr, csc"),
                ));
            }
        };
        let (indptr, indices, data) = (self.sizes("indptr")?, self.sizes("indices")?, self.flat("data")?);
        check_sparse(self.name, rows, cols, indices.len())?;
        let csr = compress(rows, cols, &indptr, &indices, &data).map_err(|reason| Error::parse(self.name, reason))?;
        Ok(Samples::Sparse(if format == "csc" { csr.transpose() } else { csr }))
    }
}

/// Checks the three arrays and sorts the entries of each row.
fn compress<T: Scalar>(rows: usize, cols: usize, indptr: &[usize], indices: &[usize], data: &[T]) -> Reasoned<Csr<T>> {
    if indptr.len() != rows + 1 || indptr[0] != 0 || indptr[rows] != indices.len() || indices.len() != data.len() {
        return Err("the sparse arrays do not fit together".into());
    }
    let mut csr = Csr::empty(cols);
    let mut entries: Vec<(u32, T)> = Vec::new();
    for bounds in indptr.windows(2) {
        let row = bounds[0]..bounds[1];
        let (Some(columns), Some(values)) = (indices.get(row.clone()), data.get(row)) else {
            return Err("the row pointers of the sparse matrix do not ascend".into());
        };
        if let Some(column) = columns.iter().find(|column| **column >= cols) {
            return Err(format!("the sparse index {column} is outside 0 to {}", cols - 1));
        }
        entries.clear();
        entries.extend(columns.iter().map(|&column| column as u32).zip(values.iter().copied()));
        entries.sort_by_key(|entry| entry.0);
        csr.push_row(entries.iter().copied());
    }
    Ok(csr)
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::array;
    use super::super::tests::{archive, dense_rows, gzip, scratch};
    use super::*;

    fn load(file: &str, bytes: &[u8], wanted: Option<&str>) -> Result<Samples<f64>> {
        let (_dir, path) = scratch(file, bytes);
        read(Source::open(&path)?, wanted)
    }

    fn message(bytes: &[u8], wanted: Option<&str>) -> String {
        let error = load("a.npz", bytes, wanted).unwrap_err().to_string();
        error[error.find("a.npz").unwrap_or(0)..].to_owned()
    }

    fn bytes(values: &[u8]) -> Vec<u8> {
        array("'|u1'", "False", &format!("({},)", values.len()), values)
    }

    fn sparse(format: &str, indptr: &[u8], indices: &[u8]) -> Vec<u8> {
        let format = array(&format!("'|S{}'", format.len()), "False", "()", format.as_bytes());
        let parts = [bytes(indptr), bytes(indices), bytes(&[7, 8, 9]), bytes(&[2, 3]), format];
        archive(&["indptr", "indices", "data", "shape", "format"], &parts)
    }

    #[test]
    fn arrays_are_chosen_by_name_or_alone() {
        let both = archive(&["X", "y"], &[bytes(&[1, 2]), bytes(&[3])]);
        assert_eq!(dense_rows(&load("a.npz", &both, Some("y")).unwrap()), [[3.0]]);
        assert_eq!(message(&both, None), "a.npz: has several arrays; choose one of X, y");
        assert_eq!(message(&both, Some("z")), "no array `z`; known: X, y");
        let one = archive(&["X"], &[bytes(&[1, 2])]);
        assert_eq!(dense_rows(&load("a.npz", &one, None).unwrap()), [[1.0], [2.0]]);
        assert_eq!(dense_rows(&load("a.npz.gz", &gzip(&one), None).unwrap()), [[1.0], [2.0]]);
        assert!(message(b"nothing", None).starts_with("a.npz: is not a NumPy archive"));
    }

    #[test]
    fn scipy_matrices_are_sparse() {
        let csr = load("a.npz", &sparse("csr", &[0, 2, 3], &[2, 0, 1]), None).unwrap();
        assert_eq!(dense_rows(&csr), [[8.0, 0.0, 7.0], [0.0, 9.0, 0.0]]);
        let csc = load("a.npz", &sparse("csc", &[0, 1, 1, 3], &[1, 0, 1]), None).unwrap();
        assert_eq!(dense_rows(&csc), [[0.0, 0.0, 8.0], [7.0, 0.0, 9.0]]);
    }

    #[test]
    fn damaged_scipy_matrices_are_refused() {
        assert_eq!(message(&sparse("csr", &[0, 3], &[2, 0, 1]), None), "a.npz: the sparse arrays do not fit together");
        assert!(message(&sparse("csr", &[0, 9, 3], &[2, 0, 1]), None).contains("do not ascend"));
        assert!(
            message(&sparse("csr", &[0, 2, 3], &[5, 0, 1]), None).ends_with("the sparse index 5 is outside 0 to 2")
        );
        assert!(
            message(&sparse("bsr", &[0, 2, 3], &[0, 0, 1]), None).contains("`bsr` is not supported; allowed: csr, csc")
        );
    }
}

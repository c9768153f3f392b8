//! NumPy arrays that are too large to hold: read in chunks of rows, again for every pass.

use super::npy::Header;
use super::source::{Source, is_stdin};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::row_stream::{CHUNK_ROWS, RowStream, Visit};
use crate::data::samples::Csr;
use std::path::Path;

/// Opens a NumPy array of two dimensions, plain or gzipped, for passes over its rows. Only its header is read.
///
/// Memory: 2048 rows. Every number is an entry of the sparse rows that a stream is made of, zeros too.
///
/// ```
/// use lopsided::data::io::{stream_npy, write_matrix};
/// use lopsided::{Mat, Watch};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("table.npy");
/// let table = Mat::from_fn(3, 2, |i, j| (2 * i + j) as f64);
/// write_matrix(&path, &["a", "b", "c"].map(String::from), table.as_ref())?;
/// let stream = stream_npy::<f64>(&path)?;
/// let mut sum = 0.0;
/// stream.for_each_chunk("adding", &Watch::default(), |_, rows| {
///     sum += (0..rows.nrows()).flat_map(|i| rows.row(i).1).sum::<f64>();
///     Ok(())
/// })?;
/// assert_eq!((stream.nrows(), stream.ncols(), sum), (3, 2, 15.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] for standard input or a pipe, which cannot be read twice; [`Error::Parse`] for an array in Fortran order
/// or of other dimensions; [`Error::Io`]. Passes find values that are not finite and files that end too soon.
pub fn stream_npy<T: Scalar>(path: &Path) -> Result<RowStream<T>> {
    if is_stdin(path) || path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::param("stream", path.display(), "a regular file, which is read several times"));
    }
    let name = path.display().to_string();
    let header = Header::read(&mut Source::open(path)?.reader(), &name)?;
    let &[rows, cols] = header.shape() else {
        return Err(Error::parse(name, format!("has {} dimensions; two are needed", header.shape().len())));
    };
    if header.is_fortran() {
        return Err(Error::parse(name, "is in Fortran order, column by column; rows must follow each other"));
    }
    if rows == 0 || cols == 0 || u32::try_from(cols).is_err() {
        return Err(Error::parse(name, format!("has the shape {rows} x {cols}; rows and columns are needed")));
    }
    let path = path.to_path_buf();
    let pass = move |visit: &mut Visit<'_, T>| pass(&path, (rows, cols), visit);
    Ok(RowStream::new((rows, cols), rows * cols, 0, Box::new(pass)))
}

/// One pass: the header again, in case the file has changed, then chunk after chunk.
fn pass<T: Scalar>(path: &Path, (rows, cols): (usize, usize), visit: &mut Visit<'_, T>) -> Result<()> {
    let source = Source::open(path)?;
    let name = source.name().to_owned();
    let mut reader = source.reader();
    let header = Header::read(&mut reader, &name)?;
    if header.shape() != [rows, cols] {
        return Err(Error::parse(name, "has changed since its first pass"));
    }
    for start in (0..rows).step_by(CHUNK_ROWS) {
        let count = CHUNK_ROWS.min(rows - start);
        let values = header.next_numbers::<T>(&mut reader, &name, count * cols)?;
        if values.len() < count * cols {
            return Err(Error::parse(name, format!("ends within row {}", start + values.len() / cols)));
        }
        if let Some(at) = values.iter().position(|v| !num_traits::Float::is_finite(*v)) {
            let (row, col, value) = (start + at / cols, at % cols, values[at].to_string());
            return Err(Error::NotFinite { what: name, value, row, col });
        }
        let (indptr, indices) = ((0..=count).map(|i| i * cols).collect(), (0..count).flat_map(|_| 0..cols as u32));
        visit(start, Csr::new(cols, indptr, indices.collect(), values)?.as_ref())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::npy::tests::array;
    use super::super::tests::scratch;
    use super::*;
    use crate::base::watch::Watch;

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn rows_come_in_order_as_often_as_asked() {
        let values: Vec<f64> = (0..9000).map(f64::from).collect();
        let (_dir, path) = scratch("a.npy", array("'<f8'", "False", "(3000, 3)", &bytes(&values)));
        let stream = stream_npy::<f64>(&path).unwrap();
        for _ in 0..2 {
            let mut seen = Vec::new();
            let add = |_, rows: crate::data::samples::CsrRef<'_, f64>| {
                (0..rows.nrows()).for_each(|i| seen.extend_from_slice(rows.row(i).1));
                Ok(())
            };
            stream.for_each_chunk("test", &Watch::default(), add).unwrap();
            assert_eq!(seen, values);
        }
    }

    #[test]
    fn what_cannot_be_streamed_is_named() {
        let message = |contents: Vec<u8>| {
            let (_dir, path) = scratch("a.npy", contents);
            let pass = |stream: RowStream<f64>| stream.for_each_chunk("test", &Watch::default(), |_, _| Ok(()));
            stream_npy::<f64>(&path).and_then(pass).unwrap_err().to_string()
        };
        assert!(message(array("'<f8'", "True", "(1, 2)", &bytes(&[1.0, 2.0]))).contains("Fortran"));
        assert!(message(array("'<f8'", "False", "(2,)", &bytes(&[1.0, 2.0]))).contains("1 dimensions"));
        assert!(message(array("'<f8'", "False", "(2, 2)", &bytes(&[1.0, 2.0, 3.0]))).contains("ends within row 1"));
        assert!(
            message(array("'<f8'", "False", "(1, 2)", &bytes(&[1.0, f64::NAN]))).contains("NaN at row 0, column 1")
        );
    }
}

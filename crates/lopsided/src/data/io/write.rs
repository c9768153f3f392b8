//! Result matrices as `.npy`, `.csv` or `.parquet`.

use super::{columnar, source};
use crate::base::error::{Error, Result};
use crate::base::file::write_atomically;
use crate::base::finite;
use crate::base::scalar::Scalar;
use faer::MatRef;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// Writes a matrix with one id per row; the extension chooses the format.
///
/// - `.npy`: row by row in the precision of `T`, without the ids
/// - `.csv`: header `id,c0,c1,…`, the shortest numbers that read back as the same value
/// - `.parquet`: a text column `id` and number columns `c0`, `c1`, …
///
/// ```
/// use lopsided::data::io::write_matrix;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("embedding.csv");
/// write_matrix(&path, &["a", "b"].map(String::from), faer::mat![[1.0, 0.5], [-2.0, 0.1]].as_ref())?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "id,c0,c1\na,1,0.5\nb,-2,0.1\n");
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] unless there is an id for each row, [`Error::Param`] for another extension, [`Error::OutOfRange`] for numbers
/// that are not finite, [`Error::Io`].
pub fn write_matrix<T: Scalar>(path: &Path, ids: &[String], values: MatRef<'_, T>) -> Result<()> {
    if ids.len() != values.nrows() {
        return Err(Error::shape("the number of ids", values.nrows(), ids.len()));
    }
    finite::check_matrix(&format!("the numbers for {}", path.display()), values)?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "npy" => write_atomically(path, |out| write_npy(out, values).map_err(|e| Error::io(path, e))),
        "csv" => write_atomically(path, |out| write_csv(out, ids, values).map_err(|e| Error::io(path, e))),
        "parquet" => write_atomically(path, |out| write_parquet(path, out, ids, values)),
        _ => {
            let value = format!("`{}` with the extension `.{}`", path.display(), source::extension(path));
            Err(Error::param("output", value, "a file ending in .npy, .csv or .parquet"))
        }
    }
}

/// Writes `id,cluster` lines under a header, whole or not at all.
///
/// ```
/// use lopsided::data::io::write_clusters;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("clusters.csv");
/// write_clusters(&path, &["a", "b"].map(String::from), &[1, 0])?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "id,cluster\na,1\nb,0\n");
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn write_clusters(path: &Path, ids: &[String], clusters: &[u32]) -> Result<()> {
    if ids.len() != clusters.len() {
        return Err(Error::shape("the number of ids", clusters.len(), ids.len()));
    }
    let fill = |out: &mut dyn Write| -> std::io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["id", "cluster"])?;
        for (id, cluster) in ids.iter().zip(clusters) {
            writer.write_record([id.as_str(), &cluster.to_string()])?;
        }
        writer.flush()
    };
    write_atomically(path, |out| fill(out).map_err(|e| Error::io(path, e)))
}

/// Version 1 of the format, rows after rows.
fn write_npy<T: Scalar>(out: &mut dyn Write, values: MatRef<'_, T>) -> std::io::Result<()> {
    let (rows, cols) = (values.nrows(), values.ncols());
    let mut header = format!("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}", T::BYTES);
    // The data starts at a multiple of 64; ten bytes come before the header and a line end closes it.
    let padding = (64 - (header.len() + 11) % 64) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    let mut row = vec![T::zero(); cols];
    for i in 0..rows {
        row.iter_mut().enumerate().for_each(|(j, value)| *value = values[(i, j)]);
        out.write_all(&T::to_bytes(&row))?;
    }
    Ok(())
}

fn write_csv<T: Scalar>(out: &mut dyn Write, ids: &[String], values: MatRef<'_, T>) -> std::io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_field("id")?;
    for j in 0..values.ncols() {
        writer.write_field(format!("c{j}"))?;
    }
    writer.write_record(None::<&[u8]>)?;
    let mut text = String::new();
    for (i, id) in ids.iter().enumerate() {
        writer.write_field(id)?;
        for j in 0..values.ncols() {
            text.clear();
            // The debug form is the shortest that reads back and changes to exponents for extreme values.
            write!(text, "{:?}", values[(i, j)]).map_err(std::io::Error::other)?;
            writer.write_field(text.strip_suffix(".0").unwrap_or(&text))?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

fn write_parquet<T: Scalar>(path: &Path, out: &mut dyn Write, ids: &[String], values: MatRef<'_, T>) -> Result<()> {
    // The Parquet writer asks for an output that can move between threads, which `out` is not.
    let bytes = columnar::parquet_bytes(path, ids, values)?;
    out.write_all(&bytes).map_err(|e| Error::io(path, e))
}

#[cfg(test)]
mod tests {
    use super::super::tests::dense_rows;
    use super::super::{Input, ReadOptions, TargetColumn, read};
    use super::*;
    use faer::Mat;

    fn round_trip<T: Scalar>(file: &str, label: TargetColumn) {
        let numbers = [0.1, -1e30, 3.0, 1e-12, f64::MIN_POSITIVE, 123_456.789];
        let values = Mat::<T>::from_fn(3, 2, |i, j| T::of(numbers[2 * i + j]));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(file);
        let ids = ["a", "b, \"c\"", "ü"].map(String::from);
        write_matrix(&path, &ids, values.as_ref()).unwrap();
        let options = ReadOptions { target: label, ..ReadOptions::default() };
        let Input::Table(table) = read::<T>(&path, &options).unwrap() else { panic!("a graph") };
        let expected: Vec<Vec<f64>> = (0..3).map(|i| (0..2).map(|j| values[(i, j)].as_f64()).collect()).collect();
        assert_eq!(dense_rows(&table.samples), expected);
        if let Some((_, crate::data::dataset::Target::Classes { ref names, .. })) = table.target {
            assert_eq!(*names, ids);
            assert_eq!(table.names().unwrap(), ["c0", "c1"]);
        }
    }

    #[test]
    fn matrices_read_back_exactly() {
        for (file, label) in [
            ("m.npy", TargetColumn::None),
            ("m.csv", TargetColumn::Named("id".into())),
            ("m.parquet", TargetColumn::Named("id".into())),
        ] {
            round_trip::<f64>(file, label.clone());
            round_trip::<f32>(file, label);
        }
    }

    #[test]
    fn csv_numbers_are_short() {
        let mut out = Vec::new();
        write_csv(&mut out, &["x".into()], Mat::from_fn(1, 3, |_, j| [1.0, 0.1, f64::NAN][j]).as_ref()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "id,c0,c1,c2\nx,1,0.1,NaN\n");
    }

    #[test]
    fn npy_data_is_aligned() {
        let mut out = Vec::new();
        write_npy(&mut out, Mat::<f32>::zeros(3, 2).as_ref()).unwrap();
        assert_eq!((out.len() - 24) % 64, 0);
    }

    #[test]
    fn other_extensions_and_sizes_are_refused() {
        let values = Mat::<f64>::zeros(1, 1);
        let error = write_matrix(Path::new("x.xlsx"), &["a".into()], values.as_ref()).unwrap_err().to_string();
        assert!(error.ends_with("must be a file ending in .npy, .csv or .parquet"), "{error}");
        let error = write_matrix(Path::new("x.csv"), &[], values.as_ref()).unwrap_err().to_string();
        assert_eq!(error, "the number of ids is 0 but must be 1");
    }
}

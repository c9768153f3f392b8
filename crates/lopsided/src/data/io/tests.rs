//! Files for the tests of all formats, and tests of the choice of format.

use super::*;
use std::io::Write;
use std::path::PathBuf;

/// A file in a folder of its own; the folder goes away with the first value.
pub(crate) fn scratch(name: &str, bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (dir, path)
}

/// The bytes gzipped.
pub(crate) fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// A zip file of arrays.
pub(crate) fn archive(names: &[&str], arrays: &[Vec<u8>]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in names.iter().zip(arrays) {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The samples with all zeros.
pub(crate) fn dense_rows<T: Scalar>(samples: &Samples<T>) -> Vec<Vec<f64>> {
    let full = samples.clone().into_dense();
    (0..full.nrows()).map(|i| (0..full.ncols()).map(|j| full[(i, j)].as_f64()).collect()).collect()
}

fn kind(name: &str, text: &str) -> &'static str {
    let (_dir, path) = scratch(name, text);
    match read::<f64>(&path, &ReadOptions::default()).unwrap() {
        Input::Graph(..) => "graph",
        Input::Table(Table { samples: Samples::Shared(_), .. }) => "dense",
        Input::Table(_) => "sparse",
    }
}

#[test]
fn format_names_round_trip() {
    for (format, name) in FORMATS {
        assert_eq!(format.to_string(), name);
        assert_eq!(name.parse::<Format>().unwrap(), format);
    }
    assert_eq!("LibSVM".parse::<Format>().unwrap(), Format::SvmLight);
    let error = "parket".parse::<Format>().unwrap_err().to_string();
    assert!(error.starts_with("no format `parket` (did you mean `parquet`?)"), "{error}");
}

#[test]
fn the_extension_and_the_first_line_choose_the_format() {
    assert_eq!(kind("e.csv", "source,target\na,b\n"), "graph");
    assert_eq!(kind("e.tsv", "0\t1\n"), "graph");
    assert_eq!(kind("e.txt", "ann bob\n"), "graph");
    assert_eq!(kind("t.csv", "x,y\n1,2\n"), "dense");
    assert_eq!(kind("t.csv", "1,2,3,4\n"), "dense");
    assert_eq!(kind("s.svm", "1 1:1\n"), "sparse");
    assert_eq!(kind("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n"), "sparse");
}

#[test]
fn unclear_formats_are_asked_for() {
    let list = "one of edges, csv, mtx, npy, npz, svmlight, parquet, arrow";
    let error = read::<f64>(Path::new("-"), &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error, format!("`format` is missing for standard input but must be {list}"));
    let (_dir, path) = scratch("x.dat", "1 2");
    let error = read::<f64>(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("x.dat") && error.ends_with(list), "{error}");
    let options = ReadOptions { format: Some(Format::Edges), ..ReadOptions::default() };
    assert!(matches!(read::<f64>(&path, &options).unwrap(), Input::Graph(..)));
}

#[test]
fn a_label_cannot_be_named_in_an_array() {
    let (_dir, path) = scratch("m.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    let options = ReadOptions { target: TargetColumn::Named("y".into()), ..ReadOptions::default() };
    let error = read::<f64>(&path, &options).unwrap_err().to_string();
    assert!(error.ends_with("has no named columns, so there is no label column `y`"), "{error}");
}

#[test]
fn missing_files_are_named() {
    let error = read::<f64>(Path::new("/nowhere/x.csv"), &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "/nowhere/x.csv: no such file or directory");
}

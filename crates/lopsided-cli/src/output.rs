//! Files to write: checked before the work, written whole after it.

use lopsided::io::write_matrix;
use lopsided::{Error, MatRef, Result, Scalar};
use std::path::{Path, PathBuf};

const MATRICES: [&str; 3] = ["npy", "csv", "parquet"];

/// Refuses a matrix file with an extension that nobody can write, and everything [`check`] refuses.
pub(crate) fn check_matrix(option: &'static str, path: &Path) -> Result<()> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !MATRICES.contains(&extension.as_str()) {
        return Err(Error::param(option, path.display(), "a file ending in .npy, .csv or .parquet"));
    }
    check(path)
}

/// Refuses a path that could not be written in the end, so that no work is lost.
pub(crate) fn check(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(Error::io(path, std::io::Error::other("is a directory")));
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Only an attempt tells: permissions, read-only file systems and quotas look different on every system.
    tempfile::Builder::new().prefix(".lopsided").tempfile_in(folder).map(drop).map_err(|e| Error::io(path, plain(e)))
}

/// The system's error without the name of the attempted file.
fn plain(error: std::io::Error) -> std::io::Error {
    match error.raw_os_error().or_else(|| inner_code(&error)) {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}

fn inner_code(error: &std::io::Error) -> Option<i32> {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) {
            return Some(io);
        }
        source = inner.source();
    }
    None
}

/// Refuses one path for two results.
pub(crate) fn check_distinct(paths: &[&PathBuf]) -> Result<()> {
    let twice = paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path));
    twice.map_or(Ok(()), |(_, path)| Err(Error::param("output", path.display(), "another file for each result")))
}

/// Writes one embedding with the names of its samples.
pub(crate) fn write<T: Scalar>(path: &Path, ids: &[String], values: MatRef<'_, T>) -> Result<()> {
    write_matrix(path, ids, values)
}

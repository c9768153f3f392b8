//! Files to write, checked before the work.

use lopsided::{Error, Result};
use std::path::Path;

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
    let attempt = tempfile::Builder::new().prefix(".lopsided").tempfile_in(folder);
    // The error names the attempted file; its kind alone says what is wrong with the folder.
    attempt.map(drop).map_err(|e| Error::io(path, e.kind().into()))
}

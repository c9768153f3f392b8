//! Files that are written whole or not at all.
//!
//! [`write_atomically`] is for writers that take a stream, [`replace_atomically`] for those that want a path. A reader
//! sees the old file or the new one, never half of either, because renaming is one step of the file system.
//! [`remove_unfinished`] is called by a process that is asked to end.

use crate::base::error::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Temporary files of this process that are neither renamed nor removed yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes `path` through a temporary file beside it that is renamed when `fill` succeeded.
///
/// A failure leaves whatever was at `path` before. Something that is not a regular file (a pipe, a terminal)
/// is written directly.
///
/// ```
/// use lopsided::Error;
/// use lopsided::base::file::write_atomically;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("notes.txt");
/// write_atomically(&path, |out| out.write_all(b"old").map_err(|e| Error::io("notes.txt", e)))?;
/// let failed = write_atomically(&path, |out| {
///     out.write_all(b"half of the new").ok();
///     Err(Error::Interrupted)
/// });
/// assert!(failed.is_err());
/// assert_eq!(std::fs::read(&path).unwrap(), b"old");
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// Those of `fill`; [`Error::Io`] for a folder at `path` or a disk that is full.
pub fn write_atomically(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    replace_atomically(path, |temporary| {
        let file = File::create(temporary).map_err(|e| Error::io(path, e))?;
        let mut writer = BufWriter::with_capacity(1 << 16, file);
        fill(&mut writer)?;
        writer.flush().map_err(|e| Error::io(path, e))
    })
}

/// Like [`write_atomically`] for writers that want a path: `write` gets the path of the temporary file.
///
/// 1. A path that is no regular file is written directly, a folder is refused.
/// 2. The temporary file is called `.NAME.PROCESS.tmp`, in the same folder so that renaming does not copy.
/// 3. Success renames it, failure removes it.
pub fn replace_atomically(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return write(path);
    }
    if path.is_dir() {
        return Err(Error::io(path, std::io::Error::other("is a directory")));
    }
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    remember(&temporary);
    let result = write(&temporary).and_then(|()| std::fs::rename(&temporary, path).map_err(|e| Error::io(path, e)));
    if result.is_err() {
        std::fs::remove_file(&temporary).ok();
    }
    forget(&temporary);
    result
}

/// Removes the temporary files of writes still under way: for a process about to be ended.
pub fn remove_unfinished() {
    if let Ok(paths) = UNFINISHED.lock() {
        for path in paths.iter() {
            std::fs::remove_file(path).ok();
        }
    }
}

fn remember(path: &Path) {
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.push(path.to_owned());
    }
}

fn forget(path: &Path) {
    if let Ok(mut paths) = UNFINISHED.lock() {
        paths.retain(|p| p != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_keeps_the_old_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.txt");
        std::fs::write(&path, "old").unwrap();
        let failed = write_atomically(&path, |w| {
            w.write_all(b"half").map_err(|e| Error::io("out.txt", e))?;
            Err(Error::Interrupted)
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = write_atomically(Path::new("/nowhere/at/all.npy"), |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere/at/all.npy: no such file or directory");
    }
}

//! Files that are written whole or not at all, and by one writer at a time.
//!
//! A reader sees the old file or the new one, never half of either, because renaming is one step of the file system:
//! [`write_atomically`]. What grows while others read it, such as the predictions of a stream, is claimed by its writer:
//! [`claim`]. [`remove_unfinished`] is called by a process that is asked to end.

use crate::base::error::{Error, Result};
use std::fs::{File, Metadata, OpenOptions, Permissions, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Temporary files and claims of this process that are neither renamed nor removed yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Letters that nobody can foresee in the name of a temporary file.
const LETTERS: usize = 12;
/// Letters of the final name in that of a temporary file: systems take names of 255 bytes.
const NAMED: usize = 50;
/// How the names of temporary files end.
const SUFFIX: &str = ".tmp";
/// Links that are followed from one to the next.
const LINKS: usize = 40;

/// Writes `path` through a temporary file beside it that is renamed when `fill` succeeded.
///
/// 1. A symbolic link is followed: the file it leads to is replaced, the link stays. Other names of the same file (hard
///    links) keep the old contents.
/// 2. Something that is not a regular file (a pipe, a terminal) is written directly; a folder is refused.
/// 3. The temporary file is called `.NAME.LETTERS.tmp`, in the same folder so that renaming does not copy. Its letters are
///    random, it is new, and it has the mode of the file that it will replace. Such files of writers that were killed are
///    removed first; those of writers at work are locked and left alone.
/// 4. Success brings it to the disk and renames it, failure removes it and leaves whatever was at `path` before.
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
    let failed = |e| Error::io(path, e);
    let target = followed(path).map_err(failed)?;
    let known = target.metadata().ok();
    match &known {
        Some(known) if known.is_dir() => return Err(failed(io::Error::other("is a directory"))),
        Some(known) if !known.is_file() => {
            let file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
            return fill_buffered(path, &file, fill);
        }
        _ => {}
    }
    remove_leftovers(&target);
    let temporary = Temporary::beside(&target, known.map(|known| known.permissions())).map_err(failed)?;
    fill_buffered(path, &temporary.file, fill)?;
    temporary.rename(&target).map_err(failed)
}

fn fill_buffered(path: &Path, file: &File, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    fill(&mut writer)?;
    writer.flush().map_err(|e| Error::io(path, e))
}

/// A locked file with a name that nobody can foresee; it is removed unless it is renamed.
struct Temporary {
    file: File,
    name: Remembered,
}

/// A name among those that are removed when the process is ended. With the value it is forgotten, and its file, if there is still
/// one, removed.
struct Remembered(PathBuf);

impl Drop for Remembered {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
        forget(&self.0);
    }
}

impl Temporary {
    fn beside(target: &Path, mode: Option<Permissions>) -> io::Result<Self> {
        let prefix = temporary_prefix(target);
        loop {
            let path = folder(target).join(format!("{prefix}{}{SUFFIX}", unforeseen()));
            let file = match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Err(taken) if taken.kind() == ErrorKind::AlreadyExists => continue,
                opened => opened?,
            };
            remember(&path);
            let temporary = Temporary { file, name: Remembered(path) };
            // Whoever cleans up may have been quicker than the lock. Where there are no locks nobody cleans up.
            temporary.file.lock().ok();
            if temporary.name.0.exists() {
                mode.map_or(Ok(()), |mode| temporary.file.set_permissions(mode))?;
                return Ok(temporary);
            }
        }
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.name.0, target)?;
        // The name is brought to the disk where the system allows it; the file itself is there.
        File::open(folder(target)).and_then(|folder| folder.sync_all()).ok();
        Ok(())
    }
}

/// Letters from the random keys that the system gives every hash table.
fn unforeseen() -> String {
    let number = RandomState::new().build_hasher().finish();
    format!("{number:016x}")[..LETTERS].into()
}

/// Removes temporary files for `target` whose writers are gone: nobody holds their lock.
fn remove_leftovers(target: &Path) {
    let prefix = temporary_prefix(target);
    let is_temporary = |name: &str| {
        let letters = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
        letters.is_some_and(|letters| letters.len() == LETTERS && letters.chars().all(char::is_alphanumeric))
    };
    let entries = std::fs::read_dir(folder(target)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
        let unlocked = |file: File| file.try_lock().is_ok().then_some(file);
        // Kept open until the name is gone, so that nobody locks it in between.
        if let Some(_held) = File::open(entry.path()).ok().and_then(unlocked) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// How the names of temporary files for `target` begin.
fn temporary_prefix(target: &Path) -> String {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!(".{}.", name.chars().take(NAMED).collect::<String>())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Where a path leads over symbolic links; the last of them may lead to nothing yet.
///
/// # Errors
/// [`ErrorKind::Other`] for links that lead to each other.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match place.read_link() {
            Ok(next) => place = folder(&place).join(next),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("symbolic links lead to each other"))
}

/// What tells a file from all others, whatever its names; none where the system does not say.
pub fn identity(file: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    return Some((std::os::unix::fs::MetadataExt::dev(file), std::os::unix::fs::MetadataExt::ino(file)));
    #[cfg(not(unix))]
    return file.is_file().then_some(()).and(None);
}

/// The right to be the only writer of a file; it ends with the value, or with the process.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Locked while it is open.
    _lock: File,
}

/// Claims a file that is going to be written little by little, by a locked file `.NAME.lock` beside it.
///
/// ```
/// use lopsided::base::file::claim;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("predictions.csv");
/// let mine = claim(&path)?;
/// assert!(claim(&path).unwrap_err().to_string().ends_with("is being written by another run"));
/// drop(mine);
/// assert!(claim(&path).is_ok());
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Io`] where another writer has it, or where no file can be made beside it.
pub fn claim(path: &Path) -> Result<Claim> {
    let failed = |e| Error::io(path, e);
    let target = followed(path).map_err(failed)?;
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let place = target.with_file_name(format!(".{name}.lock"));
    loop {
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&place).map_err(failed)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            return Err(failed(io::Error::new(ErrorKind::ResourceBusy, "is being written by another run")));
        }
        // Its owner may have removed it between opening and locking: then the name means another file, or none.
        let same = |there: Metadata| lock.metadata().is_ok_and(|here| identity(&here) == identity(&there));
        if place.metadata().is_ok_and(same) {
            remember(&place);
            return Ok(Claim { path: place, _lock: lock });
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
        forget(&self.path);
    }
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

    fn put(path: &Path, text: &str) -> Result<()> {
        write_atomically(path, |w| w.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = names.map(|f| f.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

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
        assert_eq!(names(dir.path()), ["out.txt"]);
        assert!(UNFINISHED.lock().unwrap().iter().all(|left| !left.starts_with(dir.path())));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = write_atomically(Path::new("/nowhere/at/all.npy"), |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "/nowhere/at/all.npy: no such file or directory");
    }

    #[test]
    fn writers_of_one_path_share_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model");
        let texts: Vec<String> = (0..8).map(|k| k.to_string().repeat(300_000)).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| (0..20).for_each(|_| put(&path, text).unwrap()));
            }
            for _ in 0..200 {
                let read = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(read.is_empty() || texts.contains(&read), "{} letters", read.len());
            }
        });
        assert_eq!(names(dir.path()), ["model"]);
    }

    #[test]
    fn leftovers_of_killed_writers_are_removed_and_those_at_work_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("m"), dir.path().join(".m.abcdefABCDEF.tmp"));
        let others = [".m.x.abcdefABCDEF.tmp", ".m.short.tmp", "m.abcdefABCDEF.tmp"];
        others.iter().for_each(|name| std::fs::write(dir.path().join(name), "").unwrap());
        std::fs::write(&old, "half").unwrap();
        let at_work = File::open(&old).unwrap();
        at_work.lock().unwrap();
        put(&path, "new").unwrap();
        assert!(old.exists());
        drop(at_work);
        put(&path, "newer").unwrap();
        assert!(!old.exists());
        assert_eq!(names(dir.path()).len(), 1 + others.len());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_modes_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name);
        std::fs::create_dir(place("far")).unwrap();
        std::fs::write(place("far/file"), "old").unwrap();
        std::fs::set_permissions(place("far/file"), Permissions::from_mode(0o640)).unwrap();
        symlink("far/file", place("link")).unwrap();
        symlink("link", place("link-to-link")).unwrap();
        put(&place("link-to-link"), "new").unwrap();
        assert!(place("link").is_symlink() && place("link-to-link").is_symlink());
        assert_eq!(std::fs::read_to_string(place("far/file")).unwrap(), "new");
        assert_eq!(place("far/file").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        symlink("far/made", place("to-nothing")).unwrap();
        put(&place("to-nothing"), "made").unwrap();
        assert_eq!(std::fs::read_to_string(place("far/made")).unwrap(), "made");
        // As anybody's new file.
        std::fs::write(place("plain"), "").unwrap();
        let mode = |name: &str| place(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode("far/made"), mode("plain"));
        symlink("circle", place("circle")).unwrap();
        assert!(put(&place("circle"), "").unwrap_err().to_string().ends_with("lead to each other"));
    }
}

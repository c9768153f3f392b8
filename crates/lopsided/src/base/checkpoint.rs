//! Long work that can be taken up again: what was found so far, in one file.
//!
//! A [`Checkpoint`] goes into a [`super::Run`]. Iterations hand it their state between two steps, searches the scores of each
//! held-out part; at most every few seconds all of it is written, whole or not at all. Work that is begun again with the same
//! settings and data takes back what it finds and ends with the same bits as work that was never interrupted.
//!
//! 1. States are filed under places: names that hold a fingerprint of everything that the state depends on. A state is
//!    therefore never taken for that of another computation, in whatever order the parts of the work run.
//! 2. The first computation that says whom the file belongs to ([`Checkpoint::belongs`]) decides whether it may be resumed:
//!    one of other settings, other data or another version is refused.
//! 3. The file ends with a fingerprint of all that is before it: a damaged one is refused.

use crate::base::error::{Error, Result};
use crate::base::file::{self, Claim};
use crate::base::memory;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How every checkpoint begins.
const MAGIC: &[u8; 8] = b"lopstate";
/// Time between two writes, unless told otherwise.
const EVERY: Duration = Duration::from_secs(10);
/// Writing may take at most one part in so many of the time.
const SHARE: u32 = 10;

/// Where long work leaves its state; the default leaves it nowhere. Clones share one file.
///
/// ```
/// use lopsided::base::checkpoint::Checkpoint;
/// use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, Side};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let file = folder.path().join("embedding.state");
/// let data = || Dataset::new(Samples::Dense(Mat::from_fn(30, 3, |i, j| ((i * 7 + j * 3) % 11) as f64)));
/// let run = Run { checkpoint: Checkpoint::open(&file, true)?, ..Run::default() }; // nothing there yet: begins anew
/// let model = KernelSvd::new("rbf").with_rank(3).fit(data(), &run)?;
/// assert_eq!(model.embedding(Side::Row), KernelSvd::new("rbf").with_rank(3).fit(data(), &Run::default())?.embedding(Side::Row));
/// run.checkpoint.remove()?; // the model is safe
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Checkpoint {
    shared: Option<Arc<Shared>>,
    /// Before the name of everything that is kept.
    place: String,
}

struct Shared {
    path: PathBuf,
    kept: Mutex<Kept>,
    /// No other run writes this file.
    _claim: Claim,
}

struct Kept {
    every: Duration,
    /// Whom the file belonged to that was read.
    found: Option<Owner>,
    /// Whom it belongs to.
    owner: Option<Owner>,
    parts: BTreeMap<String, Vec<u8>>,
    /// When the last write ended, and how long it took.
    saved: Instant,
    cost: Duration,
}

/// Whose states a file has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Owner {
    version: String,
    settings: Map<String, Value>,
    data: String,
}

/// What a file begins with, after its mark and the length of this as text.
#[derive(Serialize, Deserialize)]
struct Header {
    owner: Owner,
    /// Place and length of each part, in the order of the file.
    parts: Vec<(String, usize)>,
}

impl Checkpoint {
    /// A checkpoint in a file, which nobody else may write meanwhile. With `resume` what the file has is taken up; without, or
    /// where there is none, the work begins anew.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is damaged or no checkpoint; [`Error::Io`], also for one that another run writes;
    /// [`Error::Memory`].
    pub fn open(path: &Path, resume: bool) -> Result<Self> {
        let claim = file::claim(path)?;
        let mut kept = Kept {
            every: EVERY,
            found: None,
            owner: None,
            parts: BTreeMap::new(),
            saved: Instant::now(),
            cost: Duration::ZERO,
        };
        if resume && path.exists() {
            let (owner, parts) = read(path)?;
            (kept.found, kept.parts) = (Some(owner), parts);
        }
        let shared = Shared { path: path.into(), kept: Mutex::new(kept), _claim: claim };
        Ok(Checkpoint { shared: Some(Arc::new(shared)), place: String::new() })
    }

    /// The same, written at most once in so much time; 10 seconds unless told, and every state at once with none.
    pub fn with_every(self, every: Duration) -> Self {
        if let Some(shared) = &self.shared {
            shared.kept().every = every;
        }
        self
    }

    /// Whether anything is kept.
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// Says whose states these are: by the settings, and by a fingerprint of the data. The first who says so counts.
    ///
    /// # Errors
    /// [`Error::Archive`] where the file that is resumed belongs to other settings or data.
    pub fn belongs(&self, settings: impl FnOnce() -> Map<String, Value>, data: impl FnOnce() -> u64) -> Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        if shared.kept().owner.is_some() {
            return Ok(());
        }
        let version = env!("CARGO_PKG_VERSION").to_string();
        let owner = Owner { version, settings: settings(), data: format!("{:016x}", data()) };
        let mut kept = shared.kept();
        if let Some(difference) = kept.found.as_ref().and_then(|found| found.difference(&owner)) {
            let reason = format!("is the checkpoint of other work: {difference}; without `resume` it is begun anew");
            return Err(Error::Archive { path: shared.path.display().to_string(), reason });
        }
        kept.owner.get_or_insert(owner);
        Ok(())
    }

    /// The same file for a part of the work: its states are filed under this name.
    pub(crate) fn within(&self, name: impl Display) -> Self {
        let place = if self.is_on() { format!("{}{name}/", self.place) } else { String::new() };
        Checkpoint { shared: self.shared.clone(), place }
    }

    /// What was kept under a name, or found in the file.
    pub(crate) fn find(&self, name: &str) -> Option<Vec<u8>> {
        self.shared.as_ref()?.kept().parts.get(&format!("{}{name}", self.place)).cloned()
    }

    /// Whether it is time to write.
    pub(crate) fn is_due(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.kept().is_due())
    }

    /// Keeps a state under a name, and writes the file if it is time.
    pub(crate) fn keep(&self, name: &str, state: Vec<u8>) -> Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let mut kept = shared.kept();
        memory::check("the checkpoint", state.len() as u64, "go on without a checkpoint")?;
        kept.parts.insert(format!("{}{name}", self.place), state);
        if kept.is_due() { kept.save(&shared.path) } else { Ok(()) }
    }

    /// Forgets all that is filed under a name and a slash: the parts of something that is finished.
    pub(crate) fn forget_within(&self, name: &str) {
        if let Some(shared) = &self.shared {
            let place = format!("{}{name}/", self.place);
            shared.kept().parts.retain(|other, _| !other.starts_with(&place));
        }
    }

    /// Removes the file: the work is done and its results are safe.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that cannot be removed.
    pub fn remove(&self) -> Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        shared.kept().parts.clear();
        match std::fs::remove_file(&shared.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&shared.path, error)),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.shared.as_ref().map(|shared| &shared.path);
        f.debug_struct("Checkpoint").field("file", &file).finish_non_exhaustive()
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Files of nobody are not written: nobody could tell whether they may be resumed.
    fn is_due(&self) -> bool {
        let due = || self.every.is_zero() || self.saved.elapsed() >= self.every.max(self.cost * SHARE);
        self.owner.is_some() && due()
    }

    fn save(&mut self, path: &Path) -> Result<()> {
        let Some(owner) = self.owner.clone() else { return Ok(()) };
        let start = Instant::now();
        let parts = self.parts.iter().map(|(place, state)| (place.clone(), state.len())).collect();
        let header = serde_json::to_string(&Header { owner, parts });
        let header = header.map_err(|e| Error::io(path, std::io::Error::other(e)))?;
        file::write_atomically(path, |out| {
            let mut print = Fingerprint::default();
            let mut write = |bytes: &[u8]| {
                print.bytes(bytes);
                out.write_all(bytes).map_err(|e| Error::io(path, e))
            };
            write(MAGIC)?;
            write(&(header.len() as u64).to_le_bytes())?;
            write(header.as_bytes())?;
            self.parts.values().try_for_each(|state| write(state))?;
            out.write_all(&print.value().to_le_bytes()).map_err(|e| Error::io(path, e))
        })?;
        (self.saved, self.cost) = (Instant::now(), start.elapsed());
        Ok(())
    }
}

impl Owner {
    /// What tells this owner from another, in words.
    fn difference(&self, now: &Owner) -> Option<String> {
        if self.version != now.version {
            return Some(format!("it was made by version {} of lopsided, this is {}", self.version, now.version));
        }
        let all: std::collections::BTreeSet<&String> = self.settings.keys().chain(now.settings.keys()).collect();
        let word = |settings: &Map<String, Value>, name: &str| {
            settings.get(name).map_or("not given".to_string(), |value| match value {
                Value::String(word) => word.clone(),
                other => other.to_string(),
            })
        };
        let of = |name: &&String| (word(&self.settings, name), word(&now.settings, name));
        if let Some(name) = all.into_iter().find(|name| of(name).0 != of(name).1) {
            let (before, after) = of(&name);
            return Some(format!("`{name}` was {before} and is {after}"));
        }
        (self.data != now.data).then(|| "the data are others".into())
    }
}

/// The owner and the parts of a file, of which nothing is believed before its fingerprint was compared.
fn read(path: &Path) -> Result<(Owner, BTreeMap<String, Vec<u8>>)> {
    let damaged = |reason: &str| Error::Archive { path: path.display().to_string(), reason: reason.into() };
    let length = path.metadata().map_err(|e| Error::io(path, e))?.len();
    memory::check("the checkpoint", length.saturating_mul(2), "begin anew, without `resume`")?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    if !bytes.starts_with(MAGIC) {
        return Err(damaged("is no checkpoint"));
    }
    let broken = || damaged("is a damaged checkpoint; without `resume` the work is begun anew");
    let (bytes, print) = bytes.split_last_chunk::<8>().filter(|(rest, _)| rest.len() >= 16).ok_or_else(broken)?;
    let mut known = Fingerprint::default();
    let (start, rest) = bytes.split_at(16);
    let length = u64::from_le_bytes(*start.last_chunk().ok_or_else(broken)?);
    let (header, mut rest) =
        usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length)).ok_or_else(broken)?;
    let Header { owner, parts } = serde_json::from_slice(header).map_err(|_| broken())?;
    [&start[..8], &start[8..], header].into_iter().for_each(|piece| known.bytes(piece));
    let mut found = BTreeMap::new();
    for (place, length) in parts {
        let (state, after) = rest.split_at_checked(length).ok_or_else(broken)?;
        known.bytes(state);
        found.insert(place, state.to_vec());
        rest = after;
    }
    let whole = rest.is_empty() && known.value() == u64::from_le_bytes(*print);
    if whole { Ok((owner, found)) } else { Err(broken()) }
}

/// A number that tells contents apart: equal contents have equal ones, others by all likelihood not. No defence against somebody who
/// wants two contents to look alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Goes on with a number.
    pub(crate) fn word(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (mixed ^ (mixed >> 29)).rotate_left(23);
    }

    /// Goes on with some bytes and how many they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    /// Goes on with what Debug says of something.
    pub(crate) fn debug(&mut self, thing: &dyn fmt::Debug) {
        // Writing into a fingerprint does not fail.
        let _ = fmt::write(self, format_args!("{thing:?}"));
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

impl fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes(text.as_bytes());
        Ok(())
    }
}

impl Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(rank: u64) -> Map<String, Value> {
        Map::from_iter([("rank".to_string(), rank.into()), ("kernel".to_string(), "rbf".into())])
    }

    fn opened(path: &Path, resume: bool) -> Checkpoint {
        Checkpoint::open(path, resume).unwrap().with_every(Duration::ZERO)
    }

    /// A checkpoint with one state, written and left.
    fn left(path: &Path, state: Vec<u8>) {
        let mine = opened(path, false);
        mine.belongs(|| owner(3), || 7).unwrap();
        mine.keep("a", state).unwrap();
    }

    #[test]
    fn states_come_back_where_they_were_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let first = opened(&path, false);
        first.keep("early", vec![9]).unwrap();
        assert!(!path.exists(), "nobody's states are not written");
        first.belongs(|| owner(3), || 7).unwrap();
        let (fold, other) = (first.within("fold 1"), first.within("fold 2"));
        fold.keep("scores", vec![1, 2, 3]).unwrap();
        fold.within("svd").keep("lanczos", vec![4; 1000]).unwrap();
        other.keep("scores", Vec::new()).unwrap();
        first.forget_within("fold 1/svd");
        first.keep("last", vec![5]).unwrap();
        assert!(Checkpoint::open(&path, true).unwrap_err().to_string().ends_with("is being written by another run"));
        drop((first, fold, other));
        let again = opened(&path, true);
        again.belongs(|| owner(3), || 7).unwrap();
        assert_eq!(again.within("fold 1").find("scores"), Some(vec![1, 2, 3]));
        assert_eq!(again.within("fold 1/svd").find("lanczos"), None);
        assert_eq!((again.within("fold 2").find("scores"), again.find("early")), (Some(Vec::new()), Some(vec![9])));
        again.remove().unwrap();
        assert_eq!((again.find("last"), path.exists()), (None, false));
        assert_eq!(Checkpoint::default().find("last"), None);
    }

    #[test]
    fn the_work_of_others_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        left(&path, vec![1]);
        let refused = |settings: Map<String, Value>, data: u64| {
            let again = opened(&path, true);
            again.belongs(|| settings, || data).unwrap_err().to_string()
        };
        assert!(refused(owner(4), 7).contains("`rank` was 3 and is 4"));
        assert!(refused(owner(3), 8).contains("the data are others"));
        let more = owner(3).into_iter().chain([("tol".to_string(), 0.1.into())]).collect();
        assert!(refused(more, 7).contains("`tol` was not given and is 0.1"));
        // Without resuming it is begun anew.
        let anew = opened(&path, false);
        anew.belongs(|| owner(4), || 7).unwrap();
        assert_eq!(anew.find("a"), None);
    }

    #[test]
    fn damage_is_seen_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        left(&path, (0..100).collect());
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).unwrap();
            let said = Checkpoint::open(&path, true).unwrap_err().to_string();
            assert!(said.contains(if at < 8 { "is no checkpoint" } else { "is a damaged checkpoint" }), "{at}: {said}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(Checkpoint::open(&path, true).is_err(), "{at}");
        }
        std::fs::write(&path, [&whole[..], &[0]].concat()).unwrap();
        assert!(Checkpoint::open(&path, true).is_err());
    }
}

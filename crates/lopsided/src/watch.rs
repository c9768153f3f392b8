//! Watching and stopping long work.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How far a piece of work is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is being done, in a few words.
    pub stage: &'static str,
    /// Steps done.
    pub done: u64,
    /// Steps in all, 0 when nobody knows.
    pub total: u64,
    /// The current residual of an iterative solver.
    pub residual: Option<f64>,
}

type Callback = dyn Fn(Progress) + Send + Sync;

/// A handle shared between long work and whoever waits for it: progress comes out, a wish to stop goes in.
///
/// ```
/// let watch = lopsided::Watch::default();
/// watch.cancel();
/// assert!(watch.check().is_err());
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    callback: Option<Arc<Callback>>,
}

impl Watch {
    /// A watch that reports progress to `callback`.
    pub fn with_callback(callback: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Watch { cancelled: Arc::default(), callback: Some(Arc::new(callback)) }
    }

    /// A watch that hears of the same cancellation and reports no progress: for parts of a larger piece of work.
    pub fn silent(&self) -> Self {
        Watch { cancelled: self.cancelled.clone(), callback: None }
    }

    /// Asks the work to stop; it ends with [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// [`Error::Interrupted`] once [`Watch::cancel`] was called.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Reports progress and checks for cancellation.
    pub fn report(&self, progress: Progress) -> Result<()> {
        if let Some(callback) = &self.callback {
            callback(progress);
        }
        self.check()
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

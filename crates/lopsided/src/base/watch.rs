//! Watching and stopping long work.
//!
//! Work calls [`Watch::report`] between its steps; whoever waits holds a clone, reads [`Watch::work`] or calls
//! [`Watch::cancel`] from another thread. Clones share one state.

use crate::base::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

/// Work done so far, in numbers that depend on the problem and not on the machine.
///
/// Two methods are compared by these counts where clocks would compare machines.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Mat, Samples, Watch};
///
/// let x = Samples::Dense(Mat::from_fn(6, 2, |i, j| (i + j) as f64));
/// let (kernel, watch) = (KernelSpec::new("rbf").with("gamma", 0.1).build::<f64>()?, Watch::default());
/// let matrix = KernelMatrix { watch: watch.clone(), ..KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()) };
/// matrix.build()?.operator.apply(Mat::zeros(6, 3).as_ref(), Mat::zeros(6, 3).as_mut())?;
/// assert_eq!((watch.work().products, watch.work().entries), (3, 0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Kernel values evaluated.
    pub evaluations: u64,
    /// Products of a kernel matrix, or its transpose, with one vector.
    pub products: u64,
    /// Entries of a kernel matrix that were asked for in blocks.
    pub entries: u64,
}

#[derive(Default)]
struct Counters {
    evaluations: AtomicU64,
    products: AtomicU64,
    entries: AtomicU64,
}

type Callback = dyn Fn(Progress) + Send + Sync;

/// A handle shared between long work and whoever waits for it: progress comes out, a wish to stop goes in. It
/// also counts the work with kernel matrices.
///
/// ```
/// let watch = lopsided::Watch::default();
/// watch.cancel();
/// assert!(watch.check().is_err());
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    cancelled: Arc<AtomicBool>,
    counters: Arc<Counters>,
    callback: Option<Arc<Callback>>,
}

impl Watch {
    /// A watch that reports progress to `callback`.
    ///
    /// The callback is called by the thread that works, between two steps, and should return quickly.
    ///
    /// ```
    /// use lopsided::{Progress, Watch};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let log = Arc::clone(&seen);
    /// let watch = Watch::with_callback(move |progress| log.lock().unwrap().push(progress.done));
    /// for done in [1, 2, 3] {
    ///     watch.report(Progress { stage: "counting", done, total: 3, residual: None })?;
    /// }
    /// assert_eq!(*seen.lock().unwrap(), [1, 2, 3]);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn with_callback(callback: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Watch { callback: Some(Arc::new(callback)), ..Watch::default() }
    }

    /// A watch that hears of the same cancellation, counts together with this one and reports no progress: for parts of a
    /// larger piece of work.
    ///
    /// ```
    /// let watch = lopsided::Watch::default();
    /// let part = watch.silent();
    /// watch.cancel();
    /// assert!(part.check().is_err());
    /// ```
    pub fn silent(&self) -> Self {
        Watch { callback: None, ..self.clone() }
    }

    /// Asks the work to stop; it ends with [`Error::Interrupted`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// [`Error::Interrupted`] once [`Watch::cancel`] was called.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The work that this watch and its copies have seen.
    pub fn work(&self) -> Work {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counters { evaluations, products, entries } = &*self.counters;
        Work { evaluations: of(evaluations), products: of(products), entries: of(entries) }
    }

    /// Counts kernel values that are about to be evaluated and checks for cancellation.
    pub(crate) fn evaluating(&self, values: usize) -> Result<()> {
        self.counters.evaluations.fetch_add(values as u64, Ordering::Relaxed);
        self.check()
    }

    /// Counts a product with so many vectors.
    pub(crate) fn multiplying(&self, vectors: usize) {
        self.counters.products.fetch_add(vectors as u64, Ordering::Relaxed);
    }

    /// Counts entries of a block.
    pub(crate) fn reading(&self, entries: usize) {
        self.counters.entries.fetch_add(entries as u64, Ordering::Relaxed);
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

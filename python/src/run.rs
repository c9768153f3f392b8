//! One door for all work: without the interpreter lock, on threads of our own, and with an ear for Ctrl-C.

use crate::data::Given;
use crate::error::exception;
use lopsided::base::checkpoint;
use lopsided::base::device::Device;
use lopsided::{Progress, Result, Run, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Between two looks for signals and progress.
const TICK: Duration = Duration::from_millis(50);
/// How long cancelled work has to end; later it ends unheard.
const PATIENCE: Duration = Duration::from_millis(500);
/// As much stack as a main thread has.
const STACK: usize = 8 << 20;

type Answer<R> = std::thread::Result<Result<R>>;
type Latest = Arc<Mutex<Option<Progress>>>;

/// The threads and the process they belong to: a forked child has none of its parent's threads. Only whoever holds the
/// interpreter lock, as whoever forks does, holds this one, so that no child finds it closed.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// What a run starts from: a seed, and where products are computed if that was said.
#[derive(Clone, Copy, Default)]
pub(crate) struct Start {
    seed: u64,
    device: Device,
    fast: bool,
}

impl From<u64> for Start {
    fn from(seed: u64) -> Self {
        Start { seed, ..Start::default() }
    }
}

impl Start {
    /// On the device that was given, which must be there.
    pub(crate) fn of(seed: u64, given: &Given<'_>) -> PyResult<Self> {
        let device = given.device.as_deref().map_or(Ok(Device::Auto), str::parse).map_err(exception)?;
        device.check().map_err(exception)?;
        Ok(Start { seed, device, fast: given.fast })
    }
}

/// The result of some work; `progress` hears `(stage, done, total, residual)` now and then.
pub(crate) fn run<R: Send + 'static>(
    py: Python<'_>,
    start: impl Into<Start>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Run) -> Result<R> + Send + 'static,
) -> PyResult<R> {
    let latest = Latest::default();
    let watch = if progress.is_some() { listening(&latest) } else { Watch::default() };
    let Start { seed, device, fast } = start.into();
    let run = Run { seed, watch: watch.clone(), checkpoint: current(), device, fast };
    let (sender, mut receiver) = channel::<Answer<R>>();
    pool()?.spawn(move || {
        // Nobody listens any more after an interrupt.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(|| work(&run))));
    });
    loop {
        let answer;
        (answer, receiver) = py.detach(move || wait(receiver, TICK));
        match answer {
            Ok(answer) => return finished(answer),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the work ended without a result"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals().and_then(|()| tell(progress, &latest)) {
            watch.cancel();
            py.detach(move || drop(wait(receiver, PATIENCE)));
            return Err(signal);
        }
    }
}

thread_local! {
    /// Where the fits of this thread leave their states, the innermost last.
    static CURRENT: RefCell<Vec<checkpoint::Checkpoint>> = const { RefCell::new(Vec::new()) };
}

fn current() -> checkpoint::Checkpoint {
    CURRENT.with_borrow(|all| all.last().cloned().unwrap_or_default())
}

/// A file for the states of the fits between [`Checkpoint::enter`] and [`Checkpoint::leave`] of one thread.
/// Given back when it is left, whoever still holds this.
#[pyclass(frozen)]
pub(crate) struct Checkpoint(Mutex<Option<checkpoint::Checkpoint>>);

#[pymethods]
impl Checkpoint {
    #[new]
    fn open(path: PathBuf, resume: bool, every: f64) -> PyResult<Self> {
        let allowed = "a number of seconds of at least 0";
        let every = Duration::try_from_secs_f64(every).map_err(|_| lopsided::Error::param("every", every, allowed));
        let opened = every.and_then(|every| Ok(checkpoint::Checkpoint::open(&path, resume)?.with_every(every)));
        opened.map(|opened| Checkpoint(Mutex::new(Some(opened)))).map_err(exception)
    }

    fn enter(&self) {
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
        CURRENT.with_borrow_mut(|all| all.push(opened));
    }

    /// With `done` the file is removed.
    fn leave(&self, done: bool) -> PyResult<()> {
        CURRENT.with_borrow_mut(Vec::pop);
        let opened = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let opened = opened.filter(|_| done);
        opened.map_or(Ok(()), |opened| opened.remove()).map_err(exception)
    }
}

fn wait<R>(receiver: Receiver<R>, time: Duration) -> (std::result::Result<R, RecvTimeoutError>, Receiver<R>) {
    (receiver.recv_timeout(time), receiver)
}

fn finished<R>(answer: Answer<R>) -> PyResult<R> {
    match answer {
        Ok(result) => result.map_err(exception),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
            Err(PyRuntimeError::new_err(format!("a bug in lopsided, please report it: {text}")))
        }
    }
}

fn listening(latest: &Latest) -> Watch {
    let latest = Arc::clone(latest);
    Watch::with_callback(move |progress| *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress))
}

fn tell(progress: Option<&Bound<'_, PyAny>>, latest: &Latest) -> PyResult<()> {
    let news = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (Some(progress), Some(news)) = (progress, news) else { return Ok(()) };
    progress.call1((news.stage, news.done, news.total, news.residual)).map(|_| ())
}

/// The result of some work that takes no longer than copying does: on our threads as well, which a forked child has of its own,
/// and never on those of the whole process, of which it has none.
pub(crate) fn briefly<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<R> + Send) -> PyResult<R> {
    let pool = pool()?;
    py.detach(|| pool.install(work)).map_err(exception)
}

/// How many threads this process has; 0: as many as there are cores, or as the environment says.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Work that begins from now on has so many threads; with 0 it has those that there are.
pub(crate) fn use_threads(count: usize) -> PyResult<()> {
    if count > 0 && THREADS.swap(count, Ordering::Relaxed) != count {
        pool()?;
    }
    Ok(())
}

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (process, count) = (std::process::id(), THREADS.load(Ordering::Relaxed));
    match &*slot {
        Some((owner, pool)) if *owner == process && (count == 0 || pool.current_num_threads() == count) => {
            return Ok(Arc::clone(pool));
        }
        _ => {}
    }
    let pool = ThreadPoolBuilder::new().num_threads(count).stack_size(STACK).build();
    let pool = Arc::new(pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    // The threads of a parent process cannot be told to end.
    std::mem::forget(slot.replace((process, Arc::clone(&pool))));
    Ok(pool)
}

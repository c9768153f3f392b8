//! What every command works with.

use crate::args::{Global, Precision};
use crate::progress::Line;
use crate::{interrupt, talk, terminal};
use lopsided::base::memory;
use lopsided::{Error, Result, Run};
use rayon::{ThreadPool, ThreadPoolBuilder};
use serde::Serialize;
use std::time::Instant;

/// The general options, ready for use.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) run: Run,
    pub(crate) line: Line,
    /// All work is done by these threads.
    pub(crate) pool: ThreadPool,
    pub(crate) start: Instant,
}

impl Context {
    /// Sets up threads, progress and Ctrl-C.
    pub(crate) fn new(global: &Global) -> Result<Self> {
        memory::allow(global.memory.unwrap_or(0));
        global.device.check()?;
        let pool = threads(global.threads)?;
        let line = Line::new(global.quiet);
        let (device, fast) = (global.device, global.precision == Precision::Fast);
        let run = Run { seed: global.seed, watch: line.watch(), device, fast, ..Run::default() };
        interrupt::cancels(&run.watch);
        Ok(Context { global: global.clone(), run, line, pool, start: Instant::now() })
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Prints a result as one JSON object or, for people, in lines of a label and a value.
    pub(crate) fn say(&self, result: &impl Serialize, lines: &[(&'static str, String)]) -> Result<()> {
        if self.global.json { talk::json(result) } else { talk::print(&terminal::aligned(lines)) }
    }

    /// Remarks on stderr, unless they are not wanted.
    pub(crate) fn notes(&self, notes: &[String]) {
        for note in notes.iter().filter(|_| !self.global.quiet) {
            talk::remark(&format!("{} {note}", terminal::note()));
        }
    }
}

/// A function of the samples' type, in the precision that is asked for.
macro_rules! in_precision {
    ($context:ident, $job:ident($($argument:ident),*)) => {
        match $context.global.precision {
            crate::args::Precision::F64 => $job::<f64>($($argument),*),
            crate::args::Precision::F32 | crate::args::Precision::Fast => $job::<f32>($($argument),*),
        }
    };
}
pub(crate) use in_precision;

/// More threads than any machine of today has cores.
const MOST_THREADS: usize = 1024;
/// As much stack as a main thread has.
const STACK: usize = 8 << 20;

/// Starts the threads. Where the system does not give as many as it has cores, because memory or processes are limited, fewer do.
fn threads(asked: Option<usize>) -> Result<ThreadPool> {
    let refused = |allowed: String| Error::param("threads", asked.unwrap_or(1), allowed);
    if asked.is_some_and(|threads| !(1..=MOST_THREADS).contains(&threads)) {
        return Err(refused(format!("between 1 and {MOST_THREADS}")));
    }
    // 0: as many as there are cores, or as the environment says.
    let mut count = asked.unwrap_or(0);
    loop {
        match ThreadPoolBuilder::new().num_threads(count).stack_size(STACK).build() {
            Ok(pool) => return Ok(pool),
            Err(error) if asked.is_some() || count == 1 => {
                return Err(refused(format!("as many as the system gives ({error})")));
            }
            Err(_) if count == 0 => count = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2)),
            Err(_) => count /= 2,
        }
    }
}

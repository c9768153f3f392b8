//! What every command works with.

use crate::args::Global;
use crate::progress::Line;
use crate::{interrupt, talk};
use lopsided::{Error, Result, Run};
use std::time::Instant;

/// The general options, ready for use.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) run: Run,
    pub(crate) line: Line,
    pub(crate) start: Instant,
}

impl Context {
    /// Sets up threads, progress and Ctrl-C.
    pub(crate) fn new(global: &Global) -> Result<Self> {
        set_threads(global.threads)?;
        let line = Line::new(global.quiet);
        let run = Run { seed: global.seed, watch: line.watch() };
        interrupt::cancel_on_ctrl_c(run.watch.clone());
        Ok(Context { global: global.clone(), run, line, start: Instant::now() })
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Remarks on stderr, unless they are not wanted.
    pub(crate) fn notes(&self, notes: &[String]) {
        for note in notes.iter().filter(|_| !self.global.quiet) {
            talk::remark(&format!("note: {note}"));
        }
    }
}

fn set_threads(threads: Option<usize>) -> Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let refused = || Error::param("threads", threads, "at least 1");
    if threads == 0 {
        return Err(refused());
    }
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(|_| refused())
}

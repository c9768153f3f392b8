//! `--dry-run` of commands that use a model or read a stream: what the whole would cost, by a part of it that is done and
//! thrown away, or by the passes it takes.

use crate::context::Context;
use crate::memory;
use lopsided::Result;
use lopsided::base::error::bytes;
use lopsided::base::memory::{available_memory, check};
use serde::Serialize;
use std::time::Instant;

/// Samples that are placed or predicted to see how long all take.
const PART: usize = 256;
/// Bytes of a number that is computed, and of the same as text while it is written.
const WRITTEN: u64 = 40;

/// What is planned. The fields are those of `--dry-run --json`.
#[derive(Serialize)]
pub(super) struct Forecast {
    #[serde(rename = "dry_run")]
    only_planned: bool,
    /// Samples, rows or trials.
    n: u64,
    /// Bytes of the process at its peak.
    bytes: u64,
    /// Seconds with those that reading takes.
    seconds: f64,
    /// Bytes that may be used.
    memory: u64,
    notes: Vec<String>,
}

impl Forecast {
    /// So many samples, bytes and seconds.
    pub(super) fn new(n: u64, bytes: u64, seconds: f64, notes: Vec<String>) -> Self {
        Forecast { only_planned: true, n, bytes, seconds, memory: available_memory(), notes }
    }

    /// What `work` takes for `n` samples, of which it does the first few for a try, and numbers each has in the result.
    pub(super) fn tried(
        n: usize,
        notes: Vec<String>,
        context: &Context,
        work: impl FnOnce(&[usize]) -> Result<usize>,
    ) -> Result<Self> {
        let rows: Vec<usize> = (0..n.min(PART)).collect();
        let (read, start) = (context.seconds(), Instant::now());
        let width = work(&rows)?;
        let share = n as f64 / rows.len().max(1) as f64;
        let seconds = read + start.elapsed().as_secs_f64() * share;
        Ok(Forecast::new(n as u64, held(n, width), seconds, notes))
    }

    /// This one and one before it, whose seconds it has already waited for in part.
    pub(super) fn after(self, before: Option<Forecast>) -> Self {
        let Some(before) = before else { return self };
        let (n, bytes) = (self.n + before.n, self.bytes.max(before.bytes));
        let notes = [before.notes, self.notes].concat();
        Forecast::new(n, bytes, before.seconds + self.seconds, notes)
    }

    /// Prints it as text or JSON.
    pub(super) fn show(&self, what: &'static str, context: &Context) -> Result<()> {
        context.line.clear();
        context.notes(&self.notes);
        context.say(self, &self.lines(what))
    }

    fn lines(&self, what: &'static str) -> Vec<(&'static str, String)> {
        let fits = if self.bytes <= self.memory { "" } else { ": too much, the run would be refused" };
        vec![
            (what, self.n.to_string()),
            ("memory", format!("about {} of {} allowed{fits}", bytes(self.bytes), bytes(self.memory))),
            ("time", format!("roughly {}", super::embed::summary::duration(self.seconds))),
        ]
    }
}

/// Bytes of the process with a result of so many rows and columns.
fn held(n: usize, width: usize) -> u64 {
    memory::peak_bytes().unwrap_or(0).saturating_add(WRITTEN * n as u64 * width.max(1) as u64)
}

/// Refuses a result that would take more memory than is allowed.
pub(super) fn check_result(what: &str, n: usize, width: usize) -> Result<()> {
    check(what, held(n, width), "take fewer rows at a time, or allow more memory (memory)")
}

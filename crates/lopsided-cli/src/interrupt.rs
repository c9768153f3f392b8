//! Ctrl-C and requests to end: the work is asked to stop, and ended if it does not.

use crate::{failure, talk};
use lopsided::Watch;
use lopsided::base::file;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the work has to end by itself. Factorisations of large matrices do not listen, and giving back gigabytes takes
/// time as well: both together stay below a second.
const PATIENCE: Duration = Duration::from_millis(250);

/// What hears of it, once there is any work.
static WORK: OnceLock<Watch> = OnceLock::new();

/// From now on an interrupt ends the process with code 130: at once while there is no work, else as [`cancels`] says.
pub(crate) fn listen() {
    let again = AtomicBool::new(false);
    let handler = move || {
        let Some(watch) = WORK.get() else { return end() };
        watch.cancel();
        if again.swap(true, Ordering::Relaxed) {
            end();
        }
        let late = || {
            std::thread::sleep(PATIENCE);
            end();
        };
        if std::thread::Builder::new().spawn(late).is_err() {
            end();
        }
    };
    // Without a handler Ctrl-C ends the process at once, which is safe as well: files appear when they are complete.
    let _ = ctrlc::set_handler(handler);
}

/// From now on the first interrupt cancels `watch`; a second one, or no end within a moment, ends the process.
pub(crate) fn cancels(watch: &Watch) {
    let _ = WORK.set(watch.clone());
}

#[expect(clippy::exit, reason = "the work does not listen, so there is nothing to return to")]
fn end() {
    file::remove_unfinished();
    talk::remark("interrupted");
    std::process::exit(failure::INTERRUPTED.into());
}

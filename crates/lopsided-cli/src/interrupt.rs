//! Ctrl-C: the work is asked to stop, and ended if it does not.

use crate::{failure, talk};
use lopsided::Watch;
use lopsided::base::file;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the work has to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// From now on Ctrl-C cancels `watch`; a second one, or no end within two seconds, ends the process.
pub(crate) fn cancel_on_ctrl_c(watch: Watch) {
    let again = AtomicBool::new(false);
    let handler = move || {
        watch.cancel();
        if again.swap(true, Ordering::Relaxed) {
            end();
        }
        std::thread::spawn(|| {
            std::thread::sleep(PATIENCE);
            end();
        });
    };
    // Without a handler Ctrl-C ends the process at once, which is safe as well: files appear when they are complete.
    let _ = ctrlc::set_handler(handler);
}

#[expect(clippy::exit, reason = "the work does not listen, so there is nothing to return to")]
fn end() {
    file::remove_unfinished();
    talk::remark("interrupted");
    std::process::exit(failure::INTERRUPTED.into());
}

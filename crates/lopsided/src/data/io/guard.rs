//! A fence around readers of other crates that may panic on damaged files.
//!
//! The readers of Parquet and Arrow check much but not all of what a file may hold. A user of a damaged file gets an
//! error that names it, as for every other format.

use crate::base::error::{Error, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static QUIET: Once = Once::new();

/// Runs `work`; a panic in it becomes an error about the file and is not reported on the terminal.
pub(super) fn guarded<R>(name: &str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    QUIET.call_once(quiet);
    GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(Error::parse(name, "is damaged")))
}

/// Puts a hook before the present one that keeps silent on threads with a guarded reader.
fn quiet() {
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        if !GUARDED.get() {
            report(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let error = guarded("x.arrow", || -> Result<()> { panic!("not shown") }).unwrap_err();
        assert_eq!(error.to_string(), "x.arrow: is damaged");
        assert_eq!(guarded("x.arrow", || Ok(1)).unwrap(), 1);
    }
}

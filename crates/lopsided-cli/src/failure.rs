//! How a failure is told: one line, then a hint where there is something to do.

use crate::talk;
use lopsided::Error;
use std::fmt;
use std::process::ExitCode;

/// Exit code of wrong usage or input.
pub(crate) const USAGE: u8 = 2;
/// Exit code after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// An error with something the user can do about it.
#[derive(Debug)]
struct Hinted {
    error: Error,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Hinted {}

/// Adds a hint to an error.
pub(crate) fn hinted(error: Error, hint: impl Into<String>) -> anyhow::Error {
    Hinted { error, hint: hint.into() }.into()
}

/// Prints the error and says which exit code it has.
pub(crate) fn tell(error: &anyhow::Error) -> ExitCode {
    let cause = error.chain().find_map(|e| e.downcast_ref::<Error>());
    if matches!(cause, Some(Error::Interrupted)) {
        talk::remark("interrupted");
        return ExitCode::from(INTERRUPTED);
    }
    // A file's contents may carry line breaks into a message.
    talk::remark(&format!("error: {error}").replace(['\n', '\r'], " "));
    let given = error.chain().find_map(|e| e.downcast_ref::<Hinted>()).map(|h| h.hint.clone());
    if let Some(hint) = given.or_else(|| cause.and_then(usual_hint)) {
        talk::remark(&format!("\nhint: {hint}"));
    }
    ExitCode::from(USAGE)
}

fn usual_hint(error: &Error) -> Option<String> {
    match error {
        Error::Unknown { kind: kind @ ("kernel" | "solver" | "learner"), .. } => {
            Some(format!("`lopsided list {kind}s` explains each of them"))
        }
        Error::Missing { what, .. } if what == "the new rows" => {
            Some("the model was fitted without --impute: fill them, or fit it again with --impute median".into())
        }
        Error::Missing { .. } => Some(
            "--impute mean, median or most-frequent fills them by what the column has elsewhere; --drop NAME leaves a column out"
                .into(),
        ),
        Error::NotFinite { what, .. } if what == "the learned matrix" => Some("take smaller steps: --step".into()),
        Error::NotFinite { .. } => Some("fill or remove missing values before embedding".into()),
        _ => None,
    }
}

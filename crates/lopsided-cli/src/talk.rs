//! Text for people and programs: results go to stdout, remarks to stderr.

use lopsided::{Error, Result};
use serde::Serialize;
use std::io::{self, ErrorKind, Write};

/// Writes to stdout. Nobody listening any more (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Writes one JSON object to stdout.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(value).map_err(|e| Error::io("standard output", e.into()))?;
    print(&(text + "\n"))
}

/// Writes a line to stderr; nothing is left to do where that fails.
pub(crate) fn remark(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

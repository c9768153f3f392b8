//! Text for people and programs: results go to stdout, remarks to stderr.

use lopsided::base::finite::not_finite;
use lopsided::report::text::shown;
use lopsided::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// Writes to stdout. Nobody listening any more (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    // Files and other programs get names as they are.
    let text = if out.is_terminal() { shown(text) } else { text.into() };
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Writes one JSON object to stdout. JSON has `null` for numbers that are not finite; the field `not_finite`, which is there only
/// if there are any, says where and what they are.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    let failed = |e: serde_json::Error| Error::io("standard output", e.into());
    let mut text = serde_json::to_string(value).map_err(failed)?;
    let lost: BTreeMap<String, String> = not_finite(value).into_iter().collect();
    if !lost.is_empty() && text.ends_with('}') {
        text.pop();
        let lost = serde_json::to_string(&lost).map_err(failed)?;
        text = [&text, ",\"not_finite\":", &lost, "}"].concat();
    }
    print(&(text + "\n"))
}

/// Writes a line to stderr; nothing is left to do where that fails.
pub(crate) fn remark(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(line));
}

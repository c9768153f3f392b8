//! Pages of commands: `--report FILE.html`, the same for each of them.

use crate::context::Context;
use crate::{memory, output};
use lopsided::base::error::bytes;
use lopsided::base::file;
use lopsided::report::{Account, Page};
use lopsided::{Error, Result};
use std::path::Path;

/// Refuses, before any work, a page that could not be written.
pub(crate) fn check(path: Option<&Path>) -> Result<()> {
    path.map_or(Ok(()), output::check)
}

/// Writes a page, whole or not at all.
pub(crate) fn write(path: &Path, page: &Page) -> Result<()> {
    let html = page.html();
    file::write_atomically(path, |out| out.write_all(html.as_bytes()).map_err(|e| Error::io(path, e)))
}

/// What every page says of its job: the warnings, the lines that the command prints, its cost so far and what was typed.
pub(crate) fn account<L: AsRef<str>>(context: &Context, warnings: &[String], lines: &[(L, String)]) -> Account {
    let work = context.run.watch.work();
    let mut cost = vec![("seconds".to_string(), format!("{:.2}", context.seconds()))];
    cost.extend(memory::peak_bytes().map(|peak| ("memory".into(), format!("{} at the peak", bytes(peak)))));
    cost.push(("threads".into(), context.pool.current_num_threads().to_string()));
    cost.extend((work.evaluations > 0).then(|| ("kernel values".into(), work.evaluations.to_string())));
    cost.extend((work.products > 0).then(|| ("products with G".into(), work.products.to_string())));
    cost.push(("version".into(), env!("CARGO_PKG_VERSION").into()));
    cost.push(("seed".into(), context.global.seed.to_string()));
    // The cost has a place of its own.
    let told = |label: &str| !["cost", "memory", "written"].contains(&label);
    let lines = lines.iter().filter(|(label, _)| told(label.as_ref()));
    Account {
        warnings: warnings.to_vec(),
        lines: lines.map(|(label, value)| (label.as_ref().to_string(), value.clone())).collect(),
        cost,
        command: Some(typed(std::env::args().skip(1))),
        ..Account::default()
    }
}

/// The name of a file as the title of a page has it.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| "the input".into(), |name| name.to_string_lossy().into_owned())
}

/// The command line as a shell reads it again.
fn typed(words: impl Iterator<Item = String>) -> String {
    std::iter::once("lopsided".to_string()).chain(words.map(quoted)).collect::<Vec<_>>().join(" ")
}

/// A word as it is where it means nothing to a shell, else in quotes.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed_again() {
        let words = ["embed", "my edges.csv", "--gamma", "0.5", "it's", "$HOME", ""].map(String::from);
        assert_eq!(typed(words.into_iter()), r"lopsided embed 'my edges.csv' --gamma 0.5 'it'\''s' '$HOME' ''");
    }
}

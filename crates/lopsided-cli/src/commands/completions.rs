//! `lopsided completions`: the completion script of a shell.

use super::Outcome;
use crate::args::{Cli, CompletionsArgs};
use crate::talk;
use anyhow::Result;
use clap::CommandFactory;

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lopsided", &mut script);
    talk::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

//! `lopsided man`: manual pages, made of the same text as the help pages.

use super::Outcome;
use crate::args::{Cli, ManArgs};
use crate::{output, talk};
use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use lopsided::Error;
use lopsided::base::file::write_atomically;

/// Writes `lopsided.1` and a page for each command.
pub(crate) fn run(args: &ManArgs) -> Result<Outcome> {
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io(&args.out, e))?;
    let mut whole = Cli::command().disable_help_subcommand(true);
    whole.build();
    let commands: Vec<Command> = whole.get_subcommands().map(|command| named(command.clone())).collect();
    for command in std::iter::once(whole).chain(commands) {
        let path = args.out.join(format!("{}.1", command.get_name()));
        output::check(&path)?;
        let page = Man::new(command);
        write_atomically(&path, |out| {
            let mut text = Vec::new();
            let written = page.render(&mut text).and_then(|()| out.write_all(&text));
            written.map_err(|e| Error::io(&path, e))
        })?;
    }
    talk::print(&format!("manual pages are in {}\n", args.out.display()))?;
    Ok(Outcome::Done)
}

/// A command under the name of its page, with the version of the whole.
fn named(command: Command) -> Command {
    let name = format!("lopsided-{}", command.get_name());
    command.version(env!("CARGO_PKG_VERSION")).name(name)
}

//! The commands, one module each.

mod bicluster;
mod compare;
mod completions;
mod demo;
mod devices;
mod embed;
mod export;
mod fit;
mod forecast;
mod inspect;
mod links;
mod list;
mod man;
mod merge;
mod online;
mod part;
mod predict;
mod reproduce;
mod shards;
pub(crate) mod transform;

use crate::args::{CheckpointArgs, Cli, Command};
use crate::context::Context;
use crate::files;
use anyhow::Result;

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All is well.
    Done,
    /// The result is there but not as accurate as asked for.
    NotConverged,
}

impl Outcome {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::NotConverged => 1,
        }
    }
}

/// Runs the command of the command line.
pub(crate) fn run(cli: &Cli) -> Result<Outcome> {
    let mut context = Context::new(&cli.global)?;
    files::check(&cli.command)?;
    context.run.checkpoint = states(&cli.command).map_or_else(|| Ok(Default::default()), CheckpointArgs::open)?;
    let result = context.pool.install(|| chosen(&cli.command, &context));
    context.line.clear();
    let outcome = result?;
    context.run.checkpoint.remove()?;
    Ok(outcome)
}

/// Where the state of a command goes that does work.
fn states(command: &Command) -> Option<&CheckpointArgs> {
    match command {
        Command::Embed(args) => Some(&args.states).filter(|_| !args.given.dry_run),
        Command::Bicluster(args) => Some(&args.states).filter(|_| !args.given.dry_run),
        Command::Fit(args) => Some(&args.states).filter(|_| !args.given.dry_run),
        _ => None,
    }
}

fn chosen(command: &Command, context: &Context) -> Result<Outcome> {
    match command {
        Command::Demo(args) => demo::run(args, context),
        Command::Embed(args) => embed::run(args, context),
        Command::Bicluster(args) => bicluster::run(args, context),
        Command::Fit(args) => fit::run(args, context),
        Command::Part(args) => part::run(args, context),
        Command::Merge(args) => merge::run(args, context),
        Command::Predict(args) => predict::run(args, context),
        Command::Links(args) => links::run(args, context),
        Command::Compare(args) => compare::run(args, context),
        Command::Online(args) => online::run(args, context),
        Command::Transform(args) => transform::run(args, context),
        Command::Reproduce(args) => reproduce::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::Inspect(args) => inspect::run(args, context),
        Command::List(args) => list::run(args, context),
        Command::Devices => devices::run(context),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

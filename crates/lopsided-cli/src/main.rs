//! The command line of lopsided.

mod args;
mod commands;
mod context;
mod estimator;
mod failure;
mod input;
mod interrupt;
mod labelled;
mod memory;
mod output;
mod progress;
mod talk;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::run(&cli) {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => failure::tell(&error),
    }
}

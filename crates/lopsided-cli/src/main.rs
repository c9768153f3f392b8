//! The command line of lopsided.

mod allocator;
mod args;
mod commands;
mod context;
mod estimator;
mod failure;
mod files;
mod input;
mod interrupt;
mod labelled;
mod memory;
mod output;
mod page;
mod progress;
mod talk;
mod terminal;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::listen();
    let cli = args::Cli::parse();
    match commands::run(&cli) {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(error) => failure::tell(&error),
    }
}

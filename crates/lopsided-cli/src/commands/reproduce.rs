//! `lopsided reproduce`: tables of the papers on the sets of a data folder.

use super::Outcome;
use crate::context::Context;
use crate::{memory, talk};
use anyhow::Result;
use lopsided_papers::{Desk, ReproduceArgs, Shown, reproduce};

/// Computes and shows the table.
pub(crate) fn run(args: &ReproduceArgs, context: &Context) -> Result<Outcome> {
    let desk = Desk {
        run: context.run.clone(),
        json: context.global.json,
        quiet: context.global.quiet,
        memory: context.global.memory,
        tell: &talk::remark,
        peak_bytes: memory::peak_bytes,
        start: context.start,
    };
    let Shown(table) = reproduce(args, &desk)?;
    context.line.clear();
    talk::print(&table)?;
    Ok(Outcome::Done)
}

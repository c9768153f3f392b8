//! `lopsided reproduce`: tables of the papers on the sets of a data folder.

use super::Outcome;
use crate::context::Context;
use crate::{memory, page, talk};
use anyhow::Result;
use clap::ValueEnum;
use lopsided::report::Page;
use lopsided_papers::{Desk, ReproduceArgs, Shown, reproduce};

/// Computes and shows the table.
pub(crate) fn run(args: &ReproduceArgs, context: &Context) -> Result<Outcome> {
    page::check(args.report.as_deref())?;
    let desk = Desk {
        run: context.run.clone(),
        json: context.global.json,
        quiet: context.global.quiet,
        memory: context.global.memory,
        tell: &talk::remark,
        peak_bytes: memory::peak_bytes,
        start: context.start,
    };
    let Shown { table, pictures } = reproduce(args, &desk)?;
    context.line.clear();
    if let Some(path) = &args.report {
        let name = args.table.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string());
        let lead = "A table of a paper, computed anew on the sets at hand, with the paper's figures beside ours.";
        let mut shown = Page::new(&format!("Table {name}"), lead);
        for picture in &pictures {
            shown = shown.figures(&picture.panels, &picture.legend, &picture.caption);
        }
        shown = shown.section("As it was printed").print(&table);
        page::write(path, &shown.account(&page::account::<&str>(context, &[], &[])))?;
    }
    talk::print(&table)?;
    Ok(Outcome::Done)
}

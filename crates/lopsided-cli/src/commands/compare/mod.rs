//! `lopsided compare`: whether asymmetry pays.

mod load;
mod next;
mod page;
mod summary;

use super::Outcome;
use super::embed::summary::DryRun;
use crate::args::CompareArgs;
use crate::context::Context;
use crate::output;
use anyhow::Result;
use load::Subject;
use lopsided::Error;
use lopsided::base::file::write_atomically;
use lopsided::evaluation::Compared;
use std::fmt::Write as _;
use std::path::Path;
use summary::Summary;

/// Compares, in double precision.
pub(crate) fn run(args: &CompareArgs, context: &Context) -> Result<Outcome> {
    for path in [&args.out, &args.report].into_iter().flatten().filter(|_| !args.dry_run) {
        output::check(path)?;
    }
    context.line.stage("reading");
    let (subject, notes) = load::load(args)?;
    let comparison = args.comparison();
    if args.dry_run {
        let plan = match &subject {
            Subject::Nodes(graph, target) => comparison.plan_nodes(graph, target, &context.run),
            Subject::Rows(data) => comparison.plan_rows(data, &context.run),
        }?;
        DryRun::of::<f64>(plan.size.0.min(plan.size.1), &plan, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    let found = match subject {
        Subject::Nodes(graph, target) => comparison.nodes(&graph, target, &context.run),
        Subject::Rows(data) => comparison.rows(&data, &context.run),
    }?;
    context.line.stage("writing");
    context.run.watch.check()?;
    let next = next::command(args, &found, context);
    if let Some(path) = &args.out {
        written(path, &scores(&found)?)?;
    }
    let summary = Summary::of(found, next, notes, context);
    if let Some(path) = &args.report {
        crate::page::write(path, &page::page(&summary, &args.input, context))?;
    }
    summary.show(context)?;
    Ok(Outcome::Done)
}

fn written(path: &Path, text: &str) -> lopsided::Result<()> {
    write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
}

/// A line for each method and test part.
fn scores(found: &Compared) -> lopsided::Result<String> {
    let mut out = String::from("method,family,split,score\n");
    for method in &found.methods {
        let family = serde_json::to_value(method.family).map_err(|e| Error::io("the scores", e.into()))?;
        let family = family.as_str().unwrap_or_default();
        method
            .scores
            .iter()
            .enumerate()
            .for_each(|(k, score)| _ = writeln!(out, "{},{family},{k},{score}", method.name));
    }
    Ok(out)
}

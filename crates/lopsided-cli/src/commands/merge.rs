//! `lopsided merge`: parts become a model, what the next pass needs, or a larger part.

use super::Outcome;
use super::shards::Account;
use crate::args::MergeArgs;
use crate::context::Context;
use crate::output;
use anyhow::Result;
use lopsided::base::file::write_atomically;
use lopsided::estimators::shards::{self, Part, State, precision_of};
use lopsided::{Error, Scalar};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What `--json` prints where there is no model yet.
#[derive(Serialize)]
struct Between {
    estimator: &'static str,
    /// Number and name of the pass that comes next, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_pass: Option<(usize, &'static str)>,
    /// Ranges of rows that are there, where no pass is ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rows: Vec<(usize, usize)>,
    written: PathBuf,
}

/// Merges in the precision of the parts.
pub(crate) fn run(args: &MergeArgs, context: &Context) -> Result<Outcome> {
    for path in [&args.model, &args.state, &args.out].into_iter().flatten() {
        output::check(path)?;
    }
    context.line.stage("merging");
    let first = read(&args.parts[0])?;
    match precision_of(&first, &args.parts[0].display().to_string())?.as_str() {
        "f32" => merge::<f32>(args, context),
        _ => merge::<f64>(args, context),
    }
}

fn read(path: &Path) -> lopsided::Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::io(path, e))
}

fn merge<T: Scalar>(args: &MergeArgs, context: &Context) -> Result<Outcome> {
    let mut whole: Option<Part<T>> = None;
    for path in &args.parts {
        context.run.watch.check()?;
        let part = Part::from_bytes(&read(path)?, &path.display().to_string())?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.merge(part)?,
        }
    }
    // There is a part at least: the command line asks for one.
    let Some(whole) = whole else { return Ok(Outcome::Done) };
    let estimator = whole.state().job().name();
    if let Some(path) = &args.out {
        write(path, &whole.to_bytes()?)?;
        let rows = whole.rows().into_iter().map(|range| (range.start, range.end)).collect();
        Between { estimator, next_pass: None, rows, written: path.clone() }.show(context)?;
        return Ok(Outcome::Done);
    }
    let job = whole.state().job().clone();
    match whole.finish(&context.run)? {
        shards::Outcome::Next(state) => next(args, &state, context),
        shards::Outcome::Model(learned) => {
            if let Some(path) = &args.model {
                learned.archive().save(path)?;
            }
            Account::of(&job, &learned, args.model.as_ref(), context).show(context)?;
            Ok(if learned.converged() { Outcome::Done } else { Outcome::NotConverged })
        }
    }
}

/// Writes the state of the next pass.
fn next<T: Scalar>(args: &MergeArgs, state: &State<T>, context: &Context) -> Result<Outcome> {
    let Some(path) = &args.state else {
        let allowed = format!("a file for pass {}, {}, which comes next", state.number(), state.stage());
        return Err(Error::param("state", "missing", allowed).into());
    };
    write(path, &state.to_bytes()?)?;
    let next_pass = Some((state.number(), state.stage()));
    Between { estimator: state.job().name(), next_pass, rows: Vec::new(), written: path.clone() }.show(context)?;
    Ok(Outcome::NotConverged)
}

fn write(path: &Path, bytes: &[u8]) -> lopsided::Result<()> {
    write_atomically(path, |out| out.write_all(bytes).map_err(|e| Error::io(path, e)))
}

impl Between {
    fn show(&self, context: &Context) -> lopsided::Result<()> {
        context.line.clear();
        let mut lines = vec![("estimator", self.estimator.to_string())];
        lines.extend(
            self.next_pass.map(|(number, stage)| ("next", format!("pass {number}: {stage}, by `part --state`"))),
        );
        let ranges: Vec<String> = self.rows.iter().map(|(start, end)| format!("{start} to {}", end - 1)).collect();
        lines.extend((!ranges.is_empty()).then(|| ("rows", ranges.join(", "))));
        lines.push(("written", self.written.display().to_string()));
        context.say(self, &lines)
    }
}

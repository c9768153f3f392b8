//! `lopsided part`: the sums of one share of the rows in one pass.

use super::{Outcome, shards};
use crate::args::PartArgs;
use crate::commands::forecast::Forecast;
use crate::context::{Context, in_precision};
use crate::{estimator, memory, output};
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::base::file::write_atomically;
use lopsided::estimators::shards::{State, pass, shard_rows};
use lopsided::{Error, Scalar};
use serde::Serialize;
use std::path::PathBuf;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    estimator: &'static str,
    pass: usize,
    stage: &'static str,
    shard: String,
    /// Number of the first row, and of the first one that is not there any more.
    rows: (usize, usize),
    rows_per_second: f64,
    out: PathBuf,
    bytes: usize,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// Sums up in the wanted precision.
pub(crate) fn run(args: &PartArgs, context: &Context) -> Result<Outcome> {
    in_precision!(context, part(args, context))
}

fn part<T: Scalar>(args: &PartArgs, context: &Context) -> Result<Outcome> {
    if !args.given.dry_run {
        output::check(&args.out)?;
    }
    let state = state::<T>(args, context)?;
    let job = state.job();
    context.line.stage("reading");
    let labels = args.labels.clone();
    let table = shards::open::<T>(&args.inputs, labels, args.target.as_deref(), &args.drop, &context.run)?;
    shards::check(job, &table, &args.inputs[0], context)?;
    let rows = shard_rows(&table.facts, job.piece(), args.shard)?;
    if args.given.dry_run {
        let seconds = context.seconds() + job.seconds(&table.facts, rows.len());
        let forecast = Forecast::new(rows.len() as u64, job.bytes::<T>(&table.facts), seconds, Vec::new());
        forecast.show("rows", context)?;
        return Ok(Outcome::Done);
    }
    let found = pass(&state, &table, rows.clone(), &context.run)?.to_bytes()?;
    context.run.watch.check()?;
    write_atomically(&args.out, |out| out.write_all(&found).map_err(|e| Error::io(&args.out, e)))?;
    let seconds = context.seconds();
    let summary = Summary {
        estimator: job.name(),
        pass: state.number(),
        stage: state.stage(),
        shard: format!("{}/{}", args.shard.0, args.shard.1),
        rows: (rows.start, rows.end),
        rows_per_second: rows.len() as f64 / seconds.max(1e-9),
        out: args.out.clone(),
        bytes: found.len(),
        seconds,
        peak_bytes: memory::peak_bytes(),
    };
    context.line.clear();
    context.say(&summary, &summary.lines())?;
    Ok(Outcome::Done)
}

/// Where the fit has come to: the beginning, or what a file says, whose settings must be those that are given.
fn state<T: Scalar>(args: &PartArgs, context: &Context) -> Result<State<T>> {
    let given = estimator::given(&args.given, context)?;
    let own = shards::job::<T>(&args.estimator, given, args.task, context.run.seed)?;
    let Some(path) = &args.state else { return Ok(State::new(own)) };
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let state = State::from_bytes(&bytes, &path.display().to_string())?;
    state.job().check_same(&own)?;
    Ok(state)
}

impl Summary {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let (first, end) = self.rows;
        let mut lines = vec![
            ("estimator", self.estimator.to_string()),
            ("pass", format!("{}: {}", self.pass, self.stage)),
            ("shard", format!("{}, rows {first} to {}", self.shard, end - 1)),
            ("cost", format!("{:.2} s, {:.0} rows per second", self.seconds, self.rows_per_second)),
        ];
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        lines.push(("written", format!("{}, {}", self.out.display(), bytes(self.bytes as u64))));
        lines
    }
}

//! `lopsided reproduce`: tables of the papers on the sets of a data folder.

mod ksvd1;
mod ksvd3;
mod ksvd5;
mod methods;
mod paper;
mod sets;

use super::Outcome;
use crate::args::{LearningArgs, PaperTable, ReproduceArgs};
use crate::context::Context;
use crate::talk;
use anyhow::Result;
use lopsided::Error;
use lopsided::estimators::SolverSpec;
use lopsided::registry::Params;
use lopsided::tasks::NodeClassification;
use serde::Serialize;
use sets::Folder;
use std::path::PathBuf;

/// Up to this many nodes a complete decomposition is affordable.
const EXACT: usize = 4000;

/// The options with their defaults.
#[derive(Clone, Debug)]
struct Settings {
    trials: usize,
    rank: usize,
    folds: usize,
    factors: Vec<f64>,
    solver: Option<String>,
    reconstruction: bool,
    max_rows: usize,
    learning: LearningArgs,
}

impl Settings {
    fn new(args: &ReproduceArgs) -> lopsided::Result<Self> {
        let (rank, trials, folds) = if args.quick { (100, 2, 2) } else { (1000, 10, args.folds) };
        let rank = if args.table == PaperTable::Ksvd3 { ksvd3::RANK } else { rank };
        let mut factors = args.gamma_factors.clone();
        if let Some(bad) = factors.iter().find(|k| !(k.is_finite() && **k > 0.0)) {
            return Err(Error::param("gamma-factors", bad, "numbers above 0"));
        }
        if args.quick {
            factors.truncate(1);
        }
        let (rank, trials) = (args.rank.unwrap_or(rank), args.trials.unwrap_or(trials));
        if rank == 0 || trials == 0 || folds < 2 {
            return Err(Error::param(
                "reproduce",
                "0 components, trials or folds",
                "1 component, 1 trial and 2 folds or more",
            ));
        }
        let reconstruction = !args.no_reconstruction;
        let (solver, learning) = (args.solver.clone(), args.learning.clone());
        Ok(Settings { trials, rank, folds, factors, solver, reconstruction, max_rows: args.max_rows, learning })
    }

    /// The solver for so many samples. Features need no six digits, so large matrices get a few passes only.
    fn solver(&self, samples: usize) -> SolverSpec {
        match &self.solver {
            Some(name) => SolverSpec::new(name),
            None if samples <= EXACT => SolverSpec::new("auto"),
            None => SolverSpec { name: "randomized".into(), params: Params::default().with("passes", 2.0) },
        }
    }

    fn protocol(&self) -> NodeClassification {
        NodeClassification { trials: self.trials, folds: self.folds, ..NodeClassification::default() }
    }
}

/// A set that could not be used.
#[derive(Serialize)]
struct Skipped {
    name: String,
    reason: String,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<S> {
    table: &'static str,
    seed: u64,
    trials: usize,
    folds: usize,
    sets: Vec<S>,
    skipped: Vec<Skipped>,
    seconds: f64,
}

/// Computes the table.
pub(crate) fn run(args: &ReproduceArgs, context: &Context) -> Result<Outcome> {
    let settings = Settings::new(args)?;
    let folders = sets::folders(&data_folder(args)?, &args.only)?;
    match args.table {
        PaperTable::Ksvd1 => {
            let report = over_sets("ksvd-1", &folders, Folder::has_graph, &settings, context, ksvd1::set)?;
            show(&report, ksvd1::text, context)
        }
        PaperTable::Ksvd3 => {
            let report = over_sets("ksvd-3", &folders, Folder::has_table, &settings, context, ksvd3::set)?;
            let outcome = show(&report, ksvd3::text, context)?;
            ksvd3::show_verdict(&report.sets, context)?;
            Ok(outcome)
        }
        PaperTable::Ksvd5 => {
            let fit = |folder: &Folder| folder.has_graph() || folder.has_table();
            let report = over_sets("ksvd-5", &folders, fit, &settings, context, ksvd5::set)?;
            show(&report, ksvd5::text, context)
        }
    }
}

fn data_folder(args: &ReproduceArgs) -> lopsided::Result<PathBuf> {
    let named = std::env::var_os("LOPSIDED_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let missing = || Error::param("data", "missing", "a folder, here or in the environment variable LOPSIDED_DATA");
    args.data.clone().or(named).ok_or_else(missing)
}

type OnSet<S> = fn(&Folder, &Settings, &Context) -> Result<S>;

/// Runs over all folders with the right files; a set that fails is reported and left out.
fn over_sets<S>(
    table: &'static str,
    folders: &[Folder],
    fit: impl Fn(&Folder) -> bool,
    settings: &Settings,
    context: &Context,
    on_set: OnSet<S>,
) -> Result<Report<S>> {
    let (mut sets, mut skipped) = (Vec::new(), Vec::new());
    for folder in folders.iter().filter(|folder| fit(folder)) {
        match on_set(folder, settings, context) {
            Ok(set) => sets.push(set),
            Err(error) if is_interruption(&error) => return Err(error),
            Err(error) => {
                let reason = format!("{error:#}");
                talk::remark(&format!("{}: skipped: {reason}", folder.name));
                skipped.push(Skipped { name: folder.name.clone(), reason });
            }
        }
    }
    if sets.is_empty() {
        let found = if skipped.is_empty() { "no set of the right kind" } else { "no set that can be used" };
        return Err(Error::param(
            "data",
            found,
            "a folder with a folder per set, each with edges.csv and labels.csv, for ksvd-3 data.csv, for ksvd-5 either",
        )
        .into());
    }
    let Settings { trials, folds, .. } = *settings;
    Ok(Report { table, seed: context.run.seed, trials, folds, sets, skipped, seconds: context.seconds() })
}

fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Error>(), Some(Error::Interrupted))
}

fn show<S: Serialize>(report: &Report<S>, text: fn(&S) -> String, context: &Context) -> Result<Outcome> {
    context.line.clear();
    if context.global.json {
        talk::json(report)?;
    } else {
        let parts: Vec<String> = report.sets.iter().map(text).collect();
        talk::print(&format!("{}\n{:.0} s in all\n", parts.join("\n"), report.seconds))?;
    }
    Ok(Outcome::Done)
}

/// Says on stderr what is being done.
fn tell(context: &Context, text: &str) {
    if !context.global.quiet {
        talk::remark(text);
    }
}

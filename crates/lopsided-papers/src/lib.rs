//! Tables and figures of the papers behind lopsided, computed on the sets of a data folder, with the papers' own figures beside them.
//!
//! Everything here stands on the public interface of the library. The program calls [`reproduce`] for its command of that
//! name and shows what comes back.

mod args;
mod askls;
mod askls1;
mod curves;
mod figures;
mod kmu;
mod ksvd1;
mod ksvd2;
mod ksvd3;
mod ksvd4;
mod ksvd5;
mod ksvd7;
mod methods;
mod nkm1;
mod paper;
mod sets;
mod solvers;
pub mod tasks;

pub use args::{LearningArgs, PaperTable, ReproduceArgs};

use crate::tasks::NodeClassification;
use anyhow::Result;
use lopsided::base::settings::Settings as Given;
use lopsided::estimators::SolverSpec;
use lopsided::report::svg;
use lopsided::{Error, Run};
use serde::Serialize;
use sets::Folder;
use std::path::PathBuf;
use std::time::Instant;

/// What the tables need of the program that shows them.
pub struct Desk<'a> {
    /// Seed, progress and cancellation.
    pub run: Run,
    /// Whether the result is wanted as JSON.
    pub json: bool,
    /// Whether nothing is to be said on the way.
    pub quiet: bool,
    /// Bytes that may be used.
    pub memory: Option<u64>,
    /// Says something on the way.
    pub tell: &'a (dyn Fn(&str) + Sync),
    /// The most bytes that the process had so far.
    pub peak_bytes: fn() -> Option<u64>,
    /// When the work began.
    pub start: Instant,
}

impl Desk<'_> {
    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// A table, as JSON or as text, whichever was wanted, and the pictures of its page.
pub struct Shown {
    /// The table.
    pub table: String,
    /// Pictures of what has curves; most tables have none.
    pub pictures: Vec<Picture>,
}

/// Figures side by side over one legend and one caption.
pub struct Picture {
    /// Figures of [`lopsided::report::svg`].
    pub panels: Vec<String>,
    /// Names of the classes 0, 1, 2, …
    pub legend: Vec<String>,
    /// What is to be seen.
    pub caption: String,
}

impl Picture {
    /// The figures as a file of their own.
    fn file(&self) -> String {
        svg::file(&self.panels, &self.legend.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// Up to this many nodes a complete decomposition is affordable.
const EXACT: usize = 4000;
/// Residual of features, relative to each triplet's own singular value.
const FEATURES: f64 = 1e-4;

/// The options with their defaults.
#[derive(Clone, Debug)]
struct Settings {
    trials: usize,
    rank: usize,
    folds: usize,
    factors: Vec<f64>,
    solver: Option<String>,
    /// Of ksvd-1.
    methods: Vec<&'static methods::Method>,
    reconstruction: bool,
    /// Of ksvd-7.
    landmarks: usize,
    compat_width: Option<usize>,
    col_clusters: Option<usize>,
    /// Accuracies to reach, descending.
    etas: Vec<f64>,
    /// Seconds for one method.
    limit: f64,
    out: Option<PathBuf>,
    max_rows: usize,
    learning: LearningArgs,
    quick: bool,
}

impl Settings {
    fn new(args: &ReproduceArgs) -> lopsided::Result<Self> {
        let (rank, trials, factors, etas) = defaults(args.table, args.quick);
        let folds = if args.quick { 2 } else { args.folds };
        let mut factors = positive("gamma-factors", &args.gamma_factors, factors)?;
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
        let mut etas = positive("eta", &args.eta, etas)?;
        etas.sort_by(|a, b| b.total_cmp(a));
        positive("limit", &[args.limit], &[])?;
        let streamed = if args.quick { 200 } else { 1000 };
        Ok(Settings {
            trials,
            rank,
            folds,
            factors,
            solver: args.solver.clone(),
            methods: methods::chosen(&args.methods)?,
            reconstruction: !args.no_reconstruction,
            landmarks: args.landmarks.unwrap_or(streamed),
            compat_width: args.compat_width,
            col_clusters: args.col_clusters,
            etas,
            limit: args.limit,
            out: args.out.clone(),
            max_rows: args.max_rows.unwrap_or(if args.table == PaperTable::Nkm1 { nkm1::MAX_ROWS } else { 500 }),
            learning: args.learning.clone(),
            quick: args.quick,
        })
    }

    /// Makes the folder for figures or a made table, before any work.
    fn prepare_out(&self, args: &ReproduceArgs) -> lopsided::Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        let makes_files = match args.table {
            PaperTable::Ksvd1 | PaperTable::Ksvd4 | PaperTable::Ksvd6 | PaperTable::Nkm1 => true,
            PaperTable::Ksvd7 => args.generate.is_some(),
            _ => false,
        };
        if !makes_files {
            let allowed = "left out: only ksvd-1, ksvd-4, ksvd-6, nkm-1 and ksvd-7 --generate write files";
            return Err(Error::param("out", out.display(), allowed));
        }
        std::fs::create_dir_all(out).map_err(|e| Error::io(out, e))
    }

    /// The solver of features, which need four digits of every triplet.
    fn solver(&self) -> SolverSpec {
        let name = self.solver.clone().unwrap_or_else(|| "auto".into());
        SolverSpec { name, params: Given::default().with("tol", FEATURES) }
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

/// Rank, trials, bandwidth factors and accuracies of a table.
fn defaults(table: PaperTable, quick: bool) -> (usize, usize, &'static [f64], &'static [f64]) {
    let few = |trials| if quick { 2 } else { trials };
    match table {
        PaperTable::Ksvd1 | PaperTable::Ksvd5 => {
            (if quick { 100 } else { 1000 }, few(10), &[2.0, 5.0, 10.0, 20.0], &[])
        }
        PaperTable::Ksvd2 => (20, few(5), &[1.0], &[]),
        PaperTable::Ksvd3 => (ksvd3::RANK, few(10), &[1.0], &[]),
        PaperTable::Ksvd4 => (20, few(3), &[1.0, 0.5], &[0.1]),
        PaperTable::Ksvd6 => (20, few(3), &[1.0, 0.5], &[0.1, 0.01]),
        PaperTable::Askls1 | PaperTable::Askls3 | PaperTable::Askls4 => (1, few(10), &[1.0], &[]),
        PaperTable::KmuRegret => (1, 1, &[1.0], &[]),
        PaperTable::Ksvd7 => (50, few(10), &[2.0, 5.0, 10.0], &[]),
        PaperTable::Nkm1 => (10, few(5), &[2.0, 1.0, 4.0, 0.5, 8.0], &[]),
    }
}

/// The numbers a user gave, or the default; all of them above 0.
fn positive(name: &'static str, given: &[f64], default: &[f64]) -> lopsided::Result<Vec<f64>> {
    let values = if given.is_empty() { default } else { given };
    match values.iter().find(|v| !(v.is_finite() && **v > 0.0)) {
        Some(bad) => Err(Error::param(name, bad, "a number above 0")),
        None => Ok(values.to_vec()),
    }
}

/// What a table is computed on.
struct Kind {
    table: &'static str,
    fits: fn(&Folder) -> bool,
    needs: &'static str,
}

const GRAPHS: &str = "edges.csv and labels.csv";

/// Computes the table.
///
/// # Errors
/// [`Error::Param`] for options that do not fit and folders without a suitable set, [`Error::Interrupted`].
pub fn reproduce(args: &ReproduceArgs, desk: &Desk<'_>) -> Result<Shown> {
    let shown = computed(args, desk)?;
    Ok(if args.quick { Shown { table: marked(&shown.table, desk.json), ..shown } } else { shown })
}

/// What `--quick` computes.
const LOOK: &str = "a look, not a result";

/// The table with a remark in the first line of each of its parts, so that no part is taken for more than it is.
fn marked(table: &str, json: bool) -> String {
    if let Some(fields) = table.strip_prefix('{').filter(|_| json) {
        return format!("{{\"note\":\"{LOOK}\",{fields}");
    }
    let mark = |part: &str| match part.split_once('\n') {
        Some((head, rest)) if !rest.is_empty() => format!("{head} ({LOOK})\n{rest}"),
        _ => part.to_string(),
    };
    table.split("\n\n").map(mark).collect::<Vec<_>>().join("\n\n")
}

fn computed(args: &ReproduceArgs, desk: &Desk<'_>) -> Result<Shown> {
    let settings = Settings::new(args)?;
    settings.prepare_out(args)?;
    let folders = || data_folder(args).and_then(|data| sets::folders(&data, &args.only));
    let graphs = |table| Kind { table, fits: Folder::has_graph, needs: GRAPHS };
    match args.table {
        PaperTable::Ksvd1 => {
            let report = over_sets(&graphs("ksvd-1"), &folders()?, &settings, desk, ksvd1::set)?;
            Ok(Shown { pictures: pictures(&report, ksvd1::pictures), ..show(&report, ksvd1::text, desk)? })
        }
        PaperTable::Ksvd2 => {
            let kind = Kind { table: "ksvd-2", fits: Folder::has_matrix, needs: "features.mtx and labels.csv" };
            let report = over_sets(&kind, &folders()?, &settings, desk, ksvd2::set)?;
            show(&report, ksvd2::text, desk)
        }
        PaperTable::Ksvd4 | PaperTable::Ksvd6 => {
            let table = if args.table == PaperTable::Ksvd4 { "ksvd-4" } else { "ksvd-6" };
            let report = over_sets(&graphs(table), &folders()?, &settings, desk, ksvd4::set)?;
            Ok(Shown { pictures: pictures(&report, ksvd4::pictures), ..show(&report, ksvd4::text, desk)? })
        }
        PaperTable::Ksvd3 => {
            let kind = Kind { table: "ksvd-3", fits: Folder::has_table, needs: "data.csv" };
            let report = over_sets(&kind, &folders()?, &settings, desk, ksvd3::set)?;
            let shown = show(&report, ksvd3::text, desk)?;
            let verdicts = if desk.json { String::new() } else { ksvd3::verdicts(&report.sets) };
            Ok(Shown { table: shown.table + &verdicts, ..shown })
        }
        PaperTable::Ksvd5 => {
            let fits = |folder: &Folder| folder.has_graph() || folder.has_table();
            let kind = Kind { table: "ksvd-5", fits, needs: "edges.csv and labels.csv, or data.csv" };
            let report = over_sets(&kind, &folders()?, &settings, desk, ksvd5::set)?;
            show(&report, ksvd5::text, desk)
        }
        PaperTable::Ksvd7 => ksvd7::run(args, &settings, desk),
        PaperTable::Askls1 => askls1::run(&settings, args.quick, desk),
        PaperTable::KmuRegret => kmu::run(args, desk),
        PaperTable::Askls3 => {
            show(&over_sets(&graphs("askls-3"), &folders()?, &settings, desk, askls::graph)?, askls::text, desk)
        }
        PaperTable::Nkm1 => {
            let kind = Kind { table: "nkm-1", fits: Folder::has_table, needs: "data.csv with classes" };
            let report = over_sets(&kind, &folders()?, &settings, desk, nkm1::set)?;
            Ok(Shown { pictures: pictures(&report, nkm1::pictures), ..show(&report, nkm1::text, desk)? })
        }
        PaperTable::Askls4 => {
            let kind = Kind { table: "askls-4", fits: Folder::has_table, needs: "data.csv" };
            show(&over_sets(&kind, &folders()?, &settings, desk, askls::table)?, askls::text, desk)
        }
    }
}

fn data_folder(args: &ReproduceArgs) -> lopsided::Result<PathBuf> {
    let named = std::env::var_os("LOPSIDED_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let missing = || Error::param("data", "missing", "a folder, here or in the environment variable LOPSIDED_DATA");
    args.data.clone().or(named).ok_or_else(missing)
}

type OnSet<S> = fn(&Folder, &Settings, &Desk) -> Result<S>;

/// Runs over all folders with the right files; a set that fails is reported and left out.
fn over_sets<S>(
    kind: &Kind,
    folders: &[Folder],
    settings: &Settings,
    desk: &Desk,
    on_set: OnSet<S>,
) -> Result<Report<S>> {
    let (mut sets, mut skipped) = (Vec::new(), Vec::new());
    for folder in folders.iter().filter(|folder| (kind.fits)(folder)) {
        match on_set(folder, settings, desk) {
            Ok(set) => sets.push(set),
            Err(error) if is_interruption(&error) => return Err(error),
            Err(error) => {
                let reason = format!("{error:#}");
                (desk.tell)(&format!("{}: skipped: {reason}", folder.name));
                skipped.push(Skipped { name: folder.name.clone(), reason });
            }
        }
    }
    if sets.is_empty() {
        let found = if skipped.is_empty() { "no set of the right kind" } else { "no set that can be used" };
        let allowed = format!("for {} a folder with a folder per set, each with {}", kind.table, kind.needs);
        return Err(Error::param("data", found, allowed).into());
    }
    let Settings { trials, folds, .. } = *settings;
    Ok(Report { table: kind.table, seed: desk.run.seed, trials, folds, sets, skipped, seconds: desk.seconds() })
}

fn is_interruption(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<Error>(), Some(Error::Interrupted))
}

fn show<S: Serialize>(report: &Report<S>, text: fn(&S) -> String, desk: &Desk) -> Result<Shown> {
    if desk.json {
        return Ok(Shown { table: serde_json::to_string(report)? + "\n", pictures: Vec::new() });
    }
    let parts: Vec<String> = report.sets.iter().map(text).collect();
    let table = format!("{}\n{:.0} s in all\n", parts.join("\n"), report.seconds);
    Ok(Shown { table, pictures: Vec::new() })
}

/// The pictures of all sets.
fn pictures<S>(report: &Report<S>, of: fn(&S) -> Vec<Picture>) -> Vec<Picture> {
    report.sets.iter().flat_map(of).collect()
}

/// Says what is being done.
fn tell(desk: &Desk, text: &str) {
    if !desk.quiet {
        (desk.tell)(text);
    }
}

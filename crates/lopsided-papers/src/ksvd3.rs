//! \[KSVD\] Table 3: compatibility matrices a0 to a3 on tables, KPCA and SVD beside them.

use super::paper::compat_figures;
use super::sets::Folder;
use super::{Settings, tell};
use crate::Desk;
use crate::tasks::{InductivePrediction, TablePrediction, TableScores};
use anyhow::Result;
use lopsided::evaluation::Spread;
use lopsided::kernel::Gamma;
use lopsided::{Compat, Compatibility, Dataset, KernelSvd, KernelSvdModel, LearnedCompat, Mat, Run, Samples, Target};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Components, those of the paper.
pub(super) const RANK: usize = 4;
/// Penalties to choose from; the largest leaves values unshrunk.
const PENALTIES: [f64; 5] = [1.0, 10.0, 100.0, 1e3, 1e5];

/// How the rows of a table get features.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The table itself, a linear method.
    Svd,
    /// The kernel over the rows twice.
    Kpca { learned: bool },
    /// Rows against columns under a fixed compatibility matrix.
    Fixed(Compat),
    /// The same with a learned one.
    Learned,
}

/// A line of the table.
struct Method {
    name: &'static str,
    kernel: &'static str,
    way: Way,
    /// Its column in the paper.
    paper: Option<usize>,
}

const fn method(name: &'static str, kernel: &'static str, way: Way, paper: Option<usize>) -> Method {
    Method { name, kernel, way, paper }
}

/// All of them. The order is that of the table.
const METHODS: [Method; 11] = [
    method("SVD", "precomputed", Way::Svd, None),
    method("KPCA", "rbf", Way::Kpca { learned: false }, Some(0)),
    method("KPCA, learned C", "rbf", Way::Kpca { learned: true }, Some(1)),
    method("KSVD RBF a0", "rbf", Way::Fixed(Compat::Pinv), Some(2)),
    method("KSVD RBF a1", "rbf", Way::Fixed(Compat::Pca), Some(3)),
    method("KSVD RBF a2", "rbf", Way::Fixed(Compat::Random), Some(4)),
    method("KSVD RBF a3", "rbf", Way::Learned, Some(5)),
    method("KSVD SNE a0", "sne", Way::Fixed(Compat::Pinv), Some(6)),
    method("KSVD SNE a1", "sne", Way::Fixed(Compat::Pca), Some(7)),
    method("KSVD SNE a2", "sne", Way::Fixed(Compat::Random), Some(8)),
    method("KSVD SNE a3", "sne", Way::Learned, Some(9)),
];

/// Learned matrices, and the fixed ones they start from.
const PAIRS: [(&str, &str); 3] =
    [("KPCA, learned C", "KPCA"), ("KSVD RBF a3", "KSVD RBF a1"), ("KSVD SNE a3", "KSVD SNE a1")];

/// A learned matrix against the fixed one it starts from, by the mean score.
#[derive(Serialize)]
struct Comparison {
    learned: &'static str,
    fixed: &'static str,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Better,
    Equal,
    Worse,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Equal => "equal",
            Verdict::Worse => "worse",
        }
    }
}

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    rows: usize,
    columns: usize,
    /// Most rows that were learned from.
    max_rows: usize,
    rank: usize,
    /// `accuracy` or `rmse`.
    measure: &'static str,
    methods: Vec<Line>,
    comparisons: Vec<Comparison>,
    seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    /// Accuracy or RMSE.
    score: Spread,
    auroc: Option<Spread>,
    paper: Option<f64>,
    trials: Vec<TableScores>,
    seconds: f64,
}

/// All methods on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let (data, target): (Dataset<f64>, Target) = folder.table()?;
    let x = data.x.into_dense();
    let (rows, columns) = (x.nrows(), x.ncols());
    tell(desk, &format!("{}: {rows} rows, {columns} columns", folder.name));
    let mut methods = Vec::new();
    for method in &METHODS {
        let line = line(method, &folder.name, (&x, &target), settings, desk)?;
        tell(desk, &format!("{}: {} {:.4} ({:.0} s)", folder.name, line.method, line.score.mean, line.seconds));
        methods.push(line);
    }
    let measure = if matches!(target, Target::Values(_)) { "rmse" } else { "accuracy" };
    let (rank, seconds) = (settings.rank.min(columns), start.elapsed().as_secs_f64());
    let (name, max_rows) = (folder.name.clone(), settings.max_rows);
    let comparisons = PAIRS.iter().map(|pair| compare(*pair, &methods, measure)).collect();
    Ok(SetReport { name, rows, columns, max_rows, rank, measure, methods, comparisons, seconds })
}

fn compare((learned, fixed): (&'static str, &'static str), lines: &[Line], measure: &str) -> Comparison {
    let mean = |name| lines.iter().find(|line| line.method == name).map_or(f64::NAN, |line| line.score.mean);
    let gain = if measure == "rmse" { mean(fixed) - mean(learned) } else { mean(learned) - mean(fixed) };
    let verdict = match gain {
        gain if gain > 0.0 => Verdict::Better,
        gain if gain < 0.0 => Verdict::Worse,
        _ => Verdict::Equal,
    };
    Comparison { learned, fixed, verdict }
}

fn line(
    method: &Method,
    set: &str,
    (x, target): (&Mat<f64>, &Target),
    settings: &Settings,
    desk: &Desk,
) -> lopsided::Result<Line> {
    let start = Instant::now();
    let protocol = settings.protocol();
    let task = InductivePrediction {
        prediction: TablePrediction {
            train_share: protocol.train_share,
            trials: protocol.trials,
            folds: protocol.folds,
            penalties: PENALTIES.to_vec(),
        },
        max_rows: settings.max_rows,
    };
    let fit = |rows, target: &Target, run: &Run| method.fit(rows, target, settings, run);
    let trials = task.evaluate(x, target, fit, &desk.run)?;
    let spread = |of: fn(&TableScores) -> Option<f64>| Spread::of(trials.iter().filter_map(of));
    let auroc = trials.iter().all(|t| t.auroc.is_some()).then(|| spread(|t| t.auroc));
    let score = spread(|t| t.accuracy.or(t.rmse));
    let paper = method.paper.and_then(|at| compat_figures(set).map(|figures| figures[at]));
    Ok(Line { method: method.name, score, auroc, paper, trials, seconds: start.elapsed().as_secs_f64() })
}

impl Method {
    /// The model of the rows to learn from; only a learned C looks at their targets.
    fn fit(
        &self,
        rows: Samples<f64>,
        target: &Target,
        settings: &Settings,
        run: &Run,
    ) -> lopsided::Result<KernelSvdModel<f64>> {
        let rank = settings.rank.min(rows.count()).min(rows.width());
        let machine = KernelSvd::new(self.kernel).with_rank(rank).with_gamma(Gamma::Median).with_center(true);
        let learner =
            LearnedCompat { symmetric: self.way != Way::Learned, ..settings.learning.learner(machine.clone()) };
        match self.way {
            Way::Svd => machine.with_center(false).fit(Dataset::new(rows), run),
            Way::Kpca { learned: false } => machine.fit(Dataset::new(rows), run),
            Way::Fixed(kind) => machine.fit(Dataset::from_matrix_with(rows, &Compatibility::new(kind), run)?, run),
            Way::Learned | Way::Kpca { learned: true } => learner.fit(rows, target, run).map(|l| l.model),
        }
    }
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let mut out = format!("{}: {} rows, {} columns, rank {}", set.name, set.rows, set.columns, set.rank);
    if set.rows * 4 / 5 > set.max_rows {
        let _ = write!(out, "; learned from {} rows", set.max_rows);
    }
    let _ = writeln!(out, "\nmethod           {:18} AUROC            [KSVD]", set.measure);
    for line in &set.methods {
        let spread = |s: Spread| format!("{:.4} ± {:.4}", s.mean, s.deviation);
        let (score, auroc) = (spread(line.score), line.auroc.map_or("-".into(), spread));
        let paper = line.paper.map_or("-".into(), |p| p.to_string());
        let _ = writeln!(out, "{:16} {score:18} {auroc:16} {paper}", line.method);
    }
    out
}

/// Says on how many sets a learned matrix is better than the fixed one it started from.
pub(super) fn verdicts(sets: &[SetReport]) -> String {
    let count = |pair: usize, verdict: Verdict| {
        let names = sets.iter().filter(|set| set.comparisons[pair].verdict == verdict).map(|set| set.name.as_str());
        let names: Vec<&str> = names.collect();
        format!("{} on {} ({})", verdict.word(), names.len(), names.join(", "))
    };
    let verdicts = [Verdict::Better, Verdict::Equal, Verdict::Worse];
    let line = |(pair, (learned, fixed)): (usize, &(&str, &str))| {
        format!("{learned} against {fixed}: {}\n", verdicts.map(|verdict| count(pair, verdict)).join("; "))
    };
    PAIRS.iter().enumerate().map(line).collect()
}

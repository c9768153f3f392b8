//! \[KSVD\] Table 5: SVD after a nonlinear map of the rows against KSVD, both with the polynomial kernel of degree 2.
//!
//! Tables are taken with their columns as they are: with columns of deviation 1 neither the paper's figures nor their order appear
//! (`benchsuite/findings/ablation.py`).

use super::ksvd1::PENALTIES;
use super::paper::ablation_figures;
use super::sets::{Folder, GraphSet};
use super::{Settings, tell};
use crate::Desk;
use crate::tasks::{Grid, Measure, TablePrediction, summarize};
use anyhow::Result;
use lopsided::evaluation::Spread;
use lopsided::kernel::KernelSpec;
use lopsided::{Compat, Compatibility, Dataset, Features, KernelSvd, Kpca, Target};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Penalties to choose from on tables; the largest leaves values unshrunk.
const TABLE_PENALTIES: [f64; 5] = [1.0, 10.0, 100.0, 1e3, 1e5];

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    samples: usize,
    rank: usize,
    measure: Measure,
    methods: Vec<Line>,
    seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    rank: usize,
    score: Spread,
    paper: Option<f64>,
}

/// Name and features of a method.
type Embedding = (&'static str, Features<f64>);

/// Both methods on one set; a set with links and a table is a graph.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    tell(desk, &folder.name);
    if folder.has_graph() { graph(folder, settings, desk) } else { table(folder, settings, desk) }
}

fn graph(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let set: GraphSet = folder.graph()?;
    let samples = set.graph.nodes();
    let rank = settings.rank.min(samples);
    let mut methods = Vec::new();
    for (method, features) in embeddings(&set.data, &set.data, rank, settings, desk)? {
        let grid = Grid { ranks: vec![rank], penalties: PENALTIES.to_vec() };
        let trials = settings.protocol().evaluate(&features, &set.codes, &[grid], &desk.run)?;
        methods.push(Line { method, rank: features.rank(), score: summarize(&[trials], 0).micro_f1, paper: None });
    }
    let (name, seconds) = (folder.name.clone(), start.elapsed().as_secs_f64());
    Ok(SetReport { name, samples, rank, measure: Measure::MicroF1, methods, seconds })
}

fn table(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let (data, target): (Dataset<f64>, Target) = folder.unscaled_table()?;
    let samples = data.x.count();
    let rank = settings.rank.min(samples).min(data.x.width());
    let aligned = Dataset::from_matrix_with(data.x.clone(), &Compatibility::new(Compat::Pca), &desk.run)?;
    let protocol = settings.protocol();
    let task = TablePrediction {
        train_share: protocol.train_share,
        trials: protocol.trials,
        folds: protocol.folds,
        penalties: TABLE_PENALTIES.to_vec(),
    };
    let figures = ablation_figures(&folder.name);
    let mut methods = Vec::new();
    for (at, (method, features)) in embeddings(&data, &aligned, rank, settings, desk)?.into_iter().enumerate() {
        let score = Spread::of(task.evaluate(&features, &target, &desk.run)?);
        methods.push(Line { method, rank: features.rank(), score, paper: figures.map(|f| f[at]) });
    }
    let (name, seconds) = (folder.name.clone(), start.elapsed().as_secs_f64());
    Ok(SetReport { name, samples, rank, measure: Measure::of(&target), methods, seconds })
}

/// U of φ(A), whose Gram matrix is the polynomial kernel over the rows twice; and U of the kernel of rows against columns.
fn embeddings(
    rows: &Dataset<f64>,
    both: &Dataset<f64>,
    rank: usize,
    settings: &Settings,
    desk: &Desk,
) -> lopsided::Result<Vec<Embedding>> {
    let kernel = KernelSpec::new("poly").with("degree", 2.0).with("coef0", 1.0).with("gamma", 1.0);
    let solver = settings.solver();
    let mapped = Kpca { kernel: kernel.clone(), center: false, solver: solver.clone(), ..Kpca::new("poly", rank) };
    let two_sided = KernelSvd::new(kernel)
        .with_rank(rank.min(both.cols().count()))
        .with_solver(&solver.name)
        .with_solver_params(solver.params.clone());
    let run = &desk.run;
    Ok(vec![
        ("nonlinear + SVD", mapped.fit(rows, run)?),
        ("KSVD", Features::from(two_sided.fit(both.clone(), run)?).one_sided()),
    ])
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let measure = match set.measure {
        Measure::Auroc => "AUROC",
        Measure::MicroF1 => "micro-F1",
        Measure::Rmse => "RMSE",
    };
    let mut out = format!("{}: {} samples, rank {}\n", set.name, set.samples, set.rank);
    let _ = writeln!(out, "method           rank  {measure:20}  [KSVD]");
    for line in &set.methods {
        let paper = line.paper.map_or("-".into(), |p| format!("{p:.4}"));
        let score = format!("{:.4} ± {:.4}", line.score.mean, line.score.deviation);
        let _ = writeln!(out, "{:15}  {:<4}  {score:20}  {paper}", line.method, line.rank);
    }
    out
}

//! [KSVD] Table 5: SVD after a nonlinear map of the rows against KSVD, both with the polynomial kernel of degree 2.

use super::paper::ablation_figures;
use super::sets::{Folder, GraphSet};
use super::{Settings, tell};
use crate::context::Context;
use anyhow::Result;
use lopsided::kernel::KernelSpec;
use lopsided::tasks::{Grid, Spread, Summary, summarize};
use lopsided::{Features, KernelSvd, Kpca};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;

/// Penalties to choose from.
const PENALTIES: [f64; 4] = [1.0, 4.0, 16.0, 64.0];

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    samples: usize,
    rank: usize,
    methods: Vec<Line>,
    seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    rank: usize,
    scores: Summary,
    paper: Option<f64>,
}

/// Both methods on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, context: &Context) -> Result<SetReport> {
    let start = Instant::now();
    let set = folder.graph()?;
    let samples = set.graph.nodes();
    let rank = settings.rank.min(samples);
    tell(context, &format!("{}: {samples} nodes, rank {rank}", folder.name));
    let figures = ablation_figures(&folder.name);
    let mut methods = Vec::new();
    for (at, (method, features)) in embeddings(&set, rank, settings, context)?.into_iter().enumerate() {
        let grid = Grid { ranks: vec![rank], penalties: PENALTIES.to_vec() };
        let trials = settings.protocol().evaluate(&features, &set.codes, &[grid], &context.run)?;
        let paper = figures.map(|f| f[at]);
        methods.push(Line { method, rank: features.rank(), scores: summarize(&[trials], 0), paper });
    }
    Ok(SetReport { name: folder.name.clone(), samples, rank, methods, seconds: start.elapsed().as_secs_f64() })
}

/// U of φ(A), whose Gram matrix is the polynomial kernel over the rows twice; and U of the kernel of rows against columns.
fn embeddings(
    set: &GraphSet,
    rank: usize,
    settings: &Settings,
    context: &Context,
) -> lopsided::Result<Vec<(&'static str, Features<f64>)>> {
    let solver = settings.solver(set.graph.nodes());
    let kernel = KernelSpec::new("poly").with("degree", 2.0).with("coef0", 1.0).with("gamma", 1.0);
    let mapped = Kpca { kernel: kernel.clone(), center: false, solver: solver.clone(), ..Kpca::new("poly", rank) };
    let two_sided = KernelSvd {
        kernel,
        solver_params: solver.params.clone(),
        ..KernelSvd::new("poly").with_rank(rank).with_solver(&solver.name)
    };
    let run = &context.run;
    Ok(vec![
        ("nonlinear + SVD", mapped.fit(&set.data, run)?),
        ("KSVD", Features::from(two_sided.fit(set.data.clone(), run)?).one_sided()),
    ])
}

/// The table of one set.
pub(super) fn text(set: &SetReport) -> String {
    let mut out = format!("{}: {} samples, rank {}\n", set.name, set.samples, set.rank);
    out += "method           rank  micro-F1       macro-F1       [KSVD]\n";
    let spread = |s: Spread| format!("{:.3} ± {:.3}", s.mean, s.deviation);
    for line in &set.methods {
        let paper = line.paper.map_or("-".into(), |p| format!("{p:.4}"));
        let (micro, all) = (spread(line.scores.micro_f1), spread(line.scores.macro_f1));
        let _ = writeln!(out, "{:15}  {:<4}  {micro}  {all}  {paper}", line.method, line.rank);
    }
    out
}

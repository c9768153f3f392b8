//! \[KSVD\] Table 1: node classification and graph reconstruction.

use super::curves::{self, Curve};
use super::methods::{Method, Setting};
use super::paper::{NodeFigures, node_figures};
use super::sets::{Folder, GraphSet};
use super::{EXACT, Settings, tell};
use crate::tasks::{Grid, Reconstruction, Summary, Trial, reconstruct, summarize};
use crate::{Desk, Picture};
use anyhow::Result;
use lopsided::Features;
use lopsided::evaluation::Spread;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

/// Penalties of the tuned protocol; the first is the paper's.
pub(super) const PENALTIES: [f64; 7] = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];
/// Powers of Σ that rank the neighbours.
const POWERS: [f64; 3] = [0.0, 0.5, 1.0];

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    nodes: usize,
    links: usize,
    classes: usize,
    labelled: usize,
    rank: usize,
    notes: Vec<String>,
    methods: Vec<Line>,
    /// Curves that were written.
    files: Vec<PathBuf>,
    seconds: f64,
}

/// One method on one set.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    /// Components that were found; fewer than asked for where the matrix has fewer.
    rank: usize,
    /// Bandwidth factors to choose from.
    gamma_factors: Vec<f64>,
    /// Rank and penalty of the paper.
    protocol: Summary,
    /// Rank and penalty chosen by cross-validation as well.
    tuned: Summary,
    /// Penalty and bandwidth chosen for each number of components.
    curve: Vec<curves::Point>,
    /// By bandwidth factor and power.
    reconstruction: Vec<Vec<Reconstruction>>,
    paper: Option<NodeFigures>,
    /// Largest residual of the solver, relative to each triplet's own value.
    residual: f64,
    solver: String,
    seconds: f64,
}

/// What one bandwidth of one method gave.
struct Candidate {
    factor: f64,
    rank: usize,
    trials: Vec<Trial>,
    reconstruction: Vec<Reconstruction>,
    residual: f64,
    solver: String,
}

/// All methods on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let set = folder.graph()?;
    let (nodes, links) = (set.graph.nodes(), set.graph.adjacency().nnz());
    let rank = settings.rank.min(nodes);
    tell(desk, &format!("{}: {nodes} nodes, {links} links, {} classes, rank {rank}", folder.name, set.classes));
    let (mut methods, mut files) = (Vec::new(), Vec::new());
    for method in &settings.methods {
        let line = line(method, &folder.name, &set, rank, settings, desk)?;
        let (micro, tuned) = (line.protocol.micro_f1.mean, line.tuned.micro_f1.mean);
        tell(desk, &format!("{}: {} {micro:.3}, tuned {tuned:.3} ({:.0} s)", folder.name, method.name, line.seconds));
        methods.push(line);
        // After every method, so that an interruption loses only the method it meets.
        if let Some(out) = &settings.out {
            files = curves::write(out, &folder.name, &curves_of(&methods))?;
        }
    }
    Ok(SetReport {
        files,
        name: folder.name.clone(),
        nodes,
        links,
        classes: set.classes,
        labelled: set.labelled(),
        rank,
        notes: set.notes.clone(),
        methods,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn line(
    method: &Method,
    name: &str,
    set: &GraphSet,
    rank: usize,
    settings: &Settings,
    desk: &Desk,
) -> lopsided::Result<Line> {
    let start = Instant::now();
    let factors = if method.tunable { &settings.factors[..] } else { &[1.0] };
    let candidates = candidates(method, factors, set, rank, settings, desk)?;
    let trials: Vec<Vec<Trial>> = candidates.iter().map(|c| c.trials.clone()).collect();
    Ok(Line {
        method: method.name,
        rank: candidates.iter().map(|c| c.rank).max().unwrap_or(0),
        gamma_factors: candidates.iter().filter(|_| method.tunable).map(|c| c.factor).collect(),
        protocol: summarize(&trials, 0),
        tuned: summarize(&trials, 1),
        curve: curves::points(&trials, rank, TABLE),
        residual: candidates.iter().map(|c| c.residual).fold(0.0, f64::max),
        solver: candidates.first().map(|c| c.solver.clone()).unwrap_or_default(),
        reconstruction: candidates.into_iter().map(|c| c.reconstruction).collect(),
        paper: node_figures(name, method.name),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// One candidate per bandwidth. Small graphs are embedded side by side, large ones one after the other to spare memory.
fn candidates(
    method: &Method,
    factors: &[f64],
    set: &GraphSet,
    rank: usize,
    settings: &Settings,
    desk: &Desk,
) -> lopsided::Result<Vec<Candidate>> {
    let solver = settings.solver();
    let embed = |factor: f64| method.embed(set, &Setting { rank, solver: solver.clone(), factor }, &desk.run);
    if set.graph.nodes() > EXACT {
        return factors.iter().map(|&k| candidate(k, &embed(k)?, set, settings, desk)).collect();
    }
    let features: Vec<Features<f64>> = factors.par_iter().map(|&k| embed(k)).collect::<lopsided::Result<_>>()?;
    factors.iter().zip(&features).map(|(&k, features)| candidate(k, features, set, settings, desk)).collect()
}

fn candidate(
    factor: f64,
    features: &Features<f64>,
    set: &GraphSet,
    settings: &Settings,
    desk: &Desk,
) -> lopsided::Result<Candidate> {
    let run = &desk.run;
    let trials =
        settings.protocol().evaluate(features, &set.codes, &grids(settings.rank.min(set.graph.nodes())), run)?;
    let powers = if settings.reconstruction { &POWERS[..] } else { &[] };
    let reconstruction =
        powers.iter().map(|&p| reconstruct(features, &set.links, p, run)).collect::<lopsided::Result<_>>()?;
    let (residual, solver) = (features.report.residual(), features.report.solver.clone());
    Ok(Candidate { factor, rank: features.rank(), trials, reconstruction, residual, solver })
}

/// Grids of the table itself, before those of the curves.
const TABLE: usize = 2;

/// The paper's rank and penalty; a grid of both; and one for each point of the curves.
fn grids(rank: usize) -> Vec<Grid> {
    let ranks = [rank, rank / 2, rank / 5].into_iter().filter(|r| *r > 0).collect();
    let table = [Grid { ranks: vec![rank], penalties: vec![1.0] }, Grid { ranks, penalties: PENALTIES.to_vec() }];
    table.into_iter().chain(curves::grids(rank, &PENALTIES)).collect()
}

fn curves_of(methods: &[Line]) -> Vec<Curve> {
    methods.iter().map(|line| Curve { method: line.method.into(), points: line.curve.clone() }).collect()
}

/// The curves of one set.
pub(super) fn pictures(set: &SetReport) -> Vec<Picture> {
    let curves = curves_of(&set.methods);
    let drawn = curves.iter().any(|curve| curve.points.len() > 1);
    drawn.then(|| curves::picture(&set.name, &curves)).into_iter().collect()
}

/// The tables of one set.
pub(super) fn text(set: &SetReport) -> String {
    let mut out = format!(
        "{}: {} nodes ({} labelled), {} links, {} classes; rank {}\n",
        set.name, set.nodes, set.labelled, set.links, set.classes, set.rank
    );
    out += "node classification  paper's protocol               tuned                          [KSVD]        micro-F1, ours - paper\n";
    out += "method    rank       micro-F1       macro-F1        micro-F1       macro-F1        micro  macro  its protocol, tuned\n";
    for line in &set.methods {
        let paper = line.paper.map_or("    -      -".into(), |p| beside(p, line));
        let (protocol, tuned) = (both(&line.protocol), both(&line.tuned));
        let _ = writeln!(out, "{:9} {:<9}  {protocol}  {tuned}  {paper}", line.method, line.rank);
    }
    out + &curves::text(&curves_of(&set.methods)) + &reconstruction(&set.methods)
}

/// The paper's figures and how far ours are above or below.
fn beside(paper: NodeFigures, line: &Line) -> String {
    let gap = |ours: &Summary| ours.micro_f1.mean - paper.micro_f1;
    let (protocol, tuned) = (gap(&line.protocol), gap(&line.tuned));
    format!("{:.3}  {:.3}  {protocol:+.3}, {tuned:+.3}", paper.micro_f1, paper.macro_f1)
}

fn both(summary: &Summary) -> String {
    let spread = |s: Spread| format!("{:.3} ± {:.3}", s.mean, s.deviation);
    format!("{}  {} ", spread(summary.micro_f1), spread(summary.macro_f1))
}

fn reconstruction(lines: &[Line]) -> String {
    if lines.iter().all(|line| line.reconstruction.iter().all(Vec::is_empty)) {
        return String::new();
    }
    let mut out =
        String::from("graph reconstruction: induced norms l1 / l2 of the error, neighbours ranked by U Σ^p Vᵀ\n");
    out += "method    bandwidth  p = 0            p = 1/2          p = 1            [KSVD]\n";
    for line in lines {
        for (at, row) in line.reconstruction.iter().enumerate() {
            let factor = line.gamma_factors.get(at).map_or("-".into(), |k| format!("x {k}"));
            let cells: Vec<String> =
                row.iter().map(|r| format!("{:15}", format!("{:.0} / {:.1}", r.l1, r.l2))).collect();
            let paper = line.paper.map_or("-".into(), |p| format!("{:.0} / {:.1}", p.l1, p.l2));
            let _ = writeln!(out, "{:9} {factor:9}  {}  {paper}", line.method, cells.join("  "));
        }
    }
    out
}

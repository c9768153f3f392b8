//! Nodes by features: one decomposition serves all splits, since no label has a say in it.
//!
//! 1. Each matrix is decomposed once, for the largest rank.
//! 2. For each split the moments of the inner parts are taken once; those of each training part follow by subtraction.
//! 3. A rank is a choice of columns, a scaling a ridge of its own, as in the cross-validation of `kernel-svd`.

use super::contenders::{Contender, Family};
use super::parts::{Parts, Split, as_quality};
use super::{Trial, joined};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::Graph;
use crate::estimators::moments::Moments;
use crate::estimators::recipe::{self, Usual};
use crate::estimators::scoring::Known;
use crate::estimators::{Features, KernelSvd, Plan, Point, Scaling, score};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// The trials of a contender on all splits.
pub(super) fn trials(
    contender: &Contender,
    graph: &Graph,
    target: &Target,
    parts: &Parts,
    run: &Run,
) -> Result<Vec<Trial>> {
    let tables: Vec<Table> = contender
        .matrices
        .iter()
        .map(|matrix| Table::of(contender, matrix, graph, (target, parts), run))
        .collect::<Result<_>>()?;
    let one = |split: &Split| {
        run.watch.check()?;
        let found: Vec<Trial> = tables.iter().map(|table| table.trial(split)).collect::<Result<_>>()?;
        let best = found.into_iter().reduce(|a, b| if b.validation > a.validation { b } else { a });
        best.ok_or_else(|| Error::param("matrices", "none", "at least one"))
    };
    parts.splits.par_iter().map(one).collect()
}

/// Features of the nodes that take part, and what is to be learned from them.
struct Table<'a> {
    x: Mat<f64>,
    y: Mat<f64>,
    sigma: Vec<f64>,
    sides: usize,
    target: &'a Target,
    /// Nodes that take part; row k of x is node `samples[k]`.
    samples: &'a [usize],
    matrix: Settings,
    points: Vec<Candidate>,
}

/// One point, read once.
struct Candidate {
    rank: usize,
    power: f64,
    penalty: f64,
    point: Point,
}

impl<'a> Table<'a> {
    fn of(
        contender: &Contender,
        matrix: &Settings,
        graph: &Graph,
        (target, parts): (&'a Target, &'a Parts),
        run: &Run,
    ) -> Result<Self> {
        let points: Vec<Candidate> = contender.points.iter().map(Candidate::of).collect::<Result<_>>()?;
        let rank = points.iter().map(|point| point.rank).max().unwrap_or(1);
        let features = embedded(matrix, rank, graph, run)?;
        let sides = if contender.family == Family::Asymmetric { 2 } else { 1 };
        let features = if sides == 2 { features } else { features.one_sided() };
        let all = features.matrix();
        let known = Known::of(Some(&super::parts::only(target, &parts.samples)))?;
        Ok(Table {
            x: rows_of(all.as_ref(), &parts.samples),
            y: known.y,
            sigma: features.sigma,
            sides,
            target,
            samples: &parts.samples,
            matrix: reported(matrix),
            points,
        })
    }

    /// Places of nodes among those that take part.
    fn places(&self, nodes: &[usize]) -> Vec<usize> {
        nodes.iter().filter_map(|node| self.samples.binary_search(node).ok()).collect()
    }

    fn moments(&self, places: &[usize]) -> Moments {
        Moments::of(rows_of(self.x.as_ref(), places).as_ref(), rows_of(self.y.as_ref(), places).as_ref())
    }

    /// The best point inside the training part, and its score on the test part.
    fn trial(&self, split: &Split) -> Result<Trial> {
        let inner: Vec<Vec<usize>> = split.inner.iter().map(|nodes| self.places(nodes)).collect();
        let moments: Vec<Moments> = inner.iter().map(|places| self.moments(places)).collect();
        let none = || Error::param("inner", "0 parts", "at least 2");
        let total = Moments::total(&moments).ok_or_else(none)?;
        let mut best: Option<(&Candidate, f64)> = None;
        for point in &self.points {
            let each = moments.iter().zip(&inner).map(|(part, places)| self.scored(point, &total, Some(part), places));
            let scores: Vec<f64> = each.collect::<Result<_>>()?;
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            if best.is_none_or(|(_, before)| mean > before) {
                best = Some((point, mean));
            }
        }
        let (point, validation) = best.ok_or_else(none)?;
        let test = self.scored(point, &total, None, &self.places(&split.test))?;
        Ok(Trial { settings: joined(&self.matrix, &point.point), validation, test })
    }

    /// The score of a point on some nodes, learned without a part. A system that is too near a singular one scores nothing.
    fn scored(&self, point: &Candidate, total: &Moments, without: Option<&Moments>, held: &[usize]) -> Result<f64> {
        let (r, rank) = (self.sigma.len(), point.rank.min(self.sigma.len()));
        let cols: Vec<usize> = (0..self.sides).flat_map(|side| (0..rank).map(move |k| side * r + k)).collect();
        let ridge = |j: usize| 1.0 / (point.penalty * self.sigma[j % r].powf(2.0 * point.power));
        let model = match total.solve(without, &cols, ridge) {
            Err(Error::Singular { .. }) => return Ok(f64::NEG_INFINITY),
            other => other?,
        };
        let x = Mat::from_fn(held.len(), cols.len(), |i, j| self.x[(held[i], cols[j])]);
        let nodes: Vec<usize> = held.iter().map(|&place| self.samples[place]).collect();
        let found = score(&self.target.rows(&nodes), model.decision(x.as_ref()).as_ref());
        Ok(as_quality(self.target, &nodes, found))
    }
}

/// The settings of a matrix without the tolerance, which is that of a comparison.
fn reported(matrix: &Settings) -> Settings {
    let mut out = matrix.clone();
    out.take("tol");
    out
}

impl Candidate {
    fn of(point: &Point) -> Result<Self> {
        let scaling = point.word::<Scaling>("scaling")?.unwrap_or(Scaling::None);
        Ok(Candidate {
            rank: point.count("rank", 1)? as usize,
            power: scaling.power(),
            penalty: point.positive("penalty", Some(1.0))?,
            point: point.clone(),
        })
    }
}

/// The decomposition of the matrix of some settings, unscaled.
pub(super) fn embedded(matrix: &Settings, rank: usize, graph: &Graph, run: &Run) -> Result<Features<f64>> {
    let (svd, data) = machine(matrix, rank, graph, run)?;
    Ok(svd.fit(data, run)?.into())
}

/// What the decompositions of a contender would take.
pub(super) fn planned(contender: &Contender, graph: &Graph, run: &Run) -> Result<Vec<Plan>> {
    let rank = contender.points.iter().filter_map(|point| point.get("rank")).fold(1.0, f64::max) as usize;
    let one = |matrix: &Settings| {
        let (svd, data) = machine(matrix, rank, graph, run)?;
        svd.plan(&data, run)
    };
    contender.matrices.iter().map(one).collect()
}

fn machine(matrix: &Settings, rank: usize, graph: &Graph, run: &Run) -> Result<(KernelSvd, Dataset<f64>)> {
    let usual = Usual { scaling: Scaling::None, ..Usual::learning("rbf", true) };
    let mut given = matrix.clone().with("rank", rank);
    let data = recipe::take_nodes::<f64>(&mut given, graph, None, &usual, run)?;
    Ok((recipe::take_svd::<f64>(&mut given, &usual, false, usize::MAX)?, data))
}

fn rows_of(m: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), m.ncols(), |i, j| m[(rows[i], j)])
}

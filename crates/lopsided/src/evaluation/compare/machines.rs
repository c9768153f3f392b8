//! Contenders that learn anew for every part, through the door of all estimators.

use super::contenders::Contender;
use super::parts::{Parts, Split, as_quality, only};
use super::{Trial, joined};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::Graph;
use crate::estimators::Estimator;
use crate::estimators::recipe::{self, Usual};
use crate::estimators::scoring::hidden;

/// One matrix of a contender: what learns, from what.
pub(super) struct Entrant {
    matrix: Settings,
    pub(super) data: Dataset<f64>,
    pub(super) estimator: Box<dyn Estimator<f64>>,
}

/// Machines on the nodes of a graph.
pub(super) fn of_nodes(
    contender: &Contender,
    graph: &Graph,
    target: &Target,
    parts: &Parts,
    run: &Run,
) -> Result<Vec<Trial>> {
    let entrants = entrants_of_nodes(contender, graph, target, parts, run)?;
    trials(contender, &entrants, &only(target, &parts.samples), parts, run)
}

pub(super) fn entrants_of_nodes(
    contender: &Contender,
    graph: &Graph,
    target: &Target,
    parts: &Parts,
    run: &Run,
) -> Result<Vec<Entrant>> {
    let target = only(target, &parts.samples);
    let usual = Usual::learning("rbf", true);
    let entrant = |matrix: &Settings| {
        let mut given = matrix.clone();
        let nodes = recipe::take_nodes::<f64>(&mut given, graph, None, &usual, run)?;
        let data = Dataset { y: Some(target.clone()), ..nodes };
        let (_, estimator) = recipe::estimator(contender.estimator, given, &data)?;
        Ok(Entrant { matrix: matrix.clone(), data, estimator })
    };
    contender.matrices.iter().map(entrant).collect()
}

/// Any method on the rows of a table.
pub(super) fn of_rows(
    contender: &Contender,
    data: &Dataset<f64>,
    target: &Target,
    parts: &Parts,
    run: &Run,
) -> Result<Vec<Trial>> {
    trials(contender, &entrants_of_rows(contender, data)?, target, parts, run)
}

pub(super) fn entrants_of_rows(contender: &Contender, data: &Dataset<f64>) -> Result<Vec<Entrant>> {
    let entrant = |matrix: &Settings| {
        let (_, estimator) = recipe::estimator(contender.estimator, matrix.clone(), data)?;
        Ok(Entrant { matrix: matrix.clone(), data: data.clone(), estimator })
    };
    contender.matrices.iter().map(entrant).collect()
}

fn trials(
    contender: &Contender,
    entrants: &[Entrant],
    target: &Target,
    parts: &Parts,
    run: &Run,
) -> Result<Vec<Trial>> {
    let one = |split: &Split| {
        run.watch.check()?;
        let mut best: Option<(&Entrant, usize, f64)> = None;
        for entrant in entrants {
            let (at, score) = entrant.chosen(contender, target, split, run)?;
            if best.is_none_or(|(.., before)| score > before) {
                best = Some((entrant, at, score));
            }
        }
        let (entrant, at, validation) = best.ok_or_else(|| Error::param("matrices", "none", "at least one"))?;
        let (point, test) = (&contender.points[at..=at], std::slice::from_ref(&split.test));
        let data = Dataset { y: Some(target.clone()), ..entrant.data.clone() };
        let score = entrant.estimator.validate(&data, point, test, run)?[0][0];
        let test = as_quality(target, &split.test, score);
        Ok(Trial { settings: joined(&entrant.matrix, &point[0]), validation, test })
    };
    parts.splits.iter().map(one).collect()
}

impl Entrant {
    /// The best point inside the training part, of equals the first, with its mean score.
    fn chosen(&self, contender: &Contender, target: &Target, split: &Split, run: &Run) -> Result<(usize, f64)> {
        let data = Dataset { y: Some(hidden(target, &split.test)), ..self.data.clone() };
        let scores = self.estimator.validate(&data, &contender.points, &split.inner, run)?;
        let mean = |scores: &Vec<f64>| {
            let each = scores.iter().zip(&split.inner).map(|(score, part)| as_quality(target, part, *score));
            each.sum::<f64>() / scores.len() as f64
        };
        let means = scores.iter().map(mean).enumerate();
        let best = means.reduce(|a, b| if b.1 > a.1 || a.1.is_nan() { b } else { a });
        best.ok_or_else(|| Error::param("points", "none", "at least one"))
    }
}

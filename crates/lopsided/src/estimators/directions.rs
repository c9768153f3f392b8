//! Whether the direction of links tells anything about what is to be learned.
//!
//! A node of a directed graph is a row and a column, and a kernel compares rows with columns: two nodes are alike where one is linked
//! to what is linked to the other. Where the direction means nothing (friendships) or both directions mean the same (two papers that
//! cite, or are cited by, the same ones), nodes are better compared by all their links ([`Links::Either`]); where nodes of a kind are
//! linked from the same nodes and to the same nodes, by both ([`Links::Both`]), and support vectors, which need a kernel of like with
//! like, by nothing else. Held-out labels tell which.

use super::prepared::{Prepared, PreparedModel, best, has_features, is_better, measure};
use super::scoring::{deal, hidden, no_target};
use super::searched::remark;
use super::{Estimator, MachineErrors, Model, Plan, Point, Table, validated};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::graph::Links;

/// Held-out parts, and the samples up to which each is held out in turn.
const FOLDS: usize = 3;
const FEW: usize = 2000;
/// Fewer labels than this tell nothing about directions.
const ENOUGH: usize = 12;
/// Ways that are judged: `in`, `either` and `both`.
const WAYS: f64 = 3.0;

/// An estimator of nodes whose links are [`Links::Auto`].
pub(super) struct Directions<T> {
    pub(super) inner: Box<dyn Estimator<T>>,
    /// The same with a penalty of its own choice, by which both ways are judged: the links do not depend on the penalty.
    pub(super) judge: Prepared<T>,
}

impl<T: Scalar> Directions<T> {
    /// The same with some settings changed.
    fn at(&self, given: &Settings) -> Result<Self> {
        Ok(Directions { inner: self.inner.with(given)?, judge: self.judge.at(&less_penalty(given))? })
    }

    /// The nodes with the links that held-out labels prefer, and how that was found.
    fn settled(&self, data: Dataset<T>, run: &Run) -> Result<(Dataset<T>, Option<String>)> {
        if data.frame.as_ref().is_none_or(|frame| frame.rule.links != Links::Auto) {
            return Ok((data, None));
        }
        let target = data.y.clone().ok_or_else(no_target)?;
        let directed = with_links(data.clone(), Links::In);
        let known = target.known().len();
        let others =
            [("either", Links::Either), ("both", Links::Both)].map(|(word, kind)| (word, directed.compared_by(kind)));
        if known < ENOUGH || others.iter().any(|(_, nodes)| nodes.is_none()) {
            return Ok((directed, None));
        }
        let (mut tried, mut looked_at) = (Vec::new(), known);
        let ways = [("in", Some(directed))].into_iter().chain(others);
        for (word, nodes) in ways.filter_map(|(word, nodes)| nodes.map(|nodes| (word, nodes))) {
            match self.judged(&nodes, run)? {
                Some((score, labels)) => (tried.push((word, score, nodes)), looked_at = labels),
                None => return Ok((with_links(data, Links::In), None)),
            };
        }
        let values = !target.is_classes();
        let why = tried.iter().map(|(word, score, _)| format!("{word}: {score:.4}")).collect::<Vec<_>>().join(", ");
        let chosen = tried.into_iter().reduce(|best, way| if is_better(way.1, best.1, values) { way } else { best });
        let Some((word, _, nodes)) = chosen else { return Ok((data, None)) };
        Ok((nodes, Some(format!("links {word}, by held-out {} of {why}{}", measure(values), remark(known, looked_at)))))
    }

    /// The best held-out score of any penalty, and the labels that it comes from; `None` where these do not suffice.
    fn judged(&self, data: &Dataset<T>, run: &Run) -> Result<Option<(f64, usize)>> {
        let silent = Run { watch: run.watch.silent(), ..run.clone() };
        let mut data = self.judge.searched(data, run)?.into_owned();
        if has_features(&data) {
            // What links alone tell: features would speak for either way.
            data = data.with_feature_weight(self.judge.weight.unwrap_or(0.0))?;
        }
        let target = data.y.as_ref().ok_or_else(no_target)?;
        let known = target.known().len();
        let mut folds = deal(Some(target), FOLDS, run.seed, Purpose::PenaltyFolds)?;
        folds.truncate(if known <= FEW { FOLDS } else { 1 });
        match self.judge.tried(&data, &folds, &silent) {
            Err(error @ Error::Interrupted) => Err(error),
            Err(_) => Ok(None),
            Ok(tried) => Ok(tried.get(best(&tried, !target.is_classes())).map(|(_, score)| (*score, known))),
        }
    }
}

/// Points that differ in their penalty alone, with what they share.
fn by_penalty(points: &[Point]) -> Vec<(Settings, Vec<usize>)> {
    let mut groups: Vec<(Settings, Vec<usize>)> = Vec::new();
    for (k, point) in points.iter().enumerate() {
        let shared = less_penalty(point);
        match groups.iter_mut().find(|(known, _)| *known == shared) {
            Some((_, places)) => places.push(k),
            None => groups.push((shared, vec![k])),
        }
    }
    groups
}

fn less_penalty(given: &Settings) -> Settings {
    let mut rest = given.clone();
    rest.take("penalty");
    rest
}

/// The same nodes by a rule with other words for the same links.
fn with_links<T: Scalar>(mut data: Dataset<T>, links: Links) -> Dataset<T> {
    if let Some(frame) = &mut data.frame {
        frame.rule.links = links;
    }
    data
}

impl<T: Scalar> Estimator<T> for Directions<T> {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(given)?))
    }

    fn settings(&self) -> Settings {
        self.inner.settings()
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let plan = self.inner.plan(data, run)?;
        let known = data.y.as_ref().map_or(0, |target| target.known().len());
        let parts = if known <= FEW { FOLDS } else { 1 };
        let share = (FOLDS - 1) as f64 / FOLDS as f64;
        let share = share * self.judge.share(data);
        let search = WAYS * parts as f64 * self.inner.validate_seconds(&plan, self.judge.penalties.len().max(1), share);
        Ok(Plan { seconds: plan.seconds + search, ..plan })
    }

    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        (1.0 + WAYS) * self.inner.validate_seconds(plan, penalties, share)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        run.belongs("fit", || self.settings().to_map(), &data)?;
        let (data, why) = self.settled(data, run)?;
        let inner = self.inner.fit(data, run)?;
        let Some(why) = why else { return Ok(inner) };
        let mut report = inner.report().clone();
        report.chosen = Some(report.chosen.map_or_else(|| why.clone(), |chosen| format!("{why}; {chosen}")));
        Ok(Box::new(PreparedModel { inner, preparation: None, report }))
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        self.inner.errors(&self.settled(data.clone(), run)?.0, run)
    }

    /// Labels of a fold have no say in the direction of its links.
    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Table> {
        let target = data.y.as_ref().ok_or_else(no_target)?;
        let mut out = vec![Vec::new(); points.len()];
        for (shared, places) in by_penalty(points) {
            let (machine, points) = (self.at(&shared)?, places.iter().map(|&k| points[k].clone()).collect::<Vec<_>>());
            for fold in folds {
                let outside = Dataset { y: Some(hidden(target, fold)), ..data.clone() };
                let (settled, _) = machine.settled(outside, run)?;
                let whole = Dataset { y: data.y.clone(), ..settled };
                let scores = validated(&*self.inner, &whole, (&points, std::slice::from_ref(fold)), run)?;
                places.iter().zip(scores).for_each(|(&k, score)| out[k].extend(score));
            }
        }
        Ok(out)
    }
}

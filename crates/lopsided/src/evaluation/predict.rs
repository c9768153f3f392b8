//! Link prediction: links that were taken out against pairs that were never linked.

use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::data::graph::{Graph, Links};
use crate::data::samples::{Csr, Side};
use crate::estimators::Features;
use crate::metrics::{auroc, average_precision};
use faer::{Mat, MatRef};
use rand::RngExt;
use rand::seq::index;
use std::collections::HashSet;

/// A graph without some of its links, those links, and as many pairs of nodes that are not linked.
///
/// 1. Take links out and draw as many pairs without link.
/// 2. Make features of what is left.
/// 3. Score both kinds of pairs by U·M·Vᵀ ([`LinkScore`]) and see how well the scores tell them apart.
///
/// Direction counts: a link one way is none the other way, and the reverse of a link may be drawn as a pair
/// without link.
///
/// ```
/// use lopsided::evaluation::HeldOut;
/// use lopsided::Graph;
///
/// let names = (0..10).map(|i| i.to_string()).collect();
/// let links: Vec<_> = (0..10).map(|i| (i, (i + 1) % 10, 1.0)).collect(); // a cycle
/// let held = HeldOut::split(&Graph::new(names, &links)?, 0.2, 1)?;
/// assert_eq!((held.links.len(), held.absent.len()), (2, 2));
/// assert_eq!((held.graph.nodes(), held.graph.adjacency().nnz()), (10, 8));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// What is left to learn from; no node is lost.
    pub graph: Graph,
    /// Links taken out: source and target.
    pub links: Vec<(u32, u32)>,
    /// Different ordered pairs of two nodes without link.
    pub absent: Vec<(u32, u32)>,
}

/// Part of the links that the choice of a score holds out.
const INNER_SHARE: f64 = 0.1;

/// What stands between the features of both ends of a link: its score is (U·M·Vᵀ)_ij.
///
/// A kernel SVD puts a target near the sources that link to what links to the target, two steps away: G is large there, and so is
/// U·Σ^p·Vᵀ. That finds links of groups whose members link to each other. Where groups link to other groups, in two steps one is
/// past them: such links score low. UᵀAV says instead which features the links A of the graph lead from and to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkScore {
    /// M = Σ^p: as near as the kernel sees them.
    Power(f64),
    /// M = UᵀAV: as the links between those who are near to either end.
    Links,
}

impl From<f64> for LinkScore {
    fn from(power: f64) -> Self {
        LinkScore::Power(power)
    }
}

impl LinkScore {
    /// What a choice is made from; of equals the first is taken.
    pub const TRIED: [LinkScore; 2] = [LinkScore::Power(1.0), LinkScore::Links];

    /// The one of [`LinkScore::TRIED`] that finds links best which are taken out of `graph` once more, by AUROC; `features` makes the
    /// features of what is left. The first where there are too few links for a choice.
    ///
    /// # Errors
    /// Those of `features`.
    pub fn chosen(
        graph: &Graph,
        rows: Links,
        seed: u64,
        features: impl FnOnce(&Graph) -> Result<Features<f64>>,
    ) -> Result<Self> {
        let Ok(inner) = HeldOut::split(graph, INNER_SHARE, seed) else { return Ok(LinkScore::TRIED[0]) };
        let features = features(&inner.graph)?;
        let mut best = (f64::NEG_INFINITY, LinkScore::TRIED[0]);
        for way in LinkScore::TRIED {
            let found = inner.evaluate(&features, rows, way)?.auroc;
            best = if found > best.0 { (found, way) } else { best };
        }
        Ok(best.1)
    }

    /// U·M for the links of a graph.
    fn left(self, features: &Features<f64>, graph: &Graph, rows: Links) -> Mat<f64> {
        match self {
            LinkScore::Power(power) => features.scaled(Side::Row, power),
            LinkScore::Links => {
                let (u, v) = (features.vectors(Side::Row), features.vectors(Side::Col));
                u * between(u, v, graph.adjacency(), rows)
            }
        }
    }
}

/// UᵀAV.
fn between(u: MatRef<'_, f64>, v: MatRef<'_, f64>, links: &Csr<f64>, rows: Links) -> Mat<f64> {
    let mut seen = Mat::<f64>::zeros(links.nrows(), v.ncols());
    for source in 0..links.nrows() {
        let (targets, weights) = links.row(source);
        for (&target, weight) in targets.iter().zip(weights) {
            let (i, j) = ends((source as u32, target), rows);
            (0..v.ncols()).for_each(|k| seen[(i, k)] += weight * v[(j, k)]);
        }
    }
    u.transpose() * seen
}

/// Row and column of a link.
fn ends((source, target): (u32, u32), rows: Links) -> (usize, usize) {
    match rows {
        Links::Out => (source as usize, target as usize),
        _ => (target as usize, source as usize),
    }
}

/// How well scores tell links from pairs without link.
///
/// AUROC is the share of pairs of a link and an absent link that are in the right order; average precision
/// looks at the largest scores more than at the others. Scores that know nothing have ½ in both, as there are
/// as many links as absent ones.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LinkScores {
    /// Area under the receiver operating characteristic.
    pub auroc: f64,
    /// Average precision.
    pub average_precision: f64,
}

impl HeldOut {
    /// Takes out round(`share` · links) links, drawn by `seed`.
    ///
    /// # Errors
    /// [`Error::Param`] if no link would be taken out or left, or if the graph has too few pairs without link.
    pub fn split(graph: &Graph, share: f64, seed: u64) -> Result<Self> {
        let all = links_of(graph);
        let count = (all.len() as f64 * share).round() as usize;
        if !(share > 0.0 && share < 1.0) || count == 0 || count >= all.len() {
            let allowed =
                format!("such that between 1 and {} of {} links are taken out", all.len().max(1) - 1, all.len());
            return Err(Error::param("share", share, allowed));
        }
        let mut rng = random::generator(seed, Purpose::HeldOutLinks);
        let taken: HashSet<usize> = index::sample(&mut rng, all.len(), count).into_iter().collect();
        let kept: Vec<_> = (0..all.len()).filter(|at| !taken.contains(at)).map(|at| all[at]).collect();
        let links = (0..all.len()).filter(|at| taken.contains(at)).map(|at| (all[at].0, all[at].1)).collect();
        let absent = absent_pairs(graph, count, seed)?;
        Ok(HeldOut { graph: Graph::new(graph.ids().to_vec(), &kept)?, links, absent })
    }

    /// Scores every pair by (U·M·Vᵀ)_ij: with [`Links::In`] i is the target and j the source, with [`Links::Out`] the other way
    /// round. A number is the power p of M = Σ^p.
    ///
    /// # Errors
    /// [`Error::Shape`] if the features are not those of the graph's nodes.
    ///
    /// # Example
    /// Features that hold the whole graph know the links that were taken out:
    ///
    /// ```
    /// use lopsided::evaluation::HeldOut;
    /// use lopsided::solvers::svd::SolveReport;
    /// use lopsided::{Features, Graph, Links, Mat, Scaling};
    ///
    /// let names = (0..10).map(|i| i.to_string()).collect();
    /// let links: Vec<_> = (0..10).map(|i| (i, (i + 1) % 10, 1.0)).collect();
    /// let graph = Graph::new(names, &links)?;
    /// let held = HeldOut::split(&graph, 0.2, 1)?;
    /// let v = Some(graph.adjacency().to_dense().transpose().to_owned()); // I·Vᵀ = A, sources in rows
    /// let (scaling, report) = (Scaling::None, SolveReport::default());
    /// let features = Features { u: Mat::identity(10, 10), v, sigma: vec![1.0; 10], scaling, report };
    /// let scores = held.evaluate(&features, Links::Out, 1.0)?;
    /// assert_eq!((scores.auroc, scores.average_precision), (1.0, 1.0));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn evaluate(&self, features: &Features<f64>, rows: Links, by: impl Into<LinkScore>) -> Result<LinkScores> {
        let (truth, scores) = self.scores(features, rows, by)?;
        Ok(LinkScores { auroc: auroc(&truth, &scores), average_precision: average_precision(&truth, &scores) })
    }

    /// Whether each pair is a link, those first, and its score.
    ///
    /// # Errors
    /// [`Error::Shape`] if the features are not those of the graph's nodes.
    pub fn scores(
        &self,
        features: &Features<f64>,
        rows: Links,
        by: impl Into<LinkScore>,
    ) -> Result<(Vec<bool>, Vec<f64>)> {
        let (nodes, right) = (self.graph.nodes(), features.vectors(Side::Col));
        if (features.u.nrows(), right.nrows()) != (nodes, nodes) {
            return Err(Error::shape("the number of feature rows", nodes, features.u.nrows()));
        }
        let left = by.into().left(features, &self.graph, rows);
        let score = |link: &(u32, u32)| {
            let (i, j) = ends(*link, rows);
            left.row(i) * right.row(j).transpose()
        };
        let scores: Vec<f64> = self.links.iter().chain(&self.absent).map(score).collect();
        Ok(((0..scores.len()).map(|at| at < self.links.len()).collect(), scores))
    }
}

/// All links but those of nodes to themselves, by source.
fn links_of(graph: &Graph) -> Vec<(u32, u32, f64)> {
    let row = |i: usize| {
        let (cols, vals) = graph.adjacency().row(i);
        cols.iter().zip(vals).map(move |(&j, &w)| (i as u32, j, w))
    };
    (0..graph.nodes()).flat_map(row).filter(|l| l.0 != l.1).collect()
}

/// Random ordered pairs until enough of them are new and without link; a graph that is nearly complete has too
/// few.
fn absent_pairs(graph: &Graph, count: usize, seed: u64) -> Result<Vec<(u32, u32)>> {
    let nodes = graph.nodes() as u32;
    let mut rng = random::generator(seed, Purpose::MissingLinks);
    let mut out = Vec::with_capacity(count);
    let mut seen = HashSet::with_capacity(count);
    for _ in 0..count.saturating_mul(100) {
        if out.len() == count {
            break;
        }
        let pair = (rng.random_range(0..nodes), rng.random_range(0..nodes));
        let linked = graph.adjacency().row(pair.0 as usize).0.binary_search(&pair.1).is_ok();
        if pair.0 != pair.1 && !linked && seen.insert(pair) {
            out.push(pair);
        }
    }
    if out.len() < count {
        return Err(Error::param("share", count, "so small that as many pairs without link can be found"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn parts_are_disjoint_and_complete() {
        let graph = synth::random_graph(200, 1000, 50, 1).unwrap();
        let held = HeldOut::split(&graph, 0.2, 3).unwrap();
        assert_eq!((held.links.len(), held.absent.len(), held.graph.adjacency().nnz()), (200, 200, 800));
        let has = |g: &Graph, p: &(u32, u32)| g.adjacency().row(p.0 as usize).0.contains(&p.1);
        assert!(held.links.iter().all(|p| has(&graph, p) && !has(&held.graph, p)));
        assert!(held.absent.iter().all(|p| !has(&graph, p) && p.0 != p.1));
        assert_eq!(held.links, HeldOut::split(&graph, 0.2, 3).unwrap().links);
    }

    #[test]
    fn shares_that_leave_nothing_are_refused() {
        let graph = synth::random_graph(20, 40, 10, 1).unwrap();
        for share in [0.0, 1.0, 0.001, f64::NAN] {
            assert!(HeldOut::split(&graph, share, 0).is_err(), "{share}");
        }
        let full: Vec<_> = (0..4).flat_map(|i| (0..4).map(move |j| (i, j, 1.0))).collect();
        let complete = Graph::new((0..4).map(|i| i.to_string()).collect(), &full).unwrap();
        assert!(HeldOut::split(&complete, 0.5, 0).is_err());
    }
}

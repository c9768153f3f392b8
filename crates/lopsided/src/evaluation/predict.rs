use crate::base::error::{Error, Result};
use crate::base::random;
use crate::data::graph::{Graph, Links};
use crate::data::samples::Side;
use crate::estimators::Features;
use crate::metrics::{auroc, average_precision};
use rand::RngExt;
use rand::seq::index;
use std::collections::HashSet;

/// A graph without some of its links, those links, and as many pairs of nodes that are not linked.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// What is left to learn from; no node is lost.
    pub graph: Graph,
    /// Links taken out: source and target.
    pub links: Vec<(u32, u32)>,
    /// Different ordered pairs of two nodes without link.
    pub absent: Vec<(u32, u32)>,
}

/// How well scores tell links from pairs without link.
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
        let mut rng = random::generator(seed, 2);
        let taken: HashSet<usize> = index::sample(&mut rng, all.len(), count).into_iter().collect();
        let kept: Vec<_> = (0..all.len()).filter(|at| !taken.contains(at)).map(|at| all[at]).collect();
        let links = (0..all.len()).filter(|at| taken.contains(at)).map(|at| (all[at].0, all[at].1)).collect();
        let absent = absent_pairs(graph, count, seed)?;
        Ok(HeldOut { graph: Graph::new(graph.ids().to_vec(), &kept)?, links, absent })
    }

    /// Scores every pair by (U·Σ^p·Vᵀ)_ij: with [`Links::In`] i is the target and j the source, with [`Links::Out`] the other way round.
    ///
    /// # Errors
    /// [`Error::Shape`] if the features are not those of the graph's nodes.
    pub fn evaluate(&self, features: &Features<f64>, rows: Links, power: f64) -> Result<LinkScores> {
        let (left, right) = (features.scaled(Side::Row, power), features.vectors(Side::Col));
        let nodes = self.graph.nodes();
        if (left.nrows(), right.nrows()) != (nodes, nodes) {
            return Err(Error::shape("the number of feature rows", nodes, left.nrows()));
        }
        let score = |&(source, target): &(u32, u32)| {
            let (i, j) = match rows {
                Links::In => (target as usize, source as usize),
                Links::Out => (source as usize, target as usize),
            };
            left.row(i) * right.row(j).transpose()
        };
        let scores: Vec<f64> = self.links.iter().chain(&self.absent).map(score).collect();
        let truth: Vec<bool> = (0..scores.len()).map(|at| at < self.links.len()).collect();
        Ok(LinkScores { auroc: auroc(&truth, &scores), average_precision: average_precision(&truth, &scores) })
    }
}

fn links_of(graph: &Graph) -> Vec<(u32, u32, f64)> {
    let row = |i: usize| {
        let (cols, vals) = graph.adjacency().row(i);
        cols.iter().zip(vals).map(move |(&j, &w)| (i as u32, j, w))
    };
    (0..graph.nodes()).flat_map(row).filter(|l| l.0 != l.1).collect()
}

fn absent_pairs(graph: &Graph, count: usize, seed: u64) -> Result<Vec<(u32, u32)>> {
    let nodes = graph.nodes() as u32;
    let mut rng = random::generator(seed, 3);
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

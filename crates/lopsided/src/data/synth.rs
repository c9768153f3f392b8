//! Seeded synthetic data for tests, benchmarks, examples and the demo.
//!
//! | maker | what | the known answer |
//! | --- | --- | --- |
//! | [`CyclicGraph`] | a graph whose classes lie on a cycle | classes show in the direction of links only |
//! | [`random_graph`], [`hub_graph`] | graphs with a given number of links | sizes, degrees, cost of products |
//! | [`gaussian`], [`clusters`] | dense samples | none; the centre of each sample |
//! | [`TopicTable`] | a sparse table of any length, row by row | the parity of the topic, one in ten wrong |
//! | [`TexturedImages`] | grey images of gratings | the class of each image |
//! | [`NoisyProjections`] | a stream of subspaces | a fixed subspace that all are near |
//!
//! The same parameters and seed give the same data on every machine.

mod projections;
mod textures;
mod topics;

pub use projections::NoisyProjections;
pub use textures::TexturedImages;
pub use topics::TopicTable;

use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose, normal};
use crate::base::scalar::Scalar;
use crate::data::graph::Graph;
use faer::Mat;
use rand::distr::OpenClosed01;
use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// In-degrees of [`random_graph`] fall with their rank to this power: a tail like that of web graphs.
const TAIL: f64 = 0.75;

type Link = (u32, u32, f64);

/// A directed graph whose classes show only in the direction of the links.
///
/// The classes lie on a cycle, and with p = degree / (nodes − 1), P(i → j) is p·(1 + ε), p·(1 − ε) or p if the class of
/// j follows that of i, precedes it, or neither. Each unordered pair is linked with probability 2p, in one of the two
/// directions: without directions this is an Erdős–Rényi graph, and nothing in it tells of the classes.
///
/// So a method that symmetrises the graph cannot do better than chance on it, while row and column embeddings separate
/// the classes.
///
/// ```
/// use lopsided::data::synth::CyclicGraph;
///
/// let rule = CyclicGraph { nodes: 60, classes: 3, degree: 8.0, contrast: 1.0, seed: 7 };
/// let (graph, classes) = rule.generate()?;
/// assert_eq!(classes.iter().filter(|class| **class == 2).count(), 20);
/// for (i, from) in classes.iter().enumerate() {
///     // With full contrast no link leads back to the class before.
///     assert!(graph.adjacency().row(i).0.iter().all(|&j| (classes[j as usize] + 1) % 3 != *from));
/// }
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CyclicGraph {
    /// Number of nodes, at least one per class.
    pub nodes: usize,
    /// Number of classes, at least 3: of two classes each both follows and precedes the other.
    pub classes: usize,
    /// Expected number of links that leave a node, at most (nodes − 1) / 2.
    pub degree: f64,
    /// The ε of the formula, from 0 (no classes) to 1 (no link ever runs backwards).
    pub contrast: f64,
    /// Seed.
    pub seed: u64,
}

impl Default for CyclicGraph {
    fn default() -> Self {
        CyclicGraph { nodes: 3000, classes: 4, degree: 20.0, contrast: 0.9, seed: 1 }
    }
}

impl CyclicGraph {
    /// The graph and the class of each node; classes are of equal size and in random order.
    ///
    /// # Cost
    /// O(nodes · degree): unlinked pairs are skipped by draws from a geometric distribution.
    ///
    /// # Errors
    /// [`Error::Param`] for a parameter outside its range.
    pub fn generate(&self) -> Result<(Graph, Vec<u32>)> {
        self.check()?;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let classes = shuffled_classes(self.nodes, self.classes, &mut rng);
        let pair_share = 2.0 * self.degree / (self.nodes - 1) as f64;
        let mut links = Vec::with_capacity((1.05 * self.degree * self.nodes as f64) as usize);
        for i in 0..self.nodes {
            let mut j = i + 1 + gap(pair_share, &mut rng);
            while j < self.nodes {
                let forward = rng.random::<f64>() < self.forward_share(classes[i], classes[j]);
                let (source, target) = if forward { (i, j) } else { (j, i) };
                links.push((source as u32, target as u32, 1.0));
                j += 1 + gap(pair_share, &mut rng);
            }
        }
        Ok((Graph::new(numbered(self.nodes), &links)?, classes))
    }

    fn check(&self) -> Result<()> {
        if self.classes < 3 {
            return Err(Error::param("classes", self.classes, "at least 3"));
        }
        check_nodes(self.nodes, self.classes)?;
        let most = (self.nodes - 1) as f64 / 2.0;
        if !(self.degree >= 0.0 && self.degree <= most) {
            return Err(Error::param("degree", self.degree, format!("between 0 and (nodes - 1) / 2 = {most}")));
        }
        if !(0.0..=1.0).contains(&self.contrast) {
            return Err(Error::param("contrast", self.contrast, "between 0 and 1"));
        }
        Ok(())
    }

    /// The share of links between a node of class `a` and one of class `b` that run from a to b.
    fn forward_share(&self, a: u32, b: u32) -> f64 {
        let k = self.classes as u32;
        match (b + k - a) % k {
            1 => f64::midpoint(1.0, self.contrast),
            step if step == k - 1 => f64::midpoint(1.0, -self.contrast),
            _ => 0.5,
        }
    }
}

/// A graph with exactly `links` links, sources uniform, in-degrees falling like rank^(−0.75) but at most `max_in_degree`.
///
/// No link is double and none leads from a node to itself.
///
/// ```
/// let graph = lopsided::data::synth::random_graph(100, 500, 20, 1)?;
/// assert_eq!((graph.nodes(), graph.adjacency().nnz()), (100, 500));
/// let arriving = graph.adjacency().transpose();
/// assert!((0..100).all(|i| arriving.row(i).0.len() <= 20));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] if so many links do not fit under the cap.
pub fn random_graph(nodes: usize, links: usize, max_in_degree: usize, seed: u64) -> Result<Graph> {
    check_nodes(nodes, 2)?;
    let cap = max_in_degree.min(nodes - 1);
    if links > nodes.saturating_mul(cap) {
        return Err(Error::param("links", links, format!("at most {} ({nodes} nodes, in-degree {cap})", nodes * cap)));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let order = shuffled_nodes(nodes, &mut rng);
    let mut out = Vec::with_capacity(links);
    for (rank, degree) in tailed_degrees(nodes, links, cap).into_iter().enumerate() {
        link_to(rank, degree, &order, &mut out, &mut rng);
    }
    Graph::new(numbered(nodes), &out)
}

/// A graph with exactly `links` links of which two fifths arrive at, and two fifths leave, a few hubs.
///
/// Links run between hubs and other nodes or between other nodes. With h hubs Σ_k in(k)·out(k), the
/// cost of the product of the graph's matrix with itself, is about (0.4 · links)² / h.
///
/// ```
/// let graph = lopsided::data::synth::hub_graph(50, 100, 2, 1)?;
/// let leaving: Vec<usize> = (0..50).map(|i| graph.adjacency().row(i).0.len()).collect();
/// assert_eq!(leaving.iter().sum::<usize>(), 100);
/// assert_eq!(leaving.iter().filter(|links| **links >= 20).count(), 2); // the two hubs
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] if there are not enough nodes for so many links or hubs.
pub fn hub_graph(nodes: usize, links: usize, hubs: usize, seed: u64) -> Result<Graph> {
    check_nodes(nodes, 3)?;
    if hubs == 0 || hubs > nodes - 2 {
        return Err(Error::param("hubs", hubs, format!("between 1 and nodes - 2 = {}", nodes - 2)));
    }
    let (others, spokes) = (nodes - hubs, links / 5 * 2 / hubs);
    let rest = links - 2 * spokes * hubs;
    if spokes > others || rest > others * (others - 1) {
        return Err(Error::param("links", links, format!("few enough for {nodes} nodes with {hubs} hubs")));
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let order = shuffled_nodes(nodes, &mut rng);
    let (hub_nodes, other_nodes) = order.split_at(hubs);
    let mut out = Vec::with_capacity(links);
    for &hub in hub_nodes {
        out.extend(index::sample(&mut rng, others, spokes).into_iter().map(|at| (other_nodes[at], hub, 1.0)));
        out.extend(index::sample(&mut rng, others, spokes).into_iter().map(|at| (hub, other_nodes[at], 1.0)));
    }
    for at in 0..others {
        let degree = rest / others + usize::from(at < rest % others);
        link_to(at, degree, other_nodes, &mut out, &mut rng);
    }
    Graph::new(numbered(nodes), &out)
}

/// A matrix of independent standard normal numbers.
pub fn gaussian<T: Scalar>(nrows: usize, ncols: usize, seed: u64) -> Mat<T> {
    random::gaussian(nrows, ncols, &mut random::generator(seed, Purpose::Data))
}

/// `n` samples around `k` centres, and the number of each sample's centre.
///
/// Coordinates of the centres have standard deviation 3, samples around their centre 1; clusters are of equal size and
/// in random order.
///
/// ```
/// let (points, labels) = lopsided::data::synth::clusters::<f64>(10, 2, 5, 1);
/// assert_eq!(points.shape(), (10, 2));
/// assert!((0..5).all(|k| labels.iter().filter(|label| **label == k).count() == 2));
/// ```
///
/// # Panics
/// If k is 0.
pub fn clusters<T: Scalar>(n: usize, width: usize, k: usize, seed: u64) -> (Mat<T>, Vec<u32>) {
    assert!(k > 0, "{k} clusters");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let labels = shuffled_classes(n, k, &mut rng);
    let centres = Mat::from_fn(k, width, |_, _| 3.0 * normal(&mut rng));
    let points = Mat::from_fn(n, width, |i, j| T::of(centres[(labels[i] as usize, j)] + normal(&mut rng)));
    (points, labels)
}

/// Refuses fewer nodes than `least`, and more than can be numbered.
fn check_nodes(nodes: usize, least: usize) -> Result<()> {
    if nodes < least || u32::try_from(nodes).is_err() {
        return Err(Error::param("nodes", nodes, format!("between {least} and {}", u32::MAX)));
    }
    Ok(())
}

fn numbered(nodes: usize) -> Vec<String> {
    (0..nodes).map(|i| i.to_string()).collect()
}

fn shuffled_nodes(nodes: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes as u32).collect();
    order.shuffle(rng);
    order
}

/// Classes 0 to k − 1 in turn, shuffled: sizes differ by one at most.
fn shuffled_classes(n: usize, k: usize, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let mut classes: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
    classes.shuffle(rng);
    classes
}

/// Failures before the first success of trials with probability `share`.
fn gap(share: f64, rng: &mut ChaCha8Rng) -> usize {
    // A share of 0 gives infinity or NaN; `min` turns both into a jump past every node that cannot overflow.
    let failures = rng.sample::<f64, _>(OpenClosed01).ln() / (-share).ln_1p();
    failures.min(f64::from(u32::MAX)) as usize
}

/// Links to `nodes[at]` from `degree` different other members of `nodes`.
fn link_to(at: usize, degree: usize, nodes: &[u32], out: &mut Vec<Link>, rng: &mut ChaCha8Rng) {
    let sources = index::sample(rng, nodes.len() - 1, degree).into_iter();
    out.extend(sources.map(|s| (nodes[if s < at { s } else { s + 1 }], nodes[at], 1.0)));
}

/// Whole numbers near min(cap, c · rank^(−TAIL)), in order of rank, with c such that they add up to `total`.
///
/// The ranks that would exceed the cap get the cap, and what they would have had more is spread over the rest.
fn tailed_degrees(nodes: usize, total: usize, cap: usize) -> Vec<usize> {
    let weight = |rank: usize| ((rank + 1) as f64).powf(-TAIL);
    let mut weights: f64 = (0..nodes).map(weight).sum();
    let (mut full, mut left) = (0, total);
    while full < nodes && left as f64 * weight(full) > cap as f64 * weights && left >= cap {
        weights -= weight(full);
        left -= cap;
        full += 1;
    }
    let mut degrees = vec![cap; full];
    let (mut wanted, mut given) = (0.0, 0);
    for rank in full..nodes {
        // Rounding the running sum instead of each term keeps the total exact.
        wanted += left as f64 * weight(rank) / weights;
        let degree = (wanted.round() as usize).min(left).saturating_sub(given).min(cap);
        given += degree;
        degrees.push(degree);
    }
    degrees
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_degrees(graph: &Graph) -> Vec<usize> {
        let arriving = graph.adjacency().transpose();
        (0..graph.nodes()).map(|i| arriving.row(i).0.len()).collect()
    }

    fn assert_simple(graph: &Graph) {
        assert!(graph.adjacency().parts().2.iter().all(|&w| w < 1.5), "double links");
        assert!((0..graph.nodes()).all(|i| !graph.adjacency().row(i).0.contains(&(i as u32))), "self links");
    }

    /// Links from class a to class b.
    fn class_counts(graph: &Graph, classes: &[u32], k: usize) -> Mat<f64> {
        let mut counts = Mat::zeros(k, k);
        for (i, &class) in classes.iter().enumerate() {
            for &j in graph.adjacency().row(i).0 {
                counts[(class as usize, classes[j as usize] as usize)] += 1.0;
            }
        }
        counts
    }

    #[test]
    fn classes_show_in_directed_links_only() {
        let k = 5;
        let rule = CyclicGraph { classes: k, contrast: 0.6, ..CyclicGraph::default() };
        let (graph, classes) = rule.generate().unwrap();
        let counts = class_counts(&graph, &classes, k);
        let expected = rule.degree * rule.nodes as f64 / (k * k) as f64;
        for a in 0..k {
            for b in 0..k {
                let either = f64::midpoint(counts[(a, b)], counts[(b, a)]);
                assert!((either - expected).abs() < 5.0 * expected.sqrt(), "{a} {b}: {either} of {expected}");
            }
            let (next, previous) = (counts[(a, (a + 1) % k)], counts[(a, (a + k - 1) % k)]);
            assert!((next - 1.6 * expected).abs() < 5.0 * next.sqrt(), "{a}: {next} of {}", 1.6 * expected);
            assert!((previous - 0.4 * expected).abs() < 5.0 * previous.sqrt(), "{a}: {previous} of {}", 0.4 * expected);
        }
        assert_simple(&graph);
    }

    #[test]
    fn full_contrast_never_links_backwards_and_full_degree_links_every_pair() {
        let rule = CyclicGraph { nodes: 41, classes: 3, degree: 20.0, contrast: 1.0, seed: 2 };
        let (graph, classes) = rule.generate().unwrap();
        assert_eq!(graph.adjacency().nnz(), 41 * 20);
        let counts = class_counts(&graph, &classes, 3);
        assert!((0..3).all(|a| counts[(a, (a + 2) % 3)] == 0.0));
    }

    #[test]
    fn a_degree_of_zero_gives_no_links() {
        let (graph, _) = CyclicGraph { degree: 0.0, ..CyclicGraph::default() }.generate().unwrap();
        assert_eq!(graph.adjacency().nnz(), 0);
    }

    #[test]
    fn same_seed_same_graph() {
        let rule = CyclicGraph { nodes: 300, ..CyclicGraph::default() };
        let adjacency = |seed| CyclicGraph { seed, ..rule.clone() }.generate().unwrap().0.adjacency().clone();
        assert_eq!(adjacency(1), adjacency(1));
        assert_ne!(adjacency(1), adjacency(2));
        let tailed = |seed| random_graph(300, 900, 50, seed).unwrap().adjacency().clone();
        assert_eq!(tailed(1), tailed(1));
        assert_ne!(tailed(1), tailed(2));
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let rule = CyclicGraph::default();
        let fails = |rule: CyclicGraph| rule.generate().unwrap_err().to_string();
        assert!(fails(CyclicGraph { classes: 2, ..rule.clone() }).contains("`classes` is 2"));
        assert!(fails(CyclicGraph { nodes: 3, ..rule.clone() }).contains("`nodes` is 3"));
        assert!(fails(CyclicGraph { degree: f64::NAN, ..rule.clone() }).contains("`degree` is NaN"));
        assert!(fails(CyclicGraph { contrast: 1.1, ..rule }).contains("`contrast` is 1.1"));
        assert!(random_graph(10, 21, 2, 1).is_err() && random_graph(1, 0, 1, 1).is_err());
        assert!(hub_graph(10, 10, 0, 1).is_err() && hub_graph(10, 1000, 1, 1).is_err());
    }

    #[test]
    fn in_degrees_are_tailed_and_capped() {
        let graph = random_graph(20_000, 100_000, 500, 3).unwrap();
        let mut degrees = in_degrees(&graph);
        degrees.sort_unstable();
        assert_eq!(degrees.iter().sum::<usize>(), 100_000);
        assert_eq!(degrees[19_999], 500);
        assert!(degrees[10_000] <= 4, "the median is {}", degrees[10_000]);
        assert_simple(&graph);
    }

    #[test]
    fn degrees_add_up_at_the_limits() {
        for (nodes, total, cap) in [(10, 0, 5), (10, 50, 5), (10, 49, 5), (7, 6, 1), (1000, 1234, 999), (5, 3, 0)] {
            let degrees = tailed_degrees(nodes, total, cap);
            assert_eq!(degrees.len(), nodes);
            assert_eq!(degrees.iter().sum::<usize>(), if cap == 0 { 0 } else { total }, "{nodes} {total} {cap}");
            assert!(degrees.iter().all(|&d| d <= cap));
        }
    }

    #[test]
    fn hubs_make_the_squared_matrix_dense() {
        let graph = hub_graph(20_000, 100_000, 4, 3).unwrap();
        let paths: usize = in_degrees(&graph).iter().zip(0..).map(|(d, i)| d * graph.adjacency().row(i).0.len()).sum();
        assert_eq!(graph.adjacency().nnz(), 100_000);
        assert!(paths >= 4 * 10_000 * 10_000);
        assert_simple(&graph);
    }

    #[test]
    fn gaussian_numbers_have_mean_zero_and_variance_one() {
        let m = gaussian::<f64>(200, 100, 7);
        let moment = |k: i32| m.col_iter().flat_map(faer::ColRef::iter).map(|v| v.powi(k)).sum::<f64>() / 20_000.0;
        assert!(moment(1).abs() < 0.03 && (moment(2) - 1.0).abs() < 0.05 && (moment(4) - 3.0).abs() < 0.3);
    }

    #[test]
    fn clusters_are_of_equal_size() {
        let (points, labels) = clusters::<f32>(90, 3, 9, 1);
        assert_eq!((points.nrows(), points.ncols()), (90, 3));
        assert!((0..9).all(|k| labels.iter().filter(|&&l| l == k).count() == 10));
    }
}

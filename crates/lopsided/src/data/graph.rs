//! Directed graphs and the matrix whose rows and columns are their samples.
//!
//! [`Graph`] holds names and links, [`GraphRule`] says which matrix they become, and [`GraphFrame`] remembers enough of
//! both to place nodes that come later.
//!
//! | rule | matrix | used by |
//! | --- | --- | --- |
//! | default | P = D⁻¹(A + I), rows of arriving links | all kernels but Katz; \[KSVD\] and \[AsKLS\] |
//! | no loops, no normalisation | A | Katz proximity |
//! | [`Links::Out`] | the same with rows of leaving links | walks along the links |
//! | [`Links::Either`] | D⁻¹(A + Aᵀ + I), whose rows are its columns as well | machines, where direction tells nothing |
//! | [`Links::Both`] | D⁻¹\[Aᵀ + I, A + I\], arriving links beside leaving ones; its rows are its columns as well | machines, where nodes are alike whose links come from and lead to the same nodes |

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::node_features::FeatureBlock;
use crate::data::samples::Csr;
use crate::data::walk::{self, Walk};
use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use std::borrow::Cow;
use std::collections::HashMap;

/// Which links make up a node's row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Links {
    /// Row i holds the links that arrive at node i, as in \[KSVD\] and \[AsKLS\].
    #[default]
    In,
    /// Row i holds the links that leave node i.
    Out,
    /// Row i holds the links that arrive at node i and those that leave it, and column i is the same: links without direction.
    Either,
    /// Row i holds the links that arrive at node i, and beside them, in coordinates of their own, those that leave it; column i is the
    /// same. Nodes are compared with nodes, and links keep their direction.
    Both,
    /// As [`Links::In`], until held-out labels show that links tell more in another way.
    Auto,
}

impl Links {
    /// Whether the columns of the matrix are its rows: nodes are compared with nodes.
    pub(crate) fn one_sided(self) -> bool {
        matches!(self, Links::Either | Links::Both)
    }

    /// How many coordinates of a sample belong to one node.
    fn parts(self) -> usize {
        if self == Links::Both { 2 } else { 1 }
    }
}

/// How a graph becomes a matrix: by default P = D⁻¹(A + I) with A\[i, j\] = 1 for a link j → i.
///
/// ```
/// use lopsided::{Graph, GraphRule, Links};
///
/// let graph = Graph::new(["a", "b"].map(String::from).to_vec(), &[(0, 1, 3.0)])?;
/// let plain = GraphRule { links: Links::Out, self_loops: false, normalize: false, unit: false, walk: 1 };
/// let (a, sums) = graph.matrix::<f64>(&plain)?;
/// assert_eq!((a.to_dense(), sums), (faer::mat![[0.0, 3.0], [0.0, 0.0]], vec![3.0, 0.0]));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GraphRule {
    /// Which links are a node's row.
    pub links: Links,
    /// Adds a link from every node to itself.
    pub self_loops: bool,
    /// Divides every row by its sum.
    pub normalize: bool,
    /// Brings every row sample and every column sample to unit length, so that nodes with many links and nodes with few are
    /// compared by where their links lead and not by how many there are.
    #[serde(default)]
    pub unit: bool,
    /// Steps K of the walk: samples are rows and columns of (P + P² + … + P^K)/K, and of P itself with one step.
    #[serde(default = "one_step")]
    pub walk: usize,
}

/// Files of earlier versions do not say how far the walk goes.
fn one_step() -> usize {
    1
}

impl Default for GraphRule {
    fn default() -> Self {
        GraphRule { links: Links::In, self_loops: true, normalize: true, unit: false, walk: 1 }
    }
}

/// A weighted directed graph with named nodes.
///
/// ```
/// use lopsided::{Graph, GraphRule};
///
/// let names = ["home", "news"].map(String::from).to_vec();
/// let graph = Graph::new(names, &[(0, 1, 1.0)])?;
/// // Row 1 holds what arrives at `news`: half from `home`, half from its own loop.
/// let (p, _) = graph.matrix::<f64>(&GraphRule::default())?;
/// assert_eq!(p.row(1), (&[0, 1][..], &[0.5, 0.5][..]));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    ids: Vec<String>,
    /// Row: source, column: target.
    adjacency: Csr<f64>,
}

impl Graph {
    /// A graph from node names and links `(source, target, weight)` between their positions; equal links add up.
    ///
    /// # Errors
    /// [`Error::Shape`] for a link to a node that does not exist, [`Error::NotFinite`] for a weight that is NaN or
    /// infinite.
    pub fn new(ids: Vec<String>, links: &[(u32, u32, f64)]) -> Result<Self> {
        let n = ids.len();
        if let Some(&(s, t, _)) = links.iter().find(|l| l.0 as usize >= n || l.1 as usize >= n) {
            return Err(Error::shape(
                format!("link {s} -> {t}"),
                format!("between nodes 0 to {}", n.max(1) - 1),
                "outside",
            ));
        }
        if let Some(&(s, t, w)) = links.iter().find(|l| !l.2.is_finite()) {
            return Err(Error::NotFinite {
                what: "link weights".into(),
                value: w.to_string(),
                row: s as usize,
                col: t as usize,
            });
        }
        Ok(Graph { adjacency: Csr::from_triplets(n, n, links), ids })
    }

    /// Node names, in row order.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.ids.len()
    }

    /// Links by source: row s holds the targets of s.
    pub fn adjacency(&self) -> &Csr<f64> {
        &self.adjacency
    }

    /// Keeps at most `most` links that leave, and then at most `most` that arrive at, any one node, drawn by `seed`.
    ///
    /// The cost of exact kernel products grows with (links in) × (links out) of each node, so a few hubs can dominate.
    ///
    /// ```
    /// use lopsided::Graph;
    ///
    /// let names = (0..4).map(|i| i.to_string()).collect();
    /// let star = Graph::new(names, &[(1, 0, 1.0), (2, 0, 1.0), (3, 0, 1.0)])?;
    /// assert_eq!(star.cap_degrees(2, 1).adjacency().nnz(), 2); // of three links that arrive at 0
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn cap_degrees(&self, most: usize, seed: u64) -> Self {
        let leaving = thin_rows(&self.adjacency, most, seed);
        let arriving = thin_rows(&leaving.transpose(), most, seed.wrapping_add(1));
        Graph { ids: self.ids.clone(), adjacency: arriving.transpose() }
    }

    /// The matrix P of the rule and its row sums before normalisation.
    ///
    /// 1. Row i holds the links that arrive at node i, or leave it.
    /// 2. With self loops 1 is added to P\[i, i\].
    /// 3. With normalisation every row is divided by its sum; rows without entries stay empty.
    ///
    /// It is one step of the walk, however many the rule has.
    ///
    /// # Errors
    /// [`Error::Param`] for a row whose weights do not sum to more than 0 and which is to be divided by that.
    pub fn matrix<T: Scalar>(&self, rule: &GraphRule) -> Result<(Csr<T>, Vec<f64>)> {
        let n = self.nodes();
        let rows = self.by_row(rule.links);
        let mut out = Csr::empty(rows.ncols());
        let mut sums = Vec::with_capacity(n);
        for i in 0..n {
            let (cols, vals) = rows.row(i);
            let mut entries: Vec<(u32, f64)> = cols.iter().copied().zip(vals.iter().copied()).collect();
            if rule.self_loops {
                for own in (i..rows.ncols()).step_by(n) {
                    let at = entries.partition_point(|e| e.0 <= own as u32);
                    entries.insert(at, (own as u32, 1.0));
                }
            }
            let sum: f64 = entries.iter().map(|e| e.1).sum();
            let divisor = rule.divisor(sum, entries.is_empty(), &self.ids[i])?;
            out.push_row(entries.into_iter().map(|(j, v)| (j, T::of(v / divisor))));
            sums.push(sum);
        }
        Ok((out, sums))
    }

    /// The links that make up the rows.
    fn by_row(&self, links: Links) -> Cow<'_, Csr<f64>> {
        match links {
            Links::In | Links::Auto => Cow::Owned(self.adjacency.transpose()),
            Links::Out => Cow::Borrowed(&self.adjacency),
            Links::Either => Cow::Owned(without_direction(&self.adjacency)),
            Links::Both => Cow::Owned(beside(&self.adjacency.transpose(), &self.adjacency)),
        }
    }

    /// The matrix of all steps of the rule's walk, (P + … + P^K)/K, with what new nodes need to walk along.
    pub(super) fn walked<T: Scalar>(&self, rule: &GraphRule) -> Result<(Csr<T>, Vec<f64>, Option<Walk>)> {
        walk::check(rule.walk)?;
        if rule.walk > 1 && rule.links == Links::Both {
            return Err(Error::param("walk", rule.walk, "1 with the links `both`, which no walk can follow"));
        }
        if rule.walk == 1 {
            let (p, sums) = self.matrix(rule)?;
            return Ok((p, sums, None));
        }
        let (p, sums) = self.matrix::<f64>(rule)?;
        let (w, walk) = Walk::of(p, rule.walk)?;
        let mut out = Csr::empty(w.ncols());
        for i in 0..w.nrows() {
            let (cols, values) = w.row(i);
            out.push_row(cols.iter().zip(values).map(|(&j, &v)| (j, T::of(v))));
        }
        Ok((out, sums, Some(walk)))
    }
}

impl GraphRule {
    /// What a row is divided by: its sum, or 1 where nothing is to be done. Negative weights can make a sum that means
    /// nothing.
    fn divisor(self, sum: f64, empty: bool, node: &str) -> Result<f64> {
        if !self.normalize || empty {
            return Ok(1.0);
        }
        if sum > 0.0 {
            return Ok(sum);
        }
        Err(Error::param(
            "weight sum",
            format!("{sum} at node {node}"),
            "positive for row normalisation (turn it off for signed weights)",
        ))
    }
}

/// What a model must remember of its graph to place new nodes in it.
///
/// A new node is described by its links with training nodes; links between new nodes have no coordinate.
///
/// ```
/// use lopsided::{Dataset, Graph, GraphRule};
///
/// let graph = |names: [&str; 2]| Graph::new(names.map(String::from).to_vec(), &[(0, 1, 1.0)]);
/// let trained: Dataset<f64> = Dataset::from_graph(&graph(["a", "b"])?, &GraphRule::default())?;
/// let frame = trained.frame.unwrap();
/// // The new node c gets a link from a: one half of its row, the other half is its own loop.
/// let (ids, rows, left_out) = frame.row_samples::<f64>(&graph(["a", "c"])?)?;
/// assert_eq!((ids[1].as_str(), rows.row(1), left_out), ("c", (&[0][..], &[0.5][..]), 0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GraphFrame {
    /// The rule that made the matrix.
    pub rule: GraphRule,
    /// Training nodes, in row order.
    pub ids: Vec<String>,
    /// Row sums before normalisation.
    pub sums: Vec<f64>,
    /// What new nodes walk along; `None` where a walk has one step.
    pub walk: Option<Walk>,
    /// The features beside links, where there are any; their coordinates follow those of the links.
    pub features: Option<FeatureBlock>,
}

/// The samples of the wanted nodes, empty where there is none; `ids` are the names of the rows of `samples`.
pub fn picked<T: Scalar>(ids: &[String], samples: &Csr<T>, wanted: &[String]) -> Csr<T> {
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let mut out = Csr::empty(samples.ncols());
    for id in wanted {
        let (cols, values) = places.get(id.as_str()).map_or((&[][..], &[][..]), |&at| samples.row(at));
        out.push_row(cols.iter().copied().zip(values.iter().copied()));
    }
    out
}

impl GraphFrame {
    /// Row samples of the nodes of `graph`: their links on the row side, in coordinates of the training nodes.
    ///
    /// A self loop counts towards the row sum of a new node although it has no coordinate. Links to nodes outside the
    /// frame have no coordinate and are left out; their number comes back as well.
    ///
    /// Returns names, samples and that number, for the nodes that are known or have a link on this side.
    ///
    /// # Errors
    /// Those of [`Graph::matrix`].
    pub fn row_samples<T: Scalar>(&self, graph: &Graph) -> Result<(Vec<String>, Csr<T>, usize)> {
        let by_row = graph.by_row(self.rule.links);
        let side = NewSide { links: by_row.as_ref(), along: self.walk.as_ref().map(|walk| walk.step.clone()) };
        self.samples(graph, &side, |node, entries| {
            let own = if self.rule.self_loops { self.rule.links.parts() as f64 } else { 0.0 };
            let sum = own + entries.iter().map(|e| e.1).sum::<f64>();
            let divisor = self.rule.divisor(sum, entries.is_empty() && own == 0.0, node)?;
            entries.iter_mut().for_each(|e| e.1 /= divisor);
            Ok(1.0 / divisor)
        })
    }

    /// Column samples of the nodes of `graph`: their links on the column side, divided by the training row sums.
    ///
    /// The divisors are those of the rows the links lead to, because normalisation runs over rows; a new node changes
    /// no training row. Returns what [`GraphFrame::row_samples`] returns.
    pub fn col_samples<T: Scalar>(&self, graph: &Graph) -> Result<(Vec<String>, Csr<T>, usize)> {
        let by_col = match self.rule.links {
            Links::In | Links::Auto => graph.adjacency.clone(),
            Links::Out => graph.adjacency.transpose(),
            Links::Either | Links::Both => return self.row_samples(graph),
        };
        let known: HashMap<&str, usize> = self.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
        let divisor = |i: usize| if self.rule.normalize && self.sums[i] > 0.0 { self.sums[i] } else { 1.0 };
        let side = NewSide { links: &by_col, along: self.walk.as_ref().map(|walk| walk.step.transpose()) };
        self.samples(graph, &side, |node, entries| {
            entries.iter_mut().for_each(|e| e.1 /= divisor(e.0 as usize));
            Ok(known.get(node).map_or(1.0, |&i| 1.0 / divisor(i)))
        })
    }

    /// Coordinates of the links in a sample; those of features follow them.
    pub fn link_width(&self) -> usize {
        self.rule.links.parts() * self.ids.len()
    }

    /// What a user should know of the samples: how much of the walk was left out.
    pub fn note(&self) -> Option<String> {
        self.walk.as_ref().and_then(Walk::note)
    }

    /// Samples of all nodes that have links on a side; `scale` scales a node's entries and returns its self-loop value.
    ///
    /// Training nodes walk as they did. A walk from or to a new node passes it at its beginning or end only, and a node that stays at
    /// its own loop leaves it a step later.
    fn samples<T: Scalar>(
        &self,
        graph: &Graph,
        side: &NewSide<'_>,
        scale: impl Fn(&str, &mut Vec<(u32, f64)>) -> Result<f64>,
    ) -> Result<(Vec<String>, Csr<T>, usize)> {
        let known: HashMap<&str, u32> = self.ids.iter().enumerate().map(|(i, id)| (id.as_str(), i as u32)).collect();
        let (n, there) = (self.ids.len() as u32, graph.nodes());
        let mut out = Csr::empty(self.link_width());
        let (mut ids, mut dropped) = (Vec::new(), 0);
        for (i, id) in graph.ids.iter().enumerate() {
            let own = known.get(id.as_str()).copied();
            let (cols, vals) = side.links.row(i);
            if cols.is_empty() && own.is_none() {
                continue;
            }
            let mut entries = Vec::with_capacity(cols.len() + 1);
            for (&j, &w) in cols.iter().zip(vals) {
                let (part, node) = (j as usize / there, j as usize % there);
                match known.get(graph.ids[node].as_str()) {
                    Some(&at) => entries.push((at + part as u32 * n, w)),
                    None => dropped += 1,
                }
            }
            let self_loop = scale(id, &mut entries)?;
            if let (true, Some(at)) = (self.rule.self_loops, own) {
                entries.extend((0..self.rule.links.parts() as u32).map(|part| (at + part * n, self_loop)));
            }
            entries.sort_by_key(|e| e.0);
            if let (Some(walk), Some(along)) = (&self.walk, &side.along) {
                let waiting = if self.rule.self_loops && own.is_none() { self_loop } else { 0.0 };
                entries = walk.sample(along, &entries, waiting, self.rule.walk);
            }
            if self.rule.unit {
                // A link to itself and the loop are one entry.
                entries.dedup_by(|next, first| {
                    let same = next.0 == first.0;
                    first.1 += if same { next.1 } else { 0.0 };
                    same
                });
                let length = entries.iter().map(|e| e.1 * e.1).sum::<f64>().sqrt();
                entries.iter_mut().filter(|_| length > 0.0).for_each(|e| e.1 /= length);
            }
            out.push_row(entries.into_iter().map(|(j, v)| (j, T::of(v))));
            ids.push(id.clone());
        }
        Ok((ids, out, dropped))
    }
}

/// The links that make up new samples, and what they walk along.
struct NewSide<'a> {
    links: &'a Csr<f64>,
    along: Option<Csr<f64>>,
}

/// Every link in both directions, but those of nodes to themselves, which have none.
pub(super) fn without_direction(links: &Csr<f64>) -> Csr<f64> {
    let mut both = Vec::with_capacity(2 * links.nnz());
    for i in 0..links.nrows() {
        let (cols, values) = links.row(i);
        for (&j, &w) in cols.iter().zip(values) {
            both.push((i as u32, j, w));
            both.extend((i as u32 != j).then_some((j, i as u32, w)));
        }
    }
    Csr::from_triplets(links.nrows(), links.ncols(), &both)
}

/// The rows of both, in coordinates of their own.
pub(super) fn beside(first: &Csr<f64>, second: &Csr<f64>) -> Csr<f64> {
    let start = first.ncols() as u32;
    let mut out = Csr::empty(first.ncols() + second.ncols());
    for i in 0..first.nrows() {
        let ((cols, values), (others, weights)) = (first.row(i), second.row(i));
        let shifted = others.iter().map(|&j| start + j).zip(weights.iter().copied());
        out.push_row(cols.iter().copied().zip(values.iter().copied()).chain(shifted));
    }
    out
}

/// Rows of more than `most` entries lose some at random; what is kept keeps its order and its weights.
fn thin_rows(csr: &Csr<f64>, most: usize, seed: u64) -> Csr<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut out = Csr::empty(csr.ncols());
    for i in 0..csr.nrows() {
        let (cols, vals) = csr.row(i);
        let mut kept: Vec<usize> = if cols.len() > most {
            index::sample(&mut rng, cols.len(), most).into_vec()
        } else {
            (0..cols.len()).collect()
        };
        kept.sort_unstable();
        out.push_row(kept.into_iter().map(|at| (cols[at], vals[at])));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Graph {
        let ids = ["a", "b", "c"].map(String::from).to_vec();
        Graph::new(ids, &[(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]).unwrap()
    }

    #[test]
    fn rows_hold_arriving_links_and_sum_to_one() {
        let (p, sums) = triangle().matrix::<f64>(&GraphRule::default()).unwrap();
        let third = 1.0 / 3.0;
        assert_eq!(p.row(0), (&[0u32][..], &[1.0][..]));
        assert_eq!(p.row(2), (&[0u32, 1, 2][..], &[third, third, third][..]));
        assert_eq!(sums, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn training_nodes_get_their_own_samples_back() {
        for links in [Links::In, Links::Out, Links::Either, Links::Both, Links::Auto] {
            let rule = GraphRule { links, ..GraphRule::default() };
            let graph = triangle();
            let (p, sums) = graph.matrix::<f64>(&rule).unwrap();
            let frame = GraphFrame { rule, ids: graph.ids().to_vec(), sums, walk: None, features: None };
            assert_eq!(frame.row_samples::<f64>(&graph).unwrap().1, p);
            let columns = if links.one_sided() { p } else { p.transpose() };
            assert_eq!(frame.col_samples::<f64>(&graph).unwrap().1, columns);
        }
    }

    #[test]
    fn training_nodes_walk_as_they_did() {
        for (links, normalize) in [(Links::In, true), (Links::Out, true), (Links::In, false)] {
            let rule = GraphRule { links, normalize, walk: 3, ..GraphRule::default() };
            let graph = triangle();
            let (w, sums, walk) = graph.walked::<f64>(&rule).unwrap();
            let frame = GraphFrame { rule, ids: graph.ids().to_vec(), sums, walk, features: None };
            let close = |a: &Csr<f64>, b: &Csr<f64>| (a.to_dense() - b.to_dense()).norm_max() < 1e-14;
            assert!(close(&frame.row_samples(&graph).unwrap().1, &w));
            assert!(close(&frame.col_samples(&graph).unwrap().1, &w.transpose()));
        }
    }

    #[test]
    fn capped_hubs_keep_the_allowed_number_of_links() {
        let ids = (0..50).map(|i| i.to_string()).collect();
        let links: Vec<_> = (1..50).map(|j| (0, j, 1.0)).collect();
        let capped = Graph::new(ids, &links).unwrap().cap_degrees(10, 1);
        assert_eq!(capped.adjacency().nnz(), 10);
    }

    #[test]
    fn a_weight_sum_of_zero_cannot_be_normalised() {
        let graph = Graph::new(vec!["a".into(), "b".into()], &[(0, 1, -1.0)]).unwrap();
        assert!(graph.matrix::<f64>(&GraphRule::default()).is_err());
        assert!(graph.matrix::<f64>(&GraphRule { normalize: false, ..GraphRule::default() }).is_ok());
    }
}

//! Distances in a graph as similarities, stored sparse.

use super::SparseOperator;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::Csr;
use rayon::prelude::*;

/// Similarities below this count as 0.
const LEAST: f64 = 1e-4;
/// Rows searched between two looks at the memory needed.
const ROWS: usize = 256;
/// Times an entry is held while the matrix is built: in pieces, put together, transposed.
const COPIES: u64 = 3;

/// Shortest-path similarity of the nodes of a graph, S\[i, j\] = exp(−a·d), with d the least number of links on a way from i to
/// j along the rows of the graph's matrix, whatever their weights.
///
/// S\[i, i\] = 1; without a way, and where exp(−a·d) < 1e-4, S is 0 and not stored. Rows that hold the links that arrive at a
/// node ([`crate::Links::In`]) are followed against the links, just as S\[i, j\] takes the place of P\[i, j\].
///
/// # Cost
/// A breadth-first search from every node, twice: entries are counted before they are stored.
///
/// ```
/// use lopsided::operator::{Operator, ShortestPaths};
/// use lopsided::{Csr, Mat, Watch};
///
/// let watch = Watch::default();
/// let halving = ShortestPaths { decay: 2.0_f64.ln(), memory: 1 << 20, watch: &watch };
/// let chain = Csr::from_triplets(3, 3, &[(0, 1, 7.0_f64), (1, 2, 0.1)]); // 0 → 1 → 2, whatever the weights
/// let s = halving.operator(&chain)?;
/// let mut row = Mat::zeros(1, 3);
/// s.block(&[0], &[0, 1, 2], row.as_mut())?;
/// assert!((row[(0, 1)] - 0.5).abs() < 1e-12 && (row[(0, 2)] - 0.25).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct ShortestPaths<'a> {
    /// a, the loss of similarity with each link.
    pub decay: f64,
    /// Bytes that may be used.
    pub memory: u64,
    /// Progress and cancellation.
    pub watch: &'a Watch,
}

impl ShortestPaths<'_> {
    /// S as a sparse operator.
    ///
    /// # Errors
    /// [`Error::Param`] unless the decay is above 0, [`Error::Shape`] unless the matrix is square, [`Error::Memory`],
    /// [`Error::Interrupted`].
    pub fn operator<T: Scalar>(&self, links: &Csr<T>) -> Result<SparseOperator<T>> {
        Ok(SparseOperator::new(None, self.similarities(links)?))
    }

    /// Nodes farther than ln(10⁴)/a links away are never visited: their similarity would count as 0.
    fn similarities<T: Scalar>(&self, links: &Csr<T>) -> Result<Csr<T>> {
        if !(self.decay.is_finite() && self.decay > 0.0) {
            return Err(Error::param("decay", self.decay, "a number above 0"));
        }
        let n = links.nrows();
        if n != links.ncols() {
            return Err(Error::shape("the graph's matrix", "square", format!("{n} x {}", links.ncols())));
        }
        let farthest = (-LEAST.ln() / self.decay).floor().min(n as f64) as u32;
        self.check_memory(links, farthest)?;
        let row = |search: &mut Search, i: usize, cells: &mut Vec<(u32, T)>| {
            let found = search.from(links, i, farthest);
            cells.extend(found.iter().map(|&(j, d)| (j, T::of((-self.decay * f64::from(d)).exp()))));
            cells.sort_unstable_by_key(|cell| cell.0);
        };
        let out = Csr::from_parallel_rows(n, n, || Search::new(n), row);
        self.watch.check()?;
        Ok(out)
    }

    /// Counts the entries and stops at more than fit.
    fn check_memory<T: Scalar>(&self, links: &Csr<T>, farthest: u32) -> Result<()> {
        let n = links.nrows();
        let mut entries = 0;
        for start in (0..n).step_by(ROWS) {
            self.watch.check()?;
            let rows = (start..n.min(start + ROWS)).into_par_iter();
            entries += rows.map_init(|| Search::new(n), |s, i| s.from(links, i, farthest).len() as u64).sum::<u64>();
            let needed = entries * (4 + T::BYTES as u64) * COPIES;
            if needed > self.memory {
                return Err(Error::Memory {
                    what: format!("the similarities of the first {} of {n} nodes alone", n.min(start + ROWS)),
                    needed,
                    available: self.memory,
                    advice: "a larger decay keeps only nearer nodes; katz and ppr store nothing but the graph".into(),
                });
            }
        }
        Ok(())
    }
}

/// Breadth-first search that remembers nothing between two starts but its memory.
///
/// Marks are the number of the start, so that nothing has to be cleared before the next one.
struct Search {
    /// The start of the search that has seen a node, plus one.
    seen: Vec<u32>,
    /// Nodes in the order of their distance.
    reached: Vec<(u32, u32)>,
}

impl Search {
    fn new(nodes: usize) -> Self {
        Search { seen: vec![0; nodes], reached: Vec::new() }
    }

    /// All nodes within `farthest` links of the start, with their distance.
    fn from<T: Scalar>(&mut self, links: &Csr<T>, start: usize, farthest: u32) -> &[(u32, u32)] {
        let mark = start as u32 + 1;
        self.reached.clear();
        self.reached.push((start as u32, 0));
        self.seen[start] = mark;
        let mut at = 0;
        while let Some(&(node, distance)) = self.reached.get(at).filter(|(_, d)| *d < farthest) {
            let (cols, values) = links.row(node as usize);
            for (&next, _) in cols.iter().zip(values).filter(|(_, v)| **v != T::zero()) {
                if self.seen[next as usize] != mark {
                    self.seen[next as usize] = mark;
                    self.reached.push((next, distance + 1));
                }
            }
            at += 1;
        }
        &self.reached
    }
}

//! Several steps of the walk on a graph: W = (P + P² + … + P^K)/K, sparse.
//!
//! P alone compares nodes by their own links. Nodes that have no neighbour in common, but neighbours of neighbours, are alike
//! only for a kernel that looks further; at low rank that is worth more than the exact P.
//!
//! Rows of W fill up with K. How far is estimated from some rows before any is kept, and where it would be too much every
//! step keeps its largest entries only; [`Walk::left_out`] tells what that costs.

use crate::base::error::{Error, Result};
use crate::data::samples::Csr;

/// More steps than this are those of `ppr`.
pub(super) const MOST_STEPS: usize = 16;
/// Entries of W that are kept without asking, and those that every row may have.
const ENTRIES: usize = 1 << 24;
const ROW_ENTRIES: usize = 64;
/// Rows that the size of W is estimated from.
const SAMPLE: usize = 256;

/// What new nodes walk along, and what was left out of the walk.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk {
    /// P, one step.
    pub step: Csr<f64>,
    /// Entries of a row that were kept after each step; `None`: all.
    pub most: Option<usize>,
    /// Share of the weight of W that was left out.
    pub left_out: f64,
}

impl Walk {
    /// W of P, and what is to be kept of the walk.
    ///
    /// # Errors
    /// [`Error::Param`] for no step or more than 16.
    pub(super) fn of(step: Csr<f64>, steps: usize) -> Result<(Csr<f64>, Self)> {
        check(steps)?;
        let most = (estimated(&step, steps) > ENTRIES).then(|| (ENTRIES / step.nrows().max(1)).max(ROW_ENTRIES));
        Ok(Walk::limited(step, steps, most))
    }

    /// W with at most so many entries in a row.
    fn limited(step: Csr<f64>, steps: usize, most: Option<usize>) -> (Csr<f64>, Self) {
        let n = step.nrows();
        let w = Csr::from_parallel_rows(
            n,
            n,
            || Sum::new(n),
            |sum, i, cells| {
                let (cols, values) = step.row(i);
                let start: Vec<(u32, f64)> = cols.iter().copied().zip(values.iter().copied()).collect();
                cells.extend(sum.walk(&step, &start, 0.0, steps, most));
            },
        );
        let mut walk = Walk { step, most, left_out: 0.0 };
        if most.is_some() {
            walk.left_out = walk.lost(&w, steps);
        }
        (w, walk)
    }

    /// The share of the weight that W lacks: the sums of all rows of the exact one are products of P with ones.
    fn lost(&self, w: &Csr<f64>, steps: usize) -> f64 {
        let size = |csr: &Csr<f64>, i: usize, ahead: &[f64]| {
            let (cols, values) = csr.row(i);
            cols.iter().zip(values).map(|(&j, v)| v.abs() * ahead[j as usize]).sum::<f64>()
        };
        let n = self.step.nrows();
        let (mut ahead, mut total) = (vec![1.0; n], 0.0);
        for _ in 0..steps {
            ahead = (0..n).map(|i| size(&self.step, i, &ahead)).collect();
            total += ahead.iter().sum::<f64>() / steps as f64;
        }
        let kept: f64 = w.parts().2.iter().map(|v| v.abs()).sum();
        if total > 0.0 { (1.0 - kept / total).max(0.0) } else { 0.0 }
    }

    /// The sample of a node that begins with `start`, whose own loop has the weight `own` and no coordinate; `along` is P for
    /// rows and its transpose for columns.
    pub(super) fn sample(&self, along: &Csr<f64>, start: &[(u32, f64)], own: f64, steps: usize) -> Vec<(u32, f64)> {
        Sum::new(along.ncols()).walk(along, start, own, steps, self.most)
    }

    /// The sentence about what was left out, where anything was.
    pub fn note(&self) -> Option<String> {
        let most = self.most?;
        let share = 100.0 * self.left_out;
        Some(format!(
            "the walk was cut to the {most} largest entries of each row, which leaves out {share:.1} % of its weight"
        ))
    }
}

/// Refuses numbers of steps that cannot be.
pub(crate) fn check(steps: usize) -> Result<()> {
    if (1..=MOST_STEPS).contains(&steps) {
        return Ok(());
    }
    Err(Error::param("walk", steps, format!("a whole number from 1 to {MOST_STEPS}")))
}

/// Entries that W would have, from rows at equal distances.
fn estimated(step: &Csr<f64>, steps: usize) -> usize {
    let n = step.nrows();
    let count = n.min(SAMPLE);
    let mut sum = Sum::new(n);
    let rows = (0..count).map(|at| {
        let (cols, values) = step.row(at * n / count);
        let start: Vec<(u32, f64)> = cols.iter().copied().zip(values.iter().copied()).collect();
        sum.walk(step, &start, 0.0, steps, None).len()
    });
    rows.sum::<usize>() * n / count.max(1)
}

/// A sparse vector that is added to by coordinates.
struct Sum {
    values: Vec<f64>,
    touched: Vec<u32>,
    seen: Vec<bool>,
}

impl Sum {
    fn new(width: usize) -> Self {
        Sum { values: vec![0.0; width], touched: Vec::new(), seen: vec![false; width] }
    }

    fn add(&mut self, at: u32, value: f64) {
        let j = at as usize;
        if !std::mem::replace(&mut self.seen[j], true) {
            self.touched.push(at);
        }
        self.values[j] += value;
    }

    /// What was added, in the order of the coordinates; nothing is left.
    fn take(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        let out = self.touched.iter().map(|&at| (at, self.values[at as usize])).collect();
        for at in self.touched.drain(..) {
            self.values[at as usize] = 0.0;
            self.seen[at as usize] = false;
        }
        out
    }

    /// (v₁ + … + v_K)/K with v₁ = `start` and v_{k+1} = v_k·P + ownᵏ·v₁: who stays at its own loop leaves later.
    fn walk(
        &mut self,
        along: &Csr<f64>,
        start: &[(u32, f64)],
        own: f64,
        steps: usize,
        most: Option<usize>,
    ) -> Vec<(u32, f64)> {
        let mut states = vec![largest(start.to_vec(), most)];
        let mut waiting = own;
        for k in 1..steps {
            for &(i, v) in &states[k - 1] {
                let (cols, values) = along.row(i as usize);
                cols.iter().zip(values).for_each(|(&j, &p)| self.add(j, v * p));
            }
            if waiting != 0.0 {
                start.iter().for_each(|&(j, v)| self.add(j, waiting * v));
            }
            waiting *= own;
            let next = self.take();
            states.push(largest(next, most));
        }
        states.iter().flatten().for_each(|&(j, v)| self.add(j, v / steps as f64));
        largest(self.take(), most)
    }
}

/// The entries of largest size, in the order of their coordinates; of equals the first.
fn largest(mut entries: Vec<(u32, f64)>, most: Option<usize>) -> Vec<(u32, f64)> {
    let Some(most) = most.filter(|most| entries.len() > *most) else { return entries };
    entries.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    entries.truncate(most);
    entries.sort_unstable_by_key(|e| e.0);
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::graph::GraphRule;
    use crate::data::synth;
    use faer::Mat;

    fn step(nodes: usize, seed: u64) -> Csr<f64> {
        synth::random_graph(nodes, 3 * nodes, 20, seed).unwrap().matrix(&GraphRule::default()).unwrap().0
    }

    /// (P + … + P^K)/K by products of dense matrices.
    fn plain(p: &Mat<f64>, steps: usize) -> Mat<f64> {
        let (mut power, mut sum) = (p.clone(), p.clone());
        for _ in 1..steps {
            power = &power * p;
            sum += &power;
        }
        sum * faer::Scale(1.0 / steps as f64)
    }

    #[test]
    fn the_walk_is_the_mean_of_the_powers() {
        for (steps, seed) in [(1, 1), (2, 2), (3, 3), (5, 4)] {
            let p = step(60, seed);
            let (w, walk) = Walk::of(p.clone(), steps).unwrap();
            assert!((w.to_dense() - plain(&p.to_dense(), steps)).norm_max() < 1e-14, "{steps}");
            assert_eq!((walk.most, walk.left_out, walk.note()), (None, 0.0, None));
        }
        assert!(Walk::of(step(5, 1), 0).is_err() && Walk::of(step(5, 1), MOST_STEPS + 1).is_err());
    }

    #[test]
    fn the_size_is_estimated_before_anything_is_kept() {
        for n in [50, 700] {
            let p = step(n, 5);
            let (found, exact) = (estimated(&p, 3) as f64, Walk::of(p, 3).unwrap().0.nnz() as f64);
            assert!((found / exact - 1.0).abs() < if n <= SAMPLE { 1e-12 } else { 0.3 }, "{found} {exact}");
        }
    }

    #[test]
    fn a_walk_that_is_cut_keeps_the_largest_entries_and_says_so() {
        let p = step(80, 6);
        let (exact, _) = Walk::limited(p.clone(), 3, None);
        let (cut, walk) = Walk::limited(p, 3, Some(4));
        assert!((0..80).all(|i| cut.row(i).0.len() <= 4));
        let sum = |csr: &Csr<f64>| csr.parts().2.iter().sum::<f64>();
        assert!((walk.left_out - (1.0 - sum(&cut) / sum(&exact))).abs() < 1e-12);
        assert!(walk.note().unwrap().starts_with("the walk was cut to the 4 largest entries of each row"));
        assert_eq!(largest(vec![(0, 1.0), (3, -2.0), (5, 1.0)], Some(2)), [(0, 1.0), (3, -2.0)]);
    }

    #[test]
    fn a_new_node_walks_as_in_the_matrix_with_its_row() {
        let p = step(30, 7);
        let (_, walk) = Walk::of(p.clone(), 4).unwrap();
        let (start, own) = (vec![(2, 0.25), (9, 0.5)], 0.25);
        let wide = Mat::from_fn(31, 31, |i, j| match (i, j) {
            (30, 30) => own,
            (30, j) => start.iter().find(|e| e.0 as usize == j).map_or(0.0, |e| e.1),
            (_, 30) => 0.0,
            (i, j) => p.to_dense()[(i, j)],
        });
        let expected = plain(&wide, 4);
        let found = walk.sample(&p, &start, own, 4);
        let value = |j: usize| found.iter().find(|e| e.0 as usize == j).map_or(0.0, |e| e.1);
        assert!((0..30).all(|j| (value(j) - expected[(30, j)]).abs() < 1e-14));
    }
}

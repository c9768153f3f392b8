//! Points in the plane that keep who is near whom: a map of many features.
//!
//! Two components of an embedding show two directions of many. A neighbour embedding gives up distances between far points for
//! those between near ones: the probability that one point takes another for its neighbour, by an SNE kernel of the features,
//! is to be that of the plane, by a kernel with a heavy tail (\[tSNE\] of the references).
//!
//! 1. The nearest neighbours of every point, all pairs compared in blocks, and their probabilities for a perplexity.
//! 2. The points start at the first two principal components of the features, very small.
//! 3. Steps along the gradient, neighbours pulled more strongly at first. Up to 3000 points push each other all; of more, each is
//!    pushed by some of the others, other ones in every step.
//!
//! The result does not depend on the number of threads: every point's forces are summed by one thread in one order.

mod graph;
mod layout;

use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use faer::{Mat, MatRef};
use rand::RngExt;

/// Spread of the points at the start, and of what tells equal ones apart.
const START: f64 = 1e-2;
const JITTER: f64 = 1e-4;

/// How a map is made.
///
/// ```
/// use lopsided::solvers::neighbours::NeighbourMap;
/// use lopsided::{Mat, Run};
///
/// // Two groups of points in ten dimensions, on two axes.
/// let features = Mat::from_fn(60, 10, |i, j| if j == i % 2 { 1.0 } else { 0.01 * ((i * j) % 7) as f64 });
/// let map = NeighbourMap::default().place(features.as_ref(), &Run::default())?;
/// let distance = |a: usize, b: usize| (map.row(a) - map.row(b)).norm_l2();
/// assert!(distance(0, 2) < distance(0, 1));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighbourMap {
    /// Neighbours of a point that pull it.
    pub neighbours: usize,
    /// How many of them count, roughly.
    pub perplexity: f64,
    /// Steps in which neighbours pull more strongly, and steps after those.
    pub steps: (usize, usize),
}

impl Default for NeighbourMap {
    fn default() -> Self {
        NeighbourMap { neighbours: 24, perplexity: 12.0, steps: (100, 250) }
    }
}

impl NeighbourMap {
    /// A place in the plane for each row of features, around the origin.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    ///
    /// # Cost
    /// n²·d for the neighbours, in single precision; about n·1000 distances in the plane for each of 350 steps.
    pub fn place(&self, features: MatRef<'_, f64>, run: &Run) -> Result<Mat<f64>> {
        let n = features.nrows();
        let start = started(features, run.seed);
        if n < 4 {
            return Ok(start);
        }
        let neighbours = self.neighbours.min(n - 1);
        let near = graph::nearest(features, neighbours, run)?;
        let pulls = graph::symmetric(&near, self.perplexity.min(neighbours as f64 / 2.0));
        layout::settled(&start, &pulls, self.steps, run)
    }
}

/// The first two principal components, scaled to be small, with a little noise between equal points.
fn started(features: MatRef<'_, f64>, seed: u64) -> Mat<f64> {
    let (n, d) = (features.nrows(), features.ncols());
    let mut rng = random::generator(seed, Purpose::MapStart);
    let mut out = Mat::from_fn(n, 2, |_, _| START * JITTER * (rng.random::<f64>() - 0.5));
    if n == 0 || d == 0 {
        return out;
    }
    let means: Vec<f64> = (0..d).map(|j| features.col(j).iter().sum::<f64>() / n as f64).collect();
    let centred = Mat::from_fn(n, d, |i, j| features[(i, j)] - means[j]);
    let Some((values, vectors)) = linalg::eigen(linalg::transpose_mul(centred.as_ref(), centred.as_ref()).as_ref())
    else {
        return out;
    };
    let axes = vectors.subcols(0, d.min(2));
    let placed = linalg::mul(centred.as_ref(), axes);
    let spread = (values[0].max(0.0) / n as f64).sqrt();
    if spread > 0.0 {
        for k in 0..axes.ncols() {
            // The sign of an eigenvector is anybody's: the entry of largest size is positive.
            let largest = axes.col(k).iter().copied().reduce(|a, b| if b.abs() > a.abs() { b } else { a });
            let factor = START / spread * largest.unwrap_or(1.0).signum();
            (0..n).for_each(|i| out[(i, k)] += factor * placed[(i, k)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    /// Three groups in twelve dimensions.
    fn groups(n: usize) -> Mat<f64> {
        let noise = synth::gaussian::<f64>(n, 12, 5);
        Mat::from_fn(n, 12, |i, j| 0.2 * noise[(i, j)] + if j == i % 3 { 2.0 } else { 0.0 })
    }

    fn nearest_is_of_the_same_group(map: &Mat<f64>) -> f64 {
        let n = map.nrows();
        let squared = |i: usize, j: usize| (map[(i, 0)] - map[(j, 0)]).powi(2) + (map[(i, 1)] - map[(j, 1)]).powi(2);
        let nearest = |i: usize| {
            let others = (0..n).filter(|j| *j != i);
            others.min_by(|a, b| squared(i, *a).total_cmp(&squared(i, *b))).unwrap_or(i)
        };
        (0..n).filter(|&i| nearest(i) % 3 == i % 3).count() as f64 / n as f64
    }

    #[test]
    fn groups_stay_together_and_apart() {
        let map = NeighbourMap::default().place(groups(300).as_ref(), &Run::default()).unwrap();
        assert!(nearest_is_of_the_same_group(&map) > 0.98);
        assert!(map.col_iter().all(|column| (column.iter().sum::<f64>() / 300.0).abs() < 1e-3));
    }

    #[test]
    fn more_points_than_push_each_other_all_are_placed_by_some() {
        let quick = NeighbourMap { steps: (30, 60), ..NeighbourMap::default() };
        let map = quick.place(groups(layout::ALL + 200).as_ref(), &Run::default()).unwrap();
        assert!(nearest_is_of_the_same_group(&map) > 0.98);
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let features = groups(layout::ALL + 100);
        let quick = NeighbourMap { steps: (10, 10), ..NeighbourMap::default() };
        let placed = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| quick.place(features.as_ref(), &Run::default()).unwrap())
        };
        assert_eq!(placed(1), placed(3));
    }

    #[test]
    fn points_that_are_equal_few_or_none_have_places() {
        for (n, d) in [(0, 3), (1, 3), (3, 1), (5, 0), (50, 2)] {
            let map = NeighbourMap::default().place(Mat::zeros(n, d).as_ref(), &Run::default()).unwrap();
            assert_eq!(map.shape(), (n, 2));
            assert!(map.col_iter().all(|column| column.iter().all(|v| v.is_finite())), "{n} x {d}");
        }
    }

    #[test]
    fn a_wish_to_stop_is_heard() {
        let run = Run::default();
        run.watch.cancel();
        assert!(NeighbourMap::default().place(groups(50).as_ref(), &run).is_err());
    }
}

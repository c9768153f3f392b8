//! Lloyd's iteration, whatever the points are and however their nearest centres are found.
//!
//! 1. Every point goes to its nearest centre.
//! 2. A cluster that ran empty keeps its centre or takes the farthest point ([`Empty`]).
//! 3. Every centre moves to the mean of its points; again from 1, until no point changes its cluster.

use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use faer::{Mat, MatRef};

/// Points to cluster.
pub(crate) trait Cloud<T> {
    /// Visits the coordinates of a point; those that are 0 may be left out.
    fn for_each(&self, i: usize, visit: impl FnMut(usize, T));

    /// The nearest centre of each point and its squared distance; the first of equals.
    fn nearest(&self, centers: MatRef<'_, T>) -> Vec<(usize, f64)>;
}

/// What becomes of a cluster without points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Empty {
    /// It keeps its centre.
    Keep,
    /// It takes the point that is farthest from its own centre, which lowers the inertia most for one move. Points on
    /// their own centre stay: with fewer different points than clusters some clusters stay empty.
    Refill,
}

/// The first of the smallest distances.
pub(crate) fn closest(count: usize, distance: impl Fn(usize) -> f64) -> (usize, f64) {
    (1..count).fold((0, distance(0)), |best, c| {
        let d = distance(c);
        if d < best.1 { (c, d) } else { best }
    })
}

/// A clustering on its way.
pub(crate) struct Lloyd<T> {
    /// One centre per row.
    pub(crate) centers: Mat<T>,
    /// Cluster of each point and its squared distance.
    pub(crate) nearest: Vec<(usize, f64)>,
    empty: Empty,
}

impl<T: Scalar> Lloyd<T> {
    /// The points at their nearest first centre.
    pub(crate) fn new(points: &impl Cloud<T>, centers: Mat<T>, empty: Empty) -> Self {
        Lloyd { nearest: points.nearest(centers.as_ref()), centers, empty }
    }

    /// At most so many rounds.
    pub(crate) fn run(mut self, points: &impl Cloud<T>, rounds: usize, watch: &Watch) -> Result<Self> {
        for _ in 0..rounds {
            watch.check()?;
            if self.empty == Empty::Refill {
                self.refill();
            }
            self.move_centers(points);
            let next = points.nearest(self.centers.as_ref());
            let same = next.iter().zip(&self.nearest).all(|(a, b)| a.0 == b.0);
            self.nearest = next;
            if same {
                break;
            }
        }
        Ok(self)
    }

    fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.centers.nrows()];
        self.nearest.iter().for_each(|(c, _)| sizes[*c] += 1);
        sizes
    }

    fn refill(&mut self) {
        let sizes = self.sizes();
        for empty in (0..sizes.len()).filter(|c| sizes[*c] == 0) {
            let mut farthest = (0, 0.0);
            for (i, &(_, distance)) in self.nearest.iter().enumerate() {
                if distance > farthest.1 {
                    farthest = (i, distance);
                }
            }
            if farthest.1 > 0.0 {
                self.nearest[farthest.0] = (empty, 0.0);
            }
        }
    }

    fn move_centers(&mut self, points: &impl Cloud<T>) {
        let (clusters, width) = self.centers.shape();
        let mut sums = Mat::<T>::zeros(clusters, width);
        for (i, &(c, _)) in self.nearest.iter().enumerate() {
            points.for_each(i, |j, v| sums[(c, j)] += v);
        }
        for (c, size) in self.sizes().into_iter().enumerate().filter(|(_, size)| *size > 0) {
            (0..width).for_each(|j| self.centers[(c, j)] = sums[(c, j)] / T::of(size as f64));
        }
    }

    /// Sum of the squared distances.
    pub(crate) fn inertia(&self) -> f64 {
        self.nearest.iter().map(|(_, distance)| distance).sum()
    }
}

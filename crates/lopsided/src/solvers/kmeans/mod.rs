//! k-means: Lloyd's iteration from spread-out starts.
//!
//! [`KMeans`] is the tool for a few clusters of embedded samples, with many starts. Landmarks, of which there are
//! thousands, come from the same iteration by matrix products ([`crate::solvers::landmarks::KMeansCenters`]).

pub(crate) mod lloyd;

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::setters;
use crate::data::samples::SamplesRef;
use faer::{Mat, MatRef};
use lloyd::{Cloud, Empty, Lloyd, closest};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// k-means: labels and centres that make Σ_i |p_i − c(label_i)|² small.
///
/// 1. Start: k-means++ (Arthur and Vassilvitskii 2007); each centre is the best of a few candidates drawn with
///    probability proportional to the squared distance to the nearest centre so far.
/// 2. Lloyd's iteration until no label changes. A cluster that runs empty takes the point farthest from its own centre.
/// 3. The best of all restarts; the first one in a tie.
///
/// # Cost
/// O(n·k·width) per iteration. The restarts run in parallel, each on one thread, so that the result does not depend on
/// the number of threads.
///
/// ```
/// use lopsided::{KMeans, Mat, Run};
///
/// let points = Mat::from_fn(4, 1, |i, _| [5.0, 0.0, 0.1, 5.1][i]);
/// let found = KMeans::new(2).fit(points.as_ref(), &Run::default())?;
/// assert_eq!(found.labels, [0, 1, 1, 0]); // numbered by the first point
/// assert!((found.centers[(1, 0)] - 0.05).abs() < 1e-12 && (found.inertia - 0.01).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KMeans {
    /// Number of clusters k.
    pub clusters: usize,
    /// Number of starts.
    pub restarts: usize,
    /// Largest number of iterations of each start.
    pub iterations: usize,
}

setters!(KMeans: with_clusters(clusters: usize), with_iterations(iterations: usize), with_restarts(restarts: usize));

impl Default for KMeans {
    /// Eight clusters.
    fn default() -> Self {
        KMeans::new(8)
    }
}

/// What [`KMeans`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    /// Cluster of each point. Clusters are numbered by their first point, so that the first point has label 0.
    pub labels: Vec<u32>,
    /// One centre per row, in the order of the labels; fewer than k where there are fewer different points.
    pub centers: Mat<f64>,
    /// Sum of the squared distances to the centres.
    pub inertia: f64,
}

impl KMeans {
    /// k clusters from 10 starts of at most 300 iterations.
    pub fn new(clusters: usize) -> Self {
        KMeans { clusters, restarts: 10, iterations: 300 }
    }

    /// Clusters points, one per row.
    ///
    /// # Errors
    /// [`Error::Param`] for a number of clusters that is not between 1 and the number of points, or no start;
    /// [`Error::NotFinite`]; [`Error::Interrupted`].
    pub fn fit(&self, points: MatRef<'_, f64>, run: &Run) -> Result<Clustering> {
        self.check(points)?;
        let points = Points::of(points);
        let starts: Vec<Result<Lloyd<f64>>> = (0..self.restarts as u64)
            .into_par_iter()
            .map(|restart| {
                let mut rng = random::nth_generator(run.seed, Purpose::Clusters, restart);
                let start = points.start(self.clusters, &mut rng);
                Lloyd::new(&points, start, Empty::Refill).run(&points, self.iterations, &run.watch)
            })
            .collect();
        let mut best: Option<Lloyd<f64>> = None;
        for found in starts {
            let found = found?;
            if best.as_ref().is_none_or(|b| found.inertia() < b.inertia()) {
                best = Some(found);
            }
        }
        best.map(|b| numbered(&b)).ok_or_else(|| Error::param("restarts", self.restarts, "at least 1"))
    }

    fn check(&self, points: MatRef<'_, f64>) -> Result<()> {
        let n = points.nrows();
        if self.clusters == 0 || self.clusters > n {
            let allowed = format!("between 1 and the number of points, {n}");
            return Err(Error::param("clusters", self.clusters, allowed));
        }
        if self.restarts == 0 {
            return Err(Error::param("restarts", self.restarts, "at least 1"));
        }
        SamplesRef::Dense(points).check_finite("the points")
    }
}

/// Points in one piece, row after row.
struct Points {
    values: Vec<f64>,
    count: usize,
    width: usize,
}

impl Points {
    fn of(points: MatRef<'_, f64>) -> Self {
        let (count, width) = points.shape();
        Points { values: (0..count * width).map(|at| points[(at / width, at % width)]).collect(), count, width }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..][..self.width]
    }

    /// Step 1: the first centres.
    fn start(&self, clusters: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
        let trials = 2 + (clusters as f64).ln() as usize;
        let mut picked = vec![rng.random_range(0..self.count)];
        let first = self.row(picked[0]);
        let mut nearest: Vec<f64> = (0..self.count).map(|i| squared_distance(self.row(i), first)).collect();
        for _ in 1..clusters {
            let candidates = (0..trials).map(|_| match random::draw(&nearest, rng) {
                Some(at) => at,
                None => rng.random_range(0..self.count),
            });
            let closer = |at: usize| -> Vec<f64> {
                let distance = |i: usize| squared_distance(self.row(i), self.row(at));
                nearest.iter().enumerate().map(|(i, &d)| d.min(distance(i))).collect()
            };
            let sum = |distances: &[f64]| distances.iter().sum::<f64>();
            let tried = candidates.map(|at| (at, closer(at)));
            let best = tried.reduce(|best, next| if sum(&next.1) < sum(&best.1) { next } else { best });
            if let Some((at, distances)) = best {
                picked.push(at);
                nearest = distances;
            }
        }
        Mat::from_fn(picked.len(), self.width, |c, j| self.row(picked[c])[j])
    }
}

impl Cloud<f64> for Points {
    fn for_each(&self, i: usize, visit: impl FnMut(usize, f64)) {
        let mut visit = visit;
        self.row(i).iter().enumerate().for_each(|(j, v)| visit(j, *v));
    }

    fn nearest(&self, centers: MatRef<'_, f64>) -> Vec<(usize, f64)> {
        let centers = Points::of(centers);
        (0..self.count).map(|i| closest(centers.count, |c| squared_distance(self.row(i), centers.row(c)))).collect()
    }
}

/// In four sums side by side, which is vectorised and the same on every processor.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
}

/// Numbers the clusters by their first point.
fn numbered(found: &Lloyd<f64>) -> Clustering {
    let mut order: Vec<usize> = Vec::new();
    let mut names = vec![None; found.centers.nrows()];
    for &(c, _) in &found.nearest {
        if names[c].is_none() {
            names[c] = Some(order.len() as u32);
            order.push(c);
        }
    }
    let labels = found.nearest.iter().filter_map(|(c, _)| names[*c]).collect();
    let centers = Mat::from_fn(order.len(), found.centers.ncols(), |c, j| found.centers[(order[c], j)]);
    Clustering { labels, centers, inertia: found.inertia() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::metrics::adjusted_rand_index;

    fn fit(k: usize, points: &Mat<f64>, seed: u64) -> Result<Clustering> {
        KMeans::new(k).fit(points.as_ref(), &Run { seed, ..Run::default() })
    }

    #[test]
    fn separated_clusters_are_found() {
        let (points, truth) = synth::clusters::<f64>(240, 8, 5, 3);
        let found = fit(5, &points, 0).unwrap();
        assert!((adjusted_rand_index(&truth, &found.labels) - 1.0).abs() < 1e-12);
        assert_eq!(found.labels[0], 0);
        assert_eq!(found.centers.shape(), (5, 8));
        let again = |c: usize, j: usize| {
            let members: Vec<usize> = (0..240).filter(|i| found.labels[*i] as usize == c).collect();
            members.iter().map(|i| points[(*i, j)]).sum::<f64>() / members.len() as f64
        };
        assert!((found.centers[(4, 2)] - again(4, 2)).abs() < 1e-12);
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let points = synth::gaussian::<f64>(300, 4, 7);
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(6, &points, 5).unwrap())
        };
        let first = with(1);
        assert_eq!(first, with(2));
        assert_eq!(first, with(7));
    }

    #[test]
    fn one_cluster_and_as_many_as_points() {
        let points = synth::gaussian::<f64>(9, 2, 1);
        let one = fit(1, &points, 0).unwrap();
        assert!(one.labels.iter().all(|l| *l == 0));
        let all = fit(9, &points, 0).unwrap();
        assert_eq!(all.labels, (0..9).collect::<Vec<_>>());
        assert!(all.inertia < 1e-300);
    }

    #[test]
    fn duplicates_leave_clusters_empty_and_nothing_else_happens() {
        let points = Mat::from_fn(12, 2, |i, _| (i % 2) as f64);
        let found = fit(5, &points, 2).unwrap();
        assert_eq!(found.labels, (0..12).map(|i| i % 2).collect::<Vec<u32>>());
        assert_eq!((found.centers.nrows(), found.inertia), (2, 0.0));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let points = synth::gaussian::<f64>(3, 2, 1);
        let text = |k| fit(k, &points, 0).unwrap_err().to_string();
        assert_eq!(text(4), "`clusters` is 4 but must be between 1 and the number of points, 3");
        assert!(text(0).starts_with("`clusters` is 0"));
        assert!(KMeans::new(2).with_restarts(0).fit(points.as_ref(), &Run::default()).is_err());
        assert!(fit(1, &Mat::from_fn(2, 1, |_, _| f64::NAN), 0).is_err());
    }

    #[test]
    fn points_without_coordinates_are_one_cluster() {
        assert_eq!(fit(2, &Mat::zeros(3, 0), 0).unwrap().labels, [0, 0, 0]);
    }
}

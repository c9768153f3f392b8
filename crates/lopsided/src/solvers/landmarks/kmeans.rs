//! Landmarks that are centres of clusters.

use super::kernel_kmeans::far_apart;
use super::{Landmarks, Sampler, check_count, filled, generator};
use crate::base::error::{Error, Result};
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::kernel::pair::Meeting;
use crate::operator::{Access, Operator, available_memory, multiply};
use crate::solvers::kmeans::lloyd::{Cloud, Empty, Lloyd, closest};
use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

/// Most rounds: landmarks need no converged clustering.
const ROUNDS: usize = 10;
/// Coordinates of the rows of G where there are no samples to cluster.
const WIDTH: usize = 16;

/// Centres of k-means clusters, found by k-means++ and a few rounds of Lloyd's method.
///
/// For machines the centres themselves are landmarks (\[NKM\] §III-E: they need not lie in the span of the samples). Where only
/// indices fit, the rows of G are clustered by G·Ω with a Gaussian Ω of 16 columns, and the sample nearest to each centre is
/// taken.
///
/// 1. k-means++: centres drawn one after another, far from those before.
/// 2. At most ten rounds: distances as one matrix product for 1024 points at a time, then the means of the clusters. A
///    cluster without points keeps its centre.
/// 3. The centres as points, or the sample nearest to each.
///
/// # Cost
/// n·m·width operations a round, as matrix products: there are far more clusters than [`crate::KMeans`] is made for, and one
/// start suffices.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{KMeansCenters, Landmarks, Sampler};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(4, 1, |i, _| [0.0, 0.2, 10.0, 10.2][i]));
/// let k = DenseOperator::Owned(Mat::<f64>::identity(4, 4)); // of which only the size matters here
/// let Landmarks::Points(centers) = KMeansCenters.place(&k, x.as_ref(), 2, 0)? else { panic!("points") };
/// let centers = centers.into_dense();
/// assert!((centers[(0, 0)] + centers[(1, 0)] - 10.2_f64).abs() < 1e-9); // 0.1 and 10.1
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KMeansCenters;

impl<T: Scalar> Sampler<T> for KMeansCenters {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        let size = check_count(g, side, count)?;
        if g.access() == Access::Blocks {
            return Err(Error::param("sampler", "kmeans", "`uniform` where products with all of G are out of reach"));
        }
        let mut rng = generator(side, seed);
        let there = if side == Side::Row { g.ncols() } else { g.nrows() };
        let probes = random::gaussian::<T>(there, WIDTH, &mut rng);
        let mut points = Mat::zeros(size, WIDTH);
        match side {
            Side::Row => g.apply(probes.as_ref(), points.as_mut())?,
            Side::Col => g.apply_transpose(probes.as_ref(), points.as_mut())?,
        }
        let lloyd = clustered(SamplesRef::Dense(points.as_ref()), count, &mut rng)?;
        Ok(filled(representatives(&lloyd), count, size))
    }

    fn place(&self, k: &dyn Operator<T>, x: SamplesRef<'_, T>, count: usize, seed: u64) -> Result<Landmarks<T>> {
        check_count(k, Side::Row, count)?;
        let (needed, available) = ((3 * count * x.width() * T::BYTES) as u64, available_memory());
        if needed > available {
            let advice = "take fewer landmarks or another sampler".into();
            return Err(Error::Memory { what: "the centres of k-means".into(), needed, available, advice });
        }
        let lloyd = clustered(x, count, &mut generator(Side::Row, seed))?;
        Ok(Landmarks::Points(Samples::Dense(lloyd.centers)))
    }
}

/// Samples with the lengths that distances by scalar products need.
struct Measured<'a, T> {
    points: SamplesRef<'a, T>,
    sizes: Vec<T>,
}

fn clustered<T: Scalar>(points: SamplesRef<'_, T>, count: usize, rng: &mut ChaCha8Rng) -> Result<Lloyd<T>> {
    let cloud = Measured { points, sizes: Meeting::Dot.sizes(points) };
    let distances = |at: usize| Ok(squared_distances(points, &cloud.sizes, at));
    let first = far_apart(points.count(), count, rng, distances)?;
    Lloyd::new(&cloud, points.select(&first).into_dense(), Empty::Keep).run(&cloud, ROUNDS, &Watch::default())
}

impl<T: Scalar> Cloud<T> for Measured<'_, T> {
    fn for_each(&self, i: usize, visit: impl FnMut(usize, T)) {
        self.points.for_each(i, visit);
    }

    fn nearest(&self, centers: MatRef<'_, T>) -> Vec<(usize, f64)> {
        const PIECE: usize = 1024;
        let lengths = Meeting::Dot.sizes(SamplesRef::Dense(centers));
        let starts: Vec<usize> = (0..self.points.count()).step_by(PIECE).collect();
        let piece = |&start: &usize| {
            let points = self.points.subrows(start, PIECE.min(self.points.count() - start));
            let mut met = Mat::zeros(points.count(), centers.nrows());
            multiply(points, centers.transpose(), met.as_mut());
            let distance =
                |i: usize, c: usize| Meeting::Dot.distance(met[(i, c)], self.sizes[start + i], lengths[c]).as_f64();
            (0..points.count()).map(|i| closest(lengths.len(), |c| distance(i, c))).collect::<Vec<_>>()
        };
        starts.par_iter().map(piece).collect::<Vec<_>>().concat()
    }
}

/// The point nearest to each centre that has points.
fn representatives<T>(found: &Lloyd<T>) -> Vec<usize> {
    let mut best: Vec<Option<(f64, usize)>> = vec![None; found.centers.nrows()];
    for (i, &(c, distance)) in found.nearest.iter().enumerate() {
        if best[c].is_none_or(|(least, _)| distance < least) {
            best[c] = Some((distance, i));
        }
    }
    best.into_iter().flatten().map(|(_, i)| i).collect()
}

fn squared_distances<T: Scalar>(points: SamplesRef<'_, T>, sizes: &[T], at: usize) -> Vec<f64> {
    let one = points.select(&[at]).into_dense();
    let mut met = Mat::zeros(points.count(), 1);
    multiply(points, one.transpose(), met.as_mut());
    let distance = |i: usize| Meeting::Dot.distance(met[(i, 0)], sizes[i], sizes[at]).as_f64();
    (0..points.count()).map(distance).collect()
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "kmeans",
        about: "centres of k-means clusters; the samples nearest to them where landmarks must be samples",
        settings: &[],
        build: |_| Ok(Box::new(KMeansCenters)),
    }
}

//! Landmarks that are far from each other in feature space.

use super::gram::Gram;
use super::{Sampler, check_count, filled, generator};
use crate::base::error::Result;
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// The seeding of k-means++ in feature space: each landmark is drawn with probability proportional to its squared distance
/// K_ii + K_jj − 2·K_ij to the nearest one so far.
///
/// # Cost
/// One column of the kernel matrix for each landmark.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{KernelKMeans, Sampler};
/// use lopsided::{Mat, Side};
///
/// // Samples 0 and 1 coincide in feature space, and so do 2 and 3: one of each is taken.
/// let k = DenseOperator::Owned(Mat::from_fn(4, 4, |i, j| if i / 2 == j / 2 { 1.0 } else { 0.0 }));
/// let picked = Sampler::<f64>::pick(&KernelKMeans, &k, Side::Row, 2, 0)?;
/// assert!(picked[0] < 2 && picked[1] >= 2);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelKMeans;

impl<T: Scalar> Sampler<T> for KernelKMeans {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        let size = check_count(g, side, count)?;
        let gram = Gram::new(g, side, "kernel-kmeans")?;
        let diagonal = gram.diagonal()?;
        let distances = |at: usize| -> Result<Vec<f64>> {
            let column = gram.columns(&[at])?;
            Ok((0..size).map(|i| diagonal[i] + diagonal[at] - 2.0 * column[(i, 0)]).collect())
        };
        let picked = far_apart(size, count, &mut generator(side, seed), distances)?;
        Ok(filled(picked, count, size))
    }
}

/// Positions drawn one after another with probability proportional to the squared distance to the nearest one so far; fewer
/// than `count` where there are fewer different ones.
pub(super) fn far_apart(
    size: usize,
    count: usize,
    rng: &mut ChaCha8Rng,
    distances: impl Fn(usize) -> Result<Vec<f64>>,
) -> Result<Vec<usize>> {
    // u64, so that the bits do not depend on the width of usize.
    let first = rng.random_range(0..size as u64) as usize;
    let mut picked = vec![first];
    let mut nearest = distances(first)?;
    nearest[first] = 0.0;
    while picked.len() < count {
        let Some(next) = random::draw(&nearest, rng) else { break };
        picked.push(next);
        nearest.iter_mut().zip(distances(next)?).for_each(|(near, new)| *near = near.min(new));
        nearest[next] = 0.0;
    }
    Ok(picked)
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "kernel-kmeans",
        about: "k-means++ in feature space: probability proportional to the squared distance to the nearest landmark so far",
        settings: &[],
        build: |_| Ok(Box::new(KernelKMeans)),
    }
}

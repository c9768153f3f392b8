//! Landmarks: the rows and columns of G that stand for all of them.
//!
//! | sampler | probability of a sample | what it costs | when |
//! | --- | --- | --- | --- |
//! | [`Uniform`] | the same for all | nothing | by default, also where only blocks of G are in reach |
//! | [`Norms`] | squared norm of its row of G | 8 products | few rows carry most of G |
//! | [`Leverage`] | ridge leverage score | n·m² operations, n·m entries | positive kernels, with theory behind it |
//! | [`PivotedCholesky`] | what is left of its diagonal entry | likewise | positive kernels, first to try |
//! | [`KernelKMeans`] | squared distance to the nearest so far | a column per landmark | clusters in feature space |
//! | [`KMeansCenters`] | centres of clusters | n·m·width a round | landmarks need not be samples |
//! | [`GaussianSketch`] | none: combinations of all samples | n²·m operations | kernel machines, for comparison |
//! | [`Given`] | chosen by the user | nothing | tests, and landmarks known beforehand |
//!
//! **How they are used.** A Nyström solver asks [`Sampler::pick`] for indices on each side of G; a kernel machine asks
//! [`Sampler::place`], which may also give points or combinations ([`Landmarks`]). Equal seeds give equal landmarks,
//! and the two sides of G draw from streams of their own.
//!
//! ```
//! use lopsided::Mat;
//! use lopsided::Side;
//! use lopsided::base::settings::Settings;
//! use lopsided::operator::DenseOperator;
//! use lopsided::solvers::landmarks::sampler;
//!
//! let g = DenseOperator::Owned(Mat::<f64>::identity(10, 10));
//! let uniform = sampler::<f64>("uniform", &Settings::default())?;
//! let picked = uniform.pick(&g, Side::Row, 4, 7)?;
//! assert_eq!(picked, uniform.pick(&g, Side::Row, 4, 7)?); // the same seed
//! assert!(picked.len() == 4 && picked.windows(2).all(|w| w[0] < w[1]));
//! # Ok::<(), lopsided::Error>(())
//! ```

mod cholesky;
mod gaussian;
mod given;
mod gram;
mod kernel_kmeans;
mod kmeans;
mod leverage;
mod norms;
#[cfg(test)]
mod tests;
mod uniform;

pub use cholesky::PivotedCholesky;
pub use gaussian::GaussianSketch;
pub use given::Given;
pub(crate) use gram::is_symmetric;
pub use kernel_kmeans::KernelKMeans;
pub use kmeans::KMeansCenters;
pub use leverage::Leverage;
pub use norms::Norms;
pub use uniform::Uniform;

use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::registry::{self, Entry};
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::samples::{Samples, SamplesRef, Side};
use crate::operator::Operator;
use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Chooses landmarks on one side of G.
///
/// Samplers that need a positive semidefinite matrix take G itself where it is square and symmetric, else G·Gᵀ for rows and
/// Gᵀ·G for columns, whose entries need whole rows or columns of G.
pub trait Sampler<T: Scalar>: Send + Sync {
    /// Indices of `count` landmarks, ascending. The two sides are drawn independently of each other.
    ///
    /// # Errors
    /// [`Error::Param`] for a count that the side does not have, for a matrix that is not positive semidefinite where
    /// the sampler needs one, and where products with all of G are needed but out of reach.
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>>;

    /// Landmarks of a machine with the kernel matrix `k` of the samples `x`, of whatever kind the sampler makes.
    ///
    /// Provided: the samples that [`Sampler::pick`] chooses.
    ///
    /// # Errors
    /// Those of [`Sampler::pick`]; [`Error::Memory`] for centres that do not fit.
    fn place(&self, k: &dyn Operator<T>, _x: SamplesRef<'_, T>, count: usize, seed: u64) -> Result<Landmarks<T>> {
        self.pick(k, Side::Row, count, seed).map(Landmarks::Indices)
    }
}

/// Landmarks C of a kernel machine, C = Φ(X)·P except for points (\[NKM\] §III-E).
///
/// ```
/// use lopsided::solvers::landmarks::Landmarks;
///
/// assert_eq!(Landmarks::<f64>::Indices(vec![3, 3, 5]).count(), 3);
/// ```
#[derive(Clone, Debug)]
pub enum Landmarks<T> {
    /// Some of the samples; they may repeat.
    Indices(Vec<usize>),
    /// Points of the space of the samples.
    Points(Samples<T>),
    /// Combinations Φ(X)·P of all samples, one column of P each.
    Sketch(Mat<f64>),
}

impl<T: Scalar> Landmarks<T> {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Landmarks::Indices(picked) => picked.len(),
            Landmarks::Points(points) => points.count(),
            Landmarks::Sketch(p) => p.ncols(),
        }
    }
}

/// All samplers. The order is the order of every listing.
pub fn samplers<T: Scalar>() -> Vec<Entry<dyn Sampler<T>>> {
    vec![
        uniform::entry(),
        norms::entry(),
        leverage::entry(),
        kmeans::entry(),
        kernel_kmeans::entry(),
        cholesky::random_entry(),
        cholesky::greedy_entry(),
        gaussian::entry(),
    ]
}

/// The sampler called `name`.
///
/// # Errors
/// [`Error::Unknown`] for a name that is not in the list of [`samplers`].
pub fn sampler<T: Scalar>(name: &str, params: &Settings) -> Result<Box<dyn Sampler<T>>> {
    registry::build("sampler", &samplers::<T>(), name, params)
}

/// Refuses a name that is not in the list of [`samplers`].
///
/// # Errors
/// [`Error::Unknown`] with the one that may have been meant.
///
/// ```
/// use lopsided::solvers::landmarks::check_name;
///
/// assert!(check_name("rpcholesky").is_ok() && check_name("cholesky").is_err());
/// ```
pub fn check_name(name: &str) -> Result<()> {
    registry::find("sampler", &samplers::<f64>(), name).map(|_| ())
}

/// Number of samples on a side.
pub(crate) fn size<T: Scalar>(g: &dyn Operator<T>, side: Side) -> usize {
    match side {
        Side::Row => g.nrows(),
        Side::Col => g.ncols(),
    }
}

/// The side's size, if `count` landmarks can be drawn from it.
pub(crate) fn check_count<T: Scalar>(g: &dyn Operator<T>, side: Side, count: usize) -> Result<usize> {
    let size = size(g, side);
    let (name, letter) = match side {
        Side::Row => ("rows-sample", "n"),
        Side::Col => ("cols-sample", "m"),
    };
    if count == 0 || count > size {
        return Err(Error::param(name, count, format!("between 1 and {letter} = {size}")));
    }
    Ok(size)
}

/// Independent random numbers for the two sides.
fn generator(side: Side, seed: u64) -> ChaCha8Rng {
    random::generator(seed, if side == Side::Row { Purpose::RowLandmarks } else { Purpose::ColLandmarks })
}

/// Different numbers, ascending, drawn one after another with probability proportional to the weights.
///
/// With E_i exponential of mean 1, E_i/w_i is exponential with rate w_i: the order of these numbers is the order of
/// successive draws without replacement. One pass, whatever the count.
fn weighted_subset(weights: &[f64], count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    weighted_draw(weights, count, rng).0
}

/// The same, and the threshold τ: the smallest E_i/w_i of those not drawn, infinite where all were.
///
/// Given τ, i is drawn with probability 1 − exp(−w_i·τ), by which sums over all samples are estimated without bias.
pub(crate) fn weighted_draw(weights: &[f64], count: usize, rng: &mut ChaCha8Rng) -> (Vec<usize>, f64) {
    // The largest keys −E/w, E exponential, are a weighted draw without replacement.
    let key = |w: &f64, rng: &mut ChaCha8Rng| (1.0 - rng.random::<f64>()).ln() / w.max(f64::MIN_POSITIVE);
    let mut keys: Vec<(f64, usize)> = weights.iter().enumerate().map(|(i, w)| (key(w, rng), i)).collect();
    keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut picked: Vec<usize> = keys[..count].iter().map(|k| k.1).collect();
    picked.sort_unstable();
    (picked, keys.get(count).map_or(f64::INFINITY, |k| -k.0))
}

/// Completes a choice that found nothing more to distinguish by the first samples that are not in it; ascending.
fn filled(mut picked: Vec<usize>, count: usize, size: usize) -> Vec<usize> {
    let mut taken = vec![false; size];
    picked.iter().for_each(|&i| taken[i] = true);
    let missing = count.saturating_sub(picked.len());
    picked.extend((0..size).filter(|&i| !taken[i]).take(missing));
    picked.sort_unstable();
    picked
}

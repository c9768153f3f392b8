//! Seeded random numbers: the same seed gives the same bits everywhere.
//!
//! ChaCha with 8 rounds is the same on every machine, and its streams let one seed of a user serve many purposes: each
//! use has a number of its own, so that drawing more in one place moves nothing in another.

use crate::base::scalar::Scalar;
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// What random numbers are drawn for. Each purpose has a stream of its own, so that different uses of one seed are
/// independent; a number stands for one purpose only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Generated data and splits, which are drawn from a seed of their own.
    Data = 0,
    /// Pairs of samples whose distances set the bandwidth.
    BandwidthPairs = 1,
    /// First vectors of iterative solvers.
    StartVectors = 2,
    /// Pairs of nodes without a link.
    MissingLinks = 3,
    /// Landmarks among the rows.
    RowLandmarks = 11,
    /// Landmarks among the columns.
    ColLandmarks = 12,
    /// Pairs of entries that show whether a matrix is symmetric.
    SymmetryProbes = 13,
    /// Vectors that estimate the error of a decomposition.
    ErrorProbes = 21,
    /// Rows on which errors are estimated.
    PatchRows = 22,
    /// Columns on which errors are estimated.
    PatchCols = 23,
    /// Columns that row sums are estimated from.
    SampledColumns = 31,
    /// Landmarks that a truncated basis begins with.
    BasisOrder = 41,
    /// Samples of the preconditioner of ridge regression.
    RidgeSample = 43,
    /// Rotations that online learners must not notice.
    Rotations = 44,
    /// Vectors that estimate ‖K − K̃‖.
    GramProbes = 45,
    /// The random compatibility of rows and columns.
    Compatibility = 50,
    /// Folds of a search.
    SearchFolds = 60,
    /// Training and test part of a hold-out.
    HoldOut = 61,
    /// Rows of a large table that are learned from.
    TableRows = 62,
    /// Folds of the classification of nodes.
    NodeFolds = 63,
    /// Parts that judge a penalty.
    PenaltyFolds = 67,
    /// Labelled nodes that a search looks at.
    SearchSample = 68,
    /// Test parts of a comparison.
    ComparedFolds = 69,
    /// Parts inside the training parts of a comparison.
    ComparedParts = 79,
    /// Links that are held out.
    HeldOutLinks = 64,
    /// Rows that judge a learned compatibility.
    CompatValidation = 65,
    /// Batches of a learned compatibility.
    CompatBatches = 66,
    /// First vector of the search for eigenvalues of a factored system.
    FactorProbe = 70,
    /// Folds of AsK-LS.
    AskLsFolds = 71,
    /// Folds of Platt's probabilities.
    ProbabilityFolds = 72,
    /// Order of coordinates in dual descent.
    DualOrder = 73,
    /// First vector of a power iteration.
    NormStart = 74,
    /// Samples that AsK-LS chooses its penalty on.
    AskLsSample = 75,
    /// Landmarks of a preconditioner.
    PreconditionerLandmarks = 76,
    /// The vector that a coupled system is checked with.
    SystemProbe = 77,
    /// Vectors that share the folds of AsK-LS.
    FoldProbes = 78,
    /// Starts of mixtures of Gaussians.
    Mixtures = 81,
    /// Generated textures.
    Textures = 82,
    /// Generated tables of topics.
    Topics = 84,
    /// Generated projections.
    Projections = 85,
    /// What tells equal points of a map apart at its start.
    MapStart = 86,
    /// Who pushes whom in a step of a map.
    MapSamples = 87,
    /// Samples that a page shows of very many.
    PageSamples = 88,
    /// Starts of k-means, one after another from here on.
    Clusters = 100,
    /// Rows of random signs, one after another from here on.
    Signs = 51 << 32,
}

/// A generator for one purpose.
pub fn generator(seed: u64, purpose: Purpose) -> ChaCha8Rng {
    nth_generator(seed, purpose, 0)
}

/// The k-th generator of a purpose that has many.
pub(crate) fn nth_generator(seed: u64, purpose: Purpose, k: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose as u64 + k);
    rng
}

/// A position with probability proportional to its weight; `None` when no weight is above 0.
pub(crate) fn draw(weights: &[f64], rng: &mut ChaCha8Rng) -> Option<usize> {
    let total: f64 = weights.iter().map(|w| w.max(0.0)).sum();
    let mut left = rng.random::<f64>() * total;
    let hit = weights.iter().position(|w| {
        left -= w.max(0.0);
        left < 0.0
    });
    // Rounding may leave a rest behind the last weight.
    hit.or_else(|| weights.iter().rposition(|w| *w > 0.0))
}

/// A standard normal number (Box–Muller).
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // 1 − u is never 0, so the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Independent standard normal entries.
pub(crate) fn gaussian<T: Scalar>(nrows: usize, ncols: usize, rng: &mut ChaCha8Rng) -> Mat<T> {
    Mat::from_fn(nrows, ncols, |_, _| T::of(normal(rng)))
}

/// `count` different numbers below `size`, ascending; every set is equally likely (Floyd). `count` is at most `size`.
///
/// # Cost
/// O(count·ln count), however large `size` is.
pub fn subset(size: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut picked = BTreeSet::new();
    for last in size - count..size {
        // u64, so that the bits do not depend on the width of usize.
        let at = rng.random_range(0..=last as u64) as usize;
        if !picked.insert(at) {
            picked.insert(last);
        }
    }
    picked.into_iter().collect()
}

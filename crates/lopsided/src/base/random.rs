//! Seeded random numbers: the same seed gives the same bits everywhere.
//!
//! ChaCha with 8 rounds is the same on every machine, and its streams let one seed of a user serve many purposes: each
//! use has a number of its own, so that drawing more in one place moves nothing in another.

use crate::base::scalar::Scalar;
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;

/// A generator for one purpose: `stream` keeps different uses of one seed apart.
pub(crate) fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
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
pub(crate) fn subset(size: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
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

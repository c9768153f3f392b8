//! Seeded random numbers: the same seed gives the same bits everywhere.

use crate::scalar::Scalar;
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A generator for one purpose: `stream` keeps different uses of one seed apart.
pub(crate) fn generator(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// Independent standard normal entries (Box–Muller).
pub(crate) fn gaussian<T: Scalar>(nrows: usize, ncols: usize, rng: &mut ChaCha8Rng) -> Mat<T> {
    let mut spare = None;
    Mat::from_fn(nrows, ncols, |_, _| {
        T::of(spare.take().unwrap_or_else(|| {
            let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
            spare = Some(radius * sin);
            radius * cos
        }))
    })
}

//! Landmarks by the length of their rows.

use super::{Sampler, check_count, generator, weighted_subset};
use crate::base::error::{Error, Result};
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::{Access, Operator};
use faer::Mat;

/// Random vectors the norms are estimated with.
const PROBES: usize = 8;

/// Long rows (columns) of G are likely: one after another with probability proportional to the squared norm.
///
/// The norms are estimated by products with a few Gaussian vectors, E‖(Gω)_i‖² = ‖row i‖². The Nyström scaling of
/// singular values assumes uniform landmarks, so without polish this sampler overestimates them.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{Norms, Sampler};
/// use lopsided::{Mat, Side};
///
/// let g = DenseOperator::Owned(Mat::from_fn(4, 3, |i, j| if i == 2 { (j + 1) as f64 } else { 0.0 }));
/// assert_eq!(Sampler::<f64>::pick(&Norms, &g, Side::Row, 1, 0)?, [2]); // the only row that is not 0
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Norms;

impl<T: Scalar> Sampler<T> for Norms {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        check_count(g, side, count)?;
        if g.access() == Access::Blocks {
            return Err(Error::param("sampler", "norms", "`uniform` where products with all of G are out of reach"));
        }
        let mut rng = generator(side, seed);
        let weights = squared_norms(g, side, &mut rng)?;
        Ok(weighted_subset(&weights, count, &mut rng))
    }
}

fn squared_norms<T: Scalar>(g: &dyn Operator<T>, side: Side, rng: &mut rand_chacha::ChaCha8Rng) -> Result<Vec<f64>> {
    let (here, there) = if side == Side::Row { (g.nrows(), g.ncols()) } else { (g.ncols(), g.nrows()) };
    let probes = random::gaussian::<T>(there, PROBES, rng);
    let mut image = Mat::zeros(here, PROBES);
    match side {
        Side::Row => g.apply(probes.as_ref(), image.as_mut())?,
        Side::Col => g.apply_transpose(probes.as_ref(), image.as_mut())?,
    }
    Ok((0..here).map(|i| image.row(i).iter().map(|v| v.as_f64().powi(2)).sum()).collect())
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "norms",
        about: "probability proportional to squared row (column) norms of G, estimated by a few random products",
        settings: &[],
        build: |_| Ok(Box::new(Norms)),
    }
}

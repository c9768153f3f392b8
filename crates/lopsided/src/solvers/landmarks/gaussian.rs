//! Landmarks that are combinations of all samples.

use super::{Landmarks, Sampler, check_count, generator};
use crate::base::error::{Error, Result};
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::{SamplesRef, Side};
use crate::operator::Operator;

/// Gaussian sampling (\[NKM\] §IV-A): landmarks Φ(X)·P with independent standard normal entries of P, n×m.
///
/// They are combinations of all samples and not samples themselves, so that only kernel machines can use them; K·P costs
/// n²·m operations, streamed.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{GaussianSketch, Sampler};
/// use lopsided::{Mat, Samples, Side};
///
/// let k = DenseOperator::Owned(Mat::<f64>::identity(5, 5));
/// let x = Samples::Dense(Mat::<f64>::identity(5, 5));
/// assert_eq!(GaussianSketch.place(&k, x.as_ref(), 3, 0)?.count(), 3);
/// assert!(Sampler::<f64>::pick(&GaussianSketch, &k, Side::Row, 3, 0).is_err()); // no samples, no indices
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussianSketch;

impl<T: Scalar> Sampler<T> for GaussianSketch {
    fn pick(&self, _: &dyn Operator<T>, _: Side, _: usize, _: u64) -> Result<Vec<usize>> {
        let allowed = "one that chooses samples here: its landmarks are combinations, for `fit krr` and `fit kpca`";
        Err(Error::param("sampler", "gaussian", allowed))
    }

    fn place(&self, k: &dyn Operator<T>, _: SamplesRef<'_, T>, count: usize, seed: u64) -> Result<Landmarks<T>> {
        let size = check_count(k, Side::Row, count)?;
        Ok(Landmarks::Sketch(random::gaussian(size, count, &mut generator(Side::Row, seed))))
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "gaussian",
        about: "random combinations of all samples with normal weights; for kernel machines only",
        settings: &[],
        build: |_| Ok(Box::new(GaussianSketch)),
    }
}

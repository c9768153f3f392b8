//! Kernel values in single precision for iterations that correct themselves.

use super::exponents::means;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::samples::{Samples, SamplesRef};
use crate::kernel::pair::Meeting;
use crate::kernel::{Kernel, KernelSpec, Normalization, Separable};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Kernel values that are off by more than this are of no use.
const ACCURACY: f64 = 1e-5;

/// A kernel of distances and its samples in single precision: values at twice the rate, for work whose result is checked.
///
/// The samples are moved to their mean first, so that those far from the origin lose no digits.
pub(crate) struct Single {
    pub(crate) kernel: Box<dyn Kernel<f32>>,
    x: Samples<f32>,
    /// `None` where the column samples are the row samples.
    z: Option<Samples<f32>>,
}

impl Single {
    /// `None` for other kernels than exp(−gamma·|x − z|²), for sparse samples, for samples so far apart that the digits do not
    /// suffice, and for samples that have no more.
    ///
    /// An exponent −gamma·|x − z|² is a difference of numbers up to 4·gamma·max|x|², so its error is about half a unit
    /// of f32 times that, and the value's error is the same to first order: what [`ACCURACY`] is compared with.
    pub(crate) fn new<T: Scalar>(
        spec: &KernelSpec,
        x: SamplesRef<'_, T>,
        z: SamplesRef<'_, T>,
    ) -> Result<Option<Self>> {
        let (kernel, same) = (spec.build::<T>()?, x.is(z));
        let Some(Separable::Exponential { gamma, meeting: Meeting::Dot }) = kernel.separable() else { return Ok(None) };
        let (SamplesRef::Dense(x), SamplesRef::Dense(z)) = (x, z) else { return Ok(None) };
        if kernel.normalization() != Normalization::None || T::BYTES == f32::BYTES {
            return Ok(None);
        }
        let center = means(x);
        let (rows, cols) = (moved(x, &center), (!same).then(|| moved(z, &center)));
        let largest = largest_size(&rows).max(cols.as_ref().map_or(0.0, largest_size));
        let accurate = 0.5 * f32::eps() * (1.0 + 4.0 * gamma.as_f64() * largest) <= ACCURACY;
        let kernel = spec.build::<f32>()?;
        Ok(accurate.then(|| Single { kernel, x: Samples::Dense(rows), z: cols.map(Samples::Dense) }))
    }

    /// Row samples.
    pub(crate) fn x(&self) -> SamplesRef<'_, f32> {
        self.x.as_ref()
    }

    /// Column samples.
    pub(crate) fn z(&self) -> SamplesRef<'_, f32> {
        self.z.as_ref().unwrap_or(&self.x).as_ref()
    }
}

/// x − center.
fn moved<T: Scalar>(x: MatRef<'_, T>, center: &[T]) -> Mat<f32> {
    let mut out = Mat::zeros(x.nrows(), x.ncols());
    out.par_col_chunks_mut(1).zip(x.par_col_chunks(1)).zip(center).for_each(|((to, from), &c)| {
        to.col_mut(0).iter_mut().zip(from.col(0).iter()).for_each(|(to, &from)| *to = (from - c).as_f64() as f32);
    });
    out
}

/// max_i |x_i|².
fn largest_size(x: &Mat<f32>) -> f64 {
    Meeting::Dot.sizes(SamplesRef::Dense(x.as_ref())).into_iter().map(f64::from).fold(0.0, f64::max)
}

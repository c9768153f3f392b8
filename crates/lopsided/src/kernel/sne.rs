use super::{Derivative, Kernel, Meeting, Normalization, Separable, pair};
use super::{GAMMA, Nature};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|²) / Σ_z' exp(−gamma·|x − z'|²), the sum over all column samples (\[KSVD\] §4).
///
/// Every row of G is a probability distribution over the column samples, so the kernel is asymmetric even for Z = X.
/// [`Kernel::block`] gives the exponents −gamma·|x − z|².
#[derive(Clone, Copy, Debug)]
pub struct Sne {
    /// Coefficient of the squared distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for Sne {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let gamma = T::of(self.gamma);
        pair::block(Meeting::Dot, x, z, out, |column, xs, size| {
            for (v, &xx) in column.iter_mut().zip(xs) {
                *v = -gamma * Meeting::Dot.distance(*v, xx, size);
            }
        });
        Ok(())
    }

    fn normalization(&self) -> Normalization {
        Normalization::Softmax
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::Exponential { gamma: T::of(self.gamma), meeting: Meeting::Dot })
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let gamma = T::of(self.gamma);
        Some(Derivative::ByDistance(Box::new(move |_| -gamma)))
    }
}

pub(super) const NATURE: Nature =
    Nature { symmetric: false, bandwidth: Some(Meeting::Dot), precomputed: false, graph: None };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "sne",
        about: "k(x, z) = exp(-gamma |x - z|^2) / sum over all z' of exp(-gamma |x - z'|^2)",
        settings: &[GAMMA],
        build: |params| Ok(Box::new(Sne { gamma: params.positive("gamma", None)? })),
    }
}

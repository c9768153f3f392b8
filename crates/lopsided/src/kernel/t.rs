use super::FIXED_GAMMA;
use super::{Derivative, Kernel, Meeting, Normalization, pair};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = (1 + gamma·|x − z|²)⁻¹ / Σ_z' (1 + gamma·|x − z'|²)⁻¹, the sum over all column samples (\[AsKLS\] §4).
///
/// The paper has gamma = 1, which is the default. [`Kernel::block`] gives the values before the division.
#[derive(Clone, Copy, Debug)]
pub struct StudentT {
    /// Coefficient of the squared distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for StudentT {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let gamma = T::of(self.gamma);
        pair::block(Meeting::Dot, x, z, out, |column, xs, size| {
            for (v, &xx) in column.iter_mut().zip(xs) {
                *v = T::one() / (T::one() + gamma * Meeting::Dot.distance(*v, xx, size));
            }
        });
        Ok(())
    }

    fn normalization(&self) -> Normalization {
        Normalization::RowSum
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let gamma = T::of(self.gamma);
        Some(Derivative::ByDistance(Box::new(move |value| -gamma * value * value)))
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "t",
        about: "k(x, z) = (1 + gamma |x - z|^2)^-1 / sum over all z' of (1 + gamma |x - z'|^2)^-1; default gamma 1",
        settings: &[FIXED_GAMMA],
        build: |params| Ok(Box::new(StudentT { gamma: params.positive("gamma", Some(1.0))? })),
    }
}

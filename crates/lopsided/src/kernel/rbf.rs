use super::{Derivative, Kernel, Meeting, Separable, pair};
use super::{GAMMA, Nature};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|²).
///
/// \[KSVD\] writes γ for a bandwidth: gamma = 1/γ²; \[NKM\] another: gamma = 1/(2γ²).
#[derive(Clone, Copy, Debug)]
pub struct Rbf {
    /// Coefficient of the squared distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for Rbf {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        exponential_block(Meeting::Dot, T::of(self.gamma), x, z, out);
        Ok(())
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::Exponential { gamma: T::of(self.gamma), meeting: Meeting::Dot })
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let gamma = T::of(self.gamma);
        Some(Derivative::ByDistance(Box::new(move |value| -gamma * value)))
    }
}

/// out ← exp(−gamma·distance).
pub(super) fn exponential_block<T: Scalar>(
    meeting: Meeting,
    gamma: T,
    x: SamplesRef<'_, T>,
    z: SamplesRef<'_, T>,
    out: MatMut<'_, T>,
) {
    pair::block(meeting, x, z, out, |column, xs, size| {
        T::exp_zip(column, xs, |met, x| -gamma * meeting.distance(met, x, size));
    });
}

pub(super) const NATURE: Nature =
    Nature { symmetric: true, bandwidth: Some(Meeting::Dot), precomputed: false, graph: None };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "rbf",
        about: "k(x, z) = exp(-gamma |x - z|^2)",
        settings: &[GAMMA],
        build: |params| Ok(Box::new(Rbf { gamma: params.positive("gamma", None)? })),
    }
}

use super::rbf::exponential_block;
use super::{GAMMA, Nature};
use super::{Kernel, Meeting, Separable};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|₁).
#[derive(Clone, Copy, Debug)]
pub struct Laplacian {
    /// Coefficient of the L1 distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for Laplacian {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        exponential_block(Meeting::L1, T::of(self.gamma), x, z, out);
        Ok(())
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::Exponential { gamma: T::of(self.gamma), meeting: Meeting::L1 })
    }
}

pub(super) const NATURE: Nature =
    Nature { symmetric: true, bandwidth: Some(Meeting::L1), precomputed: false, graph: None };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "laplacian",
        about: "k(x, z) = exp(-gamma |x - z|_1)",
        settings: &[GAMMA],
        build: |params| Ok(Box::new(Laplacian { gamma: params.positive("gamma", None)? })),
    }
}

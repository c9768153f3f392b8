use super::Nature;
use super::{Derivative, Kernel, Meeting, Separable};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = ⟨x, z⟩.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl<T: Scalar> Kernel<T> for Linear {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        Meeting::Dot.tile(x, z, out);
        Ok(())
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::Dot)
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        Some(Derivative::ByDot(Box::new(|_| T::one())))
    }
}

pub(super) const NATURE: Nature = Nature { symmetric: true, bandwidth: None, precomputed: false, graph: None };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry { name: "linear", about: "k(x, z) = <x, z>", settings: &[], build: |_| Ok(Box::new(Linear)) }
}

use super::Kernel;
use super::Nature;
use crate::base::error::{Error, Result};
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// G is given: row sample i is row i of G.
#[derive(Clone, Copy, Debug)]
pub struct Precomputed;

impl<T: Scalar> Kernel<T> for Precomputed {
    fn block(&self, _: SamplesRef<'_, T>, _: SamplesRef<'_, T>, _: MatMut<'_, T>) -> Result<()> {
        Err(Error::param("kernel", "precomputed", "a function of two samples to be evaluated on samples"))
    }

    fn is_precomputed(&self) -> bool {
        true
    }
}

pub(super) const NATURE: Nature = Nature { symmetric: false, bandwidth: None, precomputed: true, graph: None };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "precomputed",
        about: "k(x_i, z_j) = G[i, j], the input matrix itself",
        settings: &[],
        build: |_| Ok(Box::new(Precomputed)),
    }
}

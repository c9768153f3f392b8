use super::{Derivative, Kernel, Meeting, Separable};
use super::{Form, Nature};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = ⟨x, z⟩.
///
/// Nature: symmetric; no settings. G = X·Zᵀ is never formed where it need not be: a product with r vectors is X·(Zᵀ·V),
/// (nnz(X) + nnz(Z))·r operations. With the rows and columns of one matrix as samples, kernel SVD with this kernel is
/// the baseline that the asymmetric kernels are compared with.
///
/// ```
/// use lopsided::kernel::{Kernel, Linear};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[1.0, 2.0], [0.0, 1.0]]);
/// let mut g = Mat::<f64>::zeros(2, 2);
/// Linear.block(x.as_ref(), x.as_ref(), g.as_mut())?;
/// assert_eq!(g, faer::mat![[5.0, 2.0], [2.0, 1.0]]);
/// # Ok::<(), lopsided::Error>(())
/// ```
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

pub(super) const NATURE: Nature = Nature { symmetric: true, form: Form::Product, ..Nature::PLAIN };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry { name: "linear", about: "k(x, z) = <x, z>", settings: &[], build: |_| Ok(Box::new(Linear)) }
}

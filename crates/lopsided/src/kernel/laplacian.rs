use super::rbf::exponential_block;
use super::{Kernel, Meeting, Separable};
use super::{Nature, gamma_entry};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|₁).
///
/// Nature: symmetric, values in (0, 1\], 1 exactly where x = z. Default: gamma by a rule of [`super::Gamma`], applied
/// to L1 distances. Rank one plus sparse for sparse samples, with the overlap |x|₁ + |z|₁ − |x − z|₁ in place of 2⟨x,
/// z⟩. It has no derivative, because |x − z|₁ has corners.
///
/// With gamma = ln 2 each unit of distance halves the value:
///
/// ```
/// use lopsided::kernel::{Kernel, Laplacian};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[0.0, 0.0]]);
/// let z = Samples::Dense(faer::mat![[0.0, 0.0], [0.0, 1.0], [2.0, -1.0]]);
/// let mut g = Mat::<f64>::zeros(1, 3);
/// Laplacian { gamma: 2.0_f64.ln() }.block(x.as_ref(), z.as_ref(), g.as_mut())?;
/// assert!((g - faer::mat![[1.0, 0.5, 0.125]]).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
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

pub(super) const NATURE: Nature = Nature::of_distances(Meeting::L1, true);

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    let about = "k(x, z) = exp(-gamma |x - z|_1)";
    gamma_entry("laplacian", about, |params| Ok(Box::new(Laplacian { gamma: params.positive("gamma", None)? })))
}

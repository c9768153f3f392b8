use super::{Derivative, Formula, Kernel, Meeting, Normalization, Separable, pair};
use super::{Nature, gamma_entry};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|²) / Σ_z' exp(−gamma·|x − z'|²), the sum over all column samples (\[KSVD\] §4).
///
/// Every row of G is a probability distribution over the column samples, so the kernel is asymmetric even for Z = X.
/// [`Kernel::block`] gives the exponents −gamma·|x − z|².
///
/// Nature: asymmetric; rows of G sum to 1, columns do not. Default: gamma by a rule of [`super::Gamma`]. A row scaling
/// of the RBF matrix, hence rank one plus sparse for sparse samples too. \[KSVD\] writes gamma = 1/γ²; so does
/// \[AsKLS\] §4.3 with σ.
///
/// Three samples 0, 1, 2 on a line and gamma = ln 2: the RBF values of row 0 are 1, 1/2, 1/16 with the sum 25/16, those
/// of row 1 are 1/2, 1, 1/2 with the sum 2. So k(0, 1) = 8/25 and k(1, 0) = 1/4.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[0.0], [1.0], [2.0]]);
/// let kernel = KernelSpec::new("sne").with("gamma", 2.0_f64.ln()).build::<f64>()?;
/// let built = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).build()?;
/// let mut g = Mat::<f64>::zeros(2, 2);
/// built.operator.block(&[0, 1], &[0, 1], g.as_mut())?;
/// assert!((g - faer::mat![[0.64, 0.32], [0.25, 0.5]]).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sne {
    /// Coefficient of the squared distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for Sne {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let gamma = T::of(self.gamma);
        pair::by_distance(x, z, out, |distance| -gamma * distance);
        Ok(())
    }

    fn normalization(&self) -> Normalization {
        Normalization::Softmax
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::Exponential { gamma: T::of(self.gamma), meeting: Meeting::Dot })
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::Exponential { gamma: self.gamma })
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let gamma = T::of(self.gamma);
        Some(Derivative::ByDistance(Box::new(move |_| -gamma)))
    }
}

pub(super) const NATURE: Nature = Nature::of_distances(Meeting::Dot, false);

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    let about = "k(x, z) = exp(-gamma |x - z|^2) / sum over all z' of exp(-gamma |x - z'|^2)";
    gamma_entry("sne", about, |params| Ok(Box::new(Sne { gamma: params.positive("gamma", None)? })))
}

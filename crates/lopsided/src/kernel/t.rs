use super::FIXED_GAMMA;
use super::{Derivative, Formula, Kernel, Normalization, pair};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = (1 + gamma·|x − z|²)⁻¹ / Σ_z' (1 + gamma·|x − z'|²)⁻¹, the sum over all column samples (\[AsKLS\] §4).
///
/// The paper has gamma = 1, which is the default. [`Kernel::block`] gives the values before the division.
///
/// Nature: asymmetric; rows of G sum to 1. Its tails fall like 1/|x − z|², so that far samples keep some weight where
/// those of [`super::Sne`] have none. It has no separable form, and sparse samples are evaluated in tiles.
///
/// Three samples 0, 1, 2 on a line and gamma = 1: row 0 has the values 1, 1/2, 1/5 with the sum 17/10, row 1 has 1/2,
/// 1, 1/2 with the sum 2. So k(0, 1) = 5/17 and k(1, 0) = 1/4.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::KernelMatrix;
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[0.0], [1.0], [2.0]]);
/// let kernel = KernelSpec::new("t").build::<f64>()?;
/// let built = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).build()?;
/// let mut g = Mat::<f64>::zeros(2, 2);
/// built.operator.block(&[0, 1], &[0, 1], g.as_mut())?;
/// assert!((g - faer::mat![[10.0 / 17.0, 5.0 / 17.0], [0.25, 0.5]]).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StudentT {
    /// Coefficient of the squared distance, above 0.
    pub gamma: f64,
}

impl<T: Scalar> Kernel<T> for StudentT {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let gamma = T::of(self.gamma);
        pair::by_distance(x, z, out, |distance| T::one() / (T::one() + gamma * distance));
        Ok(())
    }

    fn normalization(&self) -> Normalization {
        Normalization::RowSum
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::Inverse { gamma: self.gamma })
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

use super::{Derivative, Formula, Kernel, Meeting, Separable, pair};
use super::{Nature, gamma_entry};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use faer::MatMut;

/// k(x, z) = exp(−gamma·|x − z|²).
///
/// Nature: symmetric, values in (0, 1\], 1 exactly where x = z; G is asymmetric as soon as Z is not X. Default: gamma
/// by a rule of [`super::Gamma`]. Rank one plus sparse for sparse samples.
///
/// \[KSVD\] writes γ for a bandwidth: gamma = 1/γ²; \[NKM\] another: gamma = 1/(2γ²).
///
/// With gamma = ln 2 the value is 2^(−|x − z|²):
///
/// ```
/// use lopsided::kernel::{Kernel, Rbf};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[0.0, 0.0]]);
/// let z = Samples::Dense(faer::mat![[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]);
/// let mut g = Mat::<f64>::zeros(1, 3);
/// Rbf { gamma: 2.0_f64.ln() }.block(x.as_ref(), z.as_ref(), g.as_mut())?;
/// assert!((g - faer::mat![[1.0, 0.5, 0.25]]).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
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

    fn formula(&self) -> Option<Formula> {
        Some(Formula::Exponential { gamma: self.gamma })
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let gamma = T::of(self.gamma);
        Some(Derivative::ByDistance(Box::new(move |value| -gamma * value)))
    }
}

/// out ← exp(−gamma·distance), one column at a time: the scalar products come first, then one vectorised pass makes the
/// distance and its exponential of each entry.
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

pub(super) const NATURE: Nature = Nature::of_distances(Meeting::Dot, true);

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    let about = "k(x, z) = exp(-gamma |x - z|^2)";
    gamma_entry("rbf", about, |params| Ok(Box::new(Rbf { gamma: params.positive("gamma", None)? })))
}

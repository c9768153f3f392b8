use super::FIXED_GAMMA;
use super::{Kernel, Meeting};
use crate::base::error::{Error, Result};
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::samples::{Samples, SamplesRef};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut};

/// Share that is added to every bin unless a user says otherwise.
const EPSILON: f64 = 1e-6;

/// k(x, z) = exp(−gamma·KL(p‖q)) of histograms, \[AsKLS\] Eq. (14), with KL(p‖q) = Σ_k p_k·ln(p_k/q_k).
///
/// Samples are non-negative and not all 0. Divided by their sums they are x̂ and ẑ, and with d bins
/// p = (x̂ + epsilon)/(1 + d·epsilon), likewise q, so that an empty bin does not make the divergence infinite. With
/// ℓ(z) = ln(1 + ẑ/epsilon), which is 0 in empty bins,
///
/// (1 + d·epsilon)·KL = Σ_k (x̂_k + epsilon)·ℓ(x)_k − epsilon·Σ_k ℓ(z)_k − ⟨x̂, ℓ(z)⟩,
///
/// one scalar product, sparse where the samples are.
///
/// Nature: asymmetric, since KL(p‖q) ≠ KL(q‖p); 1 exactly where p = q. Defaults: gamma 1, epsilon 1e-6. Scaling a
/// sample changes nothing, because it is divided by its sum.
///
/// Counts (2, 2) against (1, 3), p = (1/2, 1/2) and q = (1/4, 3/4): exp(−KL(p‖q)) = 2^(−1/2)·(2/3)^(−1/2) = √(3/4), and
/// exp(−KL(q‖p)) = 2^(1/4)·(2/3)^(3/4).
///
/// ```
/// use lopsided::kernel::{Kernel, Kl};
/// use lopsided::{Mat, Samples};
///
/// let counts = Samples::Dense(faer::mat![[2.0, 2.0], [1.0, 3.0]]);
/// let mut g = Mat::<f64>::zeros(2, 2);
/// Kl { gamma: 1.0, epsilon: 1e-6 }.block(counts.as_ref(), counts.as_ref(), g.as_mut())?;
/// assert!((g[(0, 0)] - 1.0).abs() < 1e-9);
/// assert!((g[(0, 1)] - 0.75_f64.sqrt()).abs() < 1e-5);
/// assert!((g[(1, 0)] - 2.0_f64.powf(0.25) * (2.0_f64 / 3.0).powf(0.75)).abs() < 1e-5);
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Cost
/// n·m scalar products of the stored bins and one logarithm for each stored bin of either side.
#[derive(Clone, Copy, Debug)]
pub struct Kl {
    /// Coefficient of the divergence, a in the paper, above 0.
    pub gamma: f64,
    /// What every bin gets beside its share, between 1e-30 and 1.
    pub epsilon: f64,
}

impl<T: Scalar> Kernel<T> for Kl {
    /// # Errors
    /// [`Error::Param`] for samples that are no histograms.
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        let epsilon = T::of(self.epsilon);
        let gamma = T::of(self.gamma / (1.0 + self.epsilon * x.width() as f64));
        let logarithm = |share: T| (share / epsilon).ln_1p();
        let (x, z) = (histograms(x, |share| share)?, histograms(z, logarithm)?);
        let of_x = sums(x.as_ref(), |share| (share + epsilon) * logarithm(share));
        let of_z = sums(z.as_ref(), |logarithm| epsilon * logarithm);
        Meeting::Dot.tile(x.as_ref(), z.as_ref(), out.rb_mut());
        for (j, &of_z) in of_z.iter().enumerate() {
            for (v, &of_x) in out.rb_mut().col_mut(j).iter_mut().zip(&of_x) {
                *v = (-gamma * (of_x - of_z - *v).max(T::zero())).exp();
            }
        }
        Ok(())
    }
}

/// f of every share of every sample; f(0) = 0, so that bins that are not stored need not be visited.
fn histograms<T: Scalar>(samples: SamplesRef<'_, T>, f: impl Fn(T) -> T) -> Result<Samples<T>> {
    let totals = totals(samples)?;
    Ok(match samples {
        SamplesRef::Dense(m) => Samples::Dense(Mat::from_fn(m.nrows(), m.ncols(), |i, j| f(m[(i, j)] / totals[i]))),
        SamplesRef::Sparse(rows) => {
            let mut rows = rows.to_owned();
            for (i, &total) in totals.iter().enumerate() {
                rows.row_mut(i).1.iter_mut().for_each(|v| *v = f(*v / total));
            }
            Samples::Sparse(rows)
        }
    })
}

/// The sum of every sample, by which it becomes a histogram.
///
/// # Errors
/// [`Error::Param`] for a sample with a negative bin, and for one whose bins are all 0.
fn totals<T: Scalar>(samples: SamplesRef<'_, T>) -> Result<Vec<T>> {
    let refused = |value: String| {
        Err(Error::param("samples", value, "histograms for the kernel `kl`: no number below 0, and one above it"))
    };
    let mut totals = Vec::with_capacity(samples.count());
    for i in 0..samples.count() {
        let (mut total, mut least) = (T::zero(), T::zero());
        samples.for_each(i, |_, v| (total, least) = (total + v, least.min(v)));
        if least < T::zero() {
            return refused(least.to_string());
        }
        if total <= T::zero() {
            return refused("0 in all bins of a row".into());
        }
        totals.push(total);
    }
    Ok(totals)
}

/// Σ f(v) over the stored values v of every sample.
fn sums<T: Scalar>(samples: SamplesRef<'_, T>, f: impl Fn(T) -> T) -> Vec<T> {
    let sum = |i: usize| {
        let mut sum = T::zero();
        samples.for_each(i, |_, v| sum += f(v));
        sum
    };
    (0..samples.count()).map(sum).collect()
}

/// The setting `epsilon`, from 1e-30, so that a share divided by it stays in the range of `f32`, to 1.
fn epsilon(params: &Settings) -> Result<f64> {
    let value = params.number("epsilon", EPSILON)?;
    if (1e-30..=1.0).contains(&value) { Ok(value) } else { Err(Error::param("epsilon", value, "between 1e-30 and 1")) }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "kl",
        about: "k(x, z) = exp(-gamma KL(x || z)) of histograms, epsilon added to every bin; default gamma 1, epsilon 1e-6",
        settings: const {
            &[
                FIXED_GAMMA,
                Setting::new("epsilon", "what is added to every bin of a histogram", "between 1e-30 and 1", "1e-6"),
            ]
        },
        build: |params| Ok(Box::new(Kl { gamma: params.positive("gamma", Some(1.0))?, epsilon: epsilon(params)? })),
    }
}

//! Gaussians with full covariances and their divergence in closed form.

use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::data::samples::SamplesRef;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, MatRef, Par};

/// A normal distribution with any positive definite covariance.
///
/// The divergence depends on the direction: a wide distribution covers a narrow one better than the other way
/// round.
///
/// ```
/// use lopsided::estimators::distributions::Gaussian;
///
/// let narrow = Gaussian::diagonal(&[0.0], &[1.0])?;
/// let wide = Gaussian::diagonal(&[0.0], &[4.0])?;
/// assert_eq!(narrow.kl(&narrow)?, 0.0);
/// assert!((narrow.kl(&wide)? - 0.5 * (0.25 - 1.0 + 4.0_f64.ln())).abs() < 1e-12);
/// assert!((wide.kl(&narrow)? - 0.5 * (4.0 - 1.0 - 4.0_f64.ln())).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    mean: Vec<f64>,
    /// L of the covariance L·Lᵀ.
    factor: Mat<f64>,
}

impl Gaussian {
    /// From mean and covariance, of which the lower triangle counts.
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that do not agree, [`Error::NotFinite`], [`Error::Param`] for a covariance that is not
    /// positive definite.
    pub fn new(mean: &[f64], covariance: MatRef<'_, f64>) -> Result<Self> {
        let (n, m) = covariance.shape();
        if n != mean.len() || m != n {
            return Err(Error::shape("the covariance", format!("{0} x {0}", mean.len()), format!("{n} x {m}")));
        }
        check_finite(mean, "the mean")?;
        SamplesRef::Dense(covariance).check_finite("the covariance")?;
        let indefinite = || Error::param("covariance", "not positive definite", "positive definite");
        let factor = linalg::lower_factor(covariance.to_owned()).ok_or_else(indefinite)?;
        Ok(Gaussian { mean: mean.to_vec(), factor })
    }

    /// With independent coordinates.
    ///
    /// # Errors
    /// Those of [`Gaussian::new`].
    pub fn diagonal(mean: &[f64], variances: &[f64]) -> Result<Self> {
        if variances.len() != mean.len() {
            return Err(Error::shape("number of variances", mean.len(), variances.len()));
        }
        let covariance = Mat::from_fn(mean.len(), mean.len(), |i, j| if i == j { variances[i] } else { 0.0 });
        Gaussian::new(mean, covariance.as_ref())
    }

    /// KL(self‖other) = ½·(tr(Σ'⁻¹Σ) + (m' − m)ᵀΣ'⁻¹(m' − m) − d + ln det Σ' − ln det Σ), in d dimensions, with the
    /// mean m' and covariance Σ' of the other.
    ///
    /// With the factors Σ = L·Lᵀ and Σ' = L'·L'ᵀ the trace and the quadratic form are the squares of
    /// L'⁻¹·\[L, m' − m\], so that no inverse is formed. O(d³).
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of dimensions.
    pub fn kl(&self, other: &Gaussian) -> Result<f64> {
        let d = self.mean.len();
        if other.mean.len() != d {
            return Err(Error::shape("the number of dimensions", d, other.mean.len()));
        }
        // Of L'⁻¹·[L, m' − m] the squares sum up to the trace and the quadratic form.
        let entry = |i: usize, j: usize| if j < d { self.factor[(i, j)] } else { other.mean[i] - self.mean[i] };
        let mut whitened = Mat::from_fn(d, d + 1, entry);
        solve_lower_triangular_in_place(other.factor.as_ref(), whitened.as_mut(), Par::Seq);
        let log_ratios: f64 = (0..d).map(|i| (other.factor[(i, i)] / self.factor[(i, i)]).ln()).sum();
        Ok((0.5 * (whitened.squared_norm_l2() - d as f64) + log_ratios).max(0.0))
    }
}

fn check_finite(values: &[f64], what: &str) -> Result<()> {
    SamplesRef::Dense(MatRef::from_row_major_slice(values, 1, values.len())).check_finite(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    fn random(seed: u64) -> (Vec<f64>, Mat<f64>) {
        let a = synth::gaussian::<f64>(4, 4, seed);
        let mean = (0..4).map(|i| a[(i, 0)] - a[(0, i)]).collect();
        (mean, &a * a.transpose() + Mat::<f64>::identity(4, 4) * faer::Scale(0.3))
    }

    fn of((mean, covariance): &(Vec<f64>, Mat<f64>)) -> Gaussian {
        Gaussian::new(mean, covariance.as_ref()).unwrap()
    }

    #[test]
    fn independent_coordinates_add_up() {
        let (m, v) = ([1.0_f64, -2.0, 0.0], [0.5_f64, 2.0, 1.0]);
        let (n, w) = ([0.0, 1.0, 0.0], [1.0, 3.0, 1.0]);
        let one = |i: usize| 0.5 * (v[i] / w[i] + (n[i] - m[i]).powi(2) / w[i] - 1.0 + (w[i] / v[i]).ln());
        let found = Gaussian::diagonal(&m, &v).unwrap().kl(&Gaussian::diagonal(&n, &w).unwrap()).unwrap();
        assert!((found - (one(0) + one(1) + one(2))).abs() < 1e-14);
    }

    #[test]
    fn an_affine_map_of_both_changes_nothing() {
        let (p, q, map) = (random(1), random(2), synth::gaussian::<f64>(4, 4, 3));
        let moved = |(mean, covariance): &(Vec<f64>, Mat<f64>)| {
            let mean = (0..4).map(|i| 5.0 + (0..4).map(|j| map[(i, j)] * mean[j]).sum::<f64>()).collect();
            (mean, &map * covariance * map.transpose())
        };
        let plain = of(&p).kl(&of(&q)).unwrap();
        assert!((of(&moved(&p)).kl(&of(&moved(&q))).unwrap() / plain - 1.0).abs() < 1e-9);
        assert!((of(&q).kl(&of(&p)).unwrap() - plain).abs() > 1e-3 * plain);
        assert!(of(&p).kl(&of(&p)).unwrap() < 1e-12);
    }

    #[test]
    fn what_is_no_gaussian_is_refused() {
        let message = |m: &[f64], v: &[f64]| Gaussian::diagonal(m, v).unwrap_err().to_string();
        assert_eq!(message(&[0.0], &[-1.0]), "`covariance` is not positive definite but must be positive definite");
        assert_eq!(message(&[0.0], &[1.0, 1.0]), "number of variances is 2 but must be 1");
        assert!(message(&[f64::NAN], &[1.0]).contains("the mean contains NaN"));
        let (one, two) = (Gaussian::diagonal(&[0.0], &[1.0]), Gaussian::diagonal(&[0.0; 2], &[1.0; 2]));
        assert!(one.unwrap().kl(&two.unwrap()).is_err());
    }
}

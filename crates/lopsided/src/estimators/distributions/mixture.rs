//! Mixtures of Gaussians with independent coordinates: densities and random points.

use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose, normal};
use crate::data::samples::SamplesRef;
use faer::{Mat, MatRef};
use rand::RngExt;

/// A mixture of Gaussians with independent coordinates: p(x) = Σ_c w_c·Π_k N(x_k; m_ck, v_ck).
///
/// Diagonal covariances make O(components · width) of a density, and enough components describe any shape
/// nevertheless.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::distributions::DiagonalMixture;
///
/// // Two components at −1 and 1, equal otherwise: at 0 each has the density of a standard normal at 1.
/// let means = Mat::from_fn(2, 1, |c, _| 2.0 * c as f64 - 1.0);
/// let mixture = DiagonalMixture::new(vec![0.5, 0.5], means, Mat::from_fn(2, 1, |_, _| 1.0))?;
/// let at = mixture.log_density(Mat::<f64>::zeros(1, 1).as_ref())?;
/// assert!((at[0] + 0.5 * (std::f64::consts::TAU.ln() + 1.0)).abs() < 1e-12);
/// assert_eq!(mixture.sample(10, 1), mixture.sample(10, 1)); // a seed, always the same points
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DiagonalMixture {
    weights: Vec<f64>,
    /// One component per row.
    means: Mat<f64>,
    variances: Mat<f64>,
}

impl DiagonalMixture {
    /// From weights that sum up to 1, and means and variances with one row per component.
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that do not agree, [`Error::NotFinite`], [`Error::Param`] for weights that are negative or
    /// have another sum, and for variances that are not above 0.
    pub fn new(weights: Vec<f64>, means: Mat<f64>, variances: Mat<f64>) -> Result<Self> {
        let (k, d) = means.shape();
        if weights.len() != k || k == 0 || d == 0 {
            return Err(Error::shape("number of means", weights.len().max(1), format!("{k} of {d} coordinates")));
        }
        if variances.shape() != (k, d) {
            let got = format!("{} x {}", variances.nrows(), variances.ncols());
            return Err(Error::shape("the matrix of variances", format!("{k} x {d}"), got));
        }
        SamplesRef::Dense(means.as_ref()).check_finite("the means")?;
        SamplesRef::Dense(variances.as_ref()).check_finite("the variances")?;
        let sum: f64 = weights.iter().sum();
        if !weights.iter().all(|w| *w >= 0.0) || (sum - 1.0).abs() > 1e-6 {
            return Err(Error::param("weights", format!("{weights:?}"), "non-negative numbers with the sum 1"));
        }
        let least = variances.col_iter().flat_map(faer::ColRef::iter).copied().fold(f64::INFINITY, f64::min);
        if least <= 0.0 {
            return Err(Error::param("variances", least, "numbers above 0"));
        }
        Ok(DiagonalMixture { weights, means, variances })
    }

    /// The share of each component.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The mean of each component, one per row.
    pub fn means(&self) -> MatRef<'_, f64> {
        self.means.as_ref()
    }

    /// The variances of each component, one row per component.
    pub fn variances(&self) -> MatRef<'_, f64> {
        self.variances.as_ref()
    }

    /// Number of coordinates.
    pub fn width(&self) -> usize {
        self.means.ncols()
    }

    /// ln p of every point, one per row.
    ///
    /// # Errors
    /// [`Error::Shape`] for points of another width.
    pub fn log_density(&self, points: MatRef<'_, f64>) -> Result<Vec<f64>> {
        if points.ncols() != self.width() {
            return Err(Error::shape("the width of the points", self.width(), points.ncols()));
        }
        Ok(log_sums(&self.log_joint(&points.to_owned())))
    }

    /// So many independent points, one per row.
    pub fn sample(&self, count: usize, seed: u64) -> Mat<f64> {
        let mut rng = random::generator(seed, Purpose::Mixtures);
        let mut out = Mat::zeros(count, self.width());
        for i in 0..count {
            let c = self.component(rng.random());
            for j in 0..self.width() {
                out[(i, j)] = self.means[(c, j)] + self.variances[(c, j)].sqrt() * normal(&mut rng);
            }
        }
        out
    }

    /// The component that a number between 0 and 1 falls to.
    fn component(&self, mut at: f64) -> usize {
        let hit = self.weights.iter().position(|w| {
            at -= w;
            at < 0.0
        });
        // Rounding may leave a rest behind the last weight.
        hit.or_else(|| self.weights.iter().rposition(|w| *w > 0.0)).unwrap_or(0)
    }

    /// ln(w_c·N(x_i; m_c, v_c)), points down, components across.
    ///
    /// ln w_c − ½·Σ_k (ln(2π·v_ck) + (x_ik − m_ck)²/v_ck), coordinate by coordinate over whole columns.
    pub(super) fn log_joint(&self, points: &Mat<f64>) -> Mat<f64> {
        let mut out = Mat::zeros(points.nrows(), self.weights.len());
        for c in 0..self.weights.len() {
            let normalizer: f64 = self.variances.row(c).iter().map(|v| (std::f64::consts::TAU * v).ln()).sum();
            let column = out.col_as_slice_mut(c);
            column.fill(self.weights[c].ln() - 0.5 * normalizer);
            for j in 0..self.width() {
                let (mean, precision) = (self.means[(c, j)], 0.5 / self.variances[(c, j)]);
                for (o, &x) in column.iter_mut().zip(points.col_as_slice(j)) {
                    *o -= precision * (x - mean) * (x - mean);
                }
            }
        }
        out
    }
}

/// ln Σ_c exp(joint_ic) of every row, without overflow.
pub(super) fn log_sums(joint: &Mat<f64>) -> Vec<f64> {
    let one = |i: usize| {
        let row = joint.row(i);
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest.is_finite() { largest + row.iter().map(|v| (v - largest).exp()).sum::<f64>().ln() } else { largest }
    };
    (0..joint.nrows()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> DiagonalMixture {
        let means = Mat::from_fn(2, 2, |c, j| (3 * c + j) as f64);
        let variances = Mat::from_fn(2, 2, |c, j| 0.5 + (c + 2 * j) as f64);
        DiagonalMixture::new(vec![0.3, 0.7], means, variances).unwrap()
    }

    #[test]
    fn the_density_is_that_of_the_definition_even_far_away() {
        let mixture = example();
        let points = Mat::from_fn(2, 2, |i, j| (i + j) as f64 * 0.7);
        let normal = |x: f64, m: f64, v: f64| (-(x - m).powi(2) / (2.0 * v)).exp() / (std::f64::consts::TAU * v).sqrt();
        for (i, found) in mixture.log_density(points.as_ref()).unwrap().into_iter().enumerate() {
            let one = |c: usize, j: usize| normal(points[(i, j)], mixture.means[(c, j)], mixture.variances[(c, j)]);
            let naive: f64 = (0..2).map(|c| mixture.weights[c] * one(c, 0) * one(c, 1)).sum();
            assert!((found - naive.ln()).abs() < 1e-13);
        }
        let far = Mat::from_fn(1, 2, |_, _| 1e4);
        assert!(mixture.log_density(far.as_ref()).unwrap()[0].is_finite());
        assert!(mixture.log_density(Mat::zeros(1, 3).as_ref()).is_err());
    }

    #[test]
    fn points_have_the_mean_and_variance_of_the_mixture() {
        let (mixture, n) = (example(), 20_000);
        let points = mixture.sample(n, 4);
        for j in 0..2 {
            let moment = |of: &dyn Fn(usize) -> f64| (0..2).map(|c| mixture.weights[c] * of(c)).sum::<f64>();
            let mean = moment(&|c| mixture.means[(c, j)]);
            let variance = moment(&|c| mixture.variances[(c, j)] + (mixture.means[(c, j)] - mean).powi(2));
            let found = points.col(j).iter().sum::<f64>() / n as f64;
            let spread = points.col(j).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            assert!((found - mean).abs() < 5.0 * (variance / n as f64).sqrt());
            assert!((spread / variance - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn what_is_no_mixture_is_refused() {
        let ones = |k: usize| Mat::from_fn(k, 2, |_, _| 1.0);
        let message =
            |weights: Vec<f64>, v: Mat<f64>| DiagonalMixture::new(weights, ones(2), v).unwrap_err().to_string();
        assert!(message(vec![0.5, 0.6], ones(2)).contains("with the sum 1"));
        assert!(message(vec![-0.5, 1.5], ones(2)).contains("non-negative"));
        assert!(message(vec![0.5, 0.5], Mat::zeros(2, 2)).contains("above 0"));
        assert!(message(vec![0.5, 0.5], ones(3)).contains("3 x 2"));
        assert!(message(vec![1.0], ones(2)).contains("number of means"));
    }
}

//! Mixtures from points, by expectation and maximisation.
//!
//! With the shares r_ic = w_c·N(x_i; m_c, v_c)/Σ_k w_k·N(x_i; m_k, v_k) of the components in every point, the
//! next weights are the means of the shares, the next means and variances those of the points weighted by them.

use super::mixture::{DiagonalMixture, log_sums};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::setters;
use crate::base::verdict::Verdict;
use crate::data::samples::SamplesRef;
use crate::solvers::kmeans::KMeans;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Iterations of k-means for a start.
const START: usize = 20;
/// A component with a smaller share of the points stays where it is.
const GONE: f64 = 1e-12;

/// Mixtures of Gaussians with independent coordinates from points, by expectation and maximisation.
///
/// 1. Start: k-means with a k-means++ start; fewer components where there are fewer different points.
/// 2. Shares of the components in every point, then weights, means and variances from the shares, until the mean
///    log-likelihood grows by less than the tolerance. No variance falls below the floor. That is the maximum under this
///    constraint, so the log-likelihood never falls.
/// 3. The best of all restarts; the first one in a tie.
///
/// # Cost
/// O(points · components · width) per iteration. The restarts run in parallel, each on one thread.
///
/// # Example
/// One component needs no iteration: it has the mean and the variance of the points.
///
/// ```
/// use lopsided::estimators::distributions::MixtureFit;
/// use lopsided::{Mat, Run};
///
/// let points = Mat::from_fn(2, 1, |i, _| 1.0 + 2.0 * i as f64); // 1 and 3
/// let found = MixtureFit::new(1).fit(points.as_ref(), &Run::default())?;
/// assert!((found.mixture.means()[(0, 0)] - 2.0).abs() < 1e-12);
/// assert!((found.mixture.variances()[(0, 0)] - 1.0).abs() < 1e-12);
/// let expected = -0.5 * (std::f64::consts::TAU.ln() + 1.0);
/// assert!((found.log_likelihood() - expected).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixtureFit {
    /// Number of components.
    pub components: usize,
    /// Number of starts.
    pub restarts: usize,
    /// Largest number of iterations of each start.
    pub iterations: usize,
    /// Growth of the mean log-likelihood that ends the iteration.
    pub tolerance: f64,
    /// Least variance, in squared units of the points. One floor for all mixtures keeps their divergences comparable.
    pub floor: f64,
}

setters!(MixtureFit: with_components(components: usize), with_iterations(iterations: usize),
    with_tolerance(tolerance: f64), with_restarts(restarts: usize), with_floor(floor: f64));

/// What [`MixtureFit`] found.
///
/// `log_likelihoods` never falls from one entry to the next but for rounding; [`FittedMixture::log_likelihood`]
/// is its last entry. A verdict that has not converged means that the iterations ran out.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedMixture {
    /// The mixture.
    pub mixture: DiagonalMixture,
    /// Mean log-likelihood of the points before each iteration and at the end.
    pub log_likelihoods: Vec<f64>,
    /// Growth of the mean log-likelihood in the last iteration, and the tolerance.
    pub verdict: Verdict,
}

impl MixtureFit {
    /// 3 starts of at most 200 iterations, tolerance 1e-4, floor 1e-6.
    pub fn new(components: usize) -> Self {
        MixtureFit { components, restarts: 3, iterations: 200, tolerance: 1e-4, floor: 1e-6 }
    }

    /// A mixture of points, one per row.
    ///
    /// # Errors
    /// [`Error::Param`] for numbers that cannot be used, [`Error::Shape`] for points without coordinates,
    /// [`Error::NotFinite`], [`Error::Interrupted`].
    pub fn fit(&self, points: MatRef<'_, f64>, run: &Run) -> Result<FittedMixture> {
        self.check(points)?;
        let points = &points.to_owned(); // contiguous columns
        let start =
            |restart: u64| Run { seed: run.seed.wrapping_add(restart), watch: run.watch.silent(), ..run.clone() };
        let found: Vec<Result<FittedMixture>> =
            (0..self.restarts as u64).into_par_iter().map(|restart| self.climb(points, &start(restart))).collect();
        let mut best: Option<FittedMixture> = None;
        for found in found {
            let found = found?;
            if best.as_ref().is_none_or(|b| found.log_likelihood() > b.log_likelihood()) {
                best = Some(found);
            }
        }
        best.ok_or_else(|| Error::param("restarts", self.restarts, "at least 1"))
    }

    fn check(&self, points: MatRef<'_, f64>) -> Result<()> {
        let n = points.nrows();
        if self.components == 0 || self.components > n {
            let allowed = format!("between 1 and the number of points, {n}");
            return Err(Error::param("components", self.components, allowed));
        }
        if points.ncols() == 0 {
            return Err(Error::shape("the width of the points", "at least 1", 0));
        }
        for (name, value) in [("floor", self.floor), ("tolerance", self.tolerance)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::param(name, value, "a number above 0"));
            }
        }
        if self.restarts == 0 {
            return Err(Error::param("restarts", self.restarts, "at least 1"));
        }
        SamplesRef::Dense(points).check_finite("the points")
    }

    /// Steps 1 and 2 from one start.
    fn climb(&self, points: &Mat<f64>, run: &Run) -> Result<FittedMixture> {
        let start = KMeans { clusters: self.components, restarts: 1, iterations: START }.fit(points.as_ref(), run)?;
        let member = |i: usize, c: usize| f64::from(u8::from(start.labels[i] as usize == c));
        let shares = Mat::from_fn(points.nrows(), start.centers.nrows(), member);
        let mut mixture = self.maximized(points, &shares, None)?;
        let mut log_likelihoods = Vec::new();
        loop {
            run.watch.check()?;
            let mut joint = mixture.log_joint(points);
            let densities = log_sums(&joint);
            let before = log_likelihoods.last().copied();
            let now = densities.iter().sum::<f64>() / densities.len() as f64;
            log_likelihoods.push(now);
            let verdict = Verdict::measured(before.map_or(f64::INFINITY, |before| now - before), self.tolerance);
            if verdict.converged() || log_likelihoods.len() > self.iterations {
                return Ok(FittedMixture { mixture, log_likelihoods, verdict });
            }
            into_shares(&mut joint, &densities);
            mixture = self.maximized(points, &joint, Some(&mixture))?;
        }
    }

    /// Weights, means and variances from the shares of the components in every point.
    ///
    /// A component without share has no mean of its own any more: it stays where it was, with a weight of next to
    /// nothing.
    fn maximized(
        &self,
        points: &Mat<f64>,
        shares: &Mat<f64>,
        before: Option<&DiagonalMixture>,
    ) -> Result<DiagonalMixture> {
        let (n, k) = (points.nrows() as f64, shares.ncols());
        let totals: Vec<f64> = shares.col_iter().map(|column| column.iter().sum()).collect();
        let (mut means, mut variances) = (Mat::zeros(k, points.ncols()), Mat::zeros(k, points.ncols()));
        for c in 0..k {
            for j in 0..points.ncols() {
                let (column, shares) = (points.col_as_slice(j), shares.col_as_slice(c));
                (means[(c, j)], variances[(c, j)]) = match before {
                    Some(before) if totals[c] < GONE * n => (before.means()[(c, j)], before.variances()[(c, j)]),
                    _ => {
                        let mean = weighted(column, shares, |x| x) / totals[c];
                        let square = weighted(column, shares, |x| (x - mean) * (x - mean)) / totals[c];
                        (mean, square.max(self.floor))
                    }
                };
            }
        }
        DiagonalMixture::new(totals.iter().map(|total| total / n).collect(), means, variances)
    }
}

impl FittedMixture {
    /// Mean log-likelihood of the points.
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihoods.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Σ_i share_i·f(x_i).
fn weighted(points: &[f64], shares: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    points.iter().zip(shares).map(|(&x, share)| share * f(x)).sum()
}

/// From ln(w_c·N(x_i)) to the share of component c in point i.
fn into_shares(joint: &mut Mat<f64>, densities: &[f64]) {
    for column in joint.col_iter_mut() {
        column.iter_mut().zip(densities).for_each(|(v, density)| *v = (*v - density).exp());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    fn fit(components: usize, points: &Mat<f64>) -> Result<FittedMixture> {
        MixtureFit::new(components).fit(points.as_ref(), &Run::default())
    }

    #[test]
    fn the_log_likelihood_never_falls() {
        for seed in 0..6 {
            let (points, _) = synth::clusters::<f64>(150, 3, 4, seed);
            let restless = MixtureFit { tolerance: 1e-300, iterations: 60, ..MixtureFit::new(5) };
            let found = restless.fit(points.as_ref(), &Run { seed, ..Run::default() }).unwrap();
            let rising = found.log_likelihoods.windows(2).all(|w| w[1] >= w[0] - 1e-12 * w[0].abs());
            assert!(rising && found.log_likelihoods.len() > 2, "{:?}", found.log_likelihoods);
            let density = found.mixture.log_density(points.as_ref()).unwrap();
            assert!((density.iter().sum::<f64>() / 150.0 - found.log_likelihood()).abs() < 1e-12);
        }
    }

    #[test]
    fn a_mixture_is_found_again() {
        let means = Mat::from_fn(2, 2, |c, j| (c as f64 * 4.0) + j as f64);
        let variances = Mat::from_fn(2, 2, |c, j| [[0.5, 1.0], [0.25, 2.0]][c][j]);
        let truth = DiagonalMixture::new(vec![0.3, 0.7], means, variances).unwrap();
        let found = fit(2, &truth.sample(5000, 3)).unwrap();
        let light = usize::from(found.mixture.weights()[0] > 0.5);
        assert!(found.verdict.converged());
        assert!((found.mixture.weights()[light] - 0.3).abs() < 0.03);
        for j in 0..2 {
            assert!((found.mixture.means()[(light, j)] - truth.means()[(0, j)]).abs() < 0.12);
            assert!((found.mixture.variances()[(light, j)] / truth.variances()[(0, j)] - 1.0).abs() < 0.2);
        }
    }

    #[test]
    fn one_component_has_the_moments_of_the_points() {
        let points = synth::gaussian::<f64>(50, 2, 9);
        let found = fit(1, &points).unwrap().mixture;
        for j in 0..2 {
            let mean = points.col(j).iter().sum::<f64>() / 50.0;
            let variance = points.col(j).iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 50.0;
            assert!((found.means()[(0, j)] - mean).abs() < 1e-13);
            assert!((found.variances()[(0, j)] - variance).abs() < 1e-12);
        }
    }

    #[test]
    fn duplicates_and_constant_columns_end_at_the_floor() {
        let duplicates = Mat::from_fn(12, 2, |i, j| if j == 0 { (i % 2) as f64 } else { 7.0 });
        let found = fit(5, &duplicates).unwrap();
        assert_eq!(found.mixture.weights().len(), 2);
        assert!(found.mixture.variances().col_iter().all(|column| column.iter().all(|v| *v == 1e-6)));
        assert!(found.log_likelihood().is_finite());
        let single = fit(1, &Mat::from_fn(1, 3, |_, _| 2.0)).unwrap();
        assert!(single.log_likelihood().is_finite());
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let points = synth::gaussian::<f64>(3, 2, 1);
        assert_eq!(
            fit(4, &points).unwrap_err().to_string(),
            "`components` is 4 but must be between 1 and the number of points, 3"
        );
        assert!(fit(0, &points).is_err() && fit(1, &Mat::zeros(3, 0)).is_err());
        assert!(fit(1, &Mat::from_fn(2, 1, |_, _| f64::INFINITY)).is_err());
        for bad in [MixtureFit::new(1).with_restarts(0), MixtureFit::new(1).with_floor(0.0)] {
            assert!(bad.fit(points.as_ref(), &Run::default()).is_err());
        }
    }
}

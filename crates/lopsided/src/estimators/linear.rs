//! Linear least-squares support vector machine, one class against the rest.
//!
//! The head of kernel SVD features, the machine of every evaluation, and a baseline of its own.

pub use crate::solvers::linear_machine::{Hyperplanes as LinearLsSvmModel, largest_columns};

use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::data::samples::SamplesRef;
use faer::{Mat, MatRef};

/// One-vs-rest linear LS-SVM on dense features.
///
/// For each class, with y_i = +1 for its samples and −1 for all others, minimises
///
/// |w|²/2 + penalty/2 · Σ_i (y_i − wᵀx_i − b)².
///
/// The bias is not penalised, so centring removes it: with centred X̃, Ỹ,
/// (X̃ᵀX̃ + I/penalty)·W = X̃ᵀỸ and b = ȳ − Wᵀx̄.
///
/// # Cost
/// One Cholesky factor of size min(n, d) for all classes; O(n·d·min(n, d)).
///
/// # Example
/// Two points at ±1 give w = 2/(2 + 1/penalty), which tends to 1 as errors weigh more:
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::linear::LinearLsSvm;
///
/// let x = Mat::from_fn(2, 1, |i, _| 1.0 - 2.0 * i as f64); // 1 of class 0, −1 of class 1
/// let model = LinearLsSvm::default().fit(x.as_ref(), &[0, 1], 2)?;
/// assert!((model.weights[(0, 0)] - 2.0 / 3.0).abs() < 1e-12 && model.bias[0].abs() < 1e-12);
/// assert_eq!(model.predict(x.as_ref()), [0, 1]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LinearLsSvm {
    /// Weight of the squared errors against |w|²; greater than 0.
    pub penalty: f64,
}

impl Default for LinearLsSvm {
    fn default() -> Self {
        LinearLsSvm { penalty: 1.0 }
    }
}

impl LinearLsSvm {
    /// The same machine with another penalty.
    pub fn with_penalty(mut self, penalty: f64) -> Self {
        self.penalty = penalty;
        self
    }

    /// Learns from `features`, one sample per row, of which sample i has the class `codes[i] < classes`.
    ///
    /// # Errors
    /// [`Error::Param`] for a penalty that is not positive or a code out of range, [`Error::Shape`] for sizes that do
    /// not agree, [`Error::NotFinite`] for NaN or infinity, [`Error::Singular`] if the penalty is so large that the
    /// system cannot be factored.
    pub fn fit(&self, features: MatRef<'_, f64>, codes: &[u32], classes: usize) -> Result<LinearLsSvmModel> {
        if let Some(code) = codes.iter().find(|&&c| c as usize >= classes) {
            return Err(Error::param("class code", code, format!("less than the number of classes, {classes}")));
        }
        let signs = Mat::from_fn(codes.len(), classes, |i, c| sign(codes[i], c));
        self.fit_targets(features, signs.as_ref())
    }

    /// Learns any targets, one column of `targets` each: ridge regression with a bias that is not penalised.
    ///
    /// The Gram matrix of features is factored for n ≥ d, that of samples for n < d; the weights are the same.
    ///
    /// # Errors
    /// As for [`LinearLsSvm::fit`].
    pub fn fit_targets(&self, features: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Result<LinearLsSvmModel> {
        self.check(features, targets)?;
        let (mean, target_mean) = (column_means(features), column_means(targets));
        let (n, d) = (features.nrows(), features.ncols());
        let X = Mat::from_fn(n, d, |i, j| features[(i, j)] - mean[j]);
        let Y = Mat::from_fn(n, targets.ncols(), |i, c| targets[(i, c)] - target_mean[c]);
        let weights = if n < d { self.dual_weights(&X, &Y)? } else { self.primal_weights(&X, &Y)? };
        let shift = |c: usize| (0..d).map(|j| weights[(j, c)] * mean[j]).sum::<f64>();
        let bias = target_mean.iter().enumerate().map(|(c, mean)| mean - shift(c)).collect();
        Ok(LinearLsSvmModel { weights, bias })
    }

    /// Condition number of the system that [`LinearLsSvm::fit_targets`] solves: (s² + 1/penalty) / (t² + 1/penalty) with the
    /// largest and the smallest singular value s, t of the centred features.
    ///
    /// `None` without features, or where they are not finite.
    ///
    /// ```
    /// use lopsided::Mat;
    /// use lopsided::estimators::linear::LinearLsSvm;
    ///
    /// // The centred features have XᵀX = diag(2, ½); with 1/penalty = 1 the condition number is 3/1.5.
    /// let x = Mat::from_fn(4, 2, |i, j| match (i, j) {
    ///     (0, 0) => 1.0,
    ///     (1, 0) => -1.0,
    ///     (2, 1) => 0.5,
    ///     (3, 1) => -0.5,
    ///     _ => 0.0,
    /// });
    /// assert!((LinearLsSvm::default().condition(x.as_ref()).unwrap() - 2.0).abs() < 1e-9);
    /// ```
    pub fn condition(&self, features: MatRef<'_, f64>) -> Option<f64> {
        let mean = column_means(features);
        let X = Mat::from_fn(features.nrows(), features.ncols(), |i, j| features[(i, j)] - mean[j]);
        let tall = if X.nrows() < X.ncols() { X.transpose() } else { X.as_ref() };
        let values = linalg::eigenvalues(linalg::transpose_mul(tall, tall).as_ref())?;
        let ridge = 1.0 / self.penalty;
        Some((values.last()? + ridge) / (values.first()?.max(0.0) + ridge))
    }

    fn check(&self, features: MatRef<'_, f64>, targets: MatRef<'_, f64>) -> Result<()> {
        check_penalty(self.penalty)?;
        if targets.nrows() == 0 || features.nrows() != targets.nrows() {
            let rows = features.nrows();
            return Err(Error::shape(
                "number of labels",
                format!("the number of samples, {rows}, and not 0"),
                targets.nrows(),
            ));
        }
        SamplesRef::Dense(features).check_finite("features")
    }

    /// W = (XᵀX + I/penalty)⁻¹ XᵀY, for n ≥ d.
    fn primal_weights(&self, X: &Mat<f64>, Y: &Mat<f64>) -> Result<Mat<f64>> {
        let (gram, rhs) =
            (linalg::transpose_mul(X.as_ref(), X.as_ref()), linalg::transpose_mul(X.as_ref(), Y.as_ref()));
        self.ridge_solve(gram, rhs)
    }

    /// The same W as Xᵀ(XXᵀ + I/penalty)⁻¹Y, for n < d.
    fn dual_weights(&self, X: &Mat<f64>, Y: &Mat<f64>) -> Result<Mat<f64>> {
        let gram = linalg::transpose_mul(X.transpose(), X.transpose());
        Ok(linalg::transpose_mul(X.as_ref(), self.ridge_solve(gram, Y.clone())?.as_ref()))
    }

    /// (gram + I/penalty)⁻¹·rhs by a Cholesky factor.
    fn ridge_solve(&self, mut gram: Mat<f64>, rhs: Mat<f64>) -> Result<Mat<f64>> {
        for i in 0..gram.nrows() {
            gram[(i, i)] += 1.0 / self.penalty;
        }
        linalg::solve_lower(gram, rhs).ok_or_else(singular)
    }
}

/// A penalty so large that the ridge is lost in rounding.
pub(crate) fn singular() -> Error {
    Error::Singular { what: "LS-SVM system (a smaller `penalty` helps)".into() }
}

/// Refuses a penalty that is not above 0.
pub(crate) fn check_penalty(penalty: f64) -> Result<()> {
    if penalty.is_finite() && penalty > 0.0 {
        return Ok(());
    }
    Err(Error::param("penalty", penalty, "a number above 0"))
}

fn sign(code: u32, class: usize) -> f64 {
    if code as usize == class { 1.0 } else { -1.0 }
}

fn column_means(features: MatRef<'_, f64>) -> Vec<f64> {
    features.col_iter().map(|col| col.iter().sum::<f64>() / features.nrows() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use proptest::prelude::*;

    #[test]
    fn separated_clusters_are_classified_right() {
        let (x, codes) = synth::clusters::<f64>(300, 20, 4, 5);
        let (train, test) = crate::metrics::split(300, 0.7, 1);
        let rows = |at: &[usize]| Mat::from_fn(at.len(), 20, |i, j| x[(at[i], j)]);
        let classes = |at: &[usize]| at.iter().map(|&i| codes[i]).collect::<Vec<_>>();
        let model = LinearLsSvm::default().fit(rows(&train).as_ref(), &classes(&train), 4).unwrap();
        assert_eq!(model.predict(rows(&test).as_ref()), classes(&test));
    }

    #[test]
    fn one_feature_gives_the_hand_computed_line() {
        // Centred x = ±1, y = ±1, penalty 1: (2 + 1) w = 2.
        let x = faer::mat![[1.0], [3.0]];
        let model = LinearLsSvm::default().fit(x.as_ref(), &[0, 1], 2).unwrap();
        assert!((model.weights[(0, 1)] - 2.0 / 3.0).abs() < 1e-15);
        assert!((model.bias[1] + 4.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_condition_is_that_of_the_centred_system() {
        // Centred columns (±1, ±1) and (±3, ∓3): Gram matrix diag(4, 36).
        let x = faer::mat![[2.0, 3.0], [0.0, -3.0], [2.0, -3.0], [0.0, 3.0]];
        let condition = LinearLsSvm { penalty: 0.5 }.condition(x.as_ref()).unwrap();
        assert!((condition - 38.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn unusable_input_is_refused() {
        let x = synth::gaussian::<f64>(4, 2, 1);
        let machine = LinearLsSvm::default();
        assert!(machine.clone().with_penalty(0.0).fit(x.as_ref(), &[0, 1, 0, 1], 2).is_err());
        assert!(machine.clone().with_penalty(f64::NAN).fit(x.as_ref(), &[0, 1, 0, 1], 2).is_err());
        assert!(machine.fit(x.as_ref(), &[0, 1, 0], 2).is_err());
        assert!(machine.fit(x.as_ref(), &[0, 1, 0, 2], 2).is_err());
        assert!(machine.fit(Mat::<f64>::zeros(0, 2).as_ref(), &[], 2).is_err());
        assert!(machine.fit(Mat::from_fn(1, 1, |_, _| f64::INFINITY).as_ref(), &[0], 1).is_err());
    }

    proptest! {
        #[test]
        fn gradient_of_the_primal_vanishes(
            n in 1usize..25, d in 1usize..25, k in 1usize..4, penalty in 0.01..100.0, seed: u64,
        ) {
            let x = synth::gaussian::<f64>(n, d, seed);
            let codes: Vec<u32> = (0..n).map(|i| (i % k) as u32).collect();
            let model = LinearLsSvm { penalty }.fit(x.as_ref(), &codes, k).unwrap();
            let f = model.decision(x.as_ref());
            let errors = Mat::from_fn(n, k, |i, c| sign(codes[i], c) - f[(i, c)]);
            let gradient = &model.weights - faer::Scale(penalty) * (x.transpose() * &errors);
            prop_assert!(gradient.norm_max() < 1e-9 * (1.0 + penalty) * n as f64);
            for c in 0..k {
                prop_assert!(errors.col(c).iter().sum::<f64>().abs() < 1e-10 * n as f64);
            }
        }

        #[test]
        fn both_routes_agree(n in 1usize..20, d in 1usize..20, seed: u64) {
            let (X, Y) = (synth::gaussian::<f64>(n, d, seed), synth::gaussian::<f64>(n, 3, seed ^ 1));
            let machine = LinearLsSvm { penalty: 2.0 };
            let difference = machine.primal_weights(&X, &Y).unwrap() - machine.dual_weights(&X, &Y).unwrap();
            prop_assert!(difference.norm_max() < 1e-11);
        }
    }
}

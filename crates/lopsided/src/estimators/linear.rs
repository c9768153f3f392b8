//! Linear least-squares support vector machine, one class against the rest.

use crate::error::{Error, Result};
use crate::linalg;
use crate::samples::SamplesRef;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

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
        self.check(features, codes, classes)?;
        let mean = column_means(features);
        let share = class_shares(codes, classes);
        let (n, d) = (features.nrows(), features.ncols());
        let X = Mat::from_fn(n, d, |i, j| features[(i, j)] - mean[j]);
        let Y = Mat::from_fn(n, classes, |i, c| sign(codes[i], c) - (2.0 * share[c] - 1.0));
        let weights = if n < d { self.dual_weights(&X, &Y)? } else { self.primal_weights(&X, &Y)? };
        let shift = |c: usize| (0..d).map(|j| weights[(j, c)] * mean[j]).sum::<f64>();
        let bias = (0..classes).map(|c| 2.0 * share[c] - 1.0 - shift(c)).collect();
        Ok(LinearLsSvmModel { weights, bias })
    }

    fn check(&self, features: MatRef<'_, f64>, codes: &[u32], classes: usize) -> Result<()> {
        if !(self.penalty.is_finite() && self.penalty > 0.0) {
            return Err(Error::param("penalty", self.penalty, "a positive number"));
        }
        if codes.is_empty() || features.nrows() != codes.len() {
            let rows = features.nrows();
            return Err(Error::shape(
                "number of labels",
                format!("the number of samples, {rows}, and not 0"),
                codes.len(),
            ));
        }
        if let Some(code) = codes.iter().find(|&&c| c as usize >= classes) {
            return Err(Error::param("class code", code, format!("less than the number of classes, {classes}")));
        }
        SamplesRef::Dense(features).check_finite("features")
    }

    /// W = (XᵀX + I/penalty)⁻¹ XᵀY, for n ≥ d.
    fn primal_weights(&self, X: &Mat<f64>, Y: &Mat<f64>) -> Result<Mat<f64>> {
        self.ridge_solve(X.transpose() * X, X.transpose() * Y)
    }

    /// The same W as Xᵀ(XXᵀ + I/penalty)⁻¹Y, for n < d.
    fn dual_weights(&self, X: &Mat<f64>, Y: &Mat<f64>) -> Result<Mat<f64>> {
        Ok(X.transpose() * self.ridge_solve(X * X.transpose(), Y.clone())?)
    }

    fn ridge_solve(&self, mut gram: Mat<f64>, mut rhs: Mat<f64>) -> Result<Mat<f64>> {
        for i in 0..gram.nrows() {
            gram[(i, i)] += 1.0 / self.penalty;
        }
        let singular = |_| Error::Singular { what: "LS-SVM system (decrease the penalty)".into() };
        gram.llt(Side::Lower).map_err(singular)?.solve_in_place(&mut rhs);
        Ok(rhs)
    }
}

/// What [`LinearLsSvm`] learned: one hyperplane per class.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearLsSvmModel {
    /// One column w_c per class.
    pub weights: Mat<f64>,
    /// One b_c per class.
    pub bias: Vec<f64>,
}

impl LinearLsSvmModel {
    /// f_c(x_i) = w_cᵀx_i + b_c in row i, column c.
    ///
    /// # Panics
    /// If the features do not have the width the model was fitted with.
    pub fn decision(&self, features: MatRef<'_, f64>) -> Mat<f64> {
        let (width, fitted) = (features.ncols(), self.weights.nrows());
        assert!(width == fitted, "features have width {width}, the model {fitted}");
        let mut out = linalg::mul(features, self.weights.as_ref());
        for (c, &b) in self.bias.iter().enumerate() {
            out.col_mut(c).iter_mut().for_each(|f| *f += b);
        }
        out
    }

    /// The class with the largest decision value of each sample; the first one in a tie.
    ///
    /// # Panics
    /// If the features do not have the width the model was fitted with.
    pub fn predict(&self, features: MatRef<'_, f64>) -> Vec<u32> {
        let scores = self.decision(features);
        let larger = |i: usize, best: usize, c: usize| if scores[(i, c)] > scores[(i, best)] { c } else { best };
        (0..scores.nrows()).map(|i| (1..scores.ncols()).fold(0, |best, c| larger(i, best, c)) as u32).collect()
    }
}

fn sign(code: u32, class: usize) -> f64 {
    if code as usize == class { 1.0 } else { -1.0 }
}

fn column_means(features: MatRef<'_, f64>) -> Vec<f64> {
    features.col_iter().map(|col| col.iter().sum::<f64>() / features.nrows() as f64).collect()
}

fn class_shares(codes: &[u32], classes: usize) -> Vec<f64> {
    let mut counts = vec![0usize; classes];
    for &code in codes {
        counts[code as usize] += 1;
    }
    counts.iter().map(|&count| count as f64 / codes.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth;
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

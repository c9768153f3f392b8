//! The linear head on features: its losses, their gradients, and the best head for given features.

use crate::base::error::{Error, Result};
use crate::base::linalg;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

/// Weight of |w|² against the mean loss.
const RIDGE: f64 = 1e-3;
/// Steps of the fit; squared loss needs one.
const STEPS: usize = 100;
/// Largest change of a weight that counts as none.
const SETTLED: f64 = 1e-7;

/// What the predictions of a head are measured by.
///
/// | loss | of outputs f and targets y | gradient by f |
/// | --- | --- | --- |
/// | cross-entropy | log Σ_c exp(f_c) − f_true | softmax(f) − y, y one at the true class |
/// | squared | ½·(f − y)² | f − y |
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Classes: −log of the probability of the right class, by softmax.
    CrossEntropy,
    /// Values: half the squared error, the values divided by their standard deviation.
    Squared,
}

impl Loss {
    /// Errors ∂L/∂f of one sample per row, and L of each: f are outputs, y targets.
    pub(super) fn errors(self, mut f: Mat<f64>, y: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
        let mut losses = Vec::with_capacity(f.nrows());
        for i in 0..f.nrows() {
            losses.push(match self {
                Loss::Squared => 0.5 * (0..f.ncols()).map(|c| (f[(i, c)] - y[(i, c)]).powi(2)).sum::<f64>(),
                Loss::CrossEntropy => {
                    let largest = (0..f.ncols()).map(|c| f[(i, c)]).fold(f64::NEG_INFINITY, f64::max);
                    let log = largest + (0..f.ncols()).map(|c| (f[(i, c)] - largest).exp()).sum::<f64>().ln();
                    let right: f64 = (0..f.ncols()).map(|c| y[(i, c)] * f[(i, c)]).sum();
                    (0..f.ncols()).for_each(|c| f[(i, c)] = (f[(i, c)] - log).exp());
                    log - right
                }
            });
            (0..f.ncols()).for_each(|c| f[(i, c)] -= y[(i, c)]);
        }
        (f, losses)
    }
}

/// Mean of some numbers, and its standard error; 0 and 0 without numbers.
pub(super) fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}

/// A linear map from features, with a column of ones after them, to one output per class or to one value.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// One row per feature, the last one for the column of ones; one column per output.
    pub(super) weights: Mat<f64>,
    pub(super) loss: Loss,
}

impl Head {
    /// The head with the least mean loss + RIDGE/2·|w|².
    ///
    /// Each step minimises a quadratic bound of the loss: XᵀX/n for squared errors, where it is the loss itself, and
    /// XᵀX/(2n) for cross-entropy, whose curvature is nowhere larger. So the loss never rises.
    pub(super) fn fit(x: &Mat<f64>, y: &Mat<f64>, loss: Loss) -> Result<Self> {
        let (n, d) = (x.nrows() as f64, x.ncols());
        let curvature = if loss == Loss::Squared { 1.0 / n } else { 0.5 / n };
        let mut bound = faer::Scale(curvature) * linalg::transpose_mul(x.as_ref(), x.as_ref());
        (0..d).for_each(|k| bound[(k, k)] += ridge(k, d));
        let singular = |_| Error::Singular { what: "the system of the head".into() };
        let factor = bound.llt(Side::Lower).map_err(singular)?;
        let mut weights = Mat::<f64>::zeros(d, y.ncols());
        for _ in 0..STEPS {
            let (errors, _) = loss.errors(linalg::mul(x.as_ref(), weights.as_ref()), y.as_ref());
            let mut step = linalg::transpose_mul(x.as_ref(), errors.as_ref());
            let gradient = |k: usize, c: usize, sum: f64| sum / n + ridge(k, d) * weights[(k, c)];
            for c in 0..step.ncols() {
                (0..d).for_each(|k| step[(k, c)] = gradient(k, c, step[(k, c)]));
            }
            factor.solve_in_place(&mut step);
            weights -= &step;
            if step.norm_max() < SETTLED {
                break;
            }
        }
        Ok(Head { weights, loss })
    }

    /// Errors by output, and the loss of each sample.
    pub(super) fn errors(&self, x: &Mat<f64>, y: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
        self.loss.errors(linalg::mul(x.as_ref(), self.weights.as_ref()), y)
    }
}

/// The constant is penalised just enough for the system to be regular.
fn ridge(k: usize, d: usize) -> f64 {
    if k + 1 == d { 1e-12 } else { RIDGE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    fn data() -> (Mat<f64>, Mat<f64>) {
        let (x, classes) = synth::clusters::<f64>(60, 3, 3, 4);
        let x = Mat::from_fn(60, 4, |i, k| if k < 3 { x[(i, k)] } else { 1.0 });
        (x, Mat::from_fn(60, 3, |i, c| if classes[i] as usize == c { 1.0 } else { 0.0 }))
    }

    #[test]
    fn errors_are_the_gradient_of_the_loss() {
        let (_, y) = data();
        let f = synth::gaussian::<f64>(60, 3, 7);
        for loss in [Loss::CrossEntropy, Loss::Squared] {
            let (errors, _) = loss.errors(f.clone(), y.as_ref());
            let moved = |by: f64| {
                let mut f = f.clone();
                f[(5, 1)] += by;
                loss.errors(f, y.as_ref()).1.iter().sum::<f64>()
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((errors[(5, 1)] - slope).abs() < 1e-7, "{loss:?}");
        }
    }

    #[test]
    fn the_gradient_vanishes_at_the_fit() {
        let (x, y) = data();
        for loss in [Loss::CrossEntropy, Loss::Squared] {
            let head = Head::fit(&x, &y, loss).unwrap();
            let by_weights = x.transpose() * head.errors(&x, y.as_ref()).0;
            let gradient = Mat::from_fn(4, 3, |k, c| by_weights[(k, c)] / 60.0 + ridge(k, 4) * head.weights[(k, c)]);
            // The bound is loose where classes are far apart, so cross-entropy settles slowly.
            let allowed = if loss == Loss::Squared { 1e-10 } else { 1e-2 };
            assert!(gradient.norm_max() < allowed, "{loss:?} {}", gradient.norm_max());
        }
    }

    #[test]
    fn the_standard_error_is_that_of_the_mean() {
        let (value, error) = mean(&[1.0, 2.0, 3.0, 6.0]);
        assert!((value - 3.0).abs() < 1e-15 && (error - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!((mean(&[2.0]), mean(&[])), ((2.0, 0.0), (0.0, 0.0)));
    }

    #[test]
    fn large_outputs_do_not_overflow() {
        let (errors, loss) = Loss::CrossEntropy.errors(faer::mat![[1e4, 0.0]], faer::mat![[0.0, 1.0]].as_ref());
        assert!((loss[0] - 1e4).abs() < 1e-9 && (errors - faer::mat![[1.0, -1.0]]).norm_max() < 1e-12);
    }
}

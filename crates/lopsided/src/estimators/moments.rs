//! Sums over samples that linear machines of every fold, rank, scaling and penalty share.
//!
//! With n samples, the centred Gram matrix is X̃ᵀX̃ = XᵀX − s·sᵀ/n for the column sums s of X, and X̃ᵀỸ = XᵀY −
//! s·tᵀ/n for those of Y: centring, too, follows from sums. A cross-validation of F folds and P points takes
//! the sums once, O(n·d²), and then solves F·P systems of d unknowns.

use crate::base::error::Result;
use crate::base::linalg;
use crate::estimators::linear::{self, LinearLsSvmModel};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};

/// Everything a linear LS-SVM needs to know of its samples: XᵀX, XᵀY and the sums of both.
///
/// Moments of disjoint samples add up. So those of the folds give every training part of a cross-validation by
/// subtraction, the leading components of each side are a part of the matrices, and every penalty shares them.
pub struct Moments {
    count: f64,
    /// Lower triangle of XᵀX.
    gram: Mat<f64>,
    /// XᵀY; for classes y = ±1.
    cross: Mat<f64>,
    /// Sums of the columns of X.
    sum_x: Vec<f64>,
    /// Sums of the columns of Y.
    sum_y: Vec<f64>,
}

impl Moments {
    /// The moments of samples x with the targets y, one per row.
    pub fn of(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Self {
        let mut gram = Mat::zeros(x.ncols(), x.ncols());
        let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(gram.as_mut(), lower, Accum::Add, x.transpose(), full, x, full, 1.0, Par::Seq);
        let sums = |m: MatRef<'_, f64>| m.col_iter().map(|c| c.iter().sum()).collect();
        let cross = linalg::transpose_mul(x, y);
        Moments { count: x.nrows() as f64, gram, cross, sum_x: sums(x), sum_y: sums(y) }
    }

    /// Moments of all parts together; `None` without parts.
    pub fn total(parts: &[Moments]) -> Option<Self> {
        let (first, rest) = parts.split_first()?;
        let mut out = Moments {
            gram: first.gram.clone(),
            cross: first.cross.clone(),
            sum_x: first.sum_x.clone(),
            sum_y: first.sum_y.clone(),
            ..*first
        };
        for part in rest {
            out.count += part.count;
            out.gram += &part.gram;
            out.cross += &part.cross;
            out.sum_x.iter_mut().zip(&part.sum_x).for_each(|(a, b)| *a += b);
            out.sum_y.iter_mut().zip(&part.sum_y).for_each(|(a, b)| *a += b);
        }
        Some(out)
    }

    /// The machine of [`crate::estimators::linear::LinearLsSvm`] for the features `cols`, learned without one part.
    ///
    /// `ridge` is 1/penalty for each of them. Weights for features times d are d times weights for the features with
    /// a ridge of 1/(penalty·d²), so that moments also serve every scaling.
    ///
    /// (X̃ᵀX̃ + diag(ridge))·W = X̃ᵀỸ and b = ȳ − Wᵀx̄, with all sums less those of the part.
    ///
    /// # Errors
    /// [`crate::Error::Singular`] if the penalty is so large that the system cannot be factored.
    pub fn solve(
        &self,
        without: Option<&Moments>,
        cols: &[usize],
        ridge: impl Fn(usize) -> f64,
    ) -> Result<LinearLsSvmModel> {
        let less = |all: f64, part: Option<f64>| all - part.unwrap_or(0.0);
        let count = less(self.count, without.map(|w| w.count));
        let sum_x: Vec<f64> = cols.iter().map(|&j| less(self.sum_x[j], without.map(|w| w.sum_x[j]))).collect();
        let sum_y: Vec<f64> = (0..self.sum_y.len()).map(|c| less(self.sum_y[c], without.map(|w| w.sum_y[c]))).collect();
        let gram = Mat::from_fn(cols.len(), cols.len(), |i, j| {
            if i < j {
                return 0.0;
            }
            let at = (cols[i], cols[j]);
            let ridge = if i == j { ridge(cols[i]) } else { 0.0 };
            less(self.gram[at], without.map(|w| w.gram[at])) - sum_x[i] * sum_x[j] / count + ridge
        });
        let cross = Mat::from_fn(cols.len(), sum_y.len(), |i, c| {
            less(self.cross[(cols[i], c)], without.map(|w| w.cross[(cols[i], c)])) - sum_x[i] * sum_y[c] / count
        });
        let weights = linalg::solve_lower(gram, cross).ok_or_else(linear::singular)?;
        let shift = |c: usize| (0..cols.len()).map(|j| weights[(j, c)] * sum_x[j]).sum::<f64>();
        let bias = (0..sum_y.len()).map(|c| (sum_y[c] - shift(c)) / count).collect();
        Ok(LinearLsSvmModel { weights, bias })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::estimators::linear::LinearLsSvm;

    #[test]
    fn parts_give_the_machine_of_all_other_samples() {
        let (x, codes) = synth::clusters::<f64>(60, 5, 3, 2);
        let y = Mat::from_fn(60, 3, |i, c| if codes[i] as usize == c { 1.0 } else { -1.0 });
        let part = |rows: std::ops::Range<usize>| {
            Moments::of(x.subrows(rows.start, rows.len()), y.subrows(rows.start, rows.len()))
        };
        let parts = [part(0..20), part(20..45), part(45..60)];
        let total = Moments::total(&parts).unwrap();
        let cols = [0, 1, 3];
        let kept = Mat::from_fn(40, 3, |i, j| x[(i + 20, cols[j])]);
        let expected = LinearLsSvm { penalty: 2.5 }.fit(kept.as_ref(), &codes[20..], 3).unwrap();
        let model = total.solve(Some(&parts[0]), &cols, |_| 1.0 / 2.5).unwrap();
        assert!((model.weights - expected.weights).norm_max() < 1e-12);
        assert!(model.bias.iter().zip(&expected.bias).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn a_ridge_per_feature_is_a_scaling_of_the_features() {
        let (x, codes) = synth::clusters::<f64>(40, 4, 3, 7);
        let y = Mat::from_fn(40, 3, |i, c| if codes[i] as usize == c { 1.0 } else { -1.0 });
        let scale = [2.0, 0.5, 1e-3, 7.0];
        let scaled = Mat::from_fn(40, 4, |i, j| x[(i, j)] * scale[j]);
        let expected = LinearLsSvm { penalty: 3.0 }.fit(scaled.as_ref(), &codes, 3).unwrap();
        let ridge = |j: usize| 1.0 / (3.0 * scale[j] * scale[j]);
        let model = Moments::of(x.as_ref(), y.as_ref()).solve(None, &[0, 1, 2, 3], ridge).unwrap();
        let difference = model.decision(x.as_ref()) - expected.decision(scaled.as_ref());
        assert!(difference.norm_max() < 1e-11);
    }
}

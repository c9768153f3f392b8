//! The small linear systems of ridge regression.

use crate::error::{Error, Result};
use crate::linalg;
use faer::{Mat, MatRef};

/// The targets without their weighted means.
pub(super) struct Centred {
    pub(super) y: Mat<f64>,
    pub(super) means: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
}

impl Centred {
    pub(super) fn of(y: MatRef<'_, f64>, weights: Option<&[f64]>) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..y.nrows()).map(weight).sum();
        let mean = |c: usize| (0..y.nrows()).map(|i| weight(i) * y[(i, c)]).sum::<f64>() / total;
        let means: Vec<f64> = (0..y.ncols()).map(mean).collect();
        let y = Mat::from_fn(y.nrows(), y.ncols(), |i, c| y[(i, c)] - means[c]);
        Centred { y, means, weights: weights.map(<[f64]>::to_vec) }
    }
}

/// (A + I/penalty)⁻¹·b.
pub(super) fn solve(mut gram: Mat<f64>, penalty: f64, rhs: Mat<f64>) -> Result<Mat<f64>> {
    (0..gram.nrows()).for_each(|i| gram[(i, i)] += 1.0 / penalty);
    linalg::solve_lower(gram, rhs).ok_or_else(|| singular(penalty))
}

/// (FᵀF + I/penalty)⁻¹·Fᵀy.
pub(super) fn solve_features(f: &Mat<f64>, penalty: f64, y: &Mat<f64>) -> Result<Mat<f64>> {
    let gram = linalg::transpose_mul(f.as_ref(), f.as_ref());
    solve(gram, penalty, linalg::transpose_mul(f.as_ref(), y.as_ref()))
}

/// α = √W·(√W·K·√W + I/penalty)⁻¹·√W·y.
pub(super) fn solve_exact(mut k: Mat<f64>, penalty: f64, y: Mat<f64>, weights: Option<&[f64]>) -> Result<Mat<f64>> {
    if let Some(weights) = weights {
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        (0..k.ncols()).for_each(|j| (0..k.nrows()).for_each(|i| k[(i, j)] *= roots[i] * roots[j]));
    }
    let found = solve(k, penalty, scaled_rows(&y, weights))?;
    Ok(scaled_rows(&found, weights))
}

/// Rows times the roots of their weights.
pub(super) fn scaled_rows(m: &Mat<f64>, weights: Option<&[f64]>) -> Mat<f64> {
    let Some(weights) = weights else { return m.clone() };
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| weights[i].sqrt() * m[(i, j)])
}

/// A⁺·b for a positive semidefinite A; eigenvalues up to ε·m·λ_max count as zero.
pub(super) fn pseudo_solve(a: MatRef<'_, f64>, rhs: &Mat<f64>, eps: f64) -> Result<Mat<f64>> {
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let (values, vectors) = linalg::eigen(a).ok_or_else(not_finite)?;
    let cut = values.first().copied().unwrap_or(0.0) * eps * values.len() as f64;
    let kept = values.iter().take_while(|v| **v > cut).count();
    let vectors = vectors.as_ref().subcols(0, kept);
    let inner = linalg::transpose_mul(vectors, rhs.as_ref());
    let inner = Mat::from_fn(kept, rhs.ncols(), |i, c| inner[(i, c)] / values[i]);
    Ok(linalg::mul(vectors, inner.as_ref()))
}

fn singular(penalty: f64) -> Error {
    Error::Singular { what: format!("the system of ridge regression with penalty {penalty}; take a smaller one: it") }
}

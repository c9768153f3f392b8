//! The small linear systems of ridge regression.

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg::{self, SymmetricFactor};
use crate::base::verdict::Verdict;
use crate::operator::{Access, Operator};
use crate::solvers::linsys;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Unknowns from which factors of half the digits pay.
const SINGLE: usize = 500;
/// Condition number up to which they are tried.
const CONDITION: f64 = 1e5;
/// Most steps of refinement.
const REFINEMENTS: usize = 8;
/// What a factor may leave of its equations, relative to the sizes of both sides. Matrices that are sums over samples in a basis
/// of nearly dependent landmarks are symmetric to fewer digits than numbers have, and a factor sees one half of them.
const BACKWARD: f64 = 1e-8;

/// The targets without their weighted means.
pub(in crate::estimators) struct Centred {
    pub(in crate::estimators) y: Mat<f64>,
    pub(in crate::estimators) means: Vec<f64>,
    pub(in crate::estimators) weights: Option<Vec<f64>>,
}

impl Centred {
    pub(in crate::estimators) fn of(y: MatRef<'_, f64>, weights: Option<&[f64]>) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..y.nrows()).map(weight).sum();
        let mean = |c: usize| (0..y.nrows()).map(|i| weight(i) * y[(i, c)]).sum::<f64>() / total;
        let means: Vec<f64> = (0..y.ncols()).map(mean).collect();
        let y = Mat::from_fn(y.nrows(), y.ncols(), |i, c| y[(i, c)] - means[c]);
        Centred { y, means, weights: weights.map(<[f64]>::to_vec) }
    }
}

/// (A + I/penalty)⁻¹·b for a symmetric A.
pub(in crate::estimators) fn solve(gram: Mat<f64>, penalty: f64, rhs: Mat<f64>) -> Result<(Mat<f64>, Verdict)> {
    let found = if let Some(found) = solve_single(&gram, penalty, &rhs) {
        found
    } else {
        let mut system = gram.clone();
        (0..system.nrows()).for_each(|i| system[(i, i)] += 1.0 / penalty);
        linalg::solve_lower(system, rhs.clone()).ok_or_else(singular)?
    };
    let left = &rhs - &found * faer::Scale(1.0 / penalty) - linalg::mul(gram.as_ref(), found.as_ref());
    let sizes = (one_norm(&gram) + 1.0 / penalty) * found.norm_max() + rhs.norm_max();
    Ok((found, Verdict::measured(left.norm_max() / sizes.max(f64::MIN_POSITIVE), BACKWARD)))
}

/// The largest sum of a column's absolute values.
fn one_norm(a: &Mat<f64>) -> f64 {
    a.par_col_chunks(1).map(|c| c.col(0).iter().map(|v| v.abs()).sum::<f64>()).reduce(|| 0.0, f64::max)
}

/// The same by a factor of half the digits, which costs half as much, and refinement; `None` where that does not end with the
/// backward error of a complete one.
fn solve_single(a: &Mat<f64>, penalty: f64, rhs: &Mat<f64>) -> Option<Mat<f64>> {
    let size = one_norm(a);
    if a.nrows() < SINGLE || size * penalty > CONDITION {
        return None;
    }
    let mut narrow = linalg::narrowed(a.as_ref());
    (0..a.nrows()).for_each(|i| narrow[(i, i)] += (1.0 / penalty) as f32);
    let factor = SymmetricFactor::definite(narrow)?;
    let (mut w, mut left) = (Mat::zeros(rhs.nrows(), rhs.ncols()), rhs.clone());
    for _ in 0..REFINEMENTS {
        factor.solve_wide(&mut left);
        w += &left;
        left = rhs - &w * faer::Scale(1.0 / penalty);
        linalg::add_mul_stored(left.as_mut(), a.as_ref(), w.as_ref(), -1.0);
        let enough = 4.0 * f64::EPSILON * ((size + 1.0 / penalty) * w.norm_max() + rhs.norm_max());
        if left.norm_max() <= enough {
            return Some(w);
        }
    }
    None
}

/// (FᵀF + I/penalty)⁻¹·Fᵀy.
pub(in crate::estimators) fn solve_features(f: &Mat<f64>, penalty: f64, y: &Mat<f64>) -> Result<(Mat<f64>, Verdict)> {
    let gram = linalg::transpose_mul(f.as_ref(), f.as_ref());
    solve(gram, penalty, linalg::transpose_mul(f.as_ref(), y.as_ref()))
}

/// α = √W·(√W·K·√W + I/penalty)⁻¹·√W·y.
pub(in crate::estimators) fn solve_exact(
    mut k: Mat<f64>,
    penalty: f64,
    y: Mat<f64>,
    weights: Option<&[f64]>,
) -> Result<(Mat<f64>, Verdict)> {
    if let Some(weights) = weights {
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        (0..k.ncols()).for_each(|j| (0..k.nrows()).for_each(|i| k[(i, j)] *= roots[i] * roots[j]));
    }
    let (found, verdict) = solve(k, penalty, scaled_rows(&y, weights))?;
    Ok((scaled_rows(&found, weights), verdict))
}

/// The same by products with K, which is never held whole; and the number of iterations.
///
/// It is judged by what is left of the equations relative to √W·y.
pub(in crate::estimators) fn solve_by_products(
    k: &dyn Operator<f64>,
    penalty: f64,
    y: &Mat<f64>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<(Mat<f64>, Verdict, Option<usize>)> {
    let rhs = scaled_rows(y, weights);
    let solved = match weights {
        None => linsys::ridge(k, penalty, rhs, run),
        Some(weights) => {
            let roots = weights.iter().map(|w| w.sqrt()).collect();
            linsys::ridge(&Weighted { k, roots }, penalty, rhs, run)
        }
    };
    let (found, report) = solved.map_err(|error| match error {
        Error::Singular { .. } => singular(),
        other => other,
    })?;
    // The gate has judged, and knows what rounding leaves.
    let tol = if report.converged() { report.residual.max(BACKWARD) } else { 0.0 };
    let verdict = Verdict::measured(report.residual, tol);
    Ok((scaled_rows(&found, weights), verdict, Some(report.iterations as usize)))
}

/// √W·K·√W.
struct Weighted<'a> {
    k: &'a dyn Operator<f64>,
    roots: Vec<f64>,
}

impl Weighted<'_> {
    fn scale(&self, m: MatMut<'_, f64>) {
        m.col_iter_mut().for_each(|column| column.iter_mut().zip(&self.roots).for_each(|(v, r)| *v *= r));
    }
}

impl Operator<f64> for Weighted<'_> {
    fn nrows(&self) -> usize {
        self.k.nrows()
    }

    fn ncols(&self) -> usize {
        self.k.ncols()
    }

    fn access(&self) -> Access {
        self.k.access()
    }

    fn rounding(&self) -> f64 {
        self.k.rounding()
    }

    fn is_symmetric(&self) -> bool {
        self.k.is_symmetric()
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        self.k.block(rows, cols, out.as_mut())?;
        for (column, &j) in out.col_iter_mut().zip(cols) {
            column.iter_mut().zip(rows).for_each(|(v, &i)| *v *= self.roots[i] * self.roots[j]);
        }
        Ok(())
    }

    fn apply(&self, v: MatRef<'_, f64>, mut out: MatMut<'_, f64>) -> Result<()> {
        let mut scaled = v.to_owned();
        self.scale(scaled.as_mut());
        self.k.apply(scaled.as_ref(), out.as_mut())?;
        self.scale(out);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.apply(u, out)
    }
}

/// Rows times the roots of their weights.
pub(in crate::estimators) fn scaled_rows(m: &Mat<f64>, weights: Option<&[f64]>) -> Mat<f64> {
    let Some(weights) = weights else { return m.clone() };
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| weights[i].sqrt() * m[(i, j)])
}

/// A⁺·b for a positive semidefinite A; eigenvalues up to ε·m·λ_max count as zero.
///
/// It is judged by A·(b − A·x), which vanishes for least squares.
pub(in crate::estimators) fn pseudo_solve(a: MatRef<'_, f64>, rhs: &Mat<f64>, eps: f64) -> Result<(Mat<f64>, Verdict)> {
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let (values, vectors) = linalg::eigen(a).ok_or_else(not_finite)?;
    let cut = values.first().copied().unwrap_or(0.0) * eps * values.len() as f64;
    let kept = values.iter().take_while(|v| **v > cut).count();
    let vectors = vectors.as_ref().subcols(0, kept);
    let inner = linalg::transpose_mul(vectors, rhs.as_ref());
    let inner = Mat::from_fn(kept, rhs.ncols(), |i, c| inner[(i, c)] / values[i]);
    let found = linalg::mul(vectors, inner.as_ref());
    let left = linalg::mul(a, (rhs - linalg::mul(a, found.as_ref())).as_ref());
    let norm = values.first().copied().unwrap_or(0.0);
    let sizes = norm * (norm * found.norm_l2() + rhs.norm_l2());
    let tol = BACKWARD.max(2.0 * eps * values.len() as f64);
    Ok((found, Verdict::measured(left.norm_l2() / sizes.max(f64::MIN_POSITIVE), tol)))
}

fn singular() -> Error {
    Error::Singular { what: "the system of ridge regression (a smaller `penalty` helps)".into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    /// Products and factors solve the same equations, with weights and without, also where K is nearly singular.
    #[test]
    fn products_give_what_factors_give() {
        let n = 400;
        let mut x = synth::gaussian::<f64>(n, 4, 3);
        (0..40).for_each(|i| x.row_mut(i).copy_from(synth::gaussian::<f64>(1, 4, 5).row(0))); // duplicates
        let k = Mat::from_fn(n, n, |i, j| (-0.1 * (x.row(i) - x.row(j)).squared_norm_l2()).exp());
        let y = synth::gaussian::<f64>(n, 3, 4);
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 7) as f64).collect();
        for (penalty, weights) in [(1.0, None), (1.0, Some(&weights[..])), (1e6, None), (1e4, Some(&weights[..]))] {
            let operator = crate::operator::DenseOperator::Borrowed(k.as_ref());
            let (found, verdict, _) = solve_by_products(&operator, penalty, &y, weights, &Run::default()).unwrap();
            let (exact, _) = solve_exact(k.clone(), penalty, y.clone(), weights).unwrap();
            let near = 1e-15 * (1.0 + 400.0 * 7.0 * penalty) + 1e-8;
            assert!(verdict.converged(), "penalty {penalty}: {}", verdict.left());
            assert!((&found - &exact).norm_max() < near * exact.norm_max(), "penalty {penalty}");
        }
    }

    #[test]
    fn half_the_digits_and_refinement_give_all_digits() {
        let x = synth::gaussian::<f64>(600, 4, 1);
        let k = Mat::from_fn(600, 600, |i, j| (-0.3 * (x.row(i) - x.row(j)).squared_norm_l2()).exp());
        let y = synth::gaussian::<f64>(600, 2, 2);
        let system = |penalty: f64| &k + Mat::<f64>::identity(600, 600) * faer::Scale(1.0 / penalty);
        let found = solve_single(&k, 10.0, &y).unwrap();
        let exact = linalg::solve_lower(system(10.0), y.clone()).unwrap();
        assert!((&found - &exact).norm_max() < 1e-11 * exact.norm_max());
        assert!((&system(10.0) * &found - &y).norm_max() < 1e-12 * y.norm_max());
        assert!(solve_single(&k, 1e6, &y).is_none(), "beyond what f32 can factor");
        assert!((&system(1e6) * solve(k.clone(), 1e6, y.clone()).unwrap().0 - &y).norm_max() < 1e-8);
    }
}

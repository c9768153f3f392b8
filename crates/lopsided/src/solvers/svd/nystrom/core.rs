//! One sample of landmarks: the SVD of the block where they meet, and what follows from it.
//!
//! With B = G\[rows, cols\] = u·λ·vᵀ the vectors of G are known at the landmarks. A row x of G that is no landmark is
//! placed by its entries at the column landmarks, u(x) ∝ Σ_j G\[x, cols_j\]·v_j/λ, \[KSVD\] Eq. (8), and a column
//! likewise. Everything else here decides how these vectors are scaled (`extended`), refined (`polished`) and judged
//! (`error_on`).

use super::named;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg::{self, ThinSvd};
use crate::base::scalar::Scalar;
use crate::operator::{DenseOperator, Operator, Submatrix};
use crate::solvers::svd::estimate::Patch;
use crate::solvers::svd::exact::not_finite;
use crate::solvers::svd::krylov::orthogonalize;
use crate::solvers::svd::{Extension, Lanczos, Svd, SvdSolver};
use faer::{Mat, MatRef};

/// Up to this many landmarks the block is decomposed completely.
const SMALL: usize = 512;

/// Landmarks and the leading triplets of the block where they meet.
pub(super) struct Core<T> {
    pub(super) rows: Vec<usize>,
    pub(super) cols: Vec<usize>,
    pub(super) small: ThinSvd<T>,
}

impl<T: Scalar> Core<T> {
    /// v/λ and u/λ: an extension is a product with these.
    fn weights(&self) -> (Mat<T>, Mat<T>) {
        let divided = |a: &Mat<T>| Mat::from_fn(a.nrows(), a.ncols(), |i, k| a[(i, k)] / self.small.sigma[k]);
        (divided(&self.small.v), divided(&self.small.u))
    }

    /// λ̃ = √(NM/(nm))·λ.
    ///
    /// A block of n of N rows and m of M columns holds about the share √(nm/(NM)) of every singular value.
    fn sigma(&self, g: &dyn Operator<T>) -> Vec<T> {
        let share = |all: usize, part: usize| all as f64 / part as f64;
        let factor = (share(g.nrows(), self.rows.len()) * share(g.ncols(), self.cols.len())).sqrt();
        self.small.sigma.iter().map(|&s| s * T::of(factor)).collect()
    }

    /// Step 2: both extensions, of unit length.
    pub(super) fn extended(&self, g: &dyn Operator<T>) -> Result<Svd<T>> {
        let (mut row_weights, mut col_weights) = self.weights();
        let mut u = Mat::zeros(g.nrows(), row_weights.ncols());
        Submatrix::new(g, None, Some(&self.cols)).apply(row_weights.as_ref(), u.as_mut())?;
        to_unit_columns(&mut u, Some(&mut row_weights));
        let mut v = Mat::zeros(g.ncols(), col_weights.ncols());
        Submatrix::new(g, Some(&self.rows), None).apply_transpose(col_weights.as_ref(), v.as_mut())?;
        to_unit_columns(&mut v, Some(&mut col_weights));
        let extension = Extension { rows: self.rows.clone(), cols: self.cols.clone(), row_weights, col_weights };
        Ok(Svd { u, sigma: self.sigma(g), v, extension: Some(extension), report: named("nystrom") })
    }

    /// Step 3 from the right extension: its basis Q, G·Q = P·R, and the SVD of Pᵀ·G = W·Σ·Vᵀ; U = P·W.
    ///
    /// V·Σ = Gᵀ·U holds, so that columns are placed by U and Σ. G·V = U·Σ holds only as far as the triplets have converged; rows are
    /// placed by U = G·(Q·R⁺·W), which holds for any.
    ///
    /// # Cost
    /// One product of G and one of Gᵀ with as many vectors as the sample shows.
    pub(super) fn polished(&self, g: &dyn Operator<T>) -> Result<Svd<T>> {
        let mut v = Mat::zeros(g.ncols(), self.small.sigma.len());
        Submatrix::new(g, Some(&self.rows), None).apply_transpose(self.weights().1.as_ref(), v.as_mut())?;
        to_unit_columns(&mut v, None);
        let right = basis(v, 8.0 * T::eps())?.0;
        let mut report = named("nystrom");
        report.products = right.ncols() as u64;
        let mut image = Mat::zeros(g.nrows(), right.ncols());
        g.apply(right.as_ref(), image.as_mut())?;
        let scale = linalg::column_norms(image.as_ref()).into_iter().fold(0.0, f64::max);
        let zero = 4.0 * T::eps() * ((g.nrows() + g.ncols()) as f64).sqrt() * scale;
        let (left, factor) = basis(image, zero)?;
        let mut rest = Mat::zeros(g.ncols(), left.ncols());
        g.apply_transpose(left.as_ref(), rest.as_mut())?;
        report.products += left.ncols() as u64;
        let (last, small) = basis(rest, zero)?;
        let small = linalg::thin_svd(small.as_ref()).ok_or_else(not_finite)?;
        let u = linalg::mul(left.as_ref(), small.v.as_ref());
        let v = linalg::mul(last.as_ref(), small.u.as_ref());
        let row_weights = linalg::mul(right.as_ref(), solved(factor.as_ref(), small.v.as_ref())?.as_ref());
        let (rows, cols, col_weights) = (Vec::new(), (0..g.ncols()).collect(), Mat::zeros(0, small.sigma.len()));
        let extension = Some(Extension { rows, cols, row_weights, col_weights });
        Ok(Svd { u, sigma: small.sigma, v, extension, report })
    }

    /// Error of the extension on a patch, without extending it any further.
    pub(super) fn error_on(&self, patch: &Patch<T>, g: &dyn Operator<T>) -> Result<f64> {
        let (row_weights, col_weights) = self.weights();
        let mut u = Mat::zeros(patch.rows.len(), row_weights.ncols());
        Submatrix::new(g, Some(&patch.rows), Some(&self.cols)).apply(row_weights.as_ref(), u.as_mut())?;
        let mut v = Mat::zeros(patch.cols.len(), col_weights.ncols());
        Submatrix::new(g, Some(&self.rows), Some(&patch.cols)).apply_transpose(col_weights.as_ref(), v.as_mut())?;
        to_unit_columns(&mut u, None);
        to_unit_columns(&mut v, None);
        let (n, m) = patch.shares(g);
        let sigma: Vec<T> = self.sigma(g).into_iter().map(|s| s / T::of(n * m)).collect();
        Ok(patch.relative_error(u.as_ref(), &sigma, v.as_ref()))
    }
}

/// An orthonormal basis of the columns of y and the coefficients.
fn basis<T: Scalar>(y: Mat<T>, zero: f64) -> Result<(Mat<T>, Mat<T>)> {
    let nothing = Mat::zeros(y.nrows(), 0);
    let (q, _, r) = orthogonalize(nothing.as_ref(), y, zero)?;
    Ok((q, r))
}

/// r⁺·b for an r whose rows are independent.
fn solved<T: Scalar>(r: MatRef<'_, T>, b: MatRef<'_, T>) -> Result<Mat<T>> {
    let svd = linalg::thin_svd(r).ok_or_else(not_finite)?;
    let mut turned = linalg::transpose_mul(svd.u.as_ref(), b);
    for (i, &s) in svd.sigma.iter().enumerate() {
        let inverse = if s > T::zero() { T::one() / s } else { T::zero() };
        turned.as_mut().row_mut(i).iter_mut().for_each(|v| *v *= inverse);
    }
    Ok(linalg::mul(svd.v.as_ref(), turned.as_ref()))
}

/// Columns of length 1, and the same factors for what they were made from.
pub(crate) fn to_unit_columns<T: Scalar>(a: &mut Mat<T>, mut weights: Option<&mut Mat<T>>) {
    for (k, norm) in linalg::column_norms(a.as_ref()).into_iter().enumerate() {
        let factor = T::of(1.0 / norm.max(f64::MIN_POSITIVE));
        let scale = |m: &mut Mat<T>| m.as_mut().col_mut(k).iter_mut().for_each(|v| *v *= factor);
        scale(a);
        weights.as_deref_mut().into_iter().for_each(scale);
    }
}

/// At most `keep` triplets of a block, far within the tolerance and without those that are zero to working precision.
///
/// Up to 512 landmarks, or where a quarter of the triplets is wanted, completely; beyond by [`Lanczos`], a hundred
/// times more accurately than the extension needs.
pub(crate) fn decompose<T: Scalar>(block: Mat<T>, keep: usize, tol: f64, run: &Run) -> Result<ThinSvd<T>> {
    let (n, m) = block.shape();
    let small = if n.min(m) <= SMALL || 4 * keep >= n.min(m) {
        linalg::thin_svd(block.as_ref()).ok_or_else(not_finite)?
    } else {
        let lanczos = Lanczos { tol: (0.01 * tol).max(32.0 * T::eps()), block: 0, restarts: 100 };
        let svd = lanczos.solve(&DenseOperator::Owned(block), keep, run)?;
        ThinSvd { u: svd.u, sigma: svd.sigma, v: svd.v }
    };
    if small.sigma.iter().any(|s| !num_traits::Float::is_finite(*s)) {
        return Err(not_finite());
    }
    let zero = small.sigma.first().map_or(0.0, |s| s.as_f64()) * T::eps() * n.max(m) as f64;
    let kept = small.sigma.iter().take(keep).take_while(|s| s.as_f64() > zero).count();
    let first = |a: MatRef<'_, T>| a.subcols(0, kept).to_owned();
    Ok(ThinSvd { u: first(small.u.as_ref()), v: first(small.v.as_ref()), sigma: small.sigma[..kept].to_vec() })
}

impl<T: Scalar> Svd<T> {
    /// Drops triplets beyond `rank` and zeros, without a remark about the rank of G.
    pub(in crate::solvers::svd) fn keep_nonzero(&mut self, rank: usize) {
        let zero =
            self.sigma.first().map_or(0.0, |s| s.as_f64()) * T::eps() * self.u.nrows().max(self.v.nrows()) as f64;
        let kept = self.sigma.iter().take(rank).take_while(|s| s.as_f64() > zero).count();
        self.truncate(kept);
    }
}

//! How large K_c is, for ranges of penalties that make sense.

use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::operator::{Centered, Means, Operator};
use faer::Mat;

/// Most steps; kernel matrices take about six.
const STEPS: usize = 60;
/// The change in one step that ends the iteration.
const SETTLED: f64 = 1e-6;

/// The largest singular value of K_c, from below, by Lanczos bidiagonalisation with full orthogonalisation: 1/σ₁ is the penalty
/// up to which the coupled system is definite.
///
/// 1. A random vector; v and u by turns from K_cᵀ·u and K_c·v, each orthogonalised against all before it.
/// 2. σ₁ of the small bidiagonal matrix after each step; a change below 1e-6 ends it, as do 60 steps.
///
/// # Errors
/// Those of the products, [`crate::Error::Interrupted`].
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linsys::largest_singular_value;
/// use lopsided::{Mat, Run};
///
/// let k = DenseOperator::Owned(Mat::<f64>::identity(5, 5)); // centred, a projection
/// assert!((largest_singular_value(&k, &Run::default())? - 1.0).abs() < 1e-5);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn largest_singular_value(k: &dyn Operator<f64>, run: &Run) -> Result<f64> {
    let centered = Centered::new(k, Means::of(k)?);
    let mut v = random::gaussian::<f64>(k.ncols(), 1, &mut random::generator(run.seed, Purpose::NormStart));
    let (mut left, mut right) = (Mat::zeros(k.nrows(), 0), Mat::zeros(k.ncols(), 0));
    // B is upper bidiagonal: K_c·V = U·B.
    let mut small = Mat::<f64>::zeros(STEPS, STEPS);
    let mut largest = 0.0;
    for step in 0..STEPS.min(k.nrows()) {
        run.watch.check()?;
        let length = orthogonal(&mut v, &right);
        if step > 0 {
            small[(step - 1, step)] = length;
        }
        if !extend(&mut right, &v, length) {
            break;
        }
        let mut u = Mat::zeros(k.nrows(), 1);
        centered.apply(right.subcols(step, 1), u.as_mut())?;
        let length = orthogonal(&mut u, &left);
        small[(step, step)] = length;
        let found = linalg::thin_svd(small.submatrix(0, 0, step + 1, step + 1)).map_or(0.0, |svd| svd.sigma[0]);
        let settled = found - largest <= SETTLED * found;
        largest = found.max(largest);
        if settled || !extend(&mut left, &u, length) {
            break;
        }
        v = Mat::zeros(k.ncols(), 1);
        centered.apply_transpose(left.subcols(step, 1), v.as_mut())?;
    }
    Ok(largest)
}

/// Takes away what the basis has of w, twice as once leaves rounding errors; the length of the rest.
fn orthogonal(w: &mut Mat<f64>, basis: &Mat<f64>) -> f64 {
    for _ in 0..2 {
        let inside = linalg::transpose_mul(basis.as_ref(), w.as_ref());
        linalg::add_mul(w.as_mut(), basis.as_ref(), inside.as_ref(), -1.0);
    }
    w.norm_l2()
}

/// Adds w/‖w‖ to the basis, unless w is nothing.
fn extend(basis: &mut Mat<f64>, w: &Mat<f64>, length: f64) -> bool {
    let (rows, before) = basis.shape();
    if length > 0.0 && length.is_finite() {
        basis.resize_with(rows, before + 1, |i, _| w[(i, 0)] / length);
        return true;
    }
    false
}

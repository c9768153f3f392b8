//! The bridge to faer's own matrix-free solvers.

use super::Operator;
use crate::base::scalar::Scalar;
use faer::dyn_stack::{MemStack, StackReq};
use faer::matrix_free::{BiLinOp, LinOp};
use faer::{MatMut, MatRef, Par};

/// An [`Operator`] for faer's matrix-free solvers, to check and measure against.
///
/// Those solvers know no errors, so a product that fails panics.
///
/// # Panics
/// In every product that ends with an error, as a cancelled one does.
///
/// ```
/// use faer::matrix_free::LinOp;
/// use lopsided::Mat;
/// use lopsided::operator::{BiLinear, DenseOperator};
///
/// let g = DenseOperator::Owned(Mat::<f64>::identity(3, 3));
/// assert_eq!(BiLinear::<f64>(&g).nrows(), 3);
/// ```
pub struct BiLinear<'a, T>(pub &'a dyn Operator<T>);

impl<T> std::fmt::Debug for BiLinear<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BiLinear")
    }
}

impl<T: Scalar> LinOp<T> for BiLinear<'_, T> {
    fn apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn apply(&self, out: MatMut<'_, T>, rhs: MatRef<'_, T>, _: Par, _: &mut MemStack) {
        self.0.apply(rhs, out).expect("product with G");
    }

    fn conj_apply(&self, out: MatMut<'_, T>, rhs: MatRef<'_, T>, par: Par, stack: &mut MemStack) {
        self.apply(out, rhs, par, stack);
    }
}

impl<T: Scalar> BiLinOp<T> for BiLinear<'_, T> {
    fn transpose_apply_scratch(&self, _: usize, _: Par) -> StackReq {
        StackReq::EMPTY
    }

    fn transpose_apply(&self, out: MatMut<'_, T>, rhs: MatRef<'_, T>, _: Par, _: &mut MemStack) {
        self.0.apply_transpose(rhs, out).expect("product with the transpose of G");
    }

    fn adjoint_apply(&self, out: MatMut<'_, T>, rhs: MatRef<'_, T>, par: Par, stack: &mut MemStack) {
        self.transpose_apply(out, rhs, par, stack);
    }
}

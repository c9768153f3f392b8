//! Single precision for solvers in double precision.

use super::{Access, Operator};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// An operator of any precision for solvers that work in f64.
///
/// Vectors are rounded on their way in, results widened on their way out; an operator of f64 is passed through
/// untouched.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{DenseOperator, Operator, Widened};
///
/// let narrow = DenseOperator::Owned(Mat::<f32>::identity(2, 2));
/// let wide = Widened::<f32>(&narrow);
/// let mut out = Mat::<f64>::zeros(2, 1);
/// wide.apply(Mat::from_fn(2, 1, |i, _| i as f64 + 0.5).as_ref(), out.as_mut())?;
/// assert_eq!((out[(0, 0)], out[(1, 0)]), (0.5, 1.5));
/// assert!(wide.rounding() > 1e-8); // a residual below it cannot be measured
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Widened<'a, T>(pub &'a dyn Operator<T>);

impl<T: Scalar> Widened<'_, T> {
    /// out ← product(v), through copies of the other precision where it is another.
    fn through(
        v: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        product: impl FnOnce(MatRef<'_, T>, MatMut<'_, T>) -> Result<()>,
    ) -> Result<()> {
        if let (Some(v), Some(out)) = (T::same(v), T::same_mut(out.rb_mut())) {
            return product(v, out);
        }
        let narrow = Mat::from_fn(v.nrows(), v.ncols(), |i, j| T::of(v[(i, j)]));
        let mut result = Mat::zeros(out.nrows(), out.ncols());
        product(narrow.as_ref(), result.as_mut())?;
        for j in 0..out.ncols() {
            out.as_mut().col_mut(j).iter_mut().zip(result.col(j).iter()).for_each(|(o, r)| *o = r.as_f64());
        }
        Ok(())
    }
}

impl<T: Scalar> Operator<f64> for Widened<'_, T> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn rounding(&self) -> f64 {
        self.0.rounding()
    }

    fn is_symmetric(&self) -> bool {
        self.0.is_symmetric()
    }

    fn apply_both(&self, v: MatRef<'_, f64>, u: MatRef<'_, f64>) -> Result<(Mat<f64>, Mat<f64>)> {
        let narrow = |m: MatRef<'_, f64>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| T::of(m[(i, j)]));
        let wide = |m: Mat<T>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].as_f64());
        let (forth, back) = match (T::same(v), T::same(u)) {
            (Some(v), Some(u)) => self.0.apply_both(v, u)?,
            _ => self.0.apply_both(narrow(v).as_ref(), narrow(u).as_ref())?,
        };
        Ok((wide(forth), wide(back)))
    }

    fn access(&self) -> Access {
        self.0.access()
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f64>) -> Result<()> {
        Self::through(MatRef::from_column_major_slice(&[], 0, 0), out, |_, out| self.0.block(rows, cols, out))
    }

    fn single_suffices(&self) -> bool {
        self.0.single_suffices()
    }

    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        self.0.block_single(rows, cols, out)
    }

    fn apply(&self, v: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        Self::through(v, out, |v, out| self.0.apply(v, out))
    }

    fn apply_transpose(&self, u: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        Self::through(u, out, |u, out| self.0.apply_transpose(u, out))
    }
}

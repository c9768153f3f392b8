//! Rows times numbers: normalised kernels.

use super::{Operator, row_sums};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::operator::delegated;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// diag(scale)·G: every row multiplied by a number.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{DenseOperator, Operator, Scaled};
///
/// let g = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| [[1.0, 3.0], [2.0, 2.0]][i][j]));
/// let shares = Scaled::<f64>::to_unit_row_sums(Box::new(g))?;
/// assert_eq!(shares.scale(), [0.25, 0.25]);
/// let mut row = Mat::zeros(1, 2);
/// shares.block(&[0], &[0, 1], row.as_mut())?;
/// assert_eq!((row[(0, 0)], row[(0, 1)]), (0.25, 0.75));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Scaled<'a, T> {
    inner: Box<dyn Operator<T> + Send + 'a>,
    scale: Vec<T>,
}

impl<'a, T: Scalar> Scaled<'a, T> {
    /// Multiplies row i by `scale[i]`.
    ///
    /// # Panics
    /// If there is not one factor for each row.
    pub fn new(inner: Box<dyn Operator<T> + Send + 'a>, scale: Vec<T>) -> Self {
        assert_eq!(scale.len(), inner.nrows(), "one scale per row");
        Scaled { inner, scale }
    }

    /// Divides every row by its sum, exactly: the sums come from one product with a vector of ones.
    ///
    /// # Errors
    /// [`Error::Param`] for a row whose sum is 0 or not finite.
    pub fn to_unit_row_sums(inner: Box<dyn Operator<T> + Send + 'a>) -> Result<Self> {
        let sums = row_sums(&*inner)?;
        if let Some(row) = sums.iter().position(|s| *s == T::zero() || !num_traits::Float::is_finite(*s)) {
            return Err(Error::param(
                "row sum",
                format!("{} in row {row}", sums[row]),
                "finite and not 0 to divide by it",
            ));
        }
        Ok(Scaled::new(inner, sums.into_iter().map(|s| T::one() / s).collect()))
    }

    /// The factors.
    pub fn scale(&self) -> &[T] {
        &self.scale
    }

    fn scale_rows(&self, out: MatMut<'_, T>) {
        for column in out.col_iter_mut() {
            column.iter_mut().zip(&self.scale).for_each(|(v, s)| *v *= *s);
        }
    }
}

impl<T: Scalar> Operator<T> for Scaled<'_, T> {
    delegated!(inner: size, access, rounding);

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        self.inner.block(rows, cols, out.rb_mut())?;
        for column in out.col_iter_mut() {
            column.iter_mut().zip(rows).for_each(|(v, &i)| *v *= self.scale[i]);
        }
        Ok(())
    }

    fn apply_both(&self, v: MatRef<'_, T>, u: MatRef<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        let mut scaled = u.to_owned();
        self.scale_rows(scaled.as_mut());
        let (mut forth, back) = self.inner.apply_both(v, scaled.as_ref())?;
        self.scale_rows(forth.as_mut());
        Ok((forth, back))
    }

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.inner.apply(v, out.rb_mut())?;
        self.scale_rows(out);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let mut scaled = Mat::zeros(u.nrows(), u.ncols());
        scaled.copy_from(u);
        self.scale_rows(scaled.as_mut());
        self.inner.apply_transpose(scaled.as_ref(), out)
    }
}

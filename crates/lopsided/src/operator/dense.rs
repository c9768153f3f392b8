//! G in memory.
//!
//! Products with a few vectors are limited by how fast G is read, so they have a routine of their own that reads it
//! once and does not rearrange it; wider ones are matrix products.

use super::{Access, Operator};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::products::TILE;
use crate::products::few;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Fewer vectors are multiplied one by one, since several at once are always eight.
const NARROW: usize = 3;

/// G in memory: given, or evaluated once.
///
/// # Cost
/// n·m numbers of memory where it is owned, none where it is borrowed; n·m·r operations for a product with r vectors.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{DenseOperator, Operator};
///
/// let g = DenseOperator::Owned(Mat::from_fn(2, 3, |i, j| (10 * i + j) as f64));
/// let mut block = Mat::zeros(1, 2);
/// g.block(&[1], &[2, 0], block.as_mut())?;
/// assert_eq!((block[(0, 0)], block[(0, 1)]), (12.0, 10.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub enum DenseOperator<'a, T> {
    /// Kept here.
    Owned(Mat<T>),
    /// Kept by somebody else, in any order of rows and columns.
    Borrowed(MatRef<'a, T>),
}

impl<T: Scalar> DenseOperator<'_, T> {
    fn g(&self) -> MatRef<'_, T> {
        match self {
            DenseOperator::Owned(g) => g.as_ref(),
            DenseOperator::Borrowed(g) => *g,
        }
    }
}

impl<T: Scalar> Operator<T> for DenseOperator<'_, T> {
    fn nrows(&self) -> usize {
        self.g().nrows()
    }

    fn ncols(&self) -> usize {
        self.g().ncols()
    }

    fn access(&self) -> Access {
        Access::Stored
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        let first = rows.first().copied().unwrap_or(0);
        let in_order = rows.iter().enumerate().all(|(i, row)| *row == first + i);
        for (j, &col) in cols.iter().enumerate() {
            let column = self.g().col(col);
            if in_order {
                out.rb_mut().col_mut(j).copy_from(column.subrows(first, rows.len()));
            } else {
                out.rb_mut().col_mut(j).iter_mut().zip(rows).for_each(|(out, &row)| *out = column[row]);
            }
        }
        Ok(())
    }

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        if (NARROW..=few::WIDTH).contains(&v.ncols()) && few::multiply(self.g(), v, out.rb_mut()) {
            return Ok(());
        }
        out.fill(T::zero());
        linalg::add_mul_stored(out, self.g(), v, T::one());
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        if (NARROW..=few::WIDTH).contains(&u.ncols()) && few::multiply(self.g().transpose(), u, out.rb_mut()) {
            return Ok(());
        }
        out.par_row_chunks_mut(TILE).enumerate().for_each(|(at, mut out)| {
            out.fill(T::zero());
            let columns = self.g().subcols(at * TILE, out.nrows());
            linalg::add_transpose_mul(out.rb_mut(), columns, u);
        });
        Ok(())
    }
}

//! Parts of G without copies: folds, landmarks, patches.

use super::{Access, Operator, apart, beside};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::is_everything;
use crate::products::TILE;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Columns that one thread copies.
const COLUMNS: usize = 16;

/// G\[rows, cols\] as an operator: products without storing the block.
///
/// Streams small tiles, so that neither all rows nor all columns are ever held; where products with G are cheaper than its
/// entries, a product with zeros in place of the left-out samples.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{DenseOperator, Operator, Submatrix};
///
/// let g = DenseOperator::Owned(Mat::from_fn(3, 3, |i, j| (3 * i + j) as f64));
/// let part = Submatrix::<f64>::new(&g, Some(&[2, 0]), None);
/// let mut sums = Mat::zeros(2, 1);
/// part.apply(Mat::from_fn(3, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert_eq!((sums[(0, 0)], sums[(1, 0)]), (21.0, 3.0)); // rows 6 7 8 and 0 1 2
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Submatrix<'a, T> {
    inner: &'a dyn Operator<T>,
    rows: Option<&'a [usize]>,
    cols: Option<&'a [usize]>,
}

impl<'a, T: Scalar> Submatrix<'a, T> {
    /// The block of some rows and columns, in the given order; `None` stands for all. Indices may repeat.
    pub fn new(inner: &'a dyn Operator<T>, rows: Option<&'a [usize]>, cols: Option<&'a [usize]>) -> Self {
        let rows = rows.filter(|rows| !is_everything(rows, inner.nrows()));
        let cols = cols.filter(|cols| !is_everything(cols, inner.ncols()));
        Submatrix { inner, rows, cols }
    }

    /// Whether products with all of G are quicker than with the entries of the block: always where G has no entries at hand,
    /// and where it is stored and a good part of it is wanted, as gathering entries takes longer than multiplying them.
    fn multiplies_whole(&self) -> bool {
        let much = 8 * self.nrows() * self.ncols() >= self.inner.nrows() * self.inner.ncols();
        match self.inner.access() {
            Access::Products => true,
            Access::Stored => much,
            Access::Entries | Access::Blocks => false,
        }
    }

    fn is_whole(&self) -> bool {
        self.rows.is_none() && self.cols.is_none()
    }

    /// out ← this block times v, or its transpose times v.
    fn product(&self, transposed: bool, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let multiply = |v: MatRef<'_, T>, out: MatMut<'_, T>| {
            if transposed { self.inner.apply_transpose(v, out) } else { self.inner.apply(v, out) }
        };
        if self.is_whole() {
            return multiply(v, out);
        }
        if !self.multiplies_whole() {
            return self.stream(transposed, v, out);
        }
        let mut sides = [(self.rows, self.inner.nrows()), (self.cols, self.inner.ncols())];
        if transposed {
            sides.swap(0, 1);
        }
        let [(kept, long), (from, wide)] = sides;
        let mut all = Mat::zeros(long, v.ncols());
        multiply(scatter(v, from, wide).as_ref(), all.as_mut())?;
        gather(&all, kept, out);
        Ok(())
    }

    /// out ← this block times v, or its transpose times v, tile by tile.
    fn stream(&self, transposed: bool, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        // Narrow pieces for short results: otherwise one thread would do everything.
        let piece = (out.nrows() / 16).clamp(16, TILE);
        out.par_row_chunks_mut(piece).enumerate().try_for_each(|(at, mut out)| {
            out.fill(T::zero());
            let here: Vec<usize> = (at * piece..at * piece + out.nrows()).collect();
            for start in (0..v.nrows()).step_by(TILE) {
                let there: Vec<usize> = (start..v.nrows().min(start + TILE)).collect();
                let (rows, cols) = if transposed { (&there, &here) } else { (&here, &there) };
                let mut tile = Mat::zeros(rows.len(), cols.len());
                self.block(rows, cols, tile.as_mut())?;
                let tile = if transposed { tile.transpose() } else { tile.as_ref() };
                linalg::gemm(out.rb_mut(), tile, v.subrows(start, there.len()), T::one());
            }
            Ok(())
        })
    }
}

/// All of v where it stood before the selection, zeros elsewhere.
fn scatter<T: Scalar>(v: MatRef<'_, T>, picked: Option<&[usize]>, size: usize) -> Mat<T> {
    let Some(picked) = picked else { return v.to_owned() };
    let mut out = Mat::zeros(size, v.ncols());
    out.par_col_chunks_mut(COLUMNS).zip(v.par_col_chunks(COLUMNS)).for_each(|(out, v)| {
        for (mut out, v) in out.col_iter_mut().zip(v.col_iter()) {
            picked.iter().zip(v.iter()).for_each(|(&i, &value)| out[i] += value);
        }
    });
    out
}

fn gather<T: Scalar>(all: &Mat<T>, picked: Option<&[usize]>, mut out: MatMut<'_, T>) {
    let Some(picked) = picked else { return out.copy_from(all) };
    out.par_col_chunks_mut(COLUMNS).zip(all.par_col_chunks(COLUMNS)).for_each(|(out, all)| {
        for (out, all) in out.col_iter_mut().zip(all.col_iter()) {
            out.iter_mut().zip(picked).for_each(|(value, &i)| *value = all[i]);
        }
    });
}

fn indices(picked: Option<&[usize]>, wanted: &[usize]) -> Vec<usize> {
    wanted.iter().map(|&i| picked.map_or(i, |p| p[i])).collect()
}

impl<T: Scalar> Operator<T> for Submatrix<'_, T> {
    fn nrows(&self) -> usize {
        self.rows.map_or(self.inner.nrows(), <[usize]>::len)
    }

    fn ncols(&self) -> usize {
        self.cols.map_or(self.inner.ncols(), <[usize]>::len)
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        self.inner.block(&indices(self.rows, rows), &indices(self.cols, cols), out)
    }

    fn single_suffices(&self) -> bool {
        self.inner.single_suffices()
    }

    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        self.inner.block_single(&indices(self.rows, rows), &indices(self.cols, cols), out)
    }

    fn rounding(&self) -> f64 {
        self.inner.rounding()
    }

    fn is_symmetric(&self) -> bool {
        self.rows == self.cols && self.inner.is_symmetric()
    }

    fn apply_both(&self, v: MatRef<'_, T>, u: MatRef<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        if self.is_whole() {
            return self.inner.apply_both(v, u);
        }
        let (mut forth, mut back) = (Mat::zeros(self.nrows(), v.ncols()), Mat::zeros(self.ncols(), u.ncols()));
        if self.multiplies_whole() {
            let (v, u) = (scatter(v, self.cols, self.inner.ncols()), scatter(u, self.rows, self.inner.nrows()));
            let (all, all_back) = self.inner.apply_both(v.as_ref(), u.as_ref())?;
            gather(&all, self.rows, forth.as_mut());
            gather(&all_back, self.cols, back.as_mut());
            return Ok((forth, back));
        }
        if self.is_symmetric() {
            let mut both = Mat::zeros(self.nrows(), v.ncols() + u.ncols());
            self.stream(false, beside(v, u).as_ref(), both.as_mut())?;
            return Ok(apart(&both, v.ncols()));
        }
        self.stream(false, v, forth.as_mut())?;
        self.stream(true, u, back.as_mut())?;
        Ok((forth, back))
    }

    fn access(&self) -> Access {
        self.inner.access()
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.product(false, v, out)
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.product(true, u, out)
    }
}

//! Products of a sparse matrix plus a rank-one term with blocks of vectors.

use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::CsrRef;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Rows of the result that are one piece of work.
const ROWS: usize = 1024;

/// out ← (C + α·βᵀ)·v; each row of the result is one thread's work. C is the sum of its strips, which are taken one by one.
///
/// Columns of v are taken up to 32 at a time and laid out by rows, so that an entry of C meets a few whole cache lines and
/// the sums stay in registers.
///
/// 1. βᵀ·v once, a number for each column of v.
/// 2. Up to 32 columns of v, laid out by rows of the next width that is compiled (1, 4, 8, 16, 24, 32).
/// 3. Every strip in turn: the first one starts each row of the result with α_i·(βᵀ·v), the others with what is there.
///
/// # Cost
/// (nnz(C) + n + m)·r multiplications for r vectors.
pub(crate) fn multiply<T: Scalar>(
    strips: &[CsrRef<'_, T>],
    v: MatRef<'_, T>,
    rank_one: Option<(&[T], &[T])>,
    mut out: MatMut<'_, T>,
) {
    let sums = rank_one.map(|(_, cols)| {
        let beta = Mat::from_fn(cols.len(), 1, |j, _| cols[j]);
        linalg::transpose_mul(beta.as_ref(), v)
    });
    let dense = rank_one.zip(sums.as_ref()).map(|((rows, _), sums)| (rows, sums.as_ref()));
    let mut start = 0;
    while start < v.ncols() {
        let width = (v.ncols() - start).min(32);
        let dense = dense.map(|(rows, sums)| (rows, sums.subcols(start, width)));
        let (v, out) = (v.subcols(start, width), out.rb_mut().subcols_mut(start, width));
        match width {
            1 => multiply_columns::<T, 1>(strips, v, dense, out),
            2..=4 => multiply_columns::<T, 4>(strips, v, dense, out),
            5..=8 => multiply_columns::<T, 8>(strips, v, dense, out),
            9..=16 => multiply_columns::<T, 16>(strips, v, dense, out),
            17..=24 => multiply_columns::<T, 24>(strips, v, dense, out),
            _ => multiply_columns::<T, 32>(strips, v, dense, out),
        }
        start += width;
    }
}

/// The same for at most `W` columns.
fn multiply_columns<T: Scalar, const W: usize>(
    strips: &[CsrRef<'_, T>],
    v: MatRef<'_, T>,
    dense: Option<(&[T], MatRef<'_, T>)>,
    mut out: MatMut<'_, T>,
) {
    let v = by_rows::<T, W>(v);
    let dense = dense.map(|(rows, sums)| (rows, by_rows::<T, W>(sums)[0]));
    for (strip, &c) in strips.iter().enumerate() {
        out.rb_mut().par_row_chunks_mut(ROWS).enumerate().for_each(|(at, out)| {
            Arch::new().dispatch(Piece { c, v: &v, dense, adds: strip > 0, first: at * ROWS, out });
        });
    }
}

/// Some rows of the result.
struct Piece<'a, T, const W: usize> {
    c: CsrRef<'a, T>,
    v: &'a [[T; W]],
    dense: Option<(&'a [T], [T; W])>,
    /// Whether the result is added to what is there, with the dense part.
    adds: bool,
    first: usize,
    out: MatMut<'a, T>,
}

impl<T: Scalar, const W: usize> WithSimd for Piece<'_, T, W> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it must become part of a function compiled for the vector unit")]
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for i in 0..self.out.nrows() {
            let mut sum = [T::zero(); W];
            if self.adds {
                sum.iter_mut().zip(self.out.as_ref().row(i).iter()).for_each(|(sum, before)| *sum = *before);
            } else if let Some((rows, sums)) = &self.dense {
                let factor = rows[self.first + i];
                (0..W).for_each(|k| sum[k] = factor * sums[k]);
            }
            let (cols, vals) = self.c.row(self.first + i);
            for (&j, &value) in cols.iter().zip(vals) {
                let other = &self.v[j as usize];
                (0..W).for_each(|k| sum[k] += value * other[k]);
            }
            self.out.rb_mut().row_mut(i).iter_mut().zip(sum).for_each(|(out, sum)| *out = sum);
        }
    }
}

/// The rows of a matrix of at most `W` columns, filled up with zeros.
pub(crate) fn by_rows<T: Scalar, const W: usize>(v: MatRef<'_, T>) -> Vec<[T; W]> {
    let mut out = vec![[T::zero(); W]; v.nrows()];
    out.par_chunks_mut(ROWS).enumerate().for_each(|(at, chunk)| {
        let rows = v.subrows(at * ROWS, chunk.len());
        for (k, column) in rows.col_iter().enumerate() {
            chunk.iter_mut().zip(column.iter()).for_each(|(row, &value)| row[k] = value);
        }
    });
    out
}

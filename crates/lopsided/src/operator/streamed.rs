//! Matrices on disk: every product is a pass over the file.

use super::{Access, Operator};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::row_stream::RowStream;
use crate::data::samples::CsrRef;
use crate::operator::delegated;
use faer::{MatMut, MatRef};
use rayon::prelude::*;

/// Rows handled by one task.
const ROWS: usize = 256;

/// A matrix out of core as an operator: one pass over its rows for a product with any number of vectors.
///
/// # Cost
/// nnz·r and a pass for each product; memory is that of the vectors. Sums run over the rows in order, each on one thread.
///
/// ```
/// use lopsided::data::row_stream::RowStream;
/// use lopsided::operator::{Operator, StreamedOperator};
/// use lopsided::{Csr, Mat, Watch};
///
/// let rows = RowStream::of_matrix(Csr::from_triplets(3, 2, &[(0, 0, 1.0), (2, 1, 2.0)]), 2);
/// let mut sums = Mat::zeros(3, 1);
/// StreamedOperator::new(&rows, &Watch::default()).apply(Mat::from_fn(2, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert_eq!((sums[(0, 0)], sums[(1, 0)], sums[(2, 0)], rows.passes()), (1.0, 0.0, 2.0, 1));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct StreamedOperator<'a, T> {
    rows: &'a RowStream<T>,
    watch: Watch,
}

impl<'a, T: Scalar> StreamedOperator<'a, T> {
    /// The matrix of these rows.
    pub fn new(rows: &'a RowStream<T>, watch: &Watch) -> Self {
        StreamedOperator { rows, watch: watch.clone() }
    }
}

impl<T: Scalar> Operator<T> for StreamedOperator<'_, T> {
    delegated!(rows: size);

    fn access(&self) -> Access {
        Access::Products
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        self.rows.for_each_chunk("entries of A", &self.watch, |start, chunk| {
            let here = start..start + chunk.nrows();
            for (at, &i) in rows.iter().enumerate().filter(|(_, i)| here.contains(i)) {
                let (found, values) = chunk.row(i - start);
                let value = |j: usize| found.binary_search(&(j as u32)).map_or(T::zero(), |k| values[k]);
                cols.iter().enumerate().for_each(|(k, &j)| out[(at, k)] = value(j));
            }
            Ok(())
        })
    }

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.rows.for_each_chunk("products with A", &self.watch, |start, chunk| {
            let part = out.as_mut().subrows_mut(start, chunk.nrows());
            part.par_row_chunks_mut(ROWS).enumerate().for_each(|(at, part)| dot_rows(chunk, at * ROWS, v, part));
            Ok(())
        })
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        out.fill(T::zero());
        self.rows.for_each_chunk("products with Aᵀ", &self.watch, |start, chunk| {
            out.as_mut().par_col_chunks_mut(1).enumerate().for_each(|(k, mut column)| {
                for i in 0..chunk.nrows() {
                    let factor = u[(start + i, k)];
                    let (cols, values) = chunk.row(i);
                    cols.iter().zip(values).for_each(|(&j, &value)| column[(j as usize, 0)] += value * factor);
                }
            });
            Ok(())
        })
    }
}

/// out ← the rows of `chunk` from `first` on, times v.
fn dot_rows<T: Scalar>(chunk: CsrRef<'_, T>, first: usize, v: MatRef<'_, T>, mut out: MatMut<'_, T>) {
    for i in 0..out.nrows() {
        let (cols, values) = chunk.row(first + i);
        for k in 0..v.ncols() {
            out[(i, k)] = cols.iter().zip(values).map(|(&j, &value)| value * v[(j as usize, k)]).sum();
        }
    }
}

//! Wide sparse matrices in strips that suit the cache.

use super::sparse_product::multiply;
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, CsrRef};
use faer::{MatMut, MatRef};
use rayon::prelude::*;

/// A sparse matrix cut into strips of columns: what the entries of one strip meet in a product stays in the cache.
///
/// A strip has the columns of the whole matrix and the entries of its own.
pub(crate) struct Strips<T> {
    strips: Vec<Csr<T>>,
    /// Columns of a strip.
    width: usize,
}

/// Columns that a strip should have: rows of a few values for each fit a cache of a few megabytes.
const COLUMNS: usize = 1 << 16;
/// Entries that a row should have in a strip, or coming back to it costs more than is gained.
const ENTRIES: usize = 4;

/// Columns of the strips of a matrix: one strip unless there are two times [`COLUMNS`] columns and rows long enough to
/// come back to.
fn width(nrows: usize, ncols: usize, nnz: usize) -> usize {
    let count = (ncols / COLUMNS).min(nnz / (ENTRIES * nrows.max(1))).max(1);
    ncols.div_ceil(count).max(1)
}

impl<T: Scalar> Strips<T> {
    /// The matrix itself where one strip will do, else a copy in strips, made in parallel.
    pub(crate) fn new(c: Csr<T>) -> Self {
        let width = width(c.nrows(), c.ncols(), c.nnz());
        Strips::of_width(c, width)
    }

    fn of_width(c: Csr<T>, width: usize) -> Self {
        if width >= c.ncols() {
            return Strips { strips: vec![c], width };
        }
        let starts: Vec<usize> = (0..c.ncols()).step_by(width).collect();
        Strips { strips: starts.into_par_iter().map(|first| c.only_columns(first..first + width)).collect(), width }
    }

    /// The strips of the transposed matrix: each holds a run of this one's rows.
    pub(crate) fn transpose(&self) -> Self {
        self.transpose_of_width(width(self.ncols(), self.nrows(), self.nnz()))
    }

    /// One strip of the transposed matrix for each run of `width` rows; the strips of a row have no column in common.
    fn transpose_of_width(&self, width: usize) -> Self {
        let nrows = self.nrows();
        let starts: Vec<usize> = (0..nrows.max(1)).step_by(width).collect();
        let turned = |first: usize| Csr::transpose_of_rows(&self.parts(), first..(first + width).min(nrows));
        Strips { strips: starts.into_par_iter().map(turned).collect(), width }
    }

    fn parts(&self) -> Vec<CsrRef<'_, T>> {
        self.strips.iter().map(Csr::as_ref).collect()
    }

    pub(crate) fn nrows(&self) -> usize {
        self.strips[0].nrows()
    }

    pub(crate) fn ncols(&self) -> usize {
        self.strips[0].ncols()
    }

    /// Stored entries.
    pub(crate) fn nnz(&self) -> usize {
        self.strips.iter().map(Csr::nnz).sum()
    }

    /// One entry, stored or not.
    pub(crate) fn entry(&self, row: usize, col: usize) -> T {
        let (cols, vals) = self.strips[col / self.width].row(row);
        cols.binary_search(&(col as u32)).map_or(T::zero(), |at| vals[at])
    }

    /// out ← (C + α·βᵀ)·v.
    pub(crate) fn multiply(&self, v: MatRef<'_, T>, rank_one: Option<(&[T], &[T])>, out: MatMut<'_, T>) {
        multiply(&self.parts(), v, rank_one, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use faer::Mat;

    #[test]
    fn strips_of_any_width_give_the_same_bits() {
        let dense = synth::gaussian::<f64>(30, 23, 1);
        let cell = |i: u32, j: u32| (i, j, dense[(i as usize, j as usize)]);
        let cells = (0..30).flat_map(|i| (0..23).map(move |j| (i, j))).filter(|(i, j)| (i * j) % 3 == 0);
        let c = Csr::from_triplets(30, 23, &cells.map(|(i, j)| cell(i, j)).collect::<Vec<_>>());
        let product = |strips: &Strips<f64>, v: &Mat<f64>| {
            let (rows, cols) = (vec![0.5; strips.nrows()], vec![0.25; strips.ncols()]);
            let mut out = Mat::zeros(strips.nrows(), v.ncols());
            strips.multiply(v.as_ref(), Some((&rows, &cols)), out.as_mut());
            out
        };
        let (v, u) = (synth::gaussian::<f64>(23, 5, 2), synth::gaussian::<f64>(30, 5, 3));
        let whole = Strips::new(c.clone());
        assert_eq!(whole.strips.len(), 1);
        for width in [1, 4, 22] {
            let strips = Strips::of_width(c.clone(), width);
            assert_eq!((strips.nnz(), strips.strips.len()), (c.nnz(), 23_usize.div_ceil(width)));
            assert_eq!(product(&strips, &v), product(&whole, &v));
            assert_eq!(product(&strips.transpose_of_width(width), &u), product(&whole.transpose(), &u));
            assert!((0..30).all(|i| (0..23).all(|j| strips.entry(i, j) == whole.entry(i, j))));
        }
    }

    #[test]
    fn only_wide_matrices_with_full_rows_are_cut() {
        assert_eq!(width(1000, 1 << 20, 1000 * 8), 1 << 19);
        assert_eq!(width(1000, 1 << 20, 1000 * 400), 1 << 16);
        assert_eq!((width(1000, 1 << 20, 1000), width(1000, 1 << 16, 1 << 24), width(0, 0, 0)), (1 << 20, 1 << 16, 1));
    }
}

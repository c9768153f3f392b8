//! Columns of AᵀA, put together while the rows of A go by.

use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, CsrRef};
use rayon::prelude::*;

/// Products that a column may collect before they are added up.
const SPARE: usize = 1024;

/// Some columns of AᵀA: z_j = Σ_i a_ij·(row i of A), sparse as long as few rows share j.
///
/// Rows of the same coordinate are added in the order of the rows, so that chunks change no bit.
pub(super) struct GramColumns<T> {
    columns: Vec<Column<T>>,
}

/// The products of one column.
struct Column<T> {
    entries: Vec<(u32, T)>,
    /// How many there were when they were last added up.
    merged: usize,
}

impl<T: Scalar> GramColumns<T> {
    /// So many columns, of no row yet.
    pub(super) fn new(count: usize) -> Self {
        let empty = || Column { entries: Vec::new(), merged: 0 };
        GramColumns { columns: std::iter::repeat_with(empty).take(count).collect() }
    }

    /// Adds the part of these rows to the columns that have a slot.
    pub(super) fn add(&mut self, rows: CsrRef<'_, T>, slot: impl Fn(usize) -> Option<usize>) {
        for i in 0..rows.nrows() {
            let (cols, values) = rows.row(i);
            for (&j, &value) in cols.iter().zip(values) {
                if let Some(at) = slot(j as usize) {
                    self.columns[at].add(value, cols, values);
                }
            }
        }
    }

    /// The columns times `scale`, one per row.
    pub(super) fn finish(mut self, width: usize, scale: T) -> Csr<T> {
        self.columns.par_iter_mut().for_each(Column::merge);
        let mut out = Csr::empty(width);
        for column in &mut self.columns {
            out.push_row(std::mem::take(&mut column.entries).into_iter().map(|(k, v)| (k, v * scale)));
        }
        out
    }
}

impl<T: Scalar> Column<T> {
    fn add(&mut self, factor: T, cols: &[u32], values: &[T]) {
        self.entries.extend(cols.iter().zip(values).map(|(&k, &v)| (k, factor * v)));
        if self.entries.len() > 2 * self.merged + SPARE {
            self.merge();
        }
    }

    /// One entry per coordinate, ascending. The sort is stable: what is added up comes first, then later rows in order.
    fn merge(&mut self) {
        self.entries.sort_by_key(|e| e.0);
        self.entries.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
        self.merged = self.entries.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_product_however_often_they_are_added_up() {
        let entries: Vec<_> = (0..4000_u32).map(|k| (k % 900, k * k % 61, f64::from(k % 7) - 2.5)).collect();
        let a = Csr::from_triplets(900, 61, &entries);
        let expected = a.to_dense().transpose() * a.to_dense();
        let of = |chunk: usize| {
            let mut columns = GramColumns::new(30);
            for start in (0..900).step_by(chunk) {
                let rows = a.as_ref().subrows(start, chunk.min(900 - start));
                columns.add(rows, |j| (20..50).contains(&j).then(|| j - 20));
            }
            columns.finish(61, 0.5)
        };
        let found = of(900);
        assert!((found.to_dense() - expected.subrows(20, 30) * faer::Scale(0.5)).norm_max() < 1e-10);
        assert_eq!(found, of(7));
    }
}

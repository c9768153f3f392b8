//! Samples: dense rows or sparse rows (CSR).
//!
//! | variant of [`Samples`] | memory for n samples of width M | when |
//! | --- | --- | --- |
//! | [`Samples::Dense`] | n·M numbers | most coordinates are not 0 |
//! | [`Samples::Sparse`] | a number and four bytes for each stored coordinate | graphs, documents |
//! | [`Samples::Shared`] | none of its own | arrays of another language, or read from a file |
//!
//! Functions borrow samples as [`SamplesRef`], which knows dense and sparse only. Sparse samples stay sparse
//! everywhere: kernels of them are evaluated, multiplied and stored by the coordinates that two samples share.
//!
//! ```
//! use lopsided::{Csr, Samples};
//!
//! let sparse = Samples::Sparse(Csr::from_triplets(2, 4, &[(0, 3, 2.0), (1, 0, -1.0)]));
//! let dense = Samples::Dense(sparse.clone().into_dense());
//! assert_eq!((sparse.as_ref().nnz(), dense.as_ref().nnz()), (2, 8));
//! assert_eq!(sparse.as_ref().variance(), dense.as_ref().variance());
//! ```

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::grouped::{self, Triplets, Turned};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Sparse matrices with more rows or columns than this must have entries in some of them.
const LONG: usize = 1 << 24;

/// The side of G: its rows (X, U) or its columns (Z, V).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Row side: samples X, vectors U.
    Row,
    /// Column side: samples Z, vectors V.
    Col,
}

/// Compressed sparse rows: row i holds `indices[indptr[i]..indptr[i+1]]`, ascending, without duplicates.
///
/// ```
/// use lopsided::Csr;
///
/// let a = Csr::from_triplets(2, 3, &[(0, 2, 1.0), (1, 0, 4.0), (0, 2, 0.5)]);
/// assert_eq!(a.row(0), (&[2][..], &[1.5][..]));
/// assert_eq!(a.transpose().row(0), (&[1][..], &[4.0][..]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    ncols: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Scalar> Csr<T> {
    /// Takes over the three arrays of the format after checking them.
    ///
    /// ```
    /// use lopsided::Csr;
    ///
    /// let a = Csr::new(3, vec![0, 2, 2], vec![0, 2], vec![1.0, 5.0])?; // the second row is empty
    /// assert_eq!((a.nrows(), a.ncols(), a.nnz()), (2, 3, 2));
    /// assert!(Csr::new(3, vec![0, 2], vec![2, 0], vec![1.0, 5.0]).is_err());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for row pointers that do not ascend from 0, arrays of lengths that do not agree, and columns
    /// that are out of range, out of order or double within a row.
    pub fn new(ncols: usize, indptr: Vec<usize>, indices: Vec<u32>, values: Vec<T>) -> Result<Self> {
        let bad = |what: &str, got: String| Err(Error::shape(what, "consistent", got));
        if indptr.first() != Some(&0) || indptr.windows(2).any(|w| w[0] > w[1]) {
            return bad("row pointer array", "not ascending from 0".into());
        }
        if indptr.last() != Some(&indices.len()) || indices.len() != values.len() {
            return bad("sparse array lengths", format!("{} indices, {} values", indices.len(), values.len()));
        }
        let csr = Csr { ncols, indptr, indices, values };
        for i in 0..csr.nrows() {
            let (cols, _) = csr.row(i);
            let ascending = cols.windows(2).all(|w| w[0] < w[1]);
            if !ascending || cols.last().is_some_and(|&c| c as usize >= ncols) {
                return bad("column indices", format!("out of order or range in row {i}"));
            }
        }
        Ok(csr)
    }

    /// Why a matrix of this size with so many entries cannot be meant; none where it can. A false size would exhaust the memory.
    pub(crate) fn implausible(rows: usize, cols: usize, entries: usize) -> Option<String> {
        let longest = rows.max(cols);
        if longest > u32::MAX as usize {
            return Some(format!("{rows} x {cols} is too large; at most {} rows or columns", u32::MAX));
        }
        let empty = longest > LONG && longest / 100 > entries;
        empty.then(|| format!("{rows} x {cols} with {entries} entries is too empty to be meant"))
    }

    /// Collects `(row, column, value)` entries; equal positions are added up.
    ///
    /// # Cost
    /// O(nrows + entries), and a sort within each row.
    ///
    /// # Panics
    /// If an entry is outside the matrix.
    pub fn from_triplets(nrows: usize, ncols: usize, entries: &[(u32, u32, T)]) -> Self {
        for &(i, j, _) in entries {
            assert!((i as usize) < nrows && (j as usize) < ncols, "entry ({i}, {j}) outside {nrows} x {ncols}");
        }
        let (indptr, indices, values) = grouped::sorted(grouped::grouped(nrows, &Triplets(entries)));
        Csr { ncols, indptr, indices, values }
    }

    /// A matrix without rows, to be filled by [`Csr::push_row`].
    pub fn empty(ncols: usize) -> Self {
        Csr { ncols, indptr: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// Appends a row of entries with ascending columns; equal neighbours are added up.
    ///
    /// The order of the columns is the caller's promise and is not checked.
    ///
    /// ```
    /// use lopsided::Csr;
    ///
    /// let mut a = Csr::empty(3);
    /// a.push_row([(0, 1.0), (2, 2.0), (2, 3.0)]);
    /// a.push_row([]);
    /// assert_eq!((a.nrows(), a.row(0)), (2, (&[0, 2][..], &[1.0, 5.0][..])));
    /// ```
    pub fn push_row(&mut self, entries: impl IntoIterator<Item = (u32, T)>) {
        let start = self.indices.len();
        for (j, v) in entries {
            if self.indices.len() > start && self.indices.last() == Some(&j) {
                let last = self.values.len() - 1;
                self.values[last] += v;
            } else {
                self.indices.push(j);
                self.values.push(v);
            }
        }
        self.indptr.push(self.indices.len());
    }

    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.nnz() * (4 + T::BYTES) + self.indptr.len() * 8
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The three arrays: row pointers, columns, values.
    pub fn parts(&self) -> (&[usize], &[u32], &[T]) {
        (&self.indptr, &self.indices, &self.values)
    }

    /// All stored values, for changes in place that keep the pattern.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Columns of row `i` and its values, for changes in place.
    pub fn row_mut(&mut self, i: usize) -> (&[u32], &mut [T]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &mut self.values[range])
    }

    /// Changes the values of all rows in place, in parallel; `row` gets a row's number, columns and values.
    pub(crate) fn update_rows(&mut self, row: impl Fn(usize, &[u32], &mut [T]) + Sync) {
        const CHUNK: usize = 1024;
        let (indptr, indices) = (&self.indptr, &self.indices);
        let mut rest = &mut self.values[..];
        let mut chunks = Vec::new();
        for first in (0..indptr.len() - 1).step_by(CHUNK) {
            let rows = first..(first + CHUNK).min(indptr.len() - 1);
            let chunk = rest.split_off_mut(..indptr[rows.end] - indptr[first]).unwrap_or_default();
            chunks.push((rows, chunk));
        }
        chunks.into_par_iter().for_each(|(rows, mut chunk)| {
            for i in rows {
                let cols = &indices[indptr[i]..indptr[i + 1]];
                row(i, cols, chunk.split_off_mut(..cols.len()).unwrap_or_default());
            }
        });
    }

    /// The transposed matrix, in O(nnz + rows + columns): entries are grouped by column, row by row, so that they come out sorted.
    pub fn transpose(&self) -> Self {
        Csr::transpose_of_rows(&[self.as_ref()], 0..self.nrows())
    }

    /// Some rows of a matrix as columns of the transposed one, whose other columns are empty. The matrix is the sum of parts in which
    /// no two have entries in the same column.
    pub(crate) fn transpose_of_rows(parts: &[CsrRef<'_, T>], rows: Range<usize>) -> Self {
        let (nrows, ncols) = (parts[0].nrows(), parts[0].ncols());
        let (indptr, indices, values) = grouped::grouped(ncols, &Turned::new(parts, rows));
        Csr { ncols: nrows, indptr, indices, values }
    }

    /// The same matrix with the entries of some columns only.
    pub(crate) fn only_columns(&self, columns: Range<usize>) -> Self {
        let own = |i: usize| {
            let cols = self.row(i).0;
            let at = |column: usize| self.indptr[i] + cols.partition_point(|&j| (j as usize) < column);
            at(columns.start)..at(columns.end)
        };
        let mut indptr = vec![0; self.nrows() + 1];
        (0..self.nrows()).for_each(|i| indptr[i + 1] = indptr[i] + own(i).len());
        let nnz = indptr[self.nrows()];
        let (mut indices, mut values) = (Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        for i in 0..self.nrows() {
            indices.extend_from_slice(&self.indices[own(i)]);
            values.extend_from_slice(&self.values[own(i)]);
        }
        Csr { ncols: self.ncols, indptr, indices, values }
    }

    /// A borrowed view of all rows.
    pub fn as_ref(&self) -> CsrRef<'_, T> {
        CsrRef { ncols: self.ncols, indptr: &self.indptr, indices: &self.indices, values: &self.values }
    }

    /// The matrix with all zeros stored.
    pub fn to_dense(&self) -> Mat<T> {
        let mut out = Mat::zeros(self.nrows(), self.ncols);
        for i in 0..self.nrows() {
            let (cols, vals) = self.row(i);
            for (&j, &v) in cols.iter().zip(vals) {
                out[(i, j as usize)] = v;
            }
        }
        out
    }

    /// Builds a matrix of the given width from rows computed in parallel, in row order.
    pub(crate) fn from_parallel_rows<S, I, F>(nrows: usize, ncols: usize, init: I, row: F) -> Self
    where
        I: Fn() -> S + Sync + Send,
        F: Fn(&mut S, usize, &mut Vec<(u32, T)>) + Sync + Send,
    {
        const CHUNK: usize = 1024;
        let parts: Vec<(Vec<usize>, Vec<u32>, Vec<T>)> = (0..nrows.div_ceil(CHUNK))
            .into_par_iter()
            .map_init(
                || (init(), Vec::new()),
                |(state, cells), chunk| {
                    let (mut lens, mut indices, mut values) = (Vec::new(), Vec::new(), Vec::new());
                    for i in chunk * CHUNK..nrows.min((chunk + 1) * CHUNK) {
                        cells.clear();
                        row(state, i, cells);
                        lens.push(cells.len());
                        indices.extend(cells.iter().map(|c| c.0));
                        values.extend(cells.iter().map(|c| c.1));
                    }
                    indices.shrink_to_fit();
                    values.shrink_to_fit();
                    (lens, indices, values)
                },
            )
            .collect();
        let nnz = parts.iter().map(|p| p.1.len()).sum();
        let mut out = Csr {
            ncols,
            indptr: Vec::with_capacity(nrows + 1),
            indices: Vec::with_capacity(nnz),
            values: Vec::with_capacity(nnz),
        };
        out.indptr.push(0);
        let mut end = 0;
        for (lens, indices, values) in parts {
            for len in lens {
                end += len;
                out.indptr.push(end);
            }
            out.indices.extend(indices);
            out.values.extend(values);
        }
        out
    }
}

/// A borrowed run of rows of a [`Csr`].
#[derive(Clone, Copy, Debug)]
pub struct CsrRef<'a, T> {
    ncols: usize,
    indptr: &'a [usize],
    indices: &'a [u32],
    values: &'a [T],
}

impl<'a, T: Scalar> CsrRef<'a, T> {
    /// Number of rows.
    pub fn nrows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indptr[self.nrows()] - self.indptr[0]
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [T]) {
        let range = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Rows `start..start + count`.
    pub fn subrows(&self, start: usize, count: usize) -> Self {
        CsrRef { indptr: &self.indptr[start..=start + count], ..*self }
    }

    /// The listed rows, in that order.
    pub fn select(&self, rows: &[usize]) -> Csr<T> {
        let mut out = Csr::empty(self.ncols);
        for &i in rows {
            let (cols, vals) = self.row(i);
            out.push_row(cols.iter().copied().zip(vals.iter().copied()));
        }
        out
    }

    /// An owned copy.
    pub fn to_owned(&self) -> Csr<T> {
        self.select(&(0..self.nrows()).collect::<Vec<_>>())
    }
}

/// Samples of one side, one per row.
#[derive(Clone, Debug)]
pub enum Samples<T> {
    /// All coordinates stored.
    Dense(Mat<T>),
    /// Only nonzero coordinates stored.
    Sparse(Csr<T>),
    /// All coordinates, in memory that is somebody else's.
    Shared(SharedRows<T>),
}

/// Dense samples in memory that somebody else holds, such as an array of another language; cloning does not copy them.
///
/// ```
/// use lopsided::data::samples::{Order, SharedRows};
/// use lopsided::Samples;
/// use std::sync::Arc;
///
/// let rows = SharedRows::new(Arc::new(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), (2, 3), Order::Rows)?;
/// assert_eq!(Samples::Shared(rows).into_dense()[(1, 0)], 4.0);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone)]
pub struct SharedRows<T> {
    values: Arc<dyn AsRef<[T]> + Send + Sync>,
    size: (usize, usize),
    order: Order,
}

/// How a flat array runs through a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Row after row.
    Rows,
    /// Column after column.
    Columns,
}

impl<T: Scalar> SharedRows<T> {
    /// A flat array of rows times columns values.
    ///
    /// # Errors
    /// [`Error::Shape`] if the array has another length.
    pub fn new(values: Arc<dyn AsRef<[T]> + Send + Sync>, size: (usize, usize), order: Order) -> Result<Self> {
        let length = values.as_ref().as_ref().len();
        if size.0.checked_mul(size.1) != Some(length) {
            return Err(Error::shape("the array", format!("{} x {} values", size.0, size.1), length));
        }
        Ok(SharedRows { values, size, order })
    }

    /// Columns become rows, in the same memory.
    pub fn transpose(&self) -> Self {
        let order = if self.order == Order::Rows { Order::Columns } else { Order::Rows };
        SharedRows { values: Arc::clone(&self.values), size: (self.size.1, self.size.0), order }
    }

    /// A borrowed view, row-major or column-major as the memory is.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        let (values, (rows, cols)) = ((*self.values).as_ref(), self.size);
        match self.order {
            Order::Rows => MatRef::from_row_major_slice(values, rows, cols),
            Order::Columns => MatRef::from_column_major_slice(values, rows, cols),
        }
    }
}

impl<T> std::fmt::Debug for SharedRows<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedRows({} x {}, {:?})", self.size.0, self.size.1, self.order)
    }
}

/// A borrowed view of [`Samples`]; dense views may have any strides.
#[derive(Clone, Copy, Debug)]
pub enum SamplesRef<'a, T> {
    /// Dense rows.
    Dense(MatRef<'a, T>),
    /// Sparse rows.
    Sparse(CsrRef<'a, T>),
}

impl<T: Scalar> Samples<T> {
    /// A borrowed view.
    pub fn as_ref(&self) -> SamplesRef<'_, T> {
        match self {
            Samples::Dense(m) => SamplesRef::Dense(m.as_ref()),
            Samples::Sparse(s) => SamplesRef::Sparse(s.as_ref()),
            Samples::Shared(m) => SamplesRef::Dense(m.as_ref()),
        }
    }

    /// The samples with all coordinates stored.
    pub fn into_dense(self) -> Mat<T> {
        match self {
            Samples::Dense(m) => m,
            Samples::Sparse(s) => s.to_dense(),
            Samples::Shared(m) => m.as_ref().to_owned(),
        }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.as_ref().count()
    }

    /// Number of coordinates of each sample.
    pub fn width(&self) -> usize {
        self.as_ref().width()
    }

    /// The samples whose coordinates are this one's rows: columns become rows.
    pub fn transpose(&self) -> Self {
        match self {
            Samples::Dense(m) => Samples::Dense(m.transpose().to_owned()),
            Samples::Sparse(s) => Samples::Sparse(s.transpose()),
            Samples::Shared(m) => Samples::Shared(m.transpose()),
        }
    }

    /// [`Error::NotFinite`] at the first NaN or infinity; `what` names the data in the message.
    ///
    /// ```
    /// use lopsided::Samples;
    ///
    /// let error = Samples::Dense(faer::mat![[1.0, f64::NAN]]).check_finite("the table").unwrap_err();
    /// assert_eq!(error.to_string(), "the table contains NaN at row 0, column 1");
    /// ```
    pub fn check_finite(&self, what: &str) -> Result<()> {
        self.as_ref().check_finite(what)
    }
}

impl<T: Scalar> SamplesRef<'_, T> {
    /// Whether these are the same dense samples, in the same memory or not.
    pub(crate) fn is(&self, other: SamplesRef<'_, T>) -> bool {
        let place = |m: &MatRef<'_, T>| (m.as_ptr(), m.row_stride(), m.col_stride());
        let equal = |a: &MatRef<'_, T>, b: &MatRef<'_, T>| {
            // As they lie in memory.
            if a.col_stride() == 1 { a.transpose() == b.transpose() } else { a == b }
        };
        let same = |a, b| MatRef::shape(a) == MatRef::shape(b) && (place(a) == place(b) || equal(a, b));
        matches!((self, &other), (SamplesRef::Dense(a), SamplesRef::Dense(b)) if same(a, b))
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        match self {
            SamplesRef::Dense(m) => m.nrows(),
            SamplesRef::Sparse(s) => s.nrows(),
        }
    }

    /// Number of coordinates of each sample.
    pub fn width(&self) -> usize {
        match self {
            SamplesRef::Dense(m) => m.ncols(),
            SamplesRef::Sparse(s) => s.ncols(),
        }
    }

    /// An owned copy.
    pub fn to_owned(&self) -> Samples<T> {
        match self {
            SamplesRef::Dense(m) => Samples::Dense(m.to_owned()),
            SamplesRef::Sparse(s) => Samples::Sparse(s.to_owned()),
        }
    }

    /// A copy with all coordinates stored, one sample per row.
    pub fn to_dense(&self) -> Mat<T> {
        match self {
            SamplesRef::Dense(m) => m.to_owned(),
            SamplesRef::Sparse(s) => s.to_owned().to_dense(),
        }
    }

    /// The listed samples, in that order.
    ///
    /// A sample may be listed more than once.
    ///
    /// ```
    /// use lopsided::Samples;
    ///
    /// let x = Samples::Dense(faer::mat![[1.0], [2.0], [3.0]]);
    /// assert_eq!(x.as_ref().select(&[2, 0, 2]).into_dense(), faer::mat![[3.0], [1.0], [3.0]]);
    /// ```
    pub fn select(&self, rows: &[usize]) -> Samples<T> {
        match self {
            SamplesRef::Dense(m) => {
                let mut out = Mat::zeros(rows.len(), m.ncols());
                out.row_iter_mut().zip(rows).for_each(|(mut to, &i)| to.copy_from(m.row(i)));
                Samples::Dense(out)
            }
            SamplesRef::Sparse(s) => Samples::Sparse(s.select(rows)),
        }
    }

    /// Whether sample `i` is sample `j` of others, number by number.
    pub(crate) fn has_row_of(&self, i: usize, others: Self, j: usize) -> bool {
        match (self, others) {
            (SamplesRef::Dense(here), SamplesRef::Dense(there)) => {
                let (here, there) = (here.row(i), there.row(j));
                let same_memory = here.as_ptr() == there.as_ptr() && here.col_stride() == there.col_stride();
                same_memory && here.ncols() == there.ncols() || here == there
            }
            (SamplesRef::Sparse(here), SamplesRef::Sparse(there)) => here.row(i) == there.row(j),
            _ => false,
        }
    }

    /// Samples `start..start + count`.
    pub fn subrows(&self, start: usize, count: usize) -> Self {
        match self {
            SamplesRef::Dense(m) => SamplesRef::Dense(m.subrows(start, count)),
            SamplesRef::Sparse(s) => SamplesRef::Sparse(s.subrows(start, count)),
        }
    }

    /// Stored coordinates.
    pub fn nnz(&self) -> usize {
        match self {
            SamplesRef::Dense(m) => m.nrows() * m.ncols(),
            SamplesRef::Sparse(s) => s.nnz(),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            SamplesRef::Dense(m) => m.nrows() * m.ncols() * T::BYTES,
            SamplesRef::Sparse(s) => s.nnz() * (4 + T::BYTES) + (s.nrows() + 1) * 8,
        }
    }

    /// Calls `visit(column, value)` for every stored coordinate of sample `i`.
    ///
    /// Dense samples show all coordinates, zeros too; sparse ones those that are stored, in ascending order.
    pub fn for_each(&self, i: usize, mut visit: impl FnMut(usize, T)) {
        match self {
            SamplesRef::Dense(m) => (0..m.ncols()).for_each(|j| visit(j, m[(i, j)])),
            SamplesRef::Sparse(s) => {
                let (cols, vals) = s.row(i);
                cols.iter().zip(vals).for_each(|(&j, &v)| visit(j as usize, v));
            }
        }
    }

    /// [`Error::NotFinite`] at the first NaN or infinity; `what` names the data in the message.
    pub fn check_finite(&self, what: &str) -> Result<()> {
        if self.is_finite() {
            return Ok(());
        }
        for i in 0..self.count() {
            let mut bad = None;
            self.for_each(i, |j, v| {
                if !num_traits::Float::is_finite(v) && bad.is_none() {
                    bad = Some((j, v));
                }
            });
            if let Some((col, v)) = bad {
                return Err(Error::NotFinite { what: what.into(), value: v.to_string(), row: i, col });
            }
        }
        Ok(())
    }

    /// The largest absolute value of a number; 0 without any.
    pub(crate) fn largest(&self) -> f64 {
        let mut largest: f64 = 0.0;
        (0..self.count()).for_each(|i| self.for_each(i, |_, v| largest = largest.max(v.as_f64().abs())));
        largest
    }

    /// Whether no number is NaN or infinite.
    fn is_finite(&self) -> bool {
        match self {
            SamplesRef::Dense(m) => {
                let by_rows = if m.row_stride().abs() > m.col_stride().abs() { m.transpose() } else { *m };
                by_rows.par_col_iter().all(|run| run.iter().all(|v| num_traits::Float::is_finite(*v)))
            }
            SamplesRef::Sparse(s) => {
                s.values[s.indptr[0]..s.indptr[s.nrows()]].par_iter().all(|v| num_traits::Float::is_finite(*v))
            }
        }
    }

    /// Variance of all coordinates, zeros included: the `var(A)` of the named gamma choices.
    ///
    /// Σ v²/(n·M) − (Σ v/(n·M))², in one pass over what is stored.
    ///
    /// ```
    /// use lopsided::Samples;
    ///
    /// let x = Samples::Dense(faer::mat![[0.0, 2.0], [2.0, 0.0]]);
    /// assert_eq!(x.as_ref().variance(), 1.0);
    /// ```
    pub fn variance(&self) -> f64 {
        let cells = (self.count() * self.width()) as f64;
        let (mut sum, mut squares) = (0.0, 0.0);
        for i in 0..self.count() {
            self.for_each(i, |_, v| {
                sum += v.as_f64();
                squares += v.as_f64() * v.as_f64();
            });
        }
        let (mean, square) = (sum / cells, squares / cells);
        let variance = square - mean * mean;
        // The difference of numbers that cancel is rounding.
        if variance > 16.0 * f64::EPSILON * square { variance } else { 0.0 }
    }

    /// Mean squared distance of the samples from their mean.
    pub(crate) fn spread(&self) -> f64 {
        let count = self.count().max(1) as f64;
        let (mut mean, mut square) = (vec![0.0; self.width()], 0.0);
        for i in 0..self.count() {
            self.for_each(i, |j, v| {
                mean[j] += v.as_f64() / count;
                square += v.as_f64() * v.as_f64() / count;
            });
        }
        (square - mean.iter().map(|m| m * m).sum::<f64>()).max(0.0)
    }
}

/// Rows with more than this share of their coordinates are handled as dense ones.
const DENSE: f64 = 0.2;

/// Sparse rows as they are handled fastest.
pub(crate) fn as_samples<T: Scalar>(rows: CsrRef<'_, T>) -> Samples<T> {
    let cells = (rows.nrows() * rows.ncols()) as f64;
    if rows.nnz() as f64 > DENSE * cells {
        return Samples::Dense(rows.to_owned().to_dense());
    }
    Samples::Sparse(rows.to_owned())
}

/// Whether the indices are 0, 1, … up to all of them.
pub(crate) fn is_everything(picked: &[usize], size: usize) -> bool {
    picked.len() == size && picked.iter().enumerate().all(|(at, &i)| at == i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Csr<f64> {
        Csr::from_triplets(3, 4, &[(2, 1, 5.0), (0, 3, 1.0), (0, 0, 2.0), (2, 1, 0.5)])
    }

    #[test]
    fn triplets_are_sorted_and_duplicates_added() {
        let s = small();
        assert_eq!(s.row(0), (&[0u32, 3][..], &[2.0, 1.0][..]));
        assert_eq!(s.row(1).0.len(), 0);
        assert_eq!(s.row(2), (&[1u32][..], &[5.5][..]));
    }

    #[test]
    fn transposing_twice_gives_the_same_matrix() {
        assert_eq!(small().transpose().transpose(), small());
        assert_eq!(small().transpose().to_dense(), small().to_dense().transpose().to_owned());
    }

    #[test]
    fn inconsistent_arrays_are_refused() {
        assert!(Csr::new(2, vec![0, 1], vec![2], vec![1.0]).is_err());
        assert!(Csr::new(2, vec![0, 2], vec![1, 0], vec![1.0, 1.0]).is_err());
        assert!(Csr::<f64>::new(2, vec![0, 3], vec![1], vec![1.0]).is_err());
    }

    #[test]
    fn the_first_bad_value_is_named() {
        let mut m = Mat::<f64>::zeros(3, 2);
        m[(1, 1)] = f64::NAN;
        let text = Samples::Dense(m).check_finite("X").unwrap_err().to_string();
        assert_eq!(text, "X contains NaN at row 1, column 1");
    }

    #[test]
    fn the_spread_does_not_see_the_mean() {
        let near = Samples::Dense(faer::mat![[1.0, 0.0], [-1.0, 2.0]]);
        let far = Samples::Dense(faer::mat![[1001.0, 500.0], [999.0, 502.0]]);
        assert_eq!((near.as_ref().spread(), far.as_ref().spread()), (2.0, 2.0));
    }

    #[test]
    fn variance_counts_the_zeros() {
        let dense = Samples::Dense(small().to_dense()).as_ref().variance();
        assert!((Samples::Sparse(small()).as_ref().variance() - dense).abs() < 1e-15);
    }
}

//! A sparse matrix that is read row by row in passes and never held.
//!
//! Methods that need G, or the data, a few times only ([`crate::estimators::StreamedKernelSvd`] and others) are written
//! against [`RowStream`]: memory is a chunk and what the method keeps, time is a pass over the file for each use. The
//! number of passes is counted, because on large files it is the cost.

use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::{Progress, Watch};
use crate::data::samples::{Csr, CsrRef};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows of a chunk, unless someone wants others. Chunks are the same in every pass, so that bits do not depend on a reader.
pub(crate) const CHUNK_ROWS: usize = 2048;

/// Takes the number of a chunk's first row and the chunk.
pub type Visit<'v, T> = dyn FnMut(usize, CsrRef<'_, T>) -> Result<()> + 'v;
/// Shows all chunks in order to a visitor.
pub type Pass<T> = dyn Fn(&mut Visit<'_, T>) -> Result<()> + Send + Sync;

/// An N×M sparse matrix out of core: its rows come in chunks, in order, as often as asked.
///
/// Whoever makes one says how to go through the rows once; [`crate::data::io::stream_svmlight`] does so by reading a file again.
///
/// ```
/// use lopsided::data::row_stream::RowStream;
/// use lopsided::{Csr, Watch};
///
/// let stream = RowStream::of_matrix(Csr::from_triplets(5, 3, &[(0, 2, 1.0), (4, 0, 2.0)]), 2);
/// let mut starts = Vec::new();
/// stream.for_each_chunk("looking", &Watch::default(), |start, rows| {
///     starts.push((start, rows.nrows()));
///     Ok(())
/// })?;
/// assert_eq!((starts, stream.passes()), (vec![(0, 2), (2, 2), (4, 1)], 1));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct RowStream<T> {
    size: (usize, usize),
    nnz: usize,
    pass: Box<Pass<T>>,
    passes: AtomicU64,
}

impl<T: Scalar> RowStream<T> {
    /// A matrix of this size with so many entries; `earlier` passes were needed to know that.
    ///
    /// `pass` shows all rows, in chunks that are the same every time.
    ///
    /// ```
    /// use lopsided::data::row_stream::{RowStream, Visit};
    /// use lopsided::{Csr, Watch};
    ///
    /// // A hundred rows that are made when they are looked at: row i has i in column 0.
    /// let pass = |visit: &mut Visit<'_, f64>| {
    ///     (0..100).try_for_each(|i| visit(i, Csr::from_triplets(1, 1, &[(0, 0, i as f64)]).as_ref()))
    /// };
    /// let stream = RowStream::new((100, 1), 100, 0, Box::new(pass));
    /// let mut sum = 0.0;
    /// stream.for_each_chunk("adding", &Watch::default(), |_, rows| {
    ///     sum += rows.row(0).1[0];
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum, 4950.0);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn new(size: (usize, usize), nnz: usize, earlier: u64, pass: Box<Pass<T>>) -> Self {
        RowStream { size, nnz, pass, passes: AtomicU64::new(earlier) }
    }

    /// A matrix in memory, shown in chunks of so many rows.
    ///
    /// # Panics
    /// If a chunk has no rows.
    pub fn of_matrix(a: Csr<T>, chunk: usize) -> Self {
        assert!(chunk > 0, "a chunk of {chunk} rows");
        let (size, nnz) = ((a.nrows(), a.ncols()), a.nnz());
        let pass = move |visit: &mut Visit<'_, T>| {
            (0..a.nrows())
                .step_by(chunk)
                .try_for_each(|start| visit(start, a.as_ref().subrows(start, chunk.min(a.nrows() - start))))
        };
        RowStream::new(size, nnz, 0, Box::new(pass))
    }

    /// Number of rows N.
    pub fn nrows(&self) -> usize {
        self.size.0
    }

    /// Number of columns M.
    pub fn ncols(&self) -> usize {
        self.size.1
    }

    /// Number of entries.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Passes so far.
    pub fn passes(&self) -> u64 {
        self.passes.load(Ordering::Relaxed)
    }

    /// One pass: shows every chunk with the number of its first row; `stage` names it in reports of progress.
    ///
    /// # Errors
    /// Those of the reader and of `visit`, [`crate::Error::Interrupted`].
    pub fn for_each_chunk(
        &self,
        stage: &'static str,
        watch: &Watch,
        mut visit: impl FnMut(usize, CsrRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        self.passes.fetch_add(1, Ordering::Relaxed);
        (self.pass)(&mut |start, rows| {
            let (done, total) = (start as u64, self.nrows() as u64);
            watch.report(Progress { stage, done, total, residual: None })?;
            visit(start, rows)
        })
    }
}

//! K as searches see it: its diagonal at once, its rows when they are needed.

use super::lanes;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::operator::{Access, Operator};
use faer::{Mat, MatMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Columns evaluated together where they are used at once.
const TOGETHER: usize = 256;
/// Searches at a time that share the memory; never the number of threads, on which no result may depend.
const SEARCHES: usize = 16;

/// A symmetric kernel matrix, of which every search keeps the rows of the samples it moves, as many as fit a bound.
///
/// Clones share the diagonal and the memory that finished searches left. Rows are kept in single precision where the
/// operator says that this is accurate enough.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svm::RowCache;
///
/// let k = DenseOperator::Owned(Mat::from_fn(3, 3, |i, j| (i * j) as f64));
/// let rows = RowCache::new(&k, 1 << 20)?;
/// assert_eq!((rows.len(), rows.diagonal()), (3, &[0.0, 1.0, 4.0][..]));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone)]
pub struct RowCache<'a> {
    k: &'a dyn Operator<f64>,
    diagonal: Arc<[f64]>,
    bytes: u64,
    spare: Arc<Spare>,
}

/// Memory that searches left: fresh pages cost as much as the entries that are written there.
#[derive(Default)]
pub(super) struct Spare {
    single: Mutex<Vec<Vec<f32>>>,
    double: Mutex<Vec<Vec<f64>>>,
}

/// The precision in which a search keeps rows.
pub(super) trait Entry: Scalar {
    /// out ← K\[rows, cols\].
    fn block(k: &dyn Operator<f64>, rows: &[usize], cols: &[usize], out: MatMut<'_, Self>) -> Result<()>;
    /// Where memory for such entries is left.
    fn spare(all: &Spare) -> &Mutex<Vec<Vec<Self>>>;
}

impl Entry for f64 {
    fn block(k: &dyn Operator<f64>, rows: &[usize], cols: &[usize], out: MatMut<'_, f64>) -> Result<()> {
        k.block(rows, cols, out)
    }

    fn spare(all: &Spare) -> &Mutex<Vec<Vec<f64>>> {
        &all.double
    }
}

impl Entry for f32 {
    fn block(k: &dyn Operator<f64>, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        k.block_single(rows, cols, out)
    }

    fn spare(all: &Spare) -> &Mutex<Vec<Vec<f32>>> {
        &all.single
    }
}

impl<'a> RowCache<'a> {
    /// Room for as many rows as fit `bytes`, at least 128.
    ///
    /// # Errors
    /// Those of [`Operator::block`].
    pub fn new(k: &'a dyn Operator<f64>, bytes: u64) -> Result<Self> {
        Ok(RowCache { k, diagonal: diagonal(k)?.into(), bytes, spare: Arc::default() })
    }

    /// The same for one of several searches.
    pub(super) fn shared_by(&self, searches: usize) -> Self {
        RowCache { bytes: self.bytes / searches.clamp(1, SEARCHES) as u64, ..self.clone() }
    }

    /// Rows of so many entries that a search may keep, besides what they have in common.
    pub(super) fn room<E: Entry>(&self, entries: usize) -> usize {
        const LEAST: usize = 128;
        ((self.bytes / (2 * E::BYTES * entries.max(1)) as u64) as usize).max(LEAST)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// K\[i, i\] for all i.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Whether rows are accurate enough in single precision.
    pub(super) fn single_suffices(&self) -> bool {
        self.k.single_suffices()
    }

    /// Memory of any contents, perhaps none.
    pub(super) fn take<E: Entry>(&self) -> Vec<E> {
        E::spare(&self.spare).lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Leaves memory to others.
    pub(super) fn leave<E: Entry>(&self, memory: Vec<E>) {
        E::spare(&self.spare).lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    /// K\[rows, cols\], column by column.
    pub(super) fn columns<E: Entry>(&self, rows: &[usize], cols: &[usize], out: &mut [E]) -> Result<()> {
        E::block(self.k, rows, cols, MatMut::from_column_major_slice_mut(out, rows.len(), cols.len()))
    }

    /// `values` −= K\[rows, cols\]·c.
    pub(super) fn subtract(&self, rows: &[usize], cols: &[usize], c: &[f64], values: &mut [f64]) -> Result<()> {
        if self.single_suffices() {
            self.subtract_in::<f32>(rows, cols, c, values)
        } else {
            self.subtract_in::<f64>(rows, cols, c, values)
        }
    }

    fn subtract_in<E: Entry>(&self, rows: &[usize], cols: &[usize], c: &[f64], values: &mut [f64]) -> Result<()> {
        let mut block = self.take::<E>();
        block.resize(block.len().max(rows.len() * TOGETHER.min(cols.len())), E::zero());
        for (cols, c) in cols.chunks(TOGETHER).zip(c.chunks(TOGETHER)) {
            let block = &mut block[..rows.len() * cols.len()];
            self.columns(rows, cols, block)?;
            lanes::subtract(values, block, c);
        }
        self.leave(block);
        Ok(())
    }
}

fn diagonal(k: &dyn Operator<f64>) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..k.nrows()).collect();
    // Entries beside the diagonal are free where blocks are products, else they are the cost.
    let tile = if k.access() == Access::Products { 64 } else { 8 };
    let mut out = Vec::with_capacity(all.len());
    for tile in all.chunks(tile) {
        let mut block = Mat::zeros(tile.len(), tile.len());
        k.block(tile, tile, block.as_mut())?;
        out.extend((0..tile.len()).map(|i| block[(i, i)]));
    }
    Ok(out)
}

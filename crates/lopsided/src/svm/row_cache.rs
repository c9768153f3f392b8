use super::lanes;
use crate::error::Result;
use crate::operator::{Access, Operator};
use faer::{Mat, MatMut};
use std::sync::Arc;

/// Columns evaluated together where they are used at once.
const TOGETHER: usize = 256;
/// Searches at a time that share the memory; never the number of threads, on which no result may depend.
const SEARCHES: usize = 16;

/// A symmetric kernel matrix, of which every search keeps the rows of the samples it moves, as many as fit a bound.
#[derive(Clone)]
pub struct RowCache<'a> {
    k: &'a dyn Operator<f64>,
    diagonal: Arc<[f64]>,
    bytes: u64,
}

impl<'a> RowCache<'a> {
    /// Room for as many rows as fit `bytes`, at least 128.
    ///
    /// # Errors
    /// Those of [`Operator::block`].
    pub fn new(k: &'a dyn Operator<f64>, bytes: u64) -> Result<Self> {
        Ok(RowCache { k, diagonal: diagonal(k)?.into(), bytes })
    }

    /// The same for one of several searches.
    pub(super) fn shared_by(&self, searches: usize) -> Self {
        RowCache { bytes: self.bytes / searches.clamp(1, SEARCHES) as u64, ..self.clone() }
    }

    /// Rows of so many entries that a search may keep, besides what they have in common.
    pub(super) fn room(&self, entries: usize) -> usize {
        const LEAST: usize = 128;
        ((self.bytes / (16 * entries.max(1)) as u64) as usize).max(LEAST)
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

    /// K\[rows, cols\], column by column.
    pub(super) fn columns(&self, rows: &[usize], cols: &[usize], out: &mut [f64]) -> Result<()> {
        self.k.block(rows, cols, MatMut::from_column_major_slice_mut(out, rows.len(), cols.len()))
    }

    /// `values` −= K\[rows, cols\]·c.
    pub(super) fn subtract(&self, rows: &[usize], cols: &[usize], c: &[f64], values: &mut [f64]) -> Result<()> {
        let mut block = vec![0.0; rows.len() * TOGETHER.min(cols.len())];
        for (cols, c) in cols.chunks(TOGETHER).zip(c.chunks(TOGETHER)) {
            let block = &mut block[..rows.len() * cols.len()];
            self.columns(rows, cols, block)?;
            lanes::subtract(values, block, c);
        }
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

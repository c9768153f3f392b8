//! Symmetric kernel matrices at half the price.
//!
//! Tile (i, j) below the diagonal is multiplied twice, as it is for the rows of band i and transposed for those of band
//! j. Two threads must not add to the same rows, so the bands play a tournament: in every round each band meets one
//! other, rounds follow each other, and finally every band meets itself.

use super::{Access, KernelOperator, Operator, rounded};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::SamplesRef;
use crate::kernel::Kernel;
use crate::products::TILE;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A symmetric G, of which the tiles on and below the diagonal are evaluated, or stored: each serves (i, j) and (j, i).
///
/// Bands of rows meet in rounds, every band once in a round, as in a tournament. So each sum has one order and one thread
/// at a time, and the bits do not depend on the number of threads.
///
/// [`super::KernelMatrix`] takes it by itself where both sample sets are one and the kernel depends on distance or
/// product alone; row normalisation is put around it.
///
/// # Cost
/// n·(n + 256)/2 entries evaluated in every product, or stored once.
pub struct Symmetric<'a, T: Scalar> {
    entries: Entries<'a, T>,
    size: usize,
    watch: Watch,
}

enum Entries<'a, T: Scalar> {
    Evaluated(Box<KernelOperator<'a, T>>),
    /// Tile (i, j) at i·(i + 1)/2 + j.
    Stored(Vec<Mat<T>>),
}

/// Whether G = Gᵀ before any normalisation: the same samples twice, and a function of their distance or product.
pub(super) fn is_symmetric<T: Scalar>(kernel: &dyn Kernel<T>, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> bool {
    x.is(z) && (kernel.separable().is_some() || kernel.derivative().is_some())
}

impl<'a, T: Scalar> Symmetric<'a, T> {
    /// Tiles evaluated in every product.
    pub(super) fn evaluated(tiles: KernelOperator<'a, T>, watch: &Watch) -> Self {
        Symmetric { size: tiles.nrows(), entries: Entries::Evaluated(Box::new(tiles)), watch: watch.clone() }
    }

    /// Tiles evaluated now and kept.
    pub(super) fn stored(tiles: &KernelOperator<'a, T>, watch: &Watch) -> Result<Self> {
        let size = tiles.nrows();
        let places: Vec<(usize, usize)> = (0..size.div_ceil(TILE)).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let kept = places
            .into_par_iter()
            .map(|(i, j)| {
                let (rows, cols) = (span(i, size), span(j, size));
                let mut tile = Mat::zeros(rows.1, cols.1);
                tiles.tile(rows, cols, tile.as_mut())?;
                Ok(tile)
            })
            .collect::<Result<_>>()?;
        Ok(Symmetric { entries: Entries::Stored(kept), size, watch: watch.clone() })
    }

    /// Calls `f` with tile (i, j), j ≤ i.
    fn with_tile(&self, i: usize, j: usize, buffer: &mut Mat<T>, f: impl FnOnce(MatRef<'_, T>)) -> Result<()> {
        match &self.entries {
            Entries::Stored(tiles) => f(tiles[i * (i + 1) / 2 + j].as_ref()),
            Entries::Evaluated(tiles) => {
                let (rows, cols) = (span(i, self.size), span(j, self.size));
                f(tiles.tile(rows, cols, buffer.as_mut().submatrix_mut(0, 0, rows.1, cols.1))?.rb());
            }
        }
        Ok(())
    }

    /// One band meets another (or itself): all their tiles, each used for both.
    fn meet<'b>(&self, v: MatRef<'_, T>, one: &Band<'b, T>, other: Option<&Band<'b, T>>) -> Result<()> {
        self.watch.check()?;
        let mut buffer = match self.entries {
            Entries::Evaluated(_) => Mat::zeros(TILE, TILE),
            Entries::Stored(_) => Mat::new(),
        };
        let mut lower = one.out.lock().unwrap_or_else(PoisonError::into_inner);
        let mut upper = other.map(|band| band.out.lock().unwrap_or_else(PoisonError::into_inner));
        for i in 0..lower.nrows().div_ceil(TILE) {
            let count = upper.as_ref().map_or(i + 1, |upper| upper.nrows().div_ceil(TILE));
            let first = other.map_or(one.first, |band| band.first);
            for j in 0..count {
                let at = (one.first + i, first + j);
                let ((row, rows), (col, cols)) = (span(at.0, self.size), span(at.1, self.size));
                self.with_tile(at.0, at.1, &mut buffer, |tile| {
                    let out = lower.rb_mut().subrows_mut(i * TILE, rows);
                    linalg::gemm(out, tile, v.subrows(col, cols), T::one());
                    if at.0 != at.1 {
                        let out = upper.as_deref_mut().unwrap_or(&mut *lower).rb_mut();
                        linalg::add_transpose_mul(out.subrows_mut(j * TILE, cols), tile, v.subrows(row, rows));
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Some tiles of rows of a result; what is written there is one thread's at a time.
struct Band<'a, T> {
    first: usize,
    out: Mutex<MatMut<'a, T>>,
}

/// First row and number of rows of a tile.
fn span(tile: usize, size: usize) -> (usize, usize) {
    (tile * TILE, TILE.min(size - tile * TILE))
}

/// Pairs of bands, each pair once, larger number first; nobody is in two pairs of a round.
fn rounds(bands: usize) -> Vec<Vec<(usize, usize)>> {
    let seats = bands + bands % 2;
    let pair = |a: usize, b: usize| (a.max(b), a.min(b));
    (0..seats.saturating_sub(1))
        .map(|round| {
            let turning =
                (1..seats / 2).map(|k| pair((round + k) % (seats - 1), (round + seats - 1 - k) % (seats - 1)));
            let fixed = std::iter::once(pair(round, seats - 1));
            fixed.chain(turning).filter(|&(larger, _)| larger < bands).collect()
        })
        .collect()
}

impl<T: Scalar> Operator<T> for Symmetric<'_, T> {
    fn nrows(&self) -> usize {
        self.size
    }

    fn ncols(&self) -> usize {
        self.size
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn access(&self) -> Access {
        match self.entries {
            Entries::Evaluated(_) => Access::Entries,
            Entries::Stored(_) => Access::Stored,
        }
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        let tiles = match &self.entries {
            Entries::Evaluated(tiles) => return tiles.block(rows, cols, out),
            Entries::Stored(tiles) => tiles,
        };
        out.rb_mut().par_col_chunks_mut(TILE).zip(cols.par_chunks(TILE)).for_each(|(out, cols)| {
            for (column, &col) in out.col_iter_mut().zip(cols) {
                for (value, &row) in column.iter_mut().zip(rows) {
                    let (i, j) = (row.max(col), row.min(col));
                    *value = tiles[(i / TILE) * (i / TILE + 1) / 2 + j / TILE][(i % TILE, j % TILE)];
                }
            }
        });
        Ok(())
    }

    fn single_suffices(&self) -> bool {
        matches!(&self.entries, Entries::Evaluated(tiles) if tiles.single_suffices())
    }

    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        match &self.entries {
            Entries::Evaluated(tiles) => tiles.block_single(rows, cols, out),
            Entries::Stored(_) => {
                let mut block = Mat::zeros(rows.len(), cols.len());
                self.block(rows, cols, block.as_mut())?;
                rounded(block.as_ref(), out);
                Ok(())
            }
        }
    }

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        /// Enough bands for many threads, few enough that a round is worth waiting for.
        const BANDS: usize = 64;
        out.fill(T::zero());
        let tiles = self.size.div_ceil(TILE).div_ceil(BANDS);
        let bands: Vec<Band<'_, T>> = out
            .par_row_chunks_mut(tiles * TILE)
            .enumerate()
            .map(|(at, out)| Band { first: at * tiles, out: Mutex::new(out) })
            .collect();
        for round in rounds(bands.len()) {
            round.into_par_iter().try_for_each(|(i, j)| self.meet(v, &bands[i], Some(&bands[j])))?;
        }
        bands.par_iter().try_for_each(|band| self.meet(v, band, None))
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.apply(u, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_bands_meets_once_and_nobody_twice_in_a_round() {
        for bands in 0..9 {
            let rounds = rounds(bands);
            let mut all: Vec<_> = rounds.iter().flatten().copied().collect();
            all.sort_unstable();
            let expected: Vec<_> = (0..bands).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            assert_eq!(all, expected);
            for round in rounds {
                let mut seats: Vec<_> = round.iter().flat_map(|&(i, j)| [i, j]).collect();
                let count = seats.len();
                seats.sort_unstable();
                seats.dedup();
                assert_eq!(seats.len(), count);
            }
        }
    }
}

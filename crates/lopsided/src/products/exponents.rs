//! Tiles of the Gaussian kernel for dense samples, with everything that does not depend on the pair made beforehand.

use super::TILE;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::kernel::pair::Meeting;
use crate::kernel::{Kernel, Separable};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Fewer samples than this on a side do not earn their preparation.
const WORTHWHILE: usize = 64;

/// Dense samples made ready for tiles of exp(−gamma·|x − z|²), in place of [`Kernel::block`].
///
/// The exponent is 2·gamma·⟨x − c, z − c⟩ − gamma·|x − c|² − gamma·|z − c|²: a product of two tiles, and numbers known
/// beforehand. The centre c is the mean of the larger side, so that samples far from the origin lose no digits.
///
/// # Cost
/// A copy of the samples; then 2·width operations, one addition of sizes and one vectorised exponential for each entry.
pub(crate) struct Exponents<T> {
    gamma: T,
    rows: Prepared<T>,
    /// `None` where the columns are the same samples as the rows.
    cols: Option<Prepared<T>>,
}

/// The samples of one side, moved to the centre.
struct Prepared<T> {
    /// x − c, [`TILE`] samples each.
    tiles: Vec<Mat<T>>,
    /// −gamma·|x − c|².
    sizes: Vec<T>,
}

impl<T: Scalar> Exponents<T> {
    /// `None` for kernels of another form, for sparse samples and for a handful of them.
    pub(crate) fn new(kernel: &dyn Kernel<T>, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> Option<Self> {
        let Some(Separable::Exponential { gamma, meeting: Meeting::Dot }) = kernel.separable() else { return None };
        let same = x.is(z);
        let (SamplesRef::Dense(x), SamplesRef::Dense(z)) = (x, z) else { return None };
        if x.nrows().min(z.nrows()) < WORTHWHILE {
            return None;
        }
        let center = means(if x.nrows() >= z.nrows() { x } else { z });
        let cols = (!same).then(|| Prepared::new(z, &center, gamma));
        Some(Exponents { gamma, rows: Prepared::new(x, &center, gamma), cols })
    }

    /// The same in single precision, where no entry is off by more than about `accuracy`.
    ///
    /// An exponent is the difference of numbers of at most twice the largest size, each with the rounding of single precision.
    pub(crate) fn narrowed(&self, accuracy: f64) -> Option<Exponents<f32>> {
        let largest = self.rows.sizes.iter().chain(&self.cols().sizes).map(|s| s.as_f64().abs()).fold(0.0, f64::max);
        let error = 0.5 * f32::eps() * (1.0 + 4.0 * largest);
        let worthwhile = T::BYTES > f32::BYTES && error <= accuracy;
        worthwhile.then(|| Exponents {
            gamma: f32::of(self.gamma.as_f64()),
            rows: self.rows.narrowed(),
            cols: self.cols.as_ref().map(Prepared::narrowed),
        })
    }

    /// Bytes that preparation may take.
    pub(crate) fn bytes(x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> u64 {
        let bytes = |samples: SamplesRef<'_, T>| match samples {
            SamplesRef::Dense(_) => samples.bytes() as u64,
            SamplesRef::Sparse(_) => 0,
        };
        bytes(x) + if x.is(z) { 0 } else { bytes(z) }
    }

    fn cols(&self) -> &Prepared<T> {
        self.cols.as_ref().unwrap_or(&self.rows)
    }

    /// out\[i, j\] ← 2·gamma·⟨x_i − c, z_j − c⟩ for rows of one tile and a tile of columns.
    fn products(&self, row: usize, col: usize, out: MatMut<'_, T>) {
        let (x, z) = (&self.rows.tiles[row / TILE], &self.cols().tiles[col / TILE]);
        let x = x.as_ref().subrows(row % TILE, out.nrows());
        linalg::replace(out, x, z.transpose(), self.gamma + self.gamma);
    }

    /// out ← exp(−gamma·|x − z|²) for any columns, and rows that mostly are neighbours: others would be slow.
    pub(crate) fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) {
        let z = self.cols().transposed(cols);
        let sizes: Vec<T> = cols.iter().map(|&j| self.cols().sizes[j]).collect();
        let pieces = out.par_row_chunks_mut(TILE).zip(rows.par_chunks(TILE));
        pieces.for_each(|(out, rows)| self.piece(rows, z.as_ref(), &sizes, out));
    }

    /// Some rows of a block, for columns z with their sizes.
    fn piece(&self, rows: &[usize], z: MatRef<'_, T>, sizes: &[T], mut out: MatMut<'_, T>) {
        for run in neighbours(rows) {
            let (row, count) = (rows[run.start], run.len());
            let x = self.rows.tiles[row / TILE].subrows(row % TILE, count);
            linalg::replace(out.rb_mut().subrows_mut(run.start, count), x, z, self.gamma + self.gamma);
        }
        let own: Vec<T> = rows.iter().map(|&i| self.rows.sizes[i]).collect();
        for (mut column, &size) in out.col_iter_mut().zip(sizes) {
            if let Some(column) = column.rb_mut().try_as_col_major_mut() {
                T::exp_zip(column.as_slice_mut(), &own, |v, s| negative(v + (s + size)));
            } else {
                let exponent = |v: T, s: T| num_traits::Float::exp(negative(v + (s + size)));
                column.iter_mut().zip(&own).for_each(|(v, &s)| *v = exponent(*v, s));
            }
        }
    }

    /// out ← −gamma·|x − z|².
    pub(crate) fn exponents(&self, row: usize, col: usize, mut out: MatMut<'_, T>) {
        self.products(row, col, out.rb_mut());
        for (j, column) in out.col_iter_mut().enumerate() {
            let size = self.cols().sizes[col + j];
            let sizes = &self.rows.sizes[row..];
            column.iter_mut().zip(sizes).for_each(|(v, &s)| *v = negative(*v + (s + size)));
        }
    }

    /// out ← exp(−gamma·|x − z|²), divided by exp(log_sums) where there are such.
    pub(crate) fn exponentials(&self, row: usize, col: usize, log_sums: Option<&[T]>, mut out: MatMut<'_, T>) {
        self.products(row, col, out.rb_mut());
        let sizes = &self.rows.sizes[row..row + out.nrows()];
        let shifted: Option<Vec<T>> = log_sums.map(|sums| sizes.iter().zip(sums).map(|(&s, &l)| s - l).collect());
        for (j, column) in out.col_iter_mut().enumerate() {
            let size = self.cols().sizes[col + j];
            // Tiles are whole columns, or pieces of them, of matrices that are stored by columns.
            let column = column.try_as_col_major_mut().expect("tiles have contiguous columns").as_slice_mut();
            match &shifted {
                // Softmax needs no bound: a row's sum has the same rounding.
                Some(shifted) => T::exp_zip(column, shifted, |v, s| v + (s + size)),
                None => T::exp_zip(column, sizes, |v, s| negative(v + (s + size))),
            }
        }
    }
}

impl<T: Scalar> Prepared<T> {
    /// Cuts the samples into tiles that are stored by columns, whatever the layout they come in.
    fn new(samples: MatRef<'_, T>, center: &[T], gamma: T) -> Self {
        let tiles: Vec<Mat<T>> = samples
            .par_row_chunks(TILE)
            .map(|rows| {
                let mut tile = rows.to_owned();
                tile.col_iter_mut().zip(center).for_each(|(column, &c)| column.iter_mut().for_each(|v| *v -= c));
                tile
            })
            .collect();
        let sizes = tiles
            .par_iter()
            .flat_map_iter(|tile| Meeting::Dot.sizes(SamplesRef::Dense(tile.as_ref())))
            .map(|size| -gamma * size)
            .collect();
        Prepared { tiles, sizes }
    }

    fn narrowed(&self) -> Prepared<f32> {
        let of = |v: &T| f32::of(v.as_f64());
        let narrow = |tile: &Mat<T>| {
            let mut out = Mat::zeros(tile.nrows(), tile.ncols());
            for (to, from) in out.col_iter_mut().zip(tile.col_iter()) {
                to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = of(from));
            }
            out
        };
        Prepared { tiles: self.tiles.par_iter().map(narrow).collect(), sizes: self.sizes.iter().map(of).collect() }
    }

    /// Some of the centred samples, a column each.
    fn transposed(&self, samples: &[usize]) -> Mat<T> {
        let mut out = Mat::zeros(self.tiles.first().map_or(0, Mat::ncols), samples.len());
        for (column, &i) in out.col_iter_mut().zip(samples) {
            let sample = self.tiles[i / TILE].row(i % TILE);
            column.iter_mut().zip(sample.iter()).for_each(|(to, &from)| *to = from);
        }
        out
    }
}

/// Where samples that follow each other within a tile stand in a list.
pub(crate) fn neighbours(samples: &[usize]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    for end in 1..=samples.len() {
        let ends = end == samples.len() || samples[end] != samples[end - 1] + 1 || samples[end].is_multiple_of(TILE);
        if ends {
            out.push(start..end);
            start = end;
        }
    }
    out
}

/// Distances are not negative, whatever rounding says.
#[inline]
fn negative<T: Scalar>(exponent: T) -> T {
    if exponent > T::zero() { T::zero() } else { exponent }
}

/// The mean of the samples.
pub(crate) fn means<T: Scalar>(samples: MatRef<'_, T>) -> Vec<T> {
    let count = T::of(samples.nrows() as f64);
    samples.par_col_iter().map(|column| column.iter().copied().sum::<T>() / count).collect()
}

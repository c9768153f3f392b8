use super::TILE;
use crate::kernel::pair::Meeting;
use crate::kernel::{Kernel, Separable};
use crate::linalg;
use crate::samples::SamplesRef;
use crate::scalar::Scalar;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Fewer samples than this on a side do not earn their preparation.
const WORTHWHILE: usize = 64;

/// Dense samples made ready for tiles of exp(−gamma·|x − z|²), in place of [`Kernel::block`].
///
/// The exponent is 2·gamma·⟨x − c, z − c⟩ − gamma·|x − c|² − gamma·|z − c|²: a product of two tiles, and numbers known
/// beforehand. The centre c is the mean of the larger side, so that samples far from the origin lose no digits.
pub(super) struct Exponents<T> {
    gamma: T,
    rows: Prepared<T>,
    /// `None` where the columns are the same samples as the rows.
    cols: Option<Prepared<T>>,
}

struct Prepared<T> {
    /// x − c, [`TILE`] samples each.
    tiles: Vec<Mat<T>>,
    /// −gamma·|x − c|².
    sizes: Vec<T>,
}

impl<T: Scalar> Exponents<T> {
    /// `None` for kernels of another form, for sparse samples and for a handful of them.
    pub(super) fn new(kernel: &dyn Kernel<T>, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> Option<Self> {
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

    /// Bytes that preparation may take.
    pub(super) fn bytes(x: SamplesRef<'_, T>, z: SamplesRef<'_, T>) -> u64 {
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

    /// out ← −gamma·|x − z|².
    pub(super) fn exponents(&self, row: usize, col: usize, mut out: MatMut<'_, T>) {
        self.products(row, col, out.rb_mut());
        for (j, column) in out.col_iter_mut().enumerate() {
            let size = self.cols().sizes[col + j];
            let sizes = &self.rows.sizes[row..];
            column.iter_mut().zip(sizes).for_each(|(v, &s)| *v = negative(*v + (s + size)));
        }
    }

    /// out ← exp(−gamma·|x − z|²), divided by exp(log_sums) where there are such.
    pub(super) fn exponentials(&self, row: usize, col: usize, log_sums: Option<&[T]>, mut out: MatMut<'_, T>) {
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
    fn new(samples: MatRef<'_, T>, center: &[T], gamma: T) -> Self {
        let tiles: Vec<Mat<T>> = samples
            .par_row_chunks(TILE)
            .map(|rows| Mat::from_fn(rows.nrows(), rows.ncols(), |i, k| rows[(i, k)] - center[k]))
            .collect();
        let sizes = tiles
            .par_iter()
            .flat_map_iter(|tile| Meeting::Dot.sizes(SamplesRef::Dense(tile.as_ref())))
            .map(|size| -gamma * size)
            .collect();
        Prepared { tiles, sizes }
    }
}

/// Distances are not negative, whatever rounding says.
#[inline]
fn negative<T: Scalar>(exponent: T) -> T {
    if exponent > T::zero() { T::zero() } else { exponent }
}

fn means<T: Scalar>(samples: MatRef<'_, T>) -> Vec<T> {
    let count = T::of(samples.nrows() as f64);
    samples.par_col_iter().map(|column| column.iter().copied().sum::<T>() / count).collect()
}

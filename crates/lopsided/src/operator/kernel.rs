//! G by tiles: what no memory can hold is evaluated again in every product.
//!
//! One product, tile by tile of 256×256 entries:
//!
//! 1. Scalar products of 256 row samples with 256 column samples, a small matrix product.
//! 2. The kernel's function of each of them, in place and vectorised. Where it is the exponential of a squared distance
//!    of dense samples, these are prepared beforehand, so that step 1 already gives the exponents.
//! 3. For softmax rows the logarithm of the row's sum is subtracted from the exponents, which therefore never overflow.
//! 4. The tile times its part of V, added to its part of the result.
//!
//! A thread owns the rows of the result that it adds to, and goes through the tiles of its rows in order: the sum of an
//! entry has one order, whatever the number of threads.

use super::{Access, Operator, rounded};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::SamplesRef;
use crate::kernel::{Kernel, Normalization};
use crate::products::TILE;
use crate::products::exponents::{Exponents, neighbours};
use crate::products::thin;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Rows of a strip that holds values of all columns: a divisor of [`TILE`].
const STRIP: usize = 64;
/// Rows whose sums are taken on one thread: a multiple of [`STRIP`].
const PART: usize = 4096;

/// G evaluated tile by tile in every product: memory O(tile), never O(n·m).
///
/// A tile is a matrix product of sample coordinates, the kernel's function in place, and a matrix product with V.
/// Tiles are spread over threads by rows for G·V and by columns for Gᵀ·U, so that no sum crosses threads.
///
/// # Cost
/// n·m·(width + r) operations for a product with r vectors; the kernel's function n·m times.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::{KernelOperator, Operator};
/// use lopsided::{Mat, Samples, Watch};
///
/// let x = Samples::Dense(Mat::from_fn(4, 1, |i, _| i as f64));
/// let kernel = KernelSpec::new("rbf").with("gamma", 1.0).build::<f64>()?;
/// let g = KernelOperator::new(&*kernel, x.as_ref(), x.as_ref(), None, &Watch::default())?;
/// let stored = g.to_dense()?;
/// assert!((stored[(0, 0)] - 1.0).abs() < 1e-12 && (stored[(3, 1)] - (-4.0_f64).exp()).abs() < 1e-12);
/// let mut sums = Mat::zeros(4, 1);
/// g.apply(Mat::from_fn(4, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert!((sums[(2, 0)] - stored.row(2).iter().sum::<f64>()).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct KernelOperator<'a, T: Scalar> {
    kernel: &'a dyn Kernel<T>,
    x: SamplesRef<'a, T>,
    z: SamplesRef<'a, T>,
    /// Logarithm of the row sums for [`Normalization::Softmax`].
    log_sums: Option<Vec<T>>,
    /// The quick way to the values, where there is one.
    exponents: Option<Exponents<T>>,
    /// The same for blocks that need not be exact.
    single: Option<Exponents<f32>>,
    access: Access,
    watch: Watch,
}

impl<'a, T: Scalar> KernelOperator<'a, T> {
    /// The kernel's values between X and Z before any [`Normalization::RowSum`]; softmax rows are normalised exactly.
    ///
    /// `log_sums` are those of an earlier operator, for columns that were not part of it.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of different widths, [`Error::Interrupted`] during the pass that sums softmax rows.
    pub fn new(
        kernel: &'a dyn Kernel<T>,
        x: SamplesRef<'a, T>,
        z: SamplesRef<'a, T>,
        log_sums: Option<Vec<T>>,
        watch: &Watch,
    ) -> Result<Self> {
        let mut operator = KernelOperator {
            exponents: Exponents::new(kernel, x, z),
            ..KernelOperator::unprepared(kernel, x, z, log_sums, watch)?
        };
        if kernel.normalization() == Normalization::Softmax && operator.log_sums.is_none() {
            operator.log_sums = Some(operator.log_sum_rows()?);
        }
        Ok(operator)
    }

    /// The same with nothing prepared for products, and softmax rows whose sums are given.
    pub(super) fn unprepared(
        kernel: &'a dyn Kernel<T>,
        x: SamplesRef<'a, T>,
        z: SamplesRef<'a, T>,
        log_sums: Option<Vec<T>>,
        watch: &Watch,
    ) -> Result<Self> {
        if x.width() != z.width() {
            return Err(Error::shape("the width of the column samples", x.width(), z.width()));
        }
        let (access, watch) = (Access::Entries, watch.clone());
        Ok(KernelOperator { kernel, x, z, log_sums, exponents: None, single: None, access, watch })
    }

    /// The same operator for solvers that must do with blocks of it.
    ///
    /// What was prepared for products is given up: scattered rows are copied together anyway.
    pub fn for_blocks(mut self) -> Self {
        self.access = Access::Blocks;
        self.exponents = None;
        self
    }

    /// The same operator for solvers that ask for blocks whose entries may be off by `accuracy`.
    pub(super) fn with_accuracy(mut self, accuracy: f64) -> Self {
        self.single = self.exponents.as_ref().and_then(|exact| exact.narrowed(accuracy));
        if self.single.is_some() {
            self.exponents = None;
        }
        self
    }

    /// Whether tiles come from prepared samples, at the rate of a matrix product.
    pub(crate) fn is_prepared(&self) -> bool {
        self.exponents.is_some()
    }

    /// Logarithm of each row's sum of exponentials.
    ///
    /// `None` for kernels without softmax rows.
    pub fn log_sums(&self) -> Option<&[T]> {
        self.log_sums.as_deref()
    }

    /// All of G in memory.
    ///
    /// # Cost
    /// n·m numbers.
    pub fn to_dense(&self) -> Result<Mat<T>> {
        let mut out = Mat::zeros(self.nrows(), self.ncols());
        out.as_mut().par_col_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            let cols = (at * TILE, out.ncols());
            tiles(self.nrows())
                .into_iter()
                .try_for_each(|rows| self.tile(rows, cols, out.rb_mut().subrows_mut(rows.0, rows.1)).map(|_| ()))
        })?;
        Ok(out)
    }

    /// One streaming pass that keeps the largest exponent and the sum relative to it.
    ///
    /// For a row with exponents e_j the pair (largest, Σ exp(e_j − largest)) is carried from tile to tile; when a
    /// larger exponent comes, the sum so far is multiplied by exp(old − new). The result is largest + ln(sum), exact
    /// for exponents of any size.
    fn log_sum_rows(&self) -> Result<Vec<T>> {
        let parts: Vec<Vec<T>> = tiles(self.x.count())
            .into_par_iter()
            .map(|rows| {
                let mut sums = LogSums::new(rows.1);
                let mut buffer = Mat::zeros(rows.1, TILE);
                for cols in tiles(self.z.count()) {
                    sums.add(self.raw_tile(rows, cols, buffer.as_mut().subcols_mut(0, cols.1))?);
                }
                Ok(sums.finish())
            })
            .collect::<Result<_>>()?;
        Ok(parts.concat())
    }

    /// The values of [`Kernel::block`].
    fn raw_tile<'b>(
        &self,
        (row, rows): (usize, usize),
        (col, cols): (usize, usize),
        mut out: MatMut<'b, T>,
    ) -> Result<MatMut<'b, T>> {
        self.watch.evaluating(rows * cols)?;
        match &self.exponents {
            Some(ready) if self.softmax() => ready.exponents(row, col, out.rb_mut()),
            Some(ready) => ready.exponentials(row, col, None, out.rb_mut()),
            None => self.kernel.block(self.x.subrows(row, rows), self.z.subrows(col, cols), out.rb_mut())?,
        }
        Ok(out)
    }

    /// The values of G; columns start at multiples of [`TILE`], rows lie between two of them.
    pub(super) fn tile<'b>(
        &self,
        rows: (usize, usize),
        cols: (usize, usize),
        mut out: MatMut<'b, T>,
    ) -> Result<MatMut<'b, T>> {
        let Some(log_sums) = self.log_sums.as_ref().map(|sums| &sums[rows.0..rows.0 + rows.1]) else {
            return self.raw_tile(rows, cols, out);
        };
        if let Some(ready) = &self.exponents {
            self.watch.evaluating(rows.1 * cols.1)?;
            ready.exponentials(rows.0, cols.0, Some(log_sums), out.rb_mut());
        } else {
            out = self.raw_tile(rows, cols, out)?;
            exponentiate(out.rb_mut(), log_sums);
        }
        Ok(out)
    }

    /// Gᵀ·W·(Y − G·H) with the weights W of the rows, 1 unless given: every value of G is made once.
    pub(crate) fn residual_moments(
        &self,
        y: MatRef<'_, f64>,
        h: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Result<Mat<f64>> {
        let strips = || Mat::zeros(STRIP, self.ncols());
        self.sum_over_strips(y.ncols(), &strips, |(start, len), strip, sum| {
            let strip = self.strip(start, strip.as_mut().subrows_mut(0, len))?;
            let mut left = y.subrows(start, len).to_owned();
            linalg::gemm(left.as_mut(), strip.rb(), h, -1.0);
            weigh(&mut left, weights.map(|w| &w[start..start + len]));
            linalg::add_transpose_mul(sum.as_mut(), strip.rb(), left.as_ref());
            Ok(())
        })
    }

    /// The same in the arithmetic of T, sums over strips excepted.
    pub(crate) fn quick_moments(
        &self,
        y: MatRef<'_, f64>,
        h: MatRef<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Result<Mat<f64>> {
        let h: Vec<Vec<T>> = h.col_iter().map(|h| h.iter().map(|&v| T::of(v)).collect()).collect();
        let strips = || Mat::<T>::zeros(STRIP, self.ncols());
        self.sum_over_strips(y.ncols(), &strips, |(start, len), strip, sum| {
            let mut strip = strip.as_mut().subrows_mut(0, len);
            for (col, cols) in tiles(self.ncols()) {
                self.tile((start, len), (col, cols), strip.rb_mut().subcols_mut(col, cols))?;
            }
            for c in 0..y.ncols() {
                let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
                let mut left: Vec<T> = (start..start + len).map(|i| T::of(y[(i, c)])).collect();
                thin::subtract_product(strip.rb(), &h[c], &mut left);
                left.iter_mut().zip(start..).for_each(|(v, i)| *v *= T::of(weight(i)));
                thin::add_transposed(strip.rb(), &left, sum.col_as_slice_mut(c));
            }
            Ok(())
        })
    }

    /// The sum of what `add` makes of strips of rows, given by their first one and number: [`PART`] rows on one thread.
    fn sum_over_strips<S: Send>(
        &self,
        cols: usize,
        strips: &(impl Fn() -> S + Sync),
        add: impl Fn((usize, usize), &mut S, &mut Mat<f64>) -> Result<()> + Sync,
    ) -> Result<Mat<f64>> {
        let parts: Vec<Mat<f64>> = (0..self.nrows().div_ceil(PART))
            .into_par_iter()
            .map(|part| {
                let (first, end) = (part * PART, self.nrows().min((part + 1) * PART));
                let (mut sum, mut strip) = (Mat::zeros(self.ncols(), cols), strips());
                for start in (first..end).step_by(STRIP) {
                    add((start, STRIP.min(end - start)), &mut strip, &mut sum)?;
                }
                Ok(sum)
            })
            .collect::<Result<_>>()?;
        let mut sum = Mat::zeros(self.ncols(), cols);
        parts.iter().for_each(|part| sum += part);
        Ok(sum)
    }

    /// All columns of some rows of one tile.
    fn strip<'b>(&self, start: usize, mut out: MatMut<'b, f64>) -> Result<MatMut<'b, f64>> {
        for (col, cols) in tiles(self.ncols()) {
            let mut out = out.rb_mut().subcols_mut(col, cols);
            let rows = (start, out.nrows());
            if let Some(out) = T::same_mut(out.rb_mut()) {
                self.tile(rows, (col, cols), out)?;
            } else {
                let mut narrow = Mat::zeros(rows.1, cols);
                self.tile(rows, (col, cols), narrow.as_mut())?;
                for (out, narrow) in out.col_iter_mut().zip(narrow.col_iter()) {
                    out.iter_mut().zip(narrow.iter()).for_each(|(o, v)| *o = v.as_f64());
                }
            }
        }
        Ok(out)
    }

    /// Whether a block of these rows comes from prepared samples: shorter runs of neighbours are as well copied.
    fn is_quick(&self, rows: &[usize]) -> bool {
        self.log_sums.is_none() && 8 * neighbours(rows).len() <= rows.len()
    }

    fn softmax(&self) -> bool {
        self.kernel.normalization() == Normalization::Softmax
    }
}

/// Rows times their weights.
fn weigh<T: Scalar>(rows: &mut Mat<T>, weights: Option<&[f64]>) {
    if let Some(weights) = weights {
        rows.col_iter_mut().for_each(|col| col.iter_mut().zip(weights).for_each(|(v, &w)| *v *= T::of(w)));
    }
}

/// Sums of exponentials by row, relative to the largest exponent so far.
///
/// They start with the largest exponent −∞ and the sum 0, so that the first tile is like any other.
struct LogSums<T> {
    largest: Vec<T>,
    sums: Vec<T>,
}

impl<T: Scalar> LogSums<T> {
    fn new(rows: usize) -> Self {
        LogSums { largest: vec![T::neg_infinity(); rows], sums: vec![T::zero(); rows] }
    }

    fn add(&mut self, mut tile: MatMut<'_, T>) {
        let before = self.largest.clone();
        for column in tile.rb().col_iter() {
            self.largest.iter_mut().zip(column.iter()).for_each(|(l, &v)| *l = if v > *l { v } else { *l });
        }
        for ((sum, &old), &new) in self.sums.iter_mut().zip(&before).zip(&self.largest) {
            if new > old {
                *sum *= num_traits::Float::exp(old - new);
            }
        }
        exponentiate(tile.rb_mut(), &self.largest);
        for column in tile.rb().col_iter() {
            self.sums.iter_mut().zip(column.iter()).for_each(|(sum, &v)| *sum += v);
        }
    }

    fn finish(self) -> Vec<T> {
        self.largest.iter().zip(&self.sums).map(|(&l, &s)| l + num_traits::Float::ln(s)).collect()
    }
}

/// tile\[i, j\] ← exp(tile\[i, j\] − log_sums\[i\]).
fn exponentiate<T: Scalar>(tile: MatMut<'_, T>, log_sums: &[T]) {
    for mut column in tile.col_iter_mut() {
        match column.rb_mut().try_as_col_major_mut() {
            Some(contiguous) => T::exp_zip(contiguous.as_slice_mut(), log_sums, |v, log_sum| v - log_sum),
            None => column.iter_mut().zip(log_sums).for_each(|(v, &l)| *v = num_traits::Float::exp(*v - l)),
        }
    }
}

impl<T: Scalar> Operator<T> for KernelOperator<'_, T> {
    fn nrows(&self) -> usize {
        self.x.count()
    }

    fn ncols(&self) -> usize {
        self.z.count()
    }

    fn access(&self) -> Access {
        self.access
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        if self.is_quick(rows) {
            if let Some(ready) = &self.exponents {
                self.watch.evaluating(rows.len() * cols.len())?;
                ready.block(rows, cols, out);
                return Ok(());
            }
            if self.single.is_some() {
                let mut single = Mat::zeros(rows.len(), cols.len());
                self.block_single(rows, cols, single.as_mut())?;
                for (to, from) in out.col_iter_mut().zip(single.col_iter()) {
                    to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = T::of(from.as_f64()));
                }
                return Ok(());
            }
        }
        let (x, z) = (self.x.select(rows), self.z.select(cols));
        out.rb_mut().par_col_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            self.watch.evaluating(rows.len() * out.ncols())?;
            self.kernel.block(x.as_ref(), z.as_ref().subrows(at * TILE, out.ncols()), out.rb_mut())?;
            if let Some(log_sums) = &self.log_sums {
                let picked: Vec<T> = rows.iter().map(|&i| log_sums[i]).collect();
                exponentiate(out, &picked);
            }
            Ok(())
        })
    }

    fn single_suffices(&self) -> bool {
        self.single.is_some()
    }

    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        if let Some(ready) = self.single.as_ref().filter(|_| self.is_quick(rows)) {
            self.watch.evaluating(rows.len() * cols.len())?;
            ready.block(rows, cols, out);
            return Ok(());
        }
        let mut block = Mat::zeros(rows.len(), cols.len());
        self.block(rows, cols, block.as_mut())?;
        rounded(block.as_ref(), out);
        Ok(())
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        out.par_row_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            out.fill(T::zero());
            let rows = (at * TILE, out.nrows());
            let mut buffer = Mat::zeros(rows.1, TILE);
            for cols in tiles(self.z.count()) {
                let tile = self.tile(rows, cols, buffer.as_mut().subcols_mut(0, cols.1))?;
                linalg::gemm(out.rb_mut(), tile.as_ref(), v.subrows(cols.0, cols.1), T::one());
            }
            Ok(())
        })
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        out.par_row_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            out.fill(T::zero());
            let cols = (at * TILE, out.nrows());
            let mut buffer = Mat::zeros(TILE, cols.1);
            for rows in tiles(self.x.count()) {
                let tile = self.tile(rows, cols, buffer.as_mut().subrows_mut(0, rows.1))?;
                linalg::add_transpose_mul(out.rb_mut(), tile.as_ref(), u.subrows(rows.0, rows.1));
            }
            Ok(())
        })
    }
}

fn tiles(count: usize) -> Vec<(usize, usize)> {
    (0..count).step_by(TILE).map(|start| (start, TILE.min(count - start))).collect()
}

//! Rank one plus sparse: the exact form of kernel matrices between sparse samples.
//!
//! Two sparse samples mostly share no coordinate. Their kernel value is then a product of one number of each, so that
//! all such values together are a matrix of rank one, and only the pairs that do meet have to be stored.
//!
//! | kernel | α_i·β_j | C_ij, where S_ij ≠ 0 |
//! | --- | --- | --- |
//! | exp(−gamma·distance) | exp(−gamma·size(x_i))·exp(−gamma·size(z_j)) | exp(all) − α_i·β_j |
//! | f(⟨x, z⟩) | f(0) | f(S_ij) − f(0) |
//! | ⟨x, z⟩ | none | S_ij |
//!
//! Differences of exponentials are taken by `expm1` or after a shift, whichever loses no digits; a softmax row whose
//! dense part would cancel is stored whole instead.

use super::{Access, Operator};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::{Csr, CsrRef};
use crate::kernel::pair::Meeting;
use crate::kernel::{Kernel, Normalization, Separable};
use crate::products::strips::Strips;
use faer::{MatMut, MatRef};
use rayon::prelude::*;

/// The dense part α·βᵀ of a rank-one-plus-sparse matrix.
#[derive(Clone, Debug)]
pub struct RankOne<T> {
    /// One factor per row.
    pub rows: Vec<T>,
    /// One factor per column.
    pub cols: Vec<T>,
}

/// G = α·βᵀ + C with a sparse C: exact for sparse samples and separable kernels.
///
/// For S = X·Zᵀ, exp(−gamma(|x_i|² + |z_j|² − 2S_ij)) = a_i b_j + a_i b_j·expm1(2·gamma·S_ij), and the second term
/// vanishes wherever S_ij does. Row normalisation keeps the form. Products cost nnz(S)·r + (n + m)·r instead of n·m·(d + r).
///
/// ```
/// use lopsided::operator::{Operator, RankOne, SparseOperator};
/// use lopsided::{Csr, Mat};
///
/// let ones = RankOne { rows: vec![1.0, 2.0], cols: vec![1.0, 1.0] };
/// let g = SparseOperator::new(Some(ones), Csr::from_triplets(2, 2, &[(0, 1, 5.0)])); // [1 6; 2 2]
/// let mut sums = Mat::zeros(2, 1);
/// g.apply(Mat::from_fn(2, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert_eq!((sums[(0, 0)], sums[(1, 0)], g.nnz()), (7.0, 4.0, 1));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct SparseOperator<T> {
    rank_one: Option<RankOne<T>>,
    sparse: Strips<T>,
    transpose: Strips<T>,
    log_sums: Option<Vec<T>>,
}

impl<T: Scalar> SparseOperator<T> {
    /// α·βᵀ + C.
    pub fn new(rank_one: Option<RankOne<T>>, sparse: Csr<T>) -> Self {
        let sparse = Strips::new(sparse);
        SparseOperator { rank_one, transpose: sparse.transpose(), sparse, log_sums: None }
    }

    /// The matrix of a separable kernel between sparse samples.
    ///
    /// `log_sums` are those of an earlier operator for [`Normalization::Softmax`], for columns that were not part of it.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel that is not separable.
    ///
    /// ```
    /// use lopsided::kernel::KernelSpec;
    /// use lopsided::operator::{Operator, SparseOperator};
    /// use lopsided::{Csr, Mat, Watch};
    ///
    /// let units = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]); // the two unit vectors meet only themselves
    /// let kernel = KernelSpec::new("rbf").with("gamma", 0.5).build::<f64>()?;
    /// let g = SparseOperator::from_kernel(&*kernel, units.as_ref(), units.as_ref(), None, &Watch::default())?;
    /// let mut row = Mat::zeros(1, 2);
    /// g.block(&[0], &[0, 1], row.as_mut())?;
    /// assert!((row[(0, 0)] - 1.0).abs() < 1e-12 && (row[(0, 1)] - (-1.0_f64).exp()).abs() < 1e-12);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn from_kernel(
        kernel: &dyn Kernel<T>,
        x: CsrRef<'_, T>,
        z: CsrRef<'_, T>,
        log_sums: Option<Vec<T>>,
        watch: &Watch,
    ) -> Result<Self> {
        let zt = z.to_owned().transpose();
        match kernel.separable() {
            Some(Separable::Dot) => Ok(SparseOperator::new(None, meetings(Meeting::Dot, x, &zt, watch)?)),
            Some(Separable::OfDot(f)) => {
                let mut s = meetings(Meeting::Dot, x, &zt, watch)?;
                let at_zero = f(T::zero());
                s.values_mut().par_iter_mut().for_each(|v| *v = f(*v) - at_zero);
                let constant = RankOne { rows: vec![at_zero; x.nrows()], cols: vec![T::one(); z.nrows()] };
                Ok(SparseOperator::new(Some(constant), s))
            }
            Some(Separable::Exponential { gamma, meeting }) => {
                let softmax = kernel.normalization() == Normalization::Softmax;
                let s = meetings(meeting, x, &zt, watch)?;
                let exponents = Exponents::new(gamma, meeting, x, z, s);
                Ok(if softmax { exponents.softmax(log_sums) } else { exponents.plain() })
            }
            None => Err(Error::param("operator", "sparse", "`tiles` or `dense` for a kernel that is not separable")),
        }
    }

    /// Logarithm of each row's sum of exponentials, for softmax rows.
    pub fn log_sums(&self) -> Option<&[T]> {
        self.log_sums.as_deref()
    }

    /// Stored entries of C.
    pub fn nnz(&self) -> usize {
        self.sparse.nnz()
    }
}

/// Logarithm of how much larger than a row's sum its dense part may be: at most three digits cancel.
const CANCELLATION: f64 = 7.0;

/// Exponents rows\[i\] + cols\[j\] + met\[i, j\], kept apart so that nothing under- or overflows before it must.
struct Exponents<T> {
    rows: Vec<T>,
    cols: Vec<T>,
    met: Csr<T>,
}

impl<T: Scalar> Exponents<T> {
    fn new(gamma: T, meeting: Meeting, x: CsrRef<'_, T>, z: CsrRef<'_, T>, mut met: Csr<T>) -> Self {
        let factor = if meeting == Meeting::Dot { gamma + gamma } else { gamma };
        met.values_mut().par_iter_mut().for_each(|v| *v *= factor);
        let scaled = |sizes: Vec<T>| sizes.into_iter().map(|s| -gamma * s).collect();
        let sizes = |side| scaled(meeting.sizes(crate::data::samples::SamplesRef::Sparse(side)));
        Exponents { rows: sizes(x), cols: sizes(z), met }
    }

    /// G = α·βᵀ + C without any normalisation.
    fn plain(mut self) -> SparseOperator<T> {
        self.met.update_rows(|i, cols, vals| {
            let row = self.rows[i];
            cols.iter().zip(vals).for_each(|(&j, v)| *v = difference(row + self.cols[j as usize], *v));
        });
        let exp = |values: &[T]| values.iter().map(|v| v.exp()).collect();
        let rank_one = RankOne { rows: exp(&self.rows), cols: exp(&self.cols) };
        SparseOperator::new(Some(rank_one), self.met)
    }

    /// Rows divided by their sums. A row's own exponent cancels, so only cols\[j\] + met\[i, j\] matters.
    fn softmax(mut self, log_sums: Option<Vec<T>>) -> SparseOperator<T> {
        let top = self.cols.iter().copied().fold(T::neg_infinity(), T::max);
        let shifted: Vec<T> = self.cols.iter().map(|&c| c - top).collect();
        let base: T = shifted.iter().map(|s| s.exp()).sum();
        // log_sums of the caller include the row's exponent, as the tile operator's do.
        let log_sums = log_sums.unwrap_or_else(|| {
            let log_sum = |i: usize| self.rows[i] + top + self.log_row_sum(i, &shifted, base);
            (0..self.met.nrows()).into_par_iter().map(log_sum).collect()
        });
        let offsets: Vec<T> = log_sums.iter().zip(&self.rows).map(|(&l, &row)| row + top - l).collect();
        if offsets.iter().any(|&o| o.as_f64() > CANCELLATION) {
            self.store_cancelling_rows(&offsets, &shifted);
        }
        let is_stored = |offset: &T| offset.as_f64() > CANCELLATION;
        self.met.update_rows(|i, cols, vals| {
            if !is_stored(&offsets[i]) {
                cols.iter().zip(vals).for_each(|(&j, v)| *v = difference(offsets[i] + shifted[j as usize], *v));
            }
        });
        let rows = offsets.iter().map(|offset| if is_stored(offset) { T::zero() } else { offset.exp() }).collect();
        let cols = shifted.iter().map(|s| s.exp()).collect();
        let mut operator = SparseOperator::new(Some(RankOne { rows, cols }), self.met);
        operator.log_sums = Some(log_sums);
        operator
    }

    /// Replaces rows whose dense part dwarfs their values (negative meetings with nearly every column) by all their values.
    fn store_cancelling_rows(&mut self, offsets: &[T], shifted: &[T]) {
        let met = &self.met;
        let whole = |i: usize, cells: &mut Vec<(u32, T)>| {
            cells.extend(shifted.iter().enumerate().map(|(j, &s)| (j as u32, offsets[i] + s)));
            let (cols, vals) = met.as_ref().row(i);
            cols.iter().zip(vals).for_each(|(&j, &v)| cells[j as usize].1 += v);
            cells.iter_mut().for_each(|c| c.1 = c.1.exp());
        };
        self.met = Csr::from_parallel_rows(
            met.nrows(),
            met.ncols(),
            || (),
            |(), i, cells| {
                if offsets[i].as_f64() > CANCELLATION {
                    whole(i, cells);
                } else {
                    let (cols, vals) = met.as_ref().row(i);
                    cells.extend(cols.iter().copied().zip(vals.iter().copied()));
                }
            },
        );
    }

    /// ln Σ_j exp(shifted\[j\] + met\[i, j\]), relative to the row's largest exponent.
    fn log_row_sum(&self, i: usize, shifted: &[T], base: T) -> T {
        let (cols, vals) = self.met.as_ref().row(i);
        let met: T = cols.iter().map(|&j| shifted[j as usize].exp()).sum();
        let mut exponents: Vec<T> = cols.iter().zip(vals).map(|(&j, &v)| shifted[j as usize] + v).collect();
        let mut rest = base - met;
        if met > T::of(0.9) * base {
            // What the met columns leave of the sum would be rounding: go through all columns.
            exponents = shifted.to_vec();
            cols.iter().zip(vals).for_each(|(&j, &v)| exponents[j as usize] += v);
            rest = T::zero();
        }
        let floor = if rest > T::zero() { T::zero() } else { T::neg_infinity() };
        let largest = exponents.iter().copied().fold(floor, T::max);
        let sum: T = exponents.iter().map(|&e| (e - largest).exp()).sum();
        let rest = if rest > T::zero() { rest * (-largest).exp() } else { T::zero() };
        largest + (sum + rest).ln()
    }
}

/// exp(base + step) − exp(base), without cancellation for small steps and without overflow for large ones.
fn difference<T: Scalar>(base: T, step: T) -> T {
    if step < T::one() { base.exp() * step.exp_m1() } else { (base + step).exp() - base.exp() }
}

/// S\[i, j\] = how x_i and z_j meet, for all pairs that share a coordinate; `zt` has one row per coordinate.
///
/// # Cost
/// Σ over coordinates of (entries of X there)·(entries of Z there), the terms of all scalar products that do not
/// vanish.
fn meetings<T: Scalar>(meeting: Meeting, x: CsrRef<'_, T>, zt: &Csr<T>, watch: &Watch) -> Result<Csr<T>> {
    let m = zt.ncols();
    let s = Csr::from_parallel_rows(
        x.nrows(),
        m,
        || vec![None::<T>; m],
        |sums, i, cells| {
            if watch.check().is_err() {
                return;
            }
            let (cols, vals) = x.row(i);
            for (&k, &xk) in cols.iter().zip(vals) {
                let (zcols, zvals) = zt.as_ref().row(k as usize);
                for (&j, &zk) in zcols.iter().zip(zvals) {
                    let sum = &mut sums[j as usize];
                    if sum.is_none() {
                        cells.push((j, T::zero()));
                    }
                    *sum = Some(sum.unwrap_or(T::zero()) + meeting.contribution(xk, zk));
                }
            }
            cells.sort_unstable_by_key(|c| c.0);
            for cell in cells.iter_mut() {
                cell.1 = sums[cell.0 as usize].take().unwrap_or(T::zero());
            }
            cells.retain(|c| c.1 != T::zero());
        },
    );
    watch.evaluating(s.nnz())?;
    Ok(s)
}

/// How many entries S has, without forming it: exact products of the counts, corrected by the overlap seen in a
/// sample of rows.
pub(super) fn estimate_meetings<T: Scalar>(x: CsrRef<'_, T>, z: CsrRef<'_, T>) -> u64 {
    const SAMPLE: usize = 512;
    let mut counts = vec![0u64; z.ncols()];
    for j in 0..z.nrows() {
        z.row(j).0.iter().for_each(|&k| counts[k as usize] += 1);
    }
    let terms = |i: usize| -> u64 { x.row(i).0.iter().map(|&k| counts[k as usize]).sum() };
    let total: u64 = (0..x.nrows()).into_par_iter().map(terms).sum();
    if total <= 1 << 20 {
        return total;
    }
    let zt = z.to_owned().transpose();
    let step = (x.nrows() / SAMPLE).max(1);
    let mut seen = vec![usize::MAX; z.nrows()];
    let (mut sampled_terms, mut sampled_entries) = (0u64, 0u64);
    for i in (0..x.nrows()).step_by(step) {
        sampled_terms += terms(i);
        for &k in x.row(i).0 {
            for &j in zt.as_ref().row(k as usize).0 {
                if std::mem::replace(&mut seen[j as usize], i) != i {
                    sampled_entries += 1;
                }
            }
        }
    }
    let share = if sampled_terms == 0 { 1.0 } else { sampled_entries as f64 / sampled_terms as f64 };
    ((total as f64 * share) as u64).min(x.nrows() as u64 * z.nrows() as u64)
}

impl<T: Scalar> Operator<T> for SparseOperator<T> {
    fn nrows(&self) -> usize {
        self.sparse.nrows()
    }

    fn ncols(&self) -> usize {
        self.sparse.ncols()
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        for (i, &row) in rows.iter().enumerate() {
            for (j, &col) in cols.iter().enumerate() {
                let dense = self.rank_one.as_ref().map_or(T::zero(), |r| r.rows[row] * r.cols[col]);
                out[(i, j)] = dense + self.sparse.entry(row, col);
            }
        }
        Ok(())
    }

    fn access(&self) -> Access {
        Access::Products
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let dense = self.rank_one.as_ref().map(|r| (&r.rows[..], &r.cols[..]));
        self.sparse.multiply(v, dense, out);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let dense = self.rank_one.as_ref().map(|r| (&r.cols[..], &r.rows[..]));
        self.transpose.multiply(u, dense, out);
        Ok(())
    }
}

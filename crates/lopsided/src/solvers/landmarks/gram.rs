//! The positive semidefinite matrix that samplers look at.
//!
//! Leverage scores and pivots belong to such matrices. A symmetric G is one itself, or is refused by the sampler that
//! finds a negative diagonal; for any other G the rows are compared by G·Gᵀ and the columns by Gᵀ·G, whose entries need
//! whole rows or columns.

use super::size;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::{Access, Operator, Submatrix};
use faer::Mat;

/// Rows and columns compared to see whether G is symmetric.
const COMPARED: usize = 48;
/// Up to this many samples a product is affordable for the same purpose.
const SMALL: usize = 2048;
/// Side of the blocks along the diagonal.
const DIAGONAL: usize = 32;
/// Rows handled as one piece.
const PIECE: usize = 256;

/// The positive semidefinite matrix of a side: G itself where it is symmetric, else G·Gᵀ of rows, Gᵀ·G of columns.
pub(super) struct Gram<'a, T: Scalar> {
    g: &'a dyn Operator<T>,
    side: Side,
    squared: bool,
}

impl<'a, T: Scalar> Gram<'a, T> {
    /// Looks whether G is symmetric; `sampler` is named in errors.
    pub(super) fn new(g: &'a dyn Operator<T>, side: Side, sampler: &str) -> Result<Self> {
        let squared = !is_symmetric(g)?;
        if squared && g.access() == Access::Blocks {
            let allowed = "`uniform` where G is not symmetric and products with all of it are out of reach";
            return Err(Error::param("sampler", sampler, allowed));
        }
        Ok(Gram { g, side, squared })
    }

    pub(super) fn size(&self) -> usize {
        size(self.g, self.side)
    }

    /// The diagonal.
    pub(super) fn diagonal(&self) -> Result<Vec<f64>> {
        let all: Vec<usize> = (0..self.size()).collect();
        let mut out = Vec::with_capacity(all.len());
        for here in all.chunks(if self.squared { PIECE } else { DIAGONAL }) {
            let block = if self.squared { self.whole(here)? } else { entries(self.g, here, here)? };
            let square = |at: usize| block.col(at).iter().map(|v| v * v).sum::<f64>();
            out.extend((0..here.len()).map(|at| if self.squared { square(at) } else { block[(at, at)] }));
        }
        Ok(out)
    }

    /// Whole columns.
    pub(super) fn columns(&self, which: &[usize]) -> Result<Mat<f64>> {
        let mut out = Mat::<T>::zeros(self.size(), which.len());
        if self.squared {
            let whole = narrowed::<T>(&self.whole(which)?);
            match self.side {
                Side::Row => self.g.apply(whole.as_ref(), out.as_mut())?,
                Side::Col => self.g.apply_transpose(whole.as_ref(), out.as_mut())?,
            }
        } else {
            let identity = Mat::<T>::identity(which.len(), which.len());
            Submatrix::new(self.g, None, Some(which)).apply(identity.as_ref(), out.as_mut())?;
        }
        Ok(widened(&out))
    }

    /// The block of some rows and columns.
    pub(super) fn block(&self, rows: &[usize], cols: &[usize]) -> Result<Mat<f64>> {
        if !self.squared {
            return entries(self.g, rows, cols);
        }
        let columns = self.columns(cols)?;
        Ok(Mat::from_fn(rows.len(), cols.len(), |i, j| columns[(rows[i], j)]))
    }

    /// Rows of G as columns, or columns of G.
    fn whole(&self, which: &[usize]) -> Result<Mat<f64>> {
        let identity = Mat::<T>::identity(which.len(), which.len());
        let there = if self.side == Side::Row { self.g.ncols() } else { self.g.nrows() };
        let mut out = Mat::<T>::zeros(there, which.len());
        match self.side {
            Side::Row => {
                Submatrix::new(self.g, Some(which), None).apply_transpose(identity.as_ref(), out.as_mut())?;
            }
            Side::Col => Submatrix::new(self.g, None, Some(which)).apply(identity.as_ref(), out.as_mut())?,
        }
        Ok(widened(&out))
    }
}

/// Whether G equals its transpose, judged by a random block and, where that is cheap, by a random product.
///
/// 1. 48 random rows and columns: their block must equal its transpose to 1000·ε.
/// 2. Where a product is cheap or there are at most 2048 samples, G·ω = Gᵀ·ω for a Gaussian ω, which sees every entry.
pub(crate) fn is_symmetric<T: Scalar>(g: &dyn Operator<T>) -> Result<bool> {
    let n = g.nrows();
    if n != g.ncols() {
        return Ok(false);
    }
    let mut rng = random::generator(0, Purpose::SymmetryProbes);
    let some = random::subset(n, COMPARED.min(n), &mut rng);
    let block = entries(g, &some, &some)?;
    let tol = 1e3 * T::eps();
    if (&block - block.transpose()).norm_max() > tol * block.norm_max() {
        return Ok(false);
    }
    if g.access() != Access::Products && n > SMALL {
        return Ok(true);
    }
    let probe = random::gaussian::<T>(n, 1, &mut rng);
    let (mut one, mut other) = (Mat::<T>::zeros(n, 1), Mat::<T>::zeros(n, 1));
    g.apply(probe.as_ref(), one.as_mut())?;
    g.apply_transpose(probe.as_ref(), other.as_mut())?;
    Ok((&one - &other).norm_l2().as_f64() <= tol * (n as f64).sqrt() * one.norm_l2().as_f64())
}

fn entries<T: Scalar>(g: &dyn Operator<T>, rows: &[usize], cols: &[usize]) -> Result<Mat<f64>> {
    let mut out = Mat::<T>::zeros(rows.len(), cols.len());
    g.block(rows, cols, out.as_mut())?;
    Ok(widened(&out))
}

fn widened<T: Scalar>(m: &Mat<T>) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].as_f64())
}

fn narrowed<T: Scalar>(m: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| T::of(m[(i, j)]))
}

//! The matrix G, multiplied but never stored unless that is asked for.
//!
//! | operator | G | a product with r vectors costs |
//! | --- | --- | --- |
//! | [`SparseOperator`] | α·βᵀ + C with a sparse C, exact for sparse samples | nnz(C)·r + (n + m)·r |
//! | [`ProductOperator`] | X·Zᵀ, the linear kernel | (nnz(X) + nnz(Z))·r |
//! | [`KernelOperator`] | evaluated tile by tile in every product | n·m·(width + r) |
//! | [`DeviceOperator`] | evaluated in every product by a card | n·m·(width + r) there |
//! | [`DenseOperator`] | stored, where it is small or given | n·m·r |
//! | [`Symmetric`] | one half of it evaluated or stored, where Z = X | half the entries of those two |
//! | [`Katz`], [`PageRank`] | power series of a graph's matrix P | nnz(P)·r per term |
//! | [`ShortestPaths`] | similarities of a graph's nodes, stored sparse | nnz·r |
//! | [`StreamedOperator`] | a sparse matrix out of core | nnz·r and a pass over its rows |
//!
//! [`Centered`] and [`Scaled`] wrap any of them. [`KernelMatrix`] chooses by kernel, samples and memory, says why, and
//! refuses before anything too large is allocated. Sums never cross threads, so the bits do not depend on their number.
//!
//! ```
//! use lopsided::kernel::KernelSpec;
//! use lopsided::operator::KernelMatrix;
//! use lopsided::{Mat, Samples};
//!
//! let x = Samples::Dense(Mat::from_fn(5, 2, |i, j| (i + j) as f64));
//! let kernel = KernelSpec::new("sne").with("gamma", 0.1).build::<f64>()?;
//! let built = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).build()?;
//! let mut sums = Mat::zeros(5, 1);
//! built.operator.apply(Mat::from_fn(5, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
//! assert!((0..5).all(|i| (sums[(i, 0)] - 1.0_f64).abs() < 1e-12)); // rows of SNE are probabilities
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! **Where to start.** Whoever has a kernel and samples takes [`KernelMatrix`], which plans and builds. Whoever has a
//! matrix takes [`DenseOperator`] (in memory), [`SparseOperator`] (sparse, perhaps plus rank one) or
//! [`StreamedOperator`] (on disk). Whoever has something else implements [`Operator`], for which three functions
//! suffice. A solver asks [`Operator::access`] what is cheap before it decides between products and entries:
//!
//! | [`Access`] | a product with all of G | its entries | solvers then |
//! | --- | --- | --- | --- |
//! | `Products` | cheap | dearer than products | multiply narrow blocks of vectors |
//! | `Entries` | costs every entry | evaluated when asked for | multiply wide blocks: an evaluation serves all |
//! | `Stored` | a pass over memory | read | multiply a few vectors for the price of one |
//! | `Blocks` | out of reach | evaluated when asked for | sample: Nyström and nothing else |
//!
//! **How the parts work together.** A *plan* (`plan`) compares what each kind would cost and refuses what does not fit
//! the memory; `build` makes the operator of the plan and wraps it in counters, so that a [`crate::Watch`] can tell how
//! many kernel values were evaluated. Wrappers then change G without touching its entries:
//!
//! | wrapper | G becomes | extra cost of a product with r vectors |
//! | --- | --- | --- |
//! | [`Scaled`] | diag(s)·G | n·r |
//! | [`Centered`] | (I − 11ᵀ/n)·G·(I − 11ᵀ/m) | (n + m)·r |
//! | [`Submatrix`] | G\[rows, cols\] | none, or a product with all of G where that is cheaper |
//! | `Weighted` | D·G·D, turned so that a bias keeps equal shares | 4·n·r |
//! | [`Widened`] | the same in double precision | a copy of the vectors |

mod bilinear;
mod build;
mod centered;
mod counted;
mod dense;
mod device;
mod graph;
mod katz;
mod kernel;
mod page_rank;
mod plan;
mod product;
mod scaled;
mod shortest_paths;
mod sparse;
mod streamed;
mod submatrix;
mod symmetric;
mod weighted;
mod widened;

pub use bilinear::BiLinear;
pub(crate) use build::sampled_normalizer;
pub use build::{Built, KernelMatrix};
pub use centered::{Centered, Means};
pub use dense::DenseOperator;
pub use device::{DeviceOperator, Place};
pub use katz::Katz;
pub use kernel::KernelOperator;
pub use page_rank::PageRank;
pub(crate) use plan::FLOP;
pub use plan::{OperatorChoice, OperatorKind, OperatorPlan};
pub use product::ProductOperator;
pub(crate) use product::multiply;
pub use scaled::Scaled;
pub use shortest_paths::ShortestPaths;
pub use sparse::{RankOne, SparseOperator};
pub use streamed::StreamedOperator;
pub use submatrix::Submatrix;
pub use symmetric::Symmetric;
pub(crate) use weighted::{Turn, Weighted};
pub use widened::Widened;

use crate::base::error::Result;
use crate::base::linalg;
pub use crate::base::memory::available_memory;
use crate::base::scalar::Scalar;
use crate::products::TILE;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// What a solver may ask of an operator.
///
/// The answer is a hint about cost, never about what is possible: every operator can do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Products with all of G cost less than its entries: sparse and factored matrices.
    Products,
    /// Entries and products cost the same for each entry involved.
    Entries,
    /// Entries are read from memory, so that a product with a few vectors costs little more than one with a single one.
    Stored,
    /// Blocks only: a product with all of G is possible but out of reach.
    Blocks,
}

/// The n×m matrix G, multiplied but never stored.
///
/// A new operator needs sizes and [`Operator::block`]; the products are provided and may be overridden for speed.
///
/// Products write into memory of the caller, whose size must fit: for V of m×r the result is n×r. An operator must be
/// `Sync`, since solvers ask for blocks from several threads at once.
///
/// ```
/// use faer::MatMut;
/// use lopsided::operator::Operator;
/// use lopsided::{Mat, Result};
///
/// /// G[i, j] = i + j, never stored.
/// struct Sums;
///
/// impl Operator<f64> for Sums {
///     fn nrows(&self) -> usize {
///         3
///     }
///     fn ncols(&self) -> usize {
///         2
///     }
///     fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
///         for (i, &row) in rows.iter().enumerate() {
///             for (j, &col) in cols.iter().enumerate() {
///                 out[(i, j)] = (row + col) as f64;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let mut sums = Mat::zeros(3, 1);
/// Sums.apply(Mat::from_fn(2, 1, |_, _| 1.0).as_ref(), sums.as_mut())?;
/// assert_eq!((sums[(0, 0)], sums[(2, 0)]), (1.0, 5.0)); // 0 + 1 and 2 + 3
/// # Ok::<(), lopsided::Error>(())
/// ```
pub trait Operator<T: Scalar>: Sync {
    /// Number of rows n.
    fn nrows(&self) -> usize;
    /// Number of columns m.
    fn ncols(&self) -> usize;
    /// out ← G\[rows, cols\].
    ///
    /// Indices come in any order and may repeat; `out` has one row for each of `rows` and one column for each of
    /// `cols`.
    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()>;

    /// What is cheap. Provided: [`Access::Entries`].
    fn access(&self) -> Access {
        Access::Entries
    }

    /// Relative rounding error of products. Provided: that of T.
    ///
    /// A wrapper that computes in another precision hands on that of what it wraps: no residual below it can be
    /// measured.
    fn rounding(&self) -> f64 {
        T::eps()
    }

    /// Whether G is known to equal its transpose, so that one product serves both. Provided: no.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// (G·V, Gᵀ·U). Provided: one product after the other, or one with both where G is symmetric.
    ///
    /// Whoever evaluates entries anew in every product, or reads them from memory, does it once for both where it can.
    fn apply_both(&self, v: MatRef<'_, T>, u: MatRef<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        if self.is_symmetric() {
            let mut both = Mat::zeros(self.nrows(), v.ncols() + u.ncols());
            self.apply(beside(v, u).as_ref(), both.as_mut())?;
            return Ok(apart(&both, v.ncols()));
        }
        let (mut forth, mut back) = (Mat::zeros(self.nrows(), v.ncols()), Mat::zeros(self.ncols(), u.ncols()));
        self.apply(v, forth.as_mut())?;
        self.apply_transpose(u, back.as_mut())?;
        Ok((forth, back))
    }

    /// Whether entries of single precision are accurate enough for whoever asked for the operator. Provided: no.
    fn single_suffices(&self) -> bool {
        false
    }

    /// out ← G\[rows, cols\] in single precision. Provided: rounds the entries of `block`.
    fn block_single(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, f32>) -> Result<()> {
        let mut block = Mat::zeros(rows.len(), cols.len());
        self.block(rows, cols, block.as_mut())?;
        rounded(block.as_ref(), out);
        Ok(())
    }

    /// out ← G·V. Provided: streams row tiles through `block`.
    ///
    /// # Cost
    /// As provided: all n·m entries once, and 256·m of them in memory at a time.
    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        let cols: Vec<usize> = (0..self.ncols()).collect();
        for start in (0..self.nrows()).step_by(TILE) {
            let rows: Vec<usize> = (start..self.nrows().min(start + TILE)).collect();
            let mut tile = Mat::zeros(rows.len(), cols.len());
            self.block(&rows, &cols, tile.as_mut())?;
            out.as_mut().subrows_mut(start, rows.len()).copy_from(linalg::mul(tile.as_ref(), v));
        }
        Ok(())
    }

    /// out ← Gᵀ·U. Provided likewise.
    fn apply_transpose(&self, u: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        out.fill(T::zero());
        let cols: Vec<usize> = (0..self.ncols()).collect();
        for start in (0..self.nrows()).step_by(TILE) {
            let rows: Vec<usize> = (start..self.nrows().min(start + TILE)).collect();
            let mut tile = Mat::zeros(rows.len(), cols.len());
            self.block(&rows, &cols, tile.as_mut())?;
            linalg::add_mul(out.as_mut(), tile.transpose(), u.subrows(start, rows.len()), T::one());
        }
        Ok(())
    }
}

/// \[v, u\].
fn beside<T: Scalar>(v: MatRef<'_, T>, u: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(v.nrows(), v.ncols() + u.ncols());
    out.as_mut().subcols_mut(0, v.ncols()).copy_from(v);
    out.as_mut().subcols_mut(v.ncols(), u.ncols()).copy_from(u);
    out
}

/// The first columns and the others.
fn apart<T: Scalar>(both: &Mat<T>, first: usize) -> (Mat<T>, Mat<T>) {
    (both.subcols(0, first).to_owned(), both.subcols(first, both.ncols() - first).to_owned())
}

/// out ← block in single precision.
fn rounded<T: Scalar>(block: MatRef<'_, T>, out: MatMut<'_, f32>) {
    for (to, from) in out.col_iter_mut().zip(block.col_iter()) {
        to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = from.as_f64() as f32);
    }
}

/// What an operator says as its field does (`size`, `access`, `rounding`), or as all that are known by products alone do
/// (`products`).
macro_rules! delegated {
    ($field:ident: $($what:ident),+) => { $(delegated!(@$what $field);)+ };
    (@size $field:ident) => {
        fn nrows(&self) -> usize {
            self.$field.nrows()
        }

        fn ncols(&self) -> usize {
            self.$field.ncols()
        }
    };
    (@access $field:ident) => {
        fn access(&self) -> $crate::operator::Access {
            self.$field.access()
        }
    };
    (@rounding $field:ident) => {
        fn rounding(&self) -> f64 {
            self.$field.rounding()
        }
    };
    (@products $field:ident) => {
        fn block(&self, rows: &[usize], cols: &[usize], out: faer::MatMut<'_, T>) -> $crate::base::error::Result<()> {
            $crate::operator::block_by_products(self, rows, cols, out)
        }

        fn access(&self) -> $crate::operator::Access {
            $crate::operator::Access::Products
        }
    };
}
pub(crate) use delegated;

/// Row sums G·1.
pub(crate) fn row_sums<T: Scalar>(g: &dyn Operator<T>) -> Result<Vec<T>> {
    let ones = Mat::from_fn(g.ncols(), 1, |_, _| T::one());
    let mut sums = Mat::zeros(g.nrows(), 1);
    g.apply(ones.as_ref(), sums.as_mut())?;
    Ok(sums.col(0).iter().copied().collect())
}

/// Column sums Gᵀ·1.
pub(crate) fn col_sums<T: Scalar>(g: &dyn Operator<T>) -> Result<Vec<T>> {
    let ones = Mat::from_fn(g.nrows(), 1, |_, _| T::one());
    let mut sums = Mat::zeros(g.ncols(), 1);
    g.apply_transpose(ones.as_ref(), sums.as_mut())?;
    Ok(sums.col(0).iter().copied().collect())
}

/// out ← G\[rows, cols\] by one product with the unit vectors of the shorter side: for operators without entries.
///
/// # Cost
/// min(|rows|, |cols|) products, whatever the other side is.
pub(crate) fn block_by_products<T: Scalar>(
    g: &dyn Operator<T>,
    rows: &[usize],
    cols: &[usize],
    mut out: MatMut<'_, T>,
) -> Result<()> {
    let units = |size: usize, at: &[usize]| {
        let mut units = Mat::zeros(size, at.len());
        at.iter().enumerate().for_each(|(k, &i)| units[(i, k)] = T::one());
        units
    };
    if cols.len() < rows.len() {
        let mut found = Mat::zeros(g.nrows(), cols.len());
        g.apply(units(g.ncols(), cols).as_ref(), found.as_mut())?;
        rows.iter().enumerate().for_each(|(at, &i)| out.as_mut().row_mut(at).copy_from(found.row(i)));
    } else {
        let mut found = Mat::zeros(g.ncols(), rows.len());
        g.apply_transpose(units(g.nrows(), rows).as_ref(), found.as_mut())?;
        cols.iter().enumerate().for_each(|(at, &j)| out.as_mut().col_mut(at).copy_from(found.row(j).transpose()));
    }
    Ok(())
}

/// All of G, tile by tile.
///
/// # Cost
/// n·m numbers of memory; tiles of rows are filled in parallel, so the entries are those of [`Operator::block`] bit for
/// bit.
pub(crate) fn materialize<T: Scalar>(g: &dyn Operator<T>) -> Result<Mat<T>> {
    let mut out = Mat::zeros(g.nrows(), g.ncols());
    let cols: Vec<usize> = (0..g.ncols()).collect();
    out.as_mut().par_row_chunks_mut(TILE).enumerate().try_for_each(|(at, piece)| {
        let rows: Vec<usize> = (at * TILE..at * TILE + piece.nrows()).collect();
        g.block(&rows, &cols, piece)
    })?;
    Ok(out)
}

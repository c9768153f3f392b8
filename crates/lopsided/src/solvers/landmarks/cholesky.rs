//! Landmarks by pivoted Cholesky, random or greedy.

use super::gram::Gram;
use super::{Sampler, check_count, filled, generator};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Most pivots proposed at once.
const BLOCK: usize = 64;

/// Pivots of a partial Cholesky factorisation K ≈ F·Fᵀ (\[RPC\]): each new landmark is one that those before it explain badly.
///
/// With the diagonal d of K − F·Fᵀ the next pivot is drawn with probability d_i/Σd (randomly pivoted Cholesky), or is the one
/// with the largest d_i (greedy).
///
/// 1. Random pivots are proposed in blocks from d and accepted one by one with probability (diagonal of the Schur complement
///    after those accepted before)/d, which gives the distribution of single draws from products with blocks.
/// 2. C = K\[:, pivots\] − F·F\[pivots, :\]ᵀ, L·Lᵀ = C\[pivots, :\], new columns C·L⁻ᵀ of F, d ← d − their squared rows.
///
/// Where nothing is left to explain, the first samples fill the choice up.
///
/// # Cost
/// O(n·m²) operations and n·m numbers for m landmarks, n·m entries of K.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{PivotedCholesky, Sampler};
/// use lopsided::{Mat, Side};
///
/// // Independent samples: the largest diagonal entries are the worst explained.
/// let k = DenseOperator::Owned(Mat::from_fn(3, 3, |i, j| if i == j { [1.0, 5.0, 3.0][i] } else { 0.0 }));
/// let picked = Sampler::<f64>::pick(&PivotedCholesky { greedy: true }, &k, Side::Row, 2, 0)?;
/// assert_eq!(picked, [1, 2]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PivotedCholesky {
    /// The largest residual instead of a random one.
    pub greedy: bool,
}

impl PivotedCholesky {
    fn name(self) -> &'static str {
        if self.greedy { "greedy" } else { "rpcholesky" }
    }
}

impl<T: Scalar> Sampler<T> for PivotedCholesky {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        let size = check_count(g, side, count)?;
        let gram = Gram::new(g, side, self.name())?;
        let mut factor = Factor::new(&gram, count, self.name())?;
        let mut rng = generator(side, seed);
        while factor.pivots.len() < count {
            let found = if self.greedy { factor.largest() } else { factor.proposed(&gram, count, &mut rng)? };
            if found.is_empty() {
                break;
            }
            factor.extend(&gram, &found)?;
        }
        Ok(filled(factor.pivots, count, size))
    }
}

/// A factorisation on its way.
///
/// F has room for all columns from the start; only the first |pivots| of them are filled.
struct Factor {
    f: Mat<f64>,
    pivots: Vec<usize>,
    /// Diagonal of what is not explained.
    left: Vec<f64>,
    /// What counts as nothing.
    zero: f64,
    /// What below zero is no more than rounding.
    tolerated: f64,
    sampler: &'static str,
}

impl Factor {
    fn new<T: Scalar>(gram: &Gram<'_, T>, count: usize, sampler: &'static str) -> Result<Self> {
        let left = gram.diagonal()?;
        let largest = left.iter().copied().fold(0.0, f64::max);
        let zero = largest * T::eps() * (left.len() as f64).max(100.0);
        let (f, tolerated) = (Mat::zeros(left.len(), count), largest * T::eps().sqrt());
        let factor = Factor { f, pivots: Vec::new(), left, zero, tolerated, sampler };
        factor.check()?;
        Ok(factor)
    }

    fn check(&self) -> Result<()> {
        if self.left.iter().all(|d| *d >= -self.tolerated) {
            return Ok(());
        }
        let allowed = "`uniform` or `norms` for a kernel matrix that is not positive semidefinite";
        Err(Error::param("sampler", self.sampler, allowed))
    }

    fn largest(&self) -> Vec<usize> {
        let best = (0..self.left.len()).reduce(|a, b| if self.left[b] > self.left[a] { b } else { a });
        best.filter(|&i| self.left[i] > self.zero).into_iter().collect()
    }

    /// Step 1.
    fn proposed<T: Scalar>(&self, gram: &Gram<'_, T>, count: usize, rng: &mut ChaCha8Rng) -> Result<Vec<usize>> {
        let weights: Vec<f64> = self.left.iter().map(|&d| if d > self.zero { d } else { 0.0 }).collect();
        let block = (count / 8).clamp(1, BLOCK);
        let proposed: Vec<usize> = (0..block).filter_map(|_| random::draw(&weights, rng)).collect();
        let rows = self.rows(&proposed);
        let mut schur = gram.block(&proposed, &proposed)? - &rows * rows.transpose();
        let mut accepted = Vec::new();
        for at in 0..proposed.len() {
            let diagonal = schur[(at, at)];
            if accepted.len() + self.pivots.len() == count {
                break;
            }
            if diagonal <= self.zero || rng.random::<f64>() * weights[proposed[at]] >= diagonal {
                continue;
            }
            accepted.push(proposed[at]);
            let column = schur.col(at).to_owned();
            for j in 0..proposed.len() {
                (0..proposed.len()).for_each(|i| schur[(i, j)] -= column[i] * column[j] / diagonal);
            }
        }
        Ok(accepted)
    }

    fn done(&self) -> MatRef<'_, f64> {
        self.f.as_ref().subcols(0, self.pivots.len())
    }

    fn rows(&self, which: &[usize]) -> Mat<f64> {
        Mat::from_fn(which.len(), self.pivots.len(), |i, j| self.f[(which[i], j)])
    }

    /// Step 2.
    fn extend<T: Scalar>(&mut self, gram: &Gram<'_, T>, pivots: &[usize]) -> Result<()> {
        let mut columns = gram.columns(pivots)?;
        linalg::add_mul(columns.as_mut(), self.done(), self.rows(pivots).transpose(), -1.0);
        let k = pivots.len();
        let square = Mat::from_fn(k, k, |i, j| columns[(pivots[i], j)]);
        let Some(lower) = linalg::lower_factor(square) else {
            // Rounding is all that is left of some of them.
            if k > 1 {
                return self.extend(gram, &pivots[..1]);
            }
            self.left[pivots[0]] = 0.0;
            return Ok(());
        };
        let inverse = linalg::lower_inverse(lower.as_ref());
        let fresh = linalg::mul(columns.as_ref(), inverse.transpose());
        for (i, left) in self.left.iter_mut().enumerate() {
            *left -= fresh.row(i).iter().map(|v| v * v).sum::<f64>();
        }
        pivots.iter().for_each(|&i| self.left[i] = 0.0);
        self.check()?;
        self.f.as_mut().subcols_mut(self.pivots.len(), k).copy_from(&fresh);
        self.pivots.extend_from_slice(pivots);
        Ok(())
    }
}

pub(super) fn random_entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "rpcholesky",
        about: "randomly pivoted Cholesky: probability proportional to what the landmarks so far leave unexplained",
        settings: &[],
        build: |_| Ok(Box::new(PivotedCholesky { greedy: false })),
    }
}

pub(super) fn greedy_entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "greedy",
        about: "greedy pivoted Cholesky: always the sample that the landmarks so far explain worst",
        settings: &[],
        build: |_| Ok(Box::new(PivotedCholesky { greedy: true })),
    }
}

use super::krylov::{Krylov, Ritz};
use super::{Run, SolverPlan, Svd, SvdSolver, check_rank, tolerance};
use crate::error::Result;
use crate::operator::Operator;
use crate::registry::{Entry, Params};
use crate::scalar::Scalar;

/// Block Golub–Kahan–Lanczos with thick restart and full re-orthogonalisation (\[BR05\] of the references).
///
/// The block is a little wider than the rank (up to 64): a singular value of multiplicity p shows in a block Krylov
/// space at most `block` times, so a block at least as wide as the rank finds all copies that are wanted. With a
/// narrower block the result is confirmed by going on from fresh random vectors until nothing changes.
///
/// # Cost
/// Per step one product of G and one of Gᵀ with a block, and O((n + m)·basis·block) for orthogonality. Memory
/// O((n + m)·basis), with a basis of 4 to 12 blocks, fewer for larger matrices.
#[derive(Clone, Copy, Debug)]
pub struct Lanczos {
    /// Largest residual relative to σ₁.
    pub tol: f64,
    /// Vectors in a block; 0: chosen from the rank.
    pub block: usize,
    /// Largest number of restarts.
    pub restarts: u64,
}

impl Lanczos {
    /// The solver with a tolerance and everything else by default.
    pub fn new<T: Scalar>(params: &Params) -> Result<Self> {
        let block = params.get("block").map_or(Ok(0), |_| params.count("block", 1))?;
        Ok(Lanczos {
            tol: tolerance::<T>(params)?,
            block: block as usize,
            restarts: params.count("restarts", 300)?.into(),
        })
    }

    fn block(&self, most: usize, rank: usize) -> usize {
        let automatic = (rank + (rank / 8).max(4)).min(64);
        if self.block > 0 { self.block } else { automatic }.min(most)
    }

    /// Columns of the bases.
    fn capacity(n: usize, m: usize, rank: usize, block: usize, bytes: usize) -> usize {
        const COMFORTABLE: usize = 1 << 30;
        let blocks = (COMFORTABLE / ((n + m) * block * bytes)).clamp(4, 12);
        (blocks * block).max(rank + 3 * block).min(m)
    }
}

impl<T: Scalar> SvdSolver<T> for Lanczos {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let block = self.block(g.nrows().min(g.ncols()), rank);
        let capacity = Self::capacity(g.nrows(), g.ncols(), rank, block, T::BYTES);
        let mut krylov = Krylov::new(g, run, block, capacity)?;
        krylov.report.solver = "lanczos".into();
        let mut confirmed = Confirmation { needed: block < rank, values: Vec::new() };
        let ritz = loop {
            krylov.expand()?;
            let ritz = krylov.ritz()?;
            krylov.progress(&ritz, rank)?;
            let exhausted = krylov.pending() == 0;
            if exhausted || ritz.converged(rank, self.tol) {
                let enough = ritz.sigma().len() >= rank && block >= rank;
                if enough || (confirmed.by(&ritz, rank, self.tol)) {
                    break ritz;
                }
                krylov.add_random(block)?;
                if krylov.pending() == 0 {
                    break ritz;
                }
            }
            if !krylov.has_room() {
                if krylov.report.restarts == self.restarts {
                    krylov.report.notes.push(format!("stopped after {} restarts", self.restarts));
                    break ritz;
                }
                krylov.restart(&ritz, (rank + block).min(capacity - 2 * block.min(capacity / 3)));
            }
        };
        krylov.into_svd(&ritz, rank).finish(g, rank, self.tol)
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let block = self.block(n.min(m), rank);
        let basis = Self::capacity(n, m, rank, block, T::BYTES);
        let steps = 15.0;
        SolverPlan {
            solver: "lanczos",
            why: String::new(),
            bytes: ((n + m) * (basis + 7 * block + 3 * rank) * T::BYTES) as u64,
            products: (2.0 * steps * block as f64) as u64 + 2 * rank as u64,
            flops: steps * 8.0 * (n + m) as f64 * (basis * block) as f64,
        }
    }
}

/// Whether going on from fresh random vectors has left the values as they were.
struct Confirmation {
    needed: bool,
    values: Vec<f64>,
}

impl Confirmation {
    fn by<T: Scalar>(&mut self, ritz: &Ritz<T>, rank: usize, tol: f64) -> bool {
        let now: Vec<f64> = ritz.sigma().iter().take(rank).map(|s| s.as_f64()).collect();
        let largest = now.first().copied().unwrap_or(0.0);
        let same = now.len() == self.values.len()
            && now.iter().zip(&self.values).all(|(a, b)| (a - b).abs() <= tol.max(8.0 * T::eps()) * largest);
        let first = self.values.is_empty();
        self.values = now;
        same && !first || !self.needed && self.values.len() >= rank
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    Entry {
        name: "lanczos",
        about: "block Golub-Kahan-Lanczos with thick restart, until the residuals reach the tolerance",
        params: &["tol", "block", "restarts"],
        build: |params| Ok(Box::new(Lanczos::new::<T>(params)?)),
    }
}

use super::krylov::{Krylov, Ritz};
use super::{Run, SolverPlan, Svd, SvdSolver, check_rank, tolerance};
use crate::error::Result;
use crate::operator::Operator;
use crate::registry::{Entry, Params};
use crate::scalar::Scalar;

/// Block Golub–Kahan–Lanczos with thick restart and full re-orthogonalisation (\[BR06\] of the references).
///
/// The block is a little wider than the rank, and at most 64 vectors. A singular value of multiplicity p shows in a block
/// Krylov space at most `block` times, so a block narrower than the rank may miss copies: the result is then confirmed by
/// going on from fresh random vectors, half as long as it took to get there, until nothing changes. Narrow blocks need
/// fewer products where the values are well apart, but graph kernels have crowds of nearly equal ones.
///
/// # Cost
/// Per step one product of G and one of Gᵀ with a block, and O((n + m)·basis·block) for orthogonality. Memory
/// O((n + m)·basis), with a basis of 12 blocks or 3·rank vectors, less for matrices of millions of rows.
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
        let fitting = COMFORTABLE / ((n + m) * bytes);
        let wanted = (12 * block).max(3 * rank + 4 * block);
        wanted.min(fitting).max(rank + 3 * block).min(m)
    }
}

impl<T: Scalar> SvdSolver<T> for Lanczos {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let block = self.block(g.nrows().min(g.ncols()), rank);
        let capacity = Self::capacity(g.nrows(), g.ncols(), rank, block, T::BYTES);
        let keep = (rank + block.max((capacity - rank) / 4)).min(capacity - 2 * block.min(capacity / 3));
        let mut krylov = Krylov::new(g, run, block, capacity)?;
        krylov.report.solver = "lanczos".into();
        let mut confirmation = Confirmation { wide: block >= rank, ..Confirmation::default() };
        let mut next_look = 0;
        let ritz = loop {
            krylov.expand()?;
            let exhausted = krylov.pending() == 0;
            // Decomposing B costs as much as a step once it is large: look when it has grown by a quarter.
            if !exhausted && krylov.has_room() && krylov.columns() < next_look {
                continue;
            }
            let ritz = krylov.ritz()?;
            krylov.progress(&ritz, rank)?;
            if exhausted || ritz.converged(rank, self.tol) {
                if confirmation.holds(&ritz, rank, self.tol, krylov.report.products) {
                    break ritz;
                }
                if exhausted || confirmation.is_new() {
                    krylov.add_random(block)?;
                }
                if krylov.pending() == 0 {
                    break ritz;
                }
            }
            if !krylov.has_room() {
                if krylov.report.restarts == self.restarts {
                    krylov.report.notes.push(format!("stopped after {} restarts", self.restarts));
                    break ritz;
                }
                krylov.restart(&ritz, keep);
            }
            next_look = krylov.columns() + block.max(krylov.columns() / 4);
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

/// Whether going on from fresh random vectors leaves the values as they were.
#[derive(Default)]
struct Confirmation {
    /// The block is wide enough to need none when all values are there.
    wide: bool,
    values: Vec<f64>,
    /// Products when these values were first seen, and how many more are needed to trust them.
    since: u64,
    patience: u64,
    looks: u32,
}

impl Confirmation {
    fn holds<T: Scalar>(&mut self, ritz: &Ritz<T>, rank: usize, tol: f64, products: u64) -> bool {
        let now: Vec<f64> = ritz.sigma().iter().take(rank).map(|s| s.as_f64()).collect();
        if self.wide && now.len() >= rank {
            return true;
        }
        let largest = now.first().copied().unwrap_or(0.0);
        let close = tol.max(8.0 * T::eps()) * largest;
        let same = now.len() == self.values.len() && now.iter().zip(&self.values).all(|(a, b)| (a - b).abs() <= close);
        if same && self.looks > 0 {
            self.looks += 1;
            return products >= self.since + self.patience;
        }
        let patience = if self.looks == 0 { products / 2 } else { self.patience };
        *self = Confirmation { wide: self.wide, values: now, since: products, patience, looks: 1 };
        false
    }

    /// True when the values were seen for the first time.
    fn is_new(&self) -> bool {
        self.looks == 1
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

//! A fixed number of passes over G.

use super::krylov::Krylov;
use super::{Run, SolverPlan, Svd, SvdSolver, TOL, check_rank, tolerance};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::operator::Operator;

/// Randomised block Krylov (\[MM15\] of the references): a random block and its images under (GᵀG)^0 … (GᵀG)^q, all kept.
///
/// Stops as soon as the residuals reach the tolerance, and after `passes` products with G at the latest. It never
/// restarts, so memory grows with the passes; for a tolerance that must be met take [`super::Lanczos`].
///
/// 1. A Gaussian block of rank + `oversample` vectors.
/// 2. Up to `passes` times: the block's image under G and Gᵀ joins the bases, which keep all images and not only the
///    last.
/// 3. Rayleigh–Ritz on the bases; stop early where the residuals allow it.
///
/// # Cost
/// 2·(rank + oversample)·passes products at most, (n + m)·(rank + oversample)·passes numbers.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::{Randomized, Svd, SvdSolver};
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(20, 10, |i, j| (i + j) as f64)); // rank two: one pass sees all of it
/// let randomized = Randomized { tol: 1e-8, oversample: 4, passes: 4 };
/// let svd: Svd<f64> = randomized.solve(&g, 2, &Run::default())?;
/// assert!(svd.report.converged() && svd.sigma[0] >= svd.sigma[1]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Randomized {
    /// Largest residual relative to a triplet's own σ that counts as converged.
    pub tol: f64,
    /// Vectors beyond the rank in the random block.
    pub oversample: usize,
    /// Most products of G with a block.
    pub passes: usize,
}

impl Randomized {
    /// Defaults: 10 vectors beyond the rank, 8 passes.
    pub fn new<T: Scalar>(params: &Settings) -> Result<Self> {
        Ok(Randomized {
            tol: tolerance::<T>(params)?,
            oversample: params.count("oversample", 10)? as usize,
            passes: params.count("passes", 8)? as usize,
        })
    }

    fn block(&self, n: usize, m: usize, rank: usize) -> usize {
        (rank + self.oversample).min(n.min(m))
    }
}

impl<T: Scalar> SvdSolver<T> for Randomized {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let block = self.block(g.nrows(), g.ncols(), rank);
        let capacity = (block * self.passes).min(g.ncols());
        let mut krylov = Krylov::new(g, run, block, capacity)?;
        krylov.report.solver = "randomized".into();
        krylov.expand()?;
        let place = run.checkpoint.is_on().then(|| krylov.place("randomized", &(self, rank)));
        if let Some(state) = place.as_ref().map_or(Ok(None), |place| run.state(place))? {
            krylov.restore(&state)?;
        }
        let ritz = loop {
            let ritz = krylov.ritz()?;
            krylov.progress(&ritz, rank)?;
            if ritz.converged(rank, self.tol) || krylov.pending() == 0 || !krylov.has_room(usize::MAX) {
                break ritz;
            }
            krylov.expand()?;
            if let Some(place) = &place {
                run.keep_state(place, |state| krylov.put(state))?;
            }
        };
        krylov.finished(&ritz, rank, self.tol)
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let block = self.block(n, m, rank);
        let basis = block * self.passes;
        SolverPlan {
            solver: "randomized",
            why: String::new(),
            bytes: ((n + m) * (basis + 4 * block) * T::BYTES) as u64,
            products: 2 * (basis + rank) as u64,
            flops: 8.0 * (n + m) as f64 * (basis * basis) as f64,
        }
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    Entry {
        name: "randomized",
        about: "randomised block Krylov with a fixed number of passes over G",
        settings: const {
            &[
                TOL,
                Setting::new("oversample", "vectors beyond the rank", "a whole number of at least 1", "10"),
                Setting::new(
                    "passes",
                    "most products of a block with G, the first among them",
                    "a whole number of at least 1",
                    "8, fewer where the tolerance is reached before",
                ),
            ]
        },
        build: |params| Ok(Box::new(Randomized::new::<T>(params)?)),
    }
}

//! The choice between a complete decomposition and an iteration.

use super::{Exact, Lanczos, Run, SolverPlan, Svd, SvdSolver, check_rank, iterating, tolerance};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::operator::Operator;

/// Up to this many rows or columns a complete decomposition is as quick as anything.
const SMALL: usize = 300;
/// Up to this many, it is also taken when a large part of the triplets is wanted.
const MEDIUM: usize = 4000;

/// Chooses between [`Exact`] and [`Lanczos`] by size and rank, and says why.
///
/// | smaller side | rank | solver |
/// | --- | --- | --- |
/// | up to 300 | any | [`Exact`] |
/// | up to 4000 | an eighth of it or more | [`Exact`] |
/// | otherwise | | [`Lanczos`] |
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::solvers::svd::{Auto, SvdSolver};
///
/// let auto = Auto::new::<f64>(&Settings::default())?;
/// let name = |n: usize, rank: usize| SvdSolver::<f64>::plan(&auto, n, n, rank).solver;
/// assert_eq!((name(300, 5), name(2000, 500), name(2000, 5)), ("exact", "exact", "lanczos"));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    exact: Exact,
    lanczos: Lanczos,
}

impl Auto {
    /// The tolerance goes to whichever solver is taken.
    pub fn new<T: Scalar>(params: &Settings) -> Result<Self> {
        Ok(Auto { exact: Exact { tol: tolerance::<T>(params)? }, lanczos: Lanczos::new::<T>(params)? })
    }

    /// Whether the complete decomposition is taken, and why.
    fn choice(n: usize, m: usize, rank: usize) -> (bool, String) {
        let side = n.min(m);
        if side <= SMALL {
            (true, format!("the smaller side has {side} samples, at most {SMALL}"))
        } else if side <= MEDIUM && 8 * rank >= side {
            (true, format!("rank {rank} is a large part of {side}"))
        } else {
            (false, format!("rank {rank} is a small part of {side}"))
        }
    }
}

impl<T: Scalar> SvdSolver<T> for Auto {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let (exact, why) = Self::choice(g.nrows(), g.ncols(), rank);
        let mut svd = if exact { self.exact.solve(g, rank, run)? } else { self.lanczos.solve(g, rank, run)? };
        svd.report.why = why;
        Ok(svd)
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let (exact, why) = Self::choice(n, m, rank);
        let plan = |solver: &dyn SvdSolver<T>| solver.plan(n, m, rank);
        SolverPlan { why, ..if exact { plan(&self.exact) } else { plan(&self.lanczos) } }
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    let about = "exact for small matrices and large ranks, lanczos otherwise";
    iterating("auto", about, |params| Ok(Box::new(Auto::new::<T>(params)?)))
}

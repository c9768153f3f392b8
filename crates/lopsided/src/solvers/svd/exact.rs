//! The complete decomposition, for matrices that fit.

use super::gate::Goal;
use super::{Run, SolveReport, SolverPlan, Svd, SvdSolver, TOL, check_rank, tolerance};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::operator::{Operator, materialize};
use std::time::Instant;

/// Stores G and decomposes it completely.
///
/// 1. All entries of G, by tiles.
/// 2. Its thin SVD by dense linear algebra.
/// 3. The leading triplets through the gate. The values that were cut off are all known, so a crowd that the rank
///    splits is named in full.
///
/// # Cost
/// About 10·n·m·min(n, m) operations and 2·n·m + (n + m)·min(n, m) numbers.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::{Exact, Svd, SvdSolver};
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(5, 4, |i, j| ((i + 1) * (j + 1)) as f64)); // one outer product
/// let svd: Svd<f64> = Exact { tol: 1e-10 }.solve(&g, 3, &Run::default())?;
/// assert!((svd.sigma[0] - (55.0_f64 * 30.0).sqrt()).abs() < 1e-10); // √(1 + … + 25)·√(1 + … + 16)
/// assert_eq!(svd.sigma.len(), 1); // the other two of three do not exist, and a note says so
/// assert!(svd.report.notes.iter().any(|note| note.contains("numerical rank 1")));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// Largest residual relative to a triplet's own σ that counts as converged.
    pub tol: f64,
}

impl<T: Scalar> SvdSolver<T> for Exact {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let start = Instant::now();
        let stored = materialize(g)?;
        let in_operator = start.elapsed().as_secs_f64();
        run.watch.check()?;
        let start = Instant::now();
        let svd =
            linalg::thin_svd(stored.as_ref()).filter(|s| s.sigma.iter().all(|v| num_traits::Float::is_finite(*v)));
        let svd = svd.ok_or_else(not_finite)?;
        drop(stored);
        let report = SolveReport {
            solver: "exact".into(),
            products: g.ncols() as u64,
            seconds_in_operator: in_operator,
            seconds_in_ortho: start.elapsed().as_secs_f64(),
            ..SolveReport::default()
        };
        let beyond = svd.sigma[rank..].to_vec();
        let goal = Goal { tol: self.tol, complete: true };
        Svd { u: svd.u, sigma: svd.sigma, v: svd.v, extension: None, report }.finish(g, rank, goal, (&beyond, true))
    }

    fn plan(&self, n: usize, m: usize, _rank: usize) -> SolverPlan {
        let (n, m) = (n as f64, m as f64);
        let k = n.min(m);
        SolverPlan {
            solver: "exact",
            why: String::new(),
            bytes: ((2.0 * n * m + (n + m) * k) * T::BYTES as f64) as u64,
            products: m as u64,
            flops: 10.0 * n * m * k,
        }
    }
}

/// The error for kernel values that overflow or are NaN.
pub(super) fn not_finite() -> Error {
    Error::param(
        "G",
        "not finite",
        "a matrix of finite kernel values; look at the kernel's parameters and the scale of the samples",
    )
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    Entry {
        name: "exact",
        about: "stores G and decomposes it completely; for small matrices",
        settings: &[TOL],
        build: |params| Ok(Box::new(Exact { tol: tolerance::<T>(params)? })),
    }
}

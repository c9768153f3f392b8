//! Many penalties for the price of little more than one.

use super::krylov::Krylov;
use super::problem::centred;
use super::{
    CoupledSolution, CoupledSystem, Landmarks, Limits, MOST, Problem, Route, SHARE, SYMMETRIC_SHARE, Spectral,
};
use crate::base::Run;
use crate::base::error::Result;
use crate::operator::{Centered, Means, Operator};
use faer::{Mat, MatRef};

/// One K and its targets for many penalties: what is learned of K for one serves the next.
///
/// Penalties are solved in the Krylov spaces of the targets, which grow until the residual is 1e-12; where half of all
/// dimensions do not suffice, by a complete decomposition. With more than 1500 samples the spaces have at most 512 dimensions, for a
/// symmetric K fewer, and what they do not suffice for is solved one by one. Beyond the sizes that are factored a symmetric K has no
/// spaces, but the landmarks of one preconditioner serve all penalties.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linsys::{CoupledSystem, PenaltyPath};
/// use lopsided::{Mat, Run};
///
/// let k = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
/// let y = Mat::from_fn(4, 1, |i, _| if i < 2 { 1.0 } else { -1.0 });
/// let mut path = PenaltyPath::new(&k, y.as_ref(), false)?;
/// for penalty in [0.1, 0.5, 2.0] {
///     let found = path.solve(&CoupledSystem { penalty, ..CoupledSystem::default() }, &Run::default())?;
///     assert!((found.a[(0, 0)] - 1.0 / (1.0 / penalty + 1.0)).abs() < 1e-9); // y/(g + 1)
/// }
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct PenaltyPath<'a> {
    k: &'a dyn Operator<f64>,
    means: Means<f64>,
    targets: Mat<f64>,
    krylov: Krylov,
    complete: Option<Spectral>,
    symmetric: bool,
    limits: Limits,
    /// Landmarks, where a penalty has asked for them.
    known: Landmarks,
}

impl<'a> PenaltyPath<'a> {
    /// Begins with the first space; `symmetric` says whether K equals its transpose.
    ///
    /// # Errors
    /// Those of [`CoupledSystem::solve`].
    pub fn new(k: &'a dyn Operator<f64>, targets: MatRef<'_, f64>, symmetric: bool) -> Result<Self> {
        let (n, limits) = (k.nrows(), Limits::USUAL);
        let columns = if symmetric && n <= limits.dense {
            n / SYMMETRIC_SHARE
        } else if n <= limits.complete {
            n / 2
        } else {
            (n / 4).min(MOST)
        };
        PenaltyPath::within(k, targets, columns, symmetric, limits)
    }

    /// The same with spaces of at most so many dimensions.
    pub(super) fn within(
        k: &'a dyn Operator<f64>,
        targets: MatRef<'_, f64>,
        columns: usize,
        symmetric: bool,
        limits: Limits,
    ) -> Result<Self> {
        CoupledSystem::default().check(k, targets)?;
        let krylov = Krylov::new(&centred(targets), columns, symmetric)?;
        let targets = targets.to_owned();
        let (means, known) = (Means::of(k)?, Landmarks::new());
        Ok(PenaltyPath { k, means, targets, krylov, complete: None, symmetric, limits, known })
    }

    /// Whether spaces of so few dimensions that failing costs little solve a system of an asymmetric K.
    pub(crate) fn is_short(
        k: &'a dyn Operator<f64>,
        targets: MatRef<'_, f64>,
        system: &CoupledSystem,
        run: &Run,
    ) -> Result<bool> {
        let columns = (k.nrows() / SHARE).min(MOST);
        let mut path = PenaltyPath::within(k, targets, columns, false, Limits::USUAL)?;
        Ok(path.by_krylov(system, run)?.is_some())
    }

    /// The solution for one penalty; with [`Route::Svd`] by the complete decomposition.
    ///
    /// # Errors
    /// Those of [`CoupledSystem::solve`].
    pub fn solve(&mut self, system: &CoupledSystem, run: &Run) -> Result<CoupledSolution> {
        let system = &CoupledSystem { symmetric: self.symmetric, ..*system };
        system.check(self.k, self.targets.as_ref())?;
        if system.route != Route::Svd {
            if !self.limits.has_landmarks(self.k, self.symmetric)
                && let Some(found) = self.by_krylov(system, run)?
            {
                return Ok(found);
            }
            if self.symmetric || self.k.nrows() > self.limits.complete {
                let known = Some(&self.known);
                return system.solve_directly(self.k, self.targets.as_ref(), run, &self.limits, known);
            }
        }
        let centered = Centered::new(self.k, self.means.clone());
        let spectral = match self.complete.take() {
            Some(spectral) => spectral,
            None => Spectral::complete(&centered, self.symmetric)?,
        };
        let noise = self.means.noise();
        let problem = Problem { noise, ..system.problem(&centered, self.targets.as_ref(), run) };
        let found = self.complete.insert(spectral).solved(&problem)?;
        let solved = problem.gate(found, "one decomposition for several penalties")?;
        Ok(solved.with_biases(&self.means, self.targets.as_ref()))
    }

    /// The solution in the Krylov spaces, if they may grow as much as it takes and what they give passes.
    pub(super) fn by_krylov(&mut self, system: &CoupledSystem, run: &Run) -> Result<Option<CoupledSolution>> {
        let centered = Centered::new(self.k, self.means.clone());
        let noise = self.means.noise();
        let problem = Problem { noise, ..system.problem(&centered, self.targets.as_ref(), run) };
        let Some(found) = self.krylov.solve(&problem)? else { return Ok(None) };
        let solved = problem.gate(found, "few dimensions suffice")?;
        Ok(solved.report.converged().then(|| solved.with_biases(&self.means, self.targets.as_ref())))
    }
}

//! The coupled least-squares system of AsK-LS.
//!
//! With the labels moved out of the matrix, \[AsKLS\] Eq. (6) reads, for g = 1/penalty,
//!
//! g·a + K·b + 1·β_s = y,  Kᵀ·a + g·b + 1·β_t = y,  1ᵀa = 1ᵀb = 0,
//!
//! one matrix for all classes and targets y. a and b have mean 0, so projecting on such vectors removes the border: with
//! K_c = (I − 11ᵀ/n)·K·(I − 11ᵀ/n) and the centred y_c
//!
//! M·\[a; b\] = \[y_c; y_c\],  M = \[g·I, K_c; K_cᵀ, g·I\],  β_s = mean(y − K·b),  β_t = mean(y − Kᵀ·a).
//!
//! The eigenvalues of M are g ± σ for every singular value σ of K_c, with vectors (u, ±v)/√2, and g elsewhere. So M is
//! indefinite when penalty·σ₁ > 1 and singular when penalty·σ = 1 for any σ.
//!
//! For a symmetric K (the LS-SVM) a = b solves (g·I + K_c)·a = y_c, with the eigenvalues g + λ: the other half of M's, g − λ,
//! belongs to vectors (u, −u), which no target touches.
//!
//! | [`Route`] | operations for n samples | memory | when `auto` takes it |
//! | --- | --- | --- | --- |
//! | `Krylov` | a few dozen products with K and Kᵀ | the bases | first, from 500 samples on |
//! | `Dense` | n³/3, and n³ more for an asymmetric K | n² | up to 5000 samples |
//! | `Minres` | a product with K and Kᵀ per iteration | a few vectors, and landmarks for a symmetric K | beyond |
//! | `Svd` | about 10·n³ | 3·n² | where factors are not accurate enough |
//! | `Lsmr` | two products with M per iteration | a few vectors | inside `Minres` and `Dense`, for singular systems |
//! | `LowRank` | n·rank after the triplets are found | n·rank | never by itself |
//!
//! **Where to start:** [`CoupledSystem`] holds the penalty and the way, its `solve` takes an operator and targets.
//! [`PenaltyPath`] solves the same K for many penalties, [`Spectral`] is the decomposition behind it, and
//! [`SystemReport`] says what was done and how well. [`largest_singular_value`] tells up to which penalty the system is
//! definite.
//!
//! ```
//! use lopsided::operator::DenseOperator;
//! use lopsided::solvers::linsys::CoupledSystem;
//! use lopsided::{Mat, Run};
//!
//! // K = I: on centred targets K_c is the identity, so that a = b = y/(g + 1).
//! let k = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
//! let y = Mat::from_fn(4, 1, |i, _| if i < 2 { 1.0 } else { -1.0 });
//! let system = CoupledSystem { penalty: 0.5, ..CoupledSystem::default() };
//! let found = system.solve(&k, y.as_ref(), &Run::default())?;
//! assert!(found.report.converged());
//! assert!((found.a[(0, 0)] - 1.0 / 3.0).abs() < 1e-9 && (found.b[(3, 0)] + 1.0 / 3.0).abs() < 1e-9);
//! # Ok::<(), lopsided::Error>(())
//! ```

mod dense;
mod gate;
mod krylov;
mod lsmr;
mod minres;
mod norm;
mod parts;
mod path;
mod problem;
mod spectral;
#[cfg(test)]
mod tests;

pub use gate::SystemReport;
pub use norm::largest_singular_value;
pub use path::PenaltyPath;
use problem::{Found, Landmarks, Problem, add_scaled, scale, stored};
pub(crate) use problem::{centred, dots};
pub use spectral::Spectral;

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::data::samples::SamplesRef;
use crate::operator::{self, Access, Centered, DenseOperator, Means, Operator};
use faer::{Mat, MatRef};
use std::fmt;
use std::str::FromStr;

/// Condition number beyond which a system counts as singular.
///
/// Ten digits are lost then, of the sixteen there are.
pub const SINGULAR: f64 = 1e10;
/// Up to this many samples a dense factorisation is taken. There factors of a symmetric K take as long as 25 iterations with
/// landmarks and their preparation, which is what a penalty of 10 needs (`benchsuite/thresholds.py`).
pub(crate) const DENSE: usize = 5000;
/// Krylov spaces are tried first: of so small a share of all dimensions that failing costs less than what follows, and of at most
/// so many.
const SHARE: usize = 8;
const MOST: usize = 512;
/// The share where K is symmetric and small enough to be factored, which takes a sixth of the time.
const SYMMETRIC_SHARE: usize = 32;

/// Numbers of samples at which `auto` changes its way; tests lower them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From so many on Krylov spaces are tried first.
    krylov: usize,
    /// Up to so many factors come next, beyond it MINRES.
    dense: usize,
    /// Up to so many factors follow where MINRES has not finished, if they fit the memory.
    factored: usize,
    /// Up to so many a complete decomposition pays for several penalties.
    complete: usize,
}

impl Limits {
    pub(crate) const USUAL: Limits = Limits { krylov: 500, dense: DENSE, factored: 20_000, complete: 1500 };

    /// Whether landmarks make products so few that spaces without them are not worth a trial.
    fn has_landmarks(&self, k: &dyn Operator<f64>, symmetric: bool) -> bool {
        symmetric && k.nrows() > self.dense && k.access() != Access::Products
    }

    /// Whether K_c and its factors fit the memory.
    fn allow_factors(&self, n: usize) -> bool {
        n <= self.factored && 16 * (n as u64).pow(2) <= operator::available_memory()
    }
}

/// What to do with a singular system.
///
/// M is singular where penalty·σ = 1 for a singular value of K_c, which is nothing exotic: row-normalised graphs have
/// many σ = 1. "Singular" is never guessed: a vector that M shortens by a factor beyond [`SINGULAR`] must have been
/// found.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linsys::{CoupledSystem, OnSingular, Route};
/// use lopsided::{Error, Mat, Run};
///
/// // K = I has σ = 1, so penalty 1 makes M singular; the targets lie where its eigenvalue is g + 1 = 2.
/// let k = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
/// let y = Mat::from_fn(4, 1, |i, _| if i < 2 { 1.0 } else { -1.0 });
/// let solve = |on_singular| {
///     let system = CoupledSystem { penalty: 1.0, on_singular, route: Route::Svd, ..CoupledSystem::default() };
///     system.solve(&k, y.as_ref(), &Run::default())
/// };
/// assert!((solve(OnSingular::Tikhonov(1.0))?.a[(0, 0)] - 2.0 / 5.0).abs() < 1e-9); // h/(h² + λ)
/// assert!((solve(OnSingular::MinNorm)?.a[(0, 0)] - 0.5).abs() < 1e-9); // 1/h
/// assert!(matches!(solve(OnSingular::Error), Err(Error::Singular { .. })));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnSingular {
    /// (M² + λI)⁻¹·M instead of M⁻¹.
    Tikhonov(f64),
    /// The pseudo-inverse of M.
    MinNorm,
    /// Refuse.
    Error,
}

impl Default for OnSingular {
    fn default() -> Self {
        WAYS[0].1
    }
}

impl OnSingular {
    /// The settings of an estimator that takes it.
    pub(crate) fn settings(self) -> Settings {
        match self {
            OnSingular::Tikhonov(lambda) => {
                Settings::default().with("on-singular", "tikhonov").with("tikhonov", lambda)
            }
            other => {
                let name = WAYS.iter().find(|(_, way)| *way == other).map(|(name, _)| *name);
                Settings::default().with_some("on-singular", name)
            }
        }
    }

    /// λ of Tikhonov's method; 0 is least norm.
    fn lambda(self) -> f64 {
        if let OnSingular::Tikhonov(lambda) = self { lambda } else { 0.0 }
    }
}

impl fmt::Display for OnSingular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OnSingular::Tikhonov(lambda) => write!(f, "Tikhonov's method with λ = {lambda}"),
            OnSingular::MinNorm => f.write_str("the solution of least norm"),
            OnSingular::Error => f.write_str("an error"),
        }
    }
}

/// How the system is solved.
///
/// ```
/// use lopsided::solvers::linsys::Route;
///
/// assert_eq!("minres".parse::<Route>()?, Route::Minres);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// By size and operator.
    #[default]
    Auto,
    /// Complete singular value decomposition of K_c; serves every penalty.
    Svd,
    /// Symmetric indefinite factorisation of g²I − K_c·K_cᵀ.
    Dense,
    /// Block Krylov spaces of the targets, which serve every penalty.
    Krylov,
    /// Products alone: preconditioned MINRES, damped LSMR for Tikhonov's method.
    Minres,
    /// Tikhonov's method by damped LSMR, singular or not; without it least squares of least norm.
    Lsmr,
    /// K_c replaced by so many singular triplets: O(n·rank) after they are found.
    LowRank(usize),
}

/// Routes that have a name.
const ROUTES: [(&str, Route); 6] = [
    ("auto", Route::Auto),
    ("svd", Route::Svd),
    ("dense", Route::Dense),
    ("krylov", Route::Krylov),
    ("minres", Route::Minres),
    ("lsmr", Route::Lsmr),
];

impl Route {
    /// The settings of an estimator that takes it.
    pub(crate) fn settings(self) -> Settings {
        if let Route::LowRank(rank) = self {
            return Settings::default().with("solver", "nystrom").with("rank", rank);
        }
        let name = ROUTES.iter().find(|(_, route)| *route == self).map(|(name, _)| *name);
        Settings::default().with_some("route", name)
    }
}

/// Ways with singular systems that have a name.
const WAYS: [(&str, OnSingular); 3] =
    [("tikhonov", OnSingular::Tikhonov(1.0)), ("min-norm", OnSingular::MinNorm), ("error", OnSingular::Error)];

/// The one of this name.
fn named<V: Copy>(kind: &'static str, list: &[(&str, V)], text: &str) -> Result<V> {
    list.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| Error::Unknown {
        kind,
        name: text.into(),
        known: list.iter().map(|(name, _)| (*name).into()).collect(),
    })
}

impl FromStr for OnSingular {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("way with singular systems", &WAYS, text)
    }
}

impl FromStr for Route {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("route", &ROUTES, text)
    }
}

/// A coupled system and how to solve it.
///
/// All targets share one matrix, so that one factorisation or one Krylov space serves every class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledSystem {
    /// γ of \[AsKLS\]: the weight of the errors.
    pub penalty: f64,
    /// What to do when it is singular.
    pub on_singular: OnSingular,
    /// How to solve it.
    pub route: Route,
    /// Residual of iterative routes relative to the right-hand side.
    pub tol: f64,
    /// Whether K equals its transpose: then a = b, and conditions are those of g·I + K_c.
    pub symmetric: bool,
}

impl Default for CoupledSystem {
    /// Penalty 1, Tikhonov's method with λ = 1 where singular, any route, residual 1e-10, any K.
    fn default() -> Self {
        let on_singular = OnSingular::default();
        CoupledSystem { penalty: 1.0, on_singular, route: Route::Auto, tol: 1e-10, symmetric: false }
    }
}

/// Coefficients of both functions, one column per target: f_s(x) = Σ_j k(x, x_j)·b_j + β_s,
/// f_t(z) = Σ_i k(x_i, z)·a_i + β_t (\[AsKLS\] Eq. (7)).
///
/// With labels of ±1 these are the coefficients times the labels: a = α∘y and b = β∘y in the letters of the paper.
#[derive(Clone, Debug)]
pub struct CoupledSolution {
    /// a, the weights of the target function.
    pub a: Mat<f64>,
    /// b, the weights of the source function.
    pub b: Mat<f64>,
    /// β_s, one per target.
    pub bias_source: Vec<f64>,
    /// β_t, one per target.
    pub bias_target: Vec<f64>,
    /// How it was found.
    pub report: SystemReport,
}

impl CoupledSystem {
    /// Solves for all columns of `targets` at once.
    ///
    /// With [`Route::Auto`]:
    ///
    /// 1. From 500 samples on, Krylov spaces of the targets, of so few dimensions that failing costs less than what
    ///    follows; not where a symmetric K is solved by products, as landmarks make those few.
    /// 2. Up to 5000 samples factors of half the size of M; where refinement cannot make them accurate, the complete
    ///    decomposition.
    /// 3. Beyond, MINRES for as many iterations as cost less than factors, then factors if they fit the memory. A symmetric K is
    ///    preconditioned by landmarks: 1000 of them, or one for every 20 samples up to 2500; another one by 128 triplets, and by
    ///    1024 where iterations have cost as much as these.
    /// 4. Whatever was found is measured by products of its own, and the biases follow from the means.
    ///
    /// # Errors
    /// [`Error::Param`], [`Error::Shape`] and [`Error::NotFinite`] for what cannot be used, [`Error::Singular`] with
    /// [`OnSingular::Error`], [`Error::Interrupted`].
    pub fn solve(&self, k: &dyn Operator<f64>, targets: MatRef<'_, f64>, run: &Run) -> Result<CoupledSolution> {
        self.solve_within(k, targets, run, &Limits::USUAL)
    }

    fn solve_within(
        &self,
        k: &dyn Operator<f64>,
        targets: MatRef<'_, f64>,
        run: &Run,
        limits: &Limits,
    ) -> Result<CoupledSolution> {
        self.check(k, targets)?;
        let columns = match self.route {
            Route::Krylov => k.nrows(),
            Route::Auto if k.nrows() >= limits.krylov && !limits.has_landmarks(k, self.symmetric) => {
                let share = if self.symmetric && k.nrows() <= limits.dense { SYMMETRIC_SHARE } else { SHARE };
                (k.nrows() / share).min(MOST)
            }
            _ => return self.solve_directly(k, targets, run, limits, None),
        };
        let found = PenaltyPath::within(k, targets, columns, self.symmetric, *limits)?.by_krylov(self, run)?;
        found.map_or_else(|| self.solve_directly(k, targets, run, limits, None), Ok)
    }

    /// The solution by a route that does not depend on the targets, with what other penalties have found out about K.
    fn solve_directly(
        &self,
        k: &dyn Operator<f64>,
        targets: MatRef<'_, f64>,
        run: &Run,
        limits: &Limits,
        known: Option<&Landmarks>,
    ) -> Result<CoupledSolution> {
        let n = k.nrows();
        let factors = n <= limits.dense;
        let whole = match self.route {
            Route::Svd | Route::Dense => true,
            Route::Auto | Route::Krylov => factors,
            Route::Minres | Route::Lsmr | Route::LowRank(_) => false,
        };
        let stored = if whole && k.access() != Access::Products { Some(stored(k)?) } else { None };
        let means = stored.as_ref().map_or_else(|| Means::of(k), |(_, means)| Ok(means.clone()))?;
        let centered: Box<dyn Operator<f64> + '_> = match &stored {
            Some((matrix, _)) => Box::new(DenseOperator::Borrowed(matrix.as_ref())),
            None => Box::new(Centered::new(k, means.clone())),
        };
        let matrix = stored.as_ref().map(|(matrix, _)| matrix.as_ref());
        let noise = if matrix.is_some() { 0.0 } else { means.noise() };
        let problem = Problem { stored: matrix, known, noise, ..self.problem(&*centered, targets, run) };
        let asked = "asked for";
        let solved = match self.route {
            Route::Svd => problem.gate(Spectral::complete(&*centered, self.symmetric)?.solved(&problem)?, asked)?,
            Route::LowRank(rank) => problem.by_triplets(rank)?,
            Route::Dense => problem.gate(dense::solve(&problem)?, asked)?,
            Route::Lsmr => problem.gate(lsmr::solve(&problem, self.on_singular.lambda())?, asked)?,
            Route::Minres => {
                let solved = problem.gate(minres::solve(&problem, minres::most(&problem))?, asked)?;
                if solved.report.converged() || !factors {
                    solved
                } else {
                    problem.gate(dense::solve(&problem)?, "MINRES did not settle")?
                }
            }
            Route::Auto | Route::Krylov if factors => problem.by_factors(limits)?,
            Route::Auto | Route::Krylov => problem.by_products(limits)?,
        };
        Ok(solved.with_biases(&means, targets))
    }

    fn problem<'a>(&'a self, k: &'a dyn Operator<f64>, targets: MatRef<'_, f64>, run: &'a Run) -> Problem<'a> {
        let (g, y) = (1.0 / self.penalty, centred(targets));
        Problem { g, k, stored: None, y, system: self, run, parts: None, known: None, centred: true, noise: 0.0 }
    }

    fn check(&self, k: &dyn Operator<f64>, targets: MatRef<'_, f64>) -> Result<()> {
        let (n, m) = (k.nrows(), k.ncols());
        if n != m || n < 2 {
            return Err(Error::shape("the kernel matrix", "square with at least 2 samples", format!("{n} x {m}")));
        }
        if targets.nrows() != n {
            return Err(Error::shape("number of targets", n, targets.nrows()));
        }
        SamplesRef::Dense(targets).check_finite("the targets")?;
        check_penalty(self.penalty)?;
        match self.on_singular {
            OnSingular::Tikhonov(lambda) if !(lambda.is_finite() && lambda > 0.0) => {
                Err(Error::param("tikhonov", lambda, "a positive number"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether so many samples of a symmetric K are solved by products, which then cost less than factors.
pub(crate) fn takes_products(n: usize) -> bool {
    n > Limits::USUAL.dense
}

/// (K + I/penalty)⁻¹·y of a symmetric K that is not centred, by products alone: kernel ridge regression.
///
/// # Errors
/// [`Error::Singular`] where it is shown to be, [`Error::Interrupted`].
pub(crate) fn ridge(k: &dyn Operator<f64>, penalty: f64, y: Mat<f64>, run: &Run) -> Result<(Mat<f64>, SystemReport)> {
    let on_singular = OnSingular::Error;
    let system = CoupledSystem { penalty, on_singular, symmetric: true, ..CoupledSystem::default() };
    let (g, noise) = (1.0 / penalty, 0.0);
    let problem =
        Problem { g, k, stored: None, y, system: &system, run, parts: None, known: None, centred: false, noise };
    let solved = problem.gate(minres::solve(&problem, minres::most(&problem))?, "asked for")?;
    Ok((solved.a, solved.report))
}

pub(crate) fn check_penalty(penalty: f64) -> Result<()> {
    if penalty.is_finite() && penalty > 0.0 {
        return Ok(());
    }
    Err(Error::param("penalty", penalty, "a positive number"))
}

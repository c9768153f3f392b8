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

mod dense;
mod krylov;
mod lsmr;
mod minres;
mod spectral;

use krylov::Krylov;
pub use spectral::Spectral;

use crate::error::{Error, Result};
use crate::linalg;
use crate::operator::{self, Access, Centered, DenseOperator, Means, Operator};
use crate::svd::Run;
use faer::{Mat, MatRef};
use std::fmt;
use std::str::FromStr;

/// Condition number beyond which a system counts as singular.
pub const SINGULAR: f64 = 1e10;
/// Up to this many samples a dense factorisation is taken.
pub(crate) const DENSE: usize = 5000;
/// From so many samples on Krylov spaces are tried first: of so small a share of all dimensions that failing costs less than
/// what follows, and of at most so many.
const KRYLOV: usize = 500;
const SHARE: usize = 8;
const MOST: usize = 512;
/// The share where K is symmetric and small enough to be factored, which takes a sixth of the time.
const SYMMETRIC_SHARE: usize = 32;
/// Up to this many samples a complete decomposition pays for several penalties.
const COMPLETE: usize = 1500;

/// What to do with a singular system.
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
        OnSingular::Tikhonov(1.0)
    }
}

impl OnSingular {
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

impl FromStr for Route {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        const NAMES: [(&str, Route); 6] = [
            ("auto", Route::Auto),
            ("svd", Route::Svd),
            ("dense", Route::Dense),
            ("krylov", Route::Krylov),
            ("minres", Route::Minres),
            ("lsmr", Route::Lsmr),
        ];
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, route)| *route).ok_or_else(|| Error::Unknown {
            kind: "route",
            name: text.into(),
            known: NAMES.map(|(name, _)| name.into()).to_vec(),
        })
    }
}

/// A coupled system and how to solve it.
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

/// Account of a solved system.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SystemReport {
    /// `svd`, `dense`, `minres`, `lsmr` or `low-rank`.
    pub route: String,
    /// Why it was taken.
    pub why: String,
    /// Condition number of M, of g·I + K_c for a symmetric K; infinite when it is singular to working precision.
    pub condition: f64,
    /// Whether that number is an estimate.
    pub estimated: bool,
    /// ‖M·\[a; b\] − \[y_c; y_c\]‖/‖\[y_c; y_c\]‖, the largest of all targets.
    pub residual: f64,
    /// Iterations of an iterative route.
    pub iterations: u64,
    /// What a user should know.
    pub warnings: Vec<String>,
}

impl CoupledSystem {
    /// Solves for all columns of `targets` at once.
    ///
    /// # Errors
    /// [`Error::Param`], [`Error::Shape`] and [`Error::NotFinite`] for what cannot be used, [`Error::Singular`] with
    /// [`OnSingular::Error`], [`Error::Interrupted`].
    pub fn solve(&self, k: &dyn Operator<f64>, targets: MatRef<'_, f64>, run: &Run) -> Result<CoupledSolution> {
        self.check(k, targets)?;
        let columns = match self.route {
            Route::Krylov => k.nrows(),
            Route::Auto if k.nrows() >= KRYLOV => self.share(k.nrows()).min(MOST),
            _ => return self.solve_directly(k, targets, run),
        };
        let found = PenaltyPath::within(k, targets, columns, self.symmetric)?.by_krylov(self, run)?;
        found.map_or_else(|| self.solve_directly(k, targets, run), Ok)
    }

    /// Dimensions of spaces that cost less than what follows if they do not suffice.
    fn share(&self, n: usize) -> usize {
        n / if self.symmetric && n <= DENSE { SYMMETRIC_SHARE } else { SHARE }
    }

    /// The solution by a route that does not depend on the targets.
    fn solve_directly(&self, k: &dyn Operator<f64>, targets: MatRef<'_, f64>, run: &Run) -> Result<CoupledSolution> {
        let (route, why) = self.choose(k);
        let whole = matches!(route, Route::Svd | Route::Dense) && k.access() != Access::Products;
        let stored = if whole { Some(stored(k)?) } else { None };
        let means = stored.as_ref().map_or_else(|| Means::of(k), |(_, means)| Ok(means.clone()))?;
        let centered: Box<dyn Operator<f64> + '_> = match &stored {
            Some((matrix, _)) => Box::new(DenseOperator::Borrowed(matrix.as_ref())),
            None => Box::new(Centered::new(k, means.clone())),
        };
        let matrix = stored.as_ref().map(|(matrix, _)| matrix.as_ref());
        let problem = Problem { stored: matrix, ..self.problem(&*centered, targets, run) };
        let mut solved = match route {
            Route::Svd => Spectral::complete(&*centered, self.symmetric)?.solved(&problem)?,
            Route::LowRank(rank) => Spectral::leading(&*centered, rank, self.symmetric, run)?.solved(&problem)?,
            Route::Dense => dense::solve(&problem)?,
            Route::Lsmr => lsmr::solve(&problem, self.on_singular.lambda())?,
            Route::Minres | Route::Krylov | Route::Auto => minres::solve(&problem)?,
        };
        solved.report.why = why;
        solved.report.residual = problem.residual(&solved)?;
        Ok(solved.with_biases(&means, targets))
    }

    fn problem<'a>(&'a self, k: &'a dyn Operator<f64>, targets: MatRef<'_, f64>, run: &'a Run) -> Problem<'a> {
        Problem { g: 1.0 / self.penalty, k, stored: None, y: centred(targets), system: self, run }
    }

    fn choose(&self, k: &dyn Operator<f64>) -> (Route, String) {
        let n = k.nrows();
        match self.route {
            Route::Auto | Route::Krylov if n <= DENSE => (Route::Dense, format!("{n} samples, at most {DENSE}")),
            Route::Auto | Route::Krylov => (Route::Minres, format!("{n} samples, more than {DENSE}")),
            route => (route, "asked for".into()),
        }
    }

    fn check(&self, k: &dyn Operator<f64>, targets: MatRef<'_, f64>) -> Result<()> {
        let (n, m) = (k.nrows(), k.ncols());
        if n != m || n < 2 {
            return Err(Error::shape("the kernel matrix", "square with at least 2 samples", format!("{n} x {m}")));
        }
        if targets.nrows() != n {
            return Err(Error::shape("number of targets", n, targets.nrows()));
        }
        crate::samples::SamplesRef::Dense(targets).check_finite("the targets")?;
        check_penalty(self.penalty)?;
        match self.on_singular {
            OnSingular::Tikhonov(lambda) if !(lambda.is_finite() && lambda > 0.0) => {
                Err(Error::param("tikhonov", lambda, "a positive number"))
            }
            _ => Ok(()),
        }
    }
}

/// One K and its targets for many penalties: what is learned of K for one serves the next.
///
/// Penalties are solved in the Krylov spaces of the targets, which grow until the residual is 1e-12; where half of all
/// dimensions do not suffice, by a complete decomposition. With more than 1500 samples the spaces have at most 512 dimensions, for a
/// symmetric K fewer, and what they do not suffice for is solved one by one.
pub struct PenaltyPath<'a> {
    k: &'a dyn Operator<f64>,
    means: Means<f64>,
    targets: Mat<f64>,
    krylov: Krylov,
    complete: Option<Spectral>,
    symmetric: bool,
}

impl<'a> PenaltyPath<'a> {
    /// Begins with the first space; `symmetric` says whether K equals its transpose.
    ///
    /// # Errors
    /// Those of [`CoupledSystem::solve`].
    pub fn new(k: &'a dyn Operator<f64>, targets: MatRef<'_, f64>, symmetric: bool) -> Result<Self> {
        let n = k.nrows();
        let columns = if symmetric && n <= DENSE {
            n / SYMMETRIC_SHARE
        } else if n <= COMPLETE {
            n / 2
        } else {
            (n / 4).min(MOST)
        };
        PenaltyPath::within(k, targets, columns, symmetric)
    }

    /// The same with spaces of at most so many dimensions.
    fn within(k: &'a dyn Operator<f64>, targets: MatRef<'_, f64>, columns: usize, symmetric: bool) -> Result<Self> {
        CoupledSystem::default().check(k, targets)?;
        let krylov = Krylov::new(&centred(targets), columns, symmetric)?;
        Ok(PenaltyPath { k, means: Means::of(k)?, targets: targets.to_owned(), krylov, complete: None, symmetric })
    }

    /// The solution for one penalty; with [`Route::Svd`] by the complete decomposition.
    ///
    /// # Errors
    /// Those of [`CoupledSystem::solve`].
    pub fn solve(&mut self, system: &CoupledSystem, run: &Run) -> Result<CoupledSolution> {
        let system = &CoupledSystem { symmetric: self.symmetric, ..*system };
        system.check(self.k, self.targets.as_ref())?;
        if system.route != Route::Svd {
            if let Some(found) = self.by_krylov(system, run)? {
                return Ok(found);
            }
            if self.symmetric || self.k.nrows() > COMPLETE {
                return system.solve_directly(self.k, self.targets.as_ref(), run);
            }
        }
        let centered = Centered::new(self.k, self.means.clone());
        let spectral = match self.complete.take() {
            Some(spectral) => spectral,
            None => Spectral::complete(&centered, self.symmetric)?,
        };
        let problem = system.problem(&centered, self.targets.as_ref(), run);
        let solved = self.complete.insert(spectral).solved(&problem)?;
        Ok(solved.with_biases(&self.means, self.targets.as_ref()))
    }

    /// The solution in the Krylov spaces, if they may grow as much as it takes.
    fn by_krylov(&mut self, system: &CoupledSystem, run: &Run) -> Result<Option<CoupledSolution>> {
        let centered = Centered::new(self.k, self.means.clone());
        let problem = system.problem(&centered, self.targets.as_ref(), run);
        let Some(mut solved) = self.krylov.solve(&problem)? else { return Ok(None) };
        if !solved.report.warnings.is_empty() {
            solved.report.residual = problem.residual(&solved)?;
        }
        Ok(Some(solved.with_biases(&self.means, self.targets.as_ref())))
    }
}

pub(crate) fn check_penalty(penalty: f64) -> Result<()> {
    if penalty.is_finite() && penalty > 0.0 {
        return Ok(());
    }
    Err(Error::param("penalty", penalty, "a positive number"))
}

/// M with its right-hand side, shared by the routes.
struct Problem<'a> {
    g: f64,
    /// K_c.
    k: &'a dyn Operator<f64>,
    /// All of it, where it is in memory.
    stored: Option<MatRef<'a, f64>>,
    /// Centred targets.
    y: Mat<f64>,
    system: &'a CoupledSystem,
    run: &'a Run,
}

/// \[a; b\] before the biases are known.
struct Solved {
    a: Mat<f64>,
    b: Mat<f64>,
    report: SystemReport,
}

impl Problem<'_> {
    fn n(&self) -> usize {
        self.y.nrows()
    }

    /// \[y_c; y_c\].
    fn rhs(&self) -> Mat<f64> {
        stacked(self.y.as_ref(), self.y.as_ref())
    }

    /// M·w for w = \[a; b\].
    fn apply(&self, w: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.run.watch.check()?;
        let n = self.n();
        let (a, b) = (w.subrows(0, n), w.subrows(n, n));
        let mut out = w.to_owned() * faer::Scale(self.g);
        let mut product = Mat::zeros(n, w.ncols());
        let (mut top, mut bottom) = out.as_mut().split_at_row_mut(n);
        self.k.apply(b, product.as_mut())?;
        top += &product;
        self.k.apply_transpose(a, product.as_mut())?;
        bottom += &product;
        Ok(out)
    }

    /// Largest relative residual over the targets.
    fn residual(&self, solved: &Solved) -> Result<f64> {
        let difference = self.apply(stacked(solved.a.as_ref(), solved.b.as_ref()).as_ref())? - self.rhs();
        let lengths = linalg::column_norms(self.rhs().as_ref());
        let relative = linalg::column_norms(difference.as_ref()).into_iter().zip(lengths);
        Ok(relative.map(|(d, l)| if l > 0.0 { d / l } else { d }).fold(0.0, f64::max))
    }

    /// The sentence about a singular system that was solved otherwise; an error where that was asked for.
    fn singular(&self, condition: f64) -> Result<String> {
        let number = if condition.is_finite() { format!("{condition:.1e}") } else { "infinite".into() };
        let (how, number) = if condition > SINGULAR {
            ("singular", number)
        } else {
            ("singular or near it, as MINRES does not settle", format!("at least {number}"))
        };
        let on_singular = self.system.on_singular;
        if on_singular == OnSingular::Error {
            let penalty = self.system.penalty;
            return Err(Error::Singular {
                what: format!(
                    "the {} system with penalty {penalty} (condition number {number}; take another penalty)",
                    if self.system.symmetric { "LS-SVM" } else { "AsK-LS" }
                ),
            });
        }
        Ok(format!("the system is {how} (condition number {number}): {on_singular} was taken"))
    }
}

impl Solved {
    /// β_s = mean(y − K·b) and β_t = mean(y − Kᵀ·a).
    fn with_biases(self, means: &Means<f64>, targets: MatRef<'_, f64>) -> CoupledSolution {
        let n = targets.nrows() as f64;
        let bias = |weights: &Mat<f64>, of: &[f64]| -> Vec<f64> {
            let shift = |c: usize| weights.col(c).iter().zip(of).map(|(w, m)| w * m).sum::<f64>();
            (0..targets.ncols()).map(|c| targets.col(c).iter().sum::<f64>() / n - shift(c)).collect()
        };
        let (bias_source, bias_target) = (bias(&self.b, &means.cols), bias(&self.a, &means.rows));
        CoupledSolution { a: self.a, b: self.b, bias_source, bias_target, report: self.report }
    }
}

/// K_c in memory, and the means of K.
fn stored(k: &dyn Operator<f64>) -> Result<(Mat<f64>, Means<f64>)> {
    let mut matrix = operator::materialize(k)?;
    let means = Means::of(&DenseOperator::Borrowed(matrix.as_ref()))?;
    means.subtract_from(matrix.as_mut());
    Ok((matrix, means))
}

/// Columns minus their means.
pub(crate) fn centred(y: MatRef<'_, f64>) -> Mat<f64> {
    let mean: Vec<f64> = y.col_iter().map(|c| c.iter().sum::<f64>() / y.nrows() as f64).collect();
    Mat::from_fn(y.nrows(), y.ncols(), |i, c| y[(i, c)] - mean[c])
}

/// \[a; b\].
fn stacked(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows() + b.nrows(), a.ncols());
    out.as_mut().subrows_mut(0, a.nrows()).copy_from(a);
    out.as_mut().subrows_mut(a.nrows(), b.nrows()).copy_from(b);
    out
}

/// The upper and the lower half.
fn halves(w: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    let n = w.nrows() / 2;
    (w.subrows(0, n).to_owned(), w.subrows(n, n).to_owned())
}

/// aᵀb column by column.
pub(crate) fn dots(a: &Mat<f64>, b: &Mat<f64>) -> Vec<f64> {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()).collect()
}

/// Column c of `out` += factors\[c\] · column c of `other`.
fn add_scaled(out: &mut Mat<f64>, factors: &[f64], other: &Mat<f64>) {
    for (c, &factor) in factors.iter().enumerate() {
        out.col_mut(c).iter_mut().zip(other.col(c).iter()).for_each(|(o, v)| *o += factor * v);
    }
}

/// Column c times factors\[c\].
fn scale(out: &mut Mat<f64>, factors: &[f64]) {
    for (c, &factor) in factors.iter().enumerate() {
        out.col_mut(c).iter_mut().for_each(|o| *o *= factor);
    }
}

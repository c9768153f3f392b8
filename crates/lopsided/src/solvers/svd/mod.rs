//! Leading singular triplets of an operator.
//!
//! A solver sees nothing but products with G and Gᵀ (Nyström also blocks of entries). Convergence is two-sided:
//! max(‖G v − σ u‖, ‖Gᵀu − σ v‖) ≤ tol·σ for every triplet and its own σ, as far as the precision allows, measured at the end by
//! products of its own (`gate`). Not converging is not an error; the report says what was reached.
//!
//! ```
//! use lopsided::operator::DenseOperator;
//! use lopsided::base::settings::Settings;
//! use lopsided::Run;
//! use lopsided::solvers::svd::solver;
//! use lopsided::Mat;
//!
//! let g = Mat::from_fn(40, 30, |i, j| 1.0 / (1 + i + 2 * j) as f64);
//! let solver = solver::<f64>("lanczos", &Settings::default().with("tol", 1e-10))?;
//! let svd = solver.solve(&DenseOperator::Borrowed(g.as_ref()), 3, &Run::default())?;
//! assert!(svd.report.converged() && svd.sigma.len() == 3);
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! | solver | products with G | memory besides G | when |
//! | --- | --- | --- | --- |
//! | [`Exact`] | all entries once | 2·n·m | small matrices, or most of the triplets |
//! | [`Lanczos`] | until the residuals are small | (n + m)·12·(rank + 4) at most | the default for everything larger |
//! | [`Randomized`] | at most `passes` blocks | (n + m)·(rank + 10)·passes | a rough answer at a fixed price |
//! | [`Nystrom`] | a few blocks, or none at all | landmarks² and (n + m)·rank | products are dear or out of reach |
//! | [`SymmetricNystrom`] | whole rows and columns | likewise | comparisons with the literature only |
//! | [`Auto`] | those of [`Exact`] or [`Lanczos`] | likewise | whenever nobody asks for another |
//!
//! Every solver ends alike: triplets that are zero to working precision are dropped, and a note says so; signs are
//! fixed, so that the entry of largest magnitude in each column of U is positive; both residuals of every triplet are
//! measured; and a note tells where the last value is one of several equal ones, of which some were cut off.

mod auto;
mod estimate;
mod exact;
mod gate;
mod krylov;
mod lanczos;
mod nystrom;
mod randomized;
mod symmetric_nystrom;

pub use auto::Auto;
pub use exact::Exact;
pub(crate) use gate::Goal;
pub use gate::Measured;
pub(crate) use krylov::orthogonalize;
pub use lanczos::Lanczos;
pub use nystrom::Nystrom;
pub(crate) use nystrom::{decompose, to_unit_columns};
pub use randomized::Randomized;
pub use symmetric_nystrom::SymmetricNystrom;

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::registry::{self, Entry};
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::operator::Operator;
use faer::Mat;

/// Finds the leading singular triplets of G from products alone.
///
/// [`solver`] makes one by name; a solver of your own only has to say what it finds and what it costs.
pub trait SvdSolver<T: Scalar>: Send + Sync {
    /// The `rank` leading triplets, fewer where G has fewer nonzero singular values.
    ///
    /// # Errors
    /// [`Error::Param`] for a rank that is not between 1 and min(n, m) and for entries that are not finite,
    /// [`Error::Interrupted`]. Not converging is no error: [`SolveReport::converged`] tells.
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>>;

    /// Bytes the solver holds at its peak for an n×m matrix, besides the operator, and the products it expects to need.
    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan;

    /// The plan where products with all of G are out of reach, for a solver that can do with blocks of it.
    fn plan_from_blocks(&self, _n: usize, _m: usize, _rank: usize) -> Option<SolverPlan> {
        None
    }
}

/// What a solver will cost, known before anything is allocated.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::solvers::svd::solver;
///
/// let auto = solver::<f64>("auto", &Settings::default())?;
/// let (small, large) = (auto.plan(100, 80, 5), auto.plan(50_000, 20_000, 5));
/// assert_eq!((small.solver, large.solver), ("exact", "lanczos"));
/// assert!(small.bytes < large.bytes);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SolverPlan {
    /// Name in the list of [`solvers`]; for `auto` the one it would take.
    pub solver: &'static str,
    /// Why, when there was a choice.
    pub why: String,
    /// Peak bytes.
    pub bytes: u64,
    /// Expected products of G or Gᵀ with one vector.
    pub products: u64,
    /// Expected floating-point operations outside the products.
    pub flops: f64,
}

/// G ≈ U·diag(σ)·Vᵀ with orthonormal columns of U and V, σ descending and positive.
///
/// Signs are fixed together: the entry of largest magnitude in each column of U is positive, and V is flipped along, so
/// that U·Σ·Vᵀ stays what it is. Equal data give equal signs.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::{Exact, Svd, SvdSolver};
/// use lopsided::{Mat, Run};
///
/// let g = Mat::from_fn(2, 3, |i, j| [[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]][i][j]);
/// let svd: Svd<f64> = Exact { tol: 1e-10 }.solve(&DenseOperator::Borrowed(g.as_ref()), 2, &Run::default())?;
/// assert!((svd.sigma[0] - 3.0).abs() < 1e-12 && (svd.sigma[1] - 2.0).abs() < 1e-12);
/// assert!((svd.u[(1, 0)] - 1.0).abs() < 1e-12 && (svd.v[(0, 0)] - 1.0).abs() < 1e-12); // G takes e₀ to 3·e₁
/// assert!((svd.u.transpose() * &svd.u - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svd<T> {
    /// Left singular vectors, one column each.
    pub u: Mat<T>,
    /// Singular values.
    pub sigma: Vec<T>,
    /// Right singular vectors.
    pub v: Mat<T>,
    /// How U and V follow from landmarks, where they do.
    pub extension: Option<Extension<T>>,
    /// What it took.
    pub report: SolveReport,
}

/// U = G\[:, cols\]·row_weights and V = G\[rows, :\]ᵀ·col_weights: vectors extended from landmarks (\[KSVD\] Eq. (8)).
///
/// New samples are placed by the same products, so that a training sample lands on its own row of U or V. Without landmarks among the
/// rows, V = Gᵀ·U·Σ⁻¹ places columns as it does without an extension.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::operator::{DenseOperator, Operator, Submatrix};
/// use lopsided::solvers::svd::solver;
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(60, 50, |i, j| (i + j) as f64)); // rank two
/// let settings = Settings::default().with("rows-sample", 20).with("cols-sample", 20).with("polish", false);
/// let svd = solver::<f64>("nystrom", &settings)?.solve(&g, 2, &Run::default())?;
/// let from = svd.extension.as_ref().expect("Nyström vectors come from landmarks");
/// let mut u = Mat::<f64>::zeros(60, 2);
/// Submatrix::<f64>::new(&g, None, Some(&from.cols)).apply(from.row_weights.as_ref(), u.as_mut())?;
/// assert!((u - &svd.u).norm_max() < 1e-10);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Extension<T> {
    /// Landmarks among the rows of G.
    pub rows: Vec<usize>,
    /// Landmarks among the columns of G.
    pub cols: Vec<usize>,
    /// One row per column landmark.
    pub row_weights: Mat<T>,
    /// One row per row landmark.
    pub col_weights: Mat<T>,
}

/// A solver's account of its work.
///
/// Numbers of products count vectors, not calls: a product with a block of 8 vectors counts 8.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SolveReport {
    /// The solver that ran.
    pub solver: String,
    /// Why it was chosen.
    pub why: String,
    /// Products of G or Gᵀ with one vector.
    pub products: u64,
    /// Restarts of an iterative solver.
    pub restarts: u64,
    /// Residuals and the verdict on them, set by the gate alone.
    #[serde(flatten)]
    pub(crate) measured: Measured,
    /// Nyström solvers: estimate of ‖G − U·Σ·Vᵀ‖_F / ‖G‖_F.
    pub error_estimate: Option<f64>,
    /// Nyström solvers: landmarks among rows and columns.
    pub landmarks: Option<(usize, usize)>,
    /// Seconds in products with G; not saved, so that equal work gives equal files.
    #[serde(skip)]
    pub seconds_in_operator: f64,
    /// Seconds in everything else; not saved.
    #[serde(skip)]
    pub seconds_in_ortho: f64,
    /// What a user should know, in sentences.
    pub notes: Vec<String>,
}

impl SolveReport {
    /// For each triplet max(‖G v − σ u‖, ‖Gᵀu − σ v‖) / σ.
    pub fn residuals(&self) -> &[f64] {
        self.measured.residuals()
    }

    /// True when every residual is at most the tolerance, or what the precision allows, and no triplet is missing.
    pub fn converged(&self) -> bool {
        self.measured.converged()
    }

    /// The largest residual; 0 without triplets.
    pub fn residual(&self) -> f64 {
        self.residuals().iter().copied().fold(0.0, f64::max)
    }
}

/// All solvers. The order is the order of every listing.
///
/// ```
/// let names: Vec<&str> = lopsided::solvers::svd::solvers::<f64>().iter().map(|entry| entry.name).collect();
/// assert_eq!(names, ["auto", "exact", "lanczos", "randomized", "nystrom", "symmetric-nystrom"]);
/// ```
pub fn solvers<T: Scalar>() -> Vec<Entry<dyn SvdSolver<T>>> {
    vec![
        auto::entry(),
        exact::entry(),
        lanczos::entry(),
        randomized::entry(),
        nystrom::entry(),
        symmetric_nystrom::entry(),
    ]
}

/// The solver called `name`.
///
/// # Errors
/// [`Error::Unknown`] for a name that is not in the list of [`solvers`], [`Error::Param`] for a setting that it does
/// not take or that is outside its range.
pub fn solver<T: Scalar>(name: &str, params: &Settings) -> Result<Box<dyn SvdSolver<T>>> {
    registry::build("solver", &solvers::<T>(), name, params)
}

/// How the note on a deficient rank begins.
const RANK_NOTE: &str = "G has numerical rank";

/// Largest residual of a triplet.
const TOL: Setting = Setting::new(
    "tol",
    "largest residual of a triplet, relative to its own singular value, that counts as converged",
    "a number above 0 and below 1",
    "1e-6",
);
/// Vectors of an iterative solver.
const BLOCK: Setting = Setting::new(
    "block",
    "vectors multiplied at once by an iterative solver",
    "a whole number of at least 1",
    "by the rank and by what a product costs",
);
/// Restarts of an iterative solver.
const RESTARTS: Setting =
    Setting::new("restarts", "most restarts of an iterative solver", "a whole number of at least 1", "300");
/// An iterative solver of a list.
fn iterating<T: Scalar>(
    name: &'static str,
    about: &'static str,
    build: fn(&Settings) -> Result<Box<dyn SvdSolver<T>>>,
) -> Entry<dyn SvdSolver<T>> {
    Entry { name, about, settings: &[TOL, BLOCK, RESTARTS], build }
}

/// Landmarks among the rows.
const ROWS_SAMPLE: Setting =
    sample("rows-sample", "row landmarks of a Nyström solver", "between the rank and all rows");
/// Landmarks among the columns.
const COLS_SAMPLE: Setting =
    sample("cols-sample", "column landmarks of a Nyström solver", "between the rank and all columns");

const fn sample(name: &'static str, about: &'static str, allowed: &'static str) -> Setting {
    Setting::new(name, about, allowed, "grows until the tolerance is reached")
}

/// Who chooses landmarks.
const SAMPLER: Setting =
    Setting::new("sampler", "how landmarks are chosen", "one of `lopsided list samplers`", "uniform");

/// Default tolerance on residuals relative to each triplet's own σ.
pub const DEFAULT_TOLERANCE: f64 = 1e-6;

/// The tolerance asked for, no smaller than the precision allows.
pub(crate) fn tolerance<T: Scalar>(params: &Settings) -> Result<f64> {
    let tol = params.positive("tol", Some(DEFAULT_TOLERANCE))?;
    if tol >= 1.0 {
        return Err(Error::param("tol", tol, "a number above 0 and below 1"));
    }
    Ok(tol.max(100.0 * T::eps()))
}

/// Checks sizes before any work.
fn check_rank(n: usize, m: usize, rank: usize) -> Result<()> {
    let most = n.min(m);
    if most == 0 {
        return Err(Error::shape("G", "at least 1 x 1", format!("{n} x {m}")));
    }
    if rank == 0 || rank > most {
        return Err(Error::param("rank", rank, format!("between 1 and min(n, m) = {most}")));
    }
    Ok(())
}

impl<T: Scalar> Svd<T> {
    /// What a solver found, (U, σ, V) with σ descending, measured by products with G: the way to a result for solvers that are
    /// implemented elsewhere. At most `rank` triplets are kept, those with σ = 0 dropped, signs fixed; it counts as converged if
    /// all of `rank` triplets are there with residuals of at most `tol`.
    ///
    /// # Errors
    /// [`Error::Shape`] for factors that do not fit G or each other; those of the products.
    pub fn measured(
        solver: &str,
        (u, sigma, v): (Mat<T>, Vec<T>, Mat<T>),
        g: &dyn Operator<T>,
        rank: usize,
        tol: f64,
    ) -> Result<Self> {
        let (wanted, found) = ((g.nrows(), g.ncols(), sigma.len()), (u.nrows(), v.nrows(), u.ncols().min(v.ncols())));
        if wanted != found || u.ncols() != v.ncols() {
            return Err(Error::shape("the triplets of a solver", format!("{wanted:?}"), format!("{found:?}")));
        }
        let report = SolveReport { solver: solver.into(), ..SolveReport::default() };
        let complete = sigma.len() >= rank;
        Svd { u, sigma, v, extension: None, report }.finish(g, rank, Goal { tol, complete }, (&[], false))
    }

    /// Finishes a solver's result: drops zero triplets, fixes signs, passes the gate.
    ///
    /// `beyond` are further values that the solver knows, `all` tells whether they are all there are.
    ///
    /// 1. At most `rank` triplets stay, those above ε·max(n, m)·σ₁.
    /// 2. Signs.
    /// 3. Residuals by two products with each vector, and the verdict.
    /// 4. A note where values beyond the last one coincide with it.
    fn finish(self, g: &dyn Operator<T>, rank: usize, goal: Goal, (beyond, all): (&[T], bool)) -> Result<Self> {
        let mut svd = self.without_zeros(rank);
        svd.fix_signs();
        svd.measure(g, goal)?;
        if svd.sigma.len() == rank {
            svd.note_cut_crowd(beyond, all, goal.tol);
        }
        Ok(svd)
    }

    /// Keeps at most `rank` triplets whose singular value is not zero to working precision.
    fn without_zeros(mut self, rank: usize) -> Self {
        let largest = self.sigma.first().map_or(0.0, |s| s.as_f64());
        self.truncate(rank);
        self.drop_up_to(largest * T::eps() * self.u.nrows().max(self.v.nrows()) as f64, rank);
        self
    }

    /// Drops triplets whose singular value is at most `zero`; says so when fewer than `wanted` are left.
    pub(crate) fn drop_up_to(&mut self, zero: f64, wanted: usize) {
        let kept = self.sigma.iter().take_while(|s| s.as_f64() > zero).count();
        let dropped = kept < self.sigma.len();
        self.truncate(kept);
        self.report.measured.truncate(kept);
        let known = self.report.notes.iter().any(|n| n.starts_with(RANK_NOTE)) && !dropped;
        if kept < wanted && !known {
            self.report.notes.push(format!("{RANK_NOTE} {kept}, so {kept} of {wanted} triplets exist"));
        }
    }

    fn truncate(&mut self, count: usize) {
        if count < self.sigma.len() {
            self.sigma.truncate(count);
            self.u = self.u.subcols(0, count).to_owned();
            self.v = self.v.subcols(0, count).to_owned();
            if let Some(extension) = &mut self.extension {
                extension.row_weights = extension.row_weights.subcols(0, count).to_owned();
                extension.col_weights = extension.col_weights.subcols(0, count).to_owned();
            }
        }
    }

    /// The entry of largest magnitude in each column of U becomes positive; V is flipped along.
    pub(crate) fn fix_signs(&mut self) {
        for k in 0..self.sigma.len() {
            let mut largest = T::zero();
            for value in self.u.col(k).iter() {
                if value.abs() > largest.abs() {
                    largest = *value;
                }
            }
            if largest < T::zero() {
                let weights = self.extension.as_mut().map(|e| [&mut e.row_weights, &mut e.col_weights]);
                for matrix in [&mut self.u, &mut self.v].into_iter().chain(weights.into_iter().flatten()) {
                    matrix.as_mut().col_mut(k).iter_mut().for_each(|v| *v = -*v);
                }
            }
        }
    }
}

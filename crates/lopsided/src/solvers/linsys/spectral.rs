//! Filters on the spectrum of M: one decomposition, every penalty, every way with a singular system.

use super::gate::{Account, Equations};
use super::{Found, OnSingular, Problem, SINGULAR};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::settings::Settings;
use crate::operator::{self, Operator};
use crate::solvers::svd::{Svd, solver};
use faer::{Mat, MatRef};

/// What keeps the entries that landmarks share positive, relative to the largest.
const SHIFT: f64 = 1e-9;

/// The singular value decomposition of K_c, complete or truncated: every penalty then costs two products.
///
/// A filter f(h) of the eigenvalues h = g ± σ gives, with s = Uᵀy, t = Vᵀy,
///
/// a = U·(p + q) + f(g)·(y − U·s),  b = V·(p − q) + f(g)·(y − V·t),  p = f(g + σ)·(s + t)/2,  q = f(g − σ)·(s − t)/2.
///
/// f(h) = 1/h is the solution, h/(h² + λ) Tikhonov's, and 1/h with 0 for vanishing h the one of least norm.
///
/// # Cost
/// About 10·n³ operations once where it is complete; 4·n·rank for each target and penalty.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linsys::Spectral;
/// use lopsided::Mat;
///
/// let k = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| [[3.0, 0.0], [0.0, 1.0]][i][j]));
/// let spectral = Spectral::complete(&k, false)?;
/// assert!((spectral.sigma()[0] - 3.0).abs() < 1e-12);
/// assert!((spectral.condition(2.0) - 5.0).abs() < 1e-9); // eigenvalues 2 ± 3 and 2 ± 1
/// assert!(spectral.condition(1.0) > 1e10); // 1 − 1 = 0
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spectral {
    u: Mat<f64>,
    sigma: Vec<f64>,
    v: Mat<f64>,
    /// What the small eigenvalues of M have besides g: −σ, for a symmetric K its eigenvalues.
    offsets: Vec<f64>,
    complete: bool,
}

impl Spectral {
    /// All singular values of K_c; `symmetric` says whether it equals its transpose.
    ///
    /// # Errors
    /// [`Error::NotFinite`] in disguise as [`Error::Singular`] when K has NaN or infinity.
    pub fn complete(k: &dyn Operator<f64>, symmetric: bool) -> Result<Self> {
        Ok(Spectral { complete: true, ..Self::small(operator::materialize(k)?.as_ref(), symmetric)? })
    }

    /// All singular values of a matrix that stands for K_c.
    pub(crate) fn small(h: MatRef<'_, f64>, symmetric: bool) -> Result<Self> {
        let not_finite = || Error::Singular { what: "the kernel matrix".into() };
        if symmetric {
            let (values, vectors) = linalg::eigen(h).ok_or_else(not_finite)?;
            return Ok(Self::of_eigen(values, vectors));
        }
        let svd = linalg::thin_svd(h).ok_or_else(not_finite)?;
        Ok(Self::of_triplets(svd.u, svd.sigma, svd.v))
    }

    fn of_triplets(u: Mat<f64>, sigma: Vec<f64>, v: Mat<f64>) -> Self {
        let offsets = sigma.iter().map(|s| -s).collect();
        Spectral { u, sigma, v, offsets, complete: false }
    }

    /// σ = |λ| with vectors (e, ±e).
    fn of_eigen(values: Vec<f64>, vectors: Mat<f64>) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&i, &j| values[j].abs().total_cmp(&values[i].abs()));
        let offsets: Vec<f64> = order.iter().map(|&k| values[k]).collect();
        let u = Mat::from_fn(vectors.nrows(), order.len(), |i, k| vectors[(i, order[k])]);
        let v = Mat::from_fn(u.nrows(), u.ncols(), |i, k| u[(i, k)] * offsets[k].signum());
        Spectral { u, sigma: offsets.iter().map(|l| l.abs()).collect(), v, offsets, complete: false }
    }

    /// The leading triplets of K_c, which then stand for all of it.
    ///
    /// # Errors
    /// Those of [`crate::solvers::svd::SvdSolver::solve`].
    pub fn leading(k: &dyn Operator<f64>, rank: usize, symmetric: bool, run: &Run) -> Result<Self> {
        Ok(Self::with_solver(k, rank, &Settings::default(), "auto", run)?.signed(symmetric))
    }

    /// Rough leading triplets, good enough to speed another solver up.
    pub(super) fn rough(k: &dyn Operator<f64>, rank: usize, symmetric: bool, run: &Run) -> Result<Self> {
        let params = Settings::default().with("passes", 2.0);
        Ok(Self::with_solver(k, rank, &params, "randomized", run)?.signed(symmetric))
    }

    /// Rough leading eigenvectors of a positive symmetric K from some of its columns C, with C·W⁻¹·Cᵀ in place of K for the
    /// entries W that they share; `None` where W is not positive.
    ///
    /// 1. Columns C of random landmarks, W the rows of C at them, with 1e-9 of its largest entry on the diagonal.
    /// 2. W = L·Lᵀ and F = C·L⁻ᵀ, so that F·Fᵀ = C·W⁻¹·Cᵀ.
    /// 3. FᵀF = E·Λ·Eᵀ: the eigenvectors are F·E·Λ^(−1/2), the eigenvalues Λ. They serve every penalty.
    pub(super) fn nystrom(k: &dyn Operator<f64>, landmarks: usize, run: &Run) -> Result<Option<Self>> {
        let (n, m) = (k.nrows(), landmarks.max(1));
        let chosen = random::subset(n, m, &mut random::generator(run.seed, Purpose::PreconditionerLandmarks));
        let all: Vec<usize> = (0..n).collect();
        let mut columns = Mat::zeros(n, m);
        k.block(&all, &chosen, columns.as_mut())?;
        let mut shared = Mat::from_fn(m, m, |i, j| columns[(chosen[i], j)]);
        let largest = (0..m).map(|i| shared[(i, i)]).fold(0.0, f64::max);
        (0..m).for_each(|i| shared[(i, i)] += SHIFT * largest);
        let Some(lower) = linalg::lower_factor(shared) else { return Ok(None) };
        let factor = linalg::mul(columns.as_ref(), linalg::lower_inverse(lower.as_ref()).transpose());
        let Some((values, vectors)) = linalg::eigen(linalg::transpose_mul(factor.as_ref(), factor.as_ref()).as_ref())
        else {
            return Ok(None);
        };
        let least = SHIFT * values.first().copied().unwrap_or(0.0);
        let kept = values.iter().take_while(|value| **value > least).count();
        let scaled = Mat::from_fn(m, kept, |i, j| vectors[(i, j)] / values[j].sqrt());
        let u = linalg::mul(factor.as_ref(), scaled.as_ref());
        let sigma = values[..kept].to_vec();
        Ok(Some(Spectral { v: u.clone(), u, offsets: sigma.clone(), sigma, complete: false }))
    }

    /// Those of the triplets whose σ is above a number.
    pub(super) fn above(&self, least: f64) -> Self {
        let kept = self.sigma.iter().take_while(|sigma| **sigma > least).count();
        let part = |m: &Mat<f64>| m.subcols(0, kept).to_owned();
        let (sigma, offsets) = (self.sigma[..kept].to_vec(), self.offsets[..kept].to_vec());
        Spectral { u: part(&self.u), sigma, v: part(&self.v), offsets, complete: false }
    }

    fn with_solver(k: &dyn Operator<f64>, rank: usize, params: &Settings, name: &str, run: &Run) -> Result<Self> {
        let Svd { u, sigma, v, .. } = solver::<f64>(name, params)?.solve(k, rank, run)?;
        Ok(Self::of_triplets(u, sigma, v))
    }

    /// The triplets of a symmetric K have eigenvalues λ = σ·uᵀv.
    fn signed(mut self, symmetric: bool) -> Self {
        if symmetric {
            let signs = super::dots(&self.u, &self.v);
            self.offsets = self.sigma.iter().zip(signs).map(|(s, sign)| s * sign).collect();
        }
        self
    }

    /// Singular values of K_c.
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// U, σ and V.
    pub(crate) fn into_triplets(self) -> (Mat<f64>, Vec<f64>, Mat<f64>) {
        (self.u, self.sigma, self.v)
    }

    /// (‖M‖, smallest |eigenvalue| of M that a target may touch).
    pub(super) fn extremes(&self, g: f64) -> (f64, f64) {
        let largest = g + self.sigma.first().copied().unwrap_or(0.0);
        let rest = if self.sigma.len() + 1 < self.u.nrows() || !self.complete { g } else { f64::INFINITY };
        let smallest = self.offsets.iter().map(|offset| (g + offset).abs()).fold(rest, f64::min);
        (largest, smallest.min(largest))
    }

    /// Condition number of M for g = 1/penalty.
    ///
    /// Infinite where an eigenvalue is exactly 0. For a truncated decomposition the rest of K_c counts as 0.
    pub fn condition(&self, g: f64) -> f64 {
        let (largest, smallest) = self.extremes(g);
        if smallest > 0.0 { largest / smallest } else { f64::INFINITY }
    }

    /// \[a; b\] for centred targets, with the eigenvalues h of M replaced by 1/f(h).
    pub(super) fn filtered(
        &self,
        g: f64,
        y: (MatRef<'_, f64>, MatRef<'_, f64>),
        f: impl Fn(f64) -> f64,
    ) -> (Mat<f64>, Mat<f64>) {
        let (s, t) = (linalg::transpose_mul(self.u.as_ref(), y.0), linalg::transpose_mul(self.v.as_ref(), y.1));
        let both = |sign: f64| {
            Mat::from_fn(s.nrows(), s.ncols(), |k, c| {
                let sum = f(g + self.sigma[k]) * (s[(k, c)] + t[(k, c)]);
                let difference = f(g - self.sigma[k]) * (s[(k, c)] - t[(k, c)]);
                let own = if sign > 0.0 { s[(k, c)] } else { t[(k, c)] };
                0.5 * (sum + sign * difference) - f(g) * own
            })
        };
        let side = |vectors: &Mat<f64>, y: MatRef<'_, f64>, sign| {
            let mut out = y.to_owned() * faer::Scale(f(g));
            linalg::add_mul(out.as_mut(), vectors.as_ref(), both(sign).as_ref(), 1.0);
            out
        };
        (side(&self.u, y.0, 1.0), side(&self.v, y.1, -1.0))
    }

    /// The same for a symmetric K and \[r; r\], of which one half suffices: f(g + λ) on the eigenvectors, f(g) elsewhere.
    pub(super) fn filtered_symmetric(&self, g: f64, r: &Mat<f64>, f: impl Fn(f64) -> f64) -> Mat<f64> {
        let mut inside = linalg::transpose_mul(self.u.as_ref(), r.as_ref());
        for (k, offset) in self.offsets.iter().enumerate() {
            let factor = f(g + offset) - f(g);
            inside.row_mut(k).iter_mut().for_each(|s| *s *= factor);
        }
        let mut out = r * faer::Scale(f(g));
        linalg::add_mul(out.as_mut(), self.u.as_ref(), inside.as_ref(), 1.0);
        out
    }

    /// U·Σ and V: their product stands for K_c where the triplets do.
    pub(super) fn factors(&self) -> (Mat<f64>, MatRef<'_, f64>) {
        let scaled = Mat::from_fn(self.u.nrows(), self.u.ncols(), |i, k| self.u[(i, k)] * self.sigma[k]);
        (scaled, self.v.as_ref())
    }

    /// The solution for the problem's penalty and targets.
    pub(super) fn solved(&self, problem: &Problem<'_>) -> Result<Found> {
        let y = problem.y.as_ref();
        self.solved_for(problem, (y, y))
    }

    /// The same for other centred targets of both sides.
    pub(super) fn solved_for(&self, problem: &Problem<'_>, y: (MatRef<'_, f64>, MatRef<'_, f64>)) -> Result<Found> {
        let route = if self.complete { "svd" } else { "low-rank" };
        let g = problem.g;
        let condition = self.condition(g);
        let (largest, _) = self.extremes(g);
        let estimated = !self.complete;
        let mut account = Account { route, condition, estimated, norm: largest, ..Account::default() };
        let singular = condition > SINGULAR;
        if singular {
            account.warnings.push(problem.singular(condition)?);
            account.equations = Equations::Damped(problem.system.on_singular.lambda());
        }
        let filter = |h: f64| match problem.system.on_singular {
            OnSingular::Tikhonov(lambda) if singular => h / (h * h + lambda),
            OnSingular::MinNorm if h.abs() * SINGULAR < largest => 0.0,
            _ => h.recip(),
        };
        if problem.system.symmetric {
            // Of the eigenvalues g ± σ only one belongs to vectors (u, u): the other may be 0 and does not matter.
            let a = self.filtered_symmetric(g, &y.0.to_owned(), filter);
            return Ok(Found { b: a.clone(), a, account });
        }
        let (a, b) = self.filtered(g, y, filter);
        Ok(Found { a, b, account })
    }
}

//! The older way, for comparison: two symmetric problems instead of one asymmetric one.

use super::estimate::{PROBES, Probes};
use super::exact::not_finite;
use super::gate::Goal;
use super::nystrom::{first_sizes, named, sample_size, sampler_of, to_unit_columns};
use super::{
    COLS_SAMPLE, Extension, ROWS_SAMPLE, Run, SAMPLER, SolverPlan, Svd, SvdSolver, TOL, check_rank, tolerance,
};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::samples::Side;
use crate::operator::{Operator, Submatrix};
use crate::solvers::landmarks::Sampler;
use faer::Mat;

/// The symmetric Nyström method on G·Gᵀ for U and on Gᵀ·G for V: the baseline of \[KSVD\] Table 4, not to be preferred.
///
/// With landmark rows (n of N) the eigenvectors w, eigenvalues μ of (G·Gᵀ)\[rows, rows\] give Eq. (13):
/// σ² = (N/n)·μ and u ∝ (G·Gᵀ)\[:, rows\]·w = G·(G\[rows, :\]ᵀ·w); likewise V from landmark columns. It needs whole rows
/// and columns of G where the asymmetric method needs a block, and squares the condition number.
///
/// # Departures
/// Vectors have unit length. The two sides give two values for each σ: the geometric mean is taken, and the sign of v
/// with uᵀ·G·v ≥ 0.
///
/// # Cost
/// Whole rows and columns of the landmarks, (n + m)·landmarks entries, and landmarks³ operations for each side.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd::solver;
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(2, 3, |i, j| [[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]][i][j]));
/// // All rows and columns are landmarks, so that nothing is left to approximate.
/// let all = Settings::default().with("rows-sample", 2).with("cols-sample", 3);
/// let svd = solver::<f64>("symmetric-nystrom", &all)?.solve(&g, 2, &Run::default())?;
/// assert!((svd.sigma[0] - 3.0).abs() < 1e-10 && (svd.sigma[1] - 2.0).abs() < 1e-10);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct SymmetricNystrom<T: Scalar> {
    /// Largest residual relative to a triplet's own σ that counts as converged.
    pub tol: f64,
    /// Row landmarks; `None`: as many as column landmarks, or max(64, 4·rank).
    pub rows_sample: Option<usize>,
    /// Column landmarks, likewise.
    pub cols_sample: Option<usize>,
    /// Who chooses the landmarks.
    pub sampler: Box<dyn Sampler<T>>,
}

impl<T: Scalar> SymmetricNystrom<T> {
    /// Defaults: uniform landmarks.
    pub fn new(params: &Settings) -> Result<Self> {
        Ok(SymmetricNystrom {
            tol: tolerance::<T>(params)?,
            rows_sample: sample_size(params, "rows-sample")?,
            cols_sample: sample_size(params, "cols-sample")?,
            sampler: sampler_of(params)?,
        })
    }
}

/// What landmarks show of one side.
struct OneSide<T> {
    /// Eigenvectors of unit length.
    vectors: Mat<T>,
    /// They are products of G or Gᵀ with these.
    weights: Mat<T>,
    /// Square roots of the eigenvalues.
    roots: Vec<f64>,
}

impl<T: Scalar> OneSide<T> {
    fn truncate(&mut self, count: usize) {
        for matrix in [&mut self.vectors, &mut self.weights] {
            matrix.truncate(matrix.nrows(), count);
        }
    }
}

/// One side by itself; for rows:
///
/// 1. R = G\[rows, :\]ᵀ, whole rows.
/// 2. RᵀR = (G·Gᵀ)\[rows, rows\] = W·μ·Wᵀ; eigenvalues up to ε·n·μ₁ are dropped.
/// 3. U ∝ G·(R·W), of unit length; √(N/n·μ) are its singular values.
fn one_side<T: Scalar>(g: &dyn Operator<T>, side: Side, picked: &[usize], rank: usize) -> Result<OneSide<T>> {
    let (here, there) = if side == Side::Row { (g.nrows(), g.ncols()) } else { (g.ncols(), g.nrows()) };
    let identity = Mat::<T>::identity(picked.len(), picked.len());
    let mut whole = Mat::zeros(there, picked.len());
    match side {
        Side::Row => Submatrix::new(g, Some(picked), None).apply_transpose(identity.as_ref(), whole.as_mut())?,
        Side::Col => Submatrix::new(g, None, Some(picked)).apply(identity.as_ref(), whole.as_mut())?,
    }
    let gram = linalg::transpose_mul(whole.as_ref(), whole.as_ref());
    let eigen = linalg::thin_svd(gram.as_ref()).ok_or_else(not_finite)?;
    let zero = eigen.sigma.first().map_or(0.0, |s| s.as_f64()) * T::eps() * picked.len() as f64;
    let kept = eigen.sigma.iter().take(rank).take_while(|s| s.as_f64() > zero).count();
    let mut weights = linalg::mul(whole.as_ref(), eigen.u.as_ref().subcols(0, kept));
    let mut vectors = Mat::zeros(here, kept);
    match side {
        Side::Row => g.apply(weights.as_ref(), vectors.as_mut())?,
        Side::Col => g.apply_transpose(weights.as_ref(), vectors.as_mut())?,
    }
    to_unit_columns(&mut vectors, Some(&mut weights));
    let share = here as f64 / picked.len() as f64;
    let roots = eigen.sigma[..kept].iter().map(|s| (s.as_f64() * share).sqrt()).collect();
    Ok(OneSide { vectors, weights, roots })
}

/// Flips columns of v so that uᵀ·G·v ≥ 0.
fn join_signs<T: Scalar>(g: &dyn Operator<T>, u: &Mat<T>, right: &mut OneSide<T>) -> Result<()> {
    let mut image = Mat::zeros(g.nrows(), right.vectors.ncols());
    g.apply(right.vectors.as_ref(), image.as_mut())?;
    for k in 0..image.ncols() {
        if u.col(k).transpose() * image.col(k) < T::zero() {
            for matrix in [&mut right.vectors, &mut right.weights] {
                matrix.as_mut().col_mut(k).iter_mut().for_each(|x| *x = -*x);
            }
        }
    }
    Ok(())
}

impl<T: Scalar> SvdSolver<T> for SymmetricNystrom<T> {
    fn solve(&self, g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Svd<T>> {
        check_rank(g.nrows(), g.ncols(), rank)?;
        let (n, m) = first_sizes(g, rank, (self.rows_sample, self.cols_sample))?;
        let rows = self.sampler.pick(g, Side::Row, n, run.seed)?;
        let cols = self.sampler.pick(g, Side::Col, m, run.seed)?;
        let mut left = one_side(g, Side::Row, &rows, rank)?;
        run.watch.check()?;
        let mut right = one_side(g, Side::Col, &cols, rank)?;
        let sigma: Vec<T> = left.roots.iter().zip(&right.roots).map(|(l, r)| T::of((l * r).sqrt())).collect();
        left.truncate(sigma.len());
        right.truncate(sigma.len());
        join_signs(g, &left.vectors, &mut right)?;
        let mut report = named("symmetric-nystrom");
        report.landmarks = Some((rows.len(), cols.len()));
        report.products = (PROBES + 3 * sigma.len()) as u64;
        report.notes.push("the vectors have unit length but are not exactly orthogonal".into());
        let extension = Some(Extension {
            rows: (0..g.nrows()).collect(),
            cols: (0..g.ncols()).collect(),
            row_weights: left.weights,
            col_weights: right.weights,
        });
        let mut svd = Svd { u: left.vectors, sigma, v: right.vectors, extension, report };
        svd.keep_nonzero(rank);
        svd.report.error_estimate = Some(Probes::new(g, run)?.relative_error(&svd));
        let goal = Goal { tol: self.tol, complete: svd.sigma.len() == rank };
        svd.finish(g, rank, goal, (&[], false))
    }

    fn plan(&self, n: usize, m: usize, rank: usize) -> SolverPlan {
        let sample = self.rows_sample.max(self.cols_sample).unwrap_or(4 * rank.max(16)).min(n.max(m));
        SolverPlan {
            solver: "symmetric-nystrom",
            why: String::new(),
            bytes: (((n + m) * (sample + 3 * rank + PROBES) + 4 * sample * sample) * T::BYTES) as u64,
            products: (PROBES + 2 * sample + 5 * rank) as u64,
            flops: 2.0 * (n + m) as f64 * (sample * sample) as f64 + 20.0 * (sample as f64).powi(3),
        }
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn SvdSolver<T>> {
    Entry {
        name: "symmetric-nystrom",
        about: "symmetric Nyström on G·Gᵀ and Gᵀ·G; a baseline, `nystrom` is better",
        settings: &[TOL, ROWS_SAMPLE, COLS_SAMPLE, SAMPLER],
        build: |params| Ok(Box::new(SymmetricNystrom::<T>::new(params)?)),
    }
}

//! What stacking needs for many penalties: the scores of every part of the samples by what is learned from the others, and the
//! mean of what is learned.
//!
//! The system of [`crate::linsys`] without a part S of the samples is the whole one without the rows and columns of S. With
//! C = M⁻¹ on vectors of mean 0, \[a; b\] = C·\[y; y\] and the rows S of both halves,
//!
//! e_S = (C_SS)⁻¹·\[a; b\]_S
//!
//! is what the functions learned without S leave of y at S: their scores are y − e. Those functions solve the whole system with
//! e_S taken off the right-hand side at S, which makes their coefficients vanish there; so their mean over F parts that
//! cover all samples is the solution for the right-hand side \[y; y\] − e/F, e of all parts together. One decomposition
//! K_c = U·Σ·Vᵀ gives C for every penalty, and all of this.

use super::stack::Scores;
use super::{Functions, Task, complement, rows_of};
use crate::error::Result;
use crate::linalg;
use crate::linsys::{self, CoupledSolution, CoupledSystem, PenaltyPath, SystemReport};
use crate::operator::{DenseOperator, Means, Operator, Submatrix, materialize};
use crate::svd::Run;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Condition number up to which a system is solved together with others: with all digits but so many.
const CONDITION: f64 = 1e8;
/// Steps of the power iteration that estimates a norm.
const POWERS: usize = 4;

/// What stacking learns from: scores of all samples by functions that did not see them, and the mean of those.
#[derive(Clone)]
pub(super) struct Stacked {
    pub(super) held: Scores,
    pub(super) mean: Functions,
}

/// One for each system; `None` where it has to be solved alone.
pub(super) fn stacked(
    task: &Task<'_>,
    parts: &[Vec<usize>],
    systems: &[CoupledSystem],
    run: &Run,
) -> Result<Vec<Option<Stacked>>> {
    if let Some(found) = by_paths(task, parts, systems, run)? {
        return Ok(found);
    }
    let block = Submatrix::new(task.k, Some(task.train), Some(task.train));
    let whole = if task.train.len() <= linsys::DENSE { Decomposed::new(&block)? } else { None };
    let one = |system: &CoupledSystem| {
        run.watch.check()?;
        Ok(whole.as_ref().and_then(|whole| whole.stacked(1.0 / system.penalty, task, parts)))
    };
    systems.iter().map(one).collect()
}

/// A path of penalties for each part; `None` unless Krylov spaces suffice for the largest penalty of the first.
fn by_paths(
    task: &Task<'_>,
    parts: &[Vec<usize>],
    systems: &[CoupledSystem],
    run: &Run,
) -> Result<Option<Vec<Option<Stacked>>>> {
    let hardest = systems.iter().max_by(|a, b| a.penalty.total_cmp(&b.penalty));
    let (Some(hardest), Some(first)) = (hardest, parts.first()) else { return Ok(None) };
    if without(task, first, |path, _| Ok(path.solve(hardest, run)?.report.route))? != "krylov" {
        return Ok(None);
    }
    let (samples, classes) = (task.k.nrows(), task.y.ncols());
    let empty = Stacked { held: Scores::zeros(task.train.len(), classes), mean: Functions::zeros(samples, classes) };
    let mut out = vec![Some(empty); systems.len()];
    let one = |part: &Vec<usize>| without(task, part, |path, nodes| solved(task, part, systems, path, nodes, run));
    for some in parts.chunks(if task.is_light() { rayon::current_num_threads() } else { 1 }) {
        let found: Vec<Vec<Option<(Functions, Scores)>>> = some.par_iter().map(one).collect::<Result<_>>()?;
        for (part, found) in some.iter().zip(found) {
            out.iter_mut().zip(found).for_each(|(out, found)| add(out, part, found, 1.0 / parts.len() as f64));
        }
    }
    Ok(Some(out))
}

/// What `f` makes of the path of all samples but those of a part, and their places in K.
fn without<R>(
    task: &Task<'_>,
    part: &[usize],
    f: impl FnOnce(&mut PenaltyPath<'_>, &[usize]) -> Result<R>,
) -> Result<R> {
    let rest = complement(part, task.train.len());
    let nodes = task.nodes(&rest);
    let block = Submatrix::new(task.k, Some(&nodes), Some(&nodes));
    f(&mut PenaltyPath::new(&block, rows_of(task.y, &rest).as_ref(), false)?, &nodes)
}

/// The functions of every system learned without a part, and their scores on it; `None` for those that are not simply solved.
fn solved(
    task: &Task<'_>,
    part: &[usize],
    systems: &[CoupledSystem],
    path: &mut PenaltyPath<'_>,
    nodes: &[usize],
    run: &Run,
) -> Result<Vec<Option<(Functions, Scores)>>> {
    let mut one = |system: &CoupledSystem| {
        let solved = path.solve(system, run)?;
        let simple = solved.report.warnings.is_empty() && solved.report.converged();
        Ok(simple.then(|| Functions::padded(&solved, nodes, task.k.nrows())))
    };
    let found: Vec<Option<Functions>> = systems.iter().map(&mut one).collect::<Result<_>>()?;
    let all: Vec<Functions> = found.iter().flatten().cloned().collect();
    let scores = Functions::beside(&all).scores_within(task.k, &task.nodes(part))?;
    let mut scores = scores.split(all.len());
    let with_scores = |functions: Option<Functions>| functions.and_then(|f| Some((f, scores.next()?)));
    Ok(found.into_iter().map(with_scores).collect())
}

/// Takes in what was learned without a part.
fn add(out: &mut Option<Stacked>, part: &[usize], found: Option<(Functions, Scores)>, share: f64) {
    match (out.as_mut(), found) {
        (Some(out), Some((functions, scores))) => {
            out.held.set(part, &scores);
            out.mean.add(&functions, share);
        }
        _ => *out = None,
    }
}

/// K_c = U·Σ·Vᵀ of all samples.
struct Decomposed {
    u: Mat<f64>,
    sigma: Vec<f64>,
    v: Mat<f64>,
    means: Means<f64>,
}

impl Decomposed {
    /// `None` where K is not finite.
    fn new(k: &dyn Operator<f64>) -> Result<Option<Self>> {
        let mut matrix = materialize(k)?;
        let means = Means::of(&DenseOperator::Borrowed(matrix.as_ref()))?;
        means.subtract_from(matrix.as_mut());
        let found = linalg::thin_svd(matrix.as_ref());
        Ok(found.map(|svd| Decomposed { u: svd.u, sigma: svd.sigma, v: svd.v, means }))
    }

    fn stacked(&self, g: f64, task: &Task<'_>, parts: &[Vec<usize>]) -> Option<Stacked> {
        let y = task.y;
        let smallest = self.sigma.iter().map(|s| (g - s).abs()).fold(g, f64::min);
        let condition = (g + self.sigma.first()?) / smallest;
        let (a, b) = self.solve(g, y, y);
        let one = |part: &Vec<usize>| self.left(g, part, (&a, &b), condition);
        let found: Vec<(Mat<f64>, Mat<f64>)> = parts.par_iter().map(one).collect::<Option<_>>()?;
        let mut left = Scores::zeros(y.nrows(), y.ncols());
        parts.iter().zip(found).for_each(|(part, (source, target))| left.set(part, &Scores { source, target }));
        let share = faer::Scale(1.0 / parts.len() as f64);
        let (p, q) = (y - &left.source * share, y - &left.target * share);
        let (a, b) = self.solve(g, p.as_ref(), q.as_ref());
        let bias = |rhs: &Mat<f64>, weights: &Mat<f64>, means: &[f64]| -> Vec<f64> {
            let mean = |c: usize| rhs.col(c).iter().sum::<f64>() / rhs.nrows() as f64;
            let shift = |c: usize| weights.col(c).iter().zip(means).map(|(w, m)| w * m).sum::<f64>();
            (0..rhs.ncols()).map(|c| mean(c) - shift(c)).collect()
        };
        let (bias_source, bias_target) = (bias(&p, &b, &self.means.cols), bias(&q, &a, &self.means.rows));
        let mean = CoupledSolution { a, b, bias_source, bias_target, report: SystemReport::default() };
        let held = Scores { source: y - &left.source, target: y - &left.target };
        Some(Stacked { held, mean: Functions::padded(&mean, task.train, task.k.nrows()) })
    }

    /// C·\[p; q\].
    fn solve(&self, g: f64, p: MatRef<'_, f64>, q: MatRef<'_, f64>) -> (Mat<f64>, Mat<f64>) {
        let (p, q) = (linsys::centred(p), linsys::centred(q));
        let s = linalg::transpose_mul(self.u.as_ref(), p.as_ref());
        let t = linalg::transpose_mul(self.v.as_ref(), q.as_ref());
        let side = |vectors: &Mat<f64>, own: &Mat<f64>, other: &Mat<f64>| {
            let value = |k: usize, c: usize| (g * own[(k, c)] - self.sigma[k] * other[(k, c)]) / self.squared(g, k);
            linalg::mul(vectors.as_ref(), Mat::from_fn(own.nrows(), own.ncols(), value).as_ref())
        };
        (side(&self.u, &s, &t), side(&self.v, &t, &s))
    }

    /// g² − σ².
    fn squared(&self, g: f64, k: usize) -> f64 {
        (g - self.sigma[k]) * (g + self.sigma[k])
    }

    /// e_S, source and target; `None` where the system without S is near a singular one.
    fn left(
        &self,
        g: f64,
        part: &[usize],
        (a, b): (&Mat<f64>, &Mat<f64>),
        condition: f64,
    ) -> Option<(Mat<f64>, Mat<f64>)> {
        let (s, classes) = (part.len(), a.ncols());
        let inverse = self.inverse(g, part);
        let factor = inverse.partial_piv_lu();
        let growth = powers(2 * s, |v| factor.solve(v)) * powers(2 * s, |v| &inverse * v);
        if !(condition * growth < CONDITION) {
            return None;
        }
        let both = Mat::from_fn(2 * s, classes, |i, c| if i < s { a[(part[i], c)] } else { b[(part[i - s], c)] });
        let left = factor.solve(&both);
        Some((left.subrows(0, s).to_owned(), left.subrows(s, s).to_owned()))
    }

    /// C_SS: U_S·(g/(g² − σ²))·U_Sᵀ − 1/(g·n) and so on.
    fn inverse(&self, g: f64, part: &[usize]) -> Mat<f64> {
        let (s, n) = (part.len(), self.u.nrows());
        let (u, v) = (rows_of(self.u.as_ref(), part), rows_of(self.v.as_ref(), part));
        let scaled = |m: &Mat<f64>, factor: &dyn Fn(usize) -> f64| {
            Mat::from_fn(s, m.ncols(), |i, k| m[(i, k)] * (factor(k) / self.squared(g, k)))
        };
        let mut out = Mat::from_fn(2 * s, 2 * s, |i, j| if (i < s) == (j < s) { -1.0 / (g * n as f64) } else { 0.0 });
        let (own, cross) = (|_: usize| g, |k: usize| -self.sigma[k]);
        linalg::gemm(out.as_mut().submatrix_mut(0, 0, s, s), scaled(&u, &own).as_ref(), u.transpose(), 1.0);
        linalg::gemm(out.as_mut().submatrix_mut(s, s, s, s), scaled(&v, &own).as_ref(), v.transpose(), 1.0);
        linalg::gemm(out.as_mut().submatrix_mut(0, s, s, s), scaled(&u, &cross).as_ref(), v.transpose(), 1.0);
        for j in 0..s {
            (0..s).for_each(|i| out[(s + j, i)] = out[(i, s + j)]);
        }
        out
    }
}

/// The norm of a symmetric matrix from a few products, from below.
fn powers(size: usize, apply: impl Fn(&Mat<f64>) -> Mat<f64>) -> f64 {
    let mut v = Mat::from_fn(size, 1, |i, _| 1.0 + 0.5 * (i as f64).sin());
    let mut growth = 0.0;
    for _ in 0..POWERS {
        v *= faer::Scale(1.0 / v.norm_l2());
        v = apply(&v);
        growth = v.norm_l2();
    }
    growth
}

//! What stacking needs for many penalties: the scores of every part of the samples by what is learned from the others, and the
//! mean of what is learned.
//!
//! The system of [`crate::solvers::linsys`] without a part S of the samples is the whole one without the rows and columns of S. With
//! C = M⁻¹ on vectors of mean 0, \[a; b\] = C·\[y; y\] and the rows S of both halves,
//!
//! e_S = (C_SS)⁻¹·\[a; b\]_S
//!
//! is what the functions learned without S leave of y at S: their scores are y − e. Those functions solve the whole system with
//! e_S taken off the right-hand side at S, which makes their coefficients vanish there; so their mean over F parts that
//! cover all samples is the solution for the right-hand side \[y; y\] − e/F, e of all parts together. One decomposition
//! K_c = U·Σ·Vᵀ gives C for every penalty, and all of this.
//!
//! Why: a vector e with entries at S alone gives C·(\[y; y\] − e), which vanishes at S exactly if C_SS·e_S =
//! \[a; b\]_S. A solution of the whole system that vanishes at S is one of the system without S, since the
//! columns of S then count for nothing; and in the rows S, where a and b are 0, the whole system reads K·b + β
//! = y − e, with the functions that did not see S on its left.
//!
//! # Cost
//! One decomposition, O(n³), for all penalties and parts. For every penalty and F parts of s = n/F samples
//! O(n³/F) operations for the blocks C_SS and O(n³/F²) for their factors, where solving F systems anew would
//! take O(F·n³).

use super::stack::Scores;
use super::{Functions, Task, complement, rows_of};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::operator::{DenseOperator, Means, Operator, Submatrix, materialize};
use crate::solvers::linsys::{self, CoupledSolution, CoupledSystem, OnSingular, PenaltyPath, Spectral, SystemReport};
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Condition number up to which systems are solved together: below what counts as singular, so that none of them is.
const CONDITION: f64 = 0.1 * linsys::SINGULAR;
/// Random right-hand sides that condition numbers are estimated by, and the stream of these.
const PROBES: usize = 2;
/// Steps of the power iteration that estimates a norm.
const POWERS: usize = 4;

/// What stacking learns from: scores of all samples by functions that did not see them, and the mean of those.
#[derive(Clone)]
pub(super) struct Stacked {
    /// Scores of every sample by the functions learned without its part.
    pub(super) held: Scores,
    /// The mean of the functions of all parts.
    pub(super) mean: Functions,
}

/// One for each system; `None` where it has to be solved alone.
///
/// 1. Where the Krylov spaces of the targets suffice, which a sparse K of good condition allows, each part has
///    its own path of penalties: nothing of size n² is formed.
/// 2. Else K is decomposed whole, up to the size where dense factors are taken, and all parts follow from the
///    decomposition.
/// 3. Else every system is left to itself.
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
    let Some(whole) = whole else { return Ok(vec![None; systems.len()]) };
    systems.iter().map(|system| whole.stacked(system, task, parts, run)).collect()
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
    // Whether it is singular is asked when it is solved.
    let hardest = CoupledSystem { on_singular: OnSingular::default(), ..*hardest };
    if !without(task, first, |k, y, _| PenaltyPath::is_short(k, y, &hardest, run))? {
        return Ok(None);
    }
    let (samples, classes) = (task.k.nrows(), task.y.ncols());
    let empty = Stacked { held: Scores::zeros(task.train.len(), classes), mean: Functions::zeros(samples, classes) };
    let mut out = vec![Some(empty); systems.len()];
    let one = |part: &Vec<usize>| {
        without(task, part, |k, y, nodes| {
            let mut path = PenaltyPath::new(k, y, false)?;
            scored(task, part, systems, nodes, |system| path.solve(system, run))
        })
    };
    for some in parts.chunks(if task.is_light() { rayon::current_num_threads() } else { 1 }) {
        let found: Vec<Vec<Option<(Functions, Scores)>>> = some.par_iter().map(one).collect::<Result<_>>()?;
        for (part, found) in some.iter().zip(found) {
            out.iter_mut().zip(found).for_each(|(out, found)| add(out, part, found, 1.0 / parts.len() as f64));
        }
    }
    Ok(Some(out))
}

/// What `f` makes of K and the targets of all samples but those of a part, and of their places in K.
fn without<R>(
    task: &Task<'_>,
    part: &[usize],
    f: impl FnOnce(&dyn Operator<f64>, MatRef<'_, f64>, &[usize]) -> Result<R>,
) -> Result<R> {
    let rest = complement(part, task.train.len());
    let nodes = task.nodes(&rest);
    f(&Submatrix::new(task.k, Some(&nodes), Some(&nodes)), rows_of(task.y, &rest).as_ref(), &nodes)
}

/// The functions of every system learned from some samples, and their scores on a part; `None` for those that are not simply
/// solved.
fn scored(
    task: &Task<'_>,
    part: &[usize],
    systems: &[CoupledSystem],
    nodes: &[usize],
    mut solve: impl FnMut(&CoupledSystem) -> Result<CoupledSolution>,
) -> Result<Vec<Option<(Functions, Scores)>>> {
    let mut one = |system: &CoupledSystem| match solve(system) {
        Ok(solved) => {
            let simple = solved.report.warnings.is_empty() && solved.report.converged();
            Ok(simple.then(|| Functions::padded(&solved, nodes, task.k.nrows())))
        }
        Err(Error::Singular { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let found: Vec<Option<Functions>> = systems.iter().map(&mut one).collect::<Result<_>>()?;
    let all: Vec<Functions> = found.iter().flatten().cloned().collect();
    if all.is_empty() {
        return Ok(found.into_iter().map(|_| None).collect());
    }
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
    /// Row and column means that centring took off, for the biases.
    means: Means<f64>,
    /// Whether K = Kᵀ, so that V is U but for signs.
    symmetric: bool,
}

impl Decomposed {
    /// `None` where K is not finite.
    fn new(k: &dyn Operator<f64>) -> Result<Option<Self>> {
        let mut matrix = materialize(k)?;
        let means = Means::of(&DenseOperator::Borrowed(matrix.as_ref()))?;
        means.subtract_from(matrix.as_mut());
        let symmetric = k.is_symmetric();
        let found = Spectral::small(matrix.as_ref(), symmetric).ok().map(Spectral::into_triplets);
        Ok(found.map(|(u, sigma, v)| Decomposed { u, sigma, v, means, symmetric }))
    }

    /// The systems without a part that are so near singular ones that they have to be looked at are solved alone; `None` where
    /// one of them is singular.
    fn stacked(
        &self,
        system: &CoupledSystem,
        task: &Task<'_>,
        parts: &[Vec<usize>],
        run: &Run,
    ) -> Result<Option<Stacked>> {
        let (g, y, share) = (1.0 / system.penalty, task.y, 1.0 / parts.len() as f64);
        let found = self.without_each(g, y, parts);
        let mut alone: Vec<&Vec<usize>> = Vec::new();
        let mut left = Scores::zeros(y.nrows(), y.ncols());
        for ((part, condition), found) in parts.iter().zip(self.conditions(g, parts, &found)).zip(&found) {
            match found {
                Some(found) if condition < CONDITION => left.set(part, &found.leading(y.ncols())),
                _ => alone.push(part),
            }
        }
        let together = faer::Scale((parts.len() - alone.len()) as f64 * share);
        let (p, q) =
            (y * together - &left.source * faer::Scale(share), y * together - &left.target * faer::Scale(share));
        let mean = Functions::padded(&self.solution(g, &p, &q), task.train, task.k.nrows());
        let mut out = Some(Stacked { held: Scores { source: y - left.source, target: y - left.target }, mean });
        for part in alone {
            let systems = std::slice::from_ref(system);
            let found = without(task, part, |k, y, nodes| {
                scored(task, part, systems, nodes, |system| system.solve(k, y, run))
            })?;
            found.into_iter().for_each(|found| add(&mut out, part, found, share));
        }
        Ok(out)
    }

    /// e_S of the targets and, beside them, of random right-hand sides, for every part.
    fn without_each(&self, g: f64, y: MatRef<'_, f64>, parts: &[Vec<usize>]) -> Vec<Option<Scores>> {
        let (p, q) = (beside(y, probes(y.nrows(), 0).as_ref()), beside(y, probes(y.nrows(), 1).as_ref()));
        let both = self.solve(g, p.as_ref(), q.as_ref());
        parts.par_iter().map(|part| self.left(g, part, &both)).collect()
    }

    /// About the condition numbers of the systems without a part, by what each makes of random right-hand sides, whose share
    /// along the direction that grows most is about 1/√(2n).
    fn conditions(&self, g: f64, parts: &[Vec<usize>], left: &[Option<Scores>]) -> Vec<f64> {
        let n = self.u.nrows();
        let without = |side: u64, of: fn(&Scores) -> &Mat<f64>| {
            let probes = probes(n, side);
            let mut out = Mat::from_fn(n, PROBES * parts.len(), |i, j| probes[(i, j % PROBES)]);
            for (at, (part, left)) in parts.iter().zip(left).enumerate() {
                let Some(left) = left.as_ref().map(of) else { continue };
                for (i, &row) in part.iter().enumerate() {
                    (0..PROBES).for_each(|j| out[(row, PROBES * at + j)] -= left[(i, left.ncols() - PROBES + j)]);
                }
            }
            out
        };
        let (a, b) = self.solve(g, without(0, |s| &s.source).as_ref(), without(1, |s| &s.target).as_ref());
        let both = linalg::column_norms(a.as_ref()).into_iter().zip(linalg::column_norms(b.as_ref()));
        let lengths: Vec<f64> = both.map(|(a, b)| a.hypot(b)).collect();
        let norm = g + self.sigma.first().copied().unwrap_or(0.0);
        lengths.chunks(PROBES).map(|some| norm * some.iter().copied().fold(0.0, f64::max)).collect()
    }

    /// Coefficients and biases for a right-hand side.
    ///
    /// β_s = mean(p − K·b) and β_t = mean(q − Kᵀ·a); as a and b have mean 0, 1ᵀK·b/n is the product of the column
    /// means of K with b.
    fn solution(&self, g: f64, p: &Mat<f64>, q: &Mat<f64>) -> CoupledSolution {
        let (a, b) = self.solve(g, p.as_ref(), q.as_ref());
        let bias = |rhs: &Mat<f64>, weights: &Mat<f64>, means: &[f64]| -> Vec<f64> {
            let mean = |c: usize| rhs.col(c).iter().sum::<f64>() / rhs.nrows() as f64;
            let shift = |c: usize| weights.col(c).iter().zip(means).map(|(w, m)| w * m).sum::<f64>();
            (0..rhs.ncols()).map(|c| mean(c) - shift(c)).collect()
        };
        let (bias_source, bias_target) = (bias(p, &b, &self.means.cols), bias(q, &a, &self.means.rows));
        CoupledSolution { a, b, bias_source, bias_target, report: SystemReport::default() }
    }

    /// C·\[p; q\].
    ///
    /// M has 2×2 blocks \[g, σ; σ, g\] in the basis (u, v), whose inverses are \[g, −σ; −σ, g\]/(g² − σ²).
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
    ///
    /// As a product of sums, which keeps the digits where g and σ nearly agree.
    fn squared(&self, g: f64, k: usize) -> f64 {
        (g - self.sigma[k]) * (g + self.sigma[k])
    }

    /// e_S; `None` where C_SS is too near a singular matrix to solve with.
    fn left(&self, g: f64, part: &[usize], (a, b): &(Mat<f64>, Mat<f64>)) -> Option<Scores> {
        let (s, columns) = (part.len(), a.ncols());
        let inverse = self.inverse(g, part);
        let factor = inverse.partial_piv_lu();
        let condition = powers(2 * s, |v| factor.solve(v)) * powers(2 * s, |v| &inverse * v);
        if condition.is_nan() || condition > CONDITION {
            return None;
        }
        let both = Mat::from_fn(2 * s, columns, |i, c| if i < s { a[(part[i], c)] } else { b[(part[i - s], c)] });
        let left = factor.solve(&both);
        Some(Scores { source: left.subrows(0, s).to_owned(), target: left.subrows(s, s).to_owned() })
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
        linalg::gemm(out.as_mut().submatrix_mut(0, s, s, s), scaled(&u, &cross).as_ref(), v.transpose(), 1.0);
        linalg::add_lower(out.as_mut().submatrix_mut(0, 0, s, s), scaled(&u, &own).as_ref(), u.transpose());
        if !self.symmetric {
            linalg::add_lower(out.as_mut().submatrix_mut(s, s, s, s), scaled(&v, &own).as_ref(), v.transpose());
        }
        for j in 0..s {
            for i in 0..s {
                out[(s + j, i)] = out[(i, s + j)];
                let (low, high) = (i.max(j), i.min(j));
                out[(i, j)] = out[(low, high)];
                // V·V equals U·U where V is U but for signs.
                out[(s + i, s + j)] = if self.symmetric { out[(low, high)] } else { out[(s + low, s + high)] };
            }
        }
        out
    }
}

impl Scores {
    /// Those of the first classes.
    fn leading(&self, classes: usize) -> Scores {
        let of = |m: &Mat<f64>| m.subcols(0, classes).to_owned();
        Scores { source: of(&self.source), target: of(&self.target) }
    }
}

/// One half of random right-hand sides with entries of size 1: the whole has the length √(2n).
fn probes(n: usize, side: u64) -> Mat<f64> {
    random::gaussian(n, PROBES, &mut random::generator(side, Purpose::FoldProbes))
}

/// \[left, right\].
fn beside(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let at = left.ncols();
    Mat::from_fn(left.nrows(), at + right.ncols(), |i, j| if j < at { left[(i, j)] } else { right[(i, j - at)] })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::estimators::Answer;
    use proptest::prelude::*;

    fn problem(n: usize, seed: u64) -> (DenseOperator<'static, f64>, Mat<f64>, Vec<usize>, Vec<Vec<usize>>) {
        let k = synth::gaussian::<f64>(n, n, seed) * faer::Scale(1.0 / (n as f64).sqrt());
        let parts = (0..5).map(|f| (f..n).step_by(5).collect()).collect();
        (DenseOperator::Owned(k), synth::gaussian::<f64>(n, 2, seed ^ 1), (0..n).collect(), parts)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_part_that_leaves_a_singular_system_is_noticed(n in 12usize..40, at in 0usize..5, seed: u64) {
            let (k, y, train, parts) = problem(n, seed);
            let task = Task { k: &k, train: &train, y: y.as_ref(), answer: &Answer::Values, weights: None };
            let rest = complement(&parts[at], n);
            let block = Decomposed::new(&Submatrix::new(&k, Some(&rest), Some(&rest))).unwrap().unwrap();
            let system = CoupledSystem { penalty: block.sigma[1].recip(), ..CoupledSystem::default() };
            let whole = Decomposed::new(&k).unwrap().unwrap();
            prop_assert!(whole.stacked(&system, &task, &parts, &Run::default()).unwrap().is_none());
        }

        #[test]
        fn one_decomposition_gives_what_is_learned_without_each_part(n in 12usize..40, penalty in 0.05..20.0f64, seed: u64) {
            let (k, y, train, parts) = problem(n, seed);
            let task = Task { k: &k, train: &train, y: y.as_ref(), answer: &Answer::Values, weights: None };
            let mut expected = Stacked { held: Scores::zeros(n, 2), mean: Functions::zeros(n, 2) };
            let mut conditions = Vec::new();
            for part in &parts {
                let rest = complement(part, n);
                let block = Submatrix::new(&k, Some(&rest), Some(&rest));
                let system = CoupledSystem { penalty, route: crate::solvers::linsys::Route::Svd, ..CoupledSystem::default() };
                let solved = system.solve(&block, rows_of(y.as_ref(), &rest).as_ref(), &Run::default()).unwrap();
                prop_assume!(solved.report.condition < 1e4);
                conditions.push(solved.report.condition);
                let functions = Functions::padded(&solved, &rest, n);
                expected.held.set(part, &functions.scores_within(&k, part).unwrap());
                expected.mean.add(&functions, 0.2);
            }
            let system = CoupledSystem { penalty, ..CoupledSystem::default() };
            let whole = Decomposed::new(&k).unwrap().unwrap();
            let found = whole.stacked(&system, &task, &parts, &Run::default()).unwrap().unwrap();
            let left = whole.without_each(1.0 / penalty, y.as_ref(), &parts);
            for (estimate, exact) in whole.conditions(1.0 / penalty, &parts, &left).into_iter().zip(&conditions) {
                prop_assert!(estimate > 1e-3 * exact && estimate < 30.0 * exact * (n as f64).sqrt(), "{estimate}, in truth {exact}");
            }
            let near = |a: &Mat<f64>, b: &Mat<f64>| (a - b).norm_max() < 1e-9 * (1.0 + b.norm_max());
            prop_assert!(near(&found.held.source, &expected.held.source) && near(&found.held.target, &expected.held.target));
            prop_assert!(near(&found.mean.source, &expected.mean.source) && near(&found.mean.target, &expected.mean.target));
            let bias = |f: &Functions| Mat::from_fn(2, 2, |i, j| [&f.bias_source, &f.bias_target][i][j]);
            prop_assert!(near(&bias(&found.mean), &bias(&expected.mean)));
        }
    }
}

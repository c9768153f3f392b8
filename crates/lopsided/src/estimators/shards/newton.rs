//! Logistic regression and squared-hinge machines by passes: each gives the loss, its gradient and a Gram matrix weighted by its
//! curvature, at a point that the passes before have chosen.
//!
//! With features F = K_nm·A and f = F·w + b a machine minimises ½·|w|² + penalty·Σ_i loss_i, the bias not penalised.
//!
//! 1. A pass sums up, for every function c, Σ loss, K̃ᵀ·r and K̃ᵀ·D·K̃ with K̃ = \[K_nm, 1\], r the derivatives of the losses by f_c and D the
//!    second ones: two classes have one function, softmax and one class against the rest one for each.
//! 2. B = diag(A, 1) turns them into the gradient Bᵀ·K̃ᵀ·r·penalty + w and the Hessian H, whose step is −H⁻¹·gradient. Functions of softmax
//!    depend on each other: the diagonal blocks, doubled, are never less than their Hessian, and the last steps correct them (limited
//!    memory BFGS).
//! 3. The next pass looks at the end of the step. If the objective has not fallen enough, the one after it looks at a shorter step.
//! 4. The end is reached when the gradient is short beside that at zero, which is what the pass has just measured.

use super::job::{Job, Method};
use super::seen::Seen;
use super::sums::{for_each_block, packed, packed_length, unpacked};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::samples::SamplesRef;
use crate::solvers::linear_machine::softmax;
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// Steps that correct the diagonal blocks of softmax.
const HISTORY: usize = 6;
/// Share of the fall that the slope promises which is enough.
const ENOUGH: f64 = 1e-4;
/// Steps shorter than this are lost in rounding.
const SHORTEST: f64 = 1e-8;
/// Eigenvalues that rounding has taken below this share of the largest one are taken for it.
const LEAST: f64 = 1e-12;

/// Functions that are looked for together, a column each, with the bias as the last row.
#[derive(Clone, Debug, PartialEq)]
struct Problem {
    /// Where it has come to.
    at: Mat<f64>,
    step: Mat<f64>,
    gradient: Mat<f64>,
    /// Differences of points and of gradients, the latest last.
    history: Vec<(Mat<f64>, Mat<f64>)>,
    course: Course,
}

/// How far a problem is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Course {
    /// The share of the step whose end the next pass looks at.
    share: f64,
    objective: f64,
    slope: f64,
    /// Length of the gradient at zero.
    start: f64,
    /// That of the gradient, relative to it.
    left: f64,
    steps: usize,
    done: bool,
}

/// All problems of a machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Search {
    problems: Vec<Problem>,
    /// Where the next pass looks, in coefficients of the landmarks: a column for each function, with the bias as the last row.
    trial: Mat<f64>,
    pub(super) passes: usize,
}

/// What came out.
pub(super) struct Solved {
    /// Coefficients of the landmarks, a column for each class.
    pub(super) weights: Mat<f64>,
    pub(super) bias: Vec<f64>,
    pub(super) left: f64,
    pub(super) converged: bool,
}

/// Problems and functions of each.
fn shape(method: Method, classes: usize) -> (usize, usize) {
    match (method, classes) {
        (_, 2) => (1, 1),
        (Method::Logistic, classes) => (1, classes),
        (_, classes) => (classes, 1),
    }
}

impl Search {
    /// At zero.
    pub(super) fn new<T: Scalar>(job: &Job, seen: &Seen<T>, run: &Run) -> Result<Self> {
        let (count, functions) = shape(job.method, seen.classes().len());
        let rows = seen.span(run)?.root.ncols() + 1;
        let zeros = || Mat::zeros(rows, functions);
        let course =
            Course { share: 0.0, objective: f64::MAX, slope: 0.0, start: 0.0, left: 1.0, steps: 0, done: false };
        let problem = Problem { at: zeros(), step: zeros(), gradient: zeros(), history: Vec::new(), course };
        let trial = Mat::zeros(seen.landmarks.count() + 1, count * functions);
        Ok(Search { problems: vec![problem; count], trial, passes: 0 })
    }

    /// Lengths of the lists that a piece gives: of the losses, and two for each function of a problem that is not done.
    pub(super) fn lengths(&self) -> Vec<usize> {
        let m = self.trial.nrows();
        let each = (0..self.active().len()).flat_map(|_| [m, packed_length(m)]);
        std::iter::once(self.problems.len()).chain(each).collect()
    }

    /// Functions of the problems that are not done.
    fn active(&self) -> Vec<usize> {
        let width = self.problems.first().map_or(1, |p| p.at.ncols());
        (0..self.trial.ncols()).filter(|c| !self.problems[c / width].course.done).collect()
    }

    /// Step 1 for rows of these classes.
    pub(super) fn sums<T: Scalar>(
        &self,
        job: &Job,
        seen: &Seen<T>,
        (x, codes): (SamplesRef<'_, T>, &[u32]),
        run: &Run,
    ) -> Result<Vec<Vec<f64>>> {
        let m = self.trial.nrows();
        let active = self.active();
        let mut losses = vec![0.0; self.problems.len()];
        let mut parts: Vec<(Vec<f64>, Mat<f64>)> = active.iter().map(|_| (vec![0.0; m], Mat::zeros(m, m))).collect();
        for_each_block(&seen.functions(Mat::zeros(m - 1, 0)), x, run, |start, k| {
            let k = Mat::from_fn(k.nrows(), m, |i, j| if j + 1 < m { k[(i, j)] } else { 1.0 });
            let values = linalg::mul(k.as_ref(), self.trial.as_ref());
            let loss = Losses::new(job.method, values, &codes[start..start + k.nrows()]);
            loss.add_to(&mut losses);
            for (&c, (gradient, curved)) in active.iter().zip(&mut parts) {
                loss.differentiate(c, k.as_ref(), gradient, curved);
            }
            Ok(())
        })?;
        let each = parts.into_iter().flat_map(|(gradient, curved)| [gradient, packed(curved.as_ref())]);
        Ok(std::iter::once(losses).chain(each).collect())
    }

    /// Steps 2 to 4 with the sums over all rows: whether all is found.
    pub(super) fn advance<T: Scalar>(
        &mut self,
        job: &Job,
        seen: &Seen<T>,
        sums: &[Vec<f64>],
        run: &Run,
    ) -> Result<bool> {
        let (root, m) = (&seen.span(run)?.root, self.trial.nrows());
        self.passes += 1;
        let mut lists = sums[1..].chunks(2);
        let coupled = self.problems[0].at.ncols() > 1;
        for (problem, loss) in self.problems.iter_mut().zip(&sums[0]).filter(|(problem, _)| !problem.course.done) {
            let lists: Vec<&[Vec<f64>]> = lists.by_ref().take(problem.at.ncols()).collect();
            let gradient = |c: usize| turned(root, Mat::from_fn(m, 1, |i, _| job.penalty * lists[c][0][i]).as_ref());
            let hessian = |c: usize| {
                let curved = unpacked(&lists[c][1], m);
                let half = turned(root, curved.as_ref());
                let mut out =
                    turned(root, half.transpose()) * faer::Scale(if coupled { 2.0 } else { 1.0 } * job.penalty);
                (0..root.ncols()).for_each(|i| out[(i, i)] += 1.0);
                linalg::mirrored(out.as_ref())
            };
            problem.advance(job, job.penalty * loss, &gradient, &hessian)?;
        }
        self.trial = self.coefficients(root, |p| &p.at + &p.step * faer::Scale(p.course.share));
        Ok(self.problems.iter().all(|problem| problem.course.done) || self.passes >= job.passes)
    }

    /// Functions as coefficients of the landmarks.
    fn coefficients(&self, root: &Mat<f64>, of: impl Fn(&Problem) -> Mat<f64>) -> Mat<f64> {
        let (m, s) = (root.nrows(), root.ncols());
        let mut out = Mat::zeros(m + 1, self.problems.len() * self.problems[0].at.ncols());
        let mut next = 0;
        for problem in &self.problems {
            let w = of(problem);
            let weights = linalg::mul(root.as_ref(), w.as_ref().subrows(0, s));
            for c in 0..w.ncols() {
                (0..m).for_each(|i| out[(i, next)] = weights[(i, c)]);
                out[(m, next)] = w[(s, c)];
                next += 1;
            }
        }
        out
    }

    /// What was found, a function for each class.
    pub(super) fn solved<T: Scalar>(&self, job: &Job, seen: &Seen<T>, run: &Run) -> Result<Solved> {
        let root = &seen.span(run)?.root;
        let found = self.coefficients(root, |p| p.at.clone());
        let (m, classes) = (root.nrows(), seen.classes().len());
        // One function of two classes is that of the first one for a machine, that of the second for logistic regression.
        let share = |c: usize| match (found.ncols(), job.method, c) {
            (1, Method::Logistic, 0) => -0.5,
            (1, Method::Logistic, _) => 0.5,
            (1, _, 1) => -1.0,
            _ => 1.0,
        };
        let of = |i: usize, c: usize| share(c) * found[(i, c.min(found.ncols() - 1))];
        let left = self.problems.iter().map(|p| p.course.left).fold(0.0, f64::max);
        Ok(Solved {
            weights: Mat::from_fn(m, classes, of),
            bias: (0..classes).map(|c| of(m, c)).collect(),
            left,
            converged: left <= job.tol,
        })
    }

    /// Puts it into an archive.
    pub(super) fn put(&self, archive: &mut Archive) {
        archive.set_field("search", self.problems.iter().map(|p| &p.course).collect::<Vec<_>>());
        archive.set_field("search.passes", self.passes);
        archive.set_field("search.history", self.problems.iter().map(|p| p.history.len()).collect::<Vec<_>>());
        archive.set_matrix("search.trial", self.trial.as_ref());
        for (at, problem) in self.problems.iter().enumerate() {
            archive.set_matrix(&format!("search.{at}.at"), problem.at.as_ref());
            archive.set_matrix(&format!("search.{at}.step"), problem.step.as_ref());
            archive.set_matrix(&format!("search.{at}.gradient"), problem.gradient.as_ref());
            for (old, (moved, changed)) in problem.history.iter().enumerate() {
                archive.set_matrix(&format!("search.{at}.moved.{old}"), moved.as_ref());
                archive.set_matrix(&format!("search.{at}.changed.{old}"), changed.as_ref());
            }
        }
    }

    /// What was put there, for so many landmarks and classes.
    pub(super) fn take(archive: &Archive, job: &Job, landmarks: usize, classes: usize) -> Result<Self> {
        let damaged = || archive.error("has steps whose sizes do not fit together");
        let (courses, histories): (Vec<Course>, Vec<usize>) =
            (archive.field("search")?, archive.field("search.history")?);
        let (count, functions) = shape(job.method, classes);
        if [courses.len(), histories.len()] != [count; 2] || histories.iter().any(|h| *h > HISTORY) {
            return Err(damaged());
        }
        let mut problems = Vec::new();
        for (at, course) in courses.into_iter().enumerate() {
            let matrix = |name: String| archive.matrix::<f64>(&format!("search.{at}.{name}"));
            let pairs =
                (0..histories[at]).map(|old| Ok((matrix(format!("moved.{old}"))?, matrix(format!("changed.{old}"))?)));
            let history = pairs.collect::<Result<Vec<_>>>()?;
            let (start, step, gradient) = (matrix("at".into())?, matrix("step".into())?, matrix("gradient".into())?);
            let size = start.shape();
            let all = [&step, &gradient].into_iter().chain(history.iter().flat_map(|(a, b)| [a, b]));
            let same = all.into_iter().all(|matrix| matrix.shape() == size);
            if !same || size.1 != functions || size.0 == 0 || size.0 > landmarks + 1 {
                return Err(damaged());
            }
            problems.push(Problem { at: start, step, gradient, history, course });
        }
        let (trial, passes) = (archive.matrix("search.trial")?, archive.field("search.passes")?);
        let fits = trial.shape() == (landmarks + 1, count * functions);
        if fits { Ok(Search { problems, trial, passes }) } else { Err(damaged()) }
    }
}

/// Bᵀ·a with B = diag(A, 1).
fn turned(root: &Mat<f64>, a: MatRef<'_, f64>) -> Mat<f64> {
    let (m, s) = root.shape();
    let above = linalg::transpose_mul(root.as_ref(), a.subrows(0, m));
    Mat::from_fn(s + 1, a.ncols(), |i, j| if i < s { above[(i, j)] } else { a[(m, j)] })
}

impl Problem {
    /// Looks at the end of the step: takes it, or a shorter one the next time.
    fn advance(
        &mut self,
        job: &Job,
        loss: f64,
        gradient: &dyn Fn(usize) -> Mat<f64>,
        hessian: &dyn Fn(usize) -> Mat<f64>,
    ) -> Result<()> {
        let trial = &self.at + &self.step * faer::Scale(self.course.share);
        let weights = trial.as_ref().subrows(0, trial.nrows() - 1);
        let objective = 0.5 * weights.squared_norm_l2() + loss;
        if !objective.is_finite() && self.course.steps == 0 {
            return Err(Error::param("kernel", "not finite at the samples", "finite"));
        }
        let course = &mut self.course;
        let promised = course.share * course.slope;
        let falls = objective <= course.objective + ENOUGH * promised + 1e-14 * course.objective.abs();
        if !falls && course.share > SHORTEST {
            // Where a parabola through both values and the slope has its lowest point.
            let best = -promised * course.share / (2.0 * (objective - course.objective - promised));
            let (least, most) = (0.1 * course.share, 0.5 * course.share);
            course.share = if best.is_finite() { best.clamp(least, most) } else { least };
            return Ok(());
        }
        if !falls {
            // Rounding ends the descent.
            (course.share, course.done) = (0.0, true);
            return Ok(());
        }
        let functions = trial.ncols();
        let mut now = Mat::zeros(trial.nrows(), functions);
        for c in 0..functions {
            now.col_mut(c).copy_from(gradient(c).col(0));
            (0..trial.nrows() - 1).for_each(|i| now[(i, c)] += trial[(i, c)]);
        }
        let length = now.norm_l2();
        course.start = if course.steps == 0 { length } else { course.start };
        course.left = length / course.start.max(f64::MIN_POSITIVE);
        if functions > 1 && course.steps > 0 {
            self.history.push((&trial - &self.at, &now - &self.gradient));
            self.history.drain(..self.history.len().saturating_sub(HISTORY));
        }
        (self.at, self.gradient) = (trial, now);
        (course.objective, course.steps) = (objective, course.steps + 1);
        if course.left <= job.tol {
            (course.share, course.done) = (0.0, true);
            return Ok(());
        }
        self.step = self.direction(hessian)?;
        self.course.slope = dot(&self.gradient, &self.step);
        self.course.share = 1.0;
        Ok(())
    }

    /// −H⁻¹·gradient, corrected by the last steps (Nocedal's two loops).
    fn direction(&self, hessian: &dyn Fn(usize) -> Mat<f64>) -> Result<Mat<f64>> {
        let mut q = self.gradient.clone();
        let mut kept = Vec::new();
        for (moved, changed) in self.history.iter().rev() {
            let curvature = dot(moved, changed);
            if curvature > 0.0 {
                let share = dot(moved, &q) / curvature;
                q -= changed * faer::Scale(share);
                kept.push((share, curvature, moved, changed));
            }
        }
        let mut out = Mat::zeros(q.nrows(), q.ncols());
        for c in 0..q.ncols() {
            out.col_mut(c).copy_from(divided(hessian(c), q.as_ref().subcols(c, 1))?.col(0));
        }
        for (share, curvature, moved, changed) in kept.into_iter().rev() {
            let back = dot(changed, &out) / curvature;
            out += moved * faer::Scale(share - back);
        }
        // What is added to all functions of softmax changes no loss, and only the length of w.
        let width = out.ncols() as f64;
        if width > 1.0 {
            let means: Vec<f64> = out.row_iter().map(|row| row.iter().sum::<f64>() / width).collect();
            out.col_iter_mut().for_each(|column| column.iter_mut().zip(&means).for_each(|(v, mean)| *v -= mean));
        }
        Ok(-out)
    }
}

/// H⁻¹·q. What rounding has made of eigenvalues near 0 is taken for a small positive number.
fn divided(hessian: Mat<f64>, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
    if let Some(found) = linalg::solve_lower(hessian.clone(), q.to_owned()) {
        return Ok(found);
    }
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let (values, vectors) = linalg::eigen(hessian.as_ref()).ok_or_else(not_finite)?;
    let least = LEAST * values.first().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE);
    let inner = linalg::transpose_mul(vectors.as_ref(), q);
    let inner = Mat::from_fn(inner.nrows(), inner.ncols(), |i, c| inner[(i, c)] / values[i].max(least));
    Ok(linalg::mul(vectors.as_ref(), inner.as_ref()))
}

fn dot(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}

/// Losses of some rows by the values of all functions.
struct Losses<'a> {
    method: Method,
    values: Mat<f64>,
    codes: &'a [u32],
    /// Probabilities where all functions make up one problem.
    softmax: Option<Mat<f64>>,
}

impl<'a> Losses<'a> {
    fn new(method: Method, values: Mat<f64>, codes: &'a [u32]) -> Self {
        let together = method == Method::Logistic && values.ncols() > 1;
        Losses { method, softmax: together.then(|| softmax(values.as_ref())), values, codes }
    }

    /// ±1: whether function c should be positive. The one of two classes belongs to the first, of logistic regression to the second.
    fn sign(&self, i: usize, c: usize) -> f64 {
        let class = if self.values.ncols() == 1 && self.method == Method::Logistic { 1 } else { c };
        if self.codes[i] as usize == class { 1.0 } else { -1.0 }
    }

    fn add_to(&self, losses: &mut [f64]) {
        let rows = 0..self.codes.len();
        if self.softmax.is_some() {
            let own = |i: usize| {
                let row = self.values.row(i);
                let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = row.iter().map(|f| (f - largest).exp()).sum();
                largest + sum.ln() - self.values[(i, self.codes[i] as usize)]
            };
            losses[0] += rows.map(own).sum::<f64>();
            return;
        }
        for (c, loss) in losses.iter_mut().enumerate() {
            let own = |i: usize| {
                let margin = self.sign(i, c) * self.values[(i, c)];
                match self.method {
                    Method::Logistic => (-margin.abs()).exp().ln_1p() + (-margin).max(0.0),
                    _ => (1.0 - margin).max(0.0).powi(2),
                }
            };
            *loss += rows.clone().map(own).sum::<f64>();
        }
    }

    /// Adds K̃ᵀ·r and K̃ᵀ·D·K̃ of function c.
    fn differentiate(&self, c: usize, k: MatRef<'_, f64>, gradient: &mut [f64], curved: &mut Mat<f64>) {
        let n = self.codes.len();
        let both = |i: usize| {
            let (sign, f) = (self.sign(i, c), self.values[(i, c)]);
            match (&self.softmax, self.method) {
                (Some(shares), _) => {
                    let p = shares[(i, c)];
                    (p - f64::from(u8::from(sign > 0.0)), p * (1.0 - p))
                }
                (None, Method::Logistic) => {
                    let p = 1.0 / (1.0 + (-f).exp());
                    (p - f64::from(u8::from(sign > 0.0)), p * (1.0 - p))
                }
                _ => {
                    let short = 1.0 - sign * f;
                    if short > 0.0 { (-2.0 * sign * short, 2.0) } else { (0.0, 0.0) }
                }
            }
        };
        let derivatives: Vec<(f64, f64)> = (0..n).map(both).collect();
        let r = Mat::from_fn(n, 1, |i, _| derivatives[i].0);
        let sums = linalg::transpose_mul(k, r.as_ref());
        gradient.iter_mut().zip(sums.col(0).iter()).for_each(|(g, more)| *g += more);
        let bent: Vec<usize> = (0..n).filter(|&i| derivatives[i].1 > 0.0).collect();
        let half = Mat::from_fn(bent.len(), k.ncols(), |i, j| derivatives[bent[i]].1.sqrt() * k[(bent[i], j)]);
        linalg::add_gram_lower(curved.as_mut(), half.transpose(), 1.0);
    }
}

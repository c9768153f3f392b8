//! The best fixed matrix in hindsight.
//!
//! Regret compares a learner with one matrix for all trials. By the representer theorem (\[KMU\] Theorems 3.1 and 3.2)
//! that matrix lies in the span of the instances, so everything happens in coordinates of two orthonormal bases, and no
//! feature is computed.

use super::ball::Ball;
use super::frame::Frame;
use super::instance::Trial;
use super::loss::Loss;
use super::matrices::{eigen, frobenius, product, svd};
use super::spec::LearnerSpec;
use crate::base::Run;
use crate::base::error::Result;
use crate::data::samples::SamplesRef;
use faer::{Mat, MatRef};

/// Kinks are rounded over this width; the loss is then at most half of it too small.
const ROUNDED: f64 = 1e-3;

/// What a fixed matrix would have lost on the first `trials` trials.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Comparator {
    /// Number of trials.
    pub trials: usize,
    /// Loss of the matrix that was found.
    pub loss: f64,
    /// No matrix of the set loses less than `loss − gap`; 0 where the best is known exactly.
    pub gap: f64,
}

/// How hard to look for the best matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hindsight {
    /// Most iterations.
    pub iterations: usize,
    /// Stops when the gap is below this share of the loss.
    pub tol: f64,
}

impl Default for Hindsight {
    fn default() -> Self {
        Hindsight { iterations: 500, tol: 1e-4 }
    }
}

/// The least loss over the learner's set on the first T trials, for every T of `points` (ascending).
///
/// For the gain the best matrix is known: k·W projects onto the k top eigenvectors of ΣM (PCA), or B times the top singular pair,
/// and so on. For other losses accelerated projected gradients run in the coordinates of the span, where the solution is by the representer
/// theorem (\[KMU\] Theorems 3.1 and 3.2); each is started from the solution before, and the gap is a certificate by convexity.
///
/// # Cost
/// All trials are held in coordinates: T·(b_x + b_z) numbers for spans of b_x and b_z dimensions, and decompositions of b_x × b_z
/// matrices.
///
/// # Errors
/// As for the learner; [`crate::Error::Interrupted`] when cancelled.
///
/// ```
/// use lopsided::Run;
/// use lopsided::online::{Hindsight, Instance, LearnerSpec, Trial, best_in_hindsight};
///
/// let unit = |first: bool| Instance::symmetric(if first { &[1.0, 0.0] } else { &[0.0, 1.0] });
/// let trials: Vec<Trial> = (0..4).map(|t| Trial { instance: unit(t != 2), label: 0.0 }).collect();
/// let spec = LearnerSpec::new("eg-plus"); // the gain game: one component, the first axis three times
/// let best = best_in_hindsight(&spec, &trials, &[4], &Hindsight::default(), &Run::default())?;
/// assert!((best[0].loss + 3.0).abs() < 1e-9 && best[0].gap == 0.0);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn best_in_hindsight(
    spec: &LearnerSpec,
    trials: &[Trial],
    points: &[usize],
    search: &Hindsight,
    run: &Run,
) -> Result<Vec<Comparator>> {
    let problem = Problem::new(spec, trials, run)?;
    let mut start = Mat::zeros(problem.left.ncols(), problem.right.ncols());
    let mut found = Vec::with_capacity(points.len());
    for &trials in points {
        run.watch.check()?;
        let part = problem.first(trials);
        let comparator =
            if spec.loss == Loss::Gain { part.best_gain()? } else { part.minimize(&mut start, search, run)? };
        found.push(comparator);
    }
    Ok(found)
}

/// All instances in coordinates of their spans: one row for each vector.
struct Problem {
    left: Mat<f64>,
    right: Mat<f64>,
    weights: Vec<f64>,
    /// First row of every trial, and the end.
    starts: Vec<usize>,
    labels: Vec<f64>,
    loss: Loss,
    ball: Ball,
    symmetric: bool,
}

/// The first trials of a problem.
struct Part<'a> {
    whole: &'a Problem,
    trials: usize,
    rows: usize,
}

impl Problem {
    fn new(spec: &LearnerSpec, trials: &[Trial], run: &Run) -> Result<Self> {
        let symmetric = trials.first().is_some_and(|trial| trial.instance.is_symmetric()) && spec.right.is_none();
        let left = coordinates(&spec.left, spec.normalize, trials.iter().map(|t| t.instance.left()), run)?;
        let right = if symmetric {
            left.clone()
        } else {
            let kernel = spec.right.as_ref().unwrap_or(&spec.left);
            coordinates(kernel, spec.normalize, trials.iter().map(|t| t.instance.right()), run)?
        };
        let mut starts = vec![0];
        starts.extend(trials.iter().scan(0, |end, trial| {
            *end += trial.instance.rank();
            Some(*end)
        }));
        let weights = trials.iter().flat_map(|trial| spec.weights(&trial.instance)).collect();
        let labels = trials.iter().map(|trial| trial.label).collect();
        let ball = ball_in_span(spec, left.ncols())?;
        Ok(Problem { left, right, weights, starts, labels, loss: spec.loss, ball, symmetric })
    }

    fn first(&self, trials: usize) -> Part<'_> {
        let trials = trials.min(self.labels.len());
        Part { whole: self, trials, rows: self.starts[trials] }
    }
}

/// The learner's set as seen in the span: a density matrix may put a part of its trace outside, where there is an outside.
fn ball_in_span(spec: &LearnerSpec, span: usize) -> Result<Ball> {
    let outside = spec.params.get("dimension").is_some_and(|n| n > span as f64);
    Ok(match spec.ball()? {
        Ball::Capped(trace, 1) if outside => Ball::Positive(trace),
        ball => ball,
    })
}

/// Coordinates of all vectors in an orthonormal basis of their span.
fn coordinates<'a>(
    kernel: &crate::kernel::KernelSpec,
    normalize: bool,
    instances: impl Iterator<Item = SamplesRef<'a, f64>>,
    run: &Run,
) -> Result<Mat<f64>> {
    let mut frame = Frame::new(kernel, normalize)?;
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for samples in instances {
        run.watch.check()?;
        for at in 0..samples.count() {
            let look = frame.look(samples, at)?;
            rows.push(frame.absorb(samples, at, &look)?);
        }
    }
    Ok(Mat::from_fn(rows.len(), frame.size(), |i, j| rows[i].get(j).copied().unwrap_or(0.0)))
}

impl Part<'_> {
    fn left(&self) -> MatRef<'_, f64> {
        self.whole.left.as_ref().subrows(0, self.rows)
    }

    fn right(&self) -> MatRef<'_, f64> {
        self.whole.right.as_ref().subrows(0, self.rows)
    }

    /// Σ_t c_t·M_t.
    fn combined(&self, factors: impl Fn(usize) -> f64) -> Mat<f64> {
        let mut scaled = self.left().to_owned();
        for t in 0..self.trials {
            let factor = factors(t);
            for row in self.whole.starts[t]..self.whole.starts[t + 1] {
                scaled.row_mut(row).iter_mut().for_each(|v| *v *= factor * self.whole.weights[row]);
            }
        }
        product(scaled.transpose(), self.right())
    }

    /// tr(WᵀM_t) of every trial.
    fn predictions(&self, w: &Mat<f64>) -> Vec<f64> {
        let turned = product(self.left(), w.as_ref());
        let right = self.right();
        let row = |i: usize| self.whole.weights[i] * (turned.row(i) * right.row(i).transpose());
        (0..self.trials).map(|t| (self.whole.starts[t]..self.whole.starts[t + 1]).map(row).sum()).collect()
    }

    fn spectrum(&self, matrix: &Mat<f64>) -> Result<Vec<f64>> {
        Ok(if self.whole.symmetric { eigen(matrix.as_ref())?.values } else { svd(matrix.as_ref())?.sigma })
    }

    fn best_gain(&self) -> Result<Comparator> {
        let negative = self.combined(|_| -1.0);
        let loss = self.whole.ball.least_product(&self.spectrum(&negative)?);
        Ok(Comparator { trials: self.trials, loss, gap: 0.0 })
    }

    /// The nearest matrix of the set.
    fn project(&self, w: &Mat<f64>) -> Result<Mat<f64>> {
        let (u, mut values, v) = if self.whole.symmetric {
            let found = eigen(w.as_ref())?;
            (found.vectors.clone(), found.values, found.vectors)
        } else {
            let found = svd(w.as_ref())?;
            (found.u, found.sigma, found.v)
        };
        self.whole.ball.project(&mut values);
        let scaled = Mat::from_fn(u.nrows(), values.len(), |i, j| u[(i, j)] * values[j]);
        Ok(product(scaled.as_ref(), v.transpose()))
    }

    /// Loss with rounded kinks and its gradient.
    fn smooth(&self, w: &Mat<f64>) -> (f64, Mat<f64>) {
        let predictions = self.predictions(w);
        let at = |t: usize| smoothed(self.whole.loss, predictions[t], self.whole.labels[t]);
        ((0..self.trials).map(|t| at(t).0).sum(), self.combined(|t| at(t).1))
    }

    /// Accelerated projected gradients with backtracking, started anew when they overshoot.
    ///
    /// 1. W ← proj(Y − ∇f(Y)/L), L doubled until f(W) is below its quadratic model at Y;
    /// 2. every tenth time, the gap ⟨∇f(W), W⟩ − min over the set of ⟨∇f(W), ·⟩: stop if it is small;
    /// 3. Y ← W + momentum·(W − W_old), without momentum after an increase.
    fn minimize(&self, start: &mut Mat<f64>, search: &Hindsight, run: &Run) -> Result<Comparator> {
        let mut w = self.project(start)?;
        let (mut y, mut momentum, mut curvature) = (w.clone(), 1.0_f64, 1.0);
        let mut last = f64::INFINITY;
        for iteration in 0..search.iterations {
            run.watch.check()?;
            let next = self.descend(&y, &mut curvature)?; // 1
            let (value, gradient) = self.smooth(&next);
            if iteration % 10 == 9 && self.gap(&next, &gradient)? <= search.tol * value.abs() {
                w = next; // 2
                break;
            }
            let faster = f64::midpoint(1.0, (1.0 + 4.0 * momentum * momentum).sqrt()); // 3
            let share = if value > last { 0.0 } else { (momentum - 1.0) / faster };
            momentum = if value > last { 1.0 } else { faster };
            y = Mat::from_fn(w.nrows(), w.ncols(), |i, j| next[(i, j)] + share * (next[(i, j)] - w[(i, j)]));
            (w, last) = (next, value);
            curvature *= 0.9;
        }
        let predictions = self.predictions(&w);
        let loss = (0..self.trials).map(|t| self.whole.loss.value(predictions[t], self.whole.labels[t])).sum();
        let (value, gradient) = self.smooth(&w);
        // The rounded loss is below the true one, so its least value is as well.
        let gap = self.gap(&w, &gradient)? + (loss - value);
        *start = w;
        Ok(Comparator { trials: self.trials, loss, gap })
    }

    fn descend(&self, y: &Mat<f64>, curvature: &mut f64) -> Result<Mat<f64>> {
        let (value, gradient) = self.smooth(y);
        loop {
            let moved = Mat::from_fn(y.nrows(), y.ncols(), |i, j| y[(i, j)] - gradient[(i, j)] / *curvature);
            let next = self.project(&moved)?;
            let step = &next - y;
            let model = value + inner(&gradient, &step) + *curvature / 2.0 * frobenius(&step).powi(2);
            if self.smooth(&next).0 <= model + 1e-12 * value.abs() || *curvature > 1e15 {
                return Ok(next);
            }
            *curvature *= 2.0;
        }
    }

    /// f(W) − f(W*) ≤ ⟨∇f(W), W − W*⟩ ≤ ⟨∇f(W), W⟩ − min over the set of ⟨∇f(W), ·⟩ for a convex f: a certificate that
    /// costs one decomposition of the gradient.
    fn gap(&self, w: &Mat<f64>, gradient: &Mat<f64>) -> Result<f64> {
        let least = self.whole.ball.least_product(&self.spectrum(gradient)?);
        Ok((inner(gradient, w) - least).max(0.0))
    }
}

fn inner(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.transpose() * b).sum()
}

/// Value and slope of the loss from below, kinks rounded.
///
/// Absolute and hinge losses have kinks, at which gradients jump and accelerated steps would stall; a parabola of width
/// 1e-3 takes their place.
fn smoothed(loss: Loss, prediction: f64, label: f64) -> (f64, f64) {
    // |v| ≥ v²/(2μ) for |v| ≤ μ, |v| − μ/2 beyond.
    let kink = |v: f64| {
        if v.abs() <= ROUNDED { (v * v / (2.0 * ROUNDED), v / ROUNDED) } else { (v.abs() - ROUNDED / 2.0, v.signum()) }
    };
    match loss {
        Loss::Absolute => kink(prediction - label),
        Loss::Hinge => {
            let (value, slope) = kink((1.0 - prediction * label).max(0.0));
            (value, -label * slope)
        }
        _ => (loss.value(prediction, label), loss.slope(prediction, label)),
    }
}

//! Logistic regression by Newton's method, the same code for features and for kernel matrices.

use super::space::{Functions, Space};
use super::{Hyperplanes, Labels, check_features, check_tol};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::setters;
use crate::base::verdict::Verdict;
use crate::base::watch::Progress;
use crate::operator::Operator;
use crate::solvers::linsys::check_penalty;
use faer::{Mat, MatRef};

/// Conjugate gradient steps for one Newton step.
const INNER: usize = 500;

/// Logistic regression: one function for two classes, softmax over one function per class for more.
///
/// Minimises |w|²/2 + penalty·Σ_i weight_i·loss_i, bias not penalised. Newton's method:
///
/// 1. P = probabilities of f, R = penalty·weight·(P − Y); the gradient is w + Σ_i R_i·φ(x_i), Σ_i R_i for the bias.
/// 2. Conjugate gradients solve the Newton system to a relative residual of min(0.1, √(gradient)), in the inner product of the
///    space: for a kernel matrix K that is ⟨a, c⟩ = aᵀKc, so that each step takes one product with K and its condition is
///    that of the primal problem.
/// 3. The step is halved until the objective falls enough; that takes no product.
///
/// The penalty keeps w finite for separable data.
///
/// # Cost
/// A step of conjugate gradients takes one product with K, or two with the features; at most 500 of them make a Newton
/// step.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linear_machine::{Labels, Logistic};
/// use lopsided::{Mat, Run};
///
/// // Samples with their opposites: the bias vanishes, and both ways of writing the same problem agree.
/// let x = Mat::from_fn(2, 1, |i, _| [-1.0, 1.0][i]);
/// let labels = Labels { codes: &[0, 1], classes: 2, weights: None };
/// let by_features = Logistic::new(1.0).fit(x.as_ref(), &labels, &Run::default())?;
/// let k = DenseOperator::Owned(&x * x.transpose());
/// let by_kernel = Logistic::new(1.0).fit_kernel(&k, &labels, &Run::default())?;
/// let w = by_kernel.planes.weights.as_ref();
/// assert!((by_features.planes.weights[(0, 1)] - (w[(1, 1)] - w[(0, 1)])).abs() < 1e-4); // w = Σ a_i·x_i
/// assert!(by_features.verdict.converged() && by_features.planes.bias[1].abs() < 1e-6);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic {
    /// Weight of the losses against |w|².
    pub penalty: f64,
    /// Length of the gradient against that at w = 0.
    pub tol: f64,
    /// Newton steps.
    pub max_steps: usize,
}

setters!(Logistic: with_penalty(penalty: f64), with_tol(tol: f64), with_max_steps(max_steps: usize));

impl Default for Logistic {
    /// Penalty 1.
    fn default() -> Self {
        Logistic::new(1.0)
    }
}

/// What [`Logistic`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct LogisticSolution {
    /// One column of coefficients and one bias per class; for two classes −f/2 and f/2. Softmax of their values gives
    /// probabilities.
    pub planes: Hyperplanes,
    /// Newton steps.
    pub steps: usize,
    /// Length of the gradient against that at w = 0, and `tol`.
    pub verdict: Verdict,
}

impl Logistic {
    /// Tolerance 1e-5.
    pub fn new(penalty: f64) -> Self {
        Logistic { penalty, tol: 1e-5, max_steps: 100 }
    }

    /// Learns from features, one sample per row.
    ///
    /// # Errors
    /// [`Error::Param`] for a penalty or tolerance that is not above 0, codes out of range or weights that are negative or NaN,
    /// [`Error::Shape`] for sizes that do not agree, [`Error::NotFinite`], [`Error::Interrupted`].
    pub fn fit(&self, features: MatRef<'_, f64>, labels: &Labels<'_>, run: &Run) -> Result<LogisticSolution> {
        check_features(features)?;
        self.solve(&Space::Features(features), labels, run)
    }

    /// Learns from a symmetric positive semi-definite kernel matrix, by products alone; the coefficients are those of
    /// f = Σ_i k(x, x_i)·a_i + b. An indefinite matrix may end the search early, which is said by `converged`.
    ///
    /// # Errors
    /// As for [`Logistic::fit`].
    pub fn fit_kernel(&self, k: &dyn Operator<f64>, labels: &Labels<'_>, run: &Run) -> Result<LogisticSolution> {
        if k.nrows() != k.ncols() {
            return Err(Error::shape("the kernel matrix", "square", format!("{} x {}", k.nrows(), k.ncols())));
        }
        self.solve(&Space::Kernel(k), labels, run)
    }

    fn solve(&self, space: &Space<'_>, labels: &Labels<'_>, run: &Run) -> Result<LogisticSolution> {
        check_penalty(self.penalty)?;
        check_tol(self.tol)?;
        labels.check(space.samples())?;
        let problem = Problem { space, labels, penalty: self.penalty };
        let mut f = space.zero(problem.functions());
        let (mut first, mut steps, mut fresh) = (None, 0, false);
        let verdict = loop {
            let p = problem.probabilities(&f);
            let gradient = problem.gradient(&f, &p)?;
            let length = space.whole_inner(&gradient, &gradient).max(0.0).sqrt();
            let relative = length / first.get_or_insert(length).max(f64::MIN_POSITIVE);
            let (done, total) = (steps as u64, 0);
            run.watch.report(Progress { stage: "logistic", done, total, residual: Some(relative) })?;
            let step = if relative <= self.tol || steps == self.max_steps {
                None
            } else {
                // Rounding ends the descent.
                let step = problem.newton_step(&gradient, &p, relative, run)?;
                problem.descent(&f, &step, &gradient).map(|scale| (step, scale))
            };
            match step {
                // The last look is at values that are computed anew, not summed up over the steps.
                None if fresh => break Verdict::measured(relative, self.tol),
                None => (f, fresh) = (space.evaluated(f)?, true),
                Some((step, scale)) => {
                    f.add(&step, scale);
                    (steps, fresh) = (steps + 1, false);
                }
            }
        };
        Ok(LogisticSolution { planes: per_class(f, labels.classes), steps, verdict })
    }
}

/// For two classes −f/2 and f/2.
fn per_class(f: Functions, classes: usize) -> Hyperplanes {
    if classes > 2 {
        return Hyperplanes { weights: f.coefficients, bias: f.bias };
    }
    let half = |c: usize| if c == 0 { -0.5 } else { 0.5 };
    let weights = Mat::from_fn(f.coefficients.nrows(), 2, |i, c| half(c) * f.coefficients[(i, 0)]);
    Hyperplanes { weights, bias: (0..2).map(|c| half(c) * f.bias[0]).collect() }
}

struct Problem<'a> {
    space: &'a Space<'a>,
    labels: &'a Labels<'a>,
    penalty: f64,
}

impl Problem<'_> {
    fn functions(&self) -> usize {
        if self.labels.classes == 2 { 1 } else { self.labels.classes }
    }

    /// 1 where function c should be large.
    fn wanted(&self, i: usize, c: usize) -> f64 {
        let class = if self.functions() == 1 { 1 } else { c };
        f64::from(u8::from(self.labels.codes[i] as usize == class))
    }

    fn importance(&self, i: usize) -> f64 {
        self.penalty * self.labels.weight(i)
    }

    /// Of the second class, or of every class.
    fn probabilities(&self, f: &Functions) -> Mat<f64> {
        let values = f.values();
        if self.functions() > 1 {
            return softmax(values.as_ref());
        }
        Mat::from_fn(values.nrows(), 1, |i, _| sigmoid(values[(i, 0)]))
    }

    fn gradient(&self, f: &Functions, p: &Mat<f64>) -> Result<Functions> {
        let r = Mat::from_fn(p.nrows(), p.ncols(), |i, c| self.importance(i) * (p[(i, c)] - self.wanted(i, c)));
        let mut gradient = self.space.represented(r)?;
        gradient.add_without_bias(f);
        Ok(gradient)
    }

    /// The Hessian times v.
    ///
    /// Row i of the Hessian's factor is importance_i·(diag(p_i) − p_i·p_iᵀ): each value less the mean of all, times its
    /// probability.
    fn curved(&self, v: &Functions, p: &Mat<f64>) -> Result<Functions> {
        let values = v.values();
        let mut d = Mat::zeros(p.nrows(), p.ncols());
        for i in 0..p.nrows() {
            let mean: f64 = (0..p.ncols()).map(|c| p[(i, c)] * values[(i, c)]).sum();
            (0..p.ncols()).for_each(|c| d[(i, c)] = self.importance(i) * p[(i, c)] * (values[(i, c)] - mean));
        }
        let mut out = self.space.represented(d)?;
        out.add_without_bias(v);
        Ok(out)
    }

    /// Approximately −H⁻¹·gradient by conjugate gradients.
    ///
    /// Far from the minimum a rough solution will do: the residual asked for is min(0.1, √relative gradient), so that
    /// the digits double in the last steps.
    fn newton_step(&self, gradient: &Functions, p: &Mat<f64>, relative: f64, run: &Run) -> Result<Functions> {
        let space = self.space;
        let mut step = space.zero(self.functions());
        let mut residual = space.zero(self.functions());
        residual.add(gradient, -1.0);
        let mut direction = residual.clone();
        let mut square = space.whole_inner(&residual, &residual);
        let enough = square * relative.sqrt().min(0.1).powi(2);
        for _ in 0..INNER {
            run.watch.check()?;
            let curved = self.curved(&direction, p)?;
            let curvature = space.whole_inner(&direction, &curved);
            if !(curvature > 0.0 && square > 0.0) {
                break;
            }
            let length = square / curvature;
            step.add(&direction, length);
            residual.add(&curved, -length);
            let next = space.whole_inner(&residual, &residual);
            if next <= enough {
                break;
            }
            direction = direction.scaled_plus(next / square, &residual);
            square = next;
        }
        Ok(step)
    }

    /// A length of the step that lowers the objective enough.
    ///
    /// Along f + t·step the objective is a square in t plus losses of values that are known for both ends, so that
    /// trying a length costs no product. `None` where the step does not go downhill.
    fn descent(&self, f: &Functions, step: &Functions, gradient: &Functions) -> Option<f64> {
        let slope = self.space.whole_inner(gradient, step);
        let squares = (self.space.inner(f, f), self.space.inner(f, step), self.space.inner(step, step));
        let (values, moves) = (f.values(), step.values());
        let objective = |scale: f64| {
            let square = squares.0 + 2.0 * scale * squares.1 + scale * scale * squares.2;
            let at = Mat::from_fn(values.nrows(), values.ncols(), |i, c| values[(i, c)] + scale * moves[(i, c)]);
            0.5 * square + self.losses(&at)
        };
        let now = objective(0.0);
        // Close to the minimum the gain drowns in rounding.
        let slack = 1e-14 * now.abs();
        let lowers = |scale: &f64| objective(*scale) <= now + 1e-4 * scale * slope + slack;
        if slope < 0.0 { (0..40).map(|h| 0.5f64.powi(h)).find(lowers) } else { None }
    }

    fn losses(&self, values: &Mat<f64>) -> f64 {
        let own = |i: usize| {
            let row: Vec<f64> = (0..values.ncols()).map(|c| values[(i, c)]).collect();
            let wanted: f64 = row.iter().enumerate().map(|(c, f)| self.wanted(i, c) * f).sum();
            // One function stands against the constant 0.
            let rival = if row.len() == 1 { Some(0.0) } else { None };
            self.importance(i) * (log_sum_exp(row.iter().copied().chain(rival)) - wanted)
        };
        (0..values.nrows()).map(own).sum()
    }
}

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = values.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + values.map(|v| (v - largest).exp()).sum::<f64>().ln()
}

fn sigmoid(f: f64) -> f64 {
    if f >= 0.0 { 1.0 / (1.0 + (-f).exp()) } else { f.exp() / (1.0 + f.exp()) }
}

/// exp(f_c) / Σ exp(f) in every row.
///
/// Relative to the largest value of the row, so that nothing overflows.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::solvers::linear_machine::softmax;
///
/// let p = softmax(Mat::from_fn(1, 2, |_, c| [1000.0, 1000.0 + 3.0_f64.ln()][c]).as_ref());
/// assert!((p[(0, 0)] - 0.25).abs() < 1e-9 && (p[(0, 0)] + p[(0, 1)] - 1.0).abs() < 1e-9);
/// ```
pub fn softmax(values: MatRef<'_, f64>) -> Mat<f64> {
    let sum = |i: usize| log_sum_exp((0..values.ncols()).map(|c| values[(i, c)]));
    let sums: Vec<f64> = (0..values.nrows()).map(sum).collect();
    Mat::from_fn(values.nrows(), values.ncols(), |i, c| (values[(i, c)] - sums[i]).exp())
}

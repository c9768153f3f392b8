//! Linear support vector machines by dual coordinate descent.
//!
//! 1. α = 0. A *pass* visits the active samples in random order; for each, α_i moves to the minimum of the dual along
//!    its coordinate, clipped to its bounds, and w = Σ α_i·y_i·x_i follows.
//! 2. Samples that sit at a bound with a gradient larger than any that moved something in the pass before are set
//!    aside.
//! 3. When the largest violation of a pass is within the tolerance, all samples become active again; once a pass over
//!    all of them is within it, the bias is taken over as the centre of the next proximal round.
//! 4. At the end w and the violation are computed anew from α.

use super::{Hyperplanes, Labels, check_features, check_tol};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::registry::words;
use crate::base::setters;
use crate::base::verdict::Verdict;
use crate::base::watch::Progress;
use crate::solvers::linsys::check_penalty;
use crate::solvers::svm::check_weights;
use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// The loss of a sample with margin m.
///
/// ```
/// use lopsided::solvers::linear_machine::HingeLoss;
///
/// assert_eq!("squared-hinge".parse::<HingeLoss>()?, HingeLoss::Squared);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HingeLoss {
    /// max(0, 1 − m).
    #[default]
    Hinge,
    /// max(0, 1 − m)².
    Squared,
}

words!(HingeLoss, "loss": Hinge = "hinge", Squared = "squared-hinge");

/// A linear SVM by dual coordinate descent.
///
/// With U_i = penalty·weight_i and D_i = 0 for the hinge, U_i = ∞ and D_i = 1/(2·penalty·weight_i) for its square, minimises
/// ½·|Σ α_i·y_i·x_i|² + ½·Σ D_i·α_i² − Σ α_i over 0 ≤ α_i ≤ U_i and Σ α_i·y_i = 0, one coordinate at a time in random order.
///
/// The constraint belongs to the bias, which is not penalised. It is reached by proximal steps: each round penalises
/// (b − b_before)²/(2τ), which makes b = b_before + τ·Σ α_i·y_i one more weight, and the next round begins at its b. τ is the
/// mean of |x_i|².
///
/// # Cost
/// n·width operations for a pass over all samples, and n·width numbers, since rows are copied to lie in one piece.
///
/// ```
/// use lopsided::solvers::linear_machine::LinearSvm;
/// use lopsided::{Mat, Run};
///
/// let x = Mat::from_fn(2, 1, |i, _| [-1.0, 1.0][i]);
/// let found = LinearSvm::new(10.0).solve(x.as_ref(), &[-1.0, 1.0], None, &Run::default())?;
/// assert!((found.weights[0] - 1.0).abs() < 1e-2 && found.bias.abs() < 1e-2); // both samples on the margin
/// assert!((found.dual[0] - 0.5).abs() < 1e-2);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearSvm {
    /// Weight of the losses against |w|².
    pub penalty: f64,
    /// The loss.
    pub loss: HingeLoss,
    /// Largest violation of the optimality conditions: of any margin, and of Σ α_i·y_i = 0 against Σ α_i.
    pub tol: f64,
    /// Visits of all samples.
    pub max_passes: usize,
}

setters!(LinearSvm: with_penalty(penalty: f64), with_loss(loss: HingeLoss), with_tol(tol: f64),
    with_max_passes(max_passes: usize));

impl Default for LinearSvm {
    /// Penalty 1.
    fn default() -> Self {
        LinearSvm::new(1.0)
    }
}

/// f(x) = wᵀx + bias.
///
/// w = Σ α_i·y_i·x_i, summed up anew at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSvmFunction {
    /// w.
    pub weights: Vec<f64>,
    /// The bias.
    pub bias: f64,
    /// α.
    pub dual: Vec<f64>,
    /// Visits of all samples.
    pub passes: usize,
    /// The violation of the optimality conditions, against `tol`.
    pub verdict: Verdict,
}

impl LinearSvm {
    /// Hinge loss, tolerance 1e-3, 10 000 passes at most.
    pub fn new(penalty: f64) -> Self {
        LinearSvm { penalty, loss: HingeLoss::Hinge, tol: 1e-3, max_passes: 10_000 }
    }

    /// Learns labels of ±1 from features, one sample per row.
    ///
    /// # Errors
    /// [`Error::Param`] for a penalty or tolerance that is not above 0 or weights that are negative or NaN, [`Error::Shape`] for
    /// sizes that do not agree, [`Error::NotFinite`], [`Error::Interrupted`].
    pub fn solve(
        &self,
        features: MatRef<'_, f64>,
        y: &[f64],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<LinearSvmFunction> {
        self.check(features, y.len())?;
        weights.map_or(Ok(()), |w| check_weights(w, y.len()))?;
        self.descend(&Rows::of(features), y, weights, run)
    }

    /// One function for each class against the rest, in parallel; of two classes one is the other with opposite signs.
    ///
    /// # Errors
    /// As for [`LinearSvm::solve`], and for codes out of range.
    pub fn fit(&self, features: MatRef<'_, f64>, labels: &Labels<'_>, run: &Run) -> Result<(Hyperplanes, bool)> {
        self.check(features, labels.codes.len())?;
        labels.check(features.nrows())?;
        let rows = Rows::of(features);
        let one = |class: u32| {
            let y: Vec<f64> = labels.codes.iter().map(|&c| if c == class { 1.0 } else { -1.0 }).collect();
            self.descend(&rows, &y, labels.weights, run)
        };
        let count = if labels.classes == 2 { 1 } else { labels.classes as u32 };
        let found: Vec<LinearSvmFunction> = (0..count).into_par_iter().map(one).collect::<Result<_>>()?;
        let sign = |c: usize| if labels.classes == 2 && c == 1 { -1.0 } else { 1.0 };
        let of = |c: usize| &found[c.min(found.len() - 1)];
        let weights = Mat::from_fn(features.ncols(), labels.classes, |j, c| sign(c) * of(c).weights[j]);
        let bias = (0..labels.classes).map(|c| sign(c) * of(c).bias).collect();
        Ok((Hyperplanes { weights, bias }, found.iter().all(|f| f.verdict.converged())))
    }

    fn check(&self, features: MatRef<'_, f64>, labels: usize) -> Result<()> {
        check_penalty(self.penalty)?;
        check_tol(self.tol)?;
        if labels == 0 || labels != features.nrows() {
            return Err(Error::shape("number of labels", features.nrows().max(1), labels));
        }
        check_features(features)
    }

    fn descend(&self, rows: &Rows, y: &[f64], weights: Option<&[f64]>, run: &Run) -> Result<LinearSvmFunction> {
        let mut state = State::new(self, rows, y, weights);
        let mut active: Vec<usize> = (0..y.len()).collect();
        let mut rng = random::generator(run.seed, Purpose::DualOrder);
        let (mut passes, mut reach) = (0, f64::INFINITY);
        let mut verdict = state.judged(self.tol);
        while passes < self.max_passes && !verdict.converged() {
            active.shuffle(&mut rng);
            let violation = state.pass(&mut active, reach);
            passes += 1;
            let (done, total) = (passes as u64, 0);
            run.watch.report(Progress { stage: "coordinate descent", done, total, residual: Some(violation) })?;
            reach = violation;
            if violation <= self.tol {
                let complete = active.len() == y.len();
                (active, reach) = ((0..y.len()).collect(), f64::INFINITY);
                if complete {
                    state.center = state.bias();
                    verdict = state.judged(self.tol);
                }
            }
        }
        if !verdict.converged() {
            verdict = state.judged(self.tol);
        }
        let bias = state.bias();
        Ok(LinearSvmFunction { weights: state.w, bias, dual: state.alpha, passes, verdict })
    }
}

/// Features with rows in one piece, and their squared lengths.
struct Rows {
    values: Vec<f64>,
    width: usize,
    squares: Vec<f64>,
}

impl Rows {
    fn of(features: MatRef<'_, f64>) -> Self {
        let values: Vec<f64> = features.row_iter().flat_map(|row| row.iter().copied().collect::<Vec<_>>()).collect();
        let squares = features.row_iter().map(|row| row.squared_norm_l2()).collect();
        Rows { values, width: features.ncols(), squares }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

struct State<'a> {
    rows: &'a Rows,
    y: &'a [f64],
    upper: Vec<f64>,
    diagonal: Vec<f64>,
    alpha: Vec<f64>,
    w: Vec<f64>,
    /// τ.
    tau: f64,
    /// Σ α_i·y_i.
    balance: f64,
    /// The bias before this round, less τ·balance at its beginning.
    center: f64,
}

impl<'a> State<'a> {
    fn new(machine: &LinearSvm, rows: &'a Rows, y: &'a [f64], weights: Option<&[f64]>) -> Self {
        let n = y.len();
        let scale = |i: usize| machine.penalty * weights.map_or(1.0, |w| w[i]);
        let hinge = machine.loss == HingeLoss::Hinge;
        let mean = rows.squares.iter().sum::<f64>() / n as f64;
        State {
            rows,
            y,
            // A sample without weight stays out whatever the loss.
            upper: (0..n).map(|i| if hinge || scale(i) == 0.0 { scale(i) } else { f64::INFINITY }).collect(),
            diagonal: (0..n).map(|i| if hinge || scale(i) == 0.0 { 0.0 } else { 0.5 / scale(i) }).collect(),
            alpha: vec![0.0; n],
            w: vec![0.0; rows.width],
            tau: if mean > 0.0 { mean } else { 1.0 },
            balance: 0.0,
            center: 0.0,
        }
    }

    fn bias(&self) -> f64 {
        self.center + self.tau * self.balance
    }

    /// The violation of the optimality conditions by weights that are summed up anew, which then stay.
    fn judged(&mut self, tol: f64) -> Verdict {
        self.w.fill(0.0);
        self.balance = 0.0;
        for (i, alpha) in self.alpha.iter().enumerate().filter(|(_, alpha)| **alpha != 0.0) {
            let share = alpha * self.y[i];
            self.balance += share;
            self.w.iter_mut().zip(self.rows.row(i)).for_each(|(w, x)| *w += share * x);
        }
        let violation = |i: usize| {
            let f = linalg::dot(self.rows.row(i), &self.w) + self.bias();
            let gradient = self.y[i] * f - 1.0 + self.diagonal[i] * self.alpha[i];
            let may_grow = if self.alpha[i] < self.upper[i] { -gradient } else { 0.0 };
            let may_shrink = if self.alpha[i] > 0.0 { gradient } else { 0.0 };
            may_grow.max(may_shrink)
        };
        let balance = self.balance.abs() / self.alpha.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        Verdict::measured((0..self.y.len()).map(violation).fold(balance, f64::max), tol)
    }

    /// Visits the active samples; the largest violation met. Those that stay at a bound although the others move by gradients
    /// of at most `reach` are likely to stay there: they are not active any more.
    fn pass(&mut self, active: &mut Vec<usize>, reach: f64) -> f64 {
        let mut violation = 0.0f64;
        let mut at = 0;
        while at < active.len() {
            let i = active[at];
            let (x, y, alpha) = (self.rows.row(i), self.y[i], self.alpha[i]);
            let f = linalg::dot(x, &self.w) + self.bias();
            let gradient = y * f - 1.0 + self.diagonal[i] * alpha;
            let curvature = self.rows.squares[i] + self.tau + self.diagonal[i];
            let next = (alpha - gradient / curvature).clamp(0.0, self.upper[i]);
            if next == alpha {
                if gradient.abs() > reach {
                    active.swap_remove(at);
                } else {
                    at += 1;
                }
                continue;
            }
            at += 1;
            violation = violation.max(gradient.abs());
            let change = (next - alpha) * y;
            self.alpha[i] = next;
            self.balance += change;
            self.w.iter_mut().zip(x).for_each(|(w, x)| *w += change * x);
        }
        violation
    }
}

//! The support vector machine by sequential minimal optimisation.
//!
//! With c_i = α_i·y_i the dual problem of a C-SVM reads: maximise yᵀc − ½·cᵀKc over 1ᵀc = 0 and c_i between 0 and C·y_i. Its
//! gradient is the residual r = y − K·c. Each step moves one pair, c_i += λ and c_j −= λ, along which r_i − r_j > 0 promises
//! a gain; nothing promises any once
//!
//! max {r_i : c_i may grow} − min {r_j : c_j may shrink} ≤ tol,
//!
//! which is the violation of the optimality conditions. i has the largest residual, j the largest gain
//! (r_i − r_j)²/(K_ii + K_jj − 2K_ij) to second order. A curvature that is not positive, as indefinite kernels have it, is
//! replaced by a tiny one: the pair then moves to a bound, and a stationary point is found instead of the maximum.
//!
//! Samples at a bound that they press against take no part until the rest is settled (shrinking); rows of K come from a cache
//! of bounded size ([`RowCache`]), so K is held only where it fits.

mod row_cache;

pub use row_cache::RowCache;

use crate::error::{Error, Result};
use crate::svd::Run;
use crate::watch::Progress;

/// Least curvature along a pair.
const CURVATURE: f64 = 1e-12;
/// Steps between two looks for samples that can be left out.
const SHRINK_EVERY: usize = 1000;

/// A two-class C-SVM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CSvm {
    /// C, the bound of the coefficients.
    pub penalty: f64,
    /// Largest violation of the optimality conditions.
    pub tol: f64,
    /// Steps after which the search is given up; `None`: 1 000 000, or 100 for each sample if that is more.
    pub max_steps: Option<usize>,
    /// Leaves samples out while they press against a bound.
    pub shrink: bool,
}

/// The function f(x) = Σ_i k(x, x_i)·c_i + bias.
#[derive(Clone, Debug, PartialEq)]
pub struct SvmSolution {
    /// c_i = α_i·y_i.
    pub coefficients: Vec<f64>,
    /// The bias: y − K·c averaged over the samples between the bounds.
    pub bias: f64,
    /// Violation of the optimality conditions.
    pub violation: f64,
    /// Pairs moved.
    pub steps: usize,
    /// Whether the violation is at most `tol`.
    pub converged: bool,
}

impl CSvm {
    /// Tolerance 1e-3, with shrinking.
    pub fn new(penalty: f64) -> Self {
        CSvm { penalty, tol: 1e-3, max_steps: None, shrink: true }
    }

    /// Learns labels of ±1 from a symmetric kernel matrix.
    ///
    /// # Errors
    /// [`Error::Param`] for a penalty or tolerance that is not above 0, [`Error::Shape`] for a wrong number of labels,
    /// [`Error::NotFinite`] for a kernel matrix that has no finite diagonal, [`Error::Interrupted`].
    pub fn solve(&self, rows: &mut RowCache<'_>, y: &[f64], run: &Run) -> Result<SvmSolution> {
        self.check(rows, y)?;
        let mut state = State::new(y, self.penalty);
        let most = self.max_steps.unwrap_or_else(|| 1_000_000.max(100 * y.len()));
        let mut steps = 0;
        loop {
            let (pair, violation) = state.pair(rows)?;
            if violation <= self.tol || steps == most {
                if state.is_whole() {
                    return Ok(state.finish(violation, steps, self.tol));
                }
                state.restore(rows, y)?;
                continue;
            }
            state.step(pair, rows)?;
            steps += 1;
            if steps % SHRINK_EVERY.min(y.len()) == 0 {
                let (done, total) = (steps as u64, 0);
                run.watch.report(Progress { stage: "support vectors", done, total, residual: Some(violation) })?;
                if self.shrink {
                    state.shrink();
                }
            }
        }
    }

    fn check(&self, rows: &RowCache<'_>, y: &[f64]) -> Result<()> {
        crate::linsys::check_penalty(self.penalty)?;
        if !(self.tol.is_finite() && self.tol > 0.0) {
            return Err(Error::param("tol", self.tol, "a number above 0"));
        }
        let diagonal = rows.diagonal();
        if y.len() != diagonal.len() || y.is_empty() {
            return Err(Error::shape("number of labels", diagonal.len().max(1), y.len()));
        }
        match diagonal.iter().position(|v| !v.is_finite()) {
            Some(i) => {
                let value = diagonal[i].to_string();
                Err(Error::NotFinite { what: "the kernel matrix".into(), value, row: i, col: i })
            }
            None => Ok(()),
        }
    }
}

/// A pair to move, with what its residuals promise and the curvature along it.
#[derive(Clone, Copy)]
struct Pair {
    i: usize,
    j: usize,
    promise: f64,
    curvature: f64,
}

struct State {
    c: Vec<f64>,
    /// y − K·c; only of active samples up to date.
    residual: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    active: Vec<usize>,
}

impl State {
    fn new(y: &[f64], penalty: f64) -> Self {
        State {
            c: vec![0.0; y.len()],
            residual: y.to_vec(),
            lower: y.iter().map(|y| if *y > 0.0 { 0.0 } else { -penalty }).collect(),
            upper: y.iter().map(|y| if *y > 0.0 { penalty } else { 0.0 }).collect(),
            active: (0..y.len()).collect(),
        }
    }

    fn is_whole(&self) -> bool {
        self.active.len() == self.c.len()
    }

    fn may_grow(&self, t: usize) -> bool {
        self.c[t] < self.upper[t]
    }

    fn may_shrink(&self, t: usize) -> bool {
        self.c[t] > self.lower[t]
    }

    /// The largest residual that may grow and the smallest that may shrink.
    fn extremes(&self) -> (Option<usize>, f64, f64) {
        let (mut first, mut largest, mut smallest) = (None, f64::NEG_INFINITY, f64::INFINITY);
        for &t in &self.active {
            if self.may_grow(t) && self.residual[t] > largest {
                (first, largest) = (Some(t), self.residual[t]);
            }
            if self.may_shrink(t) {
                smallest = smallest.min(self.residual[t]);
            }
        }
        (first, largest, smallest)
    }

    /// The pair of largest gain and the violation; a violation of 0 where no pair can move.
    fn pair(&self, rows: &mut RowCache<'_>) -> Result<(Pair, f64)> {
        let (first, largest, smallest) = self.extremes();
        let still = Pair { i: 0, j: 0, promise: 0.0, curvature: 1.0 };
        let Some(i) = first.filter(|_| largest > smallest) else { return Ok((still, 0.0)) };
        let row = rows.row(i)?;
        let diagonal = rows.diagonal();
        let (mut best, mut gain) = (still, f64::NEG_INFINITY);
        for &j in &self.active {
            let promise = largest - self.residual[j];
            if !self.may_shrink(j) || promise <= 0.0 {
                continue;
            }
            let curvature = (diagonal[i] + diagonal[j] - 2.0 * row[j]).max(CURVATURE);
            if promise * promise / curvature > gain {
                (best, gain) = (Pair { i, j, promise, curvature }, promise * promise / curvature);
            }
        }
        Ok((best, largest - smallest))
    }

    fn step(&mut self, pair: Pair, rows: &mut RowCache<'_>) -> Result<()> {
        let Pair { i, j, promise, curvature } = pair;
        let room = (self.upper[i] - self.c[i]).min(self.c[j] - self.lower[j]);
        let length = (promise / curvature).min(room);
        self.c[i] = moved(self.c[i], length, self.upper[i]);
        self.c[j] = -moved(-self.c[j], length, -self.lower[j]);
        let (row_i, row_j) = (rows.row(i)?, rows.row(j)?);
        for &t in &self.active {
            self.residual[t] -= length * (row_i[t] - row_j[t]);
        }
        Ok(())
    }

    /// Leaves out samples at a bound whose residual lies beyond those of all samples that can still move.
    fn shrink(&mut self) {
        let (_, largest, smallest) = self.extremes();
        let keeps = |t: &usize| match (self.may_grow(*t), self.may_shrink(*t)) {
            (true, false) => self.residual[*t] >= smallest,
            (false, true) => self.residual[*t] <= largest,
            _ => true,
        };
        self.active = self.active.iter().copied().filter(keeps).collect();
    }

    /// Takes all samples back, with their residuals.
    fn restore(&mut self, rows: &mut RowCache<'_>, y: &[f64]) -> Result<()> {
        let mut active = vec![false; y.len()];
        self.active.iter().for_each(|&t| active[t] = true);
        let idle: Vec<usize> = (0..y.len()).filter(|&t| !active[t]).collect();
        idle.iter().for_each(|&t| self.residual[t] = y[t]);
        for s in (0..y.len()).filter(|&s| self.c[s] != 0.0) {
            let row = rows.row(s)?;
            idle.iter().for_each(|&t| self.residual[t] -= self.c[s] * row[t]);
        }
        self.active = (0..y.len()).collect();
        Ok(())
    }

    fn finish(self, violation: f64, steps: usize, tol: f64) -> SvmSolution {
        let free: Vec<f64> =
            (0..self.c.len()).filter(|&t| self.may_grow(t) && self.may_shrink(t)).map(|t| self.residual[t]).collect();
        let (_, largest, smallest) = self.extremes();
        let bias = match (free.is_empty(), largest.is_finite(), smallest.is_finite()) {
            (false, _, _) => free.iter().sum::<f64>() / free.len() as f64,
            (true, true, true) => 0.5 * (largest + smallest),
            // One class alone: every residual is its label.
            (true, grows, _) => {
                if grows {
                    largest
                } else {
                    smallest
                }
            }
        };
        SvmSolution { coefficients: self.c, bias, violation, steps, converged: violation <= tol }
    }
}

/// `from` + `length`, exactly the bound where it reaches that far.
fn moved(from: f64, length: f64, bound: f64) -> f64 {
    if length >= bound - from { bound } else { (from + length).min(bound) }
}

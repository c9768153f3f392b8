//! What a learner keeps to compare itself with its theorem.
//!
//! Regret bounds are functions of a few sums over the trials, so these are all that is kept. The bounds of both
//! families are below.

use super::budget::BudgetCost;
use super::loss::Loss;
use super::subspace::Subspace;

/// Counts and sums over the trials so far.
///
/// ```
/// use lopsided::online::{Instance, LearnerSpec};
///
/// let mut learner = LearnerSpec::new("gd-trace").build()?;
/// learner.update(&Instance::pair(&[1.0], &[1.0]), 0.5)?;
/// let account = learner.account();
/// assert_eq!((account.trials, account.cumulative_loss), (1, 0.25)); // (0 − 0.5)²
/// assert_eq!((account.energy, account.stored), (1.0, 2)); // slope −1, one sample on each side
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Account {
    /// Trials seen.
    pub trials: u64,
    /// Sum of the losses suffered.
    pub cumulative_loss: f64,
    /// Σ (∂_t·‖M_t‖)², the squared lengths of the gradients.
    pub energy: f64,
    /// Σ η_t·(∂_t·‖M_t‖)².
    pub stepped_energy: f64,
    /// The step size of the last trial that moved the matrix.
    pub last_step: f64,
    /// Rank of the learned matrix; for exponentiated gradients the dimension r of the instances' span.
    pub rank: usize,
    /// The largest dimension the span had when an instance was taken in.
    pub span: usize,
    /// Samples stored, on both sides together.
    pub stored: usize,
    /// Bytes held by the learned matrix.
    pub bytes: usize,
    /// What the budget cost.
    pub budget: BudgetCost,
    /// The largest bound on ‖M_t‖² of gradient descent; files of earlier versions do not tell.
    #[serde(default)]
    pub largest_instance: f64,
    /// The largest |label| of gradient descent, 1 where there is none.
    #[serde(default)]
    pub largest_label: f64,
}

/// The prediction of a trial and the loss it suffered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// tr(WᵀM) before learning.
    pub prediction: f64,
    /// Its loss.
    pub loss: f64,
}

impl Account {
    /// Counts a trial.
    pub(super) fn record(&mut self, loss: f64, gradient: f64) {
        // A checkpoint may promise any number.
        self.trials = self.trials.saturating_add(1);
        self.cumulative_loss += loss;
        self.energy += gradient * gradient;
    }

    /// Takes note of what the two sides hold.
    pub(super) fn holds(&mut self, left: &Subspace, right: &Subspace) {
        self.stored = left.stored() + right.stored();
        self.bytes = left.bytes() + right.bytes();
        let (a, b) = (left.cost(), right.cost());
        self.budget.removed = a.removed + b.removed;
        self.budget.error = a.error + b.error;
    }

    /// Takes note of what the only side holds.
    pub(super) fn holds_one(&mut self, space: &Subspace) {
        (self.rank, self.stored) = (space.rank(), space.stored());
        (self.bytes, self.budget) = (space.bytes(), space.cost());
    }

    /// Counts a trial of gradient descent that was predicted as `prediction`, with the size ‖M‖ of its instance, and says its
    /// loss and, unless there is nothing to learn, the slope of the loss.
    pub(super) fn judged(&mut self, how: Loss, label: f64, prediction: f64, size: f64) -> (f64, Option<f64>) {
        let (loss, slope) = (how.value(prediction, label), how.slope(prediction, label));
        self.largest_instance = self.largest_instance.max(size * size);
        self.largest_label = self.largest_label.max(how.size_of(label).abs());
        self.record(loss, slope * size);
        (loss, Some(slope).filter(|slope| slope * size != 0.0))
    }

    /// Counts a step down the slope of an instance of this size, and says what its terms of these weights change by.
    pub(super) fn change(&mut self, step: f64, slope: f64, size: f64, weights: &[f64]) -> Vec<f64> {
        self.last_step = step;
        self.stepped_energy += step * (slope * size) * (slope * size);
        weights.iter().map(|w| -step * slope * w).collect()
    }
}

/// Regret of gradient descent against any matrix of Frobenius norm R or less: R²/(2η) + ½·Σ η·(∂_t‖M_t‖)², which is R·G·√T
/// with the tuned step (\[KMU\] Section 4); with decreasing steps the first R is 2R, the diameter.
pub(super) fn gradient_bound(at: &Account, radius: f64, constant_step: bool) -> f64 {
    if at.last_step <= 0.0 {
        return 0.0;
    }
    let diameter = if constant_step { radius } else { 2.0 * radius };
    diameter * diameter / (2.0 * at.last_step) + at.stepped_energy / 2.0
}

/// Regret in the gain game of density matrices with eigenvalues up to 1/k in r dimensions, with step η, against a comparator
/// that gains `best`: the smaller of
///
/// ```text
/// k·((η·L + ln(r/k))/(1 − exp(−η)) − L),   L = T − best/k
/// best − (η·best − k·ln(r/k))/(exp(η) − 1)
/// ```
///
/// For k = 1 and η = ln(1 + √(2·ln r/L)) the first is at most √(2·L·ln r) + ln r.
pub(super) fn gain_bound(trials: u64, best: f64, step: f64, components: usize, rank: usize) -> f64 {
    let k = components as f64;
    let entropy = (rank as f64 / k).ln().max(0.0);
    let left = (trials as f64 - best / k).max(0.0);
    let by_loss = k * ((step * left + entropy) / -(-step).exp_m1() - left);
    let by_gain = best - (step * best - k * entropy) / step.exp_m1();
    by_loss.min(by_gain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tuned_step_gives_the_bound_of_the_paper() {
        for (trials, best, rank) in [(400_u64, 130.0, 50_usize), (1000, 999.0, 7), (50, 4.0, 20)] {
            let left = trials as f64 - best;
            let log = (rank as f64).ln();
            let step = (1.0 + (2.0 * log / left).sqrt()).ln();
            assert!(gain_bound(trials, best, step, 1, rank) <= (2.0 * left * log).sqrt() + log + 1e-9);
        }
    }
}

//! How far a learner moves in a trial.
//!
//! | rule | η in trial t | regret is bounded |
//! | --- | --- | --- |
//! | [`StepSize::Fixed`] | η | yes |
//! | [`StepSize::Decreasing`] | η/√t | for gradient descent only, but without knowing T |
//! | [`StepSize::Tuned`] | the best constant for T trials | yes, and the bound is the least one |
//! | [`StepSize::Auto`] | by the sizes of what was seen | for gradient descent in a ball, not for the absolute loss |

use super::account::Account;
use super::loss::Loss;
use crate::base::error::{Error, Result};

/// The step size η of a trial.
///
/// ```
/// use lopsided::online::{StepSize, Tuning};
///
/// assert_eq!(StepSize::named("fixed", Some(0.5), None)?, StepSize::Fixed(0.5));
/// let tuning = Tuning { trials: 100, ..Tuning::default() };
/// assert_eq!(StepSize::named("tuned", None, Some(tuning))?, StepSize::Tuned(tuning));
/// assert!(StepSize::named("tuned", Some(0.5), None).is_err()); // tuned for how many trials?
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepSize {
    /// No number is needed. Gradient descent, with S the largest (Σ|w|·‖φ(x)‖·‖ψ(z)‖)² ≥ ‖M‖² so far, takes 1/(c·S) where the loss curves by c at most
    /// (squared: 2, logistic: ¼), which never overshoots the label, and Y/√(S·Σ(∂‖M‖)²) with Y the largest label where the slope
    /// jumps. All other learners take 1/√t.
    #[default]
    Auto,
    /// The same in all trials.
    Fixed(f64),
    /// η/√t in trial t.
    Decreasing(f64),
    /// The size for which the theorem's bound is least, see [`Tuning`].
    Tuned(Tuning),
}

/// What the theorems need to know before the first trial.
///
/// Gradient descent takes η = R/(G·√T) with R the largest Frobenius norm in the ball and G the largest slope; exponentiated
/// gradients take ln(1 + √(2·ln(r/k)/L*)) in the gain game and √(8·ln r/T)/G with other losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tuning {
    /// T, the number of trials.
    pub trials: u64,
    /// L*, what the best fixed matrix leaves of the gain; T if nobody knows.
    #[serde(default)]
    pub comparator: Option<f64>,
    /// r, the dimension of the instances' span; the feature dimension where it is known, else T.
    #[serde(default)]
    pub rank: Option<usize>,
    /// s, the rank of the instances, which symmetric gradient descent depends on; 1 if not given.
    #[serde(default)]
    pub instance_rank: Option<usize>,
}

impl StepSize {
    /// The rule called `rule`; where none is named, tuned steps for a known number of trials, decreasing ones from a given
    /// size, else [`StepSize::Auto`].
    ///
    /// # Errors
    /// Those of [`StepSize::named`].
    pub fn of(rule: Option<&str>, size: Option<f64>, tuning: Option<Tuning>) -> Result<Self> {
        match (rule, size, tuning) {
            (Some(rule), ..) => StepSize::named(rule, Some(size.unwrap_or(1.0)), tuning),
            (None, _, Some(_)) => StepSize::named("tuned", size, tuning),
            (None, Some(_), None) => StepSize::named("decreasing", size, None),
            (None, None, None) => Ok(StepSize::Auto),
        }
    }

    /// The rule called `auto`, `fixed`, `decreasing` or `tuned`.
    ///
    /// # Errors
    /// [`Error::Unknown`] for another name, [`Error::Param`] for a number that is missing or outside its range.
    pub fn named(name: &str, size: Option<f64>, tuning: Option<Tuning>) -> Result<Self> {
        let number =
            || size.ok_or_else(|| Error::param("step", "missing", format!("a number above 0 for {name} steps")));
        let horizon = || Error::param("horizon", "missing", "the number of trials for tuned steps");
        let step = match name {
            "auto" => StepSize::Auto,
            "fixed" => StepSize::Fixed(number()?),
            "decreasing" => StepSize::Decreasing(number()?),
            "tuned" => StepSize::Tuned(tuning.ok_or_else(horizon)?),
            _ => {
                let known = ["auto", "fixed", "decreasing", "tuned"].map(String::from).to_vec();
                return Err(Error::Unknown { kind: "rule for step sizes", name: name.into(), known });
            }
        };
        step.check().map(|()| step)
    }

    /// [`Error::Param`] for numbers outside their range.
    pub fn check(&self) -> Result<()> {
        match *self {
            StepSize::Fixed(size) | StepSize::Decreasing(size) if !(size.is_finite() && size > 0.0) => {
                Err(Error::param("step", size, "a number above 0"))
            }
            StepSize::Tuned(Tuning { trials: 0, .. }) => Err(Error::param("horizon", 0, "at least 1")),
            StepSize::Tuned(Tuning { comparator: Some(loss), .. }) if !(loss.is_finite() && loss >= 0.0) => {
                Err(Error::param("comparator", loss, "a number of at least 0"))
            }
            StepSize::Tuned(Tuning { rank: Some(0), .. }) => Err(Error::param("expected rank", 0, "at least 1")),
            StepSize::Tuned(Tuning { instance_rank: Some(0), .. }) => {
                Err(Error::param("instance rank", 0, "at least 1"))
            }
            _ => Ok(()),
        }
    }

    /// The size in trial `trial`, counted from 1; `tuned` says what the theorem wants.
    pub(super) fn size(&self, trial: u64, tuned: impl Fn(&Tuning) -> f64) -> f64 {
        match self {
            StepSize::Fixed(size) => *size,
            StepSize::Decreasing(size) => size / (trial as f64).sqrt(),
            StepSize::Tuned(tuning) => tuned(tuning),
            StepSize::Auto => 1.0 / (trial as f64).sqrt(),
        }
    }

    /// The size of a step of gradient descent, its trial being part of the account already.
    pub(super) fn descent(&self, loss: Loss, account: &Account, tuned: impl Fn(&Tuning) -> f64) -> f64 {
        let size = account.largest_instance;
        match (self, loss.curvature()) {
            (StepSize::Auto, Some(curvature)) => 1.0 / (curvature * size),
            (StepSize::Auto, None) => account.largest_label / (size * account.energy).sqrt(),
            _ => self.size(account.trials, tuned),
        }
    }

    /// True when all trials have the same size.
    pub(super) fn is_constant(&self) -> bool {
        !matches!(self, StepSize::Decreasing(_) | StepSize::Auto)
    }
}

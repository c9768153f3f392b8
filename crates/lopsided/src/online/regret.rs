//! Regret over the trials: what was lost, what the best fixed matrix would have lost, and what the theorem allows.
//!
//! A long stream need not be kept twice: a [`History`] notes the account of few trials while learning goes on, and the
//! comparator is computed for those trials only.

use super::OnlineLearner;
use super::account::Account;
use super::comparator::{Hindsight, best_in_hindsight};
use super::instance::Trial;
use super::spec::LearnerSpec;
use crate::base::Run;
use crate::base::error::Result;

/// The regret after some of the trials.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RegretPoint {
    /// Trials so far.
    pub trials: u64,
    /// What the learner lost in them.
    pub cumulative_loss: f64,
    /// What the best fixed matrix for exactly these trials loses.
    pub comparator_loss: f64,
    /// The comparator may be better by this.
    pub gap: f64,
    /// Difference of the losses.
    pub regret: f64,
    /// What the theory allows, where it says something.
    pub bound: Option<f64>,
    /// Why it says nothing, and how to get a bound; settings are in backquotes.
    pub bound_note: Option<&'static str>,
}

/// Accounts of a few trials: 1, 2, 3, 4, 6, 8, 12, … and the last, so that a long stream has a short history.
///
/// ```
/// use lopsided::Run;
/// use lopsided::online::{History, Instance, LearnerSpec, StepSize, Trial};
///
/// let spec = LearnerSpec::new("eg-plus").with_step(StepSize::Fixed(0.5));
/// let (mut learner, mut history) = (spec.build()?, History::default());
/// let axis = |t: usize| Instance::symmetric(if t % 3 == 0 { &[0.0, 1.0] } else { &[1.0, 0.0] });
/// let trials: Vec<Trial> = (0..12).map(|t| Trial { instance: axis(t), label: 0.0 }).collect();
/// for trial in &trials {
///     learner.update(&trial.instance, trial.label)?;
///     history.note(learner.account());
/// }
/// let points = history.regret(&*learner, &spec, &trials, &Run::default())?;
/// let last = points[points.len() - 1];
/// assert_eq!((last.trials, last.comparator_loss.round()), (12, -8.0)); // eight of twelve lie on the first axis
/// assert!(last.bound.is_some_and(|bound| last.regret <= bound)); // what the theorem promises
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct History(Vec<Account>);

impl History {
    /// Notes an account if its trial is one of the few.
    pub fn note(&mut self, account: &Account) {
        let odd = account.trials >> account.trials.trailing_zeros();
        if odd == 1 || odd == 3 {
            self.0.push(*account);
        }
    }

    /// The regret at the noted trials and after the last one.
    ///
    /// # Errors
    /// As for [`best_in_hindsight`].
    pub fn regret(
        &self,
        learner: &dyn OnlineLearner,
        spec: &LearnerSpec,
        trials: &[Trial],
        run: &Run,
    ) -> Result<Vec<RegretPoint>> {
        let mut accounts = self.0.clone();
        accounts.retain(|account| account.trials < learner.account().trials);
        accounts.push(*learner.account());
        let points: Vec<usize> = accounts.iter().map(|account| account.trials as usize).collect();
        // What is free is compared with matrices as large as it has become.
        let size = learner.norm().filter(|size| *size > 0.0).unwrap_or(1.0);
        let spec = &if spec.is_free() { spec.clone().with("radius", size) } else { spec.clone() };
        let best = best_in_hindsight(spec, trials, &points, &Hindsight::default(), run)?;
        let point = |(at, best): (&Account, &super::Comparator)| RegretPoint {
            trials: at.trials,
            cumulative_loss: at.cumulative_loss,
            comparator_loss: best.loss,
            gap: best.gap,
            regret: at.cumulative_loss - best.loss,
            bound: learner.regret_bound(at, best.loss),
            bound_note: learner.no_bound(at),
        };
        Ok(accounts.iter().zip(&best).map(point).collect())
    }
}

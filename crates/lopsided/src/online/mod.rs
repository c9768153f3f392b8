//! Online learning of matrices between feature spaces, with regret (\[KMU\]).
//!
//! In trial t an instance M_t is shown, an outer product φ(x)ψ(z)ᵀ or a symmetric φ(x)φ(x)ᵀ; the learner predicts
//! tr(W_tᵀM_t), hears the label and changes W_t. No feature is ever computed: W = Φ·C·Ψᵀ (+ c·I) is kept by samples and
//! coefficients. It is *factored*, W = (Φ·P)·U·S·Vᵀ·(Ψ·Q)ᵀ with orthonormal columns of ΦP and ΨQ and a small core S, so that a trial
//! with t stored samples and rank r costs O(t·r + r³) and nothing of size T×T is ever formed.
//!
//! All learners are in one list, [`learners`]; [`LearnerSpec`] makes them by name. [`best_in_hindsight`] computes what the
//! best fixed matrix would have lost, [`OnlineLearner::regret_bound`] what the theorem allows, and [`rotation_deviation`] checks
//! whether a learner, perhaps one of your own, can be kernelised at all. [`product_svd`] is the decomposition lemma behind it.
//!
//! ```
//! use lopsided::online::{Instance, LearnerSpec, StepSize};
//!
//! // Online principal component analysis: how much of the next vector does the learned density matrix capture?
//! let mut learner = LearnerSpec::new("eg-plus").with_step(StepSize::Fixed(0.5)).build()?;
//! let last = (0..60).map(|t| learner.update(&Instance::symmetric(&[0.8, if t % 9 == 0 { 0.6 } else { -0.6 }]), 0.0));
//! assert!(last.last().unwrap()?.prediction > 0.9);
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! | learner | instances | update | W is in | regret, tuned |
//! | --- | --- | --- | --- | --- |
//! | `gd-trace` | pairs | additive, \[KMU\] Eq. (4.1) | Σσ ≤ B | B·G·√T |
//! | `gd-spectral` | pairs | additive | σ₁ ≤ B | B·G·√(r·T) |
//! | `gd-frobenius` | pairs | additive | ‖W‖_F ≤ B | B·G·√T |
//! | `gd-symmetric` | symmetric | additive | λ ≥ 0, Σλ ≤ B | B·G·√(s·T) |
//! | `meg` | symmetric | multiplicative, Eq. (4.3) | density matrices on n features | √(2·L*·ln n) + ln n |
//! | `eg-plus` | symmetric | multiplicative on the span | density matrices | √(2·L*·ln r) + ln r + 1 |
//! | `online-kpca` | symmetric | multiplicative, capped | λ ≤ 1/k | k times that with ln(r/k) |
//! | `p-norm` | pairs | θ += y·M after a mistake | gradient of ½‖θ‖_p² | (p − 1)·X²B² + X·B·√((p − 1)·H) |
//!
//! Here B is the radius, G the largest slope of the loss, T the number of trials, r the rank, s the rank of an instance
//! and L* what the best matrix leaves of the gain. For the multiplicative ones the bound is that of the gain game; for
//! the perceptron mistakes are counted, X is the largest ‖M‖ and H the hinge loss of the comparator.
//!
//! **How the parts work together.** An [`Instance`] names vectors, a [`Trial`] adds a label. A learner *looks* at the
//! vectors through kernel values with the samples it has stored, predicts, and, if the loss has a slope, takes them
//! into its bases and changes the small core. A [`Budget`] bounds how many samples are stored. The [`Account`] of a
//! learner and a [`History`] of accounts are all that regret needs afterwards.

mod account;
mod ball;
mod budget;
mod comparator;
mod decomposition;
mod entropic;
mod factored;
mod frame;
mod gradient;
mod instance;
mod invariance;
mod loss;
mod matrices;
mod perceptron;
mod regret;
mod settings;
mod spec;
mod step;
mod subspace;
mod symmetric;

pub use account::{Account, Outcome};
pub use ball::Ball;
pub use budget::{Budget, BudgetCost, Removal};
pub use comparator::{Comparator, Hindsight, best_in_hindsight};
pub use decomposition::{ProductEigen, ProductSvd, product_eigen, product_svd};
pub use instance::{Instance, Trial};
pub use invariance::rotation_deviation;
pub use loss::{LOSSES, Loss};
pub use regret::{History, RegretPoint};
pub use settings::{SIDE_SETTINGS, STEP_SETTINGS, TASK_SETTINGS, learner_spec};
pub use spec::LearnerSpec;
pub use step::{StepSize, Tuning};

use crate::base::error::{Error, Result};
use crate::base::settings::Setting;
use crate::data::archive::Archive;

/// What checkpoints call themselves.
const ESTIMATOR: &str = "online-learner";

/// Learns a matrix from one trial after the other.
///
/// ```
/// use lopsided::online::{Instance, LearnerSpec, StepSize};
///
/// let mut learner = LearnerSpec::new("gd-frobenius").with_step(StepSize::Fixed(0.25)).build()?;
/// let pair = Instance::pair(&[1.0, 0.0], &[0.0, 1.0]);
/// assert_eq!(learner.update(&pair, 1.0)?.loss, 1.0); // W = 0 predicts 0
/// assert!((learner.predict(&pair)? - 0.5).abs() < 1e-12); // W ← W − 0.25·(−2)·M
/// // A checkpoint holds everything: the copy goes on as the original would.
/// let copy = LearnerSpec::restore(&learner.checkpoint())?;
/// assert_eq!((copy.predict(&pair)?, copy.account().trials), (learner.predict(&pair)?, 1));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub trait OnlineLearner: Send {
    /// tr(WᵀM) for the current W.
    ///
    /// # Errors
    /// [`Error::Shape`] for vectors of another width or the wrong kind of instance, [`Error::NotFinite`].
    fn predict(&self, instance: &Instance) -> Result<f64>;

    /// Predicts, hears the label, learns, and says what it predicted and lost.
    ///
    /// # Errors
    /// Those of [`OnlineLearner::predict`]; [`Error::Param`] for a label that the loss has no use for, an instance that
    /// is larger than the theory allows, and a kernel that turns out not to be positive semidefinite.
    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome>;

    /// Everything needed to go on elsewhere, bit for bit.
    fn checkpoint(&self) -> Archive;

    /// Counts and sums over the trials so far.
    fn account(&self) -> &Account;

    /// The regret the theory allows after the trials of `at`, against a matrix that lost `comparator_loss`; `None` where no
    /// theorem applies (a budget that removed samples, decreasing steps of an exponentiated gradient).
    fn regret_bound(&self, _at: &Account, _comparator_loss: f64) -> Option<f64> {
        None
    }

    /// Why there is no bound after the trials of `at` and how to get one; `None` where there is one. Provided: what a budget does.
    fn no_bound(&self, at: &Account) -> Option<&'static str> {
        budget_note(at)
    }

    /// The norm of W that a radius bounds, for learners that have one. Provided: none.
    fn norm(&self) -> Option<f64> {
        None
    }
}

fn budget_note(at: &Account) -> Option<&'static str> {
    (at.budget.removed > 0)
        .then_some("no bound holds once the budget has removed samples: a larger `budget`, or none, keeps them all")
}

/// One learner of the list.
#[derive(Clone, Copy)]
pub struct LearnerEntry {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// Its update in one line.
    pub about: &'static str,
    /// Settings of its own.
    pub settings: &'static [Setting],
    /// Losses it can have, the usual one first.
    pub losses: &'static [Loss],
    /// True when its instances have one side.
    pub symmetric: bool,
    build: fn(&LearnerSpec) -> Result<Box<dyn OnlineLearner>>,
    restore: fn(&LearnerSpec, &Archive) -> Result<Box<dyn OnlineLearner>>,
}

/// The size of the matrices that a learner chooses from.
const RADIUS: Setting = Setting::new(
    "radius",
    "largest norm of the matrix that is learned",
    "a number above 0",
    "1; none for a loss of labels with steps auto",
);

/// All learners. The order is the order of every listing.
///
/// ```
/// use lopsided::online::learners;
///
/// let pairs: Vec<&str> = learners().iter().filter(|entry| !entry.symmetric).map(|entry| entry.name).collect();
/// assert_eq!(pairs, ["gd-trace", "gd-spectral", "gd-frobenius", "p-norm"]);
/// ```
pub fn learners() -> Vec<LearnerEntry> {
    gradient::entries()
        .into_iter()
        .chain([symmetric::entry()])
        .chain(entropic::entries())
        .chain([perceptron::entry()])
        .collect()
}

/// The entry of the learner called `name`.
///
/// # Errors
/// [`Error::Unknown`] for a name that is not in the list.
pub fn learner_entry(name: &str) -> Result<LearnerEntry> {
    let all = learners();
    let known = || all.iter().map(|entry| entry.name.to_string()).collect();
    all.iter().find(|entry| entry.name == name).copied().ok_or_else(|| Error::Unknown {
        kind: "learner",
        name: name.into(),
        known: known(),
    })
}

/// What a learner says whose account is a field of that name, and whose prediction comes with what it looked at.
macro_rules! accounted {
    () => {
        fn predict(&self, instance: &Instance) -> Result<f64> {
            Ok(self.prediction(instance)?.2)
        }

        fn account(&self) -> &Account {
            &self.account
        }
    };
}
use accounted;

/// The metadata every checkpoint starts with.
fn checkpoint_of(spec: &LearnerSpec, account: &Account) -> Archive {
    let mut archive = Archive::default();
    archive.set_field("estimator", ESTIMATOR);
    archive.set_field("precision", "f64");
    archive.set_field("spec", spec);
    archive.set_field("account", account);
    archive
}

//! A learner by name, with everything it is made from.
//!
//! One type for the command line, Python, checkpoints and tests: a name, kernels for both sides, a loss, step sizes,
//! and the settings that the learner itself takes.

use super::ball::Ball;
use super::budget::Budget;
use super::instance::Instance;
use super::loss::Loss;
use super::step::StepSize;
use super::{Account, OnlineLearner, budget_note, learner_entry};
use crate::base::error::{Error, Result};
use crate::base::setters;
use crate::base::settings::{Settings, Value};
use crate::data::archive::Archive;
use crate::kernel::KernelSpec;

/// What users write and checkpoints save.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::online::{Instance, LearnerSpec, Loss, StepSize};
///
/// let spec = LearnerSpec::new("gd-trace")
///     .with("radius", 2.0)
///     .with_kernels(KernelSpec::new("rbf").with("gamma", 0.5), Some(KernelSpec::new("linear")))
///     .with_step(StepSize::Fixed(0.3));
/// let mut learner = spec.build()?;
/// let pair = Instance::pair(&[0.2, 0.1], &[1.0, 0.0, 0.0]);
/// for _ in 0..50 {
///     learner.update(&pair, 0.8)?;
/// }
/// assert!((learner.predict(&pair)? - 0.8).abs() < 1e-6);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct LearnerSpec {
    /// Name in the list of [`super::learners`].
    pub name: String,
    /// The loss.
    pub loss: Loss,
    /// Kernel of the left vectors.
    pub left: KernelSpec,
    /// Kernel of the right vectors; the left one if not given.
    pub right: Option<KernelSpec>,
    /// The step sizes.
    pub step: StepSize,
    /// The learner's own parameters.
    pub params: Settings,
    /// Scales every vector to unit length in feature space and an instance of s vectors by 1/s, so that every instance is of
    /// the size the theorems ask for. A vector of length 0 stays 0.
    pub normalize: bool,
    /// A bound on the stored samples.
    pub budget: Option<Budget>,
}

setters!(LearnerSpec: with_loss(loss: Loss), with_left(left: KernelSpec), with_right(right: KernelSpec => Some(right)),
    with_step(step: StepSize), with_params(params: Settings), with_normalize(normalize: bool),
    with_budget(budget: Budget => Some(budget)));

impl Default for LearnerSpec {
    /// Gradient descent in a ball of the trace norm.
    fn default() -> Self {
        LearnerSpec::new("gd-trace")
    }
}

impl LearnerSpec {
    /// Whether an archive is the checkpoint of a learner.
    pub fn is_in(archive: &Archive) -> bool {
        archive.field::<String>("estimator").is_ok_and(|name| name == super::ESTIMATOR)
    }

    /// A learner with linear kernels, its usual loss and automatic steps.
    pub fn new(name: &str) -> Self {
        let loss = learner_entry(name).map_or(Loss::Squared, |entry| entry.losses[0]);
        LearnerSpec {
            name: name.into(),
            loss,
            left: KernelSpec::new("linear"),
            right: None,
            step: StepSize::Auto,
            params: Settings::default(),
            normalize: false,
            budget: None,
        }
    }

    /// The same learner with one parameter set.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params = self.params.with(name, value);
        self
    }

    /// The same learner with these kernels.
    pub fn with_kernels(self, left: KernelSpec, right: Option<KernelSpec>) -> Self {
        LearnerSpec { left, right, ..self }
    }

    /// The same learner with every instance brought to the size the theorems ask for.
    pub fn normalized(self) -> Self {
        LearnerSpec { normalize: true, ..self }
    }

    /// The learner itself, before its first trial.
    ///
    /// # Errors
    /// [`Error::Unknown`] for a name that is not in the list, [`Error::Param`] for parameters outside their range.
    pub fn build(&self) -> Result<Box<dyn OnlineLearner>> {
        let entry = self.checked()?;
        (entry.build)(self)
    }

    /// The learner of a checkpoint, as it was.
    ///
    /// The copy predicts and learns as the original would, bit for bit.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is no checkpoint of an online learner.
    pub fn restore(archive: &Archive) -> Result<Box<dyn OnlineLearner>> {
        if archive.meta.get("estimator").and_then(serde_json::Value::as_str) != Some(super::ESTIMATOR) {
            return Err(archive.error("is not a checkpoint of an online learner"));
        }
        let spec: LearnerSpec = archive.field("spec")?;
        (spec.checked()?.restore)(&spec, archive)
    }

    fn checked(&self) -> Result<super::LearnerEntry> {
        let entry = learner_entry(&self.name)?;
        let names: Vec<&str> = entry.settings.iter().map(|setting| setting.name).collect();
        if let Some((extra, _)) = self.params.iter().find(|(name, _)| !names.contains(name)) {
            let takes = if names.is_empty() { "none".into() } else { names.join(", ") };
            let value = format!("a parameter of learner `{}`", self.name);
            return Err(Error::Param { name: extra.into(), value, allowed: format!("one it takes: {takes}") });
        }
        if !entry.losses.contains(&self.loss) {
            let names: Vec<String> = entry.losses.iter().map(ToString::to_string).collect();
            return Err(Error::param("loss", self.loss, format!("for `{}` one of {}", self.name, names.join(", "))));
        }
        self.step.check()?;
        self.budget.map_or(Ok(()), |budget| budget.check())?;
        Ok(entry)
    }

    /// The set the learner, and its comparator, chooses from.
    ///
    /// # Errors
    /// [`Error::Param`] for a radius that is not above 0 or a number of components that is not at least 1.
    ///
    /// ```
    /// use lopsided::online::{Ball, LearnerSpec};
    ///
    /// assert_eq!(LearnerSpec::new("gd-spectral").with("radius", 3.0).ball()?, Ball::Spectral(3.0));
    /// assert_eq!(LearnerSpec::new("online-kpca").with("components", 2).ball()?, Ball::Capped(2.0, 2));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn ball(&self) -> Result<Ball> {
        let radius = if self.is_free() { f64::INFINITY } else { self.params.positive("radius", Some(1.0))? };
        Ok(match self.name.as_str() {
            "gd-spectral" => Ball::Spectral(radius),
            "gd-frobenius" => Ball::Frobenius(radius),
            "gd-symmetric" => Ball::Positive(radius),
            "meg" | "eg-plus" | "online-kpca" => {
                let k = self.params.count("components", 1)? as usize;
                // In terms of k·W, which predicts.
                Ball::Capped(k as f64, k)
            }
            _ => Ball::Trace(radius),
        })
    }

    /// Whether W may become as large as the labels ask for: gradient descent with automatic steps and no radius.
    pub(super) fn is_free(&self) -> bool {
        let descends = self.name.starts_with("gd-") && self.loss != Loss::Gain;
        descends && self.step == StepSize::Auto && self.params.value("radius").is_none()
    }

    /// Why gradient descent has no bound after the trials of `at`, and how to get one.
    pub(super) fn no_descent_bound(&self, at: &Account) -> Option<&'static str> {
        if self.is_free() {
            return Some("no bound holds for a matrix of any size: `radius` bounds it, and its regret");
        }
        let rises = self.step == StepSize::Auto && self.loss == Loss::Absolute;
        budget_note(at)
            .or(rises.then_some("automatic steps may rise with the labels: `step` or `horizon` gives a bound"))
    }

    /// The weights of an instance's terms as the learner uses them.
    pub(super) fn weights(&self, instance: &Instance) -> Vec<f64> {
        let share = if self.normalize { 1.0 / instance.rank() as f64 } else { 1.0 };
        instance.weights().iter().map(|w| w * share).collect()
    }
}

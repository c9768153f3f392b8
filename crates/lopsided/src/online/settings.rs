//! Learners by name and settings, as the command line and Python give them.

use super::{Budget, LearnerSpec, StepSize, Tuning, learner_entry};
use crate::base::error::Result;
use crate::base::settings::{Setting, Settings};
use crate::kernel::KernelSpec;

/// What every learner takes beside its own settings.
pub const TASK_SETTINGS: [Setting; 4] = [
    Setting::new(
        "loss",
        "what a prediction costs",
        "squared, absolute, logistic, hinge or gain (minus the prediction, no label)",
        "the learner's usual one",
    ),
    Setting::new(
        "normalize",
        "scale every vector to unit length in feature space, and an instance of s vectors by 1/s",
        "true or false",
        "false",
    ),
    Setting::new("budget", "most samples that are stored on each side", "a whole number of at least 1", "none"),
    Setting::new(
        "removal",
        "how a sample goes when the budget is full",
        "merge (projected onto the others) or drop",
        "merge",
    ),
];

/// Kernels of the two sides.
pub const SIDE_SETTINGS: [Setting; 8] = [
    Setting::new("kernel", "kernel of the left vectors", "linear, poly, rbf, laplacian or precomputed", "linear"),
    Setting::new("gamma", "its coefficient of the distance or scalar product", "a number", "1 for poly"),
    Setting::new("degree", "degree of the polynomial kernel", "a number", "3"),
    Setting::new("coef0", "constant of the polynomial kernel", "a number", "1"),
    Setting::new(
        "right-kernel",
        "kernel of the right vectors",
        "as the left one",
        "that of the left ones, with the same numbers",
    ),
    Setting::new("right-gamma", "gamma of the right kernel", "a number", "1 for poly"),
    Setting::new("right-degree", "degree of the right kernel", "a number", "3"),
    Setting::new("right-coef0", "constant of the right kernel", "a number", "1"),
];

/// How far each trial moves the matrix.
pub const STEP_SETTINGS: [Setting; 6] = [
    Setting::new(
        "steps",
        "rule of the step sizes",
        "auto (by the sizes of what was seen), fixed, decreasing (S/√t) or tuned (as the theorem wants it)",
        "tuned with a horizon, decreasing with a step, else auto",
    ),
    Setting::new("step", "S, the size of fixed steps or of the first decreasing one", "a number above 0", "1"),
    Setting::new(
        "horizon",
        "T, the trials that tuned steps are made for",
        "a whole number of at least 1",
        "steps are not tuned",
    ),
    Setting::new(
        "expected-loss",
        "L*, the gain that the best fixed matrix is expected to miss, for tuned steps",
        "a number of at least 0",
        "T",
    ),
    Setting::new(
        "expected-rank",
        "r, the expected dimension of the instances' span, for tuned steps",
        "a whole number of at least 1",
        "the dimension, or T",
    ),
    Setting::new(
        "instance-rank",
        "s, the rank of the instances, for tuned steps of gd-symmetric",
        "a whole number of at least 1",
        "1",
    ),
];

/// The learner called `name` with these settings: its own, and those of [`TASK_SETTINGS`], [`SIDE_SETTINGS`] and
/// [`STEP_SETTINGS`].
///
/// # Errors
/// [`crate::Error::Unknown`] for a learner, kernel, loss or rule that does not exist, [`crate::Error::Param`] for a setting that
/// the learner does not take, has the wrong kind or means nothing without another one.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::online::{StepSize, learner_spec};
///
/// let given = Settings::default().with("kernel", "rbf").with("gamma", 0.5).with("step", 0.1);
/// let spec = learner_spec("gd-trace", given)?;
/// assert_eq!((spec.left.name.as_str(), spec.step), ("rbf", StepSize::Decreasing(0.1)));
/// let alone = Settings::default().with("right-gamma", 2.0);
/// assert!(learner_spec("gd-trace", alone).is_err()); // of which kernel?
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn learner_spec(name: &str, mut given: Settings) -> Result<LearnerSpec> {
    learner_entry(name)?;
    let task = given.take_all(&TASK_SETTINGS);
    let sides = given.take_all(&SIDE_SETTINGS);
    let steps = given.take_all(&STEP_SETTINGS);
    let mut spec = LearnerSpec::new(name);
    spec.loss = task.word("loss")?.unwrap_or(spec.loss);
    spec.normalize = task.flag("normalize", spec.normalize)?;
    let removal = task.word("removal")?.unwrap_or_default();
    spec.budget = count(&task, "budget")?.map(|size| Budget { size, removal });
    spec.left = kernel(&sides, "", &spec.left.name)?;
    spec.right = match sides.value("right-kernel") {
        Some(name) => Some(kernel(&sides, "right-", &name.to_string())?),
        None => sides.needs("right-kernel", &["right-gamma", "right-degree", "right-coef0"]).map(|()| None)?,
    };
    spec.step = step(&steps)?;
    spec.params = given;
    Ok(spec)
}

/// The kernel of a side.
fn kernel(given: &Settings, side: &str, usual: &str) -> Result<KernelSpec> {
    let name = given.value(&format!("{side}kernel")).map_or_else(|| usual.to_string(), ToString::to_string);
    ["gamma", "degree", "coef0"].into_iter().try_fold(KernelSpec::new(&name), |spec, param| {
        let value = number(given, &format!("{side}{param}"))?;
        Ok(match value {
            Some(value) => spec.with(param, value),
            None => spec,
        })
    })
}

fn step(given: &Settings) -> Result<StepSize> {
    let (comparator, rank) = (number(given, "expected-loss")?, count(given, "expected-rank")?);
    let instance_rank = count(given, "instance-rank")?;
    let horizon = count(given, "horizon")?;
    if horizon.is_none() {
        given.needs("horizon", &["expected-loss", "expected-rank", "instance-rank"])?;
    }
    let tuning = horizon.map(|trials| Tuning { trials: trials as u64, comparator, rank, instance_rank });
    let rule = given.value("steps").map(ToString::to_string);
    StepSize::of(rule.as_deref(), number(given, "step")?, tuning)
}

fn number(given: &Settings, name: &str) -> Result<Option<f64>> {
    given.value(name).map(|_| given.number(name, 0.0)).transpose()
}

fn count(given: &Settings, name: &str) -> Result<Option<usize>> {
    Ok(given.value(name).map(|_| given.count(name, 1)).transpose()?.map(|count| count as usize))
}

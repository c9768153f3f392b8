//! Online learners by name and settings.

use crate::settings::Settings;
use lopsided::kernel::KernelSpec;
use lopsided::online::{Budget, LearnerSpec, StepSize, Tuning, learner_entry};
use lopsided::{Error, Result};

/// The learner that the settings ask for, with the names of the command line.
pub(crate) fn spec(name: &str, mut settings: Settings) -> Result<LearnerSpec> {
    learner_entry(name)?;
    let mut spec = LearnerSpec::new(name);
    if let Some(loss) = settings.take("loss") {
        spec.loss = loss.parse()?;
    }
    for param in ["radius", "power", "components", "dimension"] {
        spec = number(&mut settings, param)?.map_or(spec.clone(), |value| spec.with(param, value));
    }
    spec.left = kernel(&mut settings, "")?.unwrap_or(spec.left);
    spec.right = kernel(&mut settings, "right-")?;
    spec.normalize = settings.flag("normalize")?.unwrap_or(false);
    let removal = settings.take("removal").map(|text| text.parse()).transpose()?.unwrap_or_default();
    spec.budget = settings.count("budget")?.map(|size| Budget { size, removal });
    spec.step = step(&mut settings)?;
    settings
        .rest()
        .first()
        .map_or(Ok(spec), |(name, value)| Err(Error::param(name, value, "left out for this learner")))
}

fn kernel(settings: &mut Settings, side: &str) -> Result<Option<KernelSpec>> {
    let Some(name) = settings.take(&format!("{side}kernel")) else { return Ok(None) };
    let mut spec = KernelSpec::new(&name);
    for param in ["gamma", "degree", "coef0"] {
        spec = number(settings, &format!("{side}{param}"))?.map_or(spec.clone(), |value| spec.with(param, value));
    }
    Ok(Some(spec))
}

fn step(settings: &mut Settings) -> Result<StepSize> {
    let horizon = settings.count("horizon")?.map(|trials| trials as u64);
    let usual = if horizon.is_some() { "tuned" } else { "decreasing" };
    let rule = settings.take("steps").unwrap_or_else(|| usual.into());
    let size = number(settings, "step")?.unwrap_or(1.0);
    let comparator = number(settings, "expected-loss")?;
    let (rank, instance_rank) = (settings.count("expected-rank")?, None);
    StepSize::named(&rule, Some(size), horizon.map(|trials| Tuning { trials, comparator, rank, instance_rank }))
}

fn number(settings: &mut Settings, name: &str) -> Result<Option<f64>> {
    let parse = |text: String| text.parse().map_err(|_| Error::param(name, &text, "a number"));
    settings.take(name).map(parse).transpose()
}

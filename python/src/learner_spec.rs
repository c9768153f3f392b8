//! Online learners by name and settings.

use lopsided::base::settings::Settings;
use lopsided::kernel::KernelSpec;
use lopsided::online::{Budget, LearnerSpec, StepSize, Tuning, learner_entry};
use lopsided::{Error, Result};

/// The learner that the settings ask for, with the names of the command line.
pub(crate) fn spec(name: &str, mut settings: Settings) -> Result<LearnerSpec> {
    learner_entry(name)?;
    let mut spec = LearnerSpec::new(name);
    spec.loss = settings.word("loss")?.unwrap_or(spec.loss);
    settings.take("loss");
    for param in ["radius", "power", "components", "dimension"] {
        spec = number(&mut settings, param)?.map_or(spec.clone(), |value| spec.with(param, value));
    }
    spec.left = kernel(&mut settings, "")?.unwrap_or(spec.left);
    spec.right = kernel(&mut settings, "right-")?;
    spec.normalize = settings.flag("normalize", false)?;
    let removal = settings.word("removal")?.unwrap_or_default();
    spec.budget = count(&mut settings, "budget")?.map(|size| Budget { size, removal });
    spec.step = step(&mut settings)?;
    for name in ["normalize", "removal"] {
        settings.take(name);
    }
    let left = settings.iter().next().map(|(name, value)| Error::param(name, value, "left out for this learner"));
    left.map_or(Ok(spec), Err)
}

fn kernel(settings: &mut Settings, side: &str) -> Result<Option<KernelSpec>> {
    let Some(name) = settings.take(&format!("{side}kernel")) else { return Ok(None) };
    let mut spec = KernelSpec::new(&name.to_string());
    for param in ["gamma", "degree", "coef0"] {
        spec = number(settings, &format!("{side}{param}"))?.map_or(spec.clone(), |value| spec.with(param, value));
    }
    Ok(Some(spec))
}

fn step(settings: &mut Settings) -> Result<StepSize> {
    let horizon = count(settings, "horizon")?.map(|trials| trials as u64);
    let rule = settings.take("steps").map(|rule| rule.to_string());
    let size = number(settings, "step")?;
    let comparator = number(settings, "expected-loss")?;
    let (rank, instance_rank) = (count(settings, "expected-rank")?, None);
    StepSize::of(rule.as_deref(), size, horizon.map(|trials| Tuning { trials, comparator, rank, instance_rank }))
}

fn number(settings: &mut Settings, name: &str) -> Result<Option<f64>> {
    let found = settings.value(name).map(|_| settings.number(name, 0.0)).transpose()?;
    settings.take(name);
    Ok(found)
}

fn count(settings: &mut Settings, name: &str) -> Result<Option<usize>> {
    let found = settings.value(name).map(|_| settings.count(name, 1)).transpose()?;
    settings.take(name);
    Ok(found.map(|count| count as usize))
}

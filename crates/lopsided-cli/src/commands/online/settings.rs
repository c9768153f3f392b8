//! The learner the options ask for.

use crate::args::OnlineArgs;
use lopsided::Result;
use lopsided::kernel::KernelSpec;
use lopsided::online::{Budget, LearnerSpec, StepSize, Tuning, learner_entry};

pub(super) fn spec(args: &OnlineArgs) -> Result<LearnerSpec> {
    learner_entry(&args.learner)?;
    let task = &args.task;
    let mut spec = LearnerSpec::new(&args.learner);
    if let Some(loss) = &task.loss {
        spec.loss = loss.parse()?;
    }
    let count = |value: Option<usize>| value.map(|v| v as f64);
    let params = [
        ("radius", task.radius),
        ("power", task.power),
        ("components", count(task.components)),
        ("dimension", count(task.dimension)),
    ];
    for (name, value) in params {
        if let Some(value) = value {
            spec = spec.with(name, value);
        }
    }
    let kernels = &args.kernels;
    let left = kernel(&kernels.kernel, kernels.gamma, kernels.degree, kernels.coef0);
    let right = kernels
        .right_kernel
        .as_ref()
        .map(|name| kernel(name, kernels.right_gamma, kernels.right_degree, kernels.right_coef0));
    let removal = task.removal.parse()?;
    let budget = task.budget.map(|size| Budget { size, removal });
    Ok(LearnerSpec { normalize: task.normalize, budget, step: step(args)?, ..spec.with_kernels(left, right) })
}

fn kernel(name: &str, gamma: Option<f64>, degree: Option<f64>, coef0: Option<f64>) -> KernelSpec {
    let given = [("gamma", gamma), ("degree", degree), ("coef0", coef0)];
    let known = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    known.fold(KernelSpec::new(name), |spec, (name, value)| spec.with(name, value))
}

fn step(args: &OnlineArgs) -> Result<StepSize> {
    let steps = &args.steps;
    let tuning = |trials| Tuning {
        trials,
        comparator: steps.expected_loss,
        rank: steps.expected_rank,
        instance_rank: steps.instance_rank,
    };
    StepSize::of(steps.steps.as_deref(), steps.step, steps.horizon.map(tuning))
}

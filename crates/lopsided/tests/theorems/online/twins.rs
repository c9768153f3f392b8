use super::explicit::{Features, plain, predictions, squares};
use super::{run, stream};
use lopsided::Run;
use lopsided::kernel::KernelSpec;
use lopsided::online::{LearnerSpec, Loss, StepSize, Trial, learners, rotation_deviation};

const TRIALS: usize = 300;

/// Every learner with every loss its plain twin knows.
fn specs() -> Vec<LearnerSpec> {
    let mut all = Vec::new();
    for entry in learners() {
        for loss in entry.losses {
            let spec = LearnerSpec::new(entry.name).with_loss(*loss).with_step(StepSize::Fixed(0.3));
            match entry.name {
                "meg" => all.push(spec.with("dimension", 7.0)),
                "eg-plus" if *loss != Loss::Gain => {}
                "online-kpca" => {
                    all.push(spec.clone().with("components", 3.0));
                    all.push(spec.with("components", 3.0).with("dimension", 7.0));
                }
                "eg-plus" => all.push(spec),
                "p-norm" => all.push(spec.with("power", 3.0)),
                _ => {
                    all.push(spec.clone().with("radius", 0.7));
                    all.push(spec.clone().with_step(StepSize::Auto));
                    all.push(spec.clone().with("radius", 0.7).with_step(StepSize::Auto));
                    all.push(spec.with("radius", 2.0).with_step(StepSize::Decreasing(2.0)));
                }
            }
        }
    }
    all
}

fn is_symmetric(spec: &LearnerSpec) -> bool {
    learners().iter().any(|entry| entry.name == spec.name && entry.symmetric)
}

fn widths(spec: &LearnerSpec) -> (usize, Option<usize>) {
    if is_symmetric(spec) { (7, None) } else { (7, Some(5)) }
}

fn assert_equal(spec: &LearnerSpec, trials: &[Trial], features: (Features, Features)) {
    let exact = predictions(spec, trials, features);
    let (_, outcomes) = run(spec, trials);
    for (t, (outcome, exact)) in outcomes.iter().zip(&exact).enumerate() {
        let error = (outcome.prediction - exact).abs();
        assert!(error < 1e-8, "{} {}: {error:e} in trial {t}", spec.name, spec.loss);
    }
}

#[test]
fn linear_kernels_give_the_plain_matrix_algorithm() {
    for spec in specs() {
        assert_equal(&spec, &stream(TRIALS, widths(&spec), 1, 1), (plain, plain));
    }
}

#[test]
fn instances_of_rank_three_give_the_plain_matrix_algorithm() {
    for spec in specs() {
        assert_equal(&spec, &stream(TRIALS, widths(&spec), 3, 2), (plain, plain));
    }
}

#[test]
fn polynomial_kernels_give_the_expanded_features() {
    let kernel = || KernelSpec::new("poly").with("degree", 2.0).with("coef0", 1.0).with("gamma", 1.0);
    for spec in specs().into_iter().map(LearnerSpec::normalized) {
        let (left, right, features): (_, _, (Features, Features)) = if is_symmetric(&spec) {
            (3, None, (squares, squares))
        } else {
            (3, Some(KernelSpec::new("linear")), (squares, plain))
        };
        let mut spec = spec.with_kernels(kernel(), right.clone());
        if spec.params.get("dimension").is_some() {
            spec = spec.with("dimension", 10.0);
        }
        assert_equal(&spec, &stream(TRIALS, (left, right.map(|_| 4)), 1, 3), features);
    }
}

#[test]
fn rotations_of_the_instances_change_nothing() {
    for spec in specs() {
        let trials = stream(60, widths(&spec), 2, 4);
        let deviation = rotation_deviation(&|| spec.build(), &trials, 3, &Run::default()).unwrap();
        assert!(deviation < 1e-9, "{} {}: {deviation:e}", spec.name, spec.loss);
    }
}

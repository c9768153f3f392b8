use super::{run, stream};
use lopsided::data::archive::Archive;
use lopsided::kernel::KernelSpec;
use lopsided::online::{Budget, LearnerSpec, Loss, Removal, StepSize, Trial, learners};

fn rbf() -> KernelSpec {
    KernelSpec::new("rbf").with("gamma", 1.0)
}

fn specs(budget: usize, removal: Removal) -> Vec<LearnerSpec> {
    let make = |name: &str| {
        let spec = LearnerSpec::new(name).with_kernels(rbf(), None).with_step(StepSize::Fixed(0.2));
        let spec = if name == "meg" { spec.with("dimension", 500.0) } else { spec };
        spec.with_budget(Budget { size: budget, removal })
    };
    learners().iter().map(|entry| make(entry.name)).collect()
}

fn trials_for(spec: &LearnerSpec, count: usize) -> Vec<Trial> {
    let symmetric = learners().iter().any(|e| e.name == spec.name && e.symmetric);
    stream(count, (5, (!symmetric).then_some(4)), 1, 5)
}

#[test]
fn a_budget_that_is_never_full_changes_nothing() {
    for spec in specs(80, Removal::Merge) {
        let trials = trials_for(&spec, 60);
        let free = LearnerSpec { budget: None, ..spec.clone() };
        let (with, a) = run(&spec, &trials);
        let (_, b) = run(&free, &trials);
        assert_eq!(with.account().budget.removed, 0);
        assert!(a.iter().zip(&b).all(|(a, b)| (a.prediction - b.prediction).abs() < 1e-9), "{}", spec.name);
    }
}

#[test]
fn memory_stays_constant_and_the_added_error_is_reported() {
    for removal in [Removal::Merge, Removal::Drop] {
        for spec in specs(20, removal) {
            let trials = trials_for(&spec, 400);
            let mut learner = spec.build().unwrap();
            let mut bytes = Vec::new();
            for trial in &trials {
                let outcome = learner.update(&trial.instance, trial.label).unwrap();
                assert!(outcome.prediction.is_finite(), "{}", spec.name);
                bytes.push(learner.account().bytes);
            }
            let account = learner.account();
            let sides = if trials[0].instance.is_symmetric() { 1 } else { 2 };
            assert!(account.stored <= 20 * sides, "{}", spec.name);
            assert!(account.budget.removed > 0 && account.budget.error >= 0.0, "{}", spec.name);
            assert!(bytes[200..].iter().max() <= bytes[..200].iter().max(), "{} {removal:?}", spec.name);
            assert!(learner.regret_bound(account, 0.0).is_none());
        }
    }
}

/// One removal moves no prediction by more than the reported error times the size of the instance, which is 1 here.
#[test]
fn predictions_move_by_no_more_than_the_reported_error() {
    for removal in [Removal::Merge, Removal::Drop] {
        for name in ["gd-trace", "gd-frobenius", "gd-spectral"] {
            let make = |size| {
                let spec = LearnerSpec::new(name).with("radius", 1e6).with_loss(Loss::Gain);
                let spec = spec.with_kernels(rbf(), None).with_step(StepSize::Fixed(0.2));
                spec.with_budget(Budget { size, removal })
            };
            let trials = stream(31, (5, Some(4)), 1, 6);
            let (small, _) = run(&make(30), &trials);
            let (large, _) = run(&make(31), &trials);
            let error = small.account().budget.error;
            assert!(small.account().budget.removed == 2 && error > 0.0);
            for probe in stream(50, (5, Some(4)), 1, 7) {
                let moved = small.predict(&probe.instance).unwrap() - large.predict(&probe.instance).unwrap();
                assert!(moved.abs() <= error * (1.0 + 1e-9), "{name} {removal:?}: {moved} against {error}");
            }
        }
    }
}

#[test]
fn merging_costs_less_than_dropping() {
    for name in ["gd-trace", "gd-symmetric"] {
        let cost = |removal| {
            let spec = LearnerSpec::new(name).with_kernels(KernelSpec::new("rbf").with("gamma", 0.1), None);
            let spec = spec.with_step(StepSize::Fixed(0.3)).with_budget(Budget { size: 25, removal });
            let (learner, _) = run(&spec, &trials_for(&spec, 200));
            learner.account().budget.error
        };
        assert!(cost(Removal::Merge) < cost(Removal::Drop), "{name}");
    }
}

#[test]
fn a_restored_learner_goes_on_bit_for_bit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoint");
    for budget in [None, Some(Budget { size: 20, removal: Removal::Merge })] {
        for spec in specs(20, Removal::Merge).into_iter().map(|spec| LearnerSpec { budget, ..spec }) {
            let trials = trials_for(&spec, 90);
            let (whole, all) = run(&spec, &trials);
            let (half, _) = run(&spec, &trials[..47]);
            half.checkpoint().save(&path).unwrap();
            let mut again = LearnerSpec::restore(&Archive::load(&path).unwrap()).unwrap();
            for (trial, expected) in trials[47..].iter().zip(&all[47..]) {
                let outcome = again.update(&trial.instance, trial.label).unwrap();
                assert_eq!(outcome.prediction.to_bits(), expected.prediction.to_bits(), "{}", spec.name);
            }
            assert_eq!(again.account(), whole.account());
        }
    }
}

/// Later trials take no more kernel values than earlier ones once the budget is full: they are those with the stored samples.
#[test]
fn stored_samples_do_not_grow_when_the_budget_is_full() {
    let spec = LearnerSpec::new("gd-trace").with_kernels(rbf(), None).with_step(StepSize::Fixed(0.3));
    let spec = spec.with_budget(Budget { size: 50, removal: Removal::Merge });
    let trials = trials_for(&spec, 3000);
    let mut learner = spec.build().unwrap();
    let mut sizes = Vec::new();
    for part in trials.chunks(500) {
        for trial in part {
            learner.update(&trial.instance, trial.label).unwrap();
        }
        sizes.push(learner.checkpoint().to_bytes().unwrap().len());
    }
    // The first 500 trials fill it; what a learner keeps decides what a trial costs.
    assert!(sizes[1..].iter().all(|size| *size <= sizes[0] + 4096), "{sizes:?}");
}

use super::{generator, run, stream, unit};
use lopsided::kernel::KernelSpec;
use lopsided::online::{Instance, LearnerSpec, Loss, StepSize, Trial, learners};
use lopsided::{Csr, Mat, Samples};

fn make(name: &str) -> LearnerSpec {
    let spec = LearnerSpec::new(name).with_step(StepSize::Fixed(0.5));
    if name == "meg" { spec.with("dimension", 40.0) } else { spec }
}

fn is_symmetric(name: &str) -> bool {
    learners().iter().any(|e| e.name == name && e.symmetric)
}

fn shown(name: &str, x: &[f64]) -> Instance {
    if is_symmetric(name) { Instance::symmetric(x) } else { Instance::pair(x, x) }
}

#[test]
fn repeated_and_zero_instances_are_learned_without_growth() {
    for entry in learners() {
        let mut learner = make(entry.name).build().unwrap();
        let mut rng = generator(1);
        let x = unit(6, &mut rng);
        for t in 0..200 {
            let label = if t % 3 == 0 { -1.0 } else { 1.0 };
            let zero = vec![0.0; 6];
            let outcome = learner.update(&shown(entry.name, if t % 5 == 4 { &zero } else { &x }), label).unwrap();
            assert!(outcome.prediction.is_finite() && outcome.loss.is_finite(), "{}", entry.name);
        }
        assert!(learner.account().stored <= 2, "{}", entry.name);
    }
}

#[test]
fn steps_of_thousands_do_no_harm() {
    for name in ["meg", "eg-plus", "online-kpca"] {
        let spec = make(name).with_step(StepSize::Fixed(5000.0));
        let spec = if name == "online-kpca" { spec.with("components", 2.0) } else { spec };
        let (learner, outcomes) = run(&spec, &stream(300, (8, None), 1, 3));
        assert!(outcomes.iter().all(|o| (-1e-9..=1.0 + 1e-9).contains(&o.prediction)), "{name}");
        assert!(learner.account().rank == 8);
    }
    for name in ["gd-trace", "gd-spectral", "gd-frobenius", "gd-symmetric"] {
        let spec = make(name).with_step(StepSize::Fixed(1e6));
        let symmetric = is_symmetric(name);
        let (_, outcomes) = run(&spec, &stream(100, (8, (!symmetric).then_some(5)), 1, 3));
        assert!(outcomes.iter().all(|o| o.prediction.abs() <= 1.0 + 1e-9), "{name}");
    }
}

#[test]
fn unnormalised_instances_are_refused_or_normalised() {
    for name in ["meg", "eg-plus", "online-kpca"] {
        let mut learner = make(name).build().unwrap();
        let large = Instance::symmetric(&[3.0, 4.0]);
        let text = learner.update(&large, 1.0).unwrap_err().to_string();
        assert!(text.starts_with("`largest eigenvalue of an instance` is 25 but must be at most 1"), "{text}");
        let mut learner = make(name).normalized().build().unwrap();
        learner.update(&large, 1.0).unwrap();
        // Two normalised vectors make an instance of half of each.
        let two = Samples::Dense(Mat::from_fn(2, 2, |_, j| 3.0 + j as f64));
        let pair = Instance::new(two, None, Vec::new()).unwrap();
        assert!(learner.predict(&pair).unwrap() <= 1.0 + 1e-12);
        learner.update(&pair, 1.0).unwrap();
        assert_eq!(learner.account().rank, 1);
    }
}

#[test]
fn wrong_input_is_named() {
    let mut learner = make("gd-trace").build().unwrap();
    learner.update(&Instance::pair(&[1.0, 2.0], &[1.0]), 1.0).unwrap();
    let message = |result: lopsided::Result<_>| result.map(|_: lopsided::online::Outcome| ()).unwrap_err().to_string();
    assert_eq!(
        message(learner.update(&Instance::pair(&[1.0], &[1.0]), 1.0)),
        "number of coordinates of an instance is 1 but must be 2"
    );
    assert!(message(learner.update(&Instance::pair(&[1.0, f64::NAN], &[1.0]), 1.0)).contains("contains NaN"));
    assert!(message(learner.update(&Instance::pair(&[1.0, 0.0], &[1.0]), f64::NAN)).contains("`label` is NaN"));
    let error = |spec: &LearnerSpec| spec.build().err().unwrap().to_string();
    assert!(error(&LearnerSpec::new("gd-trase")).contains("did you mean `gd-trace`?"));
    assert!(error(&LearnerSpec::new("meg")).starts_with("`dimension` is missing"));
    assert!(error(&make("gd-trace").with("radius", -1.0)).contains("`radius` is -1"));
    assert!(error(&make("gd-trace").with("power", 2.0)).contains("one it takes: radius"));
    assert!(error(&make("p-norm").with_loss(Loss::Squared)).contains("`loss` is squared"));
    assert!(error(&make("eg-plus").with_kernels(KernelSpec::new("kl"), None)).contains("`kernel` is kl"));
    let two = make("eg-plus").with_kernels(KernelSpec::new("linear"), Some(KernelSpec::new("linear")));
    assert!(error(&two).contains("instances are symmetric"));
    let mut eg = make("eg-plus").build().unwrap();
    assert!(message(eg.update(&Instance::pair(&[1.0], &[1.0]), 1.0)).contains("symmetric, without a right side"));
    let negative = Samples::Dense(Mat::from_fn(1, 2, |_, _| 0.5));
    let negative = Instance::new(negative, None, vec![-1.0]).unwrap();
    assert!(message(eg.update(&negative, 1.0)).contains("`weight` is -1 but must be at least 0"));
    let mut small = LearnerSpec::new("meg").with("dimension", 1.0).build().unwrap();
    small.update(&Instance::symmetric(&[1.0, 0.0]), 0.0).unwrap();
    assert!(message(small.update(&Instance::symmetric(&[0.0, 1.0]), 0.0)).contains("at least 2"));
}

#[test]
fn sparse_instances_give_the_same_predictions() {
    for entry in learners() {
        let dense = stream(60, (6, (!entry.symmetric).then_some(4)), 1, 9);
        let sparse: Vec<Trial> = dense.iter().map(as_sparse).collect();
        let spec = make(entry.name).with_kernels(KernelSpec::new("rbf").with("gamma", 0.5), None);
        let spec = if entry.name == "meg" { spec.with("dimension", 100.0) } else { spec };
        let ((_, a), (_, b)) = (run(&spec, &dense), run(&spec, &sparse));
        assert!(a.iter().zip(&b).all(|(a, b)| (a.prediction - b.prediction).abs() < 1e-8), "{}", entry.name);
    }
}

fn as_sparse(trial: &Trial) -> Trial {
    let sparse = |samples: lopsided::SamplesRef<'_, f64>| {
        let mut rows = Csr::empty(samples.width());
        let mut entries = Vec::new();
        samples.for_each(0, |j, v| entries.push((j as u32, v)));
        rows.push_row(entries);
        Samples::Sparse(rows)
    };
    let right = (!trial.instance.is_symmetric()).then(|| sparse(trial.instance.right()));
    Trial { instance: Instance::new(sparse(trial.instance.left()), right, Vec::new()).unwrap(), label: trial.label }
}

/// What a trial costs grows with the rank and with the samples that are stored, so both must stay small without a budget.
#[test]
fn unbounded_streams_of_low_rank_stay_small() {
    let spec = make("gd-trace").with_kernels(KernelSpec::new("rbf").with("gamma", 0.5), None);
    let (learner, _) = run(&spec.with("radius", 2.0), &stream(500, (10, Some(8)), 1, 10));
    assert!(learner.account().rank <= 50, "{}", learner.account().rank);
    assert!(learner.account().stored <= 2 * 500, "{}", learner.account().stored);
}

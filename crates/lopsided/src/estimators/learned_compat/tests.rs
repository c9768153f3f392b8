use super::*;
use crate::data::synth;
use crate::kernel::{Gamma, KernelSpec};

/// Rows whose class is the sign of their smallest column, which the leading components of a1 leave out.
fn hidden(n: usize, m: usize, seed: u64) -> (Samples<f64>, Target) {
    let mut a = synth::gaussian::<f64>(n, m, seed);
    a.col_mut(0).iter_mut().for_each(|v| *v *= 0.4);
    let codes = (0..n).map(|i| Some(u32::from(a[(i, 0)] > 0.0))).collect();
    (Samples::Dense(a), Target::Classes { names: vec!["minus".into(), "plus".into()], codes })
}

fn learner(kernel: &str) -> LearnedCompat {
    let machine = KernelSvd::new(kernel).with_rank(3).with_gamma(Gamma::Median).with_tol(1e-10);
    LearnedCompat { epochs: 15, batch: 16, ..LearnedCompat::new(machine) }
}

fn training(learner: &LearnedCompat, a: &Samples<f64>, target: &Target) -> (Training<'static, f64>, Maps<f64>) {
    let run = Run::default();
    let start = learner.start(a, &run).unwrap();
    let kernel: KernelSpec = learner.machine.plan(&start, &run).unwrap().kernel;
    let training = Training {
        settings: Box::leak(Box::new(learner.clone())),
        kernel: Differentiable::new(&kernel).unwrap(),
        machine: learner.machine.clone().with_kernel(kernel),
        sides: Sides::new(a.clone(), learner.symmetric),
        supervision: Supervision::new(target, a.count(), 0.2, 0).unwrap(),
    };
    (training, start.maps)
}

/// Largest entry of the difference between the gradient by a map and central differences of the loss, relative.
fn gradient_gap(learner: &LearnedCompat, a: &Samples<f64>, target: &Target) -> f64 {
    let (training, maps) = training(learner, a, target);
    let batch: Vec<usize> = training.supervision.train.iter().copied().take(7).collect();
    let frame = training.frame(&maps, 0, &Run::default()).unwrap();
    let loss = |maps: &Maps<f64>| training.gradient(maps, &frame, &batch).unwrap().2;
    let (found, _, _) = training.gradient(&maps, &frame, &batch).unwrap();
    let mut gap = 0.0_f64;
    for side in [Side::Row, Side::Col] {
        let Some(gradient) = found.side(side) else { continue };
        for (i, k) in [(0, 0), (1, 2), (3, 1), (4, 4)] {
            let moved = |by: f64| {
                let mut maps = maps.clone();
                let map = if side == Side::Row { &mut maps.rows } else { &mut maps.cols };
                map.as_mut().unwrap()[(i, k)] += by;
                loss(&maps)
            };
            let twin = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            gap = gap.max((gradient[(i, k)] - twin).abs() / gradient.norm_max());
        }
    }
    gap
}

#[test]
fn the_gradient_of_the_loss_agrees_with_differences_on_both_sides() {
    for kernel in ["rbf", "sne", "t", "poly", "linear"] {
        for (n, m) in [(20, 6), (9, 14)] {
            let (a, classes) = hidden(n, m, 3);
            let values = Target::Values((0..n).map(|i| (i as f64).sin()).collect());
            for target in [&classes, &values] {
                let gap = gradient_gap(&learner(kernel), &a, target);
                assert!(gap < 1e-6, "{kernel} {n} x {m}: {gap}");
            }
        }
    }
}

#[test]
fn truncated_and_shared_maps_have_right_gradients_too() {
    let (a, target) = hidden(20, 6, 5);
    let both = LearnedCompat { start: Compatibility::new(Compat::Pca).with_width(5), ..learner("rbf") };
    let shared = LearnedCompat { symmetric: true, ..learner("rbf") };
    for learner in [both, shared] {
        let gap = gradient_gap(&learner, &a, &target);
        assert!(gap < 1e-6, "{gap}");
    }
}

#[test]
fn the_curve_has_a_monotone_minimum_and_the_kept_epoch_reaches_it() {
    let (a, target) = hidden(200, 5, 1);
    let learned = learner("rbf").fit(a, &target, &Run::default()).unwrap();
    assert!(learned.curve.windows(2).all(|pair| pair[1].best <= pair[0].best));
    assert!(learned.curve.iter().enumerate().all(|(at, step)| step.epoch == at && step.best <= step.validation));
    let least = learned.curve.iter().map(|step| step.validation).fold(f64::INFINITY, f64::min);
    assert!(learned.epoch > 0);
    assert_eq!(learned.curve[learned.epoch].validation.to_bits(), least.to_bits());
}

#[test]
fn what_the_start_leaves_out_is_learned_for_tall_and_wide_matrices() {
    for (n, m) in [(200, 5), (60, 80)] {
        for (kernel, symmetric) in [("rbf", false), ("sne", false), ("rbf", true)] {
            let (a, target) = hidden(n, m, 2);
            let settings = LearnedCompat { validation: 0.0, symmetric, ..learner(kernel) };
            let learned = settings.fit(a, &target, &Run::default()).unwrap();
            let (first, last) = (learned.curve[0].train, learned.curve[learned.epoch].train);
            assert!(last < 0.8 * first, "{kernel} {n} x {m} {symmetric}: {first} to {last}");
        }
    }
}

#[test]
fn targets_without_meaning_leave_the_start_as_it_is() {
    let a = synth::gaussian::<f64>(150, 5, 3);
    let noise = synth::gaussian::<f64>(150, 1, 4);
    let target = Target::Values(noise.col(0).iter().copied().collect());
    let kept = (0..5).map(|seed| {
        let run = Run { seed, ..Run::default() };
        learner("rbf").fit(Samples::Dense(a.clone()), &target, &run).unwrap().epoch
    });
    // One standard error lets chance through about one time in six.
    assert!(kept.filter(|epoch| *epoch == 0).count() >= 3);
}

#[test]
fn raw_rows_and_columns_are_placed_by_the_learned_map() {
    for (n, m) in [(40, 7), (7, 40)] {
        for kernel in ["rbf", "sne"] {
            let (a, target) = hidden(n, m, 4);
            let learned = LearnedCompat { validation: 0.0, ..learner(kernel) }.fit(a.clone(), &target, &Run::default());
            let LearnedCompatModel { model, epoch, .. } = learned.unwrap();
            let start = learner(kernel).start(&a, &Run::default()).unwrap();
            let map = |maps: &Maps<f64>| maps.side(if n > m { Side::Col } else { Side::Row }).unwrap().clone();
            assert!(epoch > 0 && (map(&model.data.maps) - map(&start.maps)).norm_max() > 1e-3, "{kernel} {n} x {m}");
            let run = Run::default();
            let rows = model.project_rows(a.as_ref(), &run).unwrap();
            assert!((rows - model.embedding(Side::Row)).norm_max() < 1e-7, "{kernel} {n} x {m}");
            let cols = model.project_cols(a.transpose().as_ref(), &run).unwrap();
            assert!((cols - model.embedding(Side::Col)).norm_max() < 1e-7, "{kernel} {n} x {m}");
        }
    }
}

#[test]
fn the_head_predicts_from_embeddings_in_the_units_of_the_target() {
    let a = synth::gaussian::<f64>(120, 4, 6);
    let target = Target::Values((0..120).map(|i| 50.0 + 3.0 * a[(i, 0)]).collect());
    let settings = LearnedCompat { epochs: 3, ..learner("linear") };
    let learned = settings.fit(Samples::Dense(a.clone()), &target, &Run::default()).unwrap();
    let found = learned.head.decision(learned.model.embedding(Side::Row).as_ref());
    let error = (0..120).map(|i| (found[(i, 0)] - 50.0 - 3.0 * a[(i, 0)]).powi(2)).sum::<f64>() / 120.0;
    assert!((learned.loss, error.sqrt() < 1.5) == (Loss::Squared, true), "{error}");
}

#[test]
fn a_diverging_rate_ends_with_an_error_that_names_it() {
    for (kernel, rate) in [("rbf", 1e4), ("sne", 1e4), ("poly", 1e4), ("rbf", 1e300)] {
        for (n, m) in [(40, 5), (10, 30)] {
            let (a, target) = hidden(n, m, 1);
            let settings = LearnedCompat { learning_rate: rate, ..learner(kernel) };
            let error = settings.fit(a, &target, &Run::default()).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::Diverged { .. }), "{kernel} {rate}: {text}");
            assert!(text.contains(&format!("the learning rate {rate} is too large")), "{text}");
        }
    }
}

#[test]
fn a_target_that_the_start_predicts_is_no_divergence() {
    let a = synth::gaussian::<f64>(80, 3, 6);
    let target = Target::Values((0..80).map(|i| a[(i, 0)] - 2.0 * a[(i, 1)]).collect());
    let learned = learner("linear").fit(Samples::Dense(a), &target, &Run::default()).unwrap();
    assert!(learned.curve[0].validation < 1e-5, "{:?}", learned.curve[0]);
}

#[test]
fn settings_out_of_range_are_refused() {
    let (a, target) = hidden(20, 5, 1);
    let message = |settings: LearnedCompat| settings.fit(a.clone(), &target, &Run::default()).unwrap_err().to_string();
    let usual = learner("rbf");
    assert_eq!(
        message(LearnedCompat { learning_rate: f64::NAN, ..usual.clone() }),
        "`learning-rate` is NaN but must be a number above 0"
    );
    assert_eq!(message(LearnedCompat { batch: 0, ..usual.clone() }), "`batch` is 0 but must be at least 1");
    assert!(message(LearnedCompat { validation: 0.7, ..usual.clone() }).contains("between 0 and 0.5"));
    let unmapped = Compatibility::new(Compat::None);
    assert!(message(LearnedCompat { start: unmapped, ..usual.clone() }).starts_with("`start` is none"));
    let small = usual.machine.clone().with_memory(1000);
    assert!(message(LearnedCompat { machine: small, ..usual }).starts_with("the learned compatibility matrix needs"));
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let (a, target) = hidden(90, 6, 7);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let learned = pool.install(|| learner("sne").fit(a.clone(), &target, &Run::default())).unwrap();
        (learned.curve, learned.model.data.maps.cols)
    };
    assert!(with(1) == with(3));
}

#[test]
fn single_precision_learns_as_well() {
    let a = synth::gaussian::<f32>(150, 5, 1);
    let target = hidden(150, 5, 1).1;
    let learned = learner("rbf").fit(Samples::Dense(a), &target, &Run::default()).unwrap();
    let last = learned.curve.last().unwrap();
    assert!(last.best < learned.curve[0].validation, "{:?}", learned.curve);
}

#[test]
fn the_second_start_has_sides_of_equal_length_and_maps_that_make_them() {
    let run = Run::default();
    for (n, m, start) in [
        (40, 6, Compatibility::new(Compat::Pca)),
        (6, 40, Compatibility::new(Compat::Pca)),
        (30, 9, Compatibility::new(Compat::Pca).with_width(4)),
    ] {
        let a = Samples::Dense(synth::gaussian::<f64>(n, m, 5));
        let level = equally_long(learner("rbf").with_start(start).start(&a, &run).unwrap()).unwrap();
        let image =
            |side, raw: &Samples<f64>| level.maps.apply(side, raw.as_ref()).unwrap_or_else(|| raw.clone().into_dense());
        let (x, z) = (level.x.clone().into_dense(), level.z.clone().unwrap().into_dense());
        assert!((&x - image(Side::Row, &a)).norm_max() < 1e-12);
        assert!((&z - image(Side::Col, &a.transpose())).norm_max() < 1e-12);
        let size = |images: &Mat<f64>| images.norm_l2() / (images.nrows() as f64).sqrt();
        assert!((size(&x) / size(&z) - 1.0).abs() < 1e-12);
    }
    let nothing = Samples::Dense(Mat::<f64>::zeros(5, 3));
    assert!(equally_long(learner("rbf").start(&nothing, &run).unwrap()).is_none());
}

#[test]
fn the_second_start_is_kept_where_the_judges_gain_and_only_there() {
    let median = learner("rbf");
    // Columns are as long as √200 at first: under this gamma the values of a column differ by many orders of magnitude.
    let narrow = LearnedCompat { machine: median.machine.clone().with_gamma(Gamma::Value(0.5)), ..median.clone() };
    let kept = [median, narrow].map(|settings| {
        let gains = (0..3).map(|seed| {
            let (a, target) = hidden(200, 5, seed);
            let (training, start) = training(&settings, &a, &target);
            let first = training.learn(start, &Run::default()).unwrap();
            let both = settings.fit(a, &target, &Run::default()).unwrap();
            let gain = first.curve[first.epoch].validation - both.curve[both.epoch].validation;
            assert!(gain >= 0.0, "{gain}");
            gain > 0.0
        });
        gains.filter(|gained| *gained).count()
    });
    assert!(kept[0] < 3 && kept[1] > 0, "{kept:?}");
}

use super::{generator, rows, run, stream, unit};
use lopsided::kernel::KernelSpec;
use lopsided::online::{
    Comparator, Hindsight, History, Instance, LearnerSpec, Loss, StepSize, Trial, Tuning, best_in_hindsight,
};
use lopsided::{Run, Samples};
use rand::RngExt;

/// Unit vectors near one direction: the nearer, the smaller `noise`.
fn noisy_direction(count: usize, width: usize, noise: f64, seed: u64) -> Vec<Trial> {
    let mut rng = generator(seed);
    let direction = unit(width, &mut rng);
    (0..count)
        .map(|_| {
            let other = unit(width, &mut rng);
            let raw: Vec<f64> = direction.iter().zip(&other).map(|(d, o)| d + noise * o).collect();
            let size = raw.iter().map(|v| v * v).sum::<f64>().sqrt();
            let x: Vec<f64> = raw.iter().map(|v| v / size).collect();
            Trial { instance: Instance::symmetric(&x), label: 0.0 }
        })
        .collect()
}

fn best(spec: &LearnerSpec, trials: &[Trial]) -> Comparator {
    best_in_hindsight(spec, trials, &[trials.len()], &Hindsight::default(), &Run::default()).unwrap()[0]
}

fn tuned(trials: usize, left: f64, rank: usize) -> StepSize {
    StepSize::Tuned(Tuning { trials: trials as u64, comparator: Some(left), rank: Some(rank), instance_rank: None })
}

#[test]
fn eg_plus_stays_within_its_bound_and_within_one_of_eg() {
    for (seed, (width, count, noise)) in
        (0u64..).zip([(20, 100, 0.5), (50, 200, 3.0), (200, 150, 1.0), (20, 400, 9.0), (100, 60, 0.0)])
    {
        let trials = noisy_direction(count, width, noise, seed);
        let gain = best(&LearnerSpec::new("eg-plus"), &trials);
        let rank = if noise == 0.0 { 1 } else { width.min(count) };
        let left = (count as f64 + gain.loss).max(0.0);
        let step = tuned(count, left, rank);
        let (plus, _) = run(&LearnerSpec::new("eg-plus").with_step(step), &trials);
        let known = LearnerSpec::new("meg").with("dimension", rank as f64).with_step(step);
        let (eg, _) = run(&known, &trials);
        assert_eq!(plus.account().rank, rank);
        let regret = plus.account().cumulative_loss - gain.loss;
        let log = (rank as f64).ln();
        assert!(
            regret <= (2.0 * left * log).sqrt() + log + 1.0 + 1e-9,
            "regret {regret}, width {width}, noise {noise}"
        );
        let own = plus.regret_bound(plus.account(), gain.loss).unwrap();
        assert!(regret <= own + 1e-9, "{regret} above {own}");
        // Lemma 4.3.
        assert!(plus.account().cumulative_loss - eg.account().cumulative_loss <= 1.0 + 1e-9);
        let bound = eg.regret_bound(eg.account(), gain.loss).unwrap();
        assert!(eg.account().cumulative_loss - gain.loss <= bound + 1e-9);
    }
}

#[test]
fn rank_s_instances_keep_the_bound_of_eg_plus() {
    let mut rng = generator(3);
    let trials: Vec<Trial> = (0..150)
        .map(|_| {
            // Projections onto three coordinates, the first of them common to all.
            let (a, b) = (1 + rng.random_range(0..9), 10 + rng.random_range(0..10));
            let axis = |k: usize| (0..20).map(|j| f64::from(u8::from(j == k))).collect::<Vec<f64>>();
            let x = Samples::Dense(rows(&[axis(0), axis(a), axis(b)]));
            Trial { instance: Instance::new(x, None, Vec::new()).unwrap(), label: 0.0 }
        })
        .collect();
    let gain = best(&LearnerSpec::new("eg-plus"), &trials);
    assert!((gain.loss + 150.0).abs() < 1e-9);
    let of_rank_three = StepSize::Tuned(Tuning { trials: 150, instance_rank: Some(3), ..Tuning::default() });
    for (name, step) in [("eg-plus", tuned(150, 0.0, 20)), ("gd-symmetric", of_rank_three)] {
        let (learner, _) = run(&LearnerSpec::new(name).with_loss(Loss::Gain).with_step(step), &trials);
        let regret = learner.account().cumulative_loss - gain.loss;
        let bound = learner.regret_bound(learner.account(), gain.loss).unwrap();
        let paper = if name == "eg-plus" { 20f64.ln() + 1.0 + 1.0 } else { (150.0 * 3f64).sqrt() };
        assert!(regret <= bound && regret <= paper + 1e-9, "{name}: {regret}, {bound}, {paper}");
    }
}

/// Labels that are exactly bilinear, in any unit, are learned without any setting.
#[test]
fn automatic_steps_learn_what_is_bilinear_in_any_unit() {
    for (name, unit) in [("gd-trace", 1.0), ("gd-spectral", 1e4), ("gd-frobenius", 1e-3)] {
        let spec = LearnerSpec::new(name);
        let mut learner = spec.build().unwrap();
        let trials: Vec<Trial> = stream(1500, (6, Some(5)), 1, 7)
            .into_iter()
            .map(|trial| {
                let side = |samples: lopsided::SamplesRef<'_, f64>| {
                    let mut out = Vec::new();
                    samples.for_each(0, |_, v| out.push(v));
                    out
                };
                let (x, z) = (side(trial.instance.left()), side(trial.instance.right()));
                let label = unit * (x[0] * z[1] - 2.0 * x[3] * z[0] + x[5] * z[4]);
                Trial { label, ..trial }
            })
            .collect();
        let losses: Vec<f64> =
            trials.iter().map(|trial| learner.update(&trial.instance, trial.label).unwrap().loss).collect();
        let total: f64 = trials[1000..].iter().map(|trial| trial.label * trial.label).sum();
        assert!(losses[1000..].iter().sum::<f64>() < 0.01 * total, "{name}");
        let points = History::default().regret(&*learner, &spec, &trials, &Run::default()).unwrap();
        let last = points.last().unwrap();
        assert!(last.bound.is_none() && last.bound_note.unwrap().contains("`radius`"), "{name}");
        assert!(last.comparator_loss < 0.05 * total, "{name}: {last:?}");
    }
}

#[test]
fn gradient_descent_stays_within_radius_times_slope_times_root_t() {
    let count = 250;
    for loss in [Loss::Absolute, Loss::Hinge, Loss::Logistic, Loss::Squared, Loss::Gain] {
        for (name, radius) in [("gd-trace", 3.0), ("gd-frobenius", 2.0), ("gd-spectral", 0.7)] {
            let trials = stream(count, (6, Some(4)), 1, 11);
            let step = StepSize::Tuned(Tuning { trials: count as u64, rank: Some(4), ..Tuning::default() });
            let spec = LearnerSpec::new(name).with("radius", radius).with_loss(loss).with_step(step);
            let (learner, _) = run(&spec, &trials);
            let comparator = best(&spec, &trials);
            let slope = loss.largest_slope(radius);
            let frobenius = if name == "gd-spectral" { radius * 2.0 } else { radius };
            let paper = frobenius * slope * (count as f64).sqrt();
            let bound = learner.regret_bound(learner.account(), comparator.loss).unwrap();
            // The best matrix loses no less than the certificate says.
            let regret = learner.account().cumulative_loss - (comparator.loss - comparator.gap);
            assert!(regret <= bound, "{name} {loss}: {regret} above {bound}");
            assert!(bound <= paper * (1.0 + 1e-12), "{name} {loss}: {bound} above {paper}");
            assert!(comparator.gap <= 0.05 * comparator.loss.abs() + 0.5, "{name} {loss}: {comparator:?}");
        }
    }
}

#[test]
fn exponentiated_gradients_stay_within_their_bound_with_every_loss() {
    let trials = stream(200, (6, None), 1, 12);
    for loss in [Loss::Squared, Loss::Absolute, Loss::Logistic, Loss::Hinge] {
        let spec = LearnerSpec::new("meg").with("dimension", 9.0).with_loss(loss);
        let spec = spec.with_step(StepSize::Tuned(Tuning { trials: 200, ..Tuning::default() }));
        let (learner, _) = run(&spec, &trials);
        let comparator = best(&spec, &trials);
        let regret = learner.account().cumulative_loss - (comparator.loss - comparator.gap);
        assert!(regret <= learner.regret_bound(learner.account(), comparator.loss).unwrap(), "{loss}");
    }
}

#[test]
fn online_pca_and_the_perceptron_stay_within_their_bounds() {
    let trials = noisy_direction(300, 30, 2.0, 21);
    for dimension in [None, Some(30.0)] {
        let spec = LearnerSpec::new("online-kpca").with("components", 4.0).with_step(StepSize::Fixed(0.3));
        let spec = dimension.map_or(spec.clone(), |n| spec.with("dimension", n));
        let (learner, outcomes) = run(&spec, &trials);
        assert!(outcomes.iter().all(|o| o.prediction > -1e-12 && o.prediction < 1.0 + 1e-12));
        let comparator = best(&spec, &trials);
        let regret = learner.account().cumulative_loss - comparator.loss;
        assert!(regret <= learner.regret_bound(learner.account(), comparator.loss).unwrap());
    }
    let pairs = stream(300, (6, Some(4)), 1, 22);
    let spec = LearnerSpec::new("p-norm").with("radius", 4.0).with("power", 3.0);
    let (learner, _) = run(&spec, &pairs);
    let comparator = best(&spec, &pairs);
    let least = comparator.loss - comparator.gap;
    let bound = learner.regret_bound(learner.account(), comparator.loss).unwrap();
    assert!(learner.account().cumulative_loss - least <= bound + comparator.gap);
}

/// The comparator of the gain is the top of the kernel matrix's spectrum.
#[test]
fn the_best_gain_is_the_sum_of_the_top_eigenvalues() {
    let trials = noisy_direction(40, 12, 2.0, 31);
    let kernel = KernelSpec::new("rbf").with("gamma", 0.7);
    let vectors: Vec<Vec<f64>> = trials
        .iter()
        .map(|t| {
            let mut v = vec![0.0; 12];
            t.instance.left().for_each(0, |j, value| v[j] = value);
            v
        })
        .collect();
    let gram = faer::Mat::from_fn(40, 40, |i, j| {
        let distance: f64 = vectors[i].iter().zip(&vectors[j]).map(|(a, b)| (a - b).powi(2)).sum();
        (-0.7 * distance).exp()
    });
    let eigen = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    let top: f64 = eigen.iter().rev().take(3).sum();
    let spec = LearnerSpec::new("online-kpca").with("components", 3.0).with_kernels(kernel, None);
    assert!((best(&spec, &trials).loss + top).abs() < 1e-6 * top);
}

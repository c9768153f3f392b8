//! Linear machines by their optimality conditions, beside the kernel machines of the linear kernel.

use lopsided::data::synth;
use lopsided::operator::DenseOperator;
use lopsided::solvers::linear_machine::{HingeLoss, Labels, LinearSvm, LinearSvmFunction, Logistic, softmax};
use lopsided::solvers::svm::{CSvm, Part, RowCache};
use lopsided::{Mat, Run};
use proptest::prelude::*;

/// Overlapping samples of classes 0, 1, … and their codes.
fn samples(n: usize, width: usize, classes: u32, seed: u64) -> (Mat<f64>, Vec<u32>) {
    let noise = synth::gaussian::<f64>(n, width, seed);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % classes).collect();
    let x = Mat::from_fn(n, width, |i, j| noise[(i, j)] + if codes[i] as usize % width == j { 1.0 } else { 0.3 });
    (x, codes)
}

fn signs(codes: &[u32]) -> Vec<f64> {
    codes.iter().map(|c| if *c == 0 { 1.0 } else { -1.0 }).collect()
}

fn values(x: &Mat<f64>, w: &[f64], bias: f64) -> Vec<f64> {
    (0..x.nrows()).map(|i| (0..w.len()).map(|j| x[(i, j)] * w[j]).sum::<f64>() + bias).collect()
}

fn machine(penalty: f64, loss: HingeLoss) -> LinearSvm {
    LinearSvm { loss, tol: 1e-9, max_passes: 1_000_000, ..LinearSvm::new(penalty) }
}

fn solved(machine: &LinearSvm, x: &Mat<f64>, y: &[f64], weights: Option<&[f64]>) -> LinearSvmFunction {
    let found = machine.solve(x.as_ref(), y, weights, &Run::default()).unwrap();
    assert!(found.verdict.converged(), "{} passes", found.passes);
    found
}

fn repeated(x: &Mat<f64>, which: &[usize]) -> Mat<f64> {
    Mat::from_fn(which.len(), x.ncols(), |i, j| x[(which[i], j)])
}

/// 0, 1 and 2, the first two samples 1.
fn whole_weights(n: usize) -> (Vec<f64>, Vec<usize>) {
    let weights: Vec<f64> = (0..n).map(|i| if i < 2 { 1.0 } else { (i % 3) as f64 }).collect();
    let copies = (0..n).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
    (weights, copies)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn coordinate_descent_closes_the_gap_and_finds_the_kernel_machine(
        n in 10usize..40, width in 1usize..5, penalty in 0.05..2.0, seed: u64,
    ) {
        let (x, codes) = samples(n, width, 2, seed);
        let y = signs(&codes);
        let found = solved(&machine(penalty, HingeLoss::Hinge), &x, &y, None);
        prop_assert!(found.dual.iter().all(|a| (0.0..=penalty).contains(a)));
        let balance: f64 = found.dual.iter().zip(&y).map(|(a, y)| a * y).sum();
        prop_assert!(balance.abs() < 1e-8 * penalty * n as f64, "{balance}");
        let square: f64 = found.weights.iter().map(|w| w * w).sum();
        let f = values(&x, &found.weights, found.bias);
        let loss: f64 = f.iter().zip(&y).map(|(f, y)| (1.0 - y * f).max(0.0)).sum();
        let (primal, dual) = (0.5 * square + penalty * loss, found.dual.iter().sum::<f64>() - 0.5 * square);
        prop_assert!((primal - dual).abs() < 1e-6 * (1.0 + primal), "primal {primal}, dual {dual}");
        let k = &x * x.transpose();
        let operator = DenseOperator::Borrowed(k.as_ref());
        let rows = RowCache::new(&operator, 1 << 20).unwrap();
        let twin = CSvm { tol: 1e-9, ..CSvm::new(penalty) }.solve(&rows, &Part::all(&y), &Run::default()).unwrap();
        for j in 0..width {
            let w: f64 = (0..n).map(|i| x[(i, j)] * twin.coefficients[i]).sum();
            prop_assert!((w - found.weights[j]).abs() < 1e-5 * (1.0 + w.abs()), "{w} {}", found.weights[j]);
        }
    }

    #[test]
    fn the_gradient_of_the_squared_hinge_vanishes(n in 10usize..40, width in 1usize..5, penalty in 0.05..2.0, seed: u64) {
        let (x, codes) = samples(n, width, 2, seed);
        let y = signs(&codes);
        let found = solved(&machine(penalty, HingeLoss::Squared), &x, &y, None);
        let f = values(&x, &found.weights, found.bias);
        let slope = |i: usize| 2.0 * penalty * (1.0 - y[i] * f[i]).max(0.0) * y[i];
        prop_assert!((0..n).map(slope).sum::<f64>().abs() < 1e-6 * penalty * n as f64);
        for j in 0..width {
            let gradient = found.weights[j] - (0..n).map(|i| slope(i) * x[(i, j)]).sum::<f64>();
            prop_assert!(gradient.abs() < 1e-6 * (1.0 + penalty) * n as f64, "{gradient}");
        }
    }

    #[test]
    fn a_weight_of_two_is_a_sample_twice(n in 10usize..30, penalty in 0.05..2.0, seed: u64) {
        let (x, codes) = samples(n, 3, 3, seed);
        let (weights, copies) = whole_weights(n);
        let many = repeated(&x, &copies);
        let many_codes: Vec<u32> = copies.iter().map(|&i| codes[i]).collect();
        for loss in [HingeLoss::Hinge, HingeLoss::Squared] {
            let one = solved(&machine(penalty, loss), &x, &signs(&codes), Some(&weights));
            let other = solved(&machine(penalty, loss), &many, &signs(&many_codes), None);
            let close = one.weights.iter().zip(&other.weights).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + a.abs()));
            prop_assert!(close, "{loss:?} {:?} {:?}", one.weights, other.weights);
        }
        let logistic = Logistic { tol: 1e-10, ..Logistic::new(penalty) };
        let one = Labels { codes: &codes, classes: 3, weights: Some(&weights) };
        let one = logistic.fit(x.as_ref(), &one, &Run::default()).unwrap();
        let other = Labels { codes: &many_codes, classes: 3, weights: None };
        let other = logistic.fit(many.as_ref(), &other, &Run::default()).unwrap();
        prop_assert!((one.planes.weights - other.planes.weights).norm_max() < 1e-6);
    }

    #[test]
    fn the_gradient_of_the_logistic_loss_vanishes(
        n in 10usize..60, width in 1usize..6, classes in 2u32..5, penalty in 0.01..100.0, seed: u64,
    ) {
        let (x, codes) = samples(n, width, classes, seed);
        let labels = Labels { codes: &codes, classes: classes as usize, weights: None };
        let found = Logistic { tol: 1e-10, ..Logistic::new(penalty) }.fit(x.as_ref(), &labels, &Run::default()).unwrap();
        prop_assert!(found.verdict.converged(), "{} {}", found.verdict.left(), found.steps);
        let p = softmax(found.planes.decision(x.as_ref()).as_ref());
        // The two functions of two classes are −f/2 and f/2, of which f alone is penalised.
        let share = if classes == 2 { 2.0 } else { 1.0 };
        for c in 0..classes as usize {
            let error = |i: usize| p[(i, c)] - if codes[i] as usize == c { 1.0 } else { 0.0 };
            let sum: f64 = (0..n).map(error).sum();
            prop_assert!(penalty * sum.abs() < 1e-7 * (1.0 + penalty) * n as f64, "{sum}");
            for j in 0..width {
                let slope = penalty * (0..n).map(|i| error(i) * x[(i, j)]).sum::<f64>();
                let gradient = share * found.planes.weights[(j, c)] + slope;
                prop_assert!(gradient.abs() < 1e-7 * (1.0 + penalty) * n as f64, "{gradient}");
            }
        }
    }

    #[test]
    fn the_kernel_machine_of_the_linear_kernel_is_the_linear_machine(
        n in 10usize..40, width in 1usize..6, classes in 2u32..4, penalty in 0.05..20.0, seed: u64,
    ) {
        let (x, codes) = samples(n, width, classes, seed);
        let labels = Labels { codes: &codes, classes: classes as usize, weights: None };
        let machine = Logistic { tol: 1e-9, ..Logistic::new(penalty) };
        let linear = machine.fit(x.as_ref(), &labels, &Run::default()).unwrap().planes.decision(x.as_ref());
        let k = &x * x.transpose();
        let found = machine.fit_kernel(&DenseOperator::Borrowed(k.as_ref()), &labels, &Run::default()).unwrap();
        prop_assert!(found.verdict.converged());
        let size = linear.norm_max();
        prop_assert!((found.planes.decision(k.as_ref()) - linear).norm_max() < 1e-5 * (1.0 + size));
    }
}

#[test]
fn separable_classes_stay_finite_and_extreme_penalties_end() {
    let x = Mat::from_fn(20, 1, |i, _| i as f64 - 9.5);
    let codes: Vec<u32> = (0..20).map(|i| u32::from(i > 9)).collect();
    let labels = Labels { codes: &codes, classes: 2, weights: None };
    for penalty in [1e-6, 1.0, 1e4] {
        let found = Logistic::new(penalty).fit(x.as_ref(), &labels, &Run::default()).unwrap();
        assert!(found.verdict.converged() && found.planes.weights[(0, 1)] > 0.0, "{penalty}: {found:?}");
        let (planes, converged) = LinearSvm::new(penalty).fit(x.as_ref(), &labels, &Run::default()).unwrap();
        assert!(converged && planes.weights[(0, 1)] > 0.0, "{penalty}: {planes:?}");
    }
}

#[test]
fn one_class_against_the_rest_does_not_depend_on_threads() {
    let (x, codes) = samples(60, 4, 3, 5);
    let labels = Labels { codes: &codes, classes: 3, weights: None };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| LinearSvm::new(1.0).fit(x.as_ref(), &labels, &Run::default())).unwrap()
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn unusable_input_is_refused() {
    let (x, codes) = samples(6, 2, 2, 1);
    let run = Run::default();
    let labels = Labels { codes: &codes, classes: 2, weights: None };
    let refused = |penalty: f64, labels: &Labels<'_>| {
        assert!(LinearSvm::new(penalty).fit(x.as_ref(), labels, &run).is_err(), "{labels:?}");
        assert!(Logistic::new(penalty).fit(x.as_ref(), labels, &run).is_err(), "{labels:?}");
    };
    refused(0.0, &labels);
    refused(f64::NAN, &labels);
    refused(1.0, &Labels { codes: &codes[1..], ..labels });
    refused(1.0, &Labels { classes: 1, ..labels });
    refused(1.0, &Labels { codes: &[2; 6], ..labels });
    refused(1.0, &Labels { weights: Some(&[1.0; 5]), ..labels });
    refused(1.0, &Labels { weights: Some(&[1.0, 1.0, -1.0, 1.0, 1.0, 1.0]), ..labels });
    refused(1.0, &Labels { weights: Some(&[f64::NAN; 6]), ..labels });
    let broken = Mat::from_fn(6, 2, |i, j| if (i, j) == (3, 1) { f64::NAN } else { 1.0 });
    assert!(LinearSvm::new(1.0).fit(broken.as_ref(), &labels, &run).is_err());
    let wide = Mat::<f64>::zeros(6, 5);
    assert!(Logistic::new(1.0).fit_kernel(&DenseOperator::Borrowed(wide.as_ref()), &labels, &run).is_err());
}

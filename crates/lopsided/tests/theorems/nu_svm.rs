//! The ν-SVM: its conditions, what ν means, and the C-SVM it equals; weights and several classes.

use super::svm::{dot, kernel, labels, times};
use lopsided::operator::{DenseOperator, Submatrix};
use lopsided::solvers::svm::{CSvm, Classes, Learned, Machine, MultiClass, NuSvm, Part, RowCache, SvmSolution};
use lopsided::{Error, Mat, Run};
use proptest::prelude::*;

fn solved(machine: Machine, k: &Mat<f64>, part: &Part) -> SvmSolution {
    let operator = DenseOperator::Borrowed(k.as_ref());
    machine.solve(&RowCache::new(&operator, 1 << 20).unwrap(), part, &Run::default()).unwrap()
}

fn nu(nu: f64) -> Machine {
    Machine::Nu(NuSvm { tol: 1e-9, ..NuSvm::new(nu) })
}

fn c(penalty: f64) -> Machine {
    Machine::C(CSvm { tol: 1e-9, ..CSvm::new(penalty) })
}

fn values(k: &Mat<f64>, found: &SvmSolution) -> Vec<f64> {
    times(k, &found.coefficients).iter().map(|f| f + found.bias).collect()
}

/// The nearest point with the given sum and every entry between 0 and 1.
fn projected(alpha: &[f64], sum: f64) -> Vec<f64> {
    let at = |shift: f64| -> Vec<f64> { alpha.iter().map(|a| (a - shift).clamp(0.0, 1.0)).collect() };
    let (mut low, mut high) = (-1e3, 1e3);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if at(middle).iter().sum::<f64>() > sum { low = middle } else { high = middle }
    }
    at(0.5 * (low + high))
}

/// ½·cᵀKc after projected gradient steps on α within each class.
fn naive(k: &Mat<f64>, y: &[f64], nu: f64) -> f64 {
    let n = y.len();
    let of = |sign: f64| -> Vec<usize> { (0..n).filter(|&i| y[i] == sign).collect() };
    let mut alpha = vec![0.0; n];
    let signed = |alpha: &[f64]| -> Vec<f64> { alpha.iter().zip(y).map(|(a, y)| a * y).collect() };
    for _ in 0..4000 {
        let f = times(k, &signed(&alpha));
        for class in [of(1.0), of(-1.0)] {
            let moved: Vec<f64> = class.iter().map(|&i| alpha[i] - y[i] * f[i] / n as f64).collect();
            let next = projected(&moved, 0.5 * nu * n as f64);
            class.iter().zip(next).for_each(|(&i, a)| alpha[i] = a);
        }
    }
    0.5 * dot(&signed(&alpha), &times(k, &signed(&alpha)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nu_bounds_margin_errors_and_support_vectors(n in 10usize..60, share in 0.05..1.0f64, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let nu_value = share * NuSvm::most(&Part::all(&y));
        let found = solved(nu(nu_value), &k, &Part::all(&y));
        prop_assert!(found.verdict.converged() && found.margin > 0.0, "{found:?}");
        let margins: Vec<f64> = values(&k, &found).iter().zip(&y).map(|(f, y)| f * y).collect();
        let errors = margins.iter().filter(|m| **m < 1.0 - 1e-6).count() as f64;
        let supports = found.coefficients.iter().filter(|c| **c != 0.0).count() as f64;
        prop_assert!(errors <= nu_value * n as f64 + 1e-9 && nu_value * (n as f64) <= supports + 1e-9);
        for sign in [1.0, -1.0] {
            let sum: f64 = (0..n).filter(|&i| y[i] == sign).map(|i| sign * found.margin * found.coefficients[i]).sum();
            prop_assert!((sum - 0.5 * nu_value * n as f64).abs() < 1e-9 * n as f64);
        }
        // Samples at the bound lie inside the margin, those without coefficient outside.
        for (m, c) in margins.iter().zip(&found.coefficients) {
            let alpha = c.abs() * found.margin;
            prop_assert!((0.0..=1.0 + 1e-9).contains(&alpha));
            prop_assert!(alpha > 0.0 || *m > 1.0 - 1e-5 / found.margin, "{m} {alpha}");
            prop_assert!(alpha < 1.0 - 1e-9 || *m < 1.0 + 1e-5 / found.margin, "{m} {alpha}");
        }
    }

    #[test]
    fn a_nu_svm_is_the_c_svm_of_its_margin(n in 10usize..40, share in 0.1..0.95f64, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let found = solved(nu(share * NuSvm::most(&Part::all(&y))), &k, &Part::all(&y));
        let other = solved(c(1.0 / found.margin), &k, &Part::all(&y));
        // The function between the classes is unique, the bias where no sample lies on the margin is not.
        let (a, b) = (times(&k, &found.coefficients), times(&k, &other.coefficients));
        let size = a.iter().map(|v| v.abs()).fold(1.0, f64::max);
        prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4 * size), "{a:?} {b:?}");
    }

    #[test]
    fn the_projected_gradient_finds_no_better_nu_svm(n in 6usize..16, share in 0.2..1.0f64, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let nu_value = share * NuSvm::most(&Part::all(&y));
        let found = solved(nu(nu_value), &k, &Part::all(&y));
        let alpha: Vec<f64> = found.coefficients.iter().map(|c| c * found.margin).collect();
        let (best, twin) = (0.5 * dot(&alpha, &times(&k, &alpha)), naive(&k, &y, nu_value));
        prop_assert!(best <= twin + 1e-7 && twin - best < 1e-3 * (1.0 + twin), "smo {best}, twin {twin}");
    }

    #[test]
    fn shrinking_changes_no_nu_svm(n in 20usize..60, share in 0.1..0.9f64, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let machine = NuSvm { tol: 1e-9, ..NuSvm::new(share * NuSvm::most(&Part::all(&y))) };
        let all = Part::all(&y);
        let plain = solved(Machine::Nu(NuSvm { shrink: false, ..machine }), &k, &all);
        let shrunk = solved(Machine::Nu(machine), &k, &all);
        let size = plain.coefficients.iter().map(|c| c.abs()).fold(1.0, f64::max);
        let (a, b) = (times(&k, &plain.coefficients), times(&k, &shrunk.coefficients));
        prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5 * size));
    }

    #[test]
    fn a_weight_of_two_is_a_sample_twice_and_of_zero_none(n in 8usize..30, penalty in 0.1..5.0, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        // The first two samples, one of each class, stay.
        let weights: Vec<f64> = (0..n).map(|i| if i < 2 { 1.0 } else { ((seed >> (i % 32)) % 3) as f64 }).collect();
        let repeated: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
        let copies = Part { y: repeated.iter().map(|&i| y[i]).collect(), places: repeated.clone(), weights: None };
        let weighted = Part::all(&y).with_weights(weights);
        prop_assert!((NuSvm::most(&weighted) - NuSvm::most(&copies)).abs() < 1e-12);
        for machine in [c(penalty), nu(0.7 * NuSvm::most(&copies))] {
            let (one, many) = (solved(machine, &k, &weighted), solved(machine, &k, &copies));
            let mut sums = vec![0.0; n];
            repeated.iter().zip(&many.coefficients).for_each(|(&i, c)| sums[i] += c);
            let (a, b) = (times(&k, &one.coefficients), times(&k, &sums));
            let size = a.iter().map(|v| v.abs()).fold(1.0, f64::max);
            prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5 * size), "{a:?} {b:?}");
        }
    }
}

#[test]
fn an_infeasible_nu_is_refused_with_the_range() {
    let (k, y) = (kernel(10, 1), [1.0, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]);
    let operator = DenseOperator::Borrowed(k.as_ref());
    let rows = RowCache::new(&operator, 1 << 20).unwrap();
    for value in [0.0, -0.1, 0.41, f64::NAN] {
        let error = NuSvm::new(value).solve(&rows, &Part::all(&y), &Run::default()).unwrap_err();
        assert!(error.to_string().contains("above 0 and at most 0.4"), "{error}");
    }
    assert!(NuSvm::new(0.4).solve(&rows, &Part::all(&y), &Run::default()).is_ok());
    let equal = Mat::from_fn(10, 10, |_, _| 1.0);
    let operator = DenseOperator::Borrowed(equal.as_ref());
    let rows = RowCache::new(&operator, 1 << 20).unwrap();
    let found = NuSvm::new(0.4).solve(&rows, &Part::all(&y), &Run::default()).unwrap();
    assert!(found.margin == 0.0 && !found.verdict.converged(), "{found:?}");
}

/// A linear kernel of points of two classes that lie among each other.
fn mixed(n: usize, seed: u64) -> (Mat<f64>, Vec<f64>) {
    let x = lopsided::data::synth::gaussian::<f64>(n, 2, seed);
    let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let moved = Mat::from_fn(n, 2, |i, j| x[(i, j)] + if j == 0 { 0.7 * y[i] } else { 0.0 });
    (&moved * moved.transpose(), y)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Samples with a linear kernel: each class shrunk towards its mean so far that no weight exceeds 2/(ν·n). Those sets grow
    /// as ν falls, and once they meet they meet for every smaller ν.
    #[test]
    fn a_larger_nu_has_a_larger_margin_and_a_margin_of_zero_is_no_result(n in 20usize..60, seed: u64) {
        let (k, y) = mixed(n, seed);
        let scale = (0..n).map(|i| k[(i, i)]).fold(0.0, f64::max);
        let mut last = 0.0;
        for step in 1..=10 {
            let value = 0.1 * f64::from(step) * NuSvm::most(&Part::all(&y));
            let found = solved(nu(value), &k, &Part::all(&y));
            // Σ α = ν·n/2 of each class: the distance of the shrunk sets is that of α/(ν·n/2).
            let margin = found.margin / value;
            prop_assert!(margin >= last - 1e-6 * scale, "nu {value}: {margin} after {last}");
            prop_assert_eq!(found.margin > 0.0, found.verdict.converged(), "nu {}: {:?}", value, found.verdict);
            if found.margin == 0.0 {
                // Nothing is left of the function between the classes.
                let square = dot(&found.coefficients, &times(&k, &found.coefficients));
                prop_assert!(square <= 1e-7 * scale * (n * n) as f64, "nu {value}: {square}");
            }
            last = margin;
        }
    }

    #[test]
    fn the_largest_nu_is_feasible_and_nothing_above_it_is(n in 6usize..40, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let all = Part::all(&y);
        let (plus, most) = (y.iter().filter(|y| **y > 0.0).count(), NuSvm::most(&all));
        prop_assert!((most - 2.0 * plus.min(n - plus) as f64 / n as f64).abs() < 1e-12);
        let operator = DenseOperator::Borrowed(k.as_ref());
        let rows = RowCache::new(&operator, 1 << 20).unwrap();
        prop_assert!(NuSvm::new(most).solve(&rows, &all, &Run::default()).is_ok());
        let error = NuSvm::new(most * 1.001).solve(&rows, &all, &Run::default()).unwrap_err().to_string();
        prop_assert!(error.contains(&format!("at most {most}")), "{error}");
    }
}

#[test]
fn unusable_weights_are_refused() {
    let (k, y) = (kernel(4, 1), [1.0, -1.0, 1.0, -1.0]);
    let operator = DenseOperator::Borrowed(k.as_ref());
    let rows = RowCache::new(&operator, 1 << 20).unwrap();
    for weights in [vec![1.0, -1.0, 1.0, 1.0], vec![1.0, f64::NAN, 1.0, 1.0], vec![0.0; 4]] {
        let part = Part::all(&y).with_weights(weights);
        assert!(matches!(CSvm::new(1.0).solve(&rows, &part, &Run::default()), Err(Error::Param { .. })));
        assert!(matches!(NuSvm::new(0.5).solve(&rows, &part, &Run::default()), Err(Error::Param { .. })));
    }
    let short = Part::all(&y).with_weights(vec![1.0; 3]);
    assert!(matches!(CSvm::new(1.0).solve(&rows, &short, &Run::default()), Err(Error::Shape { .. })));
}

/// Four classes, one of them without samples, with room for so many bytes of rows.
fn classes_learned(k: &Mat<f64>, codes: &[u32], way: MultiClass, bytes: u64, threads: usize) -> Vec<Learned> {
    let operator = DenseOperator::Borrowed(k.as_ref());
    let rows = RowCache::new(&operator, bytes).unwrap();
    let classes = Classes { codes, count: 4, weights: None };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| classes.learn(&c(2.0), way, true, &rows, &Run::default())).unwrap()
}

#[test]
fn machines_that_share_a_cache_are_those_that_do_not_for_any_number_of_threads() {
    let k = kernel(90, 3);
    let codes: Vec<u32> = (0..90).map(|i| [0, 1, 3][(i * 7 % 10) % 3]).collect();
    for way in [MultiClass::OneVsOne, MultiClass::OneVsRest] {
        let found = classes_learned(&k, &codes, way, 1 << 20, 1);
        assert_eq!(found.len(), if way == MultiClass::OneVsOne { 3 } else { 4 });
        let (parallel, crowded) =
            (classes_learned(&k, &codes, way, 1 << 20, 4), classes_learned(&k, &codes, way, 0, 4));
        for ((one, many), little) in found.iter().zip(parallel).zip(crowded) {
            assert_eq!((one.pair, &one.solution, one.sigmoid), (many.pair, &many.solution, many.sigmoid));
            assert_eq!((one.pair, &one.solution, one.sigmoid), (little.pair, &little.solution, little.sigmoid));
            let places = one.part.places.clone();
            let operator = DenseOperator::Borrowed(k.as_ref());
            let alone = Submatrix::new(&operator, Some(&places), Some(&places));
            let own = RowCache::new(&alone, 1 << 20).unwrap();
            let expected = c(2.0).solve(&own, &Part::all(&one.part.y), &Run::default()).unwrap();
            assert_eq!(one.solution.coefficients, expected.coefficients, "{:?}", one.pair);
        }
    }
}

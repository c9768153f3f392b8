//! The support vector machine against a projected gradient method, and its optimality conditions.

use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::estimators::{Estimator, Model, Svm, Symmetrize};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{DenseOperator, KernelMatrix};
use lopsided::solvers::svm::{CSvm, MultiClass, Part, RowCache, SvmSolution};
use lopsided::{Dataset, Error, Mat, Run, Samples, Target};
use proptest::prelude::*;

/// A positive definite matrix of size one.
pub(super) fn kernel(n: usize, seed: u64) -> Mat<f64> {
    let x = synth::gaussian::<f64>(n, 4, seed);
    Mat::from_fn(n, n, |i, j| {
        let square: f64 = (0..4).map(|k| (x[(i, k)] - x[(j, k)]).powi(2)).sum();
        (-0.3 * square).exp()
    })
}

/// ±1 with both signs.
pub(super) fn labels(n: usize, seed: u64) -> Vec<f64> {
    let values = synth::gaussian::<f64>(n, 1, seed ^ 0x5f);
    (0..n).map(|i| if i == 0 || (i > 1 && values[(i, 0)] > 0.2) { 1.0 } else { -1.0 }).collect()
}

fn solve(machine: CSvm, k: &Mat<f64>, y: &[f64]) -> SvmSolution {
    let operator = DenseOperator::Borrowed(k.as_ref());
    machine.solve(&RowCache::new(&operator, 1 << 20).unwrap(), &Part::all(y), &Run::default()).unwrap()
}

pub(super) fn times(k: &Mat<f64>, c: &[f64]) -> Vec<f64> {
    (0..c.len()).map(|i| (0..c.len()).map(|j| k[(i, j)] * c[j]).sum()).collect()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn dual(k: &Mat<f64>, y: &[f64], c: &[f64]) -> f64 {
    dot(y, c) - 0.5 * dot(c, &times(k, c))
}

/// ½·cᵀKc + C·Σ max(0, 1 − y·f).
fn primal(k: &Mat<f64>, y: &[f64], found: &SvmSolution, penalty: f64) -> f64 {
    let f = times(k, &found.coefficients);
    let loss: f64 = f.iter().zip(y).map(|(f, y)| (1.0 - y * (f + found.bias)).max(0.0)).sum();
    0.5 * dot(&found.coefficients, &f) + penalty * loss
}

/// The nearest point with 1ᵀc = 0 and every c between 0 and C·y, by bisection on the shift.
fn projected(c: &[f64], y: &[f64], penalty: f64) -> Vec<f64> {
    let at = |shift: f64| -> Vec<f64> {
        c.iter().zip(y).map(|(c, y)| (c - shift).clamp((penalty * y).min(0.0), (penalty * y).max(0.0))).collect()
    };
    let most = c.iter().map(|v| v.abs()).fold(penalty, f64::max) * 2.0;
    let (mut low, mut high) = (-most, most);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if at(middle).iter().sum::<f64>() > 0.0 { low = middle } else { high = middle }
    }
    at(0.5 * (low + high))
}

/// Projected gradient steps of the safe length 1/n for a kernel of entries up to 1.
fn naive(k: &Mat<f64>, y: &[f64], penalty: f64) -> Vec<f64> {
    let mut c = vec![0.0; y.len()];
    for _ in 0..4000 {
        let f = times(k, &c);
        let next: Vec<f64> = (0..c.len()).map(|i| c[i] + (y[i] - f[i]) / y.len() as f64).collect();
        c = projected(&next, y, penalty);
    }
    c
}

/// max {r_i : c_i may grow} − min {r_j : c_j may shrink}.
fn violation(k: &Mat<f64>, y: &[f64], c: &[f64], penalty: f64) -> f64 {
    let f = times(k, c);
    let residual = |i: usize| y[i] - f[i];
    let grow = (0..y.len()).filter(|&i| c[i] < (penalty * y[i]).max(0.0)).map(residual);
    let shrink = (0..y.len()).filter(|&i| c[i] > (penalty * y[i]).min(0.0)).map(residual);
    (grow.fold(f64::NEG_INFINITY, f64::max) - shrink.fold(f64::INFINITY, f64::min)).max(0.0)
}

fn within_bounds(found: &SvmSolution, y: &[f64], penalty: f64) -> bool {
    let sum: f64 = found.coefficients.iter().sum();
    let inside = |(c, y): (&f64, &f64)| (0.0..=penalty).contains(&(c * y));
    sum.abs() < 1e-9 * penalty * y.len() as f64 && found.coefficients.iter().zip(y).all(inside)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_duality_gap_closes_and_the_projected_gradient_finds_no_better(
        n in 4usize..18, penalty in 0.05..5.0, seed: u64,
    ) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let found = solve(CSvm { tol: 1e-7, ..CSvm::new(penalty) }, &k, &y);
        prop_assert!(found.verdict.converged() && within_bounds(&found, &y, penalty), "{found:?}");
        let (best, above) = (dual(&k, &y, &found.coefficients), primal(&k, &y, &found, penalty));
        prop_assert!((above - best).abs() < 1e-6 * (1.0 + above), "dual {best}, primal {above}");
        let twin = dual(&k, &y, &naive(&k, &y, penalty));
        prop_assert!(best >= twin - 1e-9 && best - twin < 1e-3 * (1.0 + best), "smo {best}, twin {twin}");
    }

    #[test]
    fn shrinking_and_a_cache_of_two_rows_change_nothing(n in 20usize..60, penalty in 0.05..50.0, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let machine = CSvm { tol: 1e-8, ..CSvm::new(penalty) };
        let plain = solve(CSvm { shrink: false, ..machine }, &k, &y);
        let operator = DenseOperator::Borrowed(k.as_ref());
        let rows = RowCache::new(&operator, 0).unwrap();
        let shrunk = machine.solve(&rows, &Part::all(&y), &Run::default()).unwrap();
        prop_assert!(plain.verdict.converged() && shrunk.verdict.converged());
        let (a, b) = (dual(&k, &y, &plain.coefficients), dual(&k, &y, &shrunk.coefficients));
        prop_assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{a} {b}");
        prop_assert!((plain.bias - shrunk.bias).abs() < 1e-4, "{} {}", plain.bias, shrunk.bias);
    }

    #[test]
    fn indefinite_kernels_end_at_a_stationary_point(n in 4usize..40, penalty in 0.1..10.0, seed: u64) {
        let half = synth::gaussian::<f64>(n, n, seed);
        let (k, y) = (&half + half.transpose(), labels(n, seed));
        let found = solve(CSvm { max_steps: Some(100_000), ..CSvm::new(penalty) }, &k, &y);
        prop_assert!(found.verdict.converged() == (found.verdict.left() <= 1e-3) && within_bounds(&found, &y, penalty));
        let violation = violation(&k, &y, &found.coefficients, penalty);
        prop_assert!((violation - found.verdict.left()).abs() < 1e-6 * (1.0 + found.verdict.left()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_chunk_without_room_for_all_support_vectors_ends_at_the_same_optimum(
        n in 300usize..400, penalty in 0.1..5.0, seed: u64,
    ) {
        let (k, y) = (kernel(n, seed), labels(n, seed));
        let machine = CSvm { tol: 1e-6, ..CSvm::new(penalty) };
        let plain = solve(CSvm { shrink: false, ..machine }, &k, &y);
        let operator = DenseOperator::Borrowed(k.as_ref());
        let rows = RowCache::new(&operator, 0).unwrap();
        let crowded = machine.solve(&rows, &Part::all(&y), &Run::default()).unwrap();
        prop_assert!(plain.verdict.converged() && crowded.verdict.converged() && within_bounds(&crowded, &y, penalty));
        prop_assert!(crowded.coefficients.iter().filter(|c| **c != 0.0).count() > 128, "more than a chunk has room for");
        prop_assert!(violation(&k, &y, &crowded.coefficients, penalty) < 2e-6);
        let (a, b) = (dual(&k, &y, &plain.coefficients), dual(&k, &y, &crowded.coefficients));
        prop_assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{a} {b}");
    }

    #[test]
    fn a_kernel_in_single_precision_keeps_the_optimality_conditions(
        n in 80usize..200, penalty in 0.1..5.0, shift in -50.0..50.0, seed: u64,
    ) {
        let x = synth::gaussian::<f64>(n, 4, seed);
        let samples = Samples::Dense(Mat::from_fn(n, 4, |i, j| x[(i, j)] + shift));
        let (k, y, machine) = (kernel(n, seed), labels(n, seed), CSvm::new(penalty));
        let rbf = KernelSpec::new("rbf").with("gamma", 0.3).build::<f64>().unwrap();
        let accuracy = machine.tol / (2.0 * penalty * (n as f64).sqrt());
        let matrix = KernelMatrix { once: true, accuracy, ..KernelMatrix::new(&*rbf, samples.as_ref(), samples.as_ref()) };
        let built = matrix.build().unwrap();
        let rows = RowCache::new(&*built.operator, 1 << 20).unwrap();
        let found = machine.solve(&rows, &Part::all(&y), &Run::default()).unwrap();
        prop_assert!(found.verdict.converged() && violation(&k, &y, &found.coefficients, penalty) < 1.25 * machine.tol);
        let all: Vec<usize> = (0..n).collect();
        let mut block = Mat::zeros(n, n);
        built.operator.block(&all, &all, block.as_mut()).unwrap();
        let off = (&block - &k).norm_max();
        prop_assert!(off > 1e-12 && off <= accuracy, "{off} of {accuracy}");
    }
}

#[test]
fn degenerate_problems_end() {
    let twins = Mat::from_fn(6, 6, |_, _| 1.0);
    let y = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0];
    for penalty in [1e-9, 1.0, 1e9] {
        let found = solve(CSvm { max_steps: Some(10_000), ..CSvm::new(penalty) }, &twins, &y);
        assert!(within_bounds(&found, &y, penalty) && found.bias.is_finite(), "{penalty}: {found:?}");
        let pair = solve(CSvm::new(penalty), &kernel(2, 3), &[1.0, -1.0]);
        assert!(pair.verdict.converged() && pair.bias.abs() < 1e-12, "{penalty}: {pair:?}");
    }
    let alone = solve(CSvm::new(1.0), &kernel(4, 1), &[-1.0; 4]);
    assert_eq!((alone.coefficients, alone.bias, alone.verdict.converged()), (vec![0.0; 4], -1.0, true));
}

#[test]
fn a_search_cut_short_says_so() {
    let (k, y) = (kernel(60, 4), labels(60, 4));
    let found = solve(CSvm { max_steps: Some(3), ..CSvm::new(100.0) }, &k, &y);
    assert!(!found.verdict.converged() && found.steps == 3 && found.verdict.left() > 1e-3);
    let operator = DenseOperator::Borrowed(k.as_ref());
    let rows = RowCache::new(&operator, 1 << 20).unwrap();
    let run = Run::default();
    assert!(matches!(CSvm::new(0.0).solve(&rows, &Part::all(&y), &run), Err(Error::Param { .. })));
    let short = Part { y: y[1..].to_vec(), ..Part::all(&y) };
    assert!(matches!(CSvm::new(1.0).solve(&rows, &short, &run), Err(Error::Shape { .. })));
}

/// Two classes told apart by an asymmetric matrix.
fn data(n: usize) -> (Dataset<f64>, Mat<f64>) {
    let (x, classes) = synth::clusters::<f64>(n, 3, 3, 8);
    let skew = synth::gaussian::<f64>(3, 3, 9);
    let k = &x * (Mat::<f64>::identity(3, 3) + skew * faer::Scale(0.3)) * x.transpose();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let y = Some(Target::Classes { names, codes: classes.into_iter().map(Some).collect() });
    (Dataset { y, ..Dataset::new(Samples::Dense(k.clone())) }, k)
}

#[test]
fn the_function_in_coefficients_of_k_is_that_of_the_symmetrised_kernel() {
    let (data, k) = data(40);
    let Some(Target::Classes { codes, .. }) = &data.y else { panic!("no classes") };
    let of = |kind| match kind {
        Symmetrize::Average => (&k + k.transpose()) * faer::Scale(0.5),
        Symmetrize::Columns => k.transpose() * &k,
        Symmetrize::Rows => &k * k.transpose(),
    };
    for kind in [Symmetrize::Average, Symmetrize::Columns, Symmetrize::Rows] {
        let model = Svm::new("precomputed").with_symmetrize(kind).fit(data.clone(), &Run::default()).unwrap();
        let decision = model.decision(&data, &Run::default()).unwrap();
        for class in 0..3u32 {
            let y: Vec<f64> = codes.iter().map(|c| if *c == Some(class) { 1.0 } else { -1.0 }).collect();
            let symmetric = of(kind);
            let found = solve(CSvm::new(1.0), &symmetric, &y);
            let f = times(&symmetric, &found.coefficients);
            let size = f.iter().map(|v| v.abs()).fold(1.0, f64::max);
            for i in 0..40 {
                assert!((decision[(i, class as usize)] - f[i] - found.bias).abs() < 1e-2 * size, "{kind:?}");
            }
        }
    }
}

#[test]
fn values_are_refused() {
    let data = Dataset { y: Some(Target::Values(vec![0.5; 40])), ..data(40).0 };
    let error = Svm::new("precomputed").fit(data, &Run::default()).err().unwrap();
    assert!(error.to_string().contains("classes for `svm`"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// 1ᵀc = 0 and the bounds survive scaling, so the solution for one penalty starts the next.
    #[test]
    fn a_search_from_another_penalty_ends_at_the_same_solution(seed in 0u64..1000, old in 0.1f64..10.0, new in 0.1f64..10.0) {
        let (k, y) = (kernel(40, seed), labels(40, seed));
        let machine = |penalty: f64| CSvm { tol: 1e-9, ..CSvm::new(penalty) };
        let (before, cold) = (solve(machine(old), &k, &y), solve(machine(new), &k, &y));
        let start: Vec<f64> = before.coefficients.iter().map(|c| c * new / old).collect();
        let operator = DenseOperator::Borrowed(k.as_ref());
        let rows = RowCache::new(&operator, 1 << 20).unwrap();
        let warm = machine(new).solve_from(&rows, &Part::all(&y), Some(&start), &Run::default()).unwrap();
        prop_assert!(warm.verdict.converged() && within_bounds(&warm, &y, new));
        prop_assert!((dual(&k, &y, &warm.coefficients) - dual(&k, &y, &cold.coefficients)).abs() < 1e-7);
        prop_assert!(warm.coefficients.iter().zip(&cold.coefficients).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}

#[test]
fn penalties_validated_together_score_as_alone() {
    let (data, _) = data(60);
    let folds: Vec<Vec<usize>> = (0..3).map(|f| (0..60).filter(|i| i % 3 == f).collect()).collect();
    let points: Vec<Settings> = [0.1, 1.0, 10.0].iter().map(|c| Settings::default().with("penalty", *c)).collect();
    for way in [MultiClass::OneVsOne, MultiClass::OneVsRest] {
        let machine = Svm::new("precomputed").with_tol(1e-9).with_multi_class(way);
        let validate =
            |points: &[Settings]| Estimator::<f64>::validate(&machine, &data, points, &folds, &Run::default()).unwrap();
        let alone: Vec<Vec<f64>> = points.iter().flat_map(|point| validate(std::slice::from_ref(point))).collect();
        assert_eq!(validate(&points), alone, "{way}");
    }
}

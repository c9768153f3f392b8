//! `auto` on both sides of every threshold, and the gate.

use super::gate::Equations;
use super::*;
use crate::data::synth;

const RUN: fn() -> Run = Run::default;

/// A smooth symmetric kernel, a random asymmetric one, and a sparse one with many equal singular values.
fn kernels(n: usize, seed: u64) -> [(Mat<f64>, bool, f64); 4] {
    let x = synth::gaussian::<f64>(n, 3, seed);
    let distance = |i: usize, j: usize| (0..3).map(|k| (x[(i, k)] - x[(j, k)]).powi(2)).sum::<f64>();
    let smooth = Mat::from_fn(n, n, |i, j| (-0.2 * distance(i, j)).exp());
    let random = synth::gaussian::<f64>(n, n, seed ^ 1) * faer::Scale(1.0 / (n as f64).sqrt());
    let links = Mat::from_fn(n, n, |i, j| f64::from((3 * i + 1) % n == j || i == j || (i * i + 7) % n == j) / 3.0);
    [(smooth.clone(), true, 1.0), (smooth, true, 100.0), (random.clone(), false, 0.3), (random, false, 3.0)]
        .map(|(k, symmetric, penalty)| (if penalty == 0.3 { &k + &links } else { k }, symmetric, penalty))
}

fn labels(n: usize) -> Mat<f64> {
    Mat::from_fn(n, 3, |i, c| if (i * (c + 2) + i / 3) % 3 == c { 1.0 } else { -1.0 })
}

#[test]
fn auto_gives_one_answer_on_both_sides_of_every_threshold() {
    for n in [40, 90] {
        for (k, symmetric, penalty) in kernels(n, n as u64) {
            let (operator, y) = (DenseOperator::Borrowed(k.as_ref()), labels(n));
            let system = CoupledSystem { penalty, symmetric, ..CoupledSystem::default() };
            let exact = CoupledSystem { route: Route::Svd, ..system }.solve(&operator, y.as_ref(), &RUN()).unwrap();
            let mut routes = Vec::new();
            for (krylov, dense, factored) in
                [(n, n, n), (n + 1, n, n), (n + 1, n - 1, n), (n + 1, n - 1, n - 1), (n, n - 1, n)]
            {
                let limits = Limits { krylov, dense, factored, complete: n };
                let found = system.solve_within(&operator, y.as_ref(), &RUN(), &limits).unwrap();
                let report = &found.report;
                assert!(report.converged() && report.warnings.is_empty(), "{limits:?}: {report:?}");
                let near = 1e-13 * exact.report.condition.max(1e3) * (1.0 + exact.a.norm_max());
                assert!((&found.a - &exact.a).norm_max() < near, "{limits:?}: {report:?}, {:?}", exact.report);
                assert!((&found.b - &exact.b).norm_max() < near, "{limits:?}: {report:?}");
                routes.push(report.route.clone());
            }
            assert_eq!(routes[1], "dense");
            assert_eq!(routes[3], "minres");
        }
    }
}

/// Columns far from 0 give K large means, which a sum of coefficients that is not quite 0 would bring into every decision.
#[test]
fn large_means_of_the_kernel_do_not_spoil_decisions() {
    let (n, y, penalty) = (90, labels(90), 1e4);
    let near = synth::gaussian::<f64>(n, 4, 11);
    let far = Mat::from_fn(n, 4, |i, j| 300.0 * (j + 1) as f64 + near[(i, j)]);
    let tilted = Mat::from_fn(n, 4, |i, j| far[(i, j)] + 0.1 * near[(i, (j + 1) % 4)]);
    for (k, symmetric) in [(&far * far.transpose(), true), (&far * tilted.transpose(), false)] {
        let operator = DenseOperator::Borrowed(k.as_ref());
        for (_, route) in ROUTES.iter().filter(|(_, route)| *route != Route::Lsmr) {
            let system = CoupledSystem { penalty, symmetric, route: *route, ..CoupledSystem::default() };
            let found = system.solve(&operator, y.as_ref(), &RUN()).unwrap();
            assert!(found.report.converged(), "{route:?}: {:?}", found.report);
            let decided = &k * &found.b;
            let missing =
                |i: usize, c: usize| y[(i, c)] - found.a[(i, c)] / penalty - decided[(i, c)] - found.bias_source[c];
            let worst = Mat::from_fn(n, 3, missing).norm_max();
            assert!(worst < 1e-3, "{route:?}, symmetric {symmetric}: {worst:e}, {:?}", found.report);
        }
    }
}

/// The residual falls by less than half in 50 steps although the condition number is far from 1e10.
#[test]
fn an_unfinished_iteration_is_not_converged_and_never_singular() {
    let (n, y) = (120, labels(120));
    let random = synth::gaussian::<f64>(n, n, 5) * faer::Scale(1.0 / (n as f64).sqrt());
    let operator = DenseOperator::Borrowed(random.as_ref());
    let system = CoupledSystem { penalty: 3.0, ..CoupledSystem::default() };
    let (means, run) = (Means::of(&operator).unwrap(), RUN());
    let centered = Centered::new(&operator, means);
    let problem = system.problem(&centered, y.as_ref(), &run);
    let short = problem.gate(minres::solve(&problem, 60).unwrap(), "").unwrap().report;
    assert!(!short.converged() && short.route == "minres" && short.condition < SINGULAR, "{short:?}");
    assert!(short.residual > 1e-3 && short.warnings[0].contains("residual"), "{short:?}");
    let long = problem.gate(minres::solve(&problem, minres::most(&problem)).unwrap(), "").unwrap().report;
    assert!(long.converged() && long.warnings.is_empty(), "{long:?}");
}

/// Directions that M takes to 0 have no length in MINRES' account, and dividing by it would lose everything.
#[test]
fn minres_shows_a_singular_system_and_damps_it() {
    let n = 40;
    let sides = [1, 2].map(|seed| {
        let random = centred(synth::gaussian::<f64>(n, n - 2, seed).as_ref());
        crate::base::linalg::orthonormalize(random.as_ref(), 0.0).unwrap().q
    });
    for first in [vec![5.0, 2.0, 2.0], vec![2.0], vec![9.0, 2.0, 1e-3]] {
        let sigma = |k: usize| first.get(k).copied().unwrap_or(0.1 + 1.3 * k as f64 / n as f64);
        let scaled = Mat::from_fn(n, sides[0].ncols(), |i, k| sides[0][(i, k)] * sigma(k));
        let k = scaled * sides[1].transpose();
        let (operator, y) = (DenseOperator::Borrowed(k.as_ref()), labels(n));
        let limits = Limits { krylov: n + 1, dense: 1, factored: 1, complete: 1 };
        let system = CoupledSystem { penalty: 0.5, route: Route::Minres, ..CoupledSystem::default() };
        let found = system.solve_within(&operator, y.as_ref(), &RUN(), &limits).unwrap();
        let exact = CoupledSystem { route: Route::Svd, ..system }.solve(&operator, y.as_ref(), &RUN()).unwrap();
        let report = &found.report;
        assert!(report.converged() && report.warnings[0].contains("singular"), "{first:?}: {report:?}");
        assert!((&found.a - &exact.a).norm_max() < 1e-8, "{first:?}: {report:?}");
    }
}

#[test]
fn the_gate_believes_nothing_but_its_own_products() {
    let (k, y) = (synth::gaussian::<f64>(30, 30, 8) * faer::Scale(0.1), labels(30));
    let operator = DenseOperator::Borrowed(k.as_ref());
    let (system, run) = (CoupledSystem::default(), RUN());
    let centered = Centered::new(&operator, Means::of(&operator).unwrap());
    let problem = system.problem(&centered, y.as_ref(), &run);
    let of = |change: f64, equations: Equations| {
        let mut found = dense::solve(&problem).unwrap();
        found.a[(3, 1)] += change;
        found.account.equations = equations;
        problem.gate(found, "").unwrap().report
    };
    assert!(of(0.0, Equations::Asked).converged());
    assert!(!of(1e-6, Equations::Asked).converged());
    assert!(!of(f64::NAN, Equations::Asked).converged());
    assert!(!of(0.0, Equations::Damped(1.0)).converged());
    assert!(of(0.0, Equations::Damped(0.0)).converged());
}

/// Targets that do not touch what M takes to 0 hide that it is singular; the random vector shows it.
#[test]
fn lsmr_refuses_a_singular_system_whatever_the_targets() {
    let n = 12;
    let ring = Mat::from_fn(n, n, |i, j| f64::from((i + 1) % n == j));
    let operator = DenseOperator::Borrowed(ring.as_ref());
    let system = CoupledSystem { on_singular: OnSingular::Error, route: Route::Lsmr, ..CoupledSystem::default() };
    let halves = Mat::from_fn(n, 1, |i, _| if i < n / 2 { 1.0 } else { -1.0 });
    let ones = Mat::from_fn(n, 1, |_, _| 1.0);
    for y in [&halves, &ones] {
        let error = system.solve(&operator, y.as_ref(), &RUN()).unwrap_err();
        assert!(matches!(error, Error::Singular { .. }), "{error}");
    }
    let other = CoupledSystem { penalty: 0.7, ..system }.solve(&operator, halves.as_ref(), &RUN()).unwrap();
    let dense = CoupledSystem { penalty: 0.7, ..CoupledSystem::default() };
    let dense = dense.solve(&operator, halves.as_ref(), &RUN()).unwrap();
    assert!(other.report.converged() && (other.a - dense.a).norm_max() < 1e-8);
}

#[test]
fn the_largest_singular_value_is_that_of_the_complete_decomposition() {
    for (k, symmetric, _) in kernels(70, 3) {
        let operator = DenseOperator::Borrowed(k.as_ref());
        let centered = Centered::new(&operator, Means::of(&operator).unwrap());
        let exact = Spectral::complete(&centered, symmetric).unwrap().sigma()[0];
        let found = largest_singular_value(&operator, &RUN()).unwrap();
        assert!(found <= exact * (1.0 + 1e-12) && found > exact * (1.0 - 1e-3), "{found}, {exact}");
    }
}

/// A smooth kernel of samples some of which are equal.
fn with_duplicates(n: usize, seed: u64) -> Mat<f64> {
    let x = synth::gaussian::<f64>(n, 3, seed);
    let place = |i: usize| if i.is_multiple_of(4) { i / 8 } else { i };
    let distance = |i: usize, j: usize| (0..3).map(|k| (x[(place(i), k)] - x[(place(j), k)]).powi(2)).sum::<f64>();
    Mat::from_fn(n, n, |i, j| (-0.05 * distance(i, j)).exp())
}

#[test]
fn landmarks_solve_what_the_decomposition_solves_also_where_samples_repeat() {
    for (n, seed) in [(80, 1), (150, 2), (230, 3)] {
        let (k, y) = (with_duplicates(n, seed), labels(n));
        let operator = DenseOperator::Borrowed(k.as_ref());
        let limits = Limits { krylov: n + 1, dense: 1, factored: 1, complete: 1 };
        for penalty in [0.1, 10.0, 1e3, 1e6] {
            let system = CoupledSystem { penalty, symmetric: true, ..CoupledSystem::default() };
            let exact = CoupledSystem { route: Route::Svd, ..system }.solve(&operator, y.as_ref(), &RUN()).unwrap();
            let found = system.solve_within(&operator, y.as_ref(), &RUN(), &limits).unwrap();
            let report = &found.report;
            assert!(report.route == "minres" && report.converged(), "penalty {penalty}: {report:?}");
            let near = 1e-9 * exact.report.condition.max(1.0) * exact.a.norm_max();
            assert!(
                (&found.a - &exact.a).norm_max() < near.min(1e-4 * exact.a.norm_max()),
                "penalty {penalty}: {report:?}"
            );
        }
    }
}

#[test]
fn one_set_of_landmarks_serves_every_penalty() {
    let n = 160;
    let (k, y) = (with_duplicates(n, 7), labels(n));
    let operator = DenseOperator::Borrowed(k.as_ref());
    let limits = Limits { krylov: 1, dense: 1, factored: 1, complete: 1 };
    let mut path = PenaltyPath::within(&operator, y.as_ref(), 8, true, limits).unwrap();
    for penalty in [1e3, 0.1, 10.0] {
        let system = CoupledSystem { penalty, symmetric: true, ..CoupledSystem::default() };
        let alone = system.solve_within(&operator, y.as_ref(), &RUN(), &limits).unwrap();
        let found = path.solve(&system, &RUN()).unwrap();
        assert!(found.report.route == "minres" && found.report.converged(), "{:?}", found.report);
        assert_eq!((found.a, found.bias_source), (alone.a, alone.bias_source));
    }
}

fn dealt(n: usize, parts: usize) -> Vec<Vec<usize>> {
    (0..parts).map(|part| (0..n).filter(|i| (i * 7 + i / 5) % parts == part).collect()).collect()
}

#[test]
fn parts_at_once_are_what_each_is_alone() {
    let (n, parts) = (90, dealt(90, 5));
    let limits = Limits { krylov: 1, dense: 1, factored: 1, complete: 1 };
    for (k, _, penalty) in kernels(n, 11) {
        for penalty in [0.02 * penalty, penalty] {
            let (operator, y) = (DenseOperator::Borrowed(k.as_ref()), labels(n));
            let system = CoupledSystem { penalty, ..CoupledSystem::default() };
            let all = system.solve_parts(&operator, y.as_ref(), &parts, &RUN(), &limits).unwrap().unwrap();
            for (part, found) in parts.iter().zip(all) {
                let rest: Vec<usize> = (0..n).filter(|i| !part.contains(i)).collect();
                let block = operator::Submatrix::new(&operator, Some(&rest), Some(&rest));
                let own = Mat::from_fn(rest.len(), y.ncols(), |i, c| y[(rest[i], c)]);
                let alone = CoupledSystem { route: Route::Svd, ..system }.solve(&block, own.as_ref(), &RUN()).unwrap();
                let near = 1e-9 * alone.report.condition.max(1.0) * (1.0 + alone.a.norm_max());
                let picked = |m: &Mat<f64>| Mat::from_fn(rest.len(), m.ncols(), |i, c| m[(rest[i], c)]);
                assert!((picked(&found.a) - &alone.a).norm_max() < near, "{:?}", found.report);
                assert!((picked(&found.b) - &alone.b).norm_max() < near, "{:?}", found.report);
                assert!(part.iter().all(|&i| (0..y.ncols()).all(|c| found.a[(i, c)] == 0.0 && found.b[(i, c)] == 0.0)));
                let biases = found.bias_source.iter().chain(&found.bias_target);
                let expected = alone.bias_source.iter().chain(&alone.bias_target);
                assert!(biases.zip(expected).all(|(b, e)| (b - e).abs() < near * (1.0 + k.norm_max() * n as f64)));
            }
        }
    }
}

/// Every system without a part of the identity has σ = 1 = 1/penalty: it is said, and damped as asked for.
#[test]
fn singular_parts_are_said() {
    let (n, parts) = (40, dealt(40, 4));
    let k = Mat::<f64>::identity(n, n);
    let (operator, y) = (DenseOperator::Borrowed(k.as_ref()), labels(n));
    let limits = Limits { krylov: 1, dense: 1, factored: 1, complete: 1 };
    let system = CoupledSystem { penalty: 1.0, ..CoupledSystem::default() };
    let found = system.solve_parts(&operator, y.as_ref(), &parts, &RUN(), &limits).unwrap().unwrap();
    assert!(found[0].report.warnings[0].contains("singular"), "{:?}", found[0].report);
    let kept: Vec<usize> = (0..n).filter(|i| !parts[0].contains(i)).collect();
    let mean = kept.iter().map(|&i| y[(i, 0)]).sum::<f64>() / kept.len() as f64;
    assert!(kept.iter().all(|&i| (found[0].a[(i, 0)] - 0.4 * (y[(i, 0)] - mean)).abs() < 1e-8)); // h/(h² + 1) for h = 2
    let refuses = CoupledSystem { on_singular: OnSingular::Error, ..system };
    let error = refuses.solve_parts(&operator, y.as_ref(), &parts, &RUN(), &limits).unwrap_err();
    assert!(matches!(error, Error::Singular { .. }), "{error}");
}

/// Tiles that are evaluated in every product, in both precisions, with any number of threads.
#[test]
fn products_give_the_same_bits_for_any_number_of_threads() {
    fn solved<T: crate::Scalar>(threads: usize) -> (Mat<f64>, Mat<f64>) {
        let (n, x) = (600, crate::Samples::Dense(synth::gaussian::<T>(600, 3, 9)));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let limits = Limits { krylov: n + 1, dense: 1, factored: 1, complete: 1 };
        let of = |name: &str, symmetric: bool| {
            let kernel = crate::kernel::KernelSpec::new(name).with("gamma", 0.2).build::<T>().unwrap();
            let choice = operator::OperatorChoice::Tiles;
            let matrix =
                operator::KernelMatrix { choice, ..operator::KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()) };
            let built = matrix.build().unwrap();
            let k = operator::Widened(&*built.operator);
            let system = CoupledSystem { penalty: 5.0, symmetric, ..CoupledSystem::default() };
            if symmetric {
                return system.solve_within(&k, labels(n).as_ref(), &RUN(), &limits).unwrap();
            }
            system.solve_parts(&k, labels(n).as_ref(), &dealt(n, 3), &RUN(), &limits).unwrap().unwrap().remove(1)
        };
        pool.install(|| {
            let (one, other) = (of("rbf", true), of("sne", false));
            assert!(one.report.converged() && other.report.converged(), "{:?}, {:?}", one.report, other.report);
            (one.a, other.b)
        })
    }
    let (wide, narrow) = (solved::<f64>(1), solved::<f32>(1));
    assert!((&wide.0 - &narrow.0).norm_max() < 1e-3 * wide.0.norm_max());
    for threads in [2, 5] {
        assert_eq!(solved::<f64>(threads), wide);
        assert_eq!(solved::<f32>(threads), narrow);
    }
}

/// More iterations than triplets cost: more triplets are found on the way, and the answer is that of the decomposition.
#[test]
fn more_triplets_on_the_way_change_nothing_but_the_time() {
    let n = 600;
    let k = synth::gaussian::<f64>(n, n, 3) * faer::Scale(1.0 / (n as f64).sqrt());
    let (operator, y) = (DenseOperator::Borrowed(k.as_ref()), labels(n));
    let system = CoupledSystem { penalty: 3.0, route: Route::Minres, ..CoupledSystem::default() };
    let found = system.solve(&operator, y.as_ref(), &RUN()).unwrap();
    let exact = CoupledSystem { route: Route::Svd, ..system }.solve(&operator, y.as_ref(), &RUN()).unwrap();
    assert!(found.report.converged() && found.report.route == "minres", "{:?}", found.report);
    assert!(found.report.iterations > 6 * 1024 / (2 * (3 + 16)), "{:?}", found.report);
    let near = 1e-9 * exact.report.condition * exact.a.norm_max();
    assert!((&found.a - &exact.a).norm_max() < near && (&found.b - &exact.b).norm_max() < near);
}

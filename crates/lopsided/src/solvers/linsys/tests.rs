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

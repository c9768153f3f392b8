//! The coupled system of AsK-LS: all routes against the bordered system in the plainest form.

use faer::linalg::solvers::Solve;
use lopsided::data::synth;
use lopsided::estimators::{AskLs, Gram, Model};
use lopsided::kernel::Gamma;
use lopsided::operator::DenseOperator;
use lopsided::solvers::linsys::{CoupledSolution, CoupledSystem, OnSingular, PenaltyPath, Route};
use lopsided::{Dataset, Error, Mat, Run, Samples, Target};
use proptest::prelude::*;

const ROUTES: [Route; 4] = [Route::Svd, Route::Dense, Route::Krylov, Route::Minres];

fn kernel(n: usize, seed: u64) -> Mat<f64> {
    synth::gaussian::<f64>(n, n, seed) * faer::Scale(1.0 / (n as f64).sqrt())
}

/// ±1 with both signs.
fn labels(n: usize, classes: usize, seed: u64) -> Mat<f64> {
    let values = synth::gaussian::<f64>(n, classes, seed ^ 0x4d);
    Mat::from_fn(n, classes, |i, c| if i == c || values[(i, c)] > 0.3 { 1.0 } else { -1.0 })
}

fn solve(system: CoupledSystem, k: &Mat<f64>, y: &Mat<f64>) -> lopsided::Result<CoupledSolution> {
    system.solve(&DenseOperator::Borrowed(k.as_ref()), y.as_ref(), &Run::default())
}

/// \[AsKLS\] Eq. (6) with its labels: unknowns β_s, β_t, α, β, one class. Gives a = α∘y, b = β∘y and both biases.
fn bordered(k: &Mat<f64>, y: &Mat<f64>, class: usize, penalty: f64) -> (Vec<f64>, Vec<f64>, f64, f64) {
    let n = k.nrows();
    let label = |i: usize| y[(i, class)];
    let mut m = Mat::<f64>::zeros(2 * n + 2, 2 * n + 2);
    let mut rhs = Mat::<f64>::zeros(2 * n + 2, 1);
    for i in 0..n {
        (m[(0, 2 + i)], m[(1, 2 + n + i)]) = (label(i), label(i));
        (m[(2 + i, 0)], m[(2 + n + i, 1)]) = (label(i), label(i));
        (m[(2 + i, 2 + i)], m[(2 + n + i, 2 + n + i)]) = (1.0 / penalty, 1.0 / penalty);
        (rhs[(2 + i, 0)], rhs[(2 + n + i, 0)]) = (1.0, 1.0);
        for j in 0..n {
            m[(2 + i, 2 + n + j)] = label(i) * k[(i, j)] * label(j);
            m[(2 + n + j, 2 + i)] = label(i) * k[(i, j)] * label(j);
        }
    }
    let x = m.partial_piv_lu().solve(&rhs);
    let part = |start: usize| (0..n).map(|i| x[(start + i, 0)] * label(i)).collect();
    (part(2), part(2 + n), x[(0, 0)], x[(1, 0)])
}

/// \[AsKLS\] Eq. (4) without its constraints: wᵀv + γ/2·Σ (y − f_s)² + γ/2·Σ (y − f_t)² at (w, β_s, v, β_t), with
/// f_s(x) = wᵀφ_s(x) + β_s and f_t(x) = vᵀφ_t(x) + β_t.
fn primal(at: &[f64], source: &Mat<f64>, target: &Mat<f64>, y: &Mat<f64>, penalty: f64) -> f64 {
    let d = source.ncols();
    let (w, v) = at.split_at(d + 1);
    let errors = |features: &Mat<f64>, w: &[f64]| -> f64 {
        let value = |i: usize| (0..d).map(|k| features[(i, k)] * w[k]).sum::<f64>() + w[d];
        (0..y.nrows()).map(|i| (y[(i, 0)] - value(i)).powi(2)).sum()
    };
    let between: f64 = w[..d].iter().zip(&v[..d]).map(|(w, v)| w * v).sum();
    between + 0.5 * penalty * (errors(source, w) + errors(target, v))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_solution_is_a_stationary_point_of_the_primal(n in 4usize..25, d in 1usize..6, penalty in 0.05..3.0, seed: u64) {
        let features = |stream: u64| synth::gaussian::<f64>(n, d, seed ^ stream) * faer::Scale(0.5 / (n as f64).sqrt());
        let (source, target, y) = (features(1), features(2), labels(n, 1, seed));
        let k = &source * target.transpose();
        let found = solve(CoupledSystem { penalty, ..Default::default() }, &k, &y).unwrap();
        prop_assume!(found.report.condition < 1e4);
        let (w, v) = (target.transpose() * &found.b, source.transpose() * &found.a);
        let mut at: Vec<f64> = w.col(0).iter().copied().collect();
        at.push(found.bias_source[0]);
        at.extend(v.col(0).iter());
        at.push(found.bias_target[0]);
        for k in 0..at.len() {
            // The primal is quadratic, so central differences have no error but rounding.
            let moved = |step: f64| {
                let mut at = at.clone();
                at[k] += step;
                primal(&at, &source, &target, &y, penalty)
            };
            let slope = (moved(0.5) - moved(-0.5)).abs();
            prop_assert!(slope < 1e-8 * (1.0 + moved(0.0).abs()), "{k}: {slope}");
        }
    }

    #[test]
    fn all_routes_solve_the_bordered_system_of_the_paper(n in 4usize..30, penalty in 0.05..3.0, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, 3, seed));
        let reference = solve(CoupledSystem { penalty, route: Route::Svd, ..Default::default() }, &k, &y).unwrap();
        prop_assume!(reference.report.condition < 1e4);
        for route in ROUTES {
            let found = solve(CoupledSystem { penalty, route, ..Default::default() }, &k, &y).unwrap();
            prop_assert!(found.report.warnings.is_empty(), "{route:?}: {:?}", found.report);
            prop_assert!(found.report.residual < 1e-9, "{route:?}: {:?}", found.report);
            for class in 0..3 {
                let (a, b, source, target) = bordered(&k, &y, class, penalty);
                for i in 0..n {
                    prop_assert!((found.a[(i, class)] - a[i]).abs() < 1e-8 * (1.0 + a[i].abs()), "{route:?}");
                    prop_assert!((found.b[(i, class)] - b[i]).abs() < 1e-8 * (1.0 + b[i].abs()), "{route:?}");
                }
                prop_assert!((found.bias_source[class] - source).abs() < 1e-8 * (1.0 + source.abs()));
                prop_assert!((found.bias_target[class] - target).abs() < 1e-8 * (1.0 + target.abs()));
            }
        }
    }

    #[test]
    fn a_symmetric_kernel_gives_one_function_that_of_the_ls_svm(n in 4usize..25, penalty in 0.05..3.0, seed: u64) {
        let half = kernel(n, seed);
        let (k, y) = (&half + half.transpose(), labels(n, 2, seed));
        // The LS-SVM: [K + I/γ, 1; 1ᵀ, 0]·[a; β] = [y; 0].
        let ls_svm = Mat::from_fn(n + 1, n + 1, |i, j| match (i == n, j == n) {
            (true, true) => 0.0,
            (false, false) => k[(i, j)] + if i == j { 1.0 / penalty } else { 0.0 },
            _ => 1.0,
        });
        let rhs = Mat::from_fn(n + 1, 2, |i, c| if i < n { y[(i, c)] } else { 0.0 });
        let x = ls_svm.partial_piv_lu().solve(&rhs);
        let of = |route, symmetric| {
            solve(CoupledSystem { penalty, route, symmetric, ..Default::default() }, &k, &y).unwrap()
        };
        for (symmetric, route) in [true, false].into_iter().flat_map(|s| ROUTES.map(|route| (s, route))) {
            let exact = of(Route::Svd, symmetric).report.condition;
            prop_assume!(exact < 1e6);
            if route != Route::Svd && exact > 1e4 {
                continue;
            }
            let found = of(route, symmetric);
            prop_assert!(found.report.warnings.is_empty(), "{route:?}: {:?}", found.report);
            let near = 1e-8 * (1.0 + found.a.norm_max());
            prop_assert!((&found.a - &found.b).norm_max() < near, "{route:?}");
            prop_assert!((x.subrows(0, n) - &found.a).norm_max() < near, "{route:?}");
            let (source, target) = (found.bias_source[0], found.bias_target[0]);
            prop_assert!((source - target).abs() < near && (x[(n, 0)] - source).abs() < near, "{route:?}");
        }
    }

    /// Where penalty·σ = 1 for an eigenvalue σ > 0 the coupled system is singular and that of the LS-SVM is not.
    #[test]
    fn a_positive_kernel_makes_no_ls_svm_singular(n in 6usize..25, seed: u64) {
        let half = kernel(n, seed);
        let (k, y) = (Mat::<f64>::identity(n, n) + &half * half.transpose(), labels(n, 1, seed));
        let centring = Mat::from_fn(n, n, |i, j| f64::from(i == j) - 1.0 / n as f64);
        let eigenvalues = (&centring * &k * &centring).self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        for penalty in [eigenvalues[n - 1].recip(), eigenvalues[n / 2].recip(), 1e3] {
            for route in ROUTES {
                let of = |symmetric| {
                    solve(CoupledSystem { penalty, route, symmetric, ..Default::default() }, &k, &y).unwrap().report
                };
                let report = of(true);
                prop_assert!(report.warnings.is_empty() && report.residual < 1e-8, "{route:?}: {report:?}");
                if route == Route::Svd {
                    let exact = 1.0 + penalty * eigenvalues[n - 1];
                    prop_assert!((report.condition - exact).abs() < 1e-8 * exact, "{exact}: {report:?}");
                    prop_assert!(penalty == 1e3 || of(false).warnings[0].contains("singular"));
                }
            }
        }
    }

    #[test]
    fn the_condition_number_of_every_route_is_that_of_the_matrix(n in 6usize..25, penalty in 0.1..2.0, seed: u64) {
        let (k, y) = (kernel(n, seed), labels(n, 1, seed));
        let of = |route| solve(CoupledSystem { penalty, route, ..Default::default() }, &k, &y).unwrap().report.condition;
        let exact = of(Route::Svd);
        prop_assume!(exact < 1e4);
        for route in ROUTES {
            let found = of(route);
            // The steps of MINRES see the condition number from below.
            let least = if route == Route::Minres { 1.0 } else { exact * 0.1 };
            prop_assert!(found <= exact * 1.01 && found >= least, "{route:?} {found}, exact {exact}");
        }
    }

    #[test]
    fn all_penalties_of_a_path_are_those_of_separate_systems(n in 4usize..60, decay in 0.5..1.0, seed: u64) {
        let (p, q) = (synth::gaussian::<f64>(n, n, seed), synth::gaussian::<f64>(n, n, seed ^ 2));
        let k = Mat::from_fn(n, n, |i, j| p[(i, j)] * f64::powi(decay, j as i32)) * q * faer::Scale(1.0 / n as f64);
        let (y, operator) = (labels(n, 3, seed), DenseOperator::Borrowed(k.as_ref()));
        let mut path = PenaltyPath::new(&operator, y.as_ref(), false).unwrap();
        for penalty in [0.3, 20.0, 2.0, 0.3] {
            let alone = solve(CoupledSystem { penalty, route: Route::Svd, ..Default::default() }, &k, &y).unwrap();
            let found = path.solve(&CoupledSystem { penalty, ..Default::default() }, &Run::default()).unwrap();
            if alone.report.condition < 1e4 {
                prop_assert!((&found.a - &alone.a).norm_max() < 1e-8 * (1.0 + alone.a.norm_max()), "{penalty}");
                prop_assert!((&found.b - &alone.b).norm_max() < 1e-8 * (1.0 + alone.b.norm_max()), "{penalty}");
            }
        }
    }

    #[test]
    fn triplets_of_a_low_rank_kernel_give_the_solution(n in 12usize..40, seed: u64) {
        let (p, q) = (synth::gaussian::<f64>(n, 3, seed), synth::gaussian::<f64>(n, 3, seed ^ 1));
        let k = &p * q.transpose();
        let y = labels(n, 2, seed);
        let of = |route| solve(CoupledSystem { penalty: 0.7, route, ..Default::default() }, &k, &y).unwrap();
        let (full, low) = (of(Route::Svd), of(Route::LowRank(3)));
        prop_assume!(full.report.condition < 1e5);
        prop_assert!((&full.a - &low.a).norm_max() < 1e-5 * (1.0 + full.a.norm_max()));
    }
}

#[test]
fn krylov_spaces_are_taken_where_singular_values_decay_and_only_there() {
    let x = synth::gaussian::<f64>(600, 2, 3);
    let near = |i: usize, j: usize| (-(0..2).map(|k| (x[(i, k)] - x[(j, k)] * 1.1).powi(2)).sum::<f64>()).exp() / 30.0;
    for (k, route) in [(Mat::from_fn(600, 600, near), "krylov"), (kernel(600, 3), "dense")] {
        let y = labels(600, 3, 4);
        let found = solve(CoupledSystem { penalty: 2.0, ..Default::default() }, &k, &y).unwrap();
        let dense = solve(CoupledSystem { penalty: 2.0, route: Route::Dense, ..Default::default() }, &k, &y).unwrap();
        assert_eq!(found.report.route, route, "{:?}", found.report);
        assert!((&found.a - &dense.a).norm_max() < 1e-10 * (1.0 + dense.a.norm_max()), "{:?}", dense.report);
        assert!(found.report.residual < 1e-11, "{:?}", found.report);
    }
}

/// K with singular value exactly 1 several times after centring.
fn unit_kernel(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| if (i + 1) % n == j { 1.0 } else { 0.0 })
}

#[test]
fn a_singular_system_is_refused_or_solved_openly() {
    let (k, y) = (unit_kernel(12), labels(12, 2, 5));
    for route in ROUTES {
        let on = |on_singular| solve(CoupledSystem { on_singular, route, ..Default::default() }, &k, &y);
        let error = on(OnSingular::Error).unwrap_err();
        assert!(matches!(error, Error::Singular { .. }) && error.to_string().contains("condition number"), "{error}");
        for on_singular in [OnSingular::Tikhonov(1.0), OnSingular::MinNorm] {
            let found = on(on_singular).unwrap();
            assert!(found.a.norm_max().is_finite() && found.report.condition > 1e9, "{route:?}");
            assert!(found.report.warnings[0].contains("singular"), "{:?}", found.report);
        }
    }
}

#[test]
fn every_route_gives_the_same_tikhonov_and_least_norm_solutions() {
    let (k, y) = (unit_kernel(15), labels(15, 2, 6));
    for on_singular in [OnSingular::Tikhonov(0.5), OnSingular::MinNorm] {
        let of = |route| solve(CoupledSystem { on_singular, route, ..Default::default() }, &k, &y).unwrap();
        let reference = of(Route::Svd);
        for route in ROUTES.into_iter().chain([Route::Lsmr]) {
            let off = (of(route).b - &reference.b).norm_max();
            assert!(off < 1e-7, "{route:?}, {on_singular}: {off}");
        }
    }
}

/// Four overlapping clouds of points.
fn clouds(count: usize, seed: u64) -> Dataset<f64> {
    let noise = synth::gaussian::<f64>(count, 3, seed);
    let class = |i: usize| (i * 7 + i / 4) % 4;
    let centre = |c: usize, k: usize| if (c >> k) % 2 == 1 { 1.0 } else { -1.0 };
    let x = Mat::from_fn(count, 3, |i, k| noise[(i, k)] + if k < 2 { 0.9 * centre(class(i), k) } else { 0.0 });
    let codes = (0..count).map(|i| Some(class(i) as u32)).collect();
    let names = (0..4).map(|c| c.to_string()).collect();
    Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::new(Samples::Dense(x)) }
}

/// Σ over ten bins of the largest probability: share of the bin · |mean probability − share of right answers|.
fn calibration_error(probabilities: &Mat<f64>, truth: &Target) -> f64 {
    let Target::Classes { codes, .. } = truth else { panic!("classes") };
    let mut bins = [(0.0, 0.0); 10];
    for (i, code) in codes.iter().enumerate() {
        let row: Vec<f64> = probabilities.row(i).iter().copied().collect();
        let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let bin = &mut bins[((row[best] * 10.0) as usize).min(9)];
        *bin = (bin.0 + row[best], bin.1 + f64::from(*code == Some(best as u32)));
    }
    bins.iter().map(|(said, right)| (said - right).abs()).sum::<f64>() / codes.len() as f64
}

/// 2000 samples leave about 0.02 to chance, and 400 held-out scores as much to the weights.
#[test]
fn probabilities_hold_for_every_size_of_the_penalty() {
    let run = Run::default();
    for seed in [1, 2] {
        let (data, test) = (clouds(400, seed), clouds(2000, seed + 100));
        for penalty in [None, Some(0.01), Some(1.0), Some(30.0)] {
            let machine = AskLs::new(Gram::new("sne").with_gamma(Gamma::Median));
            let machine = penalty.map_or(machine.clone(), |penalty| machine.with_penalty(penalty));
            let model = machine.fit(data.clone(), &run).unwrap();
            let found = model.probabilities(&test, &run).unwrap().unwrap();
            let error = calibration_error(&found, test.y.as_ref().unwrap());
            assert!(error < 0.07, "penalty {penalty:?}, seed {seed}: {error}");
        }
    }
}

#[test]
fn the_penalty_is_chosen_and_its_border_named() {
    let (data, run) = (clouds(200, 3), Run::default());
    let machine = || AskLs::new(Gram::new("sne").with_gamma(Gamma::Median));
    let chosen = machine().fit(data.clone(), &run).unwrap();
    let number =
        |model: &lopsided::estimators::AskLsModel<f64>, name: &str| model.report().params[name].as_f64().unwrap();
    assert!(chosen.report().params["penalty_why"].as_str().unwrap().contains("log-loss"));
    let (sigma, border) = (number(&chosen, "sigma_1"), number(&chosen, "largest_definite_penalty"));
    assert!((sigma * border - 1.0).abs() < 1e-12);
    for (factor, warned) in [(0.9, false), (1.1, true)] {
        let model = machine().with_penalty(factor * border).fit(data.clone(), &run).unwrap();
        let said = model.report().warnings.iter().any(|w| w.contains("1/σ₁") && w.contains("indefinite"));
        assert_eq!(said, warned, "{:?}", model.report());
        assert!(model.report().converged);
    }
}

use crate::naive::{draw, sparse_matrix};
use lopsided::Run;
use lopsided::base::settings::Settings;
use lopsided::operator::{DenseOperator, SparseOperator};
use lopsided::solvers::svd::{self, Svd};
use lopsided::{Csr, Mat, Scalar};
use proptest::prelude::*;

const SOLVERS: [&str; 4] = ["auto", "exact", "lanczos", "randomized"];

fn solve<T: Scalar>(name: &str, g: &Mat<T>, rank: usize, params: &Settings) -> Svd<T> {
    let run = Run { seed: 7, ..Run::default() };
    svd::solver::<T>(name, params).unwrap().solve(&DenseOperator::Borrowed(g.as_ref()), rank, &run).unwrap()
}

/// Both defining equations, orthonormality and order.
fn assert_svd<T: Scalar>(name: &str, g: &Mat<T>, svd: &Svd<T>, tol: f64) {
    let sigma = Mat::from_fn(svd.sigma.len(), svd.sigma.len(), |i, j| if i == j { svd.sigma[i] } else { T::zero() });
    let largest = svd.sigma.first().map_or(1.0, |s| s.as_f64());
    let equations = [(g * &svd.v - &svd.u * &sigma), (g.transpose() * &svd.u - &svd.v * &sigma)];
    for difference in equations {
        assert!(difference.norm_max().as_f64() <= tol * largest, "{name}: equation off by {}", difference.norm_max());
    }
    for q in [&svd.u, &svd.v] {
        let off = (q.transpose() * q - Mat::<T>::identity(q.ncols(), q.ncols())).norm_max().as_f64();
        assert!(off < tol.max(64.0 * T::eps()), "{name}: orthonormality off by {off}");
    }
    assert!(svd.sigma.windows(2).all(|w| w[0] >= w[1]) && svd.sigma.iter().all(|s| *s > T::zero()), "{name}: order");
}

/// A matrix with given singular values.
fn with_values(n: usize, m: usize, values: &[f64]) -> Mat<f64> {
    let orthonormal = |rows: usize, shift: f64| {
        let a = Mat::from_fn(rows, values.len(), |i, j| {
            ((i * 12 + j * 5) as f64 + shift).sin() + ((i * j) as f64 * 0.7).cos()
        });
        a.qr().compute_thin_Q()
    };
    let (u, v) = (orthonormal(n, 0.3), orthonormal(m, 1.9));
    let scaled = Mat::from_fn(n, values.len(), |i, j| u[(i, j)] * values[j]);
    scaled * v.transpose()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn triplets_satisfy_both_equations_and_all_solvers_agree(
        g in sparse_matrix(3..40, 17), rank in 1usize..4,
    ) {
        let params = Settings::default().with("tol", 1e-10);
        let reference = g.singular_values().unwrap();
        for name in SOLVERS {
            let svd = solve(name, &g, rank, &params);
            assert_svd(name, &g, &svd, 1e-8);
            let nonzero = reference.iter().filter(|r| **r > 1e-12 * reference[0]).count();
            prop_assert_eq!(svd.sigma.len(), rank.min(nonzero), "{}: {:?}", name, reference);
            for (s, r) in svd.sigma.iter().zip(&reference) {
                prop_assert!((s - r).abs() <= 1e-9 * reference[0], "{name}: {s} for {r}");
            }
        }
    }

    #[test]
    fn transposing_the_matrix_swaps_u_and_v(g in sparse_matrix(4..25, 9)) {
        for name in SOLVERS {
            let params = Settings::default().with("tol", 1e-11);
            let (a, b) = (solve(name, &g, 3, &params), solve(name, &g.transpose().to_owned(), 3, &params));
            prop_assert_eq!(a.sigma.len(), b.sigma.len(), "{}", name);
            for k in 0..a.sigma.len().min(b.sigma.len()) {
                prop_assert!((a.sigma[k] - b.sigma[k]).abs() <= 1e-9 * a.sigma[0]);
                let next = a.sigma.get(k + 1).copied().unwrap_or(0.0);
                let before = if k == 0 { f64::INFINITY } else { a.sigma[k - 1] };
                if a.sigma[k] - next > 1e-3 * a.sigma[0] && before - a.sigma[k] > 1e-3 * a.sigma[0] && k + 1 < a.sigma.len() {
                    let cosine = a.u.col(k).transpose() * b.v.col(k);
                    prop_assert!((cosine.abs() - 1.0).abs() < 1e-6, "{name}: {cosine}");
                }
            }
        }
    }
}

#[test]
fn repeated_singular_values_are_all_found() {
    let mut values = vec![3.0; 30];
    values.extend([2.0; 200]);
    let g = with_values(400, 350, &values);
    for (rank, block) in [(20, 0.0), (40, 0.0), (100, 0.0), (60, 5.0)] {
        let mut params = Settings::default().with("tol", 1e-9);
        if block > 0.0 {
            params = params.with("block", block);
        }
        let svd = solve("lanczos", &g, rank, &params);
        assert_svd("lanczos", &g, &svd, 1e-8);
        assert_eq!(svd.sigma.len(), rank);
        assert!(svd.report.converged());
        for (k, s) in svd.sigma.iter().enumerate() {
            let expected = if k < 30 { 3.0 } else { 2.0 };
            assert!((s - expected).abs() < 1e-8, "rank {rank}, block {block}: value {k} is {s}");
        }
    }
}

#[test]
fn copies_of_a_sparse_matrix_repeat_each_of_its_values() {
    let (size, copies) = (120usize, 9usize);
    let entry =
        |i: usize, j: usize| if (i * 31 + j * 17).is_multiple_of(23) { 1.0 + ((i * j) as f64).sin() } else { 0.0 };
    let one = Mat::from_fn(size, size, entry);
    let n = size * copies;
    let inside = |i: usize| (0..size).map(move |j| (i as u32, (i / size * size + j) as u32, entry(i % size, j)));
    let cells: Vec<(u32, u32, f64)> = (0..n).flat_map(inside).filter(|cell| cell.2 != 0.0).collect();
    let g = SparseOperator::new(None, Csr::from_triplets(n, n, &cells));
    let params = Settings::default().with("tol", 1e-9);
    let svd = svd::solver::<f64>("lanczos", &params).unwrap().solve(&g, 25, &Run::default()).unwrap();
    let values = one.singular_values().unwrap();
    for (k, s) in svd.sigma.iter().enumerate() {
        assert!((s - values[k / copies]).abs() < 1e-7 * values[0], "value {k} is {s}, not {}", values[k / copies]);
    }
}

#[test]
fn the_identity_and_a_zero_matrix_are_handled() {
    let identity = Mat::<f64>::identity(500, 500);
    let svd = solve("lanczos", &identity, 90, &Settings::default());
    assert_eq!(svd.sigma.len(), 90);
    assert_svd("lanczos", &identity, &svd, 1e-10);
    for name in SOLVERS {
        let svd = solve(name, &Mat::<f64>::zeros(40, 30), 3, &Settings::default());
        assert!(svd.sigma.is_empty(), "{name}");
        assert!(svd.report.notes.iter().any(|n| n.contains("rank 0")), "{name}");
    }
}

#[test]
fn a_rank_beyond_the_numerical_rank_gives_what_exists_and_says_so() {
    let g = with_values(600, 500, &[5.0, 4.0, 1.0]);
    for name in SOLVERS {
        let svd = solve(name, &g, 10, &Settings::default());
        assert_eq!(svd.sigma.len(), 3, "{name}: {:?}", svd.sigma);
        assert_svd(name, &g, &svd, 1e-10);
        assert!(svd.report.notes.iter().any(|n| n.contains("numerical rank 3")), "{name}: {:?}", svd.report.notes);
    }
}

#[test]
fn slowly_decaying_values_need_restarts_and_converge() {
    let values: Vec<f64> = (0..700).map(|k| 1.0 / (1.0 + f64::from(k) * 0.002)).collect();
    let g = with_values(900, 700, &values);
    let svd = solve("lanczos", &g, 5, &Settings::default().with("tol", 1e-8));
    assert!(svd.report.restarts > 0, "restarts are exercised");
    assert!(svd.report.converged());
    for (s, expected) in svd.sigma.iter().zip(&values) {
        assert!((s - expected).abs() < 1e-10, "{s} {expected}");
    }
}

#[test]
fn single_precision_converges_to_its_own_tolerance() {
    let g = with_values(500, 400, &(0..400).map(|k| 0.9f64.powi(k)).collect::<Vec<_>>());
    let g = Mat::from_fn(500, 400, |i, j| g[(i, j)] as f32);
    for name in ["lanczos", "randomized"] {
        let svd = solve(name, &g, 8, &Settings::default().with("tol", 1e-12));
        assert_svd(name, &g, &svd, 2e-5);
        assert!(svd.report.converged(), "{name}: {:?}", svd.report.residuals());
    }
}

#[test]
fn one_row_and_one_column_are_matrices_too() {
    for (n, m) in [(1, 1), (1, 9), (9, 1)] {
        let g = Mat::from_fn(n, m, |i, j| 1.0 + (i + 2 * j) as f64);
        for name in SOLVERS {
            let svd = solve(name, &g, 1, &Settings::default());
            assert!((svd.sigma[0] - g.norm_l2()).abs() < 1e-12 * g.norm_l2(), "{name}");
            assert_svd(name, &g, &svd, 1e-12);
        }
    }
}

#[test]
fn bad_ranks_tolerances_and_values_are_refused() {
    let g = draw(&sparse_matrix(8..9, 5));
    let operator = DenseOperator::Borrowed(g.as_ref());
    for name in SOLVERS {
        let solver = svd::solver::<f64>(name, &Settings::default()).unwrap();
        for rank in [0, 6] {
            let error = solver.solve(&operator, rank, &Run::default()).err().unwrap().to_string();
            assert_eq!(error, format!("`rank` is {rank} but must be between 1 and min(n, m) = 5"));
        }
        let nan = Mat::from_fn(8, 5, |_, _| f64::NAN);
        assert!(solver.solve(&DenseOperator::Borrowed(nan.as_ref()), 2, &Run::default()).is_err(), "{name}");
        assert!(svd::solver::<f64>(name, &Settings::default().with("tol", 0.0)).is_err());
    }
    assert!(
        svd::solver::<f64>("lancos", &Settings::default())
            .err()
            .unwrap()
            .to_string()
            .contains("did you mean `lanczos`?")
    );
}

#[test]
fn a_cancelled_run_stops() {
    let g = draw(&sparse_matrix(400..401, 350));
    let run = Run::default();
    run.watch.cancel();
    let solver = svd::solver::<f64>("lanczos", &Settings::default()).unwrap();
    let error = solver.solve(&DenseOperator::Borrowed(g.as_ref()), 3, &run).err().unwrap();
    assert!(matches!(error, lopsided::Error::Interrupted));
}

/// max(‖G v − σ u‖, ‖Gᵀu − σ v‖)/σ of each triplet, in plain matrix products.
fn own_residuals(g: &Mat<f64>, svd: &Svd<f64>) -> Vec<f64> {
    let (gv, gu) = (g * &svd.v, g.transpose() * &svd.u);
    let column = |k: usize| {
        let s = svd.sigma[k];
        let left = (0..g.nrows()).map(|i| (gv[(i, k)] - s * svd.u[(i, k)]).powi(2)).sum::<f64>();
        let right = (0..g.ncols()).map(|j| (gu[(j, k)] - s * svd.v[(j, k)]).powi(2)).sum::<f64>();
        left.max(right).sqrt() / s
    };
    (0..svd.sigma.len()).map(column).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn converged_means_small_beside_each_own_value(dominance in 0.0..7.0f64, decay in 0.9..0.99f64, seed in 0u64..1000) {
        let mut values: Vec<f64> = (0..380).map(|k| decay.powi(k)).collect();
        values.insert(0, 10f64.powf(dominance));
        let g = with_values(500, 420, &values);
        for name in SOLVERS {
            let run = Run { seed, ..Run::default() };
            let solver = svd::solver::<f64>(name, &Settings::default()).unwrap();
            let svd = solver.solve(&DenseOperator::Borrowed(g.as_ref()), 12, &run).unwrap();
            let measured = own_residuals(&g, &svd);
            for (said, found) in svd.report.residuals().iter().zip(&measured) {
                prop_assert!((said - found).abs() <= 1e-3 * found + 1e-8, "{name}: {said} {found}");
            }
            prop_assert_eq!(svd.report.converged(), measured.iter().all(|r| *r <= 1e-6), "{}: {:?}", name, measured);
            if name != "randomized" {
                prop_assert!(svd.report.converged() && svd.sigma.len() == 12, "{name}: {:?}", svd.report);
                for (k, (s, expected)) in svd.sigma.iter().zip(&values).enumerate() {
                    prop_assert!((s / expected - 1.0).abs() < 1e-6, "{name}: value {k} is {s}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn values_that_rounding_hides_are_named() {
    let values: Vec<f64> = [1e11].into_iter().chain((0..60).map(|k| 1.0 - 0.01 * f64::from(k))).collect();
    let g = with_values(400, 350, &values);
    for name in ["exact", "lanczos"] {
        let svd = solve(name, &g, 5, &Settings::default().with("tol", 1e-9));
        assert!(svd.report.notes.iter().any(|n| n.contains("above the tolerance 1e-9")), "{name}: {:?}", svd.report);
        assert!(own_residuals(&g, &svd)[1..].iter().any(|r| *r > 1e-9), "{name}");
    }
}

#[test]
fn a_crowd_that_the_rank_cuts_is_named() {
    let values: Vec<f64> = (0..4).map(|k| 5.0 - f64::from(k)).chain([1.0; 6]).chain([0.5; 40]).collect();
    let g = with_values(420, 400, &values);
    let note = |name: &str, rank: usize| -> Option<String> {
        solve(name, &g, rank, &Settings::default()).report.notes.into_iter().find(|n| n.contains("coincide"))
    };
    assert_eq!(note("exact", 7).unwrap(), "values 5 to 10 coincide: vectors 5 to 7 are one choice of many");
    assert_eq!(note("exact", 5).unwrap(), "values 5 to 10 coincide: vector 5 is one choice of many");
    assert!(note("lanczos", 7).unwrap().starts_with("values 5 to "));
    assert!(note("exact", 10).is_none() && note("exact", 4).is_none() && note("lanczos", 4).is_none());
}

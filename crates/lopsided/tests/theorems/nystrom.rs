use crate::naive::{self, both, draw, sparse_matrix};
use lopsided::Run;
use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::operator::{DenseOperator, Operator, OperatorChoice, Submatrix};
use lopsided::solvers::landmarks::{Given, Sampler, samplers};
use lopsided::solvers::svd::{self, Nystrom, Svd, SvdSolver};
use lopsided::{Dataset, GraphRule, KernelSvd, KernelSvdModel, Mat, Samples, Scaling, Side};
use proptest::prelude::*;

fn run(seed: u64) -> Run {
    Run { seed, ..Run::default() }
}

fn params(pairs: &[(&str, f64)]) -> Settings {
    pairs.iter().fold(Settings::default(), |p, (name, value)| p.with(name, *value))
}

fn solve(name: &str, g: &Mat<f64>, rank: usize, pairs: &[(&str, f64)], seed: u64) -> Svd<f64> {
    let solver = svd::solver::<f64>(name, &params(pairs)).unwrap();
    solver.solve(&DenseOperator::Borrowed(g.as_ref()), rank, &run(seed)).unwrap()
}

/// A random matrix with given singular values.
fn with_values(n: usize, m: usize, values: &[f64], seed: u64) -> Mat<f64> {
    let q = |rows, seed| synth::gaussian::<f64>(rows, values.len(), seed).qr().compute_thin_Q();
    let (u, v) = (q(n, 2 * seed), q(m, 2 * seed + 1));
    Mat::from_fn(n, values.len(), |i, j| u[(i, j)] * values[j]) * v.transpose()
}

fn decaying(count: usize, factor: f64) -> Vec<f64> {
    (0..count).map(|k| factor.powf(k as f64)).collect()
}

fn approximation(svd: &Svd<f64>) -> Mat<f64> {
    Mat::from_fn(svd.u.nrows(), svd.sigma.len(), |i, k| svd.u[(i, k)] * svd.sigma[k]) * svd.v.transpose()
}

fn error(g: &Mat<f64>, svd: &Svd<f64>) -> f64 {
    (g - approximation(svd)).norm_l2() / g.norm_l2()
}

#[test]
fn nystrom_with_all_landmarks_is_exact() {
    let g = with_values(90, 70, &decaying(30, 0.7), 1);
    let exact = solve("exact", &g, 6, &[], 0);
    for polish in [0.0, 1.0] {
        for (name, more) in [("nystrom", vec![("polish", polish)]), ("symmetric-nystrom", vec![])] {
            let pairs = [vec![("rows-sample", 90.0), ("cols-sample", 70.0)], more].concat();
            let svd = solve(name, &g, 6, &pairs, 3);
            for k in 0..6 {
                assert!((svd.sigma[k] - exact.sigma[k]).abs() < 1e-8, "{name}: {:?} {:?}", svd.sigma, exact.sigma);
                assert!((svd.u.col(k) - exact.u.col(k)).norm_max() < 1e-8, "{name}: u{k}");
                assert!((svd.v.col(k) - exact.v.col(k)).norm_max() < 1e-8, "{name}: v{k}");
            }
            assert!(svd.report.converged() && svd.report.landmarks == Some((90, 70)), "{name}: {:?}", svd.report);
        }
    }
}

#[test]
fn nystrom_is_exact_on_every_operator() {
    let (x, z) = (draw(&sparse_matrix(60..61, 6)), draw(&sparse_matrix(50..51, 6)));
    for name in naive::POINTWISE {
        let reference = naive::matrix(name, 0.3, &x, &z).singular_values().unwrap();
        for (choice, sparse) in [
            (OperatorChoice::Sparse, 1),
            (OperatorChoice::Tiles, 1),
            (OperatorChoice::Tiles, 0),
            (OperatorChoice::Dense, 0),
        ] {
            if choice == OperatorChoice::Sparse && name == "t" {
                continue;
            }
            let data = Dataset::two_sided(both::<f64>(&x)[sparse].clone(), both::<f64>(&z)[sparse].clone());
            let estimator = KernelSvd::new(naive::spec(name, 0.3)).with_operator(choice);
            let model = estimator.with_rank(3).with_tol(1e-10).with_solver("nystrom").fit(data, &run(0)).unwrap();
            assert_eq!(model.singular_values().len(), 3, "{name} {choice:?}");
            for (s, r) in model.singular_values().iter().zip(&reference) {
                assert!((s - r).abs() < 1e-8 * reference[0], "{name} {choice:?}");
            }
            assert!(model.report().converged(), "{name} {choice:?}: {:?}", model.report());
        }
    }
}

/// \[KSVD\] Eq. (13): λ̃ = (N/n)·λ, ũ ∝ G[:, picked]·u / λ.
#[test]
fn a_symmetric_matrix_with_equal_landmarks_gives_the_symmetric_nystrom_method() {
    let half = with_values(80, 40, &decaying(40, 0.8), 4);
    let g = &half * half.transpose();
    let picked: Vec<usize> = (0..80).step_by(4).collect();
    let sampler = Given { rows: picked.clone(), cols: picked.clone() };
    let solver =
        Nystrom { sampler: Box::new(sampler), polish: false, ..Nystrom::<f64>::new(&Settings::default()).unwrap() };
    let svd = solver.solve(&DenseOperator::Borrowed(g.as_ref()), 5, &run(0)).unwrap();
    let block = Mat::from_fn(20, 20, |i, j| g[(picked[i], picked[j])]);
    let eigen = block.self_adjoint_eigen(faer::Side::Lower).unwrap();
    let columns = Mat::from_fn(80, 20, |i, j| g[(i, picked[j])]);
    for k in 0..5 {
        let value = eigen.S().column_vector()[19 - k];
        assert!((svd.sigma[k] - value * 80.0 / 20.0).abs() < 1e-10 * svd.sigma[0]);
        let extended = &columns * eigen.U().col(19 - k);
        for vectors in [&svd.u, &svd.v] {
            let cosine = vectors.col(k).transpose() * &extended / extended.norm_l2();
            assert!((cosine.abs() - 1.0).abs() < 1e-9, "vector {k}: {cosine}");
        }
    }
}

#[test]
fn the_error_estimate_is_within_a_factor_of_two_in_95_of_100_trials() {
    let one_large = std::iter::once(300.0).chain(std::iter::repeat_n(1.0, 79)).collect();
    let two_steps = [vec![5.0; 5], vec![0.1], vec![1e-4; 60]].concat();
    let spectra: [Vec<f64>; 5] =
        [decaying(60, 0.8), vec![1.0; 80], (1..=80).map(|k| 1.0 / f64::from(k)).collect(), one_large, two_steps];
    for (which, values) in spectra.iter().enumerate() {
        for (name, polish) in [("nystrom", Some(0.0)), ("nystrom", Some(1.0)), ("symmetric-nystrom", None)] {
            let mut pairs = vec![("rows-sample", 20.0), ("cols-sample", 24.0)];
            pairs.extend(polish.map(|p| ("polish", p)));
            let good = (0..100)
                .filter(|&seed| {
                    let g = with_values(120, 90, values, seed);
                    let svd = solve(name, &g, 5, &pairs, seed);
                    let (estimate, truth) = (svd.report.error_estimate.unwrap(), error(&g, &svd));
                    estimate <= 2.0 * truth && truth <= 2.0 * estimate
                })
                .count();
            assert!(good >= 95, "spectrum {which}, {name}, polish {polish:?}: {good} of 100");
        }
    }
}

#[test]
fn nystrom_survives_duplicate_landmarks() {
    let g = with_values(100, 80, &decaying(40, 0.75), 9);
    let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..100).step_by(3).collect(), (0..80).step_by(3).collect());
    let fit = |rows: &[usize], cols: &[usize], polish: bool| {
        let sampler = Given { rows: rows.to_vec(), cols: cols.to_vec() };
        let solver =
            Nystrom { sampler: Box::new(sampler), polish, ..Nystrom::<f64>::new(&Settings::default()).unwrap() };
        solver.solve(&DenseOperator::Borrowed(g.as_ref()), 30, &run(0)).unwrap()
    };
    let plain = fit(&rows, &cols, true);
    let twice = fit(&[rows.clone(), rows.clone()].concat(), &[cols.clone(), cols.clone(), cols.clone()].concat(), true);
    assert!((approximation(&plain) - approximation(&twice)).norm_max() < 1e-8);
    let (plain, same) = (fit(&rows, &cols, false), fit(&[3; 50], &[6; 40], false));
    assert!(approximation(&plain).norm_max().is_finite());
    assert_eq!(same.sigma.len(), 1, "fifty copies of one row are one row");
    assert!(!same.report.converged() && same.report.notes[0].contains("only 1 of 30"), "{:?}", same.report.notes);
}

#[test]
fn the_sample_grows_until_the_tolerance_is_reached() {
    let g = with_values(1200, 1000, &decaying(300, 0.9), 2);
    for tol in [1e-2, 1e-6] {
        let svd = solve("nystrom", &g, 8, &[("tol", tol)], 1);
        assert!(svd.report.converged() && svd.report.residual() <= tol, "{:?}", svd.report);
        let (rows, cols) = svd.report.landmarks.unwrap();
        assert!(rows < 1200 && cols < 1000, "{rows} {cols}");
        assert!((error(&g, &svd) / svd.report.error_estimate.unwrap()).ln().abs() < 2f64.ln());
    }
    let capped = solve("nystrom", &synth::gaussian(300, 300, 1), 8, &[("max-sample", 128.0)], 1);
    assert!(!capped.report.converged() && capped.report.landmarks == Some((128, 128)));
    let flat = solve("nystrom", &synth::gaussian(300, 300, 1), 8, &[], 1);
    assert!(flat.report.converged() && flat.report.landmarks == Some((300, 300)), "{:?}", flat.report);
}

#[test]
fn matrices_of_low_rank_are_found_and_named() {
    let g = with_values(600, 500, &[5.0, 4.0, 1.0], 3);
    let svd = solve("nystrom", &g, 10, &[], 0);
    assert_eq!(svd.sigma.len(), 3);
    assert!(
        svd.report.converged() && svd.report.notes.iter().any(|n| n.contains("numerical rank 3")),
        "{:?}",
        svd.report
    );
    let zero = solve("nystrom", &Mat::zeros(40, 30), 3, &[], 0);
    assert!(zero.sigma.is_empty() && zero.report.error_estimate == Some(0.0));
    // A sample that misses the only entries says so.
    let mut lonely = Mat::<f64>::zeros(400, 400);
    (0..20).for_each(|i| lonely[(20 * i, 20 * i + 7)] = 1.0);
    let svd = solve("nystrom", &lonely, 5, &[("rows-sample", 20.0)], 0);
    assert!(!svd.report.converged() && svd.report.notes[0].contains("of 5 triplets"), "{:?}", svd.report);
}

#[test]
fn wrong_samples_are_refused() {
    let g = synth::gaussian::<f64>(30, 20, 1);
    let refuse = |pairs: &[(&str, f64)]| {
        let solver = svd::solver::<f64>("nystrom", &params(pairs))?;
        solver.solve(&DenseOperator::Borrowed(g.as_ref()), 4, &run(0)).map(|_| ())
    };
    let text = |pairs: &[(&str, f64)]| refuse(pairs).unwrap_err().to_string();
    assert_eq!(text(&[("rows-sample", 31.0)]), "`rows-sample` is 31 but must be between the rank 4 and all 30");
    assert!(text(&[("cols-sample", 3.0)]).contains("between the rank 4 and all 20"));
    assert!(text(&[("cols-sample", 2.5)]).contains("whole number"));
    let unknown = svd::solver::<f64>("nystrom", &Settings::default().with("sampler", "unifrom")).err().unwrap();
    assert!(unknown.to_string().contains("did you mean `uniform`?"), "{unknown}");
    assert!(text(&[("restarts", 3.0)]).contains("`restarts` is a parameter of solver `nystrom`"));
    let nan = Mat::from_fn(30, 20, |_, _| f64::NAN);
    let solver = svd::solver::<f64>("nystrom", &Settings::default()).unwrap();
    assert!(solver.solve(&DenseOperator::Borrowed(nan.as_ref()), 2, &run(0)).is_err());
    let given = Given { rows: vec![30], cols: vec![] };
    let operator = DenseOperator::Borrowed(g.as_ref());
    assert!(given.pick(&operator, Side::Row, 1, 0).is_err() && given.pick(&operator, Side::Col, 1, 0).is_err());
}

#[test]
fn every_sampler_gives_the_same_bits_again() {
    let g = with_values(500, 400, &decaying(100, 0.9), 5);
    // Combinations of samples are for kernel machines only, and the greedy choice does not depend on the seed.
    for entry in samplers::<f64>().iter().filter(|entry| entry.name != "gaussian") {
        let given = params(&[("rows-sample", 40.0)]).with("sampler", entry.name);
        let solver = svd::solver::<f64>("nystrom", &given).unwrap();
        let fit = |seed| solver.solve(&DenseOperator::Borrowed(g.as_ref()), 6, &run(seed)).unwrap();
        let (a, b, c) = (fit(3), fit(3), fit(4));
        assert!(a.u == b.u && a.v == b.v && a.sigma == b.sigma && a.report.error_estimate == b.report.error_estimate);
        assert_eq!(a.sigma == c.sigma, entry.name == "greedy", "{}", entry.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn extending_the_landmarks_gives_back_their_own_vectors(seed in 0u64..1000, rows in 5usize..30, cols in 5usize..25) {
        let g = with_values(40, 30, &decaying(30, 0.8), seed);
        let pairs = [("rows-sample", rows as f64), ("cols-sample", cols as f64), ("polish", 0.0)];
        let svd = solve("nystrom", &g, 3, &pairs, seed);
        let e = svd.extension.as_ref().unwrap();
        let block = Mat::from_fn(rows, cols, |i, j| g[(e.rows[i], e.cols[j])]);
        let small = block.thin_svd().unwrap();
        for k in 0..3 {
            let own = |a: &Mat<f64>, picked: &[usize]| Mat::from_fn(picked.len(), 1, |i, _| a[(picked[i], k)]);
            for (part, exact) in [(own(&svd.u, &e.rows), small.U().col(k)), (own(&svd.v, &e.cols), small.V().col(k))] {
                let cosine = part.col(0).transpose() * exact / part.norm_l2();
                prop_assert!((cosine.abs() - 1.0).abs() < 1e-6, "{cosine}");
            }
        }
    }

    #[test]
    fn products_with_a_submatrix_equal_products_with_its_entries(
        g in sparse_matrix(20..40, 17), rows in proptest::collection::vec(0usize..20, 1..9), all: bool,
        cols in proptest::collection::vec(0usize..17, 1..9),
    ) {
        let samples = both::<f64>(&g);
        let Samples::Sparse(csr) = &samples[1] else { unreachable!() };
        let operators: [Box<dyn Operator<f64>>; 2] =
            [Box::new(DenseOperator::Borrowed(g.as_ref())), Box::new(lopsided::operator::SparseOperator::new(None, csr.clone()))];
        let picked = if all { (0..g.nrows()).collect() } else { rows.clone() };
        let plain = Mat::from_fn(picked.len(), cols.len(), |i, j| g[(picked[i], cols[j])]);
        for operator in operators {
            let part = Submatrix::new(&*operator, (!all).then_some(&rows[..]), Some(&cols));
            let (v, u) = (synth::gaussian(cols.len(), 2, 1), synth::gaussian(picked.len(), 2, 2));
            let (mut gv, mut gu) = (Mat::zeros(picked.len(), 2), Mat::zeros(cols.len(), 2));
            part.apply(v.as_ref(), gv.as_mut()).unwrap();
            part.apply_transpose(u.as_ref(), gu.as_mut()).unwrap();
            prop_assert!((gv - &plain * &v).norm_max() < 1e-12 && (gu - plain.transpose() * &u).norm_max() < 1e-12);
        }
    }

    #[test]
    fn extended_models_place_training_samples_on_themselves_and_survive_a_file(
        x in sparse_matrix(12..20, 4), z in sparse_matrix(12..18, 4), center: bool, sparse: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        for name in naive::POINTWISE {
            let pick = |m: &Mat<f64>| both::<f64>(m)[usize::from(sparse)].clone();
            let data = Dataset::two_sided(pick(&x), pick(&z));
            let landmarks = params(&[("rows-sample", 8.0), ("cols-sample", 9.0), ("polish", 0.0)]);
            let estimator = KernelSvd::new(naive::spec(name, 0.3)).with_solver_params(landmarks);
            let estimator = estimator.with_rank(2).with_solver("nystrom").with_center(center).with_scaling(Scaling::Sqrt);
            let model = estimator.fit(data, &run(1)).unwrap();
            model.save(&dir.path().join("m")).unwrap();
            let model = KernelSvdModel::<f64>::load(&dir.path().join("m")).unwrap();
            // Samples without a common coordinate have nothing but zeros for the linear kernel.
            prop_assert!(center || name == "linear" || !model.singular_values().is_empty(), "{name} has no triplets");
            let Some(&last) = model.singular_values().last() else { continue };
            let tol = 1e-9 * model.singular_values()[0] / last * model.singular_values()[0].max(1.0);
            let rows = model.project_rows(pick(&x).as_ref(), &run(0)).unwrap();
            let cols = model.project_cols(pick(&z).as_ref(), &run(0)).unwrap();
            prop_assert!((rows - model.embedding(Side::Row)).norm_max() < tol, "{name} rows");
            prop_assert!((cols - model.embedding(Side::Col)).norm_max() < tol, "{name} columns");
        }
    }
}

/// Few landmarks, so that the triplets are far from converged and G·V is far from U·Σ.
#[test]
fn models_by_products_place_training_samples_on_themselves_and_survive_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (x, z) = (synth::gaussian::<f64>(90, 3, 1), synth::gaussian::<f64>(70, 3, 2));
    let kernels = [("sne", false), ("sne", true), ("rbf", false), ("rbf", true)];
    for ((name, center), solver) in kernels.into_iter().flat_map(|k| ["nystrom", "symmetric-nystrom"].map(|s| (k, s))) {
        let sparse = |m: &Mat<f64>| both::<f64>(m)[1].clone();
        for pick in [&|m: &Mat<f64>| Samples::Dense(m.clone()), &sparse as &dyn Fn(&Mat<f64>) -> Samples<f64>] {
            let landmarks = params(&[("rows-sample", 12.0), ("cols-sample", 12.0)]);
            let estimator = KernelSvd::new(naive::spec(name, 1.0)).with_solver_params(landmarks);
            let estimator = estimator.with_rank(4).with_solver(solver).with_center(center).with_scaling(Scaling::Sqrt);
            let model = estimator.fit(Dataset::two_sided(pick(&x), pick(&z)), &run(1)).unwrap();
            assert!(!model.report().converged() && model.report().residual() > 1e-3, "{name}: {:?}", model.report());
            model.save(&dir.path().join("m")).unwrap();
            let model = KernelSvdModel::<f64>::load(&dir.path().join("m")).unwrap();
            let rows = model.project_rows(pick(&x).as_ref(), &run(0)).unwrap() - model.embedding(Side::Row);
            let cols = model.project_cols(pick(&z).as_ref(), &run(0)).unwrap() - model.embedding(Side::Col);
            assert!(rows.norm_max() < 1e-10, "{solver}, {name}, centred {center}: rows are off by {}", rows.norm_max());
            assert!(
                cols.norm_max() < 1e-10,
                "{solver}, {name}, centred {center}: columns are off by {}",
                cols.norm_max()
            );
        }
    }
}

/// Products with all of G would need 1.6e11 kernel values each, and the sparse form as many entries.
#[test]
fn hubs_are_no_obstacle_to_nystrom() {
    let graph = synth::hub_graph(400_000, 1_200_000, 6, 1).unwrap();
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    let some: Vec<usize> = (0..400_000).step_by(100_000).collect();
    let (x, z) = (data.x.as_ref().select(&some), data.cols().as_ref().select(&some));
    let estimator = KernelSvd::new("sne").with_memory(1 << 30).with_rank(2);
    assert!(matches!(estimator.fit(data.clone(), &run(0)).err().unwrap(), lopsided::Error::Memory { .. }));
    let estimator = estimator.with_solver("nystrom");
    let centered = estimator.clone().with_center(true).fit(data.clone(), &run(0)).err().unwrap().to_string();
    assert!(centered.starts_with("`center` is on"), "{centered}");
    let model = estimator.fit(data, &run(0)).unwrap();
    let report = model.report();
    assert!(
        report.notes.iter().any(|n| n == "SNE row sums are estimated from 2000 of 400000 columns"),
        "{:?}",
        report.notes
    );
    assert!(report.error_estimate.is_some_and(f64::is_finite) && report.residuals().iter().all(|r| r.is_finite()));
    for (side, placed) in
        [(Side::Row, model.project_rows(x.as_ref(), &run(0))), (Side::Col, model.project_cols(z.as_ref(), &run(0)))]
    {
        let (placed, own) = (placed.unwrap(), model.embedding(side));
        let expected = Mat::from_fn(some.len(), own.ncols(), |i, k| own[(some[i], k)]);
        assert!((placed - expected).norm_max() < 1e-9 * own.norm_max(), "{side:?}");
    }
}

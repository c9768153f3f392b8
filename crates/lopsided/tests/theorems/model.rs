use crate::naive::{self, POINTWISE, both, draw, gap, sparse_matrix};
use lopsided::operator::OperatorChoice;
use lopsided::{Csr, Dataset, KernelSvd, KernelSvdModel, Mat, Run, Samples, Scalar, Scaling, Side};
use proptest::prelude::*;

fn estimator(name: &str, rank: usize) -> KernelSvd {
    KernelSvd::new(naive::spec(name, 0.3)).with_rank(rank).with_tol(1e-12)
}

fn two_sided<T: Scalar>(x: &Mat<f64>, z: &Mat<f64>, sparse: bool) -> Dataset<T> {
    let pick = |m: &Mat<f64>| both::<T>(m)[usize::from(sparse)].clone();
    Dataset::two_sided(pick(x), pick(z))
}

/// A result without triplets would satisfy any law about them: as many must be there as the plain matrix has.
fn has_all_triplets<T: Scalar>(found: &KernelSvdModel<T>, g: &Mat<f64>, rank: usize) -> bool {
    let values = g.singular_values().unwrap();
    let above = |share: f64| values.iter().filter(|s| **s > share * values[0] && **s > 1e-12).count().min(rank);
    (above(1e-6)..=above(1e-15)).contains(&found.singular_values().len())
}

/// G by its definition, centred or not.
fn plain(name: &str, x: &Mat<f64>, z: &Mat<f64>, center: bool) -> Mat<f64> {
    let g = naive::matrix(name, 0.3, x, z);
    if center { naive::center(&g) } else { g }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn projecting_training_samples_returns_their_own_embedding(
        x in sparse_matrix(4..14, 4), z in sparse_matrix(4..12, 4), center: bool, sparse: bool,
        scaling in prop_oneof![Just(Scaling::None), Just(Scaling::Sqrt), Just(Scaling::Full)],
    ) {
        for name in POINTWISE {
            let data = two_sided::<f64>(&x, &z, sparse);
            let (xs, zs) = (data.x.clone(), data.cols().clone());
            let model = estimator(name, 2).with_center(center).with_scaling(scaling).fit(data, &Run::default()).unwrap();
            prop_assert!(has_all_triplets(&model, &plain(name, &x, &z, center), 2), "{name} {:?}", model.singular_values());
            let Some(&last) = model.singular_values().last() else { continue };
            let tol = 1e-9 * model.singular_values()[0] / last * model.singular_values()[0].max(1.0);
            let rows = model.project_rows(xs.as_ref(), &Run::default()).unwrap();
            let cols = model.project_cols(zs.as_ref(), &Run::default()).unwrap();
            prop_assert!((rows - model.embedding(Side::Row)).norm_max() < tol, "{name} rows");
            prop_assert!((cols - model.embedding(Side::Col)).norm_max() < tol, "{name} columns");
        }
    }

    #[test]
    fn swapping_the_sample_sets_of_a_symmetric_kernel_swaps_the_sides(
        x in sparse_matrix(5..12, 3), z in sparse_matrix(5..12, 3),
    ) {
        for name in ["linear", "poly", "rbf", "laplacian"] {
            let a = estimator(name, 1).fit(two_sided::<f64>(&x, &z, false), &Run::default()).unwrap();
            let b = estimator(name, 1).fit(two_sided::<f64>(&z, &x, false), &Run::default()).unwrap();
            let g = plain(name, &x, &z, false);
            prop_assert!(has_all_triplets(&a, &g, 1) && has_all_triplets(&b, &g, 1), "{name}");
            if a.singular_values().is_empty() {
                continue;
            }
            prop_assert!((a.singular_values()[0] - b.singular_values()[0]).abs() < 1e-9 * a.singular_values()[0]);
        }
    }

    #[test]
    fn saving_and_loading_gives_the_same_bits(
        x in sparse_matrix(4..9, 4), z in sparse_matrix(4..9, 4), center: bool, sparse: bool,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        for name in POINTWISE {
            let mut data = two_sided::<f32>(&x, &z, sparse);
            data.row_ids = Some((0..x.nrows()).map(|i| format!("row {i}")).collect());
            let model = estimator(name, 2).with_center(center).fit(data, &Run::default()).unwrap();
            model.save(&path).unwrap();
            let back = KernelSvdModel::<f32>::load(&path).unwrap();
            prop_assert_eq!(&back.svd.u, &model.svd.u);
            prop_assert_eq!(&back.svd.sigma, &model.svd.sigma);
            prop_assert_eq!(&back.report().residuals(), &model.report().residuals());
            prop_assert_eq!(&back.report().notes, &model.report().notes);
            prop_assert_eq!(&back.data.row_ids, &model.data.row_ids);
            prop_assert_eq!(
                back.project_rows(model.data.x.as_ref(), &Run::default()).unwrap(),
                model.project_rows(model.data.x.as_ref(), &Run::default()).unwrap()
            );
            prop_assert_eq!(
                back.project_cols(model.data.cols().as_ref(), &Run::default()).unwrap(),
                model.project_cols(model.data.cols().as_ref(), &Run::default()).unwrap()
            );
        }
    }

    #[test]
    fn the_solution_satisfies_the_coupled_covariances_equations(
        x in sparse_matrix(5..12, 4), z in sparse_matrix(5..12, 4), center: bool,
    ) {
        // [KSVD] Eq. (4) with the paper's scaling of G by 1/√(nm): GᵀG·V = GᵀU·Λ and GGᵀ·U = GV·Λ.
        let model = estimator("sne", 3).with_center(center).fit(two_sided::<f64>(&x, &z, false), &Run::default()).unwrap();
        let g = plain("sne", &x, &z, center);
        prop_assert!(has_all_triplets(&model, &g, 3));
        let root = ((x.nrows() * z.nrows()) as f64).sqrt();
        let g = Mat::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)] / root);
        let sigma = model.singular_values();
        let lambda = Mat::from_fn(sigma.len(), sigma.len(), |i, j| if i == j { sigma[i] / root } else { 0.0 });
        let (u, v) = (&model.svd.u, &model.svd.v);
        let left = g.transpose() * &g * v - g.transpose() * u * &lambda;
        let right = &g * g.transpose() * u - &g * v * &lambda;
        prop_assert!(left.norm_max() < 1e-10 && right.norm_max() < 1e-10);
    }
}

#[test]
fn a_symmetric_kernel_over_one_sample_set_gives_kernel_pca() {
    let x = draw(&sparse_matrix(30..31, 4));
    let data = Dataset::new(both::<f64>(&x)[0].clone());
    let model = estimator("rbf", 4).with_center(true).fit(data, &Run::default()).unwrap();
    let centered = naive::center(&naive::matrix("rbf", 0.3, &x, &x));
    let eigen = centered.self_adjoint_eigen(faer::Side::Lower).unwrap();
    for k in 0..4 {
        let value = eigen.S().column_vector()[29 - k];
        assert!((model.singular_values()[k] - value).abs() < 1e-10);
        let cosine = model.svd.u.col(k).transpose() * eigen.U().col(29 - k);
        assert!((cosine.abs() - 1.0).abs() < 1e-8);
        assert!((model.svd.u.col(k) - model.svd.v.col(k)).norm_max() < 1e-8, "both sides are the same");
    }
}

#[test]
fn every_operator_gives_the_same_model() {
    let (x, z) = (draw(&sparse_matrix(60..61, 6)), draw(&sparse_matrix(50..51, 6)));
    for name in POINTWISE {
        let reference = naive::matrix(name, 0.3, &x, &z).singular_values().unwrap();
        for choice in [OperatorChoice::Sparse, OperatorChoice::Tiles, OperatorChoice::Dense] {
            if choice == OperatorChoice::Sparse && name == "t" {
                continue;
            }
            let model =
                estimator(name, 3).with_operator(choice).fit(two_sided::<f64>(&x, &z, true), &Run::default()).unwrap();
            assert_eq!(model.singular_values().len(), 3, "{name} {choice:?}");
            for (s, r) in model.singular_values().iter().zip(&reference) {
                assert!((s - r).abs() < 1e-10 * reference[0], "{name} {choice:?}");
            }
        }
    }
}

#[test]
fn a_precomputed_matrix_is_its_own_kernel() {
    let g = draw(&sparse_matrix(12..13, 8));
    for samples in both::<f64>(&g) {
        let model = KernelSvd::new("precomputed")
            .with_rank(3)
            .with_center(true)
            .with_tol(1e-12)
            .fit(Dataset::new(samples.clone()), &Run::default())
            .unwrap();
        let reference = naive::center(&g).singular_values().unwrap();
        assert!((model.singular_values()[0] - reference[0]).abs() < 1e-12 * reference[0]);
        let rows = model.project_rows(samples.as_ref(), &Run::default()).unwrap();
        assert!((rows - model.embedding(Side::Row)).norm_max() < 1e-9);
        let cols = model.project_cols(samples.transpose().as_ref(), &Run::default()).unwrap();
        assert!((cols - model.embedding(Side::Col)).norm_max() < 1e-9);
    }
}

#[test]
fn embeddings_have_the_asked_scaling_and_sign() {
    let (x, z) = (draw(&sparse_matrix(20..21, 5)), draw(&sparse_matrix(15..16, 5)));
    let fit = |scaling| {
        estimator("sne", 3).with_scaling(scaling).fit(two_sided::<f64>(&x, &z, false), &Run::default()).unwrap()
    };
    let (none, sqrt, full) = (fit(Scaling::None), fit(Scaling::Sqrt), fit(Scaling::Full));
    for k in 0..3 {
        let s = none.singular_values()[k];
        let column = |m: &KernelSvdModel<f64>| m.embedding(Side::Col).col(k).norm_l2();
        assert!((column(&none) - 1.0).abs() < 1e-12);
        assert!((column(&sqrt) - s.sqrt()).abs() < 1e-12);
        assert!((column(&full) - s).abs() < 1e-12);
        let largest = none.svd.u.col(k).iter().copied().fold(0.0, |a: f64, v| if v.abs() > a.abs() { v } else { a });
        assert!(largest > 0.0);
    }
    let g = naive::matrix("sne", 0.3, &x, &z);
    let all = estimator("sne", 15).fit(two_sided::<f64>(&x, &z, false), &Run::default()).unwrap();
    let product = all.embedding(Side::Row)
        * Mat::from_fn(all.singular_values().len(), all.singular_values().len(), |i, j| {
            if i == j { all.singular_values()[i] } else { 0.0 }
        })
        * all.embedding(Side::Col).transpose();
    assert!(gap(&product, &g) < 1e-9, "the joint sign keeps U Σ Vᵀ");
}

#[test]
fn wrong_inputs_are_named() {
    let wide = Samples::Dense(Mat::<f64>::zeros(4, 3));
    let narrow = Samples::Dense(Mat::<f64>::zeros(4, 2));
    let fit = |e: KernelSvd, d: Dataset<f64>| e.fit(d, &Run::default()).err().unwrap().to_string();
    assert_eq!(
        fit(estimator("rbf", 1), Dataset::two_sided(wide.clone(), narrow)),
        "the width of the column samples is 2 but must be 3"
    );
    let mut nan = Mat::<f64>::zeros(4, 3);
    nan[(2, 1)] = f64::INFINITY;
    assert_eq!(fit(estimator("rbf", 1), Dataset::new(Samples::Dense(nan))), "X contains inf at row 2, column 1");
    assert!(fit(KernelSvd::new("rbf"), Dataset::new(wide.clone())).contains("samples that do not vary"));
    assert!(fit(KernelSvd::new("rfb"), Dataset::new(wide.clone())).contains("did you mean `rbf`?"));
    let small = estimator("rbf", 1).with_memory(1000);
    assert!(
        fit(small.with_solver("exact"), Dataset::new(Samples::Dense(Mat::from_fn(400, 3, |i, _| i as f64))))
            .contains("but 1.0 KB are allowed")
    );
    let error = Dataset::from_matrix(wide).err().unwrap().to_string();
    assert!(error.contains("4 x 3") && error.contains("square"), "{error}");
}

/// A star: every node links to one hub that links to all, so every pair meets and S would be full.
#[test]
fn hubs_that_would_fill_s_are_recognised_before_it_is_formed() {
    let n = 400_000u32;
    let mut entries: Vec<(u32, u32, f64)> = (1..n).map(|i| (i, 0, 0.5)).collect();
    entries.extend((1..n).map(|j| (0, j, 1e-6)));
    let p = Csr::from_triplets(n as usize, n as usize, &entries);
    let data = Dataset::two_sided(Samples::Sparse(p.clone()), Samples::Sparse(p.transpose()));
    let error = KernelSvd::new("sne").with_rank(2).fit(data, &Run::default()).err().unwrap().to_string();
    for word in ["sparse form of G", "nystrom", "hubs", "memory"] {
        assert!(error.contains(word), "{error}");
    }
}

/// A training row far from all training columns has a tiny sum; a new column beside it has a value beyond all numbers.
#[test]
fn a_new_column_whose_values_overflow_is_named() {
    // Above and below the number of samples from which tiles come from prepared samples, and in the sparse form.
    for (n, sparse) in [(20, false), (90, false), (20, true)] {
        let kind = |m: Mat<f64>| if sparse { crate::naive::both::<f64>(&m)[1].clone() } else { Samples::Dense(m) };
        let near = |seed| lopsided::data::synth::gaussian::<f64>(n, 2, seed);
        let x = Mat::from_fn(n, 2, |i, j| if i == 3 { 60.0 } else { near(1)[(i, j)] });
        let data = Dataset::two_sided(kind(x), kind(near(2)));
        let estimator = KernelSvd::new(crate::naive::spec("sne", 1.0)).with_rank(3);
        let model = estimator.fit(data, &Run::default()).unwrap();
        let new = Mat::from_fn(n, 2, |i, j| if i == 5 { 59.0 } else { near(3)[(i, j)] });
        let error = model.project_cols(kind(new).as_ref(), &Run::default()).unwrap_err().to_string();
        assert!(error.starts_with("the SNE values of the new column 5 are beyond the range of f64"), "{error}");
        assert!(model.project_cols(kind(near(3)).as_ref(), &Run::default()).is_ok());
    }
}

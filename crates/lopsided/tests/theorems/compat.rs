use crate::naive::{both, gap};
use lopsided::data::synth;
use lopsided::kernel::Gamma;
use lopsided::{Compat, Compatibility, Dataset, KernelSvd, KernelSvdModel, Mat, Run, Samples, Side};

const SHAPES: [(usize, usize); 3] = [(13, 7), (7, 13), (9, 9)];

/// Half of the entries are zero; the matrix has full rank.
fn matrix(n: usize, m: usize) -> Mat<f64> {
    let values = synth::gaussian::<f64>(n, m, 8);
    Mat::from_fn(n, m, |i, j| if (i * 3 + j * 5) % 4 < 2 { values[(i, j)] } else { 0.0 })
}

/// Every second row repeats the one before.
fn deficient(n: usize, m: usize) -> Mat<f64> {
    let full = matrix(n, m);
    Mat::from_fn(n, m, |i, j| full[(i / 2 * 2, j)] * f64::from(i as u32 % 2 + 1))
}

fn dataset(a: Samples<f64>, kind: Compat, width: Option<usize>) -> Dataset<f64> {
    Dataset::from_matrix_with(a, &Compatibility { kind, width }, &Run::default()).unwrap()
}

fn dense(samples: &Samples<f64>) -> Mat<f64> {
    samples.clone().into_dense()
}

/// X̃·Z̃ᵀ.
fn linear_kernel(data: &Dataset<f64>) -> Mat<f64> {
    dense(&data.x) * dense(data.cols()).transpose()
}

/// U·S^p·Vᵀ from the q leading triplets.
fn power(a: &Mat<f64>, p: i32, q: usize) -> Mat<f64> {
    let svd = a.thin_svd().unwrap();
    let s = svd.S().column_vector();
    let kept = Mat::from_fn(s.nrows(), s.nrows(), |i, j| if i == j && i < q { s[i].powi(p) } else { 0.0 });
    svd.U() * kept * svd.V().transpose()
}

#[test]
fn the_linear_kernel_keeps_the_singular_vectors() {
    for (n, m) in SHAPES {
        for a in [matrix(n, m), deficient(n, m)] {
            for samples in both::<f64>(&a) {
                let kernel = |kind, width| linear_kernel(&dataset(samples.clone(), kind, width));
                assert!(gap(&kernel(Compat::Pca, None), &power(&a, 2, n)) < 1e-10, "pca {n} x {m}");
                assert!(gap(&kernel(Compat::Pinv, None), &a) < 1e-10, "pinv {n} x {m}");
                assert!(gap(&kernel(Compat::Pca, Some(3)), &power(&a, 2, 3)) < 1e-10, "pca 3 {n} x {m}");
                assert!(gap(&kernel(Compat::Pinv, Some(3)), &power(&a, 1, 3)) < 1e-10, "pinv 3 {n} x {m}");
            }
        }
    }
}

#[test]
fn the_shorter_side_gets_the_symmetric_factor() {
    for (n, m) in SHAPES {
        for a in [matrix(n, m), deficient(n, m)] {
            for samples in both::<f64>(&a) {
                let data = dataset(samples.clone(), Compat::Pca, None);
                let (mapped, kept, root) = if m >= n {
                    (dense(&data.x), dense(data.cols()), &a * a.transpose())
                } else {
                    (dense(data.cols()), dense(&data.x).transpose().to_owned(), a.transpose() * &a)
                };
                assert!((&mapped - mapped.transpose()).norm_max() < 1e-10, "symmetric");
                assert!(gap(&(&mapped * &mapped), &root) < 1e-10, "U S Uᵀ squared is A Aᵀ");
                assert_eq!(kept, a.transpose().to_owned(), "the other side is A itself");
            }
        }
    }
}

#[test]
fn all_principal_directions_give_the_same_distances_as_the_full_form() {
    for (n, m) in [(13, 7), (7, 13)] {
        let a = Samples::Dense(matrix(n, m));
        let kernel = |width| {
            let data = dataset(a.clone(), Compat::Pca, width);
            let (x, z) = (dense(&data.x), dense(data.cols()));
            crate::naive::matrix("rbf", 0.3, &x, &z)
        };
        assert!(gap(&kernel(Some(7)), &kernel(None)) < 1e-10);
    }
}

#[test]
fn the_random_kernel_tends_to_a_at_a() {
    for (n, m) in [(13, 7), (7, 13)] {
        let a = matrix(n, m);
        let norm = a.singular_values().unwrap()[0];
        let expected = &a * a.transpose() * &a;
        let error = |width| {
            let data = dataset(Samples::Dense(a.clone()), Compat::Random, Some(width));
            assert_eq!((data.x.width(), data.cols().width()), (width, width));
            let kernel = linear_kernel(&data);
            gap(&Mat::from_fn(n, m, |i, j| kernel[(i, j)] * norm), &expected)
        };
        assert!(error(20_000) < 0.05, "{}", error(20_000));
        assert!(error(20_000) < error(50));
    }
}

#[test]
fn the_gram_kernel_is_a_at_a() {
    for (n, m) in SHAPES {
        for a in [matrix(n, m), deficient(n, m)] {
            let norm = a.singular_values().unwrap()[0];
            let expected = &a * a.transpose() * &a;
            for samples in both::<f64>(&a) {
                let kernel = linear_kernel(&dataset(samples, Compat::Gram, None));
                // The norm is known to four digits.
                assert!(gap(&Mat::from_fn(n, m, |i, j| kernel[(i, j)] * norm), &expected) < 1e-3, "{n} x {m}");
            }
        }
    }
}

fn model(a: &Samples<f64>, kind: Compat, width: Option<usize>) -> KernelSvdModel<f64> {
    let estimator = KernelSvd::new("rbf").with_rank(3).with_gamma(Gamma::Median).with_center(true).with_tol(1e-12);
    estimator.fit(dataset(a.clone(), kind, width), &Run::default()).unwrap()
}

fn check_training_samples(model: &KernelSvdModel<f64>, a: &Samples<f64>, what: &str) {
    let columns = a.transpose();
    for (side, raw) in [(Side::Row, a), (Side::Col, &columns)] {
        let (seen, placed) = match side {
            Side::Row => (&model.data.x, model.project_rows(raw.as_ref(), &Run::default()).unwrap()),
            Side::Col => (model.data.cols(), model.project_cols(raw.as_ref(), &Run::default()).unwrap()),
        };
        let mapped = model.data.maps.apply(side, raw.as_ref()).unwrap_or_else(|| dense(raw));
        assert!((mapped - dense(seen)).norm_max() < 1e-10, "{what} {side:?}");
        assert!((placed - model.embedding(side)).norm_max() < 1e-8, "{what} {side:?}");
    }
}

#[test]
fn raw_training_rows_and_columns_land_on_their_own_embedding() {
    for (n, m) in [(13, 7), (7, 13)] {
        for a in both::<f64>(&matrix(n, m)) {
            for kind in [Compat::Pinv, Compat::Pca, Compat::Random] {
                for width in [None, Some(5)] {
                    check_training_samples(&model(&a, kind, width), &a, &format!("{kind} {width:?} {n} x {m}"));
                }
            }
        }
    }
}

#[test]
fn maps_survive_the_model_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model");
    let a = Samples::Dense(matrix(13, 7));
    for (kind, width) in [(Compat::Pca, None), (Compat::Pca, Some(4)), (Compat::Random, None), (Compat::Gram, None)] {
        let model = model(&a, kind, width);
        model.save(&path).unwrap();
        let back = KernelSvdModel::<f64>::load(&path).unwrap();
        check_training_samples(&back, &a, "loaded");
        let rows = |m: &KernelSvdModel<f64>| m.project_rows(a.as_ref(), &Run::default()).unwrap();
        assert_eq!(rows(&back), rows(&model));
        let narrow = Samples::Dense(Mat::<f64>::zeros(1, 3));
        let error = back.project_rows(narrow.as_ref(), &Run::default()).unwrap_err().to_string();
        assert_eq!(error, "the width of the new rows is 3 but must be 7");
    }
}

#[test]
fn a_square_matrix_stays_as_it_is_without_compatibility() {
    let a = matrix(6, 6);
    let data = dataset(Samples::Dense(a.clone()), Compat::None, None);
    assert!(data.maps.rows.is_none() && data.maps.cols.is_none());
    assert_eq!((dense(&data.x), dense(data.cols())), (a.clone(), a.transpose().to_owned()));
}

#[test]
fn the_same_seed_gives_the_same_maps_for_any_number_of_threads() {
    let a = both::<f64>(&matrix(40, 25))[1].clone();
    for kind in [Compat::Pca, Compat::Random] {
        for width in [None, Some(10)] {
            let with = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let data = pool.install(|| dataset(a.clone(), kind, width));
                (dense(&data.x), dense(data.cols()))
            };
            assert_eq!(with(1), with(3), "{kind} {width:?}");
        }
    }
}

#[test]
fn the_short_way_to_the_full_form_is_exact() {
    let full = |n: usize, m: usize| synth::gaussian::<f64>(n, m, 3);
    let repeated = |n: usize, m: usize| {
        let a = full(n, m);
        Mat::from_fn(n, m, |i, j| a[(i / 2 * 2, j)])
    };
    // Singular values from 1 to 1e-6, whose squares lose too much.
    let faded = |n: usize, m: usize| {
        let a = full(n, m);
        let scale = |k: usize| 10f64.powf(-6.0 * k as f64 / n.min(m) as f64);
        Mat::from_fn(n, m, |i, j| a[(i, j)] * if m <= n { scale(j) } else { scale(i) })
    };
    for (n, m) in [(260, 210), (210, 260)] {
        for (what, a) in [("full", full(n, m)), ("repeated", repeated(n, m)), ("faded", faded(n, m))] {
            for samples in both::<f64>(&a) {
                let kernel = linear_kernel(&dataset(samples, Compat::Pca, None));
                assert!(gap(&kernel, &power(&a, 2, n)) < 1e-10, "{what} {n} x {m}");
            }
        }
    }
}

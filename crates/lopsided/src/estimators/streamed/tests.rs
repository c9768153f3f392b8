//! The streamed machine against the plainest dense computation with the same coordinates and landmarks.

use super::*;
use crate::data::samples::Csr;
use crate::operator::StreamedOperator;
use crate::solvers::svd::SvdSolver;
use rand::RngExt;

/// Random entries, some rows and columns without any.
fn matrix(n: usize, m: usize) -> Csr<f64> {
    let mut rng = crate::base::random::generator(3, crate::base::random::Purpose::Data);
    let entry = |rng: &mut rand_chacha::ChaCha8Rng| {
        (rng.random_range(0..n as u32), rng.random_range(0..m as u32), rng.random::<f64>() + 0.2)
    };
    let all: Vec<_> = (0..4 * (n + m)).map(|_| entry(&mut rng)).collect();
    Csr::from_triplets(n, m, &all.into_iter().filter(|e| e.0 % 11 != 5 && e.1 % 13 != 2).collect::<Vec<_>>())
}

const COMPATS: [Compat; 2] = [Compat::Gram, Compat::Random];

fn machine(kernel: &str, compat: Compat) -> StreamedKernelSvd {
    StreamedKernelSvd {
        rank: 4,
        rows_sample: Some(40),
        cols_sample: Some(35),
        compat,
        width: (compat == Compat::Random).then_some(21),
        gamma: Gamma::Median,
        block_bytes: 1,
        ..StreamedKernelSvd::new(kernel)
    }
}

fn fit(machine: &StreamedKernelSvd, a: &Csr<f64>, chunk: usize) -> (StreamedModel<f64>, u64) {
    let rows = RowStream::of_matrix(a.clone(), chunk);
    let sketch = machine.sketch(&rows, &Run::default()).unwrap();
    let before = rows.passes();
    (machine.fit(&rows, &sketch, &Run::default()).unwrap(), rows.passes() - before)
}

/// k(x̃_i, z̃_j), all of it, by its definition; SNE with row sums from the landmarks.
fn kernel_matrix(a: &Csr<f64>, sketch: &Sketch<f64>, gamma: f64, sne: bool) -> Mat<f64> {
    let cols = &sketch.cols.at;
    let omega = match &sketch.coordinates {
        Coordinates::All => Mat::identity(a.ncols(), a.ncols()),
        Coordinates::Signs(signs) => signs.dense(),
    };
    let a = a.to_dense();
    // ‖A‖ is wanted to a few digits only.
    assert!((a.singular_values().unwrap()[0] * sketch.scale - 1.0).abs() < 1e-4);
    let x = &a * &omega;
    let z = a.transpose() * &x * faer::Scale(sketch.scale);
    let value = |i: usize, j: usize| (-gamma * (x.row(i) - z.row(j)).squared_norm_l2()).exp();
    let mut g = Mat::from_fn(a.nrows(), a.ncols(), value);
    for i in (0..g.nrows()).filter(|_| sne) {
        let sum: f64 = cols.iter().zip(&sketch.shares).map(|(&j, share)| g[(i, j)] * share).sum();
        (0..g.ncols()).for_each(|j| g[(i, j)] /= sum);
    }
    g
}

/// Nyström as in \[KSVD\] Eq. (9) with vectors of unit length, columns weighted by their shares.
fn naive(g: &Mat<f64>, sketch: &Sketch<f64>, rank: usize) -> (Mat<f64>, Vec<f64>, Mat<f64>) {
    let (rows, cols, root) = (&sketch.rows.at, &sketch.cols.at, |j: usize| sketch.shares[j].sqrt());
    let block = Mat::from_fn(rows.len(), cols.len(), |i, j| g[(rows[i], cols[j])] * root(j));
    let small = block.thin_svd().unwrap();
    let right = Mat::from_fn(g.nrows(), cols.len(), |i, j| g[(i, cols[j])] * root(j)) * small.V().subcols(0, rank);
    let left = Mat::from_fn(g.ncols(), rows.len(), |j, i| g[(rows[i], j)]) * small.U().subcols(0, rank);
    let unit = |a: Mat<f64>| Mat::from_fn(a.nrows(), a.ncols(), |i, k| a[(i, k)] / a.col(k).norm_l2());
    let factor = (g.nrows() as f64 / rows.len() as f64).sqrt();
    (unit(right), (0..rank).map(|k| factor * small.S().column_vector()[k]).collect(), unit(left))
}

fn difference(found: &Mat<f64>, expected: &Mat<f64>, flips: &[f64]) -> f64 {
    let flipped = Mat::from_fn(expected.nrows(), expected.ncols(), |i, k| expected[(i, k)] * flips[k]);
    (found - flipped).norm_max()
}

#[test]
fn streaming_changes_nothing_but_the_memory() {
    for (n, m) in [(90, 60), (60, 90)] {
        for (kernel, compat) in ["rbf", "sne"].into_iter().flat_map(|kernel| COMPATS.map(|compat| (kernel, compat))) {
            let a = matrix(n, m);
            let machine = machine(kernel, compat);
            let rows = RowStream::of_matrix(a.clone(), 7);
            let sketch = machine.sketch(&rows, &Run::default()).unwrap();
            let model = machine.fit(&rows, &sketch, &Run::default()).unwrap();
            let gamma = model.kernel.params.get("gamma").unwrap();
            let g = kernel_matrix(&a, &sketch, gamma, kernel == "sne");
            let (u, sigma, v) = naive(&g, &sketch, 4);
            let flips: Vec<f64> = (0..4).map(|k| (u.col(k).transpose() * model.svd.u.col(k)).signum()).collect();
            let tolerance = 1e-8;
            assert!(difference(&model.svd.u, &u, &flips) < tolerance, "{kernel} {n} x {m}");
            assert!(difference(&model.svd.v, &v, &flips) < tolerance, "{kernel} {n} x {m}");
            assert!(sigma.iter().zip(&model.svd.sigma).all(|(a, b)| (a - b).abs() < tolerance * a), "{kernel}");
        }
    }
}

#[test]
fn results_do_not_depend_on_chunks_blocks_and_threads() {
    let a = matrix(700, 600);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for compat in COMPATS {
        let whole = StreamedKernelSvd { block_bytes: 1 << 20, ..machine("rbf", compat) };
        let (expected, passes) = fit(&whole, &a, 700);
        assert_eq!(passes, 2);
        for (chunk, threads) in [(1, 1), (64, 3), (256, 2)] {
            let (found, passes) = pool(threads).install(|| fit(&machine("rbf", compat), &a, chunk));
            assert_eq!(passes, 1 + 3, "three blocks of 256 columns");
            assert!((&found.svd.u - &expected.svd.u).norm_max() < 1e-10, "{chunk} {compat}");
            assert!((&found.svd.v - &expected.svd.v).norm_max() < 1e-10, "{chunk} {compat}");
        }
        let (one, four) = (pool(1).install(|| fit(&whole, &a, 50).0), pool(4).install(|| fit(&whole, &a, 50).0));
        let residuals = |model: &StreamedModel<f64>| model.svd.report.residuals().to_vec();
        assert!(one.svd.u == four.svd.u && one.svd.v == four.svd.v && residuals(&one) == residuals(&four), "{compat}");
    }
}

#[test]
fn columns_that_are_drawn_by_their_sums_stand_for_all_of_them() {
    let a = matrix(60, 500);
    let rows = RowStream::of_matrix(a.clone(), 60);
    let lengths: Vec<f64> = (0..500).map(|j| a.to_dense().col(j).squared_norm_l2()).collect();
    let estimate = |seed| {
        let sketch = machine("rbf", Compat::Gram).sketch(&rows, &Run { seed, ..Run::default() }).unwrap();
        assert!(sketch.shares.iter().all(|share| *share >= 1.0));
        let sum =
            |of: &dyn Fn(usize) -> f64| sketch.cols.at.iter().zip(&sketch.shares).map(|(&j, s)| s * of(j)).sum::<f64>();
        [sum(&|_| 1.0), sum(&|j| lengths[j])]
    };
    let estimates: Vec<[f64; 2]> = (0..400).map(estimate).collect();
    for (at, truth) in [500.0, lengths.iter().sum::<f64>()].into_iter().enumerate() {
        let mean = estimates.iter().map(|e| e[at]).sum::<f64>() / 400.0;
        let deviation = (estimates.iter().map(|e| (e[at] - mean).powi(2)).sum::<f64>() / 400.0).sqrt();
        assert!((mean - truth).abs() < 5.0 * deviation / 20.0, "{mean} {truth} {deviation}");
    }
    let all = StreamedKernelSvd { cols_sample: Some(500), ..machine("rbf", Compat::Gram) };
    assert!(all.sketch(&rows, &Run::default()).unwrap().shares.iter().all(|share| *share == 1.0));
}

#[test]
fn estimates_are_those_of_the_whole_matrix_when_all_of_it_is_looked_at() {
    let a = matrix(90, 60);
    let machine = machine("rbf", Compat::Gram);
    let rows = RowStream::of_matrix(a.clone(), 32);
    let sketch = machine.sketch(&rows, &Run::default()).unwrap();
    let model = machine.fit(&rows, &sketch, &Run::default()).unwrap();
    let g = kernel_matrix(&a, &sketch, model.kernel.params.get("gamma").unwrap(), false);
    let svd = &model.svd;
    let scaled = Mat::from_fn(90, 4, |i, k| svd.u[(i, k)] * svd.sigma[k]);
    let error = (&g - scaled * svd.v.transpose()).norm_l2() / g.norm_l2();
    assert!((svd.report.error_estimate.unwrap() - error).abs() < 1e-10);
    let residuals = svd.residuals(&crate::operator::DenseOperator::Borrowed(g.as_ref())).unwrap();
    assert!(residuals.iter().zip(svd.report.residuals()).all(|(a, b)| (a - b).abs() < 1e-10));
    assert!(!svd.report.converged() && svd.report.residual() > 1e-3);
}

#[test]
fn products_and_blocks_are_those_of_the_matrix() {
    let a = matrix(50, 40);
    let rows = RowStream::of_matrix(a.clone(), 9);
    let streamed = StreamedOperator::new(&rows, &Default::default());
    let dense = a.to_dense();
    let given = crate::operator::DenseOperator::Borrowed(dense.as_ref());
    let exact = crate::solvers::svd::Exact { tol: 1e-10 }.solve(&given, 3, &Run::default()).unwrap();
    let lanczos = crate::solvers::svd::Lanczos { tol: 1e-10, block: 4, restarts: 100 };
    let found = lanczos.solve(&streamed, 3, &Run::default()).unwrap();
    assert!(found.report.converged());
    assert!(found.sigma.iter().zip(&exact.sigma).all(|(a, b)| (a - b).abs() < 1e-9));
    let (picked, cols) = ([41, 3, 3], [39, 0, 17]);
    let mut block = Mat::zeros(3, 3);
    crate::operator::Operator::block(&streamed, &picked, &cols, block.as_mut()).unwrap();
    assert_eq!(block, Mat::from_fn(3, 3, |i, j| dense[(picked[i], cols[j])]));
}

#[test]
fn kernel_components_are_those_of_the_symmetric_method() {
    let a = matrix(80, 50);
    let rows = RowStream::of_matrix(a.clone(), 13);
    let kernel = KernelSpec::new("rbf").with("gamma", 0.3);
    let machine = StreamedKpca { kernel, sample: Some(80), ..StreamedKpca::new("rbf", 3) };
    let u = machine.row_features(&rows, &Run::default()).unwrap();
    let x = a.to_dense();
    let g = Mat::from_fn(80, 80, |i, j| (-0.3 * (x.row(i) - x.row(j)).squared_norm_l2()).exp());
    let image = &g * &u;
    for k in 0..3 {
        let value = u.col(k).transpose() * image.col(k);
        assert!((image.col(k) - u.col(k) * faer::Scale(value)).norm_l2() < 1e-5 * value, "{k}");
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    let rows = RowStream::of_matrix(matrix(30, 20), 8);
    let message = |machine: StreamedKernelSvd| {
        let sketch = machine.sketch(&rows, &Run::default());
        sketch.and_then(|s| machine.fit(&rows, &s, &Run::default())).err().unwrap().to_string()
    };
    let plain = StreamedKernelSvd::new("rbf");
    let random = StreamedKernelSvd { compat: Compat::Random, ..plain.clone() };
    let wide = message(StreamedKernelSvd { width: Some(0), ..random });
    assert_eq!(wide, "`compat-width` is 0 but must be at least 1");
    let wide = message(StreamedKernelSvd { width: Some(7), ..plain.clone() });
    assert_eq!(wide, "`compat-width` is 7 but must be left out with gram, which keeps all coordinates");
    let other = message(StreamedKernelSvd { compat: Compat::Pca, ..plain.clone() });
    assert_eq!(other, "`compat` is pca but must be gram or random out of core");
    let many = message(StreamedKernelSvd { cols_sample: Some(21), ..plain.clone() });
    assert_eq!(many, "`cols-sample` is 21 but must be between 1 and m = 20");
    let many = message(StreamedKernelSvd { rows_sample: Some(31), ..plain.clone() });
    assert_eq!(many, "`rows-sample` is 31 but must be between 1 and n = 30");
    let rank = message(StreamedKernelSvd { rank: 21, ..plain.clone() });
    assert_eq!(rank, "`rank` is 21 but must be between 1 and 20, the landmarks on a side");
    let given = message(StreamedKernelSvd { kernel: KernelSpec::new("precomputed"), ..plain });
    assert_eq!(given, "`kernel` is precomputed but must be one that compares samples, out of core");
}

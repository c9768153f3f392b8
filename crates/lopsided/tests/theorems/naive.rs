//! The plainest loops for everything: slow, obvious, in f64.

use lopsided::{Csr, Mat, Samples, Scalar};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Kernel values before normalisation, entry by entry.
pub(crate) fn kernel(name: &str, gamma: f64, x: &[f64], z: &[f64]) -> f64 {
    let dot: f64 = x.iter().zip(z).map(|(a, b)| a * b).sum();
    let square: f64 = x.iter().zip(z).map(|(a, b)| (a - b).powi(2)).sum();
    let absolute: f64 = x.iter().zip(z).map(|(a, b)| (a - b).abs()).sum();
    match name {
        "linear" => dot,
        "poly" => (gamma * dot + 0.5).powi(3),
        "rbf" | "sne" => (-gamma * square).exp(),
        "laplacian" => (-gamma * absolute).exp(),
        "t" => 1.0 / (1.0 + gamma * square),
        other => panic!("no naive {other}"),
    }
}

/// The whole matrix G with the row normalisation of SNE and T.
pub(crate) fn matrix(name: &str, gamma: f64, x: &Mat<f64>, z: &Mat<f64>) -> Mat<f64> {
    let row = |m: &Mat<f64>, i: usize| -> Vec<f64> { (0..m.ncols()).map(|k| m[(i, k)]).collect() };
    let mut g = Mat::from_fn(x.nrows(), z.nrows(), |i, j| kernel(name, gamma, &row(x, i), &row(z, j)));
    if matches!(name, "sne" | "t") {
        for i in 0..g.nrows() {
            let sum: f64 = (0..g.ncols()).map(|j| g[(i, j)]).sum();
            (0..g.ncols()).for_each(|j| g[(i, j)] /= sum);
        }
    }
    g
}

/// The parameters the naive twin uses, by name.
pub(crate) fn spec(name: &str, gamma: f64) -> lopsided::kernel::KernelSpec {
    let spec = lopsided::kernel::KernelSpec::new(name);
    match name {
        "linear" => spec,
        "poly" => spec.with("gamma", gamma).with("coef0", 0.5).with("degree", 3.0),
        _ => spec.with("gamma", gamma),
    }
}

/// All kernels that are functions of two samples.
pub(crate) const POINTWISE: [&str; 6] = ["linear", "poly", "rbf", "laplacian", "sne", "t"];

/// Centres rows and columns.
pub(crate) fn center(g: &Mat<f64>) -> Mat<f64> {
    let (n, m) = (g.nrows() as f64, g.ncols() as f64);
    let rows: Vec<f64> = (0..g.nrows()).map(|i| (0..g.ncols()).map(|j| g[(i, j)]).sum::<f64>() / m).collect();
    let cols: Vec<f64> = (0..g.ncols()).map(|j| (0..g.nrows()).map(|i| g[(i, j)]).sum::<f64>() / n).collect();
    let all = rows.iter().sum::<f64>() / n;
    Mat::from_fn(g.nrows(), g.ncols(), |i, j| g[(i, j)] - rows[i] - cols[j] + all)
}

/// Matrices of moderate size with entries in [-2, 2], about half of them zero.
pub(crate) fn sparse_matrix(rows: std::ops::Range<usize>, width: usize) -> impl Strategy<Value = Mat<f64>> {
    rows.prop_flat_map(move |n| {
        proptest::collection::vec(prop_oneof![Just(0.0), -2.0..2.0], n * width)
            .prop_map(move |v| Mat::from_fn(n, width, |i, j| v[i * width + j]))
    })
}

/// One random draw outside a property, from a fixed seed.
pub(crate) fn draw<S: Strategy>(strategy: &S) -> S::Value {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    strategy.new_tree(&mut runner).expect("a value").current()
}

/// The same samples, stored dense and sparse, in either precision.
pub(crate) fn both<T: Scalar>(m: &Mat<f64>) -> [Samples<T>; 2] {
    let mut triplets = Vec::new();
    for i in 0..m.nrows() {
        for j in 0..m.ncols() {
            if m[(i, j)] != 0.0 {
                triplets.push((i as u32, j as u32, T::of(m[(i, j)])));
            }
        }
    }
    [
        Samples::Dense(Mat::from_fn(m.nrows(), m.ncols(), |i, j| T::of(m[(i, j)]))),
        Samples::Sparse(Csr::from_triplets(m.nrows(), m.ncols(), &triplets)),
    ]
}

/// Largest difference relative to the largest entry.
pub(crate) fn gap<T: Scalar>(a: &Mat<T>, b: &Mat<f64>) -> f64 {
    let difference = Mat::from_fn(b.nrows(), b.ncols(), |i, j| a[(i, j)].as_f64() - b[(i, j)]);
    difference.norm_max() / b.norm_max().max(1e-300)
}

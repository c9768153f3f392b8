use crate::naive::{self, POINTWISE, both, sparse_matrix};
use faer::{MatMut, MatRef};
use lopsided::data::synth;
use lopsided::kernel::KernelSpec;
use lopsided::operator::{Centered, KernelMatrix, Means, Operator, OperatorChoice};
use lopsided::{Mat, Result, Samples, Scalar};
use proptest::prelude::*;

/// Only `block`, so that the products are the provided ones.
struct Provided<'a, T>(&'a dyn Operator<T>);

impl<T: Scalar> Operator<T> for Provided<'_, T> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn ncols(&self) -> usize {
        self.0.ncols()
    }
    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        self.0.block(rows, cols, out)
    }
}

fn product<T: Scalar>(g: &dyn Operator<T>, v: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(g.nrows(), v.ncols());
    g.apply(v, out.as_mut()).unwrap();
    out
}

fn transposed_product<T: Scalar>(g: &dyn Operator<T>, u: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(g.ncols(), u.ncols());
    g.apply_transpose(u, out.as_mut()).unwrap();
    out
}

fn wave<T: Scalar>(n: usize, r: usize) -> Mat<T> {
    Mat::from_fn(n, r, |i, j| T::of(((i * 31 + j * 17) as f64 * 0.37).sin()))
}

/// Every way to build G gives the naive matrix, its products, their adjoint identity and the provided products.
fn check_operators<T: Scalar>(name: &str, gamma: f64, x: &Mat<f64>, z: &Mat<f64>, tol: f64) {
    let expected = naive::matrix(name, gamma, x, z);
    let kernel = naive::spec(name, gamma).build::<T>().unwrap();
    let choices = [OperatorChoice::Auto, OperatorChoice::Sparse, OperatorChoice::Tiles, OperatorChoice::Dense];
    for (xs, zs) in both::<T>(x).iter().zip(&both::<T>(z)) {
        for choice in choices {
            let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, xs.as_ref(), zs.as_ref()) };
            let Ok(built) = matrix.build() else {
                assert_eq!(choice, OperatorChoice::Sparse, "only the sparse form may be missing");
                continue;
            };
            let g = &*built.operator;
            let (v, u) = (wave::<T>(g.ncols(), 3), wave::<T>(g.nrows(), 3));
            let (gv, gu) = (product(g, v.as_ref()), transposed_product(g, u.as_ref()));
            let plain = &expected * wave::<f64>(g.ncols(), 3);
            let plain_t = expected.transpose() * wave::<f64>(g.nrows(), 3);
            let size = expected.norm_max() * (x.nrows() + z.nrows()) as f64;
            let label = format!("{name} {choice:?} {}", T::NAME);
            assert!(gap(&gv, &plain) <= tol * size, "{label}: G V is off by {}", gap(&gv, &plain));
            assert!(gap(&gu, &plain_t) <= tol * size, "{label}: Gᵀ U is off by {}", gap(&gu, &plain_t));
            let (left, right) = (u.transpose() * &gv, gu.transpose() * &v);
            assert!((left - right).norm_max().as_f64() <= tol * size * 10.0, "{label}: adjoint identity");
            let provided = Provided(g);
            assert!(
                (product(&provided, v.as_ref()) - &gv).norm_max().as_f64() <= tol * size * 10.0,
                "{label}: provided G V"
            );
            assert!(
                (transposed_product(&provided, u.as_ref()) - &gu).norm_max().as_f64() <= tol * size * 10.0,
                "{label}: provided Gᵀ U"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_operator_multiplies_like_the_naive_matrix(
        x in sparse_matrix(1..14, 4), z in sparse_matrix(1..10, 4), gamma in 0.1..1.5f64,
    ) {
        for name in POINTWISE {
            check_operators::<f64>(name, gamma, &x, &z, 1e-11);
            check_operators::<f32>(name, gamma, &x, &z, 1e-4);
        }
    }

    #[test]
    fn centring_subtracts_both_means(x in sparse_matrix(2..9, 3), z in sparse_matrix(2..9, 3)) {
        let kernel = naive::spec("sne", 0.4).build::<f64>().unwrap();
        let [xs, _] = both::<f64>(&x);
        let [zs, _] = both::<f64>(&z);
        let built = KernelMatrix::new(&*kernel, xs.as_ref(), zs.as_ref()).build().unwrap();
        let centered = Centered::new(&*built.operator, Means::of(&*built.operator).unwrap());
        let expected = naive::center(&naive::matrix("sne", 0.4, &x, &z));
        let identity = Mat::<f64>::identity(z.nrows(), z.nrows());
        prop_assert!((product(&centered, identity.as_ref()) - &expected).norm_max() < 1e-12);
        let identity = Mat::<f64>::identity(x.nrows(), x.nrows());
        prop_assert!((transposed_product(&centered, identity.as_ref()) - expected.transpose()).norm_max() < 1e-12);
        let mut block = Mat::zeros(x.nrows(), z.nrows());
        let all = |n: usize| (0..n).collect::<Vec<_>>();
        centered.block(&all(x.nrows()), &all(z.nrows()), block.as_mut()).unwrap();
        prop_assert!((block - expected).norm_max() < 1e-12);
    }
}

#[test]
fn tiles_across_several_tile_borders_equal_the_naive_matrix() {
    let x = Mat::from_fn(600, 3, |i, j| ((i * 13 + j * 7) % 29) as f64 / 10.0);
    let z = Mat::from_fn(530, 3, |i, j| ((i * 11 + j * 5) % 31) as f64 / 10.0);
    for name in POINTWISE {
        check_operators::<f64>(name, 0.3, &x, &z, 1e-11);
    }
}

/// Squared distances of about a million: every exponential underflows, the ratios within a row do not.
#[test]
fn sne_rows_sum_to_one_when_all_exponentials_underflow() {
    let x = Mat::from_fn(7, 2, |i, _| 1000.0 + i as f64);
    let z = Mat::from_fn(5, 2, |j, k| if k == 0 { j as f64 * 0.01 } else { 0.0 });
    for (xs, zs) in both::<f64>(&x).iter().zip(&both::<f64>(&z)) {
        for choice in [OperatorChoice::Auto, OperatorChoice::Sparse, OperatorChoice::Tiles, OperatorChoice::Dense] {
            let kernel = naive::spec("sne", 1.0).build::<f64>().unwrap();
            let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, xs.as_ref(), zs.as_ref()) };
            let built = match matrix.build() {
                // The sparse form is for sparse samples.
                Err(lopsided::Error::Param { .. }) if choice == OperatorChoice::Sparse => continue,
                built => built.unwrap(),
            };
            let sums = product(&*built.operator, wave_of_ones(5).as_ref());
            assert!((0..7).all(|i| (sums[(i, 0)] - 1.0).abs() < 1e-9), "{choice:?}: {sums:?}");
        }
    }
}

/// Every meeting negative and large: the dense part of the sparse form is e^40 times the row's values.
#[test]
fn the_sparse_form_survives_cancellation() {
    let x = Mat::from_fn(5, 2, |i, _| -3.0 - i as f64 * 0.1);
    let z = Mat::from_fn(6, 2, |j, _| 3.0 + j as f64 * 0.1);
    check_operators::<f64>("sne", 1.0, &x, &z, 1e-12);
}

/// Largest difference.
fn gap<T: Scalar>(a: &Mat<T>, b: &Mat<f64>) -> f64 {
    Mat::from_fn(b.nrows(), b.ncols(), |i, j| a[(i, j)].as_f64() - b[(i, j)]).norm_max()
}

fn wave_of_ones(n: usize) -> Mat<f64> {
    Mat::from_fn(n, 1, |_, _| 1.0)
}

/// Norms far beyond the exponent range: a_i and b_j underflow while the kernel value is 1.
#[test]
fn the_sparse_form_survives_samples_of_enormous_norm() {
    let x = Mat::from_fn(4, 4, |i, j| if i == j { 100.0 } else { 0.0 });
    for name in ["rbf", "laplacian", "sne"] {
        check_operators::<f64>(name, 1.0, &x, &x, 1e-11);
    }
}

/// Row after row or column after column in memory: the numbers are the same, and so is everything made of them.
#[test]
fn the_order_of_samples_in_memory_does_not_change_bits() {
    use lopsided::data::samples::{Order, SharedRows};
    use std::sync::Arc;
    for (n, d) in [(7, 1), (40, 3), (300, 17), (520, 70)] {
        let x = synth::gaussian::<f64>(n, d, 3);
        let flat: Vec<f64> = (0..n).flat_map(|i| (0..d).map(move |j| (i, j))).map(|at| x[at]).collect();
        let by_rows = Samples::Shared(SharedRows::new(Arc::new(flat), (n, d), Order::Rows).unwrap());
        let by_columns = Samples::Dense(x);
        let v = synth::gaussian::<f64>(n, 5, 4);
        for name in ["linear", "poly", "rbf", "laplacian", "sne", "t"] {
            let spec = KernelSpec::new(name);
            let spec = if spec.gamma_from_data() { spec.with("gamma", 0.3) } else { spec };
            let kernel = spec.build::<f64>().unwrap();
            let product = |x: &Samples<f64>| {
                let built = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).build().unwrap();
                let mut out = Mat::zeros(n, 5);
                built.operator.apply(v.as_ref(), out.as_mut()).unwrap();
                let mut back = Mat::zeros(n, 5);
                built.operator.apply_transpose(v.as_ref(), back.as_mut()).unwrap();
                (out, back)
            };
            assert!(product(&by_rows) == product(&by_columns), "{name}, {n} x {d}");
        }
    }
}

use crate::naive::{self, POINTWISE, both, gap, sparse_matrix};
use lopsided::kernel::{Normalization, kernels};
use lopsided::{Mat, Scalar};
use proptest::prelude::*;

fn blocks_equal_naive<T: Scalar>(gamma: f64, x: &Mat<f64>, z: &Mat<f64>, tol: f64) {
    for name in POINTWISE {
        let kernel = naive::spec(name, gamma).build::<T>().unwrap();
        let plain = Mat::from_fn(x.nrows(), z.nrows(), |i, j| {
            let row = |m: &Mat<f64>, i: usize| -> Vec<f64> { (0..m.ncols()).map(|k| m[(i, k)]).collect() };
            naive::kernel(name, gamma, &row(x, i), &row(z, j))
        });
        for xs in both::<T>(x) {
            for zs in both::<T>(z) {
                let mut out = Mat::<T>::zeros(x.nrows(), z.nrows());
                kernel.block(xs.as_ref(), zs.as_ref(), out.as_mut()).unwrap();
                if kernel.normalization() == Normalization::Softmax {
                    out = Mat::from_fn(x.nrows(), z.nrows(), |i, j| out[(i, j)].exp());
                }
                assert!(gap(&out, &plain) < tol, "{name} in {}: {}", T::NAME, gap(&out, &plain));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_kernel_equals_its_naive_twin_in_both_precisions(
        x in sparse_matrix(1..9, 5), z in sparse_matrix(1..12, 5), gamma in 0.05..2.0f64,
    ) {
        blocks_equal_naive::<f64>(gamma, &x, &z, 1e-12);
        blocks_equal_naive::<f32>(gamma, &x, &z, 2e-5);
    }
}

#[test]
fn the_list_of_kernels_is_complete() {
    let names: Vec<_> = kernels::<f64>().iter().map(|k| k.name).collect();
    let of_samples = ["linear", "poly", "rbf", "laplacian", "sne", "t", "kl", "precomputed"];
    assert_eq!(names, [&of_samples[..], &["katz", "ppr", "shortest-path"]].concat());
}

#[test]
fn parameters_are_checked_by_name() {
    for (name, parameter, value) in [
        ("rbf", "gamma", 0.0),
        ("sne", "gamma", -1.0),
        ("laplacian", "gamma", f64::NAN),
        ("poly", "degree", 0.0),
        ("t", "gamma", 0.0),
    ] {
        let error = naive::spec(name, 1.0).with(parameter, value).build::<f64>().err().unwrap().to_string();
        assert!(error.contains(parameter) && error.contains("but must be"), "{error}");
    }
    let error = naive::spec("linear", 1.0).with("gamma", 1.0).build::<f64>().err().unwrap().to_string();
    assert!(error.contains("gamma"), "{error}");
}

use crate::naive::{both, gap, sparse_matrix};
use lopsided::kernel::KernelSpec;
use lopsided::operator::KernelMatrix;
use lopsided::{Mat, Samples, Scalar};
use proptest::prelude::*;

const EPSILON: f64 = 1e-4;

/// exp(−gamma·Σ p·ln(p/q)) of smoothed histograms.
fn naive(gamma: f64, x: &Mat<f64>, z: &Mat<f64>) -> Mat<f64> {
    let smoothed = |m: &Mat<f64>, i: usize| -> Vec<f64> {
        let total: f64 = m.row(i).iter().sum();
        let raised: Vec<f64> = m.row(i).iter().map(|v| v / total + EPSILON).collect();
        let total: f64 = raised.iter().sum();
        raised.iter().map(|v| v / total).collect()
    };
    Mat::from_fn(x.nrows(), z.nrows(), |i, j| {
        let (p, q) = (smoothed(x, i), smoothed(z, j));
        (-gamma * p.iter().zip(&q).map(|(p, q)| p * (p / q).ln()).sum::<f64>()).exp()
    })
}

/// Non-negative, and positive somewhere in every row.
fn histograms(m: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)].abs() + if j == i % m.ncols() { 0.5 } else { 0.0 })
}

fn blocks_equal_naive<T: Scalar>(gamma: f64, x: &Mat<f64>, z: &Mat<f64>, tol: f64) {
    let kernel = KernelSpec::new("kl").with("gamma", gamma).with("epsilon", EPSILON).build::<T>().unwrap();
    for xs in both::<T>(x) {
        for zs in both::<T>(z) {
            let mut out = Mat::<T>::zeros(x.nrows(), z.nrows());
            kernel.block(xs.as_ref(), zs.as_ref(), out.as_mut()).unwrap();
            let gap = gap(&out, &naive(gamma, x, z));
            assert!(gap < tol, "{}: {gap}", T::NAME);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_kl_kernel_equals_its_naive_twin_in_both_precisions(
        x in sparse_matrix(1..9, 5), z in sparse_matrix(1..12, 5), gamma in 0.05..2.0f64,
    ) {
        let (x, z) = (histograms(&x), histograms(&z));
        blocks_equal_naive::<f64>(gamma, &x, &z, 1e-12);
        blocks_equal_naive::<f32>(gamma, &x, &z, 2e-5);
    }
}

#[test]
fn scale_does_not_count_and_direction_does() {
    let x = Mat::from_fn(2, 2, |i, j| [[3.0, 1.0], [6.0, 0.0]][i][j]);
    let kernel = KernelSpec::new("kl").build::<f64>().unwrap();
    let values = |factor: f64| {
        let samples = Samples::Dense(&x * faer::Scale(factor));
        let mut out = Mat::zeros(2, 2);
        kernel.block(samples.as_ref(), samples.as_ref(), out.as_mut()).unwrap();
        out
    };
    assert!((values(1.0) - values(10.0)).norm_max() < 1e-12);
    // What the second never has is surprising; what the first has half of is not.
    assert!(values(1.0)[(0, 1)] < 0.1 && values(1.0)[(1, 0)] > 0.7);
    assert!((values(1.0)[(0, 0)] - 1.0).abs() < 1e-12);
}

#[test]
fn samples_that_are_no_histograms_are_refused() {
    let kernel = KernelSpec::new("kl").build::<f64>().unwrap();
    let message = |m: Mat<f64>| -> Vec<String> {
        let of = |samples: &Samples<f64>| {
            KernelMatrix::new(&*kernel, samples.as_ref(), samples.as_ref()).build().map(|_| ()).unwrap_err().to_string()
        };
        both::<f64>(&m).iter().map(of).collect()
    };
    for text in message(Mat::from_fn(3, 2, |i, j| i as f64 - j as f64 + 0.5)) {
        assert!(text.starts_with("`samples` is -0.5 but must be histograms for the kernel `kl`"), "{text}");
    }
    for text in message(Mat::from_fn(3, 2, |i, _| i as f64)) {
        assert!(text.starts_with("`samples` is 0 in all bins of a row"), "{text}");
    }
    for (name, value) in [("epsilon", 0.0), ("epsilon", 2.0), ("gamma", 0.0)] {
        let error = KernelSpec::new("kl").with(name, value).build::<f64>().err().unwrap().to_string();
        assert!(error.contains(name) && error.contains("but must be"), "{error}");
    }
}

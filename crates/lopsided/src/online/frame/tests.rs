use super::*;
use crate::base::random;

fn frame(kernel: &KernelSpec, samples: &Mat<f64>, normalize: bool) -> (Frame, Vec<Vec<f64>>) {
    let mut frame = Frame::new(kernel, normalize).unwrap();
    let samples = SamplesRef::Dense(samples.as_ref());
    let coordinates = (0..samples.count())
        .map(|at| {
            let look = frame.look(samples, at).unwrap();
            frame.absorb(samples, at, &look).unwrap()
        })
        .collect();
    (frame, coordinates)
}

#[test]
fn coordinates_reproduce_the_kernel() {
    let samples = random::gaussian(12, 3, &mut random::generator(5, random::Purpose::Data));
    for kernel in [KernelSpec::new("linear"), KernelSpec::new("rbf").with("gamma", 0.4)] {
        let (mut frame, coordinates) = frame(&kernel, &samples, false);
        assert_eq!(frame.size(), if kernel.name == "linear" { 3 } else { 12 });
        let mut exact = Mat::zeros(12, 12);
        let all = SamplesRef::Dense(samples.as_ref());
        kernel.build::<f64>().unwrap().block(all, all, exact.as_mut()).unwrap();
        for i in 0..12 {
            for j in 0..12 {
                let product: f64 = coordinates[i].iter().zip(&coordinates[j]).map(|(a, b)| a * b).sum();
                assert!((product - exact[(i, j)]).abs() < 1e-9);
            }
        }
        // A fresh P spans the same space: the turn is orthogonal.
        let turn = frame.refreshed().unwrap().unwrap();
        let gram = product(turn.transpose(), turn.as_ref());
        assert!((gram - Mat::<f64>::identity(frame.size(), frame.size())).norm_max() < 1e-9);
    }
}

/// Samples so near each other that their kernel matrix is singular to rounding.
#[test]
fn coordinates_reproduce_a_kernel_that_is_nearly_singular() {
    let samples = random::gaussian(200, 2, &mut random::generator(6, random::Purpose::Data));
    let (frame, coordinates) = frame(&KernelSpec::new("rbf").with("gamma", 0.2), &samples, false);
    assert!(frame.size() < 200);
    for (i, a) in coordinates.iter().enumerate() {
        for (j, b) in coordinates.iter().enumerate() {
            let distance = (samples[(i, 0)] - samples[(j, 0)]).powi(2) + (samples[(i, 1)] - samples[(j, 1)]).powi(2);
            let value: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            assert!((value - (-0.2 * distance).exp()).abs() < 1e-4);
        }
    }
}

#[test]
fn unit_length_and_zero_samples() {
    let samples = Mat::from_fn(2, 2, |i, j| if i == 0 { 3.0 + j as f64 } else { 0.0 });
    let (frame, coordinates) = frame(&KernelSpec::new("linear"), &samples, true);
    assert!((coordinates[0][0] - 1.0).abs() < 1e-15);
    assert_eq!((frame.stored(), coordinates[1].as_slice()), (1, &[0.0][..]));
}

/// Each sample with its number before its kernel values.
fn given(gram: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(gram.nrows(), gram.ncols() + 1, |i, j| if j == 0 { i as f64 + 1.0 } else { gram[(i, j - 1)] })
}

#[test]
fn given_values_are_the_kernel() {
    let samples = random::gaussian(9, 4, &mut random::generator(7, random::Purpose::Data));
    let gram = product(samples.as_ref(), samples.transpose());
    let (linear, expected) = frame(&KernelSpec::new("linear"), &samples, true);
    let (precomputed, coordinates) = frame(&KernelSpec::new("precomputed"), &given(&gram), true);
    assert_eq!((precomputed.stored(), precomputed.size()), (linear.stored(), linear.size()));
    for (a, b) in coordinates.iter().zip(&expected) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn given_values_that_are_no_kernel_are_refused() {
    let message = |m: Mat<f64>, at: usize| {
        let mut frame = Frame::new(&KernelSpec::new("precomputed"), false).unwrap();
        let samples = SamplesRef::Dense(m.as_ref());
        for i in 0..at {
            let look = frame.look(samples, i).unwrap();
            frame.absorb(samples, i, &look).unwrap();
        }
        frame.look(samples, at).err().unwrap().to_string()
    };
    let one_sided = given(&faer::mat![[1.0, 0.5], [0.2, 1.0]]);
    assert!(message(one_sided.clone(), 1).contains("samples 2 and 1 is 0.2 but must be 0.5"));
    let mut unnumbered = one_sided;
    unnumbered[(0, 0)] = 3.0;
    assert!(message(unnumbered, 0).contains("is 3 but must be a whole number from 1 to 2"));
}

#[test]
fn kernels_without_features_are_refused() {
    for name in ["sne", "kl", "katz"] {
        let spec = KernelSpec::new(name);
        let spec = if name == "sne" { spec.with("gamma", 1.0) } else { spec };
        assert!(Frame::new(&spec, false).is_err(), "{name}");
    }
}

//! What a card computes, against the processor in double precision. With `-- --ignored` on a machine that has a card; the
//! tests that need none run everywhere.
#![allow(missing_docs, non_snake_case, clippy::print_stdout)]

use lopsided::base::device::{Device, cards};
use lopsided::estimators::{Approach, Approximation, KernelPca, KernelRidge};
use lopsided::kernel::{Kernel, KernelSpec};
use lopsided::operator::{Built, DeviceOperator, KernelMatrix, Operator, OperatorChoice};
use lopsided::{Dataset, Error, KernelSvd, Mat, MatRef, Run, Samples, Scalar, Watch};

/// Numbers that look random and are the same on every machine: about normal.
fn numbers(rows: usize, cols: usize, seed: u64) -> Mat<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    Mat::from_fn(rows, cols, |_, _| (0..12).map(|_| next()).sum::<f64>() - 6.0)
}

fn narrowed<T: Scalar>(from: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(from.nrows(), from.ncols(), |i, j| T::of(from[(i, j)]))
}

fn widened<T: Scalar>(from: &Mat<T>) -> Mat<f64> {
    Mat::from_fn(from.nrows(), from.ncols(), |i, j| from[(i, j)].as_f64())
}

/// The kernels with a form for cards, for samples of this width.
fn kernels(width: usize) -> Vec<KernelSpec> {
    let gamma = 0.5 / width as f64;
    let power = |degree: usize, coef0: f64| {
        KernelSpec::new("poly").with("gamma", 2.0 * gamma).with("coef0", coef0).with("degree", degree)
    };
    let distances = ["rbf", "sne", "t"].map(|name| KernelSpec::new(name).with("gamma", gamma));
    distances.into_iter().chain([power(1, 0.0), power(2, 1.0), power(3, -0.5)]).collect()
}

const CARD: Device = Device::Cuda(0);

fn matrix<'a, T: Scalar>(
    kernel: &'a dyn Kernel<T>,
    (x, z): (&'a Samples<T>, &'a Samples<T>),
    device: Device,
    fast: bool,
) -> KernelMatrix<'a, T> {
    let choice = OperatorChoice::Tiles;
    KernelMatrix { device, fast, choice, ..KernelMatrix::new(kernel, x.as_ref(), z.as_ref()) }
}

/// ‖a − b‖/‖b‖; a number that is none is far away.
fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let distance = (a - b).norm_l2() / b.norm_l2();
    if distance.is_finite() { distance } else { f64::INFINITY }
}

fn products<T: Scalar>(g: &dyn Operator<T>, v: MatRef<'_, T>, u: MatRef<'_, T>) -> (Mat<f64>, Mat<f64>) {
    let poison = |rows, cols| Mat::from_fn(rows, cols, |_, _| T::of(f64::NAN));
    let (mut forth, mut back) = (poison(g.nrows(), v.ncols()), poison(g.ncols(), u.ncols()));
    g.apply(v, forth.as_mut()).unwrap();
    g.apply_transpose(u, back.as_mut()).unwrap();
    (widened(&forth), widened(&back))
}

/// A problem, as rows, columns, width and vectors.
type Size = (usize, usize, usize, usize);

/// The largest distance of products on a card from those of the processor in double precision; the problem is rounded to T first.
fn distance<T: Scalar>(spec: &KernelSpec, (n, m, width, r): Size, fast: bool) -> f64 {
    let (x, z) = (narrowed::<T>(&numbers(n, width, 1)), narrowed::<T>(&numbers(m, width, 2)));
    let (v, u) = (narrowed::<T>(&numbers(m, r, 3)), narrowed::<T>(&numbers(n, r, 4)));
    let exact = spec.build::<f64>().unwrap();
    let wide = [&x, &z].map(|samples| Samples::Dense(widened(samples)));
    let built = matrix(&*exact, (&wide[0], &wide[1]), Device::Cpu, false).build().unwrap();
    let expected = products(&*built.operator, widened(&v).as_ref(), widened(&u).as_ref());
    let (x, z) = (Samples::Dense(x), Samples::Dense(z));
    let kernel = spec.build::<T>().unwrap();
    // A linear kernel, which the processor multiplies by its samples, has no place here: poly of degree 1 stands for it.
    let built: Built<'_, T> = matrix(&*kernel, (&x, &z), CARD, fast).build().unwrap();
    assert_eq!(built.plan.place.device, CARD, "{}", spec.name);
    let found = products(&*built.operator, v.as_ref(), u.as_ref());
    apart(&found.0, &expected.0).max(apart(&found.1, &expected.1))
}

const SIZES: [Size; 9] = [
    (1, 1, 1, 1),
    (3, 5, 2, 1),
    (64, 64, 16, 8),
    (65, 129, 17, 9),
    (193, 385, 10, 20),
    (700, 300, 33, 33),
    (385, 1100, 64, 100),
    (130, 2500, 100, 130),
    (2100, 900, 500, 24),
];

fn within<T: Scalar>(allowed: f64, fast: bool) {
    for size in SIZES {
        for spec in kernels(size.2) {
            let off = distance::<T>(&spec, size, fast);
            println!("{} {fast} {} {size:?}: {off:.1e}", T::NAME, spec.name);
            // A handful of numbers may nearly cancel.
            let allowed = if size.0 * size.1 < 100 { 10.0 * allowed } else { allowed };
            assert!(off <= allowed, "{} of {size:?}: {off:.2e}", spec.name);
        }
    }
}

/// What needs one: `--include-ignored --skip on_a_card` leaves them out.
mod on_a_card {
    use super::*;

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn doubles_agree_with_the_processor() {
        within::<f64>(1e-12, false);
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn two_halves_agree_to_single_precision() {
        within::<f32>(5e-6, false);
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn one_half_agrees_to_three_digits() {
        within::<f32>(2e-3, true);
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn the_same_bits_come_again_and_columns_do_not_depend_on_their_neighbours() {
        let samples = Samples::Dense(narrowed::<f32>(&numbers(3000, 20, 1)));
        let kernel = KernelSpec::new("sne").with("gamma", 0.05).build::<f32>().unwrap();
        let v = narrowed::<f32>(&numbers(3000, 40, 2));
        let once = || {
            let built = matrix(&*kernel, (&samples, &samples), CARD, false).build().unwrap();
            products(&*built.operator, v.as_ref(), v.as_ref())
        };
        assert_eq!(once(), once());
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn rows_of_a_softmax_sum_to_one_wherever_they_are() {
        // Rows a hundred bandwidths away from all columns: their exponents are far below all numbers.
        let x = Mat::from_fn(500, 3, |i, j| numbers(500, 3, 1)[(i, j)] + if i % 2 == 0 { 100.0 } else { 0.0 });
        let (x, z) = (Samples::Dense(x), Samples::Dense(numbers(800, 3, 2)));
        let kernel = KernelSpec::new("sne").with("gamma", 1.0).build::<f64>().unwrap();
        let built = matrix(&*kernel, (&x, &z), CARD, false).build().unwrap();
        let ones = Mat::from_fn(800, 1, |_, _| 1.0);
        let (sums, _) = products(&*built.operator, ones.as_ref(), numbers(500, 1, 3).as_ref());
        assert!(sums.col(0).iter().all(|s| (s - 1.0).abs() < 1e-10));
        let here = matrix(&*kernel, (&x, &z), Device::Cpu, false).build().unwrap();
        let (ours, theirs) = (built.normalizer.unwrap(), here.normalizer.unwrap());
        assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs())));
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn new_columns_meet_the_sums_of_the_old_ones() {
        let (x, z) = (Samples::Dense(numbers(300, 4, 1)), Samples::Dense(numbers(200, 4, 2)));
        for name in ["sne", "t"] {
            let kernel = KernelSpec::new(name).with("gamma", 0.3).build::<f64>().unwrap();
            let normalizer = matrix(&*kernel, (&x, &x), Device::Cpu, false).build().unwrap().normalizer;
            let product = |device| {
                let new = KernelMatrix { normalizer: normalizer.clone(), ..matrix(&*kernel, (&x, &z), device, false) };
                products(&*new.build().unwrap().operator, numbers(200, 3, 3).as_ref(), numbers(300, 3, 4).as_ref())
            };
            let (ours, theirs) = (product(CARD), product(Device::Cpu));
            assert!(apart(&ours.0, &theirs.0) < 1e-11 && apart(&ours.1, &theirs.1) < 1e-11, "{name}");
        }
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn samples_far_from_the_origin_and_narrow_kernels_keep_their_digits() {
        let moved = |seed| Mat::from_fn(400, 5, |i, j| numbers(400, 5, seed)[(i, j)] + 1000.0);
        for (gamma, allowed) in [(0.1, 1e-4), (10.0, 1e-3), (1e6, 1e-2)] {
            let spec = KernelSpec::new("rbf").with("gamma", gamma);
            let (x, v) = (narrowed::<f32>(&moved(1)), narrowed::<f32>(&numbers(400, 6, 2)));
            let (narrow, wide) = (Samples::Dense(x.clone()), Samples::Dense(widened(&x)));
            let (single, double) = (spec.build::<f32>().unwrap(), spec.build::<f64>().unwrap());
            let ours = matrix(&*single, (&narrow, &narrow), CARD, false).build().unwrap();
            let theirs = matrix(&*double, (&wide, &wide), Device::Cpu, false).build().unwrap();
            let ours = products(&*ours.operator, v.as_ref(), v.as_ref());
            let theirs = products(&*theirs.operator, widened(&v).as_ref(), widened(&v).as_ref());
            println!("gamma {gamma}: {:.1e}", apart(&ours.0, &theirs.0));
            assert!(apart(&ours.0, &theirs.0) < allowed, "{gamma}");
        }
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn models_are_those_of_the_processor() {
        let data = || Dataset::new(Samples::Dense(numbers(2500, 8, 1)));
        let run = |device| Run { device, ..Run::default() };
        let svd = |name: &str, device| {
            let model = KernelSvd::new(name).with_rank(6).fit(data(), &run(device)).unwrap();
            assert!(model.report().converged(), "{name}");
            model.singular_values().to_vec()
        };
        for name in ["sne", "rbf", "t", "poly"] {
            let (ours, theirs) = (svd(name, CARD), svd(name, Device::Cpu));
            assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-9 * theirs[0]), "{name}");
        }
        let exact = || Approximation::new(Approach::Exact, "uniform", 10);
        let components = |device| KernelPca::new("rbf").with_approximation(exact()).fit(&data(), &run(device)).unwrap();
        let (ours, theirs) = (components(CARD), components(Device::Cpu));
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-5 * b;
        assert!(ours.variances.iter().zip(&theirs.variances).all(close));
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn ridge_regression_at_landmarks_is_that_of_the_processor() {
        let x = numbers(40_000, 4, 1);
        let y = Mat::from_fn(40_000, 1, |i, _| x[(i, 0)].sin() + 0.1 * x[(i, 1)]);
        let samples = Samples::Dense(x);
        let fit = |device| {
            let machine = KernelRidge::new("rbf").with_approximation(Approximation::new(Approach::Ncr, "uniform", 500));
            let run = Run { device, ..Run::default() };
            machine
                .fit_targets(samples.clone(), y.as_ref(), &run)
                .unwrap()
                .apply(samples.as_ref(), &Run::default())
                .unwrap()
        };
        let off = apart(&fit(CARD), &fit(Device::Cpu));
        println!("ridge: {off:.1e}");
        assert!(off < 1e-3, "{off}");
    }

    #[test]
    #[ignore = "needs an NVIDIA card"]
    fn a_wish_to_stop_is_heard_and_the_card_works_on() {
        let samples = Samples::Dense(numbers(60_000, 30, 1));
        let kernel = KernelSpec::new("rbf").with("gamma", 0.05).build::<f64>().unwrap();
        let watch = Watch::default();
        let g =
            DeviceOperator::new(&*kernel, (samples.as_ref(), samples.as_ref()), None, (CARD, false), &watch).unwrap();
        let v = numbers(60_000, 1, 2);
        let apply = || g.apply(v.as_ref(), Mat::zeros(60_000, 1).as_mut());
        apply().unwrap();
        watch.cancel();
        let start = std::time::Instant::now();
        assert!(matches!(apply(), Err(Error::Interrupted)));
        assert!(start.elapsed().as_secs_f64() < 1.0);
        drop(g);
        let fresh = Watch::default();
        let g =
            DeviceOperator::new(&*kernel, (samples.as_ref(), samples.as_ref()), None, (CARD, false), &fresh).unwrap();
        g.apply(v.as_ref(), Mat::zeros(60_000, 1).as_mut()).unwrap();
        assert!(g.seconds() > 0.0);
    }
}

#[test]
fn what_cannot_be_asked_of_a_card_is_one_sentence() {
    let error = Device::Cuda(99).check().unwrap_err();
    assert!(matches!(error, Error::Device { .. }), "{error}");
    assert!(!error.to_string().ends_with('.') && error.to_string().starts_with("the device cuda"));
}

#[test]
fn the_processor_computes_where_there_is_no_card() {
    if cards().is_ok() {
        return;
    }
    let x = Samples::Dense(numbers(40, 3, 1));
    let kernel = KernelSpec::new("rbf").with("gamma", 0.2).build::<f64>().unwrap();
    let of = |device| matrix(&*kernel, (&x, &x), device, false).build();
    assert!(matches!(of(CARD), Err(Error::Device { .. })));
    let v = numbers(40, 2, 2);
    let [ours, theirs] = [Device::Auto, Device::Cpu].map(|device| {
        let built = of(device).unwrap();
        assert_eq!(built.plan.place.device, Device::Cpu);
        products(&*built.operator, v.as_ref(), v.as_ref())
    });
    assert_eq!(ours, theirs);
}

#[test]
fn sparse_samples_stay_on_the_processor() {
    let links = lopsided::Csr::from_triplets(30, 30, &[(0, 1, 1.0), (3, 2, 2.0), (29, 4, 1.0)]);
    let x = Samples::Sparse(links);
    let kernel = KernelSpec::new("rbf").with("gamma", 0.2).build::<f64>().unwrap();
    let plan = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()).plan().unwrap();
    assert_eq!((plan.place.device, plan.place.why.as_str()), (Device::Cpu, "cards are for kernels of dense samples"));
}

//! One set of samples on both sides: half of G is evaluated or stored.

use crate::naive::{self, POINTWISE, gap};
use lopsided::Run;
use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::operator::{Centered, KernelMatrix, Means, Operator, OperatorChoice, Submatrix, Widened};
use lopsided::solvers::svd::solver;
use lopsided::{Mat, Samples};

/// More than two tiles of rows, the last one not full.
const SAMPLES: usize = 700;

fn product(name: &str, choice: OperatorChoice, x: &Mat<f64>, transposed: bool) -> Mat<f64> {
    let kernel = naive::spec(name, 0.3).build::<f64>().unwrap();
    let x = Samples::Dense(x.clone());
    let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref()) };
    let built = matrix.build().unwrap();
    let mut out = Mat::zeros(x.count(), 3);
    let v = synth::gaussian::<f64>(x.count(), 3, 5);
    let applied = if transposed {
        built.operator.apply_transpose(v.as_ref(), out.as_mut())
    } else {
        built.operator.apply(v.as_ref(), out.as_mut())
    };
    applied.unwrap();
    out
}

#[test]
fn half_of_a_symmetric_matrix_gives_the_products_of_the_whole() {
    let x = synth::gaussian::<f64>(SAMPLES, 3, 1);
    let v = synth::gaussian::<f64>(SAMPLES, 3, 5);
    for name in POINTWISE {
        let whole = naive::matrix(name, 0.3, &x, &x);
        for choice in [OperatorChoice::Tiles, OperatorChoice::Dense] {
            let off = gap(&product(name, choice, &x, false), &(&whole * &v));
            assert!(off <= 1e-12, "{name} {choice:?}: G V is off by {off}");
            let off = gap(&product(name, choice, &x, true), &(whole.transpose() * &v));
            assert!(off <= 1e-12, "{name} {choice:?}: Gᵀ U is off by {off}");
        }
    }
}

#[test]
fn blocks_of_the_stored_half_are_those_of_the_whole() {
    let x = synth::gaussian::<f64>(SAMPLES, 3, 1);
    let samples = Samples::Dense(x.clone());
    let (rows, cols) = ([699, 0, 300, 255], [256, 699, 12]);
    for name in ["rbf", "sne", "t"] {
        let kernel = naive::spec(name, 0.3).build::<f64>().unwrap();
        let whole = naive::matrix(name, 0.3, &x, &x);
        let choice = OperatorChoice::Dense;
        let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, samples.as_ref(), samples.as_ref()) };
        let mut block = Mat::zeros(rows.len(), cols.len());
        matrix.build().unwrap().operator.block(&rows, &cols, block.as_mut()).unwrap();
        let expected = Mat::from_fn(rows.len(), cols.len(), |i, j| whole[(rows[i], cols[j])]);
        assert!(gap(&block, &expected) <= 1e-14, "{name}");
    }
}

#[test]
fn samples_far_from_the_origin_lose_no_digits() {
    let near = synth::gaussian::<f64>(SAMPLES, 3, 1);
    // Powers of two, so that the shift itself is exact but for the last digits of the samples.
    let far = Mat::from_fn(SAMPLES, 3, |i, k| near[(i, k)] + 65_536.0);
    let near = Mat::from_fn(SAMPLES, 3, |i, k| far[(i, k)] - 65_536.0);
    let v = synth::gaussian::<f64>(SAMPLES, 3, 5);
    for name in ["rbf", "sne"] {
        let expected = naive::matrix(name, 0.3, &near, &near) * &v;
        let off = gap(&product(name, OperatorChoice::Tiles, &far, false), &expected);
        assert!(off <= 1e-12, "{name}: off by {off}");
    }
}

#[test]
fn products_and_triplets_have_the_same_bits_for_any_number_of_threads() {
    let x = synth::gaussian::<f64>(SAMPLES, 3, 1);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let kernel = naive::spec("sne", 0.3).build::<f64>().unwrap();
            let samples = Samples::Dense(x.clone());
            let built = KernelMatrix::new(&*kernel, samples.as_ref(), samples.as_ref()).build().unwrap();
            let solver = solver::<f64>("lanczos", &Settings::default().with("tol", 1e-9)).unwrap();
            let svd = solver.solve(&*built.operator, 12, &Run::default()).unwrap();
            assert!(svd.report.converged());
            (product("rbf", OperatorChoice::Tiles, &x, false), svd.sigma, svd.u)
        })
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

/// What is shared between G·V and Gᵀ·U changes neither, under every wrapper, and nothing claims to be symmetric that is not.
#[test]
fn both_products_at_once_are_those_one_after_the_other() {
    let x = synth::gaussian::<f64>(SAMPLES, 3, 1);
    let samples = Samples::Dense(x.clone());
    let picked: Vec<usize> = (0..SAMPLES).filter(|i| i % 7 != 3).collect();
    for name in POINTWISE {
        let whole = naive::matrix(name, 0.3, &x, &x);
        let kernel = naive::spec(name, 0.3).build::<f64>().unwrap();
        for choice in [OperatorChoice::Tiles, OperatorChoice::Dense] {
            let matrix = KernelMatrix { choice, ..KernelMatrix::new(&*kernel, samples.as_ref(), samples.as_ref()) };
            let built = matrix.build().unwrap();
            let wide = Widened(&*built.operator);
            let part = Submatrix::new(&wide, Some(&picked), Some(&picked));
            let centered = Centered::new(&part, Means::of(&part).unwrap());
            let few = Mat::from_fn(picked.len(), picked.len(), |i, j| whole[(picked[i], picked[j])]);
            for (g, entries) in [(&wide as &dyn Operator<f64>, &whole), (&part, &few), (&centered, &few)] {
                let (v, u) = (synth::gaussian::<f64>(g.ncols(), 2, 3), synth::gaussian::<f64>(g.nrows(), 3, 4));
                let (forth, back) = g.apply_both(v.as_ref(), u.as_ref()).unwrap();
                let (mut one, mut other) = (Mat::zeros(g.nrows(), 2), Mat::zeros(g.ncols(), 3));
                g.apply(v.as_ref(), one.as_mut()).unwrap();
                g.apply_transpose(u.as_ref(), other.as_mut()).unwrap();
                assert!(gap(&forth, &one) <= 1e-12 && gap(&back, &other) <= 1e-12, "{name} {choice:?}");
                let skew = gap(entries, &entries.transpose().to_owned());
                assert!(!g.is_symmetric() || skew <= 1e-12, "{name} {choice:?} is not symmetric: {skew}");
            }
        }
    }
}

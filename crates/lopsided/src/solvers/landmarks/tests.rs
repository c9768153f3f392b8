use super::*;
use crate::base::watch::Watch;
use crate::data::synth;
use crate::kernel::Rbf;
use crate::operator::{DenseOperator, KernelOperator};

/// Samplers that pick samples by the kernel matrix.
const PICKING: [&str; 6] = ["norms", "leverage", "kmeans", "kernel-kmeans", "rpcholesky", "greedy"];

fn named(name: &str) -> Box<dyn Sampler<f64>> {
    sampler(name, &crate::base::settings::Settings::default()).unwrap()
}

fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

#[test]
fn picks_are_sorted_distinct_and_the_same_for_any_number_of_threads() {
    let x = Samples::Dense(synth::gaussian::<f64>(2500, 3, 1));
    let kernel = Rbf { gamma: 0.5 };
    let k = KernelOperator::new(&kernel, x.as_ref(), x.as_ref(), None, &Watch::default()).unwrap();
    let skew = synth::gaussian::<f64>(90, 70, 2);
    let skew = DenseOperator::Borrowed(skew.as_ref());
    for name in PICKING {
        for (g, side) in [(&k as &dyn Operator<f64>, Side::Row), (&skew, Side::Row), (&skew, Side::Col)] {
            let pick = |seed| named(name).pick(g, side, 30, seed).unwrap();
            let picked = pick(5);
            assert!(picked.len() == 30 && picked.windows(2).all(|w| w[0] < w[1]), "{name}");
            assert!(picked[29] < size(g, side), "{name}");
            assert_eq!(picked, with_threads(1, || pick(5)), "{name}");
            assert_eq!(picked, with_threads(2, || pick(5)), "{name}");
        }
        assert!(named(name).pick(&skew, Side::Row, 0, 1).is_err());
        assert!(named(name).pick(&skew, Side::Row, 91, 1).is_err());
    }
}

#[test]
fn kinds_of_landmarks_are_the_same_for_any_number_of_threads() {
    let x = Samples::Dense(synth::gaussian::<f64>(2500, 3, 1));
    let kernel = Rbf { gamma: 0.5 };
    let k = KernelOperator::new(&kernel, x.as_ref(), x.as_ref(), None, &Watch::default()).unwrap();
    for (name, kind) in [("kmeans", "points"), ("gaussian", "sketch"), ("uniform", "indices")] {
        let place = || match named(name).place(&k, x.as_ref(), 20, 3).unwrap() {
            Landmarks::Points(points) => ("points", points.into_dense()),
            Landmarks::Sketch(p) => ("sketch", p),
            Landmarks::Indices(picked) => ("indices", Mat::from_fn(picked.len(), 1, |i, _| picked[i] as f64)),
        };
        let (found, values) = with_threads(1, place);
        assert_eq!((found, &values), (kind, &with_threads(2, place).1), "{name}");
    }
    let refused = named("gaussian").pick(&k, Side::Row, 3, 1).unwrap_err().to_string();
    assert!(refused.contains("combinations"), "{refused}");
}

/// Five groups of equal samples: five landmarks explain everything, if there is one of each group.
#[test]
fn samplers_that_look_at_the_kernel_find_every_group() {
    let x = Samples::Dense(Mat::from_fn(200, 1, |i, _| if i < 190 { 0.0 } else { (i % 5) as f64 * 3.0 }));
    let kernel = Rbf { gamma: 1.0 };
    let k = KernelOperator::new(&kernel, x.as_ref(), x.as_ref(), None, &Watch::default()).unwrap();
    for name in ["kernel-kmeans", "rpcholesky", "greedy"] {
        for seed in 0..5 {
            let picked = named(name).pick(&k, Side::Row, 5, seed).unwrap();
            let group = |i: &usize| if *i < 190 { 0 } else { i % 5 };
            let found: std::collections::BTreeSet<usize> = picked.iter().map(group).collect();
            assert_eq!(found.len(), 5, "{name} {seed}: {picked:?}");
        }
    }
    let Landmarks::Points(Samples::Dense(centers)) = named("kmeans").place(&k, x.as_ref(), 5, 1).unwrap() else {
        panic!("no points")
    };
    let mut centers: Vec<f64> = centers.col(0).iter().copied().collect();
    centers.sort_by(f64::total_cmp);
    assert!(centers.iter().zip([0.0, 3.0, 6.0, 9.0, 12.0]).all(|(c, e)| (c - e).abs() < 1e-12), "{centers:?}");
}

/// After the fourth pivot nothing is left; the first samples complete the choice.
#[test]
fn a_choice_beyond_the_rank_is_completed() {
    let f = synth::gaussian::<f64>(40, 4, 3);
    let k = &f * f.transpose();
    for name in ["rpcholesky", "greedy"] {
        let picked = named(name).pick(&DenseOperator::Borrowed(k.as_ref()), Side::Row, 9, 2).unwrap();
        assert_eq!(picked.len(), 9, "{name}");
        let four = Mat::from_fn(picked.len(), 4, |i, j| f[(picked[i], j)]);
        assert!(crate::base::linalg::thin_svd(four.as_ref()).unwrap().sigma[3] > 1e-3, "{name}");
    }
}

/// A wide kernel on few different samples: after some pivots nothing but rounding is left.
#[test]
fn rounding_is_not_taken_for_an_indefinite_matrix() {
    let x = Samples::Dense(Mat::from_fn(600, 2, |i, j| ((i * (1 + 6 * j)) % (17 + 6 * j)) as f64 / 5.0));
    let kernel = Rbf { gamma: 0.02 };
    let k = KernelOperator::new(&kernel, x.as_ref(), x.as_ref(), None, &Watch::default()).unwrap();
    for name in ["leverage", "kernel-kmeans", "rpcholesky", "greedy"] {
        for seed in 0..5 {
            assert_eq!(named(name).pick(&k, Side::Row, 120, seed).unwrap().len(), 120, "{name}");
        }
    }
}

#[test]
fn an_indefinite_matrix_is_refused_where_it_matters() {
    let half = synth::gaussian::<f64>(60, 60, 4);
    let k = &half + half.transpose();
    let k = DenseOperator::Borrowed(k.as_ref());
    for name in ["rpcholesky", "greedy"] {
        let error = named(name).pick(&k, Side::Row, 20, 1).unwrap_err().to_string();
        assert!(error.contains("not positive semidefinite"), "{name}: {error}");
    }
    assert!(named("norms").pick(&k, Side::Row, 20, 1).is_ok());
}

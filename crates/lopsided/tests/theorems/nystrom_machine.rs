//! \[NKM\]: its lemmas, propositions and corollaries, and the machines against naive twins.

use crate::naive;
use faer::linalg::solvers::Solve;
use lopsided::base::settings::{Settings, Value};
use lopsided::data::row_stream::RowStream;
use lopsided::data::synth;
use lopsided::estimators::{
    Approach, Approximation, Estimator, Gram, GramErrors, KernelPca, KernelRidge, Model, OwnLandmarks, StreamedRidge,
    score,
};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{DenseOperator, ProductOperator};
use lopsided::solvers::landmarks::{Landmarks, samplers};
use lopsided::solvers::lowrank::{KernelFunctions, LandmarkKernel, NystromBasis, NystromMethod};
use lopsided::{Csr, Dataset, Mat, Run, Samples, Target};
use proptest::prelude::*;

const GAMMA: f64 = 0.8;
const PENALTY: f64 = 20.0;

fn run() -> Run {
    Run::default()
}

fn samples(n: usize, seed: u64) -> Mat<f64> {
    synth::gaussian::<f64>(n, 4, seed)
}

fn values(x: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(x.nrows(), 2, |i, c| (x[(i, c)] * 1.5).sin() + 0.3 * x[(i, 3 - c)])
}

fn rbf() -> Gram {
    KernelSpec::new("rbf").with("gamma", GAMMA).into()
}

fn linear() -> Gram {
    Gram::new("linear")
}

fn ridge(svd: Gram, approximation: Approximation) -> KernelRidge {
    KernelRidge::new(svd).with_penalty(PENALTY).with_approximation(approximation)
}

fn functions(machine: &KernelRidge, x: &Mat<f64>, y: &Mat<f64>) -> KernelFunctions<f64> {
    machine.fit_targets(Samples::Dense(x.clone()), y.as_ref(), &run()).unwrap()
}

fn predictions(machine: &KernelRidge, x: &Mat<f64>, y: &Mat<f64>, new: &Mat<f64>) -> Mat<f64> {
    functions(machine, x, y).apply(Samples::Dense(new.clone()).as_ref(), &run()).unwrap()
}

fn k(x: &Mat<f64>, z: &Mat<f64>) -> Mat<f64> {
    naive::matrix("rbf", GAMMA, x, z)
}

/// The features of the standard basis at these landmarks.
fn features(kernel: &KernelSpec, x: &Mat<f64>, landmarks: Landmarks<f64>, basis: NystromBasis) -> Mat<f64> {
    let x = Samples::Dense(x.clone());
    let at = LandmarkKernel::new(kernel, x.as_ref(), landmarks, &run()).unwrap();
    basis.fit(&at, x.as_ref(), &run()).unwrap().apply(x.as_ref(), &run()).unwrap()
}

fn spec() -> KernelSpec {
    KernelSpec::new("rbf").with("gamma", GAMMA)
}

fn rows(m: &Mat<f64>, which: &[usize]) -> Mat<f64> {
    Mat::from_fn(which.len(), m.ncols(), |i, j| m[(which[i], j)])
}

fn centred(y: &Mat<f64>) -> Mat<f64> {
    let mean = |c: usize| y.col(c).iter().sum::<f64>() / y.nrows() as f64;
    Mat::from_fn(y.nrows(), y.ncols(), |i, c| y[(i, c)] - mean(c))
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tol: f64) -> bool {
    a.shape() == b.shape() && (a - b).norm_max() <= tol * b.norm_max().max(1e-30)
}

fn eigenvalues(m: &Mat<f64>) -> Vec<f64> {
    m.self_adjoint_eigenvalues(faer::Side::Lower).unwrap()
}

#[test]
fn ncr_is_lla_with_the_standard_basis() {
    let (x, new) = (samples(120, 1), samples(30, 2));
    let y = values(&x);
    for entry in samplers::<f64>() {
        let of = |approach| predictions(&ridge(rbf(), Approximation::new(approach, entry.name, 25)), &x, &y, &new);
        assert!(close(&of(Approach::Ncr), &of(Approach::Lla), 1e-9), "{}", entry.name);
    }
}

#[test]
fn ncr_is_its_own_formula() {
    let (x, new) = (samples(90, 3), samples(20, 4));
    let (y, picked) = (values(&x), [2usize, 5, 11, 40, 41, 77, 80]);
    let own = Approximation {
        own: Some(OwnLandmarks::Rows(picked.to_vec())),
        ..Approximation::new(Approach::Ncr, "uniform", 1)
    };
    let found = predictions(&ridge(rbf(), own), &x, &y, &new);
    let c = rows(&x, &picked);
    let (knm, kmm) = (k(&x, &c), k(&c, &c));
    let system = knm.transpose() * &knm + &kmm * faer::Scale(1.0 / PENALTY);
    let beta = system.partial_piv_lu().solve(knm.transpose() * centred(&y));
    let means: Vec<f64> = (0..2).map(|c| y.col(c).iter().sum::<f64>() / 90.0).collect();
    let expected = k(&new, &c) * beta;
    let expected = Mat::from_fn(20, 2, |i, c| expected[(i, c)] + means[c]);
    assert!(close(&found, &expected, 1e-9));
}

/// The gradient of Σ(k̃_iᵀα − y_i)² + λ₀·αᵀK̃α vanishes, Proposition 4.
#[test]
fn the_coefficients_of_gsa_solve_the_substituted_problem() {
    let x = samples(100, 5);
    let y = values(&x);
    let picked: Vec<usize> = (0..100).step_by(6).collect();
    for method in ["standard", "one-shot", "double", "multi-scale"] {
        let basis = NystromBasis { method: method.parse().unwrap(), truncate: Some(9) };
        let own = Some(OwnLandmarks::Rows(picked.clone()));
        let approximation = Approximation { own, basis, ..Approximation::new(Approach::Gsa, "uniform", 1) };
        let alpha = functions(&ridge(rbf(), approximation), &x, &y).weights;
        let f = features(&spec(), &x, Landmarks::Indices(picked.clone()), basis);
        let tilde = &f * f.transpose();
        let gradient = &tilde * (&tilde * &alpha - centred(&y) + &alpha * faer::Scale(1.0 / PENALTY));
        assert!(gradient.norm_max() < 1e-9 * tilde.norm_max() * y.norm_max() * 100.0, "{method}");
    }
}

/// With the linear kernel Φ(X) is X itself, so that projections can be written down.
#[test]
fn lemma_1_in_both_norms() {
    let x = synth::gaussian::<f64>(40, 6, 7);
    let picked = vec![3usize, 9, 30, 31];
    let f = features(&KernelSpec::new("linear"), &x, Landmarks::Indices(picked.clone()), NystromBasis::default());
    let difference = &x * x.transpose() - &f * f.transpose();
    let q = rows(&x, &picked).transpose().to_owned().qr().compute_thin_Q();
    let left = &x - (&x * &q) * q.transpose();
    let trace_norm: f64 = eigenvalues(&difference).iter().map(|v| v.abs()).sum();
    assert!((trace_norm - left.norm_l2().powi(2)).abs() < 1e-9 * trace_norm);
    let (spectral, op) = (eigenvalues(&difference)[39], left.singular_values().unwrap()[0]);
    assert!((spectral - op * op).abs() < 1e-9 * spectral);
    let k = &x * x.transpose();
    let errors = GramErrors::of(&DenseOperator::Borrowed(k.as_ref()), f.as_ref(), &run()).unwrap();
    assert!((errors.trace - trace_norm).abs() < 1e-9 * trace_norm);
    assert!((errors.spectral - spectral).abs() < 1e-7 * spectral);
    assert!((errors.frobenius - difference.norm_l2()).abs() < 1e-9 * errors.frobenius);
    assert!((errors.kernel_spectral - eigenvalues(&k)[39]).abs() < 1e-7 * errors.kernel_spectral);
}

/// K = X·Xᵀ and F the first coordinate, so that K − K̃ is the Gram matrix of the others: too many samples for entries.
#[test]
fn norms_of_large_differences_are_estimated_within_their_intervals() {
    let x = synth::gaussian::<f64>(5000, 4, 6);
    let samples = Samples::Dense(x.clone());
    let k = ProductOperator::new(samples.as_ref(), samples.as_ref()).unwrap();
    let (f, others) = (x.as_ref().subcols(0, 1), x.as_ref().subcols(1, 3));
    let small = others.transpose() * others;
    let exact = small.norm_l2();
    let mut covered = 0;
    for seed in 0..20 {
        let errors = GramErrors::of(&k, f, &Run { seed, ..run() }).unwrap();
        assert!((errors.spectral - eigenvalues(&small)[2]).abs() < 1e-6 * errors.spectral, "{errors:?}");
        assert!((errors.trace - others.norm_l2().powi(2)).abs() < 1e-9 * errors.trace, "{errors:?}");
        let (low, high) = errors.frobenius_interval.unwrap();
        assert!((errors.frobenius - exact).abs() < 0.35 * exact && low < high, "{errors:?}");
        covered += usize::from((low..=high).contains(&exact));
    }
    // 95 of 100 are promised: with them, fewer than 17 of 20 have a chance of 1.6 %.
    assert!(covered >= 17, "{covered} of 20");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lemma_2_entries_with_a_landmark_are_exact(n in 20usize..60, m in 2usize..12, seed: u64) {
        let x = samples(n, seed);
        let picked: Vec<usize> = (0..m).map(|i| (i * 7) % n).collect();
        let f = features(&spec(), &x, Landmarks::Indices(picked.clone()), NystromBasis::default());
        let (tilde, exact) = (&f * f.transpose(), k(&x, &x));
        for &i in &picked {
            for j in 0..n {
                prop_assert!((tilde[(i, j)] - exact[(i, j)]).abs() < 1e-9, "{} {}", tilde[(i, j)], exact[(i, j)]);
            }
        }
        prop_assert!(eigenvalues(&(&exact - &tilde))[0] > -1e-9); // K̃ ⪯ K
    }

    #[test]
    fn bases_are_orthonormal_and_proposition_5_holds(m in 2usize..20, keep in 1usize..20, seed: u64) {
        let x = Samples::Dense(samples(50, seed));
        let picked: Vec<usize> = (0..m).map(|i| (i * 11) % 50).collect();
        let sketch = synth::gaussian::<f64>(50, m, seed ^ 3);
        for landmarks in [Landmarks::Indices(picked), Landmarks::Sketch(sketch)] {
            let at = LandmarkKernel::new(&spec(), x.as_ref(), landmarks, &run()).unwrap();
            for method in ["standard", "one-shot", "double", "multi-scale"] {
                let method: NystromMethod = method.parse().unwrap();
                for truncate in [None, Some(keep.min(m))] {
                    let map = NystromBasis { method, truncate }.fit(&at, x.as_ref(), &run()).unwrap();
                    let lopsided::solvers::lowrank::Anchors::Points(Samples::Dense(points)) = &map.anchors else { panic!() };
                    let gram = map.weights.transpose() * k(points, points) * &map.weights;
                    let identity = Mat::<f64>::identity(map.count(), map.count());
                    prop_assert!((&gram - identity).norm_max() < 1e-7, "{method} {truncate:?}");
                    prop_assert!(truncate.is_none_or(|s| map.count() <= s));
                    // Proposition 5: the projected samples span all of the basis.
                    let f = map.apply(x.as_ref(), &run()).unwrap();
                    let smallest = *f.singular_values().unwrap().last().unwrap();
                    prop_assert!(smallest > 1e-6, "{method} {truncate:?}: {smallest}");
                }
            }
        }
    }
}

/// Without a truncation nothing but rounding is left out, in both precisions.
#[test]
fn double_and_multi_scale_lose_nothing_unless_told_to() {
    for gamma in [0.01, 0.3, 5.0] {
        let kernel = KernelSpec::new("rbf").with("gamma", gamma);
        let x = samples(240, 12);
        // Repeated landmarks, so that some of them are superfluous from the start.
        let picked: Vec<usize> = (0..160).map(|i| (i * 3) % 210).collect();
        let approximated = |method: &str| {
            let basis = NystromBasis { method: method.parse().unwrap(), truncate: None };
            let f = features(&kernel, &x, Landmarks::Indices(picked.clone()), basis);
            &f * f.transpose()
        };
        let standard = approximated("standard");
        for method in ["double", "multi-scale"] {
            let off = (approximated(method) - &standard).norm_max();
            assert!(off < 1e-5, "{method}, gamma {gamma}: {off}");
        }
    }
}

/// One shot keeps the directions along which the samples vary most, so that no other choice of as many explains more.
#[test]
fn truncated_bases_are_ordered_as_they_should_be() {
    let x = samples(150, 8);
    let picked: Vec<usize> = (0..60).collect();
    let left = |method: NystromMethod| {
        let basis = NystromBasis { method, truncate: Some(10) };
        let f = features(&spec(), &x, Landmarks::Indices(picked.clone()), basis);
        150.0 - f.norm_l2().powi(2)
    };
    let (one_shot, standard) = (left(NystromMethod::OneShot), left(NystromMethod::Standard));
    assert!(one_shot < standard, "{one_shot} {standard}");
    for method in [NystromMethod::Double, NystromMethod::MultiScale] {
        assert!(left(method) > one_shot - 1e-9 && left(method) < 1.1 * standard, "{method}: {}", left(method));
    }
}

/// Eq. (15), (16) and (19) against vectors that are written down, Proposition 3.
#[test]
fn distances_of_solutions_follow_the_equations() {
    let x = samples(60, 9);
    let y = values(&x);
    let machine = |approach| ridge(linear(), Approximation::new(approach, "uniform", 2));
    let vectors = |approach| {
        let found = functions(&machine(approach), &x, &y);
        let lopsided::solvers::lowrank::Anchors::Points(Samples::Dense(points)) = &found.anchors else { panic!() };
        points.transpose() * &found.weights
    };
    let exact = vectors(Approach::Exact);
    let target = Target::Values(y.col(0).iter().copied().collect());
    let data = Dataset { y: Some(target), ..Dataset::new(Samples::Dense(x.clone())) };
    let (errors, _) = machine(Approach::Lla).errors(&data, &run()).unwrap();
    let distance = |found: &Mat<f64>| (found.col(0) - exact.col(0)).norm_l2();
    let (lla, gsa) = (distance(&vectors(Approach::Lla)), distance(&vectors(Approach::Gsa)));
    assert!((errors.lla[0] - lla).abs() < 1e-9 * lla, "{} {lla}", errors.lla[0]);
    assert!((errors.gsa[0] - gsa).abs() < 1e-7 * gsa, "{} {gsa}", errors.gsa[0]);
    assert!(errors.bound[0] >= errors.lla[0]);
    assert!((errors.exact_norm[0] - exact.col(0).norm_l2()).abs() < 1e-9 * errors.exact_norm[0]);
}

#[test]
fn all_samples_as_landmarks_give_the_exact_machine() {
    let (x, new) = (samples(70, 10), samples(20, 11));
    let y = values(&x);
    let exact = predictions(&ridge(rbf(), Approximation::exact()), &x, &y, &new);
    for approach in [Approach::Lla, Approach::Gsa, Approach::Ncr] {
        for sampler in ["uniform", "gaussian", "kmeans"] {
            let found = predictions(&ridge(rbf(), Approximation::new(approach, sampler, 70)), &x, &y, &new);
            assert!(close(&found, &exact, 1e-6), "{approach} {sampler}");
        }
    }
}

#[test]
fn repeated_landmarks_and_singular_matrices_do_no_harm() {
    let (x, new) = (samples(80, 12), samples(20, 13));
    let y = values(&x);
    let with = |svd: Gram, approach, own: Vec<usize>| {
        let approximation =
            Approximation { own: Some(OwnLandmarks::Rows(own)), ..Approximation::new(approach, "uniform", 1) };
        predictions(&ridge(svd, approximation), &x, &y, &new)
    };
    for approach in [Approach::Lla, Approach::Gsa, Approach::Ncr] {
        let once = with(rbf(), approach, vec![1, 4, 9, 16, 25]);
        let often = with(rbf(), approach, vec![1, 4, 4, 4, 9, 1, 16, 25, 25]);
        assert!(close(&often, &once, 1e-8), "{approach}");
        // Four coordinates, so that forty landmarks of the linear kernel are dependent.
        let exact = predictions(&ridge(linear(), Approximation::exact()), &x, &y, &new);
        assert!(close(&with(linear(), approach, (0..40).collect()), &exact, 1e-8), "{approach}");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let x = samples(700, 14);
    let y = values(&x);
    for (approach, sampler) in [(Approach::Lla, "rpcholesky"), (Approach::Gsa, "leverage"), (Approach::Ncr, "kmeans")] {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| functions(&ridge(rbf(), Approximation::new(approach, sampler, 40)), &x, &y).weights)
        };
        assert_eq!(with(1), with(2), "{approach} {sampler}");
    }
}

/// A whole weight is that many copies of a sample.
#[test]
fn weights_count_samples() {
    let (x, new) = (samples(30, 15), samples(10, 16));
    let y = values(&x);
    let counts: Vec<usize> = (0..30).map(|i| i % 3).collect();
    let copies: Vec<usize> = (0..30).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
    let own: Vec<usize> = (1..30).step_by(3).collect();
    let in_copies: Vec<usize> = own.iter().map(|i| copies.iter().position(|c| c == i).unwrap()).collect();
    for approach in [Approach::Exact, Approach::Lla, Approach::Ncr] {
        let with = |own: Vec<usize>| Approximation {
            own: Some(OwnLandmarks::Rows(own)),
            ..Approximation::new(approach, "uniform", 1)
        };
        let target = Target::Values(y.col(0).iter().copied().collect());
        let weights = Some(counts.iter().map(|c| *c as f64).collect());
        let data = Dataset { y: Some(target), weights, ..Dataset::new(Samples::Dense(x.clone())) };
        let weighted = ridge(rbf(), with(own.clone())).fit(data, &run()).unwrap();
        let found = weighted.decision(&Dataset::new(Samples::Dense(new.clone())), &run()).unwrap();
        let plain = ridge(rbf(), with(in_copies.clone()));
        let expected = predictions(&plain, &rows(&x, &copies), &rows(&y, &copies), &new);
        assert!(close(&found, &expected.subcols(0, 1).to_owned(), 1e-8), "{approach}");
    }
}

fn classes(n: usize) -> Dataset<f64> {
    let (x, codes) = synth::clusters::<f64>(n, 5, 3, 4);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let y = Target::Classes { names, codes: codes.into_iter().map(Some).collect() };
    Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) }
}

#[test]
fn cross_validation_is_a_fit_for_each_fold() {
    let data = classes(60);
    let values = Target::Values((0..60).map(|i| f64::from(i % 7)).collect());
    let data = Dataset { y: Some(values), ..data };
    let folds: Vec<Vec<usize>> = (0..3).map(|f| (f..60).step_by(3).collect()).collect();
    let point = |approach: &str, penalty: &str| {
        Settings::default().with("approach", approach).with("penalty", Value::of_word(penalty))
    };
    let points = [point("exact", "1"), point("lla", "1"), point("lla", "50"), point("gsa", "50"), point("ncr", "3")];
    let machine = ridge(rbf(), Approximation { landmarks: Some(15), ..Approximation::default() });
    let found = machine.validate(&data, &points, &folds, &run()).unwrap();
    for (point, scores) in points.iter().zip(found) {
        for (fold, found) in folds.iter().zip(scores) {
            let y = data.y.clone().unwrap();
            let hidden = Dataset { y: Some(y.clone().without(|i| fold.contains(&i))), ..data.clone() };
            let model = Estimator::<f64>::with(&machine, point).unwrap().fit(hidden, &run()).unwrap();
            let decision = model.decision(&data.rows(fold), &run()).unwrap();
            let expected = score(&y.rows(fold), decision.as_ref());
            assert!((found - expected).abs() < 1e-7, "{point:?}: {found} {expected}");
        }
    }
}

#[test]
fn a_precomputed_matrix_gives_what_its_kernel_gives() {
    let (data, all) = (classes(60), (0..60).collect::<Vec<usize>>());
    let Samples::Dense(x) = data.x.clone() else { panic!() };
    let gram = Dataset { y: data.y.clone(), ..Dataset::new(Samples::Dense(k(&x, &x))) };
    for approach in [Approach::Exact, Approach::Lla, Approach::Gsa, Approach::Ncr] {
        let approximation = Approximation::new(approach, "greedy", 12);
        // Every fourth sample has no target.
        let hide = |d: &Dataset<f64>| Dataset { y: d.y.clone().map(|y| y.without(|i| i % 4 == 0)), ..d.clone() };
        let one = ridge(rbf(), approximation.clone()).fit(hide(&data), &run()).unwrap();
        let other = ridge(Gram::new("precomputed"), approximation).fit(hide(&gram), &run()).unwrap();
        let a = one.decision(&data.rows(&all), &run()).unwrap();
        let b = other.decision(&gram.rows(&all), &run()).unwrap();
        assert!(close(&b, &a, 1e-8), "{approach}");
    }
    let skew = Dataset { y: data.y.clone(), ..Dataset::new(Samples::Dense(synth::gaussian::<f64>(60, 60, 1))) };
    let error = ridge(Gram::new("precomputed"), Approximation::exact()).fit(skew, &run()).err().unwrap();
    assert!(error.to_string().contains("symmetric"), "{error}");
}

#[test]
fn rows_in_passes_give_the_machine_in_memory() {
    let x = samples(3000, 17);
    let y = values(&x);
    let target = Target::Values((0..3000).map(|i| if i % 10 == 0 { f64::NAN } else { y[(i, 0)] }).collect());
    let triplets = (0..3000u32).flat_map(|i| (0..4u32).map(move |j| (i, j)));
    let triplets: Vec<(u32, u32, f64)> = triplets.map(|(i, j)| (i, j, x[(i as usize, j as usize)])).collect();
    let stream = RowStream::of_matrix(Csr::from_triplets(3000, 4, &triplets), 700);
    let data = Dataset { y: Some(target.clone()), ..Dataset::new(Samples::Dense(x)) };
    let held = ridge(rbf(), Approximation::new(Approach::Ncr, "uniform", 80)).fit(data.clone(), &run()).unwrap();
    let expected = held.decision(&data, &run()).unwrap();
    for direct in [true, false] {
        let usual = StreamedRidge::new("rbf");
        let machine =
            StreamedRidge { kernel: spec(), landmarks: 80, penalty: PENALTY, tol: 1e-9, direct: Some(direct), ..usual };
        let streamed = machine.fit(&stream, &target, &run()).unwrap();
        assert!(streamed.report().converged, "{:?}", streamed.report());
        let found = streamed.decision(&data, &run()).unwrap();
        assert!(close(&found, &expected, 1e-6), "{direct}: {}", (&found - &expected).norm_max());
    }
    let hasty =
        StreamedRidge { kernel: spec(), landmarks: 80, steps: 1, direct: Some(false), ..StreamedRidge::new("rbf") };
    let report = hasty.fit(&stream, &target, &run()).unwrap().report().clone();
    assert!(!report.converged && report.warnings[0].contains("after 1 steps"), "{report:?}");
}

fn pca(approximation: Approximation, center: bool) -> KernelPca {
    KernelPca { approximation, center, ..KernelPca::new(rbf()).with_rank(3) }
}

#[test]
fn principal_components_are_those_of_the_definition() {
    let (x, new) = (samples(60, 18), samples(15, 19));
    let data = Dataset::new(Samples::Dense(x.clone()));
    for center in [true, false] {
        let gram = if center { naive::center(&k(&x, &x)) } else { k(&x, &x) };
        let eigen = gram.self_adjoint_eigen(faer::Side::Lower).unwrap();
        let model = pca(Approximation::exact(), center).fit(&data, &run()).unwrap();
        let own = model.transform(data.x.as_ref(), &run()).unwrap();
        for j in 0..3 {
            let (value, vector) = (eigen.S().column_vector()[59 - j], eigen.U().col(59 - j));
            assert!((model.variances[j] * 60.0 - value).abs() < 1e-8 * value, "{center} {j}");
            let agreement = (own.col(j).transpose() * vector).abs() / value.sqrt();
            assert!((agreement - 1.0).abs() < 1e-6, "{center} {j}: {agreement}");
        }
        let exact = model.transform(Samples::Dense(new.clone()).as_ref(), &run()).unwrap();
        for approach in [Approach::Lla, Approach::Gsa, Approach::Ncr] {
            let all = pca(Approximation::new(approach, "uniform", 60), center).fit(&data, &run()).unwrap();
            let found = all.transform(Samples::Dense(new.clone()).as_ref(), &run()).unwrap();
            assert!(close(&found, &exact, 1e-6), "{approach} {center}");
        }
    }
}

#[test]
fn components_in_the_span_of_the_landmarks_are_those_of_lla() {
    let x = samples(100, 20);
    let data = Dataset::new(Samples::Dense(x));
    let of = |approach| {
        let model = pca(Approximation::new(approach, "rpcholesky", 20), true).fit(&data, &run()).unwrap();
        model.transform(data.x.as_ref(), &run()).unwrap()
    };
    assert!(close(&of(Approach::Ncr), &of(Approach::Lla), 1e-8));
    let (errors, gram) = pca(Approximation::new(Approach::Lla, "rpcholesky", 60), true).errors(&data, &run()).unwrap();
    for j in 0..3 {
        assert!((errors.exact_norm[j] - 1.0).abs() < 1e-9);
        assert!(errors.lla[j] <= errors.bound[j] && errors.gsa[j] < 1.0 && errors.lla[j] < 1.0, "{errors:?}");
    }
    assert!(gram.spectral <= gram.frobenius && gram.frobenius <= gram.trace, "{gram:?}");
}

#[test]
fn what_cannot_be_is_refused() {
    let data = classes(30);
    let message = |svd: Gram, approximation: Approximation, penalty: f64| {
        let machine = KernelRidge::new(svd).with_penalty(penalty).with_approximation(approximation);
        machine.fit(data.clone(), &run()).err().unwrap().to_string()
    };
    let lla = |m| Approximation::new(Approach::Lla, "uniform", m);
    assert_eq!(message(rbf(), lla(31), 1.0), "`landmarks` is 31 but must be between 1 and the number of samples, 30");
    assert!(message(rbf(), lla(0), 1.0).contains("`landmarks` is 0"));
    assert!(message(rbf(), lla(5), 0.0).contains("`penalty` is 0"));
    assert!(message(Gram::new("sne"), lla(5), 1.0).contains("symmetric and positive"));
    let own = Approximation { own: Some(OwnLandmarks::Rows(vec![3, 30])), ..lla(5) };
    assert_eq!(message(rbf(), own, 1.0), "`landmark-ids` is 30 but must be below 30, the number of samples");
    let double = NystromBasis { method: NystromMethod::Double, truncate: None };
    let ncr = Approximation { basis: double, ..Approximation::new(Approach::Ncr, "uniform", 5) };
    assert!(message(rbf(), ncr, 1.0).contains("standard"));
    let narrow = NystromBasis { truncate: Some(6), ..NystromBasis::default() };
    assert!(message(rbf(), Approximation { basis: narrow, ..lla(5) }, 1.0).contains("`truncate` is 6"));
    assert!(message(rbf(), Approximation::new(Approach::Lla, "norm", 5), 1.0).contains("no sampler `norm`"));
}

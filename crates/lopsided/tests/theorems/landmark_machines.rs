//! `svm`, `nu-svm` and `logistic` with landmarks: \[NKM\] for classification, against the exact machines.

use crate::naive;
use lopsided::base::settings::{Settings, Value};
use lopsided::data::synth;
use lopsided::estimators::{
    Approach, Approximation, Comparison, Estimator, KernelLogistic, KernelMachineModel, Model, OwnLandmarks, Svm,
    SvmKind, Symmetrize, score,
};
use lopsided::kernel::KernelSpec;
use lopsided::operator::DenseOperator;
use lopsided::solvers::landmarks::Landmarks;
use lopsided::solvers::linear_machine::HingeLoss;
use lopsided::solvers::lowrank::{KernelFunctions, LandmarkKernel, NystromBasis};
use lopsided::solvers::svm::{CSvm, MultiClass, Part, RowCache};
use lopsided::{Dataset, Mat, Run, Samples, Target};

const GAMMA: f64 = 0.3;
const PENALTY: f64 = 2.0;

fn run() -> Run {
    Run::default()
}

/// Overlapping clusters.
fn data(n: usize, classes: usize) -> Dataset<f64> {
    let (x, codes) = synth::clusters::<f64>(n, 3, classes, 8);
    let x = &x + synth::gaussian::<f64>(n, 3, 9) * faer::Scale(1.5);
    let names = ["a", "b", "c"][..classes].iter().map(ToString::to_string).collect();
    let y = Some(Target::Classes { names, codes: codes.into_iter().map(Some).collect() });
    Dataset { y, ..Dataset::new(Samples::Dense(x)) }
}

/// Those to learn from, and as many others.
fn halves(n: usize) -> (Dataset<f64>, Dataset<f64>) {
    let all = data(2 * n, 3);
    (all.rows(&(0..n).collect::<Vec<_>>()), all.rows(&(n..2 * n).collect::<Vec<_>>()))
}

fn dense(data: &Dataset<f64>) -> Mat<f64> {
    let Samples::Dense(x) = &data.x else { panic!("not dense") };
    x.clone()
}

fn signs(data: &Dataset<f64>) -> Vec<f64> {
    let Some(Target::Classes { codes, .. }) = &data.y else { panic!("no classes") };
    codes.iter().map(|c| if *c == Some(0) { 1.0 } else { -1.0 }).collect()
}

fn spec() -> KernelSpec {
    KernelSpec::new("rbf").with("gamma", GAMMA)
}

fn svm(kind: SvmKind, approximation: Approximation) -> Svm {
    Svm::new(spec()).with_tol(1e-7).with_kind(kind).with_approximation(approximation)
}

fn logistic(approximation: Approximation) -> KernelLogistic {
    KernelLogistic { approximation, ..KernelLogistic::new(spec()).with_tol(1e-10) }
}

fn close(a: &Mat<f64>, b: &Mat<f64>, tol: f64) -> bool {
    a.shape() == b.shape() && (a - b).norm_max() <= tol * b.norm_max().max(1e-30)
}

fn features(x: &Mat<f64>, picked: &[usize]) -> Mat<f64> {
    let x = Samples::Dense(x.clone());
    let at = LandmarkKernel::new(&spec(), x.as_ref(), Landmarks::Indices(picked.to_vec()), &run()).unwrap();
    NystromBasis::default().fit(&at, x.as_ref(), &run()).unwrap().apply(x.as_ref(), &run()).unwrap()
}

#[test]
fn all_samples_as_landmarks_give_the_exact_machine() {
    let (train, test) = halves(60);
    let values = |model: KernelMachineModel<f64>| model.function_values(&test, &run()).unwrap();
    for way in [MultiClass::OneVsOne, MultiClass::OneVsRest] {
        for kind in [SvmKind::C(PENALTY), SvmKind::Nu(0.3)] {
            let of = |a: Approximation| values(svm(kind, a).with_multi_class(way).fit(train.clone(), &run()).unwrap());
            let exact = of(Approximation::exact());
            for approach in [Approach::Lla, Approach::Gsa] {
                let found = of(Approximation::new(approach, "uniform", 60));
                assert!(close(&found, &exact, 1e-4), "{way} {kind:?} {approach}: {}", (&found - &exact).norm_max());
            }
        }
    }
    let of = |a: Approximation| values(logistic(a).fit(train.clone(), &run()).unwrap());
    let exact = of(Approximation::exact());
    for approach in [Approach::Lla, Approach::Gsa] {
        assert!(close(&of(Approximation::new(approach, "uniform", 60)), &exact, 1e-5), "{approach}");
    }
}

/// LLA is the exact machine of K̃, and α = G⁺w reaches the optimum of the problem (3), which the dual bounds: Proposition 4.
#[test]
fn lla_and_gsa_solve_the_substituted_problem() {
    let train = data(80, 2);
    let (x, y) = (dense(&train), signs(&train));
    let picked: Vec<usize> = (0..80).step_by(7).collect();
    let f = features(&x, &picked);
    let tilde = &f * f.transpose();
    let operator = DenseOperator::Borrowed(tilde.as_ref());
    let rows = RowCache::new(&operator, 1 << 20).unwrap();
    let dual = CSvm { tol: 1e-8, ..CSvm::new(PENALTY) }.solve(&rows, &Part::all(&y), &run()).unwrap();
    let c = Mat::from_fn(80, 1, |i, _| dual.coefficients[i]);
    let image = &tilde * &c;
    let optimum: f64 = (0..80).map(|i| y[i] * c[(i, 0)] - 0.5 * c[(i, 0)] * image[(i, 0)]).sum();
    let with = |approach| Approximation {
        own: Some(OwnLandmarks::Rows(picked.clone())),
        ..Approximation::new(approach, "uniform", 1)
    };
    let lla = svm(SvmKind::C(PENALTY), with(Approach::Lla)).fit(train.clone(), &run()).unwrap();
    let expected = Mat::from_fn(80, 1, |i, _| image[(i, 0)] + dual.bias);
    assert!(close(&lla.function_values(&train, &run()).unwrap(), &expected, 1e-4));
    let archive = svm(SvmKind::C(PENALTY), with(Approach::Gsa)).fit(train, &run()).unwrap().archive();
    let (alpha, bias) = (archive.matrix::<f64>("weights").unwrap(), archive.vector::<f64>("bias").unwrap());
    assert_eq!(alpha.shape(), (80, 1));
    let image = &tilde * &alpha;
    let loss = |i: usize| PENALTY * (1.0 - y[i] * (image[(i, 0)] + bias[0])).max(0.0);
    let reached: f64 = (0..80).map(|i| 0.5 * alpha[(i, 0)] * image[(i, 0)] + loss(i)).sum();
    assert!((reached - optimum).abs() < 1e-5 * optimum, "{reached} {optimum}");
}

/// With the linear kernel the functions are vectors that can be written down: Eq. (15), (16) and (19), Proposition 3.
#[test]
fn distances_of_solutions_follow_the_equations() {
    let train = data(90, 3);
    let vectors = |found: &KernelFunctions<f64>| {
        let lopsided::solvers::lowrank::Anchors::Points(Samples::Dense(points)) = &found.anchors else { panic!() };
        points.transpose() * &found.weights
    };
    for kind in [SvmKind::C(0.5), SvmKind::Nu(0.8)] {
        let approximation = Approximation::new(Approach::Lla, "uniform", 2);
        let linear = Svm::new("linear").with_tol(1e-7);
        let machine = linear.with_kind(kind).with_multi_class(MultiClass::OneVsOne).with_approximation(approximation);
        let compared = Comparison::svm(&machine, &train, &run()).unwrap();
        let exact = vectors(&compared.exact(&run()).unwrap());
        let attempt = compared.attempt(&machine.approximation, &run()).unwrap();
        let (errors, _) = compared.errors(&machine.approximation, &run()).unwrap();
        for c in 0..3 {
            let distance = |found: &KernelFunctions<f64>| (vectors(found).col(c) - exact.col(c)).norm_l2();
            let (lla, gsa) = (distance(&attempt.lla), distance(&attempt.gsa));
            assert!(lla > 1e-3 && (errors.lla[c] - lla).abs() < 1e-6 * lla, "{kind:?}: {} {lla}", errors.lla[c]);
            assert!((errors.gsa[c] - gsa).abs() < 1e-5 * gsa, "{kind:?}: {} {gsa}", errors.gsa[c]);
            assert!(errors.bound[c] >= errors.lla[c] && errors.exact_norm[c] > 0.0);
        }
    }
}

/// What \[NKM\] promises of more landmarks: the kernel matrix, and with it the solution, is approached.
#[test]
fn the_solution_is_approached_as_landmarks_grow() {
    let train = data(120, 2);
    let machine = svm(SvmKind::C(PENALTY), Approximation::default());
    let compared = Comparison::svm(&machine, &train, &run()).unwrap();
    let at = |m: usize| compared.attempt(&Approximation::new(Approach::Lla, "rpcholesky", m), &run()).unwrap().errors;
    let (few, many, all) = (at(5), at(60), at(120));
    assert!(few.lla[0] > many.lla[0] && few.gsa[0] > many.gsa[0], "{few:?} {many:?}");
    assert!(all.lla[0] < 1e-3 * all.exact_norm[0] && all.gsa[0] < 1e-2 * all.exact_norm[0], "{all:?}");
}

fn estimators() -> Vec<(&'static str, Box<dyn Estimator<f64>>)> {
    let lla = || Approximation::new(Approach::Lla, "kmeans", 15);
    let gsa = || Approximation::new(Approach::Gsa, "rpcholesky", 15);
    let with_probability = |kind, a, way| Svm { probability: true, ..svm(kind, a).with_multi_class(way) };
    vec![
        ("svm ovo", Box::new(with_probability(SvmKind::C(PENALTY), lla(), MultiClass::OneVsOne))),
        ("svm ovr", Box::new(with_probability(SvmKind::C(PENALTY), gsa(), MultiClass::OneVsRest))),
        ("squared", Box::new(Svm { loss: HingeLoss::Squared, ..svm(SvmKind::C(PENALTY), lla()) })),
        ("nu ovo", Box::new(with_probability(SvmKind::Nu(0.6), gsa(), MultiClass::OneVsOne))),
        ("nu ovr", Box::new(with_probability(SvmKind::Nu(0.5), lla(), MultiClass::OneVsRest))),
        ("logistic", Box::new(logistic(gsa()))),
    ]
}

#[test]
fn models_are_good_the_same_after_a_visit_to_a_file_and_for_any_number_of_threads() {
    let (train, test) = halves(90);
    let target = test.y.clone().unwrap();
    for (name, estimator) in estimators() {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| estimator.fit(train.clone(), &run()).unwrap())
        };
        let model = with(1);
        let loaded = KernelMachineModel::<f64>::from_archive(&model.archive()).unwrap();
        let decision = model.decision(&test, &run()).unwrap();
        assert!(score(&target, decision.as_ref()) > 0.6, "{name}");
        assert_eq!(decision, loaded.decision(&test, &run()).unwrap(), "{name}");
        assert_eq!(decision, with(2).decision(&test, &run()).unwrap(), "{name}");
        let p = model.probabilities(&test, &run()).unwrap();
        assert_eq!(p, loaded.probabilities(&test, &run()).unwrap(), "{name}");
        if let Some(p) = p {
            assert!(p.row_iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9), "{name}");
            assert!(score(&target, p.as_ref()) > 0.6, "{name}");
        }
        assert_eq!((model.report().n_train, &model.report().params["landmarks"]), (90, &15.into()), "{name}");
    }
}

#[test]
fn cross_validation_is_a_fit_for_each_fold() {
    let train = data(60, 3);
    let folds: Vec<Vec<usize>> = (0..3).map(|f| (f..60).step_by(3).collect()).collect();
    let point = |pairs: &[(&str, &str)]| -> Settings {
        pairs.iter().map(|(name, value)| ((*name).to_string(), Value::of_word(value))).collect()
    };
    for (name, estimator) in estimators() {
        let own = if name.starts_with("nu") { "nu" } else { "penalty" };
        let points = [
            point(&[(own, "0.2")]),
            point(&[(own, "0.4"), ("class-weight", "a=1.2")]),
            point(&[(own, "0.4"), ("gamma", "1")]),
            point(&[("approach", "lla"), ("landmarks", "9")]),
        ];
        let found = estimator.validate(&train, &points, &folds, &run()).unwrap();
        for (point, scores) in points.iter().zip(found) {
            for (fold, found) in folds.iter().zip(scores) {
                let y = train.y.clone().unwrap();
                let hidden = Dataset { y: Some(y.clone().without(|i| fold.contains(&i))), ..train.clone() };
                let model = estimator.with(point).unwrap().fit(hidden, &run()).unwrap();
                let decision = model.decision(&train.rows(fold), &run()).unwrap();
                assert_eq!(found, score(&y.rows(fold), decision.as_ref()), "{name} {point:?}");
            }
        }
    }
}

#[test]
fn a_precomputed_matrix_gives_what_its_kernel_gives() {
    let train = data(60, 3);
    let x = dense(&train);
    let gram = Dataset { y: train.y.clone(), ..Dataset::new(Samples::Dense(naive::matrix("rbf", GAMMA, &x, &x))) };
    let hide = |d: &Dataset<f64>| Dataset { y: d.y.clone().map(|y| y.without(|i| i % 4 == 0)), ..d.clone() };
    let own = Some(OwnLandmarks::Rows((1..60).step_by(4).collect()));
    for approach in [Approach::Lla, Approach::Gsa] {
        let given = Approximation { own: own.clone(), ..Approximation::new(approach, "uniform", 1) };
        let one = svm(SvmKind::C(0.5), given);
        let other = Svm { gram: "precomputed".into(), ..one.clone() };
        let a = one.fit(hide(&train), &run()).unwrap().decision(&train, &run()).unwrap();
        let b = other.fit(hide(&gram), &run()).unwrap().decision(&gram, &run()).unwrap();
        assert!(close(&b, &a, 1e-4), "{approach}");
    }
}

#[test]
fn a_weight_of_two_is_a_sample_twice() {
    let train = data(60, 2);
    let counts: Vec<usize> = (0..60).map(|i| 1 + usize::from(i % 4 == 1)).collect();
    let copies: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, counts[i])).collect();
    let weights = Some(counts.iter().map(|c| *c as f64).collect());
    let weighted = Dataset { weights, ..train.clone() };
    let own: Vec<usize> = (1..60).step_by(4).collect();
    let in_copies = own.iter().map(|i| copies.iter().position(|c| c == i).unwrap()).collect();
    let given = |own: Vec<usize>| Approximation {
        own: Some(OwnLandmarks::Rows(own)),
        ..Approximation::new(Approach::Lla, "uniform", 1)
    };
    let values = |kind, own, data: Dataset<f64>| {
        let model = svm(kind, given(own)).fit(data, &run()).unwrap();
        assert!(model.report().converged, "{:?}", model.report());
        model.function_values(&train, &run()).unwrap()
    };
    for kind in [SvmKind::C(0.5), SvmKind::Nu(0.7)] {
        let a = values(kind, own.clone(), weighted.clone());
        let b = values(kind, Vec::clone(&in_copies), train.rows(&copies));
        assert!(close(&b, &a, 1e-3), "{kind:?}: {}", (&a - &b).norm_max());
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let train = data(30, 2);
    let refused = |machine: Svm, words: &[&str]| {
        let error = machine.fit(train.clone(), &run()).err().unwrap().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let lla = |m| Approximation::new(Approach::Lla, "uniform", m);
    refused(svm(SvmKind::C(1.0), lla(31)), &["`landmarks` is 31", "30"]);
    refused(svm(SvmKind::C(0.0), lla(5)), &["`penalty` is 0"]);
    refused(svm(SvmKind::Nu(1.5), lla(5)), &["`nu` is 1.5"]);
    refused(svm(SvmKind::C(1.0), Approximation::new(Approach::Ncr, "uniform", 5)), &["`approach` is ncr", "ridge"]);
    let squared = Svm { loss: HingeLoss::Squared, ..svm(SvmKind::C(1.0), Approximation::default()) };
    refused(squared, &["`loss` is squared-hinge", "lla and gsa"]);
    refused(Svm { symmetrize: Symmetrize::Rows, ..svm(SvmKind::C(1.0), lla(5)) }, &["`symmetrize` is rows"]);
    refused(Svm { gram: "sne".into(), ..svm(SvmKind::C(1.0), lla(5)) }, &["symmetric and positive"]);
}

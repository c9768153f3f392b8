//! Parts that merge in any order give the bytes of one process, and what one process finds is what the machines in memory find.

use super::*;
use crate::base::settings::Settings;
use crate::data::dataset::{Dataset, Target};
use crate::data::samples::{Csr, Samples};
use crate::data::synth;
use crate::estimators::landmarked::{Approach, OwnLandmarks};
use crate::estimators::{Approximation, Fitted, KernelLogistic, KernelPca, KernelRidge, Model, Svm};
use crate::kernel::KernelSpec;
use crate::solvers::linear_machine::HingeLoss;
use crate::solvers::lowrank::Anchors;
use faer::Mat;
use proptest::prelude::*;

const ROWS: usize = 500;

fn samples(rows: usize) -> Mat<f64> {
    synth::gaussian::<f64>(rows, 3, 7)
}

fn values(rows: usize) -> Target {
    let x = samples(rows);
    Target::Values((0..rows).map(|i| 5.0 + x[(i, 0)].sin() + 0.3 * x[(i, 1)]).collect())
}

fn classes(rows: usize, count: usize) -> Target {
    let x = samples(rows);
    let names = (0..count).map(|c| format!("c{c}")).collect();
    let code = |i: usize| {
        let at = x.row(i).squared_norm_l2() / 2.0 + 0.2 * ((i * 7) % 5) as f64;
        (i % 11 != 3).then_some((at as u32).min(count as u32 - 1))
    };
    Target::Classes { names, codes: (0..rows).map(code).collect() }
}

fn job(name: &str, more: &[(&str, &str)]) -> Job {
    let mut given = Settings::default().with("piece", 32).with("landmarks", 25).with("gamma", 0.5);
    for (name, word) in more {
        given = given.with_word(name, word);
    }
    Job::new::<f64>(name, given, 3).unwrap()
}

fn table(target: Option<Target>) -> TableStream<f64> {
    TableStream::of_memory(Samples::Dense(samples(ROWS)), target)
}

fn bytes(model: &Learned<f64>) -> Vec<u8> {
    model.archive().to_bytes().unwrap()
}

/// Every estimator with a table for it.
fn cases() -> Vec<(Job, TableStream<f64>)> {
    let several = Target::Several {
        names: vec!["a".into(), "b".into()],
        values: Mat::from_fn(ROWS, 2, |i, c| ((i * (c + 2)) % 17) as f64),
    };
    vec![
        (job("krr", &[("task", "values")]), table(Some(values(ROWS)))),
        (job("krr", &[("scale", "none")]), table(Some(several))),
        (job("krr", &[]), table(Some(classes(ROWS, 3)))),
        (job("svm", &[("penalty", "10")]), table(Some(classes(ROWS, 2)))),
        (job("svm", &[("scale", "minmax")]), table(Some(classes(ROWS, 3)))),
        (job("logistic", &[]), table(Some(classes(ROWS, 2)))),
        (job("logistic", &[("penalty", "10")]), table(Some(classes(ROWS, 3)))),
        (job("kpca", &[("rank", "4")]), table(None)),
        (job("features", &[]), table(None)),
    ]
}

/// All passes by shards that go through bytes and merge in some order.
fn by_shards(job: &Job, table: &TableStream<f64>, count: usize, turn: usize) -> Learned<f64> {
    let run = Run::default();
    let mut state = State::<f64>::new(job.clone());
    loop {
        let one = |number: usize| {
            let rows = shard_rows(&table.facts, job.piece(), (number + 1, count)).unwrap();
            let read = State::<f64>::from_bytes(&state.to_bytes().unwrap(), "the state").unwrap();
            pass(&read, table, rows, &run).unwrap().to_bytes().unwrap()
        };
        let mut parts: Vec<Vec<u8>> = (0..count).map(one).collect();
        parts.rotate_left(turn % count);
        let mut parts = parts.iter().map(|bytes| Part::<f64>::from_bytes(bytes, "a part").unwrap());
        let mut whole = parts.next().unwrap();
        parts.for_each(|part| whole.merge(part).unwrap());
        match whole.finish(&run).unwrap() {
            Outcome::Next(next) => state = next,
            Outcome::Model(model) => return *model,
        }
    }
}

#[test]
fn shards_in_any_order_give_the_bytes_of_one_process() {
    for (at, (job, table)) in cases().iter().enumerate() {
        let whole = fit(job, table, &Run::default()).unwrap();
        assert!(whole.converged(), "case {at}");
        for (count, turn) in [(1, 0), (3, 1), (3, 2), (7, 4)] {
            assert_eq!(bytes(&by_shards(job, table, count, turn)), bytes(&whole), "case {at}, {count} shards");
        }
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let alone = one.install(|| fit(job, table, &Run::default()).unwrap());
        assert_eq!(bytes(&alone), bytes(&whole), "case {at} on one thread");
    }
}

#[test]
fn single_precision_and_sparse_rows_merge_alike() {
    let entries: Vec<(u32, u32, f32)> =
        (0..ROWS as u32).flat_map(|i| (0..3).map(move |k| (i, (i * 7 + k * 13) % 40, 1.0 + k as f32))).collect();
    let x = Samples::Sparse(Csr::from_triplets(ROWS, 40, &entries));
    let table = TableStream::of_memory(x, Some(classes(ROWS, 2)));
    let given = Settings::default().with("piece", 50).with("landmarks", 30);
    let job = Job::new::<f32>("svm", given, 1).unwrap();
    let run = Run::default();
    let mut state = State::<f32>::new(job.clone());
    let merged = loop {
        let mut whole = pass(&state, &table, 300..500, &run).unwrap();
        let first = pass(&state, &table, 0..300, &run).unwrap().to_bytes().unwrap();
        whole.merge(Part::from_bytes(&first, "a part").unwrap()).unwrap();
        match whole.finish(&run).unwrap() {
            Outcome::Next(next) => state = next,
            Outcome::Model(model) => break *model,
        }
    };
    let whole = fit(&job, &table, &run).unwrap();
    assert_eq!(merged.archive().to_bytes().unwrap(), whole.archive().to_bytes().unwrap());
}

/// The landmarks that a model has, as points of the user's own.
fn own(points: &Anchors<f64>) -> Approximation {
    let Anchors::Points(points) = points else { panic!("columns") };
    let points = points.as_ref().to_dense();
    Approximation { approach: Some(Approach::Lla), own: Some(OwnLandmarks::Points(points)), ..Approximation::default() }
}

fn predictor(learned: &Learned<f64>) -> &dyn Model<f64> {
    learned.fitted.predictor().unwrap()
}

fn anchors(learned: &Learned<f64>) -> Anchors<f64> {
    crate::solvers::lowrank::KernelFunctions::<f64>::take(&learned.fitted.archive()).unwrap().anchors
}

fn kernel() -> KernelSpec {
    KernelSpec::new("rbf").with("gamma", 0.5)
}

fn data(y: Target) -> Dataset<f64> {
    Dataset { y: Some(y), ..Dataset::new(Samples::Dense(samples(ROWS))) }
}

/// The same decisions as a machine in memory on the same landmarks.
fn agrees(learned: &Learned<f64>, other: &dyn Model<f64>, tol: f64) {
    let (run, x) = (Run::default(), Dataset::new(Samples::Dense(samples(ROWS))));
    let (one, two) = (predictor(learned).decision(&x, &run).unwrap(), other.decision(&x, &run).unwrap());
    let (name, apart) = (learned.fitted.archive().meta["estimator"].clone(), (&one - &two).norm_max());
    assert!(apart < tol * (1.0 + two.norm_max()), "{name}, {} functions: {apart}", one.ncols());
}

#[test]
fn what_is_found_is_what_machines_in_memory_find() {
    let run = Run::default();
    let none = ("scale", "none");
    let ridge =
        fit(&job("krr", &[none, ("penalty", "10"), ("task", "values")]), &table(Some(values(ROWS))), &run).unwrap();
    let held = KernelRidge::new(kernel()).with_penalty(10.0).with_approximation(own(&anchors(&ridge)));
    agrees(&ridge, &held.fit(data(values(ROWS)), &run).unwrap(), 1e-6);
    for count in [2, 3] {
        let y = || classes(ROWS, count);
        let found = fit(&job("svm", &[none, ("penalty", "2")]), &table(Some(y())), &run).unwrap();
        let held = Svm::new(kernel()).with_loss(HingeLoss::Squared).with_tol(1e-6);
        let held = held.with_kind(crate::estimators::SvmKind::C(2.0)).with_approximation(own(&anchors(&found)));
        agrees(&found, &held.fit(data(y()), &run).unwrap(), 1e-3);
        let found = fit(&job("logistic", &[none, ("penalty", "2"), ("tol", "1e-7")]), &table(Some(y())), &run).unwrap();
        let held = KernelLogistic::new(kernel()).with_penalty(2.0).with_tol(1e-7);
        let held = held.with_approximation(own(&anchors(&found))).fit(data(y()), &run).unwrap();
        agrees(&found, &held, 1e-4);
    }
    let found = fit(&job("kpca", &[("rank", "3")]), &table(None), &run).unwrap();
    let Fitted::Components(model) = &found.fitted else { panic!() };
    let held = KernelPca::new(kernel()).with_rank(3).with_approximation(own(&anchors(&found)));
    let held = held.fit(&Dataset::new(Samples::Dense(samples(ROWS))), &run).unwrap();
    let apart: f64 = model.variances.iter().zip(&held.variances).map(|(a, b)| (a - b).abs() / b).fold(0.0, f64::max);
    assert!(apart < 1e-8, "{apart}");
}

#[test]
fn softmax_of_many_classes_takes_few_passes() {
    let found = fit(&job("logistic", &[("penalty", "100")]), &table(Some(classes(ROWS, 5))), &Run::default()).unwrap();
    assert!(found.converged() && found.passes < 40, "{}", found.passes);
}

fn refused<R>(result: crate::base::error::Result<R>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let run = Run::default();
    let (job_one, rows) = (job("krr", &[("task", "values")]), table(Some(values(ROWS))));
    let part = |job: &Job, range: std::ops::Range<usize>| pass(&State::new(job.clone()), &rows, range, &run).unwrap();
    let mut whole = part(&job_one, 0..256);
    assert_eq!(refused(whole.merge(part(&job_one, 224..500))), "rows 224 to 255 are in two of the parts");
    let other = job("krr", &[("task", "values"), ("penalty", "7")]);
    let message = refused(whole.merge(part(&other, 256..500)));
    assert!(message.contains("`penalty` is not given in one of them and 7.0 in another"), "{message}");
    let shorter = TableStream::of_memory(Samples::Dense(samples(300)), Some(values(300)));
    let message = refused(whole.merge(pass(&State::new(job_one.clone()), &shorter, 256..300, &run).unwrap()));
    assert!(message.contains("the number of rows of the table is 500 in one of them and 300"), "{message}");
    whole.merge(part(&job_one, 320..500)).unwrap();
    assert_eq!(refused(whole.finish(&run)), "rows 256 to 319 of 500 are in none of the parts");
    assert_eq!(refused(part(&job_one, 32..500).finish(&run)), "rows 0 to 31 of 500 are in none of the parts");
    let Outcome::Next(state) = part(&job_one, 0..500).finish(&run).unwrap() else { panic!("a model") };
    let mut second = pass(&state, &rows, 0..256, &run).unwrap();
    assert!(refused(second.merge(part(&job_one, 256..500))).contains("the pass is 2 in one of them and 1 in another"));
    let mut changed = samples(ROWS);
    changed[(400, 1)] += 1e-9;
    let changed = TableStream::of_memory(Samples::Dense(changed), Some(values(ROWS)));
    second.merge(pass(&state, &changed, 256..500, &run).unwrap()).unwrap();
    assert!(refused(second.finish(&run)).contains("fingerprint of all rows, which have changed"));
}

#[test]
fn rows_that_cannot_be_added_are_refused() {
    let run = Run::default();
    let facts = TableFacts { rows: 100, width: 3, ..TableFacts::default() };
    let state = State::new(job("kpca", &[]));
    let mut part = state.part(facts).unwrap();
    let x = |rows: usize, width: usize| Samples::Dense(Mat::from_fn(rows, width, |i, j| (i + j) as f64));
    let mut add = |first: usize, x: Samples<f64>| refused(part.update(first, x.as_ref(), None, &run));
    assert_eq!(add(0, x(0, 3)), "the number of rows from 0 on is 0 but must be at least 1");
    assert_eq!(add(32, x(32, 4)), "the number of columns of rows 32 to 63 is 4 but must be 3");
    assert!(add(5, x(32, 3)).contains("must be whole pieces of 32 rows"));
    assert!(add(64, x(30, 3)).contains("the range of rows is 64 to 93"));
    assert!(add(96, x(9, 3)).contains("is at least 105 but must be 100"));
    let mut bad = x(64, 3).into_dense();
    bad[(40, 2)] = f64::NAN;
    assert_eq!(add(0, Samples::Dense(bad)), "the table contains NaN at row 40, column 2");
}

#[test]
fn landmarks_are_drawn_uniformly_and_by_the_seed() {
    let rows = |seed: u64| {
        let given = Settings::default().with("piece", 32).with("landmarks", 100);
        let job = Job::new::<f64>("features", given, seed).unwrap();
        let found = fit(&job, &table(None), &Run::default()).unwrap();
        let Fitted::Components(model) = found.fitted else { panic!() };
        serde_json::from_value::<Vec<usize>>(model.params["landmark-rows"].clone()).unwrap()
    };
    let (one, two) = (rows(1), rows(2));
    assert!(one != two && one == rows(1) && one.windows(2).all(|pair| pair[0] < pair[1]));
    let mean = one.iter().chain(&two).sum::<usize>() as f64 / 200.0;
    assert!((mean - 250.0).abs() < 40.0, "{mean}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Parts with a byte changed or cut are refused or read, and never panic.
    #[test]
    fn damaged_parts_are_refused(at in 0usize..100_000, byte in 0u8..255, cut: bool, later: bool) {
        let (job, rows, run) = (job("svm", &[]), table(Some(classes(ROWS, 2))), Run::default());
        let mut state = State::new(job);
        if later {
            let Outcome::Next(next) = pass(&state, &rows, 0..500, &run).unwrap().finish(&run).unwrap() else { panic!() };
            state = next;
        }
        let mut bytes = pass(&state, &rows, 32..256, &run).unwrap().to_bytes().unwrap();
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Ok(part) = Part::<f64>::from_bytes(&bytes, "a part") {
            let _ = part.finish(&run);
        }
    }
}

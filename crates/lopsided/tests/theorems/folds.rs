//! Cross-validation sees nothing of the fold: for every estimator it is a fit on the rest for each fold, and labels that mean
//! nothing are guessed no better than by chance.

use lopsided::base::settings::Value;
use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::{Estimator, Point, Recipe, estimators, score};
use lopsided::kernel::Gamma;
use lopsided::{Compat, Compatibility, Dataset, GraphRule, KernelSvd, Mat, Run, Samples, Target};
use proptest::prelude::*;
use std::time::{SystemTime, UNIX_EPOCH};

const FOLDS: usize = 4;

/// What an estimator is tried with.
struct Case {
    estimator: &'static str,
    input: &'static str,
    svd: KernelSvd,
    compat: Compat,
    /// Settings of all points.
    fixed: Point,
    grid: Vec<(&'static str, &'static [&'static str])>,
}

fn settings(pairs: &[(&str, &str)]) -> Point {
    pairs.iter().map(|(name, value)| ((*name).to_string(), Value::of_word(value))).collect()
}

impl Case {
    fn new(estimator: &'static str, input: &'static str, kernel: &str) -> Self {
        let grid: Vec<(&str, &'static [&str])> =
            vec![if estimator == "nu-svm" { ("nu", &["0.05", "0.07"]) } else { ("penalty", &["0.3", "1", "7"]) }];
        let svd = KernelSvd::new(kernel).with_rank(4);
        Case { estimator, input, svd, compat: Compat::None, fixed: Point::default(), grid }
    }

    fn with(mut self, fixed: &[(&str, &str)]) -> Self {
        self.fixed = self.fixed.and(&settings(fixed));
        self
    }

    fn trying(mut self, name: &'static str, values: &'static [&'static str]) -> Self {
        self.grid.push((name, values));
        self
    }

    fn by(mut self, change: impl FnOnce(KernelSvd) -> KernelSvd) -> Self {
        self.svd = change(self.svd);
        self
    }

    fn against_columns(self) -> Self {
        Case { compat: Compat::Pca, ..self }
    }

    fn build(&self) -> Box<dyn Estimator<f64>> {
        let entry = estimators::<f64>().into_iter().find(|entry| entry.name == self.estimator).unwrap();
        let recipe = Recipe { svd: self.svd.clone(), compat: Compatibility::new(self.compat) };
        (entry.build)(recipe).with(&self.fixed).unwrap()
    }

    fn points(&self) -> Vec<Point> {
        self.grid.iter().fold(vec![Point::default()], |points, (name, values)| {
            let with = |point: &Point, value: &&str| point.clone().and(&settings(&[(*name, *value)]));
            points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect()
        })
    }

    fn name(&self) -> String {
        format!("{} {:?} on {}, {}", self.estimator, self.fixed, self.input, self.svd.gram.kernel.name)
    }
}

/// Every estimator of the list with all it can be fed with.
fn cases() -> Vec<Case> {
    let mut all = vec![
        Case::new("kernel-svd", "table", "rbf").trying("rank", &["2", "4"]).by(|svd| svd.with_gamma(Gamma::Median)),
        Case::new("kernel-svd", "table", "sne")
            .by(|svd| svd.with_center(true).with_gamma(Gamma::Ksvd))
            .against_columns(),
        Case::new("kernel-svd", "table", "rbf").trying("rank", &["2", "4"]).against_columns(),
        Case::new("kernel-svd", "table", "rbf").trying("rank", &["2", "4"]).by(|svd| svd.with_solver("lanczos")),
        Case::new("kernel-svd", "two tables", "sne").by(|svd| svd.with_center(true)),
        Case::new("kernel-svd", "graph", "sne").trying("rank", &["2", "4"]),
        Case::new("kernel-svd", "graph", "rbf").by(|svd| svd.with_solver("nystrom")).trying("rank", &["2", "4"]),
        Case::new("kernel-svd", "matrix", "precomputed"),
        Case::new("ask-ls", "pairs", "sne").trying("merge", &["average", "stack"]),
        Case::new("ls-svm", "pairs", "sne"),
    ];
    let merges: &[&str] = &["target", "source", "average", "stack"];
    for (input, kernel) in [("table", "sne"), ("table", "rbf"), ("graph", "sne"), ("matrix", "precomputed")] {
        let rule = |svd: KernelSvd| svd.with_gamma(Gamma::Median);
        all.push(Case::new("ask-ls", input, kernel).trying("merge", merges).by(rule));
        all.push(Case::new("ls-svm", input, kernel).trying("symmetrize", &["average", "columns", "rows"]).by(rule));
    }
    for estimator in ["svm", "nu-svm", "logistic"] {
        for (input, kernel) in [("table", "rbf"), ("table", "sne"), ("graph", "sne"), ("gram", "precomputed")] {
            all.push(Case::new(estimator, input, kernel));
        }
        for (input, kernel) in [("table", "rbf"), ("gram", "precomputed")] {
            for approach in ["lla", "gsa"] {
                let given = [("approach", approach), ("landmarks", "12")];
                all.push(Case::new(estimator, input, kernel).with(&given).by(|svd| svd.with_gamma(Gamma::Ksvd)));
            }
        }
        all.push(Case::new(estimator, "table", "rbf").with(&[("class-weight", "balanced")]));
    }
    all.push(Case::new("svm", "table", "rbf").with(&[("multi-class", "ovo"), ("probability", "true")]));
    for (input, kernel) in [("table", "rbf"), ("gram", "precomputed")] {
        all.push(
            Case::new("krr", input, kernel).with(&[("approach", "exact")]).by(|svd| svd.with_gamma(Gamma::Median)),
        );
        for approach in ["lla", "gsa", "ncr"] {
            all.push(Case::new("krr", input, kernel).with(&[("approach", approach), ("landmarks", "12")]));
        }
    }
    all
}

fn table(n: usize, seed: u64) -> Mat<f64> {
    let classes = synth::clusters::<f64>(n, 5, 3, seed).0;
    classes + synth::gaussian::<f64>(n, 5, seed ^ 1) * faer::Scale(2.0)
}

fn samples(input: &str, n: usize, seed: u64) -> Dataset<f64> {
    let x = table(n, seed);
    let other = synth::gaussian::<f64>(n, 5, seed ^ 2);
    match input {
        "table" => Dataset::new(Samples::Dense(x)),
        "two tables" => Dataset::two_sided(Samples::Dense(x), Samples::Dense(other.subrows(0, 9).to_owned())),
        "pairs" => Dataset::two_sided(Samples::Dense(x.clone()), Samples::Dense(x + other * faer::Scale(0.3))),
        "matrix" => Dataset::new(Samples::Dense((&x + other) * x.transpose() * faer::Scale(0.2))),
        "gram" => Dataset::new(Samples::Dense(
            &x * x.transpose() * faer::Scale(0.2) + Mat::<f64>::identity(n, n) * faer::Scale(0.5),
        )),
        _ => {
            let recipe = CyclicGraph { nodes: n, classes: 3, degree: 6.0, contrast: 1.0, seed };
            Dataset::from_graph(&recipe.generate().unwrap().0, &GraphRule::default()).unwrap()
        }
    }
}

/// Classes that the samples tell something about, some of them unknown.
fn told(data: &Dataset<f64>, n: usize, seed: u64) -> Target {
    let noise = synth::gaussian::<f64>(n, 3, seed ^ 3);
    let hints = synth::clusters::<f64>(n, 5, 3, seed).1;
    let code = |i: usize| {
        let drawn = (0..3).max_by(|&a, &b| noise[(i, a)].total_cmp(&noise[(i, b)])).unwrap();
        if noise[(i, 0)] > 0.5 { drawn as u32 } else { hints[i] }
    };
    let all_known = data.z.is_some() && data.frame.is_none();
    let codes = (0..n).map(|i| (all_known || i % 9 != 4).then(|| code(i))).collect();
    Target::Classes { names: ["a", "b", "c"].map(String::from).to_vec(), codes }
}

fn dealt(target: &Target) -> Vec<Vec<usize>> {
    let known = target.known();
    (0..FOLDS).map(|f| known.iter().skip(f).step_by(FOLDS).copied().collect()).collect()
}

/// The score of one fold, from a fit that was given nothing of it: the other rows of a table, or nodes and a matrix without
/// the fold's labels.
fn explicit(case: &Case, data: &Dataset<f64>, point: &Point, fold: &[usize], run: &Run) -> lopsided::Result<f64> {
    let target = data.y.clone().unwrap();
    let rest = target.clone().without(|i| fold.contains(&i));
    let training =
        if case.input.contains("table") { data.rows(&rest.known()) } else { Dataset { y: Some(rest), ..data.clone() } };
    let model = case.build().with(point)?.fit(training, run)?;
    Ok(score(&target.rows(fold), model.decision(&data.rows(fold), run)?.as_ref()))
}

fn compare(case: &Case, data: &Dataset<f64>, tol: f64, seed: u64) -> Result<(), TestCaseError> {
    let run = Run { seed, ..Run::default() };
    let (points, folds) = (case.points(), dealt(data.y.as_ref().unwrap()));
    let found = case.build().validate(data, &points, &folds, &run).unwrap();
    // Folds need not cover all samples: one alone is scored as among the others.
    let alone = case.build().validate(data, &points, &folds[..1], &run).unwrap();
    for (among, alone) in found.iter().zip(&alone) {
        prop_assert!(alone.len() == 1 && (among[0] - alone[0]).abs() <= tol * among[0].max(1.0), "{}", case.name());
    }
    for (point, found) in points.iter().zip(found) {
        for (fold, found) in folds.iter().zip(found) {
            let expected = explicit(case, data, point, fold, &run).unwrap();
            let gap = (found - expected).abs();
            prop_assert!(gap <= tol * expected.max(1.0), "{}, {point:?}: {found}, alone {expected}", case.name());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]

    #[test]
    fn cross_validation_is_a_fit_on_the_rest(n in 45usize..60, seed: u64) {
        for case in cases() {
            let mut data = samples(case.input, n, seed);
            data.y = Some(told(&data, n, seed));
            compare(&case, &data, 1e-12, seed)?;
        }
    }

    #[test]
    fn cross_validation_of_values_is_a_fit_on_the_rest(n in 45usize..60, seed: u64) {
        for case in cases().iter().filter(|case| ["kernel-svd", "ask-ls", "ls-svm", "krr"].contains(&case.estimator)) {
            let mut data = samples(case.input, n, seed);
            let (x, noise) = (table(n, seed), synth::gaussian::<f64>(n, 1, seed ^ 4));
            data.y = Some(Target::Values((0..n).map(|i| (2.0 * x[(i, 0)]).sin() + 0.1 * noise[(i, 0)]).collect()));
            compare(case, &data, 1e-9, seed)?;
        }
    }
}

const CLASSES: usize = 5;
const SAMPLES: usize = 60;
const HELD: usize = SAMPLES / FOLDS;
const REPEATS: usize = 24;
/// With independent labels each of the held-out ones is guessed with probability 1/5, whatever was learned from the rest: of
/// the 360 guesses of a fold in all repetitions a share beyond 0.2 ± 0.17 comes about with a probability below 1e-11, by
/// Chernoff's bound exp(−360·KL(0.37, 0.2)), and below 1e-8 for any fold of any estimator. Labels are drawn again where a class
/// has less than two members outside a fold, which happens to less than 2 in 100 and moves the share by no more than that.
const BOUND: f64 = 0.17 + 0.02;

/// Labels that mean nothing.
fn drawn(seed: u64) -> Target {
    for attempt in 0.. {
        let noise = synth::gaussian::<f64>(SAMPLES, CLASSES, seed.wrapping_mul(31).wrapping_add(attempt));
        let largest = |i: usize| (0..CLASSES).max_by(|&a, &b| noise[(i, a)].total_cmp(&noise[(i, b)])).unwrap() as u32;
        let codes: Vec<u32> = (0..SAMPLES).map(largest).collect();
        let outside = |c: u32, f: usize| (0..SAMPLES).filter(|i| i % FOLDS != f && codes[*i] == c).count();
        if (0..CLASSES as u32).all(|c| (0..FOLDS).all(|f| outside(c, f) > 1)) {
            let names = (0..CLASSES).map(|c| format!("class {c}")).collect();
            return Target::Classes { names, codes: codes.into_iter().map(Some).collect() };
        }
    }
    unreachable!("labels of all classes are drawn sooner or later")
}

#[test]
fn random_labels_are_guessed_by_chance() {
    let first = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    for case in cases() {
        // The last point of a grid has the largest penalty, which learns the most by heart, and stacking.
        let last = case.points().pop().unwrap();
        let mut right = [0.0; FOLDS];
        for repeat in 0..REPEATS as u64 {
            let seed = first.wrapping_add(repeat);
            let y = drawn(seed);
            let (folds, data) = (dealt(&y), Dataset { y: Some(y), ..samples(case.input, SAMPLES, seed) });
            let run = Run { seed, ..Run::default() };
            let found = case.build().validate(&data, std::slice::from_ref(&last), &folds, &run).unwrap();
            right.iter_mut().zip(&found[0]).for_each(|(right, score)| *right += score * HELD as f64);
        }
        for share in right.iter().map(|right| right / (REPEATS * HELD) as f64) {
            let chance = 1.0 / CLASSES as f64;
            assert!((share - chance).abs() < BOUND, "{} with the seed {first}: {share}", case.name());
        }
    }
}

//! Prediction from kernel SVD features.

use lopsided::base::settings::{Settings, Value};
use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::{Estimator, Model, Plan, Point, SvdPredictor, SvdPredictorModel, load_model};
use lopsided::evaluation::Search;
use lopsided::{Dataset, GraphRule, KernelSvd, Result, Run, Samples, Scalar, Target};

/// The same estimator without its shared cross-validation.
struct Plain(SvdPredictor);

impl Estimator<f64> for Plain {
    fn with(&self, point: &Settings) -> Result<Box<dyn Estimator<f64>>> {
        self.0.with(point)
    }

    fn settings(&self) -> Settings {
        Estimator::<f64>::settings(&self.0)
    }

    fn plan(&self, data: &Dataset<f64>, run: &Run) -> Result<Plan> {
        self.0.plan(data, run)
    }

    fn fit(&self, data: Dataset<f64>, run: &Run) -> Result<Box<dyn Model<f64>>> {
        Estimator::fit(&self.0, data, run)
    }
}

fn predictor(kernel: &str) -> SvdPredictor {
    SvdPredictor::new(KernelSvd::new(kernel).with_rank(4).with_solver("exact"))
}

fn classes(codes: &[u32], known: impl Fn(usize) -> bool) -> Target {
    let names = (0..=*codes.iter().max().unwrap()).map(|c| format!("class {c}")).collect();
    Target::Classes { names, codes: codes.iter().enumerate().map(|(i, c)| known(i).then_some(*c)).collect() }
}

fn graph() -> Dataset<f64> {
    let recipe = CyclicGraph { nodes: 60, classes: 3, degree: 8.0, contrast: 1.0, seed: 1 };
    let (graph, codes) = recipe.generate().unwrap();
    let data = Dataset::from_graph(&graph, &GraphRule::default()).unwrap();
    Dataset { y: Some(classes(&codes, |i| i % 6 != 5)), ..data }
}

fn table<T: Scalar>() -> Dataset<T> {
    let (x, codes) = synth::clusters::<T>(45, 5, 3, 2);
    Dataset { y: Some(classes(&codes, |i| i % 9 != 4)), ..Dataset::new(Samples::Dense(x)) }
}

fn values() -> Dataset<f64> {
    let x = synth::gaussian::<f64>(40, 5, 3);
    let target = (0..40).map(|i| if i == 7 { f64::NAN } else { 2.0 * x[(i, 0)] - x[(i, 3)] + 10.0 }).collect();
    Dataset { y: Some(Target::Values(target)), ..Dataset::new(Samples::Dense(x)) }
}

fn points(grid: &[(&str, &[&str])]) -> Vec<Point> {
    let mut out = vec![Point::default()];
    for (name, values) in grid {
        let with = |point: &Point, value: &str| point.clone().with(name, Value::of_word(value));
        out = out.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect();
    }
    out
}

#[test]
fn shared_cross_validation_equals_one_fit_per_point() {
    let grid = points(&[
        ("gamma-factor", &["0.7", "2"]),
        ("rank", &["2", "4"]),
        ("scaling", &["none", "sqrt", "full"]),
        ("penalty", &["0.5", "50"]),
    ]);
    for (name, data) in [("graph", graph()), ("table", table()), ("values", values())] {
        let known = data.y.as_ref().unwrap().known();
        let folds: Vec<Vec<usize>> = (0..3).map(|f| known.iter().skip(f).step_by(3).copied().collect()).collect();
        let run = Run::default();
        let shared = Estimator::validate(&predictor("rbf"), &data, &grid, &folds, &run).unwrap();
        let plain = Plain(predictor("rbf")).validate(&data, &grid, &folds, &run).unwrap();
        assert!(shared.concat().iter().any(|s| (s - shared[0][0]).abs() > 1e-3), "{name}: all scores are equal");
        for (point, (a, b)) in grid.iter().zip(shared.iter().zip(&plain)) {
            let gap = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-7, "{name} {point:?}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_search_takes_the_best_point_and_says_what_it_tried() {
    let grid = vec![("rank".to_string(), vec![1.into(), 5.into()]), ("penalty".into(), vec![1.0.into(), 1e5.into()])];
    let (_, tuning) = Search { folds: 4, grid }.run(&predictor("linear"), &values(), &Run::default()).unwrap();
    assert_eq!((tuning.points.len(), tuning.measure), (4, "rmse"));
    assert_eq!(tuning.best.params["rank"], "5");
    assert!(tuning.points.iter().all(|p| p.score.mean >= tuning.best.score.mean));
    assert!(tuning.best.score.mean < 0.01, "{tuning:?}");
}

#[test]
fn saved_models_predict_the_same_bits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m");
    let run = Run::default();
    for data in [graph(), table(), values()] {
        let model = predictor("sne").fit(data.clone(), &run).unwrap();
        model.archive().save(&path).unwrap();
        let back = load_model::<f64>(&lopsided::data::archive::Archive::load(&path).unwrap()).unwrap();
        assert_eq!(back.answer(), model.answer());
        assert_eq!(back.report(), model.report());
        assert_eq!(back.decision(&data, &run).unwrap(), model.decision(&data, &run).unwrap());
    }
}

#[test]
fn heads_that_do_not_fit_are_refused() {
    let model = predictor("rbf").fit(table::<f64>(), &Run::default()).unwrap();
    let refused = |change: &dyn Fn(&mut lopsided::data::archive::Archive)| {
        let mut archive = model.archive();
        change(&mut archive);
        load_model::<f64>(&archive).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&|_| {}), "");
    let narrow = lopsided::Mat::<f64>::zeros(2, 3);
    assert!(refused(&|a| a.set_matrix("head.weights", narrow.as_ref())).contains("does not fit"));
    assert!(refused(&|a| a.set_vector("head.bias", &[0.0])).contains("does not fit"));
    assert!(refused(&|a| a.set_field("answer", "values")).contains("does not fit"));
    assert!(refused(&|a| a.set_field("fit", 3)).contains("`fit`"));
    assert!(refused(&|a| a.set_field("estimator", "other")).contains("does not predict"));
}

#[test]
fn a_node_with_the_links_of_another_is_predicted_like_it() {
    let data = graph();
    let run = Run::default();
    let model = predictor("rbf").fit(data.clone(), &run).unwrap();
    let mut twins = data.rows(&[3, 14, 15]);
    let own = model.decision(&twins, &run).unwrap();
    twins.row_ids = Some(["a", "b", "c"].map(String::from).to_vec());
    let placed = model.decision(&twins, &run).unwrap();
    assert!((placed - own).norm_max() < 1e-8);
    twins.z = None;
    assert!(model.decision(&twins, &run).is_err());
}

#[test]
fn rows_of_a_table_do_not_learn_from_rows_without_target() {
    let (data, run) = (table::<f64>(), Run::default());
    let known = data.y.as_ref().unwrap().known();
    let model = predictor("rbf").fit(data.clone(), &run).unwrap();
    let alone = predictor("rbf").fit(data.rows(&known), &run).unwrap();
    assert_eq!(model.report().n_train, known.len());
    assert_eq!(model.decision(&data, &run).unwrap(), alone.decision(&data, &run).unwrap());
}

#[test]
fn single_precision_predicts_like_double() {
    let run = Run::default();
    let wide: SvdPredictorModel<f64> = predictor("rbf").fit(table(), &run).unwrap();
    let narrow: SvdPredictorModel<f32> = predictor("rbf").fit(table(), &run).unwrap();
    let difference = wide.decision(&table(), &run).unwrap() - narrow.decision(&table(), &run).unwrap();
    assert!(difference.norm_max() < 1e-2, "{}", difference.norm_max());
}

#[test]
fn settings_are_checked() {
    let set = |name: &str, value: &str| {
        let point = Settings::default().with(name, Value::of_word(value));
        Estimator::<f64>::with(&predictor("rbf"), &point).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(set("penalty", "0"), "`penalty` is 0 but must be a number above 0");
    assert_eq!(set("rank", "0"), "`rank` is 0 but must be a whole number of at least 1");
    assert!(
        set("gama", "1").ends_with(
            "known: gamma, gamma-factor, coef0, degree, epsilon, beta, alpha, decay, rank, scaling, penalty"
        )
    );
    assert!(set("scaling", "half").contains("known: none, sqrt, full"));
    let factor = Settings::default().with("gamma-factor", 2);
    assert!(Estimator::<f64>::with(&predictor("linear"), &factor).is_err());
    let mut one = table::<f64>();
    one.y = Some(classes(&[0; 45], |_| true));
    let error = predictor("rbf").fit(one, &Run::default()).err().unwrap().to_string();
    assert!(error.contains("one class only"), "{error}");
}

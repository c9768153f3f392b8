//! The estimators `svm`, `nu-svm` and `logistic`: probabilities, files, weights, several classes.

use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::estimators::{ClassWeight, Estimator, KernelLogistic, KernelMachineModel, Model, Svm, SvmKind, score};
use lopsided::solvers::svm::MultiClass;
use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, Target};

/// Overlapping clusters in three classes, and new ones of the same kind.
fn data(n: usize) -> (Dataset<f64>, Dataset<f64>) {
    let (x, classes) = synth::clusters::<f64>(2 * n, 3, 3, 8);
    let x = &x + synth::gaussian::<f64>(2 * n, 3, 9) * faer::Scale(1.5);
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let y = Some(Target::Classes { names, codes: classes.into_iter().map(Some).collect() });
    let all = Dataset { y, ..Dataset::new(Samples::Dense(x)) };
    (all.rows(&(0..n).collect::<Vec<_>>()), all.rows(&(n..2 * n).collect::<Vec<_>>()))
}

fn svm(way: MultiClass) -> Svm {
    Svm { probability: true, ..Svm::new("rbf").with_multi_class(way) }
}

fn models() -> Vec<(&'static str, KernelMachineModel<f64>)> {
    let (train, run) = (data(120).0, Run::default());
    let fit = |machine: Svm| machine.fit(train.clone(), &run).unwrap();
    let nu = |way| fit(svm(way).with_kind(SvmKind::Nu(0.4)));
    vec![
        ("ovo", fit(svm(MultiClass::OneVsOne))),
        ("ovr", fit(svm(MultiClass::OneVsRest))),
        ("nu ovo", nu(MultiClass::OneVsOne)),
        ("nu ovr", nu(MultiClass::OneVsRest)),
        ("logistic", KernelLogistic::new("rbf").fit(train, &run).unwrap()),
    ]
}

/// Mean of −log p of the true classes.
fn log_loss(target: &Target, p: &Mat<f64>) -> f64 {
    let Target::Classes { codes, .. } = target else { panic!("no classes") };
    let each = codes.iter().enumerate().map(|(i, c)| -p[(i, c.unwrap() as usize)].ln());
    each.sum::<f64>() / codes.len() as f64
}

#[test]
fn probabilities_sum_to_one_and_say_more_than_the_shares_of_the_classes() {
    let (_, test) = data(120);
    let target = test.y.clone().unwrap();
    for (name, model) in models() {
        let p = model.probabilities(&test, &Run::default()).unwrap().unwrap();
        for row in p.row_iter() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9 && row.iter().all(|p| (0.0..=1.0).contains(p)));
        }
        let decision = model.decision(&test, &Run::default()).unwrap();
        let (by_value, by_probability) = (score(&target, decision.as_ref()), score(&target, p.as_ref()));
        assert!(by_value > 0.6 && (by_value - by_probability).abs() < 0.1, "{name}: {by_value} {by_probability}");
        let loss = log_loss(&target, &p);
        assert!(loss < 0.9 * 3f64.ln(), "{name}: {loss}");
    }
}

#[test]
fn models_are_the_same_after_a_visit_to_a_file() {
    let (_, test) = data(120);
    for (name, model) in models() {
        let loaded = KernelMachineModel::<f64>::from_archive(&model.archive()).unwrap();
        let run = Run::default();
        assert_eq!(model.decision(&test, &run).unwrap(), loaded.decision(&test, &run).unwrap(), "{name}");
        assert_eq!(model.probabilities(&test, &run).unwrap(), loaded.probabilities(&test, &run).unwrap(), "{name}");
    }
    let mut archive = models().remove(0).1.archive();
    archive.set_field("output", serde_json::json!({"machines": {"pairs": [[0, 9]], "sigmoids": null}}));
    assert!(KernelMachineModel::<f64>::from_archive(&archive).is_err());
}

#[test]
fn sample_weights_of_classes_are_class_weights_and_balanced_ones_favour_the_rare() {
    let (mut train, test) = data(120);
    let Some(Target::Classes { codes, .. }) = &train.y else { panic!("no classes") };
    let rare: Vec<usize> = (0..120).filter(|&i| codes[i] != Some(2) || i % 5 == 0).collect();
    train = train.rows(&rare);
    let Some(Target::Classes { codes, .. }) = &train.y else { panic!("no classes") };
    let weights: Vec<f64> = codes.iter().map(|c| if *c == Some(2) { 3.0 } else { 1.0 }).collect();
    let weighted = Dataset { weights: Some(weights), ..train.clone() };
    let run = Run::default();
    let estimators: Vec<Box<dyn Estimator<f64>>> =
        vec![Box::new(Svm::new("rbf")), Box::new(KernelLogistic::new("rbf"))];
    for estimator in estimators {
        let fit = |setting: &str, data: &Dataset<f64>| {
            let machine = estimator.with(&Settings::default().with("class-weight", setting)).unwrap();
            machine.fit(data.clone(), &run).unwrap().decision(&test, &run).unwrap()
        };
        assert_eq!(fit("c=3", &train), fit("none", &weighted));
        let share = |decision: Mat<f64>| {
            let found = lopsided::solvers::linear_machine::largest_columns(decision.as_ref());
            found.iter().filter(|c| **c == 2).count()
        };
        assert!(share(fit("balanced", &train)) > share(fit("none", &train)));
    }
}

#[test]
fn only_support_vectors_are_kept() {
    let (train, test) = data(120);
    let model = Svm::new("rbf").fit(train, &Run::default()).unwrap();
    let supports = model.report().params["support-vectors"].as_u64().unwrap();
    assert!(supports < 120 && model.report().n_train == 120);
    assert_eq!(model.archive().samples::<f64>("x").unwrap().count() as u64, supports);
    assert_eq!(model.decision(&test, &Run::default()).unwrap().shape(), (120, 3));
    assert!(model.probabilities(&test, &Run::default()).unwrap().is_none());
}

#[test]
fn unusable_weights_and_settings_are_refused() {
    let (train, _) = data(60);
    let machine = Svm::new("rbf");
    let refused = |machine: &Svm, weights: Option<Vec<f64>>, words: &str| {
        let data = Dataset { weights, ..train.clone() };
        let error = machine.fit(data, &Run::default()).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&machine, Some(vec![1.0; 59]), "number of weights is 59 but must be 60");
    refused(&machine, Some(vec![-1.0; 60]), "-1 for sample `0`");
    refused(&machine, Some(vec![f64::NAN; 60]), "NaN for sample `0`");
    refused(&machine.clone().with_kind(SvmKind::C(0.0)), None, "`penalty` is 0");
    refused(&machine.clone().with_kind(SvmKind::Nu(0.9)), None, "`nu` is 0.9 but must be above 0 and at most 0.6");
    let unknown = Svm { class_weight: ClassWeight::Named(vec![("z".into(), 1.0)]), ..machine };
    refused(&unknown, None, "no class `z`");
    let others = lopsided::estimators::estimators::<f64>();
    let recipe = || lopsided::estimators::Recipe {
        svd: KernelSvd::new("rbf"),
        compat: lopsided::Compatibility::new(lopsided::Compat::Pca),
    };
    for (name, weight, sentence) in [
        ("kernel-svd", 1.0, "`weights` is given but must be left out"),
        ("ask-ls", -1.0, "-1 for sample `0`"),
        ("ls-svm", f64::NAN, "NaN for sample `0`"),
    ] {
        let entry = others.iter().find(|e| e.name == name).unwrap();
        let weighted = Dataset { weights: Some(vec![weight; 60]), ..train.clone() };
        let error = (entry.build)(recipe()).fit(weighted, &Run::default()).err().unwrap().to_string();
        assert!(error.contains(sentence), "{name}: {error}");
    }
}

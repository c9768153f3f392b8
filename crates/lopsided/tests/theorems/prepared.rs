//! The scale of columns and the choice of a penalty: what every machine does before it learns.

use lopsided::base::settings::Settings;
use lopsided::data::synth;
use lopsided::estimators::{Estimator, Point, load_model, recipe, score};
use lopsided::{Csr, Dataset, Mat, Run, Samples, Target};

/// Two clouds whose first column tells the class, beside columns of very different sizes.
fn clouds(count: usize, sizes: [f64; 3]) -> Dataset<f64> {
    let noise = synth::gaussian::<f64>(count, 3, 5);
    let side = |i: usize| if i.is_multiple_of(2) { 1.5 } else { -1.5 };
    let entry = |i: usize, j: usize| sizes[j] * (noise[(i, j)] + if j == 0 { side(i) } else { 0.0 });
    let codes = (0..count).map(|i| Some((i % 2) as u32)).collect();
    let y = Target::Classes { names: vec!["even".into(), "odd".into()], codes };
    Dataset { y: Some(y), ..Dataset::new(Samples::Dense(Mat::from_fn(count, 3, entry))) }
}

fn machine(name: &str, given: Settings, data: &Dataset<f64>) -> Box<dyn Estimator<f64>> {
    recipe::estimator(name, given, data).unwrap().1
}

const MACHINES: [&str; 6] = ["ask-ls", "ls-svm", "svm", "nu-svm", "logistic", "krr"];

#[test]
fn the_units_of_columns_do_not_matter() {
    for name in MACHINES {
        let decisions = [[1.0, 1.0, 1.0], [1e-3, 1.0, 4096.0]].map(|sizes| {
            let data = clouds(60, sizes);
            let model = machine(name, Settings::default(), &data).fit(data.clone(), &Run::default()).unwrap();
            assert_eq!(model.report().params["scale"], "standard", "{name}");
            let found = model.decision(&data, &Run::default()).unwrap();
            assert!(score(data.y.as_ref().unwrap(), found.as_ref()) > 0.85, "{name}");
            found
        });
        // Machines that end at a tolerance end elsewhere for other roundings.
        let off = (&decisions[0] - &decisions[1]).norm_max() / decisions[0].norm_max();
        assert!(off < 2e-3, "{name}: {off}");
    }
}

#[test]
fn the_scale_is_part_of_the_model() {
    let data = clouds(50, [1.0, 100.0, 0.01]);
    for name in MACHINES {
        let model = machine(name, Settings::default(), &data).fit(data.clone(), &Run::default()).unwrap();
        let again = load_model::<f64>(&model.archive()).unwrap();
        let said = [&model, &again].map(|m| m.decision(&data, &Run::default()).unwrap());
        assert_eq!(said[0], said[1], "{name}");
        assert_eq!(model.report(), again.report(), "{name}");
    }
}

#[test]
fn folds_see_nothing_of_the_scale_of_the_others() {
    let data = clouds(40, [1.0, 50.0, 0.1]);
    let folds: Vec<Vec<usize>> = (0..4).map(|f| (f..40).step_by(4).collect()).collect();
    for name in ["ask-ls", "ls-svm", "svm", "logistic", "krr"] {
        let estimator = machine(name, Settings::default(), &data);
        for point in [Point::default().with("penalty", 3.0), Point::default()] {
            let found = estimator.validate(&data, std::slice::from_ref(&point), &folds, &Run::default()).unwrap();
            let one = |fold: &Vec<usize>| {
                let rest = data.y.clone().unwrap().without(|i| fold.contains(&i));
                let learned = Dataset { y: Some(rest), ..data.clone() };
                let model = estimator.with(&point).unwrap().fit(learned, &Run::default()).unwrap();
                let part = data.rows(fold);
                score(part.y.as_ref().unwrap(), model.decision(&part, &Run::default()).unwrap().as_ref())
            };
            let expected: Vec<f64> = folds.iter().map(one).collect();
            assert!(found[0].iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12), "{name} {point:?}");
        }
    }
}

#[test]
fn what_was_chosen_is_said_and_so_is_that_nothing_was_learned() {
    let data = clouds(60, [1.0; 3]);
    let model = machine("logistic", Settings::default(), &data).fit(data.clone(), &Run::default()).unwrap();
    let chosen = model.report().chosen.clone().unwrap();
    assert!(chosen.starts_with("penalty ") && chosen.contains("held-out micro-F1"), "{chosen}");
    let given = Settings::default().with("penalty", 2.0).with("scale", "none");
    let model = machine("logistic", given, &data).fit(data.clone(), &Run::default()).unwrap();
    assert!(model.report().chosen.is_none() && !model.report().params.contains_key("scale"));
    // Labels that have nothing to do with the samples, one class twice as frequent.
    let codes = (0..60).map(|i: u32| Some(u32::from(i.wrapping_mul(2_654_435_761).is_multiple_of(3)))).collect();
    let y = Target::Classes { names: vec!["a".into(), "b".into()], codes };
    let noise = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(synth::gaussian(60, 2, 8))) };
    let model = machine("svm", Settings::default(), &noise).fit(noise.clone(), &Run::default()).unwrap();
    let warned = model.report().warnings.iter().any(|w| w.contains("nothing was learned"));
    assert!(warned, "{:?}", model.report());
}

#[test]
fn sparse_tables_are_left_as_they_are() {
    let entries: Vec<_> = (0..120).map(|k| (k % 40, (k * 7 + k / 40) % 6, 1.0 + 0.3 * f64::from(k % 13))).collect();
    let codes = (0..40).map(|i| Some(i % 2)).collect();
    let y = Target::Classes { names: vec!["a".into(), "b".into()], codes };
    let data = Dataset { y: Some(y), ..Dataset::new(Samples::Sparse(Csr::from_triplets(40, 6, &entries))) };
    let model = machine("svm", Settings::default(), &data).fit(data.clone(), &Run::default()).unwrap();
    assert!(!model.report().params.contains_key("scale"));
    let standard = Settings::default().with("scale", "standard").with("penalty", 1.0);
    let refused = machine("svm", standard, &data).fit(data, &Run::default()).err().unwrap().to_string();
    assert_eq!(refused, "`scale` is standard but must be none for a sparse table, which would not stay sparse");
}

#[test]
fn a_search_takes_no_more_landmarks_than_its_parts_have_samples() {
    let data = clouds(60, [1.0; 3]);
    for name in ["svm", "logistic", "krr"] {
        let given = Settings::default().with("approach", "lla").with("landmarks", 50);
        let model = machine(name, given, &data).fit(data.clone(), &Run::default()).unwrap();
        assert_eq!(model.report().params["landmarks"], 50, "{name}");
        assert!(!model.report().choices.is_empty(), "{name}: the penalty was chosen");
        let given = Settings::default().with("approach", "lla").with("landmarks", 61);
        let refused = machine(name, given, &data).fit(data.clone(), &Run::default()).err().unwrap().to_string();
        assert!(refused.contains("61") && refused.contains("60"), "{name}: {refused}");
    }
}

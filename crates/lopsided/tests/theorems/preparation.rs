//! Tables of numbers and words against a naive twin: gaps filled, numbers scaled, one column of 0 and 1 for each word.

use lopsided::base::settings::Settings;
use lopsided::data::archive::Archive;
use lopsided::data::columns::{Cells, Column};
use lopsided::estimators::{Impute, Point, Preparation, Scale, errors_of, load_model, recipe, score};
use lopsided::{Dataset, Error, Mat, Run, Samples, Scalar, Target};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A table in the plainest form.
#[derive(Clone, Debug)]
struct Plain {
    numbers: Vec<Vec<Option<f64>>>,
    words: Vec<Vec<Option<String>>>,
}

impl Plain {
    fn data<T: Scalar>(&self) -> Dataset<T> {
        let numbers = self.numbers.iter().enumerate().map(|(j, column)| {
            (format!("n{j}"), Cells::Numbers(column.iter().map(|v| v.unwrap_or(f64::NAN)).collect()))
        });
        let words = self.words.iter().enumerate().map(|(j, column)| (format!("w{j}"), Cells::Texts(column.clone())));
        Dataset::from_columns(numbers.chain(words).collect()).unwrap()
    }

    /// Filled by the mean, scaled to mean 0 and deviation 1, a column for each word: loops and nothing else.
    fn naive(&self, rows: &[usize], all: usize) -> Vec<Vec<f64>> {
        let mut out = vec![Vec::new(); all];
        for column in &self.numbers {
            let known: Vec<f64> = rows.iter().filter_map(|&i| column[i]).collect();
            let fill = known.iter().sum::<f64>() / known.len() as f64;
            let filled: Vec<f64> = rows.iter().map(|&i| column[i].unwrap_or(fill)).collect();
            let mean = filled.iter().sum::<f64>() / filled.len() as f64;
            let deviation = (filled.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / filled.len() as f64).sqrt();
            let deviation = if deviation > 1e-12 * mean.abs() { deviation } else { 1.0 };
            for i in 0..all {
                out[i].push((column[i].unwrap_or(fill) - mean) / deviation);
            }
        }
        for column in &self.words {
            let seen: BTreeSet<&String> = rows.iter().filter_map(|&i| column[i].as_ref()).collect();
            let count = |word: &str| rows.iter().filter(|&&i| column[i].as_deref() == Some(word)).count();
            let mut fill: Option<&String> = None;
            for word in &seen {
                if fill.is_none_or(|best| count(word) > count(best)) {
                    fill = Some(word);
                }
            }
            for i in 0..all {
                let own = column[i].as_ref().or(fill);
                out[i].extend(seen.iter().map(|word| f64::from(u8::from(own == Some(*word)))));
            }
        }
        out
    }
}

/// Words of an alphabet of so many, gaps among them; the first row has no gap, so that no column is empty.
fn plain(rows: usize, alphabet: usize) -> impl Strategy<Value = Plain> {
    let number = prop_oneof![4 => (-5.0..5.0f64).prop_map(Some), 1 => Just(None)];
    let word = prop_oneof![5 => (0..alphabet).prop_map(|w| Some(format!("wörd {w}"))), 1 => Just(None)];
    let numbers = prop::collection::vec(prop::collection::vec(number, rows), 1..3);
    let words = prop::collection::vec(prop::collection::vec(word, rows), 1..3);
    (numbers, words).prop_map(|(mut numbers, mut words)| {
        numbers.iter_mut().for_each(|column| column[0] = Some(1.5));
        words.iter_mut().for_each(|column| column[0] = Some("first".into()));
        Plain { numbers, words }
    })
}

fn agrees<T: Scalar>(table: &Plain, rows: &[usize], all: usize, tolerance: f64) {
    let data = table.data::<T>();
    let preparation = Preparation::learn(&data, rows, Scale::Standard, Impute::Mean).unwrap();
    let found = preparation.apply(&data).unwrap().into_owned();
    let expected = table.naive(rows, all);
    assert_eq!(preparation.features().len(), expected[0].len());
    let sparse = matches!(found.x, Samples::Sparse(_));
    assert_eq!(sparse, (table.numbers.len() + table.words.len()) * 10 <= expected[0].len());
    let found = found.x.into_dense();
    for (i, row) in expected.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            assert!(
                (found[(i, j)].as_f64() - value).abs() < tolerance,
                "row {i} column {j}: {} {value}",
                found[(i, j)]
            );
        }
    }
    let mut archive = Archive::default();
    preparation.put(&mut archive);
    let again = Preparation::of_archive(&Archive::from_bytes(&archive.to_bytes().unwrap(), "m").unwrap()).unwrap();
    assert_eq!(again.unwrap().apply(&data).unwrap().into_owned().x.into_dense(), found);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_preparation_is_what_plain_loops_make(table in plain(30, 4)) {
        // Of the 30 rows the first 18 are learned from: the others may have words of their own.
        let rows: Vec<usize> = (0..18).collect();
        agrees::<f64>(&table, &rows, 30, 1e-9);
        agrees::<f32>(&table, &rows, 30, 1e-4);
    }

    #[test]
    fn many_words_are_kept_sparse(table in plain(90, 45)) {
        let rows: Vec<usize> = (0..90).collect();
        agrees::<f64>(&table, &rows, 90, 1e-9);
    }
}

/// Weather of 60 days: a number, a word that tells the class, and gaps in both.
fn weather() -> Dataset<f64> {
    let sky = |i: usize| (i % 7 != 3).then(|| ["sun", "rain", "fog"][i % 3].to_string());
    let heat = |i: usize| if i.is_multiple_of(11) { f64::NAN } else { 100.0 * ((i * 37 % 60) as f64) };
    let columns = vec![
        ("heat".to_string(), Cells::Numbers((0..60).map(heat).collect())),
        ("sky".to_string(), Cells::Texts((0..60).map(sky).collect())),
    ];
    let names = ["dry", "wet"].map(String::from).to_vec();
    let y = Target::Classes { names, codes: (0..60).map(|i| Some(u32::from(i % 3 == 1))).collect() };
    Dataset { y: Some(y), ..Dataset::from_columns(columns).unwrap() }
}

fn given() -> Settings {
    Settings::default().with("impute", "median")
}

#[test]
fn folds_see_nothing_of_the_words_and_gaps_of_the_others() {
    let mut data = weather();
    // A word and a size that only the first fold has.
    let columns = data.columns.as_mut().unwrap();
    let words: Vec<Option<String>> = (0..60)
        .map(|i| {
            if i < 15 && i % 2 == 0 {
                Some("only here".into())
            } else {
                columns[1].words.as_ref().unwrap().get(i).map(String::from)
            }
        })
        .collect();
    columns[1] = Column { name: "sky".into(), words: Some(lopsided::data::columns::Words::of(words)) };
    let mut x = data.x.clone().into_dense();
    (0..15).for_each(|i| x[(i, 0)] = 1e6);
    data.x = Samples::Dense(x);
    let folds: Vec<Vec<usize>> = vec![(0..15).collect(), (15..40).collect()];
    for name in ["svm", "krr", "logistic", "ls-svm", "ask-ls", "kernel-svd"] {
        let (_, estimator) = recipe::estimator(name, given(), &data).unwrap();
        for point in [Point::default().with("penalty", 2.0), Point::default()] {
            let found = estimator.validate(&data, std::slice::from_ref(&point), &folds, &Run::default()).unwrap();
            for (fold, found) in folds.iter().zip(&found[0]) {
                // The rows of the fold are not even there.
                let rest: Vec<usize> = (0..60).filter(|i| !fold.contains(i)).collect();
                let learned = Dataset { row_ids: None, ..data.rows(&rest) };
                let model = estimator.with(&point).unwrap().fit(learned, &Run::default()).unwrap();
                let part = data.rows(fold);
                let expected =
                    score(part.y.as_ref().unwrap(), model.decision(&part, &Run::default()).unwrap().as_ref());
                assert!((found - expected).abs() < 1e-9, "{name} {point:?}: {found} {expected}");
            }
        }
    }
}

#[test]
fn a_model_finds_its_columns_by_name_and_counts_unknown_words_as_none() {
    let data = weather();
    for name in ["svm", "krr", "kernel-svd"] {
        let (_, estimator) = recipe::estimator(name, given(), &data).unwrap();
        let model = estimator.fit(data.clone(), &Run::default()).unwrap();
        let model = load_model::<f64>(&model.archive()).unwrap();
        let told = model.decision(&data, &Run::default()).unwrap();
        let columns = |sky: &str| {
            let texts = (0..60).map(|i| {
                data.columns.as_ref().unwrap()[1]
                    .words
                    .as_ref()
                    .unwrap()
                    .get(i)
                    .map(|word| if i == 5 { sky.to_string() } else { word.to_string() })
            });
            let heat: Vec<f64> = data.x.clone().into_dense().col(0).iter().copied().collect();
            vec![
                ("sky".to_string(), Cells::Texts(texts.collect())),
                ("extra".to_string(), Cells::Numbers(vec![1.0; 60])),
                ("heat".to_string(), Cells::Numbers(heat)),
            ]
        };
        let turned: Dataset<f64> = Dataset::from_columns(columns("fog")).unwrap();
        let other = model.decision(&turned, &Run::default()).unwrap();
        let same = (0..60).filter(|i| *i != 5).all(|i| other.row(i) == told.row(i));
        assert!(same, "{name}");
        let preparation = model.preparation().unwrap();
        let odd: Dataset<f64> = Dataset::from_columns(columns("hail")).unwrap();
        let said = preparation.review(&odd);
        assert!(said[0].contains("`extra`") && said[1].contains("`hail` 1"), "{said:?}");
        let row = preparation.apply(&odd).unwrap().into_owned().x.into_dense();
        assert!(row.row(5).iter().skip(1).all(|v| *v == 0.0));
        let lost: Dataset<f64> = Dataset::from_columns(columns("fog").into_iter().skip(1).collect()).unwrap();
        let error = model.decision(&lost, &Run::default()).unwrap_err();
        assert!(matches!(&error, Error::NoColumns { missing, .. } if missing == &["sky"]), "{error}");
    }
}

#[test]
fn gaps_are_refused_by_column_and_number_unless_they_are_filled() {
    let data = weather();
    let (_, estimator) = recipe::estimator("svm", Settings::default(), &data).unwrap();
    let error = estimator.fit(data.clone(), &Run::default()).err().unwrap().to_string();
    assert_eq!(error, "the table: 15 values are missing: 6 in column `heat`, 9 in column `sky`");
    for (word, filled) in [("mean", "by"), ("median", "by"), ("most-frequent", "by")] {
        let (_, estimator) = recipe::estimator("svm", Settings::default().with("impute", word), &data).unwrap();
        let model = estimator.fit(data.clone(), &Run::default()).unwrap();
        assert!(model.report().warnings.iter().any(|w| w.contains("6 of `heat`") && w.contains(filled)));
        assert_eq!(model.report().params["impute"], word);
    }
    // Columns without names are filled too.
    let hole = |i: usize, j: usize| if i == 3 { f64::NAN } else { (i * (j + 1) % 7) as f64 };
    let numbers = Dataset { y: data.y, ..Dataset::new(Samples::Dense(Mat::from_fn(60, 2, hole))) };
    assert!(recipe::estimator("svm", given(), &numbers).unwrap().1.fit(numbers, &Run::default()).is_ok());
}

#[test]
fn words_that_are_all_different_and_empty_columns_are_left_out() {
    let mut columns = vec![
        ("id".to_string(), Cells::Texts((0..40).map(|i| Some(format!("no {i}"))).collect())),
        ("none".to_string(), Cells::Numbers(vec![f64::NAN; 40])),
        ("same".to_string(), Cells::Texts(vec![Some("a".into()); 40])),
    ];
    let rows: Vec<usize> = (0..40).collect();
    let alone: Dataset<f64> = Dataset::from_columns(columns[..2].to_vec()).unwrap();
    assert!(Preparation::learn(&alone, &rows, Scale::None, Impute::Mean).is_err());
    columns.push(("n".to_string(), Cells::Numbers((0..40).map(|i| f64::from(i * i)).collect())));
    let data: Dataset<f64> = Dataset::from_columns(columns).unwrap();
    let preparation = Preparation::learn(&data, &rows, Scale::None, Impute::Mean).unwrap();
    assert_eq!(preparation.features(), ["same=a", "n"]);
    let said = preparation.remarks().join("; ");
    for word in [
        "`id` has another word in every row",
        "without any value are left out: `none`",
        "never change tell nothing: `same`",
    ] {
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn several_targets_are_learned_as_each_alone() {
    let x = Mat::from_fn(40, 2, |i, j| ((i * (j + 3)) % 17) as f64);
    let one: Vec<f64> = (0..40).map(|i| (x[(i, 0)] / 5.0).sin()).collect();
    let two: Vec<f64> = (0..40).map(|i| if i == 7 { f64::NAN } else { x[(i, 1)] * 3.0 }).collect();
    let values = Mat::from_fn(40, 2, |i, j| if j == 0 { one[i] } else { two[i] });
    let with = |y: Target| Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x.clone())) };
    let several = with(Target::Several { names: vec!["a".into(), "b".into()], values: values.clone() });
    let settings = Settings::default().with("penalty", 3.0);
    let fit = |data: &Dataset<f64>| {
        let model =
            recipe::estimator("krr", settings.clone(), data).unwrap().1.fit(data.clone(), &Run::default()).unwrap();
        load_model::<f64>(&model.archive()).unwrap()
    };
    let model = fit(&several);
    assert_eq!((model.answer().targets(), model.answer().width()), (&["a".to_string(), "b".to_string()][..], 2));
    let both = model.decision(&several, &Run::default()).unwrap();
    for (c, target) in [one, two].into_iter().enumerate() {
        let mut alone = target.clone();
        alone[7] = f64::NAN; // a row of which one target is unknown teaches nothing
        let found = fit(&with(Target::Values(alone))).decision(&several, &Run::default()).unwrap();
        assert!((0..40).all(|i| (found[(i, 0)] - both[(i, c)]).abs() < 1e-9));
    }
    let errors = errors_of(values.as_ref(), both.as_ref());
    let mean = score(several.y.as_ref().unwrap(), both.as_ref());
    assert!((mean - f64::midpoint(errors[0], errors[1])).abs() < 1e-12);
    let refused =
        recipe::estimator("svm", Settings::default(), &several).unwrap().1.fit(several.clone(), &Run::default());
    assert!(refused.err().unwrap().to_string().contains("only `krr` learns several"));
}

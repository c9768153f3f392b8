//! `fit krr` and `fit kpca`: landmarks, approaches, errors, rows in passes.

use super::bad_input::refused;
use super::{Scratch, npy, text};
use serde_json::Value;

fn number(json: &Value, name: &str) -> f64 {
    json[name].as_f64().unwrap_or_else(|| panic!("{name} in {json}"))
}

/// Two coordinates of row i, and the sum of two waves in them.
fn row(i: usize) -> (f64, f64, f64) {
    let (a, b) = ((i % 17) as f64 / 4.0, (i * 7 % 23) as f64 / 6.0);
    (a, b, a.sin() + (0.7 * b).cos())
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|i| line(i) + "\n").collect()
}

/// `waves.csv` with values, `kinds.csv` with classes, some of them unknown.
fn tables() -> Scratch {
    let scratch = Scratch::new();
    let values = |i| {
        let (a, b, y) = row(i);
        format!("{a},{b},{y}")
    };
    scratch.write("waves.csv", format!("a,b,y\n{}", lines(150, values)));
    let kinds = |i| {
        let (a, b, y) = row(i);
        let kind = if y > 1.0 { "high" } else { "low" };
        format!("{a},{b},{}", if i % 10 == 3 { "" } else { kind })
    };
    scratch.write("kinds.csv", format!("a,b,kind\n{}", lines(150, kinds)));
    scratch
}

/// A vector of eight-byte floats as NumPy saves it.
fn vector(values: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}\n", values.len());
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    values.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
    bytes
}

#[test]
fn labels_of_a_numpy_vector_are_those_of_a_table() {
    let scratch = tables();
    let bare = |i| {
        let (a, b, _) = row(i);
        format!("{a},{b}")
    };
    scratch.write("x.csv", format!("a,b\n{}", lines(150, bare)));
    let kind = |i: usize| if row(i).2 > 1.0 { 1.0 } else { 0.0 };
    let kinds: Vec<f64> = (0..150).map(|i| if i % 10 == 3 { f64::NAN } else { kind(i) }).collect();
    let values: Vec<f64> = (0..150).map(|i| row(i).2).collect();
    scratch.write("kinds.npy", vector(&kinds));
    scratch.write("values.npy", vector(&values));
    let pairs = |values: &[f64]| {
        let known = values.iter().enumerate().filter(|(_, v)| !v.is_nan());
        format!("id,label\n{}\n", known.map(|(i, v)| format!("{i},{v}")).collect::<Vec<_>>().join("\n"))
    };
    scratch.write("kinds-pairs.csv", pairs(&kinds));
    scratch.write("values-pairs.csv", pairs(&values));
    for (estimator, labels) in [("krr", "values"), ("krr", "kinds"), ("svm", "kinds"), ("ls-svm", "kinds")] {
        let fit = |file: &str| {
            scratch.json(&format!("fit {estimator} x.csv --format csv --labels {labels}{file} --model m{file}"))
        };
        let (vector, table) = (fit(".npy"), fit("-pairs.csv"));
        for field in ["n_train", "classes", "train_score", "measure"] {
            assert_eq!(vector[field], table[field], "{estimator} {labels} {field}");
        }
        let scored = |file: &str| scratch.json(&format!("predict m.npy x.csv --format csv --labels {labels}{file}"));
        let (vector, table) = (scored(".npy"), scored("-pairs.csv"));
        for field in ["scored", "accuracy", "rmse"] {
            assert_eq!(vector[field], table[field], "{estimator} {labels} {field}");
        }
    }
    scratch.write("short.npy", vector(&values[..149]));
    for command in ["fit krr x.csv --format csv --model n", "predict m.npy x.csv --format csv"] {
        refused(&scratch, &format!("{command} --labels short.npy"), &["short.npy", "149 labels for 150 samples"]);
    }
}

#[test]
fn every_approach_learns_saves_and_predicts() {
    let scratch = tables();
    for options in [
        "--approach exact",
        "--approach lla --landmarks 40",
        "--approach gsa --landmarks 40 --sampler rpcholesky",
        "--approach ncr --landmarks 40 --sampler greedy",
        "--landmarks 40 --sampler gaussian --nystrom one-shot --truncate 30",
        "--landmarks 40 --sampler kmeans --nystrom double --truncate 30",
        "--landmarks 40 --sampler leverage --precision f32",
    ] {
        let fit = scratch.json(&format!("fit krr waves.csv --target y --penalty 1000 {options} --model m"));
        assert_eq!((&fit["n_train"], &fit["params"]["kernel"]), (&150.into(), &"rbf".into()), "{options}");
        assert!(number(&fit, "train_score") < 0.15, "{options}: {fit}");
        let again = scratch.json("predict m waves.csv");
        assert!((number(&again, "rmse") - number(&fit, "train_score")).abs() < 1e-9, "{options}: {again}");
        let inside = scratch.json("inspect m");
        assert_eq!((&inside["estimator"], &inside["params"]), (&"krr".into(), &fit["params"]), "{options}");
    }
}

#[test]
fn unlabelled_rows_are_not_learned_and_may_be_landmarks() {
    let scratch = tables();
    let fit = scratch.json("fit krr kinds.csv --target kind --penalty 100 --landmarks 30 --model m");
    assert_eq!((&fit["n_train"], &fit["params"]["approach"]), (&135.into(), &"lla".into()));
    let json = scratch.json("predict m kinds.csv");
    assert!(json["n"] == 150 && json["scored"] == 135 && number(&json, "accuracy") > 0.9, "{json}");
    scratch.write("own.txt", lines(40, |i| (3 * i + 1).to_string()));
    let fit = scratch.json("fit krr kinds.csv --target kind --penalty 100 --landmark-ids own.txt --model own");
    assert_eq!((&fit["params"]["landmarks"], &fit["params"]["sampler"]), (&40.into(), &"given".into()));
    assert!(number(&fit, "train_score") > 0.9, "{fit}");
}

#[test]
fn settings_are_chosen_by_cross_validation() {
    let scratch = tables();
    let fit = scratch
        .json("fit krr waves.csv --target y --cv 3 --grid penalty=0.01,1000 landmarks=5,60 approach=lla,gsa --model m");
    assert_eq!(fit["cv"]["points"].as_array().unwrap().len(), 8);
    assert_eq!((&fit["cv"]["params"]["penalty"], &fit["cv"]["params"]["landmarks"]), (&"1000".into(), &"60".into()));
    assert_eq!(fit["params"]["landmarks"], 60);
    let plain = scratch.json("fit krr waves.csv --target y --cv 3 --model m");
    assert!(number(&plain["cv"], "mean") < 0.5, "{plain}");
}

#[test]
fn errors_are_printed_where_the_exact_machine_is_affordable() {
    let scratch = tables();
    let of = |m: usize| {
        let fit = format!("fit krr waves.csv --target y --penalty 100 --landmarks {m} --errors --model m");
        scratch.json(&fit)["errors"].clone()
    };
    let (few, many) = (of(10), of(150));
    let first = |json: &Value, name: &str| json["solution"][name][0].as_f64().unwrap();
    assert!(first(&few, "lla") > 0.1 && first(&few, "lla") <= first(&few, "bound"), "{few}");
    assert!(first(&many, "lla") < 1e-3 && first(&many, "gsa") < 1e-3, "{many}");
    let gram = &few["gram"];
    assert!(
        number(gram, "spectral") <= number(gram, "frobenius") && number(gram, "frobenius") <= number(gram, "trace")
    );
    let words = scratch.ok("fit krr waves.csv --target y --landmarks 10 --errors --model m");
    assert!(words.contains("distance of gsa") && words.contains("K - K̃"), "{words}");
}

#[test]
fn components_are_fitted_transformed_and_inspected() {
    let scratch = tables();
    for options in ["", "--landmarks 50 --sampler kernel-kmeans", "--approach gsa --landmarks 50 --errors"] {
        let fit = scratch.json(&format!("fit kpca waves.csv --target y --rank 4 {options} --model m"));
        assert_eq!((&fit["n_train"], fit["variances"].as_array().unwrap().len()), (&150.into(), 4), "{options}");
        scratch.ok("transform m --rows waves.csv --out t.npy");
        let (shape, _) = npy(&scratch.path("t.npy"));
        assert_eq!(shape, "(150, 4)");
        let inside = scratch.json("inspect m");
        assert_eq!((&inside["params"], &inside["rank"]), (&fit["params"], &4.into()), "{options}");
    }
    assert!(scratch.ok("inspect m").contains("4 components from 150 samples"));
    refused(&scratch, "predict m waves.csv", &["`kpca`", "does not predict"]);
    refused(&scratch, "transform m --cols waves.csv --out t2.npy", &["`cols`", "places rows"]);
    refused(&scratch, "fit kpca waves.csv --target y --cv 3 --model n", &["`cv`", "left out for kpca"]);
    refused(&scratch, "fit kpca waves.csv --target y --rank 151 --model n", &["`rank` is 151", "150"]);
}

#[test]
fn features_of_landmarks_approximate_the_kernel_from_the_shell_too() {
    let scratch = tables();
    let fit = scratch.json("fit features waves.csv --target y --landmarks 150 --gamma 0.5 --errors --model m");
    assert_eq!((&fit["estimator"], &fit["params"]["landmarks"]), (&"features".into(), &150.into()), "{fit}");
    assert!(fit["errors"]["gram"]["frobenius"].as_f64().unwrap() < 1e-4, "{fit}");
    scratch.ok("transform m --rows waves.csv --out t.npy");
    let (shape, values) = npy(&scratch.path("t.npy"));
    assert!(shape.starts_with("(150, "), "{shape}");
    // k(x, x) = 1 for this kernel.
    let length: f64 = values[..values.len() / 150].iter().map(|v| v * v).sum();
    assert!((length - 1.0).abs() < 1e-6, "{length}");
    refused(&scratch, "fit features waves.csv --target y --rank 3 --model n", &["`rank`"]);
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = tables();
    scratch.write("far.txt", "3\n150\n");
    scratch.write("none.txt", "");
    scratch.write("bare.csv", "a,b,y\n1.5,2,\n2,3,\n");
    scratch.write("weights.txt", "1\n".repeat(149) + "-1\n");
    scratch.write("zero.txt", "0\n".repeat(150));
    for (options, words) in [
        ("waves.csv --landmarks 151", &["`landmarks` is 151", "150"][..]),
        ("waves.csv --landmarks 0", &["`landmarks` is 0"]),
        ("waves.csv --landmarks -3", &["`landmarks` is -3"]),
        ("waves.csv --landmark-ids far.txt", &["far.txt", "`150`", "no sample"]),
        ("waves.csv --landmark-ids none.txt", &["`landmark-ids`", "at least one"]),
        ("waves.csv --penalty 0", &["`penalty` is 0", "above 0"]),
        ("waves.csv --penalty -1", &["`penalty` is -1"]),
        ("bare.csv", &["`labels` is missing"]),
        ("waves.csv --approach llla", &["no approach `llla`", "lla"]),
        ("waves.csv --sampler unifrom --landmarks 5", &["did you mean `uniform`"]),
        ("waves.csv --landmarks 5 --nystrom tripple", &["no Nyström method `tripple`"]),
        ("waves.csv --landmarks 5 --truncate 6", &["`truncate` is 6", "5"]),
        ("waves.csv --landmarks 5 --approach ncr --nystrom double", &["`nystrom` is double", "standard"]),
        ("waves.csv --kernel sne", &["`kernel` is sne", "symmetric"]),
        ("waves.csv --weights weights.txt", &["weights.txt", "`-1`", "at least 0"]),
        ("waves.csv --weights zero.txt", &["`weights` is 0 for every sample", "above 0"]),
        ("waves.csv --loss hinge", &["no setting `loss`", "penalty"]),
        ("waves.csv --stream --landmarks 5", &["`stream`", "svmlight"]),
    ] {
        let target = if options.starts_with("kinds") { "kind" } else { "y" };
        refused(&scratch, &format!("fit krr {options} --target {target} --model m"), words);
    }
    refused(&scratch, "fit ls-svm waves.csv --target y --errors --model m", &["`errors`", "krr and kpca"]);
    refused(&scratch, "fit ls-svm waves.csv --target y --landmarks 5 --model m", &["no setting `landmarks`"]);
    let graph = "fit krr edges.csv --labels l.csv --model m";
    scratch.write("edges.csv", "source,target\n0,1\n1,2\n2,0\n");
    scratch.write("l.csv", "node,label\n0,a\n1,b\n2,a\n");
    refused(&scratch, graph, &["`input` is a graph", "table"]);
}

#[test]
fn weights_change_what_is_learned() {
    let scratch = tables();
    scratch.write("w.csv", lines(150, |i| format!("{i},{}", u8::from(i < 75))));
    let all = "fit krr waves.csv --target y --penalty 10 --landmarks 20";
    let weighted = scratch.json(&format!("{all} --weights w.csv --model w"));
    let plain = scratch.json(&format!("{all} --model m"));
    assert_ne!(weighted["train_score"], plain["train_score"]);
}

#[test]
fn rows_in_passes_give_the_model_of_rows_in_memory() {
    let scratch = tables();
    let svm = |i| {
        let (a, b, y) = row(i);
        format!("{y} 1:{} 2:{b}", a + 0.5)
    };
    scratch.write("waves.svm", lines(3000, svm));
    let options = "--gamma 0.5 --penalty 10 --landmarks 30";
    let streamed = scratch.json(&format!("fit krr waves.svm --stream {options} --model s"));
    assert!(streamed["converged"] == true && streamed["n_train"] == 3000, "{streamed}");
    assert_eq!((&streamed["params"]["solver"], streamed["params"].get("steps")), (&"direct".into(), None));
    let steps = scratch.json(&format!("fit krr waves.svm --stream --solver cg {options} --model g"));
    assert!(steps["converged"] == true && number(&steps["params"], "steps") > 1.0, "{steps}");
    let held = scratch.json(&format!("fit krr waves.svm --approach ncr {options} --model m"));
    let score = |model: &str| number(&scratch.json(&format!("predict {model} waves.svm")), "rmse");
    // Landmarks of sums by passes are drawn without knowing how many rows there are.
    assert!(score("s") < 0.05 && score("m") < 0.05, "{} {}", score("s"), score("m"));
    assert!((score("g") - score("m")).abs() < 1e-4, "{} {}", score("g"), score("m"));
    assert_eq!(held["params"]["landmarks"], streamed["params"]["landmarks"]);
    refused(&scratch, "fit krr waves.svm --stream --landmarks 3001 --model x", &["`landmarks` is 3001", "3000"]);
    refused(
        &scratch,
        "fit krr waves.svm --stream --solver lanczos --model x",
        &["`solver` is lanczos", "direct or cg"],
    );
    refused(&scratch, "fit krr waves.svm --stream --cv 3 --model x", &["`cv`", "--stream"]);
    scratch.write("w.txt", "1\n".repeat(3000));
    refused(&scratch, "fit krr waves.svm --stream --weights w.txt --model x", &["`weights` is given", "--stream"]);
    refused(&scratch, "fit nu-svm waves.svm --stream --model x", &["`stream` is given", "krr"]);
    refused(&scratch, "fit krr waves.svm --stream --sampler greedy --model x", &["`sampler` is greedy", "uniform"]);
    let tiny = "fit krr waves.svm --stream --landmarks 1000 --memory 10MB --model x";
    refused(&scratch, tiny, &["out of core", "fewer landmarks"]);
}

#[test]
fn arrays_are_read_in_passes() {
    let scratch = Scratch::new();
    scratch.array("x.npy", "(500, 2)", (0..500).flat_map(|i| [row(i).0, row(i).1]));
    scratch.array("y.npy", "(500,)", (0..500).map(|i| row(i).2));
    scratch.array("c.npy", "(500,)", (0..500).map(|i| f64::from(u8::from(row(i).2 > 1.0))));
    let fit = scratch.json("fit krr x.npy --labels y.npy --stream --penalty 10 --landmarks 40 --model m");
    assert!(fit["n_train"] == 500 && fit["classes"].as_array().unwrap().is_empty(), "{fit}");
    let classes = scratch.json("fit krr x.npy --labels c.npy --stream --penalty 10 --landmarks 40 --model c");
    assert_eq!(classes["classes"], serde_json::json!(["0", "1"]));
    assert_eq!(text(scratch.ok("predict m x.npy").as_bytes()).lines().count(), 501);
    refused(&scratch, "fit krr x.npy --stream --model z", &["no classes or values"]);
}

#[test]
fn the_figures_of_the_paper_are_computed_and_written() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("data/waves")).unwrap();
    let kinds = |i| {
        let (a, b, y) = row(i);
        format!("{a},{b},{}", if y > 1.0 { "high" } else { "low" })
    };
    scratch.write("data/waves/data.csv", format!("a,b,kind\n{}", lines(640, kinds)));
    let json = scratch.json("reproduce nkm-1 --data data --quick --trials 2 --out figures --quiet");
    let set = &json["sets"][0];
    let found = set["lines"].as_array().unwrap();
    // Eight samplers, two shares, two approaches; a ν-SVM may have no margin with few landmarks.
    let of = |machine: &str| found.iter().filter(|line| line["machine"] == machine).count();
    assert_eq!(
        (of("svm"), of("krr"), of("kpca"), &set["rows"], &set["test_rows"]),
        (32, 32, 32, &512.into(), &128.into())
    );
    assert!(of("nu-svm") >= 16, "{}", of("nu-svm"));
    for line in found {
        assert!(number(&line["accuracy"], "mean") <= 1.0 && number(&line["error"], "mean") >= 0.0, "{line}");
        assert!(number(&line["seconds"], "mean") > 0.0, "{line}");
    }
    assert!(found.iter().any(|line| line["frontier"] == true));
    assert_eq!((&set["exact"][0]["machine"], &set["exact"][1]["machine"]), (&"nu-svm".into(), &"svm".into()));
    assert!((0..3).all(|at| number(&set["exact"][at], "accuracy") > 0.9), "{}", set["exact"]);
    assert_eq!(set["files"].as_array().unwrap().len(), 13);
    assert_eq!(text(&scratch.bytes("figures/waves-lines.csv")).lines().count(), 1 + 4 + found.len());
    assert!(text(&scratch.bytes("figures/waves-krr-error.svg")).starts_with("<svg"));
}

#[test]
fn predictions_that_say_nothing_are_recognised() {
    let scratch = Scratch::new();
    let line = |i: usize, y: String| format!("{},{},{y}\n", (i * 37) % 11, (i * 53) % 7);
    let table = |y: &dyn Fn(usize) -> String| format!("a,b,y\n{}", (0..60).map(|i| line(i, y(i))).collect::<String>());
    scratch.write("mostly.csv", table(&|i| if i % 12 == 5 { "rare" } else { "usual" }.into()));
    scratch.write("values.csv", table(&|i| format!("{}.5", (i * 37) % 11)));
    scratch.write("turned.csv", table(&|i| format!("{}.5", 100 - (i * 37) % 11)));
    scratch.write("sides.csv", table(&|i| if (i * 37) % 11 < 5 { "left" } else { "right" }.into()));
    scratch.write("swapped.csv", table(&|i| if (i * 37) % 11 < 5 { "right" } else { "left" }.into()));
    let notes = |fit: &str, input: &str| {
        scratch.ok(&format!("fit {fit} --model m --quiet"));
        scratch.json(&format!("predict m {input}"))["notes"].to_string()
    };
    assert!(notes("ls-svm mostly.csv --penalty 1e-6", "mostly.csv").contains("all 60 predictions are `usual`"));
    assert!(notes("krr values.csv", "turned.csv").contains("the mean of the values alone"));
    assert!(notes("svm sides.csv", "swapped.csv").contains("below chance"));
    for (fit, input) in [("krr values.csv", "values.csv"), ("svm sides.csv", "sides.csv")] {
        assert_eq!(notes(fit, input), "[]");
    }
}

#[test]
fn rows_of_which_most_are_copies_are_learned() {
    let scratch = Scratch::new();
    let rows: String = (0..40).map(|i| if i % 2 == 0 { "1.5,2,a\n" } else { "0.1,3,b\n" }).collect();
    scratch.write("copies.csv", format!("x,z,y\n{rows}"));
    for estimator in ["svm", "ls-svm", "logistic", "ask-ls", "kernel-svd"] {
        for options in ["", "--cv 2"] {
            let fit = scratch.json(&format!("fit {estimator} copies.csv --model m {options}"));
            assert_eq!(fit["train_score"], 1.0, "{estimator} {options}: {fit}");
        }
    }
}

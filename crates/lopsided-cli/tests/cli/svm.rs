use super::bad_input::refused;
use super::fit::{graph, number, right_on_training_nodes, tables};
use super::text;

#[test]
fn an_svm_learns_a_graph_and_a_table_and_its_file_keeps_the_name() {
    let scratch = graph();
    let command = "fit svm g/edges.csv --labels g/labels.csv --train-ids train.txt --kernel precomputed";
    for symmetrize in ["average", "columns", "rows"] {
        let fit = scratch.json(&format!("{command} --symmetrize {symmetrize} --model m"));
        assert_eq!((&fit["estimator"], &fit["converged"]), (&"svm".into(), &true.into()));
        assert_eq!(fit["params"]["symmetrize"], symmetrize);
        assert_eq!(number(&fit, "train_score"), right_on_training_nodes(&scratch));
        // Three classes of equal size, told apart by the direction of the links alone, which the average forgets.
        let test = scratch.json("predict m g/edges.csv --ids test.txt --labels g/labels.csv");
        assert!(symmetrize == "average" || number(&test, "micro_f1") > 0.45, "{symmetrize}: {test}");
    }
    assert_eq!(scratch.json("inspect m")["estimator"], "svm");
    let scratch = tables();
    let fit = scratch.json("fit svm named.csv --target kind --kernel rbf --cv 3 --grid penalty=0.1,10 --model m");
    assert_eq!(fit["cv"]["points"].as_array().unwrap().len(), 2);
    assert!(number(&fit, "train_score") > 0.95, "{fit}");
    let own = scratch.json("predict m named.csv");
    assert_eq!(own["accuracy"], fit["train_score"]);
}

#[test]
fn what_an_svm_cannot_do_is_refused() {
    let scratch = tables();
    for (options, words) in [
        ("values.csv", &["`labels` is values", "classes"][..]),
        ("named.csv --target kind --penalty 0", &["`penalty` is 0"]),
        ("named.csv --target kind --merge stack", &["no setting `merge`", "symmetrize"]),
        ("named.csv --target kind --symmetrize none", &["no symmetrization `none`", "average"]),
    ] {
        refused(&scratch, &format!("fit svm {options} --kernel rbf --model m"), words);
    }
}

#[test]
fn pairs_of_classes_vote_and_probabilities_are_written() {
    let scratch = tables();
    let fit = scratch.json("fit svm named.csv --target kind --kernel rbf --multi-class ovo --probability --model m");
    assert_eq!((&fit["params"]["multi-class"], &fit["n_train"]), (&"ovo".into(), &90.into()));
    assert!(number(&fit, "train_score") > 0.95, "{fit}");
    let csv = scratch.ok("predict m bare.csv --scores --probabilities");
    let json = scratch.json("predict m bare.csv --scores --probabilities");
    let classes: Vec<String> =
        json["classes"].as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_string()).collect();
    for (at, line) in csv.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(json["predictions"][at][1], fields[1]);
        for c in 0..classes.len() {
            let number = |field: usize| fields[field].parse::<f64>().unwrap();
            assert_eq!(json["scores"][at][c].as_f64().unwrap(), number(2 + c));
            assert_eq!(json["probabilities"][at][c].as_f64().unwrap(), number(2 + classes.len() + c));
        }
    }
    let plain = scratch.json("predict m bare.csv");
    assert!(plain["scores"].is_null() && plain["probabilities"].is_null() && plain["classes"].is_null(), "{plain}");
    let names: Vec<&str> = fit["classes"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    let columns = |prefix: &str| names.iter().map(|name| format!(",{prefix}_{name}")).collect::<Vec<_>>().concat();
    let header = format!("id,prediction{}{}", columns("score"), columns("probability"));
    assert_eq!(csv.lines().next(), Some(header.as_str()));
    for line in csv.lines().skip(1) {
        let sum: f64 = line.split(',').skip(5).map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{line}");
    }
    scratch
        .ok("fit svm named.csv --target kind --kernel rbf --multi-class ovo --probability --model again --threads 2");
    assert_eq!(scratch.bytes("m"), scratch.bytes("again"));
    scratch.ok("fit svm named.csv --target kind --kernel rbf --model plain");
    refused(&scratch, "predict plain bare.csv --probabilities", &["`probabilities`", "the model has none"]);
}

#[test]
fn a_nu_svm_and_a_logistic_regression_learn_a_table_and_a_graph() {
    let scratch = tables();
    let fit = scratch.json("fit nu-svm named.csv --target kind --kernel rbf --nu 0.2 --model m");
    assert_eq!((&fit["estimator"], &fit["params"]["nu"]), (&"nu-svm".into(), &0.2.into()));
    assert!(number(&fit, "train_score") > 0.95 && fit["params"]["support-vectors"].as_u64().unwrap() >= 18, "{fit}");
    let tuned = scratch.json("fit nu-svm named.csv --target kind --kernel rbf --gamma-factor 1 --cv 3 --model m");
    assert_eq!(tuned["cv"]["points"].as_array().unwrap().len(), 3, "{tuned}");
    assert_eq!(scratch.json("inspect m")["estimator"], "nu-svm");
    let fit = scratch.json("fit logistic named.csv --target kind --kernel rbf --model m --cv 3 --grid penalty=0.1,10");
    assert!(number(&fit, "train_score") > 0.95 && fit["converged"] == true, "{fit}");
    let own = scratch.json("predict m named.csv");
    assert_eq!(own["accuracy"], fit["train_score"]);
    assert!(scratch.ok("predict m bare.csv --probabilities").starts_with("id,prediction,probability_"));
    let scratch = graph();
    let command = "g/edges.csv --labels g/labels.csv --train-ids train.txt --kernel precomputed --symmetrize rows";
    for estimator in ["nu-svm --nu 0.3", "logistic"] {
        scratch.ok(&format!("fit {estimator} {command} --model m"));
        let test = scratch.json("predict m g/edges.csv --ids test.txt --labels g/labels.csv");
        assert!(number(&test, "micro_f1") > 0.45, "{estimator}: {test}");
    }
}

#[test]
fn weights_come_from_classes_and_files() {
    let scratch = tables();
    let rows: Vec<String> = text(&scratch.bytes("named.csv")).lines().skip(1).map(String::from).collect();
    let heavy = |row: &String| if row.contains(",k1,") { 2.5 } else { 1.0 };
    let plain = rows.iter().map(|row| heavy(row).to_string() + "\n").collect::<Vec<_>>().concat();
    let named =
        rows.iter().enumerate().rev().map(|(i, row)| format!("{i},{}\n", heavy(row))).collect::<Vec<_>>().concat();
    scratch.write("plain.txt", plain);
    scratch.write("named.txt", format!("id,weight\n{named}"));
    for machine in ["svm", "ls-svm", "ask-ls"] {
        let fit = |options: &str| {
            scratch
                .ok(&format!("fit {machine} named.csv --target kind --kernel rbf --penalty 0.1 {options} --model m"));
            scratch.ok("predict m bare.csv --scores")
        };
        let by_class = fit("--class-weight k1=2.5");
        assert_eq!(by_class, fit("--weights plain.txt"), "{machine}");
        assert_eq!(by_class, fit("--weights named.txt"), "{machine}");
        assert_ne!(by_class, fit("--class-weight balanced"), "{machine}");
    }
}

#[test]
fn weights_and_settings_that_cannot_be_used_are_refused() {
    let scratch = tables();
    scratch.write("short.txt", "1\n2\n");
    scratch.write("negative.txt", "1\n".repeat(89) + "-1\n");
    scratch.write("nan.txt", "1\n".repeat(89) + "NaN\n");
    scratch.write("missing.txt", "0,1\n1,1\n");
    scratch.write("one.csv", "a,b,kind\n1,2,x\n3,4,x\n5,6,\n");
    let table = "named.csv --target kind --kernel rbf --model m";
    for (command, words) in [
        (format!("svm {table} --weights short.txt"), &["short.txt", "2 weights for 90 samples"][..]),
        (format!("svm {table} --weights negative.txt"), &["negative.txt", "`-1`", "at least 0"]),
        (format!("logistic {table} --weights nan.txt"), &["nan.txt", "`NaN`"]),
        (format!("nu-svm {table} --weights missing.txt"), &["missing.txt", "no weight of the sample `2`"]),
        (format!("kernel-svd {table} --weights short.txt"), &["short.txt"]),
        (format!("svm {table} --class-weight k7=2"), &["no class `k7`", "k1"]),
        (format!("svm {table} --class-weight k1=0"), &["`class-weight` is k1=0", "above 0"]),
        (format!("svm {table} --multi-class all"), &["`all`", "ovo, ovr"]),
        (format!("svm {table} --penalty -1"), &["`penalty` is -1", "above 0"]),
        (format!("svm {table} --nu 0.1"), &["no setting `nu`", "penalty"]),
        (format!("nu-svm {table} --nu 0"), &["`nu` is 0", "above 0"]),
        (format!("nu-svm {table} --nu 0.9"), &["`nu` is 0.9", "at most 0.", "against the rest"]),
        (format!("nu-svm {table} --penalty 1"), &["no setting `penalty`", "nu"]),
        (format!("logistic {table} --probability"), &["no setting `probability`"]),
        (format!("logistic {table} --penalty 0"), &["`penalty` is 0"]),
        ("logistic values.csv --kernel rbf --model m".into(), &["`labels` is values", "logistic"]),
        ("svm one.csv --target kind --kernel rbf --model m".into(), &["one class only"]),
        ("svm bare.csv --target none --kernel rbf --model m".into(), &["no classes or values"]),
    ] {
        refused(&scratch, &format!("fit {command}"), words);
    }
    scratch.write("ones.txt", "1\n".repeat(90));
    refused(&scratch, &format!("fit kernel-svd {table} --weights ones.txt"), &["`weights` is given", "kernel-svd"]);
    scratch.write("zeros.txt", "0\n".repeat(90));
    refused(
        &scratch,
        &format!("fit ask-ls {table} --weights zeros.txt"),
        &["`weights` is 0 for every sample", "above 0"],
    );
    refused(&scratch, &format!("fit ls-svm {table} --weights negative.txt"), &["negative.txt", "`-1`", "at least 0"]);
}

#[test]
fn rows_without_class_are_left_out() {
    let scratch = tables();
    let all = text(&scratch.bytes("named.csv"));
    scratch.write("some.csv", all.replace(",k2,", ",,"));
    let fit = scratch.json("fit svm some.csv --target kind --kernel rbf --multi-class ovo --model m");
    assert_eq!((fit["classes"].as_array().unwrap().len(), fit["n_train"].as_u64()), (2, Some(60)), "{fit}");
}

/// Points on a line, a and b in turn: for a small ν the classes, shrunk towards their means, still meet; for a large one the
/// means are 1 apart.
#[test]
fn a_margin_of_zero_is_said_with_what_helps_and_ends_with_1() {
    let scratch = tables();
    let row = |i: usize| format!("{},{}\n", i, if i.is_multiple_of(2) { "a" } else { "b" });
    scratch.write("line.csv", format!("x,kind\n{}", (0..40).map(row).collect::<Vec<_>>().concat()));
    let command = |nu: &str| format!("fit nu-svm line.csv --target kind --kernel linear --nu {nu} --model m --json");
    let met = scratch.run(&command("0.1"));
    assert_eq!(met.status.code(), Some(1), "{}", text(&met.stderr));
    let report: serde_json::Value = serde_json::from_str(&text(&met.stdout)).unwrap();
    let warning = report["warnings"].to_string();
    assert!(warning.contains("the margin of nu 0.1 is 0") && warning.contains("a larger nu, up to 1"), "{report}");
    assert_eq!(report["converged"], false);
    assert!(scratch.run(&command("1")).status.success());
}

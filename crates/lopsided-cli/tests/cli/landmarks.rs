//! `fit svm`, `nu-svm` and `logistic` with landmarks.

use super::bad_input::refused;
use super::fit::{number, tables};
use super::text;

const TABLE: &str = "named.csv --target kind --kernel rbf";

#[test]
fn every_machine_learns_saves_and_predicts_with_landmarks() {
    let scratch = tables();
    for (machine, options) in [
        ("svm", "--approach lla --landmarks 20 --multi-class ovo --probability"),
        ("svm", "--approach gsa --landmarks 20 --sampler rpcholesky --loss squared-hinge --class-weight balanced"),
        ("nu-svm", "--nu 0.2 --landmarks 30 --sampler kmeans --probability"),
        ("nu-svm", "--nu 0.2 --approach gsa --landmarks 30 --multi-class ovo --nystrom one-shot --truncate 25"),
        ("logistic", "--landmarks 20 --sampler leverage --precision f32"),
        ("logistic", "--approach gsa --landmarks 20 --penalty 10"),
    ] {
        let fit = scratch.json(&format!("fit {machine} {TABLE} {options} --model m"));
        assert!(number(&fit, "train_score") > 0.95 && fit["converged"] == true, "{machine} {options}: {fit}");
        assert_eq!(fit["n_train"], 90, "{machine} {options}");
        let own = scratch.json("predict m named.csv");
        assert_eq!(own["accuracy"], fit["train_score"], "{machine} {options}");
        let inside = scratch.json("inspect m");
        assert_eq!((&inside["estimator"], &inside["params"]), (&machine.into(), &fit["params"]), "{options}");
        if options.contains("--probability") || machine == "logistic" {
            assert!(scratch.ok("predict m bare.csv --probabilities").contains("probability_k1"), "{machine}");
        }
        scratch.ok(&format!("fit {machine} {TABLE} {options} --threads 2 --model again"));
        assert_eq!(scratch.bytes("m"), scratch.bytes("again"), "{machine} {options}");
    }
}

#[test]
fn machines_are_exact_unless_landmarks_are_asked_for() {
    let scratch = tables();
    let fit = |options: &str| scratch.json(&format!("fit svm {TABLE} {options} --model m"))["params"].clone();
    assert!(fit("").get("landmarks").is_none() && fit("--approach exact --landmarks 9")["support-vectors"].is_u64());
    assert_eq!(fit("--approach lla")["landmarks"], 90);
    assert_eq!(fit("--sampler greedy")["approach"], "lla");
    assert_eq!(scratch.json("fit svm named.csv --target kind --landmarks 9 --model m")["params"]["kernel"], "rbf");
    scratch.write("own.txt", (0..30).map(|i| (3 * i).to_string() + "\n").collect::<String>());
    let own = fit("--landmark-ids own.txt --approach gsa");
    assert_eq!((&own["landmarks"], &own["sampler"], &own["approach"]), (&30.into(), &"given".into(), &"gsa".into()));
    // The same rows as points of a file are the same machine.
    let rows: Vec<String> = text(&scratch.bytes("bare.csv")).lines().map(String::from).collect();
    let points = (0..30).map(|i| rows[3 * i + 1].clone() + "\n").collect::<String>();
    scratch.write("points.csv", format!("{}\n{points}", rows[0]));
    let by_rows = scratch.json(&format!("fit krr {TABLE} --landmark-ids own.txt --model m"));
    let by_points = scratch.json(&format!("fit krr {TABLE} --landmark-points points.csv --model m"));
    assert_eq!((&by_points["params"]["landmarks"], &by_points["train_score"]), (&30.into(), &by_rows["train_score"]));
    scratch.write("wide.csv", "a\n1\n");
    refused(&scratch, &format!("fit krr {TABLE} --landmark-points wide.csv --model m"), &["coordinates", "1"]);
}

#[test]
fn settings_are_chosen_by_cross_validation() {
    let scratch = tables();
    let grid = "--cv 3 --grid penalty=0.001,10 landmarks=2,40 approach=lla,gsa,exact";
    for machine in ["svm", "logistic"] {
        let fit = scratch.json(&format!("fit {machine} {TABLE} {grid} --model m"));
        let points = fit["cv"]["points"].as_array().unwrap();
        assert_eq!(points.len(), 12, "{machine}");
        // Two landmarks do not tell three classes apart.
        let at = |landmarks: &str| points.iter().position(|p| p["params"]["landmarks"] == landmarks).unwrap();
        assert!(number(&points[at("2")], "mean") < number(&points[at("40")], "mean"), "{machine}: {fit}");
        assert!(number(&fit["cv"], "mean") > 0.95, "{machine}: {fit}");
    }
    let plan = text(scratch.ok(&format!("fit svm {TABLE} --landmarks 9 --dry-run")).as_bytes());
    assert!(plan.contains("kernel values of 90 samples with 9 of them"), "{plan}");
}

#[test]
fn distances_from_the_exact_machine_are_printed() {
    let scratch = tables();
    for machine in ["svm --penalty 1", "nu-svm --nu 0.4"] {
        let of = |m: usize| {
            let errors = scratch.json(&format!("fit {machine} {TABLE} --landmarks {m} --errors --tol 1e-6 --model m"));
            let solution = errors["errors"]["solution"].clone();
            let first = |name: &str| solution[name][0].as_f64().unwrap();
            (first("lla"), first("gsa"), first("bound"), first("exact_norm"))
        };
        let (few, all) = (of(10), of(90));
        assert!(few.0 <= few.2 && few.0 > 1e-3 * few.3, "{machine}: {few:?}");
        assert!(all.0 < 1e-2 * all.3 && all.1 < 1e-2 * all.3 && all.0 < few.0, "{machine}: {few:?} {all:?}");
    }
}

#[test]
fn bad_input_is_refused_in_one_sentence() {
    let scratch = tables();
    for (command, words) in [
        ("svm --landmarks 9 --penalty 0", &["`penalty` is 0", "above 0"][..]),
        ("svm --landmarks 9 --penalty -2", &["`penalty` is -2", "above 0"]),
        ("logistic --landmarks 9 --penalty NaN", &["`penalty` is NaN", "above 0"]),
        ("nu-svm --landmarks 9 --nu 0.9", &["`nu` is 0.9", "at most 0.", "against the rest"]),
        ("nu-svm --landmarks 9 --nu 0", &["`nu` is 0"]),
        ("svm --landmarks 91", &["`landmarks` is 91", "90"]),
        ("svm --landmarks 0", &["`landmarks` is 0"]),
        ("svm --approach ncr --landmarks 9", &["`approach` is ncr", "ridge regression and principal components"]),
        ("nu-svm --approach ncr", &["`approach` is ncr", "lla or gsa"]),
        ("logistic --approach ncr", &["`approach` is ncr"]),
        ("logistic --landmarks 9 --errors", &["`errors` is given", "left out for `logistic`"]),
        ("svm --loss squared-hinge", &["`loss` is squared-hinge", "exact"]),
        ("svm --landmarks 9 --loss cubic", &["no loss `cubic`", "hinge"]),
        ("nu-svm --loss hinge", &["no setting `loss`", "nu"]),
        ("svm --landmarks 9 --symmetrize rows", &["`symmetrize` is rows", "average"]),
        ("svm --landmarks 9 --sampler unifrom", &["did you mean `uniform`"]),
        ("svm --landmarks 9 --truncate 10", &["`truncate` is 10", "9"]),
        ("ls-svm --landmark-ids named.csv", &["`landmark-ids` is given", "krr and kpca have landmarks"]),
    ] {
        let (machine, options) = command.split_once(' ').unwrap();
        refused(&scratch, &format!("fit {machine} {TABLE} {options} --model m"), words);
    }
    refused(&scratch, "fit svm named.csv --target kind --kernel sne --landmarks 9 --model m", &["symmetric"]);
}

use super::bad_input::refused;
use super::reproduce::write_graph;
use super::{Scratch, npy, text};
use lopsided::data::synth;
use serde_json::Value;
use std::fmt::Write as _;

const GRAPH: &str = "fit kernel-svd g/edges.csv --labels g/labels.csv";

/// A graph of 150 nodes in three classes, the ids to learn from and those to test on.
pub(super) fn graph() -> Scratch {
    let scratch = Scratch::new();
    write_graph(&scratch.path("g"), 150);
    let ids = |train: bool| lines((0..150).filter(|i| (i % 5 != 0) == train));
    scratch.write("train.txt", ids(true));
    scratch.write("test.txt", ids(false));
    scratch
}

/// A table of three clusters with a class, and one with a value that depends on two columns.
pub(super) fn tables() -> Scratch {
    let scratch = Scratch::new();
    let (x, classes) = synth::clusters::<f64>(90, 4, 3, 2);
    let (mut named, mut bare, mut values) =
        (String::from("a,b,kind,c,d\n"), String::from("a,b,c,d\n"), String::from("a,b,c,d,y\n"));
    for (i, class) in classes.iter().enumerate() {
        let (a, b, c, d) = (x[(i, 0)], x[(i, 1)], x[(i, 2)], x[(i, 3)]);
        let _ = writeln!(named, "{a},{b},k{class},{c},{d}");
        let _ = writeln!(bare, "{a},{b},{c},{d}");
        let _ = writeln!(values, "{a},{b},{c},{d},{}", 3.0 * a - d + 0.5);
    }
    scratch.write("named.csv", named);
    scratch.write("bare.csv", bare);
    scratch.write("values.csv", values);
    scratch
}

fn lines(items: impl Iterator<Item = impl ToString>) -> String {
    items.map(|item| item.to_string() + "\n").collect::<Vec<_>>().concat()
}

/// Share of the nodes of `train.txt` that the model `m` predicts rightly.
pub(super) fn right_on_training_nodes(scratch: &Scratch) -> f64 {
    scratch.ok("predict m g/edges.csv --ids train.txt --out p.csv");
    let (found, truth) = (text(&scratch.bytes("p.csv")), text(&scratch.bytes("g/labels.csv")));
    let found: Vec<&str> = found.lines().skip(1).collect();
    let right = found.iter().filter(|line| truth.lines().any(|known| known == **line)).count();
    right as f64 / found.len() as f64
}

pub(super) fn number(json: &Value, field: &str) -> f64 {
    json[field].as_f64().unwrap_or_else(|| panic!("{field}: {json}"))
}

#[test]
fn a_graph_is_learned_predicted_placed_and_inspected() {
    let scratch = graph();
    let fit = scratch.json(&format!("{GRAPH} --train-ids train.txt --rank 6 --penalty 10 --model m"));
    assert_eq!((&fit["estimator"], &fit["n_train"]), (&"kernel-svd".into(), &120.into()));
    assert_eq!(fit["classes"], serde_json::json!(["0", "1", "2"]));
    assert_eq!((&fit["params"]["rank"], &fit["params"]["penalty"]), (&6.into(), &10.0.into()));
    assert!(number(&fit, "condition") > 1.0 && fit["warnings"].is_array() && fit.get("cv").is_none(), "{fit}");
    assert!(fit["seconds"].is_number() && fit["peak_bytes"].is_number());
    let test = scratch.json("predict m g/edges.csv --ids test.txt --labels g/labels.csv");
    assert_eq!((&test["n"], &test["scored"]), (&30.into(), &30.into()));
    assert!(number(&test, "micro_f1") > 0.7 && number(&test, "macro_f1") > 0.7, "{test}");
    assert_eq!(test["accuracy"], test["micro_f1"]);
    assert!(test.get("rmse").is_none() && test.get("auroc").is_none());
    let train = scratch.json("predict m g/edges.csv --ids train.txt --labels g/labels.csv --out p.csv");
    assert_eq!(train["micro_f1"], fit["train_score"]);
    assert_eq!(text(&scratch.bytes("p.csv")).lines().count(), 121);
    scratch.ok("transform m --rows g/edges.csv --out t.npy");
    assert_eq!(npy(&scratch.path("t.npy")).0, "(150, 6)");
    let inside = scratch.json("inspect m");
    assert_eq!((&inside["head"]["classes"], &inside["head"]["n_train"]), (&fit["classes"], &120.into()));
    assert!(scratch.ok("inspect m").contains("classes 0, 1, 2, learned from 120 samples"));
}

#[test]
fn new_nodes_are_predicted_from_their_links() {
    let scratch = graph();
    scratch.ok(&format!("{GRAPH} --rank 6 --model m --quiet"));
    // A copy of node 7 under another name, with all its links.
    let edges = text(&scratch.bytes("g/edges.csv"));
    let renamed = |id: &str| if id == "7" { "visitor" } else { id }.to_string();
    let own = edges.lines().filter(|line| line.split(',').any(|id| id == "7"));
    let copied = own.map(|line| line.split(',').map(renamed).collect::<Vec<_>>().join(",") + "\n").collect::<String>();
    scratch.write("new.csv", format!("source,target\n{copied}"));
    scratch.write("ids.txt", "visitor\n7\n");
    let json = scratch.json("predict m new.csv --ids ids.txt");
    assert_eq!(json["predictions"][0][0], "visitor");
    assert_eq!(json["predictions"][0][1], json["predictions"][1][1], "{json}");
    scratch.write("ids.txt", "stranger\n");
    refused(&scratch, "predict m new.csv --ids ids.txt", &["new.csv", "`stranger`", "does not know"]);
}

#[test]
fn a_table_is_learned_and_its_target_found_again() {
    let scratch = tables();
    let fit = scratch.json("fit kernel-svd named.csv --target kind --kernel rbf --rank 4 --model m");
    assert_eq!((&fit["n_train"], &fit["params"]["compat"]), (&90.into(), &serde_json::Value::Null));
    assert_eq!((&fit["params"]["scale"], &fit["params"]["scaling"]), (&"standard".into(), &"sqrt".into()));
    assert!(number(&fit, "train_score") > 0.95, "{fit}");
    let own = scratch.json("predict m named.csv");
    assert_eq!((&own["accuracy"], &own["scored"]), (&fit["train_score"], &90.into()));
    let bare = scratch.json("predict m bare.csv");
    assert_eq!((&bare["predictions"], &bare["scored"]), (&own["predictions"], &0.into()));
    scratch.write("ids.txt", "89\n3\n");
    let csv = scratch.ok("predict m bare.csv --ids ids.txt --scores");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("id,prediction,score_k") && lines.len() == 3, "{csv}");
    assert!(lines[1].starts_with("89,k") && lines[2].split(',').count() == 5, "{csv}");
    scratch.ok("transform m --rows bare.csv --target none --out t.npy");
    assert_eq!(npy(&scratch.path("t.npy")).0, "(90, 4)");
    let narrow = scratch.json("fit kernel-svd named.csv --target kind --kernel rbf --rank 4 --precision f32 --model f");
    assert_eq!(
        (&narrow["precision"], &scratch.json("predict f named.csv")["accuracy"]),
        (&"f32".into(), &fit["train_score"])
    );
}

#[test]
fn values_are_learned_with_their_error() {
    let scratch = tables();
    let fit = scratch.json("fit kernel-svd values.csv --kernel linear --model m");
    assert_eq!((&fit["classes"], &fit["measure"]), (&serde_json::json!([]), &"rmse".into()));
    let json = scratch.json("predict m values.csv");
    assert!((number(&json, "rmse") - number(&fit, "train_score")).abs() < 1e-12);
    assert!(number(&json, "rmse") < 0.05 && json.get("accuracy").is_none(), "{json}");
    scratch.write("rows.csv", lines((0..90).map(|i| format!("{i},{}", i % 2))));
    let two = scratch.json("fit kernel-svd bare.csv --labels rows.csv --rank 4 --kernel rbf --model two");
    assert_eq!(two["classes"], serde_json::json!(["0", "1"]));
    let scored = scratch.json("predict two bare.csv --labels rows.csv");
    assert!((0.0..=1.0).contains(&number(&scored, "auroc")), "{scored}");
    let numbers =
        scratch.json("fit kernel-svd bare.csv --labels rows.csv --rank 4 --kernel rbf --task values --model v");
    assert_eq!(numbers["measure"], "rmse");
}

#[test]
fn two_sample_sets_and_precomputed_matrices_are_learned() {
    let scratch = tables();
    scratch.write("some.csv", text(&scratch.bytes("bare.csv")).lines().take(21).collect::<Vec<_>>().join("\n"));
    scratch.write("rows.csv", lines((0..90).map(|i| format!("{i},{}", i % 2))));
    let labels = "--labels rows.csv --model m";
    let fit = scratch.json(&format!("fit kernel-svd bare.csv --cols some.csv --kernel rbf --rank 5 {labels}"));
    assert_eq!(scratch.json("predict m bare.csv --labels rows.csv")["micro_f1"], fit["train_score"]);
    let fit = scratch.json(&format!("fit kernel-svd bare.csv --kernel precomputed --rank 3 {labels}"));
    assert_eq!(scratch.json("predict m bare.csv --labels rows.csv")["micro_f1"], fit["train_score"]);
}

#[test]
fn cross_validation_takes_the_best_point_of_the_grid() {
    let scratch = graph();
    let grid = "--cv 3 --grid rank=1,6 penalty=0.1,10 scaling=none,full";
    let json = scratch.json(&format!("{GRAPH} --train-ids train.txt {grid} --model m"));
    let cv = &json["cv"];
    let points = cv["points"].as_array().unwrap();
    assert_eq!((points.len(), &cv["folds"], &cv["measure"]), (8, &3.into(), &"micro-f1".into()));
    let best = points.iter().map(|p| number(p, "mean")).fold(0.0, f64::max);
    assert_eq!(number(cv, "mean"), best);
    assert!(points.iter().any(|p| number(p, "mean") < best), "all points are equal: {cv}");
    assert_eq!(cv["params"]["rank"], "6");
    assert_eq!(json["params"]["rank"], 6);
    assert_eq!(json["params"]["scaling"], cv["params"]["scaling"]);
    let text = scratch.ok(&format!("{GRAPH} {grid} --model m"));
    assert!(text.contains("micro-f1 in 3 parts") && text.contains("cross-validation"), "{text}");
    assert!(text.contains("3 more settings") && text.contains("--cv-out"), "{text}");
    assert_eq!(text.lines().take_while(|line| !line.is_empty()).count(), 7, "{text}");
    let text = scratch.ok(&format!("{GRAPH} {grid} --model m --cv-out tried.csv"));
    assert!(text.contains("all 8 settings") && text.contains("tried.csv"), "{text}");
    let tried = super::text(&scratch.bytes("tried.csv"));
    let means: Vec<f64> = tried.lines().skip(1).map(|line| line.split(',').nth(3).unwrap().parse().unwrap()).collect();
    assert!(tried.starts_with("penalty,rank,scaling,micro-f1,deviation\n") && means.len() == 8, "{tried}");
    assert!(means.is_sorted_by(|a, b| a >= b), "{tried}");
    let scratch = tables();
    let json = scratch.json("fit kernel-svd named.csv --target kind --kernel rbf --cv 4 --model m");
    assert_eq!(json["cv"]["points"].as_array().unwrap().len(), 40, "{}", json["cv"]);
    assert!(number(&json["cv"], "mean") > 0.9, "{}", json["cv"]);
    let fixed =
        scratch.json("fit kernel-svd named.csv --target kind --kernel linear --rank 2 --penalty 1 --cv 4 --model m");
    assert_eq!(fixed["cv"]["points"].as_array().unwrap().len(), 1);
}

#[test]
fn models_do_not_depend_on_threads() {
    for (scratch, command) in [
        (graph(), format!("{GRAPH} --cv 3 --grid rank=2,5 penalty=1,10")),
        (tables(), "fit kernel-svd named.csv --target kind --kernel rbf --cv 3 --grid rank=2,4".into()),
        (tables(), "fit kernel-svd values.csv --kernel sne --rank 3".into()),
    ] {
        let bytes = |threads: u32| {
            scratch.ok(&format!("{command} --threads {threads} --model m{threads}"));
            scratch.bytes(&format!("m{threads}"))
        };
        let first = bytes(1);
        assert!(first == bytes(2) && first == bytes(4), "{command}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let scratch = graph();
    let json = scratch.json(&format!("{GRAPH} --cv 5 --dry-run"));
    assert_eq!((&json["dry_run"], &json["n"], &json["rank"]), (&true.into(), &150.into(), &100.into()));
    assert!(json["notes"][0].as_str().unwrap().contains("points in 5 parts"), "{json}");
    assert_eq!(scratch.files(), ["g", "test.txt", "train.txt"]);
}

#[test]
fn inputs_that_cannot_be_learned_from() {
    let scratch = graph();
    scratch.write("same.csv", lines((0..150).map(|i| format!("{i},x"))));
    scratch.write("odd.txt", "3\nnobody\n");
    for (options, words) in [
        ("g/edges.csv", &["edges.csv", "no classes or values"][..]),
        ("g/edges.csv --labels same.csv", &["one class only"]),
        ("g/edges.csv --labels g/labels.csv --train-ids odd.txt", &["odd.txt", "`nobody`"]),
        ("g/edges.csv --labels g/labels.csv --rank 151", &["`rank` is 151", "150"]),
        ("g/edges.csv --labels g/labels.csv --penalty 0", &["`penalty` is 0", "above 0"]),
        ("g/edges.csv --labels g/labels.csv --penalty -2", &["`penalty` is -2"]),
        ("g/edges.csv --labels g/labels.csv --cv 151", &["`folds` is 151", "150"]),
        ("g/edges.csv --labels g/labels.csv --cv 1", &["`folds` is 1", "between 2"]),
        ("g/edges.csv --labels g/labels.csv --cv 3 --grid bandwidth=1,2", &["`bandwidth`", "decay, rank"]),
        ("g/edges.csv --labels g/labels.csv --cv 3 --grid rank", &["--grid", "penalty=1,10"]),
        ("g/edges.csv --labels g/labels.csv --cv 3 --grid penalty=1,-1", &["`penalty` is -1"]),
        ("g/edges.csv --labels g/labels.csv --cv 3 --grid rank=5,500", &["`rank` is 500", "150"]),
        ("g/edges.csv --labels g/labels.csv --compat pca", &["`compat` is pca", "none unless"]),
        ("g/edges.csv --labels g/labels.csv --kernel gausian", &["no kernel `gausian`"]),
        ("g/edges.csv --labels g/labels.csv --task values --grid rank=2", &["required"]),
    ] {
        refused(&scratch, &format!("fit kernel-svd {options} --model m"), words);
    }
    refused(&scratch, "fit kernel-svm g/edges.csv --model m", &["kernel-svm"]);
    refused(&scratch, "fit kernel-svd g/edges.csv --labels g/labels.csv --model no/m", &["no/m", "no such"]);
    let scratch = tables();
    scratch.write("far.csv", "0,a\n90,b\n");
    for (options, words) in [
        ("bare.csv --labels far.csv", &["far.csv", "`90`", "0 to 89"][..]),
        ("named.csv --target kind --task values", &["`task` is values"]),
        ("values.csv --task classes", &["`task` is classes"]),
        ("named.csv --target kinds", &["kinds"]),
    ] {
        refused(&scratch, &format!("fit kernel-svd {options} --model m"), words);
    }
}

#[test]
fn models_and_inputs_that_cannot_predict() {
    let scratch = tables();
    scratch.graph();
    scratch.ok("embed edges.csv --rank 3 --model plain --quiet");
    refused(&scratch, "predict plain edges.csv", &["plain", "without a head", "fit kernel-svd"]);
    scratch.ok("fit kernel-svd named.csv --target kind --kernel rbf --rank 3 --model m --quiet");
    scratch.table("narrow.csv", 4, 3);
    scratch.write("ids.txt", "4\nx\n");
    scratch.write("labels.csv", "node,label\nnobody,k1\n");
    for (options, words) in [
        ("narrow.csv --format csv --target none", &["is 3 but must be 4"][..]),
        ("bare.csv --ids ids.txt", &["ids.txt", "`x`"]),
        ("bare.csv --labels labels.csv", &["labels.csv", "no label"]),
        ("edges.csv", &["edges.csv", "a table is needed"]),
        ("bare.csv --out no/p.csv", &["no/p.csv", "no such"]),
    ] {
        refused(&scratch, &format!("predict m {options}"), words);
    }
    let whole = scratch.bytes("m");
    scratch.write("half", &whole[..whole.len() / 2]);
    refused(&scratch, "predict half bare.csv", &["half", "not a complete model file"]);
    let at = whole.windows(10).position(|w| w == b"kernel-svd").unwrap();
    let mut other = whole;
    other[at..at + 10].copy_from_slice(b"kernel-xyz");
    scratch.write("other", other);
    refused(&scratch, "predict other bare.csv", &["other", "`kernel-xyz`", "does not predict"]);
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn held_out_nodes_of_a_real_graph_are_predicted() {
    let Some(data) = super::real_data::data() else { return };
    let scratch = Scratch::new();
    let labels = std::fs::read_to_string(format!("{data}/cora/labels.csv")).unwrap();
    let ids: Vec<&str> = labels.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    let part = |train: bool| ids.iter().enumerate().filter(move |(i, _)| (i % 5 != 3) == train);
    scratch.write("train.txt", lines(part(true).map(|(_, id)| id)));
    scratch.write("test.txt", lines(part(false).map(|(_, id)| id)));
    let (edges, labels) = (format!("{data}/cora/edges.csv"), format!("{data}/cora/labels.csv"));
    let settings = "--kernel rbf --center --tol 1e-2 --cv 3 --grid gamma-factor=2,5 rank=100,300 penalty=1,10";
    let fit = scratch
        .json(&format!("fit kernel-svd {edges} --labels {labels} --train-ids train.txt {settings} --model m --quiet"));
    assert_eq!(fit["cv"]["points"].as_array().unwrap().len(), 8);
    let test = scratch.json(&format!("predict m {edges} --ids test.txt --labels {labels} --out p.csv"));
    // The largest class has 30 % of the nodes.
    assert!(number(&test, "micro_f1") > 0.6, "{test}");
    assert!((number(&test, "micro_f1") - number(&fit["cv"], "mean")).abs() < 0.08, "{test} {}", fit["cv"]);
}

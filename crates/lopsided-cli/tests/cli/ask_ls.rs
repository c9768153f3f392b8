use super::bad_input::refused;
use super::fit::{graph, number, right_on_training_nodes, tables};
use super::text;

const GRAPH: &str = "fit ask-ls g/edges.csv --labels g/labels.csv --kernel precomputed";

#[test]
fn nodes_are_learned_from_their_links_and_predicted() {
    let scratch = graph();
    for merge in ["stack", "average", "source", "target"] {
        let fit = scratch.json(&format!("{GRAPH} --train-ids train.txt --merge {merge} --model m"));
        assert_eq!((&fit["estimator"], &fit["n_train"]), (&"ask-ls".into(), &120.into()));
        assert_eq!((&fit["params"]["merge"], &fit["params"]["kernel"]), (&merge.into(), &"precomputed".into()));
        let test = scratch.json("predict m g/edges.csv --ids test.txt --labels g/labels.csv");
        // Neighbours are of other classes here: only stacking, which looks at held-out nodes, finds out what scores mean.
        assert!(merge != "stack" || number(&test, "micro_f1") > 0.6, "{test}");
        assert_eq!(number(&fit, "train_score"), right_on_training_nodes(&scratch));
    }
    let scored = scratch.json("predict m g/edges.csv --labels g/labels.csv");
    assert!(scored["notes"][0].as_str().is_some_and(|note| note.contains("learned from: 120")), "{scored}");
    let learned = "predict m g/edges.csv --ids train.txt --labels g/labels.csv";
    refused(&scratch, learned, &["120 ids", "learned from"]);
    assert!(scratch.ok("inspect m").contains("classes 0, 1, 2, learned from 120 samples"));
    refused(&scratch, "transform m --rows g/edges.csv --out t.npy", &["`ask-ls`", "`predict`"]);
}

#[test]
fn the_model_has_the_same_bytes_for_any_number_of_threads() {
    let scratch = graph();
    for route in ["dense", "svd", "minres"] {
        let bytes = |threads: usize| {
            scratch.ok(&format!("{GRAPH} --route {route} --threads {threads} --model m{threads} --quiet"));
            scratch.bytes(&format!("m{threads}"))
        };
        assert!(bytes(1) == bytes(2), "{route}");
    }
}

#[test]
fn rows_are_learned_with_asymmetric_and_symmetric_kernels() {
    let scratch = tables();
    for kernel in
        ["ask-ls named.csv --kernel sne --gamma median", "ask-ls named.csv --kernel t", "ls-svm named.csv --kernel rbf"]
    {
        let fit = scratch.json(&format!("fit {kernel} --target kind --cv 3 --grid penalty=1,10,1000 --model m"));
        assert_eq!(fit["cv"]["points"].as_array().map(Vec::len), Some(3), "{fit}");
        let test = scratch.json("predict m named.csv");
        assert!(number(&test, "micro_f1") > 0.9, "{test}");
        assert_eq!(test["micro_f1"], fit["train_score"]);
    }
    let fit = scratch.json("fit ls-svm values.csv --target y --kernel rbf --gamma median --penalty 1e6 --model m");
    assert!(number(&fit, "train_score") < 0.1, "{fit}");
    scratch.ok("predict m bare.csv --out p.csv");
    assert_eq!(text(&scratch.bytes("p.csv")).lines().count(), 91);
}

#[test]
fn a_singular_system_is_said_and_can_be_refused() {
    let scratch = graph();
    // A ring: every singular value of its links is 1.
    let lines = |of: fn(usize) -> usize| (0..40).map(|i| format!("{i},{}\n", of(i))).collect::<Vec<_>>().concat();
    let ring = lines(|i| (i + 1) % 40);
    scratch.write("ring.csv", format!("source,target\n{ring}"));
    let labels = lines(|i| i % 2);
    scratch.write("ring-labels.csv", format!("node,label\n{labels}"));
    let ring =
        "fit ask-ls ring.csv --labels ring-labels.csv --kernel precomputed --no-self-loops --penalty 1 --model m";
    for way in ["tikhonov", "min-norm"] {
        let fit = scratch.json(&format!("{ring} --on-singular {way}"));
        assert!(fit["warnings"][0].as_str().is_some_and(|w| w.contains("singular")), "{fit}");
    }
    for route in ["auto", "svd", "dense", "krylov", "minres", "lsmr"] {
        let command = format!("{ring} --on-singular error --route {route}");
        refused(&scratch, &command, &["condition number", "singular"]);
    }
}

#[test]
fn the_penalty_is_chosen_unless_given_and_its_border_told() {
    let scratch = graph();
    let fit = scratch.json(&format!("{GRAPH} --train-ids train.txt --model m"));
    let border = number(&fit["params"], "largest_definite_penalty");
    assert!(fit["params"]["penalty_why"].as_str().is_some_and(|why| why.contains("held-out")), "{fit}");
    assert_eq!(
        scratch.json(&format!("{GRAPH} --train-ids train.txt --penalty auto --model m"))["params"],
        fit["params"]
    );
    let warned = scratch.json(&format!("{GRAPH} --train-ids train.txt --penalty {} --model m", 2.0 * border));
    let said = |fit: &serde_json::Value| fit["warnings"].to_string().contains("indefinite");
    assert!(said(&warned) && !said(&fit), "{warned}");
    refused(&scratch, &format!("{GRAPH} --penalty automatic --model m"), &["automatic", "auto"]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let scratch = graph();
    let fit = |options: &str| format!("{GRAPH} --model m {options}");
    refused(&scratch, &fit("--merge both"), &["merge", "stack"]);
    refused(&scratch, &fit("--penalty 0"), &["penalty", "0"]);
    refused(&scratch, &fit("--on-singular tikhonov --tikhonov -1"), &["tikhonov", "-1"]);
    refused(&scratch, &fit("--cv 3 --grid rank=1,2"), &["rank", "penalty"]);
    refused(&scratch, &fit("--cv 3 --grid beta=0.1,0.5"), &["beta", "precomputed"]);
    let labels = text(&scratch.bytes("g/labels.csv")).replacen(",0\n", ",alone\n", 1);
    scratch.write("alone.csv", labels);
    let alone = "fit ask-ls g/edges.csv --labels alone.csv --kernel precomputed --model m";
    refused(&scratch, alone, &["`alone`", "two samples"]);
    scratch.write("wide.csv", "a,b,c,kind\n1,2,3,x\n4,5,6,y\n7,8,1,x\n3,3,3,y\n");
    refused(&scratch, "fit ask-ls wide.csv --target kind --kernel precomputed --model m", &["4 x 3", "square"]);
}

#[test]
fn a_precomputed_matrix_is_predicted_from_by_its_rows_and_columns() {
    let scratch = graph();
    let value = |i: usize, j: usize| {
        let alike = if i % 2 == j % 2 { 1.0 } else { 0.2 };
        alike * (1.0 + ((7 * i + 13 * j) % 11) as f64 / 10.0)
    };
    let matrix = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| {
        let line = |i: usize| cols.clone().map(|j| value(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n";
        rows.map(line).collect::<String>()
    };
    let labels = |count: usize| (0..count).map(|i| format!("{i},{}\n", i % 2)).collect::<Vec<_>>().concat();
    let ids = |of: std::ops::Range<usize>| of.map(|i| format!("{i}\n")).collect::<Vec<_>>().concat();
    for (name, text) in [
        ("all.csv", matrix(0..40, 0..40)),
        ("known.csv", matrix(0..30, 0..30)),
        ("rows.csv", matrix(30..40, 0..30)),
        ("cols.csv", matrix(0..30, 30..40)),
        ("labels.csv", format!("row,label\n{}", labels(40))),
        ("known-labels.csv", format!("row,label\n{}", labels(30))),
        ("train.txt", ids(0..30)),
        ("test.txt", ids(30..40)),
    ] {
        scratch.write(name, text);
    }
    let options = "--kernel precomputed --penalty 0.01 --format csv --target none";
    scratch.ok(&format!("fit ask-ls all.csv --labels labels.csv --train-ids train.txt {options} --model whole"));
    scratch.ok(&format!("fit ask-ls known.csv --labels known-labels.csv {options} --model part"));
    let scores = |command: &str| {
        let csv = scratch.ok(&format!("{command} --scores --target none"));
        let numbers = |line: &str| line.split(',').skip(1).map(|v| v.parse::<f64>().unwrap()).collect::<Vec<_>>();
        csv.lines().skip(1).map(numbers).collect::<Vec<_>>()
    };
    let whole = scores("predict whole all.csv --ids test.txt");
    assert_eq!(whole.len(), 10);
    let part = scores("predict part rows.csv --cols cols.csv");
    // Sums of the same numbers in another order.
    assert!(whole.concat().iter().zip(part.concat()).all(|(a, b)| (a - b).abs() < 1e-12), "{whole:?} {part:?}");
    refused(&scratch, "predict part rows.csv --target none", &["`cols`", "k(known, new)"]);
    refused(&scratch, "predict part rows.csv --cols known.csv --target none", &["10", "30"]);
}

use super::bad_input::refused;
use super::fit::{graph, number, tables};
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
        let train = scratch.json("predict m g/edges.csv --ids train.txt --labels g/labels.csv --out p.csv");
        assert_eq!(train["micro_f1"], fit["train_score"]);
    }
    assert!(scratch.ok("inspect m").contains("classes 0, 1, 2, learned from 120 samples"));
    refused(&scratch, "transform m --rows g/edges.csv --out t.npy", &["`ask-ls`", "`kernel-svd`"]);
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
    let ring = "fit ask-ls ring.csv --labels ring-labels.csv --kernel precomputed --no-self-loops --model m";
    for way in ["tikhonov", "min-norm"] {
        let fit = scratch.json(&format!("{ring} --on-singular {way}"));
        assert!(fit["warnings"][0].as_str().is_some_and(|w| w.contains("singular")), "{fit}");
    }
    refused(&scratch, &format!("{ring} --on-singular error"), &["condition number", "singular"]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let scratch = graph();
    let fit = |options: &str| format!("{GRAPH} --model m {options}");
    refused(&scratch, &fit("--merge both"), &["merge", "stack"]);
    refused(&scratch, &fit("--penalty 0"), &["penalty", "0"]);
    refused(&scratch, &fit("--on-singular tikhonov --tikhonov -1"), &["tikhonov", "-1"]);
    refused(&scratch, &fit("--cv 3 --grid rank=1,2"), &["rank", "penalty"]);
    let labels = text(&scratch.bytes("g/labels.csv")).replacen(",0\n", ",alone\n", 1);
    scratch.write("alone.csv", labels);
    let alone = "fit ask-ls g/edges.csv --labels alone.csv --kernel precomputed --model m";
    refused(&scratch, alone, &["`alone`", "two samples"]);
    scratch.write("wide.csv", "a,b,c,kind\n1,2,3,x\n4,5,6,y\n7,8,1,x\n3,3,3,y\n");
    refused(&scratch, "fit ask-ls wide.csv --target kind --kernel precomputed --model m", &["4 x 3", "square"]);
}

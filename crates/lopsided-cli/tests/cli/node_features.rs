use super::bad_input::refused;
use super::reproduce::write_graph;
use super::{Scratch, text};
use std::fmt::Write as _;

/// A graph with classes on a cycle and words that hint at them, as a table with ids and as a matrix.
fn sets() -> Scratch {
    let scratch = Scratch::new();
    write_graph(&scratch.path("g"), 120);
    let labels = text(&scratch.bytes("g/labels.csv"));
    let class: Vec<usize> = labels.lines().skip(1).map(|l| l.split_once(',').unwrap().1.parse().unwrap()).collect();
    let word = |i: usize, j: usize| u8::from((i * 31 + j * 17 + i * j) % 7 < if j % 3 == class[i] { 4 } else { 1 });
    let (mut table, mut matrix, mut count) = (String::from("id,a,b,c,d,e,f\n"), String::new(), 0);
    for i in (0..120).rev() {
        let row: Vec<String> = (0..6).map(|j| word(i, j).to_string()).collect();
        let _ = writeln!(table, "{i},{}", row.join(","));
    }
    for (i, j) in (0..120).flat_map(|i| (0..6).map(move |j| (i, j))).filter(|&(i, j)| word(i, j) == 1) {
        let _ = writeln!(matrix, "{} {} 1", i + 1, j + 1);
        count += 1;
    }
    scratch.write("words.csv", table);
    scratch.write("words.mtx", format!("%%MatrixMarket matrix coordinate real general\n120 6 {count}\n{matrix}"));
    let ids = |part: usize| {
        (0..120).filter(|i| (i % 4 == 0) == (part == 0)).map(|i| i.to_string()).collect::<Vec<_>>().join("\n")
    };
    scratch.write("test.txt", ids(0));
    scratch.write("train.txt", ids(1));
    scratch
}

fn recipe(scratch: &Scratch, model: &str) -> serde_json::Value {
    serde_json::from_str(&scratch.ok(&format!("inspect {model} --recipe"))).unwrap()
}

const FIT: &str = "fit ask-ls g/edges.csv --labels g/labels.csv --train-ids train.txt --model m";
const TEST: &str = "predict m g/edges.csv --ids test.txt --labels g/labels.csv";

#[test]
fn features_and_links_are_learned_together() {
    let scratch = sets();
    let fit = scratch.json(&format!("{FIT} --features words.csv"));
    assert!(fit["chosen"].as_str().unwrap().contains("feature-weight "), "{fit}");
    let both = scratch.json(TEST)["accuracy"].as_f64().unwrap();
    let inspected = recipe(&scratch, "m");
    assert_eq!(inspected["feature-weight"], fit["params"]["feature-weight"], "{inspected}");
    // Names, and rows in the order of the nodes, are the same.
    scratch.json(&format!("{FIT} --features words.mtx"));
    assert_eq!(scratch.json(TEST)["accuracy"].as_f64().unwrap(), both);
    scratch.json(&format!("{FIT} --features words.csv --feature-weight 0.9 --kernel rbf --threads 1"));
    assert_eq!(recipe(&scratch, "m")["feature-weight"], 0.9);
    let kept = scratch.bytes("m");
    scratch.json(&format!("{FIT} --features words.csv --feature-weight 0.9 --kernel rbf --threads 2"));
    assert!(kept == scratch.bytes("m"), "the model does not depend on the number of threads");
}

#[test]
fn new_nodes_bring_their_features() {
    let scratch = sets();
    scratch.json(&format!("{FIT} --features words.csv"));
    scratch.write("more.csv", "source,target\nnew,3\n5,new\nnewer,new\n");
    scratch.write("more-words.csv", "new,1,0,0,1,0,0\nlonely,0,1,0,0,1,0\nnewer,0,0,1,0,0,1\n");
    scratch.write("who.txt", "new\nlonely\n7\n");
    let found = scratch.json("predict m more.csv --features more-words.csv --ids who.txt");
    assert_eq!(found["predictions"].as_array().unwrap().len(), 3, "{found}");
    refused(&scratch, "predict m more.csv", &["`features` is missing for 2 of", "`new` the first"]);
    scratch.json("embed g/edges.csv --features words.csv --rank 4 --walk 2 --model e");
    scratch.ok("transform e --rows more.csv --features more-words.csv --out more.npy");
    refused(&scratch, "transform e --rows more.csv --out more.npy", &["`features` is missing for", "`new`"]);
    assert_eq!(recipe(&scratch, "e")["walk"], 2.0);
}

#[test]
fn features_that_do_not_fit() {
    let scratch = sets();
    scratch.write("few.csv", "id,a\n0,1\n1,2\n");
    scratch.write("gap.csv", "id,a\n0,1\n1,\n");
    scratch.write("ids.txt", "x\ny\n");
    scratch.write("half.mtx", "%%MatrixMarket matrix coordinate real general\n120 6 4\n1 1 1\n");
    scratch.table("x.csv", 20, 5);
    for (command, words) in [
        (format!("{FIT} --features few.csv"), &["`features` is missing for 118 of 120 nodes", "`2` the first"][..]),
        (format!("{FIT} --features gap.csv"), &["gap.csv:3", "feature `a` of the node `1` is ``"]),
        (format!("{FIT} --features half.mtx"), &["half.mtx"]),
        (format!("{FIT} --features nothing.csv"), &["nothing.csv", "no such file"]),
        (format!("{FIT} --features words.mtx --nodes ids.txt"), &["features of 120 nodes for 2 of --nodes"]),
        (format!("{FIT} --features words.csv --kernel precomputed"), &["`features` is given", "`precomputed`"]),
        (format!("{FIT} --features words.csv --kernel katz"), &["`features` is given", "`katz`"]),
        (format!("{FIT} --features words.csv --feature-weight 2"), &["`feature-weight` is 2"]),
        (format!("{FIT} --features words.csv --feature-weight some"), &["`feature-weight` is some"]),
        (format!("{FIT} --feature-weight 0.5"), &["`feature-weight` is 0.5", "left out"]),
        (format!("{FIT} --walk 0"), &["`walk` is 0", "between 1 and 16"]),
        (format!("{FIT} --walk 17"), &["`walk` is 17", "16"]),
        (format!("{FIT} --walk 2 --kernel ppr"), &["`walk` is 2", "`ppr`"]),
        ("embed g/edges.csv --feature-weight 0.5 --rank 3".into(), &["`feature-weight` is 0.5", "left out"]),
        ("embed x.csv --target none --features words.csv".into(), &["`features` is given", "a graph"]),
    ] {
        refused(&scratch, &command, words);
    }
    scratch.json(&format!("{FIT} --kernel rbf"));
    refused(&scratch, "predict m g/edges.csv --features words.csv", &["`features` is given", "links alone"]);
}

#[test]
fn walks_are_a_choice_of_every_command_on_graphs() {
    let scratch = sets();
    for kernel in ["rbf", "sne", "linear", "precomputed"] {
        let values = |walk: u32| {
            let json = scratch.json(&format!("embed g/edges.csv --kernel {kernel} --rank 4 --walk {walk}"));
            json["singular_values"].to_string()
        };
        assert_ne!(values(1), values(3), "{kernel}");
    }
    let fit = scratch.json(&format!("{FIT} --walk 2"));
    assert_eq!(fit["n_train"], 90);
    assert!(scratch.json(TEST)["accuracy"].as_f64().unwrap() > 0.4);
    scratch.write("more.csv", "source,target\nnew,3\n5,new\n");
    scratch.ok("predict m more.csv --ids test.txt");
    let json = scratch.json("links g/edges.csv --walk 2 --rank 6 --trials 1");
    let other = scratch.json("links g/edges.csv --rank 6 --trials 1");
    assert_eq!(json["methods"][0], other["methods"][0], "the linear SVD is that of one step");
    assert_ne!(json["methods"][4], other["methods"][4]);
}

#[test]
fn labels_of_nodes_that_do_not_exist_are_refused() {
    let scratch = Scratch::new();
    scratch.write("e.csv", "0,1\n1,4\n4,0\n4,1\n");
    scratch.write("l.csv", "node,label\n0,a\n1,b\n4,a\n2,b\n3,b\n");
    assert_eq!(scratch.json("embed e.csv --rank 2")["n"], 3);
    let fit = "fit ls-svm e.csv --labels l.csv --model m";
    refused(&scratch, fit, &["l.csv", "labels 2 nodes that no link names, `2` the first", "--nodes"]);
    scratch.write("nodes.txt", "2\n3\n");
    assert_eq!(scratch.json(&format!("{fit} --nodes nodes.txt"))["n_train"], 5);
}

use super::{Scratch, text};
use lopsided::data::synth::CyclicGraph;
use std::fmt::Write as _;
use std::path::Path;

/// Writes a graph whose classes show in the direction of its links.
pub(super) fn write_graph(folder: &Path, nodes: usize) {
    let recipe = CyclicGraph { nodes, classes: 3, degree: 12.0, contrast: 1.0, seed: 1 };
    let (graph, classes) = recipe.generate().unwrap();
    let mut edges = String::from("source,target\n");
    for i in 0..nodes {
        graph.adjacency().row(i).0.iter().for_each(|j| writeln!(edges, "{i},{j}").unwrap());
    }
    let mut labels = String::from("node,label\n");
    classes.iter().enumerate().for_each(|(i, class)| writeln!(labels, "{i},{class}").unwrap());
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("edges.csv"), edges).unwrap();
    std::fs::write(folder.join("labels.csv"), labels).unwrap();
}

/// One good set, one whose labels are all the same, one of another kind.
fn data() -> Scratch {
    let scratch = Scratch::new();
    write_graph(&scratch.path("sets/cyclic"), 150);
    write_graph(&scratch.path("sets/dull"), 40);
    let same: Vec<String> = (0..40).map(|i| format!("{i},a")).collect();
    scratch.write("sets/dull/labels.csv", format!("node,label\n{}\n", same.join("\n")));
    std::fs::create_dir_all(scratch.path("sets/other")).unwrap();
    scratch
}

#[test]
fn every_usable_set_is_in_the_table_and_the_others_are_named() {
    let scratch = data();
    let json = scratch.json("reproduce ksvd-1 --data sets --quick");
    assert_eq!(json["sets"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["skipped"][0]["name"], "dull");
    let set = &json["sets"][0];
    assert_eq!((&set["name"], &set["nodes"], &set["classes"]), (&"cyclic".into(), &150.into(), &3.into()));
    let methods = set["methods"].as_array().unwrap();
    let names: Vec<_> = methods.iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(names, ["PCA", "KPCA", "SVD", "KSVD RBF", "KSVD SNE", "HOPE", "Katz", "PageRank"]);
    for method in methods {
        assert_eq!(method["tuned"]["choices"].as_array().unwrap().len(), 2);
        assert_eq!(method["reconstruction"][0].as_array().unwrap().len(), 3);
        assert!(method["paper"].is_null());
        let scores = ["protocol", "tuned"].map(|way| method[way]["macro_f1"]["mean"].as_f64().unwrap());
        assert!(scores.into_iter().any(|score| score > 0.2), "{method}");
    }
}

#[test]
fn results_do_not_depend_on_threads_and_the_table_is_readable() {
    let scratch = data();
    let command = "reproduce ksvd-1 --data sets --only cyclic --quick --rank 20 --quiet";
    let without_times = |threads: usize| {
        let mut json = scratch.json(&format!("{command} --threads {threads}"));
        let mut methods = json["sets"][0]["methods"].take();
        methods.as_array_mut().unwrap().iter_mut().for_each(|m| m["seconds"] = 0.into());
        methods
    };
    assert_eq!(without_times(1), without_times(3));
    let table = scratch.ok(command);
    assert!(table.starts_with("cyclic: 150 nodes (150 labelled)"), "{table}");
    assert!(table.lines().any(|line| line.starts_with("KSVD SNE  20")), "{table}");
}

#[test]
fn without_any_usable_set_the_code_is_2() {
    let scratch = data();
    for words in [
        "--data sets --only dull",
        "--data sets/other",
        "--data nowhere",
        "--data sets --only cyclik",
        "--data sets --trials 0",
        "--data sets --methods hoppe",
    ] {
        let output = scratch.run(&format!("reproduce ksvd-1 --quick {words}"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(text(&output.stderr).contains("error: "), "{words}");
    }
    let output = scratch.command("reproduce ksvd-1").env_remove("LOPSIDED_DATA").output().unwrap();
    assert!(text(&output.stderr).contains("LOPSIDED_DATA"));
}

#[test]
fn chosen_methods_alone_are_computed_and_their_curves_written() {
    let scratch = data();
    let options = "--only cyclic --quick --rank 20 --methods hope svd --out curves --quiet";
    let json = scratch.json(&format!("reproduce ksvd-1 --data sets {options}"));
    let methods = json["sets"][0]["methods"].as_array().unwrap();
    assert_eq!(methods.iter().map(|m| m["method"].as_str().unwrap()).collect::<Vec<_>>(), ["SVD", "HOPE"]);
    let curves = std::fs::read_to_string(scratch.path("curves/cyclic-ranks.csv")).unwrap();
    assert!(curves.lines().skip(1).all(|line| line.starts_with("SVD,") || line.starts_with("HOPE,")), "{curves}");
    assert_eq!(curves.lines().count(), 3, "{curves}");
    let options = options.replace("hope svd", "katz");
    scratch.json(&format!("reproduce ksvd-1 --data sets {options}"));
    let more = std::fs::read_to_string(scratch.path("curves/cyclic-ranks.csv")).unwrap();
    assert!(more.starts_with(&curves) && more.lines().count() == 4, "{more}");
}

#[test]
fn the_ablation_compares_two_methods_on_graphs_and_tables() {
    let scratch = data();
    std::fs::create_dir_all(scratch.path("sets/values")).unwrap();
    let row = |i: i32| format!("{},{},{}\n", i % 7, (i * i) % 11, (i % 7) * ((i * i) % 11) + i);
    let rows: Vec<String> = (0..60).map(row).collect();
    scratch.write("sets/values/data.csv", format!("a,b,target\n{}", rows.concat()));
    let json = scratch.json("reproduce ksvd-5 --data sets --only cyclic values --quick");
    assert_eq!((&json["sets"][0]["measure"], &json["sets"][1]["measure"]), (&"micro-f1".into(), &"rmse".into()));
    let methods = json["sets"][0]["methods"].as_array().unwrap();
    assert_eq!(methods.iter().map(|m| m["method"].as_str().unwrap()).collect::<Vec<_>>(), ["nonlinear + SVD", "KSVD"]);
}

use super::bad_input::refused;
use super::reproduce::write_graph;
use super::{Scratch, text};
use std::fmt::Write as _;

/// A graph whose classes show in the direction of links, and its labels.
fn graph() -> Scratch {
    let scratch = Scratch::new();
    write_graph(scratch.dir.path(), 160);
    scratch
}

const QUICK: &str = "--repeats 1 --folds 4 --inner 2";

/// Words of a command as the shell would pass them, without the name of the program.
fn words(command: &str) -> String {
    command.strip_prefix("lopsided ").unwrap().to_string()
}

#[test]
fn direction_pays_on_a_cycle_of_classes_and_the_next_command_works() {
    let scratch = graph();
    let json = scratch.json(&format!("compare edges.csv --labels labels.csv {QUICK} --out s.csv --report p.html"));
    assert_eq!((&json["verdict"], &json["measure"]), (&"pays".into(), &"accuracy".into()), "{json}");
    assert!(json["difference"]["low"].as_f64().unwrap() > 0.0 && json["asymmetry"]["links"].is_number());
    let methods = json["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 10);
    for method in methods {
        for field in ["mean", "deviation", "seconds"] {
            assert!(method[field].is_number(), "{method}");
        }
        assert_eq!(method["scores"].as_array().unwrap().len(), 4);
    }
    assert_eq!(text(&scratch.bytes("s.csv")).lines().count(), 1 + 10 * 4);
    let page = text(&scratch.bytes("p.html"));
    assert!(page.contains("Does asymmetry pay on edges.csv?") && page.contains("AsK-LS"));
    scratch.ok(&words(json["next_command"].as_str().unwrap()));
    assert!(scratch.path("compared.model").exists());
}

#[test]
fn nothing_pays_without_direction_or_without_anything_to_learn() {
    let scratch = graph();
    let links = text(&scratch.bytes("edges.csv"));
    let both = links.lines().skip(1).fold("source,target\n".to_string(), |out, line| {
        let (a, b) = line.split_once(',').unwrap();
        out + &format!("{a},{b}\n{b},{a}\n")
    });
    scratch.write("both.csv", both);
    let json = scratch.json(&format!("compare both.csv --labels labels.csv {QUICK}"));
    assert_eq!((&json["verdict"], &json["asymmetry"]["reciprocated"]), (&"does not pay".into(), &1.0.into()));
    let labels: Vec<String> = text(&scratch.bytes("labels.csv")).lines().skip(1).map(String::from).collect();
    let class = |i: usize| labels[(i * 37 + 11) % labels.len()].split_once(',').unwrap().1.to_string();
    let mut turned = String::from("node,label\n");
    labels.iter().enumerate().for_each(|(i, line)| {
        let _ = writeln!(turned, "{},{}", line.split_once(',').unwrap().0, class(i));
    });
    scratch.write("turned.csv", turned);
    let found = scratch.ok(&format!("compare edges.csv --labels turned.csv {QUICK}"));
    assert!(found.contains("Asymmetry does not pay") && found.contains("next: lopsided "), "{found}");
}

#[test]
fn rows_of_a_table_are_compared_too() {
    let scratch = Scratch::new();
    let mut table = String::from("a,b,c,kind\n");
    for i in 0..90 {
        let v = |k: usize| ((i * 7919 + k * 104_729 + i * i * (k + 3)) % 997) as f64 / 500.0;
        let _ = writeln!(table, "{},{},{},{}", v(0) + (i % 3) as f64 * 2.0, v(1), v(2), ["x", "y", "z"][i % 3]);
    }
    scratch.write("t.csv", table);
    let json = scratch.json(&format!("compare t.csv --target kind {QUICK}"));
    assert_eq!(json["methods"].as_array().unwrap().len(), 6);
    assert!(json["asymmetry"]["sne"].as_f64().unwrap() > 0.0 && json["verdict"].is_string());
    scratch.ok(&words(json["next_command"].as_str().unwrap()));
    let json = scratch.json(&format!("compare t.csv --target b {QUICK} --drop kind"));
    assert_eq!(json["measure"], "R²");
}

#[test]
fn threads_do_not_matter_and_plans_compute_nothing() {
    let scratch = graph();
    let scores = |words: &str| {
        let json = scratch.json(&format!("compare edges.csv --labels labels.csv {QUICK} {words}"));
        json["methods"].as_array().unwrap().iter().map(|m| m["scores"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(scores("--threads 1"), scores("--threads 3"));
    let plan = scratch.json("compare edges.csv --labels labels.csv --dry-run --report p.html");
    assert!(plan["dry_run"] == true && plan["seconds"].as_f64().unwrap() > 0.0, "{plan}");
    assert!(!scratch.path("p.html").exists());
}

#[test]
fn what_cannot_be_compared_is_said() {
    let scratch = graph();
    refused(&scratch, "compare edges.csv", &["has no classes or values to learn"]);
    let compare = "compare edges.csv --labels labels.csv";
    refused(&scratch, &format!("{compare} --folds 1"), &["`folds` is 1 but must be between 2 and 100"]);
    refused(&scratch, &format!("{compare} --repeats 1000000000"), &["`repeats` is 1000000000"]);
    refused(&scratch, &format!("{compare} --inner 18446744073709551615"), &["`inner` is 18446744073709551615"]);
    refused(&scratch, &format!("{compare} --margin -1"), &["`margin` is -1"]);
    refused(&scratch, &format!("{compare} --margin nan"), &["`margin` is NaN"]);
    refused(&scratch, &format!("{compare} --report edges.csv"), &["edges.csv", "which is read"]);
    refused(&scratch, &format!("{compare} --report none/p.html"), &["none/p.html"]);
    scratch.write("few.csv", "node,label\n0,a\n1,b\n2,a\n");
    refused(&scratch, "compare edges.csv --labels few.csv", &["`labels` is 3", "at least 15 samples"]);
}

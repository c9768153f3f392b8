use super::{Scratch, text};
use std::io::Read;
use std::process::Stdio;

#[test]
fn inspect_tells_what_a_model_is() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.ok("embed edges.csv --kernel rbf --gamma 0.5 --center --rank 3 --scaling full --model m");
    let json = scratch.json("inspect m");
    assert_eq!((&json["estimator"], &json["kernel"]), (&"kernel-svd".into(), &"rbf".into()));
    assert_eq!((&json["params"]["gamma"], &json["centered"]), (&0.5.into(), &true.into()));
    assert_eq!((&json["scaling"], &json["format"]), (&"full".into(), &1.into()));
    assert_eq!((&json["n"], &json["rank"]), (&60.into(), &3.into()));
    assert!(scratch.ok("inspect m").contains("60 x 60 nodes of a graph"));
}

#[test]
fn transform_places_new_nodes() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.ok("embed edges.csv --rank 3 --model m");
    scratch.write("new.csv", "source,target\nn1,visitor\nn5,visitor\nvisitor,n2\nstranger,visitor\n");
    let json = scratch.json("transform m --rows new.csv --out t.csv");
    let csv = text(&scratch.bytes("t.csv"));
    assert!(csv.lines().any(|line| line.starts_with("visitor,")), "{csv}");
    assert!(json["notes"][0].as_str().unwrap().ends_with("left out: 2"), "{json}");
    assert!(json["notes"][1].as_str().unwrap().starts_with("1 new"), "{json}");
}

#[test]
fn lists_name_everything() {
    let scratch = Scratch::new();
    let kernels = scratch.ok("list kernels");
    for name in ["linear", "poly", "rbf", "laplacian", "sne", "t", "kl", "precomputed"] {
        assert!(kernels.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}\n{kernels}");
    }
    assert_eq!(scratch.json("list solvers")["solvers"][0]["name"], "auto");
    assert!(scratch.ok("list estimators").starts_with("kernel-svd"));
    let listed = scratch.json("list estimators");
    let members = listed["estimators"].as_array().unwrap();
    let names: Vec<_> = members.iter().map(|member| member["name"].as_str().unwrap()).collect();
    assert_eq!(names[7..], ["embed", "bicluster", "kpca", "features"]);
    assert!(members.iter().all(|member| member["can"]["predict"].is_boolean()), "{listed}");
    // Everything that is offered is a word of the command that is named.
    for member in members.iter().filter(|member| member["command"] == "fit") {
        let output = scratch.run(&format!("fit {} nowhere.csv --dry-run", member["name"].as_str().unwrap()));
        assert!(text(&output.stderr).contains("nowhere.csv"), "{member}: {}", text(&output.stderr));
    }
    assert_eq!(scratch.json("list samplers")["samplers"][0]["name"], "uniform");
    assert!(scratch.ok("list learners").starts_with("gd-trace"));
}

#[test]
fn completions_version_and_usage() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(scratch.ok(&format!("completions {shell}")).contains("embed"));
    }
    assert_eq!(scratch.ok("--version"), format!("lopsided {}\n", env!("CARGO_PKG_VERSION")));
    for command in [
        "embed",
        "bicluster",
        "transform",
        "inspect",
        "list",
        "completions",
        "demo",
        "reproduce",
        "fit",
        "predict",
        "links",
        "compare",
        "man",
    ] {
        assert!(scratch.ok(&format!("help {command}")).contains("Examples:"), "{command}");
    }
    assert_eq!(scratch.run("embed").status.code(), Some(2));
    assert_eq!(scratch.run("frobnicate").status.code(), Some(2));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let scratch = Scratch::new();
    let mut child = scratch.command("completions bash").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(talk, "");
}

#[test]
fn the_demo_shows_that_direction_matters() {
    let scratch = Scratch::new();
    let json = scratch.json("demo --out show");
    let score = |at: usize| json["methods"][at]["micro_f1"].as_f64().unwrap();
    let chance = json["chance"].as_f64().unwrap();
    assert!(score(1) < chance + 0.1, "{json}");
    assert!(score(2) > chance + 0.3, "{json}");
    let page = text(&scratch.bytes("show/demo.html"));
    assert!(page.contains("As sources of links") && page.contains("KPCA"));
    assert_eq!(scratch.files(), ["show"]);
    let links = text(&scratch.bytes("show/edges.csv"));
    assert_eq!(links.lines().count() as u64 - 1, json["links"].as_u64().unwrap());
    let classes = text(&scratch.bytes("show/classes.csv"));
    assert_eq!(classes.lines().count() as u64 - 1, json["nodes"].as_u64().unwrap());
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new();
    scratch.ok("man --out pages");
    let page = text(&scratch.bytes("pages/lopsided-compare.1"));
    assert!(page.contains(".TH lopsided\\-compare 1") || page.contains(".TH lopsided-compare 1"), "{page}");
    assert!(page.contains("asymmetry pays") && page.contains("Examples:") && page.contains("\\-\\-repeats"), "{page}");
    let names: Vec<String> = std::fs::read_dir(scratch.path("pages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.len() > 14 && names.contains(&"lopsided.1".to_string()), "{names:?}");
    assert!(scratch.run("man --out pages/lopsided.1").status.code() == Some(2));
}

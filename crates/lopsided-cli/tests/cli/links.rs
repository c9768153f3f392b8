use super::Scratch;
use super::bad_input::refused;
use super::reproduce::write_graph;

#[test]
fn held_out_links_are_predicted_by_both_methods() {
    let scratch = Scratch::new();
    write_graph(&scratch.path("g"), 150);
    let command = "links g/edges.csv --rank 6 --trials 3 --test-share 0.2 --kernel precomputed --solver exact";
    let mut json = scratch.json(command);
    let links = json["links"].as_f64().unwrap();
    assert_eq!((&json["n"], &json["trials"]), (&150.into(), &3.into()));
    assert_eq!(json["held_out"].as_f64().unwrap(), (0.2 * links).round());
    let methods = json["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 7);
    assert_eq!((&methods[6]["method"], &json["chosen"]["scores"].as_array().unwrap().len()), (&"links".into(), &3));
    let auroc = |at: usize| methods[at]["auroc"]["mean"].as_f64().unwrap();
    for at in 0..3 {
        // The classes show in the direction of the links, so that the matrix of links predicts better than chance.
        assert!(auroc(at) > 0.55, "{json}");
        // With the matrix itself as G both methods are the same.
        assert!((auroc(at) - auroc(at + 3)).abs() < 1e-9, "{json}");
    }
    let other = scratch.json("links g/edges.csv --rank 6 --trials 2 --test-share 0.2 --kernel rbf --gamma-factor 5");
    assert!((other["methods"][5]["auroc"]["mean"].as_f64().unwrap() - auroc(5)).abs() > 1e-3, "{other}");
    for method in methods {
        let precision = method["average_precision"]["mean"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&precision) && method["auroc"]["deviation"].is_number(), "{method}");
    }
    let again = scratch.json(&format!("{command} --threads 1"))["methods"].take();
    assert_eq!(json["methods"].take(), again);
    let text = scratch.ok(command);
    assert!(text.contains("kernel SVD  U Σ^0.5 Vᵀ") && text.contains("average precision"), "{text}");
}

/// Groups that link to the next one only: two steps lead past it, so that nearness by the kernel is below chance there.
#[test]
fn links_between_groups_are_found_by_default() {
    let scratch = Scratch::new();
    let next = |i: usize| (0..240).filter(move |j| j % 4 == (i + 1) % 4 && (i * 7 + j * 13) % 5 < 2);
    let links = (0..240).flat_map(|i| next(i).map(move |j| format!("{i},{j}\n"))).collect::<String>();
    scratch.write("cycle.csv", format!("source,target\n{links}"));
    let json = scratch.json("links cycle.csv --trials 2");
    let auroc = |line: &serde_json::Value| line["auroc"]["mean"].as_f64().unwrap();
    assert!(auroc(&json["methods"][3]) < 0.5, "{json}");
    assert!(auroc(&json["chosen"]) > 0.8, "{json}");
    assert_eq!(json["chosen"]["scores"], serde_json::json!(["U UᵀAV Vᵀ", "U UᵀAV Vᵀ"]));
    // What is drawn at random has nothing to find, and that is said.
    let line = |i: usize| format!("{},{}\n", (i * i * 31 + 7 * i) % 97, (i * 57 + i * i * i) % 89);
    scratch.write("noise.csv", format!("source,target\n{}", (0..400).map(line).collect::<String>()));
    let json = scratch.json("links noise.csv --trials 3");
    let said =
        json["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains("no better than chance"));
    assert_eq!(said, auroc(&json["chosen"]) <= 0.5, "{json}");
}

#[test]
fn shares_and_inputs_that_do_not_fit() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.table("x.csv", 6, 5);
    for (command, words) in [
        ("edges.csv --test-share 0", &["`test-share` is 0", "above 0"][..]),
        ("edges.csv --test-share 1.5", &["`test-share` is 1.5"]),
        ("edges.csv --test-share 0.0001", &["`share` is 0.0001", "links are taken out"]),
        ("edges.csv --trials 0", &["`trials` is 0"]),
        ("edges.csv --trials 1001", &["`trials` is 1001 but must be between 1 and 1000"]),
        ("edges.csv --rank 61", &["`rank` is 61"]),
        ("edges.csv --scaling full", &["`scaling` is full", "left out"]),
        ("x.csv", &["x.csv", "a graph is needed"]),
        ("missing.csv", &["missing.csv", "no such file"]),
    ] {
        refused(&scratch, &format!("links {command}"), words);
    }
}

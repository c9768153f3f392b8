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
    assert_eq!(methods.len(), 6);
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
        ("edges.csv --rank 61", &["`rank` is 61"]),
        ("edges.csv --scaling full", &["`scaling` is full", "left out"]),
        ("x.csv", &["x.csv", "a graph is needed"]),
        ("missing.csv", &["missing.csv", "no such file"]),
    ] {
        refused(&scratch, &format!("links {command}"), words);
    }
}

use super::bad_input::refused;
use super::{Scratch, largest_difference, npy, text};
use std::fmt::Write as _;

/// 24 rows in three kinds and 10 columns in two kinds, with names for the columns.
fn blocks(scratch: &Scratch) {
    let mut csv = (0..10).map(|j| format!("term{j}")).collect::<Vec<_>>().join(",") + "\n";
    let level = [[4.0, 0.0], [0.0, 4.0], [4.0, 4.0]];
    for i in 0..24 {
        let value = |j: usize| level[i % 3][j % 2] + ((i * 7 + j * 5) % 11) as f64 / 40.0;
        let _ = writeln!(csv, "{}", (0..10).map(|j| value(j).to_string()).collect::<Vec<_>>().join(","));
    }
    scratch.write("a.csv", csv);
    let labels: Vec<String> = (0..24).map(|i| format!("{i},kind{}", i % 3)).collect();
    scratch.write("labels.csv", format!("node,label\n{}\n", labels.join("\n")));
}

const PLAIN: &str =
    "bicluster a.csv --target none --row-clusters 3 --col-clusters 2 --kernel rbf --rank 4 --no-unit-rows";

#[test]
fn planted_blocks_are_found_and_written() {
    let scratch = Scratch::new();
    blocks(&scratch);
    let json = scratch
        .json(&format!("{PLAIN} --labels labels.csv --row-labels-out rows.csv --col-labels-out cols.csv --threads 2"));
    assert!((json["nmi"].as_f64().unwrap() - 1.0).abs() < 1e-12, "{json}");
    assert!((json["ari"].as_f64().unwrap() - 1.0).abs() < 1e-12, "{json}");
    assert_eq!((&json["n"], &json["m"], &json["compat"]), (&24.into(), &10.into(), &"pca".into()));
    assert_eq!(json["row_clusters"].as_array().unwrap().len(), 24);
    assert_eq!((&json["col_clusters"][0], &json["col_clusters"][1]), (&0.into(), &1.into()));
    for number in ["coherence", "seconds", "rank", "gamma"] {
        assert!(json[number].is_number(), "{number}: {json}");
    }
    assert!(text(&scratch.bytes("rows.csv")).starts_with("id,cluster\n0,0\n1,1\n2,2\n3,0\n"));
    assert!(text(&scratch.bytes("cols.csv")).starts_with("id,cluster\nterm0,0\nterm1,1\nterm2,0\n"));
    assert!(scratch.ok(PLAIN).contains("3 of size 8, 8, 8"));
}

#[test]
fn the_model_of_a_biclustering_is_an_embedding_with_clusters() {
    let scratch = Scratch::new();
    blocks(&scratch);
    let json = scratch.json(&format!("{PLAIN} --model m"));
    assert_eq!(json["files"][0], "m");
    let inside = scratch.json("inspect m");
    assert_eq!((&inside["rank"], &inside["kernel"]), (&4.into(), &"rbf".into()), "{inside}");
    scratch.ok("transform m --rows a.csv --target none --out u.csv");
    let recipe = scratch.ok("inspect m --recipe");
    assert!(recipe.contains("\"row-clusters\": 3"), "{recipe}");
}

#[test]
fn labels_may_be_missing_but_not_strange() {
    let scratch = Scratch::new();
    blocks(&scratch);
    assert_eq!(scratch.json(PLAIN)["nmi"], serde_json::Value::Null);
    scratch.write("few.csv", "node,label\n0,a\n1,b\n2,c\n4,b\n");
    let json = scratch.json(&format!("{PLAIN} --labels few.csv"));
    assert!((json["nmi"].as_f64().unwrap() - 1.0).abs() < 1e-12, "{json}");
    assert!(json["notes"][0].as_str().unwrap().ends_with("20 of 24"), "{json}");
    scratch.write("strange.csv", "node,label\n0,a\n77,b\n");
    let output = scratch.run(&format!("{PLAIN} --labels strange.csv"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("labels `77`, but the samples are 0 to 23"));
}

#[test]
fn every_compatibility_and_the_matrix_itself_can_be_clustered() {
    let scratch = Scratch::new();
    blocks(&scratch);
    for options in ["--compat pinv", "--compat pca --compat-width 3", "--compat random --compat-width 60", "--center"] {
        let json = scratch.json(&format!("{PLAIN} {options}"));
        assert_eq!((&json["converged"], &json["rank"]), (&true.into(), &4.into()), "{options}");
    }
    let json = scratch.json("bicluster a.csv --target none --row-clusters 3 --kernel precomputed --rank 2");
    assert_eq!((&json["compat"], &json["gamma"]), (&"none".into(), &serde_json::Value::Null));
}

#[test]
fn impossible_requests_are_refused_in_one_sentence() {
    let scratch = Scratch::new();
    blocks(&scratch);
    scratch.graph();
    for (words, expected) in [
        (
            "a.csv --target none --row-clusters 25",
            "`row-clusters` is 25 but must be between 1 and the number of rows, 24",
        ),
        ("a.csv --target none --row-clusters 3 --col-clusters 0", "`col-clusters` is 0"),
        ("a.csv --target none --row-clusters 3 --restarts 0", "`restarts` is 0"),
        ("a.csv --target none --row-clusters 3 --rank 11", "`rank` is 11"),
        ("a.csv --target none --row-clusters 3 --compat none", "24 x 10"),
        ("a.csv --target none --row-clusters 3 --compat pac", "did you mean `pca`?"),
        ("a.csv --target none --row-clusters 3 --compat-width 11", "between 1 and min(n, m) = 10"),
        ("a.csv --target none --row-clusters 3 --kernel precomputed --compat pca", "none for a precomputed kernel"),
        ("edges.csv --row-clusters 2", "graph"),
        ("a.csv --row-clusters 2 --row-labels-out nowhere/x.csv", "nowhere/x.csv"),
        ("a.csv --row-clusters 2 --row-labels-out x.csv --col-labels-out x.csv", "another file"),
    ] {
        refused(&scratch, &format!("bicluster {words}"), &[expected]);
    }
    assert_eq!(scratch.files(), ["a.csv", "edges.csv", "labels.csv"]);
}

#[test]
fn a_matrix_of_any_shape_is_embedded_and_its_rows_and_columns_placed_again() {
    for (n, d) in [(12, 7), (7, 12)] {
        let scratch = Scratch::new();
        scratch.table("a.csv", n, d);
        let table = text(&scratch.bytes("a.csv"));
        let cells: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
        let column = |j: usize| cells.iter().map(|row| row[j]).collect::<Vec<_>>().join(",");
        scratch.write("t.csv", (0..d).map(column).collect::<Vec<_>>().join("\n"));
        for compat in ["pinv", "pca", "random", "pca --compat-width 4"] {
            scratch.ok(&format!(
                "embed a.csv --target none --kernel rbf --gamma median --center --rank 3 --tol 1e-10 \
                 --compat {compat} --rows-out r.npy --cols-out c.npy --model m"
            ));
            scratch.ok("transform m --rows a.csv --cols t.csv --target none --out p.npy");
            for (trained, placed) in [("r.npy", "p.rows.npy"), ("c.npy", "p.cols.npy")] {
                let (_, values) = npy(&scratch.path(trained));
                assert!(largest_difference(&values, &npy(&scratch.path(placed)).1) < 1e-8, "{compat} {placed}");
            }
        }
        let output = scratch.run("transform m --rows t.csv --target none --out p.npy");
        assert!(text(&output.stderr).contains(&format!("the width of the new rows is {n} but must be {d}")));
    }
}

#[test]
fn compatibility_is_refused_where_nothing_needs_it() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.table("x.csv", 6, 4);
    for (words, expected) in [
        ("edges.csv --compat pca", "none for a graph"),
        ("x.csv --cols x.csv --target none --compat pca", "none with --cols"),
        ("x.csv --target none --kernel precomputed --compat pinv", "none for a precomputed kernel"),
        ("x.csv --target none --compat-width 3", "`compat-width` is 3"),
    ] {
        refused(&scratch, &format!("embed {words}"), &[expected]);
    }
    assert!(text(&scratch.run("embed x.csv --target none").stderr).contains("--compat pca"));
}

use super::bad_input::refused;
use super::{Scratch, largest_difference, npy, text};
use std::fmt::Write as _;

/// A sparse table with labels, an empty row and columns that are used little.
fn sparse_table(rows: usize) -> String {
    let mut out = String::new();
    for i in 0..rows {
        out.push_str(if i % 2 == 0 { "+1" } else { "-1" });
        let mut columns: Vec<usize> = (0..i % 6).map(|k| 1 + (i * 7 + k * k * 11 + (i % 2) * 30) % 60).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.iter().for_each(|j| write!(out, " {j}:{}", 0.25 * (1 + j % 3) as f64).unwrap());
        out.push('\n');
    }
    out
}

fn gzip(scratch: &Scratch, name: &str) {
    let done = std::process::Command::new("gzip").arg("-k").arg(scratch.path(name)).status().unwrap();
    assert!(done.success());
}

const OPTIONS: &str =
    "--stream --solver nystrom --compat random --compat-width 40 --rows-sample 50 --cols-sample 30 --rank 4 --tol 0.9";

#[test]
fn a_streamed_file_is_embedded_the_same_plain_and_packed_and_by_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(300));
    gzip(&scratch, "a.svm");
    let words = format!("embed a.svm {OPTIONS} --kernel rbf --rows-out u.npy --cols-out v.npy --threads 1 --json");
    let json: serde_json::Value = serde_json::from_str(&scratch.rough(&words)).unwrap();
    assert_eq!((&json["n"], &json["m"], &json["rank"]), (&300.into(), &60.into(), &4.into()));
    assert_eq!((&json["operator"], &json["compat_width"]), (&"streamed".into(), &40.into()));
    assert!(json["passes"].as_u64().unwrap() >= 5 && json["error_estimate"].as_f64().unwrap() < 0.5, "{json}");
    assert_eq!(npy(&scratch.path("u.npy")).0, "(300, 4)");
    scratch.rough(&format!("embed a.svm.gz {OPTIONS} --kernel rbf --rows-out u2.npy --cols-out v2.npy --threads 3"));
    assert_eq!(scratch.bytes("u.npy"), scratch.bytes("u2.npy"));
    assert_eq!(scratch.bytes("v.npy"), scratch.bytes("v2.npy"));
    scratch.rough(&format!("embed a.svm {OPTIONS} --kernel rbf --rows-out u3.npy --memory 2MB --scaling full"));
    let (u, scaled) = (npy(&scratch.path("u.npy")).1, npy(&scratch.path("u3.npy")).1);
    let sigma: Vec<f64> = json["singular_values"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
    let expected: Vec<f64> = u.iter().enumerate().map(|(at, u)| u * sigma[at % 4]).collect();
    assert!(largest_difference(&expected, &scaled) < 1e-10);
}

#[test]
fn coordinates_are_exact_by_default_and_bits_the_same_by_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(300));
    let options = "--stream --solver nystrom --rows-sample 50 --cols-sample 30 --rank 4 --tol 0.9 --kernel rbf";
    let words = |name: &str, rest: &str| format!("embed a.svm {options} --rows-out {name} --json {rest}");
    let json: serde_json::Value = serde_json::from_str(&scratch.rough(&words("u.npy", "--threads 1"))).unwrap();
    assert_eq!(json["compat_width"], 60);
    scratch.rough(&words("u2.npy", "--threads 3 --memory 2MB --compat gram"));
    assert_eq!(scratch.bytes("u.npy"), scratch.bytes("u2.npy"));
}

#[test]
fn a_streamed_embedding_has_a_page() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(120));
    scratch.rough(&format!("embed a.svm {OPTIONS} --kernel rbf --report page.html"));
    let page = text(&scratch.bytes("page.html"));
    for part in
        ["Embedding of a.svm", "Map of the rows", "Map of the columns", "Singular values of G", "passes over the file"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn streamed_fits_have_a_page() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(120));
    for (words, parts) in [
        ("fit krr a.svm --stream --landmarks 20 --penalty 1", ["Who is taken for whom", "Model of a.svm"]),
        ("fit krr a.svm --stream --landmarks 20 --penalty 1 --solver cg", ["predicts 2 classes", "Model of a.svm"]),
        ("fit kpca a.svm --stream --landmarks 20 --rank 3", ["Variance of each component", "Components of a.svm"]),
    ] {
        scratch.rough(&format!("{words} --model m --report page.html"));
        let page = text(&scratch.bytes("page.html"));
        parts.iter().for_each(|part| assert!(page.contains(part), "{words}: {part}"));
    }
}

#[test]
fn the_default_kernel_says_that_its_row_sums_are_estimates() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(120));
    let output = scratch.run(&format!("embed a.svm {OPTIONS}"));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("row sums of the kernel are estimated from 30 columns"));
    assert!(text(&output.stdout).contains("streamed: "), "{}", text(&output.stdout));
}

#[test]
fn a_faulty_line_is_named_and_nothing_is_written() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(3000) + "+1 5:1 4:1\n");
    let output = scratch.run(&format!("embed a.svm {OPTIONS} --rows-out u.npy"));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a.svm:3001: index 4 follows 5; indices must ascend"));
    assert_eq!(scratch.files(), ["a.svm"]);
}

#[test]
fn options_that_mean_nothing_out_of_core_are_refused() {
    let scratch = Scratch::new();
    scratch.write("a.svm", sparse_table(100));
    scratch.write("a.csv", "1,2\n3,4\n");
    for (words, message) in [
        ("a.svm --stream --model m", "`model` is given but must be left out with --stream"),
        ("a.svm --stream --center", "`center` is given but must be left out with --stream"),
        ("a.svm --stream --compat pca", "`compat` is pca but must be gram or random with --stream"),
        ("a.svm --stream --compat-width 9", "`compat-width` is 9 but must be left out with gram"),
        ("a.svm --stream --solver lanczos", "`solver` is lanczos but must be nystrom with --stream"),
        ("a.svm --stream --solver nystrom --sampler norms", "`sampler` is norms but must be left out with --stream"),
        ("a.csv --stream", "must be an svmlight file"),
        ("a.svm --stream --solver nystrom --rows-sample 101", "`rows-sample` is 101 but must be between 1 and n = 100"),
        ("a.svm --stream --memory 1kB", "the embedding out of core needs"),
        ("a.svm --stream --kernel precomputed", "`kernel` is precomputed"),
        ("- --stream --format svmlight", "a regular file"),
    ] {
        refused(&scratch, &format!("embed {words}"), &[message]);
    }
}

#[test]
fn the_large_scale_table_runs_on_made_and_on_given_files() {
    let scratch = Scratch::new();
    let options = "--landmarks 60 --compat-width 50 --rank 8 --trials 2 --gamma-factors 1,3";
    let json = scratch.json(&format!("reproduce ksvd-7 --generate 1500,400,10 --out sets/made {options}"));
    let set = &json["sets"][0];
    assert_eq!((&set["name"], &set["rows"], &set["measure"]), (&"made".into(), &1500.into(), &"auroc".into()));
    let methods = set["methods"].as_array().unwrap();
    assert_eq!(methods.iter().map(|m| m["method"].as_str().unwrap()).collect::<Vec<_>>(), ["KPCA", "KSVD"]);
    for method in methods {
        let score = method["score"]["mean"].as_f64().unwrap();
        assert!((0.5..=0.95).contains(&score), "{method}");
        assert!(method["paper"].is_null());
    }
    assert!(set["passes"].as_u64().unwrap() > 8 && set["error_estimate"].as_f64().unwrap() < 1.0);
    let table = scratch.ok(&format!("reproduce ksvd-7 --data sets {options} --quiet"));
    assert!(table.starts_with("made: 1500 x 400"), "{table}");
    let output = scratch.run("reproduce ksvd-7 --generate 10,5");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("three whole numbers"), "{}", text(&output.stderr));
    assert_eq!(scratch.run("reproduce ksvd-7 --generate 10,5,15").status.code(), Some(2));
}

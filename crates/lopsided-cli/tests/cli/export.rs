//! Models for other runtimes. What the graphs compute is told by onnxruntime, in `python/tests/test_onnx.py`.

use super::{Scratch, text};
use std::fmt::Write as _;

/// A table with classes and one with values.
fn tables() -> Scratch {
    let scratch = Scratch::new();
    let (mut classes, mut values) = (String::from("a,b,kind\n"), String::from("a,b,y\n"));
    for i in 0..60 {
        let (a, b) = (f64::from(i * 7 % 60) / 10.0, f64::from(i * i % 37) / 9.0);
        writeln!(classes, "{a},{b},{}", ["red", "green", "blue"][i as usize % 3]).unwrap();
        writeln!(values, "{a},{b},{}", a.sin() + b).unwrap();
    }
    scratch.write("classes.csv", classes);
    scratch.write("values.csv", values);
    scratch
}

#[test]
fn inputs_and_outputs_are_told_and_the_file_is_the_same_every_time() {
    let scratch = tables();
    for (machine, outputs) in [
        ("svm classes.csv", vec!["label", "scores"]),
        ("svm classes.csv --probability", vec!["label", "scores", "probabilities"]),
        ("logistic classes.csv --approach lla --landmarks 10", vec!["label", "scores", "probabilities"]),
        ("ls-svm classes.csv", vec!["label", "scores"]),
        ("krr values.csv --precision f32", vec!["values"]),
    ] {
        scratch.rough(&format!("fit {machine} --penalty 1 --kernel rbf --model m"));
        let json = scratch.json("export m --onnx m.onnx");
        assert_eq!((&json["input"], &json["features"], &json["opset"]), (&"X".into(), &2.into(), &17.into()));
        assert_eq!(json["outputs"], serde_json::json!(outputs), "{machine}");
        let first = scratch.bytes("m.onnx");
        assert_eq!(json["bytes"], first.len());
        let told = scratch.ok("export m --onnx m.onnx");
        assert!(told.contains("`X`, 2 columns") && told.contains("ONNX opset 17"), "{told}");
        assert!(first == scratch.bytes("m.onnx"), "{machine}");
    }
}

#[test]
fn what_is_no_sum_of_kernels_is_refused_in_a_sentence_and_nothing_is_written() {
    let scratch = tables();
    scratch.graph();
    scratch.write("labels.csv", (0..59).fold(String::from("node,label\n"), |out, i| format!("{out}n{i},{}\n", i % 2)));
    for (command, reason) in [
        ("embed edges.csv --rank 3", "it does not predict"),
        ("fit kpca values.csv --rank 2", "it does not predict"),
        ("fit kernel-svd classes.csv --rank 2 --penalty 1", "no sum of kernels"),
        (
            "fit ask-ls classes.csv --kernel sne --penalty 1",
            "its kernel is `sne` but must be rbf, linear, poly or laplacian",
        ),
        ("fit ls-svm edges.csv --labels labels.csv --penalty 1", "learned from a graph"),
    ] {
        scratch.rough(&format!("{command} --model m"));
        let output = scratch.run("export m --onnx m.onnx");
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {told}");
        assert!(told.starts_with("error: the model cannot be exported to ONNX: ") && told.contains(reason), "{told}");
        assert!(!scratch.path("m.onnx").exists() && told.lines().count() == 1, "{told}");
    }
    let output = scratch.run("export m --onnx no/such/folder.onnx");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

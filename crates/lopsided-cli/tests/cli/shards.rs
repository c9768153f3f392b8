//! Parts of passes, merged, are the bytes of `fit --stream`.

use super::bad_input::refused;
use super::{Scratch, text};
use std::fmt::Write as _;

const ROWS: usize = 700;

fn cell(i: usize, j: usize) -> f64 {
    ((i * (7 + 2 * j) + 3 * j * j) % 53) as f64 / 26.0 - 1.0
}

fn rows(scratch: &Scratch, name: &str, range: std::ops::Range<usize>) {
    let shape = format!("({}, 3)", range.len());
    scratch.array(name, &shape, range.flat_map(|i| (0..3).map(move |j| cell(i, j))));
}

/// Tables with values, classes as numbers and as words, and several values.
fn tables() -> Scratch {
    let scratch = Scratch::new();
    rows(&scratch, "x.npy", 0..ROWS);
    let value = |i: usize| (3.0 * cell(i, 0)).sin() + cell(i, 1);
    scratch.array("y.npy", &format!("({ROWS},)"), (0..ROWS).map(value));
    scratch.array("c.npy", &format!("({ROWS},)"), (0..ROWS).map(|i| f64::from(u8::from(value(i) > 0.2))));
    scratch.array("t.npy", &format!("({ROWS}, 2)"), (0..ROWS).flat_map(|i| [value(i), cell(i, 2)]));
    let (mut words, mut sparse) = (String::from("row,label\n"), String::new());
    for i in 0..ROWS {
        let word = ["low", "middle", "high"][usize::from(value(i) > -0.3) + usize::from(value(i) > 0.6)];
        writeln!(words, "{i},{word}").unwrap();
        writeln!(sparse, "{} {}:1 {}:{}", i % 2, 1 + i % 7, 8 + i % 11, cell(i, 0) + 2.0).unwrap();
    }
    scratch.write("w.csv", words);
    scratch.write("s.svm", sparse);
    scratch
}

/// All passes by shards, in an order that changes; the number of passes.
fn by_shards(scratch: &Scratch, words: &str, count: usize, model: &str) -> usize {
    for pass in 0..60 {
        let state = if pass == 0 { String::new() } else { "--state next.state".into() };
        for shard in 1..=count {
            scratch.ok(&format!("part {words} {state} --shard {shard}/{count} --out {shard}.part --threads {shard}"));
        }
        let mut names: Vec<String> = (1..=count).map(|shard| format!("{shard}.part")).collect();
        names.rotate_left(pass % count);
        let merged = scratch.run(&format!("merge {} --model {model} --state next.state", names.join(" ")));
        match merged.status.code() {
            Some(0) => return pass + 1,
            Some(1) => {
                assert!(text(&merged.stdout).contains(&format!("pass {}", pass + 2)), "{}", text(&merged.stdout));
            }
            _ => panic!("{words}: {}", text(&merged.stderr)),
        }
    }
    panic!("{words}: no end");
}

#[test]
fn shards_that_are_merged_are_the_bytes_of_one_process() {
    let scratch = tables();
    for (words, passes) in [
        ("krr x.npy --labels y.npy --piece 100 --landmarks 40", 2),
        ("krr x.npy --labels t.npy --piece 100 --landmarks 40 --scale none --precision f32", 2),
        ("krr x.npy --labels w.csv --piece 64 --landmarks 40", 2),
        ("krr s.svm --piece 90 --landmarks 40 --penalty 3", 2),
        ("svm x.npy --labels c.npy --piece 100 --landmarks 40 --scale minmax", 0),
        ("logistic x.npy --labels w.csv --piece 100 --landmarks 30 --penalty 5", 0),
        ("kpca x.npy --piece 100 --landmarks 40 --rank 4", 2),
        ("features x.npy --piece 100 --landmarks 40 --seed 5", 1),
    ] {
        let fit = scratch.json(&format!("fit {words} --stream --model whole.model"));
        assert!(fit["converged"] == true && fit["n_train"] == ROWS, "{words}: {fit}");
        let taken = by_shards(&scratch, words, 3, "merged.model");
        assert_eq!(fit["passes"], taken, "{words}");
        assert!(passes == 0 || taken == passes, "{words}: {taken} passes");
        assert_eq!(scratch.bytes("whole.model"), scratch.bytes("merged.model"), "{words}");
    }
    // What comes out is a model as any other.
    let predicted = scratch.ok("fit logistic x.npy --labels w.csv --stream --landmarks 30 --model m");
    assert!(predicted.contains("3 classes"), "{predicted}");
    let judged = scratch.json("predict m x.npy --labels w.csv");
    assert!(judged["accuracy"].as_f64().unwrap() > 0.8, "{judged}");
}

#[test]
fn files_and_folders_are_one_table() {
    let scratch = tables();
    rows(&scratch, "1.npy", 0..130);
    rows(&scratch, "2.npy", 130..ROWS);
    scratch.ok("fit kpca x.npy --stream --piece 100 --landmarks 30 --rank 3 --model whole.model");
    assert_eq!(by_shards(&scratch, "kpca 1.npy 2.npy --piece 100 --landmarks 30 --rank 3", 2, "parts.model"), 2);
    assert_eq!(scratch.bytes("whole.model"), scratch.bytes("parts.model"));
    // Parquet files written by the program itself: the first column is the row's name.
    std::fs::create_dir(scratch.path("folder")).unwrap();
    for (name, file) in [("1.npy", "folder/a.parquet"), ("2.npy", "folder/b.parquet")] {
        scratch.rough(&format!("embed {name} --kernel precomputed --rank 2 --rows-out {file}"));
    }
    let words = "krr folder --piece 100 --landmarks 30 --penalty 4 --task values --drop id";
    let fit = scratch.run(&format!("fit {words} --stream --model whole.model --json"));
    if fit.status.success() {
        by_shards(&scratch, words, 3, "parts.model");
        assert_eq!(scratch.bytes("whole.model"), scratch.bytes("parts.model"));
    } else {
        panic!("{}", text(&fit.stderr));
    }
}

#[test]
fn parts_merge_by_and_by() {
    let scratch = tables();
    let words = "features x.npy --piece 50 --landmarks 20";
    for shard in 1..=4 {
        scratch.ok(&format!("part {words} --shard {shard}/4 --out {shard}.part"));
    }
    let both = scratch.json("merge 3.part 1.part --out odd.part");
    assert_eq!(both["rows"], serde_json::json!([[0, 150], [350, 500]]), "{both}");
    scratch.ok("merge 4.part 2.part --out even.part");
    scratch.ok("merge even.part odd.part --model merged.model");
    scratch.ok(&format!("fit {words} --stream --model whole.model"));
    assert_eq!(scratch.bytes("whole.model"), scratch.bytes("merged.model"));
}

#[test]
fn what_cannot_be_merged_is_named_and_nothing_is_written() {
    let scratch = tables();
    let part = |words: &str, shard: &str, out: &str| {
        scratch.ok(&format!(
            "part krr x.npy --labels y.npy --piece 100 --landmarks 20 {words} --shard {shard} --out {out}"
        ));
    };
    part("", "1/3", "a");
    part("", "2/3", "b");
    part("", "3/3", "c");
    part("--penalty 2", "3/3", "other");
    part("--seed 4", "3/3", "seeded");
    scratch.write("x.short", "");
    rows(&scratch, "short.npy", 0..650);
    scratch.array("short.y.npy", "(650,)", (0..650).map(|i| cell(i, 0)));
    scratch.ok("part krr short.npy --labels short.y.npy --piece 100 --landmarks 20 --shard 3/3 --out table");
    let before = scratch.files();
    for (words, message) in [
        ("merge a b --model m --state s", "rows 400 to 699 of 700 are in none of the parts"),
        ("merge a b a --model m --state s", "rows 0 to 199 are in two of the parts"),
        ("merge a other --model m", "`penalty` is not given in one of them and 2"),
        ("merge a seeded --model m", "`seed` is 0 in one of them and 4 in another"),
        ("merge a table --model m", "the number of rows of the table is 700 in one of them and 650 in another"),
        ("merge a b c --model m", "`state` is missing but must be a file for pass 2"),
        ("merge a x.npy --model m", "x.npy: is not a complete model file"),
        ("merge a b --state s", "required arguments were not provided"),
        ("part krr x.npy --labels y.npy --shard 4/3 --out z", "I/N with I between 1 and N"),
        ("part krr x.npy --labels y.npy --shard 1/3 --out z", "`shard` is 1/3 but must be I/N with N at most 1"),
        ("part krr x.npy --shard 1/1 --out z", "no classes or values"),
        (
            "part krr x.npy --labels y.npy --shard 1/1 --approach gsa --out z",
            "`approach` is gsa but must be ncr or lla",
        ),
        ("part svm x.npy --labels y.npy --shard 1/1 --loss hinge --out z", "`loss` is hinge but must be squared-hinge"),
        ("part krr x.npy --labels short.y.npy --shard 1/1 --out z", "short.y.npy: has 650 labels for 700 samples"),
        (
            "part krr x.npy short.y.npy --labels y.npy --shard 1/1 --out z",
            "the number of columns of short.y.npy is 1 but must be 3",
        ),
    ] {
        refused(&scratch, words, &[message]);
    }
    assert_eq!(scratch.files(), before);
    // A part of the second pass, with the state of other settings, and after the table has changed.
    assert_eq!(scratch.run("merge a b c --model m --state s").status.code(), Some(1));
    let second = "part krr x.npy --labels y.npy --piece 100 --landmarks 20 --state s --out z";
    refused(&scratch, &format!("{second} --shard 1/3 --penalty 7"), &["`penalty` is not given in one of them and 7"]);
    for (shard, out) in [("1/2", "one"), ("2/2", "two")] {
        let words =
            format!("part krr x.npy --labels y.npy --piece 100 --landmarks 20 --state s --shard {shard} --out {out}");
        scratch.ok(&words);
        rows(&scratch, "x.npy", 1..ROWS + 1);
    }
    refused(&scratch, "merge one two --model m", &["the fingerprint of all rows, which have changed"]);
    refused(&scratch, "merge a one --model m", &["the pass is 1 in one of them and 2 in another"]);
    let mut bad = (0..ROWS * 3).map(|k| cell(k / 3, k % 3)).collect::<Vec<f64>>();
    bad[3 * 412 + 1] = f64::NAN;
    scratch.array("x.npy", &format!("({ROWS}, 3)"), bad.into_iter());
    let words = "part kpca x.npy --piece 100 --shard 2/2 --out z";
    refused(&scratch, words, &["the table contains NaN at row 412, column 1"]);
    assert!(!scratch.files().contains(&"z".to_string()) && !scratch.files().contains(&"m".to_string()));
}

/// The script of docs/scale.md, with other numbers.
#[cfg(unix)]
#[test]
fn make_runs_all_rounds() {
    let scratch = tables();
    let documents = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scale.md");
    let whole = std::fs::read_to_string(documents).unwrap();
    let script = whole.split("```make\n").nth(1).unwrap().split("```").next().unwrap();
    let words = "svm x.npy --labels c.npy --landmarks 30 --piece 100";
    let line = |line: &str| match line.split_whitespace().next() {
        Some("SHARDS") => "SHARDS := 3".to_string(),
        Some("FIT") => format!("FIT := {words}"),
        _ => line.to_string(),
    };
    scratch.write("Makefile", script.lines().map(line).collect::<Vec<_>>().join("\n") + "\n");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_lopsided")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut make = std::process::Command::new("make");
    make.args(["-j2"]).current_dir(scratch.dir.path()).env("PATH", path).env_remove("MAKEFLAGS");
    let done = make.output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    scratch.ok(&format!("fit {words} --stream --model whole.model"));
    assert_eq!(scratch.bytes("whole.model"), scratch.bytes("model"));
}

//! Help pages fit a terminal of 80 columns, and their examples run as they stand.

use super::reproduce::write_graph;
use super::{Scratch, text};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// All commands, as the main page lists them.
fn commands(scratch: &Scratch) -> Vec<String> {
    let page = scratch.ok("--help");
    let listed = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description that goes on in the next line is indented further than a name.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next().map(String::from)).collect()
}

fn page(scratch: &Scratch, words: &str) -> String {
    let output = scratch.command(words).env("COLUMNS", "80").output().unwrap();
    assert!(output.status.success(), "{words}");
    text(&output.stdout)
}

#[test]
fn pages_fit_80_columns_and_have_examples() {
    let scratch = Scratch::new();
    let commands = commands(&scratch);
    assert!(commands.len() > 12 && commands.iter().any(|name| name == "export"), "{commands:?}");
    for name in commands.iter().filter(|name| *name != "help") {
        for words in [format!("help {name}"), format!("{name} --help"), format!("{name} -h")] {
            let page = page(&scratch, &words);
            assert!(page.contains("\nExamples:\n  lopsided "), "{words}");
            let wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{words}: {wide:?}");
        }
    }
    assert!(page(&scratch, "--help").lines().all(|line| line.chars().count() <= 80));
}

/// The commands of the examples on a page, lines that end with a backslash joined.
fn examples(page: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| line.starts_with("  "));
    lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ").lines().map(|line| line.trim().to_string()).collect()
}

/// A table with a header: columns of numbers, of which the first tells the class, and the class.
fn classes(rows: usize, columns: usize, target: Option<&str>) -> String {
    let mut header: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
    header.extend(target.map(String::from));
    let mut out = header.join(",") + "\n";
    for i in 0..rows {
        let value = |j: usize| ((i * 7919 + j * 104_729 + i * i * (j + 3)) % 997) as f64 / 500.0;
        let mut row: Vec<String> = (0..columns).map(|j| (value(j) + (i % 3 * (j + 1)) as f64).to_string()).collect();
        row.extend(target.map(|_| ["red", "green", "blue"][i % 3].to_string()));
        out += &(row.join(",") + "\n");
    }
    out
}

/// Lines `label index:value …` of a sparse table.
fn svmlight(rows: usize) -> String {
    let mut out = String::new();
    for i in 0..rows {
        let (a, b) = (1 + i % 40, 41 + (i * i) % 1200);
        let _ = writeln!(out, "{} {a}:1 {b}:{}", i % 2, 1 + i % 3);
    }
    out
}

/// Pairs of vectors, with what is to be predicted.
fn pairs(rows: usize) -> String {
    let mut out = String::from("x0,x1,y0,y1,label\n");
    for i in 0..rows {
        let v = |k: usize| ((i * (k + 3) * 37 + k) % 101) as f64 / 101.0 - 0.5;
        let _ = writeln!(out, "{},{},{},{},{}", v(0), v(1), v(2), v(3), v(0) * v(2) - v(1) * v(3));
    }
    out
}

/// The files that the examples name.
pub(super) fn files(scratch: &Scratch) {
    let folder = scratch.dir.path();
    write_graph(folder, 400);
    std::fs::rename(scratch.path("labels.csv"), scratch.path("classes.csv")).unwrap();
    scratch.write("new-edges.csv", "source,target\nnew,1\nnew,5\n2,new\n");
    let ids = |range: std::ops::Range<usize>| range.map(|i| i.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    scratch.write("train.txt", ids(0..200));
    let people = (0..400).map(|i| format!("{i},{},{}", i % 3, i * 7 % 11)).collect::<Vec<_>>();
    scratch.write("people.csv", format!("id,group,age\n{}\n", people.join("\n")));
    scratch.write("test.txt", ids(200..400));
    scratch.write("flowers.csv", classes(120, 6, Some("species")));
    scratch.write("new-flowers.csv", classes(20, 6, None));
    scratch.write("patients.csv", classes(60, 6, Some("outcome")));
    for (name, rows) in [("users.csv", 50), ("items.csv", 40), ("counts.csv", 60)] {
        scratch.write(name, classes(rows, 8, None));
    }
    let mut matrix = String::from("%%MatrixMarket matrix coordinate real general\n60 40 600\n");
    (0..600).for_each(|k| writeln!(matrix, "{} {} {}", k % 60 + 1, (k / 60 * 4 + k % 4) + 1, 1 + k % 5).unwrap());
    scratch.write("documents.mtx", matrix);
    scratch.write("labels.csv", (0..60).fold("row,label\n".into(), |out, i| format!("{out}{i},{}\n", i % 3)));
    scratch.write("huge.svm", svmlight(2500));
    scratch.write("ratings.csv", pairs(300));
    let vectors =
        pairs(200).lines().map(|line| line.split(',').take(2).collect::<Vec<_>>().join(",")).collect::<Vec<_>>();
    scratch.write("vectors.csv", vectors.join("\n") + "\n");
    scratch.write("events.csv", vectors.join("\n") + "\n");
    let line = |i: usize| format!("{} 1:{} 2:1 | 1:1 3:{}\n", i % 5, i % 7, i % 3);
    scratch.write("pairs.svm", (0..100).map(line).collect::<String>());
    zipped(folder, &["edges.csv", "documents.mtx", "huge.svm"]);
    write_graph(&scratch.path("data/cora"), 120);
    std::fs::create_dir_all(scratch.path("data/dna")).unwrap();
    scratch.write("data/dna/data.csv", classes(640, 5, Some("kind")));
    scratch.array("prices.npy", "(50,)", (0..50).map(|i| f64::from(i * i % 13) + 0.5));
    // A matrix of NumPy's, written by the program itself.
    scratch.rough("embed users.csv --target none --kernel precomputed --rank 8 --rows-out ratings.npy");
}

fn zipped(folder: &Path, names: &[&str]) {
    for name in names {
        let status = Command::new("gzip").args(["-k", name]).current_dir(folder).status().unwrap();
        assert!(status.success(), "{name}");
    }
}

#[test]
fn examples_run_as_they_stand() {
    let scratch = Scratch::new();
    files(&scratch);
    let program = Path::new(env!("CARGO_BIN_EXE_lopsided")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    // Models are written before they are read.
    let mut pages = commands(&scratch);
    let first = ["embed", "fit"];
    pages.sort_by_key(|name| first.iter().position(|early| early == name).unwrap_or(first.len()));
    let mut failed = Vec::new();
    for name in pages.iter().filter(|name| *name != "help") {
        for line in examples(&page(&scratch, &format!("help {name}"))) {
            let output = Command::new("sh")
                .args(["-c", &line])
                .current_dir(scratch.dir.path())
                .env("PATH", &path)
                .output()
                .unwrap();
            // Not all of these little problems reach their tolerance.
            if !matches!(output.status.code(), Some(0 | 1)) {
                failed.push(format!("{line}\n{}", text(&output.stderr)));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

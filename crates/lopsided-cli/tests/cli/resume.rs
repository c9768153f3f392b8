//! Fits that are killed go on from their checkpoint and end with the same bytes.

use super::bad_input::refused;
use super::{Scratch, text};
use std::fmt::Write as _;
use std::process::Stdio;

/// Two thirds of the values of a table decide about its class, with some noise.
fn classes(scratch: &Scratch, name: &str, n: usize) {
    let value = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * i * (j + 2)) % 1009) as f64 / 500.0 - 1.0;
    let mut rows = String::from("a,b,c,kind\n");
    for i in 0..n {
        let kind = if value(i, 0) + value(i, 1) > 0.3 * value(i, 2) { "yes" } else { "no" };
        let _ = writeln!(rows, "{},{},{},{kind}", value(i, 0), value(i, 1), value(i, 2));
    }
    scratch.write(name, rows);
}

/// Sparse rows with labels.
fn sparse(scratch: &Scratch, name: &str, n: usize) {
    let mut rows = String::new();
    for i in 0..n {
        let columns: std::collections::BTreeSet<usize> =
            (0..6).map(|k| 1 + (i * 31 + k * k * 17 + i * k) % 90).collect();
        let entries: String = columns.iter().fold(String::new(), |line, j| format!("{line} {j}:{}", 1 + (i + j) % 4));
        let _ = writeln!(rows, "{}{entries}", if i % 3 == 0 { 1 } else { -1 });
    }
    scratch.write(name, rows);
}

/// Kills a run once it has left a state; true when it was still at work.
fn killed(scratch: &Scratch, words: &str) -> bool {
    let before = std::fs::read(scratch.path("state")).unwrap_or_default();
    let mut child = scratch.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if std::fs::read(scratch.path("state")).is_ok_and(|now| now != before) {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
    }
    false
}

#[test]
fn a_killed_fit_goes_on_to_the_same_bytes() {
    let scratch = Scratch::new();
    classes(&scratch, "t.csv", 240);
    sparse(&scratch, "s.svm", 5000);
    scratch.graph();
    for (words, out) in [
        (
            "embed t.csv --cols t.csv --target none --drop kind --kernel rbf --gamma 9 --rank 24 --solver lanczos --tol 1e-11",
            "model",
        ),
        (
            "embed t.csv --cols t.csv --target none --drop kind --kernel rbf --gamma 9 --rank 9 --solver randomized --passes 9",
            "model",
        ),
        ("embed t.csv --target kind --compat learned --kernel rbf --gamma median --rank 2 --epochs 12", "model"),
        ("embed s.svm --stream --solver nystrom --rows-sample 60 --cols-sample 50 --rank 6", "rows-out"),
        ("fit krr s.svm --stream --landmarks 80 --penalty 1 --solver cg", "model"),
        ("fit krr s.svm --stream --landmarks 80 --penalty 1 --solver direct", "model"),
        ("fit svm t.csv --cv 4", "model"),
        ("fit krr t.csv --target a --task values", "model"),
        ("fit ask-ls t.csv --cv 3 --penalty 1", "model"),
        ("fit kernel-svd t.csv --cv 3 --rank 5", "model"),
        ("fit ls-svm t.csv --route minres --penalty 100", "model"),
        ("fit ask-ls t.csv --route minres --penalty 3 --merge average", "model"),
        ("fit svm t.csv --penalty 100", "model"),
        ("fit nu-svm t.csv --nu 0.2", "model"),
    ] {
        let file = if out == "model" { "m" } else { "m.npy" };
        let words = format!("{words} --{out} {file} -q");
        let output = scratch.run(&words);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{words}\n{}", text(&output.stderr));
        let whole = scratch.bytes(file);
        std::fs::remove_file(scratch.path(file)).unwrap();
        let resumed = format!("{words} --checkpoint state --checkpoint-every 0 --resume");
        let interrupted = (0..3).filter(|_| killed(&scratch, &resumed)).count();
        assert!(interrupted > 0, "{words}: ended before its first state");
        let end = scratch.run(&resumed);
        assert_eq!(end.status.code(), output.status.code(), "{words}\n{}", text(&end.stderr));
        assert!(scratch.bytes(file) == whole, "{words}: other bytes");
        std::fs::remove_file(scratch.path(file)).unwrap();
        let left: Vec<String> = scratch.files().into_iter().filter(|name| name.contains("state")).collect();
        assert!(left.is_empty(), "{words}: {left:?}");
    }
}

#[test]
fn the_checkpoint_of_other_work_is_refused() {
    let scratch = Scratch::new();
    classes(&scratch, "t.csv", 240);
    let fit = "fit svm t.csv --cv 4 --model m -q --checkpoint state --checkpoint-every 0 --resume";
    assert!(killed(&scratch, fit));
    // What a killed run leaves beside it goes with the next.
    std::fs::remove_file(scratch.path(".state.lock")).unwrap();
    let kept = scratch.bytes("state");
    let mut damaged = kept.clone();
    damaged[kept.len() / 2] ^= 4;
    scratch.write("state", damaged);
    refused(&scratch, fit, &["state: is a damaged checkpoint"]);
    scratch.write("state", &kept[..kept.len() - 3]);
    refused(&scratch, fit, &["state: is a damaged checkpoint"]);
    scratch.write("state", "something else");
    refused(&scratch, fit, &["state: is no checkpoint"]);
    scratch.write("state", &kept);
    refused(
        &scratch,
        &fit.replace("--cv 4", "--cv 5"),
        &["state: is the checkpoint of other work", "`folds` was 4 and is 5"],
    );
    refused(&scratch, &format!("{fit} --seed 3"), &["`seed` was 0 and is 3"]);
    refused(&scratch, &fit.replace("fit svm", "fit ls-svm"), &["state: is the checkpoint of other work"]);
    let table = text(&scratch.bytes("t.csv"));
    scratch.write("t.csv", table.replacen("yes", "no", 1));
    refused(&scratch, fit, &["the data are others"]);
    scratch.write("t.csv", table);
    refused(&scratch, "fit svm t.csv --model m --checkpoint t.csv", &["`checkpoint` is t.csv"]);
    refused(&scratch, "fit svm t.csv --model m --checkpoint m", &["another file for each result"]);
    assert_eq!(scratch.bytes("state"), kept, "nothing was written over it");
    assert!(!scratch.files().contains(&"m".to_string()));
    scratch.ok(fit);
    assert_eq!(scratch.files(), ["m", "t.csv"]);
}

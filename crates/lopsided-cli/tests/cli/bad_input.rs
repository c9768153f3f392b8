use super::{Scratch, text};

/// The run must end with one clear sentence that has all `words`, and leave nothing behind.
pub(super) fn refused(scratch: &Scratch, command: &str, words: &[&str]) {
    let before = scratch.files();
    let output = scratch.run(command);
    let talk = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{command}\n{talk}");
    assert_eq!(talk.lines().filter(|line| line.starts_with("error:")).count(), 1, "{command}\n{talk}");
    let line = talk.lines().find(|line| line.starts_with("error:")).unwrap();
    for word in words {
        assert!(line.contains(word), "{command}: `{word}` is not in `{line}`");
    }
    assert!(!talk.contains("panicked") && output.stdout.is_empty(), "{command}\n{talk}");
    assert_eq!(scratch.files(), before, "{command}");
}

const OUT: &str = "--rows-out r.npy --cols-out c.csv --model m --report p.html";

#[test]
fn damaged_files() {
    let scratch = Scratch::new();
    scratch.write("nan.csv", "1.5,2,3\n4,NaN,6\n7,8,9\n");
    scratch.write("ragged.csv", "1.5,2,3\n4,5\n7,8,9\n");
    scratch.write("empty.csv", "");
    scratch.write("negative.csv", "source,target\n0,1\n-4,2\n");
    let half = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1, 100, 0, 155, 0xff][..], b"0,1\n1,2\n2,0\n"].concat();
    scratch.write("half.csv.gz", half);
    for (file, words) in [
        ("nan.csv", &["nan.csv: 1 value is missing: 1 in column 2"][..]),
        ("ragged.csv", &["ragged.csv", "2"]),
        ("empty.csv", &["empty.csv"]),
        ("negative.csv", &["negative.csv", "-4"]),
        ("half.csv.gz", &["half.csv.gz"]),
        ("missing.csv", &["missing.csv", "no such file"]),
    ] {
        refused(&scratch, &format!("embed {file} --kernel rbf {OUT}"), words);
    }
}

#[test]
fn parameters_out_of_range() {
    let scratch = Scratch::new();
    scratch.graph();
    for (options, words) in [
        ("--kernel gausian", &["no kernel `gausian`", "known: linear"][..]),
        ("--kernel laplacien", &["did you mean `laplacian`"]),
        ("--solver lancsos", &["did you mean `lanczos`"]),
        ("--rows-sample 10", &["`rows-sample`", "left out", "`auto`", "`nystrom`"]),
        ("--solver lanczos --no-polish", &["`polish`", "left out", "`lanczos`"]),
        ("--solver nystrom --sampler unifrom", &["did you mean `uniform`"]),
        ("--solver nystrom --rows-sample 61", &["`rows-sample` is 61", "all 60"]),
        ("--gamma 0", &["`gamma` is 0"]),
        ("--gamma -1", &["`gamma` is -1"]),
        ("--gamma wide", &["`gamma` is wide"]),
        ("--gamma-factor 0", &["`gamma-factor` is 0"]),
        ("--kernel precomputed --gamma 1", &["left out"]),
        ("--kernel poly --gamma median", &["median", "a number"]),
        ("--kernel rbf --degree 2", &["`degree` is 2"]),
        ("--kernel poly --degree 0", &["`degree` is 0"]),
        ("--rank 0", &["`rank` is 0", "a whole number of at least 1"]),
        ("--rank 61", &["`rank` is 61"]),
        ("--tol -1", &["`tol` is -1"]),
        ("--threads 0", &["`threads` is 0"]),
        ("--memory 0", &["'0'", "--memory"]),
        ("--memory 10KB", &["10.0 KB"]),
        ("--max-degree 0", &["`max-degree` is 0"]),
        ("--precision f16", &["f16"]),
        ("--operator sprase", &["sprase"]),
        ("--format cvs", &["cvs"]),
        ("--labels nothing.csv", &["nothing.csv", "no such file"]),
    ] {
        refused(&scratch, &format!("embed edges.csv {options} {OUT}"), words);
    }
}

#[test]
fn shapes_that_do_not_fit() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.table("x.csv", 6, 4);
    scratch.table("z.csv", 6, 5);
    refused(&scratch, "embed x.csv --target none", &["6 x 4", "square"]);
    let hint = text(&scratch.run("embed x.csv --target none").stderr);
    assert!(hint.contains("\n\nhint: ") && hint.contains("--cols") && hint.contains("--kernel precomputed"), "{hint}");
    refused(&scratch, "embed x.csv --cols z.csv", &["is 5 but must be 4"]);
    refused(&scratch, "embed edges.csv --cols z.csv", &["edges.csv", "graph"]);
    refused(&scratch, "embed - --rank 2", &["format"]);
}

#[test]
fn places_that_cannot_be_written() {
    let scratch = Scratch::new();
    scratch.graph();
    std::fs::create_dir(scratch.path("folder.npy")).unwrap();
    for (options, words) in [
        ("--rows-out nowhere/r.npy", &["nowhere/r.npy", "no such file or directory"][..]),
        ("--cols-out folder.npy", &["folder.npy", "is a directory"]),
        ("--rows-out r.xlsx", &["r.xlsx", ".npy, .csv or .parquet"]),
        ("--rows-out r", &["`rows-out` is r"]),
        ("--model nowhere/m", &["nowhere/m"]),
        ("--report nowhere/p.html", &["nowhere/p.html"]),
        ("--rows-out same.npy --cols-out same.npy", &["same.npy"]),
    ] {
        refused(&scratch, &format!("embed edges.csv --rank 2 {options}"), words);
        refused(&scratch, &format!("embed missing.csv --rank 2 {options}"), words);
    }
}

#[test]
fn damaged_and_newer_models() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.table("x.csv", 6, 4);
    scratch.ok("embed edges.csv --rank 2 --model good");
    let bytes = scratch.bytes("good");
    scratch.write("cut", &bytes[..bytes.len() / 2]);
    scratch.write("head", &bytes[..6]);
    scratch.write("none", b"");
    let digit = bytes.windows(12).position(|w| w == br#"\"format\":1"#).unwrap() + 11;
    let mut newer = bytes;
    newer[digit] = b'7';
    scratch.write("newer", newer);
    for (model, words) in [
        ("cut", &["cut", "not a complete model file"][..]),
        ("head", &["head", "not a complete model file"]),
        ("none", &["none"]),
        ("newer", &["newer", "format 7"]),
        ("missing", &["missing", "no such file"]),
        ("edges.csv", &["edges.csv"]),
    ] {
        refused(&scratch, &format!("inspect {model}"), words);
        refused(&scratch, &format!("transform {model} --rows edges.csv --out t.npy"), words);
    }
    refused(&scratch, "transform good --rows x.csv --target none --out t.npy", &["is 4 but must be 60"]);
    refused(&scratch, "transform good --rows edges.csv --out nowhere/t.npy", &["nowhere/t.npy"]);
    refused(&scratch, "transform good --out t.npy", &["required arguments"]);
    scratch.write("strange.csv", "source,target\nx,y\ny,z\n");
    let output = scratch.run("transform good --rows strange.csv --out t.npy");
    assert!(text(&output.stderr).contains("does not know"), "{}", text(&output.stderr));
}

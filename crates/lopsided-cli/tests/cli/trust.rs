//! Nothing is lost, nothing is believed, nothing goes unsaid.

use super::bad_input::refused;
use super::{Scratch, text};
use std::io::Write as _;
use std::process::Stdio;

fn pairs(n: usize) -> String {
    let row = |t: usize| format!("{},{},{}\n", t % 3, (t * 7) % 5, if t.is_multiple_of(2) { 1 } else { -1 });
    "x1,y1,label\n".to_string() + &(0..n).map(row).collect::<String>()
}

/// A table of numbers under the header `a,b,c,d`.
fn table(scratch: &Scratch, name: &str, n: usize) {
    let rows = std::fs::read_to_string(scratch.table(name, n, 4)).unwrap();
    scratch.write(name, "a,b,c,d\n".to_string() + &rows);
}

#[test]
fn no_output_is_an_input_or_another_output() {
    let scratch = Scratch::new();
    scratch.graph();
    table(&scratch, "x.csv", 30);
    scratch.write("s.csv", pairs(20));
    scratch.ok("embed edges.csv --rank 2 --model m");
    scratch.ok("fit krr x.csv --target d --task values --penalty 1 --model k");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("edges.csv", scratch.path("link.csv")).unwrap();
        std::fs::hard_link(scratch.path("edges.csv"), scratch.path("hard.csv")).unwrap();
        std::os::unix::fs::symlink("made.csv", scratch.path("free.csv")).unwrap();
    }
    let before: Vec<(String, Vec<u8>)> = scratch
        .files()
        .into_iter()
        .filter(|name| name != "free.csv")
        .map(|name| (name.clone(), scratch.bytes(&name)))
        .collect();
    let mut cases = vec![
        ("online gd-trace s.csv --out s.csv", "`out` is s.csv but must be another file than s.csv, which is read"),
        ("online gd-trace s.csv --checkpoint ./s.csv", "`checkpoint` is ./s.csv"),
        ("online gd-trace s.csv --out o --regret-out ./o", "another file for each result: `out` has this one"),
        ("embed edges.csv --rank 2 --rows-out ./edges.csv", "`rows-out` is ./edges.csv"),
        ("embed edges.csv --rank 2 --rows-out r.csv --cols-out ./r.csv", "`rows-out` has this one"),
        ("fit krr x.csv --target d --model x.csv", "`model` is x.csv"),
        ("predict k x.csv --out k", "another file than k, which is read"),
        ("predict k x.csv --out ./x.csv", "another file than x.csv, which is read"),
        ("transform m --rows edges.csv --out edges.csv", "`out` is edges.csv"),
        ("export k --onnx k", "`onnx` is k"),
        ("bicluster x.csv --row-clusters 2 --model x.csv", "`model` is x.csv"),
        ("bicluster x.csv --row-clusters 2 --row-labels-out a --col-labels-out a", "another file for each result"),
    ];
    #[cfg(unix)]
    cases.extend([
        ("embed edges.csv --rank 2 --rows-out link.csv", "another file than edges.csv, which is read"),
        ("embed link.csv --rank 2 --rows-out hard.csv", "another file than link.csv, which is read"),
        ("embed edges.csv --rank 2 --rows-out made.csv --cols-out free.csv", "`rows-out` has this one"),
    ]);
    for (words, expected) in cases {
        let output = scratch.run(words);
        assert_eq!(output.status.code(), Some(2), "{words}\n{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(expected), "{words}\n{}", text(&output.stderr));
    }
    for (name, bytes) in before {
        assert_eq!(scratch.bytes(&name), bytes, "{name}");
    }
}

#[test]
fn a_stream_is_not_written_over_by_its_own_redirection() {
    let scratch = Scratch::new();
    let stream = scratch.write("s.csv", pairs(20));
    let input = std::fs::File::open(&stream).unwrap();
    let output = scratch.command("online gd-trace - --format csv --out s.csv").stdin(input).output().unwrap();
    if cfg!(target_os = "linux") {
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(scratch.bytes("s.csv"), pairs(20).into_bytes());
    }
}

#[test]
fn online_touches_no_file_before_a_trial_was_read() {
    let scratch = Scratch::new();
    scratch.write("s.csv", pairs(20));
    scratch.write("empty.csv", "x1,y1,label\n");
    scratch.write("bad.csv", "x1,y1,label\n1,oops,1\n");
    scratch.ok("online gd-trace s.csv --out p.csv --checkpoint c");
    let before = (scratch.bytes("p.csv"), scratch.bytes("c"));
    for words in ["gd-trace empty.csv", "gd-trace bad.csv", "gd-trace nothing.csv", "eg-plus s.csv", "p-norm half.csv"]
    {
        let output = scratch.run(&format!("online {words} --out p.csv --checkpoint c"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert_eq!((scratch.bytes("p.csv"), scratch.bytes("c")), before, "{words}");
    }
    assert_eq!(scratch.files(), ["bad.csv", "c", "empty.csv", "p.csv", "s.csv"]);
    // A run that is killed after its first trial goes on from nothing.
    let mut child = scratch.command("online gd-trace - --format csv --out p.csv --checkpoint c");
    let mut child = child.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(pairs(5).as_bytes()).unwrap();
    stdin.flush().unwrap();
    while std::fs::read(scratch.path("p.csv")).unwrap().split(|b| *b == b'\n').count() != 7 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = scratch.run("online gd-trace s.csv --out p.csv");
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("p.csv: is being written by another run"), "{}", text(&second.stderr));
    let second = scratch.run("online gd-trace s.csv --checkpoint c");
    assert!(text(&second.stderr).contains("c: is being written by another run"), "{}", text(&second.stderr));
    child.kill().unwrap();
    child.wait().unwrap();
    scratch.ok("online gd-trace s.csv --out p.csv --checkpoint c --resume");
    assert_eq!(scratch.bytes("p.csv"), before.0);
}

/// The model file with other metadata.
fn changed(model: &[u8], change: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> Vec<u8> {
    let length = u64::from_le_bytes(model[..8].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&model[8..8 + length]).unwrap();
    let mut meta: serde_json::Value =
        serde_json::from_str(header["__metadata__"]["lopsided"].as_str().unwrap()).unwrap();
    change(meta.as_object_mut().unwrap());
    header["__metadata__"]["lopsided"] = meta.to_string().into();
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &model[8 + length..]].concat()
}

#[test]
fn sizes_in_models_are_not_believed() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.ok("embed edges.csv --rank 2 --model good");
    let good = scratch.bytes("good");
    for width in [1e9, 4e9, 1e15, 1.8e19] {
        scratch.write("bad", changed(&good, |meta| _ = meta.insert("x.width".into(), (width as u64).into())));
        refused(&scratch, "inspect bad", &["bad"]);
        refused(&scratch, "transform bad --rows edges.csv --out t.npy", &["bad"]);
    }
}

#[test]
fn sizes_in_data_are_compared_with_the_memory_allowed() {
    let scratch = Scratch::new();
    let header = |shape: &str| {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        [b"\x93NUMPY\x01\x00".as_slice(), &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
    };
    scratch.write("big.npy", header("(30000, 30000)"));
    scratch.write("huge.npy", header("(3000000000, 3000000000)"));
    let options = "--kernel precomputed --rank 2 --memory 500MB";
    refused(&scratch, &format!("embed big.npy {options}"), &["big.npy", "7.2 GB", "500.0 MB are allowed"]);
    refused(&scratch, &format!("embed big.npy {options} --dry-run"), &["7.2 GB"]);
    refused(&scratch, "embed huge.npy --kernel precomputed --rank 2", &["huge.npy"]);
    let rows = "0.5,1,2,3\n".repeat(200_000);
    scratch.write("long.csv", &rows);
    refused(
        &scratch,
        "embed long.csv --target none --compat pca --rank 2 --memory 5MB",
        &["long.csv", "5.0 MB are allowed"],
    );
    scratch.write("long.svm", "1 1:0.5 2:1\n".repeat(200_000));
    refused(&scratch, "fit krr long.svm --model m --memory 2MB", &["long.svm", "2.0 MB are allowed"]);
    scratch.write("long.edges", "1 2\n".repeat(200_000));
    refused(&scratch, "embed long.edges --rank 1 --memory 1MB", &["long.edges", "1.0 MB are allowed"]);
}

#[test]
fn sizes_from_users_are_not_believed() {
    let scratch = Scratch::new();
    table(&scratch, "x.csv", 400);
    let input = "x.csv --target none";
    refused(&scratch, &format!("embed {input} --threads 1000000"), &["`threads` is 1000000", "between 1 and 1024"]);
    for compat in ["random", "pca"] {
        let words = format!("embed {input} --compat {compat} --compat-width 1000000000 --rank 2");
        refused(&scratch, &words, &["1000000000"]);
    }
    let fit = "fit krr x.csv --target d --task values --landmarks 300 --penalty 1";
    let plan = scratch.json(&format!("{fit} --dry-run --memory 1MB"));
    assert!(plan["bytes"].as_u64() > plan["memory"].as_u64() && plan["memory"] == 1_000_000, "{plan}");
    refused(&scratch, &format!("{fit} --model m --memory 1MB"), &["needs", "1.0 MB are allowed"]);
    let plan = scratch.json(&format!("bicluster {input} --row-clusters 2 --dry-run --model m"));
    assert_eq!((&plan["dry_run"], plan["m"].as_u64()), (&true.into(), Some(4)));
    assert_eq!(scratch.files(), ["x.csv"]);
    scratch.graph();
    assert_eq!(scratch.json("links edges.csv --rank 2 --dry-run")["dry_run"], true);
}

#[test]
fn numbers_that_are_none_do_not_leave() {
    let scratch = Scratch::new();
    let rows = |scale: f64| {
        let row = |i: usize| {
            let (a, b) = (((i * 7919) % 101) as f64 / 50.0 - 1.0, ((i * 104_729) % 97) as f64 / 50.0 - 1.0);
            format!("{:e},{:e},{}\n", a * scale, b * scale, if a + b > 0.0 { "yes" } else { "no" })
        };
        "a,b,kind\n".to_string() + &(0..60).map(row).collect::<String>()
    };
    for (name, scale) in [("plain.csv", 1.0), ("large.csv", 1e100), ("small.csv", 1e-160)] {
        scratch.write(name, rows(scale));
    }
    for estimator in ["ask-ls", "ls-svm", "nu-svm"] {
        let weight = if estimator == "nu-svm" { "--nu 0.3" } else { "--penalty 0.5" };
        let fit = |file: &str| {
            format!("fit {estimator} {file} --kernel linear --scale standard {weight} --model {file}.model --json")
        };
        let score = |file: &str| {
            let output = scratch.run(&fit(file));
            assert!(matches!(output.status.code(), Some(0 | 1)), "{estimator} {file} {}", text(&output.stderr));
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["train_score"].as_f64().unwrap()
        };
        let plain = score("plain.csv");
        for file in ["large.csv", "small.csv"] {
            assert!((score(file) - plain).abs() < 1e-9, "{estimator} {file}");
        }
        // Unless told otherwise columns beyond the precision are scaled, and the report says so.
        for file in ["large.csv", "small.csv"] {
            let fitted =
                scratch.rough(&format!("fit {estimator} {file} --kernel linear {weight} --model {file}.model --json"));
            let fitted: serde_json::Value = serde_json::from_str(&fitted).unwrap();
            assert!((fitted["train_score"].as_f64().unwrap() - plain).abs() < 1e-9, "{estimator} {file} {fitted}");
            assert_eq!(fitted["params"]["scale"], "standard", "{estimator} {file} {fitted}");
        }
        for file in ["large.csv", "small.csv"] {
            let words = format!("fit {estimator} {file} --kernel linear --scale none {weight} --model u.model");
            refused(&scratch, &words, &["the scalar products of the samples", "scale standard"]);
        }
    }
    scratch.write("s.csv", pairs(60));
    let output = scratch.run("online gd-trace s.csv --steps fixed --step 1e300 --out p.csv");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("inf") && text(&output.stderr).contains("smaller steps"));
    assert!(!text(&scratch.bytes("p.csv")).contains("NaN") && !text(&scratch.bytes("p.csv")).contains("inf"));
}

#[cfg(unix)]
#[test]
fn a_request_to_end_is_an_interrupt() {
    let scratch = Scratch::new();
    let mut command = scratch.command("embed - --format edges --rows-out r.npy");
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Threads are there when the handler is.
    let tasks = format!("/proc/{}/task", child.id());
    while std::fs::read_dir(&tasks).map_or(2, Iterator::count) < 2 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(130), "interrupted\n"));
    assert!(scratch.files().is_empty());
}

/// Found by mutation.
#[test]
fn a_checkpoint_of_more_trials_than_there_are_is_refused() {
    let scratch = Scratch::new();
    scratch.write("s.csv", pairs(20));
    scratch.ok("online gd-trace s.csv --checkpoint c --out p.csv");
    let many = changed(&scratch.bytes("c"), |meta| {
        if let Some(account) = meta.get_mut("account") {
            account["trials"] = u64::MAX.into();
        }
    });
    scratch.write("c", many);
    let output = scratch.run("online gd-trace s.csv --checkpoint c --resume --out q.csv");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// Under a limit of the address space whatever is asked for succeeds or is refused: no abort, no panic.
#[cfg(target_os = "linux")]
#[test]
fn limits_of_the_system_are_kept() {
    let scratch = Scratch::new();
    table(&scratch, "x.csv", 3000);
    let program = env!("CARGO_BIN_EXE_lopsided");
    for limit in [262_144, 1_048_576] {
        for words in [
            "embed x.csv --cols x.csv --target none --kernel rbf --gamma 1 --solver exact --rank 5",
            "fit krr x.csv --target d --task values --approach lla --landmarks 2900 --penalty 1 --model m",
            "fit kpca x.csv --target none --kernel rbf --rank 4 --model m",
        ] {
            let shell = format!("ulimit -v {limit}; exec {program} {words}");
            let mut command = std::process::Command::new("sh");
            let output = command.args(["-c", &shell]).current_dir(scratch.dir.path()).output().unwrap();
            let talk = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(0..=2)), "{limit} {words}: {:?} {talk}", output.status);
            assert!(!talk.contains("panicked"), "{limit} {words}: {talk}");
        }
    }
}

#[test]
fn names_do_not_steer_terminals_or_pages() {
    let scratch = Scratch::new();
    let (steering, markup) = ("\u{1b}[2J\u{7}\u{202e}", "<script>alert(1)</script>");
    let row = |i| format!("{i},{},{}\n", i % 7, if i % 2 == 0 { steering } else { markup });
    let rows: String = (0..30).map(row).collect();
    scratch.write("t.csv", format!("a,b,{steering}\n{rows}"));
    let fit = scratch.ok("fit svm t.csv --penalty 1 --model m");
    let talk = text(&scratch.run("predict m t.csv --out p.csv").stderr);
    let shown = scratch.ok("inspect m") + &fit + &talk;
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n') && !shown.contains('\u{202e}'), "{shown:?}");
    // Files have names as they are.
    assert!(text(&scratch.bytes("p.csv")).contains(steering));
    let wrong = scratch.run("fit svm t.csv --penalty 1 --drop nothing --model m");
    assert!(!text(&wrong.stderr).contains('\u{1b}'), "{:?}", text(&wrong.stderr));
    let edge = |i| format!("{markup}{},n{}\n", i % 9, (i * 7) % 11);
    let edges: String = (0..40).map(edge).collect();
    scratch.write("e.csv", format!("source,target\n{edges}"));
    scratch.ok("embed e.csv --rank 2 --report page.html");
    let page = text(&scratch.bytes("page.html"));
    assert!(!page.contains("<script>alert"), "markup in the page");
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_keeps_what_was_there() {
    let scratch = Scratch::new();
    scratch.graph();
    scratch.write("r.csv", "what was there before");
    let program = env!("CARGO_BIN_EXE_lopsided");
    let shell = format!("trap '' XFSZ; ulimit -f 0; exec {program} embed edges.csv --rank 8 --rows-out r.csv");
    let output =
        std::process::Command::new("sh").args(["-c", &shell]).current_dir(scratch.dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("error: r.csv: "), "{}", text(&output.stderr));
    assert_eq!(scratch.bytes("r.csv"), b"what was there before");
    assert_eq!(scratch.files(), ["edges.csv", "r.csv"]);
}

#[test]
fn plans_of_what_uses_a_model_or_a_stream_write_nothing() {
    let scratch = Scratch::new();
    table(&scratch, "x.csv", 300);
    scratch.graph();
    scratch.write("s.csv", pairs(400));
    let row = |i| format!("{} {}:1 {}:2\n", i % 2, 1 + i % 20, 21 + i % 31);
    let rows: String = (0..600).map(row).collect();
    scratch.write("s.svm", rows);
    scratch.ok("fit krr x.csv --target d --task values --penalty 1 --model k");
    scratch.rough("embed edges.csv --rank 2 --model e");
    let before = scratch.files();
    for (words, n) in [
        ("predict k x.csv --out o.csv", 300),
        ("predict k x.csv", 300),
        ("transform e --rows edges.csv --out o.npy", 60),
        ("transform e --rows edges.csv --cols edges.csv", 120),
        ("online gd-trace s.csv --out o.csv --checkpoint c", 400),
        ("embed s.svm --stream --solver nystrom --rows-sample 30 --cols-sample 20 --rank 2 --rows-out o.npy", 600),
        ("fit krr s.svm --stream --landmarks 20", 600),
    ] {
        let plan = scratch.json(&format!("{words} --dry-run"));
        assert_eq!((&plan["dry_run"], plan["n"].as_u64()), (&true.into(), Some(n)), "{words}: {plan}");
        assert!(plan["bytes"].as_u64() > Some(0) && plan["seconds"].as_f64() > Some(0.0), "{words}: {plan}");
        assert!(plan["memory"].as_u64() > plan["bytes"].as_u64(), "{words}: {plan}");
        assert!(scratch.ok(&format!("{words} --dry-run")).contains("roughly"), "{words}");
    }
    assert_eq!(scratch.json("predict k x.csv --dry-run --memory 1MB --threads 1")["memory"], 1_000_000);
    refused(&scratch, "predict k x.csv --memory 1MB --threads 1", &["needs", "1.0 MB are allowed"]);
    refused(&scratch, "online gd-trace - --format csv --dry-run", &["unless the stream is a file"]);
    assert_eq!(scratch.files(), before);
}

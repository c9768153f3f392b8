use super::bad_input::refused;
use super::{Scratch, text};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

/// Pairs with labels ±1.
fn pairs(count: usize) -> String {
    let mut out = String::from("x1,x2,x3,y1,y2,label\n");
    for t in 0..count {
        let v = |k: usize| ((t * 7919 + k * 104_729 + t * t * (k + 3)) % 1009) as f64 / 1009.0 - 0.5;
        let label = if v(0) * v(3) > 0.0 { 1 } else { -1 };
        let _ = writeln!(out, "{},{},{},{},{},{label}", v(0), v(1), v(2), v(3), v(4));
    }
    out
}

/// Vectors without labels.
fn vectors(count: usize) -> String {
    let row = |t: usize| format!("{},{},1\n", (t % 17) as f64 / 17.0, (t % 5) as f64 / 5.0);
    format!("x1,x2,x3\n{}", (0..count).map(row).collect::<String>())
}

#[test]
fn every_learner_runs_and_reports_its_regret() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(80));
    scratch.write("v.csv", vectors(80));
    let list = scratch.json("list learners");
    for learner in list["learners"].as_array().unwrap() {
        let name = learner["name"].as_str().unwrap();
        let words = match name {
            "meg" => format!("{name} v.csv --normalize --dimension 3 --steps fixed --step 0.5"),
            "gd-symmetric" => format!("{name} v.csv --normalize --loss gain --steps fixed --step 0.1"),
            "eg-plus" | "online-kpca" => format!("{name} v.csv --normalize --horizon 80"),
            _ => format!("{name} p.csv --loss hinge --horizon 80 --kernel rbf --gamma 1 --right-kernel linear"),
        };
        let json = scratch.json(&format!("online {words}"));
        assert_eq!(json["trials"], 80, "{name}");
        let number = |key: &str| json[key].as_f64().unwrap_or_else(|| panic!("{name}: {key} in {json}"));
        let difference = number("cumulative_loss") - number("comparator_loss");
        assert!((number("regret") - difference).abs() < 1e-9, "{name}");
        assert!(number("regret") <= number("bound") + 1e-9, "{name}: {json}");
        assert!(number("rank") >= 1.0 && number("seconds") >= 0.0);
    }
}

#[test]
fn a_missing_bound_says_why_and_how_to_get_one() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(60));
    scratch.write("v.csv", vectors(60));
    let labelled = vectors(60).replace("x3\n", "x3,label\n").replace(",1\n", ",1,0.5\n");
    scratch.write("l.csv", labelled);
    for (words, option) in [
        ("eg-plus v.csv --normalize", "--horizon"),
        ("online-kpca v.csv --normalize", "--horizon"),
        ("gd-trace p.csv --horizon 60 --budget 5 --kernel rbf --gamma 1", "--budget"),
        ("eg-plus l.csv --normalize --loss squared --horizon 60", "--dimension"),
    ] {
        let json = scratch.json(&format!("online {words}"));
        assert!(json["bound"].is_null(), "{words}: {json}");
        assert!(json["bound_note"].as_str().unwrap().contains(option), "{words}: {json}");
        let talk = text(&scratch.run(&format!("online {words} --out o.csv")).stderr);
        assert!(talk.contains("no bound") && talk.contains(option), "{talk}");
    }
    let json = scratch.json("online eg-plus v.csv --normalize --horizon 60");
    assert!(json["bound"].is_number() && json["bound_note"].is_null(), "{json}");
    scratch.write("long.csv", vectors(2100));
    let json = scratch.json("online eg-plus long.csv --normalize --horizon 2100");
    assert!(json["bound"].is_null() && json["bound_note"].as_str().unwrap().contains("--regret"), "{json}");
}

#[test]
fn predictions_come_as_rows_and_regret_as_table_and_picture() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(50));
    let words = "online gd-trace p.csv --horizon 50 --radius 2 --regret-out r.csv --regret-plot r.svg";
    let out = scratch.ok(words);
    assert_eq!(out.lines().count(), 51);
    assert!(out.starts_with("trial,prediction,loss\n1,0,1\n"), "{out}");
    let regret = text(&scratch.bytes("r.csv"));
    let trials: Vec<&str> = regret.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(trials, ["1", "2", "3", "4", "6", "8", "12", "16", "24", "32", "48", "50"]);
    assert!(text(&scratch.bytes("r.svg")).contains("Regret of gd-trace"));
    scratch.ok("online gd-trace p.csv --horizon 50 --radius 2 --out o.csv");
    assert_eq!(text(&scratch.bytes("o.csv")), out);
}

#[test]
fn the_formats_mean_the_same() {
    let scratch = Scratch::with(&[
        ("p.csv", "x1,x2,y1,label\n1,2,3,1\n0,1,-1,2\n1,1,1,0\n"),
        ("p.svm", "1 1:1 2:2 | 1:3\n2 2:1 | 1:-1\n0 1:1 2:1 | 1:1\n"),
        ("t.csv", "trial,x1,x2,y1,label\na,1,0,3,1\na,0,2,3,1\nb,0,1,-1,2\nc,1,1,1,0\n"),
    ]);
    let words = "gd-frobenius --steps fixed --step 0.1 --radius 5";
    let run = |file: &str| scratch.ok(&format!("online {words} {file}"));
    assert_eq!(run("p.csv"), run("p.svm"));
    // x = (1, 0) + (0, 2) with the same right side is the first pair, up to rounding.
    let last = |text: String| -> f64 { text.lines().last().unwrap().split(',').nth(1).unwrap().parse().unwrap() };
    assert!((last(run("t.csv")) - last(run("p.csv"))).abs() < 1e-12);
}

#[test]
fn a_pipe_is_answered_line_by_line() {
    let scratch = Scratch::new();
    let mut command = scratch.command("online eg-plus - --format csv --normalize --quiet");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(b"x1,x2\n1,0\n").unwrap();
    assert_eq!(answers.next().unwrap().unwrap(), "trial,prediction,loss");
    assert_eq!(answers.next().unwrap().unwrap(), "1,0,-0");
    stdin.write_all(b"2,0\n").unwrap();
    let second = answers.next().unwrap().unwrap();
    assert!(second.starts_with("2,1,") || second.starts_with("2,0.99999"), "{second}");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Kills a run again and again and goes on until it ends.
fn killed_and_resumed(words: &str, stream: &str, delays: &[u64]) {
    let whole = Scratch::new();
    whole.write("s.csv", stream);
    whole.ok(&format!("online {words} --out o.csv --checkpoint c --checkpoint-every 7"));
    let scratch = Scratch::new();
    scratch.write("s.csv", stream);
    let again = format!("online {words} --out o.csv --checkpoint c --checkpoint-every 7 --resume --quiet");
    let mut kills = 0;
    for delay in delays {
        let mut child = scratch.command(&again).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(*delay));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0, "the run ended before it could be killed");
    scratch.ok(&again);
    assert_eq!(scratch.bytes("o.csv"), whole.bytes("o.csv"), "{words}");
    assert_eq!(scratch.bytes("c"), whole.bytes("c"), "{words}");
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let kernel = "--kernel rbf --gamma 2 --steps fixed --step 0.2";
    let delays = [3, 15, 40, 80, 30, 60];
    killed_and_resumed(&format!("gd-trace s.csv {kernel} --budget 30"), &pairs(1500), &delays);
    killed_and_resumed(&format!("gd-trace s.csv {kernel} --regret-out r.csv"), &pairs(400), &delays);
    killed_and_resumed(&format!("eg-plus s.csv {kernel} --budget 12"), &vectors(3000), &delays);
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(30));
    scratch.write("q.csv", pairs(31).replace("-0.", "-1."));
    scratch.ok("online gd-trace p.csv --checkpoint c --out o.csv");
    assert!(scratch.ok("inspect c").starts_with("learner  gd-trace, squared loss\n"));
    assert_eq!(scratch.json("inspect c")["account"]["trials"], 30);
    let refused = |words: &str| {
        let output = scratch.run(&format!("online {words} --checkpoint c --resume"));
        assert_eq!(output.status.code(), Some(2), "{words}");
        let message = text(&output.stderr);
        assert_eq!(message.lines().filter(|line| line.starts_with("error:")).count(), 1, "{message}");
        message
    };
    assert!(refused("gd-trace q.csv --out o.csv").contains("differs in its first 30 trials"));
    assert!(refused("gd-trace p.csv --out o.csv --radius 3").contains("`params` was {} and is now {\"radius\":3.0}"));
    assert!(refused("gd-trace p.csv").contains("`out` is missing"));
    assert!(refused("gd-trace p.csv --out new.csv").contains("new.csv: no such file"));
    scratch.write("new.csv", "short");
    assert!(refused("gd-trace p.csv --out new.csv").contains("with 5 bytes"));
    scratch.write("p.csv", pairs(10));
    assert!(refused("gd-trace p.csv --out o.csv").contains("has only 10 of the 30 trials"));
    scratch.write("c", "something else");
    assert!(refused("gd-trace p.csv --out o.csv").contains("not a complete model file"));
    scratch.table("x.csv", 20, 3);
    scratch.ok("embed x.csv --cols x.csv --target none --kernel linear --rank 2 --model c");
    assert!(refused("gd-trace p.csv --out o.csv").contains("is not a checkpoint of an online learner"));
}

#[test]
fn bad_input_is_one_clear_sentence() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(5));
    for (name, contents) in [
        ("nan.csv", "x1,y1,label\n1,nan,1\n"),
        ("ragged.csv", "x1,y1,label\n1,2,1\n1,2\n"),
        ("empty.csv", ""),
        ("header.csv", "x1,y1,label\n"),
        ("nolabel.csv", "x1,y1\n1,2\n"),
        ("half.csv", "x1,y1,label\n1,2,0.5\n"),
        ("empty.svm", "# nothing\n"),
    ] {
        scratch.write(name, contents);
    }
    for (words, expected) in [
        ("gd-trace nan.csv", "nan.csv:2: column `y1`: NaN is not a finite number"),
        ("gd-trace ragged.csv", "ragged.csv:3: 2 columns instead of 3"),
        ("gd-trace empty.csv", "empty.csv: is empty"),
        ("gd-trace header.csv", "header.csv: has no trials"),
        ("gd-trace empty.svm", "empty.svm: has no trials"),
        ("gd-trace nolabel.csv", "`label` is missing but must be given for the loss `squared`"),
        ("p-norm half.csv", "`label` is 0.5 but must be 1 or -1"),
        ("gd-tracer p.csv", "no learner `gd-tracer` (did you mean `gd-trace`?)"),
        ("gd-trace p.csv --loss hing", "no loss `hing` (did you mean `hinge`?)"),
        ("gd-trace p.csv --kernel rbv", "no kernel `rbv` (did you mean `rbf`?)"),
        ("gd-trace p.csv --kernel sne --gamma 1", "`kernel` is sne but must be a scalar product of features"),
        ("gd-trace p.csv --kernel rbf", "`gamma` is missing but must be a number above 0"),
        ("gd-trace p.csv --steps tuned", "`horizon` is missing"),
        ("gd-trace p.csv --steps huge", "no rule for step sizes `huge`"),
        ("gd-trace p.csv --step -1", "`step` is -1 but must be a number above 0"),
        ("gd-trace p.csv --budget 0", "`budget` is 0 but must be a whole number of at least 1"),
        ("gd-trace p.csv --removal lose", "no removal `lose`"),
        ("gd-trace p.csv --radius 0", "`radius` is 0 but must be a number above 0"),
        ("gd-trace p.csv --components 2", "`components` is a parameter of learner `gd-trace`"),
        ("gd-trace p.csv --precision f32", "`precision` is f32 but must be f64"),
        ("eg-plus p.csv", "instance is a pair but must be symmetric"),
        ("gd-trace nothing.csv", "nothing.csv: no such file or directory"),
        ("gd-trace -", "`format` is not clear from the name but must be csv or svmlight"),
        ("gd-trace p.csv --checkpoint c --checkpoint-every 0", "`checkpoint-every` is 0 but must be at least 1"),
        ("gd-trace p.csv --out same --checkpoint same", "another file for each result"),
    ] {
        let output = scratch.run(&format!("online {words}"));
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {message}");
        assert!(message.contains(expected), "{words}: {message}");
        assert_eq!(message.lines().filter(|line| line.starts_with("error:")).count(), 1, "{words}: {message}");
    }
}

#[test]
fn a_budget_is_kept_and_its_error_reported() {
    let scratch = Scratch::new();
    scratch.write("p.csv", pairs(300));
    let json = scratch.json("online gd-trace p.csv --kernel rbf --gamma 3 --steps fixed --step 0.3 --budget 20");
    assert!(json["stored"].as_u64().unwrap() <= 40);
    assert!(json["budget_removed"].as_u64().unwrap() > 100 && json["budget_error"].as_f64().unwrap() > 0.0);
    assert!(json["bound"].is_null() && json["regret"].is_number());
}

#[test]
fn the_regret_of_the_paper_is_within_its_bounds() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("sets/small")).unwrap();
    scratch.write("sets/small/data.csv", vectors(70).replace("x3", "kind"));
    let json = scratch.json("reproduce kmu-regret --quick --data sets --quiet");
    let sets = json["sets"].as_array().unwrap();
    assert!(sets.len() == 10 && sets[9]["name"] == "small" && sets[9]["kernel"] == "rbf", "{json}");
    for set in sets {
        for line in set["learners"].as_array().unwrap() {
            let number = |key: &str| line[key].as_f64().unwrap();
            assert!(number("regret") <= number("bound") + 1e-6, "{set}");
            assert!(number("bound") <= number("paper_bound") + 1e-6, "{set}");
        }
    }
}

/// Kernel values that come with the stream, in both formats, on one side or on both, give what the vectors themselves give.
#[test]
fn precomputed_kernels_give_the_same_predictions() {
    let scratch = Scratch::new();
    let v = |t: usize, k: usize| ((t * 7919 + k * 104_729 + t * t * (k + 3)) % 1009) as f64 / 1009.0 - 0.5;
    let gram = |s: usize, t: usize| (0..3).map(|k| v(s, k) * v(t, k)).sum::<f64>();
    let (mut plain, mut table, mut sparse) = (String::from("x1,x2,x3,y1,label\n"), String::from("x,"), String::new());
    (1..=30).for_each(|j| write!(table, "x{j},").unwrap());
    table += "y1,label\n";
    for t in 0..30 {
        let (label, y) = (if v(t, 0) > 0.0 { 1 } else { -1 }, v(t, 5));
        let _ = writeln!(plain, "{},{},{},{y},{label}", v(t, 0), v(t, 1), v(t, 2));
        let values = |cell: &dyn Fn(usize) -> String| (0..30).map(cell).collect::<String>();
        let _ = writeln!(table, "{},{}{y},{label}", t + 1, values(&|s| format!("{},", gram(s, t))));
        let _ = writeln!(sparse, "{label} 0:{} {}| 1:{y}", t + 1, values(&|s| format!("{}:{} ", s + 1, gram(s, t))));
    }
    scratch.write("plain.csv", plain);
    scratch.write("table.csv", table);
    scratch.write("sparse.svm", sparse);
    let losses = |words: &str| {
        let out = scratch.ok(&format!("online gd-trace {words} --loss squared --radius 2"));
        out.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse().unwrap()).collect::<Vec<f64>>()
    };
    let expected = losses("plain.csv");
    for words in ["table.csv", "sparse.svm"] {
        let found = losses(&format!("{words} --kernel precomputed --right-kernel linear"));
        assert_eq!(found.len(), 30);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{words}");
    }
    refused(&scratch, "online gd-trace plain.csv --kernel sne --gamma 1", &["sne", "laplacian or precomputed"]);
}

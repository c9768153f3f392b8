//! Every command that README, GUIDE and cookbook print runs as it stands, and what they print of its output is what comes out.

use super::{Scratch, text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Commands of a document, with the output that it shows of them.
struct Block {
    script: String,
    shown: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The blocks of shell commands of a document; a block of text right behind one is its output.
fn blocks(document: &str) -> Vec<Block> {
    let source = std::fs::read_to_string(root().join(document)).unwrap();
    let mut parts = source.split("```sh\n").skip(1).peekable();
    let mut out = Vec::new();
    for part in parts.by_ref() {
        let (script, rest) = part.split_once("\n```\n").unwrap();
        let shown = rest.strip_prefix("\n```text\n").map(|shown| shown.split_once("\n```\n").unwrap().0.to_string());
        out.push(Block { script: script.to_string(), shown });
    }
    out
}

/// Runs commands where the last ones ended; where these end is in the file `here`.
fn run(scratch: &Scratch, script: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_lopsided")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let here = scratch.path("here");
    let folder = std::fs::read_to_string(&here).map_or_else(|_| scratch.dir.path().into(), |f| PathBuf::from(f.trim()));
    let script = format!("set -e\n{script}\npwd > '{}'\n", here.display());
    Command::new("bash").args(["-c", &script]).current_dir(folder).env("PATH", path).output().unwrap()
}

/// Whether a line is as shown: words are equal, numbers nearly, and `…` is any word, or the rest of a line where it is the last.
fn fits(shown: &str, found: &str) -> bool {
    let trimmed = |word: &str| word.trim_matches([',', ':', '(', ')', '.']).to_string();
    let near = |a: &str, b: &str| match (trimmed(a).parse::<f64>(), trimmed(b).parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 0.05 * a.abs().max(b.abs()) + 0.01,
        _ => a == b,
    };
    let (shown, found): (Vec<&str>, Vec<&str>) =
        (shown.split_whitespace().collect(), found.split_whitespace().collect());
    if shown.last() == Some(&"…") {
        let shown = &shown[..shown.len() - 1];
        return found.len() > shown.len() && shown.iter().zip(&found).all(|(a, b)| *a == "…" || near(a, b));
    }
    shown.len() == found.len() && shown.iter().zip(&found).all(|(a, b)| *a == "…" || near(a, b))
}

/// Runs the blocks of a document in one folder, one after the other.
fn check(document: &str) {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink(root().join("docs"), scratch.path("docs")).unwrap();
    let blocks = blocks(document);
    assert!(blocks.len() > 5, "{document} has few commands");
    for Block { script, shown } in blocks {
        let output = run(&scratch, &script);
        assert!(output.status.success(), "{document}: {script}\n{}", text(&output.stderr));
        let Some(shown) = shown else { continue };
        let found = text(&output.stdout);
        let lines = |text: &str| text.trim_end().lines().map(String::from).collect::<Vec<_>>();
        let (shown, found) = (lines(&shown), lines(&found));
        assert_eq!(shown.len(), found.len(), "{document}: {script}\n{}", found.join("\n"));
        for (shown, found) in shown.iter().zip(&found) {
            assert!(fits(shown, found), "{document}: {script}\nshown: {shown}\nfound: {found}");
        }
    }
}

#[test]
fn the_guide_runs_and_shows_what_comes_out() {
    check("GUIDE.md");
}

#[test]
fn the_cookbook_runs() {
    check("docs/cookbook.md");
}

#[test]
fn commands_of_the_readme_run() {
    let scratch = Scratch::new();
    super::help::files(&scratch);
    scratch.write("unknown.txt", (200..400).map(|i| i.to_string()).collect::<Vec<_>>().join("\n"));
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let all: Vec<String> = blocks("README.md").into_iter().map(|block| block.script).collect();
    let lines = all.join("\n").replace("\\\n", " ");
    let mut run_here = 0;
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        let line = line.split(" #").next().unwrap().trim();
        if let Some(verb) = line.strip_prefix("make ") {
            let verb = verb.split_whitespace().next().unwrap();
            assert!(makefile.contains(&format!("\n{verb}:")), "no verb {verb}");
        } else if !line.starts_with("alias ") {
            let output = run(&scratch, line);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{line}\n{}", text(&output.stderr));
            run_here += 1;
        }
    }
    assert!(run_here >= 4, "{lines}");
}

#[test]
fn lines_fit_where_numbers_are_near() {
    assert!(fits("rank 8, σ 0.719 cost …", "rank 8, σ 0.7188 cost 3 s and more"));
    assert!(fits("svd  0.925 ± 0.024  0  …  SVD", "svd  0.9250 ± 0.0238  0  0.2  SVD"));
    assert!(!fits("rank 8", "rank 9") && !fits("rank 8", "rank 8 more") && !fits("a …", "a"));
}

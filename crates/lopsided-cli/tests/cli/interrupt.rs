#![cfg(unix)]

use super::{Scratch, text};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Waits until the program listens for interrupts and has begun its work: its threads are there.
fn wait_until_busy(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    for _ in 0..2000 {
        // On systems without /proc the time has to do.
        let threads = std::fs::read_dir(&tasks).map_or(0, Iterator::count);
        if threads > 1 {
            return std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn interrupted(mut child: Child) -> Output {
    wait_until_busy(&child);
    if let Some(status) = child.try_wait().unwrap() {
        panic!("ended before it could be interrupted: {status}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    // Taken out, so that waiting does not close it.
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    output
}

fn started(scratch: &Scratch, words: &str) -> Child {
    let mut command = scratch.command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn work_stops_and_leaves_no_file() {
    let scratch = Scratch::new();
    scratch.table("x.csv", 12_000, 3);
    let words = "embed x.csv --cols x.csv --format csv --target none --kernel t --rank 300 --tol 1e-13 \
                 --solver lanczos --operator tiles --rows-out r.npy --model m";
    let output = interrupted(started(&scratch, words));
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stderr), "interrupted\n");
    assert_eq!(scratch.files(), ["x.csv"]);
}

#[test]
fn a_comparison_stops_and_leaves_no_page() {
    let scratch = Scratch::new();
    super::reproduce::write_graph(scratch.dir.path(), 2000);
    let output = interrupted(started(&scratch, "compare edges.csv --labels labels.csv --report p.html --out s.csv"));
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stderr), "interrupted\n");
    assert_eq!(scratch.files(), ["edges.csv", "labels.csv"]);
}

#[test]
fn a_process_that_waits_for_input_ends_as_well() {
    let scratch = Scratch::new();
    let output = interrupted(started(&scratch, "embed - --format edges --rows-out r.npy"));
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stderr), "interrupted\n");
    assert!(scratch.files().is_empty());
}

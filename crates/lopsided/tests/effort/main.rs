//! Fixed small problems cost what they cost before: kernel values, products, operations and bytes are counted, not seconds.

#![expect(clippy::print_stderr, reason = "the table of differences")]

mod allocator;
mod problems;

use lopsided::data::synth;
use lopsided::operator::{DenseOperator, Operator};
use lopsided::{Mat, Run};
use problems::{PROBLEMS, Problem};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Share of a recorded number by which it may change.
const TOLERANCE: f64 = 0.05;
/// Set to write the numbers instead of comparing them.
const RECORD: &str = "LOPSIDED_RECORD_WORK";
const PEAK_BYTES: &str = "peak bytes";

/// Problem and quantity.
type Key = (String, String);

#[test]
fn work_stays_what_was_recorded() {
    // One thread at one task: how far others are would show in the peak.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let found: Vec<(Key, u64)> = pool.install(|| {
        warm_up();
        PROBLEMS.iter().flat_map(counted).collect()
    });
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/effort/recorded.csv");
    if std::env::var_os(RECORD).is_some() {
        std::fs::write(&file, as_csv(&found)).unwrap();
        return;
    }
    let recorded = from_csv(&std::fs::read_to_string(&file).unwrap());
    let changed = differences(&recorded, &found.into_iter().collect());
    assert!(
        changed == 0,
        "{changed} numbers are more than 5 % away from tests/effort/recorded.csv (table above); if that is meant, record them again \
         with {RECORD}=1 cargo test --workspace --test effort"
    );
}

/// Matrix products keep buffers for each thread, whose size depends on the caches of the processor.
fn warm_up() {
    let g = synth::gaussian::<f64>(600, 600, 0);
    let mut out = Mat::zeros(600, 600);
    DenseOperator::Borrowed(g.as_ref()).apply(g.as_ref(), out.as_mut()).unwrap();
}

/// All that is counted of a problem.
fn counted(problem: &Problem) -> Vec<(Key, u64)> {
    let run = Run { seed: 1, ..Run::default() };
    let solve = (problem.prepare)();
    let (bytes, own) = allocator::peak_bytes(|| solve(&run));
    let work = run.watch.work();
    let flops = 2 * problem.width * work.evaluations + 2 * problem.cells(work.evaluations) * work.products;
    let common = [
        ("kernel evaluations", work.evaluations),
        ("products", work.products),
        ("entries read", work.entries),
        ("flops", flops),
        (PEAK_BYTES, bytes),
    ];
    let all = common.into_iter().filter(|(_, value)| *value > 0).chain(own);
    all.map(|(quantity, value)| ((problem.name.to_string(), quantity.to_string()), value)).collect()
}

/// Prints every number that is not the recorded one; how many are too far from it.
fn differences(recorded: &BTreeMap<Key, u64>, found: &BTreeMap<Key, u64>) -> usize {
    let mut changed = 0;
    for key in recorded.keys().chain(found.keys().filter(|key| !recorded.contains_key(*key))) {
        let (before, now) = (recorded.get(key), found.get(key));
        if before == now || ignored(&key.1) {
            continue;
        }
        let change = match (before, now) {
            (Some(&before), Some(&now)) => now as f64 / before as f64 - 1.0,
            _ => f64::INFINITY,
        };
        let far = change.abs() > TOLERANCE;
        changed += usize::from(far);
        let shown = |value: Option<&u64>| value.map_or("none".to_string(), u64::to_string);
        let mark = if far { "  <- too far" } else { "" };
        let (problem, quantity) = key;
        eprintln!("{problem}, {quantity}: {} -> {} ({:+.1} %){mark}", shown(before), shown(now), 100.0 * change);
    }
    changed
}

/// Elsewhere matrix products allocate anew each time, by the caches of the processor.
fn ignored(quantity: &str) -> bool {
    quantity == PEAK_BYTES && !cfg!(target_arch = "x86_64")
}

fn as_csv(found: &[(Key, u64)]) -> String {
    let mut out = String::from("problem,quantity,value\n");
    for ((problem, quantity), value) in found {
        writeln!(out, "{problem},{quantity},{value}").unwrap();
    }
    out
}

fn from_csv(text: &str) -> BTreeMap<Key, u64> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        ((fields[0].to_string(), fields[1].to_string()), fields[2].parse().unwrap())
    };
    text.lines().skip(1).map(line).collect()
}

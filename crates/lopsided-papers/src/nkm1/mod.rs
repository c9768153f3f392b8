//! \[NKM\] Figures 1 and 2 with support vector machines, ridge regression and principal components: error and accuracy over the share of landmarks.

mod figures;
mod machines;
mod text;

pub(super) use figures::pictures;
pub(super) use text::text;

use super::sets::Folder;
use super::{Settings, tell};
use crate::Desk;
use crate::tasks::standardized_by;
use anyhow::Result;
use lopsided::estimators::{Approach, Approximation, Comparison, KernelPca, SvmKind};
use lopsided::evaluation::Spread;
use lopsided::metrics::split as divide;
use lopsided::solvers::landmarks::samplers;
use lopsided::{Dataset, Error, Mat, Run, Samples, Target};
use machines::accuracy;
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Most rows to learn from unless a number is given.
pub(super) const MAX_ROWS: usize = 2500;
/// Fewest: one percent of fewer rows is no choice of landmarks.
const MIN_ROWS: usize = 500;
/// Landmarks as shares of the training samples.
const RATIOS: [f64; 6] = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1];
/// The same for a quick look.
const FEW_RATIOS: [f64; 2] = [0.02, 0.1];
/// Share of the rows that are tested on where a set has no test part.
const TEST: f64 = 0.2;

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    rows: usize,
    test_rows: usize,
    columns: usize,
    classes: usize,
    gamma_factor: String,
    penalty: String,
    svm_penalty: f64,
    /// None where the rarest class allows none of those to choose from.
    nu: Option<f64>,
    rank: usize,
    exact: Vec<Exact>,
    lines: Vec<Line>,
    files: Vec<PathBuf>,
    seconds: f64,
}

/// An exact machine.
#[derive(Serialize)]
struct Exact {
    machine: &'static str,
    /// ‖f*‖ over all classes or components.
    norm: f64,
    accuracy: f64,
    seconds: f64,
}

/// An approximate machine over all trials.
#[derive(Clone, Serialize)]
struct Line {
    machine: &'static str,
    sampler: &'static str,
    ratio: f64,
    landmarks: usize,
    approach: &'static str,
    /// ‖f − f*‖ over all functions: classes, pairs of classes or components, Eq. (15) and (19).
    error: Spread,
    accuracy: Spread,
    /// From the choice of landmarks to the machine, measured while trials run side by side.
    seconds: Spread,
    /// Whether no other line of the machine is as accurate in less time.
    frontier: bool,
}

/// Rows to learn from and rows to test on.
struct Split {
    train: Dataset<f64>,
    test: Dataset<f64>,
}

/// All samplers and approaches on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let split = split(folder, settings, desk.run.seed)?;
    let (rows, columns) = (split.train.x.count(), split.train.x.width());
    tell(desk, &format!("{}: {rows} rows to learn from, {} to test on", folder.name, split.test.x.count()));
    let (ridge, tuned) = machines::ridge(&split.train, settings, &desk.run)?;
    let (svm, svm_penalty) = machines::svm(ridge.gram.clone(), &split.train, settings, &desk.run)?;
    let rank = settings.rank.min(rows);
    let pca = KernelPca::new(ridge.gram.clone()).with_rank(rank);
    let nu = machines::nu(&svm, &split.train, settings, &desk.run)?;
    let mut machines = vec![
        ("svm", Comparison::svm(&svm, &split.train, &desk.run)?),
        ("krr", Comparison::ridge(&ridge, &split.train, &desk.run)?),
        ("kpca", Comparison::pca(&pca, &split.train, &desk.run)?),
    ];
    if let Some(nu) = nu {
        let nu_svm = svm.with_kind(SvmKind::Nu(nu));
        machines.insert(0, ("nu-svm", Comparison::svm(&nu_svm, &split.train, &desk.run)?));
    }
    let (mut exact, mut lines) = (Vec::new(), Vec::new());
    for (name, comparison) in &machines {
        exact.push(exact_machine(name, comparison, &split, &desk.run)?);
        for sampler in samplers::<f64>().iter().map(|entry| entry.name) {
            for &ratio in if settings.quick { &FEW_RATIOS[..] } else { &RATIOS } {
                lines.extend(trials((name, comparison), (sampler, ratio), &split, settings, desk)?);
            }
            tell(desk, &format!("{}: {name} with {sampler} ({:.0} s)", folder.name, start.elapsed().as_secs_f64()));
        }
    }
    mark_frontier(&mut lines);
    let classes = match &split.train.y {
        Some(Target::Classes { names, .. }) => names.len(),
        _ => 0,
    };
    let setting = |name: &str| tuned.value(name).map_or(String::new(), ToString::to_string);
    let mut report = SetReport {
        name: folder.name.clone(),
        rows,
        test_rows: split.test.x.count(),
        columns,
        classes,
        gamma_factor: setting("gamma-factor"),
        penalty: setting("penalty"),
        svm_penalty,
        nu,
        rank,
        exact,
        lines,
        files: Vec::new(),
        seconds: start.elapsed().as_secs_f64(),
    };
    if let Some(out) = &settings.out {
        report.files = figures::write(out, &report)?;
    }
    Ok(report)
}

/// The test part of the set, or a random fifth of its rows; at most so many rows to learn from.
fn split(folder: &Folder, settings: &Settings, seed: u64) -> Result<Split> {
    let (all, test) = folder.raw_table()?;
    if !matches!(all.y, Some(Target::Classes { .. })) {
        return Err(Error::param("target", "values", "classes").into());
    }
    let n = all.x.count();
    let (mut rows, tested) = divide(n, if test.is_some() { 1.0 } else { 1.0 - TEST }, seed);
    if rows.len() > settings.max_rows {
        let (kept, _) = divide(rows.len(), settings.max_rows as f64 / rows.len() as f64, seed);
        rows = kept.iter().map(|&at| rows[at]).collect();
    }
    if rows.len() < MIN_ROWS {
        return Err(Error::param("rows", rows.len(), format!("at least {MIN_ROWS} to learn from")).into());
    }
    let test = test.unwrap_or_else(|| all.rows(&tested));
    Ok(scaled(Split { train: all.rows(&rows), test }))
}

/// Columns within [-1, 1] stay as they are; others get mean 0 and deviation 1 over the rows to learn from.
fn scaled(split: Split) -> Split {
    let largest = |data: &Dataset<f64>| {
        let row = |i: usize| {
            let mut most = 0.0f64;
            data.x.as_ref().for_each(i, |_, v| most = most.max(v.abs()));
            most
        };
        (0..data.x.count()).map(row).fold(0.0, f64::max)
    };
    if largest(&split.train) <= 1.0 {
        return split;
    }
    let (n, m, width) = (split.train.x.count(), split.test.x.count(), split.train.x.width());
    let mut both = Mat::zeros(n + m, width);
    for (start, part) in [(0, &split.train), (n, &split.test)] {
        (0..part.x.count()).for_each(|i| part.x.as_ref().for_each(i, |j, v| both[(start + i, j)] = v));
    }
    let both = standardized_by(both, &(0..n).collect::<Vec<_>>());
    let part = |start: usize, count: usize| Samples::Dense(both.subrows(start, count).to_owned());
    Split { train: Dataset { x: part(0, n), ..split.train }, test: Dataset { x: part(n, m), ..split.test } }
}

fn exact_machine(name: &'static str, comparison: &Comparison<f64>, split: &Split, run: &Run) -> Result<Exact> {
    let functions = comparison.exact(run)?;
    let accuracy = accuracy(name, &functions, split, run)?;
    Ok(Exact { machine: name, norm: total(&comparison.exact_norms()), accuracy, seconds: comparison.exact_seconds })
}

/// Both approaches over all trials, which run side by side.
fn trials(
    (machine, comparison): (&'static str, &Comparison<f64>),
    (sampler, ratio): (&'static str, f64),
    split: &Split,
    settings: &Settings,
    desk: &Desk,
) -> Result<Vec<Line>> {
    let landmarks = ((ratio * split.train.x.count() as f64).round() as usize).max(1);
    let approximation = Approximation::new(Approach::Lla, sampler, landmarks);
    let one = |trial: usize| -> lopsided::Result<Option<[[f64; 3]; 2]>> {
        let run = Run { seed: desk.run.seed + trial as u64, watch: desk.run.watch.silent(), ..desk.run.clone() };
        let found = match comparison.attempt(&approximation, &run) {
            // So few landmarks that the classes of some pair are not told apart at all.
            Err(Error::Param { name, .. }) if name == "nu" => return Ok(None),
            found => found?,
        };
        let lla = [total(&found.errors.lla), accuracy(machine, &found.lla, split, &run)?, found.lla_seconds];
        let gsa = [total(&found.errors.gsa), accuracy(machine, &found.gsa, split, &run)?, found.gsa_seconds];
        Ok(Some([lla, gsa]))
    };
    let found: Vec<Option<[[f64; 3]; 2]>> =
        (0..settings.trials).into_par_iter().map(one).collect::<lopsided::Result<_>>()?;
    let found: Vec<[[f64; 3]; 2]> = found.into_iter().flatten().collect();
    if found.len() < settings.trials {
        let without = settings.trials - found.len();
        tell(desk, &format!("{machine} with {landmarks} landmarks of {sampler}: no margin in {without} trials"));
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let line = |(at, approach): (usize, &'static str)| {
        let [error, accuracy, seconds] = [0, 1, 2].map(|which| Spread::of(found.iter().map(|trial| trial[at][which])));
        Line { machine, sampler, ratio, landmarks, approach, error, accuracy, seconds, frontier: false }
    };
    Ok([(0, "lla"), (1, "gsa")].map(line).to_vec())
}

fn total(each: &[f64]) -> f64 {
    each.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Lines that no other line of the same machine beats in accuracy and time.
fn mark_frontier(lines: &mut [Line]) {
    let beaten = |line: &Line, other: &Line| {
        let (a, b) = ((other.accuracy.mean, -other.seconds.mean), (line.accuracy.mean, -line.seconds.mean));
        other.machine == line.machine && a.0 >= b.0 && a.1 >= b.1 && a != b
    };
    let marks: Vec<bool> = lines.iter().map(|line| !lines.iter().any(|other| beaten(line, other))).collect();
    lines.iter_mut().zip(marks).for_each(|(line, mark)| line.frontier = mark);
}

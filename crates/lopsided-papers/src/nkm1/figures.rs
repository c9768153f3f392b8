//! The figures of nkm-1: numbers and pictures.

use super::{Exact, Line, SetReport};
use crate::Picture;
use lopsided::base::file::write_atomically;
use lopsided::report::svg::{self, Series};
use lopsided::{Error, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const APPROACHES: [&str; 2] = ["lla", "gsa"];
const ACROSS: &str = "landmarks, % of the training samples";

/// Writes everything about a set.
pub(super) fn write(folder: &Path, set: &SetReport) -> Result<Vec<PathBuf>> {
    let mut files = vec![("lines.csv".to_string(), table(set))];
    for exact in &set.exact {
        let machine = exact.machine;
        let error = |line: &Line| line.error.mean;
        let accuracy = |line: &Line| line.accuracy.mean;
        files.push((format!("{machine}-error.svg"), picture(set, machine, "distance from exact", error, None)));
        let level = Some(exact.accuracy);
        files.push((format!("{machine}-accuracy.svg"), picture(set, machine, "accuracy", accuracy, level)));
        files.push((format!("{machine}-frontier.svg"), against_seconds(set, machine, "accuracy", accuracy).file()));
    }
    files.into_iter().map(|(kind, text)| save(&folder.join(format!("{}-{kind}", set.name)), &text)).collect()
}

fn save(path: &Path, text: &str) -> Result<PathBuf> {
    write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))?;
    Ok(path.to_path_buf())
}

fn table(set: &SetReport) -> String {
    let mut out = String::from(
        "machine,sampler,approach,ratio,landmarks,error,error_deviation,accuracy,accuracy_deviation,seconds,seconds_deviation,frontier\n",
    );
    for exact in &set.exact {
        let _ = writeln!(out, "{},,exact,1,{},0,0,{},0,{},0,", exact.machine, set.rows, exact.accuracy, exact.seconds);
    }
    for line in &set.lines {
        let spreads = [line.error, line.accuracy, line.seconds].map(|s| format!("{:e},{:e}", s.mean, s.deviation));
        let Line { machine, sampler, approach, ratio, landmarks, frontier, .. } = line;
        let _ = writeln!(out, "{machine},{sampler},{approach},{ratio},{landmarks},{},{frontier}", spreads.join(","));
    }
    out
}

fn names(set: &SetReport) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = set.lines.iter().map(|line| line.sampler).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A panel for each sampler with a line for each approach.
fn picture(set: &SetReport, machine: &str, what: &str, value: fn(&Line) -> f64, level: Option<f64>) -> String {
    let panel = |sampler: &&str| {
        let own = |approach: &str| -> Vec<(f64, f64)> {
            let wanted = |l: &&Line| l.machine == machine && l.sampler == *sampler && l.approach == approach;
            set.lines.iter().filter(wanted).map(|line| (100.0 * line.ratio, value(line))).collect()
        };
        let mut series: Vec<Series> =
            (0u32..).zip(APPROACHES).map(|(class, a)| Series { class, points: own(a), dashed: false }).collect();
        let flat = level.map(|level| own("lla").iter().map(|p| (p.0, level)).collect());
        series.extend(flat.map(|points| Series { class: 2, points, dashed: true }));
        svg::lines(&series, &format!("{}, {machine}: {sampler}", set.name), (ACROSS, what))
    };
    let panels: Vec<String> = names(set).iter().map(panel).collect();
    let legend = ["LLA (and NCR)", "GSA", "exact"];
    svg::file(&panels, &legend[..if level.is_some() { 3 } else { 2 }])
}

/// What the page of a set shows of each machine: the distance from the exact one, and the accuracy, against seconds.
pub(crate) fn pictures(set: &SetReport) -> Vec<Picture> {
    let caption = "A line for each sampler, with more landmarks from left to right; lower left is better for the distance, \
                   upper left for the accuracy.";
    let of = |exact: &Exact| {
        let error = against_seconds(set, exact.machine, "distance from exact", |line| line.error.mean);
        let accuracy = against_seconds(set, exact.machine, "accuracy", |line| line.accuracy.mean);
        let panels = [error.panels, accuracy.panels].concat();
        Picture { panels, caption: format!("{}, {}: {caption}", set.name, exact.machine), ..error }
    };
    set.exact.iter().map(of).collect()
}

/// A measure over seconds: a line for each sampler, a panel for each approach.
fn against_seconds(set: &SetReport, machine: &str, what: &str, value: fn(&Line) -> f64) -> Picture {
    let samplers = names(set);
    let panel = |approach: &str| {
        let series = |(class, sampler): (u32, &&'static str)| {
            let wanted = |l: &&Line| l.machine == machine && l.sampler == *sampler && l.approach == approach;
            let points = set.lines.iter().filter(wanted).map(|line| (line.seconds.mean, value(line))).collect();
            Series { class, points, dashed: false }
        };
        let series: Vec<Series> = (0u32..).zip(&samplers).map(series).collect();
        svg::lines(&series, &format!("{}, {machine}: {approach}", set.name), ("seconds", what))
    };
    let panels = APPROACHES.map(panel).to_vec();
    Picture { panels, legend: samplers.iter().map(ToString::to_string).collect(), caption: String::new() }
}

//! Scores by the number of components: how much each method says in few of them.

use super::figures::save;
use super::methods::place;
use crate::Picture;
use crate::tasks::{Grid, Trial, summarize};
use lopsided::evaluation::Spread;
use lopsided::report::svg::{self, Series};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Components of each side.
const RANKS: [usize; 6] = [10, 30, 100, 300, 500, 1000];

/// One point of a curve: bandwidth and penalty are chosen by cross-validation for this number of components.
#[derive(Clone, Serialize)]
pub(super) struct Point {
    pub(super) rank: usize,
    pub(super) micro_f1: Spread,
    pub(super) macro_f1: Spread,
}

/// The curve of one method.
#[derive(Clone)]
pub(super) struct Curve {
    pub(super) method: String,
    pub(super) points: Vec<Point>,
}

fn ranks(most: usize) -> impl Iterator<Item = usize> {
    RANKS.into_iter().filter(move |rank| *rank <= most)
}

/// A grid for every point.
pub(super) fn grids(most: usize, penalties: &[f64]) -> Vec<Grid> {
    ranks(most).map(|rank| Grid { ranks: vec![rank], penalties: penalties.to_vec() }).collect()
}

/// The curve from trials whose grids from `first` on are those of [`grids`].
pub(super) fn points(trials: &[Vec<Trial>], most: usize, first: usize) -> Vec<Point> {
    let point = |(at, rank): (usize, usize)| {
        let summary = summarize(trials, first + at);
        Point { rank, micro_f1: summary.micro_f1, macro_f1: summary.macro_f1 }
    };
    ranks(most).enumerate().map(point).collect()
}

/// Where the best kernel method is ahead of the best linear one, in a sentence.
pub(super) fn sentence(curves: &[Curve]) -> Option<String> {
    let (kernel, linear): (Vec<&Curve>, Vec<_>) = curves.iter().partition(|c| c.method.starts_with("KSVD"));
    if kernel.is_empty() || linear.is_empty() {
        return None;
    }
    let best = |among: &[&Curve], at: usize| {
        let scores = among.iter().filter_map(|c| c.points.get(at).map(|p| (c.method.clone(), p.micro_f1.mean)));
        scores.reduce(|a, b| if b.1 > a.1 { b } else { a })
    };
    let count = curves.iter().map(|c| c.points.len()).min()?;
    let leads: Vec<String> = (0..count)
        .filter_map(|at| {
            let ((name, ours), (other, theirs)) = (best(&kernel, at)?, best(&linear, at)?);
            let rank = kernel.first()?.points[at].rank;
            (ours > theirs).then(|| format!("{rank} ({name} {ours:.3}, {other} {theirs:.3})"))
        })
        .collect();
    Some(if leads.is_empty() {
        "KSVD is ahead of all other methods at no number of components.".into()
    } else {
        format!("KSVD is ahead of all other methods with {} components.", leads.join(", "))
    })
}

/// The curves as a table, a line for each method.
pub(super) fn text(curves: &[Curve]) -> String {
    let Some(first) = curves.first() else { return String::new() };
    let head: Vec<String> = first.points.iter().map(|p| format!("{:>13}", p.rank)).collect();
    let mut out = format!("micro-F1 by the number of components, tuned\nmethod    {}\n", head.join("  "));
    for curve in curves {
        let cell = |p: &Point| format!("{:.3} ± {:.3}", p.micro_f1.mean, p.micro_f1.deviation);
        let cells: Vec<String> = curve.points.iter().map(cell).collect();
        let _ = writeln!(out, "{:9} {}", curve.method, cells.join("  "));
    }
    out + &sentence(curves).map_or(String::new(), |s| s + "\n")
}

/// The curves that an earlier run wrote, of methods that are not computed now; what cannot be read is no curve.
fn earlier(path: &Path, now: &[Curve]) -> Vec<Curve> {
    let mut found: Vec<Curve> = Vec::new();
    for line in std::fs::read_to_string(path).unwrap_or_default().lines().skip(1) {
        let mut words = line.split(',');
        let method = words.next().unwrap_or_default();
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        let &[rank, micro, micro_deviation, macro_f1, macro_deviation] = &numbers[..] else { continue };
        if now.iter().any(|curve| curve.method == method) {
            continue;
        }
        let spread = |mean, deviation| Spread { mean, deviation };
        let point = Point {
            rank: rank as usize,
            micro_f1: spread(micro, micro_deviation),
            macro_f1: spread(macro_f1, macro_deviation),
        };
        match found.iter_mut().find(|curve| curve.method == method) {
            Some(curve) => curve.points.push(point),
            None => found.push(Curve { method: method.into(), points: vec![point] }),
        }
    }
    found
}

/// Writes the curves as numbers and as a picture, beside those of other methods that an earlier run left in the folder.
pub(super) fn write(folder: &Path, name: &str, curves: &[Curve]) -> lopsided::Result<Vec<PathBuf>> {
    let mut curves = [earlier(&folder.join(format!("{name}-ranks.csv")), curves), curves.to_vec()].concat();
    curves.sort_by_key(|curve| place(&curve.method));
    let curves = &curves[..];
    let mut table = String::from("method,rank,micro_f1,micro_f1_deviation,macro_f1,macro_f1_deviation\n");
    for curve in curves {
        for p in &curve.points {
            let (micro, macro_f1) = (p.micro_f1, p.macro_f1);
            let _ = writeln!(
                table,
                "{},{},{},{},{},{}",
                curve.method, p.rank, micro.mean, micro.deviation, macro_f1.mean, macro_f1.deviation
            );
        }
    }
    [("ranks.csv", table), ("ranks.svg", picture(name, curves).file())]
        .into_iter()
        .map(|(kind, text)| save(&folder.join(format!("{name}-{kind}")), &text))
        .collect()
}

/// The curves of all methods in one figure.
pub(super) fn picture(name: &str, curves: &[Curve]) -> Picture {
    let series = |(class, curve): (u32, &Curve)| Series {
        class,
        points: curve.points.iter().map(|p| (p.rank as f64, p.micro_f1.mean)).collect(),
        dashed: false,
    };
    let series: Vec<Series> = (0u32..).zip(curves).map(series).collect();
    Picture {
        panels: vec![svg::lines(&series, name, ("components of each side", "micro-F1"))],
        legend: curves.iter().map(|curve| curve.method.clone()).collect(),
        caption: sentence(curves).unwrap_or_else(|| "How much each method says in few components.".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_where_the_kernel_leads() {
        let spread = |mean| Spread { mean, deviation: 0.0 };
        let points = |scores: [f64; 2]| -> Vec<Point> {
            let point = |(rank, s)| Point { rank, micro_f1: spread(s), macro_f1: spread(s) };
            [10, 30].into_iter().zip(scores).map(point).collect()
        };
        let (kernel, linear) = (points([0.5, 0.8]), points([0.6, 0.7]));
        let curve = |method: &str, points| Curve { method: method.into(), points };
        let curves = [curve("SVD", linear), curve("KSVD RBF", kernel)];
        let said = sentence(&curves).unwrap();
        assert_eq!(said, "KSVD is ahead of all other methods with 30 (KSVD RBF 0.800, SVD 0.700) components.");
        assert!(text(&curves).contains("0.500 ± 0.000  0.800 ± 0.000"));
        assert_eq!(grids(30, &[1.0]).len(), 2);
    }
}

//! Curves between two linear axes, and counts of values.

use super::{Axis, LEFT, Plot, Series, Words, lines, pixel};
use std::fmt::Write;

/// Height of these figures.
const HEIGHT: f64 = 320.0;
/// Bars of a histogram.
const BARS: usize = 30;

/// Lines between two linear axes; values that are not finite are left out.
///
/// ```
/// use lopsided::report::svg::{Series, curves};
///
/// let found = Series { class: 0, points: vec![(0.0, 0.0), (0.2, 0.9), (1.0, 1.0)], dashed: false };
/// let chance = Series { class: 6, points: vec![(0.0, 0.0), (1.0, 1.0)], dashed: true };
/// assert!(curves(&[found, chance], "ROC", ("false", "true")).contains("2 lines: false across, true upwards."));
/// ```
pub fn curves(series: &[Series], title: &str, axes: (&str, &str)) -> String {
    let kept = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
    let all = || series.iter().flat_map(|s| s.points.iter()).filter(kept);
    let plot = Plot { height: HEIGHT, x: Axis::linear(all().map(|p| p.0)), y: Axis::linear(all().map(|p| p.1)) };
    let path = |s: &Series| {
        let points: Vec<(f64, f64)> = s.points.iter().filter(kept).copied().collect();
        // Dots where they can be told apart.
        if points.len() > 60 { line(&plot, s, &points) } else { lines::path(&plot, s.class, &points, s.dashed) }
    };
    let marks: String = series.iter().map(path).collect();
    let about = format!("{} lines: {} across, {} upwards.", series.len(), axes.0, axes.1);
    plot.svg(&Words { title, about: &about, across: axes.0, up: axes.1, note: "" }, &marks)
}

fn line(plot: &Plot, series: &Series, points: &[(f64, f64)]) -> String {
    let corner = |p: &(f64, f64)| format!("{} {}", pixel(plot.px(p.0)), pixel(plot.py(p.1)));
    let corners: Vec<String> = points.iter().map(corner).collect();
    format!("<path class=\"line k{}\" style=\"stroke-opacity:1\" d=\"M{}\"/>", series.class, corners.join("L"))
}

/// How often values occur: bars of one width for each group, over one axis; the groups have the colours of classes 0, 1, 2, …
///
/// ```
/// let plot = lopsided::report::svg::histogram(&[vec![0.1, 0.2, 0.9], vec![-0.4]], "Margins", "margin");
/// assert!(plot.contains("4 values in 2 groups"));
/// ```
pub fn histogram(groups: &[Vec<f64>], title: &str, across: &str) -> String {
    let finite = || groups.iter().flatten().copied().filter(|v| v.is_finite());
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let (low, high) = if low < high { (low, high) } else { (low.min(0.0) - 0.5, high.max(0.0) + 0.5) };
    let (low, high) = if low.is_finite() && (high - low).is_finite() { (low, high) } else { (-0.5, 0.5) };
    let step = (high - low) / BARS as f64;
    let counts: Vec<[usize; BARS]> = groups.iter().map(|group| counted(group, low, step)).collect();
    let most = counts.iter().flatten().copied().max().unwrap_or(0);
    let plot = Plot {
        height: HEIGHT,
        x: Axis::linear([low, high].into_iter()),
        y: Axis::linear([0.0, most.max(1) as f64].into_iter()).starting_at(0.0),
    };
    let width = (plot.px(low + step) - plot.px(low)) / groups.len().max(1) as f64;
    let mut marks = String::new();
    for (g, counts) in counts.iter().enumerate() {
        let mut bars = String::new();
        for (k, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let left = plot.px(low + k as f64 * step) + g as f64 * width;
            let (foot, top) = (pixel(plot.py(0.0)), pixel(plot.py(count as f64)));
            let _ = write!(bars, "M{} {foot}V{top}h{}V{foot}z", pixel(left), pixel((width - 0.6).max(0.4)));
        }
        let _ = write!(marks, "<path class=\"fill k{}\" d=\"{bars}\"/>", g % 8);
    }
    let about = format!("{} values in {} groups.", finite().count(), groups.len());
    debug_assert!(plot.px(low) >= LEFT);
    plot.svg(&Words { title, about: &about, across, up: "count", note: "" }, &marks)
}

fn counted(values: &[f64], low: f64, step: f64) -> [usize; BARS] {
    let mut out = [0; BARS];
    for value in values.iter().filter(|v| v.is_finite()) {
        out[(((value - low) / step) as usize).min(BARS - 1)] += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_one_bar() {
        assert_eq!(counted(&[0.0, 0.1, 29.9, 30.0, f64::NAN], 0.0, 1.0).iter().sum::<usize>(), 4);
    }

    #[test]
    fn nothing_unusual_breaks_a_figure() {
        for values in [vec![], vec![1.0], vec![f64::NAN], vec![f64::MAX, f64::MIN], vec![2.0; 9]] {
            let points = values.iter().map(|v| (*v, *v)).collect();
            let series = [Series { class: 1, points, dashed: false }];
            for figure in [histogram(std::slice::from_ref(&values), "a<b", "x"), curves(&series, "a<b", ("x", "y"))] {
                assert!(figure.contains("a&lt;b") && !figure.contains("NaN") && !figure.contains("inf"), "{figure}");
            }
        }
    }
}

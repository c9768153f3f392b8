//! Lines over a common axis, and files of their own with several plots.

use super::{Axis, LEFT, Plot, WIDTH, Words, dot_path, escape, pixel};
use std::fmt::Write;

/// Height of every plot of lines.
const HEIGHT: f64 = 320.0;
/// Height of the legend below the plots.
const LEGEND: f64 = 34.0;

/// Room for the number at a place.
const LABEL: f64 = 36.0;

/// Points joined by a line; dashed and without dots for a level to compare with.
///
/// The same class in several figures has the same colour.
pub struct Series {
    /// Position in the legend, which gives the colour.
    pub class: u32,
    /// Places and values.
    pub points: Vec<(f64, f64)>,
    /// Whether it is a level to compare with.
    pub dashed: bool,
}

/// Lines over a logarithmic horizontal axis; values that are not finite, and places not above 0, are left out.
///
/// The horizontal axis is marked at the places that occur, as many of them as have room for their number.
///
/// ```
/// use lopsided::report::svg::{Series, file, lines};
///
/// let ksvd = Series { class: 0, points: vec![(10.0, 0.5), (100.0, 0.7)], dashed: false };
/// let level = Series { class: 1, points: vec![(10.0, 0.6), (100.0, 0.6)], dashed: true };
/// let plot = lines(&[ksvd, level], "Rank", ("rank", "micro F1"));
/// assert!(plot.contains("2 lines: rank across, micro F1 upwards."));
/// assert!(file(&[plot], &["ksvd", "svd"]).starts_with("<svg xmlns="));
/// ```
pub fn lines(series: &[Series], title: &str, axes: (&str, &str)) -> String {
    let kept = |p: &&(f64, f64)| p.0.is_finite() && p.0 > 0.0 && p.1.is_finite();
    let all = || series.iter().flat_map(|s| s.points.iter()).filter(kept);
    let (least, most) = (all().map(|p| p.0).fold(f64::INFINITY, f64::min), all().map(|p| p.0).fold(0.0, f64::max));
    let (least, most) = if least <= most { (least, most) } else { (1.0, 1.0) };
    // A range, so that a single place has an axis.
    let x = if most > least { Axis::log(least, most) } else { Axis::log(least / 2.0, most * 2.0) };
    let plot = Plot { height: HEIGHT, x, y: Axis::linear(all().map(|p| p.1)) };
    let mut places: Vec<f64> = all().map(|p| p.0).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut last = f64::NEG_INFINITY;
    places.retain(|&place| {
        let fits = plot.px(place) - last >= LABEL;
        last = if fits { plot.px(place) } else { last };
        fits
    });
    let marks: String = series
        .iter()
        .map(|s| path(&plot, s.class, &s.points.iter().filter(kept).copied().collect::<Vec<_>>(), s.dashed))
        .collect();
    let about = format!("{} lines: {} across, {} upwards.", series.len(), axes.0, axes.1);
    let words = Words { title, about: &about, across: axes.0, up: axes.1, note: "" };
    plot.svg_at(&words, &marks, Some(&places))
}

/// The line through the points and, unless it is dashed, a dot at each.
pub(super) fn path(plot: &Plot, class: u32, points: &[(f64, f64)], dashed: bool) -> String {
    let corner = |&(x, y): &(f64, f64)| format!("{} {}", pixel(plot.px(x)), pixel(plot.py(y)));
    let corners: Vec<String> = points.iter().map(corner).collect();
    if corners.is_empty() {
        return String::new();
    }
    let line = format!("M{}", corners.join("L"));
    if dashed {
        return format!(
            "<path class=\"line k{class}\" style=\"stroke-opacity:1\" stroke-dasharray=\"5 4\" d=\"{line}\"/>"
        );
    }
    let dots: String = points.iter().map(|&(x, y)| plot.dot(x, y)).collect();
    format!("<path class=\"line k{class}\" d=\"{line}\"/>{}", dot_path(Some(class), 7.0, &dots))
}

/// An SVG file with plots of lines side by side over one legend, readable in light and dark.
pub fn file(panels: &[String], legend: &[&str]) -> String {
    let (width, height) = (WIDTH * panels.len() as f64, HEIGHT + LEGEND);
    let style = include_str!("../style.css");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <style>\n{style}svg .paper {{ fill: var(--paper); }}\n</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (at, panel) in panels.iter().enumerate() {
        let place = format!("<svg x=\"{}\" y=\"0\" width=\"{WIDTH}\" height=\"{HEIGHT}\" ", WIDTH * at as f64);
        out += &panel.replacen("<svg ", &place, 1);
        out.push('\n');
    }
    let mut x = LEFT;
    for (class, name) in (0u32..).zip(legend) {
        let y = HEIGHT + 16.0;
        let dot = dot_path(Some(class), 8.0, &format!("M{x} {y}h0"));
        let _ = write!(out, "{dot}<text x=\"{}\" y=\"{}\">{}</text>", x + 9.0, y + 4.0, escape(name));
        // Seven units a letter is enough for the font of the style sheet.
        x += 30.0 + 7.0 * name.chars().count() as f64;
    }
    out + "\n</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: Vec<(f64, f64)>) -> Series {
        Series { class: 1, points, dashed: false }
    }

    #[test]
    fn a_file_stands_alone() {
        let level = Series { dashed: true, ..series(vec![(10.0, 0.5), (1000.0, 0.5)]) };
        let panel = lines(&[series(vec![(10.0, 1.0), (1000.0, 2.0)]), level], "a<b", ("m", "F1"));
        let file = file(&[panel.clone(), panel], &["one", "two & three"]);
        assert!(file.starts_with("<svg xmlns=") && file.contains("--paper") && file.contains("stroke-dasharray"));
        assert!(file.contains("a&lt;b") && file.contains("two &amp; three"));
        assert_eq!(file.matches("<svg").count(), file.matches("</svg>").count());
        assert!(!file.contains("NaN") && !file.contains("inf"));
    }

    #[test]
    fn places_are_labelled_and_nothing_unusual_breaks_a_figure() {
        let figure = lines(&[series(vec![(0.5, 1.0), (2.0, 3.0)])], "t", ("x", "y"));
        assert!(figure.contains(">0.5<") && figure.contains(">2<"), "{figure}");
        for points in [vec![], vec![(1.0, 1.0)], vec![(0.0, 1.0), (2.0, f64::NAN)], vec![(1e-300, 1.0), (1e300, 2.0)]] {
            let figure = lines(&[series(points)], "t", ("x", "y"));
            assert!(!figure.contains("NaN") && !figure.contains("inf"), "{figure}");
        }
    }
}

//! Plots as inline SVG. Colours and fonts come from the page's style sheet, so that both colour schemes work.
//!
//! | figure | axes | for |
//! | --- | --- | --- |
//! | [`scatter`] | both linear | two coordinates of an embedding, coloured by class |
//! | [`spectrum`] | index, and linear or logarithmic | singular values |
//! | [`lines()`] | logarithmic across, linear upwards | a measure against a size such as the rank |
//! | [`curves`] | both linear | a share against a share, such as an ROC curve |
//! | [`histogram`] | both linear | how often values occur |
//! | [`heat`] | none | a matrix as shades |
//!
//! Each returns one `<svg>` element with a title and a description for readers that cannot see it. [`file()`] puts
//! figures of lines into a file of its own. What could not be drawn is said in the figure, never dropped in silence.

mod curves;
mod heat;
mod lines;
pub(in crate::report) mod points;

pub use curves::{curves, histogram};
pub use heat::heat;
pub use lines::{Series, file, lines};

use super::escape;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Points beyond this many are thinned out evenly.
const MOST_POINTS: usize = 5000;
/// Classes are painted in turns, so that the last one does not hide the others.
const TURNS: usize = 8;
/// Colours of the style sheet; the same colours come back as squares, so that 16 classes can be told apart.
const COLOURS: u32 = 8;
const WIDTH: f64 = 460.0;
// Margins around the area of the data.
const TOP: f64 = 38.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 48.0;
const LEFT: f64 = 66.0;

/// Points in the plane, coloured by class where classes are given.
///
/// Points that are not finite are left out; of more than 5000 points an even selection is drawn. The figure says both.
///
/// Classes beyond the length of `classes` are points without a class.
///
/// ```
/// use lopsided::report::svg::scatter;
///
/// let plot = scatter(&[(0.0, 0.0), (1.0, 2.0)], Some(&[0, 1]), "Two points", ("u1", "u2"));
/// assert!(plot.starts_with("<svg ") && plot.contains("Scatter plot of 2 points in 2 classes"));
/// let plot = scatter(&[(0.0, 0.0), (f64::NAN, 1.0)], None, "One point", ("u1", "u2"));
/// assert!(plot.contains("1 of 2 points shown"));
/// ```
pub fn scatter(points: &[(f64, f64)], classes: Option<&[u32]>, title: &str, axes: (&str, &str)) -> String {
    let shown = selection(points);
    let plot = Plot {
        height: 420.0,
        x: Axis::linear(shown.iter().map(|&i| points[i].0)),
        y: Axis::linear(shown.iter().map(|&i| points[i].1)),
    };
    let class = |i: usize| classes.and_then(|codes| codes.get(i).copied());
    // Few paths with many dots: an element for each point would make the page slow and large.
    let mut groups: BTreeMap<(usize, Option<u32>), String> = BTreeMap::new();
    for (k, &i) in shown.iter().enumerate() {
        *groups.entry((k % TURNS, class(i))).or_default() += &plot.dot(points[i].0, points[i].1);
    }
    let size = if shown.len() > 1000 { 4.0 } else { 6.0 };
    let paths: String = groups.iter().map(|(&(_, class), dots)| dot_path(class, size, dots)).collect();
    let note = match points.len() {
        all if all == shown.len() => String::new(),
        all => format!("{} of {all} points shown", shown.len()),
    };
    let count = shown.iter().filter_map(|&i| class(i)).collect::<BTreeSet<_>>().len();
    let colours = if classes.is_some() { format!(" in {count} classes") } else { String::new() };
    let about = format!("Scatter plot of {} points{colours}: {} across, {} upwards.", shown.len(), axes.0, axes.1);
    plot.svg(&Words { title, about: &about, across: axes.0, up: axes.1, note: &note }, &paths)
}

/// Singular values in their order: bars, or dots on a logarithmic axis when they span more than two decades.
///
/// More than 80 values are dots as well. On a logarithmic axis values of 0 have no place; the figure tells how many are
/// missing.
///
/// ```
/// use lopsided::report::svg::spectrum;
///
/// assert!(spectrum(&[3.0, 2.0, 1.0], "Even").contains("class=\"bars\""));
/// assert!(spectrum(&[1.0, 1e-3], "Steep").contains("on a logarithmic axis"));
/// assert!(spectrum(&[1.0, 1e-3, 0.0], "Steep").contains("1 of 3 values not shown"));
/// ```
pub fn spectrum(values: &[f64], title: &str) -> String {
    sequence(values, title, "singular value")
}

/// The same for other numbers that are not negative, such as residuals; `name` is what one of them is.
///
/// ```
/// assert!(lopsided::report::svg::sequence(&[1e-9, 1e-6], "Residuals", "residual").contains("2 residuals"));
/// ```
pub fn sequence(values: &[f64], title: &str, name: &str) -> String {
    let positive = || values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    let (least, most) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
    let log = most > 100.0 * least;
    let plot = Plot {
        height: 320.0,
        x: Axis { lo: 0.5, hi: values.len().max(1) as f64 + 0.5, scale: Scale::Count },
        y: if log { Axis::log(least, most) } else { Axis::linear([0.0, most].into_iter()).starting_at(0.0) },
    };
    let kept = |v: f64| v.is_finite() && (v > 0.0 || !log);
    let items: Vec<(f64, f64)> =
        (1u32..).zip(values).filter(|(_, v)| kept(**v)).map(|(i, &v)| (f64::from(i), v)).collect();
    let marks = if log || items.len() > 80 { plot.dotted_line(&items) } else { plot.bars(&items) };
    let note = match values.len() - items.len() {
        0 => String::new(),
        missing => format!("{missing} of {} values not shown", values.len()),
    };
    let axis = if log { ", on a logarithmic axis" } else { "" };
    let about = format!("{} {name}s, the largest {}{axis}.", values.len(), number(most, most / 1000.0));
    plot.svg(&Words { title, about: &about, across: "index", up: name, note: &note }, &marks)
}

/// The list of class names with their marks, in the order of the class codes; empty without names.
///
/// There are 16 marks, eight colours as dots and again as squares; names beyond them are counted.
///
/// ```
/// use lopsided::report::svg::legend;
///
/// assert_eq!(legend(&[]), "");
/// let names: Vec<String> = (0..17).map(|i| format!("class {i}")).collect();
/// assert!(legend(&names).contains("class 15</li>") && legend(&names).contains("and 1 more"));
/// ```
pub fn legend(names: &[String]) -> String {
    const MOST: usize = 2 * COLOURS as usize;
    if names.is_empty() {
        return String::new();
    }
    let swatch =
        |code| format!("<svg viewBox=\"0 0 12 12\" aria-hidden=\"true\">{}</svg>", dot_path(Some(code), 8.0, "M6 6h0"));
    let entry = |(code, name): (u32, &String)| format!("<li>{}{}</li>", swatch(code), escape(name));
    let mut items: String = (0u32..).zip(names).take(MOST).map(entry).collect();
    if names.len() > MOST {
        let _ = write!(items, "<li class=\"rest\">and {} more</li>", names.len() - MOST);
    }
    format!("<ul class=\"legend\">{items}</ul>")
}

/// What is written around a plot.
struct Words<'a> {
    title: &'a str,
    about: &'a str,
    across: &'a str,
    up: &'a str,
    note: &'a str,
}

/// An area with two axes; data coordinates become pixels with the origin at the top left, as SVG has it.
struct Plot {
    height: f64,
    x: Axis,
    y: Axis,
}

impl Plot {
    fn px(&self, x: f64) -> f64 {
        LEFT + self.x.position(x) * (WIDTH - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        self.height - BOTTOM - self.y.position(y) * (self.height - TOP - BOTTOM)
    }

    /// A line of length zero, which round or square line caps turn into a dot.
    fn dot(&self, x: f64, y: f64) -> String {
        format!("M{} {}h0", pixel(self.px(x)), pixel(self.py(y)))
    }

    fn dotted_line(&self, items: &[(f64, f64)]) -> String {
        let corner = |&(x, y): &(f64, f64)| format!("{} {}", pixel(self.px(x)), pixel(self.py(y)));
        let corners: Vec<String> = items.iter().map(corner).collect();
        let dots: String = items.iter().map(|&(x, y)| self.dot(x, y)).collect();
        let line = if corners.is_empty() { String::new() } else { format!("M{}", corners.join("L")) };
        let size = if items.len() > 80 { 3.0 } else { 6.0 };
        format!("<path class=\"line\" d=\"{line}\"/>{}", dot_path(None, size, &dots))
    }

    fn bars(&self, items: &[(f64, f64)]) -> String {
        let bar = |&(x, y): &(f64, f64)| {
            let (left, right) = (self.px(x - 0.36), self.px(x + 0.36));
            let (foot, top) = (pixel(self.py(0.0)), pixel(self.py(y)));
            format!("M{} {foot}V{top}H{}V{foot}z", pixel(left), pixel(right))
        };
        format!("<path class=\"bars\" d=\"{}\"/>", items.iter().map(bar).collect::<String>())
    }

    fn svg(&self, words: &Words<'_>, marks: &str) -> String {
        self.svg_at(words, marks, None)
    }

    /// The plot with these places marked on the horizontal axis, or round ones.
    fn svg_at(&self, words: &Words<'_>, marks: &str, places: Option<&[f64]>) -> String {
        let (title, about) = (escape(words.title), escape(words.about));
        let (middle, centre) =
            (pixel(f64::midpoint(LEFT, WIDTH - RIGHT)), pixel(f64::midpoint(TOP, self.height - BOTTOM)));
        let (height, foot) = (self.height, self.height - 8.0);
        let (across, up, note) = (escape(words.across), escape(words.up), escape(words.note));
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}. {about}\">\n\
             <title>{title}</title><desc>{about}</desc>\n\
             <text class=\"name\" x=\"{LEFT}\" y=\"22\">{title}</text>\
             <text x=\"4\" y=\"{foot}\">{note}</text>\n{}\
             <text x=\"{middle}\" y=\"{foot}\" text-anchor=\"middle\">{across}</text>\
             <text x=\"14\" y=\"{centre}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {centre})\">{up}</text>\n\
             {marks}\n</svg>",
            self.grid(&places.map_or_else(|| self.x.ticks(), labelled))
        )
    }

    fn grid(&self, across: &[(f64, String)]) -> String {
        let (left, right, top, foot) = (LEFT, WIDTH - RIGHT, TOP, self.height - BOTTOM);
        let (mut lines, mut labels) = (String::new(), String::new());
        for (at, label) in across {
            let (x, y) = (pixel(self.px(*at)), foot + 17.0);
            if !matches!(self.x.scale, Scale::Count) {
                let _ = write!(lines, "M{x} {top}V{foot}");
            }
            let _ = write!(labels, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{label}</text>");
        }
        for (at, label) in self.y.ticks() {
            let y = self.py(at);
            let _ = write!(lines, "M{left} {}H{right}", pixel(y));
            let (x, y) = (left - 7.0, pixel(y + 4.0));
            let _ = write!(labels, "<text x=\"{x}\" y=\"{y}\" text-anchor=\"end\">{label}</text>");
        }
        format!("<path class=\"grid\" d=\"{lines}\"/><g>{labels}</g>\n")
    }
}

#[derive(Clone, Copy)]
enum Scale {
    Linear,
    /// Whole numbers.
    Count,
    Log,
}

struct Axis {
    lo: f64,
    hi: f64,
    scale: Scale,
}

impl Axis {
    /// From the least to the largest value with a margin; around 0 or the only value where there is no range.
    fn linear(values: impl Iterator<Item = f64>) -> Self {
        let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let (lo, hi) = if lo <= hi { (lo, hi) } else { (0.0, 0.0) };
        // Halves: the range itself may overflow.
        let margin = match hi / 2.0 - lo / 2.0 {
            half if half > 0.0 => 0.08 * half,
            _ if hi != 0.0 => 0.5 * hi.abs(),
            _ => 1.0,
        };
        Axis { lo: (lo - margin).max(f64::MIN), hi: (hi + margin).min(f64::MAX), scale: Scale::Linear }
    }

    /// From the least to the largest value with a margin of 4 % of the decades on either side.
    fn log(least: f64, most: f64) -> Self {
        let margin = (0.04 * (most.ln() - least.ln())).exp();
        Axis { lo: (least / margin).max(f64::MIN_POSITIVE), hi: (most * margin).min(f64::MAX), scale: Scale::Log }
    }

    fn starting_at(self, lo: f64) -> Self {
        Axis { lo, ..self }
    }

    /// 0 at the low end, 1 at the high end.
    fn position(&self, v: f64) -> f64 {
        match self.scale {
            Scale::Log => (v.ln() - self.lo.ln()) / (self.hi.ln() - self.lo.ln()),
            // Halves: the range itself may overflow.
            _ => (v / 2.0 - self.lo / 2.0) / (self.hi / 2.0 - self.lo / 2.0),
        }
    }

    /// Round values between the ends, with their labels.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Log => log_ticks(self.lo, self.hi),
            Scale::Linear => linear_ticks(self.lo, self.hi, 0.0),
            Scale::Count => linear_ticks(self.lo, self.hi, 1.0),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten, about six of them and at least `least_step` apart.
fn linear_ticks(lo: f64, hi: f64, least_step: f64) -> Vec<(f64, String)> {
    let rough = hi / 6.0 - lo / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough).unwrap_or(10.0);
    let step = (factor * power).max(least_step);
    let first = (lo / step).ceil();
    (0..12).map(|k| (first + f64::from(k)) * step).take_while(|t| *t <= hi).map(|t| (t, number(t, step))).collect()
}

/// Powers of ten; of more than six decades only every second, third, …
fn log_ticks(lo: f64, hi: f64) -> Vec<(f64, String)> {
    let (first, last) = (lo.log10().ceil() as i32, hi.log10().floor() as i32);
    let step = ((last - first) / 6 + 1) as usize;
    (first..=last).step_by(step).map(|e| (10f64.powi(e), format!("10{}", superscript(e)))).collect()
}

/// Places with themselves as labels.
fn labelled(places: &[f64]) -> Vec<(f64, String)> {
    // Longer numbers would run into each other.
    let label = |at: f64| if at.to_string().len() <= 6 { at.to_string() } else { format!("{at:.0e}") };
    places.iter().map(|&at| (at, label(at))).collect()
}

/// A tick label with the digits that tell multiples of `step` apart.
fn number(v: f64, step: f64) -> String {
    let last_digit = step.log10().floor();
    let text = if v == 0.0 {
        "0".into()
    } else if v.abs() < 1e6 && last_digit >= -4.0 {
        format!("{v:.*}", (-last_digit).max(0.0) as usize)
    } else {
        let digits = v.abs().log10().floor() - last_digit;
        format!("{v:.*e}", digits.clamp(0.0, 15.0) as usize).replace(".0e", "e")
    };
    text.replace('-', "−")
}

fn superscript(exponent: i32) -> String {
    let raise = |c: char| match c.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    exponent.to_string().chars().map(raise).collect()
}

/// A pixel coordinate to one decimal place, without a trailing zero.
fn pixel(v: f64) -> f64 {
    (v * 10.0).round() / 10.0
}

/// Many dots as one path: a line of length zero for each, drawn by the caps of a wide stroke.
fn dot_path(class: Option<u32>, size: f64, dots: &str) -> String {
    let style = class.map_or(String::new(), |code| {
        let square = if code / COLOURS % 2 == 1 { " square" } else { "" };
        format!(" k{}{square}", code % COLOURS)
    });
    format!("<path class=\"dots{style}\" stroke-width=\"{size}\" d=\"{dots}\"/>")
}

/// Positions of the finite points, at most [`MOST_POINTS`] of them, spread evenly.
fn selection(points: &[(f64, f64)]) -> Vec<usize> {
    let finite: Vec<usize> =
        (0..points.len()).filter(|&i| points[i].0.is_finite() && points[i].1.is_finite()).collect();
    let count = finite.len().min(MOST_POINTS);
    (0..count).map(|k| finite[k * finite.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXES: (&str, &str) = ("x", "y");

    #[test]
    fn dots_of_a_class_share_paths() {
        let points: Vec<(f64, f64)> = (0..300).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        let classes: Vec<u32> = (0..300).map(|i| [0, 9, 0][i % 3]).collect();
        let figure = scatter(&points, Some(&classes), "t", AXES);
        assert_eq!(figure.matches("h0").count(), 300);
        assert_eq!(figure.matches("dots k0\"").count(), TURNS);
        assert_eq!(figure.matches("dots k1 square\"").count(), TURNS);
        assert!(figure.contains("300 points in 2 classes"));
    }

    #[test]
    fn many_points_are_thinned_and_the_figure_says_so() {
        let points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        let figure = scatter(&points, None, "t", AXES);
        assert_eq!(figure.matches("h0").count(), MOST_POINTS);
        assert!(figure.contains("5000 of 100000 points shown"));
        assert!(figure.len() < 100_000, "{} bytes", figure.len());
    }

    #[test]
    fn nothing_unusual_breaks_a_figure() {
        for points in
            [vec![], vec![(0.0, 3.0)], vec![(f64::NAN, 1.0), (1.0, 1.0)], vec![(f64::MAX, 1e-300), (f64::MIN, 0.0)]]
        {
            let figure = scatter(&points, None, "a<b", ("x & y", "z"));
            assert!(figure.contains("a&lt;b") && figure.contains("x &amp; y"));
            assert!(!figure.contains("NaN") && !figure.contains("inf"), "{figure}");
        }
        for values in [vec![], vec![0.0], vec![0.0, f64::NAN], vec![1.0], vec![1e300, 1e-300, 0.0]] {
            let figure = spectrum(&values, "s");
            assert!(!figure.contains("NaN") && !figure.contains("inf\""), "{figure}");
        }
    }

    #[test]
    fn wide_spectra_get_a_logarithmic_axis() {
        assert!(spectrum(&[1000.0, 1.0], "s").contains("10³"));
        assert!(spectrum(&[3.0, 2.0], "s").contains("class=\"bars\""));
        assert!(spectrum(&[1.0, 1e-9, 0.0], "s").contains("10⁻⁹"));
    }

    #[test]
    fn tick_labels_are_round() {
        let labels = |lo, hi| linear_ticks(lo, hi, 0.0).into_iter().map(|t| t.1).collect::<Vec<_>>();
        assert_eq!(labels(-0.05, 0.05), ["−0.04", "−0.02", "0", "0.02", "0.04"]);
        assert_eq!(labels(0.0, 10.4), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(0.9e-7, 3.1e-7), ["1e−7", "1.5e−7", "2e−7", "2.5e−7", "3e−7"]);
    }

    #[test]
    fn long_legends_are_cut() {
        let names: Vec<String> = (0..20).map(|i| format!("class {i}")).collect();
        assert!(legend(&names).contains("and 4 more"));
        assert_eq!(legend(&[]), "");
    }
}

//! Panels of points that a reader can ask: drawn like a scatter plot, and with the place of every point.

use super::{Axis, Plot, Words, pixel};
use crate::report::escape;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Points are painted in turns, so that the last class does not hide the others.
const TURNS: usize = 8;
/// Width and height of a map, whose places have no units.
const MAP: (f64, f64) = (720.0, 520.0);
/// Room around it.
const MARGIN: f64 = 14.0;
/// Width of a letter of a label, and height of its line.
const LETTER: (f64, f64) = (6.6, 14.0);

/// A panel, and where it shows each point; points that are not finite have no place.
pub(in crate::report) struct Drawn {
    pub(in crate::report) svg: String,
    pub(in crate::report) places: Vec<Option<(f64, f64)>>,
}

/// Two components over their axes.
pub(in crate::report) fn components(
    points: &[(f64, f64)],
    classes: Option<&[u32]>,
    title: &str,
    axes: (&str, &str),
) -> Drawn {
    let finite = || points.iter().filter(|p| is_finite(p));
    let plot = Plot { height: 420.0, x: Axis::linear(finite().map(|p| p.0)), y: Axis::linear(finite().map(|p| p.1)) };
    let places: Vec<_> =
        points.iter().map(|p| is_finite(p).then(|| (pixel(plot.px(p.0)), pixel(plot.py(p.1))))).collect();
    let about = format!("{} points: {} across, {} upwards.", finite().count(), axes.0, axes.1);
    let words = Words { title, about: &about, across: axes.0, up: axes.1, note: "" };
    let marks = dots(&places, classes) + "<g class=\"marks\"></g>";
    Drawn { svg: plot.svg(&words, &marks), places }
}

/// A map: distances to near points mean something, axes do not. The named points have their names beside them, the first ones
/// rather than the others where there is no room for all.
pub(in crate::report) fn map(
    points: &[(f64, f64)],
    classes: Option<&[u32]>,
    title: &str,
    names: &[(usize, String)],
) -> Drawn {
    let (x, y) = (range(points.iter().map(|p| p.0)), range(points.iter().map(|p| p.1)));
    // One scale for both directions.
    let scale = ((MAP.0 - 2.0 * MARGIN) / (x.1 - x.0)).min((MAP.1 - 2.0 * MARGIN) / (y.1 - y.0));
    let centre = (f64::midpoint(x.0, x.1), f64::midpoint(y.0, y.1));
    let place =
        |p: &(f64, f64)| (pixel(MAP.0 / 2.0 + scale * (p.0 - centre.0)), pixel(MAP.1 / 2.0 - scale * (p.1 - centre.1)));
    let places: Vec<_> = points.iter().map(|p| is_finite(p).then(|| place(p))).collect();
    let labels = labels(&places, names);
    let (title, about) = (escape(title), "Points that are near each other in all components are near each other here.");
    let svg = format!(
        "<svg class=\"map\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{title}. {} points. {about}\">\n\
         <title>{title}</title><desc>{about}</desc>\n{}<g class=\"names\" aria-hidden=\"true\">{labels}</g>\
         <g class=\"marks\"></g>\n</svg>",
        MAP.0,
        MAP.1,
        places.iter().flatten().count(),
        dots(&places, classes)
    );
    Drawn { svg, places }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// Least and largest finite value, never the same.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    if low < high { (low, high) } else { (low.clamp(-1e9, 1e9) - 1.0, low.clamp(-1e9, 1e9) + 1.0) }
}

/// All points as few paths, those of a class together.
fn dots(places: &[Option<(f64, f64)>], classes: Option<&[u32]>) -> String {
    let mut paths: BTreeMap<(usize, Option<u32>), String> = BTreeMap::new();
    for (i, place) in places.iter().enumerate() {
        let Some((x, y)) = place else { continue };
        let class = classes.and_then(|codes| codes.get(i).copied());
        let _ = write!(paths.entry((i % TURNS, class)).or_default(), "M{x} {y}h0");
    }
    let size = match places.len() {
        0..=300 => 7.0,
        301..=3000 => 5.0,
        _ => 3.5,
    };
    let path = |((_, class), dots): (&(usize, Option<u32>), &String)| match class {
        Some(code) => {
            let square = if code / super::COLOURS % 2 == 1 { " square" } else { "" };
            let colour = code % super::COLOURS;
            format!("<path class=\"dots k{colour}{square}\" data-c=\"{code}\" stroke-width=\"{size}\" d=\"{dots}\"/>")
        }
        None => format!("<path class=\"dots\" stroke-width=\"{size}\" d=\"{dots}\"/>"),
    };
    paths.iter().map(path).collect()
}

/// Names beside their points where they do not cover each other.
fn labels(places: &[Option<(f64, f64)>], names: &[(usize, String)]) -> String {
    let (mut taken, mut out) = (Vec::<[f64; 4]>::new(), String::new());
    for (at, name) in names {
        let Some((x, y)) = places.get(*at).copied().flatten() else { continue };
        let width = LETTER.0 * name.chars().count() as f64;
        let left = if x + 6.0 + width > MAP.0 { x - 6.0 - width } else { x + 6.0 };
        let own = [left, y - LETTER.1 / 2.0, left + width, y + LETTER.1 / 2.0];
        let apart = |other: &[f64; 4]| own[2] < other[0] || other[2] < own[0] || own[3] < other[1] || other[3] < own[1];
        if own[0] >= 0.0 && taken.iter().all(apart) {
            taken.push(own);
            let _ = write!(out, "<text x=\"{}\" y=\"{}\">{}</text>", pixel(left), y + 4.0, escape(name));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_where_the_points_are_drawn() {
        let points = [(0.0, 0.0), (1.0, 2.0), (f64::NAN, 1.0)];
        for drawn in [components(&points, Some(&[0, 9, 0]), "t", ("a", "b")), map(&points, None, "t", &[])] {
            assert_eq!(drawn.places.len(), 3);
            assert!(drawn.places[2].is_none());
            let (x, y) = drawn.places[1].unwrap();
            assert!(drawn.svg.contains(&format!("M{x} {y}h0")), "{}", drawn.svg);
        }
    }

    #[test]
    fn names_that_would_cover_each_other_are_left_out() {
        let points = [(0.0, 0.0), (1e-6, 0.0), (5.0, 5.0)];
        let names = [(0, "first".to_string()), (1, "covered".into()), (2, "<far>".into())];
        let svg = map(&points, None, "t", &names).svg;
        assert!(svg.contains(">first<") && !svg.contains("covered") && svg.contains("&lt;far&gt;"));
    }

    #[test]
    fn nothing_unusual_breaks_a_map() {
        for points in [vec![], vec![(0.0, 0.0)], vec![(3.0, 3.0); 4], vec![(f64::NAN, f64::INFINITY)]] {
            let svg = map(&points, None, "t", &[]).svg;
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}

//! A matrix as shades.

use super::escape;
use faer::MatRef;
use std::fmt::Write;

/// Shades that can be told apart.
const SHADES: usize = 8;
/// Width and height of the cells together.
const SIZE: (f64, f64) = (420.0, 380.0);
/// Room above, for the title, and below, for what the shades mean.
const TOP: f64 = 36.0;
const BOTTOM: f64 = 26.0;
const SIDE: f64 = 20.0;
/// Shares of the cells below the lightest and above the darkest shade.
const TAIL: f64 = 0.01;

/// A matrix whose larger entries are stronger, with lines after the rows and columns where a new group begins.
///
/// ```
/// let cells = lopsided::Mat::from_fn(4, 6, |i, j| if (i < 2) == (j < 3) { 1.0 } else { 0.0 });
/// let plot = lopsided::report::svg::heat(cells.as_ref(), (&[2], &[3]), "Two blocks");
/// assert!(plot.contains("4 x 6 cells"));
/// ```
pub fn heat(cells: MatRef<'_, f64>, (rows, cols): (&[usize], &[usize]), title: &str) -> String {
    let (n, m) = (cells.nrows(), cells.ncols());
    let (low, high) = limits(cells);
    let (w, h) = (SIZE.0 / m.max(1) as f64, SIZE.1 / n.max(1) as f64);
    let mut paths = vec![String::new(); SHADES + 1];
    for i in 0..n {
        let mut j = 0;
        while j < m {
            let shade = shade(cells[(i, j)], low, high);
            let run = (j..m).take_while(|&k| self::shade(cells[(i, k)], low, high) == shade).count();
            // Places are whole numbers: the cells are scaled as one.
            let _ = write!(paths[shade], "M{j} {i}h{run}");
            j += run;
        }
    }
    let (mut shades, mut borders) = (String::new(), String::new());
    for (s, path) in paths.iter().enumerate().skip(1).filter(|(_, path)| !path.is_empty()) {
        let opacity = s as f64 / SHADES as f64;
        let _ = write!(shades, "<path class=\"shade\" stroke-opacity=\"{opacity:.3}\" d=\"{path}\"/>");
    }
    for at in rows {
        let _ = write!(borders, "M0 {:.1}H{}", *at as f64 * h, SIZE.0);
    }
    for at in cols {
        let _ = write!(borders, "M{:.1} 0V{}", *at as f64 * w, SIZE.1);
    }
    let (title, about) = (escape(title), format!("{n} x {m} cells; the strongest stand for the largest values."));
    let (width, height) = (SIZE.0 + 2.0 * SIDE, SIZE.1 + TOP + BOTTOM);
    let foot = height - 8.0;
    let legend =
        format!("{} (faint) to {} (strong)", crate::report::text::number(low), crate::report::text::number(high));
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}. {about}\">\n\
         <title>{title}</title><desc>{about}</desc>\n<text class=\"name\" x=\"{SIDE}\" y=\"22\">{title}</text>\n\
         <g transform=\"translate({SIDE} {TOP})\"><rect class=\"frame\" width=\"{}\" height=\"{}\"/>\
         <g transform=\"scale({w:.5} {h:.5}) translate(0 .5)\">{shades}</g><path class=\"border\" d=\"{borders}\"/></g>\n\
         <text x=\"{SIDE}\" y=\"{foot}\">{legend}</text>\n</svg>",
        SIZE.0, SIZE.1
    )
}

/// Values of the faintest and the strongest shade, without the tails.
fn limits(cells: MatRef<'_, f64>) -> (f64, f64) {
    let mut all: Vec<f64> = cells.col_iter().flat_map(|c| c.iter().copied()).filter(|v| v.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else { return (0.0, 0.0) };
    let at = |share: f64| all[(share * last as f64).round() as usize];
    let (low, high) = (at(TAIL), at(1.0 - TAIL));
    if low < high { (low, high) } else { (all[0], all[last]) }
}

fn shade(value: f64, low: f64, high: f64) -> usize {
    let share = if high > low { (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 1.0 };
    if value.is_finite() { (share.clamp(0.0, 1.0) * SHADES as f64).round() as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn equal_neighbours_share_a_stroke() {
        let cells = Mat::from_fn(2, 4, |i, j| if i == 0 && j < 3 { 1.0 } else { 0.0 });
        let plot = heat(cells.as_ref(), (&[1], &[]), "a<b");
        assert!(plot.contains("M0 0h3") && plot.contains("a&lt;b") && plot.contains("M0 190.0H420"));
    }

    #[test]
    fn nothing_unusual_breaks_a_figure() {
        for cells in [Mat::zeros(0, 0), Mat::zeros(2, 2), Mat::from_fn(1, 3, |_, j| [f64::NAN, 1.0, f64::MAX][j])] {
            let plot = heat(cells.as_ref(), (&[], &[]), "t");
            assert!(!plot.contains("NaN") && !plot.contains("inf"), "{plot}");
        }
    }
}

//! Numbers and lists as people read them.
//!
//! Used by the command line and by reports; files get all digits instead ([`crate::data::io::write_matrix`]).

use std::borrow::Cow;

/// Pairs of label and value, one per line, the values below each other.
///
/// ```
/// let pairs = [("rank", String::from("16")), ("kernel", String::from("sne"))];
/// assert_eq!(lopsided::report::text::aligned(&pairs), "rank    16\nkernel  sne\n");
/// ```
pub fn aligned<L: AsRef<str>>(pairs: &[(L, String)]) -> String {
    let width = pairs.iter().map(|(label, _)| label.as_ref().chars().count()).max().unwrap_or(0);
    let lines = pairs.iter().map(|(label, value)| format!("{:width$}  {}\n", label.as_ref(), shown(value)));
    lines.collect::<Vec<_>>().concat()
}

/// Text of unknown origin as it may be shown on a terminal: characters that would steer it, or turn the direction of reading, are
/// written out.
///
/// ```
/// use lopsided::report::text::shown;
///
/// assert_eq!(shown("node \u{1b}[31mred\u{202e}"), "node \\u{1b}[31mred\\u{202e}");
/// assert_eq!(shown("größer\nand\tso on"), "größer\nand\tso on");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let steers = |c: char| turns(c) || (c.is_control() && !matches!(c, '\n' | '\t'));
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let letter = |c: char| if steers(c) { c.escape_unicode().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(letter).collect())
}

/// A number with five digits.
///
/// Sizes from 1e-3 up to 1e5 are written out, others with an exponent.
///
/// ```
/// use lopsided::report::text::number;
///
/// assert_eq!([0.0, 0.5, 1234.5, 3.1e-7].map(number), ["0", "0.50000", "1234.5", "3.1000e-7"]);
/// ```
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs();
    if (1e-3..1e5).contains(&size) {
        let decimals = (4.0 - size.log10().floor()) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{value:.4e}")
}

/// The first eight singular values, and how many there are in all.
///
/// ```
/// assert_eq!(lopsided::report::text::first_values(&[2.0, 1.0]), "2.0000  1.0000");
/// assert!(lopsided::report::text::first_values(&[1.0; 20]).ends_with("  … 20 in all"));
/// ```
pub fn first_values(values: &[f64]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|v| number(*v)).collect();
    let rest = if values.len() > SHOWN { format!("  … {} in all", values.len()) } else { String::new() };
    shown.join("  ") + &rest
}

/// Values as a line of bars from the least to the largest; of more than 60 the largest of neighbours, and a dot for what is not a
/// number.
///
/// ```
/// use lopsided::report::text::sparkline;
///
/// assert_eq!(sparkline(&[0.0, 1.0, 7.0, f64::NAN]), "▁▂█·");
/// assert_eq!(sparkline(&[1.0; 200]).chars().count(), 50);
/// ```
pub fn sparkline(values: &[f64]) -> String {
    const MOST: usize = 60;
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let bar = |group: &[f64]| {
        let largest = group.iter().copied().filter(|v| v.is_finite()).reduce(f64::max);
        largest.map_or('·', |v| {
            let share = if high > low { (v / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) } else { 1.0 };
            BARS[(share * (BARS.len() - 1) as f64).round() as usize]
        })
    };
    values.chunks(values.len().div_ceil(MOST).max(1)).map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        assert_eq!(aligned(&[("σ", "1".into()), ("size", "2".into())]), "σ     1\nsize  2\n");
    }

    #[test]
    fn numbers_are_short() {
        let values = [0.0, 1.462_287_56, 0.001_5, 1234.56, 3.1e-7];
        assert_eq!(values.map(number), ["0", "1.4623", "0.0015000", "1234.6", "3.1000e-7"]);
    }
}

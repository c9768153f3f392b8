//! Label columns, given as text, become classes or values.
//!
//! Labels are collected as codes of the texts seen so far; what they are is decided at the end, when all are known:
//! names and whole numbers are classes, other numbers are values, and fields such as `NA` are unknown.

use crate::data::columns::WordsBuilder;
use crate::data::dataset::Target;

/// Whether a field stands for an unknown value.
pub(super) fn is_missing(text: &str) -> bool {
    ["", "?", "na", "n/a", "nan", "null", "<na>", "#n/a"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The labels read so far.
#[derive(Default)]
pub(super) struct Labels(WordsBuilder);

impl Labels {
    /// Adds the label of the next row.
    pub(super) fn push(&mut self, text: &str) {
        let text = text.trim();
        self.0.push((!is_missing(text)).then_some(text));
    }

    /// Classes for names and whole numbers, values for other numbers.
    pub(super) fn finish(self) -> Target {
        let (names, codes) = self.0.into_parts();
        let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
        match numbers {
            None => Target::Classes { names, codes },
            Some(values) if values.iter().all(|v| v.is_finite() && v.fract() == 0.0) => number_classes(&values, &codes),
            Some(values) => {
                Target::Values(codes.iter().map(|code| code.map_or(f64::NAN, |c| values[c as usize])).collect())
            }
        }
    }
}

/// Classes in numeric order; `1`, `+1` and `1.0` are the same class.
fn number_classes(values: &[f64], codes: &[Option<u32>]) -> Target {
    let mut sorted: Vec<f64> = values.iter().map(|v| v + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let ranks: Vec<u32> = values.iter().map(|v| sorted.partition_point(|s| s < v) as u32).collect();
    Target::Classes {
        names: sorted.iter().map(ToString::to_string).collect(),
        codes: codes.iter().map(|code| code.map(|c| ranks[c as usize])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(labels: &[&str]) -> Target {
        let mut out = Labels::default();
        for text in labels {
            out.push(text);
        }
        out.finish()
    }

    fn classes(names: &[&str], codes: &[Option<u32>]) -> Target {
        Target::Classes { names: names.iter().map(ToString::to_string).collect(), codes: codes.to_vec() }
    }

    #[test]
    fn names_keep_their_order_and_numbers_are_sorted() {
        assert_eq!(target(&["b", "a", "", "b"]), classes(&["b", "a"], &[Some(0), Some(1), None, Some(0)]));
        assert_eq!(
            target(&["10", "9", "+9", "-1.0"]),
            classes(&["-1", "9", "10"], &[Some(2), Some(1), Some(1), Some(0)])
        );
        assert_eq!(target(&["1", "x"]), classes(&["1", "x"], &[Some(0), Some(1)]));
    }

    #[test]
    fn fractions_make_values() {
        let Target::Values(values) = target(&["1", "2.5", "nan"]) else { panic!("classes") };
        assert_eq!(&values[..2], [1.0, 2.5]);
        assert!(values[2].is_nan());
    }
}

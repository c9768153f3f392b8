//! Many trials in a few numbers.

use super::{Choice, Trial};
use lopsided::evaluation::Spread;

/// Scores over all trials, and what was chosen in each.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Summary {
    /// Micro-F1.
    pub micro_f1: Spread,
    /// Macro-F1.
    pub macro_f1: Spread,
    /// In each trial: the candidate (a position) and its choice.
    pub choices: Vec<(usize, Choice)>,
}

/// The scores of one grid when in each trial the candidate with the best validation score is taken; the first of equals.
///
/// Candidates are features of one method with different kernel parameters; all must have the same number of trials.
///
/// # Panics
/// If a candidate has fewer trials than the first one, or a trial no choice for the grid.
///
/// # Example
/// ```
/// use lopsided_papers::tasks::{Choice, summarize};
///
/// let choice = |validation, micro_f1| Choice { rank: 1, penalty: 1.0, validation, micro_f1, macro_f1: 0.5 };
/// // Two candidates with one trial of one grid each: the second looks better in validation, and is taken.
/// let candidates = [vec![vec![choice(0.6, 0.9)]], vec![vec![choice(0.7, 0.8)]]];
/// let found = summarize(&candidates, 0);
/// assert_eq!((found.choices[0].0, found.micro_f1.mean), (1, 0.8));
/// ```
pub fn summarize(candidates: &[Vec<Trial>], grid: usize) -> Summary {
    let trials = candidates.first().map_or(0, Vec::len);
    let choices: Vec<(usize, Choice)> = (0..trials)
        .filter_map(|t| {
            let of_trial = candidates.iter().enumerate().map(|(at, c)| (at, &c[t][grid]));
            of_trial.reduce(|best, next| if next.1.validation > best.1.validation { next } else { best })
        })
        .map(|(at, choice)| (at, choice.clone()))
        .collect();
    Summary {
        micro_f1: Spread::of(choices.iter().map(|c| c.1.micro_f1)),
        macro_f1: Spread::of(choices.iter().map(|c| c.1.macro_f1)),
        choices,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_trial_takes_its_own_candidate() {
        let choice = |validation, micro_f1| vec![Choice { rank: 1, penalty: 1.0, validation, micro_f1, macro_f1: 0.5 }];
        let candidates = [vec![choice(0.5, 1.0), choice(0.6, 2.0)], vec![choice(0.5, 7.0), choice(0.7, 3.0)]];
        let summary = summarize(&candidates, 0);
        assert_eq!(summary.choices.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((summary.micro_f1.mean, summary.micro_f1.deviation), (2.0, 2f64.sqrt()));
    }
}

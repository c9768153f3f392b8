//! Test parts, training parts, and parts of these.

use super::Comparison;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::data::dataset::Target;
use crate::estimators::scoring::{deal, hidden, no_target};
use crate::estimators::searched::drawn;

/// One split: a test part, and the training part dealt into inner parts.
pub(super) struct Split {
    pub(super) test: Vec<usize>,
    pub(super) inner: Vec<Vec<usize>>,
}

/// All splits of the samples that take part.
pub(super) struct Parts {
    /// Samples that take part, ascending.
    pub(super) samples: Vec<usize>,
    /// Samples that have a label.
    pub(super) labelled: usize,
    pub(super) splits: Vec<Split>,
}

impl Split {
    /// Samples to learn from, ascending.
    pub(super) fn training(&self) -> Vec<usize> {
        let mut all = self.inner.concat();
        all.sort_unstable();
        all
    }
}

impl Parts {
    /// Deals the labelled samples, or some of many, into folds as often as asked for. Classes are spread evenly.
    pub(super) fn of(asked: &Comparison, target: &Target, seed: u64) -> Result<Self> {
        let known = target.known();
        let least = asked.folds * asked.inner;
        if known.len() < least {
            return Err(if known.is_empty() {
                no_target()
            } else {
                Error::param("labels", known.len(), format!("given for at least {least} samples"))
            });
        }
        let samples = if known.len() > asked.most { drawn(target, asked.most, seed) } else { known.clone() };
        let taking_part = only(target, &samples);
        let mut splits = Vec::new();
        for repeat in 0..asked.repeats {
            let own = seed.wrapping_add(repeat as u64);
            for test in deal(Some(&taking_part), asked.folds, own, Purpose::ComparedFolds)? {
                let rest = hidden(&taking_part, &test);
                splits.push(Split { inner: deal(Some(&rest), asked.inner, own, Purpose::ComparedParts)?, test });
            }
        }
        Ok(Parts { samples, labelled: known.len(), splits })
    }

    /// Samples of a test part for each sample to learn from, in the mean.
    pub(super) fn ratio(&self) -> f64 {
        let first = &self.splits[0];
        first.test.len() as f64 / (self.samples.len() - first.test.len()) as f64
    }

    /// The fewest samples that anything is learned from.
    pub(super) fn smallest(&self) -> usize {
        let left = |split: &Split| {
            let all: usize = split.inner.iter().map(Vec::len).sum();
            all - split.inner.iter().map(Vec::len).max().unwrap_or(0)
        };
        self.splits.iter().map(left).min().unwrap_or(0)
    }

    /// What a guess from the training part scores on each test part: its largest class, or its mean.
    pub(super) fn guesses(&self, target: &Target) -> Vec<f64> {
        self.splits.iter().map(|split| guess(target, &split.training(), &split.test)).collect()
    }
}

/// The target of some samples, unknown elsewhere.
pub(super) fn only(target: &Target, samples: &[usize]) -> Target {
    target.clone().without(|i| samples.binary_search(&i).is_err())
}

fn guess(target: &Target, train: &[usize], test: &[usize]) -> f64 {
    match target {
        Target::Classes { names, codes } => {
            let count = |of: &[usize], class: usize| of.iter().filter(|&&i| codes[i] == Some(class as u32)).count();
            let largest = (0..names.len()).reduce(|a, b| if count(train, b) > count(train, a) { b } else { a });
            count(test, largest.unwrap_or(0)) as f64 / test.len() as f64
        }
        Target::Values(values) => {
            let mean = train.iter().map(|&i| values[i]).sum::<f64>() / train.len() as f64;
            let error = test.iter().map(|&i| (values[i] - mean).powi(2)).sum::<f64>() / test.len() as f64;
            as_quality(target, test, error.sqrt())
        }
        Target::Several { .. } => 0.0,
    }
}

/// A score of the estimators as one of which more is better: micro-F1 as it is, a root mean squared error as R².
pub(super) fn as_quality(target: &Target, rows: &[usize], score: f64) -> f64 {
    let Target::Values(values) = target else { return score };
    let mean = rows.iter().map(|&i| values[i]).sum::<f64>() / rows.len() as f64;
    let variance = rows.iter().map(|&i| (values[i] - mean).powi(2)).sum::<f64>() / rows.len() as f64;
    if variance > 0.0 { 1.0 - score * score / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(n: usize) -> Target {
        let codes = (0..n).map(|i| (i % 10 != 3).then_some(u32::from(i % 3 == 0))).collect();
        Target::Classes { names: vec!["a".into(), "b".into()], codes }
    }

    #[test]
    fn every_sample_is_tested_once_in_each_repeat_and_never_learned_from_meanwhile() {
        let asked = Comparison { most: 60, ..Comparison::default() };
        let parts = Parts::of(&asked, &target(100), 3).unwrap();
        assert_eq!((parts.labelled, parts.splits.len()), (90, 10));
        for repeat in parts.splits.chunks(5) {
            let mut tested: Vec<usize> = repeat.iter().flat_map(|s| s.test.clone()).collect();
            tested.sort_unstable();
            assert_eq!(tested, parts.samples);
        }
        assert!(parts.splits[0].test != parts.splits[5].test);
        for split in &parts.splits {
            let mut all = [split.training(), split.test.clone()].concat();
            all.sort_unstable();
            assert_eq!(all, parts.samples);
        }
        assert!(parts.smallest() >= 30 && (parts.ratio() - 0.25).abs() < 0.05);
    }

    #[test]
    fn guesses_are_the_largest_class_and_the_mean() {
        let target = target(100);
        let parts = Parts::of(&Comparison::default(), &target, 0).unwrap();
        assert!(parts.guesses(&target).iter().all(|g| (g - 0.667).abs() < 0.1), "{:?}", parts.guesses(&target));
        let values = Target::Values((0..100).map(f64::from).collect());
        let parts = Parts::of(&Comparison::default(), &values, 0).unwrap();
        assert!(parts.guesses(&values).iter().all(|g| *g <= 0.0 && *g > -0.3));
        assert!((as_quality(&values, &[0, 1, 2], 0.0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn too_few_labels_are_refused() {
        let error = Parts::of(&Comparison::default(), &target(12), 0).err().unwrap().to_string();
        assert_eq!(error, "`labels` is 11 but must be given for at least 15 samples");
    }
}

//! How good a result is, and the split of the data it is measured on.
//!
//! | question | measure | range, best last |
//! | --- | --- | --- |
//! | classes, every sample alike | [`accuracy`], [`micro_f1`] | 0 to 1 |
//! | classes, every class alike | [`macro_f1`] | 0 to 1 |
//! | values | [`rmse`] | from ∞ down to 0 |
//! | scores of two classes, or of links | [`auroc`], [`average_precision`] | 0 to 1 |
//! | clusters against classes | [`normalized_mutual_information`], [`adjusted_rand_index`] | about 0 by chance to 1 |
//! | clusters of columns without known classes | [`coherence`] | larger is better |
//! | two subspaces | [`largest_angle_sine`] | from 1 down to 0 |
//!
//! \[KSVD\] and \[AsKLS\] report micro and macro F1 for nodes, NMI and coherence for biclustering, AUROC and RMSE for
//! tables. Measures take what they compare and nothing else; what must not be seen in training is decided by [`split`]
//! and [`crate::evaluation`].

mod clusters;

pub use clusters::{adjusted_rand_index, coherence, normalized_mutual_information};

use crate::base::scalar::Scalar;
use faer::MatRef;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Share of samples whose class is predicted right; NaN without samples.
///
/// ```
/// assert_eq!(lopsided::metrics::accuracy(&[0, 1, 1, 2], &[0, 1, 2, 2]), 0.75);
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> f64 {
    check_lengths(truth, predicted);
    let right = truth.iter().zip(predicted).filter(|(t, p)| t == p).count();
    right as f64 / truth.len() as f64
}

/// F1 of the true positives, false positives and false negatives of all classes taken together.
///
/// With one class per sample each error is one false positive and one false negative, so that
/// 2·TP / (2·TP + FP + FN) equals the [`accuracy`].
///
/// ```
/// use lopsided::metrics::{accuracy, micro_f1};
///
/// let (truth, predicted) = ([0, 1, 1, 2], [0, 1, 2, 2]);
/// assert_eq!(micro_f1(&truth, &predicted), accuracy(&truth, &predicted));
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn micro_f1(truth: &[u32], predicted: &[u32]) -> f64 {
    accuracy(truth, predicted)
}

/// Mean over classes of 2·TP / (2·TP + FP + FN); NaN without samples.
///
/// The classes are those that occur in `truth` or `predicted`, as in scikit-learn.
///
/// A rare class counts as much as a frequent one, so that a method that only finds the large classes is told apart.
///
/// ```
/// // Class 0: 2/2; class 1: 2·1/(2 + 1); class 2: 2·1/(1 + 2).
/// let f1 = lopsided::metrics::macro_f1(&[0, 1, 1, 2], &[0, 1, 2, 2]);
/// assert!((f1 - 7.0 / 9.0).abs() < 1e-15);
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn macro_f1(truth: &[u32], predicted: &[u32]) -> f64 {
    check_lengths(truth, predicted);
    // Per class: hits, and samples that are or are said to be of it, which is 2 TP + FP + FN.
    let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (&t, &p) in truth.iter().zip(predicted) {
        counts.entry(t).or_default().0 += usize::from(t == p);
        counts.entry(t).or_default().1 += 1;
        counts.entry(p).or_default().1 += 1;
    }
    let sum: f64 = counts.values().map(|&(hits, all)| 2.0 * hits as f64 / all as f64).sum();
    sum / counts.len() as f64
}

/// Root of the mean squared error; NaN without samples.
///
/// √(Σ_i (y_i − ŷ_i)²/n), in the unit of the values.
///
/// ```
/// assert_eq!(lopsided::metrics::rmse(&[2.0, 2.0], &[1.0, 3.0]), 1.0);
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn rmse(truth: &[f64], predicted: &[f64]) -> f64 {
    assert!(truth.len() == predicted.len(), "{} true and {} predicted values", truth.len(), predicted.len());
    let squares: f64 = truth.iter().zip(predicted).map(|(t, p)| (t - p).powi(2)).sum();
    (squares / truth.len() as f64).sqrt()
}

/// Sine of the largest principal angle between the spans of two matrices with orthonormal columns.
///
/// The residual form ‖B − A(AᵀB)‖₂ keeps small angles accurate, which √(1 − cos²θ) from the
/// singular values of AᵀB does not (it loses all below √ε). With different numbers of columns
/// B is the narrower one. NaN if the bases contain NaN.
///
/// ```
/// use lopsided::metrics::largest_angle_sine;
///
/// let (axis, slanted) = (faer::mat![[1.0], [0.0]], faer::mat![[0.6], [0.8]]);
/// assert!((largest_angle_sine(axis.as_ref(), slanted.as_ref()) - 0.8).abs() < 1e-12);
/// let turned = faer::mat![[-1.0], [0.0]]; // another basis of the same span
/// assert!(largest_angle_sine(axis.as_ref(), turned.as_ref()) < 1e-12);
/// ```
///
/// # Panics
/// If the two matrices differ in height.
pub fn largest_angle_sine<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    assert!(a.nrows() == b.nrows(), "bases of height {} and {}", a.nrows(), b.nrows());
    let (wide, narrow) = if a.ncols() >= b.ncols() { (a, b) } else { (b, a) };
    let residual = narrow - wide * (wide.transpose() * narrow);
    let sines = residual.singular_values().unwrap_or_else(|_| vec![T::nan()]);
    sines.first().map_or(0.0, |&s| s.as_f64())
}

/// Positions 0 to n − 1 split at random into training and test positions, each ascending.
///
/// The training part has round(n · `train_share`) positions, where the share is taken into \[0, 1\].
///
/// ```
/// let (train, test) = lopsided::metrics::split(10, 0.8, 1);
/// assert_eq!((train.len(), test.len()), (8, 2));
/// assert!(test.iter().all(|i| !train.contains(i)));
/// assert_eq!(lopsided::metrics::split(10, 0.8, 1), (train, test)); // same seed, same split
/// ```
pub fn split(n: usize, train_share: f64, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut train: Vec<usize> = (0..n).collect();
    train.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut test = train.split_off((n as f64 * train_share.clamp(0.0, 1.0)).round() as usize);
    train.sort_unstable();
    test.sort_unstable();
    (train, test)
}

/// Two labelings are compared sample by sample, so a difference in length is a mistake of the caller: it panics.
fn check_lengths(truth: &[u32], predicted: &[u32]) {
    assert!(truth.len() == predicted.len(), "{} true and {} predicted classes", truth.len(), predicted.len());
}

/// Area under the receiver operating characteristic: the share of pairs of a positive and a negative sample in which the
/// positive one has the larger score, ties counting one half. NaN unless both kinds occur.
///
/// ```
/// use lopsided::metrics::auroc;
///
/// // Of the four pairs only (0.7, 0.8) is in the wrong order.
/// assert_eq!(auroc(&[true, false, true, false], &[0.9, 0.8, 0.7, 0.1]), 0.75);
/// assert_eq!(auroc(&[true, false], &[0.5, 0.5]), 0.5);
/// ```
///
/// # Panics
/// If the two slices differ in length.
///
/// # Cost
/// O(n ln n): one sort of the scores instead of all pairs.
pub fn auroc(truth: &[bool], scores: &[f64]) -> f64 {
    let (mut negatives, mut below) = (0.0, 0.0);
    let groups = groups_of_equals(truth, scores);
    for &(hits, misses) in groups.iter().rev() {
        below += hits * (negatives + misses / 2.0);
        negatives += misses;
    }
    below / (negatives * groups.iter().map(|g| g.0).sum::<f64>())
}

/// Average precision, the sum over thresholds of (recall − recall before)·precision, as in scikit-learn; NaN without
/// positive samples. Samples of equal score share one threshold.
///
/// ```
/// // Precision 1 at the first positive sample and 2/3 at the second, each half of the recall.
/// let found = lopsided::metrics::average_precision(&[true, false, true, false], &[0.9, 0.8, 0.7, 0.1]);
/// assert!((found - 5.0 / 6.0).abs() < 1e-15);
/// ```
///
/// # Panics
/// If the two slices differ in length.
///
/// # Cost
/// O(n ln n).
pub fn average_precision(truth: &[bool], scores: &[f64]) -> f64 {
    let (mut positives, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for (hits, misses) in groups_of_equals(truth, scores) {
        positives += hits;
        seen += hits + misses;
        sum += hits * positives / seen;
    }
    sum / positives
}

/// The points of a receiver operating characteristic, from (0, 0) to (1, 1): the share of negative samples whose score is at least a
/// threshold, and that of positive ones, for every score as threshold. The area below is [`auroc`].
///
/// ```
/// let points = lopsided::metrics::rates(&[true, false, true], &[0.9, 0.8, 0.7]);
/// assert_eq!(points, [(0.0, 0.0), (0.0, 0.5), (1.0, 0.5), (1.0, 1.0)]);
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn rates(truth: &[bool], scores: &[f64]) -> Vec<(f64, f64)> {
    let groups = groups_of_equals(truth, scores);
    let (all, none): (f64, f64) = groups.iter().fold((0.0, 0.0), |(a, b), g| (a + g.0, b + g.1));
    let (mut hits, mut misses) = (0.0, 0.0);
    let mut out = vec![(0.0, 0.0)];
    for group in groups {
        hits += group.0;
        misses += group.1;
        out.push((misses / none, hits / all));
    }
    out
}

/// Recall and precision for every score as threshold, from the largest down; [`average_precision`] is the mean of the precisions,
/// weighed by the steps of the recall.
///
/// ```
/// let points = lopsided::metrics::precision_and_recall(&[true, false, true], &[0.9, 0.8, 0.7]);
/// assert_eq!(points[..2], [(0.5, 1.0), (0.5, 0.5)]);
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn precision_and_recall(truth: &[bool], scores: &[f64]) -> Vec<(f64, f64)> {
    let groups = groups_of_equals(truth, scores);
    let all: f64 = groups.iter().map(|g| g.0).sum();
    let (mut hits, mut seen) = (0.0, 0.0);
    let mut out = Vec::with_capacity(groups.len());
    for group in groups {
        hits += group.0;
        seen += group.0 + group.1;
        out.push((hits / all, hits / seen));
    }
    out
}

/// Positive and negative samples of each score, from the largest score down.
fn groups_of_equals(truth: &[bool], scores: &[f64]) -> Vec<(f64, f64)> {
    assert!(truth.len() == scores.len(), "{} labels and {} scores", truth.len(), scores.len());
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let equal = |a: &usize, b: &usize| scores[*a].total_cmp(&scores[*b]).is_eq();
    let count = |group: &[usize]| {
        let hits = group.iter().filter(|&&i| truth[i]).count();
        (hits as f64, (group.len() - hits) as f64)
    };
    order.chunk_by(equal).map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn scores_equal_hand_computed_ones() {
        // Class 0: TP 2, FP 1, FN 0; class 1: TP 1, FP 0, FN 2; class 2: TP 1, FP 1, FN 0.
        let (truth, predicted) = ([0, 0, 1, 1, 1, 2], [0, 0, 1, 0, 2, 2]);
        assert!((accuracy(&truth, &predicted) - 4.0 / 6.0).abs() < 1e-15);
        assert!((micro_f1(&truth, &predicted) - 4.0 / 6.0).abs() < 1e-15);
        assert!((rmse(&[1.0, 2.0], &[1.0, 5.0]) - 4.5f64.sqrt()).abs() < 1e-15);
        assert!((macro_f1(&truth, &predicted) - (0.8 + 0.5 + 2.0 / 3.0) / 3.0).abs() < 1e-15);
    }

    #[test]
    fn a_class_that_is_only_predicted_counts_in_the_macro_mean() {
        assert!((macro_f1(&[0, 0], &[0, 1]) - 1.0 / 3.0).abs() < 1e-15);
        assert!(accuracy(&[], &[]).is_nan() && macro_f1(&[], &[]).is_nan());
    }

    #[test]
    fn angles_are_right_from_tiny_to_straight() {
        let a = mat![[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]];
        for angle in [1e-12, 1e-5, 0.3, std::f64::consts::FRAC_PI_2] {
            let b = mat![[1.0, 0.0], [0.0, f64::cos(angle)], [0.0, f64::sin(angle)]];
            let sine = largest_angle_sine(a.as_ref(), b.as_ref());
            assert!((sine - angle.sin()).abs() <= 1e-15 + 1e-12 * angle, "{angle}: {sine}");
        }
    }

    #[test]
    fn a_subspace_of_a_larger_one_has_angle_zero() {
        let a = mat![[1.0f32, 0.0], [0.0, 1.0], [0.0, 0.0]];
        let b = mat![[0.6f32], [0.8], [0.0]];
        assert!(largest_angle_sine(a.as_ref(), b.as_ref()) < 1e-7);
        assert!(largest_angle_sine(b.as_ref(), a.as_ref()) < 1e-7);
    }

    #[test]
    fn split_parts_are_disjoint_and_complete() {
        let (train, test) = split(101, 0.8, 3);
        assert_eq!((train.len(), test.len()), (81, 20));
        let mut all = [train, test].concat();
        all.sort_unstable();
        assert_eq!(all, (0..101).collect::<Vec<_>>());
        assert_ne!(split(101, 0.8, 3), split(101, 0.8, 4));
        assert_eq!(split(5, 7.0, 0).0.len(), 5);
    }

    #[test]
    fn rankings_are_scored_as_by_hand() {
        let (truth, scores) = ([true, false, true, false], [0.9, 0.8, 0.7, 0.1]);
        assert!((auroc(&truth, &scores) - 0.75).abs() < 1e-15);
        assert!((average_precision(&truth, &scores) - f64::midpoint(1.0, 2.0 / 3.0)).abs() < 1e-15);
        assert_eq!((auroc(&truth, &[1.0; 4]), average_precision(&truth, &[1.0; 4])), (0.5, 0.5));
        assert!(auroc(&[true], &[1.0]).is_nan() && average_precision(&[false], &[1.0]).is_nan());
    }
}

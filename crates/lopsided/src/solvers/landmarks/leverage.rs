//! Landmarks by how much they matter.

use super::gram::Gram;
use super::{Sampler, check_count, generator, weighted_subset};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;
use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// Up to this many samples the scores are exact.
const EXACT: usize = 500;
/// Samples a round of the recursion keeps, in multiples of the landmarks, and at least: fewer may miss a direction of many.
const OVERSAMPLING: usize = 2;
const FEWEST: usize = 200;
/// What is added to the diagonal of K_SS, relative to λ, so that repeated samples do no harm.
const JITTER: f64 = 1e-4;
/// Samples looked at in one piece.
const PIECE: usize = 4096;

/// Ridge leverage scores ℓ_i = (K·(K + λI)⁻¹)_ii as probabilities: samples without which K cannot be approximated.
///
/// λ = (sum of the eigenvalues after the m-th)/m, but at least √ε of the largest, so that about m samples matter. Scores are exact up to 500 samples.
/// Beyond, in two steps:
///
/// 1. Recursively a sample S (\[RLS\]): the scores of a random half give a weighted sample of it, w one over the probability of each,
///    and with M = √w·K_SS·√w the scores of all are about h_i = (K_ii − K_iS·√w·(M + λI)⁻¹·√w·K_Si)/λ.
/// 2. With K_SS = L·Lᵀ, F = K_nS·L⁻ᵀ and K̃ = F·Fᵀ, the scores of K̃ and what it leaves of the diagonal:
///    ℓ_i = f_iᵀ·(FᵀF + λI)⁻¹·f_i + r_i/(r_i + λ), r_i = K_ii − |f_i|², with λ from tr K and the eigenvalues of FᵀF.
///
/// # Departures
/// \[RLS\] takes h_i itself, capped at 1. There i counts w_i times or not at all, which ℓ_i = h_i/(1 + (1 − w_i)·h_i) takes back, and
/// the weights of a half make up for the other half. Even so h_i of the many is too large, since few stand for them, while an
/// outlier cannot have more than 1, which would halve the rate at which outliers are drawn: step 2 sees all samples.
///
/// # Cost
/// O(n·m²) operations, O(n·m) entries of K.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{Leverage, Sampler};
/// use lopsided::{Mat, Side};
///
/// // Samples 2 and 3 are zero in feature space: their score is 0.
/// let k = DenseOperator::Owned(Mat::from_fn(4, 4, |i, j| if i == j && i < 2 { 1.0 } else { 0.0 }));
/// assert_eq!(Sampler::<f64>::pick(&Leverage, &k, Side::Row, 2, 0)?, [0, 1]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Leverage;

impl<T: Scalar> Sampler<T> for Leverage {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        check_count(g, side, count)?;
        let gram = Gram::new(g, side, "leverage")?;
        let mut rng = generator(side, seed);
        let scores = leverage(&gram, count, &mut rng)?;
        Ok(weighted_subset(&scores, count, &mut rng))
    }
}

/// The scores of all samples.
///
/// 1. Halve the set of samples at random until it is small enough to be decomposed.
/// 2. λ from its eigenvalues, weighted as if it were everything.
/// 3. Back up, set by set: scores by the sample so far, and from them the sample for the next larger set.
/// 4. With the sample for all of them, the scores in its span.
fn leverage<T: Scalar>(gram: &Gram<'_, T>, count: usize, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
    let diagonal = gram.diagonal()?;
    // Each set is a random half of the one before it.
    let mut sets = vec![(0..gram.size()).collect::<Vec<usize>>()];
    let enough = EXACT.max(2 * OVERSAMPLING * count);
    while sets[sets.len() - 1].len() > enough {
        let last = &sets[sets.len() - 1];
        let half = random::subset(last.len(), last.len() / 2, rng);
        sets.push(half.iter().map(|&at| last[at]).collect());
    }
    let smallest = sets[sets.len() - 1].clone();
    let share = gram.size() as f64 / smallest.len() as f64;
    let mut sample = Weighted { weights: vec![share; smallest.len()], picked: smallest };
    let lambda = ridge::<T>(&sample.gram(gram)?, count)?;
    if sets.len() == 1 {
        return sample.scores(gram, &sets[0], &diagonal, lambda);
    }
    for set in sets.iter().rev() {
        let scores = sample.scores(gram, set, &diagonal, lambda)?;
        sample = Weighted::draw(set, &scores, FEWEST.max(OVERSAMPLING * count), gram.size(), rng);
    }
    within_span(gram, &sample.picked, &diagonal, (lambda, count))
}

/// Step 2, with λ so far and the number of landmarks.
fn within_span<T: Scalar>(
    gram: &Gram<'_, T>,
    picked: &[usize],
    diagonal: &[f64],
    (lambda, count): (f64, usize),
) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..diagonal.len()).collect();
    let mut inner = gram.block(picked, picked)?;
    (0..picked.len()).for_each(|i| inner[(i, i)] += JITTER * lambda);
    let inverse = linalg::lower_inverse(linalg::lower_factor(inner).ok_or_else(not_positive)?.as_ref());
    let features = |part: &[usize]| Ok(linalg::mul(gram.block(part, picked)?.as_ref(), inverse.transpose()));
    let mut moments = Mat::zeros(picked.len(), picked.len());
    for part in all.chunks(PIECE) {
        let f: Mat<f64> = features(part)?;
        moments += linalg::transpose_mul(f.as_ref(), f.as_ref());
    }
    let values = linalg::eigenvalues(moments.as_ref()).ok_or_else(not_positive)?;
    let leading: f64 = values.iter().rev().take(count).sum();
    let lambda = at_least::<T>((diagonal.iter().sum::<f64>() - leading) / count as f64, &values);
    (0..picked.len()).for_each(|i| moments[(i, i)] += lambda);
    let root = linalg::lower_inverse(linalg::lower_factor(moments).ok_or_else(not_positive)?.as_ref());
    let mut out = Vec::with_capacity(all.len());
    for part in all.chunks(PIECE) {
        let f: Mat<f64> = features(part)?;
        let turned = linalg::mul(f.as_ref(), root.transpose());
        let square = |m: &Mat<f64>, at: usize| m.row(at).iter().map(|v| v * v).sum::<f64>();
        out.extend((0..part.len()).map(|at| {
            let left = (diagonal[part[at]] - square(&f, at)).max(0.0);
            (square(&turned, at) + left / (left + lambda)).min(1.0)
        }));
    }
    Ok(out)
}

/// Samples that stand for others.
struct Weighted {
    picked: Vec<usize>,
    /// How many each stands for: one over its probability.
    weights: Vec<f64>,
}

impl Weighted {
    /// Each member of the set with probability min(1, score·expected/Σ scores); the set stands for `all` samples.
    fn draw(set: &[usize], scores: &[f64], expected: usize, all: usize, rng: &mut ChaCha8Rng) -> Self {
        let share = all as f64 / set.len() as f64;
        let total: f64 = scores.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut picked, mut weights) = (Vec::new(), Vec::new());
        for (&i, score) in set.iter().zip(scores) {
            let probability = (score * expected as f64 / total).min(1.0);
            if rng.random::<f64>() < probability {
                picked.push(i);
                weights.push(share / probability);
            }
        }
        if picked.is_empty() {
            return Weighted { picked: vec![set[0]], weights: vec![all as f64] };
        }
        Weighted { picked, weights }
    }

    /// √w·K_SS·√w.
    fn gram<T: Scalar>(&self, gram: &Gram<'_, T>) -> Result<Mat<f64>> {
        let inner = gram.block(&self.picked, &self.picked)?;
        let root = |i: usize| self.weights[i].sqrt();
        Ok(Mat::from_fn(self.picked.len(), self.picked.len(), |i, j| root(i) * inner[(i, j)] * root(j)))
    }

    /// Scores of a set of samples.
    fn scores<T: Scalar>(&self, gram: &Gram<'_, T>, set: &[usize], diagonal: &[f64], lambda: f64) -> Result<Vec<f64>> {
        let mut inner = self.gram(gram)?;
        (0..inner.nrows()).for_each(|i| inner[(i, i)] += lambda);
        let lower = linalg::lower_factor(inner).ok_or_else(not_positive)?;
        let inverse = linalg::lower_inverse(lower.as_ref());
        let size = self.picked.len();
        let weights = Mat::from_fn(size, size, |i, j| self.weights[i].sqrt() * inverse[(j, i)]);
        let own: HashMap<usize, f64> = self.picked.iter().copied().zip(self.weights.iter().copied()).collect();
        let mut out = Vec::with_capacity(set.len());
        for part in set.chunks(PIECE) {
            let explained = linalg::mul(gram.block(part, &self.picked)?.as_ref(), weights.as_ref());
            let score = |at: usize| {
                let square: f64 = explained.row(at).iter().map(|v| v * v).sum();
                let counted = own.get(&part[at]).copied().unwrap_or(0.0);
                // A sample that M holds w times has at most the score 1/w there.
                let score = ((diagonal[part[at]] - square) / lambda).clamp(0.0, 1.0 / counted);
                (score / (1.0 + (1.0 - counted) * score)).clamp(0.0, 1.0)
            };
            out.extend((0..part.len()).map(score));
        }
        Ok(out)
    }
}

/// λ: the mean over the landmarks of what the largest eigenvalues leave.
fn ridge<T: Scalar>(gram: &Mat<f64>, count: usize) -> Result<f64> {
    let values = linalg::eigenvalues(gram.as_ref()).ok_or_else(not_positive)?;
    let tail: f64 = values.iter().rev().skip(count).map(|v| v.max(0.0)).sum();
    Ok(at_least::<T>(tail / count as f64, &values))
}

/// Scores are differences divided by λ: one that is too small beside the largest eigenvalue would show nothing but rounding.
fn at_least<T: Scalar>(lambda: f64, values: &[f64]) -> f64 {
    lambda.max(values.last().copied().unwrap_or(0.0) * T::eps().sqrt()).max(f64::MIN_POSITIVE)
}

fn not_positive() -> Error {
    let allowed = "`uniform` or `norms` for a kernel matrix that is not positive semidefinite";
    Error::param("sampler", "leverage", allowed)
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "leverage",
        about: "probability proportional to ridge leverage scores: exact for few samples, recursive for many",
        settings: &[],
        build: |_| Ok(Box::new(Leverage)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::watch::Watch;
    use crate::data::samples::Samples;
    use crate::data::synth;
    use crate::kernel::Rbf;
    use crate::operator::{DenseOperator, KernelOperator};

    fn scores(n: usize, count: usize) -> Vec<f64> {
        let x = Samples::Dense(Mat::from_fn(n, 1, |i, _| if i == 7 { 50.0 } else { (i % 3) as f64 }));
        let kernel = Rbf { gamma: 1.0 };
        let k = KernelOperator::new(&kernel, x.as_ref(), x.as_ref(), None, &Watch::default()).unwrap();
        let gram = Gram::new(&k, Side::Row, "leverage").unwrap();
        leverage(&gram, count, &mut generator(Side::Row, 1)).unwrap()
    }

    #[test]
    fn few_samples_have_exact_scores() {
        let f = synth::gaussian::<f64>(60, 20, 5);
        let k = &f * f.transpose();
        let found = {
            let g = DenseOperator::Borrowed(k.as_ref());
            let gram = Gram::new(&g, Side::Row, "leverage").unwrap();
            leverage(&gram, 6, &mut generator(Side::Row, 1)).unwrap()
        };
        let lambda = ridge::<f64>(&k, 6).unwrap();
        let shifted = Mat::from_fn(60, 60, |i, j| k[(i, j)] + if i == j { lambda } else { 0.0 });
        let expected = linalg::solve_lower(shifted, k.clone()).unwrap();
        assert!(found.iter().enumerate().all(|(i, s)| (s - expected[(i, i)]).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn a_sample_alone_scores_one_and_copies_share_one_in_the_recursion_as_well() {
        // Three different values share three.
        for (n, range) in [(300, 2.9..=3.1), (3000, 2.9..=3.1)] {
            let found = scores(n, 8);
            assert!(found[7] > 0.99, "{n}: {}", found[7]);
            let others: f64 = found.iter().enumerate().filter(|(i, _)| *i != 7).map(|(_, s)| s).sum();
            assert!(range.contains(&others), "{n}: {others}");
        }
    }

    /// Exact scores with the exact λ.
    fn exact(k: &Mat<f64>, count: usize) -> Vec<f64> {
        let (n, lambda) = (k.nrows(), ridge::<f64>(k, count).unwrap());
        let shifted = Mat::from_fn(n, n, |i, j| k[(i, j)] + if i == j { lambda } else { 0.0 });
        let solved = linalg::solve_lower(shifted, k.clone()).unwrap();
        (0..n).map(|i| solved[(i, i)]).collect()
    }

    /// Points on a curve, ten outliers that are alone and four pairs of them.
    fn with_outliers(n: usize) -> Mat<f64> {
        Mat::from_fn(n, 2, |i, j| match i {
            0..10 => 20.0 + 10.0 * (i + 10 * j) as f64,
            10..18 => -20.0 - 10.0 * (i / 2 + 10 * j) as f64,
            _ => {
                if j == 0 {
                    (i as f64 * 0.37).sin()
                } else {
                    (i as f64 * 0.61).cos()
                }
            }
        })
    }

    #[test]
    fn outliers_are_drawn_at_their_rate_on_both_sides_of_the_switch() {
        for (n, count) in [(450, 30), (501, 30), (600, 30), (1400, 30), (1400, 150)] {
            let x = with_outliers(n);
            let square = |i: usize, j: usize| (0..2).map(|c| (x[(i, c)] - x[(j, c)]).powi(2)).sum::<f64>();
            let k = Mat::from_fn(n, n, |i, j| (-2.0 * square(i, j)).exp());
            let rate = |scores: &[f64], set: std::ops::Range<usize>| {
                scores[set].iter().sum::<f64>() / scores.iter().sum::<f64>()
            };
            let expected = exact(&k, count);
            let g = DenseOperator::Borrowed(k.as_ref());
            let gram = Gram::new(&g, Side::Row, "leverage").unwrap();
            let trials = 12;
            let found: Vec<Vec<f64>> =
                (0..trials).map(|seed| leverage(&gram, count, &mut generator(Side::Row, seed)).unwrap()).collect();
            for set in [0..10, 10..18] {
                let mean = found.iter().map(|scores| rate(scores, set.clone())).sum::<f64>() / trials as f64;
                let quotient = mean / rate(&expected, set.clone());
                assert!((0.9..1.1).contains(&quotient), "n = {n}, m = {count}, samples {set:?}: {quotient}");
            }
        }
    }
}

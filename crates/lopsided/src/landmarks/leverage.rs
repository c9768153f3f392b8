use super::gram::Gram;
use super::{Sampler, check_count, generator, weighted_subset};
use crate::error::{Error, Result};
use crate::linalg;
use crate::operator::Operator;
use crate::random;
use crate::registry::Entry;
use crate::samples::Side;
use crate::scalar::Scalar;
use faer::Mat;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Up to this many samples the scores are exact.
const EXACT: usize = 500;
/// Samples a round of the recursion keeps, in multiples of the landmarks.
const OVERSAMPLING: usize = 2;

/// Ridge leverage scores ℓ_i = (K·(K + λI)⁻¹)_ii as probabilities: samples without which K cannot be approximated.
///
/// λ = (sum of the eigenvalues after the m-th)/m, but at least √ε of the largest, so that about m samples matter. Scores are exact up to 500 samples.
/// Beyond, recursively (\[RLS\]): the scores of a random half give a weighted sample S of it, and with its weights w and
/// M = √w·K_SS·√w the scores of all are ℓ_i ≈ (K_ii − K_iS·√w·(M + λI)⁻¹·√w·K_Si)/λ.
///
/// # Cost
/// O(n·m²) operations, O(n·m) entries of K.
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
    let mut sample = Weighted { weights: vec![1.0; smallest.len()], picked: smallest };
    let mut scores = Vec::new();
    for (level, set) in sets.iter().enumerate().rev() {
        scores = sample.scores(gram, set, &diagonal, count)?;
        if level > 0 {
            sample = Weighted::draw(set, &scores, OVERSAMPLING * count, rng);
        }
    }
    Ok(scores)
}

/// Samples that stand for others.
struct Weighted {
    picked: Vec<usize>,
    /// One over the probability of each.
    weights: Vec<f64>,
}

impl Weighted {
    /// Each member of the set with probability min(1, score·expected/Σ scores).
    fn draw(set: &[usize], scores: &[f64], expected: usize, rng: &mut ChaCha8Rng) -> Self {
        let total: f64 = scores.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let (mut picked, mut weights) = (Vec::new(), Vec::new());
        for (&i, score) in set.iter().zip(scores) {
            let probability = (score * expected as f64 / total).min(1.0);
            if rng.random::<f64>() < probability {
                picked.push(i);
                weights.push(1.0 / probability);
            }
        }
        if picked.is_empty() {
            return Weighted { picked: vec![set[0]], weights: vec![1.0] };
        }
        Weighted { picked, weights }
    }

    /// Scores of a set of samples.
    fn scores<T: Scalar>(&self, gram: &Gram<'_, T>, set: &[usize], diagonal: &[f64], count: usize) -> Result<Vec<f64>> {
        let roots: Vec<f64> = self.weights.iter().map(|w| w.sqrt()).collect();
        let inner = gram.block(&self.picked, &self.picked)?;
        let mut inner = Mat::from_fn(roots.len(), roots.len(), |i, j| roots[i] * inner[(i, j)] * roots[j]);
        let ridge = ridge::<T>(&inner, count)?;
        (0..roots.len()).for_each(|i| inner[(i, i)] += ridge);
        let lower = linalg::lower_factor(inner).ok_or_else(not_positive)?;
        let weights = linalg::lower_inverse(lower.as_ref());
        let weights = Mat::from_fn(roots.len(), roots.len(), |i, j| roots[i] * weights[(j, i)]);
        let mut out = Vec::with_capacity(set.len());
        for part in set.chunks(4096) {
            let explained = linalg::mul(gram.block(part, &self.picked)?.as_ref(), weights.as_ref());
            let score = |at: usize| {
                let square: f64 = explained.row(at).iter().map(|v| v * v).sum();
                ((diagonal[part[at]] - square) / ridge).clamp(0.0, 1.0)
            };
            out.extend((0..part.len()).map(score));
        }
        Ok(out)
    }
}

/// λ: the mean over the landmarks of what the largest eigenvalues leave.
fn ridge<T: Scalar>(gram: &Mat<f64>, count: usize) -> Result<f64> {
    let values = linalg::eigenvalues(gram.as_ref()).ok_or_else(not_positive)?;
    let largest = values.last().copied().unwrap_or(0.0);
    let tail: f64 = values.iter().rev().skip(count).map(|v| v.max(0.0)).sum();
    // Scores are differences divided by λ: a smaller one would show nothing but rounding.
    let least = largest * T::eps().sqrt();
    Ok((tail / count as f64).max(least).max(f64::MIN_POSITIVE))
}

fn not_positive() -> Error {
    let allowed = "`uniform` or `norms` for a kernel matrix that is not positive semidefinite";
    Error::param("sampler", "leverage", allowed)
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "leverage",
        about: "probability proportional to ridge leverage scores: exact for few samples, recursive for many",
        params: &[],
        build: |_| Ok(Box::new(Leverage)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Rbf;
    use crate::operator::{DenseOperator, KernelOperator};
    use crate::samples::Samples;
    use crate::synth;
    use crate::watch::Watch;

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
        // Three different values share three; the recursion may overestimate, by up to three times.
        for (n, most) in [(300, 3.1), (3000, 9.0)] {
            let found = scores(n, 8);
            assert!(found[7] > 0.99, "{n}: {}", found[7]);
            let others: f64 = found.iter().enumerate().filter(|(i, _)| *i != 7).map(|(_, s)| s).sum();
            assert!((2.0..=most).contains(&others), "{n}: {others}");
        }
    }
}

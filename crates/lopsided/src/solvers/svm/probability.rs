//! From decision values to probabilities.
//!
//! 1. [`held_out`]: the value of each sample by a machine that has not seen it, in five parts.
//! 2. [`Sigmoid::fit`]: Platt's sigmoid of these values, one for each machine.
//! 3. [`coupled`]: for one machine per pair, the class probabilities that agree best with those of all pairs.

use super::Part;
use super::classes::Pair;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use rand::seq::SliceRandom;

/// Parts of the samples, each of which is judged by a machine that has not seen it.
const FOLDS: usize = 5;
/// Newton steps of the sigmoid.
const STEPS: usize = 100;
/// Pair probabilities stay this far from 0 and 1, so that coupling them is well posed.
pub(crate) const CERTAIN: f64 = 1e-7;

/// P(first class | f) = 1/(1 + exp(slope·f + offset)): Platt's sigmoid.
///
/// ```
/// use lopsided::solvers::svm::Sigmoid;
///
/// let sigmoid = Sigmoid::fit(&[-1.0, 1.0], &[-1.0, 1.0]);
/// assert!((sigmoid.probability(1.0) - 2.0 / 3.0).abs() < 1e-6); // (n₊ + 1)/(n₊ + 2)
/// assert!((sigmoid.probability(0.0) - 0.5).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sigmoid {
    /// A, below 0 where larger values mean the first class.
    pub slope: f64,
    /// B.
    pub offset: f64,
}

impl Sigmoid {
    /// The most likely sigmoid for values of samples of the classes ±1, by Newton's method with halved steps.
    ///
    /// The targets are (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) instead of 1 and 0, so that separable values stay finite.
    pub fn fit(values: &[f64], y: &[f64]) -> Self {
        let plus = y.iter().filter(|y| **y > 0.0).count() as f64;
        let minus = y.len() as f64 - plus;
        let targets: Vec<f64> =
            y.iter().map(|y| if *y > 0.0 { (plus + 1.0) / (plus + 2.0) } else { 1.0 / (minus + 2.0) }).collect();
        let mut now = Sigmoid { slope: 0.0, offset: ((minus + 1.0) / (plus + 1.0)).ln() };
        let mut loss = now.loss(values, &targets);
        for _ in 0..STEPS {
            let (gradient, step) = now.newton(values, &targets);
            if gradient.0.abs() < 1e-8 && gradient.1.abs() < 1e-8 {
                break;
            }
            let at = |scale: f64| Sigmoid { slope: now.slope + scale * step.0, offset: now.offset + scale * step.1 };
            let slope = gradient.0 * step.0 + gradient.1 * step.1;
            let enough = |scale: &f64| at(*scale).loss(values, &targets) < loss + 1e-4 * scale * slope;
            let Some(scale) = (0..40).map(|h| 0.5f64.powi(h)).find(enough) else { break };
            now = at(scale);
            loss = now.loss(values, &targets);
        }
        now
    }

    /// The probability of the first class; never overflows.
    pub fn probability(&self, value: f64) -> f64 {
        let t = self.slope * value + self.offset;
        if t >= 0.0 { (-t).exp() / (1.0 + (-t).exp()) } else { 1.0 / (1.0 + t.exp()) }
    }

    /// −Σ t·log p + (1 − t)·log(1 − p), in the form that loses no digits.
    fn loss(&self, values: &[f64], targets: &[f64]) -> f64 {
        let of = |(v, t): (&f64, &f64)| {
            let z = self.slope * v + self.offset;
            if z >= 0.0 { t * z + (-z).exp().ln_1p() } else { (t - 1.0) * z + z.exp().ln_1p() }
        };
        values.iter().zip(targets).map(of).sum()
    }

    /// The gradient and Newton's step.
    fn newton(&self, values: &[f64], targets: &[f64]) -> ((f64, f64), (f64, f64)) {
        // The small ridge keeps the Hessian regular for equal values.
        let (mut h11, mut h22, mut h21, mut g1, mut g2) = (1e-12, 1e-12, 0.0, 0.0, 0.0);
        for (v, t) in values.iter().zip(targets) {
            let p = self.probability(*v);
            let weight = p * (1.0 - p);
            h11 += v * v * weight;
            h22 += weight;
            h21 += v * weight;
            g1 += v * (t - p);
            g2 += t - p;
        }
        let det = h11 * h22 - h21 * h21;
        ((g1, g2), (-(h22 * g1 - h21 * g2) / det, -(h11 * g2 - h21 * g1) / det))
    }
}

/// The value of every sample by a machine that has not seen it: five parts, both classes spread evenly over them.
///
/// `judge` learns from some samples and tells the values at some places.
pub(crate) fn held_out(
    part: &Part,
    seed: u64,
    judge: impl Fn(&Part, &[usize]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let mut order: Vec<usize> = (0..part.y.len()).collect();
    order.shuffle(&mut random::generator(seed, Purpose::ProbabilityFolds));
    order.sort_by(|&a, &b| part.y[a].total_cmp(&part.y[b]));
    let folds = FOLDS.min(order.len());
    let mut out = vec![0.0; part.y.len()];
    for fold in 0..folds {
        let of = |held: bool| -> Vec<usize> {
            (0..order.len()).filter(|at| (at % folds == fold) == held).map(|at| order[at]).collect()
        };
        let (rest, held) = (part.select(&of(false)), of(true));
        let places: Vec<usize> = held.iter().map(|&i| part.places[i]).collect();
        let values = if rest.y.contains(&1.0) && rest.y.contains(&-1.0) {
            judge(&rest, &places)?
        } else {
            vec![rest.y.first().copied().unwrap_or(0.0); held.len()]
        };
        held.iter().zip(values).for_each(|(&i, f)| out[i] = f);
    }
    Ok(out)
}

/// Class probabilities p from those of the first class of each pair: p minimises Σ_{a≠b} (r_ba·p_a − r_ab·p_b)² over Σp = 1.
///
/// One coordinate after the other takes its best value, and p is divided by its sum, until the conditions
/// (Qp)_a = pᵀQp hold. Classes without pair have probability 0.
///
/// ```
/// use lopsided::solvers::svm::coupled;
///
/// let p = coupled(&[0.8], &[(0, Some(1))], 2);
/// assert!((p[0] - 0.8).abs() < 1e-6 && (p[1] - 0.2).abs() < 1e-6);
/// ```
pub fn coupled(first: &[f64], pairs: &[Pair], count: usize) -> Vec<f64> {
    let mut q = faer::Mat::<f64>::zeros(count, count);
    let mut present = vec![false; count];
    for (r, &(a, b)) in first.iter().zip(pairs) {
        let (a, b) = (a as usize, b.unwrap_or(a) as usize);
        let r = r.clamp(CERTAIN, 1.0 - CERTAIN);
        q[(a, a)] += (1.0 - r) * (1.0 - r);
        q[(b, b)] += r * r;
        (q[(a, b)], q[(b, a)]) = (-r * (1.0 - r), -r * (1.0 - r));
        (present[a], present[b]) = (true, true);
    }
    let classes: Vec<usize> = (0..count).filter(|&c| present[c]).collect();
    let mut p: Vec<f64> = present.iter().map(|&p| if p { 1.0 / classes.len() as f64 } else { 0.0 }).collect();
    for _ in 0..100 * count {
        let product = |p: &[f64], a: usize| classes.iter().map(|&b| q[(a, b)] * p[b]).sum::<f64>();
        let value = |p: &[f64]| classes.iter().map(|&a| p[a] * product(p, a)).sum::<f64>();
        let common = value(&p);
        if classes.iter().all(|&a| (product(&p, a) - common).abs() < 1e-10) {
            break;
        }
        for &a in &classes {
            p[a] += (value(&p) - product(&p, a)) / q[(a, a)];
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_of_the_sigmoid_vanishes_and_separable_values_stay_finite() {
        let values: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 60) / 10.0 - 3.0).collect();
        let y: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(i, v)| if v + f64::from(i as i32 % 5) > 2.0 { 1.0 } else { -1.0 })
            .collect();
        let plus = y.iter().filter(|y| **y > 0.0).count() as f64;
        let target = |y: f64| if y > 0.0 { (plus + 1.0) / (plus + 2.0) } else { 1.0 / (60.0 - plus + 2.0) };
        let found = Sigmoid::fit(&values, &y);
        let slope: f64 = values.iter().zip(&y).map(|(v, y)| v * (target(*y) - found.probability(*v))).sum();
        let offset: f64 = values.iter().zip(&y).map(|(v, y)| target(*y) - found.probability(*v)).sum();
        assert!(slope.abs() < 1e-6 && offset.abs() < 1e-6 && found.slope < 0.0, "{found:?}");
        let separable: Vec<f64> = values.iter().map(|v| v.signum()).collect();
        let found = Sigmoid::fit(&values, &separable);
        assert!(found.slope.is_finite() && found.slope < 0.0 && found.probability(1e300) == 1.0);
        let constant = Sigmoid::fit(&[1.0; 4], &[1.0, -1.0, -1.0, -1.0]);
        assert!((constant.probability(1.0) - (2.0 / 3.0 + 0.6) / 4.0).abs() < 1e-6, "{constant:?}");
    }

    #[test]
    fn consistent_pairs_are_coupled_to_the_probabilities_they_come_from() {
        let p = [0.5, 0.3, 0.0, 0.15, 0.05];
        let pairs: Vec<Pair> = [(0, 1), (0, 3), (0, 4), (1, 3), (1, 4), (3, 4)].map(|(a, b)| (a, Some(b))).to_vec();
        let first: Vec<f64> =
            pairs.iter().map(|&(a, b)| p[a as usize] / (p[a as usize] + p[b.unwrap() as usize])).collect();
        let found = coupled(&first, &pairs, 5);
        assert!(found.iter().zip(&p).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?}");
        let sure = coupled(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0], &pairs, 5);
        assert!((sure.iter().sum::<f64>() - 1.0).abs() < 1e-12 && sure[0] > 0.99, "{sure:?}");
    }
}

//! From the scores of two functions to decision values.
//!
//! For stacked classes, with the scores s and t of class c:
//!
//! 1. ℓ_c = w_s·s + w_t·t + w_0, the weights of a logistic regression of its own on held-out scores of mean 0
//!    and deviation 1, rewritten for the scores as they are.
//! 2. p_c = 1/(1 + exp(−ℓ_c)), class by class.
//! 3. P_c = p_c^τ / Σ_k p_k^τ with one power τ for all samples and classes, that of the largest likelihood.
//!
//! For values the first step is least squares, and the last two are left out.

use super::Merge;
use crate::estimators::Answer;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

/// Weight of |w|²/2 against the log-likelihood: keeps weights finite where the scores separate the classes. It is meant for scores
/// of length 1: those of a small penalty are small themselves, and their weights must be large.
const RIDGE: f64 = 1e-2;
/// Newton steps; the objective is convex and smooth, so a few suffice.
const STEPS: usize = 50;

/// Source and target scores of some samples, one column per class.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    /// f_s, one row per sample.
    pub(super) source: Mat<f64>,
    /// f_t, one row per sample.
    pub(super) target: Mat<f64>,
}

/// One score per class from those of both functions.
///
/// Stacking: for each class a logistic regression on (f_s, f_t) of samples that took no part in learning them, for values a
/// linear one. Class probabilities that were learned one by one and divided by their sum are too modest where one class says yes
/// and many say no: all are raised to one power before, the one of the largest likelihood, which leaves their order alone.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::estimators) struct Merger {
    pub(super) merge: Merge,
    /// One column (w_s, w_t, w_0) per class; empty without stacking.
    pub(super) weights: Mat<f64>,
    /// The power of the class probabilities.
    pub(super) power: f64,
}

impl Merger {
    /// Merges without learning anything.
    pub(in crate::estimators) fn plain(merge: Merge) -> Self {
        Merger { merge, weights: Mat::zeros(3, 0), power: 1.0 }
    }

    /// Learns from the scores of held-out samples and their targets: ±1 for each class, or values.
    pub(super) fn stacked(held: &Scores, y: MatRef<'_, f64>, answer: &Answer) -> Self {
        Merger::weighted(held, y, answer, None)
    }

    /// The same, where samples count what their weights say.
    pub(super) fn weighted(held: &Scores, y: MatRef<'_, f64>, answer: &Answer, counts: Option<&[f64]>) -> Self {
        let counts = counts.map_or_else(|| vec![1.0; y.nrows()], <[f64]>::to_vec);
        let mut weights = Mat::zeros(3, y.ncols());
        for c in 0..y.ncols() {
            let w = if *answer == Answer::Values {
                weights_of(held, (y, &counts), c, linear)
            } else {
                standardized(held, (y, &counts), c)
            };
            (0..3).for_each(|k| weights[(k, c)] = w[k]);
        }
        let mut merger = Merger { merge: Merge::Stack, weights, power: 1.0 };
        if *answer != Answer::Values {
            merger.power = best_power(&log_sigmoid(&merger.linear(held)), &classes_of(y), &counts);
        }
        merger
    }

    /// The weighted scores.
    fn linear(&self, scores: &Scores) -> Mat<f64> {
        let (s, t, w) = (&scores.source, &scores.target, &self.weights);
        Mat::from_fn(s.nrows(), s.ncols(), |i, c| w[(0, c)] * s[(i, c)] + w[(1, c)] * t[(i, c)] + w[(2, c)])
    }

    /// What a function counts for class c before any probability is made: f_s for k = 0, f_t for 1, the constant 1 for 2.
    pub(super) fn share(&self, k: usize, c: usize) -> f64 {
        match self.merge {
            Merge::Source => [1.0, 0.0, 0.0][k],
            Merge::Target => [0.0, 1.0, 0.0][k],
            Merge::Average => [0.5, 0.5, 0.0][k],
            Merge::Stack => self.weights[(k, c)],
        }
    }

    /// Mean −log(probability of the true class) for stacked classes, else the mean squared error.
    ///
    /// What the choice of a penalty compares: the smaller, the better. Samples count what their weights say.
    pub(super) fn loss(&self, scores: &Scores, y: MatRef<'_, f64>, answer: &Answer, counts: Option<&[f64]>) -> f64 {
        let decision = self.decision(scores, answer);
        let count = |i: usize| counts.map_or(1.0, |counts| counts[i]);
        let total: f64 = (0..y.nrows()).map(count).sum();
        if self.merge == Merge::Stack && *answer != Answer::Values {
            let truth = classes_of(y);
            let of = |(i, c): (usize, &usize)| -count(i) * decision[(i, *c)].max(f64::MIN_POSITIVE).ln();
            return truth.iter().enumerate().map(of).sum::<f64>() / total;
        }
        let missing = decision - y;
        (0..y.nrows()).map(|i| count(i) * missing.row(i).squared_norm_l2()).sum::<f64>() / total
    }

    /// The decision values: probabilities for stacked classes.
    pub(super) fn decision(&self, scores: &Scores, answer: &Answer) -> Mat<f64> {
        let (s, t) = (&scores.source, &scores.target);
        match self.merge {
            Merge::Source => s.clone(),
            Merge::Target => t.clone(),
            Merge::Average => (s + t) * faer::Scale(0.5),
            Merge::Stack if *answer == Answer::Values => self.linear(scores),
            Merge::Stack => probabilities(&log_sigmoid(&self.linear(scores)), self.power),
        }
    }
}

/// The true class of each row of ±1.
fn classes_of(y: MatRef<'_, f64>) -> Vec<usize> {
    (0..y.nrows()).map(|i| (0..y.ncols()).find(|&c| y[(i, c)] > 0.0).unwrap_or(0)).collect()
}

/// p^power divided by the sum over the classes, for p = exp(logs).
///
/// Differences to the largest logarithm of a row are exponentiated, so that no row underflows as a whole.
fn probabilities(logs: &Mat<f64>, power: f64) -> Mat<f64> {
    let mut out = logs.clone();
    for i in 0..out.nrows() {
        let largest = out.row(i).iter().copied().fold(f64::NEG_INFINITY, f64::max);
        out.row_mut(i).iter_mut().for_each(|l| *l = (power * (*l - largest)).exp());
        let sum: f64 = out.row(i).iter().sum();
        out.row_mut(i).iter_mut().for_each(|p| *p /= sum);
    }
    out
}

/// log(1/(1 + exp(−score))).
///
/// As min(score, 0) − log(1 + exp(−|score|)), in which no exponential overflows.
fn log_sigmoid(scores: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(scores.nrows(), scores.ncols(), |i, c| {
        let score = scores[(i, c)];
        score.min(0.0) - (-score.abs()).exp().ln_1p()
    })
}

/// 1/(1 + exp(−score)).
fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Minimises −Σ log(probability of the true class) + RIDGE/2·(power − 1)², which is convex, by Newton's method with halved steps.
///
/// With l = log p and P ∝ p^τ the slope of a sample's loss in τ is Σ_c P_c·l_c − l_true, and its curvature the
/// variance of l under P, which is never negative.
fn best_power(logs: &Mat<f64>, truth: &[usize], counts: &[f64]) -> f64 {
    let loss = |power: f64| {
        let p = probabilities(logs, power);
        let of = |(i, c): (usize, &usize)| -counts[i] * p[(i, *c)].max(f64::MIN_POSITIVE).ln();
        truth.iter().enumerate().map(of).sum::<f64>() + 0.5 * RIDGE * (power - 1.0).powi(2)
    };
    let mut power = 1.0;
    let mut now = loss(power);
    for _ in 0..STEPS {
        let p = probabilities(logs, power);
        let (mut slope, mut curvature) = (RIDGE * (power - 1.0), RIDGE);
        for (i, &class) in truth.iter().enumerate() {
            let moment = |k: i32| (0..p.ncols()).map(|c| p[(i, c)] * logs[(i, c)].powi(k)).sum::<f64>();
            slope += counts[i] * (moment(1) - logs[(i, class)]);
            curvature += counts[i] * (moment(2) - moment(1).powi(2));
        }
        let moved = |h: i32| power - 0.5f64.powi(h) * slope / curvature;
        let Some(next) = (0..20).map(moved).find(|next| *next > 0.0 && loss(*next) < now) else { break };
        let gain = now - loss(next);
        (power, now) = (next, now - gain);
        if gain <= 1e-12 * (1.0 + now) {
            break;
        }
    }
    power
}

/// Targets, and what each sample counts.
type Counted<'a> = (MatRef<'a, f64>, &'a [f64]);

/// Weights of (f_s, f_t, 1) from such rows, their targets and what they count.
type Regression = fn(&Mat<f64>, &[f64], &[f64]) -> [f64; 3];

/// The rows (f_s, f_t, 1) of class c and its targets, for one of the regressions below.
fn weights_of(held: &Scores, (y, counts): Counted<'_>, c: usize, learn: Regression) -> [f64; 3] {
    let x = Mat::from_fn(y.nrows(), 3, |i, k| match k {
        0 => held.source[(i, c)],
        1 => held.target[(i, c)],
        _ => 1.0,
    });
    learn(&x, &y.col(c).iter().copied().collect::<Vec<f64>>(), counts)
}

/// Logistic regression on scores of mean 0 and deviation 1, as weights of the scores themselves.
///
/// The ridge on the weights would otherwise mean something else for every penalty, as scores grow with γ. A
/// constant column gets the weight 0.
fn standardized(held: &Scores, (y, counts): Counted<'_>, c: usize) -> [f64; 3] {
    let count: f64 = counts.iter().sum();
    let moments = |m: &Mat<f64>| {
        let values = || m.col(c).iter().zip(counts);
        let mean = values().map(|(v, w)| w * v).sum::<f64>() / count;
        let deviation = (values().map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        (mean, if deviation > 0.0 { deviation.recip() } else { 0.0 })
    };
    let (source, target) = (moments(&held.source), moments(&held.target));
    let scaled =
        |m: &Mat<f64>, (mean, factor): (f64, f64)| Mat::from_fn(m.nrows(), 1, |i, _| (m[(i, c)] - mean) * factor);
    let own = Scores { source: scaled(&held.source, source), target: scaled(&held.target, target) };
    let w = weights_of(&own, (y.subcols(c, 1), counts), 0, logistic);
    let (s, t) = (w[0] * source.1, w[1] * target.1);
    [s, t, w[2] - s * source.0 - t * target.0]
}

/// Minimises Σ count·log(1 + exp(−y·xᵀw)) + RIDGE/2·|w|² by Newton's method with halved steps.
///
/// The gradient is −Σ y·q·x + RIDGE·w and the Hessian Σ q·(1 − q)·x·xᵀ + RIDGE·I with q = 1/(1 + exp(y·xᵀw)). A
/// step is halved until the loss falls, at most twenty times, and the iteration ends when a step gains nothing
/// that counts.
fn logistic(x: &Mat<f64>, y: &[f64], counts: &[f64]) -> [f64; 3] {
    let dot = |i: usize, w: &[f64; 3]| (0..3).map(|k| x[(i, k)] * w[k]).sum::<f64>();
    let loss = |w: &[f64; 3]| {
        let of = |i: usize| {
            let margin = -y[i] * dot(i, w);
            counts[i] * (margin.max(0.0) + (-margin.abs()).exp().ln_1p())
        };
        (0..y.len()).map(of).sum::<f64>() + 0.5 * RIDGE * w.iter().map(|v| v * v).sum::<f64>()
    };
    let mut w = [0.0; 3];
    let mut now = loss(&w);
    for _ in 0..STEPS {
        let mut gradient = Mat::from_fn(3, 1, |k, _| RIDGE * w[k]);
        let mut hessian = Mat::from_fn(3, 3, |k, l| if k == l { RIDGE } else { 0.0 });
        for i in 0..y.len() {
            let p = sigmoid(-y[i] * dot(i, &w));
            for k in 0..3 {
                gradient[(k, 0)] -= counts[i] * y[i] * p * x[(i, k)];
                (0..3).for_each(|l| hessian[(k, l)] += counts[i] * p * (1.0 - p) * x[(i, k)] * x[(i, l)]);
            }
        }
        let Ok(factor) = hessian.llt(Side::Lower) else { break };
        let step = factor.solve(&gradient);
        let moved = |scale: f64| [0, 1, 2].map(|k| w[k] - scale * step[(k, 0)]);
        let better = (0..20).map(|h| moved(0.5f64.powi(h))).find(|w| loss(w) < now);
        let Some(next) = better else { break };
        let gain = now - loss(&next);
        (w, now) = (next, now - gain);
        if gain <= 1e-12 * (1.0 + now) {
            break;
        }
    }
    w
}

/// Least squares with the same ridge.
///
/// (XᵀX + ρI)·w = Xᵀy with ρ = RIDGE/10⁴, so small that it matters only where f_s and f_t are multiples of each
/// other; if even that fails, both functions count one half.
fn linear(x: &Mat<f64>, y: &[f64], counts: &[f64]) -> [f64; 3] {
    let counted = Mat::from_fn(x.nrows(), 3, |i, k| counts[i] * x[(i, k)]);
    let mut gram = counted.transpose() * x;
    (0..3).for_each(|k| gram[(k, k)] += RIDGE * 1e-4);
    let rhs = counted.transpose() * Mat::from_fn(y.len(), 1, |i, _| y[i]);
    let solved = gram.llt(Side::Lower).map(|factor| factor.solve(&rhs));
    solved.map_or([0.5, 0.5, 0.0], |w| [w[(0, 0)], w[(1, 0)], w[(2, 0)]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_vanishes_and_separable_scores_stay_finite() {
        let x = Mat::from_fn(40, 3, |i, k| if k == 2 { 1.0 } else { (i * (k + 2)) as f64 % 7.0 - 3.0 });
        let y: Vec<f64> = (0..40).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let counts = [1.0; 40];
        let w = logistic(&x, &y, &counts);
        for k in 0..3 {
            let margin = |i: usize| (0..3).map(|l| x[(i, l)] * w[l]).sum::<f64>();
            let slope: f64 = (0..40).map(|i| -y[i] * x[(i, k)] * sigmoid(-y[i] * margin(i))).sum();
            assert!((slope + RIDGE * w[k]).abs() < 1e-6, "{k}: {slope}");
        }
        let separable: Vec<f64> = (0..40).map(|i| x[(i, 0)].signum()).collect();
        assert!(logistic(&x, &separable, &counts).iter().all(|w| w.is_finite() && w.abs() < 1e3));
    }

    /// Scores of any length give the same probabilities, and the power the largest likelihood.
    #[test]
    fn probabilities_do_not_depend_on_the_length_of_scores() {
        let classes = Answer::Classes(vec!["a".into(), "b".into(), "c".into()]);
        let truth = |i: usize| (i * i + i / 5) % 3;
        let y = Mat::from_fn(90, 3, |i, c| if truth(i) == c { 1.0 } else { -1.0 });
        let noise = |i: usize, c: usize| ((i * 31 + c * 17) % 23) as f64 / 23.0 - 0.5;
        let of = |length: f64| {
            let scores = |shift: usize| Mat::from_fn(90, 3, |i, c| length * (0.3 * y[(i, c)] + noise(i + shift, c)));
            let held = Scores { source: scores(0), target: scores(3) };
            let merger = Merger::stacked(&held, y.as_ref(), &classes);
            (merger.decision(&held, &classes), merger.loss(&held, y.as_ref(), &classes, None), merger, held)
        };
        let (small, (large, loss, merger, held)) = (of(1e-4).0, of(1e2));
        assert!((&small - &large).norm_max() < 1e-6, "{}", (&small - &large).norm_max());
        for power in [0.9, 1.1] {
            let other = Merger { power: power * merger.power, ..merger.clone() };
            assert!(other.loss(&held, y.as_ref(), &classes, None) > loss, "{power}: {}", merger.power);
        }
    }
}

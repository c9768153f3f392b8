use super::Merge;
use crate::estimators::Answer;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

/// Weight of |w|²/2 against the log-likelihood: keeps weights finite where the scores separate the classes.
const RIDGE: f64 = 1e-2;
/// Newton steps; the objective is convex and smooth, so a few suffice.
const STEPS: usize = 50;

/// Source and target scores of some samples, one column per class.
#[derive(Clone, Debug)]
pub(super) struct Scores {
    pub(super) source: Mat<f64>,
    pub(super) target: Mat<f64>,
}

/// One score per class from those of both functions.
///
/// Stacking: for each class a logistic regression on (f_s, f_t) of samples that took no part in learning them, for values a
/// linear one; the class probabilities are divided by their sum.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::estimators) struct Merger {
    pub(super) merge: Merge,
    /// One column (w_s, w_t, w_0) per class; empty without stacking.
    pub(super) weights: Mat<f64>,
}

impl Merger {
    /// Merges without learning anything.
    pub(in crate::estimators) fn plain(merge: Merge) -> Self {
        Merger { merge, weights: Mat::zeros(3, 0) }
    }

    /// Learns from the scores of held-out samples and their targets: ±1 for each class, or values.
    pub(super) fn stacked(held: &Scores, y: MatRef<'_, f64>, answer: &Answer) -> Self {
        let mut weights = Mat::zeros(3, y.ncols());
        for c in 0..y.ncols() {
            let x = Mat::from_fn(y.nrows(), 3, |i, k| match k {
                0 => held.source[(i, c)],
                1 => held.target[(i, c)],
                _ => 1.0,
            });
            let y: Vec<f64> = y.col(c).iter().copied().collect();
            let w = if *answer == Answer::Values { linear(&x, &y) } else { logistic(&x, &y) };
            (0..3).for_each(|k| weights[(k, c)] = w[k]);
        }
        Merger { merge: Merge::Stack, weights }
    }

    /// The decision values: probabilities for stacked classes.
    pub(super) fn decision(&self, scores: &Scores, answer: &Answer) -> Mat<f64> {
        let (s, t) = (&scores.source, &scores.target);
        match self.merge {
            Merge::Source => s.clone(),
            Merge::Target => t.clone(),
            Merge::Average => (s + t) * faer::Scale(0.5),
            Merge::Stack => {
                let w = &self.weights;
                let linear = |i: usize, c: usize| w[(0, c)] * s[(i, c)] + w[(1, c)] * t[(i, c)] + w[(2, c)];
                let out = Mat::from_fn(s.nrows(), s.ncols(), linear);
                if *answer == Answer::Values { out } else { probabilities(&out) }
            }
        }
    }
}

/// 1/(1 + exp(−score)) divided by the sum over the classes.
fn probabilities(scores: &Mat<f64>) -> Mat<f64> {
    let mut out = Mat::from_fn(scores.nrows(), scores.ncols(), |i, c| sigmoid(scores[(i, c)]));
    for i in 0..out.nrows() {
        let sum: f64 = out.row(i).iter().sum();
        if sum > 0.0 {
            out.row_mut(i).iter_mut().for_each(|p| *p /= sum);
        }
    }
    out
}

fn sigmoid(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// Minimises Σ log(1 + exp(−y·xᵀw)) + RIDGE/2·|w|² by Newton's method with halved steps.
fn logistic(x: &Mat<f64>, y: &[f64]) -> [f64; 3] {
    let dot = |i: usize, w: &[f64; 3]| (0..3).map(|k| x[(i, k)] * w[k]).sum::<f64>();
    let loss = |w: &[f64; 3]| {
        let of = |i: usize| {
            let margin = -y[i] * dot(i, w);
            margin.max(0.0) + (-margin.abs()).exp().ln_1p()
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
                gradient[(k, 0)] -= y[i] * p * x[(i, k)];
                (0..3).for_each(|l| hessian[(k, l)] += p * (1.0 - p) * x[(i, k)] * x[(i, l)]);
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
fn linear(x: &Mat<f64>, y: &[f64]) -> [f64; 3] {
    let mut gram = x.transpose() * x;
    (0..3).for_each(|k| gram[(k, k)] += RIDGE * 1e-4);
    let rhs = x.transpose() * Mat::from_fn(y.len(), 1, |i, _| y[i]);
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
        let w = logistic(&x, &y);
        for k in 0..3 {
            let margin = |i: usize| (0..3).map(|l| x[(i, l)] * w[l]).sum::<f64>();
            let slope: f64 = (0..40).map(|i| -y[i] * x[(i, k)] * sigmoid(-y[i] * margin(i))).sum();
            assert!((slope + RIDGE * w[k]).abs() < 1e-6, "{k}: {slope}");
        }
        let separable: Vec<f64> = (0..40).map(|i| x[(i, 0)].signum()).collect();
        assert!(logistic(&x, &separable).iter().all(|w| w.is_finite() && w.abs() < 1e3));
    }
}

//! Online learners against plain matrix algorithms on explicit features, and their bounds.

mod bounds;
mod budget;
mod explicit;
mod lemma;
mod safety;
mod twins;

use lopsided::online::{Instance, LearnerSpec, OnlineLearner, Outcome, Trial};
use lopsided::{Mat, Samples};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A vector of length 1.
fn unit(width: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let v: Vec<f64> = (0..width).map(|_| rng.random::<f64>() - 0.5).collect();
    let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    v.iter().map(|x| x / size).collect()
}

fn rows(vectors: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(vectors.len(), vectors[0].len(), |i, j| vectors[i][j])
}

/// A stream of outer products (rank 1) or of sums of `rank` of them, with labels ±1; weights shrink with the rank.
fn stream(count: usize, widths: (usize, Option<usize>), rank: usize, seed: u64) -> Vec<Trial> {
    let mut rng = generator(seed);
    (0..count)
        .map(|_| {
            let x: Vec<Vec<f64>> = (0..rank).map(|_| unit(widths.0, &mut rng)).collect();
            let z = widths.1.map(|m| (0..rank).map(|_| unit(m, &mut rng)).collect::<Vec<_>>());
            let weights = (0..rank).map(|a| 1.0 / (rank + a) as f64).collect();
            let label = if x[0][0] + x[0][1] + 0.4 * (rng.random::<f64>() - 0.5) > 0.0 { 1.0 } else { -1.0 };
            let z = z.map(|z| Samples::Dense(rows(&z)));
            Trial { instance: Instance::new(Samples::Dense(rows(&x)), z, weights).unwrap(), label }
        })
        .collect()
}

fn run(spec: &LearnerSpec, trials: &[Trial]) -> (Box<dyn OnlineLearner>, Vec<Outcome>) {
    let mut learner = spec.build().unwrap();
    let outcomes = trials.iter().map(|t| learner.update(&t.instance, t.label).unwrap()).collect();
    (learner, outcomes)
}

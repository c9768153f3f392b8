//! How much the features tell about the classes.

use super::Example;
use lopsided::estimators::linear::LinearLsSvm;
use lopsided::metrics::{micro_f1, split};
use lopsided::{Mat, Result, Run};

/// Random splits, the same for every method.
pub(super) const SPLITS: usize = 5;
/// Share of the nodes to learn from.
const TRAINING: f64 = 0.6;
/// Penalties to choose from, by validation inside the training part.
const PENALTIES: [f64; 6] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// Splits of the training part for that choice.
const VALIDATIONS: u64 = 3;

/// Micro-F1 on the test part of each split.
pub(super) fn scores(features: &Mat<f64>, example: &Example, run: &Run) -> Result<Vec<f64>> {
    let score = |k: u64| {
        run.watch.check()?;
        let (train, test) = split(features.nrows(), TRAINING, run.seed.wrapping_add(k));
        let penalty = best_penalty(features, example, &train)?;
        score(features, example, &train, &test, penalty)
    };
    (0..SPLITS as u64).map(score).collect()
}

/// Mean and standard deviation.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

fn best_penalty(features: &Mat<f64>, example: &Example, train: &[usize]) -> Result<f64> {
    let mut best = (f64::MIN, PENALTIES[0]);
    for penalty in PENALTIES {
        let mut sum = 0.0;
        for k in 0..VALIDATIONS {
            let (learn, check) = split(train.len(), 0.75, k);
            let nodes = |at: Vec<usize>| at.into_iter().map(|i| train[i]).collect::<Vec<_>>();
            sum += score(features, example, &nodes(learn), &nodes(check), penalty)?;
        }
        if sum > best.0 {
            best = (sum, penalty);
        }
    }
    Ok(best.1)
}

fn score(features: &Mat<f64>, example: &Example, train: &[usize], test: &[usize], penalty: f64) -> Result<f64> {
    let rows = |at: &[usize]| Mat::from_fn(at.len(), features.ncols(), |i, j| features[(at[i], j)]);
    let codes = |at: &[usize]| at.iter().map(|&i| example.codes[i]).collect::<Vec<_>>();
    let machine = LinearLsSvm { penalty }.fit(rows(train).as_ref(), &codes(train), example.classes)?;
    Ok(micro_f1(&codes(test), &machine.predict(rows(test).as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_deviation(&[1.0, 2.0, 3.0]), (2.0, 1.0));
    }
}

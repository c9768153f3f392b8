//! Prediction for rows that took no part in the features: every split fits a model of its own.

use super::tables::{Measure, Rows, TablePrediction, select, standardized_by};
use faer::{Mat, MatRef};
use lopsided::base::Run;
use lopsided::base::error::{Error, Result};
use lopsided::base::random::{self, Purpose};
use lopsided::data::dataset::Target;
use lopsided::data::samples::{Samples, Side};
use lopsided::estimators::KernelSvdModel;
use lopsided::metrics::split;
use rayon::prelude::*;

/// How good predictions for new rows are.
///
/// Measures that do not apply to a target are `None`: only two classes have an AUROC, only values an RMSE.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TableScores {
    /// Share of the rows with the right class.
    pub accuracy: Option<f64>,
    /// Two classes: area under the receiver operating characteristic.
    pub auroc: Option<f64>,
    /// Values: root of the mean squared error.
    pub rmse: Option<f64>,
}

/// [`TablePrediction`] for rows that the features were not made from (\[KSVD\] §4.3): in each split a model is fitted to the
/// rows to learn from alone, and those to test on are placed by it.
///
/// Columns are standardised by the rows to learn from. The penalty is chosen by accuracy or RMSE in parts of these rows, which all
/// took part in the features: where a compatibility was learned from their targets that choice leans towards large penalties.
/// The rows to test on are seen by nothing.
///
/// # Example
/// A target that is linear in the columns is linear in the features of a linear kernel, which keep all of them:
///
/// ```
/// use lopsided_papers::tasks::{InductivePrediction, TablePrediction};
/// use lopsided::{Compat, Compatibility, Dataset, KernelSvd, Mat, Run, Target};
///
/// let x = Mat::from_fn(40, 2, |i, j| ((i * (3 + 4 * j)) % 11) as f64);
/// let target = Target::Values((0..40).map(|i| x[(i, 0)] - 2.0 * x[(i, 1)]).collect());
/// let prediction = TablePrediction { train_share: 0.5, trials: 2, folds: 2, penalties: vec![1e8] };
/// let task = InductivePrediction { prediction, max_rows: 100 };
/// let scores = task.evaluate(&x, &target, |rows, _, run| {
///     let data = Dataset::from_matrix_with(rows, &Compatibility::new(Compat::Pca), run)?;
///     KernelSvd::new("linear").with_rank(2).fit(data, run)
/// }, &Run::default())?;
/// assert!(scores.iter().all(|score| score.rmse.unwrap() < 1e-3));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InductivePrediction {
    /// Splits, folds and penalties.
    pub prediction: TablePrediction,
    /// More rows than this are not learned from; a random part is taken.
    pub max_rows: usize,
}

/// One split of a table.
struct Part {
    /// Rows to learn from and, after them, rows to test on.
    ///
    /// Standardised by the rows to learn from.
    x: Mat<f64>,
    target: Target,
    learn: usize,
}

impl InductivePrediction {
    /// The scores of each trial: `fit` makes a model of the rows to learn from and their targets.
    ///
    /// # Errors
    /// Those of [`TablePrediction::evaluate`], of `fit` and of [`KernelSvdModel::project_rows`].
    pub fn evaluate<F>(&self, x: &Mat<f64>, target: &Target, fit: F, run: &Run) -> Result<Vec<TableScores>>
    where
        F: Fn(Samples<f64>, &Target, &Run) -> Result<KernelSvdModel<f64>> + Sync,
    {
        let known = target.known();
        self.prediction.check(known.len())?;
        if self.max_rows < self.prediction.folds {
            let allowed = format!("at least the number of folds, {}", self.prediction.folds);
            return Err(Error::param("max-rows", self.max_rows, allowed));
        }
        let trial = |k: usize| {
            let run = Run { seed: run.seed.wrapping_add(k as u64), ..run.clone() };
            run.watch.check()?;
            let part = self.part(x, target, &known, run.seed);
            let model = fit(part.learned(), &part.target_of(0..part.learn), &run)?;
            self.scores(&part, &model, &run)
        };
        (0..self.prediction.trials).into_par_iter().map(trial).collect()
    }

    /// Splits the rows with a target, keeps at most `max_rows` to learn from, and standardises by these.
    fn part(&self, x: &Mat<f64>, target: &Target, known: &[usize], seed: u64) -> Part {
        let (train, test) = split(known.len(), self.prediction.train_share, seed);
        let kept = random::subset(
            train.len(),
            train.len().min(self.max_rows),
            &mut random::generator(seed, Purpose::TableRows),
        );
        let rows: Vec<usize> = kept.iter().map(|&at| train[at]).chain(test).map(|at| known[at]).collect();
        let learn = kept.len();
        let x = standardized_by(select(x, &rows), &(0..learn).collect::<Vec<_>>());
        Part { x, target: target.rows(&rows), learn }
    }

    /// Places the rows to test on, chooses the penalty on the others and measures.
    fn scores(&self, part: &Part, model: &KernelSvdModel<f64>, run: &Run) -> Result<TableScores> {
        let placed = model.project_rows(part.tested().as_ref(), run)?;
        let features = below(model.embedding(Side::Row).as_ref(), placed.as_ref());
        let mut rows = Rows::new(&features, &part.target)?;
        if rows.measure == Measure::Auroc {
            rows.measure = Measure::MicroF1;
        }
        let learned = self.prediction.learn(&rows, &(0..part.learn).collect::<Vec<_>>(), run.seed)?;
        let test: Vec<usize> = (part.learn..part.x.nrows()).collect();
        let score = |measure: Measure, applies: bool| applies.then(|| rows.score(&learned, &test, measure));
        let best = Measure::of(&part.target);
        Ok(TableScores {
            accuracy: score(Measure::MicroF1, best != Measure::Rmse),
            auroc: score(Measure::Auroc, best == Measure::Auroc),
            rmse: score(Measure::Rmse, best == Measure::Rmse),
        })
    }
}

impl Part {
    fn learned(&self) -> Samples<f64> {
        Samples::Dense(self.x.subrows(0, self.learn).to_owned())
    }

    fn tested(&self) -> Samples<f64> {
        Samples::Dense(self.x.subrows(self.learn, self.x.nrows() - self.learn).to_owned())
    }

    fn target_of(&self, rows: std::ops::Range<usize>) -> Target {
        self.target.rows(&rows.collect::<Vec<_>>())
    }
}

fn below(top: MatRef<'_, f64>, bottom: MatRef<'_, f64>) -> Mat<f64> {
    let n = top.nrows();
    Mat::from_fn(n + bottom.nrows(), top.ncols(), |i, k| if i < n { top[(i, k)] } else { bottom[(i - n, k)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lopsided::data::dataset::Dataset;
    use lopsided::data::synth;
    use lopsided::estimators::KernelSvd;
    use std::sync::Mutex;

    fn task(max_rows: usize) -> InductivePrediction {
        let prediction = TablePrediction { train_share: 0.8, trials: 3, folds: 3, penalties: vec![1.0, 1e3, 1e6] };
        InductivePrediction { prediction, max_rows }
    }

    fn svd(rows: Samples<f64>, run: &Run) -> Result<KernelSvdModel<f64>> {
        KernelSvd::new("precomputed").with_rank(4).fit(Dataset::new(rows), run)
    }

    #[test]
    fn new_rows_are_predicted_from_a_model_of_the_others() {
        let x = synth::gaussian::<f64>(100, 4, 1);
        let value = |i: usize| if i.is_multiple_of(10) { f64::NAN } else { 3.0 * x[(i, 0)] - x[(i, 2)] + 5.0 };
        let target = Target::Values((0..100).map(value).collect());
        let seen = Mutex::new(Vec::new());
        let fit = |rows: Samples<f64>, target: &Target, run: &Run| {
            let Target::Values(values) = target else { panic!("classes") };
            seen.lock().unwrap().push((rows.count(), values.iter().all(|v| v.is_finite())));
            svd(rows, run)
        };
        for (most, count) in [(1000, 72), (30, 30)] {
            let scores = task(most).evaluate(&x, &target, fit, &Run::default()).unwrap();
            assert!(scores.iter().all(|s| s.rmse.unwrap() < 0.01 && s.accuracy.is_none()), "{scores:?}");
            assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), vec![(count, true); 3]);
        }
    }

    #[test]
    fn classes_have_an_accuracy_and_two_of_them_a_ranking() {
        let (x, classes) = synth::clusters::<f64>(90, 5, 3, 1);
        for k in [2, 3] {
            let names = (0..k).map(|c| c.to_string()).collect();
            let target = Target::Classes { names, codes: classes.iter().map(|c| Some(c % k)).collect() };
            let scores = task(1000).evaluate(&x, &target, |rows, _, run| svd(rows, run), &Run::default()).unwrap();
            assert!(scores.iter().all(|s| s.accuracy.unwrap() > 0.8 && s.rmse.is_none()), "{scores:?}");
            assert!(scores.iter().all(|s| s.auroc.is_some() == (k == 2)));
        }
        let few = task(2).evaluate(&x, &Target::Values(vec![1.0; 90]), |rows, _, run| svd(rows, run), &Run::default());
        assert!(few.unwrap_err().to_string().starts_with("`max-rows` is 2 but must be at least"));
    }
}

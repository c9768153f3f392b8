//! Prediction of the target of a table from features of its rows, and columns of comparable size.

use faer::{Mat, MatRef};
use lopsided::base::Run;
use lopsided::base::error::{Error, Result};
use lopsided::data::dataset::Target;
use lopsided::data::samples::SamplesRef;
use lopsided::estimators::Features;
use lopsided::estimators::linear::LinearLsSvmModel;
use lopsided::estimators::moments::Moments;
use lopsided::metrics::{auroc, micro_f1, rmse, split};
use rayon::prelude::*;

/// How good predictions for a table are.
///
/// ```
/// use lopsided::Target;
/// use lopsided_papers::tasks::Measure;
///
/// let values = Target::Values(vec![1.0, 2.0]);
/// assert_eq!(Measure::of(&values), Measure::Rmse);
/// assert!(Measure::Rmse.is_better(0.1, 0.2) && Measure::Auroc.is_better(0.9, 0.8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Two classes: area under the receiver operating characteristic.
    Auroc,
    /// More classes: micro-F1.
    MicroF1,
    /// Values: root of the mean squared error; the only one where less is better.
    Rmse,
}

impl Measure {
    /// The one for this target.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Classes { names, .. } if names.len() == 2 => Measure::Auroc,
            Target::Classes { .. } => Measure::MicroF1,
            Target::Values(_) | Target::Several { .. } => Measure::Rmse,
        }
    }

    /// Whether one score is better than another.
    pub fn is_better(self, score: f64, than: f64) -> bool {
        self.gain(score) > self.gain(than)
    }

    /// Larger is better.
    fn gain(self, score: f64) -> f64 {
        if self == Measure::Rmse { -score } else { score }
    }
}

/// Linear prediction of the target of a table from the features of its rows, on random splits (\[KSVD\] §4.3, App. B.1).
///
/// A linear LS-SVM per class, or ridge regression; its penalty is chosen by cross-validation inside the training part. Rows
/// without target take no part. The features are given: where they were made from all rows, also from those to test on, the
/// score is that of a transductive task ([`super::InductivePrediction`] is the other one).
///
/// # Example
/// A feature that is half the target predicts it but for the ridge:
///
/// ```
/// use lopsided_papers::tasks::TablePrediction;
/// use lopsided::solvers::svd::SolveReport;
/// use lopsided::{Features, Mat, Run, Scaling, Target};
///
/// let (scaling, report) = (Scaling::None, SolveReport::default());
/// let u = Mat::from_fn(20, 1, |i, _| i as f64);
/// let features = Features { u, v: None, sigma: vec![1.0], scaling, report };
/// let target = Target::Values((0..20).map(|i| 2.0 * i as f64).collect());
/// let task = TablePrediction { train_share: 0.5, trials: 2, folds: 2, penalties: vec![1e8] };
/// let errors = task.evaluate(&features, &target, &Run::default())?;
/// assert!(errors.len() == 2 && errors.iter().all(|error| *error < 1e-6));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TablePrediction {
    /// Share of the rows to learn from.
    pub train_share: f64,
    /// Number of splits.
    pub trials: usize,
    /// Parts of the training part for cross-validation.
    pub folds: usize,
    /// Penalties to choose from.
    pub penalties: Vec<f64>,
}

impl TablePrediction {
    /// The score of each trial.
    ///
    /// # Errors
    /// [`Error::Shape`] and [`Error::Param`] for sizes and settings that do not fit, [`Error::NotFinite`],
    /// [`Error::Singular`] for a penalty that is too large, [`Error::Interrupted`].
    pub fn evaluate(&self, features: &Features<f64>, target: &Target, run: &Run) -> Result<Vec<f64>> {
        let rows = Rows::new(&features.matrix(), target)?;
        self.check(rows.x.nrows())?;
        let trial = |k: usize| {
            run.watch.check()?;
            self.trial(&rows, run.seed.wrapping_add(k as u64))
        };
        (0..self.trials).into_par_iter().map(trial).collect()
    }

    /// Refuses settings that leave nothing to learn from or to test on.
    pub(super) fn check(&self, count: usize) -> Result<()> {
        let train = (count as f64 * self.train_share).round() as usize;
        if self.folds < 2 || train < self.folds || train >= count || self.trials == 0 || self.penalties.is_empty() {
            return Err(Error::param("folds", self.folds, format!("between 2 and {train}, the rows to learn from")));
        }
        Ok(())
    }

    /// One split: the machine of the training part, measured on the rest.
    fn trial(&self, rows: &Rows, seed: u64) -> Result<f64> {
        let (train, test) = split(rows.x.nrows(), self.train_share, seed);
        Ok(rows.score(&self.learn(rows, &train, seed)?, &test, rows.measure))
    }

    /// The machine with the best penalty in cross-validation.
    pub(super) fn learn(&self, rows: &Rows, train: &[usize], seed: u64) -> Result<LinearLsSvmModel> {
        let folds = super::classify::dealt(train, self.folds, seed);
        let parts: Vec<Moments> = folds.iter().map(|fold| rows.moments(fold)).collect();
        let Some(total) = Moments::total(&parts) else {
            return Err(Error::param("folds", self.folds, "at least 2"));
        };
        let cols: Vec<usize> = (0..rows.x.ncols()).collect();
        let mut best = (f64::NEG_INFINITY, 1.0);
        for &penalty in &self.penalties {
            let mut gain = 0.0;
            for (part, fold) in parts.iter().zip(&folds) {
                let model = total.solve(Some(part), &cols, |_| 1.0 / penalty)?;
                gain += rows.measure.gain(rows.score(&model, fold, rows.measure));
            }
            if gain > best.0 {
                best = (gain, penalty);
            }
        }
        total.solve(None, &cols, |_| 1.0 / best.1)
    }
}

/// The rows with a known target.
pub(super) struct Rows {
    x: Mat<f64>,
    /// ±1 for each class, or the value.
    y: Mat<f64>,
    /// The one that chooses the penalty.
    pub(super) measure: Measure,
}

impl Rows {
    pub(super) fn new(all: &Mat<f64>, target: &Target) -> Result<Self> {
        SamplesRef::Dense(all.as_ref()).check_finite("the features")?;
        target.refuse_several()?;
        let (wanted, classes) = match target {
            Target::Classes { names, codes } => (codes.iter().map(|c| c.map(f64::from)).collect(), names.len()),
            Target::Values(values) => (values.iter().map(|v| Some(*v).filter(|v| v.is_finite())).collect(), 1),
            Target::Several { .. } => (Vec::new(), 0),
        };
        let wanted: Vec<Option<f64>> = wanted;
        if wanted.len() != all.nrows() {
            return Err(Error::shape("number of targets", all.nrows(), wanted.len()));
        }
        let known: Vec<(usize, f64)> = wanted.iter().enumerate().filter_map(|(i, w)| w.map(|w| (i, w))).collect();
        let measure = Measure::of(target);
        let sign = |value: f64, class: usize| if (value - class as f64).abs() < 0.5 { 1.0 } else { -1.0 };
        let y = |i: usize, c: usize| if measure == Measure::Rmse { known[i].1 } else { sign(known[i].1, c) };
        let x = Mat::from_fn(known.len(), all.ncols(), |i, j| all[(known[i].0, j)]);
        Ok(Rows { x, y: Mat::from_fn(known.len(), classes, y), measure })
    }

    fn moments(&self, rows: &[usize]) -> Moments {
        Moments::of(select(&self.x, rows).as_ref(), select(&self.y, rows).as_ref())
    }

    pub(super) fn score(&self, model: &LinearLsSvmModel, rows: &[usize], measure: Measure) -> f64 {
        let x = select(&self.x, rows);
        let class_of = |&i: &usize| (0..self.y.ncols()).position(|c| self.y[(i, c)] > 0.0).unwrap_or(0) as u32;
        match measure {
            Measure::MicroF1 => micro_f1(&rows.iter().map(class_of).collect::<Vec<_>>(), &model.predict(x.as_ref())),
            Measure::Auroc => {
                let truth: Vec<bool> = rows.iter().map(|&i| self.y[(i, 1)] > 0.0).collect();
                auroc(&truth, &model.decision(x.as_ref()).col(1).iter().copied().collect::<Vec<_>>())
            }
            Measure::Rmse => {
                let (truth, found) = (select(&self.y, rows), model.decision(x.as_ref()));
                rmse(&column(truth.as_ref()), &column(found.as_ref()))
            }
        }
    }
}

fn column(m: MatRef<'_, f64>) -> Vec<f64> {
    m.col(0).iter().copied().collect()
}

pub(super) fn select(m: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), m.ncols(), |i, j| m[(rows[i], j)])
}

/// The columns of a table with mean 0 and standard deviation 1; missing values become 0, constant columns too.
pub fn standardized(samples: SamplesRef<'_, f64>) -> Mat<f64> {
    standardized_by(written_out(samples), &(0..samples.count()).collect::<Vec<_>>())
}

/// The columns of a table as they are; missing values become the mean of their column.
///
/// ```
/// use lopsided::{Mat, Samples};
/// use lopsided_papers::tasks::filled;
///
/// let x = Samples::Dense(Mat::from_fn(3, 1, |i, _| [1.0, f64::NAN, 4.0][i]));
/// assert_eq!(filled(x.as_ref())[(1, 0)], 2.5);
/// ```
pub fn filled(samples: SamplesRef<'_, f64>) -> Mat<f64> {
    let mut x = written_out(samples);
    for j in 0..x.ncols() {
        let known: Vec<f64> = x.col(j).iter().copied().filter(|v| v.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        x.col_mut(j).iter_mut().filter(|v| !v.is_finite()).for_each(|v| *v = mean);
    }
    x
}

fn written_out(samples: SamplesRef<'_, f64>) -> Mat<f64> {
    let mut x = Mat::<f64>::zeros(samples.count(), samples.width());
    (0..samples.count()).for_each(|i| samples.for_each(i, |j, value| x[(i, j)] = value));
    x
}

/// The columns with mean 0 and standard deviation 1 over some of the rows; missing values and constant columns become 0.
///
/// Rows to test on are scaled by the others, so that nothing of them is seen:
///
/// ```
/// use lopsided::Mat;
/// use lopsided_papers::tasks::standardized_by;
///
/// let x = Mat::from_fn(3, 1, |i, _| 1.0 + 2.0 * i as f64); // 1 and 3 have the mean 2 and the deviation 1
/// let scaled = standardized_by(x, &[0, 1]);
/// assert_eq!([scaled[(0, 0)], scaled[(1, 0)], scaled[(2, 0)]], [-1.0, 1.0, 3.0]);
/// ```
pub fn standardized_by(mut x: Mat<f64>, rows: &[usize]) -> Mat<f64> {
    for j in 0..x.ncols() {
        let known: Vec<f64> = rows.iter().map(|&i| x[(i, j)]).filter(|v| v.is_finite()).collect();
        let count = known.len().max(1) as f64;
        let mean = known.iter().sum::<f64>() / count;
        let deviation = (known.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
        let scaled = |v: f64| if v.is_finite() && deviation > 0.0 { (v - mean) / deviation } else { 0.0 };
        (0..x.nrows()).for_each(|i| x[(i, j)] = scaled(x[(i, j)]));
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use lopsided::data::synth;
    use lopsided::{Dataset, LinearSvd, Samples};

    fn features(x: Mat<f64>) -> Features<f64> {
        let rank = x.ncols();
        LinearSvd::new(rank).fit(&Dataset::new(Samples::Dense(x)), &Run::default()).unwrap().one_sided()
    }

    fn task() -> TablePrediction {
        TablePrediction { train_share: 0.8, trials: 3, folds: 3, penalties: vec![1.0, 1e3, 1e6] }
    }

    #[test]
    fn linear_values_are_predicted_and_rows_without_value_left_out() {
        let x = synth::gaussian::<f64>(120, 4, 1);
        let value = |i: usize| if i.is_multiple_of(10) { f64::NAN } else { 3.0 * x[(i, 0)] - x[(i, 2)] + 5.0 };
        let target = Target::Values((0..120).map(value).collect());
        let scores = task().evaluate(&features(x.clone()), &target, &Run::default()).unwrap();
        assert!(scores.iter().all(|rmse| *rmse < 0.01), "{scores:?}");
    }

    #[test]
    fn the_measure_follows_the_target() {
        let (x, classes) = synth::clusters::<f64>(90, 5, 3, 1);
        let target = |k: u32| Target::Classes {
            names: (0..k).map(|c| c.to_string()).collect(),
            codes: classes.iter().map(|c| Some(c % k)).collect(),
        };
        assert_eq!((Measure::of(&target(2)), Measure::of(&target(3))), (Measure::Auroc, Measure::MicroF1));
        for k in [2, 3] {
            let scores = task().evaluate(&features(x.clone()), &target(k), &Run::default()).unwrap();
            assert!(scores.iter().all(|s| *s > 0.8), "{k}: {scores:?}");
        }
    }

    #[test]
    fn columns_are_standardised_and_missing_values_are_the_mean() {
        let x = Samples::Dense(faer::mat![[1.0, 7.0], [3.0, 7.0], [f64::NAN, 7.0]]);
        assert_eq!(standardized(x.as_ref()), faer::mat![[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]);
    }
}

//! Evaluation of features with millions of rows: one split, sums in blocks, nothing copied.

use super::tables::Measure;
use faer::{Mat, MatRef};
use lopsided::base::Run;
use lopsided::base::error::{Error, Result};
use lopsided::base::random::{self, Purpose};
use lopsided::data::dataset::Target;
use lopsided::data::samples::SamplesRef;
use lopsided::estimators::linear::LinearLsSvmModel;
use lopsided::estimators::moments::Moments;
use lopsided::metrics::{auroc, micro_f1};
use rand::RngExt;
use rayon::prelude::*;

/// Rows handled by one task; sums are taken over these blocks in order.
const ROWS: usize = 1 << 15;

/// Linear prediction of the target of millions of rows on one split: the rows are never copied, only moments are kept.
///
/// Every row goes at random to the part that is learned from, to validation or to the test. The penalty with the best
/// validation score is taken, and the machine learned again from both of the first parts. Features are multiplied
/// by √N, so that columns of unit length have entries of size 1, and penalties are divided by N: they weigh the mean
/// squared error.
///
/// # Cost
/// O(N·d²) for the moments of d features and O(d³) for each penalty; memory O(d²) and a block of 32768 rows for
/// each thread.
///
/// # Example
/// A target that is linear in the feature is found but for the ridge:
///
/// ```
/// use lopsided_papers::tasks::HoldOut;
/// use lopsided::{Mat, Run, Target};
///
/// let x = Mat::from_fn(200, 1, |i, _| i as f64 / 200.0);
/// let target = Target::Values((0..200).map(|i| 3.0 * i as f64 / 200.0 - 1.0).collect());
/// let found = HoldOut::default().evaluate(x.as_ref(), &target, &Run::default())?;
/// assert!(found.test < 1e-4);
/// assert_eq!(found.train_rows + found.test_rows, 200);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HoldOut {
    /// Share of the rows to test on.
    pub test_share: f64,
    /// Share of the rows to choose the penalty by.
    pub validation_share: f64,
    /// Penalties to choose from.
    pub penalties: Vec<f64>,
}

impl Default for HoldOut {
    fn default() -> Self {
        HoldOut { test_share: 0.2, validation_share: 0.1, penalties: vec![1.0, 1e2, 1e4, 1e6] }
    }
}

/// What a [`HoldOut`] finds.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct HoldOutScore {
    /// Score on the rows kept for validation, learned without them: to choose between features.
    pub validation: f64,
    /// Score on the test rows.
    pub test: f64,
    /// The penalty chosen.
    pub penalty: f64,
    /// Rows learned from, validation included.
    pub train_rows: usize,
    /// Rows tested on.
    pub test_rows: usize,
}

impl HoldOut {
    /// Scores the features of rows with a target; the others take no part. The split depends on the seed alone.
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that do not agree, [`Error::Param`] for shares or penalties that leave nothing to learn
    /// from or a target of one class, [`Error::NotFinite`], [`Error::Singular`], [`Error::Interrupted`].
    pub fn evaluate(&self, features: MatRef<'_, f64>, target: &Target, run: &Run) -> Result<HoldOutScore> {
        let rows = Rows::new(features, target)?;
        let [learn, validate, test] = self.parts(&rows, run.seed)?;
        let measured = |part: &[usize]| -> Result<Moments> {
            run.watch.check()?;
            rows.moments(part).ok_or_else(|| Error::param("rows", 0, "some with a target in every part"))
        };
        let moments = [measured(&learn)?, measured(&validate)?];
        let cols: Vec<usize> = (0..features.ncols()).collect();
        let size = rows.labelled().count() as f64;
        let mut best: Option<(f64, f64)> = None;
        for &penalty in &self.penalties {
            let score = rows.score(&moments[0].solve(None, &cols, |_| size / penalty)?, &validate);
            if best.is_none_or(|(known, _)| rows.measure.is_better(score, known)) {
                best = Some((score, penalty));
            }
        }
        let (validation, penalty) = best.ok_or_else(|| Error::param("penalties", "missing", "at least one"))?;
        let model = match Moments::total(&moments) {
            Some(all) => all.solve(None, &cols, |_| size / penalty)?,
            None => return Err(Error::param("rows", 0, "at least one")),
        };
        let train_rows = learn.len() + validate.len();
        Ok(HoldOutScore { validation, test: rows.score(&model, &test), penalty, train_rows, test_rows: test.len() })
    }

    /// Rows to learn from, to validate and to test.
    fn parts(&self, rows: &Rows<'_>, seed: u64) -> Result<[Vec<usize>; 3]> {
        let (test, validation) = (self.test_share, self.validation_share);
        if !(test > 0.0 && validation > 0.0 && test + validation < 1.0) {
            return Err(Error::param("test-share", test, "such that some rows are left to learn from"));
        }
        let mut rng = random::generator(seed, Purpose::HoldOut);
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for (row, known) in rows.wanted.iter().enumerate() {
            // Every row draws, so that labels of others do not matter.
            let draw = rng.random::<f64>();
            let part = if draw < test { 2 } else { usize::from(draw < test + validation) };
            if known.is_some() {
                parts[part].push(row);
            }
        }
        if parts.iter().any(Vec::is_empty) {
            let found = rows.labelled().count();
            return Err(Error::param("rows", format!("{found} with a target"), "enough for three parts"));
        }
        Ok(parts)
    }
}

/// The rows with what is wanted of them: the code of a class, or a value.
struct Rows<'a> {
    x: MatRef<'a, f64>,
    wanted: Vec<Option<f64>>,
    /// Columns of y.
    width: usize,
    measure: Measure,
    /// √N.
    scale: f64,
}

impl<'a> Rows<'a> {
    fn new(x: MatRef<'a, f64>, target: &Target) -> Result<Self> {
        target.refuse_several()?;
        let (wanted, width): (Vec<Option<f64>>, usize) = match target {
            Target::Classes { names, codes } => (codes.iter().map(|c| c.map(f64::from)).collect(), names.len()),
            Target::Values(values) => (values.iter().map(|v| Some(*v).filter(|v| v.is_finite())).collect(), 1),
            Target::Several { .. } => (Vec::new(), 0),
        };
        if wanted.len() != x.nrows() {
            return Err(Error::shape("number of targets", x.nrows(), wanted.len()));
        }
        let measure = Measure::of(target);
        if measure != Measure::Rmse && width < 2 {
            return Err(Error::param("target", format!("{width} class"), "of two classes or more"));
        }
        SamplesRef::Dense(x).check_finite("the features")?;
        Ok(Rows { scale: (x.nrows() as f64).sqrt(), x, wanted, width, measure })
    }

    /// What is wanted of the rows that have a target.
    fn labelled(&self) -> impl Iterator<Item = f64> + '_ {
        self.wanted.iter().flatten().copied()
    }

    fn value(&self, row: usize) -> f64 {
        self.wanted[row].unwrap_or_default()
    }

    fn features(&self, rows: &[usize]) -> Mat<f64> {
        Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)] * self.scale)
    }

    /// ±1 for each class, or the value.
    fn targets(&self, rows: &[usize]) -> Mat<f64> {
        Mat::from_fn(rows.len(), self.width, |i, c| match self.measure {
            Measure::Rmse => self.value(rows[i]),
            _ if self.value(rows[i]) as usize == c => 1.0,
            _ => -1.0,
        })
    }

    fn moments(&self, rows: &[usize]) -> Option<Moments> {
        let part = |rows: &[usize]| Moments::of(self.features(rows).as_ref(), self.targets(rows).as_ref());
        Moments::total(&rows.par_chunks(ROWS).map(part).collect::<Vec<_>>())
    }

    fn score(&self, model: &LinearLsSvmModel, rows: &[usize]) -> f64 {
        // The last column belongs to the second of two classes, and is the only one for values.
        let decide = |rows: &[usize]| -> Vec<f64> {
            let found = model.decision(self.features(rows).as_ref());
            found.col(self.width - 1).iter().copied().collect()
        };
        let collect = || rows.par_chunks(ROWS).map(decide).collect::<Vec<_>>().concat();
        match self.measure {
            Measure::Auroc => auroc(&rows.iter().map(|&i| self.value(i) > 0.5).collect::<Vec<_>>(), &collect()),
            Measure::Rmse => {
                let error = |(found, &row): (&f64, &usize)| (found - self.value(row)).powi(2);
                (collect().iter().zip(rows).map(error).sum::<f64>() / rows.len() as f64).sqrt()
            }
            Measure::MicroF1 => {
                let predict = |rows: &[usize]| model.predict(self.features(rows).as_ref());
                let found = rows.par_chunks(ROWS).map(predict).collect::<Vec<_>>().concat();
                micro_f1(&rows.iter().map(|&i| self.value(i) as u32).collect::<Vec<_>>(), &found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lopsided::data::synth;

    fn two_classes(n: usize) -> (Mat<f64>, Target) {
        let (x, codes) = synth::clusters::<f64>(n, 4, 2, 1);
        let unit = Mat::from_fn(n, 4, |i, j| x[(i, j)] / x.col(j).norm_l2());
        let codes = codes.iter().enumerate().map(|(i, &c)| Some(c).filter(|_| i % 10 != 0)).collect();
        (unit, Target::Classes { names: vec!["a".into(), "b".into()], codes })
    }

    #[test]
    fn separated_classes_are_told_apart_and_others_are_not() {
        let (x, target) = two_classes(3000);
        let score = HoldOut::default().evaluate(x.as_ref(), &target, &Run::default()).unwrap();
        assert!(score.test > 0.95 && score.validation > 0.95, "{score:?}");
        assert_eq!(score.train_rows + score.test_rows, 2700);
        assert!((score.test_rows as f64 - 540.0).abs() < 120.0);
        let noise = synth::gaussian::<f64>(3000, 4, 7);
        let score = HoldOut::default().evaluate(noise.as_ref(), &target, &Run::default()).unwrap();
        assert!((score.test - 0.5).abs() < 0.1, "{score:?}");
    }

    #[test]
    fn values_and_many_classes_have_their_own_measure() {
        let x = synth::gaussian::<f64>(2000, 3, 2);
        let values = Target::Values((0..2000).map(|i| 2.0 * x[(i, 0)] - x[(i, 2)]).collect());
        assert!(HoldOut::default().evaluate(x.as_ref(), &values, &Run::default()).unwrap().test < 0.01);
        let (x, codes) = synth::clusters::<f64>(2000, 5, 4, 1);
        let names = (0..4).map(|c| c.to_string()).collect();
        let classes = Target::Classes { names, codes: codes.iter().map(|c| Some(*c)).collect() };
        assert!(HoldOut::default().evaluate(x.as_ref(), &classes, &Run::default()).unwrap().test > 0.8);
    }

    #[test]
    fn what_leaves_nothing_to_learn_is_refused() {
        let (x, target) = two_classes(40);
        let refused = |task: HoldOut, rows: usize| task.evaluate(x.subrows(0, rows), &target, &Run::default()).is_err();
        assert!(refused(HoldOut { test_share: 0.95, ..HoldOut::default() }, 40));
        assert!(refused(HoldOut { penalties: vec![], ..HoldOut::default() }, 40));
        assert!(refused(HoldOut::default(), 39));
        let dull = Target::Classes { names: vec!["a".into()], codes: vec![Some(0); 40] };
        assert!(HoldOut::default().evaluate(x.as_ref(), &dull, &Run::default()).is_err());
    }
}

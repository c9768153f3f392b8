//! What supervises the learning of a compatibility matrix: targets in the form that a head needs, and who
//! judges it.
//!
//! Values are taken in units of their deviation, so that losses, ridge and learning rate mean the same for
//! every target. The rows that choose the epoch take no part in gradients or heads.

use super::head::{Loss, mean};
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::data::dataset::Target;
use faer::Mat;
use rand::seq::SliceRandom;

/// Targets as a head needs them, and the rows that have one.
pub(super) struct Supervision {
    /// One row per sample: 1 in the column of its class, or its value in units of the deviation; 0 where unknown.
    pub(super) y: Mat<f64>,
    /// Cross-entropy for classes, squared error for values.
    pub(super) loss: Loss,
    /// Rows to learn from.
    pub(super) train: Vec<usize>,
    /// Rows to choose by; empty: those to learn from.
    pub(super) validation: Vec<usize>,
    /// Mean and deviation of the values; 0 and 1 for classes.
    pub(super) units: (f64, f64),
}

impl Supervision {
    /// Of `rows` samples, a share of those with a known target held out.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is not one target per row, [`Error::Param`] if the known ones leave nothing to learn.
    pub(super) fn new(target: &Target, rows: usize, held_out: f64, seed: u64) -> Result<Self> {
        target.refuse_several()?;
        let (wanted, outputs) = wanted(target);
        if wanted.len() != rows {
            return Err(Error::shape("the number of targets", rows, wanted.len()));
        }
        let mut known: Vec<usize> = (0..rows).filter(|&i| wanted[i].is_some()).collect();
        let value = |i: usize| wanted[i].unwrap_or_default();
        if known.iter().all(|&i| value(i).total_cmp(&value(known[0])).is_eq()) {
            let found = if known.is_empty() { "missing" } else { "the same for all rows" };
            return Err(Error::param("target", found, "known and different for some rows, to learn from"));
        }
        let units = if outputs == 1 { units(known.iter().map(|&i| value(i))) } else { (0.0, 1.0) };
        let y = Mat::from_fn(rows, outputs, |i, c| match wanted[i] {
            None => 0.0,
            Some(value) if outputs == 1 => (value - units.0) / units.1,
            Some(class) => f64::from(u8::from((class - c as f64).abs() < 0.5)),
        });
        let loss = if outputs == 1 { Loss::Squared } else { Loss::CrossEntropy };
        known.shuffle(&mut random::generator(seed, Purpose::CompatValidation));
        let validation = known.split_off(known.len() - (known.len() as f64 * held_out) as usize);
        Ok(Supervision { y, loss, train: known, validation, units })
    }

    /// Rows by which a compatibility matrix is chosen.
    pub(super) fn judges(&self) -> &[usize] {
        if self.validation.is_empty() { &self.train } else { &self.validation }
    }

    /// Whether losses of the judges have fallen by more than one standard error of the fall, row by row.
    ///
    /// Without held-out rows any fall is believed.
    pub(super) fn believes(&self, before: &[f64], after: &[f64]) -> bool {
        let falls: Vec<f64> = before.iter().zip(after).map(|(b, a)| b - a).collect();
        let (fall, error) = mean(&falls);
        fall > if self.validation.is_empty() { 0.0 } else { error }
    }

    /// The targets of some rows.
    pub(super) fn of(&self, rows: &[usize]) -> Mat<f64> {
        Mat::from_fn(rows.len(), self.y.ncols(), |i, c| self.y[(rows[i], c)])
    }
}

/// Class or value of each row where it is known, and the number of outputs.
fn wanted(target: &Target) -> (Vec<Option<f64>>, usize) {
    match target {
        // A head of one output would be taken for one of values.
        Target::Classes { names, codes } => (codes.iter().map(|c| c.map(f64::from)).collect(), names.len().max(2)),
        Target::Values(values) => (values.iter().map(|v| Some(*v).filter(|v| v.is_finite())).collect(), 1),
        Target::Several { .. } => (Vec::new(), 0),
    }
}

/// Mean and standard deviation.
fn units(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (mean, (values.map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_target_take_no_part() {
        let values = Target::Values((0..20).map(|i| if i % 4 == 0 { f64::NAN } else { f64::from(i) }).collect());
        let supervision = Supervision::new(&values, 20, 0.2, 1).unwrap();
        assert_eq!((supervision.train.len(), supervision.validation.len(), supervision.loss), (12, 3, Loss::Squared));
        let mut all = [&supervision.train[..], &supervision.validation].concat();
        all.sort_unstable();
        assert_eq!(all, (0..20).filter(|i| i % 4 != 0).collect::<Vec<_>>());
        assert!(supervision.of(&all).col(0).iter().sum::<f64>().abs() < 1e-12);
    }

    #[test]
    fn targets_that_teach_nothing_are_refused() {
        let error = |target: &Target, rows| Supervision::new(target, rows, 0.2, 0).err().unwrap().to_string();
        let same = Target::Classes { names: vec!["a".into(), "b".into()], codes: vec![Some(0); 5] };
        assert!(error(&same, 5).starts_with("`target` is the same for all rows but must be"));
        assert!(error(&Target::Values(vec![f64::NAN; 3]), 3).starts_with("`target` is missing"));
        assert_eq!(error(&same, 4), "the number of targets is 5 but must be 4");
    }

    #[test]
    fn a_fall_within_one_standard_error_is_not_believed() {
        let values = Target::Values((0..20).map(f64::from).collect());
        let held_out = |share| Supervision::new(&values, 20, share, 1).unwrap();
        // Falls 1, 0, 0, 0: their mean is 1/4 and its standard error 1/4.
        let (before, after) = ([2.0; 4], [1.0, 2.0, 2.0, 2.0]);
        assert!(!held_out(0.2).believes(&before, &after) && held_out(0.0).believes(&before, &after));
        assert!(held_out(0.2).believes(&before, &[1.0, 1.5, 1.5, 1.5]));
        assert!(!held_out(0.0).believes(&before, &before));
    }
}

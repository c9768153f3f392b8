//! What is predicted, and how good predictions are.
//!
//! [`Answer`] says what a model predicts and turns decision values into words, [`score`] measures them against
//! a target. `Known` is the target as machines learn it, and `deal` splits it into folds.

use super::linear::largest_columns;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::data::dataset::Target;
use crate::metrics::{micro_f1, rmse};
use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use std::collections::HashSet;

/// What a model predicts.
///
/// Decision values have a column for each class, of which the largest wins, or one column of values:
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::Answer;
///
/// let answer = Answer::Classes(vec!["no".into(), "yes".into()]);
/// let decision = Mat::from_fn(2, 2, |i, j| if i == j { 0.1 } else { 0.9 });
/// assert_eq!(answer.words(decision.as_ref()), ["yes", "no"]);
/// assert_eq!((answer.width(), Answer::Values.width()), (2, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// One of these classes.
    Classes(Vec<String>),
    /// A real number.
    Values,
    /// Several real numbers, by these names.
    Several(Vec<String>),
}

impl Answer {
    /// Class names; none for values.
    pub fn classes(&self) -> &[String] {
        match self {
            Answer::Classes(names) => names,
            Answer::Values | Answer::Several(_) => &[],
        }
    }

    /// Names of several values; none for one value and for classes.
    pub fn targets(&self) -> &[String] {
        if let Answer::Several(names) = self { names } else { &[] }
    }

    /// Columns of decision values.
    pub fn width(&self) -> usize {
        self.classes().len().max(self.targets().len()).max(1)
    }

    /// The predictions in words: class names, or numbers that read back exactly; of several numbers the first.
    pub fn words(&self, decision: MatRef<'_, f64>) -> Vec<String> {
        match self {
            Answer::Classes(names) => {
                largest_columns(decision).iter().map(|&code| names[code as usize].clone()).collect()
            }
            Answer::Values | Answer::Several(_) => decision.col(0).iter().map(ToString::to_string).collect(),
        }
    }
}

/// Micro-F1 of classes, or the root mean squared error of values, over the rows whose target is known; of several values the
/// mean of their errors, see [`errors_of`].
///
/// For classes more is better, for values less. Rows without target do not count:
///
/// ```
/// use lopsided::estimators::score;
/// use lopsided::{Mat, Target};
///
/// let target = Target::Values(vec![1.0, f64::NAN, 3.0]);
/// let decision = Mat::from_fn(3, 1, |i, _| [1.0, 9.0, 1.0][i]); // errors 0 and 2
/// assert!((score(&target, decision.as_ref()) - 2.0_f64.sqrt()).abs() < 1e-12);
/// ```
///
/// # Panics
/// If there are more targets than rows of decision values.
pub fn score(target: &Target, decision: MatRef<'_, f64>) -> f64 {
    let rows = target.known();
    match target {
        Target::Classes { codes, .. } => {
            let predicted = largest_columns(decision);
            let truth: Vec<u32> = rows.iter().filter_map(|&i| codes[i]).collect();
            micro_f1(&truth, &rows.iter().map(|&i| predicted[i]).collect::<Vec<_>>())
        }
        Target::Values(values) => {
            let truth: Vec<f64> = rows.iter().map(|&i| values[i]).collect();
            rmse(&truth, &rows.iter().map(|&i| decision[(i, 0)]).collect::<Vec<_>>())
        }
        Target::Several { values, .. } => {
            let errors = errors_of(values.as_ref(), decision);
            errors.iter().sum::<f64>() / errors.len().max(1) as f64
        }
    }
}

/// The root mean squared error of each of several values, over the rows in which all of them are known.
///
/// ```
/// use lopsided::estimators::errors_of;
///
/// let truth = faer::mat![[1.0, 0.0], [f64::NAN, 0.0], [1.0, 2.0]];
/// let found = faer::mat![[1.0, 0.0], [9.0, 9.0], [3.0, 2.0]];
/// assert_eq!(errors_of(truth.as_ref(), found.as_ref()), [2.0_f64.sqrt(), 0.0]);
/// ```
pub fn errors_of(truth: MatRef<'_, f64>, decision: MatRef<'_, f64>) -> Vec<f64> {
    let rows: Vec<usize> = (0..truth.nrows()).filter(|&i| truth.row(i).iter().all(|v| v.is_finite())).collect();
    let column = |m: MatRef<'_, f64>, c: usize| rows.iter().map(|&i| m[(i, c)]).collect::<Vec<_>>();
    (0..truth.ncols()).map(|c| rmse(&column(truth, c), &column(decision, c))).collect()
}

/// Rows with a known target, and what a linear machine is to learn about them.
pub(crate) struct Known {
    pub(crate) rows: Vec<usize>,
    /// ±1 for each class, or the value.
    pub(crate) y: Mat<f64>,
    pub(crate) answer: Answer,
}

impl Known {
    /// The known part of a target.
    pub(crate) fn of(target: Option<&Target>) -> Result<Self> {
        target.map_or(Ok(()), Target::refuse_several)?;
        Known::even_several(target)
    }

    /// The same for those who learn several values at once.
    pub(crate) fn even_several(target: Option<&Target>) -> Result<Self> {
        let target = target.ok_or_else(no_target)?;
        let rows = target.known();
        if rows.is_empty() {
            return Err(no_target());
        }
        match target {
            Target::Classes { names, codes } => {
                if rows.iter().all(|&i| codes[i] == codes[rows[0]]) {
                    return Err(Error::param("labels", "of one class only", "of at least two classes"));
                }
                let sign = |i: usize, c: usize| if codes[rows[i]] == Some(c as u32) { 1.0 } else { -1.0 };
                let y = Mat::from_fn(rows.len(), names.len(), sign);
                Ok(Known { y, rows, answer: Answer::Classes(names.clone()) })
            }
            Target::Values(values) => {
                let y = Mat::from_fn(rows.len(), 1, |i, _| values[rows[i]]);
                Ok(Known { y, rows, answer: Answer::Values })
            }
            Target::Several { names, values } => {
                let y = Mat::from_fn(rows.len(), values.ncols(), |i, c| values[(rows[i], c)]);
                Ok(Known { y, rows, answer: Answer::Several(names.clone()) })
            }
        }
    }
}

/// The known rows in random order, dealt class by class like cards.
///
/// Of classes, every fold gets its share of each but for one sample; the order within a class is random and
/// depends on the seed and the stream only.
///
/// # Errors
/// [`Error::Param`] for fewer than 2 folds or more than there are known rows.
pub(crate) fn deal(target: Option<&Target>, folds: usize, seed: u64, purpose: Purpose) -> Result<Vec<Vec<usize>>> {
    let target = target.ok_or_else(no_target)?;
    let mut order = target.known();
    if folds < 2 || folds > order.len() {
        let allowed = format!("between 2 and {}, the samples to learn from", order.len());
        return Err(Error::param("folds", folds, allowed));
    }
    order.shuffle(&mut random::generator(seed, purpose));
    if let Target::Classes { codes, .. } = target {
        order.sort_by_key(|&i| codes[i]);
    }
    Ok((0..folds).map(|f| order.iter().skip(f).step_by(folds).copied().collect()).collect())
}

/// The target as it is known while the rows of a fold are held out.
pub(crate) fn hidden(target: &Target, fold: &[usize]) -> Target {
    let held: HashSet<usize> = fold.iter().copied().collect();
    target.clone().without(|i| held.contains(&i))
}

/// There is nothing to learn.
pub(crate) fn no_target() -> Error {
    Error::param("labels", "missing", "given for at least two samples to learn from")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_targets_count() {
        let decision = faer::mat![[1.0, 0.0], [0.0, 1.0], [5.0, 0.0]];
        let classes = Target::Classes { names: vec!["a".into(), "b".into()], codes: vec![Some(0), None, Some(1)] };
        assert_eq!(score(&classes, decision.as_ref()), 0.5);
        assert_eq!(score(&Target::Values(vec![1.0, f64::NAN, 2.0]), decision.as_ref()), 4.5f64.sqrt());
        assert_eq!(Answer::Classes(vec!["a".into(), "b".into()]).words(decision.as_ref()), ["a", "b", "a"]);
        assert_eq!(Answer::Values.words(decision.as_ref()), ["1", "0", "5"]);
    }

    #[test]
    fn one_class_or_none_cannot_be_learned() {
        let one = Target::Classes { names: vec!["a".into(), "b".into()], codes: vec![Some(1), None, Some(1)] };
        assert!(Known::of(Some(&one)).err().unwrap().to_string().contains("one class only"));
        assert!(Known::of(Some(&Target::Values(vec![f64::NAN]))).is_err());
        assert!(Known::of(None).is_err());
    }
}

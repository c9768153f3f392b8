//! The choice of settings by cross-validation, for every estimator of the list.

use super::Spread;
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::base::scalar::Scalar;
use crate::base::settings::Value;
use crate::data::dataset::Dataset;
use crate::estimators::scoring::{deal, no_target};
use crate::estimators::{Estimator, Plan, Point, validated};
use std::collections::BTreeMap;

/// Choice of settings by cross-validation: micro-F1 for classes, root mean squared error for values.
///
/// The folds are dealt once for all points, so that their scores differ by the settings alone. How a fold is
/// kept unseen is the estimator's promise, [`Estimator::validate`].
///
/// ```
/// use lopsided::base::settings::Value;
/// use lopsided::estimators::KernelRidge;
/// use lopsided::evaluation::Search;
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Samples::Dense(Mat::from_fn(30, 1, |i, _| i as f64 / 5.0));
/// let y = Target::Values((0..30).map(|i| (i as f64 / 5.0).sin()).collect());
/// let data = Dataset { y: Some(y), ..Dataset::new(x) };
/// let grid = vec![("penalty".to_string(), vec![Value::Number(0.01), Value::Number(100.0)])];
/// let (_, found) = Search { folds: 3, grid }.run::<f64>(&KernelRidge::new("rbf"), &data, &Run::default())?;
/// assert_eq!((found.measure, found.points.len()), ("rmse", 2));
/// assert!(found.points.iter().all(|point| found.best.score.mean <= point.score.mean));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Parts, each of which is predicted from all others; every class is spread evenly over them.
    pub folds: usize,
    /// Settings and the values to try; every combination is a point, of equals the first is chosen.
    pub grid: Vec<(String, Vec<Value>)>,
}

/// One point of a grid.
///
/// Settings are written as words, the way a user would give them again.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tried {
    /// Its settings.
    pub params: BTreeMap<String, String>,
    /// Score over the folds.
    #[serde(flatten)]
    pub score: Spread,
}

/// What a search found.
///
/// The score of the best point is the largest of several random numbers, so it flatters: a test set tells how
/// good it really is.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Tuning {
    /// Number of parts.
    pub folds: usize,
    /// `micro-f1`, or `rmse`, where less is better.
    pub measure: &'static str,
    /// The best point.
    #[serde(flatten)]
    pub best: Tried,
    /// All points in the order of the grid, the last setting varying fastest.
    pub points: Vec<Tried>,
}

impl Search {
    /// Scores every point; the estimator with the settings of the best one.
    ///
    /// # Errors
    /// [`Error::Param`] for folds and grids that cannot be used, and whatever [`Estimator::validate`] says.
    pub fn run<T: Scalar>(
        &self,
        estimator: &dyn Estimator<T>,
        data: &Dataset<T>,
        run: &Run,
    ) -> Result<(Box<dyn Estimator<T>>, Tuning)> {
        let target = data.y.as_ref().ok_or_else(no_target)?;
        let folds = deal(Some(target), self.folds, run.seed, Purpose::SearchFolds)?;
        let points = self.points();
        let settings = || {
            let grid = serde_json::to_value(&self.grid).unwrap_or_default().to_string();
            let own = [("folds", self.folds.into()), ("grid", grid.into())];
            let own = own.map(|(name, value): (_, serde_json::Value)| (name.to_string(), value));
            estimator.settings().to_map().into_iter().chain(own).collect()
        };
        run.belongs("search", settings, data)?;
        let scores = validated(estimator, data, (&points, &folds), run)?;
        let tried: Vec<Tried> = points.iter().zip(scores).map(|(point, scores)| Tried::of(point, scores)).collect();
        let less_is_better = !target.is_classes();
        let gain = |t: &Tried| if less_is_better { -t.score.mean } else { t.score.mean };
        let best = tried.iter().enumerate().reduce(|a, b| if gain(b.1) > gain(a.1) { b } else { a });
        let empty = || Error::param("grid", "empty", "at least one value for every setting");
        let (at, best) = best.map(|(at, best)| (at, best.clone())).ok_or_else(empty)?;
        let chosen = estimator.with(&points[at])?;
        let measure = if less_is_better { "rmse" } else { "micro-f1" };
        Ok((chosen, Tuning { folds: self.folds, measure, best, points: tried }))
    }

    /// What [`Search::run`] and the fit after it would do: that of the first point, with the seconds of both. All but the
    /// penalty is learned anew for each point.
    ///
    /// # Errors
    /// Those of [`Estimator::plan`].
    pub fn plan<T: Scalar>(&self, estimator: &dyn Estimator<T>, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let first = estimator.with(&self.points().into_iter().next().unwrap_or_default())?;
        let plan = first.plan(data, run)?;
        let count = |penalty: bool| -> usize {
            let values = self.grid.iter().filter(|(name, _)| (name == "penalty") == penalty);
            values.map(|(_, values)| values.len()).product()
        };
        let share = 1.0 - 1.0 / self.folds.max(2) as f64;
        let search = (count(false) * self.folds) as f64 * first.validate_seconds(&plan, count(true), share);
        Ok(Plan { seconds: plan.seconds + search, ..plan })
    }

    /// Every combination of values; one point that changes nothing for a grid without settings.
    fn points(&self) -> Vec<Point> {
        let extended = |points: Vec<Point>, (name, values): &(String, Vec<Value>)| {
            let with = |point: &Point, value: &Value| point.clone().with(name, value.clone());
            points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect()
        };
        self.grid.iter().fold(vec![Point::default()], extended)
    }
}

impl Tuning {
    /// All points, the best first; equals stay in the order of the grid.
    pub fn ranked(&self) -> Vec<&Tried> {
        let mut points: Vec<&Tried> = self.points.iter().collect();
        let order = |a: &Tried, b: &Tried| a.score.mean.total_cmp(&b.score.mean);
        points.sort_by(|a, b| if self.measure == "rmse" { order(a, b) } else { order(b, a) });
        points
    }

    /// All points as lines of comma-separated values, the best first: the settings, mean and deviation.
    ///
    /// # Errors
    /// [`Error::Io`] that cannot happen, as text is written to memory.
    pub fn csv(&self) -> Result<String> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let failed = |e: std::io::Error| Error::io("the table of points", e);
        let title = self.best.params.keys().map(String::as_str).chain([self.measure, "deviation"]);
        out.write_record(title).map_err(|e| failed(e.into()))?;
        for Tried { params, score } in self.ranked() {
            let scores = [score.mean.to_string(), score.deviation.to_string()];
            out.write_record(params.values().chain(&scores)).map_err(|e| failed(e.into()))?;
        }
        let bytes = out.into_inner().map_err(|e| failed(e.into_error()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Tried {
    fn of(point: &Point, scores: Vec<f64>) -> Self {
        Tried {
            params: point.iter().map(|(name, value)| (name.into(), value.to_string())).collect(),
            score: Spread::of(scores),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Target;

    fn search(folds: usize) -> Search {
        let values = |v: &[f64]| v.iter().map(|v| Value::Number(*v)).collect();
        Search { folds, grid: vec![("rank".into(), values(&[1.0, 2.0])), ("penalty".into(), values(&[3.0, 4.0, 5.0]))] }
    }

    #[test]
    fn every_combination_is_a_point() {
        let points = search(2).points();
        assert_eq!(points.len(), 6);
        assert_eq!(points[1], Point::default().with("rank", 1).with("penalty", 4));
        assert_eq!(Search { folds: 2, grid: Vec::new() }.points(), [Point::default()]);
    }

    #[test]
    fn points_are_ranked_by_what_is_measured() {
        let point = |name: &str, mean: f64| Tried {
            params: BTreeMap::from([("kernel".to_string(), name.to_string())]),
            score: Spread { mean, deviation: 0.5 },
        };
        let points = vec![point("a", 1.0), point("b,c", 3.0), point("d", 1.0)];
        let of = |measure| Tuning { folds: 2, measure, best: points[0].clone(), points: points.clone() };
        assert_eq!(of("micro-f1").csv().unwrap(), "kernel,micro-f1,deviation\n\"b,c\",3,0.5\na,1,0.5\nd,1,0.5\n");
        let names: Vec<String> = of("rmse").ranked().iter().map(|t| t.params["kernel"].clone()).collect();
        assert_eq!(names, ["a", "d", "b,c"]);
    }

    #[test]
    fn folds_are_disjoint_complete_and_even_in_every_class() {
        let codes: Vec<Option<u32>> = (0..50).map(|i| (i % 5 != 0).then_some(u32::from(i % 4 == 1))).collect();
        let target = Target::Classes { names: vec!["a".into(), "b".into()], codes: codes.clone() };
        let folds = deal(Some(&target), 4, 3, Purpose::SearchFolds).unwrap();
        let mut all = folds.concat();
        all.sort_unstable();
        assert_eq!(all, target.known());
        let ones = |fold: &Vec<usize>| fold.iter().filter(|&&i| codes[i] == Some(1)).count();
        let counts: Vec<usize> = folds.iter().map(ones).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        assert!(
            deal(Some(&target), 41, 3, Purpose::SearchFolds).is_err()
                && deal(Some(&target), 1, 3, Purpose::SearchFolds).is_err()
        );
    }
}

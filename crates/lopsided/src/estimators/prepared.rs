//! What is settled between the data and a machine that predicts: the scale of the columns, and the penalty.
//!
//! A distance adds up the differences of all columns, so a column in grams drowns one in kilograms: unless told otherwise, the
//! columns of a dense table are brought to mean 0 and deviation 1 before a kernel of distances sees them. A penalty weighs
//! errors against the size of a function, and which weight is right only held-out rows can tell: unless given, a few are tried.

use super::onnx::KernelSum;
use super::scoring::{deal, hidden};
use super::{Answer, Estimator, FitReport, KernelSvdModel, MachineErrors, Model, Plan, Point, validate_by_fits};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::archive::Archive;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::GraphFrame;
use crate::data::samples::{Samples, SamplesRef};
use faer::Mat;

/// Settings that every estimator of the list has beside its own.
pub const PREPARED_SETTINGS: [Setting; 1] = [Setting::new(
    "scale",
    "how the columns of a table are scaled before anything is learned; the model keeps it",
    "auto, standard, minmax or none",
    "auto: standard for dense tables and kernels of distances",
)];

/// Held-out parts that judge a penalty, and the samples up to which each part is held out in turn.
const FOLDS: usize = 3;
const FEW: usize = 2000;
/// Fewer samples than this say nothing about a penalty.
const ENOUGH: usize = 12;

/// How the columns of a table are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// [`Scale::Standard`] for dense tables and kernels of distances, else [`Scale::None`].
    #[default]
    Auto,
    /// Mean 0 and deviation 1.
    Standard,
    /// From 0 to 1.
    MinMax,
    /// As they are.
    None,
}

words!(Scale, "scale": Auto = "auto", Standard = "standard", MinMax = "minmax", None = "none");

/// x ↦ (x − offset)·factor, column by column, learned from some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaler {
    pub(super) offset: Vec<f64>,
    pub(super) factor: Vec<f64>,
}

impl Scaler {
    /// The scaler of the listed rows; a constant column is only moved.
    ///
    /// ```
    /// use lopsided::estimators::{Scale, Scaler};
    /// use lopsided::{Mat, Samples};
    ///
    /// let x = Samples::Dense(Mat::from_fn(3, 2, |i, j| if j == 0 { [0.0, 2.0, 100.0][i] } else { 7.0 }));
    /// let scaled = Scaler::of(x.as_ref(), &[0, 1], Scale::Standard)?.apply(x.as_ref())?.into_dense();
    /// assert_eq!((scaled[(0, 0)], scaled[(1, 0)], scaled[(2, 0)], scaled[(0, 1)]), (-1.0, 1.0, 99.0, 0.0));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Param`] for sparse samples, which would not stay sparse.
    pub fn of<T: Scalar>(x: SamplesRef<'_, T>, rows: &[usize], scale: Scale) -> Result<Self> {
        let SamplesRef::Dense(x) = x else { return Err(refused(scale)) };
        let count = rows.len().max(1) as f64;
        let (mut offset, mut factor) = (Vec::new(), Vec::new());
        for column in x.col_iter() {
            let values = || rows.iter().map(|&i| column[i].as_f64());
            let (start, width) = if scale == Scale::MinMax {
                let (least, most) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
                (least, most - least)
            } else {
                let mean = values().sum::<f64>() / count;
                (mean, (values().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt())
            };
            // What rounding leaves of a constant column is no width.
            let varies = width > 16.0 * f64::EPSILON * start.abs();
            offset.push(start);
            factor.push(if varies { 1.0 / width } else { 1.0 });
        }
        Ok(Scaler { offset, factor })
    }

    /// The samples, scaled.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another width, [`Error::Param`] for sparse ones.
    pub fn apply<T: Scalar>(&self, x: SamplesRef<'_, T>) -> Result<Samples<T>> {
        let SamplesRef::Dense(x) = x else { return Err(refused(Scale::Standard)) };
        if x.ncols() != self.offset.len() {
            return Err(Error::shape("the number of columns", self.offset.len(), x.ncols()));
        }
        let scaled = |i: usize, j: usize| T::of((x[(i, j)].as_f64() - self.offset[j]) * self.factor[j]);
        Ok(Samples::Dense(Mat::from_fn(x.nrows(), x.ncols(), scaled)))
    }
}

impl Scaler {
    /// The data with their rows scaled.
    fn on<T: Scalar>(&self, data: &Dataset<T>) -> Result<Dataset<T>> {
        Ok(Dataset {
            x: self.apply(data.x.as_ref())?,
            z: data.z.clone(),
            y: data.y.clone(),
            weights: data.weights.clone(),
            row_ids: data.row_ids.clone(),
            col_ids: data.col_ids.clone(),
            frame: data.frame.clone(),
            maps: data.maps.clone(),
        })
    }
}

fn refused(scale: Scale) -> Error {
    Error::param("scale", scale, "none for a sparse table, which would not stay sparse")
}

/// An estimator with the scale of its columns and the penalties to choose from; none where one was given.
pub(super) struct Prepared<T> {
    pub(super) inner: Box<dyn Estimator<T>>,
    /// Never [`Scale::Auto`].
    pub(super) scale: Scale,
    pub(super) penalties: Vec<f64>,
}

/// A machine that says everything, a sentence about it, and what was chosen by what.
struct Settled<T> {
    machine: Box<dyn Estimator<T>>,
    warning: Option<String>,
    chosen: Option<String>,
}

impl<T: Scalar> Prepared<T> {
    /// The scale of the rows with a target; none where columns are left as they are.
    fn scaler(&self, data: &Dataset<T>, target: Option<&Target>) -> Result<Option<Scaler>> {
        if self.scale == Scale::None {
            return Ok(None);
        }
        data.x.check_finite("X")?;
        let known = target.map(Target::known).unwrap_or_default();
        Scaler::of(data.x.as_ref(), &known, self.scale).map(Some)
    }

    /// Parts that are held out to judge the penalties; none where there is no choice, or nothing to judge by.
    fn held_out(&self, target: &Target) -> usize {
        let known = target.known().len();
        match known {
            _ if self.penalties.len() < 2 || known < ENOUGH || smallest_class(target) < FOLDS => 0,
            _ if known <= FEW => FOLDS,
            _ => 1,
        }
    }

    /// The machine with the best of the penalties, and what is to be said about the choice.
    fn settled(&self, data: &Dataset<T>, run: &Run) -> Result<Settled<T>> {
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let held = self.held_out(target);
        if held == 0 {
            return Ok(Settled { machine: self.inner.with(&Settings::default())?, warning: None, chosen: None });
        }
        let mut folds = deal(Some(target), FOLDS, run.seed, Purpose::PenaltyFolds)?;
        folds.truncate(held);
        let mut points: Vec<Point> = self.penalties.iter().map(|p| Point::default().with("penalty", *p)).collect();
        let silent = Run { watch: run.watch.silent(), ..run.clone() };
        let scores: Vec<f64> = loop {
            match self.closed_scores(data, &points, &folds, &silent) {
                // The largest penalties may be too large for the precision.
                Err(Error::Singular { .. }) if points.len() > 1 => _ = points.pop(),
                scores => break scores?.iter().map(|s| mean(s)).collect(),
            }
        };
        let values = matches!(target, Target::Values(_));
        let better = |a: f64, b: f64| if values { a < b } else { a > b };
        let best = (1..scores.len()).fold(0, |best, at| if better(scores[at], scores[best]) { at } else { best });
        let tried: Vec<String> = self.penalties.iter().zip(&scores).map(|(p, s)| format!("{p}: {s:.4}")).collect();
        let measure = if values { "root mean squared error" } else { "micro-F1" };
        let why = format!("penalty {}, by held-out {measure} of {}", self.penalties[best], tried.join(", "));
        let warning = worthless(target, &folds, scores[best]);
        Ok(Settled { machine: self.inner.with(&points[best])?, warning, chosen: Some(why) })
    }

    /// Scores of points that say everything, each fold by a scale of its own.
    fn closed_scores(
        &self,
        data: &Dataset<T>,
        points: &[Point],
        folds: &[Vec<usize>],
        run: &Run,
    ) -> Result<Vec<Vec<f64>>> {
        if self.scale == Scale::None {
            return self.inner.validate(data, points, folds, run);
        }
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let mut out = vec![Vec::new(); points.len()];
        for fold in folds {
            let Some(scaler) = self.scaler(data, Some(&hidden(target, fold)))? else { continue };
            let scores = self.inner.validate(&scaler.on(data)?, points, std::slice::from_ref(fold), run)?;
            out.iter_mut().zip(scores).for_each(|(out, score)| out.extend(score));
        }
        Ok(out)
    }
}

fn mean(scores: &[f64]) -> f64 {
    scores.iter().sum::<f64>() / scores.len().max(1) as f64
}

/// Members of the smallest class; plenty for values.
fn smallest_class(target: &Target) -> usize {
    let Target::Classes { names, codes } = target else { return usize::MAX };
    let mut counts = vec![0; names.len()];
    codes.iter().flatten().for_each(|&c| counts[c as usize] += 1);
    counts.into_iter().filter(|count| *count > 0).min().unwrap_or(0)
}

/// The sentence about a machine that knows no more than the most frequent class or the mean.
fn worthless(target: &Target, folds: &[Vec<usize>], score: f64) -> Option<String> {
    let rows = folds.concat();
    match target.rows(&rows) {
        Target::Classes { names, codes } => {
            let mut counts = vec![0usize; names.len()];
            codes.iter().flatten().for_each(|&c| counts[c as usize] += 1);
            let share = counts.into_iter().max().unwrap_or(0) as f64 / rows.len().max(1) as f64;
            (score <= share + 1e-9).then(|| {
                format!(
                    "held-out predictions are right in {score:.3} of the cases, the most frequent class alone in \
                     {share:.3}: nothing was learned; another kernel, --cv 5 or other features may help"
                )
            })
        }
        Target::Values(values) => {
            let center = mean(&values);
            let deviation = mean(&values.iter().map(|v| (v - center).powi(2)).collect::<Vec<_>>()).sqrt();
            (score >= deviation).then(|| {
                let r2 = 1.0 - (score / deviation).powi(2);
                format!("held-out R² is {r2:.2}: the mean alone predicts as well; another kernel or --cv 5 may help")
            })
        }
    }
}

impl<T: Scalar> Estimator<T> for Prepared<T> {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        let mut given = given.clone();
        let scale = given.word("scale")?.unwrap_or(self.scale);
        given.take("scale");
        let auto = matches!(given.value("penalty"), Some(Value::Text(word)) if word == "auto");
        if auto && !self.penalties.is_empty() {
            given.take("penalty");
        }
        let penalties = if given.value("penalty").is_some() { Vec::new() } else { self.penalties.clone() };
        Ok(Box::new(Prepared { inner: self.inner.with(&given)?, scale, penalties }))
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let parts = data.y.as_ref().map_or(0, |target| self.held_out(target)) as f64;
        // A machine that is given a penalty does not look for one.
        let given = self.penalties.first().map(|p| Point::default().with("penalty", *p)).unwrap_or_default();
        let plan = self.inner.with(&given)?.plan(data, run)?;
        let share = (FOLDS - 1) as f64 / FOLDS as f64;
        let search = self.inner.validate_seconds(&plan, self.penalties.len(), share);
        Ok(Plan { seconds: plan.seconds + parts * search, ..plan })
    }

    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        self.inner.validate_seconds(plan, penalties, share)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        if self.penalties.len() > 1 {
            // Whatever cannot be is told of all samples, not of a part of them.
            self.inner.plan(&data, run)?;
        }
        let Settled { machine, warning, chosen } = self.settled(&data, run)?;
        let scaler = self.scaler(&data, data.y.as_ref())?;
        let data = if let Some(scaler) = &scaler { scaler.on(&data)? } else { data };
        let inner = machine.fit(data, run)?;
        let mut report = inner.report().clone();
        report.warnings.extend(warning);
        report.chosen = report.chosen.or(chosen);
        if scaler.is_some() {
            report.params.insert("scale".into(), self.scale.to_string().into());
        }
        Ok(Box::new(PreparedModel { inner, scaler, report }))
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        match self.scaler(data, data.y.as_ref())? {
            Some(scaler) => self.inner.errors(&scaler.on(data)?, run),
            None => self.inner.errors(data, run),
        }
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        let open = |point: &Point| !self.penalties.is_empty() && point.value("penalty").is_none();
        if points.iter().any(|point| open(point) || point.value("scale").is_some()) {
            return validate_by_fits(self, data, (points, folds), run);
        }
        self.closed_scores(data, points, folds, run)
    }
}

/// A model that scales what it is asked about as it scaled what it learned from.
pub(super) struct PreparedModel<T> {
    inner: Box<dyn Model<T>>,
    scaler: Option<Scaler>,
    report: FitReport,
}

impl<T: Scalar> PreparedModel<T> {
    /// A model of an archive with the scale that the archive has, where it has one.
    pub(super) fn of(inner: Box<dyn Model<T>>, archive: &Archive) -> Result<Box<dyn Model<T>>> {
        if !archive.has("scale.offset") {
            return Ok(inner);
        }
        let scaler = Scaler { offset: archive.vector("scale.offset")?, factor: archive.vector("scale.factor")? };
        if scaler.offset.len() != scaler.factor.len() {
            return Err(archive.error("has a scale whose arrays do not fit together"));
        }
        let report = archive.field("fit")?;
        Ok(Box::new(PreparedModel { inner, scaler: Some(scaler), report }))
    }

    /// What the inner model says of samples that are scaled.
    fn ask<R>(&self, samples: &Dataset<T>, about: impl FnOnce(&Dataset<T>) -> Result<R>) -> Result<R> {
        let Some(scaler) = &self.scaler else { return about(samples) };
        samples.x.check_finite("the new rows")?;
        about(&scaler.on(samples)?)
    }
}

impl<T: Scalar> Model<T> for PreparedModel<T> {
    fn answer(&self) -> &Answer {
        self.inner.answer()
    }

    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        self.ask(samples, |samples| self.inner.decision(samples, run))
    }

    fn probabilities(&self, samples: &Dataset<T>, run: &Run) -> Result<Option<Mat<f64>>> {
        self.ask(samples, |samples| self.inner.probabilities(samples, run))
    }

    fn has_probabilities(&self) -> bool {
        self.inner.has_probabilities()
    }

    fn kernel_sum(&self) -> Result<KernelSum<T>> {
        Ok(KernelSum { scale: self.scaler.clone(), ..self.inner.kernel_sum()? })
    }

    fn embedding(&self) -> Option<&KernelSvdModel<T>> {
        self.inner.embedding().filter(|_| self.scaler.is_none())
    }

    fn frame(&self) -> Option<&GraphFrame> {
        self.inner.frame()
    }

    fn report(&self) -> &FitReport {
        &self.report
    }

    fn archive(&self) -> Archive {
        let mut archive = self.inner.archive();
        archive.set_field("fit", &self.report);
        if let Some(scaler) = &self.scaler {
            archive.set_vector("scale.offset", &scaler.offset);
            archive.set_vector("scale.factor", &scaler.factor);
        }
        archive
    }
}

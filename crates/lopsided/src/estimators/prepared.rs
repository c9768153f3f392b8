//! What is settled between the data and a machine that predicts: how the columns become numbers, and the penalty.
//!
//! A distance adds up the differences of all columns, so a column in grams drowns one in kilograms: unless told otherwise, the
//! columns of a dense table are brought to mean 0 and deviation 1 before a kernel of distances sees them. A penalty weighs
//! errors against the size of a function, and which weight is right only held-out rows can tell: unless given, a few are tried.

use super::onnx::{KernelSum, refused};
use super::preparation::{Impute, Preparation, Scale};
use super::recipe;
use super::scoring::{deal, hidden};
use super::searched::{self, searched};
use super::{
    Answer, Choice, Estimator, FitReport, KernelSvdModel, MachineErrors, Model, Plan, Point, validate_by_fits,
    validated,
};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::archive::Archive;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::GraphFrame;
use crate::kernel::{Form, KernelSpec};
use faer::Mat;
use std::borrow::Cow;
use std::fmt::Write;

/// Settings that every estimator of the list has beside its own.
pub const PREPARED_SETTINGS: [Setting; 2] = [
    Setting::new(
        "scale",
        "how the columns of a table are scaled before anything is learned; the model keeps it",
        "auto, standard, minmax or none",
        "auto: standard for dense tables and kernels of distances",
    ),
    Setting::new(
        "impute",
        "what fills missing values of a table, learned from the rows that are learned from; words are filled by the most frequent",
        "mean, median, most-frequent or none",
        "none: missing values are refused",
    ),
];

/// Held-out parts that judge a penalty: up to so many samples each third is held out in turn, up to so many two of them, beyond it
/// one.
const FOLDS: usize = 3;
const FEW: usize = 600;
const SOME: usize = 1000;
/// Fewer samples than this say nothing about a penalty.
const ENOUGH: usize = 12;

/// Bandwidths of the rows of a table that are tried beside the usual one, as factors of it: a wide kernel is nearly linear, which many
/// tables are.
pub(super) const WIDER: [f64; 1] = [3.0];

/// Shares of features beside links that are tried, links alone and features alone among them.
const WEIGHTS: [f64; 5] = [0.5, 0.2, 0.8, 0.0, 1.0];

/// An estimator with what its columns go through and the penalties to choose from; none where one was given.
pub(super) struct Prepared<T> {
    pub(super) inner: Box<dyn Estimator<T>>,
    /// Never [`Scale::Auto`].
    pub(super) scale: Scale,
    pub(super) impute: Impute,
    pub(super) penalties: Vec<f64>,
    /// Factors of the bandwidth to choose from beside the usual one, with the penalty.
    pub(super) factors: Vec<f64>,
    /// Share of the features of nodes beside their links; `None`: the best of a few.
    pub(super) weight: Option<f64>,
    /// Labelled nodes on which penalties and weights are chosen at most.
    pub(super) most: usize,
}

/// A machine that says everything, a sentence about it, and what was chosen by what.
struct Settled<T> {
    machine: Box<dyn Estimator<T>>,
    warning: Option<String>,
    chosen: Option<Chosen>,
}

/// A choice in words and in numbers.
type Chosen = (String, Choice);

impl<T: Scalar> Prepared<T> {
    /// The same with some settings changed.
    pub(super) fn at(&self, given: &Settings) -> Result<Self> {
        let mut given = given.clone();
        let (scale, impute) =
            (given.word("scale")?.unwrap_or(self.scale), given.word("impute")?.unwrap_or(self.impute));
        given.take_all(&PREPARED_SETTINGS);
        let auto = matches!(given.value("penalty"), Some(Value::Text(word)) if word == "auto");
        if auto && !self.penalties.is_empty() {
            given.take("penalty");
        }
        let open = |name: &str| given.value(name).is_none();
        let penalties = if open("penalty") { self.penalties.clone() } else { Vec::new() };
        let factors = if open("gamma") && open("gamma-factor") { self.factors.clone() } else { Vec::new() };
        let weight = recipe::take_feature_weight(&mut given)?.or(self.weight);
        Ok(Prepared { inner: self.inner.with(&given)?, scale, impute, penalties, factors, weight, most: self.most })
    }

    /// Whether anything but the names of columns is learned.
    fn changes(&self, data: &Dataset<T>) -> bool {
        self.scale != Scale::None || self.impute != Impute::None || data.has_words()
    }

    /// What the rows with a target teach about the columns; none where these are left as they are and have no names.
    fn preparation(&self, data: &Dataset<T>, target: Option<&Target>) -> Result<Option<Preparation>> {
        if !self.changes(data) && data.columns.is_none() {
            return Ok(None);
        }
        let known = target.map(Target::known).unwrap_or_default();
        Preparation::learn(data, &known, self.scale, self.impute).map(Some)
    }

    /// The data as the machine sees them.
    fn prepared<'a>(&self, data: &'a Dataset<T>) -> Result<Cow<'a, Dataset<T>>> {
        let preparation = self.preparation(data, data.y.as_ref())?;
        preparation.map_or(Ok(Cow::Borrowed(data)), |preparation| preparation.apply(data))
    }

    /// The penalties to choose from. What is right depends on how large the values of the kernel are: for scalar products of the rows
    /// of a table they are in units of 1 over the variance of these, to the next power of ten.
    fn penalties_for(&self, data: &Dataset<T>) -> Result<Vec<f64>> {
        let settings = self.inner.settings();
        let product = settings
            .value("kernel")
            .is_some_and(|name| KernelSpec::new(&name.to_string()).nature().form == Form::Product);
        if !product || data.frame.is_some() || data.z.is_some() {
            return Ok(self.penalties.clone());
        }
        let spread = self.prepared(data)?.x.as_ref().spread();
        let power = if spread > 0.0 && spread.is_finite() { -spread.log10().round() } else { 0.0 };
        // Written and read, so that a tenth of a millionth is that.
        Ok(self.penalties.iter().map(|p| format!("{p}e{power}").parse().unwrap_or(*p)).collect())
    }

    /// Parts that are held out to judge the penalties; none where there is no choice, or nothing to judge by.
    fn held_out(&self, target: &Target) -> usize {
        let known = target.known().len();
        match known {
            _ if self.penalties.len() < 2 || known < ENOUGH || smallest_class(target) < FOLDS => 0,
            _ if known <= FEW => FOLDS,
            _ if known <= SOME => 2,
            _ => 1,
        }
    }

    /// What the choice of settings looks at: all labels where all penalties cost little more than one.
    pub(super) fn searched<'a>(&self, data: &'a Dataset<T>, run: &Run) -> Result<Cow<'a, Dataset<T>>> {
        let known = data.y.as_ref().map_or(0, |target| target.known().len());
        searched(data, if self.inner.shares_penalties(known) { usize::MAX } else { self.most }, run.seed)
    }

    /// The share of the labels that the choice of settings looks at.
    pub(super) fn share(&self, data: &Dataset<T>) -> f64 {
        let known = data.y.as_ref().map_or(0, |target| target.known().len());
        let all = data.frame.is_none() || self.inner.shares_penalties(known);
        if all { 1.0 } else { searched::share(known, self.most) }
    }

    /// The machine with the best of the penalties, and what is to be said about the choice.
    fn settled(&self, data: &Dataset<T>, run: &Run) -> Result<Settled<T>> {
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let held = self.held_out(target);
        if held == 0 {
            return Ok(Settled { machine: self.inner.with(&Settings::default())?, warning: None, chosen: None });
        }
        let (known, data) = (target.known().len(), self.searched(data, run)?);
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let mut folds = deal(Some(target), FOLDS, run.seed, Purpose::PenaltyFolds)?;
        folds.truncate(held);
        let mut tried = self.tried(&data, &folds, run)?;
        let values = !target.is_classes();
        let (mut penalty, mut score) = tried[best(&tried, values)];
        let part = searched::remark(known, target.known().len());
        let (mut all, mut wide) = (listed(&tried), String::new());
        let mut settings = Settings::default();
        for &factor in &self.factors {
            let wider = self.wider(&data, factor, penalty, &folds, run)?;
            let _ = write!(all, "; with gamma-factor {factor} {}", listed(&wider));
            if let Some(&(p, s)) = wider.get(best(&wider, values)).filter(|(_, s)| is_better(*s, score, values)) {
                (penalty, score, tried) = (p, s, wider);
                settings = Settings::default().with("gamma-factor", factor);
                wide = format!(" with gamma-factor {factor}");
            }
        }
        let why = format!("penalty {penalty}{wide}, by held-out {} of {all}{part}", measure(values));
        let machine = self.inner.with(&settings.with("penalty", penalty))?;
        let choice = Choice::new("penalty", measure(values), tried, penalty);
        Ok(Settled { machine, warning: worthless(target, &folds, score), chosen: Some((why, choice)) })
    }

    /// Penalties with their mean scores on the folds, in the order in which they were tried: all where all cost little more than
    /// one, else those of [`climbed`].
    pub(super) fn tried(&self, data: &Dataset<T>, folds: &[Vec<usize>], run: &Run) -> Result<Vec<(f64, f64)>> {
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let learned = target.known().len() - folds[0].len();
        if self.penalties.is_empty() || self.inner.shares_penalties(learned) {
            return self.all_tried(data, folds, run);
        }
        let score = |penalty: f64| self.score_of(data, Point::default().with("penalty", penalty), folds, run);
        let tried = climbed(&self.penalties_for(data)?, !target.is_classes(), score)?;
        if tried.is_empty() { self.all_tried(data, folds, run) } else { Ok(tried) }
    }

    /// Penalties with a wider kernel and their scores. What is left of a wide kernel is smaller by the square of the factor, so that
    /// penalties as large as the best for the usual one are the least of interest: larger ones are tried as long as none is worse.
    fn wider(
        &self,
        data: &Dataset<T>,
        factor: f64,
        least: f64,
        folds: &[Vec<usize>],
        run: &Run,
    ) -> Result<Vec<(f64, f64)>> {
        let values = data.y.as_ref().is_some_and(|target| !target.is_classes());
        let mut penalties: Vec<f64> = self.penalties.iter().copied().filter(|p| *p > least).collect();
        penalties.sort_by(f64::total_cmp);
        let penalties = if penalties.is_empty() { vec![least] } else { penalties };
        climbed(&penalties, values, |penalty| {
            let point = Point::default().with("penalty", penalty).with("gamma-factor", factor);
            self.score_of(data, point, folds, run)
        })
    }

    /// The mean score of a point on the folds; `None` where its penalty is too large for the precision.
    fn score_of(&self, data: &Dataset<T>, point: Point, folds: &[Vec<usize>], run: &Run) -> Result<Option<f64>> {
        match self.closed_scores(data, &[point], folds, &quiet(run)) {
            Err(Error::Singular { .. }) => Ok(None),
            scores => Ok(scores?.first().map(|s| mean(s))),
        }
    }

    /// All penalties at once, or the machine as it is where it has none to choose from. The largest, which come last, may be too
    /// large for the precision: they are left out.
    fn all_tried(&self, data: &Dataset<T>, folds: &[Vec<usize>], run: &Run) -> Result<Vec<(f64, f64)>> {
        let mut penalties = self.penalties_for(data)?;
        loop {
            let mut points: Vec<Point> = penalties.iter().map(|p| Point::default().with("penalty", *p)).collect();
            points = if points.is_empty() { vec![Point::default()] } else { points };
            match self.closed_scores(data, &points, folds, &quiet(run)) {
                Err(Error::Singular { .. }) if penalties.len() > 1 => _ = penalties.pop(),
                scores => {
                    let scores: Vec<f64> = scores?.iter().map(|s| mean(s)).collect();
                    return Ok(penalties.into_iter().chain([f64::NAN]).zip(scores).collect());
                }
            }
        }
    }

    /// Nodes with the share of their features that was given, or with the best of a few on a held-out third of the labels, and
    /// how that was chosen.
    fn weighed(&self, data: Dataset<T>, run: &Run) -> Result<(Dataset<T>, Option<Chosen>)> {
        if !has_features(&data) {
            return Ok((data, None));
        }
        if let Some(weight) = self.weight {
            return Ok((data.with_feature_weight(weight)?, None));
        }
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        if target.known().len() < ENOUGH || smallest_class(target) < FOLDS {
            return Ok((data, None));
        }
        let (known, some) = (target.known().len(), self.searched(&data, run)?);
        let target = some.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let mut folds = deal(Some(target), FOLDS, run.seed, Purpose::PenaltyFolds)?;
        folds.truncate(1);
        let values = !target.is_classes();
        let mut scores = Vec::new();
        for weight in WEIGHTS {
            let found = self.tried(&some.with_feature_weight(weight)?, &folds, run)?;
            scores.push((weight, found[best(&found, values)].1));
        }
        let weight = scores[best(&scores, values)].0;
        let part = searched::remark(known, target.known().len());
        let why = format!("feature-weight {weight}, by held-out {} of {}{part}", measure(values), listed(&scores));
        let choice = Choice::new("feature-weight", measure(values), scores, weight);
        Ok((data.with_feature_weight(weight)?, Some((why, choice))))
    }

    /// Scores of points that say everything, each fold prepared by the rows outside of it.
    fn closed_scores(
        &self,
        data: &Dataset<T>,
        points: &[Point],
        folds: &[Vec<usize>],
        run: &Run,
    ) -> Result<Vec<Vec<f64>>> {
        if !self.changes(data) {
            return validated(&*self.inner, data, (points, folds), run);
        }
        let target = data.y.as_ref().ok_or_else(super::scoring::no_target)?;
        let mut out = vec![Vec::new(); points.len()];
        for fold in folds {
            let Some(preparation) = self.preparation(data, Some(&hidden(target, fold)))? else { continue };
            let cases = (points, std::slice::from_ref(fold));
            let scores = validated(&*self.inner, &*preparation.apply(data)?, cases, run)?;
            out.iter_mut().zip(scores).for_each(|(out, score)| out.extend(score));
        }
        Ok(out)
    }
}

pub(super) fn has_features<T>(data: &Dataset<T>) -> bool {
    data.frame.as_ref().is_some_and(|frame| frame.features.is_some())
}

/// The first penalty, then larger ones as long as none is worse than the best, then smaller ones alike if no larger one was better;
/// each with its score. Large penalties take longest, and most data have no use for them. What has no score is left out, and what
/// lies beyond it.
fn climbed(
    penalties: &[f64],
    values: bool,
    mut score: impl FnMut(f64) -> Result<Option<f64>>,
) -> Result<Vec<(f64, f64)>> {
    let start = penalties[0];
    let mut tried: Vec<(f64, f64)> = score(start)?.into_iter().map(|score| (start, score)).collect();
    for larger in [true, false] {
        let mut side: Vec<f64> = penalties.iter().copied().filter(|p| *p != start && (*p > start) == larger).collect();
        side.sort_by(|a, b| (a - start).abs().total_cmp(&(b - start).abs()));
        for penalty in side {
            let Some(score) = score(penalty)? else { break };
            let worse = tried.get(best(&tried, values)).is_some_and(|(_, most)| is_better(*most, score, values));
            tried.push((penalty, score));
            if worse {
                break;
            }
        }
        if best(&tried, values) > 0 {
            break;
        }
    }
    Ok(tried)
}

/// Where the best score is, the first of equals.
pub(super) fn best(tried: &[(f64, f64)], values: bool) -> usize {
    (1..tried.len()).fold(0, |best, at| if is_better(tried[at].1, tried[best].1, values) { at } else { best })
}

/// The least error of values, the largest share of right classes.
pub(super) fn is_better(a: f64, b: f64, values: bool) -> bool {
    if values { a < b } else { a > b }
}

fn quiet(run: &Run) -> Run {
    Run { watch: run.watch.silent(), ..run.clone() }
}

/// What was tried, each with its score.
fn listed(tried: &[(f64, f64)]) -> String {
    tried.iter().map(|(value, score)| format!("{value}: {score:.4}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn measure(values: bool) -> &'static str {
    if values { "root mean squared error" } else { "micro-F1" }
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
                     {share:.3}: nothing was learned; another kernel, a search over its settings or other features may help"
                )
            })
        }
        Target::Values(values) => no_better_than(score, deviation(&values)),
        Target::Several { values, .. } => {
            let each: Vec<f64> = values.col_iter().map(|c| deviation(&c.iter().copied().collect::<Vec<_>>())).collect();
            no_better_than(score, mean(&each))
        }
    }
}

fn deviation(values: &[f64]) -> f64 {
    let center = mean(values);
    mean(&values.iter().map(|v| (v - center).powi(2)).collect::<Vec<_>>()).sqrt()
}

/// The sentence about an error that is not below the deviation of the values.
fn no_better_than(error: f64, deviation: f64) -> Option<String> {
    (error >= deviation).then(|| {
        let r2 = 1.0 - (error / deviation).powi(2);
        format!("held-out R² is {r2:.2}: the mean alone predicts as well; another kernel or a search over its settings may help")
    })
}

impl<T: Scalar> Estimator<T> for Prepared<T> {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(given)?))
    }

    fn settings(&self) -> Settings {
        let search = (!self.penalties.is_empty()).then_some("auto");
        let machine = self.inner.settings().with_some("penalty", search).with_some("feature-weight", self.weight);
        machine.with_word("scale", self.scale).with_word("impute", self.impute)
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let parts = data.y.as_ref().map_or(0, |target| self.held_out(target)) as f64;
        // A machine that is given a penalty does not look for one.
        let given = self.penalties.first().map(|p| Point::default().with("penalty", *p)).unwrap_or_default();
        let plan = self.inner.with(&given)?.plan(&*self.prepared(data)?, run)?;
        let share = self.share(data) * (FOLDS - 1) as f64 / FOLDS as f64;
        let search = self.inner.validate_seconds(&plan, self.penalties.len(), share);
        // Wider kernels take two penalties each as a rule.
        let wider = self.factors.len() as f64 * self.inner.validate_seconds(&plan, 2, share);
        Ok(Plan { seconds: plan.seconds + parts * (search + wider), ..plan })
    }

    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        self.inner.validate_seconds(plan, penalties, share)
    }

    fn shares_penalties(&self, samples: usize) -> bool {
        self.inner.shares_penalties(samples)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        // Whatever cannot be is told of all samples, not of a part of them, and before anything is allocated.
        self.plan(&data, run)?.check()?;
        run.belongs("fit", || self.settings().to_map(), &data)?;
        let (data, weighed) = self.weighed(data, run)?;
        let note = data.frame.as_ref().and_then(GraphFrame::note);
        let weight = data.frame.as_ref().and_then(|frame| frame.features.as_ref()).map(|features| features.weight);
        let Settled { machine, warning, chosen } = self.settled(&data, run)?;
        let preparation = self.preparation(&data, data.y.as_ref())?;
        let prepared = preparation.as_ref().map(|preparation| preparation.apply(&data)).transpose()?;
        let prepared = prepared.and_then(|prepared| if let Cow::Owned(own) = prepared { Some(own) } else { None });
        let data = Dataset { columns: None, ..prepared.unwrap_or(data) };
        let inner = machine.fit(data, run)?;
        let mut report = inner.report().clone();
        report.warnings.extend(preparation.iter().flat_map(Preparation::remarks).cloned());
        report.warnings.extend(warning);
        report.warnings.extend(note.filter(|note| !inner.report().warnings.contains(note)));
        let (weighed, weights) = weighed.unzip();
        let (settled, penalties) = chosen.unzip();
        let chosen: Vec<String> = weighed.into_iter().chain(report.chosen.or(settled)).collect();
        report.chosen = Some(chosen.join("; ")).filter(|chosen| !chosen.is_empty());
        report.choices.splice(0..0, weights.into_iter().chain(penalties));
        if let Some(weight) = weight {
            report.params.insert("feature-weight".into(), weight.into());
        }
        if self.scale != Scale::None {
            report.params.insert("scale".into(), self.scale.to_string().into());
        }
        if self.impute != Impute::None {
            report.params.insert("impute".into(), self.impute.to_string().into());
        }
        Ok(Box::new(PreparedModel { inner, preparation, report }))
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        self.inner.errors(&*self.prepared(data)?, run)
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        let open = |point: &Point| !self.penalties.is_empty() && point.value("penalty").is_none();
        let own = |point: &Point| PREPARED_SETTINGS.iter().any(|setting| point.value(setting.name).is_some());
        let own = |point: &Point| own(point) || point.value("feature-weight").is_some();
        if points.iter().any(|point| open(point) || own(point)) || (has_features(data) && self.weight.is_none()) {
            return validate_by_fits(self, data, (points, folds), run);
        }
        match self.weight.filter(|_| has_features(data)) {
            Some(weight) => self.closed_scores(&data.with_feature_weight(weight)?, points, folds, run),
            None => self.closed_scores(data, points, folds, run),
        }
    }
}

/// A model that prepares what it is asked about as it prepared what it learned from, with a report of all that was chosen.
pub(super) struct PreparedModel<T> {
    pub(super) inner: Box<dyn Model<T>>,
    pub(super) preparation: Option<Preparation>,
    pub(super) report: FitReport,
}

impl<T: Scalar> PreparedModel<T> {
    /// A model of an archive with the preparation that the archive has, where it has one.
    pub(super) fn of(inner: Box<dyn Model<T>>, archive: &Archive) -> Result<Box<dyn Model<T>>> {
        let Some(preparation) = Preparation::of_archive(archive)? else { return Ok(inner) };
        let report = archive.field("fit")?;
        Ok(Box::new(PreparedModel { inner, preparation: Some(preparation), report }))
    }

    /// What the inner model says of samples that are prepared.
    fn ask<R>(&self, samples: &Dataset<T>, about: impl FnOnce(&Dataset<T>) -> Result<R>) -> Result<R> {
        let Some(preparation) = &self.preparation else { return about(samples) };
        about(&*preparation.apply(samples)?)
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
        let sum = self.inner.kernel_sum()?;
        let Some(preparation) = self.preparation.as_ref().filter(|preparation| preparation.changes()) else {
            return Ok(sum);
        };
        let words = || {
            refused("it turns words into numbers or fills missing values, and only the scale of columns is exported")
        };
        Ok(KernelSum { scale: Some(preparation.scaling().ok_or_else(words)?), ..sum })
    }

    fn embedding(&self) -> Option<&KernelSvdModel<T>> {
        self.inner.embedding()
    }

    fn preparation(&self) -> Option<&Preparation> {
        self.preparation.as_ref().or_else(|| self.inner.preparation())
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
        if let Some(preparation) = &self.preparation {
            preparation.put(&mut archive);
        }
        archive
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PENALTIES: [f64; 5] = [1.0, 0.1, 10.0, 100.0, 1000.0];

    proptest! {
        /// Scores that rise to a peak and fall, with plateaus before it, as those of a majority class.
        #[test]
        fn a_climb_finds_the_peak_that_all_penalties_have(peak in -1i32..4, width in 0i32..3, values: bool) {
            let score = |p: f64| {
                let away = (p.log10().round() as i32 - peak).abs();
                let height = f64::from(-away.min(width + 1));
                Some(if values { -height } else { height })
            };
            let all: Vec<(f64, f64)> = PENALTIES.iter().map(|p| (*p, score(*p).unwrap())).collect();
            let found = climbed(&PENALTIES, values, |p| Ok(score(p))).unwrap();
            prop_assert_eq!(found[best(&found, values)], all[best(&all, values)]);
        }

        #[test]
        fn a_climb_ends_at_what_has_no_score(last in -1i32..4) {
            let score = |p: f64| Some(p).filter(|p| p.log10().round() as i32 <= last);
            let found = climbed(&PENALTIES, false, |p| Ok(score(p))).unwrap();
            prop_assert_eq!(found[best(&found, false)].0.log10().round() as i32, last);
        }
    }

    #[test]
    fn large_penalties_are_not_tried_where_they_are_worse() {
        let found = climbed(&PENALTIES, false, |p| Ok(Some(-p.log10().abs()))).unwrap();
        assert_eq!(found.iter().map(|(p, _)| *p).collect::<Vec<_>>(), [1.0, 10.0, 0.1]);
        assert!(climbed(&PENALTIES, true, |_| Ok(None)).unwrap().is_empty());
    }
}

//! Estimators: data in, a model out.
//!
//! Every estimator has its own typed `fit`. Those that predict a target also stand in one list, [`estimators`], behind the
//! traits [`Estimator`] and [`Model`]: the command line fits, tunes, saves, loads and predicts through them alone.

mod ask_ls;
mod baselines;
mod bicluster;
mod catalogue;
pub mod compat;
mod directions;
pub mod distributions;
mod features;
mod fitted;
mod gram;
mod kernel_machine;
mod kernel_pca;
mod kernel_ridge;
mod kernel_svd;
mod landmarked;
mod learned_compat;
pub mod linear;
pub mod moments;
mod new_values;
pub mod onnx;
mod preparation;
mod prepared;
pub mod recipe;
pub(crate) mod scoring;
pub(crate) mod searched;
pub mod shards;
mod streamed;
mod svd_predictor;

pub use ask_ls::{AskLs, AskLsModel, Merge, Penalty, Symmetrize};
pub use baselines::{Hope, Kpca, LinearSvd, Pca, SolverSpec};
pub use bicluster::{Biclustering, BiclusteringModel, ColumnFeatures};
pub use catalogue::{Learn, Member, catalogue, member};
pub use features::Features;
pub use fitted::{Abilities, Fitted};
pub use gram::{Gram, settings as gram_settings};
pub use kernel_machine::{ClassWeight, KernelLogistic, KernelMachineModel, Svm, SvmKind};
pub use kernel_pca::{KernelPca, KernelPcaModel, NystromFeatures};
pub use kernel_ridge::{KernelRidge, KernelRidgeModel, StreamedRidge};
pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};
pub use landmarked::{
    APPROXIMATION_SETTINGS, Approach, Approximation, Attempt, Comparison, GramErrors, MachineErrors, OwnLandmarks,
    SolutionErrors,
};
pub use learned_compat::{LearnedCompat, LearnedCompatModel, LearningStep, Loss};
pub use preparation::{Described, Impute, Preparation, Scale};
pub use prepared::PREPARED_SETTINGS;
pub use scoring::{Answer, errors_of, score};
pub use streamed::{Sketch, StreamedKernelSvd, StreamedKpca, StreamedModel};
pub use svd_predictor::{Head, SvdPredictor, SvdPredictorModel};

use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::estimators::compat::Compatibility;
use crate::solvers::linsys::Route;
use faer::Mat;
use std::collections::BTreeMap;

/// Settings that differ from the estimator's own: one point of a grid.
pub type Point = Settings;

/// Something that learns to predict a target: the uniform door to every estimator of the list.
///
/// Learns from the row samples whose target is known. The nodes of a graph all take part in whatever is computed without
/// targets; of a table or of two sample sets only the rows with a target do.
pub trait Estimator<T: Scalar>: Send + Sync {
    /// The same estimator with some settings changed.
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] for a setting it does not have, [`crate::Error::Param`] for a value out of range.
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>>;

    /// Its settings, also those that nobody gave; what is found from the data is left out. A recipe makes the same from them.
    fn settings(&self) -> Settings;

    /// What [`Estimator::fit`] would do, without doing it.
    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan>;

    /// Seconds of [`Estimator::validate`] for so many penalties and one fold, which leaves a share of the samples to learn from, for
    /// an estimator with this plan. Provided: one fit per penalty, whose cost grows with the square of the samples.
    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        penalties as f64 * share * share * plan.seconds
    }

    /// Whether [`Estimator::validate`] gives many penalties for little more than one, with so many samples to learn from. Provided: no.
    fn shares_penalties(&self, _samples: usize) -> bool {
        false
    }

    /// Learns; the samples become part of the model.
    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>>;

    /// How far landmarks lead away from the exact machine; `None` for an estimator that does not tell. Provided: none.
    fn errors(&self, _data: &Dataset<T>, _run: &Run) -> Result<Option<MachineErrors>> {
        Ok(None)
    }

    /// The [`score`] of each point on each fold, learned without the fold: a row per point.
    ///
    /// Nothing of a fold is seen: whatever is estimated from samples (gamma's rules, means, normalisers, compatibility,
    /// landmarks) or targets (weights of classes and of stacking, sigmoids) is estimated from the other rows. Of a graph and of
    /// a square precomputed matrix all samples are input, and the fold's targets alone are unknown; landmarks of the user's own
    /// are settings, wherever they lie.
    ///
    /// Provided: one fit per point and fold. An override shares work between points and gives the same scores.
    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        validate_by_fits(self, data, (points, folds), run)
    }
}

/// What an [`Estimator`] learned.
pub trait Model<T: Scalar>: Send + Sync {
    /// What is predicted.
    fn answer(&self) -> &Answer;

    /// A row of decision values for each row sample: one per class, the largest wins, or the value itself.
    ///
    /// For the model of a graph the samples are nodes, with their names and both sides; of a node that the model knows
    /// only the name counts.
    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>>;

    /// A row of class probabilities for each row sample; `None` for a model without. Provided: none.
    fn probabilities(&self, _samples: &Dataset<T>, _run: &Run) -> Result<Option<Mat<f64>>> {
        Ok(None)
    }

    /// Whether [`Model::probabilities`] has any. Provided: no.
    fn has_probabilities(&self) -> bool {
        false
    }

    /// How the columns of a table become the samples of [`Model::embedding`], where they go through anything. Provided: none.
    fn preparation(&self) -> Option<&Preparation> {
        None
    }

    /// The embedding of prepared samples it predicts from, where there is one. Provided: none.
    fn embedding(&self) -> Option<&KernelSvdModel<T>> {
        None
    }

    /// The model as a sum of kernels, which other runtimes can compute. Provided: refused.
    ///
    /// # Errors
    /// [`crate::Error::Export`] for a model that is none.
    fn kernel_sum(&self) -> Result<onnx::KernelSum<T>> {
        Err(onnx::refused("its predictions are no sum of kernels"))
    }

    /// The graph it was learned from, where it was one.
    fn frame(&self) -> Option<&GraphFrame>;

    /// How the fit went.
    fn report(&self) -> &FitReport;

    /// The model as arrays and metadata.
    fn archive(&self) -> Archive;
}

/// How a fit went: part of the model.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FitReport {
    /// Settings, also those found from the data.
    pub params: BTreeMap<String, serde_json::Value>,
    /// Samples whose target was learned.
    pub n_train: usize,
    /// Condition number of the linear system that was solved.
    pub condition: Option<f64>,
    /// What a user should know, in sentences.
    pub warnings: Vec<String>,
    /// What was chosen from the data, and by what; files of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// The same in numbers: every choice with what was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Whether every tolerance was reached.
    pub converged: bool,
}

/// A setting that was chosen from the data, with the values that were tried.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Choice {
    /// Its name.
    pub setting: String,
    /// What the values were judged by, on held-out samples.
    pub measure: String,
    /// The values with their scores, in the order in which they were tried.
    pub tried: Vec<(f64, f64)>,
    /// The best of them.
    pub chosen: f64,
}

impl Choice {
    /// A choice; what has no score is left out, as files know no such numbers.
    fn new(setting: &str, measure: &str, tried: impl IntoIterator<Item = (f64, f64)>, chosen: f64) -> Self {
        let tried = tried.into_iter().filter(|(value, score)| value.is_finite() && score.is_finite()).collect();
        Choice { setting: setting.into(), measure: measure.into(), tried, chosen }
    }
}

/// What any estimator of the list is made from; each takes what concerns it.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Kernel, rank, solver, memory.
    pub svd: KernelSvd,
    /// How the rows and columns of a table become comparable.
    pub compat: Compatibility,
}

impl Recipe {
    /// What makes the kernel matrix of a machine.
    fn gram(&self) -> Gram {
        self.svd.gram.clone()
    }

    /// The tolerance of the machine, where one was given.
    fn tol(&self) -> Option<f64> {
        self.svd.solver_params.get("tol")
    }

    /// How coupled systems are solved: by so many triplets with a solver that finds no more.
    fn route(&self) -> Route {
        if self.svd.solver == "nystrom" { Route::LowRank(self.svd.rank) } else { Route::Auto }
    }
}

/// One estimator of the list.
pub struct EstimatorEntry<T> {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Settings that [`Estimator::with`] knows besides those of the kernel, in groups that several estimators have.
    pub settings: &'static [&'static [Setting]],
    /// What its models can do, those with the right settings at least.
    pub can: Abilities,
    /// Whether it can learn from a file in passes, without holding it ([`shards`]).
    pub streams: bool,
    /// Its kernel unless the user says otherwise.
    pub kernel: &'static str,
    /// Penalties to choose from where none is given: of classes, of values. None: it chooses itself, or has none.
    pub penalties: [&'static [f64]; 2],
    /// Makes one.
    pub build: fn(Recipe) -> Box<dyn Estimator<T>>,
    /// Reads its model.
    pub load: fn(&Archive) -> Result<Box<dyn Model<T>>>,
}

impl<T> EstimatorEntry<T> {
    /// Whether [`Estimator::with`] knows a setting.
    pub fn has(&self, setting: &str) -> bool {
        self.all_settings().iter().any(|known| known.name == setting)
    }

    /// Everything that [`Estimator::with`] knows: what a grid may vary.
    pub fn all_settings(&self) -> Vec<Setting> {
        gram::settings().into_iter().chain(self.settings.concat()).collect()
    }
}

/// All estimators that predict. The order is the order of every listing.
///
/// ```
/// use lopsided::estimators::estimators;
///
/// let names: Vec<&str> = estimators::<f64>().iter().map(|entry| entry.name).collect();
/// assert_eq!(names[..3], ["kernel-svd", "ask-ls", "ls-svm"]);
/// ```
pub fn estimators<T: Scalar>() -> Vec<EstimatorEntry<T>> {
    vec![
        svd_predictor::entry(),
        ask_ls::entry(),
        ask_ls::symmetric_entry(),
        kernel_machine::svm_entry(),
        kernel_machine::nu_entry(),
        kernel_machine::logistic_entry(),
        kernel_ridge::entry(),
    ]
}

/// Penalties beside kernel values of about 1; of equals the first is taken.
const KERNEL_PENALTIES: &[f64] = &[1.0, 0.1, 10.0, 100.0, 1000.0];

/// What predicts, and says how sure it is.
const PROBABLE: Abilities =
    Abilities { predict: true, probabilities: true, transform_rows: false, transform_cols: false, clusters: false };

/// Points to score, and the folds to score them on.
type Cases<'a> = (&'a [Point], &'a [Vec<usize>]);
/// The score of every point on every fold.
type Table = Vec<Vec<f64>>;

/// The scores of [`Estimator::validate`] by one fit per point and fold.
fn validate_by_fits<T, E>(estimator: &E, data: &Dataset<T>, cases: Cases<'_>, run: &Run) -> Result<Table>
where
    T: Scalar,
    E: Estimator<T> + ?Sized,
{
    let (points, folds) = cases;
    let target = data.y.as_ref().ok_or_else(scoring::no_target)?;
    let one = |point: &Point, fold: &Vec<usize>, run: &Run| {
        let hidden = Dataset { y: Some(scoring::hidden(target, fold)), ..data.clone() };
        let model = estimator.with(point)?.fit(hidden, run)?;
        Ok(vec![score(&target.rows(fold), model.decision(&data.rows(fold), run)?.as_ref())])
    };
    let row = |(at, point): (usize, &Point)| {
        let one = |(number, fold)| {
            Ok(run.remembered_numbers(&format!("point {at} fold {number}"), |run| one(point, fold, run))?[0])
        };
        folds.iter().enumerate().map(one).collect()
    };
    points.iter().enumerate().map(row).collect()
}

/// The scores of [`Estimator::validate`], of which a checkpoint keeps those of each fold under a place of their own; with fewer
/// landmarks where all of them are more samples than are left to learn from.
pub(crate) fn validated<T: Scalar>(
    estimator: &dyn Estimator<T>,
    data: &Dataset<T>,
    cases: Cases<'_>,
    run: &Run,
) -> Result<Table> {
    let (points, folds) = cases;
    let fewer = fewer_landmarks(estimator, data, folds)?;
    let estimator = fewer.as_deref().unwrap_or(estimator);
    if !run.checkpoint.is_on() {
        return estimator.validate(data, points, folds, run);
    }
    let mut print = Fingerprint::default();
    print.debug(&(T::NAME, run.seed, estimator.settings(), points, folds));
    print.word(data.fingerprint());
    estimator.validate(data, points, folds, &run.within(format!("scores {print}")))
}

/// The estimator with as many landmarks as the smallest part that is learned from has samples, if it has more.
fn fewer_landmarks<T: Scalar>(
    estimator: &dyn Estimator<T>,
    data: &Dataset<T>,
    folds: &[Vec<usize>],
) -> Result<Option<Box<dyn Estimator<T>>>> {
    let known = data.y.as_ref().map_or(0, |target| target.known().len());
    let least = folds.iter().map(|fold| known.saturating_sub(fold.len())).min().unwrap_or(known);
    let more = estimator.settings().get("landmarks").is_some_and(|count| count > least as f64);
    (more && least > 0).then(|| estimator.with(&Settings::default().with("landmarks", least))).transpose()
}

/// The weight of the errors.
const PENALTY: Setting = Setting::new(
    "penalty",
    "weight of the errors beside the size of the function: larger fits closer",
    "a number above 0, or auto",
    "auto, by held-out samples",
);

/// The model of an archive, whatever estimator of the list wrote it.
///
/// # Errors
/// [`crate::Error::Archive`] for a model that cannot predict or is damaged.
///
/// # Example
/// ```
/// use lopsided::estimators::{KernelRidge, Model, load_model};
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Samples::Dense(Mat::from_fn(6, 1, |i, _| i as f64));
/// let data = Dataset { y: Some(Target::Values(vec![0.0, 1.0, 0.0, 1.0, 0.0, 1.0])), ..Dataset::new(x) };
/// let model = KernelRidge::new("rbf").fit(data.clone(), &Run::default())?;
/// let again = load_model::<f64>(&model.archive())?;
/// let (before, after) = (model.decision(&data, &Run::default())?, again.decision(&data, &Run::default())?);
/// assert!((before - after).norm_max() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn load_model<T: Scalar>(archive: &Archive) -> Result<Box<dyn Model<T>>> {
    let name: String = archive.field("estimator")?;
    match estimators::<T>().iter().find(|entry| entry.name == name) {
        Some(entry) => prepared::PreparedModel::of((entry.load)(archive)?, archive),
        None => Err(archive.error(format!("is a model of `{name}`, which does not predict"))),
    }
}

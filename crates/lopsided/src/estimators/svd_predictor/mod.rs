//! Kernel SVD features with a linear machine on top: estimator, model, cross-validation.
//!
//! | input | what is embedded | features | new samples |
//! | --- | --- | --- | --- |
//! | graph | all nodes, also those without target | \[U·Σ^p, V·Σ^p\] | both projections of their links |
//! | table | the labelled rows against each other, or against 1000 of them | U·Σ^p | the projection of the row |
//! | table with a compatibility | the labelled rows against the columns of the table | U·Σ^p | the projection of the row |
//! | two sample sets | the labelled rows against Z | U·Σ^p | the projection of the row |
//! | precomputed G | the labelled rows of G | U·Σ^p | the projection of the row |
//!
//! A reader starts with [`SvdPredictor`]; [`SvdPredictorModel`] is a kernel SVD with a [`Head`] on it, and its
//! file is that of the kernel SVD with a few arrays more, so that it can be read as an embedding too.

mod model;
mod validate;

pub use model::{Head, SvdPredictorModel};

use super::gram;
use super::kernel_svd::{KernelSvd, Plan};
use super::linear::{self, LinearLsSvm};
use super::recipe::Usual;
use super::scoring::{Answer, Known};
use super::{Abilities, Estimator, EstimatorEntry, FitReport, Model, Point, Recipe};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::{Setting, Settings};
use crate::data::dataset::Dataset;
use crate::estimators::compat::{Compat, Compatibility};
use faer::Mat;
use model::features;
use rand::seq::index;
use std::collections::BTreeMap;

/// Settings that a grid may vary.
const SETTINGS: [Setting; 3] = [
    Setting::new(
        "rank",
        "number of components",
        "between 1 and the smaller side of G",
        "100, on graphs up to 200 by the number of nodes, a third of the rows of a small table, or the smaller side of G",
    ),
    Setting::new(
        "scaling",
        "scales components by the singular values",
        "none, sqrt or full",
        "sqrt for rows of tables, else none",
    ),
    Setting::new(
        "penalty",
        "weight of the errors beside the size of the function: larger fits closer",
        "a number above 0, or auto",
        "auto, by held-out samples",
    ),
];
/// Rows of a table that all rows are compared with, where there are more.
pub(super) const COMPARED: usize = 1000;
/// Penalty for classes unless one is given, as in \[KSVD\] §4.1.
const CLASSES_PENALTY: f64 = 1.0;
/// Penalty for values unless one is given: singular vectors have unit length, so 1 would halve every prediction.
const VALUES_PENALTY: f64 = 1e4;

/// Predicts classes or values from kernel SVD features by a linear least-squares machine (\[KSVD\] §4.1, §4.3).
///
/// The features of a node are \[U·Σ^p, V·Σ^p\], those of a row sample U·Σ^p; a one-vs-rest [`LinearLsSvm`] learns classes, ridge
/// regression values. All nodes of a graph are embedded, also those without target; of a table or of two sample sets only
/// the rows with a target are, and new rows are placed by the projection of [`super::KernelSvdModel::project_rows`].
///
/// 1. The rows with a target are found; those of a table are compared with each other, with 1000 of them where there are more, or
///    with the columns of the table, which a [`Compatibility`] makes comparable.
/// 2. The kernel SVD of the samples gives features.
/// 3. The linear machine is fitted on the features of the labelled samples.
///
/// Scaling and penalty act together: features times s with the penalty γ are the same machine as features with
/// γ·s².
///
/// ```
/// use lopsided::estimators::{Model, SvdPredictor};
/// use lopsided::data::synth::CyclicGraph;
/// use lopsided::{Dataset, GraphRule, KernelSvd, Run, Target};
///
/// let (graph, classes) = CyclicGraph { nodes: 300, ..CyclicGraph::default() }.generate()?;
/// let names = (0..4).map(|c| c.to_string()).collect();
/// let codes = classes.iter().enumerate().map(|(i, c)| (i % 2 == 0).then_some(*c)).collect();
/// let mut data = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?;
/// data.y = Some(Target::Classes { names, codes });
/// let model = SvdPredictor::new(KernelSvd::new("sne").with_rank(8)).fit(data, &Run::default())?;
/// let newcomer = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?.rows(&[1]);
/// assert_eq!(model.decision(&newcomer, &Run::default())?.shape(), (1, 4));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SvdPredictor {
    /// The features.
    pub svd: KernelSvd,
    /// How the rows and columns of a table become comparable, or none: rows are compared with rows. Not used for graphs, two
    /// sample sets and precomputed G.
    pub compat: Compatibility,
    /// Weight of the errors; `None`: 1 for classes, 10⁴ for values.
    pub penalty: Option<f64>,
}

setters!(SvdPredictor: with_svd(svd: KernelSvd), with_compat(compat: Compatibility),
    with_penalty(penalty: f64 => Some(penalty)));

impl Default for SvdPredictor {
    /// What the recipe makes where nothing is said, but for the penalty.
    fn default() -> Self {
        SvdPredictor::new(Usual::ROWS.svd())
    }
}

impl SvdPredictor {
    /// Rows of tables are compared with each other, default penalty.
    ///
    /// The default penalty is 1 for classes, as in \[KSVD\] §4.1. Columns of features have unit length, so that 1
    /// would halve every prediction of values: they have 10⁴. The recipe called `kernel-svd` ([`super::member`]) tries several on
    /// held-out rows unless one is given.
    pub fn new(svd: KernelSvd) -> Self {
        SvdPredictor { svd, compat: Compatibility::new(Compat::None), penalty: None }
    }

    /// Fits features and machine.
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`]; [`Error::Param`] without targets, for one class only and for a penalty that is not above 0.
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<SvdPredictorModel<T>> {
        data.refuse_weights("kernel-svd")?;
        let known = Known::of(data.y.as_ref())?;
        let machine = LinearLsSvm { penalty: self.penalty_for(&known.answer)? };
        let data = self.prepared(data, &known.rows, run)?;
        // Only the rows with a target are left, unless the samples are nodes.
        let rows = if data.frame.is_some() { known.rows } else { (0..data.x.count()).collect() };
        let svd = self.svd.fit(data, run)?;
        if svd.singular_values().is_empty() {
            return Err(Error::param("rank", "0 for these samples", "at least 1: their kernel values are all zero"));
        }
        let all = features(&svd);
        let features = Mat::from_fn(rows.len(), all.ncols(), |i, j| all[(rows[i], j)]);
        let linear = machine.fit_targets(features.as_ref(), known.y.as_ref())?;
        let report = FitReport {
            params: self.params(&svd, machine.penalty),
            n_train: rows.len(),
            condition: machine.condition(features.as_ref()),
            warnings: svd.report().notes.clone(),
            chosen: None,
            choices: Vec::new(),
            converged: svd.report().converged(),
        };
        Ok(SvdPredictorModel { svd, head: Head { linear, answer: known.answer, report } })
    }

    /// The penalty that was given, or the default of the answer.
    fn penalty_for(&self, answer: &Answer) -> Result<f64> {
        let default = if *answer == Answer::Values { VALUES_PENALTY } else { CLASSES_PENALTY };
        let penalty = self.penalty.unwrap_or(default);
        linear::check_penalty(penalty).map(|()| penalty)
    }

    /// What is embedded: all nodes of a graph; else the listed rows, unless there are column samples or the kernel compares nothing
    /// against each other or against the columns of their matrix.
    fn prepared<T: Scalar>(&self, data: Dataset<T>, rows: &[usize], run: &Run) -> Result<Dataset<T>> {
        if data.frame.is_some() {
            return Ok(data);
        }
        let data = if rows.len() == data.x.count() { data } else { data.rows(rows) };
        if data.z.is_some() || self.svd.gram.kernel.is_precomputed() {
            return Ok(data);
        }
        if self.compat.kind == Compat::None {
            let count = data.x.count();
            let mut rng = random::generator(run.seed, Purpose::ColLandmarks);
            let few = (count > COMPARED).then(|| index::sample(&mut rng, count, COMPARED).into_vec());
            let z = few.map(|few| data.x.as_ref().select(&few));
            return Ok(Dataset { z, col_ids: None, ..data });
        }
        let compared = Dataset::from_matrix_with(data.x, &self.compat, run)?;
        Ok(Dataset { y: data.y, row_ids: data.row_ids, col_ids: data.col_ids, ..compared })
    }

    /// What the report says; the compatibility only where there is a map.
    fn params<T: Scalar>(&self, svd: &super::KernelSvdModel<T>, penalty: f64) -> BTreeMap<String, serde_json::Value> {
        let mut params: BTreeMap<String, serde_json::Value> = svd.kernel.as_params().collect();
        params.insert("kernel".into(), svd.kernel.name.clone().into());
        params.insert("rank".into(), svd.singular_values().len().into());
        params.insert("scaling".into(), svd.scaling.to_string().into());
        params.insert("center".into(), svd.is_centered().into());
        params.insert("penalty".into(), penalty.into());
        if svd.data.maps.rows.is_some() || svd.data.maps.cols.is_some() {
            params.insert("compat".into(), self.compat.kind.to_string().into());
        }
        params
    }

    /// The same with some settings changed.
    fn at(&self, given: &Settings) -> Result<Self> {
        given.refuse_unknown(&[&gram::settings(), &SETTINGS])?;
        let gram = self.svd.gram.with(given)?;
        let rank =
            given.value("rank").map_or(Ok(self.svd.rank), |_| given.count("rank", 1).map(|rank| rank as usize))?;
        let scaling = given.word("scaling")?.unwrap_or(self.svd.scaling);
        let penalty = given.value("penalty").map(|_| given.positive("penalty", None)).transpose()?.or(self.penalty);
        let svd = KernelSvd { gram, rank, scaling, ..self.svd.clone() };
        Ok(SvdPredictor { svd, penalty, compat: self.compat })
    }
}

impl<T: Scalar> Estimator<T> for SvdPredictor {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(given)?))
    }

    fn settings(&self) -> Settings {
        self.svd.settings().and(&self.compat.settings()).with_some("penalty", self.penalty)
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let known = Known::of(data.y.as_ref())?;
        self.penalty_for(&known.answer)?;
        self.svd.plan(&self.prepared(data.clone(), &known.rows, run)?, run)
    }

    /// Ranks and penalties share a decomposition, and so do the folds of a graph.
    fn validate_seconds(&self, plan: &Plan, _: usize, share: f64) -> f64 {
        0.5 * share * plan.seconds
    }

    fn shares_penalties(&self, _: usize) -> bool {
        true
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        validate::scores(self, data, (points, folds), run)
    }
}

/// The entry of the list.
pub(super) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "kernel-svd",
        about: "G = U Σ Vᵀ with G[i, j] = k(x_i, z_j): features U for rows, V for columns; to predict, a linear LS-SVM or ridge regression on them",
        settings: &[&SETTINGS],
        can: Abilities { predict: true, transform_rows: true, transform_cols: true, ..Abilities::default() },
        streams: false,
        kernel: "rbf",
        // Larger ones than these are too large for the precision where features depend on each other.
        penalties: [&[1.0, 0.1, 10.0, 100.0, 1000.0], &[1.0, 10.0, 100.0, 1000.0, 1e4]],
        build: |recipe: Recipe| Box::new(SvdPredictor { svd: recipe.svd, compat: recipe.compat, penalty: None }),
        load: |archive| Ok(Box::new(SvdPredictorModel::<T>::from_archive(archive)?)),
    }
}

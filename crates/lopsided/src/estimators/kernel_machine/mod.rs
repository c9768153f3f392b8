//! Classification machines on a symmetric or symmetrised kernel matrix: C-SVM, ν-SVM and logistic regression.
//!
//! With landmarks they are linear machines on features F, whose functions are those of LLA or GSA (\[NKM\]): the C-SVM by dual
//! coordinate descent, the ν-SVM on K̃ = F·Fᵀ, which is never formed, with w = Fᵀ·c, logistic regression by Newton's method.
//! GSA carries w over to all samples, α = G⁺·w, also for a pair of classes, whose machine learned from theirs alone.
//!
//! A reader starts with [`Svm`] or [`KernelLogistic`]; both give a [`KernelMachineModel`].
//!
//! | machine | minimises | exact solver | probabilities |
//! | --- | --- | --- | --- |
//! | `Svm`, C | ‖f‖²/2 + C·Σ max(0, 1 − y·f) | SMO on rows of K | sigmoids, on request |
//! | `Svm`, ν | the same with a free margin, ν bounding its errors | SMO on rows of K | sigmoids, on request |
//! | `KernelLogistic` | ‖f‖²/2 + C·Σ log-loss, all classes together | Newton with products | always, by softmax |
//!
//! How the parts work together:
//!
//! 1. A `Frame` holds what all machines share: the kernel, how it becomes symmetric, weights of classes, the
//!    approximation.
//! 2. It makes a `Task` of the labelled samples: their classes and weights, and the space that is learned in,
//!    which is the symmetric kernel matrix or, with landmarks, features.
//! 3. The machine (`pairs`, `logistic`) turns the task into `Learned`: one column of coefficients and a bias
//!    for each function.
//! 4. The frame makes a model of it, in coefficients of the original K, so that predictions need kernel values
//!    only.
//!
//! `validate` runs the same steps for a grid, with one kernel matrix or one set of features for all machines
//! that can share it.

/// What an estimator says whose settings are read by `at` and whose plan is that of its `frame`.
macro_rules! framed {
    () => {
        fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
            Ok(Box::new(self.at(given)?))
        }

        fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
            self.frame().plan(data, run)
        }

        fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
            Ok(Box::new(self.fit(data, run)?))
        }
    };
}

mod class_weight;
mod landmarks;
mod logistic;
mod model;
mod pairs;
mod svm;
mod validate;

pub use class_weight::ClassWeight;
pub use logistic::KernelLogistic;
pub use model::KernelMachineModel;
pub use svm::{Svm, SvmKind};

pub(super) use landmarks::Labelled;
pub(super) use logistic::entry as logistic_entry;
pub(super) use svm::{entry as svm_entry, nu_entry};

use super::ask_ls::{AskLsModel, Functions, Merge, Merger, Symmetrize, Symmetrized, check_square, training, unfolded};
use super::landmarked::{APPROXIMATION_SETTINGS, Approach, Approximation};
use super::scoring::{Answer, Known, no_target};
use super::{Estimator, EstimatorEntry, FitReport, KERNEL_PENALTIES, Model, PENALTY, PROBABLE, Point, Recipe, gram};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::dataset::{Dataset, Target};
use crate::estimators::gram::Gram;
use crate::estimators::kernel_svd::Plan;
use crate::kernel::KernelSpec;
use crate::operator::{KernelMatrix, Operator, Submatrix, Widened};
use crate::solvers::linsys::{CoupledSolution, SystemReport};
use crate::solvers::svm::MultiClass;
use faer::{Mat, MatRef};
use model::{Functions as MachineFunctions, Output};
use std::collections::BTreeMap;

/// How an asymmetric kernel becomes symmetric.
const SYMMETRIZE: Setting = Setting::new(
    "symmetrize",
    "symmetric kernel matrix: average for (K + Kᵀ)/2, columns for KᵀK, rows for KKᵀ",
    "average, columns or rows",
    "average",
);
/// Weights of classes.
pub(super) const CLASS_WEIGHT: Setting = Setting::new(
    "class-weight",
    "how much the samples of a class count",
    "balanced, or NAME=WEIGHT,… where classes that are not named count 1",
    "every class counts 1",
);

/// Makes a machine from a recipe.
type Build<T> = fn(Recipe) -> Box<dyn Estimator<T>>;

/// The entry of a machine: the RBF kernel, probabilities, and a model of this module.
fn entry_of<T: Scalar>(
    name: &'static str,
    about: &'static str,
    settings: &'static [&'static [Setting]],
    build: Build<T>,
) -> EstimatorEntry<T> {
    EstimatorEntry {
        name,
        about,
        settings,
        can: PROBABLE,
        streams: name != "nu-svm",
        kernel: "rbf",
        penalties: [KERNEL_PENALTIES; 2],
        build,
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}

/// What all these machines have in common.
struct Frame<'a> {
    name: &'static str,
    gram: &'a Gram,
    symmetrize: Symmetrize,
    class_weight: &'a ClassWeight,
    approximation: &'a Approximation,
    /// `None` for one machine that needs all of K again and again.
    machines: Option<TwoClass>,
    /// Products with one vector that the exact machine takes, where G is evaluated and where it is sparse, and seconds for each
    /// feature of each sample that one with landmarks takes: what `benchsuite/plans.py` finds.
    effort: ((f64, f64), f64),
}

/// Two-class machines that look at parts of K.
#[derive(Clone, Copy)]
struct TwoClass {
    way: MultiClass,
    /// Violation of the optimality conditions that is allowed, divided by the bound of the coefficients.
    slack: f64,
}

impl TwoClass {
    /// Whether about every entry of K is asked for once, so that none is stored.
    fn looks_once(&self, classes: usize) -> bool {
        self.way == MultiClass::OneVsOne || classes == 2
    }

    /// How much entries of K may be off: errors of n of them, each times a coefficient, add up like √n of them, and are to stay
    /// below half of the violation, though all were the largest.
    fn accuracy(&self, codes: &[u32], weights: Option<&[f64]>) -> f64 {
        let most = weights.map_or(1.0, |w| w.iter().copied().fold(0.0, f64::max));
        let mut counts: Vec<usize> = codes.chunk_by(|a, b| a == b).map(<[u32]>::len).collect();
        counts.sort_unstable();
        let n = match self.way {
            MultiClass::OneVsOne => counts.iter().rev().take(2).sum(),
            MultiClass::OneVsRest => codes.len(),
        };
        self.slack / (2.0 * most * (n as f64).sqrt())
    }
}

/// The samples that a machine learns from.
pub(super) struct Task<'a> {
    /// The kernel matrix or the features.
    space: Space<'a>,
    /// Class of each sample.
    codes: &'a [u32],
    /// Names of all classes; some may have no sample.
    names: &'a [String],
    /// What each sample counts, its class included; `None`: all the same.
    weights: Option<&'a [f64]>,
}

/// Where it learns.
#[derive(Clone, Copy)]
pub(super) enum Space<'a> {
    /// The symmetric kernel matrix of the samples.
    Kernel(&'a dyn Operator<f64>),
    /// Their features, a row each.
    Features(MatRef<'a, f64>),
}

/// What a machine learned about a [`Task`]: a column of coefficients, of samples or of features, and a bias for each function.
pub(super) struct Learned {
    /// One column for each function.
    pub(super) coefficients: Mat<f64>,
    /// One number for each function.
    pub(super) bias: Vec<f64>,
    /// How classes follow from the functions.
    output: Output,
    /// What the report says about the machine.
    params: Vec<(&'static str, serde_json::Value)>,
    warnings: Vec<String>,
    converged: bool,
}

impl Frame<'_> {
    /// The classes to learn.
    fn known(&self, target: Option<&Target>) -> Result<Known> {
        let known = Known::of(target)?;
        if known.answer == Answer::Values {
            let allowed = format!("classes for `{}`; `ls-svm` and `ask-ls` learn values", self.name);
            return Err(Error::param("labels", "values", allowed));
        }
        Ok(known)
    }

    /// What a fit would cost: all of K for the exact machine, landmarks else.
    fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let known = self.known(data.y.as_ref())?;
        if self.approach() != Approach::Exact {
            let kernel = self.problem(data, &known.rows, run)?.kernel;
            let plan = self.settled().plan(kernel, data.x.as_ref(), known.rows.len())?;
            let features = (plan.size.0 * plan.size.1) as f64;
            return Ok(plan.within(self.gram.bytes()).with_more(features * self.effort.1));
        }
        self.gram.plan(&training(data.clone(), &known.rows, self.gram.kernel.is_precomputed()).0, run, self.effort.0)
    }

    /// Everything but the machine itself.
    fn fit<T: Scalar>(
        &self,
        data: Dataset<T>,
        run: &Run,
        learn: impl FnOnce(&Task<'_>) -> Result<Learned>,
    ) -> Result<KernelMachineModel<T>> {
        if self.approach() == Approach::Exact {
            let models = self.fit_exact(data, run, |task| Ok(vec![learn(task)?]))?;
            models.into_iter().next().ok_or_else(no_target)
        } else {
            self.fit_landmarks(&data, run, learn)
        }
    }

    /// Several machines on one kernel matrix. A graph is learned transductively: K holds all nodes, the machines those with a label.
    ///
    /// 1. Labelled samples are put in the order of their classes, so that the rows of K that the machine of a pair
    ///    asks for lie in two pieces of memory.
    /// 2. K is built as accurately as the strictest machine needs its entries, and not stored where every entry is
    ///    asked for about once.
    /// 3. The machines learn on the symmetric block of the labelled samples; a symmetric kernel is taken as it is.
    /// 4. Their coefficients are rewritten for K itself; of a symmetric kernel only the support vectors stay in the
    ///    model.
    fn fit_exact<T: Scalar>(
        &self,
        data: Dataset<T>,
        run: &Run,
        learn: impl FnOnce(&Task<'_>) -> Result<Vec<Learned>>,
    ) -> Result<Vec<KernelMachineModel<T>>> {
        let known = self.known(data.y.as_ref())?;
        data.check_weights()?;
        // Samples of a class side by side: the machine of a pair then has rows of K in two pieces. Where Z belongs to X, they stay.
        let (mut rows, all) = (known.rows, codes(&data));
        if data.z.is_none() {
            rows.sort_by_key(|&i| all[i]);
        }
        let (data, mut train) = training(data, &rows, self.gram.kernel.is_precomputed());
        let all = codes(&data);
        train.sort_by_key(|&i| all[i]);
        let codes: Vec<u32> = train.iter().map(|&i| all[i]).collect();
        let names = known.answer.classes();
        let weights = self.class_weight.applied(data.weights.as_deref(), &train, &codes, names)?;
        let (spec, kernel) = self.gram.built_kernel(&data, run.seed)?;
        let symmetric = self.symmetrize == Symmetrize::Average && data.z.is_none() && spec.is_symmetric();
        let mut matrix = KernelMatrix { reads_entries: true, ..self.gram.matrix(&*kernel, &data, run) };
        if let Some(machines) = self.machines.filter(|_| symmetric) {
            matrix.once = machines.looks_once(names.len());
            matrix.accuracy = machines.accuracy(&codes, weights.as_deref());
        }
        let built = matrix.build()?;
        let whole = Widened(&*built.operator);
        check_square(&whole)?;
        let block = Submatrix::new(&whole, Some(&train), Some(&train));
        let symmetrized = Symmetrized::new(&block, self.symmetrize);
        let k: &dyn Operator<f64> = if symmetric { &block } else { &symmetrized };
        let learned = learn(&Task { space: Space::Kernel(k), codes: &codes, names, weights: weights.as_deref() })?;
        let unfold = |learned: Learned| {
            let way = BTreeMap::from([("symmetrize".to_string(), self.symmetrize.to_string().into())]);
            let mut report = self.report(&spec, train.len(), &learned, way);
            report.warnings.extend(built.notes.iter().cloned());
            let found = unfolded(coupled(learned.coefficients, learned.bias), &block, self.symmetrize)?;
            Ok((found, report, learned.output))
        };
        let learned: Vec<_> = learned.into_iter().map(unfold).collect::<Result<_>>()?;
        let normalizer = built.normalizer.clone();
        drop(built);
        let model = |(mut found, report, output)| {
            let (data, train) = (data.clone(), train.clone());
            let (data, train) = if symmetric { supports(data, train, &mut found) } else { (data, train) };
            let functions = Functions::padded(&found, &train, data.x.count());
            // Both functions of a symmetric kernel are one.
            let merge = if symmetric { Merge::Source } else { self.symmetrize.merge() };
            let (name, merger, answer) = (self.name.into(), Merger::plain(merge), known.answer.clone());
            let (kernel, normalizer) = (spec.clone(), normalizer.clone());
            let functions = AskLsModel { name, kernel, normalizer, data, train, functions, merger, answer, report };
            KernelMachineModel { functions: MachineFunctions::Samples(Box::new(functions)), output }
        };
        Ok(learned.into_iter().map(model).collect())
    }

    /// The settings that all these machines have.
    fn settings(&self) -> Settings {
        let shared = self.gram.settings().and(&self.approximation.settings());
        shared.with_word("symmetrize", self.symmetrize).and(&self.class_weight.settings())
    }

    /// `way`: what the report says about the way there.
    fn report(
        &self,
        spec: &KernelSpec,
        n_train: usize,
        learned: &Learned,
        way: BTreeMap<String, serde_json::Value>,
    ) -> FitReport {
        let mut params = way;
        params.extend(spec.as_params());
        params.insert("kernel".into(), spec.name.clone().into());
        if *self.class_weight != ClassWeight::Equal {
            params.insert("class-weight".into(), self.class_weight.to_string().into());
        }
        params.extend(learned.params.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        let (warnings, converged) = (learned.warnings.clone(), learned.converged);
        FitReport { params, n_train, condition: None, warnings, chosen: None, choices: Vec::new(), converged }
    }
}

/// The samples with a coefficient: all that a function of a symmetric kernel needs.
fn supports<T: Scalar>(data: Dataset<T>, train: Vec<usize>, found: &mut CoupledSolution) -> (Dataset<T>, Vec<usize>) {
    let kept: Vec<usize> = (0..train.len()).filter(|&i| found.b.row(i).iter().any(|c| *c != 0.0)).collect();
    if kept.is_empty() || data.frame.is_some() {
        return (data, train);
    }
    let rows = |m: &Mat<f64>| Mat::from_fn(kept.len(), m.ncols(), |i, j| m[(kept[i], j)]);
    (found.a, found.b) = (rows(&found.a), rows(&found.b));
    let places: Vec<usize> = kept.iter().map(|&i| train[i]).collect();
    (data.rows(&places), (0..kept.len()).collect())
}

/// Class of each sample, 0 where it is unknown.
fn codes<T>(data: &Dataset<T>) -> Vec<u32> {
    match &data.y {
        Some(Target::Classes { codes, .. }) => codes.iter().map(|c| c.unwrap_or(0)).collect(),
        _ => Vec::new(),
    }
}

/// One function on both sides.
fn coupled(b: Mat<f64>, bias: Vec<f64>) -> CoupledSolution {
    CoupledSolution { a: b.clone(), b, bias_target: bias.clone(), bias_source: bias, report: SystemReport::default() }
}

//! Least squares support vector machines with asymmetric kernels: estimator, model, merging, cross-validation.
//!
//! An asymmetric kernel sees every sample twice: as a source x through k(x, ·) and as a target z through
//! k(·, z). AsK-LS (\[AsKLS\] Eq. (5) to (7)) learns one function of each kind by a single linear system and
//! then merges the two. A reader starts with [`AskLs`]; its `fit` gives an [`AskLsModel`], and [`Merge`],
//! [`Symmetrize`] and [`Penalty`] are its choices.
//!
//! | merge | what decides | costs | when |
//! | --- | --- | --- | --- |
//! | `stack` | a regression on held-out (f_s, f_t) | ten systems | graphs, whose sides differ in weight |
//! | `average` | (f_s + f_t)/2 | one system | kernels whose two sides are of one size, such as that of divergences |
//! | `source` | f_s alone | one system, only rows of new samples | the rows say it all, or nothing else is known |
//! | `target` | f_t alone | one system, only columns of new samples | the columns say it all |
//!
//! How the files work together in a fit:
//!
//! 1. `training` says which samples K holds and which of them have a target: all nodes of a graph, else the
//!    labelled rows.
//! 2. `penalty` gives γ: the one that was asked for, or that of the least held-out loss among a few around
//!    1/σ₁.
//! 3. [`crate::solvers::linsys`] solves the coupled system of the labelled block of K, once, or ten times for
//!    stacking.
//! 4. `functions` keeps the coefficients of f_s and f_t, padded with zeros to all samples of K, and evaluates
//!    them.
//! 5. `stack` turns the scores of both functions into decision values.
//!
//! `validate` does the same for all points of a grid on all folds; `nested` is what lets stacking share one
//! decomposition there.

mod functions;
mod model;
mod nested;
mod penalty;
mod stack;
mod validate;

pub(super) use functions::{Functions, Symmetrized, unfolded};
pub use model::AskLsModel;
pub use penalty::Penalty;
pub(super) use stack::Merger;

use super::kernel_machine::{CLASS_WEIGHT, ClassWeight};
use super::scoring::{Answer, Known, deal, hidden};
use super::{Estimator, EstimatorEntry, FitReport, KERNEL_PENALTIES, Model, PROBABLE, Point, Recipe};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::Purpose;
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::dataset::{Dataset, Target};
use crate::data::samples::is_everything;
use crate::estimators::gram::{self, Gram};
use crate::estimators::kernel_svd::Plan;
use crate::estimators::recipe::Usual;
use crate::operator::{Access, KernelMatrix, Operator, Turn, Weighted, Widened};
use crate::solvers::linsys::{
    self, CoupledSolution, CoupledSystem, Limits, OnSingular, Route, SystemReport, check_penalty,
};
use faer::MatRef;
use rayon::prelude::*;
use stack::Scores;

/// Settings that a grid may vary.
const SETTINGS: [&[Setting]; 2] = [&[CHOSEN_PENALTY, symmetrize("none")], &COUPLED];
/// The same of the LS-SVM.
const SYMMETRIC_SETTINGS: [&[Setting]; 2] = [&[CHOSEN_PENALTY, symmetrize("average")], &COUPLED];
const CHOSEN_PENALTY: Setting = Setting::new(
    "penalty",
    "weight of the errors beside the size of the functions: larger fits closer",
    "auto or a number above 0",
    "auto, by held-out samples",
);
const COUPLED: [Setting; 5] = [
    CLASS_WEIGHT,
    Setting::new("merge", "how the two functions become one", "stack, average, source or target", "stack"),
    Setting::new("on-singular", "what is done with a singular system", "tikhonov, min-norm or error", "tikhonov"),
    Setting::new("tikhonov", "λ of Tikhonov's method", "a number above 0", "1"),
    Setting::new("route", "how the system is solved", "auto, svd, dense, krylov, minres or lsmr", "auto"),
];

/// The setting of the symmetrisation, off for AsK-LS and (K + Kᵀ)/2 for the LS-SVM.
const fn symmetrize(default: &'static str) -> Setting {
    let about = "learns with a symmetric kernel matrix: (K + Kᵀ)/2, KᵀK or KKᵀ";
    Setting::new("symmetrize", about, "none, average, columns or rows", default)
}

/// Parts of the training samples for stacking, as in \[AsKLS\].
const FOLDS: usize = 10;
/// Up to this many training samples factors of ten systems fit a gigabyte.
const LIGHT: usize = 1700;

/// How the source function f_s and the target function f_t become one.
///
/// The two functions come from one system but are not equally informative: a node of a graph may have many
/// links in one direction and none in the other, and one of its functions is then hardly more than the bias.
/// Stacking finds from samples that took no part in learning how much each function is worth, class by class;
/// the others take fixed shares.
///
/// ```
/// use lopsided::estimators::Merge;
///
/// assert_eq!("average".parse::<Merge>()?, Merge::Average);
/// assert_eq!(Merge::default().to_string(), "stack");
/// assert!("vote".parse::<Merge>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// A logistic regression on the scores of held-out samples.
    #[default]
    Stack,
    /// (f_s + f_t)/2.
    Average,
    /// f_s alone.
    Source,
    /// f_t alone.
    Target,
}

words!(Merge, "merge": Stack = "stack", Average = "average", Source = "source", Target = "target");

/// A symmetric kernel matrix from an asymmetric one.
///
/// For a kernel k(x, z) = ⟨φ(x), ψ(z)⟩ the product K·Kᵀ compares what two samples see of all others, KᵀK how
/// they are seen; both are positive semidefinite, while the average need not be. For a symmetric K the average
/// is K itself and the products are K². A machine with a symmetrised kernel has one function, which is why none
/// of the ways of [`Merge`] matters to it.
///
/// ```
/// use lopsided::estimators::Symmetrize;
///
/// assert_eq!("rows".parse::<Symmetrize>()?, Symmetrize::Rows);
/// assert_eq!(Symmetrize::Average.to_string(), "average");
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symmetrize {
    /// (K + Kᵀ)/2.
    Average,
    /// Kᵀ·K: samples are alike when they are seen alike.
    Columns,
    /// K·Kᵀ: samples are alike when they see alike.
    Rows,
}

words!(Symmetrize, "symmetrization": Average = "average", Columns = "columns", Rows = "rows");

impl Symmetrize {
    /// A symmetrised kernel has one function: the average of both sides, or one of them.
    pub(super) fn merge(self) -> Merge {
        match self {
            Symmetrize::Average => Merge::Average,
            Symmetrize::Columns => Merge::Target,
            Symmetrize::Rows => Merge::Source,
        }
    }
}

/// AsK-LS: classes or values from two functions, f_s(x) = Σ_j k(x, x_j)·b_j + β_s of a sample as source and
/// f_t(z) = Σ_i k(x_i, z)·a_i + β_t of it as target, found together by one linear system (\[AsKLS\] Eq. (6), see
/// [`crate::solvers::linsys`]) for all classes.
///
/// A graph is learned transductively: K holds all nodes, the system those with a label. With `symmetrize` it is the LS-SVM
/// of the symmetrised kernel: for a symmetric K both functions are one (\[AsKLS\] Proposition 2).
///
/// # Departures
/// The labels are moved out of the matrix, so one factorisation serves all classes; a singular system is said, and solved as
/// `on_singular` asks. Stacking averages the functions of its ten parts, as the paper's authors did.
///
/// # Cost
/// One factorisation of O(n³) for n labelled samples serves all classes, up to 5000 samples; beyond them
/// products with K alone, where these suffice (see [`Route`]). Stacking solves ten systems of 9n/10 samples, beyond 5000 samples
/// all of them with the same products, unless K is sparse.
/// [`Penalty::Auto`] tries at most eight penalties on held-out parts, with one decomposition for all parts of up to 1000 rows of a
/// table, with one path of penalties for each part otherwise, and on 2000 rows of a longer table.
///
/// ```
/// use lopsided::estimators::{AskLs, Model};
/// use lopsided::data::synth::CyclicGraph;
/// use lopsided::{Dataset, GraphRule, Run, Target};
///
/// let (graph, classes) = CyclicGraph { nodes: 300, ..CyclicGraph::default() }.generate()?;
/// let names = (0..4).map(|c| c.to_string()).collect();
/// let codes = classes.iter().enumerate().map(|(i, c)| (i % 2 == 0).then_some(*c)).collect();
/// let mut data = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?;
/// data.y = Some(Target::Classes { names, codes });
/// let others: Vec<usize> = (1..300).step_by(2).collect();
/// let nodes = data.rows(&others);
/// let model = AskLs::new("precomputed").fit(data, &Run::default())?;
/// assert_eq!(model.decision(&nodes, &Run::default())?.shape(), (150, 4));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AskLs {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// γ of \[AsKLS\], the weight of the errors.
    pub penalty: Penalty,
    /// What to do with a singular system.
    pub on_singular: OnSingular,
    /// How the two functions become one.
    pub merge: Merge,
    /// How the system is solved.
    pub route: Route,
    /// Learns with a symmetrised kernel.
    pub symmetrize: Option<Symmetrize>,
    /// What the errors of a sample count because of its class, on top of its own weight.
    pub class_weight: ClassWeight,
}

setters!(AskLs: with_gram(gram: Gram), with_on_singular(on_singular: OnSingular), with_route(route: Route),
    with_symmetrize(symmetrize: Symmetrize => Some(symmetrize)), with_class_weight(class_weight: ClassWeight));

impl Default for AskLs {
    /// What the recipe makes where nothing is said.
    fn default() -> Self {
        AskLs::new(Usual::learning("sne", false).gram())
    }
}

impl AskLs {
    /// The penalty that held-out samples choose, stacking, Tikhonov's method for singular systems.
    pub fn new(gram: impl Into<Gram>) -> Self {
        AskLs {
            gram: gram.into(),
            penalty: Penalty::Auto,
            on_singular: OnSingular::default(),
            merge: Merge::Stack,
            route: Route::Auto,
            symmetrize: None,
            class_weight: ClassWeight::Equal,
        }
    }

    /// The LS-SVM of the symmetrised kernel, with penalty 1.
    ///
    /// The recipe called `ls-svm` ([`crate::estimators::member`]) tries several penalties on held-out rows unless one is given.
    ///
    /// With K = I and as many samples of both classes the system (I/γ + K)·a = y is solved by a = y/2, so the
    /// function is ±½ at the samples themselves:
    ///
    /// ```
    /// use lopsided::estimators::{AskLs, Model, Symmetrize};
    /// use lopsided::{Dataset, Mat, Run, Samples, Target};
    ///
    /// let names = vec!["a".to_string(), "b".to_string()];
    /// let y = Target::Classes { names, codes: vec![Some(0), Some(0), Some(1), Some(1)] };
    /// let k = Samples::Dense(Mat::<f64>::identity(4, 4));
    /// let data = Dataset { y: Some(y), ..Dataset::new(k) };
    /// let model = AskLs::symmetric("precomputed", Symmetrize::Average).fit(data.clone(), &Run::default())?;
    /// let found = model.decision(&data.rows(&[0, 3]), &Run::default())?;
    /// assert!((found[(0, 0)] - 0.5).abs() < 1e-9 && (found[(1, 0)] + 0.5).abs() < 1e-9);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn symmetric(gram: impl Into<Gram>, symmetrize: Symmetrize) -> Self {
        AskLs { symmetrize: Some(symmetrize), penalty: Penalty::Fixed(1.0), ..AskLs::new(gram) }
    }

    /// The same with another penalty.
    ///
    /// Larger penalties fit the training samples closer. Above 1/σ₁, with the largest singular value σ₁ of the
    /// centred K, the system is indefinite, and the report of the fit warns of it.
    pub fn with_penalty(mut self, penalty: impl Into<Penalty>) -> Self {
        self.penalty = penalty.into();
        self
    }

    /// The same with another way of merging.
    ///
    /// It has no effect on a symmetrised kernel, whose two functions are one.
    pub fn with_merge(mut self, merge: Merge) -> Self {
        self.merge = merge;
        self
    }

    /// Learns both functions.
    ///
    /// 1. The labelled samples and, for a graph or a precomputed kernel, all others go into K.
    /// 2. The penalty is settled ([`Penalty`]).
    /// 3. Both functions are learned, ten times for stacking, and the way of merging with them.
    ///
    /// With weights w of the samples ([`Dataset::weights`]) and of their classes the errors of both functions are weighted:
    /// I/γ of Eq. (6) becomes diag(1/(γ·w_i)) in both blocks, so that a whole-number weight is a sample that often. A weight of 0
    /// leaves a sample out.
    ///
    /// # Errors
    /// [`Error::Param`] without targets, for one class only, a class with one member or a penalty that is not above 0;
    /// [`Error::Shape`] for a kernel matrix that is not square; [`Error::Singular`], [`Error::Memory`], [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<AskLsModel<T>> {
        let data = without_weightless(data)?;
        let known = self.check(data.y.as_ref())?;
        let weights = self.weights(&data, &known)?;
        let (data, train) = training(data, &known.rows, self.gram.kernel.is_precomputed());
        let (spec, kernel) = self.gram.built_kernel(&data, run.seed)?;
        let built = KernelMatrix { reads_entries: true, ..self.gram.matrix(&*kernel, &data, run) }.build()?;
        let k = Widened(&*built.operator);
        check_square(&k)?;
        let (y, weights) = (known.y.as_ref(), weights.as_deref());
        let task = Task { k: &k, train: &train, y, answer: &known.answer, weights };
        let chosen = penalty::choose(self, &task, data.y.as_ref(), run)?;
        let machine = self.clone().with_penalty(chosen.penalty);
        let (functions, merger, report) = machine.learn(&task, data.y.as_ref(), run)?;
        let (normalizer, notes) = (built.normalizer.clone(), built.notes.clone());
        drop(built);
        let mut report = machine.report(&spec, train.len(), report, &chosen);
        report.warnings.extend(notes);
        let name = if self.symmetrize.is_some() { "ls-svm" } else { "ask-ls" }.into();
        Ok(AskLsModel { name, kernel: spec, normalizer, data, train, functions, merger, answer: known.answer, report })
    }

    /// Both functions and how they are merged.
    ///
    /// Stacking, which \[AsKLS\] names as an alternative to the average:
    ///
    /// 1. The training samples are dealt into ten parts, each class evenly.
    /// 2. For every part f_s and f_t are learned from the other nine, and evaluated on the part.
    /// 3. These scores, none of which saw its own target, teach the [`Merger`].
    /// 4. Predictions take the mean of the ten pairs of functions. Values are linear in the coefficients, so the
    ///    mean of the coefficients gives the mean of the values.
    fn learn(&self, task: &Task<'_>, target: Option<&Target>, run: &Run) -> Result<(Functions, Merger, SystemReport)> {
        if !self.stacks() {
            let (functions, report) = self.functions(task, &(0..task.train.len()).collect::<Vec<_>>(), run)?;
            return Ok((functions, Merger::plain(self.plain_merge()), report));
        }
        let target = target.map(|t| t.rows(task.train));
        let folds = deal(target.as_ref(), FOLDS.min(task.train.len()), run.seed, Purpose::AskLsFolds)?;
        let mut mean = Functions::zeros(task.k.nrows(), task.y.ncols());
        let mut held = Scores::zeros(task.train.len(), task.y.ncols());
        let mut reports = Vec::new();
        for (fold, (functions, report)) in folds.iter().zip(self.parts(task, &folds, run)?) {
            held.set(fold, &functions.scores_within(task.k, &task.nodes(fold))?);
            mean.add(&functions, 1.0 / folds.len() as f64);
            reports.push(report);
        }
        Ok((mean, Merger::weighted(&held, task.y, task.answer, task.weights), SystemReport::worst(reports)))
    }

    /// What is learned without each fold. All systems are solved alike: by Tikhonov's method if one is singular.
    ///
    /// A damped and an undamped system have solutions of different sizes, and the merger would compare scores that
    /// are not comparable. The first part shows the way, so that the others need not find out again.
    fn parts(&self, task: &Task<'_>, folds: &[Vec<usize>], run: &Run) -> Result<Vec<(Functions, SystemReport)>> {
        if let Some(parts) = self.parts_at_once(task, folds, run)? {
            return Ok(parts);
        }
        let is_damped = |part: &(Functions, SystemReport)| part.1.route == "lsmr";
        let (damped, factored) =
            (AskLs { route: Route::Lsmr, ..self.clone() }, AskLs { route: Route::Dense, ..self.clone() });
        let (first, others) = (self.without(task, &folds[0], run)?, &folds[1..]);
        let machine = match first.1.route.as_str() {
            "lsmr" => &damped,
            "dense" => &factored,
            _ => self,
        };
        let one = |fold: &Vec<usize>| {
            let part = machine.without(task, fold, run)?;
            if part.1.converged() { Ok(part) } else { self.without(task, fold, run) }
        };
        let learned: Vec<Result<_>> =
            if task.is_light() { others.par_iter().map(one).collect() } else { others.iter().map(one).collect() };
        let mut parts = vec![first];
        parts.extend(learned.into_iter().collect::<Result<Vec<_>>>()?);
        if parts.iter().any(is_damped) {
            for (part, fold) in parts.iter_mut().zip(folds).filter(|(part, _)| !is_damped(part)) {
                *part = damped.without(task, fold, run)?;
            }
        }
        Ok(parts)
    }

    /// All parts with the same products, where each would take products with all of K by itself.
    fn parts_at_once(
        &self,
        task: &Task<'_>,
        folds: &[Vec<usize>],
        run: &Run,
    ) -> Result<Option<Vec<(Functions, SystemReport)>>> {
        let plain = self.symmetrize.is_none() && task.weights.is_none();
        let by_products = matches!(self.route, Route::Auto | Route::Minres) && plain;
        if !by_products || task.train.len() <= linsys::DENSE || task.k.access() == Access::Products {
            return Ok(None);
        }
        let block = crate::operator::Submatrix::new(task.k, Some(task.train), Some(task.train));
        let solved = self.system().solve_parts(&block, task.y, folds, run, &Limits::USUAL)?;
        let of = |one: CoupledSolution| (Functions::padded(&one, task.train, task.k.nrows()), one.report);
        Ok(solved.map(|all| all.into_iter().map(of).collect()))
    }

    /// What is learned from all training samples but those of a fold.
    fn without(&self, task: &Task<'_>, fold: &[usize], run: &Run) -> Result<(Functions, SystemReport)> {
        self.functions(task, &complement(fold, task.train.len()), run)
    }

    /// Solves the system of the listed training samples. A symmetrised kernel is solved as a symmetric
    /// one; its coefficients are then rewritten as coefficients of K itself, so that predictions need values of the
    /// kernel only.
    fn functions(&self, task: &Task<'_>, rows: &[usize], run: &Run) -> Result<(Functions, SystemReport)> {
        let (k, train, y) = (task.k, &task.nodes(rows), rows_of(task.y, rows));
        let (block, turn) = (crate::operator::Submatrix::new(k, Some(train), Some(train)), task.turn(rows));
        let Some(symmetrize) = self.symmetrize else {
            let solved = self.solved(&block, y.as_ref(), turn.as_ref(), run)?;
            return Ok((Functions::padded(&solved, train, k.nrows()), solved.report));
        };
        let solved = self.solved(&Symmetrized::new(&block, symmetrize), y.as_ref(), turn.as_ref(), run)?;
        let solved = unfolded(solved, &block, symmetrize)?;
        Ok((Functions::padded(&solved, train, k.nrows()), solved.report))
    }

    /// The solution of the system, weighted where there is a turn.
    fn solved(
        &self,
        k: &dyn Operator<f64>,
        y: MatRef<'_, f64>,
        turn: Option<&Turn>,
        run: &Run,
    ) -> Result<CoupledSolution> {
        let Some(turn) = turn else { return self.system().solve(k, y, run) };
        let found = self.system().solve(&Weighted::new(k, turn)?, turn.targets(y).as_ref(), run)?;
        Ok(turned_back(found, turn))
    }

    /// What the errors of the labelled samples count; `None` where all count the same.
    fn weights<T: Scalar>(&self, data: &Dataset<T>, known: &Known) -> Result<Option<Vec<f64>>> {
        let own = || data.weights.as_ref().map(|all| known.rows.iter().map(|&i| all[i]).collect::<Vec<f64>>());
        match &data.y {
            Some(Target::Classes { codes, .. }) => {
                let codes: Vec<u32> = known.rows.iter().filter_map(|&i| codes[i]).collect();
                self.class_weight.applied(data.weights.as_deref(), &known.rows, &codes, known.answer.classes())
            }
            _ if self.class_weight == ClassWeight::Equal => Ok(own()),
            _ => Err(Error::param("class-weight", &self.class_weight, "left out for values, which have no classes")),
        }
    }

    /// What the solver is asked for; the penalty stays at the solver's default while it is still to be chosen.
    fn system(&self) -> CoupledSystem {
        let mut system = CoupledSystem {
            on_singular: self.on_singular,
            route: self.route,
            symmetric: self.symmetrize.is_some(),
            ..CoupledSystem::default()
        };
        if let Penalty::Fixed(penalty) = self.penalty {
            system.penalty = penalty;
        }
        system
    }

    /// Whether held-out scores decide how to merge.
    fn stacks(&self) -> bool {
        self.plain_merge() == Merge::Stack
    }

    /// The way that counts: a symmetrisation brings its own.
    fn plain_merge(&self) -> Merge {
        self.symmetrize.map_or(self.merge, Symmetrize::merge)
    }

    /// The labelled rows with their ±1 or values. A class with a single sample is refused: the part that holds it
    /// out would have to learn the class from nothing.
    fn check(&self, target: Option<&Target>) -> Result<Known> {
        if let Penalty::Fixed(penalty) = self.penalty {
            check_penalty(penalty)?;
        }
        let known = Known::of(target)?;
        if let Some(Target::Classes { names, codes }) = target {
            let members = |c: usize| codes.iter().filter(|code| **code == Some(c as u32)).count();
            if let Some(alone) = (0..names.len()).find(|&c| members(c) == 1) {
                let value = format!("`{}` for one sample only", names[alone]);
                return Err(Error::param("labels", value, "such that every class has at least two samples"));
            }
        }
        Ok(known)
    }

    /// Settings as they were used, the condition number where it is known, and a warning about a given penalty
    /// above 1/σ₁.
    fn report(
        &self,
        spec: &crate::kernel::KernelSpec,
        n_train: usize,
        solved: SystemReport,
        chosen: &penalty::Chosen,
    ) -> FitReport {
        let mut params: std::collections::BTreeMap<String, serde_json::Value> = spec.as_params().collect();
        params.insert("kernel".into(), spec.name.clone().into());
        params.insert("penalty".into(), chosen.penalty.into());
        if let Some(sigma) = chosen.sigma {
            params.insert("sigma_1".into(), sigma.into());
            params.insert("largest_definite_penalty".into(), sigma.recip().into());
        }
        if let Some(why) = &chosen.why {
            params.insert("penalty_why".into(), why.clone().into());
        }
        params.insert("merge".into(), self.plain_merge().to_string().into());
        params.insert("route".into(), solved.route.clone().into());
        if let Some(kind) = self.symmetrize {
            params.insert("symmetrize".into(), kind.to_string().into());
        }
        if self.class_weight != ClassWeight::Equal {
            params.insert("class-weight".into(), self.class_weight.to_string().into());
        }
        params.insert("residual".into(), solved.residual.into());
        if solved.iterations > 0 {
            params.insert("iterations".into(), solved.iterations.into());
        }
        let choices = chosen.choice.iter().cloned().collect();
        let (condition, converged) = (Some(solved.condition).filter(|c| c.is_finite()), solved.converged());
        let mut warnings = solved.warnings;
        warnings.extend(chosen.warning(self.symmetrize.is_some()));
        FitReport { params, n_train, condition, warnings, chosen: None, choices, converged }
    }

    /// The same with some settings changed.
    fn at(&self, given: &Settings) -> Result<Self> {
        given.refuse_unknown(&[&gram::settings(), &SETTINGS.concat()])?;
        let symmetrize = match given.value("symmetrize") {
            None => self.symmetrize,
            Some(Value::Text(none)) if none == "none" => None,
            Some(_) => given.word("symmetrize")?,
        };
        let on_singular = given.word("on-singular")?.unwrap_or(self.on_singular);
        let tikhonov = given.value("tikhonov").map(|_| given.positive("tikhonov", None)).transpose()?;
        Ok(AskLs {
            gram: self.gram.with(given)?,
            penalty: given.word("penalty")?.unwrap_or(self.penalty),
            on_singular: tikhonov.map_or(on_singular, OnSingular::Tikhonov),
            merge: given.word("merge")?.unwrap_or(self.merge),
            route: given.word("route")?.unwrap_or(self.route),
            symmetrize,
            class_weight: given.word("class-weight")?.unwrap_or_else(|| self.class_weight.clone()),
        })
    }
}

/// What is to be learned on which samples of K.
struct Task<'a> {
    /// The kernel matrix of all samples, which is multiplied and not necessarily stored.
    k: &'a dyn Operator<f64>,
    /// Places in K of the samples to learn from.
    train: &'a [usize],
    /// Their targets, one row each: ±1 for every class, or the value.
    y: MatRef<'a, f64>,
    /// Classes or values, which decides how scores are merged.
    answer: &'a Answer,
    /// What their errors count, above 0; all the same without.
    weights: Option<&'a [f64]>,
}

impl Task<'_> {
    /// What makes the plain system of some training samples the weighted one.
    fn turn(&self, rows: &[usize]) -> Option<Turn> {
        self.weights_of(rows).map(|weights| Turn::new(&weights))
    }

    /// Weights of some training samples.
    fn weights_of(&self, rows: &[usize]) -> Option<Vec<f64>> {
        self.weights.map(|all| rows.iter().map(|&i| all[i]).collect())
    }

    /// Whether several systems may be solved at once: their factors are small, or there are none.
    fn is_light(&self) -> bool {
        self.train.len() <= LIGHT || (self.train.len() > linsys::DENSE && self.k.access() == Access::Products)
    }

    /// Places in K of training samples.
    fn nodes(&self, which: &[usize]) -> Vec<usize> {
        which.iter().map(|&i| self.train[i]).collect()
    }
}

/// The samples of K and the places of those with a target. A graph and a precomputed K are kept whole, as what they say of
/// other samples serves to predict these.
pub(super) fn training<T: Scalar>(data: Dataset<T>, rows: &[usize], precomputed: bool) -> (Dataset<T>, Vec<usize>) {
    if data.frame.is_some() || precomputed {
        return (data, rows.to_vec());
    }
    let data = if is_everything(rows, data.x.count()) { data } else { data.pairs(rows) };
    let count = data.x.count();
    (data, (0..count).collect())
}

/// The data, in which samples of weight 0 have no target.
fn without_weightless<T: Scalar>(data: Dataset<T>) -> Result<Dataset<T>> {
    let known = data.y.as_ref().map(Target::known).unwrap_or_default();
    let Some(weights) = data.weights_of(&known)? else { return Ok(data) };
    let none: Vec<usize> =
        known.into_iter().zip(weights).filter(|(_, weight)| *weight == 0.0).map(|(i, _)| i).collect();
    let y = data.y.as_ref().map(|y| hidden(y, &none));
    Ok(Dataset { y, ..data })
}

/// The coefficients and biases of a weighted system from those of the turned one.
fn turned_back(found: CoupledSolution, turn: &Turn) -> CoupledSolution {
    CoupledSolution {
        a: turn.coefficients(&found.a),
        b: turn.coefficients(&found.b),
        bias_source: turn.biases(&found.bias_source),
        bias_target: turn.biases(&found.bias_target),
        report: found.report,
    }
}

/// Both functions are sums over the same samples, so K must have a row and a column for each of them.
pub(super) fn check_square(k: &dyn Operator<f64>) -> Result<()> {
    let (n, m) = (k.nrows(), k.ncols());
    if n == m { Ok(()) } else { Err(Error::shape("the kernel matrix", "square", format!("{n} x {m}"))) }
}

fn complement(fold: &[usize], count: usize) -> Vec<usize> {
    let mut inside = vec![false; count];
    fold.iter().for_each(|&i| inside[i] = true);
    (0..count).filter(|&i| !inside[i]).collect()
}

fn rows_of(m: MatRef<'_, f64>, rows: &[usize]) -> faer::Mat<f64> {
    faer::Mat::from_fn(rows.len(), m.ncols(), |i, j| m[(rows[i], j)])
}

impl<T: Scalar> Estimator<T> for AskLs {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(given)?))
    }

    fn settings(&self) -> Settings {
        let symmetrize = self.symmetrize.map_or_else(|| "none".into(), |way| way.to_string());
        let machine = self.gram.settings().with_word("penalty", self.penalty).with_word("merge", self.merge);
        let machine = machine.with("symmetrize", symmetrize).and(&self.class_weight.settings());
        machine.and(&self.on_singular.settings()).and(&self.route.settings())
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let known = self.check(data.y.as_ref())?;
        let efforts = if self.symmetrize.is_some() { (1300.0, 150.0) } else { (2000.0, 450.0) };
        let plan =
            self.gram.plan(&training(data.clone(), &known.rows, self.gram.kernel.is_precomputed()).0, run, efforts)?;
        let count = known.rows.len();
        Ok(if self.penalty == Penalty::Auto {
            plan.with_more(penalty::seconds(count, data.frame.is_some()))
        } else {
            plan
        })
    }

    /// All penalties share what is learned of K.
    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        if self.penalty == Penalty::Auto && penalties == 1 {
            return share.powi(3) * plan.seconds;
        }
        let learned = share * plan.size.0 as f64;
        penalty::path_seconds(learned, self.symmetrize.is_some()) / rayon::current_num_threads() as f64
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        // A penalty that is chosen belongs to the samples it was chosen on, so every fold has its own.
        let alone = |m: AskLs| m.penalty == Penalty::Auto || m.class_weight != ClassWeight::Equal;
        let alone = points.iter().map(|point| self.at(point)).any(|m| m.is_ok_and(alone));
        // Weights make a system of each fit's own.
        if alone || data.weights.is_some() {
            return super::validate_by_fits(self, data, (points, folds), run);
        }
        validate::scores(self, data, (points, folds), run)
    }
}

/// The entry of AsK-LS.
pub(super) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "ask-ls",
        about: "least squares SVM with an asymmetric kernel: a source and a target function, merged",
        settings: &SETTINGS,
        can: PROBABLE,
        streams: false,
        kernel: "sne",
        penalties: [&[], &[]],
        build: |recipe: Recipe| Box::new(AskLs { route: recipe.route(), ..AskLs::new(recipe.gram()) }),
        load: |archive| Ok(Box::new(AskLsModel::<T>::from_archive(archive)?)),
    }
}

/// The entry of the LS-SVM of a symmetrised kernel.
pub(super) fn symmetric_entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "ls-svm",
        about: "least squares SVM with a symmetric kernel, or a symmetrised one: (K + Kᵀ)/2, KᵀK or KKᵀ",
        settings: &SYMMETRIC_SETTINGS,
        can: PROBABLE,
        streams: false,
        kernel: "rbf",
        penalties: [KERNEL_PENALTIES; 2],
        build: |recipe: Recipe| {
            Box::new(AskLs { route: recipe.route(), ..AskLs::symmetric(recipe.gram(), Symmetrize::Average) })
        },
        load: |archive| Ok(Box::new(AskLsModel::<T>::from_archive(archive)?)),
    }
}

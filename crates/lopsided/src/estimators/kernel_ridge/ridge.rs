use super::cg::Judged;
use super::model::KernelRidgeModel;
use super::passes;
use super::systems::{Centred, pseudo_solve, scaled_rows, solve, solve_by_products, solve_exact, solve_features};
use super::validate;
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::{Setting, Settings};
use crate::base::verdict::Verdict;
use crate::data::dataset::Dataset;
use crate::data::samples::Samples;
use crate::estimators::gram::{self, Gram};
use crate::estimators::kernel_svd::Plan;
use crate::estimators::landmarked::{
    APPROXIMATION_SETTINGS, Approach, Approximation, Comparison, GramErrors, MachineErrors, Problem, SolutionErrors,
};
use crate::estimators::recipe::Usual;
use crate::estimators::scoring::Known;
use crate::estimators::{
    Abilities, Estimator, EstimatorEntry, FitReport, KERNEL_PENALTIES, Model, PENALTY, Point, Recipe,
};
use crate::operator::{OperatorChoice, Widened};
use crate::solvers::linsys;
use crate::solvers::lowrank::{KernelFunctions, LandmarkKernel, NystromBasis};
use faer::{Mat, MatRef};

/// Name in saved files and listings.
pub(super) const NAME: &str = "krr";
const SETTINGS: [&[Setting]; 2] = [&APPROXIMATION_SETTINGS, &[PENALTY]];

/// Kernel ridge regression, exact or by landmarks: min Σ w_i·(f(x_i) − y_i)² + ‖f‖²/penalty, in all targets at once, with the
/// weights w of the data ([`Dataset::weights`]).
///
/// In the words of \[NKM\] λ₀ = nλ = 1/penalty: exact α = (K + λ₀I)⁻¹·y, LLA w = (FᵀF + λ₀I)⁻¹·Fᵀy, NCR
/// β = (K_mn·K_nm + λ₀K_mm)⁺·K_mn·y, Eq. (11), GSA α = G⁺w, Eq. (20). Classes are learned one against the rest, as ±1. The
/// mean of the targets is taken off before and added to predictions.
///
/// ```
/// use lopsided::estimators::{Approach, Approximation, KernelRidge, Model};
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Samples::Dense(Mat::from_fn(80, 1, |i, _| i as f64 / 10.0));
/// let y = Target::Values((0..80).map(|i| (i as f64 / 10.0).sin()).collect());
/// let data = Dataset { y: Some(y), ..Dataset::new(x.clone()) };
/// let mut machine = KernelRidge::new("rbf").with_penalty(1e3);
/// machine.approximation = Approximation::new(Approach::Gsa, "rpcholesky", 20);
/// let model = machine.fit(data, &Run::default())?;
/// let found = model.decision(&Dataset::new(x), &Run::default())?;
/// assert!((found[(16, 0)] - 1.6f64.sin()).abs() < 0.01);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelRidge {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// The approach and its landmarks.
    pub approximation: Approximation,
    /// 1/λ₀, the weight of the errors.
    pub penalty: f64,
}

setters!(KernelRidge: with_gram(gram: Gram), with_penalty(penalty: f64),
    with_approximation(approximation: Approximation));

impl Default for KernelRidge {
    /// What the recipe makes where nothing is said, but for the penalty.
    fn default() -> Self {
        KernelRidge::new(Usual::ROWS.gram())
    }
}

/// What a machine found: its functions, how many landmarks it had, and the steps of an iteration.
pub(super) struct Learned<T> {
    pub(super) functions: KernelFunctions<T>,
    pub(super) landmarks: Option<usize>,
    steps: Option<usize>,
    verdict: Verdict,
}

impl KernelRidge {
    /// Penalty 1; exact or low-rank linearisation by the number of samples.
    ///
    /// The recipe called `krr` ([`crate::estimators::member`]) tries several penalties on held-out rows unless one is given.
    pub fn new(gram: impl Into<Gram>) -> Self {
        KernelRidge { gram: gram.into(), approximation: Approximation::default(), penalty: 1.0 }
    }

    /// The same with so many landmarks of the sampler.
    pub fn with_landmarks(mut self, landmarks: usize) -> Self {
        self.approximation.landmarks = Some(landmarks);
        self
    }

    /// Learns from the rows with a target.
    ///
    /// # Errors
    /// [`Error::Param`] without targets, for a kernel that is not symmetric and positive, a penalty that is not above 0, or
    /// landmarks that do not exist; [`Error::Memory`], [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelRidgeModel<T>> {
        let (known, weights) = self.check(&data)?;
        let problem = self.problem(&data, &known.rows, run)?;
        let learned = self.learn(&problem, known.y.as_ref(), weights.as_deref(), run)?;
        let report = self.report(&problem, &learned);
        Ok(KernelRidgeModel { functions: problem.restored(learned.functions), answer: known.answer, report })
    }

    /// The functions of several real targets, a column each, of samples that all have them.
    ///
    /// # Errors
    /// Those of [`KernelRidge::fit`]; [`Error::Shape`] unless there is a row of targets for each sample.
    ///
    /// # Example
    /// With the linear kernel, x = ±1 and y = ±1 the coefficients are y/(2 + λ₀), and f(x) = 2x/3 for λ₀ = 1:
    ///
    /// ```
    /// use lopsided::estimators::KernelRidge;
    /// use lopsided::{Mat, Run, Samples};
    ///
    /// let x = Mat::from_fn(2, 1, |i, _| 1.0 - 2.0 * i as f64);
    /// let found = KernelRidge::new("linear").fit_targets(Samples::Dense(x.clone()), x.as_ref(), &Run::default())?;
    /// let values = found.apply(Samples::Dense(x).as_ref(), &Run::default())?;
    /// assert!((values[(0, 0)] - 2.0 / 3.0).abs() < 1e-9 && (values[(1, 0)] + 2.0 / 3.0).abs() < 1e-9);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn fit_targets<T: Scalar>(&self, x: Samples<T>, y: MatRef<'_, f64>, run: &Run) -> Result<KernelFunctions<T>> {
        if y.nrows() != x.count() {
            return Err(Error::shape("the number of rows of the targets", x.count(), y.nrows()));
        }
        crate::data::samples::SamplesRef::Dense(y).check_finite("the targets")?;
        let rows: Vec<usize> = (0..x.count()).collect();
        self.check_settings(rows.len())?;
        let problem = self.problem(&Dataset::new(x), &rows, run)?;
        let learned = self.learn(&problem, y, None, run)?;
        Ok(problem.restored(learned.functions))
    }

    /// How far the approximate solutions and kernel matrix are from the exact ones, by Eq. (15), (16) and (19).
    ///
    /// # Errors
    /// Those of [`KernelRidge::fit`]; [`Error::Memory`] where the exact machine is out of reach.
    pub fn errors<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<(SolutionErrors, GramErrors)> {
        Comparison::ridge(self, data, run)?.errors(&self.approximation, run)
    }

    /// ‖K − K̃‖ alone, for any number of samples: K is multiplied but not stored.
    ///
    /// # Errors
    /// Those of [`KernelRidge::fit`].
    pub fn gram_errors<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<GramErrors> {
        let (known, _) = self.check(data)?;
        let problem = self.problem(data, &known.rows, run)?;
        problem.gram_errors(&self.approximation, run)
    }

    pub(in crate::estimators) fn problem<T: Scalar>(
        &self,
        data: &Dataset<T>,
        rows: &[usize],
        run: &Run,
    ) -> Result<Problem<T>> {
        Problem::new(&self.gram, data, rows, self.approximation.own.as_ref(), run)
    }

    /// The functions of the chosen approach.
    pub(super) fn learn<T: Scalar>(
        &self,
        problem: &Problem<T>,
        y: MatRef<'_, f64>,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Learned<T>> {
        let centred = Centred::of(y, weights);
        let mut learned = match self.approximation.approach_for(problem.x.count()) {
            Approach::Exact => self.exact(problem, &centred, run)?,
            Approach::Lla => self.linearized(problem, &centred, run)?,
            Approach::Gsa => self.substituted(problem, &centred, run)?,
            Approach::Ncr => self.constrained(problem, &centred, run)?,
        };
        learned.functions.bias = centred.means;
        Ok(learned)
    }

    /// By factors of K or, beyond the number of samples where that is slower, by products with it.
    fn exact<T: Scalar>(&self, problem: &Problem<T>, centred: &Centred, run: &Run) -> Result<Learned<T>> {
        let (y, weights) = (centred.y.clone(), centred.weights.as_deref());
        let (alpha, verdict, steps) = if linsys::takes_products(problem.x.count()) {
            problem.with_choice(OperatorChoice::Auto, run, |built| {
                solve_by_products(&Widened(&*built.operator), self.penalty, &y, weights, run)
            })?
        } else {
            let (alpha, verdict) = solve_exact(problem.gram(run)?, self.penalty, y, weights)?;
            (alpha, verdict, None)
        };
        Ok(Learned { functions: problem.over_samples(alpha), landmarks: None, steps, verdict })
    }

    /// Sums over blocks of features, which are never held. With the standard basis the machine is Eq. (11)'s (\[NKM\] Corollary 1).
    fn linearized<T: Scalar>(&self, problem: &Problem<T>, centred: &Centred, run: &Run) -> Result<Learned<T>> {
        let at = problem.at_landmarks(&self.approximation, run)?;
        if self.approximation.basis == NystromBasis::default()
            && let Some(learned) = self.by_passes(&at, problem, centred, run)?
        {
            return Ok(learned);
        }
        let m = at.gram.nrows();
        let map = self.approximation.basis.fit(&at, problem.x.as_ref(), run)?;
        let moments = map.moments(problem.x.as_ref(), centred.y.as_ref(), centred.weights.as_deref(), run)?;
        let (w, verdict) = solve(moments.gram, self.penalty, moments.cross)?;
        Ok(Learned { functions: map.combined(w.as_ref()), landmarks: Some(m), steps: None, verdict })
    }

    fn substituted<T: Scalar>(&self, problem: &Problem<T>, centred: &Centred, run: &Run) -> Result<Learned<T>> {
        let (map, f) = problem.features(&self.approximation, run)?;
        let scaled = scaled_rows(&f, centred.weights.as_deref());
        let y = scaled_rows(&centred.y, centred.weights.as_deref());
        let (w, verdict) = solve_features(&scaled, self.penalty, &y)?;
        let count = match &problem.own {
            Some(own) => own.count(),
            None => self.approximation.count_for(problem.x.count())?,
        };
        Ok(Learned { functions: map.combined(w.as_ref()), landmarks: Some(count), steps: None, verdict })
    }

    /// Eq. (11).
    fn constrained<T: Scalar>(&self, problem: &Problem<T>, centred: &Centred, run: &Run) -> Result<Learned<T>> {
        let at = problem.at_landmarks(&self.approximation, run)?;
        if let Some(learned) = self.by_passes(&at, problem, centred, run)? {
            return Ok(learned);
        }
        let moments = at.moments(problem.x.as_ref(), centred.y.as_ref(), centred.weights.as_deref(), run)?;
        let m = at.gram.nrows();
        let system = Mat::from_fn(m, m, |i, j| moments.gram[(i, j)] + at.gram[(i, j)] / self.penalty);
        let (beta, verdict) = pseudo_solve(system.as_ref(), &moments.cross, T::eps())?;
        Ok(Learned { functions: at.functions(beta), landmarks: Some(m), steps: None, verdict })
    }

    /// The solution of Eq. (11) by passes over the samples, where that is less work and succeeds.
    fn by_passes<T: Scalar>(
        &self,
        at: &LandmarkKernel<T>,
        problem: &Problem<T>,
        centred: &Centred,
        run: &Run,
    ) -> Result<Option<Learned<T>>> {
        let (x, m) = (problem.x.as_ref(), at.gram.nrows());
        if !passes::worthwhile(x.count(), m, x.nnz() / x.count()) {
            return Ok(None);
        }
        let found = passes::solve(at, x, centred, self.penalty, run)?;
        let learned = |found: Judged| {
            let (functions, steps) = (at.functions(found.w), Some(found.steps));
            Learned { functions, landmarks: Some(m), steps, verdict: found.verdict }
        };
        Ok(found.map(learned))
    }

    /// The rows to learn from and their weights.
    pub(in crate::estimators) fn check<T: Scalar>(&self, data: &Dataset<T>) -> Result<(Known, Option<Vec<f64>>)> {
        let known = Known::even_several(data.y.as_ref())?;
        self.check_settings(known.rows.len())?;
        let weights = data.weights_of(&known.rows)?;
        Ok((known, weights))
    }

    fn check_settings(&self, samples: usize) -> Result<()> {
        crate::estimators::linear::check_penalty(self.penalty)?;
        self.approximation.check(samples)
    }

    fn report<T: Scalar>(&self, problem: &Problem<T>, learned: &Learned<T>) -> FitReport {
        let n_train = problem.x.count();
        let mut params = self.approximation.params(n_train, learned.landmarks);
        params.extend(problem.kernel.as_params());
        params.insert("kernel".into(), problem.kernel.name.clone().into());
        params.insert("penalty".into(), self.penalty.into());
        if let Some(steps) = learned.steps {
            let solver = if learned.landmarks.is_some() { "cg" } else { "minres" };
            params.extend([("solver".to_string(), solver.into()), ("steps".to_string(), steps.into())]);
        }
        let (left, converged) = (learned.verdict.left(), learned.verdict.converged());
        let text = || format!("the equations are solved to {left:.1e} only; take a smaller `penalty`");
        let warnings = (!converged).then(text).into_iter().collect();
        FitReport { params, n_train, condition: None, warnings, chosen: None, choices: Vec::new(), converged }
    }

    /// The same with some settings changed.
    pub fn at(&self, given: &Settings) -> Result<Self> {
        given.refuse_unknown(&[&gram::settings(), &SETTINGS.concat()])?;
        Ok(KernelRidge {
            gram: self.gram.with(given)?,
            approximation: self.approximation.with(given)?,
            penalty: given.positive("penalty", Some(self.penalty))?,
        })
    }
}

impl<T: Scalar> Estimator<T> for KernelRidge {
    fn with(&self, given: &Settings) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(given)?))
    }

    fn settings(&self) -> Settings {
        self.gram.settings().and(&self.approximation.settings()).with("penalty", self.penalty)
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let (known, _) = self.check(data)?;
        let problem = self.problem(data, &known.rows, run)?;
        let n = known.rows.len();
        let plan = self.approximation.plan(problem.kernel.clone(), data.x.as_ref(), n)?.within(self.gram.bytes());
        if self.approximation.approach_for(n) == Approach::Exact && linsys::takes_products(n) {
            let bytes = self.gram.plan(data, run, (1.0, 1.0))?.bytes;
            return Ok(Plan { bytes, ..plan });
        }
        Ok(plan)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }

    /// Many penalties of the exact machine share a complete decomposition, those of machines with landmarks the sums over the
    /// features.
    fn validate_seconds(&self, plan: &Plan, penalties: usize, share: f64) -> f64 {
        let learned = share * plan.size.0 as f64;
        if self.approximation.approach_for(plan.size.0) != Approach::Exact {
            return 3.0 * share * plan.seconds;
        }
        let decomposed = 1e-9 * learned.powi(3) / rayon::current_num_threads() as f64;
        decomposed.min(penalties as f64 * share.powi(3) * plan.seconds)
    }

    fn shares_penalties(&self, samples: usize) -> bool {
        self.approximation.approach_for(samples) != Approach::Exact
    }

    fn errors(&self, data: &Dataset<T>, run: &Run) -> Result<Option<MachineErrors>> {
        MachineErrors::or_gram(self.errors(data, run), || self.gram_errors(data, run)).map(Some)
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        validate::scores(self, data, (points, folds), run)
    }
}

/// The entry of the list.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: NAME,
        about: "kernel ridge regression with a symmetric kernel, exact or by landmarks (--approach lla, gsa, ncr)",
        settings: &SETTINGS,
        can: Abilities { predict: true, ..Abilities::default() },
        streams: true,
        kernel: "rbf",
        penalties: [KERNEL_PENALTIES; 2],
        build: |recipe: Recipe| Box::new(KernelRidge::new(recipe.gram())),
        load: |archive| Ok(Box::new(KernelRidgeModel::<T>::from_archive(archive)?)),
    }
}

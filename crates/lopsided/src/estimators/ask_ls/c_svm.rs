use super::functions::{Functions, Symmetrized, unfolded};
use super::stack::Merger;
use super::{AskLs, AskLsModel, Symmetrize, check_square, training};
use crate::dataset::{Dataset, Target};
use crate::error::{Error, Result};
use crate::estimators::kernel_svd::{KernelSvd, Plan};
use crate::estimators::scoring::{Answer, Known};
use crate::estimators::{Estimator, EstimatorEntry, FitReport, Model, Recipe, above_zero, unknown_setting};
use crate::linsys::{CoupledSolution, SystemReport, check_penalty};
use crate::operator::{Operator, Submatrix, Widened, available_memory};
use crate::scalar::Scalar;
use crate::svd::Run;
use crate::svm::{CSvm, RowCache, SvmSolution};
use faer::{Mat, MatRef};

/// Name in saved files and listings.
pub(super) const NAME: &str = "svm";
const SETTINGS: [&str; 4] = ["gamma", "gamma-factor", "penalty", "symmetrize"];
/// Bytes of kernel rows that are kept, unless the memory allowed is less than four times as much.
const CACHE: u64 = 1 << 30;

/// The C-SVM of a symmetrised kernel, (K + Kᵀ)/2, KᵀK or KKᵀ, one class against the rest: the baseline of \[AsKLS\].
///
/// Its function is kept in coefficients of K itself, so that the model predicts as one of [`AskLs`] does. A graph is learned
/// transductively: K holds all nodes, the machine those with a label.
///
/// ```
/// use lopsided::estimators::{Model, Svm, Symmetrize};
/// use lopsided::{Dataset, KernelSvd, Run, Samples, Target, synth};
///
/// let (x, classes) = synth::clusters::<f64>(60, 3, 2, 1);
/// let names = vec!["a".to_string(), "b".to_string()];
/// let codes = classes.iter().map(|c| Some(*c)).collect();
/// let data = Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::new(Samples::Dense(x)) };
/// let model = Svm::new(KernelSvd::new("rbf"), Symmetrize::Average).fit(data, &Run::default())?;
/// assert!(model.report().converged);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Svm {
    /// Kernel, gamma, operator and memory.
    pub svd: KernelSvd,
    /// C, the bound of the coefficients.
    pub penalty: f64,
    /// How the kernel becomes symmetric; a symmetric one stays itself with [`Symmetrize::Average`].
    pub symmetrize: Symmetrize,
}

impl Svm {
    /// Penalty 1.
    pub fn new(svd: KernelSvd, symmetrize: Symmetrize) -> Self {
        Svm { svd, penalty: 1.0, symmetrize }
    }

    /// Learns one function for each class.
    ///
    /// # Errors
    /// [`Error::Param`] without classes, for one class only or a penalty that is not above 0; [`Error::Shape`] for a kernel
    /// matrix that is not square; [`Error::Memory`], [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<AskLsModel<T>> {
        let known = self.check(data.y.as_ref())?;
        let (data, train) = training(data, &known.rows, self.svd.kernel.name == "precomputed");
        let (spec, kernel) = self.svd.built_kernel(&data, run.seed)?;
        let built = self.svd.matrix(&*kernel, &data, run)?.build()?;
        let k = Widened(&*built.operator);
        let (functions, solutions) = self.functions(&k, &train, known.y.as_ref(), run)?;
        let normalizer = built.normalizer.clone();
        drop(built);
        let like = self.like();
        let merger = Merger::plain(like.plain_merge());
        let mut report = like.report(&spec, train.len(), SystemReport::default());
        account(&mut report, &known.answer, &solutions);
        let (name, answer) = (NAME.into(), known.answer);
        Ok(AskLsModel { name, kernel: spec, normalizer, data, train, functions, merger, answer, report })
    }

    /// The LS-SVM of the same kernel, which shares everything but the loss.
    fn like(&self) -> AskLs {
        AskLs::symmetric(self.svd.clone(), self.symmetrize).with_penalty(self.penalty)
    }

    fn functions(
        &self,
        k: &dyn Operator<f64>,
        train: &[usize],
        y: MatRef<'_, f64>,
        run: &Run,
    ) -> Result<(Functions, Vec<SvmSolution>)> {
        check_square(k)?;
        let block = Submatrix::new(k, Some(train), Some(train));
        let symmetric = Symmetrized::new(&block, self.symmetrize);
        let bytes = CACHE.min(self.svd.memory.unwrap_or_else(available_memory) / 4);
        let mut rows = RowCache::new(&symmetric, bytes)?;
        let solutions = one_against_rest(&CSvm::new(self.penalty), &mut rows, y, run)?;
        let b = Mat::from_fn(train.len(), y.ncols(), |i, c| solutions[c].coefficients[i]);
        let bias_source: Vec<f64> = solutions.iter().map(|s| s.bias).collect();
        let found = CoupledSolution {
            a: b.clone(),
            b,
            bias_target: bias_source.clone(),
            bias_source,
            report: SystemReport::default(),
        };
        let found = unfolded(found, &block, self.symmetrize)?;
        Ok((Functions::padded(&found, train, k.nrows()), solutions))
    }

    fn check(&self, target: Option<&Target>) -> Result<Known> {
        check_penalty(self.penalty)?;
        let known = Known::of(target)?;
        if known.answer == Answer::Values {
            return Err(Error::param("labels", "values", "classes for `svm`; `ls-svm` and `ask-ls` learn values"));
        }
        Ok(known)
    }

    fn set(&self, setting: &str, value: &str) -> Result<Self> {
        let mut out = self.clone();
        match setting {
            "gamma" | "gamma-factor" => out.svd = self.svd.set(setting, value)?,
            "penalty" => out.penalty = above_zero(setting, value)?,
            "symmetrize" => out.symmetrize = value.parse()?,
            _ => return Err(unknown_setting(setting, &SETTINGS)),
        }
        Ok(out)
    }
}

/// What is said about the search instead of a linear system.
fn account(report: &mut FitReport, answer: &Answer, solutions: &[SvmSolution]) {
    let supports =
        (0..solutions[0].coefficients.len()).filter(|&i| solutions.iter().any(|s| s.coefficients[i] != 0.0)).count();
    report.params.remove("route");
    report.params.insert("support-vectors".into(), supports.into());
    report.condition = None;
    report.converged = solutions.iter().all(|s| s.converged);
    for (class, found) in answer.classes().iter().zip(solutions).filter(|(_, s)| !s.converged) {
        report.warnings.push(format!(
            "class `{class}`: the optimality conditions are still violated by {:.1e} after {} steps; take a smaller penalty",
            found.violation, found.steps
        ));
    }
}

/// A function for each column of y; of two classes one is the other with opposite signs.
fn one_against_rest(
    machine: &CSvm,
    rows: &mut RowCache<'_>,
    y: MatRef<'_, f64>,
    run: &Run,
) -> Result<Vec<SvmSolution>> {
    let labels = |c: usize| -> Vec<f64> { y.col(c).iter().copied().collect() };
    if y.ncols() != 2 {
        return (0..y.ncols()).map(|c| machine.solve(rows, &labels(c), run)).collect();
    }
    let first = machine.solve(rows, &labels(0), run)?;
    let coefficients = first.coefficients.iter().map(|c| -c).collect();
    let second = SvmSolution { coefficients, bias: -first.bias, ..first.clone() };
    Ok(vec![first, second])
}

impl<T: Scalar> Estimator<T> for Svm {
    fn with(&self, point: &[(String, String)]) -> Result<Box<dyn Estimator<T>>> {
        let changed = point.iter().try_fold(self.clone(), |machine, (setting, value)| machine.set(setting, value))?;
        Ok(Box::new(changed))
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let known = self.check(data.y.as_ref())?;
        KernelSvd { rank: 1, ..self.svd.clone() }
            .plan(&training(data.clone(), &known.rows, self.svd.kernel.name == "precomputed").0, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }
}

/// The entry of the C-SVM.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: NAME,
        about: "C-SVM with a symmetric kernel, or a symmetrised one: (K + Kᵀ)/2, KᵀK or KKᵀ",
        settings: &SETTINGS,
        build: |recipe: Recipe| Box::new(Svm::new(recipe.svd, Symmetrize::Average)),
        load: |archive| Ok(Box::new(AskLsModel::<T>::from_archive(archive)?)),
    }
}

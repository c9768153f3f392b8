use super::{
    APPROXIMATION_SETTINGS, Approximation, ClassWeight, Dataset, Estimator, EstimatorEntry, Frame, KERNEL_SETTINGS,
    KernelMachineModel, KernelSvd, Learned, Model, Output, Plan, Point, Recipe, Result, Run, Scalar, Space, Symmetrize,
    Task, above_zero, unknown_setting, validate,
};
use crate::operator::{DenseOperator, Operator, available_memory, materialize};
use crate::solvers::linear_machine::{Labels, Logistic};
use crate::solvers::linsys::check_penalty;

const SETTINGS: [&[&str]; 3] = [&KERNEL_SETTINGS, &APPROXIMATION_SETTINGS, &["penalty", "symmetrize", "class-weight"]];

/// Logistic regression of a kernel that is symmetric or made so, as [`super::Svm`] has it: exact, by products with the kernel
/// matrix alone ([`Logistic::fit_kernel`]), or with landmarks ([`Logistic::fit`]).
///
/// Minimises ½·aᵀKa + penalty·Σ_i weight_i·loss_i; softmax of the decision values gives probabilities.
#[derive(Clone, Debug)]
pub struct KernelLogistic {
    /// Kernel, gamma, operator and memory; its tolerance, if given, is that of the gradient.
    pub svd: KernelSvd,
    /// Weight of the losses.
    pub penalty: f64,
    /// How the kernel becomes symmetric.
    pub symmetrize: Symmetrize,
    /// What samples count because of their class.
    pub class_weight: ClassWeight,
    /// The approach and its landmarks; exact unless they are asked for.
    pub approximation: Approximation,
}

impl KernelLogistic {
    /// Penalty 1.
    pub fn new(svd: KernelSvd, symmetrize: Symmetrize) -> Self {
        let (class_weight, approximation) = (ClassWeight::Equal, Approximation::default());
        KernelLogistic { svd, penalty: 1.0, symmetrize, class_weight, approximation }
    }

    /// Learns one function for each class.
    ///
    /// # Errors
    /// Those of [`super::Svm::fit`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelMachineModel<T>> {
        check_penalty(self.penalty)?;
        self.frame().fit(data, run, |task| self.learn(task, run))
    }

    fn frame(&self) -> Frame<'_> {
        let KernelLogistic { svd, symmetrize, class_weight, approximation, .. } = self;
        Frame { name: "logistic", svd, symmetrize: *symmetrize, class_weight, approximation, machines: None }
    }

    fn learn(&self, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let default = Logistic::new(self.penalty);
        let machine = Logistic { tol: self.svd.solver_params.get("tol").unwrap_or(default.tol), ..default };
        let labels = Labels { codes: task.codes, classes: task.names.len(), weights: task.weights };
        let found = match task.space {
            Space::Kernel(k) => self.stored(k, |k| machine.fit_kernel(k, &labels, run))?,
            Space::Features(f) => machine.fit(f, &labels, run)?,
        };
        let (verdict, steps) = (found.verdict, found.steps);
        let left = format!("the gradient is still {:.1e} of that at zero after {steps} steps", verdict.left());
        Ok(Learned {
            coefficients: found.planes.weights,
            bias: found.planes.bias,
            output: Output::Softmax,
            params: vec![("penalty", self.penalty.into()), ("newton-steps", steps.into())],
            warnings: if verdict.converged() { Vec::new() } else { vec![left] },
            converged: verdict.converged(),
        })
    }

    /// Works with all entries of K where they fit half of the memory allowed: the products of one fit are many.
    fn stored<R>(&self, k: &dyn Operator<f64>, work: impl FnOnce(&dyn Operator<f64>) -> Result<R>) -> Result<R> {
        let bytes = 8 * (k.nrows() * k.nrows()) as u64;
        if bytes > self.svd.memory.unwrap_or_else(available_memory) / 2 {
            return work(k);
        }
        let whole = materialize(k)?;
        work(&DenseOperator::Borrowed(whole.as_ref()))
    }

    fn set(&self, setting: &str, value: &str) -> Result<Self> {
        let mut out = self.clone();
        match setting {
            name if KERNEL_SETTINGS.contains(&name) => out.svd = self.svd.set(setting, value)?,
            "penalty" => out.penalty = above_zero(setting, value)?,
            "symmetrize" => out.symmetrize = value.parse()?,
            "class-weight" => out.class_weight = value.parse()?,
            _ if out.approximation.set(setting, value)? => {}
            _ => return Err(unknown_setting(setting, &SETTINGS)),
        }
        Ok(out)
    }

    fn at(&self, point: &[(String, String)]) -> Result<Self> {
        point.iter().try_fold(self.clone(), |machine, (setting, value)| machine.set(setting, value))
    }
}

impl<T: Scalar> Estimator<T> for KernelLogistic {
    fn with(&self, point: &[(String, String)]) -> Result<Box<dyn Estimator<T>>> {
        Ok(Box::new(self.at(point)?))
    }

    fn plan(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        self.frame().plan(data, run)
    }

    fn fit(&self, data: Dataset<T>, run: &Run) -> Result<Box<dyn Model<T>>> {
        Ok(Box::new(self.fit(data, run)?))
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        let machines: Vec<Self> = points.iter().map(|point| self.at(point)).collect::<Result<_>>()?;
        let frames: Vec<Frame<'_>> = machines.iter().map(Self::frame).collect();
        validate::scores(&frames, data, folds, run, |at, task, run| machines[at].learn(task, run))
    }
}

/// The entry of kernel logistic regression.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    EstimatorEntry {
        name: "logistic",
        about: "kernel logistic regression with a symmetric or symmetrised kernel, exact or by landmarks (--approach lla, gsa): probabilities of the classes",
        settings: &SETTINGS,
        build: |recipe: Recipe| Box::new(KernelLogistic::new(recipe.svd, Symmetrize::Average)),
        load: |archive| Ok(Box::new(KernelMachineModel::<T>::from_archive(archive)?)),
    }
}

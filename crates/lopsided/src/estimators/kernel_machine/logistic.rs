//! Kernel logistic regression: the estimator, its place in the list, and when the kernel matrix is stored.

use super::{
    APPROXIMATION_SETTINGS, Approximation, CLASS_WEIGHT, ClassWeight, Dataset, Estimator, EstimatorEntry, Frame, Gram,
    KernelMachineModel, Learned, Model, Output, PENALTY, Plan, Point, Recipe, Result, Run, SYMMETRIZE, Scalar, Setting,
    Settings, Space, Symmetrize, Task, entry_of, gram, validate,
};
use crate::base::setters;
use crate::estimators::recipe::Usual;
use crate::operator::{DenseOperator, Operator, materialize};
use crate::solvers::linear_machine::{Labels, Logistic};
use crate::solvers::linsys::check_penalty;

const SETTINGS: [&[Setting]; 2] = [&APPROXIMATION_SETTINGS, &[PENALTY, SYMMETRIZE, CLASS_WEIGHT]];

/// Logistic regression of a kernel that is symmetric or made so, as [`super::Svm`] has it: exact, by products with the kernel
/// matrix alone ([`Logistic::fit_kernel`]), or with landmarks ([`Logistic::fit`]).
///
/// Minimises ½·aᵀKa + penalty·Σ_i weight_i·loss_i; softmax of the decision values gives probabilities.
///
/// With f_c = K·a_c + b_c the loss of sample i is −log(exp(f_true)/Σ_c exp(f_c)). All classes are learned
/// together, so that the probabilities are those of one model and need no sigmoids afterwards.
///
/// # Cost
/// Newton's steps are found by conjugate gradients, each of them a product with K of O(n²); K is stored where
/// it fits half of the memory allowed and evaluated in every product otherwise. With m landmarks a product
/// costs O(n·m).
///
/// # Example
/// Of points that lie symmetrically around 0 the linear kernel can say nothing at 0 itself:
///
/// ```
/// use lopsided::estimators::{KernelLogistic, Model};
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Mat::from_fn(4, 1, |i, _| [-2.0, -1.0, 1.0, 2.0][i]);
/// let names = vec!["left".to_string(), "right".to_string()];
/// let y = Target::Classes { names, codes: vec![Some(0), Some(0), Some(1), Some(1)] };
/// let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
/// let model = KernelLogistic::new("linear").fit(data, &Run::default())?;
/// let new = Dataset::new(Samples::Dense(Mat::from_fn(2, 1, |i, _| 3.0 * i as f64)));
/// let shares = model.probabilities(&new, &Run::default())?.unwrap();
/// assert!((shares[(0, 0)] - 0.5).abs() < 1e-4); // at 0
/// assert!(shares[(1, 1)] > 0.9); // at 3
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelLogistic {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// Length of the gradient relative to that at zero that is allowed; `None`: 1e-6.
    pub tol: Option<f64>,
    /// Weight of the losses.
    pub penalty: f64,
    /// How the kernel becomes symmetric.
    pub symmetrize: Symmetrize,
    /// What samples count because of their class.
    pub class_weight: ClassWeight,
    /// The approach and its landmarks; exact unless they are asked for.
    pub approximation: Approximation,
}

setters!(KernelLogistic: with_gram(gram: Gram), with_penalty(penalty: f64), with_symmetrize(symmetrize: Symmetrize),
    with_class_weight(class_weight: ClassWeight), with_approximation(approximation: Approximation),
    with_tol(tol: f64 => Some(tol)));

impl Default for KernelLogistic {
    /// What the recipe makes where nothing is said, but for the penalty.
    fn default() -> Self {
        KernelLogistic::new(Usual::ROWS.gram())
    }
}

impl KernelLogistic {
    /// Penalty 1.
    ///
    /// A tolerance of 1e-6, all classes equal, (K + Kᵀ)/2 of an asymmetric kernel, exact. The recipe called `logistic`
    /// ([`crate::estimators::member`]) tries several penalties on held-out rows unless one is given.
    pub fn new(gram: impl Into<Gram>) -> Self {
        let (class_weight, approximation) = (ClassWeight::Equal, Approximation::default());
        let (gram, symmetrize) = (gram.into(), Symmetrize::Average);
        KernelLogistic { gram, tol: None, penalty: 1.0, symmetrize, class_weight, approximation }
    }

    /// Learns one function for each class.
    ///
    /// # Errors
    /// Those of [`super::Svm::fit`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelMachineModel<T>> {
        check_penalty(self.penalty)?;
        self.frame().fit(data, run, |task| self.learn(task, run))
    }

    /// What it shares with the SVM; there are no two-class machines in it.
    fn frame(&self) -> Frame<'_> {
        let KernelLogistic { gram, symmetrize, class_weight, approximation, .. } = self;
        let effort = ((800.0, 1000.0), 1e-7);
        Frame { name: "logistic", gram, symmetrize: *symmetrize, class_weight, approximation, machines: None, effort }
    }

    /// Newton's method on coefficients of the samples, or on weights of features; a fit that has not reached the
    /// tolerance says so.
    fn learn(&self, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let default = Logistic::new(self.penalty);
        let machine = Logistic { tol: self.tol.unwrap_or(default.tol), ..default };
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
        if bytes > self.gram.bytes() / 2 {
            return work(k);
        }
        let whole = materialize(k)?;
        work(&DenseOperator::Borrowed(whole.as_ref()))
    }

    /// The same with some settings changed.
    fn at(&self, given: &Settings) -> Result<Self> {
        given.refuse_unknown(&[&gram::settings(), &SETTINGS.concat()])?;
        Ok(KernelLogistic {
            gram: self.gram.with(given)?,
            tol: self.tol,
            penalty: given.positive("penalty", Some(self.penalty))?,
            symmetrize: given.word("symmetrize")?.unwrap_or(self.symmetrize),
            class_weight: given.word("class-weight")?.unwrap_or_else(|| self.class_weight.clone()),
            approximation: self.approximation.with(given)?,
        })
    }
}

impl<T: Scalar> Estimator<T> for KernelLogistic {
    framed!();

    fn settings(&self) -> Settings {
        self.frame().settings().with("penalty", self.penalty).with_some("tol", self.tol)
    }

    fn validate(&self, data: &Dataset<T>, points: &[Point], folds: &[Vec<usize>], run: &Run) -> Result<Vec<Vec<f64>>> {
        let machines: Vec<Self> = points.iter().map(|point| self.at(point)).collect::<Result<_>>()?;
        let frames: Vec<Frame<'_>> = machines.iter().map(Self::frame).collect();
        validate::scores(&frames, data, folds, run, |at, task, run| machines[at].learn(task, run))
    }
}

/// The entry of kernel logistic regression.
pub(in crate::estimators) fn entry<T: Scalar>() -> EstimatorEntry<T> {
    let about = "kernel logistic regression with a symmetric or symmetrised kernel, exact or by landmarks (--approach lla, gsa): probabilities of the classes";
    entry_of("logistic", about, &SETTINGS, |recipe: Recipe| {
        Box::new(KernelLogistic { tol: recipe.tol(), ..KernelLogistic::new(recipe.gram()) })
    })
}

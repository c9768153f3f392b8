use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::estimators::Answer;
use crate::kernel::{KernelSpec, Polynomial};
use crate::solvers::lowrank::{Anchors, KernelFunctions};
use crate::solvers::svm::{Pair, Sigmoid};
use faer::Mat;

/// A model as functions f_c(x) = Σ_j k(x, z_j)·w_jc + b_c, with what is done before and after.
#[derive(Clone, Debug)]
pub struct KernelSum<T> {
    /// Offset and factor of the columns, x ↦ (x − offset)·factor, where they are scaled.
    pub(in crate::estimators) scale: Option<(Vec<f64>, Vec<f64>)>,
    pub(in crate::estimators) kernel: Formula,
    pub(in crate::estimators) anchors: Mat<T>,
    /// A row for each anchor, a column for each function.
    pub(in crate::estimators) weights: Mat<f64>,
    pub(in crate::estimators) bias: Vec<f64>,
    /// How decision values are made of the functions.
    pub(in crate::estimators) head: Head,
    pub(in crate::estimators) answer: Answer,
}

/// The kernels that are operators of every runtime.
#[derive(Clone, Copy, Debug)]
pub(in crate::estimators) enum Formula {
    Linear,
    Polynomial(Polynomial),
    Rbf(f64),
    Laplacian(f64),
}

/// From the functions to decision values and probabilities.
#[derive(Clone, Debug)]
pub(in crate::estimators) enum Head {
    /// The functions are the decision values.
    Plain,
    /// The same, and softmax gives probabilities.
    Softmax,
    /// Decision values are probabilities, P_c ∝ (1/(1 + exp(−f_c)))^power.
    Stacked { power: f64 },
    /// A function for each pair of classes or for each class against the rest.
    Machines { pairs: Vec<Pair>, sigmoids: Option<Vec<Sigmoid>> },
}

/// A model that cannot be exported.
pub(in crate::estimators) fn refused(reason: impl Into<String>) -> Error {
    Error::Export { format: "ONNX", reason: reason.into() }
}

impl<T: Scalar> KernelSum<T> {
    /// The functions of a machine, the anchors without weight left out.
    pub(in crate::estimators) fn new(functions: &KernelFunctions<T>, answer: &Answer) -> Result<Self> {
        let kernel = Formula::of(&functions.kernel)?;
        let Anchors::Points(points) = &functions.anchors else { return Err(precomputed()) };
        let SamplesRef::Dense(_) = points.as_ref() else {
            return Err(refused("it was learned from a sparse table, and the tables of ONNX are dense"));
        };
        let weights = &functions.weights;
        let used: Vec<usize> =
            (0..weights.nrows()).filter(|&j| weights.row(j).iter().any(|weight| *weight != 0.0)).collect();
        Ok(KernelSum {
            scale: None,
            kernel,
            anchors: points.as_ref().select(&used).into_dense(),
            weights: Mat::from_fn(used.len(), weights.ncols(), |j, c| weights[(used[j], c)]),
            bias: functions.bias.clone(),
            head: Head::Plain,
            answer: answer.clone(),
        })
    }
}

fn precomputed() -> Error {
    refused("its kernel values are computed elsewhere (`precomputed`), and no formula of them is known")
}

impl Formula {
    fn of(kernel: &KernelSpec) -> Result<Self> {
        if kernel.is_own() {
            return Err(refused(format!("its kernel `{}` is your own, and no formula of it is known", kernel.name)));
        }
        let gamma = || kernel.params.positive("gamma", None);
        match kernel.name.as_str() {
            "linear" => Ok(Formula::Linear),
            "poly" => Polynomial::new(&kernel.params).map(Formula::Polynomial),
            "rbf" => gamma().map(Formula::Rbf),
            "laplacian" => gamma().map(Formula::Laplacian),
            _ if kernel.is_precomputed() => Err(precomputed()),
            other => Err(refused(format!("its kernel is `{other}` but must be rbf, linear, poly or laplacian"))),
        }
    }
}

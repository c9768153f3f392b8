//! The model of every exact or approximate kernel machine: functions, and how classes are decided from them.
//!
//! The functions are either over samples (an [`AskLsModel`] with one function per class or pair, which also
//! knows graphs and asymmetric kernels) or over landmarks ([`KernelFunctions`]). `Output` says what a column of
//! them means.

use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::estimators::ask_ls::AskLsModel;
use crate::estimators::landmarked::answered_by_functions;
use crate::estimators::onnx::{Head, KernelSum};
use crate::estimators::{Answer, FitReport, Model};
use crate::solvers::linear_machine::softmax;
use crate::solvers::lowrank::KernelFunctions;
use crate::solvers::svm::{Pair, Sigmoid, class_probabilities, class_values};
use faer::Mat;

/// How classes are decided from the functions.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Output {
    /// A function for each pair of classes, or for each class against the rest, with sigmoids if there are probabilities.
    Machines { pairs: Vec<Pair>, sigmoids: Option<Vec<Sigmoid>> },
    /// A function for each class; softmax gives probabilities.
    Softmax,
}

impl Output {
    /// What files of machines for each class say, which have no field for it.
    fn one_vs_rest(classes: usize) -> Self {
        Output::Machines { pairs: (0..classes as u32).map(|c| (c, None)).collect(), sigmoids: None }
    }

    /// Number of functions for so many classes; `None` if the pairs make no sense.
    fn width(&self, classes: usize) -> Option<usize> {
        let Output::Machines { pairs, sigmoids } = self else { return Some(classes) };
        let known = |c: u32| (c as usize) < classes;
        let each = pairs.iter().enumerate().all(|(at, pair)| *pair == (at as u32, None)) && pairs.len() == classes;
        let paired = pairs.iter().all(|(a, b)| known(*a) && b.is_some_and(|b| known(b) && b != *a));
        let fits = (each || paired) && !pairs.is_empty() && sigmoids.as_ref().is_none_or(|s| s.len() == pairs.len());
        fits.then_some(pairs.len())
    }

    /// A column of decision values for each class from one of each function.
    pub(super) fn decision(&self, values: Mat<f64>, classes: usize) -> Mat<f64> {
        match self {
            Output::Machines { pairs, .. } => class_values(values.as_ref(), pairs, classes),
            Output::Softmax => values,
        }
    }
}

/// The functions of all classes or pairs of classes.
#[derive(Clone, Debug)]
pub(super) enum Functions<T> {
    /// In coefficients of K.
    Samples(Box<AskLsModel<T>>),
    /// With landmarks.
    Landmarks(Box<LandmarkFunctions<T>>),
}

impl<T: Scalar> Functions<T> {
    fn model(&self) -> &dyn Model<T> {
        match self {
            Functions::Samples(functions) => &**functions,
            Functions::Landmarks(functions) => &**functions,
        }
    }
}

/// Field of files with [`LandmarkFunctions`].
const BY_LANDMARKS: &str = "by-landmarks";

/// Functions of a machine with landmarks.
#[derive(Clone, Debug)]
pub(super) struct LandmarkFunctions<T> {
    pub(super) name: String,
    pub(super) functions: KernelFunctions<T>,
    pub(super) answer: Answer,
    pub(super) report: FitReport,
}

impl<T: Scalar> LandmarkFunctions<T> {
    fn from_archive(archive: &Archive, width: usize) -> Result<Self> {
        let (name, answer) = (archive.field("estimator")?, archive.field("answer")?);
        let functions = KernelFunctions::take(archive)?;
        if functions.count() != width {
            return Err(archive.error("has arrays whose sizes do not fit together"));
        }
        Ok(LandmarkFunctions { name, functions, answer, report: archive.field("fit")? })
    }
}

impl<T: Scalar> Model<T> for LandmarkFunctions<T> {
    answered_by_functions!();

    fn kernel_sum(&self) -> Result<KernelSum<T>> {
        KernelSum::new(&self.functions, &self.answer)
    }

    fn archive(&self) -> Archive {
        let mut archive = Archive::of_model::<T>(&self.name);
        archive.set_field("answer", &self.answer);
        archive.set_field("fit", &self.report);
        archive.set_field(BY_LANDMARKS, true);
        self.functions.put(&mut archive);
        archive
    }
}

/// A fitted [`super::Svm`] or [`super::KernelLogistic`].
///
/// For pairs of classes the decision value of a class is the number of its votes, with a share below one that
/// settles ties; for one class against the rest, and for logistic regression, it is the function of the class.
/// Of two classes the only function f stands for the first and −f for the second.
///
/// The points −1 and 1 have the widest margin for f(x) = −x, if the class of −1 comes first:
///
/// ```
/// use lopsided::estimators::{Model, Svm};
/// use lopsided::{Dataset, Mat, Run, Samples, Target};
///
/// let x = Mat::from_fn(2, 1, |i, _| 2.0 * i as f64 - 1.0);
/// let names = vec!["low".to_string(), "high".to_string()];
/// let y = Target::Classes { names, codes: vec![Some(0), Some(1)] };
/// let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
/// let model = Svm::new("linear").fit(data, &Run::default())?;
/// let new = Dataset::new(Samples::Dense(Mat::from_fn(1, 1, |_, _| 3.0)));
/// let found = model.decision(&new, &Run::default())?;
/// assert!((found[(0, 0)] + 3.0).abs() < 1e-2 && (found[(0, 1)] - 3.0).abs() < 1e-2);
/// assert_eq!(model.answer().words(found.as_ref()), ["high"]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelMachineModel<T> {
    pub(super) functions: Functions<T>,
    pub(super) output: Output,
}

impl<T: Scalar> KernelMachineModel<T> {
    /// One of functions of landmarks, one for each class, whose softmax gives probabilities or which stand against the rest.
    pub(in crate::estimators) fn by_landmarks(
        name: &str,
        functions: KernelFunctions<T>,
        (answer, report): (Answer, FitReport),
        softmax: bool,
    ) -> Self {
        let output = if softmax { Output::Softmax } else { Output::one_vs_rest(answer.classes().len()) };
        let functions = LandmarkFunctions { name: name.into(), functions, answer, report };
        KernelMachineModel { functions: Functions::Landmarks(Box::new(functions)), output }
    }

    /// The values of the functions themselves: a column for each pair of classes or each class.
    ///
    /// # Errors
    /// Those of [`Model::decision`].
    ///
    /// # Example
    /// Four classes make six pairs:
    ///
    /// ```
    /// use lopsided::data::synth;
    /// use lopsided::estimators::{Model, Svm};
    /// use lopsided::solvers::svm::MultiClass;
    /// use lopsided::{Dataset, Run, Samples, Target};
    ///
    /// let (x, classes) = synth::clusters::<f64>(60, 2, 4, 1);
    /// let names = (0..4).map(|c| c.to_string()).collect();
    /// let y = Target::Classes { names, codes: classes.iter().map(|c| Some(*c)).collect() };
    /// let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
    /// let model = Svm::new("rbf").with_multi_class(MultiClass::OneVsOne).fit(data.clone(), &Run::default())?;
    /// assert_eq!(model.function_values(&data, &Run::default())?.shape(), (60, 6));
    /// assert_eq!(model.decision(&data, &Run::default())?.shape(), (60, 4));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn function_values(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        self.functions.model().decision(samples, run)
    }

    /// The model of an archive.
    ///
    /// # Errors
    /// [`crate::Error::Archive`] for a damaged file.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let answer: Answer = archive.field("answer")?;
        let classes = answer.classes().len();
        let output = archive.field::<Option<Output>>("output")?.unwrap_or_else(|| Output::one_vs_rest(classes));
        let damaged = || archive.error("has machines that do not fit its classes");
        let width = output.width(classes).ok_or_else(damaged)?;
        let functions = match archive.field::<Option<bool>>(BY_LANDMARKS)? {
            Some(true) => Functions::Landmarks(Box::new(LandmarkFunctions::from_archive(archive, width)?)),
            _ => Functions::Samples(Box::new(AskLsModel::with_columns(archive, width)?)),
        };
        Ok(KernelMachineModel { functions, output })
    }
}

impl<T: Scalar> Model<T> for KernelMachineModel<T> {
    fn answer(&self) -> &Answer {
        self.functions.model().answer()
    }

    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        Ok(self.output.decision(self.function_values(samples, run)?, self.answer().width()))
    }

    fn probabilities(&self, samples: &Dataset<T>, run: &Run) -> Result<Option<Mat<f64>>> {
        let (pairs, sigmoids) = match &self.output {
            Output::Softmax => return Ok(Some(softmax(self.function_values(samples, run)?.as_ref()))),
            Output::Machines { sigmoids: None, .. } => return Ok(None),
            Output::Machines { pairs, sigmoids: Some(sigmoids) } => (pairs, sigmoids),
        };
        let values = self.function_values(samples, run)?;
        Ok(Some(class_probabilities(values.as_ref(), sigmoids, pairs, self.answer().width())))
    }

    fn has_probabilities(&self) -> bool {
        !matches!(self.output, Output::Machines { sigmoids: None, .. })
    }

    fn kernel_sum(&self) -> Result<KernelSum<T>> {
        let head = match &self.output {
            Output::Softmax => Head::Softmax,
            Output::Machines { pairs, sigmoids } => Head::Machines { pairs: pairs.clone(), sigmoids: sigmoids.clone() },
        };
        Ok(KernelSum { head, ..self.functions.model().kernel_sum()? })
    }

    fn frame(&self) -> Option<&GraphFrame> {
        self.functions.model().frame()
    }

    fn report(&self) -> &FitReport {
        self.functions.model().report()
    }

    fn archive(&self) -> Archive {
        let mut archive = self.functions.model().archive();
        archive.set_field("output", &self.output);
        archive
    }
}

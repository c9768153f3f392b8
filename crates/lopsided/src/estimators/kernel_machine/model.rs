use crate::archive::Archive;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::estimators::ask_ls::AskLsModel;
use crate::estimators::{Answer, FitReport, Model};
use crate::graph::GraphFrame;
use crate::linear_machine::softmax;
use crate::scalar::Scalar;
use crate::svd::Run;
use crate::svm::{Pair, Sigmoid, class_probabilities, class_values};
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
}

/// A fitted [`super::Svm`] or [`super::KernelLogistic`].
#[derive(Clone, Debug)]
pub struct KernelMachineModel<T> {
    /// The functions, in coefficients of K.
    pub(super) functions: AskLsModel<T>,
    pub(super) output: Output,
}

impl<T: Scalar> KernelMachineModel<T> {
    /// The values of the functions themselves: a column for each pair of classes or each class.
    ///
    /// # Errors
    /// Those of [`Model::decision`].
    pub fn function_values(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        self.functions.decision(samples, run)
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
        Ok(KernelMachineModel { functions: AskLsModel::with_columns(archive, width)?, output })
    }
}

impl<T: Scalar> Model<T> for KernelMachineModel<T> {
    fn answer(&self) -> &Answer {
        self.functions.answer()
    }

    fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
        let values = self.function_values(samples, run)?;
        Ok(match &self.output {
            Output::Machines { pairs, .. } => class_values(values.as_ref(), pairs, self.answer().width()),
            Output::Softmax => values,
        })
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

    fn frame(&self) -> Option<&GraphFrame> {
        self.functions.frame()
    }

    fn report(&self) -> &FitReport {
        self.functions.report()
    }

    fn archive(&self) -> Archive {
        let mut archive = self.functions.archive();
        archive.set_field("output", &self.output);
        archive
    }
}

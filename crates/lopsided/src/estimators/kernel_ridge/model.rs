use super::ridge::NAME;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::estimators::landmarked::answered_by_functions;
use crate::estimators::onnx::KernelSum;
use crate::estimators::{Answer, FitReport, Model};
use crate::solvers::lowrank::KernelFunctions;
use faer::Mat;

/// A fitted [`super::KernelRidge`] or [`super::StreamedRidge`].
#[derive(Clone, Debug)]
pub struct KernelRidgeModel<T> {
    /// One function for each class, or the function.
    pub functions: KernelFunctions<T>,
    pub(in crate::estimators) answer: Answer,
    pub(in crate::estimators) report: FitReport,
}

impl<T: Scalar> KernelRidgeModel<T> {
    /// The model of an archive.
    ///
    /// # Errors
    /// [`crate::Error::Archive`] for a damaged file.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let functions = KernelFunctions::take(archive)?;
        let model = KernelRidgeModel { functions, answer: archive.field("answer")?, report: archive.field("fit")? };
        let named = model.answer != Answer::Classes(Vec::new());
        if named && model.functions.count() == model.answer.width() {
            return Ok(model);
        }
        Err(archive.error("has arrays whose sizes do not fit together"))
    }
}

impl<T: Scalar> Model<T> for KernelRidgeModel<T> {
    answered_by_functions!();

    fn kernel_sum(&self) -> Result<KernelSum<T>> {
        KernelSum::new(&self.functions, &self.answer)
    }

    fn archive(&self) -> Archive {
        let mut archive = Archive::of_model::<T>(NAME);
        archive.set_field("answer", &self.answer);
        archive.set_field("fit", &self.report);
        self.functions.put(&mut archive);
        archive
    }
}

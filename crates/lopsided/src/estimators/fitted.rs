//! What any estimator leaves behind, and what that can do.

use super::{BiclusteringModel, Head, KernelPcaModel, KernelSvdModel, Model, kernel_pca, kernel_svd, load_model, onnx};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::graph::GraphFrame;
use crate::data::samples::{SamplesRef, Side};
use faer::Mat;

/// A fitted model of any estimator of the [`super::catalogue`].
///
/// Commands and bindings ask [`Fitted::can`] what it does, never what it is called.
pub enum Fitted<T> {
    /// Two sets of features.
    Embedding(KernelSvdModel<T>),
    /// Clusters of rows and of columns, with the embedding they come from.
    Clusters(BiclusteringModel<T>),
    /// Functions of the rows: principal components, or the features of landmarks.
    Components(KernelPcaModel<T>),
    /// Classes or values.
    Predictor(Box<dyn Model<T>>),
}

/// What a model can do.
#[expect(clippy::struct_excessive_bools, reason = "each is an ability of its own, and every combination may be")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Abilities {
    /// Classes or values of rows.
    pub predict: bool,
    /// Probabilities of classes.
    pub probabilities: bool,
    /// Features of new rows.
    pub transform_rows: bool,
    /// Features of new columns.
    pub transform_cols: bool,
    /// Clusters of rows and of columns.
    pub clusters: bool,
}

impl<T: Scalar> Fitted<T> {
    /// What it can do.
    pub fn can(&self) -> Abilities {
        let embeds = self.embedding().is_some();
        let predictor = if let Fitted::Predictor(model) = self { Some(model) } else { None };
        Abilities {
            predict: predictor.is_some(),
            probabilities: predictor.is_some_and(|model| model.has_probabilities()),
            transform_rows: embeds || matches!(self, Fitted::Components(_)),
            transform_cols: embeds,
            clusters: matches!(self, Fitted::Clusters(_)),
        }
    }

    /// The embedding it has or predicts from, where there is one.
    pub fn embedding(&self) -> Option<&KernelSvdModel<T>> {
        match self {
            Fitted::Embedding(svd) => Some(svd),
            Fitted::Clusters(model) => Some(&model.svd),
            Fitted::Components(_) => None,
            Fitted::Predictor(model) => model.embedding(),
        }
    }

    /// The graph it was fitted to, where it was one.
    pub fn frame(&self) -> Option<&GraphFrame> {
        match self {
            Fitted::Predictor(model) => model.frame(),
            _ => self.embedding().and_then(|svd| svd.data.frame.as_ref()),
        }
    }

    /// The part that predicts.
    ///
    /// # Errors
    /// [`Error::Param`] for a model that does not.
    pub fn predictor(&self) -> Result<&dyn Model<T>> {
        match self {
            Fitted::Predictor(model) => Ok(&**model),
            _ => Err(Error::param("predict", "asked for", "left out: the model does not predict")),
        }
    }

    /// The model as an ONNX file.
    ///
    /// # Errors
    /// [`Error::Export`] for a model that does not predict, or not by a sum of kernels.
    pub fn onnx(&self) -> Result<onnx::Exported> {
        match self {
            Fitted::Predictor(model) => onnx::export(&**model),
            _ => Err(onnx::refused("it does not predict")),
        }
    }

    /// New rows, or new columns, in its space: one row of features each.
    ///
    /// # Errors
    /// [`Error::Param`] for a model that has no features of this side; those of the projections.
    pub fn transform(&self, side: Side, samples: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        match (self.embedding(), side, self) {
            (Some(svd), Side::Row, _) => svd.project_rows(samples, run),
            (Some(svd), Side::Col, _) => svd.project_cols(samples, run),
            (None, Side::Row, Fitted::Components(model)) => {
                let placed = model.transform(samples, run)?;
                Ok(Mat::from_fn(placed.nrows(), placed.ncols(), |i, j| T::of(placed[(i, j)])))
            }
            (None, Side::Col, Fitted::Components(_)) => {
                Err(Error::param("cols", "given", "left out: the model places rows"))
            }
            _ => Err(Error::param("transform", "asked for", "left out: the model predicts")),
        }
    }

    /// The model as arrays and metadata.
    pub fn archive(&self) -> Archive {
        match self {
            Fitted::Embedding(svd) => svd.archive(),
            Fitted::Clusters(model) => model.archive(),
            Fitted::Components(model) => model.archive(),
            Fitted::Predictor(model) => model.archive(),
        }
    }

    /// The model of an archive, whoever wrote it.
    ///
    /// # Errors
    /// [`Error::Archive`] for a damaged file or one of something else.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let is = |name: &str| archive.field::<String>("estimator").is_ok_and(|own| own == name);
        if is(kernel_pca::NAME) {
            return KernelPcaModel::from_archive(archive).map(Fitted::Components);
        }
        if is(kernel_svd::NAME) && !Head::is_in(archive) {
            return Ok(match BiclusteringModel::of(archive)? {
                Ok(model) => Fitted::Clusters(model),
                Err(svd) => Fitted::Embedding(svd),
            });
        }
        load_model(archive).map(Fitted::Predictor)
    }
}

//! What was fitted, and what it can say.

use crate::data::Parts;
use crate::nodes;
use lopsided::base::settings::Settings;
use lopsided::data::archive::Archive;
use lopsided::data::graph::GraphFrame;
use lopsided::estimators::{Head, KernelPcaModel, Model, load_model};
use lopsided::{Dataset, Error, KernelSvdModel, Mat, Result, Run, Scalar, Side};
use numpy::Element;
use serde_json::{Value, json};

/// What was fitted.
pub(crate) enum Fitted<T> {
    Embedding(KernelSvdModel<T>),
    /// Clusters of rows and columns beside the embedding they come from.
    Clusters(KernelSvdModel<T>, [Vec<u32>; 2]),
    Components(KernelPcaModel<T>),
    Predictor(Box<dyn Model<T>>),
}

/// Numbers of a model.
pub(crate) enum Array<T> {
    Matrix(Mat<T>),
    Vector(Vec<T>),
    Doubles(Vec<f64>),
    Codes(Vec<u32>),
}

/// Metadata with the clusters.
const CLUSTERS: [&str; 2] = ["row_clusters", "col_clusters"];

impl<T: Scalar + Element> Fitted<T> {
    pub(crate) fn name(&self) -> String {
        match self {
            Fitted::Embedding(_) | Fitted::Clusters(..) => "kernel-svd".into(),
            Fitted::Components(_) => "kpca".into(),
            // Every model writes its name.
            Fitted::Predictor(model) => model.archive().field("estimator").unwrap_or_default(),
        }
    }

    pub(crate) fn report(&self) -> Value {
        match self {
            Fitted::Embedding(svd) | Fitted::Clusters(svd, _) => json!({
                "kernel": svd.kernel, "scaling": svd.scaling, "operator": svd.operator, "centered": svd.is_centered(),
                "size": svd.size(), "solve": svd.report(), "converged": svd.report().converged(),
                "warnings": svd.report().notes,
                "seconds_in_operator": svd.report().seconds_in_operator,
            }),
            Fitted::Components(model) => json!({
                "params": model.params, "n_train": model.n_train, "converged": model.converged(),
                "warnings": model.warnings(),
            }),
            Fitted::Predictor(model) => json!(model.report()),
        }
    }

    pub(crate) fn classes(&self) -> Vec<String> {
        match self {
            Fitted::Predictor(model) => model.answer().classes().to_vec(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn frame(&self) -> Option<&GraphFrame> {
        match self {
            Fitted::Embedding(svd) | Fitted::Clusters(svd, _) => svd.data.frame.as_ref(),
            Fitted::Components(_) => None,
            Fitted::Predictor(model) => model.frame(),
        }
    }

    pub(crate) fn array(&self, name: &str) -> Result<Array<T>> {
        match (self, name) {
            (Fitted::Clusters(_, clusters), "row_clusters") => Ok(Array::Codes(clusters[0].clone())),
            (Fitted::Clusters(_, clusters), "col_clusters") => Ok(Array::Codes(clusters[1].clone())),
            (Fitted::Embedding(svd) | Fitted::Clusters(svd, _), name) => of_svd(svd, name),
            (Fitted::Components(model), "variances") => Ok(Array::Doubles(model.variances.clone())),
            _ => Err(Error::param("array", name, "one that the model has")),
        }
    }

    /// New rows or columns in the space of an embedding or of components.
    pub(crate) fn transform(&self, parts: Parts<T>, columns: bool, run: &Run) -> Result<Mat<T>> {
        let samples = self.samples(parts, columns, run)?.x;
        match self {
            Fitted::Embedding(svd) | Fitted::Clusters(svd, _) if columns => svd.project_cols(samples.as_ref(), run),
            Fitted::Embedding(svd) | Fitted::Clusters(svd, _) => svd.project_rows(samples.as_ref(), run),
            Fitted::Components(model) => {
                let placed = model.transform(samples.as_ref(), run)?;
                Ok(Mat::from_fn(placed.nrows(), placed.ncols(), |i, j| T::of(placed[(i, j)])))
            }
            Fitted::Predictor(_) => Err(Error::param("transform", "asked for", "left out: the model predicts")),
        }
    }

    pub(crate) fn decision(&self, parts: Parts<T>, run: &Run) -> Result<Mat<f64>> {
        let samples = self.samples(parts, false, run)?;
        self.predictor()?.decision(&samples, run)
    }

    pub(crate) fn probabilities(&self, parts: Parts<T>, run: &Run) -> Result<Option<Mat<f64>>> {
        let samples = self.samples(parts, false, run)?;
        self.predictor()?.probabilities(&samples, run)
    }

    /// New samples; those of a graph are nodes with their links to nodes that the model knows.
    fn samples(&self, mut parts: Parts<T>, columns: bool, run: &Run) -> Result<Dataset<T>> {
        let Some(frame) = self.frame() else { return parts.dataset(&mut Settings::default(), run) };
        let (graph, ids) = (parts.graph()?, parts.row_ids.take().unwrap_or_default());
        let nodes = nodes::of(frame, graph.as_ref(), ids)?;
        Ok(match nodes.z {
            Some(z) if columns => Dataset::new(z),
            z => Dataset { z, ..nodes },
        })
    }

    fn predictor(&self) -> Result<&dyn Model<T>> {
        match self {
            Fitted::Predictor(model) => Ok(&**model),
            _ => Err(Error::param("predict", "asked for", "left out: the model does not predict")),
        }
    }

    pub(crate) fn archive(&self) -> Archive {
        match self {
            Fitted::Embedding(svd) => svd.archive(),
            Fitted::Clusters(svd, clusters) => {
                let mut archive = svd.archive();
                CLUSTERS.iter().zip(clusters).for_each(|(name, codes)| archive.set_field(name, codes));
                archive
            }
            Fitted::Components(model) => model.archive(),
            Fitted::Predictor(model) => {
                let mut archive = model.archive();
                // As the command line does for samples without a named target column.
                archive.set_field("target", Value::Null);
                archive
            }
        }
    }

    pub(crate) fn from_archive(archive: &Archive) -> Result<Self> {
        match archive.field::<String>("estimator")?.as_str() {
            "kpca" => KernelPcaModel::from_archive(archive).map(Fitted::Components),
            "kernel-svd" if !Head::is_in(archive) => {
                let svd = KernelSvdModel::from_archive(archive)?;
                let [rows, cols] = CLUSTERS.map(|name| archive.field::<Option<Vec<u32>>>(name));
                Ok(match (rows?, cols?) {
                    (Some(rows), Some(cols)) => Fitted::Clusters(svd, [rows, cols]),
                    _ => Fitted::Embedding(svd),
                })
            }
            _ => load_model(archive).map(Fitted::Predictor),
        }
    }
}

fn of_svd<T: Scalar>(svd: &KernelSvdModel<T>, name: &str) -> Result<Array<T>> {
    match name {
        "u" => Ok(Array::Matrix(svd.svd.u.clone())),
        "v" => Ok(Array::Matrix(svd.svd.v.clone())),
        "sigma" => Ok(Array::Vector(svd.svd.sigma.clone())),
        "rows" => Ok(Array::Matrix(svd.embedding(Side::Row))),
        "cols" => Ok(Array::Matrix(svd.embedding(Side::Col))),
        _ => Err(Error::param("array", name, "u, v, sigma, rows or cols")),
    }
}

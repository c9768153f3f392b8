//! What a fitted model says to Python.

use crate::data::Parts;
use crate::nodes;
use lopsided::base::settings::Settings;
use lopsided::data::archive::Archive;
use lopsided::estimators::Fitted;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::report::{Account, Page};
use lopsided::{BiclusteringModel, Dataset, Error, KernelSvdModel, Mat, Result, Run, Scalar, Side, Target, pages};
use numpy::Element;
use serde_json::{Value, json};

/// Field of files with the names of the columns.
pub(crate) const COLUMNS: &str = "feature_names";

/// Numbers of a model.
pub(crate) enum Array<T> {
    Matrix(Mat<T>),
    Wide(Mat<f64>),
    Vector(Vec<T>),
    Doubles(Vec<f64>),
    Codes(Vec<u32>),
}

pub(crate) fn name<T: Scalar>(fitted: &Fitted<T>) -> String {
    // Every model writes its name.
    fitted.archive().field("estimator").unwrap_or_default()
}

pub(crate) fn report<T: Scalar>(fitted: &Fitted<T>) -> Value {
    match fitted {
        Fitted::Components(model) => json!({
            "params": model.params, "n_train": model.n_train, "converged": model.converged(),
            "warnings": model.warnings(),
        }),
        Fitted::Predictor(model) => json!(model.report()),
        Fitted::Embedding(svd) | Fitted::Clusters(BiclusteringModel { svd, .. }) => json!({
            "kernel": svd.kernel, "scaling": svd.scaling, "operator": svd.operator, "centered": svd.is_centered(),
            "size": svd.size(), "solve": svd.report(), "converged": svd.report().converged(),
            "warnings": svd.report().notes,
            "seconds_in_operator": svd.report().seconds_in_operator,
        }),
    }
}

/// Names of the columns of the table it was learned from, and whether they hold words; none where columns go by their places.
pub(crate) fn columns<T: Scalar>(fitted: &Fitted<T>) -> Option<Vec<(String, bool)>> {
    let preparation = fitted.predictor().ok()?.preparation()?;
    let words = preparation.word_columns();
    preparation.needed().map(|names| names.into_iter().map(|name| (name.clone(), words.contains(&name))).collect())
}

/// What a user should know of new samples.
pub(crate) fn review<T: Scalar + Element>(fitted: &Fitted<T>, parts: Parts<T>, run: &Run) -> Result<Vec<String>> {
    let samples = samples(fitted, parts, false, run)?;
    Ok(fitted.predictor()?.preparation().map(|preparation| preparation.review(&samples)).unwrap_or_default())
}

pub(crate) fn classes<T: Scalar>(fitted: &Fitted<T>) -> Vec<String> {
    fitted.predictor().map(|model| model.answer().classes().to_vec()).unwrap_or_default()
}

pub(crate) fn array<T: Scalar>(fitted: &Fitted<T>, name: &str) -> Result<Array<T>> {
    match (fitted, name) {
        (Fitted::Clusters(model), "row_clusters") => Ok(Array::Codes(model.row_clusters.clone())),
        (Fitted::Clusters(model), "col_clusters") => Ok(Array::Codes(model.col_clusters.clone())),
        (Fitted::Embedding(svd) | Fitted::Clusters(BiclusteringModel { svd, .. }), name) => of_svd(svd, name),
        (Fitted::Components(model), "variances") => Ok(Array::Doubles(model.variances.clone())),
        (fitted, name) => of_archive(&fitted.archive(), name),
    }
}

/// An array of the model file.
fn of_archive<T>(archive: &Archive, name: &str) -> Result<Array<T>> {
    if !archive.has(name) {
        return Err(Error::param("array", name, "one that the model has"));
    }
    match archive.matrix::<f64>(name) {
        Ok(matrix) => Ok(Array::Wide(matrix)),
        Err(_) => archive.vector::<f64>(name).map(Array::Doubles),
    }
}

/// New rows or columns in the space of an embedding or of components.
pub(crate) fn transform<T: Scalar + Element>(
    fitted: &Fitted<T>,
    parts: Parts<T>,
    columns: bool,
    run: &Run,
) -> Result<Mat<T>> {
    let samples = samples(fitted, parts, columns, run)?;
    let preparation = fitted.predictor().ok().and_then(|model| model.preparation()).filter(|_| !columns);
    let samples = match preparation {
        Some(preparation) => preparation.apply(&samples)?.into_owned().x,
        None => samples.x,
    };
    fitted.transform(if columns { Side::Col } else { Side::Row }, samples.as_ref(), run)
}

pub(crate) fn decision<T: Scalar + Element>(fitted: &Fitted<T>, parts: Parts<T>, run: &Run) -> Result<Mat<f64>> {
    let samples = samples(fitted, parts, false, run)?;
    fitted.predictor()?.decision(&samples, run)
}

pub(crate) fn probabilities<T: Scalar + Element>(
    fitted: &Fitted<T>,
    parts: Parts<T>,
    run: &Run,
) -> Result<Option<Mat<f64>>> {
    let samples = samples(fitted, parts, false, run)?;
    fitted.predictor()?.probabilities(&samples, run)
}

/// New samples; those of a graph are nodes with their links to nodes that the model knows.
fn samples<T: Scalar + Element>(
    fitted: &Fitted<T>,
    mut parts: Parts<T>,
    columns: bool,
    run: &Run,
) -> Result<Dataset<T>> {
    let Some(frame) = fitted.frame() else { return parts.dataset(&mut Settings::default(), &Usual::EMBEDDING, run) };
    let (graph, ids) = (parts.graph()?, parts.row_ids.take().unwrap_or_default());
    // Whoever predicts needs of a known node its name alone.
    let known = fitted.embedding().filter(|_| !fitted.can().predict).map(|svd| &svd.data.x);
    let nodes = nodes::of(frame, graph.as_ref(), ids, (known, parts.features.as_ref()))?;
    Ok(match nodes.z {
        Some(z) if columns => Dataset::new(z),
        z => Dataset { z, ..nodes },
    })
}

/// A page that shows the model, its samples coloured by labels where these are given, with the recipe that makes it again.
pub(crate) fn page<T: Scalar>(
    fitted: &Fitted<T>,
    name: &str,
    labels: Option<Vec<Option<String>>>,
    run: &Run,
) -> Result<Page> {
    let recipe = Some(json!(recipe::of_archive(&archive(fitted, None))?).to_string());
    let account = Account { recipe, ..Account::default() };
    let page = match (labels, fitted) {
        (Some(labels), Fitted::Embedding(svd)) => {
            let mut svd = svd.clone();
            if labels.len() != svd.data.x.count() {
                return Err(Error::shape("the number of labels", svd.data.x.count(), labels.len()));
            }
            svd.data.y = Some(classes_of(labels));
            pages::fitted(&Fitted::Embedding(svd), name, run)?
        }
        (Some(_), _) => return Err(Error::param("labels", "given", "left out: they colour embeddings")),
        (None, fitted) => pages::fitted(fitted, name, run)?,
    };
    Ok(page.account(&account))
}

/// Classes in the order in which they appear.
fn classes_of(labels: Vec<Option<String>>) -> Target {
    let mut names: Vec<String> = Vec::new();
    let mut code = |label: String| {
        names.iter().position(|name| *name == label).unwrap_or_else(|| {
            names.push(label);
            names.len() - 1
        }) as u32
    };
    let codes = labels.into_iter().map(|label| label.map(&mut code)).collect();
    Target::Classes { names, codes }
}

/// The model file.
pub(crate) fn archive<T: Scalar>(fitted: &Fitted<T>, columns: Option<&[String]>) -> Archive {
    let mut archive = fitted.archive();
    if let Some(columns) = columns {
        archive.set_field(COLUMNS, columns);
    }
    if matches!(fitted, Fitted::Predictor(_) | Fitted::Components(_)) {
        // As the command line does for samples without a named target column.
        archive.set_field("target", Value::Null);
    }
    archive
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

//! Fitted models as Python sees them.

use crate::convert::settings_of;
use crate::convert::{matrix, vector};
use crate::data::{Given, Parts};
use crate::fit;
use crate::fitted::{self, Array};
use crate::run::{Start, briefly, run};
use lopsided::base::file::write_atomically;
use lopsided::data::archive::Archive;
use lopsided::estimators::{Fitted, Preparation, recipe};
use lopsided::{Result, Run, Scalar};
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A fitted model.
#[pyclass(frozen, module = "lopsided._core")]
pub(crate) struct Model(Inner, Option<Vec<String>>);

/// In the precision of its samples.
pub(crate) enum Inner {
    Double(Arc<Fitted<f64>>),
    Single(Arc<Fitted<f32>>),
}

/// The same expression in both precisions.
macro_rules! either {
    ($model:expr, $fitted:ident => $value:expr) => {
        match &$model.0 {
            Inner::Double($fitted) => $value,
            Inner::Single($fitted) => $value,
        }
    };
}

/// Fits `embed`, `bicluster`, `kpca` or an estimator of the list to the attributes of `given`.
#[pyfunction]
#[pyo3(name = "fit", signature = (estimator, settings, given, seed = 0, progress = None))]
pub(crate) fn fit_model(
    py: Python<'_>,
    estimator: String,
    settings: &str,
    given: Given<'_>,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let (settings, start) = (settings_of(settings)?, Start::of(seed, &given)?);
    let progress = progress.as_ref();
    Ok(Model::of(if given.single {
        let parts = Parts::of(given)?;
        Inner::Single(run(py, start, progress, move |run| fit::fit(&estimator, settings, parts, run).map(Arc::new))?)
    } else {
        let parts = Parts::of(given)?;
        Inner::Double(run(py, start, progress, move |run| fit::fit(&estimator, settings, parts, run).map(Arc::new))?)
    }))
}

/// What a fit would do and cost, as JSON.
#[pyfunction]
#[pyo3(signature = (estimator, settings, given, seed = 0))]
pub(crate) fn plan(py: Python<'_>, estimator: String, settings: &str, given: Given<'_>, seed: u64) -> PyResult<String> {
    let (settings, start) = (settings_of(settings)?, Start::of(seed, &given)?);
    let found = if given.single {
        let parts = Parts::<f32>::of(given)?;
        run(py, start, None, move |run| fit::plan(&estimator, settings, parts, run))?
    } else {
        let parts = Parts::<f64>::of(given)?;
        run(py, start, None, move |run| fit::plan(&estimator, settings, parts, run))?
    };
    Ok(found.to_string())
}

impl Model {
    pub(crate) fn of(inner: Inner) -> Self {
        Model(inner, None)
    }

    fn names(&self) -> Option<&[String]> {
        self.1.as_deref()
    }
}

#[pymethods]
impl Model {
    /// Name of the estimator in model files.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        either!(self, model => briefly(py, || Ok(fitted::name(model))))
    }

    /// Whether it computes in single precision.
    #[getter]
    fn single(&self) -> bool {
        matches!(self.0, Inner::Single(_))
    }

    /// How the fit went and what was found from the data, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        either!(self, model => briefly(py, || Ok(fitted::report(model).to_string())))
    }

    /// Names of the classes; none for a model of values.
    fn classes(&self) -> Vec<String> {
        either!(self, model => fitted::classes(model))
    }

    /// Names of the columns it was fitted with, where they are known.
    fn feature_names(&self) -> Option<Vec<String>> {
        self.1.clone()
    }

    /// The same model, of columns with these names.
    #[pyo3(signature = (names))]
    fn with_feature_names(&self, names: Option<Vec<String>>) -> Model {
        let inner = match &self.0 {
            Inner::Double(model) => Inner::Double(Arc::clone(model)),
            Inner::Single(model) => Inner::Single(Arc::clone(model)),
        };
        Model(inner, names)
    }

    /// Names of the nodes of the graph it was fitted with, where it was one.
    fn nodes(&self) -> Option<Vec<String>> {
        either!(self, fitted => fitted.frame().map(|frame| frame.ids.clone()))
    }

    /// Names of the columns of the table it was learned from, and whether they hold words; None where it knows no names.
    fn columns(&self) -> Option<Vec<(String, bool)>> {
        either!(self, model => fitted::columns(model))
    }

    /// Sentences about new samples: words that were not learned, gaps that are filled.
    fn review(&self, py: Python<'_>, given: Given<'_>) -> PyResult<Vec<String>> {
        either!(self, model => predicted(py, model, given, 0, fitted::review))
    }

    /// One of the model's arrays.
    fn array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        either!(self, model => array(py, model, name))
    }

    /// Places new samples: rows, or columns if `columns` is true.
    #[pyo3(signature = (given, columns = false, seed = 0))]
    fn transform<'py>(
        &self,
        py: Python<'py>,
        given: Given<'py>,
        columns: bool,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let start = Start::of(seed, &given)?;
        either!(self, model => {
            let (model, parts) = (Arc::clone(model), Parts::of(given)?);
            let placed = run(py, start, None, move |run| fitted::transform(&model, parts, columns, run))?;
            matrix(py, placed.as_ref())
        })
    }

    /// A row of decision values for each sample.
    #[pyo3(signature = (given, seed = 0))]
    fn decision<'py>(&self, py: Python<'py>, given: Given<'py>, seed: u64) -> PyResult<Bound<'py, PyAny>> {
        either!(self, model => {
            let found = predicted(py, model, given, seed, fitted::decision)?;
            matrix(py, found.as_ref())
        })
    }

    /// A row of class probabilities for each sample; `None` for a model without.
    #[pyo3(signature = (given, seed = 0))]
    fn probabilities<'py>(&self, py: Python<'py>, given: Given<'py>, seed: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
        either!(self, model => {
            let found = predicted(py, model, given, seed, fitted::probabilities)?;
            found.map(|found| matrix(py, found.as_ref())).transpose()
        })
    }

    /// Writes the model file that the command line reads.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        either!(self, model => briefly(py, || fitted::archive(model, self.names()).save(&path)))
    }

    /// Writes a page that shows the model; `name` is what it was learned from.
    #[pyo3(signature = (path, name, labels = None, seed = 0))]
    fn page(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: String,
        labels: Option<Vec<Option<String>>>,
        seed: u64,
    ) -> PyResult<()> {
        either!(self, model => {
            let model = Arc::clone(model);
            let page = run(py, seed, None, move |run| fitted::page(&model, &name, labels, run))?;
            briefly(py, || written(&path, page.html().as_bytes()))
        })
    }

    /// Writes the model as a graph of ONNX operators.
    fn export_onnx(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        either!(self, model => briefly(py, || written(&path, &model.onnx()?.bytes)))
    }

    /// The settings that would make it again, as JSON.
    fn recipe(&self, py: Python<'_>) -> PyResult<String> {
        let found = either!(self, model => briefly(py, || recipe::of_archive(&fitted::archive(model, None))));
        found.map(|settings| serde_json::json!(settings).to_string())
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = either!(self, model => briefly(py, || fitted::archive(model, self.names()).to_bytes()));
        bytes.map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        briefly(py, || Archive::load(&path).and_then(|archive| from_archive(&archive)))
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || Archive::from_bytes(bytes, "the model").and_then(|archive| from_archive(&archive));
        briefly(py, read)
    }
}

/// Writes a file, whole or not at all.
pub(crate) fn written(path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(path, |out| out.write_all(bytes).map_err(|error| lopsided::Error::io(path, error)))
}

fn from_archive(archive: &Archive) -> Result<Model> {
    let inner = match archive.field::<String>("precision")?.as_str() {
        "f64" => Inner::Double(Arc::new(fitted_of(archive)?)),
        "f32" => Inner::Single(Arc::new(fitted_of(archive)?)),
        other => return Err(archive.error(format!("has the unknown precision `{other}`"))),
    };
    Ok(Model(inner, archive.field::<Option<Vec<String>>>(fitted::COLUMNS)?))
}

/// The model, unless it needs columns prepared and does not do so itself.
fn fitted_of<T: Scalar>(archive: &Archive) -> Result<Fitted<T>> {
    let fitted = Fitted::from_archive(archive)?;
    if !fitted.can().predict && Preparation::of_archive(archive)?.is_some_and(|preparation| preparation.changes()) {
        let reason =
            "prepares the columns of a table before it places rows: `lopsided transform` does so, Python does not";
        return Err(archive.error(reason));
    }
    Ok(fitted)
}

/// Something that a model says about samples.
fn predicted<T: Scalar + Element, R: Send + 'static>(
    py: Python<'_>,
    fitted: &Arc<Fitted<T>>,
    given: Given<'_>,
    seed: u64,
    ask: fn(&Fitted<T>, Parts<T>, &Run) -> Result<R>,
) -> PyResult<R> {
    let (fitted, parts) = (Arc::clone(fitted), Parts::of(given)?);
    run(py, seed, None, move |run| ask(&fitted, parts, run))
}

fn array<'py, T: Scalar + Element>(py: Python<'py>, model: &Fitted<T>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(match briefly(py, || fitted::array(model, name))? {
        Array::Matrix(m) => matrix(py, m.as_ref())?,
        Array::Wide(m) => matrix(py, m.as_ref())?,
        Array::Vector(v) => vector(py, &v),
        Array::Doubles(v) => vector(py, &v),
        Array::Codes(v) => vector(py, &v),
    })
}

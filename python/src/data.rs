//! What Python passes: samples, targets, names, links.

use crate::convert;
use crate::error::exception;
use lopsided::base::settings::Settings;
use lopsided::data::columns::{Column, Words};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::{Compat, Compatibility, Dataset, Graph, Result, Run, Samples, Scalar, Target};
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

/// The attributes of `lopsided._inputs.Given`.
#[derive(FromPyObject)]
pub(crate) struct Given<'py> {
    pub(crate) single: bool,
    x: Option<Bound<'py, PyAny>>,
    z: Option<Bound<'py, PyAny>>,
    classes: Option<(Vec<String>, PyReadonlyArray1<'py, i64>)>,
    values: Option<PyReadonlyArray1<'py, f64>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    row_ids: Option<Vec<String>>,
    col_ids: Option<Vec<String>>,
    links: Option<Links<'py>>,
    features: Option<(Vec<String>, Bound<'py, PyAny>)>,
    columns: Option<Vec<TableColumn>>,
    /// Where products are computed, and whether one half for each number is enough there.
    pub(crate) device: Option<String>,
    pub(crate) fast: bool,
}

/// The name of a column of a table, and its words where it holds text.
type TableColumn = (String, Option<Vec<Option<String>>>);

/// Node names, sources, targets, weights.
type Links<'py> = (Vec<String>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, f64>);

/// Node names, and links between their positions.
type NamedLinks = (Vec<String>, Vec<(u32, u32, f64)>);

/// The same without Python.
pub(crate) struct Parts<T> {
    x: Option<Samples<T>>,
    z: Option<Samples<T>>,
    y: Option<Target>,
    weights: Option<Vec<f64>>,
    pub(crate) row_ids: Option<Vec<String>>,
    col_ids: Option<Vec<String>>,
    links: Option<NamedLinks>,
    pub(crate) features: Option<NodeFeatures<T>>,
    columns: Option<Vec<Column>>,
}

impl<T: Scalar + Element> Parts<T> {
    pub(crate) fn of(given: Given<'_>) -> PyResult<Self> {
        let classes = given.classes.map(|(names, codes)| {
            let codes = codes.as_array().iter().map(|&c| u32::try_from(c).ok()).collect();
            Target::Classes { names, codes }
        });
        let values = given.values.map(|values| Target::Values(values.as_array().to_vec()));
        let links = given.links.map(|(ids, sources, targets, weights)| {
            let (sources, targets, weights) = (sources.as_array(), targets.as_array(), weights.as_array());
            let links = sources.iter().zip(targets).zip(weights).map(|((s, t), w)| (*s, *t, *w)).collect();
            (ids, links)
        });
        let features = given.features.map(|(ids, x)| NodeFeatures::new(ids, convert::samples(&x)?).map_err(exception));
        Ok(Parts {
            features: features.transpose()?,
            x: given.x.as_ref().map(convert::samples).transpose()?,
            z: given.z.as_ref().map(convert::samples).transpose()?,
            y: classes.or(values),
            weights: given.weights.map(|w| w.as_array().to_vec()),
            row_ids: given.row_ids,
            col_ids: given.col_ids,
            links,
            columns: given.columns.map(|columns| columns.into_iter().map(column).collect()),
        })
    }

    /// The nodes of a graph, rows against columns of a matrix, or samples as they are.
    pub(crate) fn compared(self, settings: &mut Settings, usual: &Usual, run: &Run) -> Result<Dataset<T>> {
        // Samples are compared with each other, unless something is said about the columns of their matrix.
        let of_matrix = settings.value("compat").is_some();
        let compat = recipe::take_compat(settings, Compat::None)?;
        let data = self.built(Some(&compat).filter(|_| of_matrix), settings, usual, run)?;
        recipe::weighed(settings, data)
    }

    /// The same, but rows of a matrix are left to the estimator.
    pub(crate) fn dataset(self, settings: &mut Settings, usual: &Usual, run: &Run) -> Result<Dataset<T>> {
        self.built(None, settings, usual, run)
    }

    fn built(
        mut self,
        compat: Option<&Compatibility>,
        settings: &mut Settings,
        usual: &Usual,
        run: &Run,
    ) -> Result<Dataset<T>> {
        let base = match (self.graph()?, self.x.take()) {
            (Some(graph), _) => recipe::take_nodes(settings, &graph, self.features.as_ref(), usual, run)?,
            (None, Some(x)) => self.samples(x, compat, run)?,
            (None, None) => Dataset::new(Samples::Dense(lopsided::Mat::zeros(0, 0))),
        };
        Ok(Dataset {
            y: self.y,
            weights: self.weights,
            row_ids: self.row_ids.or(base.row_ids),
            col_ids: self.col_ids.or(base.col_ids),
            columns: self.columns,
            ..base
        })
    }

    fn samples(&mut self, x: Samples<T>, compat: Option<&Compatibility>, run: &Run) -> Result<Dataset<T>> {
        match (self.z.take(), compat) {
            (Some(z), _) => Ok(Dataset::two_sided(x, z)),
            (None, Some(compat)) => Dataset::from_matrix_with(x, compat, run),
            (None, None) => Ok(Dataset::new(x)),
        }
    }

    /// The target, where there is one.
    pub(crate) fn target(self) -> Option<Target> {
        self.y
    }

    /// The graph of the links, where there are any.
    pub(crate) fn graph(&mut self) -> Result<Option<Graph>> {
        self.links.take().map(|(ids, links)| Graph::new(ids, &links)).transpose()
    }
}

fn column((name, words): TableColumn) -> Column {
    Column { name, words: words.map(Words::of) }
}

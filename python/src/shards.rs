//! Fits by passes whose sums merge: bytes in, bytes out, so that any engine can carry them.

use crate::convert::{samples, settings_of};
use crate::error::exception;
use crate::model::{Inner, Model};
use crate::run::{run, use_threads};
use lopsided::data::io::{ReadOptions, StreamOptions, TargetColumn, stream_table};
use lopsided::data::table_stream::{TableFacts, TableStream};
use lopsided::estimators::shards::{Job, Outcome, Part, State, pass, precision_of};
use lopsided::{Error, Mat, Result, Run, Samples, Scalar, Target};
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;

/// What states and parts are called in messages.
const STATE: &str = "the state of the fit";
const PART: &str = "a part of the fit";

/// Files of a table, files of labels, and the label column.
type Files = (Vec<PathBuf>, Vec<PathBuf>, Option<String>);

/// A state or a model, whichever there is.
type Next<'py> = (Option<Bound<'py, PyBytes>>, Option<Model>);

/// The same work in the precision of some bytes.
macro_rules! in_precision_of {
    ($py:expr, $bytes:expr, $what:expr, $run:ident, $threads:expr, $kind:ident => $work:expr) => {{
        let (bytes, threads) = ($bytes.to_vec(), $threads);
        use_threads(threads)?;
        run($py, 0, None, move |$run| match precision_of(&bytes, $what)?.as_str() {
            "f32" => {
                type $kind = f32;
                $work(&bytes, $run)
            }
            _ => {
                type $kind = f64;
                $work(&bytes, $run)
            }
        })
    }};
}

/// The state before the first pass.
#[pyfunction]
#[pyo3(signature = (estimator, settings, seed = 0, single = false))]
pub(crate) fn shards_begin<'py>(
    py: Python<'py>,
    estimator: &str,
    settings: &str,
    seed: u64,
    single: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let (estimator, settings) = (estimator.to_string(), settings_of(settings)?);
    let bytes = run(py, 0, None, move |_| {
        if single {
            State::<f32>::new(Job::new::<f32>(&estimator, settings, seed)?).to_bytes()
        } else {
            State::<f64>::new(Job::new::<f64>(&estimator, settings, seed)?).to_bytes()
        }
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Rows and columns of the table, and the number of the first row that is given.
type Place = (usize, usize, usize);

/// Names of classes with their codes, values, or several values; at most one of them.
type Targets<'py> = (
    Option<(Vec<String>, PyReadonlyArray1<'py, i64>)>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<PyReadonlyArray2<'py, f64>>,
);

/// The part of a pass that the rows of an array make up.
#[pyfunction]
#[pyo3(signature = (state, place, x, targets = (None, None, None), threads = 0))]
pub(crate) fn shards_part<'py>(
    py: Python<'py>,
    state: &[u8],
    place: Place,
    x: &Bound<'py, PyAny>,
    targets: Targets<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    use_threads(threads)?;
    let precision = precision_of(state, STATE).map_err(exception)?;
    let (state, y) = (state.to_vec(), target_of(targets));
    let found = if precision == "f32" {
        let x = samples::<f32>(x)?;
        run(py, 0, None, move |run| summed(&state, place, &x, y.as_ref(), run))?
    } else {
        let x = samples::<f64>(x)?;
        run(py, 0, None, move |run| summed(&state, place, &x, y.as_ref(), run))?
    };
    Ok(PyBytes::new(py, &found))
}

fn target_of((classes, values, several): Targets<'_>) -> Option<Target> {
    let classes = classes.map(|(names, codes)| {
        let codes = codes.as_array().iter().map(|&c| u32::try_from(c).ok()).collect();
        Target::Classes { names, codes }
    });
    let several = several.map(|all| {
        let (rows, cols) = (all.shape()[0], all.shape()[1]);
        let names = (0..cols).map(|c| c.to_string()).collect();
        Target::Several { names, values: Mat::from_fn(rows, cols, |i, j| all.as_array()[[i, j]]) }
    });
    classes.or(values.map(|values| Target::Values(values.as_array().to_vec()))).or(several)
}

fn summed<T: Scalar>(
    state: &[u8],
    (rows, width, first): Place,
    x: &Samples<T>,
    y: Option<&Target>,
    run: &Run,
) -> Result<Vec<u8>> {
    let facts = TableFacts { rows, width, ..TableFacts::default() };
    let mut part = State::<T>::from_bytes(state, STATE)?.part(facts)?;
    part.update(first, x.as_ref(), y, run)?;
    part.to_bytes()
}

/// Rows and columns of the table that some files make up.
#[pyfunction]
pub(crate) fn shards_table(py: Python<'_>, files: Files) -> PyResult<(usize, usize)> {
    run(py, 0, None, move |run| open::<f64>(files, run).map(|table| (table.facts.rows, table.facts.width)))
}

/// The part of a pass that some rows of files make up.
#[pyfunction]
#[pyo3(signature = (state, files, first, end, threads = 0))]
pub(crate) fn shards_part_of_files<'py>(
    py: Python<'py>,
    state: &[u8],
    files: Files,
    first: usize,
    end: usize,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let found = in_precision_of!(py, state, STATE, run, threads, T => |bytes: &[u8], run: &Run| {
        pass(&State::<T>::from_bytes(bytes, STATE)?, &open::<T>(files, run)?, first..end, run)?.to_bytes()
    })?;
    Ok(PyBytes::new(py, &found))
}

fn open<T: Scalar>((inputs, labels, target): Files, run: &Run) -> Result<TableStream<T>> {
    let target = match target {
        None if labels.is_empty() => TargetColumn::Last,
        None => TargetColumn::None,
        Some(name) if name == "none" => TargetColumn::None,
        Some(name) => TargetColumn::Named(name),
    };
    let read = ReadOptions { target, ..ReadOptions::default() };
    stream_table(&inputs, &StreamOptions { read, labels }, &run.watch)
}

/// Parts of the same pass as one.
#[pyfunction]
#[pyo3(signature = (parts, threads = 0))]
pub(crate) fn shards_merge(py: Python<'_>, parts: Vec<Vec<u8>>, threads: usize) -> PyResult<Bound<'_, PyBytes>> {
    let first = parts.first().cloned().unwrap_or_default();
    let found =
        in_precision_of!(py, first, PART, run, threads, T => |_: &[u8], _: &Run| merged::<T>(&parts)?.to_bytes())?;
    Ok(PyBytes::new(py, &found))
}

fn merged<T: Scalar>(parts: &[Vec<u8>]) -> Result<Part<T>> {
    let mut parts = parts.iter().map(|bytes| Part::from_bytes(bytes, PART));
    let mut whole = parts.next().ok_or_else(|| Error::param("parts", "missing", "at least one"))??;
    parts.try_for_each(|part| whole.merge(part?))?;
    Ok(whole)
}

/// What follows from all parts of a pass: a state or a model.
#[pyfunction]
#[pyo3(signature = (parts, threads = 0))]
pub(crate) fn shards_finish(py: Python<'_>, parts: Vec<Vec<u8>>, threads: usize) -> PyResult<Next<'_>> {
    let first = parts.first().cloned().unwrap_or_default();
    let (state, model) = in_precision_of!(py, first, PART, run, threads, T => |_: &[u8], run: &Run| {
        Ok(match merged::<T>(&parts)?.finish(run)? {
            Outcome::Next(next) => (Some(next.to_bytes()?), None),
            Outcome::Model(model) => (None, Some(<T as Fits>::inner(model.fitted))),
        })
    })?;
    Ok((state.map(|bytes| PyBytes::new(py, &bytes)), model.map(Model::of)))
}

/// A model in its precision.
pub(crate) trait Fits: Scalar {
    fn inner(fitted: lopsided::estimators::Fitted<Self>) -> Inner;
}

impl Fits for f64 {
    fn inner(fitted: lopsided::estimators::Fitted<f64>) -> Inner {
        Inner::Double(Arc::new(fitted))
    }
}

impl Fits for f32 {
    fn inner(fitted: lopsided::estimators::Fitted<f32>) -> Inner {
        Inner::Single(Arc::new(fitted))
    }
}

//! Fits to files that are read in passes and never held.

use crate::convert::settings_of;
use crate::data::{Given, Parts};
use crate::model::{Inner, Model};
use crate::run::run;
use crate::shards::Fits;
use lopsided::base::settings::Settings;
use lopsided::data::io::{ReadOptions, StreamOptions, TargetColumn, stream_table};
use lopsided::estimators::shards::{self, Job};
use lopsided::{Error, Result, Run, Target};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Fits an estimator with its settings out of core; targets are those of `given`, or the labels of the file.
#[pyfunction]
#[pyo3(signature = (machine, path, given, seed = 0, progress = None))]
pub(crate) fn fit_stream(
    py: Python<'_>,
    machine: (String, String),
    path: PathBuf,
    given: Given<'_>,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let (estimator, settings) = (machine.0, settings_of(&machine.1)?);
    let single = given.single;
    let target = Parts::<f64>::of(given)?.target();
    let inner = run(py, seed, progress.as_ref(), move |run| {
        if single {
            fit::<f32>(&estimator, settings, path, target, run)
        } else {
            fit::<f64>(&estimator, settings, path, target, run)
        }
    })?;
    Ok(Model::of(inner))
}

fn fit<T: Fits>(estimator: &str, given: Settings, path: PathBuf, target: Option<Target>, run: &Run) -> Result<Inner> {
    let job = Job::new::<T>(estimator, given, run.seed)?;
    let column = if target.is_some() { TargetColumn::None } else { TargetColumn::Last };
    let read = ReadOptions { target: column, ..ReadOptions::default() };
    let table = stream_table::<T>(&[path], &StreamOptions { read, labels: Vec::new() }, &run.watch)?;
    let table = match target {
        Some(target) => table.with_target(target)?,
        None => table,
    };
    if !table.has_target {
        return Err(Error::param("y", "missing", "given for a file without labels of its own"));
    }
    let (needed, available) = (job.bytes::<T>(&table.facts), lopsided::operator::available_memory());
    if needed > available {
        let (what, advice) = (format!("{estimator} out of core"), "take fewer landmarks".into());
        return Err(Error::Memory { what, needed, available, advice });
    }
    Ok(T::inner(shards::fit(&job, &table, run)?.fitted))
}

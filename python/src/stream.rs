//! Ridge regression on a file that is read in passes and never held.

use crate::convert::settings_of;
use crate::data::{Given, Parts};
use crate::model::{Inner, Model};
use crate::run::run;
use lopsided::base::settings::Settings;
use lopsided::data::io::{TargetColumn, is_npy, is_svmlight, stream_npy, stream_svmlight};
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{Fitted, Gram, StreamedRidge};
use lopsided::{Error, Result, Run, Scalar, Target};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Fits ridge regression out of core; targets are those of `given`, or the labels of an svmlight file.
#[pyfunction]
#[pyo3(signature = (settings, path, given, seed = 0, progress = None))]
pub(crate) fn fit_stream(
    py: Python<'_>,
    settings: &str,
    path: PathBuf,
    given: Given<'_>,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Model> {
    let settings = settings_of(settings)?;
    let progress = progress.as_ref();
    let single = given.single;
    let target = Parts::<f64>::of(given)?.target();
    Ok(Model::of(if single {
        Inner::Single(run(py, seed, progress, move |run| fit(settings, &path, target, run).map(Arc::new))?)
    } else {
        Inner::Double(run(py, seed, progress, move |run| fit(settings, &path, target, run).map(Arc::new))?)
    }))
}

fn fit<T: Scalar>(mut given: Settings, path: &Path, target: Option<Target>, run: &Run) -> Result<Fitted<T>> {
    let Gram { kernel, gamma, gamma_factor, .. } = recipe::take_gram(&mut given, &Usual::learning("rbf", false))?;
    let (rows, own) = if is_svmlight(path) {
        let column = if target.is_some() { TargetColumn::None } else { TargetColumn::Last };
        let table = stream_svmlight(path, &column, &run.watch)?;
        (table.rows, table.target)
    } else if is_npy(path) {
        (stream_npy(path)?, None)
    } else {
        let allowed = "an svmlight (.svm, .libsvm, .svmlight) or NumPy (.npy) file";
        return Err(Error::param("path", path.display(), allowed));
    };
    let missing = || Error::param("y", "missing", "given for a file without labels of its own");
    let target = target.or(own).ok_or_else(missing)?;
    let known = target.known().len();
    let asked = given.value("landmarks").map(|_| given.count("landmarks", 1)).transpose()?;
    let landmarks = asked.map_or(1000.min(known), |count| count as usize);
    if !(1..=known).contains(&landmarks) {
        return Err(Error::param("landmarks", landmarks, format!("between 1 and the number of samples, {known}")));
    }
    let usual = StreamedRidge::new("rbf");
    let penalty = given.positive("penalty", Some(usual.penalty))?;
    let machine = StreamedRidge { kernel, gamma, gamma_factor, landmarks, penalty, ..usual };
    let needed = machine.bytes::<T>(rows.nrows(), 1, rows.ncols());
    let available = lopsided::operator::available_memory();
    if needed > available {
        let (what, advice) = ("ridge regression out of core".into(), "take fewer landmarks".into());
        return Err(Error::Memory { what, needed, available, advice });
    }
    Ok(Fitted::Predictor(Box::new(machine.fit(&rows, &target, run)?)))
}

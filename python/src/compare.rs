//! Whether asymmetry pays, as the command line says it.

use crate::convert::settings_of;
use crate::data::{Given, Parts};
use crate::run::run;
use lopsided::base::settings::Settings;
use lopsided::estimators::recipe::Usual;
use lopsided::evaluation::{Comparison, Decision};
use lopsided::{Result, Run};
use pyo3::prelude::*;

/// The comparison of the methods as JSON, with the fields of `lopsided compare --json`; `next` has the estimator and its settings.
#[pyfunction]
#[pyo3(signature = (settings, given, seed = 0, progress = None))]
pub(crate) fn compare(
    py: Python<'_>,
    settings: &str,
    given: Given<'_>,
    seed: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let settings = settings_of(settings)?;
    let parts = Parts::<f64>::of(given)?;
    run(py, seed, progress.as_ref(), move |run| compared(&settings, parts, run))
}

fn compared(settings: &Settings, mut parts: Parts<f64>, run: &Run) -> Result<String> {
    let usual = Comparison::default();
    let count = |name: &str, usual: usize| settings.count(name, usual as u32).map(|count| count as usize);
    let comparison = Comparison {
        folds: count("folds", usual.folds)?,
        repeats: count("repeats", usual.repeats)?,
        inner: count("inner", usual.inner)?,
        margin: settings.number("margin", usual.margin)?,
        most: count("samples", usual.most)?,
    };
    let found = match parts.graph()? {
        Some(graph) => {
            let nothing = lopsided::Target::Values(vec![f64::NAN; graph.nodes()]);
            comparison.nodes(&graph, parts.target().unwrap_or(nothing), run)?
        }
        None => comparison.rows(&parts.dataset(&mut Settings::default(), &Usual::ROWS, run)?, run)?,
    };
    let next = if found.verdict == Decision::Undecided { None } else { Some(found.preferred()) };
    let next = next.map(|method| serde_json::json!({"estimator": method.estimator, "settings": method.settings}));
    let mut out = serde_json::json!(found);
    out["next"] = serde_json::json!(next);
    Ok(out.to_string())
}

//! Links that are held out, as the command line does.

use crate::convert::vector;
use crate::data::{Given, Parts};
use crate::run::briefly;
use lopsided::Error;
use lopsided::evaluation::HeldOut;
use pyo3::prelude::*;

/// Sources, targets and weights of the links that are left; sources and targets of those taken out; of pairs without link.
type Split<'py> = (Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>, Vec<Bound<'py, PyAny>>);

/// Takes a share of the links out of a graph and draws as many pairs without link; nodes by position.
#[pyfunction]
pub(crate) fn held_out<'py>(py: Python<'py>, given: Given<'py>, share: f64, seed: u64) -> PyResult<Split<'py>> {
    let mut parts = Parts::<f64>::of(given)?;
    let split = || {
        let graph = parts.graph()?.ok_or_else(|| Error::param("links", "missing", "those of a graph"))?;
        HeldOut::split(&graph, share, seed)
    };
    let held = briefly(py, split)?;
    let (mut sources, mut targets, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..held.graph.nodes() {
        let (cols, values) = held.graph.adjacency().row(i);
        sources.extend(std::iter::repeat_n(i as u32, cols.len()));
        targets.extend_from_slice(cols);
        weights.extend_from_slice(values);
    }
    let ends = |pairs: &[(u32, u32)]| {
        let (sources, targets): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        vec![vector(py, &sources), vector(py, &targets)]
    };
    let kept = vec![vector(py, &sources), vector(py, &targets), vector(py, &weights)];
    Ok((kept, ends(&held.links), ends(&held.absent)))
}

//! The library's errors as the exceptions that Python users expect.

use lopsided::Error;
use lopsided::report::text::shown;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception for an error; parameters are named as Python spells them.
pub(crate) fn exception(error: Error) -> PyErr {
    match error {
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        Error::Singular { .. } => Python::attach(|py| singular(py, &error.to_string())),
        Error::Io { path, source } => {
            let text = Error::Io { path: path.clone(), source: clone(&source) }.to_string();
            let reason = text.strip_prefix(&format!("{path}: ")).unwrap_or(&text).to_string();
            PyOSError::new_err((source.raw_os_error().unwrap_or(0), reason, path))
        }
        Error::Param { name, value, allowed } => {
            let name = name.replace('-', "_");
            let text = Error::Param { name, value, allowed }.to_string();
            PyValueError::new_err(shown(&text).into_owned())
        }
        Error::Diverged { .. } => PyRuntimeError::new_err(error.to_string()),
        other => PyValueError::new_err(shown(&other.to_string()).into_owned()),
    }
}

/// NumPy's exception for singular systems.
fn singular(py: Python<'_>, text: &str) -> PyErr {
    match py.import("numpy.linalg").and_then(|module| module.getattr("LinAlgError")?.call1((text,))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

fn clone(error: &std::io::Error) -> std::io::Error {
    error
        .raw_os_error()
        .map_or_else(|| std::io::Error::new(error.kind(), error.to_string()), std::io::Error::from_raw_os_error)
}

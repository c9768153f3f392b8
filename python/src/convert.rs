//! Between NumPy's arrays and the library's samples.

use lopsided::base::settings::Settings;
use lopsided::data::samples::{Order, SharedRows};
use lopsided::{Csr, MatRef, Samples, Scalar};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

use crate::error::exception;

/// Width, row pointers, columns and values of compressed sparse rows.
type SparseParts<'py, T> = (usize, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, T>);

/// The memory of an array, which lives as long as this does.
struct Held<T> {
    pointer: *const T,
    length: usize,
    _owner: Py<PyAny>,
}

// SAFETY: `Held` only gives out shared slices of plain numbers, and a reference to a Python object may change threads.
// As everywhere in NumPy, whoever writes to an array while others read it gets what they ask for.
#[expect(unsafe_code, reason = "arrays are used without copying")]
unsafe impl<T: Sync> Send for Held<T> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "arrays are used without copying")]
unsafe impl<T: Sync> Sync for Held<T> {}

impl<T> AsRef<[T]> for Held<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: pointer and length were those of a slice of the owner's memory, which NumPy does not move or free while
        // a reference to the array exists.
        #[expect(unsafe_code, reason = "arrays are used without copying")]
        unsafe {
            std::slice::from_raw_parts(self.pointer, self.length)
        }
    }
}

/// Samples in the memory of a contiguous array, or of the parts of sparse rows.
pub(crate) fn samples<T: Scalar + Element>(given: &Bound<'_, PyAny>) -> PyResult<Samples<T>> {
    if let Ok(array) = given.cast::<PyArray2<T>>() {
        return shared(array).map(Samples::Shared);
    }
    let (width, indptr, indices, values): SparseParts<'_, T> = given.extract()?;
    let indptr = indptr.as_array().iter().map(|&p| p as usize).collect();
    let csr = Csr::new(width, indptr, indices.as_array().to_vec(), values.as_array().to_vec());
    csr.map(Samples::Sparse).map_err(exception)
}

fn shared<T: Scalar + Element>(array: &Bound<'_, PyArray2<T>>) -> PyResult<SharedRows<T>> {
    let readonly: PyReadonlyArray2<'_, T> = array.readonly();
    let values = readonly.as_slice()?;
    let held = Held { pointer: values.as_ptr(), length: values.len(), _owner: array.clone().into_any().unbind() };
    let order = if array.is_c_contiguous() { Order::Rows } else { Order::Columns };
    SharedRows::new(Arc::new(held), (array.shape()[0], array.shape()[1]), order).map_err(exception)
}

/// A copy of a matrix as an array.
pub(crate) fn matrix<'py, T: Element + Copy>(py: Python<'py>, m: MatRef<'_, T>) -> PyResult<Bound<'py, PyAny>> {
    let mut values = Vec::with_capacity(m.nrows() * m.ncols());
    m.row_iter().for_each(|row| values.extend(row.iter().copied()));
    Ok(PyArray1::from_vec(py, values).reshape([m.nrows(), m.ncols()])?.into_any())
}

/// A copy of a vector as an array.
pub(crate) fn vector<'py, T: Element>(py: Python<'py>, values: &[T]) -> Bound<'py, PyAny> {
    PyArray1::from_slice(py, values).into_any()
}

/// Settings as Python writes them: a JSON object.
pub(crate) fn settings_of(text: &str) -> PyResult<Settings> {
    serde_json::from_str(text).map_err(|e| PyValueError::new_err(format!("the settings cannot be read: {e}")))
}

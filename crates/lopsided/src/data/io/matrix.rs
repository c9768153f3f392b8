//! Checks of sizes and the assembly of dense samples, shared by the matrix formats.
//!
//! A header is a promise. Memory is reserved for at most [`TRUSTED`] numbers before they are there, so that a file of a
//! few bytes cannot ask for all of it.

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
pub(super) use crate::data::samples::Order;
use crate::data::samples::{Csr, Samples, SharedRows};
use std::sync::Arc;

/// Room set aside before the data that a header promises has been seen.
pub(super) const TRUSTED: usize = 1 << 20;

/// Dense samples from a flat array of `rows * cols` values.
pub(super) fn dense<T: Scalar>(
    name: &str,
    (rows, cols): (usize, usize),
    values: Vec<T>,
    order: Order,
) -> Result<Samples<T>> {
    check_size(name, rows, cols)?;
    if rows.checked_mul(cols) != Some(values.len()) {
        return Err(Error::parse(name, format!("has {} values for a {rows} x {cols} matrix", values.len())));
    }
    SharedRows::new(Arc::new(values), (rows, cols), order).map(Samples::Shared)
}

/// Refuses matrices without rows or columns.
pub(super) fn check_size(name: &str, rows: usize, cols: usize) -> Result<()> {
    match (rows, cols) {
        (0, _) => Err(Error::parse(name, "has no rows")),
        (_, 0) => Err(Error::parse(name, "has no columns")),
        _ => Ok(()),
    }
}

/// Refuses sparse matrices whose size is out of proportion to their entries: a damaged size would exhaust the memory.
pub(super) fn check_sparse(name: &str, rows: usize, cols: usize, entries: usize) -> Result<()> {
    check_size(name, rows, cols)?;
    Csr::<f64>::implausible(rows, cols, entries).map_or(Ok(()), |reason| Err(Error::parse(name, reason)))
}

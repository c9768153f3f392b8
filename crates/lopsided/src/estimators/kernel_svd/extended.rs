//! Vectors extended from landmarks, in model files.

use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::samples::is_everything;
use crate::solvers::svd::Extension;
use faer::Mat;

/// Adds an extension to a model's archive.
pub(super) fn put<T: Scalar>(archive: &mut Archive, extension: Option<&Extension<T>>) {
    if let Some(extension) = extension {
        // All columns need no list of them.
        let cols = Some(&extension.cols).filter(|cols| !is_everything(cols, extension.row_weights.nrows()));
        archive.set_field("landmarks", (&extension.rows, cols));
        archive.set_matrix("extension.rows", extension.row_weights.as_ref());
        archive.set_matrix("extension.cols", extension.col_weights.as_ref());
    }
}

/// The extension of an archive, if it has one.
pub(super) fn take<T: Scalar>(archive: &Archive) -> Result<Option<Extension<T>>> {
    let Some((rows, cols)) = archive.field::<Option<(Vec<usize>, Option<Vec<usize>>)>>("landmarks")? else {
        return Ok(None);
    };
    let (row_weights, col_weights): (Mat<T>, Mat<T>) =
        (archive.matrix("extension.rows")?, archive.matrix("extension.cols")?);
    let cols = cols.unwrap_or_else(|| (0..row_weights.nrows()).collect());
    Ok(Some(Extension { rows, cols, row_weights, col_weights }))
}

/// True when products with the extension cannot go beyond a matrix of this size.
pub(super) fn fits<T: Scalar>(extension: &Extension<T>, (n, m): (usize, usize), rank: usize) -> bool {
    let Extension { rows, cols, row_weights, col_weights } = extension;
    rows.iter().all(|i| *i < n)
        && cols.iter().all(|j| *j < m)
        && row_weights.shape() == (cols.len(), rank)
        && col_weights.shape() == (rows.len(), rank)
}

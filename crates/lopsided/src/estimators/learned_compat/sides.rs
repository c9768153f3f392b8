//! The raw matrix with the maps of both sides: images of rows and columns, and gradients by the maps.

use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, Maps};
use crate::data::samples::Samples;
use faer::{Mat, MatRef};

/// Raw rows and columns of a matrix, whose images under the maps the kernel compares.
///
/// Dense, also where the matrix is sparse: a map is dense and as large as the matrix itself.
pub(super) struct Sides<T> {
    /// A itself, one raw row each.
    rows: Mat<T>,
    /// `None`: the columns are the rows, under the same map.
    cols: Option<Mat<T>>,
}

impl<T: Scalar> Sides<T> {
    /// The rows of A against its columns, or against themselves.
    pub(super) fn new(a: Samples<T>, symmetric: bool) -> Self {
        let rows = a.into_dense();
        let cols = (!symmetric).then(|| rows.transpose().to_owned());
        Sides { rows, cols }
    }

    /// Some raw rows.
    pub(super) fn select(&self, rows: &[usize]) -> Mat<T> {
        Mat::from_fn(rows.len(), self.rows.ncols(), |i, k| self.rows[(rows[i], k)])
    }

    /// The images of raw rows.
    pub(super) fn image(maps: &Maps<T>, rows: Mat<T>) -> Mat<T> {
        mapped(&rows, maps.rows.as_ref()).unwrap_or(rows)
    }

    /// The images of all columns.
    pub(super) fn columns(&self, maps: &Maps<T>) -> Mat<T> {
        let (raw, map) = match &self.cols {
            Some(cols) => (cols, maps.cols.as_ref()),
            None => (&self.rows, maps.rows.as_ref()),
        };
        mapped(raw, map).unwrap_or_else(|| raw.clone())
    }

    /// What a kernel SVD is fitted to; the maps stay with it.
    pub(super) fn dataset(&self, maps: &Maps<T>) -> Dataset<T> {
        let x = Samples::Dense(Self::image(maps, self.rows.clone()));
        if self.cols.is_some() {
            return Dataset { maps: maps.clone(), ..Dataset::two_sided(x, Samples::Dense(self.columns(maps))) };
        }
        Dataset { maps: Maps { rows: maps.rows.clone(), cols: maps.rows.clone() }, ..Dataset::new(x) }
    }

    /// ∂L/∂C of each map from ∂L/∂x̃ of the images of some raw rows and ∂L/∂z̃ of all columns: x̃ = x·C, so xᵀ·∂L/∂x̃.
    ///
    /// Where the rows meet themselves under one map, its gradient is the sum of what both places of the kernel say.
    pub(super) fn gradient(&self, maps: &Maps<T>, rows: &Mat<T>, by_x: &Mat<T>, by_z: &Mat<T>) -> Maps<T> {
        let product = |raw: &Mat<T>, by: &Mat<T>| linalg::transpose_mul(raw.as_ref(), by.as_ref());
        match &self.cols {
            Some(cols) => Maps {
                rows: maps.rows.as_ref().map(|_| product(rows, by_x)),
                cols: maps.cols.as_ref().map(|_| product(cols, by_z)),
            },
            None => Maps { rows: Some(product(rows, by_x) + product(&self.rows, by_z)), cols: None },
        }
    }
}

fn mapped<T: Scalar>(raw: &Mat<T>, map: Option<&Mat<T>>) -> Option<Mat<T>> {
    let times = |map: MatRef<'_, T>| linalg::mul(raw.as_ref(), map);
    map.map(|map| times(map.as_ref()))
}

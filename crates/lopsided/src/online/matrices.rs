//! Small dense matrices of the learners, on this thread alone.

use crate::base::error::{Error, Result};
use crate::base::linalg;
pub(super) use crate::base::linalg::dot;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::{Mat, MatRef, Par};

/// Relative length below which a direction counts as none.
const NOTHING: f64 = 1e-12;

/// Eigenvalues in descending order and their vectors.
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
}

/// The eigendecomposition of a symmetric matrix.
///
/// # Errors
/// [`Error::NotFinite`] for entries that are not finite.
pub(super) fn eigen(a: MatRef<'_, f64>) -> Result<Eigen> {
    let (n, params) = (a.nrows(), Default::default());
    if n == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Mat::zeros(0, 0) });
    }
    let (mut values, mut vectors) = (Diag::zeros(n), Mat::zeros(n, n));
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
    let stack = &mut MemBuffer::new(scratch);
    evd::self_adjoint_evd(a, values.as_mut(), Some(vectors.as_mut()), Par::Seq, MemStack::new(stack), params)
        .map_err(|_| overflow())?;
    let values: Vec<f64> = (0..n).rev().map(|i| values.column_vector()[i]).collect();
    Ok(Eigen { values, vectors: Mat::from_fn(n, n, |i, j| vectors[(i, n - 1 - j)]) })
}

/// The thin SVD.
///
/// # Errors
/// [`Error::NotFinite`] for entries that are not finite.
pub(super) fn svd(a: MatRef<'_, f64>) -> Result<linalg::ThinSvd<f64>> {
    linalg::thin_svd(a).ok_or_else(overflow)
}

fn overflow() -> Error {
    Error::NotFinite { what: "the learned matrix".into(), value: "inf".into(), row: 0, col: 0 }
}

/// a·b.
pub(super) fn product(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    linalg::gemm(out.as_mut(), a, b, 1.0);
    out
}

/// The matrix with these entries on its diagonal.
pub(super) fn diagonal(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), values.len(), |i, j| if i == j { values[i] } else { 0.0 })
}

/// The same matrix, larger, with zeros around it.
pub(super) fn padded(a: &Mat<f64>, rows: usize, cols: usize) -> Mat<f64> {
    let inside = |i, j| i < a.nrows() && j < a.ncols();
    Mat::from_fn(rows, cols, |i, j| if inside(i, j) { a[(i, j)] } else { 0.0 })
}

/// Euclidean length.
pub(super) fn length(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// Adds columns to an orthonormal basis and returns their coordinates in the larger basis, one column for each.
///
/// Gram–Schmidt, twice; a column that is already in the span adds nothing.
pub(super) fn extend_basis(basis: &mut Mat<f64>, columns: &Mat<f64>) -> Mat<f64> {
    let mut all: Vec<Vec<f64>> = Vec::with_capacity(columns.ncols());
    for c in columns.col_iter() {
        let mut rest: Vec<f64> = c.iter().copied().collect();
        let size = length(&rest);
        let mut coordinates = vec![0.0; basis.ncols()];
        for _ in 0..2 {
            for (j, coordinate) in coordinates.iter_mut().enumerate() {
                let direction = column(basis, j);
                let part = dot(direction, &rest);
                *coordinate += part;
                rest.iter_mut().zip(direction).for_each(|(r, d)| *r -= part * d);
            }
        }
        let left = length(&rest);
        if left > NOTHING * size {
            basis.resize_with(basis.nrows(), basis.ncols() + 1, |i, _| rest[i] / left);
            coordinates.push(left);
        }
        all.push(coordinates);
    }
    Mat::from_fn(basis.ncols(), all.len(), |i, j| all[j].get(i).copied().unwrap_or(0.0))
}

/// A column of a matrix in its own memory.
pub(super) fn column(a: &Mat<f64>, j: usize) -> &[f64] {
    // A `Mat` always has contiguous columns.
    a.col(j).try_as_col_major().map_or(&[], |c| c.as_slice())
}

/// ‖a‖_F.
pub(super) fn frobenius(a: &Mat<f64>) -> f64 {
    (0..a.ncols()).map(|j| dot(column(a, j), column(a, j))).sum::<f64>().sqrt()
}

/// a ← a·(I − 2vvᵀ).
pub(super) fn reflect_columns(a: &mut Mat<f64>, v: &[f64]) {
    let mut sums = vec![0.0; a.nrows()];
    for (j, v) in v.iter().enumerate() {
        sums.iter_mut().zip(column(a, j)).for_each(|(s, c)| *s += v * c);
    }
    for (j, v) in v.iter().enumerate() {
        a.col_mut(j).iter_mut().zip(&sums).for_each(|(c, s)| *c -= 2.0 * v * s);
    }
}

/// Takes a row out; the ones after it move up, and the memory is kept.
pub(super) fn remove_row(a: &mut Mat<f64>, at: usize) {
    let (n, m) = a.shape();
    for mut column in a.col_iter_mut() {
        (at..n - 1).for_each(|i| column[i] = column[i + 1]);
    }
    a.truncate(n - 1, m);
}

/// Euclidean length of each row.
pub(super) fn row_lengths(a: MatRef<'_, f64>) -> Vec<f64> {
    let mut squares = vec![0.0; a.nrows()];
    for column in a.col_iter() {
        squares.iter_mut().zip(column.iter()).for_each(|(s, v)| *s += v * v);
    }
    squares.into_iter().map(f64::sqrt).collect()
}

/// Room for growth, so that adding rows one by one does not copy each time.
pub(super) fn reserve(matrix: &mut Mat<f64>, rows: usize, cols: usize) {
    const STEP: usize = 64;
    matrix.reserve(rows.next_multiple_of(STEP), cols.next_multiple_of(STEP));
}

/// L⁻ᵀ of a lower triangular L, by back substitution.
pub(super) fn transposed_inverse(lower: &Mat<f64>) -> Mat<f64> {
    let n = lower.nrows();
    let mut out = Mat::zeros(n, n);
    for j in 0..n {
        // Column j of L⁻ᵀ solves Lᵀ·c = e_j.
        let mut rest = vec![0.0; j + 1];
        rest[j] = 1.0;
        for i in (0..=j).rev() {
            let value = rest[i] / lower[(i, i)];
            out[(i, j)] = value;
            (0..i).for_each(|k| rest[k] -= lower[(i, k)] * value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{self, Purpose};

    #[test]
    fn a_basis_grows_only_where_a_column_is_new() {
        let mut rng = random::generator(3, Purpose::Data);
        let columns: Mat<f64> = random::gaussian(6, 3, &mut rng);
        let mut basis = Mat::zeros(6, 0);
        let first = extend_basis(&mut basis, &columns);
        assert!((product(basis.as_ref(), first.as_ref()) - &columns).norm_max() < 1e-14);
        let again = extend_basis(&mut basis, &columns);
        assert_eq!((basis.ncols(), again.nrows()), (3, 3));
        let gram = product(basis.transpose(), basis.as_ref());
        assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-14);
    }

    #[test]
    fn eigenvalues_descend() {
        let a = diagonal(&[1.0, -3.0, 2.0]);
        assert_eq!(eigen(a.as_ref()).unwrap().values, [2.0, 1.0, -3.0]);
        assert_eq!(eigen(Mat::zeros(0, 0).as_ref()).unwrap().values.len(), 0);
    }
}

//! What the second pass sums up over the rows of a piece: the Gram matrix of landmarks, or of their features.

use super::job::BLOCK;
use super::seen::Seen;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::solvers::lowrank::KernelFunctions;
use faer::{Mat, MatRef};

/// The lower triangle of a matrix, column by column.
pub(super) fn packed(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let columns = (0..matrix.ncols()).map(|j| matrix.col(j).subrows(j, matrix.nrows() - j));
    columns.flat_map(|column| column.iter().copied()).collect()
}

/// Numbers of the triangle of so many columns.
pub(super) fn packed_length(columns: usize) -> usize {
    columns * (columns + 1) / 2
}

/// The symmetric matrix with this triangle.
pub(super) fn unpacked(triangle: &[f64], columns: usize) -> Mat<f64> {
    let start = |j: usize| j * columns - j * (j + 1) / 2;
    Mat::from_fn(columns, columns, |i, j| triangle[start(i.min(j)) + i.max(j)])
}

/// Shows k(x, landmarks), or the values of other functions, in blocks of rows, with the number of the first.
pub(super) fn for_each_block<T: Scalar>(
    functions: &KernelFunctions<T>,
    x: SamplesRef<'_, T>,
    run: &Run,
    mut visit: impl FnMut(usize, Mat<f64>) -> Result<()>,
) -> Result<()> {
    (0..x.count()).step_by(BLOCK).try_for_each(|start| {
        let rows = x.subrows(start, BLOCK.min(x.count() - start));
        let plain = functions.count() == 0;
        let values =
            if plain { functions.anchors.values(&functions.kernel, rows, run)? } else { functions.apply(rows, run)? };
        visit(start, values)
    })
}

/// K_mn·K_nm and K_mn·y.
pub(super) fn normal<T: Scalar>(
    seen: &Seen<T>,
    x: SamplesRef<'_, T>,
    y: &Mat<f64>,
    run: &Run,
) -> Result<Vec<Vec<f64>>> {
    let m = seen.landmarks.count();
    let (mut gram, mut cross) = (Mat::<f64>::zeros(m, m), Mat::<f64>::zeros(m, y.ncols()));
    for_each_block(&seen.functions(Mat::zeros(m, 0)), x, run, |start, k| {
        linalg::add_gram_lower(gram.as_mut(), k.transpose(), 1.0);
        cross += linalg::transpose_mul(k.as_ref(), y.as_ref().subrows(start, k.nrows()));
        Ok(())
    })?;
    Ok(vec![packed(gram.as_ref()), cross.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<_>>()).collect()])
}

/// FᵀF and Fᵀ1 of the features F.
pub(super) fn features<T: Scalar>(seen: &Seen<T>, x: SamplesRef<'_, T>, run: &Run) -> Result<Vec<Vec<f64>>> {
    let functions = seen.functions(seen.span(run)?.root.clone());
    let s = functions.count();
    let (mut gram, mut sums) = (Mat::<f64>::zeros(s, s), vec![0.0; s]);
    for_each_block(&functions, x, run, |_, f| {
        linalg::add_gram_lower(gram.as_mut(), f.transpose(), 1.0);
        sums.iter_mut().zip(f.col_iter()).for_each(|(sum, column)| *sum += column.iter().sum::<f64>());
        Ok(())
    })?;
    Ok(vec![packed(gram.as_ref()), sums])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_says_all_of_a_symmetric_matrix() {
        let a = Mat::from_fn(4, 4, |i: usize, j: usize| (i.max(j) * 10 + i.min(j)) as f64);
        let triangle = packed(a.as_ref());
        assert_eq!(triangle.len(), packed_length(4));
        assert_eq!(unpacked(&triangle, 4), a);
    }
}

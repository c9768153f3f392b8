//! Graph reconstruction: are the links of a graph still in its features?

use faer::{Mat, MatRef};
use lopsided::base::Run;
use lopsided::base::error::{Error, Result};
use lopsided::base::linalg;
use lopsided::data::samples::{Csr, Samples, Side};
use lopsided::estimators::Features;
use lopsided::{Dataset, LinearSvd};
use rayon::prelude::*;

/// Rows of scores held by one thread at a time.
const ROWS: usize = 64;

/// How well the links of a graph can be read from features.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reconstruction {
    /// The p of the scores U·Σ^p·Vᵀ.
    pub power: f64,
    /// Largest absolute column sum of the error, its induced 1-norm.
    pub l1: f64,
    /// Largest singular value of the error, its induced 2-norm.
    pub l2: f64,
    /// Norm of all entries of the error: the root of their number.
    pub frobenius: f64,
    /// Entries in which the reconstruction differs from the graph.
    pub errors: usize,
}

/// Reconstructs a graph: node i gets as many links as it has, to the nodes with the largest (U·Σ^p·Vᵀ)_ij, j ≠ i.
///
/// The error E = A − Â has entries 0 and ±1. ℓ1 and ℓ2 are its induced norms (\[KSVD\] Table 1, App. C.1), since an ℓ1 below ℓ2, as
/// the paper has, is possible for no norm of the entries. `truth` holds the links of node i in row i, in the orientation of the
/// features; links of a node to itself do not count, and of equal scores the smaller index is taken.
///
/// # Departures
/// \[KSVD\] does not say which score ranks the neighbours; every power is a choice.
///
/// # Cost
/// O(n²·r) time; memory for 64 rows of scores per thread, never n × n.
///
/// # Errors
/// [`Error::Shape`] if the sizes do not agree, [`Error::Interrupted`].
///
/// # Example
/// Features whose product is the matrix itself reconstruct it without an error:
///
/// ```
/// use lopsided_papers::tasks::reconstruct;
/// use lopsided::solvers::svd::SolveReport;
/// use lopsided::{Csr, Features, Mat, Run, Scaling};
///
/// let truth = Csr::from_triplets(3, 3, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
/// let (u, v) = (Mat::identity(3, 3), Some(truth.to_dense().transpose().to_owned())); // U·Vᵀ = A
/// let (scaling, report) = (Scaling::None, SolveReport::default());
/// let features = Features { u, v, sigma: vec![1.0; 3], scaling, report };
/// let found = reconstruct(&features, &truth, 1.0, &Run::default())?;
/// assert_eq!((found.errors, found.l1, found.l2), (0, 0.0, 0.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn reconstruct(features: &Features<f64>, truth: &Csr<f64>, power: f64, run: &Run) -> Result<Reconstruction> {
    let (left, right) = (features.scaled(Side::Row, power), features.vectors(Side::Col));
    if (left.nrows(), right.nrows()) != (truth.nrows(), truth.ncols()) {
        let size = |n: usize, m: usize| format!("{n} x {m}");
        return Err(Error::shape("the graph", size(left.nrows(), right.nrows()), size(truth.nrows(), truth.ncols())));
    }
    let starts: Vec<usize> = (0..truth.nrows()).step_by(ROWS).collect();
    let tile = |&start: &usize| {
        run.watch.check()?;
        Ok(error_rows(left.subrows(start, ROWS.min(truth.nrows() - start)), right, truth, start))
    };
    let tiles: Vec<Vec<Vec<(u32, f64)>>> = starts.par_iter().map(tile).collect::<Result<_>>()?;
    let mut error = Csr::empty(truth.ncols());
    tiles.into_iter().flatten().for_each(|row| error.push_row(row));
    let mut columns = vec![0usize; truth.ncols()];
    error.parts().1.iter().for_each(|&j| columns[j as usize] += 1);
    let l1 = columns.into_iter().max().unwrap_or(0) as f64;
    let errors = error.nnz();
    Ok(Reconstruction { power, l1, l2: largest_value(error, run)?, frobenius: (errors as f64).sqrt(), errors })
}

/// The largest singular value.
fn largest_value(error: Csr<f64>, run: &Run) -> Result<f64> {
    if error.nnz() == 0 {
        return Ok(0.0);
    }
    let found = LinearSvd::new(1).fit(&Dataset::new(Samples::Sparse(error)), run)?;
    Ok(found.sigma.first().copied().unwrap_or(0.0))
}

/// The error in the rows from `start` on: 1 for a link that is not found, −1 for one that does not exist, by ascending column.
fn error_rows(left: MatRef<'_, f64>, right: MatRef<'_, f64>, truth: &Csr<f64>, start: usize) -> Vec<Vec<(u32, f64)>> {
    // One column of scores per node keeps each node's scores together in memory.
    let mut scores = Mat::zeros(right.nrows(), left.nrows());
    linalg::gemm(scores.as_mut(), right, left.transpose(), 1.0);
    let mut rows = Vec::with_capacity(left.nrows());
    let mut order: Vec<u32> = Vec::with_capacity(right.nrows());
    for i in 0..left.nrows() {
        let own = (start + i) as u32;
        let links: Vec<u32> = truth.row(start + i).0.iter().copied().filter(|&j| j != own).collect();
        order.clear();
        order.extend((0..right.nrows() as u32).filter(|&j| j != own));
        let found = largest(&mut order, links.len(), |j| scores[(j as usize, i)]);
        let invented = found.iter().filter(|j| links.binary_search(j).is_err()).map(|&j| (j, -1.0));
        let missing = links.iter().filter(|j| found.binary_search(j).is_err()).map(|&j| (j, 1.0));
        let mut row: Vec<(u32, f64)> = invented.chain(missing).collect();
        row.sort_unstable_by_key(|&(j, _)| j);
        rows.push(row);
    }
    rows
}

/// The `count` members with the largest scores, ascending.
fn largest(order: &mut [u32], count: usize, score: impl Fn(u32) -> f64) -> &[u32] {
    let count = count.min(order.len());
    if count > 0 && count < order.len() {
        order.select_nth_unstable_by(count - 1, |&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    }
    order[..count].sort_unstable();
    &order[..count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lopsided::Scaling;
    use lopsided::solvers::svd::SolveReport;

    fn features(u: Mat<f64>, v: Mat<f64>) -> Features<f64> {
        let sigma = vec![1.0; u.ncols()];
        Features { u, v: Some(v), sigma, scaling: Scaling::None, report: SolveReport::default() }
    }

    #[test]
    fn errors_are_counted_by_column() {
        // Scores of row 0 prefer column 2 to the link 0 → 1; row 1 is right; row 2 has no links.
        let scores = faer::mat![[9.0, 1.0, 2.0], [3.0, 9.0, 1.0], [0.0, 0.0, 9.0]];
        let truth = Csr::from_triplets(3, 3, &[(0, 1, 1.0), (1, 0, 1.0), (2, 2, 1.0)]);
        let found = reconstruct(&features(scores, Mat::identity(3, 3)), &truth, 0.0, &Run::default()).unwrap();
        assert_eq!((found.errors, found.l1, found.frobenius), (2, 1.0, 2f64.sqrt()));
        assert!((found.l2 - 2f64.sqrt()).abs() < 1e-9, "one row of two entries: {}", found.l2);
    }

    #[test]
    fn of_equal_scores_the_smaller_index_is_taken() {
        let truth = Csr::from_triplets(3, 3, &[(0, 1, 1.0), (2, 0, 1.0)]);
        let found = reconstruct(&features(Mat::zeros(3, 1), Mat::zeros(3, 1)), &truth, 1.0, &Run::default()).unwrap();
        assert_eq!(found.errors, 0);
        assert!(reconstruct(&features(Mat::zeros(2, 1), Mat::zeros(3, 1)), &truth, 1.0, &Run::default()).is_err());
    }
}

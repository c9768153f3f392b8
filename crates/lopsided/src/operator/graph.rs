//! Kernels of a graph's nodes as operators: a series that is summed in every product, or its sum, stored sparse.
//!
//! A series is multiplied without being formed, which suits solvers that take few products. A solver that reads most
//! entries, or takes as many products as there are nodes, is better off with the sum in memory: it is then evaluated
//! once, some rows at a time, and kept where it turns out to be sparse enough.

use super::{Katz, Operator, PageRank, ShortestPaths, SparseOperator};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::Csr;
use crate::kernel::GraphKernel;
use crate::products::TILE;
use faer::Mat;

/// Nodes up to which the sum of a series may be stored.
const STORED: usize = 5000;

impl GraphKernel {
    /// G of the graph with matrix P, and what a user should know of it; with `stored` the sum of a series is stored where it is small, at the price of a product for
    /// every node.
    ///
    /// # Errors
    /// [`crate::Error::Shape`] unless P is square, [`crate::Error::Param`] for parameters that do not fit P, [`crate::Error::Memory`].
    pub fn operator<T: Scalar>(
        &self,
        p: Csr<T>,
        stored: bool,
        memory: u64,
        watch: &Watch,
    ) -> Result<(Box<dyn Operator<T> + Send>, Vec<String>)> {
        let mut notes = Vec::new();
        let operator: Box<dyn Operator<T> + Send> = match *self {
            GraphKernel::Katz { beta } => {
                let katz = Katz::relative(p, beta)?;
                notes = katz.notes().to_vec();
                sum(katz, stored, memory, watch)?
            }
            GraphKernel::PageRank { alpha } => sum(PageRank::new(p, alpha)?, stored, memory, watch)?,
            GraphKernel::ShortestPath { decay } => Box::new(ShortestPaths { decay, memory, watch }.operator(&p)?),
        };
        Ok((operator, notes))
    }
}

/// The series itself, or its sum as a sparse matrix where that takes at most a quarter of the memory. What is lost in
/// rounding is left out.
fn sum<T: Scalar>(
    series: impl Operator<T> + Send + 'static,
    stored: bool,
    memory: u64,
    watch: &Watch,
) -> Result<Box<dyn Operator<T> + Send>> {
    let all: Vec<usize> = (0..series.nrows()).collect();
    if !stored || all.len() > STORED {
        return Ok(Box::new(series));
    }
    let mut out = Csr::empty(all.len());
    for rows in all.chunks(TILE) {
        watch.check()?;
        let mut block = Mat::zeros(rows.len(), all.len());
        series.block(rows, &all, block.as_mut())?;
        for row in block.row_iter() {
            let least = T::eps() * row.iter().map(|v| v.as_f64().abs()).fold(0.0, f64::max);
            out.push_row((0..).zip(row.iter().copied()).filter(|(_, v)| v.as_f64().abs() > least));
        }
        if 2 * out.bytes() as u64 > memory / 4 {
            return Ok(Box::new(series));
        }
    }
    Ok(Box::new(SparseOperator::new(None, out)))
}

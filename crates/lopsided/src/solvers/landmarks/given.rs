//! Landmarks that were known beforehand.

use super::{Sampler, size};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;

/// Landmarks chosen by the user; the wanted count is ignored. Repeated ones are allowed.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::landmarks::{Given, Sampler};
/// use lopsided::{Mat, Side};
///
/// let g = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
/// let given = Given { rows: vec![3, 0], cols: vec![9] };
/// assert_eq!(Sampler::<f64>::pick(&given, &g, Side::Row, 1, 0)?, [0, 3]);
/// assert!(Sampler::<f64>::pick(&given, &g, Side::Col, 1, 0).is_err()); // there is no column 9
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Rows of G.
    pub rows: Vec<usize>,
    /// Columns of G.
    pub cols: Vec<usize>,
}

impl<T: Scalar> Sampler<T> for Given {
    fn pick(&self, g: &dyn Operator<T>, side: Side, _count: usize, _seed: u64) -> Result<Vec<usize>> {
        let (name, mut picked) = match side {
            Side::Row => ("rows", self.rows.clone()),
            Side::Col => ("cols", self.cols.clone()),
        };
        let size = size(g, side);
        if picked.is_empty() {
            return Err(Error::param(name, "empty", "at least one landmark"));
        }
        if let Some(beyond) = picked.iter().find(|i| **i >= size) {
            return Err(Error::param(name, beyond, format!("below {size}")));
        }
        picked.sort_unstable();
        Ok(picked)
    }
}

use super::{Sampler, size};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;

/// Landmarks chosen by the user; the wanted count is ignored. Repeated ones are allowed.
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

use crate::error::Result;
use crate::operator::Operator;
use faer::MatMut;
use std::collections::HashMap;
use std::rc::Rc;

/// Columns whose diagonal entries are fetched together.
const DIAGONAL_TILE: usize = 64;

/// Rows of a symmetric kernel matrix: evaluated when asked for, kept while there is room, the longest unused given up first.
pub struct RowCache<'a> {
    k: &'a dyn Operator<f64>,
    all: Vec<usize>,
    diagonal: Vec<f64>,
    capacity: usize,
    clock: u64,
    rows: HashMap<usize, Kept>,
    evaluated: u64,
}

struct Kept {
    values: Rc<[f64]>,
    used: u64,
}

impl<'a> RowCache<'a> {
    /// Room for as many rows as fit `bytes`, at least two.
    pub fn new(k: &'a dyn Operator<f64>, bytes: u64) -> Result<Self> {
        let n = k.nrows();
        let capacity = (bytes / (8 * n.max(1) as u64)).max(2) as usize;
        let all = (0..n).collect();
        let diagonal = diagonal(k)?;
        Ok(RowCache { k, all, diagonal, capacity, clock: 0, rows: HashMap::new(), evaluated: 0 })
    }

    /// K\[i, i\] for all i.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Rows evaluated so far, with repetitions.
    pub fn evaluated(&self) -> u64 {
        self.evaluated
    }

    /// Row i.
    pub fn row(&mut self, i: usize) -> Result<Rc<[f64]>> {
        self.clock += 1;
        if let Some(kept) = self.rows.get_mut(&i) {
            kept.used = self.clock;
            return Ok(kept.values.clone());
        }
        let mut values = vec![0.0; self.all.len()];
        // The column, which lies in one piece.
        self.k.block(&self.all, &[i], MatMut::from_column_major_slice_mut(&mut values, self.all.len(), 1))?;
        self.evaluated += 1;
        self.make_room();
        let values: Rc<[f64]> = values.into();
        self.rows.insert(i, Kept { values: values.clone(), used: self.clock });
        Ok(values)
    }

    fn make_room(&mut self) {
        if self.rows.len() < self.capacity {
            return;
        }
        if let Some(oldest) = self.rows.iter().min_by_key(|(_, kept)| kept.used).map(|(i, _)| *i) {
            self.rows.remove(&oldest);
        }
    }
}

fn diagonal(k: &dyn Operator<f64>) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..k.nrows()).collect();
    let mut out = Vec::with_capacity(all.len());
    for tile in all.chunks(DIAGONAL_TILE) {
        let mut block = faer::Mat::zeros(tile.len(), tile.len());
        k.block(tile, tile, block.as_mut())?;
        out.extend((0..tile.len()).map(|i| block[(i, i)]));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::DenseOperator;

    #[test]
    fn rows_are_kept_within_the_bound_and_the_longest_unused_goes_first() {
        let k = faer::Mat::from_fn(5, 5, |i, j| (i * j) as f64);
        let operator = DenseOperator::Borrowed(k.as_ref());
        let mut cache = RowCache::new(&operator, 3 * 5 * 8).unwrap();
        assert_eq!(cache.diagonal(), [0.0, 1.0, 4.0, 9.0, 16.0]);
        for i in [0, 1, 2, 0, 3] {
            assert_eq!(cache.row(i).unwrap()[4], (4 * i) as f64);
            assert!(cache.rows.len() <= 3);
        }
        assert_eq!(cache.evaluated(), 4);
        cache.row(0).unwrap();
        assert_eq!(cache.evaluated(), 4, "row 0 was used lately");
        cache.row(1).unwrap();
        assert_eq!(cache.evaluated(), 5, "row 1 was given up");
    }
}

use crate::error::Result;
use crate::operator::{Access, Operator};
use faer::{Mat, MatMut};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows evaluated together: operators copy their samples for every block, whatever its width.
const TOGETHER: usize = 32;
/// Entries of a row that one thread evaluates.
const PIECE: usize = 512;
/// Columns whose diagonal entries are fetched together.
const DIAGONAL_TILE: usize = 64;

/// Rows of a symmetric kernel matrix: evaluated when asked for, kept while there is room, the longest unused given up first.
///
/// One cache serves several searches at once. Rows are evaluated in groups of neighbours that never change, so the bits
/// of a row do not depend on who asked first.
pub struct RowCache<'a> {
    k: &'a dyn Operator<f64>,
    all: Vec<usize>,
    diagonal: Vec<f64>,
    /// Groups of rows that are kept at most.
    capacity: usize,
    bytes: u64,
    kept: Mutex<Kept>,
    evaluated: AtomicU64,
}

#[derive(Default)]
struct Kept {
    clock: u64,
    groups: HashMap<usize, (Arc<[f64]>, u64)>,
}

/// One row; holds its memory while it is used.
pub struct Row {
    group: Arc<[f64]>,
    range: Range<usize>,
}

impl Deref for Row {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.group[self.range.clone()]
    }
}

impl<'a> RowCache<'a> {
    /// Room for as many rows as fit `bytes`, at least two groups of neighbours.
    pub fn new(k: &'a dyn Operator<f64>, bytes: u64) -> Result<Self> {
        let n = k.nrows();
        let capacity = (bytes / (8 * TOGETHER * n.max(1)) as u64).max(2) as usize;
        let diagonal = diagonal(k)?;
        let (all, kept, evaluated) = ((0..n).collect(), Mutex::default(), AtomicU64::default());
        Ok(RowCache { k, all, diagonal, capacity, bytes, kept, evaluated })
    }

    /// Whether all rows can be kept.
    pub fn holds_all(&self) -> bool {
        self.capacity * TOGETHER >= self.all.len()
    }

    /// K itself, and the bytes that its rows may take.
    pub(super) fn source(&self) -> (&'a dyn Operator<f64>, u64) {
        (self.k, self.bytes)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// K\[i, i\] for all i.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Rows evaluated so far, with repetitions.
    pub fn evaluated(&self) -> u64 {
        self.evaluated.load(Ordering::Relaxed)
    }

    /// Row i.
    pub fn row(&self, i: usize) -> Result<Row> {
        let (n, at) = (self.all.len(), i / TOGETHER);
        let range = (i % TOGETHER) * n..(i % TOGETHER + 1) * n;
        if let Some(group) = self.lock().find(at) {
            return Ok(Row { group, range });
        }
        // Without the lock: others go on meanwhile, and two that miss the same group compute the same bits.
        let group = self.evaluate(at)?;
        self.lock().keep(at, group.clone(), self.capacity);
        Ok(Row { group, range })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A thread that panicked cannot leave the map half-changed.
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The columns of a group, each in one piece, which are its rows.
    fn evaluate(&self, at: usize) -> Result<Arc<[f64]>> {
        let n = self.all.len();
        let cols = &self.all[at * TOGETHER..n.min((at + 1) * TOGETHER)];
        let mut values = vec![0.0; n * cols.len()];
        let out = MatMut::from_column_major_slice_mut(&mut values, n, cols.len());
        if self.k.access() == Access::Products {
            self.k.block(&self.all, cols, out)?;
        } else {
            let pieces = out.par_row_chunks_mut(PIECE).zip(self.all.par_chunks(PIECE));
            pieces.try_for_each(|(out, rows)| self.k.block(rows, cols, out))?;
        }
        self.evaluated.fetch_add(cols.len() as u64, Ordering::Relaxed);
        Ok(values.into())
    }
}

impl Kept {
    fn find(&mut self, at: usize) -> Option<Arc<[f64]>> {
        self.clock += 1;
        let (group, used) = self.groups.get_mut(&at)?;
        *used = self.clock;
        Some(group.clone())
    }

    fn keep(&mut self, at: usize, group: Arc<[f64]>, capacity: usize) {
        if self.groups.len() >= capacity
            && let Some(oldest) = self.groups.iter().min_by_key(|(_, kept)| kept.1).map(|(at, _)| *at)
        {
            self.groups.remove(&oldest);
        }
        self.groups.insert(at, (group, self.clock));
    }
}

fn diagonal(k: &dyn Operator<f64>) -> Result<Vec<f64>> {
    let all: Vec<usize> = (0..k.nrows()).collect();
    let mut out = Vec::with_capacity(all.len());
    for tile in all.chunks(DIAGONAL_TILE) {
        let mut block = Mat::zeros(tile.len(), tile.len());
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
        let n = 5 * TOGETHER - 3;
        let k = Mat::from_fn(n, n, |i, j| (i * j) as f64);
        let operator = DenseOperator::Borrowed(k.as_ref());
        let cache = RowCache::new(&operator, (3 * TOGETHER * n * 8) as u64).unwrap();
        assert_eq!(cache.diagonal()[..3], [0.0, 1.0, 4.0]);
        for group in [0, 1, 2, 0, 4] {
            let i = group * TOGETHER + 1;
            assert_eq!(cache.row(i).unwrap()[4], (4 * i) as f64);
            assert!(cache.lock().groups.len() <= 3);
        }
        assert_eq!(cache.evaluated(), (4 * TOGETHER - 3) as u64, "the last group is short");
        cache.row(0).unwrap();
        assert_eq!(cache.evaluated(), (4 * TOGETHER - 3) as u64, "the first group was used lately");
        cache.row(TOGETHER).unwrap();
        assert_eq!(cache.evaluated(), (5 * TOGETHER - 3) as u64, "the second was given up");
    }
}

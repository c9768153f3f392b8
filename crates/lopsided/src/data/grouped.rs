//! Entries of sparse matrices, put in order by row or by column.
//!
//! Counting sort reaches for another place of the memory at every entry once there are more rows than the cache has room for.
//! So the entries are first dealt into buckets, each for a run of rows whose places the cache can hold:
//!
//! 1. Count the entries of each row; their sums are where rows begin.
//! 2. Deal a batch of entries into buckets, several chunks of it at once.
//! 3. Put the entries of each bucket in their places, several buckets at once, chunk by chunk, so that entries of a row stay
//!    in the order in which they came.
//!
//! The result does not depend on the number of threads, of chunks or of buckets.

use super::samples::CsrRef;
use crate::base::scalar::Scalar;
use rayon::prelude::*;
use std::ops::Range;

/// Entries of a chunk.
const CHUNK: usize = 1 << 18;
/// Chunks that are dealt before they are put in their places: what is held beside the result.
const BATCH: usize = 16;
/// Bytes of the result that a bucket should have.
const BUCKET_BYTES: usize = 1 << 20;
/// With more buckets dealing itself leaves the cache.
const BUCKETS: usize = 256;

/// Entries in chunks, each with the row that it goes to.
pub(super) trait Entries<T>: Sync {
    /// How many entries there are.
    fn count(&self) -> usize;
    /// How many chunks they come in.
    fn chunks(&self) -> usize;
    /// Visits the entries of a chunk, in their order: row, column, value.
    fn visit(&self, chunk: usize, visit: impl FnMut(u32, u32, T));
}

/// Entries `(row, column, value)` in any order.
pub(super) struct Triplets<'a, T>(pub(super) &'a [(u32, u32, T)]);

impl<T: Scalar> Entries<T> for Triplets<'_, T> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn chunks(&self) -> usize {
        self.0.len().div_ceil(CHUNK)
    }

    fn visit(&self, chunk: usize, mut visit: impl FnMut(u32, u32, T)) {
        let end = self.0.len().min((chunk + 1) * CHUNK);
        self.0[chunk * CHUNK..end].iter().for_each(|&(i, j, v)| visit(i, j, v));
    }
}

/// Some rows of the sum of matrices, as columns of the transposed one.
pub(super) struct Turned<'a, T> {
    parts: &'a [CsrRef<'a, T>],
    /// A part and some of its rows.
    chunks: Vec<(usize, Range<usize>)>,
    count: usize,
}

impl<'a, T: Scalar> Turned<'a, T> {
    pub(super) fn new(parts: &'a [CsrRef<'a, T>], rows: Range<usize>) -> Self {
        let (mut chunks, mut count) = (Vec::new(), 0);
        for (at, part) in parts.iter().enumerate() {
            let (mut first, mut held) = (rows.start, 0);
            for i in rows.clone() {
                held += part.row(i).0.len();
                if held >= CHUNK || i + 1 == rows.end {
                    chunks.push((at, first..i + 1));
                    count += held;
                    (first, held) = (i + 1, 0);
                }
            }
        }
        Turned { parts, chunks, count }
    }
}

impl<T: Scalar> Entries<T> for Turned<'_, T> {
    fn count(&self) -> usize {
        self.count
    }

    fn chunks(&self) -> usize {
        self.chunks.len()
    }

    fn visit(&self, chunk: usize, mut visit: impl FnMut(u32, u32, T)) {
        let (part, rows) = &self.chunks[chunk];
        for i in rows.clone() {
            let (cols, values) = self.parts[*part].row(i);
            cols.iter().zip(values).for_each(|(&j, &v)| visit(j, i as u32, v));
        }
    }
}

/// Row pointers, columns and values of entries that are grouped by row, those of a row in the order in which they came.
pub(super) type Grouped<T> = (Vec<usize>, Vec<u32>, Vec<T>);

/// The entries grouped by row.
pub(super) fn grouped<T: Scalar>(rows: usize, entries: &impl Entries<T>) -> Grouped<T> {
    let wanted = entries.count() * (4 + T::BYTES) / BUCKET_BYTES;
    in_buckets(rows, entries, wanted.clamp(1, BUCKETS))
}

fn in_buckets<T: Scalar>(rows: usize, entries: &impl Entries<T>, buckets: usize) -> Grouped<T> {
    let mut starts = vec![0usize; rows + 1];
    for chunk in 0..entries.chunks() {
        entries.visit(chunk, |i, _, _| starts[i as usize + 1] += 1);
    }
    (0..rows).for_each(|i| starts[i + 1] += starts[i]);
    let (mut columns, mut values) = (vec![0u32; starts[rows]], vec![T::zero(); starts[rows]]);
    let width = rows.div_ceil(buckets).max(1);
    let mut piles = piles(&starts, width, &mut columns, &mut values);
    if piles.len() == 1 {
        // Nothing to be gained by dealing.
        (0..entries.chunks()).for_each(|chunk| entries.visit(chunk, |i, j, v| piles[0].put(i, j, v)));
    } else {
        for first in (0..entries.chunks()).step_by(BATCH) {
            let batch = first..(first + BATCH).min(entries.chunks());
            let dealt: Vec<Dealt<T>> =
                batch.into_par_iter().map(|chunk| Dealt::new(entries, chunk, width, piles.len())).collect();
            piles.par_iter_mut().enumerate().for_each(|(at, pile)| {
                dealt.iter().flat_map(|d| d.bucket(at)).for_each(|&(i, j, v)| pile.put(i, j, v));
            });
        }
    }
    (starts, columns, values)
}

/// Entries of a chunk, bucket by bucket.
struct Dealt<T> {
    starts: Vec<usize>,
    entries: Vec<(u32, u32, T)>,
}

impl<T: Scalar> Dealt<T> {
    fn new(entries: &impl Entries<T>, chunk: usize, width: usize, buckets: usize) -> Self {
        let mut starts = vec![0usize; buckets + 1];
        entries.visit(chunk, |i, _, _| starts[i as usize / width + 1] += 1);
        (0..buckets).for_each(|b| starts[b + 1] += starts[b]);
        let mut next = starts.clone();
        let mut out = vec![(0, 0, T::zero()); starts[buckets]];
        entries.visit(chunk, |i, j, v| {
            let at = &mut next[i as usize / width];
            out[*at] = (i, j, v);
            *at += 1;
        });
        Dealt { starts, entries: out }
    }

    fn bucket(&self, at: usize) -> &[(u32, u32, T)] {
        &self.entries[self.starts[at]..self.starts[at + 1]]
    }
}

/// The part of the result that a bucket fills.
struct Pile<'a, T> {
    first: usize,
    /// Where the next entry of each row goes.
    next: Vec<usize>,
    columns: &'a mut [u32],
    values: &'a mut [T],
}

impl<T: Scalar> Pile<'_, T> {
    fn put(&mut self, row: u32, column: u32, value: T) {
        let at = &mut self.next[row as usize - self.first];
        self.columns[*at] = column;
        self.values[*at] = value;
        *at += 1;
    }
}

/// A pile for each run of `width` rows.
fn piles<'a, T: Scalar>(
    starts: &[usize],
    width: usize,
    mut columns: &'a mut [u32],
    mut values: &'a mut [T],
) -> Vec<Pile<'a, T>> {
    let rows = starts.len() - 1;
    let pile = |first: usize| {
        let end = (first + width).min(rows);
        let count = starts[end] - starts[first];
        let next = starts[first..end].iter().map(|start| start - starts[first]).collect();
        let own = columns.split_off_mut(..count).unwrap_or_default();
        Pile { first, next, columns: own, values: values.split_off_mut(..count).unwrap_or_default() }
    };
    (0..rows.max(1)).step_by(width).map(pile).collect()
}

/// Sorts the entries of every row by column and adds those of equal columns up, in their order.
pub(super) fn sorted<T: Scalar>((mut starts, mut columns, mut values): Grouped<T>) -> Grouped<T> {
    const ROWS: usize = 4096;
    let rows = starts.len() - 1;
    let (mut rest_c, mut rest_v) = (&mut columns[..], &mut values[..]);
    let mut runs = Vec::new();
    for first in (0..rows).step_by(ROWS) {
        let end = (first + ROWS).min(rows);
        let count = starts[end] - starts[first];
        let own = rest_c.split_off_mut(..count).unwrap_or_default();
        runs.push((first..end, own, rest_v.split_off_mut(..count).unwrap_or_default()));
    }
    let one = |(rows, columns, values)| sort_rows(&starts, rows, columns, values);
    // Few rows ask no other thread.
    let kept: Vec<Vec<usize>> =
        if runs.len() == 1 { runs.into_iter().map(one).collect() } else { runs.into_par_iter().map(one).collect() };
    let mut at = 0;
    for (i, kept) in kept.into_iter().flatten().enumerate() {
        let from = std::mem::replace(&mut starts[i], at);
        if from != at {
            columns.copy_within(from..from + kept, at);
            values.copy_within(from..from + kept, at);
        }
        at += kept;
    }
    starts[rows] = at;
    columns.truncate(at);
    values.truncate(at);
    (starts, columns, values)
}

/// Sorts some rows in place; how many entries of each are left.
fn sort_rows<T: Scalar>(starts: &[usize], rows: Range<usize>, columns: &mut [u32], values: &mut [T]) -> Vec<usize> {
    let mut cells: Vec<(u32, T)> = Vec::new();
    let base = starts[rows.start];
    let mut sort = |i: usize| {
        let own = starts[i] - base..starts[i + 1] - base;
        let (columns, values) = (&mut columns[own.clone()], &mut values[own]);
        if columns.is_sorted_by(|a, b| a < b) {
            return columns.len();
        }
        cells.clear();
        cells.extend(columns.iter().copied().zip(values.iter().copied()));
        cells.sort_by_key(|cell| cell.0); // stable: equal columns add up in the order of the input
        let mut last = 0;
        (columns[0], values[0]) = cells[0];
        for &(column, value) in &cells[1..] {
            if columns[last] == column {
                values[last] += value;
            } else {
                last += 1;
                (columns[last], values[last]) = (column, value);
            }
        }
        last + 1
    };
    rows.map(&mut sort).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Csr;
    use std::collections::BTreeMap;

    /// Numbers that repeat and come in no order.
    fn entries(count: u32, rows: u32, columns: u32) -> Vec<(u32, u32, f64)> {
        let mixed = |k: u32| k.wrapping_mul(2_654_435_761).rotate_left(13);
        (0..count).map(|k| (mixed(k) % rows, mixed(k + 7) % columns, 1.0 / f64::from(k + 1))).collect()
    }

    #[test]
    fn any_number_of_buckets_gives_the_same_order() {
        let entries = entries(5000, 300, 40);
        let mut plain: Vec<_> = entries.clone();
        plain.sort_by_key(|e| e.0);
        for buckets in [1, 2, 7, 300, 1000] {
            let (starts, columns, values) = in_buckets(300, &Triplets(&entries), buckets);
            assert_eq!(columns, plain.iter().map(|e| e.1).collect::<Vec<_>>(), "{buckets}");
            assert_eq!(values, plain.iter().map(|e| e.2).collect::<Vec<_>>());
            assert!((0..300).all(|i| plain[starts[i]..starts[i + 1]].iter().all(|e| e.0 as usize == i)));
        }
    }

    #[test]
    fn many_entries_in_several_chunks_and_batches_are_those_of_a_map() {
        let count = (CHUNK * (BATCH + 1)) as u32 + 17;
        let entries = entries(count, 1 << 16, 1 << 15);
        let mut map = BTreeMap::new();
        entries.iter().for_each(|&(i, j, v)| *map.entry((i, j)).or_insert(0.0) += v);
        let csr = Csr::from_triplets(1 << 16, 1 << 15, &entries);
        assert_eq!(csr.nnz(), map.len());
        let cell = |i: usize| csr.row(i).0.iter().zip(csr.row(i).1).map(move |(&j, &v)| ((i as u32, j), v));
        assert!((0..1 << 16).flat_map(cell).eq(map.iter().map(|(&at, &v)| (at, v))));
        let turned = csr.transpose();
        let cell = |j: usize| turned.row(j).0.iter().zip(turned.row(j).1).map(move |(&i, &v)| ((j as u32, i), v));
        let mut swapped: Vec<_> = map.iter().map(|(&(i, j), &v)| ((j, i), v)).collect();
        swapped.sort_unstable_by_key(|cell| cell.0);
        assert!((0..1 << 15).flat_map(cell).eq(swapped));
    }

    #[test]
    fn nothing_and_rows_without_entries_are_no_exception() {
        let (starts, columns, _) = sorted(grouped::<f64>(0, &Triplets(&[])));
        assert_eq!((starts, columns.len()), (vec![0], 0));
        let (starts, columns, values) = sorted(in_buckets(4, &Triplets(&[(3, 1, 2.0), (3, 0, 1.0), (3, 1, 0.5)]), 3));
        assert_eq!((starts, columns, values), (vec![0, 0, 0, 0, 2], vec![0, 1], vec![1.0, 2.5]));
    }
}

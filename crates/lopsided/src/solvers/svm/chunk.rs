//! The working set of a search.
//!
//! Members keep a whole column of K each, to tell all samples what has changed, and a row of the small square of K
//! between members, in which pairs are sought and moved thousands of times. In that square members stand group by
//! group, each group padded to a multiple of the vector width, so that the inner loops need no remainders.

use super::lanes::LANES;
use super::row_cache::Entry;
use super::smo::Search;
use crate::base::error::Result;
use rayon::prelude::*;
use std::ops::Range;

/// Rows of the square that are filled together: entries of a line of the processor's memory.
const TOGETHER: usize = 16;
/// Entries that are worth a thread of their own.
const WORTHWHILE: usize = 1 << 16;

/// The samples that a search moves at present, with their rows of K.
pub(super) struct Chunk<E> {
    /// Numbers of the samples.
    pub(super) members: Vec<usize>,
    /// K\[all samples, members\], column by column, and memory for more.
    columns: Vec<E>,
    /// Rows of K between members, one for each, and memory for more.
    square: Vec<E>,
    /// Where members stand in a row of the square.
    pub(super) layout: Layout,
    /// Members whose rows of the square are complete.
    filled: usize,
    samples: usize,
}

/// Members ordered by group, each group filled up to a multiple of [`LANES`] by places that never move.
#[derive(Default)]
pub(super) struct Layout {
    /// Place of each member.
    pub(super) places: Vec<usize>,
    pub(super) groups: Vec<Range<usize>>,
    /// Members of each group.
    counts: Vec<usize>,
}

impl Layout {
    fn of(search: &Search<'_>, members: &[usize]) -> Self {
        let mut out = Layout { places: vec![0; members.len()], ..Layout::default() };
        let mut end = 0_usize;
        for group in 0..search.groups() {
            let start = end;
            for (place, _) in out.places.iter_mut().zip(members).filter(|(_, t)| search.group[**t] == group) {
                *place = end;
                end += 1;
            }
            out.counts.push(end - start);
            end = end.next_multiple_of(LANES);
            out.groups.push(start..end);
        }
        out
    }

    /// Number of places.
    pub(super) fn size(&self) -> usize {
        self.groups.last().map_or(0, |last| last.end)
    }
}

impl<E: Entry> Chunk<E> {
    /// Without members.
    pub(super) fn new(search: &Search<'_>) -> Self {
        let (columns, square, layout) = (search.rows.take(), search.rows.take(), Layout::default());
        Chunk { members: Vec::new(), columns, square, layout, filled: 0, samples: search.c.len() }
    }

    /// Leaves its memory to other searches.
    pub(super) fn end(self, search: &Search<'_>) {
        search.rows.leave(self.square);
        search.rows.leave(self.columns);
    }

    /// K\[all samples, members\], column by column.
    pub(super) fn columns(&self) -> &[E] {
        &self.columns[..self.samples * self.members.len()]
    }

    /// The row of K between a member and all places.
    pub(super) fn row(&self, member: usize) -> &[E] {
        let size = self.layout.size();
        &self.square[member * size..(member + 1) * size]
    }

    /// Takes samples in, with their rows.
    pub(super) fn add(&mut self, search: &Search<'_>, fresh: &[usize]) -> Result<()> {
        let (n, places) = (self.samples, &search.part.places);
        let (start, end) = (n * self.members.len(), n * (self.members.len() + fresh.len()));
        reach(&mut self.columns, end);
        let wanted: Vec<usize> = fresh.iter().map(|&t| places[t]).collect();
        search.rows.columns(places, &wanted, &mut self.columns[start..end])?;
        self.members.extend_from_slice(fresh);
        self.fill_square(Layout::of(search, &self.members));
        Ok(())
    }

    /// Keeps the members at some places, which ascend.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let n = self.samples;
        for (to, &from) in kept.iter().enumerate() {
            self.columns.copy_within(from * n..(from + 1) * n, to * n);
            self.members[to] = self.members[from];
        }
        self.members.truncate(kept.len());
        self.filled = 0;
    }

    /// Rows of the square for a layout with more members.
    fn fill_square(&mut self, layout: Layout) {
        let (n, size) = (self.samples, layout.size());
        reach(&mut self.square, size * self.members.len());
        self.make_room(&layout);
        let members = &self.members;
        let (old, fresh) = self.square[..size * members.len()].split_at_mut(self.filled * size);
        let (columns, least) = (self.columns[self.filled * n..].par_chunks_exact(n), WORTHWHILE.div_ceil(size));
        fresh.par_chunks_exact_mut(size).zip(columns).with_min_len(least).for_each(|(row, column)| {
            layout.places.iter().zip(members).for_each(|(&at, &t)| row[at] = column[t]);
        });
        let (before, after) = layout.places.split_at(self.filled);
        let blocks = old.par_chunks_mut(TOGETHER * size).zip(before.par_chunks(TOGETHER));
        blocks.with_min_len(least.div_ceil(TOGETHER)).for_each(|(rows, before)| {
            for (fresh, &to) in fresh.chunks_exact(size).zip(after) {
                rows.chunks_exact_mut(size).zip(before).for_each(|(row, &from)| row[to] = fresh[from]);
            }
        });
        (self.layout, self.filled) = (layout, self.members.len());
    }

    /// Moves the rows that are there to where a larger layout has them, the last first.
    fn make_room(&mut self, layout: &Layout) {
        let (before, after) = (self.layout.size(), layout.size());
        for row in (0..self.filled).rev() {
            for (group, (from, to)) in self.layout.groups.iter().zip(&layout.groups).enumerate().rev() {
                let start = row * before + from.start;
                self.square.copy_within(start..start + self.layout.counts[group], row * after + to.start);
            }
        }
    }
}

/// At least so many entries.
fn reach<E: Entry>(memory: &mut Vec<E>, len: usize) {
    if memory.len() < len {
        memory.resize(len, E::zero());
    }
}

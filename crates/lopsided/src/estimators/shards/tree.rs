//! Sums over the pieces of a table in a fixed tree.
//!
//! Pieces are the leaves of a binary tree, in their order: node `index` of level `level` is the sum over the pieces from
//! `index`·2^level on, 2^level of them, and is made of its two halves, the left one first. Whoever has both halves joins them, so that
//! of any set of pieces the sums of the largest complete nodes are held: of consecutive ones at most two for each level. The order in
//! which pieces arrive, and who summed them up, can therefore not be told from the bits of a sum.

use crate::base::error::Result;
use crate::data::archive::Archive;
use std::collections::BTreeMap;
use std::ops::Range;

/// What a pass sums up over rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sums {
    /// Numbers that add up, in several lists.
    Plain(Vec<Vec<f64>>),
    /// Moments of columns.
    Moments(Moments),
}

/// Means and spreads of columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Moments {
    /// Rows.
    pub(super) count: f64,
    pub(super) means: Vec<f64>,
    /// Sums of squared differences from the mean.
    pub(super) squares: Vec<f64>,
    pub(super) least: Vec<f64>,
    pub(super) most: Vec<f64>,
}

impl Sums {
    /// The sum of these rows and of those that follow.
    fn join(self, next: Sums) -> Sums {
        match (self, next) {
            (Sums::Plain(mut here), Sums::Plain(next)) => {
                let pairs = here.iter_mut().flatten().zip(next.iter().flatten());
                pairs.for_each(|(sum, more)| *sum += more);
                Sums::Plain(here)
            }
            (Sums::Moments(here), Sums::Moments(next)) => Sums::Moments(here.join(&next)),
            // A part has sums of one kind.
            (here, _) => here,
        }
    }

    fn lists(&self) -> Vec<Vec<f64>> {
        match self {
            Sums::Plain(lists) => lists.clone(),
            Sums::Moments(m) => {
                vec![vec![m.count], m.means.clone(), m.squares.clone(), m.least.clone(), m.most.clone()]
            }
        }
    }

    fn of_lists(lists: Vec<Vec<f64>>, moments: bool) -> Option<Sums> {
        if !moments {
            return Some(Sums::Plain(lists));
        }
        let [count, means, squares, least, most] = <[Vec<f64>; 5]>::try_from(lists).ok()?;
        Some(Sums::Moments(Moments { count: *count.first()?, means, squares, least, most }))
    }
}

impl Moments {
    /// Those of the columns of some rows, one after the other.
    pub(super) fn of<'a>(rows: usize, columns: impl Iterator<Item = Box<dyn Fn(usize) -> f64 + 'a>>) -> Self {
        let mut out = Moments { count: rows as f64, means: vec![], squares: vec![], least: vec![], most: vec![] };
        for value in columns {
            let mean = (0..rows).map(&value).sum::<f64>() / rows.max(1) as f64;
            out.means.push(mean);
            out.squares.push((0..rows).map(|i| (value(i) - mean).powi(2)).sum());
            out.least.push((0..rows).map(&value).fold(f64::INFINITY, f64::min));
            out.most.push((0..rows).map(&value).fold(f64::NEG_INFINITY, f64::max));
        }
        out
    }

    /// The moments of both by their means and squares (Chan, Golub and LeVeque), in which no digits cancel.
    fn join(mut self, next: &Moments) -> Moments {
        let count = self.count + next.count;
        if next.count == 0.0 {
            return self;
        }
        for j in 0..self.means.len().min(next.means.len()) {
            let apart = next.means[j] - self.means[j];
            self.means[j] += apart * next.count / count;
            self.squares[j] += next.squares[j] + apart * apart * self.count * next.count / count;
            self.least[j] = self.least[j].min(next.least[j]);
            self.most[j] = self.most[j].max(next.most[j]);
        }
        self.count = count;
        self
    }

    /// The deviation of a column.
    pub(super) fn deviation(&self, column: usize) -> f64 {
        (self.squares[column] / self.count.max(1.0)).sqrt()
    }
}

/// The sums of some pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tree(BTreeMap<(u32, usize), Sums>);

impl Tree {
    /// Adds the sums of a node, which must not be there yet.
    pub(super) fn insert(&mut self, mut level: u32, mut index: usize, mut sums: Sums) {
        while let Some(other) = self.0.remove(&(level, index ^ 1)) {
            sums = if index % 2 == 1 { other.join(sums) } else { sums.join(other) };
            (level, index) = (level + 1, index / 2);
        }
        self.0.insert((level, index), sums);
    }

    /// Adds the nodes of another one.
    pub(super) fn merge(&mut self, other: Tree) {
        other.0.into_iter().for_each(|((level, index), sums)| self.insert(level, index, sums));
    }

    /// The sum over all pieces, which are complete: what is left beyond the largest nodes is joined from the end.
    pub(super) fn total(self) -> Option<Sums> {
        let mut nodes: Vec<((u32, usize), Sums)> = self.0.into_iter().collect();
        nodes.sort_by_key(|((level, index), _)| std::cmp::Reverse(index << level));
        let mut nodes = nodes.into_iter().map(|(_, sums)| sums);
        let last = nodes.next()?;
        Some(nodes.fold(last, |rest, sums| sums.join(rest)))
    }

    /// The nodes that cover these ranges of pieces.
    fn nodes_of(covered: &[Range<usize>]) -> Vec<(u32, usize)> {
        let mut out = Vec::new();
        for range in covered {
            let mut start = range.start;
            while start < range.end {
                let fits = |level: &u32| start.trailing_zeros() >= *level && start + (1 << level) <= range.end;
                let level = (0..usize::BITS - 1).take_while(fits).last().unwrap_or(0);
                out.push((level, start >> level));
                start += 1 << level;
            }
        }
        out.sort_unstable();
        out
    }

    /// Puts all nodes into an archive.
    pub(super) fn put(&self, archive: &mut Archive) {
        for ((level, index), sums) in &self.0 {
            for (at, list) in sums.lists().iter().enumerate() {
                archive.set_vector(&format!("sums.{level}.{index}.{at}"), list);
            }
        }
    }

    /// The nodes of an archive that cover these pieces, each with lists of these lengths.
    pub(super) fn take(archive: &Archive, covered: &[Range<usize>], lengths: &[usize], moments: bool) -> Result<Self> {
        let mut out = Tree::default();
        for (level, index) in Tree::nodes_of(covered) {
            let list = |(at, length): (usize, &usize)| {
                let found = archive.vector::<f64>(&format!("sums.{level}.{index}.{at}"))?;
                let fits = found.len() == *length;
                if fits { Ok(found) } else { Err(archive.error("has sums whose sizes do not fit together")) }
            };
            let lists = lengths.iter().enumerate().map(list).collect::<Result<Vec<_>>>()?;
            let sums = Sums::of_lists(lists, moments).ok_or_else(|| archive.error("has sums that are none"))?;
            out.0.insert((level, index), sums);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn leaf(piece: usize) -> Sums {
        Sums::Plain(vec![vec![1.0 / (piece as f64 + 3.0), 1.0]])
    }

    fn tree(pieces: impl IntoIterator<Item = usize>) -> Tree {
        let mut out = Tree::default();
        pieces.into_iter().for_each(|piece| out.insert(0, piece, leaf(piece)));
        out
    }

    proptest! {
        #[test]
        fn no_order_and_no_sharing_changes_a_bit(count in 1usize..90, cut in 0usize..90, turn in 0usize..90) {
            let whole = tree(0..count).total().unwrap();
            let mut turned: Vec<usize> = (0..count).collect();
            turned.rotate_left(turn % count);
            turned.swap(0, count - 1);
            prop_assert_eq!(&tree(turned).total().unwrap(), &whole);
            let cut = cut % (count + 1);
            let (mut right, left) = (tree(cut..count), tree(0..cut));
            right.merge(left);
            prop_assert_eq!(right.total().unwrap(), whole);
        }

        #[test]
        fn ranges_say_which_nodes_there_are(start in 0usize..70, length in 1usize..70) {
            let found: Vec<(u32, usize)> = tree(start..start + length).0.into_keys().collect();
            prop_assert_eq!(found, Tree::nodes_of(std::slice::from_ref(&(start..start + length))));
        }
    }

    #[test]
    fn moments_of_parts_are_those_of_the_whole() {
        let values: Vec<f64> = (0..100).map(|i| 1e9 + f64::from(i * i % 37)).collect();
        let of = |values: &[f64]| {
            let values = values.to_vec();
            Moments::of(values.len(), std::iter::once(Box::new(move |i: usize| values[i]) as Box<dyn Fn(usize) -> f64>))
        };
        let (whole, joined) = (of(&values), of(&values[..30]).join(&of(&values[30..])));
        assert!((whole.deviation(0) - joined.deviation(0)).abs() < 1e-9 * whole.deviation(0));
        assert_eq!((joined.count, joined.least[0], joined.most[0]), (100.0, 1e9, 1e9 + 36.0));
    }
}

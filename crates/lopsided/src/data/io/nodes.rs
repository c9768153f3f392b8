//! A graph put together from links between named nodes.
//!
//! Ids that are all whole numbers are sorted, others keep the order in which they first appear. Only nodes that occur exist: a node without
//! links stands on a line of its own, or in the list of nodes.

use super::Reasoned;
use super::fields::whole;
use crate::base::error::{Error, Result};
use crate::data::graph::Graph;
use std::collections::HashMap;

/// Nodes in order of first appearance, and the links between them.
///
/// Whole numbers are kept apart from other names, which saves the text of nearly all ids of large graphs.
#[derive(Default)]
pub(super) struct Builder {
    numbers: Numbers,
    names: HashMap<String, u32>,
    links: Vec<(u32, u32, f64)>,
    /// How often a node was given by a name that is not a whole number.
    named: u64,
}

/// Places of nodes that are whole numbers: in a table up to a few million, which stays in the cache, hashed beyond.
#[derive(Default)]
struct Numbers {
    /// One more than the place; 0 for a number not seen.
    small: Vec<u32>,
    large: HashMap<u64, u32>,
    count: usize,
}

impl Numbers {
    /// Numbers below it are in the table.
    const SMALL: u64 = 1 << 22;

    /// The place of a number, `next` where it is new.
    fn place(&mut self, number: u64, next: u32) -> u32 {
        if number >= Self::SMALL {
            let place = *self.large.entry(number).or_insert(next);
            self.count += usize::from(place == next);
            return place;
        }
        let at = number as usize;
        if at >= self.small.len() {
            self.small.resize((at + 1).next_power_of_two(), 0);
        }
        if self.small[at] == 0 {
            self.small[at] = next + 1;
            self.count += 1;
        }
        self.small[at] - 1
    }

    /// All places become smaller.
    fn move_by(&mut self, by: u32) {
        self.small.iter_mut().filter(|place| **place > 0).for_each(|place| *place -= by);
        self.large.values_mut().for_each(|place| *place -= by);
    }

    /// Numbers in ascending order, with their places.
    fn sorted(&self) -> Vec<(u64, u32)> {
        let small = self.small.iter().enumerate().filter(|(_, place)| **place > 0);
        let mut large: Vec<(u64, u32)> = self.large.iter().map(|(number, place)| (*number, *place)).collect();
        large.sort_unstable();
        small.map(|(number, place)| (number as u64, place - 1)).chain(large).collect()
    }
}

impl Builder {
    /// Adds a link; the error is a reason without a place.
    pub(super) fn link(&mut self, source: &str, target: &str, weight: f64) -> Reasoned<()> {
        if !weight.is_finite() {
            return Err(format!("weight `{weight}` is not a finite number"));
        }
        let link = (self.node(source)?, self.node(target)?, weight);
        self.links.push(link);
        Ok(())
    }

    /// Adds a link between nodes whose ids are whole numbers; its weight is finite.
    pub(super) fn numbers(&mut self, source: u64, target: u64, weight: f64) -> Reasoned<()> {
        let source = self.numbers.place(source, self.next()?);
        let target = self.numbers.place(target, self.next()?);
        self.links.push((source, target, weight));
        Ok(())
    }

    /// The place of the next new node.
    fn next(&self) -> Reasoned<u32> {
        let next = self.numbers.count + self.names.len();
        u32::try_from(next).map_err(|_| "more than 4294967296 nodes".to_string())
    }

    /// Bytes of the links so far.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.links[..])
    }

    /// The position of a node, added where it is new.
    pub(super) fn node(&mut self, id: &str) -> Reasoned<u32> {
        let next = self.next()?;
        if let Some(number) = whole(id) {
            return Ok(self.numbers.place(number, next));
        }
        check_name(id)?;
        self.named += 1;
        if let Some(&known) = self.names.get(id) {
            return Ok(known);
        }
        self.names.insert(id.to_owned(), next);
        Ok(next)
    }

    /// Forgets the first link when its two names are the only ones among whole numbers: they were a header.
    pub(super) fn drop_header(&mut self) {
        if self.named != 2 || self.numbers.count == 0 {
            return;
        }
        let header = self.names.len() as u32;
        self.names.clear();
        self.links.remove(0);
        self.numbers.move_by(header);
        self.links.iter_mut().for_each(|l| *l = (l.0 - header, l.1 - header, l.2));
    }

    /// The graph with the `extra` nodes, and remarks about it.
    pub(super) fn finish(mut self, name: &str, extra: &[String]) -> Result<(Graph, Vec<String>)> {
        if self.links.is_empty() {
            return Err(Error::parse(name, "has no links"));
        }
        for id in extra {
            self.node(id).map_err(|reason| Error::parse(name, reason))?;
        }
        let ids = if self.names.is_empty() { self.number_order() } else { self.first_order() };
        let notes = idle_note(&ids, &self.links).into_iter().collect();
        Ok((Graph::new(ids, &self.links)?, notes))
    }

    /// Ids in the order of their places.
    fn first_order(&mut self) -> Vec<String> {
        let mut ids = vec![String::new(); self.numbers.count + self.names.len()];
        for (number, at) in self.numbers.sorted() {
            ids[at as usize] = number.to_string();
        }
        for (name, at) in self.names.drain() {
            ids[at as usize] = name;
        }
        ids
    }

    /// Ids in numeric order.
    fn number_order(&mut self) -> Vec<String> {
        let sorted = self.numbers.sorted();
        let mut rank = vec![0u32; sorted.len()];
        for (position, &(_, at)) in sorted.iter().enumerate() {
            rank[at as usize] = position as u32;
        }
        self.links.iter_mut().for_each(|l| *l = (rank[l.0 as usize], rank[l.1 as usize], l.2));
        sorted.iter().map(|(number, _)| number.to_string()).collect()
    }
}

/// Refuses an empty id, and a negative number, which is more likely an index gone wrong than a name.
fn check_name(id: &str) -> Reasoned<()> {
    if id.is_empty() {
        return Err("a node id is empty".into());
    }
    match id.strip_prefix('-') {
        Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            Err(format!("node id {id} is negative; whole-number ids start at 0"))
        }
        _ => Ok(()),
    }
}

/// A remark on nodes without links, which stay and may surprise.
fn idle_note(ids: &[String], links: &[(u32, u32, f64)]) -> Option<String> {
    let mut linked = vec![false; ids.len()];
    for &(source, target, _) in links {
        linked[source as usize] = true;
        linked[target as usize] = true;
    }
    let idle = linked.iter().filter(|l| !**l).count();
    let verb = if idle == 1 { "has no link; it stays" } else { "have no link; they stay" };
    (idle > 0).then(|| format!("{idle} of the {} nodes {verb}", ids.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_keep_their_places_without_the_header() {
        let mut builder = Builder::default();
        let large = Numbers::SMALL + 7;
        for (source, target) in [("source", "target"), ("5", &large.to_string()), (&large.to_string(), "0"), ("5", "0")]
        {
            builder.link(source, target, 1.0).unwrap();
        }
        builder.drop_header();
        assert_eq!(builder.numbers.sorted(), [(0, 2), (5, 0), (large, 1)]);
        assert_eq!(builder.links, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]);
    }
}

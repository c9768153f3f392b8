//! A graph put together from links between named nodes.

use super::Reasoned;
use super::fields::whole;
use crate::error::{Error, Result};
use crate::graph::Graph;
use std::collections::HashMap;

/// Nodes in order of first appearance, and the links between them.
///
/// Whole numbers are kept apart from other names, which saves the text of nearly all ids of large graphs.
#[derive(Default)]
pub(super) struct Builder {
    numbers: HashMap<u64, u32>,
    names: HashMap<String, u32>,
    links: Vec<(u32, u32, f64)>,
    /// How often a node was given by a name that is not a whole number.
    named: u64,
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

    /// The position of a node, added where it is new.
    pub(super) fn node(&mut self, id: &str) -> Reasoned<u32> {
        let next = self.numbers.len() + self.names.len();
        let next = u32::try_from(next).map_err(|_| "more than 4294967296 nodes".to_string())?;
        if let Some(number) = whole(id) {
            return Ok(*self.numbers.entry(number).or_insert(next));
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
        if self.named != 2 || self.numbers.is_empty() {
            return;
        }
        let header = self.names.len() as u32;
        self.names.clear();
        self.links.remove(0);
        self.numbers.values_mut().for_each(|at| *at -= header);
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
        let (ids, range) = if self.names.is_empty() { self.number_order() } else { (self.first_order(), None) };
        let notes = idle_note(&ids, &self.links, range).into_iter().collect();
        Ok((Graph::new(ids, &self.links)?, notes))
    }

    fn first_order(&mut self) -> Vec<String> {
        let mut ids = vec![String::new(); self.numbers.len() + self.names.len()];
        for (number, at) in self.numbers.drain() {
            ids[at as usize] = number.to_string();
        }
        for (name, at) in self.names.drain() {
            ids[at as usize] = name;
        }
        ids
    }

    /// Ids in numeric order, and their range when the gaps in it were filled.
    fn number_order(&mut self) -> (Vec<String>, Option<(u64, u64)>) {
        let mut sorted: Vec<(u64, u32)> = self.numbers.drain().collect();
        sorted.sort_unstable();
        let range = dense_range(&sorted);
        let mut rank = vec![0u32; sorted.len()];
        for (position, &(number, at)) in sorted.iter().enumerate() {
            rank[at as usize] = range.map_or(position as u32, |(least, _)| (number - least) as u32);
        }
        self.links.iter_mut().for_each(|l| *l = (rank[l.0 as usize], rank[l.1 as usize], l.2));
        let ids = match range {
            Some((least, most)) => (least..=most).map(|number| number.to_string()).collect(),
            None => sorted.iter().map(|(number, _)| number.to_string()).collect(),
        };
        (ids, range)
    }
}

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

/// Least and greatest of sorted numbers that fill at least half of what lies between them.
fn dense_range(sorted: &[(u64, u32)]) -> Option<(u64, u64)> {
    let (least, most) = (sorted.first()?.0, sorted.last()?.0);
    let span = (most - least).checked_add(1)?;
    (span <= 2 * sorted.len() as u64 && u32::try_from(span).is_ok()).then_some((least, most))
}

fn idle_note(ids: &[String], links: &[(u32, u32, f64)], range: Option<(u64, u64)>) -> Option<String> {
    let mut linked = vec![false; ids.len()];
    for &(source, target, _) in links {
        linked[source as usize] = true;
        linked[target as usize] = true;
    }
    let idle = linked.iter().filter(|l| !**l).count();
    let nodes = match range {
        Some((least, most)) => format!("nodes {least} to {most}"),
        None => format!("{} nodes", ids.len()),
    };
    let verb = if idle == 1 { "has no link; it stays" } else { "have no link; they stay" };
    (idle > 0).then(|| format!("{idle} of the {nodes} {verb}"))
}

//! Pairs within a chunk.
//!
//! 1. i: the largest residual among members whose coefficient may grow.
//! 2. j: of those that may shrink, the one with the largest gain (r_i − r_j)²/(K_ii + K_jj − 2K_ij).
//! 3. λ = (r_i − r_j)/(K_ii + K_jj − 2K_ij), cut where c_i or c_j reaches its bound; c_i += λ, c_j −= λ.
//! 4. r −= λ·(K_i − K_j) for all members, and in the same pass the extremes for the next step.

use super::chunk::Chunk;
use super::lanes::{CURVATURE, Extremes, Moved, Partner};
use super::row_cache::Entry;
use super::smo::Search;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::watch::Progress;

/// Steps between two reports.
const REPORT_EVERY: usize = 1000;

/// The problem of the members of a chunk alone, in the order of its [`super::chunk::Layout`].
pub(super) struct Inner<'a, E> {
    chunk: &'a Chunk<E>,
    /// The member at each place.
    members: Vec<usize>,
    diagonal: Vec<f64>,
    c: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    residual: Vec<f64>,
    /// 0 where c may grow, else −∞.
    grow: Vec<f64>,
    /// 0 where c may shrink, else ∞.
    shrink: Vec<f64>,
}

impl<'a, E: Entry> Inner<'a, E> {
    pub(super) fn new(search: &Search<'_>, chunk: &'a Chunk<E>) -> Self {
        let (places, size) = (&chunk.layout.places, chunk.layout.size());
        let spread = |values: &[f64]| {
            let mut out = vec![0.0; size];
            places.iter().zip(&chunk.members).for_each(|(&at, &t)| out[at] = values[t]);
            out
        };
        let mut members = vec![0; size];
        places.iter().enumerate().for_each(|(member, &at)| members[at] = member);
        let mut inner = Inner {
            chunk,
            members,
            diagonal: spread(&search.diagonal),
            c: spread(&search.c),
            lower: spread(&search.lower),
            upper: spread(&search.upper),
            residual: spread(&search.residual),
            grow: vec![f64::NEG_INFINITY; size],
            shrink: vec![f64::INFINITY; size],
        };
        places.iter().for_each(|&at| inner.mark(at));
        inner
    }

    /// What each member's coefficient and residual have become.
    pub(super) fn found(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.chunk.layout.places.iter().map(|&at| (self.c[at], self.residual[at]))
    }

    /// Moves pairs until the violation is at most `goal`; returns the steps and the extremes of both groups.
    pub(super) fn solve(&mut self, goal: f64, most: usize, run: &Run) -> Result<(usize, [Extremes; 2])> {
        let mut extremes = self.moved([0, 0], 0.0);
        for steps in 0..most {
            let group = usize::from(extremes[1].violation() > extremes[0].violation());
            let residual = extremes[group].violation();
            if residual <= goal {
                return Ok((steps, extremes));
            }
            if steps % REPORT_EVERY == 0 {
                let (stage, done, residual) = ("support vectors", steps as u64, Some(residual));
                run.watch.report(Progress { stage, done, total: 0, residual })?;
            }
            extremes = self.step(group, extremes[group]);
        }
        Ok((most, extremes))
    }

    /// Moves the pair of the largest residual and the largest gain.
    fn step(&mut self, group: usize, Extremes { first: i, largest, .. }: Extremes) -> [Extremes; 2] {
        let own = self.chunk.layout.groups[group].clone();
        let row = self.chunk.row(self.members[i]);
        let partner = Partner {
            largest,
            own: self.diagonal[i],
            row: &row[own.clone()],
            diagonal: &self.diagonal[own.clone()],
            residual: &self.residual[own.clone()],
            shrink: &self.shrink[own.clone()],
        };
        let j = own.start + partner.find();
        let curvature = (self.diagonal[i] + self.diagonal[j] - 2.0 * row[j].as_f64()).max(CURVATURE);
        let room = (self.upper[i] - self.c[i]).min(self.c[j] - self.lower[j]);
        let length = ((largest - self.residual[j]) / curvature).min(room);
        self.c[i] = shifted(self.c[i], length, self.upper[i]);
        self.c[j] = -shifted(-self.c[j], length, -self.lower[j]);
        self.mark(i);
        self.mark(j);
        self.moved([i, j], length)
    }

    /// The extremes after a pair was moved by some length.
    fn moved(&mut self, pair: [usize; 2], length: f64) -> [Extremes; 2] {
        let rows = pair.map(|at| self.chunk.row(self.members[at]));
        let mut out = [Extremes::NONE; 2];
        for (out, own) in out.iter_mut().zip(&self.chunk.layout.groups) {
            let moved = Moved {
                residual: &mut self.residual[own.clone()],
                rows: rows.map(|row| &row[own.clone()]),
                length,
                grow: &self.grow[own.clone()],
                shrink: &self.shrink[own.clone()],
            };
            let found = moved.extremes();
            *out = Extremes { first: own.start + found.first, ..found };
        }
        out
    }

    fn mark(&mut self, at: usize) {
        self.grow[at] = if self.c[at] < self.upper[at] { 0.0 } else { f64::NEG_INFINITY };
        self.shrink[at] = if self.c[at] > self.lower[at] { 0.0 } else { f64::INFINITY };
    }
}

/// `from` + `length`, exactly the bound where it reaches that far.
fn shifted(from: f64, length: f64, bound: f64) -> f64 {
    if length >= bound - from { bound } else { (from + length).min(bound) }
}

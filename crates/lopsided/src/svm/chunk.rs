use super::lanes::{CURVATURE, Extremes, LANES, Moved, Partner};
use super::smo::Search;
use crate::error::Result;
use crate::svd::Run;
use crate::watch::Progress;
use std::ops::Range;

/// Steps between two reports.
const REPORT_EVERY: usize = 1000;

/// The samples that a search moves at present, with their rows of K.
#[derive(Default)]
pub(super) struct Chunk {
    /// Numbers of the samples.
    pub(super) members: Vec<usize>,
    /// K\[all samples, members\], column by column.
    pub(super) columns: Vec<f64>,
}

impl Chunk {
    /// Takes samples in, with their rows.
    pub(super) fn add(&mut self, search: &Search<'_>, fresh: &[usize]) -> Result<()> {
        let n = search.c.len();
        let (start, places) = (self.columns.len(), &search.part.places);
        self.columns.resize(start + n * fresh.len(), 0.0);
        let wanted: Vec<usize> = fresh.iter().map(|&t| places[t]).collect();
        search.rows.columns(places, &wanted, &mut self.columns[start..])?;
        self.members.extend_from_slice(fresh);
        Ok(())
    }

    /// Keeps the members at some places, which ascend.
    pub(super) fn keep(&mut self, kept: &[usize]) {
        let n = self.columns.len() / self.members.len().max(1);
        for (to, &from) in kept.iter().enumerate() {
            self.columns.copy_within(from * n..(from + 1) * n, to * n);
            self.members[to] = self.members[from];
        }
        self.members.truncate(kept.len());
        self.columns.truncate(kept.len() * n);
    }
}

/// The problem of the members alone, ordered by group, each group filled up to a multiple of [`LANES`] by places that never
/// move.
pub(super) struct Inner<'a> {
    chunk: &'a Chunk,
    /// Place of each member.
    places: Vec<usize>,
    groups: Vec<Range<usize>>,
    /// Rows of K between the places, those that were needed so far.
    rows: &'a mut Vec<f64>,
    /// The member of each place, and where its row begins, once it was needed.
    members: Vec<(usize, Option<usize>)>,
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

impl<'a> Inner<'a> {
    /// `rows`: memory that is used again and again.
    pub(super) fn new(search: &Search<'_>, chunk: &'a Chunk, rows: &'a mut Vec<f64>) -> Self {
        rows.clear();
        let (places, groups) = laid_out(search, &chunk.members);
        let size = groups.last().map_or(0, |last| last.end);
        let spread = |values: &[f64]| {
            let mut out = vec![0.0; size];
            places.iter().zip(&chunk.members).for_each(|(&at, &t)| out[at] = values[t]);
            out
        };
        let mut members = vec![(0, None); size];
        places.iter().enumerate().for_each(|(member, &at)| members[at].0 = member);
        let mut inner = Inner {
            chunk,
            diagonal: spread(&search.diagonal),
            c: spread(&search.c),
            lower: spread(&search.lower),
            upper: spread(&search.upper),
            residual: spread(&search.residual),
            grow: vec![f64::NEG_INFINITY; size],
            shrink: vec![f64::INFINITY; size],
            places,
            groups,
            rows,
            members,
        };
        (0..inner.places.len()).for_each(|member| inner.mark(inner.places[member]));
        inner
    }

    /// What each member's coefficient and residual have become.
    pub(super) fn found(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.places.iter().map(|&at| (self.c[at], self.residual[at]))
    }

    /// Moves pairs until the violation is at most `goal`; returns the steps and the extremes of both groups.
    pub(super) fn solve(&mut self, goal: f64, most: usize, run: &Run) -> Result<(usize, [Extremes; 2])> {
        let mut extremes = self.moved(None, 0.0);
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
        let size = self.c.len();
        let own = self.groups[group].clone();
        let start = self.row(i);
        let row = &self.rows[start..start + size];
        let partner = Partner {
            largest,
            own: self.diagonal[i],
            row: &row[own.clone()],
            diagonal: &self.diagonal[own.clone()],
            residual: &self.residual[own.clone()],
            shrink: &self.shrink[own.clone()],
        };
        let j = own.start + partner.find();
        let curvature = (self.diagonal[i] + self.diagonal[j] - 2.0 * row[j]).max(CURVATURE);
        let room = (self.upper[i] - self.c[i]).min(self.c[j] - self.lower[j]);
        let length = ((largest - self.residual[j]) / curvature).min(room);
        self.c[i] = shifted(self.c[i], length, self.upper[i]);
        self.c[j] = -shifted(-self.c[j], length, -self.lower[j]);
        self.mark(i);
        self.mark(j);
        self.moved(Some((i, j)), length)
    }

    /// Where the row of a place begins.
    fn row(&mut self, at: usize) -> usize {
        let (member, start) = self.members[at];
        start.unwrap_or_else(|| {
            let (start, n) = (self.rows.len(), self.chunk.columns.len() / self.places.len());
            self.rows.resize(start + self.c.len(), 0.0);
            let (row, column) = (&mut self.rows[start..], &self.chunk.columns[member * n..(member + 1) * n]);
            self.places.iter().zip(&self.chunk.members).for_each(|(&at, &t)| row[at] = column[t]);
            self.members[at].1 = Some(start);
            start
        })
    }

    /// The extremes after a pair was moved, or before any was.
    fn moved(&mut self, pair: Option<(usize, usize)>, length: f64) -> [Extremes; 2] {
        let size = self.c.len();
        let starts = pair.map(|(i, j)| [self.row(i), self.row(j)]);
        let rows = match starts {
            Some(starts) => starts.map(|start| &self.rows[start..start + size]),
            None => [&self.diagonal[..]; 2],
        };
        let mut out = [Extremes::NONE; 2];
        for (out, own) in out.iter_mut().zip(&self.groups) {
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

/// A place for each member, and the places of each group.
fn laid_out(search: &Search<'_>, members: &[usize]) -> (Vec<usize>, Vec<Range<usize>>) {
    let mut places = vec![0; members.len()];
    let mut groups = Vec::new();
    let mut end = 0_usize;
    for group in 0..search.groups() {
        let start = end;
        for (place, _) in places.iter_mut().zip(members).filter(|(_, t)| search.group[**t] == group) {
            *place = end;
            end += 1;
        }
        end = end.next_multiple_of(LANES);
        groups.push(start..end);
    }
    (places, groups)
}

/// `from` + `length`, exactly the bound where it reaches that far.
fn shifted(from: f64, length: f64, bound: f64) -> f64 {
    if length >= bound - from { bound } else { (from + length).min(bound) }
}

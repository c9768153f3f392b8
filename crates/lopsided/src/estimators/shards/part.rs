//! The sums of some rows in one pass: an object that rows are added to, that merges, and that goes through files.

use super::look::Look;
use super::state::{Outcome, Pass, State, check_facts, check_kind, set_kind};
use super::sums;
use super::tree::{Moments, Sums, Tree};
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Target;
use crate::data::samples::SamplesRef;
use crate::data::state::{put_matrix, put_samples};
use crate::data::table_stream::{TableFacts, pieces};
use std::ops::Range;

/// What parts say that they are.
const PART: &str = "part";
/// More rows than any table has.
const MOST_ROWS: usize = 1 << 48;

/// The sums of some pieces of a table in one pass.
pub struct Part<T> {
    state: State<T>,
    facts: TableFacts,
    /// Pieces that are summed up, in ranges that do not touch.
    covered: Vec<Range<usize>>,
    /// Of the contents of all of them.
    print: u64,
    look: Look<T>,
    tree: Tree,
}

impl<T: Scalar> Part<T> {
    pub(super) fn new(state: State<T>, facts: TableFacts) -> Self {
        Part { state, facts, covered: Vec::new(), print: 0, look: Look::default(), tree: Tree::default() }
    }

    /// The pass that it is a part of.
    pub fn state(&self) -> &State<T> {
        &self.state
    }

    /// The table that it is a part of.
    pub fn facts(&self) -> &TableFacts {
        &self.facts
    }

    /// Rows that are summed up, in ranges that do not touch.
    pub fn rows(&self) -> Vec<Range<usize>> {
        self.covered.iter().map(|pieces| self.rows_of(pieces)).collect()
    }

    /// Adds rows from number `first` on with their targets: whole pieces, of which the last of the table may be shorter.
    ///
    /// # Errors
    /// [`Error::Shape`] for rows of another width, as many targets, or a number of rows that leaves a piece incomplete;
    /// [`Error::Twice`] for rows that are there; [`Error::NotFinite`]; [`Error::Interrupted`].
    pub fn update(&mut self, first: usize, x: SamplesRef<'_, T>, y: Option<&Target>, run: &Run) -> Result<()> {
        let (count, piece) = (x.count(), self.state.job.piece);
        let end = first + count;
        if count == 0 {
            return Err(Error::shape(format!("the number of rows from {first} on"), "at least 1", 0));
        }
        if x.width() != self.facts.width {
            let what = format!("the number of columns of rows {first} to {}", end - 1);
            return Err(Error::shape(what, self.facts.width, x.width()));
        }
        if let Some(targets) = y.map(Target::count).filter(|targets| *targets != count) {
            return Err(Error::shape(format!("the number of targets of rows {first} to {}", end - 1), count, targets));
        }
        if end > self.facts.rows {
            return Err(Error::shape("the number of rows of the table", self.facts.rows, format!("at least {end}")));
        }
        if !first.is_multiple_of(piece) || !end.is_multiple_of(piece) && end != self.facts.rows {
            let expected = format!("whole pieces of {piece} rows, counted from the first of the table");
            return Err(Error::shape("the range of rows", expected, format!("{first} to {}", end - 1)));
        }
        pieces(first..end, piece).try_for_each(|rows| {
            let here: Vec<usize> = (rows.start - first..rows.end - first).collect();
            let y = y.map(|y| y.rows(&here));
            self.add(rows.start / piece, x.subrows(rows.start - first, rows.len()), y.as_ref(), run)
        })
    }

    /// Adds one piece.
    fn add(&mut self, index: usize, x: SamplesRef<'_, T>, y: Option<&Target>, run: &Run) -> Result<()> {
        let (job, first) = (self.state.job.clone(), index * self.state.job.piece);
        let place = std::iter::once(index..index + 1).collect::<Vec<_>>();
        let covered = united(&self.covered, &place).map_err(|twice| self.twice(&twice))?;
        x.check_finite("").map_err(|error| at_row(error, first))?;
        let y = y.filter(|_| job.method.predicts());
        let at: Vec<usize> = y.map_or_else(|| (0..x.count()).collect(), Target::known);
        let sums = match &self.state.pass {
            Pass::Look => {
                self.look.add(&job, first, (x, y), &at)?;
                Sums::Moments(moments(x, y, &at))
            }
            Pass::Sums(seen) => {
                let picked = seen.prepared(selected(x, &at).as_ref());
                Sums::Plain(match &seen.answer {
                    None => sums::features(seen, picked.as_ref(), run)?,
                    Some(_) => sums::normal(seen, picked.as_ref(), &seen.centred(y, &at)?, run)?,
                })
            }
            Pass::Newton(seen, search) => {
                let picked = seen.prepared(selected(x, &at).as_ref());
                Sums::Plain(search.sums(&job, seen, (picked.as_ref(), &seen.codes(y, &at)?), run)?)
            }
        };
        self.tree.insert(0, index, sums);
        self.print ^= print(index, x, y);
        self.covered = covered;
        Ok(())
    }

    /// Adds the sums of another part of the same pass.
    ///
    /// # Errors
    /// [`Error::Twice`] for rows that both have; [`Error::Unlike`] for a part of other work, of another pass or of another table.
    pub fn merge(&mut self, other: Part<T>) -> Result<()> {
        self.state.job.check_same(&other.state.job)?;
        check_facts(&self.facts, &other.facts)?;
        if self.state.number() != other.state.number() {
            return Err(Error::unlike("the pass", self.state.number(), other.state.number()));
        }
        let (one, two) = (self.state.print()?, other.state.print()?);
        if one != two {
            return Err(Error::unlike("the state of the pass", format!("{one:016x}"), format!("{two:016x}")));
        }
        let covered = united(&self.covered, &other.covered).map_err(|twice| self.twice(&twice))?;
        self.look.merge(&self.state.job, other.look)?;
        self.tree.merge(other.tree);
        self.print ^= other.print;
        self.covered = covered;
        Ok(())
    }

    /// What follows when all rows are there.
    ///
    /// # Errors
    /// [`Error::Absent`] with the first rows that are not; [`Error::Unlike`] for rows that have changed since the first pass; what
    /// speaks against the settings or the data.
    pub fn finish(self, run: &Run) -> Result<Outcome<T>> {
        let all = self.facts.rows.div_ceil(self.state.job.piece);
        let end = self.covered.first().filter(|range| range.start == 0).map_or(0, |range| range.end);
        if end < all || all == 0 {
            let next = self.covered.iter().map(|range| range.start).find(|start| *start >= end.max(1)).unwrap_or(all);
            let gap = self.rows_of(&(end..next));
            let (first, last) = (gap.start, gap.end.max(1) - 1);
            return Err(Error::Absent { first, last, rows: self.facts.rows });
        }
        if let Some(seen) = self.state.seen().filter(|seen| seen.print != self.print) {
            let (then, now) = (format!("{:016x}", seen.print), format!("{:016x}", self.print));
            return Err(Error::unlike("the fingerprint of all rows, which have changed,", then, now));
        }
        let missing = || Error::Absent { first: 0, last: self.facts.rows.max(1) - 1, rows: self.facts.rows };
        let sums = self.tree.total().ok_or_else(missing)?;
        self.state.finish(&self.facts, self.look, sums, self.print, run)
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// [`Error::Archive`] for what no file can hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut archive = Archive::of_state();
        self.put(&mut archive);
        archive.to_bytes()
    }

    /// What a file holds; `path` names it in messages.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is damaged, something else, or of another version.
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<Self> {
        Self::take(&Archive::from_bytes(bytes, path)?)
    }

    pub(super) fn put(&self, archive: &mut Archive) {
        set_kind(archive, PART);
        self.state.put(archive);
        archive.set_field("facts", &self.facts);
        archive.set_field("covered", self.covered.iter().map(|r| (r.start, r.end)).collect::<Vec<_>>());
        archive.set_field("print", format!("{:016x}", self.print));
        self.look.put(archive);
        self.tree.put(archive);
    }

    pub(super) fn take(archive: &Archive) -> Result<Self> {
        check_kind(archive, PART)?;
        let damaged = |what: &str| archive.error(format!("has {what} that cannot be"));
        let (state, facts): (State<T>, TableFacts) = (State::take(archive)?, archive.field("facts")?);
        if facts.rows > MOST_ROWS || facts.columns.as_ref().is_some_and(|names| names.len() != facts.width) {
            return Err(damaged("a table"));
        }
        if let Some(seen) = state.seen() {
            check_facts(&seen.facts, &facts)?;
        }
        let covered: Vec<(usize, usize)> = archive.field("covered")?;
        let covered: Vec<Range<usize>> = covered.into_iter().map(|(start, end)| start..end).collect();
        let all = facts.rows.div_ceil(state.job.piece);
        let apart = covered.windows(2).all(|pair| pair[0].end < pair[1].start);
        if !apart || covered.iter().any(|range| range.is_empty() || range.end > all) {
            return Err(damaged("ranges of rows"));
        }
        let print: String = archive.field("print")?;
        let print = u64::from_str_radix(&print, 16).map_err(|_| damaged("a fingerprint"))?;
        let look = Look::take(archive, &state.job, (facts.rows, facts.width))?;
        let moments = matches!(state.pass, Pass::Look);
        let tree = Tree::take(archive, &covered, &state.lengths(&look, facts.width), moments)?;
        Ok(Part { state, facts, covered, print, look, tree })
    }

    /// The rows of some pieces.
    fn rows_of(&self, pieces: &Range<usize>) -> Range<usize> {
        let piece = self.state.job.piece;
        pieces.start * piece..(pieces.end * piece).min(self.facts.rows)
    }

    fn twice(&self, pieces: &Range<usize>) -> Error {
        let rows = self.rows_of(pieces);
        Error::Twice { first: rows.start, last: rows.end.max(1) - 1 }
    }
}

/// Both sets of ranges as one; those that touch become one range. What both have is the error.
fn united(one: &[Range<usize>], other: &[Range<usize>]) -> std::result::Result<Vec<Range<usize>>, Range<usize>> {
    let mut all: Vec<Range<usize>> = one.iter().chain(other).cloned().collect();
    all.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in all {
        match out.last_mut() {
            Some(last) if range.start < last.end => return Err(range.start..range.end.min(last.end)),
            Some(last) if range.start == last.end => last.end = range.end,
            _ => out.push(range),
        }
    }
    Ok(out)
}

/// Names the row of the whole table.
fn at_row(error: Error, first: usize) -> Error {
    match error {
        Error::NotFinite { value, row, col, .. } => {
            let what = "the table".to_string();
            Error::NotFinite { what, value, row: row + first, col }
        }
        other => other,
    }
}

/// The listed rows.
fn selected<T: Scalar>(x: SamplesRef<'_, T>, at: &[usize]) -> crate::data::samples::Samples<T> {
    if at.len() == x.count() { x.to_owned() } else { x.select(at) }
}

/// Moments of the columns of dense rows, and of targets that are values.
fn moments<T: Scalar>(x: SamplesRef<'_, T>, y: Option<&Target>, at: &[usize]) -> Moments {
    let mut columns: Vec<Box<dyn Fn(usize) -> f64 + '_>> = Vec::new();
    if let SamplesRef::Dense(x) = x {
        columns.extend(
            (0..x.ncols()).map(|j| Box::new(move |i: usize| x[(at[i], j)].as_f64()) as Box<dyn Fn(usize) -> f64>),
        );
    }
    match y {
        Some(Target::Values(values)) => columns.push(Box::new(|i| values[at[i]])),
        Some(Target::Several { values, .. }) => columns.extend(
            (0..values.ncols()).map(|c| Box::new(move |i: usize| values[(at[i], c)]) as Box<dyn Fn(usize) -> f64>),
        ),
        _ => {}
    }
    Moments::of(at.len(), columns.into_iter())
}

/// A number that tells the contents of a piece from others.
fn print<T: Scalar>(index: usize, x: SamplesRef<'_, T>, y: Option<&Target>) -> u64 {
    let mut print = Fingerprint::default();
    print.word(index as u64);
    put_samples(&mut print, x);
    match y {
        None => {}
        Some(Target::Values(values)) => values.iter().for_each(|value| print.word(value.to_bits())),
        Some(Target::Several { values, .. }) => put_matrix(&mut print, values.as_ref()),
        Some(Target::Classes { names, codes }) => {
            let name = |code: &u32| names[*code as usize].as_bytes();
            codes.iter().for_each(|code| print.bytes(code.as_ref().map_or(&b""[..], name)));
        }
    }
    print.value()
}

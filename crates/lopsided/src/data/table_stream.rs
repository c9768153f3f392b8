//! A table with targets that is read in pieces of rows, again in every pass, and never held.
//!
//! Pieces are counted from the first row of the table, whoever reads them and wherever the reading begins: what is summed up over
//! them does not depend on how a table is shared out ([`crate::estimators::shards`]).

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::{Progress, Watch};
use crate::data::dataset::Target;
use crate::data::samples::Samples;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is known of a table before its rows are read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFacts {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns, the target aside.
    pub width: usize,
    /// Their names, where they have any.
    pub columns: Option<Vec<String>>,
    /// Name of the target column.
    pub target: Option<String>,
}

/// Takes the number of a piece's first row, its rows and their targets.
pub type VisitPiece<'v, T> = dyn FnMut(usize, Samples<T>, Option<Target>) -> Result<()> + 'v;
/// Shows the rows of a range, whose beginning is one of a piece, in pieces of so many rows.
pub type TablePass<T> = dyn Fn(Range<usize>, usize, &mut VisitPiece<'_, T>) -> Result<()> + Send + Sync;

/// A table out of core, with its targets.
///
/// [`crate::data::io::stream_table`] opens files.
///
/// ```
/// use lopsided::data::table_stream::TableStream;
/// use lopsided::{Mat, Samples, Target, Watch};
///
/// let x = Samples::Dense(Mat::from_fn(5, 1, |i, _| i as f64));
/// let table = TableStream::of_memory(x, Some(Target::Values(vec![0.0; 5])));
/// let mut starts = Vec::new();
/// table.for_each_piece(0..5, 2, "looking", &Watch::default(), |start, rows, _| {
///     starts.push((start, rows.count()));
///     Ok(())
/// })?;
/// assert_eq!(starts, [(0, 2), (2, 2), (4, 1)]);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct TableStream<T> {
    /// Its size and its names.
    pub facts: TableFacts,
    /// Whether pieces come with targets.
    pub has_target: bool,
    pass: Box<TablePass<T>>,
}

impl<T: Scalar> TableStream<T> {
    /// A table that `pass` reads.
    pub fn new(facts: TableFacts, has_target: bool, pass: Box<TablePass<T>>) -> Self {
        TableStream { facts, has_target, pass }
    }

    /// A table in memory.
    pub fn of_memory(x: Samples<T>, y: Option<Target>) -> Self {
        let facts = TableFacts { rows: x.count(), width: x.width(), ..TableFacts::default() };
        let has_target = y.is_some();
        let pass = move |rows: Range<usize>, piece: usize, visit: &mut VisitPiece<'_, T>| {
            pieces(rows, piece).try_for_each(|here| {
                let all: Vec<usize> = here.clone().collect();
                visit(
                    here.start,
                    x.as_ref().subrows(here.start, here.len()).to_owned(),
                    y.as_ref().map(|y| y.rows(&all)),
                )
            })
        };
        TableStream::new(facts, has_target, Box::new(pass))
    }

    /// The same rows with these targets.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one for each row.
    pub fn with_target(self, target: Target) -> Result<Self> {
        if target.count() != self.facts.rows {
            return Err(Error::shape("the number of targets", self.facts.rows, target.count()));
        }
        let (facts, inner) = (TableFacts { target: None, ..self.facts }, self.pass);
        let pass = move |rows: Range<usize>, piece: usize, visit: &mut VisitPiece<'_, T>| {
            inner(rows, piece, &mut |first, rows, _| {
                let here: Vec<usize> = (first..first + rows.count()).collect();
                visit(first, rows, Some(target.rows(&here)))
            })
        };
        Ok(TableStream::new(facts, true, Box::new(pass)))
    }

    /// Shows the rows of a range in pieces; `stage` names the pass in reports of progress.
    ///
    /// # Errors
    /// Those of the reader and of `visit`, [`crate::Error::Interrupted`].
    ///
    /// # Panics
    /// If a piece has no rows, or the range begins within one.
    pub fn for_each_piece(
        &self,
        rows: Range<usize>,
        piece: usize,
        stage: &'static str,
        watch: &Watch,
        mut visit: impl FnMut(usize, Samples<T>, Option<Target>) -> Result<()>,
    ) -> Result<()> {
        assert!(piece > 0 && rows.start.is_multiple_of(piece), "rows {rows:?} in pieces of {piece}");
        let (start, total) = (rows.start, rows.len() as u64);
        (self.pass)(rows, piece, &mut |first, rows, target| {
            watch.report(Progress { stage, done: (first - start) as u64, total, residual: None })?;
            visit(first, rows, target)
        })
    }
}

/// The pieces of a range.
pub(crate) fn pieces(rows: Range<usize>, piece: usize) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(piece).map(move |start| start..end.min(start + piece))
}

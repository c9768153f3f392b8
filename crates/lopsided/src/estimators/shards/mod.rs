//! Learning by passes whose sums merge: on one machine or on many, with the same bits.
//!
//! | step | type | what it is |
//! | --- | --- | --- |
//! | what is learned | [`Job`] | an estimator with its settings and its seed |
//! | where it has come to | [`State`] | what the next pass needs: nothing at first, then landmarks and coefficients |
//! | a share of a pass | [`Part`] | `update` adds rows, `merge` other parts, `finish` gives a state or a model |
//! | all in one process | [`fit`] | one part a pass, over a [`TableStream`] |
//!
//! Rows are summed up in pieces of [`Job::piece`] rows, counted from the first row of the table, and the sums of the pieces in a fixed
//! tree. A part holds the sums of complete nodes of the tree, so that neither the number of parts, nor who made them, nor the order
//! in which they merge changes a bit of the model. (Other processors may round products differently.)
//!
//! | estimator | passes |
//! | --- | --- |
//! | `features` | one: landmarks |
//! | `krr` | two: landmarks; K_mn·K_nm and K_mn·y |
//! | `kpca` | two: landmarks; FᵀF and Fᵀ1 of the features |
//! | `svm` (squared hinge), `logistic` | one, and one for each step of Newton's method |
//!
//! Memory: a piece of rows with its kernel values at the landmarks, and a triangle of m·(m + 1)/2 numbers for each level of the tree,
//! for each class or pair of functions; no row is kept but the landmarks.
//!
//! ```
//! use lopsided::base::settings::Settings;
//! use lopsided::data::table_stream::TableFacts;
//! use lopsided::estimators::shards::{Job, Outcome, State};
//! use lopsided::{Mat, Run, Samples, Target};
//!
//! let x = Samples::Dense(Mat::from_fn(90, 1, |i, _| i as f64 / 10.0));
//! let y = Target::Values((0..90).map(|i| (i as f64 / 10.0).sin()).collect());
//! let given = Settings::default().with("landmarks", 20).with("piece", 30).with("task", "values");
//! let (run, facts) = (Run::default(), TableFacts { rows: 90, width: 1, ..TableFacts::default() });
//! let mut state = State::new(Job::new::<f64>("krr", given, 0)?);
//! let model = loop {
//!     let part = |rows: std::ops::Range<usize>| {
//!         let mut part = state.part(facts.clone())?;
//!         let here: Vec<usize> = rows.clone().collect();
//!         part.update(rows.start, x.as_ref().subrows(rows.start, rows.len()), Some(&y.rows(&here)), &run)?;
//!         part.to_bytes() // what another machine would send
//!     };
//!     let mut all = lopsided::estimators::shards::Part::<f64>::from_bytes(&part(60..90)?, "the last part")?;
//!     all.merge(lopsided::estimators::shards::Part::from_bytes(&part(0..60)?, "the first part")?)?;
//!     match all.finish(&run)? {
//!         Outcome::Next(next) => state = next,
//!         Outcome::Model(model) => break model,
//!     }
//! };
//! assert_eq!(model.passes, 2);
//! # Ok::<(), lopsided::Error>(())
//! ```

mod job;
mod look;
mod newton;
mod part;
mod seen;
mod state;
mod sums;
#[cfg(test)]
mod tests;
mod tree;

pub use job::{Job, SHARD_SETTINGS};
pub use part::Part;
pub use state::{Learned, Outcome, State, precision_of};

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::table_stream::{TableFacts, TableStream};
use std::ops::Range;

/// All passes in one process.
///
/// # Errors
/// Those of [`Part::update`] and [`Part::finish`], and of the reader.
///
/// # Example
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::data::table_stream::TableStream;
/// use lopsided::estimators::shards::{Job, fit};
/// use lopsided::{Mat, Run, Samples, Target};
///
/// let x = Samples::Dense(Mat::from_fn(60, 2, |i, j| ((i * (j + 3)) % 17) as f64));
/// let names = ["low", "high"].map(String::from).to_vec();
/// let y = Target::Classes { names, codes: (0..60).map(|i| Some(u32::from(x.as_ref().to_dense()[(i, 0)] > 8.0))).collect() };
/// let job = Job::new::<f64>("logistic", Settings::default().with("landmarks", 20), 0)?;
/// let model = fit(&job, &TableStream::of_memory(x, Some(y)), &Run::default())?;
/// assert!(model.converged());
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn fit<T: Scalar>(job: &Job, table: &TableStream<T>, run: &Run) -> Result<Learned<T>> {
    let mut state = State::new(job.clone());
    loop {
        let part = pass(&state, table, 0..table.facts.rows, run)?;
        match part.finish(run)? {
            Outcome::Model(model) => return Ok(*model),
            Outcome::Next(next) => state = next,
        }
        if let Some(seen) = state.seen().filter(|_| state.number() == 2) {
            run.checkpoint.belongs(|| job.identity(), || seen.print)?;
        }
    }
}

/// The part of a pass that some rows make up, which begin at a piece; a checkpoint keeps it on its way.
///
/// # Errors
/// Those of [`Part::update`], and of the reader.
pub fn pass<T: Scalar>(state: &State<T>, table: &TableStream<T>, rows: Range<usize>, run: &Run) -> Result<Part<T>> {
    let place = format!("pass {} {:016x}", state.number(), if run.checkpoint.is_on() { state.print()? } else { 0 });
    let mut part = match run.state(&place)? {
        Some(kept) => Part::take(&kept)?,
        None => state.part(table.facts.clone())?,
    };
    let done = part.rows().first().map_or(rows.start, |range| range.end);
    if done >= rows.end {
        return Ok(part);
    }
    let piece = state.job().piece();
    table.for_each_piece(done..rows.end, piece, state.stage(), &run.watch, |first, x, y| {
        part.update(first, x.as_ref(), y.as_ref(), run)?;
        run.keep_state(&place, |archive| part.put(archive))
    })?;
    Ok(part)
}

/// The rows of shard `number` of `count`, both counted from 1: whole pieces, in numbers that are as round as they can be, so that
/// their sums are few nodes of the tree.
///
/// # Errors
/// [`Error::Param`] for a shard that does not exist, and for more shards than pieces.
///
/// # Example
/// ```
/// use lopsided::data::table_stream::TableFacts;
/// use lopsided::estimators::shards::shard_rows;
///
/// let facts = TableFacts { rows: 100_000, ..TableFacts::default() };
/// assert_eq!(shard_rows(&facts, 1000, (1, 3))?, 0..34_000);
/// assert_eq!(shard_rows(&facts, 1000, (3, 3))?, 66_000..100_000);
/// assert!(shard_rows(&facts, 1000, (4, 3)).is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn shard_rows(facts: &TableFacts, piece: usize, (number, count): (usize, usize)) -> Result<Range<usize>> {
    let all = facts.rows.div_ceil(piece);
    if number == 0 || number > count {
        return Err(Error::param("shard", format!("{number}/{count}"), "I/N with I between 1 and N"));
    }
    if count > all {
        let allowed = format!("I/N with N at most {all}, the pieces of {piece} rows that the table has");
        return Err(Error::param("shard", format!("{number}/{count}"), allowed));
    }
    // Sixteen of these to a shard: no shard is larger than another by more than so many pieces.
    let unit = 1usize << (all / (16 * count)).max(1).ilog2();
    let border = |at: usize| if at == count { all } else { ((at * all) / count + unit / 2) / unit * unit };
    Ok(border(number - 1) * piece..(border(number) * piece).min(facts.rows))
}

//! The rows of a Parquet file of numbers, as many at a time as wanted.

use super::batches::is_graph;
use super::cells::{is_number, is_text, numbers, texts};
use super::parquet_files::Batches;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::columns::Cells;
use crate::data::io::ReadOptions;
use crate::data::io::headings::Headings;
use crate::data::io::source::Source;
use std::path::Path;

/// Rows that are decoded at once.
const AT_ONCE: usize = 8192;

/// A table of numbers with its label columns.
pub(in crate::data::io) struct ParquetRows {
    batches: Batches,
    headings: Headings,
}

impl ParquetRows {
    pub(in crate::data::io) fn open(path: &Path, options: &ReadOptions) -> Result<Self> {
        let batches = Batches::open(Source::open(path)?)?;
        let names: Vec<String> = batches.schema.fields().iter().map(|field| field.name().clone()).collect();
        if is_graph(&names) {
            return Err(Error::parse(&batches.name, "is a list of links, and a table is needed"));
        }
        let headings = Headings::of_header(&batches.name, names, options)?;
        let kind = |at: usize| batches.schema.field(at).data_type();
        if let Some(at) = headings.data().into_iter().find(|at| !is_number(kind(*at))) {
            let reason = format!(
                "column {} holds {}, and columns that are read in passes are of numbers",
                headings.label(at),
                kind(at)
            );
            return Err(Error::parse(&batches.name, reason));
        }
        Ok(ParquetRows { batches, headings })
    }

    pub(in crate::data::io) fn count(&self) -> usize {
        self.batches.rows()
    }

    /// Names of the data columns.
    pub(in crate::data::io) fn names(&self) -> Vec<String> {
        self.headings.data().into_iter().map(|at| self.headings.bare(at).to_string()).collect()
    }

    /// Names of the label columns.
    pub(in crate::data::io) fn targets(&self) -> Vec<String> {
        self.headings.targets.iter().map(|at| self.headings.bare(*at).to_string()).collect()
    }

    /// Passes over some rows.
    pub(in crate::data::io) fn skip(&mut self, rows: usize) -> Result<()> {
        let mut left = self.batches.skip_groups(rows);
        while left > 0 {
            let Some(batch) = self.batches.next_rows(left.min(AT_ONCE))? else { break };
            left -= batch.num_rows();
        }
        Ok(())
    }

    /// At most so many of the next rows: how many there are, their numbers row by row, and the label columns.
    pub(in crate::data::io) fn next<T: Scalar>(&mut self, most: usize) -> Result<(usize, Vec<T>, Vec<Cells>)> {
        let Some(batch) = self.batches.next_rows(most.min(AT_ONCE))? else { return Ok((0, Vec::new(), Vec::new())) };
        let (name, rows) = (&self.batches.name, batch.num_rows());
        let data = self.headings.data();
        let mut values = vec![T::zero(); rows * data.len()];
        for (place, at) in data.iter().enumerate() {
            let column = numbers(name, batch.column(*at))?;
            column.into_iter().enumerate().for_each(|(i, v)| values[i * data.len() + place] = T::of(v));
        }
        let labels = self.headings.targets.iter().map(|at| {
            let column = batch.column(*at);
            let text = is_text(column.data_type());
            Ok(if text { Cells::Texts(texts(name, column)?) } else { Cells::Numbers(numbers(name, column)?) })
        });
        Ok((rows, values, labels.collect::<Result<_>>()?))
    }
}

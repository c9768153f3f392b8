//! Record batches of Parquet and Arrow files become a graph or a table.
//!
//! A file is a graph if its two or three columns are named like those of an edge list; otherwise it is a table under
//! the rules of text tables: a column of text is one of words, one of flags is 0 and 1.

use super::cells::{is_number, is_text, numbers, texts};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::columns::{Column, WordsBuilder};
use crate::data::io::dates::{self, is_date};
use crate::data::io::fields::are_link_names;
use crate::data::io::headings::Headings;
use crate::data::io::labels::{Labels, is_missing};
use crate::data::io::matrix::{Order, dense};
use crate::data::io::nodes::Builder;
use crate::data::io::{Input, ReadOptions, Table, UNKNOWN};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};

/// Reads all batches of a file with that schema.
pub(super) fn read<T: Scalar>(
    name: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    options: &ReadOptions,
) -> Result<Input<T>> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if is_graph(&names) {
        let (graph, notes) = read_graph(name, batches, &options.nodes)?;
        return Ok(Input::Graph(graph, notes));
    }
    Columns::new(name, schema, names, options)?.read(batches, options).map(Input::Table)
}

/// Ids and labels of two columns, or the labels of samples 0, 1, 2, …; rows without a label are left out.
pub(super) fn labels(name: &str, batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<Vec<(String, String)>> {
    let (mut pairs, mut row) = (Vec::new(), 0);
    for batch in batches {
        let batch = batch?;
        let columns = batch.columns().iter().map(|column| texts(name, column)).collect::<Result<Vec<_>>>()?;
        let (ids, labels) = match &columns[..] {
            [labels] => (None, labels),
            [ids, labels] => (Some(ids), labels),
            other => {
                let reason = format!("has {} columns; a node and its label are expected", other.len());
                return Err(Error::parse(name, reason));
            }
        };
        for (i, label) in labels.iter().enumerate() {
            let id = ids.map_or_else(|| row.to_string(), |ids| ids[i].clone().unwrap_or_default());
            row += 1;
            // Of a single column the place of a label says whose it is.
            let unknown = || ids.is_none().then(|| UNKNOWN.to_string());
            pairs.extend(label.clone().or_else(unknown).map(|label| (id, label)));
        }
    }
    Ok(pairs)
}

/// The reader's own message, on one line.
pub(super) fn broken(name: &str, error: &impl ToString) -> Error {
    let text = error.to_string();
    Error::parse(name, text.lines().next().unwrap_or("cannot be read").to_owned())
}

/// Two columns of link names, and a third only if it is called `weight`.
pub(super) fn is_graph(names: &[String]) -> bool {
    match names {
        [source, target] => are_link_names(source, target),
        [source, target, weight] => are_link_names(source, target) && weight.eq_ignore_ascii_case("weight"),
        _ => false,
    }
}

fn read_graph(
    name: &str,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    extra: &[String],
) -> Result<(crate::data::graph::Graph, Vec<String>)> {
    let mut builder = Builder::default();
    let mut row = 0;
    for batch in batches {
        let batch = batch?;
        let (sources, targets) = (texts(name, batch.column(0))?, texts(name, batch.column(1))?);
        let weights = batch.columns().get(2).map(|column| numbers(name, column)).transpose()?;
        for (i, (source, target)) in sources.iter().zip(&targets).enumerate() {
            row += 1;
            let weight = weights.as_ref().map_or(1.0, |w| w[i]);
            let added = builder.link(source.as_deref().unwrap_or(""), target.as_deref().unwrap_or(""), weight);
            added.map_err(|reason| Error::parse(format!("{name}: row {row}"), reason))?;
        }
    }
    builder.finish(name, extra)
}

/// A data column and what it has collected.
enum Cells {
    Numbers(Vec<f64>),
    Words(WordsBuilder),
}

/// The columns of a table and what they have collected.
struct Columns<'a> {
    name: &'a str,
    headings: Headings,
    /// Place and contents of each data column.
    cells: Vec<(usize, Cells)>,
    labels: Vec<Labels>,
    rows: usize,
}

impl<'a> Columns<'a> {
    fn new(name: &'a str, schema: &Schema, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let headings = Headings::of_header(name, names, options)?;
        let refused = |at: usize, kind: &DataType| {
            let label = headings.label(at);
            if kind.is_temporal() {
                let advice = dates::advice(headings.bare(at));
                return Error::parse(name, format!("column {label} holds dates or times ({kind}): {advice}"));
            }
            Error::parse(name, format!("column {label} holds {kind}; columns are of numbers, flags or text"))
        };
        let kind = |at: usize| schema.field(at).data_type();
        if let Some(&at) = headings.targets.iter().find(|at| !is_number(kind(**at)) && !is_text(kind(**at))) {
            return Err(refused(at, kind(at)));
        }
        let cells = |at: usize| {
            let forced = options.categories.iter().any(|wanted| wanted == headings.bare(at));
            match kind(at) {
                kind if is_text(kind) || forced && is_number(kind) => Ok((at, Cells::Words(WordsBuilder::default()))),
                kind if is_number(kind) => Ok((at, Cells::Numbers(Vec::new()))),
                kind => Err(refused(at, kind)),
            }
        };
        let cells = headings.data().into_iter().map(cells).collect::<Result<_>>()?;
        let labels = headings.targets.iter().map(|_| Labels::default()).collect();
        Ok(Columns { name, headings, cells, labels, rows: 0 })
    }

    fn read<T: Scalar>(
        mut self,
        batches: impl Iterator<Item = Result<RecordBatch>>,
        options: &ReadOptions,
    ) -> Result<Table<T>> {
        for batch in batches {
            self.push(&batch?)?;
        }
        let Columns { name, headings, cells, labels, rows } = self;
        let (mut values, mut columns): (Vec<T>, Vec<Column>) = (Vec::with_capacity(rows * cells.len()), Vec::new());
        for (at, cells) in cells {
            let column = Column::new(headings.bare(at));
            columns.push(match cells {
                Cells::Numbers(numbers) => {
                    values.extend(numbers.into_iter().map(T::of));
                    column
                }
                Cells::Words(words) => {
                    let words = words.finish();
                    let forced = options.categories.contains(&column.name);
                    let date = words.names.first().filter(|_| !forced && words.names.iter().all(|word| is_date(word)));
                    if let Some(date) = date {
                        return Err(dates::refused(name, &headings.label(at), &column.name, date));
                    }
                    values.extend(std::iter::repeat_n(T::of(f64::NAN), rows));
                    Column { words: Some(words), ..column }
                }
            });
        }
        let samples = dense(name, (rows, columns.len()), values, Order::Columns)?;
        let target = headings.target(name, labels)?;
        Ok(Table { samples, columns: Some(columns), target, notes: headings.notes })
    }

    /// Adds the rows of a batch, column by column as they are stored.
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        for (at, cells) in &mut self.cells {
            let column = batch.column(*at);
            match cells {
                Cells::Numbers(values) => values.extend(numbers(self.name, column)?),
                Cells::Words(words) => {
                    let texts = texts(self.name, column)?;
                    texts.iter().for_each(|text| words.push(text.as_deref().map(str::trim).filter(|t| !is_missing(t))));
                }
            }
        }
        for (at, labels) in self.headings.targets.iter().zip(&mut self.labels) {
            texts(self.name, batch.column(*at))?.iter().for_each(|label| labels.push(label.as_deref().unwrap_or("")));
        }
        self.rows += batch.num_rows();
        Ok(())
    }
}

//! Record batches of Parquet and Arrow files become a graph or a table.
//!
//! A file is a graph if its two or three columns are named like those of an edge list; otherwise it is a table under
//! the rules of text tables, in which only the label column may hold text.

use super::cells::{is_number, is_text, numbers, texts};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::io::fields::are_link_names;
use crate::data::io::labels::Labels;
use crate::data::io::matrix::{Order, dense};
use crate::data::io::nodes::Builder;
use crate::data::io::table::target_position;
use crate::data::io::{Input, ReadOptions, Table};
use arrow_array::RecordBatch;
use arrow_schema::Schema;

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
    Columns::new(name, schema, names, options)?.read(batches).map(Input::Table)
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
            pairs.extend(label.clone().map(|label| (id, label)));
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
fn is_graph(names: &[String]) -> bool {
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

/// The columns of a table and what they have collected.
struct Columns<'a, T> {
    name: &'a str,
    names: Vec<String>,
    target: Option<usize>,
    notes: Vec<String>,
    values: Vec<Vec<T>>,
    labels: Labels,
    rows: usize,
}

impl<'a, T: Scalar> Columns<'a, T> {
    fn new(name: &'a str, schema: &Schema, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let (target, notes) = target_position(name, &names, &options.target)?;
        for (at, field) in schema.fields().iter().enumerate() {
            let kind = field.data_type();
            let label = target == Some(at) && is_text(kind);
            if !is_number(kind) && !label {
                let column = field.name();
                let text = if is_text(kind) { "text".into() } else { kind.to_string() };
                return Err(Error::parse(
                    name,
                    format!("column `{column}` holds {text}; data columns must be numbers"),
                ));
            }
        }
        let values = vec![Vec::new(); names.len() - usize::from(target.is_some())];
        Ok(Columns { name, names, target, notes, values, labels: Labels::default(), rows: 0 })
    }

    fn read(mut self, batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<Table<T>> {
        for batch in batches {
            self.push(&batch?)?;
        }
        let size = (self.rows, self.values.len());
        let samples = dense(self.name, size, self.values.concat(), Order::Columns)?;
        let target = self.target.map(|at| (self.names.remove(at), self.labels.finish()));
        Ok(Table { samples, columns: Some(self.names), target, notes: self.notes })
    }

    /// Adds the rows of a batch, column by column as they are stored.
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut data = 0;
        for (at, column) in batch.columns().iter().enumerate() {
            if self.target == Some(at) {
                texts(self.name, column)?.iter().for_each(|label| self.labels.push(label.as_deref().unwrap_or("")));
            } else {
                self.values[data].extend(numbers(self.name, column)?.into_iter().map(T::of));
                data += 1;
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }
}

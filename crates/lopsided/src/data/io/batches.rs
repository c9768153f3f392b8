//! Record batches of Parquet and Arrow files become a graph or a table.

use super::fields::are_link_names;
use super::labels::Labels;
use super::matrix::{Order, dense};
use super::nodes::Builder;
use super::table::target_position;
use super::{Input, ReadOptions, Table};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use ::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use ::arrow::compute::cast;
use ::arrow::datatypes::{DataType, Float64Type, Schema};
use ::arrow::error::ArrowError;

/// Reads all batches of a file with that schema.
pub(super) fn read<T: Scalar>(
    name: &str,
    schema: &Schema,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    options: &ReadOptions,
) -> Result<Input<T>> {
    let batches = batches.map(|batch| batch.map_err(|e| broken(name, &e)));
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if is_graph(&names) {
        let (graph, notes) = read_graph(name, batches, &options.nodes)?;
        return Ok(Input::Graph(graph, notes));
    }
    Columns::new(name, schema, names, options)?.read(batches).map(Input::Table)
}

/// Ids and labels of two columns, or the labels of samples 0, 1, 2, …; rows without a label are left out.
pub(super) fn labels(
    name: &str,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
) -> Result<Vec<(String, String)>> {
    let (mut pairs, mut row) = (Vec::new(), 0);
    for batch in batches {
        let batch = batch.map_err(|e| broken(name, &e))?;
        let columns = batch.columns().iter().map(|column| as_text(name, column)).collect::<Result<Vec<_>>>()?;
        let (ids, labels) = match &columns[..] {
            [labels] => (None, labels.as_string::<i32>()),
            [ids, labels] => (Some(ids.as_string::<i32>()), labels.as_string::<i32>()),
            other => {
                let reason = format!("has {} columns; a node and its label are expected", other.len());
                return Err(Error::parse(name, reason));
            }
        };
        for i in 0..batch.num_rows() {
            let id = ids.map_or_else(|| row.to_string(), |ids| ids.value(i).to_owned());
            row += 1;
            if !labels.is_null(i) {
                pairs.push((id, labels.value(i).to_owned()));
            }
        }
    }
    Ok(pairs)
}

/// The reader's own message, on one line.
pub(super) fn broken(name: &str, error: &impl ToString) -> Error {
    let text = error.to_string();
    Error::parse(name, text.lines().next().unwrap_or("cannot be read").to_owned())
}

fn is_graph(names: &[String]) -> bool {
    match names {
        [source, target] => are_link_names(source, target),
        [source, target, weight] => are_link_names(source, target) && weight.eq_ignore_ascii_case("weight"),
        _ => false,
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Boolean | DataType::Null => true,
        DataType::Dictionary(_, values) => is_number(values),
        _ => kind.is_numeric(),
    }
}

fn as_text(name: &str, column: &ArrayRef) -> Result<ArrayRef> {
    cast(column, &DataType::Utf8).map_err(|e| broken(name, &e))
}

fn as_numbers(name: &str, column: &ArrayRef) -> Result<ArrayRef> {
    cast(column, &DataType::Float64).map_err(|e| broken(name, &e))
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
        let (sources, targets) = (as_text(name, batch.column(0))?, as_text(name, batch.column(1))?);
        let weights = batch.columns().get(2).map(|column| as_numbers(name, column)).transpose()?;
        let (sources, targets) = (sources.as_string::<i32>(), targets.as_string::<i32>());
        let weights = weights.as_ref().map(AsArray::as_primitive::<Float64Type>);
        for i in 0..batch.num_rows() {
            row += 1;
            let weight = weights.map_or(1.0, |w| if w.is_null(i) { f64::NAN } else { w.value(i) });
            let id = |column: &'_ ::arrow::array::StringArray| {
                if column.is_null(i) { String::new() } else { column.value(i).to_owned() }
            };
            let added = builder.link(&id(sources), &id(targets), weight);
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

    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut data = 0;
        for (at, column) in batch.columns().iter().enumerate() {
            if self.target == Some(at) {
                let text = as_text(self.name, column)?;
                text.as_string::<i32>().iter().for_each(|label| self.labels.push(label.unwrap_or_default()));
            } else {
                let numbers = as_numbers(self.name, column)?;
                let numbers = numbers.as_primitive::<Float64Type>();
                self.values[data].extend(numbers.iter().map(|value| T::of(value.unwrap_or(f64::NAN))));
                data += 1;
            }
        }
        self.rows += batch.num_rows();
        Ok(())
    }
}

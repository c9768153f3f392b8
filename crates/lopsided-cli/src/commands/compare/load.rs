//! What is compared: a graph with labels of its nodes, or a table with a target.

use crate::args::CompareArgs;
use crate::failure::hinted;
use crate::{input, labelled};
use anyhow::Result;
use lopsided::data::columns::check_cells;
use lopsided::data::io::{Input, ReadOptions, TargetColumn, classes_of, read};
use lopsided::{Dataset, Error, Graph, GraphRule, Target};

/// Samples with something to learn.
pub(super) enum Subject {
    Nodes(Graph, Target),
    Rows(Box<Dataset<f64>>),
}

/// Reads samples and targets, with remarks about both.
pub(super) fn load(args: &CompareArgs) -> Result<(Subject, Vec<String>)> {
    let (nodes, read_args) = (args.graph.nodes.as_deref(), &args.graph.read);
    let label_file = input::label_file(args.graph.labels.as_deref(), read_args);
    let labels = label_file.as_deref().map(|path| input::labels(path, nodes)).transpose()?;
    let mut options = ReadOptions { nodes: input::node_ids::<f64>(nodes, None)?, ..input::options(read_args) };
    if label_file.is_some() && read_args.target.is_none() {
        options.target = TargetColumn::None;
    }
    let (graph, mut data, notes) = match read::<f64>(&args.input, &options)? {
        Input::Graph(graph, notes) => {
            let data = Dataset::from_graph(&graph, &GraphRule { normalize: false, ..GraphRule::default() })?;
            (Some(graph), data, notes)
        }
        Input::Table(table) => {
            input::check_categories(read_args, &table)?;
            let place = args.input.display().to_string();
            check_cells(table.samples.as_ref(), table.columns.as_deref(), false, &place)?;
            let notes = table.notes.clone();
            (None, table.dataset(), notes)
        }
    };
    if let (Some(labels), Some(path)) = (&labels, &label_file) {
        data.y = Some(classes_of(path, &data, labels)?);
    }
    let Some(target) = data.y.take() else {
        let error = Error::parse(args.input.display().to_string(), "has no classes or values to learn");
        return Err(hinted(error, "give them with --labels FILE, or with --target NAME for a column of a table"));
    };
    let target = labelled::as_asked(target, args.task)?;
    Ok(match graph {
        Some(graph) => (Subject::Nodes(graph, target), notes),
        None => (Subject::Rows(Box::new(Dataset { y: Some(target), ..data })), notes),
    })
}

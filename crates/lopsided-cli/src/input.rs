//! From options and files to samples.

use crate::args::{BiclusterArgs, EmbedArgs, FeatureArgs, ReadArgs};
use crate::estimator;
use crate::failure::hinted;
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::io::{
    Input, ReadOptions, Table, TargetColumn, classes_of, is_npy, read, read_ids, read_labels, read_node_features,
    wrong_count,
};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::kernel::KernelSpec;
use lopsided::{Compat, Compatibility, Dataset, Error, Graph, GraphRule, Run, Samples, Scalar};
use std::path::Path;

/// Samples, and remarks about how they were read.
pub(crate) struct Loaded<T> {
    pub(crate) data: Dataset<T>,
    pub(crate) notes: Vec<String>,
}

/// What `embed` works on.
pub(crate) fn load<T: Scalar>(args: &EmbedArgs, given: &mut Settings, run: &Run) -> Result<Loaded<T>> {
    let compat = recipe::take_compat(given, Compat::None)?;
    let kernel = estimator::kernel(given, &Usual::NODES.with_features(args.features.features.is_some()));
    let rule = recipe::take_graph_rule(given, &kernel, Usual::NODES.unit)?;
    if args.cols.is_some() {
        refuse(compat.kind, "none with --cols, whose samples have the width of the rows")?;
    }
    let nodes = args.graph.nodes.as_deref();
    let labels = args.graph.labels.as_deref().map(|path| labels(path, nodes)).transpose()?;
    let features = features(&args.features, nodes)?;
    let options = ReadOptions { nodes: node_ids(nodes, features.as_ref())?, ..options(&args.read) };
    let mut loaded = match (read(&args.input, &options)?, &args.cols) {
        (Input::Graph(..), Some(_)) => return Err(not_a_table(&args.input)),
        (Input::Graph(graph, notes), None) => {
            refuse(compat.kind, "none for a graph, whose rows and columns have the same coordinates")?;
            let Loaded { data, notes } = from_graph(&graph, notes, rule, run.seed)?;
            let data = recipe::weighed(given, recipe::with_features(data, features.as_ref(), &kernel)?)?;
            Loaded { data, notes }
        }
        (Input::Table(_), _) if features.is_some() => return Err(needs_nodes(&args.input)),
        (Input::Table(_), _) if kernel.of_graph() => return Err(needs_graph(&kernel)),
        (Input::Table(table), Some(cols)) => two_sided(&args.input, table, cols, &options)?,
        (Input::Table(table), None) if kernel.is_precomputed() => {
            refuse(compat.kind, "none for a precomputed kernel, which compares nothing")?;
            from_table(&args.input, table, |samples| Ok(Dataset::new(samples)))?
        }
        (Input::Table(table), None) if compat.kind == Compat::Learned => {
            from_table(&args.input, table, |samples| Ok(Dataset::new(samples)))?
        }
        (Input::Table(table), None) => from_table(&args.input, table, |samples| comparable(samples, &compat, run))?,
    };
    if let (Some(labels), Some(path)) = (labels, &args.graph.labels) {
        loaded.data.y = Some(classes_of(path, &loaded.data, &labels)?);
    }
    Ok(loaded)
}

/// The matrix that `bicluster` works on, as row samples.
pub(crate) fn matrix<T: Scalar>(args: &BiclusterArgs) -> Result<Loaded<T>> {
    let labels = args.labels.as_deref().map(|path| labels(path, None)).transpose()?;
    let Input::Table(table) = read(&args.matrix, &options(&args.read))? else { return Err(not_a_table(&args.matrix)) };
    let mut loaded = from_table(&args.matrix, table, |samples| Ok(Dataset::new(samples)))?;
    if let (Some(labels), Some(path)) = (labels, &args.labels) {
        loaded.data.y = Some(classes_of(path, &loaded.data, &labels)?);
    }
    Ok(loaded)
}

/// The error about a compatibility matrix where there is nothing to make compatible.
pub(crate) fn refuse(kind: Compat, allowed: &str) -> lopsided::Result<()> {
    if kind == Compat::None { Ok(()) } else { Err(Error::param("compat", kind, allowed)) }
}

/// The part of the reading options that all commands share.
pub(crate) fn options(args: &ReadArgs) -> ReadOptions {
    let target = match args.target.as_deref() {
        None => TargetColumn::Last,
        Some("none") => TargetColumn::None,
        Some(name) => TargetColumn::Named(name.into()),
    };
    ReadOptions { format: args.format, target, array: args.array.clone(), nodes: Vec::new() }
}

/// The error about a graph where only a table will do.
pub(crate) fn not_a_table(path: &Path) -> anyhow::Error {
    let error = Error::parse(path.display().to_string(), "is read as a graph where a table is needed");
    hinted(error, "a table of two or three columns of numbers looks like a list of links; `--format csv` settles it")
}

/// The error about a kernel of graphs for anything else.
pub(crate) fn needs_graph(kernel: &KernelSpec) -> anyhow::Error {
    let error =
        Error::param("kernel", &kernel.name, "one that compares samples: it is a kernel of the nodes of a graph");
    hinted(error, "give a list of links; `--format edges` settles it")
}

/// The error about features of nodes beside something that has no nodes.
pub(crate) fn needs_nodes(path: &Path) -> anyhow::Error {
    let error = Error::param("features", "given", "left out unless the input is a graph");
    hinted(error, &format!("{} is read as a table; `--format edges` reads it as a list of links", path.display()))
}

/// The features of nodes, where there are any.
pub(crate) fn features<T: Scalar>(args: &FeatureArgs, nodes: Option<&Path>) -> Result<Option<NodeFeatures<T>>> {
    let Some(path) = &args.features else { return Ok(None) };
    let nodes = nodes.map(read_ids).transpose()?;
    Ok(Some(read_node_features(path, nodes.as_deref())?))
}

/// Nodes that exist without links: those of the list, and those that have features.
pub(crate) fn node_ids<T>(nodes: Option<&Path>, features: Option<&NodeFeatures<T>>) -> Result<Vec<String>> {
    let mut ids = nodes.map(read_ids).transpose()?.unwrap_or_default();
    ids.extend(features.into_iter().flat_map(|features| features.ids.iter().cloned()));
    Ok(ids)
}

pub(crate) fn from_graph<T: Scalar>(
    graph: &Graph,
    mut notes: Vec<String>,
    (rule, most): (GraphRule, Option<usize>),
    seed: u64,
) -> Result<Loaded<T>> {
    let capped = most.map(|most| graph.cap_degrees(most, seed));
    if let (Some(most), Some(capped)) = (most, &capped) {
        let dropped = graph.adjacency().nnz() - capped.adjacency().nnz();
        notes.push(format!("links were left out to keep at most {most} into and out of a node: {dropped}"));
    }
    Ok(Loaded { data: Dataset::from_graph(capped.as_ref().unwrap_or(graph), &rule)?, notes })
}

fn from_table<T: Scalar>(
    path: &Path,
    table: Table<T>,
    dataset: impl FnOnce(Samples<T>) -> Result<Dataset<T>>,
) -> Result<Loaded<T>> {
    table.samples.check_finite(&path.display().to_string())?;
    let labels = table.target.map(|(_, target)| target);
    let col_ids = table.columns.filter(|names| names.len() == table.samples.width());
    Ok(Loaded { data: Dataset { y: labels, col_ids, ..dataset(table.samples)? }, notes: table.notes })
}

fn comparable<T: Scalar>(samples: Samples<T>, compat: &Compatibility, run: &Run) -> Result<Dataset<T>> {
    let hint = "make rows and columns comparable with --compat pca, give the column samples with --cols FILE, or take \
                --kernel precomputed if the matrix is G itself";
    Dataset::from_matrix_with(samples, compat, run).map_err(|error| with_shape_hint(error, hint))
}

/// Adds what can be done about a matrix whose rows and columns cannot be compared.
pub(crate) fn with_shape_hint(error: Error, hint: &str) -> anyhow::Error {
    if matches!(error, Error::Shape { .. }) { hinted(error, hint) } else { error.into() }
}

fn two_sided<T: Scalar>(path: &Path, rows: Table<T>, cols: &Path, options: &ReadOptions) -> Result<Loaded<T>> {
    rows.samples.check_finite(&path.display().to_string())?;
    let (columns, more_notes) = if cols == path {
        (rows.samples.clone(), Vec::new())
    } else {
        let Input::Table(columns) = read(cols, options)? else { return Err(not_a_table(cols)) };
        columns.samples.check_finite(&cols.display().to_string())?;
        (columns.samples, columns.notes)
    };
    let labels = rows.target.map(|(_, target)| target);
    let data = Dataset { y: labels, ..Dataset::two_sided(rows.samples, columns) };
    Ok(Loaded { data, notes: [rows.notes, more_notes].concat() })
}

/// Pairs of id and label; a NumPy vector has the labels of the rows, or of the nodes in the order of their file.
pub(crate) fn labels(path: &Path, nodes: Option<&Path>) -> Result<Vec<(String, String)>> {
    let mut pairs = read_labels(path)?;
    if let Some(nodes) = nodes.filter(|_| is_npy(path)) {
        let ids = read_ids(nodes)?;
        if ids.len() != pairs.len() {
            return Err(wrong_count(path, pairs.len(), ids.len()).into());
        }
        pairs.iter_mut().zip(ids).for_each(|(pair, id)| pair.0 = id);
    }
    Ok(pairs)
}

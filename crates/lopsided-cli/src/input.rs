//! From options and files to samples.

use crate::args::{BiclusterArgs, EmbedArgs, FeatureArgs, ReadArgs};
use crate::estimator;
use crate::failure::hinted;
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::columns::{check_cells, refuse_words};
use lopsided::data::io::{
    Input, ReadOptions, Table, TargetColumn, classes_of, labels_are_whole, one_each, read, read_ids, read_labels,
    read_node_features,
};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{Impute, PREPARED_SETTINGS, Preparation, Scale};
use lopsided::kernel::KernelSpec;
use lopsided::{Compat, Compatibility, Dataset, Error, Graph, GraphRule, Run, Samples, Scalar};
use std::path::{Path, PathBuf};

/// Samples, how the columns of a table became numbers, and remarks about how they were read.
pub(crate) struct Loaded<T> {
    pub(crate) data: Dataset<T>,
    pub(crate) preparation: Option<Preparation>,
    pub(crate) notes: Vec<String>,
}

/// What `embed` works on.
pub(crate) fn load<T: Scalar>(args: &EmbedArgs, given: &mut Settings, run: &Run) -> Result<Loaded<T>> {
    let compat = recipe::take_compat(given, Compat::None)?;
    let asked = take_preparation(given)?;
    let kernel = estimator::kernel(given, &Usual::NODES);
    let rule = recipe::take_graph_rule(given, &kernel, &Usual::NODES)?;
    if args.cols.is_some() {
        refuse(compat.kind, "none with --cols, whose samples have the width of the rows")?;
    }
    let nodes = args.graph.nodes.as_deref();
    let label_file = label_file(args.graph.labels.as_deref(), &args.graph.read);
    let labels = label_file.as_deref().map(|path| labels(path, nodes)).transpose()?;
    let features = features(&args.features, nodes)?;
    let options = ReadOptions { nodes: node_ids(nodes, features.as_ref())?, ..options(&args.graph.read) };
    let mut loaded = match (read(&args.input, &options)?, &args.cols) {
        (Input::Graph(..), Some(_)) => return Err(not_a_table(&args.input)),
        (Input::Graph(graph, notes), None) => {
            refuse(compat.kind, "none for a graph, whose rows and columns have the same coordinates")?;
            let Loaded { data, notes, preparation } = from_graph(&graph, notes, rule, run.seed)?;
            let data = recipe::weighed(given, recipe::with_features(data, features.as_ref(), &kernel)?)?;
            Loaded { data, preparation, notes }
        }
        (Input::Table(_), _) if features.is_some() => return Err(needs_nodes(&args.input)),
        (Input::Table(_), _) if kernel.of_graph() => return Err(needs_graph(&kernel)),
        (Input::Table(table), Some(cols)) => two_sided(&args.input, table, cols, &options)?,
        (Input::Table(table), None) if kernel.is_precomputed() => {
            refuse(compat.kind, "none for a precomputed kernel, which compares nothing")?;
            refuse_words(
                table.columns.as_deref(),
                &args.input.display().to_string(),
                "a precomputed kernel is of numbers",
            )?;
            from_table(&args.input, table, asked, |samples| Ok(Dataset::new(samples)))?
        }
        (Input::Table(table), None) if compat.kind == Compat::Learned => {
            from_table(&args.input, table, asked, |samples| Ok(Dataset::new(samples)))?
        }
        (Input::Table(table), None) => {
            from_table(&args.input, table, asked, |samples| comparable(samples, &compat, run))?
        }
    };
    if let (Some(labels), Some(path)) = (labels, &label_file) {
        loaded.data.y = Some(classes_of(path, &loaded.data, &labels)?);
    }
    Ok(loaded)
}

/// The matrix that `bicluster` works on, as row samples.
pub(crate) fn matrix<T: Scalar>(args: &BiclusterArgs) -> Result<Loaded<T>> {
    let labels = args.labels.as_deref().map(|path| labels(path, None)).transpose()?;
    let Input::Table(table) = read(&args.matrix, &options(&args.read))? else { return Err(not_a_table(&args.matrix)) };
    refuse_words(table.columns.as_deref(), &args.matrix.display().to_string(), "a matrix to cluster is of numbers")?;
    let mut loaded = from_table(&args.matrix, table, (Scale::None, Impute::None), |samples| Ok(Dataset::new(samples)))?;
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
        Some(name) if is_label_file(name) => TargetColumn::None,
        Some(name) => TargetColumn::Named(name.into()),
    };
    ReadOptions {
        format: args.format,
        target,
        array: args.array.clone(),
        categories: args.categories.clone(),
        drop: args.drop.clone(),
        ..ReadOptions::default()
    }
}

/// The same for rows that a model prepares: it knows which columns are words, and needs no others.
pub(crate) fn options_of(args: &ReadArgs, preparation: Option<&Preparation>) -> ReadOptions {
    let mut options = options(args);
    if let Some(preparation) = preparation {
        options.categories.extend(preparation.word_columns());
        options.only = preparation.needed();
    }
    options
}

/// Whether a target is the name of a file that exists and not that of a column.
fn is_label_file(name: &str) -> bool {
    let known = ["npy", "csv", "tsv", "txt", "parquet"];
    let path = Path::new(name.strip_suffix(".gz").unwrap_or(name));
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    extension.is_some_and(|e| known.contains(&e.as_str())) && Path::new(name).is_file()
}

/// The file of the labels: that of --labels, or of --target where it names a file.
pub(crate) fn label_file(labels: Option<&Path>, read: &ReadArgs) -> Option<PathBuf> {
    let of_target = || read.target.as_deref().filter(|name| is_label_file(name)).map(PathBuf::from);
    labels.map(Path::to_path_buf).or_else(of_target)
}

/// Takes out how the columns of a table are prepared where nothing is predicted: as asked for, and not at all otherwise.
pub(crate) fn take_preparation(given: &mut Settings) -> lopsided::Result<(Scale, Impute)> {
    let scale = given.word("scale")?.filter(|scale| *scale != Scale::Auto).unwrap_or(Scale::None);
    let impute = given.word("impute")?.unwrap_or_default();
    given.take_all(&PREPARED_SETTINGS);
    Ok((scale, impute))
}

/// Refuses a column that was to be taken as words and is not there.
pub(crate) fn check_categories<T: Scalar>(args: &ReadArgs, table: &Table<T>) -> lopsided::Result<()> {
    let known = table.names().unwrap_or_default();
    match args.categories.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Error::Unknown { kind: "column", name: name.clone(), known }),
        None => Ok(()),
    }
}

/// Numbers of all rows of a table, and how they became so; for those who predict nothing.
pub(crate) fn numbers<T: Scalar>(
    path: &Path,
    table: Table<T>,
    (scale, impute): (Scale, Impute),
) -> Result<(Dataset<T>, Option<Preparation>)> {
    let data = table.dataset();
    if data.columns.is_none() && scale == Scale::None && impute == Impute::None {
        data.x.check_finite(&path.display().to_string())?;
        return Ok((data, None));
    }
    check_cells(data.x.as_ref(), data.columns.as_deref(), impute != Impute::None, &path.display().to_string())?;
    let rows: Vec<usize> = (0..data.x.count()).collect();
    let preparation = Preparation::learn(&data, &rows, scale, impute)?;
    let prepared = preparation.apply(&data)?.into_owned();
    Ok((Dataset { columns: None, ..prepared }, Some(preparation)))
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
    hinted(error, format!("{} is read as a table; `--format edges` reads it as a list of links", path.display()))
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
    let data = Dataset::from_graph(capped.as_ref().unwrap_or(graph), &rule)?;
    Ok(Loaded { data, preparation: None, notes })
}

fn from_table<T: Scalar>(
    path: &Path,
    mut table: Table<T>,
    asked: (Scale, Impute),
    dataset: impl FnOnce(Samples<T>) -> Result<Dataset<T>>,
) -> Result<Loaded<T>> {
    let mut notes = std::mem::take(&mut table.notes);
    let words = table.columns.iter().flatten().any(|column| column.words.is_some());
    if !words && asked == (Scale::None, Impute::None) {
        check_cells(table.samples.as_ref(), table.columns.as_deref(), false, &path.display().to_string())?;
        let col_ids = table.names();
        let y = table.target.map(|(_, target)| target);
        return Ok(Loaded { data: Dataset { y, col_ids, ..dataset(table.samples)? }, preparation: None, notes });
    }
    let (data, preparation) = numbers(path, table, asked)?;
    notes.extend(preparation.iter().flat_map(Preparation::remarks).cloned());
    Ok(Loaded { data: Dataset { y: data.y, col_ids: data.col_ids, ..dataset(data.x)? }, preparation, notes })
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
    all_numbers(path, &rows)?;
    let (columns, more_notes) = if cols == path {
        (rows.samples.clone(), Vec::new())
    } else {
        let Input::Table(columns) = read(cols, options)? else { return Err(not_a_table(cols)) };
        all_numbers(cols, &columns)?;
        (columns.samples, columns.notes)
    };
    let labels = rows.target.map(|(_, target)| target);
    let data = Dataset { y: labels, ..Dataset::two_sided(rows.samples, columns) };
    Ok(Loaded { data, preparation: None, notes: [rows.notes, more_notes].concat() })
}

/// Refuses words and missing values in one of two tables that are compared.
pub(crate) fn all_numbers<T: Scalar>(path: &Path, table: &Table<T>) -> lopsided::Result<()> {
    let name = path.display().to_string();
    refuse_words(table.columns.as_deref(), &name, "tables that are compared with each other by --cols are of numbers")?;
    check_cells(table.samples.as_ref(), table.columns.as_deref(), false, &name)
}

/// Pairs of id and label; a single column has the labels of the rows, or of the nodes in the order of their file.
pub(crate) fn labels(path: &Path, nodes: Option<&Path>) -> Result<Vec<(String, String)>> {
    let mut pairs = read_labels(path)?;
    if let Some(nodes) = nodes.filter(|_| labels_are_whole(path)) {
        let ids = read_ids(nodes)?;
        pairs = one_each(path, &pairs, ids.len())?;
        pairs.iter_mut().zip(ids).for_each(|(pair, id)| pair.0 = id);
    }
    Ok(pairs)
}

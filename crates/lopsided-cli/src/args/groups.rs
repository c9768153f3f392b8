//! Options that belong together.

use clap::Args;
use std::path::PathBuf;

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadArgs {
    /// Format, when the file's name does not tell: edges, csv, mtx, npy, npz, svmlight, parquet, arrow.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<lopsided::data::io::Format>,
    /// Label column of a table, or `none`; by default the last column under a header. Several for krr: a,b. Or a file: see --labels.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Columns of a table to take as words even if they look like numbers or dates.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) categories: Vec<String>,
    /// Columns of a table to leave out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// Array of an .npz file.
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
}

/// How a graph or a table is read, with files about its nodes or rows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    /// Node ids that the graph has even without links, one per line; labels of other nodes without links are refused.
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Classes (or values) as `node,label`, or `row,label` for tables; a single column, of text, Parquet or .npy, has those of all
    /// rows, or of the nodes of --nodes: what `fit` learns, colours of the report of `embed`.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
}

/// Features of the nodes of a graph.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct FeatureArgs {
    /// Features of nodes beside their links: .csv with the id in the first column, or .mtx, .npy, .npz with rows in the order of
    /// --nodes, else of the nodes 0, 1, 2, …
    #[arg(long, value_name = "FILE")]
    pub(crate) features: Option<PathBuf>,
}

/// Files to write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Row embedding: .npy, .csv (first column the id) or .parquet.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows_out: Option<PathBuf>,
    /// Column embedding, likewise.
    #[arg(long, value_name = "FILE")]
    pub(crate) cols_out: Option<PathBuf>,
    /// Model for `transform` and `inspect`.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Page for people, in one file that needs no network: a map, the components, the spectrum.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

//! Readers for graphs, tables and matrices, and the writer of result matrices.
//!
//! The format follows from the extension (before `.gz`) unless [`ReadOptions::format`] names it:
//!
//! | extension | format |
//! | --- | --- |
//! | `.csv`, `.tsv`, `.txt` | edge list or table, by the first line, see below |
//! | `.edges`, `.edgelist` | edge list |
//! | `.mtx` | Matrix Market |
//! | `.npy`, `.npz` | NumPy array, NumPy archive (also SciPy's sparse matrices) |
//! | `.svm`, `.libsvm`, `.svmlight` | svmlight |
//! | `.parquet`, `.arrow`, `.feather`, `.ipc` | Parquet, Arrow IPC file or stream |
//!
//! Text whose format is open is an edge list when
//! - its first line is a header of at most three columns that begins with two names such as `source,target`, or
//! - its first line has two or three columns, all numbers, of which the first two are whole, or
//! - it has two columns of names, or two of names and one of numbers, or
//! - the file is a `.txt` whose columns are separated by white space;
//!
//! anything else is a table. A table has a header unless its first line consists of numbers only.
//!
//! Gzip is recognised by the suffix `.gz` or by its first bytes.
//!
//! ```
//! use lopsided::data::io::{Input, ReadOptions, read};
//!
//! let path = std::env::temp_dir().join(format!("lopsided-doc-{}.csv", std::process::id()));
//! std::fs::write(&path, "source,target\nalice,bob\nbob,carol\n").unwrap();
//! let Input::Graph(graph, _) = read::<f64>(&path, &ReadOptions::default())? else { panic!("a table") };
//! assert_eq!(graph.ids(), ["alice", "bob", "carol"]);
//! # std::fs::remove_file(path).ok();
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! | wanted | call |
//! | --- | --- |
//! | a graph or a table of any format | [`read`], which gives [`Input`] |
//! | features of the nodes of a graph | [`read_node_features`] |
//! | labels or lists of ids beside the data | [`read_labels`] with [`classes_of`], [`read_ids`] |
//! | a matrix larger than memory | [`stream_svmlight`], [`stream_npy`] |
//! | a table larger than memory, with its targets, in one file or in many | [`stream_table`] |
//! | trials of an online learner, as they arrive | [`TrialReader`] |
//! | results out | [`write_matrix`], [`write_clusters`], [`predictions_csv`] |
//!
//! Errors name the file, the line and what was expected there; remarks about choices that were made for the user (a
//! label column, a header) come with the data. Sizes that a damaged file promises are not believed: memory grows with
//! what is read.

mod classes;
mod columnar;
mod dates;
mod edges;
mod fields;
mod guard;
mod headings;
mod ids;
mod labels;
mod matrix;
mod matrix_market;
mod node_features;
mod nodes;
mod npy;
mod npy_stream;
mod npz;
mod predictions;
mod source;
mod svmlight;
mod svmlight_stream;
mod table;
mod table_files;
mod trials;
mod write;

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::columns::Column;
use crate::data::dataset::{Dataset, Target};
use crate::data::graph::Graph;
use crate::data::samples::Samples;
use source::Source;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

pub use classes::{UNKNOWN, classes_of, one_each, wrong_count};
pub use ids::{labels_are_whole, read_ids, read_labels};
pub use node_features::read_node_features;
pub use npy_stream::stream_npy;
pub use predictions::predictions_csv;
pub use svmlight_stream::{StreamedTable, stream_svmlight};
pub use table_files::{StreamOptions, stream_table};
pub use trials::{TrialReader, TrialRecord};
pub use write::{write_clusters, write_matrix};

/// A result whose error is a reason; the caller knows the place.
type Reasoned<T> = std::result::Result<T, String>;

/// A file format.
///
/// ```
/// use lopsided::data::io::Format;
///
/// assert_eq!("feather".parse::<Format>()?, Format::Arrow);
/// assert_eq!((Format::Table.to_string(), "TSV".parse::<Format>()?), ("csv".to_string(), Format::Table));
/// assert!("xlsx".parse::<Format>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines `source,target[,weight]`.
    Edges,
    /// Comma, tab or semicolon separated rows, usually under a header.
    Table,
    /// Matrix Market, coordinate or array.
    MatrixMarket,
    /// One NumPy array.
    Npy,
    /// A NumPy archive.
    Npz,
    /// Lines `label index:value …`.
    SvmLight,
    /// Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
}

/// Every format with the name it is written by; the order is that of messages.
const FORMATS: [(Format, &str); 8] = [
    (Format::Edges, "edges"),
    (Format::Table, "csv"),
    (Format::MatrixMarket, "mtx"),
    (Format::Npy, "npy"),
    (Format::Npz, "npz"),
    (Format::SvmLight, "svmlight"),
    (Format::Parquet, "parquet"),
    (Format::Arrow, "arrow"),
];

/// Other words for a format, as extensions have them.
const ALIASES: [(&str, Format); 6] = [
    ("tsv", Format::Table),
    ("table", Format::Table),
    ("txt", Format::Edges),
    ("libsvm", Format::SvmLight),
    ("svm", Format::SvmLight),
    ("feather", Format::Arrow),
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = FORMATS.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let name = text.to_ascii_lowercase();
        let own = FORMATS.iter().find(|(_, known)| *known == name).map(|(format, _)| *format);
        own.or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, format)| *format)).ok_or_else(|| {
            Error::Unknown { kind: "format", name: text.into(), known: FORMATS.map(|(_, known)| known.into()).to_vec() }
        })
    }
}

/// Which column of a table holds the labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TargetColumn {
    /// The last column of a table with a header; files of numbers only have none.
    #[default]
    Last,
    /// No column: all of them are data.
    None,
    /// The column of this name, or columns between commas; a name with a comma stands in quotes.
    Named(String),
}

/// What [`read`] cannot see in the file itself.
///
/// The defaults suit files that speak for themselves.
///
/// ```
/// use lopsided::data::io::{Input, ReadOptions, TargetColumn, read};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("flowers.csv");
/// std::fs::write(&path, "length,width,kind\n5.1,3.5,setosa\n6.2,NA,virginica\n").unwrap();
/// let Input::Table(table) = read::<f64>(&path, &ReadOptions::default())? else { panic!("a graph") };
/// assert_eq!((table.samples.count(), table.samples.width()), (2, 2));
/// assert_eq!(table.target.unwrap().0, "kind"); // the last column is the label unless told otherwise
/// assert!(table.samples.into_dense()[(1, 1)].is_nan());
/// let other = ReadOptions { target: TargetColumn::Named("color".into()), ..ReadOptions::default() };
/// assert!(read::<f64>(&path, &other).is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format; `None`: by extension and first line.
    pub format: Option<Format>,
    /// The label column of tables.
    pub target: TargetColumn,
    /// The array to take from a NumPy archive.
    pub array: Option<String>,
    /// Nodes that a graph has even if no link names them.
    pub nodes: Vec<String>,
    /// Columns of tables that hold words even if they look like numbers or dates.
    pub categories: Vec<String>,
    /// Columns of tables that are left out.
    pub drop: Vec<String>,
    /// The only data columns of tables that are wanted; `None`: all of them.
    pub only: Option<Vec<String>>,
}

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Input<T> {
    /// A graph, and remarks for the user about how it was read.
    Graph(Graph, Vec<String>),
    /// Rows of numbers and words.
    Table(Table<T>),
}

/// Rows of numbers and words, perhaps with labels.
#[derive(Clone, Debug)]
pub struct Table<T> {
    /// One sample per row; missing values and words are NaN.
    pub samples: Samples<T>,
    /// The data columns with their names and words, where the file has names.
    pub columns: Option<Vec<Column>>,
    /// Name and contents of the label column.
    pub target: Option<(String, Target)>,
    /// Remarks for the user about how the file was read.
    pub notes: Vec<String>,
}

impl<T: Scalar> Table<T> {
    /// Names of the data columns, where the file has them.
    pub fn names(&self) -> Option<Vec<String>> {
        self.columns.as_ref().map(|columns| columns.iter().map(|column| column.name.clone()).collect())
    }

    /// What can be learned from: samples, columns and target.
    pub fn dataset(self) -> Dataset<T> {
        let col_ids = self.names();
        Dataset { y: self.target.map(|(_, y)| y), col_ids, columns: self.columns, ..Dataset::new(self.samples) }
    }
}

/// Reads a file of any supported format; the path `-` is standard input and needs [`ReadOptions::format`].
///
/// Values of samples may be NaN or infinite, weights of links may not.
///
/// # Errors
/// [`Error::Io`] for a file that cannot be opened, [`Error::Param`] for a format that is not clear, [`Error::Parse`]
/// for contents that cannot be understood, [`Error::Unknown`] for a label column or an array that the file does not
/// have.
pub fn read<T: Scalar>(path: &Path, options: &ReadOptions) -> Result<Input<T>> {
    if source::is_stdin(path) && options.format.is_none() {
        return Err(unclear_format("missing for standard input"));
    }
    let mut source = Source::open(path)?;
    let format = match options.format {
        Some(format) => format,
        None => guess(path, &mut source, options)?,
    };
    let name = source.name().to_owned();
    let graph = |(graph, notes)| Input::Graph(graph, notes);
    let plain = |samples| without_labels(&name, samples, &options.target);
    match format {
        Format::Edges => edges::read(source, &options.nodes).map(graph),
        Format::Table => table::read(source, options).map(Input::Table),
        Format::MatrixMarket => matrix_market::read(source).and_then(plain),
        Format::Npy => npy::read(&mut source.reader(), &name).and_then(plain),
        Format::Npz => npz::read(source, options.array.as_deref()).and_then(plain),
        Format::SvmLight => svmlight::read(source, &options.target).map(Input::Table),
        Format::Parquet => guard::guarded(&name, || columnar::read_parquet(source, options)),
        Format::Arrow => guard::guarded(&name, || columnar::read_arrow(source, options)),
    }
}

/// A table of a matrix format, which has no names and so no label column.
fn without_labels<T: Scalar>(name: &str, samples: Samples<T>, target: &TargetColumn) -> Result<Input<T>> {
    if let TargetColumn::Named(label) = target {
        return Err(Error::parse(name, format!("has no named columns, so there is no label column `{label}`")));
    }
    Ok(Input::Table(Table { samples, columns: None, target: None, notes: Vec::new() }))
}

/// The format by the extension, and for text by the first lines, which stay to be read.
fn guess(path: &Path, source: &mut Source, options: &ReadOptions) -> Result<Format> {
    let extension = source::extension(path);
    Ok(match extension.as_str() {
        "csv" | "tsv" | "txt" => {
            let lines = source.peek()?;
            // Links have no column of labels.
            let named = matches!(options.target, TargetColumn::Named(_));
            if !named && fields::looks_like_edges(&lines, &extension) { Format::Edges } else { Format::Table }
        }
        "edges" | "edgelist" => Format::Edges,
        "mtx" => Format::MatrixMarket,
        "npy" => Format::Npy,
        "npz" => Format::Npz,
        _ if is_svmlight(path) => Format::SvmLight,
        "parquet" => Format::Parquet,
        "arrow" | "feather" | "ipc" => Format::Arrow,
        _ => return Err(unclear_format(&format!("not clear from the name `{}`", path.display()))),
    })
}

/// Whether the name of a file is that of an svmlight file, plain or gzipped.
///
/// ```
/// use lopsided::data::io::{is_npy, is_svmlight};
/// use std::path::Path;
///
/// assert!(is_svmlight(Path::new("news20.svm.gz")) && !is_svmlight(Path::new("news20.csv")));
/// assert!(is_npy(Path::new("X.NPY")));
/// ```
pub fn is_svmlight(path: &Path) -> bool {
    matches!(source::extension(path).as_str(), "svm" | "libsvm" | "svmlight")
}

/// Whether the name of a file is that of a NumPy array, plain or gzipped.
pub fn is_npy(path: &Path) -> bool {
    source::extension(path) == "npy"
}

fn is_parquet(path: &Path) -> bool {
    source::extension(path) == "parquet"
}

fn unclear_format(value: &str) -> Error {
    Error::param("format", value, format!("one of {}", FORMATS.map(|(_, name)| name).join(", ")))
}

#[cfg(test)]
pub(crate) mod tests;

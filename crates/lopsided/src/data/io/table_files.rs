//! Tables in files that are too large to hold: NumPy arrays, Parquet files and folders of them, one svmlight file, with their targets.
//!
//! Several files are one table, one after the other in the order given, those of a folder in the order of their names.

use super::columnar::ParquetRows;
use super::guard::guarded;
use super::labels::is_missing;
use super::npy::Header;
use super::source::{Source, is_stdin};
use super::{ReadOptions, TargetColumn, classes_of, is_npy, is_parquet, is_svmlight, read_labels, stream_svmlight};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::columns::Cells;
use crate::data::dataset::{Dataset, Target};
use crate::data::row_stream::RowStream;
use crate::data::samples::{Csr, Order, Samples, SharedRows};
use crate::data::table_stream::{TableFacts, TableStream, VisitPiece, pieces};
use faer::Mat;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a user says of the files of a table.
#[derive(Clone, Debug, Default)]
pub struct StreamOptions {
    /// The label column of Parquet files and whether labels of svmlight files are wanted, and columns that are left out.
    pub read: ReadOptions,
    /// Files with the targets of all rows: NumPy arrays, which are read along, or one file of labels.
    pub labels: Vec<PathBuf>,
}

/// Opens a table out of core. Only sizes are read, but for svmlight, which is looked through once, and for labels that are no numbers of
/// NumPy, which are held.
///
/// Numbers are values, whether they are whole or not, and words are classes: what numbers mean is decided when all are known.
///
/// ```
/// use lopsided::data::io::{StreamOptions, stream_table, write_matrix};
/// use lopsided::{Mat, Watch};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let table = |rows: usize| Mat::from_fn(rows, 2, |i, j| (2 * i + j) as f64);
/// let ids = |rows: usize| (0..rows).map(|i| i.to_string()).collect::<Vec<_>>();
/// let paths = [folder.path().join("1.npy"), folder.path().join("2.npy")];
/// write_matrix(&paths[0], &ids(3), table(3).as_ref())?;
/// write_matrix(&paths[1], &ids(4), table(4).as_ref())?;
/// let table = stream_table::<f64>(&paths, &StreamOptions::default(), &Watch::default())?;
/// assert_eq!((table.facts.rows, table.facts.width), (7, 2));
/// let mut seen = Vec::new();
/// table.for_each_piece(2..7, 2, "looking", &Watch::default(), |first, rows, _| {
///     seen.push((first, rows.into_dense()[(0, 0)]));
///     Ok(())
/// })?;
/// assert_eq!(seen, [(2, 4.0), (4, 2.0), (6, 6.0)]);
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] for standard input, pipes and other formats; [`Error::Shape`] for files of unequal width, or as many targets as
/// rows; [`Error::Parse`], [`Error::Io`]. Passes find files that end too soon and values that are not finite.
pub fn stream_table<T: Scalar>(paths: &[PathBuf], options: &StreamOptions, watch: &Watch) -> Result<TableStream<T>> {
    let paths = listed(paths)?;
    for path in paths.iter().chain(&options.labels) {
        if is_stdin(path) || path.metadata().is_ok_and(|known| !known.is_file()) {
            return Err(Error::param("stream", path.display(), "a regular file, which is read several times"));
        }
    }
    if let [path] = &paths[..]
        && is_svmlight(path)
    {
        return sparse(path, options, watch);
    }
    let files = paths.iter().map(|path| Dense::look(path, &options.read)).collect::<Result<Vec<_>>>()?;
    dense(files, options)
}

/// All files, those of folders by name.
fn listed(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for path in paths {
        if !path.is_dir() {
            out.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, e))?;
        let mut inside: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|p| is_parquet(p)).collect();
        inside.sort();
        if inside.is_empty() {
            return Err(Error::parse(path.display().to_string(), "has no Parquet files"));
        }
        out.extend(inside);
    }
    if out.is_empty() { Err(Error::param("input", "missing", "at least one file")) } else { Ok(out) }
}

/// A file of dense rows, before it is read.
#[derive(Clone)]
struct Dense {
    path: PathBuf,
    read: ReadOptions,
    rows: usize,
    width: usize,
    columns: Option<Vec<String>>,
    targets: Vec<String>,
}

impl Dense {
    fn look(path: &Path, read: &ReadOptions) -> Result<Self> {
        let (path, read, name) = (path.to_path_buf(), read.clone(), path.display().to_string());
        if is_npy(&path) {
            let (_, rows, width) = NpyRows::open(&path)?;
            return Ok(Dense { path, read, rows, width, columns: None, targets: Vec::new() });
        }
        if !is_parquet(&path) {
            let allowed = "NumPy (.npy) or Parquet (.parquet) files, folders of the latter, or one svmlight file (.svm, .libsvm, .svmlight): others are read whole, without --stream";
            return Err(Error::param("stream", name, allowed));
        }
        let file = guarded(&name, || ParquetRows::open(&path, &read))?;
        let (rows, columns, targets) = (file.count(), file.names(), file.targets());
        if columns.is_empty() {
            return Err(Error::parse(name, "has no columns of data"));
        }
        Ok(Dense { rows, width: columns.len(), columns: Some(columns), targets, path, read })
    }

    fn open(&self) -> Result<Rows> {
        let name = self.path.display().to_string();
        let changed = || Error::parse(&name, "has changed since its first pass");
        if is_npy(&self.path) {
            let (rows, count, width) = NpyRows::open(&self.path)?;
            let same = (count, width) == (self.rows, self.width);
            return if same { Ok(Rows::Npy(rows, width)) } else { Err(changed()) };
        }
        let file = guarded(&name, || ParquetRows::open(&self.path, &self.read))?;
        let same = (file.count(), file.names().len()) == (self.rows, self.width);
        if same { Ok(Rows::Parquet(Box::new(file), name)) } else { Err(changed()) }
    }
}

/// The rows of an opened file.
enum Rows {
    Npy(NpyRows, usize),
    Parquet(Box<ParquetRows>, String),
}

impl Rows {
    fn skip(&mut self, rows: usize) -> Result<()> {
        match self {
            Rows::Npy(file, width) => file.skip(rows * *width),
            Rows::Parquet(file, name) => guarded(name, || file.skip(rows)),
        }
    }

    /// At most so many of the next rows; none at the end.
    fn next<T: Scalar>(&mut self, most: usize) -> Result<(usize, Vec<T>, Vec<Cells>)> {
        match self {
            Rows::Npy(file, width) => {
                let values = file.next(most * *width)?;
                Ok((values.len() / *width, values, Vec::new()))
            }
            Rows::Parquet(file, name) => guarded(name, || file.next(most)),
        }
    }
}

/// The numbers of a NumPy array in C order.
struct NpyRows {
    header: Header,
    name: String,
    body: Body,
}

enum Body {
    File(BufReader<File>),
    Stream(Box<dyn BufRead>),
}

impl NpyRows {
    /// The array with its rows and columns; a vector has one column.
    fn open(path: &Path) -> Result<(Self, usize, usize)> {
        let name = path.display().to_string();
        let mut body = match Source::open(path)?.into_file() {
            Ok(file) => Body::File(BufReader::with_capacity(1 << 17, file)),
            Err(source) => Body::Stream(source.reader()),
        };
        let header = Header::read(body.reader(), &name)?;
        let (rows, cols) = match *header.shape() {
            [rows] => (rows, 1),
            [rows, cols] => (rows, cols),
            _ => {
                let reason = format!("has {} dimensions; two are needed", header.shape().len());
                return Err(Error::parse(name, reason));
            }
        };
        if header.is_fortran() && cols > 1 {
            return Err(Error::parse(name, "is in Fortran order, column by column; rows must follow each other"));
        }
        if rows == 0 || cols == 0 || u32::try_from(cols).is_err() {
            return Err(Error::parse(name, format!("has the shape {rows} x {cols}; rows and columns are needed")));
        }
        Ok((NpyRows { header, name, body }, rows, cols))
    }

    fn skip(&mut self, numbers: usize) -> Result<()> {
        let bytes = numbers as u64 * self.header.number_bytes().unwrap_or(1) as u64;
        let done = match &mut self.body {
            Body::File(file) => file.seek_relative(i64::try_from(bytes).unwrap_or(i64::MAX)),
            Body::Stream(stream) => std::io::copy(&mut stream.take(bytes), &mut std::io::sink()).map(|_| ()),
        };
        done.map_err(|e| Error::io(&self.name, e))
    }

    fn next<T: Scalar>(&mut self, numbers: usize) -> Result<Vec<T>> {
        self.header.next_numbers(self.body.reader(), &self.name, numbers)
    }
}

impl Body {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Body::File(file) => file,
            Body::Stream(stream) => stream,
        }
    }
}

/// Where targets come from.
#[derive(Clone)]
enum Labels {
    None,
    /// Columns of the files themselves.
    Columns(Vec<String>),
    /// NumPy arrays that are read along.
    Beside(Vec<Dense>),
    Held(Arc<Target>),
}

fn dense<T: Scalar>(files: Vec<Dense>, options: &StreamOptions) -> Result<TableStream<T>> {
    let first = files[0].clone();
    for file in &files {
        if file.width != first.width {
            return Err(Error::shape(
                format!("the number of columns of {}", file.path.display()),
                first.width,
                file.width,
            ));
        }
        if (&file.columns, &file.targets) != (&first.columns, &first.targets) {
            let names = |file: &Dense| {
                file.columns.iter().flatten().chain(&file.targets).cloned().collect::<Vec<_>>().join(", ")
            };
            return Err(Error::shape(
                format!("the list of columns of {}", file.path.display()),
                names(&first),
                names(file),
            ));
        }
    }
    let rows = files.iter().map(|file| file.rows).sum();
    let labels = labels(options, &first, rows)?;
    let target = matches!(labels, Labels::Columns(_)).then(|| first.targets.join(","));
    let facts = TableFacts { rows, width: first.width, columns: first.columns, target };
    let has_target = !matches!(labels, Labels::None);
    let pass = move |range: Range<usize>, piece: usize, visit: &mut VisitPiece<'_, T>| {
        let mut own = Sequence::new(&files, range.start)?;
        let mut beside = match &labels {
            Labels::Beside(files) => Some(Sequence::new(files, range.start)?),
            _ => None,
        };
        pieces(range, piece).try_for_each(|here| {
            let (values, cells) = own.next(here.len())?;
            let y = match &labels {
                Labels::None => None,
                Labels::Columns(names) => target_of(names, cells),
                Labels::Held(target) => Some(target.rows(&here.clone().collect::<Vec<_>>())),
                Labels::Beside(_) => beside.as_mut().map(|beside| beside.targets(here.len())).transpose()?,
            };
            let rows = SharedRows::new(Arc::new(values), (here.len(), own.width), Order::Rows)?;
            visit(here.start, Samples::Shared(rows), y)
        })
    };
    Ok(TableStream::new(facts, has_target, Box::new(pass)))
}

fn labels(options: &StreamOptions, first: &Dense, rows: usize) -> Result<Labels> {
    let Some(path) = options.labels.first() else {
        let names = first.targets.clone();
        return Ok(if names.is_empty() { Labels::None } else { Labels::Columns(names) });
    };
    let numbers = |path: &PathBuf| {
        is_npy(path) && NpyRows::open(path).is_ok_and(|(file, ..)| file.header.number_bytes().is_some())
    };
    if !options.labels.iter().all(numbers) {
        return held(path, rows).map(|target| Labels::Held(Arc::new(target)));
    }
    let files =
        options.labels.iter().map(|path| Dense::look(path, &ReadOptions::default())).collect::<Result<Vec<_>>>()?;
    let count: usize = files.iter().map(|file| file.rows).sum();
    if count != rows {
        return Err(super::wrong_count(path, count, rows));
    }
    match files.iter().find(|file| file.width != files[0].width) {
        Some(file) => {
            Err(Error::shape(format!("the number of columns of {}", file.path.display()), files[0].width, file.width))
        }
        None => Ok(Labels::Beside(files)),
    }
}

/// Labels that are held: those of all rows by their numbers, or of one column.
fn held(path: &Path, rows: usize) -> Result<Target> {
    // One coordinate, so that the rows have their usual names.
    let unnamed = Dataset::new(Samples::Dense(Mat::<f64>::zeros(rows, 1)));
    classes_of(path, &unnamed, &read_labels(path)?).map(as_numbers)
}

/// Values where all classes are numbers.
fn as_numbers(target: Target) -> Target {
    target.numbers().map_or(target, Target::Values)
}

/// Files of dense rows, one after the other.
struct Sequence<'a> {
    files: &'a [Dense],
    width: usize,
    open: Option<(Rows, usize)>,
}

impl<'a> Sequence<'a> {
    /// From a row on.
    fn new(files: &'a [Dense], mut start: usize) -> Result<Self> {
        let width = files.first().map_or(0, |file| file.width);
        let mut out = Sequence { files, width, open: None };
        while let Some(file) = out.files.first() {
            if start < file.rows {
                out.open_next()?;
                if let Some((rows, left)) = &mut out.open {
                    rows.skip(start)?;
                    *left -= start;
                }
                break;
            }
            start -= file.rows;
            out.files = &out.files[1..];
        }
        Ok(out)
    }

    fn open_next(&mut self) -> Result<()> {
        let Some((file, rest)) = self.files.split_first() else { return Ok(()) };
        self.open = Some((file.open()?, file.rows));
        self.files = rest;
        Ok(())
    }

    /// The next rows, one after the other, and their label columns.
    fn next<T: Scalar>(&mut self, wanted: usize) -> Result<(Vec<T>, Vec<Cells>)> {
        let (mut values, mut cells) = (Vec::with_capacity(wanted * self.width), Vec::new());
        let mut missing = wanted;
        while missing > 0 {
            if self.open.as_ref().is_none_or(|(_, left)| *left == 0) {
                self.open_next()?;
            }
            let ends = || Error::parse("the table", format!("ends {missing} rows too soon"));
            let Some((rows, left)) = &mut self.open else { return Err(ends()) };
            let (count, more, labels) = rows.next::<T>(missing.min(*left))?;
            if count == 0 {
                return Err(ends());
            }
            (missing, *left) = (missing - count, *left - count);
            values.extend(more);
            joined(&mut cells, labels);
        }
        Ok((values, cells))
    }

    /// The next rows as targets.
    fn targets(&mut self, wanted: usize) -> Result<Target> {
        let (width, (values, _)) = (self.width, self.next(wanted)?);
        if width == 1 {
            return Ok(Target::Values(values));
        }
        let names = (0..width).map(|c| c.to_string()).collect();
        Ok(Target::Several { names, values: Mat::from_fn(wanted, width, |i, j| values[i * width + j]) })
    }
}

/// Adds the cells of more rows to each column; a column of which a part is text is one of texts.
fn joined(columns: &mut Vec<Cells>, more: Vec<Cells>) {
    if columns.is_empty() {
        *columns = more;
        return;
    }
    for (column, more) in columns.iter_mut().zip(more) {
        match (column, more) {
            (Cells::Numbers(all), Cells::Numbers(more)) => all.extend(more),
            (Cells::Texts(all), Cells::Texts(more)) => all.extend(more),
            (Cells::Texts(all), Cells::Numbers(more)) => all.extend(more.iter().map(|v| Some(v.to_string()))),
            (column, Cells::Texts(more)) => {
                let Cells::Numbers(all) = std::mem::replace(column, Cells::Texts(Vec::new())) else { continue };
                *column = Cells::Texts(all.iter().map(|v| Some(v.to_string())).chain(more).collect());
            }
        }
    }
}

/// The targets of label columns.
fn target_of(names: &[String], mut cells: Vec<Cells>) -> Option<Target> {
    if cells.len() > 1 {
        let numbers = |cells: &Cells| match cells {
            Cells::Numbers(values) => values.clone(),
            Cells::Texts(texts) => {
                texts.iter().map(|t| t.as_ref().and_then(|t| t.trim().parse().ok()).unwrap_or(f64::NAN)).collect()
            }
        };
        let columns: Vec<Vec<f64>> = cells.iter().map(numbers).collect();
        let values = Mat::from_fn(columns[0].len(), columns.len(), |i, j| columns[j][i]);
        return Some(Target::Several { names: names.to_vec(), values });
    }
    Some(match cells.pop()? {
        Cells::Numbers(values) => Target::Values(values),
        Cells::Texts(texts) => {
            let (mut names, mut places): (Vec<String>, HashMap<String, u32>) = (Vec::new(), HashMap::new());
            let code = |text: Option<String>| {
                let text = text.filter(|text| !is_missing(text.trim()))?.trim().to_string();
                Some(*places.entry(text.clone()).or_insert_with(|| {
                    names.push(text);
                    names.len() as u32 - 1
                }))
            };
            let codes = texts.into_iter().map(code).collect();
            Target::Classes { names, codes }
        }
    })
}

/// An svmlight file: its chunks of rows put together to pieces.
fn sparse<T: Scalar>(path: &Path, options: &StreamOptions, watch: &Watch) -> Result<TableStream<T>> {
    let unwanted = !options.labels.is_empty() || options.read.target == TargetColumn::None;
    let column = if unwanted { TargetColumn::None } else { options.read.target.clone() };
    let table = stream_svmlight::<T>(path, &column, watch)?;
    let (rows, width) = (table.rows.nrows(), table.rows.ncols());
    // The name that readers of svmlight files give to the labels.
    let name = table.target.is_some().then(|| "label".to_string());
    let beside = match options.labels.first() {
        None => None,
        Some(path) => Some(held_or_read(path, rows)?),
    };
    let target = beside.or(table.target.map(as_numbers));
    let stream: RowStream<T> = table.rows;
    let facts = TableFacts { rows, width, columns: None, target: name };
    let has_target = target.is_some();
    let pass = move |range: Range<usize>, piece: usize, visit: &mut VisitPiece<'_, T>| {
        let mut wanted = pieces(range.clone(), piece).peekable();
        let mut here = Csr::empty(width);
        stream.for_each_chunk("reading", &Watch::default(), |start, chunk| {
            for i in 0..chunk.nrows() {
                let Some(next) = wanted.peek().filter(|next| next.start <= start + i).cloned() else { continue };
                let (columns, values) = chunk.row(i);
                here.push_row(columns.iter().copied().zip(values.iter().copied()));
                if start + i + 1 == next.end {
                    wanted.next();
                    let rows = std::mem::replace(&mut here, Csr::empty(width));
                    let y = target.as_ref().map(|y| y.rows(&next.clone().collect::<Vec<_>>()));
                    visit(next.start, Samples::Sparse(rows), y)?;
                }
            }
            Ok(())
        })
    };
    Ok(TableStream::new(facts, has_target, Box::new(pass)))
}

/// Targets in a file of their own: numbers of NumPy, or labels.
fn held_or_read(path: &Path, rows: usize) -> Result<Target> {
    if let (true, Ok((file, count, _))) = (is_npy(path), NpyRows::open(path))
        && file.header.number_bytes().is_some()
    {
        if count != rows {
            return Err(super::wrong_count(path, count, rows));
        }
        return Sequence::new(&[Dense::look(path, &ReadOptions::default())?], 0)?.targets(rows);
    }
    held(path, rows)
}

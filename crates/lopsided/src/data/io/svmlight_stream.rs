//! svmlight files that are too large to hold: read in chunks of rows, again for every pass.

use super::labels::Labels;
use super::matrix::check_sparse;
use super::source::{LONGEST_LINE, Source, is_stdin, without_mark};
use super::svmlight::{check_target, parse_line};
use super::{Reasoned, TargetColumn};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::watch::{Progress, Watch};
use crate::data::dataset::Target;
use crate::data::row_stream::{CHUNK_ROWS, RowStream, Visit};
use crate::data::samples::Csr;
use rayon::prelude::*;
use std::io::{BufRead, Read};
use std::path::Path;

/// Lines parsed by one task.
const PIECE: usize = 128;

/// The rows of a file and their labels.
pub struct StreamedTable<T> {
    /// The rows; every pass reads the file again.
    pub rows: RowStream<T>,
    /// The labels; `None` if they are not wanted.
    pub target: Option<Target>,
}

/// Opens an svmlight file, plain or gzipped, for passes over its rows: one pass finds its size, checks every entry and
/// keeps the labels.
///
/// Memory: a chunk of 2048 rows and a label per row, whatever the size of the file. The lines of a chunk are parsed in
/// parallel.
///
/// ```
/// use lopsided::Watch;
/// use lopsided::data::io::{TargetColumn, stream_svmlight};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("rows.svm");
/// std::fs::write(&path, "1 1:0.5 3:2\n-1 2:1\n").unwrap();
/// let table = stream_svmlight::<f64>(&path, &TargetColumn::Last, &Watch::default())?;
/// assert_eq!((table.rows.nrows(), table.rows.ncols(), table.rows.nnz()), (2, 3, 3));
/// assert_eq!(table.rows.passes(), 1); // the one that found the size
/// assert_eq!(table.target.unwrap().numbers(), Some(vec![1.0, -1.0]));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Param`] for standard input or a pipe, which cannot be read twice; [`Error::Parse`] with the number of the line;
/// [`Error::Io`]; [`Error::Interrupted`]. A file that changes between passes is an error too.
pub fn stream_svmlight<T: Scalar>(path: &Path, target: &TargetColumn, watch: &Watch) -> Result<StreamedTable<T>> {
    if is_stdin(path) || path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::param("stream", path.display(), "a regular file, which is read several times"));
    }
    check_target(target)?;
    let mut shape = Shape::default();
    for_each_text(path, |text, start| {
        watch.report(Progress { stage: "looking through the file", done: start as u64, total: 0, residual: None })?;
        text.parse::<T>()?.iter().for_each(|piece| shape.add(piece));
        Ok(())
    })?;
    let base = u32::from(shape.least.is_some_and(|least| least > 0));
    let (nrows, nnz, path) = (shape.rows, shape.entries, path.to_path_buf());
    let ncols = shape.most.map_or(0, |most| (most - base) as usize + 1);
    check_sparse(&path.display().to_string(), nrows, ncols, nnz)?;
    let target = (*target != TargetColumn::None).then(|| shape.labels.finish());
    let pass = move |visit: &mut Visit<'_, T>| pass(&path, (nrows, ncols), base, visit);
    Ok(StreamedTable { rows: RowStream::new((nrows, ncols), nnz, 1, Box::new(pass)), target })
}

/// One pass over the rows.
fn pass<T: Scalar>(path: &Path, (nrows, ncols): (usize, usize), base: u32, visit: &mut Visit<'_, T>) -> Result<()> {
    let changed = || Error::parse(path.display().to_string(), "has changed since its first pass");
    let mut seen = 0;
    for_each_text(path, |text, start| {
        let rows = joined(text.parse::<T>()?, ncols, base).ok_or_else(changed)?;
        seen = start + rows.nrows();
        if seen > nrows { Err(changed()) } else { visit(start, rows.as_ref()) }
    })?;
    if seen == nrows { Ok(()) } else { Err(changed()) }
}

/// What the first pass finds.
#[derive(Default)]
struct Shape {
    rows: usize,
    entries: usize,
    least: Option<u32>,
    most: Option<u32>,
    labels: Labels,
}

impl Shape {
    fn add<T: Scalar>(&mut self, piece: &Piece<'_, T>) {
        self.rows += piece.ends.len();
        self.entries += piece.indices.len();
        let (least, most) = (piece.indices.iter().min().copied(), piece.indices.iter().max().copied());
        self.least = self.least.into_iter().chain(least).min();
        self.most = self.most.max(most);
        piece.labels.iter().for_each(|label| self.labels.push(label));
    }
}

/// The entries of some consecutive lines.
struct Piece<'a, T> {
    labels: Vec<&'a str>,
    /// Where each row ends.
    ends: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

/// The lines of a chunk, one after the other.
struct Text {
    name: String,
    bytes: Vec<u8>,
    /// Number and end of each line.
    lines: Vec<(usize, usize)>,
    /// Number of the last line read.
    number: usize,
}

/// Shows the lines of a file in chunks, with the number of the first row of each.
fn for_each_text(path: &Path, mut visit: impl FnMut(&Text, usize) -> Result<()>) -> Result<()> {
    let source = Source::open(path)?;
    let mut text = Text { name: source.name().to_owned(), bytes: Vec::new(), lines: Vec::new(), number: 0 };
    let (mut reader, mut start) = (source.reader(), 0);
    while text.fill(&mut reader)? {
        visit(&text, start)?;
        start += text.lines.len();
    }
    Ok(())
}

impl Text {
    /// Reads the next chunk; false when nothing is left.
    fn fill(&mut self, reader: &mut dyn BufRead) -> Result<bool> {
        self.bytes.clear();
        self.lines.clear();
        while self.lines.len() < CHUNK_ROWS {
            let start = self.bytes.len();
            let mut limited = (&mut *reader).take(LONGEST_LINE);
            let length = limited.read_until(b'\n', &mut self.bytes).map_err(|e| Error::io(&self.name, e))?;
            if length == 0 {
                break;
            }
            self.number += 1;
            if length as u64 == LONGEST_LINE {
                return Err(self.error(self.number, "the line is longer than 1 GB; text with line breaks is expected"));
            }
            if is_data(self.line(start, self.bytes.len(), self.number)) {
                self.lines.push((self.number, self.bytes.len()));
            } else {
                self.bytes.truncate(start);
            }
        }
        Ok(!self.lines.is_empty())
    }

    fn line(&self, start: usize, end: usize, number: usize) -> &[u8] {
        let line = &self.bytes[start..end];
        if number == 1 { without_mark(line) } else { line }
    }

    /// All lines, in parallel; of several faults the first one is reported.
    fn parse<T: Scalar>(&self) -> Result<Vec<Piece<'_, T>>> {
        let pieces: Vec<Result<Piece<'_, T>>> =
            (0..self.lines.len().div_ceil(PIECE)).into_par_iter().map(|at| self.piece(at * PIECE)).collect();
        pieces.into_iter().collect()
    }

    /// The lines of one task, from number `first` of the chunk on.
    fn piece<T: Scalar>(&self, first: usize) -> Result<Piece<'_, T>> {
        let lines = &self.lines[first..self.lines.len().min(first + PIECE)];
        let mut start = if first == 0 { 0 } else { self.lines[first - 1].1 };
        let mut piece = Piece { labels: Vec::new(), ends: Vec::new(), indices: Vec::new(), values: Vec::new() };
        for &(number, end) in lines {
            piece.push(self.line(start, end, number)).map_err(|reason| self.error(number, reason))?;
            start = end;
        }
        Ok(piece)
    }

    fn error(&self, number: usize, reason: impl Into<String>) -> Error {
        Error::parse(format!("{}:{number}", self.name), reason)
    }
}

impl<'a, T: Scalar> Piece<'a, T> {
    fn push(&mut self, line: &'a [u8]) -> Reasoned<()> {
        let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8 text".to_owned())?;
        let start = self.indices.len();
        let label = parse_line(line, &mut self.indices, &mut self.values)?;
        if let Some(at) = self.values[start..].iter().position(|v| !num_traits::Float::is_finite(*v)) {
            let (value, index) = (self.values[start + at], self.indices[start + at]);
            return Err(format!("value {value} of index {index} is not finite"));
        }
        self.labels.push(label);
        self.ends.push(self.indices.len());
        Ok(())
    }
}

/// Not blank and not a comment, the same rule as for files that are read at once.
fn is_data(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%")
}

/// The rows of a chunk; `None` if they do not fit the size.
fn joined<T: Scalar>(pieces: Vec<Piece<'_, T>>, ncols: usize, base: u32) -> Option<Csr<T>> {
    let nnz = pieces.iter().map(|piece| piece.indices.len()).sum();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::with_capacity(nnz), Vec::with_capacity(nnz));
    for piece in pieces {
        let before = indices.len();
        indptr.extend(piece.ends.iter().map(|end| before + end));
        for index in piece.indices {
            indices.push(index.checked_sub(base)?);
        }
        values.extend(piece.values);
    }
    Csr::new(ncols, indptr, indices, values).ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gzip, scratch};
    use super::super::{Input, ReadOptions, read};
    use super::*;
    use crate::data::samples::Samples;
    use std::fmt::Write as _;

    fn text(rows: usize) -> String {
        let mut out = String::from("\u{feff}# head\n");
        for i in 0..rows {
            let _ = write!(out, "{}", if i % 3 == 0 { "+1" } else { "-1" });
            (0..i % 5).for_each(|k| write!(out, " {}:{}", 1 + 7 * k + i % 7, (i + k) as f64 / 8.0).unwrap());
            out.push_str(if i % 4 == 0 { " # remark\n\n" } else { "\r\n" });
        }
        out + "0 50:1"
    }

    fn collected(path: &Path) -> Result<(Csr<f64>, Option<Target>, u64)> {
        let table = stream_svmlight::<f64>(path, &TargetColumn::Last, &Watch::default())?;
        let mut all = Csr::empty(table.rows.ncols());
        table.rows.for_each_chunk("test", &Watch::default(), |start, rows| {
            assert_eq!((start, start % CHUNK_ROWS), (all.nrows(), 0));
            for i in 0..rows.nrows() {
                all.push_row(rows.row(i).0.iter().copied().zip(rows.row(i).1.iter().copied()));
            }
            Ok(())
        })?;
        Ok((all, table.target, table.rows.passes()))
    }

    #[test]
    fn chunks_are_the_rows_of_the_file_read_at_once() {
        let text = text(2 * CHUNK_ROWS + 77);
        for (name, bytes) in [("s.svm", text.clone().into_bytes()), ("s.svm.gz", gzip(&text))] {
            let (_dir, path) = scratch(name, bytes);
            let Input::Table(table) = read::<f64>(&path, &ReadOptions::default()).unwrap() else { panic!("a graph") };
            let Samples::Sparse(expected) = table.samples else { panic!("dense") };
            let (found, target, passes) = collected(&path).unwrap();
            assert_eq!((found, passes), (expected, 2));
            assert_eq!(target, table.target.map(|(_, target)| target));
        }
    }

    #[test]
    fn faults_are_named_by_line() {
        let message = |text: String| {
            let (_dir, path) = scratch("s.svm", text);
            let error = collected(&path).unwrap_err().to_string();
            error[error.find("s.svm").unwrap()..].to_owned()
        };
        let good = "1 1:1\n".repeat(3000);
        assert_eq!(message(good.clone() + "1 x:1\n1 7\n"), "s.svm:3001: index `x` is not a whole number from 0");
        assert_eq!(message(good.clone() + "1 2:nan\n"), "s.svm:3001: value NaN of index 2 is not finite");
        assert_eq!(message("\n\n".into()), "s.svm: has no rows");
        assert_eq!(message("1\n2\n".into()), "s.svm: has no columns");
        let refused = stream_svmlight::<f64>(Path::new("-"), &TargetColumn::None, &Watch::default());
        assert!(refused.err().unwrap().to_string().contains("a regular file"));
    }

    #[test]
    fn a_file_that_changes_between_passes_is_refused() {
        for changed in ["1 1:1\n", "1 1:1\n1 9:1\n", "1 1:1\n1 2:1\n1 1:1\n"] {
            let (_dir, path) = scratch("s.svm", "1 1:1\n1 2:1\n");
            let table = stream_svmlight::<f64>(&path, &TargetColumn::None, &Watch::default()).unwrap();
            std::fs::write(&path, changed).unwrap();
            let error = table.rows.for_each_chunk("test", &Watch::default(), |_, _| Ok(())).unwrap_err();
            assert!(error.to_string().ends_with("has changed since its first pass"), "{changed}: {error}");
        }
    }
}

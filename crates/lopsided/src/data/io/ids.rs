//! Label files (`node,label`) and lists of ids.
//!
//! Both readers decide for themselves whether the first line is a header, since such files are written by hand as often
//! as by programs.

use super::classes::UNKNOWN;
use super::fields::{Fields, Separator, whole};
use super::labels::is_missing;
use super::source::{Source, extension};
use super::{columnar, guard, npy};
use crate::base::error::Result;
use std::path::Path;

const NODE_NAMES: [&str; 6] = ["node", "id", "name", "node_id", "vertex", "sample"];
const LABEL_NAMES: [&str; 8] = ["label", "labels", "class", "target", "y", "community", "group", "kind"];

/// Reads `node,label` pairs separated by comma, tab, semicolon or white space, header optional, plain or gzipped.
///
/// A first line is a header if it consists of names such as `node,label`, or if it has the only id that is not a whole
/// number. A single column has the labels of the samples 0, 1, 2, …, `NaN` where one is not known: a NumPy vector of numbers,
/// texts or flags, lines of one field, or a column of a Parquet file.
///
/// ```
/// use lopsided::data::io::read_labels;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// std::fs::write(&path, "node,label\n0,red\n2,blue\n").unwrap();
/// let pairs = [("0", "red"), ("2", "blue")].map(|(id, label)| (id.to_string(), label.to_string()));
/// assert_eq!(read_labels(&path)?, pairs);
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`crate::Error::Parse`] with the line for one that has not two columns or an empty field; [`crate::Error::Io`].
pub fn read_labels(path: &Path) -> Result<Vec<(String, String)>> {
    let source = Source::open(path)?;
    match extension(path).as_str() {
        "npy" => vector(source),
        "parquet" => {
            let name = source.name().to_owned();
            guard::guarded(&name, || columnar::read_parquet_labels(source))
        }
        _ if labels_are_whole(path) => single(source),
        _ => pairs(source),
    }
}

/// Whether a file of labels has one for each sample, in their order, and no ids. A file that cannot be read has not.
///
/// ```
/// use lopsided::data::io::{labels_are_whole, read_labels};
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("y.csv");
/// std::fs::write(&path, "kind\nred\n\"blue, dark\"\n").unwrap();
/// assert!(labels_are_whole(&path));
/// assert_eq!(read_labels(&path)?[1], ("1".to_string(), "blue, dark".to_string()));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn labels_are_whole(path: &Path) -> bool {
    let Ok(mut source) = Source::open(path) else { return false };
    match extension(path).as_str() {
        "npy" => {
            let name = source.name().to_owned();
            let header = npy::Header::read(&mut source.reader(), &name);
            header.is_ok_and(|header| matches!(header.shape(), [_] | [_, 1]))
        }
        "parquet" => {
            let name = source.name().to_owned();
            guard::guarded(&name, || columnar::parquet_width(source)).is_ok_and(|width| width == 1)
        }
        _ => source.peek().is_ok_and(|lines| lines.first().is_some_and(|line| is_one_field(line))),
    }
}

fn is_one_field(line: &str) -> bool {
    // White space separates ids from labels, unless it stands in quotes.
    Fields::split(line, Separator::detect(line)).is_ok_and(|fields| fields.count() == 1)
}

/// The entries of an array of one column, as text.
fn vector(source: Source) -> Result<Vec<(String, String)>> {
    let name = source.name().to_owned();
    let labels = npy::labels(&mut source.reader(), &name)?;
    Ok(labels.into_iter().enumerate().map(|(i, label)| (i.to_string(), label)).collect())
}

/// Lines of one field, below a header where the first is a usual name of labels or the only one that is no number.
fn single(source: Source) -> Result<Vec<(String, String)>> {
    let mut lines = source.lines();
    let mut labels: Vec<String> = Vec::new();
    while lines.advance_to_data()? {
        // A label may have several words.
        let separator = Separator::detect(lines.line()).filter(|separator| *separator != Separator::White);
        let fields = Fields::split(lines.line(), separator).map_err(|reason| lines.error(reason))?;
        if fields.count() != 1 {
            return Err(
                lines.error(format!("{} columns; lines before have one label and nothing else", fields.count()))
            );
        }
        let label = fields.get(0);
        labels.push(if is_missing(label) { UNKNOWN.into() } else { label.to_owned() });
    }
    let number = |label: &String| label == UNKNOWN || label.parse::<f64>().is_ok();
    let header = labels.split_first().is_some_and(|(first, rest)| {
        is_one_of(first, &LABEL_NAMES) || !number(first) && !rest.is_empty() && rest.iter().all(number)
    });
    let labels = labels.into_iter().skip(usize::from(header));
    Ok(labels.enumerate().map(|(i, label)| (i.to_string(), label)).collect())
}

/// Lines of two fields. A label that is not known is left out by the writer, so an empty one is a mistake.
fn pairs(source: Source) -> Result<Vec<(String, String)>> {
    let mut lines = source.lines();
    let (mut pairs, mut separator) = (Vec::new(), None);
    while lines.advance_to_data()? {
        separator = separator.or_else(|| Separator::detect(lines.line()));
        let fields = Fields::split(lines.line(), separator).map_err(|reason| lines.error(reason))?;
        if fields.count() != 2 {
            return Err(lines.error(format!("{} columns; a node and its label are expected", fields.count())));
        }
        if fields.get(0).is_empty() {
            return Err(lines.error("a node id is empty"));
        }
        if fields.get(1).is_empty() {
            let id = fields.get(0);
            return Err(lines.error(format!("the label of `{id}` is empty; leave the line out where it is not known")));
        }
        pairs.push((fields.get(0).to_owned(), fields.get(1).to_owned()));
    }
    if has_header(&pairs) {
        pairs.remove(0);
    }
    Ok(pairs)
}

/// Whether the first pair is a header: by its names, or as the only id that is not a whole number.
fn has_header(pairs: &[(String, String)]) -> bool {
    let Some(((id, label), rest)) = pairs.split_first() else { return false };
    let named = is_one_of(id, &NODE_NAMES) && is_one_of(label, &LABEL_NAMES);
    named || whole(id).is_none() && !rest.is_empty() && rest.iter().all(|(id, _)| whole(id).is_some())
}

fn is_one_of(text: &str, names: &[&str]) -> bool {
    names.iter().any(|name| text.eq_ignore_ascii_case(name))
}

/// Reads one id per line, or the first column below a header that begins with `node` or `id`; plain or gzipped.
///
/// ```
/// use lopsided::data::io::read_ids;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("nodes.txt");
/// std::fs::write(&path, "alice\nbob, the builder\n").unwrap();
/// assert_eq!(read_ids(&path)?, ["alice", "bob, the builder"]);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn read_ids(path: &Path) -> Result<Vec<String>> {
    let mut lines = Source::open(path)?.lines();
    let mut ids = Vec::new();
    // Without a header a line is one id, whatever it contains.
    let (mut first, mut columns, mut separator) = (true, false, None);
    while lines.advance_to_data()? {
        if std::mem::take(&mut first) {
            separator = Separator::detect(lines.line());
            let fields = Fields::split(lines.line(), separator).map_err(|reason| lines.error(reason))?;
            columns = is_one_of(fields.get(0), &["node", "id"]);
            if columns {
                continue;
            }
        }
        let id = if columns {
            let fields = Fields::split(lines.line(), separator).map_err(|reason| lines.error(reason))?;
            fields.get(0).to_owned()
        } else {
            lines.line().trim().to_owned()
        };
        if id.is_empty() {
            return Err(lines.error("the id is empty"));
        }
        ids.push(id);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gzip, scratch};
    use super::*;

    #[test]
    fn labels_come_with_or_without_header() {
        let expected = [("0".to_string(), "x".to_string()), ("1".to_string(), "y z".to_string())];
        for text in ["node,label\n0,x\n1,y z\n", "0\tx\n1\ty z\n", "paper;topic\n0;x\n1;\"y z\"\n"] {
            let (_dir, path) = scratch("l.csv.gz", gzip(text));
            assert_eq!(read_labels(&path).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_vector_labels_the_samples_in_their_order() {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n";
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        [2.0_f64, f64::NAN, 0.5].iter().for_each(|v| bytes.extend(v.to_le_bytes()));
        let (_dir, path) = scratch("y.npy", bytes);
        let expected = [("0", "2"), ("1", "NaN"), ("2", "0.5")].map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!(read_labels(&path).unwrap(), expected);
    }

    #[test]
    fn label_lines_have_two_columns() {
        let (_dir, path) = scratch("l.csv", "node,label\n0,1\n2\n");
        let error = read_labels(&path).unwrap_err().to_string();
        assert!(error.ends_with("l.csv:3: 1 columns; a node and its label are expected"), "{error}");
    }

    #[test]
    fn an_empty_label_is_no_class() {
        let (_dir, path) = scratch("l.csv", "node,label\n0,x\n1,\n");
        let error = read_labels(&path).unwrap_err().to_string();
        assert!(
            error.ends_with("l.csv:3: the label of `1` is empty; leave the line out where it is not known"),
            "{error}"
        );
    }

    #[test]
    fn ids_are_lines_or_a_first_column() {
        for (text, expected) in [("b\na, c\n", ["b", "a, c"]), ("node,x\nb,1\n\"a, c\",2\n", ["b", "a, c"])] {
            let (_dir, path) = scratch("ids.txt", text);
            assert_eq!(read_ids(&path).unwrap(), expected);
        }
    }
}

//! Files of the features of nodes.
//!
//! Text has the id of a node in its first column and features in the others, under a header or not. All other formats have no
//! names: their rows belong to a list of nodes, or to the nodes called 0, 1, 2, …

use super::fields::Separator;
use super::matrix::{Order, dense};
use super::source::{Source, extension};
use super::{Format, Input, ReadOptions, TargetColumn, read};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::node_features::NodeFeatures;
use csv::{ReaderBuilder, StringRecord};
use std::path::Path;

/// Reads the features of nodes, plain or gzipped; `nodes` names the rows of files that have no ids.
///
/// ```
/// use lopsided::data::io::read_node_features;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "id,age,height\nalice,30,1.7\nbob,41,1.8\n").unwrap();
/// let features = read_node_features::<f64>(&path, None)?;
/// assert_eq!((features.ids, features.samples.width()), (vec!["alice".to_string(), "bob".to_string()], 2));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parse`] with the line for a row of another width and for a feature that is missing or no number; those of
/// [`NodeFeatures::new`]; [`Error::Io`].
pub fn read_node_features<T: Scalar>(path: &Path, nodes: Option<&[String]>) -> Result<NodeFeatures<T>> {
    if matches!(extension(path).as_str(), "csv" | "tsv" | "txt") {
        return named(Source::open(path)?);
    }
    let options = ReadOptions { target: TargetColumn::None, ..ReadOptions::default() };
    let table = match read::<T>(path, &options)? {
        Input::Table(table) => table,
        Input::Graph(..) => {
            let reason = format!("is read as a graph where features are needed; {} has ids", Format::Table);
            return Err(Error::parse(path.display().to_string(), reason));
        }
    };
    let count = table.samples.count();
    let ids = match nodes {
        None => (0..count).map(|i| i.to_string()).collect(),
        Some(nodes) if nodes.len() == count => nodes.to_vec(),
        Some(nodes) => {
            let reason = format!("has features of {count} nodes for {} of --nodes", nodes.len());
            return Err(Error::parse(path.display().to_string(), reason));
        }
    };
    let place = |error| match error {
        Error::NotFinite { value, row, col, .. } => {
            let reason = format!("the feature {col} of the node `{}` is {value}; a number is expected", ids[row]);
            Error::parse(path.display().to_string(), reason)
        }
        other => other,
    };
    table.samples.check_finite("features").map_err(place)?;
    NodeFeatures::new(ids, table.samples)
}

/// Rows of an id and features; the first row is a header if one of its features is no number.
fn named<T: Scalar>(mut source: Source) -> Result<NodeFeatures<T>> {
    let name = source.name().to_owned();
    let separator = source.peek()?.first().and_then(|line| Separator::detect(line));
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .delimiter(separator.map_or(b',', Separator::byte))
        .from_reader(source.reader());
    let (mut ids, mut values, mut names) = (Vec::new(), Vec::new(), None);
    let mut width = None;
    for (at, record) in reader.records().enumerate() {
        let record = record.map_err(|e| Error::parse(&name, e.to_string()))?;
        let line = record.position().map_or(at as u64 + 1, csv::Position::line);
        if at == 0 && record.iter().skip(1).any(|field| field.trim().parse::<f64>().is_err()) {
            width = Some(record.len());
            names = Some(record);
            continue;
        }
        row(&record, *width.get_or_insert(record.len()), names.as_ref(), &mut values)
            .map_err(|reason| Error::parse(format!("{name}:{line}"), reason))?;
        ids.push(record[0].trim().to_owned());
    }
    let count = ids.len();
    if count == 0 {
        return Err(Error::parse(name, "has no features"));
    }
    let samples = dense(&name, (count, width.unwrap_or(1) - 1), values, Order::Rows)?;
    NodeFeatures::new(ids, samples)
}

/// Adds the features of a row; the error is a reason without a place.
fn row<T: Scalar>(
    record: &StringRecord,
    width: usize,
    names: Option<&StringRecord>,
    values: &mut Vec<T>,
) -> super::Reasoned<()> {
    if record.len() != width || width < 2 {
        return Err(format!("{} columns; an id and {} features are expected", record.len(), width.max(2) - 1));
    }
    let id = record[0].trim();
    if id.is_empty() {
        return Err("a node id is empty".into());
    }
    for (j, field) in record.iter().enumerate().skip(1) {
        let value = field.trim().parse::<f64>().ok().filter(|v| v.is_finite());
        let column = || names.map_or_else(|| j.to_string(), |names| format!("`{}`", names[j].trim()));
        let wrong = || format!("feature {} of the node `{id}` is `{}`; a number is expected", column(), field.trim());
        values.push(T::of(value.ok_or_else(wrong)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gzip, scratch};
    use super::*;

    fn message(file: &str, text: &str, nodes: Option<&[String]>) -> String {
        let (_dir, path) = scratch(file, text);
        let error = read_node_features::<f64>(&path, nodes).unwrap_err().to_string();
        error.rsplit('/').next().unwrap().to_owned()
    }

    #[test]
    fn ids_stay_texts_with_and_without_header() {
        for text in ["007,1,2.5\n7,0,-1\n", "who,a,b\n007,1,2.5\n7,0,-1\n", "007\t1\t2.5\n\"7\"\t0\t-1e0\n"] {
            let (_dir, path) = scratch("f.csv.gz", gzip(text));
            let found = read_node_features::<f64>(&path, None).unwrap();
            assert_eq!(found.ids, ["007", "7"], "{text}");
            assert_eq!(found.samples.into_dense(), faer::mat![[1.0, 2.5], [0.0, -1.0]]);
        }
    }

    #[test]
    fn rows_without_names_belong_to_the_nodes_that_are_listed() {
        let text = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 4\n2 3 5\n";
        let (_dir, path) = scratch("f.mtx", text);
        assert_eq!(read_node_features::<f64>(&path, None).unwrap().ids, ["0", "1"]);
        let nodes = ["x", "y"].map(String::from);
        assert_eq!(read_node_features::<f64>(&path, Some(&nodes)).unwrap().ids, nodes);
        assert_eq!(message("f.mtx", text, Some(&nodes[..1])), "f.mtx: has features of 2 nodes for 1 of --nodes");
    }

    #[test]
    fn errors_name_line_node_and_feature() {
        assert_eq!(
            message("f.csv", "id,age\na,3\nb,old\n", None),
            "f.csv:3: feature `age` of the node `b` is `old`; a number is expected"
        );
        assert_eq!(
            message("f.csv", "a,3\nb,NaN\n", None),
            "f.csv:2: feature 1 of the node `b` is `NaN`; a number is expected"
        );
        assert_eq!(message("f.csv", "a,3,4\nb,3\n", None), "f.csv:2: 2 columns; an id and 2 features are expected");
        assert_eq!(message("f.csv", "id,x\n", None), "f.csv: has no features");
        assert_eq!(message("f.csv", "id,x\n,1\n", None), "f.csv:2: a node id is empty");
        assert_eq!(message("f.csv", "a\nb\n", None), "f.csv:1: 1 columns; an id and 1 features are expected");
        assert!(message("f.csv", "a,1\na,2\n", None).contains("given twice for the node `a`"));
    }
}

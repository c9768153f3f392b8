//! Labels of a file and the samples they belong to.
//!
//! [`crate::data::io::read_labels`] gives pairs of id and label; [`classes_of`] puts them in the order of the samples.
//! The two are apart because labels may come in a file of their own, in any order and for some samples only.

use super::{is_npy, is_parquet, labels_are_whole};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::dataset::{Dataset, Target};
use crate::data::samples::Side;
use std::collections::{HashMap, HashSet};
use std::path::Path;

type Labels = [(String, String)];

/// What a single column of labels says of a sample whose label is not known.
pub const UNKNOWN: &str = "NaN";

/// The error about a vector of labels that does not belong to the samples: it has no ids, so only its length can be
/// compared.
pub fn wrong_count(path: &Path, found: usize, expected: usize) -> Error {
    Error::parse(path.display().to_string(), format!("has {found} labels for {expected} samples"))
}

/// The labels of a single column, which must be one for each sample; a first line of text that is one too many is a header.
///
/// # Errors
/// [`Error::Parse`] for another number of labels.
pub fn one_each(path: &Path, labels: &Labels, count: usize) -> Result<Vec<(String, String)>> {
    let header = usize::from(labels.len() == count + 1 && !is_npy(path) && !is_parquet(path));
    if labels.len() - header != count {
        return Err(wrong_count(path, labels.len(), count));
    }
    let own = labels[header..].iter().enumerate();
    Ok(own.map(|(i, (_, label))| (i.to_string(), label.clone())).collect())
}

/// One class per row sample from pairs of id and label; rows of tables are called 0, 1, 2, …
///
/// Samples that no pair names have no class. Classes are numbered in the order of their first appearance, whole numbers
/// in their own order.
///
/// ```
/// use lopsided::data::io::classes_of;
/// use lopsided::{Dataset, Mat, Samples, Target};
/// use std::path::Path;
///
/// let data = Dataset::new(Samples::Dense(Mat::<f64>::zeros(3, 1)));
/// let labels = [("2", "10"), ("0", "9")].map(|(id, label)| (id.to_string(), label.to_string()));
/// let Target::Classes { names, codes } = classes_of(Path::new("y.csv"), &data, &labels)? else { panic!("values") };
/// assert_eq!((names, codes), (vec!["9".to_string(), "10".to_string()], vec![Some(0), None, Some(1)]));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parse`] for a label of a sample that does not exist, and for a single column of another length.
pub fn classes_of<T: Scalar>(path: &Path, data: &Dataset<T>, labels: &Labels) -> Result<Target> {
    let ids: Vec<String> = (0..data.x.count()).map(|i| data.id(Side::Row, i)).collect();
    let vector = labels_are_whole(path);
    let labels = if vector { one_each(path, labels, ids.len())? } else { labels.to_vec() };
    let known: Vec<(String, String)> = labels.into_iter().filter(|(_, label)| !vector || label != UNKNOWN).collect();
    let labels = &known[..];
    let rows: HashMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let names = class_names(labels);
    let codes: HashMap<&str, u32> = names.iter().zip(0..).map(|(name, code)| (name.as_str(), code)).collect();
    let mut out = vec![None; ids.len()];
    for (id, label) in labels {
        let row = rows.get(id.as_str()).ok_or_else(|| unknown(path, labels, id, (&rows, data.frame.is_some())))?;
        out[*row] = codes.get(label.as_str()).copied();
    }
    Ok(Target::Classes { names, codes: out })
}

/// The error about labels of samples that do not exist: how many there are, and the first of them.
fn unknown(path: &Path, labels: &Labels, first: &str, (rows, nodes): (&HashMap<&str, usize>, bool)) -> Error {
    let count = labels.iter().filter(|(id, _)| !rows.contains_key(id.as_str())).count();
    let reason = match (nodes, count) {
        (false, _) => format!("labels `{first}`, but the samples are 0 to {}", rows.len().max(1) - 1),
        (true, 1) => format!("labels the node `{first}`, which no link names; --nodes can say that it exists"),
        (true, _) => {
            format!("labels {count} nodes that no link names, `{first}` the first; --nodes can say that they exist")
        }
    };
    Error::parse(path.display().to_string(), reason)
}

/// Different labels: whole numbers in their order, others as they first appear.
fn class_names(labels: &Labels) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names: Vec<String> =
        labels.iter().map(|(_, label)| label.clone()).filter(|l| seen.insert(l.clone())).collect();
    if names.iter().all(|name| name.parse::<i64>().is_ok()) {
        names.sort_by_key(|name| name.parse::<i64>().unwrap_or_default());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_the_samples() {
        let data = Dataset::new(crate::data::samples::Samples::Dense(faer::Mat::<f64>::zeros(3, 1)));
        let labels =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect::<Vec<_>>();
        let target = classes_of(Path::new("l.csv"), &data, &labels(&[("2", "10"), ("0", "9")])).unwrap();
        assert_eq!(
            target,
            Target::Classes { names: vec!["9".into(), "10".into()], codes: vec![Some(0), None, Some(1)] }
        );
        let error = classes_of(Path::new("l.csv"), &data, &labels(&[("7", "a")])).unwrap_err().to_string();
        assert_eq!(error, "l.csv: labels `7`, but the samples are 0 to 2");
        let graph = crate::data::graph::Graph::new(vec!["7".into(), "a".into()], &[(0, 1, 1.0)]).unwrap();
        let nodes = Dataset::<f64>::from_graph(&graph, &crate::data::graph::GraphRule::default()).unwrap();
        let refused = |pairs| classes_of(Path::new("l.csv"), &nodes, &labels(pairs)).unwrap_err().to_string();
        assert_eq!(
            refused(&[("8", "x"), ("7", "y")]),
            "l.csv: labels the node `8`, which no link names; --nodes can say that it exists"
        );
        assert_eq!(
            refused(&[("7", "y"), ("b", "x"), ("c", "x")]),
            "l.csv: labels 2 nodes that no link names, `b` the first; --nodes can say that they exist"
        );
    }
}

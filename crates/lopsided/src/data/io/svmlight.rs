//! svmlight (LIBSVM): `label index:value … # comment`, one sample per line.
//!
//! Indices start at 1; when an index 0 occurs anywhere they all start at 0.
//!
//! Indices ascend within a line. `qid:` fields are skipped, several labels on a line are refused. The width is that of
//! the largest index that occurs.

use super::labels::Labels;
use super::matrix::check_sparse;
use super::source::Source;
use super::{Reasoned, Table, TargetColumn};
use crate::base::error::{Error, Result};
use crate::base::memory::Meter;
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, Samples};

const LABEL: &str = "label";

/// The samples and their labels.
pub(super) fn read<T: Scalar>(source: Source, target: &TargetColumn) -> Result<Table<T>> {
    check_target(target)?;
    let mut lines = source.lines();
    let mut rows = Rows { indptr: vec![0], indices: Vec::new(), values: Vec::new(), labels: Labels::default() };
    let meter = Meter::new(lines.name());
    while lines.advance_to_data()? {
        rows.push(lines.line()).map_err(|reason| lines.error(reason))?;
        meter.holds(rows.indices.len() * (4 + T::BYTES) + rows.indptr.len() * 8)?;
    }
    let (samples, labels) = rows.finish(lines.name())?;
    let target = (*target != TargetColumn::None).then(|| (LABEL.to_owned(), labels.finish()));
    Ok(Table { samples, columns: None, target, notes: Vec::new() })
}

/// Refuses a label column that svmlight does not have.
pub(super) fn check_target(target: &TargetColumn) -> Result<()> {
    match target {
        TargetColumn::Named(name) if name != LABEL => {
            Err(Error::Unknown { kind: "column", name: name.clone(), known: vec![LABEL.into()] })
        }
        _ => Ok(()),
    }
}

/// The label of a line, whose entries are appended to the two lists.
pub(super) fn parse_line<'a, T: Scalar>(
    line: &'a str,
    indices: &mut Vec<u32>,
    values: &mut Vec<T>,
) -> Reasoned<&'a str> {
    let data = line.split('#').next().unwrap_or_default();
    let mut words = data.split_ascii_whitespace();
    let label = words.next().unwrap_or_default();
    check_label(label)?;
    let start = indices.len();
    for word in words.filter(|word| !word.starts_with("qid:")) {
        let (index, value) = entry(word)?;
        match indices[start..].last() {
            Some(&last) if last >= index => return Err(format!("index {index} follows {last}; indices must ascend")),
            _ => {}
        }
        indices.push(index);
        values.push(T::of(value));
    }
    Ok(label)
}

/// `index:value`.
fn entry(word: &str) -> Reasoned<(u32, f64)> {
    let (index, value) = word.split_once(':').ok_or_else(|| format!("`{word}` is not of the form index:value"))?;
    let index: u32 = index.parse().map_err(|_| format!("index `{index}` is not a whole number from 0"))?;
    let value = value.parse().map_err(|_| format!("value `{value}` of index {index} is not a number"))?;
    Ok((index, value))
}

/// The arrays of a sparse matrix under construction, with indices as the file has them.
struct Rows<T> {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
    labels: Labels,
}

impl<T: Scalar> Rows<T> {
    fn push(&mut self, line: &str) -> Reasoned<()> {
        if line.trim_ascii_start().starts_with('#') {
            return Ok(());
        }
        self.labels.push(parse_line(line, &mut self.indices, &mut self.values)?);
        self.indptr.push(self.indices.len());
        Ok(())
    }

    /// Moves the indices to start at 0, which can be done only when all are known.
    fn finish(mut self, name: &str) -> Result<(Samples<T>, Labels)> {
        let least = self.indices.iter().min().copied().unwrap_or_default();
        let most = self.indices.iter().max().map_or(0, |&m| m as usize + 1);
        let base = u32::from(least > 0);
        self.indices.iter_mut().for_each(|index| *index -= base);
        let cols = most - base as usize;
        check_sparse(name, self.indptr.len() - 1, cols, self.indices.len())?;
        Ok((Samples::Sparse(Csr::new(cols, self.indptr, self.indices, self.values)?), self.labels))
    }
}

/// A line without a label, or with several, would be misread otherwise.
fn check_label(label: &str) -> Reasoned<()> {
    if label.contains(':') {
        return Err(format!("the line starts with `{label}` instead of a label"));
    }
    if label.contains(',') {
        return Err(format!("`{label}` are several labels; one per line is allowed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dense_rows, scratch};
    use super::*;
    use crate::data::dataset::Target;

    fn table(text: &str, target: &TargetColumn) -> Result<Table<f64>> {
        let (_dir, path) = scratch("s.svm", text);
        read(Source::open(&path)?, target)
    }

    fn message(text: &str) -> String {
        let error = table(text, &TargetColumn::Last).unwrap_err().to_string();
        error[error.find("s.svm").unwrap()..].to_owned()
    }

    #[test]
    fn rows_are_sparse_and_labelled() {
        let table = table("# head\n+1 qid:3 1:0.5 3:2 # c\n-1\n\n+1 2:1\n", &TargetColumn::Last).unwrap();
        assert_eq!(dense_rows(&table.samples), [[0.5, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let expected = Target::Classes { names: vec!["-1".into(), "1".into()], codes: vec![Some(1), Some(0), Some(1)] };
        assert_eq!(table.target.unwrap(), ("label".into(), expected));
    }

    #[test]
    fn an_index_of_zero_makes_all_count_from_zero() {
        let table = table("1.5 1:1\n2 0:3\n", &TargetColumn::None).unwrap();
        assert_eq!(dense_rows(&table.samples), [[0.0, 1.0], [3.0, 0.0]]);
        assert!(table.target.is_none());
    }

    #[test]
    fn errors_name_line_and_value() {
        assert_eq!(message("1 1:1\n1 2:1 2:3\n"), "s.svm:2: index 2 follows 2; indices must ascend");
        assert_eq!(message("1 x:1\n"), "s.svm:1: index `x` is not a whole number from 0");
        assert_eq!(message("1 1:x\n"), "s.svm:1: value `x` of index 1 is not a number");
        assert_eq!(message("1 7\n"), "s.svm:1: `7` is not of the form index:value");
        assert_eq!(message("1,2 1:1\n"), "s.svm:1: `1,2` are several labels; one per line is allowed");
        assert_eq!(message("1:1\n"), "s.svm:1: the line starts with `1:1` instead of a label");
        assert_eq!(message("1\n"), "s.svm: has no columns");
        assert_eq!(message(""), "s.svm: has no rows");
        assert!(message("1 4294967295:1\n").contains("is too empty to be meant"));
        assert!(table("1 1:1\n", &TargetColumn::Named("y".into())).is_err());
    }
}

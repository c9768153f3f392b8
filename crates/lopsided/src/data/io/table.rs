//! Tables: separated rows of numbers, usually under a header, perhaps with a label column.
//!
//! 1. The separator is the most frequent of comma, tab and semicolon in the first line of data.
//! 2. The first line is a header unless all of its fields are numbers or missing.
//! 3. With a header the label column is the one that is named, or the last; without one there is none.
//! 4. All other fields are numbers, or one of the words for a missing value, which becomes NaN.

use super::fields::Separator;
use super::labels::{Labels, is_missing};
use super::matrix::{Order, dense};
use super::source::Source;
use super::{Table, TargetColumn};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::io::BufRead;

/// The table and its label column.
pub(super) fn read<T: Scalar>(mut source: Source, target: &TargetColumn) -> Result<Table<T>> {
    let name = source.name().to_owned();
    let first = source.peek()?;
    let separator = first.first().and_then(|line| Separator::detect(line));
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .delimiter(separator.map_or(b',', Separator::byte))
        .from_reader(source.reader());
    let mut record = ByteRecord::new();
    if !next(&name, &mut reader, &mut record)? {
        return Err(Error::parse(name, "has no rows"));
    }
    let columns = Columns::new(&name, &record, target)?;
    let pending = columns.names.is_none();
    Rows::new(&name, &columns).read(&mut reader, &mut record, pending)?.finish(columns)
}

/// The next record; false at the end.
fn next(name: &str, reader: &mut Reader<Box<dyn BufRead>>, record: &mut ByteRecord) -> Result<bool> {
    reader.read_byte_record(record).map_err(|e| match e.into_kind() {
        csv::ErrorKind::Io(source) => Error::io(name, source),
        other => Error::parse(name, format!("{other:?}")),
    })
}

/// A number or a missing value (NaN).
fn number(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field.trim_ascii()).ok()?;
    text.parse().ok().or_else(|| is_missing(text).then_some(f64::NAN))
}

/// Which column is what.
struct Columns {
    names: Option<Vec<String>>,
    width: usize,
    target: Option<usize>,
    notes: Vec<String>,
}

impl Columns {
    /// Steps 2 and 3. A header with a number that is not whole is suspicious, and a remark says so.
    fn new(name: &str, first: &ByteRecord, target: &TargetColumn) -> Result<Self> {
        let numbers = first.iter().filter(|field| number(field).is_some()).count();
        if numbers == first.len() {
            return Columns::without_header(name, first.len(), target);
        }
        let names: Vec<String> = first.iter().map(|f| String::from_utf8_lossy(f.trim_ascii()).into_owned()).collect();
        let (target, mut notes) = target_position(name, &names, target)?;
        if let Some(odd) = first.iter().position(|f| number(f).is_some_and(|v| v.fract() != 0.0)) {
            notes.push(format!("the first line is taken as the header although it holds the number {}", names[odd]));
        }
        Ok(Columns { width: names.len(), names: Some(names), target, notes })
    }

    fn without_header(name: &str, width: usize, target: &TargetColumn) -> Result<Self> {
        let notes = match target {
            TargetColumn::None => Vec::new(),
            TargetColumn::Last => vec!["there is no header, so all columns are data and none is the label".into()],
            TargetColumn::Named(label) => {
                return Err(Error::parse(name, format!("has no header, so there is no label column `{label}`")));
            }
        };
        Ok(Columns { names: None, width, target: None, notes })
    }

    fn label(&self, column: usize) -> String {
        match &self.names {
            Some(names) => format!("`{}`", names[column]),
            None => (column + 1).to_string(),
        }
    }
}

/// Position of the label column among `names`, and a remark when it was not asked for by name.
pub(super) fn target_position(
    file: &str,
    names: &[String],
    target: &TargetColumn,
) -> Result<(Option<usize>, Vec<String>)> {
    match (target, names) {
        (TargetColumn::None, _) | (_, []) => Ok((None, Vec::new())),
        (TargetColumn::Named(wanted), _) => match names.iter().position(|name| name == wanted) {
            None => Err(Error::Unknown { kind: "column", name: wanted.clone(), known: names.to_vec() }),
            Some(_) if names.len() == 1 => {
                Err(Error::parse(file, format!("has no data columns beside the label `{wanted}`")))
            }
            found => Ok((found, Vec::new())),
        },
        (TargetColumn::Last, [only]) => Ok((None, vec![format!("the only column `{only}` is taken as data")])),
        (TargetColumn::Last, [.., last]) => {
            let note = format!("column `{last}` is taken as the label; --target none keeps it as data");
            Ok((Some(names.len() - 1), vec![note]))
        }
    }
}

/// The rows read so far.
struct Rows<'a, T> {
    name: &'a str,
    columns: &'a Columns,
    values: Vec<T>,
    labels: Labels,
    count: usize,
}

impl<'a, T: Scalar> Rows<'a, T> {
    fn new(name: &'a str, columns: &'a Columns) -> Self {
        Rows { name, columns, values: Vec::new(), labels: Labels::default(), count: 0 }
    }

    /// Reads to the end; `pending` says that `record` already holds the first row.
    fn read(
        mut self,
        reader: &mut Reader<Box<dyn BufRead>>,
        record: &mut ByteRecord,
        pending: bool,
    ) -> Result<Parsed<T>> {
        if pending {
            self.push(record)?;
        }
        while next(self.name, reader, record)? {
            self.push(record)?;
        }
        Ok(Parsed { name: self.name.to_owned(), values: self.values, labels: self.labels, count: self.count })
    }

    fn push(&mut self, record: &ByteRecord) -> Result<()> {
        let width = self.columns.width;
        if record.len() != width {
            return Err(self.error(record, format!("{} columns instead of {width}", record.len())));
        }
        for (column, field) in record.iter().enumerate() {
            if self.columns.target == Some(column) {
                let text = std::str::from_utf8(field).map_err(|_| self.error(record, "a label is not UTF-8 text"))?;
                self.labels.push(text);
            } else {
                let value = number(field).ok_or_else(|| self.not_a_number(record, column))?;
                self.values.push(T::of(value));
            }
        }
        self.count += 1;
        Ok(())
    }

    /// The error about text in a data column; in a narrow table the user may have meant links.
    fn not_a_number(&self, record: &ByteRecord, column: usize) -> Error {
        let field = String::from_utf8_lossy(&record[column]);
        let hint = if record.len() <= 3 { "; links between names are read as format `edges`" } else { "" };
        self.error(record, format!("column {}: `{field}` is not a number{hint}", self.columns.label(column)))
    }

    fn error(&self, record: &ByteRecord, reason: impl Into<String>) -> Error {
        let line = record.position().map_or(0, csv::Position::line);
        Error::parse(format!("{}:{line}", self.name), reason)
    }
}

struct Parsed<T> {
    name: String,
    values: Vec<T>,
    labels: Labels,
    count: usize,
}

impl<T: Scalar> Parsed<T> {
    fn finish(self, columns: Columns) -> Result<Table<T>> {
        let data = columns.width - usize::from(columns.target.is_some());
        let samples = dense(&self.name, (self.count, data), self.values, Order::Rows)?;
        let (mut names, mut target) = (columns.names, None);
        if let (Some(names), Some(at)) = (&mut names, columns.target) {
            target = Some((names.remove(at), self.labels.finish()));
        }
        Ok(Table { samples, columns: names, target, notes: columns.notes })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dense_rows, scratch};
    use super::*;
    use crate::data::dataset::Target;

    fn table(text: &str, target: &TargetColumn) -> Result<Table<f64>> {
        let (_dir, path) = scratch("t.csv", text);
        read(Source::open(&path)?, target)
    }

    fn message(text: &str, target: &TargetColumn) -> String {
        let error = table(text, target).unwrap_err().to_string();
        error[error.find("t.csv").unwrap_or(0)..].to_owned()
    }

    fn named(name: &str) -> TargetColumn {
        TargetColumn::Named(name.into())
    }

    #[test]
    fn the_last_column_is_the_label() {
        for text in ["a,b,kind\n1,2.5,x\n-3,1e2,y\n", "\u{feff}a;\"b\"; kind\n1;2.5;x\n\n# c\n-3;1e2;y"] {
            let table = table(text, &TargetColumn::Last).unwrap();
            assert_eq!(dense_rows(&table.samples), [[1.0, 2.5], [-3.0, 100.0]]);
            assert_eq!(table.columns.unwrap(), ["a", "b"]);
            let codes = vec![Some(0), Some(1)];
            assert_eq!(
                table.target.unwrap(),
                ("kind".into(), Target::Classes { names: vec!["x".into(), "y".into()], codes })
            );
            assert_eq!(table.notes, ["column `kind` is taken as the label; --target none keeps it as data"]);
        }
    }

    #[test]
    fn the_label_can_be_named_or_absent() {
        let text = "y\tb\n0.5\t1\n1\t2\n";
        let chosen = table(text, &named("y")).unwrap();
        assert_eq!(chosen.target.unwrap(), ("y".into(), Target::Values(vec![0.5, 1.0])));
        assert_eq!(dense_rows(&chosen.samples), [[1.0], [2.0]]);
        let none = table(text, &TargetColumn::None).unwrap();
        assert_eq!(dense_rows(&none.samples), [[0.5, 1.0], [1.0, 2.0]]);
        assert!(none.target.is_none() && none.notes.is_empty());
    }

    #[test]
    fn numbers_alone_have_no_header() {
        let table = table("1,2,3,4\n5,6,7,8\n", &TargetColumn::Last).unwrap();
        assert_eq!(dense_rows(&table.samples), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
        assert!(table.columns.is_none() && table.target.is_none());
        assert_eq!(table.notes, ["there is no header, so all columns are data and none is the label"]);
    }

    #[test]
    fn missing_values_are_nan() {
        let table = table("a,b\n,NA\nnan,?\n1,2\n", &TargetColumn::None).unwrap();
        let rows = dense_rows(&table.samples);
        assert!(rows[..2].iter().flatten().all(|v| v.is_nan()));
        assert_eq!(rows[2], [1.0, 2.0]);
    }

    #[test]
    fn a_header_with_fractions_is_remarked() {
        let table = table("5.1,3.5,setosa\n4.9,3,setosa\n", &TargetColumn::Last).unwrap();
        assert_eq!(table.notes[1], "the first line is taken as the header although it holds the number 5.1");
    }

    #[test]
    fn errors_name_line_and_column() {
        let last = TargetColumn::Last;
        assert_eq!(message("a,b,c,d\n1,2,3,4\n1,x,3,4\n", &last), "t.csv:3: column `b`: `x` is not a number");
        assert_eq!(message("1,2,3,4\n1,2,3,z\n", &last), "t.csv:2: column 4: `z` is not a number");
        assert!(message("ann,bob\ncid,ann\n", &last).ends_with("links between names are read as format `edges`"));
        assert_eq!(message("a,b\n1,2\n1\n", &last), "t.csv:3: 1 columns instead of 2");
        assert_eq!(message("a,b\n", &last), "t.csv: has no rows");
        assert_eq!(message("", &last), "t.csv: has no rows");
        assert_eq!(message("a,b\n1,2\n", &named("c")), "no column `c`; known: a, b");
        assert_eq!(message("a\n1\n", &named("a")), "t.csv: has no data columns beside the label `a`");
        assert_eq!(message("1,2\n", &named("y")), "t.csv: has no header, so there is no label column `y`");
    }
}

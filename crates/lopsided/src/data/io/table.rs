//! Tables: separated rows of numbers and words, usually under a header, perhaps with a label column.
//!
//! 1. The separator is the most frequent of comma, tab and semicolon in the first line of data.
//! 2. The first line is a header unless all of its fields are numbers or missing.
//! 3. With a header the label column is the one that is named, or the last; without one there is none.
//! 4. A data column is one of numbers if all of its fields are numbers, missing (NaN), or all `true` and `false` (1 and 0). A
//!    column of other texts is one of words. Of one that mixes both, numbers that are in the majority make the texts mistakes;
//!    else all are words. Dates are neither.
//!
//! The text is held while it is read: whether a column has words is known at the end only, and then it is read a second time.

use super::dates::is_date;
use super::fields::Separator;
use super::headings::Headings;
use super::labels::{Labels, is_missing};
use super::matrix::{Order, dense};
use super::source::Source;
use super::{ReadOptions, Table};
use crate::base::error::{Error, Result};
use crate::base::memory::Meter;
use crate::base::scalar::Scalar;
use crate::data::columns::{Column, WordsBuilder};
use csv::{ByteRecord, Reader, ReaderBuilder};
use std::borrow::Cow;

/// The table and its label column.
pub(super) fn read<T: Scalar>(mut source: Source, options: &ReadOptions) -> Result<Table<T>> {
    let name = source.name().to_owned();
    let separator = source.peek()?.first().and_then(|line| Separator::detect(line));
    let bytes = source.whole()?;
    let text = Text { name: &name, bytes: &bytes, separator: separator.map_or(b',', Separator::byte) };
    let mut record = ByteRecord::new();
    if !text.next(&mut text.records(), &mut record)? {
        return Err(Error::parse(name, "has no rows"));
    }
    let numbers = record.iter().all(|field| number(field).is_some());
    let headings = if numbers {
        Headings::without_header(&name, record.len(), options)?
    } else {
        Headings::of_header(&name, header(&record), options)?
    };
    Collected::read(&text, headings, options)?.finish(&text)
}

/// The names in the first line.
fn header(first: &ByteRecord) -> Vec<String> {
    first.iter().map(|f| String::from_utf8_lossy(f.trim_ascii()).into_owned()).collect()
}

/// The whole file, which can be read again.
struct Text<'a> {
    name: &'a str,
    bytes: &'a [u8],
    separator: u8,
}

impl<'a> Text<'a> {
    fn records(&self) -> Reader<&'a [u8]> {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(self.separator);
        builder.from_reader(self.bytes)
    }

    /// The next record; false at the end.
    fn next(&self, reader: &mut Reader<&'a [u8]>, record: &mut ByteRecord) -> Result<bool> {
        reader.read_byte_record(record).map_err(|e| match e.into_kind() {
            csv::ErrorKind::Io(source) => Error::io(self.name, source),
            other => Error::parse(self.name, format!("{other:?}")),
        })
    }

    /// Shows all rows below the header.
    fn for_each(&self, header: bool, mut row: impl FnMut(&ByteRecord) -> Result<()>) -> Result<()> {
        let (mut reader, mut record, mut first) = (self.records(), ByteRecord::new(), header);
        while self.next(&mut reader, &mut record)? {
            if !std::mem::take(&mut first) {
                row(&record)?;
            }
        }
        Ok(())
    }

    /// The line that has a byte, counted from 1; ends of lines and comments before a record belong to it.
    fn line(&self, byte: u64) -> usize {
        let mut at = (byte as usize).min(self.bytes.len());
        while let Some(first) = self.bytes.get(at) {
            match first {
                b'\r' | b'\n' => at += 1,
                b'#' => at += self.bytes[at..].iter().take_while(|b| **b != b'\n').count(),
                _ => break,
            }
        }
        self.bytes[..at].split(|b| *b == b'\n').count()
    }

    /// The place of a record, as messages write it.
    fn place(&self, byte: u64) -> String {
        format!("{}:{}", self.name, self.line(byte))
    }
}

/// Where a record starts.
fn start(record: &ByteRecord) -> u64 {
    record.position().map_or(0, csv::Position::byte)
}

/// A number or a missing value (NaN).
fn number(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field.trim_ascii()).ok()?;
    text.parse().ok().or_else(|| is_missing(text).then_some(f64::NAN))
}

/// Whether the field is `true` or `false`.
fn flag(field: &[u8]) -> Option<bool> {
    let field = field.trim_ascii();
    match (field.eq_ignore_ascii_case(b"true"), field.eq_ignore_ascii_case(b"false")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// A field as text.
fn text_of(field: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(field.trim_ascii())
}

/// A data column after the first reading.
struct Cells {
    /// Place in the file.
    place: usize,
    /// To be taken as words, whatever it holds.
    forced: bool,
    values: Vec<f64>,
    numbers: usize,
    texts: usize,
    flags: usize,
    dates: usize,
    /// Start of the row and contents of the first text.
    first: Option<(u64, String)>,
    words: Option<WordsBuilder>,
}

impl Cells {
    fn new(place: usize, forced: bool) -> Self {
        Cells { place, forced, values: Vec::new(), numbers: 0, texts: 0, flags: 0, dates: 0, first: None, words: None }
    }

    fn push(&mut self, field: &[u8], start: u64) {
        let value = if self.forced { None } else { number(field) };
        self.values.push(value.unwrap_or(f64::NAN));
        if let Some(value) = value {
            self.numbers += usize::from(!value.is_nan());
            return;
        }
        let text = text_of(field);
        if is_missing(&text) {
            return;
        }
        self.texts += 1;
        self.flags += usize::from(flag(field).is_some());
        self.dates += usize::from(is_date(&text));
        self.first.get_or_insert_with(|| (start, text.into_owned()));
    }

    fn is_flags(&self) -> bool {
        !self.forced && self.texts > 0 && self.flags == self.texts && self.numbers == 0
    }

    /// Whether the column is one of words; a column that should not be is refused.
    fn has_words(&self, text: &Text<'_>, headings: &mut Headings) -> Result<bool> {
        let Some((start, first)) = self.first.as_ref().filter(|_| !self.is_flags()) else { return Ok(self.forced) };
        if self.forced {
            return Ok(true);
        }
        let label = headings.label(self.place);
        let total = self.numbers + self.texts;
        if self.numbers >= self.texts {
            let names = headings.bare(self.place);
            let advice = match headings.width() {
                0..=3 => "; links between names are read as format `edges`".to_string(),
                _ => format!(
                    ", as {} of its {total} values are: write NA where there is none, or take all as words with --categories \"{names}\"",
                    self.numbers
                ),
            };
            return Err(Error::parse(text.place(*start), format!("column {label}: `{first}` is not a number{advice}")));
        }
        if self.dates == self.texts && self.numbers == 0 {
            return Err(super::dates::refused(&text.place(*start), &label, headings.bare(self.place), first));
        }
        if self.numbers > 0 {
            headings.notes.push(format!(
                "column {label} holds text, `{first}` in line {} the first, beside {} numbers: all are taken as words",
                text.line(*start),
                self.numbers
            ));
        }
        Ok(true)
    }
}

/// All that the first reading finds.
struct Collected {
    headings: Headings,
    columns: Vec<Cells>,
    labels: Vec<Labels>,
    rows: usize,
    meter: Meter,
}

impl Collected {
    fn read(text: &Text<'_>, headings: Headings, options: &ReadOptions) -> Result<Self> {
        let forced = |place: &usize| options.categories.iter().any(|name| *name == headings.bare(*place));
        let columns = headings.data().iter().map(|place| Cells::new(*place, forced(place))).collect();
        let labels = headings.targets.iter().map(|_| Labels::default()).collect();
        let meter = Meter::new(text.name);
        let mut out = Collected { headings, columns, labels, rows: 0, meter };
        text.for_each(out.headings.has_header(), |record| out.push(text, record))?;
        if out.rows == 0 {
            return Err(Error::parse(text.name, "has no rows"));
        }
        Ok(out)
    }

    fn push(&mut self, text: &Text<'_>, record: &ByteRecord) -> Result<()> {
        let width = self.headings.width();
        if record.len() != width {
            return Err(Error::parse(
                text.place(start(record)),
                format!("{} columns instead of {width}", record.len()),
            ));
        }
        let start = start(record);
        self.columns.iter_mut().for_each(|column| column.push(&record[column.place], start));
        for (place, labels) in self.headings.targets.iter().zip(&mut self.labels) {
            let label = std::str::from_utf8(&record[*place]);
            labels.push(label.map_err(|_| Error::parse(text.place(start), "a label is not UTF-8 text"))?);
        }
        self.rows += 1;
        // The text, the values of the columns and those of the rows that they become.
        self.meter.holds(text.bytes.len() + 2 * 8 * self.rows * self.columns.len())
    }

    fn finish<T: Scalar>(mut self, text: &Text<'_>) -> Result<Table<T>> {
        for column in &mut self.columns {
            column.words = column.has_words(text, &mut self.headings)?.then(WordsBuilder::default);
        }
        self.leave_out_index();
        self.read_again(text)?;
        let (rows, columns) = (self.rows, &self.columns);
        let values = (0..rows).flat_map(|i| columns.iter().map(move |column| T::of(column.values[i]))).collect();
        let samples = dense(text.name, (rows, columns.len()), values, Order::Rows)?;
        let Collected { headings, columns, labels, .. } = self;
        let target = headings.target(text.name, labels)?;
        let named = |column: Cells| Column {
            name: headings.bare(column.place).to_owned(),
            words: column.words.map(WordsBuilder::finish),
        };
        let columns = headings.has_header().then(|| columns.into_iter().map(named).collect());
        Ok(Table { samples, columns, target, notes: headings.notes })
    }

    /// A first column without a name that counts the rows is an index, as data frames write it.
    fn leave_out_index(&mut self) {
        let Some(column) = self.columns.first().filter(|column| self.headings.is_unnamed(column.place)) else { return };
        let counts = |start: f64| column.values.iter().enumerate().all(|(i, v)| *v == start + i as f64);
        if column.place == 0 && self.columns.len() > 1 && (counts(0.0) || counts(1.0)) {
            self.columns.remove(0);
            self.headings
                .notes
                .push("the first column has no name and counts the rows: it is left out as an index".into());
        }
    }

    /// Texts of the columns that have any, now that they are known.
    fn read_again(&mut self, text: &Text<'_>) -> Result<()> {
        let flags: Vec<bool> = self.columns.iter().map(Cells::is_flags).collect();
        if self.columns.iter().zip(&flags).all(|(column, flags)| column.words.is_none() && !flags) {
            return Ok(());
        }
        let mut row = 0;
        text.for_each(self.headings.has_header(), |record| {
            for (column, flags) in self.columns.iter_mut().zip(&flags) {
                let field = &record[column.place];
                if let Some(words) = &mut column.words {
                    let word = text_of(field);
                    column.values[row] = f64::NAN;
                    words.push(Some(&*word).filter(|word| !is_missing(word)));
                } else if *flags {
                    column.values[row] = flag(field).map_or(f64::NAN, |flag| f64::from(u8::from(flag)));
                }
            }
            row += 1;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dense_rows, scratch};
    use super::*;
    use crate::data::dataset::Target;
    use crate::data::io::TargetColumn;

    fn table(text: &str, target: &TargetColumn) -> Result<Table<f64>> {
        let (_dir, path) = scratch("t.csv", text);
        read(Source::open(&path)?, &ReadOptions { target: target.clone(), ..ReadOptions::default() })
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
            assert_eq!(table.names().unwrap(), ["a", "b"]);
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
        assert_eq!(
            message("a,b,c,d\n1,2,3,4\n1,x,3,4\n", &last),
            "t.csv:3: column `b`: `x` is not a number, as 1 of its 2 values are: write NA where there is none, or take all as \
             words with --categories \"b\""
        );
        assert!(
            message("1,2,3,4\n1,2,3,z\n", &last).starts_with("t.csv:2: column 4: `z` is not a number, as 1 of its 2")
        );
        assert!(message("a,b\n1,2\nx,2\n", &last).ends_with("links between names are read as format `edges`"));
        assert_eq!(message("a,b\n1,2\n1\n", &last), "t.csv:3: 1 columns instead of 2");
        assert_eq!(message("a,b\n", &last), "t.csv: has no rows");
        assert_eq!(message("", &last), "t.csv: has no rows");
        assert_eq!(message("a,b\n1,2\n", &named("c")), "no column `c`; known: a, b");
        assert_eq!(message("a\n1\n", &named("a")), "t.csv: has no data columns beside the label `a`");
        assert_eq!(message("1,2\n", &named("y")), "t.csv: has no header, so there is no label column `y`");
    }

    fn words(table: &Table<f64>, column: usize) -> Vec<Option<&str>> {
        let words = table.columns.as_ref().unwrap()[column].words.as_ref().unwrap();
        (0..words.codes.len()).map(|row| words.get(row)).collect()
    }

    #[test]
    fn texts_are_words_and_flags_are_numbers() {
        let text = "size,city,wet,y\n1,\"Oslo, \"\"N\"\"\",True,0\n2,?,false,1\nNA,Ærø,,0\n";
        let table = table(text, &TargetColumn::Last).unwrap();
        assert_eq!(words(&table, 1), [Some("Oslo, \"N\""), None, Some("Ærø")]);
        let rows = dense_rows(&table.samples);
        assert!(rows.iter().all(|row| row[1].is_nan()) && rows[2][2].is_nan());
        assert_eq!((rows[0][2], rows[1][2]), (1.0, 0.0));
        assert!(table.columns.unwrap()[2].words.is_none());
    }

    #[test]
    fn mixed_columns_are_words_where_texts_are_more() {
        let found = table("a,b,c,y\n1,1,1,0\n1,x,1,1\n1,007,1,1\n1,z,1,1\n1,w,1,1\n", &TargetColumn::Last).unwrap();
        assert_eq!(words(&found, 1), [Some("1"), Some("x"), Some("007"), Some("z"), Some("w")]);
        assert!(found.notes[1].starts_with("column `b` holds text, `x` in line 3 the first, beside 2 numbers"));
        let (_dir, path) = scratch("t.csv", "a,b\n1,2\n01,3\n");
        let options =
            ReadOptions { target: TargetColumn::None, categories: vec!["a".into()], ..ReadOptions::default() };
        let forced: Table<f64> = read(Source::open(&path).unwrap(), &options).unwrap();
        assert_eq!(words(&forced, 0), [Some("1"), Some("01")]);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b,c,d", "# remark", "1,2,3,4", "", "\"1\",x,3,4", "1,2,3,4"].join(end);
            assert!(message(&text, &TargetColumn::Last).starts_with("t.csv:5: column `b`: `x`"), "{end:?}");
        }
    }

    #[test]
    fn dates_are_refused_with_what_to_do() {
        let error = message("when,b,c,d\n2024-05-01,1,2,3\n,1,2,3\n2024-05-02 10:00,1,2,4\n", &TargetColumn::Last);
        assert!(error.starts_with("t.csv:2: column `when` holds dates or times, such as `2024-05-01`"), "{error}");
        assert!(error.contains("--drop \"when\""), "{error}");
    }

    #[test]
    fn names_are_made_different_and_an_index_is_left_out() {
        let found = table(",a,a,y\n0,5,6,1\n1,7,8,2\n", &TargetColumn::Last).unwrap();
        assert_eq!(found.names().unwrap(), ["a", "a.2"]);
        assert_eq!(dense_rows(&found.samples), [[5.0, 6.0], [7.0, 8.0]]);
        assert!(found.notes.iter().any(|note| note.contains("2 columns are called `a`")), "{:?}", found.notes);
        assert!(found.notes.iter().any(|note| note.contains("left out as an index")), "{:?}", found.notes);
    }

    #[test]
    fn several_targets_are_named_together() {
        let found = table("a,b,\"c,d\"\n1,2,3.5\n4,5,6\n", &named("b,\"c,d\"")).unwrap();
        let Some((name, Target::Several { names, values })) = found.target else { panic!("one target") };
        assert_eq!((name.as_str(), names), ("b,\"c,d\"", vec!["b".to_string(), "c,d".to_string()]));
        assert_eq!(values, faer::mat![[2.0, 3.5], [5.0, 6.0]]);
        assert_eq!(dense_rows(&found.samples), [[1.0], [4.0]]);
        let error = message("a,b,c\n1,x,2\n2,y,3\n", &named("b,c"));
        assert!(error.ends_with("column `b`, one of several targets, holds text: `x`"), "{error}");
    }
}

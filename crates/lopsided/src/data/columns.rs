//! What the columns of a table are called, and the words of those that hold text.
//!
//! Samples are numbers. A column of text is NaN among them, so that nothing takes its words for numbers by mistake, and the
//! words stand beside: [`crate::estimators::Preparation`] turns them into numbers.

use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::{Samples, SamplesRef};
use faer::Mat;
use std::collections::HashMap;
use std::sync::Arc;

/// A column by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name, which no other column of the table has.
    pub name: String,
    /// Its words where it holds text.
    pub words: Option<Words>,
}

impl Column {
    /// A column of numbers.
    pub fn new(name: impl Into<String>) -> Self {
        Column { name: name.into(), words: None }
    }

    /// The column in some rows.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        Column { name: self.name.clone(), words: self.words.as_ref().map(|words| words.rows(rows)) }
    }
}

/// The texts of a column, each different one kept once.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// The different texts in the order of their first appearance; cloning does not copy them.
    pub names: Arc<Vec<String>>,
    /// Which of them each row has; `None` where it has none.
    pub codes: Vec<Option<u32>>,
}

impl Words {
    /// The words of all rows.
    ///
    /// ```
    /// use lopsided::data::columns::Words;
    ///
    /// let words = Words::of([Some("b"), None, Some("a"), Some("b")]);
    /// assert_eq!((&words.names[..], words.codes[3]), (&["b".to_string(), "a".to_string()][..], Some(0)));
    /// ```
    pub fn of<S: AsRef<str>>(texts: impl IntoIterator<Item = Option<S>>) -> Self {
        let mut builder = WordsBuilder::default();
        texts.into_iter().for_each(|text| builder.push(text.as_ref().map(AsRef::as_ref)));
        builder.finish()
    }

    /// The text of a row.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.codes[row].map(|code| self.names[code as usize].as_str())
    }

    /// The words of some rows.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        Words { names: self.names.clone(), codes: rows.iter().map(|&i| self.codes[i]).collect() }
    }
}

/// The words read so far.
#[derive(Default)]
pub(crate) struct WordsBuilder {
    names: Vec<String>,
    known: HashMap<String, u32>,
    codes: Vec<Option<u32>>,
}

impl WordsBuilder {
    /// Adds the text of the next row.
    pub(crate) fn push(&mut self, text: Option<&str>) {
        let code = text.map(|text| self.code(text));
        self.codes.push(code);
    }

    /// The number of a text, a new one where it was not seen before.
    fn code(&mut self, text: &str) -> u32 {
        if let Some(&code) = self.known.get(text) {
            return code;
        }
        let code = self.names.len() as u32;
        self.names.push(text.to_owned());
        self.known.insert(text.to_owned(), code);
        code
    }

    /// The different texts in the order in which they came, and the number of each row's.
    pub(crate) fn into_parts(self) -> (Vec<String>, Vec<Option<u32>>) {
        (self.names, self.codes)
    }

    pub(crate) fn finish(self) -> Words {
        Words { names: Arc::new(self.names), codes: self.codes }
    }
}

/// The cells of one column, for tables that are made in memory.
///
/// See [`crate::Dataset::from_columns`].
#[derive(Clone, Debug)]
pub enum Cells {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Text; `None` where one is missing.
    Texts(Vec<Option<String>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(values) => values.len(),
            Cells::Texts(texts) => texts.len(),
        }
    }
}

/// Samples with NaN in columns of text, and what the columns are.
pub(crate) fn table_of<T: Scalar>(columns: Vec<(String, Cells)>) -> Result<(Samples<T>, Vec<Column>)> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    if let Some((name, cells)) = columns.iter().find(|(_, cells)| cells.len() != rows) {
        return Err(Error::shape(format!("the length of column `{name}`"), rows, cells.len()));
    }
    check_names(columns.iter().map(|(name, _)| name.as_str()))?;
    let value = |i: usize, j: usize| match &columns[j].1 {
        Cells::Numbers(values) => T::of(values[i]),
        Cells::Texts(_) => T::of(f64::NAN),
    };
    let x = Samples::Dense(Mat::from_fn(rows, columns.len(), value));
    let column = |(name, cells): (String, Cells)| match cells {
        Cells::Numbers(_) => Column::new(name),
        Cells::Texts(texts) => Column { name, words: Some(Words::of(texts)) },
    };
    Ok((x, columns.into_iter().map(column).collect()))
}

/// Refuses two columns of one name.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(Error::param("columns", format!("`{name}` twice"), "of different names")),
        None => Ok(()),
    }
}

/// Values that are missing, by column: its name as messages write it, and how many.
pub fn missing<T: Scalar>(x: SamplesRef<'_, T>, columns: Option<&[Column]>) -> Vec<(String, usize)> {
    let SamplesRef::Dense(x) = x else { return Vec::new() };
    let of = |j: usize| {
        let column = columns.map(|columns| &columns[j]);
        let label = column.map_or_else(|| (j + 1).to_string(), |column| format!("`{}`", column.name));
        let count = match column.and_then(|column| column.words.as_ref()) {
            Some(words) => words.codes.iter().filter(|code| code.is_none()).count(),
            None => x.col(j).iter().filter(|v| num_traits::Float::is_nan(**v)).count(),
        };
        (label, count)
    };
    (0..x.ncols()).map(of).filter(|(_, count)| *count > 0).collect()
}

/// [`Error::Missing`] if a value is missing, unless they are filled; [`Error::NotFinite`] for an infinite one.
///
/// `what` names the table in the message.
pub fn check_cells<T: Scalar>(
    x: SamplesRef<'_, T>,
    columns: Option<&[Column]>,
    filled: bool,
    what: &str,
) -> Result<()> {
    let SamplesRef::Dense(dense) = x else { return x.check_finite(what) };
    let absent = missing(x, columns);
    if !filled && !absent.is_empty() {
        return Err(Error::Missing { what: what.into(), columns: absent });
    }
    let infinite = |i: usize, j: usize| num_traits::Float::is_infinite(dense[(i, j)]);
    for col in 0..dense.ncols() {
        if let Some(row) = (0..dense.nrows()).find(|&row| infinite(row, col)) {
            return Err(Error::NotFinite { what: what.into(), value: dense[(row, col)].to_string(), row, col });
        }
    }
    Ok(())
}

/// [`Error::Parse`] for a table with a column of text, where only numbers will do.
pub fn refuse_words(columns: Option<&[Column]>, what: &str, who: &str) -> Result<()> {
    let text = columns.into_iter().flatten().find_map(|column| {
        let words = column.words.as_ref()?;
        let row = words.codes.iter().position(Option::is_some)?;
        Some((&column.name, words.get(row)?, row))
    });
    match text {
        Some((name, word, row)) => {
            let place = format!("column `{name}` holds text, `{word}` in row {row} the first");
            Err(Error::parse(what, format!("{place}; {who}")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_text_are_no_numbers() {
        let columns = vec![
            ("a".to_string(), Cells::Numbers(vec![1.0, f64::NAN])),
            ("b".to_string(), Cells::Texts(vec![None, Some("x".into())])),
        ];
        let (x, columns) = table_of::<f64>(columns).unwrap();
        assert!(x.check_finite("x").is_err());
        let absent = missing(x.as_ref(), Some(&columns));
        assert_eq!(absent, [("`a`".to_string(), 1), ("`b`".to_string(), 1)]);
        let error = check_cells(x.as_ref(), Some(&columns), false, "t").unwrap_err().to_string();
        assert_eq!(error, "t: 2 values are missing: 1 in column `a`, 1 in column `b`");
        assert!(check_cells(x.as_ref(), Some(&columns), true, "t").is_ok());
        let error = refuse_words(Some(&columns), "t", "numbers are needed").unwrap_err().to_string();
        assert_eq!(error, "t: column `b` holds text, `x` in row 1 the first; numbers are needed");
    }

    #[test]
    fn columns_have_one_length_and_names_of_their_own() {
        let numbers = |name: &str, n: usize| (name.to_string(), Cells::Numbers(vec![0.0; n]));
        let error = |columns| table_of::<f64>(columns).unwrap_err().to_string();
        assert_eq!(error(vec![numbers("a", 2), numbers("b", 3)]), "the length of column `b` is 3 but must be 2");
        assert_eq!(
            error(vec![numbers("a", 2), numbers("a", 2)]),
            "`columns` is `a` twice but must be of different names"
        );
    }
}

//! Streams of trials for online learning, read line by line.

use super::fields::Separator;
use super::source::{Lines, Source, extension, is_stdin};
use super::{Format, Reasoned, is_svmlight, svmlight};
use crate::base::error::{Error, Result};
use crate::data::samples::{Csr, Samples};
use faer::Mat;
use std::path::Path;

/// Coordinates of a sparse vector: every index fits, so that no line is too wide.
const SPARSE_WIDTH: usize = 1 << 32;

/// One trial as it stands in the stream.
#[derive(Clone, Debug)]
pub struct TrialRecord {
    /// The left vectors, one row for each term of the instance.
    pub x: Samples<f64>,
    /// The right vectors, where there are any.
    pub z: Option<Samples<f64>>,
    /// A weight for each term; empty means 1.
    pub weights: Vec<f64>,
    /// The label, where there is one.
    pub label: Option<f64>,
}

/// Reads trials one after the other; a trial is returned as soon as its lines are there.
///
/// | format | lines |
/// | --- | --- |
/// | `csv` | a header, then a row for each trial: columns `x…` (left), `y…` (right), `label`, `weight`, `trial` |
/// | `svmlight` | `label i:v … \| j:v …`: left, a bar, right; `\|\|` stands before each further term of an instance |
///
/// In a table `label`, `weight` and `trial` are optional; neighbouring rows with the same entry under `trial` are the
/// terms of one instance. In svmlight an instance without bars is symmetric. Lines that are empty or begin with `#` or
/// `%` are skipped; both formats may be gzipped, and `-` is standard input.
///
/// An instance is X_t = Σ_k w_k·x_k·z_kᵀ (\[KMU\]), or Σ_k w_k·x_k·x_kᵀ without a right side.
///
/// ```
/// use lopsided::data::io::TrialReader;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("pairs.csv");
/// std::fs::write(&path, "trial,x1,x2,y1,label\n1,1,0,2,0.5\n1,0,1,3,0.5\n2,1,1,1,-1\n").unwrap();
/// let mut trials = TrialReader::open(&path, None)?;
/// let first = trials.next_trial()?.unwrap();
/// assert_eq!((first.x.count(), first.x.width(), first.label), (2, 2, Some(0.5))); // two terms
/// assert_eq!(first.z.unwrap().into_dense(), faer::mat![[2.0], [3.0]]);
/// assert_eq!(trials.next_trial()?.unwrap().label, Some(-1.0));
/// assert!(trials.next_trial()?.is_none());
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct TrialReader {
    lines: Lines,
    layout: Layout,
    /// A row that was read but belongs to the next trial.
    pending: Option<Row>,
    fingerprint: u64,
}

/// What a line is; a sparse stream has pairs or has none, which its first line decides.
enum Layout {
    Table(Header),
    Sparse { pairs: Option<bool> },
}

/// What the columns of a table are.
struct Header {
    separator: Option<Separator>,
    names: Vec<String>,
    roles: Vec<Role>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Left,
    Right,
    Label,
    Weight,
    Trial,
}

/// One line of a table.
#[derive(Default)]
struct Row {
    x: Vec<f64>,
    z: Vec<f64>,
    weight: Option<f64>,
    label: Option<f64>,
    trial: Option<String>,
    fingerprint: u64,
}

impl TrialReader {
    /// Opens a stream; without `format` the extension tells.
    ///
    /// # Errors
    /// [`Error::Param`] for a format that is no stream of lines, [`Error::Parse`] for a header that cannot be used.
    pub fn open(path: &Path, format: Option<Format>) -> Result<Self> {
        let format = match format {
            Some(format @ (Format::Table | Format::SvmLight)) => format,
            None if is_svmlight(path) => Format::SvmLight,
            None if !is_stdin(path) && matches!(extension(path).as_str(), "csv" | "tsv" | "txt") => Format::Table,
            _ => {
                let value = if format.is_some() { "no stream of lines" } else { "not clear from the name" };
                return Err(Error::param("format", value, "csv or svmlight for a stream of trials"));
            }
        };
        let mut lines = Source::open(path)?.lines();
        let layout = match format {
            Format::SvmLight => Layout::Sparse { pairs: None },
            _ if !lines.advance_to_data()? => return Err(Error::parse(lines.name(), "is empty")),
            _ => Layout::Table(Header::new(lines.line()).map_err(|reason| lines.error(reason))?),
        };
        Ok(TrialReader { lines, layout, pending: None, fingerprint: 0 })
    }

    /// The name shown in errors.
    pub fn name(&self) -> &str {
        self.lines.name()
    }

    /// A number that depends on every line of the trials returned so far, and on their order: a learner that goes on
    /// from a saved state can tell whether the stream before it is the same.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The next trial; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Parse`] with the line for one that cannot be understood or holds numbers that are not finite.
    pub fn next_trial(&mut self) -> Result<Option<TrialRecord>> {
        if let Layout::Sparse { pairs } = &mut self.layout {
            if !self.lines.advance_to_data()? {
                return Ok(None);
            }
            let record = sparse_trial(self.lines.line(), pairs).map_err(|reason| self.lines.error(reason))?;
            self.fingerprint = chained(self.fingerprint, hashed(self.lines.line()));
            return Ok(Some(record));
        }
        let first = self.pending.take().map_or_else(|| self.next_row(), |row| Ok(Some(row)))?;
        let Some(first) = first else { return Ok(None) };
        let mut rows = vec![first];
        while rows[0].trial.is_some() {
            match self.next_row()? {
                Some(row) if row.trial == rows[0].trial => rows.push(row),
                other => {
                    self.pending = other;
                    break;
                }
            }
        }
        rows.iter().for_each(|row| self.fingerprint = chained(self.fingerprint, row.fingerprint));
        joined(rows).map(Some).map_err(|reason| self.lines.error(reason))
    }

    fn next_row(&mut self) -> Result<Option<Row>> {
        let Layout::Table(header) = &self.layout else { return Ok(None) };
        if !self.lines.advance_to_data()? {
            return Ok(None);
        }
        header.row(self.lines.line()).map(Some).map_err(|reason| self.lines.error(reason))
    }
}

impl Header {
    fn new(line: &str) -> Reasoned<Self> {
        let separator = Separator::detect(line);
        let names: Vec<String> = split(line, separator).map(|name| name.trim_matches('"').to_owned()).collect();
        let roles = names.iter().map(|name| role(name)).collect::<Reasoned<Vec<_>>>()?;
        if !roles.contains(&Role::Left) {
            return Err("the header has no column x…".into());
        }
        Ok(Header { separator, names, roles })
    }

    fn row(&self, line: &str) -> Reasoned<Row> {
        let count = split(line, self.separator).count();
        if count != self.roles.len() {
            return Err(format!("{count} columns instead of {}", self.roles.len()));
        }
        let mut row = Row { fingerprint: hashed(line), ..Row::default() };
        for (at, field) in split(line, self.separator).enumerate() {
            if self.roles[at] == Role::Trial {
                row.trial = Some(field.to_owned());
                continue;
            }
            let value = finite(field).map_err(|reason| format!("column `{}`: {reason}", self.names[at]))?;
            match self.roles[at] {
                Role::Left => row.x.push(value),
                Role::Right => row.z.push(value),
                Role::Label => row.label = Some(value),
                Role::Weight | Role::Trial => row.weight = Some(value),
            }
        }
        Ok(row)
    }
}

/// What a column of that name holds.
fn role(name: &str) -> Reasoned<Role> {
    Ok(match name {
        "label" => Role::Label,
        "weight" => Role::Weight,
        "trial" => Role::Trial,
        _ if name.starts_with(['x', 'X']) => Role::Left,
        _ if name.starts_with(['y', 'Y']) => Role::Right,
        _ if name.parse::<f64>().is_ok() => return Err(format!("a header is missing: `{name}` is no column name")),
        _ => return Err(format!("column `{name}` is none of x…, y…, label, weight, trial")),
    })
}

fn split(line: &str, separator: Option<Separator>) -> Box<dyn Iterator<Item = &str> + '_> {
    match separator {
        Some(Separator::Char(char)) => Box::new(line.split(char).map(str::trim)),
        _ => Box::new(line.split_ascii_whitespace()),
    }
}

fn finite(text: &str) -> Reasoned<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(format!("{value} is not a finite number")),
        Err(_) => Err(format!("`{text}` is not a number")),
    }
}

/// Rows of one instance.
fn joined(rows: Vec<Row>) -> Reasoned<TrialRecord> {
    let label = rows[0].label;
    if rows.iter().any(|row| row.label != label) {
        return Err("the rows of one trial have different labels".into());
    }
    let dense = |side: fn(&Row) -> &Vec<f64>| {
        Samples::Dense(Mat::from_fn(rows.len(), side(&rows[0]).len(), |i, j| side(&rows[i])[j]))
    };
    let z = (!rows[0].z.is_empty()).then(|| dense(|row| &row.z));
    let weights = rows.iter().filter_map(|row| row.weight).collect();
    Ok(TrialRecord { x: dense(|row| &row.x), z, weights, label })
}

/// `label i:v … | j:v … || i:v … | j:v …`.
fn sparse_trial(line: &str, pairs: &mut Option<bool>) -> Reasoned<TrialRecord> {
    let data = line.split('#').next().unwrap_or_default();
    let (mut x, mut z) = (Csr::empty(SPARSE_WIDTH), Csr::empty(SPARSE_WIDTH));
    let mut label = None;
    for (at, term) in data.split("||").enumerate() {
        let (left, right) = term.split_once('|').map_or((term, None), |(left, right)| (left, Some(right)));
        if *pairs.get_or_insert(right.is_some()) != right.is_some() {
            return Err("some instances have a right side and some have none".into());
        }
        // A term after the first has no label of its own.
        let left = if at == 0 { left.to_owned() } else { format!("0 {left}") };
        let text = sparse_row(&left, &mut x)?;
        if at == 0 {
            label = Some(finite(&text).map_err(|reason| format!("label: {reason}"))?);
        }
        right.map(|right| sparse_row(&format!("0 {right}"), &mut z)).transpose()?;
    }
    let z = (*pairs == Some(true)).then_some(Samples::Sparse(z));
    Ok(TrialRecord { x: Samples::Sparse(x), z, weights: Vec::new(), label })
}

/// Adds the entries of one side of a term to `rows` and returns the label before them.
fn sparse_row(text: &str, rows: &mut Csr<f64>) -> Reasoned<String> {
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let label = svmlight::parse_line::<f64>(text, &mut indices, &mut values)?.to_owned();
    if let Some(at) = values.iter().position(|v| !v.is_finite()) {
        return Err(format!("value of index {}: {} is not a finite number", indices[at], values[at]));
    }
    rows.push_row(indices.into_iter().zip(values));
    Ok(label)
}

/// FNV-1a of a line.
fn hashed(line: &str) -> u64 {
    line.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Depends on the order of what is chained.
fn chained(hash: u64, next: u64) -> u64 {
    (hash ^ next).wrapping_mul(0x100_0000_01b3).rotate_left(23)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{dense_rows, scratch};
    use super::*;

    fn all(name: &str, text: &str) -> Result<Vec<TrialRecord>> {
        let (_dir, path) = scratch(name, text);
        let mut reader = TrialReader::open(&path, None)?;
        let mut out = Vec::new();
        while let Some(trial) = reader.next_trial()? {
            out.push(trial);
        }
        Ok(out)
    }

    fn message(name: &str, text: &str) -> String {
        let error = all(name, text).unwrap_err().to_string();
        error[error.find(name).unwrap_or(0)..].to_owned()
    }

    #[test]
    fn tables_have_columns_by_name() {
        let trials = all("s.csv", "x1,y1,x2,label\n1,2,3,-1\n\n# c\n4,5,6,1\n").unwrap();
        assert_eq!(trials.len(), 2);
        assert_eq!(dense_rows(&trials[1].x), [[4.0, 6.0]]);
        assert_eq!(dense_rows(trials[1].z.as_ref().unwrap()), [[5.0]]);
        assert_eq!(trials[0].label, Some(-1.0));
        let symmetric = all("s.tsv", "x1\tx2\n1\t2\n").unwrap();
        assert!(symmetric[0].z.is_none() && symmetric[0].label.is_none());
    }

    #[test]
    fn rows_of_one_trial_are_one_instance() {
        let trials = all("s.csv", "trial,x1,weight,label\na,1,0.5,1\na,2,0.25,1\nb,3,1,2\n").unwrap();
        assert_eq!((trials.len(), trials[0].x.count(), trials[1].x.count()), (2, 2, 1));
        assert_eq!(trials[0].weights, [0.5, 0.25]);
        assert_eq!(
            message("s.csv", "trial,x1,label\na,1,1\na,2,2\n"),
            "s.csv:4: the rows of one trial have different labels"
        );
    }

    #[test]
    fn sparse_lines_have_bars() {
        let trials = all("s.svm", "1 1:2 7:3 | 2:1 || 4:1 | 9:2 # c\n-1 1:1 | 3:4\n").unwrap();
        assert_eq!((trials[0].x.count(), trials[0].z.as_ref().unwrap().count(), trials[0].label), (2, 2, Some(1.0)));
        let Samples::Sparse(z) = trials[0].z.as_ref().unwrap() else { panic!() };
        assert_eq!(z.row(1), (&[9u32][..], &[2.0][..]));
        assert!(all("s.svm", "1 1:2\n0 3:1 || 4:1\n").unwrap().iter().all(|t| t.z.is_none()));
    }

    #[test]
    fn wrong_lines_are_named() {
        assert_eq!(message("s.csv", ""), "s.csv: is empty");
        assert_eq!(message("s.csv", "1,2,3\n"), "s.csv:1: a header is missing: `1` is no column name");
        assert_eq!(message("s.csv", "x1,q\n"), "s.csv:1: column `q` is none of x…, y…, label, weight, trial");
        assert_eq!(message("s.csv", "label,y1\n"), "s.csv:1: the header has no column x…");
        assert_eq!(message("s.csv", "x1,x2\n1,2\n1\n"), "s.csv:3: 1 columns instead of 2");
        assert_eq!(message("s.csv", "x1,x2\n1,NaN\n"), "s.csv:2: column `x2`: NaN is not a finite number");
        assert_eq!(message("s.csv", "x1,x2\n1,two\n"), "s.csv:2: column `x2`: `two` is not a number");
        assert_eq!(
            message("s.svm", "1 1:2 | 2:1\n1 1:2\n"),
            "s.svm:2: some instances have a right side and some have none"
        );
        assert_eq!(message("s.svm", "1 1:inf\n"), "s.svm:1: value of index 1: inf is not a finite number");
        assert_eq!(message("s.svm", "a 1:1\n"), "s.svm:1: label: `a` is not a number");
        let (_dir, path) = scratch("s.npy", "x");
        assert!(TrialReader::open(&path, None).is_err());
    }

    #[test]
    fn the_fingerprint_tells_streams_apart() {
        let prints = |text: &str| {
            let (_dir, path) = scratch("s.csv", text);
            let mut reader = TrialReader::open(&path, None).unwrap();
            reader.next_trial().unwrap();
            reader.next_trial().unwrap();
            reader.fingerprint()
        };
        assert_eq!(prints("x\n1\n2\n"), prints("x\n1\n2\n3\n"));
        assert_ne!(prints("x\n1\n2\n"), prints("x\n2\n1\n"));
    }
}

//! Which column of a table is what: names, label columns, and columns that are left out.

use super::labels::Labels;
use super::{ReadOptions, TargetColumn};
use crate::base::error::{Error, Result, listed};
use crate::data::dataset::Target;
use faer::Mat;
use std::collections::{HashMap, HashSet};

/// The columns of a file.
pub(super) struct Headings {
    /// Names that are all different; numbers counted from 1 where the file has none.
    names: Vec<String>,
    header: bool,
    /// Columns without a name of their own.
    unnamed: HashSet<usize>,
    /// Places of the label columns.
    pub(super) targets: Vec<usize>,
    dropped: HashSet<usize>,
    /// Remarks for the user.
    pub(super) notes: Vec<String>,
}

impl Headings {
    /// Columns under names. A header with a number that is not whole is suspicious, and a remark says so.
    pub(super) fn of_header(file: &str, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let mut notes = Vec::new();
        let odd = names.iter().find(|name| name.parse::<f64>().is_ok_and(|v| v.fract() != 0.0));
        notes.extend(odd.map(|n| format!("the first line is taken as the header although it holds the number {n}")));
        let unnamed: HashSet<usize> = (0..names.len()).filter(|&at| names[at].is_empty()).collect();
        let names = different(names, &mut notes);
        let mut dropped = dropped(&names, &options.drop)?;
        let kept: Vec<usize> = (0..names.len()).filter(|at| !dropped.contains(at)).collect();
        let left: Vec<String> = kept.iter().map(|&at| names[at].clone()).collect();
        let (targets, told) = target_positions(file, &left, &options.target)?;
        let targets: Vec<usize> = targets.into_iter().map(|at| kept[at]).collect();
        notes.splice(0..0, told);
        if let Some(only) = &options.only {
            let unused = |at: &usize| !targets.contains(at) && !only.contains(&names[*at]);
            let unused: Vec<usize> = kept.into_iter().filter(unused).collect();
            let listed = listed(&unused.iter().map(|&at| names[at].clone()).collect::<Vec<_>>());
            notes.extend((!unused.is_empty()).then(|| format!("columns that the model does not use: {listed}")));
            dropped.extend(unused);
        }
        Ok(Headings { names, header: true, unnamed, targets, dropped, notes })
    }

    /// Columns without names.
    pub(super) fn without_header(file: &str, width: usize, options: &ReadOptions) -> Result<Self> {
        let notes = match &options.target {
            TargetColumn::None => Vec::new(),
            TargetColumn::Last => vec!["there is no header, so all columns are data and none is the label".into()],
            TargetColumn::Named(label) => {
                return Err(Error::parse(file, format!("has no header, so there is no label column `{label}`")));
            }
        };
        let names: Vec<String> = (1..=width).map(|at| at.to_string()).collect();
        let dropped = dropped(&names, &options.drop)?;
        Ok(Headings { names, header: false, unnamed: HashSet::new(), targets: Vec::new(), dropped, notes })
    }

    pub(super) fn has_header(&self) -> bool {
        self.header
    }

    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// Places of the data columns.
    pub(super) fn data(&self) -> Vec<usize> {
        (0..self.width()).filter(|at| !self.targets.contains(at) && !self.dropped.contains(at)).collect()
    }

    pub(super) fn is_unnamed(&self, column: usize) -> bool {
        self.unnamed.contains(&column)
    }

    /// The name of a column.
    pub(super) fn bare(&self, column: usize) -> &str {
        &self.names[column]
    }

    /// The name as messages write it.
    pub(super) fn label(&self, column: usize) -> String {
        if self.header { format!("`{}`", self.names[column]) } else { self.names[column].clone() }
    }

    /// Name and contents of the label column, or of several.
    pub(super) fn target(&self, file: &str, labels: Vec<Labels>) -> Result<Option<(String, Target)>> {
        let names: Vec<String> = self.targets.iter().map(|&at| self.names[at].clone()).collect();
        let mut targets: Vec<Target> = labels.into_iter().map(Labels::finish).collect();
        if targets.len() < 2 {
            return Ok(targets.pop().map(|target| (names[0].clone(), target)));
        }
        let values: Vec<Vec<f64>> =
            names.iter().zip(&targets).map(|(name, target)| numbers(file, name, target)).collect::<Result<_>>()?;
        let values = Mat::from_fn(values[0].len(), values.len(), |i, j| values[j][i]);
        Ok(Some((joined(&names), Target::Several { names, values })))
    }
}

/// One number per row of one of several targets.
fn numbers(file: &str, name: &str, target: &Target) -> Result<Vec<f64>> {
    target.numbers().ok_or_else(|| {
        let words = if let Target::Classes { names, .. } = target { names.as_slice() } else { &[] };
        let word = words.iter().find(|word| word.parse::<f64>().is_err()).cloned().unwrap_or_default();
        Error::parse(file, format!("column `{name}`, one of several targets, holds text: `{word}`"))
    })
}

/// Names of which no two are the same; a second `x` is `x.2`, and a column without name has its number.
fn different(names: Vec<String>, notes: &mut Vec<String>) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
    let mut taken: HashSet<String> = names.iter().filter(|name| counts[*name] == 1).cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::with_capacity(names.len());
    for (at, name) in names.into_iter().enumerate() {
        let base = if name.is_empty() { format!("column {}", at + 1) } else { name.clone() };
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        let mut own = if *count == 1 || name.is_empty() { base.clone() } else { format!("{base}.{count}") };
        while counts.get(&name).copied().unwrap_or(0) > 1 && taken.contains(&own) {
            own.push('\'');
        }
        if *count == 2 && !name.is_empty() {
            notes.push(format!("{} columns are called `{name}`; the second is taken as `{own}`", counts[&name]));
        }
        taken.insert(own.clone());
        out.push(own);
    }
    out
}

/// Places of the columns that are left out.
fn dropped(names: &[String], drop: &[String]) -> Result<HashSet<usize>> {
    let unknown = |name: &String| Error::Unknown { kind: "column", name: name.clone(), known: names.to_vec() };
    drop.iter().map(|name| names.iter().position(|own| own == name).ok_or_else(|| unknown(name))).collect()
}

/// Positions of the label columns among `names`, and a remark when they were not asked for by name.
pub(super) fn target_positions(
    file: &str,
    names: &[String],
    target: &TargetColumn,
) -> Result<(Vec<usize>, Vec<String>)> {
    match (target, names) {
        (TargetColumn::None, _) | (_, []) => Ok((Vec::new(), Vec::new())),
        (TargetColumn::Named(wanted), _) => {
            let several = if names.contains(wanted) { vec![wanted.clone()] } else { split(wanted) };
            let position = |one: &String| names.iter().position(|name| name == one);
            let unknown = |one: &String| Error::Unknown { kind: "column", name: one.clone(), known: names.to_vec() };
            let places: Vec<usize> =
                several.iter().map(|one| position(one).ok_or_else(|| unknown(one))).collect::<Result<_>>()?;
            if places.iter().collect::<HashSet<_>>().len() < places.len() {
                return Err(Error::param("target", wanted, "of different columns"));
            }
            if names.len() == places.len() {
                return Err(Error::parse(file, format!("has no data columns beside the label `{wanted}`")));
            }
            Ok((places, Vec::new()))
        }
        (TargetColumn::Last, [only]) => Ok((Vec::new(), vec![format!("the only column `{only}` is taken as data")])),
        (TargetColumn::Last, [.., last]) => {
            let note = format!("column `{last}` is taken as the label; --target none keeps it as data");
            Ok((vec![names.len() - 1], vec![note]))
        }
    }
}

/// Names between commas; one with a comma stands in quotes.
fn split(list: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(list.as_bytes());
    let record = reader.records().next().and_then(std::result::Result::ok);
    record.map_or_else(|| vec![list.to_owned()], |record| record.iter().map(String::from).collect())
}

/// Names as [`split`] takes them.
fn joined(names: &[String]) -> String {
    let quoted = |name: &String| {
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(",")
}

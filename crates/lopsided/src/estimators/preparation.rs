//! From a table as people have it to numbers that a kernel can compare, learned from some rows.
//!
//! 1. Missing values are filled ([`Impute`]) by the mean, the median or the most frequent value of the column; words by the
//!    most frequent one. Where nothing fills them they are refused.
//! 2. Numbers are scaled ([`Scale`]): x ↦ (x − offset)·factor.
//! 3. A column of words becomes one column for each word that was seen, 1 where a row has it and 0 elsewhere. A word that was
//!    not seen is 0 in all of them.
//!
//! Columns without a single value, and columns of words of which all are different (ids), tell nothing about other rows and
//! are left out. What is learned comes from the rows that are learned from alone, in every fold.

use super::scoring::no_target;
use crate::base::error::{Error, Result, listed};
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::archive::Archive;
use crate::data::columns::{Column, Words, check_cells, missing};
use crate::data::dataset::Dataset;
use crate::data::samples::{Csr, Samples, SamplesRef};
use crate::report::text::number;
use faer::{Mat, MatRef};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;

/// So many rows must all have words of their own before a column is taken for one of ids.
const IDS: usize = 20;
/// A table with at most this share of numbers that are not 0 becomes a sparse one.
const SPARSE: f64 = 0.1;
/// Things named in a remark before the rest is counted.
const NAMED: usize = 5;
/// Format of files with words or with values that fill gaps: earlier programs would not apply them.
const FORMAT: u64 = 2;

/// An enumeration that is read and written by the names of its members.
macro_rules! named {
    ($kind:ident, $word:literal, $names:ident: $count:literal, [$(($member:ident, $name:literal)),+]) => {
        const $names: [($kind, &str); $count] = [$(($kind::$member, $name)),+];

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($names.iter().find(|(own, _)| own == self).map_or("", |(_, name)| name))
            }
        }

        impl FromStr for $kind {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                $names.iter().find(|(_, name)| *name == text).map(|(own, _)| *own).ok_or_else(|| Error::Unknown {
                    kind: $word,
                    name: text.into(),
                    known: $names.map(|(_, name)| name.into()).to_vec(),
                })
            }
        }
    };
}

/// How the columns of a table are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// [`Scale::Standard`] for dense tables and kernels of distances, else [`Scale::None`].
    #[default]
    Auto,
    /// Mean 0 and deviation 1.
    Standard,
    /// From 0 to 1.
    MinMax,
    /// As they are.
    None,
}

named!(Scale, "scale", SCALES: 4, [(Auto, "auto"), (Standard, "standard"), (MinMax, "minmax"), (None, "none")]);

/// What fills missing values; those of words are always filled by the most frequent one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Impute {
    /// Nothing: a missing value is refused.
    #[default]
    None,
    /// The mean of the column.
    Mean,
    /// The median of the column.
    Median,
    /// The most frequent value, the smallest of several.
    MostFrequent,
}

named!(Impute, "way to impute", IMPUTES: 4, [(None, "none"), (Mean, "mean"), (Median, "median"), (MostFrequent, "most-frequent")]);

/// What becomes of a column.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// (x − offset)·factor, after `fill` (NaN: nothing) has taken the place of what is missing.
    Number { offset: f64, factor: f64, fill: f64 },
    /// One column for each of these words, in alphabetic order; which of them fills a gap.
    Words { names: Vec<String>, fill: Option<usize> },
    /// Nothing.
    LeftOut,
}

impl Rule {
    fn width(&self) -> usize {
        match self {
            Rule::Number { .. } => 1,
            Rule::Words { names, .. } => names.len(),
            Rule::LeftOut => 0,
        }
    }

    fn is_as_it_is(&self) -> bool {
        matches!(self, Rule::Number { offset, factor, fill } if *offset == 0.0 && *factor == 1.0 && fill.is_nan())
    }
}

/// How the columns of a table become numbers: learned from some rows, applied to all.
///
/// ```
/// use lopsided::Dataset;
/// use lopsided::data::columns::Cells;
/// use lopsided::estimators::{Impute, Preparation, Scale};
///
/// let words = |words: [&str; 3]| Cells::Texts(words.map(|word| Some(word.to_string())).to_vec());
/// let size = ("size".to_string(), Cells::Numbers(vec![1.0, 3.0, f64::NAN]));
/// let data: Dataset<f64> = Dataset::from_columns(vec![size, ("color".to_string(), words(["red", "blue", "red"]))])?;
/// let preparation = Preparation::learn(&data, &[0, 1, 2], Scale::None, Impute::Mean)?;
/// assert_eq!(preparation.features(), ["size", "color=blue", "color=red"]);
/// let x = preparation.apply(&data)?.into_owned().x.into_dense();
/// assert_eq!(x, faer::mat![[1.0, 0.0, 1.0], [3.0, 1.0, 0.0], [2.0, 0.0, 1.0]]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// Names of the columns, where the table has them.
    names: Option<Vec<String>>,
    rules: Vec<Rule>,
    scale: Scale,
    impute: Impute,
    /// What a user should know of the columns that were learned from, in sentences; not part of a file.
    remarks: Vec<String>,
}

/// A column of a [`Preparation`], as `inspect` shows it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Described {
    /// The name, or the number of a column without one, counted from 1.
    pub name: String,
    /// `number`, `words` or `left out`.
    pub kind: &'static str,
    /// The words that are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// What takes the place of a missing value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<String>,
}

impl Preparation {
    /// The preparation of the listed rows. A constant column is only moved; [`Scale::Auto`] is [`Scale::Standard`].
    ///
    /// # Errors
    /// [`Error::Missing`] for missing values that nothing fills, with all their columns; [`Error::NotFinite`];
    /// [`Error::Param`] without rows, for sparse samples, which would not stay sparse, and for columns that are all left out.
    pub fn learn<T: Scalar>(data: &Dataset<T>, rows: &[usize], scale: Scale, impute: Impute) -> Result<Self> {
        if rows.is_empty() {
            return Err(no_target());
        }
        let SamplesRef::Dense(x) = data.x.as_ref() else { return Err(refused(scale, impute)) };
        check_cells(data.x.as_ref(), data.columns.as_deref(), impute != Impute::None, "the table")?;
        let rule = |j: usize| match words_of(data, j) {
            Some(words) => words_rule(words, rows, impute),
            None => number_rule(&values(x, j, rows), rows.len(), scale, impute),
        };
        let rules: Vec<Rule> = (0..x.ncols()).map(rule).collect();
        if rules.iter().all(|rule| *rule == Rule::LeftOut) {
            return Err(Error::param("columns", "without values, or ids, all of them", "of numbers or words"));
        }
        let names = data.columns.as_ref().map(|columns| columns.iter().map(|c| c.name.clone()).collect());
        Ok(Preparation { names, remarks: remarks(data, rows, &rules), rules, scale, impute })
    }

    /// One that scales columns of numbers by offsets and factors that were found elsewhere.
    pub(super) fn of_scaling(names: Option<Vec<String>>, scaling: Vec<(f64, f64)>, scale: Scale) -> Self {
        let rule = |(offset, factor)| Rule::Number { offset, factor, fill: f64::NAN };
        let rules = scaling.into_iter().map(rule).collect();
        Preparation { names, rules, scale, impute: Impute::None, remarks: Vec::new() }
    }

    /// The data with their row samples prepared: columns are found by their names where both have them, else by their places.
    ///
    /// # Errors
    /// [`Error::NoColumns`] for columns that are needed and not there, [`Error::Shape`] for another number of columns without
    /// names, [`Error::Parse`] for text in a column of numbers, [`Error::Missing`] and [`Error::NotFinite`] for values that
    /// cannot be used.
    pub fn apply<'a, T: Scalar>(&self, data: &'a Dataset<T>) -> Result<Cow<'a, Dataset<T>>> {
        let x = match data.x.as_ref() {
            SamplesRef::Dense(x) => x,
            SamplesRef::Sparse(_) if !self.changes() => return Ok(Cow::Borrowed(data)),
            SamplesRef::Sparse(_) => return Err(refused(Scale::Standard, Impute::None)),
        };
        let places = self.places(data)?;
        self.check(data, x, &places)?;
        if !self.changes() && places.iter().enumerate().all(|(at, place)| *place == Some(at)) {
            return Ok(Cow::Borrowed(data));
        }
        let columns: Vec<Applied<'_, T>> =
            self.rules.iter().zip(&places).map(|(r, p)| applied(r, *p, data, x)).collect();
        let width: usize = self.rules.iter().map(Rule::width).sum();
        let filled = columns.iter().filter(|column| !matches!(column, Applied::Nothing)).count();
        let sparse = filled as f64 <= SPARSE * width as f64;
        let samples = if sparse { sparse_of(x.nrows(), width, &columns) } else { dense_of(x.nrows(), width, &columns) };
        Ok(Cow::Owned(Dataset {
            x: samples,
            z: data.z.clone(),
            y: data.y.clone(),
            weights: data.weights.clone(),
            row_ids: data.row_ids.clone(),
            col_ids: data.col_ids.as_ref().map(|_| self.features()),
            frame: data.frame.clone(),
            maps: data.maps.clone(),
            columns: None,
        }))
    }

    /// Names of the columns that [`Preparation::apply`] makes: `NAME`, or `NAME=WORD`.
    pub fn features(&self) -> Vec<String> {
        let of = |(at, rule): (usize, &Rule)| match rule {
            Rule::Number { .. } => vec![self.name(at)],
            Rule::Words { names, .. } => names.iter().map(|word| format!("{}={word}", self.name(at))).collect(),
            Rule::LeftOut => Vec::new(),
        };
        self.rules.iter().enumerate().flat_map(of).collect()
    }

    /// The columns, as they were learned.
    pub fn columns(&self) -> Vec<Described> {
        let of = |(at, rule): (usize, &Rule)| {
            let (kind, words) = match rule {
                Rule::Number { .. } => ("number", Vec::new()),
                Rule::Words { names, .. } => ("words", names.clone()),
                Rule::LeftOut => ("left out", Vec::new()),
            };
            Described { name: self.name(at), kind, words, fill: fill_of(rule) }
        };
        self.rules.iter().enumerate().map(of).collect()
    }

    /// Names of the columns of words, which may look like numbers.
    pub fn word_columns(&self) -> Vec<String> {
        let words = self.columns().into_iter().filter(|column| column.kind == "words");
        words.map(|column| column.name).collect()
    }

    /// How columns are scaled and what fills them, as settings: what was asked for other than nothing.
    pub fn settings(&self) -> Settings {
        let mut out = Settings::default();
        if self.scale != Scale::None {
            out = out.with("scale", self.scale.to_string().as_str());
        }
        if self.impute != Impute::None {
            out = out.with("impute", self.impute.to_string().as_str());
        }
        out
    }

    /// Names of the columns that are needed, where columns are known by names.
    pub fn needed(&self) -> Option<Vec<String>> {
        let used = |(name, rule): (&String, &Rule)| (rule.width() > 0).then(|| name.clone());
        self.names.as_ref().map(|names| names.iter().zip(&self.rules).filter_map(used).collect())
    }

    /// Whether columns are known by names.
    pub fn is_named(&self) -> bool {
        self.names.is_some()
    }

    /// What a user should know of the rows that were learned from: columns that tell nothing, gaps that were filled.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What a user should know of new rows: columns that are not used, words that were not learned, gaps that are filled.
    pub fn review<T: Scalar>(&self, data: &Dataset<T>) -> Vec<String> {
        let (Ok(places), Some(columns)) = (self.places(data), &data.columns) else { return Vec::new() };
        let mut out = Vec::new();
        let extra: Vec<String> = match &self.names {
            Some(names) => columns.iter().map(|c| c.name.clone()).filter(|name| !names.contains(name)).collect(),
            None => Vec::new(),
        };
        if !extra.is_empty() {
            out.push(format!("columns that the model does not know are not used: {}", listed(&extra)));
        }
        for (at, (rule, place)) in self.rules.iter().zip(&places).enumerate() {
            let words = place.and_then(|place| columns[place].words.as_ref());
            if let (Rule::Words { names, .. }, Some(words)) = (rule, words) {
                out.extend(unknown_words(&self.name(at), names, words));
            }
        }
        out.extend(filled(data, &self.rules, &places));
        out
    }

    /// Puts it into the archive of a model.
    pub fn put(&self, archive: &mut Archive) {
        if let Some(names) = &self.names {
            archive.set_texts("prepare.names", names);
        }
        archive.set_field("prepare", self.settings());
        let number = |part: fn(&Rule) -> f64| self.rules.iter().map(part).collect::<Vec<f64>>();
        archive
            .set_vector("prepare.offset", &number(|r| if let Rule::Number { offset, .. } = r { *offset } else { 0.0 }));
        archive
            .set_vector("prepare.factor", &number(|r| if let Rule::Number { factor, .. } = r { *factor } else { 1.0 }));
        archive.set_vector_with_gaps(
            "prepare.fill",
            &number(|rule| match rule {
                Rule::Number { fill, .. } => *fill,
                Rule::Words { fill, .. } => fill.map_or(f64::NAN, |word| word as f64),
                Rule::LeftOut => f64::NAN,
            }),
        );
        let counts: Vec<Option<usize>> = self
            .rules
            .iter()
            .map(|rule| if let Rule::Number { .. } = rule { None } else { Some(rule.width()) })
            .collect();
        archive.set_field("prepare.words", &counts);
        let words = |rule: &Rule| if let Rule::Words { names, .. } = rule { names.clone() } else { Vec::new() };
        archive.set_texts("prepare.words", &self.rules.iter().flat_map(words).collect::<Vec<_>>());
        if self.changes() {
            archive.require(FORMAT);
        }
    }

    /// The preparation of an archive; none where it has none.
    ///
    /// # Errors
    /// [`Error::Archive`] for arrays that do not fit together.
    pub fn of_archive(archive: &Archive) -> Result<Option<Self>> {
        if archive.has("scale.offset") {
            return earlier(archive).map(Some);
        }
        let Some(counts) = archive.field::<Option<Vec<Option<usize>>>>("prepare.words")? else { return Ok(None) };
        let [offset, factor, fill] =
            ["offset", "factor", "fill"].map(|name| archive.vector::<f64>(&format!("prepare.{name}")));
        let (offset, factor, fill) = (offset?, factor?, fill?);
        let (names, words) = (archive.texts("prepare.names")?, archive.texts("prepare.words")?.unwrap_or_default());
        let total: usize = counts.iter().flatten().sum();
        let widths = [offset.len(), factor.len(), fill.len(), names.as_ref().map_or(counts.len(), Vec::len)];
        if widths.iter().any(|width| *width != counts.len()) || total != words.len() {
            return Err(archive.error("has columns whose arrays do not fit together"));
        }
        let mut words = words.into_iter();
        let rule = |(at, count): (usize, &Option<usize>)| match count {
            None => Rule::Number { offset: offset[at], factor: factor[at], fill: fill[at] },
            Some(0) => Rule::LeftOut,
            Some(count) => {
                let fill =
                    Some(fill[at]).filter(|fill| *fill >= 0.0 && *fill < *count as f64).map(|fill| fill as usize);
                Rule::Words { names: words.by_ref().take(*count).collect(), fill }
            }
        };
        let rules = counts.iter().enumerate().map(rule).collect();
        let settings: Settings = archive.field("prepare")?;
        let (scale, impute) =
            (settings.word("scale")?.unwrap_or(Scale::None), settings.word("impute")?.unwrap_or_default());
        Ok(Some(Preparation { names, rules, scale, impute, remarks: Vec::new() }))
    }

    /// Offset and factor of each column, x ↦ (x − offset)·factor, where numbers are scaled and nothing else is done.
    pub fn scaling(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let parts = |rule: &Rule| match rule {
            Rule::Number { offset, factor, fill } if fill.is_nan() => Some((*offset, *factor)),
            _ => None,
        };
        self.rules.iter().map(parts).collect()
    }

    /// Whether any column becomes something else.
    pub fn changes(&self) -> bool {
        !self.rules.iter().all(Rule::is_as_it_is)
    }

    fn name(&self, at: usize) -> String {
        self.names.as_ref().map_or_else(|| (at + 1).to_string(), |names| names[at].clone())
    }

    /// Where the data have each column; `None` for one that is left out.
    fn places<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Option<usize>>> {
        let (Some(names), Some(columns)) = (&self.names, &data.columns) else {
            if data.x.width() != self.rules.len() {
                return Err(Error::shape("the number of columns", self.rules.len(), data.x.width()));
            }
            return Ok((0..self.rules.len()).map(Some).collect());
        };
        let known: HashMap<&str, usize> = columns.iter().enumerate().map(|(at, c)| (c.name.as_str(), at)).collect();
        let places: Vec<Option<usize>> = names.iter().map(|name| known.get(name.as_str()).copied()).collect();
        let needed = self.rules.iter().zip(names).zip(&places);
        let missing: Vec<String> = needed
            .filter(|((rule, _), place)| rule.width() > 0 && place.is_none())
            .map(|((_, name), _)| name.clone())
            .collect();
        if missing.is_empty() {
            return Ok(places);
        }
        let found = columns.iter().map(|column| column.name.clone()).collect();
        Err(Error::NoColumns { what: "the new rows".into(), missing, found })
    }

    /// Refuses cells that a rule cannot use.
    fn check<T: Scalar>(&self, data: &Dataset<T>, x: MatRef<'_, T>, places: &[Option<usize>]) -> Result<()> {
        let mut absent = Vec::new();
        for (at, (rule, place)) in self.rules.iter().zip(places).enumerate() {
            let Some(place) = *place else { continue };
            let words = words_of(data, place);
            let row = unusable(rule, words, x, place);
            if let Some((row, what)) = row {
                return Err(Error::parse("the new rows", format!("column `{}` {what} in row {row}", self.name(at))));
            }
            let count = (0..x.nrows()).filter(|&i| is_missing(words, x, i, place)).count();
            if fill_of(rule).is_none() && rule.width() > 0 && count > 0 {
                let label = if self.names.is_some() { format!("`{}`", self.name(at)) } else { self.name(at) };
                absent.push((label, count));
            }
        }
        if absent.is_empty() { Ok(()) } else { Err(Error::Missing { what: "the new rows".into(), columns: absent }) }
    }
}

/// The first row with a cell of the wrong kind, and what is wrong with it.
fn unusable<T: Scalar>(rule: &Rule, words: Option<&Words>, x: MatRef<'_, T>, place: usize) -> Option<(usize, String)> {
    match (rule, words) {
        (Rule::Number { .. }, Some(words)) => {
            let row = words.codes.iter().position(Option::is_some)?;
            let word = words.get(row).unwrap_or_default();
            Some((row, format!("holds text where numbers were learned, `{word}`")))
        }
        (Rule::Number { .. }, None) => {
            let row = x.col(place).iter().position(|v| num_traits::Float::is_infinite(*v))?;
            Some((row, format!("holds {}", x[(row, place)])))
        }
        (Rule::Words { .. }, None) => {
            let row = x.col(place).iter().position(|v| !num_traits::Float::is_nan(*v))?;
            Some((row, format!("holds numbers where words were learned, {}", x[(row, place)])))
        }
        _ => None,
    }
}

fn refused(scale: Scale, impute: Impute) -> Error {
    let (name, value) =
        if impute == Impute::None { ("scale", scale.to_string()) } else { ("impute", impute.to_string()) };
    Error::param(name, value, "none for a sparse table, which would not stay sparse")
}

/// The scale of files that know nothing else.
fn earlier(archive: &Archive) -> Result<Preparation> {
    let (offset, factor): (Vec<f64>, Vec<f64>) = (archive.vector("scale.offset")?, archive.vector("scale.factor")?);
    if offset.len() != factor.len() {
        return Err(archive.error("has a scale whose arrays do not fit together"));
    }
    let rule = |(offset, factor)| Rule::Number { offset, factor, fill: f64::NAN };
    let (rules, scale, impute) = (offset.into_iter().zip(factor).map(rule).collect(), Scale::None, Impute::None);
    Ok(Preparation { names: None, rules, scale, impute, remarks: Vec::new() })
}

fn words_of<T>(data: &Dataset<T>, column: usize) -> Option<&Words> {
    data.columns.as_ref().and_then(|columns| columns[column].words.as_ref())
}

/// The values of a column that some rows have.
fn values<T: Scalar>(x: MatRef<'_, T>, column: usize, rows: &[usize]) -> Vec<f64> {
    rows.iter().map(|&i| x[(i, column)].as_f64()).filter(|v| !v.is_nan()).collect()
}

fn is_missing<T: Scalar>(words: Option<&Words>, x: MatRef<'_, T>, row: usize, column: usize) -> bool {
    words.map_or_else(|| num_traits::Float::is_nan(x[(row, column)]), |words| words.codes[row].is_none())
}

/// What is learned of the numbers that a column has in so many rows.
fn number_rule(present: &[f64], rows: usize, scale: Scale, impute: Impute) -> Rule {
    if present.is_empty() {
        return Rule::LeftOut;
    }
    let fill = match impute {
        Impute::None => f64::NAN,
        Impute::Mean => present.iter().sum::<f64>() / present.len() as f64,
        Impute::Median => median(present),
        Impute::MostFrequent => most_frequent(present),
    };
    let gaps = rows - present.len();
    let (start, width) = match scale {
        Scale::None => return Rule::Number { offset: 0.0, factor: 1.0, fill },
        Scale::MinMax => {
            let all = present.iter().copied().chain((gaps > 0).then_some(fill));
            let (least, most) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
            (least, most - least)
        }
        Scale::Standard | Scale::Auto => {
            // Squares of the largest and smallest numbers are none; those of numbers about 1 are.
            let largest =
                present.iter().copied().chain((gaps > 0).then_some(fill)).fold(0.0, |m: f64, v| m.max(v.abs()));
            let unit = if largest > 0.0 { largest } else { 1.0 };
            let gap_sum = if gaps > 0 { gaps as f64 * fill } else { 0.0 };
            let mean = (present.iter().sum::<f64>() + gap_sum) / rows.max(1) as f64;
            let square = |v: f64| ((v - mean) / unit).powi(2);
            let gap_squares = if gaps > 0 { gaps as f64 * square(fill) } else { 0.0 };
            let squares = present.iter().map(|v| square(*v)).sum::<f64>() + gap_squares;
            (mean, (squares / rows.max(1) as f64).sqrt() * unit)
        }
    };
    Rule::Number { offset: start, factor: factor(start, width), fill }
}

/// What brings a column that begins at, or lies around, `start` to width 1. What rounding leaves of a constant column is no width.
pub(super) fn factor(start: f64, width: f64) -> f64 {
    if width > 16.0 * f64::EPSILON * start.abs() { 1.0 / width } else { 1.0 }
}

fn median(present: &[f64]) -> f64 {
    let mut sorted = present.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) }
}

/// The value that occurs most often, the smallest of several.
fn most_frequent(present: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = present.iter().map(|v| v + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    let runs = sorted.chunk_by(|a, b| a.total_cmp(b).is_eq());
    runs.fold((0, f64::NAN), |best, run| if run.len() > best.0 { (run.len(), run[0]) } else { best }).1
}

/// What is learned of the words that a column has in some rows.
fn words_rule(words: &Words, rows: &[usize], impute: Impute) -> Rule {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    rows.iter().filter_map(|&row| words.get(row)).for_each(|word| *counts.entry(word).or_default() += 1);
    let present: usize = counts.values().sum();
    if counts.is_empty() || present >= IDS && counts.len() == present {
        return Rule::LeftOut;
    }
    let best = counts.values().copied().max();
    let fill = counts.values().position(|count| Some(*count) == best).filter(|_| impute != Impute::None);
    Rule::Words { names: counts.into_keys().map(String::from).collect(), fill }
}

/// What takes the place of a missing value.
fn fill_of(rule: &Rule) -> Option<String> {
    match rule {
        Rule::Number { fill, .. } => Some(*fill).filter(|fill| !fill.is_nan()).map(|fill| fill.to_string()),
        Rule::Words { names, fill } => fill.map(|word| names[word].clone()),
        Rule::LeftOut => None,
    }
}

/// A column on its way to numbers.
enum Applied<'a, T> {
    Nothing,
    /// Place in `x`, and the rule.
    Number {
        x: MatRef<'a, T>,
        place: usize,
        offset: f64,
        factor: f64,
        fill: f64,
    },
    /// Which of so many columns is 1 in each row.
    Words {
        ones: Vec<Option<usize>>,
        width: usize,
    },
}

impl<T: Scalar> Applied<'_, T> {
    fn width(&self) -> usize {
        match self {
            Applied::Nothing => 0,
            Applied::Number { .. } => 1,
            Applied::Words { width, .. } => *width,
        }
    }

    /// The only number of a row that is not 0, and its place among the columns that this one becomes.
    fn entry(&self, row: usize) -> Option<(usize, T)> {
        match self {
            Applied::Nothing => None,
            Applied::Words { ones, .. } => ones[row].map(|word| (word, T::one())),
            Applied::Number { x, place, offset, factor, fill } => {
                let value = x[(row, *place)].as_f64();
                Some((0, T::of((if value.is_nan() { *fill } else { value } - offset) * factor)))
            }
        }
    }
}

fn applied<'a, T: Scalar>(rule: &Rule, place: Option<usize>, data: &Dataset<T>, x: MatRef<'a, T>) -> Applied<'a, T> {
    match (rule, place) {
        (Rule::LeftOut, _) | (_, None) => Applied::Nothing,
        (Rule::Number { offset, factor, fill }, Some(place)) => {
            Applied::Number { x, place, offset: *offset, factor: *factor, fill: *fill }
        }
        (Rule::Words { names, fill }, Some(place)) => {
            let known = |word: &String| names.binary_search(word).ok();
            // A column without any value is read as one of numbers.
            let ones = words_of(data, place).map_or_else(
                || vec![*fill; x.nrows()],
                |words| {
                    let places: Vec<Option<usize>> = words.names.iter().map(known).collect();
                    words.codes.iter().map(|code| code.map_or(*fill, |code| places[code as usize])).collect()
                },
            );
            Applied::Words { ones, width: names.len() }
        }
    }
}

fn dense_of<T: Scalar>(rows: usize, width: usize, columns: &[Applied<'_, T>]) -> Samples<T> {
    let mut out = Mat::zeros(rows, width);
    let mut start = 0;
    for column in columns {
        (0..rows).for_each(|i| column.entry(i).into_iter().for_each(|(at, value)| out[(i, start + at)] = value));
        start += column.width();
    }
    Samples::Dense(out)
}

fn sparse_of<T: Scalar>(rows: usize, width: usize, columns: &[Applied<'_, T>]) -> Samples<T> {
    let starts: Vec<usize> = columns
        .iter()
        .scan(0, |end, column| {
            let start = *end;
            *end += column.width();
            Some(start)
        })
        .collect();
    let mut out = Csr::empty(width);
    for i in 0..rows {
        let entries = columns.iter().zip(&starts).filter_map(|(column, start)| {
            column.entry(i).filter(|(_, value)| *value != T::zero()).map(|(at, value)| ((start + at) as u32, value))
        });
        out.push_row(entries);
    }
    Samples::Sparse(out)
}

/// What a user should know of the columns that were learned from.
fn remarks<T: Scalar>(data: &Dataset<T>, rows: &[usize], rules: &[Rule]) -> Vec<String> {
    let (Some(columns), SamplesRef::Dense(x)) = (&data.columns, data.x.as_ref()) else { return Vec::new() };
    let (mut empty, mut same, mut out) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (Column { name, words }, rule)) in columns.iter().zip(rules).enumerate() {
        match (rule, words) {
            (Rule::LeftOut, Some(words)) if rows.iter().any(|&row| words.codes[row].is_some()) => out.push(format!(
                "column `{name}` has another word in every row, as ids have: it tells nothing about other rows and is left out"
            )),
            (Rule::LeftOut, _) => empty.push(name.clone()),
            (Rule::Words { names, .. }, _) if names.len() == 1 => same.push(name.clone()),
            (Rule::Words { names, .. }, _) if rows.len() >= IDS && 2 * names.len() > rows.len() => out.push(format!(
                "column `{name}` has {} different words in {} rows: most of them tell nothing about other rows",
                names.len(),
                rows.len()
            )),
            (Rule::Words { .. }, _) => {}
            (Rule::Number { .. }, _) => {
                let values = values(x, at, rows);
                if values.iter().all(|v| *v == values[0]) {
                    same.push(name.clone());
                } else if values.len() >= IDS && values.windows(2).all(|pair| pair[1] == pair[0] + 1.0) {
                    out.push(format!("column `{name}` counts the rows: as a number it tells little about other rows"));
                }
            }
        }
    }
    let grouped = [("columns without any value are left out", empty), ("columns that never change tell nothing", same)];
    out.extend(
        grouped.iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("{what}: {}", listed(names))),
    );
    let places: Vec<Option<usize>> = (0..rules.len()).map(Some).collect();
    out.extend(filled(data, rules, &places));
    out
}

/// The sentence about gaps that are filled.
fn filled<T: Scalar>(data: &Dataset<T>, rules: &[Rule], places: &[Option<usize>]) -> Option<String> {
    let absent = missing(data.x.as_ref(), data.columns.as_deref());
    let by: HashMap<String, String> = rules
        .iter()
        .zip(places)
        .filter_map(|(rule, place)| {
            let place = (*place)?;
            let name = data.columns.as_ref().map(|columns| format!("`{}`", columns[place].name));
            let fill = match rule {
                Rule::Number { fill, .. } if !fill.is_nan() => number(*fill),
                rule => fill_of(rule)?,
            };
            Some((name.unwrap_or_else(|| (place + 1).to_string()), fill))
        })
        .collect();
    let told: Vec<String> = absent
        .iter()
        .filter_map(|(name, count)| by.get(name).map(|fill| format!("{count} of {name} by {fill}")))
        .collect();
    let more = told.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = told.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then(|| format!("missing values are filled: {named}{rest}"))
}

/// The sentence about words that were not learned.
fn unknown_words(column: &str, known: &[String], words: &Words) -> Option<String> {
    let mut counts = vec![0usize; words.names.len()];
    words.codes.iter().flatten().for_each(|&code| counts[code as usize] += 1);
    let unknown: Vec<(&String, usize)> = words
        .names
        .iter()
        .zip(counts)
        .filter(|(word, count)| *count > 0 && known.binary_search(word).is_err())
        .collect();
    if unknown.is_empty() {
        return None;
    }
    let rows: usize = unknown.iter().map(|(_, count)| count).sum();
    let mut named: Vec<String> = unknown.iter().take(NAMED).map(|(word, count)| format!("`{word}` {count}")).collect();
    if unknown.len() > NAMED {
        named.push(format!("{} other words", unknown.len() - NAMED));
    }
    let of = if rows == 1 { "1 row has a word".to_string() } else { format!("{rows} rows have words") };
    Some(format!("column `{column}`: {of} that the model does not know and counts as none: {}", named.join(", ")))
}

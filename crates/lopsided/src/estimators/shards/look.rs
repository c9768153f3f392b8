//! The first pass: how many rows have a target, what the targets are, and which rows are the landmarks.
//!
//! Whatever is counted or compared here comes out the same in any order. Landmarks are drawn uniformly without knowing how many rows
//! there are: every row has a random number of its own, by the seed, and those with the smallest ones are taken.

use super::job::{Job, Method, Task};
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Target;
use crate::data::samples::{Csr, Samples, SamplesRef};
use crate::estimators::scoring::Answer;
use faer::Mat;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// More different whole numbers are values unless classes are asked for.
const FEW: usize = 20;
/// More different numbers are no classes.
const MOST_CLASSES: usize = 1000;
/// Beyond this not every whole number is one of f64.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What targets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    None,
    Classes,
    Values,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counted {
    kind: Kind,
    /// Whether rows are sparse.
    sparse: bool,
    /// Names of several values.
    names: Option<Vec<String>>,
    /// Rows to learn from.
    known: usize,
    /// Classes with how many rows they have.
    classes: BTreeMap<String, usize>,
    /// Different whole numbers among the values with their counts; `None`: too many, or a number with a fraction.
    whole: Option<BTreeMap<i64, usize>>,
}

/// A row that may become a landmark: columns (none of a dense one) and values.
type Row<T> = (Vec<u32>, Vec<T>);

/// What the first pass has seen, sums aside.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look<T> {
    counted: Option<Counted>,
    /// By random number and number of the row.
    drawn: BTreeMap<(u64, usize), Row<T>>,
}

impl<T> Default for Look<T> {
    fn default() -> Self {
        Look { counted: None, drawn: BTreeMap::new() }
    }
}

/// What the targets of all rows are.
pub(super) struct Found<T> {
    /// Rows to learn from.
    pub(super) known: usize,
    /// Classes, with how many rows they have, or values.
    pub(super) answer: Option<Answer>,
    pub(super) counts: Vec<usize>,
    pub(super) sparse: bool,
    /// Landmarks and their rows, ascending.
    pub(super) landmarks: (Samples<T>, Vec<usize>),
}

impl<T: Scalar> Look<T> {
    /// Adds the rows of a piece whose targets are known; `at` are their places and `first` the number of its first row.
    pub(super) fn add(
        &mut self,
        job: &Job,
        first: usize,
        (x, y): (SamplesRef<'_, T>, Option<&Target>),
        at: &[usize],
    ) -> Result<()> {
        let counted = counted(job, (x, y), at)?;
        self.join(job, counted)?;
        let salt = random::generator(job.seed, Purpose::RowLandmarks).random::<u64>();
        let most = job.most_landmarks();
        for &i in at {
            let key = (scattered(salt, first + i), first + i);
            let full = self.drawn.len() >= most;
            if full && self.drawn.last_key_value().is_some_and(|(last, _)| *last < key) {
                continue;
            }
            self.drawn.insert(key, row(x, i));
            if full {
                self.drawn.pop_last();
            }
        }
        Ok(())
    }

    /// Adds what another part has seen.
    pub(super) fn merge(&mut self, job: &Job, other: Look<T>) -> Result<()> {
        if let Some(counted) = other.counted {
            self.join(job, counted)?;
        }
        self.drawn.extend(other.drawn);
        while self.drawn.len() > job.most_landmarks() {
            self.drawn.pop_last();
        }
        Ok(())
    }

    fn join(&mut self, job: &Job, next: Counted) -> Result<()> {
        let Some(here) = &mut self.counted else {
            self.counted = Some(next);
            return Ok(());
        };
        here.check_like(&next)?;
        here.known += next.known;
        next.classes.into_iter().for_each(|(name, count)| *here.classes.entry(name).or_default() += count);
        let both = here.whole.take().zip(next.whole).map(|(mut all, more)| {
            more.into_iter().for_each(|(number, count)| *all.entry(number).or_default() += count);
            all
        });
        here.whole = both.filter(|all| all.len() <= most_numbers(job));
        Ok(())
    }

    /// Columns of the moments of this width and of the targets.
    pub(super) fn columns(&self, width: usize) -> usize {
        let Some(counted) = &self.counted else { return 0 };
        let targets = if counted.kind == Kind::Values { counted.names.as_ref().map_or(1, Vec::len) } else { 0 };
        targets + if counted.sparse { 0 } else { width }
    }

    /// What all of it amounts to.
    pub(super) fn finish(self, job: &Job, width: usize) -> Result<Found<T>> {
        let missing = || Error::param("rows", "missing", "there");
        let counted = self.counted.ok_or_else(missing)?;
        let (answer, counts) = counted.answer(job)?;
        let known = counted.known;
        let count = job.landmarks.unwrap_or(known.min(job.most_landmarks()));
        if count == 0 || count > known {
            return Err(Error::param("landmarks", count, format!("between 1 and the number of samples, {known}")));
        }
        let mut drawn: Vec<(usize, Row<T>)> = self.drawn.into_iter().map(|((_, at), row)| (at, row)).collect();
        drawn.sort_by_key(|(at, _)| *at);
        let (rows, drawn): (Vec<usize>, Vec<Row<T>>) = drawn.into_iter().unzip();
        let landmarks = (samples_of(&drawn, width, counted.sparse), rows);
        Ok(Found { known, answer, counts, sparse: counted.sparse, landmarks })
    }

    /// Puts it into an archive.
    pub(super) fn put(&self, archive: &mut Archive) {
        archive.set_field("look", &self.counted);
        let keys: Vec<(u64, usize)> = self.drawn.keys().copied().collect();
        archive.set_field("drawn", keys);
        let sparse = self.counted.as_ref().is_some_and(|counted| counted.sparse);
        let drawn: Vec<Row<T>> = self.drawn.values().cloned().collect();
        let width = drawn.iter().map(|(columns, values)| wide(columns, values, sparse)).max().unwrap_or(0);
        archive.set_samples("drawn.rows", samples_of(&drawn, width, sparse).as_ref());
    }

    /// What was put there, of rows of this width.
    pub(super) fn take(archive: &Archive, job: &Job, facts: (usize, usize)) -> Result<Self> {
        let (rows, width) = facts;
        let counted: Option<Counted> = archive.field("look")?;
        let keys: Vec<(u64, usize)> = archive.field("drawn")?;
        let drawn: Samples<T> = archive.samples("drawn.rows")?;
        let sparse = counted.as_ref().is_some_and(|counted| counted.sparse);
        let fits = keys.len() == drawn.count()
            && keys.len() <= job.most_landmarks()
            && (drawn.count() == 0 || drawn.width() <= width && (sparse || drawn.width() == width))
            && keys.iter().all(|(_, row)| *row < rows)
            && matches!(drawn, Samples::Sparse(_)) == sparse;
        if !fits {
            return Err(archive.error("has landmarks whose sizes do not fit together"));
        }
        drawn.check_finite("the landmarks")?;
        let drawn = keys.into_iter().enumerate().map(|(i, key)| (key, row(drawn.as_ref(), i))).collect();
        Ok(Look { counted, drawn })
    }
}

impl Counted {
    /// Refuses targets or rows of another kind.
    fn check_like(&self, other: &Counted) -> Result<()> {
        let word = |sparse: bool| if sparse { "sparse" } else { "dense" };
        if self.sparse != other.sparse {
            return Err(Error::unlike("the table", word(self.sparse), word(other.sparse)));
        }
        let kind = |of: &Counted| match (of.kind, &of.names) {
            (Kind::None, _) => "missing".to_string(),
            (Kind::Classes, _) => "of classes".to_string(),
            (Kind::Values, None) => "of values".to_string(),
            (Kind::Values, Some(names)) => format!("of the values {}", names.join(", ")),
        };
        if (self.kind, &self.names) == (other.kind, &other.names) {
            return Ok(());
        }
        Err(Error::unlike("the target", kind(self), kind(other)))
    }

    /// What is predicted, and rows of each class.
    fn answer(&self, job: &Job) -> Result<(Option<Answer>, Vec<usize>)> {
        if !job.method.predicts() {
            return Ok((None, Vec::new()));
        }
        if self.known == 0 {
            return Err(crate::estimators::scoring::no_target());
        }
        let as_classes = job.method.of_classes() || job.task == Task::Classes;
        match (&self.kind, &self.names) {
            (Kind::Classes, _) if job.task == Task::Values => {
                Err(Error::param("task", "values", "classes for labels that are no numbers"))
            }
            (Kind::Classes, _) => named(self.classes.iter().map(|(name, count)| (name.clone(), *count)).collect()),
            (Kind::Values, Some(names)) if !job.method.of_classes() => {
                Ok((Some(Answer::Several(names.clone())), Vec::new()))
            }
            (Kind::Values, Some(names)) => {
                Err(Error::param("target", names.join(","), "one column: only `krr` learns several"))
            }
            (Kind::Values, None) if job.task == Task::Values => Ok((Some(Answer::Values), Vec::new())),
            (Kind::Values, None) => match &self.whole {
                Some(whole) if as_classes || whole.len() <= FEW => {
                    named(whole.iter().map(|(number, count)| (number.to_string(), *count)).collect())
                }
                _ if as_classes => {
                    let allowed = format!("classes: at most {MOST_CLASSES} different whole numbers, or words");
                    Err(Error::param("target", "of other numbers", allowed))
                }
                _ => Ok((Some(Answer::Values), Vec::new())),
            },
            (Kind::None, _) => Err(crate::estimators::scoring::no_target()),
        }
    }
}

/// Classes in the order of their names, numbers in their own.
fn named(mut all: Vec<(String, usize)>) -> Result<(Option<Answer>, Vec<usize>)> {
    if all.len() < 2 {
        return Err(Error::param("labels", "of one class only", "of at least two classes"));
    }
    let number = |name: &String| name.parse::<f64>().ok();
    if all.iter().all(|(name, _)| number(name).is_some()) {
        all.sort_by(|(a, _), (b, _)| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    let (names, counts) = all.into_iter().unzip();
    Ok((Some(Answer::Classes(names)), counts))
}

/// Different whole numbers that are counted.
fn most_numbers(job: &Job) -> usize {
    if job.method.of_classes() || job.task == Task::Classes { MOST_CLASSES } else { FEW }
}

fn counted<T: Scalar>(job: &Job, (x, y): (SamplesRef<'_, T>, Option<&Target>), at: &[usize]) -> Result<Counted> {
    let y = y.filter(|_| job.method.predicts());
    let mut out = Counted {
        kind: Kind::None,
        sparse: matches!(x, SamplesRef::Sparse(_)),
        names: None,
        known: at.len(),
        classes: BTreeMap::new(),
        whole: None,
    };
    match y {
        None if job.method != Method::Pca && job.method != Method::Features => {
            return Err(crate::estimators::scoring::no_target());
        }
        None => {}
        Some(Target::Classes { names, codes }) => {
            out.kind = Kind::Classes;
            for &i in at {
                let Some(code) = codes[i] else { continue };
                *out.classes.entry(names[code as usize].clone()).or_default() += 1;
            }
        }
        Some(Target::Values(values)) => {
            (out.kind, out.whole) = (Kind::Values, whole(at.iter().map(|&i| values[i]), most_numbers(job)));
        }
        Some(Target::Several { names, .. }) => (out.kind, out.names) = (Kind::Values, Some(names.clone())),
    }
    Ok(out)
}

/// How often each number occurs if all are whole and there are few of them.
fn whole(values: impl Iterator<Item = f64>, most: usize) -> Option<BTreeMap<i64, usize>> {
    let mut out = BTreeMap::new();
    for value in values {
        if value.fract() != 0.0 || value.abs() > EXACT || out.len() > most {
            return None;
        }
        *out.entry(value as i64).or_default() += 1;
    }
    (out.len() <= most).then_some(out)
}

/// A random number that belongs to a row (the finaliser of SplitMix64).
fn scattered(salt: u64, row: usize) -> u64 {
    let mut z = salt.wrapping_add((row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn row<T: Scalar>(x: SamplesRef<'_, T>, i: usize) -> Row<T> {
    match x {
        SamplesRef::Dense(m) => (Vec::new(), m.row(i).iter().copied().collect()),
        SamplesRef::Sparse(s) => (s.row(i).0.to_vec(), s.row(i).1.to_vec()),
    }
}

fn wide<T>(columns: &[u32], values: &[T], sparse: bool) -> usize {
    if sparse { columns.last().map_or(0, |last| *last as usize + 1) } else { values.len() }
}

fn samples_of<T: Scalar>(rows: &[Row<T>], width: usize, sparse: bool) -> Samples<T> {
    if !sparse {
        return Samples::Dense(Mat::from_fn(rows.len(), width, |i, j| rows[i].1[j]));
    }
    let mut out = Csr::empty(width);
    for (columns, values) in rows {
        out.push_row(columns.iter().copied().zip(values.iter().copied()));
    }
    Samples::Sparse(out)
}

/// Classes by name.
fn places(names: &[String]) -> BTreeMap<&str, u32> {
    names.iter().zip(0..).map(|(name, code)| (name.as_str(), code)).collect()
}

/// The class of each listed row.
pub(super) fn codes(y: &Target, names: &[String], at: &[usize]) -> Result<Vec<u32>> {
    let places = places(names);
    let strange =
        |word: &str| Error::param("label", word, format!("one of the classes of the first pass, {}", names.join(", ")));
    let place = |word: &str| places.get(word).copied().ok_or_else(|| strange(word));
    match y {
        Target::Classes { names, codes } => {
            let own: Vec<Option<u32>> = names.iter().map(|name| places.get(name.as_str()).copied()).collect();
            let of = |&i: &usize| {
                let code = codes[i].map_or(0, |code| code as usize);
                own[code].ok_or_else(|| strange(&names[code]))
            };
            at.iter().map(of).collect()
        }
        Target::Values(values) => at.iter().map(|&i| place(&(values[i] + 0.0).to_string())).collect(),
        Target::Several { names, .. } => Err(Error::param("target", names.join(","), "one column of classes")),
    }
}

//! Settings: values that users give by name, and what is known about each name.
//!
//! Every door (the command line, Python, recipes in files, grids, model files) hands over [`Settings`]; what a name means, what
//! it may be and what holds without it is described once, in the [`Setting`]s of the thing that takes it.
//!
//! ```
//! use lopsided::base::settings::Settings;
//!
//! let given = Settings::default().with("rank", 20).with("kernel", "sne").with("polish", false);
//! assert_eq!(given.count("rank", 16)?, 20);
//! assert_eq!(given.number("tol", 1e-6)?, 1e-6);
//! assert_eq!(given.flag("rank", true).unwrap_err().to_string(), "`rank` is 20 but must be true or false");
//! # Ok::<(), lopsided::Error>(())
//! ```

use super::checkpoint::Fingerprint;
use super::error::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A value as a user gives it.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A number, whole or not.
    Number(f64),
    /// A name.
    Text(String),
    /// A list of numbers, such as rows.
    Numbers(Vec<f64>),
    /// A matrix, row by row, such as points.
    Rows(Vec<Vec<f64>>),
}

impl Value {
    /// The value that a word on a command line means.
    ///
    /// ```
    /// use lopsided::base::settings::Value;
    ///
    /// assert_eq!(Value::of_word("true"), Value::Flag(true));
    /// assert_eq!(Value::of_word("1e-3"), Value::Number(0.001));
    /// assert_eq!(Value::of_word("median"), Value::Text("median".into()));
    /// ```
    pub fn of_word(word: &str) -> Self {
        match word {
            "true" => Value::Flag(true),
            "false" => Value::Flag(false),
            _ => word.parse().map_or_else(|_| Value::Text(word.into()), Value::Number),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Flag(flag) => flag.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
            Value::Numbers(numbers) => write!(f, "{} numbers", numbers.len()),
            Value::Rows(rows) => write!(f, "{} rows of numbers", rows.len()),
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Value::Flag(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Number(count as f64)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Number(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

/// What is known about a setting: the line that help texts, references and errors are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Setting {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What it may be.
    pub allowed: &'static str,
    /// What holds without it: a value, or the rule that finds one from the data.
    pub default: &'static str,
}

impl Setting {
    /// A setting with its name, its line, its range and its default.
    pub const fn new(name: &'static str, about: &'static str, allowed: &'static str, default: &'static str) -> Self {
        Setting { name, about, allowed, default }
    }
}

/// Values by name.
///
/// Readers such as [`Settings::count`] name the default where they are called, and refuse a value of the wrong kind
/// with the range that is allowed. A misspelt name is found by [`Settings::refuse_unknown`].
///
/// ```
/// use lopsided::base::settings::Settings;
///
/// let usual = Settings::default().with("rank", 16).with("tol", 1e-6);
/// let given = Settings::default().with("rank", 20);
/// let both = usual.and(&given); // what is given wins
/// assert_eq!((both.get("rank"), both.get("tol"), both.get("seed")), (Some(20.0), Some(1e-6), None));
/// assert_eq!(both.positive("rank", None)?, 20.0);
/// assert!(both.share("rank", 0.5).is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Settings from pairs of words, each taken as [`Value::of_word`] does.
    pub fn of_words<'a>(pairs: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        pairs.into_iter().map(|(name, word)| (name.clone(), Value::of_word(word))).collect()
    }

    /// The same with one value more, or another one.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The same with one value more, if there is one.
    pub fn with_some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The same with the word of a value, as [`Value::of_word`] takes it.
    pub fn with_word(self, name: &str, word: impl fmt::Display) -> Self {
        self.with(name, Value::of_word(&word.to_string()))
    }

    /// The same and those of `others`, which win.
    pub fn and(mut self, others: &Settings) -> Self {
        self.0.extend(others.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// A value, if it was given.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Takes a value out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Takes out what one of these settings describes, so that several parts of a recipe can each take their own and
    /// what is left belongs to nobody.
    pub fn take_all(&mut self, known: &[Setting]) -> Settings {
        let taken = known.iter().filter_map(|s| self.0.remove_entry(s.name));
        Settings(taken.collect())
    }

    /// A number, if it was given.
    pub fn get(&self, name: &str) -> Option<f64> {
        if let Some(Value::Number(number)) = self.value(name) { Some(*number) } else { None }
    }

    /// Names and values in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The same as JSON, long lists as a number that tells them apart.
    pub(crate) fn to_map(&self) -> serde_json::Map<String, serde_json::Value> {
        let short = |value: &Value| match value {
            Value::Numbers(_) | Value::Rows(_) => {
                let mut print = Fingerprint::default();
                print.debug(value);
                format!("a list with the fingerprint {print}").into()
            }
            other => serde_json::to_value(other).unwrap_or_default(),
        };
        self.0.iter().map(|(name, value)| (name.clone(), short(value))).collect()
    }

    /// Whether nothing was given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The error about a value that is not allowed.
    fn refused(&self, name: &str, allowed: &str) -> Error {
        let value = self.value(name).map_or_else(|| "missing".into(), ToString::to_string);
        Error::param(name, value, allowed)
    }

    /// A number that `fits`, `default` if not given.
    fn fitting(&self, name: &str, default: Option<f64>, allowed: &str, fits: impl Fn(f64) -> bool) -> Result<f64> {
        let found = if self.value(name).is_some() { self.get(name) } else { default };
        found.filter(|number| fits(*number)).ok_or_else(|| self.refused(name, allowed))
    }

    /// A finite number, `default` if not given.
    pub fn number(&self, name: &str, default: f64) -> Result<f64> {
        self.fitting(name, Some(default), "a finite number", f64::is_finite)
    }

    /// A number above 0, `default` if not given.
    pub fn positive(&self, name: &str, default: Option<f64>) -> Result<f64> {
        self.fitting(name, default, "a number above 0", |v| v.is_finite() && v > 0.0)
    }

    /// A number between 0 and 1, both excluded, `default` if not given.
    pub fn share(&self, name: &str, default: f64) -> Result<f64> {
        self.fitting(name, Some(default), "above 0 and below 1", |v| v > 0.0 && v < 1.0)
    }

    /// A whole number of at least 1, `default` if not given.
    pub fn count(&self, name: &str, default: u32) -> Result<u32> {
        let whole = |v: f64| v >= 1.0 && v <= f64::from(u32::MAX) && v.fract() == 0.0;
        Ok(self.fitting(name, Some(default.into()), "a whole number of at least 1", whole)? as u32)
    }

    /// A whole number of at least 1 that has no default.
    pub fn needed(&self, setting: &Setting) -> Result<u32> {
        if self.value(setting.name).is_none() {
            return Err(self.refused(setting.name, &format!("the {}", setting.about)));
        }
        self.count(setting.name, 1)
    }

    /// Yes or no, `default` if not given.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        match self.value(name) {
            None => Ok(default),
            Some(Value::Flag(flag)) => Ok(*flag),
            // 0 and 1 are how models of earlier versions wrote it.
            Some(Value::Number(number)) if *number == 0.0 || *number == 1.0 => Ok(*number == 1.0),
            Some(_) => Err(self.refused(name, "true or false")),
        }
    }

    /// One of the named values of a type, if it was given.
    ///
    /// ```
    /// use lopsided::base::settings::Settings;
    /// use lopsided::kernel::Gamma;
    ///
    /// let given = Settings::default().with("gamma", "median");
    /// assert_eq!(given.word::<Gamma>("gamma")?, Some(Gamma::Median));
    /// assert_eq!(given.word::<Gamma>("delta")?, None);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn word<V: FromStr<Err = Error>>(&self, name: &str) -> Result<Option<V>> {
        self.value(name).map(|value| value.to_string().parse()).transpose()
    }

    /// Refuses settings that mean nothing unless `other` is given.
    ///
    /// # Errors
    /// [`Error::Param`] for the first of them that was given.
    pub fn needs(&self, other: &str, these: &[&str]) -> Result<()> {
        let alone = these.iter().find_map(|name| Some((*name, self.value(name)?)));
        alone.map_or(Ok(()), |(name, value)| {
            Err(Error::param(name, value, format!("left out, or given with `{other}`")))
        })
    }

    /// Refuses names that are not among these, with the one that may have been meant.
    ///
    /// ```
    /// use lopsided::base::settings::{Setting, Settings};
    ///
    /// let known = [Setting::new("rank", "number of components", "at least 1", "16")];
    /// let error = Settings::default().with("rang", 3).refuse_unknown(&[&known]).unwrap_err();
    /// assert_eq!(error.to_string(), "no setting `rang` (did you mean `rank`?); known: rank");
    /// ```
    ///
    /// # Errors
    /// [`Error::Unknown`].
    pub fn refuse_unknown(&self, known: &[&[Setting]]) -> Result<()> {
        let names: Vec<&str> = known.concat().iter().map(|setting| setting.name).collect();
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let known = names.iter().map(ToString::to_string).collect();
                Err(Error::Unknown { kind: "setting", name: name.clone(), known })
            }
        }
    }
}

impl FromIterator<(String, Value)> for Settings {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(pairs: I) -> Self {
        Settings(pairs.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_their_range_are_named() {
        let given = Settings::default().with("gamma", -1.0).with("degree", 2.5).with("tol", "small");
        let message = |result: Result<f64>| result.unwrap_err().to_string();
        assert_eq!(message(given.positive("gamma", None)), "`gamma` is -1 but must be a number above 0");
        assert_eq!(message(given.number("tol", 1.0)), "`tol` is small but must be a finite number");
        assert!(given.count("degree", 3).is_err());
        assert_eq!(given.number("coef0", 1.0).unwrap(), 1.0);
        assert_eq!(message(given.positive("width", None)), "`width` is missing but must be a number above 0");
    }

    #[test]
    fn words_of_a_command_line_have_types_and_files_keep_them() {
        let words = ["10", "1e-3", "true", "median", "-0.5"].map(Value::of_word);
        assert_eq!(words[..3], [Value::Number(10.0), Value::Number(1e-3), Value::Flag(true)]);
        assert_eq!(words[3], Value::Text("median".into()));
        let rows = Value::Rows(vec![vec![1.0, 2.0], vec![3.0, 4.0]]);
        let given: Settings = words
            .into_iter()
            .chain([rows, Value::Numbers(vec![1.0, 2.0])])
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect();
        let text = serde_json::to_string(&given).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), given);
    }

    #[test]
    fn an_unknown_name_is_refused_with_a_suggestion() {
        const KNOWN: [Setting; 1] = [Setting::new("penalty", "weight of the errors", "a number above 0", "1")];
        let error = Settings::default().with("penalti", 1.0).refuse_unknown(&[&KNOWN]).unwrap_err().to_string();
        assert!(error.starts_with("no setting `penalti` (did you mean `penalty`?)"), "{error}");
        assert!(Settings::default().with("penalty", 1.0).refuse_unknown(&[&KNOWN]).is_ok());
    }
}

//! Named things with parameters: one visible list per family.

use crate::base::error::{Error, Result};
use std::collections::BTreeMap;

/// Numeric parameters by name, as the command line, Python and saved models write them.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, f64>);

impl Params {
    /// The same parameters and one more.
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.0.insert(name.into(), value);
        self
    }

    /// A parameter, if it was given.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Names and values in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// A finite number, `default` if not given.
    pub fn number(&self, name: &'static str, default: f64) -> Result<f64> {
        let value = self.get(name).unwrap_or(default);
        if value.is_finite() { Ok(value) } else { Err(Error::param(name, value, "a finite number")) }
    }

    /// A number above 0, `default` if not given.
    pub fn positive(&self, name: &'static str, default: Option<f64>) -> Result<f64> {
        let value = self.get(name).or(default).ok_or_else(|| Error::param(name, "missing", "a number above 0"))?;
        if value.is_finite() && value > 0.0 { Ok(value) } else { Err(Error::param(name, value, "a number above 0")) }
    }

    /// A whole number of at least 1, `default` if not given.
    pub fn count(&self, name: &'static str, default: u32) -> Result<u32> {
        let value = self.get(name).unwrap_or(f64::from(default));
        if value >= 1.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            return Ok(value as u32);
        }
        Err(Error::param(name, value, "a whole number of at least 1"))
    }
}

/// One member of a family: what it is called, what it is, how it is made.
pub struct Entry<B: ?Sized> {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// Its formula or its method in one line.
    pub about: &'static str,
    /// Parameters it takes.
    pub params: &'static [&'static str],
    /// Makes one from its parameters.
    pub build: fn(&Params) -> Result<Box<B>>,
}

/// Makes the member called `name`, refusing names and parameters it does not know.
pub fn build<B: ?Sized>(kind: &'static str, entries: &[Entry<B>], name: &str, params: &Params) -> Result<Box<B>> {
    let entry = entries.iter().find(|e| e.name == name).ok_or_else(|| Error::Unknown {
        kind,
        name: name.into(),
        known: entries.iter().map(|e| e.name.into()).collect(),
    })?;
    if let Some((extra, _)) = params.iter().find(|(p, _)| !entry.params.contains(p)) {
        let takes = if entry.params.is_empty() { "none".into() } else { entry.params.join(", ") };
        let value = format!("a parameter of {kind} `{name}`");
        return Err(Error::Param { name: extra.into(), value, allowed: format!("one it takes: {takes}") });
    }
    (entry.build)(params)
}

/// The one of some named values that a text names.
pub(crate) fn named<K: Copy>(kind: &'static str, names: &[(K, &str)], text: &str) -> Result<K> {
    names.iter().find(|(_, name)| *name == text).map(|(value, _)| *value).ok_or_else(|| Error::Unknown {
        kind,
        name: text.into(),
        known: names.iter().map(|(_, name)| (*name).into()).collect(),
    })
}

/// The name of a value in such a list.
pub(crate) fn name_of<K: Copy + PartialEq>(names: &[(K, &'static str)], value: K) -> &'static str {
    names.iter().find(|(known, _)| *known == value).map_or("", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_outside_their_range_are_named() {
        let params = Params::default().with("gamma", -1.0).with("degree", 2.5);
        assert_eq!(
            params.positive("gamma", None).unwrap_err().to_string(),
            "`gamma` is -1 but must be a number above 0"
        );
        assert!(params.count("degree", 3).is_err());
        assert_eq!(params.number("coef0", 1.0).unwrap(), 1.0);
    }
}

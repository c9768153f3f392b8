//! Named things with settings: one visible list per family.
//!
//! A family is a list of [`Entry`]s, such as [`crate::kernel::kernels`]; listings, help texts, saved models and errors
//! about unknown names all read the same list. Adding a member is one entry in it.

use super::error::{Error, Result};
use super::settings::{Setting, Settings};

/// One member of a family: what it is called, what it is, how it is made.
///
/// ```
/// let kernels = lopsided::kernel::kernels::<f64>();
/// let poly = lopsided::base::registry::find("kernel", &kernels, "poly")?;
/// assert!(poly.has("degree") && !poly.has("alpha"));
/// assert_eq!(poly.settings[2].default, "3");
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Entry<B: ?Sized> {
    /// Name in kebab case, the same everywhere.
    pub name: &'static str,
    /// Its formula or its method in one line.
    pub about: &'static str,
    /// Settings it takes.
    pub settings: &'static [Setting],
    /// Makes one from its settings.
    pub build: fn(&Settings) -> Result<Box<B>>,
}

impl<B: ?Sized> Entry<B> {
    /// Whether it takes a setting.
    pub fn has(&self, setting: &str) -> bool {
        self.settings.iter().any(|s| s.name == setting)
    }
}

/// Makes the member called `name`, refusing names and settings it does not know.
///
/// # Errors
/// [`Error::Unknown`] for the name, [`Error::Param`] for a setting it does not take or a value outside its range.
pub fn build<B: ?Sized>(kind: &'static str, entries: &[Entry<B>], name: &str, given: &Settings) -> Result<Box<B>> {
    let entry = find(kind, entries, name)?;
    if let Some((extra, _)) = given.iter().find(|(setting, _)| !entry.has(setting)) {
        let names: Vec<&str> = entry.settings.iter().map(|s| s.name).collect();
        let takes = if names.is_empty() { "none".into() } else { names.join(", ") };
        let value = format!("a parameter of {kind} `{name}`");
        return Err(Error::Param { name: extra.into(), value, allowed: format!("one it takes: {takes}") });
    }
    (entry.build)(given)
}

/// The member called `name`.
///
/// ```
/// use lopsided::base::registry::find;
///
/// let kernels = lopsided::kernel::kernels::<f64>();
/// let message = find("kernel", &kernels, "kats").err().unwrap().to_string();
/// assert!(message.starts_with("no kernel `kats` (did you mean `katz`?)"));
/// ```
///
/// # Errors
/// [`Error::Unknown`] with the one that may have been meant.
pub fn find<'a, B: ?Sized>(kind: &'static str, entries: &'a [Entry<B>], name: &str) -> Result<&'a Entry<B>> {
    entries.iter().find(|e| e.name == name).ok_or_else(|| Error::Unknown {
        kind,
        name: name.into(),
        known: entries.iter().map(|e| e.name.into()).collect(),
    })
}

/// The words of an enum: [`std::fmt::Display`] writes them, [`std::str::FromStr`] reads them and refuses any other with the
/// list of those there are.
macro_rules! words {
    ($kind:ident, $what:literal: $($value:ident = $word:literal),+) => {
        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $($kind::$value => $word),+ })
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::base::error::Error;

            fn from_str(text: &str) -> $crate::base::error::Result<Self> {
                match text {
                    $($word => Ok($kind::$value),)+
                    _ => Err($crate::base::error::Error::Unknown {
                        kind: $what,
                        name: text.into(),
                        known: vec![$($word.into()),+],
                    }),
                }
            }
        }
    };
}
pub(crate) use words;

//! One error type for the whole library: fields instead of prose.
//!
//! A caller can match on what went wrong and read the values; the message is made of them in one place. Messages are
//! parts of a sentence without a full stop, name things as the user wrote them, and say what would have been allowed.
//!
//! ```
//! use lopsided::Error;
//! use lopsided::kernel::KernelSpec;
//!
//! let error = KernelSpec::new("laplacien").build::<f64>().err().unwrap();
//! assert!(error.to_string().starts_with("no kernel `laplacien` (did you mean `laplacian`?); known: linear, poly"));
//! assert!(matches!(error, Error::Unknown { kind: "kernel", .. }));
//! ```

/// Result of everything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with the values a user needs to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Sizes that should agree do not.
    #[error("{what} is {got} but must be {expected}")]
    Shape {
        /// Which size.
        what: String,
        /// The size that would fit.
        expected: String,
        /// The size that was given.
        got: String,
    },
    /// A parameter outside its range.
    #[error("`{name}` is {value} but must be {allowed}")]
    Param {
        /// Parameter name as the user writes it.
        name: String,
        /// The offending value.
        value: String,
        /// The allowed range in words.
        allowed: String,
    },
    /// NaN or infinity in the data.
    #[error("{what} contains {value} at row {row}, column {col}")]
    NotFinite {
        /// Which data.
        what: String,
        /// `NaN` or `inf`.
        value: String,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        col: usize,
    },
    /// Cells of a table without a value.
    #[error("{what}: {}", absent(columns))]
    Missing {
        /// The table.
        what: String,
        /// Columns with missing values, and how many each has.
        columns: Vec<(String, usize)>,
    },
    /// Columns that a model needs and a table does not have.
    #[error("{what}: there is no column {}; the table has {}", listed(missing), listed(found))]
    NoColumns {
        /// The table.
        what: String,
        /// Those that are needed.
        missing: Vec<String>,
        /// Those that it has.
        found: Vec<String>,
    },
    /// A name that is not in a registry.
    #[error("no {kind} `{name}`{}; known: {}", suggestion(name, known), known.join(", "))]
    Unknown {
        /// What kind of thing was looked up.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// A file whose contents cannot be understood.
    #[error("{path}: {reason}")]
    Parse {
        /// The file, with a line number where there is one.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A singular system.
    #[error("{what} is singular")]
    Singular {
        /// Which system.
        what: String,
    },
    /// More memory than allowed would be needed.
    #[error("{what} needs {} but {} are allowed; {advice}", bytes(*needed), bytes(*available))]
    Memory {
        /// What would be allocated.
        what: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        available: u64,
        /// What the user can do.
        advice: String,
    },
    /// A model file that cannot be read.
    #[error("{path}: {reason}")]
    Archive {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A file that cannot be opened, read or written.
    #[error("{path}: {}", plain(source))]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// Numbers beyond what the precision can hold.
    #[error("{what} are beyond the range of {kind}: {reason}; {advice}")]
    OutOfRange {
        /// Which numbers.
        what: String,
        /// The precision.
        kind: &'static str,
        /// How that comes about.
        reason: String,
        /// What the user can do.
        advice: String,
    },
    /// Learning by gradients that ran away.
    #[error(
        "{what} diverged in epoch {epoch}: {reason}; the learning rate {learning_rate} is too large, take a smaller one"
    )]
    Diverged {
        /// What was learned.
        what: String,
        /// When it was noticed, counted from 1.
        epoch: usize,
        /// How it was noticed.
        reason: String,
        /// The rate that was given.
        learning_rate: f64,
    },
    /// A model that a format of other programs has no place for.
    #[error("the model cannot be exported to {format}: {reason}")]
    Export {
        /// The format.
        format: &'static str,
        /// Why not.
        reason: String,
    },
    /// A device that cannot be used, or that failed at its work.
    #[error("the device {device} cannot be used: {reason}")]
    Device {
        /// The device as the user names it.
        device: String,
        /// Why not.
        reason: String,
    },
    /// Rows that are there twice.
    #[error("rows {first} to {last} are in two of the parts")]
    Twice {
        /// The first row, counted from 0.
        first: usize,
        /// The last row.
        last: usize,
    },
    /// Rows that are not there.
    #[error("rows {first} to {last} of {rows} are in none of the parts")]
    Absent {
        /// The first row, counted from 0.
        first: usize,
        /// The last row.
        last: usize,
        /// Rows of the whole table.
        rows: usize,
    },
    /// Parts of different work.
    #[error("the parts do not belong together: {what} is {one} in one of them and {other} in another")]
    Unlike {
        /// In what they differ.
        what: String,
        /// What one part says.
        one: String,
        /// What another one says.
        other: String,
    },
    /// The work was cancelled through [`crate::Watch::cancel`].
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// [`Error::Param`] from displayable parts.
    ///
    /// ```
    /// let error = lopsided::Error::param("rank", 0, "at least 1");
    /// assert_eq!(error.to_string(), "`rank` is 0 but must be at least 1");
    /// ```
    pub fn param(name: &str, value: impl ToString, allowed: impl Into<String>) -> Self {
        Error::Param { name: name.into(), value: value.to_string(), allowed: allowed.into() }
    }

    /// [`Error::Unlike`] from displayable parts.
    pub fn unlike(what: impl Into<String>, one: impl ToString, other: impl ToString) -> Self {
        Error::Unlike { what: what.into(), one: one.to_string(), other: other.to_string() }
    }

    /// [`Error::Shape`] from displayable parts.
    ///
    /// ```
    /// let error = lopsided::Error::shape("the number of ids", 3, 2);
    /// assert_eq!(error.to_string(), "the number of ids is 2 but must be 3");
    /// ```
    pub fn shape(what: impl Into<String>, expected: impl ToString, got: impl ToString) -> Self {
        Error::Shape { what: what.into(), expected: expected.to_string(), got: got.to_string() }
    }

    /// [`Error::Io`] that names the file, which the system's own error does not.
    pub fn io(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().display().to_string(), source }
    }

    /// [`Error::Parse`] that names the file, with the line as `file:12` where there is one.
    pub fn parse(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Error::Parse { path: path.into(), reason: reason.into() }
    }
}

/// A byte count as a person writes it.
///
/// Units are powers of 1000.
///
/// ```
/// use lopsided::base::error::bytes;
///
/// assert_eq!((bytes(999), bytes(3_100_000_000)), ("999 B".to_string(), "3.1 GB".to_string()));
/// ```
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{count} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

/// Columns named before the rest is only counted.
const NAMED: usize = 8;

/// How many values are missing, and where.
fn absent(columns: &[(String, usize)]) -> String {
    let total: usize = columns.iter().map(|(_, count)| count).sum();
    let mut places: Vec<String> =
        columns.iter().take(NAMED).map(|(name, count)| format!("{count} in column {name}")).collect();
    if columns.len() > NAMED {
        places.push(format!("others in {} more columns", columns.len() - NAMED));
    }
    let are = if total == 1 { "value is" } else { "values are" };
    format!("{total} {are} missing: {}", places.join(", "))
}

/// Names in quotes, the first of them if there are many.
///
/// ```
/// use lopsided::base::error::listed;
///
/// assert_eq!(listed(&["a".to_string(), "b".to_string()]), "`a`, `b`");
/// ```
pub fn listed(names: &[String]) -> String {
    let mut out: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED {
        out.push(format!("and {} more", names.len() - NAMED));
    }
    if out.is_empty() { "none".into() } else { out.join(", ") }
}

/// The known name that is nearest to the given one, if at least half of it agrees; nothing else is worth a guess.
fn suggestion(name: &str, known: &[String]) -> String {
    known
        .iter()
        .map(|k| (strsim::normalized_damerau_levenshtein(name, k), k))
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(String::new(), |(_, k)| format!(" (did you mean `{k}`?)"))
}

/// The two most frequent reasons without the number that the system appends.
fn plain(source: &std::io::Error) -> String {
    match source.kind() {
        std::io::ErrorKind::NotFound => "no such file or directory".into(),
        std::io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => source.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_get_a_suggestion() {
        let known = vec!["rbf".to_string(), "laplacian".to_string()];
        let text = Error::Unknown { kind: "kernel", name: "laplacien".into(), known }.to_string();
        assert_eq!(text, "no kernel `laplacien` (did you mean `laplacian`?); known: rbf, laplacian");
    }

    #[test]
    fn byte_counts_are_readable() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(3_100_000_000), "3.1 GB");
    }
}

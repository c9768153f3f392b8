//! Fields of one line of separated text.
//!
//! Edge lists, labels and ids need at most three fields of a line, so [`Fields`] keeps three and counts the rest: no
//! allocation for a line without quotes.

use super::Reasoned;
use std::borrow::Cow;

/// What stands between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// Comma, tab or semicolon.
    Char(char),
    /// Any run of white space.
    White,
}

impl Separator {
    /// The separator of a line: the most frequent of tab, comma and semicolon, else white space; `None` for one field.
    pub(super) fn detect(line: &str) -> Option<Self> {
        let (mut best, mut most) = (None, 0);
        for candidate in ['\t', ',', ';'] {
            let count = outside_quotes(line, candidate);
            if count > most {
                (best, most) = (Some(Separator::Char(candidate)), count);
            }
        }
        let spaced = || line.split_ascii_whitespace().nth(1).is_some() && !line.trim_start().starts_with('"');
        best.or_else(|| spaced().then_some(Separator::White))
    }

    /// The separator as the byte a csv reader wants; a table separated by white space has one column.
    pub(super) fn byte(self) -> u8 {
        match self {
            Separator::Char(char) => char as u8,
            Separator::White => b',',
        }
    }
}

/// How often a character occurs where it can separate.
fn outside_quotes(line: &str, wanted: char) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for char in line.chars() {
        quoted ^= char == '"';
        count += usize::from(!quoted && char == wanted);
    }
    count
}

/// The first three fields of a line, and how many there are.
pub(super) struct Fields<'a> {
    items: [Cow<'a, str>; 3],
    count: usize,
}

impl<'a> Fields<'a> {
    /// Splits a line and removes white space and quotes around the fields.
    pub(super) fn split(line: &'a str, separator: Option<Separator>) -> Reasoned<Self> {
        let mut fields = Fields { items: Default::default(), count: 0 };
        match separator {
            Some(Separator::White) => line.split_ascii_whitespace().for_each(|f| fields.push(Cow::Borrowed(f))),
            Some(Separator::Char(char)) if !line.contains('"') => {
                line.split(char).for_each(|f| fields.push(Cow::Borrowed(f.trim())));
            }
            Some(Separator::Char(char)) => fields.push_quoted(line, char)?,
            None => fields.push_quoted(line, '\n')?,
        }
        Ok(fields)
    }

    fn push(&mut self, field: Cow<'a, str>) {
        if let Some(item) = self.items.get_mut(self.count) {
            *item = field;
        }
        self.count += 1;
    }

    /// Fields of a line with quotes, in which separators may stand: RFC 4180, within one line.
    fn push_quoted(&mut self, line: &'a str, separator: char) -> Reasoned<()> {
        let mut rest = Some(line);
        while let Some(text) = rest {
            let start = text.trim_start_matches(' ');
            let tail = if let Some(body) = start.strip_prefix('"') {
                let (field, tail) = unquote(body)?;
                self.push(Cow::Owned(field));
                tail.trim_start_matches(' ')
            } else {
                let end = text.find(separator).unwrap_or(text.len());
                self.push(Cow::Borrowed(text[..end].trim()));
                &text[end..]
            };
            rest = tail.strip_prefix(separator);
            if rest.is_none() && !tail.is_empty() {
                return Err(format!("`{tail}` follows a closing quote"));
            }
        }
        Ok(())
    }

    /// Number of fields on the line.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Field 0, 1 or 2; empty where the line has fewer.
    pub(super) fn get(&self, index: usize) -> &str {
        &self.items[index]
    }
}

/// The text up to the closing quote, and what follows it; two quotes stand for one.
fn unquote(body: &str) -> Reasoned<(String, &str)> {
    let mut field = String::new();
    let mut rest = body;
    loop {
        let Some((head, tail)) = rest.split_once('"') else {
            return Err("a quoted field does not end on its line".into());
        };
        field.push_str(head);
        match tail.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => return Ok((field, tail)),
        }
    }
}

/// What people call the two ends of a link in the first line of a file.
const LINK_NAMES: [(&str, &str); 18] = [
    ("source", "target"),
    ("source", "destination"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("from_node", "to_node"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
    ("i", "j"),
    ("citing", "cited"),
    ("tail", "head"),
    ("start", "end"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("numeric_id_1", "numeric_id_2"),
    ("source_id", "target_id"),
];

/// Whether two column names are those of the ends of a link.
pub(super) fn are_link_names(first: &str, second: &str) -> bool {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    LINK_NAMES.contains(&(first.as_str(), second.as_str()))
}

/// A number without sign or leading zeros.
pub(super) fn whole(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let canonical = text.len() == 1 || !text.starts_with('0');
    if digits && canonical { text.parse().ok() } else { None }
}

/// Whether the text is a number, whatever its kind.
pub(super) fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// Whether text whose format is open is an edge list, by its first line; see the module page for the rule.
pub(super) fn looks_like_edges(lines: &[String], extension: &str) -> bool {
    // A node without links may stand alone on the first line.
    let line = lines.iter().find(|l| Separator::detect(l).is_some()).or(lines.first());
    let Some(line) = line else { return false };
    let separator = Separator::detect(line);
    let Ok(fields) = Fields::split(line, separator) else { return false };
    let few = fields.count() == 2 || fields.count() == 3;
    let named = few && are_link_names(fields.get(0), fields.get(1));
    let weighted = fields.count() == 2 || is_number(fields.get(2));
    let numbered = few && weighted && (0..2).all(|k| fields.get(k).parse::<i64>().is_ok());
    let spaced = extension == "txt" && separator == Some(Separator::White);
    named || numbered || spaced || few && names_two_nodes(lines.iter().skip(1).last(), fields.count())
}

/// A line of two names, perhaps with a weight: no row of a table, whose data are numbers.
fn names_two_nodes(line: Option<&String>, columns: usize) -> bool {
    let Some(fields) = line.and_then(|l| Fields::split(l, Separator::detect(l)).ok()) else { return false };
    let weighted = columns == 2 || fields.count() == 3 && is_number(fields.get(2));
    fields.count() == columns && weighted && (0..2).all(|k| !is_number(fields.get(k)) && !fields.get(k).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Reasoned<Vec<String>> {
        let fields = Fields::split(line, Separator::detect(line))?;
        Ok((0..fields.count().min(3)).map(|k| fields.get(k).to_owned()).collect())
    }

    #[test]
    fn fields_are_split_at_the_detected_separator() {
        for line in ["a,b", "a , b", "a\tb", "a;b", "a   b ", "\"a\",b", "a, \"b\""] {
            assert_eq!(split(line).unwrap(), ["a", "b"], "{line}");
        }
        assert_eq!(split("alone").unwrap(), ["alone"]);
        assert_eq!(split("1,").unwrap(), ["1", ""]);
    }

    #[test]
    fn quotes_protect_separators_and_quotes() {
        assert_eq!(split(r#""Smith, ""J""";b"#).unwrap(), [r#"Smith, "J""#, "b"]);
        assert_eq!(split(r#""New York""#).unwrap(), ["New York"]);
        assert_eq!(split("\"a,b").unwrap_err(), "a quoted field does not end on its line");
        assert_eq!(split("\"a\"x,b").unwrap_err(), "`x,b` follows a closing quote");
    }

    #[test]
    fn the_first_line_tells_edges_from_tables() {
        let edges = |line: &str, extension| looks_like_edges(&[line.to_string()], extension);
        for line in ["Source,Target", "src;dst;w", "0,1", "3\t4\t0.5", "0 1"] {
            assert!(edges(line, "csv"), "{line}");
        }
        for line in ["x,y", "source,target,a,b", "0.5,1", "1,2,3,4", "1,2,c", "a b", ""] {
            assert!(!edges(line, "csv"), "{line}");
        }
        assert!(edges("a b", "txt"));
        assert!(looks_like_edges(&["7".into(), "0,1".into()], "csv"));
    }
}

//! What a terminal makes of results: lines of its width, and colours where they are wanted.

use console::Term;
use lopsided::report::text;
use std::io::IsTerminal;

/// Narrower terminals than this are written to as if they had it.
const NARROWEST: usize = 40;
const DIM: &str = "\u{1b}[2m";
const YELLOW: &str = "\u{1b}[33m";
const PLAIN: &str = "\u{1b}[0m";

/// Labels and values as stdout shows them: in a pipe each on one line, on a terminal within its width.
pub(crate) fn aligned<L: AsRef<str>>(pairs: &[(L, String)]) -> String {
    written_to(&Term::stdout(), pairs)
}

/// The same as stderr shows them.
pub(crate) fn remarked<L: AsRef<str>>(pairs: &[(L, String)]) -> String {
    written_to(&Term::stderr(), pairs)
}

fn written_to<L: AsRef<str>>(terminal: &Term, pairs: &[(L, String)]) -> String {
    if !terminal.is_term() {
        return text::aligned(pairs);
    }
    let width = terminal.size_checked().map_or(80, |(_, columns)| usize::from(columns));
    fitted(pairs, width.max(NARROWEST), wants_colours())
}

/// Values as a line of bars, where somebody looks: files and pipes get none.
pub(crate) fn bars(values: &[f64], shown: &impl IsTerminal) -> Option<String> {
    (shown.is_terminal() && values.len() > 2).then(|| text::sparkline(values))
}

/// The word before a remark, in colour on a terminal.
pub(crate) fn note() -> String {
    if std::io::stderr().is_terminal() && wants_colours() { format!("{YELLOW}note:{PLAIN}") } else { "note:".into() }
}

/// Unless the user says otherwise, <https://no-color.org>, or the terminal knows none.
fn wants_colours() -> bool {
    let none = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !none && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Each value beside its label, broken between words into lines of the width.
fn fitted<L: AsRef<str>>(pairs: &[(L, String)], width: usize, colours: bool) -> String {
    let label = pairs.iter().map(|(label, _)| label.as_ref().chars().count()).max().unwrap_or(0);
    let (dim, plain) = if colours { (DIM, PLAIN) } else { ("", "") };
    let mut out = String::new();
    for (name, value) in pairs {
        for (k, line) in broken(value, width.saturating_sub(label + 2).max(8)).into_iter().enumerate() {
            let name = if k == 0 { name.as_ref() } else { "" };
            out += &[dim, &format!("{name:label$}"), plain, "  ", &line, "\n"].concat();
        }
    }
    out
}

/// The text in lines of at most `width` characters; a longer word is broken anywhere.
fn broken(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    let mut length = 0;
    for word in text.split_inclusive(' ') {
        let own = word.trim_end().chars().count();
        if length > 0 && length + own > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        for c in word.chars() {
            if length == width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if c != ' ' || length > 0 {
                line.push(c);
                length += 1;
            }
        }
    }
    lines.push(line);
    lines.into_iter().map(|line| line.trim_end().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_broken_below_each_other() {
        let pairs = [("why", "one two three four five".to_string()), ("longer", "x".into())];
        assert_eq!(fitted(&pairs, 18, false), "why     one two\n        three four\n        five\nlonger  x\n");
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for text in ["a b c", "abcdefghijklmnopqrstuvwxyz", "", "ab  cd", "word abcdefghijklmnop tail"] {
            assert!(broken(text, 8).iter().all(|line| line.chars().count() <= 8), "{text}");
            let letters = |s: &str| s.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&broken(text, 8).concat()), letters(text));
        }
    }

    #[test]
    fn colours_are_around_labels_alone() {
        assert_eq!(fitted(&[("a", "b".into())], 40, true), "\u{1b}[2ma\u{1b}[0m  b\n");
    }
}

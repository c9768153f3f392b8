//! Self-contained HTML pages: no external resource, readable offline and on paper, in light and dark.
//!
//! [`Page`] collects headings, tables and figures in the order of the calls and ends in [`Page::html`]. Figures are
//! strings made by [`svg`] (points, spectra, lines); a [`Cloud`] is a figure whose points say who they are; an [`Account`] is
//! what every page says of its job; [`text`] writes numbers for terminals and tables.
//!
//! A page has one script of its own, which sorts tables and lets a reader ask figures; without it everything is still there.
//! Everything a user's data can reach is escaped, for markup and for the data of the script, so that a node called `<script>` is
//! shown and not run, and the page forbids itself to load anything.
//!
//! ```
//! use lopsided::report::{Page, svg};
//!
//! let plot = svg::spectrum(&[3.0, 2.0, 1.0], "Singular values");
//! let page = Page::new("A graph", "Two classes, 1 < 2.")
//!     .section("Embedding")
//!     .facts(&[("rank", String::from("16"))])
//!     .table("Scores", &["method", "micro F1"], &[vec![String::from("ksvd"), String::from("0.79")]])
//!     .figures(&[plot], &[], "Three values.")
//!     .html();
//! assert!(page.starts_with("<!doctype html>") && page.contains("Two classes, 1 &lt; 2."));
//! assert!(page.contains("<td class=\"num\">0.79</td>"));
//! ```

mod account;
mod cloud;
mod matrix;
pub mod svg;
pub mod text;

pub use account::Account;
pub use cloud::{Cloud, Panel};

use std::fmt::Write;

/// Rows from which on sorting a table helps.
const SORTABLE: usize = 3;

/// A page under construction. Every text is escaped; figures are strings from [`svg`].
pub struct Page {
    title: String,
    header: String,
    warnings: Vec<String>,
    body: String,
    /// How many clouds there are, which gives each a number.
    clouds: usize,
}

impl Page {
    /// A page with a title and the sentence that says what it shows.
    pub fn new(title: &str, lead: &str) -> Self {
        let header = format!("<header><h1>{}</h1><p>{}</p></header>\n", escape(title), escape(lead));
        Page { title: title.into(), header, warnings: Vec::new(), body: String::new(), clouds: 0 }
    }

    /// A heading.
    pub fn section(self, heading: &str) -> Self {
        self.push(&format!("<h2>{}</h2>\n", escape(heading)))
    }

    /// A paragraph.
    pub fn paragraph(self, text: &str) -> Self {
        self.push(&format!("<p>{}</p>\n", escape(text)))
    }

    /// Lines to be typed in a terminal.
    pub fn command(self, lines: &str) -> Self {
        self.push(&format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(lines)))
    }

    /// Text as it stands, such as a table that was printed.
    pub fn print(self, text: &str) -> Self {
        self.push(&format!("<pre tabindex=\"0\" class=\"print\">{}</pre>\n", escape(text)))
    }

    /// What is behind one click, and printed all the same.
    pub fn fold(self, summary: &str, inside: impl FnOnce(Page) -> Page) -> Self {
        let page = inside(self.push(&format!("<details><summary>{}</summary>\n", escape(summary))));
        page.push("</details>\n")
    }

    /// A row of (label, value) pairs in large type: the numbers to remember.
    pub fn facts(self, facts: &[(&str, String)]) -> Self {
        let cell = |(label, value): &(&str, String)| {
            format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(label), escape(value))
        };
        self.push(&format!("<dl>{}</dl>\n", facts.iter().map(cell).collect::<String>()))
    }

    /// A table; columns that hold numbers only are aligned to the right.
    ///
    /// A number may have a sign, a unit or an error bound behind it (`0.79 ± 0.01`); cells that are empty or a dash do
    /// not count. Rows may be shorter than the header.
    pub fn table(self, caption: &str, header: &[&str], rows: &[Vec<String>]) -> Self {
        let numeric: Vec<bool> = (0..header.len()).map(|at| is_numeric(rows, at)).collect();
        let kind = if rows.len() >= SORTABLE { " class=\"sortable\"" } else { "" };
        let mut html = format!(
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table{kind}><caption>{0}</caption>\n<thead>",
            escape(caption)
        );
        table_row(&mut html, "th scope=\"col\"", header.iter().copied(), &numeric);
        html += "</thead>\n<tbody>";
        for row in rows {
            table_row(&mut html, "td", row.iter().map(String::as_str), &numeric);
        }
        self.push(&(html + "</tbody></table></div>\n"))
    }

    /// Figures side by side over one legend (empty: none) and one caption.
    ///
    /// `panels` are figures of [`svg`] and go in as they are. The names of the legend get the colours of classes 0, 1,
    /// 2, …
    pub fn figures(self, panels: &[String], legend: &[String], caption: &str) -> Self {
        let panels = panels.join("</div>\n<div>");
        let legend = svg::legend(legend);
        let caption = escape(caption);
        self.push(&format!(
            "<figure><div class=\"panels\"><div>{panels}</div></div>{legend}<figcaption>{caption}</figcaption></figure>\n"
        ))
    }

    /// The finished page: one file with its style sheet inside, and the version that made it at the foot.
    pub fn html(&self) -> String {
        let (title, style, body, version) =
            (escape(&self.title), include_str!("style.css"), &self.body, env!("CARGO_PKG_VERSION"));
        let (header, warnings, script) = (&self.header, self.warned(), include_str!("page.js"));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{header}{warnings}{body}</main>\n\
             <footer>Made by lopsided {version}</footer>\n<script>\n{script}</script>\n</body>\n</html>\n"
        )
    }

    fn warned(&self) -> String {
        if self.warnings.is_empty() {
            return String::new();
        }
        let items = self.warnings.iter().map(|w| escape(w)).collect::<Vec<_>>().join("</li><li>");
        format!(
            "<section class=\"warnings\" aria-label=\"Warnings\"><h2>Before you read on</h2><ul><li>{items}</li></ul></section>\n"
        )
    }

    fn push(mut self, html: &str) -> Self {
        self.body += html;
        self
    }
}

/// Text with the five characters that mean something in HTML and SVG replaced.
///
/// ```
/// assert_eq!(lopsided::report::escape("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

/// Data for the script of a page. Nothing in a string of theirs can end the element they stand in, or a line of script.
fn embedded(data: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in data.to_string().chars() {
        if matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
            let _ = write!(out, "\\u{:04x}", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

/// One row; `tag` is the opening tag with its attributes, whose first two letters close the cell.
fn table_row<'a>(html: &mut String, tag: &str, cells: impl Iterator<Item = &'a str>, numeric: &[bool]) {
    *html += "<tr>";
    for (at, cell) in cells.enumerate() {
        let class = if numeric.get(at) == Some(&true) { " class=\"num\"" } else { "" };
        let end = &tag[..2];
        let _ = write!(html, "<{tag}{class}>{}</{end}>", escape(cell));
    }
    *html += "</tr>\n";
}

/// Whether column `at` holds numbers, with or without sign, unit or error bound, and nothing else.
fn is_numeric(rows: &[Vec<String>], at: usize) -> bool {
    let digit_first =
        |cell: &String| cell.trim_start_matches(['-', '+', '−', '.']).starts_with(|c: char| c.is_ascii_digit());
    let missing = |cell: &String| ["", "-", "–", "—"].contains(&cell.as_str());
    let mut cells = rows.iter().filter_map(|row| row.get(at)).filter(|cell| !missing(cell)).peekable();
    cells.peek().is_some() && cells.all(digit_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let points: Vec<(f64, f64)> =
            (0..200).map(|i| ((0.1 * f64::from(i)).sin(), (0.13 * f64::from(i)).cos())).collect();
        let classes: Vec<u32> = (0..200).map(|i| i % 3).collect();
        let panel = |title| svg::scatter(&points, Some(&classes), title, ("component 1", "component 2"));
        let names = ["<a>", "b", "c"].map(String::from);
        Page::new("A <b> & \"c\"", "What it's about")
            .facts(&[("accuracy", "0.97".into())])
            .section("Section <1>")
            .paragraph("a < b")
            .command("lopsided embed \"x&y\"")
            .table(
                "T",
                &["kernel", "F1"],
                &[vec!["<rbf>".into(), "0.9 ± 0.1".into()], vec!["linear".into(), "—".into()]],
            )
            .figures(&[panel("source"), panel("target")], &names, "Two <panels>")
            .figures(&[svg::spectrum(&[3.0, 2.0, 0.001], "Spectrum")], &[], "Values")
    }

    #[test]
    fn every_text_is_escaped() {
        let html = page().html();
        for text in [
            "A &lt;b&gt; &amp; &quot;c&quot;",
            "Section &lt;1&gt;",
            "&lt;rbf&gt;",
            "Two &lt;panels&gt;",
            "x&amp;y",
            "&lt;a&gt;",
        ] {
            assert!(html.contains(text), "{text}");
        }
        assert!(!html.contains("<rbf>") && !html.contains("<panels>"));
    }

    /// Pages ran nothing until their figures could be asked; they still load nothing, and run nothing but their own script.
    #[test]
    fn the_page_loads_nothing_and_runs_its_own_script_alone() {
        let html = page().html();
        assert_eq!(html.matches("<script>").count(), 1);
        let (before, script) = html.split_once("<script>").unwrap();
        let namespace = "\"http://www.w3.org/2000/svg\"";
        let script = script.replacen(namespace, "", 1);
        for forbidden in ["<script", "<link", "<img", " src=", "href=", "@import", "url(", "http:", "https:", "onload"]
        {
            assert!(!before.contains(forbidden) && !script.contains(forbidden), "{forbidden}");
        }
        for forbidden in ["fetch(", "XMLHttpRequest", "import", "eval(", "innerHTML", "document.write"] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
        assert!(html.contains("default-src 'none'") && html.contains(env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn opened_elements_are_closed() {
        let html = page().html();
        for tag in [
            "main", "header", "h1", "h2", "p", "table", "thead", "tbody", "tr", "td", "figure", "div", "svg", "dl",
            "dd", "g", "ul", "li",
        ] {
            let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn columns_of_numbers_are_recognised() {
        let rows =
            [vec!["0.5 ± 0.1".to_string(), "−3".into(), "—".into(), "a1".into()], vec!["—".to_string(), "4 %".into()]];
        assert_eq!([0, 1, 2, 3, 4].map(|at| is_numeric(&rows, at)), [true, true, false, false, false]);
    }
}

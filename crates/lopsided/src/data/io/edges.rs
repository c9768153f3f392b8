//! Edge lists: `source,target[,weight]`, one link per line.
//!
//! Fields are separated by comma, tab, semicolon or white space. Lines that are empty or start with `#` or `%` are
//! skipped, a line with one id adds a node without links. Whole-number ids are sorted, others keep the order in which
//! they first appear.

mod numbered;

use super::Reasoned;
use super::fields::{Fields, Separator, are_link_names, is_number};
use super::nodes::Builder;
use super::source::{Lines, Source};
use crate::base::error::Result;
use crate::base::memory::Meter;
use crate::data::graph::Graph;

/// The graph of an edge list with the `extra` nodes, and remarks about it.
///
/// Lines of whole numbers are read by all threads, which changes nothing in the result; all others one by one.
pub(super) fn read(source: Source, extra: &[String]) -> Result<(Graph, Vec<String>)> {
    let mut lines = source.lines();
    let mut reading = Reading::new(lines.name());
    // The first lines say what separates the fields of the others.
    if lines.advance_to_data()? {
        reading.line(&lines)?;
    }
    while let Some(block) = lines.block()? {
        for piece in numbered::pieces(&block, reading.separator) {
            match &piece.links {
                Some(links) => reading.links(links, &lines)?,
                None => reading.lines(lines.piece(&block[piece.bytes]))?,
            }
            lines.skip(piece.lines);
        }
    }
    reading.finish(lines.name(), extra)
}

/// What was read so far.
struct Reading {
    builder: Builder,
    separator: Option<Separator>,
    first: bool,
    /// A first line of two names could be a header or a link. It is kept as a link until the end, and dropped if all other
    /// ids turn out to be whole numbers.
    doubtful: bool,
    meter: Meter,
}

impl Reading {
    fn new(name: &str) -> Self {
        Reading { builder: Builder::default(), separator: None, first: true, doubtful: false, meter: Meter::new(name) }
    }

    fn lines(&mut self, mut lines: Lines) -> Result<()> {
        while lines.advance_to_data()? {
            self.line(&lines)?;
        }
        Ok(())
    }

    /// The line that was reached.
    fn line(&mut self, lines: &Lines) -> Result<()> {
        self.separator = self.separator.or_else(|| Separator::detect(lines.line()));
        let fields = Fields::split(lines.line(), self.separator).map_err(|reason| lines.error(reason))?;
        if std::mem::take(&mut self.first) {
            if is_header(&fields) {
                return Ok(());
            }
            self.doubtful = fields.count() == 2 && !is_number(fields.get(0)) && !is_number(fields.get(1));
        }
        add(&mut self.builder, &fields).map_err(|reason| lines.error(reason))?;
        self.meter.holds(self.builder.bytes())
    }

    fn links(&mut self, links: &[(u64, u64, f64)], lines: &Lines) -> Result<()> {
        for &(source, target, weight) in links {
            self.builder.numbers(source, target, weight).map_err(|reason| lines.error(reason))?;
        }
        self.meter.holds(self.builder.bytes())
    }

    fn finish(mut self, name: &str, extra: &[String]) -> Result<(Graph, Vec<String>)> {
        if self.doubtful {
            self.builder.drop_header();
        }
        self.builder.finish(name, extra)
    }
}

/// Names such as `source,target`, or three columns without a number where the weight and the first id should be.
fn is_header(fields: &Fields) -> bool {
    let pair = fields.count() >= 2 && are_link_names(fields.get(0), fields.get(1));
    pair || fields.count() == 3 && !is_number(fields.get(2)) && !is_number(fields.get(0))
}

/// One line: a node, a link of weight 1, or a link with its weight.
fn add(builder: &mut Builder, fields: &Fields) -> Reasoned<()> {
    match fields.count() {
        1 => builder.node(fields.get(0)).map(drop),
        2 => builder.link(fields.get(0), fields.get(1), 1.0),
        3 => builder.link(fields.get(0), fields.get(1), weight(fields.get(2))?),
        count => Err(format!("{count} columns; a link has source, target and perhaps a weight")),
    }
}

/// A finite number; a graph has no use for others.
fn weight(text: &str) -> Reasoned<f64> {
    let weight: f64 = text.parse().map_err(|_| format!("weight `{text}` is not a number"))?;
    if weight.is_finite() { Ok(weight) } else { Err(format!("weight `{text}` is not a finite number")) }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scratch;
    use super::*;

    fn graph_with(text: &str, extra: &[&str]) -> Result<(Graph, Vec<String>)> {
        let (_dir, path) = scratch("e.csv", text);
        read(Source::open(&path)?, &extra.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    fn graph(text: &str) -> (Graph, Vec<String>) {
        graph_with(text, &[]).unwrap()
    }

    fn message(text: &str) -> String {
        let error = graph_with(text, &[]).unwrap_err().to_string();
        error[error.find("e.csv").unwrap()..].to_owned()
    }

    fn links(graph: &Graph) -> Vec<(String, String, f64)> {
        let a = graph.adjacency();
        let row = |i: usize| a.row(i).0.iter().zip(a.row(i).1).map(move |(&j, &w)| (i, j as usize, w));
        let name = |i: usize| graph.ids()[i].clone();
        (0..graph.nodes()).flat_map(row).map(|(i, j, w)| (name(i), name(j), w)).collect()
    }

    #[test]
    fn all_separators_headers_and_comments_give_the_same_graph() {
        let expected = [("0".to_string(), "10".to_string(), 1.0), ("10".to_string(), "2".to_string(), 1.0)];
        for text in [
            "0,10\n10,2\n",
            "source,target\n0,10\n10,2",
            "# c\n%c\n\n0 10\r\n10 2\r\n",
            "from\tto\n0\t10\n10\t2\n",
            "a;b\n\"0\";10\n10; 2\n",
            "paper_a,paper_b\n0,10\n10,2\n",
        ] {
            let (graph, _) = graph(text);
            assert_eq!(graph.ids(), ["0", "2", "10"], "{text}");
            assert_eq!(links(&graph), expected, "{text}");
        }
    }

    #[test]
    fn weights_are_read_and_a_third_name_means_header() {
        let (graph, _) = graph("x,y,strength\na,b,0.5\nb,a,-2\n");
        assert_eq!(links(&graph), [("a".into(), "b".into(), 0.5), ("b".into(), "a".into(), -2.0)]);
    }

    #[test]
    fn long_lists_are_read_as_short_ones_are() {
        let lines = (0..60_000u64).map(|k| format!("{},{}\n", k * 7919 % 30_011, k * 104_729 % 30_011));
        let numbers = lines.collect::<Vec<_>>().concat();
        let (plain, _) = graph(&numbers);
        let mut weighted = numbers.replace('\n', ",1\n");
        weighted.insert_str(0, "source,target,weight\n");
        // A remark and a blank line in the middle, and another end of lines in the last part.
        let (half, rest) = numbers.split_at(numbers.len() / 2 + numbers[numbers.len() / 2..].find('\n').unwrap() + 1);
        let broken = format!("{half}# here\n\n{}", rest.replace('\n', "\r\n"));
        for text in [&weighted, &broken, &numbers.replace(',', " \t"), numbers.trim_end()] {
            let (other, _) = graph(text);
            assert_eq!((other.ids(), other.adjacency()), (plain.ids(), plain.adjacency()));
        }
        let lines = numbers.lines().count();
        assert_eq!(message(&format!("{numbers}1,2,x\n")), format!("e.csv:{}: weight `x` is not a number", lines + 1));
        assert_eq!(
            message(&format!("{half}-1,2\n{rest}")).split(": ").nth(1),
            Some("node id -1 is negative; whole-number ids start at 0")
        );
        let names = graph(&format!("{half}a,b\n{rest}")).0;
        assert_eq!(names.nodes(), plain.nodes() + 2);
    }

    #[test]
    fn names_keep_the_order_of_appearance() {
        let (graph, notes) = graph("zoe,adam\n01,1\nlonely\n\"x, y\",zoe\n");
        assert_eq!(graph.ids(), ["zoe", "adam", "01", "1", "lonely", "x, y"]);
        assert_eq!(notes, ["1 of the 6 nodes has no link; it stays"]);
    }

    #[test]
    fn only_nodes_that_occur_exist() {
        let (gaps, notes) = graph("3,4\n4,7\n8\n");
        assert_eq!(gaps.ids(), ["3", "4", "7", "8"]);
        assert_eq!(notes, ["1 of the 4 nodes has no link; it stays"]);
        assert_eq!(graph("0,18446744073709551615\n").0.ids(), ["0", "18446744073709551615"]);
    }

    #[test]
    fn extra_nodes_are_part_of_the_order() {
        let (graph, notes) = graph_with("u,v\n5,1\n", &["3", "1", "0"]).unwrap();
        assert_eq!(graph.ids(), ["0", "1", "3", "5"]);
        assert_eq!(notes, ["2 of the 4 nodes have no link; they stay"]);
    }

    #[test]
    fn a_first_line_of_names_is_data_when_names_follow() {
        assert_eq!(graph("a,b\n0,1\nc,0\n").0.ids(), ["a", "b", "0", "1", "c"]);
        assert_eq!(graph("a,b\n").0.ids(), ["a", "b"]);
    }

    #[test]
    fn errors_name_line_and_value() {
        assert_eq!(message("0,1\n1,2,abc\n"), "e.csv:2: weight `abc` is not a number");
        assert_eq!(message("0,1\n1,2,inf\n"), "e.csv:2: weight `inf` is not a finite number");
        assert_eq!(message("0,1\n-3,2\n"), "e.csv:2: node id -3 is negative; whole-number ids start at 0");
        assert_eq!(message("0,1\n1,\n"), "e.csv:2: a node id is empty");
        assert_eq!(message("0,1\n1,2,3,4\n"), "e.csv:2: 4 columns; a link has source, target and perhaps a weight");
        assert_eq!(message("source,target\n"), "e.csv: has no links");
        assert_eq!(message("0,1\n\"1,2\n"), "e.csv:2: a quoted field does not end on its line");
    }
}

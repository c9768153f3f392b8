//! `lopsided demo`: a graph whose classes show only in the direction of its links.

mod methods;
mod page;
mod trial;

use super::Outcome;
use crate::args::DemoArgs;
use crate::context::Context;
use crate::{output, talk};
use anyhow::Result;
use lopsided::base::file;
use lopsided::data::synth::CyclicGraph;
use lopsided::{Error, Graph};
use methods::Method;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Features of every method, so that none has more to learn from.
const FEATURES: usize = 32;

/// The graph everybody gets.
struct Example {
    graph: Graph,
    /// Class of each node.
    codes: Vec<u32>,
    classes: usize,
}

/// How well one method did. The fields are those of `--json`.
#[derive(Serialize)]
struct Line {
    method: &'static str,
    about: &'static str,
    features: usize,
    micro_f1: f64,
    deviation: f64,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    nodes: usize,
    links: usize,
    classes: usize,
    splits: usize,
    chance: f64,
    methods: &'a [Line],
    page: &'a Path,
    seconds: f64,
}

/// Makes the graph, embeds it three ways, classifies the nodes and tells what came out.
pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<Outcome> {
    let page = prepare(&args.out)?;
    context.line.stage("making a graph");
    let example = Example::new(context.run.seed)?;
    let methods = methods::all(&example, &context.run)?;
    context.line.stage("classifying");
    let lines = methods.iter().map(|method| line(method, &example, context)).collect::<lopsided::Result<Vec<_>>>()?;
    let html = page::html(&example, &methods, &lines);
    file::write_atomically(&page, |out| out.write_all(html.as_bytes()).map_err(|e| Error::io(&page, e)))?;
    write_data(&example, &args.out)?;
    context.line.clear();
    show(&example, &lines, &page, context)?;
    Ok(Outcome::Done)
}

/// Makes the folder and says which file will be written.
fn prepare(folder: &Path) -> lopsided::Result<PathBuf> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, e))?;
    for name in ["demo.html", "edges.csv", "classes.csv"] {
        output::check(&folder.join(name))?;
    }
    Ok(folder.join("demo.html"))
}

/// Links and classes as files, for other commands.
fn write_data(example: &Example, folder: &Path) -> lopsided::Result<()> {
    let write = |name: &str, header: &str, lines: Vec<String>| {
        let (path, text) = (folder.join(name), lines.concat());
        let failed = |e| Error::io(&path, e);
        file::write_atomically(&path, |out| out.write_all(format!("{header}\n{text}").as_bytes()).map_err(failed))
    };
    let (ids, links) = (example.graph.ids(), example.graph.adjacency());
    let from = |i: usize| links.row(i).0.iter().map(move |&j| format!("{},{}\n", ids[i], ids[j as usize]));
    write("edges.csv", "source,target", (0..ids.len()).flat_map(from).collect())?;
    let class = |(id, code): (&String, &u32)| format!("{id},{code}\n");
    write("classes.csv", "node,label", ids.iter().zip(&example.codes).map(class).collect())
}

impl Example {
    fn new(seed: u64) -> lopsided::Result<Self> {
        let recipe = CyclicGraph { seed, ..CyclicGraph::default() };
        let (graph, codes) = recipe.generate()?;
        Ok(Example { graph, codes, classes: recipe.classes })
    }

    /// Share of the largest class: what guessing achieves.
    fn chance(&self) -> f64 {
        let count = |class: u32| self.codes.iter().filter(|code| **code == class).count();
        let largest = (0..self.classes as u32).map(count).max().unwrap_or(0);
        largest as f64 / self.codes.len() as f64
    }

    /// What was planted, in a sentence or two.
    fn story(&self) -> String {
        let (nodes, links, classes) = (self.graph.nodes(), self.graph.adjacency().nnz(), self.classes);
        format!(
            "A graph with {nodes} nodes, {links} links and {classes} classes. It was made so that only the direction of \
             links tells the classes apart: nodes link to the next class around a circle and hardly ever to the one \
             before. With the arrowheads removed it is a graph of pure chance."
        )
    }
}

fn line(method: &Method, example: &Example, context: &Context) -> lopsided::Result<Line> {
    let scores = trial::scores(&method.features, example, &context.run)?;
    let (micro_f1, deviation) = trial::mean_and_deviation(&scores);
    Ok(Line { method: method.name, about: method.about, features: method.features.ncols(), micro_f1, deviation })
}

/// Two sentences for a stranger.
fn moral(lines: &[Line]) -> String {
    let score = |name: &str| lines.iter().find(|line| line.method == name).map_or(0.0, |line| line.micro_f1);
    format!(
        "A symmetric kernel treats \"a links to b\" and \"b links to a\" alike, so KPCA can only guess here ({:.2}): the data \
         were made for it to fail. SVD and KSVD keep the two apart and give each node one place as a target of links (U) \
         and one as a source (V), which is where the classes are ({:.2} and {:.2}).",
        score("KPCA"),
        score("SVD"),
        score("KSVD")
    )
}

fn show(example: &Example, lines: &[Line], page: &Path, context: &Context) -> Result<()> {
    if context.global.json {
        let (nodes, links) = (example.graph.nodes(), example.graph.adjacency().nnz());
        let (classes, chance, seconds) = (example.classes, example.chance(), context.seconds());
        let splits = trial::SPLITS;
        talk::json(&Summary { nodes, links, classes, splits, chance, methods: lines, page, seconds })?;
        return Ok(());
    }
    let wrap = |text: &str| wrapped(text, 88);
    let table = table(example, lines);
    let seconds = context.seconds();
    talk::print(&format!(
        "{}\n{table}\n{}\nThe pictures are in {} ({seconds:.1} s in all), the graph in edges.csv and classes.csv beside it.\n",
        wrap(&example.story()),
        wrap(&moral(lines)),
        page.display()
    ))?;
    Ok(())
}

fn table(example: &Example, lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.about.chars().count()).max().unwrap_or(0);
    let head = format!("method  {:width$}  features  micro-F1 on {} splits\n", "", trial::SPLITS);
    let row = |line: &Line| {
        let Line { method, about, features, micro_f1, deviation } = line;
        format!("{method:6}  {about:width$}  {features:8}  {micro_f1:.3} ± {deviation:.3}\n")
    };
    let chance = format!("chance  {:width$}            {:.3}\n", "", example.chance());
    head + &lines.iter().map(row).collect::<String>() + &chance
}

/// The text in lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_between_words() {
        assert_eq!(wrapped("one two  three", 8), "one two\nthree\n");
    }
}

//! `lopsided links`: how well held-out links are predicted.

use super::Outcome;
use super::embed::summary::DryRun;
use crate::args::LinksArgs;
use crate::context::Context;
use crate::failure::hinted;
use crate::{estimator, input, memory, page, talk};
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::io::{Input, read};
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{Plan, SolverSpec};
use lopsided::evaluation::{HeldOut, LinkScore, LinkScores, Spread};
use lopsided::pages::{self, LinkCurve};
use lopsided::report::{Account, Page};
use lopsided::{Dataset, Error, Features, Graph, GraphRule, KernelSvd, LinearSvd, Links, Scaling};
use serde::Serialize;
use std::fmt::Write as _;

/// The p of U·Σ^p·Vᵀ.
const POWERS: [f64; 3] = [0.0, 0.5, 1.0];

/// The method whose scores are those of the links between near nodes; its power says nothing.
const OF_LINKS: &str = "links";

/// One method with one score.
#[derive(Clone, Serialize)]
struct Line {
    method: &'static str,
    power: f64,
    auroc: Spread,
    average_precision: Spread,
}

/// The score that links held out of the training part prefer, trial by trial.
#[derive(Clone, Serialize)]
struct Best {
    /// `U Σ^1 Vᵀ` or `U UᵀAV Vᵀ`, one for each trial.
    scores: Vec<&'static str>,
    auroc: Spread,
    average_precision: Spread,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    n: usize,
    links: usize,
    held_out: usize,
    trials: usize,
    rank: usize,
    kernel: String,
    methods: Vec<Line>,
    chosen: Best,
    converged: bool,
    notes: Vec<String>,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// The scores of one method: one row per trial, one column per power.
type Scores = Vec<Vec<LinkScores>>;

/// Runs all trials, in double precision.
pub(crate) fn run(args: &LinksArgs, context: &Context) -> Result<Outcome> {
    let given = estimator::given(&args.given, context)?;
    let machine = estimator::checked::<f64>(&given, &Usual::LINKS, false)?;
    check(args, &given)?;
    page::check(args.report.as_deref().filter(|_| !args.given.dry_run))?;
    let kernel = machine.gram.kernel.clone();
    let rule = recipe::take_graph_rule(&mut given.clone(), &kernel, &Usual::LINKS)?;
    context.line.stage("reading");
    let options = input::options(&args.graph.read);
    let nodes = input::node_ids::<f64>(args.graph.nodes.as_deref(), None)?;
    let read = read::<f64>(&args.input, &lopsided::data::io::ReadOptions { nodes, ..options })?;
    let Input::Graph(graph, mut notes) = read else {
        let error = Error::parse(args.input.display().to_string(), "is read as a table where a graph is needed");
        return Err(hinted(error, "`--format edges` reads a table as a list of links"));
    };
    let rank = if given.value("rank").is_some() { machine.rank } else { machine.rank.min(graph.nodes()) };
    let machine = machine.with_rank(rank).with_scaling(Scaling::None);
    if args.given.dry_run {
        let input::Loaded { data, .. } = input::from_graph::<f64>(&graph, Vec::new(), rule, context.run.seed)?;
        let plan = machine.plan(&data, &context.run)?;
        // Every trial has both decompositions, of which that of the kernel takes longer.
        let plan = Plan { seconds: 2.0 * args.trials as f64 * plan.seconds, ..plan };
        DryRun::of::<f64>(rank, &plan, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    let (mut linear, mut kernels, mut held_out, mut converged) = (Scores::new(), Scores::new(), 0, true);
    let (mut ways, mut curves) = (Vec::new(), Vec::new());
    for trial in 0..args.trials {
        let seed = context.run.seed.wrapping_add(trial as u64);
        let held = HeldOut::split(&graph, args.test_share, seed)?;
        let (left, right) = both(&held.graph, &machine, rule, context)?;
        held_out = held.links.len();
        if trial == 0 && args.report.is_some() {
            curves =
                [curve(&held, "linear SVD", &left, 1.0, rule)?, curve(&held, "kernel SVD", &right, 1.0, rule)?].into();
            curves.push(curve(&held, OF_LINKS, &right, LinkScore::Links, rule)?);
        }
        converged &= left.report.converged() && right.report.converged();
        linear.push(scored(&held, &left, rule.0.links)?);
        let of_links = held.evaluate(&right, rule.0.links, LinkScore::Links)?;
        kernels.push([scored(&held, &right, rule.0.links)?, vec![of_links]].concat());
        ways.push(LinkScore::chosen(&held.graph, rule.0.links, seed, |graph| {
            kernel_features(graph, &machine, rule, context)
        })?);
    }
    let chosen = Best::of(&ways, &kernels);
    notes.extend(chosen.remark());
    if !converged {
        notes.push("a decomposition did not converge to the tolerance".into());
    }
    let summary = Summary {
        n: graph.nodes(),
        links: graph.adjacency().nnz(),
        held_out,
        trials: args.trials,
        rank,
        kernel: machine.gram.kernel.name.clone(),
        methods: [lines("linear SVD", &linear), lines("kernel SVD", &kernels), vec![of_links(&kernels)]].concat(),
        chosen,
        converged,
        notes,
        seconds: context.seconds(),
        peak_bytes: memory::peak_bytes(),
    };
    if let Some(path) = &args.report {
        page::write(path, &summary.page(&curves, &page::name(&args.input), context))?;
    }
    summary.show(context)?;
    Ok(if converged { Outcome::Done } else { Outcome::NotConverged })
}

/// Scores of the links taken out and of the absent pairs.
fn curve(
    held: &HeldOut,
    method: &str,
    features: &Features<f64>,
    by: impl Into<LinkScore>,
    rule: (GraphRule, Option<usize>),
) -> lopsided::Result<LinkCurve> {
    let by = by.into();
    let (truth, scores) = held.scores(features, rule.0.links, by)?;
    let power = if let LinkScore::Power(power) = by { power } else { 1.0 };
    Ok(LinkCurve { name: format!("{method}, {}", formula(method, power)), truth, scores })
}

/// More trials than this are a mistake.
const MOST_TRIALS: usize = 1000;

fn check(args: &LinksArgs, given: &Settings) -> lopsided::Result<()> {
    if !(1..=MOST_TRIALS).contains(&args.trials) {
        return Err(Error::param("trials", args.trials, format!("between 1 and {MOST_TRIALS}")));
    }
    if !(args.test_share > 0.0 && args.test_share < 1.0) {
        return Err(Error::param("test-share", args.test_share, "above 0 and below 1"));
    }
    if let Some(scaling) = given.value("scaling") {
        return Err(Error::param("scaling", scaling, "left out: every power of Σ is scored"));
    }
    Ok(())
}

/// Linear SVD of what is left of the graph, and kernel SVD of its rows and columns of unit length.
fn both(
    graph: &Graph,
    machine: &KernelSvd,
    rule: (GraphRule, Option<usize>),
    context: &Context,
) -> Result<(Features<f64>, Features<f64>)> {
    let plain = (GraphRule { unit: false, walk: 1, ..rule.0 }, rule.1);
    let input::Loaded { data, .. } = input::from_graph::<f64>(graph, Vec::new(), plain, context.run.seed)?;
    let solver = SolverSpec { name: machine.solver.clone(), params: machine.solver_params.clone() };
    let linear = LinearSvd { rank: machine.rank, solver }.fit(&data, &context.run)?;
    Ok((linear, kernel_features(graph, machine, rule, context)?))
}

/// The length of a column grows with the links that leave a node; a kernel of distances would push those links down.
fn kernel_features(
    graph: &Graph,
    machine: &KernelSvd,
    rule: (GraphRule, Option<usize>),
    context: &Context,
) -> lopsided::Result<Features<f64>> {
    let capped = rule.1.map(|most| graph.cap_degrees(most, context.run.seed));
    let data = Dataset::from_graph(capped.as_ref().unwrap_or(graph), &rule.0)?;
    Ok(machine.fit(data, &context.run)?.into())
}

fn scored(held: &HeldOut, features: &Features<f64>, links: Links) -> lopsided::Result<Vec<LinkScores>> {
    POWERS.iter().map(|&power| held.evaluate(features, links, power)).collect()
}

fn lines(method: &'static str, scores: &Scores) -> Vec<Line> {
    POWERS.iter().enumerate().map(|(at, &power)| line(method, power, scores, at)).collect()
}

/// The score after those of the powers.
fn of_links(scores: &Scores) -> Line {
    line(OF_LINKS, 1.0, scores, POWERS.len())
}

fn line(method: &'static str, power: f64, scores: &Scores, at: usize) -> Line {
    let (auroc, average_precision) = spreads(scores.iter().map(|trial| trial[at]));
    Line { method, power, auroc, average_precision }
}

fn spreads(scores: impl Iterator<Item = LinkScores> + Clone) -> (Spread, Spread) {
    (Spread::of(scores.clone().map(|s| s.auroc)), Spread::of(scores.map(|s| s.average_precision)))
}

/// The formula of a score.
fn formula(method: &str, power: f64) -> String {
    if method == OF_LINKS { "U UᵀAV Vᵀ".into() } else { format!("U Σ^{power} Vᵀ") }
}

impl Best {
    fn of(ways: &[LinkScore], kernels: &Scores) -> Self {
        let place = |way: &LinkScore| match way {
            LinkScore::Power(_) => POWERS.len() - 1,
            LinkScore::Links => POWERS.len(),
        };
        let (auroc, average_precision) = spreads(ways.iter().zip(kernels).map(|(way, trial)| trial[place(way)]));
        let name = |way: &LinkScore| if *way == LinkScore::Links { "U UᵀAV Vᵀ" } else { "U Σ^1 Vᵀ" };
        Best { scores: ways.iter().map(name).collect(), auroc, average_precision }
    }

    /// The sentence about scores that know nothing.
    fn remark(&self) -> Option<String> {
        (self.auroc.mean <= 0.5).then(|| {
            format!(
                "AUROC {:.3} is no better than chance: the features say nothing about the links; another --kernel, --rank or \
                 --gamma-factor may",
                self.auroc.mean
            )
        })
    }
}

impl Summary {
    fn show(&self, context: &Context) -> lopsided::Result<()> {
        context.line.clear();
        context.notes(&self.notes);
        if context.global.json { talk::json(self) } else { talk::print(&self.text()) }
    }

    fn page(&self, curves: &[LinkCurve], name: &str, context: &Context) -> Page {
        let spread = |s: Spread| format!("{:.4} ± {:.4}", s.mean, s.deviation);
        let row = |line: &Line| {
            let score = formula(line.method, line.power);
            vec![line.method.into(), score, spread(line.auroc), spread(line.average_precision)]
        };
        let rows: Vec<Vec<String>> = self.methods.iter().map(row).collect();
        let Best { scores, auroc, average_precision } = &self.chosen;
        let why = format!(
            "{}, by links held out of the rest, trial by trial: AUROC {}, average precision {}",
            scores.join(", "),
            spread(*auroc),
            spread(*average_precision)
        );
        let lines = [
            ("graph", format!("{} nodes, {} links", self.n, self.links)),
            ("held out", format!("{} links in each of {} trials", self.held_out, self.trials)),
            ("rank", self.rank.to_string()),
            ("kernel", self.kernel.clone()),
        ];
        let account = Account { chosen: vec![("score".into(), why)], ..page::account(context, &self.notes, &lines) };
        pages::links(curves, name, (&["method", "score", "AUROC", "average precision"], &rows), &account)
    }

    fn text(&self) -> String {
        let Summary { n, links, held_out, trials, rank, kernel, .. } = self;
        let mut out = format!("{n} nodes, {links} links, {held_out} held out in each of {trials} trials\n");
        let _ = writeln!(out, "rank {rank}, kernel {kernel}, {:.2} s", self.seconds);
        let _ = writeln!(out, "\nmethod      score       AUROC            average precision");
        for line in &self.methods {
            let spread = |s: Spread| format!("{:.4} ± {:.4}", s.mean, s.deviation);
            let score = formula(line.method, line.power);
            let _ = writeln!(
                out,
                "{:10}  {score:10}  {}  {}",
                line.method,
                spread(line.auroc),
                spread(line.average_precision)
            );
        }
        let Best { scores, auroc, average_precision } = &self.chosen;
        let links = scores.iter().filter(|score| **score == "U UᵀAV Vᵀ").count();
        let _ = writeln!(
            out,
            "\nchosen by links held out of the rest: U UᵀAV Vᵀ in {links} of {} trials, else U Σ^1 Vᵀ\n\
             AUROC {:.4} ± {:.4}, average precision {:.4} ± {:.4}",
            scores.len(),
            auroc.mean,
            auroc.deviation,
            average_precision.mean,
            average_precision.deviation
        );
        out
    }
}

//! What `embed` tells about its work.

use super::learned::Learning;
use crate::context::Context;
use crate::{memory, page, talk, terminal};
use lopsided::base::error::bytes;
use lopsided::estimators::{Plan, Preparation, StreamedModel, recipe};
use lopsided::operator::Place;
use lopsided::report::{Account, text};
use lopsided::solvers::svd::SolveReport;
use lopsided::{KernelSvdModel, Result, Scalar, Scaling};
use serde::Serialize;
use std::path::PathBuf;

/// Reasons for what was chosen automatically.
#[derive(Default, Serialize)]
struct Why {
    operator: String,
    solver: String,
    device: String,
}

impl Why {
    fn of(plan: &Plan) -> Self {
        let (operator, solver) = (plan.operator.why.clone(), plan.solver.why.clone());
        let Place { why, bytes: held, .. } = &plan.operator.place;
        let held = if *held > 0 { format!(", with {} there", bytes(*held)) } else { String::new() };
        Why { operator, solver, device: format!("{why}{held}") }
    }
}

/// What is decomposed and how.
#[derive(Serialize)]
struct Problem {
    n: usize,
    m: usize,
    rank: usize,
    kernel: String,
    gamma: Option<f64>,
    operator: String,
    solver: String,
    /// Where products with G are computed.
    device: String,
    precision: &'static str,
    notes: Vec<String>,
    why: Why,
}

impl Problem {
    /// Label and value of the first lines of a table.
    fn lines(&self, centered: bool) -> Vec<(&'static str, String)> {
        vec![
            ("size", format!("{} x {}, rank {}, {}", self.n, self.m, self.rank, self.precision)),
            ("kernel", with_gamma(&self.kernel, self.gamma) + if centered { ", centred" } else { "" }),
            ("operator", because(&self.operator, &self.why.operator)),
            ("solver", because(&self.solver, &self.why.solver)),
        ]
        .into_iter()
        .chain((self.device != "cpu").then(|| ("device", because(&self.device, &self.why.device))))
        .collect()
    }
}

/// A finished embedding. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    problem: Problem,
    pub(super) singular_values: Vec<f64>,
    residual: f64,
    pub(super) converged: bool,
    error_estimate: Option<f64>,
    landmarks: Option<(usize, usize)>,
    operator_products: u64,
    kernel_evaluations: u64,
    seconds: f64,
    peak_bytes: Option<u64>,
    scaling: Scaling,
    centered: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) learning: Option<Learning>,
    pub(super) files: Vec<PathBuf>,
    /// Passes over a file that is streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    passes: Option<u64>,
    /// Coordinates of its rows and columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    compat_width: Option<usize>,
}

impl Summary {
    /// The account of a fit out of core.
    pub(super) fn of_streamed<T: Scalar>(
        model: &StreamedModel<T>,
        scaling: Scaling,
        width: usize,
        passes: u64,
    ) -> Self {
        let (svd, kernel) = (&model.svd, &model.kernel);
        let problem = Problem {
            n: svd.u.nrows(),
            m: svd.v.nrows(),
            rank: svd.sigma.len(),
            kernel: kernel.name.clone(),
            gamma: kernel.params.get("gamma"),
            operator: "streamed".into(),
            solver: svd.report.solver.clone(),
            device: "cpu".into(),
            precision: T::NAME,
            notes: svd.report.notes.clone(),
            why: Why { operator: format!("{passes} passes over the file, {width} coordinates"), ..Why::default() },
        };
        Summary {
            scaling,
            passes: Some(passes),
            compat_width: Some(width),
            ..Summary::solved(problem, &svd.report, &svd.sigma)
        }
    }

    /// The account of a fit, without its cost.
    pub(super) fn of<T: Scalar>(model: &KernelSvdModel<T>, plan: &Plan, mut notes: Vec<String>) -> Self {
        let ((n, m), report) = (model.size(), model.report());
        notes.extend(report.notes.iter().cloned());
        let problem = Problem {
            n,
            m,
            rank: model.singular_values().len(),
            kernel: model.kernel.name.clone(),
            gamma: model.kernel.params.get("gamma"),
            operator: model.operator.clone(),
            solver: report.solver.clone(),
            device: plan.operator.place.device.to_string(),
            precision: T::NAME,
            notes,
            why: Why { solver: report.why.clone(), ..Why::of(plan) },
        };
        Summary {
            scaling: model.scaling,
            centered: model.is_centered(),
            ..Summary::solved(problem, report, model.singular_values())
        }
    }

    /// What a solver found, without the cost.
    fn solved<T: Scalar>(problem: Problem, report: &SolveReport, sigma: &[T]) -> Self {
        Summary {
            problem,
            singular_values: sigma.iter().map(|s| s.as_f64()).collect(),
            residual: report.residual(),
            converged: report.converged(),
            error_estimate: report.error_estimate,
            landmarks: report.landmarks,
            operator_products: report.products,
            kernel_evaluations: 0,
            seconds: 0.0,
            peak_bytes: None,
            scaling: Scaling::default(),
            centered: false,
            learning: None,
            files: Vec::new(),
            passes: None,
            compat_width: None,
        }
    }

    /// Adds what the work cost so far.
    pub(super) fn finish(&mut self, context: &Context) {
        self.seconds = context.seconds();
        self.kernel_evaluations = context.run.watch.work().evaluations;
        self.peak_bytes = memory::peak_bytes();
    }

    /// Prints it as text or JSON.
    pub(super) fn show(&self, context: &Context) -> Result<()> {
        context.line.clear();
        context.notes(&self.problem.notes);
        if context.global.json {
            return talk::json(self);
        }
        let mut lines = self.lines();
        let at = lines.iter().position(|(label, _)| *label == "singular values").map_or(0, |at| at + 1);
        lines.splice(at..at, terminal::bars(&self.singular_values, &std::io::stdout()).map(|bars| ("", bars)));
        talk::print(&terminal::aligned(&lines))
    }

    /// What the page says of the job.
    pub(super) fn account<T: Scalar>(
        &self,
        model: &KernelSvdModel<T>,
        preparation: Option<&Preparation>,
        context: &Context,
    ) -> Result<Account> {
        let mut archive = model.archive();
        preparation.into_iter().for_each(|preparation| preparation.put(&mut archive));
        let recipe = serde_json::to_string(&recipe::of_archive(&archive)?).unwrap_or_default();
        Ok(self.told(Some(recipe), context))
    }

    /// The same with a recipe that is known, or without one.
    pub(super) fn told(&self, recipe: Option<String>, context: &Context) -> Account {
        let why = &self.problem.why;
        let chosen =
            [("operator", &self.problem.operator, &why.operator), ("solver", &self.problem.solver, &why.solver)];
        let chosen = chosen.iter().filter(|(_, _, why)| !why.is_empty());
        Account {
            chosen: chosen.map(|(what, name, why)| (what.to_string(), because(name, why))).collect(),
            recipe,
            ..page::account(context, &self.problem.notes, &self.lines())
        }
    }

    /// Label and value of each line of the table.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let ending = if self.converged { "converged" } else { "NOT converged to the tolerance" };
        let mut lines = self.problem.lines(self.centered);
        lines.extend([
            ("singular values", text::first_values(&self.singular_values)),
            ("residual", format!("{:.1e}, {ending}", self.residual)),
            ("cost", format!("{:.2} s, {} products with G", self.seconds, self.operator_products)),
        ]);
        if let (Some((rows, cols)), Some(error)) = (self.landmarks, self.error_estimate) {
            let what = format!("{rows} rows, {cols} columns; relative error of U Σ Vᵀ about {error:.1e}");
            lines.insert(4, ("landmarks", what));
        }
        lines.extend(self.learning.as_ref().map(|learning| ("learned", learning.line())));
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        if !self.files.is_empty() {
            let files: Vec<String> = self.files.iter().map(|file| file.display().to_string()).collect();
            lines.push(("written", files.join(", ")));
        }
        lines
    }
}

/// What an embedding would do and cost. The fields are those of `--dry-run --json`.
#[derive(Serialize)]
pub(in crate::commands) struct DryRun {
    #[serde(rename = "dry_run")]
    only_planned: bool,
    #[serde(flatten)]
    problem: Problem,
    bytes: u64,
    seconds: f64,
    /// Bytes that may be used.
    memory: u64,
}

impl DryRun {
    /// The plan in words.
    pub(in crate::commands) fn of<T: Scalar>(rank: usize, plan: &Plan, notes: &[String]) -> Self {
        let problem = Problem {
            n: plan.size.0,
            m: plan.size.1,
            rank,
            kernel: plan.kernel.name.clone(),
            gamma: plan.kernel.params.get("gamma"),
            operator: plan.operator.name(),
            solver: plan.solver.solver.into(),
            device: plan.operator.place.device.to_string(),
            precision: T::NAME,
            notes: notes.to_vec(),
            why: Why::of(plan),
        };
        DryRun { only_planned: true, problem, bytes: plan.bytes, seconds: plan.seconds, memory: plan.available }
    }

    /// Prints it as text or JSON.
    pub(in crate::commands) fn show(&self, context: &Context) -> Result<()> {
        context.line.clear();
        context.notes(&self.problem.notes);
        context.say(self, &self.lines())
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let fits = if self.bytes <= self.memory { "" } else { ": too much, the run would be refused" };
        let mut lines = self.problem.lines(false);
        lines.extend([
            ("memory", format!("about {} of {} allowed{fits}", bytes(self.bytes), bytes(self.memory))),
            ("time", format!("roughly {}", duration(self.seconds))),
        ]);
        lines
    }
}

fn because(what: &str, why: &str) -> String {
    if why.is_empty() { what.into() } else { format!("{what}: {why}") }
}

fn with_gamma(kernel: &str, gamma: Option<f64>) -> String {
    gamma.map_or_else(|| kernel.into(), |gamma| format!("{kernel}, gamma {}", text::number(gamma)))
}

/// Seconds in words.
pub(in crate::commands) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "less than 0.1 s".into(),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

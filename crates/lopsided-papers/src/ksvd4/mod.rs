//! \[KSVD\] Tables 4 and 6: time of the solvers to an accuracy.

mod text;

pub(super) use text::text;

use super::figures;
use super::paper::{SolverFigures, solver_figures};
use super::sets::Folder;
use super::solvers::{Course, Demand, METHODS, Method, NYSTROM, Problem, middle};
use super::{Settings, tell};
use crate::tasks::Reference;
use crate::{Desk, Picture};
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::kernel::{Gamma, Kernel, KernelSpec};
use lopsided::operator::{Built, KernelMatrix, OperatorChoice, available_memory};
use lopsided::{Dataset, Error};
use serde::Serialize;
use std::time::Instant;

const KERNEL: &str = "sne";

/// Everything about one set. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct SetReport {
    name: String,
    nodes: usize,
    links: usize,
    rank: usize,
    kernel: &'static str,
    /// What the times include.
    times: &'static str,
    limit: f64,
    races: Vec<Race>,
    files: Vec<std::path::PathBuf>,
    seconds: f64,
}

const TIMES: &str = "from the samples in memory to the triplets with their residuals; reading the file is not included";

/// All methods at one bandwidth.
#[derive(Serialize)]
pub(super) struct Race {
    pub(super) gamma_factor: f64,
    gamma: f64,
    /// How the methods that do not store G multiply it.
    operator: String,
    singular_values: Vec<f64>,
    /// Residual of the exact triplets that accuracies are measured by.
    reference_residual: f64,
    pub(super) courses: Vec<Course>,
    goals: Vec<Goal>,
}

/// Who is first to an accuracy.
#[derive(Serialize)]
struct Goal {
    eta: f64,
    fastest: Option<&'static str>,
    /// Whether that is the asymmetric Nyström method, with or without polish, or the exact solver `lanczos` on the operator.
    ours_first: bool,
    /// Seconds of the fastest randomised solver.
    randomized_seconds: Option<f64>,
    /// That over the seconds of the asymmetric Nyström method as in the paper.
    speedup: Option<f64>,
    paper: Option<SolverFigures>,
}

/// All methods on one set.
pub(super) fn set(folder: &Folder, settings: &Settings, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let set = folder.graph()?;
    let (nodes, links) = (set.graph.nodes(), set.graph.adjacency().nnz());
    let rank = settings.rank.min(nodes);
    tell(desk, &format!("{}: {nodes} nodes, {links} links, rank {rank}", folder.name));
    let field = Field { data: &set.data, rank, settings, desk };
    let mut races = Vec::new();
    for &factor in &settings.factors {
        races.push(field.race(&folder.name, factor, &settings.etas, &|_| true)?);
    }
    let files = match &settings.out {
        Some(out) => figures::write(out, &folder.name, &set, &field, &races)?,
        None => Vec::new(),
    };
    let (name, seconds) = (folder.name.clone(), start.elapsed().as_secs_f64());
    Ok(SetReport {
        name,
        nodes,
        links,
        rank,
        kernel: KERNEL,
        times: TIMES,
        limit: settings.limit,
        races,
        files,
        seconds,
    })
}

/// The races of one set.
pub(super) fn pictures(set: &SetReport) -> Vec<Picture> {
    set.races.iter().map(|race| figures::error_against_seconds(&set.name, race)).collect()
}

/// The samples of a set with what is asked of every method.
pub(super) struct Field<'a> {
    pub(super) data: &'a Dataset<f64>,
    pub(super) rank: usize,
    pub(super) settings: &'a Settings,
    pub(super) desk: &'a Desk<'a>,
}

impl Field<'_> {
    /// Those methods that are wanted, one after the other, so that they do not disturb each other's times.
    pub(super) fn race(
        &self,
        name: &str,
        factor: f64,
        etas: &[f64],
        wanted: &dyn Fn(&Method) -> bool,
    ) -> lopsided::Result<Race> {
        let (x, z) = (self.data.x.as_ref(), self.data.cols().as_ref());
        let spec = KernelSpec::new(KERNEL);
        let gamma = Gamma::Ksvd.resolve(spec.meeting(), x, z, factor, self.desk.run.seed)?;
        let kernel = spec.with("gamma", gamma).build::<f64>()?;
        let (built, build_seconds) = self.built(&*kernel, OperatorChoice::Auto)?;
        let reference = Reference::new(&*built.operator, self.rank, &self.desk.run)?;
        let problem = Problem { g: &*built.operator, build_seconds, reference: &reference };
        let demand = Demand { etas, repeats: self.settings.trials, limit: self.settings.limit };
        let mut courses = Vec::new();
        for method in METHODS.iter().filter(|m| wanted(m) && !m.stored) {
            courses.push(self.told(name, factor, Course::run(method, &problem, &demand, self.desk)?));
        }
        let stored: Vec<&Method> = METHODS.iter().filter(|m| wanted(m) && m.stored).collect();
        if !stored.is_empty() {
            for course in self.on_stored(&stored, &*kernel, &reference, &demand)? {
                courses.push(self.told(name, factor, course));
            }
        }
        let goals = (0..etas.len()).map(|at| Goal::of(at, etas[at], &courses, solver_figures(name, factor, etas[at])));
        Ok(Race {
            gamma_factor: factor,
            gamma,
            operator: built.plan.kind.to_string(),
            singular_values: reference.sigma().to_vec(),
            reference_residual: reference.residual(),
            goals: goals.collect(),
            courses,
        })
    }

    /// The methods that need all of G in memory, where it fits.
    fn on_stored(
        &self,
        methods: &[&Method],
        kernel: &dyn Kernel<f64>,
        reference: &Reference<f64>,
        demand: &Demand<'_>,
    ) -> lopsided::Result<Vec<Course>> {
        let (built, build_seconds) = match self.built(kernel, OperatorChoice::Dense) {
            Ok(built) => built,
            Err(Error::Memory { needed, available, .. }) => {
                let why = format!("G needs {}, {} are available", bytes(needed), bytes(available));
                return Ok(methods.iter().map(|m| Course::impossible(m, demand, why.clone())).collect());
            }
            Err(error) => return Err(error),
        };
        let problem = Problem { g: &*built.operator, build_seconds, reference };
        methods.iter().map(|method| Course::run(method, &problem, demand, self.desk)).collect()
    }

    /// The operator and the median time of building it.
    fn built<'k>(
        &'k self,
        kernel: &'k dyn Kernel<f64>,
        choice: OperatorChoice,
    ) -> lopsided::Result<(Built<'k, f64>, f64)> {
        let mut times: Vec<f64> = Vec::new();
        loop {
            let matrix = KernelMatrix {
                choice,
                memory: self.desk.memory.unwrap_or_else(available_memory),
                watch: self.desk.run.watch.clone(),
                ..KernelMatrix::new(kernel, self.data.x.as_ref(), self.data.cols().as_ref())
            };
            let start = Instant::now();
            let built = matrix.build()?;
            times.push(start.elapsed().as_secs_f64());
            let spent: f64 = times.iter().sum();
            if times.len() >= self.settings.trials || spent > self.settings.limit / 4.0 {
                return Ok((built, middle(times)));
            }
        }
    }

    fn told(&self, name: &str, factor: f64, course: Course) -> Course {
        let last = course.reached.iter().rev().flatten().next().map(|reached| &reached.attempt);
        let text = last.map_or("not reached".into(), |r| format!("eta {:.1e} in {:.3} s", r.accuracy.eta, r.seconds));
        tell(self.desk, &format!("{name} x {factor}: {}: {text}", course.method));
        course
    }
}

impl Race {
    /// How many times as fast as the fastest randomised solver a method is to the accuracy at this position.
    pub(super) fn speedup(&self, method: &str, at: usize) -> Option<f64> {
        Some(self.goals[at].randomized_seconds? / seconds(&self.courses, method, at)?)
    }

    /// Landmarks on a side that the method needs to the accuracy at this position.
    pub(super) fn landmarks(&self, method: &str, at: usize) -> Option<usize> {
        self.courses.iter().find(|c| c.method == method)?.reached[at].as_ref()?.attempt.landmarks
    }
}

impl Goal {
    fn of(at: usize, eta: f64, courses: &[Course], paper: Option<SolverFigures>) -> Self {
        let times = |wanted: &dyn Fn(&Method) -> bool| {
            let entrants =
                METHODS.iter().filter(|m| wanted(m)).filter_map(|m| Some((m, seconds(courses, m.name, at)?)));
            entrants.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let fastest = times(&|_| true).map(|(method, _)| method);
        let randomized_seconds = times(&Method::is_randomized).map(|(_, seconds)| seconds);
        let nystrom = seconds(courses, NYSTROM, at);
        Goal {
            eta,
            fastest: fastest.map(|m| m.name),
            ours_first: fastest.is_some_and(|m| m.ours),
            randomized_seconds,
            speedup: randomized_seconds.zip(nystrom).map(|(theirs, ours)| theirs / ours),
            paper,
        }
    }
}

/// Seconds of a method to the accuracy at this position, if it got there.
fn seconds(courses: &[Course], method: &str, at: usize) -> Option<f64> {
    courses.iter().find(|c| c.method == method)?.reached[at].as_ref().map(|r| r.attempt.seconds)
}

//! Solvers in competition: the loosest setting of each that reaches an accuracy, and its time.

use super::paper::SolverFigures;
use crate::Desk;
use crate::tasks::{Accuracy, Reference};
use lopsided::Run;
use lopsided::base::settings::Settings;
use lopsided::operator::Operator;
use lopsided::solvers::svd::{Svd, solver};
use serde::Serialize;
use std::time::Instant;

/// Vectors beyond the rank in a random block.
const OVERSAMPLE: usize = 10;
/// Most products of G with a block; the basis has that many blocks.
const PASSES: usize = 64;
/// Tolerance of the decompositions inside the Nyström methods, well below the accuracies asked for.
const INNER: f64 = 1e-4;

/// A solver with the settings to try one after another.
pub(super) struct Method {
    pub(super) name: &'static str,
    solver: &'static str,
    /// Works on the stored matrix, as the paper's solvers do.
    pub(super) stored: bool,
    /// One of those that are offered here, as opposed to what they are compared with.
    pub(super) ours: bool,
    ladder: Ladder,
    pub(super) paper: Option<fn(&SolverFigures) -> f64>,
}

/// What is varied from loose to strict.
#[derive(Clone, Copy, PartialEq)]
enum Ladder {
    /// The tolerance on residuals.
    Tolerance,
    /// Products with G.
    Passes,
    /// Vectors in the random block, as in the paper.
    Block,
    /// Landmarks on a side; with or without a Rayleigh–Ritz pass at the end.
    Sample { polish: Option<bool> },
}

/// All of them. The order is that of the table.
pub(super) const METHODS: [Method; 8] = [
    Method { ours: true, ..method("lanczos", "lanczos", Ladder::Tolerance) },
    method("randomized, more passes", RANDOMIZED, Ladder::Passes),
    method("randomized, more vectors", RANDOMIZED, Ladder::Block),
    Method {
        paper: Some(|p| p.symmetric_nystrom),
        ..method("symmetric Nyström", "symmetric-nystrom", Ladder::Sample { polish: None })
    },
    Method {
        ours: true,
        paper: Some(|p| p.nystrom),
        ..method(NYSTROM, "nystrom", Ladder::Sample { polish: Some(false) })
    },
    Method { ours: true, ..method(POLISHED, "nystrom", Ladder::Sample { polish: Some(true) }) },
    Method { stored: true, paper: Some(|p| p.tsvd), ..method("lanczos, G stored", "lanczos", Ladder::Tolerance) },
    Method {
        stored: true,
        paper: Some(|p| p.rsvd),
        ..method("randomized, G stored, more vectors", RANDOMIZED, Ladder::Block)
    },
];

const RANDOMIZED: &str = "randomized";
/// The paper's own method.
pub(super) const NYSTROM: &str = "asymmetric Nyström";
/// The same with a Rayleigh–Ritz pass at the end.
pub(super) const POLISHED: &str = "asymmetric Nyström, polished";

const fn method(name: &'static str, solver: &'static str, ladder: Ladder) -> Method {
    Method { name, solver, stored: false, ours: false, ladder, paper: None }
}

impl Method {
    /// True for the randomised solvers, over which the speed-up is taken.
    pub(super) fn is_randomized(&self) -> bool {
        self.solver == RANDOMIZED
    }

    /// Settings in words and as parameters, loosest first.
    fn rungs(&self, size: usize, rank: usize) -> Vec<(String, Settings)> {
        let params = |tol: f64| Settings::default().with("tol", tol);
        let random = |passes: usize, block: usize| {
            params(1e-13).with("passes", passes as f64).with("oversample", (block - rank).max(1) as f64)
        };
        match self.ladder {
            Ladder::Tolerance => {
                let tolerances = (0..26).map(|k| 10f64.powf(-0.5 * (f64::from(k) + 0.5)));
                tolerances.map(|tol| (format!("tol {tol:.1e}"), params(tol))).collect()
            }
            Ladder::Passes => {
                let passes = growing(1, PASSES).into_iter();
                passes.map(|p| (format!("{p} passes"), random(p, (rank + OVERSAMPLE).min(size)))).collect()
            }
            Ladder::Block => {
                let blocks = growing(rank + OVERSAMPLE, size).into_iter();
                blocks.map(|block| (format!("{block} vectors"), random(2, block))).collect()
            }
            Ladder::Sample { polish } => {
                growing(rank, size).into_iter().map(|m| (format!("m = {m}"), sample(m, polish))).collect()
            }
        }
    }

    /// How much longer the next attempt may take than the one before.
    fn growth(&self) -> f64 {
        if let Ladder::Sample { .. } = self.ladder { 3.0 } else { 2.0 }
    }
}

fn sample(count: usize, polish: Option<bool>) -> Settings {
    let params =
        Settings::default().with("tol", INNER).with("rows-sample", count as f64).with("cols-sample", count as f64);
    polish.map_or(params.clone(), |polish| params.with("polish", f64::from(u8::from(polish))))
}

/// From `first` to `last` by factors of √2.
fn growing(first: usize, last: usize) -> Vec<usize> {
    let steps = (0..).map(|k| (first as f64 * 2f64.powf(0.5 * f64::from(k))).round() as usize);
    let mut sizes: Vec<usize> = steps.take_while(|s| *s < last).chain([last]).collect();
    sizes.dedup();
    sizes
}

/// A matrix to decompose, and how long it took to set it up from the samples.
pub(super) struct Problem<'a> {
    pub(super) g: &'a dyn Operator<f64>,
    pub(super) build_seconds: f64,
    pub(super) reference: &'a Reference<f64>,
}

/// One setting and what it gave.
#[derive(Clone, Serialize)]
pub(super) struct Attempt {
    pub(super) setting: String,
    /// Landmarks on a side.
    pub(super) landmarks: Option<usize>,
    pub(super) accuracy: Accuracy,
    /// Without setting up the matrix.
    pub(super) seconds: f64,
}

/// The loosest setting that reaches an accuracy.
#[derive(Clone, Serialize)]
pub(super) struct Reached {
    /// With seconds from the samples to the triplets: setting up the matrix, and the median time of this setting.
    #[serde(flatten)]
    pub(super) attempt: Attempt,
    /// The seconds with all attempts that failed before.
    pub(super) seconds_with_failures: f64,
}

/// A method on one matrix.
#[derive(Clone, Serialize)]
pub(super) struct Course {
    pub(super) method: &'static str,
    pub(super) build_seconds: f64,
    pub(super) attempts: Vec<Attempt>,
    /// For each accuracy asked for.
    pub(super) reached: Vec<Option<Reached>>,
    /// Why there was no further attempt, where an accuracy was not reached.
    pub(super) stopped: Option<String>,
}

/// What all methods are asked for.
pub(super) struct Demand<'a> {
    /// Descending.
    pub(super) etas: &'a [f64],
    pub(super) repeats: usize,
    pub(super) limit: f64,
}

impl Course {
    /// A method that has nothing to work on.
    pub(super) fn impossible(method: &Method, demand: &Demand<'_>, why: String) -> Self {
        let reached = vec![None; demand.etas.len()];
        Course { method: method.name, build_seconds: 0.0, attempts: Vec::new(), reached, stopped: Some(why) }
    }

    /// Tries the settings until the last accuracy is reached, there is none left, or the time is up.
    pub(super) fn run(
        method: &Method,
        problem: &Problem<'_>,
        demand: &Demand<'_>,
        desk: &Desk,
    ) -> lopsided::Result<Self> {
        let mut course =
            Course { build_seconds: problem.build_seconds, ..Course::impossible(method, demand, String::new()) };
        let size = problem.g.nrows().min(problem.g.ncols());
        let mut spent = problem.build_seconds;
        for (setting, params) in method.rungs(size, problem.reference.rank()) {
            let last = course.attempts.last().map_or(0.0, |a| a.seconds);
            if spent + method.growth() * last > demand.limit {
                course.stopped = Some(course.out_of_time(demand.limit));
                return Ok(course);
            }
            let (svd, seconds) = solve(method, problem, &params, &desk.run)?;
            let accuracy = problem.reference.accuracy(&svd);
            let landmarks = svd.report.landmarks.map(|l| l.0);
            course.attempts.push(Attempt { setting: setting.clone(), landmarks, accuracy, seconds });
            let open = |at: &usize| course.reached[*at].is_none() && accuracy.eta <= demand.etas[*at];
            let now: Vec<usize> = (0..demand.etas.len()).filter(open).collect();
            if !now.is_empty() {
                let seconds = problem.build_seconds + median(method, problem, &params, (seconds, demand), &desk.run)?;
                let seconds_with_failures = seconds + (spent - problem.build_seconds);
                let attempt = Attempt { setting, landmarks, accuracy, seconds };
                let reached = Reached { attempt, seconds_with_failures };
                now.into_iter().for_each(|at| course.reached[at] = Some(reached.clone()));
            }
            spent += seconds;
            if course.reached.iter().all(Option::is_some) {
                course.stopped = None;
                return Ok(course);
            }
        }
        course.stopped = Some("there is no stricter setting".into());
        Ok(course)
    }

    fn out_of_time(&self, limit: f64) -> String {
        if self.attempts.is_empty() {
            return format!("setting up the matrix takes {:.1} s of {limit} s", self.build_seconds);
        }
        format!("the next attempt would pass {limit} s")
    }
}

fn solve(method: &Method, problem: &Problem<'_>, params: &Settings, run: &Run) -> lopsided::Result<(Svd<f64>, f64)> {
    let solver = solver::<f64>(method.solver, params)?;
    let start = Instant::now();
    let svd = solver.solve(problem.g, problem.reference.rank(), run)?;
    Ok((svd, start.elapsed().as_secs_f64()))
}

/// Median of the first time and further ones, no more than the time allows.
fn median(
    method: &Method,
    problem: &Problem<'_>,
    params: &Settings,
    (first, demand): (f64, &Demand<'_>),
    run: &Run,
) -> lopsided::Result<f64> {
    let mut times = vec![first];
    while times.len() < demand.repeats && times.iter().sum::<f64>() + first <= demand.limit {
        times.push(solve(method, problem, params, run)?.1);
    }
    Ok(middle(times))
}

/// The median, the mean of the two in the middle of an even number.
pub(super) fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => f64::midpoint(values[half - 1], values[half]),
        _ => values[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladders_go_from_loose_to_everything() {
        assert_eq!(growing(20, 60), [20, 28, 40, 57, 60]);
        assert_eq!(growing(60, 60), [60]);
        assert_eq!(growing(1, 8), [1, 2, 3, 4, 6, 8]);
        for method in &METHODS {
            let rungs = method.rungs(100, 20);
            assert!(rungs.len() > 2, "{}", method.name);
            assert!(rungs.iter().all(|(_, params)| solver::<f64>(method.solver, params).is_ok()), "{}", method.name);
        }
    }

    #[test]
    fn the_middle_is_the_median() {
        assert_eq!([vec![3.0, 1.0, 2.0], vec![4.0, 1.0]].map(middle), [2.0, 2.5]);
        assert!(middle(vec![]).is_nan());
    }
}

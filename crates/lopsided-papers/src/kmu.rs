//! \[KMU\] Section 4: regret of EG, EG⁺ and gradient descent in the gain game, measured against the bounds.

use super::sets::{self, Folder};
use super::{Report, Skipped, data_folder, is_interruption, show, tell};
use crate::Desk;
use crate::ReproduceArgs;
use crate::Shown;
use anyhow::Result;
use lopsided::data::synth::NoisyProjections;
use lopsided::kernel::{Gamma, KernelSpec};
use lopsided::online::{Hindsight, Instance, LearnerSpec, Loss, StepSize, Trial, Tuning, best_in_hindsight};
use lopsided::report::text;
use lopsided::{Mat, Run, Samples};
use serde::Serialize;
use std::time::Instant;

/// Trials of a made stream.
const TRIALS: usize = 400;
/// Rows of a table with the linear kernel, and with a kernel that has as many dimensions as rows.
const ROWS: (usize, usize) = (2000, 300);

/// One stream. The fields are those of `--json`.
#[derive(Serialize)]
struct SetReport {
    name: String,
    kernel: String,
    trials: usize,
    /// Dimension n of the features; none for a kernel with infinitely many.
    dimension: Option<usize>,
    /// Dimension r of the span, and rank s of the instances.
    span: usize,
    instance_rank: usize,
    /// L*, the gain that even the best direction misses.
    missed: f64,
    learners: Vec<Line>,
}

/// One learner on it.
#[derive(Serialize)]
struct Line {
    learner: String,
    regret: f64,
    /// For the steps that were taken.
    bound: f64,
    /// The formula of the paper.
    paper_bound: f64,
    seconds: f64,
}

/// A stream and what is known about it.
struct Stream {
    name: String,
    kernel: KernelSpec,
    trials: Vec<Trial>,
    dimension: Option<usize>,
    normalize: bool,
}

/// Computes the table.
pub(super) fn run(args: &ReproduceArgs, desk: &Desk) -> Result<Shown> {
    let mut sets = Vec::new();
    for stream in made(args.quick, desk.run.seed)? {
        sets.push(measured(&stream, desk)?);
    }
    let mut skipped = Vec::new();
    let folders = data_folder(args).ok().map(|data| sets::folders(&data, &args.only)).transpose()?;
    for folder in folders.unwrap_or_default().iter().filter(|folder| folder.has_table()) {
        match on_table(folder, args.quick, desk) {
            Ok(found) => sets.extend(found),
            Err(error) if is_interruption(&error) => return Err(error),
            Err(error) => skipped.push(Skipped { name: folder.name.clone(), reason: format!("{error:#}") }),
        }
    }
    let (seed, seconds) = (desk.run.seed, desk.seconds());
    show(&Report { table: "kmu-regret", seed, trials: 1, folds: 1, sets, skipped, seconds }, text, desk)
}

fn made(quick: bool, seed: u64) -> lopsided::Result<Vec<Stream>> {
    let trials = if quick { 60 } else { TRIALS };
    let recipes = [
        ("low noise", 50, 1, 0.5),
        ("high noise", 50, 1, 9.0),
        ("dimension 20", 20, 1, 1.0),
        ("dimension 80", 80, 1, 1.0),
        ("dimension 320", 320, 1, 1.0),
        ("rank 2", 40, 2, 1.0),
        ("rank 4", 40, 4, 1.0),
        ("rank 8", 40, 8, 1.0),
    ];
    let stream = |(name, dimension, rank, noise): (&str, usize, usize, f64)| {
        let recipe = NoisyProjections { trials, dimension, rank, noise, seed };
        let instances =
            recipe.generate()?.into_iter().map(|rows| Instance::new(Samples::Dense(rows), None, Vec::new()));
        let trials = instances.map(|instance| Ok(Trial { instance: instance?, label: 0.0 }));
        Ok(Stream {
            name: format!("made, {name}"),
            kernel: KernelSpec::new("linear"),
            trials: trials.collect::<lopsided::Result<_>>()?,
            dimension: Some(dimension),
            normalize: false,
        })
    };
    recipes.into_iter().map(stream).collect()
}

/// The rows of a table as they come, with the linear and with the Gaussian kernel.
fn on_table(folder: &Folder, quick: bool, desk: &Desk) -> Result<Vec<SetReport>> {
    let (data, _) = folder.table()?;
    if matches!(data.x, Samples::Sparse(_)) {
        return Ok(Vec::new());
    }
    let rows = &data.x.clone().into_dense();
    let seed = desk.run.seed;
    let gamma =
        Gamma::Median.resolve(lopsided::kernel::pair::Meeting::Dot, data.x.as_ref(), data.x.as_ref(), 1.0, seed)?;
    let kernels = [
        (KernelSpec::new("linear"), Some(rows.ncols()), ROWS.0),
        (KernelSpec::new("rbf").with("gamma", gamma), None, ROWS.1),
    ];
    let mut found = Vec::new();
    for (kernel, dimension, most) in kernels {
        let most = if quick { 60 } else { most };
        let trials = (0..rows.nrows().min(most)).map(|i| Trial { instance: instance(rows, i), label: 0.0 }).collect();
        let stream = Stream { name: folder.name.clone(), kernel, trials, dimension, normalize: true };
        found.push(measured(&stream, desk)?);
    }
    Ok(found)
}

fn instance(rows: &Mat<f64>, i: usize) -> Instance {
    Instance::symmetric(&rows.row(i).iter().copied().collect::<Vec<_>>())
}

fn measured(stream: &Stream, desk: &Desk) -> Result<SetReport> {
    tell(desk, &format!("{}, {} kernel", stream.name, stream.kernel.name));
    let run = &desk.run;
    let count = stream.trials.len();
    let best = best_in_hindsight(&spec(stream, "eg-plus"), &stream.trials, &[count], &Hindsight::default(), run)?[0];
    let (missed, span) = (count as f64 + best.loss, span(stream, run)?);
    let rank = stream.trials.iter().map(|trial| trial.instance.rank()).max().unwrap_or(1);
    let names = ["meg", "eg-plus", "gd-symmetric"];
    let mut learners = Vec::new();
    for name in names.into_iter().filter(|name| *name != "meg" || stream.dimension.is_some()) {
        let size = if name == "meg" { stream.dimension.unwrap_or(span) } else { span };
        let tuning = Tuning {
            trials: count as u64,
            comparator: Some(missed.max(0.0)),
            rank: Some(size),
            instance_rank: Some(rank),
        };
        let log = (size as f64).ln();
        let entropic = (2.0 * missed.max(0.0) * log).sqrt() + log;
        let paper_bound = match name {
            "meg" => entropic,
            "eg-plus" => entropic + 1.0,
            _ => ((count * rank) as f64).sqrt(),
        };
        learners.push(line(
            &spec(stream, name).with_step(StepSize::Tuned(tuning)),
            stream,
            best.loss,
            paper_bound,
            run,
        )?);
    }
    let kernel = stream.kernel.name.clone();
    let (name, dimension) = (stream.name.clone(), stream.dimension);
    Ok(SetReport { name, kernel, trials: count, dimension, span, instance_rank: rank, missed, learners })
}

fn spec(stream: &Stream, name: &str) -> LearnerSpec {
    let spec = LearnerSpec::new(name).with_loss(Loss::Gain).with_kernels(stream.kernel.clone(), None);
    let spec = LearnerSpec { normalize: stream.normalize, ..spec };
    match stream.dimension.filter(|_| name == "meg") {
        Some(n) => spec.with("dimension", n as f64),
        None => spec,
    }
}

/// The dimension of the span of all instances.
fn span(stream: &Stream, run: &Run) -> Result<usize> {
    // Steps so small that nothing is learned but the span.
    let mut learner = spec(stream, "eg-plus").with_step(StepSize::Fixed(1e-6)).build()?;
    for trial in &stream.trials {
        run.watch.check()?;
        learner.update(&trial.instance, trial.label)?;
    }
    Ok(learner.account().span)
}

fn line(spec: &LearnerSpec, stream: &Stream, best: f64, paper_bound: f64, run: &Run) -> Result<Line> {
    let start = Instant::now();
    let mut learner = spec.build()?;
    for trial in &stream.trials {
        run.watch.check()?;
        learner.update(&trial.instance, trial.label)?;
    }
    Ok(Line {
        learner: spec.name.clone(),
        regret: learner.account().cumulative_loss - best,
        bound: learner.regret_bound(learner.account(), best).unwrap_or(f64::NAN),
        paper_bound,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn text(set: &SetReport) -> String {
    let features = set.dimension.map_or("infinitely many".into(), |n| n.to_string());
    let head = format!(
        "{}, {} kernel: {} trials of rank {}, {features} features, span {}, missed by the best {}\n",
        set.name,
        set.kernel,
        set.trials,
        set.instance_rank,
        set.span,
        text::number(set.missed)
    );
    let rows = set.learners.iter().map(|line| {
        let [regret, bound, paper] = [line.regret, line.bound, line.paper_bound].map(text::number);
        (
            format!("  {}", line.learner),
            format!("regret {regret}  bound {bound}  paper's {paper}  {:.2} s", line.seconds),
        )
    });
    head + &text::aligned(&rows.collect::<Vec<_>>())
}

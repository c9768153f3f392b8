//! `fit krr --stream`: a file that is read in passes and never held.

use super::summary::Summary;
use crate::args::FitArgs;
use crate::commands::Outcome;
use crate::context::Context;
use crate::labelled::as_asked;
use crate::{estimator, input, output};
use anyhow::Result;
use lopsided::data::io::classes_of;
use lopsided::data::io::{StreamedTable, TargetColumn, is_npy, is_svmlight, stream_npy, stream_svmlight};
use lopsided::estimators::{Model, Penalty, StreamedRidge};
use lopsided::kernel::Gamma;
use lopsided::operator::available_memory;
use lopsided::{Error, Run, Samples, Scalar, Target};
use std::path::Path;

/// Fits ridge regression out of core.
pub(super) fn fit<T: Scalar>(args: &FitArgs, context: &Context) -> Result<Outcome> {
    refuse(args)?;
    args.model.as_deref().map_or(Ok(()), output::check)?;
    let svd = estimator::of_machine::<T>(&args.kernel, context)?;
    direct(&args.solver.solver)?;
    let mut machine = StreamedRidge { kernel: svd.kernel, gamma_factor: svd.gamma_factor, ..StreamedRidge::new("rbf") };
    machine.gamma = if args.kernel.gamma.is_none() { Gamma::Median } else { svd.gamma };
    machine.penalty = match args.penalty {
        Some(Penalty::Fixed(penalty)) => penalty,
        Some(Penalty::Auto) => return Err(Error::param("penalty", "auto", "a number above 0").into()),
        None => machine.penalty,
    };
    let StreamedTable { rows, target } = open::<T>(args, &context.run)?;
    let Some(target) = target else {
        let error = Error::parse(args.input.display().to_string(), "has no classes or values to learn");
        return Err(crate::failure::hinted(error, "give them with --labels FILE, `id,label` or a .npy vector"));
    };
    let target = as_asked(target, args.task)?;
    machine.landmarks = landmarks(args, target.known().len())?;
    machine.direct = direct(&args.solver.solver)?;
    let classes = if let Target::Classes { names, .. } = &target { names.len() } else { 1 };
    check_memory::<T>(&machine, (rows.nrows(), classes, rows.ncols()), context)?;
    let model = machine.fit(&rows, &target, &context.run)?;
    context.run.watch.check()?;
    if let Some(path) = &args.model {
        let mut archive = model.archive();
        // The name that readers of svmlight files give to the labels.
        let own_labels = is_svmlight(&args.input) && args.graph.labels.is_none();
        archive.set_field("target", own_labels.then_some("label"));
        archive.save(path)?;
    }
    let notes = vec![format!("passes over the file: {}", rows.passes())];
    Summary::of::<T>(args, &model, None, notes).show(context)?;
    Ok(if model.report().converged { Outcome::Done } else { Outcome::NotConverged })
}

fn direct(solver: &str) -> lopsided::Result<Option<bool>> {
    match solver {
        "auto" => Ok(None),
        "direct" => Ok(Some(true)),
        "cg" => Ok(Some(false)),
        other => Err(Error::param("solver", other, "auto, direct or cg with --stream")),
    }
}

fn landmarks(args: &FitArgs, known: usize) -> lopsided::Result<usize> {
    let Some(text) = &args.landmarks.landmarks else { return Ok(1000.min(known)) };
    let allowed = || format!("between 1 and the number of samples, {known}");
    let count = text.parse::<usize>().ok().filter(|m| (1..=known).contains(m));
    count.ok_or_else(|| Error::param("landmarks", text, allowed()))
}

/// The rows, and their targets where there are any.
fn open<T: Scalar>(args: &FitArgs, run: &Run) -> Result<StreamedTable<T>> {
    let labels = args.graph.labels.as_deref();
    let mut table = if is_svmlight(&args.input) {
        let target = if labels.is_some() { TargetColumn::None } else { TargetColumn::Last };
        stream_svmlight(&args.input, &target, &run.watch)?
    } else if is_npy(&args.input) {
        StreamedTable { rows: stream_npy(&args.input)?, target: None }
    } else {
        let allowed = "an svmlight (.svm, .libsvm, .svmlight) or NumPy (.npy) file";
        return Err(Error::param("stream", args.input.display(), allowed).into());
    };
    if let Some(path) = labels {
        table.target = Some(targets(path, table.rows.nrows())?);
    }
    Ok(table)
}

/// Targets of rows 0, 1, 2, …
fn targets(path: &Path, rows: usize) -> Result<Target> {
    // One coordinate, so that the rows have their usual names.
    let unnamed = lopsided::Dataset::new(Samples::Dense(lopsided::Mat::<f64>::zeros(rows, 1)));
    Ok(classes_of(path, &unnamed, &input::labels(path, None)?)?)
}

fn check_memory<T: Scalar>(
    machine: &StreamedRidge,
    (rows, targets, columns): (usize, usize, usize),
    context: &Context,
) -> lopsided::Result<()> {
    let available = context.global.memory.unwrap_or_else(available_memory);
    let needed = machine.bytes::<T>(rows, targets, columns);
    if needed <= available {
        return Ok(());
    }
    let (what, advice) = ("ridge regression out of core".into(), "take fewer landmarks or allow more memory".into());
    Err(Error::Memory { what, needed, available, advice })
}

/// Says so where an option has no meaning out of core.
fn refuse(args: &FitArgs) -> lopsided::Result<()> {
    let meaningless = [
        ("cv", args.cv.is_some()),
        ("cols", args.cols.is_some()),
        ("train-ids", args.train_ids.is_some()),
        ("landmark-ids", args.landmarks.landmark_ids.is_some()),
        ("landmark-points", args.landmarks.landmark_points.is_some()),
        ("weights", args.machine.weights.is_some()),
        ("errors", args.landmarks.errors),
        ("dry-run", args.dry_run),
    ];
    if let Some((name, _)) = meaningless.iter().find(|(_, given)| *given) {
        return Err(Error::param(name, "given", "left out with --stream"));
    }
    let only = [("approach", "ncr"), ("nystrom", "standard"), ("sampler", "uniform")];
    let sampler = args.solver.sampler.iter().map(|name| ("sampler".to_string(), name.clone()));
    for (name, value) in args.landmarks.given().chain(sampler).filter(|(name, _)| name != "landmarks") {
        match only.iter().find(|(known, _)| *known == name) {
            Some((_, allowed)) if value == *allowed => {}
            Some((_, allowed)) => return Err(Error::param(&name, value, format!("{allowed} with --stream"))),
            None => return Err(Error::param(&name, value, "left out with --stream")),
        }
    }
    Ok(())
}

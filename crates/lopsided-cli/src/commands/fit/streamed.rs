//! `fit --stream`: a table that is read in passes and never held.
//!
//! Sums over rows are made as `part` and `merge` make them, with one part for each pass. Ridge regression by conjugate gradients,
//! which takes a pass for each step, is the machine of [`StreamedRidge`].

use super::page::with_predictions;
use super::summary::Summary;
use crate::args::FitArgs;
use crate::commands::forecast::Forecast;
use crate::commands::shards::Account;
use crate::commands::{Outcome, shards};
use crate::context::Context;
use crate::labelled::as_asked;
use crate::{input, output, page};
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::io::classes_of;
use lopsided::data::io::{StreamedTable, TargetColumn, is_npy, is_svmlight, stream_npy, stream_svmlight};
use lopsided::data::table_stream::TableStream;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::shards::fit as by_passes;
use lopsided::estimators::{Fitted, Gram, Model, StreamedRidge};
use lopsided::operator::available_memory;
use lopsided::report::Page;
use lopsided::{Dataset, Error, Run, Samples, Scalar, Target, pages};
use std::path::Path;

/// Rows whose predictions a page shows.
const SHOWN: usize = 1000;
/// Up to this many landmarks the system of ridge regression is formed.
const DIRECT: f64 = 4096.0;

/// Fits out of core.
pub(super) fn fit<T: Scalar>(mut given: Settings, args: &FitArgs, context: &Context) -> Result<Outcome> {
    refuse(args)?;
    for path in [&args.model, &args.report].into_iter().flatten().filter(|_| !args.given.dry_run) {
        output::check(path)?;
    }
    if args.estimator == "krr" {
        let solver = given.take("solver").map_or_else(|| "auto".into(), |solver| solver.to_string());
        let many = given.get("landmarks").is_some_and(|landmarks| landmarks > DIRECT);
        if direct(&solver)?.map_or(many, |direct| !direct) {
            refuse_settings(&given)?;
            return by_gradients::<T>(&given, args, context);
        }
    }
    let job = shards::job::<T>(&args.estimator, given, args.task, context.run.seed)?;
    context.line.stage("reading");
    let labels = input::label_file(args.graph.labels.as_deref(), &args.graph.read);
    let target = args.graph.read.target.as_deref().filter(|_| labels.is_none());
    let inputs = std::slice::from_ref(&args.input);
    let table = shards::open::<T>(inputs, labels.into_iter().collect(), target, &args.graph.read.drop, &context.run)?;
    shards::check(&job, &table, &args.input, context)?;
    if args.given.dry_run {
        let n = table.facts.rows;
        let seconds = context.seconds() + job.seconds(&table.facts, n);
        Forecast::new(n as u64, job.bytes::<T>(&table.facts), seconds, Vec::new()).show("rows", context)?;
        return Ok(Outcome::Done);
    }
    let learned = by_passes(&job, &table, &context.run)?;
    context.run.watch.check()?;
    if let Some(path) = &args.model {
        learned.archive().save(path)?;
    }
    let account = Account::of(&job, &learned, args.model.as_ref(), context).with_rate(&table.facts);
    if let Some(path) = &args.report {
        let page = drawn(&learned.fitted, &table, &page::name(&args.input), &context.run)?;
        page::write(path, &page.account(&page::account(context, &account.warnings, &account.lines())))?;
    }
    account.show(context)?;
    Ok(if learned.converged() { Outcome::Done } else { Outcome::NotConverged })
}

/// What was learned, with predictions of the first rows.
fn drawn<T: Scalar>(fitted: &Fitted<T>, table: &TableStream<T>, name: &str, run: &Run) -> Result<Page> {
    let model = match fitted {
        Fitted::Predictor(model) => &**model,
        Fitted::Components(model) => return Ok(pages::components(&model.variances, model.n_train, name)),
        other => return Ok(pages::fitted(other, name, run)?),
    };
    let mut first = None;
    table.for_each_piece(0..table.facts.rows.min(SHOWN), SHOWN, "drawing", &run.watch, |_, x, y| {
        first = Some(Dataset { y, ..Dataset::new(x) });
        Ok(())
    })?;
    let page = pages::predictor(model, name, run)?;
    let Some(rows) = first else { return Ok(page) };
    let decision = model.decision(&rows, run)?;
    Ok(with_predictions(page, model, (&rows, decision.as_ref()), run)?)
}

/// Ridge regression by conjugate gradients.
fn by_gradients<T: Scalar>(given: &Settings, args: &FitArgs, context: &Context) -> Result<Outcome> {
    let gram = recipe::take_gram(&mut given.clone(), &Usual::learning("rbf", false))?;
    let Gram { kernel, gamma, gamma_factor, .. } = gram;
    let mut machine = StreamedRidge { kernel, gamma, gamma_factor, direct: Some(false), ..StreamedRidge::new("rbf") };
    machine.penalty = given.positive("penalty", Some(machine.penalty))?;
    let StreamedTable { rows, target } = open::<T>(args, &context.run)?;
    let Some(target) = target else {
        let error = Error::parse(args.input.display().to_string(), "has no classes or values to learn");
        return Err(crate::failure::hinted(error, "give them with --labels FILE, `id,label` or a .npy vector"));
    };
    let target = as_asked(target, args.task)?;
    machine.landmarks = landmarks(given, target.known().len())?;
    let classes = if let Target::Classes { names, .. } = &target { names.len() } else { 1 };
    if args.given.dry_run {
        let (n, pass) = (rows.nrows(), context.seconds());
        let bytes = machine.bytes::<T>(n, classes, rows.ncols());
        Forecast::new(n as u64, bytes, pass + machine.seconds(&rows, pass), Vec::new()).show("rows", context)?;
        return Ok(Outcome::Done);
    }
    check_memory::<T>(&machine, (rows.nrows(), classes, rows.ncols()), context)?;
    let model = machine.fit(&rows, &target, &context.run)?;
    context.run.watch.check()?;
    if let Some(path) = &args.model {
        let mut archive = model.archive();
        // The name that readers of svmlight files give to the labels.
        let own_labels =
            is_svmlight(&args.input) && input::label_file(args.graph.labels.as_deref(), &args.graph.read).is_none();
        archive.set_field("target", own_labels.then_some("label"));
        archive.save(path)?;
    }
    let notes = vec![format!("passes over the file: {}", rows.passes())];
    let mut summary = Summary::of::<T>(args, &model, None, notes);
    if let Some(path) = &args.report {
        let page = pages::predictor(&model, &page::name(&args.input), &context.run)?;
        page::write(path, &page.account(&page::account(context, &summary.warnings, &summary.lines())))?;
    }
    summary.show(context)?;
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

fn landmarks(given: &Settings, known: usize) -> lopsided::Result<usize> {
    let Some(value) = given.value("landmarks") else { return Ok(1000.min(known)) };
    let allowed = || format!("between 1 and the number of samples, {known}");
    let count = given.count("landmarks", 1).ok().map(|count| count as usize).filter(|m| (1..=known).contains(m));
    count.ok_or_else(|| Error::param("landmarks", value, allowed()))
}

/// The rows, and their targets where there are any.
fn open<T: Scalar>(args: &FitArgs, run: &Run) -> Result<StreamedTable<T>> {
    let labels = input::label_file(args.graph.labels.as_deref(), &args.graph.read);
    let labels = labels.as_deref();
    let mut table = if is_svmlight(&args.input) {
        let target = if labels.is_some() { TargetColumn::None } else { TargetColumn::Last };
        stream_svmlight(&args.input, &target, &run.watch)?
    } else if is_npy(&args.input) {
        StreamedTable { rows: stream_npy(&args.input)?, target: None }
    } else {
        let allowed = "an svmlight (.svm, .libsvm, .svmlight) or NumPy (.npy) file: columns of text are read whole, without --stream";
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
        ("weights", args.weights.is_some()),
        ("features", args.features.features.is_some()),
        ("nodes", args.graph.nodes.is_some()),
        ("categories", !args.graph.read.categories.is_empty()),
        ("array", args.graph.read.array.is_some()),
        ("errors", args.landmarks.errors),
    ];
    match meaningless.iter().find(|(_, given)| *given) {
        Some((name, _)) => Err(Error::param(name, "given", "left out with --stream")),
        None => Ok(()),
    }
}

/// The same for settings of conjugate gradients.
fn refuse_settings(given: &Settings) -> lopsided::Result<()> {
    let only =
        [("approach", "ncr"), ("nystrom", "standard"), ("sampler", "uniform"), ("scale", "none"), ("impute", "none")];
    for (name, allowed) in only {
        if let Some(value) = given.value(name).filter(|value| value.to_string() != allowed) {
            return Err(Error::param(name, value, format!("{allowed} with --solver cg")));
        }
    }
    let unknown = ["truncate", "piece"].iter().find_map(|name| Some((name, given.value(name)?)));
    unknown.map_or(Ok(()), |(name, value)| Err(Error::param(name, value, "left out with --solver cg")))
}

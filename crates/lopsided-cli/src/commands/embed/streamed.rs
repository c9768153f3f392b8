//! `embed --stream`: a file that is read in passes and never held.

use super::super::forecast::Forecast;
use super::summary::Summary;
use super::{Outcome, check_outputs};
use crate::args::{EmbedArgs, OutputArgs};
use crate::context::Context;
use crate::memory::peak_bytes;
use crate::page;
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::io::{Format, TargetColumn, is_svmlight, stream_svmlight, write_matrix};
use lopsided::estimators::{StreamedKernelSvd, StreamedModel};
use lopsided::operator::available_memory;
use lopsided::{Compat, Error, Features, KernelSvd, Scalar, Scaling, Side};
use std::path::PathBuf;

/// Embeds the rows and columns of an svmlight file out of core.
pub(super) fn embed<T: Scalar>(
    estimator: &KernelSvd,
    given: &Settings,
    args: &EmbedArgs,
    context: &Context,
) -> Result<Outcome> {
    refuse(args, given)?;
    if !args.given.dry_run {
        check_outputs(&args.outputs)?;
    }
    let run = &context.run;
    let rows = stream_svmlight::<T>(&args.input, &TargetColumn::None, &run.watch)?.rows;
    let most = if given.value("rank").is_some() { usize::MAX } else { rows.nrows().min(rows.ncols()) };
    let machine = StreamedKernelSvd { rank: estimator.rank.min(most), ..machine(estimator, given, context)? };
    if args.given.dry_run {
        let (pass, size) = (context.seconds(), (rows.nrows(), rows.ncols()));
        let seconds = pass + machine.seconds::<T>(&rows, pass);
        // What is held beside: a chunk of rows with their kernel values.
        let chunk = 16 * 2048 * (machine.cols_sample.unwrap_or(1000) + 256) as u64;
        let bytes = machine.bytes::<T>(size.0, size.1) + chunk + peak_bytes().unwrap_or(0);
        Forecast::new(size.0 as u64, bytes, seconds, Vec::new()).show("rows", context)?;
        return Ok(Outcome::Done);
    }
    check_memory::<T>(&machine, (rows.nrows(), rows.ncols()), context)?;
    let sketch = machine.sketch(&rows, run)?;
    let model = machine.fit(&rows, &sketch, run)?;
    run.watch.check()?;
    context.line.stage("writing");
    let mut summary = Summary::of_streamed(&model, estimator.scaling, sketch.width(), rows.passes());
    if let Some(path) = &args.outputs.report {
        summary.finish(context);
        let drawn = lopsided::pages::streamed(&model, estimator.scaling, &page::name(&args.input), run)?;
        page::write(path, &drawn.account(&summary.told(None, context)))?;
    }
    summary.files = write(model, estimator.scaling, args)?;
    summary.finish(context);
    summary.show(context)?;
    Ok(if summary.converged { Outcome::Done } else { Outcome::NotConverged })
}

fn machine(estimator: &KernelSvd, given: &Settings, context: &Context) -> lopsided::Result<StreamedKernelSvd> {
    let count = |name| given.value(name).map(|_| given.count(name, 1).map(|n| n as usize)).transpose();
    let default = StreamedKernelSvd::new(&estimator.gram.kernel.name);
    Ok(StreamedKernelSvd {
        kernel: estimator.gram.kernel.clone(),
        gamma: estimator.gram.gamma,
        gamma_factor: estimator.gram.gamma_factor,
        rank: estimator.rank,
        rows_sample: count("rows-sample")?,
        cols_sample: count("cols-sample")?,
        compat: given.word("compat")?.unwrap_or(default.compat),
        width: count("compat-width")?,
        block_bytes: context.global.memory.map_or(default.block_bytes, |most| default.block_bytes.min(most / 2)),
        tol: given.number("tol", default.tol)?,
    })
}

/// Refuses what would not fit before it is allocated.
fn check_memory<T: Scalar>(
    machine: &StreamedKernelSvd,
    (n, m): (usize, usize),
    context: &Context,
) -> lopsided::Result<()> {
    let available = context.global.memory.unwrap_or_else(available_memory);
    let needed = machine.bytes::<T>(n, m);
    if needed <= available {
        return Ok(());
    }
    let (what, advice) = ("the embedding out of core".into(), "lower --rank or take --precision f32".into());
    Err(Error::Memory { what, needed, available, advice })
}

/// Says so where an option has no meaning out of core.
fn refuse(args: &EmbedArgs, given: &Settings) -> lopsided::Result<()> {
    let left_out = "left out with --stream";
    if args.outputs.model.is_some() {
        return Err(Error::param("model", "given", format!("{left_out}: a model would have to hold all columns")));
    }
    let meaningless = [
        ("cols", args.cols.is_some()),
        ("labels", args.graph.labels.is_some()),
        ("nodes", args.graph.nodes.is_some()),
        ("features", args.features.features.is_some()),
        ("center", given.flag("center", false)?),
        ("polish", given.flag("polish", false)?),
        ("block", given.value("block").is_some()),
    ];
    if let Some((name, _)) = meaningless.iter().find(|(_, given)| *given) {
        return Err(Error::param(name, "given", left_out));
    }
    let named = match args.graph.read.format {
        Some(format) => format == Format::SvmLight,
        None => is_svmlight(&args.input),
    };
    if !named {
        return Err(Error::param("stream", args.input.display(), "an svmlight file (.svm, .libsvm, .svmlight)"));
    }
    if let Some(sampler) = given.value("sampler") {
        let allowed = "left out with --stream: rows are drawn by chance, columns by their sums";
        return Err(Error::param("sampler", sampler, allowed));
    }
    if let Some(compat) = given.word::<Compat>("compat")?.filter(|c| !matches!(c, Compat::Gram | Compat::Random)) {
        return Err(Error::param("compat", compat, "gram or random with --stream"));
    }
    match given.value("solver").map(ToString::to_string).as_deref() {
        None | Some("auto" | "nystrom") => Ok(()),
        Some(solver) => Err(Error::param("solver", solver, "nystrom with --stream")),
    }
}

fn write<T: Scalar>(model: StreamedModel<T>, scaling: Scaling, args: &EmbedArgs) -> lopsided::Result<Vec<PathBuf>> {
    let features = Features::two_sided(model.svd, scaling);
    for (side, path) in [(Side::Row, &args.outputs.rows_out), (Side::Col, &args.outputs.cols_out)] {
        let Some(path) = path else { continue };
        let values = features.scaled(side, features.scaling.power());
        let ids: Vec<String> = (0..values.nrows()).map(|i| i.to_string()).collect();
        write_matrix(path, &ids, values.as_ref())?;
    }
    let OutputArgs { rows_out, cols_out, report, .. } = &args.outputs;
    Ok([rows_out, cols_out, report].into_iter().flatten().cloned().collect())
}

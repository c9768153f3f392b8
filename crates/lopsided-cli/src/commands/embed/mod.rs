//! `lopsided embed`: left and right features of a graph, a matrix or two sample sets.

mod learned;
mod streamed;
pub(super) mod summary;

use super::Outcome;
use crate::args::{EmbedArgs, OutputArgs};
use crate::context::{Context, in_precision};
use crate::input::{self, Loaded};
use crate::{estimator, output, page};
use anyhow::Result;
use lopsided::data::io::write_matrix;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{Preparation, StreamedKernelSvd};
use lopsided::{Compat, KernelSvdModel, LearnedCompat, Scalar, Side};
use std::path::{Path, PathBuf};
use summary::{DryRun, Summary};

/// Embeds in the wanted precision.
pub(crate) fn run(args: &EmbedArgs, context: &Context) -> Result<Outcome> {
    in_precision!(context, embed(args, context))
}

fn embed<T: Scalar>(args: &EmbedArgs, context: &Context) -> Result<Outcome> {
    let mut given = estimator::given(&args.given, context)?;
    if args.stream && given.value("compat").is_none() {
        given = given.with("compat", StreamedKernelSvd::default().compat.to_string().as_str());
    }
    let compat = recipe::take_compat(&mut given.clone(), Compat::None)?.kind;
    let estimator = estimator::checked::<T>(&given, &Usual::EMBEDDING, false)?;
    if args.stream {
        return streamed::embed::<T>(&estimator, &given, args, context);
    }
    if !args.given.dry_run {
        check_outputs(&args.outputs)?;
    }
    context.line.stage("reading");
    let learning = learned::start(args, &given)?;
    let Loaded { data, preparation, notes } = input::load::<T>(args, &mut given, &context.run)?;
    context.line.stage("planning");
    let estimator = recipe::embedding(given, &data, compat == Compat::Learned)?;
    let learner = learning.map(|start| LearnedCompat { start, ..args.learning.learner(estimator.clone()) });
    let start = learner.as_ref().map(|learner| learner.start(&data.x, &context.run)).transpose()?;
    let plan = estimator.plan(start.as_ref().unwrap_or(&data), &context.run)?;
    drop(start);
    if args.given.dry_run {
        DryRun::of::<T>(estimator.rank, &plan, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    context.line.stage("preparing products with G");
    let (model, learning) = match learner {
        Some(learner) => learned::fit(&learner, data, &context.run).map(|(model, how)| (model, Some(how)))?,
        None => (estimator.with_kernel(plan.kernel.clone()).fit(data, &context.run)?, None),
    };
    let mut summary = Summary::of(&model, &plan, notes);
    summary.learning = learning;
    finish(&model, preparation.as_ref(), summary, args, context)
}

/// Writes the files and tells about them.
fn finish<T: Scalar>(
    model: &KernelSvdModel<T>,
    preparation: Option<&Preparation>,
    mut summary: Summary,
    args: &EmbedArgs,
    context: &Context,
) -> Result<Outcome> {
    context.run.watch.check()?;
    context.line.stage("writing");
    summary.files = write(model, preparation, &args.outputs)?;
    if let Some(path) = &args.outputs.report {
        summary.finish(context);
        context.line.stage("drawing");
        let page = lopsided::pages::embedding(model, &page::name(&args.input), &context.run)?;
        page::write(path, &page.account(&summary.account(model, preparation, context)?))?;
        summary.files.push(path.clone());
    }
    summary.finish(context);
    summary.show(context)?;
    Ok(if summary.converged { Outcome::Done } else { Outcome::NotConverged })
}

fn check_outputs(args: &OutputArgs) -> lopsided::Result<()> {
    for (option, path) in [("rows-out", &args.rows_out), ("cols-out", &args.cols_out)] {
        path.as_ref().map_or(Ok(()), |path| output::check_matrix(option, path))?;
    }
    for path in [&args.model, &args.report].into_iter().flatten() {
        output::check(path)?;
    }
    Ok(())
}

fn write<T: Scalar>(
    model: &KernelSvdModel<T>,
    preparation: Option<&Preparation>,
    args: &OutputArgs,
) -> lopsided::Result<Vec<PathBuf>> {
    for (side, path) in [(Side::Row, &args.rows_out), (Side::Col, &args.cols_out)] {
        path.as_ref().map_or(Ok(()), |path| write_side(model, side, path))?;
    }
    if let Some(path) = &args.model {
        let mut archive = model.archive();
        preparation.into_iter().for_each(|preparation| preparation.put(&mut archive));
        archive.save(path)?;
    }
    Ok([&args.rows_out, &args.cols_out, &args.model].into_iter().flatten().cloned().collect())
}

fn write_side<T: Scalar>(model: &KernelSvdModel<T>, side: Side, path: &Path) -> lopsided::Result<()> {
    let values = model.embedding(side);
    let ids: Vec<String> = (0..values.nrows()).map(|i| model.data.id(side, i)).collect();
    write_matrix(path, &ids, values.as_ref())
}

//! `lopsided fit`: learns to predict, and writes the model.

mod components;
mod errors;
mod grid;
mod landmarks;
mod page;
mod streamed;
mod summary;

pub(super) use summary::word;

use super::Outcome;
use super::embed::summary::DryRun;
use crate::args::FitArgs;
use crate::context::{Context, in_precision};
use crate::labelled::{self, Labelled};
use crate::{estimator, input, output};
use anyhow::Result;
use lopsided::base::file::write_atomically;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{Estimator, MachineErrors, member, score};
use lopsided::evaluation::{Search, Tuning};
use lopsided::{Dataset, Error, Scalar};
use summary::Summary;

/// Training samples that the score is taken of at most, spread over all of them: predicting all may cost as much as the fit.
const SCORED: usize = 1000;

/// Fits in the wanted precision.
pub(crate) fn run(args: &FitArgs, context: &Context) -> Result<Outcome> {
    in_precision!(context, fit(args, context))
}

fn fit<T: Scalar>(args: &FitArgs, context: &Context) -> Result<Outcome> {
    let mut given = estimator::given(&args.given, context)?;
    let member = member::<T>(&args.estimator)?;
    if args.landmarks.stream && member.streams {
        return streamed::fit::<T>(given, args, context);
    }
    if !member.can.predict {
        return components::fit(&member, given, args, context);
    }
    landmarks::refuse(args)?;
    let usual = Usual::learning(recipe::entry::<T>(&args.estimator)?.kernel, false);
    estimator::checked::<T>(&given, &usual, landmarks::of(args))?;
    for path in [&args.model, &args.cv_out, &args.report].into_iter().flatten().filter(|_| !args.given.dry_run) {
        output::check(path)?;
    }
    context.line.stage("reading");
    let Labelled { data, target, mut notes } = labelled::load::<T>(args, &mut given, &context.run)?;
    let given = landmarks::given(given, args, &data)?;
    let (recipe, estimator) = recipe::estimator::<T>(&args.estimator, given.clone(), &data)?;
    let search = args.cv.map(|folds| Search { folds, grid: grid::of(args, &given, &recipe, &data, folds) });
    context.line.stage("planning");
    if args.given.dry_run {
        let plan = match &search {
            Some(search) => search.plan(&*estimator, &data, &context.run),
            None => estimator.plan(&data, &context.run),
        };
        notes.extend(search.as_ref().map(grid::planned));
        DryRun::of::<T>(recipe.svd.rank, &plan.map_err(with_hint)?, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    let (estimator, tuning) = tuned(estimator, search.as_ref(), &data, context)?;
    if let (Some(path), Some(tuning)) = (&args.cv_out, &tuning) {
        let table = tuning.csv()?;
        write_atomically(path, |out| out.write_all(table.as_bytes()).map_err(|e| Error::io(path, e)))?;
    }
    let errors = if args.landmarks.errors { landmarks::errors(args, &*estimator, &data, context)? } else { None };
    finish(args, &*estimator, (tuning, errors), Labelled { data, target, notes }, context)
}

fn tuned<T: Scalar>(
    estimator: Box<dyn Estimator<T>>,
    search: Option<&Search>,
    data: &Dataset<T>,
    context: &Context,
) -> Result<(Box<dyn Estimator<T>>, Option<Tuning>)> {
    let Some(search) = search else { return Ok((estimator, None)) };
    context.line.stage("cross-validation");
    let (best, tuning) = search.run(&*estimator, data, &context.run).map_err(with_hint)?;
    Ok((best, Some(tuning)))
}

fn finish<T: Scalar>(
    args: &FitArgs,
    estimator: &dyn Estimator<T>,
    (tuning, errors): (Option<Tuning>, Option<MachineErrors>),
    labelled: Labelled<T>,
    context: &Context,
) -> Result<Outcome> {
    context.line.stage("fitting");
    let Labelled { data, target, notes } = labelled;
    let known = data.y.as_ref().map(lopsided::Target::known).unwrap_or_default();
    let scored: Vec<usize> = known.iter().copied().step_by(known.len().div_ceil(SCORED).max(1)).collect();
    let training = data.rows(&scored);
    let model = estimator.fit(data, &context.run).map_err(with_hint)?;
    context.line.stage("writing");
    let decision = model.decision(&training, &context.run)?;
    let train_score = training.y.as_ref().map(|y| score(y, decision.as_ref()));
    context.run.watch.check()?;
    if let Some(path) = &args.model {
        let mut archive = model.archive();
        archive.set_field("target", &target);
        archive.save(path)?;
    }
    let mut summary = Summary::of(args, &*model, tuning, notes);
    summary.train_score = train_score;
    summary.train_scored = scored.len();
    summary.errors = errors;
    if let Some(path) = &args.report {
        context.line.stage("drawing");
        page::write(path, &summary, &*model, (&training, decision.as_ref()), (&args.input, context))?;
    }
    summary.show(context)?;
    Ok(if model.report().converged { Outcome::Done } else { Outcome::NotConverged })
}

fn with_hint(error: Error) -> anyhow::Error {
    input::with_shape_hint(error, "--compat pca makes the rows and columns of any table comparable")
}

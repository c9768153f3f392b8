//! `lopsided fit`: learns to predict, and writes the model.

mod errors;
mod grid;
mod kpca;
mod landmarks;
mod streamed;
mod summary;

use super::Outcome;
use super::embed::summary::DryRun;
use crate::args::{FitArgs, Precision, SolverArgs};
use crate::context::Context;
use crate::labelled::{self, Labelled};
use crate::{estimator, input, output};
use anyhow::Result;
use lopsided::estimators::{Estimator, MachineErrors, Recipe, estimators, score};
use lopsided::evaluation::{Search, Tuning};
use lopsided::kernel::Gamma;
use lopsided::{Compat, Dataset, Error, KernelSvd, Scalar};
use summary::Summary;

/// Components when neither the user nor a grid says.
const DEFAULT_RANK: usize = 100;
/// Bandwidth for graphs unless given: narrower kernels see little beyond a node's own links.
const GRAPH_FACTOR: f64 = 5.0;
/// Training samples that the score is taken of at most, spread over all of them: predicting all may cost as much as the fit.
const SCORED: usize = 1000;

/// Fits in the wanted precision.
pub(crate) fn run(args: &FitArgs, context: &Context) -> Result<Outcome> {
    match context.global.precision {
        Precision::F64 => fit::<f64>(args, context),
        Precision::F32 => fit::<f32>(args, context),
    }
}

fn fit<T: Scalar>(args: &FitArgs, context: &Context) -> Result<Outcome> {
    match args.estimator.as_str() {
        "kpca" => return kpca::fit::<T>(args, context),
        "krr" if args.landmarks.stream => return streamed::fit::<T>(args, context),
        _ => landmarks::refuse(args)?,
    }
    // Landmarks of a machine are not those of a solver.
    let sampler = args.solver.sampler.clone().filter(|_| !landmarks::of(args));
    let solver = SolverArgs { sampler, ..args.solver.clone() };
    let svd = estimator::from_args::<T>(&args.kernel, &solver, context)?;
    args.model.as_deref().filter(|_| !args.dry_run).map_or(Ok(()), output::check)?;
    context.line.stage("reading");
    let Labelled { data, target, mut notes } = labelled::load::<T>(args, &context.run)?;
    let recipe = recipe(args, svd, &data)?;
    let search = args.cv.map(|folds| Search { folds, grid: grid::of(args, &recipe, &data, folds) });
    let estimator = build(args, recipe.clone(), &data)?;
    context.line.stage("planning");
    if args.dry_run {
        let plan = estimator.plan(&data, &context.run).map_err(with_hint)?;
        notes.extend(search.map(|s| grid::planned(&s)));
        DryRun::of::<T>(&recipe.svd, &plan, &notes, context).show(context)?;
        return Ok(Outcome::Done);
    }
    let (estimator, tuning) = tuned(estimator, search.as_ref(), &data, context)?;
    let errors = if args.landmarks.errors { landmarks::errors(args, &*estimator, &data, context)? } else { None };
    finish(args, &*estimator, (tuning, errors), Labelled { data, target, notes }, context)
}

fn recipe<T: Scalar>(args: &FitArgs, mut svd: KernelSvd, data: &Dataset<T>) -> Result<Recipe> {
    let table = data.frame.is_none() && data.z.is_none() && svd.kernel.name != "precomputed";
    let compat = estimator::compat(&args.compat, if table { Compat::Pca } else { Compat::None })?;
    if compat.kind == Compat::Learned {
        let allowed = "pinv, pca, random or none for fit: only `embed --compat learned` learns one";
        return Err(Error::param("compat", compat.kind, allowed).into());
    }
    if !table {
        input::refuse(compat.kind, "none unless the input is a table whose rows are compared with its columns")?;
    }
    match (&data.frame, &args.kernel.gamma) {
        (None, None) => svd.gamma = Gamma::Median,
        (Some(_), None) => svd.gamma_factor = args.kernel.gamma_factor.unwrap_or(GRAPH_FACTOR),
        _ => {}
    }
    svd.rank = args.solver.rank.unwrap_or_else(|| DEFAULT_RANK.min(grid::most(&svd, data, None)));
    Ok(Recipe { svd, compat })
}

fn build<T: Scalar>(args: &FitArgs, recipe: Recipe, data: &Dataset<T>) -> Result<Box<dyn Estimator<T>>> {
    let unknown = || Error::Unknown {
        kind: "estimator",
        name: args.estimator.clone(),
        known: estimators::<T>().iter().map(|entry| entry.name.into()).collect(),
    };
    let entry = estimators::<T>().into_iter().find(|entry| entry.name == args.estimator).ok_or_else(unknown)?;
    let penalty = args.penalty.iter().map(|p| ("penalty".into(), p.to_string()));
    let mut given: Vec<(String, String)> = penalty.chain(args.coupled.given()).chain(args.machine.given()).collect();
    given.extend(landmarks::given(args, data)?);
    Ok((entry.build)(recipe).with(&given)?)
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
    summary.show(context)?;
    Ok(if model.report().converged { Outcome::Done } else { Outcome::NotConverged })
}

fn with_hint(error: Error) -> anyhow::Error {
    input::with_shape_hint(error, "--compat pca makes the rows and columns of any table comparable")
}

//! Options of machines with landmarks.

use crate::args::FitArgs;
use crate::context::Context;
use crate::labelled;
use anyhow::Result;
use lopsided::data::io::{self, Input, ReadOptions, TargetColumn};
use lopsided::estimators::{Estimator, MachineErrors, estimators};
use lopsided::{Dataset, Error, Scalar};
use std::path::Path;

/// Estimators that tell how far they are from the exact machine.
const WITH_ERRORS: &str = "svm, nu-svm, krr and kpca";

/// Whether the estimator has landmarks.
pub(super) fn of(args: &FitArgs) -> bool {
    estimators::<f64>().iter().any(|entry| entry.name == args.estimator && entry.has("landmarks"))
}

/// Says so where an option has no meaning.
pub(super) fn refuse(args: &FitArgs) -> lopsided::Result<()> {
    let whose = match args.landmarks.first_given() {
        Some("stream") => "krr has it",
        Some(_) if !of(args) => "svm, nu-svm, logistic, krr and kpca have landmarks",
        _ => return Ok(()),
    };
    let name = args.landmarks.first_given().unwrap_or_default();
    Err(Error::param(name, "given", format!("left out for `{}`: {whose}", args.estimator)))
}

/// The settings of approach and landmarks that were given.
pub(super) fn given<T: Scalar>(args: &FitArgs, data: &Dataset<T>) -> Result<Vec<(String, String)>> {
    let mut given: Vec<(String, String)> = args.landmarks.given().collect();
    if of(args) || args.estimator == "kpca" {
        given.extend(args.solver.sampler.iter().map(|name| ("sampler".to_string(), name.clone())));
    }
    if let Some(path) = &args.landmarks.landmark_ids {
        let rows: Vec<String> = labelled::positions(path, data)?.iter().map(ToString::to_string).collect();
        given.push(("landmark-rows".into(), rows.join(",")));
    }
    if let Some(path) = &args.landmarks.landmark_points {
        given.push(("landmark-points".into(), points(path)?));
    }
    Ok(given)
}

/// The rows of a file as the setting `landmark-points` wants them.
fn points(path: &Path) -> lopsided::Result<String> {
    let options = ReadOptions { target: TargetColumn::None, ..ReadOptions::default() };
    let Input::Table(table) = io::read::<f64>(path, &options)? else {
        return Err(Error::parse(path.display().to_string(), "is a graph, but landmarks are rows of numbers"));
    };
    table.samples.check_finite("the landmarks")?;
    let rows = table.samples.into_dense();
    let row = |i: usize| rows.row(i).iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    Ok((0..rows.nrows()).map(row).collect::<Vec<_>>().join(";"))
}

/// Distances from the exact machine.
pub(super) fn errors<T: Scalar>(
    args: &FitArgs,
    estimator: &dyn Estimator<T>,
    data: &Dataset<T>,
    context: &Context,
) -> Result<Option<MachineErrors>> {
    context.line.stage("comparing with the exact machine");
    let found = estimator.errors(data, &context.run).map_err(super::with_hint)?;
    if found.is_none() {
        let allowed = format!("left out for `{}`: {WITH_ERRORS} have it", args.estimator);
        return Err(Error::param("errors", "given", allowed).into());
    }
    Ok(found)
}

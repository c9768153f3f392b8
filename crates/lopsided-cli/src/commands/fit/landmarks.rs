//! Options of machines with landmarks.

use crate::args::FitArgs;
use crate::context::Context;
use crate::labelled;
use anyhow::Result;
use lopsided::base::settings::{Settings, Value};
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
        Some("stream") => {
            let streaming = estimators::<f64>().into_iter().filter(|entry| entry.streams);
            format!("{} has it", streaming.map(|entry| entry.name).collect::<Vec<_>>().join(", "))
        }
        Some(_) if !of(args) => "svm, nu-svm, logistic, krr and kpca have landmarks".into(),
        _ => return Ok(()),
    };
    let name = args.landmarks.first_given().unwrap_or_default();
    Err(Error::param(name, "given", format!("left out for `{}`: {whose}", args.estimator)))
}

/// The settings with landmarks of the user's own from files.
pub(super) fn given<T: Scalar>(given: Settings, args: &FitArgs, data: &Dataset<T>) -> Result<Settings> {
    if let Some(path) = &args.landmarks.landmark_ids {
        let rows = labelled::positions(path, data)?.into_iter().map(|row| row as f64).collect();
        return Ok(given.with("landmark-rows", Value::Numbers(rows)));
    }
    let Some(path) = &args.landmarks.landmark_points else { return Ok(given) };
    Ok(given.with("landmark-points", points(path)?))
}

fn points(path: &Path) -> lopsided::Result<Value> {
    let options = ReadOptions { target: TargetColumn::None, ..ReadOptions::default() };
    let Input::Table(table) = io::read::<f64>(path, &options)? else {
        return Err(Error::parse(path.display().to_string(), "is a graph, but landmarks are rows of numbers"));
    };
    table.samples.check_finite("the landmarks")?;
    let rows = table.samples.into_dense();
    Ok(Value::Rows((0..rows.nrows()).map(|i| rows.row(i).iter().copied().collect()).collect()))
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

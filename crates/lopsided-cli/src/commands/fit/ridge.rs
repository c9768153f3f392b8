//! `fit krr`: kernel ridge regression with landmarks.

use super::errors::Errors;
use crate::args::FitArgs;
use crate::context::Context;
use crate::labelled;
use anyhow::Result;
use lopsided::estimators::{Approximation, KernelRidge, Recipe};
use lopsided::io::read_labels;
use lopsided::tasks::Tuning;
use lopsided::{Dataset, Error, Scalar, Side};
use std::collections::HashMap;
use std::path::Path;

/// Name of the estimator.
pub(super) const NAME: &str = "krr";

/// The machine of the options.
pub(super) fn machine<T: Scalar>(args: &FitArgs, recipe: &Recipe, data: &Dataset<T>) -> Result<KernelRidge> {
    let penalty = args.penalty.iter().map(|p| ("penalty".to_string(), p.to_string()));
    let given: Vec<(String, String)> = penalty.chain(args.coupled.given()).collect();
    let mut machine = KernelRidge::new(recipe.svd.clone()).at(&given)?;
    machine.approximation = approximation(args, data)?;
    machine.weights = args.landmarks.sample_weights.as_deref().map(|path| weights(path, data)).transpose()?;
    Ok(machine)
}

/// Approach and landmarks of the options.
pub(super) fn approximation<T: Scalar>(args: &FitArgs, data: &Dataset<T>) -> Result<Approximation> {
    let mut out = Approximation::default();
    for (name, value) in args.landmarks.given() {
        out.set(&name, &value)?;
    }
    if let Some(sampler) = &args.solver.sampler {
        out.set("sampler", sampler)?;
    }
    if let Some(path) = &args.landmarks.landmark_ids {
        out.own = Some(labelled::positions(path, data)?);
    }
    Ok(out)
}

/// The weight of each sample.
fn weights<T: Scalar>(path: &Path, data: &Dataset<T>) -> Result<Vec<f64>> {
    let ids: HashMap<String, usize> = (0..data.x.count()).map(|i| (data.id(Side::Row, i), i)).collect();
    let mut out = vec![1.0; ids.len()];
    for (id, weight) in read_labels(path)? {
        let fail = |reason: String| Error::parse(path.display().to_string(), reason);
        let row = ids.get(&id).ok_or_else(|| fail(format!("names `{id}`, which is no sample")))?;
        out[*row] = weight.parse().map_err(|_| fail(format!("the weight `{weight}` of `{id}` is no number")))?;
    }
    Ok(out)
}

/// Distances from the exact machine with the chosen settings; those of the solutions where it is affordable.
pub(super) fn errors<T: Scalar>(
    machine: &KernelRidge,
    tuning: Option<&Tuning>,
    data: &Dataset<T>,
    context: &Context,
) -> lopsided::Result<Errors> {
    context.line.stage("comparing with the exact machine");
    let point: Vec<(String, String)> = tuning.iter().flat_map(|t| t.best.params.clone()).collect();
    let machine = machine.at(&point)?;
    match machine.errors(data, &context.run) {
        Ok((solution, gram)) => Ok(Errors::new(Some(solution), gram)),
        Err(Error::Memory { .. }) => Ok(Errors::new(None, machine.gram_errors(data, &context.run)?)),
        Err(error) => Err(error),
    }
}

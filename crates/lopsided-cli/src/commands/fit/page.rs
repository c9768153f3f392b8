//! The page of `fit --report`.

use super::summary::Summary;
use crate::context::Context;
use crate::page;
use anyhow::Result;
use lopsided::estimators::{Model, recipe};
use lopsided::pages::{self, Judged, Truth};
use lopsided::report::{Account, Page};
use lopsided::{Dataset, Mat, MatRef, Run, Scalar, Target};
use std::path::Path;

/// What was tried and chosen, the embedding that is predicted from, and predictions of training samples.
pub(super) fn write<T: Scalar>(
    path: &Path,
    summary: &Summary,
    model: &dyn Model<T>,
    (training, decision): (&Dataset<T>, MatRef<'_, f64>),
    (input, context): (&Path, &Context),
) -> Result<()> {
    let name = page::name(input);
    let mut drawn = pages::predictor(model, &name, &context.run)?;
    if let Some(tuning) = &summary.cv {
        drawn = pages::tuning(drawn, tuning);
    }
    let drawn = with_predictions(drawn, model, (training, decision), &context.run)?;
    let recipe = serde_json::to_string(&recipe::of_archive(&model.archive())?).ok();
    let chosen = summary.chosen.iter().map(|why| ("choice".to_string(), why.clone())).collect();
    let account = Account { recipe, chosen, ..page::account(context, &summary.warnings, &summary.lines()) };
    Ok(page::write(path, &drawn.account(&account))?)
}

/// The page with predictions of training samples beside the truth.
pub(super) fn with_predictions<T: Scalar>(
    page: Page,
    model: &dyn Model<T>,
    (training, decision): (&Dataset<T>, MatRef<'_, f64>),
    run: &Run,
) -> lopsided::Result<Page> {
    let Some(target) = &training.y else { return Ok(page) };
    let probabilities = if model.has_probabilities() { model.probabilities(training, run)? } else { None };
    let judged = Judged {
        what: "training samples, which the model has seen: others are harder",
        classes: model.answer().classes(),
        truth: truth(target, model.answer().classes()),
        decision,
        probabilities: probabilities.as_ref().map(Mat::as_ref),
    };
    Ok(judged.on(page))
}

/// The target with the classes in the order of the model; others are beyond its names.
pub(in crate::commands) fn truth(target: &Target, classes: &[String]) -> Truth {
    let place = |name: &String| classes.iter().position(|known| known == name).unwrap_or(classes.len()) as u32;
    match target {
        // Numbers of a stream, which were learned as classes.
        Target::Values(values) if !classes.is_empty() => {
            let known = |value: &f64| (!value.is_nan()).then(|| place(&(value + 0.0).to_string()));
            Truth::Classes(values.iter().map(known).collect())
        }
        Target::Classes { names, codes } => {
            let places: Vec<u32> = names.iter().map(place).collect();
            Truth::Classes(codes.iter().map(|code| code.map(|code| places[code as usize])).collect())
        }
        Target::Values(values) => Truth::Values(vec![(String::new(), values.clone())]),
        Target::Several { names, values } => {
            let column = |(c, name): (usize, &String)| (name.clone(), values.col(c).iter().copied().collect());
            Truth::Values(names.iter().enumerate().map(column).collect())
        }
    }
}

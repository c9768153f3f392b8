//! `embed --compat learned`.

use crate::args::EmbedArgs;
use crate::failure::hinted;
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::estimators::{LearningStep, Loss, recipe};
use lopsided::{Compat, Compatibility, Dataset, Error, KernelSvdModel, LearnedCompat, Run, Scalar};
use serde::Serialize;

/// How a compatibility matrix was learned. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct Learning {
    loss: Loss,
    rate: f64,
    batch: usize,
    /// The epoch whose matrix was kept; 0 is the start.
    epoch: usize,
    curve: Vec<LearningStep>,
}

impl Learning {
    /// One line about it.
    pub(super) fn line(&self) -> String {
        let (first, last) = (self.curve.first(), self.curve.last());
        let (start, best) = (first.map_or(f64::NAN, |s| s.validation), last.map_or(f64::NAN, |s| s.best));
        let epochs = last.map_or(0, |s| s.epoch);
        format!("epoch {} of {epochs} kept, loss {best:.4} on held-out rows, {start:.4} at the start", self.epoch)
    }
}

/// Where learning starts; `None` for another compatibility matrix.
pub(super) fn start(args: &EmbedArgs, given: &Settings) -> lopsided::Result<Option<Compatibility>> {
    if let Compatibility { kind: Compat::Learned, width } = recipe::take_compat(&mut given.clone(), Compat::None)? {
        return Ok(Some(Compatibility { kind: Compat::Pca, width }));
    }
    let whole = |value: Option<usize>| value.map(|v| v.to_string());
    let given = [
        ("learning-rate", args.learning.learning_rate.map(|rate| rate.to_string())),
        ("epochs", whole(args.learning.epochs)),
        ("batch", whole(args.learning.batch)),
    ];
    match given.into_iter().find_map(|(name, value)| value.map(|value| (name, value))) {
        Some((name, value)) => Err(Error::param(name, value, "left out without --compat learned")),
        None => Ok(None),
    }
}

/// The model of raw rows whose targets teach the compatibility matrix.
pub(super) fn fit<T: Scalar>(
    learner: &LearnedCompat,
    data: Dataset<T>,
    run: &Run,
) -> Result<(KernelSvdModel<T>, Learning)> {
    let Some(target) = data.y else {
        let error =
            Error::param("compat", Compat::Learned, "pinv, pca, random, gram or none for rows without a target");
        return Err(hinted(error, "name the target column with --target NAME, or give classes with --labels FILE"));
    };
    let learned = learner.fit(data.x, &target.measured(), run)?;
    let mut model = learned.model;
    (model.data.row_ids, model.data.col_ids) = (data.row_ids, data.col_ids);
    let LearnedCompat { learning_rate: rate, batch, .. } = *learner;
    let (loss, epoch, curve) = (learned.loss, learned.epoch, learned.curve);
    Ok((model, Learning { loss, rate, batch, epoch, curve }))
}

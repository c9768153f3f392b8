//! Checkpoints of a run: the learner, and how far stream and predictions were.

use crate::args::OnlineArgs;
use crate::context::Context;
use lopsided::data::archive::Archive;
use lopsided::online::{History, LearnerSpec, OnlineLearner};
use lopsided::{Error, Result};
use std::path::Path;

/// What a checkpoint holds.
pub(super) struct Saved {
    pub(super) learner: Box<dyn OnlineLearner>,
    pub(super) history: History,
    pub(super) trials: u64,
    pub(super) fingerprint: u64,
    /// Length of the file of predictions, where there is one.
    pub(super) output_bytes: Option<u64>,
}

/// Writes a checkpoint, whole or not at all.
pub(super) fn save(
    path: &Path,
    learner: &dyn OnlineLearner,
    history: &History,
    fingerprint: u64,
    output_bytes: Option<u64>,
) -> Result<()> {
    let mut archive = learner.checkpoint();
    archive.set_field("history", history);
    archive.set_field("fingerprint", fingerprint);
    archive.set_field("output_bytes", output_bytes);
    archive.save(path)
}

impl Saved {
    /// Reads the checkpoint; `None` when there is none yet.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is no checkpoint, or one of a learner with other settings.
    pub(super) fn load(args: &OnlineArgs, spec: &LearnerSpec, context: &Context) -> Result<Option<Self>> {
        let Some(path) = args.saving.checkpoint.as_ref() else { return Ok(None) };
        if !path.exists() {
            context.notes(&["there is no checkpoint yet: the stream is learned from its beginning".into()]);
            return Ok(None);
        }
        let archive = Archive::load(path)?;
        let learner = LearnerSpec::restore(&archive)?;
        check_settings(&archive, spec)?;
        Ok(Some(Saved {
            trials: learner.account().trials,
            learner,
            history: archive.field("history")?,
            fingerprint: archive.field("fingerprint")?,
            output_bytes: archive.field("output_bytes")?,
        }))
    }
}

/// Names the first setting that is not the checkpoint's.
fn check_settings(archive: &Archive, spec: &LearnerSpec) -> Result<()> {
    let saved: LearnerSpec = archive.field("spec")?;
    if saved == *spec {
        return Ok(());
    }
    let values = |spec: &LearnerSpec| serde_json::to_value(spec).unwrap_or_default();
    let (old, new) = (values(&saved), values(spec));
    let names = ["name", "loss", "left", "right", "step", "params", "normalize", "budget"];
    let different = names.into_iter().find(|name| old[name] != new[name]).unwrap_or("name");
    let error: Error = archive.error(format!(
        "was made with other settings: `{different}` was {} and is now {}",
        old[different], new[different]
    ));
    Err(error)
}

//! Options of work that can be taken up again.

use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where long work leaves its state.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Interruptions")]
pub(crate) struct CheckpointArgs {
    /// Leave the state of the work here now and then; removed when the results are written.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Seconds between two states at least.
    #[arg(long, value_name = "SECONDS", requires = "checkpoint", default_value = "10", value_parser = seconds)]
    pub(crate) checkpoint_every: Duration,
    /// Go on from the checkpoint of the same work, which ends as if it had never been interrupted; without one yet
    /// it begins anew.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
}

impl CheckpointArgs {
    /// Opens the checkpoint, where one is wanted.
    pub(crate) fn open(&self) -> lopsided::Result<lopsided::base::checkpoint::Checkpoint> {
        let open = |path: &Path| lopsided::base::checkpoint::Checkpoint::open(path, self.resume);
        let checkpoint = self.checkpoint.as_deref().map_or_else(|| Ok(Default::default()), open)?;
        Ok(checkpoint.with_every(self.checkpoint_every))
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "a number of seconds of at least 0 is expected".into())
}

//! Options of `online`.

use super::{Given, Learners};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct OnlineArgs {
    /// Learner; `lopsided list learners` explains each.
    pub(crate) learner: String,
    /// The stream; `-` is stdin and needs --format.
    pub(crate) stream: PathBuf,
    /// Format, when the file's name does not tell: csv or svmlight.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<lopsided::data::io::Format>,
    #[command(flatten)]
    pub(crate) given: Given<Learners>,
    #[command(flatten)]
    pub(crate) saving: SavingArgs,
    /// Print memory and a time estimate by the first trials of a file; write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Where results go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct SavingArgs {
    /// Predictions as `trial,prediction,loss`; stdout by default, nowhere with --json.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Save the learner here at the end, and on the way with --checkpoint-every.
    #[arg(long, value_name = "FILE", visible_alias = "model")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Save after every N trials.
    #[arg(long, value_name = "N", requires = "checkpoint")]
    pub(crate) checkpoint_every: Option<u64>,
    /// Go on from the checkpoint: its trials are skipped, and --out continues where it was.
    #[arg(long, requires = "checkpoint")]
    pub(crate) resume: bool,
    /// Compute the regret however long the stream is; by default only for files of up to 2000 trials.
    #[arg(long)]
    pub(crate) regret: bool,
    /// Regret after 1, 2, 3, 4, 6, 8, 12, … trials, with the comparator's loss and the bound, as CSV.
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) regret_out: Option<PathBuf>,
    /// The same as a picture.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) regret_plot: Option<PathBuf>,
    /// Page for people, in one file that needs no network: the regret with its bound, and both losses.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

const HELP: &str = "Examples:
  lopsided online gd-trace ratings.csv --radius 3 --horizon 5000 \\
      --regret-out regret.csv
  lopsided online eg-plus vectors.csv --normalize --steps fixed --step 0.5 \\
      --json
  lopsided online gd-trace pairs.svm --kernel rbf --gamma 0.1 \\
      --right-kernel linear --budget 500
  cat events.csv | lopsided online online-kpca - --format csv --components 3 \\
      --normalize
  lopsided online gd-trace ratings.csv --out p.csv --checkpoint state \\
      --checkpoint-every 100 --resume
A CSV stream has a header: columns x… are the left vector, y… the right one
(pairs), label what is to be predicted; a stream without y… is symmetric.
Neighbouring rows with the same entry in a column trial are one instance of
higher rank, a column weight weighs them. An svmlight stream has lines `label
i:v … | j:v …`, with `||` before each further term of an instance.

With the kernel precomputed the samples of a side are numbered from 1, and a
vector is the number of its sample followed by its kernel values with samples 1,
2, … (index 0 of svmlight is the number). The kernel of a side has to be a
scalar product of features: from an asymmetric matrix K give K·Kᵀ, or the
columns that `lopsided embed` makes of it with the linear kernel.

A run that was killed at any moment goes on with --resume and the same stream
from its beginning, and ends as if it had not been killed; without a checkpoint
yet it begins anew.";

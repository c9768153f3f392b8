//! Options of `online`.

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
    pub(crate) task: TaskArgs,
    #[command(flatten)]
    pub(crate) kernels: OnlineKernelArgs,
    #[command(flatten)]
    pub(crate) steps: StepArgs,
    #[command(flatten)]
    pub(crate) saving: SavingArgs,
}

/// What is learned.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct TaskArgs {
    /// squared, absolute, logistic, hinge or gain (minus the prediction, no label). Default: the learner's usual one.
    #[arg(long, value_name = "NAME")]
    pub(crate) loss: Option<String>,
    /// B, the bound on the norm of the learned matrix (gd-*, p-norm). Default: 1; none for a loss of labels with steps auto.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
    /// p of the learner p-norm. Default: 4.
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) power: Option<f64>,
    /// Components k of online-kpca. Default: 1.
    #[arg(long, value_name = "K")]
    pub(crate) components: Option<usize>,
    /// Number n of features, for meg, and for online-kpca where it is known.
    #[arg(long, value_name = "N")]
    pub(crate) dimension: Option<usize>,
    /// Scale every vector to unit length in feature space, and an instance of s vectors by 1/s.
    #[arg(long)]
    pub(crate) normalize: bool,
    /// Store at most N samples on each side.
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,
    /// How a sample goes when the budget is full: merge (projected onto the others) or drop.
    #[arg(long, value_name = "NAME", default_value = "merge")]
    pub(crate) removal: String,
}

/// Kernels of the two sides.
#[derive(Debug, Args)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct OnlineKernelArgs {
    /// Kernel of the left vectors: linear, poly, rbf, laplacian, or precomputed (see below).
    #[arg(long, value_name = "NAME", default_value = "linear")]
    pub(crate) kernel: String,
    /// Its coefficient of the distance or scalar product, a number.
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) gamma: Option<f64>,
    /// Degree of the polynomial kernel.
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) degree: Option<f64>,
    /// Constant of the polynomial kernel.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) coef0: Option<f64>,
    /// Kernel of the right vectors. Default: that of the left ones, with the same numbers.
    #[arg(long, value_name = "NAME")]
    pub(crate) right_kernel: Option<String>,
    /// gamma of the right kernel.
    #[arg(long, value_name = "G", allow_negative_numbers = true, requires = "right_kernel")]
    pub(crate) right_gamma: Option<f64>,
    /// Degree of the right kernel.
    #[arg(long, value_name = "D", allow_negative_numbers = true, requires = "right_kernel")]
    pub(crate) right_degree: Option<f64>,
    /// Constant of the right kernel.
    #[arg(long, value_name = "C", allow_negative_numbers = true, requires = "right_kernel")]
    pub(crate) right_coef0: Option<f64>,
}

/// How far each trial moves the matrix.
#[derive(Debug, Args)]
#[command(next_help_heading = "Steps")]
pub(crate) struct StepArgs {
    /// auto (by the sizes of what was seen), fixed, decreasing (S/√t) or tuned (as the theorem wants it). Default: tuned with
    /// --horizon, decreasing with --step, else auto.
    #[arg(long, value_name = "RULE")]
    pub(crate) steps: Option<String>,
    /// S, the size of fixed steps or of the first decreasing one. Default: 1.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) step: Option<f64>,
    /// T, the number of trials that tuned steps are made for.
    #[arg(long, value_name = "T")]
    pub(crate) horizon: Option<u64>,
    /// L*, the gain that the best fixed matrix is expected to miss, for tuned steps. Default: T.
    #[arg(long, value_name = "L", allow_negative_numbers = true, requires = "horizon")]
    pub(crate) expected_loss: Option<f64>,
    /// r, the expected dimension of the instances' span, for tuned steps. Default: --dimension or T.
    #[arg(long, value_name = "R", requires = "horizon")]
    pub(crate) expected_rank: Option<usize>,
    /// s, the rank of the instances, for tuned steps of gd-symmetric. Default: 1.
    #[arg(long, value_name = "S", requires = "horizon")]
    pub(crate) instance_rank: Option<usize>,
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
}

const HELP: &str = "Examples:
  lopsided online gd-trace ratings.csv --radius 3 --horizon 5000 --regret-out regret.csv
  lopsided online eg-plus vectors.csv --normalize --steps fixed --step 0.5 --json
  lopsided online gd-trace pairs.svm --kernel rbf --gamma 0.1 --right-kernel linear --budget 500
  tail -f events.csv | lopsided online online-kpca - --format csv --components 3 --normalize
  lopsided online gd-trace ratings.csv --out p.csv --checkpoint state --checkpoint-every 1000 --resume

A CSV stream has a header: columns x… are the left vector, y… the right one (pairs), label what is to be predicted; a stream
without y… is symmetric. Neighbouring rows with the same entry in a column trial are one instance of higher rank, a column
weight weighs them. An svmlight stream has lines `label i:v … | j:v …`, with `||` before each further term of an instance.

With the kernel precomputed the samples of a side are numbered from 1, and a vector is the number of its sample followed by its
kernel values with samples 1, 2, … (index 0 of svmlight is the number). The kernel of a side has to be a scalar product of features:
from an asymmetric matrix K give K·Kᵀ, or the columns that `lopsided embed` makes of it with the linear kernel.

A run that was killed at any moment goes on with --resume and the same stream from its beginning, and ends as if it had
not been killed; without a checkpoint yet it begins anew.";

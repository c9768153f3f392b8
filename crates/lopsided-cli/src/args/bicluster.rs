//! Options of `lopsided bicluster`.

use super::{CheckpointArgs, Clusters, Given, ReadArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BiclusterArgs {
    /// Matrix whose rows and columns are clustered; `-` is stdin and needs --format.
    pub(crate) matrix: PathBuf,
    /// Classes of the rows, `row,label` or a .npy vector, to compare the row clusters with.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Row clusters as csv: `id,cluster`.
    #[arg(long, value_name = "FILE")]
    pub(crate) row_labels_out: Option<PathBuf>,
    /// Column clusters, likewise.
    #[arg(long, value_name = "FILE")]
    pub(crate) col_labels_out: Option<PathBuf>,
    /// Where to write the model for `transform` and `inspect`.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Page for people, in one file that needs no network: the matrix in the order of its clusters.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) given: Given<Clusters>,
    #[command(flatten)]
    pub(crate) states: CheckpointArgs,
}

const HELP: &str = "Examples:
  lopsided bicluster documents.mtx.gz --row-clusters 3 --kernel rbf --center \\
      --labels labels.csv
  lopsided bicluster ratings.npy --row-clusters 5 --col-clusters 8 \\
      --row-labels-out rows.csv
  lopsided bicluster counts.csv --row-clusters 4 --kernel precomputed --json
The rank is the largest of 20, K and L unless given. --compat is pca unless
given: the aligned principal components. With --kernel precomputed the matrix
itself is decomposed.";

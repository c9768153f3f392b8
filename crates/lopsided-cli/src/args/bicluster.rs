//! Options of `lopsided bicluster`.

use super::{CompatArgs, KernelArgs, ReadArgs, SolverArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct BiclusterArgs {
    /// Matrix whose rows and columns are clustered; `-` is stdin and needs --format.
    pub(crate) matrix: PathBuf,
    /// Number of row clusters.
    #[arg(long, value_name = "K")]
    pub(crate) row_clusters: usize,
    /// Number of column clusters; as many as row clusters by default.
    #[arg(long, value_name = "L")]
    pub(crate) col_clusters: Option<usize>,
    /// Scale the rows of the matrix to unit length (default).
    #[arg(long, overrides_with = "no_unit_rows")]
    pub(crate) unit_rows: bool,
    /// Take the rows as they are.
    #[arg(long)]
    pub(crate) no_unit_rows: bool,
    /// Scale the features of each row and column to unit length before clustering.
    #[arg(long)]
    pub(crate) unit_features: bool,
    /// Starts of k-means; the best one counts.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) restarts: usize,
    /// Classes of the rows, `row,label` or a .npy vector, to compare the row clusters with.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Row clusters as csv: `id,cluster`.
    #[arg(long, value_name = "FILE")]
    pub(crate) row_labels_out: Option<PathBuf>,
    /// Column clusters, likewise.
    #[arg(long, value_name = "FILE")]
    pub(crate) col_labels_out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) compat: CompatArgs,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
}

const HELP: &str = "Examples:
  lopsided bicluster documents.mtx.gz --row-clusters 3 --kernel rbf --center --labels labels.csv
  lopsided bicluster ratings.npy --row-clusters 5 --col-clusters 8 --row-labels-out rows.csv
  lopsided bicluster counts.csv --row-clusters 4 --kernel precomputed --json

The rank is the largest of 20, K and L unless given. --compat is pca unless given: the aligned
principal components. With --kernel precomputed the matrix itself is decomposed.";

//! Options of `links`.

use super::{Given, GraphArgs, LinkScores};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct LinksArgs {
    /// Graph; `-` is stdin and needs --format.
    pub(crate) input: PathBuf,
    /// Share of the links to take out and predict.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, allow_negative_numbers = true)]
    pub(crate) test_share: f64,
    /// Random choices of the links taken out.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) trials: usize,
    /// Page for people, in one file that needs no network: the curves behind AUROC and average precision.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) given: Given<LinkScores>,
}

const HELP: &str = "Examples:
  lopsided links edges.csv
  lopsided links edges.csv --kernel sne --gamma-factor 5 --rank 128 \\
      --test-share 0.2 --trials 10 --json
Takes links out, embeds what is left, and scores the links taken out against as
many pairs of nodes without link by (U Σ^p Vᵀ)_ij for p = 0, 1/2 and 1: area
under the ROC curve and average precision, mean and standard deviation over the
trials. The linear SVD of the same matrix stands beside the kernel SVD; both see
the same links. The kernel compares rows and columns of unit length: without
that the length of a column, which grows with the links that leave a node, would
push its links down.";

//! Options of `reproduce`.

use super::LearningArgs;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct ReproduceArgs {
    /// The table.
    #[arg(value_enum)]
    pub(crate) table: PaperTable,
    /// Folder with one folder per data set. Default: the environment variable LOPSIDED_DATA.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Only these sets.
    #[arg(long, value_name = "SET", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Random splits into 80 % to learn from and 20 % to test on. Default: 10.
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<usize>,
    /// Largest number of components; 1000 by default (ksvd-3: 4, as in the paper), fewer where the data have fewer.
    #[arg(long, value_name = "R")]
    pub(crate) rank: Option<usize>,
    /// Parts of the training part for cross-validation.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) folds: usize,
    /// Bandwidths to choose from, in multiples of \[KSVD\]'s rule.
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_values_t = [2.0, 5.0, 10.0])]
    pub(crate) gamma_factors: Vec<f64>,
    /// Solver; by default exact up to 4000 nodes, a few passes of randomized beyond.
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// Most rows to learn from in a table of ksvd-3; of larger tables a random part is taken.
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) max_rows: usize,
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    /// Leave the reconstruction of links out.
    #[arg(long)]
    pub(crate) no_reconstruction: bool,
    /// Rank 100, 2 trials, one bandwidth: a look, not a result.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// Tables that can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperTable {
    /// Node classification and graph reconstruction, \[KSVD\] Table 1.
    #[value(name = "ksvd-1")]
    Ksvd1,
    /// Compatibility matrices on tables, the learned one among them, \[KSVD\] Table 3.
    #[value(name = "ksvd-3")]
    Ksvd3,
    /// Nonlinear features + SVD against KSVD, \[KSVD\] Table 5.
    #[value(name = "ksvd-5")]
    Ksvd5,
}

const HELP: &str = "Examples:
  lopsided reproduce ksvd-1 --data data --only cora
  lopsided reproduce ksvd-1 --data data --quick --json
  lopsided reproduce ksvd-3 --data data --max-rows 200

ksvd-1 runs on every folder of DIR with a list of links (edges.csv) and classes (labels.csv),
ksvd-3 on those with a table (data.csv, last column the target), ksvd-5 on both. All may be gzipped.
Sets that cannot be used are named and left out.";

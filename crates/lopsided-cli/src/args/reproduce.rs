//! Options of `reproduce`.

use clap::{Args, ValueEnum};
use lopsided::synth::TopicTable;
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
    /// Largest number of components; 1000 by default, fewer where the data have fewer.
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
    /// Leave the reconstruction of links out.
    #[arg(long)]
    pub(crate) no_reconstruction: bool,
    /// ksvd-7: landmarks on each side. Default: 1000.
    #[arg(long, value_name = "M")]
    pub(crate) landmarks: Option<usize>,
    /// ksvd-7: coordinates of the random compatibility. Default: 1000.
    #[arg(long, value_name = "Q")]
    pub(crate) compat_width: Option<usize>,
    /// ksvd-7: make a sparse table of this size and run on it instead of on the sets of DIR.
    #[arg(long, value_name = "ROWS,COLS,ENTRIES_PER_ROW", value_parser = table_of_size)]
    pub(crate) generate: Option<TopicTable>,
    /// Folder to keep the made table in, as data.svm; by default it is removed at the end.
    #[arg(long, value_name = "DIR", requires = "generate")]
    pub(crate) out: Option<PathBuf>,
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
    /// Nonlinear features + SVD against KSVD, \[KSVD\] Table 5.
    #[value(name = "ksvd-5")]
    Ksvd5,
    /// Classification of large sparse tables out of core, \[KSVD\] Table 7.
    #[value(name = "ksvd-7")]
    Ksvd7,
}

const HELP: &str = "Examples:
  lopsided reproduce ksvd-1 --data data --only cora
  lopsided reproduce ksvd-1 --data data --quick --json
  lopsided reproduce ksvd-7 --generate 1000000,1000000,15

ksvd-1 runs on every folder of DIR with a list of links (edges.csv) and classes (labels.csv),
ksvd-5 also on those with a table (data.csv, last column the target). ksvd-7 runs on those with
an svmlight file (.svm, .libsvm, .svmlight), which is read in passes and never held; its default rank is 50.
All of them may be gzipped. Sets that cannot be used are named and left out.";

/// `ROWS,COLS,ENTRIES_PER_ROW`.
fn table_of_size(text: &str) -> Result<TopicTable, String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[rows, cols, entries]) => Ok(TopicTable { rows, cols, entries, topics: 20, contrast: 0.5, seed: 0 }),
        _ => Err("three whole numbers separated by commas are expected, such as 10000,5000,15".into()),
    }
}

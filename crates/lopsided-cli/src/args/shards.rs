//! Options of `part` and `merge`.

use super::{Given, Learning, Task};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lopsided::estimators::catalogue;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = PART_HELP, override_usage = PART_USAGE)]
pub(crate) struct PartArgs {
    /// Estimator: krr, svm, logistic, kpca or features.
    #[arg(value_parser = names())]
    pub(crate) estimator: String,
    /// The whole table, the same for every shard: .npy or Parquet files or folders of Parquet, one after the other, or one svmlight
    /// file.
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Which share of the rows: number I of N.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: (usize, usize),
    /// Where to write the sums, for `merge`.
    #[arg(long, value_name = "FILE.part")]
    pub(crate) out: PathBuf,
    /// What `merge` has written for this pass; without it the first pass begins.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Targets of all rows: NumPy arrays, one after the other, or one file `id,label`.
    #[arg(long, value_name = "FILE", num_args = 1)]
    pub(crate) labels: Vec<PathBuf>,
    /// Label column of Parquet files, or `none`; by default the last column. Several for krr: a,b.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Columns of Parquet files to leave out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// What to predict. Default: values for fractions and for more than 20 different whole numbers, else classes.
    #[arg(long, value_enum, value_name = "classes|values", hide_possible_values = true)]
    pub(crate) task: Option<Task>,
    #[command(flatten)]
    pub(crate) given: Given<Learning>,
}

/// The usual form is wider than a terminal.
const PART_USAGE: &str = "lopsided part <ESTIMATOR> <INPUT>... --shard <I/N> --out <FILE>";

const PART_HELP: &str = "Examples:
  lopsided part krr ratings.npy --labels prices.npy --landmarks 20 --piece 16 \\
      --shard 1/2 --out 1.part
  lopsided part krr ratings.npy --labels prices.npy --landmarks 20 --piece 16 \\
      --shard 2/2 --out 2.part
The settings are those of `fit --stream`, the same for every shard and every
pass. Rows are summed up in pieces of --piece rows, counted from the first of the
table; a shard is a range of pieces. The model of `merge` has the same bytes as
that of `fit --stream`, however many shards there are.";

#[derive(Debug, Args)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// Files written by `part`, in any order.
    #[arg(required = true, value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,
    /// Where to write the model when all passes are done.
    #[arg(long, value_name = "FILE", required_unless_present = "out")]
    pub(crate) model: Option<PathBuf>,
    /// Where to write what `part` needs for the next pass, if there is one.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    pub(crate) state: Option<PathBuf>,
    /// Only put the parts together to a larger one.
    #[arg(long, value_name = "FILE.part", conflicts_with = "model")]
    pub(crate) out: Option<PathBuf>,
}

const MERGE_HELP: &str = "Examples:
  lopsided merge 1.part 2.part --model prices.model --state prices.state
  lopsided merge 1.part 2.part --out both.part
Exit code 0: the model is written. Exit code 1: another pass is needed, whose
state is written and whose name is printed (or the last pass has not reached the
tolerance, which is said, and the model is written). docs/scale.md has scripts
for make and for Slurm.";

fn names() -> PossibleValuesParser {
    let fitted = catalogue::<f64>().into_iter().filter(|member| member.streams);
    PossibleValuesParser::new(fitted.map(|member| member.name).collect::<Vec<_>>())
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let both = text.split_once('/').and_then(|(i, n)| Some((i.trim().parse().ok()?, n.trim().parse().ok()?)));
    both.filter(|(i, n)| (1..=*n).contains(i))
        .ok_or_else(|| "I/N with I between 1 and N is expected, such as 3/16".into())
}

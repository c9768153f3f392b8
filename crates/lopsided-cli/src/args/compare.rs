//! Options of `compare`.

use super::{GraphArgs, Task};
use clap::Args;
use lopsided::evaluation::Comparison;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct CompareArgs {
    /// Graph with --labels, or table with a target column; `-` is stdin and needs --format.
    pub(crate) input: PathBuf,
    /// What to predict. Default: values for fractions and for more than 20 different whole numbers, else classes.
    #[arg(long, value_enum, value_name = "classes|values", hide_possible_values = true)]
    pub(crate) task: Option<Task>,
    /// Test parts of each repeat.
    #[arg(long, value_name = "N", default_value_t = Comparison::default().folds)]
    pub(crate) folds: usize,
    /// How often the samples are dealt into test parts.
    #[arg(long, value_name = "N", default_value_t = Comparison::default().repeats)]
    pub(crate) repeats: usize,
    /// Parts of a training part, by which settings are chosen.
    #[arg(long, value_name = "N", default_value_t = Comparison::default().inner)]
    pub(crate) inner: usize,
    /// A gain below this counts as none.
    #[arg(long, value_name = "GAIN", default_value_t = Comparison::default().margin, allow_negative_numbers = true)]
    pub(crate) margin: f64,
    /// Labelled samples that take part at most; of more, some of each class.
    #[arg(long, value_name = "N", default_value_t = Comparison::default().most)]
    pub(crate) samples: usize,
    /// Scores of all methods on all test parts, as csv.
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Page with the verdict, the methods and their scores.
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Print the largest fit, memory and a time estimate; compute and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
}

impl CompareArgs {
    /// The comparison that is asked for.
    pub(crate) fn comparison(&self) -> Comparison {
        let CompareArgs { folds, repeats, inner, margin, samples, .. } = *self;
        Comparison { folds, repeats, inner, margin, most: samples }
    }
}

const HELP: &str = "Examples:
  lopsided compare edges.csv --labels classes.csv --repeats 1
  lopsided compare flowers.csv --target species --repeats 1 --report page.html
Says whether asymmetry pays on these data: methods that see the direction of
links (of a table: asymmetric kernels) beside methods that do not. All choose
their settings inside the training part of the same splits, and so does each
family its method; the difference of both families has an interval of 95 %.
`pays`: the interval is above 0. `does not pay`: nothing is asymmetric, nothing
is learned, or there is no gain. `undecided`: ahead, but it may be chance.";

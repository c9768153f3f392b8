//! Options as the user writes them.

mod bicluster;
mod checkpoint;
mod compare;
mod described;
mod fit;
mod groups;
mod landmarks;
mod links;
mod online;
mod shards;

pub(crate) use bicluster::BiclusterArgs;
pub(crate) use checkpoint::CheckpointArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use described::{Clusters, Embedding, Given, Learners, Learning, LinkScores};
pub(crate) use fit::{FitArgs, PredictArgs, Task};
pub(crate) use groups::{FeatureArgs, GraphArgs, OutputArgs, ReadArgs};
pub(crate) use links::LinksArgs;
pub(crate) use lopsided_papers::{LearningArgs, ReproduceArgs};
pub(crate) use online::OnlineArgs;
pub(crate) use shards::{MergeArgs, PartArgs};

use crate::memory;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lopsided::base::device::Device;
use std::path::PathBuf;

/// Two-sided embeddings of directed graphs, matrices and sample sets, by kernels with k(x, z) ≠ k(z, x).
#[derive(Debug, Parser)]
#[command(name = "lopsided", version, after_help = MAIN_HELP, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) global: Global,
}

const MAIN_HELP: &str = "Examples:
  lopsided demo
  lopsided embed edges.csv --rows-out in.csv --cols-out out.csv
  lopsided fit kernel-svd edges.csv --labels classes.csv --cv 5 \\
      --model nodes.model
  lopsided help embed
Exit codes: 0 done, 1 tolerance not reached (results are written), 2 wrong usage
or input, 130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show on a made-up graph why the direction of links matters.
    Demo(DemoArgs),
    /// Embed a graph, a matrix or two sample sets: one set of features for rows, one for columns.
    Embed(Box<EmbedArgs>),
    /// Cluster the rows and the columns of a matrix at once.
    Bicluster(Box<BiclusterArgs>),
    /// Learn to predict classes or values of nodes or rows.
    Fit(Box<FitArgs>),
    /// Sum up one share of a table's rows, on one of many machines, for `merge`.
    Part(Box<PartArgs>),
    /// Put the parts of a pass together: a model, or what the next pass needs.
    Merge(MergeArgs),
    /// Predict with a model of `fit`, and score the predictions where the truth is known.
    Predict(PredictArgs),
    /// Predict held-out links of a graph: kernel SVD and linear SVD side by side.
    Links(Box<LinksArgs>),
    /// Say whether asymmetry pays: methods with and without it on the same splits, and a verdict.
    Compare(Box<CompareArgs>),
    /// Learn from a stream of pairs or symmetric instances, one trial after the other, with regret.
    Online(Box<OnlineArgs>),
    /// Place new rows and new columns with a saved model.
    Transform(TransformArgs),
    /// Compute a paper's table on the sets of a data folder, the paper's figures beside ours.
    Reproduce(ReproduceArgs),
    /// Write a model for other runtimes, as a graph of ONNX operators.
    Export(ExportArgs),
    /// Say what a model file holds.
    Inspect(InspectArgs),
    /// List kernels, solvers and other things that have a name.
    List(ListArgs),
    /// List the cards that products with dense kernel matrices can be computed on.
    #[command(after_help = "Examples:\n  lopsided devices\n  lopsided devices --json")]
    Devices,
    /// Print the completion script of a shell.
    Completions(CompletionsArgs),
    /// Write a manual page for every command.
    Man(ManArgs),
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "General options")]
pub(crate) struct Global {
    /// Print one JSON object on stdout instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress and no remarks on stderr.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Number of threads; all cores by default. The results do not depend on it.
    #[arg(long, global = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Seed of everything random. Same seed, same bits.
    #[arg(long, global = true, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Where products with dense kernel matrices are computed: auto, cpu, cuda or cuda:K; `lopsided devices` lists the cards.
    #[arg(long, global = true, value_name = "D", default_value = "auto")]
    pub(crate) device: Device,
    /// Precision of the computation; a saved model keeps its own. `fast` is f32 with products of about 4e-4 on a card.
    #[arg(long, global = true, value_enum, value_name = "P", default_value = "f64")]
    pub(crate) precision: Precision,
    /// Memory that may be used, such as 4GB or 500MB; 80 % of what is free by default.
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory::parse_size)]
    pub(crate) memory: Option<u64>,
}

/// Numbers of 8 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    F64,
    F32,
    /// 4 bytes, and on a card half as many digits.
    Fast,
}

impl Precision {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
            Precision::Fast => "fast",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub(crate) struct DemoArgs {
    /// Folder for the page and for the graph, edges.csv and classes.csv; it is made if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "lopsided-demo")]
    pub(crate) out: PathBuf,
}

const DEMO_HELP: &str = "Examples:
  lopsided demo
  lopsided demo --seed 7 --json";

#[derive(Debug, Args)]
#[command(after_help = EMBED_HELP)]
pub(crate) struct EmbedArgs {
    /// Graph, matrix or row samples; `-` is stdin and needs --format.
    pub(crate) input: PathBuf,
    /// Column samples: INPUT then holds the row samples, of the same width.
    #[arg(long, value_name = "INPUT2")]
    pub(crate) cols: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) learning: LearningArgs,
    #[command(flatten)]
    pub(crate) given: Given<Embedding>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
    #[command(flatten)]
    pub(crate) states: CheckpointArgs,
    /// Read an svmlight file in passes and never hold it: random compatibility, Nyström without polish.
    #[arg(long)]
    pub(crate) stream: bool,
}

const EMBED_HELP: &str = "Examples:
  lopsided embed edges.csv --rank 32 --rows-out in.csv --cols-out out.csv \\
      --model graph.model
  lopsided embed ratings.npy --kernel precomputed --rank 5 --json
  lopsided embed documents.mtx --compat pca --kernel rbf --gamma median \\
      --center
  lopsided embed patients.csv --target outcome --compat learned --kernel rbf \\
      --gamma median --rank 4
  lopsided embed users.csv --cols items.csv --target none --kernel rbf \\
      --gamma median
  lopsided embed edges.csv --labels classes.csv --report page.html
  lopsided embed edges.csv --features people.csv --walk 2 --rows-out in.csv
  lopsided embed edges.csv.gz --dry-run
  lopsided embed edges.csv --rank 32 --model graph.model \\
      --checkpoint work.state --resume
  lopsided embed huge.svm.gz --stream --solver nystrom --rows-sample 1000 \\
      --cols-sample 1000 --rows-out rows.npy
A graph gives each node two places: by arriving links (rows) and by leaving
links (columns). A matrix is embedded by its rows against its columns; unless it
is square, --compat makes them comparable. With --kernel precomputed the matrix
itself is G and may have any shape.";

#[derive(Debug, Args)]
#[command(after_help = TRANSFORM_HELP, override_usage = TRANSFORM_USAGE)]
pub(crate) struct TransformArgs {
    /// Model file written by `embed`, `fit kernel-svd` or `fit kpca`.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) sides: SideArgs,
    /// Where to write: .npy, .csv or .parquet. With both sides, out.npy becomes out.rows.npy and out.cols.npy.
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    pub(crate) out: Option<PathBuf>,
    /// Print memory and a time estimate by the first few samples; write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

/// The usual form is wider than a terminal.
const TRANSFORM_USAGE: &str = "lopsided transform <MODEL> [--rows <INPUT>] [--cols <INPUT>] --out <FILE>";

const TRANSFORM_HELP: &str = "Examples:
  lopsided transform graph.model --rows new-edges.csv --out new-nodes.csv
  lopsided transform graph.model --rows new-edges.csv --cols new-edges.csv \\
      --out new.npy
A table holds one new sample per row, as wide as the samples the model was made
from. For the model of a matrix with --compat those are new rows of it, or new
columns written as rows. For a model with --kernel precomputed that is a row of
G, or a column of G written as a row. For the model of a graph, give an edge
list with the links between new and known nodes; if it has features, give those
of new nodes with --features.";

/// What is to be placed.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct SideArgs {
    /// New row samples, or the links of new nodes.
    #[arg(long, value_name = "INPUT")]
    pub(crate) rows: Option<PathBuf>,
    /// New column samples, or the links of new nodes.
    #[arg(long, value_name = "INPUT")]
    pub(crate) cols: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct ExportArgs {
    /// Model file written by `fit`.
    pub(crate) model: PathBuf,
    /// Where to write the graph.
    #[arg(long, value_name = "FILE")]
    pub(crate) onnx: PathBuf,
}

const EXPORT_HELP: &str = "Examples:
  lopsided export flowers.model --onnx flowers.onnx
  lopsided export flowers.model --onnx flowers.onnx --json
For models that are sums of the kernels rbf, linear, poly or laplacian over the
rows of a dense table: svm, nu-svm, logistic, krr, ls-svm and ask-ls. The graph
has the input `X` with the columns that were learned from, unscaled, and the
outputs `label`, `scores` and `probabilities` where the model has them, or
`values`. It computes in the precision of the model: doubles, or floats after
`fit --precision f32`.";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lopsided inspect graph.model\n  lopsided inspect graph.model --json")]
pub(crate) struct InspectArgs {
    /// Model file written by `embed` or `fit`.
    pub(crate) model: PathBuf,
    /// Print the settings alone, as JSON: what --recipe of `embed`, `bicluster` and `fit` takes.
    #[arg(long)]
    pub(crate) recipe: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lopsided list kernels\n  lopsided list solvers --json")]
pub(crate) struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Family {
    Kernels,
    Solvers,
    Estimators,
    Samplers,
    Learners,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lopsided completions bash > lopsided.bash\n  lopsided completions fish | head -3")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  lopsided man --out man1")]
pub(crate) struct ManArgs {
    /// Folder for the pages; it is made if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "man")]
    pub(crate) out: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_do_not_contradict_each_other() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn the_last_of_two_opposite_flags_wins() {
        let embed = |flags: &[&str]| {
            let words = ["lopsided", "embed", "x.csv"].iter().chain(flags);
            let Command::Embed(args) = Cli::try_parse_from(words).unwrap().command else { panic!() };
            let flag = |name: &str| args.given.settings.value(name).map(ToString::to_string);
            (flag("center"), flag("self-loops"))
        };
        let said = |word: &str| Some(word.to_string());
        assert_eq!(embed(&[]), (None, None));
        assert_eq!(embed(&["--center", "--no-self-loops"]), (said("true"), said("false")));
        let both = embed(&["--center", "--no-center", "--no-self-loops", "--self-loops"]);
        assert_eq!(both, (said("false"), said("true")));
    }
}

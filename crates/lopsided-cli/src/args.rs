//! Options as the user writes them.

use crate::memory;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lopsided::operator::OperatorChoice;
use lopsided::{Links, Scaling};
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
  lopsided help embed

Exit codes: 0 done, 1 tolerance not reached (results are written), 2 wrong usage or input,
130 interrupted.";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show on a made-up graph why the direction of links matters.
    Demo(DemoArgs),
    /// Embed a graph, a matrix or two sample sets: one set of features for rows, one for columns.
    Embed(Box<EmbedArgs>),
    /// Place new rows and new columns with a saved model.
    Transform(TransformArgs),
    /// Say what a model file holds.
    Inspect(InspectArgs),
    /// List kernels, solvers and other things that have a name.
    List(ListArgs),
    /// Print the completion script of a shell.
    Completions(CompletionsArgs),
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
    /// Precision of the computation; a saved model keeps its own.
    #[arg(long, global = true, value_enum, value_name = "P", default_value = "f64")]
    pub(crate) precision: Precision,
    /// Memory that may be used, such as 4GB or 500MB; half of what is free by default.
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory::parse_size)]
    pub(crate) memory: Option<u64>,
}

/// Numbers of 8 or 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    F64,
    F32,
}

#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub(crate) struct DemoArgs {
    /// Folder for the page; it is made if it does not exist.
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
    pub(crate) read: ReadArgs,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) solver: SolverArgs,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
    /// Print operator, solver, memory and a time estimate; compute and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const EMBED_HELP: &str = "Examples:
  lopsided embed edges.csv --rank 32 --rows-out in.csv --cols-out out.csv --model graph.model
  lopsided embed ratings.npy --kernel precomputed --rank 10 --json
  lopsided embed users.csv --cols items.csv --target none --kernel rbf --gamma median
  lopsided embed edges.csv --labels classes.csv --report page.html
  lopsided embed edges.csv.gz --dry-run

A graph gives each node two places: by arriving links (rows) and by leaving links (columns).
A square matrix is embedded by its rows against its columns.
With --kernel precomputed the matrix itself is G and may have any shape.";

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadArgs {
    /// Format, when the file's name does not tell: edges, csv, mtx, npy, npz, svmlight, parquet, arrow.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<lopsided::io::Format>,
    /// Label column of a table, or `none`; by default the last column under a header.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// Array of an .npz file.
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
}

/// How a graph becomes a matrix.
#[derive(Debug, Args)]
#[command(next_help_heading = "Graphs")]
pub(crate) struct GraphArgs {
    /// Links that make up a node's row.
    #[arg(long, value_enum, value_name = "in|out", default_value = "in", hide_possible_values = true)]
    pub(crate) links: LinksArg,
    /// Link every node to itself (default).
    #[arg(long, overrides_with = "no_self_loops")]
    pub(crate) self_loops: bool,
    /// Take the links as they are.
    #[arg(long)]
    pub(crate) no_self_loops: bool,
    /// Divide each row by its sum, or not.
    #[arg(long, value_enum, value_name = "row|none", default_value = "row", hide_possible_values = true)]
    pub(crate) normalize: Normalize,
    /// Keep at most N links in and N links out of any node, drawn at random.
    #[arg(long, value_name = "N")]
    pub(crate) max_degree: Option<usize>,
    /// Node ids that the graph has even without links, one per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Classes for colouring the report: `node,label`, or `row,label` for tables.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinksArg {
    In,
    Out,
}

impl From<LinksArg> for Links {
    fn from(links: LinksArg) -> Self {
        match links {
            LinksArg::In => Links::In,
            LinksArg::Out => Links::Out,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Normalize {
    Row,
    None,
}

/// The kernel and its parameters.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArgs {
    /// Kernel; `lopsided list kernels` shows all with formulas.
    #[arg(long, value_name = "NAME", default_value = "sne")]
    pub(crate) kernel: String,
    /// Coefficient of the distance: a number, scale, median or ksvd. Default: scale.
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub(crate) gamma: Option<String>,
    /// Multiplies the bandwidth: gamma is divided by K².
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) gamma_factor: Option<f64>,
    /// Degree of the polynomial kernel.
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) degree: Option<f64>,
    /// Constant of the polynomial kernel.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) coef0: Option<f64>,
    /// Centre both feature maps.
    #[arg(long, overrides_with = "no_center")]
    pub(crate) center: bool,
    /// Do not centre (default).
    #[arg(long, overrides_with = "center")]
    pub(crate) no_center: bool,
}

/// What is computed and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Computation")]
pub(crate) struct SolverArgs {
    /// Number of components; 16 by default, fewer where the data have fewer samples.
    #[arg(long, value_name = "R")]
    pub(crate) rank: Option<usize>,
    /// Solver; `lopsided list solvers` shows all.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) solver: String,
    /// Largest residual, relative to the first singular value, that counts as converged. Default: 1e-6.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) tol: Option<f64>,
    /// Vectors multiplied at once by an iterative solver.
    #[arg(long, value_name = "N")]
    pub(crate) block: Option<u32>,
    /// How G is multiplied: auto, sparse, tiles or dense.
    #[arg(long, value_name = "KIND", default_value = "auto")]
    pub(crate) operator: OperatorChoice,
    /// Scale components by the singular values: none, sqrt or full.
    #[arg(long, value_name = "POWER", default_value = "none")]
    pub(crate) scaling: Scaling,
}

/// Files to write.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Row embedding: .npy, .csv (first column the id) or .parquet.
    #[arg(long, value_name = "FILE")]
    pub(crate) rows_out: Option<PathBuf>,
    /// Column embedding, likewise.
    #[arg(long, value_name = "FILE")]
    pub(crate) cols_out: Option<PathBuf>,
    /// Model for `transform` and `inspect`.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Page with the spectrum and both embeddings.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = TRANSFORM_HELP)]
pub(crate) struct TransformArgs {
    /// Model file written by `embed --model`.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) sides: SideArgs,
    /// Where to write: .npy, .csv or .parquet. With both sides, out.npy becomes out.rows.npy and out.cols.npy.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

const TRANSFORM_HELP: &str = "Examples:
  lopsided transform graph.model --rows new-edges.csv --out new-nodes.csv
  lopsided transform graph.model --rows new-edges.csv --cols new-edges.csv --out new.npy

A table holds one new sample per row, as wide as the samples the model was made from.
For a model with --kernel precomputed that is a row of G, or a column of G written as a row.
For the model of a graph, give an edge list with the links between new and known nodes.";

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
#[command(after_help = "Examples:\n  lopsided inspect graph.model\n  lopsided inspect graph.model --json")]
pub(crate) struct InspectArgs {
    /// Model file written by `embed --model`.
    pub(crate) model: PathBuf,
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
#[command(after_help = "Examples:\n  lopsided completions bash > ~/.local/share/bash-completion/completions/lopsided")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
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
            (args.kernel.center, args.graph.no_self_loops)
        };
        assert_eq!(embed(&[]), (false, false));
        assert_eq!(embed(&["--center", "--no-self-loops"]), (true, true));
        assert_eq!(embed(&["--center", "--no-center", "--no-self-loops", "--self-loops"]), (false, false));
    }
}

//! Options that belong together.

use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use lopsided::operator::OperatorChoice;
use lopsided::{Compat, Links, Scaling};
use std::path::PathBuf;

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadArgs {
    /// Format, when the file's name does not tell: edges, csv, mtx, npy, npz, svmlight, parquet, arrow.
    #[arg(long, value_name = "F")]
    pub(crate) format: Option<lopsided::data::io::Format>,
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
    /// Link every node to itself (default, except for the kernel katz).
    #[arg(long, overrides_with = "no_self_loops")]
    pub(crate) self_loops: bool,
    /// Take the links as they are.
    #[arg(long)]
    pub(crate) no_self_loops: bool,
    /// Divide each row by its sum, or not. Default: row; none for the kernel katz.
    #[arg(long, value_enum, value_name = "row|none", hide_possible_values = true)]
    pub(crate) normalize: Option<Normalize>,
    /// Keep at most N links in and N links out of any node, drawn at random.
    #[arg(long, value_name = "N")]
    pub(crate) max_degree: Option<usize>,
    /// Node ids that the graph has even without links, one per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Classes (or values) as `node,label`, or `row,label` for tables; a .npy vector has those of all rows, or of the nodes of --nodes:
    /// what `fit` learns, colours of the report of `embed`.
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

/// How rows and columns of a matrix become comparable.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Compatibility")]
pub(crate) struct CompatArgs {
    /// Brings rows and columns of a matrix to the same coordinates: pinv, pca, random or none; `embed` also has
    /// learned, which needs a target of the rows (a column of the table, or --labels).
    #[arg(long, value_name = "NAME")]
    pub(crate) compat: Option<Compat>,
    /// Number of those coordinates; chosen by size if not given.
    #[arg(long, value_name = "Q")]
    pub(crate) compat_width: Option<usize>,
}

/// The kernel and its parameters.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Kernel")]
pub(crate) struct KernelArgs {
    /// Kernel; `lopsided list kernels` shows all with formulas. Default: sne; rbf for krr, kpca and landmarks.
    #[arg(long, value_name = "NAME", default_value = "sne", hide_default_value = true)]
    #[arg(default_value_ifs = [
        ("estimator", ArgPredicate::from("krr"), "rbf"),
        ("estimator", ArgPredicate::from("kpca"), "rbf"),
        ("landmark_count", ArgPredicate::IsPresent, "rbf"),
        ("landmark_ids", ArgPredicate::IsPresent, "rbf"),
        ("landmark_points", ArgPredicate::IsPresent, "rbf"),
    ])]
    pub(crate) kernel: String,
    /// Coefficient of the distance: a number, scale, median or ksvd. Default: scale; median for `bicluster` and `fit` of a table.
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub(crate) gamma: Option<String>,
    /// Multiplies the bandwidth: gamma is divided by K². Default: 1; 5 for `fit` of a graph without --gamma.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) gamma_factor: Option<f64>,
    /// Degree of the polynomial kernel.
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) degree: Option<f64>,
    /// Constant of the polynomial kernel.
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) coef0: Option<f64>,
    /// What the KL kernel adds to every bin of a histogram.
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// Weight of each further link of a way in the kernel katz, relative to the largest possible, 1 / spectral radius; the weight itself
    /// for a graph without cycles. Default: 0.5.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub(crate) beta: Option<f64>,
    /// Probability that the walk of the kernel ppr goes on. Default: 0.85.
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) alpha: Option<f64>,
    /// Loss with each link in the kernel shortest-path, exp(-A·links). Default: 1.
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) decay: Option<f64>,
    /// Centre both feature maps.
    #[arg(long, overrides_with = "no_center")]
    pub(crate) center: bool,
    /// Do not centre (default, except for kpca).
    #[arg(long, overrides_with = "center")]
    pub(crate) no_center: bool,
}

/// What is computed and how.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Computation")]
pub(crate) struct SolverArgs {
    /// Number of components; 16 by default (`bicluster`: 20, `fit`: 100, `links`: 64), fewer where the data have fewer samples.
    #[arg(long, value_name = "R")]
    pub(crate) rank: Option<usize>,
    /// Solver; `lopsided list solvers` shows all.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) solver: String,
    /// Largest residual of a triplet, relative to its own singular value, that counts as converged. Default: 1e-6.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) tol: Option<f64>,
    /// Vectors multiplied at once by an iterative solver.
    #[arg(long, value_name = "N")]
    pub(crate) block: Option<u32>,
    /// Row landmarks of a Nyström solver; by default they grow until the tolerance is reached.
    #[arg(long, value_name = "N")]
    pub(crate) rows_sample: Option<u32>,
    /// Column landmarks, likewise.
    #[arg(long, value_name = "M")]
    pub(crate) cols_sample: Option<u32>,
    /// How landmarks are chosen; `lopsided list samplers` shows all. Default: uniform.
    #[arg(long, value_name = "NAME")]
    pub(crate) sampler: Option<String>,
    /// Refine Nyström vectors by two products with G (default).
    #[arg(long, overrides_with = "no_polish")]
    pub(crate) polish: bool,
    /// Leave Nyström vectors as they are: not exactly orthogonal.
    #[arg(long, overrides_with = "polish")]
    pub(crate) no_polish: bool,
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

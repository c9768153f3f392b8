//! Options of `reproduce`.

use clap::{Args, ValueEnum};
use lopsided::data::synth::TopicTable;
use lopsided::{KernelSvd, LearnedCompat};
use std::path::PathBuf;

/// Options of the command `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ReproduceArgs {
    /// The table.
    #[arg(value_enum)]
    pub table: PaperTable,
    /// Folder with one folder per data set. Default: the environment variable LOPSIDED_DATA.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Only these sets.
    #[arg(long, value_name = "SET", num_args = 1..)]
    pub only: Vec<String>,
    /// Random splits into 80 % to learn from and 20 % to test on; default: 10. For ksvd-2 seeds of k-means, default: 5;
    /// for ksvd-4 and ksvd-6 repeats of each time, of which the median counts, default: 3.
    #[arg(long, value_name = "N")]
    pub trials: Option<usize>,
    /// Largest number of components; 1000 by default, 4 for ksvd-3 as in the paper, 20 for ksvd-2, ksvd-4 and ksvd-6, 50 for
    /// ksvd-7, fewer where the data have fewer.
    #[arg(long, value_name = "R")]
    pub rank: Option<usize>,
    /// Parts of the training part for cross-validation.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub folds: usize,
    /// Bandwidths, in multiples of KSVD's rule. Default: 2,5,10 to choose from, for ksvd-1 and ksvd-5 also 20; 1,0.5, each on
    /// its own, for ksvd-4 and ksvd-6.
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub gamma_factors: Vec<f64>,
    /// Solver of the features; by default auto, to a residual of 1e-4 of each singular value.
    #[arg(long, value_name = "NAME")]
    pub solver: Option<String>,
    /// Most rows to learn from in a table of ksvd-3 (default: 500) and nkm-1 (default: 2500); of larger tables a random part is
    /// taken.
    #[arg(long, value_name = "N")]
    pub max_rows: Option<usize>,
    /// Page for people, in one file that needs no network: the tables as they are printed and, where there are curves, these.
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Options of the learned compatibility matrix.
    #[command(flatten)]
    pub learning: LearningArgs,
    /// ksvd-1: only these methods, such as SVD, 'KSVD RBF', HOPE.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub methods: Vec<String>,
    /// Leave the reconstruction of links out.
    #[arg(long)]
    pub no_reconstruction: bool,
    /// ksvd-7: landmarks on each side. Default: 1000.
    #[arg(long, value_name = "M")]
    pub landmarks: Option<usize>,
    /// ksvd-7: rows and columns in so many random coordinates. Default: as they are.
    #[arg(long, value_name = "Q")]
    pub compat_width: Option<usize>,
    /// ksvd-7: make a sparse table of this size and run on it instead of on the sets of DIR.
    #[arg(long, value_name = "ROWS,COLS,ENTRIES_PER_ROW", value_parser = table_of_size)]
    pub generate: Option<TopicTable>,
    /// Rank 100 or less, 2 trials, one bandwidth: a look, not a result.
    #[arg(long)]
    pub quick: bool,
    /// ksvd-2: clusters of the columns. Default: as many as classes.
    #[arg(long, value_name = "L")]
    pub col_clusters: Option<usize>,
    /// ksvd-4, ksvd-6: the accuracies η to reach. Default: 0.1, for ksvd-6 also 0.01.
    #[arg(long, value_name = "E,…", value_delimiter = ',')]
    pub eta: Vec<f64>,
    /// ksvd-4, ksvd-6: most seconds for all attempts of one method.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub limit: f64,
    /// ksvd-1: folder for the scores by number of components, as CSV and SVG; ksvd-4, ksvd-6: for the figures 4 and 5, as CSV and SVG, which are not computed without it; nkm-1: folder for the
    /// figures; ksvd-7: folder to keep the made table in, which is removed without it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// How a compatibility matrix is learned.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Learned compatibility")]
pub struct LearningArgs {
    /// How far an entry of the matrix moves with a batch, relative to the size of its entries. Default: 0.01.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Passes over the rows, at most. Default: 100.
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Rows per step. Default: 64.
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
}

impl LearningArgs {
    /// The learner with these settings.
    pub fn learner(&self, machine: KernelSvd) -> LearnedCompat {
        let usual = LearnedCompat::new(machine);
        LearnedCompat {
            learning_rate: self.learning_rate.unwrap_or(usual.learning_rate),
            epochs: self.epochs.unwrap_or(usual.epochs),
            batch: self.batch.unwrap_or(usual.batch),
            ..usual
        }
    }
}

/// Tables that can be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PaperTable {
    /// Node classification and graph reconstruction, KSVD Table 1.
    #[value(name = "ksvd-1")]
    Ksvd1,
    /// Biclustering of matrices with classes, KSVD Table 2.
    #[value(name = "ksvd-2")]
    Ksvd2,
    /// Compatibility matrices on tables, the learned one among them, KSVD Table 3.
    #[value(name = "ksvd-3")]
    Ksvd3,
    /// Time of the solvers to an accuracy of 0.1, KSVD Table 4, figures 4 and 5.
    #[value(name = "ksvd-4")]
    Ksvd4,
    /// Nonlinear features + SVD against KSVD, KSVD Table 5.
    #[value(name = "ksvd-5")]
    Ksvd5,
    /// Time of the solvers to accuracies of 0.1 and 0.01, KSVD Table 6.
    #[value(name = "ksvd-6")]
    Ksvd6,
    /// Classification of large sparse tables out of core, KSVD Table 7.
    #[value(name = "ksvd-7")]
    Ksvd7,
    /// Images, made for it, classified with the KL kernel between mixtures of Gaussians, AsKLS Table 1.
    #[value(name = "askls-1")]
    Askls1,
    /// Nodes classified with the matrix of their links as kernel, AsKLS Table 3.
    #[value(name = "askls-3")]
    Askls3,
    /// Tables classified with the SNE and T kernels, AsKLS Table 4.
    #[value(name = "askls-4")]
    Askls4,
    /// Regret of exponentiated gradients and gradient descent against their bounds, KMU Section 4.
    #[value(name = "kmu-regret")]
    KmuRegret,
    /// Approximate support vector machines, ridge regression and principal components against the exact ones, NKM Figures 1 and 2.
    #[value(name = "nkm-1")]
    Nkm1,
}

const HELP: &str = "Examples:
  lopsided reproduce ksvd-1 --data data --only cora
  lopsided reproduce ksvd-1 --data data --quick --json
  lopsided reproduce ksvd-3 --data data --max-rows 200
  lopsided reproduce ksvd-6 --data data --only cora --out figures
  lopsided reproduce ksvd-7 --generate 20000,20000,15 --quick
  lopsided reproduce nkm-1 --data data --only dna --trials 3 --out figures
ksvd-1, ksvd-4, ksvd-6 and askls-3 run on every folder of DIR with a list of
links (edges.csv) and classes (labels.csv), ksvd-3, askls-4 and nkm-1 on those
with a table (data.csv, last column the target), ksvd-5 on both, ksvd-2 on those
with a matrix (features.mtx or features.npy) and classes, ksvd-7 on those with
an svmlight file (.svm, .libsvm, .svmlight), which is read in passes and never
held; its default rank is 50. askls-1 makes its images and reads no DIR.
kmu-regret makes its streams, and with DIR also reads the rows of each table as
one. All of them may be gzipped. Sets that cannot be used are named and left
out.";

/// `ROWS,COLS,ENTRIES_PER_ROW`.
fn table_of_size(text: &str) -> Result<TopicTable, String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[rows, cols, entries]) => Ok(TopicTable { rows, cols, entries, topics: 20, contrast: 0.5, seed: 0 }),
        _ => Err("three whole numbers separated by commas are expected, such as 10000,5000,15".into()),
    }
}

//! Options of `fit` and `predict`.

use super::landmarks::LandmarkArgs;
use super::{CheckpointArgs, FeatureArgs, Given, GraphArgs, Learning, ReadArgs};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use lopsided::base::settings::Value;
use lopsided::estimators::{EstimatorEntry, catalogue, estimators};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = FIT_HELP)]
pub(crate) struct FitArgs {
    /// Estimator; `lopsided list estimators` explains each.
    #[arg(value_parser = names())]
    pub(crate) estimator: String,
    /// Graph with --labels, or table with a target column; `-` is stdin and needs --format.
    pub(crate) input: PathBuf,
    /// Where to write the model for `predict`, `transform` and `inspect`.
    #[arg(long, value_name = "FILE", required_unless_present = "dry_run")]
    pub(crate) model: Option<PathBuf>,
    /// Page for people, in one file that needs no network: what was tried and chosen, predictions beside the truth.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Column samples: INPUT then holds the row samples, of the same width.
    #[arg(long, value_name = "INPUT2")]
    pub(crate) cols: Option<PathBuf>,
    /// Learn only from these nodes or rows, one id per line; rows of a table are called 0, 1, 2, …
    #[arg(long, value_name = "FILE")]
    pub(crate) train_ids: Option<PathBuf>,
    /// What to predict. Default: values for fractions and for more than 20 different whole numbers, else classes.
    #[arg(long, value_enum, value_name = "classes|values", hide_possible_values = true)]
    pub(crate) task: Option<Task>,
    /// What each sample counts in svm, nu-svm, logistic and krr: lines `id,weight`, or one number for each row.
    #[arg(long, value_name = "FILE")]
    pub(crate) weights: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) landmarks: LandmarkArgs,
    /// Choose settings by cross-validation with so many parts.
    #[arg(long, value_name = "FOLDS")]
    pub(crate) cv: Option<usize>,
    /// Scores of all settings that --cv tried, best first, as csv.
    #[arg(long, value_name = "FILE.csv", requires = "cv")]
    pub(crate) cv_out: Option<PathBuf>,
    /// Setting and values to try; `lopsided list estimators` shows the settings of each.
    #[arg(long, value_name = "KEY=A,B,…", num_args = 1.., requires = "cv", value_parser = grid_line)]
    pub(crate) grid: Vec<(String, Vec<Value>)>,
    #[command(flatten)]
    pub(crate) graph: GraphArgs,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) given: Given<Learning>,
    #[command(flatten)]
    pub(crate) states: CheckpointArgs,
}

/// Kinds of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Task {
    Classes,
    Values,
}

const FIT_HELP: &str = "Examples:
  lopsided fit kernel-svd edges.csv --labels classes.csv --rank 300 \\
      --penalty 10 --model nodes.model
  lopsided fit kernel-svd edges.csv --labels classes.csv --train-ids train.txt \\
      --cv 5 --model nodes.model
  lopsided fit ls-svm edges.csv --labels classes.csv --features people.csv \\
      --model people.model
  lopsided fit kernel-svd flowers.csv --target species --kernel rbf --cv 5 \\
      --grid rank=2,4,6 penalty=1,100 gamma-factor=0.5,1,2 \\
      --model flowers.model
  lopsided fit svm flowers.csv --target species --kernel rbf --multi-class ovo \\
      --probability --model flowers.model
  lopsided fit svm flowers.csv --target species --approach lla --landmarks 50 \\
      --cv 5 --grid penalty=1,10 --cv-out tried.csv --model flowers.model
  lopsided fit krr flowers.csv --target species --approach gsa \\
      --sampler rpcholesky --landmarks 50 --model flowers.model
  lopsided fit ask-ls edges.csv --labels classes.csv --cv 5 \\
      --model cited.model --checkpoint work.state --resume
  lopsided fit krr huge.svm --stream --landmarks 2000 --penalty 0.1 \\
      --model huge.model
  lopsided fit kpca flowers.csv --target species --rank 5 \\
      --model components.model
The features of a node are both sides of the kernel SVD, [U, V], those of a row
are U; a one-vs-rest linear LS-SVM learns classes from them, ridge regression
values. All nodes of a graph are embedded, also those without label; of a table
only the rows that are learned from, whose columns --compat (default: pca) makes
comparable.

--cv measures micro-F1 for classes and root mean squared error for values. Each
part is predicted by what was learned from the others alone: gamma, means,
normalisers, compatibility, landmarks, weights and stacking are found without
it. Of a graph and of a precomputed matrix all samples are input, and only their
labels are held out. The score of the chosen settings is the best of many and so
a little too good; rows left out by --train-ids tell more. Without --grid it
tries ranks, penalties and bandwidths that are not given as options; with --grid
only what is listed.";

#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub(crate) struct PredictArgs {
    /// Model file written by `fit`.
    pub(crate) model: PathBuf,
    /// New rows, or the links of new nodes; `-` is stdin and needs --format.
    pub(crate) input: PathBuf,
    /// Columns k(known, new) of a precomputed kernel, one for each row of INPUT.
    #[arg(long, value_name = "INPUT2")]
    pub(crate) cols: Option<PathBuf>,
    /// Predict only these nodes or rows, one id per line.
    #[arg(long, value_name = "FILE")]
    pub(crate) ids: Option<PathBuf>,
    /// Page for people, in one file that needs no network: predictions beside the truth, where it is known.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Predictions as csv, `id,prediction`; stdout by default.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Add the decision value of every class.
    #[arg(long)]
    pub(crate) scores: bool,
    /// Add the probability of every class, for models that have them.
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Print memory and a time estimate by the first few samples; write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// True classes or values, `id,label` or a .npy vector; by default the target column of the table, where it has one.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) features: FeatureArgs,
    #[command(flatten)]
    pub(crate) read: ReadArgs,
}

const PREDICT_HELP: &str = "Examples:
  lopsided predict nodes.model edges.csv --ids test.txt --out predictions.csv
  lopsided predict nodes.model edges.csv --ids test.txt --labels classes.csv \\
      --json
  lopsided predict flowers.model new-flowers.csv --scores
Nodes that the model knows are predicted from their stored features; new nodes
are placed by their links with known nodes, and by --features where the model
has learned from features. A precomputed kernel has rows k(new, known) and, with
--cols, columns k(known, new) of new samples; the matrix that was learned from
needs no --cols. With --json the predictions are part of the object unless --out
takes them.";

fn names() -> PossibleValuesParser {
    let fitted = catalogue::<f64>().into_iter().filter(|member| member.command == "fit");
    PossibleValuesParser::new(fitted.map(|member| member.name).collect::<Vec<_>>())
}

fn grid_line(text: &str) -> Result<(String, Vec<Value>), String> {
    let known = || {
        let mut all: Vec<&str> =
            estimators::<f64>().iter().flat_map(EstimatorEntry::all_settings).map(|s| s.name).collect();
        all.sort_unstable();
        all.dedup();
        format!("a setting and its values are expected, such as penalty=1,10,100; settings: {}", all.join(", "))
    };
    let (key, values) = text.split_once('=').ok_or_else(known)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_string()).collect();
    if key.is_empty() || values.iter().any(String::is_empty) {
        return Err(known());
    }
    Ok((key.into(), values.iter().map(|word| Value::of_word(word)).collect()))
}

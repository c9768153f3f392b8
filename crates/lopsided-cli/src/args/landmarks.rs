//! Options of kernel machines with landmarks.

use clap::Args;
use std::path::PathBuf;

/// Landmarks of svm, nu-svm, logistic, krr and kpca; their sampler is `--sampler`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Landmarks of svm, nu-svm, logistic, krr and kpca")]
pub(crate) struct LandmarkArgs {
    /// Landmarks of your own choice, one row id per line, instead of a sampler's.
    #[arg(long, value_name = "FILE", conflicts_with = "landmarks")]
    pub(crate) landmark_ids: Option<PathBuf>,
    /// Landmarks of your own that need not be rows of the input: a table or matrix of as many columns.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["landmarks", "landmark_ids"])]
    pub(crate) landmark_points: Option<PathBuf>,
    /// Compare with the exact machine, not for logistic: distance of the solutions, norms of K - K̃.
    #[arg(long)]
    pub(crate) errors: bool,
    /// Read INPUT (.npy, Parquet or a folder of it, svmlight) in passes and never hold it: krr, svm (squared hinge), logistic, kpca
    /// and features with uniform landmarks; krr by --solver direct or cg (a pass for each step).
    #[arg(long)]
    pub(crate) stream: bool,
}

impl LandmarkArgs {
    /// The first option that means nothing without landmarks.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let files = [
            ("stream", self.stream),
            ("landmark-ids", self.landmark_ids.is_some()),
            ("landmark-points", self.landmark_points.is_some()),
            ("errors", self.errors),
        ];
        files.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }
}

//! Options of kernel machines with landmarks.

use clap::Args;
use std::path::PathBuf;

/// Landmarks of svm, nu-svm, logistic, krr and kpca; their sampler is `--sampler`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Landmarks of svm, nu-svm, logistic, krr and kpca")]
pub(crate) struct LandmarkArgs {
    /// How landmarks enter: exact (not at all), lla, gsa or, for krr and kpca, ncr. Default: lla where anything else is said about
    /// landmarks, and for krr and kpca beyond 4000 samples; else exact.
    #[arg(long, value_name = "NAME")]
    approach: Option<String>,
    /// Number of landmarks. Default: 1000, or all samples where there are fewer.
    #[arg(id = "landmark_count", long = "landmarks", value_name = "M", allow_negative_numbers = true)]
    pub(crate) landmarks: Option<String>,
    /// Landmarks of your own choice, one row id per line, instead of a sampler's.
    #[arg(long, value_name = "FILE", conflicts_with = "landmark_count")]
    pub(crate) landmark_ids: Option<PathBuf>,
    /// Landmarks of your own that need not be rows of the input: a table or matrix of as many columns.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["landmark_count", "landmark_ids"])]
    pub(crate) landmark_points: Option<PathBuf>,
    /// Basis of the landmarks' span: standard, one-shot, double or multi-scale. Default: standard.
    #[arg(long, value_name = "NAME")]
    nystrom: Option<String>,
    /// Keep so many directions of the span.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    truncate: Option<String>,
    /// Compare with the exact machine, not for logistic: distance of the solutions, norms of K - K̃.
    #[arg(long)]
    pub(crate) errors: bool,
    /// Read an svmlight or .npy file in passes and never hold it: krr with uniform landmarks, by --solver direct (one pass, up to
    /// 4096 landmarks by default) or cg (conjugate gradients, a pass for each step).
    #[arg(long)]
    pub(crate) stream: bool,
}

impl LandmarkArgs {
    /// The settings that were given, by name.
    pub(crate) fn given(&self) -> impl Iterator<Item = (String, String)> {
        let all = [
            ("approach", &self.approach),
            ("landmarks", &self.landmarks),
            ("nystrom", &self.nystrom),
            ("truncate", &self.truncate),
        ];
        all.into_iter().filter_map(|(name, value)| value.clone().map(|value| (name.into(), value)))
    }

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

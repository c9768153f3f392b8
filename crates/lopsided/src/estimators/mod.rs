//! Estimators: data in, a model out.

mod baselines;
mod bicluster;
mod features;
mod kernel_svd;
mod kmeans;
mod learned_compat;
pub mod linear;

pub use baselines::{Hope, Kpca, LinearSvd, Pca, SolverSpec};
pub use bicluster::{Biclustering, BiclusteringModel};
pub use features::Features;
pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};
pub use kmeans::{Clustering, KMeans};
pub use learned_compat::{LearnedCompat, LearnedCompatModel, LearningStep, Loss};

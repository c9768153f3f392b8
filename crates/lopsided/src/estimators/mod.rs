//! Estimators: data in, a model out.

mod baselines;
mod bicluster;
mod features;
mod kernel_svd;
mod kmeans;
pub mod linear;
mod streamed;

pub use baselines::{Hope, Kpca, LinearSvd, Pca, SolverSpec};
pub use bicluster::{Biclustering, BiclusteringModel};
pub use features::Features;
pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};
pub use kmeans::{Clustering, KMeans};
pub use streamed::{Sketch, StreamedKernelSvd, StreamedKpca, StreamedModel};

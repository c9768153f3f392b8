//! Estimators: data in, a model out.

mod bicluster;
mod extended;
mod kernel_svd;
mod kmeans;
pub mod linear;

pub use bicluster::{Biclustering, BiclusteringModel};
pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};
pub use kmeans::{Clustering, KMeans};

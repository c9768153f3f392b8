//! Estimators: data in, a model out.

mod baselines;
mod features;
mod kernel_svd;
pub mod linear;

pub use baselines::{Hope, Kpca, LinearSvd, Pca, SolverSpec};
pub use features::Features;
pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};

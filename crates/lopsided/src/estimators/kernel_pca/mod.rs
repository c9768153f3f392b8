//! Kernel principal components, exact or by landmarks, and the feature map of landmarks, which is kept the same way.

mod exact;
mod features;
mod pca;

pub use features::NystromFeatures;
pub use pca::{KernelPca, KernelPcaModel};
pub(super) use pca::{NAME, center_columns, leading, nonzero};

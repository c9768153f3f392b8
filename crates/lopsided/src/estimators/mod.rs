//! Estimators: data in, a model out.

mod extended;
mod kernel_svd;
pub mod linear;

pub use kernel_svd::{KernelSvd, KernelSvdModel, Plan, Scaling};

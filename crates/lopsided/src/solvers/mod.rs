//! What turns an operator into singular triplets, coefficients or clusters; no solver knows a kernel's name.

pub mod kmeans;
pub mod landmarks;
pub mod linear_machine;
pub mod linsys;
pub mod lowrank;
pub mod svd;
pub mod svm;

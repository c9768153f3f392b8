//! What turns an operator into singular triplets, coefficients or clusters; no solver knows a kernel's name.
//!
//! | module | question | answer | used by |
//! | --- | --- | --- | --- |
//! | [`svd`] | G ≈ U·Σ·Vᵀ? | leading triplets, with residuals | [`crate::KernelSvd`], biclusters, low-rank AsK-LS |
//! | [`linsys`] | M·\[a; b\] = \[y; y\]? | coefficients and biases | [`crate::estimators::AskLs`] |
//! | [`svm`] | which samples carry the margin? | dual coefficients | [`crate::estimators::Svm`] |
//! | [`linear_machine`] | w on explicit features? | hyperplanes | machines on landmarks and embeddings |
//! | [`landmarks`] | which samples stand for all? | indices, points or a sketch | Nyström solvers and machines |
//! | [`lowrank`] | features with K ≈ F·Fᵀ? | a feature map | machines on landmarks |
//! | [`kmeans`] | which points belong together? | labels and centres | biclusters |
//! | [`neighbours`] | where in the plane is who near whom? | a map | [`crate::pages`] |
//!
//! Two habits hold in all of them. What a solver says about itself is measured: residuals come from products taken at
//! the end, never from the account that an iteration keeps of itself, and "converged" is said by a *gate* or a
//! [`crate::base::verdict::Verdict`] that nothing else can make. And results do not depend on the number of threads:
//! every sum has one order, and every random number comes from a stream named by the seed and a number of its own.

pub mod kmeans;
pub mod landmarks;
pub mod linear_machine;
pub mod linsys;
pub mod lowrank;
pub mod neighbours;
pub mod svd;
pub mod svm;

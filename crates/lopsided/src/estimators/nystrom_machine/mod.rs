//! Kernel machines scaled up by landmarks (\[NKM\]): ridge regression and principal components, exact or by three approaches.
//!
//! With the features F = K_nm·A of a [`crate::solvers::lowrank::NystromBasis`] (G = Fᵀ in \[NKM\]):
//!
//! | approach | what is learned | prediction |
//! | --- | --- | --- |
//! | `lla` | w, the linear machine on F, Eq. (4) | k(z, C)·A·w |
//! | `gsa` | α = G⁺·w, Eq. (20), which solves Eq. (3) with K̃ = F·Fᵀ in place of K | k(z, X)·α |
//! | `ncr` | the best function in the span of the landmarks, Eq. (11): `lla` with the standard basis | k(z, C)·β |
//! | `exact` | α of the kernel machine itself, Eq. (2) | k(z, X)·α |

mod approximation;
mod cg;
mod comparison;
mod errors;
mod exact_pca;
mod normal;
mod passes;
mod pca;
mod problem;
mod ridge;
mod ridge_model;
mod streamed;
mod systems;
mod validate;

pub use approximation::{APPROXIMATION_SETTINGS, Approach, Approximation, OwnLandmarks};
pub use comparison::{Attempt, Comparison};
pub use errors::{GramErrors, MachineErrors, SolutionErrors};
pub use pca::{KernelPca, KernelPcaModel};
pub(super) use problem::Problem;
pub use ridge::KernelRidge;
pub(super) use ridge::entry as ridge_entry;
pub use ridge_model::KernelRidgeModel;
pub use streamed::StreamedRidge;

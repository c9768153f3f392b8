//! Kernel ridge regression: exact, by landmarks, or out of core.
//!
//! | samples | way | file |
//! | --- | --- | --- |
//! | few, or exactness is asked for | factors of K + λI | `ridge`, `systems` |
//! | many, few landmarks | normal equations of the features in one pass | `ridge`, `systems` |
//! | many, many landmarks | preconditioned conjugate gradients by passes over the samples | `passes`, `cg` |
//! | more than memory holds | the same over rows that are read again and again | `streamed`, `normal` |

mod cg;
mod model;
mod normal;
mod passes;
mod ridge;
mod streamed;
mod systems;
mod validate;

pub use model::KernelRidgeModel;
pub use ridge::KernelRidge;
pub(super) use ridge::entry;
pub use streamed::StreamedRidge;
pub(super) use systems::{Centred, solve, solve_exact, solve_features};

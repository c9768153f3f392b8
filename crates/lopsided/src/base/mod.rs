//! What everything else stands on: errors, precisions, exact sums, random streams, the run of a computation.

pub mod error;
mod exp;
pub mod file;
pub(crate) mod linalg;
pub(crate) mod random;
pub mod registry;
mod run;
pub mod scalar;
pub mod settings;
pub mod verdict;
pub mod watch;

pub use run::Run;

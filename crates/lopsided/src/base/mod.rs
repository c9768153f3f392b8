//! What everything else stands on: errors, precisions, dense linear algebra, random streams, the run of a computation.
//!
//! | module | what it gives | who uses it |
//! | --- | --- | --- |
//! | [`error`] | [`crate::Error`], the one error type, and [`crate::Result`] | everything that can fail |
//! | [`scalar`] | [`crate::Scalar`], `f32` or `f64` | everything that is generic over the precision |
//! | [`settings`], [`registry`] | values by name, lists of what takes them | the command line, Python, saved models |
//! | [`watch`] | progress, cancellation and counts of work | long computations and whoever waits for them |
//! | [`verdict`] | whether an iteration has converged | solvers |
//! | [`checkpoint`] | states of long work, which is taken up again | long computations |
//! | [`file`](mod@file) | files that are written whole or not at all | writers of models, matrices and reports |
//! | [`finite`] | numbers that are none, found before they leave | writers, `--json` |
//! | [`device`] | the processor or a card, and which cards there are | operators of dense kernels |
//! | [`memory`] | how much may be used, and the gate for what grows | readers, plans |
//! | [`random`] | streams of random numbers, one for each purpose | whatever draws |
//! | [`linalg`] | products and orthonormal bases of tall matrices | solvers |
//!
//! [`Run`] is handed to every fit: a seed, a watch, a checkpoint and a device. Everything here gives the same bits on any number of threads.

pub mod checkpoint;
pub mod device;
pub mod error;
mod exp;
pub mod file;
pub mod finite;
pub mod linalg;
pub mod memory;
pub mod random;
pub mod registry;
mod run;
pub mod scalar;
pub mod settings;
pub mod verdict;
pub mod watch;

pub use run::Run;

/// Setters of a builder, which its fields document: `with_field(field: Type)`, or `with_field(field: Type => value)`
/// where what is kept is made of what is given.
macro_rules! setters {
    ($builder:ident: $($setter:ident($field:ident: $kind:ty $(=> $value:expr)?)),*) => {
        impl $builder {
            $(#[doc = concat!("The same with another `", stringify!($field), "`.")]
            pub fn $setter(mut self, $field: $kind) -> Self {
                self.$field = setters!(@kept $field $($value)?);
                self
            })*
        }
    };
    (@kept $given:ident) => { $given };
    (@kept $given:ident $value:expr) => { $value };
}
pub(crate) use setters;

//! lopsided
#![allow(non_snake_case)]
pub mod dataset;
pub mod error;
pub mod estimators;
pub mod file;
pub mod graph;
pub mod metrics;
pub mod samples;
pub mod scalar;
pub mod synth;
pub mod watch;

pub use error::{Error, Result};
pub use scalar::Scalar;
pub use watch::{Progress, Watch};

//! lopsided
#![allow(non_snake_case)]
pub mod dataset;
pub mod error;
pub mod file;
pub mod graph;
pub mod io;
pub mod samples;
pub mod scalar;
pub mod watch;

pub use error::{Error, Result};
pub use scalar::Scalar;
pub use watch::{Progress, Watch};

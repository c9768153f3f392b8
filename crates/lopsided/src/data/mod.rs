//! Data as they come and as they are kept: samples, graphs, files, models on disk, and generated examples.

pub mod archive;
#[cfg(feature = "ndarray")]
pub mod arrays;
pub mod dataset;
pub mod graph;
pub mod io;
pub mod row_stream;
pub mod samples;
pub mod synth;

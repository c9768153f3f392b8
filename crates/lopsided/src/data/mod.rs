//! Data as they come and as they are kept: samples, graphs, files, models on disk, and generated examples.
//!
//! | module | start with | for |
//! | --- | --- | --- |
//! | [`samples`] | [`crate::Samples`], [`crate::Csr`] | dense or sparse rows of numbers, one sample per row |
//! | [`dataset`] | [`crate::Dataset`], [`crate::Target`] | samples of both sides, labels, names: what is fitted |
//! | [`columns`] | [`columns::Column`] | names of columns, and the words of those that hold text |
//! | [`graph`] | [`crate::Graph`], [`crate::GraphRule`] | directed graphs and the matrix they become |
//! | [`node_features`] | [`node_features::NodeFeatures`] | features of nodes beside their links |
//! | [`walk`] | [`crate::GraphRule::walk`] | several steps of the walk on a graph |
//! | [`io`] | [`io::read`], [`io::write_matrix`] | files in and out |
//! | [`row_stream`] | [`row_stream::RowStream`] | matrices larger than memory, read in passes |
//! | [`table_stream`] | [`table_stream::TableStream`] | the same with targets, in pieces that can be shared out |
//! | [`archive`] | [`archive::Archive`] | saved models |
//! | [`onnx`] | [`crate::estimators::onnx::export`] | models for other runtimes |
//! | [`synth`] | [`synth::CyclicGraph`] | seeded examples with known answers |
//!
//! A file becomes samples or a graph, a graph becomes samples by its rule, and samples become a dataset:
//!
//! ```
//! use lopsided::{Dataset, Graph, GraphRule};
//!
//! let graph = Graph::new(["a", "b", "c"].map(String::from).to_vec(), &[(0, 1, 1.0), (1, 2, 1.0)])?;
//! let data: Dataset<f64> = Dataset::from_graph(&graph, &GraphRule::default())?;
//! assert_eq!((data.x.count(), data.x.width(), data.cols().count()), (3, 3, 3));
//! # Ok::<(), lopsided::Error>(())
//! ```

pub mod archive;
#[cfg(feature = "ndarray")]
pub mod arrays;
pub mod columns;
pub mod dataset;
pub mod graph;
mod grouped;
pub mod io;
pub mod node_features;
pub mod onnx;
pub mod row_stream;
pub mod samples;
pub(crate) mod state;
pub mod synth;
pub mod table_stream;
mod undirected;
pub mod walk;

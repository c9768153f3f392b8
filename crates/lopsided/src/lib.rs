//! Learning with asymmetric kernels, k(x, z) ≠ k(z, x).
//!
//! | job | type |
//! | --- | --- |
//! | two embeddings of a directed graph, a matrix or two sample sets | [`KernelSvd`] |
//! | clusters of the rows and of the columns of a matrix | [`Biclustering`] |
//! | classes or values straight from an asymmetric kernel, of nodes too | [`estimators::AskLs`] |
//! | classes or values in two steps: embed, then a linear machine | [`estimators::SvdPredictor`] |
//! | classes with a symmetric kernel, exact or by landmarks | [`estimators::Svm`], [`estimators::KernelLogistic`] |
//! | values with a symmetric kernel, exact or by landmarks (`with_landmarks`) | [`estimators::KernelRidge`] |
//! | principal components | [`estimators::KernelPca`] |
//! | whether asymmetry pays on given data | [`evaluation::Comparison`] |
//! | how well held-out links are predicted | [`evaluation::HeldOut`] |
//! | a page with pictures of what was found | [`pages`], [`report`] |
//! | a stream of pairs, with regret | [`online::LearnerSpec`] |
//! | settings as data, and a model again from them | [`estimators::recipe`] |
//! | files in and out | [`data::io`], [`data::archive`] |
//!
//! **The design in five sentences.** Data come as row samples `X` and column samples `Z` ([`Dataset`]); a [`kernel::Kernel`] says
//! how one row sample sees one column sample. An [`operator::Operator`] is the matrix G of all those values, which is multiplied
//! but never stored. A solver ([`solvers`]) turns an operator into singular values with their vectors, or a solution. An estimator ([`estimators`])
//! turns data into a model with the help of one kernel and one solver. Everything that computes lives here; the command line and
//! the Python package are thin skins over it.
//!
//! ```
//! use lopsided::{Dataset, KernelSvd, Run, Samples, Side};
//!
//! // Two sample sets of equal width: 40 row samples against 30 column samples.
//! let x = Samples::Dense(lopsided::Mat::from_fn(40, 3, |i, j| ((i * 7 + j * 3) % 11) as f64));
//! let z = Samples::Dense(lopsided::Mat::from_fn(30, 3, |i, j| ((i * 5 + j * 2) % 13) as f64));
//! let model = KernelSvd::new("rbf").with_rank(4).fit(Dataset::two_sided(x, z.clone()), &Run::default())?;
//! assert_eq!(model.embedding(Side::Row).shape(), (40, 4));
//! // New columns land in the same space; training columns land on themselves.
//! let again = model.project_cols(z.as_ref(), &Run::default())?;
//! assert!((again - model.embedding(Side::Col)).norm_max() < 1e-8);
//! # Ok::<(), lopsided::Error>(())
//! ```
#![allow(non_snake_case)] // matrices keep the letters of the papers

pub mod base;
pub mod data;
pub mod estimators;
pub mod evaluation;
pub mod kernel;
pub mod metrics;
pub mod online;
pub mod operator;
pub mod pages;
mod products;
pub mod report;
pub mod solvers;

pub use base::Run;
pub use base::error::{Error, Result};
pub use base::scalar::Scalar;
pub use base::watch::{Progress, Watch, Work};
pub use data::dataset::{Dataset, Maps, Target};
pub use data::graph::{Graph, GraphRule, Links};
pub use data::samples::{Csr, Samples, SamplesRef, Side};
pub use estimators::compat::{Compat, Compatibility};
pub use estimators::{
    Biclustering, BiclusteringModel, Features, Hope, KernelSvd, KernelSvdModel, Kpca, LearnedCompat,
    LearnedCompatModel, LinearSvd, Pca, Scaling,
};
pub use faer::{Mat, MatRef};
pub use solvers::kmeans::KMeans;

/// The examples of the README are run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

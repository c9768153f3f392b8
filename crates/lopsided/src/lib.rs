//! Learning with asymmetric kernels, k(x, z) ≠ k(z, x).
//!
//! Data come as row samples `X` and column samples `Z` ([`Dataset`]); a [`kernel::Kernel`] says how one row sample sees one
//! column sample; an [`operator::Operator`] is the matrix G of all those values, which is multiplied but never stored. A
//! solver ([`svd`]) turns an operator into singular triplets; an estimator ([`KernelSvd`]) turns data into a model with the
//! help of one kernel and one solver. Everything that computes lives here; the command line is a thin skin over it.
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

pub mod archive;
pub mod compat;
pub mod dataset;
pub mod distributions;
pub mod error;
pub mod estimators;
mod exp;
pub mod file;
pub mod graph;
pub mod io;
pub mod kernel;
pub mod landmarks;
mod linalg;
pub mod linear_machine;
pub mod linsys;
pub mod lowrank;
pub mod metrics;
pub mod online;
pub mod operator;
mod random;
pub mod registry;
pub mod row_stream;
pub mod samples;
pub mod scalar;
pub mod svd;
pub mod svm;
pub mod synth;
pub mod tasks;
pub mod verdict;
pub mod watch;

pub use compat::{Compat, Compatibility};
pub use dataset::{Dataset, Maps, Target};
pub use error::{Error, Result};
pub use estimators::{
    Biclustering, BiclusteringModel, Features, Hope, KMeans, KernelSvd, KernelSvdModel, Kpca, LearnedCompat,
    LearnedCompatModel, LinearSvd, Pca, Scaling,
};
pub use faer::{Mat, MatRef};
pub use graph::{Graph, GraphRule, Links};
pub use samples::{Csr, Samples, SamplesRef, Side};
pub use scalar::Scalar;
pub use svd::Run;
pub use watch::{Progress, Watch, Work};

/// The examples of the README are run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

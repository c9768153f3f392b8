//! The tasks of the tables: what features are worth, measured alike for every method.
//!
//! | question | type | gives |
//! | --- | --- | --- |
//! | which class does a node have? | [`NodeClassification`] | micro- and macro-F1 on random splits |
//! | which links were there? | [`reconstruct`] | errors of a graph read back from features |
//! | what is the target of a row? | [`TablePrediction`] | AUROC, micro-F1 or RMSE on random splits |
//! | and of rows never seen before? | [`InductivePrediction`] | the same, with a model for each split |
//! | the same for millions of rows | [`HoldOut`] | one split, moments only |
//! | how exact is a solver? | [`Reference`] | η, residuals and angles against the exact triplets |
//!
//! The tasks on features take [`lopsided::Features`], whatever method made them, and learn with the same linear
//! machine; splits depend on the seed only. So two methods are compared on equal terms: the same rows to learn
//! from, the same choice of penalties.

mod accuracy;
mod classify;
mod hold_out;
mod inductive;
mod reconstruct;
mod summary;
mod tables;

pub use accuracy::{Accuracy, Reference};
pub use classify::{Choice, Grid, NodeClassification, Trial};
pub use hold_out::{HoldOut, HoldOutScore};
pub use inductive::{InductivePrediction, TableScores};
pub use reconstruct::{Reconstruction, reconstruct};
pub use summary::{Summary, summarize};
pub use tables::{Measure, TablePrediction, filled, standardized, standardized_by};

//! What embeddings are for: classifying nodes, reconstructing and predicting links, predicting the target of a table, measured alike for every method.
//!
//! | question | type | gives |
//! | --- | --- | --- |
//! | which class does a node have? | [`NodeClassification`] | micro- and macro-F1 on random splits |
//! | which links were there? | [`reconstruct`] | errors of a graph read back from features |
//! | which links are missing? | [`HeldOut`] | AUROC and average precision of held-out links |
//! | what is the target of a row? | [`TablePrediction`] | AUROC, micro-F1 or RMSE on random splits |
//! | and of rows never seen before? | [`InductivePrediction`] | the same, with a model for each split |
//! | the same for millions of rows | [`HoldOut`] | one split, moments only |
//! | which settings are best? | [`Search`] | scores of a grid in cross-validation |
//! | how exact is a solver? | [`Reference`] | η, residuals and angles against the exact triplets |
//!
//! The tasks on features take [`crate::Features`], whatever method made them, and learn with the same linear
//! machine; splits depend on the seed only. So two methods are compared on equal terms: the same rows to learn
//! from, the same choice of penalties.

mod accuracy;
mod classify;
mod hold_out;
mod inductive;
mod links;
mod predict;
mod search;
mod summary;
mod tables;

pub use accuracy::{Accuracy, Reference};
pub use classify::{Choice, Grid, NodeClassification, Trial};
pub use hold_out::{HoldOut, HoldOutScore};
pub use inductive::{InductivePrediction, TableScores};
pub use links::{Reconstruction, reconstruct};
pub use predict::{HeldOut, LinkScores};
pub use search::{Search, Tried, Tuning};
pub use summary::{Spread, Summary, summarize};
pub use tables::{Measure, TablePrediction, standardized, standardized_by};

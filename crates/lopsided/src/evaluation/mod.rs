//! What embeddings are for: classifying nodes, reconstructing and predicting links, predicting the target of a table, measured alike for every method.

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

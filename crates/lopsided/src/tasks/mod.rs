//! What embeddings are for: classifying nodes, reconstructing and predicting links, predicting the target of a table, measured alike for every method.

mod classify;
mod inductive;
mod links;
mod moments;
mod predict;
mod summary;
mod tables;

pub use classify::{Choice, Grid, NodeClassification, Trial};
pub use inductive::{InductivePrediction, TableScores};
pub use links::{Reconstruction, reconstruct};
pub use predict::{HeldOut, LinkScores};
pub use summary::{Spread, Summary, summarize};
pub use tables::{Measure, TablePrediction, standardized};

//! What embeddings are for: classifying nodes, reconstructing and predicting links, measured alike for every method.

mod classify;
mod links;
mod moments;
mod predict;
mod summary;

pub use classify::{Choice, Grid, NodeClassification, Trial};
pub use links::{Reconstruction, reconstruct};
pub use predict::{HeldOut, LinkScores};
pub use summary::{Spread, Summary, summarize};

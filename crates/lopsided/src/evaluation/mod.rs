//! How good a choice is on data it has not seen: settings by cross-validation, embeddings by links that were taken out.
//!
//! | question | type | gives |
//! | --- | --- | --- |
//! | which settings are best? | [`Search`] | scores of a grid in cross-validation |
//! | which links are missing? | [`HeldOut`] | AUROC and average precision of held-out links |
//! | does asymmetry pay? | [`Comparison`] | methods with and without it, an interval, a verdict |
//! | and over many trials? | [`Spread`] | mean and standard deviation |
//!
//! Splits depend on the seed only, so two methods are compared on equal terms. The tasks of the papers' tables (nodes,
//! tables, reconstruction) stand on this library in a crate of their own, `lopsided-papers`.

mod compare;
mod predict;
mod search;
mod spread;

pub use compare::{Asymmetry, Compared, Comparison, Decision, Difference, Family, Method};
pub use predict::{HeldOut, LinkScore, LinkScores};
pub use search::{Search, Tried, Tuning};
pub use spread::Spread;

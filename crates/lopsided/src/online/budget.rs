//! A bound on the stored samples.

use crate::base::error::{Error, Result};
use std::str::FromStr;

/// At most so many samples are stored on each side; beyond it the one whose loss changes the matrix least goes.
///
/// With W = Φ·C·Ψᵀ, and c_i the row of C that belongs to the sample, [`Removal::Drop`] sets c_i to 0 and changes W by
/// √k(x_i, x_i)·‖c_i‖; [`Removal::Merge`] replaces φ(x_i) by its projection onto the other samples, the nearest matrix that
/// can do without it, and changes W by the distance of φ(x_i) from their span instead of its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Budget {
    /// Most stored samples, at least 1.
    pub size: usize,
    /// How a sample goes.
    pub removal: Removal,
}

/// How a sample is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Removal {
    /// Its coefficients become 0.
    Drop,
    /// Its features are projected onto those of the others.
    #[default]
    Merge,
}

impl Budget {
    /// [`Error::Param`] for a budget of nothing.
    pub fn check(&self) -> Result<()> {
        if self.size == 0 { Err(Error::param("budget", 0, "at least 1")) } else { Ok(()) }
    }
}

impl FromStr for Removal {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "drop" => Ok(Removal::Drop),
            "merge" => Ok(Removal::Merge),
            _ => Err(Error::Unknown {
                kind: "removal",
                name: text.into(),
                known: ["drop", "merge"].map(String::from).to_vec(),
            }),
        }
    }
}

/// What the budget has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BudgetCost {
    /// Samples removed.
    pub removed: u64,
    /// Sum of the changes: by how much the learned matrix was moved at most, in the Frobenius norm. For exponentiated
    /// gradients this is the matrix in the exponent.
    pub error: f64,
}

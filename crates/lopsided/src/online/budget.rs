//! A bound on the stored samples.
//!
//! A stream has no end, and without a bound neither has the memory of a learner that stores samples. What the bound
//! costs is measured: the sum of all changes it made to the matrix, in the Frobenius norm, is part of the
//! [`super::Account`].

use crate::base::error::{Error, Result};
use crate::base::registry::words;

/// At most so many samples are stored on each side; beyond it the one whose loss changes the matrix least goes.
///
/// With W = Φ·C·Ψᵀ, and c_i the row of C that belongs to the sample, [`Removal::Drop`] sets c_i to 0 and changes W by
/// √k(x_i, x_i)·‖c_i‖; [`Removal::Merge`] replaces φ(x_i) by its projection onto the other samples, the nearest matrix that
/// can do without it, and changes W by the distance of φ(x_i) from their span instead of its length.
///
/// ```
/// use lopsided::online::{Budget, Instance, LearnerSpec, Removal, StepSize};
///
/// let budget = Budget { size: 2, removal: Removal::Merge };
/// let mut learner = LearnerSpec::new("gd-frobenius").with_step(StepSize::Fixed(0.1)).with_budget(budget).build()?;
/// for t in 0..4 {
///     let unit: Vec<f64> = (0..4).map(|i| if i == t { 1.0 } else { 0.0 }).collect();
///     learner.update(&Instance::pair(&unit, &[1.0]), 1.0)?;
/// }
/// assert_eq!(learner.account().stored, 3); // two of four on the left, the only one on the right
/// assert_eq!(learner.account().budget.removed, 2);
/// # Ok::<(), lopsided::Error>(())
/// ```
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

words!(Removal, "removal": Drop = "drop", Merge = "merge");

impl Budget {
    /// [`Error::Param`] for a budget of nothing.
    pub fn check(&self) -> Result<()> {
        if self.size == 0 { Err(Error::param("budget", 0, "at least 1")) } else { Ok(()) }
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

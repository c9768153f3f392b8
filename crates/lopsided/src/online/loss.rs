//! Losses of a prediction ŷ = tr(WᵀM) against a label y.
//!
//! | loss | value | slope ∂ | labels |
//! | --- | --- | --- | --- |
//! | `squared` | (ŷ − y)² | 2·(ŷ − y) | numbers |
//! | `absolute` | \|ŷ − y\| | sign(ŷ − y) | numbers |
//! | `logistic` | ln(1 + exp(−yŷ)) | −y/(1 + exp(yŷ)) | ±1 |
//! | `hinge` | max(0, 1 − yŷ) | −y inside the margin, else 0 | ±1 |
//! | `gain` | −ŷ | −1 | none |

use crate::base::error::{Error, Result};
use std::str::FromStr;

/// The loss suffered in a trial.
///
/// ```
/// use lopsided::online::Loss;
///
/// let hinge: Loss = "hinge".parse()?;
/// assert_eq!((hinge.value(0.25, 1.0), hinge.slope(0.25, 1.0)), (0.75, -1.0));
/// assert_eq!((hinge.value(2.0, 1.0), hinge.slope(2.0, 1.0)), (0.0, 0.0));
/// assert!(hinge.check_label(0.5).is_err() && Loss::Squared.check_label(0.5).is_ok());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// (ŷ − y)².
    Squared,
    /// |ŷ − y|.
    Absolute,
    /// ln(1 + exp(−yŷ)), y = ±1.
    Logistic,
    /// max(0, 1 − yŷ), y = ±1.
    Hinge,
    /// −ŷ, without a label: the gain game of \[KMU\] Section 4.
    Gain,
}

/// All losses with the names users write.
pub const LOSSES: [(Loss, &str); 5] = [
    (Loss::Squared, "squared"),
    (Loss::Absolute, "absolute"),
    (Loss::Logistic, "logistic"),
    (Loss::Hinge, "hinge"),
    (Loss::Gain, "gain"),
];

impl Loss {
    /// The loss of predicting `prediction` where `label` is true.
    pub fn value(self, prediction: f64, label: f64) -> f64 {
        let margin = prediction * label;
        match self {
            Loss::Squared => (prediction - label).powi(2),
            Loss::Absolute => (prediction - label).abs(),
            Loss::Logistic => (-margin).max(0.0) + (-margin.abs()).exp().ln_1p(),
            Loss::Hinge => (1.0 - margin).max(0.0),
            Loss::Gain => -prediction,
        }
    }

    /// A subgradient by the prediction, ∂_t in \[KMU\] Eq. (4.1).
    pub fn slope(self, prediction: f64, label: f64) -> f64 {
        match self {
            Loss::Squared => 2.0 * (prediction - label),
            Loss::Absolute if prediction == label => 0.0,
            Loss::Absolute => (prediction - label).signum(),
            Loss::Logistic => -label / (1.0 + (prediction * label).exp()),
            Loss::Hinge if prediction * label < 1.0 => -label,
            Loss::Hinge => 0.0,
            Loss::Gain => -1.0,
        }
    }

    /// G, the largest slope for predictions of size `radius` or less and labels of size 1 or less.
    pub fn largest_slope(self, radius: f64) -> f64 {
        if self == Loss::Squared { 2.0 * (radius + 1.0) } else { 1.0 }
    }

    /// The size of what is to be predicted; 1 where there is no label.
    pub(super) fn size_of(self, label: f64) -> f64 {
        if self == Loss::Gain { 1.0 } else { label.abs() }
    }

    /// The largest second derivative; `None` where the slope jumps.
    pub(super) fn curvature(self) -> Option<f64> {
        match self {
            Loss::Squared => Some(2.0),
            Loss::Logistic => Some(0.25),
            Loss::Absolute | Loss::Hinge | Loss::Gain => None,
        }
    }

    /// [`Error::Param`] for a label the loss has no use for.
    pub fn check_label(self, label: f64) -> Result<()> {
        match self {
            Loss::Gain => Ok(()),
            Loss::Logistic | Loss::Hinge if label.abs() != 1.0 => {
                Err(Error::param("label", label, format!("1 or -1 for the loss `{self}`")))
            }
            _ if !label.is_finite() => Err(Error::param("label", label, "a finite number")),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(LOSSES.iter().find(|(loss, _)| loss == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Loss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = LOSSES.iter().find(|(_, name)| *name == text).map(|(loss, _)| *loss);
        found.ok_or_else(|| Error::Unknown {
            kind: "loss",
            name: text.into(),
            known: LOSSES.iter().map(|(_, name)| (*name).into()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_the_derivatives_of_the_values() {
        for (loss, name) in LOSSES {
            for (prediction, label) in [(0.3, 1.0), (-2.0, -1.0), (1.7, -1.0), (-0.4, 1.0), (800.0, -1.0)] {
                let h = 1e-6;
                let slope = (loss.value(prediction + h, label) - loss.value(prediction - h, label)) / (2.0 * h);
                let error = (slope - loss.slope(prediction, label)).abs();
                assert!(error < 1e-4 * slope.abs().max(1.0), "{name} at {prediction}, {label}");
            }
        }
    }

    #[test]
    fn labels_and_names_are_checked() {
        assert!(Loss::Hinge.check_label(0.5).is_err() && Loss::Squared.check_label(f64::NAN).is_err());
        assert!(Loss::Gain.check_label(f64::NAN).is_ok());
        assert_eq!("hinge".parse::<Loss>().unwrap(), Loss::Hinge);
        assert!("hing".parse::<Loss>().unwrap_err().to_string().contains("did you mean `hinge`?"));
    }
}

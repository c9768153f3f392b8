//! What a learner sees in a trial.
//!
//! Vectors stand for features: what a learner calls φ(x) is known to it through the kernel of the left side, and ψ(z)
//! through that of the right side.

use crate::base::error::{Error, Result};
use crate::data::samples::{Samples, SamplesRef};
use faer::Mat;

/// The matrix of one trial, given by its vectors: M = Σ_a w_a·φ(x_a)ψ(z_a)ᵀ, or Σ_a w_a·φ(x_a)φ(x_a)ᵀ without `z`.
///
/// One vector on each side is an outer product, s of them a matrix of rank s.
///
/// ```
/// use lopsided::online::Instance;
///
/// let pair = Instance::pair(&[1.0, 0.0], &[0.5, 2.0, 1.0]);
/// assert_eq!((pair.rank(), pair.is_symmetric()), (1, false));
/// ```
#[derive(Clone, Debug)]
pub struct Instance {
    x: Samples<f64>,
    z: Option<Samples<f64>>,
    weights: Vec<f64>,
}

impl Instance {
    /// φ(x)ψ(z)ᵀ.
    pub fn pair(x: &[f64], z: &[f64]) -> Self {
        Instance { x: row(x), z: Some(row(z)), weights: vec![1.0] }
    }

    /// φ(x)φ(x)ᵀ.
    pub fn symmetric(x: &[f64]) -> Self {
        Instance { x: row(x), z: None, weights: vec![1.0] }
    }

    /// A matrix of rank s: one row of `x` (and of `z`) and one weight for each of its s terms; no weights mean 1.
    ///
    /// # Errors
    /// [`Error::Shape`] when the counts differ or are 0, [`Error::NotFinite`] for NaN and infinity.
    ///
    /// ```
    /// use lopsided::online::Instance;
    /// use lopsided::{Mat, Samples};
    ///
    /// let rows = Samples::Dense(Mat::from_fn(2, 3, |i, j| if i == j { 1.0 } else { 0.0 }));
    /// let projection = Instance::new(rows, None, vec![0.5, 0.5])?; // half a projection onto two axes
    /// assert_eq!((projection.rank(), projection.is_symmetric(), projection.weights()), (2, true, &[0.5, 0.5][..]));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn new(x: Samples<f64>, z: Option<Samples<f64>>, weights: Vec<f64>) -> Result<Self> {
        let count = x.count();
        let weights = if weights.is_empty() { vec![1.0; count] } else { weights };
        if count == 0 {
            return Err(Error::shape("number of vectors of an instance", "at least 1", 0));
        }
        if let Some(z) = z.as_ref().filter(|z| z.count() != count) {
            return Err(Error::shape("number of right vectors of an instance", count, z.count()));
        }
        if weights.len() != count {
            return Err(Error::shape("number of weights of an instance", count, weights.len()));
        }
        let instance = Instance { x, z, weights };
        instance.check_finite()?;
        Ok(instance)
    }

    /// Number s of its terms.
    pub fn rank(&self) -> usize {
        self.weights.len()
    }

    /// True without right vectors.
    pub fn is_symmetric(&self) -> bool {
        self.z.is_none()
    }

    /// The left vectors.
    pub fn left(&self) -> SamplesRef<'_, f64> {
        self.x.as_ref()
    }

    /// The right vectors; the left ones of a symmetric instance.
    pub fn right(&self) -> SamplesRef<'_, f64> {
        self.z.as_ref().unwrap_or(&self.x).as_ref()
    }

    /// The weight of each term.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// [`Error::NotFinite`] at the first NaN or infinity.
    pub(super) fn check_finite(&self) -> Result<()> {
        self.left().check_finite("the instance")?;
        self.right().check_finite("the instance")?;
        match self.weights.iter().position(|w| !w.is_finite()) {
            Some(row) => Err(Error::NotFinite {
                what: "the instance's weights".into(),
                value: self.weights[row].to_string(),
                row,
                col: 0,
            }),
            None => Ok(()),
        }
    }
}

fn row(values: &[f64]) -> Samples<f64> {
    Samples::Dense(Mat::from_fn(1, values.len(), |_, j| values[j]))
}

/// An instance and its label; the label of a gain is ignored.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What is shown.
    pub instance: Instance,
    /// What was to be predicted.
    pub label: f64,
}

//! Linear machines on explicit features, and logistic regression in feature or coefficient space.
//!
//! | machine | loss of a sample with margin m = y·f | method |
//! | --- | --- | --- |
//! | [`LinearSvm`] | max(0, 1 − m), or its square | dual coordinate descent |
//! | [`Logistic`] | log(1 + exp(−m)), or −log softmax for several classes | Newton's method with conjugate gradients |
//!
//! All minimise |w|²/2 + penalty·Σ_i weight_i·loss_i with a bias that is not penalised, as kernel machines have it.
//!
//! **Where to start:** [`LinearSvm`] or [`Logistic`] with `fit`, features in rows and [`Labels`]; both give
//! [`Hyperplanes`]. [`LinearSvm::fit_pairs`] learns a machine for every pair of classes instead, as kernel machines do.
//! Features come from [`crate::solvers::lowrank`], from the vectors of [`crate::KernelSvd`], or from anywhere else.
//!
//! ```
//! use lopsided::solvers::linear_machine::{Labels, LinearSvm, Logistic};
//! use lopsided::{Mat, Run};
//!
//! let x = Mat::from_fn(6, 1, |i, _| [-3.0, -2.0, -2.5, 2.0, 2.5, 3.0][i]);
//! let labels = Labels { codes: &[0, 0, 0, 1, 1, 1], classes: 2, weights: None };
//! let (planes, converged) = LinearSvm::new(1.0).fit(x.as_ref(), &labels, &Run::default())?;
//! assert!(converged);
//! assert_eq!(planes.predict(x.as_ref()), labels.codes);
//! let logistic = Logistic::new(1.0).fit(x.as_ref(), &labels, &Run::default())?;
//! assert_eq!(logistic.planes.predict(x.as_ref()), labels.codes);
//! # Ok::<(), lopsided::Error>(())
//! ```

mod logistic;
mod pairs;
mod space;
mod svm;

pub use logistic::{Logistic, LogisticSolution, softmax};
pub use pairs::LearnedPlane;
pub use svm::{HingeLoss, LinearSvm, LinearSvmFunction};

use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::data::samples::SamplesRef;
use crate::solvers::svm::check_weights;
use faer::{Mat, MatRef};

/// One hyperplane per class.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::solvers::linear_machine::Hyperplanes;
///
/// let planes = Hyperplanes { weights: Mat::from_fn(1, 2, |_, c| [-1.0, 1.0][c]), bias: vec![0.5, 0.0] };
/// let x = Mat::from_fn(2, 1, |i, _| [-1.0, 2.0][i]);
/// assert_eq!(planes.decision(x.as_ref())[(0, 0)], 1.5); // (−1)·(−1) + 0.5
/// assert_eq!(planes.predict(x.as_ref()), [0, 1]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperplanes {
    /// One column w_c per class.
    pub weights: Mat<f64>,
    /// One b_c per class.
    pub bias: Vec<f64>,
}

impl Hyperplanes {
    /// f_c(x_i) = w_cᵀx_i + b_c in row i, column c.
    ///
    /// # Panics
    /// If the features do not have the width the model was fitted with.
    pub fn decision(&self, features: MatRef<'_, f64>) -> Mat<f64> {
        let (width, fitted) = (features.ncols(), self.weights.nrows());
        assert!(width == fitted, "features have width {width}, the model {fitted}");
        let mut out = linalg::mul(features, self.weights.as_ref());
        for (c, &b) in self.bias.iter().enumerate() {
            out.col_mut(c).iter_mut().for_each(|f| *f += b);
        }
        out
    }

    /// The class with the largest decision value of each sample; the first one in a tie.
    ///
    /// # Panics
    /// If the features do not have the width the model was fitted with.
    pub fn predict(&self, features: MatRef<'_, f64>) -> Vec<u32> {
        largest_columns(self.decision(features).as_ref())
    }
}

/// The position of the largest entry of each row; the first one in a tie.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::solvers::linear_machine::largest_columns;
///
/// let scores = Mat::from_fn(2, 3, |i, c| [[1.0, 5.0, 2.0], [7.0, 7.0, 0.0]][i][c]);
/// assert_eq!(largest_columns(scores.as_ref()), [1, 0]);
/// ```
pub fn largest_columns(scores: MatRef<'_, f64>) -> Vec<u32> {
    let larger = |i: usize, best: usize, c: usize| if scores[(i, c)] > scores[(i, best)] { c } else { best };
    (0..scores.nrows()).map(|i| (1..scores.ncols()).fold(0, |best, c| larger(i, best, c)) as u32).collect()
}

/// Classes of samples that one machine learns together.
///
/// Weights multiply the losses of their samples; a sample of weight 0 stays out.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// Class of each sample, below `classes`.
    pub codes: &'a [u32],
    /// Number of classes, at least 2.
    pub classes: usize,
    /// What each sample counts; `None`: all the same.
    pub weights: Option<&'a [f64]>,
}

impl Labels<'_> {
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    fn check(&self, samples: usize) -> Result<()> {
        if self.codes.is_empty() || self.codes.len() != samples {
            return Err(Error::shape("number of labels", samples.max(1), self.codes.len()));
        }
        if self.classes < 2 {
            return Err(Error::param("classes", self.classes, "at least 2"));
        }
        if let Some(code) = self.codes.iter().find(|&&c| c as usize >= self.classes) {
            return Err(Error::param("class code", code, format!("less than the number of classes, {}", self.classes)));
        }
        self.weights.map_or(Ok(()), |w| check_weights(w, samples))
    }
}

fn check_features(features: MatRef<'_, f64>) -> Result<()> {
    SamplesRef::Dense(features).check_finite("features")
}

fn check_tol(tol: f64) -> Result<()> {
    if tol.is_finite() && tol > 0.0 { Ok(()) } else { Err(Error::param("tol", tol, "a number above 0")) }
}

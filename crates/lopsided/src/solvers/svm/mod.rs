//! Support vector machines by sequential minimal optimisation.
//!
//! With c_i = α_i·y_i the dual problem of a C-SVM reads: maximise yᵀc − ½·cᵀKc over 1ᵀc = 0 and c_i between 0 and C·y_i. Its
//! gradient is the residual r = y − K·c. Each step moves one pair, c_i += λ and c_j −= λ, along which r_i − r_j > 0 promises
//! a gain; nothing promises any once
//!
//! max {r_i : c_i may grow} − min {r_j : c_j may shrink} ≤ tol,
//!
//! which is the violation of the optimality conditions. i has the largest residual, j the largest gain
//! (r_i − r_j)²/(K_ii + K_jj − 2K_ij) to second order. A curvature that is not positive, as indefinite kernels have it, is
//! replaced by a tiny one: the pair then moves to a bound, and a stationary point is found instead of the maximum. A ν-SVM
//! has r = −K·c and pairs within each class.
//!
//! Few samples end up with a coefficient, so pairs are moved within a chunk of them only, whose rows of K are kept
//! ([`RowCache`]). Once the chunk is settled, the samples that violate the conditions most join it; the search ends when none
//! does. K is never held as a whole: only the rows of samples that were in the chunk are evaluated, and where the chunk outgrows
//! its memory, members leave it again.
//!
//! ```
//! use lopsided::operator::DenseOperator;
//! use lopsided::solvers::svm::{CSvm, Part, RowCache};
//! use lopsided::{Mat, Run};
//!
//! let k = Mat::from_fn(4, 4, |i, j| (-((i as f64 - j as f64).powi(2))).exp());
//! let operator = DenseOperator::Borrowed(k.as_ref());
//! let rows = RowCache::new(&operator, 1 << 20)?;
//! let found = CSvm::new(1.0).solve(&rows, &Part::all(&[1.0, 1.0, -1.0, -1.0]), &Run::default())?;
//! assert!(found.verdict.converged() && found.bias.abs() < 1e-3);
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! **Where to start:** [`CSvm`] or [`NuSvm`] for two classes, [`Classes::learn`] with a [`Machine`] for several. A
//! machine reads K through a [`RowCache`] and learns from a [`Part`] of its samples, so that machines for pairs of
//! classes share one K.
//!
//! | file | what it does |
//! | --- | --- |
//! | `smo` | the search: which samples are in the chunk, when it ends |
//! | `chunk` | the rows of K of the chunk's members, laid out for vector units |
//! | `inner` | moves pairs within the chunk |
//! | `lanes` | the inner loops, eight numbers side by side |
//! | `classes` | several classes by machines for two |
//! | `probability` | from decision values to probabilities |

mod c_svm;
mod chunk;
mod classes;
mod inner;
mod lanes;
mod nu_svm;
mod probability;
mod row_cache;
mod smo;

pub use c_svm::CSvm;
pub use classes::{Classes, Learned, Machine, MultiClass, Pair, class_probabilities, class_values};
pub use nu_svm::NuSvm;
pub(crate) use probability::CERTAIN;
pub(crate) use probability::held_out;
pub use probability::{Sigmoid, coupled};
pub use row_cache::RowCache;

use crate::base::error::{Error, Result};
use crate::base::verdict::Verdict;

/// The samples of K that one machine learns from.
///
/// ```
/// use lopsided::solvers::svm::Part;
///
/// let part = Part::all(&[1.0, -1.0]).with_weights(vec![1.5, 0.5]);
/// assert_eq!((part.places, part.weights), (vec![0, 1], Some(vec![1.5, 0.5])));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Places in K.
    pub places: Vec<usize>,
    /// 1 or −1 for each.
    pub y: Vec<f64>,
    /// What each counts, 1 on average; `None`: all the same.
    pub weights: Option<Vec<f64>>,
}

impl Part {
    /// All samples, which count the same.
    pub fn all(y: &[f64]) -> Self {
        Part { places: (0..y.len()).collect(), y: y.to_vec(), weights: None }
    }

    /// The same with weights.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[i])
    }

    /// Some of the samples.
    fn select(&self, which: &[usize]) -> Self {
        Part {
            places: which.iter().map(|&i| self.places[i]).collect(),
            y: which.iter().map(|&i| self.y[i]).collect(),
            weights: self.weights.as_ref().map(|w| which.iter().map(|&i| w[i]).collect()),
        }
    }

    fn check(&self, rows: &RowCache<'_>) -> Result<()> {
        if self.y.is_empty() || self.y.len() != self.places.len() {
            return Err(Error::shape("number of labels", self.places.len().max(1), self.y.len()));
        }
        if let Some(place) = self.places.iter().find(|&&i| i >= rows.len()) {
            return Err(Error::shape("the kernel matrix", format!("larger than {place}"), rows.len()));
        }
        self.weights.as_ref().map_or(Ok(()), |w| check_weights(w, self.y.len()))?;
        match self.places.iter().find(|&&i| !rows.diagonal()[i].is_finite()) {
            Some(&i) => {
                let value = rows.diagonal()[i].to_string();
                Err(Error::NotFinite { what: "the kernel matrix".into(), value, row: i, col: i })
            }
            None => Ok(()),
        }
    }
}

/// Refuses weights that are negative or not finite, all zero, or not one for each sample.
pub(crate) fn check_weights(weights: &[f64], samples: usize) -> Result<()> {
    if weights.len() != samples {
        return Err(Error::shape("the number of weights", format!("{samples}, one for each sample"), weights.len()));
    }
    if let Some((i, w)) = weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
        return Err(Error::param("weights", format!("{w} for sample {i}"), "finite numbers of at least 0"));
    }
    if weights.iter().any(|w| *w > 0.0) {
        return Ok(());
    }
    Err(Error::param("weights", "0 for every sample", "above 0 for some of them"))
}

/// The function f(x) = Σ_i k(x, x_i)·c_i + bias.
///
/// Samples with c_i = 0 do not matter: those with another coefficient are the support vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct SvmSolution {
    /// c_i = α_i·y_i.
    pub coefficients: Vec<f64>,
    /// The bias: y − K·c averaged over the samples between the bounds.
    pub bias: f64,
    /// ρ of a ν-SVM, whose coefficients and bias are divided by it unless it is 0; 1 for a C-SVM.
    pub margin: f64,
    /// Pairs moved.
    pub steps: usize,
    /// The violation of the optimality conditions, against `tol`.
    pub verdict: Verdict,
}

impl SvmSolution {
    /// f at some samples of K, from the samples of `part` that it was learned from.
    pub(crate) fn values(&self, rows: &RowCache<'_>, part: &Part, at: &[usize]) -> Result<Vec<f64>> {
        let mut out = vec![self.bias; at.len()];
        let supports = part.places.iter().zip(&self.coefficients).filter(|(_, c)| **c != 0.0);
        let (places, negative): (Vec<usize>, Vec<f64>) = supports.map(|(&place, c)| (place, -c)).unzip();
        rows.subtract(at, &places, &negative, &mut out)?;
        Ok(out)
    }
}

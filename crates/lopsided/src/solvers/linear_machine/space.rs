//! One algebra for two kinds of functions, so that an optimiser is written once.
//!
//! | | explicit features | kernel matrix |
//! | --- | --- | --- |
//! | coefficients | w | a with w = Σ_i a_i·φ(x_i) |
//! | ⟨w_f, w_g⟩ | w_fᵀ·w_g | a_fᵀ·K·a_g |
//! | values at the samples | X·w | K·a |
//!
//! Coefficients and values are kept side by side: sums and inner products of functions then cost no product with X or
//! K.

use crate::base::error::Result;
use crate::base::linalg;
use crate::operator::Operator;
use faer::{Mat, MatRef};

/// Where functions f = ⟨w, φ(x)⟩ + b live: w itself for explicit features, w = Σ_i a_i·φ(x_i) for a kernel matrix.
pub(super) enum Space<'a> {
    Features(MatRef<'a, f64>),
    Kernel(&'a dyn Operator<f64>),
}

/// Some functions, one per column.
#[derive(Clone)]
pub(super) struct Functions {
    /// w or a.
    pub(super) coefficients: Mat<f64>,
    /// ⟨w, φ(x_i)⟩ of all samples, kept beside so that moving along a direction costs no product.
    pub(super) scores: Mat<f64>,
    pub(super) bias: Vec<f64>,
}

impl Space<'_> {
    pub(super) fn samples(&self) -> usize {
        match self {
            Space::Features(x) => x.nrows(),
            Space::Kernel(k) => k.nrows(),
        }
    }

    pub(super) fn zero(&self, functions: usize) -> Functions {
        let size = match self {
            Space::Features(x) => x.ncols(),
            Space::Kernel(k) => k.nrows(),
        };
        let scores = Mat::zeros(self.samples(), functions);
        Functions { coefficients: Mat::zeros(size, functions), scores, bias: vec![0.0; functions] }
    }

    /// The function whose inner product with any g is Σ_i r_i·g(x_i): w = Σ_i r_i·φ(x_i), b = Σ_i r_i.
    pub(super) fn represented(&self, r: Mat<f64>) -> Result<Functions> {
        let bias = r.col_iter().map(|col| col.iter().sum()).collect();
        match self {
            Space::Features(x) => {
                let coefficients = linalg::transpose_mul(*x, r.as_ref());
                let scores = linalg::mul(*x, coefficients.as_ref());
                Ok(Functions { coefficients, scores, bias })
            }
            Space::Kernel(k) => {
                let mut scores = Mat::zeros(k.nrows(), r.ncols());
                k.apply(r.as_ref(), scores.as_mut())?;
                Ok(Functions { coefficients: r, scores, bias })
            }
        }
    }

    /// The same functions with values by a product of their coefficients.
    pub(super) fn evaluated(&self, f: Functions) -> Result<Functions> {
        let scores = match self {
            Space::Features(x) => linalg::mul(*x, f.coefficients.as_ref()),
            Space::Kernel(k) => {
                let mut scores = Mat::zeros(k.nrows(), f.coefficients.ncols());
                k.apply(f.coefficients.as_ref(), scores.as_mut())?;
                scores
            }
        };
        Ok(Functions { scores, ..f })
    }

    /// ⟨w_f, w_g⟩, without the biases.
    pub(super) fn inner(&self, f: &Functions, g: &Functions) -> f64 {
        match self {
            Space::Features(_) => dot(&f.coefficients, &g.coefficients),
            Space::Kernel(_) => dot(&f.coefficients, &g.scores),
        }
    }

    /// The same with the biases.
    pub(super) fn whole_inner(&self, f: &Functions, g: &Functions) -> f64 {
        self.inner(f, g) + f.bias.iter().zip(&g.bias).map(|(a, b)| a * b).sum::<f64>()
    }
}

impl Functions {
    /// self += share·other.
    pub(super) fn add(&mut self, other: &Functions, share: f64) {
        self.coefficients += &other.coefficients * faer::Scale(share);
        self.scores += &other.scores * faer::Scale(share);
        self.bias.iter_mut().zip(&other.bias).for_each(|(a, b)| *a += share * b);
    }

    /// share·self + other.
    pub(super) fn scaled_plus(mut self, share: f64, other: &Functions) -> Self {
        self.coefficients *= faer::Scale(share);
        self.scores *= faer::Scale(share);
        self.bias.iter_mut().for_each(|b| *b *= share);
        self.add(other, 1.0);
        self
    }

    /// Adds w of another function, not its bias.
    pub(super) fn add_without_bias(&mut self, other: &Functions) {
        self.coefficients += &other.coefficients;
        self.scores += &other.scores;
    }

    /// f(x_i) in row i.
    pub(super) fn values(&self) -> Mat<f64> {
        Mat::from_fn(self.scores.nrows(), self.scores.ncols(), |i, c| self.scores[(i, c)] + self.bias[c])
    }
}

fn dot(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum::<f64>()).sum()
}

//! How far U·Σ·Vᵀ is from G, without the exact solution.
//!
//! | estimate | what it takes | what it is good for |
//! | --- | --- | --- |
//! | [`Probes`] | a product with ten Gaussian vectors | any G that can be multiplied |
//! | [`Patch`] | 256 × 256 random entries | G of which only blocks are in reach |
//!
//! Both give relative errors in the Frobenius norm. Neither is a bound: an error that is concentrated in few rows and
//! columns can hide from a patch, and ten probes are off by a factor of two now and then.

use super::{Run, Svd};
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::operator::{Operator, Submatrix};
use faer::{Mat, MatRef};

/// Random vectors of an estimate: with ten, the estimate of a matrix of rank one is off by a factor above 2 in 1 % of draws.
pub(super) const PROBES: usize = 10;
/// Rows and columns of a [`Patch`].
const PATCH: usize = 256;

/// A few Gaussian vectors ω and G·ω: E‖A·ω‖² = ‖A‖_F² for any matrix A.
pub(super) struct Probes<T> {
    omega: Mat<T>,
    image: Mat<T>,
}

impl<T: Scalar> Probes<T> {
    /// One product with [`PROBES`] vectors.
    pub(super) fn new(g: &dyn Operator<T>, run: &Run) -> Result<Self> {
        let omega = random::gaussian(g.ncols(), PROBES, &mut random::generator(run.seed, Purpose::ErrorProbes));
        let mut image = Mat::zeros(g.nrows(), PROBES);
        g.apply(omega.as_ref(), image.as_mut())?;
        Ok(Probes { omega, image })
    }

    /// Estimate of ‖G − U·Σ·Vᵀ‖_F / ‖G‖_F; 0 for a zero matrix.
    pub(super) fn relative_error(&self, svd: &Svd<T>) -> f64 {
        let mut inner = linalg::transpose_mul(svd.v.as_ref(), self.omega.as_ref());
        scale_rows(&mut inner, &svd.sigma);
        let known = linalg::mul(svd.u.as_ref(), inner.as_ref());
        let squares = |a: &Mat<T>| linalg::column_norms(a.as_ref()).into_iter().map(|n| n * n).collect::<Vec<_>>();
        let error = mean(&squares(&(&self.image - &known)));
        ratio(error, self.square_of_norm(&squares(&known), squared_norm(svd)))
    }

    /// Estimate of ‖G‖_F², helped by the known norm of the approximation A where ‖G·ω‖² and ‖A·ω‖² go together.
    ///
    /// ‖A‖_F² is known exactly, so ‖G·ω‖² − ‖A·ω‖² + ‖A‖_F² has the same mean as ‖G·ω‖² and, where A is near G, far
    /// less scatter. Whichever scatters less over the probes is averaged.
    fn square_of_norm(&self, known: &[f64], exact: f64) -> f64 {
        let plain: Vec<f64> = linalg::column_norms(self.image.as_ref()).into_iter().map(|n| n * n).collect();
        let helped: Vec<f64> = plain.iter().zip(known).map(|(g, a)| g - a + exact).collect();
        if spread(&helped) < spread(&plain) && mean(&helped) > 0.0 { mean(&helped) } else { mean(&plain) }
    }
}

/// ‖U·Σ·Vᵀ‖_F² for columns that need not be orthogonal.
///
/// tr(V·Σ·UᵀU·Σ·Vᵀ) = Σ_{k,l} σ_k·σ_l·(UᵀU)_kl·(VᵀV)_kl.
fn squared_norm<T: Scalar>(svd: &Svd<T>) -> f64 {
    let (uu, vv) =
        (linalg::transpose_mul(svd.u.as_ref(), svd.u.as_ref()), linalg::transpose_mul(svd.v.as_ref(), svd.v.as_ref()));
    let sigma: Vec<f64> = svd.sigma.iter().map(|s| s.as_f64()).collect();
    let term = |k: usize, l: usize| sigma[k] * sigma[l] * (uu[(k, l)] * vv[(k, l)]).as_f64();
    (0..sigma.len()).flat_map(|k| (0..sigma.len()).map(move |l| (k, l))).map(|(k, l)| term(k, l)).sum()
}

/// A random block of entries, for matrices whose products are out of reach.
pub(super) struct Patch<T> {
    pub(super) rows: Vec<usize>,
    pub(super) cols: Vec<usize>,
    entries: Mat<T>,
}

impl<T: Scalar> Patch<T> {
    /// Evaluates a block of at most 256 × 256 entries.
    pub(super) fn new(g: &dyn Operator<T>, run: &Run) -> Result<Self> {
        let pick =
            |size: usize, purpose| random::subset(size, PATCH.min(size), &mut random::generator(run.seed, purpose));
        let (rows, cols) = (pick(g.nrows(), Purpose::PatchRows), pick(g.ncols(), Purpose::PatchCols));
        let mut entries = Mat::zeros(rows.len(), cols.len());
        g.block(&rows, &cols, entries.as_mut())?;
        Ok(Patch { rows, cols, entries })
    }

    /// ‖(G − U·Σ·Vᵀ)\[rows, cols\]‖_F / ‖G\[rows, cols\]‖_F from the rows of U and V that belong to the patch.
    pub(super) fn relative_error(&self, u: MatRef<'_, T>, sigma: &[T], v: MatRef<'_, T>) -> f64 {
        let mut scaled = v.transpose().to_owned();
        scale_rows(&mut scaled, sigma);
        let error = (&self.entries - linalg::mul(u, scaled.as_ref())).norm_l2().as_f64();
        ratio(error * error, self.entries.norm_l2().as_f64().powi(2))
    }

    /// max(‖G v − σ u‖, ‖Gᵀu − σ v‖) of the triplets, estimated from the rows and columns of the patch.
    pub(super) fn residual_lengths(&self, g: &dyn Operator<T>, svd: &Svd<T>) -> Result<Vec<f64>> {
        let mut gv = Mat::zeros(self.rows.len(), svd.sigma.len());
        Submatrix::new(g, Some(&self.rows), None).apply(svd.v.as_ref(), gv.as_mut())?;
        let left = svd.distances(gv.as_ref(), select(&svd.u, &self.rows).as_ref());
        let mut gu = Mat::zeros(self.cols.len(), svd.sigma.len());
        Submatrix::new(g, None, Some(&self.cols)).apply_transpose(svd.u.as_ref(), gu.as_mut())?;
        let right = svd.distances(gu.as_ref(), select(&svd.v, &self.cols).as_ref());
        let (n, m) = self.shares(g);
        Ok(left.iter().zip(&right).map(|(l, r)| (l * n).max(r * m)).collect())
    }

    /// √(n/rows) and √(m/cols): how much longer a vector is than its part in the patch.
    pub(super) fn shares(&self, g: &dyn Operator<T>) -> (f64, f64) {
        let root = |all: usize, part: usize| (all as f64 / part as f64).sqrt();
        (root(g.nrows(), self.rows.len()), root(g.ncols(), self.cols.len()))
    }
}

/// Some rows of a matrix.
pub(super) fn select<T: Scalar>(a: &Mat<T>, rows: &[usize]) -> Mat<T> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

fn scale_rows<T: Scalar>(a: &mut Mat<T>, factors: &[T]) {
    for column in a.as_mut().col_iter_mut() {
        column.iter_mut().zip(factors).for_each(|(v, s)| *v *= *s);
    }
}

fn ratio(error: f64, whole: f64) -> f64 {
    if error == 0.0 { 0.0 } else { (error / whole.max(f64::MIN_POSITIVE)).sqrt() }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn spread(values: &[f64]) -> f64 {
    let center = mean(values);
    values.iter().map(|v| (v - center).powi(2)).sum()
}

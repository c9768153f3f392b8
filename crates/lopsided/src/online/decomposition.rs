//! Decompositions of X·C·Yᵀ from the two kernel matrices alone.
//!
//! The lemma behind the learners, for matrices that are given as a whole. The learners themselves never call it: they
//! update a factored form instead, which costs O(t·r + r³) a trial where this costs T³.

use super::matrices::{eigen, product, svd};
use crate::base::error::{Error, Result};
use faer::{Mat, MatRef};

/// Singular values below this share of the largest possible one count as 0.
const NOTHING: f64 = 1e-12;

/// X·C·Yᵀ = Ũ·diag(σ)·Ṽᵀ with Ũ = X·`left` and Ṽ = Y·`right` of orthonormal columns.
#[derive(Clone, Debug)]
pub struct ProductSvd {
    /// Coefficients of Ũ, one column for each singular value.
    pub left: Mat<f64>,
    /// Descending, all above 0.
    pub sigma: Vec<f64>,
    /// Coefficients of Ṽ.
    pub right: Mat<f64>,
}

/// X·C·Xᵀ = Ũ·diag(λ)·Ũᵀ with Ũ = X·`vectors` of orthonormal columns.
#[derive(Clone, Debug)]
pub struct ProductEigen {
    /// Coefficients of Ũ, one column for each eigenvalue.
    pub vectors: Mat<f64>,
    /// Descending, none 0; they may be negative.
    pub values: Vec<f64>,
}

/// The compact SVD of X·C·Yᵀ, \[KMU\] Lemma 4.1, from the kernel matrices XᵀX and YᵀY; the columns of X and Y are the instances.
///
/// With UΣVᵀ the SVD of √(XᵀX)·C·√(YᵀY), `left` is C·√(YᵀY)·V·Σ⁻¹ and `right` is Cᵀ·√(XᵀX)·U·Σ⁻¹.
///
/// # Errors
/// [`Error::Shape`] when the sizes do not fit, [`Error::NotFinite`] for entries that are not finite.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::online::product_svd;
///
/// let x = Mat::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
/// let y = Mat::from_fn(4, 2, |i, j| 1.0 / (1 + i + j) as f64);
/// let c = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { -0.5 });
/// let found = product_svd((x.transpose() * &x).as_ref(), c.as_ref(), (y.transpose() * &y).as_ref())?;
/// let sigma = Mat::from_fn(2, 2, |i, j| if i == j { found.sigma[i] } else { 0.0 });
/// let back = &x * &found.left * sigma * (&y * &found.right).transpose();
/// assert!((back - &x * &c * y.transpose()).norm_max() < 1e-10);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn product_svd(gram_x: MatRef<'_, f64>, c: MatRef<'_, f64>, gram_y: MatRef<'_, f64>) -> Result<ProductSvd> {
    check("C", c, (gram_x.nrows(), gram_y.nrows()))?;
    let (root_x, root_y) = (root(gram_x)?, root(gram_y)?);
    let c_y = product(c, root_y.as_ref());
    let x_c = product(root_x.as_ref(), c);
    let found = svd(product(root_x.as_ref(), c_y.as_ref()).as_ref())?;
    let kept = found.sigma.iter().take_while(|s| **s > NOTHING * found.sigma[0]).count();
    let sigma = found.sigma[..kept].to_vec();
    let divided = |m: Mat<f64>| Mat::from_fn(m.nrows(), kept, |i, j| m[(i, j)] / sigma[j]);
    let left = divided(product(c_y.as_ref(), found.v.as_ref()));
    let right = divided(product(x_c.transpose(), found.u.as_ref()));
    Ok(ProductSvd { left, sigma, right })
}

/// The compact eigendecomposition of X·C·Xᵀ for symmetric C, the second part of \[KMU\] Lemma 4.1.
///
/// With U·Λ·Uᵀ the eigendecomposition of √(XᵀX)·C·√(XᵀX), `vectors` is C·√(XᵀX)·U·Λ⁻¹.
///
/// # Errors
/// [`Error::Shape`] when the sizes do not fit, [`Error::NotFinite`] for entries that are not finite.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::online::product_eigen;
///
/// // Orthonormal instances: the decomposition of X·C·Xᵀ is that of C.
/// let c = Mat::from_fn(2, 2, |i, j| if i == j { [2.0, -1.0][i] } else { 0.0 });
/// let found = product_eigen(Mat::<f64>::identity(2, 2).as_ref(), c.as_ref())?;
/// assert!((found.values[0] - 2.0).abs() < 1e-12 && (found.values[1] + 1.0).abs() < 1e-12);
/// assert!((found.vectors[(0, 0)].abs() - 1.0).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn product_eigen(gram: MatRef<'_, f64>, c: MatRef<'_, f64>) -> Result<ProductEigen> {
    check("C", c, (gram.nrows(), gram.nrows()))?;
    let root = root(gram)?;
    let c_root = product(c, root.as_ref());
    let found = eigen(product(root.as_ref(), c_root.as_ref()).as_ref())?;
    let largest = found.values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    let kept: Vec<usize> = (0..found.values.len()).filter(|i| found.values[*i].abs() > NOTHING * largest).collect();
    let turned = product(c_root.as_ref(), found.vectors.as_ref());
    let values: Vec<f64> = kept.iter().map(|i| found.values[*i]).collect();
    let vectors = Mat::from_fn(turned.nrows(), kept.len(), |i, j| turned[(i, kept[j])] / values[j]);
    Ok(ProductEigen { vectors, values })
}

fn check(what: &str, a: MatRef<'_, f64>, expected: (usize, usize)) -> Result<()> {
    let text = |(n, m): (usize, usize)| format!("{n} x {m}");
    if a.shape() == expected { Ok(()) } else { Err(Error::shape(what, text(expected), text(a.shape()))) }
}

/// The symmetric square root of a kernel matrix; eigenvalues below 0 by rounding count as 0.
fn root(gram: MatRef<'_, f64>) -> Result<Mat<f64>> {
    check("a kernel matrix", gram, (gram.nrows(), gram.nrows()))?;
    let found = eigen(gram)?;
    let scaled =
        Mat::from_fn(gram.nrows(), gram.nrows(), |i, j| found.vectors[(i, j)] * found.values[j].max(0.0).sqrt());
    Ok(product(scaled.as_ref(), found.vectors.transpose()))
}

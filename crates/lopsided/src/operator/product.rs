//! The linear kernel, for which forming G would be a waste.

use super::{Access, Operator};
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, SamplesRef};
use crate::kernel::pair::Meeting;
use crate::products::sparse_product::multiply as multiply_sparse;
use faer::{Mat, MatMut, MatRef};

/// The linear kernel's G = X·Zᵀ as two products with the samples: G·V = X(ZᵀV), never formed.
///
/// # Cost
/// (nnz(X) + nnz(Z))·r operations for r vectors; sparse samples are held once more, transposed.
///
/// ```
/// use lopsided::operator::{Operator, ProductOperator};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(1, 2, |_, j| [1.0, 2.0][j]));
/// let z = Samples::Dense(Mat::from_fn(2, 2, |i, j| [[3.0, 4.0], [5.0, 6.0]][i][j]));
/// let g = ProductOperator::new(x.as_ref(), z.as_ref())?;
/// let mut sum = Mat::zeros(1, 1);
/// g.apply(Mat::from_fn(2, 1, |_, _| 1.0).as_ref(), sum.as_mut())?;
/// assert_eq!(sum[(0, 0)], 28.0); // (3 + 8) + (5 + 12)
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct ProductOperator<'a, T: Scalar> {
    x: SamplesRef<'a, T>,
    z: SamplesRef<'a, T>,
    /// Transposes of sparse samples, so that both products run over rows.
    transposes: Option<(Csr<T>, Csr<T>)>,
}

impl<'a, T: Scalar> ProductOperator<'a, T> {
    /// G = X·Zᵀ for samples of equal width.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of different widths.
    pub fn new(x: SamplesRef<'a, T>, z: SamplesRef<'a, T>) -> Result<Self> {
        if x.width() != z.width() {
            return Err(Error::shape("the width of the column samples", x.width(), z.width()));
        }
        let transposes = match (x, z) {
            (SamplesRef::Sparse(x), SamplesRef::Sparse(z)) => {
                Some((x.to_owned().transpose(), z.to_owned().transpose()))
            }
            _ => None,
        };
        Ok(ProductOperator { x, z, transposes })
    }
}

impl<T: Scalar> Operator<T> for ProductOperator<'_, T> {
    fn nrows(&self) -> usize {
        self.x.count()
    }

    fn ncols(&self) -> usize {
        self.z.count()
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        Meeting::Dot.tile(self.x.select(rows).as_ref(), self.z.select(cols).as_ref(), out);
        Ok(())
    }

    fn access(&self) -> Access {
        Access::Products
    }

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let inner = self.transposes.as_ref().map(|t| &t.1);
        multiply(self.x, gather(self.z, inner, v).as_ref(), out);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        let inner = self.transposes.as_ref().map(|t| &t.0);
        multiply(self.z, gather(self.x, inner, u).as_ref(), out);
        Ok(())
    }
}

/// samplesᵀ·v.
fn gather<T: Scalar>(samples: SamplesRef<'_, T>, transpose: Option<&Csr<T>>, v: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(samples.width(), v.ncols());
    match (samples, transpose) {
        (_, Some(t)) => multiply_sparse(&[t.as_ref()], v, None, out.as_mut()),
        (SamplesRef::Dense(m), None) => out = linalg::transpose_mul(m, v),
        (SamplesRef::Sparse(s), None) => multiply_sparse(&[s.to_owned().transpose().as_ref()], v, None, out.as_mut()),
    }
    out
}

/// out ← samples·h.
pub(crate) fn multiply<T: Scalar>(samples: SamplesRef<'_, T>, h: MatRef<'_, T>, mut out: MatMut<'_, T>) {
    match samples {
        SamplesRef::Sparse(s) => multiply_sparse(&[s], h, None, out),
        SamplesRef::Dense(m) => {
            out.fill(T::zero());
            linalg::add_mul(out, m, h, T::one());
        }
    }
}

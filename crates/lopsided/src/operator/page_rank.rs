//! Random walks with restart as a kernel of a graph's nodes.

use super::{Katz, Operator};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::Csr;
use crate::operator::delegated;
use faer::{MatMut, MatRef};

/// Personalised PageRank, R = (1 − α)·(I − αP)⁻¹ = (1 − α)·Σ_{k ≥ 0} (αP)^k: where a walk over P that ends with probability
/// 1 − α before each step is found at its end.
///
/// Rows of R sum to 1 where those of P do. Neither the inverse nor R is formed; R·V is (1 − α)·V and [`Katz`] terms.
///
/// # Cost
/// O(nnz(P)·r) per term for r vectors; log(ε) / log(α) terms, about 222 in double precision for α = 0.85.
///
/// ```
/// use lopsided::operator::{Operator, PageRank};
/// use lopsided::{Csr, Mat};
///
/// // Two nodes that point at each other: a walk ends where it began after an even number of steps.
/// let walk = PageRank::new(Csr::from_triplets(2, 2, &[(0, 1, 1.0_f64), (1, 0, 1.0)]), 0.5)?;
/// let mut row = Mat::zeros(1, 2);
/// walk.block(&[0], &[0, 1], row.as_mut())?;
/// assert!((row[(0, 0)] - 2.0 / 3.0).abs() < 1e-12 && (row[(0, 0)] + row[(0, 1)] - 1.0).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct PageRank<T> {
    /// Σ_{k ≥ 1} (αP)^k.
    steps: Katz<T>,
    alpha: f64,
}

impl<T: Scalar> PageRank<T> {
    /// The walk over P that goes on with probability α.
    ///
    /// # Errors
    /// [`Error::Shape`] unless P is square, [`Error::NotFinite`], [`Error::Param`] for an α that is not below 1 and below
    /// 1 / spectral radius of P.
    pub fn new(p: Csr<T>, alpha: f64) -> Result<Self> {
        let allowed =
            "above 0, below 1 and below 1 / spectral radius of the graph's matrix, whose rows should sum to 1";
        let refused = || Error::param("alpha", alpha, allowed);
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(refused());
        }
        let steps =
            Katz::new(p, Some(alpha)).map_err(|e| if matches!(e, Error::Param { .. }) { refused() } else { e })?;
        Ok(PageRank { steps, alpha })
    }

    /// out ← (1 − α)·(v + out).
    fn with_start(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) {
        let end = T::of(1.0 - self.alpha);
        for (sum, start) in out.col_iter_mut().zip(v.col_iter()) {
            sum.iter_mut().zip(start.iter()).for_each(|(s, v)| *s = end * (*s + *v));
        }
    }
}

impl<T: Scalar> Operator<T> for PageRank<T> {
    delegated!(steps: size, products);

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.steps.apply(v, out.as_mut())?;
        self.with_start(v, out);
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.steps.apply_transpose(u, out.as_mut())?;
        self.with_start(u, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn rows_sum_to_one_and_follow_the_links() {
        let cycle = Csr::from_triplets(3, 3, &[(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)]);
        let rank = PageRank::new(cycle, 0.5).unwrap();
        let mut r = Mat::<f64>::zeros(3, 3);
        rank.apply(Mat::<f64>::identity(3, 3).as_ref(), r.as_mut()).unwrap();
        let expected = faer::mat![[4.0, 2.0, 1.0], [1.0, 4.0, 2.0], [2.0, 1.0, 4.0]] * faer::Scale(1.0 / 7.0);
        assert!((&r - &expected).norm_max() < 1e-15, "{r:?}");
    }

    #[test]
    fn alpha_outside_its_range_is_refused() {
        let cycle = |weight: f64| Csr::from_triplets(2, 2, &[(0, 1, weight), (1, 0, weight)]);
        for (weight, alpha) in [(1.0, 0.0), (1.0, 1.0), (1.0, f64::NAN), (2.0, 0.85)] {
            let text = PageRank::new(cycle(weight), alpha).err().unwrap().to_string();
            assert!(text.starts_with("`alpha` is") && text.contains("sum to 1"), "{text}");
        }
    }
}

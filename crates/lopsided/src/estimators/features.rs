//! The common currency of methods that embed: what evaluations and comparisons read.

use super::{KernelSvdModel, Scaling};
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::solvers::svd::{SolveReport, Svd};
use faer::{Mat, MatRef};

/// What a method says about its samples: singular vectors with their values, of one side or of both.
///
/// Methods are compared through this one type: the features of sample i are row i of U·Σ^p and, for a method with two
/// sides, row i of V·Σ^p beside it.
///
/// ```
/// use lopsided::solvers::svd::{SolveReport, Svd};
/// use lopsided::{Features, Mat, Scaling};
///
/// let eye = Mat::<f64>::identity(2, 2);
/// let report = SolveReport::default();
/// let svd = Svd { u: eye.clone(), sigma: vec![4.0, 1.0], v: eye, extension: None, report };
/// let both = Features::two_sided(svd, Scaling::Sqrt);
/// assert_eq!((both.rank(), both.sides()), (2, 2));
/// assert_eq!(both.matrix()[(0, 0)], 2.0); // √4, and the same in column 2, on the other side
/// assert_eq!(both.matrix()[(0, 2)], 2.0);
/// assert_eq!(both.one_sided().matrix().shape(), (2, 2));
/// ```
#[derive(Clone, Debug)]
pub struct Features<T> {
    /// Left singular vectors, or eigenvectors of a symmetric method.
    pub u: Mat<T>,
    /// Right singular vectors; `None` for a method with one side.
    pub v: Option<Mat<T>>,
    /// Singular values, descending.
    pub sigma: Vec<T>,
    /// The power p of Σ in the features.
    pub scaling: Scaling,
    /// The solver's account of its work.
    pub report: SolveReport,
}

impl<T: Scalar> Features<T> {
    /// Both sides of a decomposition.
    pub fn two_sided(svd: Svd<T>, scaling: Scaling) -> Self {
        Features { u: svd.u, v: Some(svd.v), sigma: svd.sigma, scaling, report: svd.report }
    }

    /// The row side alone.
    pub fn one_sided(self) -> Self {
        Features { v: None, ..self }
    }

    /// Number of components of each side.
    pub fn rank(&self) -> usize {
        self.sigma.len()
    }

    /// Number of sides, 1 or 2.
    pub fn sides(&self) -> usize {
        1 + usize::from(self.v.is_some())
    }

    /// U or V; a method with one side has U on both.
    pub fn vectors(&self, side: Side) -> MatRef<'_, T> {
        match (side, &self.v) {
            (Side::Col, Some(v)) => v.as_ref(),
            _ => self.u.as_ref(),
        }
    }

    /// U·Σ^p or V·Σ^p for any power.
    ///
    /// With p = 1 on one side and 0 on the other the product of both sides is what these triplets know of G, which
    /// link scores use.
    pub fn scaled(&self, side: Side, power: f64) -> Mat<T> {
        let vectors = self.vectors(side);
        let factors: Vec<T> = self.sigma.iter().map(|s| s.powf(T::of(power))).collect();
        Mat::from_fn(vectors.nrows(), factors.len(), |i, k| vectors[(i, k)] * factors[k])
    }

    /// The features of all row samples: \[U·Σ^p, V·Σ^p\], or U·Σ^p for one side.
    ///
    /// # Panics
    /// If there are two sides with different numbers of samples.
    pub fn matrix(&self) -> Mat<T> {
        let (n, r) = (self.u.nrows(), self.rank());
        let mut out = Mat::zeros(n, r * self.sides());
        for (at, side) in [Side::Row, Side::Col].into_iter().take(self.sides()).enumerate() {
            out.as_mut().subcols_mut(at * r, r).copy_from(self.scaled(side, self.scaling.power()));
        }
        out
    }
}

impl<T: Scalar> From<KernelSvdModel<T>> for Features<T> {
    fn from(model: KernelSvdModel<T>) -> Self {
        Features::two_sided(model.svd, model.scaling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_stand_beside_each_other() {
        let features = Features {
            u: faer::mat![[1.0, 2.0], [3.0, 4.0]],
            v: Some(faer::mat![[5.0, 6.0], [7.0, 8.0]]),
            sigma: vec![4.0, 1.0],
            scaling: Scaling::Sqrt,
            report: SolveReport::default(),
        };
        assert_eq!(features.matrix(), faer::mat![[2.0, 2.0, 10.0, 6.0], [6.0, 4.0, 14.0, 8.0]]);
        let alone = features.one_sided();
        assert_eq!(alone.matrix(), faer::mat![[2.0, 2.0], [6.0, 4.0]]);
        assert_eq!(alone.vectors(Side::Col), alone.vectors(Side::Row));
    }
}

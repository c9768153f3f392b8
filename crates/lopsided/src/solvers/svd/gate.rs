//! The one place that says whether triplets have converged.
//!
//! Triplet i has converged when max(‖G v_i − σ_i u_i‖, ‖Gᵀu_i − σ_i v_i‖) ≤ tol·σ_i with its *own* σ_i. Kernels of wide
//! bandwidth have σ₁ thousands of times larger than σ₂; a residual relative to σ₁ would say nothing about all triplets
//! but the first. What rounding alone leaves, about ε·σ₁·√n, is always allowed, and a note tells how many triplets
//! needed that allowance.
//!
//! Fields are private and there is one function that sets them, so that no solver can call itself converged.

use super::Svd;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::operator::Operator;
use faer::{Mat, MatRef};

/// Residuals of triplets and the verdict on them. Nothing outside this file can make one that says "converged".
///
/// Read by [`super::SolveReport::residuals`] and [`super::SolveReport::converged`].
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Measured {
    residuals: Vec<f64>,
    converged: bool,
    /// What each residual may be at most, and whether no triplet is missing; not saved, as a saved verdict is final.
    #[serde(skip)]
    allowed: Vec<f64>,
    #[serde(skip)]
    complete: bool,
}

/// What triplets must have to count as converged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Largest residual relative to a triplet's own σ.
    pub(crate) tol: f64,
    /// Whether all triplets that were asked for are there, or those that are missing are known to be zero.
    pub(crate) complete: bool,
}

/// The length that rounding alone can give to G·v − σ·u: about ε·σ₁·√n.
pub(crate) fn rounding<T: Scalar>(n: usize, m: usize, largest: f64) -> f64 {
    4.0 * T::eps() * ((n + m) as f64).sqrt() * largest
}

impl Measured {
    pub(super) fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    pub(super) fn converged(&self) -> bool {
        self.converged
    }

    /// The verdict on the first triplets alone, where the others turned out to be zero.
    pub(super) fn truncate(&mut self, count: usize) {
        if count < self.residuals.len() {
            self.residuals.truncate(count);
            self.allowed.truncate(count);
            self.converged = self.verdict();
        }
    }

    fn verdict(&self) -> bool {
        self.complete && self.residuals.iter().zip(&self.allowed).all(|(residual, allowed)| residual <= allowed)
    }
}

impl<T: Scalar> Svd<T> {
    /// The gate of every solver: measures both residuals by products with G and gives the verdict.
    pub(super) fn measure(&mut self, g: &dyn Operator<T>, goal: Goal) -> Result<()> {
        let start = std::time::Instant::now();
        let lengths = self.residual_lengths(g)?;
        self.report.seconds_in_operator += start.elapsed().as_secs_f64();
        self.report.products += 2 * self.sigma.len() as u64;
        self.judge(&lengths, goal);
        Ok(())
    }

    /// The verdict on residuals of these lengths, one per triplet: measured, or estimated where G is out of reach.
    pub(crate) fn judge(&mut self, lengths: &[f64], goal: Goal) {
        let sigma: Vec<f64> = self.sigma.iter().map(|s| s.as_f64()).collect();
        let floor = rounding::<T>(self.u.nrows(), self.v.nrows(), sigma.first().copied().unwrap_or(0.0));
        let own = |lengths: &[f64]| -> Vec<f64> { lengths.iter().zip(&sigma).map(|(l, s)| l / s).collect() };
        let allowed = sigma.iter().map(|s| goal.tol.max(floor / s)).collect();
        let mut measured = Measured { residuals: own(lengths), converged: false, allowed, complete: goal.complete };
        measured.converged = measured.verdict();
        self.report.notes.extend(measured.precision_note(goal.tol, T::NAME).filter(|_| measured.converged));
        self.report.measured = measured;
    }

    /// max(‖G v − σ u‖, ‖Gᵀu − σ v‖) / σ for each triplet.
    ///
    /// # Cost
    /// One product of G and one of Gᵀ with as many vectors as there are triplets.
    ///
    /// # Errors
    /// Those of the products.
    ///
    /// ```
    /// use lopsided::operator::DenseOperator;
    /// use lopsided::solvers::svd::{Exact, Svd, SvdSolver};
    /// use lopsided::{Mat, Run};
    ///
    /// let g = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
    /// let other = DenseOperator::Owned(Mat::<f64>::zeros(4, 4));
    /// let svd: Svd<f64> = Exact { tol: 1e-10 }.solve(&g, 1, &Run::default())?;
    /// assert!(svd.residuals(&g)?[0] < 1e-12);
    /// assert!((svd.residuals(&other)?[0] - 1.0).abs() < 1e-12); // ‖0·v − 1·u‖
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn residuals(&self, g: &dyn Operator<T>) -> Result<Vec<f64>> {
        Ok(self.residual_lengths(g)?.iter().zip(&self.sigma).map(|(length, s)| length / s.as_f64()).collect())
    }

    fn residual_lengths(&self, g: &dyn Operator<T>) -> Result<Vec<f64>> {
        let mut gv = Mat::zeros(g.nrows(), self.sigma.len());
        g.apply(self.v.as_ref(), gv.as_mut())?;
        let left = self.distances(gv.as_ref(), self.u.as_ref());
        drop(gv);
        let mut gu = Mat::zeros(g.ncols(), self.sigma.len());
        g.apply_transpose(self.u.as_ref(), gu.as_mut())?;
        let right = self.distances(gu.as_ref(), self.v.as_ref());
        Ok(left.into_iter().zip(right).map(|(l, r)| l.max(r)).collect())
    }

    /// ‖product_k − σ_k·vector_k‖ for each column.
    pub(crate) fn distances(&self, products: MatRef<'_, T>, vectors: MatRef<'_, T>) -> Vec<f64> {
        let scaled =
            Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, k| products[(i, k)] - vectors[(i, k)] * self.sigma[k]);
        linalg::column_norms(scaled.as_ref())
    }

    /// Says which values coincide with the last one that was asked for, if some of them were left out.
    ///
    /// `beyond` are values that were found below it; `all` tells whether there are no others.
    pub(super) fn note_cut_crowd(&mut self, beyond: &[T], all: bool, tol: f64) {
        let Some(last) = self.sigma.last().map(|s| s.as_f64()) else { return };
        let same = |value: &&T| (value.as_f64() - last).abs() <= 2.0 * tol * last;
        let cut = beyond.iter().take_while(same).count();
        if cut == 0 {
            return;
        }
        let rank = self.sigma.len();
        let first = rank + 1 - self.sigma.iter().rev().take_while(same).count();
        let more = if cut == beyond.len() && !all { " and perhaps more" } else { "" };
        let vectors =
            if first == rank { format!("vector {rank} is") } else { format!("vectors {first} to {rank} are") };
        self.report
            .notes
            .push(format!("values {first} to {}{more} coincide: {vectors} one choice of many", rank + cut));
    }
}

impl Measured {
    /// The sentence on triplets that rounding keeps above the tolerance.
    fn precision_note(&self, tol: f64, precision: &str) -> Option<String> {
        let above = |residual: &&f64| **residual > tol;
        let (count, worst) = self.residuals.iter().filter(above).fold((0, 0.0_f64), |(n, w), r| (n + 1, w.max(*r)));
        (count > 0).then(|| {
            format!(
                "{count} triplets are so small beside the first that {precision} leaves residuals up to {worst:.1e} of \
                 their own value, above the tolerance {tol:.0e}: centre the kernel or take a higher precision"
            )
        })
    }
}

use crate::error::Result;
use crate::linsys::dots;
use crate::watch::{Progress, Watch};
use faer::Mat;

/// Conjugate gradients for A·w = b with a positive definite A, each column of b with its own step lengths.
pub(super) struct ConjugateGradients<'a> {
    /// Residual, relative to the right-hand side in the norm of the preconditioner, that counts as converged.
    pub(super) tol: f64,
    /// Most steps.
    pub(super) steps: usize,
    pub(super) watch: &'a Watch,
}

/// What [`ConjugateGradients`] found.
pub(super) struct Solved {
    pub(super) w: Mat<f64>,
    pub(super) steps: usize,
    /// The largest relative residual.
    pub(super) residual: f64,
}

impl ConjugateGradients<'_> {
    /// `apply` multiplies by A, `precondition` by an approximation of A⁻¹.
    pub(super) fn solve(
        &self,
        rhs: Mat<f64>,
        apply: impl Fn(&Mat<f64>) -> Result<Mat<f64>>,
        precondition: impl Fn(&Mat<f64>) -> Mat<f64>,
    ) -> Result<Solved> {
        let mut residual = rhs;
        let mut w = Mat::zeros(residual.nrows(), residual.ncols());
        let mut z = precondition(&residual);
        let mut direction = z.clone();
        let mut sizes = dots(&residual, &z);
        let start: Vec<f64> = sizes.iter().map(|s| s.max(f64::MIN_POSITIVE)).collect();
        let largest =
            |sizes: &[f64]| sizes.iter().zip(&start).map(|(s, a)| (s / a).max(0.0).sqrt()).fold(0.0, f64::max);
        let mut steps = 0;
        while steps < self.steps && largest(&sizes) > self.tol {
            let (done, total, progress) = (steps as u64, self.steps as u64, Some(largest(&sizes)));
            self.watch.report(Progress { stage: "conjugate gradients", done, total, residual: progress })?;
            let image = apply(&direction)?;
            let curvature = dots(&direction, &image);
            for c in 0..w.ncols() {
                let length = if curvature[c] > 0.0 { sizes[c] / curvature[c] } else { 0.0 };
                for i in 0..w.nrows() {
                    w[(i, c)] += length * direction[(i, c)];
                    residual[(i, c)] -= length * image[(i, c)];
                }
            }
            z = precondition(&residual);
            let next = dots(&residual, &z);
            for c in 0..w.ncols() {
                let share = if sizes[c] > 0.0 { next[c] / sizes[c] } else { 0.0 };
                (0..w.nrows()).for_each(|i| direction[(i, c)] = z[(i, c)] + share * direction[(i, c)]);
            }
            sizes = next;
            steps += 1;
        }
        Ok(Solved { w, steps, residual: largest(&sizes) })
    }
}

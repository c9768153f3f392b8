use crate::base::error::Result;
use crate::base::verdict::Verdict;
use crate::base::watch::{Progress, Watch};
use crate::solvers::linsys::dots;
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
}

/// The same with what is left of the equations by a product of its own.
pub(super) struct Judged {
    pub(super) w: Mat<f64>,
    pub(super) steps: usize,
    pub(super) verdict: Verdict,
}

impl ConjugateGradients<'_> {
    /// The solution, judged by b − A·w, and from there once more where the residual of the steps had drifted from it.
    pub(super) fn judged(
        &self,
        rhs: &Mat<f64>,
        apply: impl Fn(&Mat<f64>) -> Result<Mat<f64>>,
        precondition: impl Fn(&Mat<f64>) -> Mat<f64>,
    ) -> Result<Judged> {
        let lengths = |r: &Mat<f64>| -> Vec<f64> {
            dots(r, &precondition(r)).into_iter().map(|s| s.max(f64::MIN_POSITIVE).sqrt()).collect()
        };
        let start = lengths(rhs);
        let (mut w, mut left, mut steps) = (Mat::zeros(rhs.nrows(), rhs.ncols()), rhs.clone(), 0);
        loop {
            let size = largest_share(&lengths(&left), &start);
            let method = ConjugateGradients { tol: self.tol / size.max(self.tol), steps: self.steps - steps, ..*self };
            let found = method.solve(left, &apply, &precondition)?;
            w += &found.w;
            steps += found.steps;
            left = rhs - apply(&w)?;
            let verdict = Verdict::measured(largest_share(&lengths(&left), &start), self.tol);
            if verdict.converged() || found.steps == 0 || steps == self.steps {
                return Ok(Judged { w, steps, verdict });
            }
        }
    }

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
        Ok(Solved { w, steps })
    }
}

fn largest_share(lengths: &[f64], start: &[f64]) -> f64 {
    lengths.iter().zip(start).map(|(now, before)| now / before).fold(0.0, f64::max)
}

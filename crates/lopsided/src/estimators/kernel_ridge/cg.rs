use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::verdict::Verdict;
use crate::base::watch::Progress;
use crate::data::archive::Archive;
use crate::data::state::put_matrix;
use crate::solvers::linsys::dots;
use faer::Mat;

/// Conjugate gradients for A·w = b with a positive definite A, each column of b with its own step lengths.
pub(super) struct ConjugateGradients<'a> {
    /// Residual, relative to the right-hand side in the norm of the preconditioner, that counts as converged.
    pub(super) tol: f64,
    /// Most steps.
    pub(super) steps: usize,
    pub(super) run: &'a Run,
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

    /// What tells these equations from others after the first product.
    fn place(&self, rhs: &Mat<f64>, image: &Mat<f64>) -> String {
        let mut print = Fingerprint::default();
        print.debug(&(self.tol, self.steps));
        [rhs, image].into_iter().for_each(|matrix| put_matrix(&mut print, matrix.as_ref()));
        format!("conjugate gradients {print}")
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
        let mut place = None;
        let start: Vec<f64> = sizes.iter().map(|s| s.max(f64::MIN_POSITIVE)).collect();
        let largest =
            |sizes: &[f64]| sizes.iter().zip(&start).map(|(s, a)| (s / a).max(0.0).sqrt()).fold(0.0, f64::max);
        let mut steps = 0;
        while steps < self.steps && largest(&sizes) > self.tol {
            let (done, total, progress) = (steps as u64, self.steps as u64, Some(largest(&sizes)));
            self.run.watch.report(Progress { stage: "conjugate gradients", done, total, residual: progress })?;
            let mut image = apply(&direction)?;
            if self.run.checkpoint.is_on() && place.is_none() {
                let found = self.place(&residual, &image);
                if let Some(state) = self.run.state(&found)? {
                    [&mut w, &mut residual, &mut direction, &mut image]
                        .into_iter()
                        .zip(STATE)
                        .try_for_each(|(matrix, name)| state.matrix(name).map(|kept| *matrix = kept))?;
                    (sizes, steps) = (state.vector("sizes")?, state.field("steps")?);
                }
                place = Some(found);
            } else if let Some(place) = &place {
                self.run.keep_state(place, |state: &mut Archive| {
                    let matrices = [&w, &residual, &direction, &image];
                    STATE.iter().zip(matrices).for_each(|(name, matrix)| state.set_matrix(name, matrix.as_ref()));
                    state.set_vector("sizes", &sizes);
                    state.set_field("steps", steps);
                })?;
            }
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

/// Matrices of a state, in the middle of a step.
const STATE: [&str; 4] = ["w", "residual", "direction", "image"];

fn largest_share(lengths: &[f64], start: &[f64]) -> f64 {
    lengths.iter().zip(start).map(|(now, before)| now / before).fold(0.0, f64::max)
}

//! Systems that differ only in the samples they leave out, solved at once.
//!
//! Stacking learns from all samples but a part, for each of ten parts. Each of these systems is the whole one between vectors
//! that are 0 at the part and have mean 0 elsewhere: with P for the projection on them, P·M·P. So one product with K serves
//! the vectors of all parts, and where a product has to evaluate or to read all of K, ten systems cost little more than one.
//!
//! 1. A column for each target and part, and the projection of its part.
//! 2. MINRES, preconditioned by P·|M|⁻¹·P of the whole K, which is positive on those vectors.
//! 3. The gate measures all columns with products of its own.
//! 4. Biases from the means of K over the samples of each system.

use super::{CoupledSolution, CoupledSystem, Limits, Problem, minres};
use crate::base::Run;
use crate::base::error::Result;
use crate::operator::{Centered, Means, Operator};
use faer::{Mat, MatRef};

/// An iteration for all systems costs a few times that for one, factors of all of them ten times those of one.
const TWICE: u64 = 2;

/// What each system leaves out. Columns of vectors belong to the systems in order, as many to each.
pub(super) struct Parts {
    pub(super) held: Vec<Vec<usize>>,
}

impl Parts {
    /// Zeros at what is left out, mean 0 elsewhere; for vectors of n rows, or of 2n, each half for itself.
    pub(super) fn project(&self, w: &mut Mat<f64>, n: usize) {
        let each = w.ncols() / self.held.len();
        for c in 0..w.ncols() {
            let held = &self.held[c / each];
            for half in w.col_as_slice_mut(c).chunks_exact_mut(n) {
                held.iter().for_each(|&i| half[i] = 0.0);
                let mean = half.iter().sum::<f64>() / (n - held.len()) as f64;
                half.iter_mut().for_each(|v| *v -= mean);
                held.iter().for_each(|&i| half[i] = 0.0);
            }
        }
    }

    /// 1 for what each system keeps, one column per system.
    fn kept(&self, n: usize) -> Mat<f64> {
        let mut out = Mat::from_fn(n, self.held.len(), |_, _| 1.0);
        for (mut column, held) in out.col_iter_mut().zip(&self.held) {
            held.iter().for_each(|&i| column[i] = 0.0);
        }
        out
    }
}

impl CoupledSystem {
    /// The systems without each of the parts, with coefficients 0 at what is left out; `None` where iterations that cost less
    /// than factors do not suffice.
    ///
    /// # Errors
    /// Those of [`CoupledSystem::solve`].
    pub(crate) fn solve_parts(
        &self,
        k: &dyn Operator<f64>,
        targets: MatRef<'_, f64>,
        held: &[Vec<usize>],
        run: &Run,
        limits: &Limits,
    ) -> Result<Option<Vec<CoupledSolution>>> {
        self.check(k, targets)?;
        let (n, each, parts) = (k.nrows(), targets.ncols(), Parts { held: held.to_vec() });
        let means = Means::of(k)?;
        let (noise, centered) = (means.noise(), Centered::new(k, means));
        let mut y = Mat::from_fn(n, each * held.len(), |i, c| targets[(i, c % each)]);
        parts.project(&mut y, n);
        let problem = Problem { parts: Some(&parts), y, noise, ..self.problem(&centered, targets, run) };
        let most = if limits.allow_factors(n) {
            TWICE * minres::cheaper_than_factors(&problem)
        } else {
            minres::most(&problem)
        };
        let why = format!("{n} samples, {} parts of them at once", held.len());
        let solved = problem.gate(minres::solve(&problem, most)?, &why)?;
        if !solved.report.converged() {
            return Ok(None);
        }
        let kept = parts.kept(n);
        let (rows, cols) = k.apply_both(kept.as_ref(), kept.as_ref())?;
        // β_s = mean(y − K·b) over what is kept, and 1ᵀK·b is the product of K's column sums over it with b.
        let bias = |weights: &Mat<f64>, sums: &Mat<f64>, part: usize| -> Vec<f64> {
            let count = (n - held[part].len()) as f64;
            let one = |c: usize| {
                let shift: f64 = weights.col(c).iter().zip(sums.col(part).iter()).map(|(w, s)| w * s).sum();
                let total: f64 =
                    targets.col(c % each).iter().zip(kept.col(part).iter()).map(|(y, kept)| y * kept).sum();
                (total - shift) / count
            };
            (part * each..(part + 1) * each).map(one).collect()
        };
        let report = |part: usize| {
            let mut report = solved.report.clone();
            // They were common to all, and whoever adds up counts them once.
            report.iterations = if part == 0 { report.iterations } else { 0 };
            report
        };
        let own = |m: &Mat<f64>, part: usize| m.subcols(part * each, each).to_owned();
        let of = |part: usize| CoupledSolution {
            a: own(&solved.a, part),
            b: own(&solved.b, part),
            bias_source: bias(&solved.b, &cols, part),
            bias_target: bias(&solved.a, &rows, part),
            report: report(part),
        };
        Ok(Some((0..held.len()).map(of).collect()))
    }
}

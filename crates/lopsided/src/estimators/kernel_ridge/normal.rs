//! The normal equations of ridge regression on rows that are read in passes.

use super::cg::{ConjugateGradients, Judged};
use super::streamed::StreamedRidge;
use super::systems::solve;
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::row_stream::RowStream;
use crate::data::samples::{SamplesRef, as_samples};
use crate::data::state::put_matrix;
use crate::kernel::Kernel;
use crate::solvers::lowrank::{Anchors, KernelFunctions, LandmarkKernel, inverse_root};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Rows handled as one piece.
const TILE: usize = 256;

/// (Aᵀ·K_mn·K_nm·A + λ₀I)·w = Aᵀ·K_mn·y, step 2 of [`StreamedRidge`].
pub(super) struct Normal<'a, T> {
    rows: &'a RowStream<T>,
    known: &'a [usize],
    at: LandmarkKernel<T>,
    anchors: KernelFunctions<T>,
    a: Mat<f64>,
    /// The preconditioner's diagonal.
    diagonal: Vec<f64>,
    ridge: f64,
    run: &'a Run,
}

impl<'a, T: Scalar> Normal<'a, T> {
    pub(super) fn new(
        rows: &'a RowStream<T>,
        known: &'a [usize],
        at: LandmarkKernel<T>,
        penalty: f64,
        run: &'a Run,
    ) -> Result<Self> {
        let a = inverse_root::<T>(at.gram.as_ref(), at.gram.nrows())?;
        let share = known.len() as f64 / at.gram.nrows() as f64;
        // Columns of A have the squared length 1/λ.
        let value = |col: faer::ColRef<'_, f64>| share / col.squared_norm_l2() + 1.0 / penalty;
        let diagonal = a.col_iter().map(value).collect();
        let anchors = at.functions(Mat::zeros(at.gram.nrows(), 0));
        Ok(Normal { rows, known, at, anchors, a, diagonal, ridge: 1.0 / penalty, run })
    }

    pub(super) fn functions(&self, w: MatRef<'_, f64>) -> KernelFunctions<T> {
        self.at.functions(linalg::mul(self.a.as_ref(), w))
    }

    /// Step 2 by one pass and a Cholesky factor.
    pub(super) fn factored(&self, y: &Mat<f64>) -> Result<Judged> {
        let m = self.at.gram.nrows();
        let (mut gram, mut cross) = (Mat::<f64>::zeros(m, m), Mat::zeros(m, y.ncols()));
        let (stage, place) = ("normal equations", self.place(y));
        let mut done = 0;
        if let Some(state) = self.run.state(&place)? {
            (gram, cross, done) = (state.matrix("gram")?, state.matrix("cross")?, state.field("done")?);
        }
        self.for_each_part(stage, &self.run.watch, |first, samples| {
            if first < done {
                return Ok(());
            }
            let k = self.anchors.anchors.values(&self.anchors.kernel, samples, self.run)?;
            linalg::add_gram_lower(gram.as_mut(), k.transpose(), 1.0);
            cross += linalg::transpose_mul(k.as_ref(), y.as_ref().subrows(first, k.nrows()));
            self.run.keep_state(&place, |state| {
                state.set_matrix("gram", gram.as_ref());
                state.set_matrix("cross", cross.as_ref());
                state.set_field("done", first + k.nrows());
            })
        })?;
        let image = linalg::mul(linalg::mirrored(gram.as_ref()).as_ref(), self.a.as_ref());
        // Rounding makes the product a little asymmetric, and the factor reads one half of it.
        let system = linalg::mirrored(linalg::transpose_mul(self.a.as_ref(), image.as_ref()).as_ref());
        let (w, verdict) = solve(system, 1.0 / self.ridge, linalg::transpose_mul(self.a.as_ref(), cross.as_ref()))?;
        Ok(Judged { w, steps: 0, verdict })
    }

    /// What tells these equations from others of the same data.
    fn place(&self, y: &Mat<f64>) -> String {
        let mut print = Fingerprint::default();
        print.debug(&(T::NAME, &self.anchors.kernel));
        [y, &self.at.gram].into_iter().for_each(|matrix| put_matrix(&mut print, matrix.as_ref()));
        format!("normal equations {print}")
    }

    /// Step 3.
    pub(super) fn solve(&self, y: &Mat<f64>, settings: &StreamedRidge) -> Result<Judged> {
        let rhs = self.right_side(y)?;
        let method = ConjugateGradients { tol: settings.tol, steps: settings.steps, run: self.run };
        method.judged(&rhs, |v| self.apply(v), |v| self.preconditioned(v))
    }

    fn preconditioned(&self, m: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(m.nrows(), m.ncols(), |i, c| m[(i, c)] / self.diagonal[i])
    }

    /// Aᵀ·K_mn·y.
    fn right_side(&self, y: &Mat<f64>) -> Result<Mat<f64>> {
        let sum = self.pass("right-hand side", y.ncols(), |start, k| {
            let part = y.as_ref().subrows(start, k.nrows());
            let mut out = Mat::zeros(k.ncols(), part.ncols());
            linalg::gemm(out.as_mut(), k.transpose(), part, 1.0);
            out
        })?;
        Ok(linalg::transpose_mul(self.a.as_ref(), sum.as_ref()))
    }

    /// (Aᵀ·K_mn·K_nm·A + λ₀I)·v.
    fn apply(&self, v: &Mat<f64>) -> Result<Mat<f64>> {
        let h = linalg::mul(self.a.as_ref(), v.as_ref());
        let sum = self.pass("conjugate gradients", v.ncols(), |_, k| {
            let (mut inner, mut out) = (Mat::zeros(k.nrows(), h.ncols()), Mat::zeros(k.ncols(), h.ncols()));
            linalg::gemm(inner.as_mut(), k, h.as_ref(), 1.0);
            linalg::gemm(out.as_mut(), k.transpose(), inner.as_ref(), 1.0);
            out
        })?;
        let image = linalg::transpose_mul(self.a.as_ref(), sum.as_ref());
        Ok(Mat::from_fn(v.nrows(), v.ncols(), |i, c| image[(i, c)] + self.ridge * v[(i, c)]))
    }

    /// The sum over tiles of known rows of what `part` makes of their kernel values and the number of their first row.
    fn pass(
        &self,
        stage: &'static str,
        targets: usize,
        part: impl Fn(usize, MatRef<'_, f64>) -> Mat<f64> + Sync,
    ) -> Result<Mat<f64>> {
        let kernel = self.anchors.kernel.build::<T>()?;
        let mut sum = Mat::zeros(self.at.gram.nrows(), targets);
        self.for_each_part(stage, &self.run.watch.silent(), |first, samples| {
            self.pieces(&*kernel, samples, first, &part)?.iter().for_each(|piece| sum += piece);
            Ok(())
        })?;
        Ok(sum)
    }

    /// Shows the known rows of every chunk with the number of the first among them.
    fn for_each_part(
        &self,
        stage: &'static str,
        watch: &Watch,
        mut visit: impl FnMut(usize, SamplesRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let mut done = 0;
        self.rows.for_each_chunk(stage, watch, |start, chunk| {
            let end = self.known[done..].partition_point(|row| *row < start + chunk.nrows()) + done;
            let here: Vec<usize> = self.known[done..end].iter().map(|row| row - start).collect();
            let all = here.len() == chunk.nrows();
            let samples = if all { as_samples(chunk) } else { as_samples(chunk.select(&here).as_ref()) };
            visit(done, samples.as_ref())?;
            done = end;
            Ok(())
        })
    }

    fn pieces(
        &self,
        kernel: &dyn Kernel<T>,
        samples: SamplesRef<'_, T>,
        first: usize,
        part: &(impl Fn(usize, MatRef<'_, f64>) -> Mat<f64> + Sync),
    ) -> Result<Vec<Mat<f64>>> {
        let starts: Vec<usize> = (0..samples.count()).step_by(TILE).collect();
        let Anchors::Points(points) = &self.anchors.anchors else { return Ok(Vec::new()) };
        let one = |&start: &usize| {
            let rows = samples.subrows(start, TILE.min(samples.count() - start));
            let mut k = Mat::<T>::zeros(rows.count(), points.count());
            self.run.watch.evaluating(k.nrows() * k.ncols())?;
            kernel.block(rows, points.as_ref(), k.as_mut())?;
            let k = Mat::from_fn(k.nrows(), k.ncols(), |i, j| k[(i, j)].as_f64());
            Ok(part(first + start, k.as_ref()))
        };
        starts.par_iter().map(one).collect()
    }
}

//! The iteration that [`super::Lanczos`] and [`super::Randomized`] share: two orthonormal bases that grow by blocks.
//!
//! 1. [`Krylov::new`]: a block of Gaussian vectors, orthonormalised.
//! 2. [`Krylov::expand`]: one product with G and one with Gᵀ; both bases grow by a block.
//! 3. [`Krylov::ritz`]: the SVD of the small matrix B. σ(B) are lower bounds of σ(G), and the residual of each is the
//!    length of what the last block sends out of V, known without a product.
//! 4. [`Krylov::restart`]: the leading Ritz vectors replace the bases, and step 2 goes on from the same next block.
//! 5. [`Krylov::finished`]: vectors from the bases, and the gate.

use super::exact::not_finite;
use super::gate::{Goal, rounding};
use super::{Run, SolveReport, Svd};
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::linalg::{self, Orthonormal, ThinSvd};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::archive::Archive;
use crate::data::state::{put_matrix, restore_generator, set_generator};
use crate::operator::Operator;
use faer::{Mat, MatRef};
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

/// Two growing orthonormal bases with G·V = U·B and GᵀU = V·Bᵀ + next·L, where L acts on the last block of U only.
///
/// One step ([`Krylov::expand`]):
/// 1. V ← [V, next].
/// 2. Y = G·next, orthogonalised twice against U: Y = U·H + Q·R. U ← [U, Q], B ← [B H; 0 R].
/// 3. W = GᵀQ, orthogonalised twice against V: W = V·(…) + next·L. Directions of no length are dropped.
///
/// All coefficients come from the orthogonalisation, so B needs no structure, and after a restart (Ritz vectors in
/// place of the bases, their values in place of B) the same step goes on.
pub(super) struct Krylov<'a, T: Scalar> {
    g: &'a dyn Operator<T>,
    run: &'a Run,
    rng: ChaCha8Rng,
    u: Mat<T>,
    v: Mat<T>,
    /// Columns for which u and v have room. The memory is not touched before they are there: most solutions need a part of it.
    capacity: usize,
    b: Mat<T>,
    next: Mat<T>,
    coupling: Mat<T>,
    /// Columns of the last block of U.
    last: usize,
    /// Length of the longest product seen: an estimate of σ₁ from below.
    scale: f64,
    pub(super) report: SolveReport,
}

/// What a state holds beside the bases, in words and whole numbers.
#[derive(serde::Serialize, serde::Deserialize)]
struct Rest {
    last: usize,
    products: u64,
    restarts: u64,
    notes: Vec<String>,
}

/// Ritz values with the residual of each.
pub(super) struct Ritz<T> {
    small: ThinSvd<T>,
    residuals: Vec<f64>,
    /// The length that rounding alone can give to a residual.
    rounding: f64,
}

impl<T: Scalar> Ritz<T> {
    pub(super) fn sigma(&self) -> &[T] {
        &self.small.sigma
    }

    /// True when the first `rank` triplets have residuals of at most tol·σ each, or such as rounding leaves.
    pub(super) fn converged(&self, rank: usize, tol: f64) -> bool {
        let small = |(residual, s): (&f64, &T)| *residual <= self.rounding.max(tol * s.as_f64());
        self.residuals.len() >= rank && self.residuals.iter().zip(self.sigma()).take(rank).all(small)
    }

    /// Largest residual of the first `rank` triplets relative to their own σ.
    pub(super) fn residual(&self, rank: usize) -> f64 {
        let own = |(residual, s): (&f64, &T)| residual / s.as_f64().max(f64::MIN_POSITIVE);
        self.residuals.iter().zip(self.sigma()).take(rank).map(own).fold(0.0, f64::max)
    }
}

impl<'a, T: Scalar> Krylov<'a, T> {
    /// Starts from `block` random vectors; the bases have room for `capacity` columns.
    pub(super) fn new(g: &'a dyn Operator<T>, run: &'a Run, block: usize, capacity: usize) -> Result<Self> {
        let mut krylov = Krylov {
            g,
            run,
            rng: random::generator(run.seed, Purpose::StartVectors),
            u: reserved(g.nrows(), capacity),
            v: reserved(g.ncols(), capacity),
            capacity,
            b: Mat::zeros(capacity, capacity),
            next: Mat::zeros(g.ncols(), 0),
            coupling: Mat::zeros(0, 0),
            last: 0,
            scale: 0.0,
            report: SolveReport::default(),
        };
        krylov.add_random(block)?;
        Ok(krylov)
    }

    /// Columns of the next block; 0 when the space is exhausted.
    pub(super) fn pending(&self) -> usize {
        self.next.ncols()
    }

    /// Columns of the basis V.
    pub(super) fn columns(&self) -> usize {
        self.v.ncols()
    }

    /// True when another step fits bases of so many columns.
    pub(super) fn has_room(&self, columns: usize) -> bool {
        self.columns() + self.pending() <= columns.min(self.capacity)
    }

    /// Adds random directions to the next block, as many as there is space for.
    pub(super) fn add_random(&mut self, count: usize) -> Result<()> {
        let free = self.g.ncols() - self.columns() - self.pending();
        let fresh = random::gaussian::<T>(self.g.ncols(), count.min(free), &mut self.rng);
        let kept = self.pending();
        let joined = beside(self.next.as_ref(), fresh.as_ref());
        let (q, _, r) = orthogonalize(self.v.as_ref(), joined, 1e-8)?;
        // The residual block stays in the span; its coupling follows the change of basis.
        self.coupling = r.subcols(0, kept) * &self.coupling;
        self.next = q;
        Ok(())
    }

    /// One step of the iteration.
    ///
    /// The bases are kept orthogonal in full: with a flat spectrum hundreds of steps follow each other, and lost
    /// orthogonality would show as copies of values that have converged.
    pub(super) fn expand(&mut self) -> Result<()> {
        self.run.watch.check()?;
        let (rows, cols, block) = (self.u.ncols(), self.v.ncols(), self.pending());
        append(&mut self.v, self.next.as_ref());

        let mut y = Mat::zeros(self.g.nrows(), block);
        self.timed(block, |g, next| g.apply(next, y.as_mut()))?;
        let ortho = Instant::now();
        self.scale = linalg::column_norms(y.as_ref()).into_iter().fold(self.scale, f64::max);
        let (q, h, r) = orthogonalize(self.u.as_ref(), y, self.negligible())?;
        self.last = q.ncols();
        append(&mut self.u, q.as_ref());
        self.b.as_mut().submatrix_mut(0, cols, rows, block).copy_from(&h);
        self.b.as_mut().submatrix_mut(rows, cols, self.last, block).copy_from(&r);
        self.report.seconds_in_ortho += ortho.elapsed().as_secs_f64();

        self.next = q;
        let mut w = Mat::zeros(self.g.ncols(), self.last);
        self.timed(self.last, |g, q| g.apply_transpose(q, w.as_mut()))?;
        let ortho = Instant::now();
        let (next, _, coupling) = orthogonalize(self.v.as_ref(), w, self.negligible())?;
        (self.next, self.coupling) = (next, coupling);
        self.report.seconds_in_ortho += ortho.elapsed().as_secs_f64();
        Ok(())
    }

    /// Products with `next`, accounted for.
    fn timed(
        &mut self,
        count: usize,
        product: impl FnOnce(&dyn Operator<T>, MatRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let start = Instant::now();
        product(self.g, self.next.as_ref())?;
        self.report.seconds_in_operator += start.elapsed().as_secs_f64();
        self.report.products += count as u64;
        Ok(())
    }

    /// What tells this iteration from every other after its first step: another matrix or start gives other bases.
    pub(super) fn place(&self, method: &str, settings: &dyn std::fmt::Debug) -> String {
        let mut print = Fingerprint::default();
        print.debug(&(T::NAME, settings));
        for matrix in [&self.u, &self.v, &self.b, &self.next, &self.coupling] {
            put_matrix(&mut print, matrix.as_ref());
        }
        format!("{method} {print}")
    }

    /// Everything that the next step depends on.
    pub(super) fn put(&self, state: &mut Archive) {
        let (rows, cols) = (self.u.ncols(), self.v.ncols());
        state.set_matrix("u", self.u.as_ref());
        state.set_matrix("v", self.v.as_ref());
        state.set_matrix("b", self.b.as_ref().submatrix(0, 0, rows, cols));
        state.set_matrix("next", self.next.as_ref());
        state.set_matrix("coupling", self.coupling.as_ref());
        state.set_vector("scale", &[self.scale]);
        set_generator(state, "generator", &self.rng);
        let SolveReport { products, restarts, notes, .. } = self.report.clone();
        state.set_field("rest", Rest { last: self.last, products, restarts, notes });
    }

    /// Goes to where a state was left.
    pub(super) fn restore(&mut self, state: &Archive) -> Result<()> {
        let (u, v, b) = (state.matrix::<T>("u")?, state.matrix::<T>("v")?, state.matrix::<T>("b")?);
        let Rest { last, products, restarts, notes } = state.field("rest")?;
        let fits = u.nrows() == self.u.nrows() && v.nrows() == self.v.nrows() && b.shape() == (u.ncols(), v.ncols());
        if !fits || v.ncols() > self.capacity || u.ncols() > self.capacity || last > u.ncols() {
            return Err(state.error("the bases do not fit the matrix"));
        }
        for (basis, kept) in [(&mut self.u, &u), (&mut self.v, &v)] {
            basis.truncate(basis.nrows(), 0);
            append(basis, kept.as_ref());
        }
        self.b.fill(T::zero());
        self.b.as_mut().submatrix_mut(0, 0, b.nrows(), b.ncols()).copy_from(&b);
        (self.next, self.coupling) = (state.matrix("next")?, state.matrix("coupling")?);
        self.scale = state.vector("scale")?.first().copied().unwrap_or_default();
        restore_generator(state, "generator", &mut self.rng)?;
        self.last = last;
        (self.report.products, self.report.restarts, self.report.notes) = (products, restarts, notes);
        Ok(())
    }

    /// Lengths not to be told from rounding.
    fn negligible(&self) -> f64 {
        rounding::<T>(self.g.nrows(), self.g.ncols(), self.scale)
    }

    /// Singular values of B and the residual each has as a singular value of G.
    ///
    /// With B = P·S·Qᵀ the approximate triplets are (U·P, S, V·Q). G·(V·Q) = (U·P)·S holds exactly. What Gᵀ·(U·P) −
    /// (V·Q)·S leaves is next·L·P_last; P_last are the rows of P that belong to the last block. Its column norms are
    /// the residuals.
    pub(super) fn ritz(&self) -> Result<Ritz<T>> {
        let (rows, cols) = (self.u.ncols(), self.v.ncols());
        let small = linalg::thin_svd(self.b.as_ref().submatrix(0, 0, rows, cols)).ok_or_else(not_finite)?;
        let tail = small.u.subrows(rows - self.last, self.last);
        let residuals = linalg::column_norms((&self.coupling * tail).as_ref());
        let largest = small.sigma.first().map_or(0.0, |s| s.as_f64());
        Ok(Ritz { small, residuals, rounding: rounding::<T>(self.g.nrows(), self.g.ncols(), largest) })
    }

    /// Reports how far the first `rank` triplets are.
    pub(super) fn progress(&self, ritz: &Ritz<T>, rank: usize) -> Result<()> {
        self.run.watch.report(Progress {
            stage: "singular vectors",
            done: self.report.products,
            total: 0,
            residual: Some(ritz.residual(rank)),
        })
    }

    /// Thick restart: the `keep` leading Ritz vectors take the place of the bases.
    ///
    /// U ← U·P_keep, V ← V·Q_keep and B ← diag(S_keep). The residual block stays as it is; every kept vector is coupled
    /// to it, so the whole basis counts as the last block until the next step.
    pub(super) fn restart(&mut self, ritz: &Ritz<T>, keep: usize) {
        let start = Instant::now();
        let keep = keep.min(ritz.sigma().len());
        let (u, v) = self.vectors(ritz, keep);
        let tail = ritz.small.u.submatrix(self.u.ncols() - self.last, 0, self.last, keep);
        self.coupling = &self.coupling * tail;
        self.last = keep;
        for (basis, kept) in [(&mut self.u, &u), (&mut self.v, &v)] {
            basis.truncate(basis.nrows(), 0);
            append(basis, kept.as_ref());
        }
        self.b.fill(T::zero());
        ritz.sigma().iter().take(keep).enumerate().for_each(|(k, s)| self.b[(k, k)] = *s);
        self.report.restarts += 1;
        self.report.seconds_in_ortho += start.elapsed().as_secs_f64();
    }

    fn vectors(&self, ritz: &Ritz<T>, count: usize) -> (Mat<T>, Mat<T>) {
        let u = linalg::mul(self.u.as_ref(), ritz.small.u.as_ref().subcols(0, count));
        let v = linalg::mul(self.v.as_ref(), ritz.small.v.as_ref().subcols(0, count));
        (u, v)
    }

    /// The leading triplets, through the gate; the bases are given up.
    pub(super) fn finished(self, ritz: &Ritz<T>, rank: usize, tol: f64) -> Result<Svd<T>> {
        let count = rank.min(ritz.sigma().len());
        let (u, v) = self.vectors(ritz, count);
        let g = self.g;
        let svd = Svd { u, sigma: ritz.sigma()[..count].to_vec(), v, extension: None, report: self.report };
        svd.finish(g, rank, Goal { tol, complete: true }, (&ritz.sigma()[count..], false))
    }
}

/// y = basis·h + q·r with q orthonormal and orthogonal to the basis, directions of length up to `drop` left out.
///
/// Directions are taken in groups of similar length, longest first, each orthogonalised twice: were all taken at once,
/// the rounding in short ones would cost digits of the long ones.
pub(crate) fn orthogonalize<T: Scalar>(
    basis: MatRef<'_, T>,
    mut y: Mat<T>,
    drop: f64,
) -> Result<(Mat<T>, Mat<T>, Mat<T>)> {
    /// A direction that loses more than half of its length must be orthogonalised twice: the basis' own errors would grow
    /// by the quotient in every step, and flat spectra have hundreds of such steps.
    const KEPT: f64 = 0.5;
    let width = y.ncols();
    let before = linalg::column_norms(y.as_ref()).into_iter().fold(0.0, f64::max);
    let mut h = project_out(basis, &mut y);
    let (mut q, mut r) = (Mat::zeros(y.nrows(), 0), Mat::zeros(0, width));
    loop {
        let Orthonormal { q: mut group, r: first, shortest, left_out } =
            linalg::orthonormalize(y.as_ref(), drop).ok_or_else(not_finite)?;
        if group.ncols() == 0 {
            return Ok((q, h, r));
        }
        if group.ncols() == width && shortest > KEPT * before {
            return Ok((group, h, first));
        }
        linalg::add_mul(y.as_mut(), group.as_ref(), first.as_ref(), -T::one());
        h += project_out(basis, &mut group) * &first;
        r += project_out(q.as_ref(), &mut group) * &first;
        // A direction that was all rounding lay in the basis and is short by now.
        let second = linalg::orthonormalize(group.as_ref(), 0.5).ok_or_else(not_finite)?;
        q = beside(q.as_ref(), second.q.as_ref());
        r = beside(r.transpose(), (second.r * first).transpose()).transpose().to_owned();
        if left_out <= drop || q.ncols() == width {
            return Ok((q, h, r));
        }
    }
}

/// y ← y − basis·basisᵀ·y; the coefficients.
fn project_out<T: Scalar>(basis: MatRef<'_, T>, y: &mut Mat<T>) -> Mat<T> {
    let h = linalg::transpose_mul(basis, y.as_ref());
    linalg::add_mul(y.as_mut(), basis, h.as_ref(), -T::one());
    h
}

/// A matrix without columns and with room for some.
fn reserved<T: Scalar>(rows: usize, columns: usize) -> Mat<T> {
    let mut matrix = Mat::with_capacity(rows, columns);
    matrix.resize_with(rows, 0, |_, _| T::zero());
    matrix
}

/// matrix ← [matrix, columns].
fn append<T: Scalar>(matrix: &mut Mat<T>, columns: MatRef<'_, T>) {
    let at = matrix.ncols();
    matrix.resize_with(matrix.nrows(), at + columns.ncols(), |i, j| columns[(i, j - at)]);
}

/// [a, b].
fn beside<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    let mut joined = Mat::zeros(b.nrows(), a.ncols() + b.ncols());
    joined.as_mut().subcols_mut(0, a.ncols()).copy_from(a);
    joined.as_mut().subcols_mut(a.ncols(), b.ncols()).copy_from(b);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_very_different_length_are_kept_to_full_precision() {
        let mut rng = random::generator(1, Purpose::Data);
        let basis = linalg::orthonormalize(random::gaussian::<f64>(5000, 3, &mut rng).as_ref(), 0.0).unwrap().q;
        let mut y = random::gaussian::<f64>(5000, 4, &mut rng);
        for i in 0..5000 {
            y[(i, 1)] = y[(i, 0)] * 1e-5 + y[(i, 1)] * 1e-12;
            y[(i, 3)] = y[(i, 2)] + basis[(i, 1)];
        }
        let (q, h, r) = orthogonalize(basis.as_ref(), y.clone(), 1e-13).unwrap();
        assert_eq!(q.ncols(), 3);
        let gram = linalg::transpose_mul(q.as_ref(), q.as_ref());
        assert!((gram - Mat::<f64>::identity(3, 3)).norm_max() < 1e-13);
        assert!(linalg::transpose_mul(basis.as_ref(), q.as_ref()).norm_max() < 1e-14);
        assert!((basis * h + q * r - y).norm_max() < 1e-12);
    }
}

//! Tall and small matrices: products over fixed row chunks, so that the bits do not depend on the number of threads.
//!
//! Sums of floating-point numbers depend on their order. So rows are cut into chunks of a fixed length, each chunk is
//! one thread's work, and the chunks' sums are added in order; what is left to a library is either small and done on
//! one thread, or spread over a fixed number of pieces.
//!
//! | job | function | cost for n×b |
//! | --- | --- | --- |
//! | aᵀb, a·h of tall a | `transpose_mul`, `mul`, `add_mul` | 2·n·b² |
//! | symmetric systems | `SymmetricFactor`, `solve_lower` | n³/3 |
//! | small decompositions | `eigen`, `eigenvalues`, `thin_svd` | O(n·b²) |
//! | an orthonormal basis | `orthonormalize` | 4·n·b² and a small SVD |

use crate::base::error::Result;
use crate::base::scalar::Scalar;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::{lblt, llt};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor as qr;
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::perm::Perm;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows handled as one piece; sums over rows are taken piece by piece, in order.
const CHUNK: usize = 2048;
/// Rows of a piece of a triangle.
const ROWS: usize = 128;
/// Decompositions of matrices of so many columns are shared by all threads, in so many pieces whatever their number: the bits
/// depend on the pieces alone.
const SHARED: usize = 384;
const PIECES: usize = 16;

/// How a decomposition of a matrix with so many columns is spread.
fn spread(columns: usize) -> Par {
    if columns < SHARED { Par::Seq } else { Par::rayon(PIECES) }
}

/// aᵀb for two tall matrices: a part for each chunk of rows, added in the order of the chunks.
pub fn transpose_mul<T: Scalar>(a: MatRef<'_, T>, b: MatRef<'_, T>) -> Mat<T> {
    assert_eq!(a.nrows(), b.nrows(), "aᵀb with {} and {} rows", a.nrows(), b.nrows());
    let parts: Vec<Mat<T>> = chunks(a.nrows())
        .into_par_iter()
        .map(|(start, len)| {
            let mut part = Mat::zeros(a.ncols(), b.ncols());
            add_transpose_mul(part.as_mut(), a.subrows(start, len), b.subrows(start, len));
            part
        })
        .collect();
    let mut sum = Mat::zeros(a.ncols(), b.ncols());
    for part in &parts {
        sum += part;
    }
    sum
}

/// out ← out + alpha · a · h for tall `out` and `a`, small `h`.
pub(crate) fn add_mul<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, h: MatRef<'_, T>, alpha: T) {
    add_mul_in_pieces(CHUNK, out, a, h, alpha);
}

/// The same for an `a` that is read from memory, in pieces small enough that every thread has some.
pub(crate) fn add_mul_stored<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, h: MatRef<'_, T>, alpha: T) {
    let piece = out.nrows().div_ceil(8).clamp(ROWS, CHUNK);
    add_mul_in_pieces(piece, out, a, h, alpha);
}

fn add_mul_in_pieces<T: Scalar>(piece: usize, out: MatMut<'_, T>, a: MatRef<'_, T>, h: MatRef<'_, T>, alpha: T) {
    if h.nrows() == 0 || h.ncols() == 0 {
        return;
    }
    out.par_row_chunks_mut(piece).zip(a.par_row_chunks(piece)).for_each(|(out, a)| gemm(out, a, h, alpha));
}

/// a · h for tall `a`, small `h`.
pub(crate) fn mul<T: Scalar>(a: MatRef<'_, T>, h: MatRef<'_, T>) -> Mat<T> {
    let mut out = Mat::zeros(a.nrows(), h.ncols());
    add_mul(out.as_mut(), a, h, T::one());
    out
}

/// out ← out + alpha · a · b on this thread alone.
pub fn gemm<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: T) {
    matmul(out, Accum::Add, a, b, alpha, Par::Seq);
}

/// out ← alpha · a · b on this thread alone.
pub(crate) fn replace<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>, alpha: T) {
    matmul(out, Accum::Replace, a, b, alpha, Par::Seq);
}

/// out ← out + aᵀ · b on this thread alone, for a thin b: as the transpose of bᵀ·a, so that `a` is read as it lies in memory.
pub(crate) fn add_transpose_mul<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let mut product = Mat::zeros(b.ncols(), a.ncols());
    replace(product.as_mut(), b.transpose(), a, T::one());
    for (k, column) in out.col_iter_mut().enumerate() {
        column.iter_mut().zip(product.row(k).iter()).for_each(|(o, &p)| *o += p);
    }
}

/// aᵀb in eight sums side by side: vectorised, and the same bits on every processor.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// The lower triangle of alpha·a·aᵀ; above the diagonal some of it too.
pub(crate) fn gram_lower<T: Scalar>(a: MatRef<'_, T>, alpha: T) -> Mat<T> {
    let mut out = Mat::zeros(a.nrows(), a.nrows());
    add_gram_lower(out.as_mut(), a, alpha);
    out
}

/// The lower triangle of `out` += that of alpha·a·aᵀ; above the diagonal some of it too.
pub(crate) fn add_gram_lower<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, alpha: T) {
    lower_pieces(out, |out, start, end| {
        gemm(out, a.subrows(start, end - start), a.subrows(0, end).transpose(), alpha);
    });
}

/// The lower triangle of `out` += that of a·b, on this thread alone.
pub(crate) fn add_lower<T: Scalar>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(out, lower, Accum::Add, a, whole, b, whole, T::one(), Par::Seq);
}

/// The symmetric matrix with this lower triangle.
pub(crate) fn mirrored<T: Scalar>(lower: MatRef<'_, T>) -> Mat<T> {
    Mat::from_fn(lower.nrows(), lower.nrows(), |i, j| if i < j { lower[(j, i)] } else { lower[(i, j)] })
}

/// A factored symmetric matrix: Cholesky's factor if it is positive definite, else Bunch and Kaufman's factors, on one
/// thread.
///
/// A = L·Lᵀ needs no exchange of rows and is made in parallel pieces, so it is tried first. A = P·L·D·Lᵀ·Pᵀ, in which D
/// has blocks of one or two rows, exists for every symmetric matrix. Kernel matrices of positive kernels with a ridge
/// are definite; the coupled systems of AsK-LS need not be.
pub(crate) enum SymmetricFactor<T: Scalar> {
    Definite(Mat<T>),
    Indefinite { lower: Mat<T>, diagonal: Diag<T>, subdiagonal: Diag<T>, order: Perm<usize> },
}

impl<T: Scalar> SymmetricFactor<T> {
    /// The factors of the matrix with this lower triangle, which is made a second time if it is not definite.
    pub(crate) fn new(matrix: impl Fn() -> Result<Mat<T>>) -> Result<Self> {
        match Self::definite(matrix()?) {
            Some(factor) => Ok(factor),
            None => Ok(Self::indefinite(matrix()?)),
        }
    }

    /// Cholesky's factor; `None` if the matrix with this lower triangle is not definite.
    pub(crate) fn definite(mut a: Mat<T>) -> Option<Self> {
        factor_in_place(a.as_mut())?;
        Some(SymmetricFactor::Definite(a))
    }

    /// Bunch and Kaufman's factors of the matrix with this lower triangle.
    fn indefinite(mut a: Mat<T>) -> Self {
        let n = a.nrows();
        let (mut subdiagonal, mut forward, mut backward) = (Diag::zeros(n), vec![0; n], vec![0; n]);
        let scratch = lblt::factor::cholesky_in_place_scratch::<usize, T>(n, Par::Seq, Default::default());
        let mut buffer = MemBuffer::new(scratch);
        let (stack, params) = (MemStack::new(&mut buffer), Default::default());
        let (sub, lower) = (subdiagonal.as_mut(), a.as_mut());
        lblt::factor::cholesky_in_place(lower, sub, &mut forward, &mut backward, Par::Seq, stack, params);
        let diagonal = a.diagonal().column_vector().to_owned().into_diagonal();
        a.diagonal_mut().fill(T::one());
        let order = Perm::new_checked(forward.into_boxed_slice(), backward.into_boxed_slice(), n);
        SymmetricFactor::Indefinite { lower: a, diagonal, subdiagonal, order }
    }

    /// rhs ← A⁻¹·rhs.
    pub(crate) fn solve_in_place(&self, rhs: MatMut<'_, T>) {
        match self {
            SymmetricFactor::Definite(lower) => {
                let scratch = llt::solve::solve_in_place_scratch::<T>(lower.nrows(), rhs.ncols(), Par::Seq);
                llt::solve::solve_in_place(lower.as_ref(), rhs, Par::Seq, MemStack::new(&mut MemBuffer::new(scratch)));
            }
            SymmetricFactor::Indefinite { lower, diagonal, subdiagonal, order } => {
                let scratch = lblt::solve::solve_in_place_scratch::<usize, T>(lower.nrows(), rhs.ncols(), Par::Seq);
                let mut buffer = MemBuffer::new(scratch);
                let (lower, diagonal, subdiagonal) = (lower.as_ref(), diagonal.as_ref(), subdiagonal.as_ref());
                let stack = MemStack::new(&mut buffer);
                lblt::solve::solve_in_place(lower, diagonal, subdiagonal, order.as_ref(), rhs, Par::Seq, stack);
            }
        }
    }
}

impl SymmetricFactor<f32> {
    /// rhs ← A⁻¹·rhs to the digits of f32: a step of iterative refinement, whose residuals are formed in double
    /// precision.
    pub(crate) fn solve_wide(&self, rhs: &mut Mat<f64>) {
        // Residuals may be too small for f32.
        let scale = rhs.norm_max().max(f64::MIN_POSITIVE);
        let mut narrow = Mat::from_fn(rhs.nrows(), rhs.ncols(), |i, j| (rhs[(i, j)] / scale) as f32);
        self.solve_in_place(narrow.as_mut());
        *rhs = Mat::from_fn(rhs.nrows(), rhs.ncols(), |i, j| f64::from(narrow[(i, j)]) * scale);
    }
}

/// The same matrix with fewer digits.
pub(crate) fn narrowed(a: MatRef<'_, f64>) -> Mat<f32> {
    let mut out = Mat::<f32>::zeros(a.nrows(), a.ncols());
    out.par_col_chunks_mut(1).zip(a.par_col_chunks(1)).for_each(|(to, from)| {
        to.col_mut(0).iter_mut().zip(from.col(0).iter()).for_each(|(to, from)| *to = *from as f32);
    });
    out
}

/// The solution of a positive definite system given by its lower triangle; `None` if it is not.
pub(crate) fn solve_lower(gram: Mat<f64>, mut rhs: Mat<f64>) -> Option<Mat<f64>> {
    SymmetricFactor::definite(gram)?.solve_in_place(rhs.as_mut());
    Some(rhs)
}

/// L of a positive definite A = L·Lᵀ given by its lower triangle, zeros above the diagonal; `None` if A is not.
pub(crate) fn lower_factor(mut a: Mat<f64>) -> Option<Mat<f64>> {
    factor_in_place(a.as_mut())?;
    for j in 1..a.ncols() {
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(0.0);
    }
    Some(a)
}

/// Lower triangle ← that of L for A = L·Lᵀ, in pieces whose size does not depend on the number of threads, so that the bits do
/// not; `None` if A is not positive definite.
///
/// For pieces of 256 columns from the left:
///
/// 1. The corner A₁₁ = L₁·L₁ᵀ, on one thread.
/// 2. The rows below, A₂₁ ← A₂₁·L₁⁻ᵀ, in parallel.
/// 3. The rest, A₂₂ ← A₂₂ − A₂₁·A₂₁ᵀ, its lower triangle in parallel; then the same for it.
fn factor_in_place<T: Scalar>(mut a: MatMut<'_, T>) -> Option<()> {
    const PIECE: usize = 256;
    while a.nrows() > 0 {
        let len = PIECE.min(a.nrows());
        let (mut corner, _, mut below, mut rest) = a.split_at_mut(len, len);
        let mut buffer = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<T>(len, Par::Seq, Default::default()));
        let (stack, params) = (MemStack::new(&mut buffer), Default::default());
        llt::factor::cholesky_in_place(corner.rb_mut(), Default::default(), Par::Seq, stack, params).ok()?;
        below.rb_mut().par_row_chunks_mut(ROWS).for_each(|rows| {
            solve_lower_triangular_in_place(corner.rb(), rows.transpose_mut(), Par::Seq);
        });
        let below = below.rb();
        lower_pieces(rest.rb_mut(), |out, start, end| {
            gemm(out, below.subrows(start, end - start), below.subrows(0, end).transpose(), -T::one());
        });
        a = rest;
    }
    Some(())
}

/// Calls `fill(out[start..end, ..end], start, end)` for pieces of rows that cover the lower triangle.
fn lower_pieces<T: Scalar>(out: MatMut<'_, T>, fill: impl Fn(MatMut<'_, T>, usize, usize) + Sync + Send) {
    out.par_row_chunks_mut(ROWS).enumerate().for_each(|(piece, out)| {
        let end = piece * ROWS + out.nrows();
        fill(out.subcols_mut(0, end), piece * ROWS, end);
    });
}

/// The inverse of a lower triangular matrix with a diagonal without zeros, on this thread alone.
pub(crate) fn lower_inverse(lower: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::identity(lower.nrows(), lower.ncols());
    solve_lower_triangular_in_place(lower, out.as_mut(), Par::Seq);
    out
}

/// Eigenvalues and eigenvectors of a symmetric matrix, largest first; `None` when the entries are not finite.
pub(crate) fn eigen(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let (n, par, params) = (a.nrows(), spread(a.ncols()), Default::default());
    let (mut values, mut vectors) = (Diag::zeros(n), Mat::zeros(n, n));
    let mut buffer = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, params));
    let (stack, out) = (MemStack::new(&mut buffer), Some(vectors.as_mut()));
    evd::self_adjoint_evd(a, values.as_mut(), out, par, stack, Default::default()).ok()?;
    let values = values.column_vector().iter().rev().copied().collect();
    Some((values, vectors.as_ref().reverse_cols().to_owned()))
}

/// Eigenvalues of a symmetric matrix in ascending order; `None` when the entries are not finite.
pub(crate) fn eigenvalues(a: MatRef<'_, f64>) -> Option<Vec<f64>> {
    let (n, par, params) = (a.nrows(), spread(a.ncols()), Default::default());
    let mut values = Diag::zeros(n);
    let mut buffer = MemBuffer::new(evd::self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::No, par, params));
    let stack = MemStack::new(&mut buffer);
    evd::self_adjoint_evd(a, values.as_mut(), None, par, stack, Default::default()).ok()?;
    Some(values.column_vector().iter().copied().collect())
}

/// Thin singular value decomposition.
pub(crate) struct ThinSvd<T> {
    pub(crate) u: Mat<T>,
    pub(crate) sigma: Vec<T>,
    pub(crate) v: Mat<T>,
}

/// Entries up to which matrices of single precision are decomposed in double: in single the vectors of short ones can be off
/// by a thousand roundings.
const WIDENED: usize = 1 << 20;

/// Thin SVD; `None` when the entries are not finite.
pub(crate) fn thin_svd<T: Scalar>(a: MatRef<'_, T>) -> Option<ThinSvd<T>> {
    let (n, m) = a.shape();
    if T::BYTES < f64::BYTES && n * m <= WIDENED {
        let wide = thin_svd(Mat::from_fn(n, m, |i, j| a[(i, j)].as_f64()).as_ref())?;
        let narrow = |w: &Mat<f64>| Mat::from_fn(w.nrows(), w.ncols(), |i, j| T::of(w[(i, j)]));
        return Some(ThinSvd {
            u: narrow(&wide.u),
            sigma: wide.sigma.into_iter().map(T::of).collect(),
            v: narrow(&wide.v),
        });
    }
    let k = n.min(m);
    let mut out = ThinSvd { u: Mat::zeros(n, k), sigma: vec![T::zero(); k], v: Mat::zeros(m, k) };
    if k == 0 {
        return Some(out);
    }
    let mut sigma = faer::diag::Diag::<T>::zeros(k);
    let (thin, par) = (ComputeSvdVectors::Thin, spread(k));
    let mut buffer = MemBuffer::new(svd_scratch::<T>(n, m, thin, thin, par, Default::default()));
    let (u, v) = (Some(out.u.as_mut()), Some(out.v.as_mut()));
    svd(a, sigma.as_mut(), u, v, par, MemStack::new(&mut buffer), Default::default()).ok()?;
    out.sigma.iter_mut().enumerate().for_each(|(i, s)| *s = sigma.column_vector()[i]);
    Some(out)
}

/// An orthonormal basis of the columns of a tall matrix and the coefficients: y = q · r + what is left out.
pub struct Orthonormal<T> {
    /// The basis.
    pub q: Mat<T>,
    /// The coefficients.
    pub r: Mat<T>,
    /// Length of the shortest direction in q.
    pub shortest: f64,
    /// Length of the longest direction left out.
    pub left_out: f64,
}

/// Orthonormalises the longest directions among the columns of `y`; `None` when y is not finite.
///
/// Left out are directions of length at most `drop`, and those shorter than √ε times the longest: a basis of lengths
/// that differ more would not be orthonormal. R comes from a tree of Householder factorisations, hence without squaring
/// the condition number. One call leaves q orthonormal up to √ε: call twice.
///
/// 1. R of y = Q·R, chunk by chunk and once more for the stacked R of the chunks.
/// 2. R = W·S·Vᵀ, whose singular values are the lengths of the directions in y.
/// 3. q = y·V·S⁻¹ and r = S·Vᵀ for the directions that are kept.
pub fn orthonormalize<T: Scalar>(y: MatRef<'_, T>, drop: f64) -> Option<Orthonormal<T>> {
    let svd = thin_svd(triangular_factor(y).as_ref())?;
    if svd.sigma.iter().any(|s| !num_traits::Float::is_finite(*s)) {
        return None;
    }
    let longest = svd.sigma.first().map_or(0.0, |s| s.as_f64());
    let limit = drop.max(T::eps().sqrt() * longest);
    let kept = svd.sigma.iter().take_while(|s| s.as_f64() > limit).count();
    let scaled = Mat::from_fn(y.ncols(), kept, |i, j| svd.v[(i, j)] / svd.sigma[j]);
    let r = Mat::from_fn(kept, y.ncols(), |i, j| svd.v[(j, i)] * svd.sigma[i]);
    let length = |at: usize| svd.sigma.get(at).map_or(0.0, |s| s.as_f64());
    let shortest = length(kept.saturating_sub(1));
    Some(Orthonormal { q: mul(y, scaled.as_ref()), r, shortest, left_out: length(kept) })
}

/// The R of y = Q·R: that of every chunk on its own, then that of all of them stacked, which is the same up to signs.
fn triangular_factor<T: Scalar>(y: MatRef<'_, T>) -> Mat<T> {
    let parts: Vec<Mat<T>> =
        chunks(y.nrows()).into_par_iter().map(|(start, len)| small_triangular_factor(y.subrows(start, len))).collect();
    let rows = parts.iter().map(Mat::nrows).sum();
    let mut stacked = Mat::zeros(rows, y.ncols());
    let mut at = 0;
    for part in &parts {
        stacked.as_mut().subrows_mut(at, part.nrows()).copy_from(part);
        at += part.nrows();
    }
    if parts.len() < 2 { stacked } else { small_triangular_factor(stacked.as_ref()) }
}

/// Householder's factorisation of one chunk on one thread; Q is not formed.
fn small_triangular_factor<T: Scalar>(y: MatRef<'_, T>) -> Mat<T> {
    let (n, b) = y.shape();
    let k = n.min(b);
    if k == 0 {
        return Mat::zeros(0, b);
    }
    let block = qr::recommended_block_size::<T>(n, b).min(k);
    let mut a = y.to_owned();
    let mut coefficients = Mat::zeros(block, k);
    let mut buffer = MemBuffer::new(qr::qr_in_place_scratch::<T>(n, b, block, Par::Seq, Default::default()));
    qr::qr_in_place(a.as_mut(), coefficients.as_mut(), Par::Seq, MemStack::new(&mut buffer), Default::default());
    Mat::from_fn(k, b, |i, j| if i <= j { a[(i, j)] } else { T::zero() })
}

/// Start and length of each chunk.
fn chunks(rows: usize) -> Vec<(usize, usize)> {
    (0..rows).step_by(CHUNK).map(|start| (start, CHUNK.min(rows - start))).collect()
}

/// Euclidean length of each column.
pub fn column_norms<T: Scalar>(a: MatRef<'_, T>) -> Vec<f64> {
    a.col_iter().map(|c| c.norm_l2().as_f64()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{self, Purpose};

    fn random(n: usize, m: usize) -> Mat<f64> {
        random::gaussian(n, m, &mut random::generator(1, Purpose::Data))
    }

    #[test]
    fn chunked_products_equal_plain_ones() {
        let (a, b, h) = (random(9000, 3), random(9000, 2), random(3, 2));
        let plain = a.transpose() * &b;
        assert!((transpose_mul(a.as_ref(), b.as_ref()) - plain).norm_max() < 1e-10);
        assert!((mul(a.as_ref(), h.as_ref()) - &a * &h).norm_max() < 1e-12);
    }

    #[test]
    fn factors_in_pieces_are_factors() {
        let a = random(700, 720);
        let gram = &a * a.transpose();
        let lower = lower_factor(gram_lower(a.as_ref(), 1.0)).unwrap();
        assert!((&lower * lower.transpose() - &gram).norm_max() < 1e-9);
        assert_eq!(lower[(3, 600)], 0.0);
        let mut indefinite = gram;
        indefinite[(650, 650)] = -1.0;
        assert!(lower_factor(indefinite).is_none());
    }

    #[test]
    fn shared_decompositions_are_right_and_the_same_for_every_number_of_threads() {
        let a = random(SHARED + 150, SHARED + 60);
        let gram = gram_of(&a);
        let decompose = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (thin_svd(a.as_ref()).unwrap(), eigen(gram.as_ref()).unwrap(), eigenvalues(gram.as_ref())))
        };
        let (svd, (values, vectors), ascending) = decompose(1);
        let scaled = Mat::from_fn(a.nrows(), a.ncols(), |i, j| svd.u[(i, j)] * svd.sigma[j]);
        assert!((scaled * svd.v.transpose() - &a).norm_max() < 1e-11);
        assert!((gram_of(&svd.u) - Mat::<f64>::identity(a.ncols(), a.ncols())).norm_max() < 1e-12);
        let scaled = Mat::from_fn(a.ncols(), a.ncols(), |i, j| vectors[(i, j)] * values[j]);
        assert!((scaled * vectors.transpose() - &gram).norm_max() < 1e-9);
        for threads in [2, 5] {
            let (other, (other_values, other_vectors), other_ascending) = decompose(threads);
            assert_eq!((&svd.u, &svd.sigma, &svd.v), (&other.u, &other.sigma, &other.v));
            assert_eq!((&values, &vectors, &ascending), (&other_values, &other_vectors, &other_ascending));
        }
    }

    fn gram_of(a: &Mat<f64>) -> Mat<f64> {
        transpose_mul(a.as_ref(), a.as_ref())
    }

    #[test]
    fn a_matrix_with_nan_has_no_basis() {
        let mut y = random(10, 2);
        y[(3, 1)] = f64::NAN;
        assert!(orthonormalize(y.as_ref(), 0.0).is_none());
    }
}

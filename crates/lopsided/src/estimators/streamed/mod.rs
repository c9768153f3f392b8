//! The kernel SVD of matrices that do not fit the memory.
//!
//! | estimator | kernel between | passes over the rows |
//! | --- | --- | --- |
//! | `StreamedKernelSvd` | rows and columns, as they are or in q random coordinates | sums, norm, landmarks, rows, blocks of columns |
//! | `StreamedKpca` | rows and rows as they are | landmarks, rows |
//!
//! `sketch` holds what does not depend on the kernel (coordinates and landmarks), so that several kernels and
//! bandwidths can share it; `gram` makes columns as they are, `signs` is the random matrix in bits; `core` decomposes the block where the
//! landmarks meet and extends it to all rows.

mod core;
mod gram;
mod kpca;
mod signs;
mod sketch;
#[cfg(test)]
mod tests;

pub use kpca::StreamedKpca;
pub use sketch::Sketch;

use self::core::{Core, Recipe};
use self::signs::Signs;
use self::sketch::Coordinates;
use super::compat::{Compat, GRAM_WIDTH};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::data::row_stream::RowStream;
use crate::data::samples::{CsrRef, SamplesRef};
use crate::data::state::put_matrix;
use crate::kernel::{Gamma, KernelSpec};
use crate::solvers::svd::{DEFAULT_TOLERANCE, Goal, SolveReport, Svd, SvdSolver, to_unit_columns};
use faer::{Mat, MatRef};
use std::time::Instant;

/// Landmarks on a side, as in \[KSVD\] Table 7.
const LANDMARKS: usize = 1000;
/// Random coordinates of rows and columns.
const WIDTH: usize = 1000;
/// Bytes of a block of columns.
const BLOCK_BYTES: u64 = 1 << 30;

/// Kernel SVD of a sparse N×M matrix out of core: compatibility and asymmetric Nyström, both by passes over the rows
/// (\[KSVD\] App. B.2, Table 7).
///
/// 1. Sums of the columns, one pass, and ‖A‖, by a Lanczos process on products with A: two passes a step.
/// 2. Landmarks, rows by chance and columns by their sums, with their coordinates: one pass. These are x̃ = x and z̃ = Aᵀ·A_j/‖A‖ (`gram`), or
///    x̃ = Ωᵀx and z̃ = Ωᵀ·Aᵀ·A_j/‖A‖ (`random`) with an M×q matrix Ω of entries ±1/√q; see [`Sketch`].
/// 3. The block of their kernel values, columns divided by √π_j, has the triplets (λ, u, v); λ̃ = √(N/n)·λ, which is Eq. (9) where π_j = m/M.
/// 4. Rows: x̃ of a chunk at a time, ũ ∝ k(x̃, z̃ of the landmarks)·D·v/λ, D = diag(1/√π_j): one pass.
/// 5. Columns: z̃ of a block of columns at a time, ṽ ∝ k(x̃ of the landmarks, z̃)ᵀ·u/λ: one pass a block.
/// 6. Error and residuals on 256 rows and 256 columns drawn at random, whose products run along in 4 and 5.
///
/// # Cost
/// Passes: 2·(steps of 1) + 4 and one for each block of columns, the one that finds the size included. Memory: U and V, `block_bytes`, the landmarks,
/// and O((landmarks + 2048)·landmarks). Operations of `gram`: the sum of the squared numbers of entries of the rows for each pass of 2
/// and 5, and about (N + M)·(landmarks + 256) kernel values of sparse samples; of `random`: nnz·q for each pass of 2, 4 and 5, 2·(N + M)·(landmarks + 256)·q for the
/// kernel, q bits a column and blocks of M·q numbers.
///
/// # Departures
/// - z̃ comes from x̃, never the other way round, whatever the shape: the mirrored form needs the coordinates of all columns at
///   once for each row.
/// - `gram` is the default: with 300 or 1000 random coordinates the kernel sees little of sparse rows (`benchsuite/findings/large.py`).
/// - Signs instead of Gaussian entries, see [`Sketch`].
/// - There is no polish: a product with all of G costs N·M·q. The vectors have unit length but are not exactly orthogonal.
/// - Row sums of kernels that are normalised (`sne`, `t`) are estimated from the column landmarks, and `gamma` from the landmarks.
///
/// ```
/// use lopsided::estimators::StreamedKernelSvd;
/// use lopsided::data::row_stream::RowStream;
/// use lopsided::{Csr, Run};
///
/// let entries: Vec<_> = (0..300).map(|k| (k % 60, k * k % 47, 1.0)).collect();
/// let rows = RowStream::of_matrix(Csr::from_triplets(60, 47, &entries), 16);
/// let machine = StreamedKernelSvd { rank: 3, ..StreamedKernelSvd::new("rbf") };
/// let sketch = machine.sketch(&rows, &Run::default())?;
/// let model = machine.fit(&rows, &sketch, &Run::default())?;
/// assert_eq!((model.svd.u.shape(), model.svd.v.shape()), ((60, 3), (47, 3)));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamedKernelSvd {
    /// The kernel; a `gamma` among its parameters wins over [`StreamedKernelSvd::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found for the kernels that need one.
    pub gamma: Gamma,
    /// Multiplies the bandwidth: gamma is divided by its square.
    pub gamma_factor: f64,
    /// Number of triplets.
    pub rank: usize,
    /// Row landmarks; `None`: 1000, or all rows.
    pub rows_sample: Option<usize>,
    /// Column landmarks, likewise.
    pub cols_sample: Option<usize>,
    /// `gram` or `random`: the coordinates in which rows and columns are compared.
    pub compat: Compat,
    /// Coordinates q of rows and columns under `random`; `None`: 1000, or min(N, M).
    pub width: Option<usize>,
    /// Bytes that a block of columns may take.
    pub block_bytes: u64,
    /// Largest residual relative to a triplet's own σ that counts as converged.
    pub tol: f64,
}

setters!(StreamedKernelSvd: with_kernel(kernel: KernelSpec), with_gamma(gamma: Gamma),
    with_gamma_factor(gamma_factor: f64), with_rank(rank: usize),
    with_rows_sample(rows_sample: usize => Some(rows_sample)),
    with_cols_sample(cols_sample: usize => Some(cols_sample)), with_compat(compat: Compat),
    with_width(width: usize => Some(width)), with_block_bytes(block_bytes: u64), with_tol(tol: f64));

/// Passes that most files take: those of ‖A‖ among them.
const PASSES: f64 = 16.0;
/// A kernel value takes so long for each coordinate.
const VALUE_SECONDS: f64 = 4e-9;
/// Rows and columns that errors are estimated on.
const PATCH: f64 = sketch::PATCH as f64;

impl Default for StreamedKernelSvd {
    /// The RBF kernel.
    fn default() -> Self {
        StreamedKernelSvd::new("rbf")
    }
}

/// What [`StreamedKernelSvd`] finds.
#[derive(Clone, Debug)]
pub struct StreamedModel<T> {
    /// U, Σ and V, with estimates of error and residuals in the report.
    pub svd: Svd<T>,
    /// The kernel with all of its parameters.
    pub kernel: KernelSpec,
}

impl StreamedKernelSvd {
    /// Rank 16, gamma `scale`, 1000 landmarks a side, compatibility `gram`, blocks of 1 GiB.
    pub fn new(kernel: &str) -> Self {
        StreamedKernelSvd {
            kernel: KernelSpec::new(kernel),
            gamma: Gamma::default(),
            gamma_factor: 1.0,
            rank: 16,
            rows_sample: None,
            cols_sample: None,
            compat: Compat::Gram,
            width: None,
            block_bytes: BLOCK_BYTES,
            tol: DEFAULT_TOLERANCE,
        }
    }

    /// Steps 1 and 2: what does not depend on the kernel.
    ///
    /// One sketch serves any number of kernels, bandwidths and ranks with the same landmarks and width.
    ///
    /// # Errors
    /// [`Error::Param`] for a sample size or width out of range; those of the reader; [`Error::Interrupted`].
    pub fn sketch<T: Scalar>(&self, a: &RowStream<T>, run: &Run) -> Result<Sketch<T>> {
        let (n, m) = (a.nrows(), a.ncols());
        if self.width == Some(0) {
            return Err(Error::param("compat-width", 0, "at least 1"));
        }
        let coordinates = match (self.compat, self.width) {
            (Compat::Gram, None) => Coordinates::All,
            (Compat::Gram, Some(width)) => return Err(Error::param("compat-width", width, GRAM_WIDTH)),
            (Compat::Random, _) => Coordinates::Signs(Signs::new(m, self.width_for(n, m), run.seed)),
            (other, _) => return Err(Error::param("compat", other, "gram or random out of core")),
        };
        let samples = (self.rows_sample.unwrap_or(LANDMARKS.min(n)), self.cols_sample.unwrap_or(LANDMARKS.min(m)));
        Sketch::new(a, coordinates, samples, &|| self.identity(run.seed, T::NAME), run)
    }

    /// Everything that the result depends on beside the data.
    fn identity(&self, seed: u64, precision: &str) -> serde_json::Map<String, serde_json::Value> {
        let named = [("machine", format!("{self:?}")), ("precision", precision.into()), ("seed", seed.to_string())];
        named.into_iter().map(|(name, value)| (name.to_string(), value.into())).collect()
    }

    /// q: 1000, or the smaller side where that is less.
    fn width_for(&self, n: usize, m: usize) -> usize {
        self.width.unwrap_or(WIDTH.min(n).min(m))
    }

    /// Bytes held at the peak for an N×M matrix, besides landmarks and a chunk of rows.
    ///
    /// Under `gram` a block of columns is taken to be full, since nobody knows the entries of AᵀA beforehand.
    pub fn bytes<T: Scalar>(&self, n: usize, m: usize) -> u64 {
        let vectors = ((n + m) * self.rank * T::BYTES) as u64;
        let norm = SvdSolver::<T>::plan(&sketch::NORM, n, m, 1).bytes;
        if self.compat == Compat::Gram {
            // z̃ of a column has at most as many coordinates as there are columns, each with its number.
            let most = crate::base::memory::product(&[m, m, size_of::<(u32, T)>()]);
            return norm.max(vectors + self.block_bytes.min(most)) + (16 * m) as u64;
        }
        let width = self.width_for(n, m);
        let block = self.block_bytes.min((m * width * T::BYTES) as u64);
        norm.max(vectors + block) + (m * (16 + width.div_ceil(8))) as u64
    }

    /// Rough seconds for all passes, of which one alone takes `pass`, and for the kernel values.
    pub fn seconds<T: Scalar>(&self, a: &RowStream<T>, pass: f64) -> f64 {
        let (n, m) = (a.nrows() as f64, a.ncols() as f64);
        let (rows, cols) = (self.rows_sample.unwrap_or(LANDMARKS), self.cols_sample.unwrap_or(LANDMARKS));
        let (rows, cols) = ((rows as f64).min(n), (cols as f64).min(m));
        // Under `gram` columns reach as far as the rows they are in; both are dense under `random`.
        let entries = a.nnz() as f64 / n.max(1.0);
        let width =
            if self.compat == Compat::Gram { 4.0 * entries } else { self.width_for(a.nrows(), a.ncols()) as f64 };
        let values = n * (cols + PATCH) * entries.max(16.0) + m * (rows + PATCH) * width.max(16.0);
        PASSES * pass + values * VALUE_SECONDS + rows.min(cols).powi(3) * 1e-9
    }

    /// Steps 3 to 6.
    ///
    /// # Errors
    /// [`Error::Param`] for a rank, gamma or kernel that does not fit; those of the reader; [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, a: &RowStream<T>, sketch: &Sketch<T>, run: &Run) -> Result<StreamedModel<T>> {
        let start = Instant::now();
        let core = self.core(sketch, run)?;
        let run = &self.beside(&core, sketch, run);
        let (mut u, mut gu) = rows(&core, a, sketch, sketch.patch_cols.samples.as_ref(), run)?;
        to_unit_columns(&mut u, Some(&mut gu));
        let (mut v, mut gv) = self.cols(&core, a, sketch, run)?;
        to_unit_columns(&mut v, Some(&mut gv));
        let sigma = extended_values(&core, a, sketch);
        let landmarks = Some((sketch.rows.at.len(), sketch.cols.at.len()));
        let report = SolveReport { solver: "nystrom".into(), landmarks, ..SolveReport::default() };
        let mut svd = Svd { u, sigma, v, extension: None, report };
        svd.report.error_estimate = Some(error_on_patch(&core, sketch, &svd, run)?);
        svd.report.seconds_in_operator = start.elapsed().as_secs_f64();
        svd.report.notes = self.notes(&core, sketch);
        let lengths = residual_lengths(&svd, sketch, gu.as_ref(), gv.as_ref());
        svd.judge(&lengths, Goal { tol: self.tol, complete: svd.sigma.len() == self.rank });
        svd.fix_signs();
        Ok(StreamedModel { svd, kernel: core.spec })
    }

    /// Steps 3 and 4 alone: U with columns of unit length, in one pass.
    ///
    /// # Errors
    /// Those of [`StreamedKernelSvd::fit`].
    ///
    /// # Example
    /// They are the U of [`StreamedKernelSvd::fit`] but for the signs, at the price of one pass:
    ///
    /// ```
    /// use lopsided::data::row_stream::RowStream;
    /// use lopsided::estimators::StreamedKernelSvd;
    /// use lopsided::{Csr, Run};
    ///
    /// let entries: Vec<_> = (0..300).map(|k| (k % 60, k * k % 47, 1.0)).collect();
    /// let rows = RowStream::of_matrix(Csr::from_triplets(60, 47, &entries), 16);
    /// let machine = StreamedKernelSvd { rank: 2, ..StreamedKernelSvd::new("rbf") };
    /// let sketch = machine.sketch(&rows, &Run::default())?;
    /// let u = machine.row_features(&rows, &sketch, &Run::default())?;
    /// let model = machine.fit(&rows, &sketch, &Run::default())?;
    /// let cosine: f64 = u.col(0).transpose() * model.svd.u.col(0);
    /// assert!((cosine.abs() - 1.0).abs() < 1e-9);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn row_features<T: Scalar>(&self, a: &RowStream<T>, sketch: &Sketch<T>, run: &Run) -> Result<Mat<T>> {
        let core = self.core(sketch, run)?;
        let run = &self.beside(&core, sketch, run).within("rows alone");
        let nobody = sketch.patch_cols.samples.as_ref().subrows(0, 0);
        let mut u = rows(&core, a, sketch, nobody, run)?.0;
        to_unit_columns(&mut u, None);
        Ok(u)
    }

    /// The run with a place for the states of these rows and this core.
    fn beside<T: Scalar>(&self, core: &Core<T>, sketch: &Sketch<T>, run: &Run) -> Run {
        let mut print = sketch.print();
        print.debug(&(T::NAME, self, &core.spec));
        [&core.small.u, &core.small.v].into_iter().for_each(|vectors| put_matrix(&mut print, vectors.as_ref()));
        run.within(format!("stream {print}"))
    }

    /// Step 3.
    fn core<T: Scalar>(&self, sketch: &Sketch<T>, run: &Run) -> Result<Core<T>> {
        let recipe = Recipe {
            kernel: &self.kernel,
            gamma: self.gamma,
            gamma_factor: self.gamma_factor,
            rank: self.rank,
            tol: self.tol,
        };
        let (x, z) = (sketch.rows.samples.as_ref(), sketch.cols.samples.as_ref());
        Core::new(&recipe, x, z, &sketch.shares, run)
    }

    /// Step 5, with G·V at the patch.
    fn cols<T: Scalar>(
        &self,
        core: &Core<T>,
        a: &RowStream<T>,
        sketch: &Sketch<T>,
        run: &Run,
    ) -> Result<(Mat<T>, Mat<T>)> {
        let weights = core.weights().1;
        let (x, patch) = (sketch.rows.samples.as_ref(), sketch.patch_rows.samples.as_ref());
        let landmarks = sketch.cols.samples.as_ref();
        let normalizers = (core.normalizer(x, landmarks, &run.watch)?, core.normalizer(patch, landmarks, &run.watch)?);
        let mut v = Mat::zeros(a.ncols(), weights.ncols());
        let mut image = Mat::zeros(patch.count(), weights.ncols());
        let mut part = Mat::zeros(patch.count(), weights.ncols());
        let place = "features of the columns";
        let mut done = 0;
        if let Some(state) = run.state(place)? {
            (v, image, done) = (state.matrix("v")?, state.matrix("image")?, state.field("done")?);
        }
        sketch.for_each_column_block(a, (self.block_bytes, done), run, |start, z| {
            let mut here = v.as_mut().subrows_mut(start, z.count());
            let block = core.operator(x, z, normalizers.0.clone(), &run.watch)?;
            block.apply_transpose(weights.as_ref(), here.as_mut())?;
            core.operator(patch, z, normalizers.1.clone(), &run.watch)?.apply(here.as_ref(), part.as_mut())?;
            image += &part;
            run.keep_state(place, |state| {
                state.set_matrix("v", v.as_ref());
                state.set_matrix("image", image.as_ref());
                state.set_field("done", start + z.count());
            })
        })?;
        Ok((v, image))
    }

    /// What a user should know: estimates, and triplets that the landmarks do not show.
    fn notes<T: Scalar>(&self, core: &Core<T>, sketch: &Sketch<T>) -> Vec<String> {
        let (rows, cols) = (sketch.patch_rows.at.len(), sketch.patch_cols.at.len());
        let mut notes = vec![format!(
            "out of core: vectors of unit length, not exactly orthogonal; error and residuals are estimates from {rows} \
             rows and {cols} columns"
        )];
        if core.kernel.normalization() != crate::kernel::Normalization::None {
            let sample = sketch.cols.at.len();
            notes.push(format!("row sums of the kernel are estimated from {sample} columns"));
        }
        if core.small.sigma.len() < self.rank {
            let found = core.small.sigma.len();
            notes.push(format!("the landmarks show only {found} of {} triplets", self.rank));
        }
        notes
    }
}

/// Step 4: U, and GᵀU at the columns `patch`.
fn rows<T: Scalar>(
    core: &Core<T>,
    a: &RowStream<T>,
    sketch: &Sketch<T>,
    patch: SamplesRef<'_, T>,
    run: &Run,
) -> Result<(Mat<T>, Mat<T>)> {
    let lens = |chunk: CsrRef<'_, T>| sketch.images(chunk);
    core.extend_rows(a, &lens, sketch.cols.samples.as_ref(), patch, run)
}

/// λ̃ = √(N/n)·λ.
///
/// Singular values grow with the root of the number of rows, of which the landmarks are a sample; columns have their shares.
fn extended_values<T: Scalar>(core: &Core<T>, a: &RowStream<T>, sketch: &Sketch<T>) -> Vec<T> {
    let factor = (a.nrows() as f64 / sketch.rows.at.len() as f64).sqrt();
    core.small.sigma.iter().map(|&s| s * T::of(factor)).collect()
}

/// max(‖G v − σ u‖, ‖Gᵀu − σ v‖) of each triplet, from the rows and columns of the patch.
///
/// Lengths over all N rows are estimated by those over the n rows of the patch times √(N/n), likewise for
/// columns.
fn residual_lengths<T: Scalar>(svd: &Svd<T>, sketch: &Sketch<T>, gu: MatRef<'_, T>, gv: MatRef<'_, T>) -> Vec<f64> {
    let (rows, cols) = (&sketch.patch_rows.at, &sketch.patch_cols.at);
    let root = |all: usize, part: &[usize]| (all as f64 / part.len() as f64).sqrt();
    let (n, m) = (root(svd.u.nrows(), rows), root(svd.v.nrows(), cols));
    let left = svd.distances(gv, select(&svd.u, rows).as_ref());
    let right = svd.distances(gu, select(&svd.v, cols).as_ref());
    left.iter().zip(&right).map(|(l, r)| (l * n).max(r * m)).collect()
}

/// ‖G − U·Σ·Vᵀ‖_F / ‖G‖_F on the patch.
fn error_on_patch<T: Scalar>(core: &Core<T>, sketch: &Sketch<T>, svd: &Svd<T>, run: &Run) -> Result<f64> {
    let (x, z) = (sketch.patch_rows.samples.as_ref(), sketch.patch_cols.samples.as_ref());
    let normalizer = core.normalizer(x, sketch.cols.samples.as_ref(), &run.watch)?;
    let entries = crate::operator::materialize(&*core.operator(x, z, normalizer, &run.watch)?)?;
    let u = select(&svd.u, &sketch.patch_rows.at);
    let scaled = Mat::from_fn(u.nrows(), u.ncols(), |i, k| u[(i, k)] * svd.sigma[k]);
    let known = linalg::mul(scaled.as_ref(), select(&svd.v, &sketch.patch_cols.at).transpose());
    let whole = entries.norm_l2().as_f64();
    Ok(if whole == 0.0 { 0.0 } else { (&entries - known).norm_l2().as_f64() / whole })
}

fn select<T: Scalar>(a: &Mat<T>, rows: &[usize]) -> Mat<T> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

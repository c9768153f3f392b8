//! The coordinates in which a streamed matrix is seen, and the samples that are looked at.

use super::signs::Signs;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::row_stream::RowStream;
use crate::data::samples::{CsrRef, Side};
use crate::operator::StreamedOperator;
use crate::solvers::landmarks::{Sampler, Uniform};
use crate::solvers::svd::{Lanczos, SvdSolver};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Coordinates handled by one task.
const COORDINATES: usize = 64;
/// Columns of a block come in multiples of this, so that the tiles of a product do not depend on the size of the block.
const COLUMNS: usize = 256;
/// Rows and columns that errors are estimated on.
const PATCH: usize = 256;

/// Who finds ‖A‖. It scales z̃ against x̃, so a few digits are enough.
pub(super) const NORM: Lanczos = Lanczos { tol: 1e-3, block: 2, restarts: 10 };

/// Samples of one side that are looked at together, one per row.
pub(super) struct Chosen<T> {
    /// Their rows or columns, ascending.
    pub(super) at: Vec<usize>,
    /// Their coordinates.
    pub(super) samples: Mat<T>,
}

/// The rows x̃ = Ωᵀx and columns z̃ = Aᵀ(AΩ)/‖A‖ of a streamed matrix A: the random compatibility a2 of \[KSVD\] Remark 2.3,
/// with the landmarks of both sides.
///
/// Nothing of it grows with N·M or with (N + M)·q except q bits for each column of A: the other x̃ are made chunk by chunk
/// in a pass, the other z̃ for a block of columns in a pass.
///
/// With E ΩΩᵀ = I the product of a row and a column in these coordinates is x̃ᵀz̃ = xᵀΩΩᵀAᵀA_j/‖A‖ ≈
/// (A·Aᵀ·A)_ij/‖A‖, the same as that of the random compatibility in memory. It is made by
/// [`super::StreamedKernelSvd::sketch`].
pub struct Sketch<T> {
    /// Ω.
    pub(super) signs: Signs<T>,
    /// 1/‖A‖.
    pub(super) scale: T,
    pub(super) rows: Chosen<T>,
    pub(super) cols: Chosen<T>,
    /// Rows that errors are estimated on.
    pub(super) patch_rows: Chosen<T>,
    /// Columns that errors are estimated on.
    pub(super) patch_cols: Chosen<T>,
}

impl<T: Scalar> Sketch<T> {
    /// Finds ‖A‖ (two passes for each step of a Lanczos process), draws landmarks and computes their coordinates (one pass).
    pub(super) fn new(a: &RowStream<T>, width: usize, (rows, cols): (usize, usize), run: &Run) -> Result<Self> {
        let operator = StreamedOperator::new(a, &run.watch);
        let pick = |side, count| Uniform.pick(&operator, side, count, run.seed);
        let (rows, cols) = (pick(Side::Row, rows)?, pick(Side::Col, cols)?);
        let patch =
            |size: usize, purpose| random::subset(size, PATCH.min(size), &mut random::generator(run.seed, purpose));
        let (patch_rows, patch_cols) = (patch(a.nrows(), Purpose::PatchRows), patch(a.ncols(), Purpose::PatchCols));
        let scale = T::of(1.0 / spectral_norm(&operator, run)?);
        let signs = Signs::new(a.ncols(), width, run.seed);
        let mut all_cols = [&cols[..], &patch_cols].concat();
        all_cols.sort_unstable();
        all_cols.dedup();
        let empty = |count| Mat::zeros(width, count);
        let (mut x, mut x_patch, mut z) = (empty(rows.len()), empty(patch_rows.len()), empty(all_cols.len()));
        a.for_each_chunk("coordinates of the landmarks", &run.watch, |start, chunk| {
            let images = signs.images(chunk);
            copy_images(&images, start, &rows, &mut x);
            copy_images(&images, start, &patch_rows, &mut x_patch);
            add_columns(chunk, images.as_ref(), |j| all_cols.binary_search(&j).ok(), &mut z);
            Ok(())
        })?;
        // Every chosen column is among all of them, so the position that the search returns is its own.
        let of = |j: usize| all_cols.partition_point(|&other| other < j);
        let columns = |list: &[usize]| Mat::from_fn(list.len(), width, |i, k| z[(k, of(list[i]))] * scale);
        Ok(Sketch {
            scale,
            cols: Chosen { samples: columns(&cols), at: cols },
            patch_cols: Chosen { samples: columns(&patch_cols), at: patch_cols },
            rows: Chosen { samples: x.transpose().to_owned(), at: rows },
            patch_rows: Chosen { samples: x_patch.transpose().to_owned(), at: patch_rows },
            signs,
        })
    }

    /// Number of coordinates q.
    pub fn width(&self) -> usize {
        self.signs.width()
    }

    /// The coordinates z̃ of all columns, as many at a time as fit `bytes`, with the number of the first: a pass for each block.
    pub(super) fn for_each_column_block(
        &self,
        a: &RowStream<T>,
        bytes: u64,
        run: &Run,
        mut visit: impl FnMut(usize, MatRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let fitting = bytes as usize / (self.width() * T::BYTES);
        let block = (fitting / COLUMNS).max(1) * COLUMNS;
        for start in (0..a.ncols()).step_by(block) {
            let here = start..a.ncols().min(start + block);
            let mut z = Mat::zeros(self.width(), here.len());
            a.for_each_chunk("coordinates of the columns", &run.watch, |_, chunk| {
                let images = self.signs.images(chunk);
                add_columns(chunk, images.as_ref(), |j| here.contains(&j).then(|| j - start), &mut z);
                Ok(())
            })?;
            z.as_mut().par_col_chunks_mut(COLUMNS).for_each(|z| {
                z.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= self.scale));
            });
            visit(start, z.transpose())?;
        }
        Ok(())
    }
}

/// ‖A‖; 1 for a matrix of zeros.
fn spectral_norm<T: Scalar>(a: &StreamedOperator<'_, T>, run: &Run) -> Result<f64> {
    Ok(NORM.solve(a, 1, run)?.sigma.first().map_or(1.0, |s| s.as_f64()))
}

/// Copies the images of those listed rows that are in a chunk.
fn copy_images<T: Scalar>(images: &Mat<T>, start: usize, list: &[usize], out: &mut Mat<T>) {
    let place = |row: usize| list.partition_point(|&i| i < row);
    let first = place(start);
    for (at, row) in list[first..place(start + images.ncols())].iter().enumerate() {
        out.as_mut().col_mut(first + at).copy_from(images.col(row - start));
    }
}

/// out\[:, slot(j)\] ← out\[:, slot(j)\] + Σ_i a_ij·images\[:, i\] for the rows i of a chunk, in order.
fn add_columns<T: Scalar>(
    rows: CsrRef<'_, T>,
    images: MatRef<'_, T>,
    slot: impl Fn(usize) -> Option<usize>,
    out: &mut Mat<T>,
) {
    let mut entries = Vec::with_capacity(rows.nnz());
    for i in 0..rows.nrows() {
        let (cols, values) = rows.row(i);
        let known = cols.iter().zip(values).filter_map(|(&j, &value)| Some((i, slot(j as usize)?, value)));
        entries.extend(known);
    }
    out.as_mut().par_row_chunks_mut(COORDINATES).zip(images.par_row_chunks(COORDINATES)).for_each(
        |(mut out, images)| {
            for &(i, at, value) in &entries {
                let (to, from) = (out.rb_mut().col_mut(at), images.rb().col(i));
                // Both matrices are stored by columns.
                if let (Some(to), Some(from)) = (to.try_as_col_major_mut(), from.try_as_col_major()) {
                    let (to, from) = (to.as_slice_mut(), from.as_slice());
                    to.iter_mut().zip(from).for_each(|(to, &from)| *to += value * from);
                }
            }
        },
    );
}

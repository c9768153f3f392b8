//! The coordinates in which a streamed matrix is seen, and the samples that are looked at.

use super::gram::GramColumns;
use super::signs::Signs;
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::row_stream::RowStream;
use crate::data::samples::{Csr, CsrRef, Samples, SamplesRef, Side};
use crate::data::state::put_samples;
use crate::operator::StreamedOperator;
use crate::solvers::landmarks::{Sampler, Uniform, check_count, weighted_draw};
use crate::solvers::svd::{Lanczos, SvdSolver};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Coordinates handled by one task.
const COORDINATES: usize = 64;
/// Columns of a block come in multiples of this, so that the tiles of a product do not depend on the size of the block.
const COLUMNS: usize = 256;
/// What the pass is called that finds the coordinates of the landmarks.
const LANDMARKS: &str = "coordinates of the landmarks";
/// Rows and columns that errors are estimated on.
pub(super) const PATCH: usize = 256;

/// Who finds ‖A‖. It scales z̃ against x̃, so a few digits are enough.
pub(super) const NORM: Lanczos = Lanczos { tol: 1e-3, block: 2, restarts: 10 };

/// Share of the column landmarks that are drawn by chance alone, so that no column is left out for good.
const BY_CHANCE: f64 = 0.1;

/// Samples of one side that are looked at together, one per row.
pub(super) struct Chosen<T> {
    /// Their rows or columns, ascending.
    pub(super) at: Vec<usize>,
    /// Their coordinates.
    pub(super) samples: Samples<T>,
}

/// The coordinates in which rows and columns are compared.
pub(super) enum Coordinates<T> {
    /// x̃ = x and z̃_j = Aᵀ·A_j/‖A‖, sparse.
    All,
    /// x̃ = Ωᵀx and z̃_j = Ωᵀ·Aᵀ·A_j/‖A‖, dense.
    Signs(Signs<T>),
}

/// The rows x̃ and columns z̃ of a streamed matrix A in common coordinates, with the landmarks of both sides.
///
/// | compatibility | rows | columns | scalar product of a row and a column |
/// | --- | --- | --- | --- |
/// | `gram` | x̃ = x | z̃_j = Aᵀ·A_j/‖A‖ | (A·Aᵀ·A)_ij/‖A‖ |
/// | `random`, a2 of \[KSVD\] Remark 2.3 | x̃ = Ωᵀx | z̃_j = Ωᵀ·Aᵀ·A_j/‖A‖ | the same on average, as E ΩΩᵀ = I |
///
/// The first keeps rows sparse and columns as sparse as AᵀA. Nothing grows with N·M or with (N + M)·q except q bits for each
/// column of A under `random`: the other x̃ are made chunk by chunk in a pass, the other z̃ for a block of columns in a pass.
/// It is made by [`super::StreamedKernelSvd::sketch`].
///
/// Row landmarks are drawn by chance. Column j is drawn in proportion to 0.9·s_j²/Σs² + 0.1/M, where s_j is the sum of the sizes of
/// its entries: most columns of a sparse table have hardly any entry, and a kernel sees them as one. What is summed over
/// columns is weighted by 1/π_j, with the probability π_j that j is drawn, and so estimates the sum over all of them.
pub struct Sketch<T> {
    pub(super) coordinates: Coordinates<T>,
    /// 1/‖A‖.
    pub(super) scale: T,
    pub(super) rows: Chosen<T>,
    pub(super) cols: Chosen<T>,
    /// 1/π of the column landmarks.
    pub(super) shares: Vec<f64>,
    /// Rows that errors are estimated on.
    pub(super) patch_rows: Chosen<T>,
    /// Columns that errors are estimated on.
    pub(super) patch_cols: Chosen<T>,
    sums: ColumnSums,
}

/// What one pass tells about the columns.
struct ColumnSums {
    /// Sums of the sizes of their entries.
    sizes: Vec<f64>,
    /// Entries of the rows that they have an entry in: at least those of their z̃.
    reach: Vec<usize>,
    /// For a checkpoint: what tells the rows from others.
    print: Fingerprint,
}

impl ColumnSums {
    fn of<T: Scalar>(a: &RowStream<T>, run: &Run) -> Result<Self> {
        let print = Fingerprint::default();
        let mut sums = ColumnSums { sizes: vec![0.0; a.ncols()], reach: vec![0; a.ncols()], print };
        a.for_each_chunk("sums of the columns", &run.watch, |_, chunk| {
            if run.checkpoint.is_on() {
                put_samples(&mut sums.print, SamplesRef::Sparse(chunk));
            }
            for (cols, values) in (0..chunk.nrows()).map(|i| chunk.row(i)) {
                for (&j, value) in cols.iter().zip(values) {
                    sums.sizes[j as usize] += value.as_f64().abs();
                    sums.reach[j as usize] += cols.len();
                }
            }
            Ok(())
        })?;
        Ok(sums)
    }

    /// Landmarks with the inverses of their probabilities.
    fn draw(&self, count: usize, seed: u64) -> (Vec<usize>, Vec<f64>) {
        let total: f64 = self.sizes.iter().map(|s| s * s).sum();
        let (long, even) =
            (if total > 0.0 { (1.0 - BY_CHANCE) / total } else { 0.0 }, BY_CHANCE / self.sizes.len() as f64);
        let weights: Vec<f64> = self.sizes.iter().map(|s| s * s * long + even).collect();
        let (picked, threshold) = weighted_draw(&weights, count, &mut random::generator(seed, Purpose::ColLandmarks));
        let shares = picked.iter().map(|&j| -1.0 / (-weights[j] * threshold).exp_m1()).collect();
        (picked, shares)
    }

    /// Ranges of neighbouring columns whose z̃ fit so many bytes while they are made.
    fn blocks(&self, bytes: u64, entry: usize) -> Vec<Range<usize>> {
        let most = self.reach.len();
        let mut blocks: Vec<Range<usize>> = Vec::new();
        let mut held = 0;
        for start in (0..most).step_by(COLUMNS) {
            let here = start..most.min(start + COLUMNS);
            let needed = self.reach[here.clone()].iter().map(|&r| r.min(2 * most) * entry).sum::<usize>() as u64;
            if let Some(block) = blocks.last_mut().filter(|_| held + needed <= bytes) {
                (block.end, held) = (here.end, held + needed);
            } else {
                blocks.push(here);
                held = needed;
            }
        }
        blocks
    }
}

impl<T: Scalar> Sketch<T> {
    /// Looks at the columns (one pass), finds ‖A‖ (two passes for each step of a Lanczos process), draws landmarks and computes their
    /// coordinates (one pass). A checkpoint is told of its `owner`.
    pub(super) fn new(
        a: &RowStream<T>,
        coordinates: Coordinates<T>,
        (rows, cols): (usize, usize),
        owner: &dyn Fn() -> serde_json::Map<String, serde_json::Value>,
        run: &Run,
    ) -> Result<Self> {
        let operator = StreamedOperator::new(a, &run.watch);
        let rows = Uniform.pick(&operator, Side::Row, rows, run.seed)?;
        check_count(&operator, Side::Col, cols)?;
        let sums = ColumnSums::of(a, run)?;
        let print = sums.print;
        run.checkpoint.belongs(owner, || print.value())?;
        let run = &run.within(format!("stream {print}"));
        let (cols, shares) = sums.draw(cols, run.seed);
        let patch =
            |size: usize, purpose| random::subset(size, PATCH.min(size), &mut random::generator(run.seed, purpose));
        let (patch_rows, patch_cols) = (patch(a.nrows(), Purpose::PatchRows), patch(a.ncols(), Purpose::PatchCols));
        let scale = T::of(1.0 / spectral_norm(&operator, run)?);
        let mut all_cols = [&cols[..], &patch_cols].concat();
        all_cols.sort_unstable();
        all_cols.dedup();
        let listed = Listed { rows: [&rows, &patch_rows], cols: &all_cols, scale };
        let found = match &coordinates {
            Coordinates::All => gathered(a, &listed, run)?,
            Coordinates::Signs(signs) => projected(a, signs, &listed, run)?,
        };
        let [x, x_patch, z] = found;
        // Every chosen column is among all of them, so the position that the search returns is its own.
        let of = |list: &[usize]| -> Vec<usize> {
            list.iter().map(|j| all_cols.partition_point(|other| other < j)).collect()
        };
        let columns = |list: &[usize]| z.as_ref().select(&of(list));
        Ok(Sketch {
            scale,
            shares,
            sums,
            cols: Chosen { samples: columns(&cols), at: cols },
            patch_cols: Chosen { samples: columns(&patch_cols), at: patch_cols },
            rows: Chosen { samples: x, at: rows },
            patch_rows: Chosen { samples: x_patch, at: patch_rows },
            coordinates,
        })
    }

    /// For a checkpoint: what tells the rows from others.
    pub(super) fn print(&self) -> Fingerprint {
        self.sums.print
    }

    /// Number of coordinates: q, or that of the rows as they are.
    pub fn width(&self) -> usize {
        self.rows.samples.width()
    }

    /// The rows of a chunk in these coordinates.
    pub(super) fn images(&self, chunk: CsrRef<'_, T>) -> Samples<T> {
        match &self.coordinates {
            Coordinates::All => Samples::Sparse(chunk.to_owned()),
            Coordinates::Signs(signs) => Samples::Dense(signs.images(chunk).transpose().to_owned()),
        }
    }

    /// The coordinates z̃ of all columns after those that are done, as many at a time as fit `bytes`, with the number of the first: a
    /// pass for each block.
    pub(super) fn for_each_column_block(
        &self,
        a: &RowStream<T>,
        (bytes, done): (u64, usize),
        run: &Run,
        mut visit: impl FnMut(usize, SamplesRef<'_, T>) -> Result<()>,
    ) -> Result<()> {
        let stage = "coordinates of the columns";
        match &self.coordinates {
            Coordinates::All => {
                let blocks = self.sums.blocks(bytes, size_of::<(u32, T)>());
                for here in blocks.into_iter().filter(|block| block.start >= done) {
                    let mut z = GramColumns::new(here.len());
                    a.for_each_chunk(stage, &run.watch, |_, chunk| {
                        z.add(chunk, |j| here.contains(&j).then(|| j - here.start));
                        Ok(())
                    })?;
                    visit(here.start, SamplesRef::Sparse(z.finish(a.ncols(), self.scale).as_ref()))?;
                }
            }
            Coordinates::Signs(signs) => {
                let fitting = bytes as usize / (self.width() * T::BYTES);
                let block = (fitting / COLUMNS).max(1) * COLUMNS;
                for start in (0..a.ncols()).step_by(block).filter(|start| *start >= done) {
                    let here = start..a.ncols().min(start + block);
                    let mut z = Mat::zeros(self.width(), here.len());
                    a.for_each_chunk(stage, &run.watch, |_, chunk| {
                        let images = signs.images(chunk);
                        add_columns(chunk, images.as_ref(), |j| here.contains(&j).then(|| j - start), &mut z);
                        Ok(())
                    })?;
                    scale_all(&mut z, self.scale);
                    visit(start, SamplesRef::Dense(z.transpose()))?;
                }
            }
        }
        Ok(())
    }
}

/// Two lists of rows, and columns that are scaled.
struct Listed<'a, T> {
    rows: [&'a [usize]; 2],
    cols: &'a [usize],
    scale: T,
}

/// The listed rows and z̃ of the listed columns, as they are.
fn gathered<T: Scalar>(a: &RowStream<T>, listed: &Listed<'_, T>, run: &Run) -> Result<[Samples<T>; 3]> {
    let Listed { rows, cols, scale } = *listed;
    let mut x = [Csr::empty(a.ncols()), Csr::empty(a.ncols())];
    let mut z = GramColumns::new(cols.len());
    a.for_each_chunk(LANDMARKS, &run.watch, |start, chunk| {
        rows.iter().zip(&mut x).for_each(|(list, x)| push_rows(chunk, start, list, x));
        z.add(chunk, |j| cols.binary_search(&j).ok());
        Ok(())
    })?;
    let [x, patch] = x;
    Ok([x, patch, z.finish(a.ncols(), scale)].map(Samples::Sparse))
}

/// The same through Ω.
fn projected<T: Scalar>(
    a: &RowStream<T>,
    signs: &Signs<T>,
    listed: &Listed<'_, T>,
    run: &Run,
) -> Result<[Samples<T>; 3]> {
    let Listed { rows, cols, scale } = *listed;
    let empty = |count| Mat::zeros(signs.width(), count);
    let (mut x, mut z) = ([empty(rows[0].len()), empty(rows[1].len())], empty(cols.len()));
    a.for_each_chunk(LANDMARKS, &run.watch, |start, chunk| {
        let images = signs.images(chunk);
        rows.iter().zip(&mut x).for_each(|(list, x)| copy_images(&images, start, list, x));
        add_columns(chunk, images.as_ref(), |j| cols.binary_search(&j).ok(), &mut z);
        Ok(())
    })?;
    scale_all(&mut z, scale);
    let [x, patch] = x;
    Ok([x, patch, z].map(|found| Samples::Dense(found.transpose().to_owned())))
}

/// Appends those listed rows that are in a chunk.
pub(super) fn push_rows<T: Scalar>(chunk: CsrRef<'_, T>, start: usize, list: &[usize], out: &mut Csr<T>) {
    let place = |row: usize| list.partition_point(|&i| i < row);
    for row in &list[place(start)..place(start + chunk.nrows())] {
        let (cols, values) = chunk.row(row - start);
        out.push_row(cols.iter().copied().zip(values.iter().copied()));
    }
}

fn scale_all<T: Scalar>(z: &mut Mat<T>, scale: T) {
    z.as_mut().par_col_chunks_mut(COLUMNS).for_each(|z| {
        z.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v *= scale));
    });
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

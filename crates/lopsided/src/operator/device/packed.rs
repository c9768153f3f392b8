//! Samples in the memory of a card, and the numbers that stand for a kernel there.

use super::Arithmetic;
use crate::base::device::{Argument, Buffer, Worker};
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::kernel::Formula;
use crate::products::exponents::means;
use faer::MatRef;
use rayon::prelude::*;
use std::f64::consts::LOG2_E;

/// Samples of a side are padded to a multiple of this, which blocks of all kernels divide.
const PADDED: usize = 384;
/// Size of the samples beyond the last one: no kernel has a value there.
const BEYOND: f64 = 1e30;
/// Half of the squared length, in units of the kernel, beyond which a difference of lengths leaves fewer than three digits of
/// a value: such samples are left to doubles.
const LONGEST: f64 = 4096.0;
/// Values of a kernel are brought to at most two to this, where halves keep their digits.
const HEADROOM: i32 = 15;

/// Degrees of polynomials whose values a power of two of the base can bring there, and how far it may be away.
const HIGHEST: u32 = 8;
const LARGEST_POWER: f64 = 60.0;

/// What a kernel is on a card: `cuda/values.cu` has the formulas.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    /// In the names of kernels.
    pub(super) name: &'static str,
    pub(super) scale: f64,
    pub(super) shift: f64,
    pub(super) degree: i32,
    /// What takes the headroom out of the sums again.
    pub(super) factor: f64,
}

/// How samples are moved and scaled before they are packed.
#[derive(Clone, Debug)]
pub(super) struct Preparation {
    center: Vec<f64>,
    /// Of the rows and of the columns.
    factors: (f64, f64),
}

/// A kernel and its samples as a card has them.
pub(super) struct Prepared {
    pub(super) function: Function,
    pub(super) arithmetic: Arithmetic,
    pub(super) preparation: Preparation,
}

impl Prepared {
    /// The factors by which the kernel becomes one of the formulas, and everything stays in the range of the numbers.
    pub(super) fn of<T: Scalar>(
        formula: Formula,
        (x, z): (MatRef<'_, T>, MatRef<'_, T>),
        arithmetic: Arithmetic,
    ) -> Self {
        let width = x.ncols();
        let centre = || means(if x.nrows() >= z.nrows() { x } else { z }).into_iter().map(Scalar::as_f64).collect();
        let (center, factors): (Vec<f64>, _) = match formula {
            Formula::Exponential { gamma } => (centre(), both((2.0 * gamma * LOG2_E).sqrt())),
            Formula::Inverse { gamma } => (centre(), both((2.0 * gamma).sqrt())),
            Formula::Power { .. } => (vec![0.0; width], (to_sixteen(x), to_sixteen(z))),
        };
        let preparation = Preparation { center, factors };
        let fits = if let Formula::Power { gamma, coef0, degree } = formula {
            degree <= HIGHEST && bound(gamma, coef0, x, z).log2().abs() <= LARGEST_POWER
        } else {
            let reach = |samples| length(samples, &preparation.center) * factors.0;
            0.5 * reach(x).max(reach(z)).powi(2) <= LONGEST
        };
        let arithmetic = if fits { arithmetic } else { Arithmetic::Doubles };
        let room = if arithmetic == Arithmetic::Doubles { 0 } else { HEADROOM };
        let plain = Function { name: "exponential", scale: 1.0, shift: 0.0, degree: 0, factor: power_of_two(-room) };
        let function = match formula {
            Formula::Exponential { .. } => Function { shift: f64::from(room), ..plain },
            Formula::Inverse { .. } => Function { name: "inverse", scale: power_of_two(room), ..plain },
            Formula::Power { gamma, coef0, degree } => {
                let bound = bound(gamma, coef0, x, z);
                let base =
                    if room == 0 { 0 } else { (f64::from(room) / f64::from(degree) - bound.log2()).floor() as i32 };
                let own = power_of_two(base);
                let scale = gamma / (factors.0 * factors.1) * own;
                let factor = own.powi(-(degree as i32));
                Function { name: "power", scale, shift: coef0 * own, degree: degree as i32, factor }
            }
        };
        Prepared { function, arithmetic, preparation }
    }
}

/// No value of gamma·⟨x, z⟩ + coef0 is larger.
fn bound<T: Scalar>(gamma: f64, coef0: f64, x: MatRef<'_, T>, z: MatRef<'_, T>) -> f64 {
    let origin = vec![0.0; x.ncols()];
    gamma * length(x, &origin) * length(z, &origin) + coef0.abs()
}

fn both(factor: f64) -> (f64, f64) {
    (factor, factor)
}

fn power_of_two(exponent: i32) -> f64 {
    2.0_f64.powi(exponent)
}

/// A power of two that brings the largest coordinate to between 8 and 16.
fn to_sixteen<T: Scalar>(samples: MatRef<'_, T>) -> f64 {
    let of_column = |column: faer::ColRef<'_, T>| column.iter().map(|v| v.as_f64().abs()).fold(0.0, f64::max);
    let most = samples.par_col_iter().map(of_column).reduce(|| 0.0, f64::max);
    if most > 0.0 { power_of_two(3 - most.log2().floor() as i32) } else { 1.0 }
}

/// The length of the sample that is farthest from the center.
fn length<T: Scalar>(samples: MatRef<'_, T>, center: &[f64]) -> f64 {
    let of_some = |rows: MatRef<'_, T>| {
        let mut squares = vec![0.0; rows.nrows()];
        for (column, center) in rows.col_iter().zip(center) {
            squares.iter_mut().zip(column.iter()).for_each(|(sum, v)| *sum += (v.as_f64() - center).powi(2));
        }
        squares.into_iter().fold(0.0, f64::max)
    };
    samples.par_row_chunks(1024).map(of_some).reduce(|| 0.0, f64::max).sqrt()
}

/// The samples of one side.
pub(super) struct Packed {
    pub(super) count: usize,
    /// Steps of 16 coordinates.
    pub(super) depth: usize,
    /// In tiles of 64, as rows of the matrix.
    pub(super) as_rows: Buffer,
    /// In tiles of 128 (64 in double precision), as its columns.
    pub(super) as_cols: Buffer,
    /// Half of the squared length of each, as prepared.
    pub(super) sizes: Buffer,
}

/// Samples of a side with those that fill up its tiles.
pub(super) fn padded(count: usize) -> usize {
    count.next_multiple_of(PADDED)
}

impl Packed {
    /// Packs the rows (`side` 0) or the columns of the matrix.
    pub(super) fn new<T: Scalar>(
        worker: &Worker,
        samples: MatRef<'_, T>,
        side: usize,
        prepared: &Prepared,
    ) -> Result<Self> {
        let (n, d) = samples.shape();
        let (padded, depth) = (padded(n), depth(d, prepared.arithmetic));
        let Preparation { center, factors } = &prepared.preparation;
        let factor = if side == 0 { factors.0 } else { factors.1 };
        let raw = matrix(worker, samples)?;
        let center = worker.uploaded::<f64>(center)?;
        let tiles = padded * depth * 16 * prepared.arithmetic.bytes();
        let tools = tools::<T>();
        let int = |value: usize| Argument::Int(value as i32);
        let grid = ((4096, 1), 256, 0);
        let common = || {
            [Argument::Buffer(&raw), Argument::Buffer(&center), Argument::Double(factor), int(n), int(d), int(padded)]
        };
        let launch = |name: &str, out: &Buffer, more: Vec<Argument<'_>>| {
            let arguments: Vec<Argument<'_>> =
                [Argument::Buffer(out)].into_iter().chain(common()).chain(more).collect();
            worker.launch((tools, name), grid, &arguments)
        };
        let (as_rows, as_cols, sizes);
        match prepared.arithmetic {
            Arithmetic::Doubles => {
                as_rows = worker.buffer(tiles)?;
                launch("pack_samples_double", &as_rows, vec![int(depth)])?;
                // Rows and columns are packed alike.
                as_cols = worker.buffer(0)?;
                sizes = worker.buffer(padded * 8)?;
                launch("sizes_double", &sizes, vec![Argument::Double(BEYOND)])?;
            }
            Arithmetic::Halves(parts) => {
                (as_rows, as_cols) = (worker.buffer(tiles)?, worker.buffer(tiles)?);
                launch("pack_samples", &as_rows, vec![int(depth), int(64), int(parts)])?;
                launch("pack_samples", &as_cols, vec![int(depth), int(128), int(parts)])?;
                sizes = worker.buffer(padded * 4)?;
                launch("sizes", &sizes, vec![int(parts), Argument::Float(BEYOND as f32)])?;
            }
        }
        worker.finish()?;
        Ok(Packed { count: n, depth, as_rows, as_cols, sizes })
    }

    /// The tiles as columns.
    pub(super) fn cols(&self, arithmetic: Arithmetic) -> &Buffer {
        if arithmetic == Arithmetic::Doubles { &self.as_rows } else { &self.as_cols }
    }
}

/// Steps of 16 coordinates: one, two, or a multiple of four, as the kernels take them.
fn depth(width: usize, arithmetic: Arithmetic) -> usize {
    let steps = width.div_ceil(16).max(1);
    if steps <= 2 || arithmetic == Arithmetic::Doubles { steps } else { steps.next_multiple_of(4) }
}

/// The kernels for matrices of this precision.
pub(super) fn tools<T: Scalar>() -> &'static str {
    if T::BYTES == 4 { "tools-float" } else { "tools-double" }
}

/// A matrix column by column.
pub(super) fn matrix<T: Scalar>(worker: &Worker, matrix: MatRef<'_, T>) -> Result<Buffer> {
    let mut out = worker.buffer(matrix.nrows() * matrix.ncols() * T::BYTES)?;
    for (j, column) in matrix.col_iter().enumerate() {
        let at = j * matrix.nrows() * T::BYTES;
        match column.try_as_col_major() {
            Some(contiguous) => worker.upload(contiguous.as_slice(), &mut out, at)?,
            None => worker.upload(&column.iter().copied().collect::<Vec<T>>(), &mut out, at)?,
        }
    }
    Ok(out)
}

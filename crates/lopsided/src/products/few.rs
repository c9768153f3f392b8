//! Products of a stored matrix with a few vectors: as fast as the matrix comes from memory, where general matrix products first
//! rearrange it.
//!
//! A matrix that is stored by rows is read as scalar products of its rows with all vectors at once, one that is stored
//! by columns as a combination of its columns; either way every entry is read once, in the order of memory.

#![expect(clippy::inline_always, reason = "they must become part of functions compiled for the vector unit")]

use super::sparse_product::by_rows;
use crate::base::scalar::Scalar;
use faer::{MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Vectors handled side by side.
pub(crate) const WIDTH: usize = 8;
/// Rows of the matrix read at the same time.
const ROWS: usize = 4;
/// Rows of the result that are one piece of work.
const PIECE: usize = 64;

/// out ← g·v for at most [`WIDTH`] columns of v; `false` if neither rows nor columns of g are contiguous.
pub(crate) fn multiply<T: Scalar>(g: MatRef<'_, T>, v: MatRef<'_, T>, out: MatMut<'_, T>) -> bool {
    if let Some(rows) = lines(g.transpose()) {
        let v = by_rows::<T, WIDTH>(v);
        out.par_row_chunks_mut(PIECE).zip(rows.par_chunks(PIECE)).for_each(|(out, rows)| {
            let mut sums = [[T::zero(); WIDTH]; PIECE];
            Arch::new().dispatch(Dots { rows, v: &v, sums: &mut sums[..rows.len()] });
            fill(out, |c, i| sums[i][c]);
        });
    } else if let Some(columns) = lines(g) {
        let v: Vec<Vec<T>> = v.col_iter().map(|column| column.iter().copied().collect()).collect();
        let piece = g.nrows().div_ceil(8).clamp(PIECE, 1024);
        out.par_row_chunks_mut(piece).enumerate().for_each(|(at, out)| {
            let mut sums = vec![vec![T::zero(); out.nrows()]; v.len()];
            Arch::new().dispatch(Combination { columns: &columns, first: at * piece, v: &v, sums: &mut sums });
            fill(out, |c, i| sums[c][i]);
        });
    } else {
        return false;
    }
    true
}

fn fill<T: Scalar>(out: MatMut<'_, T>, value: impl Fn(usize, usize) -> T) {
    for (c, column) in out.col_iter_mut().enumerate() {
        column.iter_mut().enumerate().for_each(|(i, out)| *out = value(c, i));
    }
}

/// The columns of a matrix that is stored by columns.
fn lines<T: Scalar>(g: MatRef<'_, T>) -> Option<Vec<&[T]>> {
    g.col_iter().map(|column| Some(column.try_as_col_major()?.as_slice())).collect()
}

/// sums\[i\] ← rowᵢ·v.
struct Dots<'a, T> {
    rows: &'a [&'a [T]],
    v: &'a [[T; WIDTH]],
    sums: &'a mut [[T; WIDTH]],
}

impl<T: Scalar> WithSimd for Dots<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let ((rows, last_rows), (sums, last_sums)) = (self.rows.as_chunks::<ROWS>(), self.sums.as_chunks_mut::<ROWS>());
        for (rows, sums) in rows.iter().zip(sums) {
            let ([a, b, c, d], mut here) = (*rows, [[T::zero(); WIDTH]; ROWS]);
            for ((((v, &a), &b), &c), &d) in self.v.iter().zip(a).zip(b).zip(c).zip(d) {
                add(&mut here[0], a, v);
                add(&mut here[1], b, v);
                add(&mut here[2], c, v);
                add(&mut here[3], d, v);
            }
            *sums = here;
        }
        for (row, sums) in last_rows.iter().zip(last_sums) {
            self.v.iter().zip(*row).for_each(|(v, &k)| add(sums, k, v));
        }
    }
}

/// sums\[c\]\[i\] += Σ_j columnⱼ\[first + i\]·v\[c\]\[j\].
struct Combination<'a, T> {
    columns: &'a [&'a [T]],
    first: usize,
    v: &'a [Vec<T>],
    sums: &'a mut [Vec<T>],
}

impl<T: Scalar> WithSimd for Combination<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let first = self.first;
        let (eights, rest) = self.columns.as_chunks::<8>();
        for (at, columns) in eights.iter().enumerate() {
            for (sum, v) in self.sums.iter_mut().zip(self.v) {
                let (rows, sum) = (sum.len(), sum.as_mut_slice());
                let [a, b, c, d, e, f, g, h] = columns.map(|column| &column[first..first + rows]);
                let [p, q, r, s, t, u, x, y] = v.as_chunks::<8>().0[at];
                for i in 0..rows {
                    sum[i] += ((p * a[i] + q * b[i]) + (r * c[i] + s * d[i]))
                        + ((t * e[i] + u * f[i]) + (x * g[i] + y * h[i]));
                }
            }
        }
        for (column, j) in rest.iter().zip(8 * eights.len()..) {
            for (sum, v) in self.sums.iter_mut().zip(self.v) {
                sum.iter_mut().zip(&column[first..]).for_each(|(sum, &k)| *sum += k * v[j]);
            }
        }
    }
}

#[inline(always)]
fn add<T: Scalar>(sum: &mut [T; WIDTH], k: T, v: &[T; WIDTH]) {
    (0..WIDTH).for_each(|lane| sum[lane] += k * v[lane]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{self, Purpose};
    use faer::Mat;

    #[test]
    fn products_with_few_vectors_equal_plain_ones() {
        let mut rng = random::generator(3, Purpose::Data);
        for (n, m, width) in [(1, 1, 1), (3, 7, 8), (130, 70, 5), (67, 2501, 7), (1200, 9, 2)] {
            let (g, v) = (random::gaussian::<f64>(n, m, &mut rng), random::gaussian::<f64>(m, width, &mut rng));
            let by_rows = g.transpose().to_owned();
            for g in [g.as_ref(), by_rows.transpose()] {
                let mut out = Mat::from_fn(n, width, |_, _| f64::NAN);
                assert!(multiply(g, v.as_ref(), out.as_mut()));
                assert!((out - g * &v).norm_max() < 1e-11, "{n} x {m}, {width}");
            }
        }
    }
}

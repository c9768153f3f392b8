//! Products of a stored matrix with a few vectors: as fast as the matrix comes from memory, where general matrix products first
//! rearrange it.

#![expect(clippy::inline_always, reason = "they must become part of functions compiled for the vector unit")]

use super::sparse_product::by_rows;
use crate::scalar::Scalar;
use faer::{MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Vectors handled side by side.
pub(super) const WIDTH: usize = 8;
/// Rows of the matrix read at the same time.
const ROWS: usize = 4;
/// Rows of the result that are one piece of work.
const PIECE: usize = 64;

/// out ← g·v for at most [`WIDTH`] columns of v; `false` if neither rows nor columns of g are contiguous.
pub(super) fn multiply<T: Scalar>(g: MatRef<'_, T>, v: MatRef<'_, T>, out: MatMut<'_, T>) -> bool {
    let mut sums = vec![[T::zero(); WIDTH]; g.nrows()];
    if let Some(rows) = lines(g.transpose()) {
        let v = by_rows::<T, WIDTH>(v);
        sums.par_chunks_mut(PIECE).zip(rows.par_chunks(PIECE)).for_each(|(sums, rows)| {
            Arch::new().dispatch(Dots { rows, v: &v, sums });
        });
    } else if let Some(columns) = lines(g) {
        let v = by_rows::<T, WIDTH>(v);
        let piece = g.nrows().div_ceil(8).clamp(PIECE, 1024);
        sums.par_chunks_mut(piece).enumerate().for_each(|(at, sums)| {
            Arch::new().dispatch(Combination { columns: &columns, first: at * piece, v: &v, sums });
        });
    } else {
        return false;
    }
    for (c, column) in out.col_iter_mut().enumerate() {
        column.iter_mut().zip(&sums).for_each(|(out, sum)| *out = sum[c]);
    }
    true
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

/// sums\[i\] ← Σ_j columnⱼ\[first + i\]·vⱼ.
struct Combination<'a, T> {
    columns: &'a [&'a [T]],
    first: usize,
    v: &'a [[T; WIDTH]],
    sums: &'a mut [[T; WIDTH]],
}

impl<T: Scalar> WithSimd for Combination<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let part = self.first..self.first + self.sums.len();
        let ((columns, last_columns), (v, last_v)) = (self.columns.as_chunks::<ROWS>(), self.v.as_chunks::<ROWS>());
        for (columns, v) in columns.iter().zip(v) {
            let [a, b, c, d] = columns.map(|column| &column[part.clone()]);
            for ((((sum, &a), &b), &c), &d) in self.sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                for lane in 0..WIDTH {
                    sum[lane] += (a * v[0][lane] + b * v[1][lane]) + (c * v[2][lane] + d * v[3][lane]);
                }
            }
        }
        for (column, v) in last_columns.iter().zip(last_v) {
            self.sums.iter_mut().zip(&column[part.clone()]).for_each(|(sum, &k)| add(sum, k, v));
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
    use crate::random;
    use faer::Mat;

    #[test]
    fn products_with_few_vectors_equal_plain_ones() {
        let mut rng = random::generator(3, 0);
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

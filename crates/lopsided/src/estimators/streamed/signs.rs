//! A random matrix of signs in bits, and its products with sparse rows.

use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::samples::CsrRef;
use faer::Mat;
use rand::Rng;
use rayon::prelude::*;

/// Rows handled by one task.
const ROWS: usize = 64;

/// The random matrix Ω of \[KSVD\] a2, with entries ±1/√q instead of Gaussian ones.
///
/// Both have E ΩΩᵀ = I, which is all that is asked of Ω, and signs have the smaller variance. A million rows of 1000 signs
/// are 125 MB of bits, where Gaussian entries would be 8 GB. Row j comes from a generator of its own.
pub(super) struct Signs<T> {
    /// One bit per entry, rows padded to whole bytes.
    bits: Vec<u8>,
    /// q, the number of columns.
    width: usize,
    /// Eight entries for each byte.
    table: Vec<[T; 8]>,
}

impl<T: Scalar> Signs<T> {
    /// Ω with one row for each of `count` coordinates.
    pub(super) fn new(count: usize, width: usize, seed: u64) -> Self {
        let stride = width.div_ceil(8);
        let mut bits = vec![0; count * stride];
        bits.par_chunks_mut(stride).enumerate().for_each(|(row, bits)| {
            random::nth_generator(seed, Purpose::Signs, row as u64).fill_bytes(bits);
        });
        let size = 1.0 / (width as f64).sqrt();
        let entry = |byte: usize, bit: usize| T::of(if byte >> bit & 1 == 1 { size } else { -size });
        let table = (0..256).map(|byte| std::array::from_fn(|bit| entry(byte, bit))).collect();
        Signs { bits, width, table }
    }

    /// Number of columns q.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// x̃ = Ωᵀx of every row, as columns.
    ///
    /// O(nnz·q) additions, eight at a time by a table of the signs of a byte.
    pub(super) fn images(&self, rows: CsrRef<'_, T>) -> Mat<T> {
        let mut out = Mat::zeros(self.width, rows.nrows());
        out.as_mut().par_col_chunks_mut(ROWS).enumerate().for_each(|(at, mut out)| {
            let mut image = vec![T::zero(); self.width];
            for i in 0..out.ncols() {
                image.fill(T::zero());
                let (cols, values) = rows.row(at * ROWS + i);
                cols.iter().zip(values).for_each(|(&j, &value)| self.add(j as usize, value, &mut image));
                out.as_mut().col_mut(i).iter_mut().zip(&image).for_each(|(to, &from)| *to = from);
            }
        });
        out
    }

    /// image ← image + value·(row of Ω).
    fn add(&self, row: usize, value: T, image: &mut [T]) {
        let stride = self.width.div_ceil(8);
        let bytes = &self.bits[row * stride..][..stride];
        let (eights, rest) = image.as_chunks_mut::<8>();
        for (eight, &byte) in eights.iter_mut().zip(bytes) {
            let signs = &self.table[byte as usize];
            (0..8).for_each(|k| eight[k] += value * signs[k]);
        }
        if let (false, Some(&byte)) = (rest.is_empty(), bytes.last()) {
            rest.iter_mut().zip(&self.table[byte as usize]).for_each(|(to, &sign)| *to += value * sign);
        }
    }

    /// Ω itself, for comparisons.
    #[cfg(test)]
    pub(super) fn dense(&self) -> Mat<T> {
        let count = self.bits.len() / self.width.div_ceil(8);
        let mut out = Mat::zeros(count, self.width);
        for j in 0..count {
            let mut row = vec![T::zero(); self.width];
            self.add(j, T::one(), &mut row);
            row.iter().enumerate().for_each(|(k, &v)| out[(j, k)] = v);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Csr;

    #[test]
    fn signs_are_balanced_and_rows_nearly_orthogonal() {
        let omega = Signs::<f64>::new(40, 4003, 5).dense();
        let gram = &omega * omega.transpose();
        let limit = 5.0 / 4003f64.sqrt();
        for i in 0..40 {
            for j in 0..40 {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((gram[(i, j)] - expected).abs() < if i == j { 1e-12 } else { limit }, "{i} {j}");
            }
        }
    }

    #[test]
    fn images_are_products_with_the_matrix() {
        let a = Csr::from_triplets(70, 9, &[(0, 3, 2.0), (0, 8, -1.0), (69, 0, 0.5), (3, 5, 1.0)]);
        for width in [1, 8, 13] {
            let signs = Signs::<f64>::new(9, width, 1);
            let expected = a.to_dense() * signs.dense();
            assert!((signs.images(a.as_ref()).transpose() - expected).norm_max() < 1e-14);
        }
    }
}

//! Products of a strip of kernel values with single vectors, which matrix products are not made for.

#![expect(clippy::inline_always, reason = "they must become part of functions compiled for the vector unit")]

use crate::base::scalar::Scalar;
use faer::MatRef;
use pulp::{Arch, Simd, WithSimd};

/// Numbers handled side by side.
const LANES: usize = 16;

/// values −= strip·h.
///
/// Four columns of the strip at a time, so that the values are read and written a quarter as often.
pub(crate) fn subtract_product<T: Scalar>(strip: MatRef<'_, T>, h: &[T], values: &mut [T]) {
    Arch::new().dispatch(Forward { strip, h, values });
}

/// sums += stripᵀ·values.
///
/// Sixteen sums side by side for each column, folded in halves at the end; the total is kept in double precision.
pub(crate) fn add_transposed<T: Scalar>(strip: MatRef<'_, T>, values: &[T], sums: &mut [f64]) {
    Arch::new().dispatch(Backward { strip, values, sums });
}

struct Forward<'a, T> {
    strip: MatRef<'a, T>,
    h: &'a [T],
    values: &'a mut [T],
}

impl<T: Scalar> WithSimd for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Forward { strip, h, values } = self;
        let (fours, rest) = h.as_chunks::<4>();
        for (at, &[p, q, r, s]) in fours.iter().enumerate() {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| column(strip, 4 * at + k));
            for ((((v, &a), &b), &c), &d) in values.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *v -= (p * a + q * b) + (r * c + s * d);
            }
        }
        for (j, &h) in (4 * fours.len()..).zip(rest) {
            values.iter_mut().zip(column(strip, j)).for_each(|(v, &k)| *v -= h * k);
        }
    }
}

struct Backward<'a, T> {
    strip: MatRef<'a, T>,
    values: &'a [T],
    sums: &'a mut [f64],
}

impl<T: Scalar> WithSimd for Backward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (blocks, rest) = self.values.as_chunks::<LANES>();
        for (j, sum) in self.sums.iter_mut().enumerate() {
            let (own, own_rest) = column(self.strip, j).as_chunks::<LANES>();
            let mut lanes = [T::zero(); LANES];
            for (values, own) in blocks.iter().zip(own) {
                (0..LANES).for_each(|lane| lanes[lane] += values[lane] * own[lane]);
            }
            for half in [8, 4, 2, 1] {
                (0..half).for_each(|lane| lanes[lane] += lanes[lane + half]);
            }
            let left: T = rest.iter().zip(own_rest).map(|(&v, &k)| v * k).sum();
            *sum += (lanes[0] + left).as_f64();
        }
    }
}

#[inline(always)]
fn column<T: Scalar>(strip: MatRef<'_, T>, j: usize) -> &[T] {
    // Strips are pieces of matrices that are stored by columns.
    strip.col(j).try_as_col_major().expect("strips have contiguous columns").as_slice()
}

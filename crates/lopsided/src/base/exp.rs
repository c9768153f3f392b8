//! Vector exponential for tiles in cache.
//!
//! The standard library's `exp` is called once per number; these loops are compiled for the vector unit found at run
//! time and stay within two units in the last place on the range kernels need. The polynomials interpolate expm1(r)/r at
//! the Chebyshev nodes of the range r is reduced to.
//!
//! 1. Take x into the range in which exp(x) is a normal number; below it the result is 0, above it infinity, NaN stays.
//! 2. x = k·ln 2 + r with a whole k and |r| ≤ ln 2/2. Adding 1.5·2^52 (f32: 1.5·2^23) rounds k and leaves it in the low
//!    bits.
//! 3. exp(r) by a polynomial; ln 2 is split in two, so that r keeps its last digits.
//! 4. 2^k is made by writing k into the exponent of a number, and multiplied.
//!
//! For `f64` with AVX-512 a table, see `avx512`, makes the polynomial half as long. Without fused multiply-add the
//! standard `exp` is used.

#[cfg(target_arch = "x86_64")]
mod avx512;

use pulp::{Arch, Simd, WithSimd};

/// Exponentials of a whole slice.
pub(crate) trait VectorExp: Sized {
    /// `values[i] ← exp(f(values[i], others[i]))`, in one pass.
    fn exp_zip(values: &mut [Self], others: &[Self], f: impl Fn(Self, Self) -> Self);
}

macro_rules! vector_exp {
    ($t:ident, $bits:ident, $mantissa:literal, $bias:literal, $low:literal, $high:literal, $round:literal,
     $ln2_hi:literal, $ln2_lo:literal, [$($c:expr),*] $(, $wide:ident)?) => {
        impl VectorExp for $t {
            fn exp_zip(values: &mut [Self], others: &[Self], f: impl Fn(Self, Self) -> Self) {
                struct Op<'a, F>(&'a mut [$t], &'a [$t], F);
                impl<F: Fn($t, $t) -> $t> WithSimd for Op<'_, F> {
                    type Output = ();
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, _: S) {
                        for (x, &other) in self.0.iter_mut().zip(self.1) {
                            *x = one((self.2)(*x, other));
                        }
                    }
                }
                // exp(x) = 2^k exp(r), r = x - k ln 2 in [-ln2/2, ln2/2]; adding `round` puts k into the low bits.
                #[inline(always)]
                fn one(x: $t) -> $t {
                    // Written so that a comparison with NaN lets it through.
                    let clamped = if $low > x { $low } else { x };
                    let clamped = if $high < clamped { $high } else { clamped };
                    let shifted = clamped.mul_add(std::$t::consts::LOG2_E, $round);
                    let k = shifted - $round;
                    let r = k.mul_add(-$ln2_lo, k.mul_add(-$ln2_hi, clamped));
                    let mut p: $t = 0.0;
                    $(p = p.mul_add(r, $c);)*
                    let power = (shifted.to_bits().wrapping_sub(($round as $t).to_bits())).wrapping_add($bias) << $mantissa;
                    let value = p * $t::from_bits(power as $bits);
                    let value = if x < $low { 0.0 } else { value };
                    if x > $high { $t::INFINITY } else { value }
                }
                #[cfg(target_arch = "x86_64")]
                $(if let Some(simd) = pulp::x86::V4::try_new() {
                    return $wide::exp_zip(simd, values, others, f);
                })?
                if has_fused_multiply_add() {
                    Arch::new().dispatch(Op(values, others, f));
                } else {
                    values.iter_mut().zip(others).for_each(|(x, &other)| *x = f(*x, other).exp());
                }
            }
        }
    };
}

vector_exp!(
    f64,
    u64,
    52,
    1023,
    -708.0,
    709.0,
    6_755_399_441_055_744.0,
    6.931_471_803_691_238e-1,
    1.908_214_929_270_587_7e-10,
    [
        2.510_521_447_475_141_3e-8,
        2.762_636_777_572_321_7e-7,
        2.755_725_540_628_504_4e-6,
        2.480_150_432_169_015_8e-5,
        1.984_126_987_481_583_4e-4,
        1.388_888_893_250_854_8e-3,
        8.333_333_333_326_136e-3,
        4.166_666_666_657_308_6e-2,
        1.666_666_666_666_666_7e-1,
        0.500_000_000_000_000_6,
        1.0,
        1.0
    ],
    avx512
);
vector_exp!(
    f32,
    u32,
    23,
    127,
    -87.0,
    88.0,
    12_582_912.0,
    6.931_457_5e-1,
    1.428_606_8e-6,
    [1.393_364_7e-3, 8.369_154e-3, 4.166_646_7e-2, 1.666_650_5e-1, 0.5, 1.0, 1.0]
);

/// Without the instruction `mul_add` is a library call, thirty times slower than `exp` itself.
fn has_fused_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exp<T: VectorExp + Copy>(values: &mut [T]) {
        let others = values.to_vec();
        T::exp_zip(values, &others, |x, _| x);
    }

    #[test]
    fn exponentials_agree_with_the_standard_library() {
        let mut values: Vec<f64> = (-7000..=7000).map(|i| f64::from(i) * 0.1003).collect();
        let exact: Vec<f64> = values.iter().map(|x| x.exp()).collect();
        exp(&mut values);
        for (v, e) in values.iter().zip(&exact) {
            assert!((v - e).abs() <= 3.0 * f64::EPSILON * e, "{v} {e}");
        }
        let mut values: Vec<f32> = (-8000..=8000).map(|i| i as f32 * 0.0101).collect();
        let exact: Vec<f32> = values.iter().map(|x| x.exp()).collect();
        exp(&mut values);
        for (v, e) in values.iter().zip(&exact) {
            assert!((v - e).abs() <= 3.0 * f32::EPSILON * e, "{v} {e}");
        }
    }

    #[test]
    fn far_negative_arguments_give_zero_far_positive_ones_infinity_and_nan_stays() {
        let mut values = [-1e9, f64::NEG_INFINITY, 0.0, 1e3, 1e9, f64::INFINITY, f64::NAN];
        exp(&mut values);
        assert_eq!(values[..6], [0.0, 0.0, 1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]);
        assert!(values[6].is_nan());
        let mut single = [-1e9, 1e9_f32];
        exp(&mut single);
        assert_eq!(single, [0.0, f32::INFINITY]);
    }
}

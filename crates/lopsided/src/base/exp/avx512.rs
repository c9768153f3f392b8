//! Eight exponentials at a time, with the powers of 2^(1/16) in two registers.
//!
//! A table of 16 powers shortens the range of r to |r| ≤ ln 2/32, for which six coefficients do what takes twelve
//! without it.

use pulp::NullaryFnOnce;
use pulp::x86::V4;
use std::arch::x86_64::__m512d;

const LANES: usize = 8;

/// 2^(j/16).
const POWERS: [[f64; LANES]; 2] = [
    [
        1.0,
        1.044_273_782_427_413_8,
        1.090_507_732_665_257_7,
        1.138_788_634_756_691_6,
        1.189_207_115_002_721,
        1.241_857_812_073_484,
        1.296_839_554_651_009_6,
        1.354_255_546_936_892_7,
    ],
    [
        std::f64::consts::SQRT_2,
        1.476_826_145_939_499_3,
        1.542_210_825_407_940_7,
        1.610_490_331_949_254_3,
        1.681_792_830_507_429,
        1.756_252_160_373_299_5,
        1.834_008_086_409_342_4,
        1.915_206_561_397_147_4,
    ],
];

/// expm1(r)/r for |r| ≤ ln 2/32, highest power first.
const POLYNOMIAL: [f64; 6] = [
    1.388_906_344_065_532_7e-3,
    8.333_472_974_951_229e-3,
    4.166_666_666_359_547_5e-2,
    1.666_666_666_420_970_6e-1,
    0.500_000_000_000_000_1,
    1.000_000_000_000_000_7,
];

/// `values[i] ← exp(f(values[i], others[i]))`.
pub(super) fn exp_zip(simd: V4, values: &mut [f64], others: &[f64], f: impl Fn(f64, f64) -> f64) {
    simd.vectorize(Zip { simd, values, others, f });
}

struct Zip<'a, F> {
    simd: V4,
    values: &'a mut [f64],
    others: &'a [f64],
    f: F,
}

impl<F: Fn(f64, f64) -> f64> NullaryFnOnce for Zip<'_, F> {
    type Output = ();

    #[expect(clippy::inline_always, reason = "it must become part of a function compiled for the vector unit")]
    #[inline(always)]
    fn call(self) {
        let Zip { simd, values, others, f } = self;
        values.iter_mut().zip(others).for_each(|(v, &o)| *v = f(*v, o));
        let (chunks, rest) = values.as_chunks_mut::<LANES>();
        chunks.iter_mut().for_each(|chunk| *chunk = pulp::cast(exp(simd, pulp::cast(*chunk))));
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let last: [f64; LANES] = pulp::cast(exp(simd, pulp::cast(last)));
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// exp(x) = 2^⌊k/16⌋ · 2^(k mod 16 / 16) · exp(r), r = x − k·ln2/16; adding `ROUND` puts k into the low bits.
#[inline(always)]
fn exp(simd: V4, x: __m512d) -> __m512d {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let v = simd.avx512f;
    let all = |value: f64| v._mm512_set1_pd(value);
    // Both return their second argument if one is NaN.
    let clamped = v._mm512_min_pd(all(1000.0), v._mm512_max_pd(all(-1000.0), x));
    let shifted = v._mm512_fmadd_pd(clamped, all(16.0 * std::f64::consts::LOG2_E), all(ROUND));
    let k = v._mm512_sub_pd(shifted, all(ROUND));
    let r = v._mm512_fnmadd_pd(k, all(6.931_471_803_691_238e-1 / 16.0), clamped);
    let r = v._mm512_fnmadd_pd(k, all(1.908_214_929_270_587_7e-10 / 16.0), r);
    let mut q = all(POLYNOMIAL[0]);
    for &coefficient in &POLYNOMIAL[1..] {
        q = v._mm512_fmadd_pd(q, r, all(coefficient));
    }
    let power = v._mm512_permutex2var_pd(pulp::cast(POWERS[0]), pulp::cast(shifted), pulp::cast(POWERS[1]));
    let value = v._mm512_fmadd_pd(power, v._mm512_mul_pd(r, q), power);
    v._mm512_scalef_pd(value, v._mm512_mul_pd(k, all(1.0 / 16.0)))
}

//! The loops of a search, eight numbers side by side: vectorised, and the same bits on every processor.

#![expect(clippy::inline_always, reason = "they must become part of functions compiled for the vector unit")]

use super::row_cache::Entry;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use std::ops::Range;

/// Numbers handled side by side; slices below are multiples of it.
pub(super) const LANES: usize = 8;
/// Least curvature along a pair.
pub(super) const CURVATURE: f64 = 1e-12;

/// Values that one thread subtracts from.
const PIECE: usize = 2048;

/// The largest residual that may grow, where it is, and the smallest that may shrink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extremes {
    pub(super) first: usize,
    pub(super) largest: f64,
    pub(super) smallest: f64,
}

impl Extremes {
    pub(super) const NONE: Extremes = Extremes { first: 0, largest: f64::NEG_INFINITY, smallest: f64::INFINITY };

    pub(super) fn violation(&self) -> f64 {
        if self.largest > self.smallest { self.largest - self.smallest } else { 0.0 }
    }

    /// Between both; `None` where one side is empty.
    pub(super) fn middle(&self) -> Option<f64> {
        Some(0.5 * (self.largest + self.smallest)).filter(|middle| middle.is_finite())
    }
}

/// The largest value of each lane, the first of equal ones.
struct Best {
    values: [f64; LANES],
    /// Numbers of blocks, as wide as the values.
    blocks: [f64; LANES],
}

impl Best {
    #[inline(always)]
    fn new() -> Self {
        Best { values: [f64::NEG_INFINITY; LANES], blocks: [0.0; LANES] }
    }

    #[inline(always)]
    fn offer(&mut self, lane: usize, value: f64, block: f64) {
        let better = value > self.values[lane];
        self.values[lane] = if better { value } else { self.values[lane] };
        self.blocks[lane] = if better { block } else { self.blocks[lane] };
    }

    #[inline(always)]
    fn place(&self) -> (usize, f64) {
        let place = |lane: usize| self.blocks[lane] as usize * LANES + lane;
        let mut best = 0;
        for lane in 1..LANES {
            let (here, there) = (self.values[lane], self.values[best]);
            if here > there || here == there && place(lane) < place(best) {
                best = lane;
            }
        }
        (place(best), self.values[best])
    }
}

/// residual −= length·(row_i − row_j), and the extremes afterwards.
pub(super) struct Moved<'a, E> {
    pub(super) residual: &'a mut [f64],
    pub(super) rows: [&'a [E]; 2],
    pub(super) length: f64,
    /// 0 where a coefficient may grow, else −∞.
    pub(super) grow: &'a [f64],
    /// 0 where it may shrink, else ∞.
    pub(super) shrink: &'a [f64],
}

impl<E: Entry> Moved<'_, E> {
    pub(super) fn extremes(self) -> Extremes {
        Arch::new().dispatch(self)
    }
}

impl<E: Entry> WithSimd for Moved<'_, E> {
    type Output = Extremes;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Extremes {
        let (residual, _) = self.residual.as_chunks_mut::<LANES>();
        let [(one, _), (other, _)] = self.rows.map(<[E]>::as_chunks::<LANES>);
        let ((grow, _), (shrink, _)) = (self.grow.as_chunks::<LANES>(), self.shrink.as_chunks::<LANES>());
        let (mut best, mut smallest) = (Best::new(), [f64::INFINITY; LANES]);
        let all = residual.iter_mut().zip(one).zip(other).zip(grow).zip(shrink);
        for (block, ((((r, one), other), grow), shrink)) in all.enumerate() {
            for lane in 0..LANES {
                let value = r[lane] - self.length * (one[lane].as_f64() - other[lane].as_f64());
                r[lane] = value;
                best.offer(lane, value + grow[lane], block as f64);
                let low = value + shrink[lane];
                smallest[lane] = if low < smallest[lane] { low } else { smallest[lane] };
            }
        }
        let (first, largest) = best.place();
        Extremes { first, largest, smallest: smallest.into_iter().fold(f64::INFINITY, f64::min) }
    }
}

/// The place j of the largest gain (r_i − r_j)²/(K_ii + K_jj − 2K_ij).
pub(super) struct Partner<'a, E> {
    pub(super) largest: f64,
    /// K_ii.
    pub(super) own: f64,
    pub(super) row: &'a [E],
    pub(super) diagonal: &'a [f64],
    pub(super) residual: &'a [f64],
    pub(super) shrink: &'a [f64],
}

impl<E: Entry> Partner<'_, E> {
    pub(super) fn find(self) -> usize {
        Arch::new().dispatch(self)
    }
}

impl<E: Entry> WithSimd for Partner<'_, E> {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        let ((row, _), (diagonal, _)) = (self.row.as_chunks::<LANES>(), self.diagonal.as_chunks::<LANES>());
        let ((residual, _), (shrink, _)) = (self.residual.as_chunks::<LANES>(), self.shrink.as_chunks::<LANES>());
        let mut best = Best::new();
        for (block, (((k, d), r), shrink)) in row.iter().zip(diagonal).zip(residual).zip(shrink).enumerate() {
            for lane in 0..LANES {
                let promise = self.largest - (r[lane] + shrink[lane]);
                let promise = if promise > 0.0 { promise } else { 0.0 };
                let curvature = self.own + d[lane] - 2.0 * k[lane].as_f64();
                let curvature = if curvature > CURVATURE { curvature } else { CURVATURE };
                best.offer(lane, promise * promise / curvature, block as f64);
            }
        }
        best.place().0
    }
}

/// `values` −= Σ_j c_j·column_j.
pub(super) fn subtract<E: Entry>(values: &mut [f64], columns: &[E], c: &[f64]) {
    let n = values.len().max(1);
    let moved: Vec<(&[E], f64)> =
        columns.chunks_exact(n).zip(c).filter(|(_, c)| **c != 0.0).map(|(column, c)| (column, *c)).collect();
    values.par_chunks_mut(PIECE).enumerate().for_each(|(at, values)| {
        let here = at * PIECE..at * PIECE + values.len();
        for four in moved.chunks(4) {
            Arch::new().dispatch(Subtract { values, columns: four, here: here.clone() });
        }
    });
}

/// Up to four columns at a time, so that the values are read less often.
struct Subtract<'a, E> {
    values: &'a mut [f64],
    columns: &'a [(&'a [E], f64)],
    /// Where in the columns.
    here: Range<usize>,
}

impl<E: Entry> WithSimd for Subtract<'_, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (values, here) = (self.values, self.here);
        if let [(a, u), (b, v), (c, w), (d, x)] = *self.columns {
            let columns = a[here.clone()].iter().zip(&b[here.clone()]).zip(&c[here.clone()]).zip(&d[here]);
            for (value, (((a, b), c), d)) in values.iter_mut().zip(columns) {
                *value -= (u * a.as_f64() + v * b.as_f64()) + (w * c.as_f64() + x * d.as_f64());
            }
            return;
        }
        for &(column, c) in self.columns {
            values.iter_mut().zip(&column[here.clone()]).for_each(|(value, k)| *value -= c * k.as_f64());
        }
    }
}

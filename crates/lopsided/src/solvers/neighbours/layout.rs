//! The steps that bring points to their places.

use super::graph::Pulls;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::random::{self, Purpose};
use crate::base::watch::Progress;
use faer::Mat;
use pulp::{Arch, Simd, WithSimd};
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Up to so many points each is pushed by all others.
pub(super) const ALL: usize = 3000;
/// Of more, by so many of them.
const SOME: usize = 640;
/// How much more neighbours pull at first.
const EXAGGERATION: f32 = 12.0;
/// Numbers that are summed side by side; the order of a sum is that of these lanes on every processor.
const LANES: usize = 16;
/// Points that one thread moves.
const CHUNK: usize = 128;
/// Where nothing is: fills the last lanes.
const NOWHERE: f32 = 1e15;
/// In the last steps points slow down, so that the choice of who pushes leaves no trace.
const SLOWER: usize = 60;

/// Where the points are and how they move.
struct Moving {
    places: Vec<[f32; 2]>,
    speeds: Vec<[f32; 2]>,
    gains: Vec<[f32; 2]>,
}

/// What acts on one point: by neighbours, by all, and its part of the normaliser.
#[derive(Clone, Copy, Default)]
struct Forces {
    pull: [f32; 2],
    push: [f32; 2],
    sum: f32,
}

/// Places after all steps, around the origin.
pub(super) fn settled(start: &Mat<f64>, pulls: &Pulls, steps: (usize, usize), run: &Run) -> Result<Mat<f64>> {
    let n = start.nrows();
    let places = (0..n).map(|i| [start[(i, 0)] as f32, start[(i, 1)] as f32]).collect();
    let mut moving = Moving { places, speeds: vec![[0.0; 2]; n], gains: vec![[1.0; 2]; n] };
    let mut others = Others::new(n, run.seed);
    let all = steps.0 + steps.1;
    for step in 0..all {
        let progress = Progress { stage: "drawing a map", done: step as u64, total: all as u64, residual: None };
        run.watch.report(progress)?;
        let exaggeration = if step < steps.0 { EXAGGERATION } else { 1.0 };
        let momentum = if step < steps.0 { 0.5 } else { 0.8 };
        let slower = ((all - step) as f32 / SLOWER as f32).min(1.0);
        let rate = slower * (n as f32 / exaggeration).max(50.0);
        others.choose(step);
        moving.step(pulls, &others, (exaggeration, momentum, rate));
    }
    Ok(moving.centred())
}

/// Those who push in a step.
struct Others {
    order: Vec<u32>,
    chosen: Vec<u32>,
    is_chosen: Vec<bool>,
}

impl Others {
    fn new(n: usize, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..n as u32).collect();
        if n <= ALL {
            return Others { chosen: order.clone(), order, is_chosen: vec![true; n] };
        }
        order.shuffle(&mut random::generator(seed, Purpose::MapSamples));
        Others { order, chosen: Vec::new(), is_chosen: vec![false; n] }
    }

    /// The next part of a random order, beginning anew after the last.
    fn choose(&mut self, step: usize) {
        let n = self.order.len();
        if n <= ALL {
            return;
        }
        self.chosen.iter().for_each(|i| self.is_chosen[*i as usize] = false);
        self.chosen = (0..SOME).map(|k| self.order[(step * SOME + k) % n]).collect();
        self.chosen.iter().for_each(|i| self.is_chosen[*i as usize] = true);
    }
}

impl Moving {
    /// One step along the gradient 4·(Σ p q (y_i − y_j) − Σ q² (y_i − y_j)/Z), q = 1/(1 + ‖y_i − y_j‖²), Z = Σ q.
    fn step(&mut self, pulls: &Pulls, others: &Others, (exaggeration, momentum, rate): (f32, f32, f32)) {
        let n = self.places.len();
        let width = others.chosen.len().next_multiple_of(LANES);
        let place = |k: usize, axis: usize| others.chosen.get(k).map_or(NOWHERE, |i| self.places[*i as usize][axis]);
        let xs: Vec<f32> = (0..width).map(|k| place(k, 0)).collect();
        let ys: Vec<f32> = (0..width).map(|k| place(k, 1)).collect();
        let places = &self.places;
        let mut forces = vec![Forces::default(); n];
        forces.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
            Arch::new().dispatch(Push { out, places: &places[chunk * CHUNK..], xs: &xs, ys: &ys });
            for (k, force) in out.iter_mut().enumerate() {
                let i = chunk * CHUNK + k;
                force.sum -= if others.is_chosen[i] { 1.0 } else { 0.0 };
                force.pull = pull(pulls, places, i);
            }
        });
        let share = n as f64 / others.chosen.len() as f64;
        let normaliser = share * forces.iter().map(|f| f64::from(f.sum)).sum::<f64>();
        let pushed = (share / normaliser.max(f64::MIN_POSITIVE)) as f32;
        for (i, force) in forces.iter().enumerate() {
            for axis in 0..2 {
                let gradient = 4.0 * (exaggeration * force.pull[axis] - pushed * force.push[axis]);
                let (speed, gain) = (&mut self.speeds[i][axis], &mut self.gains[i][axis]);
                // Faster where the way goes on, slower where it turns back.
                *gain = if gradient * *speed > 0.0 { (*gain * 0.8).max(0.01) } else { *gain + 0.2 };
                *speed = momentum * *speed - rate * *gain * gradient;
                self.places[i][axis] += *speed;
            }
        }
    }

    fn centred(&self) -> Mat<f64> {
        let n = self.places.len();
        let mean = |axis: usize| self.places.iter().map(|p| f64::from(p[axis])).sum::<f64>() / n.max(1) as f64;
        let means = [mean(0), mean(1)];
        Mat::from_fn(n, 2, |i, axis| f64::from(self.places[i][axis]) - means[axis])
    }
}

/// Σ_j p_ij q_ij (y_i − y_j) over the neighbours.
fn pull(pulls: &Pulls, places: &[[f32; 2]], i: usize) -> [f32; 2] {
    let own = places[i];
    let mut sum = [0.0f32; 2];
    for at in pulls.starts[i]..pulls.starts[i + 1] {
        let other = places[pulls.others[at] as usize];
        let (dx, dy) = (own[0] - other[0], own[1] - other[1]);
        let pq = pulls.weights[at] / (1.0 + dx * dx + dy * dy);
        sum[0] += pq * dx;
        sum[1] += pq * dy;
    }
    sum
}

/// Σ_j q² (y_i − y_j) and Σ_j q over those who push, compiled for the vector unit found at run time.
struct Push<'a> {
    out: &'a mut [Forces],
    places: &'a [[f32; 2]],
    xs: &'a [f32],
    ys: &'a [f32],
}

impl WithSimd for Push<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only code inside of the dispatched function is compiled for its vector unit"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let one = simd.splat_f32s(1.0);
        let (xs, ys) = (S::as_simd_f32s(self.xs).0, S::as_simd_f32s(self.ys).0);
        for (force, own) in self.out.iter_mut().zip(self.places) {
            let (x, y) = (simd.splat_f32s(own[0]), simd.splat_f32s(own[1]));
            let mut all = [[0.0f32; LANES]; 3];
            let [sums, right, up] = all.each_mut().map(|lanes| S::as_mut_simd_f32s(lanes).0);
            let registers = sums.len();
            for (xs, ys) in xs.chunks_exact(registers).zip(ys.chunks_exact(registers)) {
                for k in 0..registers {
                    let (dx, dy) = (simd.sub_f32s(x, xs[k]), simd.sub_f32s(y, ys[k]));
                    let (across, along) = (simd.mul_f32s(dx, dx), simd.mul_f32s(dy, dy));
                    let q = simd.div_f32s(one, simd.add_f32s(simd.add_f32s(one, across), along));
                    let square = simd.mul_f32s(q, q);
                    sums[k] = simd.add_f32s(sums[k], q);
                    right[k] = simd.add_f32s(right[k], simd.mul_f32s(square, dx));
                    up[k] = simd.add_f32s(up[k], simd.mul_f32s(square, dy));
                }
            }
            let [sums, right, up] = &all;
            force.sum = sums.iter().sum();
            force.push = [right.iter().sum(), up.iter().sum()];
        }
    }
}

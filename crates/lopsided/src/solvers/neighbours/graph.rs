//! Who is near whom: the nearest neighbours of each point, and how strongly they pull.

use crate::base::Run;
use crate::base::error::Result;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Points whose distances to all others are held at once, by one thread.
const BLOCK: usize = 64;
/// Halvings in the search for the width that a perplexity asks for.
const HALVINGS: usize = 40;

/// For each point its neighbours with their squared distances, the nearest first.
pub(super) type Near = Vec<Vec<(u32, f32)>>;

/// The `count` nearest points of each, by all pairs.
///
/// Of equally near points those that follow in the order of the samples are taken, beginning anew after the last: equal points
/// make a ring, and nobody is the neighbour of all.
pub(super) fn nearest(features: MatRef<'_, f64>, count: usize, run: &Run) -> Result<Near> {
    let (n, d) = (features.nrows(), features.ncols());
    let points = Mat::<f32>::from_fn(n, d, |i, j| features[(i, j)] as f32);
    let squares: Vec<f32> = (0..n).map(|i| points.row(i).iter().map(|v| v * v).sum()).collect();
    let block = |start: usize| {
        run.watch.check()?;
        let len = BLOCK.min(n - start);
        // A column for each point of the block, so that its distances lie side by side.
        let mut products = Mat::<f32>::zeros(n, len);
        let own = points.as_ref().subrows(start, len);
        matmul(products.as_mut(), Accum::Replace, points.as_ref(), own.transpose(), -2.0, Par::Seq);
        let of = |k: usize| {
            let i = start + k;
            let column: Vec<f32> = products.col(k).iter().zip(&squares).map(|(p, s)| p + s).collect();
            smallest(&column, i, count).into_iter().map(|(j, v)| (j, (v + squares[i]).max(0.0))).collect::<Vec<_>>()
        };
        Ok((0..len).map(of).collect::<Vec<_>>())
    };
    let starts: Vec<usize> = (0..n).step_by(BLOCK).collect();
    let blocks = starts.into_par_iter().map(block).collect::<Result<Vec<_>>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

/// Places and values of the smallest entries but that of `own`, ascending.
fn smallest(values: &[f32], own: usize, count: usize) -> Vec<(u32, f32)> {
    let mut kept: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    let mut bar = f32::INFINITY;
    for (j, &value) in values.iter().enumerate().skip(own + 1).chain(values.iter().enumerate().take(own)) {
        if value < bar || kept.len() < count {
            let at = kept.partition_point(|(_, other)| *other <= value);
            kept.insert(at, (j as u32, value));
            kept.truncate(count);
            bar = if kept.len() == count { kept[count - 1].1 } else { bar };
        }
    }
    kept
}

/// For each point the others that pull it, with the probability of the pair; all of them sum to 1.
pub(super) struct Pulls {
    /// Where the points of each row begin; one more than there are rows.
    pub(super) starts: Vec<usize>,
    pub(super) others: Vec<u32>,
    pub(super) weights: Vec<f32>,
}

/// The probabilities (p_{j|i} + p_{i|j})/2n of an SNE kernel whose width gives every point this perplexity.
pub(super) fn symmetric(near: &Near, perplexity: f64) -> Pulls {
    let n = near.len();
    let own: Vec<Vec<f32>> = near.par_iter().map(|row| probabilities(row, perplexity)).collect();
    let mut rows: Vec<Vec<(u32, f32)>> = vec![Vec::new(); n];
    let half = 0.5 / n as f32;
    for (i, (row, own)) in near.iter().zip(&own).enumerate() {
        for (&(j, _), p) in row.iter().zip(own) {
            rows[i].push((j, half * p));
            rows[j as usize].push((i as u32, half * p));
        }
    }
    let mut out = Pulls { starts: vec![0], others: Vec::new(), weights: Vec::new() };
    for row in &mut rows {
        row.sort_by_key(|(j, _)| *j);
        for both in row.chunk_by(|a, b| a.0 == b.0) {
            out.others.push(both[0].0);
            out.weights.push(both.iter().map(|(_, p)| p).sum());
        }
        out.starts.push(out.others.len());
    }
    out
}

/// exp(−β·d²), normalised, with the β whose entropy is ln(perplexity).
fn probabilities(row: &[(u32, f32)], perplexity: f64) -> Vec<f32> {
    let least = row.first().map_or(0.0, |(_, d)| f64::from(*d));
    let distances: Vec<f64> = row.iter().map(|(_, d)| f64::from(*d) - least).collect();
    let mean = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
    if mean <= 0.0 {
        return vec![1.0 / row.len() as f32; row.len()];
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut beta = 1.0 / mean;
    for _ in 0..HALVINGS {
        let weights = distances.iter().map(|d| (-beta * d).exp());
        let (sum, energy) = weights.zip(&distances).fold((0.0, 0.0), |(s, e), (w, d)| (s + w, e + w * d));
        let entropy = sum.ln() + beta * energy / sum;
        if entropy > perplexity.ln() {
            low = beta;
            beta = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * beta };
        } else {
            high = beta;
            beta = f64::midpoint(low, high);
        }
    }
    let weights: Vec<f64> = distances.iter().map(|d| (-beta * d).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|w| (w / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;

    #[test]
    fn neighbours_are_those_of_the_plainest_loops() {
        let points = synth::gaussian::<f64>(150, 5, 3);
        let near = nearest(points.as_ref(), 7, &Run::default()).unwrap();
        for (i, near) in near.iter().enumerate() {
            let mut all: Vec<(f64, u32)> = (0..150u32)
                .filter(|j| *j as usize != i)
                .map(|j| ((points.row(i) - points.row(j as usize)).squared_norm_l2(), j))
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let expected: Vec<u32> = all[..7].iter().map(|(_, j)| *j).collect();
            assert_eq!(near.iter().map(|(j, _)| *j).collect::<Vec<_>>(), expected, "point {i}");
            assert!(near.iter().zip(&all).all(|((_, d), (e, _))| (f64::from(*d) - e).abs() < 1e-4));
        }
    }

    #[test]
    fn equal_points_make_a_ring() {
        let near = nearest(Mat::zeros(10, 2).as_ref(), 3, &Run::default()).unwrap();
        assert_eq!(near[0].iter().map(|(j, _)| *j).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(near[8].iter().map(|(j, _)| *j).collect::<Vec<_>>(), [9, 0, 1]);
    }

    #[test]
    fn probabilities_have_the_perplexity_and_pairs_sum_to_one() {
        let row: Vec<(u32, f32)> = (0..30).map(|j| (j, 0.1 * (j + 1) as f32)).collect();
        let p = probabilities(&row, 10.0);
        let entropy: f64 = p.iter().map(|p| -f64::from(*p) * f64::from(*p).ln()).sum();
        assert!((entropy.exp() - 10.0).abs() < 1e-3, "{}", entropy.exp());
        let near = nearest(synth::gaussian::<f64>(80, 3, 1).as_ref(), 9, &Run::default()).unwrap();
        let pulls = symmetric(&near, 4.0);
        assert!((pulls.weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let weight = |i: usize, j: u32| {
            let row = pulls.starts[i]..pulls.starts[i + 1];
            row.clone().find(|&at| pulls.others[at] == j).map_or(0.0, |at| pulls.weights[at])
        };
        assert!((0..80).all(|i| (0..80).all(|j| (weight(i, j) - weight(j as usize, i as u32)).abs() < 1e-9)));
    }
}

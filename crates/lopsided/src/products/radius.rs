//! The spectral radius of a matrix with entries ≥ 0, enclosed between two bounds.

use super::components::Components;
use crate::base::scalar::Scalar;
use crate::data::samples::Csr;
use faer::Col;
use faer::linalg::solvers::Solve;
use faer::sparse::{SparseColMat, Triplet};
use rayon::prelude::*;

/// Relative width of the bounds at which they count as one number: a tenth of what is promised.
const WIDTH: f64 = 1e-11;
/// Products with a block before its factors are asked for; a thousand products cost less than most factors.
const PRODUCTS: usize = 3000;
/// Products between two looks at how fast the bounds approach each other.
const ROUND: usize = 100;
/// Most steps with factors. Each about doubles the digits once the bounds are close; a vector that is many digits off may need
/// dozens before that.
const FACTORINGS: usize = 400;
/// Nodes up to which a block is factored whatever its links, and those up to which it is if it has few.
const SMALL: usize = 2000;
const LARGE: usize = 20_000;
/// Links per node that count as few.
const FEW: usize = 8;
/// Least entry of a positive vector whose largest is 1.
const TINY: f64 = 1e-280;

/// Bounds on the spectral radius ρ of a square matrix with entries ≥ 0; signed entries are taken by their size.
///
/// 1. Order the nodes by strong components of the links a_ij ≠ 0: A is block triangular, and ρ is the largest of its diagonal
///    blocks' radii. A block without links is 0, so that ρ = 0 exactly where there is no cycle.
/// 2. Blocks go by their row and column sums, which bound ρ; those that cannot exceed what is known are left out.
/// 3. In a block B, min_i (Bv)_i/v_i ≤ ρ(B) ≤ max_i (Bv)_i/v_i for every v > 0 (Collatz and Wielandt). v ← (B + cI)·v brings
///    both together; c > 0 because without it cycles make v oscillate.
/// 4. Where that is slow, v ← (λI − B)⁻¹·v with λ the upper bound (Noda): v stays positive and the digits double.
///
/// # Cost
/// O(nnz) per product, at most a few thousand of them; sparse factors only of blocks that are small or have few links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpectralRadius {
    /// ρ is not below this.
    pub(crate) lower: f64,
    /// ρ is not above this.
    pub(crate) upper: f64,
}

impl SpectralRadius {
    /// Bounds for the radius of |A|.
    pub(crate) fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let components = Components::of(a);
        let mut blocks: Vec<Block> = (0..components.count()).filter_map(|k| Block::of(a, &components, k)).collect();
        blocks.sort_by(|p, q| q.bounds.upper.total_cmp(&p.bounds.upper));
        let mut all = SpectralRadius { lower: 0.0, upper: 0.0 };
        for mut block in blocks {
            block.settle(all.lower);
            all.lower = all.lower.max(block.bounds.lower);
            all.upper = all.upper.max(block.bounds.upper);
        }
        all
    }

    /// The number between the bounds, which is the radius if they are settled, else the upper bound.
    pub(crate) fn value(&self) -> f64 {
        if self.is_settled() { f64::midpoint(self.lower, self.upper) } else { self.upper }
    }

    /// True when the bounds agree to ten digits.
    pub(crate) fn is_settled(&self) -> bool {
        self.upper - self.lower <= 10.0 * WIDTH * self.upper
    }
}

/// A strong component with its links, in its own numbers.
struct Block {
    links: Csr<f64>,
    v: Vec<f64>,
    bounds: SpectralRadius,
}

impl Block {
    /// The links inside the k-th component; `None` if there are none.
    fn of<T: Scalar>(a: &Csr<T>, components: &Components, k: usize) -> Option<Self> {
        let members = components.members(k);
        let mut links = Csr::empty(members.len());
        for &node in members {
            let (cols, values) = a.row(node);
            let sizes = cols.iter().zip(values).map(|(&j, v)| (j as usize, v.as_f64().abs()));
            let inside = sizes.filter_map(|(j, size)| Some((components.place_in(k, j)?, size)));
            let mut inside: Vec<(u32, f64)> = inside.filter(|(_, size)| *size > 0.0).collect();
            inside.sort_unstable_by_key(|(at, _)| *at);
            links.push_row(inside);
        }
        if links.nnz() == 0 {
            return None;
        }
        let (row_sums, mut col_sums) = (product(&links, &vec![1.0; links.nrows()]), vec![0.0; links.nrows()]);
        let (_, cols, values) = links.parts();
        cols.iter().zip(values).for_each(|(&j, v)| col_sums[j as usize] += v);
        let largest = |sums: &[f64]| sums.iter().copied().fold(0.0, f64::max);
        let bounds = SpectralRadius { lower: 0.0, upper: largest(&row_sums).min(largest(&col_sums)) };
        Some(Block { v: vec![1.0; links.nrows()], links, bounds })
    }

    /// Brings the bounds together, unless the radius is at most `known` anyway.
    ///
    /// Every hundred products the rate of approach is looked at. If it does not bring the bounds together within the
    /// products that are left, or does not exist, factors follow, where the block is small enough for them.
    fn settle(&mut self, known: f64) {
        let done = |bounds: &SpectralRadius| {
            bounds.upper <= known || bounds.upper - bounds.lower <= WIDTH * bounds.upper || !bounds.upper.is_finite()
        };
        let mut width = f64::INFINITY;
        for k in 0..PRODUCTS {
            if done(&self.bounds) {
                return;
            }
            if k % ROUND == ROUND - 1 {
                let now = (self.bounds.upper - self.bounds.lower) / self.bounds.upper;
                let rounds = (WIDTH / now).ln() / (now / width).ln();
                if now >= width || rounds * ROUND as f64 > (PRODUCTS - k) as f64 {
                    break;
                }
                width = now;
            }
            self.multiply();
        }
        let (nodes, links) = (self.links.nrows(), self.links.nnz());
        if nodes > SMALL && (nodes > LARGE || links > FEW * nodes) {
            return;
        }
        for _ in 0..FACTORINGS {
            if done(&self.bounds) || self.factor().is_none() {
                return;
            }
        }
    }

    /// Step 3: v ← (B + cI)·v with c half of Rayleigh's quotient vᵀBv/vᵀv.
    fn multiply(&mut self) {
        let product = self.tighten();
        // About half the radius: an eigenvalue −ρ then has a third of the growth of ρ, and none gains much on ρ. The bounds may
        // be far from ρ at first, Rayleigh's quotient is not.
        let (energy, square): (f64, f64) =
            self.v.iter().zip(&product).fold((0.0, 0.0), |(e, s), (v, p)| (e + v * p, s + v * v));
        let shift = 0.5 * energy / square;
        let next = product.iter().zip(&self.v).map(|(p, v)| p + shift * v).collect();
        self.v = positive(next);
    }

    /// Step 4; `None` if the matrix cannot be factored.
    ///
    /// With V = diag(v), V⁻¹(λI − B)V has rows that sum to λ − (Bv)_i/v_i ≥ 0: the diagonal dominates, and entries of v that are many
    /// digits apart are all found to their own last digits.
    fn factor(&mut self) -> Option<()> {
        self.tighten();
        let n = self.links.nrows();
        // At the radius itself the matrix is singular.
        let shift = self.bounds.upper * (1.0 + 4.0 * f64::EPSILON);
        let mut entries: Vec<_> = (0..n).map(|i| Triplet::new(i, i, shift)).collect();
        for i in 0..n {
            let (cols, values) = self.links.row(i);
            let scaled = |(&j, a): (&u32, &f64)| Triplet::new(i, j as usize, -a * (self.v[j as usize] / self.v[i]));
            entries.extend(cols.iter().zip(values).map(scaled));
        }
        let factors = SparseColMat::<usize, f64>::try_new_from_triplets(n, n, &entries).ok()?.sp_lu().ok()?;
        let found = factors.solve(&Col::<f64>::ones(n));
        if found.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let most = found.iter().map(|v| v.abs()).fold(f64::MIN_POSITIVE, f64::max);
        self.v = positive(self.v.iter().zip(found.iter()).map(|(v, y)| v * (y.abs() / most)).collect());
        self.tighten();
        Some(())
    }

    /// B·v, and the bounds it gives.
    fn tighten(&mut self) -> Vec<f64> {
        let product = product(&self.links, &self.v);
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for (p, v) in product.iter().zip(&self.v) {
            (least, most) = (least.min(p / v), most.max(p / v));
        }
        self.bounds.lower = self.bounds.lower.max(least);
        self.bounds.upper = self.bounds.upper.min(most);
        product
    }
}

/// B·v, a row at a time.
fn product(links: &Csr<f64>, v: &[f64]) -> Vec<f64> {
    let row = |i| {
        let (cols, values) = links.row(i);
        cols.iter().zip(values).map(|(&j, a)| a * v[j as usize]).sum()
    };
    (0..links.nrows()).into_par_iter().with_min_len(1024).map(row).collect()
}

/// The vector with largest entry 1 and no entry that vanishes.
fn positive(mut v: Vec<f64>) -> Vec<f64> {
    let most = v.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    v.iter_mut().for_each(|x| *x = (*x / most).max(TINY));
    v
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::{self, Purpose};
    use faer::Mat;
    use proptest::prelude::*;
    use rand::RngExt;

    type Link = (u32, u32, f64);

    fn radius(n: usize, links: &[Link]) -> SpectralRadius {
        SpectralRadius::of(&Csr::from_triplets(n, n, links))
    }

    /// Largest absolute eigenvalue of the dense matrix.
    fn dense(n: usize, links: &[Link]) -> f64 {
        let a: Mat<f64> = Csr::from_triplets(n, n, links).to_dense();
        a.eigenvalues().unwrap().iter().map(|v| v.norm()).fold(0.0, f64::max)
    }

    fn agrees(n: usize, links: &[Link], expected: f64) {
        let found = radius(n, links);
        assert!(found.is_settled(), "{found:?}, expected {expected}");
        assert!((found.value() - expected).abs() <= 1e-10 * expected, "{found:?}, expected {expected}");
        // Rounding of the products moves the bounds.
        let slack = 1e-12 * expected;
        assert!(found.lower <= expected + slack && expected - slack <= found.upper, "{found:?}, expected {expected}");
    }

    /// Links 0 → 1 → … → n − 1 → 0, the k-th of weight w(k).
    fn cycle(n: u32, w: impl Fn(u32) -> f64) -> Vec<Link> {
        (0..n).map(|k| (k, (k + 1) % n, w(k))).collect()
    }

    fn shifted(links: &[Link], by: u32) -> Vec<Link> {
        links.iter().map(|&(i, j, w)| (i + by, j + by, w)).collect()
    }

    fn random_links(n: u32, count: usize, seed: u64) -> Vec<Link> {
        let mut rng = random::nth_generator(seed, Purpose::Data, 1);
        (0..count).map(|_| (rng.random_range(0..n), rng.random_range(0..n), rng.random::<f64>() + 0.01)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn random_graphs_have_the_radius_of_their_dense_matrices(n in 2u32..60, density in 0.3..5.0, seed: u64) {
            let links = random_links(n, (density * f64::from(n)) as usize, seed);
            let found = radius(n as usize, &links);
            if found.upper > 0.0 {
                prop_assert!(found.is_settled(), "{:?}", found);
                // Dense eigenvalues of a matrix that is far from normal are the less exact of the two.
                let expected = dense(n as usize, &links);
                prop_assert!((found.value() - expected).abs() <= 1e-9 * expected, "{:?}, {}", found, expected);
            } else {
                // Eigenvalues of a nilpotent matrix are all rounding; its n-th power is 0 exactly.
                let mut reached: std::collections::BTreeSet<u32> = (0..n).collect();
                for _ in 0..n {
                    reached = links.iter().filter(|link| reached.contains(&link.0)).map(|link| link.1).collect();
                }
                prop_assert!(reached.is_empty());
            }
        }

        #[test]
        fn a_cycle_has_the_geometric_mean_of_its_weights(n in 1u32..300, seed: u64) {
            let mut rng = random::nth_generator(seed, Purpose::Data, 2);
            let weights: Vec<f64> = (0..n).map(|_| 10f64.powf(4.0 * rng.random::<f64>() - 2.0)).collect();
            let mean = (weights.iter().map(|w| w.ln()).sum::<f64>() / f64::from(n)).exp();
            agrees(n as usize, &cycle(n, |k| weights[k as usize]), mean);
        }

        #[test]
        fn forward_links_have_no_cycle(n in 2u32..200, count in 0usize..600, seed: u64) {
            let forward: Vec<Link> = random_links(n, count, seed).into_iter().filter(|l| l.0 < l.1).collect();
            prop_assert_eq!(radius(n as usize, &forward), SpectralRadius { lower: 0.0, upper: 0.0 });
        }

        #[test]
        fn of_a_union_the_largest_counts_whatever_links_lead_from_one_to_the_next(n in 2u32..30, close in 0f64..1e-8, seed: u64) {
            // A cycle of weight 1 before one of weight 1 + close, and a node that links to itself after them.
            let mut links = cycle(n, |_| 1.0);
            links.extend(shifted(&cycle(n + 1, |_| 1.0 + close), n));
            links.push((2 * n + 1, 2 * n + 1, 0.5));
            let mut rng = random::nth_generator(seed, Purpose::Data, 3);
            links.extend((0..n).map(|i| (i, n + rng.random_range(0..n + 2), 100.0)));
            agrees(2 * n as usize + 2, &links, 1.0 + close);
        }

        #[test]
        fn both_ways_between_two_sides_is_the_largest_singular_value(n in 1usize..20, m in 1usize..20, seed: u64) {
            let b = crate::data::synth::gaussian::<f64>(n, m, seed);
            let mut links = Vec::new();
            for i in 0..n {
                for j in 0..m {
                    let (row, col) = (i as u32, (n + j) as u32);
                    links.extend([(row, col, b[(i, j)].abs()), (col, row, b[(i, j)].abs())]);
                }
            }
            let sizes = Mat::from_fn(n, m, |i, j| b[(i, j)].abs());
            agrees(n + m, &links, sizes.singular_values().unwrap()[0]);
        }
    }

    #[test]
    fn long_ways_with_a_tiny_gap_settle() {
        // The next eigenvalue is 1 − 1.5·π²/n² of the largest one.
        let n = 3000;
        let mut links: Vec<Link> = (1..n).flat_map(|i| [(i - 1, i, 1.0), (i, i - 1, 1.0)]).collect();
        agrees(n as usize, &links, 2.0 * (std::f64::consts::PI / f64::from(n + 1)).cos());
        // One direction four times the other: the same up to a diagonal scaling whose entries span 900 digits.
        links.iter_mut().for_each(|l| l.2 = if l.0 < l.1 { 2.0 } else { 0.5 });
        let found = radius(n as usize, &links);
        let expected = 2.0 * (std::f64::consts::PI / f64::from(n + 1)).cos();
        assert!(found.lower <= expected && expected <= found.upper, "{found:?}");
    }

    #[test]
    fn two_cliques_with_a_weak_link_both_ways_settle() {
        let clique = |n: u32| (0..n).flat_map(move |i| (0..n).filter(move |j| *j != i).map(move |j| (i, j, 1.0)));
        let mut links: Vec<Link> = clique(20).collect();
        links.extend(shifted(&clique(20).collect::<Vec<_>>(), 20));
        links.extend([(0, 20, 1e-6), (20, 0, 1e-6)]);
        agrees(40, &links, dense(40, &links));
    }

    #[test]
    fn stars_have_the_root_of_their_rays() {
        for n in [1u32, 10, 100_000] {
            let links: Vec<Link> = (1..=n).flat_map(|i| [(0, i, 1.0), (i, 0, 1.0)]).collect();
            agrees(n as usize + 1, &links, f64::from(n).sqrt());
        }
    }
}

//! Measures of clusters: against known classes by their contingency table, and on their own by the coherence of
//! columns.

use super::check_lengths;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::{Samples, SamplesRef};
use faer::Mat;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How often each pair of classes occurs together, and each class on either side.
struct Contingency {
    both: BTreeMap<(u32, u32), f64>,
    left: BTreeMap<u32, f64>,
    right: BTreeMap<u32, f64>,
    total: f64,
}

impl Contingency {
    /// Counts the pairs of two labelings, in order of their names so that sums have the same bits in every run.
    fn of(a: &[u32], b: &[u32]) -> Self {
        check_lengths(a, b);
        let (mut both, mut left, mut right) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (&i, &j) in a.iter().zip(b) {
            *both.entry((i, j)).or_insert(0.0) += 1.0;
            *left.entry(i).or_insert(0.0) += 1.0;
            *right.entry(j).or_insert(0.0) += 1.0;
        }
        Contingency { both, left, right, total: a.len() as f64 }
    }

    /// −Σ p·ln p over the classes of one side.
    fn entropy(&self, counts: &BTreeMap<u32, f64>) -> f64 {
        counts.values().map(|c| c / self.total).map(|p| -p * p.ln()).sum()
    }

    /// Σ p_ij·ln(p_ij / (p_i·p_j)).
    fn mutual_information(&self) -> f64 {
        let term = |(&(i, j), &count): (&(u32, u32), &f64)| {
            count / self.total * (count * self.total / (self.left[&i] * self.right[&j])).ln()
        };
        self.both.iter().map(term).sum::<f64>().max(0.0)
    }
}

/// Normalised mutual information I(A; B) / ((H(A) + H(B))/2), between 0 and 1, as scikit-learn's default.
///
/// Two labelings with a single class each agree: 1, also without samples.
///
/// With the shares p_ij of samples that are in cluster i of one and j of the other, I = Σ p_ij·ln(p_ij/(p_i·p_j)) and
/// H(A) = −Σ p_i·ln p_i. Names of clusters play no part.
///
/// ```
/// use lopsided::metrics::normalized_mutual_information as nmi;
///
/// assert!((nmi(&[0, 0, 1, 1], &[1, 1, 0, 0]) - 1.0).abs() < 1e-12); // the same, under other names
/// assert!(nmi(&[0, 0, 1, 1], &[0, 1, 0, 1]).abs() < 1e-12); // one tells nothing of the other
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn normalized_mutual_information(a: &[u32], b: &[u32]) -> f64 {
    let table = Contingency::of(a, b);
    if table.left.len() <= 1 && table.right.len() <= 1 {
        return 1.0;
    }
    let mean = f64::midpoint(table.entropy(&table.left), table.entropy(&table.right));
    table.mutual_information() / mean
}

/// Adjusted Rand index: agreement of two labelings on all pairs of samples, 1 when they are the same, 0 on average for
/// random ones.
///
/// With the numbers of pairs that are together in both (tp), in one only (fp, fn) and in none (tn):
/// 2(tp·tn − fn·fp) / ((tp + fn)(fn + tn) + (tp + fp)(fp + tn)).
///
/// ```
/// use lopsided::metrics::adjusted_rand_index;
///
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[1, 1, 0, 0]), 1.0);
/// assert_eq!(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]), -0.5); // less than by chance
/// ```
///
/// # Panics
/// If the two slices differ in length.
pub fn adjusted_rand_index(a: &[u32], b: &[u32]) -> f64 {
    let table = Contingency::of(a, b);
    let squares = |counts: &mut dyn Iterator<Item = &f64>| counts.map(|c| c * c).sum::<f64>();
    let together = squares(&mut table.both.values());
    let (left, right) = (squares(&mut table.left.values()), squares(&mut table.right.values()));
    let (tp, only_left, only_right) = (together - table.total, left - together, right - together);
    let tn = table.total * table.total - left - right + together;
    if only_left == 0.0 && only_right == 0.0 {
        return 1.0;
    }
    let expected = (tp + only_left) * (only_left + tn) + (tp + only_right) * (only_right + tn);
    2.0 * (tp * tn - only_left * only_right) / expected
}

/// Columns of A whose co-occurrences are held at the same time.
const BLOCK: usize = 64;

/// Coherence of clusters of the columns of A (the terms of documents).
///
/// With the co-occurrences C = AᵀA, their row sums r and their total t, PMI\[j, k\] = ln(C\[j, k\]·t / (r_j·r_k)), and 0
/// where C is 0 (or a logarithm does not exist because A has negative entries). A cluster's coherence is the mean PMI of
/// its pairs, each term with itself included, minus the mean between it and all other terms; the result is the mean over
/// clusters weighted by size. NaN without columns.
///
/// Two documents that share no term: terms of one document meet twice as often as by chance, PMI = ln 2.
///
/// ```
/// use lopsided::Samples;
/// use lopsided::metrics::coherence;
///
/// let documents = Samples::Dense(faer::mat![[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]);
/// assert!((coherence(&documents, &[0, 0, 1, 1]) - 2.0_f64.ln()).abs() < 1e-12);
/// assert!(coherence(&documents, &[0, 1, 0, 1]).abs() < 1e-12); // inside as outside
/// ```
///
/// # Cost
/// The products that make up AᵀA, Σ_i nnz(row i)² for a sparse A; 64 rows of it are held per thread, never all.
///
/// # Panics
/// If there is not one cluster per column.
pub fn coherence<T: Scalar>(a: &Samples<T>, clusters: &[u32]) -> f64 {
    assert!(a.width() == clusters.len(), "{} columns and {} clusters", a.width(), clusters.len());
    let (terms, totals) = (a.transpose(), co_occurrence_totals(a));
    let count = clusters.iter().max().map_or(0, |c| *c as usize + 1);
    let starts: Vec<usize> = (0..clusters.len()).step_by(BLOCK).collect();
    let parts: Vec<Sums> = starts
        .into_par_iter()
        .map(|start| {
            let rows = co_occurrences(a, &terms, start, BLOCK.min(clusters.len() - start));
            Sums::of(&rows, start, &totals, clusters, count)
        })
        .collect();
    Sums::added(&parts, count).coherence(clusters)
}

/// Row sums of AᵀA: Aᵀ(A·1).
fn co_occurrence_totals<T: Scalar>(a: &Samples<T>) -> Vec<f64> {
    let mut totals = vec![0.0; a.width()];
    for i in 0..a.count() {
        let mut sum = 0.0;
        a.as_ref().for_each(i, |_, v| sum += v.as_f64());
        a.as_ref().for_each(i, |j, v| totals[j] += v.as_f64() * sum);
    }
    totals
}

/// Columns `start..start + len` of AᵀA on and above its diagonal, one in each column of the result.
fn co_occurrences<T: Scalar>(a: &Samples<T>, terms: &Samples<T>, start: usize, len: usize) -> Mat<T> {
    let mut out = Mat::zeros(a.width(), len);
    match a.as_ref() {
        SamplesRef::Dense(a) => {
            let (above, columns) = (a.subcols(0, start + len).transpose(), a.subcols(start, len));
            linalg::gemm(out.as_mut().subrows_mut(0, start + len), above, columns, T::one());
        }
        SamplesRef::Sparse(a) => {
            for (at, mut out) in out.col_iter_mut().enumerate() {
                terms.as_ref().for_each(start + at, |document, weight| {
                    let (cols, values) = a.row(document);
                    let before = cols.iter().zip(values).take_while(|(k, _)| **k as usize <= start + at);
                    before.for_each(|(&k, &v)| out[k as usize] += weight * v);
                });
            }
        }
    }
    out
}

/// Sums of PMI for each cluster: over its own pairs, and over pairs with other terms.
///
/// Only the triangle of C up to its diagonal is looked at; a pair of different terms stands for two entries.
struct Sums {
    inside: Vec<f64>,
    outside: Vec<f64>,
}

impl Sums {
    /// Each pair once, for both of its terms.
    fn of<T: Scalar>(rows: &Mat<T>, start: usize, totals: &[f64], clusters: &[u32], count: usize) -> Self {
        let mut sums = Sums { inside: vec![0.0; count], outside: vec![0.0; count] };
        let all: f64 = totals.iter().sum();
        for (at, column) in rows.col_iter().enumerate() {
            let term = start + at;
            for (k, c) in column.iter().enumerate().take(term + 1).filter(|(_, c)| **c != T::zero()) {
                let ratio = c.as_f64() * all / (totals[term] * totals[k]);
                let pmi = if ratio > 0.0 && ratio.is_finite() { ratio.ln() } else { 0.0 };
                let (mine, other) = (clusters[term] as usize, clusters[k] as usize);
                if mine == other {
                    sums.inside[mine] += if k == term { pmi } else { 2.0 * pmi };
                } else {
                    sums.outside[mine] += pmi;
                    sums.outside[other] += pmi;
                }
            }
        }
        sums
    }

    /// The sums of all blocks, added in the order of the blocks.
    fn added(parts: &[Sums], count: usize) -> Self {
        let sum = |of: fn(&Sums) -> &Vec<f64>| (0..count).map(|c| parts.iter().map(|p| of(p)[c]).sum()).collect();
        Sums { inside: sum(|p| &p.inside), outside: sum(|p| &p.outside) }
    }

    /// Σ_c (size_c/m)·(mean inside c − mean between c and the rest).
    fn coherence(&self, clusters: &[u32]) -> f64 {
        let m = clusters.len() as f64;
        let mut weighted = 0.0;
        for (c, (inside, outside)) in self.inside.iter().zip(&self.outside).enumerate() {
            let size = clusters.iter().filter(|l| **l as usize == c).count() as f64;
            let mean = |sum: f64, pairs: f64| if pairs > 0.0 { sum / pairs } else { 0.0 };
            weighted += size * (mean(*inside, size * size) - mean(*outside, size * (m - size)));
        }
        weighted / m
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Csr;

    #[test]
    fn values_equal_those_of_scikit_learn() {
        let (a, b) = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2]);
        // H(A) = ln 3, H(B) = ln 6 − (2/6)ln 2 − (3/6)ln 3, I = H(A) + H(B) − H(A, B), H(A, B) = ln 6 − (4/6)ln 2.
        let (ha, hb) = (3f64.ln(), 6f64.ln() - 2f64.ln() / 3.0 - 3f64.ln() / 2.0);
        let information = ha + hb - (6f64.ln() - 2.0 / 3.0 * 2f64.ln());
        assert!((normalized_mutual_information(&a, &b) - 2.0 * information / (ha + hb)).abs() < 1e-15);
        // Pairs together: 2 in both, 3 in A, 4 in B, of 15: (2 − 0.8)/(3.5 − 0.8).
        assert!((adjusted_rand_index(&a, &b) - 1.2 / 2.7).abs() < 1e-15);
    }

    #[test]
    fn names_of_clusters_do_not_matter_and_extremes_are_right() {
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-15, "{value} {expected}");
        near(normalized_mutual_information(&[0, 0, 1, 2], &[7, 7, 3, 9]), 1.0);
        near(adjusted_rand_index(&[0, 0, 1, 2], &[7, 7, 3, 9]), 1.0);
        near(normalized_mutual_information(&[0, 0, 0], &[1, 1, 1]), 1.0);
        near(normalized_mutual_information(&[0, 0, 0, 0], &[0, 1, 0, 1]), 0.0);
        near(normalized_mutual_information(&[0, 0, 1, 1], &[0, 1, 0, 1]), 0.0);
        near(adjusted_rand_index(&[0, 0, 1, 1], &[0, 1, 0, 1]), -0.5);
        near(normalized_mutual_information(&[], &[]), 1.0);
        near(adjusted_rand_index(&[], &[]), 1.0);
    }

    fn documents() -> Csr<f64> {
        Csr::from_triplets(3, 3, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 2.0), (1, 1, 1.0), (2, 2, 1.0)])
    }

    #[test]
    fn coherence_equals_the_hand_computed_one() {
        // AᵀA = [5 3 0; 3 2 0; 0 0 1], row sums 8, 5, 1, total 14.
        let pmi = |c: f64, r: f64, s: f64| (c * 14.0 / (r * s)).ln();
        let first = (pmi(5.0, 8.0, 8.0) + 2.0 * pmi(3.0, 8.0, 5.0) + pmi(2.0, 5.0, 5.0)) / 4.0;
        let expected = (2.0 * first + pmi(1.0, 1.0, 1.0)) / 3.0;
        let split = |c: f64| {
            let (a, b) = (pmi(5.0, 8.0, 8.0) - c / 2.0, (pmi(2.0, 5.0, 5.0) + pmi(1.0, 1.0, 1.0)) / 4.0 - c / 2.0);
            (a + 2.0 * b) / 3.0
        };
        for a in [Samples::Sparse(documents()), Samples::Dense(documents().to_dense())] {
            assert!((coherence(&a, &[0, 0, 1]) - expected).abs() < 1e-14);
            assert!((coherence(&a, &[0, 1, 1]) - split(pmi(3.0, 8.0, 5.0))).abs() < 1e-14);
        }
    }

    #[test]
    fn one_cluster_has_no_outside_and_empty_columns_are_neutral() {
        let a = Samples::Sparse(Csr::from_triplets(1, 2, &[(0, 0, 2.0)]));
        assert!(coherence(&a, &[0, 0]).abs() < 1e-15);
        assert!(coherence(&Samples::Dense(Mat::<f64>::zeros(2, 0)), &[]).is_nan());
    }

    #[test]
    fn many_columns_are_taken_in_pieces() {
        let a = Mat::from_fn(30, 150, |i, j| ((i * 7 + j * 11) % 5) as f64);
        let clusters: Vec<u32> = (0..150).map(|j| j % 4).collect();
        let c = a.transpose() * &a;
        let r: Vec<f64> = (0..150).map(|j| (0..150).map(|k| c[(j, k)]).sum()).collect();
        let total: f64 = r.iter().sum();
        let pmi = |j: usize, k: usize| if c[(j, k)] > 0.0 { (c[(j, k)] * total / (r[j] * r[k])).ln() } else { 0.0 };
        let mut expected = 0.0;
        for cluster in 0..4 {
            let (own, other): (Vec<usize>, Vec<usize>) = (0..150).partition(|j| clusters[*j] == cluster);
            let mean = |with: &[usize]| {
                let sum: f64 = own.iter().flat_map(|j| with.iter().map(move |k| pmi(*j, *k))).sum();
                sum / (own.len() * with.len()) as f64
            };
            expected += own.len() as f64 / 150.0 * (mean(&own) - mean(&other));
        }
        assert!((coherence(&Samples::Dense(a), &clusters) - expected).abs() < 1e-12);
    }
}

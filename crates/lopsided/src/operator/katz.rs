//! Sums over all ways through a graph: G = Σ_k (βA)^k, multiplied term by term.
//!
//! The spectral radius ρ(A) decides what β may be. It is bounded from both sides until the bounds agree to ten digits;
//! where they do not, the upper one is taken, so that the sum exists whatever the truth is.

use super::Operator;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::samples::{Csr, SamplesRef};
use crate::operator::delegated;
use crate::products::radius::SpectralRadius;
use crate::products::strips::Strips;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// The weight unless given: a share of the largest one, or the weight itself where every one is allowed.
const DEFAULT: f64 = 0.5;
/// Terms of the series after which β is taken to be too close to 1/ρ.
const TERMS: usize = 20_000;

/// Katz proximity of the nodes of a graph, S = (I − βA)⁻¹·βA = Σ_{k ≥ 1} (βA)^k, as in \[HOPE\].
///
/// Neither the inverse nor S is formed: S·V is summed term by term, each term one product of βA with the one before, until
/// the terms vanish in rounding. The sum exists where β·ρ(A) < 1, with the spectral radius ρ(A) to ten digits; of signed entries
/// it is that of |A|, which is not below ρ(A). A graph without cycles has ρ(A) = 0 and a finite sum for every β.
///
/// # Cost
/// O(nnz(A)·r) per term for r vectors; log(ε) / log(β·ρ) terms, about 52 in double precision with the default β.
///
/// ```
/// use lopsided::operator::{Katz, Operator};
/// use lopsided::{Csr, Mat};
///
/// // 0 → 1 → 2 has no cycle: one way of length one weighs β, the way of length two β².
/// let katz = Katz::new(Csr::from_triplets(3, 3, &[(0, 1, 1.0_f64), (1, 2, 1.0)]), Some(0.5))?;
/// let mut from_first = Mat::zeros(1, 3);
/// katz.block(&[0], &[0, 1, 2], from_first.as_mut())?;
/// assert_eq!((from_first[(0, 0)], from_first[(0, 1)], from_first[(0, 2)]), (0.0, 0.5, 0.25));
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Katz<T> {
    /// βA.
    scaled: Strips<T>,
    transpose: Strips<T>,
    beta: f64,
    notes: Vec<String>,
}

impl<T: Scalar> Katz<T> {
    /// The proximity of the graph with matrix A; β is 0.5/ρ(A) unless given, and 0.5 where ρ(A) = 0.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A is square, [`Error::NotFinite`], [`Error::Param`] for a β outside its range.
    pub fn new(a: Csr<T>, beta: Option<f64>) -> Result<Self> {
        let Some(beta) = beta else { return Self::relative(a, DEFAULT) };
        check(&a)?;
        // Row sums bound the radius, and for rows that sum to 1 nothing more need be known.
        if !(beta > 0.0 && beta * largest_row_sum(&a) < 1.0) {
            let radius = SpectralRadius::of(&a).upper;
            if !(beta > 0.0 && beta.is_finite() && beta * radius < 1.0) {
                let allowed = format!("above 0 and below 1 / spectral radius = {:.4}", 1.0 / radius);
                return Err(Error::param("beta", beta, allowed));
            }
        }
        Ok(Self::of(a, beta, Vec::new()))
    }

    /// The proximity with β = share/ρ(A), or β = share where ρ(A) = 0; [`Katz::notes`] say when that or another exception was made.
    ///
    /// # Errors
    /// Those of [`Katz::new`]; a share is above 0 and, unless ρ(A) = 0, below 1.
    pub fn relative(a: Csr<T>, share: f64) -> Result<Self> {
        check(&a)?;
        let radius = SpectralRadius::of(&a);
        if !(share > 0.0 && share.is_finite() && (share < 1.0 || radius.upper == 0.0)) {
            let allowed =
                "above 0 and below 1, relative to 1 / spectral radius; only a graph without cycles allows more";
            return Err(Error::param("beta", share, allowed));
        }
        let notes = notes(&a, share, radius);
        let beta = if radius.upper == 0.0 { share } else { share / radius.value() };
        Ok(Self::of(a, beta, notes))
    }

    fn of(mut a: Csr<T>, beta: f64, notes: Vec<String>) -> Self {
        a.values_mut().iter_mut().for_each(|v| *v *= T::of(beta));
        let scaled = Strips::new(a);
        Katz { transpose: scaled.transpose(), scaled, beta, notes }
    }

    /// What a user should know about β, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The weight of a path of length one; a path of length k weighs β^k.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// out ← Σ_{k ≥ 1} M^k·v, a few columns at a time, which then stay in the cache.
    fn series(&self, m: &Strips<T>, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        const WIDTH: usize = 32;
        let parts = out.par_col_chunks_mut(WIDTH).zip(v.par_col_chunks(WIDTH));
        parts.map(|(out, v)| self.series_of_few(m, v, out)).collect()
    }

    /// 1. term ← v, sum ← 0.
    /// 2. term ← M·term, sum ← sum + term.
    /// 3. Stop once the largest entry of the term is at most ε times that of the sum. The terms of a graph without
    ///    cycles end by themselves; otherwise they fall like (β·ρ)^k.
    fn series_of_few(&self, m: &Strips<T>, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        out.fill(T::zero());
        let (mut term, mut next) = (v.to_owned(), Mat::zeros(v.nrows(), v.ncols()));
        for _ in 0..TERMS {
            m.multiply(term.as_ref(), None, next.as_mut());
            for (sum, column) in out.as_mut().col_iter_mut().zip(next.col_iter()) {
                sum.iter_mut().zip(column.iter()).for_each(|(s, t)| *s += *t);
            }
            let (last, sum) = (next.norm_max().as_f64(), out.norm_max().as_f64());
            if !sum.is_finite() {
                return Err(Error::param(
                    "beta",
                    self.beta,
                    format!("smaller: the sum is beyond the range of {}", T::NAME),
                ));
            }
            if last <= T::eps() * sum {
                return Ok(());
            }
            std::mem::swap(&mut term, &mut next);
        }
        Err(Error::param("beta", self.beta, "further below 1 / spectral radius: the sum does not settle"))
    }
}

fn check<T: Scalar>(a: &Csr<T>) -> Result<()> {
    if a.nrows() != a.ncols() {
        return Err(Error::shape("the adjacency matrix", "square", format!("{} x {}", a.nrows(), a.ncols())));
    }
    SamplesRef::Sparse(a.as_ref()).check_finite("the adjacency matrix")
}

/// max_i Σ_j |A_ij|, which is at least ρ(A).
fn largest_row_sum<T: Scalar>(a: &Csr<T>) -> f64 {
    let sum = |i| a.row(i).1.iter().map(|v| v.as_f64().abs()).sum::<f64>();
    (0..a.nrows()).map(sum).fold(0.0, f64::max)
}

/// What a share of the largest β means for this matrix, where that is not plain.
fn notes<T: Scalar>(a: &Csr<T>, share: f64, radius: SpectralRadius) -> Vec<String> {
    let mut notes = Vec::new();
    if radius.upper == 0.0 {
        notes.push(format!(
            "the graph has no cycle, so its spectral radius is 0 and every beta is allowed: beta = {share} is the weight of each \
             link itself, not a share of the largest weight"
        ));
    } else if !radius.is_settled() {
        let SpectralRadius { lower, upper } = radius;
        notes.push(format!(
            "the spectral radius is only known to be between {lower:.12} and {upper:.12}; beta is relative to the larger one"
        ));
    }
    if radius.upper > 0.0 && a.parts().2.iter().any(|v| *v < T::zero()) {
        notes.push("some links have negative weights: beta is relative to the spectral radius of their sizes".into());
    }
    notes
}

impl<T: Scalar> Operator<T> for Katz<T> {
    delegated!(scaled: size, products);

    fn apply(&self, v: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.series(&self.scaled, v, out)
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        self.series(&self.transpose, u, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(n: u32) -> Csr<f64> {
        let links: Vec<_> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
        Csr::from_triplets(n as usize, n as usize, &links)
    }

    #[test]
    fn a_path_has_a_finite_sum_for_any_beta() {
        let katz = Katz::new(path(5), Some(3.0)).unwrap();
        let mut s = Mat::zeros(5, 5);
        katz.apply(Mat::<f64>::identity(5, 5).as_ref(), s.as_mut()).unwrap();
        assert_eq!(s, Mat::from_fn(5, 5, |i, j| if j > i { 3f64.powf((j - i) as f64) } else { 0.0 }));
        let katz = Katz::new(path(5), None).unwrap();
        assert_eq!(katz.beta(), 0.5);
        assert!(katz.notes()[0].contains("no cycle") && katz.notes()[0].contains("beta = 0.5"), "{:?}", katz.notes());
        assert_eq!(Katz::relative(path(5), 2.0).unwrap().beta(), 2.0);
    }

    #[test]
    fn a_sum_beyond_all_numbers_is_refused() {
        let katz = Katz::new(path(200), Some(1e4)).unwrap();
        let mut s = Mat::zeros(200, 200);
        let error = katz.apply(Mat::<f64>::identity(200, 200).as_ref(), s.as_mut()).unwrap_err().to_string();
        assert!(error.contains("`beta` is 10000") && error.contains("beyond the range"), "{error}");
    }

    #[test]
    fn signs_are_named() {
        let signed = Csr::from_triplets(2, 2, &[(0, 1, 2.0), (1, 0, -2.0)]);
        let katz = Katz::relative(signed, 0.5).unwrap();
        assert!((katz.beta() - 0.25).abs() < 1e-12 && katz.notes()[0].contains("negative"), "{:?}", katz.notes());
    }

    #[test]
    fn beta_outside_its_range_is_refused_with_the_range() {
        let cycle = Csr::from_triplets(2, 2, &[(0, 1, 2.0), (1, 0, 2.0)]);
        let text = Katz::new(cycle.clone(), Some(0.6)).err().unwrap().to_string();
        assert_eq!(text, "`beta` is 0.6 but must be above 0 and below 1 / spectral radius = 0.5000");
        assert!(Katz::new(cycle.clone(), Some(0.0)).is_err() && Katz::new(cycle, Some(f64::NAN)).is_err());
        assert!(Katz::<f64>::new(Csr::from_triplets(1, 2, &[]), None).is_err());
    }

    #[test]
    fn a_graph_without_links_is_zero() {
        let katz = Katz::<f64>::new(Csr::from_triplets(3, 3, &[]), None).unwrap();
        let mut s = Mat::from_fn(3, 1, |_, _| 1.0);
        katz.apply(Mat::from_fn(3, 1, |_, _| 1.0).as_ref(), s.as_mut()).unwrap();
        assert_eq!(s, Mat::<f64>::zeros(3, 1));
    }
}

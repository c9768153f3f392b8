use super::strips::Strips;
use super::{Access, Operator};
use crate::error::{Error, Result};
use crate::samples::{Csr, SamplesRef};
use crate::scalar::Scalar;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Steps of the power iteration that bounds the spectral radius: the bound is within (largest row sum)^(1/STEPS) of it.
const STEPS: usize = 200;
/// Terms of the series after which β is taken to be too close to 1/ρ.
const TERMS: usize = 20_000;

/// Katz proximity of the nodes of a graph, S = (I − βA)⁻¹·βA = Σ_{k ≥ 1} (βA)^k, as in \[HOPE\].
///
/// Neither the inverse nor S is formed: S·V is summed term by term, each term one product of βA with the one before, until
/// the terms vanish in rounding. The sum exists where β·ρ(A) < 1. For entries a_ij ≥ 0, ‖A^k·1‖_∞^(1/k) bounds the spectral
/// radius ρ(A) from above for every k and tends to it; signed entries are taken by their size.
///
/// # Cost
/// O(nnz(A)·r) per term for r vectors; log(ε) / log(β·ρ) terms, about 52 in double precision with the default β.
pub struct Katz<T> {
    /// βA.
    scaled: Strips<T>,
    transpose: Strips<T>,
    beta: f64,
}

impl<T: Scalar> Katz<T> {
    /// The proximity of the graph with matrix A; β is 0.5/ρ(A) unless given.
    ///
    /// A graph without cycles has ρ(A) = 0 and a finite sum for every β; half the inverse of the smallest bound above 0
    /// is then the default.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A is square, [`Error::NotFinite`], [`Error::Param`] for a β outside its range.
    pub fn new(a: Csr<T>, beta: Option<f64>) -> Result<Self> {
        Self::with_beta(a, |radius| beta.unwrap_or(0.5 / radius.smallest_bound))
    }

    /// The proximity with β = share/ρ(A).
    ///
    /// # Errors
    /// Those of [`Katz::new`].
    pub fn relative(a: Csr<T>, share: f64) -> Result<Self> {
        Self::with_beta(a, |radius| share / radius.smallest_bound)
    }

    fn with_beta(mut a: Csr<T>, beta: impl FnOnce(&Radius) -> f64) -> Result<Self> {
        if a.nrows() != a.ncols() {
            return Err(Error::shape("the adjacency matrix", "square", format!("{} x {}", a.nrows(), a.ncols())));
        }
        SamplesRef::Sparse(a.as_ref()).check_finite("the adjacency matrix")?;
        let radius = Radius::of(&a);
        let beta = beta(&radius);
        if !(beta > 0.0 && beta.is_finite() && beta * radius.bound < 1.0) {
            let most = 1.0 / radius.bound;
            return Err(Error::param("beta", beta, format!("above 0 and below 1 / spectral radius = {most:.4}")));
        }
        a.values_mut().iter_mut().for_each(|v| *v *= T::of(beta));
        let scaled = Strips::new(a);
        Ok(Katz { transpose: scaled.transpose(), scaled, beta })
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

    fn series_of_few(&self, m: &Strips<T>, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        out.fill(T::zero());
        let (mut term, mut next) = (v.to_owned(), Mat::zeros(v.nrows(), v.ncols()));
        for _ in 0..TERMS {
            m.multiply(term.as_ref(), None, next.as_mut());
            for (sum, column) in out.as_mut().col_iter_mut().zip(next.col_iter()) {
                sum.iter_mut().zip(column.iter()).for_each(|(s, t)| *s += *t);
            }
            if next.norm_max().as_f64() <= T::eps() * out.norm_max().as_f64() {
                return Ok(());
            }
            std::mem::swap(&mut term, &mut next);
        }
        Err(Error::param("beta", self.beta, "further below 1 / spectral radius: the sum does not settle"))
    }
}

/// What is known of the spectral radius of a matrix.
struct Radius {
    /// An upper bound; 0 for a nilpotent matrix.
    bound: f64,
    /// The smallest of the bounds that is not 0; 1 for a zero matrix.
    smallest_bound: f64,
}

impl Radius {
    fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let mut v = vec![1.0; a.nrows()];
        let (mut log_norm, mut smallest) = (0.0, f64::INFINITY);
        for k in 1..=STEPS {
            v = (0..a.nrows()).map(|i| absolute_product(a.row(i), &v)).collect();
            let norm = v.iter().copied().fold(0.0, f64::max);
            if norm == 0.0 {
                return Radius { bound: 0.0, smallest_bound: if smallest.is_finite() { smallest } else { 1.0 } };
            }
            for x in &mut v {
                *x /= norm;
            }
            log_norm += norm.ln();
            smallest = smallest.min((log_norm / k as f64).exp());
        }
        Radius { bound: smallest, smallest_bound: smallest }
    }
}

fn absolute_product<T: Scalar>((cols, vals): (&[u32], &[T]), v: &[f64]) -> f64 {
    cols.iter().zip(vals).map(|(&j, a)| a.as_f64().abs() * v[j as usize]).sum()
}

impl<T: Scalar> Operator<T> for Katz<T> {
    fn nrows(&self) -> usize {
        self.scaled.nrows()
    }

    fn ncols(&self) -> usize {
        self.scaled.ncols()
    }

    fn block(&self, rows: &[usize], cols: &[usize], out: MatMut<'_, T>) -> Result<()> {
        super::block_by_products(self, rows, cols, out)
    }

    fn access(&self) -> Access {
        Access::Products
    }

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
        assert!((Katz::new(path(5), None).unwrap().beta() - 0.5).abs() < 1e-15);
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

//! Centring in feature space by three sets of means.
//!
//! Subtracting the mean of φ over the rows and of ψ over the columns changes G by a matrix of rank two, so that a
//! centred product costs a plain one and (n + m)·r operations. New samples are centred by the *training* means, never
//! by their own.

use super::Operator;
use crate::base::error::Result;
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::operator::delegated;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Row means, column means and the overall mean of G.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{DenseOperator, Means};
///
/// let g = Mat::from_fn(2, 2, |i, j| (2 * i + j) as f64); // [0 1; 2 3]
/// let means = Means::<f64>::of(&DenseOperator::Borrowed(g.as_ref()))?;
/// assert_eq!((means.rows, means.cols, means.all), (vec![0.5, 2.5], vec![1.0, 2.0], 1.5));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Means<T> {
    /// Mean of each row of G.
    pub rows: Vec<T>,
    /// Mean of each column of G.
    pub cols: Vec<T>,
    /// Mean of all entries.
    pub all: T,
}

impl<T: Scalar> Means<T> {
    /// The means of an operator, by two products with a vector of ones; one where it is symmetric.
    pub fn of(g: &dyn Operator<T>) -> Result<Self> {
        let (n, m) = (g.nrows(), g.ncols());
        let scaled =
            |sums: Mat<T>, count: usize| -> Vec<T> { sums.col(0).iter().map(|&s| s / T::of(count as f64)).collect() };
        let ones = |count: usize| Mat::from_fn(count, 1, |_, _| T::one());
        let (rows, cols) = if g.is_symmetric() {
            let mut sums = Mat::zeros(n, 1);
            g.apply(ones(m).as_ref(), sums.as_mut())?;
            let means = scaled(sums, m);
            (means.clone(), means)
        } else {
            let (rows, cols) = g.apply_both(ones(m).as_ref(), ones(n).as_ref())?;
            (scaled(rows, m), scaled(cols, n))
        };
        let all = rows.iter().copied().sum::<T>() / T::of(g.nrows() as f64);
        Ok(Means { rows, cols, all })
    }

    /// Takes the means away from a matrix that they are the means of.
    pub(crate) fn subtract_from(&self, g: MatMut<'_, T>) {
        g.par_col_chunks_mut(1).zip(&self.cols).for_each(|(mut column, mean)| {
            let shift = self.all - *mean;
            column.rb_mut().col_mut(0).iter_mut().zip(&self.rows).for_each(|(v, row)| *v += shift - *row);
        });
    }

    /// Largest singular value that rounding alone can leave after the means are subtracted.
    ///
    /// A matrix that is constant but for rounding has no direction left after centring; triplets up to this value are
    /// not there.
    pub fn rounding(&self) -> f64 {
        8.0 * self.noise()
    }

    /// What a product with the centred matrix loses to rounding where the means are far larger than what is left: about so much
    /// for each length of a vector.
    pub(crate) fn noise(&self) -> f64 {
        let largest = self.rows.iter().chain(&self.cols).fold(0.0, |a: f64, m| a.max(m.as_f64().abs()));
        T::eps() * largest * ((self.rows.len() * self.cols.len()) as f64).sqrt()
    }
}

/// (I − 11ᵀ/n) G (I − 11ᵀ/m): both feature maps centred (\[KSVD\] §2.2).
///
/// Entry (i, j) is G\[i, j\] − rows\[i\] − cols\[j\] + all. With the means of a training G and new rows or columns this
/// centres new samples by the training means.
///
/// ```
/// use lopsided::Mat;
/// use lopsided::operator::{Centered, DenseOperator, Means, Operator};
///
/// // A sum of a term of the row and a term of the column is nothing but means.
/// let g = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| (2 * i + j) as f64));
/// let centered = Centered::<f64>::new(&g, Means::of(&g)?);
/// let mut entries = Mat::zeros(2, 2);
/// centered.block(&[0, 1], &[0, 1], entries.as_mut())?;
/// assert_eq!(entries.norm_max(), 0.0);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub struct Centered<'a, T> {
    inner: &'a dyn Operator<T>,
    means: Means<T>,
}

impl<'a, T: Scalar> Centered<'a, T> {
    /// Wraps an operator; lengths of the means must fit it.
    ///
    /// # Panics
    /// If the means are not one per row and one per column.
    pub fn new(inner: &'a dyn Operator<T>, means: Means<T>) -> Self {
        assert_eq!((means.rows.len(), means.cols.len()), (inner.nrows(), inner.ncols()), "lengths of means");
        Centered { inner, means }
    }
}

impl<T: Scalar> Operator<T> for Centered<'_, T> {
    delegated!(inner: size, access, rounding);

    fn is_symmetric(&self) -> bool {
        self.inner.is_symmetric() && self.means.rows == self.means.cols
    }

    fn apply_both(&self, v: MatRef<'_, T>, u: MatRef<'_, T>) -> Result<(Mat<T>, Mat<T>)> {
        let (mut forth, mut back) = self.inner.apply_both(v, u)?;
        subtract(forth.as_mut(), v, (&self.means.rows, &self.means.cols, self.means.all));
        subtract(back.as_mut(), u, (&self.means.cols, &self.means.rows, self.means.all));
        Ok((forth, back))
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, T>) -> Result<()> {
        self.inner.block(rows, cols, out.rb_mut())?;
        for (j, &col) in cols.iter().enumerate() {
            for (i, &row) in rows.iter().enumerate() {
                out[(i, j)] += self.means.all - self.means.rows[row] - self.means.cols[col];
            }
        }
        Ok(())
    }

    fn apply(&self, v: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.inner.apply(v, out.rb_mut())?;
        subtract(out, v, (&self.means.rows, &self.means.cols, self.means.all));
        Ok(())
    }

    fn apply_transpose(&self, u: MatRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        self.inner.apply_transpose(u, out.rb_mut())?;
        subtract(out, u, (&self.means.cols, &self.means.rows, self.means.all));
        Ok(())
    }
}

/// out ← out − here·(1ᵀv) − 1·((there − all)ᵀv).
fn subtract<T: Scalar>(out: MatMut<'_, T>, v: MatRef<'_, T>, (here, there, all): (&[T], &[T], T)) {
    let weights = Mat::from_fn(v.nrows(), 2, |j, k| if k == 0 { T::one() } else { there[j] - all });
    let sums = linalg::transpose_mul(weights.as_ref(), v);
    let shapes = Mat::from_fn(out.nrows(), 2, |i, k| if k == 0 { here[i] } else { T::one() });
    linalg::add_mul(out, shapes.as_ref(), sums.as_ref(), -T::one());
}

//! Weights of samples, turned so that a bias stays one of equal shares.

use super::{Access, Operator};
use crate::base::error::Result;
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// H·D·K·D·H with D = diag(√w) and the reflection H that takes √w/|√w| to 1/√n.
///
/// Least squares whose errors count w_i have g/w_i in place of g on the diagonal of their system. With a = D·H·ã that is the
/// system of H·D·K·D·H with g on the diagonal again, and since H·√w is a multiple of 1 its border is the one of equal
/// weights: whoever solves the plain system solves the weighted one.
///
/// K̃ = D·K·D − v·qᵀ − p·vᵀ + (vᵀp)·v·vᵀ for H = I − v·vᵀ, p = D·K·D·v and q = (D·K·D)ᵀ·v, so that entries cost those of K.
pub(crate) struct Weighted<'a> {
    inner: &'a dyn Operator<f64>,
    turn: &'a Turn,
    p: Vec<f64>,
    q: Vec<f64>,
    both: f64,
}

/// D and H of a set of weights above 0.
pub(crate) struct Turn {
    roots: Vec<f64>,
    v: Vec<f64>,
    /// √n/|√w|, what a bias of the turned system is multiplied by.
    share: f64,
}

impl Turn {
    /// Weights of the samples, all above 0.
    pub(crate) fn new(weights: &[f64]) -> Self {
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let (length, even) = (weights.iter().sum::<f64>().sqrt(), (weights.len() as f64).sqrt());
        let mut v: Vec<f64> = roots.iter().map(|root| root / length - 1.0 / even).collect();
        let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Equal weights need no reflection, and what rounding leaves of one would be a wrong one.
        let scale = if norm > 1e-12 { std::f64::consts::SQRT_2 / norm } else { 0.0 };
        v.iter_mut().for_each(|x| *x *= scale);
        Turn { roots, v, share: even / length }
    }

    /// H·x.
    fn reflect(&self, mut x: Mat<f64>) -> Mat<f64> {
        for c in 0..x.ncols() {
            let along: f64 = x.col(c).iter().zip(&self.v).map(|(x, v)| x * v).sum();
            x.col_mut(c).iter_mut().zip(&self.v).for_each(|(x, v)| *x -= along * v);
        }
        x
    }

    /// D·x.
    fn scale(&self, mut x: Mat<f64>) -> Mat<f64> {
        for c in 0..x.ncols() {
            x.col_mut(c).iter_mut().zip(&self.roots).for_each(|(x, root)| *x *= root);
        }
        x
    }

    /// H·D·y: targets of the turned system.
    pub(crate) fn targets(&self, y: MatRef<'_, f64>) -> Mat<f64> {
        self.reflect(self.scale(y.to_owned()))
    }

    /// D·H·a: coefficients of the weighted system.
    pub(crate) fn coefficients(&self, a: &Mat<f64>) -> Mat<f64> {
        self.scale(self.reflect(a.clone()))
    }

    /// Biases of the weighted system.
    pub(crate) fn biases(&self, biases: &[f64]) -> Vec<f64> {
        biases.iter().map(|bias| bias * self.share).collect()
    }
}

impl<'a> Weighted<'a> {
    /// Two products with K.
    pub(crate) fn new(inner: &'a dyn Operator<f64>, turn: &'a Turn) -> Result<Self> {
        let n = turn.v.len();
        let scaled = Mat::from_fn(n, 1, |i, _| turn.roots[i] * turn.v[i]);
        let (mut p, mut q) = (Mat::zeros(n, 1), Mat::zeros(n, 1));
        inner.apply(scaled.as_ref(), p.as_mut())?;
        inner.apply_transpose(scaled.as_ref(), q.as_mut())?;
        let vector = |m: Mat<f64>| turn.scale(m).col(0).iter().copied().collect::<Vec<f64>>();
        let (p, q) = (vector(p), vector(q));
        let both = p.iter().zip(&turn.v).map(|(p, v)| p * v).sum();
        Ok(Weighted { inner, turn, p, q, both })
    }

    /// A product of the inner matrix, turned on both sides.
    fn turned(
        &self,
        x: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        product: impl Fn(MatRef<'_, f64>, MatMut<'_, f64>) -> Result<()>,
    ) -> Result<()> {
        product(self.turn.coefficients(&x.to_owned()).as_ref(), out.rb_mut())?;
        let back = self.turn.targets(out.as_ref());
        out.copy_from(&back);
        Ok(())
    }
}

impl Operator<f64> for Weighted<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn access(&self) -> Access {
        self.inner.access()
    }

    fn rounding(&self) -> f64 {
        self.inner.rounding()
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        self.inner.block(rows, cols, out.rb_mut())?;
        let Turn { roots, v, .. } = self.turn;
        for (j, &col) in cols.iter().enumerate() {
            for (i, &row) in rows.iter().enumerate() {
                let turned = (self.both * v[row] - self.p[row]) * v[col] - v[row] * self.q[col];
                out[(i, j)] = roots[row] * roots[col] * out[(i, j)] + turned;
            }
        }
        Ok(())
    }

    fn apply(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.turned(x, out, |x, out| self.inner.apply(x, out))
    }

    fn apply_transpose(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.turned(x, out, |x, out| self.inner.apply_transpose(x, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{DenseOperator, materialize};

    /// Entries, products and the naive product of five matrices are one; equal weights change nothing but the scale.
    #[test]
    fn entries_and_products_are_those_of_the_turned_matrix() {
        let n = 7;
        let k = Mat::from_fn(n, n, |i, j| ((3 * i + 5 * j * j) % 11) as f64 / 11.0 - 0.3);
        let operator = DenseOperator::Owned(k.clone());
        for weights in [vec![2.0; n], (1..=n).map(|i| i as f64).collect::<Vec<f64>>()] {
            let turn = Turn::new(&weights);
            let h = turn.reflect(Mat::identity(n, n));
            let d = turn.scale(Mat::identity(n, n));
            let naive = &h * &d * &k * &d * &h;
            let weighted = Weighted::new(&operator, &turn).unwrap();
            let entries = materialize(&weighted).unwrap();
            assert!((&entries - &naive).norm_max() < 1e-12);
            let (mut forth, mut back) = (Mat::zeros(n, n), Mat::zeros(n, n));
            weighted.apply(Mat::<f64>::identity(n, n).as_ref(), forth.as_mut()).unwrap();
            weighted.apply_transpose(Mat::<f64>::identity(n, n).as_ref(), back.as_mut()).unwrap();
            assert!((&forth - &naive).norm_max() < 1e-12 && (&back - naive.transpose()).norm_max() < 1e-12);
            // H takes √w to a multiple of 1.
            let roots = turn.targets(Mat::from_fn(n, 1, |_, _| 1.0).as_ref());
            assert!((0..n).all(|i| (roots[(i, 0)] * turn.share - 1.0).abs() < 1e-12));
        }
    }
}

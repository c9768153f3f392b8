//! The two functions of AsK-LS in coefficients of K, their scores, and symmetrised kernel matrices.
//!
//! [`Functions`] are what a system gives, [`Scores`] are their values at samples, and [`Symmetrized`]
//! multiplies the average of K and Kᵀ, KᵀK or KKᵀ without forming them. Everything here is linear: functions of
//! several systems can be set side by side, added and multiplied with K at once, which is what cross-validation
//! lives on.

use super::stack::Scores;
use super::{Symmetrize, rows_of};
use crate::base::error::Result;
use crate::operator::{Access, Operator, Submatrix, block_by_products};
use crate::solvers::linsys::CoupledSolution;
use faer::{Mat, MatMut, MatRef};

/// Coefficients of f_s and f_t over all samples of K, zero for those that took no part; one column per class.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::estimators) struct Functions {
    /// b, of f_s.
    pub(super) source: Mat<f64>,
    /// a, of f_t.
    pub(super) target: Mat<f64>,
    /// β_s of each class.
    pub(super) bias_source: Vec<f64>,
    /// β_t of each class.
    pub(super) bias_target: Vec<f64>,
}

impl Functions {
    /// Functions that are 0 everywhere, to add others to.
    pub(super) fn zeros(samples: usize, classes: usize) -> Self {
        Functions {
            source: Mat::zeros(samples, classes),
            target: Mat::zeros(samples, classes),
            bias_source: vec![0.0; classes],
            bias_target: vec![0.0; classes],
        }
    }

    /// The solution for some samples of K.
    ///
    /// Coefficients of all other samples of K are 0, so that one product with K gives the scores of any sample it
    /// holds.
    pub(in crate::estimators) fn padded(solved: &CoupledSolution, train: &[usize], samples: usize) -> Self {
        let mut out = Functions::zeros(samples, solved.a.ncols());
        for (at, &i) in train.iter().enumerate() {
            out.source.row_mut(i).copy_from(solved.b.row(at));
            out.target.row_mut(i).copy_from(solved.a.row(at));
        }
        (out.bias_source, out.bias_target) = (solved.bias_source.clone(), solved.bias_target.clone());
        out
    }

    /// The functions of several systems as one with more columns.
    ///
    /// One product with K then serves all of them; [`Scores::split`] takes the values apart again.
    pub(super) fn beside(all: &[Functions]) -> Self {
        let classes = all.first().map_or(0, |one| one.source.ncols());
        let join = |side: fn(&Functions) -> &Mat<f64>| {
            let rows = all.first().map_or(0, |one| side(one).nrows());
            let mut out = Mat::zeros(rows, all.len() * classes);
            for (at, one) in all.iter().enumerate() {
                out.as_mut().subcols_mut(at * classes, classes).copy_from(side(one));
            }
            out
        };
        Functions {
            source: join(|f| &f.source),
            target: join(|f| &f.target),
            bias_source: all.iter().flat_map(|f| f.bias_source.clone()).collect(),
            bias_target: all.iter().flat_map(|f| f.bias_target.clone()).collect(),
        }
    }

    /// self += share·other.
    pub(super) fn add(&mut self, other: &Functions, share: f64) {
        self.source += &other.source * faer::Scale(share);
        self.target += &other.target * faer::Scale(share);
        let add = |to: &mut Vec<f64>, from: &[f64]| to.iter_mut().zip(from).for_each(|(t, f)| *t += share * f);
        add(&mut self.bias_source, &other.bias_source);
        add(&mut self.bias_target, &other.bias_target);
    }

    /// Scores of samples that are part of K.
    ///
    /// Source scores are K\[samples, :\]·b + β_s, target scores K\[:, samples\]ᵀ·a + β_t (\[AsKLS\] Eq. (7)).
    pub(super) fn scores_within(&self, k: &dyn Operator<f64>, samples: &[usize]) -> Result<Scores> {
        let shape = (samples.len(), self.source.ncols());
        let (mut source, mut target) = (Mat::zeros(shape.0, shape.1), Mat::zeros(shape.0, shape.1));
        Submatrix::new(k, Some(samples), None).apply(self.source.as_ref(), source.as_mut())?;
        Submatrix::new(k, None, Some(samples)).apply_transpose(self.target.as_ref(), target.as_mut())?;
        Ok(self.with_biases(source, target))
    }

    /// Scores from products with the coefficients.
    pub(super) fn with_biases(&self, mut source: Mat<f64>, mut target: Mat<f64>) -> Scores {
        let shift = |m: &mut Mat<f64>, biases: &[f64]| {
            biases.iter().enumerate().for_each(|(c, b)| m.col_mut(c).iter_mut().for_each(|v| *v += b));
        };
        shift(&mut source, &self.bias_source);
        shift(&mut target, &self.bias_target);
        Scores { source, target }
    }
}

impl Scores {
    /// Scores of 0, to be filled in part by part.
    pub(super) fn zeros(samples: usize, classes: usize) -> Self {
        Scores { source: Mat::zeros(samples, classes), target: Mat::zeros(samples, classes) }
    }

    /// The scores of some samples.
    pub(super) fn rows(&self, samples: &[usize]) -> Self {
        Scores { source: rows_of(self.source.as_ref(), samples), target: rows_of(self.target.as_ref(), samples) }
    }

    /// The scores of each of so many functions that were set side by side.
    pub(super) fn split(&self, count: usize) -> impl Iterator<Item = Scores> {
        let classes = self.source.ncols() / count.max(1);
        let part = move |m: &Mat<f64>, at: usize| m.subcols(at * classes, classes).to_owned();
        (0..count).map(move |at| Scores { source: part(&self.source, at), target: part(&self.target, at) })
    }

    /// The scores of several groups of samples, one below the other.
    pub(super) fn below(parts: &[&Scores]) -> Self {
        let (rows, classes) = (parts.iter().map(|p| p.source.nrows()).sum(), parts[0].source.ncols());
        let mut out = Scores::zeros(rows, classes);
        let mut at = 0;
        for part in parts {
            let count = part.source.nrows();
            out.set(&(at..at + count).collect::<Vec<_>>(), part);
            at += count;
        }
        out
    }

    /// Puts the scores of some samples into their rows.
    pub(super) fn set(&mut self, rows: &[usize], part: &Scores) {
        for (at, &i) in rows.iter().enumerate() {
            self.source.row_mut(i).copy_from(part.source.row(at));
            self.target.row_mut(i).copy_from(part.target.row(at));
        }
    }
}

/// (K + Kᵀ)/2, KᵀK or KKᵀ of a square operator.
pub(in crate::estimators) struct Symmetrized<'a> {
    /// The asymmetric K.
    k: &'a dyn Operator<f64>,
    kind: Symmetrize,
}

impl<'a> Symmetrized<'a> {
    pub(in crate::estimators) fn new(k: &'a dyn Operator<f64>, kind: Symmetrize) -> Self {
        Symmetrized { k, kind }
    }

    /// Whether the average is K itself.
    fn is_given(&self) -> bool {
        self.kind == Symmetrize::Average && self.k.is_symmetric()
    }

    /// One product with K and one with Kᵀ, whatever the kind: for the average both of v, for KᵀK and KKᵀ one after
    /// the other.
    fn product(&self, v: MatRef<'_, f64>, mut out: MatMut<'_, f64>) -> Result<()> {
        if self.is_given() {
            return self.k.apply(v, out);
        }
        let mut inner = Mat::zeros(self.k.nrows(), v.ncols());
        match self.kind {
            Symmetrize::Average => {
                let (forth, back) = self.k.apply_both(v, v)?;
                out.copy_from((forth + back) * faer::Scale(0.5));
                Ok(())
            }
            Symmetrize::Columns => {
                self.k.apply(v, inner.as_mut())?;
                self.k.apply_transpose(inner.as_ref(), out)
            }
            Symmetrize::Rows => {
                self.k.apply_transpose(v, inner.as_mut())?;
                self.k.apply(inner.as_ref(), out)
            }
        }
    }
}

impl Operator<f64> for Symmetrized<'_> {
    fn nrows(&self) -> usize {
        self.k.nrows()
    }

    fn ncols(&self) -> usize {
        self.k.nrows()
    }

    fn block(&self, rows: &[usize], cols: &[usize], mut out: MatMut<'_, f64>) -> Result<()> {
        if self.kind != Symmetrize::Average {
            return block_by_products(self, rows, cols, out);
        }
        self.k.block(rows, cols, out.as_mut())?;
        if self.is_given() {
            return Ok(());
        }
        let mut mirrored = Mat::zeros(cols.len(), rows.len());
        self.k.block(cols, rows, mirrored.as_mut())?;
        out += mirrored.transpose();
        out *= faer::Scale(0.5);
        Ok(())
    }

    fn rounding(&self) -> f64 {
        self.k.rounding()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    /// An entry of the average is two of K; one of the products takes a product.
    fn access(&self) -> Access {
        if self.kind == Symmetrize::Average { self.k.access() } else { Access::Products }
    }

    fn apply(&self, v: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.product(v, out)
    }

    fn apply_transpose(&self, u: MatRef<'_, f64>, out: MatMut<'_, f64>) -> Result<()> {
        self.product(u, out)
    }
}

/// The one function of a symmetrised kernel, in coefficients of K: (KᵀK)·c = Kᵀ·(K·c) is a target function with the
/// coefficients K·c, (KKᵀ)·c a source function with Kᵀ·c.
///
/// The average stands on both sides, ½(K + Kᵀ)·c = (K·c + Kᵀ·c)/2, and is merged by [`super::Merge::Average`];
/// the products stand on one side only, and the other function is not looked at.
pub(in crate::estimators) fn unfolded(
    mut solved: CoupledSolution,
    k: &dyn Operator<f64>,
    kind: Symmetrize,
) -> Result<CoupledSolution> {
    let mut product = Mat::zeros(k.nrows(), solved.b.ncols());
    match kind {
        Symmetrize::Average => product = solved.b.clone(),
        Symmetrize::Columns => k.apply(solved.b.as_ref(), product.as_mut())?,
        Symmetrize::Rows => k.apply_transpose(solved.b.as_ref(), product.as_mut())?,
    }
    solved.bias_target = solved.bias_source.clone();
    (solved.a, solved.b) = (product.clone(), product);
    Ok(solved)
}

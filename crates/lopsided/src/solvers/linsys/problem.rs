//! The problem as all routes see it: M, its products, its right-hand side, and the order in which routes are tried.

use super::gate::{Account, Solved};
use super::parts::Parts;
use super::{CoupledSolution, CoupledSystem, Limits, OnSingular, Spectral, dense, minres};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::data::samples::SamplesRef;
use crate::operator::{self, DenseOperator, Means, Operator};
use faer::{Mat, MatRef};
use std::sync::OnceLock;

/// M with its right-hand side, shared by the routes.
pub(super) struct Problem<'a> {
    pub(super) g: f64,
    /// K_c.
    pub(super) k: &'a dyn Operator<f64>,
    /// All of it, where it is in memory.
    pub(super) stored: Option<MatRef<'a, f64>>,
    /// Centred targets.
    pub(super) y: Mat<f64>,
    pub(super) system: &'a CoupledSystem,
    pub(super) run: &'a Run,
    /// What is left out of each group of columns, where several systems are solved at once.
    pub(super) parts: Option<&'a Parts>,
    /// What other penalties have found out about K.
    pub(super) known: Option<&'a Landmarks>,
    /// Whether K is centred, so that a and b have mean 0.
    pub(super) centred: bool,
    /// What products lose to large means of K, for each length of a vector.
    pub(super) noise: f64,
}

/// Leading eigenvectors of K_c from landmarks, found once; nothing inside where K has none to find.
pub(super) type Landmarks = OnceLock<Option<Spectral>>;

/// \[a; b\] as a route found it: nobody has measured it yet.
pub(super) struct Found {
    pub(super) a: Mat<f64>,
    pub(super) b: Mat<f64>,
    pub(super) account: Account,
}

impl Problem<'_> {
    pub(super) fn n(&self) -> usize {
        self.y.nrows()
    }

    /// Factors, and a complete decomposition where they are not accurate enough.
    pub(super) fn by_factors(&self, limits: &Limits) -> Result<Solved> {
        let n = self.n();
        let solved = self.gate(dense::solve(self)?, &format!("{n} samples, at most {}", limits.dense))?;
        if solved.report.converged() || n > limits.dense {
            return Ok(solved);
        }
        let complete = Spectral::complete(self.k, self.system.symmetric)?.solved(self)?;
        let complete = self.gate(complete, "factors are not accurate enough")?;
        Ok(if complete.report.residual < solved.report.residual { complete } else { solved })
    }

    /// Products as long as they cost less than factors, then factors; products alone where there is no room for factors.
    pub(super) fn by_products(&self, limits: &Limits) -> Result<Solved> {
        let n = self.n();
        let why = format!("{n} samples, more than {}", limits.dense);
        if !limits.allow_factors(n) {
            return self.gate(minres::solve(self, minres::most(self))?, &why);
        }
        let solved = self.gate(minres::solve(self, minres::cheaper_than_factors(self))?, &why)?;
        if solved.report.converged() {
            return Ok(solved);
        }
        let factored = self.gate(dense::solve(self)?, &format!("{why}, and MINRES takes long"))?;
        Ok(if factored.report.converged() || factored.report.residual < solved.report.residual {
            factored
        } else {
            solved
        })
    }

    /// The solution for the leading triplets in place of K_c, measured as such.
    pub(super) fn by_triplets(&self, rank: usize) -> Result<Solved> {
        let spectral = Spectral::leading(self.k, rank, self.system.symmetric, self.run)?;
        let (left, right) = spectral.factors();
        let product = operator::ProductOperator::new(SamplesRef::Dense(left.as_ref()), SamplesRef::Dense(right))?;
        let replaced = Problem { k: &product, stored: None, y: self.y.clone(), ..*self };
        replaced.gate(spectral.solved(self)?, "asked for")
    }

    /// The right-hand side of M: \[y_c; y_c\], for a symmetric K y_c.
    pub(super) fn rhs(&self) -> Mat<f64> {
        self.joined(&self.y, &self.y)
    }

    /// The same with a random centred vector as one more target of each system.
    pub(super) fn with_probe(&self) -> Mat<f64> {
        let rhs = self.rhs();
        let (rows, systems) = (rhs.nrows(), self.systems());
        let targets = rhs.ncols() / systems;
        let probes = centred(
            random::gaussian::<f64>(rows, systems, &mut random::generator(self.run.seed, Purpose::SystemProbe))
                .as_ref(),
        );
        let value = |i: usize, system: usize, c: usize| {
            if c < targets { rhs[(i, system * targets + c)] } else { probes[(i, system)] }
        };
        let mut out =
            Mat::from_fn(rows, systems * (targets + 1), |i, c| value(i, c / (targets + 1), c % (targets + 1)));
        self.project(&mut out);
        out
    }

    /// What belongs to targets, not to random vectors.
    pub(super) fn without_probe(&self, w: &Mat<f64>) -> Mat<f64> {
        let systems = self.systems();
        let targets = w.ncols() / systems - 1;
        Mat::from_fn(w.nrows(), systems * targets, |i, c| w[(i, c / targets * (targets + 1) + c % targets)])
    }

    /// Systems that are solved at once.
    fn systems(&self) -> usize {
        self.parts.map_or(1, |parts| parts.held.len())
    }

    /// Keeps vectors among those that the system of their column knows.
    pub(super) fn project(&self, w: &mut Mat<f64>) {
        if let Some(parts) = self.parts {
            parts.project(w, self.n());
        }
    }

    /// Takes the mean out of a or b, over the samples that the system of each column knows.
    pub(super) fn centre(&self, weights: &mut Mat<f64>) {
        if self.parts.is_some() {
            self.project(weights);
        } else if self.centred {
            *weights = centred(weights.as_ref());
        }
    }

    /// \[a; b\]; for a symmetric K, where both are one, a.
    pub(super) fn joined(&self, a: &Mat<f64>, b: &Mat<f64>) -> Mat<f64> {
        if self.system.symmetric { a.clone() } else { stacked(a.as_ref(), b.as_ref()) }
    }

    /// a and b of what was joined.
    pub(super) fn split(&self, w: Mat<f64>) -> (Mat<f64>, Mat<f64>) {
        if self.system.symmetric { (w.clone(), w) } else { halves(&w) }
    }

    /// M·w for w = \[a; b\], for a symmetric K (g·I + K_c)·w.
    pub(super) fn apply(&self, w: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.run.watch.check()?;
        let n = self.n();
        let mut out = w.to_owned() * faer::Scale(self.g);
        if self.system.symmetric {
            let mut product = Mat::zeros(n, w.ncols());
            self.k.apply(w, product.as_mut())?;
            out += &product;
            self.project(&mut out);
            return Ok(out);
        }
        let (a, b) = (w.subrows(0, n), w.subrows(n, n));
        let (forth, back) = self.k.apply_both(b, a)?;
        let (mut top, mut bottom) = out.as_mut().split_at_row_mut(n);
        top += &forth;
        bottom += &back;
        self.project(&mut out);
        Ok(out)
    }

    /// ‖M‖·‖w‖/‖M·w‖, the largest over the columns: a lower bound of the condition number for any w, where `norm` is at most ‖M‖.
    ///
    /// ‖M·w‖/‖w‖ is an upper bound of the least |eigenvalue| for any w ≠ 0, so nothing found this way can be too large
    /// by accident. Beyond 1/ε the number means nothing more and becomes infinite.
    pub(super) fn least_condition(&self, w: &Mat<f64>, norm: f64) -> Result<f64> {
        Ok(shown_condition(w, &self.apply(w.as_ref())?, norm))
    }

    /// The sentence about a system of this condition that was solved otherwise; an error where that was asked for.
    pub(super) fn singular(&self, condition: f64) -> Result<String> {
        let number = if condition.is_finite() { format!("{condition:.1e}") } else { "infinite".into() };
        let on_singular = self.system.on_singular;
        if on_singular == OnSingular::Error {
            let penalty = self.system.penalty;
            return Err(Error::Singular {
                what: format!(
                    "the {} system with `penalty` {penalty} (condition number {number}; another `penalty` helps)",
                    if self.system.symmetric { "LS-SVM" } else { "AsK-LS" }
                ),
            });
        }
        Ok(format!("the system is singular (condition number {number}): {on_singular} was taken"))
    }
}

/// The condition number that vectors w and their images M·w show.
pub(super) fn shown_condition(w: &Mat<f64>, images: &Mat<f64>, norm: f64) -> f64 {
    let images = linalg::column_norms(images.as_ref());
    let shown = linalg::column_norms(w.as_ref()).into_iter().zip(images).filter(|(length, _)| *length > 0.0);
    let least = shown.map(|(length, image)| norm * length / image).fold(1.0, f64::max);
    if least < f64::EPSILON.recip() { least } else { f64::INFINITY }
}

impl Solved {
    /// β_s = mean(y − K·b) and β_t = mean(y − Kᵀ·a).
    ///
    /// y − K·b has the same mean as y less the column means of K times b; no further product is needed.
    pub(super) fn with_biases(self, means: &Means<f64>, targets: MatRef<'_, f64>) -> CoupledSolution {
        let n = targets.nrows() as f64;
        let bias = |weights: &Mat<f64>, of: &[f64]| -> Vec<f64> {
            let shift = |c: usize| weights.col(c).iter().zip(of).map(|(w, m)| w * m).sum::<f64>();
            (0..targets.ncols()).map(|c| targets.col(c).iter().sum::<f64>() / n - shift(c)).collect()
        };
        let (bias_source, bias_target) = (bias(&self.b, &means.cols), bias(&self.a, &means.rows));
        CoupledSolution { a: self.a, b: self.b, bias_source, bias_target, report: self.report }
    }
}

/// K_c in memory, and the means of K. Where these are large, rounding leaves means that are not quite 0 and are taken out, too.
pub(super) fn stored(k: &dyn Operator<f64>) -> Result<(Mat<f64>, Means<f64>)> {
    let mut matrix = operator::materialize(k)?;
    let means = Means::of(&DenseOperator::Borrowed(matrix.as_ref()))?;
    means.subtract_from(matrix.as_mut());
    Means::of(&DenseOperator::Borrowed(matrix.as_ref()))?.subtract_from(matrix.as_mut());
    Ok((matrix, means))
}

/// Columns minus their means.
pub(crate) fn centred(y: MatRef<'_, f64>) -> Mat<f64> {
    let mean: Vec<f64> = y.col_iter().map(|c| c.iter().sum::<f64>() / y.nrows() as f64).collect();
    Mat::from_fn(y.nrows(), y.ncols(), |i, c| y[(i, c)] - mean[c])
}

/// \[a; b\].
fn stacked(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows() + b.nrows(), a.ncols());
    out.as_mut().subrows_mut(0, a.nrows()).copy_from(a);
    out.as_mut().subrows_mut(a.nrows(), b.nrows()).copy_from(b);
    out
}

/// The upper and the lower half.
fn halves(w: &Mat<f64>) -> (Mat<f64>, Mat<f64>) {
    let n = w.nrows() / 2;
    (w.subrows(0, n).to_owned(), w.subrows(n, n).to_owned())
}

/// aᵀb column by column.
pub(crate) fn dots(a: &Mat<f64>, b: &Mat<f64>) -> Vec<f64> {
    a.col_iter().zip(b.col_iter()).map(|(a, b)| a.iter().zip(b.iter()).map(|(a, b)| a * b).sum()).collect()
}

/// Column c of `out` += factors\[c\] · column c of `other`.
pub(super) fn add_scaled(out: &mut Mat<f64>, factors: &[f64], other: &Mat<f64>) {
    for (c, &factor) in factors.iter().enumerate() {
        out.col_mut(c).iter_mut().zip(other.col(c).iter()).for_each(|(o, v)| *o += factor * v);
    }
}

/// Column c times factors\[c\].
pub(super) fn scale(out: &mut Mat<f64>, factors: &[f64]) {
    for (c, &factor) in factors.iter().enumerate() {
        out.col_mut(c).iter_mut().for_each(|o| *o *= factor);
    }
}

//! Damped least squares by products alone.

use super::gate::{Account, Equations};
use super::{Found, OnSingular, Problem, SINGULAR, add_scaled, scale};
use crate::base::error::Result;
use crate::base::linalg::column_norms;
use crate::base::watch::Progress;
use faer::Mat;

/// Most iterations; a damped system needs far fewer unless K is large against λ.
const MOST: u64 = 20_000;

/// What the iteration's own account of the gradient is to leave of the tolerance, as it drifts from the measured one.
const SAFETY: f64 = 0.1;

/// Scalars of one column, in the names of the method's authors.
struct Column {
    alphabar: f64,
    zetabar: f64,
    start: f64,
    rho: f64,
    rhobar: f64,
    cbar: f64,
    sbar: f64,
    /// Smallest and largest diagonal entry of the second triangular factor.
    range: (f64, f64),
}

/// (M² + λI)·w = M·\[y_c; y_c\] by LSMR with damping √λ (\[FS11\] of the references): products with M only, all targets at
/// once. λ = 0 gives the least-squares solution of least norm: with [`OnSingular::Error`] a random vector then rides along as one
/// more target, and what is left of it or of a target lies where M is 0, which shows that M is singular.
///
/// 1. β·u = right-hand side, α·v = M·u: Golub–Kahan bidiagonalisation of M, which is symmetric.
/// 2. In each step one product for u and one for v; two plane rotations for each target turn the bidiagonal matrix with
///    its damping triangular.
/// 3. The solution moves along a direction that is updated with three vectors, whatever the number of steps.
/// 4. ‖gradient‖ is known from the rotations. A tenth of the tolerance ends the iteration, since that account drifts.
pub(super) fn solve(problem: &Problem<'_>, lambda: f64) -> Result<Found> {
    let refuses = problem.system.on_singular == OnSingular::Error;
    let rhs = if refuses { problem.with_probe() } else { problem.rhs() };
    let mut u = rhs.clone();
    let beta = column_norms(u.as_ref());
    normalize(&mut u, &beta);
    let mut v = problem.apply(u.as_ref())?;
    let mut alpha = column_norms(v.as_ref());
    normalize(&mut v, &alpha);
    let start = |(&alpha, &beta): (&f64, &f64)| Column {
        alphabar: alpha,
        zetabar: alpha * beta,
        start: alpha * beta,
        rho: 1.0,
        rhobar: 1.0,
        cbar: 1.0,
        sbar: 0.0,
        range: (f64::INFINITY, 0.0),
    };
    let mut norm = alpha.iter().copied().fold(0.0, f64::max);
    let mut columns: Vec<Column> = alpha.iter().zip(&beta).map(start).collect();
    let (mut h, mut hbar) = (v.clone(), Mat::zeros(v.nrows(), v.ncols()));
    let mut x = Mat::zeros(v.nrows(), v.ncols());
    let mut iterations = 0;
    while iterations < MOST {
        scale(&mut u, &alpha.iter().map(|a| -a).collect::<Vec<_>>());
        u += problem.apply(v.as_ref())?;
        let beta = column_norms(u.as_ref());
        normalize(&mut u, &beta);
        scale(&mut v, &beta.iter().map(|b| -b).collect::<Vec<_>>());
        v += problem.apply(u.as_ref())?;
        alpha = column_norms(v.as_ref());
        normalize(&mut v, &alpha);
        norm = alpha.iter().chain(&beta).copied().fold(norm, f64::max);
        let steps: Vec<[f64; 3]> =
            columns.iter_mut().enumerate().map(|(c, column)| column.step(alpha[c], beta[c], lambda.sqrt())).collect();
        let part = |at: usize| steps.iter().map(|s| s[at]).collect::<Vec<f64>>();
        scale(&mut hbar, &part(0));
        hbar += &h;
        add_scaled(&mut x, &part(1), &hbar);
        scale(&mut h, &part(2));
        h += &v;
        iterations += 1;
        let left = columns.iter().map(Column::left).fold(0.0, f64::max);
        let progress = Progress { stage: "damped system", done: iterations, total: 0, residual: Some(left) };
        problem.run.watch.report(progress)?;
        if left <= SAFETY * problem.system.tol {
            break;
        }
    }
    let mut condition = columns.iter().map(|column| over(column.range.1, column.range.0)).fold(1.0, f64::max);
    let mut equations = Equations::Damped(lambda);
    if refuses {
        let left = rhs - problem.apply(x.as_ref())?;
        condition = condition.max(problem.least_condition(&left, norm)?);
        if condition > SINGULAR {
            problem.singular(condition)?;
        }
        (x, equations) = (problem.without_probe(&x), Equations::Asked);
    }
    let (a, b) = problem.split(x);
    let account =
        Account { route: "lsmr", condition, estimated: true, iterations, equations, norm, ..Account::default() };
    Ok(Found { a, b, account })
}

impl Column {
    /// The factors of hbar, of hbar in x, and of h.
    ///
    /// The rotation that removes the damping, the one that makes the factor triangular, and the one of its second
    /// factorisation, in this order.
    fn step(&mut self, alpha: f64, beta: f64, damp: f64) -> [f64; 3] {
        let alphahat = self.alphabar.hypot(damp);
        let (rho_old, rhobar_old) = (self.rho, self.rhobar);
        self.rho = alphahat.hypot(beta);
        let (c, s) = (over(alphahat, self.rho), over(beta, self.rho));
        let theta = s * alpha;
        self.alphabar = c * alpha;
        let (thetabar, rhotemp) = (self.sbar * self.rho, self.cbar * self.rho);
        self.rhobar = rhotemp.hypot(theta);
        self.range = (self.range.0.min(self.rhobar), self.range.1.max(self.rhobar));
        (self.cbar, self.sbar) = (over(rhotemp, self.rhobar), over(theta, self.rhobar));
        let zeta = self.cbar * self.zetabar;
        self.zetabar *= -self.sbar;
        [-over(thetabar * self.rho, rho_old * rhobar_old), over(zeta, self.rho * self.rhobar), -over(theta, self.rho)]
    }

    /// ‖gradient‖ relative to the first one.
    fn left(&self) -> f64 {
        over(self.zetabar.abs(), self.start)
    }
}

/// a/b, or 0 for a column that has nothing to solve.
fn over(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

fn normalize(w: &mut Mat<f64>, lengths: &[f64]) {
    scale(w, &lengths.iter().map(|l| over(1.0, *l)).collect::<Vec<_>>());
}

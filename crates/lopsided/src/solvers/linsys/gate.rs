//! The one place that says whether a system is solved.
//!
//! A route hands over what it found and which equations it meant to solve; products of the gate's own tell what is
//! missing. The answer passes if that is at most tol·‖right-hand side‖ plus what rounding leaves, about 16·ε·‖M‖·‖w‖, and
//! ε·‖K‖·‖w‖ where K is multiplied before its means are taken out.
//! Sums of a and b that are not quite 0 are taken out before: M hardly sees them, but K, whose means may be large, does.

use super::{Found, Problem, add_scaled};
use crate::base::error::Result;
use crate::base::linalg::column_norms;
use faer::Mat;

/// Rounding errors of a few products, in units of ‖M‖·‖w‖: a residual below cannot be measured.
const ROUNDING: f64 = 16.0;

/// Account of a solved system.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::linsys::{CoupledSystem, Route};
/// use lopsided::{Mat, Run};
///
/// let k = DenseOperator::Owned(Mat::<f64>::identity(4, 4));
/// let y = Mat::from_fn(4, 1, |i, _| if i < 2 { 1.0 } else { -1.0 });
/// let system = CoupledSystem { penalty: 0.5, route: Route::Svd, ..CoupledSystem::default() };
/// let report = system.solve(&k, y.as_ref(), &Run::default())?.report;
/// assert_eq!((report.route.as_str(), report.why.as_str()), ("svd", "asked for"));
/// assert!((report.condition - 3.0).abs() < 1e-9); // (g + σ)/(g − σ) for g = 2, σ = 1
/// assert!(report.converged() && report.residual < 1e-10);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SystemReport {
    /// `svd`, `dense`, `krylov`, `minres`, `lsmr` or `low-rank`.
    pub route: String,
    /// Why it was taken.
    pub why: String,
    /// Condition number of M, of g·I + K_c for a symmetric K; infinite when it is singular to working precision.
    pub condition: f64,
    /// Whether that number is an estimate.
    pub estimated: bool,
    /// ‖M·\[a; b\] − \[y_c; y_c\]‖/‖\[y_c; y_c\]‖, the largest of all targets; of (M² + λI)·\[a; b\] = M·\[y_c; y_c\] where that was
    /// solved instead.
    pub residual: f64,
    /// Iterations of an iterative route.
    pub iterations: u64,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// Private, so that nothing but the gate below can set it.
    converged: bool,
}

impl SystemReport {
    /// Whether the measured residual is at most the tolerance, or what rounding leaves of it.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// The report of the worst of several systems; what several say is said once.
    pub(crate) fn worst(reports: Vec<SystemReport>) -> SystemReport {
        let mut out = SystemReport { converged: !reports.is_empty(), ..SystemReport::default() };
        for report in reports {
            let start = |warning: &String| warning.split(" (").next().map(str::to_string);
            let known = |warning: &String| out.warnings.iter().any(|w| start(w) == start(warning));
            let fresh: Vec<String> = report.warnings.iter().filter(|w| !known(w)).cloned().collect();
            out.warnings.extend(fresh);
            out.condition = out.condition.max(report.condition);
            out.residual = out.residual.max(report.residual);
            out.iterations += report.iterations;
            out.converged &= report.converged;
            (out.route, out.why, out.estimated) = (report.route, report.why, report.estimated);
        }
        out
    }
}

/// What a route's answer is meant to satisfy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Equations {
    /// M·w = \[y_c; y_c\].
    #[default]
    Asked,
    /// (M² + λI)·w = M·\[y_c; y_c\]: Tikhonov's method, with λ = 0 least norm.
    Damped(f64),
}

/// Account of a route, before anything is measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Account {
    pub(super) route: &'static str,
    pub(super) condition: f64,
    pub(super) estimated: bool,
    pub(super) iterations: u64,
    pub(super) warnings: Vec<String>,
    pub(super) equations: Equations,
    /// ‖M‖, at least roughly.
    pub(super) norm: f64,
}

/// \[a; b\] before the biases are known, measured.
pub(super) struct Solved {
    pub(super) a: Mat<f64>,
    pub(super) b: Mat<f64>,
    pub(super) report: SystemReport,
}

/// What is missing to the equations, by products of its own.
pub(super) struct Measured {
    /// Right-hand side minus left-hand side.
    pub(super) missing: Mat<f64>,
    /// Its length for each target, and that of the right-hand side.
    pub(super) lengths: Vec<(f64, f64)>,
    /// The length that counts as nothing.
    pub(super) allowed: Vec<f64>,
}

impl Measured {
    /// Largest length relative to the right-hand side.
    pub(super) fn residual(&self) -> f64 {
        let relative = self.lengths.iter().map(|(d, l)| if *l > 0.0 { d / l } else { *d });
        relative.fold(0.0, |most, r| if r > most || r.is_nan() { r } else { most })
    }

    /// Whether nothing is missing; not for a length that is not a number.
    pub(super) fn is_nothing(&self) -> bool {
        self.lengths.iter().zip(&self.allowed).all(|((length, _), allowed)| length <= allowed)
    }
}

impl Problem<'_> {
    /// What w lacks of the equations with these right-hand sides, where ‖M‖ is about `norm`.
    pub(super) fn missing(&self, w: &Mat<f64>, rhs: &Mat<f64>, equations: Equations, norm: f64) -> Result<Measured> {
        let mut missing = if w.norm_max() == 0.0 { rhs.clone() } else { rhs - self.apply(w.as_ref())? };
        let mut sizes = column_norms(rhs.as_ref());
        let lost = ROUNDING * self.k.rounding() * norm + self.noise;
        let mut rounding: Vec<f64> = column_norms(w.as_ref()).iter().map(|l| lost * l).collect();
        if let Equations::Damped(lambda) = equations {
            let targets = self.apply(rhs.as_ref())?;
            rounding = sizes.iter().zip(rounding).map(|(y, w)| lost * y + norm * w).collect();
            sizes = column_norms(targets.as_ref());
            missing = self.apply(missing.as_ref())?;
            add_scaled(&mut missing, &vec![-lambda; w.ncols()], w);
        }
        let lengths: Vec<(f64, f64)> = column_norms(missing.as_ref()).into_iter().zip(sizes).collect();
        let allowed = lengths.iter().zip(rounding).map(|((_, l), r)| self.system.tol * l + r).collect();
        Ok(Measured { missing, lengths, allowed })
    }

    /// Measures what a route found: the only way to a report, and the only place that says `converged`.
    pub(super) fn gate(&self, found: Found, why: &str) -> Result<Solved> {
        let Found { mut a, mut b, account } = found;
        self.centre(&mut a);
        self.centre(&mut b);
        let w = self.joined(&a, &b);
        let measured = self.missing(&w, &self.rhs(), account.equations, account.norm)?;
        let mut report = SystemReport {
            route: account.route.into(),
            why: why.into(),
            condition: account.condition,
            estimated: account.estimated,
            residual: measured.residual(),
            iterations: account.iterations,
            warnings: account.warnings,
            converged: measured.is_nothing(),
        };
        if !report.converged {
            report.warnings.push(format!(
                "the system is not solved (residual {:.1e} by the route {}; {:e} was asked for)",
                report.residual, report.route, self.system.tol
            ));
        }
        Ok(Solved { a, b, report })
    }
}

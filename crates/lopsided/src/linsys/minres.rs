use super::{Problem, SINGULAR, Solved, Spectral, SystemReport, add_scaled, dots, halves, lsmr, scale, stacked};
use crate::error::Result;
use crate::linalg::column_norms;
use crate::watch::Progress;
use faer::Mat;

/// Most iterations.
const MOST: u64 = 2000;
/// Iterations in which the residual must at least be halved.
const WINDOW: u64 = 50;
/// Singular triplets in the preconditioner.
const TRIPLETS: usize = 40;

/// MINRES (\[PS75\] of the references) for all targets at once, preconditioned by |M| with K_c replaced by its leading
/// triplets: M is indefinite, |M| is not, and where the triplets are exact all eigenvalues of the product are ±1.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solved> {
    let rank = TRIPLETS.min(problem.n() / 4).max(1);
    let spectral = Spectral::rough(problem.k, rank, problem.system.symmetric, problem.run)?;
    let mut iteration = Iteration::new(problem, &spectral);
    let mut before = f64::INFINITY;
    while iteration.count < MOST && iteration.left() > problem.system.tol {
        iteration.step(problem, &spectral)?;
        if iteration.count.is_multiple_of(WINDOW) {
            if iteration.left() > 0.5 * before {
                break;
            }
            before = iteration.left();
        }
    }
    let settled = iteration.left() <= problem.system.tol;
    let mut condition = iteration.condition(problem, &spectral);
    if !settled {
        condition = condition.max(iteration.least_condition(problem, &spectral)?);
    }
    let mut report = SystemReport { route: "minres".into(), condition, estimated: true, ..SystemReport::default() };
    report.iterations = iteration.count;
    if settled && condition <= SINGULAR {
        let (a, b) = halves(&iteration.x);
        return Ok(Solved { a, b, report });
    }
    report.warnings.push(problem.singular(condition)?);
    let damped = lsmr::solve(problem, problem.system.on_singular.lambda())?;
    let iterations = report.iterations + damped.report.iterations;
    Ok(Solved { report: SystemReport { route: "lsmr".into(), iterations, ..report }, ..damped })
}

/// |M|⁻¹·r.
fn precondition(problem: &Problem<'_>, spectral: &Spectral, r: &Mat<f64>) -> Mat<f64> {
    let floor = 1e-3 * problem.g;
    let n = problem.n();
    let halves = (r.subrows(0, n), r.subrows(n, n));
    let (a, b) = spectral.filtered(problem.g, halves, |h| h.abs().max(floor).recip());
    stacked(a.as_ref(), b.as_ref())
}

/// Scalars of one column, in the names of the method's authors.
#[derive(Clone)]
struct Column {
    start: f64,
    oldb: f64,
    beta: f64,
    dbar: f64,
    epsln: f64,
    phibar: f64,
    cs: f64,
    sn: f64,
    gmax: f64,
    gmin: f64,
}

struct Iteration {
    columns: Vec<Column>,
    r1: Mat<f64>,
    r2: Mat<f64>,
    y: Mat<f64>,
    w: Mat<f64>,
    w2: Mat<f64>,
    x: Mat<f64>,
    count: u64,
}

impl Iteration {
    fn new(problem: &Problem<'_>, spectral: &Spectral) -> Self {
        let r2 = problem.rhs();
        let y = precondition(problem, spectral, &r2);
        let zero = Mat::zeros(r2.nrows(), r2.ncols());
        let column = |square: f64| {
            let beta = square.max(0.0).sqrt();
            let (gmax, gmin) = (0.0, f64::INFINITY);
            Column { start: beta, oldb: 0.0, beta, dbar: 0.0, epsln: 0.0, phibar: beta, cs: -1.0, sn: 0.0, gmax, gmin }
        };
        let columns = dots(&r2, &y).into_iter().map(column).collect();
        Iteration { columns, r1: zero.clone(), r2, y, w: zero.clone(), w2: zero.clone(), x: zero, count: 0 }
    }

    fn factors(&self, of: impl Fn(&Column) -> f64) -> Vec<f64> {
        self.columns.iter().map(|c| Some(of(c)).filter(|f| f.is_finite()).unwrap_or(0.0)).collect()
    }

    fn step(&mut self, problem: &Problem<'_>, spectral: &Spectral) -> Result<()> {
        let mut v = std::mem::replace(&mut self.y, Mat::new());
        scale(&mut v, &self.factors(|c| c.beta.recip()));
        let mut y = problem.apply(v.as_ref())?;
        if self.count > 0 {
            add_scaled(&mut y, &self.factors(|c| -c.beta / c.oldb), &self.r1);
        }
        let alfa = dots(&v, &y);
        let against: Vec<f64> = alfa.iter().zip(self.factors(|c| c.beta.recip())).map(|(a, b)| -a * b).collect();
        add_scaled(&mut y, &against, &self.r2);
        self.r1 = std::mem::replace(&mut self.r2, y);
        self.y = precondition(problem, spectral, &self.r2);
        let squares = dots(&self.r2, &self.y);
        let turns: Vec<[f64; 4]> =
            self.columns.iter_mut().enumerate().map(|(c, column)| column.turn(alfa[c], squares[c])).collect();
        let part = |at: usize| turns.iter().map(|t| t[at]).collect::<Vec<f64>>();
        let w1 = std::mem::replace(&mut self.w2, std::mem::replace(&mut self.w, Mat::new()));
        add_scaled(&mut v, &part(0), &w1);
        add_scaled(&mut v, &part(1), &self.w2);
        scale(&mut v, &part(2));
        add_scaled(&mut self.x, &part(3), &v);
        self.w = v;
        self.count += 1;
        let progress = Progress { stage: "coupled system", done: self.count, total: 0, residual: Some(self.left()) };
        problem.run.watch.report(progress)
    }

    /// Largest residual relative to the first one, in the norm of the preconditioner.
    fn left(&self) -> f64 {
        let of = |c: &Column| if c.start > 0.0 { c.phibar / c.start } else { 0.0 };
        self.columns.iter().map(of).fold(0.0, f64::max)
    }

    /// What is left of the right-hand side lies near the vectors that M takes to 0: ‖M‖·‖r‖/‖M·r‖ is a lower bound.
    fn least_condition(&self, problem: &Problem<'_>, spectral: &Spectral) -> Result<f64> {
        let left = problem.rhs() - problem.apply(self.x.as_ref())?;
        let taken = column_norms(problem.apply(left.as_ref())?.as_ref());
        let ratios = column_norms(left.as_ref()).into_iter().zip(taken).filter(|(left, _)| *left > 0.0);
        Ok(spectral.extremes(problem.g).0 * ratios.map(|(left, taken)| left / taken).fold(0.0, f64::max))
    }

    /// From the triplets where they reach below g, from the iteration where they do not, and for a symmetric K, where g − σ need
    /// not be an eigenvalue.
    fn condition(&self, problem: &Problem<'_>, spectral: &Spectral) -> f64 {
        let g = problem.g;
        let (largest, smallest) = spectral.extremes(g);
        let tail = self.columns.iter().map(|c| c.gmin).fold(f64::INFINITY, f64::min) * g;
        let reaches = !problem.system.symmetric && spectral.sigma().last().is_some_and(|s| *s < g);
        let smallest =
            if reaches { smallest.min(g - spectral.sigma().last().unwrap_or(&0.0)) } else { smallest.min(tail) };
        if smallest > 0.0 { largest / smallest } else { f64::INFINITY }
    }
}

impl Column {
    /// The factors of w₁ and w₂, of the new direction, and of it in x.
    fn turn(&mut self, alfa: f64, square: f64) -> [f64; 4] {
        self.oldb = self.beta;
        self.beta = square.max(0.0).sqrt();
        let oldeps = self.epsln;
        let delta = self.cs * self.dbar + self.sn * alfa;
        let gbar = self.sn * self.dbar - self.cs * alfa;
        self.epsln = self.sn * self.beta;
        self.dbar = -self.cs * self.beta;
        let gamma = gbar.hypot(self.beta);
        if gamma == 0.0 {
            return [0.0; 4];
        }
        (self.cs, self.sn) = (gbar / gamma, self.beta / gamma);
        let phi = self.cs * self.phibar;
        self.phibar *= self.sn;
        self.gmax = self.gmax.max(gamma);
        self.gmin = self.gmin.min(gamma);
        [-oldeps, -delta, gamma.recip(), phi]
    }
}

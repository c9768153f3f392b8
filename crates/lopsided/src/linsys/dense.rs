use super::{OnSingular, Problem, SINGULAR, Solved, Spectral, SystemReport, halves, lsmr, stacked};
use crate::error::Result;
use crate::linalg;
use crate::operator;
use crate::random;
use faer::linalg::solvers::{Lblt, Solve};
use faer::{Mat, Side};

/// b = (y − K_cᵀ·a)/g leaves (g²I − K_c·K_cᵀ)·a = g·y − K_c·y, a symmetric indefinite system of half the size. Two steps of
/// refinement on M itself make up for the product.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solved> {
    let k = operator::materialize(problem.k)?;
    problem.run.watch.check()?;
    let factor = Factor::new(k, problem.g);
    let condition = factor.condition(problem);
    let mut report = SystemReport { route: "dense".into(), condition, estimated: true, ..SystemReport::default() };
    if condition > SINGULAR {
        report.warnings.push(problem.singular(condition)?);
        return singular(problem, factor.k, report);
    }
    let rhs = problem.rhs();
    let mut w = factor.solve(&rhs);
    for _ in 0..2 {
        let left = &rhs - problem.apply(w.as_ref())?;
        w += factor.solve(&left);
    }
    let (a, b) = halves(&w);
    Ok(Solved { a, b, report })
}

fn singular(problem: &Problem<'_>, k: Mat<f64>, report: SystemReport) -> Result<Solved> {
    if let OnSingular::Tikhonov(lambda) = problem.system.on_singular {
        return Ok(Solved { report: SystemReport { route: "lsmr".into(), ..report }, ..lsmr::solve(problem, lambda)? });
    }
    let spectral = Spectral::complete(&operator::DenseOperator::Owned(k))?;
    spectral.solved(problem)
}

struct Factor {
    k: Mat<f64>,
    g: f64,
    lblt: Lblt<f64>,
}

impl Factor {
    fn new(k: Mat<f64>, g: f64) -> Self {
        let mut s = linalg::mul(k.as_ref(), k.transpose()) * faer::Scale(-1.0);
        (0..s.nrows()).for_each(|i| s[(i, i)] += g * g);
        Factor { lblt: s.lblt(Side::Lower), k, g }
    }

    /// M⁻¹·w.
    fn solve(&self, w: &Mat<f64>) -> Mat<f64> {
        let (p, q) = halves(w);
        let mut a = p * faer::Scale(self.g) - linalg::mul(self.k.as_ref(), q.as_ref());
        self.lblt.solve_in_place(&mut a);
        let b = (q - linalg::mul(self.k.transpose(), a.as_ref())) * faer::Scale(1.0 / self.g);
        stacked(a.as_ref(), b.as_ref())
    }

    /// Condition number of M by power iterations with M and M⁻¹.
    fn condition(&self, problem: &Problem<'_>) -> f64 {
        const STEPS: usize = 8;
        let start = random::gaussian::<f64>(2 * self.k.nrows(), 1, &mut random::generator(problem.run.seed, 70));
        let growth = |step: &dyn Fn(&Mat<f64>) -> Option<Mat<f64>>| {
            let mut w = &start * faer::Scale(1.0 / start.norm_l2());
            let mut length = 0.0;
            for _ in 0..STEPS {
                let Some(next) = step(&w) else { return f64::INFINITY };
                length = next.norm_l2();
                if !length.is_finite() {
                    return f64::INFINITY;
                }
                w = next * faer::Scale(1.0 / length);
            }
            length
        };
        growth(&|w| problem.apply(w.as_ref()).ok()) * growth(&|w| Some(self.solve(w)))
    }
}

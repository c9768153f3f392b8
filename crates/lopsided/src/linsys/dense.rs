use super::{OnSingular, Problem, SINGULAR, Solved, Spectral, SystemReport, halves, lsmr, stacked};
use crate::error::Result;
use crate::linalg::{self, SymmetricFactor};
use crate::operator::{self, Access, Operator};
use crate::random;
use faer::Mat;

/// b = (y − K_cᵀ·a)/g leaves (g²I − K_c·K_cᵀ)·a = g·y − K_c·y, a symmetric system of half the size, definite where penalty·σ₁ < 1. Two steps of
/// refinement on M itself make up for the product.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solved> {
    let k = operator::materialize(problem.k)?;
    problem.run.watch.check()?;
    let factor = Factor::new(problem, k)?;
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
    half: SymmetricFactor,
}

impl Factor {
    fn new(problem: &Problem<'_>, k: Mat<f64>) -> Result<Self> {
        let g = problem.g;
        let mut s = if problem.k.access() == Access::Products {
            let mut s = Mat::zeros(k.nrows(), k.nrows());
            problem.k.apply(k.transpose(), s.as_mut())?;
            s
        } else {
            linalg::gram_lower(k.as_ref())
        };
        s *= faer::Scale(-1.0);
        (0..s.nrows()).for_each(|i| s[(i, i)] += g * g);
        Ok(Factor { half: SymmetricFactor::new(s), k, g })
    }

    /// M⁻¹·w.
    fn solve(&self, w: &Mat<f64>) -> Mat<f64> {
        let (p, q) = halves(w);
        let mut a = p * faer::Scale(self.g) - linalg::mul(self.k.as_ref(), q.as_ref());
        self.half.solve_in_place(a.as_mut());
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
        let condition = growth(&|w| problem.apply(w.as_ref()).ok()) * growth(&|w| Some(self.solve(w)));
        if condition < f64::EPSILON.recip() { condition } else { f64::INFINITY }
    }
}

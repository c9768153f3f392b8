use super::{OnSingular, Problem, SINGULAR, Solved, Spectral, SystemReport, halves, lsmr, stacked};
use crate::error::Result;
use crate::linalg::{self, SymmetricFactor};
use crate::operator::{self, Access};
use crate::random;
use faer::{Mat, MatRef};

/// b = (y − K_cᵀ·a)/g leaves (g²I − K_c·K_cᵀ)·a = g·y − K_c·y, a symmetric system of half the size, definite where penalty·σ₁ < 1. Two steps of
/// refinement on M itself make up for the product.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solved> {
    let made;
    let k = if let Some(k) = problem.stored {
        k
    } else {
        made = operator::materialize(problem.k)?;
        made.as_ref()
    };
    problem.run.watch.check()?;
    let factor = Factor::new(problem, k)?;
    let (w, condition) = factor.refined(problem)?;
    let mut report = SystemReport { route: "dense".into(), condition, estimated: true, ..SystemReport::default() };
    if condition > SINGULAR {
        report.warnings.push(problem.singular(condition)?);
        return singular(problem, k, report);
    }
    let (a, b) = halves(&w);
    Ok(Solved { a, b, report })
}

fn singular(problem: &Problem<'_>, k: MatRef<'_, f64>, report: SystemReport) -> Result<Solved> {
    if let OnSingular::Tikhonov(lambda) = problem.system.on_singular {
        return Ok(Solved { report: SystemReport { route: "lsmr".into(), ..report }, ..lsmr::solve(problem, lambda)? });
    }
    let spectral = Spectral::complete(&operator::DenseOperator::Borrowed(k))?;
    spectral.solved(problem)
}

struct Factor<'a> {
    k: MatRef<'a, f64>,
    g: f64,
    half: SymmetricFactor,
}

impl<'a> Factor<'a> {
    fn new(problem: &Problem<'_>, k: MatRef<'a, f64>) -> Result<Self> {
        let g = problem.g;
        // As few passes over the matrix as possible: −K_c·K_cᵀ at once where it is a product of matrices.
        let negative_gram = || {
            if problem.k.access() != Access::Products {
                return Ok(linalg::gram_lower(k, -1.0));
            }
            let mut s = Mat::zeros(k.nrows(), k.nrows());
            problem.k.apply(k.transpose(), s.as_mut())?;
            Ok(s * faer::Scale(-1.0))
        };
        let half = SymmetricFactor::new(|| {
            let mut s = negative_gram()?;
            (0..s.nrows()).for_each(|i| s[(i, i)] += g * g);
            Ok(s)
        })?;
        Ok(Factor { k, g, half })
    }

    /// The solution, refined twice, and the condition number of M by power iterations with M and M⁻¹, which ride along as one
    /// more column: alone each would cost as much as all targets.
    fn refined(&self, problem: &Problem<'_>) -> Result<(Mat<f64>, f64)> {
        let rhs = problem.rhs();
        let (rows, targets) = rhs.shape();
        let start = random::gaussian::<f64>(rows, 1, &mut random::generator(problem.run.seed, 70));
        let mut powers = [Power::new(&start), Power::new(&start)];
        let (mut w, mut left) = (Mat::zeros(rows, targets), rhs.clone());
        for _ in 0..3 {
            let solved = self.solve(&powers[0].beside(&left));
            w += solved.subcols(0, targets);
            powers[0].step(&solved);
            let applied = problem.apply(powers[1].beside(&w).as_ref())?;
            left = &rhs - applied.subcols(0, targets);
            powers[1].step(&applied);
        }
        let condition = powers[0].growth * powers[1].growth;
        Ok((w, if condition < f64::EPSILON.recip() { condition } else { f64::INFINITY }))
    }

    /// M⁻¹·w.
    fn solve(&self, w: &Mat<f64>) -> Mat<f64> {
        let (p, q) = halves(w);
        let mut a = p * faer::Scale(self.g) - linalg::mul(self.k, q.as_ref());
        self.half.solve_in_place(a.as_mut());
        let b = (q - linalg::mul(self.k.transpose(), a.as_ref())) * faer::Scale(1.0 / self.g);
        stacked(a.as_ref(), b.as_ref())
    }
}

/// A power iteration.
struct Power {
    direction: Mat<f64>,
    growth: f64,
}

impl Power {
    fn new(start: &Mat<f64>) -> Self {
        Power { direction: start * faer::Scale(1.0 / start.norm_l2()), growth: 0.0 }
    }

    /// The matrix with the direction as a last column.
    fn beside(&self, m: &Mat<f64>) -> Mat<f64> {
        let last = m.ncols();
        Mat::from_fn(m.nrows(), last + 1, |i, j| if j < last { m[(i, j)] } else { self.direction[(i, 0)] })
    }

    /// Goes on from the image of that column.
    fn step(&mut self, image: &Mat<f64>) {
        let image = image.subcols(image.ncols() - 1, 1);
        self.growth = image.norm_l2();
        self.direction = image * faer::Scale(1.0 / self.growth);
        if !self.growth.is_finite() {
            self.growth = f64::INFINITY;
        }
    }
}

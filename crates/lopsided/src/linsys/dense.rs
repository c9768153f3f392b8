use super::{OnSingular, Problem, SINGULAR, Solved, Spectral, SystemReport, halves, lsmr, stacked};
use crate::error::Result;
use crate::linalg::{self, SymmetricFactor};
use crate::operator::{self, Access};
use crate::random;
use faer::{Mat, MatRef};

/// From so many samples on factors of half the digits pay.
const SINGLE: usize = 500;
/// From so many samples on sparse products pay.
const SPARSE: usize = 2000;
/// The residual they must reach.
const REFINED: f64 = 1e-13;

/// b = (y − K_cᵀ·a)/g leaves (g²I − K_c·K_cᵀ)·a = g·y − K_c·y, a symmetric system of half the size, definite where
/// penalty·σ₁ < 1. Two steps of refinement on M itself make up for the product. For a symmetric K the system is g·I + K_c.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Solved> {
    let made;
    let k = if let Some(k) = problem.stored {
        k
    } else {
        made = operator::materialize(problem.k)?;
        made.as_ref()
    };
    problem.run.watch.check()?;
    let (w, condition) = match single(problem, k)? {
        Some(found) => found,
        None => Factor { k, half: double(problem, k)? }.refined(problem)?.0,
    };
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
    let spectral = Spectral::complete(&operator::DenseOperator::Borrowed(k), problem.system.symmetric)?;
    spectral.solved(problem)
}

/// The factors of g²I − K_c·K_cᵀ or g·I + K_c.
fn double(problem: &Problem<'_>, k: MatRef<'_, f64>) -> Result<Half> {
    let factor = SymmetricFactor::new(|| {
        // Sparse products take two more matrices, whose fresh memory costs as much as a dense product of this size.
        let mut s = if problem.system.symmetric {
            k.to_owned()
        } else if problem.k.access() == Access::Products && k.nrows() > SPARSE {
            let mut gram = Mat::zeros(k.nrows(), k.nrows());
            problem.k.apply(k.transpose(), gram.as_mut())?;
            gram * faer::Scale(-1.0)
        } else {
            linalg::gram_lower(k, -1.0)
        };
        (0..s.nrows()).for_each(|i| s[(i, i)] += diagonal(problem));
        Ok(s)
    })?;
    Ok(Half::Double(factor))
}

/// What the diagonal of the factored matrix has besides K_c.
fn diagonal(problem: &Problem<'_>) -> f64 {
    if problem.system.symmetric { problem.g } else { problem.g * problem.g }
}

/// The solution by factors of half the digits, which cost half as much and are made up for by refinement; `None` if it does
/// not reach full accuracy.
fn single(problem: &Problem<'_>, k: MatRef<'_, f64>) -> Result<Option<(Mat<f64>, f64)>> {
    if k.nrows() < SINGLE || problem.k.access() == Access::Products {
        return Ok(None);
    }
    let mut s = linalg::narrowed(k);
    if !problem.system.symmetric {
        s = linalg::gram_lower(s.as_ref(), -1.0);
    }
    (0..s.nrows()).for_each(|i| s[(i, i)] += diagonal(problem) as f32);
    let Some(half) = SymmetricFactor::definite(s) else { return Ok(None) };
    let (found, residual) = Factor { k, half: Half::Single(half) }.refined(problem)?;
    Ok((residual < REFINED).then_some(found))
}

enum Half {
    Single(SymmetricFactor<f32>),
    Double(SymmetricFactor<f64>),
}

impl Half {
    fn solve_in_place(&self, a: &mut Mat<f64>) {
        match self {
            Half::Double(factor) => factor.solve_in_place(a.as_mut()),
            Half::Single(factor) => factor.solve_wide(a),
        }
    }
}

struct Factor<'a> {
    k: MatRef<'a, f64>,
    half: Half,
}

impl Factor<'_> {
    /// The solution, refined twice, with the condition number of M by power iterations with M and M⁻¹, which ride along as one
    /// more column: alone each would cost as much as all targets. Then the residual relative to the targets.
    fn refined(&self, problem: &Problem<'_>) -> Result<((Mat<f64>, f64), f64)> {
        let rhs = problem.rhs();
        let (rows, targets) = rhs.shape();
        let start = random::gaussian::<f64>(rows, 1, &mut random::generator(problem.run.seed, 70));
        let mut powers = [Power::new(&start), Power::new(&start)];
        let (mut w, mut left) = (Mat::zeros(rows, targets), rhs.clone());
        for _ in 0..3 {
            let solved = self.solve(problem, &powers[0].beside(&left));
            w += solved.subcols(0, targets);
            powers[0].step(&solved);
            let applied = problem.apply(powers[1].beside(&w).as_ref())?;
            left = &rhs - applied.subcols(0, targets);
            powers[1].step(&applied);
        }
        let condition = powers[0].growth * powers[1].growth;
        let condition = if condition < f64::EPSILON.recip() { condition } else { f64::INFINITY };
        Ok(((w, condition), left.norm_max() / rhs.norm_max()))
    }

    /// M⁻¹·w.
    fn solve(&self, problem: &Problem<'_>, w: &Mat<f64>) -> Mat<f64> {
        let (mut p, q) = halves(w);
        if problem.system.symmetric {
            self.half.solve_in_place(&mut p);
            return stacked(p.as_ref(), p.as_ref());
        }
        let mut a = p * faer::Scale(problem.g);
        linalg::add_mul_stored(a.as_mut(), self.k, q.as_ref(), -1.0);
        self.half.solve_in_place(&mut a);
        let mut b = q;
        linalg::add_mul_stored(b.as_mut(), self.k.transpose(), a.as_ref(), -1.0);
        b *= faer::Scale(1.0 / problem.g);
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

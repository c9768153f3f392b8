//! The route by factors, with refinement and a condition number that is shown, not estimated.
//!
//! 1. K_c in memory; S = g²·I − K_c·K_cᵀ, or g·I + K_c for a symmetric K.
//! 2. From 500 samples on, if S is positive definite and K is not sparse, its factors in single precision: half the
//!    time, and refinement gives the digits back. Otherwise symmetric indefinite factors in double precision.
//! 3. Refinement: w ← w + M⁻¹·(y − M·w) with M itself in the residual, until it is 1e-13 of the targets or stops
//!    falling.
//! 4. In the same products one column iterates M⁻¹ and another M on a random vector: the direction that M shortens
//!    most, and ‖M‖.
//! 5. ‖M‖·‖z‖/‖M·z‖ of that direction z is a lower bound of the condition number, which is what "singular" is judged
//!    by.

use super::gate::{Account, Equations};
use super::{Found, OnSingular, Problem, SINGULAR, Spectral, lsmr};
use crate::base::error::Result;
use crate::base::linalg::{self, SymmetricFactor};
use crate::base::random::{self, Purpose};
use crate::operator::{self, Access};
use faer::{Mat, MatRef};

/// From so many samples on factors of half the digits pay.
const SINGLE: usize = 500;
/// From so many samples on sparse products pay.
const SPARSE: usize = 2000;
/// The residual that ends refinement, relative to the targets, and the rounding errors that it may have besides.
const REFINED: f64 = 1e-13;
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Steps of refinement at least and at most; each costs little against the factors.
const STEPS: [usize; 2] = [3, 30];
/// The change of the condition number in one step that ends its iteration.
const SETTLED: f64 = 0.01;
/// Relative to the diagonal: moves an exactly singular matrix so little that its vectors stay.
const SHIFT: f64 = 1e-13;

/// b = (y − K_cᵀ·a)/g leaves (g²I − K_c·K_cᵀ)·a = g·y − K_c·y, a symmetric system of half the size, definite where
/// penalty·σ₁ < 1. Refinement on M itself makes up for the product. For a symmetric K the system is g·I + K_c.
///
/// Power iterations with M and M⁻¹ ride along as one more column: alone each would cost as much as all targets. The system is
/// singular where M, not the factors, takes the vector so found to less than ‖M‖/1e10 times its length.
pub(super) fn solve(problem: &Problem<'_>) -> Result<Found> {
    let made;
    let k = if let Some(k) = problem.stored {
        k
    } else {
        made = operator::materialize(problem.k)?;
        made.as_ref()
    };
    problem.run.watch.check()?;
    let mut refined = match single(problem, k)? {
        Some(found) => found,
        None => Factor { k, half: double(problem, k, 0.0)? }.refined(problem)?,
    };
    if !refined.weakest.norm_l2().is_finite() {
        refined.weakest = Factor { k, half: double(problem, k, SHIFT)? }.refined(problem)?.weakest;
    }
    let condition = problem.least_condition(&refined.weakest, refined.norm)?;
    let account = Account { route: "dense", condition, estimated: true, norm: refined.norm, ..Account::default() };
    if condition > SINGULAR {
        let warning = problem.singular(condition)?;
        return singular(problem, k, account, warning);
    }
    let (a, b) = problem.split(refined.w);
    Ok(Found { a, b, account })
}

/// Another problem in place of the singular one: Tikhonov's by LSMR, least norm by the complete decomposition.
fn singular(problem: &Problem<'_>, k: MatRef<'_, f64>, account: Account, warning: String) -> Result<Found> {
    if let OnSingular::Tikhonov(lambda) = problem.system.on_singular {
        let found = lsmr::solve(problem, lambda)?;
        let iterations = found.account.iterations;
        let equations = Equations::Damped(lambda);
        let account = Account { route: "lsmr", iterations, equations, warnings: vec![warning], ..account };
        return Ok(Found { account, ..found });
    }
    Spectral::complete(&operator::DenseOperator::Borrowed(k), problem.system.symmetric)?.solved(problem)
}

/// The factors of g²I − K_c·K_cᵀ or g·I + K_c, with a diagonal that is larger by a share `shift` of it.
fn double(problem: &Problem<'_>, k: MatRef<'_, f64>, shift: f64) -> Result<Half> {
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
        (0..s.nrows()).for_each(|i| s[(i, i)] += (1.0 + shift) * diagonal(problem));
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
fn single(problem: &Problem<'_>, k: MatRef<'_, f64>) -> Result<Option<Refined>> {
    if k.nrows() < SINGLE || problem.k.access() == Access::Products {
        return Ok(None);
    }
    let mut s = linalg::narrowed(k);
    if !problem.system.symmetric {
        s = linalg::gram_lower(s.as_ref(), -1.0);
    }
    (0..s.nrows()).for_each(|i| s[(i, i)] += diagonal(problem) as f32);
    let Some(half) = SymmetricFactor::definite(s) else { return Ok(None) };
    let refined = Factor { k, half: Half::Single(half) }.refined(problem)?;
    Ok(refined.is_accurate.then_some(refined))
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

/// What factors give.
struct Refined {
    w: Mat<f64>,
    /// Whether refinement reached its goal.
    is_accurate: bool,
    /// ‖M‖, nearly.
    norm: f64,
    /// The vector that M shortens most, nearly.
    weakest: Mat<f64>,
}

impl Factor<'_> {
    /// Steps 3 and 4. At least three steps, so that the power iterations settle; at most thirty.
    fn refined(&self, problem: &Problem<'_>) -> Result<Refined> {
        let rhs = problem.rhs();
        let (rows, targets) = rhs.shape();
        let start = random::gaussian::<f64>(rows, 1, &mut random::generator(problem.run.seed, Purpose::FactorProbe));
        let mut powers = [Power::new(&start), Power::new(&start)];
        let (mut w, mut left) = (Mat::zeros(rows, targets), rhs.clone());
        let (mut before, mut is_accurate) = (f64::INFINITY, false);
        for step in 1..=STEPS[1] {
            let solved = self.solve(problem, &powers[0].beside(&left));
            let corrected = &w + solved.subcols(0, targets);
            powers[0].step(&solved);
            let applied = problem.apply(powers[1].beside(&corrected).as_ref())?;
            let missing = &rhs - applied.subcols(0, targets);
            powers[1].step(&applied);
            let now = missing.norm_max();
            let goal = REFINED * rhs.norm_max() + ROUNDING * powers[1].growth * corrected.norm_max();
            let better = now < before || step == 1;
            if better {
                (w, left) = (corrected, missing);
                is_accurate = now <= goal;
            }
            let goes_on = now < 0.5 * before && !is_accurate;
            before = before.min(now);
            if step >= STEPS[0] && !goes_on && powers[0].settled && powers[1].settled {
                break;
            }
        }
        let [weakest, strongest] = powers;
        Ok(Refined { w, is_accurate, norm: strongest.growth, weakest: weakest.direction })
    }

    /// M⁻¹·w.
    ///
    /// For \[p; q\]: a = S⁻¹·(g·p − K_c·q), then b = (q − K_cᵀ·a)/g.
    fn solve(&self, problem: &Problem<'_>, w: &Mat<f64>) -> Mat<f64> {
        if problem.system.symmetric {
            let mut a = w.clone();
            self.half.solve_in_place(&mut a);
            return a;
        }
        let (p, q) = problem.split(w.clone());
        let mut a = p * faer::Scale(problem.g);
        linalg::add_mul_stored(a.as_mut(), self.k, q.as_ref(), -1.0);
        self.half.solve_in_place(&mut a);
        let mut b = q;
        linalg::add_mul_stored(b.as_mut(), self.k.transpose(), a.as_ref(), -1.0);
        b *= faer::Scale(1.0 / problem.g);
        problem.joined(&a, &b)
    }
}

/// A power iteration.
struct Power {
    direction: Mat<f64>,
    growth: f64,
    settled: bool,
}

impl Power {
    fn new(start: &Mat<f64>) -> Self {
        Power { direction: start * faer::Scale(1.0 / start.norm_l2()), growth: 0.0, settled: false }
    }

    /// The matrix with the direction as a last column.
    fn beside(&self, m: &Mat<f64>) -> Mat<f64> {
        let last = m.ncols();
        Mat::from_fn(m.nrows(), last + 1, |i, j| if j < last { m[(i, j)] } else { self.direction[(i, 0)] })
    }

    /// Goes on from the image of that column.
    fn step(&mut self, image: &Mat<f64>) {
        let image = image.subcols(image.ncols() - 1, 1);
        let growth = image.norm_l2();
        self.settled = (growth - self.growth).abs() <= SETTLED * growth || !growth.is_finite();
        self.growth = growth;
        self.direction = image * faer::Scale(1.0 / growth);
    }
}

//! The ν-SVM: a bound on the share of samples inside the margin.

use super::smo::{Rules, Search};
use super::{Part, RowCache, SvmSolution};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::setters;
use crate::base::verdict::Verdict;

/// A margin of this share of what K·c may be is none.
const VANISHED: f64 = 1e-7;
/// By how much the tolerance shrinks while the margin is within it.
const SMALLER: f64 = 0.01;

/// A two-class ν-SVM: minimise ½·cᵀKc over 0 ≤ c_i·y_i ≤ w_i where the c_i·y_i of each class sum to ν·Σw/2.
///
/// ν bounds the share of samples inside the margin from above and that of support vectors from below. Both sums stay while
/// pairs are moved within a class. With the levels of K·c at the margin, ρ − b for the class +1 and −ρ − b for the class −1, the
/// function is (Σ_i k(x, x_i)·c_i + b)/ρ: it is 1 and −1 at the margins, and that of the C-SVM with C = 1/ρ.
///
/// ρ is half the distance between the classes, each shrunk towards its mean so that no sample counts for more than 2/(ν·n):
/// the larger ν, the smaller they are and the farther apart. Where they meet, ρ = 0, Σ_i k(·, x_i)·c_i vanishes and any
/// decision is as good as any other: the result has the margin 0, is not divided by it and has not converged.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svm::{NuSvm, Part, RowCache};
/// use lopsided::{Mat, Run};
///
/// let k = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { -1.0 }));
/// let rows = RowCache::new(&k, 1 << 20)?;
/// let part = Part::all(&[-1.0, 1.0]);
/// assert_eq!(NuSvm::most(&part), 1.0); // balanced classes
/// let found = NuSvm::new(1.0).solve(&rows, &part, &Run::default())?;
/// assert!((found.margin - 2.0).abs() < 1e-9); // c = (−1, 1), K·c = (−2, 2)
/// assert!((found.coefficients[1] - 0.5).abs() < 1e-9); // divided by it
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NuSvm {
    /// ν, above 0 and at most 2·min(n₊, n₋)/n, where n₊ and n₋ are the (weights of the) samples of each class.
    pub nu: f64,
    /// Largest violation of the optimality conditions.
    pub tol: f64,
    /// Steps after which the search is given up; `None`: 1 000 000, or 100 for each sample if that is more.
    pub max_steps: Option<usize>,
    /// Moves pairs within a chunk of the samples that need it, instead of all of them.
    pub shrink: bool,
}

setters!(NuSvm: with_nu(nu: f64), with_tol(tol: f64), with_max_steps(max_steps: usize => Some(max_steps)),
    with_shrink(shrink: bool));

impl Default for NuSvm {
    /// ν = 0.5.
    fn default() -> Self {
        NuSvm::new(0.5)
    }
}

impl NuSvm {
    /// Tolerance 1e-3, with shrinking.
    pub fn new(nu: f64) -> Self {
        NuSvm { nu, tol: 1e-3, max_steps: None, shrink: true }
    }

    /// The largest ν for some labels and weights.
    ///
    /// 2·min(n₊, n₋)/n: with a larger one the smaller class could not reach its sum with every coefficient at the
    /// bound.
    pub fn most(part: &Part) -> f64 {
        let sum =
            |sign: f64| (0..part.y.len()).filter(|&i| part.y[i] * sign > 0.0).map(|i| part.weight(i)).sum::<f64>();
        let (plus, minus) = (sum(1.0), sum(-1.0));
        2.0 * plus.min(minus) / (plus + minus)
    }

    /// Learns labels of ±1 from a symmetric kernel matrix.
    ///
    /// # Errors
    /// [`Error::Param`] for a ν that is not feasible, and otherwise as for [`super::CSvm::solve`].
    pub fn solve(&self, rows: &RowCache<'_>, part: &Part, run: &Run) -> Result<SvmSolution> {
        let rules = Rules { tol: self.tol, max_steps: self.max_steps, shrink: self.shrink };
        rules.check()?;
        part.check(rows)?;
        self.check(part)?;
        let zeros = vec![0.0; part.y.len()];
        let mut search = Search::new(rows, part, zeros, 1.0).start(&self.feasible(part))?.by_class();
        let (mut rules, mut steps) = (rules, 0);
        loop {
            let ended = search.run(rules, run)?;
            steps += ended.steps;
            let (plus, minus) = (search.level(0), search.level(1));
            let (bias, margin) = (0.5 * (plus + minus), 0.5 * (minus - plus));
            if margin > rules.tol {
                let coefficients = search.c.iter().map(|c| c / margin).collect();
                return Ok(SvmSolution { coefficients, bias: bias / margin, margin, steps, verdict: ended.verdict });
            }
            // Levels are known to the tolerance, so a smaller margin may be none; it counts once the tolerance is below it.
            let least = VANISHED * search.size();
            if rules.tol <= least || !ended.verdict.converged() {
                let left = if ended.verdict.converged() { f64::INFINITY } else { ended.verdict.left() };
                let verdict = Verdict::measured(left, self.tol.min(rules.tol));
                return Ok(SvmSolution { coefficients: search.c, bias, margin: 0.0, steps, verdict });
            }
            rules.tol = (SMALLER * rules.tol).max(least);
        }
    }

    fn check(&self, part: &Part) -> Result<()> {
        let most = NuSvm::most(part);
        // The sums may be rounded.
        if self.nu > 0.0 && self.nu <= most * (1.0 + 1e-12) {
            return Ok(());
        }
        Err(Error::param("nu", self.nu, format!("above 0 and at most {most}, which is 2 min(n₊, n₋)/n")))
    }

    /// The first samples of each class at their bound until the sums are reached.
    fn feasible(&self, part: &Part) -> Vec<f64> {
        let half = 0.5 * self.nu * (0..part.y.len()).map(|i| part.weight(i)).sum::<f64>();
        let mut left = [half; 2];
        let mut take = |i: usize| {
            let left = &mut left[usize::from(part.y[i] < 0.0)];
            let taken = part.weight(i).min(*left);
            *left -= taken;
            taken * part.y[i]
        };
        (0..part.y.len()).map(&mut take).collect()
    }
}

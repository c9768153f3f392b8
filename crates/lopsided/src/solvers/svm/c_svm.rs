//! The C-SVM: a bound on every coefficient.

use super::smo::{Rules, Search};
use super::{Part, RowCache, SvmSolution};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::setters;
use crate::solvers::linsys::check_penalty;

/// A two-class C-SVM: maximise yᵀc − ½·cᵀKc over 1ᵀc = 0 and c_i between 0 and C·w_i·y_i.
///
/// C weighs the losses max(0, 1 − y·f) against |w|²/2. Samples beyond the margin have c_i = 0, those on it are between
/// the bounds, those that violate it are at the bound C·w_i·y_i.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svm::{CSvm, Part, RowCache};
/// use lopsided::{Mat, Run};
///
/// // The linear kernel of the points −1 and 1: w = 1 separates them with both on the margin.
/// let k = DenseOperator::Owned(Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { -1.0 }));
/// let rows = RowCache::new(&k, 1 << 20)?;
/// let part = Part::all(&[-1.0, 1.0]);
/// let found = CSvm::new(10.0).solve(&rows, &part, &Run::default())?;
/// assert!((found.coefficients[1] - 0.5).abs() < 1e-3 && found.bias.abs() < 1e-3);
/// let again = CSvm::new(10.0).solve_from(&rows, &part, Some(&found.coefficients), &Run::default())?;
/// assert_eq!(again.steps, 0); // nothing left to move
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CSvm {
    /// C, the bound of the coefficients.
    pub penalty: f64,
    /// Largest violation of the optimality conditions.
    pub tol: f64,
    /// Steps after which the search is given up; `None`: 1 000 000, or 100 for each sample if that is more.
    pub max_steps: Option<usize>,
    /// Moves pairs within a chunk of the samples that need it, instead of all of them.
    pub shrink: bool,
}

setters!(CSvm: with_penalty(penalty: f64), with_tol(tol: f64), with_max_steps(max_steps: usize => Some(max_steps)),
    with_shrink(shrink: bool));

impl Default for CSvm {
    /// Penalty 1.
    fn default() -> Self {
        CSvm::new(1.0)
    }
}

impl CSvm {
    /// Tolerance 1e-3, with shrinking.
    pub fn new(penalty: f64) -> Self {
        CSvm { penalty, tol: 1e-3, max_steps: None, shrink: true }
    }

    /// Learns labels of ±1 from a symmetric kernel matrix.
    ///
    /// # Errors
    /// [`crate::Error::Param`] for a penalty or tolerance that is not above 0 and for weights that are negative or NaN,
    /// [`crate::Error::Shape`] for a wrong number of labels or weights, [`crate::Error::NotFinite`] for a kernel matrix that
    /// has no finite diagonal, [`crate::Error::Interrupted`].
    pub fn solve(&self, rows: &RowCache<'_>, part: &Part, run: &Run) -> Result<SvmSolution> {
        self.solve_from(rows, part, None, run)
    }

    /// The same from coefficients near the solution, such as those of another penalty times the quotient of the two.
    ///
    /// Coefficients outside the bounds are moved to them first.
    ///
    /// # Errors
    /// Those of [`CSvm::solve`]; [`crate::Error::Shape`] for another number of coefficients.
    pub fn solve_from(
        &self,
        rows: &RowCache<'_>,
        part: &Part,
        start: Option<&[f64]>,
        run: &Run,
    ) -> Result<SvmSolution> {
        check_penalty(self.penalty)?;
        let rules = Rules { tol: self.tol, max_steps: self.max_steps, shrink: self.shrink };
        rules.check()?;
        part.check(rows)?;
        let mut search = Search::new(rows, part, part.y.clone(), self.penalty);
        if let Some(start) = start {
            if start.len() != part.y.len() {
                return Err(Error::shape("the number of coefficients", part.y.len(), start.len()));
            }
            search = search.start(start)?;
        }
        let ended = search.run(rules, run)?;
        let bias = search.level(0);
        Ok(SvmSolution { coefficients: search.c, bias, margin: 1.0, steps: ended.steps, verdict: ended.verdict })
    }
}

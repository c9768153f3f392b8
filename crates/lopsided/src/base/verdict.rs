//! The end of an iteration.

/// How an iteration ended: what is left of its equations or conditions, measured at the end by products of its own, and what
/// was asked for.
///
/// There is one way to make one, and nothing else tells whether a result has converged.
///
/// ```
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svm::{CSvm, Part, RowCache};
/// use lopsided::{Mat, Run};
///
/// let k = Mat::from_fn(4, 4, |i, j| (-((i as f64 - j as f64).powi(2))).exp());
/// let operator = DenseOperator::Borrowed(k.as_ref());
/// let rows = RowCache::new(&operator, 1 << 20)?;
/// let found = CSvm::new(1.0).solve(&rows, &Part::all(&[1.0, 1.0, -1.0, -1.0]), &Run::default())?;
/// assert!(found.verdict.converged() && found.verdict.left() <= 1e-3);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    left: f64,
    tol: f64,
}

impl Verdict {
    /// Of a number that was measured; NaN is never good enough.
    pub(crate) fn measured(left: f64, tol: f64) -> Self {
        Verdict { left, tol }
    }

    /// What is left, in the measure of the iteration: a relative residual, or the gap of its conditions.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// Whether that is at most what was asked for; false for NaN.
    pub fn converged(&self) -> bool {
        self.left <= self.tol
    }
}

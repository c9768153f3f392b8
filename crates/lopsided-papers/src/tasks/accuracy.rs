//! How near a solver's triplets are to the exact ones: weighted by singular values, by residuals, and by
//! angles.

use faer::MatRef;
use lopsided::base::Run;
use lopsided::base::error::Result;
use lopsided::base::linalg;
use lopsided::base::scalar::Scalar;
use lopsided::base::settings::Settings;
use lopsided::metrics::largest_angle_sine;
use lopsided::operator::Operator;
use lopsided::solvers::svd::{self, Svd};

/// Tolerance of the exact solution: next to rounding.
const TOLERANCE: f64 = 1e-13;
/// Singular values closer than this, relative to their own size, are one value with several vectors.
const SAME: f64 = 1e-9;
/// Differences up to this, relative to σ₁, may be rounding.
const ROUNDING: f64 = 1e-14;
/// Triplets beyond the rank to begin with, so that the end of a crowd of equal values is seen.
const BEYOND: usize = 6;

/// The exact leading triplets of G, by which the result of any solver is measured.
///
/// Where the value at the rank is repeated, the triplets go on to its last copy: any basis of such a crowd is right.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided_papers::tasks::Reference;
/// use lopsided::operator::DenseOperator;
/// use lopsided::solvers::svd;
/// use lopsided::{Mat, Run};
///
/// let g = DenseOperator::Owned(Mat::from_fn(3, 3, |i, j| if i == j { 3.0 - i as f64 } else { 0.0 }));
/// let reference = Reference::<f64>::new(&g, 2, &Run::default())?;
/// assert!((reference.sigma()[0] - 3.0).abs() < 1e-12 && (reference.sigma()[1] - 2.0).abs() < 1e-12);
/// let found = svd::solver::<f64>("exact", &Settings::default())?.solve(&g, 2, &Run::default())?;
/// let accuracy = reference.accuracy(&found);
/// assert!(accuracy.eta < 1e-9 && accuracy.angle_sine < 1e-6);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reference<T> {
    exact: Svd<T>,
    rank: usize,
}

/// How near a solution is to the exact one.
///
/// η weighs every triplet by its singular value, so that one good vector suffices where the first value is far
/// above the others; the residual is relative to each triplet's own value, and the angle looks at the space of
/// all vectors, whatever their values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Accuracy {
    /// (1/r)·Σ λ_i·(1 − |u_iᵀũ_i|) + (1/r)·Σ λ_i·(1 − |v_iᵀṽ_i|) with unit vectors (\[KSVD\] §4.4); see [`Reference::accuracy`].
    pub eta: f64,
    /// Largest residual max(‖G ṽ − σ̃ ũ‖, ‖Gᵀũ − σ̃ ṽ‖) / σ̃ of the triplets.
    pub residual: f64,
    /// Sine of the largest principal angle from the span of the r vectors to the exact one, the worse of both sides.
    pub angle_sine: f64,
}

impl<T: Scalar> Reference<T> {
    /// Solves for `rank` triplets, and for more while the last value is a copy of the one at the rank.
    ///
    /// # Errors
    /// Those of the solver; [`lopsided::Error::Param`] for a rank that is not between 1 and min(n, m).
    pub fn new(g: &dyn Operator<T>, rank: usize, run: &Run) -> Result<Self> {
        let most = g.nrows().min(g.ncols());
        let solver = svd::solver::<T>("auto", &Settings::default().with("tol", TOLERANCE))?;
        let mut wanted = if rank > most { rank } else { (rank + BEYOND).min(most) };
        loop {
            let exact = solver.solve(g, wanted, run)?;
            let reference = Reference { rank: rank.min(exact.sigma.len()), exact };
            let end = reference.end_of_crowd(reference.rank.saturating_sub(1));
            // Fewer triplets than wanted are all there are.
            if end < reference.exact.sigma.len() || end < wanted || wanted == most {
                return Ok(reference);
            }
            wanted = (2 * wanted).min(most);
        }
    }

    /// Triplets looked at; fewer than asked for where G has fewer.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Their singular values.
    pub fn sigma(&self) -> &[T] {
        &self.exact.sigma[..self.rank]
    }

    /// Their largest residual relative to their own σ.
    pub fn residual(&self) -> f64 {
        self.exact.report.residual()
    }

    /// Measures a solution. Triplets that it does not have count as orthogonal to the exact ones.
    ///
    /// # Departures
    /// For repeated singular values |u_iᵀũ_i| depends on the basis a solver happens to find; it is the length of the
    /// projection of ũ_i onto all vectors of the value λ_i, which is the same thing where the value is simple.
    pub fn accuracy(&self, found: &Svd<T>) -> Accuracy {
        let sides = [(&self.exact.u, &found.u), (&self.exact.v, &found.v)];
        let eta = sides.iter().map(|(exact, found)| self.eta(exact.as_ref(), found.as_ref())).sum();
        let angle_sine = sides.iter().map(|(exact, found)| self.angle(exact.as_ref(), found.as_ref()));
        Accuracy { eta, residual: found.report.residual(), angle_sine: angle_sine.fold(0.0, f64::max) }
    }

    /// One side of η.
    fn eta(&self, exact: MatRef<'_, T>, found: MatRef<'_, T>) -> f64 {
        let known = self.rank.min(found.ncols());
        let products = linalg::transpose_mul(exact, found.subcols(0, known));
        let lengths = linalg::column_norms(found.subcols(0, known));
        let cosine = |i: usize| {
            let crowd = self.start_of_crowd(i)..self.end_of_crowd(i);
            let length = crowd.map(|j| products[(j, i)].as_f64().powi(2)).sum::<f64>().sqrt();
            (length / lengths[i].max(f64::MIN_POSITIVE)).min(1.0)
        };
        let missed = |i: usize| if i < known { 1.0 - cosine(i) } else { 1.0 };
        let terms = self.sigma().iter().enumerate().map(|(i, value)| value.as_f64() * missed(i));
        terms.sum::<f64>() / self.rank as f64
    }

    /// The angle to the exact vectors up to the end of the crowd at the rank, whose copies are as good as one another.
    fn angle(&self, exact: MatRef<'_, T>, found: MatRef<'_, T>) -> f64 {
        let basis = linalg::orthonormalize(found.subcols(0, self.rank.min(found.ncols())), SAME);
        match basis {
            Some(basis) if basis.q.ncols() == self.rank => {
                largest_angle_sine(exact.subcols(0, self.end_of_crowd(self.rank.saturating_sub(1))), basis.q.as_ref())
                    .min(1.0)
            }
            _ => 1.0,
        }
    }

    fn start_of_crowd(&self, at: usize) -> usize {
        self.exact.sigma.iter().position(|s| self.same(*s, at)).unwrap_or(at)
    }

    /// One past the last copy of the value.
    fn end_of_crowd(&self, at: usize) -> usize {
        self.exact.sigma.iter().rposition(|s| self.same(*s, at)).map_or(at, |last| last + 1)
    }

    /// Whether a value is a copy of the one at a position, up to the accuracy of the exact solution.
    fn same(&self, value: T, at: usize) -> bool {
        let sigma = &self.exact.sigma;
        (value - sigma[at]).abs().as_f64() <= (SAME * sigma[at].as_f64()).max(ROUNDING * sigma[0].as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use lopsided::data::synth;
    use lopsided::operator::DenseOperator;

    /// A matrix with these singular values and known vectors.
    fn matrix(values: &[f64]) -> (Mat<f64>, Mat<f64>, Mat<f64>) {
        let vectors = |seed| {
            let random = synth::gaussian::<f64>(30, values.len(), seed);
            linalg::orthonormalize(random.as_ref(), 1e-12).unwrap().q
        };
        let (u, v) = (vectors(1), vectors(2));
        let scaled = Mat::from_fn(30, values.len(), |i, k| u[(i, k)] * values[k]);
        (scaled * v.transpose(), u, v)
    }

    fn solution(u: Mat<f64>, v: Mat<f64>) -> Svd<f64> {
        let sigma = vec![1.0; u.ncols()];
        Svd { u, sigma, v, extension: None, report: svd::SolveReport::default() }
    }

    #[test]
    fn eta_is_the_formula_of_the_paper_for_simple_values() {
        let (g, u, v) = matrix(&[4.0, 2.0, 1.0]);
        let reference = Reference::new(&DenseOperator::Borrowed(g.as_ref()), 2, &Run::default()).unwrap();
        assert!(reference.accuracy(&solution(u.clone(), v.clone())).eta < 1e-12);
        // The first left vector turned by 60 degrees towards the third, at another length.
        let turned =
            Mat::from_fn(
                30,
                2,
                |i, k| if k == 0 { 3.0 * (0.5 * u[(i, 0)] + 0.75f64.sqrt() * u[(i, 2)]) } else { u[(i, 1)] },
            );
        let accuracy = reference.accuracy(&solution(turned.clone(), v.subcols(0, 2).to_owned()));
        assert!((accuracy.eta - 0.5 * 4.0 * 0.5).abs() < 1e-12, "{accuracy:?}");
        assert!((accuracy.angle_sine - 0.75f64.sqrt()).abs() < 1e-12, "{accuracy:?}");
        let accuracy = reference.accuracy(&solution(turned.subcols(0, 1).to_owned(), v.subcols(0, 1).to_owned()));
        assert!((accuracy.eta - 0.5 * (4.0 * 0.5 + 2.0 + 2.0)).abs() < 1e-12, "{accuracy:?}");
        assert!((accuracy.angle_sine - 1.0).abs() < 1e-12);
    }

    #[test]
    fn any_basis_of_a_repeated_value_is_right() {
        let (g, u, v) = matrix(&[3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.5]);
        let reference = Reference::new(&DenseOperator::Borrowed(g.as_ref()), 3, &Run::default()).unwrap();
        assert_eq!((reference.rank(), reference.end_of_crowd(2)), (3, 10));
        let chosen = |a: &Mat<f64>, third: usize| Mat::from_fn(30, 3, |i, k| a[(i, [0, 9, third][k])]);
        let right = reference.accuracy(&solution(chosen(&u, 4), chosen(&v, 4)));
        assert!(right.eta < 1e-12 && right.angle_sine < 1e-9, "{right:?}");
        let wrong = reference.accuracy(&solution(chosen(&u, 10), chosen(&v, 10)));
        assert!((wrong.eta - 2.0 / 3.0).abs() < 1e-12 && wrong.angle_sine > 1.0 - 1e-9, "{wrong:?}");
    }
}

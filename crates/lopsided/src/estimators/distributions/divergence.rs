//! Divergences between mixtures by the Monte Carlo method, and the kernels made of them.

use super::mixture::{DiagonalMixture, log_sums};
use crate::base::Run;
use crate::base::error::{Error, Result};
use faer::Mat;
use rayon::prelude::*;

/// Divergences of distributions from each other.
///
/// A row is the distribution that points are drawn from, a column the one they are compared with. The matrix is
/// asymmetric, and so is the kernel made of it:
///
/// ```
/// use lopsided::Mat;
/// use lopsided::estimators::distributions::KlMatrix;
///
/// let values = Mat::from_fn(2, 2, |i, j| if (i, j) == (0, 1) { 4.0_f64.ln() } else { 0.0 });
/// let found = KlMatrix { values, errors: Mat::zeros(2, 2) };
/// let k = found.kernel(1.0);
/// assert!((k[(0, 1)] - 0.25).abs() < 1e-12 && k[(1, 0)] == 1.0);
/// let s = found.symmetric_kernel(1.0)?; // exp(−(ln 4 + 0)/2) on both sides
/// assert!((s[(0, 1)] - 0.5).abs() < 1e-12 && s[(1, 0)] == s[(0, 1)]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KlMatrix {
    /// Estimates of KL(row‖column). They are unbiased, so small ones may be below 0.
    pub values: Mat<f64>,
    /// Their standard errors.
    pub errors: Mat<f64>,
}

impl KlMatrix {
    /// exp(−gamma·KL), \[AsKLS\] Eq. (14).
    pub fn kernel(&self, gamma: f64) -> Mat<f64> {
        Mat::from_fn(self.values.nrows(), self.values.ncols(), |i, j| (-gamma * self.values[(i, j)]).exp())
    }

    /// exp(−gamma·(KL(P‖Q) + KL(Q‖P))/2) of a square matrix: the symmetric kernel \[AsKLS\] compares with.
    ///
    /// # Errors
    /// [`Error::Shape`] where rows and columns differ in number.
    pub fn symmetric_kernel(&self, gamma: f64) -> Result<Mat<f64>> {
        let (n, m) = self.values.shape();
        if n != m {
            return Err(Error::shape("the matrix of divergences", "square", format!("{n} x {m}")));
        }
        let mean = |i: usize, j: usize| f64::midpoint(self.values[(i, j)], self.values[(j, i)]);
        Ok(Mat::from_fn(n, n, |i, j| (-gamma * mean(i, j)).exp()))
    }
}

/// KL(P_i‖Q_j) = E ln(p_i(x)/q_j(x)) over x from P_i, by the mean over random points.
///
/// The points of each P_i are drawn once and serve all columns, and all P_i use the same random numbers. So an entry
/// depends on its two distributions, the number of points and the seed alone: a distribution has divergence 0 from
/// itself, and part of a matrix equals the matrix of that part.
///
/// # Cost
/// O(rows · columns · samples · components · width), rows in parallel.
///
/// # Errors
/// [`Error::Param`] for fewer than 2 points, [`Error::Shape`] for distributions of different widths,
/// [`Error::Interrupted`].
///
/// # Example
/// The divergence of N(0, 1) from N(1, 1) is ½; the estimate is within a few of its own standard errors:
///
/// ```
/// use lopsided::estimators::distributions::{DiagonalMixture, kl_matrix};
/// use lopsided::{Mat, Run};
///
/// let normal = |mean: f64| {
///     DiagonalMixture::new(vec![1.0], Mat::from_fn(1, 1, |_, _| mean), Mat::from_fn(1, 1, |_, _| 1.0))
/// };
/// let found = kl_matrix(&[normal(0.0)?], &[normal(1.0)?], 4000, &Run::default())?;
/// assert!((found.values[(0, 0)] - 0.5).abs() < 5.0 * found.errors[(0, 0)]);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn kl_matrix(rows: &[DiagonalMixture], cols: &[DiagonalMixture], samples: usize, run: &Run) -> Result<KlMatrix> {
    if samples < 2 {
        return Err(Error::param("samples", samples, "at least 2"));
    }
    let row = |p: &DiagonalMixture| {
        let points = p.sample(samples, run.seed);
        let own = log_sums(&p.log_joint(&points));
        cols.iter().map(|q| run.watch.check().and_then(|()| estimate(&own, q, &points))).collect()
    };
    let found: Vec<Vec<(f64, f64)>> = rows.par_iter().map(row).collect::<Result<_>>()?;
    let of = |pick: fn(&(f64, f64)) -> f64| Mat::from_fn(rows.len(), cols.len(), |i, j| pick(&found[i][j]));
    Ok(KlMatrix { values: of(|e| e.0), errors: of(|e| e.1) })
}

/// Mean and standard error of ln p − ln q.
///
/// The standard error is that of a mean: √(Σ(d − mean)²/(n − 1)/n).
fn estimate(own: &[f64], q: &DiagonalMixture, points: &Mat<f64>) -> Result<(f64, f64)> {
    if q.width() != points.ncols() {
        return Err(Error::shape("the width of a distribution", points.ncols(), q.width()));
    }
    let n = own.len() as f64;
    let differences: Vec<f64> = own.iter().zip(log_sums(&q.log_joint(points))).map(|(p, q)| p - q).collect();
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
    Ok((mean, (squares / (n - 1.0) / n).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::estimators::distributions::Gaussian;
    use faer::MatRef;

    const RUN: fn() -> Run = || Run { seed: 11, ..Run::default() };

    /// So many components with random weights.
    fn random(components: usize, seed: u64) -> DiagonalMixture {
        let numbers = synth::gaussian::<f64>(components, 7, seed);
        let total: f64 = (0..components).map(|c| numbers[(c, 0)].exp()).sum();
        let weights = (0..components).map(|c| numbers[(c, 0)].exp() / total).collect();
        let means = Mat::from_fn(components, 3, |c, j| numbers[(c, 1 + j)]);
        DiagonalMixture::new(weights, means, Mat::from_fn(components, 3, |c, j| (0.5 * numbers[(c, 4 + j)]).exp()))
            .unwrap()
    }

    fn gaussian(mixture: &DiagonalMixture) -> Gaussian {
        let first = |m: MatRef<'_, f64>| m.row(0).iter().copied().collect::<Vec<f64>>();
        Gaussian::diagonal(&first(mixture.means()), &first(mixture.variances())).unwrap()
    }

    #[test]
    fn one_component_agrees_with_the_closed_form() {
        let mixtures: Vec<_> = (1..5).map(|seed| random(1, seed)).collect();
        let found = kl_matrix(&mixtures, &mixtures, 4000, &RUN()).unwrap();
        for (i, p) in mixtures.iter().enumerate() {
            for (j, q) in mixtures.iter().enumerate() {
                let exact = gaussian(p).kl(&gaussian(q)).unwrap();
                let gap = (found.values[(i, j)] - exact).abs();
                assert!(gap <= 4.0 * found.errors[(i, j)] + 1e-12, "{exact} {} {}", found.values[(i, j)], gap);
                assert!(found.errors[(i, j)] < 0.2 * exact.max(0.1));
            }
        }
    }

    #[test]
    fn a_mixture_is_0_from_itself_and_a_part_of_it_is_near_in_one_direction() {
        let all = DiagonalMixture::new(
            vec![0.5, 0.5],
            Mat::from_fn(2, 2, |c, _| 20.0 * c as f64),
            Mat::from_fn(2, 2, |_, _| 1.0),
        )
        .unwrap();
        let half = DiagonalMixture::new(vec![1.0], Mat::zeros(1, 2), Mat::from_fn(1, 2, |_, _| 1.0)).unwrap();
        let mixtures = [half, all];
        let found = kl_matrix(&mixtures, &mixtures, 500, &RUN()).unwrap();
        for i in 0..2 {
            assert_eq!((found.values[(i, i)], found.errors[(i, i)]), (0.0, 0.0));
        }
        let (forth, back) = (found.values[(0, 1)], found.values[(1, 0)]);
        assert!((forth - 2f64.ln()).abs() < 1e-9, "{forth}");
        // Half of the points are at a distance of 20 in both coordinates: ½·(400 + 400)/2 − ln 2.
        assert!((back - (200.0 - 2f64.ln())).abs() < 4.0 * found.errors[(1, 0)], "{back}");
        assert!((found.kernel(0.5)[(0, 1)] - (-0.5 * forth).exp()).abs() < 1e-15);
        let symmetric = found.symmetric_kernel(1.0).unwrap();
        assert!((symmetric[(1, 0)] / (-(forth + back) / 2.0).exp() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_part_is_the_matrix_of_the_part_for_any_number_of_threads() {
        let mixtures: Vec<_> = (1..5).map(|seed| random(2, seed)).collect();
        let all = kl_matrix(&mixtures, &mixtures, 50, &RUN()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let part = pool.install(|| kl_matrix(&mixtures[1..3], &mixtures[2..], 50, &RUN())).unwrap();
        assert_eq!(part.values.as_ref(), all.values.as_ref().submatrix(1, 2, 2, 2));
        assert_eq!(part.errors.as_ref(), all.errors.as_ref().submatrix(1, 2, 2, 2));
        assert!(part.symmetric_kernel(1.0).is_ok());
        assert!(kl_matrix(&mixtures, &mixtures[1..], 50, &RUN()).unwrap().symmetric_kernel(1.0).is_err());
    }

    #[test]
    fn too_few_points_and_other_widths_are_refused() {
        let wide = DiagonalMixture::new(vec![1.0], Mat::zeros(1, 2), Mat::from_fn(1, 2, |_, _| 1.0)).unwrap();
        let p = random(1, 1);
        assert!(kl_matrix(std::slice::from_ref(&p), std::slice::from_ref(&p), 1, &RUN()).is_err());
        assert!(kl_matrix(&[p], &[wide], 10, &RUN()).is_err());
    }
}

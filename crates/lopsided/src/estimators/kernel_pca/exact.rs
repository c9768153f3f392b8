//! Kernel principal components of all samples.

use super::pca::{Components, KernelPca, nonzero};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::estimators::landmarked::Problem;
use crate::operator::{Centered, KernelMatrix, Means, Operator, OperatorChoice, Widened};
use crate::products::single::Single;
use crate::solvers::svd::{self, Goal, SolveReport, Svd};
use faer::Mat;

/// Residual from which products in single precision are accurate enough.
const SINGLE: f64 = 1e-6;
/// Samples from which they pay.
const MANY: usize = 2000;
/// Coordinates up to which kernel values are evaluated in every product, which takes hardly longer than reading them.
const CHEAP: usize = 32;

/// Eigenpairs of the (centred) kernel matrix, and the means of the columns of the kernel matrix itself.
struct Pairs {
    vectors: Mat<f64>,
    values: Vec<f64>,
    means: Option<Vec<f64>>,
    solved: SolveReport,
}

impl KernelPca {
    /// The leading eigenpairs of K, to the residual asked for.
    pub(super) fn exact<T: Scalar>(&self, problem: &Problem<T>, run: &Run) -> Result<Components<T>> {
        let tol = svd::tolerance::<f64>(
            &self.tol.map_or_else(Settings::default, |tol| Settings::default().with("tol", tol)),
        )?;
        let Pairs { vectors, values, means, solved } = match self.refined(problem, tol, run)? {
            Some(pairs) => pairs,
            None => self.plain(problem, tol, run)?,
        };
        let values: Vec<f64> = nonzero(values, T::eps() * problem.x.count() as f64);
        let weights = Mat::from_fn(vectors.nrows(), values.len(), |i, j| vectors[(i, j)] / values[j].sqrt());
        // K_c·u = λ·u spares a product with K: the components of the samples, and their mean 1ᵀK·w/n before centring.
        let mean =
            |c: usize| means.as_ref().map_or(0.0, |m| m.iter().zip(weights.col(c).iter()).map(|(m, w)| m * w).sum());
        let means: Vec<f64> = (0..values.len()).map(mean).collect();
        let own = Mat::from_fn(vectors.nrows(), values.len(), |i, c| vectors[(i, c)] * values[c].sqrt() + means[c]);
        let functions = self.anchored(problem.over_samples(weights), &own);
        Ok(Components { functions, values, landmarks: None, solved: Some(solved) })
    }

    fn plain<T: Scalar>(&self, problem: &Problem<T>, tol: f64, run: &Run) -> Result<Pairs> {
        problem.with_choice(OperatorChoice::Auto, run, |built| self.solved(&Widened(&*built.operator), tol, run))
    }

    fn solved(&self, k: &dyn Operator<f64>, tol: f64, run: &Run) -> Result<Pairs> {
        let means = if self.center { Some(Means::of(k)?) } else { None };
        let centred = means.clone().map(|means| Centered::new(k, means));
        let k: &dyn Operator<f64> = centred.as_ref().map_or(k, |c| c);
        let found = svd::solver::<f64>("auto", &Settings::default().with("tol", tol))?.solve(k, self.rank, run)?;
        Ok(Pairs { vectors: found.u, values: found.sigma, means: means.map(|means| means.cols), solved: found.report })
    }

    /// The space of the components by products in single precision, and the components in it by one that is not.
    ///
    /// Errors of the space count by their squares in the values. `None` where single precision does not suffice.
    fn refined<T: Scalar>(&self, problem: &Problem<T>, tol: f64, run: &Run) -> Result<Option<Pairs>> {
        let x = problem.x.as_ref();
        if tol < SINGLE || x.count() < MANY {
            return Ok(None);
        }
        let Some(single) = Single::new(&problem.kernel, x, x)? else { return Ok(None) };
        let choice = if x.width() <= CHEAP { OperatorChoice::Tiles } else { OperatorChoice::Auto };
        let rough = {
            let (memory, watch) = (problem.memory, run.watch.clone());
            let matrix = KernelMatrix::new(&*single.kernel, single.x(), single.z());
            let (device, fast) = (run.device, run.fast);
            let built = KernelMatrix { choice, memory, device, fast, watch, ..matrix }.build()?;
            self.solved(&Widened(&*built.operator), tol, run)?
        };
        problem.with_products(run, |built| self.corrected(&Widened(&*built.operator), rough, tol))
    }

    /// The eigenpairs of K within the span of some orthonormal vectors, by Rayleigh and Ritz; `None` if their residual is too large.
    fn corrected(&self, k: &dyn Operator<f64>, rough: Pairs, tol: f64) -> Result<Option<Pairs>> {
        let u = &rough.vectors;
        let (n, rank) = u.shape();
        let input = Mat::from_fn(n, rank + 1, |i, j| if j < rank { u[(i, j)] } else { 1.0 / n as f64 });
        let mut image = Mat::zeros(n, rank + 1);
        k.apply(input.as_ref(), image.as_mut())?;
        let means: Option<Vec<f64>> = self.center.then(|| image.col(rank).iter().copied().collect());
        let mut image = image.subcols(0, rank).to_owned();
        if let Some(means) = &means {
            // (I − 11ᵀ/n)·K·(I − 11ᵀ/n)·u.
            for (image, u) in image.col_iter_mut().zip(u.col_iter()) {
                let sum: f64 = u.iter().sum();
                let shift = image.as_ref().iter().zip(means).map(|(v, m)| v - sum * m).sum::<f64>() / n as f64;
                image.iter_mut().zip(means).for_each(|(v, m)| *v -= sum * m + shift);
            }
        }
        let small = linalg::transpose_mul(u.as_ref(), image.as_ref());
        let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
        let (values, turn) = linalg::eigen(small.as_ref()).ok_or_else(not_finite)?;
        let vectors = linalg::mul(u.as_ref(), turn.as_ref());
        let image = linalg::mul(image.as_ref(), turn.as_ref());
        let report = SolveReport { notes: Vec::new(), products: rough.solved.products + rank as u64, ..rough.solved };
        let mut svd = Svd { u: vectors.clone(), sigma: values, v: vectors, extension: None, report };
        let lengths = svd.distances(image.as_ref(), svd.u.as_ref());
        svd.judge(&lengths, Goal { tol, complete: true });
        let Svd { u: vectors, sigma: values, report: solved, .. } = svd;
        Ok(solved.converged().then_some(Pairs { vectors, values, means, solved }))
    }
}

//! Ridge regression in the span of the landmarks by a few passes over the samples.

use super::cg::{ConjugateGradients, Judged};
use super::systems::Centred;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::linalg::{self, SymmetricFactor};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::verdict::Verdict;
use crate::data::samples::SamplesRef;
use crate::kernel::Kernel;
use crate::operator::{KernelMatrix, KernelOperator, Operator};
use crate::products::single::Single;
use crate::solvers::linsys::dots;
use crate::solvers::lowrank::LandmarkKernel;
use faer::{Mat, MatRef};

/// Residual that counts as converged, and the steps that should be enough for it by far.
const TOL: f64 = 1e-5;
const STEPS: usize = 60;
/// Corrections of a solution found with values of single precision, and by how much each may reduce the residual.
const ROUNDS: usize = 3;
const SINGLE: f64 = 1e-3;
/// Samples for each landmark that the preconditioner looks at; about a dozen passes follow.
const SAMPLED: usize = 16;
const PASSES: usize = 10;
/// Operations that the exponential and the products of one kernel value are worth.
const VALUE: usize = 50;
/// Squared condition of a factor beyond which it is not trusted.
const CONDITION: f64 = 1e12;

/// Whether passes are less work than the features of all samples and their products.
pub(super) fn worthwhile(n: usize, m: usize, width: usize) -> bool {
    let passes = SAMPLED * m * m * m + PASSES * n * m * (2 * width + VALUE);
    n > 2 * SAMPLED * m && passes < 3 * n * m * m
}

/// (K_mn·W·K_nm + λ₀K_mm)·β = K_mn·W·y, \[NKM\] Eq. (11), by conjugate gradients; kernel values are made anew in every pass.
///
/// The preconditioner is the same matrix of 16·m samples drawn at random, scaled to all of them: the condition number left is
/// about ((1 + 1/4)/(1 − 1/4))², and a step gains more than a factor of 3.
///
/// `None` where the landmarks are no samples, or nearly dependent, where values take longer than a matrix product (sparse samples,
/// other kernels than RBF), or the steps do not suffice.
pub(super) fn solve<T: Scalar>(
    at: &LandmarkKernel<T>,
    x: SamplesRef<'_, T>,
    centred: &Centred,
    penalty: f64,
    run: &Run,
) -> Result<Option<Judged>> {
    let (Some((spec, points)), weights) = (at.points(), centred.weights.as_deref()) else { return Ok(None) };
    let kernel = spec.build::<T>()?;
    let operator = Values::new(&*kernel, x, points, run)?;
    if !operator.is_quick() {
        return Ok(None);
    }
    let Some(factor) = preconditioner(at, x, weights, penalty, run)? else { return Ok(None) };
    let system = System { operator, gram: at.gram.as_ref(), centred, penalty, factor };
    if let Some(single) = Single::new(spec, x, points)?
        && let Some(found) = system.refined(&single, run)?
    {
        return Ok(Some(found));
    }
    system.plain(run)
}

/// K_nm, whose values the processor or a card makes anew in every pass.
enum Values<'a, T: Scalar> {
    Processor(Box<KernelOperator<'a, T>>),
    Card(Box<dyn Operator<T> + 'a>),
}

impl<'a, T: Scalar> Values<'a, T> {
    fn new(kernel: &'a dyn Kernel<T>, x: SamplesRef<'a, T>, z: SamplesRef<'a, T>, run: &Run) -> Result<Self> {
        let (device, fast, watch) = (run.device, run.fast, run.watch.clone());
        let plain = KernelMatrix { device, fast, watch, once: true, ..KernelMatrix::new(kernel, x, z) };
        Ok(match plain.of_card()? {
            Some(card) => Values::Card(card),
            None => Values::Processor(Box::new(KernelOperator::new(kernel, x, z, None, &run.watch)?)),
        })
    }

    /// Whether a pass goes at the rate of matrix products.
    fn is_quick(&self) -> bool {
        match self {
            Values::Processor(tiles) => tiles.is_prepared(),
            Values::Card(_) => true,
        }
    }

    fn nrows(&self) -> usize {
        match self {
            Values::Processor(tiles) => tiles.nrows(),
            Values::Card(card) => card.nrows(),
        }
    }

    /// K_mn·W·(Y − K_nm·H), sums in double precision.
    fn residual_moments(&self, y: MatRef<'_, f64>, h: MatRef<'_, f64>, weights: Option<&[f64]>) -> Result<Mat<f64>> {
        match self {
            Values::Processor(tiles) => tiles.residual_moments(y, h, weights),
            Values::Card(card) => moments_by_products(&**card, y, h, weights),
        }
    }

    /// The same in the arithmetic of T.
    fn quick_moments(&self, y: MatRef<'_, f64>, h: MatRef<'_, f64>, weights: Option<&[f64]>) -> Result<Mat<f64>> {
        match self {
            Values::Processor(tiles) => tiles.quick_moments(y, h, weights),
            Values::Card(card) => moments_by_products(&**card, y, h, weights),
        }
    }
}

/// Kᵀ·W·(Y − K·H) by a product with K and one with Kᵀ.
fn moments_by_products<T: Scalar>(
    k: &dyn Operator<T>,
    y: MatRef<'_, f64>,
    h: MatRef<'_, f64>,
    weights: Option<&[f64]>,
) -> Result<Mat<f64>> {
    let h = Mat::from_fn(h.nrows(), h.ncols(), |i, c| T::of(h[(i, c)]));
    let mut values = Mat::<T>::zeros(y.nrows(), y.ncols());
    k.apply(h.as_ref(), values.as_mut())?;
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let left = Mat::from_fn(y.nrows(), y.ncols(), |i, c| T::of(weight(i) * (y[(i, c)] - values[(i, c)].as_f64())));
    let mut moments = Mat::<T>::zeros(k.ncols(), y.ncols());
    k.apply_transpose(left.as_ref(), moments.as_mut())?;
    Ok(Mat::from_fn(moments.nrows(), moments.ncols(), |i, c| moments[(i, c)].as_f64()))
}

/// The system of Eq. (11) with its preconditioner.
struct System<'a, T: Scalar> {
    operator: Values<'a, T>,
    /// K_mm.
    gram: MatRef<'a, f64>,
    centred: &'a Centred,
    penalty: f64,
    factor: SymmetricFactor<f64>,
}

impl<T: Scalar> System<'_, T> {
    /// Conjugate gradients with values of the samples' own precision.
    fn plain(&self, run: &Run) -> Result<Option<Judged>> {
        let (none, zeros) = (self.zeros(self.operator.nrows()), self.zeros(self.gram.nrows()));
        let (operator, weights) = (&self.operator, self.centred.weights.as_deref());
        let rhs = operator.residual_moments(self.centred.y.as_ref(), zeros.as_ref(), weights)?;
        let apply = |v: &Mat<f64>| {
            let moments = operator.residual_moments(none.as_ref(), v.as_ref(), weights)?;
            Ok(-self.without_ridge(moments, v))
        };
        let method = ConjugateGradients { tol: TOL, steps: STEPS, run };
        let found = method.judged(&rhs, apply, |r| self.preconditioned(r))?;
        Ok(found.verdict.converged().then_some(found))
    }

    /// The same with values of single precision; the residual is then evaluated in full, and corrected where it is too large.
    fn refined(&self, single: &Single, run: &Run) -> Result<Option<Judged>> {
        let (none, mut w) = (self.zeros(self.operator.nrows()), self.zeros(self.gram.nrows()));
        let quick = Values::new(&*single.kernel, single.x(), single.z(), run)?;
        let (y, weights) = (self.centred.y.as_ref(), self.centred.weights.as_deref());
        let apply = |v: &Mat<f64>| {
            let moments = quick.quick_moments(none.as_ref(), v.as_ref(), weights)?;
            Ok(-self.without_ridge(moments, v))
        };
        let mut left = quick.quick_moments(y, w.as_ref(), weights)?;
        let start = self.sizes(&left);
        let (mut steps, mut residual) = (0, 1.0);
        for _ in 0..ROUNDS {
            // Further than this the digits of the values do not lead.
            let tol = (0.5 * TOL / residual).max(SINGLE);
            let method = ConjugateGradients { tol, steps: STEPS, run };
            let found = method.solve(left, apply, |r| self.preconditioned(r))?;
            w += &found.w;
            steps += found.steps;
            left = self.without_ridge(self.operator.residual_moments(y, w.as_ref(), weights)?, &w);
            let sizes = self.sizes(&left);
            residual = sizes.iter().zip(&start).map(|(now, before)| now / before).fold(0.0, f64::max);
            let verdict = Verdict::measured(residual, TOL);
            if verdict.converged() {
                return Ok(Some(Judged { w, steps, verdict }));
            }
        }
        Ok(None)
    }

    fn zeros(&self, rows: usize) -> Mat<f64> {
        Mat::zeros(rows, self.centred.y.ncols())
    }

    fn preconditioned(&self, r: &Mat<f64>) -> Mat<f64> {
        let mut out = r.clone();
        self.factor.solve_in_place(out.as_mut());
        out
    }

    /// The length of each column in the norm of the preconditioner.
    fn sizes(&self, r: &Mat<f64>) -> Vec<f64> {
        let squares = dots(r, &self.preconditioned(r));
        squares.into_iter().map(|s| s.max(f64::MIN_POSITIVE).sqrt()).collect()
    }

    /// Moments − λ₀·K_mm·w.
    fn without_ridge(&self, mut moments: Mat<f64>, w: &Mat<f64>) -> Mat<f64> {
        moments -= linalg::mul(self.gram, w.as_ref()) * faer::Scale(1.0 / self.penalty);
        moments
    }
}

fn preconditioner<T: Scalar>(
    at: &LandmarkKernel<T>,
    x: SamplesRef<'_, T>,
    weights: Option<&[f64]>,
    penalty: f64,
    run: &Run,
) -> Result<Option<SymmetricFactor<f64>>> {
    let (n, m) = (x.count(), at.gram.nrows());
    let picked = random::subset(n, (SAMPLED * m).min(n), &mut random::generator(run.seed, Purpose::RidgeSample));
    let scale = n as f64 / picked.len() as f64;
    let mut k = at.values(x.select(&picked).as_ref(), run)?;
    for (at, &i) in picked.iter().enumerate() {
        let root = (scale * weights.map_or(1.0, |w| w[i])).sqrt();
        k.row_mut(at).iter_mut().for_each(|v| *v *= root);
    }
    let mut matrix = linalg::gram_lower(k.transpose(), 1.0);
    matrix.col_iter_mut().zip(at.gram.col_iter()).for_each(|(out, gram)| {
        out.iter_mut().zip(gram.iter()).for_each(|(o, g)| *o += g / penalty);
    });
    let factor = SymmetricFactor::definite(matrix);
    Ok(factor
        .filter(|factor| matches!(factor, SymmetricFactor::Definite(lower) if condition(lower.as_ref()) < CONDITION)))
}

/// The square of the largest over the smallest entry of the diagonal.
fn condition(lower: MatRef<'_, f64>) -> f64 {
    let (least, most) = (0..lower.nrows())
        .map(|i| lower[(i, i)])
        .fold((f64::INFINITY, 0.0_f64), |(least, most), v| (least.min(v), most.max(v)));
    (most / least).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Samples;
    use crate::data::synth;
    use crate::kernel::KernelSpec;
    use crate::solvers::landmarks::Landmarks;

    fn problem<T: Scalar>(picked: Vec<usize>) -> (LandmarkKernel<T>, Samples<T>, Mat<f64>) {
        let x = synth::gaussian::<T>(3000, 3, 5);
        let y = Mat::from_fn(3000, 2, |i, c| x[(i, c)].as_f64().sin());
        let x = Samples::Dense(x);
        let kernel = KernelSpec::new("rbf").with("gamma", 0.5);
        let at = LandmarkKernel::new(&kernel, x.as_ref(), Landmarks::Indices(picked), &Run::default()).unwrap();
        (at, x, y)
    }

    fn solves_the_normal_equations<T: Scalar>(tol: f64) {
        let (at, x, y) = problem::<T>((0..80).collect());
        let weights: Vec<f64> = (0..3000).map(|i| 0.5 + f64::from(i % 3)).collect();
        let centred = Centred::of(y.as_ref(), Some(&weights));
        let found = solve(&at, x.as_ref(), &centred, 10.0, &Run::default()).unwrap().unwrap();
        let moments = at.moments(x.as_ref(), centred.y.as_ref(), Some(&weights), &Run::default()).unwrap();
        let left = (&moments.gram + &at.gram * faer::Scale(0.1)) * &found.w - &moments.cross;
        assert!(left.norm_max() < tol * moments.cross.norm_max(), "{}", left.norm_max());
        assert!(found.steps <= 20, "{}", found.steps);
    }

    #[test]
    fn passes_solve_the_normal_equations() {
        solves_the_normal_equations::<f64>(1e-4);
        solves_the_normal_equations::<f32>(1e-3);
    }

    #[test]
    fn repeated_landmarks_are_left_to_the_features() {
        let (at, x, y) = problem::<f64>((0..80).chain([4]).collect());
        let centred = Centred::of(y.as_ref(), None);
        assert!(solve(&at, x.as_ref(), &centred, 10.0, &Run::default()).unwrap().is_none());
    }

    #[test]
    fn passes_are_for_many_samples_of_few_coordinates() {
        assert!(worthwhile(100_000, 1000, 20));
        assert!(!worthwhile(100_000, 100, 20) && !worthwhile(20_000, 1000, 20) && !worthwhile(100_000, 1000, 500));
    }
}

//! Orthonormal bases of the span of landmarks.
//!
//! | [`NystromMethod`] | looks at the samples | decomposes | take it |
//! | --- | --- | --- | --- |
//! | `Standard` | no | K_mm, m×m | by default |
//! | `OneShot` | yes | K_mm and FᵀF | to keep few directions out of many landmarks |
//! | `Double` | yes | a part of K_mm, l×l | for many landmarks and few directions |
//! | `MultiScale` | yes | likewise, scale by scale | likewise, where l landmarks alone are too rough |

use super::{KernelFunctions, LandmarkKernel};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::data::samples::SamplesRef;
use faer::{Mat, MatRef};
use rand::seq::SliceRandom;

/// How A with AᵀK_mm·A = I is found; B = C·A is the orthonormal basis.
///
/// ```
/// use lopsided::solvers::lowrank::NystromMethod;
///
/// assert_eq!("one-shot".parse::<NystromMethod>()?, NystromMethod::OneShot);
/// assert_eq!(NystromMethod::default().to_string(), "standard");
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NystromMethod {
    /// K_mm = V·Λ·Vᵀ, A = V·Λ^(−1/2): all of the span of the landmarks, or its leading directions.
    #[default]
    Standard,
    /// The directions of the span along which the samples vary most: A = V·Λ^(−1/2)·U with the leading eigenvectors U of
    /// the standard method's FᵀF.
    OneShot,
    /// One shot within the directions that l of the landmarks span, spread over all of them.
    Double,
    /// As double, spread from l landmarks over 2l, 4l, … to all.
    MultiScale,
}

words!(NystromMethod, "Nyström method": Standard = "standard", OneShot = "one-shot", Double = "double",
    MultiScale = "multi-scale");

/// A Nyström method and the number of basis vectors s it keeps (\[NKM\] §III-B).
///
/// Directions with eigenvalues of K_mm up to ε·m·λ_max are dropped, ε the unit round-off of the samples' precision: repeated
/// landmarks and singular K_mm do no harm.
///
/// # Departures
/// \[NKM\] names the methods and refers to others for them. Here scales S_0 ⊂ S_1 ⊂ … of the landmarks carry a basis
/// C_{S_i}·A_i upwards by A_{i+1} = orth(K\[S_{i+1}, S_i\]·A_i·Λ_i^(−1/2)), orthonormal with respect to K_mm, a step of subspace
/// iteration, so that no decomposition is larger than l; then one shot. Λ_i are the eigenvalues that A_i was divided by: without
/// them the step would square the spectrum, and directions below √ε would be lost. The double method has the scales l and m, the
/// multi-scale method l, 2l, 4l, …, m. l is 2s for a given s. Without one nothing but rounding is left out: l grows from ⌈m/8⌉
/// by doubling until the projection of the landmarks on l of them misses at most the part √ε of tr K_mm (ε·m in single
/// precision), and s is all that is found; where the spectrum does not decay, that is m and the method is one shot.
///
/// # Cost
/// Standard m³, one shot m³ + n·m², double and multi-scale l³ + m²·l + n·m·l.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::solvers::landmarks::Landmarks;
/// use lopsided::solvers::lowrank::{LandmarkKernel, NystromBasis};
/// use lopsided::{Mat, Run, Samples};
///
/// // One coordinate and the linear kernel: a single landmark spans everything, so F·Fᵀ is K itself.
/// let x = Samples::Dense(Mat::from_fn(3, 1, |i, _| (i + 1) as f64));
/// let (kernel, run) = (KernelSpec::new("linear"), Run::default());
/// let at = LandmarkKernel::new(&kernel, x.as_ref(), Landmarks::Indices(vec![1]), &run)?;
/// let f = NystromBasis::default().fit(&at, x.as_ref(), &run)?.apply(x.as_ref(), &run)?;
/// assert!(((&f * f.transpose())[(0, 2)] - 3.0).abs() < 1e-12); // 1·3
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NystromBasis {
    /// The method.
    pub method: NystromMethod,
    /// Most basis vectors; `None`: all that the method finds.
    pub truncate: Option<usize>,
}

setters!(NystromBasis: with_method(method: NystromMethod), with_truncate(truncate: usize => Some(truncate)));

impl NystromBasis {
    /// The feature map x ↦ k(x, C)·A; one shot looks at the samples x.
    ///
    /// # Errors
    /// [`Error::Param`] for more basis vectors than landmarks, or a kernel that is not positive semidefinite.
    pub fn fit<T: Scalar>(
        &self,
        at: &LandmarkKernel<T>,
        x: SamplesRef<'_, T>,
        run: &Run,
    ) -> Result<KernelFunctions<T>> {
        let m = at.gram.nrows();
        if let Some(s) = self.truncate.filter(|s| *s == 0 || *s > m) {
            return Err(Error::param("truncate", s, format!("between 1 and the number of landmarks, {m}")));
        }
        let most = self.truncate.unwrap_or(m);
        let kmm = at.gram.as_ref();
        match self.method {
            NystromMethod::Standard => Ok(at.functions(inverse_root::<T>(kmm, most)?)),
            NystromMethod::OneShot => one_shot(&at.functions(inverse_root::<T>(kmm, m)?), x, most, run),
            NystromMethod::Double | NystromMethod::MultiScale => {
                let shuffled = Shuffled::new(kmm, run.seed);
                let least = match self.truncate {
                    Some(s) => (2 * s).min(m),
                    None => shuffled.smallest_scale::<T>(run)?,
                };
                let a = shuffled.spread::<T>(&self.scales(least, m), run)?;
                one_shot(&at.functions(a), x, most, run)
            }
        }
    }

    /// l and m for the double method, l, 2l, 4l, … and m for the multi-scale one; m alone where l has reached it.
    fn scales(&self, least: usize, m: usize) -> Vec<usize> {
        let mut sizes = vec![least];
        if self.method == NystromMethod::MultiScale {
            sizes.extend(std::iter::successors(Some(2 * least), |l| Some(2 * l)).take_while(|l| *l < m));
        }
        sizes.extend((least < m).then_some(m));
        sizes
    }
}

/// V·Λ^(−1/2) of the leading eigenpairs of K_mm, at most so many, without those lost in rounding.
pub(crate) fn inverse_root<T: Scalar>(kmm: MatRef<'_, f64>, most: usize) -> Result<Mat<f64>> {
    inverse_root_and_values::<T>(kmm, most).map(|(root, _)| root)
}

/// The same and Λ.
fn inverse_root_and_values<T: Scalar>(kmm: MatRef<'_, f64>, most: usize) -> Result<(Mat<f64>, Vec<f64>)> {
    let not_finite = || Error::param("kernel", "not finite at the landmarks", "finite");
    let (values, vectors) = linalg::eigen(kmm).ok_or_else(not_finite)?;
    let largest = values.first().copied().unwrap_or(0.0);
    let least = values.last().copied().unwrap_or(0.0);
    if !(largest.is_finite() && least.is_finite()) {
        return Err(not_finite());
    }
    if largest <= 0.0 || least < -T::eps().sqrt() * largest {
        let value = format!("of eigenvalues {least:.3e} to {largest:.3e} at the landmarks");
        return Err(Error::param("kernel", value, "positive semidefinite and not zero"));
    }
    let cut = largest * T::eps() * values.len() as f64;
    let kept = values.iter().take(most).take_while(|v| **v > cut).count();
    Ok((Mat::from_fn(kmm.nrows(), kept, |i, j| vectors[(i, j)] / values[j].sqrt()), values[..kept].to_vec()))
}

/// The combinations of orthonormal features along which samples vary most.
fn one_shot<T: Scalar>(
    features: &KernelFunctions<T>,
    x: SamplesRef<'_, T>,
    most: usize,
    run: &Run,
) -> Result<KernelFunctions<T>> {
    let gram = features.moments(x, Mat::zeros(x.count(), 0).as_ref(), None, run)?.gram;
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let (_, vectors) = linalg::eigen(gram.as_ref()).ok_or_else(not_finite)?;
    Ok(features.combined(vectors.as_ref().subcols(0, most.min(features.count()))))
}

/// K_mm with the landmarks in the order in which scales take them.
struct Shuffled<'a> {
    kmm: MatRef<'a, f64>,
    order: Vec<usize>,
}

impl<'a> Shuffled<'a> {
    fn new(kmm: MatRef<'a, f64>, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..kmm.nrows()).collect();
        order.shuffle(&mut random::generator(seed, Purpose::BasisOrder));
        Shuffled { kmm, order }
    }

    /// The block of the first landmarks.
    fn block(&self, rows: usize, cols: usize) -> Mat<f64> {
        Mat::from_fn(rows, cols, |i, j| self.kmm[(self.order[i], self.order[j])])
    }

    /// The fewest landmarks, ⌈m/8⌉ times a power of two, that span all of them but for a negligible part; at most m.
    fn smallest_scale<T: Scalar>(&self, run: &Run) -> Result<usize> {
        let m = self.order.len();
        let all: f64 = (0..m).map(|i| self.kmm[(i, i)]).sum();
        // Squares of projections are rounded to √ε where eigenvalues are as small as ε.
        let negligible = all * f64::EPSILON.sqrt().max(T::eps() * m as f64);
        let mut size = m.div_ceil(8);
        while size < m {
            run.watch.check()?;
            let root = inverse_root::<T>(self.block(size, size).as_ref(), size)?;
            let projected = linalg::mul(self.block(m, size).as_ref(), root.as_ref());
            let seen: f64 = projected.col_iter().map(|column| column.squared_norm_l2()).sum();
            if all - seen <= negligible {
                return Ok(size);
            }
            size *= 2;
        }
        Ok(m)
    }

    /// A basis found from the smallest scale and carried upwards.
    ///
    /// 1. A_0 = V·Λ^(−1/2) of the smallest scale's block.
    /// 2. To the next scale: Y = K\[next, this\]·A·Λ^(−1/2), made orthonormal with respect to the larger block.
    /// 3. Rows are put back where the shuffle took them from.
    fn spread<T: Scalar>(&self, scales: &[usize], run: &Run) -> Result<Mat<f64>> {
        let mut size = scales[0];
        let (mut a, mut values) = inverse_root_and_values::<T>(self.block(size, size).as_ref(), size)?;
        for &next in &scales[1..] {
            run.watch.check()?;
            let flat = Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] / values[j].sqrt());
            let y = linalg::mul(self.block(next, size).as_ref(), flat.as_ref());
            (a, values) = orthonormal::<T>(&y, self.block(next, next).as_ref())?;
            size = next;
        }
        let mut out = Mat::zeros(self.kmm.nrows(), a.ncols());
        (0..size).for_each(|i| out.row_mut(self.order[i]).copy_from(a.row(i)));
        Ok(out)
    }
}

/// The same span with yᵀ·K·y = I, and the eigenvalues it was divided by; twice, since once leaves rounding errors of the
/// condition number.
fn orthonormal<T: Scalar>(y: &Mat<f64>, k: MatRef<'_, f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    let gram =
        |y: &Mat<f64>| super::symmetric_part(&linalg::transpose_mul(y.as_ref(), linalg::mul(k, y.as_ref()).as_ref()));
    let (root, values) = inverse_root_and_values::<T>(gram(y).as_ref(), y.ncols())?;
    let once = linalg::mul(y.as_ref(), root.as_ref());
    // The second time nothing is dropped and nothing much turns, since the matrix is the unit one but for rounding.
    let lower = linalg::lower_factor(gram(&once)).ok_or_else(not_definite)?;
    let inverse = linalg::lower_inverse(lower.as_ref());
    Ok((linalg::mul(once.as_ref(), inverse.transpose()), values))
}

fn not_definite() -> Error {
    Error::param("kernel", "not positive semidefinite at the landmarks", "positive semidefinite")
}

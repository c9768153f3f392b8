//! Low-rank forms of a positive kernel: landmarks, orthonormal bases of their span, feature maps (\[NKM\] §II-C, §III).
//!
//! With landmarks C in feature space a Nyström method finds A with AᵀK_mm·A = I. The basis B = C·A gives every sample x the
//! features k(x, C)·A, whose scalar products K̃ = K_nm·A·Aᵀ·K_mn stand for K. Linear machines on them are kernel machines on
//! the samples projected onto the span of B.
//!
//! ```
//! use lopsided::kernel::KernelSpec;
//! use lopsided::solvers::landmarks::Landmarks;
//! use lopsided::solvers::lowrank::{LandmarkKernel, NystromBasis};
//! use lopsided::{Mat, Run, Samples};
//!
//! let x = Samples::Dense(Mat::from_fn(50, 2, |i, j| ((i * (j + 3)) % 17) as f64 / 17.0));
//! let kernel = KernelSpec::new("rbf").with("gamma", 1.0);
//! let run = Run::default();
//! let landmarks = Landmarks::Indices(vec![0, 5, 11, 20, 31, 31]);
//! let at_landmarks = LandmarkKernel::new(&kernel, x.as_ref(), landmarks, &run)?;
//! let map = NystromBasis::default().fit(&at_landmarks, x.as_ref(), &run)?;
//! let features = map.apply(x.as_ref(), &run)?; // one row per sample, f64, for any linear machine
//! assert_eq!(features.shape(), (50, 5)); // the repeated landmark adds nothing
//! # Ok::<(), lopsided::Error>(())
//! ```
//!
//! | step | type | what it is |
//! | --- | --- | --- |
//! | landmarks | [`crate::solvers::landmarks::Landmarks`] | samples, points, or combinations of samples |
//! | their kernel | [`LandmarkKernel`] | k(x, C) for any x, and K_mm |
//! | a basis | [`NystromBasis`] | A, by one of four methods |
//! | features | [`KernelFunctions`] | x ↦ k(x, C)·A, evaluated in tiles |
//! | sums of features | [`Moments`] | FᵀWF and FᵀWY, all that ridge regression needs |
//!
//! The approaches of \[NKM\] follow from these: LLA is a linear machine on the features, GSA takes α̂ = G⁺ŵ back to all
//! samples, and NCR solves Eq. (11) from the moments of k(x, C) without any basis.

mod basis;
mod functions;

pub(crate) use basis::inverse_root;
pub use basis::{NystromBasis, NystromMethod};
pub use functions::{Anchors, KernelFunctions, Moments};

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::kernel::KernelSpec;
use crate::solvers::landmarks::Landmarks;
use faer::{Mat, MatRef};

/// The kernel between samples and landmarks, k(x, C), and among landmarks, K_mm.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::solvers::landmarks::Landmarks;
/// use lopsided::solvers::lowrank::LandmarkKernel;
/// use lopsided::{Mat, Run, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(3, 1, |i, _| (i + 1) as f64)); // 1, 2, 3
/// let run = Run::default();
/// let at = LandmarkKernel::new(&KernelSpec::new("linear"), x.as_ref(), Landmarks::Indices(vec![0, 2]), &run)?;
/// assert_eq!((at.gram[(0, 1)], at.gram[(1, 1)]), (3.0, 9.0)); // 1·3 and 3·3
/// assert_eq!(at.values(x.as_ref(), &run)?[(1, 1)], 6.0); // 2·3
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LandmarkKernel<T> {
    kernel: KernelSpec,
    anchors: Anchors<T>,
    /// P for landmarks Φ(X)·P, whose anchors are all samples.
    sketch: Option<Mat<f64>>,
    /// K_mm.
    pub gram: Mat<f64>,
}

impl<T: Scalar> LandmarkKernel<T> {
    /// The kernel at landmarks of the samples x; for a precomputed kernel x is the kernel matrix itself.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel that is not symmetric, for no landmarks, an index that is no sample, points that a
    /// precomputed kernel cannot be evaluated at; [`Error::Shape`] for points of another width.
    pub fn new(kernel: &KernelSpec, x: SamplesRef<'_, T>, landmarks: Landmarks<T>, run: &Run) -> Result<Self> {
        check_symmetric::<T>(kernel)?;
        let (n, given) = (x.count(), landmarks.count());
        if given == 0 {
            return Err(Error::param("landmarks", 0, "at least 1"));
        }
        let precomputed = kernel.build::<T>()?.is_precomputed();
        match landmarks {
            Landmarks::Indices(picked) => {
                if let Some(beyond) = picked.iter().find(|i| **i >= n) {
                    return Err(Error::param("landmarks", format!("{beyond}"), format!("below {n}, the samples")));
                }
                let own = x.select(&picked);
                let anchors = Anchors::of_samples(x, &picked, precomputed);
                Self::at(kernel, anchors, own.as_ref(), run)
            }
            Landmarks::Points(_) if precomputed => {
                Err(Error::param("landmarks", "points", "samples for a precomputed kernel, which is known only there"))
            }
            Landmarks::Points(points) => {
                if points.width() != x.width() {
                    return Err(Error::shape("the width of the landmarks", x.width(), points.width()));
                }
                points.check_finite("the landmarks")?;
                Self::at(kernel, Anchors::Points(points.clone()), points.as_ref(), run)
            }
            Landmarks::Sketch(p) => Self::sketched(kernel, x, p, run),
        }
    }

    fn at(kernel: &KernelSpec, anchors: Anchors<T>, own: SamplesRef<'_, T>, run: &Run) -> Result<Self> {
        let gram = symmetric_part(&anchors.values(kernel, own, run)?);
        Ok(LandmarkKernel { kernel: kernel.clone(), anchors, sketch: None, gram })
    }

    /// C = Φ(X)·P: k(x, C) = k(x, X)·P and K_mm = Pᵀ·K·P.
    fn sketched(kernel: &KernelSpec, x: SamplesRef<'_, T>, p: Mat<f64>, run: &Run) -> Result<Self> {
        if p.nrows() != x.count() {
            return Err(Error::shape("the number of rows of the sketch", x.count(), p.nrows()));
        }
        let all: Vec<usize> = (0..x.count()).collect();
        let anchors = Anchors::of_samples(x, &all, kernel.build::<T>()?.is_precomputed());
        let mut out = LandmarkKernel { kernel: kernel.clone(), anchors, sketch: Some(p), gram: Mat::zeros(0, 0) };
        let image = out.values(x, run)?;
        out.gram = out.sketch.as_ref().map_or(Mat::zeros(0, 0), |p| linalg::transpose_mul(p.as_ref(), image.as_ref()));
        out.gram = symmetric_part(&out.gram);
        Ok(out)
    }

    /// k(x, C), a row for each sample.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another width, [`Error::Interrupted`].
    pub fn values(&self, x: SamplesRef<'_, T>, run: &Run) -> Result<Mat<f64>> {
        match &self.sketch {
            None => self.anchors.values(&self.kernel, x, run),
            Some(p) => KernelFunctions::new(&self.kernel, self.anchors.clone(), p.clone()).apply(x, run),
        }
    }

    /// The kernel and the landmarks as samples; `None` where they are none.
    pub(crate) fn points(&self) -> Option<(&KernelSpec, SamplesRef<'_, T>)> {
        match (&self.sketch, &self.anchors) {
            (None, Anchors::Points(points)) => Some((&self.kernel, points.as_ref())),
            _ => None,
        }
    }

    /// The functions k(·, C)·a.
    ///
    /// With A of a basis these are its features; with coefficients of a machine, what it has learned. For a sketch the
    /// weights become P·a on all samples.
    pub fn functions(&self, a: Mat<f64>) -> KernelFunctions<T> {
        let weights = match &self.sketch {
            None => a,
            Some(p) => linalg::mul(p.as_ref(), a.as_ref()),
        };
        KernelFunctions::new(&self.kernel, self.anchors.clone(), weights)
    }

    /// K_mn·W·K_nm and K_mn·W·Y, in blocks of samples.
    ///
    /// # Errors
    /// Those of [`LandmarkKernel::values`].
    pub fn moments(
        &self,
        x: SamplesRef<'_, T>,
        y: MatRef<'_, f64>,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Moments> {
        Moments::of(self.gram.nrows(), (x, y, weights), run, |x| self.values(x, run))
    }
}

/// Refuses kernels whose matrix over one set of samples is not symmetric.
///
/// # Errors
/// [`Error::Param`] with the kernels that will do.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::solvers::lowrank::check_symmetric;
///
/// assert!(check_symmetric::<f64>(&KernelSpec::new("rbf").with("gamma", 1.0)).is_ok());
/// // Rows of SNE are divided by their sums, which takes the symmetry away.
/// assert!(check_symmetric::<f64>(&KernelSpec::new("sne").with("gamma", 1.0)).is_err());
/// ```
pub fn check_symmetric<T: Scalar>(kernel: &KernelSpec) -> Result<()> {
    kernel.build::<T>()?;
    if kernel.is_symmetric() || kernel.is_precomputed() {
        return Ok(());
    }
    Err(Error::param("kernel", &kernel.name, "symmetric and positive: linear, poly, rbf, laplacian or precomputed"))
}

/// (A + Aᵀ)/2.
fn symmetric_part(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]))
}

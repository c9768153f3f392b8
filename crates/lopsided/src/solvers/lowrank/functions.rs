//! Functions Σ_j k(·, z_j)·w_j: feature maps and learned machines alike, evaluated in tiles and never as a whole kernel
//! matrix.

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::archive::Archive;
use crate::data::samples::{Samples, SamplesRef};
use crate::kernel::{Kernel, KernelSpec};
use faer::prelude::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use rayon::prelude::*;

/// Samples handled as one piece.
const TILE: usize = 256;
/// Anchors handled as one piece.
const STRIP: usize = 1024;
/// Samples whose features are held at once where only sums are wanted.
const BLOCK: usize = 4096;

/// What kernel values are taken with.
///
/// A precomputed kernel knows no points, only its columns: anchors are then numbers of columns, and samples are rows of
/// the matrix.
#[derive(Clone, Debug)]
pub enum Anchors<T> {
    /// Points of the space of the samples.
    Points(Samples<T>),
    /// Columns of a precomputed kernel matrix, whose rows the samples are.
    Columns {
        /// Which.
        picked: Vec<usize>,
        /// How many the matrix has.
        width: usize,
    },
}

impl<T: Scalar> Anchors<T> {
    /// Some of the samples a kernel is given on.
    pub(crate) fn of_samples(x: SamplesRef<'_, T>, picked: &[usize], precomputed: bool) -> Self {
        if precomputed {
            return Anchors::Columns { picked: picked.to_vec(), width: x.width() };
        }
        Anchors::Points(x.select(picked))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Anchors::Points(points) => points.count(),
            Anchors::Columns { picked, .. } => picked.len(),
        }
    }

    /// Coordinates a sample must have.
    pub fn width(&self) -> usize {
        match self {
            Anchors::Points(points) => points.width(),
            Anchors::Columns { width, .. } => *width,
        }
    }

    /// k(x, anchors), all of it.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another width; [`Error::Interrupted`].
    pub fn values(&self, kernel: &KernelSpec, x: SamplesRef<'_, T>, run: &Run) -> Result<Mat<f64>> {
        self.check_width(x)?;
        let kernel = kernel.build::<T>()?;
        let mut out = Mat::zeros(x.count(), self.count());
        out.as_mut().par_row_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            let rows = x.subrows(at * TILE, out.nrows());
            self.for_each_strip(&*kernel, rows, run, |start, strip| {
                out.rb_mut().subcols_mut(start, strip.ncols()).copy_from(strip);
            })
        })?;
        Ok(out)
    }

    /// Shows k(x, anchors) in strips of columns, each with the number of its first.
    fn for_each_strip(
        &self,
        kernel: &dyn Kernel<T>,
        x: SamplesRef<'_, T>,
        run: &Run,
        mut visit: impl FnMut(usize, Mat<f64>),
    ) -> Result<()> {
        for start in (0..self.count()).step_by(STRIP) {
            let mut strip = Mat::<T>::zeros(x.count(), STRIP.min(self.count() - start));
            self.block(kernel, x, start, strip.as_mut(), run)?;
            visit(start, Mat::from_fn(x.count(), strip.ncols(), |i, j| strip[(i, j)].as_f64()));
        }
        Ok(())
    }

    fn check_width(&self, x: SamplesRef<'_, T>) -> Result<()> {
        if x.width() == self.width() {
            return Ok(());
        }
        Err(Error::shape("the width of the new rows", self.width(), x.width()))
    }

    /// out ← k(x, anchors `start`, `start` + 1, …).
    fn block(
        &self,
        kernel: &dyn Kernel<T>,
        x: SamplesRef<'_, T>,
        start: usize,
        mut out: MatMut<'_, T>,
        run: &Run,
    ) -> Result<()> {
        match self {
            Anchors::Points(points) => {
                run.watch.evaluating(out.nrows() * out.ncols())?;
                kernel.block(x, points.as_ref().subrows(start, out.ncols()), out)
            }
            Anchors::Columns { picked, .. } => {
                run.watch.check()?;
                let mut place = vec![Vec::new(); self.width()];
                (0..out.ncols()).for_each(|j| place[picked[start + j]].push(j));
                out.fill(T::zero());
                (0..x.count()).for_each(|i| x.for_each(i, |k, v| place[k].iter().for_each(|&j| out[(i, j)] = v)));
                Ok(())
            }
        }
    }
}

/// Functions f_c(x) = Σ_j k(x, z_j)·weights\[j, c\] + bias\[c\]: feature maps, and what kernel machines learn.
///
/// # Cost
/// n·anchors kernel values and n·anchors·functions operations for n samples.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::solvers::lowrank::{Anchors, KernelFunctions};
/// use lopsided::{Mat, Run, Samples};
///
/// let one = Anchors::Points(Samples::Dense(Mat::from_fn(1, 1, |_, _| 1.0)));
/// let f = KernelFunctions::new(&KernelSpec::new("linear"), one, Mat::from_fn(1, 1, |_, _| 2.0)); // f(x) = 2·x
/// let x = Samples::Dense(Mat::from_fn(2, 1, |i, _| [1.0, 3.0][i]));
/// assert_eq!(f.apply(x.as_ref(), &Run::default())?[(1, 0)], 6.0);
/// let sums = f.moments(x.as_ref(), Mat::zeros(2, 0).as_ref(), None, &Run::default())?;
/// assert_eq!((sums.gram[(0, 0)], sums.sums[0]), (40.0, 8.0)); // 2² + 6² and 2 + 6
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelFunctions<T> {
    /// The kernel with its gamma.
    pub kernel: KernelSpec,
    /// z_j.
    pub anchors: Anchors<T>,
    /// A row for each anchor, a column for each function.
    pub weights: Mat<f64>,
    /// One for each function.
    pub bias: Vec<f64>,
}

/// Sums over samples of the values f of functions: FᵀWF, FᵀWY and Fᵀw with the weights w of the samples.
///
/// Nothing else of the samples is needed to solve (FᵀWF + λI)·w = FᵀWY, however many there are.
#[derive(Clone, Debug)]
pub struct Moments {
    /// FᵀWF.
    pub gram: Mat<f64>,
    /// FᵀWY.
    pub cross: Mat<f64>,
    /// Fᵀw.
    pub sums: Vec<f64>,
}

impl<T: Scalar> KernelFunctions<T> {
    /// Functions without bias.
    ///
    /// # Panics
    /// If there is not one row of weights for each anchor.
    pub fn new(kernel: &KernelSpec, anchors: Anchors<T>, weights: Mat<f64>) -> Self {
        assert_eq!(anchors.count(), weights.nrows(), "a row of weights for each anchor");
        KernelFunctions { kernel: kernel.clone(), anchors, bias: vec![0.0; weights.ncols()], weights }
    }

    /// Linear combinations of these functions, one for each column of `h`.
    pub fn combined(&self, h: MatRef<'_, f64>) -> Self {
        let bias = (0..h.ncols()).map(|c| (0..h.nrows()).map(|j| self.bias[j] * h[(j, c)]).sum()).collect();
        let weights = linalg::mul(self.weights.as_ref(), h);
        KernelFunctions { kernel: self.kernel.clone(), anchors: self.anchors.clone(), weights, bias }
    }

    /// Number of functions.
    pub fn count(&self) -> usize {
        self.weights.ncols()
    }

    /// The values at samples, a row for each; tiles of kernel values are all that is held besides.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another width, [`Error::NotFinite`], [`Error::Interrupted`].
    pub fn apply(&self, x: SamplesRef<'_, T>, run: &Run) -> Result<Mat<f64>> {
        self.anchors.check_width(x)?;
        let kernel = self.kernel.build::<T>()?;
        let mut out = Mat::from_fn(x.count(), self.count(), |_, c| self.bias[c]);
        out.as_mut().par_row_chunks_mut(TILE).enumerate().try_for_each(|(at, mut out)| {
            let rows = x.subrows(at * TILE, out.nrows());
            self.anchors.for_each_strip(&*kernel, rows, run, |start, strip| {
                linalg::gemm(out.rb_mut(), strip.as_ref(), self.weights.as_ref().subrows(start, strip.ncols()), 1.0);
            })
        })?;
        Ok(out)
    }

    /// Sums over samples in blocks, in order, so that the values of all samples are never held.
    ///
    /// `y` has a row for each sample, `weights` an entry; `None`: all 1.
    pub fn moments(
        &self,
        x: SamplesRef<'_, T>,
        y: MatRef<'_, f64>,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Moments> {
        Moments::of(self.count(), (x, y, weights), run, |x| self.apply(x, run))
    }

    /// Adds the functions to an archive.
    pub(crate) fn put(&self, archive: &mut Archive) {
        archive.set_field("kernel", &self.kernel);
        archive.set_matrix("weights", self.weights.as_ref());
        archive.set_vector("bias", &self.bias);
        match &self.anchors {
            Anchors::Points(points) => archive.set_samples("anchors", points.as_ref()),
            Anchors::Columns { picked, width } => {
                archive.set_field("anchors.picked", picked);
                archive.set_field("anchors.columns", width);
            }
        }
    }

    /// The functions of an archive.
    pub(crate) fn take(archive: &Archive) -> Result<Self> {
        let anchors = match archive.field::<Option<usize>>("anchors.columns")? {
            Some(width) => Anchors::Columns { picked: archive.field("anchors.picked")?, width },
            None => Anchors::Points(archive.samples("anchors")?),
        };
        let kernel: KernelSpec = archive.field("kernel")?;
        let functions =
            KernelFunctions { kernel, anchors, weights: archive.matrix("weights")?, bias: archive.vector("bias")? };
        let columns = |picked: &[usize], width: usize| picked.iter().all(|j| *j < width);
        let fits = functions.weights.nrows() == functions.anchors.count()
            && functions.bias.len() == functions.count()
            && functions.kernel.build::<T>()?.is_precomputed() == matches!(functions.anchors, Anchors::Columns { .. })
            && match &functions.anchors {
                Anchors::Points(points) => points.check_finite("anchors").is_ok(),
                Anchors::Columns { picked, width } => columns(picked, *width),
            };
        if fits { Ok(functions) } else { Err(archive.error("has arrays whose sizes do not fit together")) }
    }
}

impl Moments {
    /// Sums over samples x with targets y and weights, of the values that `features` gives blocks of them.
    pub(super) fn of<T: Scalar>(
        count: usize,
        (x, y, weights): (SamplesRef<'_, T>, MatRef<'_, f64>, Option<&[f64]>),
        run: &Run,
        features: impl Fn(SamplesRef<'_, T>) -> Result<Mat<f64>>,
    ) -> Result<Self> {
        let (n, zeros) = (x.count(), |cols| Mat::zeros(count, cols));
        let mut out = Moments { gram: zeros(count), cross: zeros(y.ncols()), sums: vec![0.0; count] };
        for start in (0..n).step_by(BLOCK) {
            run.watch.report(Progress { stage: "features", done: start as u64, total: n as u64, residual: None })?;
            let len = BLOCK.min(n - start);
            let f = features(x.subrows(start, len))?;
            out.add(f.as_ref(), y.subrows(start, len), weights.map(|w| &w[start..start + len]));
        }
        out.gram = linalg::mirrored(out.gram.as_ref());
        Ok(out)
    }

    /// Adds the sums over some more samples.
    fn add(&mut self, f: MatRef<'_, f64>, y: MatRef<'_, f64>, weights: Option<&[f64]>) {
        let Some(weights) = weights else {
            linalg::add_gram_lower(self.gram.as_mut(), f.transpose(), 1.0);
            self.cross += linalg::transpose_mul(f, y);
            return self.add_sums(f);
        };
        let roots: Vec<f64> = weights.iter().map(|w| w.sqrt()).collect();
        let half = Mat::from_fn(f.nrows(), f.ncols(), |i, j| roots[i] * f[(i, j)]);
        linalg::add_gram_lower(self.gram.as_mut(), half.transpose(), 1.0);
        let weighted = Mat::from_fn(f.nrows(), f.ncols(), |i, j| weights[i] * f[(i, j)]);
        self.cross += linalg::transpose_mul(weighted.as_ref(), y);
        self.add_sums(weighted.as_ref());
    }

    fn add_sums(&mut self, weighted: MatRef<'_, f64>) {
        let sums = weighted.col_iter().map(|col| col.iter().sum::<f64>());
        self.sums.iter_mut().zip(sums).for_each(|(all, part)| *all += part);
    }
}

use super::approximation::{Approach, Approximation, OwnLandmarks};
use super::errors::GramErrors;
use crate::base::Run;
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::samples::{Csr, Samples, SamplesRef};
use crate::estimators::gram::Gram;
use crate::kernel::KernelSpec;
use crate::operator::{Built, KernelMatrix, OperatorChoice, Widened};
use crate::solvers::landmarks::{self, Landmarks};
use crate::solvers::lowrank::{Anchors, KernelFunctions, LandmarkKernel, check_symmetric};
use faer::Mat;
use std::collections::HashMap;

/// The samples a machine learns from, with their kernel.
pub(in crate::estimators) struct Problem<T> {
    pub(in crate::estimators) kernel: KernelSpec,
    /// The training samples; for a precomputed kernel their rows and columns of the matrix.
    pub(in crate::estimators) x: Samples<T>,
    /// Landmarks of the user's own.
    pub(in crate::estimators) own: Option<Landmarks<T>>,
    /// Columns of the precomputed matrix that are left, and how many there were.
    columns: Option<(Vec<usize>, usize)>,
    pub(in crate::estimators) memory: u64,
}

impl<T: Scalar> Problem<T> {
    /// The listed rows of the data; rows among `own` are rows of the data as well.
    ///
    /// # Errors
    /// [`Error::Param`] for a graph, two sample sets, an asymmetric kernel, landmarks beyond the data.
    pub(in crate::estimators) fn new(
        gram: &Gram,
        data: &Dataset<T>,
        rows: &[usize],
        own: Option<&OwnLandmarks>,
        run: &Run,
    ) -> Result<Self> {
        if data.frame.is_some() || data.z.is_some() {
            let what = if data.frame.is_some() { "a graph" } else { "two sample sets" };
            let allowed = "a table of samples, which a symmetric kernel compares with each other";
            return Err(Error::param("input", what, allowed));
        }
        let precomputed = gram.kernel.is_precomputed();
        let (n, width) = (data.x.count(), data.x.width());
        if precomputed && n != width {
            return Err(Error::shape("the kernel matrix", "square", format!("{n} x {width}")));
        }
        let x = if rows.len() == n { data.x.clone() } else { restricted(&data.x, rows, precomputed) };
        let training = Dataset::new(x);
        let (kernel, _) = gram.built_kernel(&training, run.seed)?;
        check_symmetric::<T>(&kernel)?;
        let own = own.map(|own| own_landmarks(data, rows, own, precomputed)).transpose()?;
        let columns = precomputed.then(|| (rows.to_vec(), width));
        let memory = gram.bytes();
        let problem = Problem { kernel, x: training.x, own, columns, memory };
        if precomputed && !problem.with_operator(run, |built| landmarks::is_symmetric(&*built.operator))? {
            return Err(Error::param("kernel", "an asymmetric precomputed matrix", "symmetric"));
        }
        Ok(problem)
    }

    /// What `f` makes of entries of the kernel matrix, which is not stored.
    pub(in crate::estimators) fn with_operator<R>(
        &self,
        run: &Run,
        f: impl FnOnce(&Built<'_, T>) -> Result<R>,
    ) -> Result<R> {
        self.with_products(&Run { device: Device::Cpu, ..run.clone() }, f)
    }

    /// What `f` makes of products with it.
    pub(in crate::estimators) fn with_products<R>(
        &self,
        run: &Run,
        f: impl FnOnce(&Built<'_, T>) -> Result<R>,
    ) -> Result<R> {
        self.with_choice(OperatorChoice::Tiles, run, f)
    }

    /// The same with another choice, for many products with all of the kernel matrix.
    pub(in crate::estimators) fn with_choice<R>(
        &self,
        choice: OperatorChoice,
        run: &Run,
        f: impl FnOnce(&Built<'_, T>) -> Result<R>,
    ) -> Result<R> {
        let kernel = self.kernel.build::<T>()?;
        let matrix = KernelMatrix {
            choice,
            memory: self.memory,
            device: run.device,
            fast: run.fast,
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, self.x.as_ref(), self.x.as_ref())
        };
        f(&matrix.build()?)
    }

    /// The kernel at the landmarks.
    pub(in crate::estimators) fn at_landmarks(
        &self,
        approximation: &Approximation,
        run: &Run,
    ) -> Result<LandmarkKernel<T>> {
        self.at(self.landmarks(approximation, run)?, run)
    }

    /// The user's own landmarks, or those of the sampler.
    pub(in crate::estimators) fn landmarks(&self, approximation: &Approximation, run: &Run) -> Result<Landmarks<T>> {
        self.own.as_ref().map_or_else(|| self.placed(approximation, run), |own| Ok(own.clone()))
    }

    /// The kernel at these landmarks.
    pub(in crate::estimators) fn at(&self, landmarks: Landmarks<T>, run: &Run) -> Result<LandmarkKernel<T>> {
        LandmarkKernel::new(&self.kernel, self.x.as_ref(), landmarks, run)
    }

    fn placed(&self, approximation: &Approximation, run: &Run) -> Result<Landmarks<T>> {
        let count = approximation.count_for(self.x.count())?;
        let sampler = landmarks::sampler::<T>(&approximation.sampler, &Settings::default())?;
        if self.columns.is_some() && approximation.sampler == "kmeans" {
            let picked =
                |built: &Built<'_, T>| sampler.pick(&*built.operator, crate::data::samples::Side::Row, count, run.seed);
            return self.with_operator(run, picked).map(Landmarks::Indices);
        }
        self.with_operator(run, |built| sampler.place(&*built.operator, self.x.as_ref(), count, run.seed))
    }

    /// The feature map of new samples, Algorithm 1, and the features F of the training samples.
    pub(in crate::estimators) fn features(
        &self,
        approximation: &Approximation,
        run: &Run,
    ) -> Result<(KernelFunctions<T>, Mat<f64>)> {
        let at = match approximation.approach_for(self.x.count()) {
            Approach::Exact => self.at_all(run)?,
            _ => self.at_landmarks(approximation, run)?,
        };
        self.check_memory("the features of all samples", 3 * 8 * (self.x.count() * at.gram.nrows()) as u64)?;
        let map = approximation.basis.fit(&at, self.x.as_ref(), run)?;
        let f = map.apply(self.x.as_ref(), run)?;
        match approximation.approach_for(self.x.count()) {
            Approach::Gsa => Ok((self.substituted(f.as_ref())?, f)),
            _ => Ok((map, f)),
        }
    }

    /// All samples as landmarks: the exact machine as a linear one.
    fn at_all(&self, run: &Run) -> Result<LandmarkKernel<T>> {
        let n = self.x.count();
        self.check_memory("the exact machine", 5 * 8 * (n * n) as u64)?;
        LandmarkKernel::new(&self.kernel, self.x.as_ref(), Landmarks::Indices((0..n).collect()), run)
    }

    /// The functions k(·, X)·G⁺ with G = Fᵀ, Eq. (20): what LLA learns on F, GSA predicts with these.
    pub(in crate::estimators) fn substituted(&self, f: faer::MatRef<'_, f64>) -> Result<KernelFunctions<T>> {
        Ok(self.over_samples(pseudo_inverse(f)?))
    }

    /// Functions k(·, X)·weights.
    pub(in crate::estimators) fn over_samples(&self, weights: Mat<f64>) -> KernelFunctions<T> {
        let all: Vec<usize> = (0..self.x.count()).collect();
        let anchors = Anchors::of_samples(self.x.as_ref(), &all, self.columns.is_some());
        KernelFunctions::new(&self.kernel, anchors, weights)
    }

    /// K of the training samples.
    pub(in crate::estimators) fn gram(&self, run: &Run) -> Result<Mat<f64>> {
        let n = self.x.count();
        self.check_memory("the exact machine", 3 * 8 * (n * n) as u64)?;
        let all: Vec<usize> = (0..n).collect();
        Anchors::of_samples(self.x.as_ref(), &all, self.columns.is_some()).values(&self.kernel, self.x.as_ref(), run)
    }

    /// ‖K − K̃‖ of the features; K is multiplied but not stored.
    pub(in crate::estimators) fn gram_errors(&self, approximation: &Approximation, run: &Run) -> Result<GramErrors> {
        let approximation = Approximation { approach: Some(Approach::Lla), ..approximation.clone() };
        let (_, f) = self.features(&approximation, run)?;
        self.with_products(run, |built| GramErrors::of(&Widened(&*built.operator), f.as_ref(), run))
    }

    pub(in crate::estimators) fn check_memory(&self, what: &str, needed: u64) -> Result<()> {
        if needed <= self.memory {
            return Ok(());
        }
        let advice = "take fewer landmarks, the approach lla, or allow more memory".into();
        Err(Error::Memory { what: what.into(), needed, available: self.memory, advice })
    }

    /// The same functions for rows of the whole precomputed matrix.
    pub(in crate::estimators) fn restored(&self, mut functions: KernelFunctions<T>) -> KernelFunctions<T> {
        if let (Anchors::Columns { picked, width }, Some((columns, all))) = (&mut functions.anchors, &self.columns) {
            picked.iter_mut().for_each(|j| *j = columns[*j]);
            *width = *all;
        }
        functions
    }
}

/// G⁺ of G = Fᵀ; singular values up to √ε of the largest count as zero.
pub(in crate::estimators) fn pseudo_inverse(f: faer::MatRef<'_, f64>) -> Result<Mat<f64>> {
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let basis = linalg::orthonormalize(f, 0.0).ok_or_else(not_finite)?;
    // F = q·r with r = ΣVᵀ, so G⁺ = q·Σ⁻¹·Vᵀ = q·Σ⁻²·r.
    let squares: Vec<f64> = basis.r.row_iter().map(|row| row.iter().map(|v| v * v).sum()).collect();
    let scaled = Mat::from_fn(basis.r.nrows(), basis.r.ncols(), |i, j| basis.r[(i, j)] / squares[i]);
    Ok(linalg::mul(basis.q.as_ref(), scaled.as_ref()))
}

/// Rows, and for a precomputed kernel the same columns.
pub(in crate::estimators) fn restricted<T: Scalar>(x: &Samples<T>, rows: &[usize], precomputed: bool) -> Samples<T> {
    let picked = x.as_ref().select(rows);
    if precomputed { columns_of(&picked, rows) } else { picked }
}

/// The listed columns.
pub(in crate::estimators) fn columns_of<T: Scalar>(x: &Samples<T>, columns: &[usize]) -> Samples<T> {
    match x.as_ref() {
        SamplesRef::Dense(m) => Samples::Dense(Mat::from_fn(m.nrows(), columns.len(), |i, j| m[(i, columns[j])])),
        SamplesRef::Sparse(s) => {
            let place: HashMap<u32, u32> = columns.iter().zip(0..).map(|(&k, at)| (k as u32, at)).collect();
            let mut out = Csr::empty(columns.len());
            for i in 0..s.nrows() {
                let (cols, vals) = s.row(i);
                let mut row: Vec<(u32, T)> =
                    cols.iter().zip(vals).filter_map(|(k, v)| Some((*place.get(k)?, *v))).collect();
                row.sort_by_key(|entry| entry.0);
                out.push_row(row);
            }
            Samples::Sparse(out)
        }
    }
}

/// Rows of the data as landmarks: training samples by their position, others as points.
fn own_landmarks<T: Scalar>(
    data: &Dataset<T>,
    rows: &[usize],
    own: &OwnLandmarks,
    precomputed: bool,
) -> Result<Landmarks<T>> {
    let own = match own {
        OwnLandmarks::Rows(own) => own,
        OwnLandmarks::Points(points) => return own_points(data.x.width(), points, precomputed),
    };
    let n = data.x.count();
    if let Some(beyond) = own.iter().find(|i| **i >= n) {
        return Err(Error::param("landmark-ids", beyond, format!("below {n}, the number of samples")));
    }
    let place: HashMap<usize, usize> = rows.iter().enumerate().map(|(at, &i)| (i, at)).collect();
    let known: Option<Vec<usize>> = own.iter().map(|i| place.get(i).copied()).collect();
    match known {
        Some(positions) => Ok(Landmarks::Indices(positions)),
        None if precomputed => {
            Err(Error::param("landmark-ids", "of samples without target", "training samples for a precomputed kernel"))
        }
        None => Ok(Landmarks::Points(data.x.as_ref().select(own))),
    }
}

fn own_points<T: Scalar>(width: usize, points: &Mat<f64>, precomputed: bool) -> Result<Landmarks<T>> {
    if precomputed {
        let allowed = "rows of the data for a precomputed kernel, which is known only at samples";
        return Err(Error::param("landmarks", "points", allowed));
    }
    if points.ncols() != width {
        return Err(Error::shape("number of coordinates of a landmark", width, points.ncols()));
    }
    Ok(Landmarks::Points(Samples::Dense(Mat::from_fn(points.nrows(), width, |i, j| T::of(points[(i, j)])))))
}

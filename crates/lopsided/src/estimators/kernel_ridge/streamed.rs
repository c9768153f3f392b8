//! Ridge regression on rows that are read in passes and never held.

use super::cg::Judged;
use super::model::KernelRidgeModel;
use super::normal::Normal;
use super::systems::Centred;
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::data::dataset::Target;
use crate::data::row_stream::RowStream;
use crate::data::samples::{Csr, SamplesRef, as_samples};
use crate::data::state::put_samples;
use crate::estimators::FitReport;
use crate::estimators::scoring::Known;
use crate::kernel::{Gamma, KernelSpec};
use crate::solvers::landmarks::Landmarks;
use crate::solvers::lowrank::{LandmarkKernel, check_symmetric};

/// Steps that most systems take.
const STEPS: f64 = 25.0;
/// Up to this many landmarks the system is formed.
const DIRECT: usize = 4096;

/// Kernel ridge regression in the span of uniform landmarks, \[NKM\] Eq. (11), on rows that are read in passes.
///
/// 1. Landmarks are gathered in one pass; K_mm = V·Λ·Vᵀ, A = V·Λ^(−1/2) without directions lost in rounding.
/// 2. (Aᵀ·K_mn·K_nm·A + λ₀I)·w = Aᵀ·K_mn·y holds for all targets at once. Up to 4096 landmarks the matrix is summed up in
///    one pass and factored; beyond, conjugate gradients take a pass for each product.
/// 3. Their preconditioner takes the landmarks for a sample of all rows, K_mn·K_nm ≈ (n/m)·K_mm², which is \[Falkon\]'s; in the
///    basis A it is the diagonal matrix (n/m)·Λ + λ₀I.
///
/// # Cost
/// Memory: five m×m matrices, two numbers for each row and target, and a chunk of rows, whatever their number. Time: n·m kernel
/// values a pass, and n·m² operations at the rate of a matrix product, or as many passes as steps, of which a few dozen suffice.
///
/// # Example
/// The mean of the targets is taken off first, so that a constant is learned exactly:
///
/// ```
/// use lopsided::data::row_stream::RowStream;
/// use lopsided::estimators::{Model, StreamedRidge};
/// use lopsided::{Csr, Dataset, Mat, Run, Samples, Target};
///
/// let entries: Vec<_> = (0..30).map(|i| (i, i % 2, f64::from(i % 7) + 1.0)).collect();
/// let rows = RowStream::of_matrix(Csr::from_triplets(30, 2, &entries), 8);
/// let machine = StreamedRidge { landmarks: 5, ..StreamedRidge::new("rbf") };
/// let model = machine.fit(&rows, &Target::Values(vec![5.0; 30]), &Run::default())?;
/// let new = Dataset::new(Samples::Dense(Mat::from_fn(1, 2, |_, j| j as f64)));
/// assert!((model.decision(&new, &Run::default())?[(0, 0)] - 5.0).abs() < 1e-9);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StreamedRidge {
    /// The kernel; a `gamma` among its parameters wins over [`StreamedRidge::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found from the landmarks.
    pub gamma: Gamma,
    /// Multiplies the bandwidth.
    pub gamma_factor: f64,
    /// Number of landmarks m.
    pub landmarks: usize,
    /// 1/λ₀, the weight of the errors.
    pub penalty: f64,
    /// Residual, relative to the right-hand side in the norm of the preconditioner, that counts as converged.
    pub tol: f64,
    /// Most steps.
    pub steps: usize,
    /// Whether the system is formed and factored; `None`: up to 4096 landmarks.
    pub direct: Option<bool>,
}

setters!(StreamedRidge: with_kernel(kernel: KernelSpec), with_gamma(gamma: Gamma), with_gamma_factor(gamma_factor: f64),
    with_landmarks(landmarks: usize), with_penalty(penalty: f64), with_tol(tol: f64), with_steps(steps: usize),
    with_direct(direct: bool => Some(direct)));

impl Default for StreamedRidge {
    /// The RBF kernel.
    fn default() -> Self {
        StreamedRidge::new("rbf")
    }
}

impl StreamedRidge {
    /// 1000 landmarks, penalty 1, tolerance 1e-6, at most 200 steps.
    pub fn new(kernel: &str) -> Self {
        StreamedRidge {
            kernel: KernelSpec::new(kernel),
            gamma: Gamma::default(),
            gamma_factor: 1.0,
            landmarks: 1000,
            penalty: 1.0,
            tol: 1e-6,
            steps: 200,
            direct: None,
        }
    }

    /// Bytes held for so many rows, targets and columns.
    pub fn bytes<T: Scalar>(&self, rows: usize, targets: usize, columns: usize) -> u64 {
        let m = self.landmarks;
        let chunk = crate::data::row_stream::CHUNK_ROWS * (m * 8 + 2 * columns * (T::BYTES + 4));
        (8 * (5 * m * m + 2 * rows * targets) + m * columns * T::BYTES + chunk) as u64
    }

    /// Rough seconds for all passes, of which one alone takes `pass`, and for the kernel values and sums.
    pub fn seconds<T: Scalar>(&self, rows: &RowStream<T>, pass: f64) -> f64 {
        let (n, m) = (rows.nrows() as f64, self.landmarks as f64);
        let values = n * m * (rows.nnz() as f64 / n.max(1.0)).max(8.0) * 1.5e-9;
        let cores = rayon::current_num_threads() as f64;
        if self.direct.unwrap_or(self.landmarks <= DIRECT) {
            return 2.0 * pass + values + (n * m * m + 10.0 * m.powi(3)) * 1e-10 / cores;
        }
        STEPS * (pass + values) + 10.0 * m.powi(3) * 1e-10 / cores
    }

    /// Learns from the rows whose target is known.
    ///
    /// # Errors
    /// [`Error::Param`] for landmarks, penalty or kernel out of range; [`Error::Shape`] unless there is a target for each row;
    /// those of the reader; [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, rows: &RowStream<T>, target: &Target, run: &Run) -> Result<KernelRidgeModel<T>> {
        let known = Known::even_several(Some(target))?;
        self.check(rows, target, known.rows.len())?;
        let (at, mut print) = self.at_landmarks(rows, &known.rows, run)?;
        print.debug(target);
        run.checkpoint.belongs(|| self.identity(run.seed, T::NAME), || print.value())?;
        let run = &run.within(print);
        let centred = Centred::of(known.y.as_ref(), None);
        let normal = Normal::new(rows, &known.rows, at, self.penalty, run)?;
        let direct = self.direct.unwrap_or(self.landmarks <= DIRECT);
        let found = if direct { normal.factored(&centred.y)? } else { normal.solve(&centred.y, self)? };
        let mut functions = normal.functions(found.w.as_ref());
        functions.bias = centred.means;
        let report = self.report(&functions.kernel, known.rows.len(), &found);
        Ok(KernelRidgeModel { functions, answer: known.answer, report })
    }

    /// Everything that the result depends on beside the data.
    fn identity(&self, seed: u64, precision: &str) -> serde_json::Map<String, serde_json::Value> {
        let named = [("machine", format!("{self:?}")), ("precision", precision.into()), ("seed", seed.to_string())];
        named.into_iter().map(|(name, value)| (name.to_string(), value.into())).collect()
    }

    fn check<T: Scalar>(&self, rows: &RowStream<T>, target: &Target, known: usize) -> Result<()> {
        let targets = target.count();
        if targets != rows.nrows() {
            return Err(Error::shape("the number of targets", rows.nrows(), targets));
        }
        crate::estimators::linear::check_penalty(self.penalty)?;
        if self.landmarks == 0 || self.landmarks > known {
            let allowed = format!("between 1 and the number of samples, {known}");
            return Err(Error::param("landmarks", self.landmarks, allowed));
        }
        if self.kernel.is_precomputed() {
            return Err(Error::param("kernel", "precomputed", "one that is evaluated on rows"));
        }
        let tried =
            if self.kernel.gamma_from_data() { self.kernel.clone().with("gamma", 1.0) } else { self.kernel.clone() };
        check_symmetric::<T>(&tried)
    }

    /// Step 1, and for a checkpoint what tells the rows from others.
    fn at_landmarks<T: Scalar>(
        &self,
        rows: &RowStream<T>,
        known: &[usize],
        run: &Run,
    ) -> Result<(LandmarkKernel<T>, Fingerprint)> {
        let picked =
            random::subset(known.len(), self.landmarks, &mut random::generator(run.seed, Purpose::RowLandmarks));
        let wanted: Vec<usize> = picked.iter().map(|&at| known[at]).collect();
        let mut points = Csr::empty(rows.ncols());
        let mut next = 0;
        let mut print = Fingerprint::default();
        rows.for_each_chunk("gathering landmarks", &run.watch, |start, chunk| {
            if run.checkpoint.is_on() {
                put_samples(&mut print, SamplesRef::Sparse(chunk));
            }
            while let Some(&row) = wanted.get(next).filter(|row| **row < start + chunk.nrows()) {
                let (cols, vals) = chunk.row(row - start);
                points.push_row(cols.iter().copied().zip(vals.iter().copied()));
                next += 1;
            }
            Ok(())
        })?;
        let points = as_samples(points.as_ref());
        let mut kernel = self.kernel.clone();
        if kernel.gamma_from_data() && kernel.params.get("gamma").is_none() {
            let (x, factor) = (points.as_ref(), self.gamma_factor);
            kernel = kernel.with("gamma", self.gamma.resolve(self.kernel.meeting(), x, x, factor, run.seed)?);
        }
        let all = Landmarks::Indices((0..points.count()).collect());
        Ok((LandmarkKernel::new(&kernel, points.as_ref(), all, run)?, print))
    }

    fn report(&self, kernel: &KernelSpec, n_train: usize, found: &Judged) -> FitReport {
        let steps = found.steps;
        let mut params: std::collections::BTreeMap<String, serde_json::Value> = kernel.as_params().collect();
        params.insert("kernel".into(), kernel.name.clone().into());
        params.insert("penalty".into(), self.penalty.into());
        params.insert("approach".into(), "ncr".into());
        params.insert("landmarks".into(), self.landmarks.into());
        params.insert("sampler".into(), "uniform".into());
        let solver = if steps == 0 { "direct" } else { "cg" };
        params.insert("solver".into(), solver.into());
        params.extend((steps > 0).then(|| ("steps".to_string(), steps.into())));
        let mut warnings = Vec::new();
        if !found.verdict.converged() {
            let left = found.verdict.left();
            warnings.push(format!("the residual is still {left:.1e} after {steps} steps; take a smaller `penalty`"));
        }
        FitReport {
            params,
            n_train,
            condition: None,
            warnings,
            chosen: None,
            choices: Vec::new(),
            converged: found.verdict.converged(),
        }
    }
}

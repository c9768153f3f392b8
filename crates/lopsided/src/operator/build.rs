//! From a kernel and two sample sets to an operator.
//!
//! 1. [`KernelMatrix::plan`]: kernels of graphs and precomputed ones have a way of their own; for all others the costs
//!    of the kinds are compared, and what does not fit the memory is an error before anything is allocated.
//! 2. [`KernelMatrix::build`]: the samples are made ready, and where a kernel is normalised the sums of the rows are
//!    taken, in one pass over G, or from a sample of the columns where such a pass is out of reach.
//! 3. The result is wrapped so that products, entries and kernel values are counted.
//!
//! Row sums deserve their place here because new columns must be divided by the sums of the *training* columns:
//! [`Built`] hands them out, and a later [`KernelMatrix`] takes them back in its `normalizer`.

use super::counted::Counted;
use super::device::{DeviceOperator, Place};
use super::plan::{Costs, SAMPLED_COLUMNS, Uses};
use super::symmetric::{Symmetric, is_symmetric};
use super::{
    DenseOperator, KernelOperator, Operator, OperatorChoice, OperatorKind, OperatorPlan, ProductOperator, Scaled,
    SparseOperator, row_sums,
};
use crate::base::device::Device;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::watch::Watch;
use crate::data::samples::SamplesRef;
use crate::kernel::{Kernel, Normalization, Separable};
use faer::Mat;
use std::time::Instant;

/// A kernel, two sample sets and how G may be multiplied: everything an operator is built from.
///
/// [`KernelMatrix::new`] fills in everything but the kernel and the samples; the other fields are set by struct update.
///
/// ```
/// use lopsided::kernel::KernelSpec;
/// use lopsided::operator::{KernelMatrix, OperatorChoice, OperatorKind};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(6, 2, |i, j| (i * (j + 1)) as f64));
/// let kernel = KernelSpec::new("rbf").with("gamma", 0.5).build::<f64>()?;
/// let automatic = KernelMatrix::new(&*kernel, x.as_ref(), x.as_ref());
/// let streamed = KernelMatrix { choice: OperatorChoice::Tiles, ..automatic };
/// assert_eq!((streamed.size(), streamed.plan()?.kind), ((6, 6), OperatorKind::Tiles));
/// let built = streamed.build()?;
/// let mut corner = Mat::zeros(1, 2);
/// built.operator.block(&[0], &[0, 1], corner.as_mut())?;
/// assert!((corner[(0, 0)] - 1.0_f64).abs() < 1e-12); // exp(-0.5 * 0)
/// assert!((corner[(0, 1)] - (-2.5_f64).exp()).abs() < 1e-12); // |(0, 0) - (1, 2)|² = 5
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "wishes that have nothing to do with each other")]
pub struct KernelMatrix<'a, T: Scalar> {
    /// The kernel.
    pub kernel: &'a dyn Kernel<T>,
    /// Row samples; G itself for a precomputed kernel.
    pub x: SamplesRef<'a, T>,
    /// Column samples.
    pub z: SamplesRef<'a, T>,
    /// The wanted kind of operator.
    pub choice: OperatorChoice,
    /// Bytes that may be used.
    pub memory: u64,
    /// Row normalisers of an earlier operator, for columns that were not part of it.
    pub normalizer: Option<Vec<T>>,
    /// True when whoever uses the operator can do with blocks of it.
    pub blocks_suffice: bool,
    /// True when about every entry is asked for once, so that storing them earns nothing.
    pub once: bool,
    /// How much entries of blocks may be off; 0 unless told.
    pub accuracy: f64,
    /// True when whoever uses the operator reads most of its entries, or takes as many products as it has rows: what products
    /// alone would not earn back is then stored.
    pub reads_entries: bool,
    /// Columns that the row sums of an earlier operator were estimated from, to estimate these likewise.
    pub sampled_cols: Option<Vec<usize>>,
    /// Seed of such an estimate.
    pub seed: u64,
    /// Where products are computed.
    pub device: Device,
    /// Whether one half for each number is enough for a card in single precision.
    pub fast: bool,
    /// Progress and cancellation.
    pub watch: Watch,
}

/// An operator with the account of how it was built.
///
/// Whoever evaluates the same kernel for other columns later keeps `normalizer` (and `sampled_cols`): a row must be
/// divided by the sum it had in training, not by the sum over the new columns.
pub struct Built<'a, T: Scalar> {
    /// The operator.
    pub operator: Box<dyn Operator<T> + Send + 'a>,
    /// The plan it follows.
    pub plan: OperatorPlan,
    /// Logarithm of the row sums (softmax) or factors of the rows (row sum), where the kernel is normalised.
    pub normalizer: Option<Vec<T>>,
    /// Columns the normaliser was estimated from; `None` when it is exact.
    pub sampled_cols: Option<Vec<usize>>,
    /// What a user should know of the matrix, in sentences.
    pub notes: Vec<String>,
}

impl<'a, T: Scalar> KernelMatrix<'a, T> {
    /// A matrix with everything chosen automatically.
    pub fn new(kernel: &'a dyn Kernel<T>, x: SamplesRef<'a, T>, z: SamplesRef<'a, T>) -> Self {
        let memory = super::available_memory();
        KernelMatrix {
            kernel,
            x,
            z,
            choice: OperatorChoice::Auto,
            memory,
            normalizer: None,
            blocks_suffice: false,
            once: false,
            accuracy: 0.0,
            reads_entries: false,
            sampled_cols: None,
            seed: 0,
            device: Device::Auto,
            fast: false,
            watch: Watch::default(),
        }
    }

    /// Rows and columns of G.
    pub fn size(&self) -> (usize, usize) {
        let cols = if self.kernel.is_precomputed() { self.x.width() } else { self.z.count() };
        (self.x.count(), cols)
    }

    /// What would be built, without building it.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of different widths, [`Error::Memory`] where the wanted kind does not fit,
    /// [`Error::Param`] for a sparse form that the kernel or the samples do not have.
    pub fn plan(&self) -> Result<OperatorPlan> {
        self.planned(None)
    }

    /// The same with seconds by what a small block of kernel values takes.
    pub(crate) fn measured_plan(&self) -> Result<OperatorPlan> {
        self.planned(self.value_seconds())
    }

    /// Seconds of one kernel value, where the kernel is a function of two samples.
    fn value_seconds(&self) -> Option<f64> {
        const SIDE: usize = 128;
        if self.kernel.is_precomputed() || self.kernel.graph().is_some() || self.x.width() != self.z.width() {
            return None;
        }
        let (rows, cols) = (SIDE.min(self.x.count()), SIDE.min(self.z.count()));
        let mut block = Mat::<T>::zeros(rows, cols);
        // The first time pays for memory that is new.
        let mut once = || {
            let start = Instant::now();
            let (x, z) = (self.x.subrows(0, rows), self.z.subrows(0, cols));
            self.kernel.block(x, z, block.as_mut()).ok().map(|()| start.elapsed().as_secs_f64())
        };
        Some(once()?.min(once()?) / (rows * cols).max(1) as f64)
    }

    fn planned(&self, value: Option<f64>) -> Result<OperatorPlan> {
        let plan = self.planned_kind(value)?;
        let place = self.place(&plan)?;
        Ok(if place.device == Device::Cpu { OperatorPlan { place, ..plan } } else { self.planned_on_card(place) })
    }

    /// How G is multiplied, wherever that is done.
    fn planned_kind(&self, value: Option<f64>) -> Result<OperatorPlan> {
        if let Some(graph) = self.kernel.graph() {
            let (kind, bytes) = (OperatorKind::Sparse, 2 * self.x.bytes() as u64);
            let (why, seconds) =
                ("products with the graph's matrix".into(), (graph.terms() * self.x.nnz() as f64 * 1e-9, 0.0));
            return Ok(OperatorPlan { kind, blocks_only: false, bytes, why, seconds, place: Place::default() });
        }
        if self.kernel.is_precomputed() {
            let seconds = (self.x.nnz() as f64 * 1e-10, 0.0);
            let (kind, bytes) =
                (OperatorKind::Precomputed, if self.is_sparse() { 2 * self.x.bytes() as u64 } else { 0 });
            let (why, place) = ("G is given".into(), Place::default());
            return Ok(OperatorPlan { kind, blocks_only: false, bytes, why, seconds, place });
        }
        if self.x.width() != self.z.width() {
            return Err(Error::shape("the width of the column samples", self.x.width(), self.z.width()));
        }
        let costs = Costs::of(self.kernel, self.x, self.z, (self.memory, value));
        if self.sampled_cols.is_some() {
            return Ok(costs.blocks());
        }
        let once = self.once && self.kernel.normalization() == Normalization::None;
        costs.plan(self.choice, self.is_sparse(), Uses { blocks_suffice: self.blocks_suffice, once })
    }

    /// Builds the operator of the plan.
    ///
    /// # Errors
    /// Those of [`KernelMatrix::plan`]; [`Error::Param`] where a row that is to be divided by its sum has the sum 0;
    /// [`Error::Interrupted`].
    pub fn build(self) -> Result<Built<'a, T>> {
        let watch = self.watch.clone();
        let built = self.uncounted()?;
        Ok(Built { operator: Box::new(Counted { inner: built.operator, watch }), ..built })
    }

    /// The operator without counters: on a card where the plan says so.
    fn uncounted(self) -> Result<Built<'a, T>> {
        let plan = self.plan()?;
        if plan.place.device == Device::Cpu {
            let asked = matches!(self.device, Device::Cuda(_));
            let note = asked.then(|| format!("products are computed on the processor: {}", plan.place.why));
            let mut built = self.on_processor(plan)?;
            built.notes.extend(note);
            return Ok(built);
        }
        let (automatic, device) = (self.device == Device::Auto, plan.place.device);
        let here = KernelMatrix { device: Device::Cpu, ..self.clone() };
        match self.on_device(plan) {
            // Other programs may have taken the card's memory.
            Err(error @ (Error::Device { .. } | Error::Memory { .. })) if automatic => {
                let mut built = here.uncounted()?;
                built.notes.push(format!("products are computed on the processor, not on {device}: {error}"));
                Ok(built)
            }
            built => built,
        }
    }

    /// The operator on a card, before any division of rows, where the plan has it there; `None` on the processor.
    pub(crate) fn of_card(self) -> Result<Option<Box<dyn Operator<T> + 'a>>> {
        let (automatic, device) = (self.device == Device::Auto, self.plan()?.place.device);
        if device == Device::Cpu {
            return Ok(None);
        }
        match DeviceOperator::new(self.kernel, (self.x, self.z), self.normalizer, (device, self.fast), &self.watch) {
            Err(Error::Device { .. } | Error::Memory { .. }) if automatic => Ok(None),
            built => Ok(Some(Box::new(built?))),
        }
    }

    /// The operator of a card, with row sums that it found.
    fn on_device(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        let softmax = self.kernel.normalization() == Normalization::Softmax;
        let known = if softmax { self.normalizer.clone() } else { None };
        let where_to = (plan.place.device, self.fast);
        let operator = DeviceOperator::new(self.kernel, (self.x, self.z), known, where_to, &self.watch)?;
        let log_sums = operator.log_sums().map(<[T]>::to_vec);
        self.normalized(Box::new(operator), plan, log_sums)
    }

    /// A graph's kernel first, then by the kind of the plan.
    fn on_processor(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        if let Some(graph) = self.kernel.graph() {
            let SamplesRef::Sparse(p) = self.x else {
                return Err(Error::shape("the matrix of the graph", "sparse", "dense"));
            };
            let (operator, notes) = graph.operator(p.to_owned(), self.reads_entries, self.memory, &self.watch)?;
            return Ok(Built { notes, ..exact(operator, plan, None) });
        }
        match plan.kind {
            OperatorKind::Precomputed => Ok(exact(self.given(), plan, None)),
            OperatorKind::Sparse => self.sparse(plan),
            OperatorKind::Tiles if plan.blocks_only => self.blocks(plan),
            OperatorKind::Tiles | OperatorKind::Dense if self.is_symmetric() => self.symmetric(plan),
            OperatorKind::Tiles => self.tiles(plan),
            OperatorKind::Dense => self.dense(plan),
        }
    }

    fn is_sparse(&self) -> bool {
        matches!((self.x, self.z), (SamplesRef::Sparse(_), SamplesRef::Sparse(_)))
    }

    /// Whether one half of G says everything; row sums of an earlier operator are for columns that are not the rows.
    fn is_symmetric(&self) -> bool {
        let factored = matches!(self.kernel.separable(), Some(Separable::Dot));
        !factored && self.normalizer.is_none() && is_symmetric(self.kernel, self.x, self.z)
    }

    fn given(&self) -> Box<dyn Operator<T> + Send + 'a> {
        match self.x {
            SamplesRef::Dense(g) => Box::new(DenseOperator::Borrowed(g)),
            SamplesRef::Sparse(g) => Box::new(SparseOperator::new(None, g.to_owned())),
        }
    }

    fn sparse(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        let (SamplesRef::Sparse(x), SamplesRef::Sparse(z)) = (self.x, self.z) else {
            return self.tiles(plan);
        };
        if matches!(self.kernel.separable(), Some(Separable::Dot)) {
            return Ok(exact(Box::new(ProductOperator::new(self.x, self.z)?), plan, None));
        }
        let operator = SparseOperator::from_kernel(self.kernel, x, z, self.normalizer, &self.watch)?;
        let normalizer = operator.log_sums().map(<[T]>::to_vec);
        Ok(exact(Box::new(operator), plan, normalizer))
    }

    fn tiles(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        if matches!(self.kernel.separable(), Some(Separable::Dot)) {
            return Ok(exact(Box::new(ProductOperator::new(self.x, self.z)?), plan, None));
        }
        let tiles = self.streamed()?;
        let log_sums = tiles.log_sums().map(<[T]>::to_vec);
        self.normalized(Box::new(tiles), plan, log_sums)
    }

    /// Tiles whose products are out of reach; row sums, where there are any, come from a sample of columns.
    fn blocks(mut self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        let mut sampled = None;
        if self.kernel.normalization() != Normalization::None && self.normalizer.is_none() {
            let cols = self.sampled_cols.take().unwrap_or_else(|| self.column_sample());
            self.normalizer = Some(self.normalizer_from(&cols)?);
            sampled = Some(cols);
        }
        let tiles = self.streamed()?.for_blocks();
        let log_sums = tiles.log_sums().map(<[T]>::to_vec);
        let built = self.normalized(Box::new(tiles), plan, log_sums)?;
        Ok(Built { sampled_cols: sampled, ..built })
    }

    /// Columns that stand for all of them, the same for the same seed.
    fn column_sample(&self) -> Vec<usize> {
        let m = self.z.count();
        random::subset(m, SAMPLED_COLUMNS.min(m), &mut random::generator(self.seed, Purpose::SampledColumns))
    }

    /// Row normalisers estimated from some columns: a row's sum is m/count times its sum over them.
    fn normalizer_from(&self, cols: &[usize]) -> Result<Vec<T>> {
        let z = self.z.select(cols);
        let share = self.z.count() as f64 / cols.len() as f64;
        sampled_normalizer(self.kernel, self.x, z.as_ref(), share, &self.watch)
    }

    fn dense(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        let tiles = self.streamed()?;
        let log_sums = tiles.log_sums().map(<[T]>::to_vec);
        let stored = Box::new(DenseOperator::Owned(tiles.to_dense()?));
        self.normalized(stored, plan, log_sums)
    }

    /// Half of G, evaluated or stored. Row sums hold the diagonal, so that exponents need no shift before they are taken.
    fn symmetric(self, plan: OperatorPlan) -> Result<Built<'a, T>> {
        let softmax = self.kernel.normalization() == Normalization::Softmax;
        let no_sums = softmax.then(|| vec![T::zero(); self.x.count()]);
        let tiles = KernelOperator::new(self.kernel, self.x, self.z, no_sums, &self.watch)?;
        let half = match plan.kind {
            OperatorKind::Dense => Symmetric::stored(&tiles, &self.watch)?,
            _ => Symmetric::evaluated(tiles.with_accuracy(self.accuracy), &self.watch),
        };
        if !softmax {
            return self.normalized(Box::new(half), plan, None);
        }
        let sums = row_sums(&half)?;
        let log_sums = sums.iter().map(|&s| num_traits::Float::ln(s)).collect();
        let scale = sums.into_iter().map(|s| T::one() / s).collect();
        Ok(exact(Box::new(Scaled::new(Box::new(half), scale)), plan, Some(log_sums)))
    }

    /// Tiles; known row sums are handed over for softmax kernels only, as [`Normalization::RowSum`] scales afterwards.
    fn streamed(&self) -> Result<KernelOperator<'a, T>> {
        let softmax = self.kernel.normalization() == Normalization::Softmax;
        let log_sums = if softmax { self.normalizer.clone() } else { None };
        KernelOperator::new(self.kernel, self.x, self.z, log_sums, &self.watch)
    }

    /// Rows divided by their sums where the kernel asks for it, with the sums of an earlier operator where there are
    /// any.
    fn normalized(
        self,
        operator: Box<dyn Operator<T> + Send + 'a>,
        plan: OperatorPlan,
        log_sums: Option<Vec<T>>,
    ) -> Result<Built<'a, T>> {
        if self.kernel.normalization() != Normalization::RowSum {
            return Ok(exact(operator, plan, log_sums));
        }
        let scaled = match self.normalizer {
            Some(scale) => Scaled::new(operator, scale),
            None => Scaled::to_unit_row_sums(operator)?,
        };
        let normalizer = Some(scaled.scale().to_vec());
        Ok(exact(Box::new(scaled), plan, normalizer))
    }
}

/// Row normalisers estimated from a sample z of the columns: a row's sum is `share` times its sum over them.
pub(crate) fn sampled_normalizer<T: Scalar>(
    kernel: &dyn Kernel<T>,
    x: SamplesRef<'_, T>,
    z: SamplesRef<'_, T>,
    share: f64,
    watch: &Watch,
) -> Result<Vec<T>> {
    let part = KernelOperator::new(kernel, x, z, None, watch)?;
    let share = T::of(share);
    match part.log_sums() {
        Some(log_sums) => Ok(log_sums.iter().map(|&l| l + num_traits::Float::ln(share)).collect()),
        None => Ok(Scaled::to_unit_row_sums(Box::new(part))?.scale().iter().map(|&s| s / share).collect()),
    }
}

/// An operator whose row sums, if any, are exact.
fn exact<'a, T: Scalar>(
    operator: Box<dyn Operator<T> + Send + 'a>,
    plan: OperatorPlan,
    normalizer: Option<Vec<T>>,
) -> Built<'a, T> {
    Built { operator, plan, normalizer, sampled_cols: None, notes: Vec::new() }
}

//! The compatibility matrix a3: learned from targets.
//!
//! A reader starts with [`LearnedCompat`]. The chain that is differentiated, from the map to the loss of a row:
//!
//! 1. Images x̃ = x·C_x and z̃ = z·C_z (`sides`); usually one of the two maps is the identity and stays.
//! 2. Kernel rows g = k(x̃, Z̃) (`kernel_rows`).
//! 3. Features e = g·V·Σ⁻¹·√N (`training`).
//! 4. Outputs f = Wᵀe + b and their loss L (`head`).
//!
//! Gradients run back from ∂L/∂f to ∂L/∂C with V and Σ held fixed. `supervision` splits the rows, `adam` makes
//! the steps.

mod adam;
mod head;
mod kernel_rows;
mod sides;
mod supervision;
mod training;

pub use head::Loss;

use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::data::dataset::{Dataset, Maps, Target};
use crate::data::samples::{Samples, Side};
use crate::data::state::put_samples;
use crate::estimators::compat::{Compat, Compatibility};
use crate::estimators::linear::LinearLsSvmModel;
use crate::estimators::{KernelSvd, KernelSvdModel};
use faer::Mat;
use head::Head;
use kernel_rows::Differentiable;
use sides::Sides;
use std::mem;
use supervision::Supervision;
use training::{Training, with_ones};

/// A kernel SVD of a matrix A (N×M) whose compatibility matrix C is learned from a target of its rows: a3 of \[KSVD\]
/// Remark 2.3 and Algorithm 1, trained as in App. C.3.
///
/// For N > M the columns are mapped, z̃ = z·C with C of size N×M, for M ≥ N the rows, x̃ = x·C with C of size M×N; with a
/// truncated start both are. The features of a row are e(x) = k(x, Z̃)·V·Σ⁻¹, on which a linear head predicts classes
/// (softmax, cross-entropy) or values (squared error). C starts as that of [`LearnedCompat::start`], and so does gamma, which
/// stays. Then, in every epoch,
///
/// 1. G\[i, j\] = k(x̃_i, z̃_j) of the present C and its triplets G·V = U·Σ;
/// 2. the head that is best for these features, and its loss on the rows to learn from and on those held out;
/// 3. C is remembered if the loss on the held-out rows is the least so far;
/// 4. V and Σ are held fixed while batches of rows move C and the head against the gradient of the loss.
///
/// 5. At the end the remembered C is kept, or that of the start where the gain on the held-out rows is within one standard
///    error: the least of many losses is small by chance, too.
///
/// All of this is done twice. The images of the columns of a table are about as long as columns, √N for a deviation of 1, and
/// rows about √M, so that the kernel sees columns far from all rows. The second time C starts scaled, so that both sides are
/// equally long, and with a gamma of its own; its result is kept where its loss on the held-out rows is lower by more than one
/// standard error.
///
/// It becomes part of an ordinary [`KernelSvdModel`], which places new rows and columns through it.
///
/// With [`LearnedCompat::symmetric`] the kernel runs over the rows twice, k(x·C, x'·C) with a C of size M×M that starts as
/// the identity: KPCA with a learned C, the baseline of \[KSVD\] Table 3.
///
/// # Departures
/// \[KSVD\] moves the head by gradients alone and takes G·V for features. A refreshed V may come with other signs and another
/// order, so the head is found anew each time, and the features are U·√N, for which one learning rate fits all data. The
/// steps are those of \[Adam\]. The paper does not say by which rows it chooses; here none of the rows to test on is seen.
///
/// # Cost
/// For each of the two starts, each epoch one SVD of G, and for each batch of b rows a product of A with a matrix of the width of the images: O(N·M·q) for
/// N > M. A is stored dense, and so is C.
///
/// # Example
/// ```
/// use lopsided::{KernelSvd, LearnedCompat, Mat, Run, Samples, Target};
///
/// let a = Mat::from_fn(60, 4, |i, j| ((i * (7 + j) + j * j) % 13) as f64 / 6.0 - 1.0);
/// let target = Target::Values((0..60).map(|i| a[(i, 0)] * a[(i, 1)]).collect());
/// let learner = LearnedCompat { epochs: 5, ..LearnedCompat::new(KernelSvd::new("rbf").with_rank(3)) };
/// let learned = learner.fit(Samples::Dense(a.clone()), &target, &Run::default())?;
/// let last = learned.curve.last().unwrap();
/// assert!(last.best <= learned.curve[0].validation);
/// let again = learned.model.project_rows(Samples::Dense(a).as_ref(), &Run::default())?;
/// assert!((again - learned.model.embedding(lopsided::Side::Row)).norm_max() < 1e-6);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LearnedCompat {
    /// The kernel SVD that is fitted; its kernel needs a derivative.
    pub machine: KernelSvd,
    /// Where C starts.
    pub start: Compatibility,
    /// The rows against themselves instead of the columns.
    pub symmetric: bool,
    /// How far an entry of C moves with a batch, as a share of the root mean square of all entries at the start.
    pub learning_rate: f64,
    /// Passes over the rows.
    pub epochs: usize,
    /// Passes without improvement after which learning ends early.
    pub patience: usize,
    /// Rows of a batch.
    pub batch: usize,
    /// Share of the rows with a target that is held out to choose C by; 0: the rows to learn from choose.
    pub validation: f64,
}

setters!(LearnedCompat: with_machine(machine: KernelSvd), with_start(start: Compatibility),
    with_symmetric(symmetric: bool), with_learning_rate(learning_rate: f64), with_epochs(epochs: usize),
    with_patience(patience: usize), with_batch(batch: usize), with_validation(validation: f64));

impl Default for LearnedCompat {
    /// The kernel SVD with defaults.
    fn default() -> Self {
        LearnedCompat::new(KernelSvd::default())
    }
}

/// The losses after an epoch.
///
/// Losses are those of the head that is best for the features of the epoch: cross-entropy in nats for classes,
/// half the squared error in units of the target's variance for values. A head that knows nothing has about
/// ln(classes), or ½.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LearningStep {
    /// Passes so far; 0 is the start.
    pub epoch: usize,
    /// Mean loss on the rows to learn from.
    pub train: f64,
    /// Mean loss on the held-out rows.
    pub validation: f64,
    /// The least `validation` so far.
    pub best: f64,
}

/// A fitted [`LearnedCompat`].
///
/// `model` is an ordinary kernel SVD: it embeds, projects and is saved like any other. `head` predicts from its
/// row embeddings in the units of the target, `curve` shows how the losses went, and `epoch` which of them was
/// kept.
#[derive(Clone, Debug)]
pub struct LearnedCompatModel<T> {
    /// The kernel SVD with the learned maps.
    pub model: KernelSvdModel<T>,
    /// Predicts from embeddings of rows: one output per class, or the value.
    pub head: LinearLsSvmModel,
    /// What the head minimises.
    pub loss: Loss,
    /// Losses of all epochs from the start that was kept.
    pub curve: Vec<LearningStep>,
    /// The epoch whose map was kept; 0 is the start.
    pub epoch: usize,
}

impl LearnedCompat {
    /// Starts from the principal components, a1: 100 epochs of batches of 64 rows, a fifth of the rows held out.
    pub fn new(machine: KernelSvd) -> Self {
        LearnedCompat {
            machine,
            start: Compatibility::new(Compat::Pca),
            symmetric: false,
            learning_rate: 0.01,
            epochs: 100,
            patience: 20,
            batch: 64,
            validation: 0.2,
        }
    }

    /// Learns C from the targets of the rows of A.
    ///
    /// # Errors
    /// [`Error::Diverged`] for a learning rate that is too large; [`Error::Param`] for settings out of range, a kernel
    /// without derivative and targets that teach nothing; [`Error::Memory`]; those of [`Dataset::from_matrix_with`] and
    /// [`KernelSvd::fit`].
    pub fn fit<T: Scalar>(&self, a: Samples<T>, target: &Target, run: &Run) -> Result<LearnedCompatModel<T>> {
        self.check(&a)?;
        run.checkpoint.belongs(|| self.identity(run.seed, T::NAME), || fingerprint(&a, target))?;
        let supervision = Supervision::new(target, a.count(), self.validation, run.seed)?;
        let aligned = self.start(&a, run)?;
        let (kernel, machine) = self.kernel_of(&aligned, run)?;
        let sides = Sides::new(a, self.symmetric);
        let mut training = Training { settings: self, kernel, machine, sides, supervision };
        let mut chosen = training.learn(aligned.maps.clone(), run)?;
        if let Some(level) = equally_long(aligned).filter(|_| !self.symmetric) {
            let (kernel, machine) = self.kernel_of(&level, run)?;
            let first = (mem::replace(&mut training.kernel, kernel), mem::replace(&mut training.machine, machine));
            let second = training.learn(level.maps, run)?;
            if training.supervision.believes(&chosen.losses, &second.losses) {
                chosen = second;
            } else {
                (training.kernel, training.machine) = first;
            }
        }
        let data = Dataset { y: Some(target.clone()), ..training.sides.dataset(&chosen.maps) };
        let model = training.machine.fit(data, run)?;
        let head = final_head(&model, &training.supervision)?;
        let loss = training.supervision.loss;
        Ok(LearnedCompatModel { model, head, loss, curve: chosen.curve, epoch: chosen.epoch })
    }

    /// Everything that the result depends on beside the data.
    fn identity(&self, seed: u64, precision: &str) -> serde_json::Map<String, serde_json::Value> {
        let KernelSvd { gram, rank, solver, solver_params, center, scaling } = &self.machine;
        let named = gram.settings().and(solver_params).with("rank", *rank).with("center", *center);
        let named = named.with("solver", solver.as_str()).with("symmetric", self.symmetric);
        let named =
            named.with("learning-rate", self.learning_rate).with("epochs", self.epochs).with("batch", self.batch);
        let named = named.with("patience", self.patience).with("validation", self.validation);
        let named = named.with("work", "learned compatibility").with("precision", precision);
        let mut named = named.with("scaling", format!("{scaling:?}").as_str()).to_map();
        named.insert("start".into(), format!("{:?}", self.start).into());
        named.insert("seed".into(), seed.into());
        named
    }

    /// The kernel with the gamma of a start, to learn through and to fit with.
    fn kernel_of<T: Scalar>(&self, start: &Dataset<T>, run: &Run) -> Result<(Differentiable<T>, KernelSvd)> {
        let kernel = self.machine.plan(start, run)?.kernel;
        Ok((Differentiable::new(&kernel)?, self.machine.clone().with_kernel(kernel)))
    }

    /// Rows and columns as the start makes them comparable.
    ///
    /// # Errors
    /// Those of [`Dataset::from_matrix_with`].
    pub fn start<T: Scalar>(&self, a: &Samples<T>, run: &Run) -> Result<Dataset<T>> {
        if !self.symmetric {
            return Dataset::from_matrix_with(a.clone(), &self.start, run);
        }
        let rows = Some(Mat::identity(a.width(), a.width()));
        Ok(Dataset { maps: Maps { rows, cols: None }, ..Dataset::new(a.clone()) })
    }

    /// Refuses settings out of range, starts without a map, and data whose maps and gradients would not fit the
    /// memory.
    fn check<T: Scalar>(&self, a: &Samples<T>) -> Result<()> {
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return Err(Error::param("learning-rate", self.learning_rate, "a number above 0"));
        }
        if self.batch == 0 {
            return Err(Error::param("batch", 0, "at least 1"));
        }
        if !(0.0..=0.5).contains(&self.validation) {
            return Err(Error::param("validation", self.validation, "a share between 0 and 0.5"));
        }
        if !self.symmetric && matches!(self.start.kind, Compat::None | Compat::Learned) {
            return Err(Error::param("start", self.start.kind, "pinv, pca or random: there must be a map to learn"));
        }
        a.check_finite("the matrix")?;
        let available = self.machine.gram.bytes();
        // A and its transpose; C, its gradient, two means of gradients, the best C so far and that of the other start.
        let needed = 8 * T::BYTES as u64;
        let needed = needed.saturating_mul(a.count() as u64).saturating_mul(a.width() as u64);
        if needed <= available {
            return Ok(());
        }
        let advice = "learn from fewer rows or allow more memory".into();
        Err(Error::Memory { what: "the learned compatibility matrix".into(), needed, available, advice })
    }
}

fn fingerprint<T: Scalar>(a: &Samples<T>, target: &Target) -> u64 {
    let mut print = Fingerprint::default();
    put_samples(&mut print, a.as_ref());
    print.debug(target);
    print.value()
}

/// The same start with the images that C makes scaled by one number, so that rows and columns are equally long (root mean square).
///
/// `None` where nothing is mapped or one side is 0.
fn equally_long<T: Scalar>(start: Dataset<T>) -> Option<Dataset<T>> {
    let (x, z) = (start.x.into_dense(), start.z?.into_dense());
    let size = |images: &Mat<T>| images.norm_l2() / T::of((images.nrows() as f64).sqrt());
    let (rows, cols) = (size(&x), size(&z));
    if rows <= T::zero() || cols <= T::zero() {
        return None;
    }
    let scaled = |by: T, images: &Mat<T>| faer::Scale(by) * images;
    let (x, z, maps) = match start.maps {
        Maps { rows: kept, cols: Some(map) } => {
            let by = rows / cols;
            (x, scaled(by, &z), Maps { rows: kept, cols: Some(scaled(by, &map)) })
        }
        Maps { rows: Some(map), cols: None } => {
            let by = cols / rows;
            (scaled(by, &x), z, Maps { rows: Some(scaled(by, &map)), cols: None })
        }
        Maps { rows: None, cols: None } => return None,
    };
    Some(Dataset { maps, ..Dataset::two_sided(Samples::Dense(x), Samples::Dense(z)) })
}

/// The best head on the embedding of the final model, in the units of the target.
///
/// Features of the final model may have any scale, while the ridge of a head is meant for features of mean
/// square 1: they are scaled for the fit and the weights scaled back, W_k·s_k times the deviation of the
/// target, with its mean added to the bias.
fn final_head<T: Scalar>(model: &KernelSvdModel<T>, supervision: &Supervision) -> Result<LinearLsSvmModel> {
    let all = model.embedding(Side::Row);
    let (train, rank) = (&supervision.train, all.ncols());
    let features = Mat::from_fn(train.len(), rank, |i, k| all[(train[i], k)]);
    let size = |k: usize| features.col(k).norm_l2().as_f64() / (train.len() as f64).sqrt();
    let scale: Vec<f64> = (0..rank).map(size).map(|s| if s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    let mut x = with_ones(&features);
    (0..rank).for_each(|k| x.col_mut(k).iter_mut().for_each(|v| *v *= scale[k]));
    let Head { weights, .. } = Head::fit(&x, &supervision.of(train), supervision.loss)?;
    let (mean, deviation) = supervision.units;
    let bias = (0..weights.ncols()).map(|c| weights[(rank, c)] * deviation + mean).collect();
    let weights = Mat::from_fn(rank, weights.ncols(), |k, c| weights[(k, c)] * scale[k] * deviation);
    Ok(LinearLsSvmModel { weights, bias })
}

#[cfg(test)]
mod tests;

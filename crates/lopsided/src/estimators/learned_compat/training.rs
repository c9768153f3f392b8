//! The loop that learns a compatibility matrix: refreshed decompositions, batches of gradients, the choice of
//! an epoch.
//!
//! Each epoch alternates between what has a closed form (V, Σ and the best head for a map) and what has not
//! (the map). Within an epoch the map and the head move together, from the best head there is.

use super::adam::Adam;
use super::head::{Head, Loss, mean};
use super::kernel_rows::Differentiable;
use super::sides::Sides;
use super::supervision::Supervision;
use super::{LearnedCompat, LearningStep};
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::archive::Archive;
use crate::data::dataset::Maps;
use crate::data::state::{put_matrix, restore_generator, set_generator};
use crate::estimators::{KernelSvd, KernelSvdModel};
use crate::products::TILE;
use faer::{Mat, MatRef};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A loss, or a map, so many times that of the start has run away.
const RUNAWAY: f64 = 1e3;
/// Singular values below this share of the first do not make features larger any more.
const FLOOR: f64 = 1e-2;

/// Everything that stays the same while a compatibility matrix is learned.
pub(super) struct Training<'a, T> {
    pub(super) settings: &'a LearnedCompat,
    /// With the gamma of the start.
    pub(super) machine: KernelSvd,
    pub(super) kernel: Differentiable<T>,
    pub(super) sides: Sides<T>,
    pub(super) supervision: Supervision,
}

/// What is held fixed within an epoch, and the head on top of it.
pub(super) struct Frame<T> {
    /// V·Σ⁻¹·√n: features k(x, Z̃)·V·Σ⁻¹·√n have mean square 1.
    projection: Mat<T>,
    head: Head,
}

/// The map that was chosen, and the way there.
pub(super) struct Chosen<T> {
    pub(super) maps: Maps<T>,
    pub(super) epoch: usize,
    /// Of the rows that judge it.
    pub(super) losses: Vec<f64>,
    pub(super) curve: Vec<LearningStep>,
}

/// Where learning stands.
struct State<T> {
    maps: Maps<T>,
    /// Keeps the means of gradients over all epochs.
    optimizer: Optimizer<T>,
    /// Decides on the order of the rows.
    rng: ChaCha8Rng,
    curve: Vec<LearningStep>,
}

impl<T: Scalar> State<T> {
    /// Everything that the next epoch depends on.
    fn put(&self, frame: &Frame<T>, best: Option<&Judged<T>>, kept: &mut Archive) {
        put_maps("maps", &self.maps, kept);
        self.optimizer.put(kept);
        set_generator(kept, "generator", &self.rng);
        let curve: Vec<f64> = self.curve.iter().flat_map(|step| [step.train, step.validation, step.best]).collect();
        kept.set_vector("curve", &curve);
        kept.set_matrix("projection", frame.projection.as_ref());
        kept.set_matrix("head", frame.head.weights.as_ref());
        if let Some(best) = best {
            put_maps("best", &best.maps, kept);
            kept.set_vector("losses", &best.losses);
            kept.set_field("epoch", best.epoch);
        }
    }

    /// Goes to where a state was left: what is fixed in the next epoch, and the best map so far.
    fn restore(&mut self, kept: &Archive, loss: Loss) -> Result<(Frame<T>, Option<Judged<T>>)> {
        self.maps = maps_of("maps", kept)?;
        self.optimizer.restore(kept)?;
        restore_generator(kept, "generator", &mut self.rng)?;
        let curve = kept.vector::<f64>("curve")?;
        let step = |(epoch, losses): (usize, &[f64; 3])| {
            let [train, validation, best] = *losses;
            LearningStep { epoch, train, validation, best }
        };
        self.curve = curve.as_chunks::<3>().0.iter().enumerate().map(step).collect();
        let frame =
            Frame { projection: kept.matrix("projection")?, head: Head { weights: kept.matrix("head")?, loss } };
        let of_best = |epoch| Ok(Judged { maps: maps_of("best", kept)?, epoch, losses: kept.vector("losses")? });
        Ok((frame, kept.field::<Option<usize>>("epoch")?.map(of_best).transpose()?))
    }
}

fn put_maps<T: Scalar>(name: &str, maps: &Maps<T>, kept: &mut Archive) {
    for (side, map) in [("rows", &maps.rows), ("cols", &maps.cols)] {
        map.iter().for_each(|map| kept.set_matrix(&format!("{name}.{side}"), map.as_ref()));
    }
}

fn maps_of<T: Scalar>(name: &str, kept: &Archive) -> Result<Maps<T>> {
    let side = |side: &str| {
        let name = format!("{name}.{side}");
        kept.has(&name).then(|| kept.matrix(&name)).transpose()
    };
    Ok(Maps { rows: side("rows")?, cols: side("cols")? })
}

/// A map with the losses of the rows that judge it.
struct Judged<T> {
    maps: Maps<T>,
    epoch: usize,
    losses: Vec<f64>,
}

impl<T: Scalar> Training<'_, T> {
    /// The numbered steps are those of [`LearnedCompat`].
    ///
    /// Learning ends after `epochs` passes, or when `patience` of them in a row have not lowered the least loss.
    pub(super) fn learn(&self, start: Maps<T>, run: &Run) -> Result<Chosen<T>> {
        let optimizer = Optimizer::new(&start, self.settings.learning_rate);
        let rng = random::generator(run.seed, Purpose::CompatBatches);
        let mut state = State { maps: start, optimizer, rng, curve: Vec::new() };
        let (mut frame, losses) = self.refresh(&mut state, run)?;
        let place = self.place(&state.maps, &losses);
        let first = Judged { maps: state.maps.clone(), epoch: 0, losses };
        let mut best: Option<Judged<T>> = None;
        if let Some(kept) = run.state(&place)? {
            (frame, best) = state.restore(&kept, frame.head.loss)?;
        }
        for epoch in state.curve.len()..=self.settings.epochs {
            if epoch - best.as_ref().map_or(0, |best| best.epoch) > self.settings.patience {
                break;
            }
            let (done, total) = (epoch as u64, self.settings.epochs as u64);
            run.watch.report(Progress { stage: "learning the compatibility matrix", done, total, residual: None })?;
            let before = state.curve.last().map_or(f64::INFINITY, |last| last.best);
            let own = run.within(&place);
            self.pass(&mut state, &mut frame, &own)?;
            let (next, losses) = self.refresh(&mut state, &own)?;
            frame = next;
            if state.curve.last().is_some_and(|last| last.best < before) {
                best = Some(Judged { maps: state.maps.clone(), epoch, losses });
            }
            run.checkpoint.forget_within(&place);
            run.keep_state(&place, |kept| state.put(&frame, best.as_ref(), kept))?;
        }
        // Step 5.
        let believed = best.filter(|best| self.supervision.believes(&first.losses, &best.losses));
        let Judged { maps, epoch, losses } = believed.unwrap_or(first);
        Ok(Chosen { maps, epoch, losses, curve: state.curve })
    }

    /// What tells this learning from every other once its start is judged.
    fn place(&self, start: &Maps<T>, losses: &[f64]) -> String {
        let mut print = Fingerprint::default();
        print.debug(&(T::NAME, self.settings, &self.machine, losses));
        for map in [&start.rows, &start.cols].into_iter().flatten() {
            put_matrix(&mut print, map.as_ref());
        }
        format!("compatibility {print}")
    }

    /// Steps 1 to 3: V and Σ of the present map, the best head for them, and the losses of the rows that judge both.
    fn refresh(&self, state: &mut State<T>, run: &Run) -> Result<(Frame<T>, Vec<f64>)> {
        let epoch = state.curve.len();
        let frame = self.frame(&state.maps, epoch, run)?;
        let loss_of = |rows: &[usize]| -> Result<Vec<f64>> {
            let features = self.features(&state.maps, rows, frame.projection.as_ref())?;
            Ok(frame.head.errors(&features, self.supervision.of(rows).as_ref()).1)
        };
        let losses = loss_of(self.supervision.judges())?;
        let (train, validation) = (mean(&loss_of(&self.supervision.train)?).0, mean(&losses).0);
        self.check(&state.curve, train.max(validation))?;
        let best = state.curve.last().map_or(validation, |last| last.best.min(validation));
        state.curve.push(LearningStep { epoch, train, validation, best });
        Ok((frame, losses))
    }

    /// V and Σ of a map, and the best head for them.
    pub(super) fn frame(&self, maps: &Maps<T>, epoch: usize, run: &Run) -> Result<Frame<T>> {
        let projection = projection(&self.decompose(maps, epoch, run)?);
        let Supervision { train, loss, .. } = &self.supervision;
        let head = Head::fit(&self.features(maps, train, projection.as_ref())?, &self.supervision.of(train), *loss)?;
        Ok(Frame { projection, head })
    }

    /// The kernel SVD under a map.
    fn decompose(&self, maps: &Maps<T>, epoch: usize, run: &Run) -> Result<KernelSvdModel<T>> {
        let model = self.machine.fit(self.sides.dataset(maps), run).map_err(|error| match error {
            Error::NotFinite { .. } | Error::Singular { .. } if epoch > 0 => {
                self.diverged(epoch, "the images of rows and columns are not finite".into())
            }
            other => other,
        })?;
        if epoch > 0 && model.singular_values().is_empty() {
            return Err(self.diverged(epoch, "the kernel matrix has vanished".into()));
        }
        Ok(model)
    }

    /// Step 4: one step of map and head for each batch.
    fn pass(&self, state: &mut State<T>, frame: &mut Frame<T>, run: &Run) -> Result<()> {
        let mut order = self.supervision.train.clone();
        order.shuffle(&mut state.rng);
        let shape = (frame.head.weights.nrows(), frame.head.weights.ncols());
        let mut of_head = Adam::new(shape, self.settings.learning_rate);
        for batch in order.chunks(self.settings.batch) {
            run.watch.check()?;
            let (gradient, by_head, loss) = self.gradient(&state.maps, frame, batch)?;
            self.check(&state.curve, loss)?;
            state.optimizer.step(&mut state.maps, &gradient);
            of_head.step(&mut frame.head.weights, &by_head);
        }
        self.check_growth(state.optimizer.growth(&state.maps), state.curve.len())
    }

    /// ∂L/∂C and ∂L/∂head of the mean loss L of a batch, and L itself.
    ///
    /// 1. Images of the batch and of all columns, their kernel rows g, features e = \[g·projection, 1\] and outputs
    ///    f = e·W.
    /// 2. Errors ∂L/∂f, divided by the size of the batch; ∂L/∂W = eᵀ·errors.
    /// 3. ∂L/∂g = errors·Wᵀ·projectionᵀ, without the column of ones.
    /// 4. Through the kernel to the images, and through the images to the maps.
    pub(super) fn gradient(
        &self,
        maps: &Maps<T>,
        frame: &Frame<T>,
        batch: &[usize],
    ) -> Result<(Maps<T>, Mat<f64>, f64)> {
        let raw = self.sides.select(batch);
        let (x, z) = (Sides::image(maps, raw.clone()), self.sides.columns(maps));
        let rows = self.kernel.rows(x.as_ref(), z.as_ref())?;
        let features = with_ones(&linalg::mul(rows.g.as_ref(), frame.projection.as_ref()));
        let (errors, losses) = frame.head.errors(&features, self.supervision.of(batch).as_ref());
        let errors = faer::Scale(1.0 / batch.len() as f64) * errors;
        let by_head = linalg::transpose_mul(features.as_ref(), errors.as_ref());
        let rank = frame.projection.ncols();
        let by_features = linalg::mul(errors.as_ref(), frame.head.weights.subrows(0, rank).transpose());
        let by_features = Mat::from_fn(batch.len(), rank, |i, k| T::of(by_features[(i, k)]));
        let by_g = linalg::mul(by_features.as_ref(), frame.projection.transpose());
        let (by_x, by_z) = rows.backward(by_g);
        Ok((self.sides.gradient(maps, &raw, &by_x, &by_z), by_head, mean(&losses).0))
    }

    /// k(x, Z̃)·projection of some rows, and a column of ones. Centring would add a constant to each feature: nothing to a
    /// head with a constant of its own.
    fn features(&self, maps: &Maps<T>, rows: &[usize], projection: MatRef<'_, T>) -> Result<Mat<f64>> {
        let z = self.sides.columns(maps);
        let mut out = Mat::zeros(rows.len(), projection.ncols());
        for (at, tile) in rows.chunks(TILE).enumerate() {
            let x = Sides::image(maps, self.sides.select(tile));
            let g = self.kernel.rows(x.as_ref(), z.as_ref())?.g;
            out.as_mut().subrows_mut(at * TILE, tile.len()).copy_from(linalg::mul(g.as_ref(), projection));
        }
        Ok(with_ones(&out))
    }

    /// Refuses a loss that has run away, also against that of a head that knows nothing, which is about 1.
    fn check(&self, curve: &[LearningStep], loss: f64) -> Result<()> {
        let start = curve.first().map_or(loss, |first| first.train.max(first.validation));
        if loss.is_finite() && loss <= RUNAWAY * start.max(1.0) {
            return Ok(());
        }
        Err(self.diverged(curve.len(), format!("the loss is {loss:.3e} after {start:.3e} at the start")))
    }

    /// Kernels like SNE are bounded, so that their loss stays finite where the map does not.
    fn check_growth(&self, growth: f64, epoch: usize) -> Result<()> {
        if growth <= RUNAWAY {
            return Ok(());
        }
        Err(self.diverged(epoch, format!("the matrix has grown {growth:.3e} times")))
    }

    /// The error that names the epoch and the learning rate, which is what a user can change.
    fn diverged(&self, epoch: usize, reason: String) -> Error {
        let what = "learning the compatibility matrix".into();
        Error::Diverged { what, epoch, reason, learning_rate: self.settings.learning_rate }
    }
}

/// One [`Adam`] for each map, with steps in proportion to its entries.
struct Optimizer<T> {
    rows: Option<Adam<T>>,
    cols: Option<Adam<T>>,
    /// Length of all maps at the start.
    length: f64,
}

impl<T: Scalar> Optimizer<T> {
    fn new(maps: &Maps<T>, rate: f64) -> Self {
        let adam = |map: &Mat<T>| {
            let entries = (map.nrows() * map.ncols()) as f64;
            Adam::new((map.nrows(), map.ncols()), rate * map.norm_l2().as_f64() / entries.sqrt())
        };
        Optimizer { rows: maps.rows.as_ref().map(adam), cols: maps.cols.as_ref().map(adam), length: length(maps) }
    }

    fn put(&self, kept: &mut Archive) {
        for (name, adam) in [("adam.rows", &self.rows), ("adam.cols", &self.cols)] {
            adam.iter().for_each(|adam| adam.put(name, kept));
        }
    }

    fn restore(&mut self, kept: &Archive) -> Result<()> {
        let sides = [("adam.rows", &mut self.rows), ("adam.cols", &mut self.cols)];
        sides.into_iter().try_for_each(|(name, adam)| adam.as_mut().map_or(Ok(()), |adam| adam.restore(name, kept)))
    }

    /// How many times longer the maps are than at the start.
    fn growth(&self, maps: &Maps<T>) -> f64 {
        if self.length > 0.0 { length(maps) / self.length } else { 1.0 }
    }

    fn step(&mut self, maps: &mut Maps<T>, gradient: &Maps<T>) {
        let sides =
            [(&mut self.rows, &mut maps.rows, &gradient.rows), (&mut self.cols, &mut maps.cols, &gradient.cols)];
        for side in sides {
            if let (Some(adam), Some(map), Some(gradient)) = side {
                adam.step(map, gradient);
            }
        }
    }
}

/// Root of the sum of all squares.
fn length<T: Scalar>(maps: &Maps<T>) -> f64 {
    let side = |map: &Option<Mat<T>>| map.as_ref().map_or(0.0, |map| map.norm_l2().as_f64());
    side(&maps.rows).hypot(side(&maps.cols))
}

/// V·Σ⁻¹·√n.
///
/// Singular values below a hundredth of the first are replaced by it, so that directions of hardly any weight
/// do not dominate the gradient.
fn projection<T: Scalar>(model: &KernelSvdModel<T>) -> Mat<T> {
    let sigma = model.singular_values();
    let root = T::of((model.size().0 as f64).sqrt());
    let floor = sigma.first().map_or(T::zero(), |first| *first * T::of(FLOOR));
    let v = &model.svd.v;
    Mat::from_fn(v.nrows(), sigma.len(), |j, k| v[(j, k)] * root / num_traits::Float::max(sigma[k], floor))
}

/// Features in double precision, with a column of ones.
pub(super) fn with_ones<T: Scalar>(features: &Mat<T>) -> Mat<f64> {
    let rank = features.ncols();
    Mat::from_fn(features.nrows(), rank + 1, |i, k| if k < rank { features[(i, k)].as_f64() } else { 1.0 })
}

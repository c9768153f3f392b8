//! Online learners: matrices that learn from one trial after the other.

use crate::convert::settings_of;
use crate::convert::{matrix, samples, vector};
use crate::error::exception;
use crate::model::written;
use crate::run::{briefly, run};
use lopsided::base::memory;
use lopsided::base::settings::Settings;
use lopsided::data::archive::Archive;
use lopsided::online::{History, Instance, LearnerSpec, OnlineLearner, Trial, learner_spec};
use lopsided::report::Account;
use lopsided::solvers::lowrank::{Anchors, KernelFunctions};
use lopsided::{Error, Mat, Progress, Result, Run, Samples, SamplesRef};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A learner with what is known about its past.
struct State {
    /// Trials before those of `losses`, of a file that does not tell theirs.
    untold: u64,
    spec: LearnerSpec,
    learner: Box<dyn OnlineLearner>,
    history: History,
    /// Of every trial since.
    losses: Vec<f64>,
}

/// Where a learner is while nobody works with it.
///
/// Whoever works with a learner takes it out, on the thread that asked: no lock is held while our threads work, one of which
/// could otherwise come to wait for itself.
struct Home {
    state: Option<State>,
    /// The process of whoever has taken it.
    process: u32,
}

/// The learner while somebody works with it; it goes home by itself.
struct Turn {
    state: Option<State>,
    home: Arc<Mutex<Home>>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        entered(&self.home).state = self.state.take();
    }
}

impl Deref for Turn {
    type Target = State;

    fn deref(&self) -> &State {
        // Made with a state, which nothing but `drop` takes out.
        self.state.as_ref().expect("a turn has the learner")
    }
}

impl DerefMut for Turn {
    fn deref_mut(&mut self) -> &mut State {
        // As above.
        self.state.as_mut().expect("a turn has the learner")
    }
}

/// Both sides of some trials, and their labels.
type Trials<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, PyReadonlyArray1<'py, f64>);

/// Between two looks at whether the learner is home.
const WAIT: Duration = Duration::from_millis(1);

/// An online learner.
#[pyclass(frozen, module = "lopsided._core")]
pub(crate) struct Learner(Arc<Mutex<Home>>);

#[pymethods]
impl Learner {
    /// The learner called `name` before its first trial.
    #[new]
    fn new(name: &str, settings: &str) -> PyResult<Self> {
        State::new(name, settings_of(settings)?).map(Self::of).map_err(exception)
    }

    /// Trials so far.
    #[getter]
    fn trials(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.turn(py)?.learner.account().trials)
    }

    /// The settings, and counts and sums over the trials, as JSON.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.turn(py)?;
        Ok(serde_json::json!({ "spec": state.spec, "account": state.learner.account() }).to_string())
    }

    /// The loss of every trial; NaN for those of a file that does not tell.
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let losses = self.turn(py)?.all_losses().map_err(exception)?;
        Ok(vector(py, &losses))
    }

    /// Learns from the rows of `x`, paired with those of `z` where it is given.
    #[pyo3(signature = (x, z, y, progress = None))]
    fn learn(
        &self,
        py: Python<'_>,
        x: Bound<'_, PyAny>,
        z: Option<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (rows, y, mut state) = (Rows::of(&x, z.as_ref())?, y.as_array().to_vec(), self.turn(py)?);
        run(py, 0, progress.as_ref(), move |run| state.learn(&rows, &y, run))
    }

    /// tr(WᵀM) of every row.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Bound<'py, PyAny>,
        z: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rows, state) = (Rows::of(&x, z.as_ref())?, self.turn(py)?);
        let found = run(py, 0, None, move |run| state.predict(&rows, run))?;
        Ok(vector(py, &found))
    }

    /// Coordinates of samples along the leading directions of a symmetric W.
    fn project<'py>(&self, py: Python<'py>, x: Bound<'py, PyAny>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let (rows, state) = (Rows::of(&x, None)?, self.turn(py)?);
        let found = run(py, 0, None, move |run| state.project(&rows.x, count, run))?;
        matrix(py, found.as_ref())
    }

    /// Losses, those of the best fixed matrix and the bound, as JSON: after all trials, or on the way as well.
    fn regret(
        &self,
        py: Python<'_>,
        x: Bound<'_, PyAny>,
        z: Option<Bound<'_, PyAny>>,
        y: PyReadonlyArray1<'_, f64>,
        curve: bool,
    ) -> PyResult<String> {
        let (rows, y, state) = (Rows::of(&x, z.as_ref())?, y.as_array().to_vec(), self.turn(py)?);
        let points = run(py, 0, None, move |run| {
            let trials = rows.trials(&y)?;
            let history = if curve { state.history.clone() } else { History::default() };
            history.regret(&*state.learner, &state.spec, &trials, run)
        })?;
        Ok(serde_json::json!(points).to_string())
    }

    /// Writes a page with the regret after some of the trials and its bound.
    fn page(&self, py: Python<'_>, path: PathBuf, name: &str, trials: Trials<'_>) -> PyResult<()> {
        let (x, z, y) = trials;
        let (rows, y, state) = (Rows::of(&x, z.as_ref())?, y.as_array().to_vec(), self.turn(py)?);
        let (points, learner) = run(py, 0, None, move |run| {
            let trials = rows.trials(&y)?;
            let points = state.history.regret(&*state.learner, &state.spec, &trials, run)?;
            Ok((points, state.spec.name.clone()))
        })?;
        let page = lopsided::pages::regret(&points, &learner, name, &Account::default());
        briefly(py, || written(&path, page.html().as_bytes()))
    }

    /// Writes the checkpoint that the command line reads.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let state = self.turn(py)?;
        briefly(py, move || state.archive().save(&path))
    }

    /// The bytes of the checkpoint.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.turn(py)?;
        briefly(py, move || state.archive().to_bytes()).map(|bytes| PyBytes::new(py, &bytes))
    }

    /// Reads a checkpoint.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || Archive::load(&path).and_then(|archive| State::from_archive(&archive));
        briefly(py, read).map(Self::of)
    }

    /// Reads the bytes of a checkpoint.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || Archive::from_bytes(bytes, "the learner").and_then(|archive| State::from_archive(&archive));
        briefly(py, read).map(Self::of)
    }
}

impl Learner {
    fn of(state: State) -> Self {
        Learner(Arc::new(Mutex::new(Home { state: Some(state), process: 0 })))
    }

    /// Waits until nobody else works with the learner.
    fn turn(&self, py: Python<'_>) -> PyResult<Turn> {
        let process = std::process::id();
        loop {
            {
                let mut home = entered(&self.0);
                if let Some(state) = home.state.take() {
                    home.process = process;
                    return Ok(Turn { state: Some(state), home: Arc::clone(&self.0) });
                }
                if home.process != process {
                    let reason = "the learner was at work in another thread when this process was forked";
                    return Err(PyRuntimeError::new_err(reason));
                }
            }
            py.detach(|| std::thread::sleep(WAIT));
            py.check_signals()?;
        }
    }
}

fn entered(home: &Mutex<Home>) -> MutexGuard<'_, Home> {
    home.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn new(name: &str, settings: Settings) -> Result<Self> {
        let spec = learner_spec(name, settings)?;
        let learner = spec.build()?;
        Ok(State { untold: 0, spec, learner, history: History::default(), losses: Vec::new() })
    }

    /// Labels are looked at before anything is learned; an interrupt leaves what was learned so far.
    fn learn(&mut self, rows: &Rows, y: &[f64], run: &Run) -> Result<()> {
        rows.check_labels(y)?;
        y.iter().try_for_each(|&label| self.spec.loss.check_label(label))?;
        let total = y.len() as u64;
        for (at, &label) in y.iter().enumerate() {
            run.watch.report(Progress { stage: "trials", done: at as u64, total, residual: None })?;
            let outcome = self.learner.update(&rows.instance(at)?, label)?;
            self.history.note(self.learner.account());
            self.losses.push(outcome.loss);
        }
        Ok(())
    }

    fn predict(&self, rows: &Rows, run: &Run) -> Result<Vec<f64>> {
        let one = |i: usize| run.watch.check().and_then(|()| self.learner.predict(&rows.instance(i)?));
        (0..rows.x.count()).map(one).collect()
    }

    /// The directions of W are Φ·D·P·U with stored samples Φ, their scales D, a frame P and a turn U in it.
    fn project(&self, x: &Samples<f64>, count: usize, run: &Run) -> Result<Mat<f64>> {
        let archive = self.learner.checkpoint();
        let scales: Vec<f64> = archive.vector("left.scales")?;
        if scales.is_empty() {
            return Ok(Mat::zeros(x.count(), count));
        }
        let (frame, turn): (Mat<f64>, Mat<f64>) = (archive.matrix("left.coefficients")?, archive.matrix("left.turn")?);
        let directions = &frame * turn.as_ref().subcols(0, count.min(turn.ncols()));
        let weights = Mat::from_fn(scales.len(), directions.ncols(), |i, j| scales[i] * directions[(i, j)]);
        let anchors = Anchors::Points(archive.samples("left.samples")?);
        let found = KernelFunctions::new(&self.spec.left, anchors, weights).apply(x.as_ref(), run)?;
        let lengths = self.lengths(x.as_ref())?;
        let value = |i: usize, j: usize| if j < found.ncols() { found[(i, j)] * lengths[i] } else { 0.0 };
        Ok(Mat::from_fn(x.count(), count, value))
    }

    /// What normalised samples are multiplied by.
    fn lengths(&self, x: SamplesRef<'_, f64>) -> Result<Vec<f64>> {
        if !self.spec.normalize {
            return Ok(vec![1.0; x.count()]);
        }
        let kernel = self.spec.left.build::<f64>()?;
        let one = |i: usize| {
            let mut own = Mat::zeros(1, 1);
            kernel.block(x.subrows(i, 1), x.subrows(i, 1), own.as_mut())?;
            Ok(if own[(0, 0)] > 0.0 { 1.0 / f64::sqrt(own[(0, 0)]) } else { 0.0 })
        };
        (0..x.count()).map(one).collect()
    }

    fn all_losses(&self) -> Result<Vec<f64>> {
        let count = usize::try_from(self.untold).unwrap_or(usize::MAX).saturating_add(self.losses.len());
        memory::check("the loss of every trial", memory::product(&[count, 8]), "begin with a new learner")?;
        let mut losses = vec![f64::NAN; count];
        losses[count - self.losses.len()..].copy_from_slice(&self.losses);
        Ok(losses)
    }

    fn archive(&self) -> Archive {
        let mut archive = self.learner.checkpoint();
        archive.set_field("history", &self.history);
        archive.set_vector("losses", &self.losses);
        archive
    }

    fn from_archive(archive: &Archive) -> Result<Self> {
        let learner = LearnerSpec::restore(archive)?;
        // Files of earlier versions have NaN for what they do not tell.
        let mut losses: Vec<f64> = if archive.has("losses") { archive.vector("losses")? } else { Vec::new() };
        losses.drain(..losses.iter().take_while(|loss| loss.is_nan()).count());
        let untold = learner.account().trials.saturating_sub(losses.len() as u64);
        let history = archive.field::<Option<History>>("history")?.unwrap_or_default();
        Ok(State { untold, spec: archive.field("spec")?, learner, history, losses })
    }
}

/// Samples as they come: one instance for each row.
struct Rows {
    x: Samples<f64>,
    z: Option<Samples<f64>>,
}

impl Rows {
    fn of(x: &Bound<'_, PyAny>, z: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let rows = Rows { x: samples(x)?, z: z.map(samples).transpose()? };
        rows.check().map(|()| rows).map_err(exception)
    }

    fn check(&self) -> Result<()> {
        self.x.check_finite("X")?;
        let Some(z) = &self.z else { return Ok(()) };
        z.check_finite("Z")?;
        if z.count() == self.x.count() {
            Ok(())
        } else {
            Err(Error::shape("the number of rows of Z", self.x.count(), z.count()))
        }
    }

    fn instance(&self, i: usize) -> Result<Instance> {
        let z = self.z.as_ref().map(|z| z.as_ref().select(&[i]));
        Instance::new(self.x.as_ref().select(&[i]), z, Vec::new())
    }

    fn check_labels(&self, y: &[f64]) -> Result<()> {
        if y.len() == self.x.count() {
            return Ok(());
        }
        Err(Error::shape("the number of labels", self.x.count(), y.len()))
    }

    fn trials(&self, y: &[f64]) -> Result<Vec<Trial>> {
        self.check_labels(y)?;
        y.iter().enumerate().map(|(i, &label)| Ok(Trial { instance: self.instance(i)?, label })).collect()
    }
}

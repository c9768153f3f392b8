//! What the next pass needs to know, and what follows from its sums.

use super::job::{Job, Method};
use super::look::Look;
use super::newton::Search;
use super::part::Part;
use super::seen::Seen;
use super::sums::{packed_length, unpacked};
use super::tree::Sums;
use crate::base::Run;
use crate::base::checkpoint::Fingerprint;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::archive::Archive;
use crate::data::table_stream::TableFacts;
use crate::estimators::fitted::Fitted;
use crate::estimators::kernel_machine::KernelMachineModel;
use crate::estimators::kernel_pca::{KernelPcaModel, leading};
use crate::estimators::kernel_ridge::{KernelRidgeModel, solve};
use crate::estimators::preparation::{Preparation, Scale};
use crate::estimators::prepared::PreparedModel;
use crate::estimators::scoring::Answer;
use crate::estimators::{FitReport, Model};
use crate::solvers::lowrank::KernelFunctions;
use faer::Mat;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Field of archives that says what they are.
const KIND: &str = "shards";
/// What states say there.
const STATE: &str = "state";

/// What a pass is for.
#[derive(Clone)]
pub(super) enum Pass<T> {
    /// Counts, moments, classes, landmarks.
    Look,
    /// The Gram matrix of the landmarks or of their features.
    Sums(Arc<Seen<T>>),
    /// Loss, gradient and curvature.
    Newton(Arc<Seen<T>>, Arc<Search>),
}

/// Where a fit by passes has come to: everything that whoever takes a part in the next pass has to know. A few landmarks large.
#[derive(Clone)]
pub struct State<T> {
    pub(super) job: Arc<Job>,
    pub(super) pass: Pass<T>,
}

/// What follows from a pass.
pub enum Outcome<T> {
    /// Another pass.
    Next(State<T>),
    /// The model.
    Model(Box<Learned<T>>),
}

/// A fitted model with the scale of its columns.
pub struct Learned<T> {
    /// The model.
    pub fitted: Fitted<T>,
    /// What becomes of the columns before a model that does not predict places them; one that predicts does so itself.
    pub preparation: Option<Preparation>,
    /// Passes over the rows.
    pub passes: usize,
    target: Option<String>,
}

impl<T: Scalar> Learned<T> {
    /// The model as a file has it.
    pub fn archive(&self) -> Archive {
        let mut archive = self.fitted.archive();
        archive.set_field("target", &self.target);
        if let Some(preparation) = &self.preparation {
            preparation.put(&mut archive);
        }
        archive
    }

    /// Whether every tolerance was reached.
    pub fn converged(&self) -> bool {
        match &self.fitted {
            Fitted::Predictor(model) => model.report().converged,
            _ => true,
        }
    }
}

impl<T: Scalar> State<T> {
    /// Before the first pass.
    pub fn new(job: Job) -> Self {
        State { job: Arc::new(job), pass: Pass::Look }
    }

    /// What is learned.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// What the next pass is for, in a few words.
    pub fn stage(&self) -> &'static str {
        match &self.pass {
            Pass::Look => "looking through the rows",
            Pass::Sums(_) => "summing up",
            Pass::Newton(..) => "a step of Newton's method",
        }
    }

    /// Number of the next pass, from 1.
    pub fn number(&self) -> usize {
        match &self.pass {
            Pass::Look => 1,
            Pass::Sums(_) => 2,
            Pass::Newton(_, search) => search.passes + 2,
        }
    }

    /// An empty part of the next pass over a table.
    ///
    /// # Errors
    /// [`Error::Unlike`] for another table than that of the first pass.
    pub fn part(&self, facts: TableFacts) -> Result<Part<T>> {
        if let Some(seen) = self.seen() {
            check_facts(&seen.facts, &facts)?;
        }
        Ok(Part::new(self.clone(), facts))
    }

    pub(super) fn seen(&self) -> Option<&Arc<Seen<T>>> {
        match &self.pass {
            Pass::Look => None,
            Pass::Sums(seen) | Pass::Newton(seen, _) => Some(seen),
        }
    }

    /// Lengths of the lists that every sum has.
    pub(super) fn lengths(&self, look: &Look<T>, width: usize) -> Vec<usize> {
        match &self.pass {
            Pass::Look => {
                let columns = look.columns(width);
                vec![1, columns, columns, columns, columns]
            }
            Pass::Sums(seen) if self.job.method == Method::Ridge => {
                let m = seen.landmarks.count();
                vec![packed_length(m), m * seen.means.len()]
            }
            Pass::Sums(seen) => {
                let s = seen.span(&Run::default()).map_or(0, |span| span.root.ncols());
                vec![packed_length(s), s]
            }
            Pass::Newton(_, search) => search.lengths(),
        }
    }

    /// A number that tells it from others.
    pub(super) fn print(&self) -> Result<u64> {
        let mut print = Fingerprint::default();
        print.bytes(&self.to_bytes()?);
        Ok(print.value())
    }

    /// What follows from the sums over all rows.
    pub(super) fn finish(
        &self,
        facts: &TableFacts,
        look: Look<T>,
        sums: Sums,
        print: u64,
        run: &Run,
    ) -> Result<Outcome<T>> {
        match (&self.pass, sums) {
            (Pass::Look, Sums::Moments(moments)) => {
                let seen = Arc::new(Seen::new(&self.job, facts, look, &moments, print)?);
                let pass = match self.job.method {
                    Method::Features => return self.features(&seen, run).map(Outcome::Model),
                    Method::Svm | Method::Logistic => {
                        let search = Arc::new(Search::new(&self.job, &seen, run)?);
                        Pass::Newton(seen, search)
                    }
                    Method::Ridge | Method::Pca => Pass::Sums(seen),
                };
                Ok(Outcome::Next(State { job: self.job.clone(), pass }))
            }
            (Pass::Sums(seen), Sums::Plain(sums)) if self.job.method == Method::Ridge => {
                self.ridge(seen, &sums, run).map(Outcome::Model)
            }
            (Pass::Sums(seen), Sums::Plain(sums)) => self.components(seen, &sums, run).map(Outcome::Model),
            (Pass::Newton(seen, search), Sums::Plain(sums)) => {
                let mut search = Search::clone(search);
                if search.advance(&self.job, seen, &sums, run)? {
                    return self.machine(seen, &search, run).map(Outcome::Model);
                }
                let pass = Pass::Newton(seen.clone(), Arc::new(search));
                Ok(Outcome::Next(State { job: self.job.clone(), pass }))
            }
            _ => Err(Error::unlike("the pass", "the first", "a later one")),
        }
    }

    /// (Aᵀ·K_mn·K_nm·A + λ₀I)·w = Aᵀ·K_mn·y, \[NKM\] Eq. (11) in an orthonormal basis.
    fn ridge(&self, seen: &Arc<Seen<T>>, sums: &[Vec<f64>], run: &Run) -> Result<Box<Learned<T>>> {
        let (root, m) = (&seen.span(run)?.root, seen.landmarks.count());
        let cross = Mat::from_fn(m, seen.means.len(), |i, c| sums[1][c * m + i]);
        let image = linalg::mul(unpacked(&sums[0], m).as_ref(), root.as_ref());
        // Rounding makes the product a little asymmetric, and the factor reads one half of it.
        let system = linalg::mirrored(linalg::transpose_mul(root.as_ref(), image.as_ref()).as_ref());
        let rhs = linalg::transpose_mul(root.as_ref(), cross.as_ref());
        let (w, verdict) = solve(system, self.job.penalty, rhs)?;
        let mut functions = seen.functions(linalg::mul(root.as_ref(), w.as_ref()));
        functions.bias.clone_from(&seen.means);
        let mut params = params(seen);
        params.insert("approach".into(), "ncr".into());
        params.insert("penalty".into(), self.job.penalty.into());
        params.insert("solver".into(), "direct".into());
        let left = || format!("the equations are solved to {:.1e} only; take a smaller `penalty`", verdict.left());
        let warnings = if verdict.converged() { Vec::new() } else { vec![left()] };
        let report = report(seen, params, warnings, verdict.converged());
        let answer = seen.answer.clone().unwrap_or(Answer::Values);
        Ok(learned(seen, 2, |report| Box::new(KernelRidgeModel { functions, answer, report }), report))
    }

    /// The planes that Newton's method has found.
    fn machine(&self, seen: &Arc<Seen<T>>, search: &Search, run: &Run) -> Result<Box<Learned<T>>> {
        let found = search.solved(&self.job, seen, run)?;
        let mut functions = seen.functions(found.weights);
        functions.bias = found.bias;
        let mut params = params(seen);
        params.insert("approach".into(), "lla".into());
        params.insert("nystrom".into(), "standard".into());
        params.insert("penalty".into(), self.job.penalty.into());
        params.insert("newton-steps".into(), search.passes.into());
        let softmax = self.job.method == Method::Logistic;
        if !softmax {
            params.insert("loss".into(), "squared-hinge".into());
            params.insert("multi-class".into(), "ovr".into());
        }
        let left =
            || format!("the gradient is still {:.1e} of that at zero after {} passes", found.left, search.passes);
        let warnings = if found.converged { Vec::new() } else { vec![left()] };
        let report = report(seen, params, warnings, found.converged);
        let (name, answer) = (self.job.name(), seen.answer.clone().unwrap_or(Answer::Values));
        let model = |report| -> Box<dyn Model<T>> {
            Box::new(KernelMachineModel::by_landmarks(name, functions, (answer, report), softmax))
        };
        Ok(learned(seen, search.passes + 1, model, report))
    }

    /// FᵀF·q = θ·q with the features F less their means.
    fn components(&self, seen: &Arc<Seen<T>>, sums: &[Vec<f64>], run: &Run) -> Result<Box<Learned<T>>> {
        let (span, n) = (seen.span(run)?, seen.known as f64);
        let means: Vec<f64> = sums[1].iter().map(|sum| if self.job.center { sum / n } else { 0.0 }).collect();
        let s = means.len();
        if self.job.rank > seen.known {
            let allowed = format!("between 1 and the number of samples, {}", seen.known);
            return Err(Error::param("rank", self.job.rank, allowed));
        }
        let whole = unpacked(&sums[0], s);
        let gram = Mat::from_fn(s, s, |i, j| whole[(i, j)] - n * means[i] * means[j]);
        let found = leading(gram, self.job.rank)?;
        if found.values.is_empty() {
            return Err(Error::param("rank", "0 for these samples", "at least 1: they do not vary in feature space"));
        }
        let mut functions = seen.functions(linalg::mul(span.root.as_ref(), found.vectors.as_ref()));
        let centre = |c: usize| (0..s).map(|i| means[i] * found.vectors[(i, c)]).sum::<f64>();
        let centres: Vec<f64> = (0..found.values.len()).map(centre).collect();
        let own = linalg::mul(span.gram.as_ref(), functions.weights.as_ref());
        point_up(&mut functions, &own, &centres);
        let mut params = params(seen);
        params.insert("approach".into(), "lla".into());
        params.insert("nystrom".into(), "standard".into());
        params.insert("rank".into(), found.values.len().into());
        params.insert("center".into(), self.job.center.into());
        let variances = found.values.iter().map(|value| value / n).collect();
        Ok(placed(seen, 2, functions, variances, params))
    }

    /// The map of the landmarks; its variances are the mean squares of the features at the landmarks, which are drawn uniformly.
    fn features(&self, seen: &Arc<Seen<T>>, run: &Run) -> Result<Box<Learned<T>>> {
        let (span, m) = (seen.span(run)?, seen.landmarks.count());
        if let Some(most) = self.job.truncate.filter(|most| *most > m) {
            return Err(Error::param("truncate", most, format!("between 1 and the number of landmarks, {m}")));
        }
        let kept = span.root.ncols().min(self.job.truncate.unwrap_or(m));
        let functions = seen.functions(span.root.subcols(0, kept).to_owned());
        let own = linalg::mul(span.gram.as_ref(), functions.weights.as_ref());
        let variances = own.col_iter().map(|column| column.squared_norm_l2() / m as f64).collect();
        let mut params = params(seen);
        params.insert("approach".into(), "lla".into());
        params.insert("nystrom".into(), "standard".into());
        params.insert("rank".into(), kept.into());
        params.insert("center".into(), false.into());
        params.insert("landmark-rows".into(), json!(seen.rows));
        Ok(placed(seen, 1, functions, variances, params))
    }

    /// The bytes of its file.
    ///
    /// # Errors
    /// [`Error::Archive`] for what no file can hold, such as a kernel given by value.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut archive = Archive::of_state();
        archive.set_field(KIND, STATE);
        self.put(&mut archive);
        archive.to_bytes()
    }

    /// What a file holds; `path` names it in messages.
    ///
    /// # Errors
    /// [`Error::Archive`] for a file that is damaged, something else, or of another version.
    pub fn from_bytes(bytes: &[u8], path: &str) -> Result<Self> {
        let archive = Archive::from_bytes(bytes, path)?;
        check_kind(&archive, STATE)?;
        Self::take(&archive)
    }

    pub(super) fn put(&self, archive: &mut Archive) {
        archive.set_field("job", self.job.name());
        archive.set_field("given", &self.job.given);
        archive.set_field("seed", self.job.seed);
        archive.set_field("precision", T::NAME);
        let stage = match &self.pass {
            Pass::Look => "look",
            Pass::Sums(_) => "sums",
            Pass::Newton(..) => "newton",
        };
        archive.set_field("pass", stage);
        if let Some(seen) = self.seen() {
            seen.put(archive);
        }
        if let Pass::Newton(_, search) = &self.pass {
            search.put(archive);
        }
    }

    pub(super) fn take(archive: &Archive) -> Result<Self> {
        let (name, given): (String, Settings) = (archive.field("job")?, archive.field("given")?);
        let precision: String = archive.field("precision")?;
        if precision != T::NAME {
            return Err(archive.error(format!("has the precision {precision}, not {}", T::NAME)));
        }
        let job = Arc::new(Job::new::<T>(&name, given, archive.field("seed")?)?);
        let seen = || Seen::take(archive).map(Arc::new);
        let pass = match archive.field::<String>("pass")?.as_str() {
            "look" => Pass::Look,
            "sums" if matches!(job.method, Method::Ridge | Method::Pca) => Pass::Sums(seen()?),
            "newton" if job.method.of_classes() => {
                let seen = seen()?;
                let search = Search::take(archive, &job, seen.landmarks.count(), seen.classes().len())?;
                Pass::Newton(seen, Arc::new(search))
            }
            other => return Err(archive.error(format!("has the pass `{other}`, which {name} does not have"))),
        };
        if let (Pass::Sums(seen) | Pass::Newton(seen, _), true) = (&pass, job.method.predicts())
            && (seen.answer.is_none() || job.method.of_classes() && seen.classes().len() < 2)
        {
            return Err(archive.error("does not say what is predicted"));
        }
        Ok(State { job, pass })
    }
}

/// The precision of a part or a state.
///
/// # Errors
/// [`Error::Archive`] for a file of something else.
pub fn precision_of(bytes: &[u8], path: &str) -> Result<String> {
    Archive::from_bytes(bytes, path)?.field("precision")
}

/// Refuses archives of something else, and those of other versions, whose sums may be others.
pub(super) fn check_kind(archive: &Archive, kind: &str) -> Result<()> {
    let found: Option<String> = archive.field(KIND)?;
    if found.as_deref() != Some(kind) {
        let what = found.map_or_else(|| "a model".to_string(), |found| format!("a {found}"));
        return Err(archive.error(format!("is {what}, not a {kind} of a fit by passes")));
    }
    let (version, own): (String, _) = (archive.field("version")?, env!("CARGO_PKG_VERSION"));
    if version == own { Ok(()) } else { Err(archive.error(format!("is of version {version}, and this is {own}"))) }
}

/// Says what an archive is.
pub(super) fn set_kind(archive: &mut Archive, kind: &str) {
    archive.set_field(KIND, kind);
}

/// Refuses another table.
pub(super) fn check_facts(one: &TableFacts, other: &TableFacts) -> Result<()> {
    let list =
        |names: &Option<Vec<String>>| names.as_ref().map_or("without names".to_string(), |names| names.join(", "));
    let target = |facts: &TableFacts| facts.target.clone().unwrap_or_else(|| "without a name".into());
    if one.rows != other.rows {
        return Err(Error::unlike("the number of rows of the table", one.rows, other.rows));
    }
    if one.width != other.width {
        return Err(Error::unlike("the number of columns of the table", one.width, other.width));
    }
    if one.columns != other.columns {
        return Err(Error::unlike("the list of columns", list(&one.columns), list(&other.columns)));
    }
    if one.target != other.target {
        return Err(Error::unlike("the target column", target(one), target(other)));
    }
    Ok(())
}

fn report<T: Scalar>(
    seen: &Seen<T>,
    params: BTreeMap<String, Value>,
    warnings: Vec<String>,
    converged: bool,
) -> FitReport {
    FitReport { params, n_train: seen.known, condition: None, warnings, chosen: None, choices: Vec::new(), converged }
}

/// Takes the means off, and makes the largest component of a landmark positive; `own` are their values at the landmarks.
fn point_up<T: Scalar>(functions: &mut KernelFunctions<T>, own: &Mat<f64>, means: &[f64]) {
    for (c, (column, mean)) in own.col_iter().zip(means).enumerate() {
        let longest = column.iter().map(|v| v - mean).fold(0.0f64, |a, v| if v.abs() > a.abs() { v } else { a });
        let sign = if longest < 0.0 { -1.0 } else { 1.0 };
        functions.bias[c] = -sign * mean;
        functions.weights.col_mut(c).iter_mut().for_each(|w| *w *= sign);
    }
}

/// What reports of all machines say.
fn params<T: Scalar>(seen: &Seen<T>) -> BTreeMap<String, Value> {
    let mut params: BTreeMap<String, Value> = seen.kernel.as_params().collect();
    params.insert("kernel".into(), seen.kernel.name.clone().into());
    params.insert("landmarks".into(), seen.landmarks.count().into());
    params.insert("sampler".into(), "uniform".into());
    params
}

/// A model that predicts, with its scale.
fn learned<T: Scalar>(
    seen: &Seen<T>,
    passes: usize,
    model: impl FnOnce(FitReport) -> Box<dyn Model<T>>,
    report: FitReport,
) -> Box<Learned<T>> {
    let inner = model(report.clone());
    let mut said = report;
    if seen.scale != Scale::None {
        said.params.insert("scale".into(), seen.scale.to_string().into());
    }
    let inner: Box<dyn Model<T>> = match seen.preparation() {
        None => inner,
        preparation => Box::new(PreparedModel { inner, preparation, report: said }),
    };
    let target = seen.facts.target.clone();
    Box::new(Learned { fitted: Fitted::Predictor(inner), preparation: None, passes, target })
}

/// A model that places rows, with its scale beside it.
fn placed<T: Scalar>(
    seen: &Seen<T>,
    passes: usize,
    functions: KernelFunctions<T>,
    variances: Vec<f64>,
    params: BTreeMap<String, Value>,
) -> Box<Learned<T>> {
    let model = KernelPcaModel { functions, variances, params, n_train: seen.known, solved: None };
    let (fitted, target) = (Fitted::Components(model), seen.facts.target.clone());
    Box::new(Learned { fitted, preparation: seen.preparation(), passes, target })
}

//! What is learned by passes: an estimator with all of its settings, the same for everybody who takes a part in it.

use crate::base::error::{Error, Result};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::table_stream::TableFacts;
use crate::estimators::gram::Gram;
use crate::estimators::preparation::Scale;
use crate::estimators::recipe::{self, Usual};
use crate::kernel::Form;
use crate::solvers::lowrank::check_symmetric;
use std::str::FromStr;

/// Rows that are summed up as one piece, unless told otherwise.
const PIECE: u32 = 8192;
/// Landmarks unless a number is given.
const LANDMARKS: usize = 1000;
/// Length of the gradient against that at zero.
const TOL: f64 = 1e-5;
/// Most passes of Newton's method.
const PASSES: usize = 100;
/// Rows whose kernel values are held at once.
pub(super) const BLOCK: usize = 2048;

/// Settings of machines that learn by passes, beside those of the kernel: for those who show them.
pub const SHARD_SETTINGS: [Setting; 1] =
    [Setting::new("piece", "rows that are summed up as one piece", "a whole number of at least 1", "8192")];

/// Settings that may be said although only these values can be.
const FIXED: [(&str, &str); 5] = [
    ("nystrom", "standard"),
    ("sampler", "uniform"),
    ("impute", "none"),
    ("multi-class", "ovr"),
    ("symmetrize", "average"),
];

/// What is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Ridge,
    Svm,
    Logistic,
    Pca,
    Features,
}

impl Method {
    const ALL: [(Method, &'static str); 5] = [
        (Method::Ridge, "krr"),
        (Method::Svm, "svm"),
        (Method::Logistic, "logistic"),
        (Method::Pca, "kpca"),
        (Method::Features, "features"),
    ];

    /// Whether it learns a target.
    pub(super) fn predicts(self) -> bool {
        matches!(self, Method::Ridge | Method::Svm | Method::Logistic)
    }

    /// Whether it learns classes only.
    pub(super) fn of_classes(self) -> bool {
        matches!(self, Method::Svm | Method::Logistic)
    }

    /// Settings of its own, those of the kernel aside.
    fn settings(self) -> &'static [&'static str] {
        match self {
            Method::Ridge => &["landmarks", "scale", "piece", "penalty", "task"],
            Method::Svm => &["landmarks", "scale", "piece", "penalty", "tol", "loss"],
            Method::Logistic => &["landmarks", "scale", "piece", "penalty", "tol"],
            Method::Pca => &["landmarks", "scale", "piece", "rank", "center"],
            Method::Features => &["landmarks", "scale", "piece", "truncate"],
        }
    }
}

/// What numbers among the targets of ridge regression are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Task {
    /// Values if there is a fraction or are more than 20 of them, else classes.
    #[default]
    Auto,
    Classes,
    Values,
}

words!(Task, "task": Auto = "auto", Classes = "classes", Values = "values");

/// An estimator that learns by passes over a table, with its settings and its seed.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::estimators::shards::Job;
///
/// let job = Job::new::<f64>("krr", Settings::default().with("penalty", 10.0), 0)?;
/// assert_eq!(job.name(), "krr");
/// assert!(Job::new::<f64>("nu-svm", Settings::default(), 0).is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Job {
    pub(super) method: Method,
    pub(super) given: Settings,
    pub(super) seed: u64,
    pub(super) precision: String,
    pub(super) gram: Gram,
    pub(super) landmarks: Option<usize>,
    pub(super) penalty: f64,
    pub(super) tol: f64,
    pub(super) passes: usize,
    pub(super) rank: usize,
    pub(super) truncate: Option<usize>,
    pub(super) center: bool,
    pub(super) scale: Scale,
    pub(super) task: Task,
    pub(super) piece: usize,
}

impl Job {
    /// The estimator called so: `krr`, `svm` (squared hinge, one class against the rest), `logistic`, `kpca` or `features`.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Param`] for names and values that cannot be.
    pub fn new<T: Scalar>(name: &str, given: Settings, seed: u64) -> Result<Self> {
        let known = || Method::ALL.iter().map(|(_, name)| (*name).to_string()).collect();
        let unknown = || Error::Unknown { kind: "estimator that learns by passes", name: name.into(), known: known() };
        let method = Method::ALL.iter().find(|(_, own)| *own == name).map(|(method, _)| *method).ok_or_else(unknown)?;
        let usual = if method.predicts() { Usual::learning("rbf", false) } else { Usual::COMPONENTS };
        let mut rest = given.clone();
        let gram = Gram { memory: None, ..recipe::take_gram(&mut rest, &usual)? };
        check_kernel::<T>(&gram)?;
        take_fixed(&mut rest, method)?;
        if let Some((name, value)) = rest.iter().find(|(name, _)| !method.settings().contains(name)) {
            return Err(Error::param(name, value, "left out where rows are read in passes"));
        }
        let distances = gram.kernel.nature().form == Form::Distance;
        let scale = match rest.word::<Scale>("scale")?.unwrap_or_default() {
            Scale::Auto if method.predicts() && distances => Scale::Auto,
            Scale::Auto => Scale::None,
            scale => scale,
        };
        let count = |name: &str| rest.value(name).map(|_| rest.count(name, 1).map(|n| n as usize)).transpose();
        Ok(Job {
            method,
            seed,
            precision: T::NAME.into(),
            landmarks: count("landmarks")?,
            penalty: rest.positive("penalty", Some(1.0))?,
            tol: rest.positive("tol", Some(TOL))?,
            passes: PASSES,
            rank: rest.count("rank", Usual::COMPONENTS.rank as u32)? as usize,
            truncate: count("truncate")?,
            center: rest.flag("center", Usual::COMPONENTS.center)?,
            task: word(&rest, "task")?.unwrap_or_default(),
            piece: rest.count("piece", PIECE)? as usize,
            scale,
            gram,
            given,
        })
    }

    /// Name of the estimator.
    pub fn name(&self) -> &'static str {
        Method::ALL.iter().find(|(method, _)| *method == self.method).map_or("", |(_, name)| name)
    }

    /// Rows of a piece.
    pub fn piece(&self) -> usize {
        self.piece
    }

    /// Settings as they were given.
    pub fn given(&self) -> &Settings {
        &self.given
    }

    /// Where all randomness comes from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Landmarks that are looked for; fewer where there are fewer rows.
    pub fn most_landmarks(&self) -> usize {
        self.landmarks.unwrap_or(LANDMARKS)
    }

    /// Passes that most tables take.
    fn usual_passes(&self) -> f64 {
        match self.method {
            Method::Features => 1.0,
            Method::Ridge | Method::Pca => 2.0,
            Method::Svm | Method::Logistic => 10.0,
        }
    }

    /// Bytes held at the peak for a table of this size, for one class or pair of classes.
    pub fn bytes<T: Scalar>(&self, facts: &TableFacts) -> u64 {
        let m = self.most_landmarks().min(facts.rows.max(1));
        let levels = 2 + facts.rows.div_ceil(self.piece).max(1).ilog2() as usize;
        let held = if self.method == Method::Features { 0 } else { levels };
        let piece = self.piece.min(facts.rows) * facts.width * (3 * T::BYTES + 4);
        let values = 4 * BLOCK * m * 8;
        ((6 * m * m + held * m * (m + 1) / 2) * 8 + m * facts.width * T::BYTES + piece + values) as u64
    }

    /// Rough seconds for the kernel values and sums of so many rows, reading aside.
    pub fn seconds(&self, facts: &TableFacts, rows: usize) -> f64 {
        let (n, m) = (rows as f64, self.most_landmarks().min(facts.rows.max(1)) as f64);
        let values = n * m * (facts.width as f64).max(8.0) * 1.5e-10;
        let sums = if self.method == Method::Features { 0.0 } else { n * m * m * 5e-11 };
        (self.usual_passes() * (values + sums) + 10.0 * m.powi(3) * 1e-10) / rayon::current_num_threads() as f64
    }

    /// Everything that the result depends on beside the data.
    pub(super) fn identity(&self) -> serde_json::Map<String, serde_json::Value> {
        let own =
            [("work", self.name().into()), ("seed", self.seed.into()), ("precision", self.precision.as_str().into())];
        self.given.to_map().into_iter().chain(own.map(|(name, value)| (name.to_string(), value))).collect()
    }

    /// Refuses another job, with what differs.
    ///
    /// # Errors
    /// [`Error::Unlike`].
    pub fn check_same(&self, other: &Job) -> Result<()> {
        let (one, two) = (self.identity(), other.identity());
        let names: std::collections::BTreeSet<&String> = one.keys().chain(two.keys()).collect();
        let said = |map: &serde_json::Map<String, serde_json::Value>, name: &str| {
            map.get(name).map_or_else(|| "not given".to_string(), |value| value.to_string().replace('"', ""))
        };
        match names.into_iter().find(|name| one.get(*name) != two.get(*name)) {
            None => Ok(()),
            Some(name) => Err(Error::unlike(format!("`{name}`"), said(&one, name), said(&two, name))),
        }
    }
}

/// A word of a setting whose type is not public.
fn word<V: FromStr<Err = Error>>(given: &Settings, name: &str) -> Result<Option<V>> {
    given.word(name)
}

fn check_kernel<T: Scalar>(gram: &Gram) -> Result<()> {
    let kernel = &gram.kernel;
    if kernel.is_precomputed() {
        return Err(Error::param("kernel", "precomputed", "one that is evaluated on rows"));
    }
    let open = kernel.gamma_from_data() && kernel.params.value("gamma").is_none();
    check_symmetric::<T>(&if open { kernel.clone().with("gamma", 1.0) } else { kernel.clone() })
}

/// Takes out what may be said but has one value only.
fn take_fixed(rest: &mut Settings, method: Method) -> Result<()> {
    let approaches: &[&str] = if method == Method::Ridge { &["ncr", "lla"] } else { &["lla"] };
    let fixed = FIXED.iter().map(|(name, only)| (*name, std::slice::from_ref(only)));
    for (name, allowed) in fixed.chain([("approach", approaches)]) {
        let Some(value) = rest.take(name) else { continue };
        if !allowed.contains(&value.to_string().as_str()) {
            return Err(Error::param(name, value, format!("{} where rows are read in passes", allowed.join(" or "))));
        }
    }
    match rest.value("loss").filter(|loss| loss.to_string() != "squared-hinge") {
        Some(loss) => Err(Error::param("loss", loss, "squared-hinge where rows are read in passes")),
        None => Ok(()),
    }
}

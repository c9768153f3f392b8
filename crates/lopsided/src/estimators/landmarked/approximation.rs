//! Which approach to landmarks, how many of them, and how they are chosen: settings that every machine with
//! landmarks shares.

use crate::base::error::{Error, Result};
use crate::base::registry::words;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::samples::SamplesRef;
use crate::estimators::Plan;
use crate::kernel::KernelSpec;
use crate::operator::{FLOP, OperatorKind, OperatorPlan, Place, available_memory};
use crate::solvers::landmarks;
use crate::solvers::lowrank::{NystromBasis, NystromMethod};
use crate::solvers::svd::SolverPlan;
use faer::Mat;
use std::collections::BTreeMap;

/// Up to this many samples the exact machine is the default.
const EXACT: usize = 4000;
/// Landmarks unless a number is given.
const LANDMARKS: usize = 1000;

/// Settings that [`Approximation::with`] knows.
pub const APPROXIMATION_SETTINGS: [Setting; 7] = [
    Setting::new(
        "approach",
        "how landmarks enter the machine",
        "exact, lla, gsa or, for krr and kpca, ncr",
        "exact for up to 4000 samples unless landmarks are asked for, else lla; always exact for svm, nu-svm and logistic",
    ),
    Setting::new("sampler", "how landmarks are chosen", "one of `lopsided list samplers`", "uniform"),
    Setting::new("landmarks", "number of landmarks", "between 1 and the number of samples", "1000, or all samples"),
    Setting::new("landmark-rows", "rows of the data that are the landmarks", "row numbers", "chosen by the sampler"),
    Setting::new("landmark-points", "points that are the landmarks", "rows of numbers", "chosen by the sampler"),
    Setting::new(
        "nystrom",
        "how landmarks become an orthonormal basis",
        "standard, one-shot, double or multi-scale",
        "standard",
    ),
    Setting::new("truncate", "directions of the basis that are kept", "a whole number of at least 1", "all"),
];

/// How landmarks enter a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approach {
    /// Not at all: the machine itself.
    Exact,
    /// Low-rank linearisation: a linear machine on the features.
    Lla,
    /// Gram matrix substitution: its coefficients carried over to all samples.
    Gsa,
    /// Nyström computational regularisation: the best function in the span of the landmarks.
    Ncr,
}

words!(Approach, "approach": Exact = "exact", Lla = "lla", Gsa = "gsa", Ncr = "ncr");

/// Landmarks that a user brings.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnLandmarks {
    /// Rows of the data; those without a target may be among them.
    Rows(Vec<usize>),
    /// Points of the space of the samples, one per row.
    Points(Mat<f64>),
}

impl OwnLandmarks {
    /// The option that brings them.
    fn name(&self) -> &'static str {
        match self {
            OwnLandmarks::Rows(_) => "landmark-ids",
            OwnLandmarks::Points(_) => "landmark-points",
        }
    }

    /// Their setting.
    fn setting(&self) -> &'static str {
        match self {
            OwnLandmarks::Rows(_) => "landmark-rows",
            OwnLandmarks::Points(_) => "landmark-points",
        }
    }

    /// What that setting is.
    fn value(&self) -> Value {
        match self {
            OwnLandmarks::Rows(rows) => Value::Numbers(rows.iter().map(|&row| row as f64).collect()),
            OwnLandmarks::Points(points) => {
                Value::Rows(points.row_iter().map(|point| point.iter().copied().collect()).collect())
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            OwnLandmarks::Rows(rows) => rows.len(),
            OwnLandmarks::Points(points) => points.nrows(),
        }
    }
}

/// Which approach, with which landmarks.
///
/// ```
/// use lopsided::estimators::{Approach, Approximation};
///
/// let usual = Approximation::default();
/// assert_eq!((usual.approach_for(100), usual.approach_for(10_000)), (Approach::Exact, Approach::Lla));
/// assert_eq!((usual.count_for(100)?, usual.count_for(10_000)?), (100, 1000));
/// let asked = Approximation { landmarks: Some(50), ..usual };
/// assert_eq!(asked.approach_for(100), Approach::Lla); // whoever asks for landmarks gets them
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Approximation {
    /// `None`: exact for up to 4000 samples unless landmarks are asked for, else [`Approach::Lla`].
    pub approach: Option<Approach>,
    /// Name in the list of [`landmarks::samplers`].
    pub sampler: String,
    /// How many landmarks; `None`: 1000, or all samples where there are fewer.
    pub landmarks: Option<usize>,
    /// The user's own landmarks instead of a sampler's choice.
    pub own: Option<OwnLandmarks>,
    /// How they become an orthonormal basis.
    pub basis: NystromBasis,
}

setters!(Approximation: with_approach(approach: Approach => Some(approach)), with_sampler(sampler: &str => sampler.into()),
    with_landmarks(landmarks: usize => Some(landmarks)), with_own(own: OwnLandmarks => Some(own)),
    with_basis(basis: NystromBasis));

impl Default for Approximation {
    fn default() -> Self {
        let sampler = "uniform".into();
        Approximation { approach: None, sampler, landmarks: None, own: None, basis: NystromBasis::default() }
    }
}

impl Approximation {
    /// An approach with so many landmarks of a sampler.
    pub fn new(approach: Approach, sampler: &str, landmarks: usize) -> Self {
        let (approach, landmarks) = (Some(approach), Some(landmarks));
        Approximation { approach, sampler: sampler.into(), landmarks, ..Approximation::default() }
    }

    /// The exact machine.
    pub fn exact() -> Self {
        Approximation { approach: Some(Approach::Exact), ..Approximation::default() }
    }

    /// The approach for so many samples.
    pub fn approach_for(&self, samples: usize) -> Approach {
        let default = if samples <= EXACT && !self.asked_for() { Approach::Exact } else { Approach::Lla };
        self.approach.unwrap_or(default)
    }

    /// The same with the approach of machines that are exact for any number of samples unless landmarks are asked for.
    pub fn settled(&self) -> Self {
        let default = if self.asked_for() { Approach::Lla } else { Approach::Exact };
        Approximation { approach: Some(self.approach.unwrap_or(default)), ..self.clone() }
    }

    /// Whether anything about landmarks is said.
    fn asked_for(&self) -> bool {
        *self != Approximation { approach: self.approach, ..Approximation::default() }
    }

    /// The number of landmarks among so many samples.
    ///
    /// # Errors
    /// [`Error::Param`] for none or more than there are samples.
    pub fn count_for(&self, samples: usize) -> Result<usize> {
        let count = self.landmarks.unwrap_or(LANDMARKS.min(samples));
        if count == 0 || count > samples {
            return Err(Error::param("landmarks", count, format!("between 1 and the number of samples, {samples}")));
        }
        Ok(count)
    }

    /// What contradicts itself is refused before any work.
    pub(in crate::estimators) fn check(&self, samples: usize) -> Result<()> {
        landmarks::sampler::<f64>(&self.sampler, &Settings::default())?;
        let approach = self.approach_for(samples);
        if approach == Approach::Ncr && self.basis != NystromBasis::default() {
            let value = if self.basis.truncate.is_some() { "truncated".into() } else { self.basis.method.to_string() };
            return Err(Error::param("nystrom", value, "standard and complete for the approach ncr, Eq. (11)"));
        }
        match &self.own {
            Some(own) if own.count() == 0 => Err(Error::param(own.name(), "empty", "at least one landmark")),
            Some(_) => Ok(()),
            None => self.count_for(samples).map(|_| ()),
        }
    }

    /// The same with those of [`APPROXIMATION_SETTINGS`] changed that are given.
    ///
    /// # Errors
    /// [`Error::Param`] or [`Error::Unknown`] for a value that cannot be.
    pub fn with(&self, given: &Settings) -> Result<Self> {
        let mut out = self.clone();
        let count = |name: &str| given.value(name).map(|_| given.count(name, 1).map(|n| n as usize)).transpose();
        out.approach = given.word("approach")?.or(out.approach);
        if let Some(sampler) = given.value("sampler") {
            out.sampler = sampler.to_string();
            landmarks::check_name(&out.sampler)?;
        }
        out.landmarks = count("landmarks")?.or(out.landmarks);
        if let Some(rows) = given.value("landmark-rows") {
            out.own = Some(OwnLandmarks::Rows(row_numbers(rows)?));
        }
        if let Some(points) = given.value("landmark-points") {
            out.own = Some(OwnLandmarks::Points(points_of(points)?));
        }
        out.basis.method = given.word("nystrom")?.unwrap_or(out.basis.method);
        out.basis.truncate = count("truncate")?.or(out.basis.truncate);
        Ok(out)
    }

    /// The settings that [`Approximation::with`] would need.
    pub fn settings(&self) -> Settings {
        let own = self.own.as_ref().map(|own| (own.setting(), own.value()));
        let chosen = own.map_or_else(Settings::default, |(name, value)| Settings::default().with(name, value));
        chosen
            .with_some("approach", self.approach.map(|approach| approach.to_string()))
            .with("sampler", self.sampler.as_str())
            .with_some("landmarks", self.landmarks)
            .with_word("nystrom", self.basis.method)
            .with_some("truncate", self.basis.truncate)
    }

    /// What a fit would cost; one of n samples.
    pub(in crate::estimators) fn plan<T: Scalar>(
        &self,
        kernel: KernelSpec,
        x: SamplesRef<'_, T>,
        n: usize,
    ) -> Result<Plan> {
        let approach = self.approach_for(n);
        let m = match (&self.own, approach) {
            (_, Approach::Exact) => n,
            (Some(own), _) => own.count(),
            (None, _) => self.count_for(n)?,
        };
        let (size, count) = (n as f64, m as f64);
        let held = if matches!(approach, Approach::Exact | Approach::Gsa) { 3 * n * m } else { 3 * m * m };
        let entries = size * count * (x.nnz() as f64 / n.max(1) as f64 + 10.0);
        let operator = OperatorPlan {
            kind: OperatorKind::Tiles,
            blocks_only: false,
            bytes: (m * x.width() * T::BYTES) as u64,
            why: format!("kernel values of {n} samples with {m} of them"),
            seconds: (entries * 1e-10, 0.0),
            place: Place::default(),
        };
        let solver = SolverPlan {
            solver: if approach == Approach::Ncr { "eigen" } else { "cholesky" },
            why: format!("approach {approach}"),
            bytes: 8 * held as u64,
            products: 1,
            flops: match approach {
                Approach::Exact => size.powi(3) / 3.0,
                _ => 2.0 * size * count * count + 10.0 * count.powi(3),
            },
        };
        let seconds = (operator.seconds.0 + solver.flops * FLOP) / rayon::current_num_threads() as f64;
        let bytes = x.bytes() as u64 + operator.bytes + solver.bytes;
        Ok(Plan { size: (n, m), kernel, operator, solver, bytes, available: available_memory(), seconds })
    }

    /// What a report says, for so many samples and landmarks found.
    pub(in crate::estimators) fn params(
        &self,
        samples: usize,
        landmarks: Option<usize>,
    ) -> BTreeMap<String, serde_json::Value> {
        let mut out = BTreeMap::from([("approach".to_string(), self.approach_for(samples).to_string().into())]);
        let Some(landmarks) = landmarks else { return out };
        out.insert("landmarks".into(), landmarks.into());
        let sampler = if self.own.is_some() { "given" } else { &self.sampler };
        out.insert("sampler".into(), sampler.into());
        if self.approach_for(samples) != Approach::Ncr || self.basis.method != NystromMethod::Standard {
            out.insert("nystrom".into(), self.basis.method.to_string().into());
        }
        out
    }
}

fn row_numbers(value: &Value) -> Result<Vec<usize>> {
    let bad = || Error::param("landmark-rows", value, "row numbers");
    let numbers = match value {
        Value::Numbers(numbers) => numbers.clone(),
        Value::Number(number) => vec![*number],
        _ => return Err(bad()),
    };
    let whole = |v: &f64| if *v >= 0.0 && v.fract() == 0.0 { Ok(*v as usize) } else { Err(bad()) };
    numbers.iter().map(whole).collect()
}

fn points_of(value: &Value) -> Result<Mat<f64>> {
    let bad = |what: String| Error::param("landmark-points", what, "finite numbers, as many for each point");
    let Value::Rows(rows) = value else { return Err(bad(value.to_string())) };
    let width = rows.first().map_or(0, Vec::len);
    if let Some(at) = rows.iter().position(|row| row.len() != width) {
        return Err(bad(format!("{} numbers in point {at}", rows[at].len())));
    }
    if let Some(wrong) = rows.iter().flatten().find(|v| !v.is_finite()) {
        return Err(bad(wrong.to_string()));
    }
    Ok(Mat::from_fn(rows.len(), width, |i, j| rows[i][j]))
}

use crate::base::error::{Error, Result};
use crate::base::registry::{Params, name_of, named};
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use crate::estimators::Plan;
use crate::kernel::KernelSpec;
use crate::operator::{OperatorKind, OperatorPlan};
use crate::solvers::landmarks;
use crate::solvers::lowrank::{NystromBasis, NystromMethod};
use crate::solvers::svd::SolverPlan;
use faer::Mat;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Up to this many samples the exact machine is the default.
const EXACT: usize = 4000;
/// Landmarks unless a number is given.
const LANDMARKS: usize = 1000;

/// Settings that [`Approximation::set`] knows.
pub(in crate::estimators) const APPROXIMATION_SETTINGS: [&str; 7] =
    ["approach", "sampler", "landmarks", "landmark-rows", "landmark-points", "nystrom", "truncate"];

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

const APPROACHES: [(Approach, &str); 4] =
    [(Approach::Exact, "exact"), (Approach::Lla, "lla"), (Approach::Gsa, "gsa"), (Approach::Ncr, "ncr")];

impl FromStr for Approach {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        named("approach", &APPROACHES, text)
    }
}

impl fmt::Display for Approach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&APPROACHES, *self))
    }
}

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

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            OwnLandmarks::Rows(rows) => rows.len(),
            OwnLandmarks::Points(points) => points.nrows(),
        }
    }
}

/// Which approach, with which landmarks.
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
        landmarks::sampler::<f64>(&self.sampler, &Params::default())?;
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

    /// Changes `approach`, `sampler`, `landmarks`, `landmark-rows` (`0,4,7`), `landmark-points` (`1,0.5;2,0`: a semicolon between
    /// points), `nystrom` or `truncate`; false for another setting.
    ///
    /// # Errors
    /// [`Error::Param`] or [`Error::Unknown`] for a value that cannot be.
    pub fn set(&mut self, setting: &str, value: &str) -> Result<bool> {
        let whole = || Error::param(setting, value, "a whole number of at least 1");
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(whole);
        match setting {
            "approach" => self.approach = Some(value.parse()?),
            "sampler" => {
                landmarks::position(value)?;
                self.sampler = value.into();
            }
            "landmarks" => self.landmarks = Some(number(value)?),
            "landmark-rows" => {
                let row = |text: &str| text.trim().parse().map_err(|_| Error::param(setting, text, "a row number"));
                self.own = Some(OwnLandmarks::Rows(value.split_terminator(',').map(row).collect::<Result<_>>()?));
            }
            "landmark-points" => self.own = Some(OwnLandmarks::Points(points(value)?)),
            "nystrom" => self.basis.method = value.parse()?,
            "truncate" => self.basis.truncate = Some(number(value)?),
            _ => return Ok(false),
        }
        Ok(true)
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
        };
        let solver = SolverPlan {
            solver: if approach == Approach::Ncr { "eigen" } else { "cholesky" },
            why: format!("approach {approach}"),
            bytes: 8 * held as u64,
            products: 1,
            flops: 2.0 * size * count * count + 10.0 * count.powi(3),
        };
        let seconds = (operator.seconds.0 + solver.flops * 1e-10) / rayon::current_num_threads() as f64;
        let bytes = x.bytes() as u64 + operator.bytes + solver.bytes;
        Ok(Plan { size: (n, m), kernel, operator, solver, bytes, seconds })
    }

    /// What a report says, for so many samples and landmarks found.
    pub(in crate::estimators) fn params(&self, samples: usize, landmarks: Option<usize>) -> BTreeMap<String, Value> {
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

/// Points as text: a comma between numbers, a semicolon between points.
fn points(text: &str) -> Result<Mat<f64>> {
    let bad = |value: &str| Error::param("landmark-points", value, "finite numbers, as many for each point");
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite()).ok_or_else(|| bad(text));
    let rows = text.split_terminator(';').map(|row| row.split(',').map(number).collect::<Result<Vec<f64>>>());
    let rows = rows.collect::<Result<Vec<_>>>()?;
    let width = rows.first().map_or(0, Vec::len);
    match rows.iter().position(|row| row.len() != width) {
        Some(at) => Err(bad(&format!("{} numbers in point {at}", rows[at].len()))),
        None => Ok(Mat::from_fn(rows.len(), width, |i, j| rows[i][j])),
    }
}

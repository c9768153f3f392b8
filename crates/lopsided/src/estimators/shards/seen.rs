//! What is known after the first pass: the landmarks, the kernel, the scale of the columns, and what is predicted.

use super::job::Job;
use super::look::{self, Found, Look};
use super::tree::Moments;
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use crate::data::dataset::Target;
use crate::data::samples::{Samples, SamplesRef, as_samples};
use crate::data::table_stream::TableFacts;
use crate::estimators::preparation::{Preparation, Scale, factor};
use crate::estimators::scoring::Answer;
use crate::kernel::KernelSpec;
use crate::solvers::landmarks::Landmarks;
use crate::solvers::lowrank::{Anchors, KernelFunctions, LandmarkKernel, inverse_root};
use faer::Mat;
use std::sync::OnceLock;

/// Offset and factor of each column.
type Scaling = Vec<(f64, f64)>;

/// What the first pass found.
pub(super) struct Seen<T> {
    pub(super) facts: TableFacts,
    /// Tells the rows from others.
    pub(super) print: u64,
    /// Rows to learn from.
    pub(super) known: usize,
    pub(super) answer: Option<Answer>,
    /// Means of the targets, of ±1 for classes.
    pub(super) means: Vec<f64>,
    /// Offset and factor of each column.
    pub(super) scaling: Option<Scaling>,
    pub(super) scale: Scale,
    pub(super) kernel: KernelSpec,
    /// Landmarks, scaled.
    pub(super) landmarks: Samples<T>,
    /// Their rows.
    pub(super) rows: Vec<usize>,
    span: OnceLock<Span>,
}

/// The span of the landmarks: K_mm and A = V·Λ^(−1/2) without directions lost in rounding.
pub(super) struct Span {
    pub(super) gram: Mat<f64>,
    pub(super) root: Mat<f64>,
}

impl<T: Scalar> Seen<T> {
    /// From the counts and the moments of all rows.
    pub(super) fn new(job: &Job, facts: &TableFacts, look: Look<T>, moments: &Moments, print: u64) -> Result<Self> {
        let Found { known, answer, counts, sparse, landmarks: (points, rows) } = look.finish(job, facts.width)?;
        let columns = if sparse { 0 } else { facts.width };
        let (scale, scaling) = scaling(job, moments, sparse, columns)?;
        let means = match &answer {
            Some(Answer::Classes(_)) => {
                counts.iter().map(|c| (2.0 * *c as f64 - known as f64) / known as f64).collect()
            }
            _ => moments.means[columns..].to_vec(),
        };
        let landmarks = match scaled(points.as_ref(), scaling.as_deref()) {
            Samples::Sparse(rows) => as_samples(rows.as_ref()),
            dense => dense,
        };
        let mut kernel = job.gram.kernel.clone();
        if kernel.gamma_from_data() && kernel.params.get("gamma").is_none() {
            let (x, gram) = (landmarks.as_ref(), &job.gram);
            kernel =
                kernel.with("gamma", gram.gamma.resolve(gram.kernel.meeting(), x, x, gram.gamma_factor, job.seed)?);
        }
        let facts = facts.clone();
        Ok(Seen { facts, print, known, answer, means, scaling, scale, kernel, landmarks, rows, span: OnceLock::new() })
    }

    /// Functions of the landmarks.
    pub(super) fn functions(&self, weights: Mat<f64>) -> KernelFunctions<T> {
        KernelFunctions::new(&self.kernel, Anchors::Points(self.landmarks.clone()), weights)
    }

    /// The span of the landmarks, which is found once.
    pub(super) fn span(&self, run: &Run) -> Result<&Span> {
        if let Some(span) = self.span.get() {
            return Ok(span);
        }
        let all = Landmarks::Indices((0..self.landmarks.count()).collect());
        let gram = LandmarkKernel::new(&self.kernel, self.landmarks.as_ref(), all, run)?.gram;
        let root = inverse_root::<T>(gram.as_ref(), gram.nrows())?;
        Ok(self.span.get_or_init(|| Span { gram, root }))
    }

    /// Rows as the kernel sees them.
    pub(super) fn prepared(&self, x: SamplesRef<'_, T>) -> Samples<T> {
        match scaled(x, self.scaling.as_deref()) {
            Samples::Sparse(rows) => as_samples(rows.as_ref()),
            dense => dense,
        }
    }

    /// The scale as part of a model; none where columns have neither names nor a scale.
    pub(super) fn preparation(&self) -> Option<Preparation> {
        if self.scaling.is_none() && self.facts.columns.is_none() {
            return None;
        }
        let scaling = self.scaling.clone().unwrap_or_else(|| vec![(0.0, 1.0); self.facts.width]);
        Some(Preparation::of_scaling(self.facts.columns.clone(), scaling, self.scale))
    }

    /// Names of the classes.
    pub(super) fn classes(&self) -> &[String] {
        self.answer.as_ref().map_or(&[], Answer::classes)
    }

    /// Targets of the listed rows less their means, a column each; ±1 for classes.
    pub(super) fn centred(&self, y: Option<&Target>, at: &[usize]) -> Result<Mat<f64>> {
        let width = self.means.len();
        let changed = || Error::unlike("the target", "of another kind", "of the kind of the first pass");
        let value: Box<dyn Fn(usize, usize) -> f64> = match (y, &self.answer) {
            (Some(y), Some(Answer::Classes(names))) => {
                let codes = look::codes(y, names, at)?;
                Box::new(move |i, c| if codes[i] as usize == c { 1.0 } else { -1.0 })
            }
            (Some(Target::Values(values)), Some(Answer::Values)) => Box::new(|i, _| values[at[i]]),
            (Some(Target::Several { names, values }), Some(Answer::Several(own))) if names == own => {
                Box::new(|i, c| values[(at[i], c)])
            }
            _ => return Err(changed()),
        };
        Ok(Mat::from_fn(at.len(), width, |i, c| value(i, c) - self.means[c]))
    }

    /// The class of each listed row.
    pub(super) fn codes(&self, y: Option<&Target>, at: &[usize]) -> Result<Vec<u32>> {
        look::codes(y.ok_or_else(crate::estimators::scoring::no_target)?, self.classes(), at)
    }

    /// Puts it into an archive.
    pub(super) fn put(&self, archive: &mut Archive) {
        archive.set_field("seen.facts", &self.facts);
        archive.set_field("seen.print", format!("{:016x}", self.print));
        archive.set_field("seen.known", self.known);
        archive.set_field("seen.answer", &self.answer);
        archive.set_field("seen.rows", &self.rows);
        archive.set_field("seen.scale", self.scale.to_string());
        archive.set_field("kernel", &self.kernel);
        archive.set_vector("seen.means", &self.means);
        if let Some(scaling) = &self.scaling {
            let (offsets, factors): (Vec<f64>, Vec<f64>) = scaling.iter().copied().unzip();
            archive.set_vector("seen.offsets", &offsets);
            archive.set_vector("seen.factors", &factors);
        }
        archive.set_samples("landmarks", self.landmarks.as_ref());
    }

    /// What was put there.
    pub(super) fn take(archive: &Archive) -> Result<Self> {
        let damaged = || archive.error("has landmarks whose sizes do not fit together");
        let facts: TableFacts = archive.field("seen.facts")?;
        let print: String = archive.field("seen.print")?;
        let scaling = if archive.has("seen.offsets") {
            let (offsets, factors) = (archive.vector("seen.offsets")?, archive.vector::<f64>("seen.factors")?);
            Some(offsets.into_iter().zip(factors).collect::<Vec<(f64, f64)>>())
        } else {
            None
        };
        let seen = Seen {
            print: u64::from_str_radix(&print, 16).map_err(|_| damaged())?,
            known: archive.field("seen.known")?,
            answer: archive.field("seen.answer")?,
            means: archive.vector("seen.means")?,
            scale: archive.field::<String>("seen.scale")?.parse()?,
            kernel: archive.field("kernel")?,
            landmarks: archive.samples("landmarks")?,
            rows: archive.field("seen.rows")?,
            scaling,
            facts,
            span: OnceLock::new(),
        };
        seen.kernel.build::<T>()?;
        seen.landmarks.check_finite("the landmarks")?;
        let width = seen.facts.width;
        let answered = seen.answer.as_ref().is_none_or(|answer| answer.width() == seen.means.len());
        let fits = seen.landmarks.count() == seen.rows.len()
            && !seen.rows.is_empty()
            && seen.landmarks.width() == width
            && seen.known <= seen.facts.rows
            && seen.rows.iter().all(|row| *row < seen.facts.rows)
            && seen.facts.columns.as_ref().is_none_or(|names| names.len() == width)
            && seen.scaling.as_ref().is_none_or(|scaling| scaling.len() == width)
            && answered;
        if fits { Ok(seen) } else { Err(damaged()) }
    }
}

/// How columns are scaled, by their moments.
fn scaling(job: &Job, moments: &Moments, sparse: bool, columns: usize) -> Result<(Scale, Option<Scaling>)> {
    if sparse && matches!(job.scale, Scale::Standard | Scale::MinMax) {
        return Err(Error::param("scale", job.scale, "none for a sparse table, which would not stay sparse"));
    }
    if sparse || job.scale == Scale::None {
        return Ok((Scale::None, None));
    }
    let standard = job.scale != Scale::MinMax;
    let of = |j: usize| {
        let (start, width) = if standard {
            (moments.means[j], moments.deviation(j))
        } else {
            (moments.least[j], moments.most[j] - moments.least[j])
        };
        if start.is_finite() && width.is_finite() {
            return Ok((start, factor(start, width)));
        }
        Err(Error::param("scale", job.scale, format!("none for numbers as large as those of column {}", j + 1)))
    };
    let scaling = (0..columns).map(of).collect::<Result<Vec<_>>>()?;
    Ok((if standard { Scale::Standard } else { Scale::MinMax }, Some(scaling)))
}

/// (x − offset)·factor in every column; a copy where nothing is scaled.
fn scaled<T: Scalar>(x: SamplesRef<'_, T>, scaling: Option<&[(f64, f64)]>) -> Samples<T> {
    match (x, scaling) {
        (SamplesRef::Dense(x), Some(scaling)) => Samples::Dense(Mat::from_fn(x.nrows(), x.ncols(), |i, j| {
            let (offset, factor) = scaling[j];
            T::of((x[(i, j)].as_f64() - offset) * factor)
        })),
        (x, _) => x.to_owned(),
    }
}

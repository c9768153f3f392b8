//! What fits by passes share, whether in one process or in parts: settings, tables, and what is told.

use crate::args::Task;
use crate::context::Context;
use crate::failure::hinted;
use crate::memory;
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::base::settings::Settings;
use lopsided::data::io::{ReadOptions, StreamOptions, TargetColumn, stream_table};
use lopsided::data::table_stream::{TableFacts, TableStream};
use lopsided::estimators::Fitted;
use lopsided::estimators::shards::{Job, Learned};
use lopsided::operator::available_memory;
use lopsided::{Error, Run, Scalar};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The estimator with what was given.
pub(super) fn job<T: Scalar>(name: &str, mut given: Settings, task: Option<Task>, seed: u64) -> lopsided::Result<Job> {
    // What a machine may use changes no result.
    given.take("memory");
    given.take("operator");
    let task = task.map(|task| if task == Task::Classes { "classes" } else { "values" });
    Job::new::<T>(name, given.with_some("task", task), seed)
}

/// The whole table.
pub(super) fn open<T: Scalar>(
    inputs: &[PathBuf],
    labels: Vec<PathBuf>,
    target: Option<&str>,
    drop: &[String],
    run: &Run,
) -> lopsided::Result<TableStream<T>> {
    let column = match target {
        None if labels.is_empty() => TargetColumn::Last,
        None | Some("none") => TargetColumn::None,
        Some(name) => TargetColumn::Named(name.into()),
    };
    let read = ReadOptions { target: column, drop: drop.to_vec(), ..ReadOptions::default() };
    stream_table(inputs, &StreamOptions { read, labels }, &run.watch)
}

/// Refuses a table without targets where some are needed, and one that takes more memory than is allowed.
pub(super) fn check<T: Scalar>(job: &Job, table: &TableStream<T>, input: &Path, context: &Context) -> Result<()> {
    if !table.has_target && lopsided::estimators::member::<T>(job.name())?.can.predict {
        let error = Error::parse(input.display().to_string(), "has no classes or values to learn");
        return Err(hinted(error, "give them with --labels FILE, `id,label` or a .npy vector"));
    }
    let available = context.global.memory.unwrap_or_else(available_memory);
    let needed = job.bytes::<T>(&table.facts);
    if needed <= available {
        return Ok(());
    }
    let (what, advice) = (format!("{} out of core", job.name()), "take fewer landmarks or allow more memory".into());
    Err(Error::Memory { what, needed, available, advice }.into())
}

/// A model that was found by passes. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct Account {
    estimator: &'static str,
    params: BTreeMap<String, Value>,
    n_train: usize,
    classes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variances: Option<Vec<f64>>,
    passes: usize,
    /// Of a fit in one process.
    #[serde(skip_serializing_if = "Option::is_none")]
    rows_per_second: Option<f64>,
    converged: bool,
    pub(super) warnings: Vec<String>,
    precision: &'static str,
    model: Option<PathBuf>,
    seconds: f64,
    peak_bytes: Option<u64>,
}

impl Account {
    pub(super) fn of<T: Scalar>(job: &Job, learned: &Learned<T>, model: Option<&PathBuf>, context: &Context) -> Self {
        let (mut out, seconds) = (Account::empty::<T>(job), context.seconds());
        match &learned.fitted {
            Fitted::Predictor(found) => {
                let report = found.report().clone();
                (out.params, out.n_train, out.warnings) = (report.params, report.n_train, report.warnings);
                (out.classes, out.targets) = (found.answer().classes().to_vec(), found.answer().targets().to_vec());
            }
            Fitted::Components(found) => {
                (out.params, out.n_train) = (found.params.clone(), found.n_train);
                out.variances = Some(found.variances.clone());
            }
            _ => {}
        }
        out.params.remove("landmark-rows");
        out.passes = learned.passes;
        out.converged = learned.converged();
        (out.model, out.seconds, out.peak_bytes) = (model.cloned(), seconds, memory::peak_bytes());
        out
    }

    fn empty<T: Scalar>(job: &Job) -> Self {
        Account {
            estimator: job.name(),
            params: BTreeMap::new(),
            n_train: 0,
            classes: Vec::new(),
            targets: Vec::new(),
            variances: None,
            passes: 0,
            rows_per_second: None,
            converged: true,
            warnings: Vec::new(),
            precision: T::NAME,
            model: None,
            seconds: 0.0,
            peak_bytes: None,
        }
    }

    /// The same with how fast a table of this size was read in all passes.
    pub(super) fn with_rate(self, facts: &TableFacts) -> Self {
        let rate = (self.passes * facts.rows) as f64 / self.seconds.max(1e-9);
        Account { rows_per_second: Some(rate), ..self }
    }

    /// Prints it as text or JSON.
    pub(super) fn show(&self, context: &Context) -> lopsided::Result<()> {
        context.line.clear();
        context.notes(&self.warnings);
        context.say(self, &self.lines())
    }

    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let params: Vec<String> =
            self.params.iter().map(|(name, value)| format!("{name} {}", super::fit::word(value))).collect();
        let what = match (&self.variances, self.classes.len()) {
            (Some(variances), _) => format!("{} components", variances.len()),
            (None, 0) if !self.targets.is_empty() => format!("values of {}", self.targets.join(", ")),
            (None, 0) => "values".to_string(),
            (None, count) => format!("{count} classes"),
        };
        let mut lines = vec![
            ("estimator", format!("{}, {}", self.estimator, self.precision)),
            ("learned", format!("{what} from {} samples", self.n_train)),
            ("settings", params.join(", ")),
        ];
        let rate = self.rows_per_second.map_or(String::new(), |rate| format!(", {rate:.0} rows per second"));
        lines.push(("passes", format!("{}{rate}", self.passes)));
        if !self.converged {
            lines.push(("solver", "NOT converged to the tolerance".into()));
        }
        lines.push(("cost", format!("{:.2} s", self.seconds)));
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        lines.extend(self.model.as_ref().map(|path| ("written", path.display().to_string())));
        lines
    }
}

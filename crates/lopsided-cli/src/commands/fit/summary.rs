//! What `fit` tells about its work.

use super::errors;
use crate::args::FitArgs;
use crate::context::Context;
use crate::{memory, talk, terminal};
use lopsided::base::error::bytes;
use lopsided::estimators::{Answer, FitReport, MachineErrors, Model};
use lopsided::evaluation::{Tried, Tuning};
use lopsided::report::text;
use lopsided::{Result, Scalar};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Settings that a person is shown of a search.
const BEST: usize = 5;

/// A finished fit. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct Summary {
    estimator: String,
    params: BTreeMap<String, Value>,
    n_train: usize,
    classes: Vec<String>,
    /// Names of several values that are learned at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    measure: &'static str,
    pub(super) train_score: Option<f64>,
    /// Samples that it is the score of.
    pub(super) train_scored: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cv: Option<Tuning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cv_out: Option<PathBuf>,
    condition: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) errors: Option<MachineErrors>,
    /// What was chosen from the data, and by what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chosen: Option<String>,
    converged: bool,
    pub(super) warnings: Vec<String>,
    precision: &'static str,
    model: Option<PathBuf>,
    seconds: f64,
    peak_bytes: Option<u64>,
}

impl Summary {
    /// The account of a fit, without its cost.
    pub(super) fn of<T: Scalar>(
        args: &FitArgs,
        model: &dyn Model<T>,
        cv: Option<Tuning>,
        mut warnings: Vec<String>,
    ) -> Self {
        let FitReport { params, n_train, condition, warnings: own, chosen, converged, .. } = model.report().clone();
        warnings.extend(own);
        Summary {
            estimator: args.estimator.clone(),
            params,
            n_train,
            classes: model.answer().classes().to_vec(),
            targets: model.answer().targets().to_vec(),
            measure: if let Answer::Classes(_) = model.answer() { "micro-f1" } else { "rmse" },
            train_score: None,
            train_scored: 0,
            cv,
            cv_out: args.cv_out.clone(),
            condition,
            errors: None,
            chosen,
            converged,
            warnings,
            precision: T::NAME,
            model: args.model.clone(),
            seconds: 0.0,
            peak_bytes: None,
        }
    }

    /// Prints it as text or JSON.
    pub(super) fn show(&mut self, context: &Context) -> Result<()> {
        (self.seconds, self.peak_bytes) = (context.seconds(), memory::peak_bytes());
        context.line.clear();
        context.notes(&self.warnings);
        if context.global.json {
            talk::json(self)
        } else {
            talk::print(&(self.tried() + &terminal::aligned(&self.lines())))
        }
    }

    /// The best points of the grid, and where the others are.
    fn tried(&self) -> String {
        let Some(cv) = &self.cv else { return String::new() };
        let line = |t: &&Tried| (settings(&t.params), format!("{:.4} ± {:.4}", t.score.mean, t.score.deviation));
        let title = (format!("{} in {} parts", cv.measure, cv.folds), "mean ± deviation".to_string());
        let best = cv.ranked();
        let mut lines: Vec<_> = std::iter::once(title).chain(best.iter().take(BEST).map(line)).collect();
        let count = best.len();
        match &self.cv_out {
            Some(path) => lines.push((format!("all {count} settings"), path.display().to_string())),
            None if count > BEST => {
                lines.push((format!("{} more settings", count - BEST), "by --cv-out FILE.csv or --json".into()));
            }
            None => {}
        }
        terminal::aligned(&lines) + "\n"
    }

    /// Label and value of each line.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name} {}", word(value))).collect();
        let what = match self.classes.len() {
            0 if !self.targets.is_empty() => format!("values of {}", self.targets.join(", ")),
            0 => "values".to_string(),
            count => format!("{count} classes"),
        };
        let mut lines = vec![
            ("estimator", format!("{}, {}", self.estimator, self.precision)),
            ("learned", format!("{what} from {} samples", self.n_train)),
            ("settings", params.join(", ")),
        ];
        lines.extend(self.chosen.as_ref().map(|chosen| ("chosen", chosen.clone())));
        if let Some(cv) = &self.cv {
            let score = format!("{} {:.4} ± {:.4}", cv.measure, cv.best.score.mean, cv.best.score.deviation);
            lines.push(("cross-validation", format!("{score} with {}", settings(&cv.best.params))));
        }
        let of =
            if self.train_scored < self.n_train { format!(" of {} samples", self.train_scored) } else { String::new() };
        lines.extend(self.train_score.map(|score| ("on training data", format!("{} {score:.4}{of}", self.measure))));
        lines.extend(self.errors.iter().flat_map(errors::lines));
        lines.extend(self.condition.map(|condition| ("condition", format!("{condition:.1e}"))));
        if !self.converged {
            lines.push(("solver", "NOT converged to the tolerance".into()));
        }
        lines.push(("cost", format!("{:.2} s", self.seconds)));
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        lines.extend(self.model.as_ref().map(|path| ("written", path.display().to_string())));
        lines
    }
}

fn settings(params: &BTreeMap<String, String>) -> String {
    let each: Vec<String> = params.iter().map(|(name, value)| format!("{name} {value}")).collect();
    if each.is_empty() { "the given settings".into() } else { each.join(", ") }
}

pub(crate) fn word(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => text::number(number.as_f64().unwrap_or_default()),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

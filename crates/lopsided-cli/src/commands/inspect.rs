//! `lopsided inspect`: what a model file holds.

use super::Outcome;
use crate::args::InspectArgs;
use crate::context::Context;
use crate::talk;
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::data::archive::Archive;
use lopsided::estimators::{Described, FitReport, Fitted, KernelPcaModel, Model, Preparation, recipe};
use lopsided::online::{Account, LearnerSpec};
use lopsided::report::text;
use lopsided::{Error, KernelSvdModel, Scaling};
use serde::Serialize;
use std::collections::BTreeMap;

/// The contents of a kernel SVD model, as `--json` prints them.
#[derive(Serialize)]
struct Contents {
    estimator: String,
    format: u64,
    version: String,
    kernel: String,
    params: BTreeMap<String, f64>,
    n: usize,
    m: usize,
    rank: usize,
    graph: bool,
    scaling: Scaling,
    centered: bool,
    precision: String,
    operator: String,
    solver: String,
    singular_values: Vec<f64>,
    residual: f64,
    converged: bool,
    bytes: u64,
    /// What `fit` learned on top.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<HeadContents>,
    /// The columns of the table that was embedded, where they go through anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Described>,
}

/// What every file of a model says of itself.
#[derive(Serialize)]
struct Origin {
    estimator: String,
    format: u64,
    version: String,
    precision: String,
    bytes: u64,
}

impl Origin {
    fn of(archive: &Archive, bytes: u64) -> Result<Self> {
        Ok(Origin {
            estimator: archive.field("estimator")?,
            format: archive.field("format")?,
            version: archive.field("version")?,
            precision: archive.field("precision")?,
            bytes,
        })
    }

    /// The first lines of a table, with the settings that were used.
    fn lines(&self, params: &BTreeMap<String, serde_json::Value>) -> Vec<(&'static str, String)> {
        let settings: Vec<String> = params.iter().map(|(name, value)| format!("{name} {value}")).collect();
        vec![
            ("estimator", format!("{}, {}", self.estimator, self.precision)),
            self.file(),
            ("settings", settings.join(", ").replace('"', "")),
        ]
    }

    fn file(&self) -> (&'static str, String) {
        ("file", format!("format {}, written by lopsided {}, {}", self.format, self.version, bytes(self.bytes)))
    }
}

/// A model that predicts without an embedding, as `--json` prints it.
#[derive(Serialize)]
struct Predictor {
    #[serde(flatten)]
    origin: Origin,
    #[serde(flatten)]
    head: HeadContents,
}

/// The part of a model that predicts.
#[derive(Serialize)]
struct HeadContents {
    classes: Vec<String>,
    /// Names of several values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<String>,
    target: Option<String>,
    /// The columns of the table, where they have names or go through anything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Described>,
    #[serde(flatten)]
    fit: FitReport,
}

/// Words of a column that are listed before the rest is counted.
const SHOWN: usize = 10;

/// Prints the contents.
pub(crate) fn run(args: &InspectArgs, context: &Context) -> Result<Outcome> {
    let archive = Archive::load(&args.model)?;
    let size = args.model.metadata().map_err(|e| Error::io(&args.model, e))?.len();
    if args.recipe {
        let recipe = serde_json::to_string_pretty(&recipe::of_archive(&archive)?)?;
        talk::print(&(recipe + "\n"))?;
        return Ok(Outcome::Done);
    }
    if LearnerSpec::is_in(&archive) {
        return online(&archive, size, context);
    }
    let fitted = Fitted::<f64>::from_archive(&archive)?;
    let contents = match (fitted.embedding(), &fitted) {
        (Some(svd), _) => contents(&archive, svd, fitted.predictor().ok(), size)?,
        (None, Fitted::Components(model)) => return components(&archive, model, size, context),
        (None, _) => return predictor(&archive, fitted.predictor()?, size, context),
    };
    context.say(&contents, &contents.lines())?;
    Ok(Outcome::Done)
}

/// A checkpoint of `online`, as `--json` prints it.
#[derive(Serialize)]
struct Checkpoint {
    #[serde(flatten)]
    origin: Origin,
    settings: LearnerSpec,
    account: Account,
}

fn online(archive: &Archive, size: u64, context: &Context) -> Result<Outcome> {
    let found = Checkpoint {
        origin: Origin::of(archive, size)?,
        settings: archive.field("spec")?,
        account: *LearnerSpec::restore(archive)?.account(),
    };
    let Checkpoint { origin, settings, account } = &found;
    let kernels = settings.right.as_ref().map_or(settings.left.name.clone(), |right| {
        format!("{} on the left, {} on the right", settings.left.name, right.name)
    });
    let lines = [
        ("learner", format!("{}, {} loss", settings.name, settings.loss)),
        origin.file(),
        ("kernel", kernels),
        ("trials", format!("{}, cumulative loss {}", account.trials, text::number(account.cumulative_loss))),
        ("matrix", format!("rank {}, {} samples stored", account.rank, account.stored)),
    ];
    context.say(&found, &lines)?;
    Ok(Outcome::Done)
}

/// A model of kernel principal components, as `--json` prints it.
#[derive(Serialize)]
struct Components {
    #[serde(flatten)]
    origin: Origin,
    n_train: usize,
    rank: usize,
    variances: Vec<f64>,
    params: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Described>,
}

fn components(archive: &Archive, model: &KernelPcaModel<f64>, size: u64, context: &Context) -> Result<Outcome> {
    let contents = Components {
        origin: Origin::of(archive, size)?,
        n_train: model.n_train,
        rank: model.variances.len(),
        variances: model.variances.clone(),
        params: model.params.clone(),
        columns: columns(archive)?,
    };
    let mut lines = contents.origin.lines(&contents.params);
    lines.push(("learned", format!("{} components from {} samples", contents.rank, contents.n_train)));
    lines.push(("variances", text::first_values(&contents.variances)));
    lines.extend(column_lines(&contents.columns));
    context.say(&contents, &lines)?;
    Ok(Outcome::Done)
}

fn predictor(archive: &Archive, model: &dyn Model<f64>, size: u64, context: &Context) -> Result<Outcome> {
    let contents = Predictor { origin: Origin::of(archive, size)?, head: HeadContents::of(archive, model)? };
    context.say(&contents, &contents.lines())?;
    Ok(Outcome::Done)
}

impl Predictor {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = self.origin.lines(&self.head.fit.params);
        lines.extend(self.head.lines());
        lines
    }
}

fn contents(
    archive: &Archive,
    model: &KernelSvdModel<f64>,
    predictor: Option<&dyn Model<f64>>,
    size: u64,
) -> lopsided::Result<Contents> {
    let ((n, m), report) = (model.size(), model.report());
    Ok(Contents {
        estimator: archive.field("estimator")?,
        format: archive.field("format")?,
        version: archive.field("version")?,
        kernel: model.kernel.name.clone(),
        params: model
            .kernel
            .params
            .iter()
            .filter_map(|(name, _)| Some((name.into(), model.kernel.params.get(name)?)))
            .collect(),
        n,
        m,
        rank: model.singular_values().len(),
        graph: model.data.frame.is_some(),
        scaling: model.scaling,
        centered: model.is_centered(),
        precision: archive.field("precision")?,
        operator: model.operator.clone(),
        solver: report.solver.clone(),
        singular_values: model.singular_values().to_vec(),
        residual: report.residual(),
        converged: report.converged(),
        bytes: size,
        head: predictor.map(|predictor| HeadContents::of(archive, predictor)).transpose()?,
        columns: if predictor.is_none() { columns(archive)? } else { Vec::new() },
    })
}

impl Contents {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let params = self.params.iter().map(|(name, value)| format!("{name} {}", text::number(*value)));
        let kernel: Vec<String> = std::iter::once(self.kernel.clone()).chain(params).collect();
        let origin = if self.graph { "nodes of a graph" } else { "samples" };
        let ending = if self.converged { "converged" } else { "not converged" };
        let mut lines = vec![
            ("estimator", self.estimator.clone()),
            ("file", format!("format {}, written by lopsided {}, {}", self.format, self.version, bytes(self.bytes))),
            ("size", format!("{} x {} {origin}, rank {}, {}", self.n, self.m, self.rank, self.precision)),
            ("kernel", format!("{}, {}", kernel.join(", "), if self.centered { "centred" } else { "not centred" })),
            ("scaling", self.scaling.to_string()),
            ("computed", format!("{} operator, {} solver", self.operator, self.solver)),
            ("singular values", text::first_values(&self.singular_values)),
            ("residual", format!("{:.1e}, {ending}", self.residual)),
        ];
        lines.extend(self.head.iter().flat_map(HeadContents::lines));
        lines.extend(column_lines(&self.columns));
        lines
    }
}

impl HeadContents {
    fn of(archive: &Archive, model: &dyn Model<f64>) -> lopsided::Result<Self> {
        let (classes, target) = (model.answer().classes().to_vec(), archive.field("target")?);
        let (targets, columns) = (model.answer().targets().to_vec(), columns(archive)?);
        Ok(HeadContents { classes, targets, target, columns, fit: model.report().clone() })
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let what = match (&self.classes[..], &self.targets[..]) {
            ([], []) => "values".into(),
            ([], several) => format!("values of {}", several.join(", ")),
            (classes, _) => format!("classes {}", classes.join(", ")),
        };
        let penalty = self.fit.params.get("penalty").and_then(serde_json::Value::as_f64).map(text::number);
        let penalty = penalty.map(|p| format!(", penalty {p}")).unwrap_or_default();
        let mut lines = vec![("predicts", format!("{what}, learned from {} samples{penalty}", self.fit.n_train))];
        lines.extend(column_lines(&self.columns));
        lines
    }
}

/// The columns of the table that the model was made from.
fn columns(archive: &Archive) -> lopsided::Result<Vec<Described>> {
    Ok(Preparation::of_archive(archive)?.map(|preparation| preparation.columns()).unwrap_or_default())
}

/// How many columns of each kind, and the words of each that has them.
fn column_lines(columns: &[Described]) -> Vec<(&'static str, String)> {
    let count = |kind: &str| columns.iter().filter(|column| column.kind == kind).count();
    let kinds = [("number", "of numbers"), ("words", "of words"), ("left out", "left out")];
    let kinds = kinds.iter().filter(|(kind, _)| count(kind) > 0).map(|(kind, told)| format!("{} {told}", count(kind)));
    let told = kinds.collect::<Vec<_>>().join(", ");
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    lines.extend((!columns.is_empty()).then_some(("columns", told)));
    for column in columns.iter().filter(|column| column.kind == "words") {
        let shown: Vec<String> = column.words.iter().take(SHOWN).cloned().collect();
        let more = column.words.len().saturating_sub(SHOWN);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(("words", format!("{}: {}{rest}", column.name, shown.join(", "))));
    }
    lines
}

//! `fit kpca` and `fit features`: functions of the rows of a table, learned without a target.

use super::{errors, landmarks, with_hint};
use crate::args::FitArgs;
use crate::commands::Outcome;
use crate::commands::embed::summary::DryRun;
use crate::commands::fit::summary::word;
use crate::context::Context;
use crate::{input, memory, output, page};
use anyhow::Result;
use lopsided::base::error::bytes;
use lopsided::base::settings::Settings;
use lopsided::data::io::{Input, read};
use lopsided::estimators::recipe::{self, COMPAT_SETTINGS, GRAPH_SETTINGS, Usual};
use lopsided::estimators::{Fitted, MachineErrors, Member, Preparation};
use lopsided::report::text;
use lopsided::solvers::svd::SolveReport;
use lopsided::{Dataset, Error, Scalar, pages};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A finished fit. The fields are those of `--json`.
#[derive(Serialize)]
struct Summary {
    estimator: &'static str,
    params: BTreeMap<String, Value>,
    n_train: usize,
    variances: Vec<f64>,
    residual: Option<f64>,
    converged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<MachineErrors>,
    warnings: Vec<String>,
    precision: &'static str,
    model: Option<PathBuf>,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// Fits the components of all rows.
pub(super) fn fit<T: Scalar>(
    member: &Member<T>,
    mut given: Settings,
    args: &FitArgs,
    context: &Context,
) -> Result<Outcome> {
    refuse(args, &given, member.name)?;
    let asked = input::take_preparation(&mut given)?;
    given.take_all(&COMPAT_SETTINGS);
    given.take_all(&GRAPH_SETTINGS);
    recipe::take_svd::<T>(&mut given.clone(), &Usual::COMPONENTS, true, usize::MAX)?;
    args.model.as_deref().filter(|_| !args.given.dry_run).map_or(Ok(()), output::check)?;
    page::check(args.report.as_deref().filter(|_| !args.given.dry_run))?;
    context.line.stage("reading");
    let Input::Table(mut table) = read::<T>(&args.input, &input::options(&args.graph.read))? else {
        return Err(input::not_a_table(&args.input));
    };
    input::check_categories(&args.graph.read, &table)?;
    let target = table.target.as_ref().map(|(name, _)| name.clone());
    let mut notes = std::mem::take(&mut table.notes);
    let (data, preparation) = input::numbers(&args.input, table, asked)?;
    notes.extend(preparation.iter().flat_map(Preparation::remarks).cloned());
    let data = Dataset::new(data.x);
    let given = landmarks::given(given, args, &data)?;
    let rank = given.count("rank", Usual::COMPONENTS.rank as u32)? as usize;
    let machine = member.build(given, &data)?;
    if args.given.dry_run {
        let plan = machine.plan(&data, &context.run).map_err(with_hint)?;
        DryRun::of::<T>(rank.min(data.x.count()), &plan, &notes).show(context)?;
        return Ok(Outcome::Done);
    }
    context.line.stage("fitting");
    let errors = if args.landmarks.errors { machine.errors(&data, &context.run)? } else { None };
    let Fitted::Components(model) = machine.fit(data, &context.run).map_err(with_hint)? else {
        return Err(Error::param("estimator", member.name, "one that learns functions of rows").into());
    };
    context.run.watch.check()?;
    if let Some(path) = &args.model {
        let mut archive = model.archive();
        archive.set_field("target", target);
        preparation.iter().for_each(|preparation| preparation.put(&mut archive));
        archive.save(path)?;
    }
    let (converged, residual) = (model.converged(), model.solved.as_ref().map(SolveReport::residual));
    let warnings = notes.into_iter().chain(model.warnings()).collect();
    let mut params = model.params;
    params.extend(
        preparation
            .iter()
            .flat_map(|p| p.settings().iter().map(|(n, v)| (n.into(), serde_json::json!(v))).collect::<Vec<_>>()),
    );
    let mut summary = Summary {
        estimator: member.name,
        params,
        n_train: model.n_train,
        variances: model.variances,
        residual,
        converged,
        errors,
        warnings,
        precision: T::NAME,
        model: args.model.clone(),
        seconds: context.seconds(),
        peak_bytes: memory::peak_bytes(),
    };
    if let Some(path) = &args.report {
        (summary.seconds, summary.peak_bytes) = (context.seconds(), memory::peak_bytes());
        let drawn = pages::components(&summary.variances, summary.n_train, &page::name(&args.input));
        page::write(path, &drawn.account(&page::account(context, &summary.warnings, &summary.lines())))?;
    }
    summary.show(context)?;
    Ok(if converged { Outcome::Done } else { Outcome::NotConverged })
}

/// Says so where an option has no meaning without targets.
fn refuse(args: &FitArgs, given: &Settings, member: &str) -> lopsided::Result<()> {
    let meaningless = [
        ("cv", args.cv.is_some()),
        ("penalty", given.value("penalty").is_some()),
        ("labels", args.graph.labels.is_some()),
        ("train-ids", args.train_ids.is_some()),
        ("cols", args.cols.is_some()),
        ("weights", args.weights.is_some()),
        ("features", args.features.features.is_some()),
    ];
    match meaningless.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            let allowed = format!("left out for {member}, which learns from all rows and no target");
            Err(Error::param(name, "given", allowed))
        }
        None => Ok(()),
    }
}

impl Summary {
    fn show(&self, context: &Context) -> lopsided::Result<()> {
        context.line.clear();
        context.notes(&self.warnings);
        context.say(self, &self.lines())
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name} {}", word(value))).collect();
        let mut lines = vec![
            ("estimator", format!("{}, {}", self.estimator, self.precision)),
            ("learned", format!("{} components from {} samples", self.variances.len(), self.n_train)),
            ("settings", params.join(", ")),
            ("variances", text::first_values(&self.variances)),
        ];
        if !self.converged {
            lines.push(("solver", "NOT converged to the tolerance".into()));
        }
        lines.extend(self.errors.iter().flat_map(errors::lines));
        lines.push(("cost", format!("{:.2} s", self.seconds)));
        lines.extend(self.peak_bytes.map(|peak| ("memory", format!("{} at the peak", bytes(peak)))));
        lines.extend(self.model.as_ref().map(|path| ("written", path.display().to_string())));
        lines
    }
}

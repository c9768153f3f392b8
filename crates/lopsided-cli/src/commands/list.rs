//! `lopsided list`: everything that is chosen by name.

use super::Outcome;
use crate::args::{Family, ListArgs};
use crate::context::Context;
use crate::talk;
use anyhow::Result;
use lopsided::base::registry::Entry;
use lopsided::base::settings::Setting;
use lopsided::estimators::{Abilities, Member, catalogue};
use lopsided::kernel::kernels;
use lopsided::online::learners;
use lopsided::report::text;
use lopsided::solvers::landmarks::samplers;
use lopsided::solvers::svd::solvers;
use serde::Serialize;
use serde_json::json;

/// A member of a family. The fields are those of `--json`.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    about: &'static str,
    params: Vec<&'static str>,
    /// Of an estimator: the command that fits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'static str>,
    /// Of an estimator: what its models can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    can: Option<Abilities>,
}

impl Line {
    fn new(name: &'static str, about: &'static str, settings: &[Setting]) -> Self {
        let params = settings.iter().map(|setting| setting.name).collect();
        Line { name, about, params, command: None, can: None }
    }
}

/// Prints the members of a family.
pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<Outcome> {
    let (family, lines) = members(args.family);
    if context.global.json {
        talk::json(&json!({ family: lines }))?;
    } else {
        talk::print(&table(&lines))?;
    }
    Ok(Outcome::Done)
}

fn members(family: Family) -> (&'static str, Vec<Line>) {
    match family {
        Family::Kernels => ("kernels", lines(&kernels::<f64>())),
        Family::Solvers => ("solvers", lines(&solvers::<f64>())),
        Family::Estimators => ("estimators", estimator_lines()),
        Family::Samplers => ("samplers", lines(&samplers::<f64>())),
        Family::Learners => {
            ("learners", learners().iter().map(|entry| Line::new(entry.name, entry.about, entry.settings)).collect())
        }
    }
}

fn estimator_lines() -> Vec<Line> {
    let line = |member: &Member<f64>| Line {
        command: Some(member.command),
        can: Some(member.can),
        ..Line::new(member.name, member.about, &member.settings)
    };
    catalogue::<f64>().iter().map(line).collect()
}

fn lines<B: ?Sized>(entries: &[Entry<B>]) -> Vec<Line> {
    entries.iter().map(|entry| Line::new(entry.name, entry.about, entry.settings)).collect()
}

fn table(lines: &[Line]) -> String {
    let with_params = |line: &Line| {
        let params = if line.params.is_empty() { String::new() } else { format!("  [{}]", line.params.join(", ")) };
        let command = line.command.map_or(String::new(), |command| format!(" (lopsided {command})"));
        (line.name, format!("{}{command}{params}", line.about))
    };
    text::aligned(&lines.iter().map(with_params).collect::<Vec<_>>())
}

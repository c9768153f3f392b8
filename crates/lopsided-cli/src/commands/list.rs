//! `lopsided list`: everything that is chosen by name.

use super::Outcome;
use crate::args::{Family, ListArgs};
use crate::context::Context;
use crate::talk;
use anyhow::Result;
use lopsided::base::registry::Entry;
use lopsided::base::settings::Setting;
use lopsided::estimators::estimators;
use lopsided::kernel::kernels;
use lopsided::online::learners;
use lopsided::report::text;
use lopsided::solvers::landmarks::samplers;
use lopsided::solvers::svd::solvers;
use serde_json::{Value, json};

/// Name, one line about it, names of its parameters.
type Line = (&'static str, &'static str, Vec<&'static str>);

/// Prints the members of a family.
pub(crate) fn run(args: &ListArgs, context: &Context) -> Result<Outcome> {
    let (family, lines) = members(args.family);
    if context.global.json {
        let lines: Vec<Value> =
            lines.iter().map(|(name, about, params)| json!({"name": name, "about": about, "params": params})).collect();
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
            ("learners", learners().iter().map(|entry| (entry.name, entry.about, names(entry.settings))).collect())
        }
    }
}

fn estimator_lines() -> Vec<Line> {
    let predicting = estimators::<f64>();
    let describing = DESCRIBING.map(|(name, about, params)| (name, about, params.to_vec()));
    predicting.iter().map(|e| (e.name, e.about, names(&e.all_settings()))).chain(describing).collect()
}

/// Estimators that predict nothing, or only inside `reproduce`.
const DESCRIBING: [(&str, &str, &[&str]); 5] = [
    (
        "bicluster",
        "k-means on both sides of a kernel SVD of a matrix: clusters of rows and of columns (command: bicluster)",
        &["row-clusters"],
    ),
    ("pca", "principal components of the rows (command: reproduce)", &["rank", "solver"]),
    (
        "kpca",
        "kernel principal components of the rows, exact or by landmarks (commands: fit, transform)",
        &["rank", "kernel", "approach", "sampler", "landmarks", "nystrom", "truncate"],
    ),
    ("linear-svd", "X = U Σ Vᵀ of the data matrix itself (command: reproduce)", &["rank", "solver"]),
    ("hope", "U √Σ and V √Σ of the Katz proximity (I - βA)⁻¹ βA (command: reproduce)", &["rank", "beta", "solver"]),
];

fn lines<B: ?Sized>(entries: &[Entry<B>]) -> Vec<Line> {
    entries.iter().map(|entry| (entry.name, entry.about, names(entry.settings))).collect()
}

fn names(settings: &[Setting]) -> Vec<&'static str> {
    settings.iter().map(|setting| setting.name).collect()
}

fn table(lines: &[Line]) -> String {
    let with_params = |(name, about, params): &Line| {
        let params = if params.is_empty() { String::new() } else { format!("  [{}]", params.join(", ")) };
        (*name, format!("{about}{params}"))
    };
    text::aligned(&lines.iter().map(with_params).collect::<Vec<_>>())
}

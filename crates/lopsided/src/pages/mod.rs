//! Pages of what was learned: the results that a person looks at, put on a [`Page`].
//!
//! | page, or sections of one | what it shows |
//! | --- | --- |
//! | [`embedding`] | a map of the samples, their components, the spectrum |
//! | [`clusters`] | the matrix and its kernel, reordered by clusters |
//! | [`Judged`] | predictions beside the truth: who is taken for whom, how sure, how far off |
//! | [`choices`], [`tuning`] | what was tried, and how good it was |
//! | [`links`] | how well scores tell links from pairs without link |
//! | [`regret`] | an online learner beside the best fixed matrix |
//! | [`fitted`] | any model, by what it is |
//!
//! The program adds an account of the job, the Python package a line on the model; the pictures are the same in all of them.
//! Nothing here holds a matrix as large as G: maps have at most 20 000 points, reordered matrices some hundred cells a side.
//!
//! ```
//! use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, pages};
//!
//! let x = Samples::Dense(Mat::from_fn(40, 3, |i, j| ((i * 7 + j * 3) % 11) as f64));
//! let model = KernelSvd::new("rbf").with_rank(4).fit(Dataset::new(x), &Run::default())?;
//! let page = pages::embedding(&model, "numbers.npy", &Run::default())?.html();
//! assert!(page.contains("Embedding of numbers.npy") && page.contains("Singular values"));
//! # Ok::<(), lopsided::Error>(())
//! ```

mod clusters;
mod embedding;
mod judged;
mod links;
mod map;
mod regret;
mod search;
mod spectrum;

pub use clusters::clusters;
pub use embedding::{embedding, streamed};
pub use judged::{Judged, Truth};
pub use links::{LinkCurve, links};
pub use map::{MOST, features};
pub use regret::regret;
pub use search::{choices, tuning};

use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::estimators::{Fitted, Model};
use crate::report::text::number;
use crate::report::{Account, Page, svg};
use crate::solvers::svd::SolveReport;

/// The page of a model of any kind, with what it says of its own fit; `name` is what it was learned from.
///
/// # Errors
/// Those of products with G; [`crate::Error::Interrupted`].
pub fn fitted<T: Scalar>(model: &Fitted<T>, name: &str, run: &Run) -> Result<Page> {
    match model {
        Fitted::Embedding(svd) => {
            let report = svd.report();
            let chosen = vec![("operator".to_string(), svd.operator.clone()), ("solver".into(), solver(report))];
            let lines = svd.kernel.as_params().map(|(name, value)| (name, word(&value))).collect();
            let account = Account { warnings: report.notes.clone(), chosen, lines, ..Account::default() };
            Ok(embedding(svd, name, run)?.account(&account))
        }
        Fitted::Clusters(model) => Ok(clusters(model, None, name, run)?.warnings(&model.svd.report().notes)),
        Fitted::Components(model) => Ok(components(&model.variances, model.n_train, name).warnings(&model.warnings())),
        Fitted::Predictor(model) => {
            let report = model.report();
            let lines = report.params.iter().map(|(name, value)| (name.clone(), word(value))).collect();
            let chosen = report.chosen.iter().map(|why| ("choice".to_string(), why.clone())).collect();
            let account = Account { warnings: report.warnings.clone(), chosen, lines, ..Account::default() };
            Ok(predictor(&**model, name, run)?.account(&account))
        }
    }
}

/// The page of principal components of so many samples.
pub fn components(variances: &[f64], samples: usize, name: &str) -> Page {
    let figure = svg::sequence(variances, "Variance of each component", "variance");
    let row = |(k, variance): (usize, &f64)| vec![(k + 1).to_string(), number(*variance)];
    let rows: Vec<Vec<String>> = variances.iter().enumerate().map(row).collect();
    let lead = format!("{} components of {samples} samples.", variances.len());
    Page::new(&format!("Components of {name}"), &lead)
        .figures(&[figure], &[], "How much of the samples each component explains.")
        .fold("All variances", |page| page.table("Variances", &["component", "variance"], &rows))
}

/// The page of a model that predicts: what was tried and, where it predicts from an embedding, that.
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn predictor<T: Scalar>(model: &dyn Model<T>, name: &str, run: &Run) -> Result<Page> {
    let report = model.report();
    let classes = model.answer().classes().len();
    let what = if classes > 0 { format!("{classes} classes") } else { "values".into() };
    let lead = format!("A model that predicts {what}, learned from {} samples.", report.n_train);
    let mut page = choices(Page::new(&format!("Model of {name}"), &lead), report);
    if let Some(svd) = model.embedding() {
        page = map::sections(page.section("What it predicts from"), &svd.into(), None, run)?;
        page = spectrum::section(page, &svd.svd);
    }
    Ok(page)
}

fn solver(report: &SolveReport) -> String {
    if report.why.is_empty() { report.solver.clone() } else { format!("{}: {}", report.solver, report.why) }
}

/// A parameter of a report as a reader has it.
fn word(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Number(n) if n.is_f64() => number(n.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

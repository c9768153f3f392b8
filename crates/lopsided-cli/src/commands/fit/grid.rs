//! The settings that cross-validation tries.

use crate::args::FitArgs;
use lopsided::base::settings::{Settings, Value};
use lopsided::estimators::recipe::most_components;
use lopsided::estimators::{Recipe, estimators};
use lopsided::evaluation::Search;
use lopsided::{Dataset, Scalar};

const RANKS: [usize; 3] = [25, 100, 300];
const PENALTIES: [f64; 5] = [1.0, 10.0, 100.0, 1000.0, 100_000.0];
/// The same for machines whose penalty weighs errors against kernel values.
const KERNEL_PENALTIES: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];
/// ν must be feasible for the smallest class.
const NUS: [f64; 3] = [0.01, 0.05, 0.1];
const GRAPH_FACTORS: [f64; 3] = [1.0, 3.0, 10.0];
const TABLE_FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 5.0];

/// What the user lists; else everything that is not given as an option.
pub(super) fn of<T: Scalar>(
    args: &FitArgs,
    given: &Settings,
    recipe: &Recipe,
    data: &Dataset<T>,
    folds: usize,
) -> Vec<(String, Vec<Value>)> {
    if !args.grid.is_empty() {
        return args.grid.clone();
    }
    let words = |values: &[f64]| values.iter().map(|value| Value::Number(*value)).collect::<Vec<_>>();
    let open = |name: &str| given.value(name).is_none();
    let mut grid = Vec::new();
    if open("gamma-factor") && recipe.svd.gram.kernel.gamma_from_data() {
        let factors: &[f64] = if data.frame.is_some() { &GRAPH_FACTORS } else { &TABLE_FACTORS };
        grid.push(("gamma-factor".into(), words(factors)));
    }
    let has = |name: &str| estimators::<T>().iter().any(|e| e.name == args.estimator && e.has(name));
    let has_rank = has("rank");
    if has_rank && open("rank") {
        let most = most_components(&recipe.svd.gram.kernel, recipe.compat.kind, data, Some(folds));
        let mut ranks: Vec<usize> = RANKS.iter().map(|rank| *rank.min(&most)).collect();
        ranks.dedup();
        grid.push(("rank".into(), ranks.into_iter().map(Value::from).collect()));
    }
    if has("nu") && open("nu") {
        grid.push(("nu".into(), words(&NUS)));
    }
    if has("penalty") && open("penalty") {
        grid.push(("penalty".into(), words(if has_rank { &PENALTIES } else { &KERNEL_PENALTIES })));
    }
    grid
}

/// What a dry run says about a search.
pub(super) fn planned(search: &Search) -> String {
    let points: usize = search.grid.iter().map(|(_, values)| values.len()).product();
    format!("time includes cross-validation of {points} points in {} parts", search.folds)
}

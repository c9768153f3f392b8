//! The settings that cross-validation tries.

use crate::args::FitArgs;
use lopsided::estimators::{Recipe, estimators};
use lopsided::evaluation::Search;
use lopsided::{Dataset, KernelSvd, Scalar};

const RANKS: [usize; 3] = [25, 100, 300];
const PENALTIES: [&str; 5] = ["1", "10", "100", "1000", "100000"];
/// The same for machines whose penalty weighs errors against kernel values.
const KERNEL_PENALTIES: [&str; 5] = ["0.01", "0.1", "1", "10", "100"];
/// ν must be feasible for the smallest class.
const NUS: [&str; 3] = ["0.01", "0.05", "0.1"];
const GRAPH_FACTORS: [&str; 4] = ["1", "2", "5", "10"];
const TABLE_FACTORS: [&str; 4] = ["0.5", "1", "2", "5"];

/// What the user lists; else everything that is not given as an option.
pub(super) fn of<T: Scalar>(
    args: &FitArgs,
    recipe: &Recipe,
    data: &Dataset<T>,
    folds: usize,
) -> Vec<(String, Vec<String>)> {
    if !args.grid.is_empty() {
        return args.grid.clone();
    }
    let words = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut grid = Vec::new();
    if args.kernel.gamma_factor.is_none() && recipe.svd.kernel.gamma_from_data() {
        let factors = if data.frame.is_some() { GRAPH_FACTORS } else { TABLE_FACTORS };
        grid.push(("gamma-factor".into(), words(&factors)));
    }
    let has = |name: &str| estimators::<T>().iter().any(|e| e.name == args.estimator && e.has(name));
    let has_rank = has("rank");
    if has_rank && args.solver.rank.is_none() {
        let most = most(&recipe.svd, data, Some(folds));
        let mut ranks: Vec<usize> = RANKS.iter().map(|rank| *rank.min(&most)).collect();
        ranks.dedup();
        grid.push(("rank".into(), ranks.iter().map(ToString::to_string).collect()));
    }
    if has("nu") && args.machine.nu.is_none() {
        grid.push(("nu".into(), words(&NUS)));
    }
    if has("penalty") && args.penalty.is_none() {
        grid.push(("penalty".into(), words(if has_rank { &PENALTIES } else { &KERNEL_PENALTIES })));
    }
    grid
}

/// The largest possible rank, for the smallest training part if there are folds; at least 1.
pub(super) fn most<T: Scalar>(svd: &KernelSvd, data: &Dataset<T>, folds: Option<usize>) -> usize {
    let known = data.y.as_ref().map_or(0, |y| y.known().len());
    let left = folds.map_or(known, |folds| known - known.div_ceil(folds.max(1)));
    let rows = if data.frame.is_some() { data.x.count() } else { left };
    let cols = match &data.z {
        Some(z) if svd.kernel.name != "precomputed" => z.count(),
        _ => data.x.width(),
    };
    rows.min(cols).max(1)
}

/// What a dry run says about a search.
pub(super) fn planned(search: &Search) -> String {
    let points: usize = search.grid.iter().map(|(_, values)| values.len()).product();
    format!("before that, cross-validation of {points} points in {} parts", search.folds)
}

//! Cross-validation: one decomposition of each fold's kernel matrix serves all penalties and ways of merging.

use super::stack::{Merger, Scores};
use super::{AskLs, Functions, Merge, Symmetrized, Task, check_square, complement, functions, rows_of, training};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::estimators::scoring::Known;
use crate::estimators::{Point, score};
use crate::linsys::{PenaltyPath, Route};
use crate::operator::{KernelMatrix, Operator, Submatrix, Widened};
use crate::scalar::Scalar;
use crate::svd::Run;
use crate::watch::Progress;
use rayon::prelude::*;
use std::collections::HashMap;

/// Points whose functions are multiplied with K at once.
const TOGETHER: usize = 32;

/// The score of every point on every fold.
///
/// Stacked points are merged by weights learned from the held-out scores of all folds, three numbers per class, so that no
/// folds within folds are needed.
pub(super) fn scores<T: Scalar>(
    base: &AskLs,
    data: &Dataset<T>,
    points: &[Point],
    folds: &[Vec<usize>],
    run: &Run,
) -> Result<Vec<Vec<f64>>> {
    data.refuse_weights("ask-ls and ls-svm")?;
    let machines: Vec<AskLs> = points.iter().map(|point| base.at(point)).collect::<Result<_>>()?;
    let known = base.check(data.y.as_ref())?;
    let place: HashMap<usize, usize> = known.rows.iter().enumerate().map(|(at, &i)| (i, at)).collect();
    let folds: Vec<Vec<usize>> = folds.iter().map(|fold| fold.iter().map(|i| place[i]).collect()).collect();
    let (data, train) = training(data.clone(), &known.rows, base.svd.kernel.name == "precomputed");
    let mut out = vec![Vec::new(); points.len()];
    for (done, group) in groups(&machines).iter().enumerate() {
        let progress =
            Progress { stage: "cross-validation", done: done as u64, total: points.len() as u64, residual: None };
        run.watch.report(progress)?;
        let svd = &machines[group[0]].svd;
        let (_, kernel) = svd.built_kernel(&data, run.seed)?;
        let built = KernelMatrix { reads_entries: true, ..svd.matrix(&*kernel, &data, run)? }.build()?;
        let k = Widened(&*built.operator);
        check_square(&k)?;
        let task = Task { k: &k, train: &train, y: known.y.as_ref(), answer: &known.answer };
        let quiet = Run { watch: run.watch.silent(), ..run.clone() };
        let held = held_scores(&machines, group, &task, &folds, &quiet)?;
        for (at, held) in group.iter().zip(held) {
            out[*at] = fold_scores(&machines[*at], &held, &known, &folds, &data, &train);
        }
    }
    Ok(out)
}

/// Points that share a kernel matrix and its symmetrisation.
fn groups(machines: &[AskLs]) -> Vec<Vec<usize>> {
    let key = |m: &AskLs| (m.svd.kernel.clone(), m.svd.gamma, m.svd.gamma_factor.to_bits(), m.symmetrize);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        match groups.iter_mut().find(|group| key(&machines[group[0]]) == key(machine)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Scores of every training sample, each learned without its fold; one per point of the group.
fn held_scores(
    machines: &[AskLs],
    group: &[usize],
    task: &Task<'_>,
    folds: &[Vec<usize>],
    run: &Run,
) -> Result<Vec<Scores>> {
    let one = |fold: &Vec<usize>| scores_on(fold, machines, group, task, run);
    let parts: Vec<Result<Vec<Scores>>> =
        if task.is_light() { folds.par_iter().map(one).collect() } else { folds.iter().map(one).collect() };
    let mut held = vec![Scores::zeros(task.train.len(), task.y.ncols()); group.len()];
    for (fold, part) in folds.iter().zip(parts) {
        held.iter_mut().zip(part?).for_each(|(held, scores)| held.set(fold, &scores));
    }
    Ok(held)
}

/// Scores of the samples of one fold, learned from the others.
fn scores_on(fold: &[usize], machines: &[AskLs], group: &[usize], task: &Task<'_>, run: &Run) -> Result<Vec<Scores>> {
    let rest = complement(fold, task.train.len());
    let (nodes, tested) = (task.nodes(&rest), task.nodes(fold));
    let y = rows_of(task.y, &rest);
    let block = Submatrix::new(task.k, Some(&nodes), Some(&nodes));
    let symmetrized = machines[group[0]].symmetrize.map(|kind| Symmetrized::new(&block, kind));
    let matrix: &dyn Operator<f64> = symmetrized.as_ref().map_or(&block, |s| s);
    let mut path =
        (group.len() > 1).then(|| PenaltyPath::new(matrix, y.as_ref(), symmetrized.is_some())).transpose()?;
    let (mut systems, mut learned) = (Vec::new(), Vec::new());
    for machine in group.iter().map(|&at| &machines[at]) {
        if systems.contains(&machine.system()) {
            continue;
        }
        let solved = match &mut path {
            Some(path) if matches!(machine.route, Route::Auto | Route::Krylov | Route::Svd) => {
                path.solve(&machine.system(), run)?
            }
            _ => machine.system().solve(matrix, y.as_ref(), run)?,
        };
        let solved = match machine.symmetrize {
            Some(kind) => functions::unfolded(solved, &block, kind)?,
            None => solved,
        };
        systems.push(machine.system());
        learned.push(Functions::padded(&solved, &nodes, task.k.nrows()));
    }
    let mut scores = Vec::new();
    for together in learned.chunks(TOGETHER) {
        scores.extend(Functions::beside(together).scores_within(task.k, &tested)?.split(together.len()));
    }
    let place = |machine: &AskLs| systems.iter().position(|system| *system == machine.system()).unwrap_or(0);
    Ok(group.iter().map(|&at| scores[place(&machines[at])].clone()).collect())
}

fn fold_scores<T: Scalar>(
    machine: &AskLs,
    held: &Scores,
    known: &Known,
    folds: &[Vec<usize>],
    data: &Dataset<T>,
    train: &[usize],
) -> Vec<f64> {
    let merge = machine.plain_merge();
    let merger = match merge {
        Merge::Stack => Merger::stacked(held, known.y.as_ref(), &known.answer),
        merge => Merger::plain(merge),
    };
    let decision = merger.decision(held, &known.answer);
    let one = |fold: &Vec<usize>| {
        let rows: Vec<usize> = fold.iter().map(|&i| train[i]).collect();
        data.y.as_ref().map_or(f64::NAN, |y| score(&y.rows(&rows), rows_of(decision.as_ref(), fold).as_ref()))
    };
    folds.iter().map(one).collect()
}

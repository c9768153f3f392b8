//! Cross-validation: machines that differ in the penalty share their features or kernel matrix, and go on from each other.

use super::landmarks::Prepared;
use super::{Approach, Dataset, Frame, Learned, Result, Run, Scalar, Space, Task};
use crate::dataset::Target;
use crate::estimators::scoring::no_target;
use crate::estimators::{Model, score};
use crate::linear_machine::Hyperplanes;
use crate::watch::Progress;

/// A machine by its number, with what the one before it learned from the same kernel matrix.
pub(super) type Before<'a> = Option<(usize, &'a Learned)>;

/// The score of every machine on every fold; `learn` is told the number of the machine.
pub(super) fn scores<T: Scalar>(
    frames: &[Frame<'_>],
    data: &Dataset<T>,
    folds: &[Vec<usize>],
    run: &Run,
    learn: impl Fn(usize, &Task<'_>, Before<'_>, &Run) -> Result<Learned>,
) -> Result<Vec<Vec<f64>>> {
    let target = data.y.as_ref().ok_or_else(no_target)?;
    let mut out = vec![Vec::new(); frames.len()];
    for (done, group) in groups(frames).iter().enumerate() {
        let (done, total) = (done as u64, frames.len() as u64);
        run.watch.report(Progress { stage: "cross-validation", done, total, residual: None })?;
        let quiet = Run { watch: run.watch.silent(), ..run.clone() };
        for fold in folds {
            let fold = Fold { target, data, held: fold, run: &quiet };
            fold.scores(frames, group, &learn)?.into_iter().zip(group).for_each(|(score, &at)| out[at].push(score));
        }
    }
    Ok(out)
}

/// Machines with the same features or kernel matrix.
fn groups(frames: &[Frame<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        match groups.iter_mut().find(|group| frame.shares(&frames[group[0]])) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Rows that are held out.
struct Fold<'a, T> {
    target: &'a Target,
    data: &'a Dataset<T>,
    held: &'a [usize],
    run: &'a Run,
}

impl<T: Scalar> Fold<'_, T> {
    fn scores(
        &self,
        frames: &[Frame<'_>],
        group: &[usize],
        learn: impl Fn(usize, &Task<'_>, Before<'_>, &Run) -> Result<Learned>,
    ) -> Result<Vec<f64>> {
        let truth = self.target.rows(self.held);
        let held: std::collections::HashSet<usize> = self.held.iter().copied().collect();
        let rest = Dataset { y: Some(self.target.clone().without(|i| held.contains(&i))), ..self.data.clone() };
        let first = &frames[group[0]];
        if first.approach() == Approach::Exact {
            let all = |task: &Task<'_>| {
                let mut found: Vec<Learned> = Vec::new();
                for (done, &at) in group.iter().enumerate() {
                    let before = found.last().map(|learned| (group[done - 1], learned));
                    found.push(learn(at, task, before, self.run)?);
                }
                Ok(found)
            };
            let (models, held) = (first.fit_exact(rest, self.run, group.len(), all)?, self.data.rows(self.held));
            return models.iter().map(|m| Ok(score(&truth, m.decision(&held, self.run)?.as_ref()))).collect();
        }
        let prepared: Prepared<T> = first.prepared(&rest, &first.labelled(&rest)?.rows, self.run)?;
        let new = prepared.of_rows(self.data, self.held, self.run)?;
        let one = |&at: &usize| {
            let labelled = frames[at].labelled(&rest)?;
            let task = labelled.task(Space::Features(prepared.features.as_ref()));
            let learned = learn(at, &task, None, self.run)?;
            let values = Hyperplanes { weights: learned.coefficients, bias: learned.bias }.decision(new.as_ref());
            Ok(score(&truth, learned.output.decision(values, task.names.len()).as_ref()))
        };
        group.iter().map(one).collect()
    }
}

//! Cross-validation: machines that differ in the penalty share their features or kernel matrix, those of the rest of the samples.
//!
//! For each group of machines that share, and each fold:
//!
//! 1. The targets of the fold are hidden; what is estimated from samples comes from the other rows.
//! 2. Exact machines: one kernel matrix, as accurate as the strictest of them needs it; each machine gives a
//!    model.
//! 3. With landmarks: one set of features, and the features of the fold by the same map; each machine gives
//!    planes.
//! 4. Decision values of the fold are scored.

use super::landmarks::Prepared;
use super::{Approach, Dataset, Frame, Learned, Result, Run, Scalar, Space, Task, TwoClass};
use crate::base::watch::Progress;
use crate::data::dataset::Target;
use crate::estimators::scoring::{hidden, no_target};
use crate::estimators::{Model, score};
use crate::solvers::linear_machine::Hyperplanes;

/// The score of every machine on every fold; `learn` is told the number of the machine.
///
/// Each starts from nothing, as in a fit: one that went on from another would end within its tolerance, but elsewhere.
pub(super) fn scores<T: Scalar>(
    frames: &[Frame<'_>],
    data: &Dataset<T>,
    folds: &[Vec<usize>],
    run: &Run,
    learn: impl Fn(usize, &Task<'_>, &Run) -> Result<Learned>,
) -> Result<Vec<Vec<f64>>> {
    let target = data.y.as_ref().ok_or_else(no_target)?;
    let mut out = vec![Vec::new(); frames.len()];
    for (done, group) in groups(frames, target).iter().enumerate() {
        let (done, total) = (done as u64, frames.len() as u64);
        run.watch.report(Progress { stage: "cross-validation", done, total, residual: None })?;
        let quiet = Run { watch: run.watch.silent(), ..run.clone() };
        for (number, held) in folds.iter().enumerate() {
            let scores = quiet.remembered_numbers(&format!("group {done} fold {number}"), |run| {
                Fold { target, data, held, run }.scores(frames, group, &learn)
            })?;
            scores.into_iter().zip(group).for_each(|(score, &at)| out[at].push(score));
        }
    }
    Ok(out)
}

/// Machines with the same features or kernel matrix.
fn groups(frames: &[Frame<'_>], target: &Target) -> Vec<Vec<usize>> {
    let classes = if let Target::Classes { names, .. } = target { names.len() } else { 0 };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        match groups.iter_mut().find(|group| frame.shares(&frames[group[0]], classes)) {
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
    /// The score of each machine of a group, in the order of the group.
    fn scores(
        &self,
        frames: &[Frame<'_>],
        group: &[usize],
        learn: impl Fn(usize, &Task<'_>, &Run) -> Result<Learned>,
    ) -> Result<Vec<f64>> {
        let truth = self.target.rows(self.held);
        let rest = Dataset { y: Some(hidden(self.target, self.held)), ..self.data.clone() };
        let first = &frames[group[0]];
        if first.approach() == Approach::Exact {
            let all = |task: &Task<'_>| group.iter().map(|&at| learn(at, task, self.run)).collect();
            let frame = Frame { machines: strictest(frames, group), ..*first };
            let (models, held) = (frame.fit_exact(rest, self.run, all)?, self.data.rows(self.held));
            return models.iter().map(|m| Ok(score(&truth, m.decision(&held, self.run)?.as_ref()))).collect();
        }
        let prepared: Prepared<T> = first.prepared(&rest, &first.labelled(&rest)?.rows, self.run)?;
        let new = prepared.of_rows(self.data, self.held, self.run)?;
        let one = |&at: &usize| {
            let labelled = frames[at].labelled(&rest)?;
            let task = labelled.task(Space::Features(prepared.features.as_ref()));
            let learned = learn(at, &task, self.run)?;
            let values = Hyperplanes { weights: learned.coefficients, bias: learned.bias }.decision(new.as_ref());
            Ok(score(&truth, learned.output.decision(values, task.names.len()).as_ref()))
        };
        group.iter().map(one).collect()
    }
}

/// The machines of a group with the least slack of all: what their kernel matrix has to be accurate enough for.
fn strictest(frames: &[Frame<'_>], group: &[usize]) -> Option<TwoClass> {
    let all = group.iter().filter_map(|&at| frames[at].machines);
    all.min_by(|a, b| a.slack.total_cmp(&b.slack))
}

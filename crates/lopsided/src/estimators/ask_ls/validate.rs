//! Cross-validation: what is learned from the rest of the samples alone, with decompositions that serve all penalties.
//!
//! 1. Points are grouped by what makes the kernel matrix: kernel, bandwidth and symmetrisation.
//! 2. For each group and fold the kernel matrix is that of the other rows of a table, or the one of all samples
//!    of a graph, whose targets alone are hidden.
//! 3. Points of a group that differ in the penalty share a path of penalties or, for stacking, the
//!    decomposition of `nested`. What such a path does not simply solve (singular systems, other routes) is
//!    learned by the machine on its own, as a fit would.
//! 4. The functions of up to 32 points are multiplied with the kernel values of the fold at once.
//!
//! Scores are those that one fit per point and fold would give, up to the tolerance of the solvers.

use super::nested::{self, Stacked};
use super::stack::{Merger, Scores};
use super::{AskLs, FOLDS, Functions, Merge, Symmetrized, Task, check_square, training, unfolded};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::random::Purpose;
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::dataset::{Dataset, Target};
use crate::estimators::new_values::NewValues;
use crate::estimators::scoring::{deal, hidden, no_target};
use crate::estimators::{Answer, Cases, Table, score};
use crate::operator::{KernelMatrix, Operator, Submatrix, Widened};
use crate::solvers::linsys::{PenaltyPath, Route};
use faer::Mat;
use rayon::prelude::*;

/// Points whose functions are multiplied with K at once.
const TOGETHER: usize = 32;

/// The score of every point on every fold.
///
/// A fold takes no part in anything that is learned for it: the kernel's gamma and normalisers come from the other rows, and
/// so do the weights of stacking, by parts of these rows. Of a graph and of a precomputed matrix all samples are input, and
/// only their targets are unknown.
pub(super) fn scores<T: Scalar>(base: &AskLs, data: &Dataset<T>, cases: Cases<'_>, run: &Run) -> Result<Table> {
    let (points, folds) = cases;
    let machines: Vec<AskLs> = points.iter().map(|point| base.at(point)).collect::<Result<_>>()?;
    let target = data.y.as_ref().ok_or_else(no_target)?;
    let mut out = vec![Vec::new(); points.len()];
    for (done, group) in groups(&machines).iter().enumerate() {
        let (done, total) = (done as u64, points.len() as u64);
        run.watch.report(Progress { stage: "cross-validation", done, total, residual: None })?;
        let quiet = Run { watch: run.watch.silent(), ..run.clone() };
        let machines: Vec<&AskLs> = group.iter().map(|&at| &machines[at]).collect();
        let quiet = quiet.within(format!("group {done}"));
        let by_fold = Group { machines, data, target, run: &quiet }.scores(folds)?;
        for (place, &at) in group.iter().enumerate() {
            out[at] = by_fold.iter().map(|scores| scores[place]).collect();
        }
    }
    Ok(out)
}

/// Points that share a kernel matrix and its symmetrisation.
fn groups(machines: &[AskLs]) -> Vec<Vec<usize>> {
    let key = |m: &AskLs| (m.gram.kernel.clone(), m.gram.gamma, m.gram.gamma_factor.to_bits(), m.symmetrize);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        match groups.iter_mut().find(|group| key(&machines[group[0]]) == key(machine)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Machines that share a kernel matrix, and what they are judged on.
struct Group<'a, T> {
    /// One machine per point; they differ in penalty, merge and route at most.
    machines: Vec<&'a AskLs>,
    data: &'a Dataset<T>,
    /// All targets; those of a fold are hidden before anything is learned for it.
    target: &'a Target,
    run: &'a Run,
}

/// What one machine learned.
type Learned = (Functions, Merger);

impl<T: Scalar> Group<'_, T> {
    /// A row for each fold, with the score of each machine.
    fn scores(&self, folds: &[Vec<usize>]) -> Result<Vec<Vec<f64>>> {
        let known = self.target.known().len();
        let light = known <= super::LIGHT;
        let each = |one: &(dyn Fn(&Vec<usize>) -> Result<Vec<f64>> + Sync)| -> Result<Vec<Vec<f64>>> {
            let remembered = |(number, fold): (usize, &Vec<usize>)| {
                self.run.remembered_numbers(&format!("fold {number}"), |_| one(fold))
            };
            let numbered = folds.iter().enumerate();
            if light {
                folds.par_iter().enumerate().map(remembered).collect()
            } else {
                numbered.map(remembered).collect()
            }
        };
        if self.data.frame.is_none() && !self.machines[0].gram.kernel.is_precomputed() {
            return each(&|fold| self.inductive(fold));
        }
        self.with_kernel(self.data, |k, _| each(&|fold| self.transductive(k, fold)))
    }

    /// Samples that the kernel matrix holds: only targets are hidden.
    fn transductive(&self, k: &dyn Operator<f64>, fold: &[usize]) -> Result<Vec<f64>> {
        let rest = hidden(self.target, fold);
        let known = self.checked(&rest)?;
        let task = Task { k, train: &known.rows, y: known.y.as_ref(), answer: &known.answer, weights: None };
        let learned = self.learned(&task, &rest)?;
        self.judged(&learned, &known.answer, fold, |functions| functions.scores_within(k, fold))
    }

    /// Rows of a table: the kernel matrix is that of the others.
    fn inductive(&self, fold: &[usize]) -> Result<Vec<f64>> {
        let rest = hidden(self.target, fold);
        let known = self.checked(&rest)?;
        let (data, train) = training(self.data.clone(), &known.rows, false);
        let (new, rest) = (self.data.x.as_ref().select(fold), rest.rows(&known.rows));
        self.with_kernel(&data, |k, values| {
            let task = Task { k, train: &train, y: known.y.as_ref(), answer: &known.answer, weights: None };
            let learned = self.learned(&task, &rest)?;
            self.judged(&learned, &known.answer, fold, |functions| {
                let shape = (fold.len(), functions.source.ncols());
                let (mut source, mut target) = (Mat::zeros(shape.0, shape.1), Mat::zeros(shape.0, shape.1));
                values
                    .rows(new.as_ref(), self.run, |g| Widened(g).apply(functions.source.as_ref(), source.as_mut()))?;
                values.cols(new.as_ref(), self.run, |g| {
                    Widened(g).apply_transpose(functions.target.as_ref(), target.as_mut())
                })?;
                Ok(functions.with_biases(source, target))
            })
        })
    }

    /// The labelled rows of the rest, after every machine has had a look: holding out a fold may leave a class with
    /// one sample.
    fn checked(&self, rest: &Target) -> Result<crate::estimators::scoring::Known> {
        self.machines.iter().try_for_each(|machine| machine.check(Some(rest)).map(|_| ()))?;
        self.machines[0].check(Some(rest))
    }

    /// What `f` makes of the kernel matrix of some samples and of values with new ones.
    fn with_kernel<R>(
        &self,
        data: &Dataset<T>,
        f: impl FnOnce(&(dyn Operator<f64> + Sync), &NewValues<'_, T>) -> Result<R>,
    ) -> Result<R> {
        let gram = &self.machines[0].gram;
        let (spec, kernel) = gram.built_kernel(data, self.run.seed)?;
        let built = KernelMatrix { reads_entries: true, ..gram.matrix(&*kernel, data, self.run) }.build()?;
        let k = Widened(&*built.operator);
        check_square(&k)?;
        let normalizer = built.normalizer.as_deref();
        let values = NewValues { kernel: &spec, data, normalizer, sampled_cols: None, blocks_suffice: false };
        f(&k, &values)
    }

    /// The score of each machine from its values at the samples of a fold.
    fn judged(
        &self,
        learned: &[Learned],
        answer: &Answer,
        fold: &[usize],
        values: impl Fn(&Functions) -> Result<Scores>,
    ) -> Result<Vec<f64>> {
        let truth = self.target.rows(fold);
        let mut out = Vec::new();
        for together in learned.chunks(TOGETHER) {
            let functions: Vec<Functions> = together.iter().map(|(functions, _)| functions.clone()).collect();
            let all = values(&Functions::beside(&functions))?;
            let scores = all.split(together.len()).zip(together);
            out.extend(scores.map(|(scores, (_, merger))| score(&truth, merger.decision(&scores, answer).as_ref())));
        }
        Ok(out)
    }

    /// What each machine learns from a task: together where that gives what each finds alone.
    fn learned(&self, task: &Task<'_>, target: &Target) -> Result<Vec<Learned>> {
        let mut out: Vec<Option<Learned>> = vec![None; self.machines.len()];
        for stacks in [false, true] {
            let which: Vec<usize> = (0..out.len()).filter(|&at| self.may_share(at, stacks)).collect();
            if which.len() > 1 {
                let found = if stacks { self.stacked(&which, task, target)? } else { self.plain(&which, task)? };
                which.into_iter().zip(found).for_each(|(at, found)| out[at] = found);
            }
        }
        let alone = |(at, found): (usize, Option<Learned>)| {
            if let Some(found) = found {
                return Ok(found);
            }
            let (functions, merger, _) = self.machines[at].learn(task, Some(target), self.run)?;
            Ok((functions, merger))
        };
        out.into_iter().enumerate().map(alone).collect()
    }

    /// Whether a machine may be solved along with others: it stacks or not, as asked, and its route is one that
    /// serves every penalty.
    fn may_share(&self, at: usize, stacks: bool) -> bool {
        let machine = self.machines[at];
        (machine.plain_merge() == Merge::Stack) == stacks
            && matches!(machine.system().route, Route::Auto | Route::Krylov | Route::Svd)
    }

    /// One path of penalties. Systems that a path does not simply solve are left to their machines.
    fn plain(&self, which: &[usize], task: &Task<'_>) -> Result<Vec<Option<Learned>>> {
        let block = Submatrix::new(task.k, Some(task.train), Some(task.train));
        let kind = self.machines[0].symmetrize;
        let symmetrized = kind.map(|kind| Symmetrized::new(&block, kind));
        let matrix: &dyn Operator<f64> = symmetrized.as_ref().map_or(&block, |s| s);
        let mut path = PenaltyPath::new(matrix, task.y, symmetrized.is_some())?;
        let mut one = |&at: &usize| {
            let machine = self.machines[at];
            let solved = path.solve(&machine.system(), self.run)?;
            if !(solved.report.warnings.is_empty() && solved.report.converged()) {
                return Ok(None);
            }
            let solved = kind.map_or(Ok(solved.clone()), |kind| unfolded(solved, &block, kind))?;
            let functions = Functions::padded(&solved, task.train, task.k.nrows());
            Ok(Some((functions, Merger::plain(machine.plain_merge()))))
        };
        which.iter().map(&mut one).collect()
    }

    /// The parts of stacking are those of [`AskLs::learn`].
    fn stacked(&self, which: &[usize], task: &Task<'_>, target: &Target) -> Result<Vec<Option<Learned>>> {
        let parts =
            deal(Some(&target.rows(task.train)), FOLDS.min(task.train.len()), self.run.seed, Purpose::AskLsFolds)?;
        let systems: Vec<_> = which.iter().map(|&at| self.machines[at].system()).collect();
        let merged = |found: Stacked| (found.mean, Merger::stacked(&found.held, task.y, task.answer));
        let found = nested::stacked(task, &parts, &systems, self.run)?;
        Ok(found.into_iter().map(|found| found.map(merged)).collect())
    }
}

//! Cross-validation that shares the decompositions: one serves all scalings and penalties, a complete one all ranks as well.
//!
//! 1. Points are grouped by what decides about the decomposition: kernel, bandwidth and, for iterative solvers,
//!    the rank. A complete decomposition holds every smaller rank.
//! 2. Graphs: the features do not depend on the fold, so one decomposition and the moments of each fold serve
//!    all points. Tables: every fold has its own decomposition, without its rows.
//! 3. A rank is a choice of columns, a scaling a ridge of 1/(γ·σ^2p) instead of 1/γ: each point is a small
//!    system of moments.

use super::SvdPredictor;
use super::model::{features, side_by_side};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::dataset::{Dataset, Target};
use crate::estimators::moments::Moments;
use crate::estimators::scoring::Known;
use crate::estimators::{Cases, KernelSvd, KernelSvdModel, Point, Scaling, Table, score};
use crate::solvers::svd;
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// The score of every point on every fold.
pub(super) fn scores<T: Scalar>(base: &SvdPredictor, data: &Dataset<T>, cases: Cases<'_>, run: &Run) -> Result<Table> {
    let (points, folds) = cases;
    data.refuse_weights("kernel-svd")?;
    let known = Known::of(data.y.as_ref())?;
    let setting = |point: &Point| {
        let predictor = base.at(point)?;
        let penalty = predictor.penalty_for(&known.answer)?;
        Ok(Setting { svd: predictor.svd, penalty })
    };
    let settings: Vec<Setting> = points.iter().map(setting).collect::<Result<_>>()?;
    let job = Job { base, settings, known, folds, run };
    if data.frame.is_some() { job.transductive(data) } else { job.inductive(data) }
}

/// What one point asks for.
struct Setting {
    svd: KernelSvd,
    penalty: f64,
}

impl Setting {
    /// What decides about the decomposition of a matrix of this size. The triplets of an iterative solver, and those of a
    /// sample, depend on how many are asked for.
    fn key<T: Scalar>(&self, (n, m): (usize, usize)) -> Result<impl PartialEq + use<T>> {
        let KernelSvd { gram, rank, solver, solver_params, .. } = &self.svd;
        let complete = svd::solver::<T>(solver, solver_params)?.plan(n, m, *rank).solver == "exact";
        Ok((gram.clone(), if complete { 0 } else { *rank }))
    }
}

struct Job<'a> {
    base: &'a SvdPredictor,
    settings: Vec<Setting>,
    known: Known,
    folds: &'a [Vec<usize>],
    run: &'a Run,
}

impl Job<'_> {
    /// Points with the same decomposition of some samples.
    fn groups<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Vec<usize>>> {
        let precomputed = self.base.svd.gram.kernel.is_precomputed();
        let size = (data.x.count(), if precomputed { data.x.width() } else { data.cols().count() });
        let keys = self.settings.iter().map(|setting| setting.key::<T>(size)).collect::<Result<Vec<_>>>()?;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in 0..keys.len() {
            match groups.iter_mut().find(|group| keys[group[0]] == keys[at]) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        Ok(groups)
    }

    /// The decomposition that serves a group, unscaled.
    fn embedding(&self, group: &[usize]) -> KernelSvd {
        let rank = group.iter().map(|&at| self.settings[at].svd.rank).max().unwrap_or(1);
        KernelSvd { rank, scaling: Scaling::None, ..self.settings[group[0]].svd.clone() }
    }

    /// Nodes: the features do not depend on the fold, and moments of the folds give those of every training part.
    fn transductive<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Vec<f64>>> {
        let mut out = vec![Vec::new(); self.settings.len()];
        let groups = self.groups(data)?;
        for (done, group) in groups.iter().enumerate() {
            self.report(done as u64, groups.len())?;
            let quiet = Run { watch: self.run.watch.silent(), ..self.run.clone() };
            let svd = self.embedding(group).fit(data.clone(), &quiet)?;
            let x = features(&svd);
            let held: HashSet<usize> = self.folds.iter().flatten().copied().collect();
            let never_held: Vec<usize> = self.known.rows.iter().copied().filter(|i| !held.contains(i)).collect();
            let mut parts: Vec<Moments> = self.folds.par_iter().map(|fold| self.moments(x.as_ref(), fold)).collect();
            parts.push(self.moments(x.as_ref(), &never_held));
            let Some(total) = Moments::total(&parts) else { continue };
            let one = |at: usize, fold: usize| {
                self.run.watch.check()?;
                let held = rows_of(x.as_ref(), &self.folds[fold]);
                let machine = Machine::new(&self.settings[at], &svd, x.ncols());
                machine.score(&total, Some(&parts[fold]), held.as_ref(), &self.target(data, fold))
            };
            let jobs: Vec<(usize, usize)> =
                group.iter().flat_map(|&at| (0..self.folds.len()).map(move |fold| (at, fold))).collect();
            let found: Vec<f64> = jobs.par_iter().map(|&(at, fold)| one(at, fold)).collect::<Result<_>>()?;
            jobs.iter().zip(found).for_each(|((at, _), score)| out[*at].push(score));
        }
        Ok(out)
    }

    /// Rows of tables: each fold embeds its training rows and places the others.
    fn inductive<T: Scalar>(&self, data: &Dataset<T>) -> Result<Vec<Vec<f64>>> {
        let done = AtomicU64::new(0);
        let one = |fold: usize| {
            self.report(done.load(Ordering::Relaxed), self.folds.len())?;
            let scores = self.run.remembered_numbers(&format!("fold {fold}"), |run| self.fold(data, fold, run))?;
            done.fetch_add(1, Ordering::Relaxed);
            Ok(scores)
        };
        let by_fold: Vec<Vec<f64>> = (0..self.folds.len()).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok((0..self.settings.len()).map(|at| by_fold.iter().map(|scores| scores[at]).collect()).collect())
    }

    /// The score of every point on one fold.
    fn fold<T: Scalar>(&self, data: &Dataset<T>, fold: usize, run: &Run) -> Result<Vec<f64>> {
        let held: HashSet<usize> = self.folds[fold].iter().copied().collect();
        let rows: Vec<usize> = self.known.rows.iter().copied().filter(|i| !held.contains(i)).collect();
        let run = Run { watch: run.watch.silent(), ..run.clone() };
        let training = self.base.prepared(data.rows(&rows), &(0..rows.len()).collect::<Vec<_>>(), &run)?;
        let y = Known::of(training.y.as_ref())?.y;
        let (new, target) = (data.x.as_ref().select(&self.folds[fold]), self.target(data, fold));
        let mut out = vec![0.0; self.settings.len()];
        for group in &self.groups(&training)? {
            let embedding = self.embedding(group);
            // Folds run at the same time.
            let memory = embedding.gram.bytes() / self.folds.len() as u64;
            let svd = embedding.with_memory(memory).fit(training.clone(), &run)?;
            let x = features(&svd);
            let moments = Moments::of(x.as_ref(), y.as_ref());
            let placed = side_by_side(svd.project_rows(new.as_ref(), &run)?.as_ref(), None);
            for &at in group {
                let machine = Machine::new(&self.settings[at], &svd, x.ncols());
                out[at] = machine.score(&moments, None, placed.as_ref(), &target)?;
            }
        }
        Ok(out)
    }

    fn moments(&self, x: MatRef<'_, f64>, fold: &[usize]) -> Moments {
        // Folds are dealt from the known rows, which ascend.
        let known = |i: &usize| self.known.rows.binary_search(i).ok();
        let places: Vec<usize> = fold.iter().filter_map(known).collect();
        Moments::of(rows_of(x, fold).as_ref(), rows_of(self.known.y.as_ref(), &places).as_ref())
    }

    fn target<T: Scalar>(&self, data: &Dataset<T>, fold: usize) -> Target {
        let nothing = Target::Values(vec![f64::NAN; self.folds[fold].len()]);
        data.y.as_ref().map_or(nothing, |y| y.rows(&self.folds[fold]))
    }

    /// Tells whoever watches, and ends the search where they ask for it.
    fn report(&self, done: u64, total: usize) -> Result<()> {
        self.run.watch.report(Progress { stage: "cross-validation", done, total: total as u64, residual: None })
    }
}

/// The linear machine of one point on the features of its group.
struct Machine {
    /// Columns of the group's features that count: the leading components of each side.
    cols: Vec<usize>,
    /// 1/(penalty·σ^2p) of every feature.
    ridge: Vec<f64>,
}

impl Machine {
    /// Components of one side lie side by side, so that column j belongs to the singular value σ_(j mod r).
    fn new<T: Scalar>(setting: &Setting, svd: &KernelSvdModel<T>, width: usize) -> Self {
        let sigma = svd.singular_values();
        let power = 2.0 * setting.svd.scaling.power();
        let ridge = |j: usize| 1.0 / (setting.penalty * sigma[j % sigma.len()].as_f64().powf(power));
        let cols = (0..width).filter(|j| j % sigma.len() < setting.svd.rank).collect();
        Machine { cols, ridge: (0..width).map(ridge).collect() }
    }

    fn score(
        &self,
        moments: &Moments,
        without: Option<&Moments>,
        held: MatRef<'_, f64>,
        target: &Target,
    ) -> Result<f64> {
        let model = moments.solve(without, &self.cols, |j| self.ridge[j])?;
        let x = Mat::from_fn(held.nrows(), self.cols.len(), |i, j| held[(i, self.cols[j])]);
        Ok(score(target, model.decision(x.as_ref()).as_ref()))
    }
}

fn rows_of(m: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), m.ncols(), |i, j| m[(rows[i], j)])
}

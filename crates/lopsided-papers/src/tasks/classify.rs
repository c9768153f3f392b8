//! Node classification: features, random splits, a grid chosen inside the training part.
//!
//! 1. A share of the labelled nodes is drawn to learn from.
//! 2. These are dealt into folds, and the moments of each fold are taken once.
//! 3. Every point of every grid is scored on every fold by the machine of the other folds; moments subtract.
//! 4. The best point of a grid learns from the whole training part and is scored on the rest.

use faer::Mat;
use lopsided::base::Run;
use lopsided::base::error::{Error, Result};
use lopsided::base::random::{self, Purpose};
use lopsided::data::samples::SamplesRef;
use lopsided::estimators::Features;
use lopsided::estimators::linear::LinearLsSvmModel;
use lopsided::estimators::moments::Moments;
use lopsided::metrics::{macro_f1, micro_f1, split};
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Numbers of components and penalties to choose from.
///
/// A grid of one rank and one penalty is a fixed protocol; several grids are answered by one run, with one
/// [`Choice`] each.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Leading components of each side; more than there are means all.
    pub ranks: Vec<usize>,
    /// Penalties of the LS-SVM. Features times s with a penalty p are the same as features with the penalty p·s².
    pub penalties: Vec<f64>,
}

/// Classification of nodes from their features: one-vs-rest linear LS-SVM on random splits (\[KSVD\] §4.1).
///
/// The splits depend on the seed and the number of labelled nodes only, so they are the same for every method. What a [`Grid`]
/// leaves open is chosen by cross-validation of the micro-F1 inside the training part. Nodes without label take no part.
///
/// # Cost
/// Per trial O(n·d²) for d features, shared by all grid points, and O(d³) for each grid point and fold.
///
/// # Example
/// A feature that is the class itself leaves nothing to be desired:
///
/// ```
/// use lopsided_papers::tasks::{Grid, NodeClassification};
/// use lopsided::solvers::svd::SolveReport;
/// use lopsided::{Features, Mat, Run, Scaling};
///
/// let u = Mat::from_fn(40, 1, |i, _| if i % 2 == 0 { 1.0 } else { -1.0 });
/// let (scaling, report) = (Scaling::None, SolveReport::default());
/// let features = Features { u, v: None, sigma: vec![1.0], scaling, report };
/// let codes: Vec<Option<u32>> = (0..40).map(|i| Some(i % 2)).collect();
/// let grids = [Grid { ranks: vec![1], penalties: vec![0.1, 10.0] }];
/// let task = NodeClassification { trials: 2, ..NodeClassification::default() };
/// let trials = task.evaluate(&features, &codes, &grids, &Run::default())?;
/// assert!(trials.iter().all(|trial| trial[0].micro_f1 == 1.0));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NodeClassification {
    /// Share of the labelled nodes to learn from.
    pub train_share: f64,
    /// Number of splits.
    pub trials: usize,
    /// Parts of the training part for cross-validation.
    pub folds: usize,
}

impl Default for NodeClassification {
    /// 80 % to learn from, 10 trials, 5 folds.
    fn default() -> Self {
        NodeClassification { train_share: 0.8, trials: 10, folds: 5 }
    }
}

/// The best point of a grid in one trial.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Choice {
    /// Components of each side.
    pub rank: usize,
    /// Penalty.
    pub penalty: f64,
    /// Mean micro-F1 in cross-validation.
    pub validation: f64,
    /// Micro-F1 on the test part.
    pub micro_f1: f64,
    /// Macro-F1 on the test part.
    pub macro_f1: f64,
}

/// One choice per grid.
pub type Trial = Vec<Choice>;

impl NodeClassification {
    /// All trials for one set of features; every trial has one [`Choice`] per grid.
    ///
    /// # Errors
    /// [`Error::Param`] and [`Error::Shape`] for settings and labels that cannot be used, [`Error::NotFinite`],
    /// [`Error::Singular`] for a penalty that is too large, [`Error::Interrupted`].
    pub fn evaluate(
        &self,
        features: &Features<f64>,
        codes: &[Option<u32>],
        grids: &[Grid],
        run: &Run,
    ) -> Result<Vec<Trial>> {
        let data = Labelled::new(features, codes)?;
        self.check(data.codes.len(), grids)?;
        let trial = |k: usize| {
            run.watch.check()?;
            self.trial(&data, grids, run.seed.wrapping_add(k as u64))
        };
        (0..self.trials).map(trial).collect()
    }

    fn check(&self, labelled: usize, grids: &[Grid]) -> Result<()> {
        if self.trials == 0 {
            return Err(Error::param("trials", self.trials, "at least 1"));
        }
        if !(self.train_share > 0.0 && self.train_share < 1.0) {
            return Err(Error::param("train share", self.train_share, "above 0 and below 1"));
        }
        let train = (labelled as f64 * self.train_share).round() as usize;
        if train == labelled || self.folds < 2 || self.folds > train {
            return Err(Error::param("folds", self.folds, format!("between 2 and {train}, the nodes to learn from")));
        }
        let penalties = || grids.iter().flat_map(|grid| grid.penalties.iter());
        if let Some(bad) = penalties().find(|p| !(p.is_finite() && **p > 0.0)) {
            return Err(Error::param("penalty", bad, "a positive number"));
        }
        if grids.iter().any(|grid| grid.ranks.is_empty() || grid.ranks.contains(&0) || grid.penalties.is_empty()) {
            return Err(Error::param("grid", "empty", "at least one rank above 0 and one penalty"));
        }
        Ok(())
    }

    /// One split; moments and scores of points that several grids have are computed once.
    fn trial(&self, data: &Labelled, grids: &[Grid], seed: u64) -> Result<Trial> {
        let (train, test) = split(data.codes.len(), self.train_share, seed);
        let folds = dealt(&train, self.folds, seed);
        let parts: Vec<Moments> = folds.par_iter().map(|fold| data.moments(fold)).collect();
        let Some(total) = Moments::total(&parts) else {
            return Err(Error::param("folds", self.folds, "at least 2"));
        };
        let points = data.points(grids);
        let jobs: Vec<(usize, usize)> = (0..points.len()).flat_map(|p| (0..folds.len()).map(move |f| (p, f))).collect();
        let score = |&(p, f): &(usize, usize)| {
            let (rank, penalty) = points[p];
            let model = total.solve(Some(&parts[f]), &data.columns(rank), |_| 1.0 / penalty)?;
            Ok(data.scores(&model, rank, &folds[f]).0)
        };
        let scores: Vec<f64> = jobs.par_iter().map(score).collect::<Result<_>>()?;
        let means: Vec<f64> = scores.chunks(folds.len()).map(|s| s.iter().sum::<f64>() / s.len() as f64).collect();
        let finish = |grid: &Grid| {
            let (rank, penalty, validation) = data.best(grid, &points, &means);
            let model = total.solve(None, &data.columns(rank), |_| 1.0 / penalty)?;
            let (micro_f1, macro_f1) = data.scores(&model, rank, &test);
            Ok(Choice { rank, penalty, validation, micro_f1, macro_f1 })
        };
        grids.par_iter().map(finish).collect()
    }
}

/// The positions in random order, dealt like cards.
pub(super) fn dealt(train: &[usize], folds: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut order = train.to_vec();
    order.shuffle(&mut random::generator(seed, Purpose::NodeFolds));
    (0..folds).map(|f| order.iter().skip(f).step_by(folds).copied().collect()).collect()
}

/// The nodes that have a label.
struct Labelled {
    x: Mat<f64>,
    codes: Vec<u32>,
    classes: usize,
    rank: usize,
    /// 1 or 2: how often the components stand beside each other.
    sides: usize,
}

impl Labelled {
    fn new(features: &Features<f64>, codes: &[Option<u32>]) -> Result<Self> {
        let all = features.matrix();
        if all.nrows() != codes.len() {
            return Err(Error::shape("number of labels", all.nrows(), codes.len()));
        }
        SamplesRef::Dense(all.as_ref()).check_finite("the features")?;
        let known: Vec<(usize, u32)> = codes.iter().enumerate().filter_map(|(i, c)| c.map(|c| (i, c))).collect();
        let classes = known.iter().map(|k| k.1 as usize + 1).max().unwrap_or(0);
        if known.iter().all(|k| k.1 == known[0].1) {
            return Err(Error::param("labels", "of fewer than two classes", "of at least two classes"));
        }
        Ok(Labelled {
            x: Mat::from_fn(known.len(), all.ncols(), |i, j| all[(known[i].0, j)]),
            codes: known.iter().map(|k| k.1).collect(),
            classes,
            rank: features.rank(),
            sides: features.sides(),
        })
    }

    fn moments(&self, rows: &[usize]) -> Moments {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        let sign = |i: usize, c: usize| if self.codes[rows[i]] as usize == c { 1.0 } else { -1.0 };
        Moments::of(x.as_ref(), Mat::from_fn(rows.len(), self.classes, sign).as_ref())
    }

    fn codes_of(&self, rows: &[usize]) -> Vec<u32> {
        rows.iter().map(|&i| self.codes[i]).collect()
    }

    /// Positions of the leading `rank` components of each side.
    fn columns(&self, rank: usize) -> Vec<usize> {
        (0..self.sides).flat_map(|side| (0..rank).map(move |k| side * self.rank + k)).collect()
    }

    /// Micro- and macro-F1 on some rows.
    fn scores(&self, model: &LinearLsSvmModel, rank: usize, rows: &[usize]) -> (f64, f64) {
        let cols = self.columns(rank);
        let x = Mat::from_fn(rows.len(), cols.len(), |i, j| self.x[(rows[i], cols[j])]);
        let (truth, predicted) = (self.codes_of(rows), model.predict(x.as_ref()));
        (micro_f1(&truth, &predicted), macro_f1(&truth, &predicted))
    }

    /// The rank a grid asks for, as far as there are components.
    fn limited(&self, rank: usize) -> usize {
        rank.min(self.rank)
    }

    /// The different points of all grids, the costly ones first.
    fn points(&self, grids: &[Grid]) -> Vec<(usize, f64)> {
        let point = |grid: &Grid| -> Vec<(usize, f64)> {
            let of_rank = |&rank: &usize| grid.penalties.iter().map(move |&p| (self.limited(rank), p));
            grid.ranks.iter().flat_map(of_rank).collect()
        };
        let mut points: Vec<(usize, f64)> = grids.iter().flat_map(point).collect();
        points.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        points.dedup();
        points
    }

    /// The point of a grid with the best validation score; of equals the one with fewer components and less penalty.
    fn best(&self, grid: &Grid, points: &[(usize, f64)], means: &[f64]) -> (usize, f64, f64) {
        let ranks: Vec<usize> = grid.ranks.iter().map(|&r| self.limited(r)).collect();
        let inside = |p: &(usize, f64)| ranks.contains(&p.0) && grid.penalties.contains(&p.1);
        let mut best = (0, 0.0, f64::NEG_INFINITY);
        for (&(rank, penalty), &mean) in points.iter().zip(means).filter(|(p, _)| inside(p)) {
            let simpler = (rank, penalty) < (best.0, best.1);
            if mean > best.2 || (mean >= best.2 && simpler) {
                best = (rank, penalty, mean);
            }
        }
        best
    }
}

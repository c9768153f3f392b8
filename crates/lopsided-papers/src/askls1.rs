//! \[AsKLS\] Table 1: images by the KL kernel between mixtures of Gaussians, on images made for it.

use super::askls::{self, Line};
use super::paper::corel_figures;
use super::{Report, Settings, show, tell};
use crate::Desk;
use crate::Shown;
use anyhow::Result;
use lopsided::data::synth::TexturedImages;
use lopsided::estimators::distributions::{DiagonalMixture, KlMatrix, MixtureFit, cosine_blocks, kl_matrix};
use lopsided::estimators::linear::largest_columns;
use lopsided::evaluation::Spread;
use lopsided::metrics::{accuracy, macro_f1, micro_f1, split};
use lopsided::operator::DenseOperator;
use lopsided::solvers::linsys::{CoupledSolution, CoupledSystem, PenaltyPath};
use lopsided::{Mat, Run};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Share of the images of each class to learn from, as in the paper.
const TRAIN_SHARE: f64 = 0.9;
/// Components of a mixture; the paper has 256 for photographs.
const COMPONENTS: usize = 4;
/// Least variance of a coefficient.
const FLOOR: f64 = 1e-3;
/// Pixels between blocks.
const STEP: usize = 4;
/// Points that estimate a divergence.
const POINTS: usize = 200;
/// a of the kernel, in multiples of 1/median divergence.
const FACTORS: [f64; 5] = [0.1, 0.3, 1.0, 3.0, 10.0];
const PENALTIES: [f64; 6] = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// Everything about the images. The fields are those of `--json`.
#[derive(Serialize)]
struct SetReport {
    #[serde(flatten)]
    results: askls::SetReport,
    components: usize,
    points: usize,
    /// Medians over all pairs of different images.
    divergence: f64,
    standard_error: f64,
}

/// A kernel matrix from divergences and a.
type Matrix = fn(&KlMatrix, f64) -> lopsided::Result<Mat<f64>>;

/// The asymmetric kernel, the paper's symmetric one, and the symmetrised asymmetric one.
const METHODS: [(&str, Matrix); 3] = [
    ("AsK-LS", |divergences, a| Ok(divergences.kernel(a))),
    ("LS-SVM, KL + KLᵀ", KlMatrix::symmetric_kernel),
    ("LS-SVM, (K + Kᵀ)/2", |divergences, a| {
        let k = divergences.kernel(a);
        Ok(Mat::from_fn(k.nrows(), k.ncols(), |i, j| f64::midpoint(k[(i, j)], k[(j, i)])))
    }),
];

/// Computes the table.
pub(super) fn run(settings: &Settings, quick: bool, desk: &Desk) -> Result<Shown> {
    let sets = vec![set(settings, quick, desk)?];
    let Settings { trials, folds, .. } = *settings;
    let (seed, seconds) = (desk.run.seed, desk.seconds());
    show(&Report { table: "askls-1", seed, trials, folds, sets, skipped: Vec::new(), seconds }, text, desk)
}

fn set(settings: &Settings, quick: bool, desk: &Desk) -> Result<SetReport> {
    let start = Instant::now();
    let (run, per_class) = (&desk.run, if quick { 10 } else { 20 });
    tell(desk, "generated images: mixtures");
    let recipe = TexturedImages { per_class, seed: run.seed, ..TexturedImages::default() };
    let (images, classes) = recipe.generate()?;
    let mixtures = images.par_iter().map(|image| mixture(image, run)).collect::<lopsided::Result<Vec<_>>>()?;
    tell(desk, "  divergences");
    let divergences = kl_matrix(&mixtures, &mixtures, POINTS, run)?;
    let task = Task { divergence: median(&divergences.values), divergences, classes, folds: settings.folds };
    let mut methods = Vec::new();
    for (name, matrix) in METHODS {
        tell(desk, &format!("  {name}"));
        methods.push(line(&task, name, matrix, settings.trials, run)?);
    }
    let train = task.split(run.seed).0.len();
    let (name, samples) = ("generated images".into(), images.len());
    let seconds = start.elapsed().as_secs_f64();
    let (classes, tuned_on, own_test) = (recipe.classes, train, false);
    let results = askls::SetReport { name, samples, classes, train, tuned_on, own_test, methods, seconds };
    Ok(SetReport {
        results,
        components: COMPONENTS,
        points: POINTS,
        divergence: task.divergence,
        standard_error: median(&task.divergences.errors),
    })
}

/// The distribution of the blocks of an image.
fn mixture(image: &Mat<f64>, run: &Run) -> lopsided::Result<DiagonalMixture> {
    let points = cosine_blocks(image.as_ref(), STEP)?;
    Ok(MixtureFit::new(COMPONENTS).with_restarts(1).with_floor(FLOOR).fit(points.as_ref(), run)?.mixture)
}

/// Of the entries off the diagonal.
fn median(m: &Mat<f64>) -> f64 {
    let n = m.nrows();
    let mut values: Vec<f64> = (0..n * n).filter(|at| at / n != at % n).map(|at| m[(at / n, at % n)]).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn line(task: &Task, name: &'static str, matrix: Matrix, trials: usize, run: &Run) -> lopsided::Result<Line> {
    let start = Instant::now();
    let kernels = FACTORS.iter().map(|factor| matrix(&task.divergences, factor / task.divergence));
    let kernels: Vec<Mat<f64>> = kernels.collect::<lopsided::Result<_>>()?;
    let mut found = Vec::new();
    for k in 0..trials as u64 {
        let run = Run { seed: run.seed.wrapping_add(k), watch: run.watch.silent(), ..run.clone() };
        found.push(task.trial(&kernels, &run)?);
    }
    let spread = |of: fn(&Trial) -> f64| Spread::of(found.iter().map(of));
    let conditions = found.iter().map(|t| t.condition).filter(|c| c.is_finite());
    Ok(Line {
        method: name,
        tuned: found[0].tuned.clone(),
        micro_f1: spread(|t| t.micro_f1),
        macro_f1: spread(|t| t.macro_f1),
        condition: conditions.reduce(f64::max),
        warnings: found[0].warnings.clone(),
        paper: corel_figures(name),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Images by their divergences.
struct Task {
    divergences: KlMatrix,
    /// Median.
    divergence: f64,
    classes: Vec<u32>,
    folds: usize,
}

/// What one split gave.
struct Trial {
    tuned: BTreeMap<String, String>,
    micro_f1: f64,
    macro_f1: f64,
    condition: f64,
    warnings: Vec<String>,
}

impl Task {
    /// Training and test images, the same share of every class; the training images one class after another.
    fn split(&self, seed: u64) -> (Vec<usize>, Vec<usize>) {
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for class in 0..=self.classes.iter().copied().max().unwrap_or(0) {
            let members: Vec<usize> = (0..self.classes.len()).filter(|i| self.classes[*i] == class).collect();
            let (some, others) = split(members.len(), TRAIN_SHARE, seed.wrapping_mul(1000).wrapping_add(class.into()));
            train.extend(some.into_iter().map(|at| members[at]));
            test.extend(others.into_iter().map(|at| members[at]));
        }
        (train, test)
    }

    /// Chooses a and the penalty on the training images, and predicts the others.
    fn trial(&self, kernels: &[Mat<f64>], run: &Run) -> lopsided::Result<Trial> {
        let (train, test) = self.split(run.seed);
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for (at, kernel) in kernels.iter().enumerate() {
            for (penalty, score) in self.validated(kernel, &train, run)?.into_iter().enumerate() {
                if score > best.0 {
                    best = (score, at, penalty);
                }
            }
        }
        let (_, at, penalty) = best;
        let k = part(&kernels[at], &train, &train);
        let system = CoupledSystem { symmetric: is_symmetric(&k), ..system(PENALTIES[penalty]) };
        let solved = system.solve(&DenseOperator::Owned(k), self.targets(&train).as_ref(), run)?;
        let found = predicted(&kernels[at], &solved, &train, &test);
        let truth = self.truth(&test);
        let chosen = [("a·median".into(), FACTORS[at].to_string()), ("penalty".into(), PENALTIES[penalty].to_string())];
        Ok(Trial {
            tuned: chosen.into(),
            micro_f1: micro_f1(&truth, &found),
            macro_f1: macro_f1(&truth, &found),
            condition: solved.report.condition,
            warnings: solved.report.warnings,
        })
    }

    /// Mean accuracy of every penalty over the folds.
    fn validated(&self, kernel: &Mat<f64>, train: &[usize], run: &Run) -> lopsided::Result<Vec<f64>> {
        let mut scores = vec![0.0; PENALTIES.len()];
        for fold in 0..self.folds {
            run.watch.check()?;
            let pick = |inside: bool| (0..train.len()).filter(move |at| (at % self.folds == fold) == inside);
            let rest: Vec<usize> = pick(false).map(|at| train[at]).collect();
            let held: Vec<usize> = pick(true).map(|at| train[at]).collect();
            let k = DenseOperator::Owned(part(kernel, &rest, &rest));
            let mut path = PenaltyPath::new(&k, self.targets(&rest).as_ref(), is_symmetric(kernel))?;
            for (score, penalty) in scores.iter_mut().zip(PENALTIES) {
                let solved = path.solve(&system(penalty), run)?;
                *score += accuracy(&self.truth(&held), &predicted(kernel, &solved, &rest, &held)) / self.folds as f64;
            }
        }
        Ok(scores)
    }

    fn truth(&self, images: &[usize]) -> Vec<u32> {
        images.iter().map(|&i| self.classes[i]).collect()
    }

    /// 1 for the class of an image, −1 for the others.
    fn targets(&self, images: &[usize]) -> Mat<f64> {
        let classes = self.classes.iter().max().map_or(0, |c| *c as usize + 1);
        let sign = |i: usize, c: usize| if self.classes[images[i]] as usize == c { 1.0 } else { -1.0 };
        Mat::from_fn(images.len(), classes, sign)
    }
}

fn system(penalty: f64) -> CoupledSystem {
    CoupledSystem { penalty, ..CoupledSystem::default() }
}

fn is_symmetric(k: &Mat<f64>) -> bool {
    k.as_ref() == k.transpose()
}

fn part(k: &Mat<f64>, rows: &[usize], cols: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), cols.len(), |i, j| k[(rows[i], cols[j])])
}

/// Classes by the average of both functions; for a symmetric kernel they are one.
fn predicted(k: &Mat<f64>, solved: &CoupledSolution, train: &[usize], test: &[usize]) -> Vec<u32> {
    let source = part(k, test, train) * &solved.b;
    let target = part(k, train, test).transpose() * &solved.a;
    let bias = |c: usize| solved.bias_source[c] + solved.bias_target[c];
    let average = |i: usize, c: usize| (source[(i, c)] + target[(i, c)] + bias(c)) / 2.0;
    largest_columns(Mat::from_fn(test.len(), source.ncols(), average).as_ref())
}

fn text(set: &SetReport) -> String {
    let SetReport { results, components, points, divergence, standard_error } = set;
    format!(
        "{}mixtures of {components} components; median divergence {divergence:.2}, its standard error from {points} points \
         {standard_error:.2}\nthe figures of [AsKLS] are for Corel images, not these\n",
        askls::text(results)
    )
}

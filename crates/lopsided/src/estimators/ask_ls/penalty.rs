//! The penalty: given, or the best of a few on held-out samples.
//!
//! The scale of a good penalty is set by the kernel: the eigenvalues of the system are 1/γ ± σ, so nothing but
//! γ·σ matters. What is tried is therefore counted in multiples of 1/σ₁, the border up to which the system is
//! definite.
//!
//! | candidates | for | why |
//! | --- | --- | --- |
//! | 0.03, 0.1, 0.3, 0.9 of 1/σ₁ | all kernels | definite, hence stable |
//! | 1 itself | sparse K that is not symmetrised | what \[AsKLS\] takes for graphs |
//! | 3 of 1/σ₁ | all but sparse K of over 2000 samples | smooth kernels have few large singular values |
//! | 30, 300 of 1/σ₁ | the same, unless 3 is clearly worse than less | they take longest |
//!
//! Every candidate is judged as the fit itself would be: functions learned without a part, their scores on the
//! part merged, and the log-loss (stacked classes) or the squared error of the result. Candidates whose system
//! is singular drop out.

use super::stack::{Merger, Scores};
use super::{AskLs, FOLDS, Functions, Merge, Symmetrized, Task, complement, functions, nested, rows_of, turned_back};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::watch::Progress;
use crate::data::dataset::Target;
use crate::estimators::Choice;
use crate::estimators::scoring::deal;
use crate::operator::{Access, DenseOperator, Operator, Submatrix, Turn, Weighted, materialize};
use crate::solvers::linsys::{self, CoupledSystem, OnSingular, PenaltyPath};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// What is tried, in multiples of 1/σ₁: up to there the system is definite. Graphs are learned best below it, rows of tables far
/// above it, where a smooth kernel has few singular values to spare.
const DEFINITE: [f64; 4] = [0.03, 0.1, 0.3, 0.9];
const INDEFINITE: [f64; 3] = [3.0, 30.0, 300.0];
/// The largest of them cost most, and are tried unless the loss of the one before them is above the least by more than this share.
const HOPELESS: f64 = 0.05;
/// The penalty of \[AsKLS\] for graphs, whose singular values are those of a walk, about 1.
const WALK: f64 = 1.0;
/// Up to so many training samples every part of them is held out once, beyond it only some parts are.
const FEW: usize = 1000;
const PARTS: usize = 3;
/// Of more rows of a table so many are searched on; a graph keeps all its nodes, but its penalties stay definite.
const MANY: usize = 2000;

/// Seconds for all penalties of one part with so many samples to learn from, of one core: about a complete decomposition, or
/// factors for each penalty of a symmetric K that is too large for it.
pub(super) fn path_seconds(samples: f64, symmetric: bool) -> f64 {
    let rate = if symmetric && samples > 1500.0 { 2e-10 } else { 7.5e-10 };
    rate * samples.powi(3)
}

/// Seconds of the search for a penalty, of one core.
pub(super) fn seconds(samples: usize, graph: bool) -> f64 {
    let parts = if samples <= FEW { FOLDS } else { PARTS };
    let searched = if graph { samples } else { samples.min(MANY) };
    parts as f64 * path_seconds(searched as f64 * (FOLDS - 1) as f64 / FOLDS as f64, false)
}

/// Weight of the errors against the size of the weights.
///
/// γ of \[AsKLS\] Eq. (5): larger values fit the training samples closer.
///
/// ```
/// use lopsided::estimators::Penalty;
///
/// assert_eq!("auto".parse::<Penalty>()?, Penalty::default());
/// assert_eq!(Penalty::from(0.5), "0.5".parse::<Penalty>()?);
/// assert_eq!(Penalty::Fixed(2.0).to_string(), "2");
/// assert!("-1".parse::<Penalty>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Penalty {
    /// The best of a few around 1/σ₁ on held-out samples.
    #[default]
    Auto,
    /// This one.
    Fixed(f64),
}

impl From<f64> for Penalty {
    fn from(penalty: f64) -> Self {
        Penalty::Fixed(penalty)
    }
}

impl FromStr for Penalty {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Penalty::Auto);
        }
        let number = text.parse::<f64>().ok().filter(|penalty| penalty.is_finite() && *penalty > 0.0);
        number.map(Penalty::Fixed).ok_or_else(|| Error::param("penalty", text, "auto or a number above 0"))
    }
}

impl fmt::Display for Penalty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Penalty::Auto => f.write_str("auto"),
            Penalty::Fixed(penalty) => write!(f, "{penalty}"),
        }
    }
}

/// A penalty with what is known about it.
pub(super) struct Chosen {
    pub(super) penalty: f64,
    /// σ₁ of the training samples' K_c; not asked of a symmetric K, whose system is definite wherever K is.
    pub(super) sigma: Option<f64>,
    /// How it was chosen; `None` for a given one.
    pub(super) why: Option<String>,
    /// What was tried; `None` for a given one.
    pub(super) choice: Option<Choice>,
}

impl Chosen {
    /// The sentence about a system that is not definite; a symmetric positive K has none.
    pub(super) fn warning(&self, symmetric: bool) -> Option<String> {
        let border = self.sigma?.recip();
        if symmetric || self.penalty <= border || self.why.is_some() {
            return None;
        }
        Some(format!(
            "penalty {} is above 1/σ₁ = {border:.3e}, beyond which the system is indefinite and small changes of the data may \
             change the answer much: a penalty below it, such as {:.1e}, or auto is safer",
            self.penalty,
            0.9 * border
        ))
    }
}

/// K of some training samples, symmetrised and weighted where asked for.
fn with_matrix<R>(
    machine: &AskLs,
    task: &Task<'_>,
    rows: &[usize],
    f: impl FnOnce(&dyn Operator<f64>, Option<&Turn>) -> Result<R>,
) -> Result<R> {
    let (nodes, turn) = (task.nodes(rows), task.turn(rows));
    let block = Submatrix::new(task.k, Some(&nodes), Some(&nodes));
    let symmetrized = machine.symmetrize.map(|kind| Symmetrized::new(&block, kind));
    let k: &dyn Operator<f64> = symmetrized.as_ref().map_or(&block, |s| s);
    match &turn {
        Some(turn) => f(&Weighted::new(k, turn)?, Some(turn)),
        None => f(k, None),
    }
}

/// The penalty to learn with.
///
/// 1. A given penalty of a symmetrised kernel is taken as it is: σ₁ says nothing about its system.
/// 2. σ₁ of the training samples, by a few products with K.
/// 3. Another given penalty is taken with σ₁ beside it, so that the report can warn.
/// 4. The candidate of the least held-out loss; its multiple is carried over to the σ₁ of all training samples.
pub(super) fn choose(machine: &AskLs, task: &Task<'_>, target: Option<&Target>, run: &Run) -> Result<Chosen> {
    if let (Penalty::Fixed(penalty), Some(_)) = (machine.penalty, machine.symmetrize) {
        return Ok(Chosen { penalty, sigma: None, why: None, choice: None });
    }
    let all: Vec<usize> = (0..task.train.len()).collect();
    let sigma = with_matrix(machine, task, &all, |k, _| linsys::largest_singular_value(k, run))?;
    if let Penalty::Fixed(penalty) = machine.penalty {
        return Ok(Chosen { penalty, sigma: Some(sigma), why: None, choice: None });
    }
    let tested = tested(machine, task, target, run)?;
    let best = tested.iter().reduce(|best, other| if other.1 < best.1 { other } else { best });
    // Without any candidate that could be solved, a definite system is the safe choice.
    let (candidate, loss) = best.copied().unwrap_or((Candidate::Multiple(0.9), f64::NAN));
    let penalty = candidate.penalty(sigma);
    let tried: Vec<String> = tested.iter().map(|(c, loss)| format!("{:.2e}: {loss:.4}", c.penalty(sigma))).collect();
    let what = if target.is_some_and(|t| matches!(t, Target::Classes { .. })) && machine.stacks() {
        "log-loss"
    } else {
        "squared error"
    };
    let why = format!("least held-out {what}, {loss:.4}, of penalty: {what} = {}", tried.join(", "));
    let choice = Choice::new("penalty", what, tested.iter().map(|(c, loss)| (c.penalty(sigma), *loss)), penalty);
    Ok(Chosen { penalty, sigma: Some(sigma), why: Some(why), choice: Some(choice) })
}

/// One of the penalties that are tried.
#[derive(Clone, Copy)]
enum Candidate {
    /// A multiple of 1/σ₁.
    Multiple(f64),
    /// The penalty itself.
    Plain(f64),
}

impl Candidate {
    /// The number that is meant where the largest singular value is `sigma`; the multiple itself of a K of zeros.
    fn penalty(self, sigma: f64) -> f64 {
        match self {
            Candidate::Multiple(multiple) if sigma > 0.0 => multiple / sigma,
            Candidate::Multiple(multiple) => multiple,
            Candidate::Plain(penalty) => penalty,
        }
    }

    /// Whether it lies beyond the first that is not definite.
    fn is_large(&self) -> bool {
        matches!(self, Candidate::Multiple(multiple) if *multiple > INDEFINITE[0])
    }
}

/// Whether larger penalties than these may be better: the largest is about as good as any, or could not be solved.
fn is_hopeful(tested: &[(Candidate, f64)]) -> bool {
    let least = tested.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    let largest = tested.iter().find(|(c, _)| matches!(c, Candidate::Multiple(multiple) if *multiple == INDEFINITE[0]));
    largest.is_none_or(|(_, loss)| *loss <= (1.0 + HOPELESS) * least)
}

/// The held-out loss of every candidate: on all nodes of a graph, on at most 2000 rows of a table, whose block of K is then held in
/// memory, since hundreds of products with it follow.
fn tested(machine: &AskLs, task: &Task<'_>, target: Option<&Target>, run: &Run) -> Result<Vec<(Candidate, f64)>> {
    let target = target.map(|t| t.rows(task.train));
    if task.k.access() == Access::Products {
        return Search::new(machine, task, target.as_ref(), run)?.run();
    }
    let n = task.train.len();
    let mut rows: Vec<usize> = (0..n).collect();
    if n > MANY {
        rows = random::subset(n, MANY, &mut random::generator(run.seed, Purpose::AskLsSample));
        rows.sort_unstable();
    }
    let nodes = task.nodes(&rows);
    let block = materialize(&Submatrix::new(task.k, Some(&nodes), Some(&nodes)))?;
    let (train, y, weights): (Vec<usize>, _, _) =
        ((0..rows.len()).collect(), rows_of(task.y, &rows), task.weights_of(&rows));
    let k = DenseOperator::Owned(block);
    let some = Task { k: &k, train: &train, y: y.as_ref(), answer: task.answer, weights: weights.as_deref() };
    Search::new(machine, &some, target.map(|t| t.rows(&rows)).as_ref(), run)?.run()
}

/// A search on the held-out parts of training samples.
struct Search<'a> {
    machine: &'a AskLs,
    task: Task<'a>,
    /// Parts of the training samples that are held out.
    folds: Vec<Vec<usize>>,
    candidates: Vec<Candidate>,
    run: Run,
}

impl<'a> Search<'a> {
    /// Up to 1000 samples all ten parts are held out in turn, beyond that three of them: the loss of three parts is
    /// sure enough then. `target` is that of the training samples.
    fn new(machine: &'a AskLs, task: &Task<'a>, target: Option<&Target>, run: &Run) -> Result<Self> {
        let n = task.train.len();
        let sparse = task.k.access() == Access::Products;
        let mut folds = deal(target, FOLDS.min(n), run.seed, Purpose::AskLsFolds)?;
        if n > FEW {
            folds.truncate(PARTS);
        }
        let mut candidates: Vec<Candidate> = DEFINITE.map(Candidate::Multiple).to_vec();
        if sparse && machine.symmetrize.is_none() {
            candidates.push(Candidate::Plain(WALK));
        }
        if !sparse || n <= MANY {
            candidates.extend(INDEFINITE.map(Candidate::Multiple));
        }
        let run = Run { watch: run.watch.silent(), ..run.clone() };
        Ok(Search { machine, task: Task { ..*task }, folds, candidates, run })
    }

    /// The held-out loss of every candidate whose systems can all be solved.
    fn run(&self) -> Result<Vec<(Candidate, f64)>> {
        let progress = Progress { stage: "choice of the penalty", done: 0, total: 0, residual: None };
        self.run.watch.report(progress)?;
        let all: Vec<usize> = (0..self.task.train.len()).collect();
        let sigma = with_matrix(self.machine, &self.task, &all, |k, _| linsys::largest_singular_value(k, &self.run))?;
        // Beside a tiny σ₁ the paper's penalty would leave nothing but biases, which differ from part to part.
        let vanishes = |c: &Candidate| matches!(c, Candidate::Plain(penalty) if penalty * sigma < DEFINITE[0]);
        let kept = self.candidates.iter().copied().filter(|c| !vanishes(c));
        let (last, first): (Vec<_>, Vec<_>) = kept.partition(Candidate::is_large);
        let mut tested = self.tested(&first, sigma)?;
        if !last.is_empty() && is_hopeful(&tested) {
            tested.extend(self.tested(&last, sigma)?);
        }
        Ok(tested)
    }

    /// The held-out loss of these candidates.
    fn tested(&self, candidates: &[Candidate], sigma: f64) -> Result<Vec<(Candidate, f64)>> {
        let together = self.shares_a_decomposition();
        let scores = if together { self.together(candidates, sigma)? } else { self.one_by_one(candidates, sigma)? };
        let rows = self.folds.concat();
        let (y, weights) = (rows_of(self.task.y, &rows), self.task.weights_of(&rows));
        let loss = |held: &Scores| -> Option<f64> {
            let merger = match self.machine.plain_merge() {
                Merge::Stack => Merger::weighted(held, y.as_ref(), self.task.answer, weights.as_deref()),
                merge => Merger::plain(merge),
            };
            Some(merger.loss(held, y.as_ref(), self.task.answer, weights.as_deref())).filter(|loss| loss.is_finite())
        };
        let of = |(c, held): (&Candidate, &Option<Scores>)| held.as_ref().and_then(loss).map(|loss| (*c, loss));
        Ok(candidates.iter().zip(&scores).filter_map(of).collect())
    }

    /// Whether all parts follow from one decomposition of K, which costs less than one for each part.
    fn shares_a_decomposition(&self) -> bool {
        let plain = self.machine.symmetrize.is_none() && self.task.weights.is_none();
        plain && self.task.k.access() != Access::Products && self.task.train.len() <= FEW
    }

    /// Held-out scores of every candidate, in the order of the folds, by one decomposition.
    fn together(&self, candidates: &[Candidate], sigma: f64) -> Result<Vec<Option<Scores>>> {
        let systems: Vec<CoupledSystem> = candidates.iter().map(|c| self.system(*c, sigma)).collect();
        let order = self.folds.concat();
        let found = nested::stacked(&self.task, &self.folds, &systems, &self.run)?;
        Ok(found.into_iter().map(|found| found.map(|found| found.held.rows(&order))).collect())
    }

    /// The same, each part for itself.
    fn one_by_one(&self, candidates: &[Candidate], sigma: f64) -> Result<Vec<Option<Scores>>> {
        let one = |fold: &Vec<usize>| self.held(candidates, fold, sigma);
        let parts: Vec<Result<Vec<Option<Scores>>>> = if self.task.is_light() {
            self.folds.par_iter().map(one).collect()
        } else {
            self.folds.iter().map(one).collect()
        };
        let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
        let below = |at: usize| -> Option<Scores> {
            let scores: Vec<&Scores> = parts.iter().map(|part| part[at].as_ref()).collect::<Option<_>>()?;
            Some(Scores::below(&scores))
        };
        Ok((0..candidates.len()).map(below).collect())
    }

    /// The paper's penalty is meant with what is done where it makes the system singular.
    fn system(&self, candidate: Candidate, sigma: f64) -> CoupledSystem {
        let on_singular = match candidate {
            Candidate::Multiple(_) => OnSingular::Error,
            Candidate::Plain(_) => self.machine.on_singular,
        };
        CoupledSystem { penalty: candidate.penalty(sigma), on_singular, ..self.machine.system() }
    }

    /// Scores of one fold by what the others say, for every candidate; `None` for one whose system is singular or not solved.
    fn held(&self, candidates: &[Candidate], fold: &[usize], sigma: f64) -> Result<Vec<Option<Scores>>> {
        let rest = complement(fold, self.task.train.len());
        let (nodes, tested) = (self.task.nodes(&rest), self.task.nodes(fold));
        let y = rows_of(self.task.y, &rest);
        let block = Submatrix::new(self.task.k, Some(&nodes), Some(&nodes));
        with_matrix(self.machine, &self.task, &rest, |k, turn| {
            let y = turn.map_or_else(|| y.clone(), |turn| turn.targets(y.as_ref()));
            let mut path = PenaltyPath::new(k, y.as_ref(), self.machine.symmetrize.is_some())?;
            let one = |candidate: &Candidate| {
                let solved = match path.solve(&self.system(*candidate, sigma), &self.run) {
                    Ok(solved) if solved.report.converged() => solved,
                    Ok(_) | Err(Error::Singular { .. }) => return Ok(None),
                    Err(error) => return Err(error),
                };
                let solved = match turn {
                    Some(turn) => turned_back(solved, turn),
                    None => solved,
                };
                let solved = match self.machine.symmetrize {
                    Some(kind) => functions::unfolded(solved, &block, kind)?,
                    None => solved,
                };
                let functions = Functions::padded(&solved, &nodes, self.task.k.nrows());
                functions.scores_within(self.task.k, &tested).map(Some)
            };
            candidates.iter().map(one).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synth;
    use crate::estimators::Answer;

    #[test]
    fn one_decomposition_gives_the_scores_that_each_part_gives_for_itself() {
        for n in [30, 75] {
            let k = DenseOperator::Owned(synth::gaussian::<f64>(n, n, 7) * faer::Scale(1.0 / (n as f64).sqrt()));
            let (y, train): (_, Vec<usize>) = (synth::gaussian::<f64>(n, 2, 8), (0..n).collect());
            let task = Task { k: &k, train: &train, y: y.as_ref(), answer: &Answer::Values, weights: None };
            let target = Target::Values(y.col(0).iter().copied().collect());
            let machine = AskLs::new("precomputed");
            let search = Search::new(&machine, &task, Some(&target), &Run::default()).unwrap();
            assert!(search.shares_a_decomposition());
            let all = &search.candidates;
            let (together, alone) = (search.together(all, 0.9).unwrap(), search.one_by_one(all, 0.9).unwrap());
            for (at, (one, other)) in together.iter().zip(&alone).enumerate() {
                let (Some(one), Some(other)) = (one, other) else { panic!("candidate {at} of {n} samples") };
                let near = |a: &faer::Mat<f64>, b: &faer::Mat<f64>| (a - b).norm_max() < 1e-7 * (1.0 + b.norm_max());
                assert!(near(&one.source, &other.source) && near(&one.target, &other.target), "candidate {at}");
            }
        }
    }

    #[test]
    fn large_penalties_are_tried_unless_the_one_before_them_is_clearly_worse() {
        let found = |last: f64| [(Candidate::Multiple(0.9), 1.0), (Candidate::Multiple(INDEFINITE[0]), last)];
        assert!(is_hopeful(&found(1.04)) && !is_hopeful(&found(1.06)));
        assert!(is_hopeful(&found(1.0)[..1]), "it could not be solved");
        assert!(!Candidate::Multiple(INDEFINITE[0]).is_large() && Candidate::Multiple(INDEFINITE[1]).is_large());
    }

    /// Rows of a longer table are searched in memory: the same as a search on those rows alone.
    #[test]
    fn a_block_in_memory_is_searched_like_the_operator_it_comes_from() {
        let n = 60;
        let k = DenseOperator::Owned(synth::gaussian::<f64>(n + 5, n + 5, 3) * faer::Scale(0.1));
        let (y, train): (_, Vec<usize>) = (synth::gaussian::<f64>(n, 1, 4), (5..n + 5).collect());
        let task = Task { k: &k, train: &train, y: y.as_ref(), answer: &Answer::Values, weights: None };
        let values = (0..n + 5).map(|i| if i < 5 { f64::NAN } else { y[(i - 5, 0)] }).collect();
        let (target, run) = (Target::Values(values), Run::default());
        let machine = AskLs::new("precomputed").with_merge(Merge::Average);
        let found = tested(&machine, &task, Some(&target), &run).unwrap();
        let plain = Search::new(&machine, &task, Some(&target.rows(&train)), &run).unwrap().run().unwrap();
        assert_eq!(found.len(), plain.len());
        assert!(found.iter().zip(&plain).all(|(a, b)| (a.1 - b.1).abs() < 1e-9 * (1.0 + b.1)));
    }
}

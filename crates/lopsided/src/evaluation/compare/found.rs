//! What a comparison found: methods, families, difference, verdict.

use super::decision::Grounds;
use super::parts::Parts;
use super::{Asymmetry, Comparison, Contender, Decision, Difference, Family, Trial};
use crate::base::settings::Settings;
use crate::data::dataset::Target;
use crate::evaluation::Spread;

/// One method, with its scores.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// With asymmetry or without.
    pub family: Family,
    /// Mean and deviation of the scores over the test parts.
    #[serde(flatten)]
    pub score: Spread,
    /// Seconds for all its candidates on all parts.
    pub seconds: f64,
    /// Test parts to which its family sent it.
    pub chosen: usize,
    /// The estimator that it is.
    pub estimator: &'static str,
    /// The settings that it chose most often.
    pub settings: Settings,
    /// Its score on each test part.
    pub scores: Vec<f64>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Compared {
    /// How asymmetric the data are.
    pub asymmetry: Asymmetry,
    /// `accuracy` or `R²`.
    pub measure: &'static str,
    /// All methods, those with asymmetry first.
    pub methods: Vec<Method>,
    /// Scores of the methods that the family with asymmetry sent.
    pub asymmetric: Spread,
    /// Scores of the methods that the family without it sent.
    pub symmetric: Spread,
    /// The scores of both on each test part.
    pub pairs: Vec<(f64, f64)>,
    /// What guessing gives: the largest class, or the mean.
    pub guess: Spread,
    /// The first less the second, with an interval of 95 %.
    pub difference: Difference,
    /// The first less guessing, likewise.
    pub above_guess: Difference,
    /// Gains below this count as none.
    pub margin: f64,
    /// The answer.
    pub verdict: Decision,
    /// The answer in a sentence.
    pub sentence: String,
    /// Samples with a label.
    pub labelled: usize,
    /// Those that took part.
    pub samples: usize,
    /// Test parts.
    pub splits: usize,
    /// Candidates of each method.
    pub candidates: usize,
}

impl Compared {
    /// The method to go on with: of the family that won, the one that it sent most often.
    pub fn preferred(&self) -> &Method {
        let family = if self.verdict == Decision::Pays { Family::Asymmetric } else { Family::Symmetric };
        let own = self.methods.iter().filter(|method| method.family == family);
        let more = |a: &Method, b: &Method| (b.chosen, b.score.mean) > (a.chosen, a.score.mean);
        // Both families have members.
        own.reduce(|a, b| if more(a, b) { b } else { a }).unwrap_or(&self.methods[0])
    }
}

/// Sends a contender of each family to every test part, and draws the conclusion.
pub(super) fn summed_up(
    asked: &Comparison,
    asymmetry: Asymmetry,
    target: &Target,
    parts: &Parts,
    results: Vec<(&Contender, Vec<Trial>, f64)>,
) -> Compared {
    let sent = |family| sent_by(family, &results, parts.splits.len());
    let (with, without) = (sent(Family::Asymmetric), sent(Family::Symmetric));
    let scores =
        |sent: &[usize]| -> Vec<f64> { sent.iter().enumerate().map(|(k, &at)| results[at].1[k].test).collect() };
    let (gained, plain) = (scores(&with), scores(&without));
    let guessed = parts.guesses(target);
    let ratio = parts.ratio();
    let difference = Difference::paired(&gained, &plain, ratio);
    let above_guess = Difference::paired(&gained, &guessed, ratio);
    let verdict = Decision::of(&difference, &above_guess, asymmetry.is_none(), asked.margin);
    let measure = if target.is_classes() { "accuracy" } else { "R²" };
    let spread = |values: &[f64]| Spread::of(values.iter().copied());
    let (asymmetric, symmetric, guess) = (spread(&gained), spread(&plain), spread(&guessed));
    let sentence = Grounds { asymmetric, symmetric, guess, measure, asymmetry: &asymmetry, margin: asked.margin }
        .sentence(verdict, &difference, &above_guess);
    let candidates = results.first().map_or(0, |(contender, ..)| contender.candidates());
    let chosen = [with, without].concat();
    let method = |(at, (contender, trials, seconds)): (usize, (&Contender, Vec<Trial>, f64))| {
        let scores: Vec<f64> = trials.iter().map(|trial| trial.test).collect();
        Method {
            name: contender.name,
            about: contender.about,
            family: contender.family,
            score: Spread::of(scores.iter().copied()),
            seconds,
            chosen: chosen.iter().filter(|&&sent| sent == at).count(),
            estimator: contender.estimator,
            settings: most_often(&trials),
            scores,
        }
    };
    Compared {
        methods: results.into_iter().enumerate().map(method).collect(),
        asymmetry,
        measure,
        asymmetric,
        symmetric,
        pairs: gained.into_iter().zip(plain).collect(),
        guess,
        difference,
        above_guess,
        margin: asked.margin,
        verdict,
        sentence,
        labelled: parts.labelled,
        samples: parts.samples.len(),
        splits: parts.splits.len(),
        candidates,
    }
}

/// The contender that a family sends to each test part: the best inside the training part, of equals the first.
fn sent_by(family: Family, results: &[(&Contender, Vec<Trial>, f64)], splits: usize) -> Vec<usize> {
    let own: Vec<usize> = (0..results.len()).filter(|&at| results[at].0.family == family).collect();
    let best = |k: usize| {
        let better = |a: usize, b: usize| if results[b].1[k].validation > results[a].1[k].validation { b } else { a };
        own.iter().copied().reduce(better).unwrap_or(0)
    };
    (0..splits).map(best).collect()
}

/// The settings that were chosen most often, of equals those that were chosen first.
fn most_often(trials: &[Trial]) -> Settings {
    let count = |settings: &Settings| trials.iter().filter(|trial| trial.settings == *settings).count();
    let chosen = trials.iter().map(|trial| &trial.settings);
    let best = chosen.reduce(|a, b| if count(b) > count(a) { b } else { a });
    best.cloned().unwrap_or_default()
}

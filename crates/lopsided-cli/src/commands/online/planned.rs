//! `online --dry-run`: what a stream in a file would cost, by its first trials.

use super::{Outcome, next};
use crate::args::OnlineArgs;
use crate::commands::forecast::Forecast;
use crate::context::Context;
use crate::memory;
use anyhow::Result;
use lopsided::Error;
use lopsided::data::io::TrialReader;
use lopsided::online::{OnlineLearner, learner_spec};
use std::time::{Duration, Instant};

/// Trials that are learned from for a try, and the time after which no more are.
const TRIALS: u64 = 1000;
const TIME: Duration = Duration::from_secs(2);

/// Where a try was after some trials.
#[derive(Clone, Copy, Default)]
struct Mark {
    trials: f64,
    seconds: f64,
    bytes: f64,
    stored: usize,
}

/// Counts the trials, learns from the first of them and says what all take.
pub(super) fn show(args: &OnlineArgs, context: &Context) -> Result<Outcome> {
    if !args.stream.is_file() {
        return Err(Error::param("dry-run", "given", "left out unless the stream is a file").into());
    }
    let spec = learner_spec(&args.learner, args.given.settings.clone())?;
    let (mut learner, mut reader) = (spec.build()?, TrialReader::open(&args.stream, args.format)?);
    let (mut marks, start, mut reading, mut trials) = (Vec::new(), Instant::now(), Duration::ZERO, 0u64);
    loop {
        let before = Instant::now();
        let Some(trial) = next(&mut reader, spec.loss)? else { break };
        reading += before.elapsed();
        trials += 1;
        context.run.watch.check()?;
        if marks.len() as u64 + 1 == trials && trials <= TRIALS && start.elapsed() < TIME {
            learner.update(&trial.instance, trial.label)?;
            marks.push(mark(&*learner, start.elapsed().saturating_sub(reading).as_secs_f64()));
        }
    }
    if trials == 0 {
        return Err(Error::parse(reader.name(), "has no trials").into());
    }
    let (bytes, learning) = extended(&marks, trials as f64);
    let notes = vec!["the regret, where it is computed, takes time of its own".into()];
    let bytes = memory::peak_bytes().unwrap_or(0).saturating_add(bytes as u64);
    Forecast::new(trials, bytes, reading.as_secs_f64() + learning, notes).show("trials", context)?;
    Ok(Outcome::Done)
}

fn mark(learner: &dyn OnlineLearner, seconds: f64) -> Mark {
    let account = learner.account();
    Mark { trials: account.trials as f64, seconds, bytes: account.bytes as f64, stored: account.stored }
}

/// Bytes and seconds of all trials. What a learner stores grows by a square while it takes in samples and not at all with its
/// budget full; so does the time of a trial with what is stored.
fn extended(marks: &[Mark], trials: f64) -> (f64, f64) {
    let Some(end) = marks.last().copied() else { return (0.0, 0.0) };
    let middle = if marks.len() < 2 { Mark::default() } else { marks[marks.len() / 2 - 1] };
    let left = (trials - end.trials).max(0.0);
    let (first, second) = (middle.trials.max(1.0), (end.trials - middle.trials).max(1.0));
    let rate = (end.seconds - middle.seconds) / second;
    if end.stored == middle.stored || left == 0.0 {
        return (end.bytes, end.seconds + left * rate);
    }
    // A trial costs a·t more than the first.
    let growth = ((rate - middle.seconds / first) / (0.5 * (first + second))).max(0.0);
    let now = rate + growth * 0.5 * second;
    let seconds = end.seconds + left * (now + 0.5 * growth * left);
    let linear = end.bytes / end.trials;
    let square = ((linear - middle.bytes / first) / (end.trials - middle.trials).max(1.0)).max(0.0);
    (trials * (linear + square * left), seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(count: usize, seconds: impl Fn(f64) -> f64, bytes: impl Fn(f64) -> f64, stored: usize) -> Vec<Mark> {
        let at = |t: f64| Mark { trials: t, seconds: seconds(t), bytes: bytes(t), stored: stored.min(t as usize) };
        (1..=count).map(|t| at(t as f64)).collect()
    }

    #[test]
    fn growth_goes_on_and_a_full_budget_does_not_grow() {
        let growing = marks(100, |t| 0.1 * t + 0.005 * t * t, |t| 50.0 * t + 8.0 * t * t, usize::MAX);
        let (bytes, seconds) = extended(&growing, 1000.0);
        assert!((bytes / (50_000.0 + 8_000_000.0) - 1.0).abs() < 1e-9, "{bytes}");
        assert!((seconds / (100.0 + 5000.0) - 1.0).abs() < 0.02, "{seconds}");
        let full = marks(100, |t| 0.1 * t, |t| 50.0 * t.min(20.0), 20);
        let (bytes, seconds) = extended(&full, 1000.0);
        assert!((bytes - 1000.0).abs() < 1e-9 && (seconds - 100.0).abs() < 1e-9, "{bytes} {seconds}");
        assert_eq!(extended(&marks(1, |_| 1.0, |_| 5.0, 9), 1.0), (5.0, 1.0));
    }
}

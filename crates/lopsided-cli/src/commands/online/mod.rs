//! `lopsided online`: learning from a stream, one trial after the other.

mod planned;
mod predictions;
mod regret;
mod saved;

use super::Outcome;
use crate::args::{OnlineArgs, Precision};
use crate::context::Context;
use crate::{memory, output, page, talk, terminal};
use anyhow::Result;
use lopsided::base::file::{Claim, claim};
use lopsided::base::finite;
use lopsided::data::io::{TrialReader, TrialRecord};
use lopsided::online::{
    Account, History, Instance, LearnerSpec, Loss, OnlineLearner, RegretPoint, Trial, learner_spec,
};
use lopsided::report::text;
use lopsided::{Error, pages};
use predictions::Predictions;
use saved::Saved;
use serde::Serialize;

/// Without being asked for, the regret of longer streams is not computed.
const USUAL_TRIALS: usize = 2000;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    learner: &'a str,
    loss: Loss,
    trials: u64,
    cumulative_loss: f64,
    comparator_loss: Option<f64>,
    comparator_gap: Option<f64>,
    regret: Option<f64>,
    bound: Option<f64>,
    /// Why there is no bound and how to get one.
    bound_note: Option<String>,
    rank: usize,
    stored: usize,
    budget_removed: u64,
    budget_error: f64,
    seconds: f64,
    peak_bytes: Option<u64>,
}

/// A run under way.
struct Session<'a> {
    args: &'a OnlineArgs,
    context: &'a Context,
    spec: LearnerSpec,
    learner: Box<dyn OnlineLearner>,
    reader: TrialReader,
    predictions: Predictions,
    history: History,
    /// The trials so far, while the regret may be wanted.
    kept: Option<Vec<Trial>>,
    /// Read, but not learned from yet.
    first: Option<Trial>,
    /// No other run writes these files.
    _claims: Vec<Claim>,
}

/// Learns from the stream.
pub(crate) fn run(args: &OnlineArgs, context: &Context) -> Result<Outcome> {
    if args.dry_run {
        return planned::show(args, context);
    }
    check(args, context)?;
    let mut session = Session::start(args, context)?;
    let listening = session.learn()?;
    session.save()?;
    session.predictions.finish()?;
    if session.learner.account().trials == 0 {
        return Err(Error::parse(session.reader.name(), "has no trials").into());
    }
    if listening {
        session.tell()?;
    }
    Ok(Outcome::Done)
}

fn check(args: &OnlineArgs, context: &Context) -> lopsided::Result<()> {
    if context.global.precision != Precision::F64 {
        return Err(Error::param(
            "precision",
            context.global.precision.word(),
            "f64 for `online`, where rounding errors add up",
        ));
    }
    if args.saving.checkpoint_every == Some(0) {
        return Err(Error::param("checkpoint-every", 0, "at least 1"));
    }
    let saving = &args.saving;
    let files = [&saving.out, &saving.checkpoint, &saving.regret_out, &saving.regret_plot, &saving.report];
    files.into_iter().flatten().try_for_each(|path| output::check(path))
}

impl<'a> Session<'a> {
    /// Opens the stream; with `--resume` goes to where the checkpoint was made.
    ///
    /// Files of an earlier run are touched when the first trial has been read: a stream that cannot be read, or a mistyped
    /// command, leaves them as they are.
    fn start(args: &'a OnlineArgs, context: &'a Context) -> Result<Self> {
        let spec = learner_spec(&args.learner, args.given.settings.clone())?;
        let fresh = spec.build()?;
        let claims = claims(args)?;
        let mut reader = TrialReader::open(&args.stream, args.format)?;
        let saved = if args.saving.resume { Saved::load(args, &spec, context)? } else { None };
        let first = if saved.is_none() { Some(first(&mut reader, &spec, &*fresh)?) } else { None };
        let predictions = Predictions::open(args, context, saved.as_ref())?;
        let (learner, history, skip) = match saved {
            Some(saved) => (saved.learner, saved.history, Some((saved.trials, saved.fingerprint))),
            None => (fresh, History::default(), None),
        };
        let asked = args.saving.regret || args.saving.regret_out.is_some() || args.saving.regret_plot.is_some();
        let kept = (asked || args.stream.is_file()).then(Vec::new);
        let mut session =
            Session { args, context, spec, learner, reader, predictions, history, kept, first, _claims: claims };
        match skip {
            Some((trials, fingerprint)) => session.skip(trials, fingerprint)?,
            // A checkpoint of an earlier run must not be taken for one of this run.
            None => session.save()?,
        }
        Ok(session)
    }

    fn skip(&mut self, trials: u64, fingerprint: u64) -> Result<()> {
        for done in 0..trials {
            self.context.run.watch.check()?;
            let Some(trial) = self.next()? else {
                let reason = format!("has only {done} of the {trials} trials the checkpoint was made from");
                return Err(Error::parse(self.reader.name(), reason).into());
            };
            self.keep(trial);
        }
        if self.reader.fingerprint() != fingerprint {
            let reason = format!("differs in its first {trials} trials from the stream the checkpoint was made from");
            return Err(Error::parse(self.reader.name(), reason).into());
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Trial>> {
        let first = self.first.take().map(Some);
        let found = first.map_or_else(|| next(&mut self.reader, self.spec.loss), Ok);
        Ok(found?)
    }

    /// All trials to the end; false when nobody listens to the predictions any more.
    fn learn(&mut self) -> Result<bool> {
        let every = self.args.saving.checkpoint_every;
        self.context.line.stage("learning from the stream");
        while let Some(trial) = self.next()? {
            let outcome = self.learner.update(&trial.instance, trial.label)?;
            let done = self.learner.account().trials;
            if !outcome.prediction.is_finite() || !outcome.loss.is_finite() {
                let what = format!("the prediction and the loss of trial {done}");
                let value = if outcome.prediction.is_finite() { outcome.loss } else { outcome.prediction };
                return Err(finite::refused::<f64>(&what, value, "").into());
            }
            self.history.note(self.learner.account());
            if !self.predictions.write(done, outcome)? {
                return Ok(false);
            }
            self.keep(trial);
            if every.is_some_and(|every| done.is_multiple_of(every)) {
                self.save()?;
            }
            self.context.run.watch.check()?;
        }
        Ok(true)
    }

    fn keep(&mut self, trial: Trial) {
        let saving = &self.args.saving;
        let asked = saving.regret || saving.regret_out.is_some() || saving.regret_plot.is_some();
        if !asked && self.kept.as_ref().is_some_and(|kept| kept.len() >= USUAL_TRIALS) {
            self.kept = None;
            self.context.notes(&[format!("more than {USUAL_TRIALS} trials: --regret computes their regret")]);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(trial);
        }
    }

    /// Saves everything a later run needs, the predictions first.
    fn save(&mut self) -> Result<()> {
        let Some(path) = &self.args.saving.checkpoint else { return Ok(()) };
        let output_bytes = self.predictions.flush()?;
        // Of nothing that was learned from while the first trial waits.
        let fingerprint = if self.first.is_some() { 0 } else { self.reader.fingerprint() };
        saved::save(path, &*self.learner, &self.history, fingerprint, output_bytes)?;
        Ok(())
    }

    /// The regret, where it was kept track of.
    fn regret(&self) -> Result<Vec<RegretPoint>> {
        let Some(kept) = &self.kept else { return Ok(Vec::new()) };
        let saving = &self.args.saving;
        let wanted = saving.regret_out.is_some() || saving.regret_plot.is_some() || saving.report.is_some();
        let none = History::default();
        let history = if wanted { &self.history } else { &none };
        let points = history.regret(&*self.learner, &self.spec, kept, &self.context.run)?;
        if let Some(path) = &saving.regret_out {
            regret::write_csv(path, &points)?;
        }
        if let Some(path) = &saving.regret_plot {
            regret::write_svg(path, &self.spec.name, &points)?;
        }
        Ok(points)
    }

    fn tell(&self) -> Result<()> {
        let points = self.regret()?;
        let account = self.learner.account();
        let summary = self.summary(account, points.last().copied());
        if let Some(path) = &self.args.saving.report {
            let account = page::account(self.context, &[], &summary.lines());
            let name = page::name(&self.args.stream);
            page::write(path, &pages::regret(&points, &self.spec.name, &name, &account))?;
        }
        self.context.line.clear();
        if self.context.global.json {
            talk::json(&summary)?;
        } else if !self.context.global.quiet {
            let mut lines = summary.lines();
            let regret: Vec<f64> = points.iter().map(|point| point.regret).collect();
            lines.extend(terminal::bars(&regret, &std::io::stderr()).map(|bars| ("regret so far", bars)));
            talk::remark(terminal::remarked(&lines).trim_end());
        }
        Ok(())
    }

    fn summary(&self, account: &Account, point: Option<RegretPoint>) -> Summary<'_> {
        Summary {
            learner: &self.spec.name,
            loss: self.spec.loss,
            trials: account.trials,
            cumulative_loss: account.cumulative_loss,
            comparator_loss: point.map(|p| p.comparator_loss),
            comparator_gap: point.map(|p| p.gap),
            regret: point.map(|p| p.regret),
            bound: point.and_then(|p| p.bound),
            bound_note: match point {
                Some(point) => point.bound_note.map(as_options),
                None => Some("the regret was not computed, nor its bound: --regret does".into()),
            },
            rank: account.rank,
            stored: account.stored,
            budget_removed: account.budget.removed,
            budget_error: account.budget.error,
            seconds: self.context.seconds(),
            peak_bytes: memory::peak_bytes(),
        }
    }
}

/// Claims the files that are written little by little.
fn claims(args: &OnlineArgs) -> lopsided::Result<Vec<Claim>> {
    let files = [&args.saving.out, &args.saving.checkpoint].into_iter().flatten();
    files.filter(|path| path.is_file() || !path.exists()).map(|path| claim(path)).collect()
}

/// The first trial, if it is one that the learner can take.
fn first(reader: &mut TrialReader, spec: &LearnerSpec, learner: &dyn OnlineLearner) -> lopsided::Result<Trial> {
    let Some(trial) = next(reader, spec.loss)? else { return Err(Error::parse(reader.name(), "has no trials")) };
    spec.loss.check_label(trial.label)?;
    learner.predict(&trial.instance)?;
    Ok(trial)
}

fn next(reader: &mut TrialReader, loss: Loss) -> lopsided::Result<Option<Trial>> {
    let Some(TrialRecord { x, z, weights, label }) = reader.next_trial()? else { return Ok(None) };
    let missing = || Error::param("label", "missing", format!("given for the loss `{loss}`"));
    let label = label.or_else(|| (loss == Loss::Gain).then_some(0.0)).ok_or_else(missing)?;
    Ok(Some(Trial { instance: Instance::new(x, z, weights)?, label }))
}

/// The settings of a note as the options of the program.
fn as_options(note: &str) -> String {
    // Every other piece is a setting.
    let pieces = note.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 1 { format!("--{piece}") } else { piece.to_string() }).collect()
}

impl Summary<'_> {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![
            ("learner", format!("{}, {} loss", self.learner, self.loss)),
            ("trials", format!("{} in {:.1} s", self.trials, self.seconds)),
            ("cumulative loss", text::number(self.cumulative_loss)),
        ];
        if let (Some(loss), Some(regret)) = (self.comparator_loss, self.regret) {
            let bound = self.bound.map_or(String::new(), |b| format!(", bound {}", text::number(b)));
            lines.push(("best fixed matrix", text::number(loss)));
            lines.push(("regret", format!("{}{bound}", text::number(regret))));
        }
        lines.extend(self.bound_note.as_ref().map(|note| ("no bound", note.clone())));
        lines.push(("learned matrix", format!("rank {}, {} samples stored", self.rank, self.stored)));
        if self.budget_removed > 0 {
            let error = text::number(self.budget_error);
            lines.push(("budget", format!("{} samples removed, matrix moved by {error} at most", self.budget_removed)));
        }
        lines
    }
}

//! `lopsided predict`: classes or values of rows and nodes.

use super::Outcome;
use super::forecast::{Forecast, check_result};
use crate::args::PredictArgs;
use crate::context::Context;
use crate::failure::hinted;
use crate::{input, labelled, output, page, talk, terminal};
use anyhow::Result;
use lopsided::base::file;
use lopsided::data::archive::Archive;
use lopsided::data::graph::{GraphFrame, picked};
use lopsided::data::io::{Input, ReadOptions, TargetColumn, labels_are_whole, predictions_csv, read, read_ids};
use lopsided::data::io::{UNKNOWN, one_each};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::{Answer, Model, Preparation, errors_of, load_model};
use lopsided::kernel::KernelSpec;
use lopsided::metrics::{accuracy, auroc, macro_f1, micro_f1, rmse};
use lopsided::pages::{self, Judged};
use lopsided::report::{Page, text};
use lopsided::{Csr, Dataset, Error, Graph, Mat, Samples, Scalar, Side, Target};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How good predictions are, as far as it applies.
#[derive(Default, Serialize)]
struct Scores {
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    micro_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    macro_f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auroc: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rmse: Option<f64>,
    /// The error of each of several targets, of which `rmse` is the mean.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<TargetError>,
}

/// The error of one of several targets.
#[derive(Serialize)]
struct TargetError {
    name: String,
    rmse: f64,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    n: usize,
    /// Samples whose truth is known.
    scored: usize,
    #[serde(flatten)]
    quality: Scores,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// The id and the prediction of each sample, or its predictions where there are several targets.
    predictions: Option<Vec<Vec<String>>>,
    /// What the columns of scores and probabilities stand for.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<String>>,
    /// With `--scores`, one row for each prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores: Option<Vec<Vec<f64>>>,
    /// With `--probabilities`, one row for each prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    probabilities: Option<Vec<Vec<f64>>>,
    out: Option<PathBuf>,
    notes: Vec<String>,
    seconds: f64,
}

/// What is to be predicted.
struct Wanted<T> {
    samples: Dataset<T>,
    notes: Vec<String>,
}

/// Predicts in the precision of the model.
pub(crate) fn run(args: &PredictArgs, context: &Context) -> Result<Outcome> {
    if !args.dry_run {
        args.out.as_deref().map_or(Ok(()), output::check)?;
        page::check(args.report.as_deref())?;
    }
    context.line.stage("reading the model");
    let archive = Archive::load(&args.model)?;
    match archive.field::<String>("precision")?.as_str() {
        "f64" => predict::<f64>(&archive, args, context),
        "f32" => predict::<f32>(&archive, args, context),
        other => Err(archive.error(format!("has the unknown precision `{other}`")).into()),
    }
}

fn predict<T: Scalar>(archive: &Archive, args: &PredictArgs, context: &Context) -> Result<Outcome> {
    let model = load_model::<T>(archive)?;
    let takes_values = || archive.field::<KernelSpec>("kernel").is_ok_and(|kernel| kernel.is_precomputed());
    if let Some(cols) = args.cols.as_ref().filter(|_| model.frame().is_some() || !takes_values()) {
        return Err(Error::param("cols", cols.display(), "left out unless the kernel is a precomputed matrix").into());
    }
    context.line.stage("reading");
    let Wanted { samples, mut notes } = wanted(&*model, archive.field("target")?, args)?;
    notes.extend(model.preparation().into_iter().flat_map(|preparation| preparation.review(&samples)));
    let ids: Vec<String> = (0..samples.x.count()).map(|i| samples.id(Side::Row, i)).collect();
    let truth = truth(model.answer(), &samples, &ids, args)?;
    if truth.is_some() {
        notes.extend(learned_from(archive, model.frame(), &ids, args.ids.is_some())?);
    }
    if args.dry_run {
        let several = model.answer().targets().len().max(model.answer().classes().len()).max(1);
        let forecast = Forecast::tried(ids.len(), notes, context, |rows| {
            let z =
                samples.z.as_ref().map(|z| if z.count() == ids.len() { z.as_ref().select(rows) } else { z.clone() });
            model.decision(&Dataset { z, ..samples.rows(rows) }, &context.run).map(|_| several)
        })?;
        forecast.show("samples", context)?;
        return Ok(Outcome::Done);
    }
    check_result("predicting", ids.len(), model.answer().classes().len())?;
    context.line.stage("predicting");
    let decision = model.decision(&samples, &context.run)?;
    context.run.watch.check()?;
    let words = model.answer().words(decision.as_ref());
    notes.extend(of_one_class(model.answer(), &words));
    let quality = truth.as_ref().map(|truth| scores(model.answer(), truth, &decision, &mut notes)).transpose()?;
    let mut judged = None;
    let classes = Some(model.answer().classes()).filter(|names| args.scores && !names.is_empty());
    let probabilities = if args.probabilities { Some(probabilities(&*model, &samples, context)?) } else { None };
    let scored = classes.map(|_| ("score", decision.as_ref()));
    let columns: Vec<_> =
        scored.into_iter().chain(probabilities.as_ref().map(|p| ("probability", p.as_ref()))).collect();
    let csv = match model.answer() {
        Answer::Several(names) => predictions_csv(&ids, &[], names, &[("prediction", decision.as_ref())])?,
        answer => predictions_csv(&ids, &words, answer.classes(), &columns)?,
    };
    if let Some(path) = &args.out {
        file::write_atomically(path, |out| out.write_all(csv.as_bytes()).map_err(|e| Error::io(path, e)))?;
    }
    if let Some(path) = &args.report {
        context.line.stage("drawing");
        judged = Some((path, drawn(&*model, truth.as_ref(), &samples, &decision, args, context)?));
    }
    let inline = context.global.json && args.out.is_none();
    let listed = |name: &str| {
        let found = columns.iter().find(|(column, _)| *column == name).filter(|_| inline);
        found.map(|(_, values)| values.row_iter().map(|row| row.iter().copied().collect()).collect())
    };
    let (scores, probabilities) = (listed("score"), listed("probability"));
    let names = || model.answer().classes().to_vec();
    let summary = Summary {
        n: ids.len(),
        scored: truth.map_or(0, |truth| truth.count()),
        quality: quality.unwrap_or_default(),
        predictions: inline.then(|| listed_predictions(model.answer(), ids, words, &decision)),
        classes: (scores.is_some() || probabilities.is_some()).then(names),
        scores,
        probabilities,
        out: args.out.clone(),
        notes,
        seconds: context.seconds(),
    };
    if let Some((path, drawn)) = judged {
        page::write(path, &drawn.account(&page::account(context, &summary.notes, &summary.lines())))?;
    }
    summary.show(&csv, context)?;
    Ok(Outcome::Done)
}

/// Predictions beside the truth, where it is known.
fn drawn<T: Scalar>(
    model: &dyn Model<T>,
    truth: Option<&Truth>,
    samples: &Dataset<T>,
    decision: &Mat<f64>,
    args: &PredictArgs,
    context: &Context,
) -> Result<Page> {
    let name = page::name(&args.input);
    let lead = format!("{} samples predicted by {}.", decision.nrows(), page::name(&args.model));
    let page = Page::new(&format!("Predictions of {name}"), &lead);
    let Some(truth) = truth else {
        return Ok(page.paragraph("The truth is not known: --labels FILE or a target column has it."));
    };
    let probabilities = if model.has_probabilities() { model.probabilities(samples, &context.run)? } else { None };
    let judged = Judged {
        what: &name,
        classes: model.answer().classes(),
        truth: truth.shown(model.answer()),
        decision: decision.as_ref(),
        probabilities: probabilities.as_ref().map(Mat::as_ref),
    };
    Ok(judged.on(page))
}

/// An id and what was predicted for it.
fn listed_predictions(answer: &Answer, ids: Vec<String>, words: Vec<String>, decision: &Mat<f64>) -> Vec<Vec<String>> {
    let values = |i: usize| decision.row(i).iter().map(ToString::to_string).collect::<Vec<_>>();
    let several = !answer.targets().is_empty();
    let rest = |(i, word): (usize, String)| if several { values(i) } else { vec![word] };
    let rest = words.into_iter().enumerate().map(rest);
    ids.into_iter().zip(rest).map(|(id, rest)| std::iter::once(id).chain(rest).collect()).collect()
}

fn probabilities<T: Scalar>(model: &dyn Model<T>, samples: &Dataset<T>, context: &Context) -> Result<Mat<f64>> {
    let found = model.probabilities(samples, &context.run)?;
    found.ok_or_else(|| {
        let error = Error::param("probabilities", "asked for", "left out: the model has none");
        hinted(error, "`fit svm --probability` and `fit logistic` learn them")
    })
}

fn wanted<T: Scalar>(model: &dyn Model<T>, target: Option<String>, args: &PredictArgs) -> Result<Wanted<T>> {
    let path = &args.input;
    match (read_rows(path, target, model.preparation(), args)?, model.frame()) {
        (Input::Graph(graph, notes), Some(frame)) => {
            let features = input::features::<T>(&args.features, None)?;
            let ids = args.ids.as_deref().map(read_ids).transpose()?.unwrap_or_else(|| graph.ids().to_vec());
            nodes(frame, (&graph, features.as_ref()), ids, path, notes)
        }
        (Input::Table(_), None) if args.features.features.is_some() => Err(input::needs_nodes(path)),
        (Input::Graph(..), None) => Err(input::not_a_table(path)),
        (Input::Table(_), Some(_)) => {
            let error = Error::parse(path.display().to_string(), "is read as a table where a graph is needed");
            Err(hinted(error, "the model was learned from a graph: give a list of links; `--format edges` settles it"))
        }
        (Input::Table(mut table), None) => {
            let mut notes = std::mem::take(&mut table.notes);
            let all = table.dataset();
            match model.preparation() {
                None => all.x.check_finite(&path.display().to_string())?,
                Some(preparation) if preparation.is_named() && all.columns.is_none() => {
                    notes.push("the input has no names of columns: they are taken in the order of the model".into());
                }
                Some(_) => {}
            }
            let z = args.cols.as_deref().map(|cols| columns(cols, all.x.count(), args)).transpose()?;
            let Some(ids) = &args.ids else { return Ok(Wanted { samples: Dataset { z, ..all }, notes }) };
            let rows = labelled::positions(ids, &all)?;
            let z = z.map(|z| z.as_ref().select(&rows));
            Ok(Wanted { samples: Dataset { z, ..all.rows(&rows) }, notes })
        }
    }
}

/// The columns of a precomputed kernel as samples.
fn columns<T: Scalar>(path: &Path, count: usize, args: &PredictArgs) -> Result<Samples<T>> {
    let options = ReadOptions { target: TargetColumn::None, ..input::options(&args.read) };
    let Input::Table(table) = read(path, &options)? else { return Err(input::not_a_table(path)) };
    let columns = table.samples.transpose();
    if columns.count() != count {
        return Err(Error::shape("the number of columns of --cols", count, columns.count()).into());
    }
    columns.check_finite(&path.display().to_string())?;
    Ok(columns)
}

/// Reads the input; of a table, the column that the model learned is the target, where the table has it.
fn read_rows<T: Scalar>(
    path: &Path,
    learned: Option<String>,
    preparation: Option<&Preparation>,
    args: &PredictArgs,
) -> Result<Input<T>> {
    let options = input::options_of(&args.read, preparation);
    if args.read.target.is_some() {
        return Ok(read(path, &options)?);
    }
    let without = ReadOptions { target: TargetColumn::None, ..options.clone() };
    let Some(learned) = learned else { return Ok(read(path, &without)?) };
    let named = read(path, &ReadOptions { target: TargetColumn::Named(learned), ..options });
    Ok(named.or_else(|error| read(path, &without).map_err(|_| error))?)
}

/// Both sides of the wanted nodes; a side without links is empty but for the features that the node may have.
fn nodes<T: Scalar>(
    frame: &GraphFrame,
    (graph, features): (&Graph, Option<&NodeFeatures<T>>),
    ids: Vec<String>,
    path: &Path,
    mut notes: Vec<String>,
) -> Result<Wanted<T>> {
    let (row_ids, rows, left_out) = frame.row_samples::<T>(graph)?;
    let (col_ids, cols, also_left_out) = frame.col_samples::<T>(graph)?;
    let described = features.map_or(&[][..], |features| &features.ids[..]);
    let linked: HashSet<&String> = row_ids.iter().chain(&col_ids).chain(&frame.ids).chain(described).collect();
    if let Some(id) = ids.iter().find(|id| !linked.contains(id)) {
        let reason = format!("has no links of the node `{id}`, which the model does not know either");
        return Err(Error::parse(path.display().to_string(), reason).into());
    }
    if left_out + also_left_out > 0 {
        let count = left_out + also_left_out;
        notes.push(format!("links from or to nodes that the model does not know were left out: {count}"));
    }
    let with = |links: Csr<T>| frame.with_features(&ids, links, None, features).map(Samples::Sparse);
    let sides = (with(picked(&row_ids, &rows, &ids))?, with(picked(&col_ids, &cols, &ids))?);
    let samples = Dataset { row_ids: Some(ids), ..Dataset::two_sided(sides.0, sides.1) };
    Ok(Wanted { samples, notes })
}

/// A score of nodes that were learned from tells nothing about others: they are refused if asked for, else counted.
fn learned_from(
    archive: &Archive,
    frame: Option<&GraphFrame>,
    ids: &[String],
    asked_for: bool,
) -> Result<Option<String>> {
    let (Some(frame), Ok(train)) = (frame, archive.field::<Vec<usize>>("train")) else { return Ok(None) };
    let learned: HashSet<&String> = train.iter().filter_map(|&i| frame.ids.get(i)).collect();
    let both: Vec<&String> = ids.iter().filter(|id| learned.contains(id)).collect();
    let Some(first) = both.first() else { return Ok(None) };
    if !asked_for {
        return Ok(Some(format!("scored nodes that the model was learned from: {}", both.len())));
    }
    let value = format!("{} ids, `{first}` the first, that the model was learned from", both.len());
    let error = Error::param("ids", value, "of other nodes where predictions are scored");
    Err(hinted(error, "leave them out of --ids; without --labels they are predicted too, but not scored"))
}

/// The true class or value of each sample as text, from the file of labels or the target column.
fn truth<T: Scalar>(
    answer: &Answer,
    samples: &Dataset<T>,
    ids: &[String],
    args: &PredictArgs,
) -> Result<Option<Truth>> {
    let file = input::label_file(args.labels.as_deref(), &args.read);
    let Some(path) = &file else {
        return Ok(match &samples.y {
            Some(Target::Several { values, .. }) if values.ncols() == answer.targets().len() => {
                Some(Truth::Several(values.clone()))
            }
            Some(Target::Several { .. }) | None => None,
            Some(one) => Some(Truth::Words(words(one))),
        });
    };
    if !answer.targets().is_empty() {
        let allowed = format!(
            "left out: the truth of several targets stands in the columns {} of the table",
            answer.targets().join(", ")
        );
        return Err(Error::param("labels", path.display(), allowed).into());
    }
    let pairs = input::labels(path, None)?;
    let pairs = if labels_are_whole(path) && args.ids.is_none() { one_each(path, &pairs, ids.len())? } else { pairs };
    let labels: HashMap<String, String> = pairs.into_iter().filter(|(_, label)| label != UNKNOWN).collect();
    let truth: Vec<Option<String>> = ids.iter().map(|id| labels.get(id).cloned()).collect();
    if truth.iter().flatten().next().is_none() {
        let reason = "has no label of any sample that is predicted";
        return Err(Error::parse(path.display().to_string(), reason).into());
    }
    Ok(Some(Truth::Words(truth)))
}

/// What should have been predicted, as far as it is known.
enum Truth {
    Words(Vec<Option<String>>),
    Several(Mat<f64>),
}

impl Truth {
    /// The same as a page has it; classes that were not learned are beyond the names.
    fn shown(&self, answer: &Answer) -> pages::Truth {
        let names = answer.classes();
        let code = |word: &String| names.iter().position(|name| name == word).unwrap_or(names.len()) as u32;
        match self {
            Truth::Words(words) if !names.is_empty() => {
                pages::Truth::Classes(words.iter().map(|word| word.as_ref().map(code)).collect())
            }
            Truth::Words(words) => {
                let number = |word: &Option<String>| word.as_ref().and_then(|w| w.parse().ok()).unwrap_or(f64::NAN);
                pages::Truth::Values(vec![(String::new(), words.iter().map(number).collect())])
            }
            Truth::Several(values) => {
                let column = |(c, name): (usize, &String)| (name.clone(), values.col(c).iter().copied().collect());
                pages::Truth::Values(answer.targets().iter().enumerate().map(column).collect())
            }
        }
    }

    /// Samples whose truth is known.
    fn count(&self) -> usize {
        match self {
            Truth::Words(words) => words.iter().flatten().count(),
            Truth::Several(values) => values.row_iter().filter(|row| row.iter().all(|v| v.is_finite())).count(),
        }
    }
}

fn words(target: &Target) -> Vec<Option<String>> {
    match target {
        Target::Classes { names, codes } => codes.iter().map(|c| c.map(|c| names[c as usize].clone())).collect(),
        Target::Values(values) => values.iter().map(|v| v.is_finite().then(|| v.to_string())).collect(),
        Target::Several { values, .. } => vec![None; values.nrows()],
    }
}

fn scores(answer: &Answer, truth: &Truth, decision: &Mat<f64>, notes: &mut Vec<String>) -> lopsided::Result<Scores> {
    let truth = match truth {
        Truth::Words(words) => words,
        Truth::Several(_) if truth.count() == 0 => return Ok(Scores::default()),
        Truth::Several(values) => {
            let errors = errors_of(values.as_ref(), decision.as_ref());
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let named =
                answer.targets().iter().zip(errors).map(|(name, rmse)| TargetError { name: name.clone(), rmse });
            return Ok(Scores { rmse: Some(mean), targets: named.collect(), ..Scores::default() });
        }
    };
    let known: Vec<(usize, &String)> = truth.iter().enumerate().filter_map(|(i, t)| Some((i, t.as_ref()?))).collect();
    if known.is_empty() {
        return Ok(Scores::default());
    }
    let decision = Mat::from_fn(known.len(), decision.ncols(), |i, j| decision[(known[i].0, j)]);
    match answer {
        Answer::Classes(names) => Ok(class_scores(names, &known, &decision, notes)),
        Answer::Values | Answer::Several(_) => {
            let number = |label: &str| {
                let refused = || Error::param("label", label, "a number: the model predicts values");
                label.parse::<f64>().map_err(|_| refused())
            };
            let truth: Vec<f64> = known.iter().map(|(_, label)| number(label)).collect::<lopsided::Result<_>>()?;
            let found: Vec<f64> = decision.col(0).iter().copied().collect();
            let error = rmse(&truth, &found);
            notes.extend(worse_than_mean(&truth, error));
            Ok(Scores { rmse: Some(error), ..Scores::default() })
        }
    }
}

/// Fewer predictions than this may be alike by accident.
const MANY: usize = 20;

/// The sentence about values that their own mean would predict better.
fn worse_than_mean(truth: &[f64], error: f64) -> Option<String> {
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let explained = 1.0 - (error / rmse(truth, &vec![mean; truth.len()])).powi(2);
    (truth.len() >= MANY && explained < 0.0)
        .then(|| format!("R² is {explained:.2}: the mean of the values alone predicts them better"))
}

/// The sentence about predictions that are all the same class of several.
fn of_one_class(answer: &Answer, words: &[String]) -> Option<String> {
    let alike = words.len() >= MANY && answer.classes().len() > 1 && words.iter().all(|word| *word == words[0]);
    alike
        .then(|| format!("all {} predictions are `{}`: the model tells these samples not apart", words.len(), words[0]))
}

fn class_scores(names: &[String], known: &[(usize, &String)], decision: &Mat<f64>, notes: &mut Vec<String>) -> Scores {
    let codes: HashMap<&str, u32> = names.iter().zip(0..).map(|(name, code)| (name.as_str(), code)).collect();
    // A class that the model has never seen is one more class, which is never predicted.
    let other = names.len() as u32;
    let truth: Vec<u32> = known.iter().map(|(_, label)| codes.get(label.as_str()).copied().unwrap_or(other)).collect();
    let unseen = truth.iter().filter(|code| **code == other).count();
    if unseen > 0 {
        notes.push(format!("samples of classes that the model does not know count as wrong: {unseen}"));
    }
    let found = lopsided::estimators::linear::largest_columns(decision.as_ref());
    let binary = names.len() == 2 && [0, 1].iter().all(|code| truth.contains(code)) && unseen == 0;
    let area = || {
        let positive: Vec<bool> = truth.iter().map(|code| *code == 1).collect();
        auroc(&positive, &decision.col(1).iter().copied().collect::<Vec<_>>())
    };
    let area = binary.then(area);
    if let Some(below) = area.filter(|area| *area < 0.5 && truth.len() >= MANY) {
        notes.push(format!("AUROC {below:.3} is below chance: the scores put the classes in the wrong order"));
    }
    Scores {
        accuracy: Some(accuracy(&truth, &found)),
        micro_f1: Some(micro_f1(&truth, &found)),
        macro_f1: Some(macro_f1(&truth, &found)),
        auroc: area,
        ..Scores::default()
    }
}

impl Summary {
    fn show(&self, csv: &str, context: &Context) -> Result<()> {
        context.line.clear();
        context.notes(&self.notes);
        if context.global.json {
            return Ok(talk::json(self)?);
        }
        if self.out.is_some() {
            return Ok(talk::print(&terminal::aligned(&self.lines()))?);
        }
        if self.scored > 0 && !context.global.quiet {
            talk::remark(terminal::remarked(&self.lines()).trim_end());
        }
        Ok(talk::print(csv)?)
    }

    fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("predicted".to_string(), format!("{} samples", self.n))];
        let named = [
            ("accuracy", self.quality.accuracy),
            ("micro-F1", self.quality.micro_f1),
            ("macro-F1", self.quality.macro_f1),
            ("AUROC", self.quality.auroc),
            ("RMSE", self.quality.rmse),
        ];
        if self.scored > 0 {
            lines.push(("scored".into(), format!("{} samples", self.scored)));
        }
        let several = &self.quality.targets;
        lines.extend(several.iter().map(|target| (format!("RMSE of {}", target.name), text::number(target.rmse))));
        let mean = |name: &str| if several.is_empty() { name.to_string() } else { format!("mean {name}") };
        lines.extend(named.into_iter().filter_map(|(name, value)| Some((mean(name), text::number(value?)))));
        lines.extend(self.out.as_ref().map(|path| ("written".to_string(), path.display().to_string())));
        lines
    }
}

//! Samples with something to learn.

use crate::args::{FitArgs, Task};
use crate::estimator;
use crate::failure::hinted;
use crate::input::{self, Loaded};
use anyhow::Result;
use lopsided::base::settings::Settings;
use lopsided::data::columns::check_cells;
use lopsided::data::io::{Input, ReadOptions, TargetColumn, classes_of, is_npy, labels_are_whole, read, read_ids};
use lopsided::data::io::{read_labels, wrong_count};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::Impute;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::{Dataset, Error, Run, Scalar, Side, Target};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What `fit` learns from. Rows that it shall not learn from have no target.
pub(crate) struct Labelled<T> {
    pub(crate) data: Dataset<T>,
    /// Name of the table's target column.
    pub(crate) target: Option<String>,
    pub(crate) notes: Vec<String>,
}

/// Reads samples and targets.
pub(crate) fn load<T: Scalar>(args: &FitArgs, given: &mut Settings, run: &Run) -> Result<Labelled<T>> {
    let nodes = args.graph.nodes.as_deref();
    let label_file = input::label_file(args.graph.labels.as_deref(), &args.graph.read);
    let several = label_file.as_deref().map(several).transpose()?.flatten();
    let pairs = label_file.as_deref().filter(|_| several.is_none());
    let labels = pairs.map(|path| input::labels(path, nodes)).transpose()?;
    let mut options = input::options(&args.graph.read);
    let features = input::features::<T>(&args.features, nodes)?;
    options.nodes = input::node_ids(nodes, features.as_ref())?;
    if label_file.is_some() && args.graph.read.target.is_none() {
        options.target = TargetColumn::None;
    }
    let mut out = samples(args, given, (&options, features.as_ref()), run)?;
    if let (Some(labels), Some(path)) = (&labels, &label_file) {
        out.data.y = Some(classes_of(path, &out.data, labels)?);
    }
    if let (Some(values), Some(path)) = (several, &label_file) {
        if values.count() != out.data.x.count() {
            return Err(wrong_count(path, values.count(), out.data.x.count()).into());
        }
        out.data.y = Some(values);
    }
    let Some(target) = out.data.y.take() else {
        let error = Error::parse(args.input.display().to_string(), "has no classes or values to learn");
        return Err(hinted(error, "give them with --labels FILE, or with --target NAME for a column of a table"));
    };
    let mut target = as_asked(target, args.task)?;
    if let Some(path) = &args.train_ids {
        let wanted: HashSet<usize> = positions(path, &out.data)?.into_iter().collect();
        target = target.without(|i| !wanted.contains(&i));
    }
    out.data.y = Some(target);
    if let Some(path) = &args.weights {
        out.data.weights = Some(weights(path, &out.data)?);
    }
    Ok(out)
}

fn samples<T: Scalar>(
    args: &FitArgs,
    given: &mut Settings,
    (options, features): (&ReadOptions, Option<&NodeFeatures<T>>),
    run: &Run,
) -> Result<Labelled<T>> {
    let usual = Usual::learning(recipe::entry::<T>(&args.estimator)?.kernel, true);
    let kernel = estimator::kernel(given, &usual);
    let rule = recipe::take_graph_rule(given, &kernel, &usual)?;
    let table = match (read::<T>(&args.input, options)?, &args.cols) {
        (Input::Graph(..), Some(_)) => return Err(input::not_a_table(&args.input)),
        (Input::Graph(graph, notes), None) => {
            let Loaded { data, notes, .. } = input::from_graph(&graph, notes, rule, run.seed)?;
            let data = recipe::with_features(data, features, &kernel)?;
            return Ok(Labelled { data, target: None, notes });
        }
        (Input::Table(_), _) if features.is_some() => return Err(input::needs_nodes(&args.input)),
        (Input::Table(_), _) if kernel.of_graph() => return Err(input::needs_graph(&kernel)),
        (Input::Table(table), _) => table,
    };
    input::check_categories(&args.graph.read, &table)?;
    let impute = given.word::<Impute>("impute")?.unwrap_or_default();
    let place = args.input.display().to_string();
    check_cells(table.samples.as_ref(), table.columns.as_deref(), impute != Impute::None, &place)?;
    let mut notes = table.notes.clone();
    let name = table.target.as_ref().map(|(name, _)| name.clone());
    let Some(path) = &args.cols else { return Ok(Labelled { data: table.dataset(), target: name, notes }) };
    let Input::Table(cols) = read(path, options)? else { return Err(input::not_a_table(path)) };
    input::all_numbers(&args.input, &table)?;
    input::all_numbers(path, &cols)?;
    notes.extend(cols.notes);
    let data = Dataset { y: table.target.map(|(_, y)| y), ..Dataset::two_sided(table.samples, cols.samples) };
    Ok(Labelled { data, target: name, notes })
}

/// Several values for each row: a NumPy array of more than one column.
fn several(path: &Path) -> Result<Option<Target>> {
    if !is_npy(path) || labels_are_whole(path) {
        return Ok(None);
    }
    let Input::Table(table) = read::<f64>(path, &ReadOptions::default())? else { return Ok(None) };
    let values = table.samples.into_dense();
    Ok(Some(Target::Several { names: (0..values.ncols()).map(|c| c.to_string()).collect(), values }))
}

/// Rows of the ids in a file.
pub(crate) fn positions<T: Scalar>(path: &Path, data: &Dataset<T>) -> Result<Vec<usize>> {
    let ids: Vec<String> = (0..data.x.count()).map(|i| data.id(Side::Row, i)).collect();
    let rows: HashMap<&str, usize> = ids.iter().enumerate().map(|(i, id)| (id.as_str(), i)).collect();
    let unknown = |id: &String| Error::parse(path.display().to_string(), format!("names `{id}`, which is no sample"));
    let wanted = read_ids(path)?;
    Ok(wanted.iter().map(|id| rows.get(id.as_str()).copied().ok_or_else(|| unknown(id))).collect::<Result<_, _>>()?)
}

/// What each sample counts: by its id, or by its place in a file of numbers alone. Samples that are not learned need none.
fn weights<T: Scalar>(path: &Path, data: &Dataset<T>) -> Result<Vec<f64>> {
    let wrong = |reason: String| Error::parse(path.display().to_string(), reason);
    let number = |text: &String| {
        let refused = || wrong(format!("has the weight `{text}`; finite numbers of at least 0 are expected"));
        text.parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0).ok_or_else(refused)
    };
    let n = data.x.count();
    let alone = labels_are_whole(path) && !is_npy(path);
    let Some(pairs) = (!alone).then(|| read_labels(path).ok()).flatten() else {
        let all = read_ids(path)?.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let count = all.len();
        return if count == n { Ok(all) } else { Err(wrong(format!("has {count} weights for {n} samples")).into()) };
    };
    let named: HashMap<&str, &String> = pairs.iter().map(|(id, weight)| (id.as_str(), weight)).collect();
    let learned: HashSet<usize> = data.y.as_ref().map(Target::known).unwrap_or_default().into_iter().collect();
    let weight = |i: usize| match named.get(data.id(Side::Row, i).as_str()) {
        Some(text) => number(text),
        None if learned.contains(&i) => Err(wrong(format!("has no weight of the sample `{}`", data.id(Side::Row, i)))),
        None => Ok(1.0),
    };
    Ok((0..n).map(weight).collect::<Result<_, _>>()?)
}

pub(crate) fn as_asked(target: Target, task: Option<Task>) -> lopsided::Result<Target> {
    match (task, target) {
        (Some(Task::Classes), Target::Values(_)) => {
            Err(Error::param("task", "classes", "values for a target with fractions"))
        }
        (Some(Task::Classes), Target::Several { .. }) => {
            Err(Error::param("task", "classes", "values for several targets"))
        }
        (_, several @ Target::Several { .. }) => Ok(several),
        (Some(Task::Values), target) => {
            let refused = || Error::param("task", "values", "classes for a target that is not a number");
            target.numbers().map(Target::Values).ok_or_else(refused)
        }
        (Some(Task::Classes), target) => Ok(target),
        (None, target) => Ok(target.measured()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str]) -> Target {
        let codes = (0..names.len()).map(|c| Some(c as u32)).chain([None]).collect();
        Target::Classes { names: names.iter().map(ToString::to_string).collect(), codes }
    }

    #[test]
    fn targets_are_of_the_kind_that_was_asked_for() {
        let Ok(Target::Values(values)) = as_asked(classes(&["3", "4"]), Some(Task::Values)) else { panic!() };
        assert!(values[..2] == [3.0, 4.0] && values[2].is_nan());
        assert!(as_asked(classes(&["a"]), Some(Task::Values)).is_err());
        assert!(as_asked(Target::Values(vec![0.5]), Some(Task::Classes)).is_err());
    }
}

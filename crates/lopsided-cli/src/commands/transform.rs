//! `lopsided transform`: new rows and new columns in the space of a saved model.

use super::Outcome;
use super::forecast::{Forecast, check_result};
use crate::args::TransformArgs;
use crate::context::Context;
use crate::{input, output, talk, terminal};
use anyhow::Result;
use lopsided::data::archive::Archive;
use lopsided::data::io::{Input, ReadOptions, Table, TargetColumn, read, write_matrix};
use lopsided::data::node_features::NodeFeatures;
use lopsided::estimators::{Fitted, Preparation};
use lopsided::{Error, Graph, Samples, Scalar, Side};
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One side that was placed.
#[derive(Serialize)]
struct Placed {
    side: Side,
    count: usize,
    file: PathBuf,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    rank: usize,
    precision: &'static str,
    placed: Vec<Placed>,
    notes: Vec<String>,
    seconds: f64,
}

/// New samples with their names.
struct Newcomers<T> {
    ids: Vec<String>,
    samples: Samples<T>,
    notes: Vec<String>,
}

/// Places the samples in the precision of the model.
pub(crate) fn run(args: &TransformArgs, context: &Context) -> Result<Outcome> {
    let sides = sides(args);
    for (_, _, out) in sides.iter().filter(|_| !args.dry_run) {
        output::check_matrix("out", out)?;
    }
    context.line.stage("reading the model");
    let archive = Archive::load(&args.model)?;
    match archive.field::<String>("precision")?.as_str() {
        "f64" => place::<f64>(&archive, args, &sides, context),
        "f32" => place::<f32>(&archive, args, &sides, context),
        other => Err(archive.error(format!("has the unknown precision `{other}`")).into()),
    }
}

/// Which sides are placed, from which file, into which file.
pub(crate) fn sides(args: &TransformArgs) -> Vec<(Side, &Path, PathBuf)> {
    let both = args.sides.rows.is_some() && args.sides.cols.is_some();
    // Without a file nothing is written.
    let file = args.out.clone().unwrap_or_default();
    let out = |side: &str| {
        let extension = file.extension().unwrap_or_default().to_string_lossy();
        if both { file.with_extension(format!("{side}.{extension}")) } else { file.clone() }
    };
    let rows = args.sides.rows.as_deref().map(|path| (Side::Row, path, out("rows")));
    let cols = args.sides.cols.as_deref().map(|path| (Side::Col, path, out("cols")));
    rows.into_iter().chain(cols).collect()
}

fn place<T: Scalar>(
    archive: &Archive,
    args: &TransformArgs,
    sides: &[(Side, &Path, PathBuf)],
    context: &Context,
) -> Result<Outcome> {
    let model = Fitted::<T>::from_archive(archive)?;
    if !model.can().transform_rows {
        let name: String = archive.field("estimator")?;
        return Err(archive.error(format!("is a model of `{name}`, which has no features; `predict` uses it")).into());
    }
    let (mut placed, mut notes, mut rank, mut planned) = (Vec::new(), Vec::new(), 0, None);
    for (side, path, out) in sides {
        context.line.stage("placing samples");
        if *side == Side::Col && !model.can().transform_cols {
            return Err(Error::param("cols", path.display(), "left out: the model places rows").into());
        }
        let newcomers = newcomers(&model, archive, *side, path, args)?;
        let count = newcomers.samples.count();
        if args.dry_run {
            let forecast = Forecast::tried(count, newcomers.notes, context, |rows| {
                let part = newcomers.samples.as_ref().select(rows);
                model.transform(*side, part.as_ref(), &context.run).map(|values| values.ncols())
            })?;
            planned = Some(forecast.after(planned));
            continue;
        }
        check_result("placing samples", count, 1)?;
        let values = model.transform(*side, newcomers.samples.as_ref(), &context.run)?;
        rank = values.ncols();
        context.run.watch.check()?;
        write_matrix(out, &newcomers.ids, values.as_ref())?;
        placed.push(Placed { side: *side, count: newcomers.ids.len(), file: out.clone() });
        notes.extend(newcomers.notes);
    }
    if let Some(forecast) = planned {
        forecast.show("samples", context)?;
        return Ok(Outcome::Done);
    }
    show(&Summary { rank, precision: T::NAME, placed, notes, seconds: context.seconds() }, context)?;
    Ok(Outcome::Done)
}

/// A table without the column that was left out when the model was fitted, where it has one.
fn rows_without<T: Scalar>(target: Option<String>, path: &Path, args: &TransformArgs) -> Result<Table<T>> {
    let options = input::options(&args.read);
    let tried = match (&args.read.target, target) {
        (None, Some(name)) => read(path, &ReadOptions { target: TargetColumn::Named(name), ..options.clone() }),
        (None, None) => read(path, &ReadOptions { target: TargetColumn::None, ..options.clone() }),
        (Some(_), _) => read(path, &options),
    };
    let without = ReadOptions { target: TargetColumn::None, ..options };
    match tried.or_else(|error| read(path, &without).map_err(|_| error))? {
        Input::Table(table) => Ok(table),
        Input::Graph(..) => Err(input::not_a_table(path)),
    }
}

fn newcomers<T: Scalar>(
    model: &Fitted<T>,
    archive: &Archive,
    side: Side,
    path: &Path,
    args: &TransformArgs,
) -> Result<Newcomers<T>> {
    let preparation = Preparation::of_archive(archive)?.filter(|_| side == Side::Row);
    if let Some(preparation) = preparation {
        return prepared_rows(&preparation, path, args);
    }
    // Models of a table may have left a column of it out.
    let of_table = matches!(model, Fitted::Components(_));
    let features = input::features::<T>(&args.features, None)?;
    let table = match if of_table { None } else { Some(read::<T>(path, &input::options(&args.read))?) } {
        Some(Input::Graph(graph, notes)) => return nodes(model, side, path, (&graph, features.as_ref()), notes),
        _ if features.is_some() => return Err(input::needs_nodes(path)),
        Some(Input::Table(table)) => table,
        None => rows_without(archive.field("target")?, path, args)?,
    };
    table.samples.check_finite(&path.display().to_string())?;
    let ids = (0..table.samples.count()).map(|i| i.to_string()).collect();
    Ok(Newcomers { ids, samples: table.samples, notes: table.notes })
}

/// Rows of a table whose columns the model knows.
fn prepared_rows<T: Scalar>(preparation: &Preparation, path: &Path, args: &TransformArgs) -> Result<Newcomers<T>> {
    let mut options = input::options_of(&args.read, Some(preparation));
    if args.read.target.is_none() {
        options.target = TargetColumn::None;
    }
    let Input::Table(mut table) = read::<T>(path, &options)? else { return Err(input::not_a_table(path)) };
    let mut notes = std::mem::take(&mut table.notes);
    let data = table.dataset();
    let samples = preparation.apply(&data)?.into_owned().x;
    notes.extend(preparation.review(&data));
    Ok(Newcomers { ids: (0..samples.count()).map(|i| i.to_string()).collect(), samples, notes })
}

fn nodes<T: Scalar>(
    model: &Fitted<T>,
    side: Side,
    path: &Path,
    (graph, features): (&Graph, Option<&NodeFeatures<T>>),
    mut notes: Vec<String>,
) -> Result<Newcomers<T>> {
    let Some(frame) = model.frame() else { return Err(input::not_a_table(path)) };
    let (ids, samples, unknown) = match side {
        Side::Row => frame.row_samples(graph)?,
        Side::Col => frame.col_samples(graph)?,
    };
    if ids.is_empty() {
        let reason = "has no node with links on this side, so there is nothing to place";
        return Err(Error::parse(path.display().to_string(), reason).into());
    }
    if unknown > 0 {
        notes.push(format!("links from or to nodes that the model does not know were left out: {unknown}"));
    }
    let known: HashSet<&String> = frame.ids.iter().collect();
    let old = ids.iter().filter(|id| known.contains(id)).count();
    if old > 0 && old < ids.len() {
        notes.push(format!(
            "{} new and {old} known nodes are placed, all by the links in this file alone",
            ids.len() - old
        ));
    }
    let own = model.embedding().map(|svd| &svd.data.x);
    let samples = Samples::Sparse(frame.with_features(&ids, samples, own, features)?);
    Ok(Newcomers { ids, samples, notes })
}

fn show(summary: &Summary, context: &Context) -> Result<()> {
    context.line.clear();
    context.notes(&summary.notes);
    if context.global.json {
        return Ok(talk::json(summary)?);
    }
    let line = |placed: &Placed| {
        let side = if placed.side == Side::Row { "rows" } else { "columns" };
        (side, format!("{} placed at rank {}, written to {}", placed.count, summary.rank, placed.file.display()))
    };
    Ok(talk::print(&terminal::aligned(&summary.placed.iter().map(line).collect::<Vec<_>>()))?)
}

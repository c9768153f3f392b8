//! Which files a command reads and writes: nothing is written over what is read, and no result over another.

use crate::args::Command;
use crate::commands::transform;
use crate::input;
use lopsided::base::file::{followed, identity};
use lopsided::{Error, Result};
use std::path::{Path, PathBuf};

/// The files of a command, outputs with their options.
#[derive(Default)]
struct Files {
    read: Vec<PathBuf>,
    written: Vec<(&'static str, PathBuf)>,
}

/// Refuses, before any work, an output that is an input or another output: by the same name, by another name of the same
/// place, over symbolic links, or as another name of the same file.
pub(crate) fn check(command: &Command) -> Result<()> {
    let Files { read, written } = Files::of(command);
    let read: Vec<(Place, &PathBuf)> = read.iter().filter_map(|path| Some((Place::of(path)?, path))).collect();
    let mut taken: Vec<(Place, &str)> = Vec::new();
    for (option, path) in &written {
        let Some(place) = Place::of(path) else { continue };
        if let Some((_, input)) = read.iter().find(|(other, _)| *other == place) {
            let allowed = format!("another file than {}, which is read", input.display());
            return Err(Error::param(option, path.display(), allowed));
        }
        if let Some((_, other)) = taken.iter().find(|(other, _)| *other == place) {
            let allowed = format!("another file for each result: `{other}` has this one");
            return Err(Error::param(option, path.display(), allowed));
        }
        taken.push((place, option));
    }
    Ok(())
}

/// What a path stands for.
#[derive(PartialEq, Eq)]
enum Place {
    /// A file that is there, whatever its names.
    File((u64, u64)),
    /// Where a file would be made.
    Free(PathBuf),
}

impl Place {
    /// None for pipes, terminals and folders: none of them can be written over.
    fn of(path: &Path) -> Option<Self> {
        let path = if path == Path::new("-") { Path::new("/dev/stdin") } else { path };
        if let Ok(there) = path.metadata() {
            let known = identity(&there).map(Place::File);
            return if there.is_file() { known.or_else(|| Place::free(path)) } else { None };
        }
        Place::free(path)
    }

    fn free(path: &Path) -> Option<Self> {
        let path = followed(path).ok()?;
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Place::Free(folder.canonicalize().ok()?.join(path.file_name()?)))
    }
}

impl Files {
    fn of(command: &Command) -> Self {
        let mut files = Files::default();
        match command {
            Command::Embed(args) => {
                let (graph, outputs) = (&args.graph, &args.outputs);
                files.read([Some(&args.input), args.cols.as_ref(), args.given.recipe.as_ref()]);
                files.read([graph.nodes.as_ref(), args.features.features.as_ref()]);
                files.read([input::label_file(graph.labels.as_deref(), &graph.read).as_ref()]);
                if !args.given.dry_run {
                    files.write([("rows-out", &outputs.rows_out), ("cols-out", &outputs.cols_out)]);
                    files.write([("model", &outputs.model), ("report", &outputs.report)]);
                    files.write([("checkpoint", &args.states.checkpoint)]);
                }
            }
            Command::Bicluster(args) => {
                files.read([Some(&args.matrix), args.labels.as_ref(), args.given.recipe.as_ref()]);
                if !args.given.dry_run {
                    files.write([("row-labels-out", &args.row_labels_out), ("col-labels-out", &args.col_labels_out)]);
                    files.write([("model", &args.model), ("report", &args.report)]);
                    files.write([("checkpoint", &args.states.checkpoint)]);
                }
            }
            Command::Fit(args) => {
                let (graph, landmarks) = (&args.graph, &args.landmarks);
                files.read([
                    Some(&args.input),
                    args.cols.as_ref(),
                    args.given.recipe.as_ref(),
                    args.train_ids.as_ref(),
                ]);
                files.read([graph.nodes.as_ref(), args.features.features.as_ref(), args.weights.as_ref()]);
                files.read([landmarks.landmark_ids.as_ref(), landmarks.landmark_points.as_ref()]);
                files.read([input::label_file(graph.labels.as_deref(), &graph.read).as_ref()]);
                if !args.given.dry_run {
                    files.write([("model", &args.model), ("cv-out", &args.cv_out), ("report", &args.report)]);
                    files.write([("checkpoint", &args.states.checkpoint)]);
                }
            }
            Command::Part(args) => {
                args.inputs.iter().chain(&args.labels).for_each(|path| files.read([Some(path)]));
                files.read([args.state.as_ref(), args.given.recipe.as_ref()]);
                if !args.given.dry_run {
                    files.written.push(("out", args.out.clone()));
                }
            }
            Command::Merge(args) => {
                args.parts.iter().for_each(|path| files.read([Some(path)]));
                files.write([("model", &args.model), ("state", &args.state), ("out", &args.out)]);
            }
            Command::Predict(args) => {
                files.read([Some(&args.model), Some(&args.input), args.cols.as_ref(), args.ids.as_ref()]);
                files.read([args.labels.as_ref(), args.features.features.as_ref()]);
                files.read([input::label_file(None, &args.read).as_ref()]);
                if !args.dry_run {
                    files.write([("out", &args.out), ("report", &args.report)]);
                }
            }
            Command::Transform(args) => {
                files.read([Some(&args.model), args.sides.rows.as_ref(), args.sides.cols.as_ref()]);
                files.read([args.features.features.as_ref()]);
                let sides = if args.dry_run { Vec::new() } else { transform::sides(args) };
                files.written.extend(sides.into_iter().map(|(_, _, out)| ("out", out)));
            }
            Command::Online(args) => {
                let saving = &args.saving;
                files.read([Some(&args.stream)]);
                files.write([("out", &saving.out), ("checkpoint", &saving.checkpoint)]);
                files.write([("regret-out", &saving.regret_out), ("regret-plot", &saving.regret_plot)]);
                files.write([("report", &saving.report)]);
            }
            Command::Export(args) => {
                files.read([Some(&args.model)]);
                files.written.push(("onnx", args.onnx.clone()));
            }
            Command::Links(args) => {
                files.read([Some(&args.input), args.graph.nodes.as_ref()]);
                if !args.given.dry_run {
                    files.write([("report", &args.report)]);
                }
            }
            Command::Reproduce(args) => files.write([("report", &args.report)]),
            Command::Compare(args) => {
                files.read([Some(&args.input), args.graph.nodes.as_ref()]);
                files.read([input::label_file(args.graph.labels.as_deref(), &args.graph.read).as_ref()]);
                if !args.dry_run {
                    files.write([("out", &args.out), ("report", &args.report)]);
                }
            }
            // These read no file of the user's, write none, or have a folder for what they write.
            Command::Demo(_)
            | Command::Inspect(_)
            | Command::List(_)
            | Command::Devices
            | Command::Completions(_)
            | Command::Man(_) => {}
        }
        files
    }

    fn read<const N: usize>(&mut self, paths: [Option<&PathBuf>; N]) {
        self.read.extend(paths.into_iter().flatten().cloned());
    }

    fn write<const N: usize>(&mut self, paths: [(&'static str, &Option<PathBuf>); N]) {
        self.written.extend(paths.into_iter().filter_map(|(option, path)| Some((option, path.clone()?))));
    }
}

//! `lopsided export`: a model for other runtimes.

use super::Outcome;
use crate::args::ExportArgs;
use crate::context::Context;
use crate::output;
use anyhow::Result;
use lopsided::Error;
use lopsided::base::error::bytes;
use lopsided::base::file::write_atomically;
use lopsided::data::archive::Archive;
use lopsided::estimators::Fitted;
use lopsided::estimators::onnx::Exported;
use serde::Serialize;
use std::path::PathBuf;

/// What `--json` prints.
#[derive(Serialize)]
struct Summary {
    estimator: String,
    precision: String,
    onnx: PathBuf,
    bytes: usize,
    #[serde(flatten)]
    file: Exported,
}

/// Writes the file in the precision of the model.
pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome> {
    output::check(&args.onnx)?;
    let archive = Archive::load(&args.model)?;
    let precision: String = archive.field("precision")?;
    let file = match precision.as_str() {
        "f64" => Fitted::<f64>::from_archive(&archive)?.onnx()?,
        "f32" => Fitted::<f32>::from_archive(&archive)?.onnx()?,
        other => return Err(archive.error(format!("has the unknown precision `{other}`")).into()),
    };
    write_atomically(&args.onnx, |out| out.write_all(&file.bytes).map_err(|e| Error::io(&args.onnx, e)))?;
    let estimator = archive.field("estimator")?;
    let summary = Summary { estimator, precision, onnx: args.onnx.clone(), bytes: file.bytes.len(), file };
    context.say(&summary, &summary.lines())?;
    Ok(Outcome::Done)
}

impl Summary {
    fn lines(&self) -> Vec<(&'static str, String)> {
        let Exported { opset, input, features, outputs, .. } = &self.file;
        vec![
            ("model", format!("{}, {}", self.estimator, self.precision)),
            ("input", format!("`{input}`, {features} columns")),
            ("outputs", outputs.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
            ("written", format!("{}, ONNX opset {opset}, {}", self.onnx.display(), bytes(self.bytes as u64))),
        ]
    }
}

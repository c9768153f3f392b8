//! Predictions as they are made.

use super::Saved;
use crate::args::OnlineArgs;
use crate::context::Context;
use lopsided::online::Outcome;
use lopsided::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::PathBuf;

const HEADER: &str = "trial,prediction,loss\n";

/// Where predictions go.
pub(super) struct Predictions {
    target: Target,
    /// Whether every line is to be seen at once.
    prompt: bool,
}

enum Target {
    File { path: PathBuf, writer: BufWriter<File> },
    Stdout,
    Nowhere,
}

impl Predictions {
    /// Begins anew, or goes on where the checkpoint was made.
    ///
    /// # Errors
    /// [`Error::Param`] when the file is not the one of the checkpoint.
    pub(super) fn open(args: &OnlineArgs, context: &Context, saved: Option<&Saved>) -> Result<Self> {
        let prompt = !args.stream.is_file();
        let target = match &args.saving.out {
            Some(path) => {
                let file = match saved {
                    Some(saved) => continued(path.clone(), saved.output_bytes)?,
                    None => File::create(path).map_err(|e| Error::io(path, e))?,
                };
                Target::File { path: path.clone(), writer: BufWriter::new(file) }
            }
            None if saved.is_some_and(|saved| saved.output_bytes.is_some()) => {
                return Err(Error::param("out", "missing", "the file the checkpoint's predictions went to"));
            }
            None if context.global.json => Target::Nowhere,
            None => Target::Stdout,
        };
        let mut predictions = Predictions { target, prompt };
        if saved.is_none() {
            predictions.put(HEADER)?;
        }
        Ok(predictions)
    }

    /// Writes a line; false when nobody listens any more.
    pub(super) fn write(&mut self, trial: u64, outcome: Outcome) -> Result<bool> {
        self.put(&format!("{trial},{},{}\n", outcome.prediction, outcome.loss))
    }

    fn put(&mut self, line: &str) -> Result<bool> {
        match &mut self.target {
            Target::File { path, writer } => {
                let written = writer.write_all(line.as_bytes());
                let flushed = written.and_then(|()| if self.prompt { writer.flush() } else { Ok(()) });
                flushed.map(|()| true).map_err(|e| Error::io(path, e))
            }
            Target::Stdout => {
                let mut out = std::io::stdout().lock();
                match out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                    Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
                    Err(e) => Err(Error::io("standard output", e)),
                    Ok(()) => Ok(true),
                }
            }
            Target::Nowhere => Ok(true),
        }
    }

    /// Hands everything to the system and says how long the file is; `None` without a file.
    pub(super) fn flush(&mut self) -> Result<Option<u64>> {
        let Target::File { path, writer } = &mut self.target else { return Ok(None) };
        let position = writer.flush().and_then(|()| writer.get_mut().stream_position());
        position.map(Some).map_err(|e| Error::io(path, e))
    }

    /// Everything is written.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.flush().map(drop)
    }
}

/// The file cut to what it held when the checkpoint was made: lines of trials that will be repeated are gone.
fn continued(path: PathBuf, bytes: Option<u64>) -> Result<File> {
    let Some(bytes) = bytes else {
        return Err(Error::param("out", path.display(), "left out: the checkpoint was made without it"));
    };
    let failed = |e| Error::io(&path, e);
    let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if length < bytes {
        let value = format!("{} with {length} bytes", path.display());
        return Err(Error::param("out", value, format!("the file of the checkpoint, which had {bytes} bytes")));
    }
    file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes))).map_err(failed)?;
    Ok(file)
}

//! Progress on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use lopsided::{Progress, Watch};
use std::io::IsTerminal;
use std::time::Duration;

/// A line on stderr that says what is going on; invisible in a pipe.
#[derive(Clone)]
pub(crate) struct Line {
    bar: ProgressBar,
}

impl Line {
    /// A line that is shown on a terminal unless `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Line { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(120));
        Line { bar }
    }

    /// Names what is being done now.
    pub(crate) fn stage(&self, text: &'static str) {
        self.bar.set_message(text);
    }

    /// Removes the line so that results can be printed.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// A watch that shows the progress of the library on this line.
    pub(crate) fn watch(&self) -> Watch {
        let bar = self.bar.clone();
        let measured =
            ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len}, {per_sec}, {eta} left").ok();
        Watch::with_callback(move |progress| {
            if progress.total > 0 {
                if let (0 | 1, Some(style)) = (bar.length().unwrap_or(0), &measured) {
                    bar.set_style(style.clone());
                }
                bar.set_length(progress.total);
                bar.set_position(progress.done);
            }
            bar.set_message(message(&progress));
        })
    }
}

fn message(progress: &Progress) -> String {
    let done = if progress.total == 0 { format!(", {} products", progress.done) } else { String::new() };
    let residual = progress.residual.map_or(String::new(), |r| format!(", residual {r:.1e}"));
    format!("{}{done}{residual}", progress.stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_how_far_the_solver_is() {
        let progress = Progress { stage: "singular vectors", done: 120, total: 0, residual: Some(3.2e-4) };
        assert_eq!(message(&progress), "singular vectors, 120 products, residual 3.2e-4");
    }
}

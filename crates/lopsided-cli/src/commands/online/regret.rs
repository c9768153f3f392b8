//! Regret as a table and as a picture.

use lopsided::base::file::write_atomically;
use lopsided::online::RegretPoint;
use lopsided::report::svg::{Series, file, lines};
use lopsided::{Error, Result};
use std::fmt::Write as _;
use std::path::Path;

const HEADER: &str = "trials,cumulative_loss,comparator_loss,gap,regret,bound\n";

/// One line for each point; the bound is empty where the theory says nothing.
pub(super) fn write_csv(path: &Path, points: &[RegretPoint]) -> Result<()> {
    let mut text = String::from(HEADER);
    for p in points {
        let bound = p.bound.map_or(String::new(), |b| b.to_string());
        let losses = format!("{},{},{}", p.trials, p.cumulative_loss, p.comparator_loss);
        let _ = writeln!(text, "{losses},{},{},{bound}", p.gap, p.regret);
    }
    write(path, &text)
}

/// Regret and bound over the trials.
pub(super) fn write_svg(path: &Path, learner: &str, points: &[RegretPoint]) -> Result<()> {
    write(path, &picture(&format!("Regret of {learner}"), points))
}

/// The picture itself.
fn picture(title: &str, points: &[RegretPoint]) -> String {
    let measured = points.iter().map(|p| (p.trials as f64, p.regret)).collect();
    let bound = points.iter().filter_map(|p| Some((p.trials as f64, p.bound?))).collect();
    let series =
        [Series { class: 0, points: measured, dashed: false }, Series { class: 1, points: bound, dashed: true }];
    file(&[lines(&series, title, ("trials", "regret"))], &["measured regret", "bound"])
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_atomically(path, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, e)))
}

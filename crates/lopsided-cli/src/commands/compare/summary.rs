//! What `compare` tells.

use crate::context::Context;
use crate::{memory, talk};
use lopsided::Result;
use lopsided::evaluation::{Asymmetry, Compared, Family, Method};
use serde::Serialize;
use std::fmt::Write as _;

/// A finished comparison. The fields are those of `--json`.
#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub(super) found: Compared,
    pub(super) next_command: String,
    pub(super) notes: Vec<String>,
    pub(super) seconds: f64,
    peak_bytes: Option<u64>,
}

impl Summary {
    pub(super) fn of(found: Compared, next_command: String, mut notes: Vec<String>, context: &Context) -> Self {
        if found.samples < found.labelled {
            let (some, all) = (found.samples, found.labelled);
            notes.push(format!("{some} of {all} labelled samples take part; --samples N takes more"));
        }
        Summary { found, next_command, notes, seconds: context.seconds(), peak_bytes: memory::peak_bytes() }
    }

    /// Prints it as text or JSON.
    pub(super) fn show(&self, context: &Context) -> Result<()> {
        context.line.clear();
        context.notes(&self.notes);
        if context.global.json { talk::json(self) } else { talk::print(&self.text()) }
    }

    fn text(&self) -> String {
        let Compared { samples, splits, candidates, measure, .. } = &self.found;
        let mut out =
            format!("{samples} labelled samples, {splits} test parts, {candidates} candidates for most methods\n\n");
        for (what, value) in measures(&self.found.asymmetry) {
            let _ = writeln!(out, "{value:.4}  {what}");
        }
        let _ = writeln!(out, "\nmethod                {measure:16}  chosen  seconds  what it is");
        for family in [Family::Asymmetric, Family::Symmetric] {
            for method in self.found.methods.iter().filter(|method| method.family == family) {
                let Method { name, score, chosen, seconds, about, .. } = method;
                let score = format!("{:.4} ± {:.4}", score.mean, score.deviation);
                let _ = writeln!(out, "{name:20}  {score:16}  {chosen:6}  {seconds:7.1}  {about}");
            }
        }
        let _ = writeln!(out, "guessing              {:.4} ± {:.4}", self.found.guess.mean, self.found.guess.deviation);
        let _ = writeln!(out, "\n{}\n\nnext: {}", self.found.sentence, self.next_command);
        out
    }
}

/// The measures that apply, with what they are.
pub(super) fn measures(of: &Asymmetry) -> Vec<(&'static str, f64)> {
    let all = [
        ("‖A − Aᵀ‖ / ‖A + Aᵀ‖ of the links", of.links),
        ("the same of P = D⁻¹(A + I)", of.matrix),
        ("share of the links that have a counterpart", of.reciprocated),
        ("overlap of both sides of the leading singular vectors", of.overlap),
        ("‖K − Kᵀ‖ / ‖K + Kᵀ‖ of the SNE kernel of the rows", of.sne),
        ("the same of the T kernel", of.t),
    ];
    all.into_iter().filter_map(|(what, value)| Some((what, value?))).collect()
}

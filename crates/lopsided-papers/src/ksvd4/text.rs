//! The tables for people.

use super::{Course, Goal, METHODS, NYSTROM, Race, SetReport, seconds};
use crate::solvers::Reached;
use std::fmt::Write as _;

/// The tables of one set.
pub(crate) fn text(set: &SetReport) -> String {
    let mut out = format!(
        "{}: {} nodes, {} links; kernel {}, rank {}\n\
         seconds: {}; failures: with all looser settings that failed before, at most {} s;\n\
         speed-up: over the fastest randomized; eta: as in the paper, sin(ang): largest angle to the exact span\n",
        set.name, set.nodes, set.links, set.kernel, set.rank, set.times, set.limit
    );
    for race in &set.races {
        out += &race_text(race);
    }
    for file in &set.files {
        let _ = writeln!(out, "written: {}", file.display());
    }
    out
}

fn race_text(race: &Race) -> String {
    let value = |at: usize| race.singular_values.get(at).map_or("-".into(), |v| format!("{v:.4}"));
    let mut out = format!(
        "bandwidth x {}: {} operator; singular values {}, {}, … {}\n",
        race.gamma_factor,
        race.operator,
        value(0),
        value(1),
        value(race.singular_values.len().saturating_sub(1))
    );
    for (at, goal) in race.goals.iter().enumerate() {
        let _ = writeln!(
            out,
            "{:34}  {:12}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}  {:>8}  {:>8}",
            format!("to eta <= {}", goal.eta),
            "setting",
            "eta",
            "residual",
            "sin(ang)",
            "seconds",
            "failures",
            "speed-up",
            "[KSVD] s"
        );
        race.courses.iter().for_each(|course| out += &course_text(course, at, goal));
        out += &verdict(race, at, goal);
        out += &caution(race, goal.eta).unwrap_or_default();
    }
    out
}

/// One line: the speed-up is that over the fastest randomised solver.
fn course_text(course: &Course, at: usize, goal: &Goal) -> String {
    let theirs = METHODS.iter().find(|m| m.name == course.method).and_then(|m| m.paper).zip(goal.paper);
    let paper = theirs.map_or("-".into(), |(of, figures)| format!("{:.3}", of(&figures)));
    let Some(Reached { attempt, seconds_with_failures }) = &course.reached[at] else {
        let best = course.attempts.iter().map(|a| a.accuracy.eta).fold(f64::INFINITY, f64::min);
        let best = if best.is_finite() { format!(", best eta {best:.1e}") } else { String::new() };
        let why = course.stopped.as_deref().unwrap_or_default();
        return format!("{:34}  {:82}  {paper:>8}\n", course.method, format!("not reached{best}: {why}"));
    };
    let speedup = goal.randomized_seconds.map_or("-".into(), |s| format!("{:.2}", s / attempt.seconds));
    format!(
        "{:34}  {:12}  {:8.1e}  {:8.1e}  {:8.1e}  {:>9.4}  {:>9.4}  {speedup:>8}  {paper:>8}\n",
        course.method,
        attempt.setting,
        attempt.accuracy.eta,
        attempt.accuracy.residual,
        attempt.accuracy.angle_sine,
        attempt.seconds,
        seconds_with_failures,
    )
}

fn verdict(race: &Race, at: usize, goal: &Goal) -> String {
    let Some(fastest) = goal.fastest else { return format!("no method reached eta <= {}\n", goal.eta) };
    let time = |name: &str| seconds(&race.courses, name, at).map_or("not reached".into(), |s| format!("{s:.4} s"));
    let ours = if goal.ours_first { "yes" } else { "no" };
    let ratio = goal.speedup.map_or("-".into(), |s| format!("{s:.2}"));
    let paper = goal.paper.map_or("-".into(), |p| format!("{:.2}", p.speedup));
    format!(
        "fastest: {fastest}, {}; asymmetric Nyström or our exact solver first: {ours}\n\
         asymmetric Nyström {}, speed-up over randomized {ratio} ([KSVD] {paper})\n",
        time(fastest),
        time(NYSTROM)
    )
}

/// Eta weighs vectors by their values, so that one value far above the others may decide alone.
fn caution(race: &Race, eta: f64) -> Option<String> {
    let values = &race.singular_values;
    let rest = 2.0 * values.iter().skip(1).sum::<f64>() / values.len() as f64;
    (values.len() > 1 && rest <= eta).then(|| {
        format!(
            "caution: one right pair of vectors is enough here, all others weigh {rest:.4} together; see sin(ang)\n"
        )
    })
}

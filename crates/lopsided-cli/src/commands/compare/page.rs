//! The page of `compare --report`.

use super::summary::{Summary, measures};
use crate::context::Context;
use crate::page;
use lopsided::evaluation::{Family, Method};
use lopsided::report::svg::{Series, lines};
use lopsided::report::{Page, text};
use std::path::Path;

/// Verdict, methods, asymmetry and the scores of both families on each test part.
pub(super) fn page(summary: &Summary, input: &Path, context: &Context) -> Page {
    let found = &summary.found;
    let facts = [
        ("verdict", found.verdict.words().to_string()),
        ("with asymmetry", format!("{:.3}", found.asymmetric.mean)),
        ("without", format!("{:.3}", found.symmetric.mean)),
        ("difference", format!("{:+.3}", found.difference.mean)),
        ("guessing", format!("{:.3}", found.guess.mean)),
    ];
    let rows: Vec<Vec<String>> = found.methods.iter().map(row).collect();
    let header = ["method", "what it is", "family", found.measure, "chosen", "seconds", "settings"];
    let caption = format!(
        "Mean ± deviation over {} test parts; chosen: the parts to which a family sent the method",
        found.splits
    );
    let asymmetry: Vec<Vec<String>> = measures(&found.asymmetry)
        .into_iter()
        .map(|(what, value)| vec![what.to_string(), text::number(value)])
        .collect();
    let told = [
        ("labelled samples", format!("{} of {}", found.samples, found.labelled)),
        ("test parts", found.splits.to_string()),
        ("candidates", format!("{} for most methods", found.candidates)),
        ("margin", found.margin.to_string()),
    ];
    Page::new(&format!("Does asymmetry pay on {}?", page::name(input)), &found.sentence)
        .facts(&facts)
        .table(&caption, &header, &rows)
        .section("What both families sent to every test part")
        .figures(&[plot(summary)], &["asymmetric".into(), "symmetric".into()], &interval(summary))
        .section("How asymmetric the data are")
        .table("0: not at all; 1: as much as can be, but for shares", &["measure", "value"], &asymmetry)
        .section("Next")
        .command(&summary.next_command)
        .account(&page::account(context, &summary.notes, &told))
}

fn row(method: &Method) -> Vec<String> {
    let settings: Vec<String> = method.settings.iter().map(|(name, value)| format!("{name} {value}")).collect();
    vec![
        method.name.into(),
        method.about.into(),
        word(method.family).into(),
        format!("{:.4} ± {:.4}", method.score.mean, method.score.deviation),
        method.chosen.to_string(),
        format!("{:.1}", method.seconds),
        settings.join(", "),
    ]
}

fn word(family: Family) -> &'static str {
    if family == Family::Asymmetric { "asymmetric" } else { "symmetric" }
}

fn interval(summary: &Summary) -> String {
    let (found, difference) = (&summary.found, &summary.found.difference);
    format!(
        "Mean difference {:+.4}, 95 % interval {:+.4} to {:+.4}; {} samples, {:.0} s in all.",
        difference.mean, difference.low, difference.high, found.samples, summary.seconds
    )
}

fn plot(summary: &Summary) -> String {
    let found = &summary.found;
    let series = |class: u32, of: fn(&(f64, f64)) -> f64| {
        let points = found.pairs.iter().enumerate().map(|(k, pair)| ((k + 1) as f64, of(pair))).collect();
        Series { class, points, dashed: false }
    };
    lines(&[series(0, |pair| pair.0), series(1, |pair| pair.1)], "Scores", ("test part", found.measure))
}

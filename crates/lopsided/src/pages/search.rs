use crate::estimators::{Choice, FitReport};
use crate::evaluation::Tuning;
use crate::report::text::number;
use crate::report::{Page, svg};

/// The choices that a fit made itself: every value that was tried with its score and, of penalties of coupled systems, the border
/// 1/σ₁ up to which they are definite and the condition number below it.
pub fn choices(page: Page, report: &FitReport) -> Page {
    if report.choices.is_empty() {
        return page;
    }
    let border = report.params.get("largest_definite_penalty").and_then(serde_json::Value::as_f64);
    let page = page.section("What was tried");
    report.choices.iter().fold(page, |page, choice| {
        let border = border.filter(|border| choice.setting == "penalty" && border.is_finite());
        one(page, choice, border)
    })
}

fn one(page: Page, choice: &Choice, border: Option<f64>) -> Page {
    let mut tried = choice.tried.clone();
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = tried.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.1), h.max(p.1)));
    let mut series = vec![svg::Series { class: 0, points: tried.clone(), dashed: false }];
    let mut legend = vec![format!("held-out {}", choice.measure)];
    if let Some(border) = border {
        series.push(svg::Series { class: 1, points: vec![(border, low), (border, high)], dashed: true });
        legend.push("the border 1/σ₁".into());
    }
    let title = format!("{} and held-out {}", choice.setting, choice.measure);
    let figure = svg::lines(&series, &title, (&choice.setting, &choice.measure));
    let caption = format!("Chosen: {} {}.", choice.setting, short(choice.chosen));
    let page = page.figures(&[figure], &legend, &caption);
    let mut header = vec![choice.setting.as_str(), choice.measure.as_str()];
    header.extend(border.map(|_| "condition number"));
    header.push("remark");
    let rows: Vec<Vec<String>> = tried.iter().map(|p| row(*p, choice.chosen, border)).collect();
    page.table(&format!("Values of {} that were tried", choice.setting), &header, &rows)
}

/// The eigenvalues of a coupled system are 1/γ ± σ, so γ·σ₁ tells how well a definite one is conditioned.
fn row((value, score): (f64, f64), chosen: f64, border: Option<f64>) -> Vec<String> {
    let mut cells = vec![short(value), format!("{score:.4}")];
    let share = border.map(|border| value / border);
    cells.extend(share.map(|s| if s < 1.0 { number((1.0 + s) / (1.0 - s)) } else { "—".into() }));
    let chosen = (value - chosen).abs() <= 1e-9 * chosen.abs();
    let indefinite = share.is_some_and(|s| s >= 1.0);
    let remarks = [(chosen, "chosen"), (indefinite, "beyond the border: the system is indefinite")];
    cells.push(remarks.iter().filter(|r| r.0).map(|r| r.1).collect::<Vec<_>>().join("; "));
    cells
}

/// A value as somebody would type it.
fn short(value: f64) -> String {
    let plain = value.to_string();
    if plain.len() <= 6 { plain } else { number(value) }
}

/// All settings of a search, best first, and the scores over the setting that had the most values.
pub fn tuning(page: Page, tuning: &Tuning) -> Page {
    let names: Vec<&str> = tuning.best.params.keys().map(String::as_str).collect();
    let page = page.section("Cross-validation").paragraph(&format!(
        "Each of {} settings was scored by {} on {} parts, learned without the part. The score of the best of many is a little \
         too good.",
        tuning.points.len(),
        tuning.measure,
        tuning.folds
    ));
    let figures: Vec<String> = names.iter().filter_map(|name| over(tuning, name)).collect();
    let page = if figures.is_empty() { page } else { page.figures(&figures, &[], "The best score for each value.") };
    let mut header = names.clone();
    header.extend([tuning.measure, "deviation"]);
    let row = |tried: &&crate::evaluation::Tried| {
        let mut row: Vec<String> = tried.params.values().cloned().collect();
        row.extend([format!("{:.4}", tried.score.mean), format!("{:.4}", tried.score.deviation)]);
        row
    };
    let rows: Vec<Vec<String>> = tuning.ranked().iter().map(row).collect();
    page.table("All settings, the best first", &header, &rows)
}

/// The best score for each value of a setting, where there are several and all are positive numbers.
fn over(tuning: &Tuning, name: &str) -> Option<String> {
    let mut best: Vec<(f64, f64)> = Vec::new();
    for tried in &tuning.points {
        let value = tried.params.get(name)?.parse::<f64>().ok().filter(|v| *v > 0.0)?;
        let (score, less) = (tried.score.mean, tuning.measure == "rmse");
        match best.iter_mut().find(|(v, _)| *v == value) {
            Some((_, old)) => *old = if less { old.min(score) } else { old.max(score) },
            None => best.push((value, score)),
        }
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    let series = svg::Series { class: 0, points: best, dashed: false };
    (series.points.len() > 1).then(|| svg::lines(&[series], name, (name, tuning.measure)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Spread, Tried};
    use std::collections::BTreeMap;

    #[test]
    fn penalties_beyond_the_border_have_no_condition_number() {
        assert_eq!(row((0.5, 0.1), 0.5, Some(1.0)), ["0.5", "0.1000", "3.0000", "chosen"]);
        let beyond = row((2.0, 0.1), 0.5, Some(1.0));
        assert_eq!(beyond[2], "—");
        assert!(beyond[3].contains("indefinite"));
        assert_eq!(row((2.0, 0.1), 0.5, None).len(), 3);
    }

    #[test]
    fn a_search_is_shown_whole() {
        let point = |penalty: &str, mean: f64| Tried {
            params: BTreeMap::from([("penalty".to_string(), penalty.to_string()), ("kernel".into(), "<k>".into())]),
            score: Spread { mean, deviation: 0.0 },
        };
        let points = vec![point("1", 0.5), point("10", 0.7)];
        let found = Tuning { folds: 3, measure: "micro-f1", best: points[1].clone(), points };
        let html = tuning(Page::new("t", "l"), &found).html();
        assert!(html.contains("&lt;k&gt;") && html.contains("0.7000") && html.matches("<svg ").count() == 1);
    }
}

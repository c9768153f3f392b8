use crate::online::RegretPoint;
use crate::report::svg::{self, Series};
use crate::report::text::number;
use crate::report::{Account, Page};

/// An online learner beside the best fixed matrix: its regret with the bound of the theory, and both losses; `name` is the stream.
pub fn regret(points: &[RegretPoint], learner: &str, name: &str, account: &Account) -> Page {
    let lead = "One trial after the other was predicted and then learned from. The regret is what the learner lost beyond the best \
                fixed matrix for exactly these trials.";
    let mut page = Page::new(&format!("{learner} on {name}"), lead);
    let Some(last) = points.last() else {
        return page.paragraph("The regret was not computed for this stream: --regret does.").account(account);
    };
    let mut facts = vec![
        ("trials", last.trials.to_string()),
        ("loss", number(last.cumulative_loss)),
        ("regret", number(last.regret)),
    ];
    facts.extend(last.bound.map(|bound| ("bound", number(bound))));
    page = page.facts(&facts);
    let line = |class, dashed, value: &dyn Fn(&RegretPoint) -> Option<f64>| {
        let points = points.iter().filter_map(|p| Some((p.trials as f64, value(p)?))).collect();
        Series { class, points, dashed }
    };
    let axes = ("trials", "regret");
    let figure = [
        svg::lines(&[line(0, false, &|p| Some(p.regret)), line(1, true, &|p| p.bound)], "Regret and its bound", axes),
        svg::lines(
            &[line(0, false, &|p| Some(p.cumulative_loss)), line(1, true, &|p| Some(p.comparator_loss))],
            "Loss of the learner and of the best fixed matrix",
            ("trials", "cumulative loss"),
        ),
    ];
    let legend = ["the learner".to_string(), "its bound, or the best fixed matrix".into()];
    let why = last.bound_note.map_or(String::new(), |note| format!(" There is no bound: {note}"));
    page = page.section("Regret").figures(&figure, &legend, &format!("Trials on a logarithmic axis.{why}"));
    let header = ["trials", "cumulative loss", "best fixed matrix", "regret", "bound"];
    let row = |p: &RegretPoint| {
        let bound = p.bound.map_or("—".into(), number);
        vec![p.trials.to_string(), number(p.cumulative_loss), number(p.comparator_loss), number(p.regret), bound]
    };
    page.table("After so many trials", &header, &points.iter().map(row).collect::<Vec<_>>()).account(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_drawn_where_there_is_one() {
        let point = |trials: u64, bound: Option<f64>| RegretPoint {
            trials,
            cumulative_loss: 2.0,
            comparator_loss: 1.0,
            gap: 0.0,
            regret: 1.0,
            bound,
            bound_note: bound.is_none().then_some("give `radius`"),
        };
        let html = regret(&[point(1, None), point(2, Some(3.0))], "gd", "<s>", &Account::default()).html();
        assert!(html.contains("gd on &lt;s&gt;") && html.contains("<dd>3.0000</dd>"));
        assert!(regret(&[point(1, None)], "gd", "s", &Account::default()).html().contains("give `radius`"));
        assert!(regret(&[], "gd", "s", &Account::default()).html().contains("was not computed"));
    }
}

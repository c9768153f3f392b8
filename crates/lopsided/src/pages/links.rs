use crate::metrics::{auroc, average_precision, precision_and_recall, rates};
use crate::report::svg::{self, Series};
use crate::report::{Account, Page};

/// Scores of links that were taken out and of pairs without link, by one method.
#[derive(Clone, Debug)]
pub struct LinkCurve {
    /// What the method is called.
    pub name: String,
    /// Whether each pair is a link.
    pub truth: Vec<bool>,
    /// Its score.
    pub scores: Vec<f64>,
}

/// How well methods tell links from pairs without link: the curves behind AUROC and average precision, of one trial; `rows` are the
/// lines of the table of all trials under its `header`.
pub fn links(curves: &[LinkCurve], name: &str, (header, rows): (&[&str], &[Vec<String>]), account: &Account) -> Page {
    let lead = "Some links were taken out, the rest was embedded, and scores had to tell the links taken out from as many pairs \
                of nodes without link.";
    let series = |points: &dyn Fn(&LinkCurve) -> Vec<(f64, f64)>| -> Vec<Series> {
        let one = |(class, curve): (u32, &LinkCurve)| Series { class, points: points(curve), dashed: false };
        (0..).zip(curves).map(one).collect()
    };
    let mut receiver = series(&|c| rates(&c.truth, &c.scores));
    receiver.push(Series { class: 6, points: vec![(0.0, 0.0), (1.0, 1.0)], dashed: true });
    let precision = series(&|c| precision_and_recall(&c.truth, &c.scores));
    let legend: Vec<String> = curves
        .iter()
        .map(|c| {
            let (area, precision) = (auroc(&c.truth, &c.scores), average_precision(&c.truth, &c.scores));
            format!("{}: AUROC {area:.3}, average precision {precision:.3}", c.name)
        })
        .collect();
    let figures = [
        svg::curves(
            &receiver,
            "Receiver operating characteristic",
            ("share of pairs without link above", "share of links above"),
        ),
        svg::curves(&precision, "Precision and recall", ("recall", "precision")),
    ];
    Page::new(&format!("Held-out links of {name}"), lead)
        .figures(&figures, &legend, "The first trial. The dashed line is what scores reach that know nothing.")
        .section("All trials")
        .table("Mean and standard deviation over the trials", header, rows)
        .account(account)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_their_names_and_areas() {
        let curve = LinkCurve { name: "<k>".into(), truth: vec![true, false], scores: vec![1.0, 0.0] };
        let html = links(&[curve], "g", (&["method"], &[vec!["k".into()]]), &Account::default()).html();
        assert!(html.contains("&lt;k&gt;: AUROC 1.000") && html.contains("Held-out links of g"));
    }
}

use crate::estimators::linear::largest_columns;
use crate::metrics::rmse;
use crate::report::text::number;
use crate::report::{Page, svg};
use faer::MatRef;

/// Bins of a reliability diagram.
const BINS: usize = 10;
/// Values that a scatter plot of predictions shows is limited by the figure itself; several targets have so many figures.
const TARGETS: usize = 6;

/// What should have been predicted.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Class of each sample, `None` where unknown; codes beyond the names are classes that were not learned.
    Classes(Vec<Option<u32>>),
    /// Each target's name with its values, NaN where unknown.
    Values(Vec<(String, Vec<f64>)>),
}

/// Predictions beside the truth.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// Which samples, as the end of "Predictions of …".
    pub what: &'a str,
    /// Names of the classes that were learned.
    pub classes: &'a [String],
    /// What should have been predicted.
    pub truth: Truth,
    /// A row of decision values for each sample.
    pub decision: MatRef<'a, f64>,
    /// A row of probabilities for each sample, where there are any.
    pub probabilities: Option<MatRef<'a, f64>>,
}

impl Judged<'_> {
    /// Sections that show how good the predictions are: for classes who is taken for whom, each class, the margins and, of
    /// probabilities, how far they can be believed; for values the truth against the prediction, and the errors.
    pub fn on(&self, page: Page) -> Page {
        let page = page.section(&format!("Predictions of {}", self.what));
        match &self.truth {
            Truth::Classes(codes) => self.classes_on(page, codes),
            Truth::Values(targets) => self.values_on(page, targets),
        }
    }

    fn classes_on(&self, page: Page, codes: &[Option<u32>]) -> Page {
        let found = largest_columns(self.decision);
        let known: Vec<usize> = (0..found.len().min(codes.len())).filter(|&i| codes[i].is_some()).collect();
        let pairs: Vec<(u32, u32)> = known.iter().filter_map(|&i| Some((codes[i]?, found[i]))).collect();
        if pairs.is_empty() {
            return page.paragraph("No class of these samples is known.");
        }
        let page = page.confusion("Who is taken for whom", self.classes, &pairs);
        let header = ["class", "samples", "found", "right of those predicted", "F1"];
        let page = page.table("Each class", &header, &each_class(self.classes, &pairs));
        let right: Vec<bool> = pairs.iter().map(|(truth, found)| truth == found).collect();
        let margins: Vec<f64> = known.iter().map(|&i| margin(self.decision, i)).collect();
        let mut figures = vec![svg::histogram(&parted(&margins, &right), "How clear the decisions are", "margin")];
        let mut caption =
            "The margin is how far the score of the predicted class lies above that of the next.".to_string();
        if let Some(probabilities) = self.probabilities {
            let sure: Vec<f64> =
                known.iter().map(|&i| probabilities.row(i).iter().copied().fold(0.0, f64::max)).collect();
            figures.push(reliability(&sure, &right));
            caption += " Where probabilities can be believed, the share of right predictions is as large as they say: the line \
                        of the figure lies on the dashed one.";
        }
        page.figures(&figures, &["right".to_string(), "wrong".into()], &caption)
    }

    fn values_on(&self, page: Page, targets: &[(String, Vec<f64>)]) -> Page {
        let mut page = page;
        for (column, (name, truth)) in targets.iter().enumerate().take(TARGETS) {
            let known: Vec<usize> =
                (0..truth.len().min(self.decision.nrows())).filter(|&i| truth[i].is_finite()).collect();
            if known.is_empty() {
                continue;
            }
            let points: Vec<(f64, f64)> = known.iter().map(|&i| (truth[i], self.decision[(i, column)])).collect();
            let errors: Vec<f64> = points.iter().map(|(truth, found)| found - truth).collect();
            let (is, said): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            let title = if name.is_empty() {
                "Predicted and true values".into()
            } else {
                format!("{name}: predicted and true")
            };
            let figures = [
                svg::scatter(&points, None, &title, ("true", "predicted")),
                svg::histogram(&[errors], "Errors", "predicted − true"),
            ];
            page = page.figures(&figures, &[], &said_of(&is, &said));
        }
        page
    }
}

fn said_of(truth: &[f64], found: &[f64]) -> String {
    let (error, mean) = (rmse(truth, found), truth.iter().sum::<f64>() / truth.len() as f64);
    let spread = rmse(truth, &vec![mean; truth.len()]);
    let explained = if spread > 0.0 { format!(", R² {:.3}", 1.0 - (error / spread).powi(2)) } else { String::new() };
    format!("{} samples. Root mean squared error {}{explained}.", truth.len(), number(error))
}

/// The largest decision value minus the next.
fn margin(decision: MatRef<'_, f64>, i: usize) -> f64 {
    let (mut best, mut next) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for &value in decision.row(i).iter() {
        (best, next) = if value > best { (value, best) } else { (best, next.max(value)) };
    }
    best - next
}

/// Values of the right and of the wrong predictions.
fn parted(values: &[f64], right: &[bool]) -> [Vec<f64>; 2] {
    let of = |wanted: bool| values.iter().zip(right).filter(|(_, r)| **r == wanted).map(|(v, _)| *v).collect();
    [of(true), of(false)]
}

fn each_class(names: &[String], pairs: &[(u32, u32)]) -> Vec<Vec<String>> {
    let row = |(code, name): (u32, &String)| {
        let count = |f: &dyn Fn(&(u32, u32)) -> bool| pairs.iter().filter(|pair| f(pair)).count();
        let (all, said) = (count(&|p| p.0 == code), count(&|p| p.1 == code));
        let hits = count(&|p| *p == (code, code));
        let share = |of: usize| if of == 0 { "—".into() } else { format!("{:.3}", hits as f64 / of as f64) };
        let f1 = if all + said == 0 { "—".into() } else { format!("{:.3}", 2.0 * hits as f64 / (all + said) as f64) };
        vec![name.clone(), all.to_string(), share(all), share(said), f1]
    };
    (0u32..).zip(names).map(row).collect()
}

/// The share of right predictions among those that are about as sure, against how sure they are.
fn reliability(sure: &[f64], right: &[bool]) -> String {
    let mut bins = [(0.0, 0.0, 0.0); BINS];
    for (&p, &right) in sure.iter().zip(right).filter(|(p, _)| p.is_finite()) {
        let bin = &mut bins[((p.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + 1.0, bin.1 + p, bin.2 + f64::from(u8::from(right)));
    }
    let points: Vec<(f64, f64)> = bins.iter().filter(|b| b.0 > 0.0).map(|b| (b.1 / b.0, b.2 / b.0)).collect();
    let ideal = svg::Series { class: 6, points: vec![(0.0, 0.0), (1.0, 1.0)], dashed: true };
    let found = svg::Series { class: 0, points, dashed: false };
    svg::curves(
        &[ideal, found],
        "How far probabilities can be believed",
        ("probability of the prediction", "share right"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Mat, mat};

    #[test]
    fn classes_are_counted_as_by_hand() {
        let names = ["a", "b"].map(String::from);
        let rows = each_class(&names, &[(0, 0), (0, 1), (1, 1), (1, 1), (2, 0)]);
        assert_eq!(rows[0], ["a", "2", "0.500", "0.500", "0.500"]);
        assert_eq!(rows[1], ["b", "2", "1.000", "0.667", "0.800"]);
    }

    #[test]
    fn margins_are_those_over_the_next_class() {
        let decision = mat![[0.1, 0.7, 0.4], [2.0, 2.0, -1.0]];
        assert!((margin(decision.as_ref(), 0) - 0.3).abs() < 1e-12);
        assert_eq!(margin(decision.as_ref(), 1), 0.0);
    }

    #[test]
    fn a_page_of_classes_has_the_matrix_and_the_reliability() {
        let decision = Mat::from_fn(6, 2, |i, j| if i % 2 == j { 1.0 } else { 0.0 });
        let names = ["<a>", "b"].map(String::from);
        let judged = Judged {
            what: "all",
            classes: &names,
            truth: Truth::Classes(vec![Some(0), Some(1), Some(1), None, Some(2), Some(0)]),
            decision: decision.as_ref(),
            probabilities: Some(decision.as_ref()),
        };
        let html = judged.on(Page::new("t", "l")).html();
        assert!(html.contains("&lt;a&gt;") && html.contains("not learned") && html.contains("can be believed"));
        let unknown = Judged { truth: Truth::Classes(vec![None; 6]), ..judged };
        assert!(unknown.on(Page::new("t", "l")).html().contains("No class"));
    }

    #[test]
    fn a_page_of_values_tells_their_error() {
        let decision = Mat::from_fn(4, 1, |i, _| i as f64);
        let truth = Truth::Values(vec![(String::new(), vec![0.0, 1.0, 2.0, f64::NAN])]);
        let judged = Judged { what: "all", classes: &[], truth, decision: decision.as_ref(), probabilities: None };
        let html = judged.on(Page::new("t", "l")).html();
        assert!(html.contains("3 samples. Root mean squared error 0, R² 1.000"), "{html}");
    }
}

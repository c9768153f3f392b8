//! The page of `demo`.

use super::methods::Method;
use super::{Example, Line, moral, trial};
use lopsided::report::{Cloud, Page, Panel, svg};
use lopsided::{Mat, Side};

/// The table, the two embeddings and the spectrum.
pub(super) fn html(example: &Example, methods: &[Method], lines: &[Line]) -> String {
    let rows: Vec<Vec<String>> = lines.iter().map(|line| cells(line, example)).collect();
    let header = ["method", "what it is", "features", "micro-F1", "chance"];
    let caption = format!("Nodes classified by a linear LS-SVM: {} splits, mean ± standard deviation", trial::SPLITS);
    let facts: Vec<(&str, String)> = lines
        .iter()
        .map(|l| (l.method, format!("{:.2}", l.micro_f1)))
        .chain([("chance", format!("{:.2}", example.chance()))])
        .collect();
    let page = Page::new("Why asymmetry matters", &example.story())
        .facts(&facts)
        .paragraph(&moral(lines))
        .table(&caption, &header, &rows);
    let page = methods.iter().rev().fold(page, |page, method| pictures(page, example, method));
    let spectra: Vec<String> =
        methods.iter().rev().map(|method| svg::spectrum(method.model.singular_values(), method.name)).collect();
    page.section("Singular values")
        .figures(&spectra, &[], "After the first, two values stand out where the circle of classes was found.")
        .section("Your own data")
        .command("lopsided embed edges.csv --rank 16 --report page.html")
        .html()
}

fn cells(line: &Line, example: &Example) -> Vec<String> {
    let score = format!("{:.3} ± {:.3}", line.micro_f1, line.deviation);
    vec![line.method.into(), line.about.into(), line.features.to_string(), score, format!("{:.3}", example.chance())]
}

fn pictures(page: Page, example: &Example, method: &Method) -> Page {
    let components = informative(method, example);
    let sides: &[(Side, &str, &str)] = if method.name == "KPCA" {
        &[(Side::Row, "Nodes (U)", "u")]
    } else {
        &[(Side::Row, "As targets of links (U)", "u"), (Side::Col, "As sources of links (V)", "v")]
    };
    let panel = |(side, title, letter): &(Side, &str, &str)| Panel {
        title: (*title).into(),
        axes: Some((format!("{letter}{}", components.0 + 1), format!("{letter}{}", components.1 + 1))),
        points: points(&method.model.embedding(*side), components),
    };
    let cloud = Cloud {
        names: example.graph.ids().to_vec(),
        codes: Some(example.codes.clone()),
        classes: (0..example.classes).map(|class| format!("class {class}")).collect(),
        panels: sides.iter().map(panel).collect(),
        ..Cloud::default()
    };
    let caption = "A dot is a node. Shown are the two components that tell most about the classes.";
    page.section(&format!("{}: {}", method.name, method.about)).cloud(&cloud, caption)
}

fn points(embedding: &Mat<f64>, (a, b): (usize, usize)) -> Vec<(f64, f64)> {
    (0..embedding.nrows()).map(|i| (embedding[(i, a)], embedding[(i, b)])).collect()
}

/// The two components with the largest share of variance between classes, in their order.
fn informative(method: &Method, example: &Example) -> (usize, usize) {
    let rank = method.model.singular_values().len();
    let columns = method.features.ncols();
    let share = |k: usize| (k..columns).step_by(rank).map(|j| between_share(&method.features, j, example)).sum::<f64>();
    let shares: Vec<f64> = (0..rank).map(share).collect();
    let mut order: Vec<usize> = (0..rank).collect();
    order.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let (a, b) = (order[0], order[1.min(rank - 1)]);
    (a.min(b), a.max(b))
}

/// The part of a column's variance that lies between the means of the classes.
fn between_share(features: &Mat<f64>, column: usize, example: &Example) -> f64 {
    let mut groups = vec![(0.0, 0.0); example.classes];
    let (mut sum, mut squares) = (0.0, 0.0);
    for (value, code) in features.col(column).iter().zip(&example.codes) {
        let group = &mut groups[*code as usize];
        *group = (group.0 + value, group.1 + 1.0);
        sum += value;
        squares += value * value;
    }
    let count = features.nrows() as f64;
    let between: f64 = groups.iter().map(|(total, size)| total * total / size).sum::<f64>() - sum * sum / count;
    let all = squares - sum * sum / count;
    if all > 0.0 { between / all } else { 0.0 }
}

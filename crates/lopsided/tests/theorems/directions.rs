//! The direction of links: kept where it tells something about the labels, dropped where it does not.

use lopsided::base::settings::Settings;
use lopsided::data::synth::CyclicGraph;
use lopsided::estimators::{Model, Point, load_model, recipe, score};
use lopsided::{Dataset, Graph, GraphRule, Links, Run, Target};

const NODES: usize = 240;

/// Every third node has no label.
fn labelled(graph: &Graph, classes: &[u32], links: Links) -> Dataset<f64> {
    let names = (0..=*classes.iter().max().unwrap()).map(|c| c.to_string()).collect();
    let codes = classes.iter().enumerate().map(|(i, c)| (i % 3 != 2).then_some(*c)).collect();
    let rule = GraphRule { links, unit: true, ..GraphRule::default() };
    Dataset { y: Some(Target::Classes { names, codes }), ..Dataset::from_graph(graph, &rule).unwrap() }
}

/// Links within three groups, each in a direction that means nothing.
fn groups() -> (Graph, Vec<u32>) {
    let classes: Vec<u32> = (0..NODES as u32).map(|i| i / 3 % 3).collect();
    let linked = |i: usize, j: usize| classes[i] == classes[j] && (31 * i + 17 * j + i * j).is_multiple_of(19);
    let turned = |i: usize, j: usize| if (i * 7 + j * 3).is_multiple_of(2) { (i, j) } else { (j, i) };
    let pairs = (0..NODES).flat_map(|i| (0..i).map(move |j| (i, j))).filter(|&(i, j)| linked(i, j));
    let links: Vec<_> = pairs.map(|(i, j)| turned(i, j)).map(|(i, j)| (i as u32, j as u32, 1.0)).collect();
    (Graph::new((0..NODES).map(|i| i.to_string()).collect(), &links).unwrap(), classes)
}

/// Groups on a cycle: without directions nothing is left of them.
fn cycle() -> (Graph, Vec<u32>) {
    CyclicGraph { nodes: NODES, classes: 4, degree: 24.0, contrast: 1.0, seed: 5 }.generate().unwrap()
}

fn learned(name: &str, (graph, classes): &(Graph, Vec<u32>), links: Links) -> (Box<dyn Model<f64>>, f64) {
    let data = labelled(graph, classes, links);
    let (_, estimator) = recipe::estimator(name, Settings::default(), &data).unwrap();
    let model = estimator.fit(data.clone(), &Run::default()).unwrap();
    let others: Vec<usize> = (2..NODES).step_by(3).collect();
    let decision = model.decision(&data.rows(&others), &Run::default()).unwrap();
    let names = (0..4).map(|c: u32| c.to_string()).collect();
    let truth = Target::Classes { names, codes: others.iter().map(|&i| Some(classes[i])).collect() };
    (model, score(&truth, decision.as_ref()))
}

#[test]
fn directions_are_dropped_where_they_mean_nothing() {
    // The kernel SVD has features of both sides, and loses nothing by directions.
    for name in ["ls-svm", "svm", "logistic", "ask-ls"] {
        let (model, right) = learned(name, &groups(), Links::Auto);
        let report = model.report();
        assert!(report.chosen.as_ref().unwrap().contains("links either, by held-out micro-F1 of in: "), "{report:?}");
        assert_eq!(model.frame().unwrap().rule.links, Links::Either);
        assert!(right > 0.9, "{name}: {right}");
        let again = load_model::<f64>(&model.archive()).unwrap();
        assert_eq!((again.report(), again.frame()), (report, model.frame()));
    }
}

#[test]
fn directions_are_kept_where_they_tell_all() {
    let (model, right) = learned("ask-ls", &cycle(), Links::Auto);
    assert!(model.report().chosen.as_ref().unwrap().contains("links in, by held-out"), "{:?}", model.report());
    assert_eq!(model.frame().unwrap().rule.links, Links::In);
    assert!(right > 0.8, "{right}");
    let (_, without) = learned("ask-ls", &cycle(), Links::Either);
    assert!(without < 0.5, "{without}");
}

/// Rows against columns put every group of the cycle beside the one opposite to it, which support vectors cannot turn round.
#[test]
fn support_vectors_compare_nodes_by_both_directions() {
    for name in ["svm", "logistic"] {
        let (model, right) = learned(name, &cycle(), Links::Auto);
        assert_eq!(model.frame().unwrap().rule.links, Links::Both, "{:?}", model.report());
        assert!(right > 0.8, "{name}: {right}");
        let again = load_model::<f64>(&model.archive()).unwrap();
        assert_eq!((again.report(), again.frame()), (model.report(), model.frame()));
    }
}

/// A node that the model knows is placed on its own row, with features beside its links as well.
#[test]
fn known_nodes_are_placed_on_their_rows() {
    let (graph, _) = cycle();
    let data =
        Dataset::<f64>::from_graph(&graph, &GraphRule { links: Links::Both, unit: true, ..GraphRule::default() })
            .unwrap();
    let frame = data.frame.as_ref().unwrap();
    assert_eq!((data.x.width(), frame.link_width()), (2 * NODES, 2 * NODES));
    for placed in [frame.row_samples::<f64>(&graph).unwrap(), frame.col_samples(&graph).unwrap()] {
        let (ids, rows, left_out) = placed;
        assert_eq!((ids.as_slice(), left_out), (graph.ids(), 0));
        let gap = rows.to_dense() - data.x.clone().into_dense();
        assert!(gap.norm_max() < 1e-14);
    }
}

#[test]
fn a_direction_that_is_asked_for_is_not_chosen() {
    for links in [Links::In, Links::Out, Links::Either, Links::Both] {
        let (model, _) = learned("ls-svm", &groups(), links);
        assert!(!model.report().chosen.clone().unwrap_or_default().contains("links"), "{:?}", model.report());
        assert_eq!(model.frame().unwrap().rule.links, links);
    }
}

/// The labels of a fold neither teach the machine nor choose its links.
#[test]
fn folds_are_unseen() {
    let (graph, classes) = groups();
    let data = labelled(&graph, &classes, Links::Auto);
    let known = data.y.as_ref().unwrap().known();
    let folds: Vec<Vec<usize>> = (0..2).map(|f| known.iter().skip(f).step_by(2).copied().collect()).collect();
    let (_, estimator) = recipe::estimator("ls-svm", Settings::default(), &data).unwrap();
    for point in [Point::default(), Point::default().with("penalty", 10.0)] {
        let found = estimator.validate(&data, std::slice::from_ref(&point), &folds, &Run::default()).unwrap();
        for (fold, found) in folds.iter().zip(&found[0]) {
            let hidden = data.y.clone().unwrap().without(|i| fold.contains(&i));
            let learned = Dataset { y: Some(hidden), ..data.clone() };
            let model = estimator.with(&point).unwrap().fit(learned, &Run::default()).unwrap();
            let part = data.rows(fold);
            let decision = model.decision(&part, &Run::default()).unwrap();
            assert!((found - score(part.y.as_ref().unwrap(), decision.as_ref())).abs() < 1e-9);
        }
    }
}

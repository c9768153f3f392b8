use super::*;
use crate::data::samples::Samples;
use crate::data::synth::{self, CyclicGraph};

const QUICK: Comparison = Comparison { folds: 4, repeats: 1, inner: 2, margin: 0.01, most: 200 };

fn cyclic(seed: u64) -> (Graph, Vec<u32>) {
    CyclicGraph { nodes: 200, degree: 20.0, contrast: 1.0, classes: 4, seed }.generate().unwrap()
}

fn classes(codes: &[u32]) -> Target {
    Target::Classes { names: (0..4).map(|c| c.to_string()).collect(), codes: codes.iter().map(|c| Some(*c)).collect() }
}

/// Every link with its counterpart.
fn both_ways(graph: &Graph) -> Graph {
    let a = graph.adjacency();
    let links = (0..a.nrows()).flat_map(|i| a.row(i).0.iter().map(move |&j| (i as u32, j)));
    let links: Vec<(u32, u32, f64)> = links.flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0)]).collect();
    Graph::new(graph.ids().to_vec(), &links).unwrap()
}

#[test]
fn direction_pays_where_it_tells_and_not_where_it_is_taken_away() {
    let (graph, codes) = cyclic(1);
    let found = QUICK.nodes(&graph, classes(&codes), &Run::default()).unwrap();
    assert_eq!((found.verdict, found.splits, found.measure), (Decision::Pays, 4, "accuracy"), "{}", found.sentence);
    assert!(found.asymmetric.mean > found.symmetric.mean + 0.2, "{}", found.sentence);
    assert_eq!(found.preferred().family, Family::Asymmetric);
    let found = QUICK.nodes(&both_ways(&graph), classes(&codes), &Run::default()).unwrap();
    assert_eq!((found.verdict, found.asymmetry.reciprocated), (Decision::DoesNotPay, Some(1.0)));
    assert_eq!(found.preferred().family, Family::Symmetric);
}

#[test]
fn random_labels_do_not_pay_and_every_test_part_has_one_of_each_family() {
    let (graph, codes) = cyclic(2);
    let turned: Vec<u32> = (0..200).map(|i| codes[(i * 37 + 11) % 200]).collect();
    let found = QUICK.nodes(&graph, classes(&turned), &Run::default()).unwrap();
    assert_eq!(found.verdict, Decision::DoesNotPay, "{}", found.sentence);
    for family in [Family::Asymmetric, Family::Symmetric] {
        let sent: usize = found.methods.iter().filter(|m| m.family == family).map(|m| m.chosen).sum();
        assert_eq!(sent, 4);
    }
    assert!(found.methods.iter().all(|m| m.scores.len() == 4 && m.seconds >= 0.0));
}

#[test]
fn rows_of_a_table_are_compared_by_classes_and_by_values() {
    let (x, codes) = synth::clusters::<f64>(90, 4, 3, 5);
    let names = (0..3).map(|c| c.to_string()).collect();
    let y = Target::Classes { names, codes: codes.iter().map(|c| Some(*c)).collect() };
    let data = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x.clone())) };
    let found = QUICK.rows(&data, &Run::default()).unwrap();
    assert!(found.methods.len() == 6 && found.asymmetry.sne.is_some(), "{found:?}");
    assert!(found.symmetric.mean > 0.7, "{}", found.sentence);
    let values = Target::Values((0..90).map(|i| x[(i, 0)] - 2.0 * x[(i, 2)]).collect());
    let data = Dataset { y: Some(values), ..data };
    let found = QUICK.rows(&data, &Run::default()).unwrap();
    assert_eq!(found.measure, "R²");
    assert!(found.symmetric.mean > 0.8 && found.guess.mean <= 0.0, "{}", found.sentence);
}

#[test]
fn the_seed_decides_and_not_the_threads() {
    let (graph, codes) = cyclic(3);
    let scores = |seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = Run { seed, ..Run::default() };
        let found = pool.install(|| QUICK.nodes(&graph, classes(&codes), &run)).unwrap();
        found.methods.iter().flat_map(|m| m.scores.clone()).map(f64::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(scores(5, 1), scores(5, 3));
    assert!(scores(5, 2) != scores(6, 2));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let (graph, codes) = cyclic(4);
    let refused = |asked: Comparison| asked.nodes(&graph, classes(&codes), &Run::default()).unwrap_err().to_string();
    assert_eq!(refused(Comparison { folds: 1, ..QUICK }), "`folds` is 1 but must be between 2 and 100");
    assert_eq!(refused(Comparison { repeats: 0, ..QUICK }), "`repeats` is 0 but must be between 1 and 100");
    assert!(QUICK.nodes(&graph, classes(&codes[..100]), &Run::default()).is_err());
    let one = QUICK.nodes(&graph, classes(&[1; 200]), &Run::default()).unwrap_err().to_string();
    assert!(one.contains("one class only"), "{one}");
    let watch = crate::Watch::default();
    watch.cancel();
    let stopped = QUICK.nodes(&graph, classes(&codes), &Run { watch, ..Run::default() });
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

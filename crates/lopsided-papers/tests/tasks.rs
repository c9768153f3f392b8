//! The tasks of the tables against plain machines, and on a real graph where `LOPSIDED_DATA` names the folder.
#![allow(missing_docs, clippy::print_stderr)]

use lopsided::data::io::{Input, ReadOptions, read, read_labels};
use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::linear::LinearLsSvm;
use lopsided::kernel::Gamma;
use lopsided::metrics::{macro_f1, micro_f1, split};
use lopsided::{Dataset, Features, Graph, GraphRule, KernelSvd, LinearSvd, Mat, Run, Samples};
use lopsided_papers::tasks::{Grid, NodeClassification, reconstruct, summarize};
use std::collections::HashMap;
use std::path::PathBuf;

fn cyclic() -> (Graph, Vec<Option<u32>>) {
    let (graph, classes) =
        CyclicGraph { nodes: 240, classes: 3, degree: 15.0, contrast: 1.0, seed: 3 }.generate().unwrap();
    (graph, classes.into_iter().map(Some).collect())
}

fn embedded(graph: &Graph, rank: usize) -> Features<f64> {
    let data = Dataset::from_graph(graph, &GraphRule::default()).unwrap();
    KernelSvd::new("sne").with_rank(rank).fit(data, &Run::default()).unwrap().into()
}

fn grids() -> [Grid; 2] {
    [
        Grid { ranks: vec![20], penalties: vec![1.0] },
        Grid { ranks: vec![20, 5, 90], penalties: vec![1.0, 30.0, 1000.0] },
    ]
}

#[test]
fn a_trial_is_a_plain_machine_on_the_same_split() {
    let (graph, codes) = cyclic();
    let features = embedded(&graph, 20);
    let task = NodeClassification { trials: 2, folds: 3, ..NodeClassification::default() };
    let trials = task.evaluate(&features, &codes, &grids(), &Run { seed: 5, ..Run::default() }).unwrap();
    for (t, trial) in trials.iter().enumerate() {
        let (train, test) = split(codes.len(), 0.8, 5 + t as u64);
        for choice in trial {
            let x = features.matrix();
            let column = |j: usize| if j < choice.rank { j } else { 20 + j - choice.rank };
            let rows = |at: &[usize]| Mat::from_fn(at.len(), 2 * choice.rank, |i, j| x[(at[i], column(j))]);
            let classes = |at: &[usize]| at.iter().map(|&i| codes[i].unwrap()).collect::<Vec<_>>();
            let machine = LinearLsSvm { penalty: choice.penalty };
            let model = machine.fit(rows(&train).as_ref(), &classes(&train), 3).unwrap();
            let predicted = model.predict(rows(&test).as_ref());
            let expected = (micro_f1(&classes(&test), &predicted), macro_f1(&classes(&test), &predicted));
            assert_eq!((choice.micro_f1, choice.macro_f1), expected);
        }
        assert!(trial[1].validation >= trial[0].validation, "the larger grid contains the smaller one");
    }
    let tuned = summarize(&[trials], 1);
    assert!(tuned.micro_f1.mean > 0.6, "{:?}", tuned.micro_f1);
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let (graph, codes) = cyclic();
    let task = NodeClassification { trials: 2, ..NodeClassification::default() };
    let all = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let features = embedded(&graph, 30);
            let links = graph.adjacency().transpose();
            let found = reconstruct(&features, &links, 0.5, &Run::default()).unwrap();
            (task.evaluate(&features, &codes, &grids(), &Run::default()).unwrap(), found)
        })
    };
    assert_eq!(all(1), all(3));
}

#[test]
fn nodes_without_label_take_no_part() {
    let (x, classes) = synth::clusters::<f64>(90, 4, 3, 1);
    let fit =
        |x: Mat<f64>| LinearSvd::new(4).fit(&Dataset::new(Samples::Dense(x)), &Run::default()).unwrap().one_sided();
    let mut features = fit(x);
    let codes: Vec<Option<u32>> = classes.into_iter().map(Some).collect();
    let task = NodeClassification { trials: 3, ..NodeClassification::default() };
    let grid = [Grid { ranks: vec![4], penalties: vec![100.0] }];
    let expected = task.evaluate(&features, &codes, &grid, &Run::default()).unwrap();
    features.u = Mat::from_fn(120, 4, |i, j| if i < 90 { features.u[(i, j)] } else { 1e3 });
    let more: Vec<Option<u32>> = (0..120).map(|i| codes.get(i).copied().flatten()).collect();
    assert_eq!(task.evaluate(&features, &more, &grid, &Run::default()).unwrap(), expected);
}

#[test]
fn settings_that_cannot_be_used_are_named() {
    let (graph, codes) = cyclic();
    let features = embedded(&graph, 5);
    let grid = [Grid { ranks: vec![5], penalties: vec![1.0] }];
    let fails = |task: NodeClassification, codes: &[Option<u32>], grid: &[Grid]| {
        task.evaluate(&features, codes, grid, &Run::default()).unwrap_err().to_string()
    };
    let task = NodeClassification::default();
    assert!(fails(NodeClassification { trials: 0, ..task.clone() }, &codes, &grid).contains("`trials` is 0"));
    assert!(fails(NodeClassification { folds: 1, ..task.clone() }, &codes, &grid).contains("`folds` is 1"));
    assert!(
        fails(NodeClassification { train_share: 1.0, ..task.clone() }, &codes, &grid).contains("`train share` is 1")
    );
    assert!(fails(task.clone(), &codes[1..], &grid).contains("number of labels"));
    assert!(fails(task.clone(), &vec![Some(1); 240], &grid).contains("two classes"));
    assert!(fails(task.clone(), &vec![None; 240], &grid).contains("two classes"));
    let bad = [Grid { ranks: vec![5], penalties: vec![-1.0] }];
    assert!(fails(task, &codes, &bad).contains("`penalty` is -1"));
}

#[test]
fn all_components_reconstruct_a_graph_without_error() {
    let (graph, _) = cyclic();
    let links = graph.adjacency().transpose();
    let features = LinearSvd::new(240).fit(&Dataset::new(Samples::Sparse(links.clone())), &Run::default()).unwrap();
    let found = reconstruct(&features, &links, 1.0, &Run::default()).unwrap();
    assert_eq!((found.errors, found.l1, found.l2), (0, 0.0, 0.0));
    let few = Features {
        u: features.u.subcols(0, 3).to_owned(),
        v: features.v.map(|v| v.subcols(0, 3).to_owned()),
        sigma: features.sigma[..3].to_vec(),
        ..features
    };
    let found = reconstruct(&few, &links, 1.0, &Run::default()).unwrap();
    // Norms of one matrix: ‖E‖_F / √rank ≤ ‖E‖₂ ≤ ‖E‖_F, and no column is longer than ‖E‖₂.
    assert!(found.errors > 0 && found.l2 < found.frobenius && found.l2 > found.frobenius / 240f64.sqrt());
    assert!(found.l1.sqrt() <= found.l2 + 1e-9);
}

/// Classes of the nodes of `graph`, in its order.
fn codes(set: &str, graph: &Graph) -> Vec<Option<u32>> {
    let folder = PathBuf::from(std::env::var_os("LOPSIDED_DATA").unwrap()).join(set);
    let labels: HashMap<String, String> = read_labels(&folder.join("labels.csv")).unwrap().into_iter().collect();
    let mut names: Vec<&String> = labels.values().collect();
    names.sort_unstable();
    names.dedup();
    let code = |id: &String| labels.get(id).and_then(|label| names.binary_search(&label).ok()).map(|at| at as u32);
    graph.ids().iter().map(code).collect()
}

/// At equal, small rank KSVD says more about the classes than the linear SVD does.
#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn cora_is_classified_better_by_ksvd_than_by_svd_of_the_same_rank() {
    let Some(folder) = std::env::var_os("LOPSIDED_DATA").map(PathBuf::from) else { return };
    let path =
        ["edges.csv", "edges.csv.gz"].map(|name| folder.join("cora").join(name)).into_iter().find(|p| p.exists());
    let Some(path) = path else { return };
    let Input::Graph(graph, _) = read::<f64>(&path, &ReadOptions::default()).unwrap() else { panic!("no edge list") };
    let (codes, run) = (codes("cora", &graph), Run::default());
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    let machine = KernelSvd::new("rbf").with_gamma(Gamma::Ksvd).with_gamma_factor(2.0).with_rank(60);
    let linear = LinearSvd::new(60).fit(&data, &run).unwrap();
    let kernel = Features::from(machine.fit(data, &run).unwrap());
    let task = NodeClassification { trials: 3, folds: 3, ..NodeClassification::default() };
    let grid = [Grid { ranks: vec![60], penalties: vec![1.0, 8.0, 64.0] }];
    let [kernel, linear] = [kernel, linear]
        .map(|features| summarize(&[task.evaluate(&features, &codes, &grid, &run).unwrap()], 0).micro_f1.mean);
    eprintln!("micro-F1 at rank 60: KSVD {kernel:.3}, SVD {linear:.3}");
    // The largest class has a share of 0.30.
    assert!(kernel > linear + 0.03 && kernel > 0.4, "{kernel} {linear}");
}

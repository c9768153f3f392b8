//! Features beside links and walks of several steps against plain loops.

use lopsided::base::settings::Settings;
use lopsided::data::node_features::NodeFeatures;
use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::{load_model, recipe};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{KernelMatrix, OperatorChoice};
use lopsided::{Csr, Dataset, Graph, GraphRule, KernelSvd, Links, Mat, Run, Samples, Scalar, Side, Target};
use proptest::prelude::*;

/// A number in [0, 1) for a pair, the same everywhere.
fn noise(i: usize, j: usize, seed: u64) -> f64 {
    let mixed = (i as u64 * 7919 + j as u64 * 104_729 + seed * 31 + 17).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// Features with so many zeros that they are words, or measurements of different units.
fn features<T: Scalar>(graph: &Graph, width: usize, words: bool, seed: u64) -> NodeFeatures<T> {
    let value = |i: usize, j: usize| {
        let v = noise(i, j, seed);
        if words { if v < 0.8 { 0.0 } else { 10.0 * v - 7.0 } } else { (v - 0.2) * 10f64.powi(j as i32) + 3.0 }
    };
    let samples = if words {
        let cells =
            |i: usize| (0..width).map(move |j| (i as u32, j as u32, T::of(value(i, j)))).filter(|c| c.2 != T::zero());
        Samples::Sparse(Csr::from_triplets(
            graph.nodes(),
            width,
            &(0..graph.nodes()).flat_map(cells).collect::<Vec<_>>(),
        ))
    } else {
        Samples::Dense(Mat::from_fn(graph.nodes(), width, |i, j| T::of(value(i, j))))
    };
    NodeFeatures::new(graph.ids().to_vec(), samples).unwrap()
}

fn unit(m: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(m.nrows(), m.ncols(), |i, j| {
        let length = m.row(i).norm_l2();
        if length > 0.0 { m[(i, j)] / length } else { 0.0 }
    })
}

/// Features as the samples have them, by plain loops: measurements are standardised.
fn prepared(features: &Samples<f64>, words: bool) -> Mat<f64> {
    let f = features.clone().into_dense();
    if words {
        return unit(&f);
    }
    let n = f.nrows() as f64;
    let mean = |j: usize| f.col(j).iter().sum::<f64>() / n;
    let deviation = |j: usize| (f.col(j).iter().map(|v| (v - mean(j)).powi(2)).sum::<f64>() / n).sqrt();
    let (means, deviations): (Vec<f64>, Vec<f64>) = (0..f.ncols()).map(|j| (mean(j), deviation(j))).unzip();
    unit(&Mat::from_fn(f.nrows(), f.ncols(), |i, j| (f[(i, j)] - means[j]) / deviations[j]))
}

/// (P + … + P^K)/K by dense products.
fn walked(p: &Mat<f64>, steps: usize) -> Mat<f64> {
    let (mut power, mut sum) = (p.clone(), p.clone());
    for _ in 1..steps {
        power = &power * p;
        sum += &power;
    }
    sum * faer::Scale(1.0 / steps as f64)
}

fn all_of<T: Scalar>(spec: &KernelSpec, data: &Dataset<T>, choice: OperatorChoice) -> Mat<f64> {
    let kernel = spec.build::<T>().unwrap();
    let matrix = KernelMatrix::new(&*kernel, data.x.as_ref(), data.cols().as_ref());
    let built = KernelMatrix { choice, ..matrix }.build().unwrap();
    let n = data.x.count();
    let mut g = Mat::zeros(n, n);
    built.operator.apply(Mat::<T>::identity(n, n).as_ref(), g.as_mut()).unwrap();
    Mat::from_fn(n, n, |i, j| g[(i, j)].as_f64())
}

/// Sum and product of the kernels of links and of features, through every operator.
fn kernels_of_both_agree<T: Scalar>(tol: f64, (nodes, words, weight, steps, seed): (usize, bool, f64, usize, u64)) {
    let graph = synth::random_graph(nodes, 2 * nodes, 12, seed).unwrap();
    let rule = GraphRule { walk: steps, ..GraphRule::default() };
    let given = features::<T>(&graph, 6, words, seed);
    let data = Dataset::<T>::from_graph(&graph, &rule).unwrap().with_features(&given, weight).unwrap();
    let w = walked(&graph.matrix::<f64>(&rule).unwrap().0.to_dense(), steps);
    let (p, c) = (unit(&w), unit(&w.transpose().to_owned()));
    let f = prepared(&features::<f64>(&graph, 6, words, seed).samples, words);
    let dot = |a: &Mat<f64>, i: usize, b: &Mat<f64>, j: usize| a.row(i) * b.row(j).transpose();
    let sum = Mat::from_fn(nodes, nodes, |i, j| (1.0 - weight) * dot(&p, i, &c, j) + weight * dot(&f, i, &f, j));
    let product = Mat::from_fn(nodes, nodes, |i, j| {
        let (links, own) = ((p.row(i) - c.row(j)).squared_norm_l2(), (f.row(i) - f.row(j)).squared_norm_l2());
        (-0.7 * (1.0 - weight) * links).exp() * (-0.7 * weight * own).exp()
    });
    for choice in [OperatorChoice::Auto, OperatorChoice::Sparse, OperatorChoice::Tiles, OperatorChoice::Dense] {
        let linear = all_of(&KernelSpec::new("linear"), &data, choice);
        let rbf = all_of(&KernelSpec::new("rbf").with("gamma", 0.7), &data, choice);
        assert!((linear - &sum).norm_max() < tol && (rbf - &product).norm_max() < tol, "{choice:?} {weight} {steps}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn the_kernel_of_both_is_their_sum_or_their_product(
        nodes in 3usize..40, words: bool, weight in prop::sample::select(vec![0.0, 0.2, 0.5, 1.0]), steps in 1usize..4, seed in 0u64..1000,
    ) {
        kernels_of_both_agree::<f64>(1e-12, (nodes, words, weight, steps, seed));
        kernels_of_both_agree::<f32>(2e-5, (nodes, words, weight, steps, seed));
    }

    #[test]
    fn a_weight_may_be_changed_afterwards(nodes in 3usize..40, words: bool, weight in 0.0f64..=1.0, seed in 0u64..1000) {
        let graph = synth::random_graph(nodes, 2 * nodes, 12, seed).unwrap();
        let given = features::<f64>(&graph, 5, words, seed);
        let data = || Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
        let (direct, later) = (data().with_features(&given, weight).unwrap(), data().with_features(&given, 0.5).unwrap());
        let later = later.with_feature_weight(weight).unwrap();
        for (a, b) in [(&direct.x, &later.x), (direct.cols(), later.cols())] {
            prop_assert!((a.clone().into_dense() - b.clone().into_dense()).norm_max() < 1e-14);
        }
        prop_assert_eq!(direct.frame, later.frame);
    }

    #[test]
    fn nodes_get_their_own_samples_back(nodes in 3usize..40, words: bool, out: bool, steps in 1usize..4, seed in 0u64..1000) {
        let graph = synth::random_graph(nodes, 2 * nodes, 12, seed).unwrap();
        let links = if out { Links::Out } else { Links::In };
        let given = features::<f64>(&graph, 5, words, seed);
        let rule = GraphRule { links, walk: steps, ..GraphRule::default() };
        let data = Dataset::<f64>::from_graph(&graph, &rule).unwrap().with_features(&given, 0.3).unwrap();
        let frame = data.frame.clone().unwrap();
        for (side, own) in [(Side::Row, &data.x), (Side::Col, data.cols())] {
            let (ids, links, _) =
                if side == Side::Row { frame.row_samples(&graph) } else { frame.col_samples(&graph) }.unwrap();
            for (known, given) in [(None, Some(&given)), (Some(own), None)] {
                let found = frame.with_features(&ids, links.clone(), known, given).unwrap();
                prop_assert!((found.to_dense() - own.clone().into_dense()).norm_max() < 1e-12);
            }
        }
    }
}

#[test]
fn missing_features_are_counted_and_named() {
    let graph = synth::random_graph(9, 20, 5, 1).unwrap();
    let whole = features::<f64>(&graph, 3, true, 1);
    let part =
        NodeFeatures::new(whole.ids[2..].to_vec(), whole.samples.as_ref().select(&[2, 3, 4, 5, 6, 7, 8])).unwrap();
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    let message = data.clone().with_features(&part, 0.5).unwrap_err().to_string();
    assert_eq!(message, "`features` is missing for 2 of 9 nodes, `0` the first but must be given for every node");
    for weight in [-0.1, 1.1, f64::NAN] {
        assert!(data.clone().with_features(&whole, weight).is_err());
    }
    let both = data.clone().with_features(&whole, 0.0).unwrap();
    assert!(both.with_feature_weight(0.5).is_err(), "what has lost its features cannot have them back");
    assert!(data.with_feature_weight(0.5).is_err() && both.with_features(&whole, 0.5).is_err());
    assert!(Dataset::new(whole.samples.clone()).with_features(&whole, 0.5).is_err());
    assert!(NodeFeatures::new(vec!["a".into(); 9], whole.samples.clone()).is_err());
}

/// Classes on a cycle by links, and words that tell some of them apart.
fn task(nodes: usize) -> (Graph, NodeFeatures<f64>, Vec<u32>) {
    let (graph, classes) = CyclicGraph { nodes, classes: 3, degree: 6.0, contrast: 0.8, seed: 5 }.generate().unwrap();
    let value = |i: usize, j: usize| {
        let own = classes[i] as usize == j % 3;
        if noise(i, j, 3) < if own { 0.35 } else { 0.2 } { 1.0 } else { 0.0 }
    };
    let samples = Samples::Dense(Mat::from_fn(nodes, 24, value));
    (graph.clone(), NodeFeatures::new(graph.ids().to_vec(), samples).unwrap(), classes)
}

fn labelled(data: Dataset<f64>, classes: &[u32], every: usize) -> Dataset<f64> {
    let names = (0..3).map(|c| c.to_string()).collect();
    let codes = classes.iter().enumerate().map(|(i, c)| (i % every != 0).then_some(*c)).collect();
    Dataset { y: Some(Target::Classes { names, codes }), ..data }
}

fn accuracy(decision: &Mat<f64>, truth: &[u32]) -> f64 {
    let found = lopsided::estimators::linear::largest_columns(decision.as_ref());
    found.iter().zip(truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64
}

#[test]
fn every_estimator_of_nodes_learns_from_both_and_says_how() {
    let (graph, given, classes) = task(240);
    let held: Vec<usize> = (0..240).step_by(4).collect();
    let truth: Vec<u32> = held.iter().map(|&i| classes[i]).collect();
    let nodes = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    for name in ["kernel-svd", "ask-ls", "ls-svm", "svm", "nu-svm", "logistic"] {
        let both = labelled(nodes.clone().with_features(&given, 0.5).unwrap(), &classes, 4);
        let wanted = both.rows(&held);
        let (_, machine) = recipe::estimator(name, Settings::default(), &both).unwrap();
        let model = machine.fit(both.clone(), &Run::default()).unwrap();
        let report = model.report();
        assert!(report.chosen.as_ref().unwrap().starts_with("feature-weight "), "{name}: {:?}", report.chosen);
        let weight = report.params["feature-weight"].as_f64().unwrap();
        let decision = model.decision(&wanted, &Run::default()).unwrap();
        // Far above a third, which is chance.
        assert!(accuracy(&decision, &truth) > 0.45, "{name}: {}", accuracy(&decision, &truth));
        let archive = model.archive();
        let again = load_model::<f64>(&archive).unwrap();
        assert!((again.decision(&wanted, &Run::default()).unwrap() - &decision).norm_max() < 1e-12, "{name}");
        assert_eq!(again.frame(), model.frame());
        let kept = recipe::of_archive(&archive).unwrap();
        assert_eq!(kept.get("feature-weight"), Some(weight), "{name}");
        // A weight of one's own is taken as it is.
        let fixed = Settings::default().with("feature-weight", 0.9);
        let (_, machine) = recipe::estimator(name, fixed, &both).unwrap();
        let model = machine.fit(both, &Run::default()).unwrap();
        assert_eq!(model.report().params["feature-weight"], 0.9);
    }
}

#[test]
fn a_held_out_part_is_scored_by_weights_chosen_without_it() {
    let (graph, given, classes) = task(90);
    let both = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap().with_features(&given, 0.5).unwrap();
    let both = labelled(both, &classes, 5);
    let fold: Vec<usize> = both.y.as_ref().unwrap().known().into_iter().step_by(3).collect();
    let (_, machine) = recipe::estimator("ls-svm", Settings::default(), &both).unwrap();
    let hidden = Dataset { y: both.y.clone().map(|y| y.without(|i| fold.contains(&i))), ..both.clone() };
    let by_hand = machine.fit(hidden, &Run::default()).unwrap().decision(&both.rows(&fold), &Run::default()).unwrap();
    let truth: Vec<u32> = fold.iter().map(|&i| classes[i]).collect();
    let point = Settings::default();
    let scores = machine.validate(&both, std::slice::from_ref(&point), &[fold], &Run::default()).unwrap();
    assert!((scores[0][0] - accuracy(&by_hand, &truth)).abs() < 1e-12);
}

#[test]
fn new_nodes_are_placed_by_links_and_features() {
    let (graph, given, _) = task(60);
    let rule = GraphRule { walk: 2, ..GraphRule::default() };
    let data = Dataset::<f64>::from_graph(&graph, &rule).unwrap().with_features(&given, 0.5).unwrap();
    let model = KernelSvd::new("linear").with_rank(5).with_solver("exact").fit(data.clone(), &Run::default()).unwrap();
    let frame = data.frame.as_ref().unwrap();
    // A stranger with the features of node 7 and links to nodes 1 and 2.
    let more = Graph::new(["x", "1", "2"].map(String::from).to_vec(), &[(1, 0, 1.0), (0, 2, 1.0)]).unwrap();
    let own = NodeFeatures::new(vec!["x".into()], given.samples.as_ref().select(&[7])).unwrap();
    let (ids, links, _) = frame.row_samples::<f64>(&more).unwrap();
    let placed = frame.with_features(&ids, links.clone(), Some(&data.x), Some(&own)).unwrap();
    let x = ids.iter().position(|id| id == "x").unwrap();
    let words = |row: (&[u32], &[f64])| {
        row.0.iter().zip(row.1).filter(|e| *e.0 >= 60).map(|e| (*e.0, *e.1)).collect::<Vec<_>>()
    };
    let Samples::Sparse(known) = &data.x else { panic!("dense") };
    assert_eq!(words(placed.row(x)), words(known.row(7)));
    assert!(model.project_rows(Samples::Sparse(placed).as_ref(), &Run::default()).is_ok());
    let missing = frame.with_features(&ids, links, Some(&data.x), None).unwrap_err().to_string();
    assert!(missing.contains("missing for 1 of 3 nodes, `x` the first"), "{missing}");
    let saved = lopsided::KernelSvdModel::<f64>::from_archive(&model.archive()).unwrap();
    assert_eq!(saved.data.frame, model.data.frame);
}

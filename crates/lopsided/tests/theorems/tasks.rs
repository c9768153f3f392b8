use crate::naive;
use faer::linalg::solvers::Solve;
use lopsided::data::synth::{self, CyclicGraph};
use lopsided::estimators::linear::LinearLsSvm;
use lopsided::evaluation::{Grid, HeldOut, NodeClassification, reconstruct, summarize};
use lopsided::metrics::{macro_f1, micro_f1, split};
use lopsided::operator::{Katz, Operator};
use lopsided::{
    Csr, Dataset, Features, Graph, GraphRule, Hope, KernelSvd, Kpca, LinearSvd, Links, Mat, Pca, Run, Samples, Side,
};
use proptest::prelude::*;

/// A square sparse matrix with entries of both signs.
fn square() -> impl Strategy<Value = Mat<f64>> {
    (2usize..9).prop_flat_map(|n| naive::sparse_matrix(n..n + 1, n))
}

fn csr(a: &Mat<f64>) -> Csr<f64> {
    let [_, Samples::Sparse(a)] = naive::both::<f64>(a) else { panic!("the second one is sparse") };
    a
}

/// (I − βA)⁻¹·βA.
fn dense_katz(a: &Mat<f64>, beta: f64) -> Mat<f64> {
    let scaled = faer::Scale(beta) * a;
    (Mat::<f64>::identity(a.nrows(), a.nrows()) - &scaled).partial_piv_lu().solve(&scaled)
}

/// U·Uᵀ, which does not depend on the choice among equal singular values.
fn projector(u: faer::MatRef<'_, f64>) -> Mat<f64> {
    u * u.transpose()
}

fn product(features: &Features<f64>) -> Mat<f64> {
    features.scaled(Side::Row, 1.0) * features.vectors(Side::Col).transpose()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn katz_products_and_blocks_equal_the_dense_inverse(a in square(), scale in 0.1..0.9) {
        let default = Katz::new(csr(&a), None).unwrap().beta();
        let katz = Katz::new(csr(&a), Some(2.0 * scale * default)).unwrap();
        let expected = dense_katz(&a, katz.beta());
        let n = a.nrows();
        let (mut s, mut st) = (Mat::zeros(n, n), Mat::zeros(n, n));
        let unit = Mat::<f64>::identity(n, n);
        katz.apply(unit.as_ref(), s.as_mut()).unwrap();
        katz.apply_transpose(unit.as_ref(), st.as_mut()).unwrap();
        let tol = 1e-11 * (1.0 + expected.norm_max());
        prop_assert!((&s - &expected).norm_max() < tol);
        prop_assert!((st - expected.transpose()).norm_max() < tol);
        let mut block = Mat::zeros(2, 1);
        katz.block(&[n - 1, 0], &[1], block.as_mut()).unwrap();
        prop_assert!((block[(0, 0)] - expected[(n - 1, 1)]).abs() < tol && (block[(1, 0)] - expected[(0, 1)]).abs() < tol);
    }

    #[test]
    fn hope_of_full_rank_is_the_proximity_itself(a in square()) {
        let n = a.nrows();
        let features = Hope::new(n).fit(&csr(&a), &Run::default()).unwrap();
        let beta = Katz::new(csr(&a), None).unwrap().beta();
        prop_assert!((product(&features) - dense_katz(&a, beta)).norm_max() < 1e-9);
    }

    #[test]
    fn principal_components_are_singular_vectors_of_the_centred_rows(x in naive::sparse_matrix(6..12, 4)) {
        for samples in naive::both::<f64>(&x) {
            let means: Vec<f64> = x.col_iter().map(|c| c.iter().sum::<f64>() / x.nrows() as f64).collect();
            let centred = Mat::from_fn(x.nrows(), 4, |i, j| x[(i, j)] - means[j]);
            let svd = centred.thin_svd().unwrap();
            let values: Vec<f64> = svd.S().column_vector().iter().copied().filter(|s| *s > 1e-5).collect();
            prop_assume!(values.len() == 4);
            let data = Dataset::new(samples);
            let features = Pca::new(4).fit(&data, &Run::default()).unwrap();
            prop_assert!(features.v.is_none());
            prop_assert!(features.sigma.iter().zip(&values).all(|(s, v)| (s - v * v).abs() < 1e-9 * values[0].powi(2)));
            let expected = projector(svd.U().subcols(0, 4));
            prop_assert!((projector(features.u.as_ref()) - &expected).norm_max() < 1e-6);
            let linear = Kpca::new("linear", 4).fit(&data, &Run::default()).unwrap();
            prop_assert!((projector(linear.u.as_ref()) - expected).norm_max() < 1e-6);
        }
    }

    #[test]
    fn linear_svd_of_full_rank_is_the_matrix_itself(a in square()) {
        for samples in naive::both::<f64>(&a) {
            let features = LinearSvd::new(a.nrows()).fit(&Dataset::new(samples), &Run::default()).unwrap();
            prop_assert!((product(&features) - &a).norm_max() < 1e-10);
        }
    }
}

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
    assert!(reconstruct(&few, &links, 1.0, &Run::default()).unwrap().errors > 0);
}

#[test]
fn links_that_were_taken_out_score_higher_than_pairs_without_link() {
    let (graph, _) = CyclicGraph { nodes: 600, classes: 3, degree: 60.0, contrast: 1.0, seed: 3 }.generate().unwrap();
    let held = HeldOut::split(&graph, 0.1, 1).unwrap();
    for links in [Links::In, Links::Out] {
        let rule = GraphRule { links, self_loops: false, normalize: false, unit: false, walk: 1 };
        let data = Dataset::<f64>::from_graph(&held.graph, &rule).unwrap();
        let features = LinearSvd::new(3).fit(&data, &Run::default()).unwrap();
        let right = held.evaluate(&features, links, 1.0).unwrap();
        assert!(right.auroc > 0.6 && right.average_precision > 0.6, "{right:?}");
        let turned = held.evaluate(&features, if links == Links::In { Links::Out } else { Links::In }, 1.0).unwrap();
        assert!(turned.auroc < right.auroc - 0.1, "{turned:?}");
    }
}

//! Kernels of graphs against dense inverses and Floyd and Warshall's distances.

use faer::linalg::solvers::Solve;
use lopsided::data::synth;
use lopsided::estimators::{AskLs, Merge, Model};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{Katz, KernelMatrix, ShortestPaths};
use lopsided::{Dataset, Error, Graph, GraphRule, Links, Mat, Run, Samples, Target, Watch};
use proptest::prelude::*;

fn graph(nodes: usize, seed: u64) -> Graph {
    synth::random_graph(nodes, 2 * nodes, nodes - 1, seed).unwrap()
}

/// All of G by products, its transpose by transposed products, and a block.
fn matrices(spec: &KernelSpec, data: &Dataset<f64>) -> lopsided::Result<(Mat<f64>, Mat<f64>, Mat<f64>)> {
    let kernel = spec.build::<f64>()?;
    let built = KernelMatrix::new(&*kernel, data.x.as_ref(), data.cols().as_ref()).build()?;
    let n = data.x.count();
    let (mut g, mut transposed, mut block) = (Mat::zeros(n, n), Mat::zeros(n, n), Mat::zeros(n, 2));
    built.operator.apply(Mat::<f64>::identity(n, n).as_ref(), g.as_mut())?;
    built.operator.apply_transpose(Mat::<f64>::identity(n, n).as_ref(), transposed.as_mut())?;
    built.operator.block(&(0..n).collect::<Vec<_>>(), &[n - 1, 0], block.as_mut())?;
    Ok((g, transposed, block))
}

/// Checks products, transposed products and blocks.
fn equal(spec: &KernelSpec, data: &Dataset<f64>, expected: &Mat<f64>) {
    let (g, transposed, block) = matrices(spec, data).unwrap();
    let n = g.nrows();
    // Dense eigenvalues have a few digits less than the rest.
    let tol = 1e-10 * (1.0 + expected.norm_max());
    assert!((&g - expected).norm_max() < tol, "{}", spec.name);
    assert!((transposed - expected.transpose()).norm_max() < tol, "{}", spec.name);
    let picked = Mat::from_fn(n, 2, |i, j| expected[(i, if j == 0 { n - 1 } else { 0 })]);
    assert!((block - picked).norm_max() < tol, "{}", spec.name);
}

fn dense(data: &Dataset<f64>) -> Mat<f64> {
    let Samples::Sparse(p) = &data.x else { panic!("the matrix of a graph is sparse") };
    p.to_dense()
}

/// Largest absolute eigenvalue: that of the strongly connected part where it is largest. Of the whole matrix, whose eigenvalues may
/// be defective, a dense solver finds half of the digits at best.
fn radius(a: &Mat<f64>) -> f64 {
    let (n, d) = (a.nrows(), distances(&a.transpose().to_owned()));
    let of_part = |i: usize| {
        let part: Vec<usize> = (0..n).filter(|&j| d[(i, j)].is_finite() && d[(j, i)].is_finite()).collect();
        let block = Mat::from_fn(part.len(), part.len(), |k, l| a[(part[k], part[l])]);
        block.eigenvalues().unwrap().iter().map(|v| v.norm()).fold(0.0, f64::max)
    };
    (0..n).map(of_part).fold(0.0, f64::max)
}

/// Floyd and Warshall.
fn distances(a: &Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    let mut d = Mat::from_fn(n, n, |i, j| match (i == j, a[(i, j)] != 0.0) {
        (true, _) => 0.0,
        (_, true) => 1.0,
        _ => f64::INFINITY,
    });
    for k in 0..n {
        for i in 0..n {
            (0..n).for_each(|j| d[(i, j)] = d[(i, j)].min(d[(i, k)] + d[(k, j)]));
        }
    }
    d
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn katz_is_the_dense_inverse_at_its_share_of_the_spectral_radius(n in 4usize..30, beta in 0.05..0.9, seed: u64) {
        let spec = KernelSpec::new("katz").with("beta", beta);
        let data = Dataset::from_graph(&graph(n, seed), &spec.graph_rule()).unwrap();
        let a = dense(&data);
        prop_assume!(radius(&a) > 0.5);
        let scaled = faer::Scale(beta / radius(&a)) * &a;
        equal(&spec, &data, &(Mat::<f64>::identity(n, n) - &scaled).partial_piv_lu().solve(&scaled));
    }

    #[test]
    fn page_rank_is_the_dense_inverse_and_its_rows_sum_to_one(n in 4usize..30, alpha in 0.05..0.95, seed: u64) {
        let spec = KernelSpec::new("ppr").with("alpha", alpha);
        let data = Dataset::from_graph(&graph(n, seed), &spec.graph_rule()).unwrap();
        let unit = Mat::<f64>::identity(n, n);
        let expected = (&unit - faer::Scale(alpha) * dense(&data)).partial_piv_lu().solve(&unit) * faer::Scale(1.0 - alpha);
        for i in 0..n {
            prop_assert!((expected.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-10);
        }
        equal(&spec, &data, &expected);
    }

    #[test]
    fn shortest_paths_are_those_of_floyd_and_warshall(n in 4usize..40, decay in 0.3..12.0f64, seed: u64) {
        let spec = KernelSpec::new("shortest-path").with("decay", decay);
        let data = Dataset::from_graph(&graph(n, seed), &spec.graph_rule()).unwrap();
        let d = distances(&dense(&data));
        let similar = |d: f64| if (-decay * d).exp() < 1e-4 { 0.0 } else { (-decay * d).exp() };
        equal(&spec, &data, &Mat::from_fn(n, n, |i, j| similar(d[(i, j)])));
    }
}

#[test]
fn links_have_a_direction() {
    // a → b → c.
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let chain = Graph::new(names, &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    for name in ["katz", "ppr", "shortest-path"] {
        let spec = KernelSpec::new(name);
        for links in [Links::In, Links::Out] {
            let data = Dataset::from_graph(&chain, &GraphRule { links, ..spec.graph_rule() }).unwrap();
            let (g, _, _) = matrices(&spec, &data).unwrap();
            let (with, against) = if links == Links::Out { ((0, 2), (2, 0)) } else { ((2, 0), (0, 2)) };
            assert!(g[with] > 0.0 && g[against] == 0.0, "{name}, {links:?}: {g:?}");
        }
    }
}

/// Real graphs, none of which is strongly connected.
#[test]
fn katz_on_public_graphs_is_at_its_share_of_the_spectral_radius() {
    let Ok(folder) = std::env::var("LOPSIDED_DATA") else { return };
    for (name, file) in [("cora", "edges.csv"), ("citeseer", "edges.csv"), ("pubmed", "edges.csv.gz")] {
        let path = std::path::Path::new(&folder).join(name).join(file);
        let Ok(lopsided::data::io::Input::Graph(graph, _)) =
            lopsided::data::io::read::<f64>(&path, &Default::default())
        else {
            continue;
        };
        let rule = KernelSpec::new("katz").graph_rule();
        let data = Dataset::<f64>::from_graph(&graph, &rule).unwrap();
        let Samples::Sparse(a) = data.x else { panic!("the matrix of a graph is sparse") };
        let beta = Katz::relative(a.clone(), 0.9).unwrap().beta();
        // ‖A^k·1‖ grows like radius^k·k^p, with p > 0 where parts of the same radius follow one another.
        let growth = |steps: usize| {
            let (mut v, mut log) = (Mat::from_fn(a.nrows(), 1, |_, _| 1.0), 0.0);
            for _ in 0..steps {
                v = Mat::from_fn(a.nrows(), 1, |i, _| {
                    let (cols, values) = a.row(i);
                    cols.iter().zip(values).map(|(&j, w)| w * v[(j as usize, 0)]).sum()
                });
                let size = v.norm_max();
                log += f64::ln(size);
                v *= faer::Scale(1.0 / size);
            }
            log
        };
        let (long, short) = (growth(2400) - growth(1200), growth(1200) - growth(600));
        let radius = ((long - short) / 600.0).exp();
        assert!((beta * radius / 0.9 - 1.0).abs() < 1e-4, "{name}: {beta} for the radius {radius}");
    }
}

#[test]
fn what_does_not_fit_the_memory_is_refused_before_it_is_stored() {
    let data = Dataset::<f64>::from_graph(&graph(500, 3), &GraphRule::default()).unwrap();
    let Samples::Sparse(p) = &data.x else { panic!("the matrix of a graph is sparse") };
    let paths = ShortestPaths { decay: 0.1, memory: 100_000, watch: &Watch::default() };
    let error = paths.operator(p).err().unwrap();
    assert!(matches!(error, Error::Memory { .. }) && error.to_string().contains("decay"), "{error}");
}

#[test]
fn a_model_is_that_of_the_matrix_given_and_other_nodes_are_refused() {
    let (graph, classes) = synth::CyclicGraph { nodes: 120, ..synth::CyclicGraph::default() }.generate().unwrap();
    let names: Vec<String> = (0..4).map(|c| c.to_string()).collect();
    let codes: Vec<Option<u32>> = classes.iter().enumerate().map(|(i, c)| (i % 2 == 0).then_some(*c)).collect();
    let run = Run::default();
    for name in ["katz", "ppr", "shortest-path"] {
        let machine = |kernel: &str| AskLs::new(kernel).with_penalty(0.1).with_merge(Merge::Average);
        let spec = KernelSpec::new(name);
        let mut data = Dataset::<f64>::from_graph(&graph, &spec.graph_rule()).unwrap();
        data.y = Some(Target::Classes { names: names.clone(), codes: codes.clone() });
        let others = data.rows(&(1..120).step_by(2).collect::<Vec<_>>());
        let model = machine(name).fit(data.clone(), &run).unwrap();
        let (g, _, _) = matrices(&spec, &data).unwrap();
        let given =
            Dataset { x: Samples::Dense(g.clone()), z: Some(Samples::Dense(g.transpose().to_owned())), ..data.clone() };
        let twin = machine("precomputed").fit(given, &run).unwrap();
        let off = model.decision(&others, &run).unwrap() - twin.decision(&others, &run).unwrap();
        assert!(off.norm_max() < 1e-6, "{name}: {}", off.norm_max());
        let stranger = Dataset { row_ids: Some(vec!["stranger".into()]), ..data.rows(&[0]) };
        let error = model.decision(&stranger, &run).unwrap_err().to_string();
        assert!(error.contains("not fitted with"), "{error}");
        let error = machine(name).fit(Dataset { frame: None, ..data }, &run).err().unwrap().to_string();
        assert!(error.contains("kernel of the nodes of a graph"), "{error}");
    }
}

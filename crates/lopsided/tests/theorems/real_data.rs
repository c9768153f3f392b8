//! Reference values on real data, read from the folder named by `LOPSIDED_DATA`; `make test` runs them where that is set, elsewhere they are ignored.

use lopsided::data::graph::Graph;
use lopsided::data::io::{Input, ReadOptions, read, read_labels};
use lopsided::kernel::Gamma;
use lopsided::metrics::{coherence, normalized_mutual_information};
use lopsided::operator::OperatorChoice;
use lopsided::{Biclustering, Dataset, GraphRule, KernelSvd, Mat, Run};
use std::path::PathBuf;

fn graph(set: &str) -> Option<Graph> {
    let Some(folder) = std::env::var_os("LOPSIDED_DATA").map(PathBuf::from) else {
        eprintln!("skipped: LOPSIDED_DATA is not set");
        return None;
    };
    let path = ["edges.csv", "edges.csv.gz"].map(|name| folder.join(set).join(name)).into_iter().find(|p| p.exists());
    let Some(path) = path else {
        eprintln!("skipped: no edge list of {set} in {}", folder.display());
        return None;
    };
    match read::<f64>(&path, &ReadOptions::default()).unwrap() {
        Input::Graph(graph, _) => Some(graph),
        Input::Table(_) => panic!("{} is not an edge list", path.display()),
    }
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn cora_has_the_variance_and_singular_values_of_the_reference() {
    let Some(graph) = graph("cora") else { return };
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    assert!((data.x.as_ref().variance() - 0.000_227_960).abs() < 5e-10);
    let model = KernelSvd::new("precomputed").with_rank(3).with_tol(1e-10).fit(data, &Run::default()).unwrap();
    for (s, expected) in model.singular_values().iter().zip([1.462_287_56, 1.425_679_50, 1.404_638_18]) {
        assert!((s - expected).abs() < 1e-8, "{s} {expected}");
    }
}

/// The sparse operator, the tiles and the stored matrix against a decomposition of the naively evaluated matrix.
#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn cora_sne_agrees_with_a_dense_reference_through_every_operator() {
    let Some(graph) = graph("cora") else { return };
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    let gamma = 1.0 / (data.x.width() as f64 * data.x.as_ref().variance());
    let reference = dense_reference(&data, gamma);
    for choice in [OperatorChoice::Sparse, OperatorChoice::Tiles, OperatorChoice::Dense] {
        let estimator =
            KernelSvd::new("sne").with_gamma(Gamma::Ksvd).with_rank(50).with_solver("lanczos").with_tol(1e-9);
        let model = estimator.with_operator(choice).fit(data.clone(), &Run::default()).unwrap();
        for (k, (s, r)) in model.singular_values().iter().zip(&reference).enumerate() {
            assert!((s - r).abs() <= 1e-10 * r, "{choice:?}: value {k} is {s}, reference {r}");
        }
    }
}

/// Singular values of the SNE matrix from explicit differences, without any of the library's kernels.
fn dense_reference(data: &Dataset<f64>, gamma: f64) -> Vec<f64> {
    let (lopsided::Samples::Sparse(x), lopsided::Samples::Sparse(z)) = (&data.x, data.cols()) else {
        panic!("samples of a graph are sparse")
    };
    let n = x.nrows();
    let z = z.to_dense();
    let sizes: Vec<f64> = (0..n).map(|j| z.row(j).squared_norm_l2()).collect();
    let mut g = Mat::zeros(n, n);
    for i in 0..n {
        let (cols, vals) = x.as_ref().row(i);
        let own: f64 = vals.iter().map(|v| v * v).sum();
        for j in 0..n {
            // |x − z|² over the coordinates of x, and those of z outside them.
            let shared: f64 = cols.iter().map(|&k| z[(j, k as usize)].powi(2)).sum();
            let apart: f64 = cols.iter().zip(vals).map(|(&k, v)| (v - z[(j, k as usize)]).powi(2)).sum();
            let distance = if shared == 0.0 { own + sizes[j] } else { apart + sizes[j] - shared };
            g[(i, j)] = (-gamma * distance).exp();
        }
        let sum: f64 = (0..n).map(|j| g[(i, j)]).sum();
        (0..n).for_each(|j| g[(i, j)] /= sum);
    }
    g.singular_values().unwrap()
}

#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn pubmed_sne_converges_although_thousands_of_values_coincide() {
    let Some(graph) = graph("pubmed") else { return };
    let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default()).unwrap();
    assert!((data.x.as_ref().variance() - 2.284_41e-5).abs() < 5e-11);
    let estimator = KernelSvd::new("sne").with_gamma(Gamma::Ksvd).with_gamma_factor(0.5).with_rank(20).with_tol(1e-6);
    let model = estimator.fit(data, &Run::default()).unwrap();
    let report = model.report();
    eprintln!(
        "{} products, {} restarts, {:.2} s in products, {:.2} s else",
        report.products, report.restarts, report.seconds_in_operator, report.seconds_in_ortho
    );
    assert_eq!(model.operator, "sparse");
    assert!(report.converged() && report.residual() <= 1e-6, "{}", report.residual());
    let sigma = model.singular_values();
    for (k, expected) in [(0, 1.441_600_86), (1, 0.593_434_99), (2, 0.593_351_12), (19, 0.572_463_26)] {
        assert!((sigma[k] - expected).abs() < 2e-8, "{k}: {} {expected}", sigma[k]);
    }
}

/// \[KSVD\] Section 4.2: rows of unit length, aligned pca, median gamma, centred, rank 20.
#[test]
#[ignore = "needs LOPSIDED_DATA"]
fn acm_documents_are_clustered_into_their_classes() {
    let Some(folder) = std::env::var_os("LOPSIDED_DATA").map(|f| PathBuf::from(f).join("acm")) else {
        eprintln!("skipped: LOPSIDED_DATA is not set");
        return;
    };
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    }
    let Input::Table(table) = read::<f64>(&folder.join("features.mtx.gz"), &ReadOptions::default()).unwrap() else {
        panic!("acm is not a matrix")
    };
    let labels = read_labels(&folder.join("labels.csv")).unwrap();
    let truth: Vec<u32> = labels.iter().map(|(_, label)| label.parse().unwrap()).collect();
    let model = Biclustering::new("rbf", 3, 3).fit(table.samples.clone(), &Run::default()).unwrap();
    let nmi = normalized_mutual_information(&truth, &model.row_clusters);
    assert!(nmi > 0.6, "{nmi}");
    assert!(coherence(&table.samples, &model.col_clusters) > 0.0);
}

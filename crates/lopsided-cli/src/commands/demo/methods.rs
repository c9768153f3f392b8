//! Three ways to embed the same graph.

use super::{Example, FEATURES};
use lopsided::kernel::Gamma;
use lopsided::{Dataset, Graph, GraphRule, KernelSvd, KernelSvdModel, Mat, Result, Run, Samples, Side};

/// One way, with what it found.
pub(super) struct Method {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// One row per node; columns have length √n.
    pub(super) features: Mat<f64>,
    pub(super) model: KernelSvdModel<f64>,
}

/// Linear SVD, KPCA without directions, KSVD.
pub(super) fn all(example: &Example, run: &Run) -> Result<Vec<Method>> {
    let directed = || Dataset::from_graph(&example.graph, &GraphRule::default());
    let svd = KernelSvd::new("precomputed").with_rank(FEATURES / 2).fit(directed()?, run)?;
    let kpca = kernel("rbf").with_rank(FEATURES).with_center(true).fit(undirected(&example.graph)?, run)?;
    let ksvd = kernel("sne").with_rank(FEATURES / 2).fit(directed()?, run)?;
    let (both, rows): (&[Side], &[Side]) = (&[Side::Row, Side::Col], &[Side::Row]);
    Ok(vec![
        method("SVD", "linear, of the link matrix", svd, both),
        method("KPCA", "RBF kernel, directions forgotten", kpca, rows),
        method("KSVD", "asymmetric SNE kernel", ksvd, both),
    ])
}

/// Both kernels with the same rule for their width.
fn kernel(name: &str) -> KernelSvd {
    KernelSvd::new(name).with_gamma(Gamma::Ksvd)
}

/// The graph with every link in both directions, rows against rows: what a symmetric kernel sees.
fn undirected(graph: &Graph) -> Result<Dataset<f64>> {
    let adjacency = graph.adjacency();
    let from = |i: usize| adjacency.row(i).0.iter().map(move |&j| (i as u32, j));
    let both = (0..graph.nodes()).flat_map(from).flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0)]);
    let symmetric = Graph::new(graph.ids().to_vec(), &both.collect::<Vec<_>>())?;
    Ok(Dataset::new(Samples::Sparse(symmetric.matrix(&GraphRule::default())?.0)))
}

fn method(name: &'static str, about: &'static str, model: KernelSvdModel<f64>, sides: &[Side]) -> Method {
    let parts: Vec<Mat<f64>> = sides.iter().map(|side| model.embedding(*side)).collect();
    let rank = model.singular_values().len();
    let nodes = parts[0].nrows();
    let scale = (nodes as f64).sqrt();
    let features = Mat::from_fn(nodes, rank * parts.len(), |i, j| parts[j / rank][(i, j % rank)] * scale);
    Method { name, about, features, model }
}

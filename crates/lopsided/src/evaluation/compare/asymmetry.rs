//! How asymmetric data are, before anything is learned.

use super::nodes::embedded;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::graph::{Graph, GraphRule};
use crate::data::samples::{Csr, Side};
use crate::estimators::recipe::{self, Usual};
use crate::estimators::{Impute, Preparation, Scale};
use crate::operator::{KernelMatrix, materialize};
use faer::Mat;

/// Leading components whose two sides are compared.
const COMPONENTS: usize = 16;
/// Rows of a table that a kernel matrix is measured on.
const ROWS: usize = 400;

/// Measures of asymmetry, each between 0 (none) and 1; those that do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Asymmetry {
    /// ‖A − Aᵀ‖ / ‖A + Aᵀ‖ of the links of a graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<f64>,
    /// The same of P = D⁻¹(A + I), of which kernels are made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<f64>,
    /// Share of the links between different nodes that have a counterpart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reciprocated: Option<f64>,
    /// ‖UᵀV‖²/r of the leading r singular vectors of P: 1 where both sides see the same, 0 where they have nothing in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<f64>,
    /// ‖K − Kᵀ‖ / ‖K + Kᵀ‖ of the SNE kernel of the rows of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sne: Option<f64>,
    /// The same of the T kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
}

impl Asymmetry {
    /// Of the links of a graph.
    ///
    /// # Errors
    /// Those of [`Graph::matrix`] and of the SVD.
    pub fn of_graph(graph: &Graph, run: &Run) -> Result<Self> {
        let a = graph.adjacency();
        let (p, _) = graph.matrix::<f64>(&GraphRule::default())?;
        let rank = COMPONENTS.min(graph.nodes().max(2) - 1);
        let features =
            embedded(&Settings::default().with("kernel", "precomputed").with("links", "in"), rank, graph, run)?;
        let between = features.vectors(Side::Row).transpose() * features.vectors(Side::Col);
        let overlap = between.squared_norm_l2() / features.rank().max(1) as f64;
        Ok(Asymmetry {
            links: Some(of_matrix(a)),
            matrix: Some(of_matrix(&p)),
            reciprocated: Some(reciprocated(a)),
            overlap: Some(overlap),
            ..Asymmetry::default()
        })
    }

    /// Of the kernels of the rows of a table, on some of many.
    ///
    /// # Errors
    /// Those of the preparation of its columns and of the kernels.
    pub fn of_rows(data: &Dataset<f64>, run: &Run) -> Result<Self> {
        let count = data.x.count();
        let rows: Vec<usize> = (0..count).step_by(count.div_ceil(ROWS).max(1)).collect();
        let some = Dataset { y: None, ..data.rows(&rows) };
        let everything: Vec<usize> = (0..rows.len()).collect();
        let preparation = Preparation::learn(&some, &everything, Scale::Auto, Impute::None)?;
        let prepared = Dataset { columns: None, ..preparation.apply(&some)?.into_owned() };
        let of = |settings: Settings| kernel_asymmetry(settings, &prepared, run).map(Some);
        let sne = of(Settings::default().with("kernel", "sne").with("gamma", "median"))?;
        Ok(Asymmetry { sne, t: of(Settings::default().with("kernel", "t"))?, ..Asymmetry::default() })
    }

    /// Whether every link has a counterpart of the same weight.
    pub fn is_none(&self) -> bool {
        self.links.is_some_and(|links| links < 1e-12)
    }
}

/// ‖A − Aᵀ‖ / ‖A + Aᵀ‖ in the Frobenius norm; 0 for a matrix of zeros.
fn of_matrix(a: &Csr<f64>) -> f64 {
    let at = a.transpose();
    let (mut difference, mut sum) = (0.0, 0.0);
    for i in 0..a.nrows() {
        merged(a.row(i), at.row(i), |_, x, y| {
            difference += (x - y).powi(2);
            sum += (x + y).powi(2);
        });
    }
    if sum > 0.0 { (difference / sum).sqrt() } else { 0.0 }
}

/// Share of the links between different nodes whose counterpart is there too; 1 where there are none.
fn reciprocated(a: &Csr<f64>) -> f64 {
    let at = a.transpose();
    let (mut links, mut both) = (0_usize, 0_usize);
    for i in 0..a.nrows() {
        merged(a.row(i), at.row(i), |j, x, y| {
            let there = x != 0.0 && j as usize != i;
            links += usize::from(there);
            both += usize::from(there && y != 0.0);
        });
    }
    if links > 0 { both as f64 / links as f64 } else { 1.0 }
}

/// Calls `visit` with the column and both values wherever one of two sorted rows has an entry.
fn merged(a: (&[u32], &[f64]), b: (&[u32], &[f64]), mut visit: impl FnMut(u32, f64, f64)) {
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() || j < b.0.len() {
        let (left, right) = (a.0.get(i).copied().unwrap_or(u32::MAX), b.0.get(j).copied().unwrap_or(u32::MAX));
        let at = left.min(right);
        let x = if left == at { a.1[i] } else { 0.0 };
        let y = if right == at { b.1[j] } else { 0.0 };
        visit(at, x, y);
        i += usize::from(left == at);
        j += usize::from(right == at);
    }
}

fn kernel_asymmetry(mut given: Settings, data: &Dataset<f64>, run: &Run) -> Result<f64> {
    let gram = recipe::take_gram(&mut given, &Usual::ROWS)?;
    let (_, kernel) = gram.built_kernel(data, run.seed)?;
    let built = KernelMatrix::new(&*kernel, data.x.as_ref(), data.x.as_ref()).build()?;
    let k: Mat<f64> = materialize(&*built.operator)?;
    let (difference, sum) = (&k - k.transpose(), &k + k.transpose());
    Ok(difference.norm_l2() / sum.norm_l2())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(u32, u32, f64)]) -> Graph {
        Graph::new((0..4).map(|i| i.to_string()).collect(), links).unwrap()
    }

    #[test]
    fn measures_of_links_are_those_of_dense_matrices() {
        let one_way = graph(&[(0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0), (3, 3, 5.0)]);
        let a = one_way.adjacency().to_dense();
        let expected = (&a - a.transpose()).norm_l2() / (&a + a.transpose()).norm_l2();
        let found = Asymmetry::of_graph(&one_way, &Run::default()).unwrap();
        assert!((found.links.unwrap() - expected).abs() < 1e-12);
        assert!(found.reciprocated == Some(0.0) && !found.is_none());
        let half = graph(&[(0, 1, 1.0), (1, 0, 1.0), (2, 3, 1.0), (1, 3, 1.0)]);
        assert_eq!(Asymmetry::of_graph(&half, &Run::default()).unwrap().reciprocated, Some(0.5));
        let both = graph(&[(0, 1, 2.0), (1, 0, 2.0), (2, 3, 1.0), (3, 2, 1.0), (1, 2, 1.0), (2, 1, 1.0)]);
        let found = Asymmetry::of_graph(&both, &Run::default()).unwrap();
        assert!(found.is_none() && found.reciprocated == Some(1.0));
    }

    #[test]
    fn kernels_of_rows_are_more_or_less_asymmetric() {
        let x = crate::data::synth::gaussian::<f64>(60, 3, 1);
        let data = Dataset::new(crate::data::samples::Samples::Dense(x));
        let found = Asymmetry::of_rows(&data, &Run::default()).unwrap();
        assert!(found.sne.unwrap() > 0.01 && found.sne.unwrap() < 1.0 && found.t.unwrap() > 0.001);
        assert!(found.links.is_none() && !found.is_none());
    }
}

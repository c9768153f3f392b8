//! Who takes part in a comparison, and what each may choose from.

use crate::base::settings::Settings;
use crate::estimators::Point;

/// Whether a method sees a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Rows and columns have features of their own, or the kernel is not symmetric.
    Asymmetric,
    /// The direction is averaged away, or the kernel is symmetric.
    Symmetric,
}

/// A method with its candidates: every point with every matrix.
pub(super) struct Contender {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) family: Family,
    pub(super) estimator: &'static str,
    /// Settings that make the kernel matrix.
    pub(super) matrices: Vec<Settings>,
    /// Settings of the machine on it.
    pub(super) points: Vec<Point>,
}

impl Contender {
    /// Whether it learns from features of all nodes, which no label has a say in.
    pub(super) fn embeds(&self) -> bool {
        self.estimator == "kernel-svd"
    }

    pub(super) fn candidates(&self) -> usize {
        self.matrices.len() * self.points.len()
    }
}

/// Features of each node from which a linear machine learns: a method with two sides has half of them on each.
const FEATURES: [usize; 2] = [32, 128];
/// Components of the rows of a table.
const COMPONENTS: [usize; 2] = [8, 64];
/// Penalties of a linear machine on features of unit length.
const OF_FEATURES: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// Penalties beside kernel values of about 1, and beside rows of sums 1.
const OF_KERNELS: [f64; 8] = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1000.0];
const OF_SHARES: [f64; 8] = [0.3, 1.0, 3.0, 10.0, 100.0, 1000.0, 1e4, 1e5];
/// Tolerance of the decompositions: their leading vectors are features, not results.
const TOLERANCE: f64 = 1e-3;

fn of(kernel: &str) -> Settings {
    Settings::default().with("kernel", kernel)
}

/// Each penalty as a point.
fn penalties(values: &[f64]) -> Vec<Point> {
    values.iter().map(|&penalty| Point::default().with("penalty", penalty)).collect()
}

/// Every rank with every penalty, features as they are and scaled.
fn features(ranks: impl IntoIterator<Item = usize>) -> Vec<Point> {
    let mut ranks: Vec<usize> = ranks.into_iter().collect();
    ranks.dedup();
    let of_rank = |rank: usize| {
        let scaled = move |scaling: &'static str| {
            penalties(&OF_FEATURES).into_iter().map(move |point| point.with("rank", rank).with("scaling", scaling))
        };
        ["none", "sqrt"].into_iter().flat_map(scaled)
    };
    ranks.into_iter().flat_map(of_rank).collect()
}

/// Methods for the nodes of a graph: each of five, with the direction of links and without.
pub(super) fn of_nodes(nodes: usize) -> Vec<Contender> {
    use Family::{Asymmetric, Symmetric};
    let both = |family: Family, matrices: [Settings; 2]| -> Vec<Settings> {
        let links = if family == Asymmetric { "in" } else { "either" };
        matrices.into_iter().map(|matrix| matrix.with("links", links)).collect()
    };
    let embedding = |name, about, family, matrices: [Settings; 2]| {
        let sides = if family == Asymmetric { 2 } else { 1 };
        let points = features(FEATURES.map(|count| (count / sides).min(nodes.max(2) - 1)));
        let matrices = both(family, matrices.map(|matrix| matrix.with("tol", TOLERANCE)));
        Contender { name, about, family, estimator: "kernel-svd", matrices, points }
    };
    let machine = |name, about, family, estimator| {
        let matrices = both(family, [of("precomputed"), of("rbf")]);
        Contender { name, about, family, estimator, matrices, points: penalties(&OF_KERNELS) }
    };
    let plain = || [of("precomputed"), of("precomputed").with("normalize", "none")];
    let kernels = || [of("rbf"), of("rbf").with("gamma-factor", 1.0)];
    let katz = || [of("katz"), of("katz").with("beta", 0.9)];
    let walks = || [of("ppr"), of("ppr").with("alpha", 0.5)];
    vec![
        embedding("svd", "SVD of the links, both sides", Asymmetric, plain()),
        embedding("ksvd", "kernel SVD, arriving links against leaving ones", Asymmetric, kernels()),
        machine("ask-ls", "AsK-LS of the links and of their kernel", Asymmetric, "ask-ls"),
        embedding("katz", "Katz proximity, both sides", Asymmetric, katz()),
        embedding("page-rank", "personalised PageRank, both sides", Asymmetric, walks()),
        embedding("undirected-svd", "SVD of the links without direction", Symmetric, plain()),
        embedding("kpca", "kernel PCA of the links without direction", Symmetric, kernels()),
        machine("ls-svm", "LS-SVM of the symmetrised links and kernel", Symmetric, "ls-svm"),
        embedding("undirected-katz", "Katz proximity without direction", Symmetric, katz()),
        embedding("undirected-page-rank", "personalised PageRank without direction", Symmetric, walks()),
    ]
}

/// Methods for the rows of a table with so many columns, of which at least so many rows are learned from.
pub(super) fn of_rows(columns: usize, rows: usize) -> Vec<Contender> {
    use Family::{Asymmetric, Symmetric};
    let embedding = |name, about, family, most: usize, matrices: [Settings; 2]| {
        let points = features(COMPONENTS.map(|count| count.min(most).max(1)));
        Contender { name, about, family, estimator: "kernel-svd", matrices: matrices.to_vec(), points }
    };
    let machine = |name, about, family, estimator, matrices: [Settings; 2], values: &[f64]| Contender {
        name,
        about,
        family,
        estimator,
        matrices: matrices.to_vec(),
        points: penalties(values),
    };
    let wide = |matrix: Settings| matrix.with("gamma", "median").with("gamma-factor", 2.0);
    let near = |matrix: Settings| matrix.with("gamma", "median");
    let against_columns = |kernel: &str| near(of(kernel)).with("compat", "pca");
    let (few, some) = (columns.min(rows), rows / 2);
    let svd = [of("linear"), of("linear").with("scale", "standard")];
    vec![
        embedding(
            "ksvd-columns",
            "kernel SVD, rows against columns",
            Asymmetric,
            few,
            ["sne", "rbf"].map(against_columns),
        ),
        embedding("ksvd", "kernel SVD of rows, SNE", Asymmetric, some, [near(of("sne")), wide(of("sne"))]),
        machine("ask-ls", "AsK-LS of rows, SNE and T", Asymmetric, "ask-ls", [near(of("sne")), of("t")], &OF_SHARES),
        embedding("svd", "SVD of the table", Symmetric, few, svd),
        embedding("kpca", "kernel PCA of rows, RBF", Symmetric, some, [near(of("rbf")), wide(of("rbf"))]),
        machine("ls-svm", "LS-SVM of rows, RBF", Symmetric, "ls-svm", [near(of("rbf")), wide(of("rbf"))], &OF_KERNELS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_of_one_size_and_budgets_are_equal_within_a_kind() {
        for all in [of_nodes(1000), of_rows(30, 200)] {
            let of = |family: Family| all.iter().filter(move |c| c.family == family);
            assert_eq!(of(Family::Asymmetric).count(), of(Family::Symmetric).count());
            for embeds in [true, false] {
                let budgets: Vec<usize> =
                    all.iter().filter(|c| c.embeds() == embeds).map(Contender::candidates).collect();
                assert!(budgets.iter().all(|b| *b == budgets[0]), "{budgets:?}");
            }
        }
    }

    #[test]
    fn ranks_fit_small_data() {
        let ranks = |all: Vec<Contender>| -> Vec<f64> {
            all.iter().flat_map(|c| c.points.iter().filter_map(|p| p.get("rank"))).collect()
        };
        assert!(ranks(of_nodes(10)).iter().all(|r| *r >= 1.0 && *r <= 9.0));
        assert!(ranks(of_rows(1, 8)).iter().all(|r| *r >= 1.0 && *r <= 4.0));
    }
}

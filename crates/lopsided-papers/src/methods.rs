//! The methods of \[KSVD\] Table 1, and two kernels of a graph that look further than one link.

use super::sets::GraphSet;
use lopsided::estimators::SolverSpec;
use lopsided::kernel::Gamma;
use lopsided::{Error, Features, Hope, KernelSvd, Kpca, LinearSvd, Pca, Result, Run};

/// A way to embed the nodes of a graph.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) name: &'static str,
    /// Whether it has a bandwidth to choose.
    pub(super) tunable: bool,
    embed: fn(&GraphSet, &Setting, &Run) -> Result<Features<f64>>,
}

/// What all methods are asked for.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) rank: usize,
    pub(super) solver: SolverSpec,
    /// Multiplies the bandwidth.
    pub(super) factor: f64,
}

/// All of them. The order is that of the table.
static METHODS: [Method; 8] = [
    Method { name: "PCA", tunable: false, embed: pca },
    Method { name: "KPCA", tunable: true, embed: kpca },
    Method { name: "SVD", tunable: false, embed: linear_svd },
    Method { name: "KSVD RBF", tunable: true, embed: |set, setting, run| kernel_svd("rbf", set, setting, run) },
    Method { name: "KSVD SNE", tunable: true, embed: |set, setting, run| kernel_svd("sne", set, setting, run) },
    Method { name: "HOPE", tunable: false, embed: hope },
    Method { name: "Katz", tunable: false, embed: |set, setting, run| kernel_svd("katz", set, setting, run) },
    Method { name: "PageRank", tunable: false, embed: |set, setting, run| kernel_svd("ppr", set, setting, run) },
];

/// Where the table has a method; unknown ones come last.
pub(super) fn place(name: &str) -> usize {
    METHODS.iter().position(|method| method.name == name).unwrap_or(METHODS.len())
}

/// The methods of these names, in the order of the table; without names all.
///
/// # Errors
/// [`Error::Param`] for a name that no method has.
pub(super) fn chosen(names: &[String]) -> Result<Vec<&'static Method>> {
    let is = |method: &Method, name: &String| method.name.eq_ignore_ascii_case(name);
    if let Some(unknown) = names.iter().find(|name| !METHODS.iter().any(|m| is(m, name))) {
        let all: Vec<&str> = METHODS.iter().map(|m| m.name).collect();
        return Err(Error::param("methods", unknown, format!("one of {}", all.join(", "))));
    }
    Ok(METHODS.iter().filter(|m| names.is_empty() || names.iter().any(|name| is(m, name))).collect())
}

impl Method {
    pub(super) fn embed(&self, set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
        (self.embed)(set, setting, run)
    }
}

fn pca(set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
    Pca { rank: setting.rank, solver: setting.solver.clone() }.fit(&set.data, run)
}

fn kpca(set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
    let solver = setting.solver.clone();
    Kpca { gamma: Gamma::Ksvd, gamma_factor: setting.factor, solver, ..Kpca::new("rbf", setting.rank) }
        .fit(&set.data, run)
}

fn linear_svd(set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
    LinearSvd { rank: setting.rank, solver: setting.solver.clone() }.fit(&set.data, run)
}

fn kernel_svd(kernel: &str, set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
    let machine = KernelSvd::new(kernel)
        .with_gamma(Gamma::Ksvd)
        .with_gamma_factor(setting.factor)
        .with_rank(setting.rank)
        .with_solver(&setting.solver.name)
        .with_solver_params(setting.solver.params.clone());
    Ok(machine.fit(set.data.clone(), run)?.into())
}

fn hope(set: &GraphSet, setting: &Setting, run: &Run) -> Result<Features<f64>> {
    Hope { solver: setting.solver.clone(), ..Hope::new(setting.rank) }.fit(&set.links, run)
}

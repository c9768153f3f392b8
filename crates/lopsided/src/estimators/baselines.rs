//! Methods that kernel SVD is measured against.

use super::{Features, Gram, KernelSvd, Scaling};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::samples::Csr;
use crate::kernel::{Gamma, KernelSpec};
use crate::operator::Katz;
use crate::solvers::svd;

/// A solver by name, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SolverSpec {
    /// Name in the list of [`svd::solvers`].
    pub name: String,
    /// Its parameters, such as `tol`.
    pub params: Settings,
}

impl SolverSpec {
    /// A solver without parameters.
    pub fn new(name: &str) -> Self {
        SolverSpec { name: name.into(), params: Settings::default() }
    }
}

impl Default for SolverSpec {
    fn default() -> Self {
        SolverSpec::new("auto")
    }
}

/// Principal components of the row samples.
///
/// Eigenvectors of the centred Gram matrix (I − 11ᵀ/n)·X·Xᵀ·(I − 11ᵀ/n), found from products with X and Xᵀ: neither the Gram
/// matrix nor the covariance is formed. `sigma` are its eigenvalues, the squared singular values of the centred X.
#[derive(Clone, Debug)]
pub struct Pca {
    /// Number of components.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

impl Pca {
    /// Components by the automatic solver.
    pub fn new(rank: usize) -> Self {
        Pca { rank, solver: SolverSpec::default() }
    }

    /// Components of X; Z is not looked at.
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`].
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Features<T>> {
        let machine = machine("linear", self.rank, &self.solver).with_center(true);
        Ok(Features::from(machine.fit(Dataset::new(data.x.clone()), run)?).one_sided())
    }
}

/// Kernel principal components: a symmetric kernel over the row samples twice (\[KSVD\] App. C.1).
#[derive(Clone, Debug)]
pub struct Kpca {
    /// The kernel; a `gamma` among its parameters wins over [`Kpca::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found for the kernels that need one.
    pub gamma: Gamma,
    /// Multiplies the bandwidth: gamma is divided by its square.
    pub gamma_factor: f64,
    /// Centres the feature map.
    pub center: bool,
    /// Number of components.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

impl Kpca {
    /// Centred, gamma `scale`, the automatic solver.
    pub fn new(kernel: &str, rank: usize) -> Self {
        Kpca {
            kernel: KernelSpec::new(kernel),
            gamma: Gamma::default(),
            gamma_factor: 1.0,
            center: true,
            rank,
            solver: SolverSpec::default(),
        }
    }

    /// Components of X; Z is not looked at.
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`].
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Features<T>> {
        let gram = Gram::from(self.kernel.clone()).with_gamma(self.gamma).with_gamma_factor(self.gamma_factor);
        let machine = machine(gram, self.rank, &self.solver).with_center(self.center);
        Ok(Features::from(machine.fit(Dataset::new(data.x.clone()), run)?).one_sided())
    }
}

/// Singular value decomposition of the data matrix X itself: X·V = U·Σ.
#[derive(Clone, Debug)]
pub struct LinearSvd {
    /// Number of triplets.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

impl LinearSvd {
    /// Triplets by the automatic solver.
    pub fn new(rank: usize) -> Self {
        LinearSvd { rank, solver: SolverSpec::default() }
    }

    /// Triplets of X; Z is not looked at.
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`].
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Features<T>> {
        let machine = machine("precomputed", self.rank, &self.solver);
        Ok(machine.fit(Dataset::new(data.x.clone()), run)?.into())
    }
}

/// High-order proximity preserved embedding: U·√Σ and V·√Σ from the Katz proximity of a graph, S = U·Σ·Vᵀ (\[HOPE\]).
///
/// S = (I − βA)⁻¹·βA is multiplied, never formed: see [`Katz`].
#[derive(Clone, Debug)]
pub struct Hope {
    /// Weight of a path per link; `None`: 0.5 / spectral radius.
    pub beta: Option<f64>,
    /// Number of triplets.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

impl Hope {
    /// β by the spectral radius, triplets by the automatic solver.
    pub fn new(rank: usize) -> Self {
        Hope { beta: None, rank, solver: SolverSpec::default() }
    }

    /// Embeds the nodes of the graph with this matrix, one row per node.
    ///
    /// # Errors
    /// Those of [`Katz::new`], and [`crate::Error::Param`] for a rank or solver parameter out of range.
    pub fn fit<T: Scalar>(&self, adjacency: &Csr<T>, run: &Run) -> Result<Features<T>> {
        let katz = Katz::new(adjacency.clone(), self.beta)?;
        let solver = svd::solver::<T>(&self.solver.name, &self.solver.params)?;
        let mut svd = solver.solve(&katz, self.rank, run)?;
        svd.report.notes.extend(katz.notes().iter().cloned());
        Ok(Features::two_sided(svd, Scaling::Sqrt))
    }
}

fn machine(gram: impl Into<Gram>, rank: usize, solver: &SolverSpec) -> KernelSvd {
    KernelSvd::new(gram).with_rank(rank).with_solver(&solver.name).with_solver_params(solver.params.clone())
}

//! Methods that kernel SVD is measured against.
//!
//! | method | decomposes | sides | sees directions |
//! | --- | --- | --- | --- |
//! | [`Pca`] | centred X·Xᵀ | one | no |
//! | [`Kpca`] | centred k(X, X) | one | no |
//! | [`LinearSvd`] | X itself | two | yes, links of length one |
//! | [`Hope`] | Katz proximity of a graph | two | yes, paths of all lengths |
//!
//! All give [`Features`], so that evaluations treat them and the kernel SVD alike.

use super::{Features, Gram, KernelSvd, Scaling};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::samples::Csr;
use crate::kernel::{Gamma, KernelSpec};
use crate::operator::Katz;
use crate::solvers::svd;

/// A solver by name, with its parameters.
///
/// ```
/// use lopsided::base::settings::Settings;
/// use lopsided::estimators::{Pca, SolverSpec};
///
/// let params = Settings::default().with("tol", 1e-9);
/// let machine = Pca { rank: 2, solver: SolverSpec { params, ..SolverSpec::new("lanczos") } };
/// assert_eq!(machine.solver.name, "lanczos");
/// assert_eq!(SolverSpec::default().name, "auto");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SolverSpec {
    /// Name in the list of [`svd::solvers`].
    pub name: String,
    /// Its parameters, such as `tol`.
    pub params: Settings,
}

setters!(SolverSpec: with_name(name: &str => name.into()), with_params(params: Settings));

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
///
/// Points on a line vary along it alone, here by (1 + 4)·(1 + 0 + 1) = 10:
///
/// ```
/// use lopsided::{Dataset, Mat, Pca, Run, Samples};
///
/// let x = Mat::from_fn(3, 2, |i, j| (i as f64 - 1.0) * (j + 1) as f64); // t·(1, 2) for t = −1, 0, 1
/// let found = Pca::new(1).fit(&Dataset::new(Samples::Dense(x)), &Run::default())?;
/// assert!((found.sigma[0] - 10.0).abs() < 1e-9);
/// assert_eq!(found.sides(), 1);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pca {
    /// Number of components.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

setters!(Pca: with_rank(rank: usize), with_solver(solver: SolverSpec));

impl Default for Pca {
    /// 16 components.
    fn default() -> Self {
        Pca::new(16)
    }
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
///
/// Eigenvectors of (I − 11ᵀ/n)·K·(I − 11ᵀ/n) with K = k(X, X); centred ones are orthogonal to the constant:
///
/// ```
/// use lopsided::{Dataset, Kpca, Mat, Run, Samples};
///
/// let x = Mat::from_fn(5, 1, |i, _| i as f64);
/// let found = Kpca::new("rbf", 2).fit(&Dataset::new(Samples::Dense(x)), &Run::default())?;
/// assert!(found.sigma[0] >= found.sigma[1]);
/// assert!((0..2).all(|k| found.u.col(k).iter().sum::<f64>().abs() < 1e-9));
/// # Ok::<(), lopsided::Error>(())
/// ```
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

setters!(Kpca: with_kernel(kernel: KernelSpec), with_gamma(gamma: Gamma), with_gamma_factor(gamma_factor: f64),
    with_center(center: bool), with_rank(rank: usize), with_solver(solver: SolverSpec));

impl Default for Kpca {
    /// 16 components of the RBF kernel.
    fn default() -> Self {
        Kpca::new("rbf", 16)
    }
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
///
/// On the matrix of a graph it is the baseline without a kernel:
///
/// ```
/// use lopsided::{Dataset, LinearSvd, Mat, Run, Samples};
///
/// let x = Mat::from_fn(2, 2, |i, j| if i == j { 2.0 + i as f64 } else { 0.0 }); // diag(2, 3)
/// let found = LinearSvd::new(2).fit(&Dataset::new(Samples::Dense(x)), &Run::default())?;
/// assert!((found.sigma[0] - 3.0).abs() < 1e-12 && (found.sigma[1] - 2.0).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearSvd {
    /// Number of triplets.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

setters!(LinearSvd: with_rank(rank: usize), with_solver(solver: SolverSpec));

impl Default for LinearSvd {
    /// 16 triplets.
    fn default() -> Self {
        LinearSvd::new(16)
    }
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
///
/// A single link from node 0 to node 1 has no continuation, so that S = βA:
///
/// ```
/// use lopsided::{Csr, Hope, Run};
///
/// let a = Csr::<f64>::from_triplets(2, 2, &[(0, 1, 1.0)]);
/// let found = Hope { beta: Some(0.25), ..Hope::new(1) }.fit(&a, &Run::default())?;
/// assert!((found.sigma[0] - 0.25).abs() < 1e-12);
/// let features = found.matrix(); // [U·√Σ, V·√Σ]: node 0 as source, node 1 as target
/// assert!((features[(0, 0)].abs() - 0.5).abs() < 1e-12 && (features[(1, 1)].abs() - 0.5).abs() < 1e-12);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hope {
    /// Weight of a path per link; `None`: 0.5 / spectral radius.
    pub beta: Option<f64>,
    /// Number of triplets.
    pub rank: usize,
    /// Who finds them.
    pub solver: SolverSpec,
}

setters!(Hope: with_beta(beta: f64 => Some(beta)), with_rank(rank: usize), with_solver(solver: SolverSpec));

impl Default for Hope {
    /// 16 triplets.
    fn default() -> Self {
        Hope::new(16)
    }
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

/// The kernel SVD that a baseline is a special case of.
fn machine(gram: impl Into<Gram>, rank: usize, solver: &SolverSpec) -> KernelSvd {
    KernelSvd::new(gram).with_rank(rank).with_solver(&solver.name).with_solver_params(solver.params.clone())
}

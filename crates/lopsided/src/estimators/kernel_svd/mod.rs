//! The kernel SVD: estimator, model, model file.

mod extended;
mod model;
mod saved;
mod scaling;

pub use model::KernelSvdModel;
pub(in crate::estimators) use saved::{put_data, take_data};
pub use scaling::Scaling;

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::estimators::gram::Gram;
use crate::kernel::{Gamma, Kernel, KernelSpec};
use crate::operator::{Centered, KernelMatrix, Means, Operator, OperatorChoice, OperatorPlan, available_memory};
use crate::solvers::svd::{self, SolverPlan};

/// Kernel SVD: two sets of nonlinear features, one for rows and one for columns, from an asymmetric kernel.
///
/// With G\[i, j\] = k(x_i, z_j) it finds the leading triplets G·V = U·Σ, Gᵀ·U = V·Σ, which solve the coupled covariances
/// eigenproblem (\[KSVD\] Eq. (1), (4), Prop. 2.5). New rows project as k(x, Z)·V·Σ⁻¹, new columns as k(X, z)ᵀ·U·Σ⁻¹, so
/// that a training sample lands on its own row of U or V; with centring, new samples are centred by the training means.
///
/// # Departures
/// \[KSVD\] multiplies G by 1/√(nm); `singular_values` are those of G itself. The vectors are the same.
///
/// # Example
/// ```
/// use lopsided::{Dataset, Graph, GraphRule, KernelSvd, Run};
///
/// let ids = ["a", "b", "c", "d"].map(String::from).to_vec();
/// let graph = Graph::new(ids, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (0, 3, 1.0)])?;
/// let data = Dataset::<f64>::from_graph(&graph, &GraphRule::default())?;
/// let model = KernelSvd::new("sne").with_rank(2).fit(data, &Run::default())?;
/// assert_eq!(model.embedding(lopsided::Side::Row).shape(), (4, 2));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelSvd {
    /// The kernel; a `gamma` among its parameters wins over [`KernelSvd::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found for the kernels that need one.
    pub gamma: Gamma,
    /// Multiplies the bandwidth: gamma is divided by its square.
    pub gamma_factor: f64,
    /// Number of triplets.
    pub rank: usize,
    /// Name of the solver.
    pub solver: String,
    /// Parameters of the solver, such as `tol`.
    pub solver_params: Settings,
    /// Centres both feature maps.
    pub center: bool,
    /// Scaling of embeddings and projections.
    pub scaling: Scaling,
    /// How G is multiplied.
    pub operator: OperatorChoice,
    /// Bytes that may be used; `None`: half of what is free.
    pub memory: Option<u64>,
}

/// What a fit will do and cost, known before anything is allocated.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Rows and columns of G.
    pub size: (usize, usize),
    /// The kernel with its gamma.
    pub kernel: KernelSpec,
    /// How G is multiplied.
    pub operator: OperatorPlan,
    /// Who finds the triplets.
    pub solver: SolverPlan,
    /// Peak bytes, samples included.
    pub bytes: u64,
    /// Rough seconds on `threads` cores.
    pub seconds: f64,
}

impl KernelSvd {
    /// Rank 16, gamma `scale`, solver `auto`, no centring.
    pub fn new(kernel: &str) -> Self {
        KernelSvd {
            kernel: KernelSpec::new(kernel),
            gamma: Gamma::default(),
            gamma_factor: 1.0,
            rank: 16,
            solver: "auto".into(),
            solver_params: Settings::default(),
            center: false,
            scaling: Scaling::None,
            operator: OperatorChoice::Auto,
            memory: None,
        }
    }

    /// Number of triplets.
    pub fn with_rank(mut self, rank: usize) -> Self {
        self.rank = rank;
        self
    }

    /// How gamma is found.
    pub fn with_gamma(mut self, gamma: Gamma) -> Self {
        self.gamma = gamma;
        self
    }

    /// Tolerance of the solver on residuals relative to a triplet's own σ.
    pub fn with_tol(mut self, tol: f64) -> Self {
        self.solver_params = self.solver_params.with("tol", tol);
        self
    }

    /// Name of the solver.
    pub fn with_solver(mut self, solver: &str) -> Self {
        self.solver = solver.into();
        self
    }

    /// Centres both feature maps.
    pub fn with_center(mut self, center: bool) -> Self {
        self.center = center;
        self
    }

    /// How G is multiplied.
    pub fn with_operator(mut self, operator: OperatorChoice) -> Self {
        self.operator = operator;
        self
    }

    /// Scaling of embeddings.
    pub fn with_scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Fits the model; the samples become part of it.
    ///
    /// # Errors
    /// [`Error::Param`], [`Error::Shape`], [`Error::NotFinite`] for what a user can mend; [`Error::Memory`] before more is
    /// allocated than allowed; [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelSvdModel<T>> {
        let (spec, kernel) = self.gram().built_kernel(&data, run.seed)?;
        let solver = svd::solver::<T>(&self.solver, &self.solver_params)?;
        let matrix = self.matrix(&*kernel, &data, run)?;
        let plan = self.cost(&matrix, spec.clone())?;
        self.refuse_out_of_reach(&plan)?;
        let built = matrix.build()?;
        let means = if self.center { Some(Means::of(&*built.operator)?) } else { None };
        let centered = means.clone().map(|means| Centered::new(&*built.operator, means));
        let g: &dyn Operator<T> = centered.as_ref().map_or(&*built.operator, |c| c);
        let mut svd = solver.solve(g, self.rank, run)?;
        if let Some(means) = &means {
            svd.drop_up_to(means.rounding(), self.rank);
        }
        let (operator, normalizer) = (built.plan.kind.to_string(), built.normalizer.clone());
        let sampled_cols = built.sampled_cols.clone();
        drop(centered);
        svd.report.notes.extend(built.notes.iter().cloned());
        drop(built);
        svd.report.notes.extend(sampled_cols.as_ref().map(|cols| {
            let (name, m) = (spec.name.to_uppercase(), plan.size.1);
            format!("{name} row sums are estimated from {} of {m} columns", cols.len())
        }));
        let scaling = self.scaling;
        Ok(KernelSvdModel { kernel: spec, scaling, operator, svd, normalizer, sampled_cols, means, data })
    }

    /// What [`KernelSvd::fit`] would do, without doing it.
    pub fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let (spec, kernel) = self.gram().built_kernel(data, run.seed)?;
        self.cost(&self.matrix(&*kernel, data, run)?, spec)
    }

    /// What makes G of the data.
    fn gram(&self) -> Gram {
        Gram::of(self)
    }

    fn matrix<'a, T: Scalar>(
        &self,
        kernel: &'a dyn Kernel<T>,
        data: &'a Dataset<T>,
        run: &Run,
    ) -> Result<KernelMatrix<'a, T>> {
        let mut matrix = self.gram().matrix(kernel, data, run);
        let (n, m) = matrix.size();
        let solver = svd::solver::<T>(&self.solver, &self.solver_params)?;
        matrix.blocks_suffice = solver.plan_from_blocks(n, m, self.rank).is_some();
        Ok(matrix)
    }

    fn cost<T: Scalar>(&self, matrix: &KernelMatrix<'_, T>, kernel: KernelSpec) -> Result<Plan> {
        let size = matrix.size();
        let most = size.0.min(size.1);
        if self.rank == 0 || self.rank > most {
            return Err(Error::param("rank", self.rank, format!("between 1 and min(n, m) = {most}")));
        }
        let operator = matrix.plan()?;
        let solver = svd::solver::<T>(&self.solver, &self.solver_params)?;
        let from_blocks = solver.plan_from_blocks(size.0, size.1, self.rank).filter(|_| operator.blocks_only);
        let solver = from_blocks.unwrap_or_else(|| solver.plan(size.0, size.1, self.rank));
        let samples = (matrix.x.bytes() + matrix.z.bytes()) as u64;
        let threads = rayon::current_num_threads() as f64;
        let products = operator.seconds.0 * solver.products as f64 + operator.seconds.1;
        let seconds = (products + solver.flops * 1e-10) / threads;
        Ok(Plan { size, kernel, bytes: samples + operator.bytes + solver.bytes, operator, solver, seconds })
    }

    fn refuse_out_of_reach(&self, plan: &Plan) -> Result<()> {
        if self.center && plan.operator.blocks_only {
            return Err(Error::param("center", "on", "off: products with all of G are out of reach, so its means are"));
        }
        let available = self.memory.unwrap_or_else(available_memory);
        if plan.bytes <= available {
            return Ok(());
        }
        Err(Error::Memory {
            what: format!("the {} solver on the {} operator", plan.solver.solver, plan.operator.kind),
            needed: plan.bytes,
            available,
            advice: "take a smaller rank, another solver or operator, or allow more memory".into(),
        })
    }
}

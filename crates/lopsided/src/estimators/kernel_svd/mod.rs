//! The kernel SVD: estimator, model, model file.

mod degenerate;
mod extended;
mod model;
mod saved;
mod scaling;

pub use model::KernelSvdModel;
pub(in crate::estimators) use saved::{NAME, put_data, take_data};
pub use scaling::Scaling;

use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::graph::GraphFrame;
use crate::estimators::gram::Gram;
use crate::estimators::recipe::Usual;
use crate::kernel::{Gamma, Kernel, KernelSpec};
use crate::operator::{Centered, FLOP, KernelMatrix, Means, Operator, OperatorChoice, OperatorKind, OperatorPlan};
use crate::solvers::svd::{self, SolverPlan, SvdSolver};

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
    /// What makes G: the kernel, its bandwidth, how G is multiplied, memory.
    pub gram: Gram,
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
}

setters!(KernelSvd: with_gram(gram: Gram), with_rank(rank: usize), with_solver(solver: &str => solver.into()),
    with_solver_params(solver_params: Settings), with_center(center: bool), with_scaling(scaling: Scaling));

impl Default for KernelSvd {
    /// The SNE kernel.
    fn default() -> Self {
        Usual::EMBEDDING.svd()
    }
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
    /// Bytes that may be used.
    pub available: u64,
    /// Rough seconds on `threads` cores.
    pub seconds: f64,
}

impl Plan {
    /// Refuses what would need more memory than allowed.
    ///
    /// # Errors
    /// [`Error::Memory`] with both numbers.
    pub fn check(&self) -> Result<()> {
        if self.bytes <= self.available {
            return Ok(());
        }
        Err(Error::Memory {
            what: format!("the {} solver on the {} operator", self.solver.solver, self.operator.kind),
            needed: self.bytes,
            available: self.available,
            advice: "take a smaller rank, fewer landmarks, another solver or operator, or allow more memory".into(),
        })
    }

    /// The same with other bytes allowed.
    pub(super) fn within(self, available: u64) -> Self {
        Plan { available, ..self }
    }

    /// The same with more seconds of one core.
    pub(super) fn with_more(self, seconds: f64) -> Self {
        Plan { seconds: self.seconds + seconds / rayon::current_num_threads() as f64, ..self }
    }
}

impl KernelSvd {
    /// Rank 16, gamma `scale`, solver `auto`, no centring.
    pub fn new(gram: impl Into<Gram>) -> Self {
        KernelSvd { gram: gram.into(), ..KernelSvd::default() }
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        let svd = self.gram.settings().with("rank", self.rank).with("center", self.center);
        svd.with("solver", self.solver.as_str()).with_word("scaling", self.scaling).and(&self.solver_params)
    }

    /// Another kernel: a name, a [`KernelSpec`], or a kernel of your own by value.
    ///
    /// ```
    /// use lopsided::KernelSvd;
    /// use lopsided::kernel::{KernelSpec, Polynomial};
    ///
    /// let by_name = KernelSvd::new("sne").with_kernel("rbf");
    /// let with_settings = KernelSvd::new("sne").with_kernel(KernelSpec::new("rbf").with("gamma", 0.1));
    /// let by_value = KernelSvd::new("sne").with_kernel(Polynomial { gamma: 1.0, coef0: 1.0, degree: 2 });
    /// # let _ = (by_name, with_settings, by_value);
    /// ```
    pub fn with_kernel(mut self, kernel: impl Into<KernelSpec>) -> Self {
        self.gram.kernel = kernel.into();
        self
    }

    /// How gamma is found.
    pub fn with_gamma(mut self, gamma: Gamma) -> Self {
        self.gram.gamma = gamma;
        self
    }

    /// The factor of the bandwidth.
    pub fn with_gamma_factor(mut self, factor: f64) -> Self {
        self.gram.gamma_factor = factor;
        self
    }

    /// Tolerance of the solver on residuals relative to a triplet's own σ.
    pub fn with_tol(mut self, tol: f64) -> Self {
        self.solver_params = self.solver_params.with("tol", tol);
        self
    }

    /// How G is multiplied.
    pub fn with_operator(mut self, operator: OperatorChoice) -> Self {
        self.gram.operator = operator;
        self
    }

    /// Bytes that may be used.
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.gram.memory = Some(bytes);
        self
    }

    /// Fits the model; the samples become part of it.
    ///
    /// # Errors
    /// [`Error::Param`], [`Error::Shape`], [`Error::NotFinite`] for what a user can mend; [`Error::Memory`] before more is
    /// allocated than allowed; [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: Dataset<T>, run: &Run) -> Result<KernelSvdModel<T>> {
        self.fit_with(&*svd::solver::<T>(&self.solver, &self.solver_params)?, data, run)
    }

    /// Fits the model with a solver by value instead of [`KernelSvd::solver`], which may be one of your own.
    ///
    /// ```
    /// use lopsided::operator::Operator;
    /// use lopsided::solvers::svd::{SolverPlan, Svd, SvdSolver};
    /// use lopsided::{Dataset, KernelSvd, Mat, Result, Run, Samples};
    ///
    /// /// Power iteration for the leading triplet alone.
    /// struct Power;
    ///
    /// impl SvdSolver<f64> for Power {
    ///     fn solve(&self, g: &dyn Operator<f64>, rank: usize, _: &Run) -> Result<Svd<f64>> {
    ///         let (mut u, mut v) = (Mat::zeros(g.nrows(), 1), Mat::from_fn(g.ncols(), 1, |_, _| 1.0));
    ///         let mut sigma = 0.0;
    ///         for _ in 0..200 {
    ///             v = &v / v.norm_l2();
    ///             g.apply(v.as_ref(), u.as_mut())?;
    ///             u = &u / u.norm_l2();
    ///             g.apply_transpose(u.as_ref(), v.as_mut())?;
    ///             sigma = v.norm_l2();
    ///         }
    ///         v = &v / sigma;
    ///         Svd::measured("power", (u, vec![sigma], v), g, rank, 1e-6)
    ///     }
    ///
    ///     fn plan(&self, n: usize, m: usize, _: usize) -> SolverPlan {
    ///         SolverPlan { solver: "power", why: String::new(), bytes: 8 * (n + m) as u64, products: 400, flops: 0.0 }
    ///     }
    /// }
    ///
    /// let x = Samples::Dense(Mat::from_fn(20, 2, |i, j| ((i * 3 + j) % 5) as f64));
    /// let model = KernelSvd::new("rbf").with_rank(1).fit_with(&Power, Dataset::new(x), &Run::default())?;
    /// assert!(model.report().converged());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`KernelSvd::fit`] and of the solver.
    pub fn fit_with<T: Scalar>(
        &self,
        solver: &dyn SvdSolver<T>,
        data: Dataset<T>,
        run: &Run,
    ) -> Result<KernelSvdModel<T>> {
        let (spec, kernel) = self.gram.built_kernel(&data, run.seed)?;
        let matrix = self.matrix(&*kernel, solver, &data, run);
        let plan = self.cost(&matrix, solver, spec.clone(), matrix.plan()?)?;
        self.refuse_out_of_reach(&plan)?;
        run.belongs("kernel-svd", || self.identity(), &data)?;
        let built = matrix.build()?;
        let means = if self.center { Some(Means::of(&*built.operator)?) } else { None };
        let centered = means.clone().map(|means| Centered::new(&*built.operator, means));
        let g: &dyn Operator<T> = centered.as_ref().map_or(&*built.operator, |c| c);
        let mut svd = solver.solve(g, self.rank, run)?;
        if let Some(means) = &means {
            svd.drop_up_to(means.rounding(), self.rank);
        }
        svd.report.notes.extend(degenerate::remarks(&svd));
        let (operator, normalizer) = (built.plan.name(), built.normalizer.clone());
        let sampled_cols = built.sampled_cols.clone();
        drop(centered);
        svd.report.notes.extend(built.notes.iter().cloned());
        drop(built);
        svd.report.notes.extend(sampled_cols.as_ref().map(|cols| {
            let (name, m) = (spec.name.to_uppercase(), plan.size.1);
            format!("{name} row sums are estimated from {} of {m} columns", cols.len())
        }));
        svd.report.notes.extend(data.frame.as_ref().and_then(GraphFrame::note));
        let scaling = self.scaling;
        Ok(KernelSvdModel { kernel: spec, scaling, operator, svd, normalizer, sampled_cols, means, data })
    }

    /// Everything that the triplets depend on beside the data.
    fn identity(&self) -> serde_json::Map<String, serde_json::Value> {
        let settings = self.gram.settings().and(&self.solver_params).with("rank", self.rank);
        settings.with("solver", self.solver.as_str()).with("center", self.center).to_map()
    }

    /// What [`KernelSvd::fit`] would do, without doing it.
    pub fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let (spec, kernel) = self.gram.built_kernel(data, run.seed)?;
        let solver = svd::solver::<T>(&self.solver, &self.solver_params)?;
        let matrix = self.matrix(&*kernel, &*solver, data, run);
        self.cost(&matrix, &*solver, spec, matrix.measured_plan()?)
    }

    fn matrix<'a, T: Scalar>(
        &self,
        kernel: &'a dyn Kernel<T>,
        solver: &dyn SvdSolver<T>,
        data: &'a Dataset<T>,
        run: &Run,
    ) -> KernelMatrix<'a, T> {
        let mut matrix = self.gram.matrix(kernel, data, run);
        let (n, m) = matrix.size();
        matrix.blocks_suffice = solver.plan_from_blocks(n, m, self.rank).is_some();
        matrix
    }

    fn cost<T: Scalar>(
        &self,
        matrix: &KernelMatrix<'_, T>,
        solver: &dyn SvdSolver<T>,
        kernel: KernelSpec,
        operator: OperatorPlan,
    ) -> Result<Plan> {
        let size = matrix.size();
        let most = size.0.min(size.1);
        if self.rank == 0 || self.rank > most {
            return Err(Error::param("rank", self.rank, format!("between 1 and min(n, m) = {most}")));
        }
        let from_blocks = solver.plan_from_blocks(size.0, size.1, self.rank).filter(|_| operator.blocks_only);
        let solver = from_blocks.unwrap_or_else(|| solver.plan(size.0, size.1, self.rank));
        let samples = (matrix.x.bytes() + matrix.z.bytes()) as u64;
        let threads = rayon::current_num_threads() as f64;
        // The singular values of kernels of dense samples fall faster than those of graphs, and more so than a rule can know.
        let dense = matches!(operator.kind, OperatorKind::Dense | OperatorKind::Tiles) && solver.solver == "lanczos";
        let share = if dense { 0.68 } else { 1.0 };
        let products = operator.seconds.0 * solver.products as f64 * share + operator.seconds.1;
        let seconds = (products + solver.flops * share * share * FLOP) / threads;
        let bytes = samples + operator.bytes + solver.bytes;
        Ok(Plan { size, kernel, bytes, available: self.gram.bytes(), operator, solver, seconds })
    }

    fn refuse_out_of_reach(&self, plan: &Plan) -> Result<()> {
        if self.center && plan.operator.blocks_only {
            return Err(Error::param("center", "on", "off: products with all of G are out of reach, so its means are"));
        }
        plan.check()
    }
}

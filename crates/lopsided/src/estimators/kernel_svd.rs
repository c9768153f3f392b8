use super::extended;
use crate::archive::Archive;
use crate::dataset::{Dataset, Maps};
use crate::error::{Error, Result};
use crate::graph::GraphFrame;
use crate::kernel::{Gamma, Kernel, KernelSpec};
use crate::linalg;
use crate::operator::{
    self, Centered, KernelMatrix, Means, Operator, OperatorChoice, OperatorPlan, Submatrix, available_memory,
};
use crate::registry::Params;
use crate::samples::{Samples, SamplesRef, Side};
use crate::scalar::Scalar;
use crate::svd::{self, Run, SolveReport, SolverPlan, Svd};
use faer::{Mat, MatRef};
use std::path::Path;
use std::str::FromStr;

/// Name in saved files and listings.
const NAME: &str = "kernel-svd";
/// Names of the arrays with the compatibility maps.
const MAPS: [(&str, Side); 2] = [("compat.rows", Side::Row), ("compat.cols", Side::Col)];

/// Powers of the singular values that scale embeddings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// U and V as they are.
    #[default]
    None,
    /// U·√Σ and V·√Σ.
    Sqrt,
    /// U·Σ and V·Σ.
    Full,
}

impl Scaling {
    /// The power p of Σ^p.
    pub fn power(self) -> f64 {
        match self {
            Scaling::None => 0.0,
            Scaling::Sqrt => 0.5,
            Scaling::Full => 1.0,
        }
    }
}

impl FromStr for Scaling {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "none" => Ok(Scaling::None),
            "sqrt" => Ok(Scaling::Sqrt),
            "full" => Ok(Scaling::Full),
            _ => Err(Error::Unknown {
                kind: "scaling",
                name: text.into(),
                known: ["none", "sqrt", "full"].map(String::from).to_vec(),
            }),
        }
    }
}

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
    pub solver_params: Params,
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
            solver_params: Params::default(),
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

    /// Tolerance of the solver on residuals relative to σ₁.
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
        let spec = self.check(&data, run.seed)?;
        let kernel = spec.build::<T>()?;
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
        let spec = self.check(data, run.seed)?;
        let kernel = spec.build::<T>()?;
        self.cost(&self.matrix(&*kernel, data, run)?, spec)
    }

    fn matrix<'a, T: Scalar>(
        &self,
        kernel: &'a dyn Kernel<T>,
        data: &'a Dataset<T>,
        run: &Run,
    ) -> Result<KernelMatrix<'a, T>> {
        let mut matrix = KernelMatrix {
            choice: self.operator,
            memory: self.memory.unwrap_or_else(available_memory),
            seed: run.seed,
            watch: run.watch.clone(),
            ..KernelMatrix::new(kernel, data.x.as_ref(), data.cols().as_ref())
        };
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

    /// Everything about the input that a user can get wrong; the kernel with its gamma.
    fn check<T: Scalar>(&self, data: &Dataset<T>, seed: u64) -> Result<KernelSpec> {
        let (x, z) = (data.x.as_ref(), data.cols().as_ref());
        self.kernel.build::<T>().or_else(|e| {
            if self.kernel.gamma_from_data() && self.kernel.params.get("gamma").is_none() {
                self.kernel.clone().with("gamma", 1.0).build::<T>()
            } else {
                Err(e)
            }
        })?;
        if x.count() == 0 || x.width() == 0 || z.count() == 0 {
            return Err(Error::shape(
                "the samples",
                "at least one sample with one coordinate on each side",
                format!("{} x {}", x.count(), z.count()),
            ));
        }
        x.check_finite("X")?;
        if data.z.is_some() {
            z.check_finite("Z")?;
        }
        if self.kernel.name != "precomputed" && x.width() != z.width() {
            return Err(Error::shape("the width of the column samples", x.width(), z.width()));
        }
        if !self.kernel.gamma_from_data() || self.kernel.params.get("gamma").is_some() {
            return Ok(self.kernel.clone());
        }
        let gamma = self.gamma.resolve(self.kernel.meeting(), x, z, self.gamma_factor, seed)?;
        Ok(self.kernel.clone().with("gamma", gamma))
    }
}

/// A fitted [`KernelSvd`].
#[derive(Clone, Debug)]
pub struct KernelSvdModel<T> {
    /// The kernel with its gamma.
    pub kernel: KernelSpec,
    /// Scaling of embeddings and projections.
    pub scaling: Scaling,
    /// The kind of operator that was used.
    pub operator: String,
    /// Triplets and the solver's report.
    pub svd: Svd<T>,
    /// Row normalisers of the SNE and T kernels.
    normalizer: Option<Vec<T>>,
    /// Columns the normalisers were estimated from, where they were.
    sampled_cols: Option<Vec<usize>>,
    /// Training means when centred.
    means: Option<Means<T>>,
    /// The training samples, needed to place new ones.
    pub data: Dataset<T>,
}

impl<T: Scalar> KernelSvdModel<T> {
    /// Singular values of G, descending.
    pub fn singular_values(&self) -> &[T] {
        &self.svd.sigma
    }

    /// The solver's account of its work.
    pub fn report(&self) -> &SolveReport {
        &self.svd.report
    }

    /// Whether the kernel matrix was centred.
    pub fn is_centered(&self) -> bool {
        self.means.is_some()
    }

    /// Rows and columns of G.
    pub fn size(&self) -> (usize, usize) {
        (self.svd.u.nrows(), self.svd.v.nrows())
    }

    /// Embedding of the training samples of one side: U·Σ^p or V·Σ^p.
    pub fn embedding(&self, side: Side) -> Mat<T> {
        let vectors = match side {
            Side::Row => &self.svd.u,
            Side::Col => &self.svd.v,
        };
        scaled(vectors.as_ref(), &self.svd.sigma, self.scaling.power())
    }

    /// Embedding of new row samples: k(x, Z)·V·Σ^(p−1). For a precomputed kernel the samples are rows of G, for a model
    /// with a compatibility matrix raw rows of the matrix.
    pub fn project_rows(&self, rows: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        self.check_new(rows, Side::Row)?;
        let mapped = self.data.maps.apply(Side::Row, rows);
        let rows = mapped.as_ref().map_or(rows, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let matrix = KernelMatrix {
            blocks_suffice: self.svd.extension.is_some(),
            sampled_cols: self.sampled_cols.clone(),
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, rows, self.data.cols().as_ref())
        };
        let built = matrix.build()?;
        let means = self.means.as_ref().map(|training| -> Result<_> {
            let width = T::of(built.operator.ncols() as f64);
            let rows = operator::row_sums(&*built.operator)?.into_iter().map(|s| s / width).collect();
            Ok(Means { rows, ..training.clone() })
        });
        match means.transpose()? {
            Some(means) => self.place(&Centered::new(&*built.operator, means), Side::Row),
            None => self.place(&*built.operator, Side::Row),
        }
    }

    /// Embedding of new column samples: k(X, z)ᵀ·U·Σ^(p−1). For a precomputed kernel each sample is a column of G, for a
    /// model with a compatibility matrix a raw column of the matrix.
    pub fn project_cols(&self, cols: SamplesRef<'_, T>, run: &Run) -> Result<Mat<T>> {
        self.check_new(cols, Side::Col)?;
        let mapped = self.data.maps.apply(Side::Col, cols);
        let cols = mapped.as_ref().map_or(cols, |m| SamplesRef::Dense(m.as_ref()));
        let kernel = self.kernel.build::<T>()?;
        let transposed = kernel.is_precomputed().then(|| cols.to_owned().transpose());
        let x = transposed.as_ref().map_or(self.data.x.as_ref(), Samples::as_ref);
        let matrix = KernelMatrix {
            normalizer: self.normalizer.clone(),
            blocks_suffice: self.svd.extension.is_some(),
            watch: run.watch.clone(),
            ..KernelMatrix::new(&*kernel, x, cols)
        };
        let built = matrix.build()?;
        let means = self.means.as_ref().map(|training| -> Result<_> {
            let height = T::of(built.operator.nrows() as f64);
            let cols = operator::col_sums(&*built.operator)?.into_iter().map(|s| s / height).collect();
            Ok(Means { cols, ..training.clone() })
        });
        match means.transpose()? {
            Some(means) => self.place(&Centered::new(&*built.operator, means), Side::Col),
            None => self.place(&*built.operator, Side::Col),
        }
    }

    /// New samples of one side from their kernel values with the other: by the landmarks where U and V come from
    /// landmarks, by all samples otherwise.
    fn place(&self, g: &dyn Operator<T>, side: Side) -> Result<Mat<T>> {
        let (sigma, power) = (&self.svd.sigma, self.scaling.power());
        let count = if side == Side::Row { g.nrows() } else { g.ncols() };
        let mut out = Mat::zeros(count, sigma.len());
        match (&self.svd.extension, side) {
            (None, Side::Row) => {
                g.apply(scaled(self.svd.v.as_ref(), sigma, power - 1.0).as_ref(), out.as_mut())?;
            }
            (None, Side::Col) => {
                g.apply_transpose(scaled(self.svd.u.as_ref(), sigma, power - 1.0).as_ref(), out.as_mut())?;
            }
            (Some(e), Side::Row) => {
                let weights = scaled(e.row_weights.as_ref(), sigma, power);
                Submatrix::new(g, None, Some(&e.cols)).apply(weights.as_ref(), out.as_mut())?;
            }
            (Some(e), Side::Col) => {
                let weights = scaled(e.col_weights.as_ref(), sigma, power);
                Submatrix::new(g, Some(&e.rows), None).apply_transpose(weights.as_ref(), out.as_mut())?;
            }
        }
        Ok(out)
    }

    fn check_new(&self, samples: SamplesRef<'_, T>, side: Side) -> Result<()> {
        let (n, m) = self.size();
        let (what, precomputed) = match side {
            Side::Row => ("the width of the new rows", m),
            Side::Col => ("the width of the new columns", n),
        };
        let plain = if self.kernel.name == "precomputed" { precomputed } else { self.data.x.width() };
        let expected = self.data.maps.side(side).map_or(plain, Mat::nrows);
        if samples.width() != expected {
            return Err(Error::shape(what, expected, samples.width()));
        }
        samples.check_finite(if side == Side::Row { "the new rows" } else { "the new columns" })
    }

    /// The model as arrays and metadata.
    pub fn archive(&self) -> Archive {
        let mut archive = Archive::default();
        archive.set_field("estimator", NAME);
        archive.set_field("precision", T::NAME);
        archive.set_field("kernel", &self.kernel);
        archive.set_field("scaling", self.scaling);
        archive.set_field("operator", &self.operator);
        archive.set_field("report", &self.svd.report);
        archive.set_matrix("u", self.svd.u.as_ref());
        archive.set_vector("sigma", &self.svd.sigma);
        archive.set_matrix("v", self.svd.v.as_ref());
        archive.set_samples("x", self.data.x.as_ref());
        archive.set_field("columns", self.columns());
        if self.columns() == Columns::Given {
            archive.set_samples("z", self.data.cols().as_ref());
        }
        if let Some(normalizer) = &self.normalizer {
            archive.set_vector("normalizer", normalizer);
            archive.set_field("normalizer_cols", &self.sampled_cols);
        }
        extended::put(&mut archive, self.svd.extension.as_ref());
        if let Some(means) = &self.means {
            archive.set_vector("means.rows", &means.rows);
            archive.set_vector("means.cols", &means.cols);
            archive.set_vector("means.all", &[means.all]);
        }
        for (name, side) in MAPS {
            if let Some(map) = self.data.maps.side(side) {
                archive.set_matrix(name, map.as_ref());
            }
        }
        for (name, ids) in [("row_ids", &self.data.row_ids), ("col_ids", &self.data.col_ids)] {
            if let Some(ids) = ids {
                archive.set_texts(name, ids);
            }
        }
        if let Some(frame) = &self.data.frame {
            archive.set_field("graph", &frame.rule);
            archive.set_vector("graph.sums", &frame.sums);
        }
        archive
    }

    /// How the column samples are kept in the file.
    fn columns(&self) -> Columns {
        match (&self.data.x, &self.data.z) {
            (_, None) => Columns::SameAsRows,
            (Samples::Sparse(x), Some(Samples::Sparse(z))) if x.transpose() == *z => Columns::TransposeOfRows,
            (Samples::Dense(x), Some(Samples::Dense(z))) if is_transpose(x, z) => Columns::TransposeOfRows,
            _ => Columns::Given,
        }
    }

    /// The model of an archive.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let estimator: String = archive.field("estimator")?;
        if estimator != NAME {
            return Err(archive.error(format!("is a model of `{estimator}`, not of `{NAME}`")));
        }
        let x = archive.samples("x")?;
        let z = match archive.field("columns")? {
            Columns::SameAsRows => None,
            Columns::TransposeOfRows => Some(x.transpose()),
            Columns::Given => Some(archive.samples("z")?),
        };
        let (row_ids, col_ids) = (archive.texts("row_ids")?, archive.texts("col_ids")?);
        let frame = match (archive.field("graph")?, &row_ids) {
            (Some(rule), Some(ids)) => Some(GraphFrame { rule, ids: ids.clone(), sums: archive.vector("graph.sums")? }),
            _ => None,
        };
        let [rows, cols] = MAPS.map(|(name, _)| archive.has(name).then(|| archive.matrix(name)).transpose());
        let maps = Maps { rows: rows?, cols: cols? };
        let optional = |name: &str| if archive.has(name) { archive.vector(name).map(Some) } else { Ok(None) };
        let means = match optional("means.rows")? {
            Some(rows) => {
                let all = archive.vector("means.all")?;
                let all = *all.first().ok_or_else(|| archive.error("array `means.all` is empty"))?;
                Some(Means { rows, cols: archive.vector("means.cols")?, all })
            }
            None => None,
        };
        let svd = Svd {
            u: archive.matrix("u")?,
            sigma: archive.vector("sigma")?,
            v: archive.matrix("v")?,
            extension: extended::take(archive)?,
            report: archive.field("report")?,
        };
        let model = KernelSvdModel {
            kernel: archive.field("kernel")?,
            scaling: archive.field("scaling")?,
            operator: archive.field("operator")?,
            svd,
            normalizer: optional("normalizer")?,
            sampled_cols: archive.field("normalizer_cols")?,
            means,
            data: Dataset { x, z, y: None, row_ids, col_ids, frame, maps },
        };
        model.check_consistent(archive)?;
        Ok(model)
    }

    /// A file that was tampered with must not make a later product panic.
    fn check_consistent(&self, archive: &Archive) -> Result<()> {
        let (n, m) = self.size();
        let rank = self.svd.sigma.len();
        let precomputed = self.kernel.build::<T>()?.is_precomputed();
        let cols = if precomputed { self.data.x.width() } else { self.data.cols().count() };
        let fits = self.svd.u.ncols() == rank
            && self.svd.v.ncols() == rank
            && self.data.x.count() == n
            && cols == m
            && (precomputed || self.data.x.width() == self.data.cols().width())
            && MAPS.iter().all(|(_, side)| self.data.maps.side(*side).is_none_or(|m| m.ncols() == self.data.x.width()))
            && self.normalizer.as_ref().is_none_or(|v| v.len() == n)
            && self.sampled_cols.as_ref().is_none_or(|v| !v.is_empty() && v.iter().all(|j| *j < m))
            && self.svd.extension.as_ref().is_none_or(|e| extended::fits(e, (n, m), rank))
            && self.means.as_ref().is_none_or(|v| v.rows.len() == n && v.cols.len() == m)
            && self.data.row_ids.as_ref().is_none_or(|ids| ids.len() == n)
            && self.data.col_ids.as_ref().is_none_or(|ids| ids.len() == m)
            && self.data.frame.as_ref().is_none_or(|f| f.sums.len() == n);
        if fits { Ok(()) } else { Err(archive.error("has arrays whose sizes do not fit together")) }
    }

    /// Writes the model file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.archive().save(path)
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self> {
        Self::from_archive(&Archive::load(path)?)
    }
}

fn is_transpose<T: Scalar>(x: &Mat<T>, z: &Mat<T>) -> bool {
    (x.nrows(), x.ncols()) == (z.ncols(), z.nrows()) && x.transpose() == *z
}

/// How a model file keeps the column samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Columns {
    SameAsRows,
    TransposeOfRows,
    Given,
}

/// vectors·diag(sigma^power).
fn scaled<T: Scalar>(vectors: MatRef<'_, T>, sigma: &[T], power: f64) -> Mat<T> {
    let factors =
        Mat::from_fn(sigma.len(), sigma.len(), |i, j| if i == j { sigma[i].powf(T::of(power)) } else { T::zero() });
    linalg::mul(vectors, factors.as_ref())
}

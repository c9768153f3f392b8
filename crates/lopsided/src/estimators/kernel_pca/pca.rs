use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::archive::Archive;
use crate::data::dataset::Dataset;
use crate::data::samples::SamplesRef;
use crate::estimators::gram::Gram;
use crate::estimators::kernel_svd::{KernelSvd, Plan};
use crate::estimators::landmarked::{Approach, Approximation, Comparison, GramErrors, Problem, SolutionErrors};
use crate::estimators::recipe::Usual;
use crate::solvers::lowrank::{KernelFunctions, inverse_root};
use crate::solvers::svd::SolveReport;
use faer::Mat;
use serde_json::Value;
use std::collections::BTreeMap;

/// Name in saved files and listings.
pub(in crate::estimators) const NAME: &str = "kpca";

/// Kernel principal components, exact or by landmarks.
///
/// The components are functions of unit length in feature space along which the (centred) samples vary most: exact
/// f_j = Φ(X)·u_j/√λ_j with K·u_j = λ_j·u_j; LLA and NCR f_j = B·q_j with FᵀF·q_j = θ_j·q_j; GSA f_j = Φ(X)·G⁺·q_j (\[NKM\]
/// Algorithm 1), whose length is one only as far as K̃ is K. A sample's components are its scalar products with them.
///
/// ```
/// use lopsided::estimators::{Approach, Approximation, KernelPca};
/// use lopsided::{Dataset, Mat, Run, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(60, 3, |i, j| ((i * (j + 2)) % 13) as f64 / 13.0));
/// let mut machine = KernelPca::new("rbf").with_rank(2);
/// machine.approximation = Approximation::new(Approach::Lla, "greedy", 30);
/// let model = machine.fit(&Dataset::new(x.clone()), &Run::default())?;
/// assert_eq!(model.transform(x.as_ref(), &Run::default())?.shape(), (60, 2));
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelPca {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// Number of components.
    pub rank: usize,
    /// Largest residual of an exact component, relative to its own eigenvalue; `None`: 1e-6.
    pub tol: Option<f64>,
    /// The approach and its landmarks.
    pub approximation: Approximation,
    /// Centres the samples in feature space.
    pub center: bool,
}

setters!(KernelPca: with_gram(gram: Gram), with_rank(rank: usize), with_tol(tol: f64 => Some(tol)),
    with_approximation(approximation: Approximation), with_center(center: bool));

impl Default for KernelPca {
    /// What the recipe makes where nothing is said.
    fn default() -> Self {
        let KernelSvd { gram, rank, center, .. } = Usual::COMPONENTS.svd();
        KernelPca { gram, rank, tol: None, approximation: Approximation::default(), center }
    }
}

/// A fitted [`KernelPca`].
///
/// The variance of a component is its eigenvalue divided by the number of samples, which is the mean square of
/// the training samples' components:
///
/// ```
/// use lopsided::estimators::KernelPca;
/// use lopsided::{Dataset, Mat, Run, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(3, 1, |i, _| i as f64)); // 0, 1, 2 lie around 1
/// let model = KernelPca::new("linear").with_rank(1).fit(&Dataset::new(x.clone()), &Run::default())?;
/// assert!((model.variances[0] - 2.0 / 3.0).abs() < 1e-9);
/// let found = model.transform(x.as_ref(), &Run::default())?;
/// assert!((found[(0, 0)].abs() - 1.0).abs() < 1e-9 && found[(1, 0)].abs() < 1e-9);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelPcaModel<T> {
    /// One function for each component.
    pub functions: KernelFunctions<T>,
    /// Variance of the training samples along each component.
    pub variances: Vec<f64>,
    /// Settings, also those found from the data.
    pub params: BTreeMap<String, Value>,
    /// Samples learned from.
    pub n_train: usize,
    /// How exact components were found; landmarks need no more than a small decomposition.
    pub solved: Option<SolveReport>,
}

/// Features of the training samples, the leading directions among them, and their eigenvalues.
pub(in crate::estimators) struct Directions {
    pub(in crate::estimators) vectors: Mat<f64>,
    pub(in crate::estimators) values: Vec<f64>,
}

impl KernelPca {
    /// 16 components, centred; exact or low-rank linearisation by the number of samples.
    pub fn new(gram: impl Into<Gram>) -> Self {
        KernelPca { gram: gram.into(), ..KernelPca::default() }
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        let machine = self.gram.settings().and(&self.approximation.settings());
        machine.with("rank", self.rank).with("center", self.center).with_some("tol", self.tol)
    }

    /// Finds the components of all row samples; targets are not looked at.
    ///
    /// # Errors
    /// [`Error::Param`] for a kernel that is not symmetric and positive, a rank that is not between 1 and the number of
    /// samples, or landmarks that do not exist; [`Error::Memory`], [`Error::Interrupted`].
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<KernelPcaModel<T>> {
        let problem = self.problem(data, run)?;
        run.belongs("kpca", || self.settings().to_map(), data)?;
        let n = problem.x.count();
        let Components { functions, values, landmarks, solved } = match self.approximation.approach_for(n) {
            Approach::Exact => self.exact(&problem, run)?,
            Approach::Gsa => self.substituted(&problem, run)?,
            approach => self.linearized(&problem, approach, run)?,
        };
        if values.is_empty() {
            return Err(Error::param("rank", "0 for these samples", "at least 1: they do not vary in feature space"));
        }
        let mut params = self.approximation.params(n, landmarks);
        params.extend(problem.kernel.as_params());
        params.insert("kernel".into(), problem.kernel.name.clone().into());
        params.insert("rank".into(), values.len().into());
        params.insert("center".into(), self.center.into());
        let variances = values.iter().map(|v| v / n as f64).collect();
        Ok(KernelPcaModel { functions: problem.restored(functions), variances, params, n_train: n, solved })
    }

    /// How far the components are from the exact ones, Eq. (15) and (19), and the kernel matrix from K̃.
    ///
    /// # Errors
    /// Those of [`KernelPca::fit`]; [`Error::Memory`] where the exact machine is out of reach.
    pub fn errors<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<(SolutionErrors, GramErrors)> {
        Comparison::pca(self, data, run)?.errors(&self.approximation, run)
    }

    /// How far the kernel matrix is from K̃, without the exact components.
    pub(in crate::estimators) fn gram_errors<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<GramErrors> {
        self.problem(data, run)?.gram_errors(&self.approximation, run)
    }

    /// What [`KernelPca::fit`] would do, without doing it.
    pub fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let problem = self.problem(data, run)?;
        let plan = self.approximation.plan(problem.kernel.clone(), data.x.as_ref(), data.x.count())?;
        let plan = plan.within(self.gram.bytes());
        if self.approximation.approach_for(data.x.count()) != Approach::Exact {
            return Ok(plan);
        }
        let triplets = KernelSvd::new(self.gram.clone()).with_rank(self.rank).plan(data, run)?;
        Ok(Plan { seconds: triplets.seconds, bytes: triplets.bytes, ..plan })
    }

    pub(in crate::estimators) fn problem<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Problem<T>> {
        let n = data.x.count();
        self.approximation.check(n)?;
        if self.rank == 0 || self.rank > n {
            return Err(Error::param("rank", self.rank, format!("between 1 and the number of samples, {n}")));
        }
        let rows: Vec<usize> = (0..n).collect();
        Problem::new(&self.gram, data, &rows, self.approximation.own.as_ref(), run)
    }

    /// LLA, and NCR by the symmetric root of K_mm⁺, which spans the landmarks without an orthonormal basis.
    fn linearized<T: Scalar>(&self, problem: &Problem<T>, approach: Approach, run: &Run) -> Result<Components<T>> {
        let at = problem.at_landmarks(&self.approximation, run)?;
        let map = if approach == Approach::Ncr {
            let root = inverse_root::<T>(at.gram.as_ref(), at.gram.nrows())?;
            let lengths: Vec<f64> = root.col_iter().map(|col| col.norm_l2()).collect();
            let unit = Mat::from_fn(root.nrows(), root.ncols(), |i, j| root[(i, j)] / lengths[j]);
            at.functions(linalg::mul(root.as_ref(), unit.transpose()))
        } else {
            self.approximation.basis.fit(&at, problem.x.as_ref(), run)?
        };
        let n = problem.x.count();
        let moments = map.moments(problem.x.as_ref(), Mat::zeros(n, 0).as_ref(), None, run)?;
        let (sums, s) = (&moments.sums, map.count());
        let shift = |i: usize, j: usize| if self.center { sums[i] * sums[j] / n as f64 } else { 0.0 };
        let gram = Mat::from_fn(s, s, |i, j| moments.gram[(i, j)] - shift(i, j));
        let found = leading(gram, self.rank)?;
        let functions = map.combined(found.vectors.as_ref());
        let own = functions.apply(problem.x.as_ref(), run)?;
        let functions = self.anchored(functions, &own);
        Ok(Components { functions, values: found.values, landmarks: Some(at.gram.nrows()), solved: None })
    }

    fn substituted<T: Scalar>(&self, problem: &Problem<T>, run: &Run) -> Result<Components<T>> {
        let approximation = Approximation { approach: Some(Approach::Lla), ..self.approximation.clone() };
        let (_, mut f) = problem.features(&approximation, run)?;
        if self.center {
            center_columns(&mut f);
        }
        let found = leading(linalg::transpose_mul(f.as_ref(), f.as_ref()), self.rank)?;
        let mut weights = linalg::mul(f.as_ref(), found.vectors.as_ref());
        weights.col_iter_mut().zip(&found.values).for_each(|(col, v)| col.iter_mut().for_each(|w| *w /= v));
        let count = match &problem.own {
            Some(own) => own.count(),
            None => self.approximation.count_for(problem.x.count())?,
        };
        let functions = problem.over_samples(weights);
        let own = functions.apply(problem.x.as_ref(), run)?;
        let functions = self.anchored(functions, &own);
        Ok(Components { functions, values: found.values, landmarks: Some(count), solved: None })
    }

    /// Takes the means of the training samples off, and makes the largest component among them positive; `own` are their values.
    pub(in crate::estimators) fn anchored<T: Scalar>(
        &self,
        mut functions: KernelFunctions<T>,
        own: &Mat<f64>,
    ) -> KernelFunctions<T> {
        for (c, column) in own.col_iter().enumerate() {
            let mean = if self.center { column.iter().sum::<f64>() / own.nrows() as f64 } else { 0.0 };
            let longest = column.iter().map(|v| v - mean).fold(0.0f64, |a, v| if v.abs() > a.abs() { v } else { a });
            let sign = if longest < 0.0 { -1.0 } else { 1.0 };
            functions.bias[c] = -sign * mean;
            functions.weights.col_mut(c).iter_mut().for_each(|w| *w *= sign);
        }
        functions
    }
}

/// Functions of the components with their eigenvalues, and how they were found.
pub(in crate::estimators) struct Components<T> {
    pub(in crate::estimators) functions: KernelFunctions<T>,
    pub(in crate::estimators) values: Vec<f64>,
    pub(in crate::estimators) landmarks: Option<usize>,
    pub(in crate::estimators) solved: Option<SolveReport>,
}

/// The leading eigenpairs of a positive semidefinite matrix, fewer where it has fewer.
pub(in crate::estimators) fn leading(gram: Mat<f64>, rank: usize) -> Result<Directions> {
    let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
    let (mut values, vectors) = linalg::eigen(gram.as_ref()).ok_or_else(not_finite)?;
    let size = values.len() as f64;
    values.truncate(rank);
    let values = nonzero(values, f64::EPSILON * size);
    Ok(Directions { vectors: vectors.subcols(0, values.len()).to_owned(), values })
}

/// Values above a share of the first.
pub(in crate::estimators) fn nonzero(values: Vec<f64>, share: f64) -> Vec<f64> {
    let cut = values.first().copied().unwrap_or(0.0) * share;
    values.into_iter().take_while(|v| *v > cut).collect()
}

pub(in crate::estimators) fn center_columns(f: &mut Mat<f64>) {
    let n = f.nrows() as f64;
    for col in f.col_iter_mut() {
        let mean = col.as_ref().iter().sum::<f64>() / n;
        col.iter_mut().for_each(|v| *v -= mean);
    }
}

impl<T: Scalar> KernelPcaModel<T> {
    /// Whether the eigenpairs reached the tolerance.
    pub fn converged(&self) -> bool {
        self.solved.as_ref().is_none_or(SolveReport::converged)
    }

    /// What a user should know of them.
    pub fn warnings(&self) -> Vec<String> {
        self.solved.as_ref().map_or_else(Vec::new, |solved| solved.notes.clone())
    }

    /// Components of samples, a row for each.
    ///
    /// # Errors
    /// [`Error::Shape`] for samples of another width, [`Error::NotFinite`].
    pub fn transform(&self, x: SamplesRef<'_, T>, run: &Run) -> Result<Mat<f64>> {
        x.check_finite("the new rows")?;
        self.functions.apply(x, run)
    }

    /// The model as arrays and metadata.
    pub fn archive(&self) -> Archive {
        let mut archive = Archive::of_model::<T>(NAME);
        archive.set_field("params", &self.params);
        archive.set_field("n_train", self.n_train);
        archive.set_field("solved", &self.solved);
        archive.set_vector("variances", &self.variances);
        self.functions.put(&mut archive);
        archive
    }

    /// The model of an archive.
    ///
    /// # Errors
    /// [`Error::Archive`] for a damaged file or a model of another estimator.
    pub fn from_archive(archive: &Archive) -> Result<Self> {
        let estimator: String = archive.field("estimator")?;
        if estimator != NAME {
            return Err(archive.error(format!("is a model of `{estimator}`, not of `{NAME}`")));
        }
        let model = KernelPcaModel {
            functions: KernelFunctions::take(archive)?,
            variances: archive.vector("variances")?,
            params: archive.field("params")?,
            n_train: archive.field("n_train")?,
            // Files of earlier versions do not say.
            solved: archive.field("solved").unwrap_or_default(),
        };
        let fits = model.variances.len() == model.functions.count();
        if fits { Ok(model) } else { Err(archive.error("has arrays whose sizes do not fit together")) }
    }
}

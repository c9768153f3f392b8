use super::KernelPcaModel;
use crate::base::Run;
use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::data::samples::SamplesRef;
use crate::estimators::landmarked::{Approach, Approximation, GramErrors, Problem};
use crate::estimators::recipe::Usual;
use crate::estimators::{Gram, Plan};
use crate::solvers::landmarks::Landmarks;
use crate::solvers::lowrank::KernelFunctions;
use serde_json::json;

/// Most samples that the mean squares of the features are taken from.
const LOOKED_AT: usize = 4096;

/// The feature map of landmarks, x ↦ k(x, C)·A with AᵀK_mm·A = I (\[NKM\] Algorithm 1): scalar products of features
/// approximate the kernel, so that linear machines on them approximate kernel machines.
///
/// ```
/// use lopsided::estimators::NystromFeatures;
/// use lopsided::{Dataset, Mat, Run, Samples};
///
/// let x = Samples::Dense(Mat::from_fn(30, 2, |i, j| ((i * (j + 2)) % 13) as f64 / 13.0));
/// let map = NystromFeatures::new("rbf").with_landmarks(30).fit(&Dataset::new(x.clone()), &Run::default())?;
/// let f = map.transform(x.as_ref(), &Run::default())?;
/// // With all samples as landmarks the approximation is exact, and k(x, x) = 1 for this kernel.
/// assert!((0..30).all(|i| (f.row(i).squared_norm_l2() - 1.0).abs() < 1e-6));
/// # Ok::<(), lopsided::Error>(())
/// ```
///
/// # Cost
/// n·m kernel values and O(n·m² + m³) operations for n samples and m landmarks; memory O(m²).
#[derive(Clone, Debug)]
pub struct NystromFeatures {
    /// What makes the kernel matrix.
    pub gram: Gram,
    /// The landmarks and how they become an orthonormal basis; the approach is always `lla`.
    pub approximation: Approximation,
}

setters!(NystromFeatures: with_gram(gram: Gram),
    with_approximation(approximation: Approximation => Approximation { approach: Some(Approach::Lla), ..approximation }));

impl Default for NystromFeatures {
    /// What the recipe makes where nothing is said.
    fn default() -> Self {
        NystromFeatures::new(Usual::COMPONENTS.gram())
    }
}

impl NystromFeatures {
    /// 1000 landmarks drawn uniformly, or all samples where there are fewer.
    pub fn new(gram: impl Into<Gram>) -> Self {
        let approximation = Approximation { approach: Some(Approach::Lla), ..Approximation::default() };
        NystromFeatures { gram: gram.into(), approximation }
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        self.gram.settings().and(&self.approximation.settings())
    }

    /// The same with so many landmarks.
    pub fn with_landmarks(mut self, landmarks: usize) -> Self {
        self.approximation.landmarks = Some(landmarks);
        self
    }

    /// Places the landmarks; targets are not looked at. The model is one of components, whose variances are the mean squares
    /// of the features.
    ///
    /// # Errors
    /// Those of [`super::KernelPca::fit`].
    pub fn fit<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<KernelPcaModel<T>> {
        let problem = self.problem(data, run)?;
        let landmarks = problem.landmarks(&self.approximation, run)?;
        let rows = if let Landmarks::Indices(rows) = &landmarks { Some(json!(rows)) } else { None };
        let at = problem.at(landmarks, run)?;
        let functions = self.approximation.basis.fit(&at, problem.x.as_ref(), run)?;
        let mut params = self.approximation.params(problem.x.count(), Some(at.gram.nrows()));
        params.extend(problem.kernel.as_params());
        params.extend(rows.map(|rows| ("landmark-rows".to_string(), rows)));
        params.insert("kernel".into(), problem.kernel.name.clone().into());
        params.insert("rank".into(), functions.count().into());
        params.insert("center".into(), false.into());
        let variances = mean_squares(&functions, problem.x.as_ref(), run)?;
        let functions = problem.restored(functions);
        Ok(KernelPcaModel { functions, variances, params, n_train: problem.x.count(), solved: None })
    }

    /// What [`NystromFeatures::fit`] would do, without doing it.
    ///
    /// # Errors
    /// Those of [`NystromFeatures::fit`].
    pub fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Plan> {
        let problem = self.problem(data, run)?;
        let plan = self.approximation.plan(problem.kernel.clone(), data.x.as_ref(), data.x.count())?;
        Ok(plan.within(self.gram.bytes()))
    }

    /// How far the scalar products of features are from the kernel, over all pairs of samples.
    ///
    /// # Errors
    /// Those of [`NystromFeatures::fit`].
    pub fn errors<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<GramErrors> {
        self.problem(data, run)?.gram_errors(&self.approximation, run)
    }

    fn problem<T: Scalar>(&self, data: &Dataset<T>, run: &Run) -> Result<Problem<T>> {
        let n = data.x.count();
        self.approximation.check(n)?;
        Problem::new(&self.gram, data, &(0..n).collect::<Vec<_>>(), self.approximation.own.as_ref(), run)
    }
}

/// Of every feature, over samples at equal distances in the data.
fn mean_squares<T: Scalar>(functions: &KernelFunctions<T>, x: SamplesRef<'_, T>, run: &Run) -> Result<Vec<f64>> {
    let some: Vec<usize> = (0..x.count()).step_by(x.count().div_ceil(LOOKED_AT).max(1)).collect();
    let values = functions.apply(x.select(&some).as_ref(), run)?;
    Ok(values.col_iter().map(|col| col.squared_norm_l2() / some.len() as f64).collect())
}

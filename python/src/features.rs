//! The feature map of landmarks, kept as a model of components: the command line transforms with it too.

use lopsided::base::settings::Settings;
use lopsided::estimators::recipe::{self, Usual};
use lopsided::estimators::{APPROXIMATION_SETTINGS, Approximation, Gram, KernelPcaModel, OwnLandmarks};
use lopsided::kernel::KernelSpec;
use lopsided::operator::{KernelMatrix, OperatorChoice};
use lopsided::solvers::landmarks::{Landmarks, sampler};
use lopsided::solvers::lowrank::{KernelFunctions, LandmarkKernel};
use lopsided::{Dataset, Mat, Result, Run, Samples, SamplesRef, Scalar, Side};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most samples that the mean squares of the features are taken from.
const LOOKED_AT: usize = 4096;

/// x ↦ k(x, C)·A with AᵀK_mm·A = I, the features of \[NKM\] Algorithm 1.
pub(crate) fn fit<T: Scalar>(mut settings: Settings, data: Dataset<T>, run: &Run) -> Result<KernelPcaModel<T>> {
    let gram = recipe::take_gram(&mut settings, &Usual::COMPONENTS)?;
    settings.refuse_unknown(&[&APPROXIMATION_SETTINGS])?;
    let approximation = Approximation::default().with(&settings)?;
    let x = data.x;
    x.check_finite("X")?;
    let kernel = resolved(&gram, x.as_ref(), run.seed)?;
    let landmarks = match &approximation.own {
        Some(OwnLandmarks::Rows(own)) => Landmarks::Indices(own.clone()),
        Some(OwnLandmarks::Points(points)) => {
            Landmarks::Points(Samples::Dense(Mat::from_fn(points.nrows(), points.ncols(), |i, j| {
                T::of(points[(i, j)])
            })))
        }
        None => placed(&kernel, x.as_ref(), &approximation, run)?,
    };
    let mut params = described(&kernel, &approximation, &landmarks);
    let at = LandmarkKernel::new(&kernel, x.as_ref(), landmarks, run)?;
    let functions = approximation.basis.fit(&at, x.as_ref(), run)?;
    params.insert("rank".into(), functions.count().into());
    let variances = mean_squares(&functions, x.as_ref(), run)?;
    Ok(KernelPcaModel { functions, variances, params, n_train: x.count(), solved: None })
}

/// The kernel with its gamma.
fn resolved<T: Scalar>(svd: &Gram, x: SamplesRef<'_, T>, seed: u64) -> Result<KernelSpec> {
    if !svd.kernel.gamma_from_data() {
        return Ok(svd.kernel.clone());
    }
    let gamma = svd.gamma.resolve(svd.kernel.meeting(), x, x, svd.gamma_factor, seed)?;
    Ok(svd.kernel.clone().with("gamma", gamma))
}

/// What the sampler chooses.
fn placed<T: Scalar>(
    kernel: &KernelSpec,
    x: SamplesRef<'_, T>,
    approximation: &Approximation,
    run: &Run,
) -> Result<Landmarks<T>> {
    lopsided::solvers::lowrank::check_symmetric::<T>(kernel)?;
    let count = approximation.count_for(x.count())?;
    let sampler = sampler::<T>(&approximation.sampler, &Settings::default())?;
    let built = kernel.build::<T>()?;
    let watch = run.watch.clone();
    let matrix = KernelMatrix { choice: OperatorChoice::Tiles, watch, ..KernelMatrix::new(&*built, x, x) };
    let k = matrix.build()?.operator;
    // The centres of clusters are no samples, and a precomputed kernel is known only at samples.
    if kernel.is_precomputed() && approximation.sampler == "kmeans" {
        return sampler.pick(&*k, Side::Row, count, run.seed).map(Landmarks::Indices);
    }
    sampler.place(&*k, x, count, run.seed)
}

fn described<T: Scalar>(
    kernel: &KernelSpec,
    approximation: &Approximation,
    landmarks: &Landmarks<T>,
) -> BTreeMap<String, Value> {
    let mut params = BTreeMap::from([
        ("approach".to_string(), json!("lla")),
        ("center".to_string(), json!(false)),
        ("kernel".to_string(), json!(kernel.name)),
        ("landmarks".to_string(), json!(landmarks.count())),
        ("nystrom".to_string(), json!(approximation.basis.method.to_string())),
    ]);
    params.extend(kernel.params.iter().map(|(name, value)| (name.to_string(), json!(value))));
    let given =
        approximation.own.is_some() || matches!(landmarks, Landmarks::Points(_)) && approximation.sampler != "kmeans";
    params.insert("sampler".into(), if given { "given".into() } else { approximation.sampler.clone().into() });
    if let Landmarks::Indices(rows) = landmarks {
        params.insert("landmark-rows".into(), json!(rows));
    }
    params
}

/// Of every feature, over samples at equal distances in the data.
fn mean_squares<T: Scalar>(functions: &KernelFunctions<T>, x: SamplesRef<'_, T>, run: &Run) -> Result<Vec<f64>> {
    let some: Vec<usize> = (0..x.count()).step_by(x.count().div_ceil(LOOKED_AT).max(1)).collect();
    let values = functions.apply(x.select(&some).as_ref(), run)?;
    Ok(values.col_iter().map(|col| col.squared_norm_l2() / some.len() as f64).collect())
}

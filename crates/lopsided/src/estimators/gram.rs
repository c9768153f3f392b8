//! From data to the kernel matrix G: the kernel, its bandwidth, and how G is multiplied.

use super::{KernelSvd, Plan};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::setters;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::dataset::Dataset;
use crate::data::samples::SamplesRef;
use crate::kernel::{Gamma, Kernel, KernelSpec, Separable, kernel_settings};
use crate::operator::{KernelMatrix, OperatorChoice, OperatorKind, available_memory};
use std::ops::RangeInclusive;

/// Everything that makes the kernel matrix G of some data, which is what a kernel machine needs besides its own settings.
///
/// Machines take one wherever they ask for a kernel; a name alone is one with defaults:
///
/// ```
/// use lopsided::estimators::{Gram, Svm};
/// use lopsided::kernel::Gamma;
///
/// let by_name = Svm::new("rbf");
/// let in_full = Svm::new(Gram::new("rbf").with_gamma(Gamma::Median).with_gamma_factor(2.0));
/// # let _ = (by_name, in_full);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gram {
    /// The kernel; a `gamma` among its settings wins over [`Gram::gamma`].
    pub kernel: KernelSpec,
    /// How gamma is found for the kernels that need one.
    pub gamma: Gamma,
    /// Multiplies the bandwidth: gamma is divided by its square.
    pub gamma_factor: f64,
    /// How G is multiplied.
    pub operator: OperatorChoice,
    /// Bytes that may be used; `None`: [`available_memory`].
    pub memory: Option<u64>,
}

/// The one setting of the bandwidth that is not the kernel's own.
const GAMMA_FACTOR: Setting = Setting::new(
    "gamma-factor",
    "multiplies the bandwidth: gamma is divided by its square",
    "a number above 0",
    "1; 3 for graphs without a gamma; 1 or 3, by held-out rows, to learn values of rows without one",
);

/// Settings of [`Gram::with`]: those of all kernels and the factor of the bandwidth.
///
/// ```
/// use lopsided::estimators::gram_settings;
///
/// let names: Vec<&str> = gram_settings().iter().map(|setting| setting.name).collect();
/// assert!(names.contains(&"gamma") && names.contains(&"gamma-factor"));
/// ```
pub fn settings() -> Vec<Setting> {
    let mut all = kernel_settings();
    all.insert(1.min(all.len()), GAMMA_FACTOR);
    all
}

impl Default for Gram {
    /// The SNE kernel.
    fn default() -> Self {
        Gram::new("sne")
    }
}

setters!(Gram: with_kernel(kernel: KernelSpec), with_gamma(gamma: Gamma), with_gamma_factor(gamma_factor: f64),
    with_operator(operator: OperatorChoice), with_memory(memory: u64 => Some(memory)));

impl From<&str> for Gram {
    fn from(kernel: &str) -> Self {
        Gram::new(kernel)
    }
}

impl From<KernelSpec> for Gram {
    fn from(kernel: KernelSpec) -> Self {
        Gram { kernel, gamma: Gamma::default(), gamma_factor: 1.0, operator: OperatorChoice::Auto, memory: None }
    }
}

/// A kernel of your own, by value.
impl<K: Kernel<f64> + 'static> From<K> for Gram {
    fn from(kernel: K) -> Self {
        KernelSpec::from(kernel).into()
    }
}

impl Gram {
    /// Gamma by `scale`, any way to multiply G, 80 % of the free memory.
    pub fn new(kernel: &str) -> Self {
        KernelSpec::new(kernel).into()
    }

    /// The settings that a recipe makes it from.
    pub fn settings(&self) -> Settings {
        let plain = Settings::default().with("kernel", self.kernel.name.as_str()).with_word("operator", self.operator);
        let plain = plain.with_some("memory", self.memory.map(|bytes| bytes as f64));
        if !self.kernel.gamma_from_data() {
            return plain.and(&self.kernel.params);
        }
        plain.with_word("gamma", self.gamma).with("gamma-factor", self.gamma_factor).and(&self.kernel.params)
    }

    /// Bytes that may be used, whether or not that was said.
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.unwrap_or_else(available_memory)
    }

    /// The same with some settings of the kernel and its bandwidth changed.
    ///
    /// # Errors
    /// [`Error::Param`] for a value out of range or a setting that the kernel does not have.
    ///
    /// # Example
    /// Settings that are no setting of any kernel are left alone, so that a machine can hand over all of its own.
    ///
    /// ```
    /// use lopsided::base::settings::Settings;
    /// use lopsided::estimators::Gram;
    /// use lopsided::kernel::Gamma;
    ///
    /// let narrow = Gram::new("rbf").with(&Settings::default().with("gamma", 0.5).with("penalty", 2.0))?;
    /// assert_eq!(narrow.gamma, Gamma::Value(0.5));
    /// assert!(Gram::new("linear").with(&Settings::default().with("gamma-factor", 2.0)).is_err());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn with(&self, given: &Settings) -> Result<Self> {
        let known = settings();
        given.iter().filter(|(name, _)| known.iter().any(|s| s.name == *name)).try_fold(
            self.clone(),
            |gram, (name, value)| match name {
                "gamma" => gram.with_given_gamma(value),
                "gamma-factor" => gram.with_given_factor(given, value),
                _ => gram.with_given(name, value),
            },
        )
    }

    fn with_given(mut self, setting: &str, value: &Value) -> Result<Self> {
        if !matches!(value, Value::Number(_)) {
            return Err(Error::param(setting, value, "a number"));
        }
        self.kernel = self.kernel.with(setting, value.clone());
        self.kernel.build::<f64>()?;
        Ok(self)
    }

    fn with_given_factor(mut self, given: &Settings, value: &Value) -> Result<Self> {
        if !self.kernel.gamma_from_data() {
            let allowed = format!("left out for the kernel `{}`", self.kernel.name);
            return Err(Error::param("gamma-factor", value, allowed));
        }
        self.gamma_factor = given.positive("gamma-factor", None)?;
        Ok(self)
    }

    fn with_given_gamma(mut self, value: &Value) -> Result<Self> {
        match value.to_string().parse()? {
            gamma if self.kernel.gamma_from_data() => self.gamma = gamma,
            Gamma::Value(value) => {
                self.kernel = self.kernel.with("gamma", value);
                self.kernel.build::<f64>()?;
            }
            rule => {
                return Err(Error::param("gamma", rule, format!("a number for the kernel `{}`", self.kernel.name)));
            }
        }
        Ok(self)
    }

    /// The kernel with its gamma.
    pub(crate) fn built_kernel<T: Scalar>(
        &self,
        data: &Dataset<T>,
        seed: u64,
    ) -> Result<(KernelSpec, Box<dyn Kernel<T>>)> {
        let spec = self.check(data, seed)?;
        let kernel = spec.build::<T>()?;
        Ok((spec, kernel))
    }

    /// What a machine that works with all of G would cost, by the products with one vector that it takes where G is stored or
    /// evaluated, and where it is sparse.
    pub(crate) fn plan<T: Scalar>(&self, data: &Dataset<T>, run: &Run, (dense, sparse): (f64, f64)) -> Result<Plan> {
        let plan = KernelSvd::new(self.clone()).with_rank(1).plan(data, run)?;
        let evaluated = matches!(plan.operator.kind, OperatorKind::Dense | OperatorKind::Tiles);
        let (product, start) = plan.operator.seconds;
        let seconds = start + product * if evaluated { dense } else { sparse };
        Ok(Plan { seconds: 0.0, ..plan }.with_more(seconds))
    }

    /// G, before anything of it is computed.
    pub(crate) fn matrix<'a, T: Scalar>(
        &self,
        kernel: &'a dyn Kernel<T>,
        data: &'a Dataset<T>,
        run: &Run,
    ) -> KernelMatrix<'a, T> {
        KernelMatrix {
            choice: self.operator,
            memory: self.bytes(),
            seed: run.seed,
            device: run.device,
            fast: run.fast,
            watch: run.watch.clone(),
            ..KernelMatrix::new(kernel, data.x.as_ref(), data.cols().as_ref())
        }
    }

    /// Everything about the input that a user can get wrong; the kernel with its gamma.
    fn check<T: Scalar>(&self, data: &Dataset<T>, seed: u64) -> Result<KernelSpec> {
        let (x, z) = (data.x.as_ref(), data.cols().as_ref());
        let kernel = self.kernel.build::<T>().or_else(|e| {
            if self.kernel.gamma_from_data() && self.kernel.params.value("gamma").is_none() {
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
        if data.frame.is_none() {
            self.kernel.refuse_graph_kernel("one that compares samples: it is a kernel of the nodes of a graph")?;
        }
        x.check_finite("X")?;
        if data.z.is_some() {
            z.check_finite("Z")?;
        }
        if matches!(kernel.separable(), Some(Separable::Dot)) {
            check_products(x)?;
        }
        if !self.kernel.is_precomputed() && x.width() != z.width() {
            return Err(Error::shape("the width of the column samples", x.width(), z.width()));
        }
        if !self.kernel.gamma_from_data() || self.kernel.params.value("gamma").is_some() {
            return Ok(self.kernel.clone());
        }
        let gamma = self.gamma.resolve(self.kernel.meeting(), x, z, self.gamma_factor, seed)?;
        Ok(self.kernel.clone().with("gamma", gamma))
    }
}

/// Sizes of numbers whose scalar products, and the squares of these that machines need, are neither infinite nor nothing.
fn safe<T: Scalar>() -> RangeInclusive<f64> {
    if T::BYTES == 4 { 1e-17..=1e17 } else { 1e-75..=1e75 }
}

/// Whether scalar products of these samples can be computed with.
pub(super) fn products_fit<T: Scalar>(x: SamplesRef<'_, T>) -> bool {
    let largest = x.largest();
    largest == 0.0 || safe::<T>().contains(&largest)
}

/// Refuses samples whose scalar products, or the squares of these that machines need, would be infinite or nothing.
fn check_products<T: Scalar>(x: SamplesRef<'_, T>) -> Result<()> {
    if products_fit(x) {
        return Ok(());
    }
    let (range, largest) = (safe::<T>(), x.largest());
    let (least, most) = (range.start(), range.end());
    Err(Error::OutOfRange {
        what: "the scalar products of the samples".into(),
        kind: T::NAME,
        reason: format!("their largest number is {largest:e}"),
        advice: format!("bring it between {least:e} and {most:e}, as scale standard does"),
    })
}

//! Kernels: how one row sample sees one column sample.
//!
//! A kernel evaluates blocks of values between samples ([`Kernel::block`]) and says two more things about itself: what is
//! done to a whole row of values to get a row of G ([`Normalization`], for the SNE and T kernels), and whether G is rank one
//! plus sparse for sparse samples ([`Separable`]). With S = X·Zᵀ, which vanishes wherever two samples share no coordinate,
//!
//! ```text
//! exp(−gamma(|x|² + |z|² − 2S)) = a(x)·b(z) + a(x)·b(z)·expm1(2·gamma·S),   a(x) = exp(−gamma|x|²), b(z) = exp(−gamma|z|²)
//! (gamma·S + coef0)^degree      = coef0^degree + (a term that vanishes with S)
//! ```
//!
//! so that products with G cost as much as products with S. Dense samples, and kernels without that form, are evaluated in
//! tiles. All kernels are in one list, [`kernels`], from which the command line and saved models make them by name.

mod gamma;
mod graph;
mod kl;
mod laplacian;
mod linear;
mod own;
pub mod pair;
mod polynomial;
mod precomputed;
mod rbf;
mod sne;
mod t;

pub use gamma::Gamma;
pub use graph::GraphKernel;
pub use kl::Kl;
pub use laplacian::Laplacian;
pub use linear::Linear;
pub use polynomial::Polynomial;
pub use precomputed::Precomputed;
pub use rbf::Rbf;
pub use sne::Sne;
pub use t::StudentT;

use crate::base::error::Result;
use crate::base::registry::{self, Entry};
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings, Value};
use crate::data::graph::GraphRule;
use crate::data::samples::SamplesRef;
use faer::MatMut;
use pair::Meeting;

/// How one row sample sees one column sample. Not assumed symmetric, not assumed positive.
pub trait Kernel<T: Scalar>: Send + Sync {
    /// out\[i, j\] ← k(x_i, z_j); for a kernel with a [`Normalization`] the values before it.
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()>;

    /// What is done to a whole row of [`Kernel::block`] to get the row of G.
    fn normalization(&self) -> Normalization {
        Normalization::None
    }

    /// The form that makes G rank one plus sparse for sparse samples, where the kernel has it. `None`: tiles.
    fn separable(&self) -> Option<Separable<T>> {
        None
    }

    /// The derivative of [`Kernel::block`], where the kernel has one; what learns through a kernel needs it.
    fn derivative(&self) -> Option<Derivative<T>> {
        None
    }

    /// True when the samples X are the rows of G themselves.
    fn is_precomputed(&self) -> bool {
        false
    }

    /// The kernel of a graph's nodes that this is, where it is one: X is then the matrix of the graph.
    fn graph(&self) -> Option<GraphKernel> {
        None
    }
}

/// How a row of kernel values becomes a row of G.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// As it is.
    None,
    /// Divided by its sum over all column samples.
    RowSum,
    /// The values are exponents: G = exp(value) divided by its sum over all column samples, without underflow.
    Softmax,
}

/// How the values of [`Kernel::block`] change with what they are a function of.
pub enum Derivative<T> {
    /// With |x − z|², as a function of the value.
    ByDistance(Box<dyn Fn(T) -> T + Send + Sync>),
    /// With ⟨x, z⟩, as a function of ⟨x, z⟩.
    ByDot(Box<dyn Fn(T) -> T + Send + Sync>),
}

/// Kernels whose matrix is rank one plus sparse, exactly, when the samples are sparse.
pub enum Separable<T> {
    /// k = exp(−gamma·distance), with a distance of size(x) + size(z) − (1 or 2)·meeting. A kernel with
    /// [`Normalization::Softmax`] means the exponent by it.
    Exponential {
        /// Coefficient of the distance.
        gamma: T,
        /// Squared Euclidean or L1.
        meeting: Meeting,
    },
    /// k = f(⟨x, z⟩).
    OfDot(Box<dyn Fn(T) -> T + Send + Sync>),
    /// k = ⟨x, z⟩: products with G are two products with the samples.
    Dot,
}

/// What holds for a kernel whatever its settings are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nature {
    /// k(x, z) = k(z, x) for all samples.
    pub symmetric: bool,
    /// The distance that `gamma` multiplies, where gamma has no fixed default and is found from the data.
    pub bandwidth: Option<Meeting>,
    /// The input is the matrix of values itself.
    pub precomputed: bool,
    /// How a graph becomes a matrix for a kernel of its nodes, unless the user says otherwise.
    pub graph: Option<GraphRule>,
}

type Listed<T> = (Entry<dyn Kernel<T>>, Nature);

fn listed<T: Scalar>() -> Vec<Listed<T>> {
    let of_samples = vec![
        (linear::entry(), linear::NATURE),
        (polynomial::entry(), polynomial::NATURE),
        (rbf::entry(), rbf::NATURE),
        (laplacian::entry(), laplacian::NATURE),
        (sne::entry(), sne::NATURE),
        (t::entry(), Nature::default()),
        (kl::entry(), Nature::default()),
        (precomputed::entry(), precomputed::NATURE),
    ];
    of_samples.into_iter().chain(graph::entries()).collect()
}

/// All kernels. The order is the order of every listing.
pub fn kernels<T: Scalar>() -> Vec<Entry<dyn Kernel<T>>> {
    listed().into_iter().map(|(entry, _)| entry).collect()
}

/// Settings of all kernels, each once.
pub fn kernel_settings() -> Vec<Setting> {
    // The gamma that most kernels mean.
    let mut all: Vec<Setting> = vec![GAMMA];
    for setting in kernels::<f64>().iter().flat_map(|entry| entry.settings) {
        if !all.iter().any(|known| known.name == setting.name) {
            all.push(*setting);
        }
    }
    all
}

/// The coefficient of the distance in kernels that find it from the data.
const GAMMA: Setting = Setting::new(
    "gamma",
    "coefficient of the distance",
    "a number above 0, scale, median or ksvd",
    "scale; median for tables that are learned or clustered",
);
/// The same in kernels that do not.
const FIXED_GAMMA: Setting = Setting::new("gamma", "coefficient of the distance", "a number above 0", "1");

/// A kernel by name, with its parameters: what users write and models save.
///
/// ```
/// use lopsided::kernel::KernelSpec;
///
/// assert!(KernelSpec::new("rbf").with("gamma", 0.5).build::<f64>().is_ok());
/// let error = KernelSpec::new("rbf").with("gamma", -1.0).build::<f64>().err().unwrap();
/// assert_eq!(error.to_string(), "`gamma` is -1 but must be a number above 0");
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KernelSpec {
    /// Name in the list of [`kernels`].
    pub name: String,
    /// Its parameters.
    pub params: Settings,
    /// The kernel itself, where it is not in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own: Option<own::Own>,
}

impl From<&str> for KernelSpec {
    fn from(name: &str) -> Self {
        KernelSpec::new(name)
    }
}

impl KernelSpec {
    /// What holds for it whatever its settings are; nothing for a name that is not in the list.
    pub fn nature(&self) -> Nature {
        if let Some(own) = &self.own {
            return own.nature;
        }
        listed::<f64>().iter().find(|(entry, _)| entry.name == self.name).map_or_else(Nature::default, |(_, n)| *n)
    }

    /// Whether k(x, z) = k(z, x) for all samples.
    pub fn is_symmetric(&self) -> bool {
        self.nature().symmetric
    }

    /// Whether the input is the matrix of values itself.
    pub fn is_precomputed(&self) -> bool {
        self.nature().precomputed
    }

    /// A kernel without parameters.
    pub fn new(name: &str) -> Self {
        KernelSpec { name: name.into(), params: Settings::default(), own: None }
    }

    /// The same kernel with one parameter set.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params = self.params.with(name, value);
        self
    }

    /// Its settings as reports name them.
    pub(crate) fn as_params(&self) -> impl Iterator<Item = (String, serde_json::Value)> {
        self.params.iter().map(|(name, value)| (name.into(), serde_json::json!(value)))
    }

    /// The kernel itself.
    pub fn build<T: Scalar>(&self) -> Result<Box<dyn Kernel<T>>> {
        if let Some(own) = &self.own {
            return own.build(&self.name, &self.params);
        }
        registry::build("kernel", &kernels::<T>(), &self.name, &self.params)
    }

    /// True for kernels whose `gamma` has no fixed default and is chosen from the data.
    pub fn gamma_from_data(&self) -> bool {
        self.nature().bandwidth.is_some()
    }

    /// The distance `gamma` multiplies.
    pub fn meeting(&self) -> Meeting {
        self.nature().bandwidth.unwrap_or(Meeting::Dot)
    }
}

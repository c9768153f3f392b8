//! Kernels: how one row sample sees one column sample.
//!
//! A reader starts with [`KernelSpec`], a kernel by name with its settings, and [`KernelSpec::build`], which makes the
//! [`Kernel`] itself. [`crate::operator::KernelMatrix`] puts a kernel and two sample sets together to the matrix G of
//! all values; estimators do both. [`Gamma`] finds the bandwidth from the data where a kernel leaves it open.
//!
//! | name | k(x, z) | settings, defaults | symmetric | G of sparse samples |
//! | --- | --- | --- | --- | --- |
//! | `linear` | ⟨x, z⟩ | none | yes | two products with the samples |
//! | `poly` | (gamma·⟨x, z⟩ + coef0)^degree | gamma 1, coef0 1, degree 3 | yes | constant plus sparse |
//! | `rbf` | exp(−gamma·‖x − z‖²) | gamma by a rule | yes | rank one plus sparse |
//! | `laplacian` | exp(−gamma·‖x − z‖₁) | gamma by a rule | yes | rank one plus sparse |
//! | `sne` | the RBF value divided by its sum over all z | gamma by a rule | no | rank one plus sparse, rows scaled |
//! | `t` | 1/(1 + gamma·‖x − z‖²), divided likewise | gamma 1 | no | evaluated in tiles |
//! | `kl` | exp(−gamma·KL(x‖z)) of histograms | gamma 1, epsilon 1e-6 | no | evaluated in tiles |
//! | `precomputed` | G is the input itself | none | no | as it is given |
//! | `katz` | Σ_{k ≥ 1} (βA)^k of a graph's links A | beta 0.5 | no | a series of products with A |
//! | `ppr` | (1 − α)·(I − αP)⁻¹ of a graph's matrix P | alpha 0.85 | no | a series of products with P |
//! | `shortest-path` | exp(−decay·d), d links apart | decay 1 | no | stored, far pairs left out |
//!
//! Symmetric means k(x, z) = k(z, x). G is asymmetric all the same whenever the rows X and the columns Z are different
//! samples; with Z = X only the kernels marked `no` can give an asymmetric G.
//!
//! A kernel evaluates blocks of values between samples ([`Kernel::block`]) and says two more things about itself: what
//! is done to a whole row of values to get a row of G ([`Normalization`], for the SNE and T kernels), and whether G is
//! rank one plus sparse for sparse samples ([`Separable`]). With S = X·Zᵀ, which vanishes wherever two samples share no
//! coordinate,
//!
//! ```text
//! exp(−gamma(|x|² + |z|² − 2S)) = a(x)·b(z) + a(x)·b(z)·expm1(2·gamma·S)
//!                                 a(x) = exp(−gamma|x|²), b(z) = exp(−gamma|z|²)
//! (gamma·S + coef0)^degree      = coef0^degree + (a term that vanishes with S)
//! ```
//!
//! so that products with G cost as much as products with S. Dense samples, and kernels without that form, are evaluated
//! in tiles. All kernels are in one list, [`kernels`], from which the command line and saved models make them by name.
//!
//! ```
//! use lopsided::kernel::{Kernel, Linear, Rbf};
//! use lopsided::{Mat, Samples};
//!
//! let x = Samples::Dense(faer::mat![[1.0, 2.0]]);
//! let z = Samples::Dense(faer::mat![[3.0, 4.0], [1.0, 2.0]]);
//! let mut g = Mat::<f64>::zeros(1, 2);
//! Linear.block(x.as_ref(), z.as_ref(), g.as_mut())?;
//! assert_eq!(g, faer::mat![[11.0, 5.0]]);
//! Rbf { gamma: 0.5 }.block(x.as_ref(), z.as_ref(), g.as_mut())?;
//! assert!((g[(0, 0)] - (-4.0_f64).exp()).abs() < 1e-12); // |x − z|² = 8
//! assert_eq!(g[(0, 1)], 1.0); // a sample is next to itself
//! # Ok::<(), lopsided::Error>(())
//! ```

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
///
/// A new kernel needs [`Kernel::block`] alone; the other methods have answers that are true of every kernel and make it
/// no faster. Whoever implements one of them promises the formula that stands there.
///
/// ```
/// use lopsided::kernel::Kernel;
/// use lopsided::{Mat, Result, Samples, SamplesRef};
///
/// /// k(x, z) = z₁ − x₁: how far z is ahead of x.
/// struct Ahead;
///
/// impl Kernel<f64> for Ahead {
///     fn block(&self, x: SamplesRef<'_, f64>, z: SamplesRef<'_, f64>, mut out: faer::MatMut<'_, f64>) -> Result<()> {
///         for i in 0..x.count() {
///             for j in 0..z.count() {
///                 let mut ahead = 0.0;
///                 z.for_each(j, |k, v| if k == 0 { ahead += v });
///                 x.for_each(i, |k, v| if k == 0 { ahead -= v });
///                 out[(i, j)] = ahead;
///             }
///         }
///         Ok(())
///     }
/// }
///
/// let x = Samples::Dense(faer::mat![[1.0], [4.0]]);
/// let mut g = Mat::<f64>::zeros(2, 2);
/// Ahead.block(x.as_ref(), x.as_ref(), g.as_mut())?;
/// assert_eq!(g, faer::mat![[0.0, 3.0], [-3.0, 0.0]]);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub trait Kernel<T: Scalar>: Send + Sync {
    /// out\[i, j\] ← k(x_i, z_j); for a kernel with a [`Normalization`] the values before it.
    ///
    /// `out` has a row for each sample of x and a column for each sample of z, and is overwritten whatever it held.
    ///
    /// # Errors
    /// [`crate::Error::Param`] for samples the kernel is not made for (histograms with negative bins), and always for
    /// kernels that are no function of two samples ([`Precomputed`], [`GraphKernel`]).
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()>;

    /// What is done to a whole row of [`Kernel::block`] to get the row of G.
    fn normalization(&self) -> Normalization {
        Normalization::None
    }

    /// The form that makes G rank one plus sparse for sparse samples, where the kernel has it. `None`: tiles.
    fn separable(&self) -> Option<Separable<T>> {
        None
    }

    /// The kernel as a formula, where it has one of those that a card can compute.
    fn formula(&self) -> Option<Formula> {
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
///
/// Both divisions make the rows of G probability distributions over the column samples, and G asymmetric even for Z =
/// X: row i is divided by a sum of its own. New rows are divided by their own sums; new columns meet the sums of the
/// training columns, so that a column never changes the values of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalization {
    /// As it is.
    None,
    /// Divided by its sum over all column samples.
    ///
    /// G\[i, j\] = v_ij / Σ_j' v_ij'. The values must be positive, as those of [`StudentT`] are.
    RowSum,
    /// The values are exponents: G = exp(value) divided by its sum over all column samples, without underflow.
    ///
    /// G\[i, j\] = exp(v_ij − l_i) with l_i = ln Σ_j' exp(v_ij'), which stays in range for exponents of any size: the
    /// largest one of a row is taken out of the sum.
    Softmax,
}

/// How the values of [`Kernel::block`] change with what they are a function of.
///
/// With v the value, d = |x − z|² and s = ⟨x, z⟩:
///
/// | kernel | derivative | gradient with respect to x |
/// | --- | --- | --- |
/// | [`Rbf`] | dv/dd = −gamma·v | −2·gamma·v·(x − z) |
/// | [`Sne`] (the exponent) | dv/dd = −gamma | −2·gamma·(x − z) |
/// | [`StudentT`] (before the division) | dv/dd = −gamma·v² | −2·gamma·v²·(x − z) |
/// | [`Linear`] | dv/ds = 1 | z |
/// | [`Polynomial`] | dv/ds = degree·gamma·(gamma·s + coef0)^(degree − 1) | (dv/ds)·z |
///
/// The other kernels have none: the L1 distance has corners, and histograms and graphs are not moved by gradients.
///
/// ```
/// use lopsided::kernel::{Derivative, Kernel, Polynomial};
///
/// let cube = Polynomial { gamma: 1.0, coef0: 0.0, degree: 3 };
/// let Some(Derivative::ByDot(slope)) = Kernel::<f64>::derivative(&cube) else { panic!("a polynomial has one") };
/// assert_eq!(slope(2.0), 12.0); // 3·2²
/// ```
pub enum Derivative<T> {
    /// With |x − z|², as a function of the value.
    ByDistance(Box<dyn Fn(T) -> T + Send + Sync>),
    /// With ⟨x, z⟩, as a function of ⟨x, z⟩.
    ByDot(Box<dyn Fn(T) -> T + Send + Sync>),
}

/// Kernels whose matrix is rank one plus sparse, exactly, when the samples are sparse.
///
/// [`crate::operator::SparseOperator`] is made from it: a rank-one part α·βᵀ, and a sparse matrix C with entries only
/// where two samples share a coordinate. Nothing is approximated.
///
/// ```
/// use lopsided::kernel::{Kernel, Polynomial, Separable};
///
/// let square = Polynomial { gamma: 1.0, coef0: 2.0, degree: 2 };
/// let Some(Separable::OfDot(f)) = Kernel::<f64>::separable(&square) else { panic!("a function of ⟨x, z⟩") };
/// assert_eq!(f(0.0), 4.0); // the constant part, for all pairs that share nothing
/// assert_eq!(f(1.0) - f(0.0), 5.0); // what a sparse entry adds
/// ```
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
    ///
    /// The constant part is f(0), the sparse part f(⟨x, z⟩) − f(0).
    OfDot(Box<dyn Fn(T) -> T + Send + Sync>),
    /// k = ⟨x, z⟩: products with G are two products with the samples.
    Dot,
}

/// The value of a kernel from d = |x − z|² or s = ⟨x, z⟩, for devices that cannot call [`Kernel::block`].
///
/// ```
/// use lopsided::kernel::{Formula, Kernel, StudentT};
///
/// assert_eq!(Kernel::<f64>::formula(&StudentT { gamma: 2.0 }), Some(Formula::Inverse { gamma: 2.0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Formula {
    /// exp(−gamma·d); a kernel with [`Normalization::Softmax`] means the exponent by it.
    Exponential {
        /// Coefficient of the squared distance.
        gamma: f64,
    },
    /// 1/(1 + gamma·d).
    Inverse {
        /// Coefficient of the squared distance.
        gamma: f64,
    },
    /// (gamma·s + coef0)^degree.
    Power {
        /// Scale of the scalar product.
        gamma: f64,
        /// Added to it.
        coef0: f64,
        /// Exponent.
        degree: u32,
    },
}

/// What holds for a kernel whatever its settings are.
///
/// Nothing here needs the samples or a built kernel, so that it can be asked before any data are read. The default is
/// that of an asymmetric kernel of samples whose parameters have fixed defaults.
///
/// ```
/// use lopsided::kernel::KernelSpec;
///
/// assert!(KernelSpec::new("rbf").nature().symmetric);
/// assert!(KernelSpec::new("sne").nature().bandwidth.is_some() && !KernelSpec::new("sne").nature().symmetric);
/// assert!(KernelSpec::new("t").nature().bandwidth.is_none()); // gamma is 1 unless given
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Nature {
    /// k(x, z) = k(z, x) for all samples.
    pub symmetric: bool,
    /// The distance that `gamma` multiplies, where gamma has no fixed default and is found from the data.
    pub bandwidth: Option<Meeting>,
    /// What its values are made of.
    pub form: Form,
    /// How a graph becomes a matrix for a kernel of its nodes, unless the user says otherwise.
    pub graph: Option<GraphRule>,
}

impl Nature {
    /// The default, for constants.
    const PLAIN: Nature = Nature { symmetric: false, bandwidth: None, form: Form::Other, graph: None };

    /// Of a function of distances whose gamma is found from the data.
    const fn of_distances(meeting: Meeting, symmetric: bool) -> Nature {
        Nature { symmetric, bandwidth: Some(meeting), form: Form::Distance, graph: None }
    }
}

/// What the values of a kernel are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Of the distance of two samples, to which every coordinate adds its share.
    Distance,
    /// The scalar product of samples as they are, whose values grow with the squares of the coordinates.
    Product,
    /// The input is the matrix of values itself.
    Precomputed,
    /// Anything else.
    #[default]
    Other,
}

/// A kernel as it is built by name, and what holds for it in any case.
type Listed<T> = (Entry<dyn Kernel<T>>, Nature);

/// The one place where a kernel is registered: kernels of samples first, those of a graph's nodes after them.
fn listed<T: Scalar>() -> Vec<Listed<T>> {
    let of_samples = vec![
        (linear::entry(), linear::NATURE),
        (polynomial::entry(), polynomial::NATURE),
        (rbf::entry(), rbf::NATURE),
        (laplacian::entry(), laplacian::NATURE),
        (sne::entry(), sne::NATURE),
        (t::entry(), Nature { form: Form::Distance, ..Nature::PLAIN }),
        (kl::entry(), Nature::default()),
        (precomputed::entry(), precomputed::NATURE),
    ];
    of_samples.into_iter().chain(graph::entries()).collect()
}

/// All kernels. The order is the order of every listing.
///
/// ```
/// let names: Vec<&str> = lopsided::kernel::kernels::<f64>().iter().map(|entry| entry.name).collect();
/// assert_eq!(names[..4], ["linear", "poly", "rbf", "laplacian"]);
/// assert_eq!(names[4..], ["sne", "t", "kl", "precomputed", "katz", "ppr", "shortest-path"]);
/// ```
pub fn kernels<T: Scalar>() -> Vec<Entry<dyn Kernel<T>>> {
    listed().into_iter().map(|(entry, _)| entry).collect()
}

/// Settings of all kernels, each once.
///
/// Of a name that several kernels use the first description is kept; `gamma` has the one of the kernels of distances.
///
/// ```
/// let settings = lopsided::kernel::kernel_settings();
/// assert_eq!(settings[0].name, "gamma");
/// assert_eq!(settings.iter().filter(|setting| setting.name == "gamma").count(), 1);
/// assert!(settings.iter().any(|setting| setting.name == "degree" && setting.default == "3"));
/// ```
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

/// The entry of a kernel whose one setting is a gamma that the data give where the user does not.
fn gamma_entry<T: Scalar>(
    name: &'static str,
    about: &'static str,
    build: fn(&Settings) -> Result<Box<dyn Kernel<T>>>,
) -> Entry<dyn Kernel<T>> {
    Entry { name, about, settings: &[GAMMA], build }
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
        self.nature().form == Form::Precomputed
    }

    /// Whether it is not in the list.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// A kernel without parameters.
    pub fn new(name: &str) -> Self {
        KernelSpec { name: name.into(), params: Settings::default(), own: None }
    }

    /// The same kernel with one parameter set, or set anew; whether the kernel knows it shows in [`KernelSpec::build`].
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params = self.params.with(name, value);
        self
    }

    /// Its settings as reports name them.
    pub(crate) fn as_params(&self) -> impl Iterator<Item = (String, serde_json::Value)> {
        self.params.iter().map(|(name, value)| (name.into(), serde_json::json!(value)))
    }

    /// The kernel itself.
    ///
    /// ```
    /// use lopsided::kernel::KernelSpec;
    ///
    /// let message = |spec: KernelSpec| spec.build::<f64>().err().unwrap().to_string();
    /// assert!(message(KernelSpec::new("rbg")).starts_with("no kernel `rbg` (did you mean `rbf`?)"));
    /// assert_eq!(message(KernelSpec::new("sne")), "`gamma` is missing but must be a number above 0");
    /// assert!(message(KernelSpec::new("linear").with("gamma", 1.0)).ends_with("must be one it takes: none"));
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Unknown`] for a name that is not in the list, with the one that may have been meant;
    /// [`crate::Error::Param`] for a parameter the kernel does not take, for a value outside its range, and for a
    /// `gamma` that is missing where it has no fixed default.
    pub fn build<T: Scalar>(&self) -> Result<Box<dyn Kernel<T>>> {
        if let Some(own) = &self.own {
            return own.build(&self.name, &self.params);
        }
        registry::build("kernel", &kernels::<T>(), &self.name, &self.params)
    }

    /// True for kernels whose `gamma` has no fixed default and is chosen from the data by a rule of [`Gamma`].
    pub fn gamma_from_data(&self) -> bool {
        self.nature().bandwidth.is_some()
    }

    /// The distance `gamma` multiplies: L1 for the Laplacian kernel, the squared Euclidean one for all others.
    pub fn meeting(&self) -> Meeting {
        self.nature().bandwidth.unwrap_or(Meeting::Dot)
    }
}

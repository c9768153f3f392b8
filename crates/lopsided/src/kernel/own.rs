//! Kernels that are not in the list: implemented elsewhere and handed over by value.

use super::{Derivative, Form, Formula, GraphKernel, Kernel, KernelSpec, Nature, Normalization, Separable};
use crate::base::error::{Error, Result};
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::samples::SamplesRef;
use faer::MatMut;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

/// A kernel by value, and what holds for it.
#[derive(Clone)]
pub(super) struct Own {
    /// An `Arc<dyn Kernel<T>>` of the one precision T that the kernel computes in.
    kernel: Arc<dyn Any + Send + Sync>,
    precision: &'static str,
    pub(super) nature: Nature,
}

impl Own {
    pub(super) fn build<T: Scalar>(&self, name: &str, params: &Settings) -> Result<Box<dyn Kernel<T>>> {
        if let Some((setting, value)) = params.iter().next() {
            let allowed = format!("left out: `{name}` was given by value, with its settings inside");
            return Err(Error::param(setting, value, allowed));
        }
        let kernel = self.kernel.downcast_ref::<Arc<dyn Kernel<T>>>();
        let other = || Error::param("precision", T::NAME, format!("{}, that of the kernel `{name}`", self.precision));
        kernel.map(|kernel| Box::new(Arc::clone(kernel)) as Box<dyn Kernel<T>>).ok_or_else(other)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "by value, {}, {:?}", self.precision, self.nature)
    }
}

/// Equal when it is the same kernel; two values of one type are not compared.
impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.kernel, &other.kernel) && self.nature == other.nature
    }
}

/// A file could not hold the code of the kernel, so a model that has one refuses to be saved.
impl Serialize for Own {
    fn serialize<S: Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
        Err(S::Error::custom("a kernel given by value cannot be saved"))
    }
}

impl<'de> Deserialize<'de> for Own {
    fn deserialize<D: Deserializer<'de>>(_: D) -> std::result::Result<Self, D::Error> {
        Err(serde::de::Error::custom("a kernel given by value cannot be read"))
    }
}

impl KernelSpec {
    /// A kernel of your own, of precision T, for every machine that takes a kernel.
    ///
    /// It is taken for asymmetric until [`KernelSpec::symmetric`] says otherwise, its settings are its own, and a model with
    /// it can be used but not saved. In double precision `into()` does the same.
    ///
    /// ```
    /// use lopsided::kernel::{Kernel, KernelSpec};
    /// use lopsided::{Dataset, KernelSvd, Mat, Run, Samples, SamplesRef};
    ///
    /// /// The share of x that z covers: Σ min(x, z) / Σ x.
    /// struct Covered;
    ///
    /// impl Kernel<f64> for Covered {
    ///     fn block(&self, x: SamplesRef<'_, f64>, z: SamplesRef<'_, f64>, mut out: faer::MatMut<'_, f64>) -> lopsided::Result<()> {
    ///         let (x, z) = (x.to_dense(), z.to_dense());
    ///         for i in 0..x.nrows() {
    ///             let whole: f64 = x.row(i).iter().sum();
    ///             for j in 0..z.nrows() {
    ///                 out[(i, j)] = x.row(i).iter().zip(z.row(j).iter()).map(|(a, b)| a.min(*b)).sum::<f64>() / whole;
    ///             }
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let x = Samples::Dense(Mat::from_fn(6, 3, |i, j| 1.0 + ((i * 2 + j * 5) % 7) as f64));
    /// let model = KernelSvd::new(Covered).with_rank(2).fit(Dataset::new(x), &Run::default())?;
    /// assert_eq!(model.singular_values().len(), 2);
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn own<T: Scalar>(kernel: impl Kernel<T> + 'static) -> Self {
        fn named<K>(_: &K) -> &'static str {
            let path = type_name::<K>();
            path.rsplit("::").next().unwrap_or(path)
        }
        let name = named(&kernel);
        let form = if kernel.is_precomputed() { Form::Precomputed } else { Form::Other };
        let nature = Nature { form, ..Nature::PLAIN };
        let kernel: Arc<dyn Kernel<T>> = Arc::new(kernel);
        KernelSpec { own: Some(Own { kernel: Arc::new(kernel), precision: T::NAME, nature }), ..KernelSpec::new(name) }
    }

    /// Says of a kernel given by value that k(x, z) = k(z, x), which some machines ask for.
    pub fn symmetric(mut self) -> Self {
        if let Some(own) = &mut self.own {
            own.nature.symmetric = true;
        }
        self
    }
}

impl<K: Kernel<f64> + 'static> From<K> for KernelSpec {
    fn from(kernel: K) -> Self {
        KernelSpec::own(kernel)
    }
}

impl<T: Scalar> Kernel<T> for Arc<dyn Kernel<T>> {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, out: MatMut<'_, T>) -> Result<()> {
        (**self).block(x, z, out)
    }

    fn normalization(&self) -> Normalization {
        (**self).normalization()
    }

    fn separable(&self) -> Option<Separable<T>> {
        (**self).separable()
    }

    fn formula(&self) -> Option<Formula> {
        (**self).formula()
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        (**self).derivative()
    }

    fn is_precomputed(&self) -> bool {
        (**self).is_precomputed()
    }

    fn graph(&self) -> Option<GraphKernel> {
        (**self).graph()
    }
}

use super::Nature;
use super::{Derivative, Formula, Kernel, Meeting, Separable};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::samples::SamplesRef;
use faer::MatMut;
use faer::prelude::ReborrowMut;

/// k(x, z) = (gamma·⟨x, z⟩ + coef0)^degree.
///
/// Nature: symmetric; positive semidefinite for coef0 ≥ 0, and allowed to be indefinite below. Defaults: gamma 1, coef0
/// 1, degree 3. For sparse samples G is the constant coef0^degree plus a matrix as sparse as X·Zᵀ.
///
/// Values grow with the degree: unit-length samples keep them within (gamma + coef0)^degree.
///
/// ```
/// use lopsided::kernel::{Kernel, Polynomial};
/// use lopsided::{Mat, Samples};
///
/// let x = Samples::Dense(faer::mat![[1.0, 2.0]]);
/// let z = Samples::Dense(faer::mat![[3.0, 4.0], [2.0, -1.0]]); // scalar products 11 and 0
/// let mut g = Mat::<f64>::zeros(1, 2);
/// Polynomial { gamma: 1.0, coef0: 1.0, degree: 3 }.block(x.as_ref(), z.as_ref(), g.as_mut())?;
/// assert_eq!(g, faer::mat![[1728.0, 1.0]]);
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Polynomial {
    /// Scale of the scalar product, above 0.
    pub gamma: f64,
    /// Added to the scalar product.
    pub coef0: f64,
    /// Exponent, at least 1.
    pub degree: u32,
}

impl Polynomial {
    /// The kernel of some settings. Defaults: gamma 1, coef0 1, degree 3.
    ///
    /// ```
    /// use lopsided::base::settings::Settings;
    /// use lopsided::kernel::Polynomial;
    ///
    /// let kernel = Polynomial::new(&Settings::default().with("degree", 2))?;
    /// assert_eq!((kernel.gamma, kernel.coef0, kernel.degree), (1.0, 1.0, 2));
    /// assert!(Polynomial::new(&Settings::default().with("degree", 1.5)).is_err());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`crate::Error::Param`] for a gamma that is not above 0, a coef0 that is not finite, and a degree that is no
    /// whole number of at least 1.
    pub fn new(params: &Settings) -> Result<Self> {
        Ok(Polynomial {
            gamma: params.positive("gamma", Some(1.0))?,
            coef0: params.number("coef0", 1.0)?,
            degree: params.count("degree", 3)?,
        })
    }

    /// s ↦ (gamma·s + coef0)^degree.
    fn of_dot<T: Scalar>(self) -> impl Fn(T) -> T + Send + Sync + 'static {
        let (gamma, coef0, degree) = (T::of(self.gamma), T::of(self.coef0), self.degree as i32);
        move |dot| num_traits::Float::powi(gamma * dot + coef0, degree)
    }
}

impl<T: Scalar> Kernel<T> for Polynomial {
    fn block(&self, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, mut out: MatMut<'_, T>) -> Result<()> {
        Meeting::Dot.tile(x, z, out.rb_mut());
        let f = self.of_dot();
        out.col_iter_mut().for_each(|column| column.iter_mut().for_each(|v| *v = f(*v)));
        Ok(())
    }

    fn separable(&self) -> Option<Separable<T>> {
        Some(Separable::OfDot(Box::new(self.of_dot())))
    }

    fn formula(&self) -> Option<Formula> {
        Some(Formula::Power { gamma: self.gamma, coef0: self.coef0, degree: self.degree })
    }

    fn derivative(&self) -> Option<Derivative<T>> {
        let (gamma, coef0, degree) = (T::of(self.gamma), T::of(self.coef0), self.degree as i32);
        let outer = T::of(f64::from(self.degree)) * gamma;
        Some(Derivative::ByDot(Box::new(move |dot| outer * num_traits::Float::powi(gamma * dot + coef0, degree - 1))))
    }
}

pub(super) const NATURE: Nature = Nature { symmetric: true, ..Nature::PLAIN };

pub(super) fn entry<T: Scalar>() -> Entry<dyn Kernel<T>> {
    Entry {
        name: "poly",
        about: "k(x, z) = (gamma <x, z> + coef0)^degree; defaults 1, 1, 3",
        settings: const {
            &[
                Setting::new("gamma", "factor of ⟨x, z⟩", "a number above 0", "1"),
                Setting::new("coef0", "constant of the polynomial", "a finite number", "1"),
                Setting::new("degree", "degree of the polynomial", "a whole number of at least 1", "3"),
            ]
        },
        build: |params| Ok(Box::new(Polynomial::new(params)?)),
    }
}

use super::Nature;
use super::{Derivative, Kernel, Meeting, Separable};
use crate::base::error::Result;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::base::settings::{Setting, Settings};
use crate::data::samples::SamplesRef;
use faer::MatMut;
use faer::prelude::ReborrowMut;

/// k(x, z) = (gamma·⟨x, z⟩ + coef0)^degree.
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
    /// Defaults: gamma 1, coef0 1, degree 3.
    pub fn new(params: &Settings) -> Result<Self> {
        Ok(Polynomial {
            gamma: params.positive("gamma", Some(1.0))?,
            coef0: params.number("coef0", 1.0)?,
            degree: params.count("degree", 3)?,
        })
    }

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

    fn derivative(&self) -> Option<Derivative<T>> {
        let (gamma, coef0, degree) = (T::of(self.gamma), T::of(self.coef0), self.degree as i32);
        let outer = T::of(f64::from(self.degree)) * gamma;
        Some(Derivative::ByDot(Box::new(move |dot| outer * num_traits::Float::powi(gamma * dot + coef0, degree - 1))))
    }
}

pub(super) const NATURE: Nature = Nature { symmetric: true, bandwidth: None, precomputed: false, graph: None };

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

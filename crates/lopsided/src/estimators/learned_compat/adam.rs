//! The optimiser: steps whose length does not depend on the scale of the gradient.

use crate::base::error::Result;
use crate::base::scalar::Scalar;
use crate::data::archive::Archive;
use faer::Mat;

/// Decay of the mean gradient and of its mean square.
const DECAY: (f64, f64) = (0.9, 0.999);
/// Keeps the division finite where a gradient vanishes.
const TINY: f64 = 1e-12;

/// Stochastic gradient descent with steps of a given length (\[Adam\]).
///
/// Every entry moves by about `rate` per step, whatever the scale of its gradient, which here depends on the kernel, its
/// gamma and the size of the data. Plain descent needs another rate for every set (\[KSVD\] App. C.3 has 1e-1 to 1e-4).
///
/// With the means m ← 0.9·m + 0.1·g and s ← 0.999·s + 0.001·g² of the gradients g so far, a step is p ← p −
/// rate·m̂/(√ŝ + tiny), where m̂ = m/(1 − 0.9^t) and ŝ = s/(1 − 0.999^t) undo the start from 0.
pub(super) struct Adam<T> {
    /// Length of a step.
    rate: f64,
    /// m, the mean gradient.
    first: Mat<T>,
    /// s, its mean square.
    second: Mat<T>,
    /// t, the steps so far.
    steps: i32,
}

impl<T: Scalar> Adam<T> {
    /// For parameters of this shape.
    pub(super) fn new(shape: (usize, usize), rate: f64) -> Self {
        Adam { rate, first: Mat::zeros(shape.0, shape.1), second: Mat::zeros(shape.0, shape.1), steps: 0 }
    }

    /// Part of a state.
    pub(super) fn put(&self, name: &str, state: &mut Archive) {
        state.set_matrix(&format!("{name}.first"), self.first.as_ref());
        state.set_matrix(&format!("{name}.second"), self.second.as_ref());
        state.set_field(&format!("{name}.steps"), self.steps);
    }

    /// Goes to where that part of a state was left.
    pub(super) fn restore(&mut self, name: &str, state: &Archive) -> Result<()> {
        self.first = state.matrix(&format!("{name}.first"))?;
        self.second = state.matrix(&format!("{name}.second"))?;
        self.steps = state.field(&format!("{name}.steps"))?;
        Ok(())
    }

    /// One step against the gradient.
    pub(super) fn step(&mut self, parameters: &mut Mat<T>, gradient: &Mat<T>) {
        self.steps = self.steps.saturating_add(1);
        let correction = |decay: f64| 1.0 / (1.0 - decay.powi(self.steps));
        let rate = T::of(self.rate * correction(DECAY.0));
        let (scale, tiny) = (T::of(correction(DECAY.1)), T::of(TINY));
        let (keep, keep_square) = (T::of(DECAY.0), T::of(DECAY.1));
        for j in 0..gradient.ncols() {
            let means = self.first.col_mut(j).iter_mut().zip(self.second.col_mut(j).iter_mut());
            for ((p, g), (first, second)) in parameters.col_mut(j).iter_mut().zip(gradient.col(j).iter()).zip(means) {
                *first = keep * *first + (T::one() - keep) * *g;
                *second = keep_square * *second + (T::one() - keep_square) * *g * *g;
                *p -= rate * *first / (num_traits::Float::sqrt(*second * scale) + tiny);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let mut parameters = faer::mat![[1.0, -2.0, 3.0]];
        Adam::new((1, 3), 0.1).step(&mut parameters, &faer::mat![[1e-4, -5.0, 0.0]]);
        assert!((parameters - faer::mat![[0.9, -1.9, 3.0]]).norm_max() < 1e-8);
    }

    #[test]
    fn a_parabola_is_descended() {
        let mut at = faer::mat![[1.0_f64]];
        let mut adam = Adam::new((1, 1), 0.02);
        for _ in 0..500 {
            let gradient = faer::Scale(2.0) * &at;
            adam.step(&mut at, &gradient);
        }
        assert!(at[(0, 0)].abs() < 0.02, "{at:?}");
    }
}

//! What machines with landmarks share (\[NKM\]): approaches, the problem they work on, and their exact errors.
//!
//! With the features F = K_nm·A of a [`crate::solvers::lowrank::NystromBasis`] (G = Fᵀ in \[NKM\]):
//!
//! | approach | what is learned | prediction |
//! | --- | --- | --- |
//! | `lla` | w, the linear machine on F, Eq. (4) | k(z, C)·A·w |
//! | `gsa` | α = G⁺·w, Eq. (20), which solves Eq. (3) with K̃ = F·Fᵀ in place of K | k(z, X)·α |
//! | `ncr` | the best function in the span of the landmarks, Eq. (11): `lla` with the standard basis | k(z, C)·β |
//! | `exact` | α of the kernel machine itself, Eq. (2) | k(z, X)·α |
//!
//! The machines themselves are [`super::KernelRidge`], [`super::KernelPca`], [`super::Svm`] and [`super::KernelLogistic`].

mod approximation;
mod comparison;
mod errors;
mod problem;

pub use approximation::{APPROXIMATION_SETTINGS, Approach, Approximation, OwnLandmarks};
pub use comparison::{Attempt, Comparison};
pub use errors::{GramErrors, MachineErrors, SolutionErrors};
pub(super) use problem::{Problem, columns_of};

/// What a model says whose answer, report and functions of landmarks are fields of those names.
macro_rules! answered_by_functions {
    () => {
        fn answer(&self) -> &Answer {
            &self.answer
        }

        fn decision(&self, samples: &Dataset<T>, run: &Run) -> Result<Mat<f64>> {
            samples.x.check_finite("the new rows")?;
            self.functions.apply(samples.x.as_ref(), run)
        }

        fn frame(&self) -> Option<&GraphFrame> {
            None
        }

        fn report(&self) -> &FitReport {
            &self.report
        }
    };
}
pub(super) use answered_by_functions;

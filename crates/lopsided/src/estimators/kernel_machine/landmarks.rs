//! The machines on features of landmarks.
//!
//! 1. `labelled` collects the samples with a class and their weights, `problem` their kernel.
//! 2. `prepared` chooses landmarks and gives the features F of all samples, a row each, with the map that makes
//!    them (\[NKM\] Algorithm 1).
//! 3. The machine learns linear functions on F.
//! 4. The map combined with their weights is a set of functions of the kernel, of the landmarks for LLA and of
//!    all samples for GSA.

use super::model::{Functions, LandmarkFunctions};
use super::{
    Approach, Approximation, Dataset, Error, Frame, KernelMachineModel, Learned, Mat, Result, Run, Scalar, Space,
    Symmetrize, Task, TwoClass, codes,
};
use crate::estimators::Answer;
use crate::estimators::landmarked::Problem;
use crate::solvers::lowrank::KernelFunctions;

/// The samples with a class.
pub(in crate::estimators) struct Labelled {
    pub(in crate::estimators) rows: Vec<usize>,
    codes: Vec<u32>,
    /// Their weights, those of their classes included.
    weights: Option<Vec<f64>>,
    answer: Answer,
}

impl Labelled {
    pub(in crate::estimators) fn task<'a>(&'a self, space: Space<'a>) -> Task<'a> {
        Task { space, codes: &self.codes, names: self.answer.classes(), weights: self.weights.as_deref() }
    }
}

/// Features that machines of several settings share.
pub(super) struct Prepared<T> {
    problem: Problem<T>,
    map: KernelFunctions<T>,
    /// F, one row for each labelled sample.
    pub(super) features: Mat<f64>,
}

impl<T: Scalar> Prepared<T> {
    /// The features of other rows of the data.
    pub(super) fn of_rows(&self, data: &Dataset<T>, rows: &[usize], run: &Run) -> Result<Mat<f64>> {
        self.problem.restored(self.map.clone()).apply(data.x.as_ref().select(rows).as_ref(), run)
    }
}

impl Frame<'_> {
    /// The approach and landmarks.
    pub(super) fn settled(&self) -> Approximation {
        self.approximation.settled()
    }

    /// Exact unless landmarks are asked for, whatever the number of samples.
    pub(super) fn approach(&self) -> Approach {
        self.settled().approach.unwrap_or(Approach::Exact)
    }

    /// Whether the features or the kernel matrix of the other serve this one, for so many classes.
    ///
    /// Entries of a kernel matrix that is not stored are as accurate as a machine needs them, which depends on its penalty.
    pub(super) fn shares(&self, other: &Frame<'_>, classes: usize) -> bool {
        let (a, b) = (self.gram, other.gram);
        let accuracy = |m: TwoClass| if m.looks_once(classes) { m.slack.to_bits() } else { 0 };
        let machines = |frame: &Frame<'_>| frame.machines.map(|m| (m.way, accuracy(m)));
        let task = |frame: &Frame<'_>| (frame.symmetrize, frame.class_weight.clone(), machines(frame));
        self.settled() == other.settled()
            && (self.approach() != Approach::Exact || task(self) == task(other))
            && a.kernel == b.kernel
            && a.gamma == b.gamma
            && a.gamma_factor.to_bits() == b.gamma_factor.to_bits()
    }

    /// The samples of all classes with their weights.
    pub(super) fn labelled<T: Scalar>(&self, data: &Dataset<T>) -> Result<Labelled> {
        let known = self.known(data.y.as_ref())?;
        data.weights_of(&known.rows)?;
        let all = codes(data);
        let codes: Vec<u32> = known.rows.iter().map(|&i| all[i]).collect();
        let names = known.answer.classes();
        let weights = self.class_weight.applied(data.weights.as_deref(), &known.rows, &codes, names)?;
        Ok(Labelled { rows: known.rows, codes, weights, answer: known.answer })
    }

    /// The samples with their kernel, which must be symmetric and positive.
    pub(super) fn problem<T: Scalar>(&self, data: &Dataset<T>, rows: &[usize], run: &Run) -> Result<Problem<T>> {
        if self.symmetrize != Symmetrize::Average {
            return Err(Error::param("symmetrize", self.symmetrize, "average with landmarks"));
        }
        if self.approach() == Approach::Ncr {
            let allowed =
                "exact, lla or gsa for classification: ncr is defined for ridge regression and principal components";
            return Err(Error::param("approach", Approach::Ncr, allowed));
        }
        self.settled().check(rows.len())?;
        Problem::new(self.gram, data, rows, self.approximation.own.as_ref(), run)
    }

    /// Steps 1 and 2; an error for NCR, which has no meaning for classification.
    pub(super) fn prepared<T: Scalar>(&self, data: &Dataset<T>, rows: &[usize], run: &Run) -> Result<Prepared<T>> {
        let problem = self.problem(data, rows, run)?;
        let (map, features) = problem.features(&self.settled(), run)?;
        Ok(Prepared { problem, map, features })
    }

    /// All steps; the report names the approach, the sampler and the number of landmarks.
    pub(super) fn fit_landmarks<T: Scalar>(
        &self,
        data: &Dataset<T>,
        run: &Run,
        learn: impl FnOnce(&Task<'_>) -> Result<Learned>,
    ) -> Result<KernelMachineModel<T>> {
        let labelled = self.labelled(data)?;
        let Prepared { problem, map, features } = self.prepared(data, &labelled.rows, run)?;
        let learned = learn(&labelled.task(Space::Features(features.as_ref())))?;
        let n = labelled.rows.len();
        let landmarks = match &problem.own {
            Some(own) => own.count(),
            None => self.approximation.count_for(n)?,
        };
        let report = self.report(&problem.kernel, n, &learned, self.settled().params(n, Some(landmarks)));
        let mut functions = problem.restored(map.combined(learned.coefficients.as_ref()));
        functions.bias = learned.bias;
        let functions = LandmarkFunctions { name: self.name.into(), functions, answer: labelled.answer, report };
        Ok(KernelMachineModel { functions: Functions::Landmarks(Box::new(functions)), output: learned.output })
    }
}

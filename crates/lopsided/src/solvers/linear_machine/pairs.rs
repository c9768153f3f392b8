//! Several classes by linear machines for two.

use super::{LinearSvm, LinearSvmFunction};
use crate::base::Run;
use crate::base::error::Result;
use crate::base::verdict::Verdict;
use crate::solvers::svm::{Classes, MultiClass, Pair, Part, Sigmoid, held_out};
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// What one of the machines of several classes learned.
#[derive(Clone, Debug)]
pub struct LearnedPlane {
    /// The classes it tells apart.
    pub pair: Pair,
    /// Its function.
    pub function: LinearSvmFunction,
    /// From values of the function to the probability of the first class.
    pub sigmoid: Option<Sigmoid>,
}

impl LinearSvm {
    /// A machine for every pair of classes, or for every class against the rest, in parallel: what [`Classes::learn`] does with
    /// a kernel matrix.
    ///
    /// With `probability` every machine is learned five more times, each time without a fifth of its samples, for a
    /// sigmoid that has seen only values of samples that its machine had not.
    ///
    /// # Errors
    /// Those of [`LinearSvm::solve`].
    ///
    /// ```
    /// use lopsided::solvers::linear_machine::LinearSvm;
    /// use lopsided::solvers::svm::{Classes, MultiClass};
    /// use lopsided::{Mat, Run};
    ///
    /// let corners = [[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]];
    /// let x = Mat::from_fn(6, 2, |i, j| corners[i / 2][j] + 0.1 * (i % 2) as f64);
    /// let classes = Classes { codes: &[0, 0, 1, 1, 2, 2], count: 3, weights: None };
    /// let machine = LinearSvm::new(1.0);
    /// let learned = machine.fit_pairs(x.as_ref(), &classes, MultiClass::OneVsOne, false, &Run::default())?;
    /// assert_eq!(learned.len(), 3); // 0 against 1, 0 against 2, 1 against 2
    /// assert_eq!(learned[2].pair, (1, Some(2)));
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    pub fn fit_pairs(
        &self,
        features: MatRef<'_, f64>,
        classes: &Classes<'_>,
        way: MultiClass,
        probability: bool,
        run: &Run,
    ) -> Result<Vec<LearnedPlane>> {
        let one = |pair: Pair| {
            let part = classes.part(pair);
            let function = self.learn(features, &part, run)?;
            let judge = |rest: &Part, at: &[usize]| Ok(self.learn(features, rest, run)?.values(features, at));
            let held = if probability { Some(held_out(&part, run.seed, judge)?) } else { None };
            Ok(LearnedPlane { pair, function, sigmoid: held.map(|values| Sigmoid::fit(&values, &part.y)) })
        };
        classes.pairs(way).into_par_iter().map(one).collect()
    }

    fn learn(&self, features: MatRef<'_, f64>, part: &Part, run: &Run) -> Result<LinearSvmFunction> {
        let n = part.places.len();
        if !part.y.contains(&1.0) {
            return Ok(absent(features.ncols(), n));
        }
        let weights = part.weights.as_deref();
        if n == features.nrows() {
            return self.solve(features, &part.y, weights, run);
        }
        let own = Mat::from_fn(n, features.ncols(), |i, j| features[(part.places[i], j)]);
        self.solve(own.as_ref(), &part.y, weights, run)
    }
}

impl LinearSvmFunction {
    /// f at some rows of the features.
    fn values(&self, features: MatRef<'_, f64>, at: &[usize]) -> Vec<f64> {
        let value = |&i: &usize| features.row(i).iter().zip(&self.weights).map(|(x, w)| x * w).sum::<f64>() + self.bias;
        at.iter().map(value).collect()
    }
}

/// A class without samples is nobody's.
fn absent(width: usize, samples: usize) -> LinearSvmFunction {
    let (weights, dual) = (vec![0.0; width], vec![0.0; samples]);
    LinearSvmFunction { weights, bias: -1.0, dual, passes: 0, verdict: Verdict::measured(0.0, 0.0) }
}

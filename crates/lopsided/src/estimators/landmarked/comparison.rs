use super::approximation::{Approach, Approximation};
use super::errors::{GramErrors, SolutionErrors};
use super::problem::{Problem, pseudo_inverse};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::settings::Settings;
use crate::data::dataset::Dataset;
use crate::estimators::kernel_machine::{Labelled, Space, Svm};
use crate::estimators::kernel_pca::{self as pca, KernelPca};
use crate::estimators::kernel_ridge::{Centred, KernelRidge, solve_exact, solve_features};
use crate::operator::{Centered, DenseOperator, Means, materialize};
use crate::solvers::lowrank::KernelFunctions;
use crate::solvers::svd;
use faer::Mat;
use std::time::Instant;

/// The exact machine on some samples, and how far approximate ones are from it: what Figures 1 and 2 of \[NKM\] show.
///
/// The kernel matrix and the exact solution are computed once for any number of attempts.
pub struct Comparison<T> {
    problem: Problem<T>,
    /// K, centred where the machine is.
    k: Mat<f64>,
    /// α̃.
    exact: Mat<f64>,
    exact_bias: Vec<f64>,
    machine: Machine,
    /// Seconds that K and the exact solution took.
    pub exact_seconds: f64,
}

enum Machine {
    Ridge { penalty: f64, y: Centred },
    Pca { rank: usize, center: bool },
    Svm { machine: Box<Svm>, samples: Labelled },
}

/// Both approximate machines with the same landmarks.
pub struct Attempt<T> {
    /// Distances from the exact solution.
    pub errors: SolutionErrors,
    /// What LLA learned; NCR with the standard basis.
    pub lla: KernelFunctions<T>,
    /// What GSA learned.
    pub gsa: KernelFunctions<T>,
    /// Seconds to the first, from the choice of landmarks on.
    pub lla_seconds: f64,
    /// Seconds to the second.
    pub gsa_seconds: f64,
    features: Mat<f64>,
    alpha: Mat<f64>,
}

impl<T: Scalar> Comparison<T> {
    /// Kernel ridge regression on the rows with a target.
    ///
    /// # Errors
    /// Those of the exact machine; [`Error::Param`] with sample weights.
    pub fn ridge(machine: &KernelRidge, data: &Dataset<T>, run: &Run) -> Result<Self> {
        let start = Instant::now();
        let (known, weights) = machine.check(data)?;
        if weights.is_some() {
            return Err(Error::param("errors", "with sample weights", "left out with them"));
        }
        let problem = machine.problem(data, &known.rows, run)?;
        let k = problem.gram(run)?;
        let y = Centred::of(known.y.as_ref(), None);
        let exact = solve_exact(k.clone(), machine.penalty, y.y.clone(), None)?.0;
        let (exact_bias, machine) = (y.means.clone(), Machine::Ridge { penalty: machine.penalty, y });
        Ok(Comparison { problem, k, exact, exact_bias, machine, exact_seconds: start.elapsed().as_secs_f64() })
    }

    /// A C-SVM or ν-SVM on the rows with a class: a function for each class or pair of classes. Eq. (15), (16) and (19) say
    /// nothing about the loss, so that they hold; that of a ν-SVM is scaled to be ±1 at its margins.
    ///
    /// # Errors
    /// Those of the exact machine.
    pub fn svm(machine: &Svm, data: &Dataset<T>, run: &Run) -> Result<Self> {
        let start = Instant::now();
        let (problem, samples) = machine.comparable(data, run)?;
        let k = problem.gram(run)?;
        let learned = machine.learn(&samples.task(Space::Kernel(&DenseOperator::Borrowed(k.as_ref()))), run)?;
        let (exact, exact_bias) = (learned.coefficients, learned.bias);
        let machine = Machine::Svm { machine: Box::new(machine.clone()), samples };
        Ok(Comparison { problem, k, exact, exact_bias, machine, exact_seconds: start.elapsed().as_secs_f64() })
    }

    /// Kernel principal components of all rows.
    ///
    /// # Errors
    /// Those of the exact machine.
    pub fn pca(machine: &KernelPca, data: &Dataset<T>, run: &Run) -> Result<Self> {
        let start = Instant::now();
        let problem = machine.problem(data, run)?;
        let mut k = problem.gram(run)?;
        if machine.center {
            let operator = DenseOperator::Borrowed(k.as_ref());
            k = materialize(&Centered::new(&operator, Means::of(&operator)?))?;
        }
        let solver = svd::solver::<f64>("auto", &Settings::default().with("tol", 1e-10))?;
        let svd = solver.solve(&DenseOperator::Borrowed(k.as_ref()), machine.rank, run)?;
        let values = pca::nonzero(svd.sigma, T::eps() * k.nrows() as f64);
        let exact = Mat::from_fn(k.nrows(), values.len(), |i, j| svd.u[(i, j)] / values[j].sqrt());
        let machine = Machine::Pca { rank: values.len(), center: machine.center };
        let exact_bias = vec![0.0; exact.ncols()];
        Ok(Comparison { problem, k, exact, exact_bias, machine, exact_seconds: start.elapsed().as_secs_f64() })
    }

    /// What the exact machine learned.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn exact(&self, run: &Run) -> Result<KernelFunctions<T>> {
        self.finished(self.problem.over_samples(self.exact.clone()), &self.exact_bias, run)
    }

    /// ‖f*‖ of each function.
    pub fn exact_norms(&self) -> Vec<f64> {
        let image = linalg::mul(self.k.as_ref(), self.exact.as_ref());
        let square = |c: usize| self.exact.col(c).transpose() * image.col(c);
        (0..image.ncols()).map(|c| square(c).max(0.0).sqrt()).collect()
    }

    /// Both approximate machines; the approach itself is not looked at.
    ///
    /// # Errors
    /// Those of the approximate machines.
    pub fn attempt(&self, approximation: &Approximation, run: &Run) -> Result<Attempt<T>> {
        let start = Instant::now();
        let approximation = Approximation { approach: Some(Approach::Lla), ..approximation.clone() };
        approximation.check(self.problem.x.count())?;
        let (map, mut features) = self.problem.features(&approximation, run)?;
        if let Machine::Pca { center: true, .. } = self.machine {
            pca::center_columns(&mut features);
        }
        let (w, bias) = self.linear_machine(&features, run)?;
        let lla = map.combined(w.as_ref());
        let lla_seconds = start.elapsed().as_secs_f64();
        let alpha = linalg::mul(pseudo_inverse(features.as_ref())?.as_ref(), w.as_ref());
        let gsa = self.problem.over_samples(alpha.clone());
        let gsa_seconds = start.elapsed().as_secs_f64();
        let exact = self.exact.subcols(0, w.ncols()).to_owned();
        let (lla, gsa) = (self.finished(lla, &bias, run)?, self.finished(gsa, &bias, run)?);
        let errors = SolutionErrors::of(&self.k, features.as_ref(), &exact, &alpha);
        Ok(Attempt { errors, lla, gsa, lla_seconds, gsa_seconds, features, alpha })
    }

    /// Distances of the solutions with their bound, and of the kernel matrices.
    ///
    /// # Errors
    /// Those of [`Comparison::attempt`].
    pub fn errors(&self, approximation: &Approximation, run: &Run) -> Result<(SolutionErrors, GramErrors)> {
        let Attempt { errors, features, alpha, .. } = self.attempt(approximation, run)?;
        let gram = GramErrors::of(&DenseOperator::Borrowed(self.k.as_ref()), features.as_ref(), run)?;
        let exact = self.exact.subcols(0, alpha.ncols()).to_owned();
        Ok((errors.bounded(&exact, &alpha, &gram), gram))
    }

    /// w and b of the linear machine on the features; components with the signs of the exact ones.
    fn linear_machine(&self, features: &Mat<f64>, run: &Run) -> Result<(Mat<f64>, Vec<f64>)> {
        match &self.machine {
            Machine::Ridge { penalty, y } => Ok((solve_features(features, *penalty, &y.y)?.0, y.means.clone())),
            Machine::Svm { machine, samples } => {
                let learned = machine.learn(&samples.task(Space::Features(features.as_ref())), run)?;
                Ok((learned.coefficients, learned.bias))
            }
            Machine::Pca { rank, .. } => {
                let gram = linalg::transpose_mul(features.as_ref(), features.as_ref());
                let mut vectors = pca::leading(gram, *rank)?.vectors;
                let exact = linalg::transpose_mul(features.as_ref(), self.exact.as_ref());
                for c in 0..vectors.ncols() {
                    if vectors.col(c).transpose() * exact.col(c) < 0.0 {
                        vectors.col_mut(c).iter_mut().for_each(|v| *v = -*v);
                    }
                }
                let bias = vec![0.0; vectors.ncols()];
                Ok((vectors, bias))
            }
        }
    }

    /// With their biases, which take the means of centred components away.
    fn finished(&self, mut functions: KernelFunctions<T>, bias: &[f64], run: &Run) -> Result<KernelFunctions<T>> {
        if let Machine::Pca { center: true, .. } = self.machine {
            let own = functions.apply(self.problem.x.as_ref(), run)?;
            functions.bias = own.col_iter().map(|c| -c.iter().sum::<f64>() / own.nrows() as f64).collect();
        } else {
            functions.bias = bias.to_vec();
        }
        Ok(self.problem.restored(functions))
    }
}

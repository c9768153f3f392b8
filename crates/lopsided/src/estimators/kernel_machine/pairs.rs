//! How an [`Svm`] learns all its functions.
//!
//! | space | C-SVM | ν-SVM |
//! | --- | --- | --- |
//! | kernel matrix | SMO on cached rows of K | SMO on cached rows of K |
//! | features F of landmarks | dual coordinate descent on the rows of F | SMO on K̃ = F·Fᵀ, then w = Fᵀ·c |
//!
//! Every machine tells two classes apart; `Classes` lists the pairs and `Output` remembers them.

use super::svm::{Svm, SvmKind};
use super::{Error, Learned, Mat, MatRef, Operator, Output, Result, Run, Space, Task};
use crate::base::linalg;
use crate::data::samples::SamplesRef;
use crate::operator::{Access, DenseOperator, ProductOperator, materialize};
use crate::solvers::linear_machine::{LearnedPlane, LinearSvm};
use crate::solvers::svm::{self, CSvm, Classes, Machine, NuSvm, Pair, RowCache};

/// Bytes of kernel rows that are kept, unless the memory allowed is less than four times as much.
const CACHE: u64 = 1 << 30;

impl Svm {
    /// The functions of all classes or pairs of classes.
    pub(in crate::estimators) fn learn(&self, task: &Task<'_>, run: &Run) -> Result<Learned> {
        match (task.space, self.kind) {
            (Space::Kernel(k), _) => {
                let mut learned = self.learn_kernel(k, task, run)?;
                let coefficients = &learned.coefficients;
                let supports = coefficients.row_iter().filter(|row| row.iter().any(|c| *c != 0.0)).count();
                learned.params.push(("support-vectors", supports.into()));
                Ok(learned)
            }
            (Space::Features(f), SvmKind::C(penalty)) => self.learn_planes(f, penalty, task, run),
            (Space::Features(f), SvmKind::Nu(_)) => {
                let k = ProductOperator::new(SamplesRef::Dense(f), SamplesRef::Dense(f))?;
                let learned = self.learn_rows(&RowCache::new(&k, self.row_bytes())?, task, run)?;
                Ok(Learned { coefficients: linalg::transpose_mul(f, learned.coefficients.as_ref()), ..learned })
            }
        }
    }

    /// The C-SVM on features.
    ///
    /// One plane for each class or pair of classes: w and b that minimise ½|w|² + C·Σ weight·loss(y·(wᵀf + b)).
    fn learn_planes(&self, f: MatRef<'_, f64>, penalty: f64, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let default = LinearSvm::new(penalty);
        let tol = self.tol.unwrap_or(default.tol);
        let machine = LinearSvm { tol, loss: self.loss, ..default };
        let found = machine.fit_pairs(f, &classes(task), self.multi_class, self.probability, run)?;
        let mut params = self.params();
        params.push(("loss", self.loss.to_string().into()));
        Ok(Learned {
            coefficients: Mat::from_fn(f.ncols(), found.len(), |j, at| found[at].function.weights[j]),
            bias: found.iter().map(|plane| plane.function.bias).collect(),
            output: Output::Machines {
                pairs: found.iter().map(|plane| plane.pair).collect(),
                sigmoids: found.iter().map(|plane| plane.sigmoid).collect(),
            },
            params,
            warnings: found.iter().filter_map(|plane| still_moving(plane, task.names)).collect(),
            converged: found.iter().all(|plane| plane.function.verdict.converged()),
        })
    }

    /// The machine on a kernel matrix, in coefficients of the samples.
    fn learn_kernel(&self, k: &dyn Operator<f64>, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let (n, bytes) = (k.nrows() as u64, self.row_bytes());
        // Several machines would ask for the same products.
        if k.access() == Access::Products && task.names.len() > 2 && 8 * n * n <= bytes {
            let stored = DenseOperator::Owned(materialize(k)?);
            return self.learn_rows(&RowCache::new(&stored, bytes)?, task, run);
        }
        self.learn_rows(&RowCache::new(k, bytes)?, task, run)
    }

    /// A gigabyte of rows at most, and a quarter of the memory allowed.
    fn row_bytes(&self) -> u64 {
        CACHE.min(self.gram.bytes() / 4)
    }

    /// 1. ν is checked against every pair before any is learned: the coefficients of each class have to sum to
    ///    ν·n/2, none above 1.
    /// 2. All machines learn in parallel from one cache of rows.
    /// 3. Their coefficients are spread over all samples, 0 for those of other classes.
    fn learn_rows(&self, rows: &RowCache<'_>, task: &Task<'_>, run: &Run) -> Result<Learned> {
        let classes = classes(task);
        let machine = self.machine();
        self.check_nu(&classes, task.names)?;
        let found = classes.learn(&machine, self.multi_class, self.probability, rows, run)?;
        let mut coefficients = Mat::zeros(task.codes.len(), found.len());
        for (at, learned) in found.iter().enumerate() {
            let values = learned.part.places.iter().zip(&learned.solution.coefficients);
            values.for_each(|(&i, &c)| coefficients[(i, at)] = c);
        }
        let sigmoids = found.iter().map(|f| f.sigmoid).collect();
        Ok(Learned {
            bias: found.iter().map(|f| f.solution.bias).collect(),
            output: Output::Machines { pairs: found.iter().map(|f| f.pair).collect(), sigmoids },
            params: self.params(),
            warnings: found.iter().filter_map(|f| self.warning(f, task.names)).collect(),
            converged: found.iter().all(|f| f.solution.verdict.converged()),
            coefficients,
        })
    }

    /// The two-class solver with the tolerance that was asked for.
    pub(super) fn machine(&self) -> Machine {
        let tol = |default: f64| self.tol.unwrap_or(default);
        match self.kind {
            SvmKind::C(penalty) => {
                let machine = CSvm::new(penalty);
                Machine::C(CSvm { tol: tol(machine.tol), ..machine })
            }
            SvmKind::Nu(nu) => {
                let machine = NuSvm::new(nu);
                Machine::Nu(NuSvm { tol: tol(machine.tol), ..machine })
            }
        }
    }

    /// Names the classes for which ν is too large.
    ///
    /// The most that ν may be is 2·min(n₊, n₋)/n: beyond it no coefficients fulfil the conditions. The tightest
    /// pair is named.
    fn check_nu(&self, classes: &Classes<'_>, names: &[String]) -> Result<()> {
        let SvmKind::Nu(nu) = self.kind else { return Ok(()) };
        let most = |pair: Pair| (NuSvm::most(&classes.part(pair)), pair);
        let all = classes.pairs(self.multi_class).into_iter().map(most).filter(|(most, _)| *most > 0.0);
        let tightest = all.min_by(|a, b| a.0.total_cmp(&b.0));
        match tightest {
            Some((most, pair)) if !(nu > 0.0 && nu <= most * (1.0 + 1e-12)) => {
                let whom = against(pair, names);
                Err(Error::param("nu", nu, format!("above 0 and at most {most}, which is 2 min(n₊, n₋)/n for {whom}")))
            }
            _ => Ok(()),
        }
    }

    /// A margin of 0 (an infinite rest of the conditions) is a property of ν and the kernel, which more steps would
    /// not mend.
    fn warning(&self, found: &svm::Learned, names: &[String]) -> Option<String> {
        let (whom, steps) = (against(found.pair, names), found.solution.steps);
        let left = found.solution.verdict.left();
        match self.kind {
            _ if found.solution.verdict.converged() => None,
            SvmKind::Nu(nu) if left.is_infinite() => {
                let most = NuSvm::most(&found.part);
                let advice = if nu < most { format!("a larger nu, up to {most}, or ") } else { String::new() };
                Some(format!(
                    "{whom}: the margin of nu {nu} is 0, so that decisions mean nothing; take {advice}another kernel"
                ))
            }
            _ => {
                Some(format!("{whom}: the optimality conditions are still violated by {left:.1e} after {steps} steps"))
            }
        }
    }

    fn params(&self) -> Vec<(&'static str, serde_json::Value)> {
        let bound = match self.kind {
            SvmKind::C(penalty) => ("penalty", penalty.into()),
            SvmKind::Nu(nu) => ("nu", nu.into()),
        };
        vec![bound, ("multi-class", self.multi_class.to_string().into())]
    }
}

fn classes<'a>(task: &Task<'a>) -> Classes<'a> {
    Classes { codes: task.codes, count: task.names.len(), weights: task.weights }
}

/// Who is told from whom, in words.
fn against((first, other): Pair, names: &[String]) -> String {
    let first = &names[first as usize];
    match other {
        Some(other) => format!("class `{first}` against `{}`", names[other as usize]),
        None => format!("class `{first}` against the rest"),
    }
}

/// The sentence about a plane that has not reached its tolerance.
fn still_moving(plane: &LearnedPlane, names: &[String]) -> Option<String> {
    let (whom, passes) = (against(plane.pair, names), plane.function.passes);
    (!plane.function.verdict.converged())
        .then(|| format!("{whom}: coordinate descent has not reached the tolerance after {passes} passes"))
}

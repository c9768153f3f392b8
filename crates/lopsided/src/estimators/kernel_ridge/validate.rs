//! Cross-validation: one decomposition of each fold's features serves all penalties; a few penalties of the exact machine have
//! factors of their own, which cost far less.

use super::ridge::KernelRidge;
use super::systems::{Centred, scaled_rows};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::dataset::Dataset;
use crate::data::samples::Samples;
use crate::estimators::landmarked::{Approach, Problem, columns_of};
use crate::estimators::scoring::{Known, no_target};
use crate::estimators::{Cases, Table, score};
use crate::solvers::linsys;
use faer::Mat;
use std::collections::HashSet;

/// Up to so many penalties factors for each cost less than a complete decomposition.
const FACTORED: usize = 16;

/// The score of every point on every fold.
///
/// The exact machine is a linear one on the features of all training samples as landmarks, so that it shares the
/// decomposition as well; NCR is LLA with the standard basis (\[NKM\] Corollary 1).
pub(super) fn scores<T: Scalar>(base: &KernelRidge, data: &Dataset<T>, cases: Cases<'_>, run: &Run) -> Result<Table> {
    let (points, folds) = cases;
    let machines: Vec<KernelRidge> = points.iter().map(|point| base.at(point)).collect::<Result<_>>()?;
    machines.iter().try_for_each(|machine| machine.check(data).map(|_| ()))?;
    let known = Known::even_several(data.y.as_ref())?;
    let quiet = Run { watch: run.watch.silent(), ..run.clone() };
    let mut out = vec![Vec::new(); points.len()];
    for (done, group) in groups(&machines).iter().enumerate() {
        let (done, total) = (done as u64, points.len() as u64);
        run.watch.report(Progress { stage: "cross-validation", done, total, residual: None })?;
        let same: Vec<&KernelRidge> = group.iter().map(|&at| &machines[at]).collect();
        for (number, fold) in folds.iter().enumerate() {
            let target = data.y.as_ref().ok_or_else(no_target)?.rows(fold);
            let scores = quiet.remembered_numbers(&format!("group {done} fold {number}"), |run| {
                let decisions = Fold::new(data, &known, fold, run)?.decisions(&same)?;
                Ok(decisions.iter().map(|decision| score(&target, decision.as_ref())).collect())
            })?;
            group.iter().zip(scores).for_each(|(&at, score)| out[at].push(score));
        }
    }
    Ok(out)
}

/// Points that differ in the penalty only.
fn groups(machines: &[KernelRidge]) -> Vec<Vec<usize>> {
    let same = |a: &KernelRidge, b: &KernelRidge| {
        a.approximation == b.approximation
            && a.gram.kernel == b.gram.kernel
            && a.gram.gamma == b.gram.gamma
            && a.gram.gamma_factor.to_bits() == b.gram.gamma_factor.to_bits()
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, machine) in machines.iter().enumerate() {
        match groups.iter_mut().find(|group| same(&machines[group[0]], machine)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Rows that are held out, and what is known of the others.
struct Fold<'a, T> {
    data: &'a Dataset<T>,
    held: &'a [usize],
    rows: Vec<usize>,
    y: Mat<f64>,
    weights: Option<Vec<f64>>,
    run: &'a Run,
}

impl<'a, T: Scalar> Fold<'a, T> {
    fn new(data: &'a Dataset<T>, known: &Known, held: &'a [usize], run: &'a Run) -> Result<Self> {
        let out: HashSet<usize> = held.iter().copied().collect();
        let places: Vec<usize> = (0..known.rows.len()).filter(|&at| !out.contains(&known.rows[at])).collect();
        let rows: Vec<usize> = places.iter().map(|&at| known.rows[at]).collect();
        let y = Mat::from_fn(places.len(), known.y.ncols(), |i, c| known.y[(places[i], c)]);
        let weights = data.weights_of(&rows)?;
        Ok(Fold { data, held, rows, y, weights, run })
    }

    /// Decision values of machines that differ in the penalty only.
    fn decisions(&self, machines: &[&KernelRidge]) -> Result<Vec<Mat<f64>>> {
        let first = machines[0];
        first.approximation.check(self.rows.len())?;
        let problem = first.problem(self.data, &self.rows, self.run)?;
        let new = held_samples(&problem, self.data, &self.rows, self.held);
        let exact = first.approximation.approach_for(self.rows.len()) == Approach::Exact;
        if exact && (machines.len() <= FACTORED || linsys::takes_products(self.rows.len())) {
            let one = |machine: &&KernelRidge| {
                let learned = machine.learn(&problem, self.y.as_ref(), self.weights.as_deref(), self.run)?;
                learned.functions.apply(new.as_ref(), self.run)
            };
            return machines.iter().map(one).collect();
        }
        let path = self.path(first, &problem, &new)?;
        Ok(machines.iter().map(|machine| path.decision(machine.penalty)).collect())
    }

    fn path(&self, machine: &KernelRidge, problem: &Problem<T>, new: &Samples<T>) -> Result<Path> {
        let weights = self.weights.as_deref();
        let (map, f) = problem.features(&machine.approximation, self.run)?;
        let centred = Centred::of(self.y.as_ref(), weights);
        let (f, y) = (scaled_rows(&f, weights), scaled_rows(&centred.y, weights));
        let gram = linalg::transpose_mul(f.as_ref(), f.as_ref());
        let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
        let (theta, q) = linalg::eigen(gram.as_ref()).ok_or_else(not_finite)?;
        let cross = linalg::transpose_mul(f.as_ref(), y.as_ref());
        let held = linalg::mul(map.apply(new.as_ref(), self.run)?.as_ref(), q.as_ref());
        Ok(Path { theta, rotated: linalg::transpose_mul(q.as_ref(), cross.as_ref()), held, means: centred.means })
    }
}

/// All penalties on one fold: FᵀF = Q·Θ·Qᵀ and w = Q·(Θ + I/penalty)⁻¹·Qᵀ·Fᵀy.
struct Path {
    theta: Vec<f64>,
    /// Qᵀ·Fᵀ·y.
    rotated: Mat<f64>,
    /// Features of the held-out samples times Q.
    held: Mat<f64>,
    means: Vec<f64>,
}

impl Path {
    fn decision(&self, penalty: f64) -> Mat<f64> {
        let shrunk = |i: usize, c: usize| self.rotated[(i, c)] / (self.theta[i].max(0.0) + 1.0 / penalty);
        let w = Mat::from_fn(self.theta.len(), self.means.len(), shrunk);
        let mut out = linalg::mul(self.held.as_ref(), w.as_ref());
        out.col_iter_mut().zip(&self.means).for_each(|(col, mean)| col.iter_mut().for_each(|v| *v += mean));
        out
    }
}

/// New samples as the machine of the training rows sees them.
fn held_samples<T: Scalar>(problem: &Problem<T>, data: &Dataset<T>, rows: &[usize], fold: &[usize]) -> Samples<T> {
    let new = data.x.as_ref().select(fold);
    if problem.kernel.is_precomputed() { columns_of(&new, rows) } else { new }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dataset::Target;
    use crate::data::synth;

    /// Both sides of the number of penalties from which a decomposition is taken, with weights and without.
    #[test]
    fn factors_and_a_decomposition_give_the_same_decisions() {
        let x = synth::gaussian::<f64>(90, 3, 4);
        let y = Target::Values((0..90).map(|i| x[(i, 0)].sin() + x[(i, 1)] * x[(i, 2)]).collect());
        let plain = Dataset { y: Some(y), ..Dataset::new(Samples::Dense(x)) };
        let weighted = Dataset { weights: Some((0..90).map(|i| 0.5 + f64::from(i % 3)).collect()), ..plain.clone() };
        let held: Vec<usize> = (0..90).step_by(4).collect();
        let base = KernelRidge::new("rbf");
        let machines: Vec<KernelRidge> =
            (0..=FACTORED).map(|k| base.clone().with_penalty(10f64.powf(k as f64 / 5.0 - 1.0))).collect();
        let machines: Vec<&KernelRidge> = machines.iter().collect();
        for data in [plain, weighted] {
            let (known, run) = (Known::even_several(data.y.as_ref()).unwrap(), Run::default());
            let fold = Fold::new(&data, &known, &held, &run).unwrap();
            let decomposed = fold.decisions(&machines).unwrap();
            let factored = fold.decisions(&machines[..FACTORED]).unwrap();
            for (one, other) in factored.iter().zip(&decomposed) {
                assert!((one - other).norm_max() < 1e-8 * (1.0 + one.norm_max()), "{}", (one - other).norm_max());
            }
        }
    }
}

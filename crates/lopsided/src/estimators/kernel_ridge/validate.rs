//! Cross-validation: one decomposition of each fold's features serves all penalties.

use super::ridge::KernelRidge;
use super::systems::{Centred, scaled_rows};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::linalg;
use crate::base::scalar::Scalar;
use crate::base::watch::Progress;
use crate::data::dataset::Dataset;
use crate::data::samples::Samples;
use crate::estimators::landmarked::{Problem, columns_of};
use crate::estimators::scoring::{Known, no_target};
use crate::estimators::{Cases, Table, score};
use faer::Mat;
use std::collections::HashSet;

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
        for fold in folds {
            let path = Path::new(&machines[group[0]], data, &known, fold, &quiet)?;
            let target = data.y.as_ref().ok_or_else(no_target)?.rows(fold);
            group.iter().for_each(|&at| out[at].push(score(&target, path.decision(machines[at].penalty).as_ref())));
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
    fn new<T: Scalar>(
        machine: &KernelRidge,
        data: &Dataset<T>,
        known: &Known,
        fold: &[usize],
        run: &Run,
    ) -> Result<Self> {
        let held: HashSet<usize> = fold.iter().copied().collect();
        let places: Vec<usize> = (0..known.rows.len()).filter(|&at| !held.contains(&known.rows[at])).collect();
        let rows: Vec<usize> = places.iter().map(|&at| known.rows[at]).collect();
        let y = Mat::from_fn(places.len(), known.y.ncols(), |i, c| known.y[(places[i], c)]);
        machine.approximation.check(rows.len())?;
        let weights = data.weights_of(&rows)?;
        let problem = machine.problem(data, &rows, run)?;
        let (map, f) = problem.features(&machine.approximation, run)?;
        let centred = Centred::of(y.as_ref(), weights.as_deref());
        let (f, y) = (scaled_rows(&f, weights.as_deref()), scaled_rows(&centred.y, weights.as_deref()));
        let gram = linalg::transpose_mul(f.as_ref(), f.as_ref());
        let not_finite = || Error::param("kernel", "not finite at the samples", "finite");
        let (theta, q) = linalg::eigen(gram.as_ref()).ok_or_else(not_finite)?;
        let cross = linalg::transpose_mul(f.as_ref(), y.as_ref());
        let new = held_samples(&problem, data, &rows, fold);
        let held = linalg::mul(map.apply(new.as_ref(), run)?.as_ref(), q.as_ref());
        Ok(Path { theta, rotated: linalg::transpose_mul(q.as_ref(), cross.as_ref()), held, means: centred.means })
    }

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

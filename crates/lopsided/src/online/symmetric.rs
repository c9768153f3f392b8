//! Projected gradient descent on one feature space.
//!
//! The same additive step as between two spaces, on symmetric matrices: eigenvalues in place of singular values, and
//! the projection also cuts those below 0.

use super::account::{Account, Outcome, gradient_bound};
use super::ball::Ball;
use super::factored::SymmetricFactored;
use super::frame::Look;
use super::instance::Instance;
use super::loss::Loss;
use super::matrices::{diagonal, eigen, product};
use super::spec::LearnerSpec;
use super::{LearnerEntry, OnlineLearner, RADIUS, accounted, checkpoint_of};
use crate::base::error::Result;
use crate::data::archive::Archive;

/// W ← proj(W − η·∂·M) on symmetric W without negative eigenvalues and with trace B or less, from W = 0.
///
/// With the gain as loss and B = 1 this is the additive online PCA of \[KMU\] Section 4, with regret √T for outer products of unit
/// vectors and √(T·s) for projections of rank s.
struct SymmetricDescent {
    spec: LearnerSpec,
    ball: Ball,
    matrix: SymmetricFactored,
    account: Account,
}

impl SymmetricDescent {
    fn new(spec: &LearnerSpec) -> Result<Self> {
        let (ball, matrix) = (spec.ball()?, SymmetricFactored::new(spec)?);
        Ok(SymmetricDescent { spec: spec.clone(), ball, matrix, account: Account::default() })
    }

    fn prediction(&self, instance: &Instance) -> Result<(Vec<Look>, Vec<f64>, f64)> {
        let looks = self.matrix.look(instance)?;
        let weights = self.spec.weights(instance);
        let x = self.matrix.space.coordinates(&looks);
        let turned = product(self.matrix.core.as_ref(), x.as_ref());
        let prediction = weights.iter().enumerate().map(|(a, w)| w * (x.col(a).transpose() * turned.col(a))).sum();
        Ok((looks, weights, prediction))
    }

    /// ‖M‖_F, by the kernel matrix of the instance's own samples.
    fn size_of(&self, instance: &Instance, looks: &[Look], weights: &[f64]) -> Result<f64> {
        let gram = self.matrix.space.gram(instance.left(), looks)?;
        let pairs = (0..weights.len()).flat_map(|a| (0..weights.len()).map(move |b| (a, b)));
        Ok(pairs.map(|(a, b)| weights[a] * weights[b] * gram[(a, b)].powi(2)).sum::<f64>().max(0.0).sqrt())
    }

    /// η = B/(G·√(s·T)).
    fn step(&self) -> f64 {
        self.spec.step.descent(self.spec.loss, &self.account, |tuning| {
            let rank = tuning.instance_rank.unwrap_or(1);
            let gradient = self.spec.loss.largest_slope(self.ball.radius()) * (rank as f64).sqrt();
            self.ball.radius() / (gradient * (tuning.trials as f64).sqrt())
        })
    }

    fn project(&mut self) -> Result<()> {
        self.matrix.shrink()?;
        let eigen = eigen(self.matrix.core.as_ref())?;
        let mut values = eigen.values;
        let least = 1e-14 * values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        self.ball.project(&mut values);
        let kept = values.iter().take_while(|v| **v > least).count();
        self.matrix.space.rotate(eigen.vectors.as_ref().subcols(0, kept));
        self.matrix.core = diagonal(&values[..kept]);
        Ok(())
    }
}

impl OnlineLearner for SymmetricDescent {
    accounted!();

    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome> {
        self.spec.loss.check_label(label)?;
        let (looks, weights, prediction) = self.prediction(instance)?;
        let size = self.size_of(instance, &looks, &weights)?;
        let (loss, slope) = self.account.judged(self.spec.loss, label, prediction, size);
        if let Some(slope) = slope {
            let change = self.account.change(self.step(), slope, size, &weights);
            self.matrix.add(instance, &looks, &change)?;
            self.account.span = self.account.span.max(self.matrix.space.rank());
            self.project()?;
        }
        self.account.holds_one(&self.matrix.space);
        Ok(Outcome { prediction, loss })
    }

    fn checkpoint(&self) -> Archive {
        let mut archive = checkpoint_of(&self.spec, &self.account);
        self.matrix.save(&mut archive);
        archive
    }

    fn regret_bound(&self, at: &Account, _comparator_loss: f64) -> Option<f64> {
        let bound = || gradient_bound(at, self.ball.radius(), self.spec.step.is_constant());
        self.no_bound(at).is_none().then(bound)
    }

    fn no_bound(&self, at: &Account) -> Option<&'static str> {
        self.spec.no_descent_bound(at)
    }

    fn norm(&self) -> Option<f64> {
        Some(self.matrix.core.diagonal().column_vector().iter().sum())
    }
}

pub(super) fn entry() -> LearnerEntry {
    LearnerEntry {
        name: "gd-symmetric",
        about: "symmetric W <- W - step*slope*M, eigenvalues projected to at least 0 and a sum of at most radius",
        settings: &[RADIUS],
        losses: &[Loss::Squared, Loss::Absolute, Loss::Logistic, Loss::Hinge, Loss::Gain],
        symmetric: true,
        build: |spec| Ok(Box::new(SymmetricDescent::new(spec)?)),
        restore: |spec, archive| {
            let mut learner = SymmetricDescent::new(spec)?;
            learner.account = archive.field("account")?;
            learner.matrix.restore(archive)?;
            Ok(Box::new(learner))
        },
    }
}

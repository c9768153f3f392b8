//! Projected gradient descent between two feature spaces.
//!
//! A trial: look, predict, add −η·∂·M to the factors, project. While the steps so far cannot have left the ball, which
//! their lengths tell, nothing is decomposed.

use super::account::{Account, Outcome, gradient_bound};
use super::ball::Ball;
use super::factored::{Factored, Looks};
use super::instance::Instance;
use super::loss::Loss;
use super::matrices::{frobenius, svd};
use super::spec::LearnerSpec;
use super::{LearnerEntry, OnlineLearner, RADIUS, accounted, checkpoint_of};
use crate::base::error::Result;
use crate::data::archive::Archive;

/// W ← proj(W − η·∂·M), \[KMU\] Eq. (4.1), from W = 0.
///
/// The rank-one step is an update of the factors; the trace and spectral norms then need the SVD of the small core, the
/// Frobenius norm only its length. While the sum of the steps is inside the ball nothing is decomposed.
struct GradientDescent {
    spec: LearnerSpec,
    ball: Ball,
    matrix: Factored,
    /// The norm of W is at most this.
    reach: f64,
    account: Account,
}

impl GradientDescent {
    fn new(spec: &LearnerSpec) -> Result<Self> {
        Ok(GradientDescent {
            spec: spec.clone(),
            ball: spec.ball()?,
            matrix: Factored::new(spec)?,
            reach: 0.0,
            account: Account::default(),
        })
    }

    fn prediction(&self, instance: &Instance) -> Result<(Looks, Vec<f64>, f64)> {
        let looks = self.matrix.look(instance)?;
        let weights = self.spec.weights(instance);
        let prediction = self.matrix.product(&self.matrix.core, &looks, &weights);
        Ok((looks, weights, prediction))
    }

    /// η = R/(G·√T).
    fn step(&self) -> f64 {
        self.spec.step.descent(self.spec.loss, &self.account, |tuning| {
            let rank = tuning.rank.unwrap_or(tuning.trials as usize);
            let slope = self.spec.loss.largest_slope(self.ball.radius());
            self.ball.largest_frobenius(rank) / (slope * (tuning.trials as f64).sqrt())
        })
    }

    /// 1. The budget, after which the norm must be found anew.
    /// 2. Frobenius norm: the core is scaled, no decomposition.
    /// 3. Trace and spectral norm: only where the bound on the norm has left the ball, an SVD of the core, whose values
    ///    are projected.
    fn project(&mut self) -> Result<()> {
        if self.matrix.shrink()? {
            // Larger than any radius, and a number that a checkpoint can hold.
            self.reach = f64::MAX;
        }
        if let Ball::Frobenius(radius) = self.ball {
            self.scale_to(radius);
            return Ok(());
        }
        if self.reach > self.ball.radius() {
            let ball = self.ball;
            self.matrix.decompose(|sigma| ball.project(sigma))?;
            let sigma = self.matrix.core.diagonal();
            let sigma = sigma.column_vector().iter();
            self.reach = match ball {
                Ball::Spectral(_) => sigma.copied().fold(0.0, f64::max),
                _ => sigma.sum(),
            };
        }
        Ok(())
    }

    fn scale_to(&mut self, radius: f64) {
        let norm = frobenius(&self.matrix.core);
        if norm > radius {
            self.matrix.core *= faer::Scale(radius / norm);
        }
    }

    fn settle(&mut self) {
        let (left, right) = (&self.matrix.left, &self.matrix.right);
        self.account.rank = left.rank().min(right.rank());
        self.account.holds(left, right);
    }
}

impl OnlineLearner for GradientDescent {
    accounted!();

    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome> {
        self.spec.loss.check_label(label)?;
        let (looks, weights, prediction) = self.prediction(instance)?;
        let size = looks.norm(&weights);
        let (loss, slope) = self.account.judged(self.spec.loss, label, prediction, size);
        if let Some(slope) = slope {
            let step = self.step();
            let change = self.account.change(step, slope, size, &weights);
            self.matrix.add(instance, &looks, &change)?;
            self.account.span = self.account.span.max(self.matrix.left.rank().min(self.matrix.right.rank()));
            self.reach += (step * (slope * size)).abs();
            self.project()?;
        }
        self.settle();
        Ok(Outcome { prediction, loss })
    }

    fn checkpoint(&self) -> Archive {
        let mut archive = checkpoint_of(&self.spec, &self.account);
        archive.set_vector("reach", &[self.reach]);
        self.matrix.save(&mut archive);
        archive
    }

    fn regret_bound(&self, at: &Account, _comparator_loss: f64) -> Option<f64> {
        let radius = self.ball.largest_frobenius(at.span.max(1));
        self.no_bound(at).is_none().then(|| gradient_bound(at, radius, self.spec.step.is_constant()))
    }

    fn no_bound(&self, at: &Account) -> Option<&'static str> {
        self.spec.no_descent_bound(at)
    }

    fn norm(&self) -> Option<f64> {
        let sigma = svd(self.matrix.core.as_ref()).ok()?.sigma;
        Some(match self.ball {
            Ball::Spectral(_) => sigma.iter().copied().fold(0.0, f64::max),
            Ball::Frobenius(_) => frobenius(&self.matrix.core),
            _ => sigma.iter().sum(),
        })
    }
}

const ANY_LOSS: &[Loss] = &[Loss::Squared, Loss::Absolute, Loss::Logistic, Loss::Hinge, Loss::Gain];

pub(super) fn entries() -> [LearnerEntry; 3] {
    let entry = |name, about| LearnerEntry {
        name,
        about,
        settings: &[RADIUS],
        losses: ANY_LOSS,
        symmetric: false,
        build: |spec| Ok(Box::new(GradientDescent::new(spec)?)),
        restore: |spec, archive| {
            let mut learner = GradientDescent::new(spec)?;
            learner.account = archive.field("account")?;
            learner.reach = archive.vector::<f64>("reach")?.first().copied().unwrap_or(f64::INFINITY);
            learner.matrix.restore(archive)?;
            Ok(Box::new(learner))
        },
    };
    [
        entry("gd-trace", "W <- W - step*slope*M, singular values soft-thresholded to a sum of at most radius"),
        entry("gd-spectral", "W <- W - step*slope*M, singular values clipped at radius"),
        entry("gd-frobenius", "W <- W - step*slope*M, scaled to a Frobenius norm of at most radius"),
    ]
}

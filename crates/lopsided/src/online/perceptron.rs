//! The matrix p-norm perceptron.
//!
//! Mistakes are added up in θ; W follows from it by a power of the singular values, so that large powers favour
//! matrices of low rank.

use super::account::{Account, Outcome};
use super::factored::{Factored, Looks};
use super::instance::Instance;
use super::loss::Loss;
use super::matrices::diagonal;
use super::spec::LearnerSpec;
use super::{LearnerEntry, OnlineLearner, RADIUS, accounted, checkpoint_of};
use crate::base::error::{Error, Result};
use crate::base::settings::Setting;
use crate::data::archive::Archive;
use faer::Mat;

/// θ ← θ + y·M after a mistake (y·tr(WᵀM) ≤ 0), W the gradient of ½‖θ‖_p²: σ_i ↦ σ_i^(p−1)/‖σ‖_p^(p−2).
///
/// p = 2 is the perceptron, large p is near the trace norm's dual. The loss of a trial is 1 for a mistake and 0 otherwise. With
/// X the largest ‖M‖, mistakes are at most H + (p−1)X²B² + XB·√((p−1)H) for a matrix of trace norm B or less (hence of dual norm B
/// or less) whose hinge loss is H; Cavallanti, Cesa-Bianchi and Gentile's multitask perceptron is the case of \[KMU\] Section 1.
struct PNormPerceptron {
    spec: LearnerSpec,
    power: f64,
    /// θ; its core is diagonal.
    theta: Factored,
    /// The core of W.
    core: Mat<f64>,
    largest: f64,
    account: Account,
}

impl PNormPerceptron {
    fn new(spec: &LearnerSpec) -> Result<Self> {
        let power = spec.params.number("power", 4.0)?;
        if !(2.0..=1000.0).contains(&power) {
            return Err(Error::param("power", power, "between 2 and 1000"));
        }
        spec.ball()?;
        let theta = Factored::new(spec)?;
        let (core, account) = (Mat::zeros(0, 0), Account::default());
        Ok(PNormPerceptron { spec: spec.clone(), power, theta, core, largest: 0.0, account })
    }

    fn prediction(&self, instance: &Instance) -> Result<(Looks, Vec<f64>, f64)> {
        let looks = self.theta.look(instance)?;
        let weights = self.spec.weights(instance);
        let prediction = self.theta.product(&self.core, &looks, &weights);
        Ok((looks, weights, prediction))
    }

    /// The core of W, relative to the largest singular value so that no power overflows.
    ///
    /// With s_i = σ_i/σ_1: W's values are σ_1·s_i^(p−1)/‖s‖_p^(p−2), the formula above divided by powers of σ_1 that
    /// cancel.
    fn link(&mut self) {
        let rank = self.theta.core.nrows();
        let top = (0..rank).map(|i| self.theta.core[(i, i)]).fold(0.0, f64::max);
        let relative: Vec<f64> = (0..rank).map(|i| self.theta.core[(i, i)] / top).collect();
        let norm = relative.iter().map(|s| s.powf(self.power)).sum::<f64>().powf(1.0 / self.power);
        let scale = top / norm.powf(self.power - 2.0);
        self.core = diagonal(&relative.iter().map(|s| scale * s.powf(self.power - 1.0)).collect::<Vec<_>>());
    }

    fn learn(&mut self, instance: &Instance, looks: &Looks, change: &[f64]) -> Result<()> {
        self.theta.add(instance, looks, change)?;
        self.theta.shrink()?;
        self.theta.decompose(|_| ())?;
        self.link();
        let (left, right) = (&self.theta.left, &self.theta.right);
        self.account.rank = left.rank();
        self.account.span = self.account.span.max(left.rank());
        self.account.holds(left, right);
        Ok(())
    }
}

impl OnlineLearner for PNormPerceptron {
    accounted!();

    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome> {
        self.spec.loss.check_label(label)?;
        let (looks, weights, prediction) = self.prediction(instance)?;
        let mistake = prediction * label <= 0.0;
        let norm = looks.norm(&weights);
        self.largest = self.largest.max(norm);
        let loss = f64::from(u8::from(mistake));
        self.account.record(loss, norm * loss);
        if mistake && norm > 0.0 {
            let change: Vec<f64> = weights.iter().map(|w| w * label).collect();
            self.learn(instance, &looks, &change)?;
        }
        Ok(Outcome { prediction, loss })
    }

    fn checkpoint(&self) -> Archive {
        let mut archive = checkpoint_of(&self.spec, &self.account);
        archive.set_vector("largest", &[self.largest]);
        self.theta.save(&mut archive);
        archive
    }

    fn regret_bound(&self, at: &Account, comparator_loss: f64) -> Option<f64> {
        let radius = self.spec.ball().ok()?.radius();
        let square = (self.power - 1.0) * (self.largest * radius).powi(2);
        (at.budget.removed == 0).then(|| square + (square * comparator_loss.max(0.0)).sqrt())
    }
}

pub(super) fn entry() -> LearnerEntry {
    LearnerEntry {
        name: "p-norm",
        about: "perceptron whose singular values are those of the sum of its mistakes to the power - 1",
        settings: const {
            &[Setting::new("power", "p of the norm, 2 ln n for n dimensions being the best", "at least 2", "4"), RADIUS]
        },
        losses: &[Loss::Hinge],
        symmetric: false,
        build: |spec| Ok(Box::new(PNormPerceptron::new(spec)?)),
        restore: |spec, archive| {
            let mut learner = PNormPerceptron::new(spec)?;
            learner.account = archive.field("account")?;
            learner.largest = archive.vector::<f64>("largest")?.first().copied().unwrap_or(0.0);
            learner.theta.restore(archive)?;
            learner.link();
            Ok(Box::new(learner))
        },
    }
}

//! Exponentiated gradients: density matrices proportional to exp(H).
//!
//! A trial:
//!
//! 1. Coordinates of the instance in the eigenvectors of H, by kernel values.
//! 2. Prediction k·Σ_a w_a·(Σ_i ω_i·x_ia² + ω_out·‖part outside the span‖²) with the eigenvalues ω of W.
//! 3. H ← H − η·∂·M, in a basis that may have grown.
//! 4. Eigendecomposition of the small H, and ω anew from its eigenvalues.

use super::account::{Account, Outcome, gain_bound};
use super::factored::SymmetricFactored;
use super::frame::Look;
use super::instance::Instance;
use super::loss::Loss;
use super::matrices::{diagonal, eigen};
use super::spec::LearnerSpec;
use super::step::StepSize;
use super::{LearnerEntry, OnlineLearner, accounted, budget_note, checkpoint_of};
use crate::base::error::{Error, Result};
use crate::base::settings::Setting;
use crate::data::archive::Archive;

/// How far above 1 the largest eigenvalue of an instance may be by rounding.
const ROUNDING: f64 = 1e-9;

/// W = exp(H)/tr exp(H) with H = −Σ η·∂_t·M_t, \[KMU\] Eq. (4.3); predictions are tr(k·W·M).
///
/// Outside the span of the instances H is 0, so that W is a multiple of the identity there: with a known feature dimension n that
/// part counts with its multiplicity n − r (`meg`), without it is left out (EG⁺, `eg-plus`). For k components the eigenvalues of W
/// are capped at 1/k and the others scaled up, until none exceeds it (\[KMU\] footnote 10); H itself is not capped, which
/// leaves the bound as it is. Weights are computed relative to the largest exponent.
struct ExponentiatedGradient {
    spec: LearnerSpec,
    components: usize,
    dimension: Option<usize>,
    /// H; its core is diagonal between trials, descending.
    exponent: SymmetricFactored,
    weights: SpectralWeights,
    account: Account,
}

/// The eigenvalues of W.
#[derive(Clone, Debug, Default, PartialEq)]
struct SpectralWeights {
    inside: Vec<f64>,
    /// Of every direction outside the span.
    outside: f64,
}

impl SpectralWeights {
    /// Capped weights of descending exponents and `others` further ones that are 0.
    ///
    /// For c = 0, 1, … capped weights the others share what is left in proportion to exp(h); the first c for which none
    /// of them exceeds the cap is the solution, since exponents descend.
    fn new(exponents: &[f64], others: usize, components: usize) -> Self {
        let cap = 1.0 / components as f64;
        let count = exponents.len();
        for capped in 0..count.min(components) {
            let free = &exponents[capped..];
            let top = if others > 0 { free[0].max(0.0) } else { free[0] };
            let sum = free.iter().map(|h| (h - top).exp()).sum::<f64>() + others as f64 * (-top).exp();
            let share = (1.0 - capped as f64 * cap) / sum;
            if share * (free[0] - top).exp() <= cap {
                let inside = (0..count).map(|i| if i < capped { cap } else { share * (exponents[i] - top).exp() });
                let outside = if others > 0 { share * (-top).exp() } else { 0.0 };
                return SpectralWeights { inside: inside.collect(), outside };
            }
        }
        // All k caps are taken, or there are fewer than k directions and the rest of the weight is outside.
        let inside: Vec<f64> = (0..count).map(|i| if i < components { cap } else { 0.0 }).collect();
        let rest = (1.0 - inside.iter().sum::<f64>()).max(0.0);
        SpectralWeights { inside, outside: if others > 0 { rest / others as f64 } else { 0.0 } }
    }
}

impl ExponentiatedGradient {
    fn new(spec: &LearnerSpec) -> Result<Self> {
        let components = spec.params.count("components", 1)? as usize;
        let dimension = spec.params.get("dimension").map(|_| spec.params.count("dimension", 1)).transpose()?;
        if spec.name == "meg" && dimension.is_none() {
            let allowed = "the number of features for `meg`; `eg-plus` does without";
            return Err(Error::param("dimension", "missing", allowed));
        }
        if let Some(n) = dimension.filter(|n| (*n as usize) < components) {
            return Err(Error::param("components", components, format!("at most the dimension {n}")));
        }
        let mut learner = ExponentiatedGradient {
            spec: spec.clone(),
            components,
            dimension: dimension.map(|n| n as usize),
            exponent: SymmetricFactored::new(spec)?,
            weights: SpectralWeights::default(),
            account: Account::default(),
        };
        learner.weigh()?;
        Ok(learner)
    }

    /// Computes W from a diagonal H.
    fn weigh(&mut self) -> Result<()> {
        let rank = self.exponent.space.rank();
        let others = match self.dimension {
            Some(n) if n < rank => {
                let allowed = format!("at least {rank}, the number of independent instances so far");
                return Err(Error::param("dimension", n, allowed));
            }
            Some(n) => n - rank,
            None => 0,
        };
        let exponents: Vec<f64> = (0..rank).map(|i| self.exponent.core[(i, i)]).collect();
        self.weights = SpectralWeights::new(&exponents, others, self.components);
        Ok(())
    }

    fn prediction(&self, instance: &Instance) -> Result<(Vec<Look>, Vec<f64>, f64)> {
        let looks = self.exponent.look(instance)?;
        let weights = self.spec.weights(instance);
        let x = self.exponent.space.coordinates(&looks);
        let mut prediction = 0.0;
        for (a, (look, w)) in looks.iter().zip(&weights).enumerate() {
            let inside: f64 = x.col(a).iter().zip(&self.weights.inside).map(|(c, weight)| weight * c * c).sum();
            prediction += w * (inside + self.weights.outside * look.outside());
        }
        Ok((looks, weights, self.components as f64 * prediction))
    }

    /// The largest eigenvalue of the instance, which the theory wants to be 1 or less.
    fn check_size(&self, instance: &Instance, looks: &[Look], weights: &[f64]) -> Result<f64> {
        if let Some(negative) = weights.iter().find(|w| **w < 0.0) {
            return Err(Error::param("weight", negative, format!("at least 0 for `{}`", self.spec.name)));
        }
        let size = self.exponent.space.largest_eigenvalue(instance.left(), looks, weights)?;
        if size <= 1.0 + ROUNDING {
            return Ok(size.max(0.0));
        }
        let allowed = format!("at most 1 for `{}`; normalized instances always are", self.spec.name);
        Err(Error::param("largest eigenvalue of an instance", size, allowed))
    }

    fn step(&self) -> f64 {
        self.spec.step.size(self.account.trials, |tuning| {
            let rank = tuning.rank.or(self.dimension).unwrap_or(tuning.trials as usize).max(2 * self.components);
            let entropy = (rank as f64 / self.components as f64).ln();
            let trials = tuning.trials as f64;
            match self.spec.loss {
                // A loss of 0 would ask for infinite steps.
                Loss::Gain => (1.0 + (2.0 * entropy / tuning.comparator.unwrap_or(trials).max(1e-3)).sqrt()).ln(),
                loss => (8.0 * entropy / trials).sqrt() / loss.largest_slope(1.0),
            }
        })
    }

    fn decompose(&mut self) -> Result<()> {
        self.exponent.shrink()?;
        let eigen = eigen(self.exponent.core.as_ref())?;
        self.exponent.space.rotate(eigen.vectors.as_ref());
        self.exponent.core = diagonal(&eigen.values);
        self.weigh()
    }
}

impl OnlineLearner for ExponentiatedGradient {
    accounted!();

    fn update(&mut self, instance: &Instance, label: f64) -> Result<Outcome> {
        self.spec.loss.check_label(label)?;
        let (looks, weights, prediction) = self.prediction(instance)?;
        let size = self.check_size(instance, &looks, &weights)?;
        let loss = self.spec.loss.value(prediction, label);
        let slope = self.spec.loss.slope(prediction, label);
        self.account.record(loss, slope * size);
        if slope != 0.0 {
            let change = self.account.change(self.step(), slope, size, &weights);
            self.exponent.add(instance, &looks, &change)?;
            self.decompose()?;
        }
        self.account.holds_one(&self.exponent.space);
        self.account.span = self.account.span.max(self.account.rank);
        Ok(Outcome { prediction, loss })
    }

    fn checkpoint(&self) -> Archive {
        let mut archive = checkpoint_of(&self.spec, &self.account);
        self.exponent.save(&mut archive);
        archive
    }

    fn no_bound(&self, at: &Account) -> Option<&'static str> {
        if let Some(note) = budget_note(at) {
            Some(note)
        } else if matches!(self.spec.step, StepSize::Decreasing(_) | StepSize::Auto) {
            Some(
                "exponentiated gradients have no bound with decreasing steps: `horizon`, the number of trials, gives tuned ones",
            )
        } else if at.last_step > 0.0 && self.spec.loss != Loss::Gain && self.dimension.is_none() {
            Some(
                "without a dimension only the gain has a bound: `loss` gain, or the learner meg with a `dimension`, has one",
            )
        } else {
            None
        }
    }

    fn regret_bound(&self, at: &Account, comparator_loss: f64) -> Option<f64> {
        if self.no_bound(at).is_some() {
            return None;
        }
        let rank = self.dimension.unwrap_or(at.span);
        match (self.spec.loss, self.dimension) {
            (_, _) if at.last_step <= 0.0 => Some(0.0),
            (Loss::Gain, known) => {
                // Lemma 4.3: what leaving the rest of the space out can cost, once for each of the k components.
                let extra = if known.is_some() { 0.0 } else { self.components as f64 };
                Some(gain_bound(at.trials, -comparator_loss, at.last_step, self.components, rank) + extra)
            }
            (_, Some(n)) => Some((n as f64).ln() / at.last_step + at.stepped_energy / 8.0),
            (_, None) => None,
        }
    }
}

const DIMENSION: [Setting; 1] = [Setting::new(
    "dimension",
    "number of features, where it is known",
    "a whole number of at least 1",
    "the span of the instances",
)];
const OF_COMPONENTS: [Setting; 2] = [
    Setting::new("components", "components that are left out of the loss", "a whole number of at least 1", "1"),
    DIMENSION[0],
];

pub(super) fn entries() -> [LearnerEntry; 3] {
    const ANY: &[Loss] = &[Loss::Gain, Loss::Squared, Loss::Absolute, Loss::Logistic, Loss::Hinge];
    let entry = |name, about, settings, losses| LearnerEntry {
        name,
        about,
        settings,
        losses,
        symmetric: true,
        build: |spec| Ok(Box::new(ExponentiatedGradient::new(spec)?)),
        restore: |spec, archive| {
            let mut learner = ExponentiatedGradient::new(spec)?;
            learner.account = archive.field("account")?;
            learner.exponent.restore(archive)?;
            learner.weigh()?;
            Ok(Box::new(learner))
        },
    };
    [
        entry("meg", "W ~ exp(-sum of step*slope*M), a density matrix on all `dimension` features", &DIMENSION, ANY),
        entry("eg-plus", "W ~ exp(-sum of step*slope*M) on the span of the instances; no dimension needed", &[], ANY),
        entry(
            "online-kpca",
            "W ~ exp(sum of step*M), eigenvalues capped at 1/components; predicts the part of M it captures",
            &OF_COMPONENTS,
            &[Loss::Gain],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_capped_and_add_up() {
        let weights = SpectralWeights::new(&[5.0, 1.0, 0.0], 0, 2);
        assert!((weights.inside[0] - 0.5).abs() < 1e-15);
        assert!((weights.inside.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((weights.inside[1] / weights.inside[2] - 1f64.exp()).abs() < 1e-12);
        let with_rest = SpectralWeights::new(&[1.0], 9, 1);
        assert!((with_rest.inside[0] + 9.0 * with_rest.outside - 1.0).abs() < 1e-15);
        assert_eq!(SpectralWeights::new(&[3.0], 0, 2).inside, [0.5]);
        assert_eq!(weights.outside, 0.0);
    }

    #[test]
    fn exponents_in_the_thousands_do_no_harm() {
        for others in [0, 7] {
            let weights = SpectralWeights::new(&[90_000.0, 5000.0, 4999.0, -80_000.0], others, 2);
            assert!((weights.inside[0] - 0.5).abs() < 1e-15 && weights.inside[1] > weights.inside[2]);
            let total = weights.inside.iter().sum::<f64>() + others as f64 * weights.outside;
            assert!((total - 1.0).abs() < 1e-12);
        }
        assert_eq!(SpectralWeights::new(&[-5000.0], 1, 1).outside, 1.0);
    }
}

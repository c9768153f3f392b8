//! Can a learner be kernelised? Rotating the instances must not change what it predicts.

use super::OnlineLearner;
use super::instance::{Instance, Trial};
use crate::base::Run;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::data::samples::{Samples, SamplesRef};
use faer::Mat;

/// The largest change of a prediction when all instances are rotated, over `rotations` random rotations.
///
/// \[KMU\] Corollaries 2.3, 2.7 and 2.11: an algorithm can be kernelised if and only if its output does not change when vectors x
/// become U·x, outer products x·zᵀ become U·x·zᵀ·Vᵀ and symmetric x·xᵀ become U·x·xᵀ·Uᵀ, for orthogonal U and V. (A vector instance is
/// a pair with z = 1; V is then ±1 and is left at 1.) `fresh` makes the learner anew for every run; it sees the coordinates of
/// the trials as its features, so a learner of this library takes the linear kernel here. A result near rounding says nothing is
/// wrong; a learner that looks at single coordinates shows changes of the size of its predictions.
///
/// # Errors
/// [`Error::Param`] without trials, and whatever the learner says.
///
/// ```
/// use lopsided::Run;
/// use lopsided::online::{Instance, LearnerSpec, Trial, rotation_deviation};
///
/// let trials: Vec<Trial> = (0..20)
///     .map(|t| f64::from(t))
///     .map(|t| Trial { instance: Instance::pair(&[t.sin(), 0.3], &[t.cos(), 0.1, 1.0]), label: (2.0 * t).sin() })
///     .collect();
/// let deviation = rotation_deviation(&|| LearnerSpec::new("gd-trace").build(), &trials, 3, &Run::default())?;
/// assert!(deviation < 1e-10);
/// # Ok::<(), lopsided::Error>(())
/// ```
pub fn rotation_deviation(
    fresh: &dyn Fn() -> Result<Box<dyn OnlineLearner>>,
    trials: &[Trial],
    rotations: usize,
    run: &Run,
) -> Result<f64> {
    let Some(first) = trials.first() else {
        return Err(Error::param("trials", 0, "at least 1"));
    };
    let (n, m) = (first.instance.left().width(), first.instance.right().width());
    let plain = predictions(fresh()?, trials)?;
    let mut rng = random::generator(run.seed, Purpose::Rotations);
    let mut largest: f64 = 0.0;
    for _ in 0..rotations {
        run.watch.check()?;
        let (u, v) = (orthogonal(n, &mut rng), orthogonal(m, &mut rng));
        let turned = trials.iter().map(|trial| rotated(trial, &u, &v)).collect::<Result<Vec<_>>>()?;
        let others = predictions(fresh()?, &turned)?;
        largest = plain.iter().zip(&others).map(|(a, b)| (a - b).abs()).fold(largest, f64::max);
    }
    Ok(largest)
}

fn predictions(mut learner: Box<dyn OnlineLearner>, trials: &[Trial]) -> Result<Vec<f64>> {
    trials.iter().map(|trial| Ok(learner.update(&trial.instance, trial.label)?.prediction)).collect()
}

/// A random orthogonal matrix; for one coordinate the identity.
fn orthogonal(n: usize, rng: &mut rand_chacha::ChaCha8Rng) -> Mat<f64> {
    if n == 1 {
        return Mat::identity(1, 1);
    }
    random::gaussian::<f64>(n, n, rng).qr().compute_Q()
}

fn rotated(trial: &Trial, u: &Mat<f64>, v: &Mat<f64>) -> Result<Trial> {
    let instance = &trial.instance;
    let right = (!instance.is_symmetric()).then(|| turned(instance.right(), v)).transpose()?;
    let instance = Instance::new(turned(instance.left(), u)?, right, instance.weights().to_vec())?;
    Ok(Trial { instance, label: trial.label })
}

fn turned(samples: SamplesRef<'_, f64>, by: &Mat<f64>) -> Result<Samples<f64>> {
    if samples.width() != by.nrows() {
        return Err(Error::shape("number of coordinates of an instance", by.nrows(), samples.width()));
    }
    let mut rows = Mat::zeros(samples.count(), samples.width());
    (0..samples.count()).for_each(|i| samples.for_each(i, |j, value| rows[(i, j)] = value));
    Ok(Samples::Dense(&rows * by.transpose()))
}

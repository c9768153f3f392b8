//! The bandwidth of kernels of distances, as a number or as a rule.

use super::Meeting;
use crate::base::error::{Error, Result};
use crate::base::random::{self, Purpose};
use crate::base::scalar::Scalar;
use crate::data::samples::SamplesRef;
use rand::RngExt;
use rayon::prelude::*;
use std::str::FromStr;

/// Pairs looked at for the median distance; all pairs when there are no more.
const PAIRS: usize = 200_000;

/// The coefficient of the distance: a number, or a rule applied to the data.
///
/// | rule | gamma for the factor k | when |
/// | --- | --- | --- |
/// | [`Gamma::Value`] | value/k² | a number from a search or from a paper |
/// | [`Gamma::Scale`] | 1/(k²·width·var(X)) | the default of embeddings; graphs want k above 1 |
/// | [`Gamma::Median`] | 1/(k²·median distance) | tables: half of all pairs get k(x, z) ≥ 1/e |
/// | [`Gamma::Ksvd`] | 1/(k²·width·var(X)) | the protocol of \[KSVD\] App. C.2, whose bandwidth is k·√(M·var(A)) |
///
/// The factor k multiplies the bandwidth γ of \[KSVD\], gamma = 1/γ²: a larger factor makes a wider, smoother kernel.
/// `Scale` and `Ksvd` are the same number; the second name records in reports and models where it comes from.
///
/// ```
/// use lopsided::kernel::Gamma;
///
/// assert_eq!("median".parse::<Gamma>()?, Gamma::Median);
/// assert_eq!("0.25".parse::<Gamma>()?, Gamma::Value(0.25));
/// assert!("-1".parse::<Gamma>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Gamma {
    /// The number itself.
    Value(f64),
    /// 1/(width·var(X)), as in scikit-learn.
    #[default]
    Scale,
    /// 1/median of the distances between row and column samples.
    Median,
    /// 1/(k²·M·var(A)) with M the width of A = X (\[KSVD\] App. C.2); k is the gamma factor.
    Ksvd,
}

impl Gamma {
    /// The number for these samples; `factor` multiplies the bandwidth, so that gamma is divided by its square.
    ///
    /// `meeting` is the distance of the kernel ([`super::KernelSpec::meeting`]). The median looks at all pairs of a row
    /// and a column sample up to 200 000 of them, and else at as many pairs drawn with `seed`; a sample that is on both
    /// sides counts with its distance 0 to itself. The other rules read X alone and draw nothing.
    ///
    /// ```
    /// use lopsided::Samples;
    /// use lopsided::kernel::Gamma;
    /// use lopsided::kernel::pair::Meeting;
    ///
    /// let x = Samples::Dense(faer::mat![[0.0], [2.0]]); // variance 1; squared distances 0, 0, 4, 4
    /// let gamma = |rule: Gamma, factor: f64| rule.resolve(Meeting::Dot, x.as_ref(), x.as_ref(), factor, 0);
    /// assert_eq!(gamma(Gamma::Scale, 1.0)?, 1.0);
    /// assert_eq!(gamma(Gamma::Scale, 2.0)?, 0.25);
    /// assert_eq!(gamma(Gamma::Median, 1.0)?, 0.25);
    /// assert!(gamma(Gamma::Value(1.0), 0.0).is_err());
    /// # Ok::<(), lopsided::Error>(())
    /// ```
    ///
    /// # Cost
    /// One pass over X for `Scale` and `Ksvd`; at most 200 000 distances for `Median`.
    ///
    /// # Errors
    /// [`Error::Param`] for a value or factor that is not above 0, and when the samples do not vary.
    pub fn resolve<T: Scalar>(
        self,
        meeting: Meeting,
        x: SamplesRef<'_, T>,
        z: SamplesRef<'_, T>,
        factor: f64,
        seed: u64,
    ) -> Result<f64> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(Error::param("gamma-factor", factor, "a number above 0"));
        }
        let gamma = match self {
            Gamma::Value(value) => value,
            Gamma::Scale | Gamma::Ksvd => 1.0 / (x.width() as f64 * x.variance()),
            Gamma::Median => 1.0 / median_distance(meeting, x, z, seed),
        } / (factor * factor);
        if gamma.is_finite() && gamma > 0.0 {
            return Ok(gamma);
        }
        match self {
            Gamma::Value(value) => Err(Error::param("gamma", value, "a number above 0, `scale`, `median` or `ksvd`")),
            _ => Err(Error::param("gamma", self, "a number for samples that do not vary")),
        }
    }
}

impl std::fmt::Display for Gamma {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Gamma::Value(value) => write!(f, "{value}"),
            Gamma::Scale => f.write_str("scale"),
            Gamma::Median => f.write_str("median"),
            Gamma::Ksvd => f.write_str("ksvd"),
        }
    }
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scale" => Ok(Gamma::Scale),
            "median" => Ok(Gamma::Median),
            "ksvd" => Ok(Gamma::Ksvd),
            _ => text
                .parse()
                .ok()
                .filter(|v: &f64| v.is_finite() && *v > 0.0)
                .map(Gamma::Value)
                .ok_or_else(|| Error::param("gamma", text, "a number above 0, `scale`, `median` or `ksvd`")),
        }
    }
}

/// The distance in the middle of all pairs, or of as many drawn pairs as [`PAIRS`]; the upper one of two middles. 0
/// without pairs, which [`Gamma::resolve`] refuses.
fn median_distance<T: Scalar>(meeting: Meeting, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, seed: u64) -> f64 {
    let (n, m) = (x.count(), z.count());
    let (xs, zs) = (meeting.sizes(x), meeting.sizes(z));
    let mut rng = random::generator(seed, Purpose::BandwidthPairs);
    let pairs: Vec<(usize, usize)> = if n * m <= PAIRS {
        (0..n * m).map(|pair| (pair / m, pair % m)).collect()
    } else {
        (0..PAIRS).map(|_| (rng.random_range(0..n), rng.random_range(0..m))).collect()
    };
    let distance = |&(i, j): &(usize, usize)| meeting.distance(meeting.pair(x, i, z, j), xs[i], zs[j]).as_f64();
    let mut distances: Vec<f64> = pairs.par_iter().map(distance).collect();
    if distances.is_empty() {
        return 0.0;
    }
    let middle = distances.len() / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::Samples;
    use faer::Mat;

    #[test]
    fn named_choices_follow_their_formulas() {
        let x = Samples::Dense(Mat::from_fn(4, 2, |i, j| (i * 2 + j) as f64));
        let at = |gamma: Gamma, factor| gamma.resolve(Meeting::Dot, x.as_ref(), x.as_ref(), factor, 0).unwrap();
        assert!((at(Gamma::Scale, 1.0) - 1.0 / (2.0 * 5.25)).abs() < 1e-12);
        assert!((at(Gamma::Ksvd, 2.0) - 1.0 / (4.0 * 2.0 * 5.25)).abs() < 1e-12);
        assert!((at(Gamma::Median, 1.0) - 1.0 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn constant_samples_and_bad_numbers_are_refused() {
        let x = Samples::Dense(Mat::from_fn(3, 2, |_, _| 1.0));
        assert!(Gamma::Scale.resolve(Meeting::Dot, x.as_ref(), x.as_ref(), 1.0, 0).is_err());
        assert!("0".parse::<Gamma>().is_err());
        assert!("nan".parse::<Gamma>().is_err());
        assert!("medium".parse::<Gamma>().is_err());
    }
}

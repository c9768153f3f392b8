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
/// Distances of so many units in the last place of the samples' sizes, and shorter ones, are 0.
const ROUNDING: f64 = 4.0;

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
/// Most samples of a table may be copies of each other, or all of X one point and only Z vary. Where a rule finds 0 although some
/// distance is not, the median of the distances that are not 0 takes its place.
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
        let typical = match self {
            Gamma::Value(value) => value.recip(),
            Gamma::Scale | Gamma::Ksvd => x.width() as f64 * x.variance(),
            Gamma::Median => Distances::of(meeting, x, z, seed).median(),
        };
        let typical = match self {
            Gamma::Scale | Gamma::Ksvd if typical == 0.0 => Distances::of(meeting, x, z, seed).median(),
            _ => typical,
        };
        let gamma = 1.0 / (typical * factor * factor);
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

/// Distances of all pairs, or of as many drawn pairs as [`PAIRS`], ascending as far as that is needed.
struct Distances(Vec<f64>);

impl Distances {
    fn of<T: Scalar>(meeting: Meeting, x: SamplesRef<'_, T>, z: SamplesRef<'_, T>, seed: u64) -> Self {
        let (n, m) = (x.count(), z.count());
        let (xs, zs) = (meeting.sizes(x), meeting.sizes(z));
        let mut rng = random::generator(seed, Purpose::BandwidthPairs);
        let pairs: Vec<(usize, usize)> = if n * m <= PAIRS {
            (0..n * m).map(|pair| (pair / m, pair % m)).collect()
        } else {
            (0..PAIRS).map(|_| (rng.random_range(0..n), rng.random_range(0..m))).collect()
        };
        let distance = |&(i, j): &(usize, usize)| {
            let found = meeting.distance(meeting.pair(x, i, z, j), xs[i], zs[j]).as_f64();
            // The difference of sizes that cancel is rounding.
            if found > ROUNDING * T::eps() * (xs[i] + zs[j]).as_f64() { found } else { 0.0 }
        };
        Distances(pairs.par_iter().map(distance).collect())
    }

    /// The distance in the middle, the upper one of two; where that is 0, the middle one of those that are not. 0 without any, which
    /// [`Gamma::resolve`] refuses.
    fn median(mut self) -> f64 {
        let middle = middle(&mut self.0);
        if middle > 0.0 {
            return middle;
        }
        self.0.retain(|distance| *distance > 0.0);
        self::middle(&mut self.0)
    }
}

fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
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
    fn copies_do_not_hide_that_samples_vary() {
        let at = |gamma: Gamma, x: &Mat<f64>, z: &Mat<f64>| {
            let (x, z) = (Samples::Dense(x.clone()), Samples::Dense(z.clone()));
            gamma.resolve(Meeting::Dot, x.as_ref(), z.as_ref(), 1.0, 0)
        };
        // 30 copies of one row, 3 of another one at the squared distance 0.02: 909 of 1089 pairs are copies.
        let x = Mat::from_fn(33, 2, |i, j| 0.1 * (j as f64 + 3.0 + f64::from(u8::from(i % 11 == 0))));
        assert!((at(Gamma::Median, &x, &x).unwrap() - 50.0).abs() < 1e-9);
        // All of X is one point, and Z is not.
        let (point, z) = (Mat::from_fn(3, 2, |_, _| 1.0), Mat::from_fn(5, 2, |i, _| 1.0 + f64::from(u8::from(i == 4))));
        for rule in [Gamma::Scale, Gamma::Ksvd, Gamma::Median] {
            assert_eq!(at(rule, &point, &z).unwrap(), 0.5, "{rule}");
            assert!(at(rule, &point, &point).is_err(), "{rule}");
        }
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

//! The interval of a difference, and what follows from it.

use super::Asymmetry;
use crate::evaluation::Spread;

/// A mean difference with its interval of 95 %.
///
/// Scores on test parts of repeated folds depend on each other, since their training parts overlap: the variance of the mean over J
/// parts is (1/J + n₂/n₁)·s² for n₁ samples to learn from, n₂ to test on and the variance s² of the differences
/// (\[NB03\]), with Student's t of J − 1 degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Mean over the test parts.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// Of paired scores; `ratio` is n₂/n₁.
    ///
    /// ```
    /// use lopsided::evaluation::Difference;
    ///
    /// let found = Difference::paired(&[0.9, 0.8, 0.85], &[0.6, 0.6, 0.6], 0.25);
    /// assert!((found.mean - 0.25).abs() < 1e-12);
    /// // √(1/3 + 1/4)·0.05 times the quantile 4.3027 of two degrees of freedom.
    /// assert!((found.high - 0.25 - 4.302_652_73 * 0.05 * (7.0_f64 / 12.0).sqrt()).abs() < 1e-8);
    /// ```
    ///
    /// # Panics
    /// If there are not as many of the one as of the other, or none.
    pub fn paired(a: &[f64], b: &[f64], ratio: f64) -> Self {
        assert!(a.len() == b.len() && !a.is_empty(), "{} scores beside {}", a.len(), b.len());
        let Spread { mean, deviation } = Spread::of(a.iter().zip(b).map(|(a, b)| a - b));
        if a.len() == 1 {
            return Difference { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let half = quantile(a.len() - 1) * deviation * (1.0 / a.len() as f64 + ratio).sqrt();
        Difference { mean, low: mean - half, high: mean + half }
    }
}

/// The t that Student's |t| of so many degrees of freedom exceeds in one of twenty cases, by bisection.
fn quantile(degrees: usize) -> f64 {
    let (mut low, mut high) = (1.0, 16.0);
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if central_share(middle, degrees) < 0.95 { low = middle } else { high = middle }
    }
    high
}

/// P(|T| < t) for a whole number of degrees of freedom: a finite sum in the angle θ = atan(t/√ν).
fn central_share(t: f64, degrees: usize) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, square) = (angle.sin(), angle.cos().powi(2));
    let odd = degrees % 2 == 1;
    let (mut term, mut sum) = (if odd { angle.cos() } else { 1.0 }, 0.0);
    for k in 0..degrees / 2 {
        sum += term;
        let step = (2 * k + 1 + usize::from(odd)) as f64;
        term *= square * step / (step + 1.0);
    }
    if odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

/// A lead over guessing that counts as something learned although its interval reaches 0: few test parts have wide intervals.
const CLEAR: f64 = 0.1;

/// Whether asymmetry pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Decision {
    /// The whole interval of the difference is above 0.
    #[serde(rename = "pays")]
    Pays,
    /// There is nothing to gain, or what there is lies below the margin.
    #[serde(rename = "does not pay")]
    DoesNotPay,
    /// Methods that see the direction are ahead, but not so clearly that it could not be chance.
    #[serde(rename = "undecided")]
    Undecided,
}

impl Decision {
    /// The words of the answer.
    pub fn words(self) -> &'static str {
        match self {
            Decision::Pays => "pays",
            Decision::DoesNotPay => "does not pay",
            Decision::Undecided => "undecided",
        }
    }

    /// The rule, in this order:
    ///
    /// 1. Data without any asymmetry: it does not pay, whatever chance made of the scores.
    /// 2. Nothing learned: the interval of the lead over guessing reaches 0, and its mean is below 0.1: it does not pay.
    /// 3. The intervals of the difference and of the lead over guessing are above 0: it pays.
    /// 4. The methods with asymmetry are not ahead by the mean, or the interval ends below the margin: it does not pay.
    /// 5. Else undecided.
    ///
    /// ```
    /// use lopsided::evaluation::{Decision, Difference};
    ///
    /// let of = |low: f64, high: f64| Difference { mean: (low + high) / 2.0, low, high };
    /// let decide = |difference: Difference| Decision::of(&difference, &of(0.3, 0.5), false, 0.01);
    /// assert_eq!(decide(of(0.02, 0.06)), Decision::Pays);
    /// assert_eq!(decide(of(-0.02, 0.06)), Decision::Undecided);
    /// assert_eq!(decide(of(-0.004, 0.006)), Decision::DoesNotPay);
    /// assert_eq!(decide(of(-0.06, 0.02)), Decision::DoesNotPay);
    /// // Neither symmetric data nor random labels pay.
    /// assert_eq!(Decision::of(&of(0.02, 0.06), &of(0.3, 0.5), true, 0.01), Decision::DoesNotPay);
    /// assert_eq!(Decision::of(&of(-0.02, 0.06), &of(-0.1, 0.1), false, 0.01), Decision::DoesNotPay);
    /// // Far above guessing in the mean, but not in every part.
    /// assert_eq!(Decision::of(&of(-0.1, 1.1), &of(-0.1, 1.1), false, 0.01), Decision::Undecided);
    /// ```
    pub fn of(difference: &Difference, above_guess: &Difference, symmetric: bool, margin: f64) -> Self {
        if symmetric || nothing_learned(above_guess) {
            Decision::DoesNotPay
        } else if difference.low > 0.0 && above_guess.low > 0.0 {
            Decision::Pays
        } else if difference.mean <= 0.0 || difference.high < margin {
            Decision::DoesNotPay
        } else {
            Decision::Undecided
        }
    }
}

fn nothing_learned(above_guess: &Difference) -> bool {
    let learned = above_guess.low > 0.0 || above_guess.mean >= CLEAR;
    !learned
}

/// What a sentence about a decision is made of.
pub(super) struct Grounds<'a> {
    pub(super) asymmetric: Spread,
    pub(super) symmetric: Spread,
    pub(super) guess: Spread,
    pub(super) measure: &'static str,
    pub(super) asymmetry: &'a Asymmetry,
    pub(super) margin: f64,
}

impl Grounds<'_> {
    /// The decision and its reason for a reader who has not seen the table.
    pub(super) fn sentence(&self, decision: Decision, difference: &Difference, above_guess: &Difference) -> String {
        let Grounds { asymmetric, symmetric, guess, measure, asymmetry, margin } = self;
        let of_graph = asymmetry.reciprocated.is_some();
        let subject = if of_graph { "the direction of links" } else { "an asymmetric kernel" };
        let (with, without) = (asymmetric.mean, symmetric.mean);
        let interval = format!("95 % interval {:+.3} to {:+.3}", difference.low, difference.high);
        let found = format!(
            "{measure} {with:.3} with it, {without:.3} without, a difference of {:+.3} ({interval})",
            difference.mean
        );
        match decision {
            Decision::Pays => format!("Asymmetry pays: {subject} tells more, {found}."),
            Decision::Undecided => {
                format!("Undecided: {subject} may tell more, {found}; more labels or repeats would tell.")
            }
            Decision::DoesNotPay if asymmetry.is_none() => {
                format!(
                    "Asymmetry does not pay: every link has its counterpart, so there is no direction to learn from ({found})."
                )
            }
            Decision::DoesNotPay if nothing_learned(above_guess) => format!(
                "Asymmetry does not pay: methods that see it are not shown to be better than guessing, {measure} {with:.3} with it \
                 and {without:.3} without where guessing has {:.3}.",
                guess.mean
            ),
            Decision::DoesNotPay if difference.mean <= 0.0 => {
                format!("Asymmetry does not pay: methods without it are as good or better, {found}.")
            }
            Decision::DoesNotPay => {
                format!("Asymmetry does not pay: what it gains is less than {margin}, {found}.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in
            [(1, 12.706_204_7), (2, 4.302_652_7), (5, 2.570_581_8), (9, 2.262_157_2), (30, 2.042_272_5)]
        {
            assert!((quantile(degrees) - expected).abs() < 1e-6, "{degrees}: {}", quantile(degrees));
        }
    }

    #[test]
    fn one_test_part_decides_nothing() {
        let found = Difference::paired(&[0.9], &[0.1], 0.25);
        let sure = Difference { mean: 0.5, low: 0.4, high: 0.6 };
        assert_eq!(Decision::of(&found, &sure, false, 0.01), Decision::Undecided);
        assert_eq!(Difference::paired(&[0.7; 4], &[0.7; 4], 0.25), Difference { mean: 0.0, low: 0.0, high: 0.0 });
    }
}

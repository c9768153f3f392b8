//! Weights of classes, for data in which some classes are rare or some errors are dear.
//!
//! A weight multiplies the bound of a sample's coefficient in an SVM and its loss in logistic regression, on
//! top of the sample's own weight.

use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use std::fmt;
use std::str::FromStr;

/// What a sample counts because of its class.
///
/// With [`ClassWeight::Balanced`] the weights of a class sum to n/k, whatever the share of its samples, so that
/// a machine cannot do well by ignoring a rare class. Weights of samples count in place of their number.
///
/// ```
/// use lopsided::estimators::ClassWeight;
///
/// let dear: ClassWeight = "spam=2,ham=0.5".parse()?;
/// assert_eq!(dear, ClassWeight::Named(vec![("spam".into(), 2.0), ("ham".into(), 0.5)]));
/// assert_eq!(dear.to_string(), "spam=2,ham=0.5");
/// assert_eq!("none".parse::<ClassWeight>()?, ClassWeight::default());
/// assert!("spam=-1".parse::<ClassWeight>().is_err());
/// # Ok::<(), lopsided::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClassWeight {
    /// All classes the same.
    #[default]
    Equal,
    /// n/(k·n_c) for a class with n_c of n samples: the k classes then weigh the same.
    Balanced,
    /// By name; 1 for classes that are not named.
    Named(Vec<(String, f64)>),
}

impl ClassWeight {
    /// The setting that says so, where classes differ.
    pub(in crate::estimators) fn settings(&self) -> Settings {
        let differ = (*self != ClassWeight::Equal).then(|| self.to_string());
        Settings::default().with_some("class-weight", differ)
    }
}

impl FromStr for ClassWeight {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let allowed = "`balanced`, `none` or NAME=WEIGHT,… with weights above 0";
        let refused = || Error::param("class-weight", text, allowed);
        let one = |item: &str| {
            let (name, weight) = item.rsplit_once('=').ok_or_else(refused)?;
            let weight: f64 = weight.trim().parse().map_err(|_| refused())?;
            if weight.is_finite() && weight > 0.0 { Ok((name.trim().to_string(), weight)) } else { Err(refused()) }
        };
        match text {
            "none" => Ok(ClassWeight::Equal),
            "balanced" => Ok(ClassWeight::Balanced),
            _ => Ok(ClassWeight::Named(text.split(',').map(one).collect::<Result<_>>()?)),
        }
    }
}

impl fmt::Display for ClassWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassWeight::Equal => f.write_str("none"),
            ClassWeight::Balanced => f.write_str("balanced"),
            ClassWeight::Named(all) => {
                f.write_str(&all.iter().map(|(name, weight)| format!("{name}={weight}")).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl ClassWeight {
    /// The weights of the samples `train`, of the classes `codes`, times those of their classes; `None` if all are 1.
    pub(in crate::estimators) fn applied(
        &self,
        samples: Option<&[f64]>,
        train: &[usize],
        codes: &[u32],
        names: &[String],
    ) -> Result<Option<Vec<f64>>> {
        let own: Option<Vec<f64>> = samples.map(|w| train.iter().map(|&i| w[i]).collect());
        if *self == ClassWeight::Equal {
            return Ok(own);
        }
        let own = own.unwrap_or_else(|| vec![1.0; codes.len()]);
        let factors = self.factors(&own, codes, names)?;
        Ok(Some(own.iter().zip(codes).map(|(w, &c)| w * factors[c as usize]).collect()))
    }

    /// One factor per class. Balanced: total weight / (classes present · weight of the class); a class without
    /// samples keeps 1.
    fn factors(&self, own: &[f64], codes: &[u32], names: &[String]) -> Result<Vec<f64>> {
        let mut factors = vec![1.0; names.len()];
        match self {
            ClassWeight::Equal => {}
            ClassWeight::Balanced => {
                let mut sums = vec![0.0; names.len()];
                own.iter().zip(codes).for_each(|(w, &c)| sums[c as usize] += w);
                let present = sums.iter().filter(|s| **s > 0.0).count() as f64;
                let total: f64 = sums.iter().sum();
                let share = |s: &f64| if *s > 0.0 { total / (present * s) } else { 1.0 };
                factors = sums.iter().map(share).collect();
            }
            ClassWeight::Named(all) => {
                for (name, weight) in all {
                    let unknown = || Error::Unknown { kind: "class", name: name.clone(), known: names.to_vec() };
                    factors[names.iter().position(|n| n == name).ok_or_else(unknown)?] = *weight;
                }
            }
        }
        Ok(factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_and_applied() {
        let names = ["a", "b=c"].map(String::from);
        let applied = |text: &str, own: Option<&[f64]>| {
            text.parse::<ClassWeight>().and_then(|w| w.applied(own, &[2, 0, 1], &[0, 0, 1], &names))
        };
        assert_eq!(applied("none", None).unwrap(), None);
        assert_eq!(applied("none", Some(&[1.0, 2.0, 3.0])).unwrap(), Some(vec![3.0, 1.0, 2.0]));
        assert_eq!(applied("balanced", None).unwrap(), Some(vec![0.75, 0.75, 1.5]));
        assert_eq!(applied("balanced", Some(&[1.0, 2.0, 3.0])).unwrap(), Some(vec![2.25, 0.75, 3.0]));
        assert_eq!(applied("b=c=4, a=0.5", None).unwrap(), Some(vec![0.5, 0.5, 4.0]));
        for text in ["", "a", "a=", "a=0", "a=-1", "a=NaN", "a=inf"] {
            assert!(applied(text, None).unwrap_err().to_string().contains("`class-weight`"), "{text}");
        }
        assert!(applied("x=2", None).unwrap_err().to_string().starts_with("no class `x`"));
    }
}

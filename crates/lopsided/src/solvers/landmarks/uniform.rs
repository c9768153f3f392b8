//! Landmarks by chance alone.

use super::{Sampler, check_count, generator};
use crate::base::error::Result;
use crate::base::random;
use crate::base::registry::Entry;
use crate::base::scalar::Scalar;
use crate::data::samples::Side;
use crate::operator::Operator;

/// Every set of landmarks is equally likely; none is drawn twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<T: Scalar> Sampler<T> for Uniform {
    fn pick(&self, g: &dyn Operator<T>, side: Side, count: usize, seed: u64) -> Result<Vec<usize>> {
        let size = check_count(g, side, count)?;
        Ok(random::subset(size, count, &mut generator(side, seed)))
    }
}

pub(super) fn entry<T: Scalar>() -> Entry<dyn Sampler<T>> {
    Entry {
        name: "uniform",
        about: "every sample is equally likely, without replacement",
        settings: &[],
        build: |_| Ok(Box::new(Uniform)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::DenseOperator;
    use crate::solvers::landmarks::Norms;
    use faer::Mat;

    #[test]
    fn picks_are_sorted_distinct_seeded_and_checked() {
        let g = Mat::from_fn(40, 25, |i, j| 1.0 + (i * j) as f64);
        let g = DenseOperator::Borrowed(g.as_ref());
        for sampler in [&Uniform as &dyn Sampler<f64>, &Norms] {
            for (side, size) in [(Side::Row, 40), (Side::Col, 25)] {
                let picked = sampler.pick(&g, side, 9, 5).unwrap();
                assert!(picked.len() == 9 && picked.windows(2).all(|w| w[0] < w[1]) && picked[8] < size);
                assert_eq!(picked, sampler.pick(&g, side, 9, 5).unwrap());
                assert_ne!(picked, sampler.pick(&g, side, 9, 6).unwrap());
                assert_eq!(sampler.pick(&g, side, size, 5).unwrap(), (0..size).collect::<Vec<_>>());
                assert!(sampler.pick(&g, side, 0, 5).is_err());
                let error = sampler.pick(&g, side, size + 1, 5).unwrap_err().to_string();
                assert!(error.contains(&format!("= {size}")), "{error}");
            }
        }
    }

    #[test]
    fn norms_prefer_long_rows() {
        let g = Mat::from_fn(50, 20, |i, _| if i % 10 == 0 { 100.0 } else { 0.01 });
        let picked = Norms.pick(&DenseOperator::Borrowed(g.as_ref()), Side::Row, 5, 3).unwrap();
        assert_eq!(picked, [0, 10, 20, 30, 40]);
    }
}
